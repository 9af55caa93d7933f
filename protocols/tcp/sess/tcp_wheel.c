/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_wheel.c - the deadlines of a session behind one timer of the wheel.
 *
 * Deadlines are numbers in the control block; setting one later or switching it
 * off costs a store.  The earliest that was set since the wheel was last told is
 * kept by the way, so that telling it is one compare.  The wheel's timer stands at the
 * earliest deadline it was told of and finds out when it fires that there is none, or a
 * later one.
 * Invariant: after tcp_timer_sync the wheel's timer is not later than any
 * deadline of the session.
 */
#include "protocols/tcp/sess/tcp_sess.h"
#include "runtime/upi/xk_inline.h"

/* Milliseconds from now to the earliest deadline, 0 when one has passed; UINT32_MAX: none. */
static inline uint32_t earliest(const struct tcp_cb *cb, uint32_t now)
{
	uint32_t least = UINT32_MAX;

	for (unsigned i = 0; i < TCP_T_COUNT; i++) {
		uint32_t d = cb->at[i] - now;

		d = (int32_t)d < 0 ? 0 : d;
		d = cb->at[i] == 0 ? UINT32_MAX : d;
		least = d < least ? d : least;
	}
	return least;
}

static XK_NOINLINE void set_wheel(struct tcp_sess *ts, uint32_t now, uint32_t wait)
{
	const struct xk_rep *r = ts->s.rep;

	tcp_live(ts)->wheel_at = tcp_deadline(now, wait);
	xk_timer_set(r->wheel, &tcp_live(ts)->timer, (xk_vp_time(r->vp) / XK_MS + wait) * XK_MS);
}

void tcp_timer_sync_all(struct tcp_sess *ts)
{
	uint32_t now = tcp_ms(xk_vp_time(ts->s.rep->vp)), wait = earliest(tcp_cb(ts), now);

	tcp_cb(ts)->due = 0;
	if (wait == UINT32_MAX || (tcp_live(ts)->wheel_at != 0 && (int32_t)(now + wait - tcp_live(ts)->wheel_at) >= 0))
		return;
	set_wheel(ts, now, wait);
}

/* The wheel knows of all that were set before: of those set since, this is the earliest.  It may be off again. */
XK_NOINLINE void tcp_timer_sync_at(struct tcp_sess *ts, uint32_t due)
{
	uint32_t now = tcp_ms(xk_vp_time(ts->s.rep->vp)), wait = due - now;

	set_wheel(ts, now, (int32_t)wait < 0 ? 0 : wait);
}

void tcp_timer_look(struct tcp_sess *ts, uint32_t ms)
{
	set_wheel(ts, tcp_ms(xk_vp_time(ts->s.rep->vp)), ms);
}

void tcp_timer_stop(struct tcp_sess *ts)
{
	memset(tcp_cb(ts)->at, 0, sizeof tcp_cb(ts)->at);
	tcp_live(ts)->wheel_at = 0;
	xk_timer_cancel(ts->s.rep->wheel, &tcp_live(ts)->timer);
}

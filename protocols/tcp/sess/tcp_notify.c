/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_notify.c - what the holder above is told: events of xk_stream.h, the peer's end, room.
 *
 * Invariant: nothing is told to nobody; an orphan has no holder.
 */
#include "protocols/tcp/sess/tcp_sess.h"
#include "runtime/upi/xk_inline.h"

static bool listens(const struct tcp_sess *ts)
{
	return tcp_held(ts) && !(tcp_cb(ts)->flags & TCP_F_ORPHAN);
}

void tcp_notify(struct tcp_sess *ts, enum xk_stream_what what, int err)
{
	struct xk_stream_event ev = { &ts->s, what, err };

	if (listens(ts))
		xk_control(ts->s.up->rep, XK_CTL_STREAM_EVENT, &ev, sizeof ev);
}

void tcp_notify_drained(struct tcp_sess *ts)
{
	struct tcp_cb *cb = tcp_cb(ts);

	if ((cb->flags & TCP_F_DRAINING) && tcp_drained(cb)) {
		cb->flags &= ~TCP_F_DRAINING;
		tcp_notify(ts, XK_STREAM_DRAINED, XK_OK);
	}
}

void tcp_notify_close(struct tcp_sess *ts)
{
	if ((tcp_cb(ts)->flags & TCP_F_TOLD_CLOSE) || !listens(ts))
		return;
	tcp_cb(ts)->flags |= TCP_F_TOLD_CLOSE;
	xk_close_done(&ts->s);
}

/* A quarter of the buffer is worth waking for; two segments are when nothing else
 * waits to be sent, lest the path run dry. */
static bool room_worth_telling(const struct tcp_sess *ts)
{
	const struct tcp_cb *cb = tcp_cb(ts);
	uint32_t limit, room = tcp_room_now(ts, &limit), two = 2u * cb->mss;

	return room != 0 && (room >= limit / 4 || (room >= two && cb->sq.unsent_bytes < two));
}

/* The promise of xk_stream.h. */
XK_NOINLINE void tcp_notify_room(struct tcp_sess *ts)
{
	struct tcp_cb *cb = tcp_cb(ts);

	if ((cb->flags & TCP_F_WANT_ROOM) && room_worth_telling(ts)) {
		cb->flags &= ~TCP_F_WANT_ROOM;
		tcp_notify(ts, XK_STREAM_WRITABLE, XK_OK);
	}
}

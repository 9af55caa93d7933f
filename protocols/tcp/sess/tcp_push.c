/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_push.c - the operation push: into the queue, and out by what tcp_output allows.
 *
 * Invariant: what was promised as room is taken whole.
 */
#include "protocols/tcp/sess/tcp_sess.h"
#include "runtime/upi/xk_inline.h"

/* There was no room, so bytes are missing from the stream: it ends here. */
static XK_NOINLINE void overrun(struct tcp_sess *ts, struct xk_msg *m)
{
	xk_drop(ts->s.rep, TCP_DROP_OVERRUN, m);
	if (tcp_cb(ts)->state > TCP_S_SYN_SENT)
		tcp_send_rst(ts);
	tcp_finish(ts, XK_E_CONNABORTED);
}

/*
 * What the queue held, `before` bytes unsent, waits for an acknowledgement that will
 * come: for room in a window when it was a full segment, else for company (Nagle).
 * More behind it changes that only when it makes a full segment of it, or where
 * the peer's window is so small that a part of it is worth a segment.
 */
static inline bool waits_on(const struct tcp_cb *cb, uint32_t before)
{
	bool company = (cb->flags & (TCP_F_SMALL | TCP_F_NODELAY)) == TCP_F_SMALL;

	if (before == 0 || cb->snd_una == cb->snd_max || cb->reass != NULL ||
	    (cb->flags & (TCP_F_DSACK | TCP_F_ACK_NOW | TCP_F_WANT_ROOM | TCP_F_FIN_QUEUED)))
		return false;
	return before >= cb->mss || (company && cb->sq.unsent_bytes < cb->mss && cb->max_wnd >= 2u * cb->mss);
}

static XK_NOINLINE void no_room(struct tcp_sess *ts, struct xk_msg *m)
{
	struct tcp_cb *cb = tcp_cb(ts);

	if (cb->sq.bytes < cb->snd_buf || (cb->flags & TCP_F_FIN_QUEUED))
		xk_drop(ts->s.rep, TCP_DROP_CLOSED, m);
	else
		overrun(ts, m);
}

static void push_awake(struct tcp_sess *ts, struct xk_msg *m)
{
	struct tcp_cb *cb = tcp_cb(ts);
	uint32_t before = cb->sq.unsent_bytes;

	if (XK_UNLIKELY(tcp_room(cb) == 0)) {
		no_room(ts, m);
		return;
	}
	tcp_sendq_put(cb, m);
	if (XK_LIKELY(cb->state >= TCP_S_ESTABLISHED && !waits_on(cb, before)))
		tcp_output(ts);
}

void tcp_push(struct xk_sess *s, struct xk_msg *m)
{
	struct tcp_sess *ts = tcp_sess(s);

	if (XK_UNLIKELY(tcp_is_compressed(ts)) && !tcp_wake_or_end(ts))
		xk_drop(s->rep, XK_DROP_NOMEM, m);
	else
		push_awake(ts, m);
}

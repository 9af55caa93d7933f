/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_act.h - what the way up shares: one segment, as it is (tcp_act.c) or as it was
 * predicted (fast/tcp_predict.c), and a run of them (fast/tcp_run.c).
 *
 * Everything here is inline and about the segment that was expected.
 * Invariant: between tcp_pop_begin and tcp_pop_end a session is not destroyed.
 */
#ifndef TCP_ACT_H
#define TCP_ACT_H

#include "protocols/tcp/sess/tcp_sess.h"
#include "runtime/upi/xk_inline.h"

#define NOP_NOP_TS  0x0101080au
#define HDR_WORD    0x5010u              /* 20 bytes, ACK */
#define HDR_WORD_TS 0x8010u              /* 32 bytes, ACK */

/* A reference while we are in it. */
static inline void tcp_pop_begin(struct tcp_sess *ts)
{
	xk_count(ts->s.rep->npop);
	ts->s.rcnt++;
	ts->own.pops++;
}

static inline void tcp_pop_end(struct tcp_sess *ts)
{
	ts->own.pops--;
	if (XK_UNLIKELY(--ts->s.rcnt == 0))
		xk_sess_idle_slow(&ts->s);
}

/* A segment that was expected has come; rcv_nxt is still before it. */
static inline void tcp_note_time(struct tcp_cb *cb, uint32_t tsval, uint32_t now)
{
	if ((cb->flags & TCP_F_TS) && cb->rcv_nxt == cb->rcv_acked) {
		cb->ts_recent = tsval;
		cb->ts_recent_at = now;
	}
	cb->last_rcv = now;
	cb->segs_in++;
	if (XK_UNLIKELY(cb->flags & TCP_F_KEEPALIVE))
		cb->retries = 0;
}

/* What is owed after bytes went up. */
static inline void tcp_pay_ack(struct tcp_sess *ts)
{
	if (tcp_cb(ts)->sq.unsent != NULL)
		tcp_output(ts);
	else
		tcp_send_ack(ts);
}

/* Bytes that nobody will read: the peer must not believe that they arrived
 * (RFC 1122 4.2.2.13). */
void tcp_nobody_reads(struct tcp_sess *ts, struct xk_msg *m);

/* m, the bytes at rcv_nxt, goes up. */
static inline void tcp_deliver(struct tcp_sess *ts, struct xk_msg *m)
{
	struct tcp_cb *cb = tcp_cb(ts);

	cb->rcv_nxt += m->tot;
	cb->bytes_received += m->tot;
	if (cb->flags & TCP_F_MANUAL)
		cb->rcv_held += m->tot;
	if (XK_LIKELY(tcp_held(ts)))
		xk_demux(&ts->s, m);
	else
		tcp_nobody_reads(ts, m);
}

#endif

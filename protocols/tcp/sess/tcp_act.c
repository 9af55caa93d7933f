/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_act.c - what tcp_input has decided about a segment is carried out.
 *
 * In one order: what concerns our data, then the peer's bytes, then its FIN, then what we
 * send.  rcv_nxt moves before bytes go up, so that an answer pushed from inside the
 * upcall carries the acknowledgement.
 *
 * Every upcall may push, close or abort, and a peer under the same thread may
 * answer inside our own push; the session is held meanwhile, and its state is
 * looked at again afterwards.
 * Invariant: s.rcnt - pops is the number of holders above; bytes are passed up
 * only while that is not 0.
 */
#include "protocols/tcp/sess/tcp_act.h"
#include "runtime/upi/xk_inline.h"

/* ---- bytes up ------------------------------------------------------------------------------ */

/* Bytes that nobody will read: the peer must not believe that they arrived
 * (RFC 1122 4.2.2.13). */
XK_NOINLINE void tcp_nobody_reads(struct tcp_sess *ts, struct xk_msg *m)
{
	xk_drop(ts->s.rep, TCP_DROP_AFTER_CLOSE, m);
	tcp_abort(ts);
}

/* [skip, skip + take) of the payload of m; NULL, and m gone, when memory is out. */
static struct xk_msg *payload(struct xk_rep *r, const struct tcp_seg *g, const struct tcp_acts *a, struct xk_msg *m)
{
	m = tcp_cut_front(m, g->hlen + a->skip);
	if (XK_UNLIKELY(m == NULL))
		xk_dropped(r, XK_DROP_NOMEM, 1);
	else
		xk_msg_truncate(m, a->take);
	return m;
}

/* The peer's FIN stands at rcv_nxt. */
static void fin_here(struct tcp_sess *ts, struct tcp_acts *a)
{
	unsigned was = tcp_cb(ts)->state;

	tcp_cb(ts)->rcv_nxt++;
	tcp_input_fin(tcp_cb(ts), a);
	tcp_record_state(ts, was);
	tcp_reass_free(ts);
	tcp_notify_close(ts);
	/* Whoever ends its side at this gets one segment: our FIN carries the acknowledgement of the peer's. */
	if (!tcp_held(ts))
		tcp_left(ts);
}

/* What was kept and is in order now; true: the FIN is among it. */
static bool pull(struct tcp_sess *ts, const struct tcp_env *e)
{
	struct xk_msg *m;
	bool fin = false;

	while (tcp_takes_data(tcp_cb(ts)) && !fin && (m = tcp_reass_get(ts, &fin)) != NULL) {
		tcp_owe_ack(tcp_cb(ts), e, m->tot, false);
		tcp_deliver(ts, m);
	}
	return fin && tcp_takes_data(tcp_cb(ts));
}

/* ---- actions ------------------------------------------------------------------------------- */

static void refuse(struct tcp_sess *ts, const struct tcp_acts *a, const struct xk_msg *m)
{
	struct xk_rep *r = ts->s.rep;

	xk_count(r->count[TCP_COUNT_RST_OUT]);
	tcp_answer(r, ts->s.down, m, a->rst_seq, a->rst_ack, a->rst_flags, 0, NULL, 0);
}

/* The segment's bytes, kept or passed up; m is gone afterwards. */
static void bytes(struct tcp_sess *ts, const struct tcp_env *e, const struct tcp_seg *g, struct tcp_acts *a,
		  struct xk_msg *m)
{
	uint32_t seq = g->seq + !!(g->flags & TCP_SYN) + a->skip;
	bool fin = (a->acts & TCP_A_FIN) != 0;

	if (a->acts & (TCP_A_OOO | TCP_A_DATA)) {
		m = payload(ts->s.rep, g, a, m);
		if (XK_UNLIKELY(m == NULL))
			return;
	}
	if (a->acts & TCP_A_OOO) {
		tcp_reass_put(ts, m, seq, fin);
		return;
	}
	if (a->acts & TCP_A_DATA)
		tcp_deliver(ts, m);
	else
		xk_msg_free(m);
	if (tcp_cb(ts)->reass != NULL && !fin)
		fin = pull(ts, e);
	if (fin && tcp_takes_data(tcp_cb(ts)))
		fin_here(ts, a);
}

/* What is said at this goes together, the last step of the handshake with it: send does it. */
static void opened(struct tcp_sess *ts)
{
	tcp_cb(ts)->flags |= TCP_F_TOLD_OPEN | TCP_F_OUTPUT;
	tcp_notify(ts, XK_STREAM_OPENED, XK_OK);
	tcp_cb(ts)->flags &= ~TCP_F_OUTPUT;
}

/* Everything that is to be sent now. */
static void send(struct tcp_sess *ts, uint32_t acts)
{
	struct tcp_cb *cb = tcp_cb(ts);

	if (acts & TCP_A_SYN) {
		tcp_send_syn(ts);
		return;
	}
	/* An acknowledgement that shall be seen as such goes by itself. */
	if ((acts & TCP_A_ACK) && cb->state != TCP_S_CLOSED)
		tcp_send_ack(ts);
	if (cb->state == TCP_S_CLOSED)
		return;
	if ((acts & TCP_A_OUTPUT) || (cb->flags & (TCP_F_ACK_NOW | TCP_F_WANT_ROOM)))
		tcp_output(ts);
	else
		tcp_timer_sync(ts);
}

/* At the cap the oldest go. */
static void time_wait(struct tcp_sess *ts)
{
	struct xk_rep *r = ts->s.rep;

	if (!tcp_rest_begin(ts))
		tcp_timewait_enter(ts);
	while (tcp_rep(r)->tw_n > tcp_tune(r)->time_wait && tcp_timewait_reclaim(r, ts, true))
		;
}

static void carry_out(struct tcp_sess *ts, const struct tcp_env *e, const struct tcp_seg *g, struct tcp_acts *a,
		      struct xk_msg *m)
{
	if (a->acts & TCP_A_RESET)
		refuse(ts, a, m);
	if (a->acts & TCP_A_DROP) {
		xk_drop(ts->s.rep, a->drop, m);
		m = NULL;
	}
	if (a->acts & TCP_A_OPENED)
		opened(ts);
	if (a->acts & TCP_A_DRAINED)
		tcp_notify_drained(ts);
	if ((a->acts & TCP_A_URGENT) && tcp_cb(ts)->state != TCP_S_CLOSED)
		tcp_notify(ts, XK_STREAM_URGENT, XK_OK);
	if (m != NULL && tcp_cb(ts)->state != TCP_S_CLOSED)
		bytes(ts, e, g, a, m);
	else if (m != NULL)
		xk_msg_free(m);
	send(ts, a->acts);
	if (a->acts & TCP_A_FINISH)
		tcp_finish(ts, a->err);
	else if ((a->acts & TCP_A_TIME_WAIT) && tcp_cb(ts)->state == TCP_S_TIME_WAIT)
		time_wait(ts);                   /* the last that is done with its block */
}

bool tcp_act(struct tcp_sess *ts, const struct tcp_seg *g, struct xk_msg *m)
{
	struct tcp_env e = tcp_env(ts->s.rep);
	unsigned was = tcp_cb(ts)->state;
	struct tcp_acts a;

	xk_count(e.count[TCP_COUNT_SLOW]);
	tcp_cb(ts)->segs_in++;
	tcp_input(tcp_cb(ts), &e, g, &a);
	tcp_record_state(ts, was);
	if (XK_UNLIKELY(a.acts & TCP_A_REUSE))
		return false;
	carry_out(ts, &e, g, &a, m);
	return true;
}

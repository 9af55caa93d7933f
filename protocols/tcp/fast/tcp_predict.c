/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_predict.c - one segment up, seen through by a few compares: Van Jacobson's header
 * prediction.
 *
 * Nearly every segment of an established connection is the next data, or an
 * acknowledgement of ours, and says nothing else.  Those are done here without a description
 * in memory; every other one is left to tcp_demux, which must do the same with these.
 * Invariant: what is predicted moves the control block as tcp_input would; its
 * acknowledgement may go out before the bytes that came with it go up.
 */
#include "protocols/tcp/fast/tcp_fast.h"
#include "protocols/tcp/sess/tcp_act.h"
#include "runtime/upi/xk_inline.h"

/* An acknowledgement of new data in a connection without trouble. */
static inline void predicted_ack(struct tcp_sess *ts, const struct tcp_env *e, const struct tcp_seg *g)
{
	struct tcp_cb *cb = tcp_cb(ts);
	struct tcp_acts a = { 0 };
	uint32_t wnd = (uint32_t)g->wnd << cb->snd_wscale;
	bool changed = wnd != cb->snd_wnd;

	tcp_set_window(cb, g->seq, g->ack, wnd);
	if (XK_UNLIKELY(!tcp_ack_quick(cb, e, g->ack, &a))) {
		tcp_rec_ack(cb, e, g, changed, &a);
		tcp_input_advance(cb, e, g->ack, &a);
	}
	if (a.acts & TCP_A_DRAINED)
		tcp_notify_drained(ts);
	if (cb->state == TCP_S_CLOSED)
		return;
	if ((a.acts & TCP_A_OUTPUT) || changed || (cb->flags & TCP_F_WANT_ROOM))
		tcp_output(ts);
	else
		tcp_timer_sync(ts);
}

/* The next data; hlen bytes of header are in front. */
static inline void predicted_data(struct tcp_sess *ts, struct xk_msg *m, uint32_t hlen, bool push)
{
	struct tcp_cb *cb = tcp_cb(ts);
	struct tcp_env e = tcp_env(ts->s.rep);
	uint32_t later = cb->flags & TCP_F_ACK_LATER;

	xk_msg_pop(m, hlen);
	tcp_owe_ack(cb, &e, m->tot, push);
	/* The wheel first: after the upcall the deadline is often off again. */
	if (!later && (cb->flags & TCP_F_ACK_LATER))
		tcp_timer_sync(ts);
	tcp_deliver(ts, m);
	if ((cb->flags & TCP_F_ACK_NOW) && cb->state != TCP_S_CLOSED)
		tcp_pay_ack(ts);
}

/*
 * Is it the segment that the connection waits for?  All of its words that may not
 * differ, in the order in which they lie.  Length and checksum are good, m is one
 * piece.  g is set as far as predicted_ack needs it.
 */
static inline bool predict(const struct tcp_cb *cb, const struct xk_msg *m, const uint8_t *p, uint32_t len,
			   struct tcp_seg *g)
{
	uint32_t ts = cb->flags & TCP_F_TS, hlen = ts ? 32 : 20, word = xk_be16(p + 12);

	g->seq = tcp_hdr_seq(p);
	g->ack = tcp_hdr_ack(p);
	g->wnd = tcp_hdr_wnd(p);
	g->hlen = (uint8_t)hlen;
	g->flags = word & 0x1ff;
	g->len = len - hlen;
	g->o.tsval = g->o.tsecr = 0;
	if (!tcp_takes_data(cb) || (word & ~TCP_PSH) != (ts ? HDR_WORD_TS : HDR_WORD) || len < hlen ||
	    g->seq != cb->rcv_nxt || cb->reass != NULL || (cb->flags & (TCP_F_ORPHAN | TCP_F_URG_IN)))
		return false;
	if (ts) {
		g->o.tsval = xk_be32(p + 24);
		g->o.tsecr = xk_be32(p + 28);
		if (xk_be32(p + 20) != NOP_NOP_TS || tcp_lt(g->o.tsval, cb->ts_recent))
			return false;
	}
	if ((cb->flags & TCP_F_ECN) && (((const uint8_t *)xk_msg_net(m))[1] & 3) == 3)
		return false;
	return g->len <= cb->rcv_adv - cb->rcv_nxt;
}

/* Of those, which half?  None: a window update or a duplicate. */
static inline bool predict_ack(const struct tcp_cb *cb, const struct tcp_seg *g)
{
	uint32_t wnd = (uint32_t)g->wnd << cb->snd_wscale, more = g->ack - cb->snd_una;

	if (more == 0)
		return g->len != 0 && wnd == cb->snd_wnd;
	return more <= cb->snd_max - cb->snd_una && cb->ca_state == TCP_CA_OPEN && wnd != 0 &&
	       cb->snd_wnd != 0 && !(cb->flags & TCP_F_FIN_SENT);
}

/* Not what it was predicted to be any more: something was done inside our push. */
static XK_NOINLINE void reinput(struct tcp_sess *ts, struct xk_msg *m)
{
	struct tcp_seg g;

	tcp_parse(&g, m);
	(void)tcp_act(ts, &g, m);        /* no SYN, so none that TIME-WAIT gives way to */
}

static void predicted_both(struct tcp_sess *ts, struct tcp_seg *g, struct xk_msg *m)
{
	struct tcp_env e = tcp_env(ts->s.rep);

	g->o.have = tcp_cb(ts)->flags & TCP_F_TS ? TCP_O_TS : 0;
	g->o.nsack = 0;
	g->ce = 0;
	predicted_ack(ts, &e, g);
	if (g->len != 0 && tcp_takes_data(tcp_cb(ts)) && tcp_cb(ts)->rcv_nxt == g->seq && tcp_held(ts))
		predicted_data(ts, m, g->hlen, (g->flags & TCP_PSH) != 0);
	else if (g->len != 0 && tcp_cb(ts)->state != TCP_S_CLOSED)
		reinput(ts, m);
	else
		xk_msg_free(m);
}

/* Neither the beginning nor the end of a connection. */
static inline bool says_little(const uint8_t *p)
{
	return XK_LIKELY((p[13] & (TCP_SYN | TCP_FIN | TCP_RST)) == 0);
}

/* True: done with m. */
static inline bool predicted(struct tcp_sess *ts, struct xk_msg *m, const uint8_t *p, uint32_t len)
{
	struct tcp_cb *cb = tcp_cb(ts);
	struct tcp_seg g;

	if (XK_UNLIKELY(!predict(cb, m, p, len, &g) || !predict_ack(cb, &g)))
		return false;
	m->flags &= (uint8_t)~(XK_MSG_CSUM | XK_MSG_CSUM_OK);   /* judged, and nobody's above */
	xk_count(ts->s.rep->count[TCP_COUNT_PREDICTED]);
	tcp_pop_begin(ts);
	tcp_note_time(cb, g.o.tsval, tcp_ms(xk_vp_time(ts->s.rep->vp)));
	if (XK_LIKELY(g.ack == cb->snd_una))
		predicted_data(ts, m, g.hlen, (g.flags & TCP_PSH) != 0);
	else
		predicted_both(ts, &g, m);
	tcp_pop_end(ts);
	return true;
}

/* One piece, good sum, for the hinted session, as predicted; all else is left to
 * demux_any, with the hint as it was. */
static inline bool demux_quick(struct xk_rep *r, struct xk_msg *m)
{
	const uint8_t *p = m->data;
	uint32_t len = m->len, sum;
	struct xk_sess *s;

	if (XK_UNLIKELY(len < TCP_HDR_LEN || m->net == 0 || (m->flags & XK_MSG_CHAIN) || !says_little(p)))
		return false;
	s = xk_find_hinted(r, m, ip_net_pair(xk_msg_net(m)), tcp_hdr_ports(p));
	if (XK_UNLIKELY(s == NULL))
		return false;
	if (XK_UNLIKELY(tcp_is_compressed(tcp_sess(s))))
		goto no;
	if (!(m->flags & XK_MSG_CSUM_OK)) {
		sum = tcp_live(tcp_sess(s))->psum + htobe16((uint16_t)len);
		sum = m->flags & XK_MSG_CSUM ? xk_csum_add(m->csum, sum) : xk_csum_quick(p, len, sum);
		if (XK_UNLIKELY(!xk_csum_valid(sum) && !(m->flags & XK_MSG_CSUM_IGNORE)))
			goto no;
	}
	if (XK_LIKELY(predicted(tcp_sess(s), m, p, len)))
		return true;
	m->flags |= XK_MSG_CSUM_OK;      /* tcp_demux need not sum it again */
no:
	m->u.hint--;
	return false;
}

bool tcp_fast_predicted(struct tcp_sess *ts, struct xk_msg *m)
{
	return !(m->flags & XK_MSG_CHAIN) && says_little(m->data) && predicted(ts, m, m->data, m->len);
}

XK_APART void tcp_fast_one(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	if (XK_UNLIKELY(!demux_quick(up->rep, m)))
		tcp_demux(up, lls, m);
}

/* By its length alone it may be a header with nothing behind it.  No stack frame. */
void tcp_fast_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	if (m->len == TCP_HDR_LEN || m->len == 32)
		tcp_fast_ack(up, lls, m);
	else
		tcp_fast_one(up, lls, m);
}

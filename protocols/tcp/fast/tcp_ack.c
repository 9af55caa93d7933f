/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_ack.c - an acknowledgement without loss: whole segments that went out once, and
 * nothing else to be learned from it.
 *
 * tcp_rec_ack and tcp_input_advance know all that an acknowledgement may mean.  Here
 * it means one round trip, some room and some buffers: a first walk over what it
 * covers makes sure of that, a second one frees it, the newest of the segments
 * stands for all of them, because they went out in order.  Any other
 * acknowledgement is left to those two, with nothing changed.
 * Most acknowledgements come alone and say nothing else: those are seen through in one
 * function from their session's key on (tcp_fast_ack), without a description of the
 * segment in memory, and nobody is called but who waits for something.
 * Invariant: the control block is afterwards what those two would have made of it.
 */
#include "protocols/tcp/sess/tcp_act.h"
#include "protocols/tcp/fast/tcp_fast.h"
#include "protocols/tcp/sess/tcp_sess.h"
#include "runtime/upi/xk_inline.h"

/* Something that an acknowledgement may end. */
#define NOT_PLAIN (TCP_F_RTT | TCP_F_URG_OUT | TCP_F_FIN_QUEUED | TCP_F_FIN_SENT)
#define NOT_FRESH (TCP_SQ_SACKED | TCP_SQ_LOST | TCP_SQ_RETRANS | TCP_SQ_EVER)

/* The last segment that ack covers, when it covers whole ones that went out once. */
static inline struct xk_msg *covers(const struct tcp_cb *cb, uint32_t ack)
{
	struct xk_msg *m = cb->sq.first, *last = NULL;
	uint32_t una = cb->snd_una, flags = 0, end = una;

	for (; m != cb->sq.unsent && tcp_sq_end(m) - una <= ack - una; m = m->link) {
		flags |= m->kept.flags;
		end = tcp_sq_end(m);
		last = m;
	}
	return end == ack && !(flags & NOT_FRESH) ? last : NULL;
}

/* Nothing is lost, nothing out of order, no probe out. */
static inline bool no_loss_state(const struct tcp_cb *cb)
{
	uint32_t none = cb->lost_out | cb->sacked_out | cb->retrans_out | (cb->flags & NOT_PLAIN) | cb->at[TCP_T_USER] |
			(cb->high_sacked ^ cb->snd_una) | (cb->snd_nxt ^ cb->snd_max);

	return XK_LIKELY(none == 0) && XK_LIKELY(cb->ca_state == TCP_CA_OPEN) && XK_LIKELY(!cb->tlp_out);
}

/* Round trips: of the first one RFC 6298's, of the newest RACK's. */
static inline void measure(struct tcp_cb *cb, const struct tcp_env *e, struct xk_msg *first, struct xk_msg *last)
{
	uint32_t at = last->kept.when, end = tcp_sq_end(last), rtt = tcp_since(e, at);

	if (tcp_by_rack(cb)) {
		if (cb->rack_min_rtt == 0 || rtt < cb->rack_min_rtt)
			cb->rack_min_rtt = rtt;
		if (cb->rack_rtt == 0 || (at != cb->rack_us ? (int32_t)(at - cb->rack_us) > 0 : tcp_gt(end, cb->rack_end))) {
			cb->rack_us = at;
			cb->rack_end = end;
			cb->rack_rtt = rtt;
		}
	}
	tcp_rtt_sample(cb, tcp_since(e, first->kept.when));
	cb->backoff = 0;
}

/* Frees what lies before stop.  The clock stands still during a turn: what was sent at
 * another time was written in another turn. */
static inline void trim(struct tcp_sendq *q, struct xk_msg *stop, uint32_t n, uint32_t now_us)
{
	struct xk_msg *m = q->first;

	while (m != stop) {
		struct xk_msg *next = m->link;

		if (m->kept.when == now_us)
			xk_msg_free(m);
		else
			xk_msg_free_cold(m);
		m = next;
	}
	q->first = stop;
	q->bytes -= n;
	if (stop == q->unsent) {
		q->unsent_prev = NULL;
		if (stop == NULL)
			q->last = NULL;
	}
}

/* Is what is in flight still watched; all came: nothing is. */
static inline void watch(struct tcp_cb *cb, const struct tcp_env *e)
{
	if (cb->snd_una != cb->snd_max) {
		tcp_rec_arm(cb, e);
		return;
	}
	tcp_timer_off(cb, TCP_T_REXMT);
	tcp_timer_off(cb, TCP_T_PROBE);
	tcp_timer_off(cb, TCP_T_REORDER);
}

/* What ack says, which covers n bytes up to the segment last. */
static inline void take(struct tcp_cb *cb, const struct tcp_env *e, uint32_t ack, struct xk_msg *last)
{
	uint32_t n = ack - cb->snd_una;

	/* Not so old that comparing goes wrong. */
	if (XK_LIKELY(cb->recover - (cb->snd_una - 1) > cb->snd_max - (cb->snd_una - 1)))
		cb->recover = cb->snd_una - 1;
	measure(cb, e, cb->sq.first, last);
	if (XK_UNLIKELY(cb->flags & TCP_F_SMALL) && tcp_geq(ack, cb->snd_sml))
		cb->flags &= ~TCP_F_SMALL;
	tcp_rec_grow(cb, e, n);
	cb->dupacks = cb->retries = 0;
	cb->bytes_acked += n;
	cb->snd_una = cb->high_sacked = ack;
	trim(&cb->sq, last->link, n, e->now_us);
	tcp_sendq_check(cb);
	watch(cb, e);
}

bool tcp_ack_quick(struct tcp_cb *cb, const struct tcp_env *e, uint32_t ack, struct tcp_acts *a)
{
	struct xk_msg *last;

	if (XK_UNLIKELY(!no_loss_state(cb)) || XK_UNLIKELY((last = covers(cb, ack)) == NULL))
		return false;
	take(cb, e, ack, last);
	a->acts = TCP_A_ACKED;
	if (cb->sq.unsent != NULL || (cb->flags & TCP_F_WANT_ROOM))
		a->acts |= TCP_A_OUTPUT;
	if (cb->sq.bytes == 0)
		a->acts |= TCP_A_DRAINED;
	return true;
}

/* ---- a segment that is nothing but that ---------------------------------------------------- */

/* The session of one that was summed by nobody, whose key and sum are right; else NULL,
 * and nothing has happened. */
static inline struct tcp_sess *sess_of(const struct xk_rep *r, const struct xk_msg *m)
{
	const uint8_t *p = m->data;
	struct xk_sess *s = *m->u.hint;
	struct tcp_sess *ts = tcp_sess(s);
	uint64_t sum;

	if (XK_UNLIKELY(m->net == 0 || (m->flags & (XK_MSG_CHAIN | XK_MSG_CSUM)) || s->rep != r || s->rcnt == 0 ||
			((s->map.key.w[0] ^ ip_net_pair(xk_msg_net(m))) | (s->map.key.w[1] ^ tcp_hdr_ports(p))) != 0 ||
			tcp_is_compressed(ts)))
		return NULL;
	sum = (uint64_t)tcp_live(ts)->psum + htobe16((uint16_t)m->len) + xk_raw32(p) + xk_raw32(p + 4) + xk_raw32(p + 8) +
	      xk_raw32(p + 12) + xk_raw32(p + 16);
	if (m->len != TCP_HDR_LEN)
		sum += (uint64_t)xk_raw32(p + 20) + xk_raw32(p + 24) + xk_raw32(p + 28);
	return XK_LIKELY(xk_csum_valid64(sum)) || (m->flags & (XK_MSG_CSUM_OK | XK_MSG_CSUM_IGNORE)) ? ts : NULL;
}

/* The header is one without payload, number and timestamp are as expected, nothing
 * is out of order, both windows are open. */
static inline bool plain(const struct tcp_cb *cb, const struct xk_msg *m, uint32_t wnd)
{
	const uint8_t *p = m->data;
	uint32_t stamps = cb->flags & TCP_F_TS, word = stamps ? htobe32(HDR_WORD_TS << 16) : htobe32(HDR_WORD << 16);
	uint64_t none = (uintptr_t)cb->reass | ((xk_raw32(p + 12) ^ word) & htobe32((0xffffu & ~TCP_PSH) << 16)) |
			(tcp_hdr_seq(p) ^ cb->rcv_nxt) | (cb->flags & (TCP_F_ORPHAN | TCP_F_URG_IN)) |
			(cb->state ^ TCP_S_ESTABLISHED) | (m->len ^ tcp_hlen_usual(cb));

	if (XK_UNLIKELY(none != 0) || XK_UNLIKELY(wnd == 0) || XK_UNLIKELY(cb->snd_wnd == 0))
		return false;
	if (stamps && (xk_be32(p + 20) != NOP_NOP_TS || tcp_lt(xk_be32(p + 24), cb->ts_recent)))
		return false;
	return !(cb->flags & TCP_F_ECN) || (((const uint8_t *)xk_msg_net(m))[1] & 3) != 3;
}

/* Those above hear of it, what waited goes out. */
static XK_APART void go_on(struct tcp_sess *ts)
{
	ts->s.rcnt++;
	ts->own.pops++;
	tcp_notify_drained(ts);
	if (tcp_cb(ts)->state != TCP_S_CLOSED)
		tcp_output(ts);
	tcp_pop_end(ts);
}

/* All of predicted_ack and what stands around it, for a segment that has been seen to be plain. */
static inline void ack_in(struct tcp_sess *ts, struct xk_msg *m, uint32_t wnd, struct xk_msg *last)
{
	struct tcp_cb *cb = tcp_cb(ts);
	const struct tcp_env e = tcp_env(ts->s.rep);
	const uint8_t *p = m->data;
	uint32_t changed = wnd ^ cb->snd_wnd;

	xk_count(ts->s.rep->count[TCP_COUNT_PREDICTED]);
	xk_count(ts->s.rep->npop);
	tcp_note_time(cb, cb->flags & TCP_F_TS ? xk_be32(p + 24) : 0, e.now);
	tcp_set_window(cb, cb->rcv_nxt, tcp_hdr_ack(p), wnd);
	take(cb, &e, tcp_hdr_ack(p), last);
	xk_msg_free(m);
	if (changed != 0 || cb->sq.unsent != NULL || (cb->flags & TCP_F_WANT_ROOM) ||
	    XK_UNLIKELY(cb->sq.bytes == 0 && (cb->flags & TCP_F_DRAINING)))
		go_on(ts);
	else
		tcp_timer_sync(ts);
}

void tcp_fast_ack(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	struct tcp_sess *ts = sess_of(up->rep, m);
	struct tcp_cb *cb;
	struct xk_msg *last;
	uint32_t wnd;

	if (XK_LIKELY(ts != NULL)) {
		cb = tcp_cb(ts);
		wnd = (uint32_t)tcp_hdr_wnd(m->data) << cb->snd_wscale;
		if (XK_LIKELY(plain(cb, m, wnd)) && XK_LIKELY(no_loss_state(cb)) &&
		    tcp_hdr_ack(m->data) - cb->snd_una <= cb->snd_max - cb->snd_una &&
		    XK_LIKELY((last = covers(cb, tcp_hdr_ack(m->data))) != NULL)) {
			ack_in(ts, m, wnd, last);
			return;
		}
		m->flags |= XK_MSG_CSUM_OK;      /* tcp_demux need not sum it again */
	}
	tcp_fast_one(up, lls, m);
}

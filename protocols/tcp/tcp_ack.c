/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_ack.c - an acknowledgement in peace: whole segments that went out once, and
 * nothing else to be learned from it.
 *
 * tcp_rec_ack and tcp_input_advance know all that an acknowledgement may mean.  Here
 * it means one round trip, some room and some buffers: a first walk over what it
 * covers makes sure of that, a second one frees it, the newest of the segments
 * stands for all of them, because they went out in order.  What is not so is left
 * to those two, and nothing has been changed then.
 * Invariant: the control block is afterwards what those two would have made of it.
 */
#include "protocols/tcp/tcp_out_priv.h"

/* Something that an acknowledgement may end. */
#define NOT_PLAIN (TCP_F_RTT | TCP_F_URG_OUT | TCP_F_FIN_QUEUED | TCP_F_FIN_SENT)
#define NOT_FRESH (TCP_SQ_SACKED | TCP_SQ_LOST | TCP_SQ_RETRANS | TCP_SQ_EVER)

/* The last segment that ack covers, when it covers whole ones that went out once. */
static inline struct xk_msg *covers(const struct tcp_cb *cb, uint32_t ack)
{
	struct xk_msg *m = cb->sq.first, *last = NULL;
	uint32_t una = cb->snd_una, flags = 0, end = una;

	for (; m != cb->sq.unsent && tcp_sq_end(m) - una <= ack - una; m = m->link) {
		flags |= *tcp_sq_flags(m);
		end = tcp_sq_end(m);
		last = m;
	}
	return end == ack && !(flags & NOT_FRESH) ? last : NULL;
}

/* Nothing is lost, nothing out of order, no probe out. */
static inline bool in_peace(const struct tcp_cb *cb)
{
	uint32_t none = cb->lost_out | cb->sacked_out | cb->retrans_out | (cb->flags & NOT_PLAIN) | cb->at[TCP_T_USER] |
			(cb->high_sacked ^ cb->snd_una) | (cb->snd_nxt ^ cb->snd_max);

	return XK_LIKELY(none == 0) && XK_LIKELY(cb->ca_state == TCP_CA_OPEN) && XK_LIKELY(!cb->tlp_out);
}

/* Round trips: of the first one RFC 6298's, of the newest RACK's. */
static inline void measure(struct tcp_cb *cb, const struct tcp_env *e, struct xk_msg *first, struct xk_msg *last)
{
	uint32_t at = *tcp_sq_sent_us(last), end = tcp_sq_end(last), rtt = tcp_since(e, at);

	if (tcp_by_rack(cb)) {
		if (cb->rack_min_rtt == 0 || rtt < cb->rack_min_rtt)
			cb->rack_min_rtt = rtt;
		if (cb->rack_rtt == 0 || (at != cb->rack_us ? (int32_t)(at - cb->rack_us) > 0 : tcp_gt(end, cb->rack_end))) {
			cb->rack_us = at;
			cb->rack_end = end;
			cb->rack_rtt = rtt;
		}
	}
	tcp_rtt_sample(cb, tcp_since(e, *tcp_sq_sent_us(first)));
	cb->backoff = 0;
}

/* Frees what lies before stop. */
static inline void trim(struct tcp_sendq *q, struct xk_msg *stop, uint32_t n)
{
	struct xk_msg *m = q->first;

	while (m != stop) {
		struct xk_msg *next = m->link;

		xk_msg_free(m);
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

bool tcp_ack_quick(struct tcp_cb *cb, const struct tcp_env *e, uint32_t ack, struct tcp_acts *a)
{
	uint32_t n = ack - cb->snd_una;
	struct xk_msg *last;

	if (XK_UNLIKELY(!in_peace(cb)) || XK_UNLIKELY((last = covers(cb, ack)) == NULL))
		return false;
	/* Not so old that comparing goes wrong. */
	if (XK_LIKELY(cb->recover - (cb->snd_una - 1) > cb->snd_max - (cb->snd_una - 1)))
		cb->recover = cb->snd_una - 1;
	measure(cb, e, cb->sq.first, last);
	if ((cb->flags & TCP_F_SMALL) && tcp_geq(ack, cb->snd_sml))
		cb->flags &= ~TCP_F_SMALL;
	tcp_rec_grow(cb, e, n);
	cb->dupacks = cb->retries = 0;
	cb->bytes_acked += n;
	cb->snd_una = cb->high_sacked = ack;
	trim(&cb->sq, last->link, n);
	tcp_sendq_check(cb);
	watch(cb, e);
	a->do_ = TCP_A_ACKED;
	if (cb->sq.unsent != NULL || (cb->flags & TCP_F_WANT_ROOM))
		a->do_ |= TCP_A_OUTPUT;
	if (cb->sq.bytes == 0)
		a->do_ |= TCP_A_DRAINED;
	return true;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_rack.c - loss by time, and probes for lost tails (RFC 8985).
 *
 * A segment is lost when one sent sufficiently later has been delivered; how
 * much is sufficient adapts to the reordering seen.  Names are the RFC's:
 * rack_us and rack_end are RACK.xmit_ts and RACK.end_seq, rack_rtt RACK.rtt.
 * Times are microseconds of the VP's clock in 32 bits.
 * Invariant: one call walks at most WALK_MAX segments; those further on are
 * looked at when the ones before them have been repaired.
 */
#include "protocols/tcp/core/tcp_core.h"

#define WALK_MAX    256u
#define DUP_THRESH  3u
#define PERSIST_MAX 16u          /* recoveries that a widened window outlasts */
#define DELACK_MAX  200u         /* ms the peer may hold an acknowledgement (WCDelAckT) */

/* RACK_sent_after. */
static bool sent_after(uint32_t t1, uint32_t end1, uint32_t t2, uint32_t end2)
{
	return t1 != t2 ? (int32_t)(t1 - t2) > 0 : tcp_gt(end1, end2);
}

/* An ACK of a segment sent twice that came too soon to be of the second time. */
static bool ambiguous(const struct tcp_cb *cb, const struct tcp_seg *g, struct xk_msg *m, uint32_t rtt)
{
	if (!(m->kept.flags & TCP_SQ_EVER))
		return false;
	if ((cb->flags & TCP_F_TS) && (g->o.have & TCP_O_TS) && (cb->flags & TCP_F_UNDO) && cb->undo_retrans != 0 &&
	    tcp_lt(g->o.tsecr, cb->undo_ts))
		return true;
	return rtt < cb->rack_min_rtt;
}

/* Steps 1 to 3 of 6.2 for one segment. */
void tcp_rack_delivered(struct tcp_cb *cb, const struct tcp_env *e, const struct tcp_seg *g, struct xk_msg *m,
			uint32_t high)
{
	uint32_t at = m->kept.when, end = tcp_sq_end(m), rtt = tcp_since(e, at);

	if (tcp_lt(end, high) && !(m->kept.flags & TCP_SQ_EVER))
		cb->rack_reordering = true;
	if (ambiguous(cb, g, m, rtt))
		return;
	if (!(m->kept.flags & TCP_SQ_EVER) && (cb->rack_min_rtt == 0 || rtt < cb->rack_min_rtt))
		cb->rack_min_rtt = rtt;
	if (cb->rack_rtt == 0 || sent_after(at, end, cb->rack_us, cb->rack_end)) {
		cb->rack_us = at;
		cb->rack_end = end;
		cb->rack_rtt = rtt;
	}
}

/* 6.2 step 4: each round trip with a duplicate report widens the window. */
void tcp_rack_dsack(struct tcp_cb *cb, uint32_t una)
{
	if (cb->rack_dsack && tcp_lt(una, cb->rack_round))
		return;
	cb->rack_dsack = true;
	cb->rack_round = cb->snd_max;
	if (cb->rack_reo_mult < UINT8_MAX)
		cb->rack_reo_mult++;
	cb->rack_persist = PERSIST_MAX;
}

static uint32_t reo_wnd(struct tcp_cb *cb)
{
	uint32_t w;

	if (!cb->rack_reordering &&
	    (cb->ca_state >= TCP_CA_RECOVERY || cb->sacked_segs >= DUP_THRESH))
		return 0;
	w = cb->rack_min_rtt / 4 * (cb->rack_reo_mult != 0 ? cb->rack_reo_mult : 1);
	return cb->srtt == 0 || w < cb->srtt ? w : cb->srtt;
}

bool tcp_rack_detect(struct tcp_cb *cb, const struct tcp_env *e, uint32_t una)
{
	uint32_t limit = cb->rack_rtt + reo_wnd(cb), wait = 0, steps = WALK_MAX;
	struct xk_msg *m;
	bool lost = false;

	tcp_timer_off(cb, TCP_T_REORDER);
	if (cb->rack_rtt == 0)
		return false;
	for (m = cb->sq.first; m != cb->sq.unsent && steps-- != 0; m = m->link) {
		uint16_t f = m->kept.flags;
		uint32_t age = tcp_since(e, m->kept.when);

		if ((f & TCP_SQ_SACKED) || (f & (TCP_SQ_LOST | TCP_SQ_RETRANS)) == TCP_SQ_LOST ||
		    tcp_leq(tcp_sq_end(m), una))
			continue;
		if (!sent_after(cb->rack_us, cb->rack_end, m->kept.when, tcp_sq_end(m))) {
			/* In order from here on, unless something was sent again. */
			if (!(f & TCP_SQ_EVER) && cb->retrans_out == 0)
				break;
			continue;
		}
		if (age >= limit) {
			tcp_mark_lost(cb, m);
			lost = true;
		} else if (limit - age > wait) {
			wait = limit - age;
		}
	}
	if (wait != 0)
		tcp_timer_arm(cb, e, TCP_T_REORDER, wait / 1000 + 1);
	return lost;
}

/* ---- tail loss probe ------------------------------------------------------------------------ */

/* 7.2.  Nothing to probe for while recovery goes on or holes are known. */
uint32_t tcp_tlp_pto(const struct tcp_cb *cb, const struct tcp_env *e, uint32_t una)
{
	uint32_t pto, rto;

	if (!tcp_by_sack(cb) || !cb->tune->tlp)
		return 0;
	rto = tcp_rto_now(cb);
	/* RFC 8985 7.2: not after the timeout that runs already. */
	if (cb->at[TCP_T_REXMT] != 0 && (int32_t)(cb->at[TCP_T_REXMT] - e->now) > 0 && cb->at[TCP_T_REXMT] - e->now < rto)
		rto = cb->at[TCP_T_REXMT] - e->now;
	if (cb->ca_state > TCP_CA_DISORDER || cb->sacked_out != 0 ||
	    cb->tlp_out || cb->backoff != 0 || cb->state < TCP_S_ESTABLISHED || una == cb->snd_max)
		return 0;
	if (cb->srtt == 0)
		pto = 1000;
	else {
		pto = (2 * cb->srtt + 999) / 1000;
		if (cb->snd_max - una <= cb->mss)
			pto += DELACK_MAX;
		if (pto < cb->tune->tlp_min)
			pto = cb->tune->tlp_min;
	}
	return pto < rto ? pto : rto;
}

/* 7.4.2: was the probe needed?  Then one segment was lost, and cwnd pays. */
void tcp_tlp_ack(struct tcp_cb *cb, const struct tcp_env *e, const struct tcp_seg *g,
		 const struct tcp_delivery *d)
{
	if (!cb->tlp_out || tcp_lt(g->ack, cb->tlp_end))
		return;
	if (!cb->tlp_retrans) {
		cb->tlp_out = false;
	} else if (d->dsack && d->dsack_r == cb->tlp_end) {
		cb->tlp_out = false;
	} else if (tcp_gt(g->ack, cb->tlp_end)) {
		cb->tlp_out = false;
		if (cb->ca_state <= TCP_CA_DISORDER)
			tcp_rec_reduce(cb, e);
	} else if (g->ack == cb->snd_una && g->len == 0 && g->o.nsack == 0) {
		cb->tlp_out = false;     /* both came: a plain duplicate ACK */
	}
}

bool tcp_tlp_begin(struct tcp_cb *cb)
{
	if (cb->snd_una == cb->snd_max || cb->tlp_out || cb->ca_state > TCP_CA_DISORDER)
		return false;
	cb->tlp_out = true;
	cb->tlp_retrans = false;
	return true;
}

bool tcp_tlp_new(const struct tcp_cb *cb)
{
	return cb->sq.unsent != NULL && tcp_lt(cb->snd_max, tcp_snd_edge(cb));
}

void tcp_tlp_sent(struct tcp_cb *cb, const struct tcp_env *e)
{
	xk_count(e->count[TCP_COUNT_TLP]);
	cb->tlp_end = cb->snd_max;
	if (cb->snd_una != cb->snd_max)
		tcp_timer_arm(cb, e, TCP_T_REXMT, tcp_rto_now(cb));
}

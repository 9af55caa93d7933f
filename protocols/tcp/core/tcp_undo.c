/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_undo.c - reductions that turn out to have been for nothing.
 *
 * Three witnesses: a timestamp echoed from before the first retransmission (Eifel,
 * RFC 3522), a duplicate report for every segment sent again (RFC 3708), and
 * after a timeout an ACK of what was never sent again (F-RTO, RFC 5682).
 * Invariant: while TCP_F_UNDO is set, prior_cwnd and prior_ssthresh are what
 * they were before the reduction and undo_marker is snd_una of that moment.
 */
#include "protocols/tcp/core/tcp_core.h"

void tcp_undo_begin(struct tcp_cb *cb)
{
	cb->prior_cwnd = cb->cwnd;
	cb->prior_ssthresh = cb->ssthresh;
	cb->undo_marker = cb->snd_una;
	cb->undo_retrans = 0;
	cb->flags |= TCP_F_UNDO;
}

void tcp_undo_dsack(struct tcp_cb *cb, const struct tcp_delivery *d)
{
	if ((cb->flags & TCP_F_UNDO) && cb->undo_retrans != 0 && tcp_geq(d->dsack_l, cb->undo_marker) &&
	    --cb->undo_retrans == 0)
		cb->undo_retrans = UINT32_MAX;   /* all of them: see all_dsacked */
}

static bool all_dsacked(const struct tcp_cb *cb) { return cb->undo_retrans == UINT32_MAX; }

static bool eifel(const struct tcp_cb *cb, const struct tcp_seg *g)
{
	return (cb->flags & TCP_F_TS) && (g->o.have & TCP_O_TS) && cb->ca_state >= TCP_CA_RECOVERY &&
	       cb->undo_retrans != 0 && tcp_gt(g->ack, cb->snd_una) && tcp_lt(g->o.tsecr, cb->undo_ts);
}

/* Steps 2 and 3 of RFC 5682 2.1; true: the timeout was spurious. */
static bool frto(struct tcp_cb *cb, const struct tcp_seg *g, const struct tcp_delivery *d)
{
	bool advanced = tcp_gt(g->ack, cb->snd_una);

	if (cb->ca_state != TCP_CA_LOSS || cb->frto == 0 || (!advanced && d->sacked == 0 && g->len != 0))
		return false;
	if (d->orig)
		return true;
	if (cb->frto == 1 && advanced && tcp_lt(g->ack, cb->recover) && cb->sq.unsent != NULL &&
	    tcp_gt(tcp_snd_edge(cb), cb->snd_max)) {
		cb->frto = 2;
		cb->cwnd = tcp_pipe_at(cb, g->ack) + 2u * cb->mss;
		return false;
	}
	cb->frto = 0;
	return false;
}

static void unmark(struct tcp_cb *cb)
{
	struct xk_msg *m;

	for (m = cb->sq.first; m != cb->sq.unsent; m = m->link)
		m->kept.flags &= (uint16_t)~(TCP_SQ_LOST | TCP_SQ_RETRANS);
	cb->lost_out = cb->retrans_out = 0;
}

bool tcp_undo_try(struct tcp_cb *cb, const struct tcp_env *e, const struct tcp_seg *g,
		  const struct tcp_delivery *d)
{
	bool spurious = frto(cb, g, d);

	if (!(cb->flags & TCP_F_UNDO) || !(spurious || all_dsacked(cb) || eifel(cb, g)))
		return false;
	cb->flags &= ~TCP_F_UNDO;
	cb->undo_retrans = 0;
	cb->frto = 0;
	unmark(cb);
	if (!tcp_by_sack(cb))
		cb->sacked_out = 0;
	if (cb->cwnd < cb->prior_cwnd)
		cb->cwnd = cb->prior_cwnd;
	if (cb->ssthresh < cb->prior_ssthresh)
		cb->ssthresh = cb->prior_ssthresh;
	cb->cc->undo(cb);
	cb->ca_state = cb->sacked_out != 0 ? TCP_CA_DISORDER : TCP_CA_OPEN;
	cb->dupacks = 0;                 /* backoff stays until a round trip is measured: this one was too long for it */
	if (cb->flags & TCP_F_FIN_SENT)
		cb->snd_nxt = cb->snd_max;
	xk_count(e->count[TCP_COUNT_UNDO]);
	return true;
}

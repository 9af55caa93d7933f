/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_recovery.c - what an acknowledgement means for what was sent: round trips
 * (RFC 6298), entering and leaving recovery (RFC 5681, 6582, 6675), how fast it
 * sends (RFC 6937), timeouts.
 *
 * Every ACK goes one way: count what it delivers, find what is lost (RACK,
 * RFC 6675 or NewReno, by what was negotiated), then move the state and cwnd.
 * Sending always goes by the estimate of what is in flight ("pipe"), so that
 * limited transmit, recovery and the restart after a timeout are one rule.
 * Without SACK each duplicate ACK counts as one segment in sacked_out, and no
 * message carries TCP_SQ_SACKED.
 * Invariant: lost_out and retrans_out count exactly the messages so marked,
 * and a message is RETRANS only while it is LOST.
 */
#include "protocols/tcp/core/tcp_core.h"

#define DUP_THRESH  3u
#define BACKOFF_MAX 15u
#define R1          3u           /* timeouts in a row after which a path is suspect (RFC 1122 4.2.3.5) */
#define RTO_UNSURE  3000u        /* ms, of a path that was never measured and lost a SYN */

static uint32_t max32(uint32_t a, uint32_t b) { return a > b ? a : b; }
/* ---- round trips ------------------------------------------------------------------------ */

uint32_t tcp_rto_of(const struct tcp_cb *cb)
{
	uint32_t var = cb->rttvar < 250 ? 1000 : 4 * cb->rttvar;  /* G is a millisecond */
	uint64_t us = (uint64_t)cb->srtt + var, ms;

	if (XK_LIKELY(us <= 1000ull * cb->tune->rto_min))
		return cb->tune->rto_min;
	ms = (us + 999) / 1000;
	return ms > cb->tune->rto_max ? cb->tune->rto_max : (uint32_t)ms;
}

void tcp_rtt_sample(struct tcp_cb *cb, uint32_t us)
{
	int32_t err;

	if ((int32_t)us <= 0)
		us = 1;
	if (cb->srtt == 0) {             /* 2.2 */
		cb->srtt = us;
		cb->rttvar = us / 2;
	} else {                         /* 2.3 */
		err = (int32_t)(us - cb->srtt);
		cb->rttvar += ((err < 0 ? -err : err) - (int32_t)cb->rttvar) / 4;
		cb->srtt += (uint32_t)(err / 8);
		if (cb->srtt == 0)
			cb->srtt = 1;
	}
	cb->rto = tcp_rto_of(cb);
	cb->rtt_us = us;
}

/*
 * By segment; by timestamp when the segment was sent twice; by the SYN's own mark.
 * An echo from before the segment went out for the last time measures nothing: the
 * first one may have arrived and its ACK been lost, then the peer answers the second
 * as a duplicate with the first one's time, which tells how long we waited, not
 * how long the path is.
 */
static void take_rtt(struct tcp_cb *cb, const struct tcp_env *e, const struct tcp_seg *g,
		     const struct tcp_delivery *d)
{
	uint32_t ms;

	if ((cb->flags & TCP_F_RTT) && tcp_gt(g->ack, cb->rtt_seq)) {
		cb->flags &= ~TCP_F_RTT;
		tcp_rtt_sample(cb, e->now_us - cb->rtt_at_us);
	} else if (d->rtt_us != 0 && !d->again) {
		tcp_rtt_sample(cb, d->rtt_us);
	} else if (d->again && (cb->flags & TCP_F_TS) && (g->o.have & TCP_O_TS)) {
		ms = e->now + cb->ts_off - g->o.tsecr;
		if (ms > d->again_us / 1000 + 1)
			return;
		tcp_rtt_sample(cb, ms != 0 ? ms * 1000 : 1000);
	} else {
		return;
	}
	cb->backoff = 0;
}

/* ---- timers ---------------------------------------------------------------------------------- */

void tcp_rec_arm(struct tcp_cb *cb, const struct tcp_env *e)
{
	uint32_t pto;

	if (cb->snd_una == cb->snd_max) {
		tcp_timer_off(cb, TCP_T_REXMT);
		tcp_timer_off(cb, TCP_T_PROBE);
		tcp_timer_off(cb, TCP_T_REORDER);
		return;
	}
	tcp_timer_arm(cb, e, TCP_T_REXMT, tcp_rto_now(cb));
	pto = tcp_tlp_pto(cb, e, cb->snd_una);
	if (pto != 0)
		tcp_timer_arm(cb, e, TCP_T_PROBE, pto);
	else
		tcp_timer_off(cb, TCP_T_PROBE);
}

void tcp_rec_arm_probe(struct tcp_cb *cb, const struct tcp_env *e)
{
	uint32_t pto = tcp_tlp_pto(cb, e, cb->snd_una);

	if (pto != 0)
		tcp_timer_arm(cb, e, TCP_T_PROBE, pto);
}

/* ---- delivered -------------------------------------------------------------------------------- */

void tcp_rec_delivered(struct tcp_cb *cb, const struct tcp_env *e, const struct tcp_seg *g,
		       struct xk_msg *m, struct tcp_delivery *d)
{
	uint32_t rtt = tcp_since(e, m->kept.when);

	d->bytes += m->tot;
	if (m->kept.flags & TCP_SQ_EVER) {
		d->again = true;
		d->again_us = max32(d->again_us, rtt);
	} else {
		if (d->rtt_us == 0)
			d->rtt_us = rtt;
		if (tcp_leq(tcp_sq_end(m), cb->recover))
			d->orig = true;
	}
	if (tcp_by_rack(cb))
		tcp_rack_delivered(cb, e, g, m, d->high);
}

/* The cumulative part.  Marks go from the sums here; the queue frees the messages. */
static void take_acked(struct tcp_cb *cb, const struct tcp_env *e, const struct tcp_seg *g,
		       struct tcp_delivery *d)
{
	struct xk_msg *m;

	for (m = cb->sq.first; m != cb->sq.unsent && tcp_leq(tcp_sq_end(m), g->ack); m = m->link) {
		uint16_t *f = &m->kept.flags;

		if (!(*f & TCP_SQ_SACKED))
			tcp_rec_delivered(cb, e, g, m, d);
		if (*f & (TCP_SQ_SACKED | TCP_SQ_LOST | TCP_SQ_RETRANS)) {
			tcp_sendq_forget(cb, m, m->tot, true);
			*f &= (uint16_t)~(TCP_SQ_SACKED | TCP_SQ_LOST | TCP_SQ_RETRANS);
		}
	}
	if (m != cb->sq.unsent && tcp_lt(m->kept.seq, g->ack))
		d->bytes += g->ack - m->kept.seq;
}

/* ---- without SACK: a duplicate ACK is a segment that has left the network -------------------- */

static bool is_duplicate(const struct tcp_cb *cb, const struct tcp_seg *g, bool window_changed)
{
	return g->ack == cb->snd_una && cb->snd_una != cb->snd_max && g->len == 0 && !window_changed &&
	       !(g->flags & (TCP_SYN | TCP_FIN));
}

/* What is taken for lost, the hole at least, has not arrived: after a timeout that is all there was. */
static void count_duplicate(struct tcp_cb *cb, struct tcp_delivery *d)
{
	uint32_t flight = cb->snd_max - cb->snd_una, holes = max32(cb->lost_out, cb->mss);
	uint32_t most = flight > holes ? flight - holes : 0;

	if (cb->sacked_out + cb->mss <= most) {
		cb->sacked_out += cb->mss;
		d->sacked += cb->mss;
		d->bytes += cb->mss;
	}
}

/* Of what was counted so, the segment that filled the hole was none. */
static void uncount(struct tcp_cb *cb, uint32_t acked)
{
	uint32_t gone = acked > cb->mss ? acked - cb->mss : 0;

	cb->sacked_out -= min32(gone, cb->sacked_out);
	cb->sacked_out = min32(cb->sacked_out, acked < cb->snd_max - cb->snd_una ?
			       cb->snd_max - cb->snd_una - acked : 0);
}

static struct xk_msg *first_after(const struct tcp_cb *cb, uint32_t una)
{
	struct xk_msg *m = cb->sq.first;

	while (m != cb->sq.unsent && tcp_leq(tcp_sq_end(m), una))
		m = m->link;
	return m != cb->sq.unsent ? m : NULL;
}

static bool mark_first(struct tcp_cb *cb, uint32_t una)
{
	struct xk_msg *m = first_after(cb, una);

	if (m == NULL || (m->kept.flags & (TCP_SQ_LOST | TCP_SQ_SACKED)))
		return false;
	tcp_mark_lost(cb, m);
	return true;
}

/* RFC 6582 3.2: the third duplicate (of data sent after the last recovery), then
 * every partial acknowledgement. */
static bool newreno_detect(struct tcp_cb *cb, const struct tcp_seg *g, bool advanced)
{
	if (cb->ca_state == TCP_CA_RECOVERY)
		return advanced && tcp_lt(g->ack, cb->recover) && cb->tune->newreno && mark_first(cb, g->ack);
	if (cb->ca_state == TCP_CA_LOSS)
		return false;
	return cb->dupacks >= DUP_THRESH && tcp_gt(g->ack, cb->recover) && mark_first(cb, g->ack);
}

/* ---- recovery ------------------------------------------------------------------------------------ */

/* Where nothing is reduced there is nothing to spread. */
static bool by_prr(const struct tcp_cb *cb) { return cb->tune->prr && !cb->cc->unlimited; }

void tcp_rec_enter(struct tcp_cb *cb, const struct tcp_env *e, uint32_t una)
{
	tcp_undo_begin(cb);
	if (cb->ca_state != TCP_CA_CWR)  /* else it has paid for this window already */
		cb->ssthresh = cb->cc->reduced(cb, e);
	cb->recover = cb->snd_max;
	cb->prr_delivered = cb->prr_out = 0;
	cb->prr_target = max32(cb->snd_max - una, 1);
	if (!by_prr(cb))
		cb->cwnd = cb->ssthresh;
	cb->ca_state = TCP_CA_RECOVERY;
	cb->train = 0;
	cb->tlp_out = false;
	xk_count(e->count[TCP_COUNT_FAST]);
}

/* RFC 6937 3, in bytes.  The slow start bound's extra segment (PRR-SSRB) only on an
 * ACK that advances and tells of no new loss, else the conservative bound (RFC 9937 6.2). */
static void prr(struct tcp_cb *cb, uint32_t una, uint32_t delivered, bool safe)
{
	uint32_t pipe = tcp_pipe_at(cb, una);
	int64_t n;

	cb->prr_delivered += delivered;
	if (pipe > cb->ssthresh) {
		n = (int64_t)(((uint64_t)cb->prr_delivered * cb->ssthresh + cb->prr_target - 1) / cb->prr_target) -
		    cb->prr_out;
	} else {
		n = (int64_t)cb->prr_delivered - cb->prr_out;
		n = (n > delivered ? n : delivered) + (safe ? cb->mss : 0);
		if (n > (int64_t)cb->ssthresh - pipe)
			n = (int64_t)cb->ssthresh - pipe;
	}
	if (n < cb->mss && cb->prr_out == 0)
		n = cb->mss;             /* the fast retransmission itself */
	cb->cwnd = max32(pipe + (n > 0 ? (uint32_t)n : 0), cb->mss);
}

static void leave_recovery(struct tcp_cb *cb, uint32_t una)
{
	cb->cwnd = cb->ssthresh;
	if (!tcp_by_sack(cb) && !cb->cc->unlimited) {    /* RFC 6582 3.2 step 3, no burst */
		cb->cwnd = min32(cb->ssthresh, max32(cb->snd_max - una, cb->mss) + cb->mss);
		cb->sacked_out = 0;
	}
	cb->ca_state = TCP_CA_OPEN;
	cb->dupacks = 0;
	if (cb->rack_persist != 0 && --cb->rack_persist == 0)
		cb->rack_reo_mult = 1;
	cb->high_sacked = cb->snd_una;
}

/* The states that an ACK ends. */
static void step_state(struct tcp_cb *cb, uint32_t ack, bool advanced)
{
	switch (cb->ca_state) {
	case TCP_CA_RECOVERY:
		if (tcp_geq(ack, cb->recover))
			leave_recovery(cb, ack);
		break;
	case TCP_CA_LOSS:
		if (tcp_geq(ack, cb->recover)) {
			cb->ca_state = TCP_CA_OPEN;
			cb->dupacks = 0;
			cb->frto = 0;
		}
		break;
	case TCP_CA_CWR:
		if (tcp_geq(ack, cb->ecn_high))
			cb->ca_state = TCP_CA_OPEN;
		break;
	default:
		if (advanced && !tcp_by_sack(cb))
			cb->sacked_out = 0;
		break;
	}
	if (cb->ca_state <= TCP_CA_DISORDER)
		cb->ca_state = cb->sacked_out != 0 ? TCP_CA_DISORDER : TCP_CA_OPEN;
}

/* ---- an ACK ------------------------------------------------------------------------------------------ */

static void count_dupacks(struct tcp_cb *cb, const struct tcp_env *e, const struct tcp_seg *g, bool window_changed,
			  struct tcp_delivery *d)
{
	bool dup = is_duplicate(cb, g, window_changed);

	if (tcp_gt(g->ack, cb->snd_una)) {
		cb->dupacks = 0;
		if (!tcp_by_sack(cb)) {
			uint32_t acked = g->ack - cb->snd_una;

			/* Duplicates have counted some of it; the hole they left has not. */
			if (cb->sacked_out != 0)
				d->bytes = max32(acked > cb->sacked_out ? acked - cb->sacked_out : 0, min32(acked, cb->mss));
			uncount(cb, acked);
		}
		return;
	}
	if (!dup && d->sacked == 0)
		return;
	xk_count(e->count[TCP_COUNT_DUPACK]);
	if (cb->dupacks < UINT8_MAX)
		cb->dupacks++;
	if (!tcp_by_sack(cb))
		count_duplicate(cb, d);
}

static bool detect(struct tcp_cb *cb, const struct tcp_env *e, const struct tcp_seg *g, bool advanced)
{
	bool lost;

	if (tcp_by_rack(cb))
		return tcp_rack_detect(cb, e, g->ack);
	if (!tcp_by_sack(cb))
		return newreno_detect(cb, g, advanced);
	lost = cb->sacked_out != 0 && tcp_sack_detect(cb, g->ack);
	if (cb->dupacks >= DUP_THRESH && cb->ca_state < TCP_CA_RECOVERY && mark_first(cb, g->ack))
		lost = true;
	return lost;
}

/* Progress: what waited for it starts anew. */
static void progress(struct tcp_cb *cb, const struct tcp_env *e, const struct tcp_seg *g,
		     const struct tcp_delivery *d)
{
	take_rtt(cb, e, g, d);
	if ((cb->flags & TCP_F_SMALL) && tcp_geq(g->ack, cb->snd_sml))
		cb->flags &= ~TCP_F_SMALL;
}

/* Anything but an advance in peace. */
static XK_NOINLINE void ack_slowly(struct tcp_cb *cb, const struct tcp_env *e, const struct tcp_seg *g,
				   bool window_changed, struct tcp_delivery *d, struct tcp_acts *a)
{
	bool advanced = tcp_gt(g->ack, cb->snd_una), lost;

	if (tcp_by_sack(cb) && (g->o.have & TCP_O_SACK))
		tcp_sack_update(cb, e, g, d);
	count_dupacks(cb, e, g, window_changed, d);
	if (d->dsack) {
		tcp_undo_dsack(cb, d);
		if (tcp_by_rack(cb))
			tcp_rack_dsack(cb, g->ack);
	}
	if (advanced) {
		progress(cb, e, g, d);
	} else if (d->rtt_us != 0) {     /* a block of what was sent once tells as much */
		tcp_rtt_sample(cb, d->rtt_us);
		cb->backoff = 0;
	}
	tcp_tlp_ack(cb, e, g, d);
	tcp_undo_try(cb, e, g, d);
	step_state(cb, g->ack, advanced);
	lost = detect(cb, e, g, advanced);
	/* Or known before: what was sent and lost during the recovery that ends here is of another. */
	if ((lost || cb->lost_out != 0) && cb->ca_state < TCP_CA_RECOVERY)
		tcp_rec_enter(cb, e, g->ack);
	if (cb->ca_state == TCP_CA_RECOVERY) {
		if (by_prr(cb))
			prr(cb, g->ack, d->bytes, advanced && !lost);
	} else if (advanced && cb->ca_state != TCP_CA_CWR && cb->frto == 0) {
		tcp_rec_grow(cb, e, d->bytes);   /* without what duplicates or blocks have told already */
	}
	if (lost || d->bytes != 0 || cb->lost_out != 0)
		a->acts |= TCP_A_OUTPUT;
}

void tcp_rec_ack(struct tcp_cb *cb, const struct tcp_env *e, const struct tcp_seg *g, bool window_changed,
		 struct tcp_acts *a)
{
	struct tcp_delivery d = { 0 };
	bool advanced = tcp_gt(g->ack, cb->snd_una);

	/* Set long ago or never: not so old that comparing goes wrong. */
	if (XK_UNLIKELY(cb->high_sacked - cb->snd_una > cb->snd_max - cb->snd_una))
		cb->high_sacked = cb->snd_una;
	if (XK_UNLIKELY(cb->recover - (cb->snd_una - 1) > cb->snd_max - (cb->snd_una - 1)))
		cb->recover = cb->snd_una - 1;
	d.high = cb->high_sacked;
	if (advanced)
		take_acked(cb, e, g, &d);
	if (XK_LIKELY(advanced && cb->ca_state == TCP_CA_OPEN && !(g->o.have & TCP_O_SACK) && !cb->tlp_out)) {
		cb->dupacks = 0;
		progress(cb, e, g, &d);
		tcp_rec_grow(cb, e, g->ack - cb->snd_una);
	} else {
		ack_slowly(cb, e, g, window_changed, &d, a);
	}
	if (!advanced)
		return;
	if (tcp_gt(g->ack, cb->high_sacked))
		cb->high_sacked = g->ack;
	if (cb->sq.unsent != NULL || cb->lost_out != 0 || cb->snd_nxt != cb->snd_max || (cb->flags & TCP_F_WANT_ROOM))
		a->acts |= TCP_A_OUTPUT;
}

/* ---- sending -------------------------------------------------------------------------------------------- */

static struct xk_msg *rexmt_start(const struct tcp_cb *cb)
{
	const struct tcp_sqwalk *w = &cb->walk;

	return w->rexmt_at != NULL && tcp_geq(w->rexmt_seq, cb->snd_una) ? w->rexmt_at : cb->sq.first;
}

/* May m go out again now?  The first one always when nothing else is in flight, and
 * on every partial acknowledgement (RFC 6582 3.2 step 5). */
static bool allowed(const struct tcp_cb *cb, struct xk_msg *m)
{
	uint32_t pipe = tcp_pipe(cb), len = m->tot < cb->mss ? m->tot : cb->mss;

	if (m->kept.seq != cb->snd_una && tcp_gt(m->kept.seq + len, tcp_snd_edge(cb)))
		return false;
	if (cb->ca_state == TCP_CA_RECOVERY &&
	    (cb->prr_out == 0 || (!tcp_by_sack(cb) && m->kept.seq == cb->snd_una)))
		return true;
	return pipe == 0 || pipe + len <= cb->cwnd;
}

struct xk_msg *tcp_rec_next(struct tcp_cb *cb, const struct tcp_env *e)
{
	struct xk_msg *m;

	(void)e;
	if (XK_LIKELY(cb->lost_out == 0) || cb->frto == 2)
		return NULL;
	for (m = rexmt_start(cb); m != cb->sq.unsent; m = m->link)
		if ((m->kept.flags & (TCP_SQ_LOST | TCP_SQ_RETRANS)) == TCP_SQ_LOST)
			break;
	if (m == cb->sq.unsent) {
		cb->walk.rexmt_at = cb->sq.unsent_prev;
		if (cb->walk.rexmt_at != NULL)
			cb->walk.rexmt_seq = cb->walk.rexmt_at->kept.seq;
		return NULL;
	}
	cb->walk.rexmt_at = m;
	cb->walk.rexmt_seq = m->kept.seq;
	return allowed(cb, m) ? m : NULL;
}

uint32_t tcp_rec_allow(const struct tcp_cb *cb)
{
	uint32_t edge = tcp_snd_edge(cb), flight = tcp_pipe(cb), wnd;

	if (!tcp_gt(edge, cb->snd_max))
		return 0;
	wnd = edge - cb->snd_max;
	if (cb->ca_state == TCP_CA_DISORDER && !cb->tune->limited_transmit)
		flight = cb->snd_max - cb->snd_una;
	if (flight >= cb->cwnd)
		return 0;
	return min32(wnd, cb->cwnd - flight);
}

static void sent_again(struct tcp_cb *cb, const struct tcp_env *e, struct xk_msg *m)
{
	uint16_t *f = &m->kept.flags;

	*f |= TCP_SQ_EVER;
	if ((*f & (TCP_SQ_LOST | TCP_SQ_RETRANS)) == TCP_SQ_LOST) {
		*f |= TCP_SQ_RETRANS;
		cb->retrans_out += m->tot;
	}
	if (m->kept.count < UINT16_MAX)
		++m->kept.count;
	m->kept.when = cb->again_us = tcp_stamp(cb, e) + 1;
	/* RFC 6675 6: recovery may last longer than the timeout that ran when it began. */
	if (cb->ca_state == TCP_CA_RECOVERY)
		tcp_timer_arm(cb, e, TCP_T_REXMT, tcp_rto_now(cb));
	if (cb->undo_retrans++ == 0)
		cb->undo_ts = e->now + cb->ts_off;
	cb->retransmits++;
	xk_count(e->count[TCP_COUNT_REXMT]);
}

void tcp_rec_sent(struct tcp_cb *cb, const struct tcp_env *e, struct xk_msg *m, bool again)
{
	if (again)
		sent_again(cb, e, m);
	if (m != NULL)
		cb->prr_out += m->tot;
	cb->idle_since = e->now;
	if (cb->at[TCP_T_REXMT] == 0) {
		tcp_rec_arm(cb, e);
		if (cb->user_timeout != 0 && cb->at[TCP_T_USER] == 0)
			tcp_timer_arm(cb, e, TCP_T_USER, cb->user_timeout);
	}
}

/* ---- timers that fired -------------------------------------------------------------------------------------- */

/* All that is not known to have arrived is taken for lost. */
static void lose_all(struct tcp_cb *cb)
{
	struct xk_msg *m = cb->sq.first;

	if (!tcp_by_sack(cb))
		cb->sacked_out = 0;
	else if (m != cb->sq.unsent && (m->kept.flags & TCP_SQ_SACKED))
		tcp_sack_reneged(cb);
	for (; m != cb->sq.unsent; m = m->link)
		tcp_mark_lost(cb, m);
	cb->walk.rexmt_at = NULL;
	if (cb->flags & TCP_F_FIN_SENT)
		cb->snd_nxt = cb->snd_end;
}

/* RFC 5681 3.1: ssthresh falls once for all timeouts of one segment. */
static void loss_begin(struct tcp_cb *cb, const struct tcp_env *e)
{
	bool first = cb->ca_state <= TCP_CA_DISORDER;

	if (cb->ca_state == TCP_CA_LOSS && cb->retries > 1) {
		cb->frto = 0;
		return;
	}
	tcp_undo_begin(cb);
	cb->ssthresh = cb->cc->reduced(cb, e);
	cb->cc->timeout(cb, e);
	/* F-RTO needs the one segment that goes again alone. */
	cb->frto = first && cb->tune->frto && !cb->cc->unlimited ? 1 : 0;
}

void tcp_rec_timeout(struct tcp_cb *cb, const struct tcp_env *e)
{
	xk_count(e->count[TCP_COUNT_RTO]);
	loss_begin(cb, e);
	/* Even without a limit a path that does not answer gets no more than one at a time. */
	cb->cwnd = cb->cc->unlimited && cb->retries <= R1 ? TCP_CWND_MAX : cb->mss;
	cb->ca_state = TCP_CA_LOSS;
	cb->train = 0;
	cb->recover = cb->snd_max;
	cb->dupacks = 0;
	cb->tlp_out = false;
	cb->flags &= ~TCP_F_RTT;
	lose_all(cb);
	if (cb->backoff < BACKOFF_MAX)
		cb->backoff++;
	tcp_timer_off(cb, TCP_T_PROBE);
	tcp_timer_off(cb, TCP_T_REORDER);
	tcp_timer_arm(cb, e, TCP_T_REXMT, tcp_rto_now(cb));
}

void tcp_rec_reorder(struct tcp_cb *cb, const struct tcp_env *e)
{
	if (tcp_by_rack(cb) && tcp_rack_detect(cb, e, cb->snd_una) && cb->ca_state < TCP_CA_RECOVERY) {
		tcp_rec_enter(cb, e, cb->snd_una);
		if (by_prr(cb))
			prr(cb, cb->snd_una, 0, false);
	}
}

void tcp_rec_reduce(struct tcp_cb *cb, const struct tcp_env *e)
{
	cb->ssthresh = cb->cc->reduced(cb, e);
	cb->cwnd = cb->ssthresh;
	cb->ca_state = TCP_CA_CWR;
	cb->ecn_high = cb->snd_max;
}

void tcp_rec_ecn(struct tcp_cb *cb, const struct tcp_env *e)
{
	if (cb->ca_state <= TCP_CA_DISORDER) {
		tcp_undo_begin(cb);
		cb->flags &= ~TCP_F_UNDO;
		tcp_rec_reduce(cb, e);
		cb->flags |= TCP_F_CWR;
	}
}

/* A SYN was lost, or the path is longer than we thought: RFC 5681 3.1, RFC 6298 5.7. */
void tcp_rec_open(struct tcp_cb *cb, bool again)
{
	if (!again)
		return;
	cb->cwnd = cb->mss;
	if (cb->srtt == 0)
		cb->rto = min32(max32(cb->rto, RTO_UNSURE), cb->tune->rto_max);
}

void tcp_rec_init(struct tcp_cb *cb)
{
	cb->cc_kind = cb->tune->cc;
	cb->cc = &tcp_cc_table[cb->cc_kind];
	cb->cc->init(cb);
	cb->rto = cb->tune->rto_init;
	cb->ssthresh = TCP_CWND_MAX;
	cb->hystart = cb->tune->hystart && !cb->cc->unlimited ? TCP_HS_NEW : TCP_HS_OFF;
	if (cb->mss == 0)
		cb->mss = 536;
	cb->cwnd = tcp_cc_initial(cb);
	cb->rack_reo_mult = 1;
	cb->high_sacked = cb->snd_una;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_input.c - a segment meets a connection (RFC 9293 3.10.7): from state and
 * segment to described actions.
 *
 * The order is the RFC's: is it acceptable, RST, SYN, ACK, urgent, text, FIN,
 * with RFC 7323 (PAWS) and RFC 5961 (nothing blind is believed) at their
 * places.  Each step finds out what has happened; where the end of a side leads is in
 * the table of tcp_fsm.c.  Payload is not looked at and nothing is sent, so that all of
 * this runs in a test that has nothing but a control block.
 *
 * The right edge of the window is what we announced or what we have room for,
 * whichever is further: a peer that was promised more than we would give now is
 * believed.  A segment is trimmed to [rcv_nxt, right edge).
 * Invariant: a segment that is not acceptable changes nothing of the block but
 * what is owed as its answer.
 */
#include "protocols/tcp/core/tcp_core.h"
#include "runtime/base/xk_rand.h"

#define PAWS_IDLE (24u * 24 * 3600 * 1000)      /* ms: RFC 7323 5.5 */

/* A segment under examination. */
struct in {
	struct tcp_cb        *cb;
	const struct tcp_env *e;
	const struct tcp_seg *g;
	struct tcp_acts      *a;
	uint32_t seq;                    /* of the first byte of payload */
	uint32_t span;                   /* sequence numbers from there on */
	uint32_t wnd;                    /* bytes */
	uint32_t right;                  /* our window's edge */
};

/* ---- answers ---------------------------------------------------------------------- */

static bool drop(struct tcp_acts *a, unsigned reason)
{
	a->acts |= TCP_A_DROP;
	a->drop = (uint16_t)reason;
	return false;
}

static void reset(struct tcp_acts *a, uint32_t seq)
{
	a->acts |= TCP_A_RESET;
	a->rst_seq = seq;
	a->rst_flags = TCP_RST;
}

static void finish(struct tcp_acts *a, int err)
{
	a->acts |= TCP_A_FINISH;
	a->err = err;
}

/*
 * RFC 5961 7: how many go out in a second is this connection's own affair, and
 * not a number that can be counted on (a limit that all share tells a stranger
 * whether his guesses hit): somewhere between half the limit and all of it.
 */
bool tcp_challenge(struct tcp_cb *cb, const struct tcp_env *e)
{
	uint32_t limit = cb->tune->challenge_limit < 255 ? cb->tune->challenge_limit : 255;

	if (cb->challenge_at == 0 || e->now - cb->challenge_at >= 1000) {
		cb->challenge_at = e->now;
		cb->challenge_n = (uint8_t)xk_rand_below(e->rand, limit / 2 + 1);
	}
	if (cb->challenge_n >= limit)
		return false;
	cb->challenge_n++;
	xk_count(e->count[TCP_COUNT_CHALLENGE]);
	return true;
}

static bool challenge(const struct in *i, unsigned reason)
{
	if (tcp_challenge(i->cb, i->e))
		i->a->acts |= TCP_A_ACK;
	return drop(i->a, reason);
}

/* Not acceptable: what takes sequence numbers is answered always, since it will be
 * sent again until it is; a bare ACK under the limit, lest two ends answer each
 * other for ever. */
static bool answer(const struct in *i, unsigned reason)
{
	if (i->span == 0)
		return challenge(i, reason);
	i->a->acts |= TCP_A_ACK;
	return drop(i->a, reason);
}

void tcp_input_closed(const struct tcp_seg *g, struct tcp_acts *a)
{
	*a = (struct tcp_acts){ 0 };
	drop(a, TCP_DROP_NO_PORT);
	if (g->flags & TCP_RST)
		return;
	if (g->flags & TCP_ACK) {
		reset(a, g->ack);
		return;
	}
	reset(a, 0);
	a->rst_ack = g->seq + tcp_seg_span(g);
	a->rst_flags = TCP_RST | TCP_ACK;
}

/* ---- the handshake -------------------------------------------------------------------- */

static void negotiate_ecn(struct tcp_cb *cb, const struct tcp_seg *g)
{
	uint32_t asks = g->flags & (TCP_ECE | TCP_CWR);

	/* RFC 3168 6.1.1: a SYN asks with both, a SYN-ACK agrees with ECE alone. */
	if (cb->tune->ecn && asks == (g->flags & TCP_ACK ? TCP_ECE : TCP_ECE | TCP_CWR))
		cb->flags |= TCP_F_ECN;
}

void tcp_negotiate(struct tcp_cb *cb, const struct tcp_env *e, const struct tcp_seg *g)
{
	const struct tcp_tune *t = cb->tune;
	uint32_t mss = g->o.have & TCP_O_MSS ? g->o.mss : 536;

	cb->flags &= ~(TCP_F_WSCALE | TCP_F_TS | TCP_F_SACK | TCP_F_ECN);
	/* MUST-16 of RFC 9293 3.7.1: no segment is larger. */
	cb->peer_mss = (uint16_t)(mss > TCP_MSS_LEAST ? mss : TCP_MSS_LEAST);
	if (t->use_wscale && (g->o.have & TCP_O_WSCALE)) {
		cb->flags |= TCP_F_WSCALE;
		cb->snd_wscale = g->o.wscale;
	} else {
		cb->snd_wscale = cb->rcv_wscale = 0;
	}
	if (t->timestamps && (g->o.have & TCP_O_TS)) {
		cb->flags |= TCP_F_TS;
		cb->ts_recent = g->o.tsval;
		cb->ts_recent_at = e->now;
	}
	if (t->sack && (g->o.have & TCP_O_SACKOK))
		cb->flags |= TCP_F_SACK;
	negotiate_ecn(cb, g);
	tcp_set_mss(cb);
	if (t->whole_buffers)
		tcp_round_buffers(cb);
}

/* The peer has acknowledged our SYN: the connection stands. */
static void establish(const struct in *i)
{
	struct tcp_cb *cb = i->cb;

	if ((cb->flags & TCP_F_RTT) && tcp_gt(i->g->ack, cb->rtt_seq)) {
		cb->flags &= ~TCP_F_RTT;
		tcp_rtt_sample(cb, i->e->now_us - cb->rtt_at_us);
	}
	tcp_rec_open(cb, cb->retries != 0);
	cb->state = TCP_S_ESTABLISHED;
	cb->retries = cb->backoff = 0;
	cb->quick = cb->tune->quick_acks;
	tcp_set_window(cb, i->g->seq, i->g->ack, i->wnd);
	tcp_timer_off(cb, TCP_T_KEEP);
	if (cb->flags & TCP_F_KEEPALIVE)
		tcp_timer_arm(cb, i->e, TCP_T_KEEP, cb->keep_idle);
	tcp_input_advance(cb, i->e, i->g->ack, i->a);
	cb->bytes_acked = 0;             /* a SYN is none */
	i->a->acts |= TCP_A_OUTPUT;
	if (!(cb->flags & TCP_F_PASSIVE))
		i->a->acts |= TCP_A_OPENED;
	/* It was closed before it stood. */
	if (cb->flags & TCP_F_FIN_QUEUED)
		cb->state = tcp_next[cb->state][TCP_E_CLOSE];
}

/* ---- urgent, text, FIN -------------------------------------------------------------------- */

/* RFC 6093: a mark, nothing more; the bytes stay where they are.  The mark only
 * goes forward. */
static void urgent(const struct in *i)
{
	struct tcp_cb *cb = i->cb;
	uint32_t mark = i->seq + i->g->urp, last = cb->rcv_nxt;

	if ((cb->flags & TCP_F_URG_IN) && tcp_gt(cb->rcv_up, last))
		last = cb->rcv_up;
	else
		cb->flags &= ~TCP_F_URG_IN;
	if (!(i->g->flags & TCP_URG) || !tcp_gt(mark, last))
		return;
	cb->rcv_up = mark;
	cb->flags |= TCP_F_URG_IN;
	i->a->acts |= TCP_A_URGENT;
}

static void note_dsack(struct tcp_cb *cb, uint32_t l, uint32_t r)
{
	if (!(cb->flags & TCP_F_SACK) || !cb->tune->dsack || !tcp_lt(l, r))
		return;
	cb->dsack_l = l;
	cb->dsack_r = r;
	cb->flags |= TCP_F_DSACK;
}

/* What of the payload is new and fits: *a's skip and take; is the FIN in, too? */
static bool trim(const struct in *i)
{
	struct tcp_cb *cb = i->cb;
	struct tcp_acts *a = i->a;
	uint32_t end = i->seq + i->g->len, beyond = tcp_gt(end, i->right) ? end - i->right : 0;

	if (tcp_lt(i->seq, cb->rcv_nxt)) {
		a->skip = cb->rcv_nxt - i->seq < i->g->len ? cb->rcv_nxt - i->seq : i->g->len;
		note_dsack(cb, i->seq, i->seq + a->skip);
		cb->flags |= TCP_F_ACK_NOW;
	}
	if (beyond != 0)
		a->acts |= TCP_A_ACK;
	a->take = i->g->len - a->skip > beyond ? i->g->len - a->skip - beyond : 0;
	/* A FIN takes no room: at the edge of a full window it is in. */
	return (i->g->flags & TCP_FIN) && tcp_leq(end, i->right);
}

/* Text and FIN of a state that receives. */
static void text(const struct in *i)
{
	struct tcp_cb *cb = i->cb;
	struct tcp_acts *a = i->a;
	bool fin = trim(i);
	uint32_t first = i->seq + a->skip;

	if (a->take == 0 && !fin)
		return;
	if (first != cb->rcv_nxt) {
		/* The peer's window will be small for a while: it grows by our acknowledgements. */
		if (cb->quick < cb->tune->quick_acks)
			cb->quick = cb->tune->quick_acks;
		a->acts |= TCP_A_OOO | TCP_A_ACK | (fin ? TCP_A_FIN : 0);
		xk_count(i->e->count[TCP_COUNT_OOO]);
		return;
	}
	if (fin)
		a->acts |= TCP_A_FIN;
	if (a->take == 0)
		return;
	a->acts |= TCP_A_DATA;
	tcp_owe_ack(cb, i->e, a->take, (i->g->flags & TCP_PSH) != 0);
	/* RFC 5681 4.2: what fills a gap is acknowledged at once. */
	if (cb->reass != NULL)
		cb->flags |= TCP_F_ACK_NOW;
}

/* A SYN's text, kept until the connection stands (RFC 9293 3.10.7.3). */
static void text_early(const struct in *i)
{
	bool fin = trim(i);

	if (i->a->take != 0 || fin)
		i->a->acts |= TCP_A_OOO | (fin ? TCP_A_FIN : 0);
}

void tcp_input_fin(struct tcp_cb *cb, struct tcp_acts *a)
{
	if (!tcp_takes_data(cb))
		return;
	cb->flags |= TCP_F_FIN_RCVD | TCP_F_ACK_NOW;
	cb->rcv_fin = cb->rcv_nxt - 1;
	cb->state = tcp_next[cb->state][TCP_E_FIN];
	if (cb->state == TCP_S_TIME_WAIT)
		a->acts |= TCP_A_TIME_WAIT;
}

/* Somebody has to be there to read. */
static bool after_close(const struct in *i)
{
	return (i->cb->flags & TCP_F_ORPHAN) && i->g->len != 0 &&
	       tcp_gt(i->seq + i->g->len, i->cb->rcv_nxt);
}

static void text_and_fin(const struct in *i)
{
	struct tcp_cb *cb = i->cb;

	if (cb->flags & TCP_F_ECN) {
		if (i->g->flags & TCP_CWR)
			cb->flags &= ~TCP_F_ECE;
		if (i->g->ce == 3)
			cb->flags |= TCP_F_ECE;
	}
	if (!tcp_takes_data(cb)) {
		if (i->span != 0)
			i->a->acts |= TCP_A_ACK;
		return;
	}
	if (after_close(i)) {
		reset(i->a, i->g->ack);
		finish(i->a, XK_OK);
		drop(i->a, TCP_DROP_AFTER_CLOSE);
		return;
	}
	urgent(i);
	text(i);
}

/* ---- ACK ------------------------------------------------------------------------------------ */

void tcp_input_advance(struct tcp_cb *cb, const struct tcp_env *e, uint32_t ack, struct tcp_acts *a)
{
	cb->bytes_acked += ack - cb->snd_una - ((cb->flags & TCP_F_FIN_SENT) && tcp_gt(ack, cb->snd_end));
	cb->snd_una = ack;
	if (tcp_lt(cb->snd_nxt, ack))
		cb->snd_nxt = ack;
	tcp_sendq_acked(cb, ack);
	cb->retries = 0;
	if ((cb->flags & TCP_F_URG_OUT) && tcp_leq(cb->snd_up, ack))
		cb->flags &= ~TCP_F_URG_OUT;
	tcp_rec_arm(cb, e);
	if (cb->snd_una == cb->snd_max)
		tcp_timer_off(cb, TCP_T_USER);
	else if (cb->at[TCP_T_USER] != 0 && cb->user_timeout != 0)
		tcp_timer_arm(cb, e, TCP_T_USER, cb->user_timeout);
	a->acts |= TCP_A_ACKED;
	if (cb->sq.unsent != NULL || ((cb->flags & TCP_F_FIN_QUEUED) && !(cb->flags & TCP_F_FIN_SENT)))
		a->acts |= TCP_A_OUTPUT;
	else if (tcp_drained(cb))
		a->acts |= TCP_A_DRAINED;
}

/* RFC 9293 3.10.7.4: not from a segment older than the one the last came from.  The
 * window may shrink (3.8.6). */
static bool update_window(const struct in *i)
{
	struct tcp_cb *cb = i->cb;
	uint32_t was = cb->snd_wnd;

	if (tcp_lt(i->g->ack, cb->snd_una) || tcp_gt(cb->snd_wl1, i->g->seq) ||
	    (cb->snd_wl1 == i->g->seq && tcp_gt(cb->snd_wl2, i->g->ack)))
		return false;
	tcp_set_window(cb, i->g->seq, i->g->ack, i->wnd);
	if (was == 0 && i->wnd != 0) {
		tcp_timer_off(cb, TCP_T_PERSIST);
		cb->backoff = 0;
		cb->retries = 0;
	}
	if (i->wnd != was)
		i->a->acts |= TCP_A_OUTPUT;
	return i->wnd != was;
}

/* RFC 7323 5.5: after so long nothing is older than anything. */
static bool ts_forgotten(const struct in *i)
{
	return i->e->now - i->cb->ts_recent_at > PAWS_IDLE;
}

/* RFC 7323 4.3, after the ACK was found credible: a segment with a number from
 * nowhere must not set the clock forward, nor one that was overtaken set it back. */
static void update_ts(const struct in *i)
{
	struct tcp_cb *cb = i->cb;

	if ((cb->flags & TCP_F_TS) && (i->g->o.have & TCP_O_TS) && tcp_leq(i->g->seq, cb->rcv_acked) &&
	    (tcp_geq(i->g->o.tsval, cb->ts_recent) || ts_forgotten(i))) {
		cb->ts_recent = i->g->o.tsval;
		cb->ts_recent_at = i->e->now;
	}
}

/* Our FIN is acknowledged; false: that was the end. */
static bool fin_acked(const struct in *i)
{
	struct tcp_cb *cb = i->cb;
	uint8_t next = tcp_next[cb->state][TCP_E_ACK_OF_FIN];

	if (next == TCP_S_CLOSED) {
		finish(i->a, XK_OK);
		return false;
	}
	cb->state = next;
	if (cb->state == TCP_S_TIME_WAIT)
		i->a->acts |= TCP_A_TIME_WAIT;
	else if ((cb->flags & TCP_F_ORPHAN) && cb->fin_wait2 != 0)
		tcp_timer_arm(cb, i->e, TCP_T_2MSL, cb->fin_wait2);
	return true;
}

/* An ACK that others overtook says nothing new, but its blocks may: what lies above
 * what is acknowledged now has been received. */
static void late_sack(const struct in *i)
{
	struct tcp_seg g = *i->g;
	unsigned n = 0;

	if (!(i->cb->flags & TCP_F_SACK) || !(g.o.have & TCP_O_SACK) || g.len != 0)
		return;
	for (unsigned k = 0; k < g.o.nsack; k++)
		if (tcp_gt(g.o.sack[k].r, i->cb->snd_una))
			g.o.sack[n++] = g.o.sack[k];
	g.o.nsack = (uint8_t)n;
	g.ack = i->cb->snd_una;
	if (n != 0)
		tcp_rec_ack(i->cb, i->e, &g, true, i->a);
}

/* Any state after the handshake; false: nothing of the segment is to be used any more. */
static bool ack_on(const struct in *i)
{
	struct tcp_cb *cb = i->cb;
	uint32_t ack = i->g->ack;
	bool changed;

	if (tcp_gt(ack, cb->snd_max))
		return cb->tune->ack_quiet ? drop(i->a, TCP_DROP_ACK_NEW) : challenge(i, TCP_DROP_ACK_NEW);
	if (tcp_lt(ack, cb->snd_una - cb->max_wnd))
		return challenge(i, TCP_DROP_ACK_OLD);
	update_ts(i);
	changed = update_window(i);
	if (tcp_lt(ack, cb->snd_una)) {
		late_sack(i);
		return true;
	}
	if ((cb->at[TCP_T_PERSIST] != 0 || (cb->flags & TCP_F_KEEPALIVE)) && !(cb->flags & TCP_F_ORPHAN))
		cb->retries = 0;
	if ((cb->flags & TCP_F_ECN) && (i->g->flags & TCP_ECE))
		tcp_rec_ecn(cb, i->e);
	tcp_rec_ack(cb, i->e, i->g, changed, i->a);
	if (ack == cb->snd_una)
		return true;
	tcp_input_advance(cb, i->e, ack, i->a);
	return !(cb->flags & TCP_F_FIN_SENT) || tcp_leq(ack, cb->snd_end) || fin_acked(i);
}

/* SYN-RECEIVED: the ACK that the connection waits for. */
static bool ack_of_syn(const struct in *i)
{
	struct tcp_cb *cb = i->cb;

	if (tcp_leq(i->g->ack, cb->snd_una) || tcp_gt(i->g->ack, cb->snd_max)) {
		reset(i->a, i->g->ack);
		return drop(i->a, tcp_gt(i->g->ack, cb->snd_max) ? TCP_DROP_ACK_NEW : TCP_DROP_ACK_OLD);
	}
	update_ts(i);
	establish(i);
	return true;
}

/* ---- RST and SYN ----------------------------------------------------------------------------- */

static int reset_means(const struct tcp_cb *cb)
{
	/* It is an error after both ends only where somebody waits to hear that all has arrived. */
	if (tcp_both_ended(cb))
		return cb->flags & TCP_F_DRAINING ? XK_E_CONNRESET : XK_OK;
	return cb->state == TCP_S_SYN_RCVD ? XK_E_CONNREFUSED : XK_E_CONNRESET;
}

/* RFC 5961 3.2. */
static void rst_in(const struct in *i)
{
	struct tcp_cb *cb = i->cb;
	uint32_t seq = i->g->seq;

	if (seq == cb->rcv_nxt) {
		xk_count(i->e->count[TCP_COUNT_RST_IN]);
		finish(i->a, reset_means(cb));
		return;
	}
	if (tcp_gt(seq, cb->rcv_nxt) && tcp_lt(seq, i->right))
		challenge(i, TCP_DROP_RST);
	else
		drop(i->a, TCP_DROP_RST);
}

/* RFC 6191 2, RFC 1122 4.2.2.13: a SYN that cannot be an old one. */
static bool may_reuse(const struct in *i)
{
	const struct tcp_cb *cb = i->cb;
	uint32_t flags = i->g->flags & (TCP_SYN | TCP_ACK | TCP_RST | TCP_FIN);

	if (cb->state != TCP_S_TIME_WAIT || flags != TCP_SYN)
		return false;
	if (cb->tune->rfc6191 && (cb->flags & TCP_F_TS) && (i->g->o.have & TCP_O_TS) &&
	    i->g->o.tsval != cb->ts_recent)
		return tcp_gt(i->g->o.tsval, cb->ts_recent);
	return tcp_gt(i->g->seq, cb->rcv_nxt);
}

/* The other half of a simultaneous open: the SYN that brought us to SYN-RECEIVED,
 * by its number.  With an ACK it goes on without its SYN; alone, ours was lost. */
static bool own_syn(struct in *i)
{
	struct tcp_cb *cb = i->cb;

	if (cb->state != TCP_S_SYN_RCVD || i->g->seq != cb->irs || (i->g->flags & TCP_RST))
		return false;
	if (!(i->g->flags & TCP_ACK)) {
		i->a->acts |= TCP_A_SYN;
		drop(i->a, TCP_DROP_DUP);
		return true;
	}
	i->seq++;
	i->span--;
	i->wnd = i->g->wnd;
	return true;
}

/* ---- acceptable? ------------------------------------------------------------------------------ */

/*
 * A bare acknowledgement that others have overtaken on the way: older than they by no more
 * than a retransmission would be, and of what is acknowledged already.  It takes no number and
 * moves nothing, so PAWS has nothing to protect (RFC 7323 5.3), and to answer would
 * only make more of them.
 */
static bool is_late_ack(const struct in *i)
{
	const struct tcp_cb *cb = i->cb;

	return i->span == 0 && cb->state >= TCP_S_ESTABLISHED && (i->g->flags & (TCP_ACK | TCP_URG)) == TCP_ACK &&
	       cb->ts_recent - i->g->o.tsval <= cb->rto + cb->rto / 5 && tcp_leq(i->seq, cb->rcv_nxt) &&
	       tcp_leq(i->g->ack, cb->snd_una);
}

/* It may still bring blocks, or be the duplicate that tells of a loss; a window that has
 * changed since it must not. */
static bool late_ack(const struct in *i)
{
	const struct tcp_cb *cb = i->cb;

	if (i->seq == cb->rcv_nxt && (i->g->ack != cb->snd_una || i->wnd == cb->snd_wnd))
		return true;
	return drop(i->a, TCP_DROP_ACK_OLD);
}

/* RFC 7323 5. */
static bool paws(const struct in *i)
{
	const struct tcp_cb *cb = i->cb;

	if (!(cb->flags & TCP_F_TS))
		return true;
	/* 3.2: a segment without timestamps is not of this connection. */
	if (!(i->g->o.have & TCP_O_TS))
		return drop(i->a, TCP_DROP_PAWS);
	if (tcp_geq(i->g->o.tsval, cb->ts_recent) || ts_forgotten(i))
		return true;
	return is_late_ack(i) ? late_ack(i) : answer(i, TCP_DROP_PAWS);
}

/*
 * RFC 9293 3.4, but a bare ACK may stand at the right edge itself: it does when the
 * peer has filled our window, and what it acknowledges counts.  Into a closed window
 * a segment at rcv_nxt comes for its ACK; its text is cut off.
 */
static bool in_window(const struct in *i)
{
	uint32_t nxt = i->cb->rcv_nxt;

	if (i->span == 0)
		return tcp_geq(i->seq, nxt) && tcp_leq(i->seq, i->right);
	if (i->right == nxt && i->seq == nxt)
		return true;
	return tcp_lt(i->seq, i->right) && tcp_gt(i->seq + i->span, nxt);
}

static bool acceptable(const struct in *i)
{
	struct tcp_cb *cb = i->cb;
	unsigned reason;

	if (!paws(i))
		return false;
	if (in_window(i))
		return true;
	if (tcp_geq(i->seq, i->right) && i->span != 0)
		return answer(i, TCP_DROP_WINDOW);
	reason = i->span != 0 ? TCP_DROP_DUP : TCP_DROP_SEQ;
	note_dsack(cb, i->seq, i->seq + i->g->len);
	/* The peer has not seen our last ACK. */
	if (cb->state == TCP_S_TIME_WAIT && (i->g->flags & TCP_FIN))
		i->a->acts |= TCP_A_TIME_WAIT;
	return answer(i, reason);
}

/* ---- by state ---------------------------------------------------------------------------------- */

/* What fits is taken although it was not offered yet; but no window reaches beyond what its
 * field can say, so that who guesses numbers has no larger target than that. */
static uint32_t right_edge(const struct tcp_cb *cb)
{
	uint32_t room = cb->rcv_buf > cb->rcv_held ? cb->rcv_buf - cb->rcv_held : 0;
	/* Nor beyond the last segment that a buffer of whole ones has been rounded up to. */
	uint32_t most = ((uint32_t)UINT16_MAX << cb->rcv_wscale) + (cb->tune->whole_buffers ? cb->mss : 0);
	uint32_t edge = cb->rcv_nxt + (room < most ? room : most);

	return tcp_gt(cb->rcv_adv, edge) ? cb->rcv_adv : edge;
}

/* Is there an ACK, and is it one?  RFC 9293 3.10.7.4, fifth. */
static bool ack_in(const struct in *i)
{
	if (!(i->g->flags & TCP_ACK))
		return drop(i->a, TCP_DROP_NO_ACK);
	return i->cb->state == TCP_S_SYN_RCVD ? ack_of_syn(i) : ack_on(i);
}

static void input_on(struct in *i)
{
	struct tcp_cb *cb = i->cb;

	if (may_reuse(i)) {
		i->a->acts |= TCP_A_REUSE;
		return;
	}
	if (i->g->flags & TCP_RST) {
		rst_in(i);
		return;
	}
	if (i->g->flags & TCP_SYN) {
		if (!own_syn(i)) {
			challenge(i, TCP_DROP_SYN);
			return;
		}
		if (i->a->acts & TCP_A_DROP)
			return;
	}
	if (!acceptable(i))
		return;
	cb->last_rcv = i->e->now;
	if (ack_in(i))
		text_and_fin(i);
}

/* A SYN for SYN-SENT, its ACK good or absent. */
static void syn_in(struct in *i)
{
	struct tcp_cb *cb = i->cb;
	uint32_t offered = cb->rcv_buf < 65535 ? cb->rcv_buf : 65535;

	cb->irs = i->g->seq;
	cb->rcv_nxt = cb->rcv_acked = i->seq;
	/* A window in a SYN is not scaled. */
	cb->rcv_adv = cb->rcv_nxt + offered;
	cb->rcv_up = cb->rcv_nxt;
	i->right = right_edge(cb);
	cb->last_rcv = i->e->now;
	tcp_negotiate(cb, i->e, i->g);
	if (i->g->flags & TCP_ACK) {
		establish(i);
		text_and_fin(i);
		cb->flags |= TCP_F_ACK_NOW;
		return;
	}
	tcp_set_window(cb, i->g->seq, i->g->ack, i->wnd);
	cb->state = TCP_S_SYN_RCVD;      /* simultaneous open */
	i->a->acts |= TCP_A_SYN;
	text_early(i);
}

/* RFC 9293 3.10.7.3. */
static void input_syn_sent(struct in *i)
{
	const struct tcp_cb *cb = i->cb;
	uint16_t flags = i->g->flags;
	bool early = (flags & TCP_ACK) && tcp_leq(i->g->ack, cb->iss);

	if (early || ((flags & TCP_ACK) && tcp_gt(i->g->ack, cb->snd_max))) {
		if (!(flags & TCP_RST))
			reset(i->a, i->g->ack);
		drop(i->a, early ? TCP_DROP_ACK_OLD : TCP_DROP_ACK_NEW);
	} else if (flags & TCP_RST) {
		if (!(flags & TCP_ACK)) {
			drop(i->a, TCP_DROP_RST);
			return;
		}
		xk_count(i->e->count[TCP_COUNT_RST_IN]);
		finish(i->a, XK_E_CONNREFUSED);
	} else if (flags & TCP_SYN) {
		i->seq++;
		i->span--;
		i->wnd = i->g->wnd;
		syn_in(i);
	} else {
		drop(i->a, TCP_DROP_FLAGS);
	}
}

void tcp_input(struct tcp_cb *cb, const struct tcp_env *e, const struct tcp_seg *g, struct tcp_acts *a)
{
	struct in i = { cb, e, g, a, g->seq, tcp_seg_span(g), (uint32_t)g->wnd << cb->snd_wscale, 0 };

	if (cb->state == TCP_S_CLOSED || cb->state == TCP_S_LISTEN) {
		tcp_input_closed(g, a);
		return;
	}
	*a = (struct tcp_acts){ 0 };
	if (cb->state == TCP_S_SYN_SENT) {
		input_syn_sent(&i);
		return;
	}
	i.right = right_edge(cb);
	input_on(&i);
}

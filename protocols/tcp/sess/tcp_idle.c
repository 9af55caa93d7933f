/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_idle.c - idle connections give their working memory back.
 *
 * A connection that stands, has nothing under way, nothing owed, nothing held and no
 * deadline needs its control block for nothing: all that is left to know of it fits
 * the line that its session has spare.  After a silence (tune.idle_compress) it is put there
 * and the block goes to the next connection; the first segment, push or setting
 * wakes it.  A connection that was accepted and with which nothing is said needs no timer of
 * its own: the newest TCP_FRESH of them wait together, since most are spoken to at once.
 *
 * Kept exactly: sequence numbers, windows, timestamps, round trips, congestion
 * window and threshold, what was negotiated, counters.  Forgotten, as after any long
 * silence: the undo of an old reduction, RACK's round trips, the age of a window of
 * CUBIC.  What does not fit (more than 4 GiB or 16 million segments moved) or is not
 * the node's default (buffers, keepalive, user timeout) keeps its block.
 * Invariant: tcp_wake undoes compress; a session compressed is bound, and ESTABLISHED and held, or in
 * TIME-WAIT and nobody's (tcp_rest.c).
 */
#include "protocols/tcp/sess/tcp_sess.h"
#include "runtime/base/xk_list.h"
#include "runtime/upi/xk_inline.h"

/* What may be set of a connection compressed. */
#define FLAGS (TCP_F_TOLD_OPEN | TCP_F_TS | TCP_F_SACK | TCP_F_WSCALE | TCP_F_ECN | TCP_F_ECE | \
	       TCP_F_CWR | TCP_F_NODELAY | TCP_F_CORK | TCP_F_MANUAL | TCP_F_RST_CLOSE | TCP_F_PMTU | TCP_F_PASSIVE)
/* What must not; all others are of no meaning then. */
#define BUSY  (TCP_F_ORPHAN | TCP_F_FIN_QUEUED | TCP_F_FIN_RCVD | TCP_F_ACK_NOW | TCP_F_ACK_LATER | TCP_F_WANT_ROOM | \
	       TCP_F_URG_OUT | TCP_F_URG_IN | TCP_F_RTT | TCP_F_KEEPALIVE | TCP_F_DSACK | TCP_F_DRAINING | TCP_F_OUTPUT)

#define SEGS_BITS 24

/* s.aux compressed. */
struct odds {
	uint32_t recover : 1;            /* `recover` is snd_una, else the number before */
	uint32_t wl1 : 1;                /* `snd_wl1` is rcv_nxt, else the number before */
	uint32_t reordering : 1;
	uint32_t backoff : 4;
	uint32_t reo_mult : 8, persist : 8;
};
_Static_assert(sizeof(struct odds) == sizeof(uint32_t), "the session's aux");

/* s.own compressed. */
struct sums {
	uint32_t bytes_acked, bytes_received;
	uint64_t segs_in : SEGS_BITS, segs_out : SEGS_BITS, retransmits : 16;
};
_Static_assert(sizeof(struct sums) == 2 * sizeof(uint64_t), "the session's own words");

/* ---- may it? ------------------------------------------------------------------------ */

/* Buffers as the handshake left them. */
static bool usual_buffers(const struct tcp_cb *cb)
{
	struct tcp_cb as = { .rcv_buf = cb->tune->rcv_buf, .snd_buf = cb->tune->snd_buf,
			     .path_mss = cb->path_mss, .peer_mss = cb->peer_mss };

	if (cb->tune->whole_buffers)
		tcp_round_buffers(&as);
	return cb->rcv_buf == as.rcv_buf && cb->snd_buf == as.snd_buf;
}

static bool usual_options(const struct tcp_cb *cb)
{
	const struct tcp_tune *t = cb->tune;

	return cb->user_timeout == t->user_timeout && cb->fin_wait2 == t->fin_wait2 && cb->keep_idle == t->keep_idle &&
	       cb->keep_interval == t->keep_interval && cb->keep_count == t->keep_count && cb->cc_kind == t->cc;
}

/* Will the line ever be enough for this one? */
static bool fits(const struct tcp_cb *cb)
{
	return cb->tune->idle_compress != 0 && cb->state == TCP_S_ESTABLISHED && !(cb->flags & TCP_F_KEEPALIVE) &&
	       cb->bytes_acked <= UINT32_MAX && cb->bytes_received <= UINT32_MAX &&
	       (cb->segs_in | cb->segs_out) >> SEGS_BITS == 0 && cb->retransmits <= UINT16_MAX &&
	       usual_options(cb) && usual_buffers(cb);
}

static bool no_deadline(const struct tcp_cb *cb)
{
	uint32_t any = 0;

	for (unsigned t = 0; t < TCP_T_COUNT; t++)
		any |= cb->at[t];
	return any == 0;
}

/* Nothing sent is unacknowledged, nothing waits to be sent. */
static bool sent_all(const struct tcp_cb *cb)
{
	return cb->snd_una == cb->snd_max && cb->snd_nxt == cb->snd_max && cb->snd_end == cb->snd_max &&
	       cb->sq.first == NULL && cb->ca_state == TCP_CA_OPEN && !cb->tlp_out && cb->frto == 0;
}

static bool read_all(const struct tcp_cb *cb)
{
	return cb->reass == NULL && cb->rcv_held == 0 && cb->rcv_acked == cb->rcv_nxt && cb->unacked_full == 0;
}

/* Is everything else what tcp_wake would make of it? */
static bool derivable(const struct tcp_cb *cb, uint32_t now)
{
	return cb->iss + 1 + (uint32_t)cb->bytes_acked == cb->snd_una &&
	       cb->irs + 1 + (uint32_t)cb->bytes_received == cb->rcv_nxt && cb->retries == 0 &&
	       (cb->srtt == 0 || cb->rto == tcp_rto_of(cb)) &&
	       (cb->challenge_n == 0 || now - cb->challenge_at >= 1000);
}

static bool idle(const struct tcp_cb *cb, uint32_t now)
{
	return !(cb->flags & BUSY) && sent_all(cb) && read_all(cb) && no_deadline(cb) && derivable(cb, now);
}

/* ---- compressed and back ------------------------------------------------------------------ */

static void keep_idle_state(struct tcp_idle *t, const struct tcp_cb *cb)
{
	*t = (struct tcp_idle){
		.rcv_nxt = cb->rcv_nxt, .rcv_adv = cb->rcv_adv, .snd_una = cb->snd_una,
		.snd_wnd = cb->snd_wnd, .max_wnd = cb->max_wnd, .flags = cb->flags & FLAGS,
		.cwnd = cb->cwnd, .ssthresh = cb->ssthresh, .srtt = cb->srtt,
		.rttvar = cb->srtt != 0 ? cb->rttvar : cb->rto,
		.cc = cb->cc->keep(cb), .ts_recent = cb->ts_recent, .idle_since = cb->idle_since,
		.peer_mss = cb->peer_mss, .path_mss = cb->path_mss,
		.ts_recent_at = (uint16_t)(cb->ts_recent_at >> 16),
		.wscales = (uint8_t)(cb->rcv_wscale << 4 | cb->snd_wscale), .quick = cb->quick,
	};
}

static void compress(struct tcp_sess *ts)
{
	const struct tcp_cb *cb = tcp_cb(ts);
	struct odds o = { .recover = cb->recover == cb->snd_una, .wl1 = cb->snd_wl1 == cb->rcv_nxt,
			  .reordering = cb->rack_reordering, .backoff = cb->backoff & 15u,
			  .reo_mult = cb->rack_reo_mult, .persist = cb->rack_persist };
	struct sums n = { (uint32_t)cb->bytes_acked, (uint32_t)cb->bytes_received,
			  (uint32_t)cb->segs_in, (uint32_t)cb->segs_out, (uint16_t)cb->retransmits };

	keep_idle_state(&ts->idle, cb);
	memcpy(&ts->s.aux, &o, sizeof o);
	memcpy(ts->s.own, &n, sizeof n);
	tcp_timer_stop(ts);
	tcp_unlist(ts);
	xk_slab_put(&tcp_rep(ts->s.rep)->live_slab, tcp_live(ts));
	ts->s.hot = 0;
}

static void wake_sending(struct tcp_cb *cb, const struct tcp_idle *t, struct odds o)
{
	cb->snd_una = cb->snd_nxt = cb->snd_max = cb->snd_end = cb->snd_up = cb->snd_sml = cb->high_sacked = t->snd_una;
	cb->recover = t->snd_una - !o.recover;
	cb->snd_wnd = t->snd_wnd;
	cb->max_wnd = t->max_wnd;
	cb->snd_wl1 = t->rcv_nxt - !o.wl1;
	cb->snd_wl2 = t->snd_una;
	cb->snd_wscale = t->wscales & 15;
	cb->idle_since = cb->last_rcv = t->idle_since;
	cb->peer_mss = t->peer_mss;
	cb->path_mss = t->path_mss;
	tcp_set_mss(cb);
	cb->cc->wake(cb, t->cc);
	cb->cwnd = t->cwnd;
	cb->ssthresh = t->ssthresh;
	if (t->ssthresh != TCP_CWND_MAX)
		cb->hystart = TCP_HS_OFF;
	cb->srtt = t->srtt;
	cb->rttvar = t->srtt != 0 ? t->rttvar : 0;
	cb->rto = t->srtt != 0 ? tcp_rto_of(cb) : t->rttvar;
	cb->backoff = (uint8_t)o.backoff;
	cb->rack_reordering = o.reordering;
	cb->rack_reo_mult = (uint8_t)o.reo_mult;
	cb->rack_persist = (uint8_t)o.persist;
}

static void wake_receiving(struct tcp_cb *cb, const struct tcp_idle *t)
{
	cb->rcv_nxt = cb->rcv_acked = cb->rcv_up = t->rcv_nxt;
	cb->rcv_adv = t->rcv_adv;
	cb->rcv_wscale = t->wscales >> 4;
	cb->quick = t->quick;
	cb->ts_recent = t->ts_recent;
	cb->ts_recent_at = (uint32_t)t->ts_recent_at << 16;
}

static void wake_sums(struct tcp_cb *cb, const struct tcp_sess *ts)
{
	struct sums n;

	memcpy(&n, ts->s.own, sizeof n);
	cb->iss = ts->idle.snd_una - 1 - n.bytes_acked;
	cb->irs = ts->idle.rcv_nxt - 1 - n.bytes_received;
	cb->bytes_acked = n.bytes_acked;
	cb->bytes_received = n.bytes_received;
	cb->segs_in = n.segs_in;
	cb->segs_out = n.segs_out;
	cb->retransmits = n.retransmits;
}

/* All but what names the session to the wheel; *l is zeroed. */
static void fill(const struct tcp_sess *ts, struct tcp_live *l)
{
	struct tcp_cb *cb = &l->cb;
	struct odds o;

	if (tcp_is_rest(ts)) {
		tcp_rest_fill(ts, l);
		return;
	}
	memcpy(&o, &ts->s.aux, sizeof o);
	tcp_cb_init(cb, tcp_tune(ts->s.rep));
	cb->state = TCP_S_ESTABLISHED;
	cb->flags = ts->idle.flags;
	if (cb->tune->whole_buffers) {
		cb->path_mss = ts->idle.path_mss;
		cb->peer_mss = ts->idle.peer_mss;
		tcp_round_buffers(cb);
	}
	wake_sums(cb, ts);
	wake_receiving(cb, &ts->idle);
	wake_sending(cb, &ts->idle, o);
	cb->ts_off = tcp_ts_offset(ts->s.rep, &ts->s.map.key);
}

void tcp_idle_copy(const struct tcp_sess *ts, struct tcp_live *l)
{
	memset(l, 0, sizeof *l);
	fill(ts, l);
}

bool tcp_wake(struct tcp_sess *ts)
{
	struct tcp_live *l = xk_slab_get(&tcp_rep(ts->s.rep)->live_slab);
	bool rest = tcp_is_rest(ts);

	if (l == NULL)
		return false;
	fill(ts, l);
	tcp_live_header(ts, l);
	ts->s.hot = (uintptr_t)&l->cb;
	tcp_timer_init(ts);
	if (rest)
		tcp_rest_woken(ts);
	else
		tcp_timer_look(ts, l->cb.tune->idle_compress);
	return true;
}

/* The end is made on the stack; what says so afterwards is shared. */
static void end_without(struct tcp_sess *ts, int err)
{
	struct tcp_live l;

	tcp_idle_copy(ts, &l);
	tcp_live_header(ts, &l);
	ts->s.hot = (uintptr_t)&l.cb;
	tcp_timer_init(ts);
	ts->s.rcnt++;
	ts->pops++;
	tcp_send_rst(ts);
	tcp_finish(ts, err);
	ts->s.hot = (uintptr_t)&tcp_rep(ts->s.rep)->dead->cb;
	ts->pops--;
	if (--ts->s.rcnt == 0)
		tcp_sess_free(ts);
}

bool tcp_wake_or_end(struct tcp_sess *ts)
{
	if (XK_LIKELY(tcp_wake(ts)))
		return true;
	end_without(ts, XK_E_NOMEM);
	return false;
}

void tcp_idle_abort(struct tcp_sess *ts)
{
	if (tcp_wake(ts))
		tcp_abort(ts);
	else
		end_without(ts, XK_OK);
}

/* ---- when ---------------------------------------------------------------------------------- */

/* References of pops would look at the block again. */
static bool alone(const struct tcp_sess *ts)
{
	return ts->pops == 0 && tcp_held(ts);
}

void tcp_idle_look(struct tcp_sess *ts)
{
	const struct tcp_cb *cb = tcp_cb(ts);
	uint32_t now = tcp_ms(xk_vp_time(ts->s.rep->vp)), sent = now - cb->idle_since, heard = now - cb->last_rcv;
	uint32_t quiet = sent < heard ? sent : heard;

	if (!fits(cb))
		return;
	if (quiet < cb->tune->idle_compress)
		tcp_timer_look(ts, cb->tune->idle_compress - quiet);
	else if (alone(ts) && idle(cb, now))
		compress(ts);
	else
		tcp_timer_look(ts, cb->tune->idle_compress);
}

/* ---- new ones -------------------------------------------------------------------------------- */

/* It was new; where something was said its own timer looks after it from now on. */
static void settle(struct tcp_sess *ts)
{
	const struct tcp_cb *cb = tcp_cb(ts);

	tcp_unlist(ts);
	if ((cb->bytes_acked | cb->bytes_received) == 0 && fits(cb) && alone(ts) &&
	    idle(cb, tcp_ms(xk_vp_time(ts->s.rep->vp))))
		compress(ts);
	else if (tcp_live(ts)->wheel_at == 0)
		tcp_idle_look(ts);
}

static struct tcp_sess *oldest_new(const struct tcp_rep *tr)
{
	struct xk_listed *i = xk_list_first(&tr->fresh);

	return i != NULL ? xk_container_of(i, struct tcp_live, listed)->ts : NULL;
}

static void settle_all(struct xk_timer *t)
{
	const struct tcp_rep *tr = xk_container_of(t, struct tcp_rep, fresh_timer);
	struct tcp_sess *ts;

	while ((ts = oldest_new(tr)) != NULL)
		settle(ts);
}

void tcp_idle_soon(struct tcp_sess *ts)
{
	uint32_t after = tcp_cb(ts)->tune->idle_compress;
	struct tcp_rep *tr = tcp_rep(ts->s.rep);

	if (after == 0 || tcp_cb(ts)->state != TCP_S_ESTABLISHED)
		return;
	tcp_live(ts)->fresh = true;
	xk_list_put(&tr->fresh, &tcp_live(ts)->listed);
	if (tr->fresh_n++ == TCP_FRESH)
		settle(oldest_new(tr));
	if (!xk_timer_armed(&tr->fresh_timer))
		xk_timer_set(tr->rep->wheel, &tr->fresh_timer, xk_vp_time(tr->rep->vp) + after * XK_MS);
}

void tcp_idle_init(struct xk_rep *r)
{
	xk_timer_init(&tcp_rep(r)->fresh_timer, settle_all);
}

void tcp_idle_stop(struct xk_rep *r)
{
	xk_timer_cancel(r->wheel, &tcp_rep(r)->fresh_timer);
}

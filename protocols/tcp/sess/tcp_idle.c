/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_idle.c - idle connections give their working memory back.
 *
 * A connection that stands, has nothing under way, nothing owed, nothing held and no
 * deadline needs its control block for nothing: all that is left to know of it fits
 * the words that its session has spare and half a line.  After a silence (tune.idle_compress) it is put there
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

/* What must not be set of a connection compressed; what is not kept (own_of_flags) either is of no meaning then. */
#define BUSY  (TCP_F_ORPHAN | TCP_F_FIN_QUEUED | TCP_F_FIN_RCVD | TCP_F_ACK_NOW | TCP_F_ACK_LATER | TCP_F_WANT_ROOM | \
	       TCP_F_URG_OUT | TCP_F_URG_IN | TCP_F_RTT | TCP_F_KEEPALIVE | TCP_F_DSACK | TCP_F_DRAINING | TCP_F_OUTPUT)

#define SEGS_BITS 24

/* Those flags in the sixteen bits of s.flags that are ours: the upper three go down. */
#define LOW_FLAGS (TCP_F_TOLD_OPEN | TCP_F_TS | TCP_F_SACK | TCP_F_WSCALE | TCP_F_ECN | TCP_F_ECE | TCP_F_CWR | \
		   TCP_F_NODELAY | TCP_F_CORK | TCP_F_MANUAL)
#define OWN_RST_CLOSE 0x2000u
#define OWN_PMTU      0x4000u
#define OWN_PASSIVE   0x8000u
_Static_assert(LOW_FLAGS < OWN_RST_CLOSE, "they are where they are");

static uint32_t own_of_flags(uint32_t f)
{
	return (f & LOW_FLAGS) | (f & TCP_F_RST_CLOSE ? OWN_RST_CLOSE : 0) | (f & TCP_F_PMTU ? OWN_PMTU : 0) |
	       (f & TCP_F_PASSIVE ? OWN_PASSIVE : 0);
}

static uint32_t flags_of_own(uint32_t own)
{
	return (own & LOW_FLAGS) | (own & OWN_RST_CLOSE ? TCP_F_RST_CLOSE : 0) | (own & OWN_PMTU ? TCP_F_PMTU : 0) |
	       (own & OWN_PASSIVE ? TCP_F_PASSIVE : 0);
}

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

/* A window that a header told, with or without the shift of its scale: is it without?  And in 16 bits. */
static bool plain(uint32_t wnd, unsigned scale) { return wnd != (uint32_t)(uint16_t)(wnd >> scale) << scale; }
static uint16_t in_16(uint32_t wnd, unsigned scale) { return (uint16_t)(plain(wnd, scale) ? wnd : wnd >> scale); }
static uint32_t of_16(uint16_t w, bool is_plain, unsigned scale) { return is_plain ? w : (uint32_t)w << scale; }
static bool is_16(uint32_t wnd, unsigned scale) { return of_16(in_16(wnd, scale), plain(wnd, scale), scale) == wnd; }

static bool fields_fit(const struct tcp_cb *cb)
{
	return cb->rcv_adv - cb->rcv_nxt < 1u << 30 && cb->cwnd <= INT32_MAX && cb->ssthresh <= INT32_MAX &&
	       cb->srtt >> 28 == 0 && cb->rttvar <= INT32_MAX && cb->rto <= INT32_MAX && cb->backoff < 16 &&
	       is_16(cb->snd_wnd, cb->snd_wscale) && is_16(cb->max_wnd, cb->snd_wscale);
}

/* Will there ever be room enough for this one? */
static bool fits(const struct tcp_cb *cb)
{
	return cb->tune->idle_compress != 0 && cb->state == TCP_S_ESTABLISHED && !(cb->flags & TCP_F_KEEPALIVE) &&
	       cb->bytes_acked <= UINT32_MAX && cb->bytes_received <= UINT32_MAX &&
	       (cb->segs_in | cb->segs_out) >> SEGS_BITS == 0 && cb->retransmits <= UINT16_MAX &&
	       fields_fit(cb) && usual_options(cb) && usual_buffers(cb);
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
		.cwnd = cb->cwnd & INT32_MAX, .reordering = cb->rack_reordering,
		.ssthresh = cb->ssthresh & INT32_MAX, .recover = cb->recover == cb->snd_una,
		.srtt = cb->srtt & ((1u << 28) - 1), .backoff = cb->backoff & 15u,
		.rttvar = (cb->srtt != 0 ? cb->rttvar : cb->rto) & INT32_MAX, .wl1 = cb->snd_wl1 == cb->rcv_nxt,
		.cc = cb->cc->keep(cb), .ts_recent = cb->ts_recent, .idle_since = cb->idle_since,
		.path_mss = cb->path_mss, .ts_recent_at = (uint16_t)(cb->ts_recent_at >> 16),
	};
}

/* What of it the session has room for. */
static void keep_own(struct tcp_sess *ts, const struct tcp_cb *cb)
{
	ts->own = (struct tcp_idle_own){
		.pops = ts->own.pops, .peer_mss = cb->peer_mss, .rcv_nxt = cb->rcv_nxt, .snd_una = cb->snd_una,
		.rcv_room = (cb->rcv_adv - cb->rcv_nxt) & ((1u << 30) - 1),
		.snd_wnd = in_16(cb->snd_wnd, cb->snd_wscale), .snd_plain = plain(cb->snd_wnd, cb->snd_wscale),
		.max_wnd = in_16(cb->max_wnd, cb->snd_wscale), .max_plain = plain(cb->max_wnd, cb->snd_wscale),
		.wscales = (uint8_t)(cb->rcv_wscale << 4 | cb->snd_wscale), .quick = cb->quick,
		.reo_mult = cb->rack_reo_mult, .persist = cb->rack_persist,
	};
	ts->sums = (struct tcp_idle_sums){
		.bytes_acked = (uint32_t)cb->bytes_acked, .bytes_received = (uint32_t)cb->bytes_received,
		.segs_in = (uint32_t)cb->segs_in & ((1u << SEGS_BITS) - 1),
		.segs_out = (uint32_t)cb->segs_out & ((1u << SEGS_BITS) - 1), .retransmits = (uint16_t)cb->retransmits,
	};
	ts->s.flags = (ts->s.flags & ~XK_SESS_OWN) | own_of_flags(cb->flags) << 16;
}

/* False: there is not even half a line. */
static bool compress(struct tcp_sess *ts)
{
	struct tcp_idle *t = xk_slab_get(&tcp_rep(ts->s.rep)->idle_slab);

	if (t == NULL)
		return false;
	keep_idle_state(t, tcp_cb(ts));
	keep_own(ts, tcp_cb(ts));
	tcp_timer_stop(ts);
	tcp_unlist(ts);
	xk_slab_put(&tcp_rep(ts->s.rep)->live_slab, tcp_live(ts));
	ts->s.hot = (uintptr_t)t + TCP_HOT_COMPRESSED;
	return true;
}

static void wake_sending(struct tcp_cb *cb, const struct tcp_idle_own *o, const struct tcp_idle *t)
{
	cb->snd_una = cb->snd_nxt = cb->snd_max = cb->snd_end = cb->snd_up = cb->snd_sml = cb->high_sacked = o->snd_una;
	cb->recover = o->snd_una - !t->recover;
	cb->snd_wscale = o->wscales & 15;
	cb->snd_wnd = of_16(o->snd_wnd, o->snd_plain, cb->snd_wscale);
	cb->max_wnd = of_16(o->max_wnd, o->max_plain, cb->snd_wscale);
	cb->snd_wl1 = o->rcv_nxt - !t->wl1;
	cb->snd_wl2 = o->snd_una;
	cb->idle_since = cb->last_rcv = t->idle_since;
	cb->peer_mss = o->peer_mss;
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
	cb->backoff = t->backoff;
	cb->rack_reordering = t->reordering;
	cb->rack_reo_mult = o->reo_mult;
	cb->rack_persist = o->persist;
}

static void wake_receiving(struct tcp_cb *cb, const struct tcp_idle_own *o, const struct tcp_idle *t)
{
	cb->rcv_nxt = cb->rcv_acked = cb->rcv_up = o->rcv_nxt;
	cb->rcv_adv = o->rcv_nxt + o->rcv_room;
	cb->rcv_wscale = o->wscales >> 4;
	cb->quick = o->quick;
	cb->ts_recent = t->ts_recent;
	cb->ts_recent_at = (uint32_t)t->ts_recent_at << 16;
}

static void wake_sums(struct tcp_cb *cb, const struct tcp_idle_own *o, const struct tcp_idle_sums *n)
{
	cb->iss = o->snd_una - 1 - n->bytes_acked;
	cb->irs = o->rcv_nxt - 1 - n->bytes_received;
	cb->bytes_acked = n->bytes_acked;
	cb->bytes_received = n->bytes_received;
	cb->segs_in = n->segs_in;
	cb->segs_out = n->segs_out;
	cb->retransmits = n->retransmits;
}

/* All but what names the session to the wheel; *l is zeroed. */
static void fill(const struct tcp_sess *ts, struct tcp_live *l)
{
	const struct tcp_idle *t = tcp_idle(ts);
	struct tcp_cb *cb = &l->cb;

	if (tcp_is_rest(ts)) {
		tcp_rest_fill(ts, l);
		return;
	}
	tcp_cb_init(cb, tcp_tune(ts->s.rep));
	cb->state = TCP_S_ESTABLISHED;
	cb->flags = flags_of_own(ts->s.flags >> 16);
	if (cb->tune->whole_buffers) {
		cb->path_mss = t->path_mss;
		cb->peer_mss = ts->own.peer_mss;
		tcp_round_buffers(cb);
	}
	wake_sums(cb, &ts->own, &ts->sums);
	wake_receiving(cb, &ts->own, t);
	wake_sending(cb, &ts->own, t);
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
	struct tcp_rest *rest = tcp_is_rest(ts) ? tcp_rest(ts) : NULL;

	if (l == NULL)
		return false;
	fill(ts, l);
	tcp_live_header(ts, l);
	if (rest == NULL)
		xk_slab_put(&tcp_rep(ts->s.rep)->idle_slab, tcp_idle(ts));
	ts->s.hot = (uintptr_t)&l->cb;
	tcp_timer_init(ts);
	if (rest != NULL)
		tcp_rest_woken(ts, rest);
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
	xk_slab_put(&tcp_rep(ts->s.rep)->idle_slab, tcp_idle(ts));
	ts->s.hot = (uintptr_t)&l.cb;
	tcp_timer_init(ts);
	ts->s.rcnt++;
	ts->own.pops++;
	tcp_send_rst(ts);
	tcp_finish(ts, err);
	ts->s.hot = (uintptr_t)&tcp_rep(ts->s.rep)->dead->cb;
	ts->own.pops--;
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
	return ts->own.pops == 0 && tcp_held(ts);
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
	else if (!alone(ts) || !idle(cb, now) || !compress(ts))
		tcp_timer_look(ts, cb->tune->idle_compress);
}

/* ---- new ones -------------------------------------------------------------------------------- */

/* It was new; where something was said its own timer looks after it from now on. */
static void settle(struct tcp_sess *ts)
{
	const struct tcp_cb *cb = tcp_cb(ts);

	tcp_unlist(ts);
	if ((cb->bytes_acked | cb->bytes_received) == 0 && fits(cb) && alone(ts) &&
	    idle(cb, tcp_ms(xk_vp_time(ts->s.rep->vp))) && compress(ts))
		return;
	if (tcp_live(ts)->wheel_at == 0)
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

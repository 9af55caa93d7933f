/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_rest.c - connections in TIME-WAIT that nobody has any more: without working memory.
 *
 * All that they do is to answer.  They wait in a line (struct tcp_rest), and share one timer,
 * since all wait equally long.  A segment wakes one (tcp_idle.c), which then waits with a timer of
 * its own, as one does that is held.
 * Invariant: tw_rest has them, the oldest first, and tw_n counts them.
 */
#include "protocols/tcp/sess/tcp_sess.h"
#include "protocols/inet/inet_sess.h"
#include "runtime/base/xk_list.h"
#include "runtime/upi/xk_inline.h"

static struct tcp_rest *rest_of(struct xk_listed *i)
{
	return i != NULL ? xk_container_of(i, struct tcp_rest, listed) : NULL;
}

static struct tcp_rest *oldest(const struct tcp_rep *tr)
{
	return rest_of(xk_list_first(&tr->tw_rest));
}

/* What ends next was touched last when it came here, thousands of connections ago.  Its lines lead from one to the
 * other: they are asked for one after the other, at the ends of the four before it. */
static void fetch_ahead(const struct tcp_rep *tr)
{
	struct xk_listed *i = xk_list_first(&tr->tw_rest);

	if (i == NULL)
		return;
	xk_sess_fetch_end(&rest_of(i)->ts->s, XK_SESS_FLOW_LINES);
	if ((i = xk_list_next(&tr->tw_rest, i)) == NULL)
		return;
	xk_sess_fetch_end(&rest_of(i)->ts->s, XK_SESS_LINES);
	if ((i = xk_list_next(&tr->tw_rest, i)) == NULL)
		return;
	__builtin_prefetch(rest_of(i)->ts);
	__builtin_prefetch((const char *)rest_of(i)->ts + XK_CACHELINE);
	__builtin_prefetch(i->next);
}

static void rest_end(struct tcp_rep *tr, struct tcp_rest *t)
{
	struct tcp_sess *ts = t->ts;

	xk_list_take(&t->listed);
	xk_slab_put(&tr->rest_slab, t);
	tr->tw_n--;
	xk_count(tr->rep->count[TCP_COUNT_CLOSED]);
	tcp_withdraw(ts);
	ts->s.hot = TCP_HOT_COMPRESSED;
	inet_sess_free(&ts->s);
	fetch_ahead(tr);
}

static void timer_set(struct tcp_rep *tr, uint32_t ms)
{
	const struct xk_rep *r = tr->rep;

	xk_timer_set(r->wheel, &tr->tw_timer, (xk_vp_time(r->vp) / XK_MS + ms) * XK_MS);
}

/* As with a deadline of its own (tcp_timer.c) a jump of the clock is the end of waiting. */
static void rest_due(struct xk_timer *timer)
{
	struct tcp_rep *tr = xk_container_of(timer, struct tcp_rep, tw_timer);
	xk_ns now_ns = xk_vp_time(tr->rep->vp);
	bool jumped = now_ns - timer->deadline > INT32_MAX * XK_MS;
	uint32_t now = tcp_ms(now_ns);
	struct tcp_rest *first;

	while ((first = oldest(tr)) != NULL && (jumped || (int32_t)(now - first->until) >= 0))
		rest_end(tr, first);
	if (first != NULL)
		timer_set(tr, first->until - now);
}

/* Nobody holds it, and nobody but the segment that is here is in the middle of it. */
static bool may_rest(const struct tcp_sess *ts)
{
	const struct tcp_cb *cb = tcp_cb(ts);

	return (cb->flags & TCP_F_ORPHAN) && ts->s.rcnt == 1 && ts->own.pops == 1 && cb->sq.first == NULL &&
	       !(cb->flags & (TCP_F_ACK_NOW | TCP_F_OUTPUT));
}

bool tcp_rest_begin(struct tcp_sess *ts)
{
	struct tcp_rep *tr = tcp_rep(ts->s.rep);
	const struct tcp_cb *cb = tcp_cb(ts);
	uint32_t wait = 2 * cb->tune->msl;
	struct tcp_rest *t = may_rest(ts) ? xk_slab_get(&tr->rest_slab) : NULL;

	if (t == NULL)
		return false;
	*t = (struct tcp_rest){
		.ts = ts, .until = tcp_deadline(tcp_ms(xk_vp_time(ts->s.rep->vp)), wait), .flags = cb->flags,
		.rcv_nxt = cb->rcv_nxt, .rcv_adv = cb->rcv_adv, .snd_una = cb->snd_max, .snd_wnd = cb->snd_wnd,
		.max_wnd = cb->max_wnd, .ts_recent = cb->ts_recent, .ts_recent_at = cb->ts_recent_at,
		.peer_mss = cb->peer_mss, .path_mss = cb->path_mss,
	};
	ts->own.wscales = (uint8_t)(cb->rcv_wscale << 4 | cb->snd_wscale);
	tcp_timer_stop(ts);
	tcp_unlist(ts);
	tcp_reass_free(ts);
	xk_slab_put(&tr->live_slab, tcp_live(ts));
	ts->s.hot = (uintptr_t)t + (TCP_HOT_COMPRESSED | TCP_HOT_REST);
	xk_list_put(&tr->tw_rest, &t->listed);
	tr->tw_n++;
	if (!xk_timer_armed(&tr->tw_timer))
		timer_set(tr, wait);
	return true;
}

void tcp_rest_fill(const struct tcp_sess *ts, struct tcp_live *l)
{
	const struct tcp_rest *t = tcp_rest(ts);
	struct tcp_cb *cb = &l->cb;

	tcp_cb_init(cb, tcp_tune(ts->s.rep));
	cb->state = TCP_S_TIME_WAIT;
	cb->flags = t->flags;
	cb->rcv_nxt = cb->rcv_acked = cb->rcv_up = t->rcv_nxt;
	cb->rcv_fin = t->rcv_nxt - 1;
	cb->rcv_adv = t->rcv_adv;
	cb->snd_una = cb->snd_nxt = cb->snd_max = cb->snd_up = cb->snd_sml = cb->high_sacked = cb->snd_wl2 = t->snd_una;
	cb->snd_end = cb->recover = t->snd_una - 1;      /* our FIN */
	cb->snd_wl1 = t->rcv_nxt;
	cb->snd_wnd = t->snd_wnd;
	cb->max_wnd = t->max_wnd;
	cb->rcv_wscale = ts->own.wscales >> 4;
	cb->snd_wscale = ts->own.wscales & 15;
	cb->ts_recent = t->ts_recent;
	cb->ts_recent_at = t->ts_recent_at;
	cb->ts_off = tcp_ts_offset(ts->s.rep, &ts->s.map.key);
	cb->peer_mss = t->peer_mss;
	cb->path_mss = t->path_mss;
	tcp_set_mss(cb);
}

void tcp_rest_woken(struct tcp_sess *ts, struct tcp_rest *t)
{
	struct tcp_rep *tr = tcp_rep(ts->s.rep);
	struct tcp_env e = tcp_env(ts->s.rep);
	uint32_t left = t->until - e.now;

	xk_list_take(&t->listed);
	xk_slab_put(&tr->rest_slab, t);
	xk_list_put(&tr->time_wait, &tcp_live(ts)->listed);
	tcp_timer_arm(tcp_cb(ts), &e, TCP_T_2MSL, (int32_t)left > 0 ? left : 0);
	tcp_timer_sync(ts);
}

bool tcp_rest_reclaim(struct xk_rep *r, const struct tcp_sess *ts)
{
	struct tcp_rep *tr = tcp_rep(r);
	struct tcp_rest *old = oldest(tr);

	if (old == NULL || old->ts == ts)
		return false;
	rest_end(tr, old);
	return true;
}

void tcp_rest_init(struct xk_rep *r)
{
	xk_timer_init(&tcp_rep(r)->tw_timer, rest_due);
}

void tcp_rest_stop(struct xk_rep *r)
{
	struct tcp_rep *tr = tcp_rep(r);
	struct tcp_rest *t;

	xk_timer_cancel(r->wheel, &tr->tw_timer);
	while ((t = oldest(tr)) != NULL)
		rest_end(tr, t);
}

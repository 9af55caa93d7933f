/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_memory.c - queues while the graph's memory runs short.
 *
 * What a peer does not read stays in our buffers, and those are the ones that frames
 * arrive in.  So the room that a connection is said to have depends on how full the pool
 * is (xk_mem_fill), as Linux's tcp_mem has it:
 *   below mem_pressure   what the send buffer has left
 *   from there on        no queue grows beyond a window, the peer's or our congestion
 *                        window, but a segment may always wait
 *   from mem_high on     one segment; and of the connections that do not drain what they
 *                        hold the worst is reset, again and again
 *   in the last part     nothing: what is left is for what comes in and for control
 * A promise of room is kept: the queue takes what was asked for before.
 *
 * Receivers stay in their share, too.  From mem_pressure on the edge of the window moves only
 * while less than SHARE segments are offered or held for an application, from mem_high on
 * less than two, so one that takes what comes is never stopped; and so much of what comes out of order
 * is kept, from mem_high on none.  What was offered or reported stays good: no edge moves left,
 * no block is taken back.
 *
 * From the first question that meets a shortage on, until it is over, a timer of the replica
 * goes through the connections, a few at a time: it measures how fast each drains, resets
 * the worst of those few where memory is that short, and wakes who was told of no room
 * and has nothing under way whose acknowledgement would.  When it is over windows open again.
 * Invariant: while a connection has WANT_ROOM because of memory alone, the timer runs.
 */
#include "protocols/tcp/sess/tcp_sess.h"

#define TICK        (10 * XK_MS)
#define SHARE       4u           /* segments that a receiver has under pressure */
#define LOOKS       256u         /* connections looked at in a tick */
#define STILL       3000u        /* ms without progress, to be judged where memory is high */
#define STILL_LAST  1000u        /* and in the last part */
#define DRAIN_MOST  60000u       /* ms in which what is held should have drained */

/* ---- how short it is ------------------------------------------------------------------ */

enum shortage { NONE, PRESSURE, HIGH, LAST };

static enum shortage shortage(const struct xk_rep *r)
{
	uint32_t fill = xk_mem_fill(&r->vp->mem);
	const struct tcp_tune *t = tcp_tune(r);

	if (XK_LIKELY(fill == 0) || fill < t->mem_pressure * XK_MEM_FULL / 100)
		return NONE;
	if (fill < t->mem_high * XK_MEM_FULL / 100)
		return PRESSURE;
	return fill < (t->mem_high + 100) * XK_MEM_FULL / 200 ? HIGH : LAST;
}

/* Bytes that the queue may have. */
static uint32_t queue_limit(const struct tcp_cb *cb, enum shortage how)
{
	uint32_t window = min32(cb->cwnd, cb->snd_wnd);

	if (how == NONE)
		return cb->snd_buf;
	if (how == LAST)
		return 0;
	if (how == HIGH || window < cb->mss)
		window = cb->mss;
	return min32(window, cb->snd_buf);
}

static void watch(struct xk_rep *r)
{
	struct tcp_rep *tr = tcp_rep(r);

	tr->mem_over = false;
	if (tr->mem_watched)
		return;
	xk_count(r->count[TCP_COUNT_PRESSURE]);
	tr->mem_watched = true;
	tr->mem_at = 0;
	xk_timer_set(&r->vp->wheel, &tr->mem_timer, r->vp->now + TICK);
}

static XK_NOINLINE uint32_t scarce_room(const struct tcp_sess *ts, enum shortage how, uint32_t *limit)
{
	const struct tcp_cb *cb = tcp_cb(ts);
	uint32_t room = tcp_room(cb);

	watch(ts->s.rep);
	*limit = queue_limit(cb, how);
	return room == 0 || *limit <= cb->sq.bytes ? 0 : min32(room, *limit - cb->sq.bytes);
}

uint32_t tcp_room_now(const struct tcp_sess *ts, uint32_t *limit)
{
	enum shortage how = shortage(ts->s.rep);

	if (XK_UNLIKELY(how != NONE))
		return scarce_room(ts, how, limit);
	*limit = tcp_cb(ts)->snd_buf;
	return tcp_room(tcp_cb(ts));
}

/* A window says nothing smaller than a unit of its scale. */
static XK_NOINLINE uint32_t scarce_limit(const struct tcp_sess *ts, enum shortage how)
{
	const struct tcp_cb *cb = tcp_cb(ts);
	uint32_t share = (how == PRESSURE ? SHARE : 2u) * cb->mss, unit = 1u << cb->rcv_wscale;

	watch(ts->s.rep);
	return min32(cb->rcv_buf, share > unit ? share : unit);
}

uint32_t tcp_rcv_limit(const struct tcp_sess *ts)
{
	enum shortage how = shortage(ts->s.rep);

	return XK_LIKELY(how == NONE) ? tcp_cb(ts)->rcv_buf : scarce_limit(ts, how);
}

bool tcp_memory_refuses(const struct tcp_sess *ts, uint32_t n)
{
	enum shortage how = shortage(ts->s.rep);

	if (XK_LIKELY(how == NONE))
		return false;
	watch(ts->s.rep);
	return how >= HIGH || tcp_reass_bytes(tcp_cb(ts), NULL) + n > SHARE * tcp_cb(ts)->mss;
}

void tcp_memory_look(struct xk_rep *r)
{
	if (XK_UNLIKELY(shortage(r) != NONE))
		watch(r);
}

/* ---- a few connections at a time -------------------------------------------------------- */

struct look {
	struct xk_rep   *r;
	enum shortage    how;
	struct tcp_sess *worst;
	uint64_t         worst_ms;       /* in which it would drain */
};

/* How long it would take to drain at the pace since it was looked at; 0: it is too early to
 * say, or good enough. */
static uint64_t drains_in(struct tcp_live *l, uint32_t now, uint32_t still)
{
	const struct tcp_cb *cb = &l->cb;
	uint32_t ms = now - l->mem_seen, acked = cb->snd_una - l->mem_una;
	uint64_t all;

	if (cb->sq.bytes == 0 || l->mem_seen == 0) {
		l->mem_seen = now;
		l->mem_una = cb->snd_una;
		return 0;
	}
	if (ms < still)
		return 0;
	all = (uint64_t)(cb->sq.bytes + cb->rcv_held) * ms / (acked != 0 ? acked : 1);
	if (acked != 0) {
		l->mem_seen = now;
		l->mem_una = cb->snd_una;
	}
	return all > DRAIN_MOST || acked == 0 ? all : 0;
}

/* Where the timer has been told to look, objects lie that are nobody's now. */
static struct tcp_sess *sess_of(const struct xk_rep *r, const struct tcp_live *l)
{
	struct tcp_sess *ts = l->ts;

	return ts != NULL && ts->s.rep == r && ts->s.hot == (uintptr_t)&l->cb && l->cb.state != TCP_S_CLOSED ? ts : NULL;
}

static void judge(void *o, void *arg)
{
	struct tcp_live *l = o;
	struct look *k = arg;
	struct tcp_sess *ts = sess_of(k->r, l);
	uint64_t ms = ts != NULL ? drains_in(l, tcp_ms(k->r->vp->now), k->how == LAST ? STILL_LAST : STILL) : 0;

	if (ms > k->worst_ms) {
		k->worst = ts;
		k->worst_ms = ms;
	}
}

static void tell(void *o, void *arg)
{
	struct tcp_live *l = o;
	const struct look *k = arg;
	struct tcp_sess *ts = sess_of(k->r, l);

	if (ts == NULL)
		return;
	xk_dup(&ts->s);
	if (k->how == NONE) {
		l->cb.adv_nxt = l->cb.rcv_nxt - 1;       /* what was offered was so for another reason */
		tcp_window_opened(ts);
	}
	if (l->cb.flags & TCP_F_WANT_ROOM)
		tcp_tell_room(ts);
	xk_close(&ts->s);
}

static void give_up(struct tcp_sess *ts)
{
	xk_count(ts->s.rep->count[TCP_COUNT_GIVEN_UP]);
	tcp_send_rst(ts);
	tcp_finish(ts, XK_E_NOMEM);
}

static void tick(struct xk_timer *t)
{
	struct tcp_rep *tr = xk_container_of(t, struct tcp_rep, mem_timer);
	struct look k = { .r = tr->mem_rep, .how = shortage(tr->mem_rep) };
	uint64_t from;
	bool more;

	/* When it is over each is looked at once more, for those who wait. */
	if (k.how == NONE && !tr->mem_over)
		tr->mem_at = 0;
	tr->mem_over = k.how == NONE;
	from = tr->mem_at;
	if (k.how != NONE)
		xk_slab_walk(&tr->live_slab, &from, LOOKS, judge, &k);
	if (k.how >= HIGH && k.worst != NULL)
		give_up(k.worst);
	more = xk_slab_walk(&tr->live_slab, &tr->mem_at, LOOKS, tell, &k);
	if (!more)
		tr->mem_at = 0;
	tr->mem_watched = more || !tr->mem_over;
	if (tr->mem_watched)
		xk_timer_set(&k.r->vp->wheel, t, k.r->vp->now + TICK);
}

void tcp_memory_init(struct xk_rep *r)
{
	xk_timer_init(&tcp_rep(r)->mem_timer, tick);
	tcp_rep(r)->mem_rep = r;
}

void tcp_memory_stop(struct xk_rep *r)
{
	xk_timer_cancel(&r->vp->wheel, &tcp_rep(r)->mem_timer);
	tcp_rep(r)->mem_watched = false;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_shed.c - connections are gone through while the graph's memory is short.
 *
 * From the first question that meets a shortage (tcp_memory.c), until it is over, a timer of the replica
 * goes through the connections, a few at a time: it measures how fast each drains, resets
 * the worst of those few where memory is that short, and wakes who was told of no room
 * and has nothing under way whose acknowledgement would.  When it is over windows open again.
 * Invariant: who was told of no room because of memory alone is looked at until there is some.
 */
#include "protocols/tcp/sess/tcp_sess.h"
#include "runtime/upi/xk_inline.h"

#define LOOKS       256u         /* connections looked at in a tick */
#define STILL       3000u        /* ms without progress, to be judged where memory is high */
#define STILL_LAST  1000u        /* and in the last part */
#define DRAIN_MOST  60000u       /* ms in which what is held should have drained */

struct look {
	struct xk_rep   *r;
	enum tcp_shortage how;
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
	uint64_t ms = ts != NULL ? drains_in(l, tcp_ms(xk_vp_time(k->r->vp)), k->how == TCP_MEM_LAST ? STILL_LAST : STILL) : 0;

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
	if (k->how == TCP_MEM_NONE) {
		l->cb.adv_nxt = l->cb.rcv_nxt - 1;       /* what was offered was so for another reason */
		tcp_window_opened(ts);
	}
	if (l->cb.flags & TCP_F_WANT_ROOM)
		tcp_notify_room(ts);
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
	struct look k = { .r = tr->rep, .how = tcp_shortage(tr->rep) };
	uint64_t from;
	bool more;

	/* When it is over each is looked at once more, for those who wait. */
	if (k.how == TCP_MEM_NONE && !tr->mem_over)
		tr->mem_at = 0;
	tr->mem_over = k.how == TCP_MEM_NONE;
	from = tr->mem_at;
	if (k.how != TCP_MEM_NONE)
		xk_slab_walk(&tr->live_slab, &from, LOOKS, judge, &k);
	if (k.how >= TCP_MEM_HIGH && k.worst != NULL)
		give_up(k.worst);
	more = xk_slab_walk(&tr->live_slab, &tr->mem_at, LOOKS, tell, &k);
	if (!more)
		tr->mem_at = 0;
	tr->mem_watched = more || !tr->mem_over;
	if (tr->mem_watched)
		xk_timer_set(k.r->wheel, t, xk_vp_time(k.r->vp) + TCP_MEMORY_TICK);
}

void tcp_memory_init(struct xk_rep *r)
{
	xk_timer_init(&tcp_rep(r)->mem_timer, tick);
}

void tcp_memory_stop(struct xk_rep *r)
{
	xk_timer_cancel(r->wheel, &tcp_rep(r)->mem_timer);
	tcp_rep(r)->mem_watched = false;
}

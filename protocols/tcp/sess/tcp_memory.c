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
 * From the first question that meets a shortage on, until it is over, the timer of tcp_shed.c runs.
 * Invariant: while a connection has WANT_ROOM because of memory alone, the timer runs.
 */
#include "protocols/tcp/sess/tcp_sess.h"
#include "runtime/upi/xk_inline.h"

#define SHARE       4u           /* segments that a receiver has under pressure */

enum tcp_shortage tcp_shortage(const struct xk_rep *r)
{
	uint32_t fill = xk_mem_fill(tcp_rep(r)->mem);
	const struct tcp_tune *t = tcp_tune(r);

	if (XK_LIKELY(fill == 0) || fill < t->mem_pressure * XK_MEM_FULL / 100)
		return TCP_MEM_NONE;
	if (fill < t->mem_high * XK_MEM_FULL / 100)
		return TCP_MEM_PRESSURE;
	return fill < (t->mem_high + 100) * XK_MEM_FULL / 200 ? TCP_MEM_HIGH : TCP_MEM_LAST;
}

/* Bytes that the queue may have. */
static uint32_t queue_limit(const struct tcp_cb *cb, enum tcp_shortage how)
{
	uint32_t window = min32(cb->cwnd, cb->snd_wnd);

	if (how == TCP_MEM_NONE)
		return cb->snd_buf;
	if (how == TCP_MEM_LAST)
		return 0;
	if (how == TCP_MEM_HIGH || window < cb->mss)
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
	xk_timer_set(r->wheel, &tr->mem_timer, xk_vp_time(r->vp) + TCP_MEMORY_TICK);
}

static XK_NOINLINE uint32_t scarce_room(const struct tcp_sess *ts, enum tcp_shortage how, uint32_t *limit)
{
	const struct tcp_cb *cb = tcp_cb(ts);
	uint32_t room = tcp_room(cb);

	watch(ts->s.rep);
	*limit = queue_limit(cb, how);
	return room == 0 || *limit <= cb->sq.bytes ? 0 : min32(room, *limit - cb->sq.bytes);
}

uint32_t tcp_room_now(const struct tcp_sess *ts, uint32_t *limit)
{
	enum tcp_shortage how = tcp_shortage(ts->s.rep);

	if (XK_UNLIKELY(how != TCP_MEM_NONE))
		return scarce_room(ts, how, limit);
	*limit = tcp_cb(ts)->snd_buf;
	return tcp_room(tcp_cb(ts));
}

/* A window says nothing smaller than a unit of its scale. */
static XK_NOINLINE uint32_t scarce_limit(const struct tcp_sess *ts, enum tcp_shortage how)
{
	const struct tcp_cb *cb = tcp_cb(ts);
	uint32_t share = (how == TCP_MEM_PRESSURE ? SHARE : 2u) * cb->mss, unit = 1u << cb->rcv_wscale;

	watch(ts->s.rep);
	return min32(cb->rcv_buf, share > unit ? share : unit);
}

uint32_t tcp_rcv_limit(const struct tcp_sess *ts)
{
	enum tcp_shortage how = tcp_shortage(ts->s.rep);

	return XK_LIKELY(how == TCP_MEM_NONE) ? tcp_cb(ts)->rcv_buf : scarce_limit(ts, how);
}

bool tcp_memory_refuses(const struct tcp_sess *ts, uint32_t n)
{
	enum tcp_shortage how = tcp_shortage(ts->s.rep);

	if (XK_LIKELY(how == TCP_MEM_NONE))
		return false;
	watch(ts->s.rep);
	return how >= TCP_MEM_HIGH || tcp_reass_bytes(tcp_cb(ts), NULL) + n > SHARE * tcp_cb(ts)->mss;
}

void tcp_memory_look(struct xk_rep *r)
{
	if (XK_UNLIKELY(tcp_shortage(r) != TCP_MEM_NONE))
		watch(r);
}


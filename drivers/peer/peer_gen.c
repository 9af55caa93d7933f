/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peer_gen.c - makes the frames of peer_source, a unit of work at a time.
 *
 * Making a frame is copying its connection's template before a payload that the receive buffer
 * already holds.  Each replica serves the connections mapped to its VP in turn, one unit each;
 * mixed, one frame each, in strides that visit every connection before one twice and look like
 * chance to the caches.
 * Invariant: frames made for two connections of one VP differ by at most one unit, mixed by at
 * most one, while both have frames left.
 */
#include "drivers/peer/peer_gen.h"

#include <string.h>

#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_input.h"

#define AHEAD 16u                /* mixed: frames that a template is fetched before it is used */

static inline struct xk_msg *gen_one(struct peer_gen *g, const struct peer_gen_conn *k)
{
	struct xk_msg *m = xk_msg_new(g->frame);

	if (XK_UNLIKELY(m == NULL))
		return NULL;
	if (g->cold.n != 0)
		m = peer_cold_swap(&g->cold, m);
	/* A whole line: its tail lies in the payload, which is ours. */
	memcpy(m->data, k->hdr, XK_CACHELINE);
	if (XK_UNLIKELY(g->flags == 0))          /* the checksum was made for zeros */
		memset(m->data + g->hdr_len, 0, m->len - g->hdr_len);
	m->flags = g->flags;
	return m;
}

static inline void gen_made(struct peer_gen *g, uint32_t j, unsigned n)
{
	g->left[j] -= n;
	g->live -= g->left[j] == 0;
	xk_count_add(g->made[j], n);
	xk_count_add(g->bytes[j], (uint64_t)n * (g->frame - g->hdr_len));
}

static unsigned gen_burst(struct peer_gen *g, uint32_t j, unsigned n)
{
	struct xk_msg *burst[MEM_BURST];
	unsigned i;

	for (i = 0; i < n; i++) {
		burst[i] = gen_one(g, &g->conn[j]);
		if (XK_UNLIKELY(burst[i] == NULL)) {
			xk_dropped(g->rep, XK_DROP_NOMEM, 1);
			break;
		}
	}
	gen_made(g, j, i);
	xk_count_add(g->rep->count[PEER_N_MADE], i);
	if (i != 0)
		xk_input(g->mr->rep, burst, i);
	return i;
}

/* Of `n` frames that came since, those that the ring had room for: a card loses the others
 * without asking. */
static uint64_t gen_waiting(struct peer_gen *g, uint64_t n)
{
	uint64_t ring = peer_gen_conf(g)->ring;

	if (ring == 0 || n <= ring)
		return n;
	xk_dropped(g->rep, PEER_DROP_MISSED, n - ring);
	g->produced += n - ring;
	return ring;
}

/* Frames that the open loop allows by now; 0 after arming the timer. */
static uint64_t gen_due(struct peer_gen *g)
{
	xk_ns now = xk_vp_now(), t = now - g->start;
	uint64_t due = t / XK_SEC * g->rate + t % XK_SEC * g->rate / XK_SEC;

	if (due > g->produced)
		return gen_waiting(g, due - g->produced);
	xk_timer_set(g->rep->wheel, &g->timer, now + XK_SEC / g->rate);
	xk_task_park(&g->mr->task);
	return 0;
}

static void gen_timer(struct xk_timer *t)
{
	struct peer_gen *g = xk_container_of(t, struct peer_gen, timer);

	xk_task_ready(&g->mr->task);
}

static inline uint32_t gen_step(const struct peer_gen *g, uint32_t j, uint32_t stride)
{
	j += stride;
	return j >= g->nconn ? j - g->nconn : j;
}

/* The turn goes on to the next connection with frames left; there is one. */
static inline void gen_turn(struct peer_gen *g)
{
	do
		g->turn = gen_step(g, g->turn, g->stride);
	while (g->left[g->turn] == 0);
}

/* Its unit begins. */
static void gen_next(struct peer_gen *g, uint32_t unit)
{
	gen_turn(g);
	g->unit_left = g->left[g->turn] < unit ? (uint32_t)g->left[g->turn] : unit;
}

/* What the peer keeps of a connection is not what is measured. */
static inline void gen_fetch(const struct peer_gen *g, uint32_t j)
{
	__builtin_prefetch(&g->conn[j]);
	__builtin_prefetch(&g->left[j], 1);
	__builtin_prefetch(&g->made[j], 1);
	__builtin_prefetch(&g->bytes[j], 1);
}

/* A burst of frames of as many connections. */
static unsigned gen_mixed(struct peer_gen *g, unsigned n)
{
	struct xk_msg *burst[MEM_BURST];
	unsigned i;

	for (i = 0; i < n && g->live != 0; i++) {
		uint32_t before = g->turn;

		gen_turn(g);
		gen_fetch(g, gen_step(g, g->turn, g->ahead));
		burst[i] = gen_one(g, &g->conn[g->turn]);
		if (XK_UNLIKELY(burst[i] == NULL)) {
			xk_dropped(g->rep, XK_DROP_NOMEM, 1);
			g->turn = before;
			break;
		}
		gen_made(g, g->turn, 1);
	}
	xk_count_add(g->rep->count[PEER_N_MADE], i);
	if (i != 0)
		xk_input(g->mr->rep, burst, i);
	return i;
}

/* One unit of frames of different connections; apart, so that the usual way stays
 * as it is. */
static __attribute__((noinline)) unsigned gen_mixed_unit(struct peer_gen *g, uint64_t unit)
{
	unsigned done = 0;

	while (done < unit && g->live != 0) {
		unsigned want = unit - done < MEM_BURST ? (unsigned)unit - done : MEM_BURST;
		unsigned got = gen_mixed(g, want);

		done += got;
		if (got < want)
			break;
	}
	return done;
}

static unsigned gen_unit(struct peer_gen *g, uint64_t unit)
{
	unsigned done = 0;

	while (done < unit) {
		unsigned want = unit - done < MEM_BURST ? (unsigned)unit - done : MEM_BURST;
		unsigned got = gen_burst(g, g->turn, want);

		done += got;
		if (got < want)
			break;
	}
	g->unit_left -= done;
	return done;
}

/*
 * One unit: a burst of one connection.  One that the rate, or memory, cuts short
 * goes on with the same connection, or counts would drift apart.
 */
unsigned peer_gen_run(struct xk_task *t, unsigned budget)
{
	struct mem_rep *mr = xk_container_of(t, struct mem_rep, task);
	struct peer_gen *g = mr->far->state;
	const struct peer_gen_conf *c = peer_gen_conf(g);
	uint64_t due = UINT64_MAX, unit = c->burst != 0 ? c->burst : budget;
	unsigned done;

	if (g->rate != 0 && (due = gen_due(g)) == 0)
		return 0;
	if (c->mix) {
		done = gen_mixed_unit(g, unit < due ? unit : due);
	} else {
		if (g->unit_left == 0)
			gen_next(g, (uint32_t)unit);
		done = gen_unit(g, g->unit_left < due ? g->unit_left : due);
	}
	g->produced += done;
	if (g->live == 0)
		xk_task_park(t);
	else if (g->rate != 0)
		gen_due(g);                      /* asleep at once, not a turn later */
	return done;
}

/* As fast as messages are taken from the queue that I/O threads share, no faster. */
unsigned peer_gen_run_carried(struct xk_task *t, unsigned budget)
{
	return mem_backlogged(xk_container_of(t, struct mem_rep, task)) ? 0 : peer_gen_run(t, budget);
}

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
	return b == 0 ? a : common_divisor(b, a % b);
}

/* Mixed, the golden ratio of the ring, near a number that shares no divisor with it. */
void peer_gen_strides(struct peer_gen *g, bool mix)
{
	g->stride = 1;
	if (mix && g->nconn > 2) {
		g->stride = (uint32_t)((uint64_t)g->nconn * 1640531527 >> 32) | 1;
		while (common_divisor(g->nconn, g->stride) != 1)
			g->stride++;
	}
	g->ahead = (uint32_t)((uint64_t)g->stride * AHEAD % g->nconn);
}

void peer_gen_init(struct xk_rep *r)
{
	struct peer_gen *g = r->state;

	g->rep = r;
	xk_timer_init(&g->timer, gen_timer);
}

struct xk_msg *peer_gen_frame(struct peer_gen *g, uint32_t j)
{
	struct xk_msg *m = gen_one(g, &g->conn[j]);

	if (XK_UNLIKELY(m == NULL))
		xk_dropped(g->rep, XK_DROP_NOMEM, 1);
	return m;
}

void peer_gen_made(struct peer_gen *g, uint32_t j, unsigned n) { gen_made(g, j, n); }

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peer_due.c - frames of peer_source that come at times of their own, each made when it is due.
 *
 * Each connection is a stream (peer_arrivals.h) whose next time is drawn ahead; a heap has the
 * earliest first.  A frame carries when it was due and when work on it began (xk_stamp.h): one that is made
 * late, because the processor was busy, has waited since it was due, not since it was made.
 * Invariant: the heap holds exactly the streams that have frames left and a time for the next.
 */
#include "drivers/peer/peer_gen.h"

#include "runtime/base/xk_stamp.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_input.h"

/* ---- the heap --------------------------------------------------------------------- */

/* By time, at one time by number: the order does not depend on where a stream lives. */
static bool before(const struct peer_gen *g, uint32_t a, uint32_t b)
{
	xk_ns x = g->stream[a].due, y = g->stream[b].due;

	return x != y ? x < y : g->no[a] < g->no[b];
}

static void sift_down(struct peer_gen *g, uint32_t i)
{
	uint32_t slot = g->heap[i], child;

	for (; (child = 2 * i + 1) < g->nheap; i = child) {
		child += child + 1 < g->nheap && before(g, g->heap[child + 1], g->heap[child]);
		if (before(g, slot, g->heap[child]))
			break;
		g->heap[i] = g->heap[child];
	}
	g->heap[i] = slot;
}

/* ---- frames ------------------------------------------------------------------------ */

/* The frame that is due first, or NULL: memory is out, and it is lost as a card would lose it. */
static struct xk_msg *due_one(struct peer_gen *g, xk_ns now)
{
	uint32_t j = g->heap[0];
	struct peer_stream *s = &g->stream[j];
	struct xk_msg *m = peer_gen_frame(g, j);

	if (XK_LIKELY(m != NULL)) {
		xk_stamp_put(m->data + g->hdr_len, g->start + s->due, now);
		peer_gen_made(g, j, 1);
	} else {
		g->left[j]--;
		g->live -= g->left[j] == 0;
	}
	peer_stream_next(s, &peer_gen_conf(g)->arrivals, &((struct peer_gen_node *)g->rep->node->state)->trace);
	if (g->left[j] == 0 || s->due == XK_NS_NEVER)
		g->heap[0] = g->heap[--g->nheap];
	if (g->nheap != 0)
		sift_down(g, 0);
	return m;
}

static inline bool is_due(const struct peer_gen *g, xk_ns now)
{
	return g->nheap != 0 && g->start + g->stream[g->heap[0]].due <= now;
}

/* At most n of those that are due; how many were. */
static unsigned due_burst(struct peer_gen *g, unsigned n)
{
	xk_ns now = xk_vp_clock(g->mr->task.vp);
	struct xk_msg *burst[MEM_BURST];
	unsigned taken = 0, made = 0;

	for (; taken < n && is_due(g, now); taken++) {
		burst[made] = due_one(g, now);
		made += burst[made] != NULL;
	}
	xk_count_add(g->rep->count[PEER_N_MADE], made);
	if (made != 0)
		xk_input(g->mr->rep, burst, made);
	return taken;
}

unsigned peer_due_run(struct xk_task *t, unsigned budget)
{
	struct mem_rep *mr = xk_container_of(t, struct mem_rep, task);
	struct peer_gen *g = mr->far->state;
	const struct peer_gen_conf *c = peer_gen_conf(g);
	unsigned unit = c->burst != 0 ? (unsigned)c->burst : budget, done = 0;

	while (done < unit) {
		unsigned want = unit - done < MEM_BURST ? unit - done : MEM_BURST, got = due_burst(g, want);

		done += got;
		if (got < want)
			break;
	}
	g->due.when = g->nheap != 0 ? g->start + g->stream[g->heap[0]].due : XK_NS_NEVER;
	if (g->nheap == 0)
		xk_task_park(t);
	return done;
}

unsigned peer_due_run_carried(struct xk_task *t, unsigned budget)
{
	return mem_backlogged(xk_container_of(t, struct mem_rep, task)) ? 0 : peer_due_run(t, budget);
}

/* ---- life ------------------------------------------------------------------------------ */

int peer_due_start(struct peer_gen *g)
{
	const struct peer_gen_conf *c = peer_gen_conf(g);
	const struct xk_graph *graph = g->rep->node->graph;
	const struct peer_gen_node *st = g->rep->node->state;

	if (g->nconn == 0)
		return XK_OK;
	g->stream = xk_alloc(g->nconn * sizeof *g->stream);
	g->heap = xk_alloc(g->nconn * sizeof *g->heap);
	if (g->stream == NULL || g->heap == NULL)
		return XK_E_NOMEM;
	for (uint32_t j = 0; j < g->nconn; j++) {
		peer_stream_init(&g->stream[j], &c->arrivals, &st->trace, graph->seed, g->no[j]);
		if (g->left[j] != 0 && g->stream[j].due != XK_NS_NEVER)
			g->heap[g->nheap++] = j;
	}
	for (uint32_t i = g->nheap / 2; i-- > 0;)
		sift_down(g, i);
	xk_due_add(&g->due, &g->mr->task);
	return XK_OK;
}

void peer_due_stop(struct peer_gen *g)
{
	xk_due_remove(&g->due);
}

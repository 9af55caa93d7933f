/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peer_due.c - frames of peer_source that come at times of their own, each made when it is due.
 *
 * Each connection is a stream (xk_traffic.h).  A frame carries when it was due and when work on it
 * began (xk_stamp.h): one that is made late, because the processor was busy, has waited since it
 * was due, not since it was made.
 * Invariant: the queue holds exactly the streams that have frames left and a time for the next.
 */
#include "drivers/peer/peer_gen.h"

#include "runtime/base/xk_stamp.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_input.h"

/* ---- frames ------------------------------------------------------------------------ */

/* The frame that is due first, or NULL: memory is out, and it is lost as a card would lose it. */
static struct xk_msg *due_one(struct peer_gen *g, xk_ns now)
{
	uint32_t j = xk_traffic_first(&g->times);
	struct xk_msg *m = peer_gen_frame(g, j);

	if (XK_LIKELY(m != NULL)) {
		xk_stamp_put(m->data + g->hdr_len, xk_traffic_due(&g->times, j), now);
		peer_gen_made(g, j, 1);
	} else {
		g->left[j]--;
		g->live -= g->left[j] == 0;
	}
	xk_traffic_next(&g->times, j);
	if (g->left[j] == 0)
		xk_traffic_leave(&g->times, j);
	else
		xk_traffic_wait(&g->times, j);
	return m;
}

/* At most n of those that are due; how many were. */
static unsigned due_burst(struct peer_gen *g, unsigned n)
{
	xk_ns now = xk_vp_clock(g->mr->task.vp);
	struct xk_msg *burst[MEM_BURST];
	unsigned taken = 0, made = 0;

	for (; taken < n && xk_traffic_first_due(&g->times) <= now; taken++) {
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
	g->due.when = xk_traffic_first_due(&g->times);
	if (g->due.when == XK_NS_NEVER)
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
	if (xk_traffic_open(&g->times, &c->arrivals, &st->trace, graph->seed, g->no, g->nconn, g->start) != XK_OK)
		return XK_E_NOMEM;
	for (uint32_t j = 0; j < g->nconn; j++)
		if (g->left[j] != 0)
			xk_traffic_wait(&g->times, j);
	xk_due_add(&g->due, &g->mr->task);
	return XK_OK;
}

void peer_due_stop(struct peer_gen *g)
{
	xk_due_remove(&g->due);
}

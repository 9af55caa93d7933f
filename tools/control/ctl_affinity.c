/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ctl_affinity.c - who ran what, and how long messages waited and were worked on.
 *
 * Counters are read beside those who write them, each whole; nobody is entered.
 */
#include "tools/control/ctl_show.h"
#include "runtime/upi/xk_app.h"
#include "runtime/upi/xk_part.h"

static void put_percentiles(json_t *o, const uint64_t *hist)
{
	static const struct { const char *name; double p; } of[] = {
		{ "p50_ns", .5 }, { "p90_ns", .9 }, { "p99_ns", .99 }, { "p999_ns", .999 },
	};

	for (unsigned i = 0; i < XK_ARRAY_LEN(of); i++)
		ctl_put(o, of[i].name, (uint64_t)(xk_hist_percentile(hist, of[i].p) + .5));
}

/* A row for each worker that may be chosen, or I/O thread; none where nobody is. */
int ctl_show_affinity(struct ctl_call *k)
{
	const struct xk_vpset *set = k->c->g->vps;
	unsigned first = set->fifo != NULL ? 0 : set->nworkers - set->arch.io_threads;
	json_t *rows = json_array();

	for (unsigned i = 0, n = xk_vpset_affinities(set); i < n; i++) {
		struct xk_affinity_counts c;
		json_t *o = json_object();

		xk_vpset_affinity_of(set, i, &c);
		ctl_put(o, "worker", first + i);
		ctl_put(o, "hits", c.hits);
		ctl_put(o, "moves", c.moves);
		ctl_put(o, "starts", c.starts);
		ctl_put(o, "code_hits", c.code_hits);
		ctl_put(o, "code_moves", c.code_moves);
		ctl_put(o, "away_ns", c.away_ns);
		put_percentiles(o, c.away);
		json_array_append_new(rows, o);
	}
	k->result = json_pack("{s:o}", "rows", rows);
	return k->result != NULL ? XK_OK : ctl_fail(k, "no-memory", "out of memory");
}

/* What the node's replicas have seen; false: it reads no stamps. */
static bool times_of(const struct xk_node *n, unsigned nvps, uint64_t hist[XK_TIMES][XK_HIST_PLACES], uint64_t sum[XK_TIMES])
{
	const struct xk_ops *ops = n->proto->ops;
	bool any = false;

	for (unsigned v = 0; ops->control != NULL && v < nvps; v++) {
		struct xk_app_times t;

		if (ops->control(n->rep[v], XK_CTL_APP_TIMES, &t, sizeof t) != (int)sizeof t)
			continue;
		any = true;
		for (unsigned i = 0; i < XK_TIMES; i++) {
			xk_hist_sum(hist[i], &t.hist[i], 1);
			sum[i] += xk_counter_read(t.sum[i]);
		}
	}
	return any;
}

/* Of each application that reads stamps: waiting, work, both. */
int ctl_show_times(struct ctl_call *k)
{
	static const char *const name[XK_TIMES] = { "queue", "exec", "delay" };
	const struct xk_graph *g = k->c->g;
	json_t *rows = json_array();

	for (unsigned i = 0; i < g->nnodes; i++) {
		uint64_t hist[XK_TIMES][XK_HIST_PLACES] = { { 0 } }, sum[XK_TIMES] = { 0 };

		if (g->node[i]->proto->offers != NULL || !times_of(g->node[i], g->vps->nvps, hist, sum))
			continue;
		for (unsigned t = 0; t < XK_TIMES; t++) {
			json_t *o = json_object();

			json_object_set_new(o, "node", ctl_string(g->node[i]->name));
			json_object_set_new(o, "time", json_string(name[t]));
			ctl_put(o, "messages", xk_hist_count(hist[t]));
			ctl_put(o, "sum_ns", sum[t]);
			put_percentiles(o, hist[t]);
			json_array_append_new(rows, o);
		}
	}
	k->result = json_pack("{s:o}", "rows", rows);
	return k->result != NULL ? XK_OK : ctl_fail(k, "no-memory", "out of memory");
}

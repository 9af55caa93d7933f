/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ctl_show.c - what is there: the graph, its processors, locks, classifiers, connections.
 *
 * An answer is an object, or one with "rows", an array of flat objects of one shape, so that
 * any client can make a table of it.  Only counters and what never changes are read here; who
 * must be inside a virtual processor is ctl_sess.c.
 */
#include "tools/control/ctl_priv.h"

#include <stdlib.h>
#include <unistd.h>

#include "runtime/base/xk_clock.h"
#include "runtime/classify/xk_classify.h"
#include "runtime/upi/xk_app.h"
#include "runtime/upi/xk_part.h"
#include "runtime/vp/xk_stage.h"
#include "tools/control/ctl_show.h"
#include "runtime/upi/xk_change.h"

static int give_rows(struct ctl_call *k, json_t *rows)
{
	k->result = json_pack("{s:o}", "rows", rows);
	return k->result != NULL ? XK_OK : ctl_fail(k, "no-memory", "out of memory");
}

static int show_graph(struct ctl_call *k)
{
	const struct xk_graph *g = k->c->g;
	json_t *rows = json_array();

	for (unsigned i = xk_graph_slots(g); i-- > 0;) {
		const struct xk_node *n = xk_graph_slot(g, i);
		uint64_t made = 0, gone = 0;
		json_t *o, *over;

		if (n == NULL)
			continue;
		o = json_object();
		over = json_array();
		for (unsigned d = 0; d < n->ndown; d++)
			json_array_append_new(over, ctl_string(n->down[d]->name));
		for (unsigned v = 0; v < g->vps->nvps; v++) {
			gone += xk_counter_read(n->rep[v]->nsess_gone);
			made += xk_counter_read(n->rep[v]->nsess_made);
		}
		json_object_set_new(o, "node", ctl_string(n->name));
		json_object_set_new(o, "protocol", json_string(n->proto->name));
		json_object_set_new(o, "over", over);
		ctl_put(o, "sessions", made - gone);
		ctl_put(o, "enables", xk_passive_count(&n->passive));
		json_object_set_new(o, "log", json_integer(xk_load_relaxed(&n->log.level)));
		json_object_set_new(o, "file", n->file ? ctl_string(n->file) : json_null());
		json_object_set_new(o, "line", n->file ? json_integer(n->line) : json_null());
		json_object_set_new(o, "late", json_boolean(n->late));
		json_array_append_new(rows, o);
	}
	return give_rows(k, rows);
}

static const char *entry_name(enum xk_entry e)
{
	return e == XK_ENTRY_OWN ? "own" : e == XK_ENTRY_LOCK ? "lock" : "thread";
}

static unsigned nodes_now(const struct xk_graph *g)
{
	unsigned n = 0;

	for (unsigned i = 0; i < xk_graph_slots(g); i++)
		n += xk_graph_slot(g, i) != NULL;
	return n;
}

static int show_runtime(struct ctl_call *k)
{
	const struct xk_vpset *set = k->c->g->vps;
	const struct xk_arch *a = &set->arch;
	json_t *o = json_object();
	char seed[24];

	json_object_set_new(o, "graph", ctl_string(k->c->g->name));
	ctl_put(o, "pid", (uint64_t)getpid());
	ctl_put(o, "seconds", (xk_clock_host() - k->c->began) / XK_SEC);
	json_object_set_new(o, "threading", json_string(a->name ? a->name : "custom"));
	json_object_set_new(o, "entry", json_string(entry_name(a->entry)));
	json_object_set_new(o, "lock", json_string(a->entry == XK_ENTRY_LOCK ? a->lock->name : "none"));
	json_object_set_new(o, "clock", json_string(k->c->is_virtual ? "virtual" : "real"));
	ctl_put(o, "clock_ns", xk_clock_read(&set->clock));
	ctl_put(o, "vps", set->nvps);
	ctl_put(o, "workers", set->nworkers);
	ctl_put(o, "nodes", nodes_now(k->c->g));
	ctl_put(o, "flows", xk_flowtab_count(k->c->g->flows));
	snprintf(seed, sizeof seed, "%llu", (unsigned long long)k->c->g->seed);
	json_object_set_new(o, "seed", json_string(seed));      /* 64 bits are more than JSON's numbers have */
	ctl_put(o, "burst", xk_load_relaxed(&a->burst));
	ctl_put(o, "quantum", xk_load_relaxed(&a->quantum));
	ctl_put(o, "spin_us", xk_load_relaxed(&a->spin_us));
	ctl_put(o, "clients", k->c->nclients);
	ctl_put(o, "blocks", xk_alloc_live());
	ctl_put(o, "block_bytes", xk_alloc_bytes());
	ctl_put(o, "shared_bytes", set->shared ? xk_shared_size(set->shared) : 0);
	k->result = o;
	return XK_OK;
}

static void put_stage(json_t *o, const struct xk_vp *vp)
{
	struct xk_stage_stats l;

	xk_stage_stats(vp, &l);
	ctl_put(o, "layer", l.layer);
	ctl_put(o, "taken_up", l.up);
	ctl_put(o, "taken_down", l.down);
	ctl_put(o, "forwarded", l.forwarded);
	ctl_put(o, "backpressure", l.backpressure);
	ctl_put(o, "sleeps", l.sleeps);
	ctl_put(o, "longest_queue", l.most);
	ctl_put(o, "full_ns", l.full_ns);
	ctl_put(o, "empty_ns", l.empty_ns);
}

/* Where layers have threads, each stage is a row. */
static int show_vps(struct ctl_call *k)
{
	const struct xk_vpset *set = k->c->g->vps;
	json_t *rows = json_array();

	for (unsigned i = 0; i < set->nall; i++) {
		const struct xk_vp *vp = set->all[i];
		json_t *o = json_object();

		ctl_put(o, "vp", vp->no);
		ctl_put(o, "worker", xk_worker_of(vp));
		if (set->pipeline != NULL)
			put_stage(o, vp);
		ctl_put(o, "units", xk_counter_read(vp->units));
		ctl_put(o, "messages", xk_counter_read(vp->messages));
		ctl_put(o, "handed_over", xk_counter_read(vp->handed_over));
		ctl_put(o, "posted_out", xk_counter_read(vp->posted_out));
		ctl_put(o, "borrowed", xk_counter_read(vp->borrowed));
		ctl_put(o, "direct_handoffs", xk_counter_read(vp->carried));
		ctl_put(o, "inbox_drops", xk_counter_read(vp->inbox_drops));
		ctl_put(o, "wrong_vp", xk_counter_read(vp->wrong_vp));
		json_array_append_new(rows, o);
	}
	return give_rows(k, rows);
}

/* node: whose locks they are, NULL: no node's. */
static void lock_row(json_t *rows, const char *class, const struct xk_node *node, unsigned i, const char *policy,
		     const struct xk_lock_counts *c)
{
	json_t *o = json_object();

	json_object_set_new(o, "class", json_string(class));
	json_object_set_new(o, "node", node != NULL ? ctl_string(node->name) : json_null());
	ctl_put(o, "lock", i);
	json_object_set_new(o, "policy", json_string(policy));
	ctl_put(o, "taken", c->taken);
	ctl_put(o, "contended", c->contended);
	ctl_put(o, "wait_ns", xk_lock_waited_ns(c));
	ctl_put(o, "hold_ns", xk_lock_held_ns(c));
	json_array_append_new(rows, o);
}

/* Of the layers that have them: their map's, and those of their sessions together. */
static void object_rows(json_t *rows, const struct xk_graph *g)
{
	struct xk_object_locks l;

	for (unsigned i = 0; i < g->nnodes; i++) {
		xk_objects_read(g->node[i], &l);
		if (l.maps == 0)
			continue;
		lock_row(rows, "map", g->node[i], 0, g->vps->arch.lock->name, &l.map);
		lock_row(rows, "session", g->node[i], 0, g->vps->arch.lock->name, &l.session);
	}
}

/* The table's is one lock; each virtual processor counts what it did with it. */
static int show_locks(struct ctl_call *k)
{
	const struct xk_vpset *set = k->c->g->vps;
	struct xk_lock_counts c, table = { 0 };
	json_t *rows = json_array();

	for (unsigned i = 0; set->arch.entry == XK_ENTRY_LOCK && i < set->nvps; i++) {
		xk_lockstat_read(&set->vp[i]->lockstat, &c);
		lock_row(rows, xk_vp_is_io(set->vp[i]) ? "io_thread" : "vp", NULL, i, set->arch.lock->name, &c);
	}
	for (unsigned i = 0; set->arch.table != NULL && i < set->nvps; i++) {
		xk_lockstat_read(&set->vp[i]->tablestat, &c);
		xk_lock_counts_add(&table, &c, 1);
	}
	if (set->arch.table != NULL)
		lock_row(rows, "table", NULL, 0, set->arch.table->name, &table);
	object_rows(rows, k->c->g);
	return give_rows(k, rows);
}

static int show_classifiers(struct ctl_call *k)
{
	json_t *rows = json_array();

	for (unsigned i = 0; i < k->c->g->nnodes; i++) {
		const struct xk_node *n = k->c->g->node[i];
		json_t *o;

		if (n->classifier == NULL)
			continue;
		o = json_object();
		json_object_set_new(o, "node", ctl_string(n->name));
		json_object_set_new(o, "classifier", json_string(n->classifier->ops->name));
		json_object_set_new(o, "why", ctl_string(n->classifier->why));
		json_array_append_new(rows, o);
	}
	return give_rows(k, rows);
}

/* ---- connections of applications --------------------------------------------------------- */

static bool ask(struct xk_rep *r, struct xk_app_counts *a)
{
	const struct xk_ops *ops = r->node->proto->ops;

	*a = (struct xk_app_counts){ 0 };
	return r->node->proto->offers == NULL && ops->control != NULL &&
	       ops->control(r, XK_CTL_APP_COUNTS, a, sizeof *a) == (int)sizeof *a;
}

static json_t *conn_json(const struct xk_rep *r, const struct xk_app_counts *a, uint64_t i)
{
	json_t *o = json_object();

	json_object_set_new(o, "node", ctl_string(r->node->name));
	ctl_put(o, "vp", r->vp->no);
	ctl_put(o, "connection", a->conn != NULL ? xk_counter_read(a->conn[i]) : i);
	ctl_put(o, "messages", xk_counter_read(a->messages[i]));
	ctl_put(o, "bytes", xk_counter_read(a->bytes[i]));
	return o;
}

/* The cursor is how many connections have been shown; their order stays, new ones of a replica
 * come behind its old ones. */
static int show_connections(struct ctl_call *k)
{
	struct xk_graph *g = k->c->g;
	struct xk_node *only = NULL;
	unsigned long long from[3] = { 0, 0, 0 };   /* node, VP, number */
	json_t *rows;
	char next[64];

	if (k->a.node != NULL && (only = ctl_node(k, k->a.node)) == NULL)
		return XK_E_NOENT;
	if (!ctl_cursor(k->a.cursor, from))
		return ctl_fail(k, "bad-argument", "'cursor' is not one of ours");
	rows = json_array();
	for (unsigned i = (unsigned)from[0]; i < xk_graph_slots(g); i++) {
		for (unsigned v = i == from[0] ? (unsigned)from[1] : 0; xk_graph_slot(g, i) != NULL && v < g->vps->nvps; v++) {
			struct xk_app_counts a;

			if ((only != NULL && only != g->node[i]) || !ask(g->node[i]->rep[v], &a))
				continue;
			for (uint64_t c = i == from[0] && v == from[1] ? from[2] : 0; c < a.n; c++) {
				if (json_array_size(rows) == k->a.limit) {
					snprintf(next, sizeof next, "%u.%u.%llu", i, v, (unsigned long long)c);
					k->result = json_pack("{s:o, s:s}", "rows", rows, "cursor", next);
					return XK_OK;
				}
				json_array_append_new(rows, conn_json(g->node[i]->rep[v], &a, c));
			}
		}
	}
	return give_rows(k, rows);
}

int ctl_cmd_show(struct ctl_call *k)
{
	/* ORDER SHOWS */
	static int (*const show[])(struct ctl_call *) = {
		show_graph, show_runtime, ctl_show_params, show_vps, ctl_show_sessions, show_locks, show_classifiers, show_connections,
		ctl_show_affinity, ctl_show_times
	};

	return show[k->a.what](k);
}

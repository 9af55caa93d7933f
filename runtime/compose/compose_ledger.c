/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * compose_ledger.c - reads what a machine file says of graphs; see xk_ledger.h.
 *
 * Invariant: a machine that is handed out has every value that the file needs, finite, not negative,
 * with a source.
 */
#include "runtime/compose/xk_ledger.h"
#include "runtime/compose/xk_machine_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/mem/xk_alloc.h"

#define COST_MAX 1e9             /* us: more than a quarter of an hour for one thing is a mistake */

/* ORDER COSTS */
static const char *const costs[] = {
	"message", "unit", "lock", "lock_moved", "handover", "wake", "context", "yield", "slice", NULL
};
enum { MESSAGE, UNIT, LOCK, LOCK_MOVED, HANDOVER, WAKE, CONTEXT, YIELD, SLICE, COSTS };
/* Those that a machine may be without.  ORDER OPTIONAL */
static const char *const optional[] = { "lock_handed", "unlock", "lookup", "sleep", "hop", "sleep_other", "unit_moved",
					"lock_spin", "vp_moved", "message_moved", "byte_moved", "stack_moved", "alone", "pooled", NULL };
enum { LOCK_HANDED, UNLOCK, LOOKUP, SLEEP, HOP, SLEEP_OTHER, UNIT_MOVED, LOCK_SPIN, VP_MOVED, MESSAGE_MOVED, BYTE_MOVED, STACK_MOVED,
       ALONE, POOLED, OPTIONAL };
/* From `moved` on where one of the nodes has them, then all.  ORDER OF_NODE */
static const char *const of_node[] = { "up", "down", "byte", "moved", "bus", "l1_cold", "memory_cold", "protocol_moved", NULL };
enum { NODE_MOVED = 3, NODE_BUS, NODE_L1_COLD, NODE_MEMORY_COLD, NODE_PROTOCOL_MOVED, OF_NODE };
#define IN_GRAPH (COSTS + OPTIONAL + 3u)

/* Of `cache`, as models have them; positive: 0 is nothing that can be divided by. */
static const struct { const char *key; size_t at; bool positive, negative; } of_cache[] = {
	{ "references", offsetof(struct xk_cache_machine, references), false, false },
	{ "l1_lines", offsetof(struct xk_cache_machine, level[0].lines), true, false },
	{ "l1_line", offsetof(struct xk_cache_machine, level[0].line), true, false },
	{ "l1_share", offsetof(struct xk_cache_machine, level[0].share), false, false },
	{ "l2_lines", offsetof(struct xk_cache_machine, level[1].lines), true, false },
	{ "l2_line", offsetof(struct xk_cache_machine, level[1].line), true, false },
	{ "l2_share", offsetof(struct xk_cache_machine, level[1].share), false, false },
	{ "footprint_w", offsetof(struct xk_cache_machine, w), false, false },
	{ "footprint_a", offsetof(struct xk_cache_machine, a), false, false },
	{ "footprint_b", offsetof(struct xk_cache_machine, b), false, false },
	{ "footprint_log_d", offsetof(struct xk_cache_machine, log_d), false, true },
};
#define OF_CACHE XK_ARRAY_LEN(of_cache)

struct xk_ledger {
	struct xk_spec    *spec;
	struct xk_errs    *e;
	struct xk_machine  m;
	struct xk_machine_node  *node;
	struct xk_machine_value *value;
	struct xk_cache_machine  cache;
	unsigned           room;
	bool               has[OF_NODE];     /* do nodes say so? */
};

static const char *last_of(const char *const *path)
{
	while (path[1] != NULL)
		path++;
	return path[0];
}

/* The last of path, of tab, in microseconds; complained about, 0. */
static double cost_of(struct xk_ledger *l, const struct xk_value *tab, const char *const *path, const char **source)
{
	struct xk_sourced us;

	if (!xk_machine_value(l->spec, l->e, tab, path, &us))
		return 0;
	if (!isfinite(us.v) || us.v < 0 || us.v > COST_MAX) {
		xk_spec_bench_error(l->spec, l->e, path, "'%s' is %s microseconds, which is no cost", last_of(path), us.text);
		return 0;
	}
	*source = us.source;
	return us.v;
}

/* Kept to be shown, under its path without the first, which is `graph`. */
static void keep(struct xk_ledger *l, const char *const *path, struct xk_machine_value v)
{
	char key[200];
	size_t n = 0;

	key[0] = '\0';
	for (unsigned i = 1; path[i] != NULL; i++)
		n += (size_t)snprintf(key + n, sizeof key - n, "%s%.60s", i > 1 ? "." : "", path[i]);
	xk_assert(l->m.nvalues < l->room);
	v.key = xk_strdup(key);
	l->value[l->m.nvalues++] = v;
}

/* As cost_of, and kept. */
static double read_cost(struct xk_ledger *l, const struct xk_value *tab, const char *const *path)
{
	const char *source = "";
	double us = cost_of(l, tab, path, &source);

	keep(l, path, (struct xk_machine_value){ .source = source, .value = us });
	return us;
}

/* In what order locks are had, where the machine says so. */
static void read_lock_order(struct xk_ledger *l, const struct xk_value *g)
{
	const char *path[] = { "graph", "lock_order", NULL };
	struct xk_sourced got;

	if (xk_value_get(g, path[1]) == NULL || !xk_machine_word(l->spec, l->e, g, path, &got))
		return;
	l->m.sync.locks_in_turn = strcmp(got.text, "arrival") == 0;
	if (!l->m.sync.locks_in_turn && strcmp(got.text, "policy") != 0)
		xk_spec_bench_error(l->spec, l->e, path, "'lock_order' is \"%.60s\" and needs to be \"policy\" (each lock's own) or "
				    "\"arrival\" (first come, first served)", got.text);
	keep(l, path, (struct xk_machine_value){ .source = got.source, .text = got.text });
}

/* ---- caches ------------------------------------------------------------------------------- */

static void read_cache_number(struct xk_ledger *l, const struct xk_value *tab, unsigned i)
{
	const char *key = of_cache[i].key, *path[] = { "graph", "cache", key, NULL };
	struct xk_sourced got;

	if (!xk_machine_value(l->spec, l->e, tab, path, &got))
		return;
	if (!isfinite(got.v) || (got.v < 0 && !of_cache[i].negative))
		xk_spec_bench_error(l->spec, l->e, path, "'%s' is %s, which is no number of anything", key, got.text);
	else if (got.v == 0 && of_cache[i].positive)
		xk_spec_bench_error(l->spec, l->e, path, "'%s' needs to be above 0", key);
	*(double *)((char *)&l->cache + of_cache[i].at) = got.v;
	keep(l, path, (struct xk_machine_value){ .source = got.source, .value = got.v, .bare = true });
}

static void read_cache(struct xk_ledger *l, const struct xk_value *tab)
{
	const char *names[OF_CACHE], *path[] = { "graph", "cache", NULL };

	if (tab->kind != XK_V_MAP) {
		xk_spec_bench_error(l->spec, l->e, path, "'cache' needs a table: cache = { references = ..., l1_lines = ..., ... }");
		return;
	}
	for (unsigned i = 0; i < OF_CACHE; i++)
		names[i] = of_cache[i].key;
	xk_machine_keys(l->spec, l->e, tab, path, names, OF_CACHE);
	for (unsigned i = 0; i < OF_CACHE; i++)
		read_cache_number(l, tab, i);
	l->m.cache = &l->cache;
}

/* ---- nodes -------------------------------------------------------------------------------- */

static uint64_t ps_of(double us) { return (uint64_t)(us * 1e6 + 0.5); }

static void read_node(struct xk_ledger *l, const struct xk_value *nodes, unsigned i)
{
	const char *path[] = { "graph", "nodes", nodes->key[i].text, NULL, NULL };
	struct xk_machine_node *n = &l->node[l->m.nnodes];
	uint64_t *const to[OF_NODE] = { &n->message[0], &n->message[1], &n->byte, &n->moved, &n->bus, &n->l1_cold, &n->memory_cold,
					&n->protocol_moved };

	if (nodes->key[i].kind != XK_V_TEXT || nodes->item[i].kind != XK_V_MAP) {
		path[2] = nodes->key[i].kind == XK_V_TEXT ? path[2] : NULL;
		xk_spec_bench_error(l->spec, l->e, path, "nodes need protocols by name, and their costs: udp = { up = ..., "
				    "down = ..., byte = ... }");
		return;
	}
	xk_machine_keys(l->spec, l->e, &nodes->item[i], path, of_node, OF_NODE);
	n->proto = path[2];
	for (unsigned k = 0; k < OF_NODE; k++) {
		path[3] = of_node[k];
		if (k >= NODE_MOVED && !l->has[k])
			continue;
		*to[k] = ps_of(read_cost(l, &nodes->item[i], path));
	}
	path[3] = of_node[NODE_MEMORY_COLD];
	if (n->l1_cold > n->memory_cold && xk_value_get(&nodes->item[i], path[3]) != NULL)
		xk_spec_bench_error(l->spec, l->e, path, "%.60s: a session's state is cheaper out of both caches than out of the first "
				    "level", n->proto);
	l->m.nnodes++;
}

static xk_ns ns_of(double us) { return (xk_ns)(us * 1e3 + 0.5); }

static void take_costs(struct xk_ledger *l, const double *us, const double *more)
{
	l->m.message = ns_of(us[MESSAGE]);
	l->m.unit = ns_of(us[UNIT]);
	l->m.unit_moved = ns_of(more[UNIT_MOVED]);
	l->m.vp_moved = ns_of(more[VP_MOVED]);
	l->m.stack_moved = ns_of(more[STACK_MOVED]);
	l->m.alone = ns_of(more[ALONE]);
	l->m.pooled = ns_of(more[POOLED]);
	l->m.message_moved = ps_of(more[MESSAGE_MOVED]);
	l->m.byte_moved = ps_of(more[BYTE_MOVED]);
	l->m.sync = (struct xk_sim_costs){
		.lock_local = ns_of(us[LOCK]), .lock_moved = ns_of(us[LOCK_MOVED]), .handover = ns_of(us[HANDOVER]),
		.wake = ns_of(us[WAKE]), .context = ns_of(us[CONTEXT]), .yield = ns_of(us[YIELD]), .slice = ns_of(us[SLICE]),
		.lock_handed = ns_of(more[LOCK_HANDED]), .unlock = ns_of(more[UNLOCK]), .lookup = ns_of(more[LOOKUP]),
		.lock_spin = ns_of(more[LOCK_SPIN]), .sleep = ns_of(more[SLEEP]), .hop = ns_of(more[HOP]), .sleep_other = ns_of(more[SLEEP_OTHER]),
	};
}

/* Does a node have this key? */
static bool has(const struct xk_value *nodes, const char *key)
{
	for (unsigned i = 0; nodes != NULL && nodes->kind == XK_V_MAP && i < nodes->n; i++)
		if (nodes->item[i].kind == XK_V_MAP && xk_value_get(&nodes->item[i], key) != NULL)
			return true;
	return false;
}

/* What nodes may be without; the two of a session's state go together, and need to be told what displaces it. */
static void look_at_nodes(struct xk_ledger *l, const struct xk_value *g, const struct xk_value *nodes)
{
	bool state;

	for (unsigned k = NODE_MOVED; k < OF_NODE; k++)
		l->has[k] = has(nodes, of_node[k]);
	state = l->has[NODE_L1_COLD] || l->has[NODE_MEMORY_COLD];
	l->has[NODE_L1_COLD] = l->has[NODE_MEMORY_COLD] = state;
	if (state && xk_value_get(g, "cache") == NULL)
		xk_spec_bench_error(l->spec, l->e, (const char *[]){ "graph", NULL }, "'cache' is needed where nodes have '%s' and '%s': "
				    "how other work displaces what is cached", of_node[NODE_L1_COLD], of_node[NODE_MEMORY_COLD]);
}

static void read_nodes(struct xk_ledger *l, const struct xk_value *g)
{
	const struct xk_value *nodes = xk_value_get(g, "nodes");

	if (nodes != NULL && nodes->kind != XK_V_MAP)
		xk_spec_bench_error(l->spec, l->e, (const char *[]){ "graph", "nodes", NULL }, "'nodes' needs a table: nodes = { udp = "
				    "{ up = ..., down = ..., byte = ... } }");
	look_at_nodes(l, g, nodes);
	if (nodes == NULL && (l->m.message_moved | l->m.byte_moved) != 0)
		xk_spec_bench_error(l->spec, l->e, (const char *[]){ "graph", NULL }, "'nodes' are needed where messages that move cost: "
				    "whose operations touch them");
	for (unsigned i = 0; nodes != NULL && nodes->kind == XK_V_MAP && i < nodes->n; i++)
		read_node(l, nodes, i);
}

static void read_graph(struct xk_ledger *l, const struct xk_value *g)
{
	const char *names[IN_GRAPH], *path[] = { "graph", NULL, NULL };
	const struct xk_value *cache = xk_value_get(g, "cache");
	double us[COSTS], more[OPTIONAL];

	memcpy(names, costs, COSTS * sizeof *names);
	memcpy(names + COSTS, optional, OPTIONAL * sizeof *names);
	names[COSTS + OPTIONAL] = "nodes";
	names[COSTS + OPTIONAL + 1] = "cache";
	names[COSTS + OPTIONAL + 2] = "lock_order";
	xk_machine_keys(l->spec, l->e, g, path, names, IN_GRAPH);
	for (unsigned i = 0; i < COSTS; i++) {
		path[1] = costs[i];
		us[i] = read_cost(l, g, path);
	}
	for (unsigned i = 0; i < OPTIONAL; i++) {
		path[1] = optional[i];
		if (xk_value_get(g, optional[i]) != NULL)
			more[i] = read_cost(l, g, path);
		else
			more[i] = i == LOCK_HANDED ? us[LOCK_MOVED] : 0;
	}
	take_costs(l, us, more);
	read_lock_order(l, g);
	if (cache != NULL)
		read_cache(l, cache);
	read_nodes(l, g);
}

static int read_machine(struct xk_ledger *l, const char *file)
{
	const struct xk_value *tab = xk_machine_table(l->spec, l->e, file), *g, *nodes, *doc;

	if (tab == NULL)
		return XK_E_INVAL;
	g = xk_value_get(tab, "graph");
	if (g == NULL || g->kind != XK_V_MAP) {
		xk_spec_bench_error(l->spec, l->e, NULL, "it says nothing of graphs (graph = { message = ..., ... }): it is for vp-sim's "
				    "models alone");
		return XK_E_INVAL;
	}
	nodes = xk_value_get(g, "nodes");
	l->room = COSTS + OPTIONAL + 1u + OF_CACHE + OF_NODE * (nodes != NULL && nodes->kind == XK_V_MAP ? nodes->n : 0);
	l->value = xk_alloc(l->room * sizeof *l->value);
	l->node = xk_alloc((l->room + 1) * sizeof *l->node);
	if (l->value == NULL || l->node == NULL)
		return XK_E_NOMEM;
	doc = xk_value_get(tab, "doc");
	l->m.name = xk_spec_name(l->spec);
	l->m.doc = doc != NULL && doc->kind == XK_V_TEXT ? doc->text : "";
	l->m.node = l->node;
	l->m.value = l->value;
	read_graph(l, g);
	return XK_OK;
}

int xk_ledger_load(struct xk_ledger **out, const char *file, const char *const *args, unsigned nargs, struct xk_errs *e)
{
	struct xk_compose_opts opts = { .args = args, .nargs = nargs };
	unsigned before = xk_errs_count(e);
	struct xk_ledger *l = *out = xk_alloc(sizeof *l);
	int err = l != NULL ? XK_OK : XK_E_NOMEM;

	if (err == XK_OK) {
		l->e = e;
		err = xk_spec_load(&l->spec, file, &opts, e);
	}
	if (err == XK_OK && xk_spec_check(l->spec, e, NULL) == XK_OK)
		err = read_machine(l, file);
	if (err == XK_E_NOMEM)
		xk_errs_add(e, file, 0, 0, "out of memory");
	return xk_errs_count(e) == before ? XK_OK : err != XK_OK ? err : XK_E_INVAL;
}

void xk_ledger_free(struct xk_ledger *l)
{
	if (l == NULL)
		return;
	for (unsigned i = 0; i < l->m.nvalues; i++)
		xk_free((char *)(uintptr_t)l->value[i].key);
	xk_free(l->value);
	xk_free(l->node);
	xk_spec_free(l->spec);
	xk_free(l);
}

const struct xk_machine *xk_ledger_machine(const struct xk_ledger *l) { return &l->m; }
const struct xk_spec *xk_ledger_spec(const struct xk_ledger *l) { return l->spec; }

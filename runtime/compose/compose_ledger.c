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
static const char *const optional[] = { "lock_handed", "unlock", "lookup", "sleep", "hop", "sleep_other", NULL };
enum { LOCK_HANDED, UNLOCK, LOOKUP, SLEEP, HOP, SLEEP_OTHER, OPTIONAL };
/* The last two where one of the nodes has them, then all. */
static const char *const of_node[] = { "up", "down", "byte", "moved", "bus", NULL };
enum { NODE_MOVED = 3, NODE_BUS, OF_NODE };
#define IN_GRAPH (COSTS + OPTIONAL + 1u)

struct xk_ledger {
	struct xk_spec    *spec;
	struct xk_errs    *e;
	struct xk_machine  m;
	struct xk_machine_node  *node;
	struct xk_machine_value *value;
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

/* The same, kept to be shown. */
static double read_cost(struct xk_ledger *l, const struct xk_value *tab, const char *const *path)
{
	const char *source = "";
	double us = cost_of(l, tab, path, &source);
	char key[200];
	size_t n = 0;

	key[0] = '\0';
	for (unsigned i = 1; path[i] != NULL; i++)     /* the first is `graph` */
		n += (size_t)snprintf(key + n, sizeof key - n, "%s%.60s", i > 1 ? "." : "", path[i]);
	xk_assert(l->m.nvalues < l->room);
	l->value[l->m.nvalues++] = (struct xk_machine_value){ .key = xk_strdup(key), .source = source, .value = us };
	return us;
}

static void read_node(struct xk_ledger *l, const struct xk_value *nodes, unsigned i)
{
	const char *path[] = { "graph", "nodes", nodes->key[i].text, NULL, NULL };
	struct xk_machine_node *n = &l->node[l->m.nnodes];
	uint64_t *const to[] = { &n->message[0], &n->message[1], &n->byte, &n->moved, &n->bus };

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
		*to[k] = (uint64_t)(read_cost(l, &nodes->item[i], path) * 1e6 + 0.5);
	}
	l->m.nnodes++;
}

static xk_ns ns_of(double us) { return (xk_ns)(us * 1e3 + 0.5); }

static void take_costs(struct xk_ledger *l, const double *us, const double *more)
{
	l->m.message = ns_of(us[MESSAGE]);
	l->m.unit = ns_of(us[UNIT]);
	l->m.sync = (struct xk_sim_costs){
		.lock_local = ns_of(us[LOCK]), .lock_moved = ns_of(us[LOCK_MOVED]), .handover = ns_of(us[HANDOVER]),
		.wake = ns_of(us[WAKE]), .context = ns_of(us[CONTEXT]), .yield = ns_of(us[YIELD]), .slice = ns_of(us[SLICE]),
		.lock_handed = ns_of(more[LOCK_HANDED]), .unlock = ns_of(more[UNLOCK]), .lookup = ns_of(more[LOOKUP]),
		.sleep = ns_of(more[SLEEP]), .hop = ns_of(more[HOP]), .sleep_other = ns_of(more[SLEEP_OTHER]),
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

static void read_graph(struct xk_ledger *l, const struct xk_value *g)
{
	const char *names[IN_GRAPH], *path[] = { "graph", NULL, NULL };
	const struct xk_value *nodes = xk_value_get(g, "nodes");
	double us[COSTS], more[OPTIONAL];

	memcpy(names, costs, COSTS * sizeof *names);
	memcpy(names + COSTS, optional, OPTIONAL * sizeof *names);
	names[COSTS + OPTIONAL] = "nodes";
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
	path[1] = "nodes";
	if (nodes != NULL && nodes->kind != XK_V_MAP)
		xk_spec_bench_error(l->spec, l->e, path, "'nodes' needs a table: nodes = { udp = { up = ..., down = ..., "
				    "byte = ... } }");
	for (unsigned k = NODE_MOVED; k < OF_NODE; k++)
		l->has[k] = has(nodes, of_node[k]);
	for (unsigned i = 0; nodes != NULL && nodes->kind == XK_V_MAP && i < nodes->n; i++)
		read_node(l, nodes, i);
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
	l->room = COSTS + OPTIONAL + OF_NODE * (nodes != NULL && nodes->kind == XK_V_MAP ? nodes->n : 0);
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

int xk_ledger_load(struct xk_ledger **out, const char *file, struct xk_errs *e)
{
	struct xk_compose_opts opts = { 0 };
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

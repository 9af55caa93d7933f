/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * compose_ledger.c - reads what a machine file says of graphs; see xk_ledger.h.
 *
 * Invariant: a machine that is handed out has every value that the file needs, finite, not negative,
 * with a source.
 */
#include "runtime/compose/xk_ledger.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/mem/xk_alloc.h"

#define COST_MAX 1e9             /* us: more than a quarter of an hour for one thing is a mistake */

struct xk_ledger {
	struct xk_spec    *spec;
	struct xk_errs    *e;
	struct xk_machine  m;
	struct xk_machine_node  *node;
	struct xk_machine_value *value;
	unsigned           room;
};

/* ORDER COSTS */
static const char *const costs[] = {
	"message", "unit", "lock", "lock_moved", "handover", "wake", "context", "yield", "slice", NULL
};
enum { MESSAGE, UNIT, LOCK, LOCK_MOVED, HANDOVER, WAKE, CONTEXT, YIELD, SLICE, COSTS };
static const char *const of_node[] = { "up", "down", "byte", NULL };
#define IN_GRAPH 11u             /* costs, nodes, and the end */

static void unknown(const struct xk_ledger *l, const char *const *path, const char *key, const char *const *names,
		    unsigned n)
{
	const char *near = xk_errs_suggest(key, names, n);

	xk_spec_bench_error(l->spec, l->e, path, "unknown parameter '%.60s'%s%s%s", key,
			    near != NULL ? " (did you mean '" : "", near != NULL ? near : "", near != NULL ? "'?)" : "");
}

/* Complains of what stands in tab beside these names. */
static void check_keys(const struct xk_ledger *l, const struct xk_value *tab, const char *const *path, unsigned depth,
		       const char *const *names, unsigned n)
{
	const char *at[6] = { NULL };

	memcpy(at, path, depth * sizeof *at);
	for (unsigned i = 0; i < tab->n; i++) {
		const char *key = tab->key[i].kind == XK_V_TEXT ? tab->key[i].text : NULL;
		unsigned k = 0;

		while (key != NULL && k < n && strcmp(names[k], key) != 0)
			k++;
		if (key != NULL && k < n)
			continue;
		at[depth] = key;
		if (key != NULL)
			unknown(l, at, key, names, n);
		else
			xk_spec_bench_error(l->spec, l->e, at, "a value stands here without a name");
	}
}

/* The number that stands in the table without a name. */
static const struct xk_value *number_of(const struct xk_value *v)
{
	for (unsigned i = 0; v->kind == XK_V_MAP && i < v->n; i++)
		if (v->key[i].kind == XK_V_INT && strcmp(v->key[i].text, "1") == 0)
			return v->item[i].kind == XK_V_INT || v->item[i].kind == XK_V_FLOAT ? &v->item[i] : NULL;
	return NULL;
}

/* The last of path, of tab, in microseconds; complained about, 0. */
static double cost_of(struct xk_ledger *l, const struct xk_value *tab, const char *const *path, unsigned depth,
		      const char **source)
{
	const char *name = path[depth - 1];
	const struct xk_value *v = xk_value_get(tab, name), *number, *from;
	const char *above[6] = { NULL };
	double us;

	memcpy(above, path, (depth - 1) * sizeof *above);
	if (v == NULL) {
		xk_spec_bench_error(l->spec, l->e, above, "'%s' is needed: %s = { 1.5, source = \"where it is from\" }", name, name);
		return 0;
	}
	number = number_of(v);
	from = v->kind == XK_V_MAP ? xk_value_get(v, "source") : NULL;
	if (number == NULL || from == NULL || from->kind != XK_V_TEXT) {
		if (v->kind != XK_V_POISON)
			xk_spec_bench_error(l->spec, l->e, path,
					    "'%s' needs a number and its source: { 1.5, source = \"where it is from\" }", name);
		return 0;
	}
	us = strtod(number->text, NULL);
	if (!isfinite(us) || us < 0 || us > COST_MAX) {
		xk_spec_bench_error(l->spec, l->e, path, "'%s' is %s microseconds, which is no cost", name, number->text);
		return 0;
	}
	*source = from->text;
	return us;
}

/* The same, kept to be shown. */
static double read_cost(struct xk_ledger *l, const struct xk_value *tab, const char *const *path, unsigned depth)
{
	const char *source = "";
	double us = cost_of(l, tab, path, depth, &source);
	char key[200];
	size_t n = 0;

	key[0] = '\0';
	for (unsigned i = 1; i < depth; i++)     /* the first is `graph` */
		n += (size_t)snprintf(key + n, sizeof key - n, "%s%.60s", i > 1 ? "." : "", path[i]);
	xk_assert(l->m.nvalues < l->room);
	l->value[l->m.nvalues++] = (struct xk_machine_value){ .key = xk_strdup(key), .source = source, .value = us };
	return us;
}

static void read_node(struct xk_ledger *l, const struct xk_value *nodes, unsigned i)
{
	const char *path[] = { "graph", "nodes", nodes->key[i].text, NULL, NULL };
	struct xk_machine_node *n = &l->node[l->m.nnodes];
	uint64_t *const to[] = { &n->message[0], &n->message[1], &n->byte };

	if (nodes->key[i].kind != XK_V_TEXT || nodes->item[i].kind != XK_V_MAP) {
		path[2] = nodes->key[i].kind == XK_V_TEXT ? path[2] : NULL;
		xk_spec_bench_error(l->spec, l->e, path, "nodes need protocols by name, and their costs: udp = { up = ..., "
				    "down = ..., byte = ... }");
		return;
	}
	check_keys(l, &nodes->item[i], path, 3, of_node, 3);
	n->proto = path[2];
	for (unsigned k = 0; of_node[k] != NULL; k++) {
		path[3] = of_node[k];
		*to[k] = (uint64_t)(read_cost(l, &nodes->item[i], path, 4) * 1e6 + 0.5);
	}
	l->m.nnodes++;
}

static xk_ns ns_of(double us) { return (xk_ns)(us * 1e3 + 0.5); }

static void take_costs(struct xk_ledger *l, const double *us)
{
	l->m.message = ns_of(us[MESSAGE]);
	l->m.unit = ns_of(us[UNIT]);
	l->m.sync = (struct xk_sim_costs){
		.lock_local = ns_of(us[LOCK]), .lock_moved = ns_of(us[LOCK_MOVED]), .handover = ns_of(us[HANDOVER]),
		.wake = ns_of(us[WAKE]), .context = ns_of(us[CONTEXT]), .yield = ns_of(us[YIELD]), .slice = ns_of(us[SLICE]),
	};
}

static void read_graph(struct xk_ledger *l, const struct xk_value *g)
{
	const char *names[IN_GRAPH], *path[] = { "graph", NULL, NULL };
	const struct xk_value *nodes = xk_value_get(g, "nodes");
	double us[COSTS];

	memcpy(names, costs, COSTS * sizeof *names);
	names[COSTS] = "nodes";
	check_keys(l, g, path, 1, names, COSTS + 1);
	for (unsigned i = 0; i < COSTS; i++) {
		path[1] = costs[i];
		us[i] = read_cost(l, g, path, 2);
	}
	take_costs(l, us);
	path[1] = "nodes";
	if (nodes != NULL && nodes->kind != XK_V_MAP)
		xk_spec_bench_error(l->spec, l->e, path, "'nodes' needs a table: nodes = { udp = { up = ..., down = ..., "
				    "byte = ... } }");
	for (unsigned i = 0; nodes != NULL && nodes->kind == XK_V_MAP && i < nodes->n; i++)
		read_node(l, nodes, i);
}

static int read_machine(struct xk_ledger *l, const char *file)
{
	const struct xk_value *tab = xk_spec_machine(l->spec), *g, *nodes, *doc;

	if (tab == NULL) {
		xk_errs_add(l->e, file, 0, 0, "describes a %s, not a machine (a machine file returns "
			    "machine \"name\" { ... })", xk_spec_word(l->spec));
		return XK_E_INVAL;
	}
	g = xk_value_get(tab, "graph");
	if (g == NULL || g->kind != XK_V_MAP) {
		xk_spec_bench_error(l->spec, l->e, NULL, "it says nothing of graphs (graph = { message = ..., ... }): it is for vp-sim's "
				    "models alone");
		return XK_E_INVAL;
	}
	nodes = xk_value_get(g, "nodes");
	l->room = COSTS + 3 * (nodes != NULL && nodes->kind == XK_V_MAP ? nodes->n : 0);
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

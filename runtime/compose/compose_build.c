/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * compose_build.c - the whole check, and the way from a checked specification
 * to a graph.
 *
 * The check parses every node's configuration and keeps it for show; building
 * parses again into memory that the graph takes over, so one specification can
 * be built more than once.
 */
#include "runtime/base/xk_param_value.h"
#include "runtime/compose/compose_priv.h"
#include "runtime/compose/xk_ledger.h"
#include "runtime/upi/xk_part.h"

#include <string.h>

#include "runtime/mem/xk_mem.h"

/* ---- check --------------------------------------------------------------------- */

static void check_nodes(struct xk_spec *s, struct xk_errs *e)
{
	for (unsigned i = 0; i < s->nnodes && !xk_errs_is_cut(e); i++)
		if (s->node[i].conf == NULL)
			s->node[i].conf = check_node_conf(s, &s->node[i], e);
}

static bool all_right(const struct xk_spec *s)
{
	for (unsigned i = 0; i < s->nnodes; i++)
		if (s->node[i].conf == NULL)
			return false;
	return true;
}

static void check_graph(struct xk_spec *s, struct xk_errs *e, struct xk_errs *warnings)
{
	const struct spec_top *t = &s->top[s->graph];
	bool right;

	if (s->nnodes == 0 && xk_errs_count(e) == 0)
		spec_error(s, e, t->at, "graph", NULL, 0, "graph: there is no node in it");
	check_edges(s, e, warnings);
	right = all_right(s) && xk_errs_count(e) == 0;
	if (s->graph_conf == NULL) {
		check_graph_fields(s, t, e);
		check_threading(s, t, e);
	}
	if (right)                       /* the nodes, whatever the graph's own fields are */
		check_review(s, e, warnings);
}

int xk_spec_check(struct xk_spec *s, struct xk_errs *e, struct xk_errs *warnings)
{
	unsigned before = xk_errs_count(e);

	trust_list(s, e);
	check_descriptors(s);
	check_nodes(s, e);
	if (s->complete && s->graph >= 0)
		check_graph(s, e, xk_errs_count(e) == 0 ? warnings : NULL);
	s->checked = s->complete && all_right(s) && xk_errs_count(e) == before && xk_spec_name(s) != NULL;
	return xk_errs_count(e) == before ? XK_OK : XK_E_INVAL;
}

/* ---- build ------------------------------------------------------------------------ */

static uint64_t seed_of(const struct xk_plan *p)
{
	return p->seed_given ? p->seed : p->is_virtual ? 1 : xk_rand_entropy();
}

static int add_node(struct xk_spec *s, unsigned no, struct xk_graph *g, struct xk_node **made, struct xk_errs *e)
{
	const struct spec_node *n = &s->node[no];
	struct xk_node *down[XK_DOWN_MAX];
	void *conf = check_node_conf(s, n, e);
	int err;

	if (conf == NULL)
		return XK_E_NOMEM;
	for (unsigned i = 0; i < n->nover; i++)
		down[i] = made[n->over[i]];
	err = xk_graph_add(g, n->proto, n->name, conf, down, n->nover, spec_file_name(s, n->at.file),
			   n->at.line, &made[no]);
	if (err == XK_OK && n->trace >= 0)
		xk_log_set(&made[no]->log, n->trace);
	return err;
}

int xk_spec_build(struct xk_spec *s, struct xk_graph **out, struct xk_errs *e)
{
	struct xk_graph_conf c = { .name = s->plan.name, .arch = s->plan.arch, .mem = s->plan.mem,
				   .conn_map = s->plan.conn_map, .nconn_map = s->plan.nconn_map,
				   .layers = (const char *const *)s->plan.layers, .nlayers = s->plan.nlayers };
	unsigned before = xk_errs_count(e);
	struct xk_node **made;
	struct xk_graph *g;
	int err;

	xk_assert(xk_spec_plan(s) != NULL);
	/* Who builds the graph has to read the machine that it names. */
	if (xk_spec_clock_machine(s) != NULL && s->plan.arch.machine == &xk_machine_flat) {
		xk_spec_clock_error(s, e, "a machine is for vp-run, which reads it");
		return XK_E_INVAL;
	}
	made = xk_alloc((s->nnodes + 1) * sizeof *made);
	if (c.arch.seed == 0 || s->plan.seed_given)
		c.arch.seed = seed_of(&s->plan);
	c.arch.tick = s->plan.tick;
	err = made ? xk_graph_new(&g, &c, e) : XK_E_NOMEM;
	if (err != XK_OK) {
		xk_free(made);
		if (xk_errs_count(e) == before)
			xk_errs_add(e, NULL, 0, 0, "making the graph failed: %s", xk_strerror(err));
		return err;
	}
	for (unsigned i = 0; err == XK_OK && i < s->nnodes; i++)
		err = add_node(s, s->order[i], g, made, e);
	xk_free(made);
	if (err != XK_OK) {
		if (xk_errs_count(e) == before)
			xk_errs_add(e, NULL, 0, 0, "making the graph failed: %s", xk_strerror(err));
		xk_graph_free(g);
		return err;
	}
	*out = g;
	return XK_OK;
}

/* ---- dump ---------------------------------------------------------------------------- */

static void dump_node(const struct xk_node *n, FILE *f)
{
	char value[1024];

	fprintf(f, "%s %s {", n->proto->name, n->name);
	for (const struct xk_param *p = n->proto->params; p != NULL && p->name != NULL; p++)
		fprintf(f, " %s=%s", p->name,
			xk_param_format(p, (const char *)n->conf + p->offset, value, sizeof value));
	fprintf(f, " } over");
	for (unsigned i = 0; i < n->ndown; i++)
		fprintf(f, " %s", n->down[i]->name);
	fprintf(f, "%s\n", n->ndown ? "" : " nothing");
}

void xk_graph_dump(const struct xk_graph *g, FILE *f)
{
	const struct xk_arch *a = &g->vps->arch;

	fprintf(f, "graph %s\n", g->name);
	fprintf(f, "threading domain=%d entry=%d schedule=%d vps=%u workers=%u wired=%d burst=%u quantum=%u inbox=%u "
		"spin=%uus", (int)a->domain, (int)a->entry, (int)a->schedule, g->vps->nvps, g->vps->nworkers,
		a->wired, a->burst, a->quantum, a->inbox, a->spin_us);
	if (a->io_threads != 0)
		fprintf(f, " io_threads=%u inbound=%d order=%d table=%s hold=%d", a->io_threads, (int)a->inbound, (int)a->order,
			a->table != NULL ? a->table->name : "none", a->hold);
	if (a->waiters != XK_WAITERS_SLEEP)
		fprintf(f, " waiters=%d", (int)a->waiters);
	if (a->tick != 0 && a->tick != XK_WHEEL_TICK)
		fprintf(f, " tick=%lluns", (unsigned long long)a->tick);
	fputc('\n', f);
	if (g->conn_map != NULL) {
		fprintf(f, "map");
		for (unsigned i = 0; i < g->nconn_map; i++)
			fprintf(f, " %u", g->conn_map[i] + 1u);
		fputc('\n', f);
	}
	for (unsigned i = 0; i < g->nnodes; i++)
		dump_node(g->node[i], f);
}

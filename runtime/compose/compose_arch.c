/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * compose_arch.c - threading: a preset called with changes, or a table of the
 * axes, to one struct xk_arch that the runtime can run.
 *
 * Values not written are the preset's (a plain table starts from vppc).  What
 * they mean together, and whether that can run, is compose_axes.c's; a table that cannot
 * is answered with the nearest that can (compose_suggest.c).
 */
#include "runtime/base/xk_param_value.h"
#include "runtime/vp/xk_machine.h"
#include "runtime/compose/compose_arch.h"

#include <stdlib.h>
#include <string.h>

/* Where the table stands: in the call of a preset, or under threading of graph. */
struct where {
	struct spec_place at;
	const char       *callee, *who;
	struct scan_step  prefix;
	unsigned          nprefix;
	const struct xk_value *tab;
};

/* p: the axis that it is about, NULL: all of them. */
static void where_error(const struct xk_spec *s, struct xk_errs *e, const struct where *w, const struct xk_param *p,
			const char *text)
{
	struct scan_step step[3] = { w->prefix };
	const struct xk_value *tab = w->tab;
	unsigned n = w->nprefix;

	if (p != NULL && p->group != NULL && (tab = xk_value_get(tab, p->group)) != NULL)
		step[n++] = (struct scan_step){ .name = p->group };
	if (p != NULL && tab != NULL && xk_value_get(tab, p->name) != NULL)
		step[n++] = (struct scan_step){ .name = p->name };
	spec_error(s, e, w->at, w->callee, step, n, "%s: %s", w->who, text);
}

static void take_layers(struct xk_spec *s, struct xk_errs *e, const struct arch_conf *c)
{
	if (c->layers.n == 0)
		return;
	s->plan.layers = arena_get(&s->arena, c->layers.n * sizeof *s->plan.layers);
	for (unsigned i = 0; s->plan.layers != NULL && i < c->layers.n; i++)
		s->plan.layers[i] = arena_text(&s->arena, c->layers.v[i].text, strlen(c->layers.v[i].text));
	if (s->plan.layers == NULL)
		xk_errs_add(e, NULL, 0, 0, "out of memory");
	else
		s->plan.nlayers = c->layers.n;
}

/* What names virtual processors has been found to name those there are. */
static void take_map(struct xk_spec *s, struct xk_errs *e, const struct arch_conf *c)
{
	if (c->map.n == 0)
		return;
	s->plan.conn_map = arena_get(&s->arena, c->map.n * sizeof *s->plan.conn_map);
	if (s->plan.conn_map == NULL) {
		xk_errs_add(e, NULL, 0, 0, "out of memory");
		return;
	}
	for (unsigned i = 0; i < c->map.n; i++)
		s->plan.conn_map[i] = (uint16_t)(c->map.v[i].u - 1);
	s->plan.nconn_map = c->map.n;
}

/* vps = "per worker", "per connection": words where a number stands else. */
static bool take_vps_word(struct axes *x, const struct xk_value *tab)
{
	static const int vps[] = { XK_VPS_PER_WORKER, XK_VPS_PER_CONN };
	const struct xk_value *v = xk_value_get(tab, "vps");

	for (unsigned i = 0; v != NULL && v->kind == XK_V_TEXT && i < XK_ARRAY_LEN(vps); i++)
		if (strcmp(v->text, xk_arch_vps_word(vps[i])) == 0) {
			x->vps_word = vps[i];
			x->conf.vps = 0;
			return true;
		}
	return false;
}

/* What the table says of a; NULL: nothing. */
static const struct xk_value *said_of(const struct xk_value *tab, enum axis a)
{
	const struct xk_param *p = &xk_arch_params[a];

	if (p->group != NULL)
		tab = xk_value_get(tab, p->group);
	return tab != NULL ? xk_value_get(tab, p->name) : NULL;
}

static void note_said(struct axes *x, const struct xk_value *tab)
{
	x->said = 0;
	for (enum axis a = 0; a < AX_N; a++)
		if (said_of(tab, a) != NULL)
			x->said |= 1ull << a;
}

/* Is there an axis, or a group of them, that is called so? */
static bool is_known(const char *name)
{
	for (const struct xk_param *p = xk_arch_params; p->name != NULL; p++)
		if (strcmp(p->name, name) == 0 || (p->group != NULL && strcmp(p->group, name) == 0))
			return true;
	return false;
}

/* ---- what the graph says of itself ------------------------------------------------ */

/* Most connections that a node with `conns` makes; ends of the same ones are not told apart. */
static unsigned most_conns(const struct xk_spec *s)
{
	uint64_t most = 0;

	for (unsigned i = 0; i < s->nnodes; i++) {
		const struct spec_node *n = &s->node[i];
		const struct xk_param *p = n->conf != NULL && n->proto->params != NULL ?
					   xk_param_find(n->proto->params, "conns") : NULL;
		uint64_t has = p != NULL && p->type == XK_P_UINT && xk_value_get(&n->tab, "conns") != NULL ?
			       *(const uint64_t *)(const void *)((const char *)n->conf + p->offset) : 0;

		most = has > most ? has : most;
	}
	return most < UINT32_MAX ? (unsigned)most : UINT32_MAX;
}

static bool waiting(const struct spec_node *n, char *why, size_t len)
{
	return n->conf != NULL && n->proto->waits != NULL && n->proto->waits(n->conf, why, len);
}

static struct axes_graph graph_of(const struct xk_spec *s)
{
	/* On simulated processors a graph has the workers that it has anywhere. */
	const struct graph_conf *c = s->graph_conf;
	bool one = s->plan.is_virtual && (c == NULL || c->processors == 0);
	struct axes_graph g = { .is_virtual = one, .memory = s->plan.mem.limit, .conns = most_conns(s) };
	char why[300];

	for (unsigned i = 0; i < s->nnodes && !g.waits; i++)
		g.waits = waiting(&s->node[i], why, sizeof why);
	return g;
}

/* A call that waits stops every user-level thread beside the one that makes it. */
static void say_waits(const struct xk_spec *s, struct xk_errs *e)
{
	char why[300], label[128];

	for (unsigned i = 0; i < s->nnodes; i++) {
		const struct spec_node *n = &s->node[i];

		if (waiting(n, why, sizeof why))
			spec_error(s, e, n->at, n->proto->name, NULL, 0, "%s: %s: threads = \"user\" would all wait with it; "
				   "use threads = \"kernel\"", spec_label(s, n, label, sizeof label), why);
	}
}

/* ---- the whole table ------------------------------------------------------------------ */

static void check_whole(struct xk_spec *s, struct xk_errs *e, const struct where *w, const struct axes *x,
			const struct axes_graph *g)
{
	enum axis about;
	char why[300];
	const char *fault = axes_fault(x, g, why, sizeof why, &about);

	if (fault == NULL)
		return;
	if (about == AX_THREADS)
		say_waits(s, e);
	else
		where_error(s, e, w, about != AX_N ? &xk_arch_params[about] : NULL, fault);
	s->nearest = axes_nearest(s, x, g);
}

/* The word that was meant. */
static bool near_word(const struct xk_param *p, const char *text, unsigned *out)
{
	const char *near;
	unsigned n = 0;

	while (p->choices[n] != NULL)
		n++;
	near = xk_errs_suggest(text, p->choices, n);
	for (unsigned i = 0; near != NULL && i < n; i++)
		if (strcmp(near, p->choices[i]) == 0)
			*out = i;
	return near != NULL;
}

/* A number beyond its bounds becomes the bound, a word the one that was meant; what is no
 * value of its axis is left out. */
static void nearest_value(struct axes *x, enum axis a, const struct xk_value *v)
{
	const struct xk_param *p = &xk_arch_params[a];
	struct scan_step step;
	union xk_pval bound;
	unsigned nsteps;
	char why[400];
	bool low = v->kind == XK_V_INT && (v->text[0] == '-' || strcmp(v->text, "0") == 0);

	if (check_value(p, v, &x->conf, why, sizeof why, &step, &nsteps) == XK_OK)
		return;
	x->said &= ~(1ull << a);
	if (v->kind == XK_V_TEXT && p->type == XK_P_ENUM &&
	    near_word(p, v->text, (unsigned *)(void *)((char *)&x->conf + p->offset)))
		x->said |= 1ull << a;
	if (v->kind != XK_V_INT || p->type != XK_P_UINT || (low ? p->min : p->max) == NULL ||
	    xk_param_parse_as(XK_P_UINT, low ? p->min : p->max, true, &bound, why, sizeof why) != XK_OK)
		return;
	xk_param_store(p, &x->conf, &bound);
	x->said |= 1ull << a;
}

/* Values that no table may have: the nearest one is made of those that it may. */
static void suggest_values(struct xk_spec *s, const struct where *w, const struct xk_arch *base, const struct axes_graph *g)
{
	struct axes x = axes_of(base);
	bool word = take_vps_word(&x, w->tab);

	if (w->tab->kind != XK_V_MAP)
		return;
	note_said(&x, w->tab);
	for (unsigned i = 0; i < w->tab->n; i++)
		if (w->tab->key[i].kind != XK_V_TEXT || !is_known(w->tab->key[i].text))
			return;              /* an unknown name: its own complaint says what was meant */
	for (enum axis a = 0; a < AX_N; a++)
		if (axes_said(&x, a) && !(a == AX_VPS && word))
			nearest_value(&x, a, said_of(w->tab, a));
	s->nearest = axes_nearest(s, &x, g);
	xk_param_release(xk_arch_params, &x.conf);
}

static void take_processors(struct xk_spec *s, struct xk_errs *e, const struct where *w)
{
	const struct graph_conf *c = s->graph_conf;
	char why[256];

	if (c == NULL || c->processors == 0)
		return;
	xk_plan_simulate(&s->plan, (unsigned)c->processors, NULL);
	if (xk_arch_check(&s->plan.arch, why, sizeof why) != XK_OK)
		where_error(s, e, w, NULL, why);
}

static void read_axes(struct xk_spec *s, struct xk_errs *e, const struct where *w, const struct xk_arch *base)
{
	static const char *const vps[] = { "vps", NULL };
	struct check_table c = { .s = s, .e = e, .at = w->at, .callee = w->callee, .who = w->who,
				 .prefix = &w->prefix, .nprefix = w->nprefix, .schema = xk_arch_params };
	struct axes_graph g = graph_of(s);
	struct axes x = axes_of(base);
	unsigned before = xk_errs_count(e);

	if (take_vps_word(&x, w->tab))
		c.skip = vps;
	note_said(&x, w->tab);
	check_table(&c, w->tab, &x.conf);
	if (xk_errs_count(e) != before)
		suggest_values(s, w, base, &g);
	else
		check_whole(s, e, w, &x, &g);
	s->plan.arch = axes_arch(&x, &g);
	s->plan.is_virtual |= s->plan.arch.schedule == XK_SCHED_VIRTUAL;
	g.is_virtual = false;
	s->plan.schedule = axes_arch(&x, &g).schedule;
	if (xk_errs_count(e) == before)
		take_processors(s, e, w);
	if (xk_errs_count(e) == before)
		take_map(s, e, &x.conf);
	if (xk_errs_count(e) == before)
		take_layers(s, e, &x.conf);
	xk_param_release(xk_arch_params, &x.conf);
}

void check_threading(struct xk_spec *s, const struct spec_top *t, struct xk_errs *e)
{
	static const struct xk_value empty = { .kind = XK_V_LIST };
	const struct xk_value *v = xk_value_get(&t->tab, "threading");
	const struct xk_arch *base = xk_arch_find("vppc");
	struct xk_arch own;
	struct where w = { .at = t->at, .callee = "graph", .who = "threading", .nprefix = 1,
			   .prefix = { .name = "threading" }, .tab = &empty };
	char text[200], got[80];

	xk_assert(base != NULL);
	if (v != NULL && v->kind == XK_V_ARCH) {
		const struct spec_arch *a = &s->arch[v->ref];

		w = (struct where){ .at = a->at, .callee = a->preset->name, .who = a->preset->name, .tab = &a->tab };
		base = a->preset;
	} else if (v != NULL && (v->kind == XK_V_MAP || v->kind == XK_V_LIST)) {
		w.tab = v;
		own = *base;
		own.name = "custom";
		base = &own;
	} else if (v != NULL && v->kind != XK_V_POISON) {
		snprintf(text, sizeof text, "needs a preset like vppc { vps = 16 } or a table of axes, got %s",
			 spec_describe(v, got, sizeof got));
		where_error(s, e, &w, NULL, text);
	}
	read_axes(s, e, &w, base);
}

void xk_plan_simulate(struct xk_plan *p, unsigned processors, const struct xk_machine *m)
{
	p->is_virtual = true;
	p->arch.processors = processors;
	p->arch.machine = m != NULL ? m : &xk_machine_flat;
	/* Who runs when makes no difference then. */
	p->arch.schedule = processors == 0 || (processors == 1 && xk_machine_is_flat(p->arch.machine)) ?
			   XK_SCHED_VIRTUAL : p->schedule;
}

int xk_plan_check(const struct xk_plan *p, struct xk_errs *e)
{
	char why[256];

	if (xk_arch_check(&p->arch, why, sizeof why) == XK_OK)
		return XK_OK;
	xk_errs_add(e, NULL, 0, 0, "threading: %s", why);
	return XK_E_INVAL;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * compose_diff.c - how a graph file differs from the graph that runs, and that difference applied.
 *
 * Nodes are the same by name.  One whose protocol, or a parameter that is not live, differs is another node in
 * the old one's place; live parameters are set; nodes of one side alone come or go.  Values are compared as
 * they would be written.
 * Invariant: xk_diff_apply leaves either all that the file says or, with an error, all that there was.
 */
#include "runtime/base/xk_param_value.h"
#include "runtime/compose/compose_priv.h"
#include "runtime/compose/xk_diff.h"

#include <stdlib.h>
#include <string.h>

#define VALUE 65536u             /* longest value that is compared: longer ones count as different */

struct xk_diff {
	struct xk_spec  *s;
	struct xk_graph *g;
	struct xk_diff_row *row;
	unsigned         n, room;
	bool             bad;            /* no memory for a row */
	char             a[VALUE], b[VALUE];
};

/* ---- rows ----------------------------------------------------------------------------- */

static struct xk_diff_row *add(struct xk_diff *d, enum xk_diff_kind kind, const char *node)
{
	struct xk_diff_row *more;

	if (d->n == d->room) {
		more = xk_alloc(2 * (d->room + 8) * sizeof *more);
		if (more == NULL) {
			d->bad = true;
			return NULL;
		}
		if (d->n != 0)
			memcpy(more, d->row, d->n * sizeof *more);
		xk_free(d->row);
		d->row = more;
		d->room = 2 * (d->room + 8);
	}
	d->row[d->n] = (struct xk_diff_row){ .kind = kind, .node = xk_strdup(node) };
	d->bad = d->bad || d->row[d->n].node == NULL;
	return &d->row[d->n++];
}

static void values(struct xk_diff *d, struct xk_diff_row *r, const char *was, const char *now)
{
	if (r == NULL)
		return;
	r->was = xk_strdup(was);
	r->now = xk_strdup(now);
	d->bad = d->bad || r->was == NULL || r->now == NULL;
}

/* ---- one node ----------------------------------------------------------------------------- */

static bool is_scalar(const struct xk_param *p)
{
	return p->type != XK_P_TEXT && p->type != XK_P_LIST && p->type != XK_P_MAP;
}

static const char *written(const struct xk_param *p, const void *conf, char *buf)
{
	return xk_param_is_unset(p, conf) ? strcpy(buf, "nothing") :
	       xk_param_format(p, (const char *)conf + p->offset, buf, VALUE);
}

static bool differs(struct xk_diff *d, const struct xk_param *p, const void *is, const void *want)
{
	written(p, is, d->a);
	written(p, want, d->b);
	return strcmp(d->a, d->b) != 0 || strlen(d->a) + 1 >= VALUE;
}

/* A node that stays, or another in its place: is it one that stays? */
static bool compare_params(struct xk_diff *d, const struct xk_node *n, const struct spec_node *w)
{
	bool same = true;

	for (const struct xk_param *p = n->proto->params; p != NULL && p->name != NULL; p++) {
		bool live = (p->flags & XK_PF_LIVE) && is_scalar(p);
		struct xk_diff_row *r;

		if (!differs(d, p, n->conf, w->conf))
			continue;
		r = add(d, live ? XK_DIFF_SET : XK_DIFF_REPLACE, n->name);
		values(d, r, d->a, d->b);
		if (r != NULL)
			r->param = p;
		same = same && live;
	}
	return same;
}

/* What of it is live goes with the rest: rows from `from` on are of one node that is replaced. */
static void all_replace(struct xk_diff *d, unsigned from)
{
	for (; from < d->n; from++)
		d->row[from].kind = XK_DIFF_REPLACE;
}

static bool compare_node(struct xk_diff *d, const struct xk_node *n, const struct spec_node *w)
{
	unsigned from = d->n;

	if (n->proto != w->proto) {
		values(d, add(d, XK_DIFF_REPLACE, n->name), n->proto->name, w->proto->name);
		return false;
	}
	if (compare_params(d, n, w))
		return true;
	all_replace(d, from);
	return false;
}

static char *over_text(char *buf, size_t len, unsigned n, const char *(*name)(const void *of, unsigned i),
		       const void *of)
{
	size_t at = 0;

	buf[0] = '\0';
	for (unsigned i = 0; i < n && at < len; i++)
		at += (size_t)snprintf(buf + at, len - at, "%s%s", i != 0 ? ", " : "", name(of, i));
	return buf;
}

static const char *below_is(const void *of, unsigned i) { return ((const struct xk_node *)of)->down[i]->name; }

struct below { const struct xk_spec *s; const struct spec_node *w; };
static const char *below_wanted(const void *of, unsigned i)
{
	const struct below *b = of;

	return b->s->node[b->w->over[i]].name;
}

static void compare_edges(struct xk_diff *d, const struct xk_node *n, const struct spec_node *w)
{
	const struct below b = { d->s, w };

	over_text(d->a, VALUE, n->ndown, below_is, n);
	over_text(d->b, VALUE, w->nover, below_wanted, &b);
	if (strcmp(d->a, d->b) != 0)
		values(d, add(d, XK_DIFF_OVER, n->name), d->a, d->b);
}

/* ---- all of them ------------------------------------------------------------------------------ */

static void come_row(struct xk_diff *d, const struct spec_node *w)
{
	const struct below b = { d->s, w };

	over_text(d->b, VALUE, w->nover, below_wanted, &b);
	values(d, add(d, XK_DIFF_ADD, w->name), w->proto->name, d->b);
}

static void go_row(struct xk_diff *d, const struct xk_node *n)
{
	over_text(d->b, VALUE, n->ndown, below_is, n);
	values(d, add(d, XK_DIFF_REMOVE, n->name), n->proto->name, d->b);
}

static void compare_all(struct xk_diff *d)
{
	for (unsigned i = xk_graph_slots(d->g); i-- > 0;) {
		const struct xk_node *n = xk_graph_slot(d->g, i);

		if (n != NULL && spec_name_find(d->s, n->name) == NULL)
			go_row(d, n);
	}
	for (unsigned i = d->s->nnodes; i-- > 0;) {
		const struct spec_node *w = &d->s->node[d->s->order[i]];
		const struct xk_node *n = xk_graph_find(d->g, w->name);

		if (n == NULL) {
			come_row(d, w);
			continue;
		}
		(void)compare_node(d, n, w);
		compare_edges(d, n, w);
	}
}

/* ---- the graph's own fields ---------------------------------------------------------------------- */

static int arch_differs(const struct xk_spec *s, const struct xk_graph *g, struct xk_errs *e)
{
	const struct xk_arch *is = &g->vps->arch, *want = &s->plan.arch;
	const char *a = is->name != NULL ? is->name : "custom", *b = want->name != NULL ? want->name : "custom";
	const struct scan_step step = { .name = "threading" };

	if (strcmp(a, b) == 0 && is->domain == want->domain && is->entry == want->entry && is->objects == want->objects &&
	    is->threads == want->threads && is->stacks == want->stacks && is->inbound == want->inbound &&
	    is->datagrams == want->datagrams && (want->vps <= 0 || (unsigned)want->vps == g->vps->nconn || want->vps == is->vps))
		return XK_OK;
	spec_error(s, e, s->top[s->graph].at, "graph", &step, 1, "threading is '%s' and %u virtual processors while the graph "
		   "runs, and stays so: end the run and start it with this file", a, g->vps->nconn);
	return XK_E_INVAL;
}

void xk_diff_free(struct xk_diff *d)
{
	if (d == NULL)
		return;
	for (unsigned i = 0; i < d->n; i++) {
		xk_free(d->row[i].node);
		xk_free(d->row[i].was);
		xk_free(d->row[i].now);
	}
	xk_free(d->row);
	xk_free(d);
}

int xk_diff_new(struct xk_diff **out, struct xk_spec *s, struct xk_graph *g, struct xk_errs *e)
{
	struct xk_diff *d;
	int err;

	xk_assert(xk_spec_plan(s) != NULL);
	*out = NULL;
	err = arch_differs(s, g, e);
	if (err != XK_OK)
		return err;
	d = xk_alloc(sizeof *d);
	if (d != NULL) {
		d->s = s;
		d->g = g;
		compare_all(d);
	}
	if (d == NULL || d->bad) {
		xk_diff_free(d);
		xk_errs_add(e, NULL, 0, 0, "out of memory for the difference");
		return XK_E_NOMEM;
	}
	*out = d;
	return XK_OK;
}

unsigned xk_diff_rows(const struct xk_diff *d, const struct xk_diff_row **row)
{
	*row = d->row;
	return d->n;
}

/* ---- applied ---------------------------------------------------------------------------------------- */

/* Is it another node, though its name is the same? */
static bool is_replaced(const struct xk_diff *d, const char *name)
{
	for (unsigned i = 0; i < d->n; i++)
		if (d->row[i].kind == XK_DIFF_REPLACE && strcmp(d->row[i].node, name) == 0)
			return true;
	return false;
}

static int want(struct xk_diff *d, struct xk_want *w, unsigned *place, unsigned at, struct xk_errs *e)
{
	unsigned no = d->s->order[at];
	const struct spec_node *n = &d->s->node[no];
	struct xk_node *is = xk_graph_find(d->g, n->name);
	bool stays = is != NULL && !is_replaced(d, n->name);

	place[no] = at;
	w[at] = (struct xk_want){ .proto = n->proto, .name = n->name, .file = spec_file_name(d->s, n->at.file), .line = n->at.line,
				  .is = stays ? is : NULL, .ndown = n->nover };
	for (unsigned i = 0; i < n->nover; i++)
		w[at].down[i] = place[n->over[i]];
	if (stays)
		return XK_OK;
	w[at].conf = check_node_conf(d->s, n, e);
	return w[at].conf != NULL ? XK_OK : XK_E_NOMEM;
}

static void wants_free(struct xk_diff *d, struct xk_want *w)
{
	for (unsigned i = 0; w != NULL && i < d->s->nnodes; i++) {
		if (w[i].conf != NULL && w[i].proto->params != NULL)
			xk_param_release(w[i].proto->params, w[i].conf);
		xk_free(w[i].conf);
	}
	xk_free(w);
}

static int change_nodes(struct xk_diff *d, bool look, struct xk_errs *e)
{
	unsigned n = d->s->nnodes, before = xk_errs_count(e), *place = xk_alloc((n + 1) * sizeof *place);
	struct xk_want *w = xk_alloc((n + 1) * sizeof *w);
	int err = place != NULL && w != NULL ? XK_OK : XK_E_NOMEM;

	for (unsigned i = 0; err == XK_OK && i < n; i++)
		err = want(d, w, place, i, e);
	if (err == XK_E_NOMEM && xk_errs_count(e) == before)
		xk_errs_add(e, NULL, 0, 0, "out of memory for the change");
	if (err == XK_OK)
		err = xk_graph_change(d->g, w, n, look, e);
	wants_free(d, w);
	xk_free(place);
	return err;
}

/* The first `n` of the rows that are sets: their parameter is what the node that is wanted has, or what it was. */
static int set_params(struct xk_diff *d, unsigned n, void *const *was, struct xk_errs *e)
{
	for (unsigned i = 0; i < n; i++) {
		const struct xk_diff_row *r = &d->row[i];
		const struct spec_node *w;
		char why[256] = "";

		if (r->kind != XK_DIFF_SET)
			continue;
		w = spec_name_find(d->s, r->node);
		if (xk_node_set(xk_graph_find(d->g, r->node), r->param, was != NULL ? was[i] : w->conf, why, sizeof why) == XK_OK)
			continue;
		xk_errs_add(e, spec_file_name(d->s, w->at.file), w->at.line, 0, "parameter '%s' of '%s' %s", r->param->name,
			    r->node, why);
		return (int)i;
	}
	return (int)n;
}

/* Of each row that is a set: the node's values as they are. */
static bool keep_values(struct xk_diff *d, void **was)
{
	for (unsigned i = 0; i < d->n; i++) {
		const struct xk_node *n;

		if (d->row[i].kind != XK_DIFF_SET)
			continue;
		n = xk_graph_find(d->g, d->row[i].node);
		was[i] = xk_alloc(n->proto->conf_size);
		if (was[i] == NULL)
			return false;
		memcpy(was[i], n->conf, n->proto->conf_size);    /* scalars alone are taken out of it */
	}
	return true;
}

static int apply(struct xk_diff *d, void **was, struct xk_errs *e)
{
	int n = set_params(d, d->n, NULL, e), err = XK_E_INVAL;

	if ((unsigned)n == d->n)
		err = change_nodes(d, false, e);
	if (err != XK_OK)
		(void)set_params(d, (unsigned)n, was, NULL);
	return err;
}

int xk_diff_apply(struct xk_diff *d, bool look, struct xk_errs *e)
{
	void **was;
	int err;

	if (look)
		return change_nodes(d, true, e);
	was = xk_alloc((d->n + 1) * sizeof *was);
	if (was == NULL || !keep_values(d, was)) {
		xk_errs_add(e, NULL, 0, 0, "out of memory for the change");
		err = XK_E_NOMEM;
	} else {
		err = apply(d, was, e);
	}
	for (unsigned i = 0; was != NULL && i < d->n; i++)
		xk_free(was[i]);
	xk_free(was);
	return err;
}

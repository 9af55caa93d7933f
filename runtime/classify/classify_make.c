/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * classify_make.c - the table of back ends, and how one of them is chosen.
 *
 * "auto" takes the first in the table that neither its probe nor its open
 * refuses: they stand in the order of what a frame in memory costs.  "none" is
 * a back end too, one that looks at nothing: late demultiplexing.
 * Invariant: a classifier that was made has everything its ops need.
 */
#include <stdio.h>

#include "runtime/classify/classify_runs.h"

/* ---- none ---------------------------------------------------------------------- */

/* Frames stay where they came; the protocols find the owner. */
static unsigned none_runs(struct xk_classifier *c, struct xk_msg *const *m, unsigned n, struct xk_run *run)
{
	(void)c;
	(void)m;
	for (unsigned i = 0; i < n; i++)
		run[i] = (struct xk_run){ .vp = xk_vp_no, .n = 1 };
	return n;
}

static const struct xk_classifier_ops classify_none = {
	.name = "none", .doc = "no classifier: frames run where they arrive until a protocol knows their owner",
	.runs = none_runs,
};

/* ---- the table ------------------------------------------------------------------- */

/* ORDER xk_classifier_table */
const char *const xk_classifier_kinds[] = { "auto", "native", "cbpf", "ebpf", "none", NULL };
const struct xk_classifier_ops *const xk_classifier_table[] = {
	&classify_native, &classify_cbpf, &classify_ebpf, &classify_none, NULL
};

static const struct xk_classifier_ops *find(const char *kind)
{
	for (unsigned i = 0; xk_classifier_table[i] != NULL; i++)
		if (strcmp(kind, xk_classifier_table[i]->name) == 0)
			return xk_classifier_table[i];
	return NULL;
}

/* Starts one; a refusal leaves it as it was. */
static int start(struct xk_classifier *c, const struct xk_classifier_ops *ops, char *why, size_t n)
{
	int err = ops->probe != NULL ? ops->probe(why, n) : XK_OK;

	c->ops = ops;
	c->priv = NULL;
	if (err == XK_OK && ops->open != NULL)
		err = ops->open(c, why, n);
	return err;
}

static int start_best(struct xk_classifier *c, char *why, size_t n)
{
	int err = XK_E_NOTSUP;

	for (unsigned i = 0; xk_classifier_table[i] != NULL; i++) {
		err = start(c, xk_classifier_table[i], why, n);
		if (err == XK_OK || err == XK_E_NOMEM)
			break;
	}
	snprintf(c->why, sizeof c->why, "the best that works here: %s", c->ops->doc);
	return err;
}

static int start_named(struct xk_classifier *c, const char *kind, char *why, size_t n)
{
	const struct xk_classifier_ops *ops = find(kind);

	if (ops == NULL) {
		snprintf(why, n, "there is no classifier '%s' in this build", kind);
		return XK_E_NOTSUP;
	}
	snprintf(c->why, sizeof c->why, "as asked: %s", ops->doc);
	return start(c, ops, why, n);
}

int xk_classifier_new(struct xk_classifier **out, const char *kind, const struct xk_pattern *p,
		      struct xk_flowtab *tab, char *why, size_t n)
{
	struct xk_classifier *c = xk_alloc(sizeof(*c));
	int err;

	*out = NULL;
	snprintf(why, n, "out of memory");
	if (c == NULL)
		return XK_E_NOMEM;
	c->tab = tab;
	c->pat = p;
	if (kind == NULL || strcmp(kind, "auto") == 0)
		err = start_best(c, why, n);
	else
		err = start_named(c, kind, why, n);
	if (err != XK_OK) {
		xk_free(c);
		return err == XK_E_NOMEM ? err : XK_E_NOTSUP;
	}
	*out = c;
	return XK_OK;
}

void xk_classifier_free(struct xk_classifier *c)
{
	if (c != NULL && c->ops->free != NULL)
		c->ops->free(c);
	xk_free(c);
}

/* ---- verdicts in descriptors --------------------------------------------------------- */

void xk_classify_tell(const struct xk_run *r, struct xk_msg *const *m)
{
	struct xk_msg says = { .hash = r->hash, .vp = r->vp };

	if (r->flow != NULL) {
		says.u.v.flow = xk_slab_handle(r->flow);
		says.u.v.gen = xk_load_relaxed(&r->flow->gen);
	}
	for (unsigned i = 0; i < r->n; i++) {
		m[i]->u.name = says.u.name;
		m[i]->hash = says.hash;
		m[i]->vp = says.vp;
	}
}

void xk_classify(struct xk_classifier *c, struct xk_msg *const *m, unsigned n)
{
	struct xk_run run[CLASSIFY_BURST];
	unsigned nruns = xk_classify_runs(c, m, n, run);

	for (unsigned i = 0; i < nruns; m += run[i++].n)
		xk_classify_tell(&run[i], m);
}

/* ---- what is right ------------------------------------------------------------------ */

void xk_classify_verdict(const struct xk_pattern *p, const struct xk_flowtab *tab, const uint8_t *frame,
			 uint32_t len, struct xk_verdict *v)
{
	const struct xk_flow *f;

	*v = (struct xk_verdict){ .flow = 0 };
	xk_pattern_match(p, frame, len, &v->pat);
	v->vp = flow_home(tab, v->pat.hash);
	f = v->pat.kind == XK_PAT_FLOW ? xk_flow_find(tab, &v->pat.key) : NULL;
	if (f != NULL) {
		v->flow = xk_slab_handle(f);
		v->gen = xk_load_relaxed(&f->gen);
		v->vp = xk_load_relaxed(&f->vp);
	}
}

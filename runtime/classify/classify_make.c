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

#include "runtime/classify/classify_priv.h"

/* ---- none ---------------------------------------------------------------------- */

/* Frames stay where they came; the protocols find the owner. */
static void none_classify(struct xk_classifier *c, struct xk_msg *const *m, unsigned n)
{
	(void)c;
	for (unsigned i = 0; i < n; i++) {
		m[i]->u.name = 0;
		m[i]->hash = 0;
		m[i]->vp = xk_vp_no;
	}
}

static unsigned none_runs(struct xk_classifier *c, struct xk_msg *const *m, unsigned n, uint8_t *len)
{
	none_classify(c, m, n);
	memset(len, 1, n);
	return n;
}

static const struct xk_classifier_ops classify_none = {
	.name = "none", .doc = "no classifier: frames run where they arrive until a protocol knows their owner",
	.classify = none_classify, .runs = none_runs,
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

/* ---- runs from single verdicts ---------------------------------------------------- */

static bool may_run(const struct xk_msg *m)
{
	return m->len >= XK_FRAME_MIN && (m->flags & (XK_MSG_SLOW | XK_MSG_LINK_BCAST)) == 0;
}

/* Does b go on the run that a began? */
static bool run_goes_on(const struct xk_msg *a, const struct xk_msg *b)
{
	return a->u.v.flow != 0 && b->u.name == a->u.name && may_run(a) && may_run(b);
}

unsigned xk_classify_runs(struct xk_classifier *c, struct xk_msg *const *m, unsigned n, uint8_t *len)
{
	unsigned nruns = 0;

	if (XK_LIKELY(c->ops->runs != NULL))
		return c->ops->runs(c, m, n, len);
	c->ops->classify(c, m, n);
	for (unsigned i = 0, k; i < n; i = k) {
		for (k = i + 1; k < n && run_goes_on(m[i], m[k]);)
			k++;
		len[nruns++] = (uint8_t)(k - i);
	}
	return nruns;
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

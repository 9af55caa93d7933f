/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * classify_ebpf.c - the back end that asks a program in the kernel about frames in memory.
 *
 * A call costs as much as several frames, so a burst of fewer than LEAST is decided by the
 * native back end, which this one carries along: one frame never waits for a system call, and
 * a burst of 32 shares it.  Each VP has a batch of its own (an arena, else a context buffer);
 * who is no VP, and what the kernel would not run, is native too.  The program parses and
 * hashes; flows are looked up here, all of a burst together.
 * Invariant: a batch is touched by its VP alone.
 */
#include <stdio.h>

#include "runtime/base/xk_tls.h"
#include "runtime/classify/classify_runs.h"
#include "runtime/classify/xk_ebpf.h"

#define LEAST 8u

struct ebpf {
	struct xk_classifier native;
	enum xk_ebpf_kind    kind;
	unsigned             nvps;
	struct xk_ebpf      *batch[];    /* of each VP */
};

static int ebpf_probe(char *why, size_t n)
{
	static const struct xk_pattern nothing;
	char arena[256];
	struct xk_ebpf *e;
	int err = xk_ebpf_open(&e, &nothing, XK_EBPF_ARENA, 1, arena, sizeof arena);

	if (err != XK_OK)
		err = xk_ebpf_open(&e, &nothing, XK_EBPF_CONTEXT, 1, why, n);
	xk_ebpf_close(e);
	return err;
}

static void ebpf_free(struct xk_classifier *c)
{
	struct ebpf *e = c->priv;

	for (unsigned i = 0; i < e->nvps; i++)
		xk_ebpf_close(e->batch[i]);
	if (e->native.priv != NULL)
		classify_native.free(&e->native);
	xk_free(e);
}

static int open_batches(struct ebpf *e, const struct xk_pattern *p, char *why, size_t n)
{
	int err = XK_OK;

	for (unsigned i = 0; i < e->nvps && err == XK_OK; i++)
		err = xk_ebpf_open(&e->batch[i], p, e->kind, CLASSIFY_BURST, why, n);
	for (unsigned i = 0; i < e->nvps && err != XK_OK; i++) {
		xk_ebpf_close(e->batch[i]);
		e->batch[i] = NULL;
	}
	return err;
}

/* An arena, and where there is none the context buffer. */
static int open_best(struct xk_classifier *c, struct ebpf *e, char *why, size_t n)
{
	char arena[128];
	int err;

	e->kind = XK_EBPF_ARENA;
	err = open_batches(e, c->pat, arena, sizeof arena);
	if (err == XK_OK) {
		snprintf(c->why, sizeof c->why, "as asked: a program in the kernel, bursts of %u and more in an arena", LEAST);
		return err;
	}
	e->kind = XK_EBPF_CONTEXT;
	err = open_batches(e, c->pat, why, n);
	if (err == XK_OK)
		snprintf(c->why, sizeof c->why, "as asked: a program in the kernel, bursts in its context buffer: %.100s", arena);
	return err;
}

static int ebpf_open(struct xk_classifier *c, char *why, size_t n)
{
	unsigned nvps = c->tab->nvps;
	struct ebpf *e = xk_alloc(sizeof(*e) + nvps * sizeof(e->batch[0]));
	int err;

	snprintf(why, n, "out of memory");
	if (e == NULL)
		return XK_E_NOMEM;
	c->priv = e;
	e->nvps = nvps;
	e->native = (struct xk_classifier){ .ops = &classify_native, .tab = c->tab, .pat = c->pat };
	err = classify_native.open(&e->native, why, n);
	if (err == XK_OK)
		err = open_best(c, e, why, n);
	else
		e->native.priv = NULL;
	if (err != XK_OK)
		ebpf_free(c);
	return err;
}

/* ---- bursts ---------------------------------------------------------------------------------- */

static unsigned batch_runs(const struct xk_ebpf *b, const struct xk_flowtab *tab, struct xk_msg *const *m, unsigned n,
			   struct xk_run *run)
{
	bool on = false;                 /* the frame before begins or goes on a run */
	struct runs r;

	runs_begin(&r);
	for (unsigned i = 0; i < n; i++) {
		const struct xk_pat_verdict *v = xk_ebpf_verdict(b, i, m[i]->data, m[i]->len);
		const struct xk_key key = flow_key(&v->key);
		bool keyed = v->kind == XK_PAT_FLOW, may = keyed && m[i]->len >= XK_FRAME_MIN;

		r.flags |= m[i]->flags;
		if (may && on && runs_last_is(&r, &key))
			continue;
		on = may;
		runs_add(&r, i, m[i]->len, keyed ? &key : NULL, v->hash);
	}
	return runs_say(tab, flow_table(tab), &r, m, n, run);
}

static unsigned ebpf_runs(struct xk_classifier *c, struct xk_msg *const *m, unsigned n, struct xk_run *run)
{
	struct ebpf *e = c->priv;
	struct xk_ebpf *b = xk_vp_no < e->nvps && n >= LEAST ? e->batch[xk_vp_no] : NULL;

	if (b == NULL || n > xk_ebpf_slots(b))
		return classify_native.runs(&e->native, m, n, run);
	for (unsigned i = 0; i < n; i++)
		xk_ebpf_put(b, i, m[i]->data, m[i]->len);
	if (XK_UNLIKELY(!xk_ebpf_call(b, n)))
		return classify_native.runs(&e->native, m, n, run);
	return batch_runs(b, c->tab, m, n, run);
}

static void ebpf_print(const struct xk_classifier *c, FILE *f)
{
	const struct ebpf *e = c->priv;
	const enum xk_ebpf_kind kind[] = { e->kind, XK_EBPF_XDP, XK_EBPF_FANOUT };
	char why[256];

	for (unsigned i = 0; i < XK_ARRAY_LEN(kind); i++)
		if (xk_ebpf_print(c->pat, kind[i], e->nvps, f, why, sizeof why) < 0)
			fprintf(f, "%s\n", why);
}

const struct xk_classifier_ops classify_ebpf = {
	.name = "ebpf", .doc = "a program in the kernel decides about a burst",
	.probe = ebpf_probe, .open = ebpf_open, .runs = ebpf_runs, .print = ebpf_print,
	.free = ebpf_free,
};

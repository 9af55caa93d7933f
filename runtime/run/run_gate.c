/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run_gate.c - applications that establish all their connections before a run is measured.
 *
 * Opening thousands of connections takes longer than a warm-up, and a figure that has it in
 * it is of something else.  So such an application is asked until it has them all; what
 * cannot be had any more, or takes too long, ends the run with a sentence that says how
 * many there were.
 * Invariant: no application is told to go before all are ready.
 */
#include "runtime/run/run_priv.h"
#include "runtime/upi/xk_part.h"

typedef unsigned long long ull;

static bool ask(const struct xk_node *n, bool go, struct xk_app_gate *a)
{
	const struct xk_proto *p = n->proto;

	*a = (struct xk_app_gate){ .go = go };
	return p->offers == NULL && p->ops->control != NULL &&
	       p->ops->control(n->rep[0], XK_CTL_APP_GATE, a, sizeof *a) == (int)sizeof *a;
}

bool run_gated(const struct run *u)
{
	struct xk_app_gate a;

	for (unsigned i = 0; i < u->g->nnodes; i++)
		if (ask(u->g->node[i], false, &a))
			return true;
	return false;
}

/* Why it will not be ready; XK_OK: it may be yet. */
static int refused(const struct xk_node *n, const struct xk_app_gate *a, xk_ns waited, struct xk_errs *e)
{
	if (a->failed != 0 && a->ready + a->failed >= a->of) {
		xk_errs_add(e, n->file, n->line, 0, "%s: only %llu of %llu connections were established, %llu came to nothing",
			    n->name, (ull)a->ready, (ull)a->of, (ull)a->failed);
		return XK_E_CONNREFUSED;
	}
	if (waited < a->within)
		return XK_OK;
	xk_errs_add(e, n->file, n->line, 0, "%s: only %llu of %llu connections were established after %.3g s (within)",
		    n->name, (ull)a->ready, (ull)a->of, (double)waited / (double)XK_SEC);
	return XK_E_TIMEDOUT;
}

int run_gate_look(const struct run *u, xk_ns waited, bool *open, struct xk_errs *e)
{
	struct xk_app_gate a;
	int err = XK_OK;

	*open = true;
	for (unsigned i = 0; i < u->g->nnodes; i++) {
		const struct xk_node *n = u->g->node[i];
		int res;

		if (!ask(n, false, &a) || a.ready >= a.of)
			continue;
		*open = false;
		res = refused(n, &a, waited, e);
		err = res != XK_OK ? res : err;
	}
	return err;
}

void run_gate_go(const struct run *u)
{
	struct xk_app_gate a;

	for (unsigned i = 0; i < u->g->nnodes; i++)
		(void)ask(u->g->node[i], true, &a);
}

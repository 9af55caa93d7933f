/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpr_decisions.c - writes what the scheduling module was asked in a run, and what it answered (docs/affinity.md).
 *
 * A line for each call, in the order of the calls, which the module's lock makes; `vp-sim --replay` asks the
 * same again.  A run that nobody asks for it pays nothing.
 */
#include "tools/vp-run/vpr.h"

#include <errno.h>
#include <string.h>

#include "runtime/upi/xk_graph.h"

static const char *const picks[] = { "mru", "lru", "low", "random" };
_Static_assert(XK_PICK_MRU == 0 && XK_PICK_LRU == 1 && XK_PICK_LOW == 2 && XK_PICK_RANDOM == 3, "order of picks");
static const char *const afters[] = { "rest", "more", "yield", "polls" };
_Static_assert(XK_AFTER_REST == 0 && XK_AFTER_MORE == 1 && XK_AFTER_YIELD == 2 && XK_AFTER_POLLS == 3, "order of afters");

static void number(FILE *f, unsigned n)
{
	if (n == XK_SCHED_NONE)
		fputs(" -", f);
	else
		fprintf(f, " %u", n);
}

/* Under the module's lock. */
static void note(void *arg, const struct xk_sched_note *n)
{
	FILE *f = arg;
	unsigned long long now = n->now;

	switch (n->call) {
	case XK_CALL_ARRIVE: fprintf(f, "arrive %llu %u", now, n->vp); break;
	case XK_CALL_NEXT: fprintf(f, "next %llu %u", now, n->p); break;
	case XK_CALL_DONE: fprintf(f, "done %llu %u %u %s %u", now, n->p, n->vp, afters[n->left], n->n); break;
	case XK_CALL_RELEASE: fprintf(f, "release %llu %u", now, n->p); break;
	}
	number(f, n->call == XK_CALL_NEXT ? n->vp : n->answer);
	putc('\n', f);
}

int vpr_decisions_open(struct vpr *o, const struct xk_graph *g, struct xk_errs *e)
{
	struct xk_sched_conf c;

	if (o->decisions == NULL)
		return VPR_OK;
	if (g->vps->fifo == NULL) {
		xk_errs_add(e, NULL, 0, 0, "option --decisions: nobody decides who runs what but with schedule \"fifo\", as under ips");
		return VPR_USAGE;
	}
	o->decided = fopen(o->decisions, "w");
	if (o->decided == NULL) {
		xk_errs_add(e, NULL, 0, 0, "option --decisions: %s: %s", o->decisions, strerror(errno));
		return VPR_FAILED;
	}
	xk_vpset_note_sched(g->vps, note, o->decided, &c);
	fprintf(o->decided, "xk-decisions 1 processors %u pick %s queue %s depth %u quantum %u seed %llu runs %u\n", c.nprocs,
		picks[c.pick], c.queue == XK_QUEUE_ONE ? "one" : "processor", c.depth, c.quantum, (unsigned long long)c.seed,
		g->vps->nconn);
	return VPR_OK;
}

bool vpr_decisions_close(struct vpr *o)
{
	bool bad;

	if (o->decided == NULL)
		return true;
	bad = ferror(o->decided) != 0;
	bad = fclose(o->decided) != 0 || bad;
	o->decided = NULL;
	if (bad)
		fprintf(stderr, "vp-run: %s is short: it could not be written to its end\n", o->decisions);
	return !bad;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_advise.h - from measured figures to a threading preset, by the rules of the papers.
 *
 * What was measured is a struct advise_in; each rule looks at one or two of its
 * figures and speaks or is silent; who speaks gives points for or against presets.
 * The papers contradict each other (S2 wants the most threads, S1 fewer; S1's two rules
 * on connections exclude each other), so points are what decides, and what was
 * overruled is told.  Rules read nothing but the struct: a test gives them any figures.
 * Invariant: the same figures give the same advice; every rule is in it, silent or not.
 */
#ifndef XK_BENCH_ADVISE_H
#define XK_BENCH_ADVISE_H

#include "tools/vp-bench/bench.h"

enum advise_goal { ADVISE_SPEED, ADVISE_FAIR, ADVISE_SIMPLE };
extern const char *const advise_goals[];        /* "speed", "fair", "simple", NULL */

struct advise_in {
	enum advise_goal goal;
	double cpus;             /* processors that threads may run on */
	double conns;            /* connections that had messages */
	double top;              /* share of the busiest of all messages */
	double skew;             /* the busiest over the mean; 1: all alike */
	double bytes;            /* payload of a message */
	double ns, layer_ns;     /* of a message; of it in one node on its way */
	double called;           /* units that callers' threads ran, per message: user-level work outside workers */
	double copied;           /* 1: payload is copied; 0: not; NAN: not known */
	double xdr;              /* 1: there is a presentation layer */
};

enum advise_preset { ADVISE_UP, ADVISE_PPC, ADVISE_VPPC, ADVISE_TPC, ADVISE_MP, ADVISE_LP, ADVISE_CONNP_T, ADVISE_CONNP_L,
		     ADVISE_PRESETS };
extern const char *const advise_presets[ADVISE_PRESETS];

#define ADVISE_RULES 12u
struct advise_rule {
	const char *name, *cite, *says;
	char        input[160];      /* the figures it looked at */
	bool        spoke;
	int         points[ADVISE_PRESETS];
};
struct advise {
	struct advise_rule rule[ADVISE_RULES];
	unsigned           nrules;
	int                points[ADVISE_PRESETS];
	enum advise_preset best, next;
	char               line[2][160];     /* threading = ... of best and next */
	char               conflict[600];    /* who was overruled; "": nobody */
};
void advise(struct advise *a, const struct advise_in *in);

/* Figures from vp-run's JSON (with connections and vps); BENCH_OK, or a code and why. */
int  advise_from_record(const json_t *record, struct advise_in *in, char *why, size_t n);
/* What only the graph file tells: copies, presentation; and whether an argument `preset` chooses one. */
int  advise_from_file(const char *file, const char *const *args, unsigned nargs, struct advise_in *in, bool *preset);

#endif

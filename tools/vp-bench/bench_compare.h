/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_compare.h - is one set of runs faster than another?
 *
 * Sides that ran in turns, in the same random blocks, are compared pair by pair:
 * within a block either order is as likely, so when nothing differs the difference
 * of a pair is symmetric around zero whatever the noise looks like (skewed, of two
 * modes, drifting from block to block).  For such differences the interval of the
 * Walsh averages is exact: no distribution is assumed and none is resampled.  Runs
 * of different sweeps have no pairs; their means are compared as Welch does.
 * Invariant: a verdict other than "no difference shown" has an interval without zero
 * difference in it.
 */
#ifndef XK_BENCH_COMPARE_H
#define XK_BENCH_COMPARE_H

#include "tools/vp-bench/bench.h"
#include "tools/vp-bench/bench_stats.h"

#define BENCH_PAIRS 1024u

/* ---- statistics (bench_differ.c) -------------------------------------------------- */

/* Of n symmetric differences: median of the Walsh averages (Hodges and Lehmann) and
 * the exact interval that inverts the signed-rank test.  False: n is too small for
 * this confidence (7 for 0.98).  */
bool bench_signed_rank(const double *d, size_t n, double confidence, struct bench_interval *out);
/* mean(b) - mean(a) of independent runs; Welch's degrees of freedom.  False: a side
 * has fewer than two. */
bool bench_welch(const double *a, size_t na, const double *b, size_t nb, double confidence,
		 struct bench_interval *out);

struct bench_series { const double *v, *block; size_t n; };

enum bench_verdict { BENCH_NOT_MEASURED, BENCH_NO_DIFFERENCE, BENCH_BETTER, BENCH_WORSE };

struct bench_difference {
	enum bench_verdict verdict;            /* of b, seen from a */
	struct bench_interval in;              /* b / a, or b - a when a value is not above 0 */
	bool        ratio;
	double      mean_a, mean_b, percent;   /* by how much b is worse, in % of a; below 0: better */
	size_t      na, nb, pairs;
	const char *method, *why;              /* why: of BENCH_NOT_MEASURED */
};
/* paired: the blocks of both mean the same stretch of time. */
void bench_differ(const struct bench_series *a, const struct bench_series *b, bool paired, bool lower,
		  double confidence, struct bench_difference *out);

/* ---- documents (bench_compare.c) -------------------------------------------------- */

struct bench_compare_options {
	double      confidence;      /* that not one verdict of the whole comparison is wrong */
	double      fail_over;       /* percent; below 0: never */
	const char *metric;          /* NULL: the benches' own */
};

/* Side A and side B: of two results, or of one that ran in turns (doc_b NULL).
 * A JSON value after docs/schema/vp-compare-1.json; NULL and why when they measure
 * different things. */
json_t *bench_compare(const json_t *doc_a, const char *name_a, const json_t *doc_b, const char *name_b,
		      const struct bench_compare_options *o, char *why, size_t n);
void    bench_compare_show(FILE *f, const json_t *comparison);
/* The part of a document that is this side of a sweep in turns; NULL. */
json_t *bench_compare_side(const json_t *doc, const char *side, size_t no);

#endif

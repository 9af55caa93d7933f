/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_compare.h - is one set of runs faster than another?  compare.lua and differ.lua say it.
 */
#ifndef XK_BENCH_COMPARE_H
#define XK_BENCH_COMPARE_H

#include "tools/vp-bench/bench.h"

struct bench_compare_options {
	double      confidence;      /* that not one verdict of the whole comparison is wrong */
	double      fail_over;       /* percent; below 0: never */
	const char *metric;          /* NULL: the benches' own */
};

/* Side A and side B: of two results, or of one that ran in turns (doc_b NULL).
 * A JSON value after docs/schema/vp-compare-2.json; NULL and why when they measure
 * different things. */
json_t *bench_compare(json_t *doc_a, const char *name_a, json_t *doc_b, const char *name_b,
		      const struct bench_compare_options *o, char *why, size_t n);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpr_fair.c - how evenly the connections shared each window of time.
 *
 * The runner keeps each connection's messages per window; longer windows are
 * sums of shorter ones, so one run answers for a window, ten of them, a
 * hundred, and all of it.  Only whole windows count, and only connections of
 * the busiest application that were there when measuring began.
 */
#include "tools/vp-run/vpr.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct window { double jain, max_over_min, starved; };

/* Which of the old connections are the busiest node's; returns how many. */
static size_t chosen(const struct xk_run_result *r, uint64_t *which)
{
	size_t n = 0;

	for (uint64_t i = 0; i < r->nold; i++)
		if (r->busiest >= 0 && r->conn[i].node == r->busiest)
			which[n++] = i;
	return n;
}

static struct window shares(const uint64_t *count, size_t n)
{
	double sum = 0, squares = 0, lo = INFINITY, hi = 0, none = 0;

	for (size_t i = 0; i < n; i++) {
		double x = (double)count[i];

		sum += x;
		squares += x * x;
		lo = x < lo ? x : lo;
		hi = x > hi ? x : hi;
		none += x == 0;
	}
	return (struct window){ .jain = squares > 0 ? sum * sum / ((double)n * squares) : 1,
				.max_over_min = lo > 0 ? hi / lo : INFINITY, .starved = none / (double)n };
}

static int by_ratio(const void *a, const void *b)
{
	double x = ((const struct window *)a)->max_over_min, y = ((const struct window *)b)->max_over_min;

	return (x > y) - (x < y);
}

static json_t *summary(struct window *w, size_t n, xk_ns len)
{
	json_t *j = json_object();
	double jain = 0, starved = 0, worst = 1;

	for (size_t i = 0; i < n; i++) {
		jain += w[i].jain;
		starved += w[i].starved;
		worst = w[i].jain < worst ? w[i].jain : worst;
	}
	json_object_set_new(j, "window_ns", json_integer((json_int_t)len));
	json_object_set_new(j, "windows", json_integer((json_int_t)n));
	if (n == 0)
		return j;
	qsort(w, n, sizeof *w, by_ratio);
	json_object_set_new(j, "jain", json_real(jain / (double)n));
	json_object_set_new(j, "jain_worst", json_real(worst));
	json_object_set_new(j, "starved", json_real(starved / (double)n));
	json_object_set_new(j, "max_over_min",
			    isfinite(w[n / 2].max_over_min) ? json_real(w[n / 2].max_over_min) : json_null());
	return j;
}

/* Windows of `times` samples each. */
static json_t *windows(const struct xk_run_result *r, const uint64_t *which, size_t n, uint64_t times, xk_ns len)
{
	uint64_t total = r->nsamples / times;
	struct window *w = calloc(total + 1, sizeof *w);
	uint64_t *sum = calloc(n + 1, sizeof *sum);
	json_t *j = NULL;

	for (uint64_t i = 0; w != NULL && sum != NULL && i < total; i++) {
		memset(sum, 0, n * sizeof *sum);
		for (uint64_t k = i * times; k < (i + 1) * times; k++)
			for (size_t c = 0; c < n; c++)
				sum[c] += r->sample[k].conn[which[c]];
		w[i] = shares(sum, n);
	}
	if (w != NULL && sum != NULL)
		j = summary(w, n ? total : 0, len * times);
	free(w);
	free(sum);
	return j;
}

json_t *vpr_fairness(const struct xk_run_result *r, xk_ns window)
{
	static const uint64_t times[] = { 1, 10, 100 };
	uint64_t *which = calloc(r->nold + 1, sizeof *which);
	json_t *list = json_array();
	size_t n;

	if (which == NULL)
		return list;
	n = chosen(r, which);
	for (unsigned i = 0; i < XK_ARRAY_LEN(times); i++)
		json_array_append_new(list, windows(r, which, n, times[i], window));
	free(which);
	return list;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_judge.c - verdicts: does our result have the shape that is expected?
 *
 * A shape is a value at a point (a), a ratio of two points (a over b), or a
 * ratio of ratios (against), with a bound.  Ratios are paired by random block:
 * what a noisy minute did to one side it did to the other.  The interval is a
 * bootstrap over the pairs.
 *   pass   the bound holds over the whole interval, or (shown: false) the
 *          interval does not contradict it
 *   fail   the whole interval is beyond the bound
 * Orders, trends, knees and crossings, of more than two points, are in bench_curves.c.
 * Invariant: a shape that was not measured never passes.
 */
#include "tools/vp-bench/bench.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "tools/vp-bench/bench_stats.h"

#define RUNS_MAX 1024u

/* Values of one point by block; NAN where a block has none. */
struct column { double v[RUNS_MAX]; bool found; };

static const json_t *find_point(const json_t *part, const json_t *at)
{
	const json_t *p, *want;
	const char *name;
	size_t i;

	json_array_foreach(json_object_get(part, "points"), i, p) {
		bool fits = true;

		json_object_foreach((json_t *)at, name, want)
			fits &= strcmp(bench_text(json_object_get(p, "at"), name), json_string_value(want)) == 0;
		if (fits)
			return p;
	}
	return NULL;
}

static void fill(const json_t *part, const json_t *at, const char *metric, struct column *c)
{
	const json_t *p = find_point(part, at);
	double v[RUNS_MAX], block[RUNS_MAX];
	size_t n = p ? bench_doc_values(p, metric, v, block, RUNS_MAX) : 0;

	c->found = n != 0;
	for (size_t i = 0; i < RUNS_MAX; i++)
		c->v[i] = NAN;
	for (size_t i = 0; i < n; i++)
		if (block[i] >= 0 && block[i] < RUNS_MAX)
			c->v[(size_t)block[i]] = v[i];
}

/* a/over, or (a/over)/(x/y), block by block; returns how many blocks have all. */
static size_t pair_up(const struct column *c, unsigned ncols, double *above, double *below)
{
	size_t n = 0;

	for (size_t i = 0; i < RUNS_MAX; i++) {
		bool whole = true;

		for (unsigned k = 0; k < ncols; k++)
			whole &= !isnan(c[k].v[i]);
		if (!whole || (ncols > 1 && c[1].v[i] == 0) || (ncols > 2 && c[2].v[i] == 0))
			continue;
		above[n] = ncols > 2 ? c[0].v[i] / c[1].v[i] : c[0].v[i];
		below[n] = ncols > 2 ? c[2].v[i] / c[3].v[i] : ncols > 1 ? c[1].v[i] : 1;
		n += below[n] != 0;
	}
	return n;
}

static const char *measure(const json_t *part, const json_t *shape, struct bench_interval *in)
{
	const json_t *set = json_object_get(part, "settings"), *against = json_object_get(shape, "against");
	const char *metric = bench_text(shape, "metric");
	static struct column c[4];
	double above[RUNS_MAX], below[RUNS_MAX];
	const json_t *at[] = { json_object_get(shape, "a"), json_object_get(shape, "over"),
			       json_object_get(against, "a"), json_object_get(against, "over") };
	unsigned ncols = against ? 4 : at[1] ? 2 : 1;
	size_t n;

	if (*metric == '\0')
		metric = bench_text(json_object_get(part, "metric"), "name");
	for (unsigned i = 0; i < ncols; i++) {
		fill(part, at[i], metric, &c[i]);
		if (!c[i].found)
			return "a point has no value";
	}
	n = pair_up(c, ncols, above, below);
	if (n < 2)
		return "fewer than two blocks have all the points";
	if (ncols == 1)
		*in = bench_mean_interval(above, n, bench_real(set, "confidence"));
	else
		*in = bench_ratio_interval(above, below, n, bench_real(set, "confidence"),
					   (uint64_t)bench_real(set, "seed"));
	return NULL;
}

const char *bench_ratio_of(const json_t *part, const json_t *shape, const json_t *a, const json_t *over,
			   struct bench_interval *in)
{
	json_t *two = json_object();
	const char *missing;

	json_object_set(two, "a", (json_t *)a);
	json_object_set(two, "over", (json_t *)over);
	if (*bench_text(shape, "metric") != '\0')
		json_object_set(two, "metric", json_object_get(shape, "metric"));
	missing = measure(part, two, in);
	json_decref(two);
	return missing;
}

void bench_judge_say(json_t *shape, const char *verdict, const char *why)
{
	json_object_set_new(shape, "verdict", json_string(verdict));
	if (why != NULL)
		json_object_set_new(shape, "why", json_string(why));
	else
		json_object_del(shape, "why");
}

static void decide(json_t *shape, const struct bench_interval *in)
{
	double least = bench_real(shape, "at_least"), most = bench_real(shape, "at_most");
	bool against = (!isnan(least) && in->hi < least) || (!isnan(most) && in->lo > most);
	bool shown = !((!isnan(least) && in->lo < least) || (!isnan(most) && in->hi > most));

	json_object_set_new(shape, "value", json_real(in->mid));
	json_object_set_new(shape, "lo", json_real(in->lo));
	json_object_set_new(shape, "hi", json_real(in->hi));
	if (isnan(least) && isnan(most)) {
		bench_judge_say(shape, "reported", NULL);
		return;
	}
	json_object_set_new(shape, "shown", json_boolean(shown));
	bench_judge_say(shape, against ? "fail" : "pass", shown || against ? NULL : "within the interval");
}

static bool judge(const json_t *part, json_t *shape)
{
	struct bench_interval in;
	double cpus = bench_real(shape, "needs_cpus");
	const char *elsewhere = bench_text(shape, "not_here"), *missing;
	char why[80];

	if (*elsewhere != '\0') {
		bench_judge_say(shape, "not measurable here", elsewhere);
		return true;
	}
	if (!isnan(cpus) && (double)sysconf(_SC_NPROCESSORS_ONLN) < cpus) {
		snprintf(why, sizeof why, "needs %.0f processors, there are %ld", cpus, sysconf(_SC_NPROCESSORS_ONLN));
		bench_judge_say(shape, "not measurable here", why);
		return true;
	}
	if (bench_is_curve(shape))
		return bench_judge_curve(part, shape);
	missing = measure(part, shape, &in);
	if (missing != NULL) {
		bench_judge_say(shape, "not measured", missing);
		return true;
	}
	decide(shape, &in);
	return strcmp(bench_text(shape, "verdict"), "fail") != 0;
}

bool bench_doc_judge(json_t *part)
{
	json_t *shape;
	bool good = true;
	size_t i;

	json_array_foreach(json_object_get(part, "shapes"), i, shape)
		good &= judge(part, shape);
	return good;
}

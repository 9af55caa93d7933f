/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_curves.c - verdicts on shapes of more than two points: an order, a
 * trend, a knee, a crossing.
 *
 * All of them come down to ratios of neighbours, paired by block as every ratio
 * is.  `order` (largest first) and `rises` (smallest first) are as good as their
 * worst step; `within` is how much a step may miss.  `knee` is the first
 * point after which no step gains more than `within`; `crossing` is the first
 * point from which on curve a is at or above the other.  Both are places on the
 * x axis, and their interval is the places that the steps' intervals allow.
 * Invariant: a curve of which a point is missing is not measured.
 */
#include "tools/vp-bench/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/vp-bench/bench_stats.h"

#define STEPS 64u
#define FAR   1e9

bool bench_is_curve(const json_t *shape)
{
	return json_object_get(shape, "order") != NULL || json_object_get(shape, "rises") != NULL ||
	       json_object_get(shape, "knee") != NULL || json_object_get(shape, "crossing") != NULL;
}

/* A point's place on the x axis: its value, or its number where that is no number. */
static double place(const json_t *part, const json_t *points, size_t i)
{
	const char *text = bench_text(json_array_get(points, i), bench_text(part, "x"));
	char *end;
	double x = strtod(text, &end);

	return *text != '\0' && *end == '\0' ? x : (double)i + 1;
}

/* JSON has no infinity; what is nothing at all is far below anything. */
static void put(json_t *shape, const struct bench_interval *in)
{
	json_object_set_new(shape, "value", json_real(fmin(in->mid, FAR)));
	json_object_set_new(shape, "lo", json_real(fmin(in->lo, FAR)));
	json_object_set_new(shape, "hi", json_real(fmin(in->hi, FAR)));
}

/* Ratios of point i + up of a over point i + down of b. */
static const char *steps(const json_t *part, const json_t *shape, const json_t *a, size_t up, const json_t *b, size_t down,
			 struct bench_interval *step, size_t *n)
{
	size_t points = json_array_size(a);

	*n = points - (up > down ? up : down);
	if (points > STEPS)
		return "more than 64 points";
	for (size_t i = 0; i < *n; i++) {
		const char *missing = bench_ratio_of(part, shape, json_array_get(a, i + up), json_array_get(b, i + down), &step[i]);

		if (missing != NULL)
			return missing;
	}
	return NULL;
}

/* ---- orders and trends ------------------------------------------------------------- */

/* Each step is what should be less over what should be more: that may be nothing at all. */
static bool judge_trend(json_t *shape, const struct bench_interval *step, size_t n)
{
	double slack = bench_real(shape, "within"), least;
	struct bench_interval worst = { INFINITY, 0, 0 };
	bool against = false, shown = true;

	least = 1 - (isnan(slack) ? 0 : slack);
	for (size_t i = 0; i < n; i++) {
		struct bench_interval s = { 1 / step[i].mid, 1 / step[i].hi, 1 / step[i].lo };

		against |= s.hi < least;
		shown &= s.lo >= least;
		worst = s.mid < worst.mid ? s : worst;
	}
	put(shape, &worst);
	json_object_set_new(shape, "shown", json_boolean(shown && !against));
	bench_judge_say(shape, against ? "fail" : "pass", against || shown ? NULL : "within the interval");
	return !against;
}

/* ---- places ---------------------------------------------------------------------------- */

/* The verdict on a place and the places that it may have. */
static bool judge_place(json_t *shape, const struct bench_interval *in)
{
	double least = bench_real(shape, "at_least"), most = bench_real(shape, "at_most");
	bool against = (!isnan(least) && in->hi < least) || (!isnan(most) && in->lo > most);
	bool shown = !((!isnan(least) && in->lo < least) || (!isnan(most) && in->hi > most));

	put(shape, in);
	if (isnan(least) && isnan(most)) {
		bench_judge_say(shape, "reported", NULL);
		return true;
	}
	json_object_set_new(shape, "shown", json_boolean(shown && !against));
	bench_judge_say(shape, against ? "fail" : "pass", against || shown ? NULL : "within the interval");
	return !against;
}

/* After the last step that gains more than `gain`: as it is, and at its best and worst. */
static bool judge_knee(const json_t *part, json_t *shape, const struct bench_interval *step, size_t n)
{
	const json_t *points = json_object_get(shape, "knee");
	double gain = isnan(bench_real(shape, "within")) ? 0.05 : bench_real(shape, "within");
	size_t mid = 0, lo = 0, hi = 0;
	struct bench_interval in;

	for (size_t i = 0; i < n; i++) {
		mid = step[i].mid > 1 + gain ? i + 1 : mid;
		lo = step[i].lo > 1 + gain ? i + 1 : lo;
		hi = step[i].hi > 1 + gain ? i + 1 : hi;
	}
	in = (struct bench_interval){ place(part, points, mid), place(part, points, lo), place(part, points, hi) };
	return judge_place(shape, &in);
}

/* The first point from which all ratios are at least 1; n: there is none. */
static size_t above_from(const double *ratio, size_t n)
{
	while (n > 0 && ratio[n - 1] >= 1)
		n--;
	return n;
}

static bool judge_crossing(const json_t *part, json_t *shape, const struct bench_interval *step, size_t n)
{
	const json_t *points = json_object_get(json_object_get(shape, "crossing"), "a");
	double mid[STEPS] = { 0 }, lo[STEPS] = { 0 }, hi[STEPS] = { 0 };
	struct bench_interval in;
	size_t at[3];

	for (size_t i = 0; i < n; i++) {
		mid[i] = step[i].mid;
		lo[i] = step[i].lo;
		hi[i] = step[i].hi;
	}
	at[0] = above_from(mid, n);
	at[1] = above_from(hi, n);
	at[2] = above_from(lo, n);
	if (at[1] == n) {
		bench_judge_say(shape, "fail", "the curves do not cross here");
		return false;
	}
	in = (struct bench_interval){ at[0] < n ? place(part, points, at[0]) : place(part, points, n - 1),
		place(part, points, at[1]), at[2] < n ? place(part, points, at[2]) : place(part, points, n - 1) };
	if (!judge_place(shape, &in))
		return false;
	if (at[2] == n)          /* at the last point the interval still allows no crossing */
		bench_judge_say(shape, "pass", "within the interval");
	return true;
}

/* ---- all of them -------------------------------------------------------------------------- */

bool bench_judge_curve(const json_t *part, json_t *shape)
{
	const json_t *rises = json_object_get(shape, "rises"), *order = json_object_get(shape, "order");
	const json_t *knee = json_object_get(shape, "knee"), *cross = json_object_get(shape, "crossing");
	const json_t *a = rises ? rises : order ? order : knee ? knee : json_object_get(cross, "a");
	const json_t *b = cross ? json_object_get(cross, "over") : a;
	struct bench_interval step[STEPS];
	const char *missing;
	size_t n;

	missing = steps(part, shape, a, order || knee, b, rises != NULL, step, &n);
	if (missing != NULL) {
		bench_judge_say(shape, "not measured", missing);
		return true;
	}
	if (knee != NULL)
		return judge_knee(part, shape, step, n);
	if (cross != NULL)
		return judge_crossing(part, shape, step, n);
	return judge_trend(shape, step, n);
}

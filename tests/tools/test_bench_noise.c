/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_bench_noise.c - every expectation of every bench file against made-up runs: noise
 * must not pass it, the opposite shape must fail it, and its own shape must pass it.
 *
 * Noise: each point has a level of its own, each run the noise of a real machine (a drift,
 * a tenth of the runs far slower), and within each block the labels of the points are
 * dealt anew, so that no point is better than another.  The runs are as many as a sweep
 * of a fixed number has, which is the only look at them and the easiest way to pass.
 */
#include <CUnit/CUnit.h>
#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/xk_rand.h"
#include "tests/support/xk_test.h"
#include "tools/vp-bench/bench.h"

#define RUNS    8u
#define TRIALS  200u
#define POINTS  64u
#define METRICS 8u

static struct bench b;
static json_t *doc, *part;

/* ---- a part without runs ------------------------------------------------------------- */

static void fixed_runs(unsigned runs)
{
	static const char *const keys[] = { "runs_min", "runs_max", "runs_decide" };
	json_t *set = json_object_get(part, "settings");

	for (unsigned i = 0; i < XK_ARRAY_LEN(keys); i++)
		json_object_set_new(set, keys[i], json_integer((json_int_t)runs));
	/* Whatever machine this is: expectations that need processors are judged. */
	json_object_set_new(set, "processors", json_integer(64));
}

static bool begin(const char *file)
{
	if (bench_load(&b, file, NULL, 0) != BENCH_OK) {
		/* A graph alone is no bench and expects nothing. */
		if (b.spec == NULL || xk_spec_bench(b.spec) != NULL) {
			bench_print_errors(&b);
			CU_FAIL("a bench file does not load");
		}
		bench_free(&b);
		return false;
	}
	if (json_array_size(b.shapes) == 0) {
		bench_free(&b);
		return false;
	}
	doc = bench_doc_new();
	part = bench_doc_bench(doc, &b, "own");
	fixed_runs(RUNS);
	return true;
}

static void finish(void)
{
	json_decref(doc);
	bench_free(&b);
	doc = part = NULL;
}

static json_t *point(size_t i)
{
	return json_array_get(json_object_get(part, "points"), i);
}

static size_t points(void)
{
	return json_array_size(json_object_get(part, "points"));
}

static void no_runs(void)
{
	for (size_t i = 0; i < points(); i++)
		json_object_set_new(point(i), "runs", json_array());
}

static const char *metric_of(const json_t *shape)
{
	const char *m = bench_text(shape, "metric");

	return *m != '\0' ? m : b.metric->name;
}

static size_t find(const json_t *at)
{
	for (size_t i = 0; i < points(); i++)
		if (json_equal(json_object_get(point(i), "at"), at))
			return i;
	CU_FAIL_FATAL("an expectation names no point");
	return 0;
}

/* ---- noise ------------------------------------------------------------------------------- */

static double normal(struct xk_rand *r)
{
	double u = (xk_rand_unit(r) + 1e-12), v = xk_rand_unit(r);

	return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

/* Of a metric: the middle of its levels, where its bounds are. */
static double middle_of(const char *metric)
{
	const json_t *s;
	size_t i;

	json_array_foreach(json_object_get(part, "shapes"), i, s) {
		double lo = bench_real(s, "at_least"), hi = bench_real(s, "at_most");

		if (strcmp(metric_of(s), metric) != 0)
			continue;
		if (!isnan(bench_real(s, "step")))
			return 50 * bench_real(s, "step");
		if (json_object_get(s, "a") != NULL && json_object_get(s, "over") == NULL && !isnan(lo + hi) && lo > 0)
			return sqrt(lo * hi);
		if (json_object_get(s, "a") != NULL && json_object_get(s, "over") == NULL && !isnan(hi) && hi > 0)
			return hi;
	}
	return 1;
}

static double level(const char *metric, double middle, struct xk_rand *r)
{
	if (strstr(metric, "correlation") != NULL)
		return 2 * xk_rand_unit(r) - 1;
	return middle * exp((xk_rand_unit(r) - 0.5) * 6);
}

static double noisy(double v, unsigned block, double slope, struct xk_rand *r)
{
	double slow = xk_rand_below(r, 10) == 0 ? 0.6 : 1;

	return v * slow * exp(0.08 * normal(r) + slope * block);
}

static void deal(unsigned *label, size_t n, struct xk_rand *r)
{
	for (size_t i = 0; i < n; i++)
		label[i] = (unsigned)i;
	for (size_t i = n; i > 1; i--) {
		size_t k = xk_rand_below(r, i);
		unsigned t = label[i - 1];

		label[i - 1] = label[k];
		label[k] = t;
	}
}

static unsigned metrics(const char *name[METRICS])
{
	const json_t *s;
	unsigned n = 0;
	size_t i;

	json_array_foreach(json_object_get(part, "shapes"), i, s) {
		unsigned k = 0;

		while (k < n && strcmp(name[k], metric_of(s)) != 0)
			k++;
		if (k == n && n < METRICS)
			name[n++] = metric_of(s);
	}
	return n;
}

static void noise(struct xk_rand *r)
{
	const char *name[METRICS];
	unsigned n = metrics(name), label[POINTS];
	double at[METRICS][POINTS], slope = 0.02 * normal(r);
	json_t *none = json_object();
	size_t np = points();

	no_runs();
	for (unsigned m = 0; m < n; m++)
		for (size_t i = 0; i < np; i++)
			at[m][i] = level(name[m], middle_of(name[m]), r);
	for (unsigned block = 0; block < RUNS; block++) {
		deal(label, np, r);
		for (size_t i = 0; i < np; i++) {
			json_t *run = json_object();

			for (unsigned m = 0; m < n; m++)
				json_object_set_new(run, name[m], json_real(noisy(at[m][label[i]], block, slope, r)));
			bench_doc_run(part, (unsigned)i, block, none, run);
		}
	}
	json_decref(none);
}

struct tally { unsigned passed, judged, files, expectations; };

static bool is_expected(const json_t *s)
{
	return json_object_get(s, "skip") == NULL && strcmp(bench_text(s, "verdict"), "reported") != 0;
}

/* Of a file's own, so that another file changes nothing for it. */
static uint64_t stream_of(const char *name)
{
	uint64_t h = 14695981039346656037u;     /* FNV-1a */

	for (; *name != '\0'; name++)
		h = (h ^ (uint8_t)*name) * 1099511628211u;
	return h;
}

static void noise_on_file(const char *file, struct tally *t)
{
	unsigned passes[256] = { 0 };
	struct xk_rand r;
	const json_t *s;
	size_t i;

	if (!begin(file))
		return;
	CU_ASSERT_FATAL(points() <= POINTS && json_array_size(json_object_get(part, "shapes")) <= 256);
	xk_rand_init(&r, 20260101, stream_of(b.name));
	for (unsigned long k = 0; k < xk_test_rounds(TRIALS); k++) {
		noise(&r);
		(void)bench_doc_judge(part, NULL);
		json_array_foreach(json_object_get(part, "shapes"), i, s) {
			passes[i] += strcmp(bench_text(s, "verdict"), "pass") == 0;
			t->judged += is_expected(s);
			t->expectations += k == 0 && is_expected(s);
		}
	}
	/* 5 % of 200, and three deviations of chance above. */
	json_array_foreach(json_object_get(part, "shapes"), i, s) {
		t->passed += passes[i];
		CU_ASSERT_TRUE(passes[i] <= TRIALS / 20 + 9);
		if (passes[i] > TRIALS / 20 + 9)
			fprintf(stderr, "# %s: noise passed \"%s\" %u times of %u\n", b.name, bench_text(s, "doc"), passes[i], TRIALS);
	}
	t->files++;
	finish();
}

/* Every bench file of graphs/; those without expectations have nothing to pass. */
static void each_file(void (*fn)(const char *file, struct tally *t), struct tally *t)
{
	static const char *const where[] = { "seeds/*/*.lua", "bench/*.lua" };
	char pattern[2048];
	glob_t g;

	for (unsigned i = 0; i < XK_ARRAY_LEN(where); i++) {
		snprintf(pattern, sizeof pattern, "%s/graphs/%s", getenv("top_srcdir") ? getenv("top_srcdir") : ".", where[i]);
		CU_ASSERT_EQUAL_FATAL(glob(pattern, 0, NULL, &g), 0);
		for (size_t k = 0; k < g.gl_pathc; k++)
			fn(g.gl_pathv[k], t);
		globfree(&g);
	}
}

static void noise_passes_one_expectation_in_twenty_at_most(void)
{
	struct tally t = { 0 };

	each_file(noise_on_file, &t);
	fprintf(stderr, "# noise: %u files, %u expectations, %u of %u verdicts pass (%.1f %%)\n", t.files, t.expectations, t.passed,
		t.judged, 100.0 * t.passed / t.judged);
	CU_ASSERT_TRUE(t.files >= 18 && t.expectations >= 120);
	CU_ASSERT_TRUE(t.passed * 20 <= t.judged);
}

/* ---- shapes -------------------------------------------------------------------------------- */

static double value[POINTS];

static void set(const json_t *at, double v)
{
	value[find(at)] = v;
}

static void quiet_runs(const json_t *shape, struct xk_rand *r)
{
	json_t *none = json_object();

	no_runs();
	for (unsigned block = 0; block < RUNS; block++)
		for (size_t i = 0; i < points(); i++)
			bench_doc_run(part, (unsigned)i, block, none,
				      json_pack("{s:f}", metric_of(shape), value[i] * (1 + 0.004 * normal(r))));
	json_decref(none);
}

/* A list whose first is the largest by `factor` a step, or by `step`; reversed: the smallest. */
static void lay(const json_t *list, bool reversed, double factor, double step)
{
	size_t n = json_array_size(list);

	for (size_t i = 0; i < n; i++) {
		double rank = (double)(reversed ? i : n - 1 - i);

		set(json_array_get(list, i), isnan(step) ? pow(factor, rank) : 10 * step * rank + step);
	}
}

/* Well beyond a bound of a difference: the noise is a share of it. */
static double clear_of(double bound) { return fmax(0.3, fabs(bound) / 20); }

/* What lies `beyond` (-1 below, +1 above) the bounds, or within them (0). */
static double target(const json_t *s, int beyond)
{
	double lo = bench_real(s, "at_least"), hi = bench_real(s, "at_most");
	bool share = json_object_get(s, "minus") == NULL && strstr(metric_of(s), "correlation") == NULL;

	if (share && beyond == 0)
		return isnan(lo) ? hi / 1.5 : isnan(hi) ? lo * 1.5 : sqrt(lo * hi);
	if (share)
		return beyond < 0 ? lo / 1.5 : hi * 1.5;
	if (beyond == 0)
		return isnan(hi) ? lo + clear_of(lo) : isnan(lo) ? hi - clear_of(hi) : (lo + hi) / 2;
	return beyond < 0 ? lo - clear_of(lo) : hi + clear_of(hi);
}

static void lay_value(const json_t *s, int beyond)
{
	const json_t *a = json_object_get(s, "a"), *against = json_object_get(s, "against");
	double v = target(s, beyond);

	/* a may stand in the ratio twice: (a / x) / (y / a). */
	if (against != NULL && json_equal(json_object_get(against, "over"), a))
		v = sqrt(v);
	set(a, json_object_get(s, "minus") != NULL ? 1 + v : v);
}

static double x_of(const json_t *at) { return strtod(bench_text(at, bench_text(part, "x")), NULL); }

/* The first point of a knee's list that lies before (-1), within (0) or after (+1) its bounds; -1: none does. */
static int knee_at(const json_t *s, int beyond)
{
	double lo = bench_real(s, "at_least"), hi = bench_real(s, "at_most");
	const json_t *at;
	size_t i;

	json_array_foreach(json_object_get(s, "knee"), i, at) {
		double x = x_of(at);
		int side = !isnan(lo) && x < lo ? -1 : !isnan(hi) && x > hi ? 1 : 0;

		if (side == beyond)
			return (int)i;
	}
	return -1;
}

/* It gains until there. */
static void lay_knee(const json_t *s, int beyond)
{
	const json_t *at;
	size_t i;

	json_array_foreach(json_object_get(s, "knee"), i, at)
		set(at, pow(1.5, fmin((double)i, knee_at(s, beyond))));
}

/* a below the other at the first points and above it from `from` on; swapped: the other way. */
static void lay_crossing(const json_t *s, bool swapped)
{
	const json_t *cross = json_object_get(s, "crossing"), *a = json_object_get(cross, "a"), *at;
	size_t i;

	json_array_foreach(a, i, at) {
		bool above = x_of(at) >= bench_real(s, "at_most");

		set(at, above != swapped ? 1.5 : 1 / 1.5);
	}
}

/* One curve falls at its second point and the other at its last; swapped: the other way. */
static void lay_onset(const json_t *s, bool swapped)
{
	const json_t *pair = json_object_get(s, "onset");
	const json_t *early = json_object_get(pair, swapped ? "over" : "a"), *late = json_object_get(pair, swapped ? "a" : "over");

	for (size_t i = 1; i < json_array_size(early); i++)
		set(json_array_get(early, i), 0.5);
	set(json_array_get(late, json_array_size(late) - 1), 0.5);
}

static const char *shaped(json_t *s, int beyond, struct xk_rand *r)
{
	const json_t *order = json_object_get(s, "order"), *rises = json_object_get(s, "rises");

	for (size_t i = 0; i < POINTS; i++)
		value[i] = 1;
	if (order != NULL || rises != NULL)
		lay(order ? order : rises, (order == NULL) != (beyond != 0), 1.5, bench_real(s, "step"));
	else if (json_object_get(s, "crossing") != NULL)
		lay_crossing(s, beyond != 0);
	else if (json_object_get(s, "knee") != NULL)
		lay_knee(s, beyond);
	else if (json_object_get(s, "onset") != NULL)
		lay_onset(s, beyond != 0);
	else
		lay_value(s, beyond);
	quiet_runs(s, r);
	(void)bench_doc_judge(part, NULL);
	return bench_text(s, "verdict");
}

static void expect(json_t *s, int beyond, const char *verdict, struct xk_rand *r)
{
	const char *got = shaped(s, beyond, r);

	CU_ASSERT_STRING_EQUAL(got, verdict);
	if (strcmp(got, verdict) != 0)
		fprintf(stderr, "# %s: \"%s\" says %s, not %s (%s)\n", b.name, bench_text(s, "doc"), got, verdict,
			bench_text(s, "why"));
}

static bool has_bound(const json_t *s)
{
	static const char *const keys[] = { "at_least", "at_most", "order", "rises", "onset" };
	bool any = false;

	for (unsigned i = 0; i < XK_ARRAY_LEN(keys); i++)
		any |= json_object_get(s, keys[i]) != NULL;
	return any && json_object_get(s, "skip") == NULL;
}

/* A knee is at a point of its list, which need not go beyond both bounds. */
static bool can_lie(const json_t *s, int beyond) { return json_object_get(s, "knee") == NULL || knee_at(s, beyond) >= 0; }

static void shapes_on_file(const char *file, struct tally *t)
{
	struct xk_rand r;
	json_t *all, *s;
	size_t i;

	if (!begin(file))
		return;
	xk_rand_init(&r, 7, t->files++);
	all = json_incref(json_object_get(part, "shapes"));
	json_array_foreach(all, i, s) {
		bool steps = json_object_get(s, "order") || json_object_get(s, "rises") || json_object_get(s, "crossing") ||
			     json_object_get(s, "onset");

		if (!has_bound(s))
			continue;
		json_object_set_new(part, "shapes", json_pack("[O]", s));
		expect(s, 0, "pass", &r);
		if ((steps || json_object_get(s, "at_least") != NULL) && can_lie(s, -1))
			expect(s, -1, "fail", &r);
		if (!steps && json_object_get(s, "at_most") != NULL && can_lie(s, 1))
			expect(s, 1, "fail", &r);
		t->expectations++;
	}
	json_decref(all);
	finish();
}

static void the_opposite_of_every_shape_fails_and_the_shape_itself_passes(void)
{
	struct tally t = { 0 };

	each_file(shapes_on_file, &t);
	CU_ASSERT_TRUE(t.expectations >= 120);
}

/* ---- looking several times ------------------------------------------------------------------- */

static void load_small(void)
{
	static const char text[] =
		"local a = args { n = uint { 1 } }\nicmp { over = stack { ip { addr = \"10.0.0.1/8\" }, arp {}, eth {}, "
		"eth_mem {} } }\nreturn bench \"t\" { graph = graph \"g\" { threading = up { } }, metric = \"gbit\", sweep = { n = { 1, 2 } },"
		" shape = { { doc = \"d\", a = { n = 1 }, over = { n = 2 }, at_least = 1 } } }";

	CU_ASSERT_EQUAL_FATAL(bench_load_text(&b, "t.lua", text, NULL, 0), BENCH_OK);
	doc = bench_doc_new();
	part = bench_doc_bench(doc, &b, "own");
}

/* As the sweep does: runs until nobody asks for more, and the verdict of then. */
static const char *swept(struct xk_rand *r)
{
	json_t *none = json_object();

	no_runs();
	for (unsigned block = 0; block < 40; block++) {
		json_t *w = bench_doc_wanted(part, block, NULL);
		bool more = json_array_size(json_object_get(w, "points")) != 0 || json_is_true(json_object_get(w, "keep"));

		json_decref(w);
		if (!more)
			break;
		for (unsigned p = 0; p < 2; p++)
			bench_doc_run(part, p, block, none, json_pack("{s:f}", "gbit", noisy(1, block, 0, r)));
	}
	json_decref(none);
	(void)bench_doc_judge(part, NULL);
	return bench_text(json_array_get(json_object_get(part, "shapes"), 0), "verdict");
}

static void looking_until_it_is_decided_passes_no_more_noise(void)
{
	unsigned pass = 0, fail = 0, trials = 600;
	struct xk_rand r;

	xk_rand_init(&r, 11, 0);
	load_small();
	for (unsigned i = 0; i < trials; i++) {
		const char *v = swept(&r);

		pass += strcmp(v, "pass") == 0;
		fail += strcmp(v, "fail") == 0;
	}
	fprintf(stderr, "# sweeps of noise until decided: %u of %u pass, %u fail\n", pass, trials, fail);
	CU_ASSERT_TRUE(pass <= trials / 20 && fail <= trials / 20);
	finish();
}

static CU_TestInfo tests[] = {
	{ "noise passes one expectation in twenty at most", noise_passes_one_expectation_in_twenty_at_most },
	{ "the opposite of every shape fails, and the shape itself passes", the_opposite_of_every_shape_fails_and_the_shape_itself_passes },
	{ "looking until it is decided passes no more noise", looking_until_it_is_decided_passes_no_more_noise },
	CU_TEST_INFO_NULL
};

int main(void)
{
	static CU_SuiteInfo suites[] = { { .pName = "verdicts of noise", .pTests = tests }, CU_SUITE_INFO_NULL };

	return xk_test_main(suites);
}

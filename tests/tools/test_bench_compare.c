/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_bench_compare.c - the referee: A against A shows no difference, a planted
 * slow-down is found, and what measures different things is refused.
 *
 * Runs are made up with seeded noise as real machines have it, put into documents
 * and compared as results are, so that nothing here depends on a clock.
 */
#include <CUnit/CUnit.h>
#include <math.h>
#include <string.h>

#include "runtime/base/xk_rand.h"
#include "tests/support/xk_test.h"
#include "tools/vp-bench/bench_compare.h"
#include "tools/vp-bench/bench_lua.h"

#define PAIRS  30u
#define TRIALS 200u

/* ---- estimators with known answers -------------------------------------------------- */

#define NEAR(a, b, e) CU_ASSERT_DOUBLE_EQUAL(a, b, e)

static char why[400];

static json_t *list(const double *v, size_t n)
{
	json_t *l = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(l, json_real(v[i]));
	return l;
}

struct bounds { double mid, lo, hi; };

/* stats.NAME(v..., confidence); false: there is none. */
static bool interval(const char *name, const double *a, size_t na, const double *b, size_t nb, double confidence,
		     struct bounds *out)
{
	json_t *args[3] = { list(a, na) }, *r;
	unsigned n = 1;
	bool good;

	if (b != NULL)
		args[n++] = list(b, nb);
	args[n++] = json_real(confidence);
	r = bench_lua_call("stats", name, args, n, why, sizeof why);
	CU_ASSERT_PTR_NOT_NULL_FATAL(r);
	good = json_is_object(r);
	*out = (struct bounds){ bench_real(r, "mid"), bench_real(r, "lo"), bench_real(r, "hi") };
	json_decref(r);
	for (unsigned i = 0; i < n; i++)
		json_decref(args[i]);
	return good;
}

static bool signed_rank(const double *d, size_t n, double confidence, struct bounds *out)
{
	return interval("signed_rank", d, n, NULL, 0, confidence, out);
}

static bool welch(const double *a, size_t na, const double *b, size_t nb, double confidence, struct bounds *out)
{
	return interval("welch", a, na, b, nb, confidence, out);
}

static void signed_ranks_match_the_tables(void)
{
	/* Critical values of the signed-rank test: n = 10: P(T <= 5) = 0.0098, P(T <= 8) = 0.0244. */
	const double d[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 };
	double walsh[55];
	struct bounds in;
	unsigned m = 0;

	for (unsigned s = 2; s <= 20; s++)               /* the Walsh averages in order: sums of i <= k */
		for (unsigned i = 1; i <= 10; i++)
			if (s > i && s - i >= i && s - i <= 10)
				walsh[m++] = s / 2.0;
	CU_ASSERT_EQUAL_FATAL(m, 55);
	CU_ASSERT_TRUE(signed_rank(d, 10, 0.98, &in));
	NEAR(in.mid, 5.5, 1e-12);
	NEAR(in.lo, walsh[5], 1e-12);
	NEAR(in.hi, walsh[49], 1e-12);
	CU_ASSERT_TRUE(signed_rank(d, 10, 0.95, &in));
	NEAR(in.lo, walsh[8], 1e-12);
	CU_ASSERT_FALSE(signed_rank(d, 6, 0.98, &in));      /* 2 / 2^6 is more than 0.02 */
	CU_ASSERT_TRUE(signed_rank(d, 7, 0.98, &in));
	NEAR(in.lo, 1, 0);
	NEAR(in.hi, 7, 0);
}

static void many_pairs_agree_with_few_where_both_apply(void)
{
	double d[61];
	struct bounds exact, normal;

	for (unsigned i = 0; i < 61; i++)
		d[i] = (double)((i * 37u) % 61u);
	CU_ASSERT_TRUE(signed_rank(d, 60, 0.98, &exact));
	CU_ASSERT_TRUE(signed_rank(d, 61, 0.98, &normal));
	NEAR(exact.lo, normal.lo, 1.0);
	NEAR(exact.hi, normal.hi, 1.0);
}

static void welch_matches_a_worked_example(void)
{
	/* Means 3 and 7, variances 2.5 and 10, n = 5: se = sqrt(2.5), df = 5.88, t(0.95, 5) = 2.5706. */
	const double a[] = { 1, 2, 3, 4, 5 }, b[] = { 3, 5, 7, 9, 11 };
	struct bounds in;

	CU_ASSERT_TRUE(welch(a, 5, b, 5, 0.95, &in));
	NEAR(in.mid, 4, 1e-12);
	NEAR(in.hi - in.mid, 2.5706 * sqrt(2.5), 1e-3);
	CU_ASSERT_FALSE(welch(a, 1, b, 5, 0.95, &in));
}

struct series { const double *v, *block; size_t n; };

static json_t *differ(const struct series *a, const struct series *b, bool lower)
{
	json_t *args[] = { json_pack("{s:o, s:o}", "v", list(a->v, a->n), "block", list(a->block, a->n)),
			   json_pack("{s:o, s:o}", "v", list(b->v, b->n), "block", list(b->block, b->n)),
			   json_pack("{s:b, s:b, s:f}", "paired", 1, "lower", lower, "confidence", 0.98) };
	json_t *d = bench_lua_call("differ", "series", args, 3, why, sizeof why);

	CU_ASSERT_PTR_NOT_NULL_FATAL(d);
	for (unsigned i = 0; i < 3; i++)
		json_decref(args[i]);
	return d;
}

static void values_of_zero_are_subtracted(void)
{
	const double a[] = { 0, 1, 0, 2, 1, 0, 1, 0 }, b[] = { 9, 8, 9, 9, 10, 9, 8, 9 };
	const double block[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	struct series x = { a, block, 8 }, y = { b, block, 8 };
	json_t *d = differ(&x, &y, true);

	CU_ASSERT_TRUE(json_is_false(json_object_get(d, "ratio")));
	CU_ASSERT_STRING_EQUAL(bench_text(d, "verdict"), "worse");
	CU_ASSERT_TRUE(bench_real(d, "lo") > 6 && bench_real(d, "hi") < 10);
	json_decref(d);
	d = differ(&x, &x, true);
	CU_ASSERT_STRING_EQUAL(bench_text(d, "verdict"), "no difference");
	json_decref(d);
}

static void blocks_that_one_side_lacks_make_no_pair(void)
{
	const double a[] = { 1, 2, 4 }, b[] = { 2, 8 }, ba[] = { 0, 1, 2 }, bb[] = { 0, 2 };
	struct series x = { a, ba, 3 }, y = { b, bb, 2 }, none = { a, ba, 0 };
	json_t *d = differ(&x, &y, false);

	CU_ASSERT_EQUAL(bench_real(d, "pairs"), 2);
	NEAR(bench_real(d, "mid"), 2, 1e-12);
	NEAR(bench_real(d, "percent"), -100, 1e-9);
	json_decref(d);
	d = differ(&x, &none, false);
	CU_ASSERT_STRING_EQUAL(bench_text(d, "verdict"), "not measured");
	CU_ASSERT_STRING_EQUAL(bench_text(d, "why"), "side B has no value");
	json_decref(d);
}

/* ---- documents of made-up runs --------------------------------------------------------- */

static double gauss(struct xk_rand *r)
{
	double s = 0;

	for (int i = 0; i < 12; i++)
		s += xk_rand_unit(r);
	return s - 6;
}

/* Time of a run; where: its place in the sweep, 0 to 1, walk: the machine's mood there. */
typedef double (*noise_fn)(struct xk_rand *r, double where, double walk);

static double normal(struct xk_rand *r, double where, double walk)
{
	(void)where;
	(void)walk;
	return 100 + 2 * gauss(r);
}

static double skewed(struct xk_rand *r, double where, double walk)
{
	(void)where;
	(void)walk;
	return 100 - 3 * log(1 - xk_rand_unit(r));
}

static double drifting(struct xk_rand *r, double where, double walk)
{
	return (100 + gauss(r)) * (1 + 0.3 * where + walk);
}

static double bimodal(struct xk_rand *r, double where, double walk)
{
	(void)where;
	(void)walk;
	return (100 + gauss(r)) * (xk_rand_unit(r) < 0.1 ? 1.2 : 1);
}

static const struct { const char *name; noise_fn fn; } noises[] = {
	{ "normal", normal }, { "skewed", skewed }, { "drifting", drifting }, { "bimodal", bimodal },
};

static json_t *part(const char *side, unsigned npoints)
{
	json_t *points = json_array();

	for (unsigned i = 0; i < npoints; i++)
		json_array_append_new(points, json_pack("{s:{s:o}, s:s, s:[], s:{}}", "at", "n", json_sprintf("%u", i),
							"status", "done", "runs", "metrics"));
	return json_pack("{s:s, s:s, s:{s:s, s:i}, s:{s:s, s:s, s:s, s:s}, s:o, s:b}", "name", "t", "side", side, "settings",
			 "preset", "own", "duration_ns", 1, "metric", "name", "ns", "unit", "ns", "doc", "d",
			 "better", "lower", "points", points, "complete", 1);
}

static json_t *document(json_t *a, json_t *b)
{
	json_t *doc = json_pack("{s:s, s:s, s:{s:{}, s:[]}, s:[o]}", "version", BENCH_VERSION, "started", "now",
				"environment", "mitigations", "warnings", "benches", a);

	if (b != NULL)
		json_array_append_new(json_object_get(doc, "benches"), b);
	return doc;
}

static void add_run(json_t *p, unsigned point, unsigned block, double ns)
{
	json_t *runs = json_object_get(json_array_get(json_object_get(p, "points"), point), "runs");

	json_array_append_new(runs, json_pack("{s:i, s:{s:f}}", "block", (int)block, "metrics", "ns", ns));
}

/* Runs of both sides in turns, as a sweep makes them. */
static void fill(json_t *a, json_t *b, unsigned npoints, noise_fn noise, double slower, struct xk_rand *r)
{
	double walk = 0;

	for (unsigned k = 0; k < PAIRS; k++) {
		double where = (double)k / PAIRS;

		walk += 0.02 * gauss(r);
		for (unsigned i = 0; i < npoints; i++) {
			add_run(a, i, k, noise(r, where, walk));
			add_run(b, i, k, slower * noise(r, where, walk));
		}
	}
}

static json_t *compare(json_t *a, json_t *b)
{
	static const struct bench_compare_options o = { .confidence = 0.98, .fail_over = 2 };
	json_t *out = bench_compare(a, "a.json", b, "b.json", &o, why, sizeof why);

	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	return out;
}

/* In how many of the points this verdict stands. */
static unsigned says(const json_t *comparison, const char *verdict)
{
	const json_t *p;
	unsigned n = 0;
	size_t i;

	json_array_foreach(json_object_get(comparison, "points"), i, p)
		n += strcmp(bench_text(p, "verdict"), verdict) == 0;
	return n;
}

enum { IN_TURNS, ONE_AFTER_THE_OTHER };

/* Of 200 comparisons, in how many some point says other than "no difference", and "slower". */
static void trials(noise_fn noise, int how, unsigned npoints, double slower, unsigned *other, unsigned *found)
{
	struct xk_rand r;

	xk_rand_init(&r, 11, 0);
	*other = *found = 0;
	for (unsigned t = 0; t < TRIALS; t++) {
		json_t *a = part("A", npoints), *b = part("B", npoints), *one, *two = NULL, *answer;

		fill(a, b, npoints, noise, slower, &r);
		if (how == ONE_AFTER_THE_OTHER) {
			json_object_del(a, "side");
			json_object_del(b, "side");
			two = document(b, NULL);
		}
		one = document(a, two ? NULL : b);
		answer = compare(one, two);
		*other += says(answer, "no difference shown") != npoints;
		*found += says(answer, "slower") == npoints;
		json_decref(answer);
		json_decref(one);
		json_decref(two);
	}
}

static void no_more_than_six_percent(int how, unsigned npoints)
{
	unsigned other, found;

	for (unsigned i = 0; i < XK_ARRAY_LEN(noises); i++) {
		trials(noises[i].fn, how, npoints, 1.0, &other, &found);
		fprintf(stderr, "# %s noise: %u false verdicts of %u\n", noises[i].name, other, TRIALS);
		CU_ASSERT_TRUE(other * 100 < 6 * TRIALS);
	}
}

static void a_against_a_in_turns_shows_no_difference(void)
{
	no_more_than_six_percent(IN_TURNS, 1);
}

static void a_against_a_of_two_sweeps_shows_no_difference(void)
{
	no_more_than_six_percent(ONE_AFTER_THE_OTHER, 1);
}

static void ten_points_are_no_ten_chances_to_be_wrong(void)
{
	no_more_than_six_percent(IN_TURNS, 10);
}

static void five_percent_slower_is_found_in_turns(void)
{
	unsigned other, found;

	for (unsigned i = 0; i < XK_ARRAY_LEN(noises); i++) {
		trials(noises[i].fn, IN_TURNS, 1, 1.05, &other, &found);
		fprintf(stderr, "# %s noise: found in %u of %u\n", noises[i].name, found, TRIALS);
		/* One run of ten in a mode 20 % slower: ranks lose a pair in five, not the verdict. */
		CU_ASSERT_TRUE(found * 100 >= (noises[i].fn == bimodal ? 80 : 98) * TRIALS);
		CU_ASSERT_EQUAL(found, other);
	}
}

static void two_sweeps_find_it_where_the_machine_stands_still(void)
{
	unsigned other, found;

	trials(normal, ONE_AFTER_THE_OTHER, 1, 1.05, &other, &found);
	CU_ASSERT_TRUE(found * 100 >= 99 * TRIALS);
	trials(drifting, ONE_AFTER_THE_OTHER, 1, 1.05, &other, &found);
	CU_ASSERT_TRUE(found * 100 < 50 * TRIALS);      /* what turns are for */
}

/* ---- refusals, and what is told ------------------------------------------------------------ */

static void refused(json_t *a, json_t *b, const char *metric, const char *words)
{
	struct bench_compare_options o = { .confidence = 0.98, .fail_over = -1, .metric = metric };

	CU_ASSERT_PTR_NULL(bench_compare(a, "a.json", b, "b.json", &o, why, sizeof why));
	CU_ASSERT_PTR_NOT_NULL(strstr(why, words));
	json_decref(a);
	json_decref(b);
}

static json_t *lonely(const char *name)
{
	json_t *p = part("A", 1);

	json_object_del(p, "side");
	json_object_set_new(p, "name", json_string(name));
	add_run(p, 0, 0, 1);
	return document(p, NULL);
}

static void what_measures_other_things_is_refused(void)
{
	json_t *other = lonely("t");

	refused(lonely("t"), lonely("u"), NULL, "no point of the same bench");
	json_object_set_new(json_object_get(json_array_get(json_object_get(other, "benches"), 0), "metric"), "name",
			    json_string("gbit"));
	refused(lonely("t"), other, NULL, "measures ns in A and gbit in B");
	refused(lonely("t"), NULL, NULL, "has no two sides");
	refused(lonely("t"), document(part("A", 1), part("B", 1)), NULL, "b.json: has both sides already");
}

static bool warnings(const json_t *comparison, const char *words)
{
	const json_t *d;
	size_t i;

	json_array_foreach(json_object_get(comparison, "warnings"), i, d)
		if (strstr(json_string_value(d), words) != NULL)
			return true;
	return false;
}

static void other_machines_and_settings_are_told(void)
{
	json_t *a = lonely("t"), *b = lonely("t"), *answer;
	json_t *env = json_object_get(b, "environment"), *bench = json_array_get(json_object_get(b, "benches"), 0);

	json_object_set_new(env, "kernel", json_string("another"));
	json_object_set_new(json_object_get(bench, "settings"), "duration_ns", json_integer(2));
	json_object_set_new(bench, "complete", json_false());
	json_array_append_new(json_object_get(env, "warnings"), json_string("loud"));
	answer = compare(a, b);
	CU_ASSERT_TRUE(warnings(answer, "the machine differs: kernel is not told in A, \"another\" in B"));
	CU_ASSERT_TRUE(warnings(answer, "t: a setting differs: duration_ns is 1 in A, 2 in B"));
	CU_ASSERT_TRUE(warnings(answer, "stopped before its end"));
	CU_ASSERT_TRUE(warnings(answer, "B: loud"));
	CU_ASSERT_TRUE(warnings(answer, "one after the other"));
	CU_ASSERT_EQUAL(says(answer, "not measured"), 1);           /* a run each is not enough */
	json_decref(answer);
	json_decref(a);
	json_decref(b);
}

static void only_what_is_shown_fails(void)
{
	json_t *a = part("A", 2), *b = part("B", 2), *doc, *answer;
	struct xk_rand r;

	xk_rand_init(&r, 3, 0);
	for (unsigned k = 0; k < PAIRS; k++) {
		add_run(a, 0, k, 100 + gauss(&r));
		add_run(b, 0, k, 101 + gauss(&r));              /* 1 %: shown or not, within the 2 % */
		add_run(a, 1, k, 100 + gauss(&r));
		add_run(b, 1, k, 104 + gauss(&r));
	}
	doc = document(a, b);
	answer = compare(doc, NULL);
	CU_ASSERT_TRUE(json_is_false(json_object_get(json_array_get(json_object_get(answer, "points"), 0), "fails")));
	CU_ASSERT_TRUE(json_is_true(json_object_get(json_array_get(json_object_get(answer, "points"), 1), "fails")));
	json_decref(answer);
	json_decref(doc);
}

static CU_TestInfo tests[] = {
	{ "signed ranks match the tables", signed_ranks_match_the_tables },
	{ "many pairs agree with few where both apply", many_pairs_agree_with_few_where_both_apply },
	{ "Welch matches a worked example", welch_matches_a_worked_example },
	{ "values of zero are subtracted", values_of_zero_are_subtracted },
	{ "blocks that one side lacks make no pair", blocks_that_one_side_lacks_make_no_pair },
	{ "A against A in turns shows no difference", a_against_a_in_turns_shows_no_difference },
	{ "A against A of two sweeps shows no difference", a_against_a_of_two_sweeps_shows_no_difference },
	{ "ten points are no ten chances to be wrong", ten_points_are_no_ten_chances_to_be_wrong },
	{ "five percent slower is found in turns", five_percent_slower_is_found_in_turns },
	{ "two sweeps find it where the machine stands still", two_sweeps_find_it_where_the_machine_stands_still },
	{ "what measures other things is refused", what_measures_other_things_is_refused },
	{ "other machines and settings are told", other_machines_and_settings_are_told },
	{ "only what is shown fails", only_what_is_shown_fails },
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static CU_SuiteInfo suites[] = { { .pName = "comparisons", .pTests = tests }, CU_SUITE_INFO_NULL };

	return xk_test_main(suites);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_bench_stats.c - each estimator gives the textbook answer on vectors whose
 * answer is known, and intervals cover what they say they cover.  They are those of
 * stats.lua, asked as vp-bench asks them.
 */
#include <CUnit/CUnit.h>
#include <math.h>

#include "runtime/base/xk_rand.h"
#include "tests/support/xk_test.h"
#include "tools/vp-bench/bench.h"
#include "tools/vp-bench/bench_lua.h"

#define NEAR(a, b, eps) CU_ASSERT_TRUE(fabs((a) - (b)) <= (eps))

/* stats.NAME(args...); the arguments are taken over. */
static json_t *ask(const char *name, unsigned n, json_t *const *args)
{
	char why[400] = "";
	json_t *r = bench_lua_call("stats", name, args, n, why, sizeof why);

	CU_ASSERT_STRING_EQUAL(why, "");
	CU_ASSERT_PTR_NOT_NULL_FATAL(r);
	for (unsigned i = 0; i < n; i++)
		json_decref(args[i]);
	return r;
}
#define ASK(name, ...) \
	ask(name, sizeof((json_t *[]){ __VA_ARGS__ }) / sizeof(json_t *), (json_t *[]){ __VA_ARGS__ })

static json_t *list(const double *v, size_t n)
{
	json_t *l = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(l, json_real(v[i]));
	return l;
}

/* NAN when it is no number; JSON has no infinity. */
static double number(json_t *r)
{
	double x = json_is_number(r) ? json_number_value(r) : NAN;

	json_decref(r);
	return x;
}

static bool truth(json_t *r)
{
	bool yes = json_is_true(r);

	CU_ASSERT_TRUE(json_is_boolean(r));
	json_decref(r);
	return yes;
}

struct bounds { double mid, lo, hi; };

static struct bounds interval(json_t *r)
{
	struct bounds i = { bench_real(r, "mid"), bench_real(r, "lo"), bench_real(r, "hi") };

	json_decref(r);
	return i;
}

static void student_quantiles_are_those_of_the_tables(void)
{
	NEAR(number(ASK("t", json_real(0.90), json_integer(1))), 6.3138, 1e-3);
	NEAR(number(ASK("t", json_real(0.90), json_integer(4))), 2.1318, 1e-3);
	NEAR(number(ASK("t", json_real(0.90), json_integer(11))), 1.7959, 1e-3);
	NEAR(number(ASK("t", json_real(0.95), json_integer(9))), 2.2622, 1e-3);
	NEAR(number(ASK("t", json_real(0.99), json_integer(30))), 2.7500, 1e-3);
	NEAR(number(ASK("t", json_real(0.95), json_integer(100000))), 1.9600, 1e-3);
}

static void means_medians_and_percentiles(void)
{
	const double v[] = { 5, 1, 4, 2, 3 };
	const double w[] = { 10, 20, 30, 40 };

	NEAR(bench_stat("mean", v, 5), 3, 1e-12);
	NEAR(bench_stat("stddev", v, 5), sqrt(2.5), 1e-12);
	NEAR(bench_stat("median", v, 5), 3, 0);
	NEAR(bench_stat("median", w, 4), 25, 0);
	NEAR(number(ASK("percentile", list(w, 4), json_real(0))), 10, 0);
	NEAR(number(ASK("percentile", list(w, 4), json_real(0.25))), 10, 0);
	NEAR(number(ASK("percentile", list(w, 4), json_real(0.5))), 20, 0);
	NEAR(number(ASK("percentile", list(w, 4), json_real(0.51))), 30, 0);
	NEAR(number(ASK("percentile", list(w, 4), json_real(1))), 40, 0);
	NEAR(bench_stat("trimmed_mean", v, 5), 3, 1e-12);
	NEAR(bench_stat("trimmed_mean", w, 4), 25, 1e-12);
}

static void mean_intervals_match_a_worked_example(void)
{
	/* n = 5, mean 10, s = 1.5811, t(0.90, 4) = 2.1318: half-width 1.5074 */
	const double v[] = { 8, 9, 10, 11, 12 };
	struct bounds i = interval(ASK("mean_interval", list(v, 5), json_real(0.90)));

	NEAR(i.mid, 10, 1e-12);
	NEAR(i.hi - i.mid, 1.5074, 1e-3);
	NEAR(i.mid - i.lo, 1.5074, 1e-3);
	i = interval(ASK("mean_interval", list(v, 1), json_real(0.90)));
	NEAR(i.lo, 8, 0);
	NEAR(i.hi, 8, 0);
}

static double gauss(struct xk_rand *r)
{
	double s = 0;

	for (int i = 0; i < 12; i++)
		s += xk_rand_unit(r);
	return s - 6;
}

static void ninety_percent_intervals_cover_ninety_percent(void)
{
	struct xk_rand r;
	int covered = 0;

	xk_rand_init(&r, 7, 0);
	for (int trial = 0; trial < 2000; trial++) {
		double v[8];
		struct bounds i;

		for (int k = 0; k < 8; k++)
			v[k] = 100 + 5 * gauss(&r);
		i = interval(ASK("mean_interval", list(v, 8), json_real(0.90)));
		covered += i.lo <= 100 && 100 <= i.hi;
	}
	CU_ASSERT_TRUE(covered > 1740 && covered < 1860);
}

static void ratio_intervals_find_a_planted_ratio_and_are_reproducible(void)
{
	struct xk_rand r;
	double a[12], b[12];
	struct bounds i, j;

	xk_rand_init(&r, 3, 0);
	for (int k = 0; k < 12; k++) {
		double drift = 1 + 0.5 * k;        /* the machine changes speed: pairs share it */

		b[k] = 100 * drift * (1 + 0.01 * gauss(&r));
		a[k] = 250 * drift * (1 + 0.01 * gauss(&r));
	}
	i = interval(ASK("ratio_interval", list(a, 12), list(b, 12), json_real(0.90), json_integer(1)));
	j = interval(ASK("ratio_interval", list(a, 12), list(b, 12), json_real(0.90), json_integer(1)));
	CU_ASSERT_TRUE(i.lo <= 2.5 && 2.5 <= i.hi && i.hi - i.lo < 0.1);
	NEAR(i.lo, j.lo, 0);
	NEAR(i.hi, j.hi, 0);
}

static void fairness_indices(void)
{
	const double equal[] = { 3, 3, 3, 3 }, one[] = { 1, 0, 0, 0 }, v[] = { 2, 4 };
	json_t *out;

	NEAR(bench_stat("jain", equal, 4), 1, 1e-12);
	NEAR(bench_stat("jain", one, 4), 0.25, 1e-12);
	NEAR(bench_stat("max_over_min", v, 2), 2, 0);
	CU_ASSERT_TRUE(isnan(bench_stat("max_over_min", one, 4)));      /* infinite */
	out = ASK("normalise", list(v, 2));
	NEAR(json_number_value(json_array_get(out, 0)), 2.0 / 3, 1e-12);
	NEAR(json_number_value(json_array_get(out, 1)), 4.0 / 3, 1e-12);
	json_decref(out);
}

static void littles_law_is_exact_on_synthetic_numbers(void)
{
	NEAR(number(ASK("little", json_real(45), json_real(90000))), 0.0005, 1e-15);
	NEAR(number(ASK("little", json_real(1), json_real(0))), 0, 0);
}

static void warm_up_ends_when_the_slope_is_flat(void)
{
	const double rising[] = { 10, 20, 30, 40, 50 }, flat[] = { 50, 51, 50, 49, 50 };

	CU_ASSERT_FALSE(truth(ASK("is_flat", list(rising, 5), json_real(0.05))));
	CU_ASSERT_TRUE(truth(ASK("is_flat", list(flat, 5), json_real(0.05))));
	CU_ASSERT_FALSE(truth(ASK("is_flat", list(flat, 2), json_real(0.05))));
}

static void correlation_of_lines_is_one(void)
{
	const double a[] = { 1, 2, 3 }, b[] = { 2, 4, 6 }, c[] = { 3, 2, 1 }, d[] = { 5, 5, 5 };

	NEAR(number(ASK("correlation", list(a, 3), list(b, 3))), 1, 1e-12);
	NEAR(number(ASK("correlation", list(a, 3), list(c, 3))), -1, 1e-12);
	NEAR(number(ASK("correlation", list(a, 3), list(d, 3))), 0, 0);
}

static CU_TestInfo tests[] = {
	{ "Student quantiles are those of the tables", student_quantiles_are_those_of_the_tables },
	{ "means, medians and percentiles", means_medians_and_percentiles },
	{ "mean intervals match a worked example", mean_intervals_match_a_worked_example },
	{ "ninety percent intervals cover ninety percent", ninety_percent_intervals_cover_ninety_percent },
	{ "ratio intervals find a planted ratio and are reproducible", ratio_intervals_find_a_planted_ratio_and_are_reproducible },
	{ "fairness indices", fairness_indices },
	{ "Little's law is exact on synthetic numbers", littles_law_is_exact_on_synthetic_numbers },
	{ "warm-up ends when the slope is flat", warm_up_ends_when_the_slope_is_flat },
	{ "correlation of lines is one", correlation_of_lines_is_one },
	CU_TEST_INFO_NULL
};

static CU_SuiteInfo suites[] = {
	{ "bench statistics", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_bench_stats.c - each estimator gives the textbook answer on vectors whose
 * answer is known, and intervals cover what they say they cover.
 */
#include <CUnit/CUnit.h>
#include <math.h>

#include "runtime/base/xk_rand.h"
#include "tests/support/xk_test.h"
#include "tools/vp-bench/bench_stats.h"

#define NEAR(a, b, eps) CU_ASSERT_TRUE(fabs((a) - (b)) <= (eps))

static void student_quantiles_are_those_of_the_tables(void)
{
	NEAR(bench_t(0.90, 1), 6.3138, 1e-3);
	NEAR(bench_t(0.90, 4), 2.1318, 1e-3);
	NEAR(bench_t(0.90, 11), 1.7959, 1e-3);
	NEAR(bench_t(0.95, 9), 2.2622, 1e-3);
	NEAR(bench_t(0.99, 30), 2.7500, 1e-3);
	NEAR(bench_t(0.95, 100000), 1.9600, 1e-3);
}

static void means_medians_and_percentiles(void)
{
	const double v[] = { 5, 1, 4, 2, 3 };
	const double w[] = { 10, 20, 30, 40 };

	NEAR(bench_mean(v, 5), 3, 1e-12);
	NEAR(bench_stddev(v, 5), sqrt(2.5), 1e-12);
	NEAR(bench_median(v, 5), 3, 0);
	NEAR(bench_median(w, 4), 25, 0);
	NEAR(bench_percentile(w, 4, 0), 10, 0);
	NEAR(bench_percentile(w, 4, 0.25), 10, 0);
	NEAR(bench_percentile(w, 4, 0.5), 20, 0);
	NEAR(bench_percentile(w, 4, 0.51), 30, 0);
	NEAR(bench_percentile(w, 4, 1), 40, 0);
	NEAR(bench_trimmed_mean(v, 5), 3, 1e-12);
	NEAR(bench_trimmed_mean(w, 4), 25, 1e-12);
}

static void mean_intervals_match_a_worked_example(void)
{
	/* n = 5, mean 10, s = 1.5811, t(0.90, 4) = 2.1318: half-width 1.5074 */
	const double v[] = { 8, 9, 10, 11, 12 };
	struct bench_interval i = bench_mean_interval(v, 5, 0.90);

	NEAR(i.mid, 10, 1e-12);
	NEAR(i.hi - i.mid, 1.5074, 1e-3);
	NEAR(i.mid - i.lo, 1.5074, 1e-3);
	i = bench_mean_interval(v, 1, 0.90);
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
		struct bench_interval i;

		for (int k = 0; k < 8; k++)
			v[k] = 100 + 5 * gauss(&r);
		i = bench_mean_interval(v, 8, 0.90);
		covered += i.lo <= 100 && 100 <= i.hi;
	}
	CU_ASSERT_TRUE(covered > 1740 && covered < 1860);
}

static void ratio_intervals_find_a_planted_ratio_and_are_reproducible(void)
{
	struct xk_rand r;
	double a[12], b[12];
	struct bench_interval i, j;

	xk_rand_init(&r, 3, 0);
	for (int k = 0; k < 12; k++) {
		double drift = 1 + 0.5 * k;        /* the machine changes speed: pairs share it */

		b[k] = 100 * drift * (1 + 0.01 * gauss(&r));
		a[k] = 250 * drift * (1 + 0.01 * gauss(&r));
	}
	i = bench_ratio_interval(a, b, 12, 0.90, 1);
	j = bench_ratio_interval(a, b, 12, 0.90, 1);
	CU_ASSERT_TRUE(i.lo <= 2.5 && 2.5 <= i.hi && i.hi - i.lo < 0.1);
	NEAR(i.lo, j.lo, 0);
	NEAR(i.hi, j.hi, 0);
}

static void fairness_indices(void)
{
	const double equal[] = { 3, 3, 3, 3 }, one[] = { 1, 0, 0, 0 }, v[] = { 2, 4 };
	double out[2];

	NEAR(bench_jain(equal, 4), 1, 1e-12);
	NEAR(bench_jain(one, 4), 0.25, 1e-12);
	NEAR(bench_max_over_min(v, 2), 2, 0);
	CU_ASSERT_TRUE(isinf(bench_max_over_min(one, 4)));
	bench_normalise(v, 2, out);
	NEAR(out[0], 2.0 / 3, 1e-12);
	NEAR(out[1], 4.0 / 3, 1e-12);
}

static void littles_law_is_exact_on_synthetic_numbers(void)
{
	NEAR(bench_little(45, 90000), 0.0005, 1e-15);
	NEAR(bench_little(1, 0), 0, 0);
}

static void warm_up_ends_when_the_slope_is_flat(void)
{
	const double rising[] = { 10, 20, 30, 40, 50 }, flat[] = { 50, 51, 50, 49, 50 };

	CU_ASSERT_FALSE(bench_is_flat(rising, 5, 0.05));
	CU_ASSERT_TRUE(bench_is_flat(flat, 5, 0.05));
	CU_ASSERT_FALSE(bench_is_flat(flat, 2, 0.05));
}

static void correlation_of_lines_is_one(void)
{
	const double a[] = { 1, 2, 3 }, b[] = { 2, 4, 6 }, c[] = { 3, 2, 1 }, d[] = { 5, 5, 5 };

	NEAR(bench_correlation(a, b, 3), 1, 1e-12);
	NEAR(bench_correlation(a, c, 3), -1, 1e-12);
	NEAR(bench_correlation(a, d, 3), 0, 0);
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

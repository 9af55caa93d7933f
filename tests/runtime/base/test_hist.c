/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_hist.c - the histogram of times: what is read is what was put in, within a 32nd.
 */
#include "runtime/base/xk_hist.h"
#include "tests/support/xk_test.h"

#include <string.h>

static uint64_t sum[XK_HIST_PLACES];

static void one(struct xk_hist *h, xk_ns ns)
{
	memset(h, 0, sizeof *h);
	memset(sum, 0, sizeof sum);
	xk_hist_add(h, ns);
	xk_hist_sum(sum, h, 1);
}

static void a_time_alone_is_read_within_a_32nd(void)
{
	struct xk_hist h;

	for (xk_ns ns = 0; ns < 20 * XK_SEC; ns += ns / 7 + 1) {
		double read;

		one(&h, ns);
		CU_ASSERT_EQUAL_FATAL(xk_hist_count(sum), 1);
		read = xk_hist_percentile(sum, 0.5);
		CU_ASSERT_FATAL(read >= (double)ns * (1 - 1.0 / 32) && read <= (double)ns * (1 + 1.0 / 32));
	}
}

static void places_follow_each_other_without_a_gap(void)
{
	unsigned at = 0;

	for (xk_ns ns = 0; ns < 100000; ns++) {
		unsigned next = xk_hist_place(ns);

		CU_ASSERT_FATAL(next == at || next == at + 1);
		at = next;
	}
	CU_ASSERT_EQUAL(xk_hist_place(XK_NS_NEVER), XK_HIST_PLACES - 1);
	CU_ASSERT_EQUAL(xk_hist_place(3600 * XK_SEC), XK_HIST_PLACES - 1);
}

static void percentiles_are_by_nearest_rank(void)
{
	struct xk_hist h = { { 0 } };

	memset(sum, 0, sizeof sum);
	CU_ASSERT_EQUAL(xk_hist_percentile(sum, 0.99), 0);
	for (xk_ns ns = 1; ns <= 10; ns++)       /* each has a place of its own */
		xk_hist_add(&h, ns);
	xk_hist_sum(sum, &h, 1);
	CU_ASSERT_EQUAL(xk_hist_percentile(sum, 0), 1);
	CU_ASSERT_EQUAL(xk_hist_percentile(sum, 0.5), 5);
	CU_ASSERT_EQUAL(xk_hist_percentile(sum, 0.51), 6);
	CU_ASSERT_EQUAL(xk_hist_percentile(sum, 0.99), 10);
	CU_ASSERT_EQUAL(xk_hist_percentile(sum, 1), 10);
}

static void what_was_before_is_taken_away(void)
{
	struct xk_hist h = { { 0 } };

	memset(sum, 0, sizeof sum);
	for (unsigned i = 0; i < 1000; i++)
		xk_hist_add(&h, 5);
	xk_hist_sum(sum, &h, -1);
	xk_hist_add(&h, 9);
	xk_hist_sum(sum, &h, 1);
	CU_ASSERT_EQUAL(xk_hist_count(sum), 1);
	CU_ASSERT_EQUAL(xk_hist_percentile(sum, 0.01), 9);
}

static CU_TestInfo tests[] = {
	{ "a_time_alone_is_read_within_a_32nd", a_time_alone_is_read_within_a_32nd },
	{ "places_follow_each_other_without_a_gap", places_follow_each_other_without_a_gap },
	{ "percentiles_are_by_nearest_rank", percentiles_are_by_nearest_rank },
	{ "what_was_before_is_taken_away", what_was_before_is_taken_away },
	CU_TEST_INFO_NULL
};

static CU_SuiteInfo suites[] = {
	{ "hist", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}

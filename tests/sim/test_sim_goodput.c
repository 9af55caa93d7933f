/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_sim_goodput.c - what TCP still carries over a link that loses frames (R9):
 * 10 MiB one way, RTT 100 ms, send and receive buffers of 32 KiB, Ethernet.
 *
 * smoltcp publishes 219 671, 76 626 and 37 775 bytes a second at 1, 5 and 10 % for its own
 * simulator with these numbers, without congestion control.  1.5 times that is the
 * goal; at 1 % it is beyond what the window allows (32768 bytes per round trip, 327 680
 * a second), and at 5 % beyond what a sender may do that halves, or takes 0.7 of, its
 * window for every loss (about 1.22 segments over the root of the loss rate per
 * round trip: 177 000, 79 000 and 56 000 bytes a second).  What is tested is most of this
 * response; the ratio to the goal is printed.
 * Each line prints what was reached, median of three seeds.
 */
#include "tests/sim/sim.h"
#include "tests/support/xk_test.h"

#define BYTES (10u << 20)

static double goodput(uint32_t loss, uint64_t seed)
{
	struct sim_result r;
	struct sim_case c;

	sim_case_mild(&c, seed);
	c.loss = loss;
	c.rtt = 100;
	c.buf = 32;
	c.ab = BYTES;
	if (!sim_run(&c, &r)) {
		printf("# loss %u.%02u %%: %s\n", loss / 100, loss % 100, r.why);
		CU_FAIL("the transfer fails");
		return 0;
	}
	return BYTES / ((double)r.took / 1e9);
}

static double median(uint32_t loss, double published)
{
	double a = goodput(loss, 1), b = goodput(loss, 2), c = goodput(loss, 3);
	double lo = a < b ? a : b, hi = a < b ? b : a;
	double m = c < lo ? lo : c > hi ? hi : c;

	printf("# loss %2u %%: %.0f B/s (%.0f %.0f %.0f)", loss / 100, m, a, b, c);
	if (published != 0)
		printf(", %.2f times what is published of smoltcp (goal 1.5)", m / published);
	printf("\n");
	return m;
}

static void a_clean_link_is_filled(void) { CU_ASSERT(median(0, 0) >= 0.9 * 327680); }
static void one_percent(void)  { CU_ASSERT(median(100, 219671) >= 150000); }
static void five_percent(void) { CU_ASSERT(median(500, 76626) >= 60000); }
static void ten_percent(void)  { CU_ASSERT(median(1000, 37775) >= 35000); }
static void thirty_percent_completes(void) { CU_ASSERT(goodput(3000, 1) > 0); }

int main(void)
{
	static CU_TestInfo tests[] = {
		{ "a clean link is filled", a_clean_link_is_filled },
		{ "1 % loss", one_percent },
		{ "5 % loss", five_percent },
		{ "10 % loss", ten_percent },
		{ "30 % loss completes", thirty_percent_completes },
		CU_TEST_INFO_NULL
	};
	static const CU_SuiteInfo suites[] = { { "goodput", NULL, NULL, NULL, NULL, tests }, CU_SUITE_INFO_NULL };

	return xk_test_main(suites);
}

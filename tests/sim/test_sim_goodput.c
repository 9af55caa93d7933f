/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_sim_goodput.c - what TCP still carries over a link that loses frames:
 * 10 MiB one way, RTT 100 ms, send and receive buffers of 32 KiB, Ethernet, frames
 * lost each way.
 *
 * smoltcp publishes 219 671, 76 626 and 37 775 bytes a second at 1, 5 and 10 % for its
 * own simulator with these numbers.  Its sender has no congestion control there: its
 * like is our policy `none`, and that is what is held to 1.5 times as much, except at
 * 1 %, where 1.5 times would be more than a window per round trip (32768 bytes per
 * 100 ms, 327 680 a second).  With a congestion response the limit is another: some
 * 1.22 segments over the root of the loss rate per round trip (177 000, 79 000 and
 * 56 000 bytes a second), before timeouts.
 *
 * Time is virtual and every random number comes from a seed, so the bars are tight:
 * they lie a few percent below the mean of SEEDS runs, which each row prints.
 */
#include <stdlib.h>

#include "tests/sim/sim.h"
#include "tests/support/xk_test.h"

#define BYTES (10u << 20)
#define SEEDS 8u

enum { CUBIC = 1, RENO, NONE };          /* field cc of a case */

struct row {
	uint32_t cc, loss;               /* per 10000 */
	double   bar, published;         /* bytes a second; 0: none published */
};

static void make(struct sim_case *c, uint64_t i, void *arg)
{
	const struct row *row = arg;

	sim_case_mild(c, i + 1);
	c->cc = row->cc;
	c->loss = row->loss;
	c->rtt = 100;
	c->buf = 32;
	c->ab = BYTES;
}

static void failed(const struct sim_case *c, const struct sim_result *r, void *arg)
{
	char text[SIM_TEXT];

	(void)arg;
	sim_case_print(c, text, sizeof text);
	printf("# sim %s: %s\n", text, r->why);
}

/* Bytes a second, the mean of all seeds; 0 when one fails. */
static double goodput(struct row *row)
{
	struct sim_result r[SEEDS];
	struct sim_batch b = { .make = make, .failed = failed, .arg = row, .all = r };
	double sum = 0;

	if (sim_many(&b, SEEDS) != 0)
		return 0;
	for (unsigned i = 0; i < SEEDS; i++)
		sum += BYTES / ((double)r[i].took / 1e9);
	return sum / SEEDS;
}

static void run(struct row *row)
{
	static const char *const policy[] = { "", "cubic", "reno", "none" };
	double got = goodput(row);

	printf("# %-5s loss %2u %%: %.0f B/s", policy[row->cc], row->loss / 100, got);
	if (row->published != 0)
		printf(", %.2f times what smoltcp publishes", got / row->published);
	printf("\n");
	CU_ASSERT(got >= row->bar);
}

static void run_rows(struct row *rows, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		run(&rows[i]);
}

#define S1  219671
#define S5  76626
#define S10 37775

static void without_congestion_control_the_window_is_filled(void)
{
	struct row rows[] = {
		{ NONE, 0, 290000, 0 }, { NONE, 100, 264000, S1 },
		{ NONE, 500, 190000, S5 }, { NONE, 1000, 143000, S10 },
	};

	run_rows(rows, XK_ARRAY_LEN(rows));
}

static void cubic_comes_near_its_limit(void)
{
	struct row rows[] = {
		{ CUBIC, 0, 290000, 0 }, { CUBIC, 100, 173000, S1 }, { CUBIC, 500, 65000, S5 }, { CUBIC, 1000, 38000, S10 },
	};

	run_rows(rows, XK_ARRAY_LEN(rows));
}

static void reno_comes_near_its_limit(void)
{
	struct row rows[] = {
		{ RENO, 0, 290000, 0 }, { RENO, 100, 152000, S1 }, { RENO, 500, 60000, S5 }, { RENO, 1000, 37500, S10 },
	};

	run_rows(rows, XK_ARRAY_LEN(rows));
}

static void thirty_percent_completes(void)
{
	struct row rows[] = { { NONE, 3000, 33000, 0 }, { CUBIC, 3000, 1150, 0 }, { RENO, 3000, 1150, 0 } };

	run_rows(rows, XK_ARRAY_LEN(rows));
}

int main(void)
{
	static CU_TestInfo tests[] = {
		{ "without congestion control the window is filled", without_congestion_control_the_window_is_filled },
		{ "cubic comes near its limit", cubic_comes_near_its_limit },
		{ "reno comes near its limit", reno_comes_near_its_limit },
		{ "30 % loss completes", thirty_percent_completes },
		CU_TEST_INFO_NULL
	};
	static const CU_SuiteInfo suites[] = { { "goodput", NULL, NULL, NULL, NULL, tests }, CU_SUITE_INFO_NULL };

	return xk_test_main(suites);
}

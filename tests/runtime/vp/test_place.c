/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_place.c - promises of pinned workers' places: processors that nobody else has pinned
 * workers on come first; where there are too few, the set says which are shared.
 */
#include "runtime/vp/vp_priv.h"
#include "tests/support/xk_test.h"

#define MOST 8u

static void each_gets_its_place(void)
{
	static const struct { unsigned workers; uint64_t cpus, taken; int cpu[MOST]; uint64_t shared; } c[] = {
		{ 1, 0x3, 0x0, { 0 }, 0 },
		{ 1, 0x3, 0x1, { 1 }, 0 },                  /* the second program */
		{ 1, 0x3, 0x3, { 0 }, 0x1 },                /* the third has none left */
		{ 2, 0x3, 0x1, { 0, 1 }, 0x1 },             /* too few: as if alone */
		{ 2, 0xf, 0x5, { 1, 3 }, 0 },
		{ 3, 0xf, 0x5, { 0, 1, 2 }, 0x5 },
		{ 3, 0x3, 0x0, { 0, 1, 0 }, 0 },            /* more workers than processors */
		{ 3, 0x3, 0x2, { 0, 1, 0 }, 0x2 },
		{ 2, 0xc, 0x3, { 2, 3 }, 0 },               /* of those that are allowed */
		{ 1, 0x8000000000000000u, 0x1, { 63 }, 0 },
	};

	for (unsigned i = 0; i < XK_ARRAY_LEN(c); i++) {
		struct xk_worker w[MOST] = { 0 }, *p[MOST];
		struct xk_vpset set = { .nworkers = c[i].workers, .worker = p, .arch = { .cpus = c[i].cpus } };

		for (unsigned k = 0; k < MOST; k++)
			p[k] = &w[k];
		xk_place_workers(&set, c[i].taken);
		for (unsigned k = 0; k < c[i].workers; k++)
			CU_ASSERT_EQUAL(w[k].cpu, c[i].cpu[k]);
		CU_ASSERT_EQUAL(set.shared_cpus, c[i].shared);
	}
}

static CU_TestInfo tests[] = {
	{ "each gets its place", each_gets_its_place },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "place", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void) { return xk_test_main(suites); }

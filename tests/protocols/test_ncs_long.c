/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_ncs_long.c - messages of thousands of SDUs, there and back.
 *
 * Promises: a long message comes back as it was, over a line that loses and reorders, too, also while short
 * ones go before and behind it.  XK_NCS_LONG=BYTES sends one of that length alone over a good line, for who counts what
 * that takes (tests/bench/ncs_long.t).
 */
#include "tests/protocols/ncs_fixture.h"

#include "runtime/base/xk_rand.h"
#include "tests/support/xk_test.h"

#include <stdlib.h>
#include <string.h>

static struct pf f;

static void up(unsigned pair, const char *faults)
{
	const struct nf_how how = { .pair = pair, .faults = faults,
				    .ncs = "sdu=1000; message=1GiB; queue=2GiB" };

	nf_up(&f, &how);
}

static uint8_t *made(uint32_t n)
{
	uint8_t *b = malloc(n);

	CU_ASSERT_PTR_NOT_NULL_FATAL(b);
	for (uint32_t i = 0; i < n; i++)
		b[i] = (uint8_t)(i * 7 + (i >> 8) * 13 + (i >> 16));
	return b;
}

/* Until so many are back; false: they are not after a long time. */
static bool back(unsigned n)
{
	for (unsigned i = 0; i < 3000 && pf_ngot(&f, "client") < n; i++)
		pf_run(&f, 100 * XK_MS);
	return pf_ngot(&f, "client") == n;
}

static void one(unsigned pair, uint32_t n, const char *faults, unsigned around)
{
	uint8_t *b = made(n);
	struct xk_sess *s;

	up(pair, faults);
	s = nf_open(&f, "client", 0, 7, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	for (unsigned i = 0; i < around; i++)
		pf_push(&f, 0, s, b, i * 500);
	pf_push(&f, 0, s, b, n);
	for (unsigned i = 0; i < around; i++)
		pf_push(&f, 0, s, b, i * 500);
	CU_ASSERT_TRUE_FATAL(back(2 * around + 1));
	for (unsigned i = 0; i < 2 * around + 1; i++) {
		uint32_t len = i < around ? i * 500 : i == around ? n : (i - around - 1) * 500;

		CU_ASSERT_EQUAL_FATAL(pf_got(&f, "client", i)->len, len);
		CU_ASSERT_EQUAL(memcmp(pf_got(&f, "client", i)->bytes, b, len), 0);
	}
	CU_ASSERT_EQUAL(pf_drops(&f, "na", "incomplete") + pf_drops(&f, "nb", "incomplete"), 0);
	pf_close(&f, 0, s);
	pf_run(&f, XK_SEC);
	pf_down(&f);
	free(b);
}

static void long_messages_come_back(void)
{
	const char *alone = getenv("XK_NCS_LONG");

	if (alone != NULL) {
		one(NF_PAIRS - 1 - 2 * NF_ERRORS, (uint32_t)strtoul(alone, NULL, 10), NULL, 0);
		return;
	}
	for (unsigned k = 0; k < 4; k++)
		for (unsigned e = 0; e < NF_ERRORS; e++)
			one(k * NF_ERRORS + e, (uint32_t)xk_test_rounds(2) * 500000 + k, NULL, 3);
}

static void over_a_bad_line_too(void)
{
	if (getenv("XK_NCS_LONG") != NULL)
		return;
	for (unsigned k = 0; k < 4; k++)
		for (unsigned e = 1; e < NF_ERRORS; e++)
			one(k * NF_ERRORS + e, (uint32_t)xk_test_rounds(2) * 150000 + k,
			    "loss=0.02; dup=0.02; reorder=0.1; reorder_depth=20; corrupt=0.01; seed=5", 3);
}

static CU_TestInfo tests[] = {
	{ "long_messages_come_back", long_messages_come_back },
	{ "over_a_bad_line_too", over_a_bad_line_too },
	CU_TEST_INFO_NULL
};

int main(void)
{
	static const CU_SuiteInfo suites[] = { { .pName = "ncs_long", .pTests = tests }, CU_SUITE_INFO_NULL };

	return xk_test_main(suites);
}

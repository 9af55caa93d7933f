/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_ncs_cc.c - the congestion window of error control: alone, and over a narrow line with a short queue.
 *
 * Promises: it doubles in a round trip at first, is halved once for all that was under way, is one after a
 * timeout, and never holds up for good; over a narrow line little is lost with it where much is without, and the
 * line stays busy; messages come as they were.
 */
#include "tests/protocols/ncs_fixture.h"

#include "protocols/ncs/ncs_half.h"
#include "tests/support/xk_test.h"

#include <stdio.h>

static struct pf f;

static void it_is_newreno(void)
{
	const struct ncs_agreed a = { .sdu = 1000, .newreno = true };
	struct ncs_rtt rtt;
	struct ncs_cc cc;

	ncs_rtt_init(&rtt, XK_MS, XK_MS);
	ncs_cc_init(&cc, &a, 0);
	CU_ASSERT_EQUAL(cc.window, 10);
	ncs_cc_acked(&cc, 10, 10, 1);
	CU_ASSERT_EQUAL(cc.window, 20);
	CU_ASSERT_TRUE(ncs_cc_may(&cc, 19));
	CU_ASSERT_FALSE(ncs_cc_may(&cc, 20));
	ncs_cc_sent(&cc, true, 20, 30, 2);       /* two of them are lost */
	ncs_cc_sent(&cc, true, 20, 30, 2);
	CU_ASSERT_EQUAL(cc.window, 10);
	ncs_cc_acked(&cc, 20, 30, 3);
	CU_ASSERT_EQUAL(cc.window, 11);          /* one more for each window acknowledged */
	ncs_cc_acked(&cc, 10, 40, 3);
	CU_ASSERT_EQUAL(cc.window, 12);
	ncs_cc_time(&cc, &rtt, 13, 53, 4);       /* too early */
	CU_ASSERT_EQUAL(cc.window, 12);
	ncs_cc_time(&cc, &rtt, 13, 53, ncs_cc_when(&cc, &rtt));
	CU_ASSERT_EQUAL(cc.window, 1);
	CU_ASSERT_TRUE(ncs_cc_may(&cc, 13));
	CU_ASSERT_FALSE(ncs_cc_may(&cc, 14));
	ncs_cc_acked(&cc, 1, 41, 5);
	CU_ASSERT_EQUAL(cc.window, 2);
}

/* SDUs repeated of 1000 that are sent one way; *took: milliseconds. */
static uint64_t narrow(unsigned error, const char *ncs, uint64_t *took)
{
	const struct nf_how how = { .pair = error, .ncs = ncs,
				    .faults = "rate=10Mbit/s; queue=20; delay=10ms; dir=down" };
	struct xk_sess *s;
	uint64_t repeated;
	xk_ns began;

	nf_up(&f, &how);
	s = nf_open(&f, "client", 0, 7, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	pf_run(&f, 100 * XK_MS);
	began = pf_now(&f);
	for (unsigned i = 0; i < 100; i++)
		pf_push(&f, 0, s, nf_bytes, 10000);
	for (unsigned i = 0; i < 6000 && pf_ngot(&f, "client") < 100; i++)
		pf_run(&f, 10 * XK_MS);
	CU_ASSERT_EQUAL(pf_ngot(&f, "client"), 100);
	*took = (pf_now(&f) - began) / XK_MS;
	repeated = pf_count(&f, "na", "sdus_repeated");
	pf_close(&f, 0, s);
	pf_run(&f, 5 * XK_SEC);
	pf_down(&f);
	return repeated;
}

static void a_narrow_line_is_shared_well(void)
{
	for (unsigned error = 1; error < NF_ERRORS; error++) {
		uint64_t with_ms, without_ms, with = narrow(error, "sdu=1000", &with_ms);
		uint64_t without = narrow(error, "sdu=1000; congestion=none", &without_ms);

		printf("# %s: repeated %llu in %llu ms, without %llu in %llu ms\n", error == 1 ? "go_back_n" : "selective_repeat",
		       (unsigned long long)with, (unsigned long long)with_ms, (unsigned long long)without,
		       (unsigned long long)without_ms);
		CU_ASSERT(error == 1 || with < without / 2);
		CU_ASSERT(with_ms < 2400);       /* 850 at the line's rate */
	}
}

static CU_TestInfo tests[] = {
	{ "it_is_newreno", it_is_newreno },
	{ "a_narrow_line_is_shared_well", a_narrow_line_is_shared_well },
	CU_TEST_INFO_NULL
};

int main(void)
{
	static const CU_SuiteInfo suites[] = { { .pName = "ncs_cc", .pTests = tests }, CU_SUITE_INFO_NULL };

	return xk_test_main(suites);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_ncs_sum.c - sums of SDUs and records where the interface vouches for nothing.
 *
 * Promises: the sum is CRC-32C, in whatever pieces the bytes lie; over a line that changes bits and UDP without its
 * checksum every message comes as it was under check = "crc32c", under every pair, and what was changed is
 * counted; without it messages come changed, which shows that the line does that; over an interface that vouches for
 * bytes there is no sum.
 */
#include "protocols/ncs/ncs_priv.h"

#include "tests/protocols/ncs_fixture.h"
#include "tests/support/xk_test.h"

#include <stdio.h>
#include <string.h>

static struct pf f;

/* RFC 3720 appendix B.4, and the check value that CRCs are known by. */
static void it_is_crc32c(void)
{
	uint8_t b[48];

	CU_ASSERT_EQUAL(~ncs_crc32c(UINT32_MAX, (const uint8_t *)"123456789", 9), 0xe3069283u);
	memset(b, 0, 32);
	CU_ASSERT_EQUAL(~ncs_crc32c(UINT32_MAX, b, 32), 0x8a9136aau);
	memset(b, 0xff, 32);
	CU_ASSERT_EQUAL(~ncs_crc32c(UINT32_MAX, b, 32), 0x62a8ab43u);
	for (unsigned i = 0; i < 32; i++)
		b[i] = (uint8_t)i;
	CU_ASSERT_EQUAL(~ncs_crc32c(UINT32_MAX, b, 32), 0x46dd794eu);
	for (uint32_t cut = 0; cut <= 32; cut++)
		CU_ASSERT_EQUAL(~ncs_crc32c(ncs_crc32c(UINT32_MAX, b, cut), b + cut, 32 - cut), 0x46dd794eu);
}

/* How many of 40 came back, as they were; *spoilt: a sum was wrong so often. */
static uint32_t run(unsigned pair, const char *ncs, uint64_t *spoilt)
{
	static uint8_t b[16384];
	const struct nf_how how = { .pair = pair, .ncs = ncs, .faults = "corrupt=0.05; seed=3", .bare = true };
	struct xk_sess *s;
	uint32_t got;

	nf_up(&f, &how);
	s = nf_open(&f, "client", 0, 7, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	for (uint32_t i = 0; i < 40; i++) {
		pf_push(&f, 0, s, b, nf_make(i, b));
		pf_run(&f, XK_MS);
	}
	pf_run(&f, 9 * XK_SEC);
	got = nf_judged(&f, 40);
	*spoilt = pf_drops(&f, "na", "bad_sum") + pf_drops(&f, "nb", "bad_sum");
	pf_close(&f, 0, s);
	pf_run(&f, XK_SEC);
	pf_down(&f);
	return got;
}

static void what_was_changed_is_noticed(void)
{
	bool changed = false;

	for (unsigned pair = 0; pair < NF_PAIRS; pair++) {
		uint64_t spoilt;
		uint32_t got = run(pair, "sdu=1000; check=crc32c", &spoilt);

		CU_ASSERT(NF_SURE(pair) ? got == 40 : got > 0 && got <= 40);
		CU_ASSERT(spoilt > 5);
		changed |= run(pair, "sdu=1000", &spoilt) > 40;
		CU_ASSERT_EQUAL(spoilt, 0);
	}
	CU_ASSERT_TRUE(changed);
}

static void what_is_vouched_for_has_no_sum(void)
{
	for (unsigned k = 0; k < 2; k++) {
		const struct nf_how how = { .pair = NF_PAIRS - 1, .ncs = k ? "sdu=1000; check=crc32c" : "sdu=1000" };
		static uint64_t bytes;
		struct xk_sess *s;

		nf_up(&f, &how);
		s = nf_open(&f, "client", 0, 7, NULL);
		CU_ASSERT_PTR_NOT_NULL_FATAL(s);
		CU_ASSERT_FALSE(((struct ncs_sess *)(void *)s)->conn.sums);
		pf_push(&f, 0, s, nf_bytes, 5000);
		pf_run(&f, 100 * XK_MS);
		CU_ASSERT_EQUAL(pf_ngot(&f, "client"), 1);
		CU_ASSERT(k == 0 || bytes == pf_count(&f, "na", "records_in"));
		bytes = pf_count(&f, "na", "records_in");
		pf_close(&f, 0, s);
		pf_run(&f, XK_SEC);
		pf_down(&f);
	}
}

static CU_TestInfo tests[] = {
	{ "it_is_crc32c", it_is_crc32c },
	{ "what_was_changed_is_noticed", what_was_changed_is_noticed },
	{ "what_is_vouched_for_has_no_sum", what_is_vouched_for_has_no_sum },
	CU_TEST_INFO_NULL
};

int main(void)
{
	static const CU_SuiteInfo suites[] = { { .pName = "ncs_sum", .pTests = tests }, CU_SUITE_INFO_NULL };

	return xk_test_main(suites);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_part.c - participants: consumed from the top, ANY preserved, bounded,
 * and the same after a trip through bytes.
 */
#include <CUnit/CUnit.h>
#include <string.h>

#include "runtime/base/xk_rand.h"
#include "runtime/upi/xk_part.h"
#include "tests/support/xk_test.h"

static void each_layer_pops_its_own_piece(void)
{
	struct xk_parts ps;
	uint32_t host = 0;
	uint16_t port = 0;

	xk_parts_init(&ps, 2);
	xk_part_push_host(&ps.p[XK_REMOTE], 0x0a000001);
	xk_part_push_port(&ps.p[XK_REMOTE], 4711);
	CU_ASSERT_EQUAL(xk_part_pop_port(&ps.p[XK_REMOTE], &port), XK_OK);
	CU_ASSERT_EQUAL(xk_part_pop_host(&ps.p[XK_REMOTE], &host), XK_OK);
	CU_ASSERT_EQUAL(port, 4711);
	CU_ASSERT_EQUAL(host, 0x0a000001);
	CU_ASSERT_EQUAL(xk_part_pop_host(&ps.p[XK_REMOTE], &host), XK_E_INVAL);
	CU_ASSERT_EQUAL(xk_part_pop_host(&ps.p[XK_LOCAL], &host), XK_E_INVAL);
}

static void any_is_preserved(void)
{
	struct xk_parts ps;
	uint16_t port = 99;

	xk_parts_init(&ps, 1);
	CU_ASSERT_EQUAL(xk_part_push_any(&ps.p[0]), XK_OK);
	CU_ASSERT_EQUAL(xk_part_pop_port(&ps.p[0], &port), 1);
	CU_ASSERT_EQUAL(port, 99);
}

static void a_piece_of_another_length_is_refused_and_stays(void)
{
	struct xk_parts ps;
	uint32_t host = 1;
	uint16_t port;

	xk_parts_init(&ps, 1);
	xk_part_push_host(&ps.p[0], 5);
	CU_ASSERT_EQUAL(xk_part_pop_port(&ps.p[0], &port), XK_E_INVAL);
	CU_ASSERT_EQUAL(xk_part_pop_host(&ps.p[0], &host), XK_OK);
	CU_ASSERT_EQUAL(host, 5);
}

static void stacks_are_bounded(void)
{
	struct xk_parts ps;
	char big[32] = { 0 };

	xk_parts_init(&ps, 1);
	CU_ASSERT_EQUAL(xk_part_push(&ps.p[0], big, sizeof big), XK_E_INVAL);
	CU_ASSERT_EQUAL(xk_part_push(&ps.p[0], big, 0), XK_E_INVAL);
	for (unsigned i = 0; i < XK_PART_DEPTH; i++)
		CU_ASSERT_EQUAL(xk_part_push_port(&ps.p[0], 1), XK_OK);
	CU_ASSERT_EQUAL(xk_part_push_port(&ps.p[0], 1), XK_E_NOSPC);
}

static void random_parts(struct xk_rand *r, struct xk_parts *ps)
{
	char bytes[XK_PART_BYTES];

	xk_parts_init(ps, 1 + (unsigned)xk_rand_below(r, 2));
	for (unsigned i = 0; i < ps->n; i++)
		for (unsigned k = (unsigned)xk_rand_below(r, XK_PART_DEPTH + 1); k > 0; k--) {
			unsigned len = (unsigned)xk_rand_below(r, XK_PART_BYTES + 1);

			memset(bytes, (int)k, sizeof bytes);
			if (len == 0)
				xk_part_push_any(&ps->p[i]);
			else
				xk_part_push(&ps->p[i], bytes, len);
		}
}

static void they_survive_a_trip_through_bytes(void)
{
	struct xk_rand r;

	xk_rand_init(&r, 1, 0);
	for (unsigned i = 0; i < 2000; i++) {
		struct xk_parts a, b;
		uint8_t buf[256];
		int n;

		random_parts(&r, &a);
		n = xk_parts_externalize(&a, buf, sizeof buf);
		CU_ASSERT_TRUE_FATAL(n > 0);
		CU_ASSERT_EQUAL_FATAL(xk_parts_internalize(&b, buf, (unsigned)n), XK_OK);
		CU_ASSERT_EQUAL(memcmp(&a, &b, sizeof a), 0);
		for (int cut = 0; cut < n; cut++) {
			CU_ASSERT_EQUAL(xk_parts_internalize(&b, buf, (unsigned)cut), XK_E_INVAL);
			CU_ASSERT_EQUAL(xk_parts_externalize(&a, buf, (unsigned)cut), XK_E_NOSPC);
		}
	}
}

static CU_TestInfo tests[] = {
	{ "each layer pops its own piece", each_layer_pops_its_own_piece },
	{ "ANY is preserved", any_is_preserved },
	{ "a piece of another length is refused and stays", a_piece_of_another_length_is_refused_and_stays },
	{ "stacks are bounded", stacks_are_bounded },
	{ "they survive a trip through bytes", they_survive_a_trip_through_bytes },
	CU_TEST_INFO_NULL
};

static CU_SuiteInfo suites[] = {
	{ "participants", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}

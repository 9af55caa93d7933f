/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_ncs_tree.c - schedules of groups, for every size from 1 to 64 and each shape.
 *
 * Promises: every place is told each piece exactly once, by who has it; parents and children agree; the
 * root of a binomial tree over 64 sends 6 times, not 63, and nobody waits for more than 6 rounds; after
 * the rounds of a barrier everybody has heard of everybody, and of one less somebody has not.
 */
#include "protocols/ncs/ncs_tree.h"

#include "tests/support/xk_test.h"

#include <stdlib.h>
#include <string.h>

#define MOST 64u
static const uint32_t ks[] = { 1, 2, 3, 8 };

static uint32_t children(enum ncs_shape s, uint32_t k, uint32_t n, uint32_t place)
{
	uint32_t c = 0;

	while (ncs_tree_child(s, k, n, place, c) != NCS_NOBODY)
		c++;
	return c;
}

/* Tells pieces down the tree, as whoever has one sends it on; how often each place was told each piece. */
static void spread(enum ncs_shape s, uint32_t k, uint32_t n, uint32_t place, uint32_t piece, uint8_t told[][4])
{
	for (uint32_t i = 0, c; (c = ncs_tree_child(s, k, n, place, i)) != NCS_NOBODY; i++) {
		CU_ASSERT_FATAL(c < n && c != place);
		CU_ASSERT_EQUAL(ncs_tree_parent(s, k, n, c), place);
		CU_ASSERT_EQUAL_FATAL(told[c][piece]++, 0);      /* a circle would end here */
		spread(s, k, n, c, piece, told);
	}
}

static void every_place_gets_each_piece_once(void)
{
	for (uint32_t n = 1; n <= MOST; n++)
		for (unsigned s = 0; s < NCS_SHAPES; s++)
			for (unsigned j = 0; j < (s == NCS_KARY ? XK_ARRAY_LEN(ks) : 1); j++) {
				uint8_t told[MOST][4];
				uint32_t sends = 0;

				memset(told, 0, sizeof told);
				for (uint32_t piece = 0; piece < 4; piece++)
					spread((enum ncs_shape)s, ks[j], n, 0, piece, told);
				CU_ASSERT_EQUAL(ncs_tree_parent((enum ncs_shape)s, ks[j], n, 0), NCS_NOBODY);
				for (uint32_t p = 0; p < n; p++) {
					for (uint32_t piece = 0; piece < 4; piece++)
						CU_ASSERT_EQUAL(told[p][piece], p != 0);
					sends += children((enum ncs_shape)s, ks[j], n, p);
				}
				CU_ASSERT_EQUAL(sends, n - 1);
			}
}

static uint32_t log2_up(uint32_t n)
{
	uint32_t r = 0;

	while (1u << r < n)
		r++;
	return r;
}

/* The round in which the last below place is told, one send a round for each, place being told in `at`. */
static uint32_t rounds(enum ncs_shape s, uint32_t n, uint32_t place, uint32_t at)
{
	uint32_t last = at;

	for (uint32_t i = 0, c; (c = ncs_tree_child(s, 2, n, place, i)) != NCS_NOBODY; i++) {
		uint32_t r = rounds(s, n, c, at + 1 + i);

		last = r > last ? r : last;
	}
	return last;
}

static void a_binomial_root_sends_as_often_as_the_logarithm(void)
{
	CU_ASSERT_EQUAL(children(NCS_REPETITIVE, 1, 64, 0), 63);
	CU_ASSERT_EQUAL(children(NCS_BINOMIAL, 1, 64, 0), 6);
	CU_ASSERT_EQUAL(children(NCS_KARY, 3, 64, 0), 3);
	CU_ASSERT_EQUAL(children(NCS_CHAIN, 1, 64, 0), 1);
	for (uint32_t n = 1; n <= MOST; n++) {
		CU_ASSERT_EQUAL(children(NCS_BINOMIAL, 1, n, 0), log2_up(n));
		CU_ASSERT_EQUAL(rounds(NCS_BINOMIAL, n, 0, 0), log2_up(n));
		CU_ASSERT_EQUAL(rounds(NCS_REPETITIVE, n, 0, 0), n - 1);
	}
	CU_ASSERT_EQUAL(ncs_tree_best(64, 100, 65536), NCS_BINOMIAL);
	CU_ASSERT_EQUAL(ncs_tree_best(8, 1 << 20, 65536), NCS_CHAIN);
	CU_ASSERT_EQUAL(ncs_tree_best(2, 1 << 20, 65536), NCS_BINOMIAL);
}

static void a_barrier_lets_nobody_through_before_all_have_come(void)
{
	for (uint32_t n = 1; n <= MOST; n++) {
		uint64_t knows[MOST], next[MOST], all = n == 64 ? UINT64_MAX : ((uint64_t)1 << n) - 1;
		uint32_t r = ncs_barrier_rounds(n);

		CU_ASSERT_EQUAL(r, log2_up(n));
		for (uint32_t p = 0; p < n; p++)
			knows[p] = (uint64_t)1 << p;
		for (uint32_t i = 0; i < r; i++) {
			for (uint32_t p = 0; p < n; p++)
				CU_ASSERT(knows[p] != all);
			for (uint32_t p = 0; p < n; p++) {
				uint32_t from = ncs_barrier_from(n, p, i);

				CU_ASSERT_FATAL(from < n && from != p);
				CU_ASSERT_EQUAL(ncs_barrier_to(n, from, i), p);
				next[p] = knows[p] | knows[from];
			}
			memcpy(knows, next, sizeof knows);
		}
		for (uint32_t p = 0; p < n; p++)
			CU_ASSERT_EQUAL(knows[p], all);
	}
}

static CU_TestInfo trees[] = {
	{ "every_place_gets_each_piece_once", every_place_gets_each_piece_once },
	{ "a_binomial_root_sends_as_often_as_the_logarithm", a_binomial_root_sends_as_often_as_the_logarithm },
	{ "a_barrier_lets_nobody_through_before_all_have_come", a_barrier_lets_nobody_through_before_all_have_come },
	CU_TEST_INFO_NULL
};

int main(void)
{
	static const CU_SuiteInfo suites[] = { { .pName = "ncs trees", .pTests = trees }, CU_SUITE_INFO_NULL };

	return xk_test_main(suites);
}

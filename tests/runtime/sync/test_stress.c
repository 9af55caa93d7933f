/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_stress.c - promises of the stress build: who hands something over stands still
 * now and then, and notices nothing but the time; in any other build nobody does.
 */
#include <errno.h>
#include <stdlib.h>

#include "runtime/sync/xk_sync.h"
#include "tests/support/xk_test.h"

#define TIMES 40000u             /* the widest mean gap is 4096 */

static bool stalls_here(void)
{
	const char *seed = getenv("XK_STRESS_SEED");

	return xk_stress_build() && (seed == NULL || strtoull(seed, NULL, 0) != 0);
}

static void expect_stalls_since(uint64_t before)
{
	CU_ASSERT_EQUAL(xk_stalls() != before, stalls_here());
}

static void locked_operations_stall_in_the_stress_build_only(void)
{
	uint64_t before = xk_stalls();
	uint32_t word = 0;

	for (uint32_t i = 0; i < TIMES; i++)
		CU_ASSERT_FATAL(xk_atomic_add(&word, 1u) == i);
	expect_stalls_since(before);
}

/* What a queue of one producer and one consumer consists of. */
static void publishing_and_looking_stall_in_the_stress_build_only(void)
{
	uint64_t before = xk_stalls();
	uint32_t word = 0;

	for (uint32_t i = 0; i < TIMES; i++) {
		xk_store_release(&word, i);
		CU_ASSERT_FATAL(xk_load_acquire(&word) == i);
	}
	expect_stalls_since(before);
}

static void every_kind_of_lock_stalls_in_the_stress_build_only(void)
{
	static const char *const names[] = { "spin", "ticket", "mcs", "adaptive", "mutex", "rw" };

	for (unsigned k = 0; k < XK_ARRAY_LEN(names); k++) {
		const struct xk_lock_ops *ops = xk_lock_find(names[k]);
		uint64_t before = xk_stalls();
		struct xk_lock l;

		ops->init(&l);
		for (uint32_t i = 0; i < TIMES; i++) {
			ops->lock(&l);
			ops->unlock(&l);
		}
		ops->fini(&l);
		expect_stalls_since(before);
	}
}

static void a_stall_leaves_errno_alone(void)
{
	uint32_t word = 0;

	errno = ENOTTY;
	for (uint32_t i = 0; i < TIMES; i++)
		(void)xk_atomic_or(&word, i);
	CU_ASSERT_EQUAL(errno, ENOTTY);
}

static CU_TestInfo tests[] = {
	{ "locked_operations_stall_in_the_stress_build_only", locked_operations_stall_in_the_stress_build_only },
	{ "publishing_and_looking_stall_in_the_stress_build_only", publishing_and_looking_stall_in_the_stress_build_only },
	{ "every_kind_of_lock_stalls_in_the_stress_build_only", every_kind_of_lock_stalls_in_the_stress_build_only },
	{ "a_stall_leaves_errno_alone", a_stall_leaves_errno_alone },
	CU_TEST_INFO_NULL
};

static CU_SuiteInfo suites[] = { { "stress", NULL, NULL, NULL, NULL, tests }, CU_SUITE_INFO_NULL };

int main(void) { return xk_test_main(suites); }

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_shared.c - promises of memory that others look at: what is given back stays as it was until all have been told,
 * and then is got again, zeroed, before the file grows.
 */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <string.h>

#include "runtime/mem/xk_mem.h"
#include "runtime/mem/xk_shared.h"
#include "runtime/sync/xk_sync.h"
#include "tests/support/xk_test.h"

#define N 500u
#define DONE 100

static struct xk_shared *s;

/* Where the system has none there is nothing to promise. */
static bool begin(void)
{
	if (xk_shared_new(&s) == XK_OK)
		return true;
	printf("# this system has no memory to share\n");
	return false;
}

static void what_was_given_back_stays_until_all_have_been_told(void)
{
	unsigned char *a, *b, *c;

	if (!begin())
		return;
	a = xk_shared_get(s, 200, false);
	CU_ASSERT_PTR_NOT_NULL_FATAL(a);
	memset(a, 7, 200);
	xk_shared_put(s, a, 200);
	b = xk_shared_get(s, 200, false);
	CU_ASSERT(b != a);
	CU_ASSERT_EQUAL(a[100], 7);
	xk_shared_reuse(s);
	c = xk_shared_get(s, 64, false);         /* another size */
	CU_ASSERT(c != a);
	c = xk_shared_get(s, 200, false);
	CU_ASSERT_PTR_EQUAL(c, a);
	for (unsigned i = 0; i < 200; i++)
		CU_ASSERT_EQUAL(c[i], 0);
	xk_shared_free(s);
}

/* Sizes that share a bin, and some of less than a line. */
static size_t size_of(unsigned i) { return i % 3 == 0 ? 1 : i % 3 == 1 ? 128 : 128 + 64 * 64; }

static void it_does_not_grow_with_what_comes_and_goes(void)
{
	static void *at[N];
	uint64_t size = 0;

	if (!begin())
		return;
	for (unsigned round = 0; round < 40; round++) {
		for (unsigned i = 0; i < N; i++) {
			at[i] = xk_shared_get(s, size_of(i), false);
			CU_ASSERT_PTR_NOT_NULL_FATAL(at[i]);
			CU_ASSERT(xk_shared_has(s, at[i]));
		}
		for (unsigned i = 0; i < N; i++)
			xk_shared_put(s, at[i], size_of(i));
		xk_shared_reuse(s);
		size = round == 0 ? xk_shared_size(s) : size;
	}
	CU_ASSERT_EQUAL(xk_shared_size(s), size);
	xk_shared_free(s);
}

/* Each writes what nobody else does where it got memory, and finds it there. */
static void come_and_go(void *arg)
{
	unsigned char *at[16], me = *(unsigned char *)arg;
	bool mine = true;

	for (unsigned round = 0; mine && round < 200; round++) {
		for (unsigned i = 0; i < 16; i++) {
			at[i] = xk_shared_get(s, 64 * (1 + i % 4), false);
			if (at[i] == NULL)
				return;
			memset(at[i], me, 64 * (1 + i % 4));
		}
		for (unsigned i = 0; i < 16; i++) {
			for (unsigned k = 0; k < 64 * (1 + i % 4); k++)
				mine &= at[i][k] == me;
			xk_shared_put(s, at[i], 64 * (1 + i % 4));
		}
		xk_shared_reuse(s);
	}
	*(unsigned char *)arg = mine ? DONE : me;
}

static void threads_get_and_put_side_by_side(void)
{
	static unsigned char no[3] = { 1, 2, 3 };
	struct xk_thread *t[3];

	if (!begin())
		return;
	for (unsigned i = 0; i < 3; i++)
		CU_ASSERT_EQUAL_FATAL(xk_thread_new(&t[i], "getter", -1, come_and_go, &no[i]), XK_OK);
	for (unsigned i = 0; i < 3; i++) {
		xk_thread_join(t[i]);
		CU_ASSERT_EQUAL(no[i], DONE);
	}
	xk_shared_free(s);
}

static CU_TestInfo tests[] = {
	{ "what was given back stays until all have been told", what_was_given_back_stays_until_all_have_been_told },
	{ "it does not grow with what comes and goes", it_does_not_grow_with_what_comes_and_goes },
	{ "threads get and put side by side", threads_get_and_put_side_by_side },
	CU_TEST_INFO_NULL
};

static const CU_SuiteInfo suites[] = {
	{ "shared", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}

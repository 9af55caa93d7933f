/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_heap.c - a heap against the least of all by looking at each: random keys, ties, changes and removals.
 */
#include "runtime/base/xk_heap.h"
#include "runtime/base/xk_rand.h"
#include "tests/support/xk_test.h"

#define ITEMS 200u

static struct xk_heap_item item[ITEMS];
static struct xk_heap_place room[ITEMS];
static struct xk_heap heap;

static void empty(void)
{
	heap = (struct xk_heap){ .place = room };
	for (unsigned i = 0; i < ITEMS; i++)
		item[i] = (struct xk_heap_item){ .tie = ITEMS - i };
}

static bool less(const struct xk_heap_item *a, const struct xk_heap_item *b)
{
	return a->key != b->key ? a->key < b->key : a->tie < b->tie;
}

static void first_is_the_least(void)
{
	const struct xk_heap_item *least = NULL;
	uint32_t n = 0;

	for (unsigned i = 0; i < ITEMS; i++) {
		if (!xk_heap_in(&item[i]))
			continue;
		n++;
		CU_ASSERT_PTR_EQUAL(heap.place[item[i].at - 1].item, &item[i]);
		if (least == NULL || less(&item[i], least))
			least = &item[i];
	}
	CU_ASSERT_PTR_EQUAL(xk_heap_first(&heap), least);
	CU_ASSERT_EQUAL(heap.n, n);
}

static void what_is_in_is_in_order(void)
{
	struct xk_rand rand;

	for (unsigned seed = 1; seed <= 20; seed++) {
		empty();
		xk_rand_init(&rand, seed, 0);
		for (unsigned step = 0; step < 1000; step++) {
			struct xk_heap_item *x = &item[xk_rand_below(&rand, ITEMS)];

			if (xk_rand_below(&rand, 3) == 0) {
				xk_heap_take(&heap, x);
			} else {
				x->key = xk_rand_below(&rand, seed * 5);     /* many are equal */
				xk_heap_put(&heap, x);
			}
			first_is_the_least();
		}
	}
}

static void it_is_emptied_in_order(void)
{
	const struct xk_heap_item *before = NULL;
	struct xk_heap_item *x;
	struct xk_rand rand;

	empty();
	CU_ASSERT_PTR_NULL(xk_heap_first(&heap));
	xk_rand_init(&rand, 7, 0);
	for (unsigned i = 0; i < ITEMS; i++) {
		item[i].key = xk_rand_below(&rand, 50);
		xk_heap_put(&heap, &item[i]);
	}
	for (unsigned i = 0; i < ITEMS; i++, before = x) {
		x = xk_heap_first(&heap);
		CU_ASSERT(before == NULL || less(before, x));
		xk_heap_take(&heap, x);
		CU_ASSERT_FALSE(xk_heap_in(x));
		xk_heap_take(&heap, x);
	}
	CU_ASSERT_PTR_NULL(xk_heap_first(&heap));
}

static CU_TestInfo tests[] = {
	{ "what is in is in order", what_is_in_is_in_order },
	{ "it is emptied in order", it_is_emptied_in_order },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "heap", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void) { return xk_test_main(suites); }

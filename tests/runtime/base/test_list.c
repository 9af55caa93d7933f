/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_list.c - lists keep their order both ways, links leave from any place, and zeroed memory
 * is an empty list.
 */
#include "runtime/base/xk_list.h"
#include "tests/support/xk_test.h"

#include <string.h>

#define N 5u

static struct xk_list list;
static struct xk_listed link_of[N];

static void begin(unsigned n)
{
	memset(&list, 0, sizeof list);
	memset(link_of, 0, sizeof link_of);
	for (unsigned i = 0; i < n; i++)
		xk_list_put(&list, &link_of[i]);
}

/* The list is what `order` says, forwards and backwards. */
static void is(const char *order)
{
	const struct xk_listed *i = xk_list_first(&list);

	CU_ASSERT_EQUAL(xk_list_empty(&list), *order == 0);
	for (const char *p = order; *p != 0; p++, i = xk_list_next(&list, i)) {
		CU_ASSERT_PTR_EQUAL_FATAL(i, &link_of[*p - '0']);
		CU_ASSERT(xk_is_listed(i));
		CU_ASSERT_PTR_EQUAL(i->next->prev, i);
		if (p[1] == 0)
			CU_ASSERT_PTR_EQUAL(xk_list_last(&list), i);
	}
	CU_ASSERT_PTR_NULL(i);
	if (*order == 0)
		CU_ASSERT_PTR_NULL(xk_list_last(&list));
}

static void zeroed_memory_is_an_empty_list(void)
{
	begin(0);
	is("");
	CU_ASSERT(!xk_is_listed(&link_of[0]));
	xk_list_take(&link_of[0]);
	is("");
}

static void links_stand_in_the_order_they_were_put(void)
{
	begin(3);
	is("012");
	xk_list_put_first(&list, &link_of[4]);
	xk_list_put(&list, &link_of[3]);
	is("40123");
	begin(0);
	xk_list_put_first(&list, &link_of[0]);
	xk_list_put_first(&list, &link_of[1]);
	is("10");
}

static void a_link_leaves_from_any_place(void)
{
	begin(N);
	xk_list_take(&link_of[2]);
	is("0134");
	xk_list_take(&link_of[2]);       /* it is in none: nothing happens */
	is("0134");
	xk_list_take(&link_of[0]);
	is("134");
	xk_list_take(&link_of[4]);
	is("13");
	CU_ASSERT(!xk_is_listed(&link_of[4]));
	xk_list_put_first(&list, &link_of[4]);
	is("413");
}

static void a_list_that_became_empty_is_used_again(void)
{
	begin(2);
	xk_list_take(&link_of[1]);
	xk_list_take(&link_of[0]);
	is("");
	xk_list_put(&list, &link_of[1]);
	is("1");
}

static CU_TestInfo tests[] = {
	{ "zeroed memory is an empty list", zeroed_memory_is_an_empty_list },
	{ "links stand in the order they were put", links_stand_in_the_order_they_were_put },
	{ "a link leaves from any place", a_link_leaves_from_any_place },
	{ "a list that became empty is used again", a_list_that_became_empty_is_used_again },
	CU_TEST_INFO_NULL
};

static CU_SuiteInfo suites[] = {
	{ "list", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}

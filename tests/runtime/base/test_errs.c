/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_errs.c - errors are kept with their places, sorted, said once, and a
 * mistyped word finds its neighbour.
 */
#include "runtime/base/xk_errs.h"
#include "tests/support/xk_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void is(struct xk_errs *e, unsigned i, const char *file, int line, int col, const char *text)
{
	const char *f;
	int l, c;

	CU_ASSERT_STRING_EQUAL(xk_errs_text(e, i, &f, &l, &c), text);
	if (file == NULL)
		CU_ASSERT_PTR_NULL(f);
	if (file != NULL && f != NULL)
		CU_ASSERT_STRING_EQUAL(f, file);
	CU_ASSERT_EQUAL(l, line);
	CU_ASSERT_EQUAL(c, col);
}

static void errors_come_back_sorted_with_their_places(void)
{
	struct xk_errs *e = xk_errs_new();
	char file[] = "b.lua", arg[] = "mss_";

	CU_ASSERT_PTR_NOT_NULL_FATAL(e);
	CU_ASSERT_EQUAL(xk_errs_count(e), 0);
	xk_errs_add(e, file, 10, 3, "unknown parameter '%s'", arg);
	xk_errs_add(e, "b.lua", 9, 0, "second of line nine comes second, col %d", 0);
	xk_errs_add(e, "a.lua", 99, 1, "other file");
	xk_errs_add(e, NULL, 0, 0, "from the command line");
	xk_errs_add(e, "b.lua", 9, 8, "third");
	/* Everything was copied. */
	memset(file, 'x', sizeof file - 1);
	memset(arg, 'x', sizeof arg - 1);
	xk_errs_sort(e);
	CU_ASSERT_EQUAL_FATAL(xk_errs_count(e), 5);
	is(e, 0, NULL, 0, 0, "from the command line");
	is(e, 1, "a.lua", 99, 1, "other file");
	is(e, 2, "b.lua", 9, 0, "second of line nine comes second, col 0");
	is(e, 3, "b.lua", 9, 8, "third");
	is(e, 4, "b.lua", 10, 3, "unknown parameter 'mss_'");
	CU_ASSERT_STRING_EQUAL(xk_errs_text(e, 4, NULL, NULL, NULL), "unknown parameter 'mss_'");
	xk_errs_free(e);
}

static void the_same_error_on_the_same_line_is_said_once(void)
{
	struct xk_errs *e = xk_errs_new();
	unsigned i;

	CU_ASSERT_PTR_NOT_NULL_FATAL(e);
	for (i = 0; i < 100; i++)
		xk_errs_add(e, "a.lua", 1 + (int)(i % 2), 4, "text %u", i % 3);
	CU_ASSERT_EQUAL(xk_errs_count(e), 100);
	xk_errs_sort(e);
	CU_ASSERT_EQUAL(xk_errs_count(e), 6);
	xk_errs_add(e, "a.lua", 1, 4, "text 0");
	xk_errs_sort(e);
	CU_ASSERT_EQUAL(xk_errs_count(e), 6);
	is(e, 0, "a.lua", 1, 4, "text 0");
	xk_errs_free(e);
}

static void no_collector_is_a_legal_collector(void)
{
	xk_errs_add(NULL, "a.lua", 1, 1, "nobody listens to %d", 1);
	CU_ASSERT_EQUAL(xk_errs_count(NULL), 0);
	xk_errs_sort(NULL);
	xk_errs_free(NULL);
}

static const char *const words[] = { "mss", "mtu", "vps", "rto_min", "rto_max", "checksum", "addr" };

static const char *suggest(const char *word)
{
	const char *w = xk_errs_suggest(word, words, XK_ARRAY_LEN(words));

	return w != NULL ? w : "(nothing)";
}

static void a_typing_mistake_finds_its_word(void)
{
	CU_ASSERT_STRING_EQUAL(suggest("mss_"), "mss");
	CU_ASSERT_STRING_EQUAL(suggest("vsp"), "vps");
	CU_ASSERT_STRING_EQUAL(suggest("m_s"), "mss");
	CU_ASSERT_STRING_EQUAL(suggest("chekcsum"), "checksum");
	CU_ASSERT_STRING_EQUAL(suggest("cheksm"), "checksum");
	CU_ASSERT_STRING_EQUAL(suggest("rto_mni"), "rto_min");
	CU_ASSERT_STRING_EQUAL(suggest("mss"), "mss");
	CU_ASSERT_STRING_EQUAL(suggest("rto_maxx"), "rto_max");
}

static void what_is_too_far_off_suggests_nothing(void)
{
	static const char *const none[1] = { NULL };
	char longer[200];

	CU_ASSERT_STRING_EQUAL(suggest("m__"), "(nothing)");   /* two edits of three letters */
	CU_ASSERT_STRING_EQUAL(suggest("xxx"), "(nothing)");
	CU_ASSERT_STRING_EQUAL(suggest("window"), "(nothing)");
	CU_ASSERT_STRING_EQUAL(suggest("chekcsmu_"), "(nothing)");  /* three edits */
	CU_ASSERT_STRING_EQUAL(suggest(""), "(nothing)");
	CU_ASSERT_PTR_NULL(xk_errs_suggest("mss", none, 0));
	memset(longer, 'a', sizeof longer - 1);
	longer[sizeof longer - 1] = '\0';
	CU_ASSERT_STRING_EQUAL(suggest(longer), "(nothing)");
}

static void the_nearest_word_wins(void)
{
	static const char *const near[] = { "rate", "rates", "rated", "crate" };

	CU_ASSERT_STRING_EQUAL(xk_errs_suggest("ratess", near, 4), "rates");
	CU_ASSERT_STRING_EQUAL(xk_errs_suggest("craet", near, 4), "crate");
	CU_ASSERT_STRING_EQUAL(xk_errs_suggest("rated", near, 4), "rated");
}

static CU_TestInfo tests[] = {
	{ "errors_come_back_sorted_with_their_places", errors_come_back_sorted_with_their_places },
	{ "the_same_error_on_the_same_line_is_said_once", the_same_error_on_the_same_line_is_said_once },
	{ "no_collector_is_a_legal_collector", no_collector_is_a_legal_collector },
	{ "a_typing_mistake_finds_its_word", a_typing_mistake_finds_its_word },
	{ "what_is_too_far_off_suggests_nothing", what_is_too_far_off_suggests_nothing },
	{ "the_nearest_word_wins", the_nearest_word_wins },
	CU_TEST_INFO_NULL
};

static CU_SuiteInfo suites[] = {
	{ "errs", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}

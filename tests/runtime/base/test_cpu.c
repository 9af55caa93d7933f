/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_cpu.c - VP_CPU is the most that a program chooses of what its processor has.
 *
 * The choices were made before main; what is asked here is what may be chosen now.
 */
#include "runtime/base/xk_cpu.h"
#include "runtime/base/xk_csum.h"
#include "tests/support/xk_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What VP_CPU was; NULL: not set. */
static char *before;

static int keep(void)
{
	const char *v = getenv("VP_CPU");

	before = v != NULL ? strdup(v) : NULL;
	return unsetenv("VP_CPU");
}

static int put_back(void)
{
	int err = before != NULL ? setenv("VP_CPU", before, 1) : unsetenv("VP_CPU");

	free(before);
	return err;
}

static uint32_t with(const char *word)
{
	CU_ASSERT_EQUAL_FATAL(setenv("VP_CPU", word, 1), 0);
	CU_ASSERT(xk_cpu_is_known());
	return xk_cpu_has();
}

/* Calls fn with each of the words, in their order. */
static void each_word(void (*fn)(const char *word, void *arg), void *arg)
{
	char list[128], *save = NULL;

	snprintf(list, sizeof list, "%s", xk_cpu_words());
	for (char *w = strtok_r(list, ", ", &save); w != NULL; w = strtok_r(NULL, ", ", &save))
		fn(w, arg);
	unsetenv("VP_CPU");
}

struct seen { uint32_t last, all; };

static void is_no_less(const char *word, void *arg)
{
	struct seen *s = arg;
	uint32_t has = with(word);

	CU_ASSERT_EQUAL(has & s->last, s->last);         /* all that the word before allows */
	CU_ASSERT_EQUAL(has & ~s->all, 0);               /* and nothing that is not there */
	s->last = has;
}

static void each_word_allows_what_the_one_before_does(void)
{
	struct seen s = { 0, xk_cpu_has() };

	each_word(is_no_less, &s);
	CU_ASSERT_EQUAL(s.last, s.all);                  /* the last one forbids nothing */
}

static void generic_is_what_every_processor_has(void)
{
	CU_ASSERT_EQUAL(with("generic"), 0);
	unsetenv("VP_CPU");
}

static void an_unknown_word_is_told_and_forbids_nothing(void)
{
	uint32_t has = xk_cpu_has();

	setenv("VP_CPU", "sse9", 1);
	CU_ASSERT_FALSE(xk_cpu_is_known());
	CU_ASSERT_EQUAL(xk_cpu_has(), has);
	setenv("VP_CPU", "", 1);
	CU_ASSERT(xk_cpu_is_known());
	CU_ASSERT_EQUAL(xk_cpu_has(), has);
	unsetenv("VP_CPU");
	CU_ASSERT(xk_cpu_is_known());
}

/* The variants of the checksum that may be chosen now. */
static unsigned variants(void)
{
	static const char *const name[] = { "portable", "sse2", "neon", "avx2", "avx512" };
	unsigned n = 0;

	for (size_t i = 0; i < XK_ARRAY_LEN(name); i++)
		n += xk_csum_set_variant(name[i]) == XK_OK;
	return n;
}

static void what_is_forbidden_cannot_be_chosen_by_name(void)
{
	const char *chosen = xk_csum_variant();
	uint32_t has = xk_cpu_has();
	unsigned all = variants(), least;

	setenv("VP_CPU", "generic", 1);
	least = variants();
	CU_ASSERT(least >= 1);
	CU_ASSERT_EQUAL(all - least, !!(has & XK_CPU_AVX2) + !!(has & XK_CPU_AVX512));
	if (has & XK_CPU_AVX2)
		CU_ASSERT_EQUAL(xk_csum_set_variant("avx2"), XK_E_NOTSUP);
	unsetenv("VP_CPU");
	CU_ASSERT_EQUAL(xk_csum_set_variant(chosen), XK_OK);
}

static CU_TestInfo tests[] = {
	{ "each word allows what the one before does", each_word_allows_what_the_one_before_does },
	{ "generic is what every processor has", generic_is_what_every_processor_has },
	{ "an unknown word is told and forbids nothing", an_unknown_word_is_told_and_forbids_nothing },
	{ "what is forbidden cannot be chosen by name", what_is_forbidden_cannot_be_chosen_by_name },
	CU_TEST_INFO_NULL
};

static CU_SuiteInfo suites[] = {
	{ "cpu", keep, put_back, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}

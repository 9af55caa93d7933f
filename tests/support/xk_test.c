/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_test.c - runs CUnit suites and prints the results as TAP.
 *
 * CUnit runs the tests and calls back after each one; only the printing is
 * ours.  A suite whose set-up or clean-up fails is a line of its own, because
 * CUnit then runs none of its tests, or counts none of its failures.
 * Invariant: the number in the plan is the number of lines printed before it.
 */
#include "tests/support/xk_test.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned tests_printed, tests_failed;
static const char *skip_reason;

static void tap_line(bool ok, const char *suite, const char *name)
{
	tests_printed++;
	tests_failed += !ok;
	printf("%s %u - %s: %s", ok ? "ok" : "not ok", tests_printed, suite, name);
}

static void tap_failures(const CU_pFailureRecord first)
{
	for (CU_pFailureRecord f = first; f; f = f->pNext)
		printf("# %s:%u: %s\n", f->strFileName ? f->strFileName : "?", f->uiLineNumber,
		       f->strCondition ? f->strCondition : "failed");
}

static void test_start(const CU_pTest test, const CU_pSuite suite)
{
	(void)test;
	(void)suite;
	skip_reason = NULL;
}

static void test_complete(const CU_pTest test, const CU_pSuite suite, const CU_pFailureRecord failures)
{
	tap_line(!failures, suite->pName, test->pName);
	if (skip_reason)
		printf(" # SKIP %s", skip_reason);
	printf("\n");
	tap_failures(failures);
}

static void suite_init_failed(const CU_pSuite suite)
{
	tap_line(false, suite->pName, "set up\n");
}

static void suite_cleanup_failed(const CU_pSuite suite)
{
	tap_line(false, suite->pName, "clean up\n");
}

/* Leaves active only the tests that XK_TEST_ONLY names. */
static void select_tests(const char *only)
{
	char full[512];

	for (CU_pSuite s = CU_get_registry()->pSuite; s; s = s->pNext) {
		bool any = false;

		for (CU_pTest t = s->pTest; t; t = t->pNext) {
			snprintf(full, sizeof(full), "%s: %s", s->pName, t->pName);
			bool on = strstr(full, only) != NULL;
			CU_set_test_active(t, on ? CU_TRUE : CU_FALSE);
			any |= on;
		}
		CU_set_suite_active(s, any ? CU_TRUE : CU_FALSE);
	}
	CU_set_fail_on_inactive(CU_FALSE);
}

static bool register_suites(const CU_SuiteInfo *suites)
{
	/* CUnit's argument is not const, but it only reads it. */
	if (CU_initialize_registry() != CUE_SUCCESS ||
	    CU_register_suites((CU_SuiteInfo *)(uintptr_t)suites) != CUE_SUCCESS) {
		printf("Bail out! CUnit: %s\n", CU_get_error_msg());
		return false;
	}
	return true;
}

int xk_test_main(const CU_SuiteInfo *suites)
{
	const char *only = getenv("XK_TEST_ONLY");

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!register_suites(suites))
		return 1;
	if (only && *only)
		select_tests(only);
	CU_set_test_start_handler(test_start);
	CU_set_test_complete_handler(test_complete);
	CU_set_suite_init_failure_handler(suite_init_failed);
	CU_set_suite_cleanup_failure_handler(suite_cleanup_failed);
	CU_run_all_tests();
	CU_cleanup_registry();
	if (tests_printed)
		printf("1..%u\n", tests_printed);
	else
		printf("1..0 # SKIP no test matches XK_TEST_ONLY\n");
	return tests_failed ? 1 : 0;
}

void xk_test_skip(const char *reason)
{
	skip_reason = reason;
}

void xk_test_skip_all(const char *reason)
{
	printf("1..0 # SKIP %s\n", reason);
	exit(0);
}

void xk_test_file(char path[static 32], const char *text)
{
	int fd;
	FILE *out;

	snprintf(path, 32, "/tmp/xk_test.XXXXXX");
	fd = mkstemp(path);
	CU_ASSERT_FATAL(fd >= 0);
	out = fdopen(fd, "w");
	CU_ASSERT_FATAL(out != NULL && fputs(text, out) >= 0 && fclose(out) == 0);
}

unsigned long xk_test_rounds(unsigned long n)
{
	const char *slow = getenv("XK_TEST_SLOW");
	unsigned long part = slow != NULL && *slow != '\0' ? strtoul(slow, NULL, 10) : 1;

	return part <= 1 || n < part ? n : n / part;
}

static const char *env_or(const char *name, const char *otherwise)
{
	const char *v = getenv(name);

	return v && *v ? v : otherwise;
}

const char *xk_test_srcdir(void)
{
	return env_or("top_srcdir", ".");
}

const char *xk_test_builddir(void)
{
	return env_or("top_builddir", ".");
}

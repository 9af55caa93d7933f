/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_test.h - runs CUnit suites and prints the results as TAP.
 *
 * A test program defines a table of suites and calls xk_test_main with it.
 * Each test is one line, "ok 3 - suite: name" or "not ok ...", with a line
 * "# file:line: assertion" for every assertion that failed; the plan comes
 * last, so that a program which dies is seen to have died.
 *
 * XK_TEST_ONLY=text in the environment runs only the tests whose
 * "suite: name" has that text in it.
 */
#ifndef XK_TEST_H
#define XK_TEST_H

#include <CUnit/CUnit.h>

/* Runs all suites (the last one CU_SUITE_INFO_NULL); 0 when every test passed. */
int xk_test_main(const CU_SuiteInfo *suites);

/* Inside a test: report it as skipped, whatever it asserts later.  The test
 * returns by itself. */
void xk_test_skip(const char *reason);

/* From main, before xk_test_main: the whole program cannot run here.  Exits. */
void xk_test_skip_all(const char *reason) __attribute__((noreturn));

/* How often to repeat a long loop: n, or where XK_TEST_SLOW is k, as it is 20 under valgrind, a
 * k-th of it when that is any. */
unsigned long xk_test_rounds(unsigned long n);

/* A new file with that text, whose name is in path then: "/tmp/xk_test." and six letters.  The test
 * unlinks it; what cannot be written ends the test. */
void xk_test_file(char path[static 32], const char *text);

/* The top of the source tree and of the build tree. */
const char *xk_test_srcdir(void);
const char *xk_test_builddir(void);

#endif

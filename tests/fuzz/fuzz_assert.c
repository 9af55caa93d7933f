/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_assert.c - CUnit's assertions in a fuzzer: a fixture that is not content ends the run, as a fuzzer wants it.
 *
 * The macros of CUnit call this one function, of which the library's own needs a running test.  It stands before the
 * library's because the program has it.
 */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>

CU_BOOL CU_assertImplementation(CU_BOOL bValue, unsigned int uiLine, const char *strCondition, const char *strFile,
				const char *strFunction, CU_BOOL bFatal)
{
	(void)strFunction;
	(void)bFatal;
	if (bValue)
		return CU_TRUE;
	fprintf(stderr, "# %s:%u: %s\n", strFile, uiLine, strCondition);
	abort();
}

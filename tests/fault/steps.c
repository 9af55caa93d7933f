/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * steps.c - counts steps: the compiler calls the function below at every branch of the files
 * that are compiled with -fsanitize-coverage=trace-pc, which this one is not.
 *
 * Invariant: steps grows by one for each edge taken in those files, and by nothing else.
 */
#include "tests/fault/steps.h"

uint64_t steps;

void __sanitizer_cov_trace_pc(void);

void __sanitizer_cov_trace_pc(void)
{
	steps++;
}

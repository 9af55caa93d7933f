/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * steps.h - a measure of work that is the same on every machine: edges of the control flow,
 * in the files of protocols/ and runtime/ that are compiled into the test with a counter.
 */
#ifndef TESTS_STEPS_H
#define TESTS_STEPS_H

#include <stdint.h>

extern uint64_t steps;

#endif

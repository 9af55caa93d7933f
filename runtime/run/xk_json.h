/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_json.h - documents that are whole, or not there.
 *
 * jansson leaves out of a document what it finds no memory for, without a word.  A program
 * whose documents others read calls xk_json_start first; from then on each such gap is
 * counted, or ends the program.
 */
#ifndef XK_JSON_H
#define XK_JSON_H

#include <stdint.h>

/*
 * Before the first document: jansson's memory comes through here from now on, and obeys
 * xk_mem_fail_after.  program NULL: what fails is counted.  Otherwise it ends the program, with
 * one sentence and that exit code; nothing that waits to be printed is.
 */
void xk_json_start(const char *program, int code);
/* How often jansson found no memory on this thread, ever: a document for which it has not grown is
 * whole.  0 in a program that did not start it. */
uint64_t xk_json_lost(void);

#endif

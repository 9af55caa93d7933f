/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_alloc.h - memory of control paths, and the hook by which tests let any allocation fail.
 *
 * Any thread.
 */
#ifndef XK_ALLOC_H
#define XK_ALLOC_H

#include "runtime/base/xk_base.h"

/* calloc/strdup/free that obey the failure hook.  xk_free(NULL) is legal. */
void *xk_alloc(size_t n);
char *xk_strdup(const char *s);
void  xk_free(void *p);
uint64_t xk_alloc_live(void);            /* blocks not yet freed, all threads */
uint64_t xk_alloc_bytes(void);           /* their sizes, as the C library rounds them */
/* Makes the k-th allocation from now fail (1 = next; 0 = never): xk_alloc,
 * xk_strdup, xk_slab_get (its run included), buffer refills, what Lua grows and what
 * jansson asks for (xk_json.h) all count.  The
 * count starts with the first call: a process that never calls this pays a
 * load and a branch.  For tests. */
void  xk_mem_fail_after(uint64_t k);
/* The k-th (from 1) and all that follow. */
void  xk_mem_fail_from(uint64_t k);
/* For the allocators that other libraries are given: shall this allocation fail?  Counts it. */
bool  xk_mem_fails(void);
/* Allocations seen since the last xk_mem_fail_after. */
uint64_t xk_mem_tries(void);

#endif

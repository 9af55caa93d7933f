/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mem_alloc.c - control-path memory and the hook that makes allocations fail.
 *
 * The hook counts only after its first use, so a production process shares no
 * written line between its threads here except the count of live blocks.
 * Invariant: alloc_live is the number of blocks handed out and not freed, alloc_bytes
 * what they take.
 */
#include "runtime/mem/xk_mem.h"
#include "runtime/mem/mem_priv.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

static uint64_t alloc_live, alloc_bytes;
static struct {
	uint32_t on;          /* set by the first xk_mem_fail_after, for good */
	uint64_t first, many; /* which fail */
	uint64_t tries;
} hook;

bool xk_mem_fails(void)
{
	if (XK_LIKELY(!xk_load_relaxed(&hook.on)))
		return false;
	return xk_atomic_add(&hook.tries, 1) + 1 - xk_load_relaxed(&hook.first) < xk_load_relaxed(&hook.many);
}

static void fail(uint64_t first, uint64_t many)
{
	xk_store_relaxed(&hook.tries, 0);
	xk_store_relaxed(&hook.first, first);
	xk_store_relaxed(&hook.many, many);
	xk_store_release(&hook.on, 1);
}

void xk_mem_fail_after(uint64_t k) { fail(k, k != 0); }
void xk_mem_fail_from(uint64_t k) { fail(k, UINT64_MAX / 2); }

uint64_t xk_mem_tries(void)
{
	return xk_load_relaxed(&hook.tries);
}

void *xk_alloc(size_t n)
{
	void *p = xk_mem_fails() ? NULL : calloc(1, n ? n : 1);

	if (p != NULL) {
		xk_atomic_add(&alloc_live, 1);
		xk_atomic_add(&alloc_bytes, malloc_usable_size(p));
	}
	return p;
}

char *xk_strdup(const char *s)
{
	size_t n = strlen(s) + 1;
	char *p = xk_alloc(n);

	if (p != NULL)
		memcpy(p, s, n);
	return p;
}

void xk_free(void *p)
{
	if (p == NULL)
		return;
	xk_atomic_add(&alloc_live, (uint64_t)-1);
	xk_atomic_add(&alloc_bytes, -(uint64_t)malloc_usable_size(p));
	free(p);
}

uint64_t xk_alloc_bytes(void)
{
	return xk_load_acquire(&alloc_bytes);
}

uint64_t xk_alloc_live(void)
{
	return xk_load_acquire(&alloc_live);
}

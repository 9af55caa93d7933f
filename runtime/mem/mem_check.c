/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mem_check.c - who holds each buffer, in the debug and sanitizer builds.
 *
 * The debug build keeps one word per buffer in the chunk's head (0 free, else
 * the owner's number plus one) and fills free buffers, from the second line
 * on, with a pattern that is checked when they are taken.  The address
 * sanitizer is told that free buffers, after the first 16 bytes, are
 * out of bounds.
 * Invariant: the owner's word is written only by who takes or gives the buffer.
 */
#include "runtime/mem/xk_mem.h"
#include "runtime/mem/mem_priv.h"

#include <string.h>

#ifdef XK_ASAN
#include <sanitizer/asan_interface.h>
#define HIDE(p, n) ASAN_POISON_MEMORY_REGION(p, n)
#define SHOW(p, n) ASAN_UNPOISON_MEMORY_REGION(p, n)
#else
#define HIDE(p, n) ((void)0)
#define SHOW(p, n) ((void)0)
#endif

#if defined(XK_DEBUG) || defined(XK_ASAN)

#ifdef XK_DEBUG
#define POISON 0x6b
_Static_assert(MEM_CHUNK_HEAD >= offsetof(struct mem_chunk, owner) +
	       2 * ((XK_MEM_CHUNK - MEM_CHUNK_HEAD) / XK_MEM_SMALL_SIZE), "a word for each buffer");

static uint16_t *owner_of(enum xk_memclass c, const void *b)
{
	struct mem_chunk *k = mem_chunk_of(b);
	size_t off = (size_t)((const char *)b - (const char *)k) - MEM_CHUNK_HEAD;

	if (k->cls != c || off % xk_mem_size[c] != 0)
		xk_panic(__FILE__, __LINE__, "%p is not a buffer of class %u", b, (unsigned)c);
	return &k->owner[off / xk_mem_size[c]];
}

static void poison(enum xk_memclass c, void *b)
{
	memset((char *)b + XK_CACHELINE, POISON, xk_mem_size[c] - XK_CACHELINE);
}

static void check_poison(enum xk_memclass c, const void *b)
{
	const unsigned char *p = b;

	for (uint32_t i = XK_CACHELINE; i < xk_mem_size[c]; i++)
		if (XK_UNLIKELY(p[i] != POISON))
			xk_panic(__FILE__, __LINE__, "buffer %p written at offset %u while free", b, i);
}

static void own(const struct xk_memvp *v, enum xk_memclass c, void *b)
{
	uint16_t *o = owner_of(c, b);

	if (mem_chunk_of(b)->pool != v->pool)
		xk_panic(__FILE__, __LINE__, "buffer %p of another graph taken by VP %u", b, v->no);
	if (*o != 0)
		xk_panic(__FILE__, __LINE__, "buffer %p taken by VP %u while VP %u has it", b, v->no, *o - 1u);
	check_poison(c, b);
	*o = (uint16_t)(v->no + 1);
}

static void disown(const struct xk_memvp *v, enum xk_memclass c, uint16_t owner, void *b)
{
	uint16_t *o = owner_of(c, b);

	if (mem_chunk_of(b)->pool != v->pool)
		xk_panic(__FILE__, __LINE__, "buffer %p of another graph put on VP %u", b, v->no);
	if (*o == 0)
		xk_panic(__FILE__, __LINE__, "buffer %p put twice, the second time on VP %u for VP %u", b, v->no, owner);
	if (*o != owner + 1)
		xk_panic(__FILE__, __LINE__, "buffer %p of VP %u put on VP %u for VP %u", b, *o - 1u, v->no, owner);
	*o = 0;
	poison(c, b);
}
#else
static void poison(enum xk_memclass c, void *b) { (void)c; (void)b; }
static void own(const struct xk_memvp *v, enum xk_memclass c, void *b) { (void)v; poison(c, b); }
static void disown(const struct xk_memvp *v, enum xk_memclass c, uint16_t owner, void *b)
{
	(void)v;
	(void)owner;
	poison(c, b);
}
#endif

void xk_mem_check_get(const struct xk_memvp *v, enum xk_memclass c, void *b)
{
	SHOW(b, xk_mem_size[c]);
	own(v, c, b);
}

void xk_mem_check_put(const struct xk_memvp *v, enum xk_memclass c, uint16_t owner, void *b)
{
	disown(v, c, owner, b);
	HIDE((char *)b + sizeof(struct mem_dead), xk_mem_size[c] - sizeof(struct mem_dead));
}

void mem_check_carve(enum xk_memclass c, void *b)
{
	poison(c, b);
	HIDE((char *)b + sizeof(struct mem_dead), xk_mem_size[c] - sizeof(struct mem_dead));
}

void mem_check_unmap(struct mem_chunk *k)
{
	/* The next mapping at this address must not inherit our marks. */
	SHOW(k, XK_MEM_CHUNK);
	(void)k;
}

#else
/* A translation unit may not be empty. */
typedef int mem_check_unused;
#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_stack.c - stacks of user-level threads, a slab of a VP's own, and of pools, of the set.
 *
 * A stack costs no mapping of its own and no guard page, each of which would split a
 * mapping: 100 000 of them come from a few hundred pieces of address space, which lie
 * side by side and are one for the kernel.  Pages become memory when they are touched; large
 * pages, which would make all of a stack memory at once, are declined.  Stacks begin at
 * different lines, or all would compete for the same sets of the cache.
 * What is too deep is found by words of 0 at the low end that are looked at after every
 * switch.  Given back, a stack keeps its pages and is used next.
 * Invariant: chunks are given back with the VP or the pool, not before.
 */
#include "runtime/vp/modes/vp_ult.h"

#include <sys/mman.h>

#include "runtime/mem/xk_mem.h"

#define PAGE      4096u
#define CHUNK     (1u << 20)      /* bytes of one piece, or at least FEWEST stacks */
#define FEWEST    8u
#define COLOURS   16u             /* lines by which beginnings differ */
#define ZONE      (XK_STACK_ZONE * sizeof(uint64_t))
#define HEAD      XK_WHOLE_LINES(sizeof(struct xk_stack))

#if defined(__SANITIZE_THREAD__)
#define STACK_CHECKED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define STACK_CHECKED 1
#endif
#endif

/* Checks of every access need frames several times as large. */
size_t xk_ult_stack_default(void)
{
#if defined(XK_ASAN) || defined(STACK_CHECKED)
	return 128u << 10;
#elif defined(XK_DEBUG) || !defined(__OPTIMIZE__)
	return 32u << 10;
#else
	return 16u << 10;
#endif
}

struct xk_ults *xk_ults_new(size_t size)
{
	struct xk_ults *u = xk_alloc(sizeof *u);

	if (u == NULL)
		return NULL;
	if (size == 0)
		size = xk_ult_stack_default();
	u->size = (size + PAGE - 1) & ~(size_t)(PAGE - 1);
	return u;
}

/* ---- pieces of address space ------------------------------------------------------- */

static struct stack_chunk *chunk_new(struct xk_ults *u)
{
	struct stack_chunk *c = xk_alloc(sizeof *c);

	if (c == NULL)
		return NULL;
	c->n = u->size * FEWEST > CHUNK ? FEWEST : (unsigned)(CHUNK / u->size);
	c->bytes = c->n * u->size;
	c->mem = mmap(NULL, c->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (c->mem == MAP_FAILED) {
		xk_free(c);
		return NULL;
	}
	(void)madvise(c->mem, c->bytes, MADV_NOHUGEPAGE);
	c->next = u->chunk;
	u->chunk = c;
	return c;
}

static struct xk_stack *stack_at(const struct xk_ults *u, char *low, unsigned i)
{
	return (struct xk_stack *)(void *)(low + u->size - HEAD - i % COLOURS * XK_CACHELINE);
}

static struct xk_stack *chunk_carve(struct xk_ults *u, struct stack_chunk *c, void (*main)(void *))
{
	char *low = c->mem + c->used * u->size;
	struct xk_stack *s = stack_at(u, low, c->used);

	c->used++;
	s->zone = (uint64_t *)(void *)low;
	xk_fiber_init(&s->fiber, low + ZONE, (size_t)((char *)s - low) - ZONE, main, s);
	xk_count(u->nstacks);
	return s;
}

/* ---- stacks ------------------------------------------------------------------------- */

struct xk_stack *xk_stack_get(struct xk_ults *u, void (*main)(void *))
{
	struct xk_stack *s = u->free;
	struct stack_chunk *c = u->chunk;

	if (s != NULL) {
		u->free = s->next;
		return s;
	}
	if (c == NULL || c->used == c->n)
		c = chunk_new(u);
	return c != NULL ? chunk_carve(u, c, main) : NULL;
}

void xk_stack_put(struct xk_ults *u, struct xk_stack *s)
{
	s->ult = NULL;
	s->next = u->free;
	u->free = s;
}

void xk_stack_overflowed(const struct xk_stack *s)
{
	xk_panic(__FILE__, __LINE__, "work on a stack of its own needs more than the %zu bytes of it: "
		 "say more with stack", (size_t)((const char *)s - (const char *)s->zone));
}

void xk_ults_free(struct xk_ults *u)
{
	if (u == NULL)
		return;
	while (u->chunk != NULL) {
		struct stack_chunk *c = u->chunk;

		u->chunk = c->next;
		for (unsigned i = 0; i < c->used; i++)
			xk_fiber_fini(&stack_at(u, c->mem + i * u->size, i)->fiber);
		munmap(c->mem, c->bytes);
		xk_free(c);
	}
	xk_free(u);
}

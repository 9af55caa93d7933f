/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_ult.h - stacks of user-level threads, and what a VP keeps about them; the same stacks in pools of idle
 * ones, for units of work of any VP (vp_stackpool.c).
 *
 * Invariant: a stack is a thread's, a unit's, or in a list of free ones, stopped.
 */
#ifndef XK_VP_ULT_H
#define XK_VP_ULT_H

#include "runtime/sync/xk_fiber.h"
#include "runtime/vp/vp_priv.h"
#include "runtime/vp/xk_ult.h"

/* The words at a stack's low end that nobody may reach.  They stay 0, so that the page they
 * are in needs no memory: a frame that gets there leaves a return address. */
#ifdef XK_DEBUG
#define XK_STACK_ZONE 64u
#else
#define XK_STACK_ZONE 8u
#endif

/* At the top of its own memory, so that a thread that does little touches one page. */
struct xk_stack {
	struct xk_fiber  fiber;
	struct xk_stack *next;           /* free */
	struct xk_ult   *ult;            /* whose work it does */
	uint64_t        *zone;           /* the low end */
	/* Of a pool's: what it does, who waits for that, and the processor that used it last, from 1; 0: none has. */
	struct vp_work  *work;
	struct xk_fiber *home;
	uint32_t         used_by;
};

struct stack_chunk { struct stack_chunk *next; char *mem; size_t bytes; unsigned n, used; };

struct xk_ults {
	struct xk_ult      *self;
	struct xk_fiber     vp_fiber;    /* the kernel thread inside */
	struct xk_stack    *free;
	size_t              size;        /* of each, in whole pages */
	struct stack_chunk *chunk;
	xk_counter          live, switches, nstacks, stackless;
};

/* vp_stack.c */
struct xk_ults *xk_ults_new(size_t size);
void xk_ults_free(struct xk_ults *u);
/* Of memory that stays, or NULL. */
struct xk_stack *xk_stack_get(struct xk_ults *u, void (*main)(void *));
void xk_stack_put(struct xk_ults *u, struct xk_stack *s);
/* Aborts, saying so, when s was too small. */
void xk_stack_overflowed(const struct xk_stack *s) __attribute__((noreturn, cold));

/* vp_stackpool.c, for who tests it: the idle stack that a unit would have next which begins on this processor now; NULL: none. */
const struct xk_stack *vp_stack_next(const struct xk_vpset *set);

static inline void xk_stack_check(const struct xk_stack *s)
{
	uint64_t touched = 0;

	for (unsigned i = 0; i < XK_STACK_ZONE; i++)
		touched |= s->zone[i];
	if (XK_UNLIKELY(touched != 0))
		xk_stack_overflowed(s);
}

#endif

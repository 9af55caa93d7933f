/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sync_sim_life.c - simulations and their threads: made, joined, freed; see xk_sim.h.
 *
 * A thread's stack is a mapping of its own with a page below that nobody may touch; what it does not
 * touch needs no memory.
 * Invariant: every thread has its place in the order.
 */
#include "runtime/sync/sync_sim_priv.h"

#include <stdlib.h>
#include <sys/mman.h>

/* Frames of a run to completion from an application down to a device and back, and of the sanitizers. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STACK ((size_t)1 << 20)
#else
#define STACK ((size_t)256 << 10)
#endif
#define GUARD ((size_t)4096)

/* ---- threads ----------------------------------------------------------------------------------- */

static void thread_main(void *arg)
{
	struct xk_sim_thread *t = arg;

	t->fn(t->arg);
	sim_ends(t->sim, t);
}

static char *stack_new(void)
{
	char *p = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	if (mprotect(p, GUARD, PROT_NONE) == 0)
		return p;
	munmap(p, STACK);
	return NULL;
}

static void thread_free(struct xk_sim_thread *t)
{
	xk_fiber_fini(&t->fiber);
	munmap(t->stack, STACK);
	free(t->kept);
	free(t);
}

int xk_sim_thread_new(struct xk_sim *sim, struct xk_sim_thread **out, unsigned processor, void (*fn)(void *), void *arg)
{
	struct sim *s = sim_of(sim);
	struct xk_sim_thread *t = calloc(1, sizeof *t);

	xk_assert(processor == XK_SIM_ANY || processor < s->nprocessors);
	*out = NULL;
	if (t == NULL)
		return XK_E_NOMEM;
	t->floats = processor == XK_SIM_ANY;
	if (t->floats)
		processor = s->nthreads % s->nprocessors;
	t->no = s->nthreads + 1;
	t->tie = (uint64_t)(processor + 1) << 32 | t->no;
	t->kept = calloc(1, s->ops.size);
	t->stack = t->kept != NULL ? stack_new() : NULL;
	if (t->stack == NULL || !sim_order_grow(&s->order, t)) {
		if (t->stack != NULL)
			munmap(t->stack, STACK);
		free(t->kept);
		free(t);
		return XK_E_NOMEM;
	}
	s->nthreads++;
	t->sim = s;
	t->p = &s->p[processor + 1];
	t->fn = fn;
	t->arg = arg;
	t->all = s->all;
	s->all = t;
	xk_fiber_init(&t->fiber, t->stack + GUARD, STACK - GUARD, thread_main, t);
	sim_begins(s, t);
	*out = t;
	return XK_OK;
}

void xk_sim_join(struct xk_sim_thread *t)
{
	struct sim *s = t->sim;
	struct xk_sim_thread **at = &s->all;

	while (t->state != ENDED) {
		t->joiner = s->self;
		sim_block(s, "the end of a thread");
	}
	while (*at != t)
		at = &(*at)->all;
	*at = t->all;
	sim_order_leave(&s->order, t);
	thread_free(t);
}

/* ---- life ------------------------------------------------------------------------------------------ */

static bool make(struct sim *s, unsigned processors)
{
	s->nprocessors = s->nidle = processors;
	s->nbuckets = 2 * processors + 1;
	s->p = calloc(processors + 1, sizeof *s->p);
	s->meets = calloc(processors + 1, sizeof *s->meets);
	s->waiting = calloc(s->nbuckets, sizeof *s->waiting);
	s->main.kept = calloc(1, s->ops.size);
	return sim_bus_make(&s->bus) && s->p != NULL && s->meets != NULL && s->waiting != NULL && s->main.kept != NULL &&
		sim_order_grow(&s->order, &s->main);
}

int xk_sim_new(struct xk_sim **out, unsigned processors, const struct xk_sim_costs *costs, xk_ns *now,
	       const struct xk_sim_ops *ops)
{
	struct sim *s;

	*out = NULL;
	if (!xk_fiber_available())
		return XK_E_NOTSUP;
	if (processors == 0 || processors > XK_SIM_PROCESSORS)
		return XK_E_INVAL;
	if (xk_sim_self != NULL)
		return XK_E_BUSY;
	s = calloc(1, sizeof *s);
	if (s == NULL)
		return XK_E_NOMEM;
	s->pub.now = now;
	s->cost = *costs;
	s->ops = *ops;
	if (!make(s, processors)) {
		xk_sim_free(&s->pub);
		return XK_E_NOMEM;
	}
	s->main.sim = s;
	s->main.p = &s->p[0];
	s->p[0].own = s->p[0].before = &s->main;
	s->p[0].slice_end = XK_NS_NEVER;
	s->self = &s->main;
	s->pub.kept = s->main.kept;
	sim_limit(s);
	xk_sim_self = *out = &s->pub;
	return XK_OK;
}

void xk_sim_free(struct xk_sim *sim)
{
	struct sim *s;
	struct xk_sim_thread *t;

	if (sim == NULL)
		return;
	s = sim_of(sim);
	while ((t = s->all) != NULL) {
		s->all = t->all;
		thread_free(t);
	}
	free(s->main.kept);
	sim_bus_free(&s->bus);
	free(s->waiting);
	free(s->meets);
	sim_order_free(&s->order);
	free(s->p);
	if (xk_sim_self == sim)
		xk_sim_self = NULL;
	free(s);
}

void xk_sim_stats(const struct xk_sim *sim, unsigned processor, struct xk_sim_stats *out)
{
	const struct sim *s = xk_container_of(sim, struct sim, pub);

	xk_assert(processor < s->nprocessors);
	*out = s->p[processor + 1].stats;
}

void xk_sim_counts(const struct xk_sim_thread *t, struct xk_sim_counts *out) { *out = t->counts; }

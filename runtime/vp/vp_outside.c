/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_outside.c - threads of applications, beside the workers.
 *
 * They belong to no VP and wait wherever they like; the set only knows of them, so that a
 * measurement counts what they use, that they stay on the workers' processors (the
 * baseline on one processor must not get a second one), and that workers which have
 * nothing to do leave them these.
 * Invariant: set->outside lists those that are started and not joined.
 */
#include "runtime/vp/vp_priv.h"

#include "runtime/sync/xk_sync.h"

/* Pinned workers are known to be on their own processors only. */
static uint64_t processors_of(const struct xk_vpset *set)
{
	uint64_t mask = 0;

	for (unsigned i = 0; set->arch.wired && i < set->nworkers; i++)
		mask |= 1ull << set->worker[i]->cpu;
	return mask != 0 ? mask : set->arch.cpus;
}

unsigned xk_outside_most(const struct xk_vpset *set)
{
	unsigned all = (unsigned)__builtin_popcountll(set->arch.cpus);

	return set->arch.wired && set->nworkers < all ? set->nworkers : all;
}

void xk_outside_plan(struct xk_vpset *set, unsigned n)
{
	xk_assert(xk_load_acquire(&set->running) == 0);
	set->noutside += n;
	set->oversubscribed = set->nworkers + set->noutside > xk_outside_most(set);
}

static void outside_main(void *arg)
{
	struct xk_outside *o = arg;

	(void)xk_thread_affinity(processors_of(o->set));
	xk_worker_note(&o->stats);
	o->fn(o->arg);
	xk_worker_note(&o->stats);
}

int xk_outside_start(struct xk_outside *o, struct xk_vpset *set, const char *name, void (*fn)(void *), void *arg)
{
	struct xk_outside **last = &set->outside;
	int err;

	*o = (struct xk_outside){ .set = set, .fn = fn, .arg = arg, .stats.cpu = -1 };
	err = xk_thread_new(&o->thread, name, -1, outside_main, o);
	if (err != XK_OK) {
		o->thread = NULL;
		return err;
	}
	while (*last != NULL)
		last = &(*last)->next;
	*last = o;
	return XK_OK;
}

void xk_outside_join(struct xk_outside *o)
{
	struct xk_outside **at;

	if (o->thread == NULL)
		return;
	xk_thread_join(o->thread);
	o->thread = NULL;
	for (at = &o->set->outside; *at != o; at = &(*at)->next)
		;
	*at = o->next;
}

void xk_outside_note(struct xk_outside *o)
{
	xk_ns now = xk_clock_read(&o->set->clock);

	if (now - o->noted < XK_USAGE_EVERY)
		return;
	o->noted = now;
	xk_worker_note(&o->stats);
}

void xk_outside_stats(const struct xk_vpset *set, unsigned i, struct xk_worker_stats *out)
{
	const struct xk_outside *o = set->outside;

	for (; o != NULL && i > 0; i--)
		o = o->next;
	*out = (struct xk_worker_stats){ .cpu = -1 };
	if (o != NULL)
		xk_worker_stats_of(&o->stats, o->thread, out);
}

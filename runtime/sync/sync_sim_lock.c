/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sync_sim_lock.c - a lock in simulated time: first come, first served.
 *
 * Who asks is first made the earliest of all, so that whoever asks for the lock before
 * finds it taken or not as it was then; who gives it back is made so, too, and hands it to the
 * first in line, a run of readers to all of them.  Taking it costs what the processor that had it last
 * says: its line is there, or with another one; or what it costs who stood in line, and was ready for it.
 * Giving it back costs him who does, while the next one has it.
 * Outside of a simulation (a graph that is made or taken down) there is one thread and
 * nobody waits.
 * Invariant: somebody waits only while the lock is held.
 */
#include "runtime/sync/xk_sim.h"

#include <string.h>

struct line { struct xk_sim_thread *t; struct line *next; bool shared; };

struct sim_lock {
	uint32_t     readers;
	uint16_t     writer;
	uint16_t     last : 15, table : 1; /* processor that had it, from 1; 0: none */
	struct line *first, *end;
};
_Static_assert(sizeof(struct sim_lock) <= sizeof(struct xk_lock), "it fits");

static struct sim_lock *lock_of(struct xk_lock *l) { return (struct sim_lock *)l->opaque; }

static void sim_init(struct xk_lock *l)
{
	memset(l, 0, sizeof *l);
}

static void table_init(struct xk_lock *l)
{
	sim_init(l);
	lock_of(l)->table = 1;
}

static void sim_fini(struct xk_lock *l)
{
	xk_assert(lock_of(l)->readers == 0 && lock_of(l)->writer == 0);
}

static void take(struct sim_lock *l, bool shared)
{
	if (shared)
		l->readers++;
	else
		l->writer = 1;
}

/* What it costs the running thread to have it. */
static void charge(struct sim_lock *l, bool stood_in_line)
{
	const struct xk_sim_costs *c = xk_sim_costs_of();
	unsigned here = xk_sim_processor() + 1;
	bool local = l->last == here || l->last == 0;

	xk_sim_charge((stood_in_line ? c->lock_handed : local ? c->lock_local : c->lock_moved) + (l->table ? c->lookup : 0));
	l->last = (uint16_t)here;
}

static bool free_for(const struct sim_lock *l, bool shared)
{
	return l->writer == 0 && l->first == NULL && (shared || l->readers == 0);
}

static bool try_take(struct xk_lock *lock, bool shared)
{
	struct sim_lock *l = lock_of(lock);

	if (xk_sim_self != NULL)
		xk_sim_pass();
	if (!free_for(l, shared))
		return false;
	take(l, shared);
	if (xk_sim_self != NULL)
		charge(l, false);
	return true;
}

static void wait_and_take(struct xk_lock *lock, bool shared)
{
	struct sim_lock *l = lock_of(lock);
	struct line me = { .shared = shared };

	if (try_take(lock, shared))
		return;
	xk_assert(xk_sim_self != NULL);
	me.t = xk_sim_running();
	*(l->first != NULL ? &l->end->next : &l->first) = &me;
	l->end = &me;
	xk_sim_block("a lock");
	charge(l, true);
}

/* The next in line has it, with those behind him where all of them share. */
static void hand_on(struct sim_lock *l)
{
	while (l->first != NULL && l->writer == 0 && (l->first->shared || l->readers == 0)) {
		struct line *w = l->first;

		l->first = w->next;
		take(l, w->shared);
		xk_sim_grant(w->t, 0);
	}
}

static void give_back(struct xk_lock *lock)
{
	struct sim_lock *l = lock_of(lock);

	if (xk_sim_self != NULL)
		xk_sim_pass();
	xk_assert(l->writer != 0 || l->readers != 0);
	if (l->writer != 0)
		l->writer = 0;
	else
		l->readers--;
	if (l->first != NULL)
		hand_on(l);
	if (xk_sim_self != NULL)
		xk_sim_charge(xk_sim_costs_of()->unlock);
}

static void sim_lock(struct xk_lock *l) { wait_and_take(l, false); }
static bool sim_try(struct xk_lock *l) { return try_take(l, false); }
static void sim_rdlock(struct xk_lock *l) { wait_and_take(l, true); }
static bool sim_tryrd(struct xk_lock *l) { return try_take(l, true); }

#define EXCLUSIVE(name, init) { name, init, sim_fini, sim_lock, sim_try, give_back, sim_lock, give_back, sim_try }
#define ALL_OF(init) { \
	EXCLUSIVE("spin", init), EXCLUSIVE("ticket", init), EXCLUSIVE("mcs", init), EXCLUSIVE("adaptive", init), \
	EXCLUSIVE("mutex", init), { "rw", init, sim_fini, sim_lock, sim_try, give_back, sim_rdlock, give_back, sim_tryrd }, \
}

static const struct xk_lock_ops plain[] = ALL_OF(sim_init), of_tables[] = ALL_OF(table_init);

static const struct xk_lock_ops *among(const struct xk_lock_ops *all, const struct xk_lock_ops *policy)
{
	for (unsigned i = 0; i < XK_ARRAY_LEN(plain); i++)
		if (strcmp(all[i].name, policy->name) == 0)
			return &all[i];
	return policy;                   /* "none" is none in any time */
}

const struct xk_lock_ops *xk_lock_simulated(const struct xk_lock_ops *policy) { return among(plain, policy); }
const struct xk_lock_ops *xk_lock_simulated_table(const struct xk_lock_ops *policy) { return among(of_tables, policy); }

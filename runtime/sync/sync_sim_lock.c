/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sync_sim_lock.c - a lock in simulated time: first come, first served.
 *
 * Who asks is first made the earliest of all, so that whoever asks for the lock before
 * finds it taken or not as it was then; who gives it back is made so, too, and hands it to the
 * first in line, a run of readers to all of them.  Taking it costs what the processor that had it last
 * says: its line is there, or with another one; or what it costs who stood in line, and was ready for it.
 * Giving it back costs him who does, while the next one has it.
 * Who stands in line gives its processor away whatever the policy is; that it sleeps is counted where the real
 * one would: a mutex always, an adaptive lock while its holder has no processor, one that spins never.
 * Outside of a simulation (a graph that is made or taken down) there is one thread and
 * nobody waits.
 * Invariant: somebody waits only while the lock is held.
 */
#include "runtime/sync/xk_sim.h"

#include <string.h>

struct line { struct xk_sim_thread *t; struct line *next; bool shared; };

enum waits { SPINS, ADAPTS, SLEEPS };

struct sim_lock {
	uint32_t     readers;
	uint8_t      writer, waits;
	uint16_t     last : 15, table : 1; /* processor that had it, from 1; 0: none */
	struct line *first, *end;
	const struct xk_sim_thread *holder; /* exclusively; NULL: nobody, or outside of a simulation */
};
_Static_assert(sizeof(struct sim_lock) <= sizeof(struct xk_lock), "it fits");

static struct sim_lock *lock_of(struct xk_lock *l) { return (struct sim_lock *)l->opaque; }

static void init(struct xk_lock *l, enum waits waits, bool table)
{
	memset(l, 0, sizeof *l);
	lock_of(l)->waits = (uint8_t)waits;
	lock_of(l)->table = table;
}

static void spins(struct xk_lock *l) { init(l, SPINS, false); }
static void adapts(struct xk_lock *l) { init(l, ADAPTS, false); }
static void sleeps(struct xk_lock *l) { init(l, SLEEPS, false); }
static void spins_table(struct xk_lock *l) { init(l, SPINS, true); }
static void adapts_table(struct xk_lock *l) { init(l, ADAPTS, true); }
static void sleeps_table(struct xk_lock *l) { init(l, SLEEPS, true); }

static void sim_fini(struct xk_lock *l)
{
	xk_assert(lock_of(l)->readers == 0 && lock_of(l)->writer == 0);
}

static void take(struct sim_lock *l, const struct xk_sim_thread *t, bool shared)
{
	if (shared) {
		l->readers++;
	} else {
		l->writer = 1;
		l->holder = t;
	}
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
	xk_ns from;

	if (xk_sim_self == NULL) {
		if (!free_for(l, shared))
			return false;
		take(l, NULL, shared);
		return true;
	}
	xk_sim_pass();
	if (!free_for(l, shared))
		return false;
	from = *xk_sim_self->now;
	take(l, xk_sim_running(), shared);
	charge(l, false);
	xk_sim_locking(from);
	return true;
}

static bool would_sleep(const struct sim_lock *l)
{
	return l->waits == SLEEPS || (l->waits == ADAPTS && l->holder != NULL && !xk_sim_runs(l->holder));
}

static void wait_and_take(struct xk_lock *lock, bool shared)
{
	struct sim_lock *l = lock_of(lock);
	struct line me = { .shared = shared };
	xk_ns from;

	if (try_take(lock, shared))
		return;
	xk_assert(xk_sim_self != NULL);
	from = *xk_sim_self->now;
	me.t = xk_sim_running();
	*(l->first != NULL ? &l->end->next : &l->first) = &me;
	l->end = &me;
	if (would_sleep(l))
		xk_sim_sleeps();
	xk_sim_block("a lock");
	charge(l, true);
	xk_sim_locking(from);
}

/* The next in line has it, with those behind him where all of them share. */
static void hand_on(struct sim_lock *l)
{
	while (l->first != NULL && l->writer == 0 && (l->first->shared || l->readers == 0)) {
		struct line *w = l->first;

		l->first = w->next;
		take(l, w->t, w->shared);
		xk_sim_grant(w->t, 0);
	}
}

static void give_back(struct xk_lock *lock)
{
	struct sim_lock *l = lock_of(lock);
	xk_ns from;

	if (xk_sim_self != NULL)
		xk_sim_pass();
	xk_assert(l->writer != 0 || l->readers != 0);
	if (l->writer != 0)
		l->writer = 0;
	else
		l->readers--;
	l->holder = NULL;
	if (l->first != NULL)
		hand_on(l);
	if (xk_sim_self == NULL)
		return;
	from = *xk_sim_self->now;
	xk_sim_charge(xk_sim_costs_of()->unlock);
	xk_sim_locking(from);
}

static void sim_lock(struct xk_lock *l) { wait_and_take(l, false); }
static bool sim_try(struct xk_lock *l) { return try_take(l, false); }
static void sim_rdlock(struct xk_lock *l) { wait_and_take(l, true); }
static bool sim_tryrd(struct xk_lock *l) { return try_take(l, true); }

#define EXCLUSIVE(name, init) { name, init, sim_fini, sim_lock, sim_try, give_back, sim_lock, give_back, sim_try }
#define ALL_OF(spins, adapts, sleeps) { \
	EXCLUSIVE("spin", spins), EXCLUSIVE("ticket", spins), EXCLUSIVE("mcs", spins), EXCLUSIVE("adaptive", adapts), \
	EXCLUSIVE("mutex", sleeps), { "rw", sleeps, sim_fini, sim_lock, sim_try, give_back, sim_rdlock, give_back, sim_tryrd }, \
}

static const struct xk_lock_ops plain[] = ALL_OF(spins, adapts, sleeps);
static const struct xk_lock_ops of_tables[] = ALL_OF(spins_table, adapts_table, sleeps_table);

static const struct xk_lock_ops *among(const struct xk_lock_ops *all, const struct xk_lock_ops *policy)
{
	for (unsigned i = 0; i < XK_ARRAY_LEN(plain); i++)
		if (strcmp(all[i].name, policy->name) == 0)
			return &all[i];
	return policy;                   /* "none" is none in any time */
}

const struct xk_lock_ops *xk_lock_simulated(const struct xk_lock_ops *policy) { return among(plain, policy); }
const struct xk_lock_ops *xk_lock_simulated_table(const struct xk_lock_ops *policy) { return among(of_tables, policy); }

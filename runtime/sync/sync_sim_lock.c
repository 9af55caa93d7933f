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
#include "runtime/sync/sync_sim_priv.h"

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

/* NULL: outside of a simulation. */
static inline struct sim *sim_or_null(void)
{
	return xk_sim_self != NULL ? sim_of(xk_sim_self) : NULL;
}

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

/* The running thread has it: what that costs. */
static void have(struct sim *s, struct sim_lock *l, bool stood_in_line, xk_ns from)
{
	const struct xk_sim_costs *c = &s->cost;
	unsigned here = sim_processor(s) + 1;
	bool local = l->last == here || l->last == 0;

	sim_charge(s, (stood_in_line ? c->lock_handed : local ? c->lock_local : c->lock_moved) + (l->table ? c->lookup : 0));
	l->last = (uint16_t)here;
	s->self->counts.locking += *s->pub.now - from;
}

static bool free_for(const struct sim_lock *l, bool shared)
{
	return l->writer == 0 && l->first == NULL && (shared || l->readers == 0);
}

static bool try_take(struct sim_lock *l, bool shared)
{
	struct sim *s = sim_or_null();

	if (s != NULL)
		xk_sim_pass();
	if (!free_for(l, shared))
		return false;
	take(l, s != NULL ? s->self : NULL, shared);
	if (s != NULL)
		have(s, l, false, *s->pub.now);
	return true;
}

static bool has_processor(const struct xk_sim_thread *t) { return t->state == RUNNING || t->state == OWN; }

static bool would_sleep(const struct sim_lock *l)
{
	return l->waits == SLEEPS || (l->waits == ADAPTS && l->holder != NULL && !has_processor(l->holder));
}

static void wait_and_take(struct sim_lock *l, bool shared)
{
	struct line me = { .shared = shared };
	struct sim *s = sim_or_null();
	xk_ns from;

	if (try_take(l, shared))
		return;
	xk_assert(s != NULL);
	from = *s->pub.now;
	me.t = s->self;
	*(l->first != NULL ? &l->end->next : &l->first) = &me;
	l->end = &me;
	me.t->counts.voluntary += would_sleep(l);
	sim_block(s, "a lock");
	have(s, l, true, from);
}

/* The next in line has it, with those behind him where all of them share. */
static void hand_on(struct sim *s, struct sim_lock *l)
{
	while (l->first != NULL && l->writer == 0 && (l->first->shared || l->readers == 0)) {
		struct line *w = l->first;

		l->first = w->next;
		take(l, w->t, w->shared);
		sim_grant(s, w->t);
	}
}

static void give_back(struct xk_lock *lock)
{
	struct sim_lock *l = lock_of(lock);
	struct sim *s = sim_or_null();

	if (s != NULL)
		xk_sim_pass();
	xk_assert(l->writer != 0 || l->readers != 0);
	if (l->writer != 0)
		l->writer = 0;
	else
		l->readers--;
	l->holder = NULL;
	if (s == NULL)
		return;
	if (l->first != NULL)
		hand_on(s, l);
	sim_charge(s, s->cost.unlock);
	s->self->counts.locking += s->cost.unlock;
}

static void sim_lock(struct xk_lock *l) { wait_and_take(lock_of(l), false); }
static bool sim_try(struct xk_lock *l) { return try_take(lock_of(l), false); }
static void sim_rdlock(struct xk_lock *l) { wait_and_take(lock_of(l), true); }
static bool sim_tryrd(struct xk_lock *l) { return try_take(lock_of(l), true); }

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

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sync_sim_lock.c - a lock in simulated time: had in the order of asking, or by whoever comes first when it is free.
 *
 * Who asks is first made the earliest of all, so that whoever asks for the lock before
 * finds it taken or not as it was then; who gives it back is made so, too.
 * A ticket, an MCS and a reader/writer lock, and every lock of a machine that says so, are handed to the first
 * in line, a run of readers to all of them.  Others are free when they are given back: the first in line is woken, or
 * sees it who spins, and has it where that takes no time; while it is on its way (it slept, its processor has
 * taken up another thread) the lock is whoever's comes.  So a processor that is slow to take a thread up does not
 * make all others wait for a lock that nobody uses.  Who was woken for nothing keeps its place, and after PATIENCE
 * times the lock is kept for it: an order of events that comes again and again must not leave it out for ever.
 * Where who runs is never interrupted all are handed on: who was woken may stand behind one that never leaves the processor.
 * Taking it costs what the processor that had it last says: its line is there, or with another one; or what it costs
 * who stood in line, and was ready for it.  Giving it back costs him who does, while the next one has it.
 * Who waits gives its processor away whatever the policy is, but spins before where the machine says for how long; that
 * it sleeps is counted, and waking it takes its time, where the real one would: a mutex always, an adaptive lock
 * while its holder has no processor or when it has spun for nothing, one that spins never.
 * Outside of a simulation (a graph that is made or taken down) there is one thread and
 * nobody waits.
 * Invariant: somebody waits only while the lock is held or the first of them is on its way to it.
 */
#include "runtime/sync/sync_sim_priv.h"

#include <string.h>

#define PATIENCE 16u             /* woken for nothing so often, who waits is handed the lock */
#define SPINS_LEAST 100u         /* an adaptive lock spins for one in so many of the most, and twice as long as was enough */

struct line {
	struct xk_sim_thread *t;
	struct line *next;
	unsigned     in_vain;            /* times that it was woken and found the lock taken */
	bool         shared, spins, sleeps;
	bool         called, has;        /* is on its way; the lock is its already */
};

enum waits { SPINS, ADAPTS, SLEEPS };

struct sim_lock {
	uint32_t     readers;
	uint8_t      writer, waits : 4, in_turn : 1, table : 1;
	uint16_t     last;               /* processor that had it, from 1; 0: none */
	struct line *first, *end;
	const struct xk_sim_thread *holder; /* exclusively; NULL: nobody, or outside of a simulation */
	xk_ns        usual;              /* spins that were enough last, eighths decay */
};
_Static_assert(sizeof(struct sim_lock) <= sizeof(struct xk_lock), "it fits");

/* NULL: outside of a simulation. */
static inline struct sim *sim_or_null(void)
{
	return xk_sim_self != NULL ? sim_of(xk_sim_self) : NULL;
}

static struct sim_lock *lock_of(struct xk_lock *l) { return (struct sim_lock *)l->opaque; }

static void init(struct xk_lock *l, enum waits waits, bool in_turn, bool table)
{
	memset(l, 0, sizeof *l);
	lock_of(l)->waits = (uint8_t)waits & 0xfu;
	lock_of(l)->in_turn = in_turn;
	lock_of(l)->table = table;
}

static void spins(struct xk_lock *l) { init(l, SPINS, false, false); }
static void queues(struct xk_lock *l) { init(l, SPINS, true, false); }
static void adapts(struct xk_lock *l) { init(l, ADAPTS, false, false); }
static void sleeps(struct xk_lock *l) { init(l, SLEEPS, false, false); }
static void shares(struct xk_lock *l) { init(l, SLEEPS, true, false); }
static void spins_table(struct xk_lock *l) { init(l, SPINS, false, true); }
static void queues_table(struct xk_lock *l) { init(l, SPINS, true, true); }
static void adapts_table(struct xk_lock *l) { init(l, ADAPTS, false, true); }
static void sleeps_table(struct xk_lock *l) { init(l, SLEEPS, false, true); }
static void shares_table(struct xk_lock *l) { init(l, SLEEPS, true, true); }

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
static void have(struct sim *s, struct sim_lock *l, bool handed, xk_ns from)
{
	const struct xk_sim_costs *c = &s->cost;
	unsigned here = sim_processor(s) + 1;
	bool local = l->last == here || l->last == 0;

	sim_charge(s, (handed ? c->lock_handed : local ? c->lock_local : c->lock_moved) + (l->table ? c->lookup : 0));
	l->last = (uint16_t)here;
	s->self->counts.locking += *s->pub.now - from;
}

static bool in_turn(const struct sim_lock *l, const struct sim *s)
{
	return l->in_turn || s == NULL || s->cost.locks_in_turn || s->cost.slice == 0;
}

static bool free_for(const struct sim_lock *l, const struct sim *s, bool shared)
{
	return l->writer == 0 && (shared || l->readers == 0) && (l->first == NULL || !in_turn(l, s));
}

static bool try_take(struct sim_lock *l, bool shared)
{
	struct sim *s = sim_or_null();

	if (s != NULL)
		xk_sim_pass();
	if (!free_for(l, s, shared))
		return false;
	take(l, s != NULL ? s->self : NULL, shared);
	if (s != NULL)
		have(s, l, false, *s->pub.now);
	return true;
}

/* ---- waiting --------------------------------------------------------------------------- */

static bool has_processor(const struct xk_sim_thread *t) { return t->state == RUNNING || t->state == OWN; }

static bool would_sleep(const struct sim_lock *l)
{
	return l->waits == SLEEPS || (l->waits == ADAPTS && l->holder != NULL && !has_processor(l->holder));
}

static void stand_in_line(struct sim_lock *l, struct line *me)
{
	*(l->first != NULL ? &l->end->next : &l->first) = me;
	l->end = me;
}

static void leave_line(struct sim_lock *l, const struct line *me)
{
	struct line **at = &l->first, *before = NULL;

	for (; *at != me; at = &before->next)
		before = *at;
	*at = me->next;
	if (l->end == me)
		l->end = before;
}

/* For how long, at most, who waits keeps its processor. */
static xk_ns spin_for(const struct sim *s, const struct sim_lock *l)
{
	xk_ns most = l->waits != SLEEPS ? s->cost.lock_spin : 0, likely = 2 * l->usual + most / SPINS_LEAST;

	return l->waits == ADAPTS && likely < most ? likely : most;
}

/* Spins until it is called, or for so long; has it the lock then, or may take it? */
static bool spin(struct sim *s, struct sim_lock *l, struct line *me)
{
	xk_ns from = *s->pub.now, most = spin_for(s, l), spun;

	if (most == 0)
		return false;
	me->spins = true;
	sim_spin(s, from + most);
	me->spins = me->called = false;
	spun = *s->pub.now - from;
	if (l->waits == ADAPTS)
		l->usual = l->usual + spun / 8 - l->usual / 8;
	return me->has || free_for(l, s, false);
}

/* Gives the processor away until it is called. */
static void give_way(struct sim *s, const struct sim_lock *l, struct line *me)
{
	me->sleeps = would_sleep(l) || (l->waits == ADAPTS && s->cost.lock_spin != 0);
	me->t->counts.voluntary += me->sleeps;
	sim_block(s, "a lock");
	me->called = false;
}

/* Until whoever comes has let it have the lock. */
static void compete(struct sim *s, struct sim_lock *l, struct line *me)
{
	while (!spin(s, l, me)) {
		give_way(s, l, me);
		if (me->has || free_for(l, s, false))
			break;
		me->in_vain++;
	}
	if (me->has)
		return;
	leave_line(l, me);
	take(l, me->t, false);
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
	stand_in_line(l, &me);
	if (!in_turn(l, s)) {
		compete(s, l, &me);
	} else {
		me.has = true;
		me.sleeps = would_sleep(l);
		me.t->counts.voluntary += me.sleeps;
		sim_block(s, "a lock");
	}
	have(s, l, me.has, from);
}

/* ---- giving back ------------------------------------------------------------------------ */

/* The next in line has it, with those behind him where all of them share. */
static void hand_on(struct sim *s, struct sim_lock *l)
{
	while (l->first != NULL && l->writer == 0 && (l->first->shared || l->readers == 0)) {
		struct line *w = l->first;

		l->first = w->next;
		take(l, w->t, w->shared);
		sim_grant(s, w->t, w->sleeps ? sim_waking(s, w->t) : 0);
	}
}

/* w looks whether it is free; it is its own where w looks now, or has looked often enough. */
static void call(struct sim *s, struct sim_lock *l, struct line *w)
{
	bool patient = w->in_vain >= PATIENCE;

	w->called = true;
	sim_grant(s, w->t, w->sleeps && !w->spins ? sim_waking(s, w->t) : 0);
	if (l->writer != 0 || (!patient && (w->t->state != OWN || w->t->when != *s->pub.now)))
		return;
	w->has = true;
	leave_line(l, w);
	take(l, w->t, false);
}

/* It is free: the first that spins sees it, and the first that sleeps is woken where none is on its way. */
static void set_free(struct sim *s, struct sim_lock *l)
{
	struct line *spins = l->first, *w = l->first;

	while (spins != NULL && !spins->spins)
		spins = spins->next;
	while (w != NULL && w->spins)
		w = w->next;
	if (spins != NULL && !spins->called && (w == NULL || w->in_vain < PATIENCE))
		call(s, l, spins);
	if (w != NULL && !w->called)
		call(s, l, w);
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
	if (l->first != NULL && in_turn(l, s))
		hand_on(s, l);
	else if (l->first != NULL)
		set_free(s, l);
	sim_charge(s, s->cost.unlock);
	s->self->counts.locking += s->cost.unlock;
}

static void sim_lock(struct xk_lock *l) { wait_and_take(lock_of(l), false); }
static bool sim_try(struct xk_lock *l) { return try_take(lock_of(l), false); }
static void sim_rdlock(struct xk_lock *l) { wait_and_take(lock_of(l), true); }
static bool sim_tryrd(struct xk_lock *l) { return try_take(lock_of(l), true); }

#define EXCLUSIVE(name, init) { name, init, sim_fini, sim_lock, sim_try, give_back, sim_lock, give_back, sim_try }
#define ALL_OF(spins, queues, adapts, sleeps, shares) { \
	EXCLUSIVE("spin", spins), EXCLUSIVE("ticket", queues), EXCLUSIVE("mcs", queues), EXCLUSIVE("adaptive", adapts), \
	EXCLUSIVE("mutex", sleeps), { "rw", shares, sim_fini, sim_lock, sim_try, give_back, sim_rdlock, give_back, sim_tryrd }, \
}

static const struct xk_lock_ops plain[] = ALL_OF(spins, queues, adapts, sleeps, shares);
static const struct xk_lock_ops of_tables[] =
	ALL_OF(spins_table, queues_table, adapts_table, sleeps_table, shares_table);

static const struct xk_lock_ops *among(const struct xk_lock_ops *all, const struct xk_lock_ops *policy)
{
	for (unsigned i = 0; i < XK_ARRAY_LEN(plain); i++)
		if (strcmp(all[i].name, policy->name) == 0)
			return &all[i];
	return policy;                   /* "none" is none in any time */
}

const struct xk_lock_ops *xk_lock_simulated(const struct xk_lock_ops *policy) { return among(plain, policy); }
const struct xk_lock_ops *xk_lock_simulated_table(const struct xk_lock_ops *policy) { return among(of_tables, policy); }

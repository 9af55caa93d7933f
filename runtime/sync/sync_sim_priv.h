/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sync_sim_priv.h - what sync_sim.c (whose turn it is), sync_sim_order.c (who is next), sync_sim_life.c (threads
 * and simulations made and ended), sync_sim_lock.c (locks) and sync_sim_bus.c (the bus) share.
 */
#ifndef XK_SYNC_SIM_PRIV_H
#define XK_SYNC_SIM_PRIV_H

#include "runtime/sync/xk_fiber.h"
#include "runtime/sync/xk_sim.h"

enum sim_state { RUNNING, OWN, QUEUED, ASLEEP, ENDED };

struct line_up { struct xk_sim_thread *first, *last; };

struct processor {
	xk_ns                 now;       /* when it is free, or its thread was stopped */
	xk_ns                 slice_end;
	xk_ns                 meets_until;  /* when a thread of it last slept or took from a queue */
	struct xk_sim_thread *own, *before;
	struct line_up        queue;
	struct xk_sim_stats   stats;
};

struct xk_sim_thread {
	struct xk_fiber   fiber;
	struct sim       *sim;
	struct processor *p;
	enum sim_state        state;
	bool                  floats;    /* is of any processor; p is its last one */
	bool                  spun;      /* was woken before it would have slept */
	unsigned          no;
	unsigned          leaf;          /* in the order */
	xk_ns             when;          /* goes on, may go on, or wakes */
	uint64_t          tie;           /* its first processor above its number: the lowest goes first */
	xk_ns             slept;         /* since when */
	struct xk_event  *event;         /* that it waits for */
	struct xk_sim_thread *next;      /* in its processor's queue, or that of all */
	struct xk_sim_thread *peer;      /* of those whose events have the same hash */
	struct xk_sim_thread *all;
	struct xk_sim_thread *joiner;
	const char       *on;            /* what it waits for, without an end */
	struct xk_sim_counts counts;
	void            (*fn)(void *);
	void             *arg;
	char             *stack;
	void             *kept;
};

/* A window of the bus's time: its number from 1, 0: never used; how much of it is taken. */
struct bus_window { uint64_t no; xk_ns taken; };
struct sim_bus { struct bus_window *window; xk_ns busy; };

/* Who goes on or wakes first, of the same time whose tie is less; XK_NS_NEVER: does not by itself. */
struct sim_order {
	xk_ns                 *best;     /* [2 * room]: the less of 2 * i and 2 * i + 1; leaves behind, [1]: of all */
	struct xk_sim_thread **thread;   /* [room] by leaf, their ties in order */
	struct xk_sim_thread  *zero;     /* the one whose tie is the least: its time changes most, and it has no leaf */
	xk_ns                  at;       /* its time */
	unsigned               n, room;  /* room: a power of two */
};

struct sim {
	struct xk_sim        pub;
	struct xk_sim_costs  cost;
	struct xk_sim_ops    ops;
	unsigned             nprocessors, nthreads, nactive; /* nactive: not 0, neither asleep nor ended */
	bool                 runs, quiet;                    /* thread 0 is in xk_sim_run; was woken because all sleep */
	bool                 asked;                          /* thread 0 went on waiting since the last switch */
	struct processor    *p;                              /* [0] is thread 0's */
	struct xk_sim_thread *self, *all, main;
	unsigned             nidle;                          /* processors that have no thread to run */
	int64_t             *meets;                          /* of each: its meets_until; idle, after its first thread: never over */
	struct sim_order     order;                          /* of those that go on or wake at a time */
	xk_ns              (*again)(void *arg);              /* xk_sim_again */
	void                *again_arg;
	struct line_up       floating;                       /* those of any processor that have none */
	struct sim_bus       bus;
	struct xk_sim_thread **waiting;                      /* for events, by hash */
	unsigned             nbuckets;
};

static inline struct sim *sim_of(struct xk_sim *s) { return xk_container_of(s, struct sim, pub); }

/* The number of the running thread's processor, from 1; 0: that of who runs the simulation. */
static inline unsigned sim_processor(const struct sim *s) { return (unsigned)(s->self->p - s->p); }

/* The running thread's work took so long. */
static inline void sim_charge(struct sim *s, xk_ns ns)
{
	*s->pub.now += ns;
	s->self->counts.worked += ns;
	s->self->p->stats.busy += ns;
}

/* A place for one more thread, t, that of the first one being before all others in ties; false: no memory. */
bool sim_order_grow(struct sim_order *o, struct xk_sim_thread *t);
/* t, which is not the first one, has ended. */
void sim_order_leave(struct sim_order *o, const struct xk_sim_thread *t);
void sim_order_free(struct sim_order *o);
/* t goes on at another time. */
void sim_order_set(struct sim_order *o, const struct xk_sim_thread *t, xk_ns when);
/* The first of all, NULL: nobody goes on by himself; *limit: up to when it is before all others. */
struct xk_sim_thread *sim_order_first(const struct sim_order *o, xk_ns *limit);
/* Up to when t would be before all others. */
xk_ns sim_order_limit(const struct sim_order *o, const struct xk_sim_thread *t);
/* When the first of all others goes on. */
xk_ns sim_order_others(const struct sim_order *o, const struct xk_sim_thread *t);

/* t goes on, or wakes, at t->when; has nothing to wait for in time. */
static inline void sim_put(struct sim *s, const struct xk_sim_thread *t) { sim_order_set(&s->order, t, t->when); }
static inline void sim_out(struct sim *s, const struct xk_sim_thread *t) { sim_order_set(&s->order, t, XK_NS_NEVER); }

/* It waits until another thread wakes it, by sim_grant, or lets it be woken after so long; `on` is told when nothing
 * ever will. */
void sim_block(struct sim *s, const char *on);
void sim_grant(struct sim *s, struct xk_sim_thread *t, xk_ns after);
/* Until t, which sleeps, can be taken up: its processor has to be woken, too, where it has nothing to run. */
xk_ns sim_waking(const struct sim *s, const struct xk_sim_thread *t);
/* It waits with its processor kept, until `until` at most. */
void sim_spin(struct sim *s, xk_ns until);

/* Up to when the running thread may go on, after a change of what others do. */
void sim_limit(struct sim *s);
bool sim_bus_make(struct sim_bus *b);
void sim_bus_free(struct sim_bus *b);
/* t is ready, now; the running thread, t, is at its end. */
void sim_begins(struct sim *s, struct xk_sim_thread *t);
void sim_ends(struct sim *s, struct xk_sim_thread *t) __attribute__((noreturn));

#endif

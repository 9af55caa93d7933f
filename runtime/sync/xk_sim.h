/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_sim.h - simulated processors: threads as fibers of one kernel thread, each processor with a
 * time of its own.
 *
 * Of all processors that have something to run the one whose time is least goes on, of several
 * the one with the lowest number, so a run is the same every time.  What a thread does takes the
 * time that it is charged; where it touches what others see (a lock, an event) or says so
 * (xk_sim_pass) it is stopped until nobody else's time is less than its own.
 * Locks, events, naps and yields of this room wait in simulated time where the calling
 * thread is simulated; nothing else changes for them, and nothing at all for other threads.
 * All processors share one bus: what crosses it at a time is one after the other.
 * A simulated thread stays on its processor, or runs on whichever is free, its last one before
 * others.  A processor runs a thread until that waits, yields, or has had its slice where others
 * stand in line; then the next of its own, or else of those that any may run.
 * Invariant: at most one simulation per kernel thread, and of its fibers exactly one runs.
 *
 *   xk_sim_new, run, join, free    the kernel thread that made it, as its thread 0
 *   xk_sim_charge, bus, pass       any simulated thread
 */
#ifndef XK_SYNC_SIM_H
#define XK_SYNC_SIM_H

#include "runtime/base/xk_clock.h"
#include "runtime/sync/xk_sync.h"

#define XK_SIM_PROCESSORS 1024u
#define XK_SIM_ANY        UINT32_MAX

/* Nanoseconds. */
struct xk_sim_costs {
	xk_ns lock_local, lock_moved;  /* a lock taken that this processor had last, another one had */
	xk_ns lock_handed;             /* taken by who stood in line for it */
	xk_ns unlock;                  /* given back: others have it meanwhile */
	xk_ns lock_spin;               /* who waits for one that spins or is adaptive keeps its processor so long at most, 0: not */
	bool  locks_in_turn;           /* each is had in the order of asking, whatever its policy */
	xk_ns lookup;                  /* what a table's lock is taken for */
	xk_ns handover;                /* until a thread runs that was woken while it spun */
	xk_ns wake;                    /* the same when it slept (it had waited for longer than `spin`) and its processor idled */
	xk_ns spin;
	xk_ns sleep;                   /* of its processor, when a thread has slept */
	xk_ns hop;                     /* when it takes what another thread has put into a queue between them */
	xk_ns sleep_other;             /* more of either, for each other processor that is at one, or idle */
	xk_ns context;                 /* a processor takes up another thread than the one before */
	xk_ns yield;                   /* a thread looks again and finds nothing */
	xk_ns slice;                   /* a thread runs so long before others of its processor, 0: without end */
};

/* What a fiber takes with it: thread-locals of rooms above.  leave is called before
 * another fiber runs, enter before this one goes on. */
struct xk_sim_ops {
	size_t size;                   /* of `kept`, zeroed at first */
	void (*leave)(void *kept);
	void (*enter)(void *kept);
};

struct xk_sim_thread;
struct xk_sim {
	xk_ns *now;                    /* of the processor that runs */
	xk_ns  limit;                  /* the thread may go on up to here before it looks who else is to run */
	void  *kept;                   /* of the thread that runs */
};
/* The calling thread's simulation; NULL: it has none. */
extern _Thread_local struct xk_sim *xk_sim_self __attribute__((tls_model("initial-exec")));

/* *now becomes the time of whoever runs.  ops, costs: copied.  XK_E_NOTSUP: no fibers in this build;
 * XK_E_BUSY: the calling thread has a simulation; XK_E_INVAL: not 1 to XK_SIM_PROCESSORS. */
int  xk_sim_new(struct xk_sim **sim, unsigned processors, const struct xk_sim_costs *costs, xk_ns *now,
		const struct xk_sim_ops *ops);
/* Every thread has ended, or its stack is thrown away. */
void xk_sim_free(struct xk_sim *sim);
/* A thread on a processor, 0 to processors-1, from the present time on; XK_SIM_ANY: on whichever is free.  XK_E_NOMEM. */
int  xk_sim_thread_new(struct xk_sim *sim, struct xk_sim_thread **t, unsigned processor, void (*fn)(void *), void *arg);
/* Waits for its end, and frees it. */
void xk_sim_join(struct xk_sim_thread *t);
/* Thread 0: lets the others run until `until`; false, at the latest time that any of them has reached:
 * all of them wait, and only time would wake one.  Called again it does. */
bool xk_sim_run(struct xk_sim *sim, xk_ns until);
/* When xk_sim_run's `until` has come, again says until when to go on, without thread 0's having its turn
 * for that; no later time: it has.  *now is `until`.  Called on the stack of any thread, which it may
 * neither charge nor stop.  NULL: none. */
void xk_sim_again(struct xk_sim *sim, xk_ns (*again)(void *arg), void *arg);

/* Time that a processor has spent on what it was charged. */
struct xk_sim_stats { xk_ns busy; uint64_t switches; };
void xk_sim_stats(const struct xk_sim *sim, unsigned processor, struct xk_sim_stats *out);
/*
 * Of a thread.  worked: ns that it was charged, wherever it ran: its user time.  voluntary: it gave its processor
 * away to wait: at an event for longer than it would have spun, in a nap, at a lock whose policy sleeps, or is
 * adaptive and was held by who had no processor, or was spun for in vain.  involuntary: its slice was over, or it
 * yielded, and others stood in line (what getrusage of Linux counts as each).
 * locking: ns in calls that take and give back locks, waiting included; meeting: ns that it was charged for having
 * slept and for taking from queues (Schmidt and Suda 1996, 4.4.3: Mutex and Condition).
 */
struct xk_sim_counts { uint64_t voluntary, involuntary; xk_ns worked, locking, meeting; };
void xk_sim_counts(const struct xk_sim_thread *t, struct xk_sim_counts *out);
/* That the bus was in use. */
xk_ns xk_sim_bus_busy(const struct xk_sim *sim);

/* The thread's work took so long. */
void xk_sim_charge(xk_ns ns);
/* It took so long, and until what it moved had crossed the bus, which takes `bus` of the bus's time. */
void xk_sim_work(xk_ns ns, xk_ns bus);
/* A message has come through a queue from another thread. */
void xk_sim_hop(void);
void xk_sim_pass_now(void);
/* Whoever has an earlier time goes first. */
static inline void xk_sim_pass(void)
{
	if (*xk_sim_self->now > xk_sim_self->limit)
		xk_sim_pass_now();
}

/* The policy as it is simulated, of the same name: ticket, mcs and rw in the order of asking, and all where there are no
 * slices; the others free for whoever comes while who waits is on its way; of a table: who has it looks something up. */
const struct xk_lock_ops *xk_lock_simulated(const struct xk_lock_ops *policy);
const struct xk_lock_ops *xk_lock_simulated_table(const struct xk_lock_ops *policy);

/* ---- for this room: the calling thread is simulated ------------------------------------ */

void xk_sim_yield(void);
void xk_sim_nap(xk_ns ns);
/* Sleeps until e is woken, or for so long. */
void xk_sim_wait(struct xk_event *e, xk_ns timeout);
/* False: none of the simulation's threads waits for e. */
bool xk_sim_wake(struct xk_event *e);
/* The one that calls; the number of its processor from 1, 0 for that of who runs the simulation. */
struct xk_sim_thread *xk_sim_running(void);
unsigned xk_sim_processor(void);

#endif

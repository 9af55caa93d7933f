/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_sched.h - decides which processor runs what next, and which free processor starts.
 *
 * A *run* is what is queued and run: a message, a stack with a queue of its own, a virtual
 * processor.  A *processor* runs one at a time: a worker, an I/O thread, a simulated processor.
 * Free processors are chosen by a pick (most recently used first keeps code in their caches,
 * least recently used first is its lower bound); runs wait in one queue that all share, or in one
 * for each processor, their home, with or without help from others (Salehi, Kurose and Towsley
 * 1995, 2.1, 3.1 and 8; taking from others' queues is not theirs).
 *
 * The functions are pure: no lock, clock, allocation or thread-local variable.  The caller gives
 * the memory and serialises the calls on one scheduler: the runtime under a lock of its own, a
 * simulator with none.  Times are the caller's and never go back.
 *
 *   call                    when                                      answer
 *   xk_sched_arrive         there is something to do in a run         a processor to start, or none
 *   xk_sched_next           a processor can run something             the run, NULL: nothing for it
 *   xk_sched_done           a processor has run it for a while        a processor to start, or none
 *   xk_sched_release        there was nothing                         false: now there is, ask again
 *
 * Who is started asks for its run by xk_sched_next; it may find that another one was faster.
 * A run's own queue is the caller's.  Invariant: no processor is free while a run waits that it
 * may take and nobody was started for; a run is in one queue, or with one processor, or at rest.
 */
#ifndef XK_SCHED_H
#define XK_SCHED_H

#include "runtime/base/xk_base.h"

#define XK_SCHED_PROCS_MAX 1024u
#define XK_SCHED_NONE      UINT32_MAX   /* no processor */

enum xk_pick {
	XK_PICK_MRU,       /* the one that was released last */
	XK_PICK_LRU,       /* the one that was released first */
	XK_PICK_LOW,       /* the lowest number */
	XK_PICK_RANDOM,    /* any, by the scheduler's own numbers */
};
enum xk_queue {
	XK_QUEUE_ONE,      /* first come, first served, by any processor */
	XK_QUEUE_PER,      /* one for each processor: a run waits for its home */
};
/* How many may wait for their home before any processor takes them: never, or at once. */
#define XK_SCHED_WIRED UINT32_MAX
#define XK_SCHED_STEAL 0u

/* Where a run is; the scheduler's. */
enum xk_place {
	XK_PLACE_REST,     /* nothing to do in it */
	XK_PLACE_QUEUED,
	XK_PLACE_POLLS,    /* queued with nothing known to do: no processor starts for its sake */
	XK_PLACE_RUNNING,
	XK_PLACE_AGAIN,    /* running, and more has arrived */
};
/* What is left in a run whose turn is over. */
enum xk_after {
	XK_AFTER_REST,     /* nothing */
	XK_AFTER_MORE,     /* the same processor goes on with it, up to the quantum */
	XK_AFTER_YIELD,    /* more, after all that wait now */
	XK_AFTER_POLLS,    /* nothing known, but somebody should look from time to time */
};

/* Embedded in what is run; zeroed, with last = -1, it is at rest and was never run. */
struct xk_sched_run {
	uint16_t home;              /* the caller's, before it arrives: below nprocs; where the queue is one, any */
	int16_t  last;              /* the processor that ran it before, -1: none did; written by xk_sched_done */
	/* ---- the scheduler's ---- */
	uint8_t  place;             /* enum xk_place */
	uint32_t had;               /* messages since it was taken from the queue */
	struct xk_sched_run *behind;
};

struct xk_sched_conf {
	unsigned      nprocs;       /* 1 to XK_SCHED_PROCS_MAX */
	enum xk_pick  pick;
	enum xk_queue queue;
	uint32_t      depth;        /* of a queue for each: XK_SCHED_WIRED, XK_SCHED_STEAL or a number */
	uint32_t      quantum;      /* most messages of a run in a turn; 0: until there are none */
	uint64_t      seed;         /* of XK_PICK_RANDOM */
};

struct xk_sched;

/* Bytes that a scheduler of so many processors needs, aligned as from malloc. */
size_t   xk_sched_size(unsigned nprocs);
/* All are free since time 0, number 0 the most recently used.  XK_E_RANGE: nprocs. */
int      xk_sched_init(struct xk_sched *s, const struct xk_sched_conf *conf);

unsigned xk_sched_arrive(struct xk_sched *s, struct xk_sched_run *r, xk_ns now);
/* The same, brought by p, which may be free but goes on with other work: others are chosen before it. */
unsigned xk_sched_brought(struct xk_sched *s, unsigned p, struct xk_sched_run *r, xk_ns now);
struct xk_sched_run *xk_sched_next(struct xk_sched *s, unsigned p, xk_ns now);
/* r is what xk_sched_next(s, p) gave, n messages of it were run.  With more left and turn not over
 * the next xk_sched_next(s, p) gives it again. */
unsigned xk_sched_done(struct xk_sched *s, unsigned p, struct xk_sched_run *r, enum xk_after left, uint32_t n, xk_ns now);
bool     xk_sched_release(struct xk_sched *s, unsigned p, xk_ns now);

/* How long p had run nothing when it was given what it runs; 0 unless it was released before that. */
xk_ns    xk_sched_away(const struct xk_sched *s, unsigned p);
bool     xk_sched_is_free(const struct xk_sched *s, unsigned p);
unsigned xk_sched_nfree(const struct xk_sched *s);
/* Queued runs with something to do. */
unsigned xk_sched_waiting(const struct xk_sched *s);
/* Takes any run out of its queue, NULL: none is in one.  For who ends the scheduler. */
struct xk_sched_run *xk_sched_drain(struct xk_sched *s);

#endif

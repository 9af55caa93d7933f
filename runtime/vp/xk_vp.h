/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_vp.h - virtual processors: units of concurrency, and the workers that run
 * them.
 *
 * At most one thread is inside a VP at a time and runs to completion there.
 * What a VP owns (timers, freelists, replicas of protocols, counters) needs no
 * lock.  A VP is not a thread: a worker, a thread of its own or a borrowed
 * application thread may run it, as the graph's architecture says.
 *
 * For the runtime, drivers, tools and tests.  Protocols see a VP by xk_task.h, xk_timer.h,
 * xk_call.h and runtime/upi/xk_vps.h (tools/check-contract).
 *
 *   call                      from where
 *   xk_vp_post, xk_vp_do      any thread (xk_call.h)
 *   xk_task_*, xk_vp_now      inside that VP only (xk_task.h)
 *   xk_vpset_*                the control thread only
 */
#ifndef XK_VP_H
#define XK_VP_H

#include "runtime/base/xk_base.h"
#include "runtime/base/xk_clock.h"
#include "runtime/base/xk_errs.h"
#include "runtime/base/xk_heap.h"
#include "runtime/base/xk_hist.h"
#include "runtime/base/xk_rand.h"
#include "runtime/base/xk_recorder.h"
#include "runtime/mem/xk_mem.h"
#include "runtime/mem/xk_shared.h"
#include "runtime/msg/xk_msg_inline.h"
#include "runtime/sync/xk_sync.h"
#include "runtime/vp/xk_call.h"
#include "runtime/vp/xk_due.h"
#include "runtime/vp/xk_now.h"
#include "runtime/vp/xk_outside.h"
#include "runtime/vp/xk_sched.h"
#include "runtime/vp/xk_wheel.h"

struct xk_vpset;
struct xk_worker;
struct xk_pool;
struct xk_stage;
struct xk_pipeline;
struct xk_fifo;
struct xk_mode_ops;
struct xk_outside;
struct xk_machine;
struct xk_vpsim;
struct xk_heat;
struct xk_stacks;
struct vp_units;

/* Of a stage (xk_stage.h); each written by who is inside, or exclusive. */
struct xk_stage_counts {
	xk_counter up, down;              /* messages taken from a queue */
	xk_counter forwarded;             /* messages put into one */
	xk_counter backpressure;          /* times it stopped taking because a queue behind it was high */
	xk_counter exclusive, asked;      /* times it was exclusive; of them, had to wait for others */
	xk_counter late;                  /* messages whose session ended while they were under way */
	xk_counter most;                  /* most messages that waited in one of its queues */
	/* Of the thread of several stages in its first one; written by that thread: time that it could
	 * run nothing, because a queue that it fills was high, because all that it takes from were empty. */
	xk_counter full_ns, empty_ns;
};

#define XK_OUTBOX 8u
/* What a VP's worker knew when it fell asleep: tasks and their descriptors, and when one is due (modes/vp_caller.c). */
#define XK_VP_KNOWN 8u
struct xk_vp_known {
	bool     valid;
	unsigned n;
	xk_ns    due;
	struct { const struct xk_task *task; int fd; } of[XK_VP_KNOWN];
};
#define XK_VP_WARM 32u
struct xk_vp {
	/* Touched by whoever is inside: down to the wheel's slots by every turn, in lines one after
	 * the other. */
	xk_ns             now;            /* first (xk_now.h); read once per round */
	struct xk_task   *ring[2];        /* the task whose turn it is, NULL: none; [1] of input */
	struct xk_vpset  *set;
	struct xk_worker *worker;         /* who owns it (entry own), or its home */
	const struct xk_mode_ops *mode;   /* how it is run */
	uint16_t          no;
	bool              inside;         /* someone is inside (debug, and own) */
	bool              input_full;     /* an input task used its whole budget in this round */
	uint32_t          npolling;       /* ready tasks with a file descriptor */
	uint32_t          nready;         /* ready tasks */
	uint32_t          ninput;         /* of these, input */
	uint32_t          input_due;      /* input tasks to be run before the next other one */
	uint32_t          others;         /* messages that other tasks made since input was due, `several` as one */
	uint32_t          input_more;     /* messages until there is no further round of input */
	unsigned          nout;           /* destinations with messages waiting, see out */
	struct xk_msgq    local;          /* deferred to this VP by itself, no atomics */
	xk_counter        units, messages;
	void             *owner;          /* of upi: the graph */
	uint32_t          nposted;        /* of upi: rings posted by sessions here (xk_ddp.h) */
	unsigned          nwarm;          /* see xk_vp_warm */
	struct xk_recorder recorder;      /* what happened here last (xk_recorder.h) */
	uint64_t          singly;         /* frames that came in one by one since the last record of a turn */
	struct xk_wheel   wheel;
	const void       *warm[XK_VP_WARM] XK_ALIGNED;
	struct xk_memvp   mem XK_ALIGNED;
	struct { struct xk_msg *first, *last; uint16_t to; uint16_t n; } out[XK_OUTBOX];
	struct xk_rand    rand;
	xk_counter        handed_over, posted_out, borrowed, inbox_drops, wrong_vp;
	xk_counter        carried;        /* of handed_over, brought by the thread that found the owner */
	xk_ns             worker_next;    /* when the worker will look at the wheel by itself */
	xk_ns             busy_ns;        /* time inside, when measured */
	uint32_t          slot;           /* of its worker's */
	bool              asks;           /* a task of it has xk_task_on_sleep */
	/* An I/O thread's: the ticket of the message it carries, 0: none, or given up already. */
	uint64_t          ticket;
	xk_counter        order_stalls;   /* an I/O thread's: messages that waited for their turn */
	struct xk_lockstat tablestat;     /* of the table of connections, by who was inside */
	/* A connection's: turns given out, turns taken; see vp_handoff.c. */
	uint64_t          order_given, order_taken;
	uint64_t          order_last;     /* the latest ticket that has come in */
	xk_counter        reordered;      /* messages that came in after a later one */
	xk_counter        carrier_hits, carrier_moves; /* an I/O thread's: see xk_affinity_counts */
	struct xk_ults   *ults;           /* user-level threads (xk_ult.h), NULL: none yet */
	struct xk_due    *dues;           /* of tasks that know when they have something to do, NULL: none */
	/* Schedule fifo, under its lock: what is queued, and the place among those that are due later. */
	struct xk_sched_run run;
	struct xk_heap_item due;
	bool              polls;          /* its tasks poll */
	struct xk_vp_known known;         /* waiters RUN: under the lock */
	xk_ns             rested;         /* the runner's: when the last one left and slept, 0: it found what it waited for */
	uint32_t          patience;       /* how long it looks, see modes/vp_caller.c */
	/* Read by others for each message that they hand over. */
	struct xk_stage   *stage XK_ALIGNED; /* domain layers: see xk_stage.h */
	uint16_t          at;             /* place among all of the set; `no` but in the domain layers */
	struct xk_stage_counts hops XK_ALIGNED; /* domain layers */
	/* Written by others. */
	struct xk_msg    *inbox XK_ALIGNED;   /* newest first */
	uint32_t          inbox_posted;
	uint32_t          kicked;         /* schedule fifo: something was left here since its last turn began */
	uint32_t          runner;         /* waiters RUN: a thread that waits runs it */
	struct xk_call   *calls;
	struct xk_lock    lock XK_ALIGNED;    /* entry `lock`: guards all of the above; nests in nothing */
	struct xk_lockstat lockstat;          /* of it */
	uint64_t          waits, waited_ns;   /* of its contended and wait_ns, what the recorder has */
	uint16_t          carrier;        /* a connection's, domain NONE: the I/O thread that brought a message last; 0: none */
	uint32_t          inbox_taken XK_ALIGNED;
} __attribute__((aligned(4096)));
_Static_assert(offsetof(struct xk_vp, now) == 0, "xk_now.h reads it there");

/* ---- the axes of threading ------------------------------------------------ */

enum xk_domain   { XK_DOMAIN_CONN, XK_DOMAIN_LAYER, XK_DOMAIN_NONE };
enum xk_entry    { XK_ENTRY_OWN, XK_ENTRY_LOCK, XK_ENTRY_THREAD };
/* XK_SCHED_FIFO: any worker may run any VP; xk_sched.h decides who runs which. */
enum xk_schedule { XK_SCHED_DRR, XK_SCHED_OS, XK_SCHED_VIRTUAL, XK_SCHED_FIFO };
/*
 * Schedule FIFO: who runs a VP that has work.  ANY: whichever worker looks first, and the lowest of those
 * that sleep is woken.  The others are Salehi's (1995, 2.1): who is chosen runs it, by `pick`, `queue` and
 * `depth`, which these words stand for: CODE: the worker that ran protocol code last, one queue; STREAM:
 * its home, a queue for each worker; NONE: the worker that has been idle longest, one queue.
 */
enum xk_affinity { XK_AFFINITY_ANY, XK_AFFINITY_CODE, XK_AFFINITY_STREAM, XK_AFFINITY_NONE };
/* Which VP a connection lives on: its number's, or the one of the hash of its two ends:
 * a port that may be chosen is chosen so that the hash is this VP's. */
enum xk_spread   { XK_SPREAD_NUMBER, XK_SPREAD_HASH };
/*
 * What a thread does with messages that it found to be another VP's: leaves them in that
 * VP's inbox; enters it when it has left its own, waiting for the lock; enters it
 * if that is free, else leaves them there.
 */
enum xk_handover { XK_HANDOVER_POST, XK_HANDOVER_ENTER, XK_HANDOVER_TRY };
/* What a program's thread does that waits in a call: sleeps; or runs the VP that it waits for itself, which its worker
 * leaves to it, and sleeps when there has been nothing to do for `spin_us`. */
enum xk_waiters { XK_WAITERS_SLEEP, XK_WAITERS_RUN };
/* Who carries the frames of a device: one I/O thread that is its own, or whichever of
 * them is free, from a queue that all share. */
enum xk_inbound { XK_INBOUND_DEVICE, XK_INBOUND_POOL };
/* Messages of the pool enter a connection's VP as they come, or as they were taken from
 * the queue. */
enum xk_order { XK_ORDER_ANY, XK_ORDER_ARRIVAL };
#define XK_IO_THREADS_MAX 64u
/* Datagrams from peers that nobody here opened a connection to, for who takes them on any VP:
 * through the lock of one VP like all other messages, or on whichever I/O thread has them, several
 * of one peer at a time, in no order and without a lock (Schmidt's MP_UDP). */
enum xk_datagrams { XK_DATAGRAMS_OWNED, XK_DATAGRAMS_ANYWHERE };
/* What is locked where messages are what is parallel: the table of connections and each of them, or
 * besides, in each layer below, the map of its sessions and each session (Salehi's Locking). */
enum xk_object_axis { XK_OBJECTS_CONNECTION, XK_OBJECTS_LAYER };

/* Whose stack work of a connection runs on: the kernel thread's that runs its VP, or the
 * connection's own. */
enum xk_threads { XK_THREADS_KERNEL, XK_THREADS_USER };
/*
 * Whose stack a unit of work runs on: the thread's that runs it; or one of a pool of idle thread stacks (Salehi 1995, 2.1,
 * thread-stack affinity), from its beginning to its end.  PROCESSOR: each worker and I/O thread has a pool, and threads that are
 * neither have one together; the stack that was used there last is next.  GLOBAL: one pool for all, the stack that
 * has been idle longest is next, the lower bound.
 */
enum xk_stackpools { XK_STACKS_NONE, XK_STACKS_PROCESSOR, XK_STACKS_GLOBAL };

/* What an idle worker does beside protocols: it walks data and code of its own, bytes, in a share v of its time; it
 * does not sleep. */
#define XK_BACKGROUND_MAX (1ull << 30)
struct xk_background { bool on; double v; uint64_t data, code; };

/* VPs wanted, when not a number. */
#define XK_VPS_PER_WORKER  (-1)
#define XK_VPS_PER_CONN    (-2)

struct xk_arch {
	const char      *name;       /* preset */
	enum xk_domain   domain;
	enum xk_entry    entry;
	enum xk_schedule schedule;
	enum xk_handover handover;   /* POST unless the entry is LOCK */
	enum xk_spread   spread;
	enum xk_waiters  waiters;    /* SLEEP unless the entry is LOCK */
	const struct xk_lock_ops *lock;  /* entry LOCK; NULL: mutex */
	int              vps;        /* a number, or XK_VPS_* */
	unsigned         workers;    /* DRR; 0: one per allowed processor */
	/* VPs besides, that no connection is mapped to: they own the devices, and each has a
	 * worker of its own.  0: a device is read by the VPs of connections. */
	unsigned         io_threads;
	enum xk_inbound  inbound;
	enum xk_order    order;
	enum xk_datagrams datagrams; /* domain NONE */
	/* Domain NONE: the lock on the table of connections that whoever carries a message
	 * takes to find its owner; NULL: RCU.  hold: until the owner's lock is had, too, and
	 * a thread that is not the set's takes it before it enters. */
	const struct xk_lock_ops *table;
	bool             hold;
	enum xk_object_axis objects; /* domain NONE */
	bool             wired;      /* workers pinned */
	bool             lock_untimed; /* no clock is read for locks: their counts alone */
	unsigned         burst;      /* messages per unit of work */
	unsigned         quantum;    /* messages a VP may run before the next VP's turn; FIFO, 0: all it has */
	uint64_t         cpus;       /* processors allowed; 0: all */
	uint32_t         inbox;      /* cap of each VP's inbox, messages */
	uint64_t         seed;
	xk_ns            tick;       /* of the timer wheels; 0: XK_WHEEL_TICK */
	uint32_t         spin_us;    /* spin this long before sleeping */
	enum xk_threads  threads;
	size_t           stack;      /* bytes of each user-level thread's, or pool's; 0: what this build needs */
	enum xk_stackpools stacks;   /* threads KERNEL, domain not LAYER */
	enum xk_affinity affinity;   /* schedule FIFO */
	enum xk_pick     pick;       /* unless the affinity is ANY */
	enum xk_queue    queue;
	uint32_t         depth;      /* of queues for each worker: as in xk_sched.h */
	enum xk_freelist freelist;
	unsigned         layers;     /* domain LAYER: stages of each VP; vps are pipelines then */
	uint32_t         high, low;  /* of each queue between two stages: stop at, go on at, messages */
	struct xk_background background;
	/* Simulated processors, 0: none; the workers are fibers then, and what they do is charged by
	 * the machine's ledger.  With the virtual schedule one thread stands in for them. */
	unsigned         processors;
	const struct xk_machine *machine;
	const char      *doc;
};
/* The table of presets, NULL-named last: rows only, no code. */
extern const struct xk_arch xk_arch_presets[];
const struct xk_arch *xk_arch_find(const char *name);
/* Refuses combinations that cannot work, with the reason. */
int  xk_arch_check(const struct xk_arch *a, char *why, size_t n);

/* ---- the set of VPs of a graph --------------------------------------------- */

struct xk_vpset {
	struct xk_arch    arch;      /* resolved: vps and workers are numbers */
	struct xk_clock   clock;
	unsigned          nvps, nworkers; /* all of them */
	uint64_t          shared_cpus; /* pinned workers: processors that another program's are pinned to, too */
	int32_t           shared_with; /* its process, one of them */
	bool              oversubscribed;   /* more threads than processors: who waits gives way at once */
	bool              asks;      /* a VP does, see there */
	unsigned          nconn;     /* VPs that connections are mapped to: the first ones */
	struct xk_vp    **vp;        /* [nvps]; domain LAYER: the highest stage of each pipeline, where applications are; with a pool, vp[nvps] is its queue */
	struct xk_pool   *pool_queue; /* inbound POOL, else NULL */
	struct xk_lock    table;     /* arch.table */
	unsigned          nall;    /* nvps, but in the domain LAYER */
	struct xk_vp    **all;        /* [nall]: all that threads are inside of */
	struct xk_pipeline *pipeline;  /* [nvps], domain LAYER */
	struct xk_worker **worker;
	struct xk_outside *outside;  /* threads of applications that have been started */
	unsigned          noutside;  /* and how many are going to be */
	struct xk_fifo   *fifo;      /* schedule FIFO */
	struct xk_vpsim  *sim;       /* the workers' processors are simulated; else NULL */
	struct xk_mempool *pool;
	struct xk_shared *shared;    /* VPs, workers and replicas lie here; NULL: in memory of our own */
	/* Set by upi: runs a message taken from an inbox.  Called inside vp. */
	void            (*deliver)(struct xk_vp *vp, struct xk_msg *m);
	/* Set by upi: runs a message that came to stage l, from session s below (up) or to session s. */
	void            (*hop)(struct xk_stage *l, struct xk_msg *m, void *s, bool up);
	void             *owner;
	uint32_t          running;   /* workers shall go on */
	struct xk_heat   *heat;      /* who has run how much (xk_heat.h); NULL: nobody has asked */
	const struct vp_units *units; /* simulated, or on stacks of a pool; NULL: neither */
	struct xk_stacks *stacks;    /* arch.stacks, else NULL */
	struct xk_rec    *records;   /* rings of all VPs, then of all workers, and their bytes */
	size_t            nrecords;
};

int  xk_vpset_new(struct xk_vpset **set, const struct xk_arch *a, const struct xk_mem_conf *mem,
		  struct xk_errs *errs);
/* Returns the number of buffers leaked. */
uint64_t xk_vpset_free(struct xk_vpset *set);
/* Starts the workers' threads (nothing under the virtual schedule); where processors are simulated they
 * run inside xk_vpset_run_virtual. */
int  xk_vpset_start(struct xk_vpset *set, struct xk_errs *errs);
/* Asks workers to stop, waits for them, and leaves every VP at rest. */
void xk_vpset_stop(struct xk_vpset *set);
/* Virtual schedule: runs VPs in turn, moving the clock when all are idle; simulated processors: lets
 * the workers run; until `until` or until nothing is left to happen; true when time was reached. */
bool xk_vpset_run_virtual(struct xk_vpset *set, xk_ns until);
/* Simulated processors: when `until` has come, again says until when to go on, no later: xk_vpset_run_virtual returns. */
void xk_vpset_again(struct xk_vpset *set, xk_ns (*again)(void *arg), void *arg);
/* Virtual time, while all rest: is anything left that will happen? */
bool xk_vpset_any_left(const struct xk_vpset *set);
/* One round over all VPs by the calling thread while no worker runs (tests,
 * draining at stop); returns messages and timers done. */
unsigned xk_vpset_step(struct xk_vpset *set);

/* ---- entering ---------------------------------------------------------------- */

/* Become the thread inside vp while no worker runs (start, stop, tests). */
void xk_vp_enter_idle(struct xk_vp *vp);
void xk_vp_leave_idle(struct xk_vp *vp);
static inline xk_ns xk_vp_clock_inline(const struct xk_vp *vp) { return xk_clock_read(&vp->set->clock); }
static inline struct xk_rand *xk_vp_rand_inline(struct xk_vp *vp) { return &vp->rand; }
/* Who includes this header asks for these by their ordinary names (xk_task.h). */
#define xk_vp_clock xk_vp_clock_inline
#define xk_vp_rand  xk_vp_rand_inline

/* ---- I/O threads -------------------------------------------------------------------- */

/* The VP that device number `no` of a graph belongs to; NULL: there are no I/O threads. */
struct xk_vp *xk_vpset_io(const struct xk_vpset *set, unsigned no);
static inline bool xk_vp_is_io(const struct xk_vp *vp) { return vp->no >= vp->set->nconn; }
/* The VP number that means "whoever is free" to xk_vp_post: set->nvps. */
static inline bool xk_vpset_pools(const struct xk_vpset *set) { return set->pool_queue != NULL; }
/* Messages that wait in the pool's queue, about; any thread. */
uint32_t xk_vpset_backlog(const struct xk_vpset *set);
void xk_vpset_queue_locks(const struct xk_vpset *set, struct xk_lock_counts *out);
/* Inside an I/O thread, before the owner of the message that it carries is looked for: waits
 * for the message's turn. */
void xk_vp_order_find(struct xk_vp *io_thread);
/* Runs m inside `to` on the calling thread, which stays inside its own VP, an I/O thread; with
 * XK_HANDOVER_TRY m may be left in to's inbox.  With `held` it holds the lock on the table,
 * which is given back when to's is had, or asked for no more. */
void xk_vp_handoff(struct xk_vp *to, struct xk_msg *m, bool held);
/* The lock on the table of connections, counted for vp, which the caller is inside of. */
void xk_vp_table_read(struct xk_vp *vp);
void xk_vp_table_unread(struct xk_vp *vp);
/* Around a change.  Where readers `hold` it while they wait for a VP's lock, whoever has one
 * may not wait for it: changes exclude each other anyhow, and the table is RCU's. */
void xk_vp_table_write(struct xk_vp *vp);
void xk_vp_table_unwrite(struct xk_vp *vp);

/* The earliest of vp; XK_NS_NEVER: there is none. */
xk_ns xk_vp_due(const struct xk_vp *vp);

/*
 * Flight recorders: one of each VP, then one of each worker.  The i-th, *is_worker and its number (of a VP: its `at`);
 * NULL: there are no more.  They stay as long as the set.  Any thread, and a handler of signals.
 */
const struct xk_recorder *xk_vpset_recorder(const struct xk_vpset *set, unsigned i, bool *is_worker, unsigned *no);
/* Inside vp: a message for another one, its `at`, is not handed over; it is counted and recorded. */
void xk_vp_lost(struct xk_vp *vp, unsigned to, enum xk_rec_handoff how);
/* Inside vp: something happened at a node, or at none (0). */
static inline void xk_vp_record(struct xk_vp *vp, enum xk_rec_kind kind, unsigned node, uint32_t n, uint64_t a, uint64_t b)
{
	xk_recorder_put(&vp->recorder, vp->now, xk_rec_what(kind, node, n), a, b);
}

/* A line of memory that most turns of vp touch: a worker with many VPs fetches it
 * while it runs the one before.  Before workers start; what is too many is ignored. */
void xk_vp_warm(struct xk_vp *vp, const void *line);

/*
 * Who ran what.  Schedule FIFO: turns that a worker had a VP for, which were of one that it (hits), or another worker
 * (moves), had run last; domain NONE: messages that an I/O thread carried into a connection's VP, by the same
 * words.  With a choice of who starts (FIFO, inbound POOL): those that had been idle and started, of them those that had
 * run protocol code last of all (code_hits) or had not, and for how long they had been idle (x of Salehi's t(x)).
 * Any thread.
 */
struct xk_affinity_counts { uint64_t hits, moves, code_hits, code_moves, starts, away[XK_HIST_PLACES], away_ns; };
/* How many workers or I/O threads have such counts; 0: there is no choice. */
unsigned xk_vpset_affinities(const struct xk_vpset *set);
void xk_vpset_affinity_of(const struct xk_vpset *set, unsigned i, struct xk_affinity_counts *out);
/* sum += sign * c; sign: 1 or -1. */
void xk_affinity_counts_add(struct xk_affinity_counts *sum, const struct xk_affinity_counts *c, int sign);
/* Of all together. */
void xk_vpset_affinity(const struct xk_vpset *set, struct xk_affinity_counts *out);

/*
 * Of pools of thread stacks (arch.stacks), all zero where there are none: pools, stacks of them; units that did something on
 * a stack that the same processor (hits), another one (moves), had used last; that found no memory for a stack and ran on the
 * thread's own; the pools' locks.  Any thread.  sum += sign * c, but pools and stacks: sign: 1 or -1.
 */
struct xk_stack_counts { uint64_t pools, stacks, hits, moves, stackless; struct xk_lock_counts lock; };
void xk_vpset_stacks(const struct xk_vpset *set, struct xk_stack_counts *out);
void xk_stack_counts_add(struct xk_stack_counts *sum, const struct xk_stack_counts *c, int sign);

/* What idle workers have walked: slices of 2 us with references and without, references to data and to code.  Any
 * thread; zero where there is no background.  The sums are of all workers. */
struct xk_background_counts { uint64_t slices, rests, data, code; };
void xk_vpset_background(const struct xk_vpset *set, struct xk_background_counts *out);

/*
 * Each call of the scheduler under schedule FIFO, and its answer, to `note`, in their order, under the scheduler's
 * lock: it must not come back here.  Before workers start; NULL: no more.  Played back through a scheduler
 * of the same configuration (conf: written here) the calls have the same answers.
 */
enum xk_sched_call { XK_CALL_ARRIVE, XK_CALL_NEXT, XK_CALL_DONE, XK_CALL_RELEASE };
struct xk_sched_note {
	enum xk_sched_call call;
	unsigned      p;             /* by whom; not of ARRIVE */
	unsigned      vp;            /* of ARRIVE and DONE, and the answer of NEXT; XK_SCHED_NONE: none */
	enum xk_after left;          /* of DONE */
	uint32_t      n;
	xk_ns         now;
	unsigned      answer;        /* of ARRIVE and DONE: who starts; of RELEASE: 1 or 0 */
};
void xk_vpset_note_sched(struct xk_vpset *set, void (*note)(void *arg, const struct xk_sched_note *n), void *arg,
			 struct xk_sched_conf *conf);

/* Runs one unit inside vp (caller is inside); returns work done. */
unsigned xk_vp_unit(struct xk_vp *vp, unsigned budget);

void xk_worker_stats(struct xk_vpset *set, unsigned i, struct xk_worker_stats *out);
/* Where the worker keeps them; cpu_ns there is 0. */
const struct xk_worker_stats *xk_worker_counters(const struct xk_vpset *set, unsigned i);
/* The number of the worker that runs vp; with schedule FIFO the one it began with. */
unsigned xk_worker_of(const struct xk_vp *vp);

#endif

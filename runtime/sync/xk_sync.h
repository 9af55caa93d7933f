/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_sync.h - locks as policies, threads, hand-off queues, sleeping and RCU.
 *
 * The only room that includes pthread.h or urcu.h, and the only place where an
 * atomic read-modify-write is written: each one passes through xk_atomic_*,
 * so that the counting build (--enable-count-atomics) can tell how many a
 * message costs.
 */
#ifndef XK_SYNC_H
#define XK_SYNC_H

#include "runtime/base/xk_base.h"

/* ---- counted atomics ------------------------------------------------- */

#ifdef XK_COUNT_ATOMICS
extern _Thread_local uint64_t xk_atomics_done __attribute__((tls_model("initial-exec")));
#define XK_ATOMIC_SEEN() ((void)++xk_atomics_done)
#else
#define XK_ATOMIC_SEEN() ((void)0)
#endif

/*
 * The stress build (--enable-stress): whoever hands something over may stand still first, by
 * chance (sync_stress.c).  Nothing in any other build.
 */
#ifdef XK_STRESS
extern _Thread_local uint32_t xk_stall_left __attribute__((tls_model("initial-exec")));
void xk_stall_now(void);
/* A function: two of them may stand in one expression. */
static inline void xk_stall(void)
{
	if (XK_UNLIKELY(--xk_stall_left == 0))
		xk_stall_now();
}
#define XK_STALL() xk_stall()
#else
#define XK_STALL() ((void)0)
#endif
bool     xk_stress_build(void);
/* How often the calling thread has. */
uint64_t xk_stalls(void);
#define XK_HANDOFF() (XK_ATOMIC_SEEN(), XK_STALL())

/*
 * A locked operation is a full barrier, too: what was written before it is seen by whoever is
 * not seen by what is read after it.  Who says "I sleep" and then looks once more, and who leaves
 * work and then asks whether somebody sleeps, rely on that.  On x86-64 every locked instruction is
 * one; elsewhere an exchange that acquires and releases is not, and a fence follows.
 */
#if defined(__x86_64__)
#define XK_FULL(op) (op)
#else
#define XK_FULL(op) __extension__({ \
	__typeof__(op) xk_full_was = (op); \
	__atomic_thread_fence(__ATOMIC_SEQ_CST); \
	xk_full_was; })
#endif
#define xk_atomic_xchg(p, v) (XK_HANDOFF(), XK_FULL(__atomic_exchange_n((p), (v), __ATOMIC_ACQ_REL)))
#define xk_atomic_add(p, v)  (XK_HANDOFF(), XK_FULL(__atomic_fetch_add((p), (v), __ATOMIC_ACQ_REL)))
#define xk_atomic_or(p, v)   (XK_HANDOFF(), XK_FULL(__atomic_fetch_or((p), (v), __ATOMIC_ACQ_REL)))
#define xk_atomic_and(p, v)  (XK_HANDOFF(), XK_FULL(__atomic_fetch_and((p), (v), __ATOMIC_ACQ_REL)))
/* Strong compare and exchange; *expected is updated on failure. */
#define xk_atomic_cas(p, expected, v) (XK_HANDOFF(), \
	XK_FULL(__atomic_compare_exchange_n((p), (expected), (v), false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)))
#define xk_load_acquire(p)      (XK_STALL(), __atomic_load_n((p), __ATOMIC_ACQUIRE))
#define xk_store_release(p, v)  (XK_STALL(), __atomic_store_n((p), (v), __ATOMIC_RELEASE))
#define xk_load_relaxed(p)      __atomic_load_n((p), __ATOMIC_RELAXED)
#define xk_store_relaxed(p, v)  __atomic_store_n((p), (v), __ATOMIC_RELAXED)

/* Locked operations done by the calling thread; 0 unless built to count. */
uint64_t xk_atomics_count(void);
bool     xk_atomics_counted(void);

static inline void xk_cpu_relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield" ::: "memory");
#else
	__asm__ volatile("" ::: "memory");
#endif
}

/* ---- locks ------------------------------------------------------------ */

/* Storage for a lock of any policy; the policy decides what lies in it. */
struct xk_lock { uint64_t opaque[7]; };

/*
 * A policy is a const table.  Abort, never an error, on API failure.
 *   operation x operation on one lock: lock/lock exclude each other; rdlock
 *   excludes lock only; trylock never blocks.
 * No lock nests in itself, shared mode neither: a waiting writer goes first.
 */
struct xk_lock_ops {
	const char *name;
	void (*init)(struct xk_lock *);
	void (*fini)(struct xk_lock *);
	void (*lock)(struct xk_lock *);
	bool (*trylock)(struct xk_lock *);
	void (*unlock)(struct xk_lock *);
	void (*rdlock)(struct xk_lock *);        /* = lock where there is no shared mode */
	void (*rdunlock)(struct xk_lock *);
	bool (*tryrdlock)(struct xk_lock *);     /* = trylock where there is no shared mode */
};
extern const struct xk_lock_ops
	xk_lock_none,                            /* one thread, or exclusion by other means */
	xk_lock_spin,                            /* test and set; in no order */
	xk_lock_ticket, xk_lock_mcs,             /* spin in the order of asking; at most 4 MCS locks by one thread */
	xk_lock_adaptive,                        /* spins as long as usually helps, then sleeps */
	xk_lock_mutex,                           /* sleeps */
	xk_lock_rw;                              /* sleeps; has a shared mode */
/* NULL when there is no policy of that name. */
const struct xk_lock_ops *xk_lock_find(const char *name);

/* How often an adaptive lock that was not free was had by spinning, by sleeping. */
void xk_lock_adaptive_ways(const struct xk_lock *l, uint64_t *spun, uint64_t *slept);

/*
 * A lock's record: zero it at first.  Written by its holder; read by anybody with
 * xk_lockstat_read.  contended: not had by a first try.  wait_ns, hold_ns: of
 * samples, waits_timed (one in 8 that waited; all on simulated processors, in simulated time) and holds_timed (one in 64).
 */
struct xk_lockstat {
	xk_counter taken, contended, waits_timed, wait_ns, holds_timed, hold_ns;
	uint64_t   since;
	bool       untimed;          /* by who made it: only counts */
};
struct xk_lock_counts { uint64_t taken, contended, waits_timed, wait_ns, holds_timed, hold_ns; };
void xk_lock_take(const struct xk_lock_ops *ops, struct xk_lock *l, struct xk_lockstat *st);
bool xk_lock_try(const struct xk_lock_ops *ops, struct xk_lock *l, struct xk_lockstat *st);
void xk_lock_drop(const struct xk_lock_ops *ops, struct xk_lock *l, struct xk_lockstat *st);
/* The same in shared mode; a record is the caller's own then, not the lock's. */
void xk_lock_take_shared(const struct xk_lock_ops *ops, struct xk_lock *l, struct xk_lockstat *st);
void xk_lock_drop_shared(const struct xk_lock_ops *ops, struct xk_lock *l, struct xk_lockstat *st);
/* st += what a thread has counted for itself since `before`; by who may write st. */
void xk_lockstat_add(struct xk_lockstat *st, const struct xk_lockstat *mine, const struct xk_lockstat *before);
void xk_lockstat_read(const struct xk_lockstat *st, struct xk_lock_counts *out);
/* sum += sign * c, field by field. */
void xk_lock_counts_add(struct xk_lock_counts *sum, const struct xk_lock_counts *c, int sign);
/* Nanoseconds waited and held by all, estimated from the samples. */
uint64_t xk_lock_waited_ns(const struct xk_lock_counts *c);
uint64_t xk_lock_held_ns(const struct xk_lock_counts *c);

/* A plain mutex for control paths. */
struct xk_mutex { uint64_t opaque[6]; };
void xk_mutex_init(struct xk_mutex *);
void xk_mutex_fini(struct xk_mutex *);
void xk_mutex_lock(struct xk_mutex *);
bool xk_mutex_trylock(struct xk_mutex *);
void xk_mutex_unlock(struct xk_mutex *);
/* A declaration: m is locked from here to the end of the block, and released on every way out
 * of it (the Guard of Schmidt 1996, 3.2.3). */
#define XK_MUTEX_SCOPE(m) \
	__attribute__((cleanup(xk_mutex_leave), unused)) struct xk_mutex *const XK_SCOPE_NAME(__LINE__) = xk_mutex_enter(m)
#define XK_SCOPE_NAME(line) XK_SCOPE_PASTE(line)
#define XK_SCOPE_PASTE(line) xk_scope_##line

static inline struct xk_mutex *xk_mutex_enter(struct xk_mutex *m)
{
	xk_mutex_lock(m);
	return m;
}

static inline void xk_mutex_leave(struct xk_mutex *const *m)
{
	xk_mutex_unlock(*m);
}

/* ---- threads ---------------------------------------------------------- */

struct xk_thread;
/* cpu < 0: not pinned.  name is shown by ps, cut at 15 bytes.  The thread is
 * registered with RCU for its whole life and takes no signals but its own
 * faults.  On failure *t is NULL and nothing is left behind. */
int  xk_thread_new(struct xk_thread **t, const char *name, int cpu, void (*fn)(void *), void *arg);
void xk_thread_join(struct xk_thread *t);              /* frees t */
/* Processor time the thread has used, to the nanosecond; 0 when it has ended. */
uint64_t xk_thread_cpu_ns(const struct xk_thread *t);
/* Restricts the calling thread to the processors in mask. */
int  xk_thread_affinity(uint64_t mask);
/* Pins the calling thread. */
int  xk_thread_pin(int cpu);
void xk_thread_yield(void);
/* Sleeps for about so long, or less when a signal comes. */
void xk_thread_nap(uint64_t ns);

/* ---- sleeping --------------------------------------------------------- */

/* One waiter, any wakers.  A wake between two waits is not lost. */
struct xk_event { int fd; uint32_t state; };
int  xk_event_init(struct xk_event *);
void xk_event_fini(struct xk_event *);
/* No system call when nobody sleeps; one locked operation then none. */
void xk_event_wake(struct xk_event *);
/* Says "about to sleep": the caller must look for work once more after it. */
void xk_event_prepare(struct xk_event *);
void xk_event_cancel(struct xk_event *);
/* In place of prepare and wait, for who waits by poll or epoll: a last look as after prepare, then the descriptor that
 * this returns is readable once the event is woken.  Wakes before it are forgotten.  Who waits so waits only so. */
int  xk_event_arm(struct xk_event *);
/* Has it been woken since the last wait?  Then the next one returns at once. */
bool xk_event_is_woken(const struct xk_event *);
#define XK_EVENT_FDS 64      /* most fds that one wait looks at */
/* Sleeps until woken, `timeout_ns` passed (XK_NS_NEVER: no limit) or one of
 * fds[n] is readable; may also return early for no reason.  Call only after
 * xk_event_prepare and a last look. */
void xk_event_wait(struct xk_event *, uint64_t timeout_ns, const int *fds, unsigned n);

/* ---- threads that others made ------------------------------------------ */

/*
 * Makes the calling thread fit to enter VPs, however it came to be: registered
 * with RCU until it ends, and owner of an event for its own waits, which is
 * returned (always the same one; it goes when the thread does).  Cheap after the
 * first call.  NULL when there is no file descriptor left for the event.
 */
struct xk_event *xk_guest_event(void);
/* Another one, for a call that is waited for while the first may be prepared.  Who answers
 * wakes it inside an RCU read section that began before the answer: it stays until that ends,
 * though the caller, and its thread, may have gone on. */
struct xk_event *xk_guest_call_event(void);

/* ---- hand-off queue --------------------------------------------------- */

struct xk_qlink { struct xk_qlink *next; };

/*
 * Many producers, one consumer at a time.  push_mp adds a whole chain with one
 * successful exchange; take_sc removes everything in the order it was pushed.
 *             push_mp  take_sc  empty
 *   push_mp      -        -       -
 *   take_sc      -        X       -       (X: needs outside exclusion)
 */
struct xk_mpsc { struct xk_qlink *head; };
static inline bool xk_mpsc_empty(const struct xk_mpsc *q)
{
	return xk_load_relaxed(&q->head) == NULL;
}
/* The chain runs first -> ... -> last; returns true when the queue was empty. */
bool xk_mpsc_push(struct xk_mpsc *q, struct xk_qlink *first, struct xk_qlink *last);
/* First of everything queued, linked by next, NULL when empty. */
struct xk_qlink *xk_mpsc_take(struct xk_mpsc *q);

/* ---- RCU (liburcu, memb flavour) --------------------------------------- */

/* Starts the thread that calls what is freed; again: nothing.  Before that nothing is called but
 * by xk_rcu_barrier.  Negative errno: no thread, or no memory for it, can be had. */
int  xk_rcu_start(void);
/* Threads made by xk_thread_new are registered; others call these two, which
 * may nest. */
void xk_rcu_register(void);
void xk_rcu_unregister(void);
void xk_rcu_read_lock(void);
void xk_rcu_read_unlock(void);
void xk_rcu_synchronize(void);
/* Embedded in objects read under RCU; opaque is the reclaimer's. */
struct xk_rcu_head { void *opaque[2]; void (*fn)(void *); void *arg; };
/* Calls fn(arg) on that thread after every present reader has left, in the order of these calls.  Needs no memory. */
void xk_rcu_free(struct xk_rcu_head *h, void (*fn)(void *), void *arg);
/* Returns when every fn given before has been called; at once when none is owed. */
void xk_rcu_barrier(void);
#define xk_rcu_dereference(p) (XK_STALL(), __atomic_load_n(&(p), __ATOMIC_CONSUME))
#define xk_rcu_assign(p, v)   (XK_STALL(), __atomic_store_n(&(p), (v), __ATOMIC_RELEASE))

#endif

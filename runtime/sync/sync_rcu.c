/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sync_rcu.c - read-copy update by liburcu, membarrier flavour, with a reclaimer of its own.
 *
 * Readers pay two plain stores; the writers' side pays by sys_membarrier.  What is
 * freed is put on a list that one thread takes from: liburcu's own call_rcu asks
 * for memory and a thread when it is first used, and ends the process without.
 * The thread sanitizer cannot see into liburcu, so it is told what a grace period
 * means: whatever a reader did before it left happens before what follows.
 * Invariant: an object given to xk_rcu_free is untouched until fn.
 */
#include "runtime/sync/xk_sync.h"

#include <pthread.h>
#include <time.h>
#include <urcu/urcu-memb.h>

#ifdef XK_TSAN
void __tsan_acquire(void *addr);
void __tsan_release(void *addr);
static char grace;
#define TSAN_ACQUIRE(p) __tsan_acquire(p)
#define TSAN_RELEASE(p) __tsan_release(p)
#define TSAN_GRACE (&grace)
#else
#define TSAN_ACQUIRE(p) ((void)0)
#define TSAN_RELEASE(p) ((void)0)
#endif

static _Thread_local unsigned registered;

/* ---- readers --------------------------------------------------------------- */

void xk_rcu_register(void)
{
	if (registered++ == 0)
		urcu_memb_register_thread();
}

void xk_rcu_unregister(void)
{
	xk_assert(registered > 0);
	if (--registered == 0)
		urcu_memb_unregister_thread();
}

void xk_rcu_read_lock(void)
{
	xk_dassert(registered > 0);
	urcu_memb_read_lock();
	XK_STALL();
}

void xk_rcu_read_unlock(void)
{
	XK_STALL();
	TSAN_RELEASE(TSAN_GRACE);
	urcu_memb_read_unlock();
}

void xk_rcu_synchronize(void)
{
	XK_HANDOFF();
	urcu_memb_synchronize_rcu();
	TSAN_ACQUIRE(TSAN_GRACE);
}

/* ---- the reclaimer --------------------------------------------------------- */

/* Between two rounds, so that one grace period is of many. */
#define BATCH_NS (10 * 1000000)

/*
 * given is a stack, newest first; who finds it empty wakes the thread, under lock, after the push: either
 * the thread sees what was pushed before it sleeps, or it sleeps already.  owed: calls of fn, by whoever asks.
 */
static struct {
	struct xk_rcu_head *given;
	uint64_t            owed;
	pthread_mutex_t     lock;        /* of what follows; nests in nothing */
	pthread_cond_t      turn;        /* of the thread: something is given, or somebody waits */
	unsigned            waiting;     /* in barriers */
	struct xk_thread   *thread;
} reclaimer = { .lock = PTHREAD_MUTEX_INITIALIZER, .turn = PTHREAD_COND_INITIALIZER };

static struct xk_rcu_head **next_of(struct xk_rcu_head *h)
{
	return (struct xk_rcu_head **)&h->opaque[0];
}

static struct timespec in_a_while(void)
{
	struct timespec t = { 0, 0 };

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_nsec += BATCH_NS;
	if (t.tv_nsec >= 1000000000) {
		t.tv_nsec -= 1000000000;
		t.tv_sec++;
	}
	return t;
}

/* Sleeps until something is given, and then, if nobody waits for it, until there may be more. */
static void wait_for_given(void)
{
	struct timespec until;

	pthread_mutex_lock(&reclaimer.lock);
	while (xk_load_acquire(&reclaimer.given) == NULL)
		pthread_cond_wait(&reclaimer.turn, &reclaimer.lock);
	until = in_a_while();
	while (reclaimer.waiting == 0 &&
	       pthread_cond_timedwait(&reclaimer.turn, &reclaimer.lock, &until) == 0)
		;
	pthread_mutex_unlock(&reclaimer.lock);
}

static struct xk_rcu_head *take_oldest_first(void)
{
	struct xk_rcu_head *h = xk_atomic_xchg(&reclaimer.given, (struct xk_rcu_head *)NULL), *oldest = NULL, *next;

	for (; h != NULL; h = next) {
		next = *next_of(h);
		*next_of(h) = oldest;
		oldest = h;
	}
	return oldest;
}

static void call_what_is_given(void)
{
	struct xk_rcu_head *h = take_oldest_first(), *next;

	if (h == NULL)
		return;
	xk_rcu_synchronize();
	for (; h != NULL; h = next) {
		next = *next_of(h);
		h->fn(h->arg);
		xk_atomic_add(&reclaimer.owed, -1);
	}
}

static void reclaim(void *arg)
{
	(void)arg;
	for (;;) {
		wait_for_given();
		call_what_is_given();
	}
}

/* With the lock held: `turn` is not waited for before there is a thread. */
static int start_locked(void)
{
	pthread_condattr_t monotonic;
	int err = -pthread_condattr_init(&monotonic);

	if (err != XK_OK)
		return err;
	(void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	err = -pthread_cond_init(&reclaimer.turn, &monotonic);
	(void)pthread_condattr_destroy(&monotonic);
	return err != XK_OK ? err : xk_thread_new(&reclaimer.thread, "rcu", -1, reclaim, NULL);
}

int xk_rcu_start(void)
{
	int err;

	pthread_mutex_lock(&reclaimer.lock);
	err = reclaimer.thread != NULL ? XK_OK : start_locked();
	pthread_mutex_unlock(&reclaimer.lock);
	return err;
}

static bool has_thread(void)
{
	bool yes;

	pthread_mutex_lock(&reclaimer.lock);
	yes = reclaimer.thread != NULL;
	pthread_mutex_unlock(&reclaimer.lock);
	return yes;
}

static void wake_reclaimer(void)
{
	pthread_mutex_lock(&reclaimer.lock);
	pthread_cond_signal(&reclaimer.turn);
	pthread_mutex_unlock(&reclaimer.lock);
}

void xk_rcu_free(struct xk_rcu_head *h, void (*fn)(void *), void *arg)
{
	struct xk_rcu_head *newest = xk_load_relaxed(&reclaimer.given);

	XK_HANDOFF();
	h->fn = fn;
	h->arg = arg;
	xk_atomic_add(&reclaimer.owed, 1);
	do
		*next_of(h) = newest;
	while (!xk_atomic_cas(&reclaimer.given, &newest, h));
	if (newest == NULL)
		wake_reclaimer();
}

/* Calls are in the order they were given, so the turn of the last is the end of all before. */
struct rcu_last { struct xk_rcu_head head; pthread_cond_t turn; bool done; };

static void last_called(void *arg)
{
	struct rcu_last *l = arg;

	pthread_mutex_lock(&reclaimer.lock);
	l->done = true;
	pthread_cond_signal(&l->turn);
	pthread_mutex_unlock(&reclaimer.lock);
}

static void wait_for_all(void)
{
	struct rcu_last l = { .turn = PTHREAD_COND_INITIALIZER };

	xk_rcu_free(&l.head, last_called, &l);
	pthread_mutex_lock(&reclaimer.lock);
	reclaimer.waiting++;
	pthread_cond_signal(&reclaimer.turn);
	while (!l.done)
		pthread_cond_wait(&l.turn, &reclaimer.lock);
	reclaimer.waiting--;
	pthread_mutex_unlock(&reclaimer.lock);
	pthread_cond_destroy(&l.turn);
}

void xk_rcu_barrier(void)
{
	XK_HANDOFF();
	/* No thread yet: who waits does its work, until there is one, which stays. */
	while (xk_load_acquire(&reclaimer.owed) != 0 && !has_thread()) {
		call_what_is_given();
		xk_thread_yield();
	}
	if (xk_load_acquire(&reclaimer.owed) != 0)
		wait_for_all();
	TSAN_ACQUIRE(TSAN_GRACE);
}

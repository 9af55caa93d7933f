/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sync_rcu.c - read-copy update by liburcu, membarrier flavour.
 *
 * Readers pay two plain stores; the writers' side pays by sys_membarrier.  The
 * thread sanitizer cannot see into liburcu, so it is told what a grace period
 * means: whatever a reader did before it left happens before what follows.
 * Invariant: an object given to xk_rcu_free is untouched until fn.
 */
#include "runtime/sync/xk_sync.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <urcu/urcu-memb.h>

_Static_assert(sizeof(struct rcu_head) <= sizeof(((struct xk_rcu_head *)0)->opaque),
	       "liburcu's head fits ours");
_Static_assert(offsetof(struct xk_rcu_head, opaque) == 0, "liburcu's head is ours");

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

/* Calls of fn that are still owed.  liburcu's helper sleeps 10 ms between rounds, so
 * a barrier with nothing to wait for must not ask it. */
static uint64_t owed;

/* ---- the helper ----------------------------------------------------------- */

static void nothing(void *arg)
{
	(void)arg;
}

/* liburcu ends the process when it cannot have its thread, or the memory for it: so we have
 * had both a moment before. */
static int could_have_thread(void)
{
	struct xk_thread *t;
	void *room = malloc(4096);
	int err = room != NULL ? xk_thread_new(&t, "probe", -1, nothing, NULL) : XK_E_NOMEM;

	if (err == XK_OK)
		xk_thread_join(t);
	free(room);
	return err;
}

int xk_rcu_start(void)
{
	static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
	static bool started;
	sigset_t all, old;
	int err = XK_OK;

	pthread_mutex_lock(&once);
	if (!started)
		err = could_have_thread();
	if (!started && err == XK_OK) {
		sigfillset(&all);
		pthread_sigmask(SIG_BLOCK, &all, &old);     /* it inherits this */
		(void)urcu_memb_get_default_call_rcu_data();
		pthread_sigmask(SIG_SETMASK, &old, NULL);
		started = true;
	}
	pthread_mutex_unlock(&once);
	return err;
}

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

static void after_grace(struct rcu_head *head)
{
	struct xk_rcu_head *h = (struct xk_rcu_head *)head;

	TSAN_ACQUIRE(h);
	TSAN_ACQUIRE(TSAN_GRACE);
	h->fn(h->arg);
	TSAN_RELEASE(TSAN_GRACE);        /* pairs with the acquire in barrier */
	xk_atomic_add(&owed, -1);
}

void xk_rcu_free(struct xk_rcu_head *h, void (*fn)(void *), void *arg)
{
	XK_HANDOFF();
	h->fn = fn;
	h->arg = arg;
	TSAN_RELEASE(h);
	xk_atomic_add(&owed, 1);
	urcu_memb_call_rcu((struct rcu_head *)h->opaque, after_grace);
}

/* The helper calls in the order of the calls it was given, so the last one's turn is the end
 * of all before.  liburcu's own barrier needs memory, and ends the process without. */
struct rcu_last { struct rcu_head head; pthread_mutex_t lock; pthread_cond_t turn; bool done; };

static void last_called(struct rcu_head *head)
{
	struct rcu_last *l = caa_container_of(head, struct rcu_last, head);

	TSAN_ACQUIRE(l);
	pthread_mutex_lock(&l->lock);
	l->done = true;
	pthread_cond_signal(&l->turn);
	pthread_mutex_unlock(&l->lock);
}

static void wait_for_all(void)
{
	struct rcu_last l = { .lock = PTHREAD_MUTEX_INITIALIZER, .turn = PTHREAD_COND_INITIALIZER };

	TSAN_RELEASE(&l);
	urcu_memb_call_rcu(&l.head, last_called);
	pthread_mutex_lock(&l.lock);
	while (!l.done)
		pthread_cond_wait(&l.turn, &l.lock);
	pthread_mutex_unlock(&l.lock);
	pthread_cond_destroy(&l.turn);
	pthread_mutex_destroy(&l.lock);
}

void xk_rcu_barrier(void)
{
	XK_HANDOFF();
	if (xk_load_acquire(&owed) != 0)
		wait_for_all();
	TSAN_ACQUIRE(TSAN_GRACE);
}

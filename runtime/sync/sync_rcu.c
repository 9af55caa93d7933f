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

void xk_rcu_barrier(void)
{
	XK_HANDOFF();
	if (xk_load_acquire(&owed) != 0)
		urcu_memb_barrier();
	TSAN_ACQUIRE(TSAN_GRACE);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sync_queue_lock.c - locks that are given in the order in which they were asked
 * for: ticket and MCS.
 *
 * The ticket lock is two numbers on one line; every release is seen by every
 * waiter.  In the MCS lock (Mellor-Crummey and Scott, 1991) a waiter spins on a
 * line of its own, a node that belongs to its thread, and a release touches the
 * next one's only.  Neither sleeps; a waiter lends its processor now and then,
 * because the one before it may have lost its own.
 * Invariant: a node is in at most one queue, and is its thread's again when the
 * lock is given up.
 */
#include "runtime/sync/xk_sync.h"

#include <string.h>

#define SPINS 200u

static inline void wait_a_little(unsigned *n)
{
	xk_cpu_relax();
	if (++*n % SPINS == 0)
		xk_thread_yield();
}

/* ---- ticket ------------------------------------------------------------------ */

struct ticket { uint32_t next, serving; };

static struct ticket *ticket_of(struct xk_lock *l) { return (struct ticket *)l->opaque; }

static void queue_init(struct xk_lock *l)
{
	memset(l, 0, sizeof *l);
}

static void ticket_fini(struct xk_lock *l)
{
	const struct ticket *t = ticket_of(l);

	xk_assert(xk_load_relaxed(&t->next) == xk_load_relaxed(&t->serving));
}

static bool ticket_try(struct xk_lock *l)
{
	struct ticket *t = ticket_of(l);
	uint32_t free = xk_load_acquire(&t->serving);

	return xk_load_relaxed(&t->next) == free && xk_atomic_cas(&t->next, &free, free + 1);
}

static void ticket_lock(struct xk_lock *l)
{
	struct ticket *t = ticket_of(l);
	uint32_t mine = xk_atomic_add(&t->next, 1u);
	unsigned n = 0;

	while (xk_load_acquire(&t->serving) != mine)
		wait_a_little(&n);
}

static void ticket_unlock(struct xk_lock *l)
{
	struct ticket *t = ticket_of(l);

	xk_assert(xk_load_relaxed(&t->next) != t->serving);
	xk_store_release(&t->serving, t->serving + 1);
}

const struct xk_lock_ops xk_lock_ticket = {
	"ticket", queue_init, ticket_fini, ticket_lock, ticket_try, ticket_unlock, ticket_lock, ticket_unlock,
	ticket_try,
};

/* ---- MCS ------------------------------------------------------------------------ */

/* How many of these locks a thread may hold at once. */
#define HELD 4u

struct mcs_node {
	struct mcs_node *next;
	uint32_t         waits;
	uint32_t         used;            /* the thread's own note */
} XK_ALIGNED;

struct mcs { struct mcs_node *tail, *holder; };

static _Thread_local struct mcs_node mcs_nodes[HELD];

static struct mcs *mcs_of(struct xk_lock *l) { return (struct mcs *)l->opaque; }

static struct mcs_node *mcs_node_get(void)
{
	for (unsigned i = 0; i < HELD; i++)
		if (!mcs_nodes[i].used) {
			mcs_nodes[i] = (struct mcs_node){ .waits = 1, .used = 1 };
			return &mcs_nodes[i];
		}
	xk_panic(__FILE__, __LINE__, "more than %u MCS locks held by one thread", HELD);
}

static void mcs_fini(struct xk_lock *l)
{
	xk_assert(xk_load_relaxed(&mcs_of(l)->tail) == NULL);
}

static bool mcs_try(struct xk_lock *l)
{
	struct mcs *q = mcs_of(l);
	struct mcs_node *none = NULL, *me;

	if (xk_load_relaxed(&q->tail) != NULL)
		return false;
	me = mcs_node_get();
	if (!xk_atomic_cas(&q->tail, &none, me)) {
		me->used = 0;
		return false;
	}
	q->holder = me;
	return true;
}

static void mcs_lock(struct xk_lock *l)
{
	struct mcs *q = mcs_of(l);
	struct mcs_node *me = mcs_node_get(), *before = xk_atomic_xchg(&q->tail, me);
	unsigned n = 0;

	if (before != NULL) {
		xk_store_release(&before->next, me);
		while (xk_load_acquire(&me->waits))
			wait_a_little(&n);
	}
	q->holder = me;
}

static void mcs_unlock(struct xk_lock *l)
{
	struct mcs *q = mcs_of(l);
	struct mcs_node *me = q->holder, *last = me, *next;
	unsigned n = 0;

	xk_assert(me != NULL && me->used);
	q->holder = NULL;
	next = xk_load_acquire(&me->next);
	if (next == NULL) {
		if (xk_atomic_cas(&q->tail, &last, NULL)) {
			me->used = 0;
			return;
		}
		/* Somebody is between taking the tail and saying so. */
		while ((next = xk_load_acquire(&me->next)) == NULL)
			wait_a_little(&n);
	}
	me->used = 0;
	xk_store_release(&next->waits, 0u);
}

const struct xk_lock_ops xk_lock_mcs = {
	"mcs", queue_init, mcs_fini, mcs_lock, mcs_try, mcs_unlock, mcs_lock, mcs_unlock, mcs_try,
};

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sync_mpsc.c - the hand-off queue: a stack that is taken whole and turned round.
 *
 * Producers push at the head by compare and exchange; the consumer exchanges
 * the head for NULL.  Nothing is ever popped singly, so a head that comes back
 * with the same address (ABA) is harmless.  Invariant: from head on, links run
 * from the newest to the oldest.
 */
#include "runtime/sync/xk_sync.h"

bool xk_mpsc_push(struct xk_mpsc *q, struct xk_qlink *first, struct xk_qlink *last)
{
	struct xk_qlink *l = first, *newer = NULL, *next, *head;

	/* Turn the chain: its own order is oldest first.  The producer has
	 * these lines in its cache still. */
	for (;;) {
		next = l->next;
		if (newer != NULL)
			l->next = newer;
		newer = l;
		if (l == last)
			break;
		l = next;
	}
	/* Now last -> ... -> first, and first's link is what the queue goes on with. */
	head = xk_load_relaxed(&q->head);
	do
		first->next = head;
	while (!xk_atomic_cas(&q->head, &head, last));
	return head == NULL;
}

struct xk_qlink *xk_mpsc_take(struct xk_mpsc *q)
{
	struct xk_qlink *l, *next, *order = NULL;

	if (xk_mpsc_empty(q))
		return NULL;
	/* Acquire: pairs with the release of every push that is in the list. */
	for (l = xk_atomic_xchg(&q->head, (struct xk_qlink *)NULL); l != NULL; l = next) {
		next = l->next;
		l->next = order;
		order = l;
	}
	return order;
}

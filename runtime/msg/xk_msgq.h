/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_msgq.h - queues of messages, linked by the messages themselves.
 *
 * A message is in at most one.  Whoever may touch the messages may touch the queue.
 */
#ifndef XK_MSGQ_H
#define XK_MSGQ_H

#include "runtime/msg/xk_msg.h"

struct xk_msgq { struct xk_msg *first, *last; uint32_t n; };
static inline void xk_msgq_init(struct xk_msgq *q) { q->first = q->last = NULL; q->n = 0; }
static inline void xk_msgq_put(struct xk_msgq *q, struct xk_msg *m)
{
	m->link = NULL;
	if (q->first == NULL)
		q->first = m;
	else
		q->last->link = m;
	q->last = m;
	q->n++;
}
static inline struct xk_msg *xk_msgq_get(struct xk_msgq *q)
{
	struct xk_msg *m = q->first;

	if (m != NULL) {
		q->first = m->link;
		q->n--;
	}
	return m;
}
void xk_msgq_free(struct xk_msgq *q);   /* frees every message */

#endif

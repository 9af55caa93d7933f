/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * load_times.c - connections of senders of load whose messages are due at times of their own; see load.h.
 *
 * One task of each replica knows when the first of those that wait has a message due (xk_due), and then
 * gives them their turns, so that a message is made at the nanosecond at which it is due and timers, which are as
 * coarse as a tick, have no part in it.
 * Invariant: a connection waits in the queue, or its task is ready, or something else will make it so.
 */
#include "protocols/load/load.h"

#include "runtime/base/xk_errs.h"
#include "runtime/mem/xk_alloc.h"
#include "runtime/upi/xk_node.h"
#include "runtime/upi/xk_vps.h"

bool load_rests(struct load_rep *l, uint32_t slot)
{
	struct load_times *t = l->times;

	if (xk_traffic_due(&t->queue, slot) <= xk_vp_clock(l->r->vp))
		return false;
	xk_traffic_wait(&t->queue, slot);
	t->due.when = xk_traffic_first_due(&t->queue);
	xk_task_ready(&t->task);
	return true;
}

void load_rises(struct load_rep *l, uint32_t slot)
{
	if (l->times != NULL)
		xk_traffic_leave(&l->times->queue, slot);
}

/* Gives turns to those that have a message due.  It polls while somebody waits. */
static unsigned times_run(struct xk_task *task, unsigned budget)
{
	struct load_times *p = xk_container_of(task, struct load_times, task);
	struct xk_traffic_queue *q = &p->queue;
	struct xk_rep *r = p->l->r;
	xk_ns now = xk_vp_clock(r->vp);
	unsigned done = 0;

	while (done < budget && xk_traffic_first_due(q) <= now) {
		uint32_t slot = xk_traffic_first(q);
		struct xk_task *t = p->task_of(r, slot);

		xk_traffic_leave(q, slot);
		xk_task_ready(t);        /* if it cannot send all of them now it goes on in its own turns */
		done += t->run(t, budget - done);
	}
	p->due.when = xk_traffic_first_due(q);
	if (p->due.when == XK_NS_NEVER)
		xk_task_park(task);
	return done;
}

/* ---- life ------------------------------------------------------------------------------ */

int load_times_start(struct load_rep *l, uint32_t n, struct xk_task *(*task_of)(struct xk_rep *r, uint32_t slot))
{
	const struct load_node *st = l->r->node->state;
	struct load_times *t = l->times = xk_alloc(sizeof *t);

	if (t == NULL)
		return XK_E_NOMEM;
	t->l = l;
	t->task_of = task_of;
	if (xk_traffic_open(&t->queue, &load_conf(l->r)->arrivals, &st->trace, xk_node_seed(l->r->node), l->no, n,
			    xk_vp_now()) != XK_OK)
		return XK_E_NOMEM;
	xk_task_init(&t->task, l->r->vp, times_run);
	xk_due_add(&t->due, &t->task);
	return XK_OK;
}

void load_times_stop(struct load_rep *l)
{
	if (l->times == NULL || l->times->due.task == NULL)
		return;
	xk_due_remove(&l->times->due);
	xk_task_park(&l->times->task);
}

void load_times_free(struct load_rep *l)
{
	if (l->times == NULL)
		return;
	xk_traffic_close(&l->times->queue);
	xk_free(l->times);
	l->times = NULL;
}

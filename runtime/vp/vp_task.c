/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_task.c - the ready tasks of a virtual processor, in rings, and when those that poll have something to do.
 *
 * A task that becomes ready is the last in turn.  Input tasks have a ring of their own; how the
 * two rings share the turns is in vp_unit.c.
 * They are no lists of xk_list.h: what is next in turn is fetched two turns ahead, and a head would
 * have to be stepped over there.
 * Invariant: a task is in the ring of its kind, or its `next` is NULL.
 */
#include "runtime/vp/vp_priv.h"

void xk_task_init(struct xk_task *t, struct xk_vp *vp, unsigned (*run)(struct xk_task *, unsigned))
{
	t->next = t->prev = NULL;
	t->vp = vp;
	t->run = run;
	t->fd = -1;
	t->input = false;
	t->several = 0;
	t->nap = 0;
	t->sleeps = NULL;
	t->ahead = t;
	t->beyond = NULL;
}

void xk_task_input(struct xk_task *t, const uint32_t *queued)
{
	xk_dassert(t->next == NULL && t->fd < 0);
	t->input = true;
	t->queued = queued;
}

void xk_task_no_input(struct xk_task *t)
{
	xk_dassert(t->next == NULL);
	t->input = false;
	t->sleeps = NULL;
}

void xk_task_ready(struct xk_task *t)
{
	struct xk_vp *vp = t->vp;
	struct xk_task **ring = &vp->ring[t->input];

	xk_dassert(vp->no == xk_vp_no);
	if (t->next != NULL)
		return;
	if (*ring == NULL) {
		t->next = t->prev = t;
		*ring = t;
	} else {                         /* last in turn: just before the current one */
		t->next = *ring;
		t->prev = (*ring)->prev;
		t->prev->next = t->next->prev = t;
	}
	vp->npolling += t->fd >= 0;
	vp->nready++;
	vp->ninput += t->input;
}

void xk_task_park(struct xk_task *t)
{
	struct xk_vp *vp = t->vp;
	struct xk_task **ring = &vp->ring[t->input];

	xk_dassert(vp->no == xk_vp_no);
	if (t->next == NULL)
		return;
	if (t->next == t) {
		*ring = NULL;
	} else {
		t->prev->next = t->next;
		t->next->prev = t->prev;
		if (*ring == t)
			*ring = t->next;
	}
	t->next = t->prev = NULL;
	vp->npolling -= t->fd >= 0;
	vp->nready--;
	vp->ninput -= t->input;
}

void xk_task_nap(struct xk_task *t, unsigned us)
{
	bool was = t->nap != 0;

	xk_dassert(t->vp->no == xk_vp_no && us <= XK_TASK_NAP_MAX);
	t->nap = (uint16_t)us;
	if (was != (us != 0) && t->vp->worker != NULL)  /* a virtual schedule has none */
		xk_atomic_add(&t->vp->worker->napping, was ? -1u : 1u);
}

void xk_task_on_sleep(struct xk_task *t, bool (*fn)(struct xk_task *t))
{
	xk_dassert(!t->input);
	t->sleeps = fn;
	xk_store_relaxed(&t->vp->asks, true);
	xk_store_relaxed(&t->vp->set->asks, true);
}

bool vp_ask(struct xk_vp *vp)
{
	struct xk_task *first = vp->ring[0], *t = first;
	bool none = true;

	if (t != NULL) do {
		if (t->sleeps != NULL && !t->sleeps(t))
			none = false;
		t = t->next;
	} while (t != first);
	return none;
}

void xk_due_add(struct xk_due *d, struct xk_task *t)
{
	xk_dassert(t->vp->no == xk_vp_no && d->task == NULL);
	d->when = XK_NS_NEVER;
	d->task = t;
	d->next = t->vp->dues;
	t->vp->dues = d;
}

void xk_due_remove(struct xk_due *d)
{
	struct xk_due **at;

	if (d->task == NULL)
		return;
	for (at = &d->task->vp->dues; *at != d; at = &(*at)->next)
		;
	*at = d->next;
	d->task = NULL;
}

xk_ns xk_vp_due(const struct xk_vp *vp)
{
	xk_ns first = XK_NS_NEVER;

	for (const struct xk_due *d = vp->dues; d != NULL; d = d->next)
		first = d->when < first ? d->when : first;
	return first;
}

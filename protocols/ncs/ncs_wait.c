/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_wait.c - waiting, the same for a thread of the machine and for a user-level thread; see ncs_wait.h.
 */
#include "protocols/ncs/ncs_wait.h"

#include "runtime/base/xk_clock.h"
#include "runtime/sync/xk_sync.h"
#include "runtime/upi/xk_node.h"
#include "runtime/upi/xk_vps.h"
#include "runtime/vp/xk_task.h"
#include "runtime/vp/xk_ult.h"

static struct xk_ult *self(void) { return xk_vp_self != NULL ? xk_ult_self(xk_vp_self) : NULL; }

int ncs_wait_fit(void)
{
	return self() != NULL || xk_guest_event() != NULL ? XK_OK : XK_E_MFILE;
}

uint64_t ncs_wait_now(void)
{
	return self() != NULL ? xk_vp_now() : xk_clock_host();
}

/* On the waiter's VP: it does not run meanwhile. */
static void wake_op(struct xk_vp *vp, void *arg)
{
	struct ncs_waiter *w = arg;

	(void)vp;
	xk_store_release(&w->posted, 0u);
	xk_ult_wake(w->ult);
}

static void on_timer(struct xk_timer *t)
{
	xk_ult_wake(xk_container_of(t, struct ncs_waiter, timer)->ult);
}

bool ncs_wait_begin(struct ncs_waiter *w, const struct xk_node *n)
{
	*w = (struct ncs_waiter){ .ult = self() };
	if (w->ult == NULL) {
		w->event = xk_guest_event();
		w->vp = xk_node_only_vp(n);
		return w->event != NULL && xk_node_running(n);
	}
	w->vp = xk_vp_self;
	w->wheel = n->rep[xk_vp_number(w->vp)]->wheel;
	w->call = (struct xk_call){ .fn = wake_op, .arg = w };
	xk_timer_init(&w->timer, on_timer);
	return true;
}

void ncs_wait_arm(struct ncs_waiter *w)
{
	if (w->ult == NULL)
		xk_event_prepare(w->event);
}

void ncs_wait_sleep(struct ncs_waiter *w, uint64_t left)
{
	if (w->ult == NULL) {
		xk_vp_wait(w->vp, w->event, left);
		return;
	}
	if (left != XK_NS_NEVER)
		xk_timer_set(w->wheel, &w->timer, xk_vp_now() + left);
	xk_ult_wait(w->ult);
	xk_timer_cancel(w->wheel, &w->timer);
}

void ncs_wait_end(struct ncs_waiter *w)
{
	if (w->ult == NULL && w->event != NULL)
		xk_event_cancel(w->event);
	while (w->ult != NULL && xk_load_acquire(&w->posted) != 0)
		xk_ult_wait(w->ult);
}

void ncs_wake(struct ncs_waiter *w)
{
	if (w->ult == NULL)
		xk_event_wake(w->event);
	else if (xk_atomic_xchg(&w->posted, 1u) == 0)
		xk_vp_call_async(w->vp, &w->call);
}

/* ---- inside another VP -------------------------------------------------------------------------- */

struct errand { void (*fn)(struct xk_vp *, void *); void *arg; struct ncs_waiter w; struct xk_call call; bool done; };

/* On the waiter's VP: nobody else touches what lies on its stack any more. */
static void back_op(struct xk_vp *vp, void *arg)
{
	struct errand *e = arg;

	(void)vp;
	e->done = true;
	xk_ult_wake(e->w.ult);
}

static void errand_op(struct xk_vp *vp, void *arg)
{
	struct errand *e = arg;

	e->fn(vp, e->arg);
	e->call = (struct xk_call){ .fn = back_op, .arg = e };
	xk_vp_call_async(e->w.vp, &e->call);
}

void ncs_vp_do(const struct xk_node *n, struct xk_vp *vp, void (*fn)(struct xk_vp *, void *), void *arg)
{
	struct errand e = { .fn = fn, .arg = arg };

	if (xk_vp_self == NULL || xk_vp_self == vp) {
		xk_vp_do(vp, fn, arg);
		return;
	}
	ncs_wait_begin(&e.w, n);
	e.call = (struct xk_call){ .fn = errand_op, .arg = &e };
	xk_vp_call_async(vp, &e.call);
	while (!e.done)
		ncs_wait_sleep(&e.w, XK_NS_NEVER);
}

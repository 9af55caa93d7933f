/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_call.c - a function run inside a virtual processor for a thread that is inside none.
 *
 * Under the entry policy `lock` the calling thread is borrowed: it takes the VP, runs the
 * function there and gives it back.  Otherwise the function is posted and its end waited for.  What is done while
 * anything else is waited for is the VP's mode's matter.
 */
#include "runtime/vp/vp_priv.h"

#include <sched.h>

#include "runtime/sync/xk_sync.h"

void xk_vp_enter_idle(struct xk_vp *vp)
{
	xk_assert(!xk_load_acquire(&vp->set->running));
	xk_vp_step_in(vp, xk_vp_clock(vp));
}

void xk_vp_leave_idle(struct xk_vp *vp)
{
	xk_vp_flush(vp);
	xk_vp_step_out(vp);
}

/* A borrowed thread: the caller's runs the VP (entry `lock`). */
static void vp_borrow(struct xk_vp *vp, void (*fn)(struct xk_vp *, void *), void *arg)
{
	xk_ns now = xk_vp_clock(vp);
	bool kept;

	if (vp->set->arch.hold && !xk_vp_is_io(vp))
		xk_vp_lock_by_table(vp);
	else
		xk_vp_lock(vp);
	xk_vp_step_in(vp, now);
	fn(vp, arg);
	xk_vp_flush(vp);
	xk_count(vp->borrowed);
	if (vp->mode->serve != NULL)
		vp->mode->serve(vp);
	xk_vp_step_out(vp);
	kept = vp->mode->keeps != NULL && vp->mode->keeps(vp);
	xk_vp_unlock(vp);
	/* It may have left timers, ready tasks or deferred messages. */
	if (!kept)
		xk_vp_kick(vp);
	xk_vp_carry(vp->set, now);
}

/* Who runs the call is often on the processor that the waiter is woken on, and then stands still: nothing
 * is waited for but the answer. */
static void vp_call_wait(struct xk_vp *vp, void (*fn)(struct xk_vp *, void *), void *arg)
{
	static struct xk_event nobody = { .fd = -1 };    /* never prepared, so never written to */
	struct xk_event *done = xk_guest_call_event();
	struct xk_call c = { .fn = fn, .arg = arg, .done = done != NULL ? done : &nobody };

	xk_vp_call_async(vp, &c);
	while (!xk_load_acquire(&c.finished)) {
		if (done == NULL) {
			(void)sched_yield();
			continue;
		}
		xk_event_prepare(done);
		if (xk_load_acquire(&c.finished))
			xk_event_cancel(done);
		else
			xk_event_wait(done, XK_SEC, NULL, 0);
	}
}

void xk_vp_do(struct xk_vp *vp, void (*fn)(struct xk_vp *, void *), void *arg)
{
	if (xk_vp_self == vp) {
		fn(vp, arg);
		return;
	}
	xk_assert(xk_vp_self == NULL);
	if (!xk_load_acquire(&vp->set->running)) {
		xk_vp_enter_idle(vp);
		fn(vp, arg);
		xk_vp_leave_idle(vp);
	} else if (xk_vp_locks(vp)) {
		vp_borrow(vp, fn, arg);
	} else {
		vp_call_wait(vp, fn, arg);
	}
}

void xk_vp_wait(struct xk_vp *vp, struct xk_event *e, uint64_t left)
{
	if (vp != NULL && vp->mode->wait != NULL)
		vp->mode->wait(vp, e, &left);
	xk_event_wait(e, left, NULL, 0);
}

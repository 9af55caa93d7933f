/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_enter.c - who is inside a virtual processor.
 *
 * Being inside is a role of a thread, and an RCU read section.  Nothing here takes a lock: who
 * may step in is the business of the caller's mode.
 * Invariant: xk_vp_self, xk_mem_self and xk_vp_no name the VP that this thread is inside of, or none.
 */
#include "runtime/vp/vp_priv.h"

_Thread_local struct xk_vp *xk_vp_self __attribute__((tls_model("initial-exec")));

void xk_vp_step_in(struct xk_vp *vp, xk_ns now)
{
	xk_assert(!vp->inside && xk_vp_self == NULL);
	vp->inside = true;
	/* A worker's time is its round's; a borrowed thread may have brought a later one. */
	if (XK_LIKELY(now > vp->now))
		vp->now = now;
	xk_vp_self = vp;
	xk_mem_self = &vp->mem;
	xk_vp_no = vp->no;
	xk_rcu_read_lock();
}

void xk_vp_step_out(struct xk_vp *vp)
{
	xk_rcu_read_unlock();
	vp->inside = false;
	xk_vp_self = NULL;
	xk_mem_self = NULL;
	xk_vp_no = XK_VP_NONE;
}

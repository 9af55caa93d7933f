/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_modes.c - the table of modes, and which one an architecture's virtual processors have.
 *
 * A new mode is a file beside this one and a line in each of the two.
 */
#include "runtime/vp/modes/vp_modes.h"

#include "runtime/vp/vp_sim.h"

const struct xk_mode_ops *const xk_modes[] = {
	&xk_mode_fifo, &xk_mode_pool, &xk_mode_stages, &xk_mode_threads, &xk_mode_stacks, NULL
};

const struct xk_mode_ops *xk_mode_of(const struct xk_arch *a, bool io_thread)
{
	if (a->domain == XK_DOMAIN_LAYER)
		return &xk_mode_stages;
	if (a->schedule == XK_SCHED_FIFO && !io_thread)
		return &xk_mode_fifo;
	if (a->waiters == XK_WAITERS_RUN)
		return &xk_mode_caller;
	if (a->entry == XK_ENTRY_LOCK)
		return &xk_mode_lock;
	if (vp_is_simulated(a))
		return &xk_mode_own_sim;
	return a->stacks != XK_STACKS_NONE ? &xk_mode_own_stacked : &xk_mode_own;
}

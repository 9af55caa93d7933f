/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_carry.c - a thread that found messages to be another virtual processor's, and
 * runs them there itself.
 *
 * Under the entry policy `lock` any thread may enter any VP.  One that has
 * collected messages for others inside a VP remembers them, leaves, and then enters their
 * VPs one after the other (Willmann and others 2006, 3.2.2); with handover `try` it leaves
 * them in the inbox of a VP that is busy, for whoever is inside.  It holds one lock at a
 * time, so threads that bring each other messages cannot block each other.
 * What running them collects in turn is brought as well, so many batches and no more:
 * two VPs that answer each other for ever would keep the thread from its own.
 * Invariant: nothing is remembered by a thread that is inside no VP and not in here.
 */
#include "runtime/vp/vp_priv.h"

#define MOST 64u                 /* brought in one go; the rest is left in inboxes */

static void enter_and_run(const struct xk_handoff *b, xk_ns now)
{
	struct xk_vp *vp = b->to;
	bool kick;

	xk_vp_step_in(vp, now);
	xk_vp_take_brought(vp, b->newest);
	vp_any_brought(vp);
	/* Does it leave work that its worker does not know of? */
	kick = xk_vp_busy(vp) || xk_wheel_next(&vp->wheel) < xk_load_relaxed(&vp->worker_next);
	xk_vp_step_out(vp);
	xk_vp_unlock(vp);
	if (kick)
		xk_vp_kick(vp);
}

/* A full inbox is waited for like a lock: nothing is dropped that can be run. */
static void bring(const struct xk_vpset *set, const struct xk_handoff *b, bool leave, xk_ns now)
{
	if (!leave && xk_vp_trylock(b->to)) {
		enter_and_run(b, now);
		return;
	}
	if ((leave || set->arch.handover == XK_HANDOVER_TRY) && xk_vp_inbox_push(b->to, b->newest, b->oldest, b->n))
		return;
	xk_vp_lock(b->to);
	enter_and_run(b, now);
}

void xk_vp_carry(struct xk_vpset *set, xk_ns now)
{
	struct xk_handoffs *carry = xk_vp_handoffs();

	for (unsigned done = 0; carry->n != 0; done++) {
		struct xk_handoff b = carry->of[carry->first];

		carry->first = (carry->first + 1) % XK_HANDOFFS;
		carry->n--;
		bring(set, &b, done >= MOST, now);
	}
}

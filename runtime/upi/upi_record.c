/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upi_record.c - what nodes write into flight recorders (xk_recorder.h): events of their own, drops.
 *
 * Invariant: a ring is written by the thread that is inside its virtual processor, whichever VP a replica has.
 */
#include "runtime/upi/upi_priv.h"

#include "runtime/upi/xk_record.h"

void xk_record(struct xk_rep *r, unsigned event, uint64_t a, uint64_t b)
{
	struct xk_vp *vp = xk_vp_self;

	xk_rep_check(r);
	if (XK_LIKELY(vp != NULL))
		xk_vp_record(vp, XK_REC_EVENT, r->node->no, event, a, b);
}

void upi_record_drop(const struct xk_node *n, unsigned reason, uint64_t messages, uint32_t bytes)
{
	struct xk_drop_watch *w = xk_load_acquire(&n->graph->watch);
	struct xk_vp *vp = xk_vp_self;

	if (vp != NULL && !xk_recorder_again(&vp->recorder, xk_rec_what(XK_REC_DROP, n->no, reason), messages))
		xk_vp_record(vp, XK_REC_DROP, n->no, reason, messages, bytes);
	if (XK_UNLIKELY(w != NULL) && w->node == n && w->reason == reason && xk_atomic_xchg(&w->fired, 1u) == 0)
		w->fn(w->arg);
}

void xk_graph_watch_drop(struct xk_graph *g, struct xk_drop_watch *w) { xk_store_release(&g->watch, w); }

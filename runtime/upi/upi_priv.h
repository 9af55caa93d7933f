/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upi_priv.h - what the files of runtime/upi share.
 */
#ifndef XK_UPI_PRIV_H
#define XK_UPI_PRIV_H

#include "runtime/upi/upi_hook.h"
#include "runtime/base/xk_errs.h"
#include "runtime/base/xk_param_value.h"
#include "runtime/classify/xk_demux.h"
#include "runtime/upi/xk_input.h"
#include "runtime/upi/xk_enable.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_part.h"

#define XK_SCRATCH 8u
/* Where the list of sessions of a flow ends, with xk_sess_end or what a hook puts there. */
#define UPI_FLOW_END (XK_FLOW_DEPTH - 2)

/* A replica with what is ours alone of it; the protocol's state comes behind. */
struct upi_rep {
	struct xk_rep  r;                /* first */
	struct xk_slab slab;             /* sessions, type-stable */
	struct xk_slab home;             /* where this replica itself came from */
} XK_ALIGNED;
static inline struct upi_rep *upi_rep(struct xk_rep *r) { return (struct upi_rep *)(void *)r; }

struct upi_post { struct xk_ddp *d; uint32_t free; };

/*
 * What runtime/upi keeps per VP (vp->owner).  `scratch` is the hint list of
 * messages whose connection the classifier does not know: entries learn the
 * last session met at each depth, which makes it a one-entry cache per layer.
 */
struct xk_upivp {
	struct xk_graph *graph;
	struct xk_sess  *scratch[XK_SCRATCH];   /* the last is xk_sess_end */
	struct xk_single single;                /* the last frame that came alone */
	/* Rings posted here: a flow's `post` is a place in this array, plus 1. */
	struct upi_post *posted;
	uint32_t         cap_posted, free_posted;  /* free: plus 1, 0: none */
	struct xk_slab   threads;               /* user-level ones; size 0: never any */
};

/* Ends every hint list; never verifies, never learns, is never passed. */
extern struct xk_sess xk_sess_end;

static inline struct xk_upivp *upi_vp(const struct xk_vp *vp)
{
	return vp->owner;
}

/* The demux of a protocol that declared none: a counted drop. */
void upi_no_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m);
static inline xk_demux_fn upi_own_demux(const struct xk_node *n)
{
	return n->proto->ops->demux != NULL ? n->proto->ops->demux : upi_no_demux;
}
/* The same of pop. */
void upi_no_pop(struct xk_sess *s, struct xk_sess *lls, struct xk_msg *m, void *hdr);
static inline xk_pop_fn upi_own_pop(const struct xk_node *n)
{
	return n->proto->ops->pop != NULL ? n->proto->ops->pop : upi_no_pop;
}
/* upi_hook_meter.c: of a graph that goes. */
void upi_meter_free(struct xk_graph *g);

/* upi_hook_locks.c: where each layer's objects have locks. */
int  upi_locks_attach(struct xk_graph *g);
void upi_locks_free(struct xk_node *n);

/* upi_edge.c: which nodes' datagrams have no owner, where nobody owns any. */
void upi_anywhere(struct xk_graph *g);

/* upi_hook_layers.c: gives every node its layer. */
int  upi_layers_attach(struct xk_graph *g, struct xk_errs *e);
/* The VP of n's replica of number vp. */
struct xk_vp *upi_vp_for(const struct xk_node *n, unsigned vp);

/* What xk_input does with a burst whose verdicts are known; both arrays are its own from here on. */
void upi_input_runs(struct xk_rep *r, struct xk_sess *s, struct xk_msg **m, unsigned n, struct xk_run *run,
		    unsigned nruns);

/* upi_hook_thread.c: where connections have threads. */
void upi_threads_attach(struct xk_graph *g);
void upi_threads_fini(struct xk_upivp *u);

/* What s->push is where the protocol's is fn. */
static inline xk_push_fn upi_push_of(const struct xk_node *n, xk_push_fn fn)
{
	return XK_UNLIKELY(upi_hooked(n, UPI_ABOVE)) ? upi_hooked_push : fn;
}
/* What comes up to n's replicas, to sessions of n, is received by, where the node's own, the session's own, is fn. */
static inline xk_demux_fn upi_demux_of(const struct xk_node *n, xk_demux_fn fn)
{
	return XK_UNLIKELY(upi_hooked(n, UPI_BELOW)) ? upi_hooked_demux : fn;
}

/* upi_gives.c: XK_GIVES_* of a replica, a session, a node that is not made yet. */
struct xk_view;
uint32_t upi_rep_gives(const struct xk_rep *r);
uint32_t upi_sess_gives(const struct xk_sess *s);
uint32_t upi_view_gives(const struct xk_view *v);

#endif

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
	struct xk_slab home;             /* where this replica itself came from, if not from shared memory */
	size_t         size;             /* with all that lies behind it */
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

/* upi_record.c: the calling thread drops so many messages at n, the first of so many bytes; 0: nobody knows. */
void upi_record_drop(const struct xk_node *n, unsigned reason, uint64_t messages, uint32_t bytes);

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

/* upi_node.c: a node that is in no graph; a replica, inside its VP; returns sessions that nobody closed. */
struct xk_node *upi_node_new(struct xk_graph *g, const struct xk_proto *p, const char *name, const char *file);
void     upi_node_free(struct xk_node *n);
int      upi_rep_new(struct xk_node *n, struct xk_vp *vp);
uint64_t upi_rep_free(struct xk_rep *r);

/* upi_late.c: nodes of a graph that is up. */
#define UPI_LATE_MAX 256u        /* at once */
/* Place for their numbers, before anybody reads g->node beside a writer. */
int      upi_late_room(struct xk_graph *g);
struct xk_want;
/* Made, with its replicas; has not started.  Takes over w->conf.  NULL with *err, and an error told. */
struct xk_node *upi_late_make(struct xk_graph *g, struct xk_want *w, struct xk_node *const *down, struct xk_errs *e,
			      int *err);
/* start and rep_start, or neither. */
int      upi_late_start(struct xk_node *n, struct xk_errs *e);
/* Of any node that starts: what it has begun ends, and what it received by is nobody's. */
void     upi_late_stop(struct xk_node *n);
/* n's session over `below`, inside the VP; NULL: it has none. */
struct xk_sess *upi_own_over(const struct xk_node *n, struct xk_sess *below);
/* A layer that has been taken out: what lingers is given up, and of what is below it what has no session of it. */
void     upi_late_leave(struct xk_node *n);
/* It is in nobody's way any more; false: sessions of it are held yet, it stays until upi_late_reap finds none. */
bool     upi_late_end(struct xk_node *n);
/* Those that stayed and can go now, go. */
void     upi_late_reap(struct xk_graph *g);
void     upi_late_stop_all(struct xk_graph *g);
uint64_t upi_late_free_all(struct xk_graph *g);
/* What receives on virtual processor vp for who has gone; upi_nobody_make: before the first. */
int      upi_nobody_make(struct xk_graph *g);
/* fn inside every VP, on several of them at a time where each has its own thread; returns when all have returned. */
void     upi_each_vp(struct xk_graph *g, void (*fn)(struct xk_vp *vp, void *arg), void *arg);
/* Asks r's node itself, inside its VP. */
int      upi_ask(struct xk_rep *r, unsigned op, void *buf, unsigned len);
/* Does n know this operation of xk_move.h? */
bool     upi_can(const struct xk_node *n, unsigned op);

/* upi_hook_capture.c: so many more that would not let long messages through; those under way are, after a
 * grace period. */
void     upi_count_captures(struct xk_graph *g, uint32_t by);

/* upi_enable.c: e is of rcv from now on, which receives in its stead; under the structure lock. */
void     upi_enable_move_locked(struct xk_enable *e, struct xk_node *rcv);
/* Enables that n has taken over from who is going are its own from now on. */
void     upi_enable_keep(struct xk_node *n);

/* upi_seat.c: a node of the graph over another one, with layers between: those that go and those that come,
 * top-down. */
#define UPI_BETWEEN 8u
struct upi_seat {
	struct xk_node *above, *base, *out[UPI_BETWEEN], *in[UPI_BETWEEN];
	unsigned        way, nout, nin;  /* way: of above->down */
	bool            moves;           /* who is above can exchange what it holds */
};
/* Memory for it, in each VP; then layers that come know of the enables, those of applications that come, too.  Undone
 * by the third. */
int      upi_seat_prepare(struct upi_seat *s);
int      upi_seat_adopt(struct upi_seat *s);
void     upi_seat_unprepare(struct upi_seat *s);
/* Enables and sessions go the new way. */
void     upi_seat_change(struct upi_seat *s);

/* upi_gives.c: XK_GIVES_* of a replica, a session, a node that is not made yet. */
struct xk_view;
uint32_t upi_rep_gives(const struct xk_rep *r);
uint32_t upi_sess_gives(const struct xk_sess *s);
uint32_t upi_view_gives(const struct xk_view *v);

#endif

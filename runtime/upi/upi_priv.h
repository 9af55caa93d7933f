/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upi_priv.h - what the files of runtime/upi share.
 */
#ifndef XK_UPI_PRIV_H
#define XK_UPI_PRIV_H

#include "runtime/upi/xk_upi_inline.h"
#include "runtime/vp/xk_stage.h"

#define XK_SCRATCH 8u

struct upi_post { struct xk_deposit *d; uint32_t free; };

/*
 * What runtime/upi keeps per VP (vp->owner).  `scratch` is the hint list of
 * messages whose connection the classifier does not know: entries learn the
 * last session met at each depth, which makes it a one-entry cache per layer.
 */
struct xk_upivp {
	struct xk_graph *graph;
	struct xk_sess  *scratch[XK_SCRATCH];   /* the last is xk_sess_end */
	struct xk_lone   lone;                  /* the last frame that came alone */
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

/* Puts a capture before s->push when the node above (or, at the bottom, its
 * own) is captured. */
void upi_interpose_push(struct xk_sess *s, const struct xk_node *above);
/* Is n captured?  Set by another thread while it runs; a word is loaded whole. */
#ifdef XK_TSAN
#define upi_captured(n) (xk_load_relaxed(&(n)->capture) != NULL)
#else
#define upi_captured(n) ((n)->capture != NULL)
#endif
/* Frames that come in at a captured driver. */
void upi_capture_input(const struct xk_node *n, struct xk_msg **m, unsigned count);
/* The demux of a captured replica. */
void upi_capture_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m);
/* The demux of a protocol that declared none: a counted drop. */
void upi_no_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m);
static inline xk_demux_fn upi_own_demux(const struct xk_node *n)
{
	return n->proto->ops->demux != NULL ? n->proto->ops->demux : upi_no_demux;
}
/* For who stands before a demux all the time: the protocol's own, past what captures it now. */
void upi_demux_here(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m);
/* upi_meter.c: the operation, timed. */
void upi_meter_push(struct xk_sess *s, struct xk_msg *m);
void upi_meter_demux(xk_demux_fn fn, struct xk_up *up, struct xk_sess *lls, struct xk_msg *m);
void upi_meter_free(struct xk_graph *g);
/* What the protocol itself does with m. */
static inline void upi_own_push(struct xk_sess *s, struct xk_msg *m)
{
	if (XK_UNLIKELY(s->rep->node->graph->meter != NULL))
		upi_meter_push(s, m);
	else
		s->push_own(s, m);
}
/* Shows m to the captures that see what is pushed to s. */
void upi_capture_push(struct xk_sess *s, const struct xk_msg *m);

/* ---- upi_objects.c: nodes have none but with object_locks = "layer" ---- */

/* What all replicas' sessions under one key share. */
struct upi_object {
	struct xk_mapnode map;
	uint32_t          held;          /* sessions; under the map's lock */
	struct xk_lock    lock XK_ALIGNED;   /* guards passed; innermost */
	uint64_t          passed;        /* messages that went up through them */
} XK_ALIGNED;
/* Of one VP, by who is inside. */
struct upi_object_stats { struct xk_lockstat map, session; char apart[XK_CACHELINE]; };
/* What a node's replicas share. */
struct upi_objects {
	const struct xk_lock_ops *policy;
	struct upi_object_stats  *by;    /* [nvps] */
	unsigned          nvps;
	bool              keeps;         /* tells sessions apart by a header of its own */
	xk_demux_fn       self;          /* sessions' own demux, NULL: the protocol's; any VP writes it, always the same */
	char              apart[XK_CACHELINE];
	struct xk_lock    lock;          /* guards map, slab, live and what is held; innermost */
	struct xk_map     map;
	struct xk_slab    slab;
	uint32_t          live;          /* records; read by anybody */
	char              apart_too[XK_CACHELINE];
};
int  upi_objects_make(struct xk_graph *g);
void upi_objects_free(struct xk_node *n);
/* s has just been bound, has been unbound, in its replica's map. */
int  upi_objects_bind(const struct xk_sess *s);
void upi_objects_unbind(const struct xk_sess *s);
/* Stand before a replica's demux, before a session's own. */
void upi_objects_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m);
xk_demux_fn upi_objects_self(const struct xk_node *n, xk_demux_fn fn);

/* ---- upi_layers.c: nothing of it is called while no graph has layers ---- */

static inline bool upi_layered(void) { return XK_UNLIKELY(xk_load_relaxed(&xk_stages_on) != 0); }

/* Gives every node its layer. */
int  upi_layers_assign(struct xk_graph *g, struct xk_errs *e);
/* The VP of n's replica of number vp. */
struct xk_vp *upi_vp_for(const struct xk_node *n, unsigned vp);
/* Interposed where a message may come from, or go to, another layer. */
void upi_layer_push(struct xk_sess *s, struct xk_msg *m);
void upi_layer_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m);
void upi_layer_pop(struct xk_sess *s, struct xk_sess *lls, struct xk_msg *m, void *hdr);
void upi_layer_hop(struct xk_stage *l, struct xk_msg *m, void *of, bool up);
/* From now on what s passes up is not queued; NULL: all is.  Returns what held before. */
const void *upi_layer_direct(const void *s);
/*
 * A function of r's layer is about to be called.  From another layer: alone, after the
 * messages that go the same way.  What is returned is for upi_layer_return.
 */
enum upi_layer_way { UPI_LAYER_NONE, UPI_LAYER_DOWN, UPI_LAYER_UP };
struct xk_stage *upi_layer_call(const struct xk_rep *r, enum upi_layer_way way);
void upi_layer_return(struct xk_stage *was);
/* A body of r's layer is about to change what others know of. */
void upi_layer_alone(const struct xk_rep *r);
/* s ends; is it named by messages under way? */
void upi_layer_end(const struct xk_sess *s);
bool upi_layer_names(const struct xk_sess *s);
/* May a question be answered whoever runs? */
bool upi_layer_constant(unsigned op);

/* What xk_input does with a burst whose verdicts are known, nruns runs of len[i] frames each. */
void upi_input_runs(struct xk_rep *r, struct xk_sess *s, struct xk_msg **m, const uint8_t *len, unsigned nruns);

/* upi_thread.c: of s's flow, just bound, about to be unbound. */
void upi_thread_bind(struct xk_sess *s);
void upi_thread_unbind(struct xk_sess *s);
bool upi_user_threads(const struct xk_graph *g);
/* What n's replicas are entered by: its own demux, or what stands before it. */
xk_demux_fn upi_demux_of(const struct xk_node *n);
/* Gives messages to their threads. */
void upi_thread_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m);
/* The same for a run; 0: as if it took none. */
unsigned upi_thread_frames(struct xk_up *up, struct xk_sess *lls, const struct xk_frames *f);
void upi_threads_fini(struct xk_upivp *u);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_stage.h - layers as units of concurrency: the virtual processors of a pipeline, and
 * the queues between them.
 *
 * In the domain `layers` what protocols know as one VP (its number, its replicas) is a
 * pipeline: one *stage* for each layer, each a struct xk_vp with timers, tasks and buffers of its
 * own, and a thread that it shares at most with neighbours.  Stages of a pipeline have its number, so a protocol that asks for the
 * replica of "this VP" gets the one of its own pipeline, in whatever stage that lives.
 * Messages cross from stage to stage through bounded queues, one for each pair and direction.
 * Whatever changes structure (sessions made and closed, timers, calls) is done *exclusively*: no
 * other stage of the pipeline is inside a unit of work.
 *
 *   call                              from where
 *   xk_stage_put, xk_stage_exclusive  inside a stage of the pipeline
 *   xk_stage_drain_*, xk_stage_purge  the same, exclusive
 *   xk_stages_*                       the control thread
 */
#ifndef XK_STAGE_H
#define XK_STAGE_H

#include "runtime/vp/xk_vp.h"

#define XK_LAYERS_MAX 8u

struct xk_pipeline;
struct xk_ring;
/* Since when its thread has run nothing, 0: it runs; because a queue that it fills was high? */
struct xk_stage_waits { xk_ns since; bool full; };
struct xk_stage {
	/* Written before anybody runs; others read it. */
	struct xk_vp      *vp;
	struct xk_pipeline *pipeline;
	unsigned           layer;
	struct xk_ring    *from[XK_LAYERS_MAX];  /* who put into it; NULL: nobody does */
	struct xk_ring    *to[XK_LAYERS_MAX];    /* where it puts; the same queues, seen from the other end */
	char               apart[XK_CACHELINE];
	/* Its own thread's. */
	struct xk_stage    *cur;      /* whose body runs: itself, or another one while it is exclusive */
	const void        *direct;   /* session whose messages go up at once, see runtime/upi */
	uint64_t           fed;      /* stages that were given something in this unit */
	unsigned           busy;     /* bodies of this stage that are being run */
	bool               stopped[2];   /* taking [1] up-going, [0] down-going messages */
	struct xk_stage_waits waits;      /* the first of a thread's stages */
	char               apart2[XK_CACHELINE];
	uint32_t           state;    /* of vp_stage.c */
	struct xk_event    event;    /* others have left, or may be entered again */
};
struct xk_pipeline {
	struct xk_mutex    lock;     /* of those that want to be exclusive */
	uint32_t           asking;   /* how many */
	unsigned           nlayers;
	struct xk_stage    *stage[XK_LAYERS_MAX];  /* [0] at the device */
};

/* The stage that the running body belongs to. */
static inline struct xk_stage *xk_stage_here(void) { return xk_vp_self->stage->cur; }

/* Puts a message into the queue from the running stage to `to`; consumes it.  Down it goes to session s, up it comes from it. */
void xk_stage_put(struct xk_stage *to, struct xk_msg *m, void *s);
/* From here to the end of the unit no other stage of the pipeline runs.  The stage above goes
 * first: when it returns, no body of a higher stage is half done. */
void xk_stage_exclusive(void);
/* Exclusive: runs what is queued for stages below the running one, down to the device, that is on
 * its way to `to` or lower; what stages from the running one on have passed up as far as `to`. */
void xk_stage_drain_down(struct xk_stage *to);
void xk_stage_drain_up(struct xk_stage *to);
/* Exclusive: session s is about to end; drops what is under way to or from it.  Returns how many. */
unsigned xk_stage_purge(struct xk_pipeline *c, const void *s);
/* Is a message of s under way? */
bool xk_stage_names(const struct xk_pipeline *c, const void *s);

/* A body of stage l is about to be called, exclusively, or has returned: give it what the first
 * call returned. */
static inline struct xk_stage *xk_stage_switch(struct xk_stage *l)
{
	struct xk_stage *me = xk_vp_self->stage, *was = me->cur;

	me->cur = l;
	return was;
}

/* Messages that wait in the queues of l now; for tests and statistics. */
uint32_t xk_stage_waiting(const struct xk_stage *l);

/* What stage vp has done, as counters; where the domain is another one, all 0. */
struct xk_stage_stats {
	unsigned pipeline, layer;
	uint64_t up, down, forwarded, backpressure, exclusive, asked, late, most;
	uint64_t full_ns, empty_ns;  /* its thread ran nothing: a queue it fills was high, all it takes from were empty */
	uint64_t sleeps;             /* of its worker, which it shares only where it must */
};
void xk_stage_stats(const struct xk_vp *vp, struct xk_stage_stats *out);

#endif

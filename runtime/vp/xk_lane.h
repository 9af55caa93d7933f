/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_lane.h - layers as units of concurrency: the virtual processors of a cluster, and
 * the queues between them.
 *
 * In the domain `layers` what protocols know as one VP (its number, its replicas) is a
 * cluster: one *lane* for each layer, each a struct xk_vp with timers, tasks and buffers of its
 * own, and a thread that it shares at most with neighbours.  Lanes of a cluster have its number, so a protocol that asks for the
 * replica of "this VP" gets the one of its own cluster, in whatever lane that lives.
 * Messages cross from lane to lane through bounded queues, one for each pair and direction.
 * Whatever changes structure (sessions made and closed, timers, calls) is done *alone*: no
 * other lane of the cluster is inside a unit of work.
 *
 *   call                              from where
 *   xk_lane_put, xk_lane_alone,       inside a lane of the cluster
 *   xk_lane_drain_*, xk_lane_purge    the same, alone
 *   xk_lanes_*                        the control thread
 */
#ifndef XK_LANE_H
#define XK_LANE_H

#include "runtime/vp/xk_vp.h"

#define XK_LAYERS_MAX 8u

/* Any layered graph in this process?  Tested where structure changes, not per message. */
extern uint32_t xk_lanes_on;

struct xk_cluster;
struct xk_ring;
/* Since when its thread has run nothing, 0: it runs; because a queue that it fills was high? */
struct xk_lane_waits { xk_ns since; bool full; };
struct xk_lane {
	/* Written before anybody runs; others read it. */
	struct xk_vp      *vp;
	struct xk_cluster *cluster;
	unsigned           layer;
	struct xk_ring    *from[XK_LAYERS_MAX];  /* who put into it; NULL: nobody does */
	struct xk_ring    *to[XK_LAYERS_MAX];    /* where it puts; the same queues, seen from the other end */
	char               apart[XK_CACHELINE];
	/* Its own thread's. */
	struct xk_lane    *cur;      /* whose body runs: itself, or another one while it is alone */
	const void        *direct;   /* session whose messages go up at once, see runtime/upi */
	uint64_t           fed;      /* lanes that were given something in this unit */
	unsigned           busy;     /* bodies of this lane that are being run */
	bool               stopped[2];   /* taking [1] up-going, [0] down-going messages */
	struct xk_lane_waits waits;      /* the first of a thread's lanes */
	char               apart2[XK_CACHELINE];
	uint32_t           state;    /* of vp_stage.c */
	struct xk_event    event;    /* others have left, or may be entered again */
};
struct xk_cluster {
	struct xk_mutex    lock;     /* of those that want to be alone */
	uint32_t           asking;   /* how many */
	unsigned           nlayers;
	struct xk_lane    *lane[XK_LAYERS_MAX];  /* [0] at the device */
};

/* The lane that the running body belongs to. */
static inline struct xk_lane *xk_lane_here(void) { return xk_vp_self->lane->cur; }

/* Puts a message into the queue from the running lane to `to`; consumes it.  Down it goes to session s, up it comes from it. */
void xk_lane_put(struct xk_lane *to, struct xk_msg *m, void *s);
/* From here to the end of the unit no other lane of the cluster runs.  The lane above goes
 * first: when it returns, no body of a higher lane is half done. */
void xk_lane_alone(void);
/* Alone: runs what is queued for lanes below the running one, down to the device, that is on
 * its way to `to` or lower; what lanes from the running one on have passed up as far as `to`. */
void xk_lane_drain_down(struct xk_lane *to);
void xk_lane_drain_up(struct xk_lane *to);
/* Alone: session s is about to end; drops what is under way to or from it.  Returns how many. */
unsigned xk_lane_purge(struct xk_cluster *c, const void *s);
/* Is a message of s under way? */
bool xk_lane_names(const struct xk_cluster *c, const void *s);

/* A body of lane l is about to be called, alone, or has returned: give it what the first
 * call returned. */
static inline struct xk_lane *xk_lane_switch(struct xk_lane *l)
{
	struct xk_lane *me = xk_vp_self->lane, *was = me->cur;

	me->cur = l;
	return was;
}

/* Messages that wait in the queues of l now; for tests and statistics. */
uint32_t xk_lane_waiting(const struct xk_lane *l);

/* What lane vp has done, as counters; where the domain is another one, all 0. */
struct xk_lane_stats {
	unsigned cluster, layer;
	uint64_t up, down, handed, stops, alone, asked, late, most;
	uint64_t full_ns, empty_ns;  /* its thread ran nothing: a queue it fills was high, all it takes from were empty */
	uint64_t sleeps;             /* of its worker, which it shares only where it must */
};
void xk_lane_stats(const struct xk_vp *vp, struct xk_lane_stats *out);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_lane.h - what runtime/vp itself does with lanes.
 */
#ifndef XK_VP_LANE_H
#define XK_VP_LANE_H

#include "runtime/vp/vp_priv.h"
#include "runtime/vp/xk_lane.h"

/* Before and after each unit, by the lane's own thread. */
void xk_lane_enter(struct xk_lane *l);
void xk_lane_leave(struct xk_lane *l);
/* One unit; the caller is inside and has entered.  Returns work done. */
unsigned xk_lane_unit(struct xk_vp *vp, unsigned budget);
/* Does anything wait in its queues? */
bool xk_lane_ready(const struct xk_lane *l);
/* May its tasks not run, because a queue is high?  Whoever empties it kicks the lane. */
bool xk_lane_blocked(struct xk_lane *l);

/* Did it stop taking messages because a queue was high?  By its own thread. */
static inline bool xk_lane_stopped(const struct xk_lane *l) { return l->stopped[0] || l->stopped[1]; }

int  xk_lanes_make(struct xk_vpset *set);
void xk_lane_teardown(struct xk_vp *vp);
void xk_lanes_free(struct xk_vpset *set);

#endif

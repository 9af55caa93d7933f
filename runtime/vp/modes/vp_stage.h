/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_stage.h - who is inside a lane, and one unit of it.
 */
#ifndef XK_VP_STAGE_H
#define XK_VP_STAGE_H

#include "runtime/vp/vp_priv.h"
#include "runtime/vp/xk_lane.h"

/* Before and after each unit, by the lane's own thread. */
void xk_lane_enter(struct xk_lane *l);
void xk_lane_leave(struct xk_lane *l);
/* One unit; the caller is inside and has entered.  Returns work done. */
unsigned xk_lane_unit(struct xk_vp *vp, unsigned budget);

/* Did it stop taking messages because a queue was high?  By its own thread. */
static inline bool xk_lane_stopped(const struct xk_lane *l) { return l->stopped[0] || l->stopped[1]; }

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_stage.h - who is inside a stage, and one unit of it.
 */
#ifndef XK_VP_STAGE_H
#define XK_VP_STAGE_H

#include "runtime/vp/vp_priv.h"
#include "runtime/vp/xk_stage.h"

/* Before and after each unit, by the stage's own thread. */
void xk_stage_enter(struct xk_stage *l);
void xk_stage_leave(struct xk_stage *l);
/* One unit; the caller is inside and has entered.  Returns work done. */
unsigned xk_stage_unit(struct xk_vp *vp, unsigned budget);

/* Did it stop taking messages because a queue was high?  By its own thread. */
static inline bool xk_stage_stopped(const struct xk_stage *l) { return l->stopped[0] || l->stopped[1]; }

#endif

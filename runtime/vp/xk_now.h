/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_now.h - the time of a virtual processor without a call, for who counts instructions.
 */
#ifndef XK_NOW_H
#define XK_NOW_H

#include "runtime/vp/xk_task.h"

/* Inside vp.  The time is its first member (xk_vp.h). */
static inline xk_ns xk_vp_time(const struct xk_vp *vp) { return *(const xk_ns *)(const void *)vp; }
static inline xk_ns xk_vp_now_inline(void) { return xk_vp_time(xk_vp_self); }
/* Who includes this header asks for it by its ordinary name. */
#define xk_vp_now xk_vp_now_inline

#endif

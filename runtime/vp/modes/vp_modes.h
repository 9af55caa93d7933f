/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_modes.h - the rows of the table of modes.
 */
#ifndef XK_VP_MODES_H
#define XK_VP_MODES_H

#include "runtime/vp/vp_mode.h"

extern const struct xk_mode_ops
	xk_mode_caller,                  /* threads that wait in a call run VPs */
	xk_mode_fifo,                    /* one queue of VPs that workers share */
	xk_mode_pool,                    /* one queue of messages that I/O threads share */
	xk_mode_stages,                  /* layers of a pipeline */
	xk_mode_threads,                 /* user-level threads: only their stacks are beside the VPs */
	xk_mode_stacks,                  /* pools of thread stacks that units of the other modes run on */
	xk_mode_own_stacked;             /* as the core's `own`, on those */

#endif

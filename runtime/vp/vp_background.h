/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_background.h - the other work of a worker that has no protocol work: references to memory and
 * code of its own, which displace what the protocols left in the caches (vp_background.c).
 *
 * One worker's, used by it alone; its counters may be read by anybody.
 */
#ifndef XK_VP_BACKGROUND_H
#define XK_VP_BACKGROUND_H

#include "runtime/base/xk_clock.h"
#include "runtime/vp/xk_vp.h"

#define VP_BACKGROUND_LINE  64u
#define VP_BACKGROUND_SLICE (2 * XK_US)
#define VP_BACKGROUND_WHOLE 1000000u

struct vp_background {
	uint8_t *data, *code;
	uint32_t ndata, ncode;           /* lines */
	uint32_t at_data, at_code;       /* the next ones */
	uint32_t share, owed;            /* of VP_BACKGROUND_WHOLE slices, those that walk */
	xk_counter slices, rests, data_refs, code_refs;
};

/* XK_E_NOMEM; XK_E_NOTSUP: code cannot be made here, or may not be run.  Fini is legal after either. */
int  vp_background_init(struct vp_background *b, const struct xk_background *conf);
void vp_background_fini(struct vp_background *b);
/* n references to data and as many to code, each to the line after the one before. */
void vp_background_walk(struct vp_background *b, uint32_t n);
/* A slice of time: walked, or waited through. */
void vp_background_slice(struct vp_background *b, const struct xk_clock *clock);

#endif

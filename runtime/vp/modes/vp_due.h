/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_due.h - virtual processors that will have something to do at a time that is known, the earliest first.
 *
 * A heap with a place for each VP that may be in it, and the place of each in its VP (due_at), so that a VP is
 * there once and is found at once.  The caller serialises.
 */
#ifndef XK_VP_DUE_H
#define XK_VP_DUE_H

#include "runtime/vp/xk_vp.h"

struct vp_due { xk_ns when; struct xk_vp *vp; };
struct vp_dues { struct vp_due *heap; uint32_t n; };

/* Places for nvps of them.  Free: legal when zeroed. */
int  vp_dues_make(struct vp_dues *d, unsigned nvps);
void vp_dues_free(struct vp_dues *d);
/* vp is due at `when`; XK_NS_NEVER: it is not in there. */
void vp_dues_set(struct vp_dues *d, struct xk_vp *vp, xk_ns when);
/* Takes the earliest out that is due by now; NULL: none is. */
struct xk_vp *vp_dues_take(struct vp_dues *d, xk_ns now);

static inline xk_ns vp_dues_first(const struct vp_dues *d) { return d->n != 0 ? d->heap[0].when : XK_NS_NEVER; }

#endif

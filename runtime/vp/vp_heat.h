/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_heat.h - for the core and its modes: a unit of a VP is over that several threads may run (vp_heat.c).
 */
#ifndef XK_VP_HEAT_H
#define XK_VP_HEAT_H

#include "runtime/mem/xk_mem.h"
#include "runtime/vp/xk_vp.h"

void vp_heat_free(struct xk_vpset *set);
/* who: xk_mem_here() of who has run so many. */
void vp_heat_add(const struct xk_vp *vp, unsigned done, unsigned who);

/* Inside vp: the calling thread has run so many messages of it. */
static inline void vp_heat(const struct xk_vp *vp, unsigned done)
{
	if (XK_UNLIKELY(vp->set->heat != NULL))
		vp_heat_add(vp, done, xk_mem_here());
}

#endif

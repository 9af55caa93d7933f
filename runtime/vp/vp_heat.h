/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_heat.h - for the core and its modes: a unit of a VP is over that several threads may run (vp_heat.c).
 */
#ifndef XK_VP_HEAT_H
#define XK_VP_HEAT_H

#include "runtime/sync/xk_sim.h"
#include "runtime/vp/xk_vp.h"

void vp_heat_free(struct xk_vpset *set);
void vp_heat_add(const struct xk_vp *vp, unsigned done, unsigned who);

/* The calling thread's processor or worker, from 1; 0: it is none. */
static inline unsigned vp_heat_who(void) { return xk_sim_self != NULL ? xk_sim_processor() : xk_mem_processor; }

/* Inside vp: the calling thread has run so many messages of it. */
static inline void vp_heat(const struct xk_vp *vp, unsigned done)
{
	if (XK_UNLIKELY(vp->set->heat != NULL))
		vp_heat_add(vp, done, vp_heat_who());
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_sim_owners.h - which simulated processor had a thing last (vp_sim_owners.c): a message's descriptor, a virtual
 * processor.
 */
#ifndef XK_VP_SIM_OWNERS_H
#define XK_VP_SIM_OWNERS_H

#include <stdbool.h>

struct vp_owners;
/* NULL: no memory. */
struct vp_owners *vp_owners_new(void);
void vp_owners_free(struct vp_owners *o);
/* The processor, from 1, has it now; did another one have it before?  No: nobody has had it. */
bool vp_owners_take(struct vp_owners *o, const void *what, unsigned processor);

#endif

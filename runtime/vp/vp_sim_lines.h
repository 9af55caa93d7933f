/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_sim_lines.h - what simulated processors have cached of sessions and nodes (vp_sim_lines.c).
 */
#ifndef XK_VP_SIM_LINES_H
#define XK_VP_SIM_LINES_H

#include "runtime/vp/xk_cache.h"
#include "runtime/vp/xk_machine.h"

struct vp_lines;
/* caches NULL: what a processor once has it keeps until another one touches it.  NULL: no memory. */
struct vp_lines *vp_lines_new(const struct xk_cache_machine *caches, unsigned processors, unsigned nnodes);
void vp_lines_free(struct vp_lines *l);
/* Picoseconds that it takes `processor`, which has worked for `busy` so far, to have the state of session `what` (not 0) of
 * a node that costs c: nothing where it had no other session of that node since. */
uint64_t vp_lines_touch(struct vp_lines *l, unsigned processor, xk_ns busy, unsigned node, uint32_t what,
			const struct xk_machine_node *c);
/* A processor runs a node: did another one before it? */
bool vp_lines_moved(struct vp_lines *l, unsigned processor, unsigned node);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_sim.h - workers on simulated processors (vp_sim.c), for the core and its modes.
 */
#ifndef XK_VP_SIM_H
#define XK_VP_SIM_H

#include "runtime/vp/vp_priv.h"
#include "runtime/vp/xk_machine.h"

/* Before VPs are made: the simulation, and the set's locks in its time. */
int  xk_vpsim_new(struct xk_vpset *set, struct xk_errs *errs);
void xk_vpsim_free(struct xk_vpset *set);
/* The workers begin; end. */
int  xk_vpsim_start(struct xk_vpset *set, struct xk_errs *errs);
void xk_vpsim_stop(struct xk_vpset *set);
/* Until `until`; false: nothing is left to happen. */
bool xk_vpsim_run(struct xk_vpset *set, xk_ns until);

/* Worker i's record of what its thread was charged, has waited, and how often it gave its processor away. */
void xk_vpsim_note(const struct xk_vpset *set, unsigned i);

/* Inside vp: as xk_vp_unit and xk_vp_turn, charged; what a unit leaves for others is there when the
 * time of its work is over. */
unsigned xk_vpsim_unit(struct xk_vp *vp, unsigned budget);
unsigned xk_vpsim_turn(struct xk_vp *vp, unsigned budget, int32_t *deficit, bool *idle);
/* A unit has done so much: its time passes. */
void xk_vpsim_done(struct xk_vp *vp, unsigned done);
/* What is done next by this thread is on a stack that another processor had last: charged once, with the first that
 * is done (true); or nothing was (false). */
void xk_vpsim_stack_moved(bool moved);
/* A stage takes a message that another one's thread has put into its queue. */
void xk_vpsim_hop(void);
/* So many messages were taken from the queue of all I/O threads. */
void xk_vpsim_pooled(const struct xk_vp *vp, unsigned n);
/* So many of them were others' messages, which passed their layers one by one. */
void xk_vpsim_alone(const struct xk_vp *vp, unsigned done);
/* The same of messages that a thread has brought to vp and run there. */
void xk_vpsim_brought(struct xk_vp *vp, unsigned done);

extern const struct vp_units vp_units_sim;
extern const struct xk_mode_ops xk_mode_own_sim;

/* Are the workers' processors simulated?  One thread that steps all VPs is no simulation of them. */
static inline bool vp_is_simulated(const struct xk_arch *a) { return a->processors != 0 && a->schedule != XK_SCHED_VIRTUAL; }

/* Of the locks that modes have for themselves. */
static inline const struct xk_lock_ops *vp_mode_lock(const struct xk_vpset *set)
{
	return set->sim != NULL ? xk_lock_simulated(&xk_lock_adaptive) : &xk_lock_adaptive;
}

#endif

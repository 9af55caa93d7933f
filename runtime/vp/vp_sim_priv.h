/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_sim_priv.h - what the files of simulated workers share: the simulation of a set, and what a stopped thread keeps.
 */
#ifndef XK_VP_SIM_PRIV_H
#define XK_VP_SIM_PRIV_H

#include "runtime/vp/vp_sim.h"
#include "runtime/vp/vp_sim_lines.h"
#include "runtime/vp/vp_sim_owners.h"

struct xk_vpsim {
	struct xk_sim           *sim;
	const struct xk_machine *machine;
	struct xk_sim_thread   **thread; /* [nworkers], NULL: it has none */
	const struct xk_machine_node **node;  /* by the number of the node, of upi; NULL: none was asked for */
	struct vp_lines         *lines;  /* with node */
	struct vp_owners        *owners; /* of VPs and messages, where the machine says what it costs that they move; NULL */
	xk_ns                    until;  /* thread 0 waits until then */
	xk_ns                  (*again)(void *arg);
	void                    *again_arg;
	void                   (*ran)(void *to, const struct xk_ran *r);
	void                    *ran_to;
	unsigned                 threads;  /* that it was told of */
	unsigned                 last;   /* processor that ran a unit, from 1; 0: none has */
};

/* Of a thread that is stopped; brought, moved and stack_moved are also in use while it runs. */
struct kept {
	struct xk_vp      *self;
	struct xk_memvp   *mem;
	uint16_t           no;
	unsigned           number;       /* among those that `ran` was told of, from 1; 0: not yet */
	xk_ns              told;         /* it had been charged so much when `ran` was told last */
	uint32_t           brought;      /* messages that this unit has brought to others, charged there */
	bool               moved;        /* the operation to come has its message from another layer's thread */
	bool               stack_moved;  /* its stack was another processor's, which has not been charged */
	struct xk_handoffs handoffs;
};

static inline struct kept *vpsim_kept(void) { return xk_sim_self->kept; }

#endif

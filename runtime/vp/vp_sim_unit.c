/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_sim_unit.c - units and turns of work on simulated processors: those of vp_unit.c, one after the other, charged.
 */
#include "runtime/vp/vp_sim_priv.h"

unsigned xk_vpsim_unit(struct xk_vp *vp, unsigned budget)
{
	unsigned done = 0, left, who;

	vpsim_kept()->brought = 0;
	if (xk_vp_timers_due(vp))
		done = xk_wheel_run(&vp->wheel, vp->now, 64);
	left = xk_vp_run_left(vp, budget);
	xk_vpsim_alone(vp, left);
	done += left;
	done += xk_vp_run_one(vp, budget);
	who = xk_mem_here();             /* while its time passes another one may take the thread up */
	xk_vpsim_done(vp, done);
	vp_hand_over(vp);
	xk_count(vp->units);
	xk_count_add(vp->messages, done);
	vp_record_turn(vp, done, who);
	if (XK_UNLIKELY(vp->set->heat != NULL))
		vp_heat_add(vp, done, who);
	return done;
}

unsigned xk_vpsim_turn(struct xk_vp *vp, unsigned budget, int32_t *deficit, bool *idle)
{
	unsigned total = 0, n;

	do {
		n = xk_vpsim_unit(vp, budget);
		*deficit -= (int32_t)(n != 0 ? n : 1);
		total += n;
	} while (n != 0 && *deficit > 0);
	*idle = n == 0;
	return total;
}

const struct vp_units vp_units_sim = { .unit = xk_vpsim_unit, .turn = xk_vpsim_turn, .brought = xk_vp_run_brought };

static unsigned visit_simulated(struct xk_worker *w, unsigned i)
{
	struct xk_slot *s = &w->slot[i];
	unsigned total;
	bool idle;

	xk_vp_step_in(s->vp, w->now);
	total = vp_any_turn(s->vp, xk_load_relaxed(&w->set->arch.burst), &s->deficit, &idle);
	xk_worker_rest(w, i, idle);
	xk_vp_step_out(s->vp);
	return total;
}

const struct xk_mode_ops xk_mode_own_sim = { .kick = xk_worker_kick, .visit = visit_simulated };

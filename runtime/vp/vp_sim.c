/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_sim.c - the workers of a graph on simulated processors.
 *
 * Each worker is a thread of xk_sim.h and runs xk_worker_main as it is; the set's clock shows the
 * time of the processor that runs.  Workers are dealt to processors as they are pinned to real
 * ones; those that are not pinned run where there is room.  What time costs: vp_sim_charge.c.
 * A worker does not spin: who is woken within the time that it would have spun is as prompt
 * as if it had, and what happened meanwhile needs no fiber.
 * Invariant: a fiber is stopped only where it waits, at locks, where it asks whether another processor had a
 * protocol's lines (upi_hook_charge.c), and between a unit's work and its hand-over.
 */
#include "runtime/vp/vp_sim_priv.h"

static void leave(void *arg)
{
	struct kept *k = arg;
	struct xk_handoffs *h = xk_vp_handoffs();

	k->self = xk_vp_self;
	k->mem = xk_mem_self;
	k->no = xk_vp_no;
	k->handoffs.n = h->n;
	if (XK_UNLIKELY(h->n != 0))
		k->handoffs = *h;
	h->n = 0;
	xk_vp_self = NULL;
	xk_mem_self = NULL;
	xk_vp_no = XK_VP_NONE;
}

static void enter(void *arg)
{
	const struct kept *k = arg;
	struct xk_handoffs *h = xk_vp_handoffs();

	xk_vp_self = k->self;
	xk_mem_self = k->mem;
	xk_vp_no = k->no;
	h->n = k->handoffs.n;
	if (XK_UNLIKELY(h->n != 0))
		*h = k->handoffs;
}

void xk_vpset_simulated(const struct xk_vpset *set, unsigned i, struct xk_sim_stats *out)
{
	xk_sim_stats(set->sim->sim, i, out);
}

xk_ns xk_vpset_bus_busy(const struct xk_vpset *set) { return xk_sim_bus_busy(set->sim->sim); }

const struct xk_machine_node **xk_vpset_node_costs(struct xk_vpset *set, unsigned nnodes)
{
	struct xk_vpsim *s = set->sim;

	if (XK_LIKELY(s->node != NULL))
		return s->node;
	/* Thread 0, which makes the graph, has a processor of its own. */
	s->lines = vp_lines_new(s->machine->cache, set->arch.processors + 1, nnodes);
	return s->node = s->lines != NULL ? xk_alloc(nnodes * sizeof *s->node) : NULL;
}

/* ---- life ------------------------------------------------------------------------------- */

static int complain(struct xk_errs *errs, int err)
{
	if (err == XK_E_NOTSUP)
		xk_errs_add(errs, NULL, 0, 0, "simulated processors need Boost.Context, which this build was made without: "
			    "install libboost-context-dev and configure again");
	else if (err == XK_E_BUSY)
		xk_errs_add(errs, NULL, 0, 0, "this thread simulates processors for another graph already");
	return err;
}

int xk_vpsim_new(struct xk_vpset *set, struct xk_errs *errs)
{
	static const struct xk_sim_ops ops = { .size = sizeof(struct kept), .leave = leave, .enter = enter };
	struct xk_arch *a = &set->arch;
	struct xk_vpsim *s;
	struct xk_sim_costs costs = a->machine->sync;
	int err;

	s = set->sim = xk_alloc(sizeof *s);
	if (s == NULL)
		return XK_E_NOMEM;
	s->machine = a->machine;
	if (s->machine->vp_moved != 0 || s->machine->message_moved != 0 || s->machine->byte_moved != 0) {
		s->owners = vp_owners_new();
		if (s->owners == NULL)
			return XK_E_NOMEM;
	}
	costs.spin = (xk_ns)a->spin_us * XK_US;
	err = xk_sim_new(&s->sim, a->processors, &costs, &set->clock.virtual_now, &ops);
	if (err != XK_OK)
		return complain(errs, err);
	a->spin_us = 0;
	set->units = &vp_units_sim;
	a->lock = xk_lock_simulated(a->lock);
	if (a->table != NULL)
		a->table = xk_lock_simulated_table(a->table);
	return XK_OK;
}

void xk_vpsim_free(struct xk_vpset *set)
{
	if (set->sim == NULL)
		return;
	xk_sim_free(set->sim->sim);
	xk_free(set->sim->thread);
	xk_free(set->sim->node);
	vp_lines_free(set->sim->lines);
	vp_owners_free(set->sim->owners);
	xk_free(set->sim);
	set->sim = NULL;
}

/* As workers are pinned: neighbours of a pipeline together; those that are not, on any. */
static unsigned place(const struct xk_vpset *set, unsigned worker)
{
	unsigned n = set->arch.processors;

	if (!set->arch.wired)
		return XK_SIM_ANY;
	if (set->arch.domain == XK_DOMAIN_LAYER && set->nworkers > n)
		return worker * n / set->nworkers;
	return worker % n;
}

int xk_vpsim_start(struct xk_vpset *set, struct xk_errs *errs)
{
	struct xk_vpsim *s = set->sim;
	int err = XK_OK;

	s->thread = xk_alloc(set->nworkers * sizeof *s->thread);
	if (s->thread == NULL)
		return XK_E_NOMEM;
	xk_store_release(&set->running, 1);
	for (unsigned i = 0; err == XK_OK && i < set->nworkers; i++)
		err = xk_sim_thread_new(s->sim, &s->thread[i], place(set, i), xk_worker_main, set->worker[i]);
	if (err == XK_OK)
		return XK_OK;
	xk_errs_add(errs, NULL, 0, 0, "no memory for the stacks of %u simulated workers", set->nworkers);
	xk_vpsim_stop(set);
	return err;
}

void xk_vpsim_stop(struct xk_vpset *set)
{
	struct xk_vpsim *s = set->sim;

	xk_store_release(&set->running, 0);
	for (unsigned i = 0; s->thread != NULL && i < set->nworkers; i++)
		if (s->thread[i] != NULL)
			xk_event_wake(&set->worker[i]->event);
	for (unsigned i = 0; s->thread != NULL && i < set->nworkers; i++) {
		xk_vpsim_note(set, i);
		if (s->thread[i] != NULL)
			xk_sim_join(s->thread[i]);
		s->thread[i] = NULL;
	}
	xk_free(s->thread);
	s->thread = NULL;
}

static xk_ns go_on(void *arg)
{
	struct xk_vpsim *s = arg;
	xk_ns at = s->again(s->again_arg);

	if (at > s->until)
		s->until = at;
	return at;
}

void xk_vpset_again(struct xk_vpset *set, xk_ns (*again)(void *arg), void *arg)
{
	struct xk_vpsim *s = set->sim;

	if (s == NULL)
		return;
	s->again = again;
	s->again_arg = arg;
	xk_sim_again(s->sim, again != NULL ? go_on : NULL, s);
}

bool xk_vpsim_run(struct xk_vpset *set, xk_ns until)
{
	struct xk_vpsim *s = set->sim;
	bool more = true;

	/* All sleep, and something is left to happen: what is left of the step passes. */
	s->until = until;
	while (more && !xk_sim_run(s->sim, s->until))
		more = xk_vpset_any_left(set);
	return more;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_sim.c - the workers of a graph on simulated processors.
 *
 * Each worker is a thread of xk_sim.h and runs xk_worker_main as it is; the set's clock shows the
 * time of the processor that runs.  Workers are dealt to processors as they are pinned to real
 * ones.  A unit's messages are charged when it has run and before it hands anything over;
 * messages that a thread brings to another VP are charged with that VP's lock held, and not again
 * in the unit that brought them.  Locks and waiting are charged by the
 * room of synchronisation.
 * A worker does not spin: who is woken within the time that it would have spun is as prompt
 * as if it had, and what happened meanwhile needs no fiber.
 * Invariant: a fiber is stopped only where it waits, at locks, and between a unit's work and its hand-over.
 */
#include "runtime/vp/vp_sim.h"

#include <string.h>

struct xk_vpsim {
	struct xk_sim           *sim;
	const struct xk_machine *machine;
	struct xk_sim_thread   **thread; /* [nworkers], NULL: it has none */
	const struct xk_machine_node **node;  /* by the number of the node, of upi; NULL: none was asked for */
};

/* Of a thread that is stopped; brought is also in use while it runs. */
struct kept {
	struct xk_vp      *self;
	struct xk_memvp   *mem;
	uint16_t           no;
	uint32_t           brought;      /* messages that this unit has brought to others, charged there */
	struct xk_handoffs handoffs;
};

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

/* ---- machines ------------------------------------------------------------------------ */

static const struct xk_machine_value flat_values[] = {
	{ "message", "assumed: the cost of a message or timer that the virtual clock of one thread charges", 0.1 },
};
const struct xk_machine xk_machine_flat = {
	.name = "flat", .doc = "100 ns a message, nothing else", .message = 100,
	.value = flat_values, .nvalues = XK_ARRAY_LEN(flat_values),
};

bool xk_machine_is_flat(const struct xk_machine *m)
{
	const struct xk_sim_costs *c = &m->sync;

	return (c->lock_local | c->lock_moved | c->handover | c->wake | c->context | m->unit) == 0 && m->nnodes == 0;
}

const struct xk_machine_node *xk_machine_find(const struct xk_machine *m, const char *proto)
{
	for (unsigned i = 0; i < m->nnodes; i++)
		if (strcmp(m->node[i].proto, proto) == 0)
			return &m->node[i];
	return NULL;
}

void xk_vpset_simulated(const struct xk_vpset *set, unsigned i, struct xk_sim_stats *out)
{
	xk_sim_stats(set->sim->sim, i, out);
}

const struct xk_machine_node **xk_vpset_node_costs(struct xk_vpset *set, unsigned nnodes)
{
	if (set->sim->node == NULL)
		set->sim->node = xk_alloc(nnodes * sizeof *set->sim->node);
	return set->sim->node;
}

/* ---- charging ------------------------------------------------------------------------- */

static struct kept *kept(void) { return xk_sim_self->kept; }

static void charge_unit(const struct xk_vp *vp, unsigned done)
{
	const struct xk_machine *m = vp->set->sim->machine;
	uint32_t brought = kept()->brought, own = done > brought ? done - brought : 0;
	xk_ns cost = done != 0 ? m->unit + own * m->message : 0;

	kept()->brought = 0;
	/* Where what was done costs nothing, time goes on nevertheless: an endless source must not stop it. */
	if (cost == 0 && own != 0)
		cost = 1;
	xk_sim_charge(cost);
}

void xk_vpsim_done(struct xk_vp *vp, unsigned done)
{
	charge_unit(vp, done);
	xk_sim_pass();
}

void xk_vpsim_brought(struct xk_vp *vp, unsigned done)
{
	if (xk_sim_self == NULL)
		return;
	kept()->brought += done;
	xk_sim_charge(done * vp->set->sim->machine->message);
}

/* ---- units ------------------------------------------------------------------------------ */

unsigned xk_vpsim_unit(struct xk_vp *vp, unsigned budget)
{
	unsigned done = 0;

	kept()->brought = 0;
	if (xk_vp_timers_due(vp))
		done = xk_wheel_run(&vp->wheel, vp->now, 64);
	done += xk_vp_run_left(vp, budget);
	done += xk_vp_run_one(vp, budget);
	xk_vpsim_done(vp, done);
	vp_hand_over(vp);
	xk_count(vp->units);
	xk_count_add(vp->messages, done);
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

static unsigned visit_simulated(struct xk_worker *w, unsigned i)
{
	struct xk_slot *s = &w->slot[i];
	unsigned total;
	bool idle;

	xk_vp_step_in(s->vp, w->now);
	total = xk_vpsim_turn(s->vp, xk_load_relaxed(&w->set->arch.burst), &s->deficit, &idle);
	xk_worker_rest(w, i, idle);
	xk_vp_step_out(s->vp);
	return total;
}

const struct xk_mode_ops xk_mode_own_sim = { .kick = xk_worker_kick, .visit = visit_simulated };

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
	costs.spin = (xk_ns)a->spin_us * XK_US;
	err = xk_sim_new(&s->sim, a->processors, &costs, &set->clock.virtual_now, &ops);
	if (err != XK_OK)
		return complain(errs, err);
	a->spin_us = 0;
	a->lock = xk_lock_simulated(a->lock);
	if (a->table != NULL)
		a->table = xk_lock_simulated(a->table);
	/* Times of locks are the host's. */
	a->lock_untimed = true;
	return XK_OK;
}

void xk_vpsim_free(struct xk_vpset *set)
{
	if (set->sim == NULL)
		return;
	xk_sim_free(set->sim->sim);
	xk_free(set->sim->thread);
	xk_free(set->sim->node);
	xk_free(set->sim);
	set->sim = NULL;
}

/* As workers are pinned: neighbours of a pipeline together. */
static unsigned place(const struct xk_vpset *set, unsigned worker)
{
	unsigned n = set->arch.processors;

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
		if (s->thread[i] != NULL)
			xk_sim_join(s->thread[i]);
		s->thread[i] = NULL;
	}
	xk_free(s->thread);
	s->thread = NULL;
}

bool xk_vpsim_run(struct xk_vpset *set, xk_ns until)
{
	while (!xk_sim_run(set->sim->sim, until))
		if (!xk_vpset_any_left(set))
			return false;
	return true;
}

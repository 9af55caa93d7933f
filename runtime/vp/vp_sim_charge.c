/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_sim_charge.c - what a simulated machine charges for messages and units.
 *
 * A unit's messages are charged when it has run and before it hands anything over; messages that a
 * thread brings to another VP are charged with that VP's lock held, and not again in the unit that
 * brought them.  Nodes charge for themselves (upi_hook_charge.c); locks and waiting are charged by the
 * room of synchronisation, and what threads were charged for that is read here.
 */
#include "runtime/vp/vp_sim_priv.h"

#include <string.h>

/* ---- machines ------------------------------------------------------------------------ */

static const struct xk_machine_value flat_values[] = {
	{ .key = "message", .source = "assumed: the cost of a message or timer that the virtual clock of one thread charges", .value = 0.1 },
};
const struct xk_machine xk_machine_flat = {
	.name = "flat", .doc = "100 ns a message, nothing else", .message = 100,
	.value = flat_values, .nvalues = XK_ARRAY_LEN(flat_values),
};

bool xk_machine_is_flat(const struct xk_machine *m)
{
	const struct xk_sim_costs *c = &m->sync;

	return (c->lock_local | c->lock_moved | c->lock_handed | c->unlock | c->lookup | c->handover | c->wake | c->context |
		c->sleep | c->sleep_other | c->slice | c->yield | c->lock_spin | c->hop | m->unit | m->alone | m->pooled | m->unit_moved | m->vp_moved | m->stack_moved |
		m->message_moved | m->byte_moved) == 0 && m->nnodes == 0;
}

const struct xk_machine_node *xk_machine_find(const struct xk_machine *m, const char *proto)
{
	for (unsigned i = 0; i < m->nnodes; i++)
		if (strcmp(m->node[i].proto, proto) == 0)
			return &m->node[i];
	return NULL;
}

/* ---- charging ------------------------------------------------------------------------- */

/* What it takes to have the lines of vp, in which something was done. */
static xk_ns vp_lines_of(const struct xk_vp *vp, unsigned done)
{
	const struct xk_vpsim *s = vp->set->sim;

	return done != 0 && s->machine->vp_moved != 0 && vp_owners_take(s->owners, vp, xk_sim_processor()) ? s->machine->vp_moved : 0;
}

void xk_vpsim_stack_moved(bool moved)
{
	if (xk_sim_self != NULL)
		vpsim_kept()->stack_moved = moved;
}

/* And those of the stack that it was done on. */
static xk_ns stack_lines_of(const struct xk_vpsim *s, unsigned done)
{
	if (XK_LIKELY(done == 0 || !vpsim_kept()->stack_moved))
		return 0;
	vpsim_kept()->stack_moved = false;
	return s->machine->stack_moved;
}

uint64_t xk_vpset_message_moved(struct xk_vpset *set, const void *message, uint32_t bytes)
{
	const struct xk_machine *m = set->sim->machine;

	if ((m->message_moved | m->byte_moved) == 0 || !vp_owners_take(set->sim->owners, message, xk_sim_processor()))
		return 0;
	return m->message_moved + m->byte_moved * bytes;
}

void xk_vpset_note_ran(struct xk_vpset *set, void (*ran)(void *to, const struct xk_ran *r), void *to)
{
	set->sim->ran = ran;
	set->sim->ran_to = to;
}

/* done messages of vp were run, up to now. */
static void tell_ran(const struct xk_vp *vp, uint32_t done)
{
	struct xk_vpsim *s = vp->set->sim;
	struct kept *k = vpsim_kept();
	struct xk_sim_counts c;
	struct xk_ran r;

	if (XK_LIKELY(s->ran == NULL) || xk_sim_processor() == 0)
		return;
	xk_sim_counts(xk_sim_running(), &c);
	r = (struct xk_ran){ .processor = xk_sim_processor() - 1, .vp = vp->at, .messages = done, .until = *xk_sim_self->now };
	r.from = r.until - (c.worked - k->told);
	k->told = c.worked;
	if (done == 0)
		return;
	if (k->number == 0)
		k->number = ++s->threads;
	r.thread = k->number - 1;
	s->ran(s->ran_to, &r);
}

static void charge_unit(const struct xk_vp *vp, unsigned done)
{
	struct xk_vpsim *s = vp->set->sim;
	const struct xk_machine *m = s->machine;
	uint32_t brought = vpsim_kept()->brought, own = done > brought ? done - brought : 0;
	xk_ns cost = done != 0 ? m->unit + own * m->message : 0;
	unsigned processor = xk_sim_processor();

	vpsim_kept()->brought = 0;
	cost += vp_lines_of(vp, done) + stack_lines_of(s, done);
	if (done != 0 && s->last != 0 && s->last != processor)
		cost += m->unit_moved;
	if (done != 0)
		s->last = processor;
	/* Where what was done costs nothing, time goes on nevertheless: an endless source must not stop it. */
	if (cost == 0 && own != 0)
		cost = 1;
	xk_sim_charge(cost);
	tell_ran(vp, own);
}

uint64_t xk_vpset_touch(struct xk_vpset *set, unsigned no, uint32_t handle, const struct xk_machine_node *c)
{
	struct xk_vpsim *s = set->sim;
	unsigned processor = xk_sim_processor();
	struct xk_sim_stats worked = { 0 };

	if (processor != 0)
		xk_sim_stats(s->sim, processor - 1, &worked);
	return vp_lines_touch(s->lines, processor, worked.busy, no, handle, c);
}

bool xk_vpset_node_moved(struct xk_vpset *set, unsigned no)
{
	return vp_lines_moved(set->sim->lines, xk_sim_processor(), no);
}

void xk_vpsim_done(struct xk_vp *vp, unsigned done)
{
	charge_unit(vp, done);
	xk_sim_pass();
}

void xk_vpsim_hop(void)
{
	if (xk_sim_self == NULL)
		return;
	xk_sim_hop();
	vpsim_kept()->moved = true;
}

bool xk_vpset_moved(void)
{
	bool moved = vpsim_kept()->moved;

	vpsim_kept()->moved = false;
	return moved;
}

void xk_vpsim_pooled(const struct xk_vp *vp, unsigned n)
{
	if (xk_sim_self != NULL)
		xk_sim_charge(n * vp->set->sim->machine->pooled);
}

void xk_vpsim_alone(const struct xk_vp *vp, unsigned done)
{
	xk_sim_charge(done * vp->set->sim->machine->alone);
}

void xk_vpsim_brought(struct xk_vp *vp, unsigned done)
{
	if (xk_sim_self == NULL)
		return;
	vpsim_kept()->brought += done;
	xk_vpsim_alone(vp, done);
	xk_sim_charge(done * vp->set->sim->machine->message + vp_lines_of(vp, done) + stack_lines_of(vp->set->sim, done));
	tell_ran(vp, done);
}

/* ---- what threads have waited ---------------------------------------------------------- */

void xk_vpsim_note(const struct xk_vpset *set, unsigned i)
{
	struct xk_sim_thread **thread = set->sim->thread;
	struct xk_worker_stats *w = &set->worker[i]->stats;
	struct xk_sim_counts c;

	if (thread == NULL || thread[i] == NULL)
		return;
	xk_sim_counts(thread[i], &c);
	xk_store_relaxed(&w->user_ns, c.worked);
	xk_store_relaxed(&w->nvcsw, c.voluntary);
	xk_store_relaxed(&w->nivcsw, c.involuntary);
	xk_store_relaxed(&w->locking_ns, c.locking);
	xk_store_relaxed(&w->meeting_ns, c.meeting);
}

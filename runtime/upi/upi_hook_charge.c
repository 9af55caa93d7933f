/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upi_hook_charge.c - what each node's operation costs on a simulated machine: a hook that
 * charges it.
 *
 * It stands where a meter would, right before the protocol on both sides of every node, so each
 * operation is on one message (runs of frames are off).  An operation is charged as it begins: what
 * it asks for, gives on or leaves for others comes after that time.  The state of a session is
 * touched by what is pushed to it and by what it gives up, which is where a message's session is known.
 * Invariant: every node of the graph has costs in the machine's ledger.
 */
#include "runtime/upi/upi_priv.h"

#include "runtime/vp/xk_machine.h"

/* Picoseconds to have the state of s, a session of any node or nobody's, in the caches. */
static uint64_t state_of(const struct xk_machine_node *const *costs, const struct xk_sess *s)
{
	const struct xk_machine_node *c;

	if (s == NULL || s->rep == NULL)
		return 0;
	c = costs[s->rep->node->no];
	if (c->memory_cold == 0)
		return 0;
	return xk_vpset_touch(s->rep->node->graph->vps, s->rep->node->no, xk_slab_handle(s), c);
}

/* Picoseconds to have the state of n, which a message comes up to.  Others are ahead or behind: it is asked in the
 * order of their times. */
static uint64_t protocol_of(const struct xk_machine_node *c, const struct xk_node *n)
{
	if (c->protocol_moved == 0)
		return 0;
	xk_sim_pass();
	return xk_vpset_node_moved(n->graph->vps, n->no) ? c->protocol_moved : 0;
}

/* Picoseconds to have m, where another processor had it. */
static uint64_t message_of(struct xk_vpset *set, const struct xk_msg *m)
{
	const struct xk_machine *all = set->arch.machine;

	return (all->message_moved | all->byte_moved) != 0 ? xk_vpset_message_moved(set, m, m->tot) : 0;
}

static void charge(const struct xk_node *n, bool down, const struct xk_sess *s, const struct xk_msg *m)
{
	const struct xk_machine_node *const *costs, *c;
	uint64_t ps;

	if (xk_sim_self == NULL)         /* the graph is made, or taken down */
		return;
	costs = xk_vpset_node_costs(n->graph->vps, n->graph->nnodes);
	c = costs[n->no];
	ps = down ? 0 : protocol_of(c, n);
	ps += c->message[down] + c->byte * m->tot + (xk_vpset_moved() ? c->moved : 0);
	ps += state_of(costs, s) + message_of(n->graph->vps, m);
	xk_sim_work((ps + 500) / 1000, (c->bus * m->tot + 500) / 1000);
}

static void charge_push(const struct upi_link *l, struct xk_sess *s, struct xk_msg *m)
{
	charge(s->rep->node, true, s, m);
	upi_next_push(l, s, m);
}

static void charge_demux(const struct upi_link *l, struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	charge(up->rep->node, false, lls, m);
	upi_next_demux(l, up, lls, m);
}

static const struct xk_hook hook = { .name = "charge", .push = charge_push, .demux = charge_demux };

int upi_charge_attach(struct xk_graph *g, struct xk_errs *e)
{
	const struct xk_machine *m = g->vps->arch.machine;
	const struct xk_machine_node **cost;
	int err = XK_OK;

	if (g->vps->sim == NULL || m->nnodes == 0)
		return XK_OK;
	cost = xk_vpset_node_costs(g->vps, g->nnodes);
	if (cost == NULL) {
		xk_errs_add(e, NULL, 0, 0, "out of memory for the costs of nodes");
		return XK_E_NOMEM;
	}
	for (unsigned i = 0; i < g->nnodes; i++) {
		struct xk_node *n = g->node[i];

		cost[n->no] = xk_machine_find(m, n->proto->name);
		if (cost[n->no] == NULL) {
			xk_errs_add(e, n->file, n->line, 0, "%s: machine \"%s\" does not say what protocol %s costs: none is guessed",
				    n->name, m->name, n->proto->name);
			err = XK_E_INVAL;
			continue;
		}
		upi_hook_attach(n, UPI_BELOW, UPI_AT_METER, &hook);
		upi_hook_attach(n, UPI_ABOVE, UPI_AT_METER, &hook);
	}
	return err;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upi_hook_capture.c - captures: a hook that shows messages to whoever looks.
 *
 * What goes up is seen below the captured node; what goes down above the nodes that it pushes
 * to, or, at the bottom, above itself.
 *
 *   attach, detach            exclude each other (the graph's structure lock)
 *   fn                        any VP, also beside the two; never after detach returned
 */
#include "runtime/upi/upi_priv.h"

#include "runtime/upi/xk_capture.h"
#include "runtime/upi/xk_change.h"

static bool captured(const struct xk_node *n)
{
	return xk_load_relaxed(&n->edge->capture) != NULL;
}

static void show(const struct xk_node *n, const struct xk_msg *m, bool down)
{
	struct xk_capture *c = xk_rcu_dereference(n->edge->capture);

	for (; c != NULL; c = xk_rcu_dereference(c->next))
		c->fn(c, xk_vp_now(), m, down);
}

static bool lies_over(const struct xk_node *n, const struct xk_node *below)
{
	for (unsigned i = 0; i < n->ndown; i++)
		if (n->down[i] == below)
			return true;
	return false;
}

/* Nothing that is captured lies below n. */
static bool is_lowest(const struct xk_node *n)
{
	return n->ndown == 0 || xk_node_is_edge(n);
}

/* ---- the hook --------------------------------------------------------------------- */

static void capture_input(const struct xk_node *n, struct xk_msg *const *m, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		show(n, m[i], false);
}

/* A protocol in between may have opened s on behalf of the node above: then that does not push to it. */
static void capture_push(const struct upi_link *l, struct xk_sess *s, struct xk_msg *m)
{
	const struct xk_node *own = s->rep->node, *above = s->up != NULL ? s->up->rep->node : own;

	if (above != own && lies_over(above, own))
		show(above, m, true);
	if (is_lowest(own))
		show(own, m, true);
	upi_next_push(l, s, m);
}

static void capture_demux(const struct upi_link *l, struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	show(up->rep->node, m, false);
	upi_next_demux(l, up, lls, m);
}

static const struct xk_hook capture = {
	.name = "capture", .push = capture_push, .demux = capture_demux, .input = capture_input,
};

/* ---- where it stands ----------------------------------------------------------------- */

/* Does any capture see what is pushed to n's sessions? */
static bool pushes_seen(const struct xk_node *n)
{
	const struct xk_graph *g = n->graph;

	for (unsigned i = 0; i < xk_graph_slots(g); i++)
		if (xk_graph_slot(g, i) != NULL && captured(g->node[i]) && (g->node[i] == n ? is_lowest(n) : lies_over(g->node[i], n)))
			return true;
	return false;
}

static void place(struct xk_node *n, enum upi_side side, bool on)
{
	if (on)
		upi_hook_attach(n, side, UPI_AT_CAPTURE, &capture);
	else
		upi_hook_detach(n, side, UPI_AT_CAPTURE);
}

/* n has its first capture, or has lost its last. */
static void place_all(struct xk_node *n)
{
	place(n, UPI_BELOW, captured(n));
	if (is_lowest(n))
		place(n, UPI_ABOVE, pushes_seen(n));
	for (unsigned i = 0; i < n->ndown; i++)
		place(n->down[i], UPI_ABOVE, pushes_seen(n->down[i]));
}

bool xk_captured(const struct xk_node *n)
{
	return xk_load_relaxed(&n->graph->ncaptures) != 0;
}

void upi_count_captures(struct xk_graph *g, uint32_t by)
{
	xk_mutex_lock(&g->structure);
	xk_store_relaxed(&g->ncaptures, g->ncaptures + by);
	xk_mutex_unlock(&g->structure);
}

void xk_capture_attach(struct xk_node *n, struct xk_capture *c)
{
	bool first;

	/* Long messages end before c can see one. */
	upi_count_captures(n->graph, 1);
	xk_rcu_synchronize();
	xk_mutex_lock(&n->graph->structure);
	first = !captured(n);
	c->next = n->edge->capture;
	xk_rcu_assign(n->edge->capture, c);
	if (first)
		place_all(n);
	xk_mutex_unlock(&n->graph->structure);
	if (first)
		upi_hook_resolve(n);
}

void xk_capture_detach(struct xk_node *n, struct xk_capture *c)
{
	struct xk_capture **at = &n->edge->capture;
	bool last;

	xk_mutex_lock(&n->graph->structure);
	while (*at != NULL && *at != c)
		at = &(*at)->next;
	xk_assert(*at == c);
	xk_rcu_assign(*at, c->next);
	last = !captured(n);
	if (last)
		place_all(n);
	xk_mutex_unlock(&n->graph->structure);
	if (last)
		upi_hook_resolve(n);
	xk_rcu_synchronize();
	upi_count_captures(n->graph, UINT32_MAX);
}

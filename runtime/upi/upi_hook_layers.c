/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upi_hook_layers.c - layer parallelism: a hook that calls within a layer and hands over
 * between two.
 *
 * A layer is a group of nodes; each of their replicas lives in that layer's stage of its
 * pipeline (xk_stage.h).  A message that is pushed, or passed up, from one layer to another goes
 * into the queue between the two stages and the same function of the protocol runs when it is
 * taken out; within a layer it is called as ever.  The hook stands where two layers meet, above the
 * lower one and below the upper one; protocols know nothing of it.
 * Everything else that reaches into another layer (open, close, control, open_done, close_done,
 * a session that ends) is called at once, but exclusively in the pipeline, after the messages that are
 * under way the same way and would have been before it.
 * What only asks for what never changes is answered without any of this.
 * Hints do not cross: a layer finds its sessions by the last one met, or by its map.
 * Invariant: a message in a queue names a session that has not ended.
 */
#include "runtime/upi/upi_priv.h"

#include <string.h>

#include "runtime/upi/xk_stream.h"
#include "runtime/vp/xk_stage.h"

/* ---- which node is in which layer -------------------------------------------------- */

/* Does nothing come up to it?  Whoever lies above has sessions of what is below. */
static bool has_none(const struct xk_node *n)
{
	return n->proto->as_below && n->proto->ops->demux == NULL;
}

/* Does it hand on what comes up as it is, batches of it as a whole, or does nothing come up?  Then it belongs to
 * the layer of what is below it: a queue there would be for nothing. */
static bool hands_on(const struct xk_node *n)
{
	return n->proto->ops->batch_self || has_none(n);
}

/* Where n belongs by what it offers: device and link, network, transport, all above: that which offers
 * again what is below it, too (presentation). */
static unsigned usual_layer(const struct xk_node *n)
{
	static const struct { const char *word; unsigned layer; } of[] = {
		{ "peer", 0 }, { "frame", 0 }, { "cells", 0 }, { "link", 0 }, { "hostlink", 0 }, { "host", 1 },
		{ "port", 2 }, { "stream", 2 },
	};

	if (hands_on(n))
		return 0;                /* no higher than what is below */
	if (n->proto->as_below && !n->proto->is_driver)
		return 3;
	for (unsigned i = 0; i < XK_ARRAY_LEN(of); i++)
		if (xk_node_offers(n, of[i].word))
			return of[i].layer;
	return 3;
}

/* Is the node's name one of the words of the list? */
static bool named_in(const char *list, const char *name)
{
	size_t n = strlen(name);

	while (*list != '\0') {
		size_t m = strcspn(list, " ");

		if (m == n && memcmp(list, name, n) == 0)
			return true;
		list += m + strspn(list + m, " ");
	}
	return false;
}

static int named_layer(const struct xk_graph *g, const struct xk_node *n, unsigned *layer)
{
	unsigned found = 0;

	for (unsigned i = 0; i < g->nlayers; i++)
		if (named_in(g->layers[i], n->name)) {
			*layer = i;
			found++;
		}
	return found == 1 ? XK_OK : found == 0 ? XK_E_NOENT : XK_E_EXIST;
}

static int node_layer(struct xk_graph *g, struct xk_node *n, struct xk_errs *e)
{
	unsigned most = g->vps->arch.layers - 1, layer = usual_layer(n);
	int err = g->nlayers != 0 ? named_layer(g, n, &layer) : XK_OK;

	if (err != XK_OK) {
		xk_errs_add(e, n->file, n->line, 0, "%s: layers names this node %s", n->name,
			    err == XK_E_NOENT ? "nowhere: each node belongs to a layer" : "twice");
		return XK_E_INVAL;
	}
	for (unsigned i = 0; i < n->ndown; i++)
		if (n->down[i]->layer > layer && g->nlayers != 0) {
			xk_errs_add(e, n->file, n->line, 0, "%s: is in a lower layer than %s, over which it lies",
				    n->name, n->down[i]->name);
			return XK_E_INVAL;
		} else if (n->down[i]->layer > layer) {
			layer = n->down[i]->layer;
		}
	n->layer = (uint8_t)(layer < most ? layer : most);
	return XK_OK;
}

struct xk_vp *upi_vp_for(const struct xk_node *n, unsigned vp)
{
	const struct xk_vpset *set = n->graph->vps;

	return set->pipeline == NULL ? set->vp[vp] : set->pipeline[vp].stage[n->layer]->vp;
}

/* ---- messages ------------------------------------------------------------------------- */

static void layers_push(const struct upi_link *l, struct xk_sess *s, struct xk_msg *m)
{
	struct xk_stage *to = s->rep->vp->stage;

	if (xk_stage_here() == to)
		upi_next_push(l, s, m);
	else
		xk_stage_put(to, m, s);
}

/* At once, by the stage that is exclusive: lls would not be there anymore when it was taken out. */
static void demux_alone(const struct upi_link *l, struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	struct xk_stage *to = up->rep->vp->stage, *was;

	xk_stage_drain_up(to);
	m->u.hint = upi_vp(up->rep->vp)->scratch;
	was = xk_stage_switch(to);
	upi_next_demux(l, up, lls, m);
	xk_stage_switch(was);
}

static void layers_demux(const struct upi_link *l, struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	struct xk_stage *to = up->rep->vp->stage;

	if (xk_stage_here() == to)
		upi_next_demux(l, up, lls, m);
	else if (xk_vp_self->stage->direct == lls)
		demux_alone(l, up, lls, m);
	else
		xk_stage_put(to, m, lls);
}

/* From now on what s passes up is not queued; NULL: all is.  Returns what held before. */
static const void *direct(const void *s)
{
	struct xk_stage *me = xk_vp_self->stage;
	const void *was = me->direct;

	if (s != NULL)
		xk_stage_exclusive();
	me->direct = s;
	return was;
}

/* A session that nobody holds is closed when its message has been passed up, so it waits for that. */
static void layers_pop(const struct upi_link *l, struct xk_sess *s, struct xk_sess *lls, struct xk_msg *m, void *hdr)
{
	if (XK_UNLIKELY(s->rcnt == 1)) {
		const void *was = direct(s);

		upi_next_pop(l, s, lls, m, hdr);
		(void)direct(was);
		return;
	}
	upi_next_pop(l, s, lls, m, hdr);
}

/* The operation of the set: what is left of the way is within l's layer. */
static void layers_hop(struct xk_stage *l, struct xk_msg *m, void *of, bool up)
{
	struct xk_sess *s = of;
	const struct upi_link *at;
	struct xk_up *to;

	if (!up) {
		upi_next_push(&s->rep->node->edge->at[UPI_ABOVE][UPI_AT_LAYERS], s, m);
		return;
	}
	to = s->up;
	at = &to->rep->node->edge->at[UPI_BELOW][UPI_AT_LAYERS];
	if (XK_UNLIKELY(to->rep->vp->stage != l)) {     /* another layer has taken the session over */
		layers_demux(at, to, s, m);
		return;
	}
	m->u.hint = upi_vp(l->vp)->scratch;
	upi_next_demux(at, to, s, m);
}

/* ---- structure ---------------------------------------------------------------------------- */

/* May a question be answered whoever runs? */
static bool constant(unsigned op)
{
	switch (op) {
	case XK_CTL_GETMYHOST:
	case XK_CTL_GETPEERHOST:
	case XK_CTL_GETMYPORT:
	case XK_CTL_GETPEERPORT:
	case XK_CTL_GETMYPROTO:
	case XK_CTL_GETMYMAC:
	case XK_CTL_ISLOCAL:
	case XK_CTL_LINK_TYPE:
	case XK_CTL_HEADER_SUM:
		return true;
	default:
		return false;
	}
}

/* Messages that go the same way come first. */
static void drain_before(const struct upi_call *c, struct xk_stage *to)
{
	switch (c->what) {
	case UPI_OPEN:
	case UPI_CLOSE:
	case UPI_SESS_CONTROL:
		xk_stage_drain_down(to);
		break;
	case UPI_CLOSE_DONE:
		xk_stage_drain_up(to);
		break;
	case UPI_CONTROL:
		if (c->op == XK_CTL_STREAM_EVENT)
			xk_stage_drain_up(to);
		break;
	default:
		break;
	}
}

/* From another layer: exclusively. */
static const void *layers_call(const struct upi_call *c)
{
	struct xk_stage *to = c->r->vp->stage, *here;

	if (c->what == UPI_PASS)
		return direct(c->s);
	if (xk_vp_self == NULL || ((c->what == UPI_CONTROL || c->what == UPI_SESS_CONTROL) && constant(c->op)))
		return NULL;
	here = xk_stage_here();
	if (here == to)
		return here;
	xk_stage_exclusive();
	drain_before(c, to);
	return xk_stage_switch(to);
}

static void layers_back(const struct upi_call *c, const void *was)
{
	if (c->what == UPI_PASS)
		(void)direct(was);
	else if (was != NULL)
		xk_stage_switch((struct xk_stage *)(uintptr_t)was);
}

static void layers_change(const struct xk_node *n)
{
	(void)n;
	if (xk_vp_self != NULL)
		xk_stage_exclusive();
}

static void layers_end(const struct xk_sess *s)
{
	xk_stage_exclusive();
	(void)xk_stage_purge(s->rep->vp->stage->pipeline, s);
}

static bool layers_named(const struct xk_sess *s)
{
	return xk_stage_names(s->rep->vp->stage->pipeline, s);
}

/* Holding a session of another layer changes what its own layer counts in. */
static void layers_hold(const struct xk_sess *s)
{
	if (xk_stage_here() != s->rep->vp->stage)
		xk_stage_exclusive();
}

static const struct xk_hook layers = {
	.name = "layers", .push = layers_push, .pop = layers_pop, .demux = layers_demux,
	.call = layers_call, .back = layers_back, .change = layers_change, .hold = layers_hold, .end = layers_end,
	.named = layers_named,
};

/* ---- where it stands ------------------------------------------------------------------- */

static int cross(struct xk_node *n, struct xk_node *below, struct xk_errs *e)
{
	if (hands_on(n)) {
		xk_errs_add(e, n->file, n->line, 0, "%s: belongs to the layer of %s, over which it lies", n->name, below->name);
		return XK_E_INVAL;
	}
	for (; has_none(below); below = below->down[0])
		;
	upi_hook_attach(below, UPI_ABOVE, UPI_AT_LAYERS, &layers);
	upi_hook_attach(n, UPI_BELOW, UPI_AT_LAYERS, &layers);
	return XK_OK;
}

int upi_layers_attach(struct xk_graph *g, struct xk_errs *e)
{
	g->vps->hop = layers_hop;
	for (unsigned i = 0; i < g->nnodes; i++) {
		struct xk_node *n = g->node[i];
		int err = node_layer(g, n, e);

		upi_hook_attach(n, UPI_CALLS, UPI_AT_LAYERS, &layers);
		for (unsigned k = 0; err == XK_OK && k < n->ndown; k++)
			if (n->down[k]->layer != n->layer)
				err = cross(n, n->down[k], e);
		if (err != XK_OK)
			return err;
	}
	return XK_OK;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upi_layers.c - layer parallelism: what is called within a layer and what is handed over
 * between two.
 *
 * A layer is a group of nodes; each of their replicas lives in that layer's stage of its
 * pipeline (xk_stage.h).  A message that is pushed, or passed up, from one layer to another goes
 * into the queue between the two stages and the same function of the protocol runs when it is
 * taken out; within a layer it is called as ever.  This is done by interposed functions: a
 * session's push, a replica's demux, the pop of a session; protocols know nothing of it.
 * Everything else that reaches into another layer (open, close, control, open_done, close_done,
 * a session that ends) is called at once, but exclusively in the pipeline, after the messages that are
 * under way the same way and would have been before it.
 * What only asks for what never changes is answered without any of this.
 * Hints do not cross: a layer finds its sessions by the last one met, or by its map.
 * Invariant: a message in a queue names a session that has not ended.
 */
#include "runtime/upi/upi_priv.h"

#include <string.h>

/* ---- which node is in which layer -------------------------------------------------- */

/* Do its sessions receive through a function of their own, which cannot be interposed?  Then it
 * belongs to the layer of what is below it. */
static bool has_own_self(const struct xk_node *n)
{
	return n->proto->as_below || n->proto->ops->frames_self;
}

/* Where n belongs by what it offers: device and link, network, transport, all above. */
static unsigned usual_layer(const struct xk_node *n)
{
	static const struct { const char *word; unsigned layer; } of[] = {
		{ "frame", 0 }, { "link", 0 }, { "hostlink", 0 }, { "host", 1 }, { "port", 2 }, { "stream", 2 },
	};

	if (has_own_self(n))
		return 0;                /* no higher than what is below */
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

int upi_layers_assign(struct xk_graph *g, struct xk_errs *e)
{
	for (unsigned i = 0; i < g->nnodes; i++) {
		struct xk_node *n = g->node[i];
		int err = node_layer(g, n, e);

		if (err != XK_OK)
			return err;
		for (unsigned k = 0; k < n->ndown; k++)
			if (n->down[k]->layer != n->layer) {
				if (has_own_self(n)) {
					xk_errs_add(e, n->file, n->line, 0, "%s: belongs to the layer of %s, over which it lies",
						    n->name, n->down[k]->name);
					return XK_E_INVAL;
				}
				n->down[k]->crossed_above = n->crossed_below = true;
			}
	}
	return XK_OK;
}

struct xk_vp *upi_vp_for(const struct xk_node *n, unsigned vp)
{
	const struct xk_vpset *set = n->graph->vps;

	return set->pipeline == NULL ? set->vp[vp] : set->pipeline[vp].stage[n->layer]->vp;
}

/* ---- messages ------------------------------------------------------------------------- */

/* What the session's own push comes to in its layer: a capture first, where there is one. */
static void push_here(struct xk_sess *s, struct xk_msg *m)
{
	upi_capture_push(s, m);
	upi_own_push(s, m);
}

void upi_layer_push(struct xk_sess *s, struct xk_msg *m)
{
	struct xk_stage *to = s->rep->vp->stage;

	if (xk_stage_here() == to)
		push_here(s, m);
	else
		xk_stage_put(to, m, s);
}

/* At once, by the stage that is exclusive: lls would not be there anymore when it was taken out. */
static void demux_alone(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	struct xk_stage *to = up->rep->vp->stage, *was;

	xk_stage_drain_up(to);
	m->u.hint = upi_vp(up->rep->vp)->scratch;
	was = xk_stage_switch(to);
	upi_demux_here(up, lls, m);
	xk_stage_switch(was);
}

void upi_layer_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	struct xk_stage *to = up->rep->vp->stage;

	if (xk_stage_here() == to)
		upi_demux_here(up, lls, m);
	else if (xk_vp_self->stage->direct == lls)
		demux_alone(up, lls, m);
	else
		xk_stage_put(to, m, lls);
}

/* A session that nobody holds is closed when its message has been passed up, so it waits for that. */
void upi_layer_pop(struct xk_sess *s, struct xk_sess *lls, struct xk_msg *m, void *hdr)
{
	xk_pop_fn pop = s->rep->node->proto->ops->pop;

	if (XK_UNLIKELY(s->rcnt == 1)) {
		const void *was = upi_layer_direct(s);

		pop(s, lls, m, hdr);
		upi_layer_direct(was);
		return;
	}
	pop(s, lls, m, hdr);
}

const void *upi_layer_direct(const void *s)
{
	struct xk_stage *me = xk_vp_self->stage;
	const void *was = me->direct;

	if (s != NULL)
		xk_stage_exclusive();
	me->direct = s;
	return was;
}

/* The operation of the set: a message has arrived. */
void upi_layer_hop(struct xk_stage *l, struct xk_msg *m, void *of, bool up)
{
	struct xk_sess *s = of;
	struct xk_up *to;

	if (!up) {
		push_here(s, m);
		return;
	}
	to = s->up;
	if (XK_UNLIKELY(to->rep->vp->stage != l)) {     /* another layer has taken the session over */
		upi_layer_demux(to, s, m);
		return;
	}
	m->u.hint = upi_vp(l->vp)->scratch;
	upi_demux_here(to, s, m);
}

/* ---- structure ---------------------------------------------------------------------------- */

struct xk_stage *upi_layer_call(const struct xk_rep *r, enum upi_layer_way way)
{
	struct xk_stage *to = r->vp->stage, *here;

	if (xk_vp_self == NULL || to == NULL)
		return NULL;
	here = xk_stage_here();
	if (here == to)
		return here;
	xk_stage_exclusive();
	if (way == UPI_LAYER_DOWN)
		xk_stage_drain_down(to);
	else if (way == UPI_LAYER_UP)
		xk_stage_drain_up(to);
	return xk_stage_switch(to);
}

void upi_layer_return(struct xk_stage *was)
{
	if (was != NULL)
		xk_stage_switch(was);
}

void upi_layer_alone(const struct xk_rep *r)
{
	if (r->vp->stage != NULL && xk_vp_self != NULL)
		xk_stage_exclusive();
}

void upi_layer_end(const struct xk_sess *s)
{
	const struct xk_stage *l = s->rep->vp->stage;

	if (l == NULL)
		return;
	xk_stage_exclusive();
	(void)xk_stage_purge(l->pipeline, s);
}

bool upi_layer_names(const struct xk_sess *s)
{
	const struct xk_stage *l = s->rep->vp->stage;

	return l != NULL && xk_stage_names(l->pipeline, s);
}

/* Holding a session of another layer changes what its own layer counts in. */
void xk_dup_layers(struct xk_sess *s)
{
	if (s->rep->vp->stage != NULL && xk_stage_here() != s->rep->vp->stage)
		xk_stage_exclusive();
}

bool upi_layer_constant(unsigned op)
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

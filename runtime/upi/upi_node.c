/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upi_node.c - a node and its replicas by themselves: made and freed, whatever graph they are in and however far it is.
 *
 * Invariant: a replica has memory of its own, which shares lines with nobody, or lies in memory that others may read.
 */
#include "runtime/mem/xk_shared.h"
#include "runtime/upi/upi_priv.h"
#include "runtime/upi/xk_change.h"

#include <stdio.h>
#include <string.h>

/* ---- nodes --------------------------------------------------------------------------- */

unsigned xk_graph_slots(const struct xk_graph *g)
{
	return g->nslots > g->nnodes ? g->nslots : g->nnodes;
}

struct xk_node *xk_graph_slot(const struct xk_graph *g, unsigned i)
{
	return g->node[i] != NULL && !g->node[i]->gone ? g->node[i] : NULL;
}

void upi_node_free(struct xk_node *n)
{
	if (n == NULL)
		return;
	if (n->conf != NULL && n->proto->params != NULL)
		xk_param_release(n->proto->params, n->conf);
	xk_free(n->conf);
	xk_free(n->state);
	xk_free((char *)(uintptr_t)n->name);
	xk_free((char *)(uintptr_t)n->file);
	xk_free(n->pattern);
	xk_free(n->rep);
	upi_locks_free(n);
	xk_free(n->edge);
	xk_free(n);
}

struct xk_node *upi_node_new(struct xk_graph *g, const struct xk_proto *p, const char *name, const char *file)
{
	struct xk_node *n = xk_alloc(sizeof *n);

	if (n == NULL)
		return NULL;
	n->proto = p;
	n->graph = g;
	n->name = xk_strdup(name);
	n->file = file ? xk_strdup(file) : NULL;
	n->rep = xk_alloc(g->vps->nvps * sizeof *n->rep);
	n->state = xk_alloc(p->node_size ? p->node_size : 1);
	n->log.name = n->name;
	n->log.level = XK_LOG_DEFAULT;
	if (upi_edge_make(n) != XK_OK || n->name == NULL || n->rep == NULL || n->state == NULL || (file != NULL && n->file == NULL)) {
		upi_node_free(n);
		return NULL;
	}
	return n;
}

/* ---- replicas ---------------------------------------------------------------------- */

/* Is a replica to have its own configuration, so that it can be changed inside its VP alone? */
static bool owns_conf(const struct xk_node *n)
{
	if ((n->graph->vps->shared == NULL && !n->late) || n->conf == NULL)
		return false;
	for (const struct xk_param *p = n->proto->params; p != NULL && p->name != NULL; p++)
		if (p->flags & XK_PF_LIVE)
			return true;
	return false;
}

int xk_rep_set(struct xk_rep *r, const struct xk_param *p, const void *conf, char *why, size_t n)
{
	const struct xk_ops *ops = r->node->proto->ops;
	int err;

	if (r->conf == r->node->conf) {
		snprintf(why, n, "cannot be set: this system has no memory to share");
		return XK_E_NOTSUP;
	}
	err = ops->rep_set != NULL ? ops->rep_set(r, p, conf, why, n) : XK_OK;
	if (err == XK_OK)
		xk_param_copy(p, r->conf, conf);
	return err;
}

int upi_rep_new(struct xk_node *n, struct xk_vp *vp)
{
	const struct xk_proto *p = n->proto;
	size_t state = XK_WHOLE_LINES(p->rep_size), conf = owns_conf(n) ? XK_WHOLE_LINES(p->conf_size) : 0;
	size_t size = sizeof(struct upi_rep) + state + conf;
	struct xk_shared *shared = vp->set->shared;
	struct xk_slab one;
	struct upi_rep *u;
	struct xk_rep *r;

	/* Replica and its state share lines with nobody: they come from a slab. */
	xk_slab_init(&one, size);
	u = shared != NULL ? xk_shared_get(shared, size, false) : xk_slab_get(&one);
	if (u == NULL) {
		xk_slab_fini(&one);
		return XK_E_NOMEM;
	}
	r = &u->r;
	r->up.demux = upi_demux_of(n, upi_own_demux(n));
	r->up.rep = r;
	r->node = n;
	r->ops = p->ops;
	r->vp = vp;
	r->no = vp->no;
	r->wheel = &vp->wheel;
	r->conf = n->conf;
	if (conf != 0)
		r->conf = memcpy((char *)(u + 1) + state, n->conf, p->conf_size);
	r->state = u + 1;
	u->home = one;
	u->size = size;
	for (unsigned i = 0; i < n->ndown; i++)
		r->down[i] = n->down[i]->rep[vp->no];
	xk_map_init(&r->active, offsetof(struct xk_sess, map));
	xk_slab_init(&u->slab, p->sess_size ? p->sess_size : sizeof(struct xk_sess));
	n->rep[vp->no] = r;
	if (n->late)
		return XK_OK;            /* workers run: what they warm stays as it is */
	xk_vp_warm(vp, r);
	xk_vp_warm(vp, &r->npush);
	xk_vp_warm(vp, r->count);
	xk_vp_warm(vp, r->state);
	return XK_OK;
}

static int leaked_visit(struct xk_mapnode *node, void *arg)
{
	(void)node;
	(void)arg;
	return XK_MAP_REMOVE;
}

uint64_t upi_rep_free(struct xk_rep *r)
{
	struct upi_rep *u = upi_rep(r);
	uint64_t leaked = u->slab.live;
	struct xk_slab home;

	if (leaked != 0)
		xk_map_foreach(&r->active, leaked_visit, NULL);
	xk_map_fini(&r->active);
	u->slab.live = 0;
	xk_slab_fini(&u->slab);
	home = u->home;
	if (home.live != 0)
		xk_slab_put(&home, r);
	else if (r->node->late)          /* else it goes with the graph, for who counts what the run did */
		xk_shared_put(r->vp->set->shared, u, u->size);
	xk_slab_fini(&home);
	return leaked;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upi_enable.c - enables: who wants the first message of an unknown peer.
 *
 * One passive map per node, shared by all VPs: written under the graph's
 * structure lock, read under RCU by any VP in its unit of work.
 */
#include "runtime/upi/upi_priv.h"

static struct xk_enable *find(struct xk_node *n, const struct xk_key *k)
{
	struct xk_mapnode *node = xk_passive_resolve(&n->passive, k);

	return node ? xk_container_of(node, struct xk_enable, map) : NULL;
}

/* A session is going to be made of it, over one that must not end meanwhile. */
struct xk_enable *xk_enable_find(struct xk_node *n, const struct xk_key *k)
{
	upi_change(n);
	return find(n, k);
}

static int bind_locked(struct xk_node *n, const struct xk_key *k, struct xk_node *rcv, struct xk_node *type)
{
	struct xk_enable *e = find(n, k);
	int err;

	if (e != NULL) {
		if (e->rcv != rcv || e->type != type)
			return XK_E_ADDRINUSE;
		e->rcnt++;
		return XK_OK;
	}
	e = xk_slab_get(&n->enables);
	if (e == NULL)
		return XK_E_NOMEM;
	e->map.key = *k;
	e->rcv = rcv;
	e->type = type;
	e->node = n;
	e->rcnt = 1;
	err = xk_passive_bind(&n->passive, &e->map);
	if (err != XK_OK)
		xk_slab_put(&n->enables, e);
	return err;
}

int xk_enable_bind(struct xk_node *n, const struct xk_key *k, struct xk_node *rcv, struct xk_node *type)
{
	int err;

	XK_MUTEX_SCOPE(&n->graph->structure);
	xk_rcu_read_lock();
	err = bind_locked(n, k, rcv, type);
	xk_rcu_read_unlock();
	return err;
}

static void enable_free(void *arg)
{
	struct xk_enable *e = arg;
	struct xk_graph *g = e->node->graph;

	XK_MUTEX_SCOPE(&g->structure);
	xk_slab_put(&e->node->enables, e);
}

static void enable_gone(struct xk_enable *e)
{
	xk_passive_unbind(&e->node->passive, &e->map);
	xk_rcu_free(&e->rcu, enable_free, e);
}

int xk_enable_unbind(struct xk_node *n, const struct xk_key *k, struct xk_node *rcv, struct xk_node *type)
{
	struct xk_enable *e;
	int err = XK_OK;

	XK_MUTEX_SCOPE(&n->graph->structure);
	xk_rcu_read_lock();
	e = find(n, k);
	if (e == NULL || e->rcv != rcv || e->type != type)
		err = XK_E_NOENT;
	else if (--e->rcnt == 0)
		enable_gone(e);
	xk_rcu_read_unlock();
	return err;
}

struct sweep { struct xk_node *rcv; struct xk_enable *one; };

static int sweep_visit(struct xk_mapnode *node, void *arg)
{
	struct sweep *s = arg;
	struct xk_enable *e = xk_container_of(node, struct xk_enable, map);

	if (e->rcv != s->rcv)
		return XK_MAP_KEEP;
	s->one = e;
	return XK_MAP_STOP;
}

void xk_enable_unbind_all(struct xk_node *n, struct xk_node *rcv)
{
	struct sweep s = { .rcv = rcv };

	XK_MUTEX_SCOPE(&n->graph->structure);
	do {
		s.one = NULL;
		xk_passive_foreach(&n->passive, sweep_visit, &s);
		if (s.one != NULL)
			enable_gone(s.one);
	} while (s.one != NULL);
}

void xk_structure_lock(struct xk_node *n)
{
	xk_mutex_lock(&n->graph->structure);
}

void xk_structure_unlock(struct xk_node *n)
{
	xk_mutex_unlock(&n->graph->structure);
}

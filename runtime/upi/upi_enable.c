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
	if (err != XK_OK) {
		xk_slab_put(&n->enables, e);
		return err;
	}
	e->next = rcv->wants;
	e->at = &rcv->wants;
	if (e->next != NULL)
		e->next->at = &e->next;
	rcv->wants = e;
	return XK_OK;
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
	*e->at = e->next;
	if (e->next != NULL)
		e->next->at = e->at;
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

void xk_enable_unbind_all(struct xk_node *n, struct xk_node *rcv)
{
	XK_MUTEX_SCOPE(&n->graph->structure);
	for (struct xk_enable *e = rcv->wants, *next; e != NULL; e = next) {
		next = e->next;
		if (e->node == n)
			enable_gone(e);
	}
}

void xk_structure_lock(struct xk_node *n)
{
	xk_mutex_lock(&n->graph->structure);
}

void xk_structure_unlock(struct xk_node *n)
{
	xk_mutex_unlock(&n->graph->structure);
}

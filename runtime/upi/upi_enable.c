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

static void list_out(struct xk_enable *e)
{
	*e->at = e->next;
	if (e->next != NULL)
		e->next->at = e->at;
}

static void list_in(struct xk_enable *e, struct xk_node *rcv)
{
	e->next = rcv->wants;
	e->at = &rcv->wants;
	if (e->next != NULL)
		e->next->at = &e->next;
	rcv->wants = e;
}

void upi_enable_move_locked(struct xk_enable *e, struct xk_node *rcv)
{
	list_out(e);
	list_in(e, rcv);
	xk_store_release(&e->rcv, rcv);
}

/* ---- one application in another's place ------------------------------------------------ */

static bool takes(const struct xk_node *now, const struct xk_node *was)
{
	return now == was || (was->going && !now->going);
}

/* e is of those who go, of one of them at least: rcv and type have it from now on, once, and it never ceased to be. */
static bool take_over(struct xk_enable *e, struct xk_node *rcv, struct xk_node *type)
{
	if ((e->rcv == rcv && e->type == type) || !takes(rcv, e->rcv) || !takes(type, e->type))
		return false;
	e->was_rcv = e->rcv;
	e->was_type = e->type;
	e->was_rcnt = e->rcnt;
	e->rcnt = 1;
	xk_store_release(&e->type, type);
	if (e->rcv != rcv)
		upi_enable_move_locked(e, rcv);
	return true;
}

/* Those that came stay not: e is again of those that it was of. */
static bool give_back(struct xk_enable *e)
{
	if (e->was_type == NULL)
		return false;
	xk_store_release(&e->type, e->was_type);
	if (e->rcv != e->was_rcv)
		upi_enable_move_locked(e, e->was_rcv);
	e->was_rcv = e->was_type = NULL;
	e->rcnt = e->was_rcnt;
	return true;
}

void upi_enable_keep(struct xk_node *n)
{
	XK_MUTEX_SCOPE(&n->graph->structure);
	for (struct xk_enable *e = n->wants; e != NULL; e = e->next)
		e->was_rcv = e->was_type = NULL;
}

/* ---- bind and unbind -------------------------------------------------------------------- */

static int bind_locked(struct xk_node *n, const struct xk_key *k, struct xk_node *rcv, struct xk_node *type)
{
	struct xk_enable *e = find(n, k);
	int err;

	if (e != NULL) {
		if (take_over(e, rcv, type))
			return XK_OK;
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
	list_in(e, rcv);
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
	if (give_back(e))
		return;
	list_out(e);
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

int xk_enable_unbind_type(struct xk_node *n, struct xk_node *rcv, struct xk_node *type)
{
	XK_MUTEX_SCOPE(&n->graph->structure);
	for (struct xk_enable *e = rcv->wants; e != NULL; e = e->next) {
		if (e->node != n || e->type != type)
			continue;
		if (--e->rcnt == 0)
			enable_gone(e);
		return XK_OK;
	}
	return XK_E_NOENT;
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

void xk_binding_begin(struct xk_node *n)
{
	xk_lock_rw.rdlock(&n->graph->binding);
}

void xk_binding_end(struct xk_node *n)
{
	xk_lock_rw.rdunlock(&n->graph->binding);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upi_hook_locks.c - a hook that locks the objects of each layer, its map and its sessions, for
 * those who pass messages up beside each other (object_locks = "layer").
 *
 * Salehi and others (1995, 2.2), Locking: in each layer a lookup in the active map finds the
 * message's session, and that is counted in; so the map has a lock and each session has one.
 * Replicas are their VP's alone, so what is locked here is what the replicas of a node have in
 * common: one map of the keys under which any of them has a session, and for each key one
 * record.  As a message leaves a layer upwards, the record of its session is looked up under the
 * map's lock, and counts the message under its own: two locks a layer, never both at a time.
 * A connection has had its two by then, the table's and its VP's (vp_handoff.c).
 * Sending takes none: no map is looked into on the way down and nobody is counted (section 6).
 * Nor does a layer that tells no sessions apart by a header of its own.
 *
 *                  lock of the map   of the record
 *   bind, unbind          x
 *   pass up               x                x          one after the other
 * Invariant: a key is in the map while a replica has a session bound under it.
 */
#include "runtime/upi/upi_hook_locks.h"

#include "runtime/upi/upi_priv.h"

static struct upi_lock_stats *stats_of(const struct xk_sess *s)
{
	return &s->rep->node->edge->locks->by[s->rep->vp->no];
}

/* ---- sessions come and go ------------------------------------------------------------ */

static struct upi_object *find_locked(struct upi_locks *o, const struct xk_key *k)
{
	struct xk_mapnode *n = xk_map_resolve(&o->map, k);

	return n != NULL ? xk_container_of(n, struct upi_object, map) : NULL;
}

static void drop_locked(struct upi_locks *o, struct upi_object *x)
{
	if (o->found == x)
		o->found = NULL;
	o->policy->fini(&x->lock);
	xk_slab_put(&o->slab, x);
	xk_store_relaxed(&o->live, o->slab.live);
}

static struct upi_object *new_locked(struct upi_locks *o, const struct xk_key *k)
{
	struct upi_object *x = xk_slab_get(&o->slab);

	if (x == NULL)
		return NULL;
	o->policy->init(&x->lock);
	x->map.key = *k;
	if (xk_map_bind(&o->map, &x->map) != XK_OK) {
		drop_locked(o, x);
		return NULL;
	}
	xk_store_relaxed(&o->live, o->slab.live);
	return x;
}

static int locks_bind(const struct xk_sess *s)
{
	struct upi_locks *o = s->rep->node->edge->locks;
	struct upi_object *x;

	if (!o->keeps)
		return XK_OK;
	xk_lock_take(o->policy, &o->lock, &stats_of(s)->map);
	x = find_locked(o, &s->map.key);
	if (x == NULL)
		x = new_locked(o, &s->map.key);
	if (x != NULL)
		x->held++;
	xk_lock_drop(o->policy, &o->lock, &stats_of(s)->map);
	return x != NULL ? XK_OK : XK_E_NOMEM;
}

static void locks_unbind(const struct xk_sess *s)
{
	struct upi_locks *o = s->rep->node->edge->locks;
	struct upi_object *x;

	if (!o->keeps)
		return;
	xk_lock_take(o->policy, &o->lock, &stats_of(s)->map);
	x = find_locked(o, &s->map.key);
	xk_assert(x != NULL && x->held != 0);
	if (--x->held == 0) {
		xk_map_unbind(&o->map, &x->map);
		drop_locked(o, x);
	}
	xk_lock_drop(o->policy, &o->lock, &stats_of(s)->map);
}

/* ---- messages ---------------------------------------------------------------------------- */

/* With the map's lock. */
static void count_found(struct upi_locks *o, struct upi_lock_stats *st, const struct upi_object *x, uint16_t by)
{
	if (o->found_by != by && o->found_by != 0)
		xk_count(st->map_moves);
	if (o->found != x)
		xk_count(st->map_misses);
	o->found_by = by;
	o->found = x;
}

/* A message leaves s upwards.  The record stays when the map's lock is given back: s holds it. */
static void pass(const struct xk_sess *s)
{
	struct upi_locks *o = s->rep->node->edge->locks;
	uint16_t by = (uint16_t)(s->rep->vp->no + 1);
	struct upi_lock_stats *st;
	struct upi_object *x;

	if (!o->keeps || !s->map.bound || s->flow != 0)
		return;
	st = stats_of(s);
	xk_lock_take(o->policy, &o->lock, &st->map);
	x = find_locked(o, &s->map.key);
	xk_assert(x != NULL);
	count_found(o, st, x, by);
	xk_lock_drop(o->policy, &o->lock, &st->map);
	xk_lock_take(o->policy, &x->lock, &st->session);
	xk_count(x->passed);
	if (x->by != by && x->by != 0)
		xk_count(st->session_moves);
	x->by = by;
	xk_lock_drop(o->policy, &x->lock, &st->session);
}

static void locks_demux(const struct upi_link *l, struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	pass(lls);
	upi_next_demux(l, up, lls, m);
}

static const struct xk_hook locks = {
	.name = "locks", .demux = locks_demux, .bind = locks_bind, .unbind = locks_unbind,
};

/* ---- life -------------------------------------------------------------------------------- */

static int locks_new(struct xk_node *n)
{
	const struct xk_vpset *set = n->graph->vps;
	const struct xk_demux *header = n->proto->demux;
	struct upi_locks *o = xk_alloc(sizeof *o);

	if (o == NULL)
		return XK_E_NOMEM;
	o->by = xk_alloc(set->nvps * sizeof *o->by);
	if (o->by == NULL) {
		xk_free(o);
		return XK_E_NOMEM;
	}
	o->nvps = set->nvps;
	for (unsigned v = 0; v < o->nvps; v++)
		o->by[v].map.untimed = o->by[v].session.untimed = set->arch.lock_untimed;
	o->keeps = header != NULL && !header->through;
	o->policy = set->arch.lock;
	o->policy->init(&o->lock);
	xk_map_init(&o->map, offsetof(struct upi_object, map));
	xk_slab_init(&o->slab, sizeof(struct upi_object));
	n->edge->locks = o;
	upi_hook_attach(n, UPI_CALLS, UPI_AT_LOCKS, &locks);
	if (n->ndown != 0)
		upi_hook_attach(n, UPI_BELOW, UPI_AT_LOCKS, &locks);
	return XK_OK;
}

int upi_locks_attach(struct xk_graph *g)
{
	int err = XK_OK;

	for (unsigned i = 0; err == XK_OK && i < g->nnodes; i++)
		err = locks_new(g->node[i]);
	return err;
}

static int leaked_visit(struct xk_mapnode *node, void *arg)
{
	const struct upi_locks *o = arg;

	o->policy->fini(&xk_container_of(node, struct upi_object, map)->lock);
	return XK_MAP_REMOVE;
}

/* Of sessions that nobody closed, which are counted where they are found, records are left. */
void upi_locks_free(struct xk_node *n)
{
	struct upi_locks *o = n->edge != NULL ? n->edge->locks : NULL;

	if (o == NULL)
		return;
	xk_map_foreach(&o->map, leaked_visit, o);
	xk_map_fini(&o->map);
	o->slab.live = 0;
	xk_slab_fini(&o->slab);
	o->policy->fini(&o->lock);
	xk_free(o->by);
	xk_free(o);
	n->edge->locks = NULL;
}

void xk_objects_read(const struct xk_node *n, struct xk_object_locks *out)
{
	const struct upi_locks *o = n->edge->locks;
	struct xk_lock_counts c;

	*out = (struct xk_object_locks){ 0 };
	if (o == NULL || !o->keeps)
		return;
	out->maps = 1;
	out->sessions = xk_load_relaxed(&o->live);
	for (unsigned v = 0; v < o->nvps; v++) {
		xk_lockstat_read(&o->by[v].map, &c);
		xk_lock_counts_add(&out->map, &c, 1);
		xk_lockstat_read(&o->by[v].session, &c);
		xk_lock_counts_add(&out->session, &c, 1);
		out->map_moves += xk_counter_read(o->by[v].map_moves);
		out->session_moves += xk_counter_read(o->by[v].session_moves);
		out->map_misses += xk_counter_read(o->by[v].map_misses);
	}
}

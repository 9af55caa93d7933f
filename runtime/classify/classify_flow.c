/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * classify_flow.c - the exact connections of a graph, for all its edges.
 *
 * A tagged table of flows, read under RCU.  A flow that is unbound waits out a
 * grace period before it can be bound again, so a reader never compares with a
 * key that is being written, and never returns to the allocator before the
 * table goes, so its generation outlives every message that carries it.  One
 * grace period at a time serves all flows unbound meanwhile.
 * Invariant: a flow is in the table (generation even) or in exactly one of the
 * lists free, unbound, waiting (odd, or fresh and never bound).
 */
#include "runtime/base/xk_wide.h"
#include "runtime/classify/classify_priv.h"

#define BUCKETS_MIN 16u

static struct xk_flow *flow_ptr(uint32_t h)
{
	return (struct xk_flow *)xk_slab_ptr(h);
}

static void version_free(void *arg)
{
	struct flow_version *v = arg;

	xk_table_fini(&v->tab);
	xk_free(v);
}

int xk_flowtab_new(struct xk_flowtab **out, unsigned nvps)
{
	struct xk_flowtab *t = xk_alloc(sizeof(*t));
	struct flow_version *v = xk_alloc(sizeof(*v));

	xk_assert(nvps > 0 && nvps <= XK_VP_MAX);
	*out = NULL;
	if (t == NULL || v == NULL ||
	    xk_table_init(&v->tab, BUCKETS_MIN, offsetof(struct xk_flow, node), true) != XK_OK) {
		xk_free(v);
		xk_free(t);
		return XK_E_NOMEM;
	}
	t->cur = v;
	t->nvps = nvps;
	xk_lock_adaptive.init(&t->lock);
	xk_slab_init(&t->slab, sizeof(struct xk_flow));
	*out = t;
	return XK_OK;
}

static bool flowtab_waits(struct xk_flowtab *t)
{
	bool waits;

	xk_lock_adaptive.lock(&t->lock);
	waits = t->waiting != 0;
	xk_lock_adaptive.unlock(&t->lock);
	return waits;
}

void xk_flowtab_free(struct xk_flowtab *t)
{
	if (t == NULL)
		return;
	xk_assert(t->cur->tab.n == 0);
	do
		xk_rcu_barrier();        /* also for tables that were replaced */
	while (flowtab_waits(t));
	while (t->free != 0) {
		struct xk_flow *f = flow_ptr(t->free);

		t->free = f->next;
		xk_slab_put(&t->slab, f);
	}
	xk_slab_fini(&t->slab);
	xk_lock_adaptive.fini(&t->lock);
	version_free(t->cur);
	xk_free(t);
}

/* ---- flows that nobody can see any more ------------------------------------- */

static void flow_grace(struct xk_flowtab *t);

static void flow_reclaim(void *arg)
{
	struct xk_flowtab *t = arg;

	/* All at once: whoever binds waits for the lock, and this thread is none that uses them. */
	xk_lock_adaptive.lock(&t->lock);
	t->waiting_end->next = t->free;
	t->free = t->waiting;
	t->waiting = 0;
	flow_grace(t);
	xk_lock_adaptive.unlock(&t->lock);
}

/* Starts a grace period for what is unbound, unless one runs already. */
static void flow_grace(struct xk_flowtab *t)
{
	if (t->waiting != 0 || t->unbound == 0)
		return;
	t->waiting = t->unbound;
	t->waiting_end = t->unbound_end;
	t->unbound = 0;
	xk_rcu_free(&t->rcu, flow_reclaim, t);
}

/* ---- bind and unbind ------------------------------------------------------------ */

static struct xk_flow *flow_take(struct xk_flowtab *t)
{
	struct xk_flow *f;

	if (t->free == 0)
		return xk_slab_get(&t->slab);
	f = flow_ptr(t->free);
	t->free = f->next;
	return f;
}

/* The stores are atomic only because late readers of the generation and of tags
 * that lied look at free flows too. */
static void flow_fill(struct xk_flow *f, const struct xk_key *k, uint32_t hash, uint16_t vp, struct xk_sess *none)
{
	xk_store_relaxed(&f->node.key.w[0], k->w[0]);
	xk_store_relaxed(&f->node.key.w[1], k->w[1]);
	f->node.hash = hash;
	XK_UNROLL
	for (unsigned i = 0; i < XK_ARRAY_LEN(f->sess); i++)
		xk_store_relaxed(&f->sess[i], none);
	xk_store_relaxed(&f->vp, vp);
	f->post = 0;
	xk_store_relaxed(&f->gen, (uint16_t)((f->gen + 1u) & ~1u));
}

/* When memory for a larger table is short the present one must do. */
static void flowtab_grow(struct xk_flowtab *t)
{
	struct flow_version *old = t->cur, *v;

	if (!xk_table_full(&old->tab))
		return;
	v = xk_alloc(sizeof(*v));
	if (v == NULL || xk_table_grow(&old->tab, &v->tab) != XK_OK) {
		xk_free(v);
		return;
	}
	xk_rcu_assign(t->cur, v);
	xk_rcu_free(&old->rcu, version_free, old);
}

/* ---- watches ------------------------------------------------------------------------ */

/* Tells of f where its hash alone would not send its frames to its VP. */
static void flow_tell(struct xk_flow_watch *w, const struct xk_flowtab *t, const struct xk_flow *f, bool bound)
{
	struct xk_flowkey k;

	if (w == NULL || f->vp == flow_home(t, f->node.hash))
		return;
	memcpy(&k, &f->node.key, sizeof(k));
	for (; w != NULL; w = w->next)
		if (bound)
			w->bound(w, &k, f->vp);
		else
			w->unbound(w, &k);
}

struct introduce { struct xk_flowtab *t; struct xk_flow_watch *w; };

static int introduce_flow(struct xk_mapnode *n, void *arg)
{
	const struct introduce *i = arg;

	flow_tell(i->w, i->t, xk_container_of(n, struct xk_flow, node), true);
	return XK_MAP_KEEP;
}

void xk_flowtab_watch(struct xk_flowtab *t, struct xk_flow_watch *w)
{
	struct introduce i = { t, w };

	w->next = NULL;
	xk_lock_adaptive.lock(&t->lock);
	xk_table_walk(&t->cur->tab, introduce_flow, &i);
	w->next = t->watch;
	t->watch = w;
	xk_lock_adaptive.unlock(&t->lock);
}

void xk_flowtab_unwatch(struct xk_flowtab *t, struct xk_flow_watch *w)
{
	struct xk_flow_watch **at;

	xk_lock_adaptive.lock(&t->lock);
	for (at = &t->watch; *at != w; at = &(*at)->next)
		xk_assert(*at != NULL);
	*at = w->next;
	xk_lock_adaptive.unlock(&t->lock);
}

/* ---- bind and unbind: the calls ------------------------------------------------------- */

static int flow_bind_locked(struct xk_flowtab *t, const struct xk_key *k, uint16_t vp,
			    struct xk_sess *none, struct xk_flow **out)
{
	uint32_t hash = flow_hash(k);
	struct xk_flow *f;

	if (xk_table_find(&t->cur->tab, hash, k) != NULL)
		return XK_E_EXIST;
	f = flow_take(t);
	if (f == NULL)
		return XK_E_NOMEM;
	flow_fill(f, k, hash, vp, none);
	flowtab_grow(t);
	if (xk_table_put(&t->cur->tab, &f->node) != XK_OK) {
		xk_store_relaxed(&f->gen, (uint16_t)(f->gen | 1u));
		f->next = t->free;
		t->free = xk_slab_handle(f);
		return XK_E_NOMEM;
	}
	f->node.bound = 1;
	xk_store_relaxed(&t->n, t->cur->tab.n);
	flow_tell(t->watch, t, f, true);
	*out = f;
	return XK_OK;
}

int xk_flow_bind(struct xk_flowtab *t, const struct xk_flowkey *k, uint16_t vp,
		 struct xk_sess *none, struct xk_flow **f)
{
	struct xk_key key = flow_key(k);
	int err;

	xk_assert(vp < XK_VP_MAX);       /* also one that no connection is mapped to */
	*f = NULL;
	xk_lock_adaptive.lock(&t->lock);
	err = flow_bind_locked(t, &key, vp, none, f);
	xk_lock_adaptive.unlock(&t->lock);
	return err;
}

void xk_flow_unbind(struct xk_flowtab *t, struct xk_flow *f)
{
	xk_lock_adaptive.lock(&t->lock);
	xk_assert(f->node.bound);
	xk_table_del(&t->cur->tab, &f->node);
	f->node.bound = 0;
	flow_tell(t->watch, t, f, false);
	xk_store_relaxed(&t->n, t->cur->tab.n);
	xk_store_relaxed(&f->gen, (uint16_t)(f->gen + 1u));
	f->next = t->unbound;
	if (t->unbound == 0)
		t->unbound_end = f;
	t->unbound = xk_slab_handle(f);
	flow_grace(t);
	xk_lock_adaptive.unlock(&t->lock);
}

void xk_flow_fetch(const struct xk_flowtab *t, const struct xk_flow *f)
{
	xk_table_fetch(xk_table_home(flow_table(t), f->node.hash));
}

/* ---- questions -------------------------------------------------------------------- */

uint32_t xk_flowtab_count(const struct xk_flowtab *t)
{
	return xk_load_relaxed(&t->n);
}

struct xk_flow *xk_flow_find(const struct xk_flowtab *t, const struct xk_flowkey *k)
{
	struct xk_key key = flow_key(k);
	struct xk_mapnode *n = xk_table_find(flow_table(t), flow_hash(&key), &key);

	return n != NULL ? xk_container_of(n, struct xk_flow, node) : NULL;
}

uint32_t xk_flow_hash(const struct xk_flowkey *k)
{
	struct xk_key key = flow_key(k);

	return flow_hash(&key);
}

uint16_t xk_flow_home(const struct xk_flowtab *t, const struct xk_flowkey *k)
{
	return flow_home(t, xk_flow_hash(k));
}

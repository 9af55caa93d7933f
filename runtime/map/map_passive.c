/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * map_passive.c - passive maps: few keys, bound by the control side, read by
 * every virtual processor without a lock.
 *
 * An open-addressed array of node pointers under linear probing.  What is
 * unbound leaves a tombstone, so a probe that is under way never ends early and
 * nothing moves within an array; a fuller array is published whole and the old
 * one freed when its readers have left.
 * Invariant: at least half of an array's slots are NULL.
 */
#include "runtime/map/xk_passive.h"
#include "runtime/mem/xk_mem.h"

#define SLOTS_MIN 8u

struct slots {
	struct xk_rcu_head rcu;
	uint32_t mask, used;         /* slots - 1; nodes and tombstones */
	struct xk_mapnode *node[];
};

/* Marks a slot that was left; never compared. */
static struct xk_mapnode tombstone;

struct xk_pmap_priv {
	struct slots   *slots;       /* published by xk_rcu_assign */
	struct xk_mutex lock;        /* bind, unbind, foreach; nests in nothing */
	uint32_t        n;
};

static struct slots *slots_new(uint32_t n)
{
	struct slots *s = xk_alloc(sizeof(*s) + n * sizeof(s->node[0]));

	if (s != NULL)
		s->mask = n - 1;
	return s;
}

int xk_passive_init(struct xk_passive *m)
{
	struct xk_pmap_priv *p = xk_alloc(sizeof(*p));

	m->p = NULL;
	if (p == NULL)
		return XK_E_NOMEM;
	p->slots = slots_new(SLOTS_MIN);
	if (p->slots == NULL) {
		xk_free(p);
		return XK_E_NOMEM;
	}
	xk_mutex_init(&p->lock);
	m->p = p;
	return XK_OK;
}

void xk_passive_fini(struct xk_passive *m)
{
	struct xk_pmap_priv *p = m->p;

	if (p == NULL)
		return;
	xk_assert(p->n == 0);
	xk_mutex_fini(&p->lock);
	xk_free(p->slots);
	xk_free(p);
	m->p = NULL;
}

static bool node_is(const struct xk_mapnode *n, uint32_t hash, const struct xk_key *k)
{
	return n != &tombstone && n->hash == hash && xk_key_eq(&n->key, k);
}

/* Each slot is loaded once: it may be left or taken the next moment. */
struct xk_mapnode *xk_passive_resolve(const struct xk_passive *m, const struct xk_key *k)
{
	struct slots *s = xk_rcu_dereference(m->p->slots);
	uint32_t hash = xk_key_hash(k);

	for (uint32_t i = hash;; i++) {
		struct xk_mapnode *n = xk_load_acquire(&s->node[i & s->mask]);

		if (n == NULL || node_is(n, hash, k))
			return n;
	}
}

/* For the writer: the slot of a key, or the NULL slot that ends its probe. */
static struct xk_mapnode **slots_find(struct slots *s, uint32_t hash, const struct xk_key *k)
{
	uint32_t i = hash;

	while (s->node[i & s->mask] != NULL && !node_is(s->node[i & s->mask], hash, k))
		i++;
	return &s->node[i & s->mask];
}

/* A fresh array with room for one more than there are, without tombstones. */
static int passive_renew(struct xk_pmap_priv *p)
{
	struct slots *old = p->slots, *s;
	uint32_t size = SLOTS_MIN;

	while (size < (p->n + 1) * 4)
		size *= 2;
	s = slots_new(size);
	if (s == NULL)
		return XK_E_NOMEM;
	for (uint32_t i = 0; i <= old->mask; i++) {
		struct xk_mapnode *n = old->node[i];

		if (n == NULL || n == &tombstone)
			continue;
		*slots_find(s, n->hash, &n->key) = n;
		s->used++;
	}
	xk_rcu_assign(p->slots, s);
	xk_rcu_free(&old->rcu, xk_free, old);
	return XK_OK;
}

int xk_passive_bind(struct xk_passive *m, struct xk_mapnode *node)
{
	struct xk_pmap_priv *p = m->p;
	struct xk_mapnode **slot;

	xk_assert(!node->bound);
	node->hash = xk_key_hash(&node->key);
	XK_MUTEX_SCOPE(&p->lock);
	slot = slots_find(p->slots, node->hash, &node->key);
	if (*slot != NULL)
		return XK_E_EXIST;
	if ((p->slots->used + 1) * 2 > p->slots->mask + 1) {
		if (passive_renew(p) != XK_OK)
			return XK_E_NOMEM;
		slot = slots_find(p->slots, node->hash, &node->key);
	}
	node->bound = 1;
	xk_store_release(slot, node);
	p->slots->used++;
	xk_store_relaxed(&p->n, p->n + 1);
	return XK_OK;
}

static void passive_clear_locked(struct xk_pmap_priv *p, struct xk_mapnode **slot)
{
	(*slot)->bound = 0;
	xk_store_release(slot, &tombstone);
	xk_store_relaxed(&p->n, p->n - 1);
}

void xk_passive_unbind(struct xk_passive *m, struct xk_mapnode *node)
{
	struct xk_mapnode **slot;

	XK_MUTEX_SCOPE(&m->p->lock);
	slot = slots_find(m->p->slots, node->hash, &node->key);
	xk_assert(*slot == node);
	passive_clear_locked(m->p, slot);
}

void xk_passive_foreach(struct xk_passive *m, xk_map_fn fn, void *arg)
{
	struct slots *s;
	int act = XK_MAP_KEEP;

	XK_MUTEX_SCOPE(&m->p->lock);
	s = m->p->slots;
	for (uint32_t i = 0; i <= s->mask && act != XK_MAP_STOP; i++) {
		if (s->node[i] == NULL || s->node[i] == &tombstone)
			continue;
		act = fn(s->node[i], arg);
		if (act == XK_MAP_REMOVE)
			passive_clear_locked(m->p, &s->node[i]);
	}
}

uint32_t xk_passive_count(const struct xk_passive *m)
{
	return xk_load_relaxed(&m->p->n);
}

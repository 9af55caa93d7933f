/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * map_active.c - active maps: a virtual processor's own keys and sessions.
 *
 * A tagged table with the last node found in front of it.  It doubles at 81 %
 * in one go, reading no node; when that memory is not to be had it goes on
 * until no place is left.  Invariant: `last` is NULL or bound in this map.
 */
#include "runtime/map/xk_map.h"
#include "runtime/map/xk_table.h"

#define BULK 32u

void xk_map_init(struct xk_map *m, ptrdiff_t node_off)
{
	xk_assert(node_off >= 0 && node_off <= INT32_MAX);
	*m = (struct xk_map){ .tab = { .off = (int32_t)node_off } };
}

void xk_map_fini(struct xk_map *m)
{
	xk_assert(m->tab.n == 0 && m->tab.visiting == 0);
	xk_table_fini(&m->tab);
	m->last = NULL;
}

/* False only when there is no table at all. */
static bool map_grow(struct xk_map *m)
{
	struct xk_table bigger;

	if (m->tab.bucket == NULL)
		return xk_table_init(&m->tab, 1, m->tab.off, false) == XK_OK;
	if (m->tab.visiting == 0 && xk_table_double(&m->tab, &bigger) == XK_OK) {
		xk_table_fini(&m->tab);
		m->tab = bigger;
	}
	return true;
}

int xk_map_bind(struct xk_map *m, struct xk_mapnode *node)
{
	xk_assert(!node->bound);
	node->hash = xk_hash_key(&node->key);
	if (m->tab.bucket != NULL && xk_table_find(&m->tab, node->hash, &node->key) != NULL)
		return XK_E_EXIST;
	if ((m->tab.bucket == NULL || xk_table_full(&m->tab)) && !map_grow(m))
		return XK_E_NOMEM;
	if (xk_table_put(&m->tab, node) != XK_OK)
		return XK_E_NOMEM;
	node->bound = 1;
	return XK_OK;
}

void xk_map_unbind(struct xk_map *m, struct xk_mapnode *node)
{
	xk_assert(node->bound);
	if (m->last == node)
		m->last = NULL;
	xk_table_del(&m->tab, node);
	node->bound = 0;
}

struct xk_mapnode *xk_map_lookup(struct xk_map *m, const struct xk_key *k)
{
	struct xk_mapnode *n;

	if (m->tab.bucket == NULL)
		return NULL;
	n = xk_table_find(&m->tab, xk_hash_key(k), k);
	if (n != NULL)
		m->last = n;
	return n;
}

/*
 * Three sweeps over the keys, so that up to 32 misses are under way at once:
 * the bucket's line, then the line of the first node whose tag fits, then the
 * compare.  A tag that lied is looked up the plain way.
 */
void xk_map_resolve_bulk(struct xk_map *m, const struct xk_key *k, unsigned n, struct xk_mapnode **out)
{
	uint32_t hash[BULK];
	unsigned i;

	xk_assert(n <= BULK);
	xk_count_add(m->lookup, n);
	for (i = 0; i < n; i++)
		out[i] = NULL;
	if (m->tab.bucket == NULL)
		return;
	for (i = 0; i < n; i++) {
		hash[i] = xk_hash_key(&k[i]);
		__builtin_prefetch(xk_table_home(&m->tab, hash[i]));
	}
	for (i = 0; i < n; i++) {
		const struct xk_bucket *b = xk_table_home(&m->tab, hash[i]);
		unsigned fit = xk_bucket_match(b, xk_table_tag(hash[i]));

		if (XK_LIKELY(fit != 0)) {
			out[i] = xk_table_node(&m->tab, b->h[__builtin_ctz(fit)]);
			__builtin_prefetch(out[i]);
		}
	}
	for (i = 0; i < n; i++)
		if (XK_UNLIKELY(out[i] == NULL || !xk_key_eq(&out[i]->key, &k[i])))
			out[i] = xk_table_find(&m->tab, hash[i], &k[i]);
}

struct visit { struct xk_map *m; xk_map_fn fn; void *arg; };

static int map_visit(struct xk_mapnode *node, void *arg)
{
	struct visit *v = arg;
	int act = v->fn(node, v->arg);

	if (act == XK_MAP_REMOVE)
		xk_map_unbind(v->m, node);
	return act;
}

void xk_map_foreach(struct xk_map *m, xk_map_fn fn, void *arg)
{
	struct visit v = { m, fn, arg };

	xk_table_walk(&m->tab, map_visit, &v);
}

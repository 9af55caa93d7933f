/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * map_active.c - active maps: a virtual processor's own keys and sessions.
 *
 * A tagged table with the last node found in front of it.  It grows at 81 %
 * in one go, reading no node; when that memory is not to be had it goes on
 * until no place is left.  Invariant: `last` is NULL or bound in this map.
 */
#include "runtime/map/xk_map.h"
#include "runtime/map/xk_table.h"

#include <string.h>

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
	if (m->tab.visiting == 0 && xk_table_grow(&m->tab, &bigger) == XK_OK) {
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

void xk_map_fetch(const struct xk_map *m, const struct xk_mapnode *node)
{
	xk_table_fetch(xk_table_home(&m->tab, node->hash));
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

/* Keys that may lie away from home: looks there, a sweep of its own. */
static void bulk_away(const struct xk_table *t, const struct xk_key *k, const uint32_t *hash,
		      const uint8_t *away, unsigned n, struct xk_mapnode **out)
{
	for (; n > 0; n--, away++) {
		uint32_t h = hash[*away];
		uint16_t tag = xk_table_tag(h);
		const struct xk_bucket *b = &t->bucket[xk_table_other(t, xk_hash_part(h, t->buckets), tag)];
		unsigned fit = xk_bucket_match(b, tag);

		if (XK_LIKELY(fit != 0)) {
			out[*away] = xk_table_node(t, b->h[__builtin_ctz(fit)]);
			xk_table_fetch(out[*away]);
		} else {
			out[*away] = xk_table_find_over(t, h, &k[*away]);
		}
	}
}

/* From the keys' buckets to nodes whose tag fits, and fetches those; NULL: none. */
static void bulk_aim(const struct xk_table *t, const struct xk_key *k, const uint32_t *hash, unsigned n,
		     struct xk_mapnode **out)
{
	uint8_t away[BULK];
	unsigned naway = 0;

	for (unsigned i = 0; i < n; i++) {
		const struct xk_bucket *b = xk_table_home(t, hash[i]);
		uint16_t tag = xk_table_tag(hash[i]);
		unsigned fit = xk_bucket_match(b, tag);

		out[i] = NULL;
		if (XK_LIKELY(fit != 0)) {
			out[i] = xk_table_node(t, b->h[__builtin_ctz(fit)]);
			xk_table_fetch(out[i]);
		} else if (b->over != 0) {
			xk_table_fetch(&t->bucket[xk_table_other(t, xk_hash_part(hash[i], t->buckets), tag)]);
			away[naway++] = (uint8_t)i;
		}
	}
	bulk_away(t, k, hash, away, naway, out);
}

/*
 * Sweeps over the keys, so that up to 32 misses are under way at once: the
 * bucket's line, then the line of the first node whose tag fits (or first the
 * other bucket's, where some of the bucket's own live elsewhere), then the
 * compare.  A tag that lied is looked up the plain way.
 */
void xk_map_resolve_bulk(struct xk_map *m, const struct xk_key *k, unsigned n, struct xk_mapnode **out)
{
	const struct xk_table t = m->tab;     /* stores to out[] cannot change it */
	uint32_t hash[BULK];

	xk_assert(n <= BULK);
	xk_count_add(m->lookup, n);
	if (t.bucket == NULL) {
		memset(out, 0, n * sizeof(*out));
		return;
	}
	for (unsigned i = 0; i < n; i++) {
		hash[i] = xk_hash_key(&k[i]);
		xk_table_fetch(xk_table_home(&t, hash[i]));
	}
	bulk_aim(&t, k, hash, n, out);
	for (unsigned i = 0; i < n; i++)
		if (XK_UNLIKELY(out[i] != NULL && !xk_key_eq(&out[i]->key, &k[i])))
			out[i] = xk_table_find(&t, hash[i], &k[i]);
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

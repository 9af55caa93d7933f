/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_map.h - from key to session: active maps (one per VP, no lock), passive
 * maps (shared, read under RCU).
 *
 * Buckets are one cache line: eight 16-bit tags compared at once, eight 32-bit
 * slab handles of nodes.  The key lies in the node, which is embedded in the
 * session, so a map costs about ten bytes per entry.  Nodes of an active map
 * must lie in objects of an xk_slab.
 *
 *  active map:  every operation by the owner VP only.
 *  passive map:             resolve   bind   unbind   foreach
 *     resolve (RCU reader)     -        -       -        -
 *     bind                     -        -       -        -      (own mutex)
 *     unbind                   -        -       -        -      (own mutex)
 */
#ifndef XK_MAP_H
#define XK_MAP_H

#include "runtime/base/xk_base.h"
#include "runtime/sync/xk_sync.h"

struct xk_key { uint64_t w[2]; };

static inline bool xk_key_eq(const struct xk_key *a, const struct xk_key *b)
{
	return ((a->w[0] ^ b->w[0]) | (a->w[1] ^ b->w[1])) == 0;
}
/* 32-bit hash of a key (CRC-32C), the same on every machine. */
uint32_t xk_key_hash(const struct xk_key *k);

/* Embedded in the mapped object.  Never moves while bound. */
struct xk_mapnode {
	struct xk_key key;
	uint32_t      hash;
	uint32_t      bound;    /* 1 while in a map */
};

struct xk_bucket;
struct xk_stash;
/* The tagged hash table beneath active maps and flow tables (xk_table.h). */
struct xk_table {
	struct xk_bucket *bucket;
	struct xk_stash  *stash;       /* what no bucket would take; NULL: nothing */
	uint32_t          mask;        /* buckets - 1 */
	uint32_t          n;           /* entries */
	int32_t           off;         /* from a slab object's start to its node */
	uint16_t          visiting;    /* walks in progress: nothing may move */
	bool              shared;      /* readers on other threads, under RCU */
};

struct xk_map {
	struct xk_mapnode *last;       /* one-entry cache; NULL when invalid */
	xk_counter         hit, lookup; /* one-entry cache hits; all resolves */
	struct xk_table    tab;
};

static inline uint32_t xk_map_count(const struct xk_map *m) { return m->tab.n; }

/* Empty map; the first bucket array is made on the first bind. */
void xk_map_init(struct xk_map *m, ptrdiff_t node_off);
void xk_map_fini(struct xk_map *m);              /* must be empty */
/* XK_E_EXIST when the key is bound to another node; XK_E_NOMEM. */
int  xk_map_bind(struct xk_map *m, struct xk_mapnode *node);
void xk_map_unbind(struct xk_map *m, struct xk_mapnode *node);
struct xk_mapnode *xk_map_lookup(struct xk_map *m, const struct xk_key *k);

/* The bound node or NULL.  Tries the last one first. */
static inline struct xk_mapnode *xk_map_resolve(struct xk_map *m, const struct xk_key *k)
{
	struct xk_mapnode *l = m->last;

	xk_count(m->lookup);
	if (XK_LIKELY(l != NULL) && xk_key_eq(&l->key, k)) {
		xk_count(m->hit);
		return l;
	}
	return xk_map_lookup(m, k);
}
/* n <= 32 keys at once: hash all, prefetch all, probe all; out[i] or NULL. */
void xk_map_resolve_bulk(struct xk_map *m, const struct xk_key *k, unsigned n, struct xk_mapnode **out);

/* Return values of a visitor. */
#define XK_MAP_KEEP   0
#define XK_MAP_REMOVE 1    /* unbind the visited node */
#define XK_MAP_STOP   2
/*
 * Visits every node that stays bound during the walk exactly once.  The visitor
 * may unbind any node of the map (and bind new ones, which may or may not be
 * visited).  XK_MAP_REMOVE is the way to unbind the visited one.
 */
typedef int (*xk_map_fn)(struct xk_mapnode *node, void *arg);
void xk_map_foreach(struct xk_map *m, xk_map_fn fn, void *arg);

/* ---- passive maps --------------------------------------------------------- */

struct xk_pmap_priv;
struct xk_passive { struct xk_pmap_priv *p; };
/* Nodes may lie anywhere: passive maps point at them. */
int  xk_passive_init(struct xk_passive *m);
/* Must be empty, nobody inside. */
void xk_passive_fini(struct xk_passive *m);
/* The node is found by readers as soon as this returns. */
int  xk_passive_bind(struct xk_passive *m, struct xk_mapnode *node);
/* Readers may still hold the node: free it through xk_rcu_free. */
void xk_passive_unbind(struct xk_passive *m, struct xk_mapnode *node);
/* Inside an RCU read section (every VP's unit of work is one). */
struct xk_mapnode *xk_passive_resolve(const struct xk_passive *m, const struct xk_key *k);
/* Under the map's mutex: the visitor must not bind or unbind by itself. */
void xk_passive_foreach(struct xk_passive *m, xk_map_fn fn, void *arg);
uint32_t xk_passive_count(const struct xk_passive *m);

#endif

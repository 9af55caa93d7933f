/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_map.h - from key to session: active maps, one per VP, without a lock.
 *
 * Buckets are one cache line: eight 16-bit tags compared at once, eight 32-bit
 * slab handles of nodes.  The key lies in the node, which is embedded in the
 * session, so a map costs ten to fifteen bytes per entry.  Nodes of an active map
 * must lie in objects of an xk_slab.
 * Every operation is by the owner VP only; what all VPs look up is in xk_passive.h.
 */
#ifndef XK_MAP_H
#define XK_MAP_H

#include "runtime/base/xk_base.h"

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
	uint32_t          buckets;
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
void xk_map_fetch(const struct xk_map *m, const struct xk_mapnode *node);  /* asks for the line that this touches */
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

#endif

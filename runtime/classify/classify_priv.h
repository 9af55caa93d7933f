/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * classify_priv.h - what the flow table and the back ends share.
 *
 * Invariant: a flow's node.hash is flow_hash of its key.
 */
#ifndef CLASSIFY_PRIV_H
#define CLASSIFY_PRIV_H

#include "runtime/classify/xk_classify.h"
#include "runtime/map/xk_table.h"

#include <string.h>

/* What readers use; replaced whole when it doubles. */
struct flow_version {
	struct xk_table    tab;
	struct xk_rcu_head rcu;
};

struct xk_flowtab {
	struct flow_version *cur;        /* published by xk_rcu_assign */
	uint32_t             nvps;
	uint32_t             n;          /* flows bound, for who asks */
	/* Writers only, under lock, which nests in nothing. */
	struct xk_mutex      lock;
	struct xk_slab       slab;
	uint32_t             free;       /* flows by handle, linked by next */
	uint32_t             unbound;    /* may still be seen by readers */
	uint32_t             waiting;    /* the same, their grace period runs */
	struct xk_rcu_head   rcu;        /* of `waiting` */
};

extern const struct xk_classifier_ops classify_native;

static inline struct xk_key flow_key(const struct xk_flowkey *k)
{
	struct xk_key key;

	memcpy(&key, k, sizeof(key));
	return key;
}

static inline uint32_t flow_nonzero(uint32_t hash)
{
	return hash + (hash == 0);
}

/*
 * The two ends (address, port) in order of size, so that both directions of a
 * connection hash alike.  Neither a sum nor a difference of the ends will do:
 * ends that use equal ports would all collide.
 */
static inline uint32_t flow_hash(const struct xk_key *key)
{
	struct xk_flowkey k;
	uint64_t a, b, low, high;

	memcpy(&k, key, sizeof(k));
	a = k.raddr | (uint64_t)k.rport << 32;
	b = k.laddr | (uint64_t)k.lport << 32;
	low = a < b ? a : b;            /* no branch: it would be a coin toss */
	high = a < b ? b : a;
	return flow_nonzero(xk_hash_pair(low, high));
}

/* Spreads hashes evenly; 0 stays on VP 0. */
static inline uint16_t flow_home(const struct xk_flowtab *t, uint32_t hash)
{
	return (uint16_t)((uint64_t)hash * t->nvps >> 32);
}

static inline const struct xk_table *flow_table(const struct xk_flowtab *t)
{
	return &xk_rcu_dereference(t->cur)->tab;
}

#endif

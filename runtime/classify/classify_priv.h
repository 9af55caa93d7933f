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

#include <endian.h>
#include <string.h>

/* What readers use; replaced whole when it grows. */
struct flow_version {
	struct xk_table    tab;
	struct xk_rcu_head rcu;
};

struct xk_flowtab {
	struct flow_version *cur;        /* published by xk_rcu_assign */
	uint32_t             nvps;
	uint32_t             n;          /* flows bound, for who asks */
	struct xk_flow_watch *watch;     /* who is told of flows away from home; under lock */
	/* Writers only, under lock (adaptive), which nests in nothing. */
	struct xk_lock       lock;
	struct xk_slab       slab;
	uint32_t             free;       /* flows by handle, linked by next */
	uint32_t             unbound;    /* may still be seen by readers */
	uint32_t             waiting;    /* the same, their grace period runs */
	struct xk_flow      *unbound_end, *waiting_end; /* the first that came, last in its list */
	struct xk_rcu_head   rcu;        /* of `waiting` */
};

/* Back ends; classify_make.c has the table. */
extern const struct xk_classifier_ops classify_native, classify_cbpf, classify_ebpf;

static inline struct xk_key flow_key(const struct xk_flowkey *k)
{
	struct xk_key key;

	memcpy(&key, k, sizeof(key));
	return key;
}

/* Hash of a key whose members lie as in struct xk_flowkey. */
static inline uint32_t flow_hash(const struct xk_key *key)
{
	/* Addresses, ports and selector lie one behind the other: two swaps are enough. */
	uint64_t addrs = be64toh(key->w[0]), rest = be64toh(key->w[1]);

	return xk_hash_ends((uint32_t)(addrs >> 32), (uint32_t)(rest >> 48), (uint32_t)addrs,
			    (uint32_t)(rest >> 32) & 0xffff, (uint32_t)rest);
}

/* Spreads hashes evenly; 0 stays on VP 0. */
static inline uint16_t flow_home(const struct xk_flowtab *t, uint32_t hash)
{
	return xk_hash_vp(hash, t->nvps);
}

static inline const struct xk_table *flow_table(const struct xk_flowtab *t)
{
	return &xk_rcu_dereference(t->cur)->tab;
}

#endif

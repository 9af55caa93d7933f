/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upi_hook_locks.h - the locks of a layer's objects, for upi_hook_locks.c and its test.
 */
#ifndef XK_UPI_HOOK_LOCKS_H
#define XK_UPI_HOOK_LOCKS_H

#include "runtime/upi/upi_hook.h"

/* What all replicas' sessions under one key share. */
struct upi_object {
	struct xk_mapnode map;
	uint32_t          held;          /* sessions; under the map's lock */
	struct xk_lock    lock XK_ALIGNED;   /* guards passed and by; innermost */
	uint16_t          by;            /* who passed the last one, a VP's number + 1 */
	uint64_t          passed;        /* messages that went up through them */
} XK_ALIGNED;
/* Of one VP, by who is inside. */
struct upi_lock_stats {
	struct xk_lockstat map, session;
	xk_counter map_moves, session_moves, map_misses;   /* see xk_object_locks */
	char apart[XK_CACHELINE];
};
/* What a node's replicas share. */
struct upi_locks {
	const struct xk_lock_ops *policy;
	struct upi_lock_stats     *by;            /* [nvps] */
	unsigned          nvps;
	bool              keeps;         /* tells sessions apart by a header of its own */
	char              apart[XK_CACHELINE];
	struct xk_lock    lock;          /* guards all down to live, and what is held; innermost */
	struct xk_map     map;
	const struct upi_object *found;  /* last */
	uint16_t          found_by;      /* a VP's number + 1 */
	struct xk_slab    slab;
	uint32_t          live;          /* records; read by anybody */
	char              apart_too[XK_CACHELINE];
};

#endif

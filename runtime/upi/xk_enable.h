/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_enable.h - enables: the passive side that most protocols share.
 *
 * A protocol with a header binds who waits for messages under a key; all VPs look it up when a
 * message belongs to no session.  Binding is the control thread's.
 */
#ifndef XK_ENABLE_H
#define XK_ENABLE_H

#include "runtime/sync/xk_sync.h"
#include "runtime/upi/xk_proto.h"

struct xk_enable {
	struct xk_mapnode  map;
	struct xk_node    *rcv, *type;
	uint32_t           rcnt, was_rcnt;
	struct xk_rcu_head rcu;
	struct xk_node    *node;
	struct xk_enable  *next, **at;    /* of all of rcv's; what points here */
	struct xk_node    *was_rcv, *was_type; /* while a graph changes: whose it was, was_rcnt times; NULL: nobody else's */
};
/* Who gets what comes of it, and as whose: they may change while it is read (xk_change.h). */
static inline struct xk_node *xk_enable_rcv(const struct xk_enable *e) { return xk_load_relaxed(&e->rcv); }
static inline struct xk_node *xk_enable_type(const struct xk_enable *e) { return xk_load_relaxed(&e->type); }
/* Same key and receivers: counted again; different receivers: XK_E_ADDRINUSE. */
int  xk_enable_bind(struct xk_node *n, const struct xk_key *k, struct xk_node *rcv, struct xk_node *type);
int  xk_enable_unbind(struct xk_node *n, const struct xk_key *k, struct xk_node *rcv, struct xk_node *type);
/* One of rcv's of this type, whatever its key. */
int  xk_enable_unbind_type(struct xk_node *n, struct xk_node *rcv, struct xk_node *type);
void xk_enable_unbind_all(struct xk_node *n, struct xk_node *rcv);
/* Valid until the end of the unit of work (an RCU read section). */
struct xk_enable *xk_enable_find(struct xk_node *n, const struct xk_key *k);

/* Around a change of what all VPs of n's graph read, besides: one changes at a time. */
void xk_structure_lock(struct xk_node *n);
void xk_structure_unlock(struct xk_node *n);

/* Around a call into a VP that enables or disables while n's graph runs, outside all VPs: the graph does not change
 * meanwhile (xk_change.h).  Any number of threads at a time; does not nest.  Who answers XK_CTL_MOVE and has threads
 * of its own or of a program does so with each. */
void xk_binding_begin(struct xk_node *n);
void xk_binding_end(struct xk_node *n);

#endif

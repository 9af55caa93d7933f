/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_passive.h - from key to what waits under it, for all VPs: maps read under RCU.
 *
 *                            resolve   bind   unbind   foreach
 *     resolve (RCU reader)     -        -       -        -
 *     bind                     -        -       -        -      (own mutex)
 *     unbind                   -        -       -        -      (own mutex)
 */
#ifndef XK_PASSIVE_H
#define XK_PASSIVE_H

#include "runtime/map/xk_map.h"

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

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_vps.h - the virtual processors of a node's graph, for protocols that reach others than their own.
 *
 * An ordinary protocol needs none of it: what it is given is on its own VP.  All answers stay as
 * they are once the graph is made, but of who runs it; any thread may ask.
 */
#ifndef XK_VPS_H
#define XK_VPS_H

#include "runtime/upi/xk_proto.h"
#include "runtime/vp/xk_call.h"

struct xk_vpset;

/* How many there are: n has a replica on each. */
unsigned         xk_node_nvps(const struct xk_node *n);
/* Connections are mapped to the first so many of them; others are I/O threads'. */
unsigned         xk_node_nconn(const struct xk_node *n);
/* On how many of them messages come up from devices: I/O threads, where there are any. */
unsigned         xk_node_nup(const struct xk_node *n);
/* The i-th; of a pipeline of stages, the one where applications are. */
struct xk_vp    *xk_node_vp(const struct xk_node *n, unsigned i);
/* That of connections, where there is one alone; NULL: there are more. */
struct xk_vp    *xk_node_only_vp(const struct xk_node *n);
/* The one of application connection conn. */
struct xk_vp    *xk_node_vp_of(const struct xk_node *n, uint64_t conn);
/* Does the hash of a connection's two ends say which it lives on? */
bool             xk_node_by_hash(const struct xk_node *n);
/* Is time simulated, so that runs repeat? */
bool             xk_node_simulated(const struct xk_node *n);
/* The graph's, of which all random numbers come (xk_rand.h). */
uint64_t         xk_node_seed(const struct xk_node *n);
/* Messages of a unit of work, which may change while the graph runs. */
unsigned         xk_node_burst(const struct xk_node *n);
/* Do the workers run? */
bool             xk_node_running(const struct xk_node *n);
/* All of them, for xk_outside.h. */
struct xk_vpset *xk_node_vpset(const struct xk_node *n);

#endif

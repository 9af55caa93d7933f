/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upi_vps.c - what nodes ask of the virtual processors of their graph.
 */
#include "runtime/upi/xk_vps.h"

#include "runtime/upi/xk_graph.h"

unsigned xk_node_nvps(const struct xk_node *n)
{
	return n->graph->vps->nvps;
}

unsigned xk_node_nconn(const struct xk_node *n)
{
	return n->graph->vps->nconn;
}

unsigned xk_node_nup(const struct xk_node *n)
{
	const struct xk_vpset *set = n->graph->vps;

	return set->arch.io_threads != 0 ? set->arch.io_threads : set->nconn;
}

struct xk_vp *xk_node_vp(const struct xk_node *n, unsigned i)
{
	return n->graph->vps->vp[i];
}

struct xk_vp *xk_node_only_vp(const struct xk_node *n)
{
	return n->graph->vps->nconn == 1 ? n->graph->vps->vp[0] : NULL;
}

struct xk_vp *xk_node_vp_of(const struct xk_node *n, uint64_t conn)
{
	return xk_graph_vp_of(n->graph, conn);
}

bool xk_node_by_hash(const struct xk_node *n)
{
	return n->graph->vps->arch.spread == XK_SPREAD_HASH;
}

bool xk_node_simulated(const struct xk_node *n)
{
	return n->graph->vps->clock.is_virtual;
}

uint64_t xk_node_seed(const struct xk_node *n)
{
	return n->graph->seed;
}

unsigned xk_node_burst(const struct xk_node *n)
{
	return xk_load_relaxed(&n->graph->vps->arch.burst);
}

bool xk_node_running(const struct xk_node *n)
{
	return xk_load_acquire(&n->graph->vps->running) != 0;
}

struct xk_vpset *xk_node_vpset(const struct xk_node *n)
{
	return n->graph->vps;
}

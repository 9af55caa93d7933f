/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upi_app.c - what applications answer and say, and how often they time a message.
 */
#include "runtime/upi/xk_app.h"

#include "runtime/base/xk_rand.h"
#include "runtime/upi/xk_graph.h"

int xk_app_answer(unsigned op, const struct xk_app_counts *c, void *buf, unsigned len)
{
	return op == XK_CTL_APP_COUNTS ? xk_answer(buf, len, c, sizeof *c) : XK_E_NOTSUP;
}

uint32_t xk_app_probe_gap(struct xk_rand *r)
{
	return 16 + (uint32_t)xk_rand_below(r, 32);
}

void xk_app_will_finish(struct xk_node *n)
{
	xk_graph_will_finish(n->graph);
}

void xk_app_finished(struct xk_node *n)
{
	xk_graph_finished(n->graph);
}

bool xk_app_is_here(const struct xk_rep *r, uint64_t conn)
{
	return xk_graph_vp_of(r->node->graph, conn) == r->vp;
}

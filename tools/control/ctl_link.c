/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ctl_link.c - what passes below a node, for readers of capture files.
 *
 * Frames at a driver and at what sits over one, datagrams below a protocol that offers hosts.
 */
#include "tools/control/ctl.h"
#include "runtime/classify/xk_classify.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_node.h"

/* The link of the device at the bottom: enum xk_link, or -1.  Its classifier
 * knows it, from before the first message. */
static int driver_link(const struct xk_node *n)
{
	while (n->ndown != 0 && !xk_node_is_edge(n))
		n = n->down[0];
	return n->classifier != NULL && n->link != XK_LINK_OTHER ? (int)n->link : -1;
}

int ctl_link_of(const struct xk_node *n)
{
	if (n->proto->is_driver)
		return driver_link(n);
	if (n->ndown != 0 && n->down[0]->proto->is_driver)
		return driver_link(n->down[0]);
	return xk_words_meet(n->proto->offers, "host") ? XK_LINK_RAWIP : -1;
}

bool ctl_has_frames(const struct xk_node *n)
{
	if (n->proto->is_driver)
		return !xk_words_meet(n->proto->offers, "peer"); /* its wire has them */
	return (n->ndown != 0 && n->down[0]->proto->is_driver) || xk_words_meet(n->proto->offers, "host");
}

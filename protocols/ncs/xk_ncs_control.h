/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_ncs_control.h - a flow or an error control of ncs from outside its folder, or outside the tree.
 *
 * A control is a table of pure functions (ncs_policy.h) and a node that chooses it: the node lies between ncs and an
 * interface, has no session, and passes on all that is opened through it.  In its descriptor it has NCS_CONTROL_PROTO
 * and ops of NCS_CONTROL_OPS, whose function calls ncs_control_put; nothing else of ncs has to know it.  With stages =
 * "thread" it runs on the thread of its kind: a new function is a new control thread (Park, Lee, Hariri 1998).
 *
 * A peer knows a control that is not ncs's own by its name, so both graphs have its node, and names are of at most
 * NCS_NAME_MOST bytes.  What both ends must know of its parameters is in struct ncs_agreed, where it may use any field
 * that no other control of the connection uses: flow controls flow_window, first, most, rate; error controls
 * error_window.  What a peer says there is within the bounds that ncs_policy.h says, and else anything.
 * All is called inside a virtual processor, and must not block.
 */
#ifndef XK_NCS_CONTROL_H
#define XK_NCS_CONTROL_H

#include "protocols/ncs/ncs_policy.h"
#include "runtime/upi/xk_proto.h"

#define NCS_NAME_MOST 16u

/* What a connection's two ends have agreed. */
struct ncs_choice {
	const struct ncs_flow_ops  *flow;
	const struct ncs_error_ops *error;
	struct ncs_agreed           agreed;
};

/* The node's control: asks `what` to put its table into the choice, and those below.  conf: the node's. */
int ncs_control_put(struct xk_rep *r, unsigned op, void *buf, unsigned len,
		    void (*what)(struct ncs_choice *c, const void *conf));

/* What passes through; see NCS_CONTROL_OPS. */
struct xk_sess *ncs_control_open(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type, struct xk_parts *ps, int *err);
int  ncs_control_enable(struct xk_node *n, struct xk_node *rcv, struct xk_node *type, struct xk_parts *ps);
int  ncs_control_disable(struct xk_node *n, struct xk_node *rcv, struct xk_node *type, struct xk_parts *ps);
void ncs_control_disable_all(struct xk_node *n, struct xk_node *rcv);

#define NCS_CONTROL_OPS(fn) { \
	.open = ncs_control_open, .open_enable = ncs_control_enable, .open_disable = ncs_control_disable, \
	.open_disable_all = ncs_control_disable_all, .control = (fn) }

#define NCS_CONTROL_PROTO(n) \
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = n, \
	.offers = "port|stream", .as_below = true, .needs = { "port|stream" }, .min_down = 1, .max_down = 1, \
	.anywhere = XK_ANYWHERE_AS_ABOVE

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_capture.h - looking at messages between nodes: captures, and a clock at every node.
 *
 * A graph that nobody looks at pays nothing for it.
 */
#ifndef XK_CAPTURE_H
#define XK_CAPTURE_H

#include "runtime/upi/xk_proto.h"

struct xk_graph;

/*
 * Capture: sees a copy of what passes between a node and the one below it
 * (at a driver: its frames).  Called inside a VP, on any thread.
 */
struct xk_capture {
	void (*fn)(struct xk_capture *c, xk_ns now, const struct xk_msg *m, bool down);
	struct xk_capture *next;          /* of the same node */
};
/*
 * Before the graph comes up, or while it is up, running or not: then by a thread inside no VP, which
 * may enter them (under the virtual schedule: while nobody steps them).  When detach returns, c is
 * called no more.  The latest of a node is called first.
 */
void xk_capture_attach(struct xk_node *n, struct xk_capture *c);
void xk_capture_detach(struct xk_node *n, struct xk_capture *c);

/*
 * Measures how long messages are in each node; once, before the graph comes up, and until it
 * is freed: a clock is read as each message comes and goes, so messages pass one by one and the
 * graph is slower.  XK_E_NOTSUP: with user-level threads a body may stop in its middle; XK_E_NOMEM.
 */
int  xk_graph_meter(struct xk_graph *g);
/* Of node n, over all VPs: messages that went up [0] and down [1] through it, and nanoseconds of
 * its own, what the nodes it called took and reading the clock taken away.  Legal beside the
 * workers; zeros where nothing is measured. */
struct xk_meter_counts { uint64_t n[2]; double ns[2]; };
void xk_meter_read(const struct xk_node *n, struct xk_meter_counts *out);

#endif

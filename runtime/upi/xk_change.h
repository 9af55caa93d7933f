/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_change.h - a graph is changed while it runs.
 *
 * The caller says what is wanted: the whole graph, each node with the one that it is now.  What has to be done is
 * found,
 * looked at, and done while messages pass, or nothing is.  docs/internals/apply.md has the mechanism.
 *
 *   xk_graph_change   one thread at a time, inside no VP, from xk_graph_up on until xk_graph_free; in virtual time
 *                     while nobody steps VPs.  Who tells others where counters of nodes are (xk_shared.h) tells
 *                     them anew before the next: then memory of those that have gone is got again
 */
#ifndef XK_CHANGE_H
#define XK_CHANGE_H

#include "runtime/base/xk_errs.h"
#include "runtime/upi/xk_graph.h"

/* A node that is wanted.  `is`: it is there already, and stays; NULL: it comes, in the place of another of its
 * name if there is one.  Below it are others of the list, by their numbers. */
struct xk_want {
	const struct xk_proto *proto;
	const char     *name, *file;
	int             line;
	void           *conf;             /* of one that is to come; NULL once the graph has it */
	struct xk_node *is;
	unsigned        ndown, down[XK_DOWN_MAX];
};

/*
 * w: bottom-up; nodes of the graph that are not in it go.  Errors at the places of the nodes concerned, each with
 * what to do.
 * look: says only whether it could.  XK_E_INVAL: refused, nothing was touched; another error (memory, a port in use,
 * what a
 * node's start says): all is as it was.
 */
int xk_graph_change(struct xk_graph *g, struct xk_want *w, unsigned n, bool look, struct xk_errs *e);

/* A live parameter (XK_PF_LIVE) takes p's value in conf, which passed every check: in every replica, or in none,
 * and why[len] says why.  Each VP is entered. */
int xk_node_set(struct xk_node *n, const struct xk_param *p, const void *conf, char *why, size_t len);

/* Nodes of g that are, those of its beginning and those that came later; NULL where one has gone.  i <
 * xk_graph_slots(g). */
unsigned xk_graph_slots(const struct xk_graph *g);
struct xk_node *xk_graph_slot(const struct xk_graph *g, unsigned i);

#endif

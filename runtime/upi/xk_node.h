/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_node.h - protocol objects from the inside, for who reads nodes and their places in the graph.
 *
 * For infrastructure, tools and protocols that count instructions; all others ask by xk_proto.h.
 */
#ifndef XK_NODE_H
#define XK_NODE_H

#include "runtime/base/xk_log.h"
#include "runtime/map/xk_passive.h"
#include "runtime/mem/xk_slab.h"
#include "runtime/upi/xk_proto.h"

struct xk_classifier;
struct xk_graph;
struct xk_pattern;
struct upi_edge;

struct xk_node {
	const struct xk_proto *proto;
	const char      *name;            /* unique in the graph */
	struct xk_graph *graph;
	void            *conf;            /* proto->conf_size bytes, parsed */
	void            *state;           /* proto->node_size bytes, zeroed */
	struct xk_node  *down[XK_DOWN_MAX];
	unsigned         ndown;
	struct xk_rep  **rep;             /* [nvps] */
	uint16_t         no;              /* index in the graph, bottom-up order */
	uint32_t         nth_edge;        /* so many edges have a smaller one */
	struct xk_passive passive;        /* enables */
	struct xk_slab   enables;         /* guarded by the graph's structure lock */
	struct xk_enable *wants;          /* those that it receives by, anywhere; guarded as well */
	struct xk_log    log;
	struct xk_pattern *pattern;       /* edges: what is above, as a packet filter */
	struct xk_classifier *classifier; /* edges with XK_CTL_LINK_TYPE */
	uint32_t         link;            /* enum xk_link of those */
	struct upi_edge *edge;            /* who stands between it and its neighbours (upi_hook.h) */
	bool             hooked[3];       /* below, above it, around its calls: does anybody? */
	const char      *file;            /* where the graph file made it */
	int              line;
	uint8_t          layer;           /* domain layers: 0 at the device */
	uint8_t          above;           /* upi_anywhere: what those above say */
	bool             anywhere;        /* may its datagrams be anybody's?  see enum xk_anywhere */
	const char      *failure;         /* see xk_node_failed; NULL: none */
	bool             late;            /* it came while the graph was up, */
	uint32_t         came;            /* as so manieth of those; 0: it did not */
	bool             gone;            /* it was taken out while the graph was up, of whose beginning it is: memory stays */
	uint32_t         ends;            /* an application: 1, it will finish; 2, it has */
	bool             is_short;        /* late, and lets no super-segments through (xk_graph.nshort) */
	bool             going;           /* others may take over its enables: it is to go when they have started */
};

/* The declared ones of xk_proto.h without a call. */
static inline const char *xk_node_name_inline(const struct xk_node *n) { return n->name; }
static inline const void *xk_node_conf_inline(const struct xk_node *n) { return n->conf; }
static inline void *xk_node_state_inline(const struct xk_node *n) { return n->state; }
static inline struct xk_node *xk_node_down_inline(const struct xk_node *n, unsigned i) { return n->down[i]; }
static inline unsigned xk_node_ndown_inline(const struct xk_node *n) { return n->ndown; }
static inline struct xk_log *xk_node_log_inline(struct xk_node *n) { return &n->log; }
static inline struct xk_rep *xk_rep_here_inline(const struct xk_node *n, const struct xk_rep *r)
{
	return n->rep[r->no];
}
/* What the sessions of r lie in. */
const struct xk_slab *xk_rep_slab(const struct xk_rep *r);
#define xk_node_name(n)    xk_node_name_inline(n)
#define xk_node_conf(n)    xk_node_conf_inline(n)
#define xk_node_state(n)   xk_node_state_inline(n)
#define xk_node_down(n, i) xk_node_down_inline(n, i)
#define xk_node_ndown(n)   xk_node_ndown_inline(n)
#define xk_node_log(n)     xk_node_log_inline(n)
#define xk_rep_here(n, r)  xk_rep_here_inline(n, r)

/* Inside the VP of r: r takes over p's value in conf, or says why not.  XK_E_NOTSUP: the graph
 * was made to be left as it is (struct xk_mem_conf, shared). */
int  xk_rep_set(struct xk_rep *r, const struct xk_param *p, const void *conf, char *why, size_t n);

/* What a reason is called: "no memory", ..., NULL where p has none of that number. */
const char *xk_drop_name(const struct xk_proto *p, unsigned reason);
/* Do frames enter and leave the graph at n?  It is a driver, no other driver's frames pass
 * through it, and it is no simulated peer, which stands at the far end of such a driver's wire. */
bool xk_node_is_edge(const struct xk_node *n);
/* The same as xk_node_failed, and the run is to end: what n is there for must not go on. */
void xk_node_gives_up(struct xk_node *n, const char *why);
/* Nodes of n's protocol that a node above n lies over, too: the same host's on other links.  Those that
 * came while the graph was up are left out.  How many, of most at most; all stay while the graph does. */
unsigned xk_node_beside(const struct xk_node *n, struct xk_node **out, unsigned most);
/* Why xk_node_failed was called, NULL: it was not. */
const char *xk_node_failure(const struct xk_node *n);

#endif

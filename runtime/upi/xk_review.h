/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_review.h - what can be known of a graph before it is made: its nodes with their
 * configurations, questions to those below, and what each takes for itself alone.
 *
 * A protocol's `review` is called once per node, bottom-up, when each configuration is right
 * alone and so is each edge.  Nothing has been made yet: it reads, complains of what could
 * only fail or go wrong later (xk_review_fault), and says what it will take
 * (xk_review_claim); who takes the same is told of the other.  `ask` answers those above;
 * where it is unset or says XK_E_NOTSUP the first node below is asked, as by control.
 * The numbers by which protocols are told apart in the header below, and a device's one
 * protocol above it, are claimed for every node without its doing.
 *
 * Control path, one thread.  Invariant: a review changes nothing, in the graph or outside.
 */
#ifndef XK_REVIEW_H
#define XK_REVIEW_H

#include "runtime/upi/xk_proto.h"

/* A node that is going to be made. */
struct xk_view {
	const struct xk_proto *proto;
	const char  *name, *file;
	int          line;
	const void  *conf;
	unsigned     ndown;
	const struct xk_view *down[XK_DOWN_MAX];
};

struct xk_claim_of;
struct xk_claimed;

#define REVIEW_BUCKETS 4096u
struct xk_review {
	/* Takes a complaint about v's parameter (NULL: the node); a warning refuses nothing. */
	void (*tell)(struct xk_review *r, const struct xk_view *v, const char *param, bool warning, const char *text);
	struct xk_claim_of *thing[REVIEW_BUCKETS];
	struct xk_claimed *number[REVIEW_BUCKETS];   /* those of one number alone */
	unsigned nclaims;
	bool is_virtual;                 /* its time will be simulated */
	bool no_memory;
};

/* ---- questions; besides them XK_CTL_LINK_TYPE and XK_CTL_GIVES ---------------------------- */

enum {
	XK_ASK_REACH = 900,   /* in: uint32_t IPv4; result: enum xk_reach */
	XK_ASK_SEGMENT,       /* struct xk_segment; result 1: name is set */
	XK_ASK_WORD,          /* struct xk_old_word; result 1: text is set.  v is half made: nothing is below */
	XK_ASK_PORTS,         /* result: how many ports there are to choose from, for connections to one port of one host */
};
enum xk_reach { XK_REACH_NO, XK_REACH_YES, XK_REACH_OURS, XK_REACH_ILLEGAL };
/* Which cable would frames of our address `host` go to? */
struct xk_segment { uint32_t host; char name[64]; };

/* What became of a parameter that v's protocol has no more? */
struct xk_old_word { const char *name; char text[160]; };

/* XK_E_NOTSUP: nobody knows. */
int xk_view_ask(const struct xk_view *v, unsigned op, void *buf, unsigned len);
/* Who v stands in for: what lies below those that only pass on what is offered there. */
const struct xk_view *xk_view_base(const struct xk_view *v);

/* ---- complaints and claims ---------------------------------------------------------------- */

void xk_review_fault(struct xk_review *r, const struct xk_view *v, const char *param, const char *fmt, ...)
	XK_PRINTF(4, 5);

struct xk_claim {
	const char *param;             /* what says so, for the place of a complaint; NULL: the node */
	const struct xk_view *of;      /* whose thing it is; NULL: there is one of it in the graph */
	const char *what;              /* "port", "interface" */
	const char *name;              /* of the thing, or NULL */
	uint64_t    first, n;          /* these numbers of it; n 0: all of it */
	bool        hex;               /* how they are written */
	unsigned    ends;              /* so many have it together, no more and (warned) no fewer; 0, 1: one alone */
	const char *kind;              /* those who share it must say the same; NULL: anything */
};
void xk_review_claim(struct xk_review *r, const struct xk_view *v, const struct xk_claim *c);

/* What several need: n ports from `first` on of what lies below v; that `host` can be sent to;
 * that the frames below are of this type, enum xk_link. */
void xk_review_ports(struct xk_review *r, const struct xk_view *v, const char *param, uint64_t first, uint64_t n);
void xk_review_reach(struct xk_review *r, const struct xk_view *v, const char *param, uint32_t host);
/* v opens so many connections to each of n ports of one host, in turn, from ports that are chosen for it. */
void xk_review_conns(struct xk_review *r, const struct xk_view *v, uint64_t conns, uint64_t n);
void xk_review_link(struct xk_review *r, const struct xk_view *v, uint32_t link);
/* A network interface of the kernel, all of it (n 0) or some of its queues. */
void xk_review_interface(struct xk_review *r, const struct xk_view *v, const char *ifname, const char *netns,
			 uint64_t first, uint64_t n);

/* ---- for who has the graph ------------------------------------------------------------------ */

/* Reviews n nodes, each behind those it lies over.  XK_E_NOMEM: not to the end. */
int xk_review_run(struct xk_review *r, const struct xk_view *v, unsigned n);

#endif

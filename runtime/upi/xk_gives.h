/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_gives.h - what can be counted on of what is pushed: the answer to XK_CTL_GIVES.
 *
 * A protocol that changes what lies below it says so by one function of its descriptor (gives); who
 * passes messages on says nothing.  It is asked of a replica or a session by control, and of a node that
 * is not made yet by xk_view_ask.
 * What is said holds always: a network that keeps the order mostly does not give order.
 */
#ifndef XK_GIVES_H
#define XK_GIVES_H

#include "runtime/upi/xk_proto.h"

enum {
	XK_GIVES_BOUNDARIES = 1u,  /* what was pushed as one message comes up as one */
	XK_GIVES_ORDER      = 2u,  /* of a session, in the order in which it was pushed */
	XK_GIVES_RELIABLE   = 4u,  /* once, and not less than once unless the session is told that it failed */
	XK_GIVES_SUM        = 8u,  /* as it was pushed: a sum from end to end vouches for it */
	/* Others' traffic may be on the way, so whoever sends minds congestion (RFC 2914; RFC 8085 3.1). */
	XK_GIVES_SHARED     = 16u,
	/* What goes from one station of a link to the next has a CRC, which the receiving interface checks:
	 * it says nothing of what happens in a station, nor behind it. */
	XK_GIVES_CRC        = 32u,
};
#define XK_GIVES_ALL 63u

/* What p with this configuration gives, where `below` is given below it. */
static inline uint32_t xk_proto_gives(const struct xk_proto *p, const void *conf, uint32_t below)
{
	return p->gives != NULL ? p->gives(conf, below) : below;
}
/* Name of the i-th bit, NULL behind the last. */
const char *xk_gives_name(unsigned i);
/* "boundaries, sum", "nothing"; returns buf. */
const char *xk_gives_text(uint32_t gives, char *buf, size_t n);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * burst.h - received frames on their way up, for drivers whose device may pass several as one.
 *
 * Frames are collected and passed up together; one that stands for several goes up as it is where all
 * above takes that, and else is cut.  All of it runs inside the replica's VP.
 * Invariant: what is in a burst is its own until xk_burst_up.
 */
#ifndef XK_BURST_H
#define XK_BURST_H

#include "runtime/upi/xk_proto.h"

#define XK_BURST 32u

struct xk_burst {
	struct xk_rep *rep;              /* the driver's */
	unsigned       n;
	struct xk_msg *m[XK_BURST];
};

static inline void xk_burst_begin(struct xk_burst *b, struct xk_rep *r)
{
	b->rep = r;
	b->n = 0;
}

/* Passes up what there is. */
void xk_burst_up(struct xk_burst *b);
/* One more; consumes m. */
static inline void xk_burst_add(struct xk_burst *b, struct xk_msg *m)
{
	if (XK_UNLIKELY(b->n == XK_BURST))
		xk_burst_up(b);
	b->m[b->n++] = m;
}
/* m, an Ethernet frame, as frames of seg bytes of payload and at most frame_max long; consumes it. drop:
 * the reason where it cannot be cut. */
void xk_burst_cut(struct xk_burst *b, struct xk_msg *m, uint32_t seg, uint32_t frame_max, unsigned drop);

/* Does who is above r take long frames?  Whoever knows super-segments on the way down does.  There is a
 * session (drv_sess); the answer may be kept. */
bool xk_burst_takes_long(const struct xk_rep *r);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_arrivals.h - frames that lie where their device put them, for drivers that can leave them
 * there until it is known whether somebody has posted memory for their payload (xk_ddp.h).
 */
#ifndef XK_ARRIVALS_H
#define XK_ARRIVALS_H

#include "runtime/upi/xk_ddp.h"
#include "runtime/vp/xk_vp.h"

/* A burst of them. */
struct xk_arrivals {
	/* The i-th as a message, which is the caller's; NULL: dropped and counted.  Either way
	 * the device has its memory back when it may. */
	struct xk_msg *(*take)(void *arg, unsigned i);
	/* The i-th was placed: the device may have its memory back. */
	void (*placed)(void *arg, unsigned i);
	void *arg;
};

/* Has anybody posted anything on r's VP?  Then xk_input_arrivals, else xk_input. */
static inline bool xk_posted(const struct xk_rep *r)
{
	return XK_UNLIKELY(r->vp->nposted != 0);
}

/*
 * xk_input for n <= 32 frames that are no messages yet.  Of frame[i] the driver has set data,
 * len, tot, next (NULL: it is in one piece), and flags: XK_MSG_CHAIN when it is in several,
 * XK_MSG_CSUM_OK when it vouches for the checksum.  link: bytes before the network header.
 */
void xk_input_arrivals(struct xk_rep *r, struct xk_msg *frame, unsigned n, uint32_t link, const struct xk_arrivals *a);

#endif

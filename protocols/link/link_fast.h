/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * link_fast.h - what the fast files of links share: the quick end of a frame alone, and
 * the comparison of a batch.
 *
 * It must equal link_deliver: what these do not see through goes there.
 */
#ifndef LINK_FAST_H
#define LINK_FAST_H

#include "protocols/link/link.h"
#include "runtime/base/xk_wide.h"

/*
 * The quick end: true when m went to the session that its hint named.  No stack
 * frame, no map: a wrong hint leaves m as it was for the common end.
 */
static inline bool link_pass(struct xk_rep *r, struct xk_msg *m, uint64_t key, uint32_t hdr_len)
{
	struct xk_sess *s = xk_find_hinted(r, m, key, 0);

	if (XK_UNLIKELY(s == NULL))
		return false;
	xk_msg_pop(m, hdr_len);
	xk_pass(s, m);
	return true;
}

/* How many frames, from the first one on, begin as `head` does wherever mask
 * has a bit.  Every frame of a run is long enough to look. */
static inline unsigned link_batch_same(const struct xk_batch *f, xk_wide head, xk_wide mask)
{
	xk_wide differ = xk_wide_zero();
	unsigned i;

	XK_UNROLL
	for (i = 0; i < f->n; i++)
		differ = xk_wide_differ(differ, xk_wide_load(f->m[i]->data), head);
	if (XK_LIKELY(xk_wide_same(differ, xk_wide_zero(), mask)))
		return f->n;
	for (i = 0; xk_wide_same(xk_wide_load(f->m[i]->data), head, mask);)
		i++;
	return i;
}

/* May frames of replica r go up through s at once? */
static inline bool link_batch_for(const struct xk_rep *r, const struct xk_batch *f,
				   const struct xk_sess *s)
{
	return XK_LIKELY(s->rep == r && s->rcnt > 0 && f->off == 0);
}

#endif

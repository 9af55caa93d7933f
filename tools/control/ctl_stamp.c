/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ctl_stamp.c - tells a message from others by what no layer changes of it: its first and last bytes.
 *
 * Trajectory sampling calls that a label (N. G. Duffield and M. Grossglauser, IEEE/ACM Transactions on Networking 9(3),
 * 2001).  With IP's identification and the transport's ports and numbers among them, few messages have the same.  Where
 * the bytes lie does not matter, so a message is the same when it has been copied, and its first piece is on its way
 * when it has been cut.
 * Invariant: a stamp is written and compared whole; what a message is too short for is zero.
 */
#include "tools/control/ctl_stamp.h"

#include <string.h>

#include "runtime/msg/xk_msg.h"

#define LEAST 16u                /* bytes that tell a piece from what is no piece */

void ctl_stamp_of(const struct xk_msg *m, struct ctl_stamp *s)
{
	memset(s, 0, sizeof *s);
	s->tot = m->tot;
	xk_msg_copy_out(m, 0, s->head, sizeof s->head);
	xk_msg_copy_out(m, m->tot > sizeof s->tail ? m->tot - (uint32_t)sizeof s->tail : 0, s->tail, sizeof s->tail);
}

bool ctl_stamp_same(const struct ctl_stamp *a, const struct ctl_stamp *b)
{
	return memcmp(a, b, sizeof *a) == 0;
}

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* The last bytes of the shorter one; a tail of a message that is shorter begins with all of it. */
static bool ends_so(const struct ctl_stamp *lower, const struct ctl_stamp *upper)
{
	uint32_t n = least(upper->tot, CTL_STAMP_BYTES), at = least(lower->tot, CTL_STAMP_BYTES) - n;

	return memcmp(lower->tail + at, upper->tail, n) == 0;
}

static bool begins_so(const struct ctl_stamp *lower, uint32_t off, const struct ctl_stamp *upper)
{
	uint32_t n = least(upper->tot, CTL_STAMP_BYTES);

	return off + n <= lower->tot && memcmp(lower->head + off, upper->head, n) == 0;
}

enum ctl_meets ctl_stamp_meets(const struct ctl_stamp *lower, const struct ctl_stamp *upper)
{
	uint32_t off = lower->tot - upper->tot;

	if (lower->tot >= upper->tot && off <= CTL_STAMP_HEADER && begins_so(lower, off, upper) && ends_so(lower, upper))
		return CTL_MEETS_WHOLE;
	if (upper->tot < LEAST)
		return CTL_MEETS_NOT;
	for (off = 0; off <= CTL_STAMP_HEADER; off++)
		if (lower->tot != upper->tot + off && begins_so(lower, off, upper))
			return CTL_MEETS_PART;
	return CTL_MEETS_NOT;
}

unsigned ctl_stamp_cut(const struct ctl_stamp *whole, const struct ctl_stamp *first)
{
	unsigned differ = 0;

	if (first->tot >= whole->tot || first->tot < sizeof first->head)
		return UINT32_MAX;
	for (unsigned i = 0; i < sizeof first->head; i++)
		differ += whole->head[i] != first->head[i];
	return differ <= CTL_STAMP_CHANGED ? differ : UINT32_MAX;
}

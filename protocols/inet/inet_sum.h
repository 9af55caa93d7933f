/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inet_sum.h - the checksum of what a transport receives, judged in one way by all of them.
 *
 * The sum of the message may lie beside it, from a driver that has copied it (XK_MSG_CSUM).
 * Whoever has judged it clears that flag: from then on the sum is not that of the bytes.
 */
#ifndef INET_SUM_H
#define INET_SUM_H

#include "runtime/base/xk_csum_inline.h"
#include "runtime/msg/xk_msg_inline.h"

/* Is the checksum of m right, all of which it covers beside what `sum` holds already?  The edge may
 * have asked to ignore the verdict. */
static inline bool inet_sum_good(const struct xk_msg *m, uint32_t sum)
{
	if (m->flags & XK_MSG_CSUM)
		sum = xk_csum_add(sum, m->csum);
	else if (XK_UNLIKELY(m->flags & XK_MSG_CHAIN))
		sum = xk_msg_csum(m, 0, sum);
	else
		sum = xk_csum_quick(m->data, m->len, sum);
	return XK_LIKELY(xk_csum_valid(sum)) || (m->flags & XK_MSG_CSUM_IGNORE) != 0;
}

#endif

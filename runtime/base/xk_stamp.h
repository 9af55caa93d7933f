/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_stamp.h - times that go with a message, at the beginning of its payload.
 *
 * A generator of packets writes when one was due; who takes it from a queue writes when work on it
 * began; who consumes it reads both, and knows how long it waited and how long it took.  Times are
 * of the graph's clock (xk_vp_clock), in nanoseconds, and mean something within one graph only.
 */
#ifndef XK_STAMP_H
#define XK_STAMP_H

#include <string.h>

#include "runtime/base/xk_base.h"

#define XK_STAMP_MARK UINT64_C(0x9d3fc18a52e7b064)  /* tells a stamp from bytes that are not one */

struct xk_stamp { uint64_t mark; xk_ns due, start; };
#define XK_STAMP_SIZE ((uint32_t)sizeof(struct xk_stamp))

/* p: of at least XK_STAMP_SIZE bytes, however it lies. */
static inline void xk_stamp_put(void *p, xk_ns due, xk_ns start)
{
	const struct xk_stamp s = { XK_STAMP_MARK, due, start };

	memcpy(p, &s, sizeof s);
}

/* The stamp at p, of n bytes; false: there is none. */
static inline bool xk_stamp_get(const void *p, uint32_t n, struct xk_stamp *s)
{
	if (n < XK_STAMP_SIZE)
		return false;
	memcpy(s, p, sizeof *s);
	return s->mark == XK_STAMP_MARK;
}

/* Work begins at `start`: into the stamp at p, of n bytes, where there is one. */
static inline void xk_stamp_begin(void *p, uint32_t n, xk_ns start)
{
	struct xk_stamp s;

	if (xk_stamp_get(p, n, &s))
		xk_stamp_put(p, s.due, start);
}

#endif

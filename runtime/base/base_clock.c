/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * base_clock.c - real and virtual time.
 *
 * A real clock is the host's monotonic clock counted from xk_clock_init; a
 * virtual one is a number.  Invariant: time never runs backwards.
 */
#include "runtime/base/xk_clock.h"

#include <time.h>

xk_ns xk_clock_host(void)
{
	struct timespec ts;

	if (XK_UNLIKELY(clock_gettime(CLOCK_MONOTONIC, &ts) != 0))
		xk_panic(__FILE__, __LINE__, "the host has no monotonic clock");
	return (xk_ns)ts.tv_sec * XK_SEC + (xk_ns)ts.tv_nsec;
}

xk_ns xk_clock_host_coarse(void)
{
	struct timespec ts;

	if (XK_UNLIKELY(clock_gettime(CLOCK_MONOTONIC_COARSE, &ts) != 0))
		return xk_clock_host();
	return (xk_ns)ts.tv_sec * XK_SEC + (xk_ns)ts.tv_nsec;
}

double xk_clock_cost(void)
{
	xk_ns least = XK_NS_NEVER;

	for (unsigned k = 0; k < 16; k++) {
		xk_ns from = xk_clock_host(), took;

		for (unsigned i = 0; i < 64; i++)
			(void)xk_clock_host();
		took = xk_clock_host() - from;
		least = took < least ? took : least;
	}
	return (double)least / 65;
}

static xk_ns since_1970(void)
{
	struct timespec ts;

	return clock_gettime(CLOCK_REALTIME, &ts) == 0 && ts.tv_sec > 0 ? (xk_ns)ts.tv_sec * XK_SEC + (xk_ns)ts.tv_nsec : 0;
}

void xk_clock_init(struct xk_clock *c, bool is_virtual)
{
	c->is_virtual = is_virtual;
	c->virtual_now = 0;
	c->start = is_virtual ? 0 : xk_clock_host();
	c->wall = is_virtual ? 0 : since_1970();
}

xk_ns xk_clock_read(const struct xk_clock *c)
{
	return c->is_virtual ? c->virtual_now : xk_clock_host() - c->start;
}

void xk_clock_advance(struct xk_clock *c, xk_ns to)
{
	xk_assert(c->is_virtual);
	xk_assert(to >= c->virtual_now);
	c->virtual_now = to;
}

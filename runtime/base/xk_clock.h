/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_clock.h - the one source of time of a graph, real or simulated.
 *
 * Protocols never read it: they use the time their VP cached for this round
 * (xk_vp_now).  A virtual clock stands still until xk_clock_advance moves it,
 * which only the deterministic runner does.
 */
#ifndef XK_CLOCK_H
#define XK_CLOCK_H

#include "runtime/base/xk_base.h"

struct xk_clock {
	bool  is_virtual;
	xk_ns virtual_now;       /* used when is_virtual */
	xk_ns start;             /* monotonic time of xk_clock_init, real clocks */
	xk_ns wall;              /* and since 1970, for who writes times to others; virtual: 0 */
};

void  xk_clock_init(struct xk_clock *c, bool is_virtual);
/* Nanoseconds since init.  One vDSO call when real (about 22 ns). */
xk_ns xk_clock_read(const struct xk_clock *c);
/* Moves a virtual clock forward to `to`; earlier times are a caller's bug. */
void  xk_clock_advance(struct xk_clock *c, xk_ns to);
/* Host monotonic nanoseconds, for tools and measurements outside any graph. */
xk_ns xk_clock_host(void);
/* The same as of the host's last tick, 1 to 10 ms ago: for less than half of what reading the time costs. */
xk_ns xk_clock_host_coarse(void);
/* Nanoseconds that a reading of it costs here and now: the least of some rounds, in which others'
 * work is not. */
double xk_clock_cost(void);

#endif

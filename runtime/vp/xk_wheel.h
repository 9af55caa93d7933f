/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_wheel.h - a virtual processor's hierarchical timer wheel, for who turns it.
 *
 * Owner VP only; timers themselves are in xk_timer.h.
 */
#ifndef XK_WHEEL_H
#define XK_WHEEL_H

#include "runtime/vp/xk_timer.h"

#define XK_WHEEL_BITS   8
#define XK_WHEEL_LEVELS 4
#define XK_WHEEL_TICK   XK_MS
struct xk_wheel {
	struct xk_timer *due;               /* slots that came up, not yet worked off */
	uint64_t         tick;              /* ticks already run */
	uint32_t         armed;             /* timers in the wheel */
	uint64_t         used[XK_WHEEL_LEVELS][(1u << XK_WHEEL_BITS) / 64];
	xk_counter       fired, lazy;       /* handlers run; timers moved to another slot */
	xk_counter       slots;             /* slots that came up */
	struct xk_timer *slot[XK_WHEEL_LEVELS][1u << XK_WHEEL_BITS];
};

void xk_wheel_init(struct xk_wheel *w, xk_ns now);
/* Runs what is due at `now`, at most `max` handlers and 64 * max moves between
 * slots (the rest stay due: xk_wheel_next then lies in the past); returns
 * handlers run. */
unsigned xk_wheel_run(struct xk_wheel *w, xk_ns now, unsigned max);
/* When the wheel wants to be run next; XK_NS_NEVER when empty.  May be
 * earlier than the true first deadline, never later. */
xk_ns xk_wheel_next(const struct xk_wheel *w);

#endif

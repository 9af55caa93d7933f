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
#define XK_WHEEL_TICK   XK_MS     /* unless the graph says another */
#define XK_WHEEL_TICK_MIN XK_US
#define XK_WHEEL_TICK_MAX (10 * XK_MS)
struct xk_wheel {
	struct xk_timer *due;               /* slots that came up, not yet worked off */
	xk_ns            turns;             /* when the tick after this one begins */
	uint64_t         tick;              /* ticks already run */
	uint32_t         armed;             /* timers in the wheel */
	uint32_t         shift;             /* with `inverse`: what a time is divided by `length` with */
	xk_ns            length;            /* of a tick */
	uint64_t         inverse;
	uint64_t         used[XK_WHEEL_LEVELS][(1u << XK_WHEEL_BITS) / 64];
	xk_counter       fired, lazy;       /* handlers run; timers moved to another slot */
	xk_counter       slots;             /* slots that came up */
	struct xk_timer *slot[XK_WHEEL_LEVELS][1u << XK_WHEEL_BITS];
};

/* length: of a tick, XK_WHEEL_TICK_MIN to _MAX; 0: XK_WHEEL_TICK. */
void xk_wheel_init(struct xk_wheel *w, xk_ns now, xk_ns length);
/* Is there anything that xk_wheel_run would look at now? */
static inline bool xk_wheel_wants(const struct xk_wheel *w, xk_ns now)
{
	return w->armed != 0 && (now >= w->turns || w->due != NULL);
}
/* Runs what is due at `now`, at most `max` handlers and 64 * max moves between
 * slots (the rest stay due: xk_wheel_next then lies in the past); returns
 * handlers run. */
unsigned xk_wheel_run(struct xk_wheel *w, xk_ns now, unsigned max);
/* When the wheel wants to be run next; XK_NS_NEVER when empty.  May be
 * earlier than the true first deadline, never later. */
xk_ns xk_wheel_next(const struct xk_wheel *w);

#endif

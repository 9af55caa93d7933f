/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_timer.h - timers of a virtual processor, in the wheel that its replicas name (xk_rep.wheel).
 *
 * Timers run between units of work on their VP, never inside one.
 * Re-arming an armed timer to a later time is one store: the wheel finds out
 * when the old slot comes up.  Owner VP only.  Tick: the graph's (1 ms unless it says
 * another); never early; a deadline that has passed already runs at the next tick.
 * Invariant: an armed timer's slot is never later than its deadline.
 */
#ifndef XK_TIMER_H
#define XK_TIMER_H

#include "runtime/base/xk_base.h"

struct xk_timer {
	struct xk_timer  *next, **pprev;    /* pprev NULL: not in the wheel */
	xk_ns             deadline;         /* XK_NS_NEVER: lazily cancelled */
	xk_ns             slot_time;        /* earliest deadline the slot may hold */
	void            (*fn)(struct xk_timer *);  /* on the VP, may re-arm or free */
};

struct xk_wheel;
void xk_timer_init(struct xk_timer *t, void (*fn)(struct xk_timer *));
void xk_timer_insert(struct xk_wheel *w, struct xk_timer *t, xk_ns deadline);
void xk_timer_remove(struct xk_wheel *w, struct xk_timer *t);

/* Arms or re-arms. */
static inline void xk_timer_set(struct xk_wheel *w, struct xk_timer *t, xk_ns deadline)
{
	if (XK_LIKELY(t->pprev != NULL && deadline >= t->slot_time))
		t->deadline = deadline;
	else
		xk_timer_insert(w, t, deadline);
}
/* Disarms in O(1); legal when not armed. */
static inline void xk_timer_cancel(struct xk_wheel *w, struct xk_timer *t)
{
	if (t->pprev != NULL)
		xk_timer_remove(w, t);
}
static inline bool xk_timer_armed(const struct xk_timer *t)
{
	return t->pprev != NULL && t->deadline != XK_NS_NEVER;
}

#endif

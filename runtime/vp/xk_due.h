/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_due.h - when a task that polls has something to do next, to the nanosecond: timers (xk_arch.tick) are too
 * coarse for who makes messages at times of their own.
 *
 * A worker with nothing else to do sleeps until shortly before, then looks without sleeping; a virtual
 * clock goes to that very time.  Inside the task's VP only.
 */
#ifndef XK_DUE_H
#define XK_DUE_H

#include "runtime/vp/xk_task.h"

/* Embedded in the task's owner, which writes `when` as it likes; XK_NS_NEVER: not before somebody else has done
 * something. */
struct xk_due {
	struct xk_due        *next;
	const struct xk_task *task;
	xk_ns                 when;
};

/* d, whose `when` is XK_NS_NEVER then, says when t, which has no descriptor, has something to do; until it is
 * taken away. */
void xk_due_add(struct xk_due *d, struct xk_task *t);
/* Legal when d, zeroed, was never added. */
void xk_due_remove(struct xk_due *d);

#endif

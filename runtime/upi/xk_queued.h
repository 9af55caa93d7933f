/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_queued.h - sessions whose messages wait for a unit of work of their own: of drivers, whose device takes no
 * more now, or whose other end is in the same virtual processor, where push may not come up again.
 *
 * Inside the session's VP.  A unit takes messages one after the other, oldest first, as long as there are any; whoever
 * is given one may close the session meanwhile.
 */
#ifndef XK_QUEUED_H
#define XK_QUEUED_H

#include "runtime/msg/xk_msgq.h"
#include "runtime/upi/xk_proto.h"
#include "runtime/vp/xk_task.h"

/* Takes m, which was put to s. */
typedef void (*xk_queued_fn)(struct xk_sess *s, struct xk_msg *m);

/* At the start of a session. */
struct xk_queued {
	struct xk_sess s;
	struct xk_task task;
	struct xk_msgq q;
	xk_queued_fn   each;
};

/* A new session of driver r, not bound and over none, for its operation `open`; NULL: no memory, and *err says so. */
struct xk_sess *xk_queued_open(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type, xk_queued_fn each, int *err);
/* m is the last of the queue from now on.  False: there are `most` in it, and m is the caller's as before. */
bool xk_queued_put(struct xk_sess *s, struct xk_msg *m, uint64_t most);
/* The operation `close`: what waits is freed. */
void xk_queued_close(struct xk_sess *s);

#endif

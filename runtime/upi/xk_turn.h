/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_turn.h - whose work a task's turns are: for applications and transports that send by a task.
 *
 * With threads = "user" each connection has a thread of its own, and what is done for it is to be
 * done there; with kernel threads nothing is asked and nothing costs.
 */
#ifndef XK_TURN_H
#define XK_TURN_H

#include "runtime/upi/xk_proto.h"
#include "runtime/vp/xk_task.h"

/*
 * Inside the VP of t: turns of t are work of the connection that s belongs to, until it is told
 * otherwise: s NULL, which must come before t's memory goes or t is made anew.  After t->run is
 * set and xk_task_fetch called.  Nothing under kernel threads.
 */
void xk_task_of(struct xk_task *t, struct xk_sess *s);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_thread.h - what protocols say and ask about user-level threads (xk_ult.h).
 *
 * With threads = "user" each connection has one, and a run of its frames, from the edge
 * up, is a unit on it.  A protocol that sends by a task says whose it is, and its turns
 * are units on the same stack.  A protocol written in blocking style starts a body on
 * the connection's thread; under kernel threads, too, where the thread does nothing else.
 */
#ifndef XK_THREAD_H
#define XK_THREAD_H

#include "runtime/sync/xk_fiber.h"
#include "runtime/upi/xk_turn.h"
#include "runtime/vp/xk_ult.h"

/* The thread of s's connection, or where it has none a new one; one reference, the
 * caller's.  NULL: no memory. */
struct xk_ult *xk_sess_thread(struct xk_sess *s);

/* From start, for protocols that need bodies: can there be any in this build and with
 * these axes?  If not an error at n's place. */
int xk_threads_check(const struct xk_node *n, struct xk_errs *e);

/*
 * From start, for protocols that have work of their own on threads: whose can n's be?  User-level threads, which n
 * makes (xk_ult.h), or where layers have kernel threads its layer's, if nothing that it calls, nor who calls it, is
 * in that layer: then n makes none.  Negative: an error at n's place.
 */
enum xk_own_threads { XK_OWN_USER, XK_OWN_LAYER };
int xk_own_threads(const struct xk_node *n, struct xk_errs *e);

/* May a thread of the program begin user-level ones on n's virtual processors now?  Not in a build without them, nor
 * while several threads enter a virtual processor. */
bool xk_threads_begin_now(const struct xk_node *n);

#endif

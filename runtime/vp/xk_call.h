/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_call.h - functions and messages brought into a virtual processor from outside of it.
 *
 * Any thread may bring them.
 */
#ifndef XK_CALL_H
#define XK_CALL_H

#include "runtime/base/xk_base.h"

struct xk_event;
struct xk_msg;
struct xk_vp;

/* A function run inside a VP, posted from anywhere. */
struct xk_call {
	struct xk_call *next;
	void          (*fn)(struct xk_vp *vp, void *arg);
	void           *arg;
	struct xk_event *done;            /* woken afterwards, inside the VP, or NULL; then it is not touched after fn */
	uint32_t        finished;
};

/* Runs fn inside vp and returns when it has: borrows the calling thread where
 * the architecture's entry is `lock`, otherwise posts it and waits.
 * Already inside vp: a plain call.  Inside another VP: a caller's bug. */
void xk_vp_do(struct xk_vp *vp, void (*fn)(struct xk_vp *, void *), void *arg);
/* Waits as xk_event_wait does (xk_sync.h), with no descriptors.  Outside all VPs; e is prepared, and was looked for
 * once more.  vp: what will wake e happens there: where the architecture's waiters `run`, the calling thread runs it
 * meanwhile.  NULL: nobody knows. */
void xk_vp_wait(struct xk_vp *vp, struct xk_event *e, uint64_t timeout_ns);
/* Posts a call; c must live until it has run. */
void xk_vp_call_async(struct xk_vp *vp, struct xk_call *c);

/* Hands a message to another VP (or defers it to this one): batched until the
 * end of the unit when called inside a VP.  m->node says who takes it.  Over
 * the inbox's cap it is dropped and counted. */
void xk_vp_post(struct xk_vp *vp, struct xk_msg *m);
/* The number of vp, which xk_vp_no is inside it. */
uint16_t xk_vp_number(const struct xk_vp *vp);

#endif

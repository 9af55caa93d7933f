/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_pool.h - the queue of messages that all I/O threads share, and their order.
 */
#ifndef XK_VP_POOL_H
#define XK_VP_POOL_H

#include "runtime/vp/vp_priv.h"

struct xk_pool {
	struct xk_vp      *queue;        /* what is posted to it lies in its inbox, then in `local` */
	uint64_t           given;        /* tickets, under the lock */
	struct xk_lock     lock;         /* of queue->local and given */
	struct xk_lockstat lockstat;
	struct xk_lock     choice XK_ALIGNED; /* of all down to the tickets' turn; nests in nothing */
	const struct xk_lock_ops *ops;   /* of it */
	struct xk_lockstat choicestat;
	struct xk_sched   *sched;
	uint32_t           nspare;       /* runs at rest: others look whether there are any */
	struct xk_sched_run *spare[XK_IO_THREADS_MAX];
	unsigned           ran_last;     /* who was done last */
	bool               turns;        /* each I/O thread in its turn, whoever is free: no policy */
	uint64_t           turn XK_ALIGNED;  /* the ticket that may look for its owner, see vp_handoff.c */
	struct {
		struct xk_task task;
		struct xk_call wake;
		struct xk_sched_run run, *has;   /* one of them; the one that it works on, NULL: it is free */
		struct vp_affine affine;
	} io_thread[XK_IO_THREADS_MAX];
};

/* vp_handoff.c: the message that this I/O thread carries has found no owner: those behind it go on. */
void xk_vp_order_skip(struct xk_vp *io_thread);

#endif

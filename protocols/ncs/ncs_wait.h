/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_wait.h - waiting, the same for a thread of the machine and for a user-level thread.
 *
 * A waiter lies on the stack of who waits; others wake it by pointer, under the lock by which they
 * found it.  Begin, then as long as nothing is found: arm, look (and leave the pointer), sleep; take the
 * pointer back, then end.  A thread of the machine sleeps on its event; a user-level one gives its virtual
 * processor to others, and is woken by a call that is posted there.
 * Invariant: behind end nobody touches the waiter.
 */
#ifndef NCS_WAIT_H
#define NCS_WAIT_H

#include "runtime/base/xk_base.h"
#include "runtime/vp/xk_call.h"
#include "runtime/vp/xk_timer.h"

struct xk_event;
struct xk_node;
struct xk_ult;

struct ncs_waiter {
	struct xk_event *event;          /* of a thread of the machine */
	struct xk_ult   *ult;            /* of a user-level one */
	struct xk_vp    *vp;             /* its own; of a thread of the machine: where it will be woken, NULL: nobody knows */
	struct xk_wheel *wheel;
	struct xk_call   call;
	struct xk_timer  timer;
	uint32_t         posted;         /* the call is on its way */
};

/* May the calling thread wait?  XK_E_MFILE: it has nothing to wait on. */
int  ncs_wait_fit(void);
/* n: a node of the graph; false: who calls may not wait, since nobody else would run it. */
bool ncs_wait_begin(struct ncs_waiter *w, const struct xk_node *n);
/* Where it will be woken, which a thread of the machine may run meanwhile (xk_vp_wait); NULL: nobody knows. */
static inline void ncs_wait_at(struct ncs_waiter *w, struct xk_vp *vp)
{
	if (w->ult == NULL && vp != NULL)
		w->vp = vp;
}
void ncs_wait_arm(struct ncs_waiter *w);
/* Until woken, for so many ns (XK_NS_NEVER), or for no reason. */
void ncs_wait_sleep(struct ncs_waiter *w, uint64_t left);
void ncs_wait_end(struct ncs_waiter *w);
void ncs_wake(struct ncs_waiter *w);
/* Of the calling thread's time. */
uint64_t ncs_wait_now(void);

/* fn inside vp, by whoever calls; returns when it has run. */
void ncs_vp_do(const struct xk_node *n, struct xk_vp *vp, void (*fn)(struct xk_vp *, void *), void *arg);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sock_call.c - a call: into the socket's VP, and out of it to wait.
 *
 * The operation is tried inside the VP.  When it would block, the caller's waiter
 * is linked to the socket before the VP is left, so nothing that happens after the
 * trial is missed; then the thread sleeps on an event of its own, and the VP is free
 * for everybody else.  A socket that has moved to another VP meanwhile is followed.
 * Invariant: a waiter is unlinked before the call that made it returns.
 */
#include "protocols/sock/sock_priv.h"

#include "runtime/base/xk_clock.h"
#include "runtime/sync/xk_sync.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"
#include "runtime/upi/xk_vps.h"

struct inside { struct sock *sk; sock_op op; void *arg; int64_t res; bool moved; };

static void run_inside(struct xk_vp *vp, void *arg)
{
	struct inside *c = arg;

	c->moved = xk_load_acquire(&c->sk->vp) != vp;
	if (!c->moved)
		c->res = c->op(c->sk, c->arg);
}

int64_t sock_do(struct sock *sk, sock_op op, void *arg)
{
	struct inside c = { .sk = sk, .op = op, .arg = arg };

	do
		xk_vp_do(xk_load_acquire(&sk->vp), run_inside, &c);
	while (c.moved);
	return c.res;
}

bool sock_has_workers(const struct sock *sk)
{
	return xk_node_running(sk->node);
}

/* ---- with waiting ------------------------------------------------------------------ */

struct trial { sock_op op; void *arg; struct sock_waiter w; };

static int64_t sock_over(const struct sock *sk)
{
	return sk->closed ? XK_E_BADF : sock_stopping(sk->node) ? XK_E_SHUTDOWN : XK_OK;
}

static int64_t try_once(struct sock *sk, void *arg)
{
	struct trial *t = arg;
	int64_t res = sock_over(sk);

	if (res == XK_OK)
		res = t->op(sk, t->arg);
	if (res != XK_E_AGAIN)
		sock_waiter_unlink(&t->w);
	else if (t->w.event != NULL)
		sock_waiter_link(sk, &t->w);
	return res;
}

static int64_t give_up(struct sock *sk, void *arg)
{
	struct trial *t = arg;

	(void)sk;
	sock_waiter_unlink(&t->w);
	return XK_E_AGAIN;
}

static int64_t wait_until(struct sock *sk, struct trial *t, uint64_t deadline)
{
	for (;;) {
		uint64_t left = XK_NS_NEVER, now;
		int64_t res;

		xk_event_prepare(t->w.event);
		res = sock_do(sk, try_once, t);
		if (deadline != XK_NS_NEVER) {
			now = xk_clock_host();
			left = deadline > now ? deadline - now : 0;
		}
		if (res != XK_E_AGAIN || left == 0) {
			xk_event_cancel(t->w.event);
			return res != XK_E_AGAIN ? res : sock_do(sk, give_up, t);
		}
		xk_vp_wait(xk_load_acquire(&sk->vp), t->w.event, left);
	}
}

int64_t sock_wait(struct sock *sk, sock_op op, void *arg, short events, bool wait, uint64_t limit)
{
	struct trial t = { .op = op, .arg = arg, .w = { .events = events } };

	if (!wait || !sock_has_workers(sk))
		return sock_do(sk, try_once, &t);
	t.w.event = xk_guest_event();    /* there already: the call began with it */
	return wait_until(sk, &t, limit != 0 ? xk_clock_host() + limit : XK_NS_NEVER);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tap_back.c - makes a TAP device again that somebody has removed.
 *
 * The reader's timer tries until it can.  Nothing above notices but that frames were lost: the
 * descriptor has the same number, the host's side the same address.
 * Invariant: while the timer is set the reader's task is parked.
 */
#include "drivers/tap/tap_priv.h"

#include <errno.h>

struct tap_want tap_want_of(const struct tap_conf *c)
{
	return (struct tap_want){ c->ifname, c->netns, c->addr, (uint32_t)c->mtu, c->offload, NULL };
}

/* Others may write meanwhile: to the old device or the new one, whose descriptor has the same number. */
void tap_back(struct xk_timer *t)
{
	struct tap_rep *tr = xk_container_of(t, struct tap_rep, back);
	struct tap_want w = tap_want_of(tap_conf(tr->rep));
	struct xk_rep *r = tr->rep;
	char why[256];
	int err;

	xk_count(r->count[N_LOOKED]);
	err = tap_dev_again(&w, &tap_state(r)->dev, why, sizeof why);
	if (err == XK_OK) {
		xk_count(r->count[N_REATTACHED]);
		XK_TRACE(&r->node->log, 2, "the device was made again");
		tr->said = false;
		if (tr->takes_long)
			tap_dev_take_long(&tap_state(r)->dev);
		xk_task_ready(&tr->task);
		return;
	}
	if (!tr->said)
		XK_TRACE(&r->node->log, 1, "%s", why);
	tr->said = true;
	if (err == XK_E_PERM || err == -EACCES)
		xk_node_failed(r->node, "its device was removed and cannot be made again");
	else
		xk_timer_set(r->wheel, t, xk_vp_now() + TAP_BACK_EVERY);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * packet_return.c - an interface that was removed is there again, perhaps another one of its name.
 *
 * Whoever sees first that it is gone tells the other virtual processors, looks from time to time for one of the name,
 * and opens sockets for all of them there.  Then it tells them again, and each moves to its own, one that only
 * sends, too, from the old ones, which are closed by who leaves last.  Nothing above notices but
 * that frames were lost: the station keeps its address, to which the new interface listens, too.
 * Invariant: of a set of sockets one virtual processor alone waits for the next.
 */
#include "drivers/packet/packet_priv.h"

#include <errno.h>
#include <net/if.h>

#include "drivers/common/netns.h"
#include "runtime/upi/xk_vps.h"

void packet_use(struct packet_rep *pr, struct packet_set *set)
{
	const struct xk_rep *r = pr->rep;
	unsigned nqueues = packet_state(r)->nqueues;
	bool io_threads = r->vp->set->arch.io_threads != 0;
	unsigned no = io_threads && xk_vp_is_io(r->vp) ? r->vp->no - r->vp->set->nconn : r->vp->no;

	pr->set = set;
	pr->queue = no < nqueues && io_threads == xk_vp_is_io(r->vp) ? &set->queue[no] : NULL;
	pr->task.fd = pr->queue != NULL ? pr->queue->fd : -1;
	pr->tx.fd = set->queue[no % nqueues].fd;
}

/* Waiting does not help against these. */
static bool is_hopeless(int err)
{
	return err == -EPERM || err == -EACCES || err == -EAFNOSUPPORT;
}

/* Why it cannot be had, but for what is waited for: said once. */
static void packet_say_why(struct xk_rep *r, int err, const char *why)
{
	struct packet_state *st = packet_state(r);

	if (is_hopeless(err))
		xk_node_failed(r->node, "its interface was removed and cannot be opened again");
	if (err != XK_E_NODEV && err != -ENETDOWN && packet_first_to_say(&st->said_why))
		XK_TRACE(&r->node->log, 1, "%s", why);
}

/* ---- each virtual processor ------------------------------------------------------------ */

void packet_tell(struct xk_node *n)
{
	for (unsigned v = 0; v < xk_node_nvps(n); v++) {
		struct packet_rep *pr = n->rep[v]->state;

		if (xk_atomic_xchg(&pr->called, 1u) == 0)
			xk_vp_call_async(n->rep[v]->vp, &pr->call);
	}
}

static void packet_move(struct packet_rep *pr)
{
	xk_timer_cancel(pr->rep->wheel, &pr->watch);
	xk_task_park(&pr->task);
	packet_use(pr, packet_set_get(packet_state(pr->rep), pr->set));
	pr->gone = pr->down = pr->waits = false;
	if (pr->queue == NULL)
		return;
	packet_dev_admit(pr->queue);
	xk_task_ready(&pr->task);
}

void packet_told(struct xk_vp *vp, void *arg)
{
	struct packet_rep *pr = arg;

	(void)vp;
	(void)xk_atomic_xchg(&pr->called, 0u);   /* before the look: what changes later is told again */
	if (pr->stopped)
		return;
	if (xk_load_acquire(&packet_state(pr->rep)->life) != pr->set->life)
		packet_move(pr);
	if (xk_load_relaxed(&pr->set->gone) != 0)
		packet_gone(pr);
}

/* ---- the one that waits ------------------------------------------------------------------ */

static int is_there(void *ifname)
{
	return if_nametoindex(ifname) != 0 ? XK_OK : XK_E_NODEV;
}

/* A socket of packets costs the kernel much to close, and each VP has one: only where there is an interface. */
static int packet_reopen(struct xk_rep *r, char *why, size_t n)
{
	const struct packet_conf *c = packet_conf(r);
	int err = xk_netns_do(c->netns, is_there, c->ifname, why, n);

	return err == XK_OK ? packet_dev_again(packet_state(r), c, why, n) : err;
}

bool packet_look_for(struct packet_rep *pr)
{
	struct packet_state *st = packet_state(pr->rep);
	struct xk_rep *r = pr->rep;
	char why[320] = "";
	int err;

	xk_count(r->count[N_LOOKED]);
	err = packet_reopen(r, why, sizeof why);
	if (err != XK_OK) {
		packet_say_why(r, err, why);
		return is_hopeless(err);
	}
	xk_count(r->count[N_REATTACHED]);
	xk_store_relaxed(&st->said_down, 0u);
	xk_store_relaxed(&st->said_gone, 0u);
	xk_store_relaxed(&st->said_why, 0u);
	XK_TRACE(&r->node->log, 2, "interface '%s' is there again", packet_conf(r)->ifname);
	packet_tell(r->node);
	return true;
}

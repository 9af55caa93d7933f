/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * packet_return.c - an interface that was removed is there again, perhaps another one of its name.
 *
 * Whoever looks first and finds one opens sockets for all virtual processors; each moves to its own of
 * them when it looks, from the old ones, which are closed by who leaves last.  Nothing above notices but
 * that frames were lost: the station keeps its address, to which the new interface listens, too.
 * Invariant: who opens has the lock, and nobody waits for it: he looks again later.
 */
#include "drivers/packet/packet_priv.h"

#include <errno.h>

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

	if (is_hopeless(err)) {
		xk_store_relaxed(&st->lost, 1u);
		xk_node_failed(r->node, "its interface was removed and cannot be opened again");
	}
	if (err != XK_E_NODEV && err != -ENETDOWN && packet_first_to_say(&st->said_why))
		XK_TRACE(&r->node->log, 1, "%s", why);
}

/* With the lock. */
static bool packet_reopen(struct xk_rep *r)
{
	struct packet_state *st = packet_state(r);
	char why[320] = "";
	int err = packet_dev_again(st, packet_conf(r), why, sizeof why);

	if (err != XK_OK) {
		packet_say_why(r, err, why);
		return false;
	}
	st->sets->life = st->life + 1;
	xk_store_relaxed(&st->life, st->sets->life);
	xk_count(r->count[N_REATTACHED]);
	xk_store_relaxed(&st->said_down, 0u);
	xk_store_relaxed(&st->said_gone, 0u);
	xk_store_relaxed(&st->said_why, 0u);
	XK_TRACE(&r->node->log, 2, "interface '%s' is there again", packet_conf(r)->ifname);
	return true;
}

/* With the lock: from sockets at an interface that is gone. */
static void packet_move(struct packet_rep *pr)
{
	struct packet_state *st = packet_state(pr->rep);
	struct packet_set *old = pr->set;

	packet_use(pr, packet_set_get(st));
	packet_set_put(st, old);
	pr->gone = pr->down = false;
	if (pr->queue == NULL)
		return;
	packet_dev_admit(pr->queue);
	xk_task_ready(&pr->task);
}

bool packet_return(struct packet_rep *pr)
{
	struct packet_state *st = packet_state(pr->rep);
	bool there = false;

	if (!xk_mutex_trylock(&st->lock))
		return false;
	there = st->sets != pr->set || packet_reopen(pr->rep);
	if (there)
		packet_move(pr);
	xk_mutex_unlock(&st->lock);
	return there;
}

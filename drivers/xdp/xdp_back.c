/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xdp_back.c - an interface that goes down or is removed, and is there again, perhaps another one of its name.
 *
 * The first VP looks twice a second what has become of it, and tells all others when it is gone and waited for: each
 * lets go of the rings, of what it had to send and of what it had read a part of.  When all have, the first one closes
 * the sockets, and looks from time to time for an interface of the name.  Where there is one it makes sockets at the
 * same memory, of which all frames are free but those that messages still have, which come back when these are freed,
 * and tells the others again.
 * Nothing above notices but that frames were lost: the station keeps its address and its MTU.
 * Invariant: what all VPs share of the device is changed only while none is inside.
 */
#include "drivers/xdp/xdp_priv.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_node.h"
#include "runtime/vp/xk_vp.h"

#include <errno.h>
#include <net/if.h>
#include <stdio.h>

#include "drivers/common/netns.h"

#define WATCH_EVERY (500 * XK_MS)
#define BACK_EVERY  (100 * XK_MS)         /* while it is away */

/* ---- each VP ------------------------------------------------------------------------- */

static void port_leave(struct xdp_port *p)
{
	xdp_train_forget(p);
	xdp_give_back(p);                        /* of those, some were lent */
	xk_task_nap(&p->task, 0);
	xk_task_park(&p->task);
	xk_task_park(&p->tail);
	p->task.fd = -1;
	xk_timer_cancel(p->rep->wheel, &p->look);
	p->looking = false;
	/* All but what messages have is given out anew. */
	p->spare = NULL;
	p->unsent = 0;
	p->again = p->uncopied = false;
	p->away = true;
}

static void port_enter(struct xdp_port *p)
{
	p->away = false;
	p->seen = (struct xdp_statistics){ .rx_dropped = 0 };
	p->fill_taken = p->q->fill.consumer;
	p->task.fd = xsk_socket__fd(p->xsk);
	xk_task_ready(&p->task);
}

/* Inside the VP of p, its first queue's port. */
static void back_told(struct xk_vp *vp, void *arg)
{
	struct xdp_port *p = arg;
	struct xdp_dev *d = p->q->dev;
	bool gone;

	(void)xk_atomic_xchg(&p->called, 0u);    /* before the look: what changes later is told again */
	gone = xk_load_acquire(&d->link) == XDP_GONE;
	if (p->over || gone == p->away)
		return;
	/* Counted before the second look: from here on nobody tears the device down. */
	if (!gone) {
		(void)xk_atomic_add(&d->inside, 1u);
		if (xk_load_acquire(&d->link) == XDP_GONE) {
			(void)xk_atomic_add(&d->inside, (uint32_t)-1);
			return;
		}
	}
	for (unsigned q = 0; q < d->nqueues; q++) {
		if (gone)
			port_leave(xdp_port(d, q, vp->no));
		else
			port_enter(xdp_port(d, q, vp->no));
	}
	if (gone)
		(void)xk_atomic_add(&d->inside, (uint32_t)-1);
}

static void tell_all(struct xdp_dev *d)
{
	for (unsigned v = 0; v < d->nvps; v++) {
		struct xdp_port *p = xdp_port(d, 0, v);

		if (xk_atomic_xchg(&p->called, 1u) == 0)
			xk_vp_call_async(p->rep->vp, &p->call);
	}
}

void xdp_back_init(struct xdp_dev *d, struct xk_rep *r)
{
	struct xdp_port *p = xdp_port(d, 0, r->vp->no);

	p->call = (struct xk_call){ .fn = back_told, .arg = p };
	d->inside++;
}

/* ---- the first one ----------------------------------------------------------------------- */

struct looking { struct xdp_dev *d; const struct xdp_conf *c; char *why; size_t n; };

/* In the interface's namespace.  Whether there is one of the name costs little, all else much. */
static int back_open(void *arg)
{
	struct looking *l = arg;

	return if_nametoindex(l->c->ifname) == 0 ? XK_E_NODEV : xdp_dev_again(l->d, l->c, l->why, l->n);
}

/* Waiting does not help against these. */
static bool is_hopeless(int err)
{
	return err == -EPERM || err == -EACCES || err == -EAFNOSUPPORT;
}

static bool back_failed(struct xdp_dev *d, int err, const char *why)
{
	if (err != XK_E_NODEV && !d->said) {
		XK_TRACE(&d->rep->node->log, 1, "%s", why);
		d->said = true;
	}
	if (is_hopeless(err))
		xk_node_failed(d->rep->node, "its interface was removed and cannot be opened again");
	return !is_hopeless(err);
}

/* False: it has not come back and will not. */
static bool back_look(struct xdp_dev *d)
{
	const struct xdp_conf *c = xdp_conf(d->rep);
	char why[512] = "";
	struct looking l = { d, c, why, sizeof why };
	int err;

	if (xk_load_acquire(&d->inside) != 0)
		return true;
	if (!d->torn)
		xdp_dev_tear(d);
	d->torn = true;
	xk_count(d->rep->count[N_LOOKED]);
	err = xk_netns_do(c->netns, back_open, &l, why, sizeof why);
	if (err != XK_OK)
		return back_failed(d, err, why);
	xk_count(d->rep->count[N_REATTACHED]);
	XK_TRACE(&d->rep->node->log, 2, "interface %s is there again", d->ifname);
	xk_store_release(&d->link, (uint32_t)XDP_UP);
	tell_all(d);
	return true;
}

/* ---- from time to time ------------------------------------------------------------------ */

static void back_wait(struct xdp_dev *d)
{
	d->torn = d->said = false;
	tell_all(d);
}

static void watch_say(struct xdp_dev *d, enum xdp_link now)
{
	static const char *const said[] = { "is up again", "was taken down: nothing can be sent", "was removed" };

	if (d->link == now || d->link == XDP_GONE)
		return;
	xk_store_relaxed(&d->link, now);
	XK_TRACE(&d->rep->node->log, now == XDP_GONE ? 1 : 2, "interface %s %s%s", d->ifname, said[now],
		 now == XDP_GONE && xdp_conf(d->rep)->reattach ? ": one of its name is waited for" : "");
	if (now != XDP_GONE)
		return;
	xk_count(d->rep->count[N_ERRORS]);
	if (xdp_conf(d->rep)->reattach)
		back_wait(d);
	else
		xk_node_failed(d->rep->node, "its interface is gone");
}

static void watch_look(struct xk_timer *t)
{
	struct xdp_dev *d = xk_container_of(t, struct xdp_dev, watch);

	if (d->link != XDP_GONE) {
		watch_say(d, xdp_watch_read(d));
	} else if (!back_look(d)) {
		return;
	}
	if (d->link != XDP_GONE)
		xk_timer_set(d->rep->wheel, t, xk_vp_now() + WATCH_EVERY);
	else if (xdp_conf(d->rep)->reattach)
		xk_timer_set(d->rep->wheel, t, xk_vp_now() + BACK_EVERY);
}

void xdp_watch_start(struct xdp_dev *d, struct xk_rep *r)
{
	d->rep = r;
	xk_timer_init(&d->watch, watch_look);
	xk_timer_set(r->wheel, &d->watch, r->vp->now + WATCH_EVERY);
}

void xdp_watch_stop(struct xdp_dev *d)
{
	if (d->rep != NULL)
		xk_timer_cancel(d->rep->wheel, &d->watch);
	d->rep = NULL;
}

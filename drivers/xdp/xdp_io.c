/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xdp_io.c - the driver's operations: sessions, control, and its life.
 *
 * The device is opened with the node, before any VP runs, and every VP then has a
 * socket of its own at every queue; it reads all of them and sends through one.  Where it is waited for, an interface
 * that was removed comes back with other sockets (xdp_back.c).
 * Invariant: after rep_stop nothing is made ready and nothing is sent, but messages that
 * were lent frames may still be freed.
 */
#include "drivers/xdp/xdp_priv.h"
#include "drivers/common/edge.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_input.h"
#include "runtime/upi/xk_part.h"

#include <stdio.h>
#include <string.h>

static struct xdp_dev *dev_of(const struct xk_node *n) { return *(struct xdp_dev **)n->state; }

static void io_push(struct xk_sess *s, struct xk_msg *m)
{
	struct xk_rep *r = s->rep;
	struct xdp_dev *d = dev_of(r->node);

	xdp_tx_push(xdp_port(d, r->vp->no % d->nqueues, r->vp->no), m);
}

/* ---- sessions ------------------------------------------------------------------------ */

static int io_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	if (op == XK_CTL_GETMAXSUPER)
		return xk_answer32(buf, len, xdp_tx_super(dev_of(r->node)));
	return xk_edge_control((struct xk_edge){ dev_of(r->node)->mtu + 14, XK_LINK_ETH, dev_of(r->node)->mac }, op, buf, len);
}

/* ---- life --------------------------------------------------------------------------------- */

static int io_init(struct xk_node *n, struct xk_errs *e)
{
	struct xdp_dev **d = n->state;
	char why[512];
	int err;

	if (n->graph->vps->arch.io_threads != 0) {
		xk_errs_add(e, n->file, n->line, 0, "%s: AF_XDP gives each virtual processor the frames of its own connections: "
			    "leave I/O threads out, or use the driver packet", n->name);
		return XK_E_NOTSUP;
	}
	err = xdp_dev_open(n, d, why, sizeof why);
	if (err != XK_OK)
		xk_errs_add(e, n->file, n->line, 0, "%s: %s", n->name, why);
	return err;
}

static void io_fini(struct xk_node *n)
{
	struct xdp_dev **d = n->state;

	if (*d != NULL)
		xdp_dev_close(*d);
	*d = NULL;
}

static int io_rep_init(struct xk_rep *r)
{
	struct xdp_dev *d = dev_of(r->node);

	for (unsigned q = 0; q < d->nqueues; q++) {
		struct xdp_port *p = xdp_port(d, q, r->vp->no);

		p->rep = r;
		p->fill_taken = p->q->fill.consumer;
		xk_task_init(&p->task, r->vp, xdp_rx_run);
		p->task.fd = xsk_socket__fd(p->xsk);
		xk_timer_init(&p->look, xdp_rx_look);
		xk_task_init(&p->tail, r->vp, xdp_tail_run);
		/* Next to whatever made it ready, and never left for a sleep. */
		xk_task_input(&p->tail, NULL);
	}
	xdp_back_init(d, r);
	return XK_OK;
}

static int io_rep_start(struct xk_rep *r, struct xk_errs *e)
{
	struct xdp_dev *d = dev_of(r->node);

	(void)e;
	for (unsigned q = 0; q < d->nqueues; q++)
		xk_task_ready(&xdp_port(d, q, r->vp->no)->task);
	if (r->vp->no == 0)
		xdp_watch_start(d, r);
	return XK_OK;
}

static void io_rep_tally(struct xk_rep *r)
{
	struct xdp_dev *d = dev_of(r->node);

	for (unsigned q = 0; q < d->nqueues; q++)
		xdp_rx_stats(xdp_port(d, q, r->vp->no));
}

static void io_rep_stop(struct xk_rep *r)
{
	struct xdp_dev *d = dev_of(r->node);

	for (unsigned q = 0; q < d->nqueues; q++) {
		struct xdp_port *p = xdp_port(d, q, r->vp->no);

		p->over = true;
		xk_task_nap(&p->task, 0);
		xk_task_park(&p->task);
		xk_task_park(&p->tail);
		xk_timer_cancel(r->wheel, &p->look);
		xdp_train_forget(p);
		xdp_tx_flush(p);
	}
	io_rep_tally(r);
	if (r->vp->no == 0)
		xdp_watch_stop(d);
}

/* Of the first VP: that one closes all sockets, so that nobody reads what was being sent and is freed now. */
static void io_rep_fini(struct xk_rep *r)
{
	xdp_dev_shut(dev_of(r->node));
}

const struct xk_ops xdp_ops = {
	.init = io_init, .fini = io_fini, .rep_init = io_rep_init,
	.rep_start = io_rep_start, .rep_stop = io_rep_stop, .rep_fini = io_rep_fini, .rep_tally = io_rep_tally,
	.open = xk_edge_open, .close = xk_edge_close, .push = io_push,
	.enter = xk_input_enter, .control = io_control,
};

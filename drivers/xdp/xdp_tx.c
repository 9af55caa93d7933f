/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xdp_tx.c - frames out: copied into the UMEM, sent a batch at a time.
 *
 * A push puts the frame into the VP's own ring.  One system call shows the kernel
 * all of them: that of the VP's turn at reading, of a task that runs after the unit
 * of work, or of the push that filled a batch.  Frames that the device does not take at once stay in the ring and
 * the task asks again.
 * Invariant: a frame that is not in the ring is in the VP's list.
 */
#include "drivers/xdp/xdp_priv.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#define ETH_MIN 60u              /* shorter ones are padded: not every device does it */
#define KICKS   4u

/* True when there is nothing more to ask for now. */
static bool tx_kick(struct xdp_port *p)
{
	if (!xsk_ring_prod__needs_wakeup(&p->tx))
		return true;
	for (unsigned i = 0; i < KICKS; i++) {
		if (sendto(xsk_socket__fd(p->xsk), NULL, 0, MSG_DONTWAIT, NULL, 0) >= 0)
			return true;
		switch (errno) {
		case EAGAIN:            /* a kernel's batch is done, there is more */
		case EINTR:
			break;
		case EBUSY:
		case ENOBUFS:
			return false;
		default:                /* down or gone: xdp_watch.c says so */
			xk_count(p->rep->count[N_ERRORS]);
			return true;
		}
	}
	return false;
}

static bool tx_send(struct xdp_port *p)
{
	if (p->unsent != 0) {
		xdp_to_kernel(p->q);
		xsk_ring_prod__submit(&p->tx, p->unsent);
	}
	p->unsent = 0;
	p->again = !tx_kick(p);
	return !p->again;
}

/* After the unit: what it left to be sent, what it left to be given back. */
unsigned xdp_tail_run(struct xk_task *t, unsigned budget)
{
	struct xdp_port *p = xk_container_of(t, struct xdp_port, tail);
	bool some = p->unsent != 0 || p->nback != 0;

	(void)budget;
	xdp_give_back(p);
	if ((p->unsent == 0 && !p->again) || tx_send(p))
		xk_task_park(t);
	return some;
}

void xdp_tx_flush(struct xdp_port *p)
{
	if (p->unsent != 0)
		(void)tx_send(p);
}

static bool tx_refuse(struct xdp_port *p, struct xk_msg *m)
{
	struct xdp_dev *d = p->q->dev;
	uint32_t link = xk_load_relaxed(&d->link);

	if (XK_UNLIKELY(m->tot > d->mtu + 14))
		xk_drop(p->rep, XDP_DROP_TOO_LONG, m);
	else if (XK_UNLIKELY(link != XDP_UP))
		xk_drop(p->rep, link == XDP_GONE ? XDP_DROP_GONE : XDP_DROP_DOWN, m);
	else
		return false;
	return true;
}

/* A frame to send with; when all are out, what is in the ring may free some. */
static struct xdp_frame *tx_frame(struct xdp_port *p)
{
	struct xdp_frame *f = xdp_frame_get(p);

	if (XK_UNLIKELY(f == NULL && p->unsent != 0)) {
		(void)tx_send(p);
		f = xdp_frame_get(p);
	}
	return f;
}

void xdp_tx_push(struct xdp_port *p, struct xk_msg *m)
{
	struct xdp_dev *d = p->q->dev;
	struct xdp_desc *desc;
	struct xdp_frame *f;
	uint32_t at, len = m->tot;
	uint8_t *b;

	if (tx_refuse(p, m))
		return;
	f = tx_frame(p);
	if (f == NULL) {
		xk_drop(p->rep, XDP_DROP_FULL, m);
		return;
	}
	/* A frame may be back before the kernel shows its place in the ring as free. */
	if (XK_UNLIKELY(xsk_ring_prod__reserve(&p->tx, 1, &at) != 1)) {
		xdp_frame_put(p, f);
		xk_drop(p->rep, XDP_DROP_FULL, m);
		return;
	}
	desc = xsk_ring_prod__tx_desc(&p->tx, at);
	*desc = (struct xdp_desc){ .addr = xdp_frame_addr(d, f), .len = len < ETH_MIN ? ETH_MIN : len };
	b = (uint8_t *)d->area + desc->addr;
	xk_msg_copy_out(m, 0, b, len);
	if (len < ETH_MIN)
		memset(b + len, 0, ETH_MIN - len);
	xk_msg_free(m);
	xk_count(p->rep->count[N_WRITTEN]);
	if (++p->unsent >= XDP_BURST)
		(void)tx_send(p);
	else
		xk_task_ready(&p->tail);
}

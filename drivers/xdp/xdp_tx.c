/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xdp_tx.c - frames out: copied into the UMEM, or sent from where they lie in it; a batch at a time.
 *
 * A push puts the frame into the VP's own ring.  One system call shows the kernel
 * all of them: that of the VP's turn at reading, of a task that runs after the unit
 * of work, or of the push that filled a batch.  Frames that the device does not take at once stay in the ring and
 * the task asks again.
 *
 * What was received and lent, and is sent on or back, lies in the UMEM: the frame itself is put into
 * the ring, with new headers before the old payload, and its message is gone at once.  It comes back to
 * the queue that received it.  Only while the kernel has enough frames left to receive into are any
 * lent, so those that are being sent never stop the device either.
 * A message of one piece, of its own, in a buffer of the pool that lies in the UMEM is sent from there, too, and
 * held, untouched, until the kernel is through with it.  What somebody else looks at, TCP's send queue for
 * one, is not: a later transmission writes other headers before the same bytes.
 * Invariant: a frame to send with that is not in the ring is in the VP's list.
 */
#include "drivers/xdp/xdp_priv.h"
#include "drivers/common/cut.h"
#include "runtime/msg/xk_msg_inline.h"
#include "runtime/vp/xk_vp.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#define ETH_MIN 60u              /* shorter ones are padded: not every device does it */
#define KICKS   4u
#define ETH_HEADER 14u

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
	if (p->uncopied) {
		p->uncopied = p->again;
		xdp_queue_tend(p);
	}
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

	if (XK_UNLIKELY(m->tot > d->mtu + ETH_HEADER && !(m->flags & XK_MSG_SUPER)))
		xk_drop(p->rep, XDP_DROP_TOO_LONG, m);
	else if (XK_UNLIKELY((link | p->away) != XDP_UP))
		xk_drop(p->rep, link == XDP_GONE || p->away ? XDP_DROP_GONE : XDP_DROP_DOWN, m);
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

/* A place in the ring; when it is full of what the kernel has not been shown, that makes room. */
static bool tx_slot(struct xdp_port *p, uint32_t *at)
{
	if (XK_LIKELY(xsk_ring_prod__reserve(&p->tx, 1, at) == 1))
		return true;
	if (p->unsent == 0)
		return false;
	(void)tx_send(p);
	return xsk_ring_prod__reserve(&p->tx, 1, at) == 1;
}

/* A place in the ring and a frame for len bytes, and for more where that is too short; NULL, counted: there is none. */
static uint8_t *tx_place(struct xdp_port *p, uint32_t len)
{
	struct xdp_dev *d = p->q->dev;
	struct xdp_frame *f = tx_frame(p);
	struct xdp_desc *desc;
	uint32_t at;
	uint8_t *b;

	/* A frame may be back before the kernel shows its place in the ring as free. */
	if (XK_UNLIKELY(f == NULL || !tx_slot(p, &at))) {
		if (f != NULL)
			xdp_frame_put(p, f);
		xk_dropped(p->rep, XDP_DROP_FULL, 1);
		return NULL;
	}
	desc = xsk_ring_prod__tx_desc(&p->tx, at);
	*desc = (struct xdp_desc){ .addr = xdp_frame_addr(d, f), .len = len < ETH_MIN ? ETH_MIN : len };
	b = (uint8_t *)d->area + desc->addr;
	if (len < ETH_MIN)
		memset(b + len, 0, ETH_MIN - len);
	return b;
}

/* What lies at a place is to be sent. */
static void tx_written(struct xdp_port *p)
{
	xk_count(p->rep->count[N_WRITTEN]);
	if (++p->unsent >= XDP_BURST)
		(void)tx_send(p);
	else
		xk_task_ready(&p->tail);
}

uint32_t xdp_tx_super(const struct xdp_dev *d)
{
	uint32_t most = d->tx_ring / 4 * d->mtu;

	return ETH_HEADER + (most < XK_CUT_MAX ? most : XK_CUT_MAX);
}

/* Each frame is made where it is sent from: the copy cuts. */
static XK_NOINLINE void tx_super(struct xdp_port *p, struct xk_msg *m)
{
	struct xk_cut c;
	uint32_t len;

	if (XK_UNLIKELY(!xk_cut_super(&c, m, ETH_HEADER, p->q->dev->mtu + ETH_HEADER))) {
		xk_drop(p->rep, XDP_DROP_SUPER, m);
		return;
	}
	xk_count(p->rep->count[N_SUPER]);
	while ((len = xk_cut_next(&c)) != 0) {
		uint8_t *b = tx_place(p, len);

		if (b == NULL) {
			/* Of the others, each. */
			xk_dropped(p->rep, XDP_DROP_FULL, (c.left - 1) / c.seg);
			break;
		}
		(void)xk_cut_put(&c, b);
		tx_written(p);
	}
	xk_msg_free(m);
}

/*
 * The frame that m's last bytes lie in: received here and lent, nobody else looks at it, and before them is room
 * for the headers, in a segment of their own.  NULL: there is none.
 */
static struct xdp_frame *tx_lent(const struct xdp_dev *d, const struct xk_msg *m)
{
	const struct xk_msg *x = (m->flags & XK_MSG_SLOW) == XK_MSG_CHAIN ? m->next : m;
	struct xdp_frame *f = xk_msg_extern_of(x, xdp_rx_release);

	if (f == NULL || f->q->dev != d || m->tot < ETH_MIN)
		return NULL;
	return (uint64_t)(x->data - (uint8_t *)d->area) - xdp_frame_addr(d, f) >= m->tot - x->len ? f : NULL;
}

/* Sends it from where it lies; false: it is to be copied. */
static bool tx_returned(struct xdp_port *p, struct xk_msg *m)
{
	struct xdp_dev *d = p->q->dev;
	struct xdp_frame *f = tx_lent(d, m);
	struct xk_msg *x = m;
	uint8_t *b;
	uint32_t at;

	if (f == NULL || !tx_slot(p, &at))
		return false;
	if (m->next != NULL)
		x = m->next;
	b = x->data - (m->tot - x->len);
	if (x != m)
		memcpy(b, m->data, m->len);
	*xsk_ring_prod__tx_desc(&p->tx, at) = (struct xdp_desc){ .addr = (uint64_t)(b - (uint8_t *)d->area), .len = m->tot };
	f->sent = true;
	f->lent = false;
	p->uncopied = true;
	/* The message lets go of it. */
	xk_msg_extern(x)->release = NULL;
	xdp_port(d, f->q->no, p->rep->vp->no)->freed++;
	xk_msg_free(m);
	xk_count(p->rep->count[N_UNCOPIED]);
	tx_written(p);
	return true;
}

/* Sends m, of one piece and nobody else's, from its buffer; false: it is to be copied. */
static bool tx_held(struct xdp_port *p, struct xk_msg *m)
{
	struct xdp_dev *d = p->q->dev;
	uint64_t addr = (uintptr_t)m->data - (uintptr_t)d->area;
	struct xk_msg **h = xdp_held(d, addr);
	uint32_t at;

	if (h == NULL || m->tot < XDP_HELD || !tx_slot(p, &at))
		return false;
	*xsk_ring_prod__tx_desc(&p->tx, at) = (struct xdp_desc){ .addr = addr, .len = m->tot };
	*h = m;
	p->uncopied = true;
	xk_count(p->rep->count[N_UNCOPIED]);
	tx_written(p);
	return true;
}

void xdp_tx_push(struct xdp_port *p, struct xk_msg *m)
{
	uint8_t *b;

	if (tx_refuse(p, m))
		return;
	if (XK_UNLIKELY(m->flags & XK_MSG_SUPER)) {
		tx_super(p, m);
		return;
	}
	if (m->flags & XK_MSG_SLOW ? tx_returned(p, m) : tx_held(p, m))
		return;
	b = tx_place(p, m->tot);
	if (b != NULL) {
		xk_msg_copy_out(m, 0, b, m->tot);
		tx_written(p);
	}
	xk_msg_free(m);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xdp_queue.c - the frames' way back: received ones to the fill ring, sent ones to
 * the VP they belong to.
 *
 * The kernel's two rings of a queue take one thread at a time, and any VP may have
 * something for them.  Nobody waits for that: a VP puts its batch of frames into
 * `back`, one exchange, and then tends the queue if nobody does at the moment;
 * whoever is at it looks once more when he leaves.  Tending moves all of `back`
 * into the fill ring and all of the completion ring into the `done` of the VPs
 * that sent.  So a VP that sleeps, or whose worker is not run, holds up no other,
 * and a batch costs some exchanges, a message none.
 * Invariant: `busy` is cleared by an exchange, and `back` is looked at after it: a
 * batch whose VP found it set is seen.
 */
#include "drivers/xdp/xdp_priv.h"

#include <sys/socket.h>

#define PATIENCE 200u            /* looks at `done` while somebody else is at it */

static void queue_fill(struct xdp_queue *q, struct xk_qlink *l, int fd)
{
	struct xdp_dev *d = q->dev;
	uint32_t at, n = 0;

	for (struct xk_qlink *next; l != NULL; l = next, n++) {
		next = l->next;
		/* As many places as frames: there is always room. */
		xk_assert(xsk_ring_prod__reserve(&q->fill, 1, &at) == 1);
		*xsk_ring_prod__fill_addr(&q->fill, at) = xdp_frame_addr(d, xk_container_of(l, struct xdp_frame, link));
	}
	xdp_to_kernel(q);
	xsk_ring_prod__submit(&q->fill, n);
	xk_store_relaxed(&q->filled, q->filled + n);
	if (xsk_ring_prod__needs_wakeup(&q->fill))
		(void)!recvfrom(fd, NULL, 0, MSG_DONTWAIT, NULL, NULL);
}

static struct xdp_port *sender_of(const struct xdp_queue *q, const struct xdp_frame *f)
{
	const struct xdp_dev *d = q->dev;
	size_t i = (size_t)(f - d->frame) - (size_t)d->nqueues * d->frames;

	return xdp_port(d, q->no, (unsigned)(i / d->tx_ring));
}

/* Frames that have been sent, each run of one VP's in one piece. */
static void queue_reap(struct xdp_queue *q)
{
	struct xk_qlink *first = NULL, *last = NULL;
	struct xdp_port *p = NULL;
	uint32_t at, n = xsk_ring_cons__peek(&q->comp, q->comp.size, &at);

	if (n == 0)
		return;
	xdp_from_kernel(q);
	for (uint32_t i = 0; i < n; i++) {
		struct xdp_frame *f = xdp_frame_at(q->dev, *xsk_ring_cons__comp_addr(&q->comp, at + i));
		struct xdp_port *of = sender_of(q, f);

		if (of != p) {
			if (p != NULL)
				(void)xk_mpsc_push(&p->done, first, last);
			first = &f->link;
		} else {
			last->next = &f->link;
		}
		last = &f->link;
		p = of;
	}
	(void)xk_mpsc_push(&p->done, first, last);
	xsk_ring_cons__release(&q->comp, n);
}

static void queue_tend(struct xdp_queue *q, int fd)
{
	do {
		struct xk_qlink *l;

		if (xk_atomic_xchg(&q->busy, 1u) != 0)
			return;
		l = xk_mpsc_take(&q->back);
		if (l != NULL)
			queue_fill(q, l, fd);
		queue_reap(q);
		(void)xk_atomic_xchg(&q->busy, 0u);
	} while (!xk_mpsc_empty(&q->back));
}

/* ---- received frames ---------------------------------------------------------------------- */

bool xdp_scarce(const struct xdp_port *p, uint32_t least)
{
	/* Both counts run on meanwhile: a hint, no more. */
	uint32_t there = xk_load_relaxed(&p->q->filled) - xk_load_relaxed(p->fill_taken);

	return there < least;
}

void xdp_give_back(struct xdp_port *p)
{
	if (p->nback == 0)
		return;
	(void)xk_mpsc_push(&p->q->back, p->back, p->back_last);
	p->back = p->back_last = NULL;
	p->nback = 0;
	queue_tend(p->q, p->task.fd);
}

void xdp_frame_free(struct xdp_port *p, struct xdp_frame *f)
{
	f->link.next = p->back;
	p->back = &f->link;
	if (p->nback++ == 0)
		p->back_last = &f->link;
	if (p->nback >= XDP_BURST)
		xdp_give_back(p);
}

/* ---- frames to send with -------------------------------------------------------------------- */

static XK_NOINLINE struct xk_qlink *spare_more(struct xdp_port *p)
{
	struct xk_qlink *l = xk_mpsc_take(&p->done);

	if (l == NULL)
		queue_tend(p->q, p->task.fd);
	for (unsigned i = 0; l == NULL && i < PATIENCE; i++) {
		l = xk_mpsc_take(&p->done);
		if (l == NULL && xk_load_relaxed(&p->q->busy) == 0)
			break;
		xk_cpu_relax();
	}
	/* Whoever was at it may have put some there just before he left. */
	return l != NULL ? l : xk_mpsc_take(&p->done);
}

struct xdp_frame *xdp_frame_get(struct xdp_port *p)
{
	struct xk_qlink *l = p->spare;

	if (XK_UNLIKELY(l == NULL)) {
		l = spare_more(p);
		if (l == NULL)
			return NULL;
	}
	p->spare = l->next;
	return xk_container_of(l, struct xdp_frame, link);
}

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
 * that sent, or into `back` where a received frame was sent as it lay.  So a VP that
 * sleeps, or whose worker is not run, holds up no other, and a batch costs some
 * exchanges, a message none.
 *
 * The kernel shows received frames before it shows that it took them out of the fill ring
 * (xsk_flush), so a frame may come back while the ring still looks full.  What does not
 * fit waits in `rest` for the next time: a ring that looks full starves nobody.
 * Invariant: `busy` is cleared by an exchange, and `back` is looked at after it: a
 * batch whose VP found it set is seen.
 */
#include "drivers/xdp/xdp_priv.h"

#include <sys/socket.h>

#define PATIENCE 200u            /* looks at `done` while somebody else is at it */

/* Everything that came back: what did not fit before, behind what is new. */
static struct xk_qlink *queue_back(struct xdp_queue *q)
{
	struct xk_qlink *l = xk_mpsc_take(&q->back), *last = l;

	if (XK_LIKELY(q->rest == NULL) || l == NULL)
		return l != NULL ? l : q->rest;
	while (last->next != NULL)
		last = last->next;
	last->next = q->rest;
	return l;
}

/* Gives the kernel the chain l, as far as there is room. */
void xdp_queue_fill(struct xdp_queue *q, struct xk_qlink *l)
{
	uint32_t at, n = 0;

	for (; l != NULL && xsk_ring_prod__reserve(&q->fill, 1, &at) == 1; l = l->next, n++) {
		struct xdp_frame *f = xk_container_of(l, struct xdp_frame, link);

		f->lent = false;
		*xsk_ring_prod__fill_addr(&q->fill, at) = xdp_frame_addr(q->dev, f);
	}
	q->rest = l;
	xdp_to_kernel(q);
	xsk_ring_prod__submit(&q->fill, n);
	xk_store_relaxed(&q->filled, q->filled + n);
}

static void queue_refill(const struct xdp_port *p, struct xk_qlink *l)
{
	struct xdp_queue *q = p->q;

	xdp_queue_fill(q, l);
	if (XK_UNLIKELY(q->rest != NULL))
		xk_count(p->rep->count[N_FULL]);
	if (xsk_ring_prod__needs_wakeup(&q->fill))
		(void)!recvfrom(p->task.fd, NULL, 0, MSG_DONTWAIT, NULL, NULL);
}

/* A run of frames for one place. */
struct run { struct xk_mpsc *to; struct xk_qlink *first, *last; };

static void run_end(struct run *r)
{
	if (r->to != NULL)
		(void)xk_mpsc_push(r->to, r->first, r->last);
	r->to = NULL;
}

static void run_add(struct run *r, struct xk_mpsc *to, struct xdp_frame *f)
{
	if (r->to != to) {
		run_end(r);
		*r = (struct run){ to, &f->link, NULL };
	} else {
		r->last->next = &f->link;
	}
	r->last = &f->link;
}

/* A message that was sent from where it lies. */
static bool let_go(const struct xdp_dev *d, uint64_t addr)
{
	struct xk_msg **h = xdp_held(d, addr), *m = h != NULL ? *h : NULL;

	if (m == NULL || (uintptr_t)m->data - (uintptr_t)d->area != addr)
		return false;
	*h = NULL;
	xk_msg_free(m);
	return true;
}

/*
 * Frames that have been sent: a VP's own to it, received ones to where they came from, messages are freed.  r
 * counts what is none of them.
 */
static void queue_reap(struct xdp_queue *q, struct xk_rep *r)
{
	struct run run = { NULL, NULL, NULL };
	uint32_t at, n = xsk_ring_cons__peek(&q->comp, q->comp.size, &at);

	if (n == 0)
		return;
	xdp_from_kernel(q);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t addr = *xsk_ring_cons__comp_addr(&q->comp, at + i);
		struct xdp_port *of = xdp_sender(q, addr);
		struct xdp_frame *f = of != NULL ? xdp_frame_at(q->dev, addr) : xdp_sent(q->dev, addr);

		if (f == NULL) {
			if (XK_UNLIKELY(!let_go(q->dev, addr)))
				xk_count(r->count[N_ERRORS]);
			continue;
		}
		f->sent = false;
		run_add(&run, of != NULL ? &of->done : &f->q->back, f);
	}
	run_end(&run);
	xsk_ring_cons__release(&q->comp, n);
}

void xdp_queue_tend(const struct xdp_port *p)
{
	struct xdp_queue *q = p->q;

	do {
		struct xk_qlink *l;

		if (xk_atomic_xchg(&q->busy, 1u) != 0)
			return;
		l = queue_back(q);
		if (l != NULL)
			queue_refill(p, l);
		queue_reap(q, p->rep);
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
	xdp_queue_tend(p);
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
		xdp_queue_tend(p);
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

void xdp_frame_put(struct xdp_port *p, struct xdp_frame *f)
{
	f->link.next = p->spare;
	p->spare = &f->link;
}

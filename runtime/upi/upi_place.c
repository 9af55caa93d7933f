/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upi_place.c - frames whose payload goes straight into a posted ring.
 *
 * A burst is classified where the device put it, before a byte of payload is
 * touched.  Of the runs of connections that have posted something each frame is
 * copied once: headers into a small buffer, payload into the ring, summed on the way
 * where there is a checksum, so that no layer above reads it again.  All other frames
 * become messages as ever.  A frame whose sum is wrong is given to the protocol that
 * drops it, unchanged; the ring is as it was, for nobody looks there yet.
 *
 * Runs stay together: the message of a placed frame is two segments, the first of
 * which says the length of both for as long as it is in a run (struct xk_batch).
 * Invariant: CSUM_OK is said of a placed frame whose sum was right, or that the driver
 * vouches for.
 */
#include "runtime/upi/upi_ddp.h"

#include <string.h>

#include "runtime/base/xk_csum_inline.h"
#include "runtime/upi/xk_arrivals.h"

#define BURST 32u
#define HEAD  160u               /* more than the longest headers and a wide word */
#define NOT_PLAIN (XK_MSG_SLOW | XK_MSG_LINK_BCAST)

/* The burst as it goes up. */
struct batch {
	struct xk_msg  *m[BURST];
	struct xk_run   run[BURST];
	unsigned        n, nruns;
	struct xk_flow *flow;            /* of the run that is growing, NULL: none is */
};

/* ---- one frame -------------------------------------------------------------------- */

static struct xk_msg *refused(struct xk_ddp *d, unsigned why)
{
	xk_count(d->count[why]);
	return NULL;
}

/* Where the payload belongs; false, counted: nowhere. */
static bool place_find(struct xk_ddp *d, const struct xk_payload *p, uint64_t *at)
{
	uint64_t limit;

	if (!d->stream) {
		if (p->n >= d->least && ddp_room(d, p->n, at))
			return true;
		refused(d, p->n < d->least ? XK_DDP_SHORT : XK_DDP_FULL);
		return false;
	}
	limit = ddp_limit(d);
	if (d->oldest == d->next)
		d->placed = d->taken;    /* nothing is on its way */
	*at = d->taken + p->skip;
	if (*at != d->placed) {
		refused(d, XK_DDP_ORDER);
		return false;
	}
	if (XK_LIKELY(p->n >= d->least && *at + p->n <= limit && (*at & d->mask) + p->n <= (uint64_t)d->mask + 1 &&
		      d->next - d->oldest < DDP_RECS))
		return true;
	/* It has its place all the same: what follows belongs behind it. */
	d->placed += p->n;
	refused(d, p->n < d->least ? XK_DDP_SHORT : XK_DDP_FULL);
	return false;
}

/* A frame under examination: its first bytes in one piece, and where the payload begins. */
struct look {
	const struct xk_msg *frame;
	const uint8_t       *head;
	uint32_t             h;          /* bytes of headers */
	struct xk_payload    p;
	bool                 vouched;
	uint8_t              copy[HEAD]; /* of the first bytes of one in pieces */
};

static inline bool look_at(const struct xk_ddp *d, const struct xk_msg *frame, uint32_t link, struct look *l)
{
	l->frame = frame;
	l->head = frame->data;
	l->vouched = (frame->flags & XK_MSG_CSUM_OK) != 0;
	l->p.skip = 0;
	if (frame->tot < link)
		return false;
	if (XK_UNLIKELY(frame->flags & XK_MSG_CHAIN)) {
		if (frame->tot < HEAD)
			return false;
		xk_msg_copy_out(frame, 0, l->copy, HEAD);
		l->head = l->copy;
	}
	if (!d->payload(d->sess, l->head + link, frame->tot - link, &l->p))
		return false;
	l->h = link + l->p.header;
	return l->h <= HEAD - XK_WIDE;
}

/* The payload goes to its place; false: its sum is wrong. */
static inline bool place_copy(uint8_t *to, const struct look *l)
{
	const struct xk_payload *p = &l->p;
	uint32_t sum = p->sum;

	if (XK_UNLIKELY(l->frame->flags & XK_MSG_CHAIN))
		xk_msg_copy_out_csum(l->frame, l->h, to, p->n, &sum);
	else if (l->vouched || !p->summed)
		xk_copy_quick(to, l->head + l->h, p->n);
	else
		sum = xk_csum_copy_quick(to, l->head + l->h, p->n, sum);
	return l->vouched || !p->summed || xk_csum_valid(sum);
}

/* A segment for the headers before seg, both of this VP. */
static struct xk_msg *head_new(const struct look *l, struct xk_msg *seg)
{
	struct xk_msg *x = xk_msg_new_cls(XK_MEM_SMALL, l->h);
	/* A little of the payload, too: headers are compared in wide words. */
	uint32_t copy = l->p.n < XK_WIDE ? l->h + l->p.n : l->h + XK_WIDE;

	if (XK_UNLIKELY(x == NULL)) {
		xk_msg_free(seg);        /* takes its record back */
		return NULL;
	}
	xk_copy_quick(x->data, l->head, copy);
	x->next = seg;
	x->tot = l->frame->tot;
	x->flags = XK_MSG_CHAIN;
	if (l->p.summed || l->vouched)
		x->flags |= XK_MSG_CSUM_OK;
	return x;
}

/* The frame as a message that looks into the ring, or NULL, counted. */
static struct xk_msg *place(struct xk_ddp *d, const struct xk_msg *frame, uint32_t link)
{
	struct xk_msg *x, *seg;
	struct look l;
	uint64_t at;

	if (XK_UNLIKELY(!look_at(d, frame, link, &l)))
		return refused(d, XK_DDP_SHAPE);
	if (l.p.n == 0 || !place_find(d, &l.p, &at))
		return NULL;
	if (XK_UNLIKELY(!place_copy(ddp_at(d, at), &l)))
		return refused(d, XK_DDP_CHECKSUM);
	seg = xk_msg_new_extern(ddp_at(d, at), l.p.n, upi_ddp_release, ddp_rec(d, d->next));
	if (XK_UNLIKELY(seg == NULL))
		return refused(d, XK_DDP_FULL);
	ddp_note(d, at, l.p.n, DDP_LIVE);
	d->placed = at + l.p.n;
	x = head_new(&l, seg);
	if (XK_UNLIKELY(x == NULL)) {
		ddp_rec(d, d->next - 1)->taken = true;  /* never was there */
		return refused(d, XK_DDP_FULL);
	}
	return x;
}

/* ---- runs ------------------------------------------------------------------------- */

/* Joins the growing run where it is of the same known connection.  In company, placed messages
 * take the form that runs have. */
static void batch_add(struct batch *b, struct xk_msg *x, const struct xk_run *verdict, bool placed)
{
	bool alone = verdict->flow == NULL || (!placed && ((x->flags & NOT_PLAIN) || x->len < XK_FRAME_MIN));

	if (alone || verdict->flow != b->flow) {
		b->run[b->nruns] = *verdict;
		b->run[b->nruns].plain = !alone && !placed;
		b->run[b->nruns++].n = 1;
	} else {
		b->run[b->nruns - 1].plain = 1;
		b->m[b->n - 1]->len = b->m[b->n - 1]->tot;
		x->len = x->tot;
		b->run[b->nruns - 1].n++;
	}
	b->flow = alone ? NULL : verdict->flow;
	b->m[b->n++] = x;
}

/* What is posted for the connection of a verdict, here. */
static struct xk_ddp *posted_for(const struct xk_rep *r, const struct xk_run *verdict)
{
	const struct xk_flow *f = verdict->vp == r->vp->no ? verdict->flow : NULL;

	if (f == NULL || xk_load_relaxed(&f->vp) != r->vp->no || f->post == 0)
		return NULL;
	return upi_vp(r->vp)->posted[f->post - 1].d;
}

/* Frames from number `first` on are a run. */
static void arrivals_run(struct xk_rep *r, struct batch *b, const struct xk_msg *frame, unsigned first,
			 const struct xk_run *verdict, uint32_t link, const struct xk_arrivals *a)
{
	struct xk_ddp *d = posted_for(r, verdict);

	for (unsigned i = first; i < first + verdict->n; i++) {
		struct xk_msg *x = d != NULL ? place(d, &frame[i], link) : NULL;
		bool placed = x != NULL;

		if (placed)
			a->placed(a->arg, i);
		else
			x = a->take(a->arg, i);
		if (XK_LIKELY(x != NULL))
			batch_add(b, x, verdict, placed);
	}
}

static XK_NOINLINE void arrivals_ordinary(struct xk_rep *r, unsigned n, const struct xk_arrivals *a)
{
	struct xk_msg *m[BURST];
	unsigned k = 0;

	for (unsigned i = 0; i < n; i++) {
		m[k] = a->take(a->arg, i);
		k += m[k] != NULL;
	}
	if (k != 0)
		xk_input(r, m, k);
}

void xk_input_arrivals(struct xk_rep *r, struct xk_msg *frame, unsigned n, uint32_t link, const struct xk_arrivals *a)
{
	struct xk_classifier *c = r->node->classifier;
	struct xk_sess *s = r->drv_sess;
	struct batch b;
	struct xk_msg *at[BURST];
	struct xk_run run[BURST];
	unsigned nruns;

	xk_dassert(n <= BURST && r->vp->no == xk_vp_no);
	/* Hooks see frames whole. */
	if (XK_UNLIKELY(s == NULL || c == NULL || upi_hooked(r->node, UPI_BELOW))) {
		arrivals_ordinary(r, n, a);
		return;
	}
	b.n = b.nruns = 0;
	b.flow = NULL;
	for (unsigned i = 0; i < n; i++)
		at[i] = &frame[i];
	nruns = xk_classify_runs(c, at, n, run);
	for (unsigned i = 0, first = 0; i < nruns; first += run[i++].n)
		arrivals_run(r, &b, frame, first, &run[i], link, a);
	xk_count_add(r->npop, b.n);
	upi_input_runs(r, s, b.m, b.n, b.run, b.nruns);
}

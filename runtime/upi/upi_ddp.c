/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upi_ddp.c - rings that sessions post for drivers: opened, received from,
 * withdrawn.
 *
 * A piece that a driver has placed is known by its address: when the segment that
 * comes up lies where the receiver's next byte belongs, nothing needs to be moved,
 * whatever the message went through on its way.  Any other is copied there, unless
 * a message that is still under way looks at that memory.
 * Invariant: a ring is freed when it is closed and no record is live.
 */
#include "runtime/upi/upi_ddp.h"

#include <string.h>

/* ---- open, close ---------------------------------------------------------------- */

static uint32_t ring_size(uint32_t bytes)
{
	uint32_t size = XK_DDP_MIN;

	while (size < bytes)
		size *= 2;
	return size;
}

static bool slots_more(struct xk_upivp *u)
{
	uint32_t old = u->cap_posted, cap = old != 0 ? 2 * old : 8;
	struct upi_post *more = xk_alloc(cap * sizeof(*more));

	if (more == NULL)
		return false;
	if (old != 0)
		memcpy(more, u->posted, old * sizeof(*more));
	for (uint32_t i = old; i < cap; i++)
		more[i].free = i + 1 < cap ? i + 2 : 0;
	xk_free(u->posted);
	u->posted = more;
	u->cap_posted = cap;
	u->free_posted = old + 1;
	return true;
}

/* d gets a place in its VP's array; false: no memory. */
static bool slot_take(struct xk_upivp *u, struct xk_ddp *d)
{
	if (u->free_posted == 0 && !slots_more(u))
		return false;
	d->slot = u->free_posted;
	u->free_posted = u->posted[d->slot - 1].free;
	u->posted[d->slot - 1].d = d;
	return true;
}

static void slot_give(struct xk_upivp *u, const struct xk_ddp *d)
{
	u->posted[d->slot - 1] = (struct upi_post){ NULL, u->free_posted };
	u->free_posted = d->slot;
}

static struct xk_ddp *ddp_new(struct xk_sess *lls, const struct xk_ddp_conf *c, xk_payload_fn payload)
{
	uint32_t size = ring_size(c->bytes);
	struct xk_ddp *d = xk_alloc(sizeof(*d) + size + XK_CACHELINE);

	if (d == NULL)
		return NULL;
	d->ring = (uint8_t *)(((uintptr_t)(d + 1) + XK_CACHELINE - 1) & ~(uintptr_t)(XK_CACHELINE - 1));
	d->mask = size - 1;
	d->least = c->least > XK_DDP_LEAST ? c->least : XK_DDP_LEAST;
	d->stream = c->stream;
	d->payload = payload;
	d->count = c->count;
	d->vp = lls->rep->vp;
	d->sess = lls;
	for (unsigned i = 0; i < DDP_RECS; i++)
		d->rec[i].d = d;
	d->last = &d->rec[0];
	return d;
}

int xk_ddp_open(struct xk_ddp **out, struct xk_sess *lls, const struct xk_ddp_conf *c)
{
	struct xk_upivp *u = upi_vp(lls->rep->vp);
	xk_payload_fn payload;
	struct xk_ddp *d;

	xk_sess_check(lls);
	*out = NULL;
	if (c->bytes < XK_DDP_MIN || c->bytes > XK_DDP_MAX)
		return XK_E_INVAL;
	/* Under layer parallelism the device is another thread than the transport. */
	if (lls->flow == 0 || lls->rep->vp->stage != NULL ||
	    xk_sess_control(lls, XK_CTL_PAYLOAD, &payload, sizeof payload) != (int)sizeof payload)
		return XK_E_NOTSUP;
	if (xk_sess_flow(lls)->post != 0)
		return XK_E_BUSY;
	d = ddp_new(lls, c, payload);
	if (d == NULL || !slot_take(u, d)) {
		xk_free(d);
		return XK_E_NOMEM;
	}
	d->flow = xk_sess_flow(lls);
	d->gen = xk_load_relaxed(&d->flow->gen);
	d->flow->post = d->slot;
	d->vp->nposted++;
	*out = d;
	return XK_OK;
}

/* One less that keeps d. */
static void ddp_less(struct xk_ddp *d, uint32_t n)
{
	if (xk_atomic_add(&d->left, -n) == n)
		xk_free(d);
}

void upi_ddp_release(void *arg)
{
	struct ddp_rec *x = arg;
	struct xk_ddp *d = x->d;

	if (XK_LIKELY(xk_vp_self == d->vp && !d->closed))
		xk_store_relaxed(&x->state, DDP_GONE);
	else if (xk_atomic_xchg(&x->state, DDP_GONE) == DDP_ORPHAN)
		ddp_less(d, 1);
}

void xk_ddp_close(struct xk_ddp *d)
{
	uint32_t over = 1;

	if (d == NULL)
		return;
	/* A session that ended has taken its flow with it. */
	if (xk_load_relaxed(&d->flow->gen) == d->gen && d->flow->post == d->slot)
		d->flow->post = 0;
	slot_give(upi_vp(d->vp), d);
	d->vp->nposted--;
	ddp_limit(d);
	xk_store_relaxed(&d->left, d->next - d->oldest + 1);
	d->closed = true;
	for (; d->oldest != d->next; d->oldest++)
		over += xk_atomic_xchg(&ddp_rec(d, d->oldest)->state, DDP_ORPHAN) == DDP_GONE;
	ddp_less(d, over);
}

/* ---- received --------------------------------------------------------------------- */

/* The record that covers place at, or NULL; what comes up is mostly what was placed first. */
static struct ddp_rec *rec_find(struct xk_ddp *d, uint64_t at)
{
	uint32_t n = d->next - d->oldest, from = d->expect - d->oldest < n ? d->expect : d->oldest;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = from + i - d->oldest < n ? from + i : from + i - n;
		struct ddp_rec *x = ddp_rec(d, k);

		if (at - x->at < x->n) {
			d->expect = k + 1;
			return x;
		}
	}
	return NULL;
}

/* Does a message under way look at [at, at + n)? */
static bool rec_covers(struct xk_ddp *d, uint64_t at, uint32_t n)
{
	for (uint32_t i = d->oldest; i != d->next; i++) {
		const struct ddp_rec *x = ddp_rec(d, i);

		if (xk_load_acquire(&x->state) == DDP_LIVE && x->at < at + n && at < x->at + x->n)
			return true;
	}
	return false;
}

/* n bytes of a stream have been received, or passed by. */
static void stream_on(struct xk_ddp *d, uint32_t n)
{
	d->taken += n;
	if (d->placed < d->taken)
		d->placed = d->taken;
	if (d->held == 0)
		d->freed = d->taken;
}

/* n bytes of a stream, at p. */
static bool stream_piece(struct xk_ddp *d, const uint8_t *p, uint32_t n)
{
	uint8_t *to = ddp_at(d, d->taken);
	struct ddp_rec *x;

	if (XK_LIKELY(p == to)) {
		x = rec_find(d, d->taken);
		if (x != NULL)
			x->taken = true;
		xk_count(d->count[XK_DDP_PLACED]);
	} else {
		if (d->taken + n > ddp_limit(d) || rec_covers(d, d->taken, n))
			return false;
		memcpy(to, p, n);
		xk_count(d->count[XK_DDP_COPIED]);
	}
	d->held += n;
	stream_on(d, n);
	return true;
}

static uint32_t stream_receive(struct xk_ddp *d, const struct xk_msg *m, uint32_t off, uint8_t **at)
{
	uint32_t left = m->tot - off, room = d->mask + 1 - (uint32_t)(d->taken & d->mask), n;

	while (m != NULL && off >= m->len) {
		off -= m->len;
		m = m->next;
	}
	if (m == NULL)
		return 0;
	*at = ddp_at(d, d->taken);
	n = m->len - off < room ? m->len - off : room;
	if (XK_LIKELY(stream_piece(d, m->data + off, n)))
		return n;
	/* The receiver has the rest from m; what comes next has its place behind it. */
	xk_count(d->count[XK_DDP_MISSED]);
	stream_on(d, left);
	return 0;
}

/* The record of the piece at p, or NULL. */
static struct ddp_rec *rec_at(struct xk_ddp *d, const uint8_t *p)
{
	uint64_t place = (d->placed & ~(uint64_t)d->mask) + (uintptr_t)(p - d->ring);

	/* Within the last turn of the ring. */
	return rec_find(d, place < d->placed ? place : place - d->mask - 1);
}

/* All of m in one segment that lies in the ring: its record. */
static inline struct ddp_rec *dgram_placed(struct xk_ddp *d, const struct xk_msg *m, uint8_t **at)
{
	struct ddp_rec *x = ddp_rec(d, d->expect);
	uint32_t n = m->tot;

	while (m->len == 0 && m->next != NULL)
		m = m->next;
	*at = m->data;
	if (XK_LIKELY(m->len == n && d->expect - d->oldest < d->next - d->oldest &&
		      m->data == ddp_at(d, x->at) && n == x->n)) {
		d->expect++;
		return x;
	}
	return m->len == n && (uintptr_t)m->data - (uintptr_t)d->ring <= d->mask ? rec_at(d, m->data) : NULL;
}

static uint32_t dgram_receive(struct xk_ddp *d, const struct xk_msg *m, uint8_t **at)
{
	struct ddp_rec *x = dgram_placed(d, m, at);
	uint64_t place;

	if (XK_LIKELY(x != NULL && !x->held)) {
		xk_count(d->count[XK_DDP_PLACED]);
	} else if (ddp_room(d, m->tot, &place)) {
		x = ddp_note(d, place, m->tot, DDP_GONE);
		d->placed = place + m->tot;
		*at = ddp_at(d, place);
		xk_msg_copy_out(m, 0, *at, m->tot);
		xk_count(d->count[XK_DDP_COPIED]);
	} else {
		xk_count(d->count[XK_DDP_MISSED]);
		return 0;
	}
	x->held = x->taken = true;
	d->last = x;
	return m->tot;
}

uint32_t xk_ddp_receive(struct xk_ddp *d, const struct xk_msg *m, uint32_t off, uint8_t **at)
{
	xk_dassert(xk_vp_self == d->vp && !d->closed);
	if (off >= m->tot)
		return 0;
	return d->stream ? stream_receive(d, m, off, at) : dgram_receive(d, m, at);
}

void xk_ddp_done(struct xk_ddp *d, const uint8_t *at, uint32_t n)
{
	uint32_t pos = (uint32_t)(at - d->ring);
	struct ddp_rec *x = d->last;

	xk_dassert(xk_vp_self == d->vp && !d->closed && pos <= d->mask);
	if (d->stream) {
		/* The first place from `freed` on that lies there. */
		xk_assert(n <= d->held);
		d->held -= n;
		d->freed = d->held == 0 ? d->taken : d->freed + ((pos - (uint32_t)d->freed) & d->mask) + n;
		return;
	}
	if (XK_UNLIKELY(!x->held || at != ddp_at(d, x->at)))
		x = rec_at(d, at);
	xk_assert(x != NULL && x->held);
	x->held = false;
}

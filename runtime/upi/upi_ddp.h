/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upi_ddp.h - a posted ring, as its receiver's half (upi_ddp.c) and the
 * drivers' half (upi_place.c) see it.
 *
 * Places are counted from the ring's beginning without end; its memory is the count
 * modulo its size, a power of two.  A record says who still looks at a piece: the
 * message that was lent it (state), the receiver (held).  Records are in the order
 * of their places, [oldest, next); the memory behind the oldest one's place is safe.
 *
 * Of a stream, byte k has place k, counted from the opening on, however it came:
 * `taken` is how many have been received, so what is expected next has place `taken`.
 * Of that, [taken, placed) is on its way up.
 *
 * Only a record's state and `left` are touched outside the VP: by whoever frees a message
 * that travelled.  After the end, records under way are orphans, and the last one frees all.
 * Invariant: freed <= taken <= placed <= limit, of a stream; a piece is written only
 * while no record but its own covers it.
 */
#ifndef UPI_DDP_H
#define UPI_DDP_H

#include "runtime/upi/upi_priv.h"
#include "runtime/upi/xk_ddp.h"

#define DDP_RECS 128u

enum { DDP_GONE, DDP_LIVE, DDP_ORPHAN };

struct ddp_rec {
	struct xk_ddp *d;
	uint64_t           at;           /* place of its first byte */
	uint32_t           n;
	uint32_t           state;
	bool               held;         /* datagrams: by the receiver */
	bool               taken;        /* the receiver has seen it */
};

struct xk_ddp {
	/* Read for each frame. */
	uint8_t        *ring;
	uint32_t        mask, least;
	bool            stream, closed;
	uint32_t        oldest, next;    /* records, modulo DDP_RECS */
	uint64_t        placed, taken, freed;
	uint64_t        held;            /* bytes of a stream that the receiver has */
	xk_payload_fn   payload;
	xk_counter     *count;
	/* Where it is posted. */
	struct xk_vp   *vp;
	struct xk_sess *sess;
	struct xk_flow *flow;            /* while its generation is gen */
	uint16_t        gen;
	uint32_t        slot;            /* in the VP's array, plus 1 */
	uint32_t        left;            /* after the end: orphans */
	uint32_t        expect;          /* record that comes up next, a guess */
	struct ddp_rec *last;        /* datagrams: received last */
	struct ddp_rec rec[DDP_RECS];
};

static inline struct ddp_rec *ddp_rec(struct xk_ddp *d, uint32_t i)
{
	return &d->rec[i % DDP_RECS];
}

/* Forgets the oldest records that nobody needs; the place from which on the ring must not be
 * written yet. */
static inline uint64_t ddp_limit(struct xk_ddp *d)
{
	uint64_t from = d->stream ? d->freed : d->placed;

	while (d->oldest != d->next) {
		struct ddp_rec *x = ddp_rec(d, d->oldest);

		if (xk_load_acquire(&x->state) == DDP_LIVE || x->held) {
			if (!d->stream || x->at < from)
				from = x->at;
			break;
		}
		if (XK_UNLIKELY(!x->taken))
			xk_count(d->count[XK_DDP_LOST]);
		d->oldest++;
	}
	return from + d->mask + 1;
}

/* Room for a datagram of n bytes in one piece, from a line's beginning on; false: none. */
static inline bool ddp_room(struct xk_ddp *d, uint32_t n, uint64_t *at)
{
	uint64_t limit = ddp_limit(d), p = (d->placed + XK_CACHELINE - 1) & ~(uint64_t)(XK_CACHELINE - 1);

	if ((p & d->mask) + n > (uint64_t)d->mask + 1)
		p = (p | d->mask) + 1;
	*at = p;
	if (d->oldest == d->next)
		return n <= d->mask + 1;
	return p + n <= limit && d->next - d->oldest < DDP_RECS;
}

static inline struct ddp_rec *ddp_note(struct xk_ddp *d, uint64_t at, uint32_t n, uint32_t state)
{
	struct ddp_rec *x = ddp_rec(d, d->next++);

	x->at = at;
	x->n = n;
	x->held = x->taken = false;
	xk_store_relaxed(&x->state, state);
	return x;
}

static inline uint8_t *ddp_at(const struct xk_ddp *d, uint64_t at)
{
	return d->ring + (at & d->mask);
}

/* The release of a lent piece; arg is its record. */
void upi_ddp_release(void *arg);

#endif

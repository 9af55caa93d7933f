/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upi_deposit.h - a posted ring, as its receiver's half (upi_deposit.c) and the
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
#ifndef UPI_DEPOSIT_H
#define UPI_DEPOSIT_H

#include "runtime/upi/upi_priv.h"
#include "runtime/upi/xk_deposit.h"

#define DEPOSIT_RECS 128u

enum { DEPOSIT_GONE, DEPOSIT_LIVE, DEPOSIT_ORPHAN };

struct deposit_rec {
	struct xk_deposit *d;
	uint64_t           at;           /* place of its first byte */
	uint32_t           n;
	uint32_t           state;
	bool               held;         /* datagrams: by the receiver */
	bool               taken;        /* the receiver has seen it */
};

struct xk_deposit {
	/* Read for each frame. */
	uint8_t        *ring;
	uint32_t        mask, least;
	bool            stream, closed;
	uint32_t        oldest, next;    /* records, modulo DEPOSIT_RECS */
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
	struct deposit_rec *last;        /* datagrams: received last */
	struct deposit_rec rec[DEPOSIT_RECS];
};

static inline struct deposit_rec *deposit_rec(struct xk_deposit *d, uint32_t i)
{
	return &d->rec[i % DEPOSIT_RECS];
}

/* Forgets the oldest records that nobody needs; the place from which on the ring must not be
 * written yet. */
static inline uint64_t deposit_limit(struct xk_deposit *d)
{
	uint64_t from = d->stream ? d->freed : d->placed;

	while (d->oldest != d->next) {
		struct deposit_rec *x = deposit_rec(d, d->oldest);

		if (xk_load_acquire(&x->state) == DEPOSIT_LIVE || x->held) {
			if (!d->stream || x->at < from)
				from = x->at;
			break;
		}
		if (XK_UNLIKELY(!x->taken))
			xk_count(d->count[XK_DEPOSIT_LOST]);
		d->oldest++;
	}
	return from + d->mask + 1;
}

/* Room for a datagram of n bytes in one piece, from a line's beginning on; false: none. */
static inline bool deposit_room(struct xk_deposit *d, uint32_t n, uint64_t *at)
{
	uint64_t limit = deposit_limit(d), p = (d->placed + XK_CACHELINE - 1) & ~(uint64_t)(XK_CACHELINE - 1);

	if ((p & d->mask) + n > (uint64_t)d->mask + 1)
		p = (p | d->mask) + 1;
	*at = p;
	if (d->oldest == d->next)
		return n <= d->mask + 1;
	return p + n <= limit && d->next - d->oldest < DEPOSIT_RECS;
}

static inline struct deposit_rec *deposit_note(struct xk_deposit *d, uint64_t at, uint32_t n, uint32_t state)
{
	struct deposit_rec *x = deposit_rec(d, d->next++);

	x->at = at;
	x->n = n;
	x->held = x->taken = false;
	xk_store_relaxed(&x->state, state);
	return x;
}

static inline uint8_t *deposit_at(const struct xk_deposit *d, uint64_t at)
{
	return d->ring + (at & d->mask);
}

/* The release of a lent piece; arg is its record. */
void upi_deposit_release(void *arg);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_ring.c - the queue from one stage to another.
 *
 * See vp_ring.h.  A block is left by its producer when `next` is set, which is published with
 * the first message of the next one: a consumer that may take that message sees `next` and
 * `end`, and one that has not come to `end` has no use for them.
 * Invariant: only the block that `in` points at is written, only that of `out` is freed.
 */
#include "runtime/vp/modes/vp_ring.h"

static struct ring_block *block_new(uint32_t places)
{
	struct ring_block *b;

	b = xk_alloc(sizeof *b + places * sizeof b->at[0]);
	if (b == NULL)
		return NULL;
	b->mask = places - 1;
	return b;
}

struct xk_ring *ring_new(uint32_t high)
{
	struct xk_ring *r = xk_alloc(sizeof *r);
	uint32_t places = 64;

	while (places < 2 * high)
		places *= 2;
	if (r == NULL)
		return NULL;
	r->in = r->out = block_new(places);
	if (r->in != NULL)
		return r;
	xk_free(r);
	return NULL;
}

void ring_free(struct xk_ring *r)
{
	while (r->out != NULL) {
		struct ring_block *next = r->out->next;

		xk_free(r->out);
		r->out = next;
	}
	xk_free(r);
}

static XK_NOINLINE struct ring_block *another_block(struct xk_ring *r)
{
	struct ring_block *b = r->in, *more = block_new(b->mask + 1);

	if (more == NULL)
		return NULL;
	more->first = b->end = r->oldest = r->tail;
	xk_store_release(&b->next, more);
	return r->in = more;
}

bool ring_put(struct xk_ring *r, struct xk_hop h)
{
	struct ring_block *b = r->in;

	if (XK_UNLIKELY(r->tail - r->oldest > b->mask)) {
		r->known = xk_load_acquire(&r->taken);
		if ((int32_t)(r->known - r->oldest) > 0)
			r->oldest = r->known;
		if (r->tail - r->oldest > b->mask) {
			b = another_block(r);
			if (b == NULL)
				return false;
		}
	}
	b->at[(r->tail - b->first) & b->mask] = h;
	r->tail++;
	return true;
}

bool ring_take(struct xk_ring *r, struct xk_hop *h)
{
	struct ring_block *b = r->out, *next;

	if (r->head == r->seen && ring_look(r) == 0)
		return false;
	next = xk_load_acquire(&b->next);
	if (XK_UNLIKELY(next != NULL) && r->head == b->end) {
		xk_free(b);
		r->out = b = next;
	}
	*h = b->at[(r->head - b->first) & b->mask];
	r->head++;
	return true;
}

void ring_each(const struct xk_ring *r, void (*fn)(struct xk_hop *h, void *arg), void *arg)
{
	struct ring_block *b = r->out;

	for (uint32_t i = r->head; i != r->tail; i++) {
		if (b->next != NULL && i == b->end)
			b = b->next;
		fn(&b->at[(i - b->first) & b->mask], arg);
	}
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_ring.c - the queue from one lane to another.
 *
 * See vp_ring.h.  A block is left by its producer when `next` is set, so a consumer that
 * finds a block empty and sees a next one looks at the tail once more before it moves on.
 * Invariant: only the block that `in` points at is written, only that of `out` is freed.
 */
#include "runtime/vp/vp_ring.h"

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

bool ring_put(struct xk_ring *r, const struct xk_hop *h)
{
	struct ring_block *b = r->in;

	if (XK_UNLIKELY(b->tail - xk_load_acquire(&b->head) > b->mask)) {
		struct ring_block *more = block_new(b->mask + 1);

		if (more == NULL)
			return false;
		xk_store_release(&b->next, more);
		r->in = b = more;
	}
	b->at[b->tail & b->mask] = *h;
	xk_store_release(&b->tail, b->tail + 1);
	xk_store_release(&r->posted, r->posted + 1);
	return true;
}

bool ring_take(struct xk_ring *r, struct xk_hop *h)
{
	struct ring_block *b = r->out, *next;

	while (b->head == xk_load_acquire(&b->tail)) {
		next = xk_load_acquire(&b->next);
		if (next == NULL)
			return false;
		if (b->head != xk_load_acquire(&b->tail))
			break;
		xk_free(b);
		r->out = b = next;
	}
	*h = b->at[b->head & b->mask];
	xk_store_release(&b->head, b->head + 1);
	xk_store_release(&r->taken, r->taken + 1);
	return true;
}

void ring_each(const struct xk_ring *r, void (*fn)(struct xk_hop *h, void *arg), void *arg)
{
	for (struct ring_block *b = r->out; b != NULL; b = xk_load_acquire(&b->next)) {
		uint32_t tail = xk_load_acquire(&b->tail);

		for (uint32_t i = b->head; i != tail; i++)
			fn(&b->at[i & b->mask], arg);
	}
}

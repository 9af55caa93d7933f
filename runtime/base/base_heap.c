/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * base_heap.c - a heap of embedded items; see xk_heap.h.
 *
 * A place has four below it, whose keys lie in a cache line of their own or two: with thousands of items what a look
 * costs is lines, so keys are beside each other, and items are looked at where keys are equal.
 */
#include "runtime/base/xk_heap.h"

#define BELOW 4u

static inline bool before(const struct xk_heap_place *a, const struct xk_heap_place *b)
{
	return a->key != b->key ? a->key < b->key : a->item->tie < b->item->tie;
}

static void put_at(struct xk_heap *h, uint32_t i, struct xk_heap_place x)
{
	h->place[i] = x;
	x.item->at = i + 1;
}

/* x belongs to place i or above it. */
static void rise(struct xk_heap *h, uint32_t i, struct xk_heap_place x)
{
	for (; i != 0 && before(&x, &h->place[(i - 1) / BELOW]); i = (i - 1) / BELOW)
		put_at(h, i, h->place[(i - 1) / BELOW]);
	put_at(h, i, x);
}

/* The first of those below i, of which there is one. */
static uint32_t first_below(const struct xk_heap *h, uint32_t i)
{
	uint32_t first = BELOW * i + 1, end = first + BELOW < h->n ? first + BELOW : h->n;

	for (uint32_t k = first + 1; k < end; k++)
		if (before(&h->place[k], &h->place[first]))
			first = k;
	return first;
}

/* x belongs to place i or below it. */
static void sink(struct xk_heap *h, uint32_t i, struct xk_heap_place x)
{
	while (BELOW * i + 1 < h->n) {
		uint32_t first = first_below(h, i);

		if (before(&x, &h->place[first]))
			break;
		put_at(h, i, h->place[first]);
		i = first;
	}
	put_at(h, i, x);
}

static void settle(struct xk_heap *h, uint32_t i, struct xk_heap_place x)
{
	if (i != 0 && before(&x, &h->place[(i - 1) / BELOW]))
		rise(h, i, x);
	else
		sink(h, i, x);
}

void xk_heap_put(struct xk_heap *h, struct xk_heap_item *x)
{
	settle(h, x->at != 0 ? x->at - 1 : h->n++, (struct xk_heap_place){ x->key, x });
}

void xk_heap_take(struct xk_heap *h, struct xk_heap_item *x)
{
	uint32_t i = x->at - 1;

	if (x->at == 0)
		return;
	x->at = 0;
	if (i != --h->n)
		settle(h, i, h->place[h->n]);
}

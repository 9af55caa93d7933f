/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * base_heap.c - a binary heap of embedded items; see xk_heap.h.
 */
#include "runtime/base/xk_heap.h"

static bool before(const struct xk_heap_item *a, const struct xk_heap_item *b)
{
	return a->key != b->key ? a->key < b->key : a->tie < b->tie;
}

static void place(struct xk_heap *h, uint32_t i, struct xk_heap_item *x)
{
	h->item[i] = x;
	x->at = i + 1;
}

/* x belongs to place i or above it. */
static void rise(struct xk_heap *h, uint32_t i, struct xk_heap_item *x)
{
	for (; i != 0 && before(x, h->item[(i - 1) / 2]); i = (i - 1) / 2)
		place(h, i, h->item[(i - 1) / 2]);
	place(h, i, x);
}

/* x belongs to place i or below it. */
static void sink(struct xk_heap *h, uint32_t i, struct xk_heap_item *x)
{
	for (uint32_t child; (child = 2 * i + 1) < h->n; i = child) {
		child += child + 1 < h->n && before(h->item[child + 1], h->item[child]);
		if (before(x, h->item[child]))
			break;
		place(h, i, h->item[child]);
	}
	place(h, i, x);
}

static void settle(struct xk_heap *h, uint32_t i, struct xk_heap_item *x)
{
	if (i != 0 && before(x, h->item[(i - 1) / 2]))
		rise(h, i, x);
	else
		sink(h, i, x);
}

void xk_heap_put(struct xk_heap *h, struct xk_heap_item *x)
{
	settle(h, x->at != 0 ? x->at - 1 : h->n++, x);
}

void xk_heap_take(struct xk_heap *h, struct xk_heap_item *x)
{
	uint32_t i = x->at - 1;
	struct xk_heap_item *last;

	if (x->at == 0)
		return;
	x->at = 0;
	last = h->item[--h->n];
	if (last != x)
		settle(h, i, last);
}

struct xk_heap_item *xk_heap_swap(struct xk_heap *h, struct xk_heap_item *x)
{
	struct xk_heap_item *first = xk_heap_first(h);

	if (first == NULL || before(x, first))
		return x;
	first->at = 0;
	sink(h, 0, x);
	return first;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_heap.h - a heap of structures that have an item in them: the least key is first.
 *
 * Of equal keys the least tie is first, so that the order is the user's and not the heap's.  An item
 * knows its place, so it is taken out, or given another key, without a search.  The memory is the
 * user's: h->place has room for as many as are in it at once.  Whoever shares a heap guards it.
 *
 *   operation        cost       legal when
 *   xk_heap_first    O(1)       always; NULL: there is none
 *   xk_heap_in       O(1)       the item, zeroed at first, was in no other heap
 *   xk_heap_put      O(log n)   always: puts it in, or where its new key belongs
 *   xk_heap_take     O(log n)   always: nothing happens to an item in none
 *
 * Invariant: place[i].item->at is i + 1; of all others it is 0.
 */
#ifndef XK_HEAP_H
#define XK_HEAP_H

#include "runtime/base/xk_base.h"

struct xk_heap_item {
	uint64_t key, tie;           /* the user's; of one that is in: before xk_heap_put */
	uint32_t at;                 /* the heap's */
};
struct xk_heap_place { uint64_t key; struct xk_heap_item *item; };
struct xk_heap { struct xk_heap_place *place; uint32_t n; };

static inline struct xk_heap_item *xk_heap_first(const struct xk_heap *h) { return h->n != 0 ? h->place[0].item : NULL; }
static inline bool xk_heap_in(const struct xk_heap_item *x) { return x->at != 0; }

void xk_heap_put(struct xk_heap *h, struct xk_heap_item *x);
void xk_heap_take(struct xk_heap *h, struct xk_heap_item *x);

#endif

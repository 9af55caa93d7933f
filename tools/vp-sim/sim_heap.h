/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_heap.h - a heap of events with four children to a parent, the earliest first.
 *
 * An event is its time and its number in one word: nanoseconds above, 47 bits or 39 hours, and
 * the number below.  Events at the same time come by their number, so the order is the model's
 * and not the heap's.  The memory is the caller's: room for each number once, and for four more.
 */
#ifndef XK_SIM_HEAP_H
#define XK_SIM_HEAP_H

#include "runtime/base/xk_base.h"

#define SIM_EVENT_BITS 17u
#define SIM_HEAP_SPARE 4u

struct sim_heap { uint64_t *e; unsigned n; };

static inline uint64_t sim_event(xk_ns at, uint32_t no) { return at << SIM_EVENT_BITS | no; }
static inline xk_ns sim_event_at(uint64_t e) { return e >> SIM_EVENT_BITS; }
static inline uint32_t sim_event_no(uint64_t e) { return (uint32_t)e & ((1u << SIM_EVENT_BITS) - 1); }

static inline void sim_heap_put(struct sim_heap *h, uint64_t e)
{
	unsigned i = h->n++;

	while (i != 0 && e < h->e[(i - 1) / 4]) {
		h->e[i] = h->e[(i - 1) / 4];
		i = (i - 1) / 4;
	}
	h->e[i] = e;
}

/* e goes down from the top, where there is room.  Behind the last stand later ones, so that each
 * parent has four children. */
static inline void sim_heap_sink(struct sim_heap *h, uint64_t e)
{
	unsigned i = 0, child;

	for (unsigned k = 0; k < SIM_HEAP_SPARE; k++)
		h->e[h->n + k] = UINT64_MAX;
	while ((child = 4 * i + 1) < h->n) {
		const uint64_t *c = &h->e[child];
		unsigned left = c[1] < c[0], right = 2 + (c[3] < c[2]), least = c[right] < c[left] ? right : left;

		if (c[least] >= e)
			break;
		h->e[i] = c[least];
		i = child + least;
	}
	h->e[i] = e;
}

/* The first becomes another one. */
static inline void sim_heap_replace(struct sim_heap *h, uint64_t e) { sim_heap_sink(h, e); }

/* There is one. */
static inline uint64_t sim_heap_get(struct sim_heap *h)
{
	uint64_t first = h->e[0], last = h->e[--h->n];

	if (h->n != 0)
		sim_heap_sink(h, last);
	return first;
}

#endif

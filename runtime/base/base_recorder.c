/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * base_recorder.c - reads a flight recorder's ring beside its writer (xk_recorder.h).
 *
 * Invariant: a record is told only if the head, loaded after its words, says that nobody had begun to write over it.
 */
#include "runtime/base/xk_recorder.h"

static struct xk_rec load(const struct xk_rec *e)
{
	return (struct xk_rec){ __atomic_load_n(&e->when, __ATOMIC_ACQUIRE), __atomic_load_n(&e->what, __ATOMIC_ACQUIRE),
				__atomic_load_n(&e->a, __ATOMIC_ACQUIRE), __atomic_load_n(&e->b, __ATOMIC_ACQUIRE) };
}

/* The oldest one that its writer has not begun to write over; the one after the last may be half written. */
static uint64_t oldest(const struct xk_recorder *r, uint64_t head) { return head > r->mask ? head - r->mask : 0; }

/* n records from number `from` on, as they lie there; returns how many of them were written over meanwhile. */
static unsigned copy(const struct xk_recorder *r, uint64_t from, struct xk_rec *out, unsigned n)
{
	uint64_t first;

	for (unsigned i = 0; i < n; i++)
		out[i] = load(&r->ring[(from + i) & r->mask]);
	first = oldest(r, xk_recorder_head(r));
	return from >= first ? 0 : first - from < n ? (unsigned)(first - from) : n;
}

unsigned xk_recorder_read(const struct xk_recorder *r, uint64_t *from, uint64_t until, struct xk_rec *out, unsigned n)
{
	for (;;) {
		uint64_t first = oldest(r, xk_recorder_head(r));
		unsigned some, gone;

		if (*from < first)
			*from = first;
		if (*from >= until)
			return 0;
		some = until - *from < n ? (unsigned)(until - *from) : n;
		gone = copy(r, *from, out, some);
		*from += gone;
		for (unsigned i = gone; i < some; i++)
			out[i - gone] = out[i];
		if (gone < some)
			return some - gone;
	}
}

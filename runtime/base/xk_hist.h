/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_hist.h - how often a time of about so many nanoseconds was seen.
 *
 * Sixteen places for each power of two: what is read from it is within a 32nd of what was
 * put in, from 0 ns to 30 s; longer times count as the longest.  One writer; readers load
 * whole counters beside it.
 */
#ifndef XK_HIST_H
#define XK_HIST_H

#include "runtime/base/xk_base.h"

#define XK_HIST_PLACES 512u

struct xk_hist { xk_counter n[XK_HIST_PLACES]; };

/* The place of ns. */
static inline unsigned xk_hist_place(xk_ns ns)
{
	unsigned power, at;

	if (ns < 16)
		return (unsigned)ns;
	power = 63u - (unsigned)__builtin_clzll(ns);
	at = (power - 3) * 16 + (unsigned)(ns >> (power - 4) & 15);
	return at < XK_HIST_PLACES ? at : XK_HIST_PLACES - 1;
}

static inline void xk_hist_add(struct xk_hist *h, xk_ns ns)
{
	xk_count(h->n[xk_hist_place(ns)]);
}

/* sum[i] += sign * h->n[i], read beside the writer. */
void xk_hist_sum(uint64_t sum[XK_HIST_PLACES], const struct xk_hist *h, int sign);
/* How many times are in sum. */
uint64_t xk_hist_count(const uint64_t sum[XK_HIST_PLACES]);
/* The middle of the times that count in a place, nanoseconds. */
double xk_hist_middle(unsigned place);
/* The time that p (0..1) of them do not exceed, by nearest rank: the middle of its place, in
 * nanoseconds; 0 when there are none. */
double xk_hist_percentile(const uint64_t sum[XK_HIST_PLACES], double p);

#endif

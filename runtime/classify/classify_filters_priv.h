/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * classify_filters_priv.h - a filter taken apart.
 *
 * Invariant: cells of a term are sorted by place (where and under which mask), no place twice.
 */
#ifndef CLASSIFY_FILTERS_PRIV_H
#define CLASSIFY_FILTERS_PRIV_H

#include "runtime/classify/xk_filters.h"

#define FILTER_TERMS 16u         /* a filter of more runs by itself */

/* One conjunction: the frame has `least` bytes, and all cells hold. */
struct filter_term {
	uint32_t least;
	unsigned n;
	struct xk_filter_cell cell[XK_FILTER_CELLS];
};

/* The terms of a valid program that accepts what any of them does, or -1: it is none. */
int filters_read(const struct sock_filter *prog, struct filter_term *term);
/* Adds a cell; false: no frame can satisfy both it and what is there; *full: no room. */
bool filters_and(struct filter_term *t, const struct xk_filter_cell *c, bool *full);

static inline bool filters_same_place(const struct xk_filter_cell *a, const struct xk_filter_cell *b)
{
	return a->off == b->off && a->width == b->width && a->by_nibble == b->by_nibble && a->nibble == b->nibble &&
	       a->mask == b->mask;
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_filters.h - many users' filters at once: which of them take a frame?
 *
 * A filter is a classic BPF program.  One that is a choice of conjunctions of masked
 * equalities, as most are ("udp dst port 53", "host 10.0.0.1 and tcp"), is taken apart into
 * them; conjunctions that look at the same bits of a frame share one hash table, whatever
 * values they want there, so a thousand filters of one shape cost what one costs.  The others
 * run one by one.
 *
 * Filters are added by one thread before any frame is matched; matching changes nothing, so
 * any thread may.
 */
#ifndef XK_FILTERS_H
#define XK_FILTERS_H

#include <linux/filter.h>

#include "runtime/base/xk_base.h"

#define XK_FILTERS_MAX 65535u

/* A number in a frame: width 1, 2 or 4 bytes at off, most significant first, and mask, is
 * value.  With `by_nibble` off counts from behind a header whose length in units of 4 bytes is
 * in the low half of byte `nibble`, as IPv4 has. */
struct xk_filter_cell {
	uint32_t off;
	uint8_t  width;
	bool     by_nibble;
	uint32_t nibble;
	uint32_t mask, value;
};
#define XK_FILTER_CELLS 12u

struct xk_filters;
/* XK_E_NOMEM. */
int  xk_filters_new(struct xk_filters **f);
void xk_filters_free(struct xk_filters *f);

/* Each returns the filter's number, 0 for the first, or a negative error with a sentence in
 * why: XK_E_INVAL no valid program or cell, XK_E_NOSPC too many, XK_E_NOMEM. */
int  xk_filters_add(struct xk_filters *f, const struct sock_filter *prog, unsigned n, char *why, size_t whylen);
/* All cells hold; none: every frame. */
int  xk_filters_add_cells(struct xk_filters *f, const struct xk_filter_cell *cell, unsigned n, char *why,
			  size_t whylen);

/* The numbers of the filters that take the frame, rising, at most max of them; returns how
 * many.  len below 2^31. */
unsigned xk_filters_match(const struct xk_filters *f, const uint8_t *frame, uint32_t len, uint16_t *taker,
			  unsigned max);

/* How they are held: filters, those run one by one, conjunctions in tables, tables. */
struct xk_filters_shape { unsigned filters, alone, terms, tables; };
struct xk_filters_shape xk_filters_shape(const struct xk_filters *f);

#endif

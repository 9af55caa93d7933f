/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_heat.h - how many messages of each virtual processor each worker, or simulated processor, has run.
 *
 * Runners are workers (I/O threads are, too), where processors are simulated these, and the one thread of the
 * virtual schedule; threads that are none of them, a program's own that have entered, share a column behind the last.
 * Where only one runner may run a VP its cell is the VP's own counter and nothing is counted; where several may,
 * whoever runs a unit counts its messages, inside the VP.  Memory is bounded: neighbours share a cell where there
 * would be more than XK_HEAT_COLUMNS columns or XK_HEAT_CELLS cells.
 * Invariant: what is counted of a VP while workers run is what its counter `messages` has more.
 */
#ifndef XK_HEAT_H
#define XK_HEAT_H

#include "runtime/vp/xk_vp.h"

#define XK_HEAT_COLUMNS 1024u
#define XK_HEAT_CELLS   (1u << 20)

struct xk_heat_shape {
	unsigned vps, runners;           /* VPs: all that threads are inside of, by `at` */
	unsigned per_row, per_column;    /* neighbours that share one; 1: none do */
	unsigned rows, columns;          /* without the column of other threads, number `columns` */
	bool     processors;             /* runners are simulated processors, not workers */
	bool     counted;                /* false: each VP has one runner (xk_vpset_heat_column) */
};

/* Cells of a shape: row after row, each with its columns and that of other threads. */
static inline size_t xk_heat_cells(const struct xk_heat_shape *s) { return (size_t)s->rows * (s->columns + 1); }

/* What a set has: made for so many VPs and runners.  Any thread. */
void xk_heat_shape_of(unsigned vps, unsigned runners, struct xk_heat_shape *out);

/* Counts from now on.  The control thread, before workers start; once.  XK_OK or XK_E_NOMEM.  The memory is the
 * set's. */
int  xk_vpset_heat(struct xk_vpset *set);
/* False: nobody has asked for it.  Any thread. */
bool xk_vpset_heat_shape(const struct xk_vpset *set, struct xk_heat_shape *out);
/* What was counted until now, into cell[xk_heat_cells()]; zeroes where nothing is counted.  Any thread, also while
 * workers run: each cell is read whole, two of them not at one moment. */
void xk_vpset_heat_read(const struct xk_vpset *set, uint64_t *cell);
/* Not counted: the column of the only runner of the VP with this `at`. */
unsigned xk_vpset_heat_column(const struct xk_vpset *set, unsigned at);

#endif

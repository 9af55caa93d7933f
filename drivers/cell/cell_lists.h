/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cell_lists.h - what a graph says of cells by lists: whose fate is given, and which circuits there are.
 *
 * A fate is "FIRST[-LAST] lost" or "FIRST[-LAST] flip BIT [BIT ...]": of the cells that a virtual processor
 * sends, counted from 1; bits of a cell from 0 on, the first sent.  A circuit is "VPI[-VPI]/VCI[-VCI]".
 * Read-only once made.
 */
#ifndef CELL_LISTS_H
#define CELL_LISTS_H

#include "runtime/upi/xk_proto.h"

#define CELL_FLIPS 4u

struct cell_fate {
	uint64_t first, last;
	uint8_t  nflips;                         /* 0: lost */
	uint16_t flip[CELL_FLIPS];
};
struct cell_vcs { uint16_t vpi[2], vci[2]; };  /* from, to */

struct cell_lists {
	struct cell_fate *fate;                  /* by number, none twice */
	struct cell_vcs  *vc;                    /* none: all but what is reserved */
	unsigned          nfates, nvcs;
};

/* Reads the texts; XK_E_INVAL with a sentence in why[n], XK_E_NOMEM.  On failure l is empty. */
int  cell_lists_read(struct cell_lists *l, const struct xk_plist *fates, const struct xk_plist *vcs, char *why, size_t n);
void cell_lists_free(struct cell_lists *l);

/* The fate of cell `no`, numbers only growing, or of the next that has one; *at is the cursor, 0 at first. */
static inline const struct cell_fate *cell_fate_from(const struct cell_lists *l, unsigned *at, uint64_t no)
{
	while (*at < l->nfates && l->fate[*at].last < no)
		++*at;
	return *at < l->nfates ? &l->fate[*at] : NULL;
}

/* Is the circuit of this header there? */
bool cell_vc_there(const struct cell_lists *l, uint32_t header);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cell_take.c - cells that arrive one by one: judged by their headers, and put together as trains.
 *
 * A train ends with the last cell of a frame, where another circuit begins, or where no more cells come.
 * Invariant: between two calls of cell_take_end there is at most one train that is not passed on.
 */
#include "drivers/cell/cell_priv.h"

#include "drivers/cell/cell_hec.h"
#include "runtime/base/xk_bytes.h"

void cell_take_end(struct cell_take *t)
{
	struct xk_msg *m = t->m;
	uint8_t header[XK_CELL_HDR];

	if (m == NULL)
		return;
	t->m = NULL;
	xk_put_be32(header, t->header);
	xk_msg_copy_in(m, 0, header, sizeof header);
	xk_msg_truncate(m, XK_CELL_HDR + t->n * XK_CELL_PAYLOAD);
	if (t->link == NULL) {
		cell_put(t->at, m, t->n);
		return;
	}
	xk_count(t->at->rep->npop);
	xk_demux(t->link, m);
}

static bool begin(struct cell_take *t, uint32_t header, uint32_t left)
{
	t->room = left < XK_CELL_MOST ? left : XK_CELL_MOST;
	t->n = 0;
	t->header = header;
	t->m = xk_msg_new(XK_CELL_HDR + t->room * XK_CELL_PAYLOAD);
	return t->m != NULL;
}

/* May the cell go on? */
static bool judge(struct cell_take *t, uint8_t *cell)
{
	struct xk_rep *r = t->at->rep;

	switch (cell_hec_judge(cell, &t->detecting, cell_conf(r)->hec == CELL_CORRECT)) {
	case CELL_HEC_WRONG:
		xk_dropped(r, CELL_DROP_HEC, 1);
		return false;
	case CELL_HEC_CORRECTED:
		xk_count(r->count[CELL_N_CORRECTED]);
		break;
	case CELL_HEC_RIGHT:
		break;
	}
	xk_count(r->count[CELL_N_IN]);
	if ((xk_be32(cell) & XK_CELL_VC_MASK) == 0) {
		xk_count(r->count[CELL_N_IDLE]);
		return false;
	}
	if (cell_vc_there(&cell_node(r)->lists, xk_be32(cell)))
		return true;
	xk_dropped(r, CELL_DROP_NO_VC, 1);
	return false;
}

void cell_take(struct cell_take *t, uint8_t cell[XK_CELL_LEN], uint32_t left)
{
	uint32_t header;

	if (!judge(t, cell))
		return;
	header = xk_be32(cell);
	if (t->m != NULL && (((t->header ^ header) & ~XK_CELL_LAST) != 0 || t->n == t->room))
		cell_take_end(t);
	if (t->m == NULL && !begin(t, header, left)) {
		xk_dropped(t->at->rep, XK_DROP_NOMEM, 1);
		return;
	}
	xk_msg_copy_in(t->m, XK_CELL_HDR + t->n++ * XK_CELL_PAYLOAD, cell + XK_CELL_HDR + 1, XK_CELL_PAYLOAD);
	if (header & XK_CELL_LAST) {
		t->header |= XK_CELL_LAST;
		cell_take_end(t);
	}
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_diff.h - how a graph file differs from the graph that runs; and the difference applied under traffic.
 *
 *   xk_spec_load -> xk_spec_check -> xk_diff_new -> xk_diff_apply
 *
 * One thread at a time, inside no VP; xk_diff_apply when xk_graph_change may be called (runtime/upi/xk_change.h).
 */
#ifndef XK_DIFF_H
#define XK_DIFF_H

#include "runtime/compose/xk_compose.h"
#include "runtime/upi/xk_change.h"

/*
 * ADD, REMOVE: was is the protocol, now the names of what it lies over.  REPLACE: another node in its place, for one
 * parameter (param), or, without, since the protocol is another.  SET: a live parameter.  OVER: it lies over others
 * than before.
 */
enum xk_diff_kind { XK_DIFF_ADD, XK_DIFF_REMOVE, XK_DIFF_REPLACE, XK_DIFF_SET, XK_DIFF_OVER };
struct xk_diff_row {
	enum xk_diff_kind kind;
	char *node, *was, *now;
	const struct xk_param *param;
};

struct xk_diff;

/* s: checked without errors; needed until the difference is freed, and not by the graph afterwards.  XK_E_INVAL: what cannot
 * change while a graph runs differs, which e says; XK_E_NOMEM. */
int  xk_diff_new(struct xk_diff **d, struct xk_spec *s, struct xk_graph *g, struct xk_errs *e);
void xk_diff_free(struct xk_diff *d);            /* NULL is legal */
/* Of what goes first, then top-down. */
unsigned xk_diff_rows(const struct xk_diff *d, const struct xk_diff_row **row);
/* Errors as those of xk_graph_change.  look: only whether it could be.  Once: rows are of the graph as it was. */
int  xk_diff_apply(struct xk_diff *d, bool look, struct xk_errs *e);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run_heat.c - how many messages of each virtual processor each worker, or simulated processor, ran in a run.
 *
 * Where only one may run a VP its cell is what the VP's counters say, the very numbers of the result, so that both
 * agree.
 * Invariant: a run that nobody has asked has no cells and no more to read.
 */
#include "runtime/run/run_priv.h"

#include <jansson.h>

#include "runtime/mem/xk_alloc.h"

int run_heat_snap(const struct xk_vpset *set, struct run_snap *s)
{
	struct xk_heat_shape shape;

	if (!xk_vpset_heat_shape(set, &shape))
		return XK_OK;
	s->heat = xk_alloc(xk_heat_cells(&shape) * sizeof *s->heat);
	if (s->heat == NULL)
		return XK_E_NOMEM;
	xk_vpset_heat_read(set, s->heat);
	return XK_OK;
}

void run_heat_end(struct xk_run_result *r, const struct run_snap *first, struct run_snap *last)
{
	const struct xk_vpset *set = r->graph->vps;
	struct xk_heat_shape *s = &r->heat.shape;
	uint64_t *cell = last->heat;

	if (!xk_vpset_heat_shape(set, s))
		return;
	for (size_t i = 0; i < xk_heat_cells(s); i++)
		cell[i] -= first->heat[i];
	for (unsigned v = 0; !s->counted && v < r->nall; v++) {
		size_t row = v / s->per_row;

		cell[row * (s->columns + 1) + xk_vpset_heat_column(set, v)] += last->vp[v].messages;
	}
	r->heat.cell = cell;
	last->heat = NULL;
}

void xk_run_heat_sum(const struct xk_run_heat *h, struct xk_run_heat_sum *out)
{
	const struct xk_heat_shape *s = &h->shape;

	*out = (struct xk_run_heat_sum){ 0 };
	for (unsigned r = 0; r < s->rows; r++) {
		uint64_t all = 0, most = 0;

		for (unsigned c = 0; c <= s->columns; c++) {
			uint64_t n = h->cell[(size_t)r * (s->columns + 1) + c];

			all += n;
			most = n > most ? n : most;
		}
		out->all += all;
		out->most += most;
		out->rows += all != 0;
		out->alone += all != 0 && most == all;
	}
}

/* [virtual processor, runner, messages], where there were any; of a cell that is shared the first of each. */
static json_t *cells_json(const struct xk_run_heat *h)
{
	const struct xk_heat_shape *s = &h->shape;
	const uint64_t *n = h->cell;
	json_t *cells = json_array();

	for (unsigned r = 0; r < s->rows; r++)
		for (unsigned c = 0; c <= s->columns; c++, n++) {
			json_int_t vp = (json_int_t)r * s->per_row, runner = c < s->columns ? c * s->per_column : s->runners;

			if (*n != 0)
				json_array_append_new(cells, json_pack("[I, I, I]", vp, runner, (json_int_t)*n));
		}
	return cells;
}

struct json_t *run_heat_json(const struct xk_run_heat *h)
{
	const struct xk_heat_shape *s = &h->shape;
	struct xk_run_heat_sum sum;

	xk_run_heat_sum(h, &sum);
	return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:o}", "by", s->processors ? "processor" : "worker", "vps",
			 (json_int_t)s->vps, "runners", (json_int_t)s->runners, "vps_a_row", (json_int_t)s->per_row,
			 "runners_a_column", (json_int_t)s->per_column, "messages", (json_int_t)sum.all,
			 "cells", cells_json(h));
}

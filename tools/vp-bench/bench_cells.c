/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_cells.c - a picture of who ran what: rows of things, columns of those that ran them, dark where one ran all.
 *
 * A cell has its share of the row, so that rows of any rate look alike; where there are more than the picture has room
 * for, a cell is of several neighbours, and the axis says how many.
 * Invariant: the same counts give the same bytes, with the same gnuplot.
 */
#include <stdlib.h>

#include "tools/vp-bench/bench.h"
#include "tools/vp-bench/bench_lua.h"

#define ROWS    96u              /* at most */
#define COLUMNS 64u

static unsigned step(unsigned n, unsigned room) { return (n + room - 1) / room; }

static uint64_t sum_of(const struct bench_cells *b, unsigned row, unsigned nrows, unsigned column, unsigned ncolumns)
{
	uint64_t n = 0;

	for (unsigned r = row; r < row + nrows && r < b->rows; r++)
		for (unsigned c = column; c < column + ncolumns && c < b->columns; c++)
			n += b->count[(size_t)r * b->columns + c];
	return n;
}

static json_t *rows_of(const struct bench_cells *b, unsigned ystep, unsigned xstep)
{
	json_t *rows = json_array();

	for (unsigned r = 0; r < b->rows; r += ystep) {
		uint64_t all = sum_of(b, r, ystep, 0, b->columns);
		json_t *row = json_array();

		for (unsigned c = 0; c < b->columns; c += xstep) {
			double part = (double)sum_of(b, r, ystep, c, xstep);

			json_array_append_new(row, json_real(all != 0 ? part / (double)all : 0));
		}
		json_array_append_new(rows, row);
	}
	return rows;
}

static json_t *label(const char *what, unsigned n)
{
	return n > 1 ? json_sprintf("%s, %u a cell", what, n) : json_string(what);
}

char *bench_cells_svg(const struct bench_cells *b, const char *id, char *why, size_t n)
{
	unsigned ystep = step(b->rows, ROWS), xstep = step(b->columns, COLUMNS);
	unsigned y = ystep * b->row_of, x = xstep * b->column_of;
	json_t *j = json_pack("{s:s, s:o, s:o, s:s, s:i, s:i, s:o}", "title", b->title, "xlabel", label(b->xlabel, x),
			      "ylabel", label(b->ylabel, y), "zlabel", b->zlabel, "xstep", (int)x, "ystep", (int)y,
			      "rows", rows_of(b, ystep, xstep));
	json_t *args[] = { j, json_string(id), json_false() };
	char *script = bench_lua_text("plot", "cells", args, 3, why, n);
	char *svg = script != NULL ? bench_draw(script, why, n) : NULL;

	free(script);
	json_decref(args[1]);
	json_decref(j);
	return svg;
}

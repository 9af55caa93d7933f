/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_plot.h - a figure: lines with intervals, medians and single runs over an axis, drawn by gnuplot.
 *
 * The caller fills a struct bench_plot and gets SVG text back.  Colours of text and
 * axes are those of the page around it, so one figure serves light and dark.
 */
#ifndef XK_BENCH_PLOT_H
#define XK_BENCH_PLOT_H

#include <stdbool.h>
#include <stddef.h>

#define PLOT_LINES  16u
#define PLOT_POINTS 256u
#define PLOT_DOTS   1024u

struct plot_point { double x, y, lo, hi, median; };     /* lo > hi: no interval; median: NAN for none */
struct plot_line {
	char   name[120];
	bool   theirs;                   /* dashed and hollow */
	size_t n;
	struct plot_point p[PLOT_POINTS];
	size_t ndots;                    /* single runs */
	struct { double x, y; } dot[PLOT_DOTS];
};

struct bench_plot {
	char   title[300], xlabel[120], ylabel[120];
	bool   xlog, ylog;
	double tic[PLOT_POINTS];         /* ascending */
	char   tic_text[PLOT_POINTS][60];
	size_t ntics, nlines;
	struct plot_line line[PLOT_LINES];
};

/* SVG, to be freed, or NULL and why (no gnuplot, say).  id: prefix of the names in it;
 * page: to stand in a page and take its colours, otherwise a file of its own. */
char *bench_plot_svg(const struct bench_plot *p, const char *id, bool page, char *why, size_t n);
/* The same as a gnuplot script, with its data. */
char *bench_plot_script(const struct bench_plot *p, const char *id, bool page);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_report.h - what the files of the report share: a page that is written as
 * HTML or Markdown by the same calls, and the figures of a bench.
 */
#ifndef XK_BENCH_REPORT_H
#define XK_BENCH_REPORT_H

#include "tools/vp-bench/bench.h"
#include "tools/vp-bench/bench_plot.h"

/* ---- a page (bench_page.c) --------------------------------------------------------- */

struct bench_page { FILE *f; bool markdown; unsigned sections; };

/* Every text is escaped; head and foot are of HTML only. */
void page_head(struct bench_page *p, const char *title);
void page_foot(struct bench_page *p);
void page_title(struct bench_page *p, unsigned level, const char *text);
void page_text(struct bench_page *p, const char *fmt, ...) XK_PRINTF(2, 3);
/* Commands, line by line. */
void page_commands(struct bench_page *p, const char *text);
void page_list(struct bench_page *p, const json_t *texts);
/* Rows of ncols cells; a cell that begins with a digit or sign stands to the right. */
void page_table(struct bench_page *p, size_t ncols, const char *const *heads);
void page_cell(struct bench_page *p, const char *fmt, ...) XK_PRINTF(2, 3);
/* A cell that leads to the n-th title of level 2. */
void page_link(struct bench_page *p, unsigned section, const char *text);
/* A verdict, coloured in HTML. */
void page_verdict(struct bench_page *p, const char *verdict);
void page_row_end(struct bench_page *p);
void page_row(struct bench_page *p);
void page_table_end(struct bench_page *p);
/* SVG as it is (HTML), or a link to its file (Markdown). */
void page_figure(struct bench_page *p, const char *svg, const char *file, const char *caption);

/* ---- what is on it (bench_report_parts.c) --------------------------------------------- */

void report_environment(struct bench_page *p, const json_t *env);
void report_settings(struct bench_page *p, const json_t *part);
void report_verdicts(struct bench_page *p, const json_t *part);
void report_points(struct bench_page *p, const json_t *part);
/* Both sides of a sweep in turns. */
void report_comparison(struct bench_page *p, const json_t *comparison);
/* The commands that would make this result again. */
void report_commands(struct bench_page *p, const json_t *doc);

/* ---- figures (bench_figures.c) ------------------------------------------------------ */

typedef void (*bench_figure_fn)(const struct bench_plot *p, void *arg);
/* Calls fn with each figure of a bench's part. */
void bench_figures(const json_t *part, bench_figure_fn fn, void *arg);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_plot.c - gnuplot draws, and what it drew is made fit for a page.
 *
 * Texts go to gnuplot in single quotes, where nothing is special but the quote, and
 * without its markup.  Its SVG names things (markers, filters) the same in every
 * file and paints in black: names get a prefix, black becomes the page's own colour,
 * and groups without anything in them go.
 * Invariant: the same figure gives the same bytes.
 */
#include "tools/vp-bench/bench_plot.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/vp-bench/bench.h"

#define GNUPLOT_S 60.0
#define BESIDE    18u        /* characters of a name that leave room for the figure */
#define GREY      "#8a8a8a"

/* Told apart by lightness, too, and by their markers. */
static const char *const colours[] = { "#2f7ed8", "#e07b28", "#1f9e77", "#c2417c", "#8561c5", "#a8861d", "#3fa7b5", "#b5533c" };
static const int markers[] = { 7, 5, 9, 11, 13, 6, 4, 8 };

/* ---- the script -------------------------------------------------------------------- */

static void quoted(FILE *f, const char *s)
{
	fputc('\'', f);
	for (; *s != '\0'; s++) {
		if (*s == '\'')
			fputc('\'', f);
		fputc((unsigned char)*s < ' ' ? ' ' : *s, f);
	}
	fputc('\'', f);
}

static void label(FILE *f, const char *what, const char *text)
{
	fprintf(f, "set %s ", what);
	quoted(f, text);
	fputc('\n', f);
}

static void tics(FILE *f, const struct bench_plot *p)
{
	size_t step = p->ntics / 16 + 1, longest = 0;

	for (size_t i = 0; i < p->ntics; i++)
		longest = strlen(p->tic_text[i]) > longest ? strlen(p->tic_text[i]) : longest;
	fprintf(f, "set xtics nomirror out %s (", longest * (p->ntics / step) > 90 ? "rotate by -35" : "norotate");
	for (size_t i = 0; i < p->ntics; i += step) {
		fputs(i ? ", " : "", f);
		quoted(f, p->tic_text[i]);
		fprintf(f, " %.9g", p->tic[i]);
	}
	fputs(")\n", f);
}

static void ranges(FILE *f, const struct bench_plot *p)
{
	double lo = p->ntics ? p->tic[0] : 0, hi = p->ntics ? p->tic[p->ntics - 1] : 1, room = (hi - lo) * 0.04;

	if (p->xlog)
		fprintf(f, "set logscale x 2\nset xrange [%.9g:%.9g]\n", lo / 1.15, hi * 1.15);
	else
		fprintf(f, "set xrange [%.9g:%.9g]\n", lo - (room > 0 ? room : 0.5), hi + (room > 0 ? room : 0.5));
	fputs(p->ylog ? "set logscale y\n" : "set yrange [0:*]\n", f);
}

static void data(FILE *f, const struct bench_plot *p)
{
	for (size_t i = 0; i < p->nlines; i++) {
		fprintf(f, "$d%zu << EOD\n", i);
		for (size_t k = 0; k < p->line[i].n; k++) {
			const struct plot_point *q = &p->line[i].p[k];

			fprintf(f, "%.9g %.9g %.9g %.9g ", q->x, q->y, q->lo <= q->hi ? q->lo : q->y,
				q->lo <= q->hi ? q->hi : q->y);
			fprintf(f, isnan(q->median) ? "NaN\n" : "%.9g\n", q->median);
		}
		fputs("EOD\n", f);
		if (p->line[i].ndots == 0)
			continue;
		fprintf(f, "$r%zu << EOD\n", i);
		for (size_t k = 0; k < p->line[i].ndots; k++)
			fprintf(f, "%.9g %.9g\n", p->line[i].dot[k].x, p->line[i].dot[k].y);
		fputs("EOD\n", f);
	}
}

/* Single runs as dots and their median as a cross, in the colour of their line. */
static void dots(FILE *f, const struct bench_plot *p)
{
	unsigned ours = 0;
	bool any = false;

	for (size_t i = 0; i < p->nlines; i++) {
		const char *colour = colours[ours % 8];

		ours += !p->line[i].theirs;
		if (p->line[i].ndots == 0)
			continue;
		any = true;
		fprintf(f, ", \\\n  $r%zu using 1:2 with points lc rgb '%s' pt 7 ps 0.2 notitle", i, colour);
		fprintf(f, ", \\\n  $d%zu using 1:5 with points lc rgb '%s' pt 1 ps 0.8 notitle", i, colour);
	}
	if (any)
		fputs(", \\\n  keyentry with points lc rgb '" GREY "' pt 1 ps 0.8 title 'median'"
		      ", \\\n  keyentry with points lc rgb '" GREY "' pt 7 ps 0.2 title 'a run'", f);
}

static void lines(FILE *f, const struct bench_plot *p)
{
	unsigned ours = 0, other = 0;

	fputs("plot ", f);
	for (size_t i = 0; i < p->nlines; i++) {
		const struct plot_line *l = &p->line[i];
		unsigned c = l->theirs ? other++ : ours++;

		fprintf(f, "%s$d%zu using %s lc rgb '%s' pt %d ps %s lw %s dt %d title ", i ? ", \\\n  " : "", i,
			l->theirs ? "1:2 with linespoints" : "1:2:3:4 with yerrorlines", l->theirs ? GREY : colours[c % 8],
			l->theirs ? markers[(c + 5) % 8] : markers[c % 8], l->theirs ? "0.8" : "0.6", l->theirs ? "1.3" : "1.8",
			l->theirs ? 2 : 1);
		quoted(f, l->name);
	}
	dots(f, p);
	fputc('\n', f);
}

static size_t longest_name(const struct bench_plot *p)
{
	size_t most = 0;

	for (size_t i = 0; i < p->nlines; i++)
		most = strlen(p->line[i].name) > most ? strlen(p->line[i].name) : most;
	return most;
}

/* gnuplot takes letters, digits and _ for a name. */
static void put_name(FILE *f, const char *id)
{
	for (; *id != '\0'; id++)
		fputc(isalnum((unsigned char)*id) ? *id : '_', f);
}

char *bench_plot_script(const struct bench_plot *p, const char *id, bool page)
{
	bool beside = longest_name(p) <= BESIDE;
	unsigned height = 380 + (beside ? 0 : 20 * (unsigned)((p->nlines + 4) / 3));
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	if (f == NULL)
		return NULL;
	fprintf(f, "set term svg size 760,%u dynamic rounded noenhanced font 'sans-serif,13' %s name 'f_", height,
		page ? "" : "background '#ffffff'");
	put_name(f, id);
	fputs("'\n", f);
	fputs("set encoding utf8\nset border 3\nset ytics nomirror out\n"
	      "set grid ytics lc rgb '#999999' lw 0.5 dt 3\n", f);
	/* gnuplot puts a key that lies below over the label of the axis. */
	fprintf(f, "set key outside %s Left reverse samplen 3\nset xlabel offset 0,%s\n", beside ? "right top" : "below left",
		beside ? "0" : "0.8");
	label(f, "title", p->title);
	label(f, "xlabel", p->xlabel);
	label(f, "ylabel", p->ylabel);
	tics(f, p);
	ranges(f, p);
	data(f, p);
	lines(f, p);
	fclose(f);
	return text;
}

/* ---- the drawing ---------------------------------------------------------------------- */

/* Each `from` in the line becomes `to`. */
static void put_replaced(FILE *f, const char *line, const char *const (*pair)[2], size_t npairs)
{
	while (*line != '\0') {
		size_t k = 0;

		while (k < npairs && strncmp(line, pair[k][0], strlen(pair[k][0])) != 0)
			k++;
		if (k == npairs) {
			fputc(*line++, f);
			continue;
		}
		fputs(pair[k][1], f);
		line += strlen(pair[k][0]);
	}
}

static bool skipped(const char *line, const char *next, bool page)
{
	bool empty = strncmp(line, "<g ", 3) == 0 && next != NULL && strncmp(next, "</g>\n", 5) == 0;

	return empty || *line == '\n' || strncmp(line, "<desc>", 6) == 0 || strncmp(line, "<title>", 7) == 0 ||
	       (page && strncmp(line, "<?xml", 5) == 0);
}

/* Markers and filters get the figure's name, black the page's colour. */
static char *fit(const char *svg, const char *id, bool page)
{
	char ids[6][80], *out = NULL;
	const char *pair[][2] = {
		{ "'gpPt", ids[0] }, { "#gpPt", ids[1] }, { "'gpDot", ids[2] }, { "'textbox'", ids[3] }, { "'greybox'", ids[4] },
		{ "\"gnuplot_canvas\"", ids[5] },
		{ " color=\"black\"", page ? " color=\"inherit\"" : " color=\"black\"" },
		{ " fill=\"black\"", page ? " fill=\"currentColor\"" : " fill=\"black\"" },
		{ " stroke=\"black\"", page ? " stroke=\"currentColor\"" : " stroke=\"black\"" },
		{ " stroke='black'", page ? " stroke='currentColor'" : " stroke='black'" },
	};
	const char *line = svg, *end, *after;
	size_t n = 0;
	FILE *f = open_memstream(&out, &n);

	if (f == NULL)
		return NULL;
	snprintf(ids[0], sizeof ids[0], "'%.60sPt", id);
	snprintf(ids[1], sizeof ids[1], "#%.60sPt", id);
	snprintf(ids[2], sizeof ids[2], "'%.60sDot", id);
	snprintf(ids[3], sizeof ids[3], "'%.60sbox'", id);
	snprintf(ids[4], sizeof ids[4], "'%.60sgrey'", id);
	snprintf(ids[5], sizeof ids[5], "\"%.60scanvas\"", id);
	for (; *line != '\0'; line = after) {
		char *copy;

		end = strchr(line, '\n');
		after = end ? end + 1 : line + strlen(line);
		if (skipped(line, after, page)) {
			after += strncmp(line, "<g ", 3) == 0 ? 5 : 0;
			continue;
		}
		copy = strndup(line, (size_t)(after - line));
		if (copy != NULL)
			put_replaced(f, copy, pair, XK_ARRAY_LEN(pair));
		free(copy);
	}
	fclose(f);
	return out;
}

char *bench_plot_svg(const struct bench_plot *p, const char *id, bool page, char *why, size_t n)
{
	static const char *const argv[] = { "gnuplot", "-", NULL };
	char *script = bench_plot_script(p, id, page), *svg = NULL, *out;
	bool stopped = false;

	if (script != NULL)
		svg = bench_child_text(argv, script, GNUPLOT_S, &stopped, why, n);
	else
		snprintf(why, n, "out of memory");
	free(script);
	if (svg == NULL)
		return NULL;
	out = strstr(svg, "<svg") && strstr(svg, "</svg>") ? fit(svg, id, page) : NULL;
	if (out == NULL)
		snprintf(why, n, "gnuplot drew nothing");
	free(svg);
	return out;
}

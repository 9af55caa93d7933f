/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpc_page.c - ladders of traced messages as a page for a browser: a column for each node in the order in which the message
 * came there, a row for each step, an arrow from step to step, dashed where it crosses a cable; each header behind its step.
 *
 * The page is one file, has no script and asks nobody for anything.  What nodes and headers are called is escaped.
 */
#include "tools/vp-ctl/vpc.h"

#include <stdlib.h>
#include <string.h>

enum { LEFT = 170, COLUMN = 110, ROW = 26, TOP = 40, TEXT = 8 };   /* pixels; TEXT: of a letter, at most */

static const char head[] =
	"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Messages' ways</title><style>\n"
	":root { color-scheme: light dark; --ink: #222; --line: #bbb; --way: #1f5fa8; --paper: #fff }\n"
	"@media (prefers-color-scheme: dark) { :root { --ink: #ddd; --line: #555; --way: #7db4f0; --paper: #181818 } }\n"
	"body { font: 14px sans-serif; color: var(--ink); background: var(--paper); margin: 2em }\n"
	"div { overflow-x: auto } text { fill: var(--ink); font: 12px monospace } .node { text-anchor: middle; font-weight: bold }\n"
	".when { text-anchor: end } .life { stroke: var(--line) } .way, .cable { stroke: var(--way); stroke-width: 1.5; fill: none }\n"
	".cable { stroke-dasharray: 5 4 } .tip, .step { fill: var(--way) }\n</style></head><body>\n";

static void escaped(FILE *f, const char *s)
{
	for (; *s != '\0'; s++)
		switch (*s) {
		case '&': fputs("&amp;", f); break;
		case '<': fputs("&lt;", f); break;
		case '>': fputs("&gt;", f); break;
		case '"': fputs("&quot;", f); break;
		default: fputc(*s, f);
		}
}

static const char *name_of(const json_t *step)
{
	return json_string_value(json_object_get(step, "node"));
}

static bool is_down(const json_t *step)
{
	return strcmp(json_string_value(json_object_get(step, "way")), "down") == 0;
}

/* Where the node of a step stands: that of the first step there. */
static size_t column(const json_t *steps, const json_t *step)
{
	size_t at = 0;

	for (size_t i = 0; i < json_array_size(steps); i++) {
		const char *name = name_of(json_array_get(steps, i));
		bool before = false;

		if (strcmp(name, name_of(step)) == 0)
			break;
		for (size_t k = 0; k < i && !before; k++)
			before = strcmp(name, name_of(json_array_get(steps, k))) == 0;
		at += before ? 0 : 1;
	}
	return at;
}

/* What stands behind a step: all of it but the node's name; the caller frees it.  NULL: out of memory. */
static char *words(const json_t *step)
{
	size_t n = 0, name = strlen(name_of(step));
	char *text = NULL;
	FILE *m = open_memstream(&text, &n);

	if (m == NULL)
		return NULL;
	vpc_step(m, step);
	if (fclose(m) != 0 || text == NULL || strcspn(text, "\n") < name) {
		free(text);
		return NULL;
	}
	n = strcspn(text, "\n") - name;
	memmove(text, text + name, n);
	text[n] = '\0';
	return text;
}

/* Pixels of the longest of them. */
static size_t width(const json_t *steps)
{
	size_t most = 0, i;
	const json_t *step;

	json_array_foreach(steps, i, step) {
		char *text = words(step);

		if (text != NULL && strlen(text) > most)
			most = strlen(text);
		free(text);
	}
	return most * TEXT;
}

static void arrow(FILE *f, size_t from, size_t to, size_t row, bool cable)
{
	long x = LEFT + (long)from * COLUMN, there = LEFT + (long)to * COLUMN, y = TOP + (long)row * ROW, back = there < x ? 8 : -8;

	fprintf(f, "<path class=\"%s\" d=\"M%ld %ldL%ld %ld\"/>", cable ? "cable" : "way", x, y - ROW, there, y);
	fprintf(f, "<path class=\"tip\" d=\"M%ld %ldl%ld -7l0 7z\"/>\n", there, y, back);
}

static void rungs(FILE *f, const json_t *steps, size_t columns)
{
	size_t i, was = 0;
	const json_t *step;

	json_array_foreach(steps, i, step) {
		size_t at = column(steps, step);
		long y = TOP + (long)(i + 1) * ROW;
		char *text;

		if (i != 0)
			arrow(f, was, at, i + 1, is_down(json_array_get(steps, i - 1)) && !is_down(step));
		fprintf(f, "<circle class=\"step\" cx=\"%ld\" cy=\"%ld\" r=\"3.5\"/><text class=\"when\" x=\"%d\" y=\"%ld\">%lld ns  vp%lld</text>"
			"<text x=\"%ld\" y=\"%ld\">", LEFT + (long)at * COLUMN, y, LEFT - 50, y + 4,
			(long long)json_integer_value(json_object_get(step, "since_ns")),
			(long long)json_integer_value(json_object_get(step, "vp")), LEFT + (long)columns * COLUMN - COLUMN / 3, y + 4);
		text = words(step);
		escaped(f, text != NULL ? text : "");
		free(text);
		fputs("</text>\n", f);
		was = at;
	}
}

static void way(FILE *f, const char *message, const json_t *steps)
{
	size_t n = json_array_size(steps), columns = 0, drawn = 0, i;
	const json_t *step;

	json_array_foreach(steps, i, step) {
		size_t at = column(steps, step);

		columns = at >= columns ? at + 1 : columns;
	}
	fprintf(f, "<h2>Message %s</h2>\n<div><svg width=\"%zu\" height=\"%zu\">\n", message, LEFT + columns * COLUMN + width(steps),
		TOP + (n + 2) * ROW);
	json_array_foreach(steps, i, step) {
		long x = LEFT + (long)drawn * COLUMN;

		if (column(steps, step) < drawn)
			continue;
		drawn++;
		fprintf(f, "<text class=\"node\" x=\"%ld\" y=\"%d\">", x, TOP - 12);
		escaped(f, name_of(step));
		fprintf(f, "</text><path class=\"life\" d=\"M%ld %dV%ld\"/>\n", x, TOP, TOP + (long)(n + 1) * ROW);
	}
	rungs(f, steps, columns);
	fputs("</svg></div>\n", f);
}

void vpc_ladder_pictures(FILE *f, const json_t *ways)
{
	const char *message;
	json_t *steps;

	json_object_foreach((json_t *)(uintptr_t)ways, message, steps)
		way(f, message, steps);
}

void vpc_ladder_page(FILE *f, const json_t *ways)
{
	fputs(head, f);
	vpc_ladder_pictures(f, ways);
	fputs("</body></html>\n", f);
}

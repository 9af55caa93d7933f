/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_papers_md.c - a figure of a result in Markdown, for the pages of docs/reproduction.
 *
 * The same numbers and verdicts as the table on a terminal: points with their
 * intervals and the paper's numbers, then the shapes.
 */
#include "tools/vp-bench/bench_papers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void number(FILE *f, double v)
{
	if (isnan(v))
		fputs("-", f);
	else if (v >= 1e9)
		fputs("far more", f);
	else if (fabs(v) >= 1000 || v == 0)
		fprintf(f, "%.0f", v);
	else
		fprintf(f, "%.3g", v);
}

static void at_text(FILE *f, const json_t *at)
{
	const char *name, *sep = "";
	json_t *v;

	json_object_foreach((json_t *)at, name, v) {
		fprintf(f, "%s%s=%s", sep, name, json_string_value(v) ? json_string_value(v) : "?");
		sep = " ";
	}
}

static const json_t *stands_for(const json_t *their)
{
	const json_t *ours = json_object_get(their, "ours");

	return ours ? ours : json_object_get(their, "at");
}

static void one_of_theirs(FILE *f, const json_t *t)
{
	if (*bench_text(t, "metric") != '\0')
		fprintf(f, "%s ", bench_text(t, "metric"));
	number(f, bench_real(t, "value"));
	fprintf(f, " %s", bench_text(t, "unit"));
	if (json_object_get(t, "ours") != NULL) {
		fputs(" at ", f);
		at_text(f, json_object_get(t, "at"));
	}
	if (*bench_text(t, "doc") != '\0')
		fprintf(f, " (%s)", bench_text(t, "doc"));
}

/* ---- points -------------------------------------------------------------------------- */

static void heads(FILE *f, const json_t *fig)
{
	const json_t *m = json_object_get(fig, "metric"), *also = json_object_get(fig, "also"), *v;
	size_t i, n = json_array_size(json_object_get(fig, "axes")) + json_array_size(also) + 6;

	json_array_foreach(json_object_get(fig, "axes"), i, v)
		fprintf(f, "| %s ", json_string_value(v));
	fprintf(f, "| %s %s | interval | median | min to max | single runs ", bench_text(m, "name"), bench_text(m, "unit"));
	json_array_foreach(also, i, v)
		fprintf(f, "| %s%s%s ", bench_text(v, "name"), *bench_text(v, "unit") ? " " : "", bench_text(v, "unit"));
	fputs("| theirs |\n|", f);
	for (i = 0; i < n; i++)
		fputs("---|", f);
	fputc('\n', f);
}

static void row(FILE *f, const json_t *fig, const json_t *p)
{
	const json_t *at = json_object_get(p, "at"), *all = json_object_get(p, "metrics"), *v;
	const char *metric = bench_text(json_object_get(fig, "metric"), "name");
	const json_t *m = json_object_get(all, metric);
	double mean = bench_real(m, "mean"), half = bench_real(m, "hi") - mean;
	char *runs;
	size_t i;

	json_array_foreach(json_object_get(fig, "axes"), i, v)
		fprintf(f, "| %s ", bench_text(at, json_string_value(v)));
	fputs("| ", f);
	number(f, mean);
	if (isnan(half) || mean == 0)
		fputs(" | - ", f);
	else
		fprintf(f, " | ±%.0f %% ", half / fabs(mean) * 100);
	fputs("| ", f);
	number(f, bench_real(m, "median"));
	fputs(" | ", f);
	number(f, bench_real(m, "min"));
	fputs(" to ", f);
	number(f, bench_real(m, "max"));
	runs = bench_runs_text(p, metric);
	fprintf(f, " | %s ", runs ? runs : "out of memory");
	free(runs);
	json_array_foreach(json_object_get(fig, "also"), i, v) {
		fputs("| ", f);
		number(f, bench_real(json_object_get(all, bench_text(v, "name")), "mean"));
		fputc(' ', f);
	}
	fputs("| ", f);
	json_array_foreach(json_object_get(fig, "theirs"), i, v)
		if (bench_at_covers(at, stands_for(v))) {
			one_of_theirs(f, v);
			fputc(' ', f);
		}
	fputs("|\n", f);
}

static void odd_runs(FILE *f, const json_t *fig)
{
	const json_t *p, *w;
	size_t i, k;

	json_array_foreach(json_object_get(fig, "points"), i, p)
		json_array_foreach(json_object_get(p, "warnings"), k, w) {
			fputs("\nOdd, ", f);
			at_text(f, json_object_get(p, "at"));
			fprintf(f, ": %s.\n", json_string_value(w));
		}
}

static void rest_of_theirs(FILE *f, const json_t *fig)
{
	const json_t *t, *p;
	size_t i, k;

	json_array_foreach(json_object_get(fig, "theirs"), i, t) {
		bool shown = false;

		json_array_foreach(json_object_get(fig, "points"), k, p)
			shown |= bench_at_covers(json_object_get(p, "at"), stands_for(t));
		if (shown)
			continue;
		fputs("\nThe paper: ", f);
		one_of_theirs(f, t);
		if (json_object_get(t, "ours") == NULL && json_object_size(json_object_get(t, "at")) != 0) {
			fputs(" at ", f);
			at_text(f, json_object_get(t, "at"));
		}
		fputs(".\n", f);
	}
}

/* ---- shapes ----------------------------------------------------------------------------- */

static void shape(FILE *f, const json_t *s)
{
	double least = bench_real(s, "at_least"), most = bench_real(s, "at_most");

	fprintf(f, "| %s | ", bench_text(s, "doc"));
	number(f, bench_real(s, "value"));
	if (!isnan(bench_real(s, "value"))) {
		fputs(" [", f);
		number(f, bench_real(s, "lo"));
		fputs(", ", f);
		number(f, bench_real(s, "hi"));
		fputc(']', f);
	}
	fputs(" | ", f);
	if (!isnan(least))
		fprintf(f, ">= %.3g ", least);
	if (!isnan(most))
		fprintf(f, "<= %.3g ", most);
	if (!isnan(bench_real(s, "step")))
		fprintf(f, "steps >= %.3g ", bench_real(s, "step"));
	if (*bench_text(s, "because"))
		fprintf(f, "(%s) ", bench_text(s, "because"));
	fputs("| ", f);
	number(f, bench_real(s, "theirs"));
	fprintf(f, " | **%s**%s%s%s |\n", bench_text(s, "verdict"), *bench_text(s, "why") ? " (" : "", bench_text(s, "why"),
		*bench_text(s, "why") ? ")" : "");
}

void papers_markdown(FILE *f, const struct paper_entry *e, const json_t *fig)
{
	const json_t *set = json_object_get(fig, "settings"), *v;
	struct bench_length length = bench_length_of(set);
	size_t i;

	fprintf(f, "%s, `%s/%s`; %s of each run measured after %s, preset %s%s.\n\n", e->name,
		bench_text(e->paper, "folder"), strrchr(bench_text(fig, "file"), '/') ?
		strrchr(bench_text(fig, "file"), '/') + 1 : bench_text(fig, "file"),
		length.measured, length.after, bench_text(set, "preset"),
		strcmp(bench_text(set, "preset"), "quick") == 0 ? ": not to conclude from" : "");
	heads(f, fig);
	json_array_foreach(json_object_get(fig, "points"), i, v)
		row(f, fig, v);
	odd_runs(f, fig);
	rest_of_theirs(f, fig);
	if (json_array_size(json_object_get(fig, "shapes")) != 0)
		fputs("\n| expectation | ours | bound | paper | verdict |\n|---|---|---|---|---|\n", f);
	json_array_foreach(json_object_get(fig, "shapes"), i, v)
		shape(f, v);
	fputc('\n', f);
}

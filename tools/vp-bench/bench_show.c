/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_show.c - a document as a table, as CSV, as JSON.
 *
 * The table shows each point with its interval, median, least and most, other
 * people's numbers beside it, what is odd in its runs, then the verdicts; what is
 * undecided is named in the last line.  CSV is tidy: one line per run and metric, no summary,
 * so that any tool can make its own.
 */
#include "tools/vp-bench/bench.h"

#include <math.h>
#include <string.h>

void bench_at_text(const json_t *at, char *buf, size_t n)
{
	const char *name;
	json_t *v;
	size_t used = 0;

	buf[0] = '\0';
	json_object_foreach((json_t *)at, name, v)
		if (used < n)
			used += (size_t)snprintf(buf + used, n - used, "%s%s=%s", used ? " " : "", name,
						 json_string_value(v) ? json_string_value(v) : "?");
}

/* Four significant digits, no exponent where people read. */
const char *bench_digits(double v, char *buf, size_t n)
{
	if (isnan(v))
		snprintf(buf, n, "-");
	else if (fabs(v) >= 1000 || v == 0)
		snprintf(buf, n, "%.0f", v);
	else
		snprintf(buf, n, "%.4g", v);
	return buf;
}

char *bench_runs_text(const json_t *point, const char *metric)
{
	char *text = NULL, one[40];
	const char *sep = "";
	const json_t *run;
	size_t i, len = 0;
	FILE *f = open_memstream(&text, &len);

	if (f == NULL)
		return NULL;
	json_array_foreach(json_object_get(point, "runs"), i, run) {
		double v = bench_real(json_object_get(run, "metrics"), metric);

		if (isnan(v))
			continue;
		fprintf(f, "%s%s", sep, bench_digits(v, one, sizeof one));
		sep = " ";
	}
	return fclose(f) == 0 ? text : NULL;
}

void bench_number_text(FILE *f, double v, int width)
{
	char text[40];

	fprintf(f, " %*s", width, bench_digits(v, text, sizeof text));
}

/* ---- points ---------------------------------------------------------------------------- */

static bool agrees(const json_t *at, const json_t *with)
{
	const char *name;
	json_t *v;

	if (json_object_size(with) == 0)
		return false;
	json_object_foreach((json_t *)with, name, v)
		if (!json_equal(v, json_object_get(at, name)))
			return false;
	return true;
}

bool bench_theirs_at(const json_t *t, const json_t *point)
{
	const json_t *ours = json_object_get(t, "ours") ? json_object_get(t, "ours") : json_object_get(t, "at");

	return agrees(json_object_get(point, "at"), ours);
}

/* Their value that stands for this point of ours. */
static void theirs(FILE *f, const json_t *part, const json_t *point)
{
	const json_t *t;
	char where[200];
	size_t i;

	json_array_foreach(json_object_get(part, "theirs"), i, t) {
		if (!bench_theirs_at(t, point))
			continue;
		bench_at_text(json_object_get(t, "at"), where, sizeof where);
		fprintf(f, "  theirs %s%s%.4g %s at %s", bench_text(t, "metric"), *bench_text(t, "metric") ? " " : "",
			bench_real(t, "value"), bench_text(t, "unit"), where);
	}
}

static void show_point(FILE *f, const json_t *part, const json_t *p, int width)
{
	const char *metric = bench_text(json_object_get(part, "metric"), "name"), *status = bench_text(p, "status");
	const json_t *all = json_object_get(p, "metrics"), *m = json_object_get(all, metric), *a;
	double mean = bench_real(m, "mean"), half = bench_real(m, "hi") - mean;
	char at[400], share[24];
	size_t i;

	bench_at_text(json_object_get(p, "at"), at, sizeof at);
	fprintf(f, "%-*s %4zu", width, at, json_array_size(json_object_get(p, "runs")));
	bench_number_text(f, mean, 12);
	snprintf(share, sizeof share, isnan(half) || mean == 0 ? "-" : "+-%.1f%%", half / fabs(mean) * 100);
	fprintf(f, " %8s", share);
	bench_number_text(f, bench_real(m, "median"), 9);
	bench_number_text(f, bench_real(m, "min"), 9);
	bench_number_text(f, bench_real(m, "max"), 9);
	json_array_foreach(json_object_get(part, "also"), i, a) {
		const char *name = bench_text(a, "name");

		bench_number_text(f, bench_real(json_object_get(all, name), "mean"), strlen(name) > 9 ? (int)strlen(name) : 9);
	}
	if (strcmp(status, "done") != 0)
		fprintf(f, "  %s%s%s", strcmp(status, "interval not reached") == 0 ? "INTERVAL NOT REACHED" : status,
			json_object_get(p, "error") ? ": " : "", bench_text(p, "error"));
	theirs(f, part, p);
	fputc('\n', f);
	json_array_foreach(json_object_get(p, "warnings"), i, a)
		fprintf(f, "  odd: %s\n", json_string_value(a));
}

static void show_heads(FILE *f, const json_t *part, int width)
{
	const json_t *m = json_object_get(part, "metric"), *a;
	char head[60];
	size_t i;

	snprintf(head, sizeof head, "%s%s%s", bench_text(m, "name"), *bench_text(m, "unit") ? " " : "",
		 bench_text(m, "unit"));
	fprintf(f, "%-*s runs %12s %8s %9s %9s %9s", width, "point", head, "interval", "median", "min", "max");
	json_array_foreach(json_object_get(part, "also"), i, a)
		fprintf(f, " %9s", bench_text(a, "name"));
	fputc('\n', f);
}

static void show_unmatched(FILE *f, const json_t *part)
{
	const json_t *t, *p;
	char at[400];
	size_t i, k;

	json_array_foreach(json_object_get(part, "theirs"), i, t) {
		bool matched = false;

		json_array_foreach(json_object_get(part, "points"), k, p)
			matched |= bench_theirs_at(t, p);
		bench_at_text(json_object_get(t, "at"), at, sizeof at);
		if (!matched)
			fprintf(f, "theirs: %.4g %s at %s%s%s\n", bench_real(t, "value"), bench_text(t, "unit"), at,
				*bench_text(t, "doc") ? ": " : "", bench_text(t, "doc"));
	}
}

/* ---- verdicts ------------------------------------------------------------------------------- */

static void show_shape(FILE *f, const json_t *s)
{
	double v = bench_real(s, "value"), least = bench_real(s, "at_least"), most = bench_real(s, "at_most");

	fprintf(f, "%-20s %s", *bench_text(s, "verdict") ? bench_text(s, "verdict") : "undecided", bench_text(s, "doc"));
	if (!isnan(v))
		fprintf(f, ": %.4g [%.4g, %.4g]", v, bench_real(s, "lo"), bench_real(s, "hi"));
	if (!isnan(v) && !isnan(least))
		fprintf(f, ", at least %.4g", least);
	if (!isnan(v) && !isnan(most))
		fprintf(f, ", at most %.4g", most);
	if (!isnan(v) && !isnan(bench_real(s, "step")))
		fprintf(f, ", each step at least %.4g", bench_real(s, "step"));
	if (!isnan(bench_real(s, "theirs")))
		fprintf(f, ", theirs %.4g", bench_real(s, "theirs"));
	if (*bench_text(s, "why"))
		fprintf(f, " (%s)", bench_text(s, "why"));
	fputc('\n', f);
}

static int width_of(const json_t *part)
{
	const json_t *p;
	char at[400];
	size_t i;
	int width = 8;

	json_array_foreach(json_object_get(part, "points"), i, p) {
		bench_at_text(json_object_get(p, "at"), at, sizeof at);
		if ((int)strlen(at) > width)
			width = (int)strlen(at);
	}
	return width;
}

static void show_binary(FILE *f, const json_t *part)
{
	char text[600];

	if (json_object_get(part, "binary") != NULL)
		fprintf(f, "%s\n", bench_binary_text(json_object_get(part, "binary"), text, sizeof text));
}

struct bench_length bench_length_of(const json_t *settings)
{
	double messages = bench_real(settings, "messages");
	struct bench_length l;

	if (isnan(messages)) {
		snprintf(l.measured, sizeof l.measured, "%.3g s", bench_real(settings, "duration_ns") / 1e9);
		snprintf(l.after, sizeof l.after, "%.3g s", bench_real(settings, "warmup_ns") / 1e9);
	} else {
		snprintf(l.measured, sizeof l.measured, "%.0f messages", messages);
		snprintf(l.after, sizeof l.after, "%.0f", bench_real(settings, "warmup_messages"));
	}
	return l;
}

static void show_part(FILE *f, const json_t *part)
{
	const json_t *set = json_object_get(part, "settings"), *v;
	struct bench_length length = bench_length_of(set);
	int width = width_of(part);
	size_t i;

	fprintf(f, "%s: %s\n", bench_text(part, "name"), bench_text(part, "doc"));
	if (*bench_text(part, "source"))
		fprintf(f, "source: %s\n", bench_text(part, "source"));
	fprintf(f, "%s measured after %s, %.0f %% intervals, preset %s%s\n", length.measured, length.after,
		bench_real(set, "confidence") * 100, bench_text(set, "preset"),
		strcmp(bench_text(set, "preset"), "quick") == 0 ? ": not to conclude from" : "");
	show_binary(f, part);
	show_heads(f, part, width);
	json_array_foreach(json_object_get(part, "points"), i, v)
		show_point(f, part, v, width);
	show_unmatched(f, part);
	json_array_foreach(json_object_get(part, "shapes"), i, v)
		show_shape(f, v);
	if (!json_is_true(json_object_get(part, "complete")))
		fprintf(f, "NOT COMPLETE: the sweep was stopped\n");
}

/* The last line: a zero exit code does not say that all is well. */
static void show_undecided(FILE *f, const json_t *doc)
{
	unsigned n = 0, all = 0;
	const json_t *part, *s;
	size_t i, k;

	for (unsigned pass = 0; pass < 2; pass++) {
		json_array_foreach(json_object_get(doc, "benches"), i, part)
			json_array_foreach(json_object_get(part, "shapes"), k, s) {
				bool open = strcmp(bench_text(s, "verdict"), "undecided") == 0;

				all += pass == 0;
				n += pass == 0 && open;
				if (pass == 1 && open)
					fprintf(f, "; %s", bench_text(s, "doc"));
			}
		if (n == 0)
			return;
		if (pass == 0)
			fprintf(f, "undecided: %u of %u expectations", n, all);
	}
	fputc('\n', f);
}

void bench_show_table(FILE *f, const json_t *doc)
{
	const json_t *v;
	size_t i;

	json_array_foreach(json_object_get(doc, "benches"), i, v) {
		if (i != 0)
			fputc('\n', f);
		show_part(f, v);
	}
	json_array_foreach(json_object_get(json_object_get(doc, "environment"), "doubts"), i, v)
		fprintf(f, "%sdoubt: %s\n", i ? "" : "\n", json_string_value(v));
	show_undecided(f, doc);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

static void quoted(FILE *f, const char *s)
{
	if (strpbrk(s, "\",\r\n") == NULL) {
		fputs(s, f);
		return;
	}
	fputc('"', f);
	for (; *s != '\0'; s++) {
		if (*s == '"')
			fputc('"', f);
		fputc(*s, f);
	}
	fputc('"', f);
}

static void csv_run(FILE *f, const json_t *part, const json_t *point, const json_t *run, size_t no)
{
	const char *name;
	char at[400];
	json_t *v;

	bench_at_text(json_object_get(point, "at"), at, sizeof at);
	json_object_foreach(json_object_get(run, "metrics"), name, v) {
		const struct bench_metric *m = bench_metric_find(name);

		if (!json_is_number(v))
			continue;
		quoted(f, bench_text(part, "name"));
		fputc(',', f);
		quoted(f, at);
		fprintf(f, ",%zu,%.0f,%s,%s,%.9g\n", no, bench_real(run, "block"), name, m ? m->unit : "",
			json_number_value(v));
	}
}

void bench_show_csv(FILE *f, const json_t *doc)
{
	const json_t *part, *point, *run;
	size_t i, k, n;

	fputs("bench,point,run,block,metric,unit,value\n", f);
	json_array_foreach(json_object_get(doc, "benches"), i, part)
		json_array_foreach(json_object_get(part, "points"), k, point)
			json_array_foreach(json_object_get(point, "runs"), n, run)
				csv_run(f, part, point, run, n + 1);
}

/* ---- a line of JSON per run and metric -------------------------------------------------------- */

static void lines_of_run(FILE *f, const json_t *part, const json_t *point, const json_t *run, size_t no)
{
	const char *name;
	json_t *v;

	json_object_foreach(json_object_get(run, "metrics"), name, v) {
		const struct bench_metric *m = bench_metric_find(name);
		json_t *o;

		if (!json_is_number(v))
			continue;
		o = json_pack("{s:s, s:O, s:I, s:I, s:s, s:s, s:O}", "bench", bench_text(part, "name"),
			      "at", json_object_get(point, "at"), "run", (json_int_t)no, "block", (json_int_t)bench_real(run, "block"),
			      "metric", name, "unit", m ? m->unit : "", "value", v);
		if (o != NULL && *bench_text(part, "side"))
			json_object_set(o, "side", json_object_get(part, "side"));
		json_dumpf(o, f, JSON_COMPACT);
		fputc('\n', f);
		json_decref(o);
	}
}

static void show_lines(FILE *f, const json_t *doc)
{
	const json_t *part, *point, *run;
	size_t i, k, n;

	json_array_foreach(json_object_get(doc, "benches"), i, part)
		json_array_foreach(json_object_get(part, "points"), k, point)
			json_array_foreach(json_object_get(point, "runs"), n, run)
				lines_of_run(f, part, point, run, n + 1);
}

int bench_show(FILE *f, const json_t *doc, enum bench_format format)
{
	switch (format) {
	case BENCH_TABLE: bench_show_table(f, doc); break;
	case BENCH_CSV: bench_show_csv(f, doc); break;
	case BENCH_LINES: show_lines(f, doc); break;
	case BENCH_JSON:
		if (json_dumpf(doc, f, JSON_INDENT(1)) != 0)
			return BENCH_IO;
		fputc('\n', f);
		break;
	}
	return fflush(f) != 0 || ferror(f) ? BENCH_IO : BENCH_OK;
}

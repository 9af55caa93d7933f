/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_report_parts.c - what a report says of a result: machine, settings, verdicts,
 * points, comparison, and how to make it again.
 */
#include "tools/vp-bench/bench_report.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the machine ---------------------------------------------------------------------- */

static void scalar_row(struct bench_page *p, const char *key, const json_t *v)
{
	page_row(p);
	page_cell(p, "%s", key);
	if (json_is_string(v))
		page_cell(p, "%s", json_string_value(v));
	else if (json_is_boolean(v))
		page_cell(p, "%s", json_is_true(v) ? "yes" : "no");
	else if (json_is_number(v))
		page_cell(p, "%.10g", json_number_value(v));
	else
		page_cell(p, "not available");
	page_row_end(p);
}

void report_environment(struct bench_page *p, const json_t *env)
{
	static const char *const heads[] = { "machine", "" };
	const json_t *doubts = json_object_get(env, "doubts");
	const char *key;
	json_t *v;

	if (json_array_size(doubts) != 0) {
		page_text(p, "What is doubtful about this machine:");
		page_list(p, doubts);
	}
	page_table(p, 2, heads);
	json_object_foreach((json_t *)env, key, v)
		if (!json_is_array(v) && !json_is_object(v))
			scalar_row(p, key, v);
	json_object_foreach(json_object_get(env, "mitigations"), key, v)
		if (json_is_string(v) && strcmp(json_string_value(v), "Not affected") != 0)
			scalar_row(p, key, v);
	page_table_end(p);
}

/* ---- settings -------------------------------------------------------------------------- */

void report_settings(struct bench_page *p, const json_t *part)
{
	const json_t *s = json_object_get(part, "settings"), *m = json_object_get(part, "metric");
	bool fixed = bench_real(s, "runs_min") == bench_real(s, "runs_max");
	struct bench_length length = bench_length_of(s);
	char runs[60], binary[600];

	if (fixed)
		snprintf(runs, sizeof runs, "%.0f runs", bench_real(s, "runs_min"));
	else
		snprintf(runs, sizeof runs, "%.0f to %.0f runs", bench_real(s, "runs_min"), bench_real(s, "runs_max"));
	if (*bench_text(part, "doc"))
		page_text(p, "%s", bench_text(part, "doc"));
	if (*bench_text(part, "source"))
		page_text(p, "Source: %s.", bench_text(part, "source"));
	page_text(p, "%s of a point, each a process of its own, %s measured after %s; intervals of %.3g %%. %s%s%s: %s.",
		  runs, length.measured, length.after, bench_real(s, "confidence") * 100,
		  bench_text(m, "name"), *bench_text(m, "unit") ? ", " : "", bench_text(m, "unit"), bench_text(m, "doc"));
	if (json_object_get(part, "binary") != NULL)
		page_text(p, "%s.", bench_binary_text(json_object_get(part, "binary"), binary, sizeof binary));
	if (strcmp(bench_text(s, "preset"), "quick") == 0)
		page_text(p, "A quick run: to see that it works, not to conclude from.");
	if (!json_is_true(json_object_get(part, "complete")))
		page_text(p, "NOT COMPLETE: the sweep was stopped before its end.");
}

/* ---- verdicts ----------------------------------------------------------------------------- */

static void bound_text(const json_t *s, char *buf, size_t n)
{
	double least = bench_real(s, "at_least"), most = bench_real(s, "at_most");

	if (!isnan(least) && !isnan(most))
		snprintf(buf, n, "%.4g to %.4g", least, most);
	else if (!isnan(least))
		snprintf(buf, n, "at least %.4g", least);
	else if (!isnan(most))
		snprintf(buf, n, "at most %.4g", most);
	else if (!isnan(bench_real(s, "step")))
		snprintf(buf, n, "steps of at least %.4g", bench_real(s, "step"));
	else
		snprintf(buf, n, "none");
}

static void verdict_row(struct bench_page *p, const json_t *s)
{
	double v = bench_real(s, "value");
	char a[40], b[40], c[40], bound[60];

	bound_text(s, bound, sizeof bound);
	page_row(p);
	page_verdict(p, *bench_text(s, "verdict") ? bench_text(s, "verdict") : "undecided");
	page_cell(p, "%s%s%s%s", bench_text(s, "doc"), *bench_text(s, "why") ? " (" : "", bench_text(s, "why"),
		  *bench_text(s, "why") ? ")" : "");
	if (isnan(v))
		page_cell(p, "%s", "");
	else
		page_cell(p, "%s [%s, %s]", bench_digits(v, a, sizeof a), bench_digits(bench_real(s, "lo"), b, sizeof b),
			  bench_digits(bench_real(s, "hi"), c, sizeof c));
	page_cell(p, "%s", bound);
	page_cell(p, "%s", isnan(bench_real(s, "theirs")) ? "" : bench_digits(bench_real(s, "theirs"), a, sizeof a));
	page_row_end(p);
}

void report_verdicts(struct bench_page *p, const json_t *part)
{
	static const char *const heads[] = { "verdict", "expected shape", "ours [interval]", "bound", "theirs" };
	const json_t *shapes = json_object_get(part, "shapes"), *s;
	size_t i;

	if (json_array_size(shapes) == 0)
		return;
	page_table(p, XK_ARRAY_LEN(heads), heads);
	json_array_foreach(shapes, i, s)
		verdict_row(p, s);
	page_table_end(p);
}

/* ---- points ---------------------------------------------------------------------------------- */

#define COLUMNS 64u

struct columns { char text[COLUMNS][100]; const char *head[COLUMNS]; size_t n; };

static void column(struct columns *c, const char *name, const char *unit)
{
	if (c->n == COLUMNS)
		return;
	snprintf(c->text[c->n], sizeof c->text[0], *unit ? "%.60s [%.30s]" : "%.60s", name, unit);
	c->head[c->n] = c->text[c->n];
	c->n++;
}

static void heads_of(const json_t *part, struct columns *c)
{
	const json_t *m = json_object_get(part, "metric"), *v;
	size_t i;

	c->n = 0;
	json_array_foreach(json_object_get(part, "axes"), i, v)
		column(c, json_string_value(v) ? json_string_value(v) : "?", "");
	column(c, "runs", "");
	column(c, bench_text(m, "name"), bench_text(m, "unit"));
	column(c, "interval", "");
	column(c, "+-", "");
	column(c, "median", "");
	column(c, "min to max", "");
	column(c, "single runs", "");
	json_array_foreach(json_object_get(part, "also"), i, v)
		column(c, bench_text(v, "name"), bench_text(v, "unit"));
	if (json_array_size(json_object_get(part, "theirs")) != 0)
		column(c, "theirs", "");
	column(c, "note", "");
}

static void their_cell(struct bench_page *p, const json_t *part, const json_t *point)
{
	const json_t *t;
	char all[600] = "", where[200];
	size_t i, used = 0;

	json_array_foreach(json_object_get(part, "theirs"), i, t) {
		if (!bench_theirs_at(t, point) || used >= sizeof all)
			continue;
		bench_at_text(json_object_get(t, "at"), where, sizeof where);
		used += (size_t)snprintf(all + used, sizeof all - used, "%s%.4g %s at %s%s%s", used ? "; " : "",
			bench_real(t, "value"), bench_text(t, "unit"), where, *bench_text(t, "metric") ? ", " : "",
			bench_text(t, "metric"));
	}
	page_cell(p, "%s", all);
}

static void measured_cells(struct bench_page *p, const json_t *part, const json_t *point)
{
	const json_t *all = json_object_get(point, "metrics"), *v;
	const char *metric = bench_text(json_object_get(part, "metric"), "name");
	const json_t *m = json_object_get(all, metric);
	double mean = bench_real(m, "mean"), lo = bench_real(m, "lo"), hi = bench_real(m, "hi");
	char a[40], b[40], *runs;
	size_t i;

	page_cell(p, "%s", bench_digits(mean, a, sizeof a));
	if (isnan(lo) || isnan(hi)) {
		page_cell(p, "-");
		page_cell(p, "-");
	} else {
		page_cell(p, "%s to %s", bench_digits(lo, a, sizeof a), bench_digits(hi, b, sizeof b));
		page_cell(p, mean != 0 ? "%.1f %%" : "-", (hi - mean) / fabs(mean) * 100);
	}
	page_cell(p, "%s", bench_digits(bench_real(m, "median"), a, sizeof a));
	page_cell(p, "%s to %s", bench_digits(bench_real(m, "min"), a, sizeof a), bench_digits(bench_real(m, "max"), b, sizeof b));
	runs = bench_runs_text(point, metric);
	page_cell(p, "%s", runs ? runs : "out of memory");
	free(runs);
	json_array_foreach(json_object_get(part, "also"), i, v)
		page_cell(p, "%s", bench_digits(bench_real(json_object_get(all, bench_text(v, "name")), "mean"), a, sizeof a));
}

static void point_row(struct bench_page *p, const json_t *part, const json_t *point)
{
	const char *status = bench_text(point, "status");
	const json_t *v;
	size_t i;

	page_row(p);
	json_array_foreach(json_object_get(part, "axes"), i, v)
		page_cell(p, "%s", bench_text(json_object_get(point, "at"), json_string_value(v) ? json_string_value(v) : ""));
	page_cell(p, "%zu", json_array_size(json_object_get(point, "runs")));
	measured_cells(p, part, point);
	if (json_array_size(json_object_get(part, "theirs")) != 0)
		their_cell(p, part, point);
	page_cell(p, "%s%s%s", strcmp(status, "done") == 0 ? "" : status, *bench_text(point, "error") ? ": " : "",
		  bench_text(point, "error"));
	page_row_end(p);
}

/* Their numbers that stand beside no point of ours. */
static void unmatched(struct bench_page *p, const json_t *part)
{
	json_t *list = json_array();
	const json_t *t, *point;
	char where[200];
	size_t i, k;

	json_array_foreach(json_object_get(part, "theirs"), i, t) {
		bool matched = false;

		json_array_foreach(json_object_get(part, "points"), k, point)
			matched |= bench_theirs_at(t, point);
		bench_at_text(json_object_get(t, "at"), where, sizeof where);
		if (!matched)
			json_array_append_new(list, json_sprintf("%.4g %s at %s%s%s", bench_real(t, "value"),
				bench_text(t, "unit"), where, *bench_text(t, "doc") ? ": " : "", bench_text(t, "doc")));
	}
	if (json_array_size(list) != 0) {
		page_text(p, "Theirs, without a point of ours:");
		page_list(p, list);
	}
	json_decref(list);
}

/* What is odd in the runs of each point. */
static void odd_runs(struct bench_page *p, const json_t *part)
{
	json_t *list = json_array();
	const json_t *point, *w;
	char at[400];
	size_t i, k;

	json_array_foreach(json_object_get(part, "points"), i, point)
		json_array_foreach(json_object_get(point, "warnings"), k, w) {
			bench_at_text(json_object_get(point, "at"), at, sizeof at);
			json_array_append_new(list, json_sprintf("%s: %s", at, json_string_value(w)));
		}
	if (json_array_size(list) != 0) {
		page_text(p, "Odd in the runs:");
		page_list(p, list);
	}
	json_decref(list);
}

void report_points(struct bench_page *p, const json_t *part)
{
	const json_t *v;
	struct columns c;
	size_t i;

	heads_of(part, &c);
	page_table(p, c.n, c.head);
	json_array_foreach(json_object_get(part, "points"), i, v)
		point_row(p, part, v);
	page_table_end(p);
	odd_runs(p, part);
	unmatched(p, part);
}

/* ---- two sides --------------------------------------------------------------------------------- */

static void compared_row(struct bench_page *p, const json_t *v)
{
	char a[300], b[300], x[40], y[40];

	bench_at_text(json_object_get(v, "a"), a, sizeof a);
	bench_at_text(json_object_get(v, "b"), b, sizeof b);
	page_row(p);
	page_cell(p, strcmp(a, b) != 0 ? "%s | %s" : "%s", a, b);
	page_cell(p, "%s", bench_digits(bench_real(v, "mean_a"), x, sizeof x));
	page_cell(p, "%s", bench_digits(bench_real(v, "mean_b"), x, sizeof x));
	page_cell(p, "%.0f", bench_real(v, "pairs"));
	page_cell(p, "%s", bench_digits(bench_real(v, "value"), x, sizeof x));
	page_cell(p, "%s to %s", bench_digits(bench_real(v, "lo"), x, sizeof x), bench_digits(bench_real(v, "hi"), y, sizeof y));
	page_verdict(p, bench_text(v, "verdict"));
	page_row_end(p);
}

void report_comparison(struct bench_page *p, const json_t *comparison)
{
	static const char *const heads[] = { "point", "A", "B", "pairs", "B over A", "interval", "verdict" };
	const json_t *points = json_object_get(comparison, "points"), *v;
	size_t i;

	page_text(p, "B against A, in turns; intervals of %.4g %% for all points together.",
		  bench_real(comparison, "confidence") * 100);
	page_table(p, XK_ARRAY_LEN(heads), heads);
	json_array_foreach(points, i, v)
		compared_row(p, v);
	page_table_end(p);
}

/* ---- to make it again ---------------------------------------------------------------------------- */

/* A word of a shell. */
static void word(FILE *f, const char *s)
{
	bool plain = *s != '\0';

	for (const char *c = s; *c != '\0'; c++)
		plain &= isalnum((unsigned char)*c) || strchr("._-/=:,+%@", *c) != NULL;
	fputc(' ', f);
	if (plain) {
		fputs(s, f);
		return;
	}
	fputc('\'', f);
	for (; *s != '\0'; s++)
		if (*s == '\'')
			fputs("'\\''", f);
		else
			fputc((unsigned char)*s < ' ' ? ' ' : *s, f);
	fputc('\'', f);
}

static void words(FILE *f, const json_t *list, size_t from)
{
	for (size_t i = from; i < json_array_size(list); i++)
		word(f, json_string_value(json_array_get(list, i)) ? json_string_value(json_array_get(list, i)) : "");
}

static void time_option(FILE *f, const char *name, double ns)
{
	if (fmod(ns, 1e9) == 0)
		fprintf(f, " --%s %.0fs", name, ns / 1e9);
	else if (fmod(ns, 1e6) == 0)
		fprintf(f, " --%s %.0fms", name, ns / 1e6);
	else
		fprintf(f, " --%s %.0fns", name, ns);
}

static void options(FILE *f, const json_t *part)
{
	const json_t *s = json_object_get(part, "settings");
	const char *preset = bench_text(s, "preset");

	if (strcmp(preset, "own") != 0) {
		fprintf(f, " --%s", preset);
	} else {
		time_option(f, "duration", bench_real(s, "duration_ns"));
		time_option(f, "warmup", bench_real(s, "warmup_ns"));
	}
	if (bench_real(s, "runs_min") == bench_real(s, "runs_max") && strcmp(preset, "own") == 0)
		fprintf(f, " --runs %.0f", bench_real(s, "runs_min"));
	fprintf(f, " --seed %.0f -o result.json\n", bench_real(s, "seed"));
}

void report_commands(struct bench_page *p, const json_t *doc)
{
	const json_t *part, *b;
	char *text = NULL;
	size_t i, n = 0;
	FILE *f = open_memstream(&text, &n);

	if (f == NULL)
		return;
	json_array_foreach(json_object_get(doc, "benches"), i, part) {
		const char *side = bench_text(part, "side");

		if (*side == '\0') {
			fputs("vp-bench run", f);
			word(f, bench_text(part, "file"));
			words(f, json_object_get(json_object_get(part, "settings"), "args"), 0);
			options(f, part);
		} else if (strcmp(side, "A") == 0) {
			b = json_array_get(json_object_get(doc, "benches"), i + 1);
			fputs("vp-bench compare", f);
			words(f, json_object_get(part, "words"), 0);
			fputs(" --vs", f);
			words(f, json_object_get(b, "words"), 0);
			options(f, part);
		}
	}
	fclose(f);
	if (n > 0)
		text[n - 1] = '\0';
	page_title(p, 3, "To make it again");
	page_commands(p, text);
	free(text);
}

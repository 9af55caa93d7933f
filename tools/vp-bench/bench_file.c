/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_file.c - reads a bench file: the table of `bench "name" { ... }`.
 *
 * The file is a graph file whose result is a bench around its graph, so args,
 * include and every complaint work as they do there.  Here the bench's own keys
 * are checked with the same care: unknown ones get a suggestion, wrong ones
 * their line, and all of them are told at once.
 */
#include "tools/vp-bench/bench.h"
#include "runtime/base/xk_param_value.h"
#include "runtime/compose/xk_ledger.h"

#include <stdlib.h>
#include <string.h>

/* ---- scalars ----------------------------------------------------------------------- */

static const char *text_of(struct bench *b, const struct xk_value *tab, const char *key)
{
	const struct xk_value *v = xk_value_get(tab, key);
	const char *path[] = { key, NULL };

	if (v == NULL || v->kind == XK_V_POISON)
		return NULL;
	if (v->kind == XK_V_TEXT)
		return v->text;
	bench_complain(b, path, "'%s' needs to be a text", key);
	return NULL;
}

static void parse(struct bench *b, const struct xk_value *v, const char *const *path, const struct xk_param *p,
		  union xk_pval *out)
{
	bool bare = v->kind == XK_V_INT || v->kind == XK_V_FLOAT;
	union xk_pval got;
	char why[300];

	if (v->kind == XK_V_POISON)
		return;
	if (!bare && v->kind != XK_V_TEXT && v->kind != XK_V_TYPED)
		bench_complain(b, path, "'%s' needs a %s", p->name, xk_param_type_name(p->type));
	else if (xk_param_parse(p, v->text, bare, &got, why, sizeof why) != XK_OK)
		bench_complain(b, path, "'%s' %s", p->name, why);
	else
		*out = got;
}

static void take(struct bench *b, const struct xk_value *tab, const struct xk_param *p, union xk_pval *out)
{
	const struct xk_value *v = xk_value_get(tab, p->name);
	const char *path[] = { p->name, NULL };

	if (v != NULL)
		parse(b, v, path, p, out);
}

static void read_times(struct bench *b, const struct xk_value *tab)
{
	static const struct xk_param duration = { .name = "duration", .type = XK_P_TIME, .min = "1ms", .max = "1h" };
	static const struct xk_param warmup = { .name = "warmup", .type = XK_P_TIME, .max = "1h" };
	static const struct xk_param precision = { .name = "precision", .type = XK_P_FRACTION, .min = "0.001", .max = "1" };
	static const struct xk_param confidence =
		{ .name = "confidence", .type = XK_P_FRACTION, .min = "0.5", .max = "0.999" };
	union xk_pval v;

	v.u = b->duration;
	take(b, tab, &duration, &v);
	b->duration = v.u;
	v.u = b->warmup;
	take(b, tab, &warmup, &v);
	b->warmup = v.u;
	v.d = b->precision;
	take(b, tab, &precision, &v);
	b->precision = v.d;
	v.d = b->confidence;
	take(b, tab, &confidence, &v);
	b->confidence = v.d;
}

/* The whole numbers of a table under the names and ranges of p[n], over those in x. */
static void read_counts(struct bench *b, const struct xk_value *tab, const char *key, const char *example,
			const struct xk_param *p, unsigned n, union xk_pval *x)
{
	const struct xk_value *v = xk_value_get(tab, key);
	const char *path[] = { key, NULL, NULL }, *known[4] = { NULL };
	char unknown[64];

	if (v == NULL || v->kind == XK_V_POISON)
		return;
	if (v->kind != XK_V_MAP) {
		bench_complain(b, path, "'%s' needs a table like %s", key, example);
		return;
	}
	for (unsigned k = 0; k < n; k++)
		known[k] = p[k].name;
	snprintf(unknown, sizeof unknown, "%s: unknown parameter", key);
	for (unsigned i = 0; i < v->n; i++) {
		path[1] = v->key[i].kind == XK_V_TEXT ? v->key[i].text : NULL;
		if (path[1] == NULL)
			bench_complain(b, path, "'%s' needs names: %s", key, example);
		else if (bench_known(b, path, unknown, path[1], known))
			for (unsigned k = 0; k < n; k++)
				if (strcmp(known[k], path[1]) == 0)
					parse(b, &v->item[i], path, &p[k], &x[k]);
	}
}

static void read_runs(struct bench *b, const struct xk_value *tab)
{
	static const struct xk_param p[] = {
		{ .name = "min", .type = XK_P_UINT, .min = "2", .max = "1000" },
		{ .name = "max", .type = XK_P_UINT, .min = "2", .max = "1000" },
		{ .name = "decide", .type = XK_P_UINT, .min = "2", .max = "1000" },
	};
	const char *path[] = { "runs", NULL };
	union xk_pval x[] = { { .u = b->min_runs }, { .u = b->max_runs }, { .u = b->decide_runs } };

	read_counts(b, tab, "runs", "{ min = 5, max = 20 }", p, XK_ARRAY_LEN(p), x);
	if (x[0].u > x[1].u)
		bench_complain(b, path, "'runs' has a min of %llu above its max of %llu",
			       (unsigned long long)x[0].u, (unsigned long long)x[1].u);
	b->min_runs = x[0].u;
	b->max_runs = x[1].u;
	/* More than max to decide an expectation, never fewer. */
	b->decide_runs = x[2].u > x[1].u ? x[2].u : x[1].u;
}

static void read_messages(struct bench *b, const struct xk_value *tab)
{
	static const struct xk_param p[] = {
		{ .name = "warmup", .type = XK_P_UINT, .max = "1000000000" },
		{ .name = "measured", .type = XK_P_UINT, .min = "1", .max = "1000000000" },
	};
	const char *path[] = { "paper_messages", NULL };
	union xk_pval x[] = { { .u = 0 }, { .u = 0 } };

	read_counts(b, tab, path[0], "{ warmup = 10000, measured = 20000 }", p, XK_ARRAY_LEN(p), x);
	if (x[1].u == 0 && x[0].u != 0)
		bench_complain(b, path, "'paper_messages' says nothing of how many are measured");
	b->paper = (struct bench_messages){ .warmup = x[0].u, .measured = x[1].u };
}

/* ---- metrics and axes ------------------------------------------------------------------ */

static const struct bench_metric *metric(struct bench *b, const char *const *path, const char *name)
{
	const struct bench_metric *m = bench_metric_of(b, name);
	char text[300];

	if (m == NULL)
		bench_complain(b, path, "%s", bench_metric_unknown(b, name, text, sizeof text));
	return m;
}

static void read_also(struct bench *b, const struct xk_value *tab)
{
	const struct xk_value *v = xk_value_get(tab, "columns");
	const char *path[] = { "columns", NULL };

	if (v == NULL || v->kind == XK_V_POISON)
		return;
	if (v->kind != XK_V_LIST || v->n > BENCH_COLUMNS) {
		bench_complain(b, path, "'columns' needs a list of at most %u metrics", BENCH_COLUMNS);
		return;
	}
	for (unsigned i = 0; i < v->n; i++) {
		const struct bench_metric *m = NULL;

		if (v->item[i].kind != XK_V_TEXT)
			bench_complain(b, path, "'columns': number %u is no text", i + 1);
		else
			m = metric(b, path, v->item[i].text);
		if (m != NULL)
			b->columns[b->ncolumns++] = m;
	}
}

static void read_metrics(struct bench *b, const struct xk_value *tab)
{
	const char *path[] = { "metric", NULL }, *name = text_of(b, tab, "metric");

	if (name != NULL)
		b->metric = metric(b, path, name);
	else if (xk_value_get(tab, "metric") == NULL)
		bench_complain(b, NULL, "parameter 'metric' is needed: what to measure, as in metric = \"gbit\"");
	read_also(b, tab);
	b->needs |= b->metric ? b->metric->need : 0;
	for (unsigned i = 0; i < b->ncolumns; i++)
		b->needs |= b->columns[i]->need;
}

static int axis_key(struct bench *b, const struct xk_value *tab, const char *key, int otherwise)
{
	const char *name = text_of(b, tab, key), *path[] = { key, NULL };
	const char *names[BENCH_AXES + 1] = { NULL };

	if (name == NULL)
		return otherwise;
	memcpy(names, b->axis, b->naxes * sizeof *names);
	if (!bench_known(b, path, "no axis is called", name, names))
		return otherwise;
	return bench_axis(b, name);
}

/* ---- the table ------------------------------------------------------------------------------ */

#define KEYS_MAX 40u

static void check_key(struct bench *b, const char *const *path)
{
	const char *keys[KEYS_MAX + 1];
	unsigned n = 0;

	for (; xk_bench_fields[n].name != NULL; n++) {
		xk_assert(n < KEYS_MAX);
		keys[n] = xk_bench_fields[n].name;
	}
	keys[n] = NULL;
	(void)bench_known(b, path, "unknown parameter", path[0], keys);
}

static void read_keys(struct bench *b, const struct xk_value *tab)
{
	for (unsigned i = 0; i < tab->n; i++) {
		const char *path[] = { NULL, NULL };

		if (tab->kind == XK_V_MAP && tab->key[i].kind == XK_V_TEXT) {
			path[0] = tab->key[i].text;
			check_key(b, path);
		} else {
			bench_complain(b, NULL, "a value stands here without a name");
		}
	}
}

static void read_graph(struct bench *b, const struct xk_value *tab)
{
	const struct xk_value *v = xk_value_get(tab, "graph");
	const char *path[] = { "graph", NULL };

	b->model = xk_value_get(tab, "model") != NULL;
	b->simulated = b->model || xk_spec_clock_processors(b->spec) != 0;
	if (v != NULL && b->model)
		bench_complain(b, path, "'graph' and 'model' exclude each other");
	else if (b->model)
		return;
	else if (v == NULL)
		bench_complain(b, NULL, "parameter 'graph' is needed: graph = graph \"name\" { ... }");
	else if (v->kind != XK_V_GRAPH && v->kind != XK_V_POISON)
		bench_complain(b, path, "'graph' needs a graph: graph = graph \"name\" { ... }");
}

static void read_table(struct bench *b, const struct xk_value *tab)
{
	read_keys(b, tab);
	read_graph(b, tab);
	b->doc = text_of(b, tab, "doc");
	b->source = text_of(b, tab, "source");
	read_times(b, tab);
	read_runs(b, tab);
	read_messages(b, tab);
	bench_read_points(b, tab);
	bench_read_own(b, tab);
	read_metrics(b, tab);
	b->x = axis_key(b, tab, "x", b->naxes ? (int)b->naxes - 1 : -1);
	b->series = axis_key(b, tab, "series", -1);
	if (b->series >= 0 && b->series == b->x && xk_value_get(tab, "x") != NULL)
		bench_complain(b, (const char *[]){ "series", NULL }, "'series' and 'x' name the same axis");
	bench_read_expected(b, tab);
}

/* ---- loading --------------------------------------------------------------------------------- */

static void load_once(struct bench *b, const char *text, bool report)
{
	struct xk_compose_opts opts = { .args = b->arg, .nargs = b->narg };
	struct xk_errs *e = report ? b->e : NULL;

	b->load_err = text ? xk_spec_load_text(&b->spec, b->file, text, strlen(text), &opts, e)
			   : xk_spec_load(&b->spec, b->file, &opts, e);
	if (b->spec == NULL)
		xk_errs_add(b->e, NULL, 0, 0, "out of memory");
}

/* Names an argument of the command line an axis?  Then the file shall not see it. */
static bool names_axis(const struct bench *b, const char *arg)
{
	char name[64];

	snprintf(name, sizeof name, "%.*s", (int)strcspn(arg, "="), arg);
	return strchr(arg, '=') != NULL && bench_axis(b, name) >= 0;
}

static void defaults(struct bench *b)
{
	b->duration = 2 * XK_SEC;
	b->warmup = 500 * XK_MS;
	b->min_runs = 5;
	b->max_runs = 20;
	b->decide_runs = 40;
	b->precision = 0.05;
	b->confidence = 0.90;
	b->seed = 1;
	b->x = b->series = -1;
}

static int load(struct bench *b, const char *text)
{
	const struct xk_value *tab;

	load_once(b, text, true);
	if (b->spec == NULL)
		return BENCH_IO;
	if (xk_spec_bench(b->spec) != NULL)
		(void)xk_spec_check(b->spec, b->e, NULL);
	tab = xk_spec_bench(b->spec);
	if (tab == NULL) {
		if (xk_errs_count(b->e) == 0)
			xk_errs_add(b->e, b->file, 0, 0, "describes a %s, not a bench: run it with vp-run "
				    "(a bench file returns bench \"name\" { ... })", xk_spec_word(b->spec));
		return BENCH_FILE_ERRORS;
	}
	b->name = xk_spec_name(b->spec);
	read_table(b, tab);
	return xk_errs_count(b->e) != 0 ? BENCH_FILE_ERRORS : BENCH_OK;
}

/* The axes, which the arguments of the command line may name, are found first. */
static int load_with(struct bench *b, const char *text, const char *const *args, unsigned nargs)
{
	struct bench first = { .file = b->file, .e = xk_errs_new() };
	int code = BENCH_OK;

	defaults(&first);
	(void)load(&first, text);
	for (unsigned i = 0; i < nargs && b->narg < BENCH_ARGS; i++)
		if (!names_axis(&first, args[i]))
			b->arg[b->narg++] = args[i];
	bench_free(&first);
	code = load(b, text);
	for (unsigned i = 0; code == BENCH_OK && i < nargs; i++)
		if (names_axis(b, args[i]))
			code = bench_restrict(b, args[i]);
	return code;
}

int bench_load_text(struct bench *b, const char *file, const char *text, const char *const *args, unsigned nargs)
{
	*b = (struct bench){ .file = file, .e = xk_errs_new() };
	defaults(b);
	if (b->e == NULL)
		return BENCH_IO;
	return load_with(b, text, args, nargs);
}

int bench_load(struct bench *b, const char *file, const char *const *args, unsigned nargs)
{
	return bench_load_text(b, file, NULL, args, nargs);
}

void bench_free(struct bench *b)
{
	xk_spec_free(b->spec);
	free(b->point);
	json_decref(b->reference);
	json_decref(b->shapes);
	xk_errs_free(b->e);
	b->spec = NULL;
	b->point = NULL;
	b->reference = b->shapes = NULL;
	b->e = NULL;
}

void bench_print_errors(struct bench *b)
{
	xk_spec_print_errors(stderr, b->spec, b->e, NULL);
}

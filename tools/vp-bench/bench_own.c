/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_own.c - metrics that a bench file gives itself: `metrics`, each a name and a Lua
 * function of a run.
 *
 * A function runs in a state of its own (bench_sandbox.c).
 * Invariant: a function that fails makes the run fail, with the reason.
 */
#include "tools/vp-bench/bench.h"

#include <string.h>

#include "tools/vp-bench/bench_sandbox.h"

/* ---- reading ------------------------------------------------------------------------ */

static const char *const keys[] = { "better", "doc", "name", "of", "unit", NULL };

static const char *text(struct bench *b, const char *const *path, const struct xk_value *row, const char *key)
{
	const struct xk_value *v = xk_value_get(row, key);
	const char *at[] = { path[0], path[1], key, NULL };

	if (v == NULL)
		return "";
	if (v->kind != XK_V_TEXT)
		bench_complain(b, at, "'%s' needs to be a text", key);
	return v->kind == XK_V_TEXT ? v->text : "";
}

const struct xk_value *bench_read_function(struct bench *b, const char *const *path, const struct xk_value *v,
					   const char *key, const char *takes)
{
	if (v->kind == XK_V_FUNCTION && v->item != NULL)
		return v->item;
	if (v->kind == XK_V_FUNCTION)
		bench_complain(b, path, "'%s' may use its arguments and string, table and math, not %s", key, v->text);
	else if (v->kind != XK_V_POISON)
		bench_complain(b, path, "'%s' needs a function: %s = function(%s) ... end", key, key, takes);
	return NULL;
}

static void read_of(struct bench *b, const char *const *path, const struct xk_value *row, struct bench_own *own)
{
	const struct xk_value *v = xk_value_get(row, "of");
	const char *at[] = { path[0], path[1], "of", NULL };

	if (v == NULL)
		bench_complain(b, path, "'metrics': number %s has no function: of = function(run, metrics) ... end", path[1] + 1);
	else
		own->of = bench_read_function(b, at, v, "of", "run, metrics");
}

static void read_one(struct bench *b, const char *const *path, const struct xk_value *row)
{
	struct bench_own own = { .of = NULL };
	const char *better;

	for (unsigned i = 0; i < row->n; i++) {
		const char *key = row->key[i].kind == XK_V_TEXT ? row->key[i].text : "1";

		(void)bench_known(b, (const char *[]){ path[0], path[1], key, NULL }, "metrics: unknown parameter", key, keys);
	}
	own.m.name = text(b, path, row, "name");
	own.m.unit = text(b, path, row, "unit");
	own.m.doc = text(b, path, row, "doc");
	better = text(b, path, row, "better");
	own.m.lower = strcmp(better, "lower") == 0;
	read_of(b, path, row, &own);
	if (*own.m.name == '\0')
		bench_complain(b, path, "'metrics': number %s has no name", path[1] + 1);
	else if (bench_metric_of(b, own.m.name) != NULL)
		bench_complain(b, path, "'metrics': there is a metric '%.60s' already", own.m.name);
	if (strcmp(better, "lower") != 0 && strcmp(better, "higher") != 0)
		bench_complain(b, path, "'metrics': number %s needs better = \"higher\" or \"lower\"", path[1] + 1);
	b->own[b->nown++] = own;
}

void bench_read_own(struct bench *b, const struct xk_value *tab)
{
	const struct xk_value *v = xk_value_get(tab, "metrics");
	const char *path[] = { "metrics", NULL, NULL };
	char number[16];

	if (v == NULL || v->kind == XK_V_POISON)
		return;
	if (v->kind != XK_V_LIST || v->n > BENCH_OWN) {
		bench_complain(b, path, "'metrics' needs a list of at most %u tables", BENCH_OWN);
		return;
	}
	path[1] = number;
	for (unsigned i = 0; i < v->n; i++) {
		snprintf(number, sizeof number, "#%u", i + 1);
		if (v->item[i].kind == XK_V_MAP)
			read_one(b, path, &v->item[i]);
		else if (v->item[i].kind != XK_V_POISON)
			bench_complain(b, path, "'metrics': number %u needs to be a table", i + 1);
	}
}

const struct bench_metric *bench_metric_of(const struct bench *b, const char *name)
{
	for (unsigned i = 0; i < b->nown; i++)
		if (strcmp(b->own[i].m.name, name) == 0)
			return &b->own[i].m;
	return bench_metric_find(name);
}

/* ---- calling ------------------------------------------------------------------------ */

json_t *bench_run_metrics(const struct bench *b, json_t *child, char *why, size_t n)
{
	json_t *m = bench_metrics_of(child, b->needs, why, n);
	char text[400];

	for (unsigned i = 0; m != NULL && i < b->nown; i++) {
		json_t *args[] = { child, m }, *v = bench_sandbox_call(b, b->own[i].of, "metric", args, 2, text, sizeof text);

		if (v != NULL) {
			json_object_set_new(m, b->own[i].m.name, v);
		} else {
			snprintf(why, n, "metric %.60s: %s", b->own[i].m.name, text);
			json_decref(m);
			m = NULL;
		}
	}
	return m;
}

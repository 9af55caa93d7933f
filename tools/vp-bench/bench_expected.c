/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_expected.c - what a bench file expects, as expected.lua reads it: other people's
 * numbers, the shape that ours should have, points that this build cannot run.
 *
 * The file's values go to the module as JSON, its complaints come back with their places.
 * Invariant: what a file does not call absent is run, or is an error.
 */
#include "tools/vp-bench/bench.h"

#include <string.h>

#include "tools/vp-bench/bench_lua.h"

#define DEPTH 8u
#define KNOWN 32u

/* ---- there ---------------------------------------------------------------------------- */

static const char *kind_of(const struct xk_value *v)
{
	switch (v->kind) {
	case XK_V_TEXT: return "text";
	case XK_V_LIST: return "list";
	case XK_V_MAP: return "map";
	case XK_V_POISON: return "poison";
	default: return "other";
	}
}

/* {kind, text, number, items, keys}, those that it has; a key that is no text is null. */
static json_t *value_json(const struct xk_value *v)
{
	json_t *o = json_pack("{s:s}", "kind", kind_of(v)), *items = json_array(), *keys = json_array();
	double x;

	if (v->text != NULL)
		json_object_set_new(o, "text", json_string(v->text));
	if (bench_number(v, &x))
		json_object_set_new(o, "number", json_real(x));
	for (unsigned i = 0; (v->kind == XK_V_LIST || v->kind == XK_V_MAP) && i < v->n; i++) {
		json_array_append_new(items, value_json(&v->item[i]));
		if (v->kind == XK_V_MAP)
			json_array_append_new(keys, v->key[i].kind == XK_V_TEXT ? json_string(v->key[i].text) : json_null());
	}
	json_object_set_new(o, "items", items);
	json_object_set_new(o, "keys", keys);
	return o;
}

static json_t *values(const struct xk_value *tab)
{
	static const char *const keys[] = { "reference", "shape", "absent" };
	json_t *o = json_object();

	for (unsigned i = 0; i < XK_ARRAY_LEN(keys); i++)
		if (xk_value_get(tab, keys[i]) != NULL)
			json_object_set_new(o, keys[i], value_json(xk_value_get(tab, keys[i])));
	return o;
}

static json_t *about(const struct bench *b)
{
	json_t *axes = json_array(), *points = json_array(), *own = json_array();

	for (unsigned i = 0; i < b->naxes; i++)
		json_array_append_new(axes, json_string(b->axis[i]));
	for (unsigned i = 0; i < b->npoints; i++)
		json_array_append_new(points, bench_point_at(b, &b->point[i]));
	for (unsigned i = 0; i < b->nown; i++)
		json_array_append_new(own, json_string(b->own[i].m.name));
	return json_pack("{s:o, s:o, s:o, s:i}", "axes", axes, "points", points, "own", own, "errors",
			 (int)xk_errs_count(b->e));
}

/* ---- and back --------------------------------------------------------------------------- */

static void complain(struct bench *b, const json_t *c)
{
	const char *path[DEPTH + 1] = { NULL }, *known[KNOWN + 1] = { NULL };
	const json_t *at = json_object_get(c, "path"), *list = json_object_get(c, "list");
	const char *metric = json_string_value(json_object_get(c, "metric"));
	char text[300];

	for (size_t i = 0; i < json_array_size(at) && i < DEPTH; i++)
		path[i] = json_string_value(json_array_get(at, i));
	for (size_t i = 0; i < json_array_size(list) && i < KNOWN; i++)
		known[i] = json_string_value(json_array_get(list, i));
	if (metric != NULL)
		bench_complain(b, path, "%s", bench_metric_unknown(b, metric, text, sizeof text));
	else if (list != NULL)
		(void)bench_known(b, path, bench_text(c, "what"), bench_text(c, "key"), known);
	else
		bench_complain(b, path, "%s", bench_text(c, "text"));
}

static void need(struct bench *b, const json_t *list)
{
	const json_t *o;
	size_t i;

	json_array_foreach(list, i, o) {
		const struct bench_metric *m = bench_metric_of(b, bench_text(o, "metric"));

		b->needs |= m != NULL ? m->need : 0;
	}
}

static void keep_points(struct bench *b, const json_t *list)
{
	unsigned kept = 0;
	const json_t *p;
	size_t i;

	json_array_foreach(list, i, p) {
		json_int_t number = json_integer_value(json_object_get(p, "number"));

		/* In order; another module (--lua-path) may say anything. */
		if (number < kept || number >= (json_int_t)b->npoints)
			continue;
		b->point[kept] = b->point[number];
		b->point[kept++].compared = json_is_true(json_object_get(p, "compared"));
	}
	if (list != NULL)
		b->npoints = kept;
}

static void take(struct bench *b, const json_t *said)
{
	const json_t *c;
	size_t i;

	b->reference = json_incref(json_object_get(said, "reference"));
	b->shapes = json_incref(json_object_get(said, "shapes"));
	need(b, b->reference);
	need(b, b->shapes);
	json_array_foreach(json_object_get(said, "complaints"), i, c)
		complain(b, c);
	json_array_foreach(json_object_get(said, "excused"), i, c) {
		json_t *shape = json_array_get(b->shapes, (size_t)json_integer_value(json_object_get(c, "shape")));

		if (json_object_get(shape, "skip") == NULL)
			json_object_set(shape, "skip", json_object_get(c, "why"));
	}
	keep_points(b, json_object_get(said, "points"));
}

/* Functions are no JSON. */
static void read_judges(struct bench *b, const struct xk_value *list)
{
	char number[16];

	for (unsigned i = 0; list != NULL && list->kind == XK_V_LIST && i < list->n; i++) {
		const struct xk_value *v = xk_value_get(&list->item[i], "judge");

		snprintf(number, sizeof number, "#%u", i + 1);
		if (v != NULL)
			(void)bench_read_function(b, (const char *[]){ "shape", number, "judge", NULL }, v, "judge",
						  "result, interval");
	}
}

void bench_read_expected(struct bench *b, const struct xk_value *tab)
{
	json_t *args[2], *said;
	char why[400];

	read_judges(b, xk_value_get(tab, "shape"));
	args[0] = values(tab);
	args[1] = about(b);
	said = bench_lua_call("expected", "read", args, 2, why, sizeof why);
	if (said != NULL)
		take(b, said);
	else
		bench_complain(b, NULL, "what is expected cannot be read: %s", why);
	json_decref(said);
	json_decref(args[0]);
	json_decref(args[1]);
}

const struct xk_value *bench_judge_of(const struct bench *b, size_t i)
{
	const struct xk_value *list = xk_value_get(xk_spec_bench(b->spec), "shape"), *v;

	v = list != NULL && i < list->n ? xk_value_get(&list->item[i], "judge") : NULL;
	return v != NULL ? v->item : NULL;
}

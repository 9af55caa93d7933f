/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_shapes.c - what a bench file says of other people's numbers and of the
 * shape that ours should have.
 *
 * Both become JSON at once, with every value checked, since the document
 * carries them: a result can be judged again without the bench file.
 */
#include "tools/vp-bench/bench.h"

#include <string.h>

#define DEPTH 6u

static const char *const their_keys[] = { "at", "doc", "figure", "metric", "ours", "unit", "value", NULL };
static const char *const shape_keys[] = {
	"a", "against", "at_least", "at_most", "because", "crossing", "doc", "figure", "judge", "knee", "metric", "minus",
	"needs_cpus", "not_here", "onset", "order", "over", "rises", "step", "theirs", "within", NULL
};
static const char *const pair_keys[] = { "a", "over", NULL };

/* How many points agree with all of at. */
static unsigned matches(const struct bench *b, const json_t *at)
{
	unsigned n = 0;

	for (unsigned i = 0; i < b->npoints; i++) {
		bool fits = true;
		const char *name;
		json_t *v;

		json_object_foreach((json_t *)at, name, v)
			fits &= strcmp(b->point[i].value[bench_axis(b, name)], json_string_value(v)) == 0;
		n += fits;
	}
	return n;
}

json_t *bench_read_at(struct bench *b, const char *const *path, const struct xk_value *v, bool any_value)
{
	const char *names[BENCH_AXES + 1] = { NULL }, *at[DEPTH + 2] = { NULL };
	json_t *o = json_object();
	unsigned depth = 0;
	bool good = v->kind == XK_V_MAP;

	memcpy(names, b->axis, b->naxes * sizeof *names);
	for (; path[depth] != NULL && depth < DEPTH; depth++)
		at[depth] = path[depth];
	if (!good && v->kind != XK_V_POISON)
		bench_complain(b, path, "needs a point, as in { vps = 2, conns = 12 }");
	for (unsigned i = 0; good && i < v->n; i++) {
		const char *key = v->key[i].kind == XK_V_TEXT ? v->key[i].text : "1";

		at[depth] = key;
		good = bench_known(b, at, "no axis is called", key, names);
		if (good && v->item[i].text != NULL)
			json_object_set_new(o, key, json_string(v->item[i].text));
	}
	if (good && !any_value && b->npoints != 0 && matches(b, o) != 1) {
		bench_complain(b, path, matches(b, o) ? "several points are there: name every axis"
						       : "no point of this bench is there");
		good = false;
	}
	if (good)
		return o;
	json_decref(o);
	return NULL;
}

/* ---- keys of one entry --------------------------------------------------------------- */

static void put_text(struct bench *b, const char *const *path, const struct xk_value *v, json_t *o, const char *key)
{
	if (v->kind == XK_V_TEXT)
		json_object_set_new(o, key, json_string(v->text));
	else if (v->kind != XK_V_POISON)
		bench_complain(b, path, "'%s' needs to be a text", key);
}

static void put_number(struct bench *b, const char *const *path, const struct xk_value *v, json_t *o, const char *key)
{
	double x;

	if (bench_number(v, &x))
		json_object_set_new(o, key, json_real(x));
	else if (v->kind != XK_V_POISON)
		bench_complain(b, path, "'%s' needs to be a number", key);
}

static void put_metric(struct bench *b, const char *const *path, const struct xk_value *v, json_t *o)
{
	const char *name = v->kind == XK_V_TEXT ? v->text : "?";
	const struct bench_metric *m = bench_metric_of(b, name);
	char text[300];

	if (m == NULL) {
		bench_complain(b, path, "%s", bench_metric_unknown(b, name, text, sizeof text));
		return;
	}
	b->needs |= m->need;
	json_object_set_new(o, "metric", json_string(m->name));
}

static void put_pair(struct bench *b, const char *const *path, const struct xk_value *v, json_t *o)
{
	json_t *pair = json_object();

	if (v->kind != XK_V_MAP) {
		bench_complain(b, path, "'against' needs a table like { a = { ... }, over = { ... } }");
		json_decref(pair);
		return;
	}
	for (unsigned i = 0; i < v->n; i++) {
		const char *key = v->key[i].kind == XK_V_TEXT ? v->key[i].text : "1";
		const char *at[] = { path[0], path[1], path[2], key, NULL };

		if (bench_known(b, at, "against: unknown parameter", key, pair_keys))
			json_object_set_new(pair, key, bench_read_at(b, at, &v->item[i], false));
	}
	if (json_object_size(pair) != 2)
		bench_complain(b, path, "'against' needs both a and over");
	json_object_set_new(o, "against", pair);
}

/* One name or several: always a list in the document. */
static void put_figures(struct bench *b, const char *const *path, const struct xk_value *v, json_t *o)
{
	json_t *list = json_array();

	if (v->kind == XK_V_TEXT)
		json_array_append_new(list, json_string(v->text));
	for (unsigned i = 0; v->kind == XK_V_LIST && i < v->n; i++)
		if (v->item[i].kind == XK_V_TEXT)
			json_array_append_new(list, json_string(v->item[i].text));
	if (v->kind != XK_V_POISON && (json_array_size(list) == 0 || (v->kind == XK_V_LIST && json_array_size(list) != v->n)))
		bench_complain(b, path, "'figure' needs a name like \"schmidt1996.fig8\", or a list of names");
	json_object_set_new(o, "figure", list);
}

static json_t *points_of(struct bench *b, const char *const *path, const char *key, const struct xk_value *v)
{
	json_t *list = json_array();
	char number[16];

	for (unsigned i = 0; v->kind == XK_V_LIST && i < v->n; i++) {
		const char *at[DEPTH + 1] = { NULL };
		unsigned depth = 0;

		snprintf(number, sizeof number, "#%u", i + 1);
		for (; path[depth] != NULL && depth + 1 < DEPTH; depth++)
			at[depth] = path[depth];
		at[depth] = number;
		json_array_append_new(list, bench_read_at(b, at, &v->item[i], false));
	}
	if (v->kind != XK_V_POISON && (v->kind != XK_V_LIST || v->n < 2))
		bench_complain(b, path, "'%s' needs a list of at least two points", key);
	return list;
}

/* For check_shape, which takes it out: documents have no functions. */
static void put_judge(struct bench *b, const char *const *path, const struct xk_value *v, json_t *o)
{
	(void)bench_read_function(b, path, v, "judge", "result, interval");
	json_object_set_new(o, "judge", json_true());
}

/* Two curves; of a crossing each point of one stands over one of the other. */
static void put_curves(struct bench *b, const char *const *path, const char *key, const struct xk_value *v, json_t *o)
{
	const struct xk_value *a = xk_value_get(v, "a"), *over = xk_value_get(v, "over");
	const char *at[2][5] = { { path[0], path[1], path[2], "a", NULL }, { path[0], path[1], path[2], "over", NULL } };
	json_t *pair;

	if (v->kind == XK_V_POISON)
		return;
	if (v->kind != XK_V_MAP || a == NULL || over == NULL || v->n != 2) {
		bench_complain(b, path, "'%s' needs a table like { a = { points }, over = { points } }", key);
		return;
	}
	pair = json_object();
	json_object_set_new(pair, "a", points_of(b, at[0], "a", a));
	json_object_set_new(pair, "over", points_of(b, at[1], "over", over));
	if (strcmp(key, "crossing") == 0 && a->n != over->n)
		bench_complain(b, path, "'crossing' needs as many points in a as in over");
	json_object_set_new(o, key, pair);
}

static void put_key(struct bench *b, const char *const *path, const char *key, const struct xk_value *v, json_t *o)
{
	static const char *const points[] = { "a", "over", "minus", "ours", "at", NULL };
	static const char *const texts[] = { "doc", "unit", "not_here", "because", NULL };

	for (unsigned i = 0; points[i] != NULL; i++)
		if (strcmp(key, points[i]) == 0) {
			json_object_set_new(o, key, bench_read_at(b, path, v, strcmp(key, "at") == 0));
			return;
		}
	for (unsigned i = 0; texts[i] != NULL; i++)
		if (strcmp(key, texts[i]) == 0) {
			put_text(b, path, v, o, key);
			return;
		}
	if (strcmp(key, "figure") == 0)
		put_figures(b, path, v, o);
	else if (strcmp(key, "order") == 0 || strcmp(key, "rises") == 0 || strcmp(key, "knee") == 0)
		json_object_set_new(o, key, points_of(b, path, key, v));
	else if (strcmp(key, "crossing") == 0 || strcmp(key, "onset") == 0)
		put_curves(b, path, key, v, o);
	else if (strcmp(key, "metric") == 0)
		put_metric(b, path, v, o);
	else if (strcmp(key, "judge") == 0)
		put_judge(b, path, v, o);
	else if (strcmp(key, "against") == 0)
		put_pair(b, path, v, o);
	else
		put_number(b, path, v, o, key);
}

/* ---- lists of entries -------------------------------------------------------------------- */

static json_t *read_entry(struct bench *b, const char *const *path, const char *what, const struct xk_value *v,
			  const char *const *keys)
{
	json_t *o = json_object();
	char unknown[64];

	snprintf(unknown, sizeof unknown, "%s: unknown parameter", what);
	for (unsigned i = 0; v->kind == XK_V_MAP && i < v->n; i++) {
		const char *key = v->key[i].kind == XK_V_TEXT ? v->key[i].text : "1";
		const char *at[] = { path[0], path[1], key, NULL };

		if (bench_known(b, at, unknown, key, keys))
			put_key(b, at, key, &v->item[i], o);
	}
	return o;
}

static json_t *read_entries(struct bench *b, const struct xk_value *tab, const char *what, const char *const *keys,
			    void (*check)(struct bench *, const char *const *, json_t *))
{
	const struct xk_value *v = xk_value_get(tab, what);
	const char *path[] = { what, NULL, NULL };
	json_t *list = json_array();
	char number[16];

	if (v == NULL || v->kind == XK_V_POISON)
		return list;
	if (v->kind != XK_V_LIST) {
		bench_complain(b, path, "'%s' needs a list of tables", what);
		return list;
	}
	path[1] = number;
	for (unsigned i = 0; i < v->n; i++) {
		json_t *o;

		snprintf(number, sizeof number, "#%u", i + 1);
		if (v->item[i].kind != XK_V_MAP && v->item[i].kind != XK_V_POISON) {
			bench_complain(b, path, "'%s': number %u needs to be a table", what, i + 1);
			continue;
		}
		o = read_entry(b, path, what, &v->item[i], keys);
		check(b, path, o);
		json_array_append_new(list, o);
	}
	return list;
}

static void check_their(struct bench *b, const char *const *path, json_t *o)
{
	if (xk_errs_count(b->e) == 0 && json_object_get(o, "value") == NULL)
		bench_complain(b, path, "'theirs': number %s has no value", path[1] + 1);
}

/* Keys that go with others only. */
static void check_parts(struct bench *b, const char *const *path, const json_t *o)
{
	bool steps = json_object_get(o, "order") != NULL || json_object_get(o, "rises") != NULL;

	if (json_object_get(o, "within") != NULL && !steps && json_object_get(o, "knee") == NULL && json_object_get(o, "onset") == NULL)
		bench_complain(b, path, "'shape': number %s has within without order, rises, knee or onset", path[1] + 1);
	if (json_object_get(o, "step") != NULL && !steps)
		bench_complain(b, path, "'shape': number %s has step without order or rises", path[1] + 1);
	if (json_object_get(o, "step") != NULL && json_object_get(o, "within") != NULL)
		bench_complain(b, path, "'shape': number %s has both step and within: a difference or a share", path[1] + 1);
	if (json_object_get(o, "against") != NULL && json_object_get(o, "over") == NULL)
		bench_complain(b, path, "'shape': number %s has against without over", path[1] + 1);
	if (json_object_get(o, "minus") != NULL && (json_object_get(o, "over") != NULL || json_object_get(o, "a") == NULL))
		bench_complain(b, path, "'shape': number %s has minus, which goes with a, and without over", path[1] + 1);
	if (json_array_size(json_object_get(o, "figure")) > 1)
		bench_complain(b, path, "'shape': number %s belongs to several figures: an expectation belongs to one", path[1] + 1);
}

static void check_judge(struct bench *b, const char *const *path, json_t *o)
{
	static const char *const bounds[] = { "over", "at_least", "at_most", "because", NULL };

	for (unsigned i = 0; json_object_get(o, "judge") != NULL && bounds[i] != NULL; i++)
		if (json_object_get(o, bounds[i]) != NULL)
			bench_complain(b, path, "'shape': number %s has both judge and %s: its judge alone says what is good",
				       path[1] + 1, bounds[i]);
	json_object_del(o, "judge");
}

static void check_shape(struct bench *b, const char *const *path, json_t *o)
{
	static const char *const kinds[] = { "a", "order", "rises", "knee", "crossing", "onset", "judge", NULL };
	bool elsewhere = json_object_get(o, "not_here") != NULL;
	unsigned n = 0;

	for (unsigned i = 0; kinds[i] != NULL; i++)
		n += json_object_get(o, kinds[i]) != NULL;

	if (xk_errs_count(b->e) != 0)
		return;
	if (json_object_get(o, "doc") == NULL)
		bench_complain(b, path, "'shape': number %s has no doc: a sentence that is true or not", path[1] + 1);
	if (!elsewhere && n == 0)
		bench_complain(b, path, "'shape': number %s names no point a, no order, rises, knee, crossing, onset or judge (and does not "
			       "say not_here = \"why\")", path[1] + 1);
	if (n > 1)
		bench_complain(b, path, "'shape': number %s is several things at once: one of a, order, rises, knee, crossing, onset, "
			       "judge", path[1] + 1);
	check_parts(b, path, o);
	check_judge(b, path, o);
}

void bench_read_theirs(struct bench *b, const struct xk_value *tab)
{
	b->theirs = read_entries(b, tab, "theirs", their_keys, check_their);
}

void bench_read_shapes(struct bench *b, const struct xk_value *tab)
{
	b->shapes = read_entries(b, tab, "shape", shape_keys, check_shape);
}

const struct xk_value *bench_judge_of(const struct bench *b, size_t i)
{
	const struct xk_value *list = xk_value_get(xk_spec_bench(b->spec), "shape"), *v;

	v = list != NULL && i < list->n ? xk_value_get(&list->item[i], "judge") : NULL;
	return v != NULL ? v->item : NULL;
}

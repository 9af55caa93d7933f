/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_absent.c - points of a bench that this build cannot run, because a
 * threading preset or a protocol is not in it.
 *
 * A bench file says so itself, absent = { { at = { arch = "mp" }, why = "..." } }, from what
 * the word built answers; its points, numbers and shapes stay as they are
 * written.  Such points are taken out before the first run, and a shape that
 * names one is not measurable here, with that reason.
 * Invariant: what a file does not call absent is run, or is an error.
 */
#include "tools/vp-bench/bench.h"

#include <string.h>

/* Does at have all the values of part_of, which has at least one? */
static bool covers(const json_t *at, const json_t *part_of)
{
	const char *axis;
	json_t *v;

	json_object_foreach((json_t *)part_of, axis, v)
		if (!json_equal(v, json_object_get(at, axis)))
			return false;
	return json_object_size(part_of) != 0;
}

bool bench_names_point(const json_t *v, const json_t *at)
{
	const char *key;
	json_t *w;
	size_t i;

	if (json_is_array(v)) {
		json_array_foreach(v, i, w)
			if (bench_names_point(w, at))
				return true;
		return false;
	}
	if (!json_is_object(v))
		return false;
	if (covers(at, v))
		return true;
	json_object_foreach((json_t *)v, key, w)
		if (bench_names_point(w, at))
			return true;
	return false;
}

json_t *bench_point_at(const struct bench *b, const struct bench_point *p)
{
	json_t *at = json_object();

	for (unsigned i = 0; i < b->naxes; i++)
		json_object_set_new(at, b->axis[i], json_string(p->value[i]));
	return at;
}

/* ---- reading ------------------------------------------------------------------------ */

static json_t *read_one(struct bench *b, const char *number, const struct xk_value *v)
{
	static const char *const keys[] = { "at", "why", NULL };
	const char *path[] = { "absent", number, NULL, NULL };
	const struct xk_value *at = xk_value_get(v, "at"), *why = xk_value_get(v, "why");
	json_t *where, *o;

	for (unsigned i = 0; v->kind == XK_V_MAP && i < v->n; i++) {
		path[2] = v->key[i].kind == XK_V_TEXT ? v->key[i].text : "1";
		(void)bench_known(b, path, "absent: unknown parameter", path[2], keys);
	}
	path[2] = NULL;
	if (v->kind != XK_V_MAP || at == NULL || why == NULL || why->kind != XK_V_TEXT) {
		bench_complain(b, path, "'absent' needs tables like { at = { arch = \"mp\" }, why = \"this build has no preset mp\" }");
		return NULL;
	}
	path[2] = "at";
	where = bench_read_at(b, path, at, true);
	if (where == NULL)
		return NULL;
	o = json_object();
	json_object_set_new(o, "at", where);
	json_object_set_new(o, "why", json_string(why->text));
	return o;
}

/* ---- taking out ---------------------------------------------------------------------- */

static const char *why_absent(const json_t *list, const json_t *at)
{
	const json_t *a;
	size_t i;

	json_array_foreach(list, i, a)
		if (covers(at, json_object_get(a, "at")))
			return bench_text(a, "why");
	return NULL;
}

static void excuse(json_t *shapes, const json_t *at, const char *why)
{
	json_t *s;
	size_t i;

	json_array_foreach(shapes, i, s)
		if (bench_names_point(s, at) && json_object_get(s, "not_here") == NULL)
			json_object_set_new(s, "not_here", json_string(why));
}

static void take_out(struct bench *b, const json_t *list)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < b->npoints; i++) {
		json_t *at = bench_point_at(b, &b->point[i]);
		const char *why = why_absent(list, at);

		if (why != NULL)
			excuse(b->shapes, at, why);
		else
			b->point[kept++] = b->point[i];
		json_decref(at);
	}
	b->npoints = kept;
}

void bench_read_absent(struct bench *b, const struct xk_value *tab)
{
	const struct xk_value *v = xk_value_get(tab, "absent");
	const char *path[] = { "absent", NULL };
	json_t *list = json_array(), *o;
	char number[16];

	if (v != NULL && v->kind != XK_V_LIST && v->kind != XK_V_POISON)
		bench_complain(b, path, "'absent' needs a list of tables");
	for (unsigned i = 0; v != NULL && v->kind == XK_V_LIST && i < v->n; i++) {
		snprintf(number, sizeof number, "#%u", i + 1);
		o = v->item[i].kind == XK_V_POISON ? NULL : read_one(b, number, &v->item[i]);
		if (o != NULL)
			json_array_append_new(list, o);
	}
	if (xk_errs_count(b->e) == 0)
		take_out(b, list);
	json_decref(list);
}

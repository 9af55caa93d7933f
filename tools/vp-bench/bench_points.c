/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_points.c - the axes of a bench and its points.
 *
 * An axis is an argument of the graph file.  `sweep` gives each axis its values
 * and means all combinations; `points` lists combinations, each naming the
 * same axes.  Values are checked against the argument's own type and range.
 * Invariant: every point has a value for every axis, and no two are equal.
 */
#include "tools/vp-bench/bench.h"
#include "runtime/base/xk_param_value.h"

#include <stdlib.h>
#include <string.h>

static bool scalar(const struct xk_value *v)
{
	return v->kind == XK_V_INT || v->kind == XK_V_FLOAT || v->kind == XK_V_BOOL || v->kind == XK_V_TEXT ||
	       v->kind == XK_V_TYPED;
}

static const struct xk_arg *find_arg(const struct bench *b, const char *name)
{
	unsigned n;
	const struct xk_arg *a = xk_spec_args(b->spec, &n);

	for (unsigned i = 0; i < n; i++)
		if (strcmp(a[i].p.name, name) == 0)
			return &a[i];
	return NULL;
}

static bool known_arg(struct bench *b, const char *const *path, const char *name)
{
	const char *names[257] = { NULL };
	unsigned n;
	const struct xk_arg *a = xk_spec_args(b->spec, &n);

	for (unsigned i = 0; i < n && i < 256; i++)
		names[i] = a[i].p.name;
	return bench_known(b, path, "the graph file has no argument", name, names);
}

/* A value of an axis against its argument's declaration. */
static bool good_value(struct bench *b, const char *const *path, const char *name, const struct xk_value *v)
{
	const struct xk_arg *a = find_arg(b, name);
	union xk_pval parsed;
	char why[300];

	if (v->kind == XK_V_POISON)
		return false;
	if (!scalar(v)) {
		bench_complain(b, path, "'%s' needs plain values", name);
		return false;
	}
	if (xk_param_parse(&a->p, v->text, v->kind == XK_V_INT || v->kind == XK_V_FLOAT, &parsed, why, sizeof why)
	    != XK_OK) {
		bench_complain(b, path, "'%s' %s", name, why);
		return false;
	}
	if (a->p.type == XK_P_TEXT)
		free(parsed.text);
	return true;
}

static bool add_axis(struct bench *b, const char *const *path, const char *name)
{
	if (!known_arg(b, path, name))
		return false;
	if (b->naxes == BENCH_AXES) {
		bench_complain(b, path, "more than %u axes", BENCH_AXES);
		return false;
	}
	b->axis[b->naxes++] = name;
	return true;
}

static bool same(const struct bench *b, const struct bench_point *p, const struct bench_point *q)
{
	for (unsigned i = 0; i < b->naxes; i++)
		if (strcmp(p->value[i], q->value[i]) != 0)
			return false;
	return true;
}

static bool room_for(struct bench *b, const char *const *path, size_t n)
{
	if (n > BENCH_POINTS) {
		bench_complain(b, path, "makes %zu points; at most %u", n, BENCH_POINTS);
		return false;
	}
	b->point = calloc(n + 1, sizeof *b->point);
	return b->point != NULL;
}

/* ---- sweep ----------------------------------------------------------------------- */

static bool sweep_axis(struct bench *b, const struct xk_value *v, unsigned i)
{
	const char *path[] = { "sweep", v->key[i].text, NULL };
	const struct xk_value *list = &v->item[i];
	bool good;

	if (v->key[i].kind != XK_V_TEXT) {
		path[1] = NULL;
		bench_complain(b, path, "'sweep' needs names: { vps = { 2, 16 }, conns = { 12, 24 } }");
		return false;
	}
	good = add_axis(b, path, path[1]);
	if (list->kind != XK_V_LIST || list->n == 0) {
		if (list->kind != XK_V_POISON)
			bench_complain(b, path, "'%s' needs a list of values", path[1]);
		return false;
	}
	for (unsigned k = 0; good && k < list->n; k++)
		good = good_value(b, path, path[1], &list->item[k]);
	for (unsigned k = 0; good && k < list->n; k++)
		for (unsigned j = 0; good && j < k; j++)
			if (strcmp(list->item[k].text, list->item[j].text) == 0) {
				bench_complain(b, path, "'%s' has the value %.60s twice", path[1], list->item[k].text);
				good = false;
			}
	return good;
}

static void read_sweep(struct bench *b, const struct xk_value *v)
{
	const char *path[] = { "sweep", NULL };
	size_t n = 1;
	bool good = true;

	if (v->kind == XK_V_POISON)
		return;
	if (v->kind != XK_V_MAP) {
		bench_complain(b, path, "'sweep' needs a table like { vps = { 2, 16 }, conns = { 12, 24 } }");
		return;
	}
	for (unsigned i = 0; i < v->n; i++) {
		good &= sweep_axis(b, v, i);
		n = good && n <= BENCH_POINTS ? n * v->item[i].n : n;
	}
	if (!good || !room_for(b, path, n))
		return;
	for (size_t k = 0; k < n; k++) {
		size_t rest = k;

		for (unsigned i = v->n; i-- > 0; rest /= v->item[i].n)
			b->point[k].value[i] = v->item[i].item[rest % v->item[i].n].text;
	}
	b->npoints = (unsigned)n;
}

/* ---- points ------------------------------------------------------------------------- */

static bool point_axes(struct bench *b, const char *const *path, const struct xk_value *p)
{
	bool good = true;

	for (unsigned i = 0; i < p->n; i++) {
		const char *at[] = { path[0], path[1], p->key[i].text, NULL };

		if (p->key[i].kind == XK_V_TEXT)
			good &= add_axis(b, at, p->key[i].text);
	}
	return good;
}

static bool one_point(struct bench *b, const char *const *path, const struct xk_value *p, struct bench_point *out)
{
	bool good = true;

	for (unsigned i = 0; i < p->n; i++) {
		const char *at[] = { path[0], path[1], p->key[i].text, NULL };
		int axis = p->key[i].kind == XK_V_TEXT ? bench_axis(b, p->key[i].text) : -1;

		if (axis < 0) {
			if (p->key[i].kind != XK_V_TEXT || known_arg(b, at, p->key[i].text))
				bench_complain(b, at, "'points': number %s names other axes than the first", path[1] + 1);
			good = false;
			continue;
		}
		if (!good_value(b, at, p->key[i].text, &p->item[i]))
			good = false;
		out->value[axis] = p->item[i].text;
	}
	for (unsigned i = 0; good && i < b->naxes; i++)
		if (out->value[i] == NULL) {
			bench_complain(b, path, "'points': number %s gives no '%s'", path[1] + 1, b->axis[i]);
			good = false;
		}
	return good;
}

static void read_list(struct bench *b, const struct xk_value *v)
{
	char number[16];
	const char *path[] = { "points", NULL, NULL };

	if (v->kind == XK_V_POISON)
		return;
	if (v->kind != XK_V_LIST || v->n == 0) {
		bench_complain(b, path, "'points' needs a list like { { vps = 2, conns = 12 }, ... }");
		return;
	}
	if (!room_for(b, path, v->n))
		return;
	path[1] = number;
	for (unsigned i = 0; i < v->n; i++) {
		struct bench_point p = { 0 };

		snprintf(number, sizeof number, "#%u", i + 1);
		if (v->item[i].kind != XK_V_MAP) {
			if (v->item[i].kind != XK_V_POISON)
				bench_complain(b, path, "'points': number %u needs a table like { vps = 2 }", i + 1);
			continue;
		}
		if (b->naxes == 0 && !point_axes(b, path, &v->item[i]))
			return;
		if (!one_point(b, path, &v->item[i], &p))
			continue;
		for (unsigned k = 0; k < b->npoints; k++)
			if (same(b, &p, &b->point[k])) {
				bench_complain(b, path, "'points': number %u is there already", i + 1);
				break;
			}
		b->point[b->npoints++] = p;
	}
}

void bench_read_points(struct bench *b, const struct xk_value *tab)
{
	const struct xk_value *sweep = xk_value_get(tab, "sweep"), *list = xk_value_get(tab, "points");
	const char *path[] = { "points", NULL };

	if (sweep != NULL && list != NULL)
		bench_complain(b, path, "'sweep' and 'points' exclude each other");
	else if (sweep != NULL)
		read_sweep(b, sweep);
	else if (list != NULL)
		read_list(b, list);
	else
		bench_complain(b, NULL, "parameter 'sweep' or 'points' is needed: what to run");
}

/* ---- the command line ------------------------------------------------------------------ */

int bench_restrict(struct bench *b, const char *arg)
{
	char name[64];
	unsigned kept = 0;
	int axis;
	const char *want = strchr(arg, '=') + 1;

	snprintf(name, sizeof name, "%.*s", (int)strcspn(arg, "="), arg);
	axis = bench_axis(b, name);
	for (unsigned i = 0; i < b->npoints; i++)
		if (strcmp(b->point[i].value[axis], want) == 0)
			b->point[kept++] = b->point[i];
	if (kept == 0) {
		xk_errs_add(b->e, NULL, 0, 0, "no point of bench %s has %s=%s", b->name, name, want);
		return BENCH_USAGE;
	}
	b->npoints = kept;
	return BENCH_OK;
}

const char *bench_point_text(const struct bench *b, const struct bench_point *p, char *buf, size_t n)
{
	size_t used = 0;

	buf[0] = '\0';
	for (unsigned i = 0; i < b->naxes && used < n; i++)
		used += (size_t)snprintf(buf + used, n - used, "%s%s=%s", i ? " " : "", b->axis[i], p->value[i]);
	return buf;
}

json_t *bench_point_at(const struct bench *b, const struct bench_point *p)
{
	json_t *at = json_object();

	for (unsigned i = 0; i < b->naxes; i++)
		json_object_set_new(at, b->axis[i], json_string(p->value[i]));
	return at;
}

/* ---- does the graph accept them? ---------------------------------------------------------- */

static bool try_point(struct bench *b, const struct bench_point *p)
{
	char text[BENCH_AXES][160], all[400];
	const char *arg[BENCH_ARGS + BENCH_AXES];
	struct xk_compose_opts opts = { .args = arg, .nargs = b->narg + b->naxes };
	struct xk_errs *e = xk_errs_new();
	struct xk_spec *s = NULL;
	bool good;

	memcpy(arg, b->arg, b->narg * sizeof *arg);
	for (unsigned i = 0; i < b->naxes; i++) {
		snprintf(text[i], sizeof text[i], "%s=%s", b->axis[i], p->value[i]);
		arg[b->narg + i] = text[i];
	}
	good = xk_spec_load(&s, b->file, &opts, e) == XK_OK && xk_spec_check(s, e, NULL) == XK_OK;
	if (!good) {
		fprintf(stderr, "with %s:\n", bench_point_text(b, p, all, sizeof all));
		xk_spec_print_errors(stderr, s, e, NULL);
	}
	xk_spec_free(s);
	xk_errs_free(e);
	return good;
}

int bench_try_points(struct bench *b)
{
	for (unsigned i = 0; i < b->npoints; i++)
		if (!try_point(b, &b->point[i]))
			return BENCH_FILE_ERRORS;
	return BENCH_OK;
}

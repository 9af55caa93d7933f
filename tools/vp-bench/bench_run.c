/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_run.c - the subcommands plan and run.
 *
 * All files are read and all points are tried before the first run: what can
 * be found wrong is found before an hour has passed.
 */
#include "tools/vp-bench/bench.h"

#include <stdlib.h>
#include <string.h>

#include "tools/vp-bench/bench_lua.h"

int bench_worse(int a, int b)
{
	static const int order[] = { BENCH_OK, BENCH_SHAPE_FAILED, BENCH_CHILD_FAILED, BENCH_FILE_ERRORS, BENCH_USAGE,
				     BENCH_IO, BENCH_INTERRUPTED };
	unsigned x = 0, y = 0;

	while (order[x] != a)
		x++;
	while (order[y] != b)
		y++;
	return x > y ? a : b;
}

static int load_one(struct bench_options *o, unsigned i, struct bench *b)
{
	int code = bench_load(b, o->file[i], o->arg, o->nargs);

	if (code == BENCH_OK)
		code = bench_apply(o, b);
	if (b->e != NULL && xk_errs_count(b->e) != 0)
		bench_print_errors(b);
	if (code == BENCH_OK)
		code = bench_try_points(b);
	return code;
}

static int load_all(struct bench_options *o, struct bench *b)
{
	int code = BENCH_OK;
	unsigned unit = 0;

	if (o->nfiles == 0) {
		fprintf(stderr, "vp-bench: which bench file? (vp-bench list)\n");
		return BENCH_USAGE;
	}
	for (unsigned i = 0; i < o->nfiles; i++)
		code = bench_worse(code, load_one(o, i, &b[i]));
	for (unsigned i = 0; code == BENCH_OK && i < o->nfiles; i++)
		unit = bench_divide(&b[i], &o->shard, NULL, unit);
	return code;
}

static void free_all(const struct bench_options *o, struct bench *b)
{
	for (unsigned i = 0; b != NULL && i < o->nfiles; i++)
		bench_free(&b[i]);
	free(b);
}

/* ---- plan --------------------------------------------------------------------------- */

static int plan_one(const struct bench *b)
{
	json_t *points = json_array(), *plan;
	double least, most;
	char at[400];
	int code;

	for (unsigned i = 0; i < b->npoints; i++)
		json_array_append_new(points, json_string(bench_point_text(b, &b->point[i], at, sizeof at)));
	bench_estimate(b, &least, &most);
	plan = json_pack("{s:s, s:s?, s:s?, s:o, s:o, s:f, s:f, s:b}", "name", b->name, "doc", b->doc, "source", b->source,
			 "points", points, "settings", bench_settings_json(b, "own"), "least", least, "most", most,
			 "judged", json_array_size(b->shapes) != 0);
	code = bench_lua_print(stdout, "show", "plan", &plan, 1);
	json_decref(plan);
	return code;
}

int bench_plan_main(int argc, char **argv)
{
	struct bench_options o;
	struct bench *b;
	int code;

	bench_options(&o, argc, argv);
	if (!bench_whole(&o, argv[0]))
		return BENCH_USAGE;
	b = calloc(o.nfiles + 1, sizeof *b);
	code = b ? load_all(&o, b) : BENCH_IO;
	for (unsigned i = 0; code == BENCH_OK && i < o.nfiles; i++)
		code = plan_one(&b[i]);
	free_all(&o, b);
	return code;
}

/* ---- run ------------------------------------------------------------------------------ */

static const char *preset_name(const struct bench_options *o)
{
	return o->quick ? "quick" : o->paper ? "paper" : "own";
}

/* But for how many runs are made. */
static bool same_settings(json_t *x, json_t *y)
{
	static const char *const many[] = { "runs_min", "runs_max", "runs_decide" };
	json_t *a = json_copy(x), *b = json_copy(y);
	bool same;

	for (unsigned i = 0; i < XK_ARRAY_LEN(many); i++) {
		json_object_del(a, many[i]);
		json_object_del(b, many[i]);
	}
	same = a != NULL && b != NULL && json_equal(a, b);
	json_decref(a);
	json_decref(b);
	return same;
}

/* The part of an earlier document for b, when it was made the same way. */
static json_t *earlier(json_t *doc, const struct bench *b, const json_t *fresh)
{
	static const char *const same[] = { "axes", "metric", "columns" };
	json_t *p;
	size_t i;

	json_array_foreach(json_object_get(doc, "benches"), i, p) {
		json_t *old = json_object_get(p, "points"), *new = json_object_get(fresh, "points");
		bool equal = p != fresh && strcmp(bench_text(p, "name"), b->name) == 0 &&
			     json_array_size(old) == json_array_size(new) &&
			     strcmp(bench_text(p, "file_id"), bench_text(fresh, "file_id")) == 0 &&
			     same_settings(json_object_get(p, "settings"), json_object_get(fresh, "settings"));

		for (unsigned k = 0; equal && k < XK_ARRAY_LEN(same); k++)
			equal = json_equal(json_object_get(p, same[k]), json_object_get(fresh, same[k]));
		for (size_t k = 0; equal && k < json_array_size(old); k++)
			equal = json_equal(json_object_get(json_array_get(old, k), "at"),
					   json_object_get(json_array_get(new, k), "at")) &&
				json_integer_value(json_object_get(json_array_get(old, k), "shard")) ==
				json_integer_value(json_object_get(json_array_get(new, k), "shard"));
		if (equal)
			return p;
	}
	return NULL;
}

json_t *bench_part_for(const struct bench_options *o, json_t *doc, const struct bench *b)
{
	json_t *list = json_object_get(doc, "benches"), *fresh = bench_doc_bench(doc, b, preset_name(o));
	json_t *old = o->resume ? earlier(doc, b, fresh) : NULL;

	if (old == NULL) {
		if (o->resume)
			fprintf(stderr, "vp-bench: %s: nothing in %s was measured in the same way: from the beginning\n", b->name, o->out);
		return fresh;
	}
	json_object_set(old, "settings", json_object_get(fresh, "settings"));
	json_object_set_new(old, "complete", json_false());
	bench_doc_summarise(old);                /* what had enough runs may want more now */
	json_array_remove(list, json_array_size(list) - 1);
	return old;
}

static bool same_shard(const json_t *doc, const struct bench_shard *s)
{
	const json_t *was = json_object_get(doc, "shard");

	return json_integer_value(json_object_get(was, "number")) == s->number && json_integer_value(json_object_get(was, "of")) == s->of;
}

json_t *bench_document(const struct bench_options *o)
{
	char why[4400];
	json_t *doc;

	if (!o->resume) {
		doc = bench_doc_new();
		if (o->shard.of != 0)
			bench_doc_shard(doc, &o->shard);
		return doc;
	}
	doc = bench_doc_load(o->out, why, sizeof why);
	if (doc == NULL) {
		fprintf(stderr, "vp-bench: %s\n", why);
	} else if (!same_shard(doc, &o->shard)) {
		fprintf(stderr, "vp-bench: %s is another part of a sweep than --shard says\n", o->out);
		json_decref(doc);
		doc = NULL;
	}
	return doc;
}

static int print_result(const struct bench_options *o, const json_t *doc)
{
	FILE *f = stdout;
	int code;

	if (o->out != NULL && o->format == BENCH_JSON)
		return BENCH_OK;
	if (o->out != NULL)
		f = fopen(o->out, "we");
	if (f == NULL) {
		fprintf(stderr, "vp-bench: cannot write %s\n", o->out);
		return BENCH_IO;
	}
	code = bench_show(f, doc, o->format);
	if (f != stdout && fclose(f) != 0)
		code = BENCH_IO;
	if (code != BENCH_OK)
		fprintf(stderr, "vp-bench: cannot write %s\n", o->out ? o->out : "the output");
	return code;
}

static int run_all(const struct bench_options *o, struct bench *b, json_t *doc)
{
	int code = BENCH_OK;

	for (unsigned i = 0; i < o->nfiles && code != BENCH_IO && code != BENCH_INTERRUPTED; i++)
		code = bench_worse(code, bench_sweep(&b[i], o, doc, bench_part_for(o, doc, &b[i])));
	return bench_worse(code, print_result(o, doc));
}

int bench_run_main(int argc, char **argv)
{
	struct bench_options o;
	struct bench *b;
	json_t *doc = NULL;
	int code;

	bench_options(&o, argc, argv);
	b = calloc(o.nfiles + 1, sizeof *b);
	code = b ? load_all(&o, b) : BENCH_IO;
	if (code == BENCH_OK) {
		bench_child_signals();
		doc = bench_document(&o);
		code = doc ? run_all(&o, b, doc) : BENCH_IO;
	}
	json_decref(doc);
	free_all(&o, b);
	return code;
}

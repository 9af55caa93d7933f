/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_merge_doc.c - makes one result of the parts that vp-bench --shard wrote.
 *
 * A point is taken from the part that ran it.  Parts are of one machine when they have the same host
 * and environment, but for what changes by the minute; where there are several, each measured point
 * says its machine, and judge.lua compares no points of different ones.  What is simulated is the
 * same everywhere and says none.
 * Invariant: parts that are not of one sweep give no result.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/vp-bench/bench_merge.h"

struct docs {
	const struct bench_part *part;
	const unsigned *at;          /* by number - 1 */
	unsigned        n;
	unsigned       *machine;     /* from 1, by number - 1 */
	unsigned        machines;
	char           *why;
	size_t          size;
};

static json_t *doc_of(const struct docs *d, unsigned k) { return d->part[d->at[k]].head; }
static const char *file_of(const struct docs *d, unsigned k) { return d->part[d->at[k]].file; }

static json_t *bench_of(const struct docs *d, unsigned k, size_t i)
{
	return json_array_get(json_object_get(doc_of(d, k), "benches"), i);
}

static json_t *point_of(const json_t *part, size_t i)
{
	return json_array_get(json_object_get(part, "points"), i);
}

/* ---- of one sweep? -------------------------------------------------------------------------- */

/* 3 is 3.0: other tools write numbers as they like. */
static bool alike(const json_t *a, const json_t *b)
{
	const char *key;
	json_t *v;
	size_t i;

	if (json_is_number(a) && json_is_number(b))
		return json_number_value(a) == json_number_value(b);
	if (json_is_array(a) && json_is_array(b) && json_array_size(a) == json_array_size(b)) {
		json_array_foreach(a, i, v)
			if (!alike(v, json_array_get(b, i)))
				return false;
		return true;
	}
	if (json_is_object(a) && json_is_object(b) && json_object_size(a) == json_object_size(b)) {
		json_object_foreach((json_t *)a, key, v)
			if (!alike(v, json_object_get(b, key)))
				return false;
		return true;
	}
	return a == NULL || b == NULL ? a == b : json_equal(a, b);
}

static bool differs(const struct docs *d, unsigned k, const char *what, const json_t *a, const json_t *b)
{
	char *x = json_dumps(a, JSON_COMPACT | JSON_ENCODE_ANY), *y = json_dumps(b, JSON_COMPACT | JSON_ENCODE_ANY);

	snprintf(d->why, d->size, "%s is of %s %.300s, %s of %.300s", file_of(d, k), what, y != NULL ? y : "none", file_of(d, 0),
		 x != NULL ? x : "none");
	free(x);
	free(y);
	return false;
}

static bool same(const struct docs *d, unsigned k, const char *what, const json_t *a, const json_t *b)
{
	return alike(a, b) || differs(d, k, what, a, b);
}

/* But for those of the machine. */
static bool same_settings(const struct docs *d, unsigned k, const json_t *a, const json_t *b)
{
	const char *key;
	json_t *v;

	json_object_foreach((json_t *)a, key, v)
		if (strcmp(key, "processors") != 0 && !same(d, k, key, v, json_object_get(b, key)))
			return false;
	json_object_foreach((json_t *)b, key, v)
		if (json_object_get(a, key) == NULL)
			return differs(d, k, key, NULL, v);
	return true;
}

static bool same_commit(const struct docs *d, unsigned k, const json_t *a, const json_t *b)
{
	const char *key = json_is_string(json_object_get(a, "commit")) ? "commit" : "id";

	return same(d, k, key, json_object_get(a, key), json_object_get(b, key));
}

static bool same_points(const struct docs *d, unsigned k, const json_t *a, const json_t *b)
{
	size_t n = json_array_size(json_object_get(a, "points"));

	for (size_t i = 0; i < n; i++)
		if (!same(d, k, "the point", json_object_get(point_of(a, i), "at"), json_object_get(point_of(b, i), "at")) ||
		    !same(d, k, "parts: a point is of part", json_object_get(point_of(a, i), "shard"),
			  json_object_get(point_of(b, i), "shard")))
			return false;
	if (n == json_array_size(json_object_get(b, "points")))
		return true;
	snprintf(d->why, d->size, "%s has other points than %s", file_of(d, k), file_of(d, 0));
	return false;
}

static bool same_bench(const struct docs *d, unsigned k, size_t i)
{
	static const char *const keys[][2] = {
		{ "name", "bench" }, { "file", "file" }, { "file_id", "a file with the hash" },
	};
	static const char *const rest[] = { "axes", "metric", "columns", "reference" };
	const json_t *a = bench_of(d, 0, i), *b = bench_of(d, k, i);

	for (unsigned j = 0; j < XK_ARRAY_LEN(keys); j++)
		if (!same(d, k, keys[j][1], json_object_get(a, keys[j][0]), json_object_get(b, keys[j][0])))
			return false;
	if (!same_settings(d, k, json_object_get(a, "settings"), json_object_get(b, "settings")))
		return false;
	for (unsigned j = 0; j < XK_ARRAY_LEN(rest); j++)
		if (!same(d, k, rest[j], json_object_get(a, rest[j]), json_object_get(b, rest[j])))
			return false;
	return same_points(d, k, a, b) && same_commit(d, k, json_object_get(a, "binary"), json_object_get(b, "binary"));
}

static bool of_one_sweep(const struct docs *d)
{
	size_t n = json_array_size(json_object_get(doc_of(d, 0), "benches"));

	for (unsigned k = 0; k < d->n; k++) {
		if (!bench_doc_is(doc_of(d, k), file_of(d, k), d->why, d->size) ||
		    !same(d, k, "version", json_object_get(doc_of(d, 0), "version"), json_object_get(doc_of(d, k), "version")))
			return false;
		if (json_array_size(json_object_get(doc_of(d, k), "benches")) != n) {
			snprintf(d->why, d->size, "%s has other benches than %s", file_of(d, k), file_of(d, 0));
			return false;
		}
		for (size_t i = 0; i < n; i++)
			if (!same_bench(d, k, i))
				return false;
	}
	return true;
}

/* ---- complete? --------------------------------------------------------------------------------- */

/* A point has run, or failed and said why. */
static bool has_run(const json_t *p)
{
	const char *status = bench_text(p, "status");
	const json_t *runs = json_object_get(p, "runs"), *r;
	size_t i;

	json_array_foreach(runs, i, r)
		if (!json_is_object(json_object_get(r, "metrics")))
			return false;
	if (!json_is_array(runs) || !json_is_object(json_object_get(p, "metrics")))
		return false;
	return strcmp(status, "failed") == 0 ||
	       (json_array_size(runs) != 0 && (strcmp(status, "done") == 0 || strcmp(status, "interval not reached") == 0));
}

static bool is_complete(const struct docs *d, unsigned k, const json_t *part)
{
	bool all = json_is_true(json_object_get(part, "complete"));
	const json_t *p;
	size_t i;

	json_array_foreach(json_object_get(part, "points"), i, p) {
		json_int_t shard = json_integer_value(json_object_get(p, "shard"));

		if (shard < 1 || shard > (json_int_t)d->n) {
			snprintf(d->why, d->size, "%s is damaged: %s has a point of part %d of %u", file_of(d, k), bench_text(part, "name"),
				 (int)shard, d->n);
			return false;
		}
		all = all && (shard != (json_int_t)k + 1 || has_run(p));
	}
	if (!all)
		snprintf(d->why, d->size, "%s is not complete: %s was stopped in it; go on with --resume", file_of(d, k),
			 bench_text(part, "name"));
	return all;
}

static bool are_complete(const struct docs *d)
{
	for (unsigned k = 0; k < d->n; k++)
		for (size_t i = 0; i < json_array_size(json_object_get(doc_of(d, k), "benches")); i++)
			if (!is_complete(d, k, bench_of(d, k, i)))
				return false;
	return true;
}

/* ---- machines ------------------------------------------------------------------------------------ */

/* What does not change by the minute. */
static json_t *lasting(const json_t *doc)
{
	static const char *const passing[] = { "load", "steal", "warnings", "clock_grain_ns" };
	json_t *env = json_copy(json_object_get(doc, "environment"));

	for (unsigned i = 0; i < XK_ARRAY_LEN(passing); i++)
		json_object_del(env, passing[i]);
	json_object_set(env, "host", json_object_get(json_object_get(doc, "shard"), "host"));
	return env;
}

static bool same_machine(const json_t *a, const json_t *b)
{
	json_t *x = lasting(a), *y = lasting(b);
	bool is = x != NULL && alike(x, y);

	json_decref(x);
	json_decref(y);
	return is;
}

static void find_machines(struct docs *d)
{
	for (unsigned k = 0; k < d->n; k++) {
		unsigned j = 0;

		while (j < k && !same_machine(doc_of(d, j), doc_of(d, k)))
			j++;
		d->machine[k] = j < k ? d->machine[j] : ++d->machines;
	}
}

/* {number, host, parts, environment, binary} of each, as its first part has them. */
static json_t *machines_json(const struct docs *d)
{
	json_t *list = json_array();

	for (unsigned m = 1; m <= d->machines; m++) {
		json_t *o = json_pack("{s:i}", "number", (int)m), *parts = json_array();

		for (unsigned k = 0; k < d->n; k++) {
			json_t *doc = doc_of(d, k);

			if (d->machine[k] != m)
				continue;
			json_array_append_new(parts, json_integer(k + 1));
			if (json_array_size(parts) != 1)
				continue;
			json_object_set(o, "host", json_object_get(json_object_get(doc, "shard"), "host"));
			json_object_set(o, "started", json_object_get(doc, "started"));
			json_object_set(o, "environment", json_object_get(doc, "environment"));
			json_object_set(o, "binary", json_object_get(bench_of(d, k, 0), "binary"));
		}
		json_object_set_new(o, "parts", parts);
		json_array_append_new(list, o);
	}
	return list;
}

static void warn(json_t *list, json_t *sentence)
{
	const json_t *v;
	size_t i;

	json_array_foreach(list, i, v)
		if (json_equal(v, sentence)) {
			json_decref(sentence);
			return;
		}
	json_array_append_new(list, sentence);
}

static bool any_measured(const struct docs *d)
{
	for (size_t i = 0; i < json_array_size(json_object_get(doc_of(d, 0), "benches")); i++)
		if (!json_is_true(json_object_get(json_object_get(bench_of(d, 0, i), "settings"), "simulated")))
			return true;
	return false;
}

/* Of all parts; each with its machine where there are several. */
static json_t *warnings(const struct docs *d)
{
	json_t *list = json_array();
	const json_t *v;
	size_t i;

	if (d->machines > 1 && any_measured(d))
		warn(list, json_sprintf("parts of this were measured on %u machines: points of different ones are not compared", d->machines));
	for (unsigned k = 0; k < d->n; k++)
		json_array_foreach(json_object_get(json_object_get(doc_of(d, k), "environment"), "warnings"), i, v)
			warn(list, d->machines > 1 ? json_sprintf("machine %u: %s", d->machine[k], json_string_value(v))
						   : json_string(json_string_value(v)));
	return list;
}

/* ---- the whole -------------------------------------------------------------------------------------- */

static void take_points(const struct docs *d, json_t *part, size_t i)
{
	bool simulated = json_is_true(json_object_get(json_object_get(part, "settings"), "simulated"));
	json_t *points = json_object_get(part, "points"), *p;
	size_t j;

	json_array_foreach(points, j, p) {
		unsigned k = (unsigned)json_integer_value(json_object_get(p, "shard")) - 1;
		json_t *own = json_deep_copy(point_of(bench_of(d, k, i), j));

		json_object_del(own, "shard");
		if (d->machines > 1 && !simulated)
			json_object_set_new(own, "machine", json_integer(d->machine[k]));
		json_array_set_new(points, j, own);
	}
}

/* The fewest: what needs more is not judged. */
static void take_processors(const struct docs *d, json_t *part, size_t i)
{
	json_t *settings = json_object_get(part, "settings");

	for (unsigned k = 1; k < d->n; k++) {
		json_t *v = json_object_get(json_object_get(bench_of(d, k, i), "settings"), "processors");

		if (json_integer_value(v) < json_integer_value(json_object_get(settings, "processors")))
			json_object_set(settings, "processors", v);
	}
}

/* Judges of the file's own were asked where all the points are. */
static void take_shapes(const struct docs *d, json_t *part, size_t i)
{
	json_int_t owner = json_integer_value(json_object_get(point_of(part, 0), "shard"));

	if (owner >= 1 && owner <= (json_int_t)d->n)
		json_object_set_new(part, "shapes", json_deep_copy(json_object_get(bench_of(d, (unsigned)owner - 1, i), "shapes")));
}

static json_t *whole(const struct docs *d)
{
	json_t *doc = json_deep_copy(doc_of(d, 0)), *part;
	size_t i;

	json_object_del(doc, "shard");
	for (unsigned k = 1; k < d->n; k++)
		if (strcmp(bench_text(doc_of(d, k), "started"), bench_text(doc, "started")) < 0)
			json_object_set(doc, "started", json_object_get(doc_of(d, k), "started"));
	json_object_set_new(json_object_get(doc, "environment"), "warnings", warnings(d));
	json_object_set_new(doc, "machines", machines_json(d));
	json_array_foreach(json_object_get(doc, "benches"), i, part) {
		take_shapes(d, part, i);
		take_points(d, part, i);
		take_processors(d, part, i);
		json_object_del(part, "shard");
		json_object_del(part, "file_id");
	}
	return doc;
}

json_t *bench_merge_docs(const struct bench_part *part, unsigned n, char *why, size_t size)
{
	unsigned *at = bench_merge_order(part, n, why, size);
	struct docs d = { .part = part, .at = at, .n = n, .machine = calloc(n, sizeof *d.machine), .why = why, .size = size };
	json_t *doc = NULL;

	if (at != NULL && d.machine != NULL && of_one_sweep(&d) && are_complete(&d)) {
		find_machines(&d);
		doc = whole(&d);
	}
	free(d.machine);
	free(at);
	return doc;
}

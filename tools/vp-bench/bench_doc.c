/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_doc.c - the document of a sweep: JSON, schema 2.
 *
 * docs/schema/vp-bench-2.json describes it.  Runs are kept one by one with the
 * block they belong to; everything else of a point is computed from them and
 * may be computed again.
 */
#include "tools/vp-bench/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "tools/vp-bench/bench_lua.h"

const char *bench_text(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

double bench_real(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	return json_is_number(v) ? json_number_value(v) : NAN;
}

static void put_text(json_t *o, const char *key, const char *text)
{
	json_object_set_new(o, key, json_string(text ? text : ""));
}

static void put_uint(json_t *o, const char *key, uint64_t v)
{
	json_object_set_new(o, key, json_integer((json_int_t)v));
}

json_t *bench_doc_new(void)
{
	json_t *doc = json_object();
	time_t now = time(NULL);
	struct tm tm;
	char text[40];

	gmtime_r(&now, &tm);
	strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm);
	put_uint(doc, "schema", BENCH_SCHEMA);
	put_text(doc, "tool", "vp-bench");
	put_text(doc, "version", BENCH_VERSION);
	put_text(doc, "started", text);
	json_object_set_new(doc, "environment", bench_env());
	json_object_set_new(doc, "benches", json_array());
	return doc;
}

void bench_doc_shard(json_t *doc, const struct bench_shard *s)
{
	struct utsname u;

	json_object_set_new(doc, "shard", json_pack("{s:i, s:i, s:s}", "number", (int)s->number, "of", (int)s->of, "host",
						    uname(&u) == 0 ? u.nodename : "unknown"));
}

/* ---- a bench's part --------------------------------------------------------------- */

static json_t *metric_json(const struct bench_metric *m)
{
	return json_pack("{s:s, s:s, s:s, s:s}", "name", m->name, "unit", m->unit, "doc", m->doc,
			 "better", m->lower ? "lower" : "higher");
}

json_t *bench_settings_json(const struct bench *b, const char *preset)
{
	json_t *o = json_object(), *args = json_array();

	put_text(o, "preset", preset);
	put_uint(o, "duration_ns", b->duration);
	put_uint(o, "warmup_ns", b->warmup);
	if (b->messages.measured != 0) {
		put_uint(o, "messages", b->messages.measured);
		put_uint(o, "warmup_messages", b->messages.warmup);
	}
	if (b->simulated)
		json_object_set_new(o, "simulated", json_true());
	put_uint(o, "runs_min", b->min_runs);
	put_uint(o, "runs_max", b->max_runs);
	put_uint(o, "runs_decide", b->decide_runs);
	put_uint(o, "processors", (uint64_t)sysconf(_SC_NPROCESSORS_ONLN));
	json_object_set_new(o, "precision", json_real(b->precision));
	json_object_set_new(o, "confidence", json_real(b->confidence));
	put_uint(o, "seed", b->seed);
	for (unsigned i = 0; i < b->narg; i++)
		json_array_append_new(args, json_string(b->arg[i]));
	json_object_set_new(o, "args", args);
	return o;
}

static json_t *points_json(const struct bench *b)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < b->npoints; i++) {
		json_t *p = json_object(), *at = json_object();

		for (unsigned a = 0; a < b->naxes; a++)
			put_text(at, b->axis[a], b->point[i].value[a]);
		json_object_set_new(p, "at", at);
		put_text(p, "status", "pending");
		if (b->shard.of != 0)
			put_uint(p, "shard", b->point[i].shard);
		json_object_set_new(p, "runs", json_array());
		json_object_set_new(p, "metrics", json_object());
		json_array_append_new(list, p);
	}
	return list;
}

/* Which part, and of what text: merge holds the others against it. */
static void put_shard(json_t *o, const struct bench *b)
{
	uint64_t h = BENCH_HASH;
	char buf[4096];
	size_t n;

	/* And what it includes. */
	for (unsigned i = 0; b->spec != NULL && xk_spec_file(b->spec, i) != NULL; i++) {
		FILE *f = fopen(xk_spec_file(b->spec, i), "re");

		while (f != NULL && (n = fread(buf, 1, sizeof buf, f)) != 0)
			h = bench_hash(h, buf, n);
		if (f != NULL)
			fclose(f);
	}
	put_uint(o, "shard", b->shard.number);
	json_object_set_new(o, "file_id", json_sprintf("fnv1a:%016llx", (unsigned long long)h));
}

json_t *bench_doc_bench(json_t *doc, const struct bench *b, const char *preset)
{
	json_t *o = json_object(), *axes = json_array(), *columns = json_array();

	put_text(o, "name", b->name);
	put_text(o, "file", b->file);
	put_text(o, "doc", b->doc);
	put_text(o, "source", b->source);
	json_object_set_new(o, "settings", bench_settings_json(b, preset));
	for (unsigned i = 0; i < b->naxes; i++)
		json_array_append_new(axes, json_string(b->axis[i]));
	json_object_set_new(o, "axes", axes);
	json_object_set_new(o, "x", b->x < 0 ? json_null() : json_string(b->axis[b->x]));
	json_object_set_new(o, "series", b->series < 0 ? json_null() : json_string(b->axis[b->series]));
	json_object_set_new(o, "metric", metric_json(b->metric));
	for (unsigned i = 0; i < b->ncolumns; i++)
		json_array_append_new(columns, metric_json(b->columns[i]));
	json_object_set_new(o, "columns", columns);
	json_object_set_new(o, "points", points_json(b));
	json_object_set(o, "reference", b->reference);
	json_object_set_new(o, "shapes", json_deep_copy(b->shapes));
	json_object_set_new(o, "complete", json_false());
	if (b->shard.of != 0)
		put_shard(o, b);
	json_array_append_new(json_object_get(doc, "benches"), o);
	return o;
}

/* How long its threads were ready and did not run, and how many they were. */
static void put_starved(json_t *run, const json_t *child)
{
	const json_t *record = json_object_get(child, "record");
	double delay = bench_real(record, "run_delay_ns");

	if (isnan(delay))
		return;
	put_uint(run, "run_delay_ns", (uint64_t)delay);
	put_uint(run, "threads", json_array_size(json_object_get(child, "workers")));
}

void bench_doc_run(json_t *part, unsigned point, unsigned block, const json_t *child, json_t *metrics)
{
	json_t *p = json_array_get(json_object_get(part, "points"), point), *run = json_object();

	put_uint(run, "block", block);
	json_object_set(run, "warmup_ns", json_object_get(child, "warmup_ns"));
	json_object_set(run, "measured_ns", json_object_get(child, "measured_ns"));
	json_object_set(run, "messages", json_object_get(child, "messages"));
	json_object_set(run, "seed", json_object_get(child, "seed"));
	put_starved(run, child);
	json_object_set_new(run, "metrics", metrics);
	json_array_append_new(json_object_get(p, "runs"), run);
	put_text(p, "status", "running");
}

void bench_doc_beside(json_t *part, unsigned point, unsigned pinned, long throttled)
{
	json_t *p = json_array_get(json_object_get(part, "points"), point), *runs = json_object_get(p, "runs");
	json_t *run = json_array_get(runs, json_array_size(runs) - 1);

	put_uint(run, "pinned", pinned);
	if (throttled >= 0)
		put_uint(run, "throttled", (uint64_t)throttled);
}

void bench_doc_binary(json_t *part, const char *program)
{
	json_t *now = bench_binary_json(program), *was = json_object_get(part, "binary");

	if (was != NULL && !json_equal(json_object_get(was, "id"), json_object_get(now, "id")))
		fprintf(stderr, "vp-bench: %s is another program than the one that made the earlier runs\n", program);
	if (was == NULL)
		json_object_set(part, "binary", now);
	json_decref(now);
}

void bench_doc_failed(json_t *part, unsigned point, const char *why)
{
	json_t *p = json_array_get(json_object_get(part, "points"), point);

	put_text(p, "status", "failed");
	put_text(p, "error", why);
}

/* ---- summaries ------------------------------------------------------------------------ */

void bench_doc_summarise_point(json_t *part, unsigned point)
{
	json_t *p = json_array_get(json_object_get(part, "points"), point);
	json_t *args[] = { json_object_get(part, "settings"), json_object_get(json_object_get(part, "metric"), "name"), p };
	char why[400];
	json_t *said = bench_lua_call("doc", "point", args, 3, why, sizeof why);

	if (said == NULL)
		fprintf(stderr, "vp-bench: cannot summarise: %s\n", why);
	else
		json_object_update(p, said);
	json_decref(said);
}

void bench_doc_summarise(json_t *part)
{
	size_t n = json_array_size(json_object_get(part, "points"));

	for (size_t i = 0; i < n; i++)
		bench_doc_summarise_point(part, (unsigned)i);
}

/* ---- on the disk ------------------------------------------------------------------------- */

bool bench_doc_is(const json_t *doc, const char *path, char *why, size_t n)
{
	bool is = strcmp(bench_text(doc, "tool"), "vp-bench") == 0 && json_is_array(json_object_get(doc, "benches"));

	if (!is)
		snprintf(why, n, "%s: is not a result of vp-bench", path);
	else if (bench_real(doc, "schema") != BENCH_SCHEMA)
		snprintf(why, n, "%s: has schema %g; this vp-bench reads schema %d", path, bench_real(doc, "schema"), BENCH_SCHEMA);
	return is && bench_real(doc, "schema") == BENCH_SCHEMA;
}

json_t *bench_doc_load(const char *path, char *why, size_t n)
{
	json_error_t e;
	json_t *doc = json_load_file(path, 0, &e);

	if (doc == NULL) {
		if (e.line > 0)
			snprintf(why, n, "%s:%d: %s", path, e.line, e.text);
		else
			snprintf(why, n, "%s", e.text);
		return NULL;
	}
	if (bench_doc_is(doc, path, why, n))
		return doc;
	json_decref(doc);
	return NULL;
}

int bench_doc_save(const json_t *doc, const char *path, char *why, size_t n)
{
	char *json = json_dumps(doc, JSON_INDENT(1)), *text = NULL;
	int err;

	if (json == NULL || asprintf(&text, "%s\n", json) < 0) {
		snprintf(why, n, "out of memory");
		free(json);
		return BENCH_IO;
	}
	err = bench_text_save(text, path, why, n);
	free(text);
	free(json);
	return err;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_merge_sim.c - puts the lines of vp-sim's parts into the order of the whole sweep.
 *
 * Nothing is computed: what is simulated does not depend on where, and a line is what its unit
 * printed.  That the parts are of one sweep is seen by what each says of itself.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/vp-bench/bench_merge.h"

#define UNITS (4096 * 1024)       /* points, numbers of processors */

/* ---- which part is where ---------------------------------------------------------------- */

static json_int_t shard_of(const struct bench_part *p, const char *key)
{
	const json_t *v = json_object_get(json_object_get(p->head, "shard"), key);

	return json_is_integer(v) ? json_integer_value(v) : 0;
}

static bool good_numbers(const struct bench_part *p, unsigned n, char *why, size_t size)
{
	for (unsigned i = 0; i < n; i++) {
		json_int_t number = shard_of(&p[i], "number"), of = shard_of(&p[i], "of");

		if (of < 1 || of > (json_int_t)BENCH_SHARDS || number < 1 || number > of)
			snprintf(why, size, "%s: does not say which part of a sweep it is", p[i].file);
		else if (of != shard_of(p, "of"))
			snprintf(why, size, "%s is one of %d parts, %s one of %d", p[i].file, (int)of, p->file, (int)shard_of(p, "of"));
		else
			continue;
		return false;
	}
	return true;
}

static bool place_all(const struct bench_part *p, unsigned n, unsigned *at, unsigned of, char *why, size_t size)
{
	for (unsigned i = 0; i < n; i++) {
		unsigned *place = &at[shard_of(&p[i], "number") - 1];

		if (*place != n) {
			snprintf(why, size, "part %d of %u is there twice: %s and %s", (int)shard_of(&p[i], "number"), of,
				 p[*place].file, p[i].file);
			return false;
		}
		*place = i;
	}
	for (unsigned i = 0; i < of; i++)
		if (at[i] == n) {
			snprintf(why, size, "part %u of %u is missing", i + 1, of);
			return false;
		}
	return true;
}

unsigned *bench_merge_order(const struct bench_part *p, unsigned n, char *why, size_t size)
{
	unsigned of, *at;

	if (!good_numbers(p, n, why, size))
		return NULL;
	of = (unsigned)shard_of(p, "of");
	at = calloc(of, sizeof *at);
	if (at == NULL) {
		snprintf(why, size, "out of memory");
		return NULL;
	}
	for (unsigned i = 0; i < of; i++)
		at[i] = n;
	if (place_all(p, n, at, of, why, size))
		return at;
	free(at);
	return NULL;
}

/* ---- of one sweep? ------------------------------------------------------------------------- */

static bool same(const struct bench_part *p, const struct bench_part *q, const char *key, const char *what, char *why, size_t size)
{
	char *a = json_dumps(json_object_get(p->head, key), JSON_COMPACT | JSON_ENCODE_ANY);
	char *b = json_dumps(json_object_get(q->head, key), JSON_COMPACT | JSON_ENCODE_ANY);
	bool is = a != NULL && b != NULL && strcmp(a, b) == 0;

	if (!is)
		snprintf(why, size, "%s is of %s %.300s, %s of %.300s", q->file, what, b != NULL ? b : "none", p->file,
			 a != NULL ? a : "none");
	free(a);
	free(b);
	return is;
}

static bool of_one_sweep(const struct bench_part *p, unsigned n, char *why, size_t size)
{
	static const char *const keys[][2] = {
		{ "file", "file" }, { "name", "bench" }, { "commit", "commit" }, { "seed", "seed" }, { "parameters", "parameters" },
		{ "units", "a number of runs" },
	};

	for (unsigned i = 1; i < n; i++) {
		for (unsigned k = 0; k < XK_ARRAY_LEN(keys); k++)
			if (!same(p, &p[i], keys[k][0], keys[k][1], why, size))
				return false;
		if (!json_equal(json_object_get(p->head, "sweep"), json_object_get(p[i].head, "sweep"))) {
			snprintf(why, size, "%s and %s are of other models or machines: the file, or what it includes, differs",
				 p->file, p[i].file);
			return false;
		}
	}
	return true;
}

/* ---- lines ------------------------------------------------------------------------------------ */

static const char *lines_of(const struct bench_part *p)
{
	const char *end = memchr(p->text + p->head_n, '\n', p->n - p->head_n);

	return end != NULL ? end + 1 : p->text + p->n;
}

/* Of what the part says of itself and of its lines. */
static uint64_t hash_of(const struct bench_part *p, const char *lines, size_t n)
{
	json_t *head = json_copy(p->head);
	char *text;
	uint64_t h = BENCH_HASH;

	json_object_del(head, "hash");
	text = json_dumps(head, JSON_COMPACT);
	if (text != NULL)
		h = bench_hash(h, text, strlen(text));
	free(text);
	json_decref(head);
	return bench_hash(h, lines, n);
}

/* Whole, as they were written, and as many as the units of this part. */
static bool whole(const struct bench_part *p, json_int_t units, char *why, size_t size)
{
	json_int_t number = shard_of(p, "number"), of = shard_of(p, "of"), have = 0;
	json_int_t want = units < 0 || units > UNITS ? -1 : (units - number + of) / of;
	const char *text = lines_of(p);
	size_t n = p->n - (size_t)(text - p->text);
	char hash[40];

	for (size_t i = 0; i < n; i++)
		have += text[i] == '\n';
	snprintf(hash, sizeof hash, "fnv1a:%016" PRIx64, hash_of(p, text, n));
	if (units < 0 || units > UNITS || have != want)
		snprintf(why, size, "%s is damaged: it has %d lines, part %d of %d of %d runs has %d", p->file, (int)have, (int)number,
			 (int)of, (int)units, (int)want);
	else if (strcmp(bench_text(p->head, "hash"), hash) != 0)
		snprintf(why, size, "%s is damaged: it is not what was written", p->file);
	else
		return true;
	return false;
}

static char *weave(const struct bench_part *p, const unsigned *at, unsigned of, unsigned units)
{
	const char **next = calloc(of, sizeof *next);
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	for (unsigned i = 0; next != NULL && i < of; i++)
		next[i] = lines_of(&p[at[i]]);
	for (unsigned u = 0; f != NULL && next != NULL && u < units; u++) {
		const char *line = next[u % of], *end = strchr(line, '\n') + 1;

		fwrite(line, 1, (size_t)(end - line), f);
		next[u % of] = end;
	}
	free(next);
	if (f == NULL || fclose(f) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

char *bench_merge_sim(const struct bench_part *p, unsigned n, char *why, size_t size)
{
	json_int_t units = json_integer_value(json_object_get(p->head, "units"));
	unsigned *at;
	char *text = NULL;

	at = bench_merge_order(p, n, why, size);
	if (at == NULL)
		return NULL;
	for (unsigned i = 0; i < n; i++)
		if ((i == 0 && !of_one_sweep(p, n, why, size)) || !whole(&p[i], units, why, size)) {
			free(at);
			return NULL;
		}
	text = weave(p, at, (unsigned)shard_of(p, "of"), (unsigned)units);
	if (text == NULL)
		snprintf(why, size, "out of memory");
	free(at);
	return text;
}

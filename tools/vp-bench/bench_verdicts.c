/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_verdicts.c - asks the judge (judge.lua) about a bench's part and writes what it
 * says into the document: verdicts of shapes, warnings of points, who gets more runs.
 *
 * Invariant: when the judge cannot be asked, everything is undecided and says why.
 */
#include "tools/vp-bench/bench.h"

#include <string.h>

#include "tools/vp-bench/bench_lua.h"
#include "tools/vp-bench/bench_sandbox.h"

static const char *const said[] = { "verdict", "why", "value", "lo", "hi", "pairs", "needed", NULL };

static void take_verdict(json_t *shape, const json_t *v)
{
	json_object_del(shape, "shown");        /* of results of earlier versions */
	for (unsigned i = 0; said[i] != NULL; i++) {
		json_t *x = json_object_get(v, said[i]);

		if (x == NULL || json_is_null(x))
			json_object_del(shape, said[i]);
		else
			json_object_set(shape, said[i], x);
	}
}

static void undecided(json_t *shape, const char *why)
{
	json_t *v = json_pack("{s:s, s:s}", "verdict", "undecided", "why", why);

	take_verdict(shape, v);
	json_decref(v);
}

/* What the own judge of shape i says, null where it has none; or NULL and why.  A result that is
 * resumed may have shapes that the file has no longer. */
static json_t *own_verdict(const struct bench *b, json_t *part, size_t i, char *why, size_t n)
{
	const json_t *shape = json_array_get(json_object_get(part, "shapes"), i);
	bool same = b != NULL && strcmp(bench_text(json_array_get(b->shapes, i), "doc"), bench_text(shape, "doc")) == 0;
	const struct xk_value *code = same ? bench_judge_of(b, i) : NULL;
	json_t *args[] = { part, json_integer((json_int_t)i + 1) }, *v = json_null();

	if (code != NULL)
		v = bench_sandbox_call(b, code, "judge", args, 2, why, n);
	json_decref(args[1]);
	return v;
}

/* For each shape; one whose judge fails is undecided, and null where nobody is told. */
static json_t *own_verdicts(const struct bench *b, json_t *part, bool tell)
{
	json_t *list = json_array(), *v;
	char why[400];

	for (size_t i = 0; i < json_array_size(json_object_get(part, "shapes")); i++) {
		v = own_verdict(b, part, i, why, sizeof why);
		if (v == NULL && tell) {
			fprintf(stderr, "vp-bench: cannot judge: %s\n", why);
			v = json_pack("{s:s, s:s}", "verdict", "undecided", "why", why);
		}
		json_array_append_new(list, v != NULL ? v : json_null());
	}
	return list;
}

bool bench_doc_judge(json_t *part, const struct bench *b)
{
	json_t *shape, *args[] = { part, NULL }, *list;
	char why[400] = "";
	bool good = true;
	size_t i;

	if (json_array_size(json_object_get(part, "shapes")) == 0)
		return true;
	args[1] = own_verdicts(b, part, true);
	list = bench_lua_call("judge", "part", args, 2, why, sizeof why);
	json_decref(args[1]);
	if (list == NULL)
		fprintf(stderr, "vp-bench: cannot judge: %s\n", why);
	json_array_foreach(json_object_get(part, "shapes"), i, shape) {
		const json_t *v = json_array_get(list, i);

		if (*bench_text(v, "verdict") != '\0')
			take_verdict(shape, v);
		else
			undecided(shape, *why ? why : "the judge says nothing");
		good &= strcmp(bench_text(shape, "verdict"), "fail") != 0;
	}
	json_decref(list);
	return good;
}

void bench_doc_warn(json_t *part)
{
	json_t *p, *args[] = { part }, *list;
	char why[400];
	size_t i;

	list = bench_lua_call("warn", "part", args, 1, why, sizeof why);
	json_array_foreach(json_object_get(part, "points"), i, p) {
		json_t *w = json_array_get(list, i);

		if (json_array_size(w) != 0)
			json_object_set(p, "warnings", w);
		else
			json_object_del(p, "warnings");
	}
	if (list == NULL)
		fprintf(stderr, "vp-bench: cannot look for what is odd in the runs: %s\n", why);
	json_decref(list);
}

void bench_doc_review(json_t *doc)
{
	json_t *part;
	size_t i;

	json_array_foreach(json_object_get(doc, "benches"), i, part) {
		bench_doc_summarise(part);
		bench_doc_warn(part);
		(void)bench_doc_judge(part, NULL);
	}
}

json_t *bench_doc_wanted(json_t *part, unsigned blocks, const struct bench *b)
{
	json_t *args[] = { part, json_integer((json_int_t)blocks), NULL };
	char why[400];
	json_t *w = bench_lua_call("judge", "wanted", args, 3, why, sizeof why);

	if (json_is_true(json_object_get(w, "ask")) && b != NULL) {
		json_decref(w);
		args[2] = own_verdicts(b, part, false);
		w = bench_lua_call("judge", "wanted", args, 3, why, sizeof why);
	}
	if (w == NULL)
		fprintf(stderr, "vp-bench: cannot judge: %s\n", why);
	json_decref(args[2]);
	json_decref(args[1]);
	return w;
}

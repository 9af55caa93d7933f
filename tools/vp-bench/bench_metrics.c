/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_metrics.c - the metrics as C sees them: the list of metrics.lua, and what it says of a run.
 */
#include "tools/vp-bench/bench.h"

#include <string.h>

#include "tools/vp-bench/bench_lua.h"

#define MOST 128u

static struct bench_metric table[MOST + 1];     /* texts are of the list, which is kept */

static unsigned need_of(const char *word)
{
	return strcmp(word, "vps") == 0 ? BENCH_NEED_VPS : strcmp(word, "conns") == 0 ? BENCH_NEED_CONNS :
	       strcmp(word, "fair") == 0 ? BENCH_NEED_FAIR : 0;
}

const struct bench_metric *bench_metrics(void)
{
	static json_t *list;
	const json_t *m;
	char why[400];
	size_t i;

	if (list != NULL)
		return table;
	list = bench_lua_call("metrics", "all", NULL, 0, why, sizeof why);
	if (list == NULL)
		fprintf(stderr, "vp-bench: no metric is known: %s\n", why);
	json_array_foreach(list, i, m)
		if (i < MOST)
			table[i] = (struct bench_metric){ bench_text(m, "name"), bench_text(m, "unit"), bench_text(m, "doc"),
				need_of(bench_text(m, "needs")), strcmp(bench_text(m, "better"), "lower") == 0 };
	return table;
}

const struct bench_metric *bench_metric_find(const char *name)
{
	for (const struct bench_metric *m = bench_metrics(); m->name != NULL; m++)
		if (strcmp(m->name, name) == 0)
			return m;
	return NULL;
}

/* What may have been meant: as vp-run calls it, or written almost so; or NULL. */
static const char *near_to(const struct bench *b, const char *name)
{
	json_t *word = json_string(name), *found;
	const struct bench_metric *ours = NULL;
	const char *names[MOST + BENCH_OWN];
	unsigned n = 0;
	char why[400];

	found = bench_lua_call("metrics", "elsewhere", &word, 1, why, sizeof why);
	if (json_is_string(found))
		ours = bench_metric_find(json_string_value(found));
	json_decref(found);
	json_decref(word);
	if (ours != NULL)
		return ours->name;
	for (unsigned i = 0; b != NULL && i < b->nown; i++)
		names[n++] = b->own[i].m.name;
	for (const struct bench_metric *m = bench_metrics(); m->name != NULL; m++)
		names[n++] = m->name;
	return xk_errs_suggest(name, names, n);
}

const char *bench_metric_unknown(const struct bench *b, const char *name, char *buf, size_t n)
{
	const char *near = near_to(b, name);

	snprintf(buf, n, "unknown metric '%.60s' (%s%s%s)", name, near ? "did you mean '" : "",
		 near ? near : "vp-bench list --metrics", near ? "'?" : "");
	return buf;
}

json_t *bench_metrics_of(json_t *child, unsigned needs, char *why, size_t n)
{
	json_t *args[] = { child, json_pack("{s:b, s:b, s:b}", "vps", (needs & BENCH_NEED_VPS) != 0, "conns",
					    (needs & BENCH_NEED_CONNS) != 0, "fair", (needs & BENCH_NEED_FAIR) != 0) };
	json_t *m = bench_lua_call("metrics", "of", args, 2, why, n);

	json_decref(args[1]);
	return m;
}

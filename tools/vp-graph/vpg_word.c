/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpg_word.c - inspect a word of the graph language: what it is, and the fields of what stands behind it.
 *
 * All of it is from the tables that the words themselves are checked by.
 */
#include "tools/vp-graph/vpg.h"

#include <string.h>

/* What may be in the braces behind it. */
enum behind { NOTHING, GRAPH_FIELDS, BENCH_FIELDS, ARGUMENT_FIELDS };

static enum behind behind(const struct xk_word *w)
{
	if (strcmp(w->name, "graph") == 0)
		return GRAPH_FIELDS;
	if (strcmp(w->name, "bench") == 0)
		return BENCH_FIELDS;
	return xk_word_is_type(w) ? ARGUMENT_FIELDS : NOTHING;
}

static void fields_text(const struct xk_word *f)
{
	printf("fields\n");
	for (; f->name != NULL; f++)
		printf("  %-14s %s\n", f->name, f->doc);
}

static json_t *fields_json(const struct xk_word *f)
{
	json_t *a = json_array();

	for (; f->name != NULL; f++)
		json_array_append_new(a, json_pack("{s:s, s:s}", "name", f->name, "doc", f->doc));
	return a;
}

static void types_text(void)
{
	printf("types\n");
	for (const struct xk_word *w = xk_words; w->name != NULL; w++)
		if (xk_word_is_type(w))
			printf("  %-12s %s\n", w->name, w->doc);
}

static int word_json(const struct xk_word *w)
{
	json_t *j = json_pack("{s:s, s:s, s:s}", "kind", "word", "name", w->name, "doc", w->doc);

	if (behind(w) == GRAPH_FIELDS)
		json_object_set_new(j, "parameters", vpg_params_json(xk_graph_params));
	else if (behind(w) != NOTHING)
		json_object_set_new(j, "fields", fields_json(behind(w) == BENCH_FIELDS ? xk_bench_fields : xk_arg_fields));
	return vpg_print_json(j);
}

int vpg_inspect_word(const struct vpg *o, const struct xk_word *w)
{
	if (o->narg > 1) {
		fprintf(stderr, "vp-graph: values are for protocols and drivers, '%s' is a word of the language\n", w->name);
		return VPG_USAGE;
	}
	if (o->json)
		return word_json(w);
	printf("%s: %s\n", w->name, w->doc);
	if (behind(w) == GRAPH_FIELDS) {
		printf("parameters\n  %-16s %-10s default vppc {}\n  %16s %s\n", "threading", "preset", "",
		       "threading architecture: a preset with axes, tpc { vps = 2 }, or a table of axes");
		vpg_params_text(xk_graph_params);
	} else if (behind(w) != NOTHING) {
		fields_text(behind(w) == BENCH_FIELDS ? xk_bench_fields : xk_arg_fields);
	}
	if (strcmp(w->name, "args") == 0)
		types_text();
	return VPG_OK;
}

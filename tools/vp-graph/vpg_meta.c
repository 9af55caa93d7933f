/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpg_meta.c - meta: every schema, for programs, editors and luacheck.
 *
 * All four are written from the one table; nothing is kept twice.
 */
#include "tools/vp-graph/vpg.h"
#include "runtime/base/xk_param_value.h"

#include <string.h>

/* ---- JSON ------------------------------------------------------------------------- */

static json_t *words_json(const char *const *w)
{
	json_t *a = json_array();

	for (; w != NULL && *w != NULL; w++)
		json_array_append_new(a, json_string(*w));
	return a;
}

static json_t *param_json(const struct xk_param *p)
{
	json_t *j = json_pack("{s:s, s:s, s:s?, s:s?, s:s?, s:s, s:b, s:b}", "name", p->name,
			      "type", xk_param_type_name(p->type), "default", p->def, "min", p->min, "max", p->max,
			      "doc", p->doc ? p->doc : "", "live", (p->flags & XK_PF_LIVE) != 0,
			      "required", (p->flags & XK_PF_REQUIRED) != 0);

	if (p->group != NULL)
		json_object_set_new(j, "group", json_string(p->group));
	if (p->choices != NULL)
		json_object_set_new(j, "choices", words_json(p->choices));
	if (p->type == XK_P_MAP)
		json_object_set_new(j, "key", json_string(xk_param_type_name(p->key)));
	if (p->type == XK_P_MAP || p->type == XK_P_LIST)
		json_object_set_new(j, "elem", json_string(xk_param_type_name(p->elem)));
	return j;
}

json_t *vpg_params_json(const struct xk_param *p)
{
	json_t *a = json_array();

	for (; p != NULL && p->name != NULL; p++)
		json_array_append_new(a, param_json(p));
	return a;
}

json_t *vpg_proto_json(const struct xk_proto *p)
{
	json_t *needs = json_array(), *numbers = json_object();

	for (unsigned i = 0; i < XK_DOWN_MAX && p->needs[i] != NULL; i++)
		json_array_append_new(needs, json_string(p->needs[i]));
	for (const struct xk_number *n = p->numbers; n != NULL && n->realm != NULL; n++)
		json_object_set_new(numbers, n->realm, json_integer(n->number));
	return json_pack("{s:s, s:s, s:s, s:s?, s:o, s:i, s:i, s:o, s:o, s:o, s:o}",
			 "kind", p->is_driver ? "driver" : "protocol", "name", p->name, "doc", p->doc,
			 "offers", p->offers, "needs", needs, "min_down", (int)p->min_down,
			 "max_down", (int)p->max_down, "numbers", numbers,
			 "parameters", vpg_params_json(p->params), "counters", words_json(p->counts),
			 "drops", words_json(p->drops));
}

static int meta_json(void)
{
	json_t *protos = json_array(), *presets = json_array(), *words = json_array();

	for (const struct xk_proto *const *p = xk_protos(); *p != NULL; p++)
		json_array_append_new(protos, vpg_proto_json(*p));
	for (const struct xk_arch *a = xk_arch_presets; a->name != NULL; a++)
		json_array_append_new(presets, json_pack("{s:s, s:s}", "name", a->name, "doc", a->doc));
	for (const struct xk_word *w = xk_words; w->name != NULL; w++)
		json_array_append_new(words, json_pack("{s:s, s:s}", "name", w->name, "doc", w->doc));
	return vpg_print_json(json_pack("{s:i, s:o, s:o, s:o, s:o, s:o}", "schema", 1, "protocols", protos,
					"threading", presets, "axes", vpg_params_json(xk_arch_params),
					"graph", vpg_params_json(xk_graph_params), "words", words));
}

/* ---- LuaCATS annotations -------------------------------------------------------------- */

static const char *scalar_cats(enum xk_ptype t)
{
	switch (t) {
	case XK_P_BOOL: return "boolean";
	case XK_P_UINT: return "integer";
	case XK_P_SIZE:
	case XK_P_PORT: return "integer|string";
	case XK_P_TIME:
	case XK_P_RATE: return "xk.quantity|string";
	case XK_P_FRACTION: return "number|string";
	default: return "string";
	}
}

static void cats_type(const struct xk_param *p)
{
	if (p->type == XK_P_LIST)
		printf("(%s)[]", scalar_cats(p->elem));
	else if (p->type == XK_P_MAP)
		printf("table<%s, %s>", scalar_cats(p->key), scalar_cats(p->elem));
	else if (p->choices != NULL)
		for (unsigned i = 0; p->choices[i] != NULL; i++)
			printf("%s\"%s\"", i ? "|" : "", p->choices[i]);
	else
		printf("%s", scalar_cats(p->type));
}

/* but: whose fields have been written, or NULL. */
static void cats_fields_but(const struct xk_param *p, const struct xk_param *but)
{
	char range[256];

	for (; p != NULL && p->name != NULL; p++) {
		if (but != NULL && xk_param_find(but, p->name) != NULL)
			continue;
		printf("---@field %s%s ", p->name, p->flags & XK_PF_REQUIRED ? "" : "?");
		cats_type(p);
		printf(" %s", p->doc);
		if (p->def != NULL)
			printf(" (default %s)", p->def);
		if (p->choices == NULL && *vpg_range(p, range, sizeof range) != '\0')
			printf(" [%s]", range);
		putchar('\n');
	}
}

static void cats_fields(const struct xk_param *p)
{
	cats_fields_but(p, NULL);
}

/* A word that has several descriptors has the fields of all. */
static void cats_proto(const struct xk_proto *p)
{
	const struct xk_proto *q;

	printf("\n---@class xk.%s\n", p->name);
	cats_fields(p->params);
	for (unsigned k = 1; (q = xk_proto_of_word(xk_protos(), p->name, k)) != NULL; k++)
		cats_fields_but(q->params, p->params);
	printf("---@field name? string name of the node\n"
	       "---@field over? xk.node|xk.node[] what is below\n"
	       "---@field trace? integer level of messages, 0 to 5\n");
	printf("\n---%s\n---@param t xk.%s\n---@return xk.node\nfunction %s(t) end\n", p->doc, p->name, p->name);
}

/* What a word takes and gives; those that are not here are types of arguments, some of them values, too. */
static const struct typed { const char *word, *param, *gives; } typed[] = {
	{ "graph", "string", "fun(fields: xk.graph_fields): xk.graph" },
	{ "bench", "string", "fun(fields: xk.bench_fields): xk.bench" },
	{ "machine", "string", "fun(fields: table): xk.machine" },
	{ "virtual", "{ processors?: integer, machine?: string }", "xk.clock" },
	{ "stack", "xk.node[]", "xk.node" },
	{ "include", "string", "any" },
	{ "built", "string", "boolean" },
	{ "args", "table<string, xk.arg>", "table<string, any>" },
	{ "size", "table|string|number", "xk.arg|integer" },
	{ "time", "table|string|number", "xk.arg|xk.quantity" },
	{ "rate", "table|string|number", "xk.arg|xk.quantity" },
	{ NULL, "table|string|number", "xk.arg" },
};

static void cats_word(const struct xk_word *w)
{
	const struct typed *t = typed;

	if (strcmp(w->name, "presets") == 0) {
		printf("\n---%s\n---@type { name: string, make: fun(t: xk.axes): xk.threading }[]\npresets = {}\n", w->doc);
		return;
	}
	while (t->word != NULL && strcmp(t->word, w->name) != 0)
		t++;
	printf("\n---%s\n---@param x %s\n---@return %s\nfunction %s(x) end\n", w->doc, t->param, t->gives, w->name);
}

/* Of a bench's fields; the rest are tables. */
static const char *bench_type(const char *name)
{
	static const struct { const char *name, *type; } of[] = {
		{ "graph", "xk.graph" }, { "doc", "string" }, { "source", "string" }, { "metric", "string" }, { "x", "string" },
		{ "series", "string" }, { "columns", "string[]" }, { "duration", "string|xk.quantity" },
		{ "warmup", "string|xk.quantity" }, { "precision", "number|string" }, { "confidence", "number|string" },
		{ "sweep", "table<string, any[]>" }, { "points", "table<string, any>[]" },
	};

	for (unsigned i = 0; i < XK_ARRAY_LEN(of); i++)
		if (strcmp(of[i].name, name) == 0)
			return of[i].type;
	return "table";
}

static void cats_bench(void)
{
	printf("\n---@class xk.bench_fields\n");
	for (const struct xk_word *f = xk_bench_fields; f->name != NULL; f++)
		printf("---@field %s? %s %s\n", f->name, bench_type(f->name), f->doc);
}

static int meta_luacats(void)
{
	printf("---@meta\n-- The words of graph files; written by vp-graph meta --luacats.\n\n"
	       "---@class xk.node\n---@class xk.graph\n---@class xk.threading\n"
	       "---@class xk.bench\n---@class xk.machine\n---@class xk.clock\n---@class xk.arg\n"
	       "---@class xk.quantity\n---@operator add(xk.quantity): xk.quantity\n---@operator sub(xk.quantity): xk.quantity\n"
	       "---@operator mul(number): xk.quantity\n---@operator div(number): xk.quantity\n");
	for (const struct xk_proto *const *p = xk_protos(); *p != NULL; p++)
		if (xk_protos_find((*p)->name) == *p)
			cats_proto(*p);
	printf("\n---@class xk.axes\n");
	cats_fields(xk_arch_params);
	for (const struct xk_arch *a = xk_arch_presets; a->name != NULL; a++)
		printf("\n---%s\n---@param t xk.axes\n---@return xk.threading\nfunction %s(t) end\n", a->doc, a->name);
	printf("\n---@class xk.graph_fields\n---@field threading? xk.threading|xk.axes\n");
	cats_fields(xk_graph_params);
	cats_bench();
	for (const struct xk_word *w = xk_words; w->name != NULL; w++)
		cats_word(w);
	return VPG_OK;
}

/* ---- luacheck ---------------------------------------------------------------------------- */

static int meta_luacheck(void)
{
	printf("-- SPDX-License-Identifier: BSD-2-Clause\n"
	       "-- The words of the graph language, for luacheck over graphs/; written by\n"
	       "-- vp-graph meta --luacheck.\nstd = \"lua54\"\nread_globals = {\n");
	for (const struct xk_proto *const *p = xk_protos(); *p != NULL; p++)
		if (xk_protos_find((*p)->name) == *p)
			printf("\t\"%s\",\n", (*p)->name);
	for (const struct xk_arch *a = xk_arch_presets; a->name != NULL; a++)
		printf("\t\"%s\",\n", a->name);
	for (const struct xk_word *w = xk_words; w->name != NULL; w++)
		printf("\t\"%s\",\n", w->name);
	printf("}\n");
	return VPG_OK;
}

int vpg_meta(const struct vpg *o)
{
	return strcmp(o->meta, "luacats") == 0 ? meta_luacats() :
	       strcmp(o->meta, "luacheck") == 0 ? meta_luacheck() : meta_json();
}

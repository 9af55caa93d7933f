/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpg_meta.c - meta: every schema, for programs, editors, luacheck and shells.
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

static int meta_luacats(void)
{
	printf("---@meta\n-- The words of graph files; written by vp-graph meta --luacats.\n\n"
	       "---@class xk.node\n---@class xk.graph\n---@class xk.threading\n"
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
	for (const struct xk_word *w = xk_words; w->name != NULL; w++) {
		if (strcmp(w->name, "presets") == 0) {
			printf("\n---%s\n---@type table[]\npresets = {}\n", w->doc);
			continue;
		}
		const char *params = strcmp(w->name, "graph") == 0 || strcmp(w->name, "bench") == 0 ||
				     strcmp(w->name, "include") == 0 ? "string" : "table|string|number";

		printf("\n---%s\n---@param x %s\n---@return any\nfunction %s(x) end\n", w->doc, params, w->name);
	}
	return VPG_OK;
}

/* ---- luacheck, completion ---------------------------------------------------------------- */

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

/* Options and commands are asked of the programs themselves, so that none is forgotten. */
static const char completion[] =
	"# bash completion for vp-run, vp-graph, vp-ctl, vp-bench and vp-sim; written by vp-graph meta --completion.\n"
	"_vp_options() { \"$@\" --help 2>/dev/null | grep -o -e '--[a-z][a-z-]*' | sort -u; }\n"
	"# Commands stand in the help with two blanks before them; vp-ctl has several in a line.\n"
	"_vp_commands() {\n"
	"\t\"$1\" --help 2>/dev/null | sed -n 's/^  \\([a-z].*\\)/\\1/p' | sed 's/   .*//' | tr ',' '\\n' | awk '{ print $1 }' | sort -u\n"
	"}\n"
	"# Arguments of the graph or bench file that the line names.\n"
	"_vp_args() {\n"
	"\tlocal w\n"
	"\tfor w in \"${COMP_WORDS[@]:1}\"; do\n"
	"\t\tcase $w in *.lua) vp-graph inspect \"$w\" 2>/dev/null | awk '/^nodes/ { exit } /^  [a-zA-Z_]/ { print $1 \"=\" }'; return;; esac\n"
	"\tdone\n"
	"}\n"
	"_vp_complete() {\n"
	"\tlocal tool=$1 cur=${COMP_WORDS[COMP_CWORD]} words\n"
	"\tcase $tool:$cur in\n"
	"\tvp-bench:-*) words=$(if [ \"$COMP_CWORD\" -gt 1 ]; then _vp_options vp-bench \"${COMP_WORDS[1]}\"; else _vp_options vp-bench; fi);;\n"
	"\t*:-*) words=$(_vp_options \"$tool\");;\n"
	"\tvp-run:*) words=$(_vp_args);;\n"
	"\t*) if [ \"$COMP_CWORD\" -eq 1 ]; then words=$(_vp_commands \"$tool\"); elif [ \"$tool\" != vp-ctl ]; then words=$(_vp_args); fi;;\n"
	"\tesac\n"
	"\tif [ \"$tool:${COMP_WORDS[1]}\" = vp-graph:inspect ] && [ \"$COMP_CWORD\" -eq 2 ]; then\n"
	"\t\twords=\"$words $(vp-graph list 2>/dev/null | awk '/^  [a-z]/ { print $1 }')\"\n"
	"\tfi\n"
	"\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\") $(compgen -f -- \"$cur\"))\n"
	"\tcase ${COMPREPLY[*]} in *=) compopt -o nospace 2>/dev/null;; esac\n"
	"}\n"
	"complete -F _vp_complete vp-run vp-graph vp-ctl vp-bench vp-sim\n";

static int meta_completion(void)
{
	fputs(completion, stdout);
	return VPG_OK;
}

int vpg_meta(const struct vpg *o)
{
	return strcmp(o->meta, "luacats") == 0 ? meta_luacats() :
	       strcmp(o->meta, "luacheck") == 0 ? meta_luacheck() :
	       strcmp(o->meta, "completion") == 0 ? meta_completion() : meta_json();
}

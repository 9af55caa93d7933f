/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpg_inspect.c - list and inspect: what a graph can be made of, and what a
 * graph file asks and holds.
 */
#include "tools/vp-graph/vpg.h"
#include "runtime/base/xk_param_value.h"
#include "runtime/upi/xk_gives.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- words about a parameter ----------------------------------------------------- */

const char *vpg_type(const struct xk_param *p, char *buf, size_t n)
{
	if (p->type == XK_P_LIST)
		snprintf(buf, n, "list of %s", xk_param_type_name(p->elem));
	else if (p->type == XK_P_MAP)
		snprintf(buf, n, "map %s to %s", xk_param_type_name(p->key), xk_param_type_name(p->elem));
	else
		snprintf(buf, n, "%s", xk_param_type_name(p->type));
	return buf;
}

const char *vpg_range(const struct xk_param *p, char *buf, size_t n)
{
	size_t used = 0;

	buf[0] = '\0';
	if (p->choices != NULL)
		for (unsigned i = 0; p->choices[i] != NULL && used < n; i++)
			used += (size_t)snprintf(buf + used, n - used, "%s%s", i ? "|" : "", p->choices[i]);
	else if (p->min != NULL || p->max != NULL)
		snprintf(buf, n, "%s..%s", p->min ? p->min : "", p->max ? p->max : "");
	return buf;
}

/* ---- list ------------------------------------------------------------------------- */

static void list_text(void)
{
	for (int drivers = 0; drivers <= 1; drivers++) {
		printf("%s%s\n", drivers ? "\n" : "", drivers ? "drivers" : "protocols");
		for (const struct xk_proto *const *p = xk_protos(); *p != NULL; p++)
			if ((*p)->is_driver == drivers)
				printf("  %-15s %s\n", (*p)->name, (*p)->doc);
	}
	printf("\nthreading\n");
	for (const struct xk_arch *a = xk_arch_presets; a->name != NULL; a++)
		printf("  %-15s %s\n", a->name, a->doc);
	printf("\nwords\n");
	for (const struct xk_word *w = xk_words; w->name != NULL; w++)
		printf("  %-15s %s\n", w->name, w->doc);
}

static json_t *names_json(const char *kind, const char *name, const char *text)
{
	return json_pack("{s:s, s:s, s:s}", "kind", kind, "name", name, "doc", text);
}

int vpg_list(const struct vpg *o)
{
	json_t *list;

	if (!o->json) {
		list_text();
		return VPG_OK;
	}
	list = json_array();
	for (const struct xk_proto *const *p = xk_protos(); *p != NULL; p++)
		json_array_append_new(list, names_json((*p)->is_driver ? "driver" : "protocol", (*p)->name, (*p)->doc));
	for (const struct xk_arch *a = xk_arch_presets; a->name != NULL; a++)
		json_array_append_new(list, names_json("threading", a->name, a->doc));
	for (const struct xk_word *w = xk_words; w->name != NULL; w++)
		json_array_append_new(list, names_json("word", w->name, w->doc));
	return vpg_print_json(list);
}

/* ---- inspect a protocol ------------------------------------------------------------- */

/* "required", "default 8", "unset"; conf, unless NULL, knows what stands for unset. */
static const char *said(const struct xk_param *p, const void *conf, char *buf, size_t n)
{
	char value[256];

	if (p->flags & XK_PF_REQUIRED)
		return "required";
	if (conf != NULL && (p->def != NULL || (p->flags & XK_PF_UNSET)) && !xk_param_is_unset(p, conf))
		snprintf(buf, n, "default %s", xk_param_format(p, (const char *)conf + p->offset, value, sizeof value));
	else if (p->def != NULL)
		snprintf(buf, n, "default %s", p->def);
	else
		return "unset";
	return buf;
}

static void group_text(const struct xk_param *p, const void *conf, const char *group)
{
	char type[64], range[256], def[300];

	for (; p != NULL && p->name != NULL; p++) {
		if (group == NULL || p->group == NULL ? p->group != group : strcmp(p->group, group) != 0)
			continue;
		vpg_range(p, range, sizeof range);
		printf("  %-16s %-10s %s%s%s%s\n", p->name, vpg_type(p, type, sizeof type),
		       said(p, conf, def, sizeof def), *range ? ", " : "", range,
		       p->flags & XK_PF_LIVE ? ", live" : "");
		printf("  %16s %s\n", "", p->doc);
	}
}

/* Those of a group behind all that have none. */
static void params_text(const struct xk_param *params, const void *conf)
{
	const char *group = NULL;

	group_text(params, conf, NULL);
	for (const struct xk_param *p = params; p->name != NULL; p++) {
		if (p->group == NULL || (group != NULL && strcmp(p->group, group) == 0))
			continue;
		group = p->group;
		printf("parameters in %s = { ... }\n", group);
		group_text(params, conf, group);
	}
}

void vpg_params_text(const struct xk_param *p) { params_text(p, NULL); }

static void words_text(const char *title, const char *const *w)
{
	if (w == NULL || *w == NULL)
		return;
	printf("%s\n ", title);
	for (; *w != NULL; w++)
		printf(" %s%s", *w, w[1] ? "," : "\n");
}

static void needs_text(const struct xk_proto *p)
{
	printf("offers   %s\n", p->offers ? p->offers : "nothing (a top)");
	printf("needs   ");
	for (unsigned i = 0; i < XK_DOWN_MAX && p->needs[i] != NULL; i++)
		printf(" %s", p->needs[i]);
	if (p->max_down == 0)
		printf(" nothing (a bottom)\n");
	else if (p->min_down == p->max_down)
		printf(" (%u below)\n", p->max_down);
	else
		printf(" (%u to %u below)\n", p->min_down, p->max_down);
	for (const struct xk_number *n = p->numbers; n != NULL && n->realm != NULL; n++)
		printf("number   0x%x over %s\n", n->number, n->realm);
}

/* What p adds to what is given below it, and what it does not pass on. */
static void gives_text(const struct xk_proto *p, const void *conf)
{
	uint32_t adds = xk_proto_gives(p, conf, 0), passes = xk_proto_gives(p, conf, XK_GIVES_ALL);
	char buf[64];

	if (p->offers == NULL)
		return;
	printf("gives    %s", p->max_down == 0 ? "" : adds != 0 ? "as below, and " : "as below");
	if (p->max_down == 0 || adds != 0)
		printf("%s", xk_gives_text(adds, buf, sizeof buf));
	if (p->max_down != 0 && passes != XK_GIVES_ALL)
		printf("; not %s", xk_gives_text(XK_GIVES_ALL & ~passes, buf, sizeof buf));
	printf("\n");
}

static void proto_text(const struct xk_proto *p, const void *conf)
{
	printf("%s: %s\n", p->name, p->doc);
	needs_text(p);
	gives_text(p, conf);
	if (p->params != NULL && p->params->name != NULL) {
		printf("parameters\n");
		params_text(p->params, conf);
	}
	words_text("counters", p->counts);
	words_text("drop reasons (besides \"no memory\" and \"unsupported\")", p->drops);
}

/* One "parameter=value" of the command line. */
static bool take_word(const struct xk_proto *p, void *conf, const char *word, char *why, size_t n)
{
	const char *eq = strchr(word, '=');
	const struct xk_param *param;
	char name[64], part[256];

	snprintf(name, sizeof name, "%.*s", eq ? (int)(eq - word) : (int)strlen(word), word);
	param = p->params ? xk_param_find(p->params, name) : NULL;
	if (eq == NULL)
		snprintf(why, n, "'%s' is not of the form parameter=value", word);
	else if (param == NULL)
		snprintf(why, n, "%s has no parameter '%s'", p->name, name);
	else if (xk_param_set(param, conf, eq + 1, false, part, sizeof part) != XK_OK)
		snprintf(why, n, "parameter '%s' %s", name, part);
	else
		return true;
	return false;
}

/* Is everything given that p needs?  Rules between parameters say nothing before that. */
static bool has_needed(const struct vpg *o, const struct xk_proto *p)
{
	for (const struct xk_param *q = p->params; q != NULL && q->name != NULL; q++) {
		size_t n = strlen(q->name);
		bool given = !(q->flags & XK_PF_REQUIRED);

		for (unsigned i = 1; !given && i < o->narg; i++)
			given = strncmp(o->arg[i], q->name, n) == 0 && o->arg[i][n] == '=';
		if (!given)
			return false;
	}
	return true;
}

/* What holds when the words of the command line are given and no others. */
static bool take_words(const struct vpg *o, const struct xk_proto *p, void *conf)
{
	char why[512];
	bool good = xk_param_defaults(p->params, conf, why, sizeof why) == XK_OK;

	for (unsigned i = 1; good && i < o->narg; i++)
		good = take_word(p, conf, o->arg[i], why, sizeof why);
	if (good && o->narg > 1 && p->check != NULL && has_needed(o, p))
		good = p->check(conf, why, sizeof why) == XK_OK;
	if (good && p->fill != NULL)
		p->fill(conf);
	if (!good)
		fprintf(stderr, "vp-graph: %s\n", why);
	return good;
}

static int inspect_proto(const struct vpg *o, const struct xk_proto *p)
{
	void *conf = calloc(1, p->conf_size + 1);
	bool good = conf != NULL && take_words(o, p, conf);

	if (conf == NULL)
		fprintf(stderr, "vp-graph: out of memory\n");
	if (good)
		proto_text(p, conf);
	if (conf != NULL)
		xk_param_release(p->params, conf);
	free(conf);
	return good ? VPG_OK : VPG_FAILED;
}

/* Is every parameter that the command line names one of p's? */
static bool knows_words(const struct vpg *o, const struct xk_proto *p)
{
	for (unsigned i = 1; i < o->narg; i++) {
		char name[64];

		snprintf(name, sizeof name, "%.*s", (int)strcspn(o->arg[i], "="), o->arg[i]);
		if (p->params == NULL || xk_param_find(p->params, name) == NULL)
			return false;
	}
	return true;
}

/* The descriptors of a word: one for each thing that it may sit over. */
static int inspect_word(const struct vpg *o, const struct xk_proto *first)
{
	const struct xk_proto *p;
	int code = VPG_OK;
	unsigned n = 0;

	for (unsigned k = 0; (p = xk_proto_of_word(xk_protos(), first->name, k)) != NULL; k++) {
		if (!knows_words(o, p))
			continue;
		if (n++ != 0)
			putchar('\n');
		if (inspect_proto(o, p) != VPG_OK)
			code = VPG_FAILED;
	}
	return n != 0 ? code : inspect_proto(o, first);
}

/* The first descriptor of a word; the others are in "also". */
static json_t *word_json(const struct xk_proto *first)
{
	json_t *j = vpg_proto_json(first), *also = json_array();
	const struct xk_proto *p;

	for (unsigned k = 1; (p = xk_proto_of_word(xk_protos(), first->name, k)) != NULL; k++)
		json_array_append_new(also, vpg_proto_json(p));
	if (json_array_size(also) != 0)
		json_object_set(j, "also", also);
	json_decref(also);
	return j;
}

/* As it is written: "group.name" where it stands in a table of its own. */
static const char *axis_name(const struct xk_param *p, char *buf, size_t n)
{
	snprintf(buf, n, "%s%s%s", p->group != NULL ? p->group : "", p->group != NULL ? "." : "", p->name);
	return buf;
}

static void axes_text(const struct xk_arch *a)
{
	char type[64], range[256], value[64], name[64];

	printf("axes, with what the preset gives them and what may be written\n");
	for (const struct xk_param *p = xk_arch_params; p->name != NULL; p++) {
		const char *is = xk_arch_fixes(a, axis_name(p, name, sizeof name), value, sizeof value);

		vpg_range(p, range, sizeof range);
		printf("  %-12s %-16s %-10s %s\n", name, is != NULL ? is : "-", vpg_type(p, type, sizeof type), range);
		printf("  %12s %s\n", "", p->doc);
	}
}

static json_t *axes_json(const struct xk_arch *a)
{
	json_t *axes = json_object();
	char value[64], name[64];

	for (const struct xk_param *p = xk_arch_params; p->name != NULL; p++) {
		const char *is = xk_arch_fixes(a, axis_name(p, name, sizeof name), value, sizeof value);

		json_object_set_new(axes, name, is != NULL ? json_string(is) : json_null());
	}
	return axes;
}

static int inspect_arch(const struct vpg *o, const struct xk_arch *a)
{
	if (!o->json) {
		printf("%s: %s\n", a->name, a->doc);
		axes_text(a);
		return VPG_OK;
	}
	return vpg_print_json(json_pack("{s:s, s:s, s:s, s:o, s:o}", "kind", "threading", "name", a->name,
					"doc", a->doc, "axes", axes_json(a), "parameters", vpg_params_json(xk_arch_params)));
}

/* ---- inspect a file -------------------------------------------------------------------- */

static void file_text(const struct xk_spec *s)
{
	unsigned n;
	const struct xk_arg *a = xk_spec_args(s, &n);
	char type[64], range[256];

	printf("%s \"%s\"\n", xk_spec_word(s), xk_spec_name(s));
	if (n != 0)
		printf("arguments\n");
	for (unsigned i = 0; i < n; i++) {
		vpg_range(&a[i].p, range, sizeof range);
		printf("  %-14s %-10s %s%s%s%s\n", a[i].p.name, vpg_type(&a[i].p, type, sizeof type),
		       a[i].p.def ? "default " : "required", a[i].p.def ? a[i].p.def : "", *range ? ", " : "", range);
		if (*a[i].p.doc != '\0')
			printf("  %14s %s\n", "", a[i].p.doc);
	}
	printf("nodes\n");
	for (unsigned i = 0; i < xk_spec_nodes(s); i++) {
		struct xk_spec_node node;

		xk_spec_node(s, i, &node);
		printf("  %-14s %-10s %s:%d\n", node.name, node.proto->name, node.file, node.line);
	}
}

static json_t *file_json(const struct xk_spec *s)
{
	unsigned n;
	const struct xk_arg *a = xk_spec_args(s, &n);
	json_t *args = json_array(), *nodes = json_array();

	for (unsigned i = 0; i < n; i++) {
		struct xk_param one[2] = { a[i].p, XK_PARAM_END };
		json_t *list = vpg_params_json(one), *j = json_incref(json_array_get(list, 0));

		json_decref(list);
		json_object_set_new(j, "value", a[i].value ? json_string(a[i].value) : json_null());
		json_object_set_new(j, "required", json_boolean(a[i].p.def == NULL));
		json_array_append_new(args, j);
	}
	for (unsigned i = 0; i < xk_spec_nodes(s); i++) {
		struct xk_spec_node node;

		xk_spec_node(s, i, &node);
		json_array_append_new(nodes, json_pack("{s:s, s:s, s:s, s:i}", "name", node.name,
			"protocol", node.proto->name, "file", node.file, "line", node.line));
	}
	return json_pack("{s:s, s:s, s:o, s:o}", "kind", xk_spec_word(s),
			 "name", xk_spec_name(s), "arguments", args, "nodes", nodes);
}

static int inspect_file(const struct vpg *o, const char *file)
{
	struct vpg_file f;
	int code = vpg_open(&f, o, file);

	if (code == VPG_OK && o->json)
		code = vpg_print_json(file_json(f.s));
	else if (code == VPG_OK)
		file_text(f.s);
	else if (o->json)
		(void)vpg_print_json(json_pack("{s:s, s:o}", "file", file, "errors", vpg_errs_json(f.errs)));
	vpg_close(&f);
	return code;
}

static int no_such_thing(const char *name)
{
	const struct xk_absent *absent = xk_proto_find_absent(name);
	const char *words[256], *near;
	unsigned n = 0;

	if (absent != NULL) {
		fprintf(stderr, "vp-graph: '%s' is not in this build: install %s, then configure and build again\n",
			name, absent->packages);
		return VPG_FAILED;
	}
	for (const struct xk_proto *const *p = xk_protos(); *p != NULL && n < 200; p++)
		words[n++] = (*p)->name;
	for (const struct xk_arch *a = xk_arch_presets; a->name != NULL && n < 220; a++)
		words[n++] = a->name;
	for (const struct xk_word *w = xk_words; w->name != NULL && n < XK_ARRAY_LEN(words); w++)
		words[n++] = w->name;
	near = xk_errs_suggest(name, words, n);
	fprintf(stderr, "vp-graph: '%s' is no protocol, driver, threading preset, word or file", name);
	fprintf(stderr, near ? " (did you mean '%s'?)\n" : "\n", near);
	return VPG_FAILED;
}

int vpg_inspect(const struct vpg *o)
{
	const char *name = o->arg[0];
	const struct xk_proto *p = xk_protos_find(name);
	const struct xk_arch *a = xk_arch_find(name);
	const struct xk_word *w = xk_words;

	while (w->name != NULL && strcmp(w->name, name) != 0)
		w++;
	if (p != NULL && o->json && o->narg > 1) {
		fprintf(stderr, "vp-graph: values of parameters are for text, JSON has the schema\n");
		return VPG_USAGE;
	}
	if (p != NULL && o->json)
		return vpg_print_json(word_json(p));
	if (p != NULL)
		return inspect_word(o, p);
	if (a != NULL)
		return inspect_arch(o, a);
	if (w->name != NULL)
		return vpg_inspect_word(o, w);
	if (strchr(name, '/') == NULL && strchr(name, '.') == NULL && access(name, F_OK) != 0)
		return no_such_thing(name);
	return inspect_file(o, name);
}

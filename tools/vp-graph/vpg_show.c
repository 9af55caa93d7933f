/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpg_show.c - show and dot: one graph, with every effective value, or drawn.
 */
#include "tools/vp-graph/vpg.h"
#include "runtime/base/xk_param_value.h"
#include "runtime/upi/xk_gives.h"

#include <stdlib.h>
#include <string.h>

/* ---- show ------------------------------------------------------------------------- */

/* The configuration with what the protocol itself puts where nothing was given; the
 * caller frees it, not what it points to.  NULL: out of memory. */
static void *filled(const struct xk_spec_node *n)
{
	void *conf = malloc(n->proto->conf_size + 1);

	if (conf == NULL)
		return NULL;
	memcpy(conf, n->conf, n->proto->conf_size);
	if (n->proto->fill != NULL)
		n->proto->fill(conf);
	return conf;
}

/* As group.name, of one that is given in a table of its own. */
static const char *full_name(const struct xk_param *p, char *buf, size_t n)
{
	snprintf(buf, n, "%s%s%s", p->group ? p->group : "", p->group ? "." : "", p->name);
	return buf;
}

static const char *source_of(const struct xk_spec *s, unsigned i, const struct xk_param *p, const void *conf,
			     char *buf, size_t n)
{
	const char *file;
	char name[64];
	int line;

	if (!xk_spec_param_place(s, i, full_name(p, name, sizeof name), &file, &line))
		return p->flags & XK_PF_UNSET && !xk_param_is_unset(p, conf) ? "implied" : "default";
	snprintf(buf, n, "%s:%d", file, line);
	return buf;
}

/* A value as it is written; "unset" where nobody gave one and there is no default, as inspect says. */
static const char *value_of(const struct xk_spec *s, unsigned i, const struct xk_param *p, const void *conf,
			    char *buf, size_t n)
{
	const char *file;
	char name[64];
	int line;
	bool implied = p->flags & XK_PF_UNSET && !xk_param_is_unset(p, conf);

	if (p->def == NULL && p->type != XK_P_LIST && p->type != XK_P_MAP && !implied &&
	    !xk_spec_param_place(s, i, full_name(p, name, sizeof name), &file, &line)) {
		snprintf(buf, n, "unset");
		return buf;
	}
	return xk_param_format(p, (const char *)conf + p->offset, buf, n);
}

/* What node i gives to those above it: XK_GIVES_*. */
static uint32_t gives_of(const struct xk_spec *s, unsigned i)
{
	struct xk_spec_node n;

	xk_spec_node(s, i, &n);
	return xk_proto_gives(n.proto, n.conf, n.nover != 0 ? gives_of(s, n.over[0]) : 0);
}

static int show_node(const struct xk_spec *s, unsigned i)
{
	struct xk_spec_node n, low;
	char value[1024], where[512], name[64], gives[64];
	int width = 8;
	void *conf;

	xk_spec_node(s, i, &n);
	conf = filled(&n);
	if (conf == NULL)
		return VPG_FAILED;
	printf("\n%s (%s)  %s:%d\n", n.name, n.proto->name, n.file, n.line);
	for (unsigned k = 0; k < n.nover; k++) {
		xk_spec_node(s, n.over[k], &low);
		printf("  over %s\n", low.name);
	}
	if (n.proto->offers != NULL)
		printf("  gives %s\n", xk_gives_text(gives_of(s, i), gives, sizeof gives));
	for (const struct xk_param *p = n.proto->params; p != NULL && p->name != NULL; p++)
		width = (int)strlen(full_name(p, name, sizeof name)) > width ? (int)strlen(name) : width;
	for (const struct xk_param *p = n.proto->params; p != NULL && p->name != NULL; p++) {
		value_of(s, i, p, conf, value, sizeof value);
		printf("  %-*s = %-24s %s\n", width, full_name(p, name, sizeof name), *value ? value : "-",
		       source_of(s, i, p, conf, where, sizeof where));
	}
	free(conf);
	return VPG_OK;
}

static void show_plan(const struct xk_plan *p)
{
	const struct xk_param t = { .name = "t", .type = XK_P_TIME }, z = { .name = "z", .type = XK_P_SIZE };
	char a[64], b[64], c[64], d[64], vps[32], workers[32];

	snprintf(vps, sizeof vps, p->arch.vps > 0 ? "%d" : "one per worker", p->arch.vps);
	snprintf(workers, sizeof workers, p->arch.workers ? "%u" : "one per processor", p->arch.workers);
	printf("graph \"%s\"%s%s\n", p->name, p->doc ? ": " : "", p->doc ? p->doc : "");
	printf("  threading %s: vps %s, workers %s, entry %s, schedule %s, burst %u, quantum %u, inbox %u, %s\n",
	       p->arch.name, vps, workers, xk_arch_entries[p->arch.entry], xk_arch_schedules[p->arch.schedule],
	       p->arch.burst, p->arch.quantum, p->arch.inbox, p->arch.wired ? "wired" : "not wired");
	printf("  duration %s, warmup %s, clock %s, tick %s, memory %s%s\n",
	       p->duration ? xk_param_format(&t, &p->duration, a, sizeof a) : "until finished",
	       xk_param_format(&t, &p->warmup, b, sizeof b), p->is_virtual ? "virtual" : "real",
	       xk_param_format(&t, &p->tick, d, sizeof d), xk_param_format(&z, &p->mem.limit, c, sizeof c), p->mem.huge ? ", huge pages" : "");
}

static json_t *gives_json(uint32_t gives)
{
	json_t *list = json_array();

	for (unsigned k = 0; xk_gives_name(k) != NULL; k++)
		if (gives >> k & 1)
			json_array_append_new(list, json_string(xk_gives_name(k)));
	return list;
}

static json_t *node_json(const struct xk_spec *s, unsigned i)
{
	struct xk_spec_node n, low;
	json_t *params = json_object(), *over = json_array();
	char value[1024], where[512];
	void *conf;

	xk_spec_node(s, i, &n);
	conf = filled(&n);
	if (conf == NULL) {
		json_decref(params);
		json_decref(over);
		return NULL;
	}
	for (unsigned k = 0; k < n.nover; k++) {
		xk_spec_node(s, n.over[k], &low);
		json_array_append_new(over, json_string(low.name));
	}
	for (const struct xk_param *p = n.proto->params; p != NULL && p->name != NULL; p++) {
		value_of(s, i, p, conf, value, sizeof value);
		json_object_set_new(params, p->name, json_pack("{s:s, s:s}", "value", value, "from",
				    source_of(s, i, p, conf, where, sizeof where)));
	}
	free(conf);
	return json_pack("{s:s, s:s, s:s, s:i, s:o, s:o, s:o}", "name", n.name, "protocol", n.proto->name,
			 "file", n.file, "line", n.line, "over", over, "gives", gives_json(n.proto->offers != NULL ? gives_of(s, i) : 0),
			 "parameters", params);
}

/* docs/schema/vp-graph-show-1.json describes it.  Takes classifiers over. */
static json_t *show_json(struct xk_spec *s, json_t *classifiers)
{
	const struct xk_plan *p = xk_spec_plan(s);
	json_t *nodes = json_array();

	for (unsigned i = 0; i < xk_spec_nodes(s); i++)
		if (json_array_append_new(nodes, node_json(s, i)) != 0) {
			json_decref(nodes);
			json_decref(classifiers);
			return NULL;
		}
	return json_pack("{s:i, s:s, s:s?, s:{s:s, s:i, s:i, s:i, s:i, s:b}, s:I, s:I, s:b, s:I, s:I, s:o, s:o}",
			 "schema", 1, "graph", p->name, "doc", p->doc,
			 "threading", "preset", p->arch.name, "vps", p->arch.vps, "workers", (int)p->arch.workers,
			 "burst", (int)p->arch.burst, "quantum", (int)p->arch.quantum, "wired", p->arch.wired,
			 "duration_ns", (json_int_t)p->duration, "warmup_ns", (json_int_t)p->warmup,
			 "virtual", p->is_virtual, "tick_ns", (json_int_t)p->tick, "memory", (json_int_t)p->mem.limit, "nodes", nodes,
			 "classifiers", classifiers);
}

/* A file that was opened and has a graph, or an exit code other than 0. */
static int open_graph(struct vpg_file *f, const struct vpg *o)
{
	int code = vpg_open(f, o, o->arg[0]);

	if (code == VPG_OK && xk_spec_plan(f->s) == NULL) {
		fprintf(stderr, "vp-graph: %s is a bench without a graph of its own\n", o->arg[0]);
		code = VPG_FAILED;
	}
	if (code != VPG_OK && o->json)
		(void)vpg_print_json(json_pack("{s:s, s:o}", "file", o->arg[0], "errors", vpg_errs_json(f->errs)));
	return code;
}

int vpg_show(const struct vpg *o)
{
	struct vpg_file f;
	int code = open_graph(&f, o);

	if (code == VPG_OK && o->json) {
		json_t *classifiers = json_array();

		code = vpg_show_classifiers(&f, classifiers);
		if (code == VPG_OK)
			code = vpg_print_json(show_json(f.s, classifiers));
		else
			json_decref(classifiers);
	} else if (code == VPG_OK) {
		show_plan(xk_spec_plan(f.s));
		for (unsigned i = 0; code == VPG_OK && i < xk_spec_nodes(f.s); i++)
			code = show_node(f.s, i);
		if (code != VPG_OK)
			fprintf(stderr, "vp-graph: out of memory\n");
		else
			code = vpg_show_classifiers(&f, NULL);
	}
	vpg_close(&f);
	return code;
}

/* ---- dot ---------------------------------------------------------------------------- */

static void dot_node(const struct xk_spec *s, unsigned i)
{
	struct xk_spec_node n, low;

	xk_spec_node(s, i, &n);
	printf("\t\"%s\" [label=\"%s", n.name, n.name);
	if (strcmp(n.name, n.proto->name) != 0)
		printf("\\n(%s)", n.proto->name);
	printf("\"%s];\n", n.proto->is_driver ? ", shape=box, style=filled, fillcolor=gray90" :
	       n.proto->offers == NULL ? ", shape=box, style=rounded" : "");
	for (unsigned k = 0; k < n.nover; k++) {
		xk_spec_node(s, n.over[k], &low);
		printf("\t\"%s\" -> \"%s\" [label=\"%s\"];\n", n.name, low.name,
		       low.proto->offers ? low.proto->offers : "");
	}
}

/* The cable that node i is an end of, or NULL. */
static const char *cable_of(const struct xk_spec *s, unsigned i)
{
	struct xk_spec_node n;
	const struct xk_param *p;

	xk_spec_node(s, i, &n);
	p = n.proto->is_driver ? xk_param_find(n.proto->params, "wire") : NULL;
	return p != NULL && p->type == XK_P_TEXT ? *(const char *const *)(const void *)((const char *)n.conf + p->offset) : NULL;
}

static void dot_cables(const struct xk_spec *s)
{
	for (unsigned i = 0; i < xk_spec_nodes(s); i++)
		for (unsigned k = 0; k < i; k++) {
			const char *a = cable_of(s, i), *b = cable_of(s, k);
			struct xk_spec_node from, to;

			if (a == NULL || b == NULL || strcmp(a, b) != 0)
				continue;
			xk_spec_node(s, i, &from);
			xk_spec_node(s, k, &to);
			printf("\t\"%s\" -> \"%s\" [dir=none, constraint=false, style=bold, label=\"%s\"];\n", from.name, to.name, a);
		}
}

int vpg_dot(const struct vpg *o)
{
	struct vpg_file f;
	int code = open_graph(&f, o);

	if (code == VPG_OK) {
		printf("digraph \"%s\" {\n\tnode [fontname=\"sans-serif\", shape=ellipse];\n"
		       "\tedge [fontname=\"sans-serif\", fontsize=9, arrowhead=none];\n", xk_spec_name(f.s));
		for (unsigned i = 0; i < xk_spec_nodes(f.s); i++)
			dot_node(f.s, i);
		dot_cables(f.s);
		printf("}\n");
	}
	vpg_close(&f);
	return code;
}

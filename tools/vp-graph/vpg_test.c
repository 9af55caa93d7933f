/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpg_test.c - test: wire scripts against a graph, or a protocol against the contract (tools/vp-graph/kit).
 */
#include "tools/vp-graph/vpg.h"

#include <stdlib.h>
#include <string.h>

#include "tools/pkt/pkt.h"
#include "tools/vp-graph/kit/kit.h"

static bool is_script(const char *name)
{
	size_t n = strlen(name);

	return n > 4 && strcmp(name + n - 4, ".pkt") == 0;
}

static json_t *result_json(const char *name, enum pkt_result r, const char *text)
{
	return json_pack("{s:s, s:s, s:s}", "script", name, "result", pkt_result_text(r), "text", text);
}

static enum pkt_result run_one(const struct vpg *o, struct xk_spec *spec, const char *name, json_t *list)
{
	struct pkt_opts po = { .spec = spec, .strict = o->strict, .notes = o->notes, .show = o->show_segments };
	enum pkt_result r = PKT_BAD_SCRIPT;
	struct pkt_script *s;
	char *text = NULL;
	size_t n = 0;
	FILE *out = o->json ? open_memstream(&text, &n) : stdout;

	if (out == NULL)
		return PKT_FAILED;
	s = pkt_parse_file(name, out);
	if (s != NULL)
		r = pkt_run(s, &po, out);
	pkt_free(s);
	if (o->json) {
		fclose(out);
		json_array_append_new(list, result_json(name, r, text));
		free(text);
	} else {
		printf("%s: %s\n", name, pkt_result_text(r));
	}
	return r;
}

/* The graph file is the argument that is no script; k=v are its arguments. */
static int load(struct vpg_file *f, const struct vpg *o, const char **graph)
{
	const char *args[1024];
	struct vpg sub = *o;

	sub.arg = args;
	sub.narg = 0;
	if (!is_script(o->arg[0])) {
		args[sub.narg++] = *graph = o->arg[0];
		for (unsigned i = 1; i < o->narg && sub.narg < XK_ARRAY_LEN(args); i++)
			if (!is_script(o->arg[i]))
				args[sub.narg++] = o->arg[i];
	}
	return *graph != NULL ? vpg_open(f, &sub, *graph) : VPG_OK;
}

static int run_scripts(const struct vpg *o)
{
	struct vpg_file f = { 0 };
	const char *graph = NULL;
	json_t *list = o->json ? json_array() : NULL;
	unsigned passed = 0, run = 0;
	int code = load(&f, o, &graph);

	for (unsigned i = 0; code == VPG_OK && i < o->narg; i++)
		if (is_script(o->arg[i])) {
			run++;
			passed += run_one(o, f.s, o->arg[i], list) == PKT_PASS;
		}
	if (code == VPG_OK && run == 0) {
		fprintf(stderr, "vp-graph: test: which script? their names end in .pkt\n");
		code = VPG_USAGE;
	} else if (code == VPG_OK) {
		code = passed == run ? VPG_OK : VPG_FAILED;
		if (!o->json)
			printf("%u of %u scripts passed\n", passed, run);
	}
	if (list != NULL) {
		int bad = vpg_print_json(list);

		code = bad ? bad : code;
	}
	if (graph != NULL)
		vpg_close(&f);
	return code;
}

/* Where no script is named and no file is, it is a protocol. */
static bool is_conformance(const struct vpg *o)
{
	size_t n = o->narg != 0 ? strlen(o->arg[0]) : 0;

	for (unsigned i = 0; i < o->narg; i++)
		if (is_script(o->arg[i]))
			return false;
	return o->all || (n != 0 && !(n > 4 && strcmp(o->arg[0] + n - 4, ".lua") == 0));
}

int vpg_test(const struct vpg *o)
{
	if (is_conformance(o))
		return kit_test(o);
	if (o->narg == 0) {
		fprintf(stderr, "vp-graph: usage: vp-graph test NAME [k=v ...], or --all, or [FILE [k=v ...]] SCRIPT.pkt ...\n");
		return VPG_USAGE;
	}
	return run_scripts(o);
}

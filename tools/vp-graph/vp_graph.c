/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_graph.c - vp-graph: looks at graph files and at what they can be made of.
 */
#include "tools/vp-graph/vpg.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/xk_param_value.h"
#include "runtime/run/xk_json.h"

const char *argp_program_version = "vp-graph (xkvp) 0.1.0";

static const struct { const char *name, *args; int (*run)(const struct vpg *); unsigned min, max; bool text_only; } commands[] = {
	{ "list", "", vpg_list, 0, 0, false },
	{ "inspect", "NAME|FILE [k=v ...]", vpg_inspect, 1, 1000, false },
	{ "check", "FILE [k=v ...]", vpg_check, 1, 1000, false },
	{ "show", "FILE [k=v ...]", vpg_show, 1, 1000, false },
	{ "dot", "FILE [k=v ...]", vpg_dot, 1, 1000, true },
	{ "filter", "FILE [k=v ...]", vpg_filter, 1, 1000, true },
	{ "test", "NAME [k=v ...] | [FILE [k=v ...]] SCRIPT.pkt ...", vpg_test, 0, 1000, false },
	{ "meta", "", vpg_meta, 0, 0, false },
	{ "new-protocol", "NAME", vpg_new_protocol, 1, 1, true },
};

static const char doc[] =
	"Looks at graph files and at what they can be made of.\n"
	"\n"
	"  list                 every protocol, driver and threading preset\n"
	"  inspect NAME|FILE    parameters (k=v: what then is default), counters; words; nodes\n"
	"  check FILE [k=v ...] every error of a graph file, with its line\n"
	"  show FILE [k=v ...]  every effective value and where it comes from\n"
	"  dot FILE [k=v ...]   the graph for graphviz: vp-graph dot f.lua | dot -Tsvg\n"
	"  filter FILE [k=v]    the packet filter of each device, and its programs\n"
	"  test NAME            is it as the contract says?  The clauses of conformance\n"
	"  test [FILE] X.pkt... wire scripts against FILE, or against plain tcp\n"
	"  meta                 all schemas as JSON, or for an editor\n"
	"  new-protocol NAME    a folder with a plug-in that works\n"
	"\v"
	"Exit codes: 0 good, 1 failed or differs, 2 wrong usage, 3 errors in the graph.";

enum { OPT_UNSAFE = 256, OPT_LUACATS, OPT_LUACHECK, OPT_STRICT, OPT_NOTES, OPT_SEGMENTS, OPT_EXPLAIN,
       OPT_KIND, OPT_PLUGIN, OPT_GRAPH, OPT_CLAUSE, OPT_SEED, OPT_ROUNDS, OPT_LIMIT, OPT_ALL };

static const struct argp_option options[] = {
	{ "format", 'f', "text|json", 0, "How to print (default: text)", 0 },
	{ "path", 'I', "DIR[:DIR]", 0, "More folders for include", 0 },
	{ "unsafe", OPT_UNSAFE, NULL, 0, "Let the file use all of Lua, without limits", 0 },
	{ "plugin", OPT_PLUGIN, "FILE", 0, "Protocols of a plug-in, too", 0 },
	{ "luacats", OPT_LUACATS, NULL, 0, "meta: annotations for editors", 1 },
	{ "luacheck", OPT_LUACHECK, NULL, 0, "meta: globals for .luacheckrc", 1 },
	{ "all", OPT_ALL, NULL, 0, "test: every protocol and driver there is", 2 },
	{ "clause", OPT_CLAUSE, "NAME", 0, "test: this clause alone", 2 },
	{ "graph", OPT_GRAPH, "FILE", 0, "test: in this graph, which has a node of NAME", 2 },
	{ "seed", OPT_SEED, "N", 0, "test: of what is drawn (default: 1)", 2 },
	{ "rounds", OPT_ROUNDS, "N", 0, "test: how much is drawn (default: 20)", 2 },
	{ "limit", OPT_LIMIT, "SECONDS", 0, "test: processor time of a clause (default: 120)", 2 },
	{ "strict", OPT_STRICT, NULL, 0, "test: bursts cut as written, nothing left over", 2 },
	{ "notes", OPT_NOTES, NULL, 0, "test: say what of a script was ignored", 2 },
	{ "segments", OPT_SEGMENTS, NULL, 0, "test: print every call and segment as it happens", 2 },
	{ "explain", OPT_EXPLAIN, "X.pcap", 0, "filter: classify the frames of a capture", 2 },
	{ "kind", OPT_KIND, "app|layer|driver", 0, "new-protocol: what it is (default: layer)", 2 },
	{ 0 }
};

struct parsed { struct vpg o; const char *command; const char *arg[1024]; };

/* A whole number from least to most. */
static uint64_t number(struct argp_state *state, const char *name, const char *text, uint64_t least, uint64_t most)
{
	union xk_pval v;
	char why[128];

	if (xk_param_parse_as(XK_P_UINT, text, true, &v, why, sizeof why) != XK_OK)
		argp_error(state, "--%s %s", name, why);
	else if (v.u < least || v.u > most)
		argp_error(state, "--%s is between %llu and %llu, not %s", name, (unsigned long long)least,
			   (unsigned long long)most, text);
	return v.u;
}

static bool parse_test(struct parsed *p, int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case OPT_GRAPH: p->o.graph = arg; return true;
	case OPT_CLAUSE: p->o.clause = arg; return true;
	case OPT_ALL: p->o.all = true; return true;
	case OPT_SEED: p->o.seed = number(state, "seed", arg, 0, UINT64_MAX); return true;
	case OPT_ROUNDS: p->o.rounds = (unsigned)number(state, "rounds", arg, 1, 100000); return true;
	case OPT_LIMIT: p->o.limit = (unsigned)number(state, "limit", arg, 1, 100000); return true;
	default: return false;
	}
}

static error_t parse_opt(int key, char *arg, struct argp_state *state)
{
	struct parsed *p = state->input;

	if (parse_test(p, key, arg, state))
		return 0;
	switch (key) {
	case 'f':
		if (strcmp(arg, "json") != 0 && strcmp(arg, "text") != 0)
			argp_error(state, "--format is text or json, not '%s'", arg);
		p->o.json = strcmp(arg, "json") == 0;
		return 0;
	case 'I': p->o.path = arg; return 0;
	case OPT_UNSAFE: p->o.unsafe = true; return 0;
	case OPT_LUACATS: p->o.meta = "luacats"; return 0;
	case OPT_LUACHECK: p->o.meta = "luacheck"; return 0;
	case OPT_STRICT: p->o.strict = true; return 0;
	case OPT_NOTES: p->o.notes = true; return 0;
	case OPT_EXPLAIN: p->o.explain = arg; return 0;
	case OPT_SEGMENTS: p->o.show_segments = true; return 0;
	case OPT_PLUGIN:
		if (!xk_plugin_ask("vp-graph", arg))
			exit(VPG_USAGE);
		return 0;
	case OPT_KIND:
		if (strcmp(arg, "app") != 0 && strcmp(arg, "layer") != 0 && strcmp(arg, "driver") != 0)
			argp_error(state, "--kind is app, layer or driver, not '%s'", arg);
		p->o.kind = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (p->command == NULL)
			p->command = arg;
		else if (p->o.narg < XK_ARRAY_LEN(p->arg))
			p->arg[p->o.narg++] = arg;
		return 0;
	case ARGP_KEY_END:
		if (p->command == NULL)
			argp_error(state, "which command? one of list, inspect, check, show, dot, filter, test, meta, new-protocol");
		return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static int run(const struct parsed *p)
{
	const char *names[XK_ARRAY_LEN(commands)], *near;

	for (unsigned i = 0; i < XK_ARRAY_LEN(commands); i++) {
		names[i] = commands[i].name;
		if (strcmp(commands[i].name, p->command) != 0)
			continue;
		if (p->o.narg < commands[i].min || p->o.narg > commands[i].max) {
			fprintf(stderr, "vp-graph: usage: vp-graph %s %s\n", commands[i].name, commands[i].args);
			return VPG_USAGE;
		}
		if (p->o.json && commands[i].text_only) {
			fprintf(stderr, "vp-graph: %s prints text only: leave --format=json out\n", commands[i].name);
			return VPG_USAGE;
		}
		return commands[i].run(&p->o);
	}
	near = xk_errs_suggest(p->command, names, XK_ARRAY_LEN(names));
	fprintf(stderr, "vp-graph: there is no command '%s'", p->command);
	fprintf(stderr, near ? " (did you mean '%s'?)\n" : "\n", near);
	return VPG_USAGE;
}

int main(int argc, char **argv)
{
	static const struct argp argp = { options, parse_opt, "COMMAND [ARG ...]", doc, NULL, NULL, NULL };
	struct parsed p = { .o.meta = "json", .o.kind = "layer", .o.seed = 1, .o.rounds = 20, .o.limit = 120 };
	int code;

	xk_json_start("vp-graph", VPG_FAILED);
	argp_err_exit_status = VPG_USAGE;
	code = argp_parse(&argp, argc, argv, 0, NULL, &p);
	if (code != 0) {
		fprintf(stderr, "vp-graph: the command line cannot be read: %s\n", strerror(code));
		return VPG_FAILED;
	}
	xk_plugins_find("vp-graph");
	p.o.arg = p.arg;
	code = run(&p);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		fprintf(stderr, "vp-graph: cannot write the output\n");
		code = VPG_FAILED;
	}
	return code;
}

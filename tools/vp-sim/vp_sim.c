/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_sim.c - vp-sim: simulates the scheduling of protocol work on machines that are not here.
 */
#include <argp.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/xk_param_value.h"
#include "runtime/compose/xk_plugins.h"
#include "runtime/run/xk_json.h"
#include "tools/vp-run/build_text.h"
#include "tools/vp-sim/sim_ask.h"
#include "tools/vp-sim/sim_svg.h"

const char *argp_program_version = "vp-sim (xkvp) 0.1.0\n" XK_BUILD_TEXT;

static const char doc[] =
	"Simulates the model of FILE: streams of packets on the processors of a machine.\n"
	"k=v gives an argument of the file: vp-graph inspect FILE lists them.\n"
	"\v"
	"The same file, arguments and seed print the same bytes.\n"
	"Exit codes: 0 good, 1 failed, 2 wrong usage, 3 errors in a file.";

enum { OPT_SEED = 256, OPT_WARMUP, OPT_MAX, OPT_LIMIT, OPT_REPLICATIONS, OPT_CSV, OPT_SVG, OPT_SELF_TEST, OPT_MACHINES, OPT_SWEEP,
       OPT_SHARD, OPT_TRACE, OPT_REPLAY };

static const struct argp_option options[] = {
	{ "machine", 'm', "NAME|FILE", 0, "What things cost (default: the model's; --machines lists them)", 0 },
	{ "processors", 'P', "LIST", 0, "How many, 1 to 1024 (default: the model's, or else the machine's); of several, as in 1..8,16, "
	  "a line each", 0 },
	{ "duration", 'd', "TIME", 0, "Simulated time that is measured, \"20s\" (default: the file's, or 20 s)", 0 },
	{ "time", 't', "TIME", OPTION_ALIAS, NULL, 0 },
	{ "warmup", OPT_WARMUP, "TIME", 0, "Simulated time before that (default: the file's, or 2 s)", 0 },
	{ "seed", OPT_SEED, "N", 0, "Of all random numbers (default: 1)", 0 },
	{ "replications", OPT_REPLICATIONS, "N", 0, "Runs with seeds of their own; intervals are of their means", 0 },
	{ "max", OPT_MAX, "streams", 0, "Find the most streams whose mean delay is below --limit", 0 },
	{ "limit", OPT_LIMIT, "TIME", 0, "Of the mean delay (default: the model's, or 40 ms)", 0 },
	{ "json", 'j', NULL, 0, "Print JSON (docs/schema/vp-sim-1.json)", 0 },
	{ "csv", OPT_CSV, NULL, 0, "Print a line of names and a line of values", 0 },
	{ "svg", OPT_SVG, "FILE", 0, "Draw the delay, or with --max the streams, over several --processors, too; of one number of "
	  "processors, where each stream ran", 0 },
	{ "trace", OPT_TRACE, "FILE", 0, "Write who ran what and when, for Perfetto or chrome://tracing", 0 },
	{ "sweep", OPT_SWEEP, NULL, 0, "Each point of the file's sweep, a line each; k=v of an axis keeps the points with that value", 0 },
	{ "shard", OPT_SHARD, "I/N", 0, "Of a sweep the I-th of N parts, for vp-bench merge", 0 },
	{ "output", 'o', "FILE", 0, "Write the part there instead of stdout", 0 },
	{ "machines", OPT_MACHINES, NULL, 0, "List the machines", 0 },
	{ "replay", OPT_REPLAY, "FILE", 0, "Ask the scheduling module again what vp-run --decisions wrote, and compare", 0 },
	{ "self-test", OPT_SELF_TEST, "SCALE", OPTION_ARG_OPTIONAL, "Compare runs with the closed forms of queueing theory; SCALE "
	  "shortens them (default: 1)", 0 },
	{ 0 }
};

/* ---- options ------------------------------------------------------------------------- */

static uint64_t whole(const char *name, const char *arg, const char *least, const char *most, struct argp_state *state)
{
	const struct xk_param p = { .name = name, .type = XK_P_UINT, .min = least, .max = most };
	union xk_pval v;
	char why[300];

	if (xk_param_parse(&p, arg, true, &v, why, sizeof why) != XK_OK)
		argp_error(state, "--%s %s", name, why);
	return v.u;
}

/* "8", "1..8,16,32" */
static void processors(struct sim_ask *o, const char *arg, struct argp_state *state)
{
	const char *rest = arg;

	o->nprocessors = 0;
	do {
		char *end;
		unsigned long from = strtoul(rest, &end, 10), to = from;
		bool good = end != rest && *rest != '-';

		if (good && strncmp(end, "..", 2) == 0) {
			rest = end + 2;
			to = strtoul(rest, &end, 10);
			good = end != rest && *rest != '-';
		}
		good = good && from >= 1 && to >= from && to <= XK_SCHED_PROCS_MAX && (*end == '\0' || (*end == ',' && end[1] != '\0')) &&
		       o->nprocessors + (to - from) < XK_SCHED_PROCS_MAX;
		if (!good)
			argp_error(state, "--processors takes numbers from 1 to %u, as in 1..8,16, not '%s'", XK_SCHED_PROCS_MAX, arg);
		while (from <= to)
			o->processors[o->nprocessors++] = (unsigned)from++;
		rest = *end == ',' ? end + 1 : end;
	} while (*rest != '\0');
}

static xk_ns span(const char *name, const char *arg, const char *least, struct argp_state *state)
{
	const struct xk_param p = { .name = name, .type = XK_P_TIME, .min = least, .max = "10h" };
	union xk_pval v;
	char why[300];

	if (xk_param_parse(&p, arg, false, &v, why, sizeof why) != XK_OK)
		argp_error(state, "--%s %s", name, why);
	return v.u;
}

static void word(struct sim_ask *o, const char *arg, struct argp_state *state)
{
	if (o->file == NULL)
		o->file = arg;
	else if (o->narg < SIM_ARGS)
		o->arg[o->narg++] = arg;
	else
		argp_error(state, "at most %u arguments", SIM_ARGS);
}

static void self_test(struct sim_ask *o, const char *arg, struct argp_state *state)
{
	char *end = NULL;

	o->self_test = arg != NULL ? strtod(arg, &end) : 1;
	if ((end != NULL && *end != '\0') || !(o->self_test >= 0.001 && o->self_test <= 100))
		argp_error(state, "--self-test takes a scale from 0.001 to 100, not '%s'", arg);
}

static void shard(struct sim_ask *o, const char *arg, struct argp_state *state)
{
	char why[200];

	if (!bench_shard_parse(arg, &o->shard, why, sizeof why))
		argp_error(state, "--shard %s", why);
}

static void finish(const struct sim_ask *o, struct argp_state *state)
{
	if (o->replay != NULL && (o->file != NULL || o->sweep))
		argp_error(state, "--replay has a file of its own: leave FILE out");
	if (o->file == NULL && !o->machines && o->self_test == 0 && o->replay == NULL)
		argp_error(state, "which FILE?");
	if (o->json && o->csv)
		argp_error(state, "--json and --csv exclude each other");
	if (o->svg != NULL && o->sweep)
		argp_error(state, "--svg draws one point: --sweep has several");
	if (o->trace != NULL && (o->sweep || o->nprocessors > 1))
		argp_error(state, "--trace is of one run: one point, one number of processors");
	if (o->find && o->nprocessors < 2 && (o->svg != NULL || o->trace != NULL))
		argp_error(state, "--max runs many: --svg draws it over several --processors, --trace has no one run");
	if (o->shard.of != 0 && !o->sweep)
		argp_error(state, "--shard is a part of a sweep: --sweep");
	if (o->shard.of != 0 && o->csv)
		argp_error(state, "--shard writes JSON, for vp-bench merge: not --csv");
	if (o->out != NULL && o->shard.of == 0)
		argp_error(state, "--output is for --shard");
}

static error_t parse_opt(int key, char *arg, struct argp_state *state)
{
	struct sim_ask *o = state->input;

	switch (key) {
	case 'm': o->machine = arg; return 0;
	case 'P': processors(o, arg, state); return 0;
	case 't':
	case 'd': o->duration = span("duration", arg, "1us", state); return 0;
	case OPT_WARMUP:
		o->warmup = span("warmup", arg, NULL, state);
		o->has_warmup = true;
		return 0;
	case OPT_SEED:
		o->seed = whole("seed", arg, NULL, NULL, state);
		o->has_seed = true;
		return 0;
	case OPT_REPLICATIONS: o->replications = (unsigned)whole("replications", arg, "1", "1000", state); return 0;
	case OPT_MAX:
		if (strcmp(arg, "streams") != 0)
			argp_error(state, "--max finds streams, not '%s'", arg);
		o->find = true;
		return 0;
	case OPT_LIMIT: o->limit = span("limit", arg, "1us", state); return 0;
	case 'j': o->json = true; return 0;
	case OPT_CSV: o->csv = true; return 0;
	case OPT_SVG: o->svg = arg; return 0;
	case OPT_TRACE: o->trace = arg; return 0;
	case OPT_SWEEP: o->sweep = true; return 0;
	case OPT_SHARD: shard(o, arg, state); return 0;
	case 'o': o->out = arg; return 0;
	case OPT_MACHINES: o->machines = true; return 0;
	case OPT_REPLAY: o->replay = arg; return 0;
	case OPT_SELF_TEST: self_test(o, arg, state); return 0;
	case ARGP_KEY_ARG: word(o, arg, state); return 0;
	case ARGP_KEY_END: finish(o, state); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

/* ---- runs --------------------------------------------------------------------------------------- */

struct printer { const struct sim_ask *p; bool head; };

static int print(const struct sim_outcome *o, const struct printer *to)
{
	bool several = to->p->nprocessors > 1;
	int code = SIM_FAILED;
	json_t *j;

	if (to->p->csv)
		return sim_out_csv(o, to->head);
	if (!to->p->json)
		return several ? sim_out_row(o, to->head) : sim_out_text(o);
	j = sim_out_json(o);
	if (j != NULL && json_dumpf(j, stdout, several ? JSON_COMPACT : JSON_INDENT(2)) == 0 && putchar('\n') != EOF)
		code = SIM_OK;
	json_decref(j);
	return code;
}

static int use(const struct sim_outcome *o, void *to)
{
	const struct printer *printer = to;

	if (print(o, printer) != SIM_OK || fflush(stdout) != 0)
		return SIM_FAILED;
	if (printer->p->svg != NULL && printer->p->nprocessors > 1)
		sim_svg_add(printer->p->points, o);
	return SIM_OK;
}

/* Each number of processors, a line each where there are several. */
static int run_each(struct sim_loaded *l, const struct sim_ask *p)
{
	struct printer to = { p, true };
	int code = sim_run_all(l, p, use, &to);

	to.head = false;
	for (unsigned i = 1; code == SIM_OK && i < p->nprocessors; i++) {
		l->m.processors = p->processors[i];
		code = sim_run_all(l, p, use, &to);
	}
	if (code == SIM_OK && p->nprocessors > 1 && !p->json && !p->csv)
		sim_out_sources(&l->ledger);
	return code;
}

/* One run, watched. */
static int look(struct sim_loaded *l, struct sim_ask *p)
{
	struct sim_look *look;
	struct sim_watch w;
	int code = SIM_FAILED;

	if (l->m.find_streams) {
		fprintf(stderr, "vp-sim: the file looks for a maximum, in many runs: find = \"nothing\" has one to look at\n");
		return SIM_USAGE;
	}
	look = sim_look_new(&l->m, p->trace != NULL);
	if (look == NULL) {
		fprintf(stderr, "vp-sim: out of memory\n");
	} else {
		w = sim_look_watch(look);
		p->watch = &w;
		code = run_each(l, p);
		p->watch = NULL;
	}
	if (code == SIM_OK && p->svg != NULL)
		code = sim_look_svg(look, p->svg, xk_spec_name(l->spec), l->ledger.spec != NULL ? l->ledger.name : "no machine");
	if (code == SIM_OK && p->trace != NULL)
		code = sim_look_trace(look, p->trace, xk_spec_name(l->spec));
	sim_look_free(look);
	return code;
}

static int draw(const struct sim_loaded *l, const struct sim_ask *p)
{
	const struct sim_figure f = { p->svg, xk_spec_name(l->spec), l->ledger.spec != NULL ? l->ledger.name : "no machine",
				      l->m.find_streams, p->points };

	return fflush(stdout) == 0 ? sim_svg_write(&f) : SIM_FAILED;
}

static int simulate(struct sim_ask *p)
{
	struct sim_loaded l = { 0 };
	int code = sim_load(&l, p, p->arg, p->narg);

	p->points = json_array();
	if (code == SIM_OK && p->nprocessors < 2 && (p->svg != NULL || p->trace != NULL))
		code = look(&l, p);
	else if (code == SIM_OK)
		code = run_each(&l, p);
	if (code == SIM_OK && p->svg != NULL && p->nprocessors > 1)
		code = draw(&l, p);
	json_decref(p->points);
	sim_unload(&l);
	return code;
}

int main(int argc, char **argv)
{
	static const struct argp argp = { options, parse_opt, "FILE [k=v ...]", doc, NULL, NULL, NULL };
	static struct sim_ask p;
	int code;

	xk_json_start("vp-sim", SIM_FAILED);
	argp_err_exit_status = SIM_USAGE;
	code = argp_parse(&argp, argc, argv, 0, NULL, &p);
	if (code != 0) {
		fprintf(stderr, "vp-sim: the command line cannot be read: %s\n", strerror(code));
		return SIM_FAILED;
	}
	xk_plugins_find("vp-sim");
	code = p.replay != NULL ? sim_replay(p.replay) : p.machines ? sim_ledger_list() :
	       p.self_test != 0 ? sim_selftest(p.self_test) : p.sweep ? sim_sweep(&p) : simulate(&p);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		fprintf(stderr, "vp-sim: cannot write the output\n");
		code = SIM_FAILED;
	}
	return code;
}

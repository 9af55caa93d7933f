/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_advise_main.c - the subcommand advise: which preset for this graph, and why.
 *
 * Measures the graph as it is (or reads a run's JSON), lets the rules look (advise.lua),
 * says what they said.  --run measures the two best in turns, one run each in a block, the order
 * changing from block to block, and asks the statistic of compare whether the advice held.
 * Nothing is ever asked on a terminal: without --run the command is told.
 * Invariant: advice is made before the two are measured, and not changed by it.
 */
#include "tools/vp-bench/bench_advise.h"
#include "tools/vp-bench/bench.h"
#include "tools/vp-bench/bench_lua.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>

#define BLOCKS     12u           /* pairs; the signed ranks need 7 for their confidence */
#define CONFIDENCE 0.98
#define PROCESSORS_MOST 1024u

struct input {
	struct bench_options o;
	struct advise_file file;
	const char *goal, *duration, *machine;
	unsigned    processors;      /* simulated ones; 0: those that are here */
	bool        json, run, check;
	json_t     *doc;             /* the advice */
};

/* ---- options ------------------------------------------------------------------------------- */

enum { OPT_RUN = 700, OPT_GOAL, OPT_VP_RUN, OPT_PROCESSORS, OPT_MACHINE, OPT_CHECK };

static const char *goal_of(const char *arg, struct argp_state *state)
{
	if (strcmp(arg, "speed") != 0 && strcmp(arg, "fair") != 0 && strcmp(arg, "simple") != 0)
		argp_error(state, "--goal is speed, fair or simple, not '%s'", arg);
	return arg;
}

static unsigned processors_of(const char *arg, struct argp_state *state)
{
	char *end;
	unsigned long n = strtoul(arg, &end, 10);

	if (*arg < '0' || *arg > '9' || *end != '\0' || n < 1 || n > PROCESSORS_MOST)
		argp_error(state, "--processors must be between 1 and %u, not '%s'", PROCESSORS_MOST, arg);
	return (unsigned)n;
}

/* Words that only one of the two kinds of advice has. */
static void check(const struct input *in, struct argp_state *state)
{
	if (in->o.nfiles != 1)
		argp_error(state, "needs one graph or bench file, or a run's JSON");
	if (in->machine != NULL && in->processors == 0)
		argp_error(state, "--machine needs --processors: how many of them?");
	if (in->check && in->processors == 0)
		argp_error(state, "--check compares what is simulated with what is measured here: it needs --processors");
	if (in->processors != 0 && in->run)
		argp_error(state, "--run measures here, --processors simulates: say one of the two");
	if (in->processors != 0 && strcmp(in->goal, "simple") == 0)
		argp_error(state, "--processors simulates what is fast or fair; what is simple needs no run");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct input *in = state->input;

	switch (key) {
	case ARGP_KEY_ARG: bench_take_word(&in->o, arg, state); return 0;
	case ARGP_KEY_END: check(in, state); return 0;
	case 'j': in->json = true; return 0;
	case 'd':
		(void)bench_take_time("duration", arg, XK_MS, 3600 * XK_SEC, "1ms and 1h", state);
		in->duration = arg;
		return 0;
	case OPT_RUN: in->run = true; return 0;
	case OPT_GOAL: in->goal = goal_of(arg, state); return 0;
	case OPT_VP_RUN: in->o.vp_run = arg; return 0;
	case OPT_PROCESSORS: in->processors = processors_of(arg, state); return 0;
	case OPT_MACHINE: in->machine = arg; return 0;
	case OPT_CHECK: in->check = true; return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static void read_options(struct input *in, int argc, char **argv)
{
	static const struct argp_option opts[] = {
		{ "goal", OPT_GOAL, "speed|fair|simple", 0, "What matters most (default: speed)", 0 },
		{ "run", OPT_RUN, NULL, 0, "Run the two best in turns: which is better, and did the advice hold?", 0 },
		{ "processors", OPT_PROCESSORS, "N", 0, "Simulate each preset on N processors, and say which is best", 0 },
		{ "machine", OPT_MACHINE, "NAME", 0, "What things cost on them (default: flat)", 0 },
		{ "check", OPT_CHECK, NULL, 0, "Simulate and measure each preset on what is here, too: how far is it to be trusted?", 0 },
		{ "duration", 'd', "TIME", 0, "Of each run (default: 500ms; simulated: 2ms)", 0 },
		{ "json", 'j', NULL, 0, "Print JSON (docs/schema/vp-advise-1.json)", 0 },
		{ "vp-run", OPT_VP_RUN, "PROGRAM", 0, "Another vp-run; also the variable VP_RUN", 0 },
		{ 0 }
	};
	static const struct argp argp = { opts, parse, "FILE [k=v ...]\nRUN.json",
		"Measures a graph and says which threading preset the papers' rules recommend for it.", NULL, NULL, NULL };

	*in = (struct input){ .goal = "speed" };
	argp_err_exit_status = BENCH_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, in);
	if (in->duration == NULL)
		in->duration = in->processors != 0 ? "2ms" : "500ms";
}

/* ---- measuring ------------------------------------------------------------------------------ */

/* One run of the file; preset NULL: as it is. */
static json_t *run_once(const struct input *in, const char *preset, bool *stopped, char *why, size_t n)
{
	const char *argv[BENCH_ARGS + 16];
	char duration[64], chosen[64];
	unsigned k = 0;

	snprintf(duration, sizeof duration, "--duration=%s", in->duration);
	argv[k++] = bench_child_program(in->o.vp_run);
	argv[k++] = in->o.file[0];
	for (unsigned i = 0; i < in->o.nargs; i++)
		if (preset == NULL || strncmp(in->o.arg[i], "preset=", 7) != 0)
			argv[k++] = in->o.arg[i];
	if (preset != NULL) {
		snprintf(chosen, sizeof chosen, "preset=%s", preset);
		argv[k++] = chosen;
	}
	argv[k++] = duration;
	argv[k++] = "--warmup=100ms";
	argv[k++] = "--json";
	argv[k++] = "--connections";
	argv[k++] = "--vps";
	argv[k] = NULL;
	bench_child_signals();
	return bench_child_json(argv, 3600 + 120, stopped, why, n);
}

static bool is_record(const char *file)
{
	size_t len = strlen(file);

	return len > 5 && strcmp(file + len - 5, ".json") == 0;
}

/* A run's JSON: read, or measured; NULL, a code and why. */
static json_t *record_of(struct input *in, int *code, char *why, size_t n)
{
	json_error_t bad;
	bool stopped = false;
	json_t *record;

	if (is_record(in->o.file[0])) {
		record = json_load_file(in->o.file[0], 0, &bad);
		if (record == NULL)
			snprintf(why, n, "%s", bad.text);
		*code = record != NULL ? BENCH_OK : BENCH_IO;
		return record;
	}
	*code = advise_from_file(in->o.file[0], in->o.arg, in->o.nargs, &in->file);
	if (*code != BENCH_OK)
		return NULL;
	record = run_once(in, NULL, &stopped, why, n);
	*code = record != NULL ? BENCH_OK : stopped ? BENCH_INTERRUPTED : BENCH_CHILD_FAILED;
	return record;
}

/* The advice on a record, into in->doc. */
static int look(struct input *in, json_t *record, char *why, size_t n)
{
	json_t *here = json_pack("{s:i, s:o}", "processors", advise_processors(), "copied",
				 is_record(in->o.file[0]) ? json_null() : json_boolean(in->file.copies));
	json_t *figures = bench_lua_call("advise", "figures", (json_t *[]){ record, here }, 2, why, n), *args[3];
	int code = BENCH_IO;

	if (*bench_text(figures, "why") != '\0') {
		snprintf(why, n, "%s", bench_text(figures, "why"));
		code = json_is_true(json_object_get(figures, "usage")) ? BENCH_USAGE : BENCH_CHILD_FAILED;
	} else if (figures != NULL) {
		args[0] = json_string(in->o.file[0]);
		args[1] = json_string(in->goal);
		args[2] = json_object_get(figures, "measured");
		in->doc = bench_lua_call("advise", "document", args, 3, why, n);
		code = in->doc != NULL ? BENCH_OK : BENCH_IO;
		json_decref(args[0]);
		json_decref(args[1]);
	}
	json_decref(figures);
	json_decref(here);
	return code;
}

static int measure(struct input *in)
{
	char why[700] = "";
	int code;
	json_t *record = record_of(in, &code, why, sizeof why);

	if (code == BENCH_OK)
		code = look(in, record, why, sizeof why);
	if (code != BENCH_OK && *why != '\0')
		fprintf(stderr, "vp-bench advise: %s: %s\n", in->o.file[0], why);
	json_decref(record);
	return code;
}

/* ---- the two best in turns --------------------------------------------------------------------- */

static json_t *value_of(const struct input *in, json_t *record, char *why, size_t n)
{
	json_t *args[] = { json_string(in->goal), record };
	json_t *v = bench_lua_call("advise", "value", args, 2, why, n);

	json_decref(args[0]);
	return v;
}

/* {v, block} of so many blocks, v not filled yet. */
static json_t *new_series(void)
{
	json_t *block = json_array();

	for (unsigned i = 0; i < BLOCKS; i++)
		json_array_append_new(block, json_integer(i));
	return json_pack("{s:[], s:o}", "v", "block", block);
}

/* series: of the runner-up and of the recommended one; into the advice. */
static int held(struct input *in, json_t *const *series)
{
	json_t *options = json_pack("{s:b, s:b, s:f}", "paired", 1, "lower", 0, "confidence", CONFIDENCE);
	json_t *args[] = { series[0], series[1], options }, *d, *run = NULL;
	char why[400];

	d = bench_lua_call("differ", "series", args, 3, why, sizeof why);
	if (d != NULL)
		run = bench_lua_call("advise", "run", &d, 1, why, sizeof why);
	if (run == NULL)
		fprintf(stderr, "vp-bench advise: %s\n", why);
	else
		json_object_set(in->doc, "run", run);
	json_decref(run);
	json_decref(d);
	json_decref(options);
	return run != NULL ? BENCH_OK : BENCH_IO;
}

static int run_both(struct input *in)
{
	const char *const preset[2] = { bench_text(json_object_get(in->doc, "runner_up"), "preset"),
					bench_text(json_object_get(in->doc, "recommended"), "preset") };
	json_t *series[2] = { new_series(), new_series() };
	bool stopped = false;
	int code = BENCH_OK;
	char why[700];

	for (unsigned i = 0; i < 2 * BLOCKS && code == BENCH_OK; i++) {
		unsigned which = (i / 2 + i) % 2;
		json_t *r = run_once(in, preset[which], &stopped, why, sizeof why);
		json_t *v = r != NULL ? value_of(in, r, why, sizeof why) : NULL;

		if (v == NULL) {
			fprintf(stderr, "vp-bench advise: %s with preset=%s: %s\n", in->o.file[0], preset[which], why);
			code = stopped ? BENCH_INTERRUPTED : BENCH_CHILD_FAILED;
		} else {
			json_array_append_new(json_object_get(series[which], "v"), v);
		}
		json_decref(r);
	}
	if (code == BENCH_OK)
		code = held(in, series);
	json_decref(series[0]);
	json_decref(series[1]);
	return code;
}

/* ---- saying ------------------------------------------------------------------------------------ */

static int say(const struct input *in)
{
	json_t *choice = json_pack("{s:b, s:[]}", "has_preset", in->file.presets != NULL, "words");
	json_t *args[] = { in->doc, choice };
	int code;

	for (unsigned i = 0; i < in->o.nargs; i++)
		json_array_append_new(json_object_get(choice, "words"), json_string(in->o.arg[i]));
	code = in->processors != 0 ? bench_lua_print(stdout, "simulate", "text", args, 1) :
				     bench_lua_print(stdout, "advise", "text", args, 2);
	json_decref(choice);
	return code;
}

static int say_json(const struct input *in)
{
	int bad = json_dumpf(in->doc, stdout, JSON_INDENT(1)) != 0;

	putchar('\n');
	return bad ? BENCH_IO : BENCH_OK;
}

static int no_preset(const char *option)
{
	fprintf(stderr, "vp-bench advise: %s needs a graph file with an argument 'preset' (see graphs/lib/presets.lua)\n", option);
	return BENCH_USAGE;
}

static int simulate(struct input *in)
{
	const struct advise_simulation s = { in->goal, in->machine != NULL ? in->machine : "flat", in->duration, in->processors,
					       in->check };
	int code;

	if (is_record(in->o.file[0]))
		return no_preset("--processors");
	code = advise_from_file(in->o.file[0], in->o.arg, in->o.nargs, &in->file);
	if (code == BENCH_OK && in->file.presets == NULL)
		return no_preset("--processors");
	return code == BENCH_OK ? advise_simulate(&in->o, &s, in->file.presets, &in->doc) : code;
}

int bench_advise_main(int argc, char **argv)
{
	struct input in;
	int code;

	read_options(&in, argc, argv);
	code = in.processors != 0 ? simulate(&in) : measure(&in);
	if (code == BENCH_OK && in.run && in.file.presets == NULL)
		code = no_preset("--run");
	if (code == BENCH_OK && in.run)
		code = run_both(&in);
	if (code == BENCH_OK)
		code = in.json ? say_json(&in) : say(&in);
	json_decref(in.doc);
	json_decref(in.file.presets);
	return code;
}

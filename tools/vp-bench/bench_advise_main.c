/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_advise_main.c - the subcommand advise: which preset for this graph, and why.
 *
 * Measures the graph as it is (or reads a run's JSON), lets the rules look, says what
 * they said.  --run measures the two best in turns, one run each in a block, the order
 * changing from block to block, and asks the statistic of compare whether the advice held.
 * Nothing is ever asked on a terminal: without --run the command is told.
 * Invariant: advice is made before the two are measured, and not changed by it.
 */
#include "tools/vp-bench/bench_advise.h"
#include "tools/vp-bench/bench_lua.h"

#include <argp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOCKS     12u           /* pairs; the signed ranks need 7 for their confidence */
#define CONFIDENCE 0.98

struct input {
	struct bench_options o;
	struct advise_in in;
	struct advise a;
	const char *duration;
	bool        json, run, is_record;
	bool        has_preset;      /* the file has an argument of that name */
	json_t     *d;               /* of best against next (differ.lua) */
	json_t     *record;
};

/* ---- options ------------------------------------------------------------------------------- */

enum { OPT_RUN = 700, OPT_GOAL, OPT_VP_RUN };

static void take_goal(struct input *in, const char *arg, struct argp_state *state)
{
	for (unsigned i = 0; advise_goals[i] != NULL; i++)
		if (strcmp(advise_goals[i], arg) == 0) {
			in->in.goal = (enum advise_goal)i;
			return;
		}
	argp_error(state, "--goal is speed, fair or simple, not '%s'", arg);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct input *in = state->input;

	switch (key) {
	case ARGP_KEY_ARG: bench_take_word(&in->o, arg, state); return 0;
	case ARGP_KEY_END:
		if (in->o.nfiles != 1)
			argp_error(state, "needs one graph or bench file, or a run's JSON");
		return 0;
	case 'j': in->json = true; return 0;
	case 'd':
		(void)bench_take_time("duration", arg, XK_MS, 3600 * XK_SEC, "1ms and 1h", state);
		in->duration = arg;
		return 0;
	case OPT_RUN: in->run = true; return 0;
	case OPT_GOAL: take_goal(in, arg, state); return 0;
	case OPT_VP_RUN: in->o.vp_run = arg; return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static void read_options(struct input *in, int argc, char **argv)
{
	static const struct argp_option opts[] = {
		{ "goal", OPT_GOAL, "speed|fair|simple", 0, "What matters most (default: speed)", 0 },
		{ "run", OPT_RUN, NULL, 0, "Run the two best in turns: which is better, and did the advice hold?", 0 },
		{ "duration", 'd', "TIME", 0, "Of each run (default: 500ms)", 0 },
		{ "json", 'j', NULL, 0, "Print JSON (docs/schema/vp-advise-1.json)", 0 },
		{ "vp-run", OPT_VP_RUN, "PROGRAM", 0, "Another vp-run; also the variable VP_RUN", 0 },
		{ 0 }
	};
	static const struct argp argp = { opts, parse, "FILE [k=v ...]\nRUN.json",
		"Measures a graph and says which threading preset the papers' rules recommend for it.", NULL, NULL, NULL };

	*in = (struct input){ .duration = "500ms", .in.copied = NAN };
	argp_err_exit_status = BENCH_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, in);
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

static int measure(struct input *in)
{
	size_t len = strlen(in->o.file[0]);
	char why[700] = "";
	json_error_t bad;
	bool stopped = false;
	int code;

	in->is_record = len > 5 && strcmp(in->o.file[0] + len - 5, ".json") == 0;
	if (in->is_record) {
		in->record = json_load_file(in->o.file[0], 0, &bad);
		code = in->record != NULL ? BENCH_OK : BENCH_IO;
		snprintf(why, sizeof why, "%s", in->record != NULL ? "" : bad.text);
	} else {
		code = advise_from_file(in->o.file[0], in->o.arg, in->o.nargs, &in->in, &in->has_preset);
		if (code != BENCH_OK)
			return code;
		in->record = run_once(in, NULL, &stopped, why, sizeof why);
		code = in->record != NULL ? BENCH_OK : stopped ? BENCH_INTERRUPTED : BENCH_CHILD_FAILED;
	}
	if (code == BENCH_OK)
		code = advise_from_record(in->record, &in->in, why, sizeof why);
	if (code != BENCH_OK)
		fprintf(stderr, "vp-bench advise: %s: %s\n", in->o.file[0], why);
	return code;
}

/* Messages a second, or for the goal "fair" how even connections were: Jain's index. */
static double value_of(const struct input *in, const json_t *record)
{
	const json_t *list = json_object_get(record, "connections"), *c;
	double *v, index = 0;
	size_t i;

	if (in->in.goal != ADVISE_FAIR)
		return bench_number_of(record, "messages_per_s");
	v = xk_alloc(json_array_size(list) * sizeof *v);
	if (v == NULL)
		return 0;
	json_array_foreach(list, i, c)
		v[i] = bench_number_of(c, "messages");
	index = bench_stat("jain", v, json_array_size(list));
	xk_free(v);
	return index;
}

/* {v, block} of so many blocks, v not filled yet. */
static json_t *new_series(void)
{
	json_t *block = json_array();

	for (unsigned i = 0; i < BLOCKS; i++)
		json_array_append_new(block, json_integer(i));
	return json_pack("{s:[], s:o}", "v", "block", block);
}

static int differ(struct input *in, json_t *next, json_t *best)
{
	json_t *options = json_pack("{s:b, s:b, s:f}", "paired", 1, "lower", 0, "confidence", CONFIDENCE);
	json_t *args[] = { next, best, options };
	char why[400];

	in->d = bench_lua_call("differ", "series", args, 3, why, sizeof why);
	if (in->d == NULL)
		fprintf(stderr, "vp-bench advise: %s\n", why);
	json_decref(options);
	return in->d != NULL ? BENCH_OK : BENCH_IO;
}

static int run_both(struct input *in)
{
	const enum advise_preset side[2] = { in->a.next, in->a.best };
	json_t *series[2] = { new_series(), new_series() };
	bool stopped = false;
	int code = BENCH_OK;
	char why[700];

	for (unsigned i = 0; i < 2 * BLOCKS && code == BENCH_OK; i++) {
		unsigned which = (i / 2 + i) % 2;
		json_t *r = run_once(in, advise_presets[side[which]], &stopped, why, sizeof why);

		if (r == NULL) {
			fprintf(stderr, "vp-bench advise: %s with preset=%s: %s\n", in->o.file[0],
				advise_presets[side[which]], why);
			code = stopped ? BENCH_INTERRUPTED : BENCH_CHILD_FAILED;
		} else {
			json_array_append_new(json_object_get(series[which], "v"), bench_real_json(value_of(in, r)));
		}
		json_decref(r);
	}
	if (code == BENCH_OK)
		code = differ(in, series[0], series[1]);
	json_decref(series[0]);
	json_decref(series[1]);
	return code;
}

/* ---- saying ------------------------------------------------------------------------------------ */

static const char *held(const struct input *in)
{
	const char *verdict = bench_text(in->d, "verdict");

	return strcmp(verdict, "better") == 0 ? "held" : strcmp(verdict, "worse") == 0 ? "did not hold" :
	       strcmp(verdict, "no difference") == 0 ? "no difference shown" : "not measured";
}

static void say_figures(const struct advise_in *i)
{
	printf("measured: %.0f connections, the busiest %.3g times the mean (%.0f %% of all); messages of %.0f bytes;\n"
	       "  %.0f ns of processor time a message, %.0f ns in each layer; %.3g units in callers' threads; payload %s;\n"
	       "  %.0f processors here; goal: %s\n\n", i->conns, i->skew, 100 * i->top, i->bytes, i->ns, i->layer_ns, i->called,
	       isnan(i->copied) ? "copied or not is not known" : i->copied > 0 ? "copied" : "not copied", i->cpus,
	       advise_goals[i->goal]);
}

static void say_rules(const struct advise *a)
{
	for (unsigned i = 0; i < a->nrules; i++) {
		const struct advise_rule *r = &a->rule[i];

		printf("%-16s%s\n  %s: %s\n  input: %s\n", r->name, r->spoke ? "spoke" : "silent", r->cite, r->says, r->input);
		for (unsigned p = 0; r->spoke && p < ADVISE_PRESETS; p++)
			if (r->points[p] != 0)
				printf("  %s %+d", advise_presets[p], r->points[p]);
		fputs(r->spoke ? "\n" : "", stdout);
	}
}

static void say_run(const struct input *in)
{
	const char *best = advise_presets[in->a.best], *next = advise_presets[in->a.next];

	if (in->run)
		printf("measured in turns, %u pairs: %s %.4g, %s %.4g; ratio %.3g [%.3g, %.3g]: the advice %s%s\n", BLOCKS, best,
		       bench_real(in->d, "mean_b"), next, bench_real(in->d, "mean_a"), bench_real(in->d, "mid"),
		       bench_real(in->d, "lo"), bench_real(in->d, "hi"),
		       strcmp(bench_text(in->d, "verdict"), "no difference") == 0 ? "is not contradicted: " : "", held(in));
	else if (!in->has_preset)
		printf("to run these two, give the file an argument 'preset' (graphs/lib/presets.lua) and say --run\n");
	if (in->run || !in->has_preset)
		return;
	printf("to run these two in turns: vp-bench advise --run %s%s%s%s", in->in.goal != ADVISE_SPEED ? "--goal " : "",
	       in->in.goal != ADVISE_SPEED ? advise_goals[in->in.goal] : "", in->in.goal != ADVISE_SPEED ? " " : "",
	       in->o.file[0]);
	for (unsigned i = 0; i < in->o.nargs; i++)
		printf(" %s", in->o.arg[i]);
	putchar('\n');
}

static void say(const struct input *in)
{
	const struct advise *a = &in->a;

	say_figures(&in->in);
	say_rules(a);
	printf("\nrecommended: %s (%+d)   %s\nrunner-up:   %s (%+d)   %s\n", advise_presets[a->best], a->points[a->best], a->line[0],
	       advise_presets[a->next], a->points[a->next], a->line[1]);
	if (*a->conflict)
		printf("conflict: %s\n", a->conflict);
	say_run(in);
}

static json_t *rules_json(const struct advise *a)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < a->nrules; i++) {
		const struct advise_rule *r = &a->rule[i];
		json_t *points = json_object();

		for (unsigned p = 0; p < ADVISE_PRESETS; p++)
			if (r->spoke && r->points[p] != 0)
				json_object_set_new(points, advise_presets[p], json_integer(r->points[p]));
		json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s, s:b, s:o}", "name", r->name, "cite", r->cite, "says",
						      r->says, "input", r->input, "spoke", r->spoke, "points", points));
	}
	return list;
}

static json_t *choice_json(const struct advise *a, bool next)
{
	enum advise_preset p = next ? a->next : a->best;

	return json_pack("{s:s, s:i, s:s}", "preset", advise_presets[p], "points", a->points[p], "threading", a->line[next]);
}

static json_t *run_json(const struct input *in)
{
	if (!in->run)
		return json_null();
	return json_pack("{s:i, s:o, s:o, s:o, s:o, s:o, s:s}", "pairs", (int)BLOCKS, "recommended",
			 bench_real_json(bench_real(in->d, "mean_b")), "runner_up", bench_real_json(bench_real(in->d, "mean_a")),
			 "ratio", bench_real_json(bench_real(in->d, "mid")), "lo", bench_real_json(bench_real(in->d, "lo")), "hi",
			 bench_real_json(bench_real(in->d, "hi")), "advice", held(in));
}

static int say_json(const struct input *in)
{
	const struct advise_in *i = &in->in;
	json_t *measured = json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:o, s:b}", "processors", i->cpus, "connections",
				     i->conns, "busiest_share", i->top, "skew", i->skew, "message_bytes", i->bytes,
				     "ns_per_message", i->ns, "ns_per_layer", i->layer_ns, "called_per_message", i->called,
				     "copied", isnan(i->copied) ? json_null() : json_boolean(i->copied > 0), "presentation",
				     i->xdr > 0);
	json_t *doc = json_pack("{s:i, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:s, s:o}", "schema", 1, "tool", "vp-bench advise", "file",
				in->o.file[0], "goal", advise_goals[i->goal], "measured", measured, "rules", rules_json(&in->a),
				"recommended", choice_json(&in->a, false), "runner_up", choice_json(&in->a, true), "conflict",
				in->a.conflict, "run", run_json(in));
	int bad = doc == NULL || json_dumpf(doc, stdout, JSON_INDENT(1)) != 0;

	putchar('\n');
	json_decref(doc);
	return bad ? BENCH_IO : BENCH_OK;
}

int bench_advise_main(int argc, char **argv)
{
	struct input in;
	int code;

	read_options(&in, argc, argv);
	code = measure(&in);
	if (code == BENCH_OK)
		advise(&in.a, &in.in);
	if (code == BENCH_OK && in.run && !in.has_preset) {
		fprintf(stderr, "vp-bench advise: --run needs a graph file with an argument 'preset' (see graphs/lib/presets.lua)\n");
		code = BENCH_USAGE;
	}
	if (code == BENCH_OK && in.run)
		code = run_both(&in);
	if (code == BENCH_OK && in.json)
		code = say_json(&in);
	else if (code == BENCH_OK)
		say(&in);
	json_decref(in.record);
	json_decref(in.d);
	return code;
}

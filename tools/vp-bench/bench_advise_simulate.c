/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_advise_simulate.c - advise for a machine that is not here: each preset that the file offers
 * is run on simulated processors, and the best is said (simulate.lua).
 *
 * The real graph runs, its workers on processors whose time is simulated and charged by the machine's
 * ledger (docs/threading.md); the same seed gives the same result, so what differs between runs is
 * the seed.  A preset that cannot be simulated is told with the reason, and is no error while others can.
 */
#include "tools/vp-bench/bench_advise.h"
#include "tools/vp-bench/bench_lua.h"

#include <string.h>

#define SEEDS 5u

static json_t *run_one(const struct bench_options *o, const struct advise_simulation *s, const char *preset, unsigned seed,
		       bool *stopped, char *why, size_t n)
{
	char processors[32], machine[300], chosen[80], seeded[32], duration[64];
	const char *argv[BENCH_ARGS + 16];
	unsigned k = 0;

	snprintf(processors, sizeof processors, "--processors=%u", s->processors);
	snprintf(machine, sizeof machine, "--machine=%s", s->machine);
	snprintf(chosen, sizeof chosen, "preset=%s", preset);
	snprintf(seeded, sizeof seeded, "--seed=%u", seed);
	snprintf(duration, sizeof duration, "--duration=%s", s->duration);
	argv[k++] = bench_child_program(o->vp_run);
	argv[k++] = o->file[0];
	for (unsigned i = 0; i < o->nargs; i++)
		if (strncmp(o->arg[i], "preset=", 7) != 0)
			argv[k++] = o->arg[i];
	argv[k++] = chosen;
	argv[k++] = "--virtual";
	argv[k++] = processors;
	argv[k++] = machine;
	argv[k++] = seeded;
	argv[k++] = duration;
	argv[k++] = "--warmup=1ms";
	argv[k++] = "--json";
	argv[k++] = "--connections";
	argv[k] = NULL;
	bench_child_signals();
	return bench_child_json(argv, 3600, stopped, why, n);
}

/* How good a run was; NULL and why. */
static json_t *value_of(const char *goal, json_t *run, char *why, size_t n)
{
	json_t *args[] = { json_string(goal), run }, *v = NULL;

	if (json_integer_value(json_object_get(run, "messages")) == 0)
		snprintf(why, n, "no message passed");
	else
		v = bench_lua_call("advise", "value", args, 2, why, n);
	json_decref(args[0]);
	return v;
}

/* {preset, v, why}: of all seeds, or why not. */
static json_t *row_of(const struct bench_options *o, const struct advise_simulation *s, const char *preset, bool *stopped)
{
	json_t *v = json_array();
	char why[700] = "";

	for (unsigned seed = 1; seed <= SEEDS && *why == '\0' && !*stopped; seed++) {
		json_t *run = run_one(o, s, preset, seed, stopped, why, sizeof why);
		json_t *value = run != NULL ? value_of(s->goal, run, why, sizeof why) : NULL;

		if (value != NULL)
			json_array_append_new(v, value);
		json_decref(run);
	}
	return json_pack("{s:s, s:o, s:s}", "preset", preset, "v", v, "why", why);
}

/* Why none could be: the first one's reason. */
static int none(const struct bench_options *o, json_t *rows)
{
	fprintf(stderr, "vp-bench advise: %s: no preset can be simulated: %s: %s\n", o->file[0],
		bench_text(json_array_get(rows, 0), "preset"), bench_text(json_array_get(rows, 0), "why"));
	return BENCH_CHILD_FAILED;
}

int advise_simulate(const struct bench_options *o, const struct advise_simulation *s, json_t *presets, json_t **doc)
{
	json_t *facts = json_pack("{s:s, s:s, s:s, s:i, s:s, s:i}", "file", o->file[0], "goal", s->goal, "machine", s->machine,
				  "processors", (int)s->processors, "duration", s->duration, "seeds", (int)SEEDS);
	json_t *rows = json_array(), *args[] = { facts, rows };
	bool stopped = false;
	int code = BENCH_OK;
	char why[400];

	for (size_t i = 0; i < json_array_size(presets) && !stopped; i++)
		json_array_append_new(rows, row_of(o, s, json_string_value(json_array_get(presets, i)), &stopped));
	*doc = stopped ? NULL : bench_lua_call("simulate", "document", args, 2, why, sizeof why);
	if (stopped)
		code = BENCH_INTERRUPTED;
	else if (*doc == NULL)
		code = BENCH_IO;
	else if (json_is_null(json_object_get(*doc, "recommended")))
		code = none(o, rows);
	if (code == BENCH_IO)
		fprintf(stderr, "vp-bench advise: %s\n", why);
	json_decref(facts);
	json_decref(rows);
	return code;
}

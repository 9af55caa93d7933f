/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_calibrate.c - the subcommand calibrate: what a model of this machine needs,
 * as one JSON after docs/schema/vp-calibrate-2.json.
 *
 * The primitives of micro, the fastest of several rounds of copies of each size, since what
 * disturbs a copy only adds, and for each threading architecture of graphs/udp-presets.lua
 * what a message costs in several runs in turns, each a process.  What follows from these is
 * said by calibrate.lua.
 * Invariant: what could not be measured here is null, never a guess.
 */
#include "tools/vp-bench/bench_calibrate.h"

#include <argp.h>
#include <math.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/xk_clock.h"
#include "runtime/base/xk_param_value.h"
#include "runtime/compose/xk_home.h"
#include "tools/vp-bench/bench_lua.h"

#define PRESETS 32u
#define ROUNDS  9u
#define BYTES   (1u << 20)      /* copied for one measurement */

/* ---- copies ---------------------------------------------------------------------------- */

static const unsigned sizes[] = { 64, 256, 512, 1024, 2048, 4096, 8192, 16384 };
#define NSIZES XK_ARRAY_LEN(sizes)

/* ns of a copy of size bytes that the first cache holds. */
static double copy_ns(char *to, const char *from, unsigned size)
{
	unsigned times = BYTES / size;
	xk_ns start = xk_clock_host();

	for (unsigned i = 0; i < times; i++) {
		memcpy(to, from, size);
		__asm__ volatile("" ::: "memory");
	}
	return (double)(xk_clock_host() - start) / times;
}

/* {bytes, ns}: the fastest copies of each size; null without memory. */
static json_t *copies(void)
{
	char *mem = calloc(2, sizes[NSIZES - 1]);
	json_t *bytes, *ns;

	if (mem == NULL)
		return json_null();
	bytes = json_array();
	ns = json_array();
	for (unsigned i = 0; i < NSIZES; i++) {
		double least = INFINITY;

		for (unsigned k = 0; k < ROUNDS; k++)
			least = fmin(least, copy_ns(mem, mem + sizes[NSIZES - 1], sizes[i]));
		json_array_append_new(bytes, json_integer(sizes[i]));
		json_array_append_new(ns, json_real(least));
	}
	free(mem);
	return json_pack("{s:o, s:o}", "bytes", bytes, "ns", ns);
}

/* ---- architectures ------------------------------------------------------------------------ */

static const char *graph_file(void)
{
	static char path[PATH_MAX];

	xk_near_graphs("udp-presets.lua", path, sizeof path);
	return path;
}

/* The names that the graph's argument `preset` knows. */
static unsigned preset_names(struct xk_spec *s, const char **name)
{
	unsigned n, found = 0;
	const struct xk_arg *a = xk_spec_args(s, &n);

	for (unsigned i = 0; i < n; i++)
		if (strcmp(a[i].p.name, "preset") == 0)
			for (const char *const *c = a[i].p.choices; c != NULL && *c != NULL && found < PRESETS; c++)
				name[found++] = *c;
	return found;
}

static double run_preset(struct calibrate *c, const char *name, unsigned seed, char *why, size_t n)
{
	char preset[80], duration[40], warmup[40], number[40];
	const char *argv[] = { bench_child_program(c->vp_run), graph_file(), preset, "count=0", "size=64", "--json", duration,
			       warmup, number, NULL };
	json_t *j;
	double ns;

	snprintf(preset, sizeof preset, "preset=%s", name);
	snprintf(duration, sizeof duration, "--duration=%lluns", (unsigned long long)c->duration);
	snprintf(warmup, sizeof warmup, "--warmup=%lluns", (unsigned long long)c->duration / 4);
	snprintf(number, sizeof number, "--seed=%u", seed);
	j = bench_child_json(argv, 4 * (double)c->duration / 1e9 + 60, &c->interrupted, why, n);
	ns = bench_real(j, "messages") > 0 ? bench_real(j, "measured_ns") / bench_real(j, "messages") : NAN;
	if (j != NULL && isnan(ns))
		snprintf(why, n, "not one message passed");
	json_decref(j);
	return ns;
}

/* {name, ns, why} of each: what a message cost in the runs that passed any, and why the last did not. */
static json_t *run_presets(struct calibrate *c, const char *const *name, unsigned n)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < n; i++)
		json_array_append_new(list, json_pack("{s:s, s:[], s:s}", "name", name[i], "ns", "why", ""));
	for (unsigned k = 0; k < c->runs && !c->interrupted; k++)
		for (unsigned i = 0; i < n && !c->interrupted; i++) {
			json_t *p = json_array_get(list, i);
			char why[300] = "";
			double ns = run_preset(c, name[i], k + 1, why, sizeof why);

			if (isnan(ns))
				json_object_set_new(p, "why", json_string(why));
			else
				json_array_append_new(json_object_get(p, "ns"), json_real(ns));
		}
	return list;
}

static json_t *all_presets(struct calibrate *c)
{
	struct xk_errs *e = xk_errs_new();
	struct xk_spec *s = NULL;
	struct xk_compose_opts opts = { .nargs = 0 };
	const char *name[PRESETS];
	unsigned n = 0;
	json_t *list;

	if (xk_spec_load(&s, graph_file(), &opts, e) == XK_OK)
		n = preset_names(s, name);
	else
		xk_spec_print_errors(stderr, s, e, NULL);
	list = run_presets(c, name, n);
	xk_spec_free(s);
	xk_errs_free(e);
	return list;
}

/* ---- the document --------------------------------------------------------------------------- */

static json_t *document(struct calibrate *c, json_t *rows)
{
	json_t *args[] = { json_string(BENCH_VERSION), json_pack("{s:o, s:o, s:o, s:o}", "environment", bench_env(), "copies",
			   copies(), "presets", all_presets(c), "micro", rows) };
	char why[400];
	json_t *doc = bench_lua_call("calibrate", "document", args, 2, why, sizeof why);

	if (doc == NULL)
		fprintf(stderr, "vp-bench calibrate: %s\n", why);
	json_decref(args[0]);
	json_decref(args[1]);
	return doc;
}

static int calibrate(struct calibrate *c)
{
	json_t *rows = bench_micro_rows(2 * c->runs - 1), *doc;
	char why[4400];
	int code = BENCH_OK;

	if (rows == NULL) {
		fprintf(stderr, "vp-bench: out of memory\n");
		return BENCH_IO;
	}
	doc = document(c, rows);
	if (c->interrupted) {
		code = BENCH_INTERRUPTED;
	} else if (doc == NULL) {
		code = BENCH_IO;
	} else if (c->out == NULL) {
		json_dumpf(doc, stdout, JSON_INDENT(1));
		putchar('\n');
	} else if (bench_doc_save(doc, c->out, why, sizeof why) != BENCH_OK) {
		fprintf(stderr, "vp-bench calibrate: cannot write %s\n", why);
		code = BENCH_IO;
	}
	json_decref(doc);
	return code;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	static const struct xk_param time = { .name = "duration", .type = XK_P_TIME, .min = "1ms", .max = "1h" };
	struct calibrate *c = state->input;
	union xk_pval v;
	char why[300], *end;
	long n;

	switch (key) {
	case 'o': c->out = arg; return 0;
	case 'd':
		if (xk_param_parse(&time, arg, false, &v, why, sizeof why) != XK_OK)
			argp_error(state, "--duration %s", why);
		c->duration = v.u;
		return 0;
	case 'r':
		n = strtol(arg, &end, 10);
		if (end == arg || *end != '\0' || n < 1 || n > (long)ROUNDS)
			argp_error(state, "--runs is 1 to %u, not '%s'", ROUNDS, arg);
		c->runs = (unsigned)n;
		return 0;
	case 'p': c->vp_run = arg; return 0;
	case 'a': c->is_affinity = true; return 0;
	case 't': c->needs_it = "time"; break;
	case 'w': c->needs_it = "walk"; break;
	case 'P': c->needs_it = "precision"; break;
	case ARGP_KEY_END:
		if (c->needs_it != NULL && !c->is_affinity)
			argp_error(state, "--%s is of --affinity", c->needs_it);
		return 0;
	case ARGP_KEY_ARG: argp_error(state, "needs no argument, got '%s'", arg); return 0;
	default: break;
	}
	return bench_affinity_option(key, arg, &c->affinity, state) ? 0 : ARGP_ERR_UNKNOWN;
}

/* argv[0] is the program and the subcommand. */
static void keep_command(struct calibrate *c, int argc, char **argv)
{
	size_t n = 0;

	for (int i = 0; i < argc && n < sizeof c->command; i++)
		n += (size_t)snprintf(c->command + n, sizeof c->command - n, "%s%s", i > 0 ? " " : "", argv[i]);
}

int bench_calibrate_main(int argc, char **argv)
{
	static const struct argp_option opts[] = {
		{ "output", 'o', "FILE", 0, "Write there instead of stdout", 0 },
		{ "duration", 'd', "TIME", 0, "Of a run of an architecture (default 500ms)", 0 },
		{ "runs", 'r', "N", 0, "Runs of each architecture (default 5)", 0 },
		{ "vp-run", 'p', "PROGRAM", 0, "The vp-run to use (default: the one beside this program)", 0 },
		{ "affinity", 'a', NULL, 0, "A machine file for vp-sim and vp-run --machine instead: what a message costs by what "
		  "is cached, and what the nodes of UDP and TCP graphs cost", 0 },
		{ "time", 't', "TIME", 0, "With --affinity: as of vp-bench affinity", 0 },
		{ "precision", 'P', "PERCENT", 0, "The same", 0 },
		{ "walk", 'w', "SIZE", 0, "The same", 0 },
		{ 0 }
	};
	static const struct argp argp = { .options = opts, .parser = parse,
		.doc = "What models and advice need to know of this machine, as JSON or as a machine file." };
	struct calibrate c = { .runs = 5, .duration = 500 * XK_MS, .affinity = BENCH_AFFINITY_DEFAULTS };

	argp_err_exit_status = BENCH_USAGE;
	c.affinity.interrupted = &c.interrupted;
	keep_command(&c, argc, argv);
	argp_parse(&argp, argc, argv, 0, NULL, &c);
	bench_child_signals();
	return c.is_affinity ? calibrate_affinity(&c) : calibrate(&c);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_calibrate.c - the subcommand calibrate: what a model of this machine needs,
 * as one JSON after docs/schema/vp-calibrate-1.json.
 *
 * The primitives of micro, the line of a copy's cost over its length (least squares on
 * the fastest of several rounds, since what disturbs a copy only adds), and for each
 * threading architecture of graphs/udp-presets.lua what a message costs: median of
 * several runs in turns, each a process.  Numbers that models use have a key of their
 * own under "model", so that nobody has to know the rows' names.
 * Invariant: what could not be measured here is null, never a guess.
 */
#include "tools/vp-bench/bench.h"

#include <argp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/xk_clock.h"
#include "runtime/base/xk_param_value.h"
#include "tools/vp-bench/bench_lua.h"

#define PRESETS 32u
#define ROUNDS  9u
#define BYTES   (1u << 20)      /* copied for one measurement */

struct calibrate {
	const char *out, *vp_run;
	unsigned    runs;
	xk_ns       duration;
	bool        interrupted;
};

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

/* ns = fixed + per_byte * bytes; NULL without memory. */
static json_t *copy_line(void)
{
	json_t *args[] = { json_array(), json_array() }, *line = NULL, *copy = NULL;
	char *mem = calloc(2, sizes[NSIZES - 1]), why[400];

	for (unsigned i = 0; mem != NULL && i < NSIZES; i++) {
		double least = INFINITY;

		for (unsigned k = 0; k < ROUNDS; k++)
			least = fmin(least, copy_ns(mem, mem + sizes[NSIZES - 1], sizes[i]));
		json_array_append_new(args[0], json_integer(sizes[i]));
		json_array_append_new(args[1], json_real(least));
	}
	free(mem);
	if (mem != NULL)
		line = bench_lua_call("stats", "line", args, 2, why, sizeof why);
	if (line != NULL)
		copy = json_pack("{s:O, s:O}", "fixed_ns", json_object_get(line, "fixed"), "per_byte_ns",
				 json_object_get(line, "slope"));
	json_decref(line);
	json_decref(args[0]);
	json_decref(args[1]);
	return copy;
}

/* ---- architectures ------------------------------------------------------------------------ */

static const char *graph_file(void)
{
	static const char here[] = "graphs/udp-presets.lua";

	return access(here, R_OK) == 0 ? here : BENCH_GRAPHS "/../udp-presets.lua";
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

static json_t *preset_json(const char *name, const double *v, unsigned n, const char *why)
{
	json_t *o = json_pack("{s:s, s:i}", "name", name, "runs", (int)n);

	json_object_set_new(o, "message_ns", n ? json_real(bench_stat("median", v, n)) : json_null());
	json_object_set_new(o, "lowest_ns", n ? json_real(bench_stat("least", v, n)) : json_null());
	json_object_set_new(o, "highest_ns", n ? json_real(bench_stat("most", v, n)) : json_null());
	if (n == 0)
		json_object_set_new(o, "why", json_string(why));
	return o;
}

static json_t *all_presets(struct calibrate *c)
{
	struct xk_errs *e = xk_errs_new();
	struct xk_spec *s = NULL;
	struct xk_compose_opts opts = { .nargs = 0 };
	const char *name[PRESETS];
	char why[PRESETS][300] = { "" };
	double v[PRESETS][ROUNDS];
	unsigned got[PRESETS] = { 0 }, n = 0;
	json_t *list = json_array();

	if (xk_spec_load(&s, graph_file(), &opts, e) == XK_OK)
		n = preset_names(s, name);
	else
		xk_spec_print_errors(stderr, s, e, NULL);
	for (unsigned k = 0; k < c->runs && !c->interrupted; k++)
		for (unsigned i = 0; i < n && !c->interrupted; i++) {
			double ns = run_preset(c, name[i], k + 1, why[i], sizeof why[i]);

			if (!isnan(ns))
				v[i][got[i]++] = ns;
		}
	for (unsigned i = 0; i < n; i++)
		json_array_append_new(list, preset_json(name[i], v[i], got[i], why[i]));
	xk_spec_free(s);
	xk_errs_free(e);
	return list;
}

/* ---- the document --------------------------------------------------------------------------- */

/* The median of a row of micro. */
static json_t *row(const json_t *rows, const char *name)
{
	const json_t *r;
	size_t i;

	json_array_foreach(rows, i, r)
		if (strcmp(bench_text(r, "name"), name) == 0)
			return json_incref(json_object_get(r, "median"));
	return json_null();
}

static json_t *model(const json_t *rows, json_t *copy)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
		"lock_local_ns", row(rows, "lock adaptive, free"), "lock_recorded_ns", row(rows, "lock mutex, free, with its record"),
		"lock_bounced_ns", row(rows, "lock spin, two want it"), "hand_off_ns", row(rows, "hand-over to one that spins"),
		"wake_up_ns", row(rows, "hand-over to one that sleeps"), "switch_ns", row(rows, "hand-over and switch on one processor"),
		"clock_ns", row(rows, "reading the clock"), "copy", copy ? copy : json_null());
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
	doc = json_pack("{s:i, s:s, s:s, s:o, s:o, s:o, s:o}", "schema", 1, "tool", "vp-bench calibrate", "version", BENCH_VERSION,
			"environment", bench_env(), "model", model(rows, copy_line()), "presets", all_presets(c), "micro", rows);
	if (c->interrupted) {
		code = BENCH_INTERRUPTED;
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
	case ARGP_KEY_ARG: argp_error(state, "needs no argument, got '%s'", arg); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

int bench_calibrate_main(int argc, char **argv)
{
	static const struct argp_option opts[] = {
		{ "output", 'o', "FILE", 0, "Write there instead of stdout", 0 },
		{ "duration", 'd', "TIME", 0, "Of a run of an architecture (default 500ms)", 0 },
		{ "runs", 'r', "N", 0, "Runs of each architecture (default 5)", 0 },
		{ "vp-run", 'p', "PROGRAM", 0, "The vp-run to use (default: the one beside this program)", 0 },
		{ 0 }
	};
	static const struct argp argp = { .options = opts, .parser = parse,
		.doc = "What models and advice need to know of this machine, as JSON." };
	struct calibrate c = { .runs = 5, .duration = 500 * XK_MS };

	argp_err_exit_status = BENCH_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &c);
	bench_child_signals();
	return calibrate(&c);
}

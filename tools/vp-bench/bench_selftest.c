/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_selftest.c - the subcommand selftest: does the referee tell a difference where
 * there is one, and none where there is none, on this machine as it is now?
 *
 * Three sides run in turns, block by block, shuffled: the graph, the same graph, and
 * the graph with a slow-down planted through its argument `burn`: all burn some turns,
 * the third more of them.  How much one turn costs is measured first.  So many blocks are
 * a trial; selftest.lua compares the first side with the other two in each and judges.
 * Invariant: no run belongs to two trials.
 */
#include "tools/vp-bench/bench.h"

#include <argp.h>
#include <math.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/xk_rand.h"
#include "runtime/compose/xk_home.h"
#include "tools/vp-bench/bench_lua.h"

#define TRIALS_MOST 1000u
#define RUNS_MOST   200u
#define RETRIES     2u
#define PILOTS      5u
#define TURNS       2000u       /* of a pilot run */
#define ALWAYS      200u        /* of every run: the first few pass while the message's lines are waited for */

enum { PLAIN, SAME, PLANTED, SIDES };

struct selftest {
	struct bench_options o;
	struct bench         b;
	unsigned    trials, runs, burn;
	double      planted;                 /* percent that was asked for */
	json_t     *cost, *trials_done;      /* of a turn; values of each trial by side */
	bool        json, interrupted;
	struct bench_progress bar;
};

/* ---- one run ------------------------------------------------------------------------- */

static int run_once(struct selftest *c, unsigned burn, uint64_t seed, double *v)
{
	char why[600] = "", arg[40];
	struct bench b = c->b;
	struct bench_child k = { .program = bench_child_program(c->o.vp_run), .b = &b, .p = &b.point[0], .duration = b.duration,
				 .warmup = b.warmup, .timeout = bench_timeout(&c->o, &b), .seed = seed };
	json_t *child, *m = NULL;

	snprintf(arg, sizeof arg, "burn=%u", burn);
	b.arg[b.narg++] = arg;
	child = bench_child_run(&k, &c->interrupted, why, sizeof why);
	if (child != NULL)
		m = bench_run_metrics(&b, child, why, sizeof why);
	*v = bench_real(m, b.metric->name);
	json_decref(child);
	json_decref(m);
	if (c->interrupted)
		return BENCH_INTERRUPTED;
	if (isnan(*v))
		fprintf(stderr, "vp-bench selftest: %s: %s\n", b.file, *why ? why : "the metric has no value");
	return isnan(*v) ? BENCH_CHILD_FAILED : BENCH_OK;
}

/* A short run on a busy machine may not have had a processor at all: told, and done again. */
static int run(struct selftest *c, unsigned burn, uint64_t seed, double *v)
{
	int code = run_once(c, burn, seed, v);

	for (unsigned i = 0; i < RETRIES && code == BENCH_CHILD_FAILED; i++)
		code = run_once(c, burn, seed, v);
	return code;
}

/* What a turn costs, and so how many make the share that is asked for. */
static int pilot(struct selftest *c)
{
	json_t *args[] = { json_array(), json_array(), json_integer(TURNS), json_real(c->planted) };
	char why[400] = "it says nothing";
	int code = BENCH_OK;
	double v;

	for (unsigned i = 0; i < PILOTS; i++)
		for (unsigned k = 0; k < 2 && code == BENCH_OK; k++) {
			code = run(c, ALWAYS + k * TURNS, i + 1, &v);
			json_array_append_new(args[k], bench_real_json(v));
		}
	if (code == BENCH_OK) {
		c->cost = bench_lua_call("selftest", "pilot", args, 4, why, sizeof why);
		c->burn = (unsigned)bench_number_of(c->cost, "burn");
	}
	for (unsigned i = 0; i < XK_ARRAY_LEN(args); i++)
		json_decref(args[i]);
	if (code != BENCH_OK || c->burn != 0)
		return code;
	if (c->cost == NULL)
		fprintf(stderr, "vp-bench selftest: %s\n", why);
	else
		fprintf(stderr, "vp-bench selftest: %u turns of burn cost nothing in %s: the machine is too busy, or the graph "
			"does not use its burn\n", TURNS, c->b.file);
	return BENCH_CHILD_FAILED;
}

/* ---- trials --------------------------------------------------------------------------- */

static void shuffle(unsigned *v, struct xk_rand *r)
{
	for (unsigned i = SIDES; i > 1; i--) {
		unsigned k = (unsigned)xk_rand_below(r, i), t = v[i - 1];

		v[i - 1] = v[k];
		v[k] = t;
	}
}

static const char *const side_names[SIDES] = { "plain", "same", "planted" };

/* A run of each side, in any order; its value goes to the side's list in t. */
static int block(struct selftest *c, unsigned no, json_t *t)
{
	unsigned order[SIDES] = { PLAIN, SAME, PLANTED };
	struct xk_rand r;
	int code = BENCH_OK;
	double v;

	xk_rand_init(&r, c->b.seed, no);
	shuffle(order, &r);
	for (unsigned i = 0; i < SIDES && code == BENCH_OK; i++) {
		code = run(c, ALWAYS + (order[i] == PLANTED ? c->burn : 0), c->b.seed * 1000003 + no, &v);
		json_array_append_new(json_object_get(t, side_names[order[i]]), bench_real_json(v));
		bench_progress_step(&c->bar, order[i] == PLANTED ? "planted" : "plain");
	}
	return code;
}

static int trial(struct selftest *c, unsigned no)
{
	json_t *t = json_object();
	int code = BENCH_OK;

	for (unsigned k = 0; k < SIDES; k++)
		json_object_set_new(t, side_names[k], json_array());
	for (unsigned i = 0; i < c->runs && code == BENCH_OK; i++)
		code = block(c, no * c->runs + i, t);
	json_array_append_new(c->trials_done, t);
	return code;
}

static int all_trials(struct selftest *c)
{
	double one = (double)(c->b.duration + c->b.warmup) / 1e9 + 0.15;
	unsigned total = c->trials * c->runs * SIDES;
	int code = BENCH_OK;

	bench_progress_begin(&c->bar, "selftest", total, one * total);
	for (unsigned i = 0; i < c->trials && code == BENCH_OK; i++)
		code = trial(c, i);
	bench_progress_end(&c->bar);
	return code;
}

/* ---- what came of it --------------------------------------------------------------------- */

static int print(struct selftest *c)
{
	const struct bench_metric *m = c->b.metric;
	json_t *about = json_pack("{s:s, s:s, s:s, s:s, s:b, s:f}", "file", c->b.file, "name", c->b.name, "metric", m->name,
				  "unit", m->unit, "lower", m->lower, "seconds", (double)c->b.duration / 1e9);
	json_t *args[] = { about, c->cost, c->trials_done }, *answer;
	char why[400];
	int code = BENCH_OK;
	bool pass;

	answer = bench_lua_call("selftest", "judge", args, 3, why, sizeof why);
	pass = json_is_true(json_object_get(json_object_get(answer, "same"), "pass")) &&
	       json_is_true(json_object_get(json_object_get(answer, "planted"), "pass"));
	if (answer == NULL) {
		fprintf(stderr, "vp-bench selftest: %s\n", why);
		code = BENCH_IO;
	} else if (c->json) {
		json_dumpf(answer, stdout, JSON_INDENT(1));
		putchar('\n');
	} else {
		code = bench_lua_print(stdout, "selftest", "text", (json_t *[]){ about, answer }, 2);
	}
	json_decref(answer);
	json_decref(about);
	return code != BENCH_OK ? code : pass ? BENCH_OK : BENCH_SHAPE_FAILED;
}

/* ---- options -------------------------------------------------------------------------------- */

enum { OPT_TRIALS = 512, OPT_PLANT, OPT_JSON };

static unsigned whole(const char *arg, const char *name, unsigned least, unsigned most, struct argp_state *state)
{
	char *end;
	long n = strtol(arg, &end, 10);

	if (end == arg || *end != '\0' || n < (long)least || n > (long)most)
		argp_error(state, "--%s is %u to %u, not '%s'", name, least, most, arg);
	return (unsigned)n;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct selftest *c = state->input;
	char *end;

	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = &c->o; return 0;
	case OPT_TRIALS: c->trials = whole(arg, "trials", 1, TRIALS_MOST, state); return 0;
	case OPT_JSON: c->json = true; return 0;
	case OPT_PLANT:
		c->planted = strtod(arg, &end);
		if (end == arg || strcmp(end, *end == '%' ? "%" : "") != 0 || !(c->planted >= 0.1 && c->planted <= 1000))
			argp_error(state, "--plant is 0.1%% to 1000%%, not '%s'", arg);
		return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const char *graph_file(const struct selftest *c)
{
	static char path[PATH_MAX];

	if (c->o.nfiles == 1)
		return c->o.file[0];
	xk_near_graphs("bench/selftest.lua", path, sizeof path);
	return path;
}

static int check(struct selftest *c)
{
	unsigned n;
	const struct xk_arg *a = xk_spec_args(c->b.spec, &n);
	bool found = false;

	for (unsigned i = 0; i < n; i++)
		found |= strcmp(a[i].p.name, "burn") == 0;
	if (!found || c->b.npoints != 1 || c->b.narg >= BENCH_ARGS) {
		fprintf(stderr, "vp-bench selftest: %s needs an argument burn that wastes time on each message, and one point "
			"(it has %u: keep one with k=v)\n", c->b.file, c->b.npoints);
		return BENCH_USAGE;
	}
	if (c->b.min_runs > RUNS_MOST) {
		fprintf(stderr, "vp-bench selftest: at most %u runs of a side and trial\n", RUNS_MOST);
		return BENCH_USAGE;
	}
	c->runs = (unsigned)c->b.min_runs;
	return BENCH_OK;
}

static int load(struct selftest *c)
{
	int code = bench_load(&c->b, graph_file(c), c->o.arg, c->o.nargs);

	if (code == BENCH_OK)
		code = bench_apply(&c->o, &c->b);
	if (c->b.e != NULL && xk_errs_count(c->b.e) != 0)
		bench_print_errors(&c->b);
	if (code == BENCH_OK)
		code = bench_try_points(&c->b);
	return code == BENCH_OK ? check(c) : code;
}

int bench_selftest_main(int argc, char **argv)
{
	static const struct argp_option opts[] = {
		{ "trials", OPT_TRIALS, "N", 0, "Comparisons of each kind (default 10)", 1 },
		{ "plant", OPT_PLANT, "PERCENT", 0, "The slow-down (default 5)", 1 },
		{ "json", OPT_JSON, NULL, 0, "JSON instead of sentences", 1 },
		{ 0 }
	};
	static const struct argp_child children[] = { { &bench_argp, 0, "As of run:", 2 }, { 0 } };
	static const struct argp argp = { opts, parse, "[FILE] [k=v ...]",
		"Does compare find a planted slow-down, and nothing where there is nothing?", children, NULL, NULL };
	static struct selftest c;
	int code;

	c = (struct selftest){ .trials = 10, .planted = 5 };
	argp_err_exit_status = BENCH_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &c);
	if (!bench_whole(&c.o, "vp-bench selftest"))
		return BENCH_USAGE;
	c.trials_done = json_array();
	code = load(&c);
	bench_child_signals();
	if (code == BENCH_OK)
		code = pilot(&c);
	if (code == BENCH_OK)
		code = all_trials(&c);
	if (code == BENCH_OK)
		code = print(&c);
	bench_free(&c.b);
	json_decref(c.cost);
	json_decref(c.trials_done);
	return code;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_control.c - the subcommand control: does the referee tell a difference where
 * there is one, and none where there is none, on this machine as it is now?
 *
 * Three sides run in turns, block by block, shuffled: the graph, the same graph, and
 * the graph with a slow-down planted through its argument `burn`: all burn some turns,
 * the third more of them.  How much one turn costs is measured first.  So many blocks are a trial; each trial compares the
 * first side with the other two exactly as `compare` does.
 * Invariant: no run belongs to two trials.
 */
#include "tools/vp-bench/bench_compare.h"

#include <argp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/xk_rand.h"

#define TRIALS_MOST 1000u
#define RUNS_MOST   200u
#define RETRIES     2u
#define PILOTS      5u
#define TURNS       2000u       /* of a pilot run */
#define ALWAYS      200u        /* of every run: the first few pass while the message's lines are waited for */
#define CONFIDENCE  0.98

enum { PLAIN, SAME, PLANTED, SIDES };

struct control {
	struct bench_options o;
	struct bench         b;
	unsigned    trials, runs, burn;
	double      planted;                 /* percent that was asked for */
	double      base_ns, turn_ns, share;  /* percent that the turns make */
	struct bench_difference *same, *slow; /* [trials] */
	bool        json, interrupted;
	struct bench_progress bar;
};

/* ---- one run ------------------------------------------------------------------------- */

static int run_once(struct control *c, unsigned burn, uint64_t seed, double *v)
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
		m = bench_metrics_of(child, b.needs, why, sizeof why);
	*v = bench_real(m, b.metric->name);
	json_decref(child);
	json_decref(m);
	if (c->interrupted)
		return BENCH_INTERRUPTED;
	if (isnan(*v))
		fprintf(stderr, "vp-bench control: %s: %s\n", b.file, *why ? why : "the metric has no value");
	return isnan(*v) ? BENCH_CHILD_FAILED : BENCH_OK;
}

/* A short run on a busy machine may not have had a processor at all: told, and done again. */
static int run(struct control *c, unsigned burn, uint64_t seed, double *v)
{
	int code = run_once(c, burn, seed, v);

	for (unsigned i = 0; i < RETRIES && code == BENCH_CHILD_FAILED; i++)
		code = run_once(c, burn, seed, v);
	return code;
}

/* What a turn costs, and so how many make the share that is asked for. */
static int pilot(struct control *c)
{
	double v[2][PILOTS];
	int code = BENCH_OK;

	for (unsigned i = 0; i < PILOTS; i++)
		for (unsigned k = 0; k < 2 && code == BENCH_OK; k++)
			code = run(c, ALWAYS + k * TURNS, i + 1, &v[k][i]);
	if (code != BENCH_OK)
		return code;
	c->base_ns = bench_median(v[0], PILOTS);
	c->turn_ns = (bench_median(v[1], PILOTS) - c->base_ns) / TURNS;
	if (c->turn_ns <= 0) {
		fprintf(stderr, "vp-bench control: %u turns of burn cost nothing in %s: the machine is too busy, or the graph "
			"does not use its burn\n", TURNS, c->b.file);
		return BENCH_CHILD_FAILED;
	}
	c->burn = (unsigned)ceil(c->base_ns * c->planted / 100 / c->turn_ns);
	c->share = c->burn * c->turn_ns / c->base_ns * 100;
	return BENCH_OK;
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

static int block(struct control *c, unsigned no, double *const *v, unsigned at)
{
	unsigned order[SIDES] = { PLAIN, SAME, PLANTED };
	struct xk_rand r;
	int code = BENCH_OK;

	xk_rand_init(&r, c->b.seed, no);
	shuffle(order, &r);
	for (unsigned i = 0; i < SIDES && code == BENCH_OK; i++) {
		code = run(c, ALWAYS + (order[i] == PLANTED ? c->burn : 0), c->b.seed * 1000003 + no, &v[order[i]][at]);
		bench_progress_step(&c->bar, order[i] == PLANTED ? "planted" : "plain");
	}
	return code;
}

static int trial(struct control *c, unsigned no)
{
	double plain[RUNS_MOST], same[RUNS_MOST], planted[RUNS_MOST], block_no[RUNS_MOST];
	double *const v[SIDES] = { plain, same, planted };
	struct bench_series s[SIDES];
	int code = BENCH_OK;

	for (unsigned i = 0; i < c->runs && code == BENCH_OK; i++) {
		block_no[i] = i;
		code = block(c, no * c->runs + i, v, i);
	}
	if (code != BENCH_OK)
		return code;
	for (unsigned k = 0; k < SIDES; k++)
		s[k] = (struct bench_series){ v[k], block_no, c->runs };
	bench_differ(&s[PLAIN], &s[SAME], true, c->b.metric->lower, CONFIDENCE, &c->same[no]);
	bench_differ(&s[PLAIN], &s[PLANTED], true, c->b.metric->lower, CONFIDENCE, &c->slow[no]);
	return BENCH_OK;
}

static int all_trials(struct control *c)
{
	double one = (double)(c->b.duration + c->b.warmup) / 1e9 + 0.15;
	unsigned total = c->trials * c->runs * SIDES;
	int code = BENCH_OK;

	bench_progress_begin(&c->bar, "control", total, one * total);
	for (unsigned i = 0; i < c->trials && code == BENCH_OK; i++)
		code = trial(c, i);
	bench_progress_end(&c->bar);
	return code;
}

/* ---- what came of it --------------------------------------------------------------------- */

static unsigned count(const struct bench_difference *d, unsigned n, enum bench_verdict v)
{
	unsigned found = 0;

	for (unsigned i = 0; i < n; i++)
		found += d[i].verdict == v;
	return found;
}

/* Median over the trials of the estimate, or of the interval's half-width, in percent. */
static double typical(const struct bench_difference *d, unsigned n, bool width)
{
	double v[TRIALS_MOST];

	for (unsigned i = 0; i < n; i++)
		v[i] = width ? (d[i].in.hi - d[i].in.lo) / 2 * 100 : d[i].percent;
	return bench_median(v, n);
}

static int print(const struct control *c)
{
	unsigned wrong = c->trials - count(c->same, c->trials, BENCH_NO_DIFFERENCE);
	unsigned found = count(c->slow, c->trials, BENCH_WORSE);
	bool calm = wrong * 100 < 6 * c->trials, keen = found * 100 >= 90 * c->trials;
	json_t *j;

	if (c->json) {
		j = json_pack("{s:i, s:s, s:s, s:s, s:i, s:i, s:f, s:f, s:f, s:f, s:i, s:{s:i, s:f, s:f, s:b}, s:{s:i, s:f, s:f, s:b}}",
			"schema", 1, "tool", "vp-bench control", "file", c->b.file, "metric", c->b.metric->name,
			"trials", (int)c->trials, "runs", (int)c->runs, "confidence", CONFIDENCE, "base", c->base_ns,
			"turn", c->turn_ns, "planted_percent", c->share, "burn", (int)c->burn,
			"same", "false_verdicts", (int)wrong, "estimate_percent", typical(c->same, c->trials, false),
			"half_width_percent", typical(c->same, c->trials, true), "pass", calm,
			"planted", "found", (int)found, "estimate_percent", typical(c->slow, c->trials, false),
			"half_width_percent", typical(c->slow, c->trials, true), "pass", keen);
		json_dumpf(j, stdout, JSON_INDENT(1));
		putchar('\n');
		json_decref(j);
	} else {
		printf("%s: %s %.4g %s a message; a turn of burn %.3g, so %u more are %.2f %%\n", c->b.name, c->b.metric->name,
		       c->base_ns, c->b.metric->unit, c->turn_ns, c->burn, c->share);
		printf("%u trials of %u runs a side, %.3g s each, intervals of %.0f %%\n", c->trials, c->runs,
		       (double)c->b.duration / 1e9, CONFIDENCE * 100);
		printf("%-6s A against A: %u of %u say another thing than \"no difference shown\" (typically %+.2f +-%.2f %%)\n",
		       calm ? "pass" : "FAIL", wrong, c->trials, typical(c->same, c->trials, false),
		       typical(c->same, c->trials, true));
		printf("%-6s A against %.2f %% slower: found in %u of %u (typically %+.2f +-%.2f %%)\n", keen ? "pass" : "FAIL",
		       c->share, found, c->trials, typical(c->slow, c->trials, false), typical(c->slow, c->trials, true));
	}
	return calm && keen ? BENCH_OK : BENCH_SHAPE_FAILED;
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
	struct control *c = state->input;
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

static const char *graph_file(const struct control *c)
{
	static const char here[] = "graphs/bench/control.lua";

	if (c->o.nfiles == 1)
		return c->o.file[0];
	return access(here, R_OK) == 0 ? here : BENCH_GRAPHS "/control.lua";
}

static int check(struct control *c)
{
	unsigned n;
	const struct xk_arg *a = xk_spec_args(c->b.spec, &n);
	bool found = false;

	for (unsigned i = 0; i < n; i++)
		found |= strcmp(a[i].p.name, "burn") == 0;
	if (!found || c->b.npoints != 1 || c->b.narg >= BENCH_ARGS) {
		fprintf(stderr, "vp-bench control: %s needs an argument burn that wastes time on each message, and one point "
			"(it has %u: keep one with k=v)\n", c->b.file, c->b.npoints);
		return BENCH_USAGE;
	}
	if (c->b.min_runs > RUNS_MOST) {
		fprintf(stderr, "vp-bench control: at most %u runs of a side and trial\n", RUNS_MOST);
		return BENCH_USAGE;
	}
	c->runs = (unsigned)c->b.min_runs;
	return BENCH_OK;
}

static int load(struct control *c)
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

int bench_control_main(int argc, char **argv)
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
	static struct control c;
	int code;

	c = (struct control){ .trials = 10, .planted = 5 };
	argp_err_exit_status = BENCH_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &c);
	c.same = calloc(c.trials, sizeof *c.same);
	c.slow = calloc(c.trials, sizeof *c.slow);
	code = c.same && c.slow ? load(&c) : BENCH_IO;
	bench_child_signals();
	if (code == BENCH_OK)
		code = pilot(&c);
	if (code == BENCH_OK)
		code = all_trials(&c);
	if (code == BENCH_OK)
		code = print(&c);
	bench_free(&c.b);
	free(c.same);
	free(c.slow);
	return code;
}

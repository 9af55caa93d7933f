/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_options.c - the options of the subcommands, and what they change.
 */
#include "tools/vp-bench/bench.h"
#include "runtime/base/xk_param_value.h"

#include <argp.h>
#include <string.h>

enum { OPT_QUICK = 256, OPT_PAPER, OPT_RUNS, OPT_WARMUP, OPT_SEED, OPT_FORMAT, OPT_PRECISION, OPT_CONFIDENCE,
       OPT_VP_RUN, OPT_RESUME, OPT_TIMEOUT, OPT_METRIC, OPT_LINES,
       OPT_DECIDE, OPT_SHARD };

static const struct argp_option options[] = {
	{ "quick", OPT_QUICK, NULL, 0, "3 runs of a fifth of the time: to see that it works, not to conclude from", 0 },
	{ "paper", OPT_PAPER, NULL, 0, "12 runs of 45 s after 45 s of warm-up, or of as many messages as the paper of the "
	  "file measured", 0 },
	{ "runs", OPT_RUNS, "N", 0, "Exactly N runs of each point", 0 },
	{ "decide", OPT_DECIDE, "N", 0, "At most N runs of the points that an undecided expectation compares (default: 40)", 0 },
	{ "duration", 'd', "TIME", 0, "How long a run measures", 0 },
	{ "warmup", OPT_WARMUP, "TIME", 0, "Time before that, not measured", 0 },
	{ "precision", OPT_PRECISION, "SHARE", 0, "Stop when the interval's half-width is this share of the mean", 0 },
	{ "confidence", OPT_CONFIDENCE, "SHARE", 0, "Of all intervals", 0 },
	{ "seed", OPT_SEED, "N", 0, "Of the order of runs and of each run", 0 },
	{ "format", OPT_FORMAT, "table|json|csv|json-lines", 0, "What to print (default: table; with -o FILE.json or FILE.csv that)", 0 },
	{ "json-lines", OPT_LINES, NULL, 0, "The same as --format json-lines: a line of JSON per run and metric", 0 },
	{ "output", 'o', "FILE", 0, "Write there instead of stdout; JSON is rewritten after every run", 0 },
	{ "resume", OPT_RESUME, NULL, 0, "Go on with the JSON that -o FILE holds", 0 },
	{ "shard", OPT_SHARD, "I/N", 0, "The I-th of N parts of the work, for vp-bench merge; needs -o FILE.json", 0 },
	{ "timeout", OPT_TIMEOUT, "TIME", 0, "A run that lives longer is killed and has failed (default: twice its length "
	  "and two minutes)", 0 },
	{ "metric", OPT_METRIC, "NAME", 0, "What to measure or compare, instead of what the file says", 0 },
	{ "vp-run", OPT_VP_RUN, "PROGRAM", 0, "The vp-run to use (default: the one beside this program)", 0 },
	{ 0 }
};

static enum bench_format format_of(const char *arg, struct argp_state *state)
{
	static const char *const names[] = { "table", "json", "csv", "json-lines" };

	for (unsigned i = 0; i < XK_ARRAY_LEN(names); i++)
		if (strcmp(arg, names[i]) == 0)
			return (enum bench_format)i;
	argp_error(state, "--format is table, json, csv or json-lines, not '%s'", arg);
	return BENCH_TABLE;
}

void bench_take_word(struct bench_options *o, const char *arg, struct argp_state *state)
{
	if (strchr(arg, '=') != NULL && o->nargs == BENCH_ARGS)
		argp_error(state, "at most %u arguments", BENCH_ARGS);
	else if (strchr(arg, '=') != NULL)
		o->arg[o->nargs++] = arg;
	else if (o->nfiles == XK_ARRAY_LEN(o->file))
		argp_error(state, "at most %zu files", XK_ARRAY_LEN(o->file));
	else
		o->file[o->nfiles++] = arg;
}

xk_ns bench_take_time(const char *name, const char *arg, xk_ns least, xk_ns most, const char *between, struct argp_state *state)
{
	union xk_pval v = { .u = 0 };
	char why[200];

	if (xk_param_parse_as(XK_P_TIME, arg, false, &v, why, sizeof why) != XK_OK)
		argp_error(state, "--%s %s", name, why);
	else if (v.u < least || v.u > most)
		argp_error(state, "--%s is between %s", name, between);
	return v.u;
}

static bool ends_with(const char *s, const char *tail)
{
	size_t n = s ? strlen(s) : 0, m = strlen(tail);

	return n >= m && strcmp(s + n - m, tail) == 0;
}

static void finish(struct bench_options *o, struct argp_state *state)
{
	if (!o->format_given)
		o->format = ends_with(o->out, ".json") ? BENCH_JSON : ends_with(o->out, ".csv") ? BENCH_CSV : BENCH_TABLE;
	if (o->quick && o->paper)
		argp_error(state, "--quick and --paper exclude each other");
	if (o->resume && (o->out == NULL || o->format != BENCH_JSON))
		argp_error(state, "--resume needs -o FILE.json");
	if (o->shard.of != 0 && o->format != BENCH_JSON)
		argp_error(state, "--shard makes a part of a result: -o FILE.json, or --format json");
}

static void take_shard(struct bench_options *o, const char *arg, struct argp_state *state)
{
	char why[200];

	if (!bench_shard_parse(arg, &o->shard, why, sizeof why))
		argp_error(state, "--shard %s", why);
}

static error_t parse_opt(int key, char *arg, struct argp_state *state)
{
	struct bench_options *o = state->input;

	switch (key) {
	case OPT_QUICK: o->quick = true; break;
	case OPT_PAPER: o->paper = true; break;
	case OPT_RUNS: o->runs = arg; break;
	case OPT_DECIDE: o->decide = arg; break;
	case 'd': o->duration = arg; break;
	case OPT_WARMUP: o->warmup = arg; break;
	case OPT_PRECISION: o->precision = arg; break;
	case OPT_CONFIDENCE: o->confidence = arg; break;
	case OPT_SEED: o->seed = arg; break;
	case OPT_FORMAT:
		o->format = format_of(arg, state);
		o->format_given = true;
		break;
	case OPT_LINES:
		o->format = BENCH_LINES;
		o->format_given = true;
		break;
	case 'o': o->out = arg; break;
	case OPT_RESUME: o->resume = true; break;
	case OPT_SHARD: take_shard(o, arg, state); break;
	case OPT_TIMEOUT: o->timeout = arg; break;
	case OPT_METRIC: o->metric = arg; break;
	case OPT_VP_RUN: o->vp_run = arg; break;
	case ARGP_KEY_ARG: bench_take_word(o, arg, state); break;
	case ARGP_KEY_END: finish(o, state); break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

const struct argp bench_argp = { options, parse_opt, "FILE... [k=v ...]",
	"k=v gives an argument of the graph; of an axis it keeps the points with that value.\v"
	"Exit codes: 0 good, 1 a shape failed, 2 wrong usage, 3 errors in a bench file, 4 a run failed,\n"
	"5 the result could not be written, 6 interrupted.", NULL, NULL, NULL };

void bench_options(struct bench_options *o, int argc, char **argv)
{
	argp_err_exit_status = BENCH_USAGE;
	memset(o, 0, sizeof *o);
	argp_parse(&bench_argp, argc, argv, 0, NULL, o);
}

bool bench_whole(const struct bench_options *o, const char *name)
{
	if (o->shard.of != 0)
		fprintf(stderr, "%s: --shard is for run and reproduce\n", name);
	return o->shard.of == 0;
}

/* ---- over what the file said ------------------------------------------------------------ */

static bool option(struct bench *b, const struct xk_param *p, const char *text, union xk_pval *v)
{
	bool bare = text != NULL && *text != '\0' && strspn(text, "0123456789.") == strlen(text);
	char why[300];

	if (text == NULL)
		return false;
	if (xk_param_parse(p, text, bare, v, why, sizeof why) == XK_OK)
		return true;
	xk_errs_add(b->e, NULL, 0, 0, "option --%s %s", p->name, why);
	return false;
}

static void use_metric(struct bench *b, const char *name)
{
	const struct bench_metric *m = bench_metric_of(b, name);
	char text[300];

	if (m == NULL) {
		xk_errs_add(b->e, NULL, 0, 0, "option --metric: %s", bench_metric_unknown(b, name, text, sizeof text));
		return;
	}
	b->metric = m;
	b->needs |= m->need;
}

static void preset(const struct bench_options *o, struct bench *b)
{
	if (o->quick) {
		b->duration = b->duration / 5 ? b->duration / 5 : b->duration;
		b->warmup /= 5;
		b->min_runs = b->max_runs = b->decide_runs = 3;
	}
	if (o->paper) {
		bool counts = b->paper.measured != 0 && o->duration == NULL && o->warmup == NULL;

		if (counts)
			b->messages = b->paper;
		b->duration = b->warmup = counts ? 0 : 45 * XK_SEC;
		b->min_runs = b->max_runs = b->decide_runs = 12;
	}
}

#define SLACK (120 * XK_SEC)       /* start and end of a large graph */

xk_ns bench_timeout(const struct bench_options *o, const struct bench *b)
{
	return o->limit != 0 ? o->limit : 2 * (b->duration + b->warmup) + SLACK;
}

int bench_apply(struct bench_options *o, struct bench *b)
{
	static const struct xk_param timeout = { .name = "timeout", .type = XK_P_TIME, .min = "1ms", .max = "24h" };
	static const struct xk_param duration = { .name = "duration", .type = XK_P_TIME, .min = "1ms", .max = "1h" };
	static const struct xk_param warmup = { .name = "warmup", .type = XK_P_TIME, .max = "1h" };
	static const struct xk_param runs = { .name = "runs", .type = XK_P_UINT, .min = "1", .max = "1000" };
	static const struct xk_param decide = { .name = "decide", .type = XK_P_UINT, .min = "2", .max = "1000" };
	static const struct xk_param seed = { .name = "seed", .type = XK_P_UINT, .max = "1000000000" };
	static const struct xk_param precision = { .name = "precision", .type = XK_P_FRACTION, .min = "0.001" };
	static const struct xk_param confidence =
		{ .name = "confidence", .type = XK_P_FRACTION, .min = "0.5", .max = "0.999" };
	union xk_pval v;

	preset(o, b);
	if (option(b, &duration, o->duration, &v))
		b->duration = v.u;
	if (option(b, &warmup, o->warmup, &v))
		b->warmup = v.u;
	if (o->metric != NULL && b->spec != NULL)
		use_metric(b, o->metric);
	if (option(b, &timeout, o->timeout, &v))
		o->limit = v.u;
	if (option(b, &runs, o->runs, &v))
		b->min_runs = b->max_runs = b->decide_runs = v.u;
	if (option(b, &decide, o->decide, &v))
		b->decide_runs = v.u > b->max_runs ? v.u : b->max_runs;
	if (option(b, &seed, o->seed, &v))
		b->seed = v.u;
	if (option(b, &precision, o->precision, &v))
		b->precision = v.d;
	if (option(b, &confidence, o->confidence, &v))
		b->confidence = v.d;
	return xk_errs_count(b->e) == 0 ? BENCH_OK : BENCH_USAGE;
}

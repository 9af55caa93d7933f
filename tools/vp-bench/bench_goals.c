/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_goals.c - vp-bench goals: the project's own scoreboard.
 *
 * Exit codes: 0 every measured row holds, 1 one misses, 2 wrong usage, 5 the
 * result could not be written, 6 interrupted.  What was measured before an
 * interruption is printed.
 */
#include "tools/vp-bench/bench.h"
#include "tools/vp-bench/bench_goals.h"
#include "tools/vp-bench/bench_lua.h"

#include <argp.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/xk_param_value.h"
#include "runtime/compose/xk_home.h"
#include "runtime/sync/xk_sync.h"

enum { OPT_PAIRS = 256, OPT_TIME, OPT_PEERS, OPT_FORMAT, OPT_QUICK, OPT_COUNTING, OPT_VP_RUN, OPT_GRAPHS, OPT_POINTS };

static const struct argp_option options[] = {
	{ "pairs", OPT_PAIRS, "N", 0, "Pairs of ours and reference (default 7; 5 for each point of a range)", 0 },
	{ "time", OPT_TIME, "TIME", 0, "Of each side of a pair (default 300ms; 100ms in a range)", 0 },
	{ "quick", OPT_QUICK, NULL, 0, "3 pairs of 100 ms: to see that it works, not to conclude from", 0 },
	{ "points", OPT_POINTS, NULL, 0, "Print every point of a range, not the worst alone", 0 },
	{ "peers", OPT_PEERS, "DIR", 0, "Harnesses made by tools/peers/build (default: $XK_PEERS, ./peers, "
	  "./tools/peers/out)", 0 },
	{ "counting", OPT_COUNTING, "PROGRAM", 0, "vp-run of a build with --enable-count-atomics", 0 },
	{ "graphs", OPT_GRAPHS, "DIR", 0, "Where the goals' graphs are (default: graphs/bench here, else what came with the tools)", 0 },
	{ "vp-run", OPT_VP_RUN, "PROGRAM", 0, "The vp-run to use (default: the one beside this program)", 0 },
	{ "format", OPT_FORMAT, "table|json", 0, "What to print (default: table; with -o FILE.json that)", 0 },
	{ "output", 'o', "FILE", 0, "Write there instead of stdout", 0 },
	{ 0 }
};

#define CHOSEN (GOAL_ROWS + GOAL_POINTS)

struct input {
	struct goals       *g;
	const struct goal  *all;           /* the table */
	const struct goal  *row[CHOSEN];
	struct goal_result *result;
	unsigned            nrows;
	bool                pairs_given, time_given, quick, points;
	int                 json;          /* negative: as the file's name says */
	const char         *out, *graphs;
};

/* ---- which rows ------------------------------------------------------------------------ */

static void add(struct input *in, const struct goal *row)
{
	for (unsigned i = 0; i < in->nrows; i++)
		if (in->row[i] == row)
			return;
	if (in->nrows < CHOSEN)
		in->row[in->nrows++] = row;
}

/* "hop" means all of hop/... */
static bool matches(const char *id, const char *word)
{
	size_t n = strlen(word);

	return strncmp(id, word, n) == 0 && (id[n] == '\0' || id[n] == '/');
}

static void choose(struct input *in, const char *word, struct argp_state *state)
{
	const char *names[GOAL_ROWS], *near;
	unsigned n = 0;
	bool known = false;

	for (const struct goal *r = in->all; r->id != NULL; r++) {
		bool whole = matches(r->id, word);

		names[n++] = r->id;
		if (whole)
			add(in, r);
		for (unsigned i = 0; !whole && i < r->npoints; i++)
			if (matches(r->point[i].id, word)) {
				known = true;
				add(in, &r->point[i]);
			}
		known = known || whole;
	}
	if (known)
		return;
	near = xk_errs_suggest(word, names, n);
	if (near != NULL)
		argp_error(state, "there is no goal '%s' (did you mean '%s'?)", word, near);
	else
		argp_error(state, "there is no goal '%s'; without a name all are measured, each with its name",
			   word);
}

/* ---- options ----------------------------------------------------------------------------- */

static uint64_t parse(const struct xk_param *p, const char *text, struct argp_state *state)
{
	bool bare = *text != '\0' && strspn(text, "0123456789") == strlen(text);
	union xk_pval v = { 0 };
	char why[300];

	if (xk_param_parse(p, text, bare, &v, why, sizeof why) != XK_OK)
		argp_error(state, "--%s %s", p->name, why);
	return v.u;
}

static void format(struct input *in, const char *arg, struct argp_state *state)
{
	if (strcmp(arg, "table") != 0 && strcmp(arg, "json") != 0)
		argp_error(state, "--format is table or json, not '%s'", arg);
	in->json = strcmp(arg, "json") == 0;
}

static void finish(struct input *in)
{
	size_t n = in->out ? strlen(in->out) : 0;
	bool none = in->nrows == 0;

	if (in->json < 0)
		in->json = n > 5 && strcmp(in->out + n - 5, ".json") == 0;
	if (in->quick && !in->pairs_given) {
		in->g->pairs = 3;
		in->g->point_pairs = 1;
	}
	if (in->quick && !in->time_given) {
		in->g->time = 100 * XK_MS;
		in->g->point_time = 50 * XK_MS;
	}
	for (const struct goal *r = in->all; none && r->id != NULL; r++)
		add(in, r);
}

static error_t parse_opt(int key, char *arg, struct argp_state *state)
{
	static const struct xk_param pairs = { .name = "pairs", .type = XK_P_UINT, .min = "1", .max = "1000" };
	static const struct xk_param time = { .name = "time", .type = XK_P_TIME, .min = "1ms", .max = "1h" };
	struct input *in = state->input;

	switch (key) {
	case OPT_PAIRS:
		in->g->pairs = in->g->point_pairs = parse(&pairs, arg, state);
		in->pairs_given = true;
		break;
	case OPT_TIME:
		in->g->time = in->g->point_time = parse(&time, arg, state);
		in->time_given = true;
		break;
	case OPT_QUICK: in->quick = true; break;
	case OPT_POINTS: in->points = true; break;
	case OPT_PEERS: in->g->peers = arg; break;
	case OPT_COUNTING: in->g->counting = arg; break;
	case OPT_VP_RUN: in->g->vp_run = arg; break;
	case OPT_GRAPHS: in->graphs = arg; break;
	case OPT_FORMAT: format(in, arg, state); break;
	case 'o': in->out = arg; break;
	case ARGP_KEY_ARG: choose(in, arg, state); break;
	case ARGP_KEY_END: finish(in); break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* ---- places -------------------------------------------------------------------------------- */

static bool find_graphs(struct goals *g, const char *given)
{
	char dir[PATH_MAX], path[PATH_MAX + 16];

	if (given != NULL)
		snprintf(dir, sizeof dir, "%s", given);
	else
		xk_near_folder("bench", "udp-both.lua", dir, sizeof dir);
	snprintf(path, sizeof path, "%s/udp-both.lua", dir);
	if (access(path, R_OK) == 0 && strlen(dir) < sizeof g->graphs) {
		strcpy(g->graphs, dir);
		return true;
	}
	fprintf(stderr, "vp-bench goals: %s has no udp-both.lua: give the folder graphs/bench with --graphs DIR\n", dir);
	return false;
}

static void find_processors(struct goals *g)
{
	unsigned n = 0;
	cpu_set_t set;

	g->cpu[0] = g->cpu[1] = -1;
	if (sched_getaffinity(0, sizeof set, &set) != 0)
		return;
	for (int i = 0; i < CPU_SETSIZE && n < 2; i++)
		if (CPU_ISSET((size_t)i, &set))
			g->cpu[n++] = i;
}

/* ---- all of it ------------------------------------------------------------------------------ */

/* Seconds of n goals. */
static double expected(unsigned n, uint64_t pairs, xk_ns time)
{
	return n * (double)pairs * (2.5 * (double)time / 1e9 + 0.2);
}

static unsigned measure(struct input *in)
{
	unsigned n = 0, single = 0, points = 0;
	struct goals *g = in->g;
	struct bench_progress p;

	for (unsigned i = 0; i < in->nrows; i++) {
		single += in->row[i]->npoints == 0;
		points += in->row[i]->npoints;
	}
	bench_progress_begin(&p, "goals", single + points,
			     expected(single, g->pairs, g->time) + expected(points, g->point_pairs, g->point_time));
	g->progress = &p;
	for (; n < in->nrows && !g->interrupted; n++)
		goal_measure_row(g, in->row[n], &in->result[n]);
	g->progress = NULL;
	bench_progress_end(&p);
	return n;
}

static int write_to(FILE *f, const struct input *in, unsigned n)
{
	json_t *doc[] = { goals_json(in->result, n), json_boolean(in->points) };
	int code = BENCH_OK;

	if (!in->json) {
		code = bench_lua_print(f, "goals", "table", doc, 2);
	} else {
		json_dumpf(doc[0], f, JSON_INDENT(2) | JSON_REAL_PRECISION(8));
		fputc('\n', f);
	}
	json_decref(doc[0]);
	json_decref(doc[1]);
	return code == BENCH_OK && fflush(f) == 0 && !ferror(f) ? BENCH_OK : BENCH_IO;
}

static int show(const struct input *in, unsigned n)
{
	FILE *f = in->out ? fopen(in->out, "we") : stdout;
	int code = f ? write_to(f, in, n) : BENCH_IO;

	if (in->out != NULL && f != NULL && fclose(f) != 0)
		code = BENCH_IO;
	if (code != BENCH_OK)
		fprintf(stderr, "vp-bench goals: cannot write %s\n", in->out ? in->out : "the output");
	return code;
}

static int judge(const struct input *in, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (in->result[i].verdict == GOAL_MISSES)
			return BENCH_SHAPE_FAILED;
	return BENCH_OK;
}

int bench_goals_main(int argc, char **argv)
{
	static const struct argp argp = { options, parse_opt, "[udp/lwip hop hop/32 tcp-write/1/1500/4097 ...]",
		"Measures the project's goals, our side and the reference in turn, and prints ratios.\v"
		"Exit codes: 0 no measured goal misses (or nothing can be said), 1 one misses, 2 wrong usage, 5 the result could not\n"
		"be written, 6 interrupted.", NULL, NULL, NULL };
	static struct goal_result result[CHOSEN];
	struct goals g = { .pairs = 7, .time = 300 * XK_MS, .point_pairs = 5, .point_time = 100 * XK_MS };
	struct input in = { .g = &g, .json = -1, .result = result };
	char why[GOAL_TEXT];
	unsigned n;
	int code;

	in.all = goal_rows(why, sizeof why);
	if (in.all == NULL) {
		fprintf(stderr, "vp-bench goals: %s\n", why);
		return BENCH_USAGE;
	}
	argp_err_exit_status = BENCH_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &in);
	g.vp_run = bench_child_program(g.vp_run);
	find_processors(&g);
	if (!find_graphs(&g, in.graphs))
		return BENCH_USAGE;
	bench_child_signals();
	xk_rcu_register();
	n = measure(&in);
	xk_rcu_unregister();
	code = show(&in, n);
	if (code == BENCH_OK)
		code = g.interrupted ? BENCH_INTERRUPTED : judge(&in, n);
	while (n-- > 0)
		goal_result_end(&result[n]);
	return code;
}

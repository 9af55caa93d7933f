/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_misses.c - the subcommand misses: cache misses of a message where the machine does
 * not count them, from valgrind's model of a cache.
 *
 * Two runs under cachegrind, one three times as long as the other: what the longer one has
 * more, over the messages that it has more, is a message's; bringing the graph up falls out.
 * They run in virtual time, on one thread and with one seed, so the same command says the
 * same but for what is drawn at the start (places in memory, seeds of tables).  With the
 * real clock (--real) threads take turns by chance: several pairs run then,
 * and the median and the range of all of them are told.
 * The model is of one processor with one cache, on which all threads run in turn, so lines
 * that wander between processors miss nothing in it: it shows what a message touches, and
 * not what sharing costs.
 */
#include "tools/vp-bench/bench.h"

#include <argp.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/compose/xk_variant.h"
#include "tools/vp-bench/bench_lua.h"

#define PATIENCE 900.0           /* for a run that was told to take seconds */

#define PAIRS_LEAST 3u           /* by the real clock */
#define PAIRS_MOST  100u

struct input {
	struct bench_options o;
	xk_ns    time;
	unsigned pairs;
	bool     json, real;
};

/* ---- options ------------------------------------------------------------------------------- */

enum { OPT_VP_RUN = 700, OPT_REAL, OPT_PAIRS };

static void end_of_options(struct input *in, struct argp_state *state)
{
	if (in->o.nfiles != 1)
		argp_error(state, "needs one graph file");
	if (in->pairs != 0 && !in->real)
		argp_error(state, "--pairs is for --real: in virtual time all pairs are the same");
	if (in->pairs == 0)
		in->pairs = in->real ? PAIRS_LEAST : 1;
	if (in->time == 0)
		in->time = in->real ? 2 * XK_SEC : 10 * XK_MS;
}

static unsigned pairs_of(const char *arg, struct argp_state *state)
{
	char *end;
	unsigned long n = strtoul(arg, &end, 10);

	if (end == arg || *end != '\0' || n < PAIRS_LEAST || n > PAIRS_MOST)
		argp_error(state, "--pairs is between %u and %u", PAIRS_LEAST, PAIRS_MOST);
	return (unsigned)n;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct input *in = state->input;

	switch (key) {
	case ARGP_KEY_ARG: bench_take_word(&in->o, arg, state); return 0;
	case ARGP_KEY_END: end_of_options(in, state); return 0;
	case OPT_REAL: in->real = true; return 0;
	case OPT_PAIRS: in->pairs = pairs_of(arg, state); return 0;
	case 'j': in->json = true; return 0;
	case 't': in->time = bench_take_time("time", arg, 100 * XK_US, 60 * XK_SEC, "100us and 1min", state); return 0;
	case OPT_VP_RUN: in->o.vp_run = arg; return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

/* ---- one run -------------------------------------------------------------------------------- */

static bool is_total(const char *line)
{
	return strncmp(line, "desc:", 5) == 0 || strncmp(line, "events:", 7) == 0 || strncmp(line, "summary:", 8) == 0;
}

/* The lines that misses.lua reads, of many. */
static json_t *totals(const char *path)
{
	json_t *list = json_array();
	FILE *f = fopen(path, "r");
	char line[4096];

	while (f != NULL && fgets(line, sizeof line, f) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		if (is_total(line))
			json_array_append_new(list, json_string(line));
	}
	if (f != NULL)
		fclose(f);
	return list;
}

static int run_in(const struct input *in, const char *path, xk_ns time, json_t **m, char *why, size_t n)
{
	const char *argv[BENCH_ARGS + 14], *program = bench_child_program(in->o.vp_run);
	char out[300], duration[64], found[PATH_MAX], variant[PATH_MAX];
	bool stopped = false;
	unsigned k = 0;
	json_t *j;

	snprintf(out, sizeof out, "--cachegrind-out-file=%s", path);
	snprintf(duration, sizeof duration, "--duration=%lluns", (unsigned long long)time);
	argv[k++] = "valgrind";
	argv[k++] = "--tool=cachegrind";
	argv[k++] = "--cache-sim=yes";
	argv[k++] = "--quiet";
	argv[k++] = "--fair-sched=yes"; /* else who spins keeps who ends the run waiting */
	argv[k++] = out;
	/* valgrind does not follow a program that goes on as another. */
	argv[k++] = bench_find_program(program, found) && xk_variant_of(found, variant, sizeof variant) ? variant : program;
	argv[k++] = in->o.file[0];
	for (unsigned i = 0; i < in->o.nargs; i++)
		argv[k++] = in->o.arg[i];
	argv[k++] = duration;
	argv[k++] = "--warmup=0s";
	if (!in->real) {
		argv[k++] = "--virtual";
		argv[k++] = "--seed=1";
	}
	argv[k++] = "--json";
	argv[k] = NULL;
	bench_child_signals();
	j = bench_child_json(argv, PATIENCE, &stopped, why, n);
	if (j == NULL)
		return stopped ? BENCH_INTERRUPTED : BENCH_CHILD_FAILED;
	*m = json_pack("{s:o, s:f, s:f}", "lines", totals(path), "messages", bench_number_of(j, "messages"), "bytes",
		       bench_number_of(j, "bytes"));
	json_decref(j);
	j = bench_lua_call("misses", "check", m, 1, why, n);
	json_decref(j);
	return j != NULL ? BENCH_OK : BENCH_CHILD_FAILED;
}

/* {lines, messages, bytes} of a run, into *m. */
static int run(const struct input *in, xk_ns time, json_t **m, char *why, size_t n)
{
	const char *dir = getenv("TMPDIR");
	char path[256];
	int fd, code;

	snprintf(path, sizeof path, "%s/vp-bench-XXXXXX", dir != NULL && *dir != '\0' ? dir : "/tmp");
	fd = mkstemp(path);
	if (fd < 0) {
		snprintf(why, n, "%s cannot be written", path);
		return BENCH_IO;
	}
	close(fd);
	code = run_in(in, path, time, m, why, n);
	unlink(path);
	return code;
}

/* ---- pairs ------------------------------------------------------------------------------------- */

static int one_pair(const struct input *in, json_t *list, char *why, size_t n)
{
	json_t *m[2] = { NULL, NULL }, *pair = NULL;
	int code = run(in, in->time, &m[0], why, n);

	if (code == BENCH_OK)
		code = run(in, 3 * in->time, &m[1], why, n);
	if (code == BENCH_OK) {
		pair = bench_lua_call("misses", "pair", m, 2, why, n);
		code = pair != NULL ? BENCH_OK : BENCH_CHILD_FAILED;
	}
	if (pair != NULL)
		json_array_append_new(list, pair);
	json_decref(m[0]);
	json_decref(m[1]);
	return code;
}

static int show(const struct input *in, json_t *list)
{
	json_t *args[] = { json_string(in->o.file[0]), json_string(in->real ? "real" : "virtual"), list }, *doc;
	char why[400];
	int code = BENCH_IO;

	doc = bench_lua_call("misses", "document", args, 3, why, sizeof why);
	if (doc == NULL) {
		fprintf(stderr, "vp-bench misses: %s\n", why);
	} else if (!in->json) {
		code = bench_lua_print(stdout, "misses", "text", &doc, 1);
	} else {
		code = json_dumpf(doc, stdout, JSON_INDENT(1)) == 0 ? BENCH_OK : BENCH_IO;
		putchar('\n');
	}
	json_decref(doc);
	json_decref(args[0]);
	json_decref(args[1]);
	return code;
}

int bench_misses_main(int argc, char **argv)
{
	static const struct argp_option opts[] = {
		{ "time", 't', "TIME", 0, "Of the shorter run (default: 10ms, in virtual time; 2s as valgrind runs it with --real); "
		  "the other is three times as long", 0 },
		{ "real", OPT_REAL, NULL, 0, "By the real clock, on the graph's own threads: what a graph on a real device needs; "
		  "3 pairs, their median and range", 0 },
		{ "pairs", OPT_PAIRS, "N", 0, "With --real: so many pairs", 0 },
		{ "json", 'j', NULL, 0, "Print JSON (docs/schema/vp-misses-1.json)", 0 },
		{ "vp-run", OPT_VP_RUN, "PROGRAM", 0, "Another vp-run; also the variable VP_RUN", 0 },
		{ 0 }
	};
	static const struct argp argp = { opts, parse, "FILE [k=v ...]",
		"Runs a graph twice under valgrind's cachegrind and says how many cache misses a message has in its model.", NULL, NULL, NULL };
	struct input in = { .time = 0 };
	char why[700] = "";
	json_t *list = json_array();
	int code = BENCH_OK;

	argp_err_exit_status = BENCH_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &in);
	for (unsigned i = 0; i < in.pairs && code == BENCH_OK; i++)
		code = one_pair(&in, list, why, sizeof why);
	if (code != BENCH_OK)
		fprintf(stderr, "vp-bench misses: %s: %s\n", in.o.file[0], why);
	else
		code = show(&in, list);
	json_decref(list);
	return code;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_misses.c - the subcommand misses: cache misses of a message where the machine does
 * not count them, from valgrind's model of a cache.
 *
 * Two runs under cachegrind, one three times as long as the other: what the longer one has
 * more, over the messages that it has more, is a message's; bringing the graph up falls out.
 * They run in virtual time, on one thread and with one seed, so the same command says the
 * same but for what is drawn at the start (places in memory, seeds of tables).  With the real clock (--real) threads take turns by chance: several pairs run then,
 * and the median and the range of all of them are told.
 * The model is of one processor with one cache, on which all threads run in turn, so lines
 * that wander between processors miss nothing in it: it shows what a message touches, and
 * not what sharing costs.
 */
#include "tools/vp-bench/bench.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>


#define PATIENCE 900.0           /* for a run that was told to take seconds */

enum { IR, I1MR, ILMR, D1MR, DLMR, D1MW, DLMW, EVENTS };
static const char *const events[EVENTS] = { "Ir", "I1mr", "ILmr", "D1mr", "DLmr", "D1mw", "DLmw" };
static const char *const caches[3] = { "desc: I1 cache:", "desc: D1 cache:", "desc: LL cache:" };

#define PAIRS_LEAST 3u           /* by the real clock */
#define PAIRS_MOST  100u

struct input {
	struct bench_options o;
	xk_ns    time;
	unsigned pairs;
	bool     json, real;
};

struct model {
	double n[EVENTS], messages, bytes;
	char   cache[3][80];             /* I1, D1, last level, as cachegrind describes them */
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

/* What stands behind `key` at the begin of the line, or NULL. */
static char *after(char *line, const char *key)
{
	size_t n = strlen(key);

	return strncmp(line, key, n) == 0 ? line + n + strspn(line + n, " ") : NULL;
}

/* Both lists are in the same order. */
static bool take_totals(char *names, char *values, double *n)
{
	char *a, *b, *name = strtok_r(names, " ", &a), *value = strtok_r(values, " ", &b);
	unsigned found = 0;

	for (; name != NULL && value != NULL; name = strtok_r(NULL, " ", &a), value = strtok_r(NULL, " ", &b))
		for (unsigned i = 0; i < EVENTS; i++)
			if (strcmp(events[i], name) == 0) {
				n[i] = strtod(value, NULL);
				found++;
			}
	return found == EVENTS;
}

static bool read_model(const char *path, struct model *m)
{
	char line[4096], names[1024] = "", *rest;
	FILE *f = fopen(path, "r");
	bool good = false;

	while (f != NULL && !good && fgets(line, sizeof line, f) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		for (unsigned i = 0; i < XK_ARRAY_LEN(caches); i++)
			if ((rest = after(line, caches[i])) != NULL)
				snprintf(m->cache[i], sizeof m->cache[i], "%s", rest);
		if ((rest = after(line, "events:")) != NULL)
			snprintf(names, sizeof names, "%s", rest);
		if ((rest = after(line, "summary:")) != NULL)
			good = take_totals(names, rest, m->n);
	}
	if (f != NULL)
		fclose(f);
	return good;
}

static int run_in(const struct input *in, const char *path, xk_ns time, struct model *m, char *why, size_t n)
{
	const char *argv[BENCH_ARGS + 14];
	char out[300], duration[64];
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
	argv[k++] = bench_child_program(in->o.vp_run);
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
	m->messages = bench_number_of(j, "messages");
	m->bytes = bench_number_of(j, "bytes");
	json_decref(j);
	if (read_model(path, m))
		return BENCH_OK;
	snprintf(why, n, "what cachegrind wrote has no totals");
	return BENCH_CHILD_FAILED;
}

static int run(const struct input *in, xk_ns time, struct model *m, char *why, size_t n)
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

/* ---- what a message has ----------------------------------------------------------------------- */

enum { FIGURES = 5 };
static const struct { const char *name, *doc; } figure[FIGURES] = {
	{ "instructions", "instructions" },
	{ "first_level_instruction_misses", "first-level misses, instructions" },
	{ "first_level_data_misses", "first-level misses, data" },
	{ "last_level_instruction_misses", "last-level misses, instructions" },
	{ "last_level_data_misses", "last-level misses, data" },
};

/* Of all pairs: for a message, and for a KB (NAN: no payload was counted). */
struct figures {
	double   message[FIGURES][PAIRS_MOST], kb[FIGURES][PAIRS_MOST], messages;
	unsigned n;
	char     cache[3][80];
};

static void take_pair(struct figures *f, const struct model *a, const struct model *b)
{
	double d[EVENTS], messages = b->messages - a->messages, kb = (b->bytes - a->bytes) / 1024;
	double all[FIGURES];

	/* Where there are none, chance in the two set-ups may leave a few too many in the first. */
	for (unsigned i = 0; i < EVENTS; i++)
		d[i] = b->n[i] > a->n[i] ? b->n[i] - a->n[i] : 0;
	all[0] = d[IR];
	all[1] = d[I1MR];
	all[2] = d[D1MR] + d[D1MW];
	all[3] = d[ILMR];
	all[4] = d[DLMR] + d[DLMW];
	for (unsigned i = 0; i < FIGURES; i++) {
		f->message[i][f->n] = all[i] / messages;
		f->kb[i][f->n] = kb > 0 ? all[i] / kb : NAN;
	}
	f->messages += messages;
	f->n++;
	memcpy(f->cache, a->cache, sizeof f->cache);
}

static int one_pair(const struct input *in, struct figures *f, char *why, size_t n)
{
	struct model a = { 0 }, b = { 0 };
	int code = run(in, in->time, &a, why, n);

	if (code == BENCH_OK)
		code = run(in, 3 * in->time, &b, why, n);
	if (code == BENCH_OK && b.messages <= a.messages) {
		snprintf(why, n, "the longer run had no more messages than the shorter one: a graph that ends by itself "
			 "cannot be measured");
		code = BENCH_CHILD_FAILED;
	}
	if (code == BENCH_OK)
		take_pair(f, &a, &b);
	return code;
}

/* ---- showing ------------------------------------------------------------------------------------- */

static json_t *medians(double (*v)[PAIRS_MOST], unsigned n)
{
	json_t *o = json_object();

	for (unsigned i = 0; i < FIGURES; i++)
		json_object_set_new(o, figure[i].name, bench_real_json(isnan(v[i][0]) ? NAN : bench_stat("median", v[i], n)));
	return o;
}

static json_t *ranges(double (*v)[PAIRS_MOST], unsigned n)
{
	json_t *o = json_object();

	for (unsigned i = 0; i < FIGURES; i++)
		json_object_set_new(o, figure[i].name, json_pack("[f, f]", bench_stat("least", v[i], n), bench_stat("most", v[i], n)));
	return o;
}

static int show_json(const struct input *in, struct figures *f)
{
	json_t *doc = json_pack("{s:i, s:s, s:s, s:s, s:i, s:f, s:o, s:o, s:o, s:[s, s, s]}", "schema", 1, "tool", "vp-bench misses",
				"file", in->o.file[0], "clock", in->real ? "real" : "virtual", "pairs", (int)f->n,
				"messages", f->messages, "per_message", medians(f->message, f->n), "per_kb", medians(f->kb, f->n),
				"range", ranges(f->message, f->n), "caches", f->cache[0], f->cache[1], f->cache[2]);
	bool bad = doc == NULL || json_dumpf(doc, stdout, JSON_INDENT(1)) != 0;

	putchar('\n');
	json_decref(doc);
	return bad ? BENCH_IO : BENCH_OK;
}

static int show(const struct input *in, struct figures *f)
{
	if (in->json)
		return show_json(in, f);
	printf("a model of one processor and its caches (cachegrind), %.0f messages; sharing between processors is not in it\n"
	       "%s\ninstructions %s; data %s; last level %s\n\n%-34s%14s%14s%s\n", f->messages, in->real ?
	       "by the real clock: threads took turns by chance" : "in virtual time, on one thread: the same command says the same, within a per cent", f->cache[0],
	       f->cache[1], f->cache[2], "", "per message", "per KB", in->real ? "   lowest to highest per message" : "");
	for (unsigned i = 0; i < FIGURES; i++) {
		printf("%-34s%14.4g", figure[i].doc, bench_stat("median", f->message[i], f->n));
		if (isnan(f->kb[i][0]))
			printf("%14s", "-");
		else
			printf("%14.4g", bench_stat("median", f->kb[i], f->n));
		if (in->real)
			printf("   %.4g to %.4g in %u pairs", bench_stat("least", f->message[i], f->n),
			       bench_stat("most", f->message[i], f->n), f->n);
		putchar('\n');
	}
	return BENCH_OK;
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
	static struct figures f;
	struct input in = { .time = 0 };
	char why[700] = "";
	int code = BENCH_OK;

	argp_err_exit_status = BENCH_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &in);
	for (unsigned i = 0; i < in.pairs && code == BENCH_OK; i++)
		code = one_pair(&in, &f, why, sizeof why);
	if (code != BENCH_OK) {
		fprintf(stderr, "vp-bench misses: %s: %s\n", in.o.file[0], why);
		return code;
	}
	return show(&in, &f);
}

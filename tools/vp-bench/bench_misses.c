/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_misses.c - the subcommand misses: cache misses of a message where the machine does
 * not count them, from valgrind's model of a cache (M162).
 *
 * Two runs under cachegrind, one three times as long as the other: what the longer one has
 * more, over the messages that it has more, is a message's; bringing the graph up falls out.
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

struct input {
	struct bench_options o;
	xk_ns time;
	bool  json;
};

struct model {
	double n[EVENTS], messages, bytes;
	char   cache[3][80];             /* I1, D1, last level, as cachegrind describes them */
};

/* ---- options ------------------------------------------------------------------------------- */

enum { OPT_VP_RUN = 700 };

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct input *in = state->input;

	switch (key) {
	case ARGP_KEY_ARG: bench_take_word(&in->o, arg, state); return 0;
	case ARGP_KEY_END:
		if (in->o.nfiles != 1)
			argp_error(state, "needs one graph file");
		return 0;
	case 'j': in->json = true; return 0;
	case 't': in->time = bench_take_time("time", arg, 10 * XK_MS, 60 * XK_SEC, "10ms and 1min", state); return 0;
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
	const char *argv[BENCH_ARGS + 12];
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

struct shown { const char *name, *doc; double v; };

static void figures(const struct model *a, const struct model *b, struct shown out[5])
{
	double d[EVENTS];

	/* Where there are none, chance in the two set-ups may leave a few too many in the first. */
	for (unsigned i = 0; i < EVENTS; i++)
		d[i] = b->n[i] > a->n[i] ? b->n[i] - a->n[i] : 0;
	out[0] = (struct shown){ "instructions", "instructions", d[IR] };
	out[1] = (struct shown){ "first_level_instruction_misses", "first-level misses, instructions", d[I1MR] };
	out[2] = (struct shown){ "first_level_data_misses", "first-level misses, data", d[D1MR] + d[D1MW] };
	out[3] = (struct shown){ "last_level_instruction_misses", "last-level misses, instructions", d[ILMR] };
	out[4] = (struct shown){ "last_level_data_misses", "last-level misses, data", d[DLMR] + d[DLMW] };
}

static int show(const struct input *in, const struct model *a, const struct model *b)
{
	double messages = b->messages - a->messages, kb = (b->bytes - a->bytes) / 1024;
	struct shown s[5];
	json_t *doc, *message = json_object(), *per_kb = json_object();
	int bad;

	figures(a, b, s);
	for (unsigned i = 0; i < XK_ARRAY_LEN(s); i++) {
		json_object_set_new(message, s[i].name, json_real(s[i].v / messages));
		json_object_set_new(per_kb, s[i].name, bench_real_json(kb > 0 ? s[i].v / kb : NAN));
	}
	doc = json_pack("{s:i, s:s, s:s, s:f, s:o, s:o, s:[s, s, s]}", "schema", 1, "tool", "vp-bench misses", "file", in->o.file[0],
			"messages", messages, "per_message", message, "per_kb", per_kb, "caches", a->cache[0], a->cache[1],
			a->cache[2]);
	if (in->json) {
		bad = doc == NULL || json_dumpf(doc, stdout, JSON_INDENT(1)) != 0;
		putchar('\n');
		json_decref(doc);
		return bad ? BENCH_IO : BENCH_OK;
	}
	json_decref(doc);
	printf("a model of one processor and its caches (cachegrind), %.0f messages; sharing between processors is not in it\n"
	       "instructions %s; data %s; last level %s\n\n%-34s%14s%14s\n", messages, a->cache[0], a->cache[1], a->cache[2], "",
	       "per message", "per KB");
	for (unsigned i = 0; i < XK_ARRAY_LEN(s); i++) {
		printf("%-34s%14.4g", s[i].doc, s[i].v / messages);
		if (kb > 0)
			printf("%14.4g\n", s[i].v / kb);
		else
			printf("%14s\n", "-");
	}
	return BENCH_OK;
}

int bench_misses_main(int argc, char **argv)
{
	static const struct argp_option opts[] = {
		{ "time", 't', "TIME", 0, "Of the shorter run, as valgrind runs it (default: 2s); the other is three times as long", 0 },
		{ "json", 'j', NULL, 0, "Print JSON (docs/schema/vp-misses-1.json)", 0 },
		{ "vp-run", OPT_VP_RUN, "PROGRAM", 0, "Another vp-run; also the variable VP_RUN", 0 },
		{ 0 }
	};
	static const struct argp argp = { opts, parse, "FILE [k=v ...]",
		"Runs a graph twice under valgrind's cachegrind and says how many cache misses a message has in its model.", NULL, NULL, NULL };
	struct input in = { .time = 2 * XK_SEC };
	struct model a = { 0 }, b = { 0 };
	char why[700] = "";
	int code;

	argp_err_exit_status = BENCH_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &in);
	code = run(&in, in.time, &a, why, sizeof why);
	if (code == BENCH_OK)
		code = run(&in, 3 * in.time, &b, why, sizeof why);
	if (code == BENCH_OK && b.messages <= a.messages) {
		snprintf(why, sizeof why, "the longer run had no more messages than the shorter one: a graph that ends by itself "
			 "cannot be measured");
		code = BENCH_CHILD_FAILED;
	}
	if (code != BENCH_OK) {
		fprintf(stderr, "vp-bench misses: %s: %s\n", in.o.file[0], why);
		return code;
	}
	return show(&in, &a, &b);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_calibrate_affinity.c - `vp-bench calibrate --affinity`: a machine file of this machine, for vp-sim and for
 * vp-run on simulated processors.
 *
 * What affinity measures, the primitives of micro, and runs of UDP and TCP graphs in memory: at several bursts,
 * since a message's time is its own and its share of a unit's, and with --layer-times, which says how nodes share
 * it.  The text is ledger.lua's.
 * Invariant: a file that is written has been read again without complaint.
 */
#include "tools/vp-bench/bench_calibrate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/compose/xk_home.h"
#include "runtime/compose/xk_ledger.h"
#include "tools/vp-bench/bench.h"
#include "tools/vp-bench/bench_lua.h"

#define SMALL 64
#define OF_ETH 1400              /* not in fragments */
#define OF_FDDI 4096
#define BURST 16                 /* at which sizes are compared */
#define TRIES 6u                 /* runs for one that passes messages, each twice as long */

static const struct graph { const char *name, *file; int large; const char *arg[5]; } graphs[] = {
	{ "udp-presets link=eth", "udp-presets.lua", OF_ETH, { "preset=up", "link=eth", "count=0", "conns=4", "window=64" } },
	{ "udp-presets link=fddi", "udp-presets.lua", OF_FDDI, { "preset=up", "link=fddi", "count=0", "conns=4", "window=64" } },
	{ "bench/udp-up", "bench/udp-up.lua", OF_FDDI, { "conns=4" } },
	{ "bench/udp-down", "bench/udp-down.lua", OF_ETH, { "conns=4", "link=eth" } },
	{ "bench/tcp-up", "bench/tcp-up.lua", OF_FDDI, { "conns=4" } },
	{ "bench/tcp-down", "bench/tcp-down.lua", OF_ETH, { "conns=4", "link=eth" } },
};
static const struct kind { bool large; int burst; bool layers; } kinds[] = {
	{ false, 1, false }, { false, 4, false }, { false, 16, false }, { false, 64, false }, { true, BURST, false },
	{ false, BURST, true }, { true, BURST, true },
};
#define NKINDS XK_ARRAY_LEN(kinds)

/* ---- runs ------------------------------------------------------------------------------------- */

static json_t *nodes_of(const json_t *run)
{
	static const char *const keys[] = { "up_messages", "up_ns", "down_messages", "down_ns" };
	json_t *list = json_array(), *n;
	size_t i;

	json_array_foreach(json_object_get(run, "nodes"), i, n) {
		const json_t *time = json_object_get(n, "time");
		json_t *o = json_pack("{s:O}", "protocol", json_object_get(n, "protocol"));

		for (unsigned k = 0; k < XK_ARRAY_LEN(keys); k++)
			json_object_set_new(o, keys[k], json_real(bench_number_of(time, keys[k])));
		json_array_append_new(list, o);
	}
	return list;
}

double calibrate_cpu_of(const json_t *run)
{
	double ns = 0;
	json_t *w;
	size_t i;

	json_array_foreach(json_object_get(run, "workers"), i, w)
		ns += bench_number_of(w, "cpu_ns");
	return ns;
}

/* One run as ledger.lua wants it; NULL, and why. */
static json_t *run_one(struct calibrate *c, const struct graph *g, const struct kind *k, unsigned seed, xk_ns time,
		       char *why, size_t n)
{
	char file[4096], size[40], burst[40], duration[40], warmup[40], number[40];
	const char *argv[20] = { bench_child_program(c->vp_run), file, "--json", duration, warmup, number, size, burst };
	int bytes = k->large ? g->large : SMALL;
	unsigned at = 8;
	json_t *j, *o;

	xk_near_graphs(g->file, file, sizeof file);
	snprintf(size, sizeof size, "size=%d", bytes);
	snprintf(burst, sizeof burst, "burst=%d", k->burst);
	snprintf(duration, sizeof duration, "--duration=%lluns", (unsigned long long)time);
	snprintf(warmup, sizeof warmup, "--warmup=%lluns", (unsigned long long)time / 4);
	snprintf(number, sizeof number, "--seed=%u", seed);
	if (k->layers)
		argv[at++] = "--layer-times";
	for (unsigned i = 0; i < XK_ARRAY_LEN(g->arg) && g->arg[i] != NULL; i++)
		argv[at++] = g->arg[i];
	j = bench_child_json(argv, 4 * (double)time / 1e9 + 60, &c->interrupted, why, n);
	if (j == NULL)
		return NULL;
	o = json_pack("{s:s, s:i, s:i, s:b, s:f, s:f, s:o}", "graph", g->name, "size", bytes, "burst", k->burst, "layers",
		      (int)k->layers, "messages", bench_number_of(j, "messages"), "cpu_ns", calibrate_cpu_of(j), "nodes",
		      k->layers ? nodes_of(j) : json_array());
	json_decref(j);
	return o;
}

/* The same, and for longer when it passed no message: on a busy machine a short run may have had no time at all. */
static json_t *run_some(struct calibrate *c, const struct graph *g, const struct kind *k, unsigned seed, char *why,
			size_t n)
{
	for (unsigned i = 0; i < TRIES; i++) {
		json_t *o = run_one(c, g, k, seed + i, c->duration << i, why, n);

		if (o == NULL || bench_number_of(o, "messages") > 0)
			return o;
		json_decref(o);
	}
	snprintf(why, n, "%s: not one message passed in %u runs", g->name, TRIES);
	return NULL;
}

/* {graphs, sizes, burst, runs}; in turns, so that what the machine does falls on all.  NULL, and why. */
static json_t *run_all(struct calibrate *c, char *why, size_t n)
{
	json_t *names = json_array(), *sizes = json_array(), *runs = json_array();

	for (unsigned i = 0; i < XK_ARRAY_LEN(graphs); i++) {
		json_array_append_new(names, json_string(graphs[i].name));
		json_array_append_new(sizes, json_pack("{s:i, s:i}", "small", SMALL, "large", graphs[i].large));
	}
	for (unsigned i = 0; i < c->runs * XK_ARRAY_LEN(graphs) * NKINDS; i++) {
		unsigned at = i % (XK_ARRAY_LEN(graphs) * NKINDS);
		json_t *o = run_some(c, &graphs[at / NKINDS], &kinds[at % NKINDS], 1 + i, why, n);

		if (o == NULL) {
			json_decref(names);
			json_decref(sizes);
			json_decref(runs);
			return NULL;
		}
		json_array_append_new(runs, o);
	}
	return json_pack("{s:o, s:o, s:i, s:o}", "graphs", names, "sizes", sizes, "burst", BURST, "runs", runs);
}

/* ---- the file ---------------------------------------------------------------------------------- */

/* The file's name without folder and ending, as far as a machine may be called so. */
static void name_of(const char *out, char *name, size_t n)
{
	const char *slash = out != NULL ? strrchr(out, '/') : NULL, *from = slash != NULL ? slash + 1 : out;
	size_t len = 0;

	while (from != NULL && len + 1 < n && (strchr("_-", from[len]) != NULL || strchr("abcdefghijklmnopqrstuvwxyz"
	       "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", from[len]) != NULL) && from[len] != '\0') {
		name[len] = from[len];
		len++;
	}
	name[len] = '\0';
	if (len == 0)
		snprintf(name, n, "here");
}

static json_t *said(const struct calibrate *c, const json_t *doc)
{
	const json_t *env = json_object_get(doc, "environment");
	const char *processor = json_string_value(json_object_get(env, "processor"));
	char name[64], date[32] = "", machine[300];
	time_t now = time(NULL);
	struct tm tm;

	name_of(c->out, name, sizeof name);
	if (gmtime_r(&now, &tm) != NULL)
		strftime(date, sizeof date, "%Y-%m-%d", &tm);
	snprintf(machine, sizeof machine, "%.200s, %ld processors", processor != NULL ? processor :
		 "a processor without a name", sysconf(_SC_NPROCESSORS_ONLN));
	return json_pack("{s:s, s:s, s:s, s:s, s:I}", "name", name, "command", c->command, "date", date, "machine", machine,
			 "processors", json_is_true(json_object_get(doc, "two_processors")) ?
			 (json_int_t)sysconf(_SC_NPROCESSORS_ONLN) : (json_int_t)1);
}

/* What ledger.lua wants: who says it, what affinity and micro measured, runs, queues. */
enum { SAID, AFFINITY, MICRO, RUNS, QUEUES, NARGS };

static char *ledger(void *args, char *why, size_t n)
{
	return bench_lua_text("ledger", "file", (json_t *const *)args, NARGS, why, n);
}

/* Children first: micro pins this thread. */
static char *text_of(struct calibrate *c, char *why, size_t n)
{
	json_t *args[NARGS] = { NULL };
	char *text = NULL;

	args[RUNS] = run_all(c, why, n);
	if (args[RUNS] != NULL && !c->interrupted)
		args[QUEUES] = calibrate_queues_run(c, why, n);
	if (args[QUEUES] != NULL && !c->interrupted)
		args[AFFINITY] = bench_affinity_measure(&c->affinity, why, n);
	if (args[AFFINITY] != NULL) {
		args[SAID] = said(c, args[AFFINITY]);
		args[MICRO] = bench_micro_rows(2 * c->runs - 1);
	}
	if (args[MICRO] != NULL) {
		calibrate_queues_fit(c, args[QUEUES], ledger, args);
		text = ledger(args, why, n);
	} else if (args[AFFINITY] != NULL) {
		snprintf(why, n, "out of memory");
	}
	for (unsigned i = 0; i < NARGS; i++)
		json_decref(args[i]);
	return text;
}

/* May a file be made where it shall be?  Asked before half a minute is spent. */
static bool has_place(const char *out)
{
	char folder[4096];
	const char *slash = out != NULL ? strrchr(out, '/') : NULL;

	if (out == NULL)
		return true;
	snprintf(folder, sizeof folder, "%.*s", slash == NULL || slash == out ? 1 : (int)(slash - out),
		 slash == NULL ? "." : out);
	if (access(folder, W_OK | X_OK) == 0)
		return true;
	fprintf(stderr, "vp-bench calibrate: cannot write %s: %s\n", out, strerror(errno));
	return false;
}

/* Is it a machine file?  Complaints are printed, with their lines. */
static bool readable(const char *file)
{
	struct xk_errs *e = xk_errs_new();
	struct xk_ledger *l = NULL;
	bool good = e != NULL && xk_ledger_load(&l, file, NULL, 0, e) == XK_OK;

	if (!good && e != NULL)
		xk_spec_print_errors(stderr, l != NULL ? xk_ledger_spec(l) : NULL, e, NULL);
	xk_ledger_free(l);
	if (e != NULL)
		xk_errs_free(e);
	return good;
}

static int write_file(const struct calibrate *c, const char *text)
{
	char why[4400];

	if (c->out == NULL)
		return fputs(text, stdout) >= 0 ? BENCH_OK : BENCH_IO;
	if (bench_text_save(text, c->out, why, sizeof why) != BENCH_OK) {
		fprintf(stderr, "vp-bench calibrate: cannot write %s\n", why);
		return BENCH_IO;
	}
	if (readable(c->out))
		return BENCH_OK;
	fprintf(stderr, "vp-bench calibrate: what was written to %s is no machine file: removed\n", c->out);
	(void)unlink(c->out);
	return BENCH_CHILD_FAILED;
}

int calibrate_affinity(struct calibrate *c)
{
	char why[700] = "";
	char *text;
	int code;

	if (!has_place(c->out))
		return BENCH_IO;
	text = text_of(c, why, sizeof why);
	if (c->interrupted)
		code = BENCH_INTERRUPTED;
	else if (text == NULL)
		code = BENCH_CHILD_FAILED;
	else
		code = write_file(c, text);
	if (text == NULL && !c->interrupted)
		fprintf(stderr, "vp-bench calibrate: %s\n", why);
	free(text);
	return code;
}

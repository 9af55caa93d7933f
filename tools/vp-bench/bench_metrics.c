/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_metrics.c - from what a child says to the numbers of a run.
 *
 * One table names every metric: its unit, what it means, what the child must
 * be asked for.  A metric that does not exist for a run (the 4th percentile of
 * three threads) is null, never a made-up number.
 */
#include "tools/vp-bench/bench.h"

#include <math.h>
#include <string.h>

#include "tools/vp-bench/bench_stats.h"

#define THREAD(kind, unit, what) \
	{ "thread_" kind ".max", unit, what ", of the thread with the highest throughput (A)", BENCH_NEED_VPS, false }, \
	{ "thread_" kind ".p75", unit, what ", of the thread at the 75th percentile of throughput (B)", BENCH_NEED_VPS, false }, \
	{ "thread_" kind ".p50", unit, what ", of the thread at the median of throughput (C)", BENCH_NEED_VPS, false }, \
	{ "thread_" kind ".p25", unit, what ", of the thread at the 25th percentile of throughput (D)", BENCH_NEED_VPS, false }, \
	{ "thread_" kind ".p4", unit, what ", of the thread at the 4th percentile of throughput (E); from 25 threads on", \
	  BENCH_NEED_VPS, false }, \
	{ "thread_" kind ".min", unit, what ", of the thread with the lowest throughput (F)", BENCH_NEED_VPS, false }

#define WINDOW(w) \
	{ "jain." w, "", "Jain's index of the connections, mean over windows of " w, BENCH_NEED_FAIR, false }, \
	{ "max_over_min." w, "", "busiest connection over the least busy one, median over windows of " w "; null when " \
	  "connections starve in half of them", BENCH_NEED_FAIR, true }, \
	{ "starved." w, "", "share of connections without a message, mean over windows of " w, BENCH_NEED_FAIR, true }

#define PER_KB(name, unit, what) { "kb." name, unit, what ", per KB of payload", 0, true }

const struct bench_metric bench_metrics[] = {
	{ "gbit", "Gbit/s", "payload bits per second", 0, false },
	{ "mps", "1/s", "messages per second", 0, false },
	{ "ns", "ns", "time per message: measured time / messages", 0, true },
	{ "cpu_ns", "ns", "processor time of the workers per message: a busy machine costs precision, not truth", 0, true },
	{ "drops", "1/s", "dropped messages per second, all nodes and reasons", 0, true },
	{ "user", "", "processors' worth of user time", 0, false },
	{ "sys", "", "processors' worth of system time", 0, true },
	{ "switches_voluntary", "1/s", "voluntary context switches per second, all workers", 0, true },
	{ "switches_involuntary", "1/s", "involuntary context switches per second, all workers", 0, true },
	{ "migrations", "1/s", "moves to another processor per second, seen every 10 ms of a worker", 0, true },
	{ "voluntary_20k", "", "voluntary context switches of all workers for 20,000 messages", 0, true },
	{ "involuntary_20k", "", "involuntary context switches of all workers for 20,000 messages", 0, true },
	{ "lock_ms_20k", "ms", "time that was waited for locks for 20,000 messages, all threads, from samples", 0, true },
	{ "full_ms_20k", "ms", "time that threads of layers waited for room in a queue, for 20,000 messages", BENCH_NEED_VPS, true },
	{ "empty_ms_20k", "ms", "time that threads of layers waited for messages, for 20,000 of them", BENCH_NEED_VPS, true },
	{ "sync_ms_20k", "ms", "time that threads waited for locks and in queues between layers, for 20,000 messages", BENCH_NEED_VPS, true },
	{ "locks_message", "", "locks taken per message, all classes", 0, true },
	{ "contended", "%", "locks that were not had at once, of all that were taken", 0, true },
	{ "global_contended", "%", "the same of locks that guard more than a connection: the table's, or else the groups'", 0, true },
	{ "switches_kb", "", "context switches of all workers per KB of payload", 0, true },
	{ "run_delay_kb", "ns", "time that workers were ready and did not run, per KB of payload", 0, true },
	{ "misses_kb", "", "cache misses per KB of payload, where the machine counts them", 0, true },
	THREAD("rate", "", "throughput over the mean of all threads"),
	THREAD("user", "", "user time over the mean of all threads"),
	THREAD("latency", "us", "user time per message by Little's law"),
	{ "thread_spread", "", "highest over lowest throughput of a thread (A/F)", BENCH_NEED_VPS, true },
	{ "thread_tail", "", "latency of the slowest thread over that at the 4th percentile (F/E); from 25 threads on",
	  BENCH_NEED_VPS, true },
	{ "thread_jain", "", "Jain's index of the threads' throughput", BENCH_NEED_VPS, false },
	{ "user_rate_correlation", "", "Pearson correlation of the threads' user time and throughput", BENCH_NEED_VPS, false },
	{ "latency", "us", "user time per message over all threads by Little's law", BENCH_NEED_VPS, true },
	{ "jain", "", "Jain's index of the connections over the whole run", BENCH_NEED_CONNS, false },
	{ "max_over_min", "", "busiest connection over the least busy one, whole run; null when one sent nothing",
	  BENCH_NEED_CONNS, true },
	PER_KB("user", "ns", "user time of the workers"),
	PER_KB("cpu", "ns", "processor time of the workers"),
	PER_KB("switches_voluntary", "", "voluntary context switches of the workers"),
	PER_KB("switches_involuntary", "", "involuntary context switches of the workers"),
	PER_KB("migrations", "", "moves of the workers to another processor"),
	PER_KB("lock_wait", "ns", "time waited for locks of all classes"),
	PER_KB("run_delay", "ns", "time that runnable threads waited for a processor (schedstat)"),
	PER_KB("cache_misses", "", "cache misses in user mode; null without hardware counters"),
	{ "rtt.p50", "us", "time until the answer, median, of messages that an application timed; null when none does", 0, true },
	{ "rtt.p90", "us", "the same, 90th percentile", 0, true },
	{ "rtt.p99", "us", "the same, 99th percentile", 0, true },
	{ "rtt.p999", "us", "the same, 99.9th percentile", 0, true },
	WINDOW("10ms"), WINDOW("100ms"), WINDOW("1s"),
	{ NULL, NULL, NULL, 0, false },
};

const struct bench_metric *bench_metric_find(const char *name)
{
	for (const struct bench_metric *m = bench_metrics; m->name != NULL; m++)
		if (strcmp(m->name, name) == 0)
			return m;
	return NULL;
}

/* What vp-run's JSON calls it, and its ours. */
static const char *const elsewhere[][2] = {
	{ "messages_per_s", "mps" }, { "mbit_per_s", "gbit" }, { "ns_per_message", "ns" }, { "bytes", "gbit" }, { "messages", "mps" },
	{ "user_ns", "user" }, { "system_ns", "sys" }, { "sys_ns", "sys" }, { "voluntary_switches", "switches_voluntary" },
	{ "involuntary_switches", "switches_involuntary" }, { "lock_wait_ns", "kb.lock_wait" }, { "lock_contended_share", "contended" },
	{ "run_delay_ns", "kb.run_delay" }, { "cache_misses", "kb.cache_misses" }, { "rtt_p50_ns", "rtt.p50" },
	{ "rtt_p90_ns", "rtt.p90" }, { "rtt_p99_ns", "rtt.p99" }, { "rtt_p999_ns", "rtt.p999" },
};

const char *bench_metric_near(const char *name)
{
	const char *names[128];
	unsigned n = 0;

	for (unsigned i = 0; i < XK_ARRAY_LEN(elsewhere); i++)
		if (strcmp(elsewhere[i][0], name) == 0)
			return elsewhere[i][1];
	for (const struct bench_metric *m = bench_metrics; m->name != NULL && n < XK_ARRAY_LEN(names); m++)
		names[n++] = m->name;
	return xk_errs_suggest(name, names, n);
}

static void put(json_t *o, const char *key, double v)
{
	json_object_set_new(o, key, isfinite(v) ? json_real(v) : json_null());
}

/* ---- the whole ------------------------------------------------------------------ */

static double all_drops(const json_t *child)
{
	const json_t *node, *reason;
	const char *name;
	double sum = 0;
	size_t i;

	json_array_foreach(json_object_get(child, "nodes"), i, node)
		json_object_foreach(json_object_get(node, "drops"), name, reason)
			sum += json_number_value(reason);
	return sum;
}

static void of_workers(const json_t *child, double s, json_t *out)
{
	double user = 0, sys = 0, vol = 0, invol = 0, moves = 0, cpu = 0, messages = bench_number_of(child, "messages");
	const json_t *w;
	size_t i;

	json_array_foreach(json_object_get(child, "workers"), i, w) {
		user += bench_number_of(w, "user_ns");
		sys += bench_number_of(w, "sys_ns");
		vol += bench_number_of(w, "voluntary_switches");
		invol += bench_number_of(w, "involuntary_switches");
		moves += bench_number_of(w, "migrations");
		cpu += bench_number_of(w, "cpu_ns");
	}
	put(out, "user", user / 1e9 / s);
	put(out, "sys", sys / 1e9 / s);
	put(out, "switches_voluntary", vol / s);
	put(out, "switches_involuntary", invol / s);
	put(out, "migrations", moves / s);
	put(out, "cpu_ns", cpu > 0 && messages > 0 ? cpu / messages : NAN);
}

/* What the child's record has, per KB and of answers, under our names. */
static void of_record(const json_t *child, json_t *out)
{
	static const struct { const char *ours, *theirs; } row[] = {
		{ "kb.user", "user_ns" }, { "kb.cpu", "cpu_ns" }, { "kb.switches_voluntary", "voluntary_switches" },
		{ "kb.switches_involuntary", "involuntary_switches" }, { "kb.migrations", "migrations" },
		{ "kb.lock_wait", "lock_wait_ns" }, { "kb.run_delay", "run_delay_ns" }, { "kb.cache_misses", "cache_misses" },
	};
	static const struct { const char *ours, *theirs; } rtt[] = {
		{ "rtt.p50", "rtt_p50_ns" }, { "rtt.p90", "rtt_p90_ns" }, { "rtt.p99", "rtt_p99_ns" }, { "rtt.p999", "rtt_p999_ns" },
	};
	const json_t *record = json_object_get(child, "record"), *kb = json_object_get(record, "per_kb");

	for (unsigned i = 0; i < XK_ARRAY_LEN(rtt); i++)
		put(out, rtt[i].ours, bench_real(record, rtt[i].theirs) / 1e3);

	for (unsigned i = 0; i < XK_ARRAY_LEN(row); i++) {
		const json_t *v = json_object_get(kb, row[i].theirs);

		put(out, row[i].ours, json_is_number(v) ? json_number_value(v) : NAN);
	}
}

/* ---- connections -------------------------------------------------------------------- */

static void of_conns(const json_t *child, json_t *out)
{
	const json_t *list = json_object_get(child, "connections"), *c;
	const char *busiest = json_string_value(json_object_get(child, "busiest"));
	size_t n = 0, i;
	double *v = calloc(json_array_size(list) + 1, sizeof *v);

	if (v == NULL)
		return;
	json_array_foreach(list, i, c) {
		const char *node = json_string_value(json_object_get(c, "node"));

		if (busiest == NULL || node == NULL || strcmp(node, busiest) == 0)
			v[n++] = bench_number_of(c, "messages");
	}
	put(out, "jain", n ? bench_jain(v, n) : NAN);
	put(out, "max_over_min", n ? bench_max_over_min(v, n) : NAN);
	free(v);
}

static void of_windows(const json_t *child, json_t *out)
{
	static const char *const name[] = { "10ms", "100ms", "1s" };
	static const double len[] = { 1e7, 1e8, 1e9 };
	const json_t *w;
	char key[40];
	size_t i;

	for (unsigned k = 0; k < XK_ARRAY_LEN(name); k++) {
		const json_t *found = NULL, *v;

		json_array_foreach(json_object_get(child, "fairness"), i, w)
			if (bench_number_of(w, "window_ns") == len[k] && bench_number_of(w, "windows") > 0)
				found = w;
		for (unsigned m = 0; m < 3; m++) {
			static const char *const what[] = { "jain", "max_over_min", "starved" };

			v = json_object_get(found, what[m]);
			snprintf(key, sizeof key, "%s.%s", what[m], name[k]);
			put(out, key, json_is_number(v) ? json_number_value(v) : NAN);
		}
	}
}

/* ---- all of it ------------------------------------------------------------------------ */

/* Did its threads wait for processors longer than they ran and slept? */
static bool starved(const json_t *child)
{
	double threads = (double)json_array_size(json_object_get(child, "workers"));

	return bench_number_of(json_object_get(child, "record"), "run_delay_ns") >
	       bench_number_of(child, "measured_ns") * threads / 2;
}

static const char *fault(const json_t *child, unsigned needs)
{
	if (bench_number_of(child, "schema") != 1)
		return "it printed no JSON of schema 1";
	if (bench_number_of(child, "measured_ns") <= 0)
		return "it measured for no time at all";
	if (!json_is_array(json_object_get(child, "workers")) || !json_is_array(json_object_get(child, "nodes")))
		return "its JSON lacks workers or nodes";
	if ((needs & BENCH_NEED_VPS) && !json_is_array(json_object_get(child, "vps")))
		return "its JSON lacks vps";
	if ((needs & BENCH_NEED_CONNS) && !json_is_array(json_object_get(child, "connections")))
		return "its JSON lacks connections";
	if ((needs & BENCH_NEED_FAIR) && !json_is_array(json_object_get(child, "fairness")))
		return "its JSON lacks fairness";
	if (bench_number_of(child, "messages") <= 0)
		return starved(child) ? "not one message passed: its threads were ready for most of the time, and other programs had the processors"
				      : "not one message passed";
	return NULL;
}

json_t *bench_metrics_of(const json_t *child, unsigned needs, char *why, size_t n)
{
	const char *bad = fault(child, needs);
	double s = bench_number_of(child, "measured_ns") / 1e9, messages = bench_number_of(child, "messages");
	json_t *out;

	if (bad != NULL) {
		snprintf(why, n, "%s", bad);
		return NULL;
	}
	out = json_object();
	put(out, "gbit", bench_number_of(child, "bytes") * 8 / s / 1e9);
	put(out, "mps", messages / s);
	put(out, "ns", s * 1e9 / messages);
	put(out, "drops", all_drops(child) / s);
	of_workers(child, s, out);
	of_record(child, out);
	bench_normal_of(child, out);
	if (needs & BENCH_NEED_VPS)
		bench_threads_of(child, out);
	if (needs & BENCH_NEED_CONNS)
		of_conns(child, out);
	if (needs & BENCH_NEED_FAIR)
		of_windows(child, out);
	return out;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_normal.c - metrics in the units of the papers: context switches and lock
 * time for 20,000 messages (S1), lock acquisitions that were not immediate, and
 * what a KB of payload costs (S3).
 *
 * A rate per second favours who does little; these are per work done.  The lock
 * time is the time waited and not the bracketed call (S1's figures 23 to 27 count
 * both): a clock reading costs more than a free lock today.  What S1 waits for on Condition
 * objects, room in a queue and messages in one, threads of layers count themselves.  A lock is global when
 * it guards more than a connection: the table's where there is one, else the groups'.
 * Invariant: what a run cannot tell is null.
 */
#include "tools/vp-bench/bench.h"

#include <math.h>
#include <string.h>

#define THEIR_MESSAGES 20000.0

static void put(json_t *o, const char *key, double v)
{
	json_object_set_new(o, key, bench_real_json(v));
}

/* Over all workers; NAN when one does not tell. */
static double sum(const json_t *child, const char *key)
{
	const json_t *w;
	double total = 0;
	size_t i;

	json_array_foreach(json_object_get(child, "workers"), i, w)
		total += bench_real(w, key);
	return total;
}

/* Over the locks of a class, or all (NULL). */
static double locks(const json_t *child, const char *class, const char *key)
{
	const json_t *l;
	double total = 0;
	size_t i;

	json_array_foreach(json_object_get(child, "locks"), i, l)
		if (class == NULL || strcmp(bench_text(l, "class"), class) == 0)
			total += bench_real(l, key);
	return total;
}

/* Over the threads of layers; 0 where layers have none, NAN where virtual processors were not asked for. */
static double sum_lanes(const json_t *child, const char *key)
{
	const json_t *vps = json_object_get(child, "vps"), *vp, *lane;
	double total = vps != NULL ? 0 : NAN;
	size_t i;

	json_array_foreach(vps, i, vp)
		if ((lane = json_object_get(vp, "lane")) != NULL)
			total += bench_real(lane, key);
	return total;
}

static double contended(const json_t *child, const char *class)
{
	double taken = locks(child, class, "taken");

	return taken > 0 ? locks(child, class, "contended") / taken * 100 : NAN;
}

/* What the run's own record says of it, per KB; NAN where it does not. */
static double per_kb(const json_t *child, const char *key)
{
	return bench_real(json_object_get(json_object_get(child, "record"), "per_kb"), key);
}

static void of_switches(const json_t *child, double messages, double kb, json_t *out)
{
	double vol = sum(child, "voluntary_switches"), invol = sum(child, "involuntary_switches");

	put(out, "voluntary_20k", vol / messages * THEIR_MESSAGES);
	put(out, "involuntary_20k", invol / messages * THEIR_MESSAGES);
	put(out, "switches_kb", kb > 0 ? (vol + invol) / kb : NAN);
	put(out, "run_delay_kb", per_kb(child, "run_delay_ns"));
	put(out, "misses_kb", per_kb(child, "cache_misses"));
}

/* S1 brackets the calls of its Mutex and Condition objects; a queue between layers has a Condition for room and one
 * for messages. */
static void put_waited(const json_t *child, double messages, json_t *out)
{
	double ms = 1e-6 / messages * THEIR_MESSAGES;
	double lock = locks(child, NULL, "wait_ns"), full = sum_lanes(child, "full_ns"), empty = sum_lanes(child, "empty_ns");

	put(out, "lock_ms_20k", lock * ms);
	put(out, "full_ms_20k", full * ms);
	put(out, "empty_ms_20k", empty * ms);
	put(out, "sync_ms_20k", (lock + full + empty) * ms);
}

void bench_normal_of(const json_t *child, json_t *out)
{
	double messages = bench_real(child, "messages"), kb = bench_real(child, "bytes") / 1000;
	bool table = locks(child, "table", "taken") > 0;

	of_switches(child, messages, kb, out);
	put_waited(child, messages, out);
	put(out, "locks_message", locks(child, NULL, "taken") / messages);
	put(out, "contended", contended(child, NULL));
	put(out, "global_contended", contended(child, table ? "table" : "vp"));
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_threads.c - how threads share the throughput: percentiles, user time,
 * latency.
 *
 * A thread's throughput is that of the virtual processors it runs (worker i
 * runs i, i + workers, ...; with schedule "os" exactly one).  Threads are
 * ranked by throughput; user time and latency are those of the very threads at
 * the ranks, so their curves may cross, as in the paper.
 * Invariant: only threads whose virtual processors have messages or should
 * have had them are ranked; a starved thread is the minimum, not left out.
 */
#include "tools/vp-bench/bench.h"

#include <math.h>
#include <stdlib.h>

#include "tools/vp-bench/bench_stats.h"

/* From so many threads on the 4th percentile is not the minimum. */
#define THREADS_FOR_P4 25u

struct thread { double messages, user; };

static void put(json_t *o, const char *kind, const char *rank, double v)
{
	char key[48];

	snprintf(key, sizeof key, rank ? "%s.%s" : "%s", kind, rank);
	json_object_set_new(o, key, bench_real_json(v));
}

static int slower_first(const void *a, const void *b)
{
	double x = ((const struct thread *)a)->messages, y = ((const struct thread *)b)->messages;

	return (x > y) - (x < y);
}

/* Nearest rank, as bench_percentile. */
static size_t rank_of(double p, size_t n)
{
	size_t r = (size_t)ceil(p * (double)n);

	return r == 0 ? 0 : r > n ? n - 1 : r - 1;
}

static double latency_us(const struct thread *t)
{
	return t->messages > 0 ? bench_little(t->user / 1e9, t->messages) * 1e6 : NAN;
}

static void at_ranks(const struct thread *t, size_t n, double mean, double mean_user, json_t *out)
{
	static const struct { const char *name; double p; } ranks[] = {
		{ "max", 1 }, { "p75", 0.75 }, { "p50", 0.50 }, { "p25", 0.25 }, { "p4", 0.04 }, { "min", 0 },
	};

	for (unsigned i = 0; i < XK_ARRAY_LEN(ranks); i++) {
		const struct thread *at = &t[rank_of(ranks[i].p, n)];
		bool exists = n >= (ranks[i].p == 0.04 ? THREADS_FOR_P4 : 1);

		put(out, "thread_rate", ranks[i].name, exists && mean > 0 ? at->messages / mean : NAN);
		put(out, "thread_user", ranks[i].name, exists && mean_user > 0 ? at->user / mean_user : NAN);
		put(out, "thread_latency", ranks[i].name, exists ? latency_us(at) : NAN);
	}
	put(out, "thread_tail", NULL,
	    n >= THREADS_FOR_P4 ? latency_us(&t[0]) / latency_us(&t[rank_of(0.04, n)]) : NAN);
}

static void over_all(const struct thread *t, size_t n, json_t *out)
{
	double *rate = calloc(n, sizeof *rate), *user = calloc(n, sizeof *user);

	if (rate == NULL || user == NULL)
		abort();
	for (size_t i = 0; i < n; i++) {
		rate[i] = t[i].messages;
		user[i] = t[i].user;
	}
	put(out, "thread_spread", NULL, bench_max_over_min(rate, n));
	put(out, "thread_jain", NULL, bench_jain(rate, n));
	put(out, "user_rate_correlation", NULL, n > 1 ? bench_correlation(user, rate, n) : NAN);
	put(out, "latency", NULL, bench_little(bench_mean(user, n) / 1e9, bench_mean(rate, n)) * 1e6);
	at_ranks(t, n, bench_mean(rate, n), bench_mean(user, n), out);
	free(rate);
	free(user);
}

void bench_threads_of(const json_t *child, json_t *out)
{
	const json_t *vps = json_object_get(child, "vps"), *workers = json_object_get(child, "workers"), *v;
	size_t n = json_array_size(workers), i;
	struct thread *t = calloc(n + 1, sizeof *t);

	if (t == NULL)
		abort();
	json_array_foreach(workers, i, v)
		t[i].user = bench_number_of(v, "user_ns");
	if (n != 0)
		json_array_foreach(vps, i, v)
			t[i % n].messages += bench_number_of(v, "messages");
	if (n != 0) {
		qsort(t, n, sizeof *t, slower_first);
		over_all(t, n, out);
	}
	free(t);
}

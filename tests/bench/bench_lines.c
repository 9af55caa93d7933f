/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_lines.c - what the goal of resolving keys to sessions costs in cache lines alone: bursts of 32 random lines of a
 * table of 16 MiB, of a million sessions, of both, and of a session whose place is known only when
 * the table's line is there.
 *
 * Keys, their order, sessions and memory are those of tools/peers/demux.h; nothing is compared and
 * no bucket is searched, so no map takes less.  Lines are asked for as the map does, into the
 * second-level cache.  One way after the other, so that a cache keeps of the table what it keeps in
 * the real job; the least of many stretches counts, in processor time.
 * Usage: bench_lines [small]     small: pages of 4 KiB
 */
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "runtime/map/xk_table.h"
#include "tools/peers/demux.h"

#define LINES   (1u << 18)              /* of a table with room for two million */
#define LINE    64u
#define ROUNDS  40u

static char *table, *session;
static volatile uint64_t sink;

static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

enum { BUCKETS = 1, SESSIONS = 2, AFTER = 4 };  /* AFTER: sessions are asked for when buckets are there */

static inline uint64_t look(const char *line)
{
	return *(const volatile uint64_t *)(const volatile void *)line;
}

/* One burst; its sum, so that nobody leaves it out.  Tables are all zeros, which the compiler does
 * not know. */
static inline __attribute__((always_inline)) uint64_t burst(uint32_t *x, unsigned what)
{
	const char *bucket[DEMUX_BURST], *line[DEMUX_BURST];
	uint64_t sum = 0;

	for (unsigned i = 0; i < DEMUX_BURST; i++) {
		uint32_t no = demux_next(x);
		struct demux_key k = demux_key(no);

		bucket[i] = table + (size_t)(xk_hash_pair(k.w[0], k.w[1]) & (LINES - 1)) * LINE;
		line[i] = session + (size_t)no * DEMUX_SESSION;
		if (what & BUCKETS)
			xk_table_fetch(bucket[i]);
		if (what == SESSIONS || what == (BUCKETS | SESSIONS))
			xk_table_fetch(line[i]);
		sum += (uintptr_t)bucket[i];
	}
	for (unsigned i = 0; i < DEMUX_BURST && (what & BUCKETS) != 0; i++) {
		line[i] += look(bucket[i]);
		if (what & AFTER)
			xk_table_fetch(line[i]);
	}
	for (unsigned i = 0; i < DEMUX_BURST && (what & SESSIONS) != 0; i++)
		sum += look(line[i]);
	return sum;
}

static inline __attribute__((always_inline)) double stretch(unsigned what)
{
	static uint32_t x = 1;           /* the same keys again would find their lines in a cache */
	double t0 = cpu_ns();

	for (unsigned i = 0; i < DEMUX_ROUND; i++)
		sink += burst(&x, what);
	return (cpu_ns() - t0) / (DEMUX_ROUND * DEMUX_BURST);
}

static double keys(void) { return stretch(0); }
static double buckets(void) { return stretch(BUCKETS); }
static double sessions(void) { return stretch(SESSIONS); }
static double both(void) { return stretch(BUCKETS | SESSIONS); }
static double after(void) { return stretch(BUCKETS | SESSIONS | AFTER); }

static const struct { const char *name; double (*run)(void); } way[] = {
	{ "keys alone", keys }, { "buckets", buckets }, { "sessions", sessions }, { "both at once", both },
	{ "bucket, then session", after },
};

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "small") == 0)
		(void)prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	table = demux_memory((size_t)LINES * LINE);
	session = demux_memory((size_t)DEMUX_FLOWS * DEMUX_SESSION);
	if (table == NULL || session == NULL)
		return 1;
	memset(table, 0, (size_t)LINES * LINE);
	memset(session, 0, (size_t)DEMUX_FLOWS * DEMUX_SESSION);
	for (unsigned w = 0; w < XK_ARRAY_LEN(way); w++) {
		double least = 1e9;

		for (unsigned r = 0; r < ROUNDS; r++) {
			double t = way[w].run();

			least = t < least ? t : least;
		}
		printf("%-22s %6.2f ns a key\n", way[w].name, least);
	}
	return 0;
}

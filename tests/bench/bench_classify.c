/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_classify.c - nanoseconds per frame of every classifier of the build, from
 * 1 to 1 Mi connections bound.
 *
 * Bursts of 32 UDP frames, each of a connection drawn at random.  A burst's
 * addresses are written into its frames just before, as a device would; "frame"
 * is that alone, and not in the others' numbers.  Classifiers take turns; the
 * median of the rounds counts, in processor time.
 * Invariant: every verdict is checked to have named its own flow.
 */
#include "runtime/base/xk_bytes.h"
#include "runtime/classify/xk_classify.h"
#include "tests/runtime/classify/worlds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUNDS 9u
#define BURST  32u
#define OPS    (1u << 17)
#define KINDS  8u

struct bench {
	struct xk_flowtab    *tab;
	struct xk_flow      **flow;
	struct xk_classifier *c[KINDS];
	unsigned              kinds;
	uint32_t              n;
};

static uint8_t frame[BURST][2 * XK_CACHELINE] XK_ALIGNED;
static struct xk_msg message[BURST];

static void must(bool ok, const char *why)
{
	if (ok)
		return;
	fprintf(stderr, "bench_classify: %s\n", why);
	exit(1);
}

static struct xk_flowkey key_of(uint32_t i)
{
	return (struct xk_flowkey){ .raddr = htobe32(0x0a000000u + (i >> 14)), .laddr = htobe32(0x0b000001u),
				    .rport = htobe16((uint16_t)(20000 + (i & 0x3fff))), .lport = htobe16(9), .proto = 17 };
}

static void frames_make(void)
{
	for (unsigned j = 0; j < BURST; j++) {
		uint8_t *f = frame[j];

		xk_put_be16(f + 12, 0x0800);
		f[14] = 0x45;
		f[23] = 17;
		message[j] = (struct xk_msg){ .data = f, .len = 106, .tot = 106 };
	}
}

/* ---- one round --------------------------------------------------------------------------- */

static uint64_t burst_write(const struct bench *b, uint32_t *x)
{
	uint64_t want = 0;

	for (unsigned j = 0; j < BURST; j++) {
		uint32_t at = (*x = *x * 1664525u + 1013904223u) >> 12 & (b->n - 1);
		struct xk_flowkey k = key_of(at);

		memcpy(frame[j] + 26, &k.raddr, 8);
		memcpy(frame[j] + 34, &k.rport, 4);
		want += at;
	}
	return want;
}

static uint64_t burst_classify(struct xk_classifier *c)
{
	struct xk_msg *m[BURST];
	struct xk_run run[BURST];
	uint64_t named = 0;

	for (unsigned j = 0; j < BURST; j++)
		m[j] = &message[j];
	for (unsigned r = 0, n = xk_classify_runs(c, m, BURST, run); r < n; r++)
		named += (uint64_t)xk_slab_handle(run[r].flow) * run[r].n;
	return named;
}

static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* c NULL: frames are written, nothing else. */
static double round_of(const struct bench *b, struct xk_classifier *c, uint64_t *named)
{
	double t = cpu_ns();
	uint32_t x = 1;

	*named = 0;
	for (uint32_t i = 0; i < OPS; i += BURST) {
		uint64_t want = burst_write(b, &x);

		*named += c != NULL ? burst_classify(c) : want;
		__asm__ volatile("" ::: "memory");
	}
	return (cpu_ns() - t) / OPS;
}

/* The sum of handles that a round must name. */
static uint64_t right(const struct bench *b)
{
	uint64_t sum = 0;
	uint32_t x = 1;

	for (uint32_t i = 0; i < OPS; i++)
		sum += xk_slab_handle(b->flow[(x = x * 1664525u + 1013904223u) >> 12 & (b->n - 1)]);
	return sum;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void measure(struct bench *b)
{
	double ns[KINDS + 1][ROUNDS];
	uint64_t want = right(b), named;

	xk_rcu_read_lock();
	for (unsigned r = 0; r < ROUNDS; r++)
		for (unsigned w = 0; w <= b->kinds; w++) {
			ns[w][r] = round_of(b, w != 0 ? b->c[w - 1] : NULL, &named);
			must(w == 0 || named == want, "a wrong flow was named");
		}
	xk_rcu_read_unlock();
	for (unsigned w = 0; w <= b->kinds; w++)
		qsort(ns[w], ROUNDS, sizeof ns[w][0], by_value);
	printf("%9u %7.2f ns", b->n, ns[0][ROUNDS / 2]);
	for (unsigned w = 1; w <= b->kinds; w++)
		printf(" %7.2f ns", ns[w][ROUNDS / 2] - ns[0][ROUNDS / 2]);
	printf("\n");
	fflush(stdout);
}

/* ---- filling ------------------------------------------------------------------------------- */

/* Every back end that works here and looks at frames. */
static void classifiers(struct bench *b)
{
	char why[256];

	for (unsigned i = 0; xk_classifier_table[i] != NULL; i++) {
		const char *name = xk_classifier_table[i]->name;

		if (strcmp(name, "none") == 0)
			continue;
		must(b->kinds < KINDS, "more classifiers than it has room for");
		if (xk_classifier_new(&b->c[b->kinds], name, &world[WORLD_ETH].pat, b->tab, why, sizeof why) == XK_OK)
			b->kinds++;
		else if (b->n == 1)
			printf("%s: not here: %s\n", name, why);
	}
}

static void fill(struct bench *b, uint32_t n)
{
	*b = (struct bench){ .n = n, .flow = calloc(n, sizeof(*b->flow)) };
	must(b->flow != NULL && xk_flowtab_new(&b->tab, 1) == XK_OK, "out of memory");
	for (uint32_t i = 0; i < n; i++) {
		struct xk_flowkey k = key_of(i);

		must(xk_flow_bind(b->tab, &k, 0, NULL, &b->flow[i]) == XK_OK, "out of memory");
	}
	classifiers(b);
}

static void empty(struct bench *b)
{
	for (unsigned i = 0; i < b->kinds; i++)
		xk_classifier_free(b->c[i]);
	for (uint32_t i = 0; i < b->n; i++)
		xk_flow_unbind(b->tab, b->flow[i]);
	xk_flowtab_free(b->tab);
	free(b->flow);
}

int main(void)
{
	static const uint32_t sizes[] = { 1, 16, 256, 4096, 65536, 1048576 };
	struct bench b;

	xk_rcu_register();
	must(worlds_make() == NULL, "a pattern was refused");
	frames_make();
	for (unsigned i = 0; i < XK_ARRAY_LEN(sizes); i++) {
		fill(&b, sizes[i]);
		if (i == 0) {
			printf("%9s %10s", "sessions", "frame");
			for (unsigned w = 0; w < b.kinds; w++)
				printf(" %10s", b.c[w]->ops->name);
			printf("\n");
		}
		measure(&b);
		empty(&b);
	}
	xk_rcu_barrier();
	xk_rcu_unregister();
	return 0;
}

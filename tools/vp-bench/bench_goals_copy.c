/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_goals_copy.c - 4 KiB copied, with the checksum and without, in the
 * first-level cache and from memory.
 *
 * Both sides copy the same bytes between the same places.  The destination is
 * displaced by some lines, as coloured buffers are, so that loads are not taken
 * for being of the stores 4 KiB before them.
 */
#include "tools/vp-bench/bench.h"
#include "tools/vp-bench/bench_goals.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/base/xk_csum.h"

#define BYTES  4096u
#define CHUNK  256u
#define COLOUR 1088u
#define COLD   (256u << 20)      /* more than any cache */

static unsigned char area[2 * BYTES + COLOUR] __attribute__((aligned(4096)));

static double cpu_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void fused(void *to, const void *from, size_t n)
{
	uint32_t sum = xk_csum_copy(to, from, n, 0);

	__asm__ volatile("" : : "r"(sum) : "memory");
}

static void plain(void *to, const void *from, size_t n)
{
	memcpy(to, from, n);
	__asm__ volatile("" ::: "memory");
}

static enum goal_fault copies(const struct goals *g, void (*copy)(void *, const void *, size_t), double *v)
{
	/* The compiler shall not know how long it is, nor which function. */
	void (*volatile which)(void *, const void *, size_t) = copy;
	volatile size_t len = BYTES;
	double t0 = cpu_now(), t, n = 0;

	do {
		for (unsigned i = 0; i < CHUNK; i++)
			which(area + BYTES + COLOUR, area, len);
		n += CHUNK;
		t = cpu_now() - t0;
	} while (t < (double)g->time / 4);
	*v = t / n;
	return SIDE_OK;
}

enum goal_fault side_csum_copy(struct goals *g, const struct goal_side *s, double *v, char *why)
{
	(void)s;
	(void)why;
	return copies(g, fused, v);
}

enum goal_fault side_memcpy(struct goals *g, const struct goal_side *s, double *v, char *why)
{
	(void)s;
	(void)why;
	return copies(g, plain, v);
}

/* The destination is a page that stays hot, as a receiver's is. */
static enum goal_fault cold_copies(const struct goals *g, void (*copy)(void *, const void *, size_t), double *v, char *why)
{
	void (*volatile which)(void *, const void *, size_t) = copy;
	unsigned char *from = malloc(COLD);
	double t0, t, n = 0;
	size_t at = 0;

	if (from == NULL) {
		snprintf(why, GOAL_TEXT, "no memory for a copy of %u MiB", COLD >> 20);
		return SIDE_FAILED;
	}
	memset(from, 1, COLD);
	t0 = cpu_now();
	do {
		for (unsigned i = 0; i < CHUNK; i++, at = at + 2 * BYTES < COLD ? at + BYTES : 0)
			which(area, from + at, BYTES);
		n += CHUNK;
		t = cpu_now() - t0;
	} while (t < (double)g->time / 4);
	free(from);
	*v = t / n;
	return SIDE_OK;
}

enum goal_fault side_memcpy_cold(struct goals *g, const struct goal_side *s, double *v, char *why)
{
	(void)s;
	return cold_copies(g, plain, v, why);
}

enum goal_fault side_csum_copy_cold(struct goals *g, const struct goal_side *s, double *v, char *why)
{
	(void)s;
	return cold_copies(g, fused, v, why);
}

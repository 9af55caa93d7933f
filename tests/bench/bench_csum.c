/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_csum.c - gigabytes per second of memcpy, checksum and both fused.
 *
 * For each size and variant the three take turns within one run, so that a
 * change of the processor's clock meets all alike; the median of the turns
 * counts.  Buffers are hot in L1.  Run it by hand: it is not part of check.
 */
#include "runtime/base/xk_clock.h"
#include "runtime/base/xk_csum_inline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TURNS 101
#define BYTES 4000000u       /* per turn */

static uint8_t src[8192] XK_ALIGNED, dst[8192] XK_ALIGNED;
static uint32_t sink;
static size_t len;

static void run_memcpy(void)
{
	memcpy(dst, src, len);
	__asm__ volatile("" : : "r"(dst) : "memory");
}
static void run_sum(void) { sink += xk_csum(src, len, 0); }
static void run_fused(void) { sink += xk_csum_copy(dst, src, len, 0); }
static void run_sum_long(void) { sink += xk_csum_long(src, len, 0); }
static void run_fused_long(void) { sink += xk_csum_copy_long(dst, src, len, 0); }
static void run_two_passes(void) { run_memcpy(); sink += xk_csum_long(dst, len, 0); }

static const struct { const char *name; void (*fn)(void); } what[] = {
	{ "memcpy", run_memcpy },
	{ "sum", run_sum },
	{ "fused", run_fused },
	{ "sum (variant alone)", run_sum_long },
	{ "fused (variant alone)", run_fused_long },
	{ "memcpy, then sum", run_two_passes },
};
#define N XK_ARRAY_LEN(what)

static double turn(void (*fn)(void))
{
	unsigned n = BYTES / (unsigned)len, i;
	xk_ns t = xk_clock_host();

	for (i = 0; i < n; i++)
		fn();
	return (double)n * (double)len / (double)(xk_clock_host() - t);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void measure(void)
{
	static double v[N][TURNS];
	double copy = 0;
	unsigned i, t;

	for (t = 0; t < TURNS; t++)
		for (i = 0; i < N; i++)
			v[i][t] = turn(what[i].fn);
	for (i = 0; i < N; i++) {
		qsort(v[i], TURNS, sizeof v[i][0], by_value);
		if (i == 0)
			copy = v[0][TURNS / 2];
		printf("%-9s %5zu  %-22s %7.1f GB/s %7.2f ns  %5.2f of memcpy\n", xk_csum_variant(), len,
		       what[i].name, v[i][TURNS / 2], (double)len / v[i][TURNS / 2],
		       v[i][TURNS / 2] / copy);
	}
}

int main(void)
{
	static const char *const variant[] = { "portable", "avx2", "avx512" };
	static const size_t size[] = { 64, 72, 84, 1408, 4096, 4352 };
	unsigned i, j;

	for (i = 0; i < sizeof src; i++)
		src[i] = (uint8_t)(i * 37u + 11u);
	for (j = 0; j < XK_ARRAY_LEN(size); j++)
		for (i = 0; i < XK_ARRAY_LEN(variant); i++) {
			if (xk_csum_set_variant(variant[i]) != XK_OK) {
				printf("%-9s this processor lacks it\n", variant[i]);
				continue;
			}
			len = size[j];
			measure();
		}
	return sink == 1;
}

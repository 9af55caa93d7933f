/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_judge.h - could these numbers be guessed?  Tests of numbers that shall be as good as random.
 *
 * Each statistic of n numbers that ought to be uniform in [0, range) has a known distribution; one that lies
 * further out than chance puts it with probability 1e-13 is a fault, said on stdout.  About 60 statistics are
 * looked at: good numbers are called bad less than once in 10^11 calls.
 */
#ifndef XK_JUDGE_H
#define XK_JUDGE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JUDGE_Z 7.5                              /* of a normal distribution: 3e-14 on each side */

static inline bool judge_says(const char *what, const char *test, double x, double least, double most)
{
	if (x >= least && x <= most)
		return true;
	if (what != NULL)
		printf("# %s: %s: %g is not in %g to %g\n", what, test, x, least, most);
	return false;
}

/* Of 256 classes that are equally likely (Wilson and Hilferty, 1931). */
static inline bool judge_classes(const char *what, const char *test, const uint32_t class[256], double n)
{
	double a = 2.0 / (9 * 255), mean = n / 256, x = 0;

	for (unsigned i = 0; i < 256; i++)
		x += (class[i] - mean) * (class[i] - mean) / mean;
	return judge_says(what, test, x, 255 * pow(1 - a - JUDGE_Z * sqrt(a), 3), 255 * pow(1 - a + JUDGE_Z * sqrt(a), 3));
}

/* What is looked at of a number, or of two that were drawn one after the other. */
enum judge_part { JUDGE_HIGH, JUDGE_LOW, JUDGE_PAIR, JUDGE_STEP, JUDGE_PARTS };
static inline uint8_t judge_class(enum judge_part part, uint32_t a, uint32_t b, uint64_t range)
{
	uint64_t high = ((uint64_t)a << 8) / range;

	switch (part) {
	case JUDGE_HIGH: return (uint8_t)high;
	case JUDGE_LOW: return (uint8_t)a;
	case JUDGE_PAIR: return (uint8_t)((high & 0xf0) | ((uint64_t)b << 4) / range);
	default: return (uint8_t)((((b + range - a) % range) << 8) / range);
	}
}

static inline int judge_order(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* How many pairs are alike: of n numbers n^2 / 2 range in the mean.  Sorts v. */
static inline bool judge_alike(const char *what, uint32_t *v, uint32_t n, uint64_t range)
{
	double mean = (double)n * n / 2 / (double)range, alike = 0;

	qsort(v, n, sizeof v[0], judge_order);
	for (uint32_t i = 1, same = 0; i < n; i++) {
		same = v[i] == v[i - 1] ? same + 1 : 0;
		alike += same;
	}
	return judge_says(what, "pairs that are alike", alike, mean - JUDGE_Z * sqrt(mean), mean + JUDGE_Z * sqrt(mean) + 10);
}

/* Does a number tell of the k-th after it? */
static inline bool judge_lag(const char *what, const uint32_t *v, uint32_t n, uint64_t range, unsigned k)
{
	double sum = 0, most = JUDGE_Z * sqrt((n - k) / 144.0);

	for (uint32_t i = 0; i + k < n; i++)
		sum += ((double)v[i] / (double)range - 0.5) * ((double)v[i + k] / (double)range - 0.5);
	return judge_says(what, "correlation with those after", sum, -most, most);
}

/* The n numbers in the order in which they were drawn, each of [0, range), which is a multiple of 256; it sorts
 * them.  alike: drawn with repetition, so that it is known how many there are.  False: they can be told.
 * what: their name, NULL: nothing is said. */
static inline bool judge(const char *what, uint32_t *v, uint32_t n, uint64_t range, bool alike)
{
	static const char *const name[JUDGE_PARTS] = { "high bits", "low bits", "pairs", "steps" };
	bool good = true;

	for (unsigned p = 0; p < JUDGE_PARTS; p++) {
		unsigned step = p < JUDGE_PAIR ? 1 : 2;
		uint32_t class[256] = { 0 };

		for (uint32_t i = 0; i + 1 < n; i += step)
			class[judge_class((enum judge_part)p, v[i], v[i + 1], range)]++;
		good &= judge_classes(what, name[p], class, (double)((n - 1 + step - 1) / step));
	}
	for (unsigned k = 1; k <= 32; k++)
		good &= judge_lag(what, v, n, range, k);
	for (unsigned bit = 0; bit < 16 && range >> bit > 1 && (range >> bit & 1) == 0; bit++) {
		double ones = 0;

		for (uint32_t i = 0; i < n; i++)
			ones += v[i] >> bit & 1;
		good &= judge_says(what, "one bit", ones, n / 2.0 - JUDGE_Z * sqrt(n) / 2, n / 2.0 + JUDGE_Z * sqrt(n) / 2);
	}
	if (alike)
		good &= judge_alike(what, v, n, range);
	if (what != NULL)
		printf("# %s: %u numbers of %llu%s\n", what, n, (unsigned long long)range, good ? "" : ": BAD");
	return good;
}

#endif

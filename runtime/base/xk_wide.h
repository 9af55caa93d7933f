/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_wide.h - 32 bytes at once: loaded at any alignment, compared under a mask.
 *
 * What a header must show is one such compare with the header that showed it
 * before, or with one made for the purpose.
 */
#ifndef XK_WIDE_H
#define XK_WIDE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#define XK_WIDE 32u

/* Before a short loop over the messages of a run: four in a row. */
#if defined(__clang__)
#define XK_UNROLL _Pragma("clang loop unroll_count(4)")
#elif defined(__GNUC__)
#define XK_UNROLL _Pragma("GCC unroll 4")
#else
#define XK_UNROLL
#endif

#if defined(__AVX2__)

typedef __m256i xk_wide;

static inline xk_wide xk_wide_load(const void *p)
{
	return _mm256_loadu_si256(p);
}

/* Do a and b agree wherever mask has a bit? */
static inline bool xk_wide_same(xk_wide a, xk_wide b, xk_wide mask)
{
	return _mm256_testz_si256(_mm256_xor_si256(a, b), mask);
}

/* differ, and where a and b differ. */
static inline xk_wide xk_wide_differ(xk_wide differ, xk_wide a, xk_wide b)
{
	return _mm256_or_si256(differ, _mm256_xor_si256(a, b));
}

static inline xk_wide xk_wide_zero(void)
{
	return _mm256_setzero_si256();
}

#else

typedef struct { uint64_t w[4]; } xk_wide;

static inline xk_wide xk_wide_load(const void *p)
{
	xk_wide v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline bool xk_wide_same(xk_wide a, xk_wide b, xk_wide mask)
{
	return (((a.w[0] ^ b.w[0]) & mask.w[0]) | ((a.w[1] ^ b.w[1]) & mask.w[1]) |
		((a.w[2] ^ b.w[2]) & mask.w[2]) | ((a.w[3] ^ b.w[3]) & mask.w[3])) == 0;
}

static inline xk_wide xk_wide_differ(xk_wide differ, xk_wide a, xk_wide b)
{
	for (unsigned i = 0; i < 4; i++)
		differ.w[i] |= a.w[i] ^ b.w[i];
	return differ;
}

static inline xk_wide xk_wide_zero(void)
{
	return (xk_wide){ { 0 } };
}

#endif
#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_wide.h - 32 bytes at once: loaded at any alignment, compared under a mask.
 *
 * What a header must show is one such compare with the header that showed it
 * before, or with one made for the purpose.
 *
 * Every protocol includes this; the compiler's header of such instructions is forty thousand lines, which take
 * longer to read than a protocol.  So vectors are the compiler's own here, and instructions its operators.
 */
#ifndef XK_WIDE_H
#define XK_WIDE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

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

typedef long long xk_wide __attribute__((vector_size(32), may_alias));
typedef long long xk_wide_anywhere __attribute__((vector_size(32), may_alias, aligned(1)));
typedef long long xk_wide_words __attribute__((vector_size(32)));
typedef unsigned long long xk_wide_bits __attribute__((vector_size(32)));

static inline xk_wide xk_wide_load(const void *p)
{
	return *(const xk_wide_anywhere *)p;
}

static inline xk_wide xk_wide_xor(xk_wide a, xk_wide b)
{
	return (xk_wide)((xk_wide_bits)a ^ (xk_wide_bits)b);
}

/* Do a and b agree wherever mask has a bit? */
static inline bool xk_wide_same(xk_wide a, xk_wide b, xk_wide mask)
{
	return __builtin_ia32_ptestz256((xk_wide_words)xk_wide_xor(a, b), (xk_wide_words)mask);
}

/* differ, and where a and b differ. */
static inline xk_wide xk_wide_differ(xk_wide differ, xk_wide a, xk_wide b)
{
	return (xk_wide)((xk_wide_bits)differ | (xk_wide_bits)xk_wide_xor(a, b));
}

static inline xk_wide xk_wide_zero(void)
{
	return (xk_wide){ 0 };
}

#elif defined(__SSE2__) || defined(__aarch64__)

/* Every processor of these kinds has vectors of half that length. */
typedef unsigned long long xk_half __attribute__((vector_size(16), may_alias));
typedef unsigned long long xk_half_anywhere __attribute__((vector_size(16), may_alias, aligned(1)));
typedef struct { xk_half lo, hi; } xk_wide;

static inline xk_wide xk_wide_load(const void *p)
{
	const xk_half_anywhere *half = (const xk_half_anywhere *)p;

	return (xk_wide){ half[0], half[1] };
}

static inline bool xk_wide_same(xk_wide a, xk_wide b, xk_wide mask)
{
	xk_half d = ((a.lo ^ b.lo) & mask.lo) | ((a.hi ^ b.hi) & mask.hi);
#if defined(__SSE2__)
	typedef char bytes __attribute__((vector_size(16)));

	return __builtin_ia32_pmovmskb128((bytes)((bytes)d == (bytes){ 0 })) == 0xffff;
#else
	return (d[0] | d[1]) == 0;
#endif
}

static inline xk_wide xk_wide_differ(xk_wide differ, xk_wide a, xk_wide b)
{
	return (xk_wide){ differ.lo | (a.lo ^ b.lo), differ.hi | (a.hi ^ b.hi) };
}

static inline xk_wide xk_wide_zero(void)
{
	return (xk_wide){ { 0 }, { 0 } };
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

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * base_csum_priv.h - what the variants of the checksum share.
 *
 * A variant is a const table of two functions with the contract of xk_csum and
 * xk_csum_copy.  Each sums into 64-bit lanes of 32-bit words, which cannot
 * overflow below 2^32 words, and folds them at the end.
 */
#ifndef BASE_CSUM_PRIV_H
#define BASE_CSUM_PRIV_H

#include "runtime/base/xk_cpu.h"
#include "runtime/base/xk_csum_inline.h"

struct csum_variant {
	const char *name;
	uint32_t    needs;                   /* of the processor: bits of xk_cpu.h */
	uint32_t  (*sum)(const void *p, size_t n, uint32_t seed);
	uint32_t  (*copy)(void *dst, const void *src, size_t n, uint32_t seed);
};

extern const struct csum_variant csum_portable;
/* By vectors of 16 bytes, where every processor of the kind has them. */
#if defined(__SSE2__)
#define CSUM_VEC "sse2"
#elif defined(__aarch64__)
#define CSUM_VEC "neon"
#endif
#ifdef CSUM_VEC
extern const struct csum_variant csum_vec;
#endif
#if defined(__x86_64__)
extern const struct csum_variant csum_avx2, csum_avx512;
#endif

/* Eight bytes as two 32-bit words, into a lane that cannot overflow. */
static inline uint64_t csum_halves(uint64_t v)
{
	return (v & 0xffffffffu) + (v >> 32);
}

/* n < 8 bytes at an even offset, as they would lie in a zeroed word. */
static inline uint64_t csum_bytes(const uint8_t *p, size_t n)
{
	uint8_t v[8] = { 0 };
	size_t i;

	for (i = 0; i < n; i++)
		v[i] = p[i];
	return xk_raw64(v);
}

/*
 * The rest of a sum or copy: n bytes at an even offset, any n but meant for
 * less than a vector.  `behind` says that at least 8 bytes of the same buffers
 * end where these do, so that the last word may overlap what went before.
 */
static inline uint64_t csum_rest(const uint8_t *s, size_t n, bool behind, uint64_t sum)
{
	for (; n >= 8; n -= 8, s += 8, behind = true)
		sum += csum_halves(xk_raw64(s));
	if (n == 0)
		return sum;
	return sum + csum_halves(behind ? xk_raw64(s + n - 8) >> (64 - 8 * n) : csum_bytes(s, n));
}

static inline uint64_t csum_copy_rest(uint8_t *t, const uint8_t *s, size_t n, bool behind, uint64_t sum)
{
	uint64_t v;
	size_t i;

	for (; n >= 8; n -= 8, s += 8, t += 8, behind = true) {
		v = xk_raw64(s);
		xk_put_raw64(t, v);
		sum += csum_halves(v);
	}
	if (n == 0)
		return sum;
	if (behind) {
		v = xk_raw64(s + n - 8);
		xk_put_raw64(t + n - 8, v);
		return sum + csum_halves(v >> (64 - 8 * n));
	}
	for (i = 0; i < n; i++)
		t[i] = s[i];
	return sum + csum_halves(csum_bytes(s, n));
}

#endif

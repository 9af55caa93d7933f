/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * base_csum_avx2.c - the checksum and fused copy by 32-byte vectors.
 *
 * Each vector v of four 64-bit lanes goes into two accumulators: `all` += v,
 * wrapping, and `high` += v >> 32.  The sum of the low halves is then
 * all - (high << 32), exact modulo 2^64: three operations a vector, no
 * constant, and no overflow below 2^32 vectors.  Invariant: nothing outside
 * [src, src + n) is read, nothing outside [dst, dst + n) written.
 */
#include "runtime/base/base_csum_priv.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))

struct acc { __m256i all, high; };

AVX2 static inline void add(struct acc *a, __m256i v)
{
	a->all = _mm256_add_epi64(a->all, v);
	a->high = _mm256_add_epi64(a->high, _mm256_srli_epi64(v, 32));
}

AVX2 static inline __m256i load(const uint8_t *p)
{
	return _mm256_loadu_si256((const __m256i *)p);
}

AVX2 static inline void store(uint8_t *p, __m256i v)
{
	_mm256_storeu_si256((__m256i *)p, v);
}

/* Ends a long loop: without it the compiler keeps each sum twice in there, for it and for the next loop. */
AVX2 static inline void settle(struct acc *a, struct acc *b)
{
	__asm__("" : "+x"(a->all), "+x"(a->high), "+x"(b->all), "+x"(b->high));
}

/* Both halves of all lanes together. */
AVX2 static inline uint64_t total(struct acc a, struct acc b)
{
	__m256i all = _mm256_add_epi64(a.all, b.all);
	__m256i high = _mm256_add_epi64(a.high, b.high);
	__m256i both = _mm256_add_epi64(_mm256_sub_epi64(all, _mm256_slli_epi64(high, 32)), high);
	__m128i s = _mm_add_epi64(_mm256_castsi256_si128(both), _mm256_extracti128_si256(both, 1));

	return (uint64_t)_mm_cvtsi128_si64(s) + (uint64_t)_mm_extract_epi64(s, 1);
}

AVX2 static uint32_t avx2_sum(const void *p, size_t n, uint32_t seed)
{
	const uint8_t *s = p;
	struct acc a = { _mm256_setzero_si256(), _mm256_setzero_si256() }, b = a;

	if (n < 32)
		return xk_csum_fold64(csum_rest(s, n, n >= 8, seed));
	for (; n >= 128; n -= 128, s += 128) {
		add(&a, load(s));
		add(&b, load(s + 32));
		add(&a, load(s + 64));
		add(&b, load(s + 96));
	}
	settle(&a, &b);
	for (; n >= 32; n -= 32, s += 32)
		add(&a, load(s));
	return xk_csum_fold64(csum_rest(s, n, true, total(a, b) + seed));
}

AVX2 static uint32_t avx2_copy(void *dst, const void *src, size_t n, uint32_t seed)
{
	const uint8_t *s = src;
	uint8_t *t = dst;
	struct acc a = { _mm256_setzero_si256(), _mm256_setzero_si256() }, b = a;
	__m256i v[4];

	if (n < 32)
		return xk_csum_fold64(csum_copy_rest(t, s, n, n >= 8, seed));
	for (; n >= 128; n -= 128, s += 128, t += 128) {
		v[0] = load(s), v[1] = load(s + 32), v[2] = load(s + 64), v[3] = load(s + 96);
		store(t, v[0]), store(t + 32, v[1]), store(t + 64, v[2]), store(t + 96, v[3]);
		add(&a, v[0]), add(&b, v[1]), add(&a, v[2]), add(&b, v[3]);
	}
	settle(&a, &b);
	for (; n >= 32; n -= 32, s += 32, t += 32) {
		v[0] = load(s);
		store(t, v[0]);
		add(&a, v[0]);
	}
	return xk_csum_fold64(csum_copy_rest(t, s, n, true, total(a, b) + seed));
}

const struct csum_variant csum_avx2 = { "avx2", XK_CPU_AVX2, avx2_sum, avx2_copy };
#endif

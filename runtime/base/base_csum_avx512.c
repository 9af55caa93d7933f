/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * base_csum_avx512.c - the checksum and fused copy by 64-byte vectors.
 *
 * The sums are those of the 32-byte variant.  What is left below a vector is
 * one masked load and store, and so is what lies before the first line of a long
 * copy's destination: bytes outside the mask are neither read nor written, and
 * count as zero.  Invariant: nothing outside [src, src + n) is read, nothing
 * outside [dst, dst + n) written.
 */
#include "runtime/base/base_csum_priv.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,bmi2")))

struct acc { __m512i all, high; };

AVX512 static inline void add(struct acc *a, __m512i v)
{
	a->all = _mm512_add_epi64(a->all, v);
	a->high = _mm512_add_epi64(a->high, _mm512_srli_epi64(v, 32));
}

/* Both halves of all lanes together. */
AVX512 static inline uint64_t total(struct acc a, struct acc b)
{
	__m512i all = _mm512_add_epi64(a.all, b.all);
	__m512i high = _mm512_add_epi64(a.high, b.high);
	__m512i both = _mm512_add_epi64(_mm512_sub_epi64(all, _mm512_slli_epi64(high, 32)), high);

	return (uint64_t)_mm512_reduce_add_epi64(both);
}

/* n < 64 */
AVX512 static inline __mmask64 mask_of(size_t n)
{
	return _cvtu64_mask64(((uint64_t)1 << n) - 1);
}

AVX512 static uint32_t avx512_sum(const void *p, size_t n, uint32_t seed)
{
	const uint8_t *s = p;
	struct acc a = { _mm512_setzero_si512(), _mm512_setzero_si512() }, b = a;

	for (; n >= 256; n -= 256, s += 256) {
		add(&a, _mm512_loadu_si512(s));
		add(&b, _mm512_loadu_si512(s + 64));
		add(&a, _mm512_loadu_si512(s + 128));
		add(&b, _mm512_loadu_si512(s + 192));
	}
	for (; n >= 64; n -= 64, s += 64)
		add(&a, _mm512_loadu_si512(s));
	if (n > 0)
		add(&b, _mm512_maskz_loadu_epi8(mask_of(n), s));
	return xk_csum_fold64(total(a, b) + seed);
}

/* Lines that are written come from the second-level cache as often as not, and stores are carried out in order: one
 * that waits for its line holds up all behind it. */
#define LONG  1280u              /* from so many bytes on no store crosses from one line to the next */
#define AHEAD 512u               /* a line is asked for so many bytes before it is written */

/* The sum of bytes of which the first, when odd is 1, lay at an odd place of the vectors. */
static inline uint32_t placed(uint64_t sum, size_t odd, uint32_t seed)
{
	return odd == 0 ? xk_csum_fold64(sum + seed) : xk_csum_add(xk_csum_swap(xk_csum_fold64(sum)), seed);
}

AVX512 static inline void pair(struct acc *a, struct acc *b, uint8_t *t, const uint8_t *s)
{
	__m512i v = _mm512_loadu_si512(s), w = _mm512_loadu_si512(s + 64);

	_mm512_storeu_si512(t, v);
	_mm512_storeu_si512(t + 64, w);
	add(a, v);
	add(b, w);
}

AVX512 static uint32_t avx512_copy(void *dst, const void *src, size_t n, uint32_t seed)
{
	const uint8_t *s = src;
	uint8_t *t = dst;
	struct acc a = { _mm512_setzero_si512(), _mm512_setzero_si512() }, b = a;
	size_t head = n >= LONG ? -(uintptr_t)t & 63 : 0, odd = head & 1;
	__m512i v, w;
	__mmask64 m;

	if (head != 0) {
		m = _cvtu64_mask64((((uint64_t)1 << head) - 1) << odd);
		v = _mm512_maskz_loadu_epi8(m, s - odd);
		_mm512_mask_storeu_epi8(t - odd, m, v);
		add(&a, v);
		n -= head, s += head, t += head;
	}
	for (; n >= 128 + AHEAD; n -= 128, s += 128, t += 128) {
		_mm_prefetch((const char *)t + AHEAD, _MM_HINT_T0);
		_mm_prefetch((const char *)t + AHEAD + 64, _MM_HINT_T0);
		pair(&a, &b, t, s);
	}
	for (; n >= 128; n -= 128, s += 128, t += 128)
		pair(&a, &b, t, s);
	if (n >= 64) {
		v = _mm512_loadu_si512(s);
		_mm512_storeu_si512(t, v);
		add(&a, v);
		n -= 64, s += 64, t += 64;
	}
	if (n > 0) {
		m = mask_of(n);
		w = _mm512_maskz_loadu_epi8(m, s);
		_mm512_mask_storeu_epi8(t, m, w);
		add(&b, w);
	}
	return placed(total(a, b), odd, seed);
}

const struct csum_variant csum_avx512 = { "avx512", XK_CPU_AVX512, avx512_sum, avx512_copy };
#endif

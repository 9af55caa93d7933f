/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * base_csum_vec.c - the checksum and fused copy by 16-byte vectors, which every x86-64 (SSE2) and
 * every arm64 (NEON) has.
 *
 * The sums are those of the 32-byte variant: each vector v of two 64-bit lanes goes into two
 * accumulators, `all` += v, wrapping, and `high` += v >> 32.  Vectors are the compiler's own, so
 * both processors share the source.  Invariant: nothing outside [src, src + n) is read, nothing
 * outside [dst, dst + n) written.
 */
#include "runtime/base/base_csum_priv.h"

#ifdef CSUM_VEC

typedef uint64_t vec __attribute__((vector_size(16)));
typedef uint64_t vec_anywhere __attribute__((vector_size(16), aligned(1), may_alias));

struct acc { vec all, high; };

static inline void add(struct acc *a, vec v)
{
	a->all += v;
	a->high += v >> 32;
}

static inline vec load(const uint8_t *p)
{
	return *(const vec_anywhere *)p;
}

static inline void store(uint8_t *p, vec v)
{
	*(vec_anywhere *)p = v;
}

/* Both halves of all lanes together. */
static inline uint64_t total(struct acc a, struct acc b)
{
	vec all = a.all + b.all, high = a.high + b.high;
	vec both = all - (high << 32) + high;

	return both[0] + both[1];
}

static uint32_t vec_sum(const void *p, size_t n, uint32_t seed)
{
	const uint8_t *s = p;
	struct acc a = { { 0 }, { 0 } }, b = a;

	if (n < 16)
		return xk_csum_fold64(csum_rest(s, n, n >= 8, seed));
	for (; n >= 64; n -= 64, s += 64) {
		add(&a, load(s));
		add(&b, load(s + 16));
		add(&a, load(s + 32));
		add(&b, load(s + 48));
	}
	for (; n >= 16; n -= 16, s += 16)
		add(&a, load(s));
	return xk_csum_fold64(csum_rest(s, n, true, total(a, b) + seed));
}

static uint32_t vec_copy(void *dst, const void *src, size_t n, uint32_t seed)
{
	const uint8_t *s = src;
	uint8_t *t = dst;
	struct acc a = { { 0 }, { 0 } }, b = a;
	vec v[4];

	if (n < 16)
		return xk_csum_fold64(csum_copy_rest(t, s, n, n >= 8, seed));
	for (; n >= 64; n -= 64, s += 64, t += 64) {
		v[0] = load(s), v[1] = load(s + 16), v[2] = load(s + 32), v[3] = load(s + 48);
		store(t, v[0]), store(t + 16, v[1]), store(t + 32, v[2]), store(t + 48, v[3]);
		add(&a, v[0]), add(&b, v[1]), add(&a, v[2]), add(&b, v[3]);
	}
	for (; n >= 16; n -= 16, s += 16, t += 16) {
		v[0] = load(s);
		store(t, v[0]);
		add(&a, v[0]);
	}
	return xk_csum_fold64(csum_copy_rest(t, s, n, true, total(a, b) + seed));
}

const struct csum_variant csum_vec = { CSUM_VEC, 0, vec_sum, vec_copy };
#endif

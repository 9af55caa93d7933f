/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * base_csum.c - chooses the checksum variant; the portable one; cache touching.
 *
 * The choice is made by a constructor from what the processor has and VP_CPU
 * allows (xk_cpu.h), and is one pointer afterwards.  Invariant: all
 * variants give partial sums that fold to the same 16 bits.
 */
#include "runtime/base/base_csum_priv.h"

#include <string.h>

/* ---- portable ------------------------------------------------------------ */

static uint32_t portable_sum(const void *p, size_t n, uint32_t seed)
{
	const uint8_t *s = p;
	uint64_t a = seed, b = 0, c = 0, d = 0;
	bool behind = n >= 8;

	for (; n >= 32; n -= 32, s += 32) {
		a += csum_halves(xk_raw64(s));
		b += csum_halves(xk_raw64(s + 8));
		c += csum_halves(xk_raw64(s + 16));
		d += csum_halves(xk_raw64(s + 24));
	}
	return xk_csum_fold64(csum_rest(s, n, behind, a + b + c + d));
}

static uint32_t portable_copy(void *dst, const void *src, size_t n, uint32_t seed)
{
	const uint8_t *s = src;
	uint8_t *t = dst;
	uint64_t a = seed, b = 0, c = 0, d = 0, u, v, w, x;
	bool behind = n >= 8;

	for (; n >= 32; n -= 32, s += 32, t += 32) {
		u = xk_raw64(s), v = xk_raw64(s + 8), w = xk_raw64(s + 16), x = xk_raw64(s + 24);
		xk_put_raw64(t, u), xk_put_raw64(t + 8, v);
		xk_put_raw64(t + 16, w), xk_put_raw64(t + 24, x);
		a += csum_halves(u), b += csum_halves(v);
		c += csum_halves(w), d += csum_halves(x);
	}
	return xk_csum_fold64(csum_copy_rest(t, s, n, behind, a + b + c + d));
}

const struct csum_variant csum_portable = { "portable", 0, portable_sum, portable_copy };

/* ---- choice --------------------------------------------------------------- */

/* Best first. */
static const struct csum_variant *const variants[] = {
#if defined(__x86_64__)
	&csum_avx512, &csum_avx2,
#endif
#ifdef CSUM_VEC
	&csum_vec,
#endif
	&csum_portable,
};

static const struct csum_variant *chosen = &csum_portable;

__attribute__((constructor)) static void choose(void)
{
	const uint32_t has = xk_cpu_has();
	size_t i;

	for (i = 0; (variants[i]->needs & ~has) != 0; i++)
		;
	chosen = variants[i];
}

uint32_t xk_csum_long(const void *p, size_t n, uint32_t seed)
{
	return chosen->sum(p, n, seed);
}

uint32_t xk_csum_copy_long(void *dst, const void *src, size_t n, uint32_t seed)
{
	return chosen->copy(dst, src, n, seed);
}

uint32_t xk_csum(const void *p, size_t n, uint32_t seed)
{
	return xk_csum_quick(p, n, seed);
}

uint32_t xk_csum_copy(void *dst, const void *src, size_t n, uint32_t seed)
{
	return xk_csum_copy_quick(dst, src, n, seed);
}

const char *xk_csum_variant(void)
{
	return chosen->name;
}

int xk_csum_set_variant(const char *name)
{
	size_t i;

	for (i = 0; i < XK_ARRAY_LEN(variants); i++) {
		if (strcmp(variants[i]->name, name) != 0)
			continue;
		if ((variants[i]->needs & ~xk_cpu_has()) != 0)
			return XK_E_NOTSUP;
		chosen = variants[i];
		return XK_OK;
	}
	return XK_E_NOENT;
}

/* ---- touching ------------------------------------------------------------- */

void xk_csum_touch(void *p, size_t n, bool read)
{
	static _Thread_local uint8_t line[XK_CACHELINE] XK_ALIGNED;
	uint8_t *b = p;
	size_t k;

	for (; n > 0; n -= k, b += k) {
		k = n < sizeof line ? n : sizeof line;
		if (read)
			memcpy(line, b, k);
		else
			memcpy(b, line, k);
		/* Every copy counts: the compiler must not see that the next
		 * one overwrites it. */
		__asm__ volatile("" : : "r"(line), "r"(b) : "memory");
	}
}

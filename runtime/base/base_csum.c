/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * base_csum.c - chooses the checksum variant; the portable one; cache touching.
 *
 * The choice is made by a constructor from what the processor (or an emulator
 * in its place) says it has, and is one pointer afterwards.  Invariant: all
 * variants give partial sums that fold to the same 16 bits.
 */
#include "runtime/base/base_csum_priv.h"

#include <string.h>

/* ---- portable ------------------------------------------------------------ */

/* Eight bytes as two 32-bit words, into a lane that cannot overflow. */
static inline uint64_t halves(uint64_t v)
{
	return (v & 0xffffffffu) + (v >> 32);
}

static uint32_t portable_sum(const void *p, size_t n, uint32_t seed)
{
	const uint8_t *s = p;
	uint64_t a = seed, b = 0, c = 0, d = 0;

	for (; n >= 32; n -= 32, s += 32) {
		a += halves(xk_raw64(s));
		b += halves(xk_raw64(s + 8));
		c += halves(xk_raw64(s + 16));
		d += halves(xk_raw64(s + 24));
	}
	for (; n >= 8; n -= 8, s += 8)
		b += halves(xk_raw64(s));
	if (n > 0)
		c += halves(csum_tail(s, n));
	return xk_csum_fold64(a + b + c + d);
}

static uint32_t portable_copy(void *dst, const void *src, size_t n, uint32_t seed)
{
	const uint8_t *s = src;
	uint8_t *t = dst;
	uint64_t a = seed, b = 0, c = 0, d = 0, v[4];

	for (; n >= 32; n -= 32, s += 32, t += 32) {
		memcpy(v, s, 32);
		memcpy(t, v, 32);
		a += halves(v[0]);
		b += halves(v[1]);
		c += halves(v[2]);
		d += halves(v[3]);
	}
	for (; n >= 8; n -= 8, s += 8, t += 8) {
		v[0] = xk_raw64(s);
		xk_put_raw64(t, v[0]);
		b += halves(v[0]);
	}
	if (n > 0) {
		v[0] = csum_tail(s, n);
		memcpy(t, v, n);
		c += halves(v[0]);
	}
	return xk_csum_fold64(a + b + c + d);
}

static bool always(void)
{
	return true;
}

const struct csum_variant csum_portable = { "portable", always, portable_sum, portable_copy };

/* ---- choice --------------------------------------------------------------- */

/* Best first. */
static const struct csum_variant *const variants[] = {
#if defined(__x86_64__)
	&csum_avx512, &csum_avx2,
#endif
	&csum_portable,
};

static const struct csum_variant *chosen = &csum_portable;

__attribute__((constructor)) static void choose(void)
{
	size_t i;

	for (i = 0; !variants[i]->usable(); i++)
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
		if (!variants[i]->usable())
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

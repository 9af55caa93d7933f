/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_csum_inline.h - the checksum of short messages, without a call.
 *
 * For 8 to 128 bytes an add-with-carry chain takes one instruction per eight
 * bytes and no reduction at its end, which no vector code matches: 72 bytes
 * (UDP header and 64 of payload) cost 19 instructions.  Anything else goes to
 * the variant that xk_csum.h chose.  Same contracts as xk_csum, xk_csum_copy.
 */
#ifndef XK_CSUM_INLINE_H
#define XK_CSUM_INLINE_H

#include "runtime/base/xk_csum.h"

/* The chosen variant, whatever the length. */
uint32_t xk_csum_long(const void *p, size_t n, uint32_t seed);
uint32_t xk_csum_copy_long(void *dst, const void *src, size_t n, uint32_t seed);

/* 64-bit to 32-bit ones'-complement sum: the upper half of s + (s turned by
 * 32) has lower + upper and the carry out of them. */
static inline uint32_t xk_csum_fold64(uint64_t s)
{
	return (uint32_t)((s + (s << 32 | s >> 32)) >> 32);
}

/* 8 to 128 bytes by loads and stores that overlap in the middle. */
static inline void xk_csum_move(uint8_t *t, const uint8_t *s, size_t n)
{
#if defined(__AVX__) || defined(__SSE2__) || defined(__aarch64__)
	typedef uint8_t v16 __attribute__((vector_size(16), aligned(1), may_alias));
#ifdef __AVX__
	typedef uint8_t v32 __attribute__((vector_size(32), aligned(1), may_alias));
#else
	typedef struct { v16 half[2]; } v32;
#endif

	if (n >= 32) {
		v32 a = *(const v32 *)s, b = *(const v32 *)(s + n - 32);

		if (n > 64) {
			v32 c = *(const v32 *)(s + 32), d = *(const v32 *)(s + n - 64);

			*(v32 *)(t + 32) = c;
			*(v32 *)(t + n - 64) = d;
		}
		*(v32 *)t = a;
		*(v32 *)(t + n - 32) = b;
	} else if (n >= 16) {
		v16 a = *(const v16 *)s, b = *(const v16 *)(s + n - 16);

		*(v16 *)t = a;
		*(v16 *)(t + n - 16) = b;
	} else {
		uint64_t a = xk_raw64(s), b = xk_raw64(s + n - 8);

		xk_put_raw64(t, a);
		xk_put_raw64(t + n - 8, b);
	}
#else
	memcpy(t, s, n);
#endif
}

/* memcpy, without a call for 8 to 128 bytes. */
static inline void xk_copy_quick(void *dst, const void *src, size_t n)
{
	if (XK_LIKELY(n - 8 <= 120))
		xk_csum_move(dst, src, n);
	else
		memcpy(dst, src, n);
}

/* Where the address sanitizer must see every load, or there is no such chain,
 * the inlines are the plain functions. */
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)
#define XK_CSUM_CHAIN 1
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#undef XK_CSUM_CHAIN
#endif
#endif
#endif

#ifdef XK_CSUM_CHAIN

/* Each link is padded to eight bytes of code, so that the entry for n bytes of
 * data lies n bytes of code before the end. */
#define XK_CSUM_LINK(off) ".byte 0x3e\n\t%{disp32%} adcq " #off "(%[p]), %[s]\n\t"

/* Says that the chain reads what p points at; n bytes of it, in truth. */
#ifdef __clang__
#define XK_CSUM_EXTENT 128
#else
#define XK_CSUM_EXTENT
#endif

/* s + the n bytes at p as 64-bit words, carries added back; n % 8 == 0, n <= 128. */
static inline uint64_t xk_csum_chain(const void *p, size_t n, uint64_t s)
{
	void *entry;

	__asm__("leaq 1f(%%rip), %[e]\n\t"
		"subq %[n], %[e]\n\t"           /* leaves no carry */
		"jmp *%[e]\n\t"
		XK_CSUM_LINK(120) XK_CSUM_LINK(112) XK_CSUM_LINK(104) XK_CSUM_LINK(96)
		XK_CSUM_LINK(88) XK_CSUM_LINK(80) XK_CSUM_LINK(72) XK_CSUM_LINK(64)
		XK_CSUM_LINK(56) XK_CSUM_LINK(48) XK_CSUM_LINK(40) XK_CSUM_LINK(32)
		XK_CSUM_LINK(24) XK_CSUM_LINK(16) XK_CSUM_LINK(8) XK_CSUM_LINK(0)
		"1:\tadcq $0, %[s]"
		: [s] "+&r"(s), [e] "=&r"(entry)
		/* R: the registers whose use as a base takes no extra byte. */
		: [p] "R"(p), [n] "r"(n), "m"(*(const uint8_t (*)[XK_CSUM_EXTENT])p)
		: "cc");
	return s;
}

/* Any n from 8 to 128: the last 1 to 8 bytes first, taken from the last eight
 * with what the chain will add shifted out. */
static inline uint64_t xk_csum_chain_odd(const void *p, size_t n, uint64_t s)
{
	uint64_t tail = xk_raw64((const uint8_t *)p + n - 8) >> (-(n * 8) & 63);

	if (__builtin_add_overflow(s, tail, &s))
		s++;
	return xk_csum_chain(p, (n - 1) & ~(size_t)7, s);
}

/* Is n a multiple of eight and at most 128: summed by the chain alone?  One
 * compare for both. */
static inline bool xk_csum_is_quick(size_t n)
{
	return (n >> 3 | n << 61) <= 16;
}

/* Of n bytes that xk_csum_is_quick says yes to, not folded. */
static inline uint64_t xk_csum_words(const void *p, size_t n, uint64_t seed)
{
	return xk_csum_chain(p, n, seed);
}

static inline uint32_t xk_csum_quick(const void *p, size_t n, uint32_t seed)
{
	if (XK_LIKELY(xk_csum_is_quick(n)))
		return xk_csum_fold64(xk_csum_chain(p, n, seed));
	if (n - 8 <= 120)
		return xk_csum_fold64(xk_csum_chain_odd(p, n, seed));
	return xk_csum_long(p, n, seed);
}

/* 8 to 128 bytes. */
static inline uint32_t xk_csum_copy_short(void *dst, const void *src, size_t n, uint32_t seed)
{
	/* The source again, not the copy: a load of eight bytes out of two
	 * vectors just stored would have to wait for them. */
	xk_csum_move(dst, src, n);
	if (XK_LIKELY((n & 7) == 0))
		return xk_csum_fold64(xk_csum_chain(src, n, seed));
	return xk_csum_fold64(xk_csum_chain_odd(src, n, seed));
}

static inline uint32_t xk_csum_copy_quick(void *dst, const void *src, size_t n, uint32_t seed)
{
	if (n - 8 > 120)
		return xk_csum_copy_long(dst, src, n, seed);
	return xk_csum_copy_short(dst, src, n, seed);
}

#else

static inline bool xk_csum_is_quick(size_t n)
{
	return n <= 128 && n % 8 == 0;
}

static inline uint64_t xk_csum_words(const void *p, size_t n, uint64_t seed)
{
	return xk_csum_long(p, n, (uint32_t)seed);
}

static inline uint32_t xk_csum_quick(const void *p, size_t n, uint32_t seed)
{
	return xk_csum_long(p, n, seed);
}

static inline uint32_t xk_csum_copy_short(void *dst, const void *src, size_t n, uint32_t seed)
{
	return xk_csum_copy_long(dst, src, n, seed);
}

static inline uint32_t xk_csum_copy_quick(void *dst, const void *src, size_t n, uint32_t seed)
{
	return xk_csum_copy_long(dst, src, n, seed);
}

#endif
#endif

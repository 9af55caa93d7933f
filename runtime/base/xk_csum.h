/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_csum.h - the Internet checksum (RFC 1071) and the copy fused with it.
 *
 * A partial sum is a 32-bit ones'-complement sum of the bytes taken as
 * host-endian 16-bit words; by RFC 1071 section 2(B) folding and storing it in
 * host order gives the right bytes on the wire.  Sums of pieces that start at
 * an even offset add up; for a piece at an odd offset use xk_csum_swap.
 * Variants (portable; SSE2, AVX2, AVX-512; NEON) are chosen once, before main (xk_cpu.h).
 */
#ifndef XK_CSUM_H
#define XK_CSUM_H

#include "runtime/base/xk_base.h"
#include "runtime/base/xk_bytes.h"

/* Partial sum of n bytes, added to seed (itself a partial sum). */
uint32_t xk_csum(const void *p, size_t n, uint32_t seed);
/* Copies n bytes and returns their partial sum added to seed; no overlap. */
uint32_t xk_csum_copy(void *dst, const void *src, size_t n, uint32_t seed);

/* "portable", "sse2", "avx2", "avx512" or "neon": the variant in use; set_ picks one by
 * name (for tests and benches): XK_E_NOTSUP when this processor lacks it or VP_CPU forbids
 * it, XK_E_NOENT when there is none of that name in a program for this kind of processor. */
const char *xk_csum_variant(void);
int         xk_csum_set_variant(const char *name);

/* Touches every byte of n by copying through one cache line: `read`
 * copies parts of p into a line, otherwise a line is copied over p. */
void xk_csum_touch(void *p, size_t n, bool read);

static inline uint32_t xk_csum_add(uint32_t a, uint32_t b)
{
	uint64_t s = (uint64_t)a + b;
	return (uint32_t)s + (uint32_t)(s >> 32);
}
/* A partial sum of bytes that start at an odd offset of the whole. */
static inline uint32_t xk_csum_swap(uint32_t s)
{
	return (s << 8) | (s >> 24);
}
/* 16-bit ones'-complement sum; 0xffff for a valid message that includes its
 * checksum field.  Store (uint16_t)~xk_csum_fold(s) with xk_put_raw16. */
static inline uint16_t xk_csum_fold(uint32_t s)
{
	return (uint16_t)((s + (s << 16 | s >> 16)) >> 16);
}

/* Is s the sum of a message whose checksum is right?  The upper half of s plus
 * s turned by 16 is the folded sum. */
static inline bool xk_csum_valid(uint32_t s)
{
	return s + (s << 16 | s >> 16) >= 0xffff0000u;
}

/* The same for a sum of 64 bits, not 0: it folds to 0xffff when 65535 divides
 * it, and then its product with the inverse of 65535 is the quotient. */
static inline bool xk_csum_valid64(uint64_t s)
{
	return s * 0xfffefffefffeffffull <= UINT64_MAX / 65535;
}

#endif

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

#include "runtime/base/xk_csum_inline.h"

struct csum_variant {
	const char *name;
	bool      (*usable)(void);           /* by this processor */
	uint32_t  (*sum)(const void *p, size_t n, uint32_t seed);
	uint32_t  (*copy)(void *dst, const void *src, size_t n, uint32_t seed);
};

extern const struct csum_variant csum_portable;
#if defined(__x86_64__)
extern const struct csum_variant csum_avx2, csum_avx512;
#endif

/* The last n < 8 bytes at an even offset as they lie in a word, zero-filled:
 * on a big-endian host a lone last byte is the high half of its word. */
static inline uint64_t csum_tail(const uint8_t *p, size_t n)
{
	uint64_t v = 0;

	memcpy(&v, p, n);
	return v;
}

#endif

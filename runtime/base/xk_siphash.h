/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_siphash.h - SipHash-2-4 (Aumasson and Bernstein, 2012): a hash with a key of 128 bits.
 *
 * Who has not the key cannot tell the hash of one input from those of others, however many he has
 * seen: numbers that nobody shall guess are made of it.  Words are taken as they lie in memory on a
 * little-endian machine.
 */
#ifndef XK_SIPHASH_H
#define XK_SIPHASH_H

#include <stdint.h>

static inline uint64_t xk_sip_rotl(uint64_t x, unsigned n)
{
	return x << n | x >> (64 - n);
}

static inline void xk_sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = xk_sip_rotl(v[1], 13) ^ v[0];
	v[3] = xk_sip_rotl(v[3], 16) ^ v[2];
	v[0] = xk_sip_rotl(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = xk_sip_rotl(v[1], 17) ^ v[2];
	v[3] = xk_sip_rotl(v[3], 21) ^ v[0];
	v[2] = xk_sip_rotl(v[2], 32);
}

static inline void xk_sip_word(uint64_t v[4], uint64_t m)
{
	v[3] ^= m;
	xk_sip_round(v);
	xk_sip_round(v);
	v[0] ^= m;
}

static inline void xk_sip_begin(uint64_t v[4], const uint64_t key[2])
{
	v[0] = key[0] ^ 0x736f6d6570736575u;
	v[1] = key[1] ^ 0x646f72616e646f6du;
	v[2] = key[0] ^ 0x6c7967656e657261u;
	v[3] = key[1] ^ 0x7465646279746573u;
}

/* length: bytes of the whole input; last: those of it that fill no word. */
static inline uint64_t xk_sip_end(uint64_t v[4], uint64_t length, uint64_t last)
{
	xk_sip_word(v, length << 56 | last);
	v[2] ^= 0xff;
	for (unsigned i = 0; i < 4; i++)
		xk_sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* Of two words. */
static inline uint64_t xk_siphash(const uint64_t key[2], uint64_t a, uint64_t b)
{
	uint64_t v[4];

	xk_sip_begin(v, key);
	xk_sip_word(v, a);
	xk_sip_word(v, b);
	return xk_sip_end(v, 16, 0);
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * aal5_crc.c - the CRC-32 of AAL5; see aal5_crc.h.
 *
 * table[k][b] is the remainder of byte b with k zero bytes behind it.  Invariant: written by a constructor only.
 */
#include "protocols/aal5/aal5_crc.h"

#ifdef XK_HAVE_ISAL
#include <isa-l.h>
#endif

#include "runtime/base/xk_bytes.h"

#define POLYNOMIAL 0x04c11db7u

static uint32_t table[8][256];

__attribute__((constructor)) static void make_tables(void)
{
	for (unsigned b = 0; b < 256; b++) {
		uint32_t r = (uint32_t)b << 24;

		for (unsigned i = 0; i < 8; i++)
			r = r << 1 ^ (r >> 31 ? POLYNOMIAL : 0);
		table[0][b] = r;
	}
	for (unsigned k = 1; k < 8; k++)
		for (unsigned b = 0; b < 256; b++)
			table[k][b] = table[k - 1][b] << 8 ^ table[0][table[k - 1][b] >> 24];
}

uint32_t aal5_crc_tables(uint32_t crc, const void *p, size_t n)
{
	const uint8_t *b = p;
	uint32_t r = ~crc;

	for (; n >= 8; n -= 8, b += 8) {
		uint32_t w = r ^ xk_be32(b);

		r = table[7][w >> 24] ^ table[6][w >> 16 & 255] ^ table[5][w >> 8 & 255] ^ table[4][w & 255] ^
		    table[3][b[4]] ^ table[2][b[5]] ^ table[1][b[6]] ^ table[0][b[7]];
	}
	for (; n != 0; n--)
		r = r << 8 ^ table[0][r >> 24 ^ *b++];
	return ~r;
}

uint32_t aal5_crc(uint32_t crc, const void *p, size_t n)
{
#ifdef XK_HAVE_ISAL
	return n != 0 ? crc32_ieee(crc, p, n) : crc;
#else
	return aal5_crc_tables(crc, p, n);
#endif
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cell_hec.c - the header error control of cells; see cell_hec.h.
 *
 * Invariant: the 40 headers with one wrong bit have 40 different syndromes, none of them 0.
 */
#include "drivers/cell/cell_hec.h"

#include "runtime/base/xk_bytes.h"

#define COSET 0x55u

/* The remainder of byte times x^8. */
static uint8_t step(uint8_t byte)
{
	for (unsigned i = 0; i < 8; i++)
		byte = (uint8_t)(byte << 1 ^ (byte & 0x80 ? 0x07 : 0));
	return byte;
}

static uint8_t remainder_of(uint32_t header)
{
	uint8_t r = 0;

	for (int shift = 24; shift >= 0; shift -= 8)
		r = step((uint8_t)(r ^ header >> shift));
	return r;
}

uint8_t cell_hec(uint32_t header)
{
	return remainder_of(header) ^ COSET;
}

/* The bit of 40, from the first on, whose being wrong has this syndrome; 40: there is none. */
static unsigned bit_of(uint8_t syndrome)
{
	unsigned bit;

	for (bit = 0; bit < 32; bit++)
		if (remainder_of(0x80000000u >> bit) == syndrome)
			return bit;
	while (bit < 40 && 0x80u >> (bit - 32) != syndrome)
		bit++;
	return bit;
}

enum cell_hec cell_hec_judge(uint8_t *h, bool *detecting, bool correct)
{
	uint8_t syndrome = cell_hec(xk_be32(h)) ^ h[4];
	bool was = *detecting;
	unsigned bit;

	*detecting = syndrome != 0;
	if (syndrome == 0)
		return CELL_HEC_RIGHT;
	bit = was || !correct ? 40 : bit_of(syndrome);
	if (bit == 40)
		return CELL_HEC_WRONG;
	h[bit / 8] ^= (uint8_t)(0x80u >> bit % 8);
	return CELL_HEC_CORRECTED;
}

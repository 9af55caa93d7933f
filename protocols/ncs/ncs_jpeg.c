/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_jpeg.c - transform, quantise, code; see ncs_jpeg.h.
 *
 * Invariant: of `bits` the lowest `nbits`, fewer than eight between calls, are not written yet.
 */
#include "protocols/ncs/ncs_jpeg.h"

#include <string.h>

/* ---- the transform (T.81, A.3.3) ------------------------------------------------------------------ */

/* cos((2x + 1) u pi / 16) / 2, the first row over the root of two, in 1/8192. */
static const int16_t cosine[JPEG_SIDE][JPEG_SIDE] = {
	{ 2896, 2896, 2896, 2896, 2896, 2896, 2896, 2896 },
	{ 4017, 3406, 2276, 799, -799, -2276, -3406, -4017 },
	{ 3784, 1567, -1567, -3784, -3784, -1567, 1567, 3784 },
	{ 3406, -799, -4017, -2276, 2276, 4017, 799, -3406 },
	{ 2896, -2896, -2896, 2896, 2896, -2896, -2896, 2896 },
	{ 2276, -4017, 799, 3406, -3406, -799, 4017, -2276 },
	{ 1567, -3784, 3784, -1567, -1567, 3784, -3784, 1567 },
	{ 799, -2276, 3406, -4017, 4017, -3406, 2276, -799 },
};
#define FIRST_SHIFT  10                  /* rows stay in 1/8 */
#define SECOND_SHIFT 16

/* To the nearest; halves upwards. */
static int32_t scaled(int32_t v, unsigned shift) { return (v + (INT32_C(1) << (shift - 1))) >> shift; }

void jpeg_transform(const uint8_t *pixel, size_t stride, int16_t c[JPEG_BLOCK])
{
	int32_t row[JPEG_SIDE][JPEG_SIDE], sum;

	for (unsigned y = 0; y < JPEG_SIDE; y++)
		for (unsigned u = 0; u < JPEG_SIDE; u++) {
			sum = 0;
			for (unsigned x = 0; x < JPEG_SIDE; x++)
				sum += cosine[u][x] * (pixel[y * stride + x] - 128);
			row[y][u] = scaled(sum, FIRST_SHIFT);
		}
	for (unsigned v = 0; v < JPEG_SIDE; v++)
		for (unsigned u = 0; u < JPEG_SIDE; u++) {
			sum = 0;
			for (unsigned y = 0; y < JPEG_SIDE; y++)
				sum += cosine[v][y] * row[y][u];
			c[v * JPEG_SIDE + u] = (int16_t)scaled(sum, SECOND_SHIFT);
		}
}

/* ---- levels (table K.1) ------------------------------------------------------------------------------- */

static const uint8_t step[JPEG_BLOCK] = {
	16, 11, 10, 16, 24, 40, 51, 61,
	12, 12, 14, 19, 26, 58, 60, 55,
	14, 13, 16, 24, 40, 57, 69, 56,
	14, 17, 22, 29, 51, 87, 80, 62,
	18, 22, 37, 56, 68, 109, 103, 77,
	24, 35, 55, 64, 81, 104, 113, 92,
	49, 64, 78, 87, 103, 121, 120, 101,
	72, 92, 95, 98, 112, 100, 103, 99,
};

void jpeg_quantise(int16_t c[JPEG_BLOCK])
{
	for (unsigned i = 0; i < JPEG_BLOCK; i++) {
		int v = c[i] < 0 ? -c[i] : c[i];

		v = (v + step[i] / 2) / step[i];
		c[i] = (int16_t)(c[i] < 0 ? -v : v);
	}
}

/* ---- codes (annexes C, F.1.2, tables K.3 and K.5) -------------------------------------------------------- */

static const uint8_t zigzag[JPEG_BLOCK] = {
	0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5,
	12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21, 28,
	35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
	58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
};

/* How many codes have 1 to 16 bits, and what they stand for. */
static const uint8_t dc_lengths[16] = { 0, 1, 5, 1, 1, 1, 1, 1, 1 };
static const uint8_t dc_values[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 };
static const uint8_t ac_lengths[16] = { 0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 125 };
static const uint8_t ac_values[] = {
	0x01, 0x02, 0x03, 0x00, 0x04, 0x11, 0x05, 0x12, 0x21, 0x31, 0x41, 0x06, 0x13, 0x51, 0x61, 0x07, 0x22, 0x71,
	0x14, 0x32, 0x81, 0x91, 0xa1, 0x08, 0x23, 0x42, 0xb1, 0xc1, 0x15, 0x52, 0xd1, 0xf0, 0x24, 0x33, 0x62, 0x72,
	0x82, 0x09, 0x0a, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x25, 0x26, 0x27, 0x28, 0x29, 0x2a, 0x34, 0x35, 0x36, 0x37,
	0x38, 0x39, 0x3a, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x49, 0x4a, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, 0x59,
	0x5a, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7a, 0x83,
	0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8a, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99, 0x9a, 0xa2, 0xa3,
	0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7, 0xb8, 0xb9, 0xba, 0xc2, 0xc3,
	0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xca, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7, 0xd8, 0xd9, 0xda, 0xe1, 0xe2,
	0xe3, 0xe4, 0xe5, 0xe6, 0xe7, 0xe8, 0xe9, 0xea, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0xfa,
};
#define RUN_OF_16 0xf0u
#define REST_IS_0 0x00u

static void make_codes(struct jpeg_codes *k, const uint8_t lengths[16], const uint8_t *values)
{
	unsigned code = 0, n = 0;

	for (unsigned len = 1; len <= 16; len++, code <<= 1)
		for (unsigned i = 0; i < lengths[len - 1]; i++, n++) {
			k->code[values[n]] = (uint16_t)code++;
			k->len[values[n]] = (uint8_t)len;
		}
}

/* ---- the file ----------------------------------------------------------------------------------------------- */

static void put_byte(struct jpeg_coder *c, unsigned v)
{
	if (c->n < c->room)
		c->b[c->n++] = (uint8_t)v;
	else
		c->full = true;
}

static void put_bytes(struct jpeg_coder *c, const uint8_t *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		put_byte(c, b[i]);
}

static void put_word(struct jpeg_coder *c, unsigned v)
{
	put_byte(c, v >> 8);
	put_byte(c, v & 255);
}

/* A marker, and how many bytes follow. */
static void put_segment(struct jpeg_coder *c, unsigned marker, size_t n)
{
	put_word(c, marker);
	put_word(c, (unsigned)n + 2);
}

static void put_table(struct jpeg_coder *c, unsigned which, const uint8_t lengths[16], const uint8_t *values, size_t n)
{
	put_segment(c, 0xffc4, 17 + n);
	put_byte(c, which);
	put_bytes(c, lengths, 16);
	put_bytes(c, values, n);
}

void jpeg_begin(struct jpeg_coder *c, uint8_t *b, size_t room, unsigned width, unsigned height)
{
	static const uint8_t jfif[] = { 'J', 'F', 'I', 'F', 0, 1, 1, 0, 0, 1, 0, 1, 0, 0 };
	static const uint8_t grey[] = { 1, 1, 0x11, 0 }, scan[] = { 1, 1, 0x00, 0, 63, 0 };

	memset(c, 0, sizeof *c);
	c->b = b;
	c->room = room;
	make_codes(&c->dcs, dc_lengths, dc_values);
	make_codes(&c->acs, ac_lengths, ac_values);
	put_word(c, 0xffd8);
	put_segment(c, 0xffe0, sizeof jfif);
	put_bytes(c, jfif, sizeof jfif);
	put_segment(c, 0xffdb, 1 + JPEG_BLOCK);
	put_byte(c, 0);
	for (unsigned i = 0; i < JPEG_BLOCK; i++)
		put_byte(c, step[zigzag[i]]);
	put_segment(c, 0xffc0, 5 + 1 + 3);
	put_byte(c, 8);
	put_word(c, height);
	put_word(c, width);
	put_bytes(c, grey, sizeof grey);
	put_table(c, 0x00, dc_lengths, dc_values, sizeof dc_values);
	put_table(c, 0x10, ac_lengths, ac_values, sizeof ac_values);
	put_segment(c, 0xffda, sizeof scan);
	put_bytes(c, scan, sizeof scan);
}

/* A byte of ones is told from a marker by a 0 behind it. */
static void put_bits(struct jpeg_coder *c, unsigned v, unsigned n)
{
	c->bits = c->bits << n | (v & ((1u << n) - 1));
	for (c->nbits += n; c->nbits >= 8; c->nbits -= 8) {
		unsigned byte = c->bits >> (c->nbits - 8) & 255;

		put_byte(c, byte);
		if (byte == 255)
			put_byte(c, 0);
	}
}

static unsigned size_of(int v)
{
	unsigned n = 0;

	for (v = v < 0 ? -v : v; v != 0; v >>= 1)
		n++;
	return n;
}

/* A code for the number of bits, and behind it these, negative ones less one. */
static void put_value(struct jpeg_coder *c, const struct jpeg_codes *k, unsigned run, int v)
{
	unsigned n = size_of(v), symbol = run << 4 | n;

	put_bits(c, k->code[symbol], k->len[symbol]);
	if (n != 0)
		put_bits(c, (unsigned)(v < 0 ? v - 1 : v), n);
}

void jpeg_code(struct jpeg_coder *c, const int16_t level[JPEG_BLOCK])
{
	unsigned run = 0;

	put_value(c, &c->dcs, 0, level[0] - c->dc);
	c->dc = level[0];
	for (unsigned i = 1; i < JPEG_BLOCK; i++) {
		if (level[zigzag[i]] == 0) {
			run++;
			continue;
		}
		for (; run >= 16; run -= 16)
			put_bits(c, c->acs.code[RUN_OF_16], c->acs.len[RUN_OF_16]);
		put_value(c, &c->acs, run, level[zigzag[i]]);
		run = 0;
	}
	if (run != 0)
		put_bits(c, c->acs.code[REST_IS_0], c->acs.len[REST_IS_0]);
}

size_t jpeg_end(struct jpeg_coder *c)
{
	if (c->nbits != 0)
		put_bits(c, 0xff, 8 - c->nbits);
	put_word(c, 0xffd9);
	return c->n;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_jpeg.h - a still picture in three stages, as a program of several processes passes it on: transform, quantise, code.
 *
 * Grey, baseline (ITU-T T.81, annexes A, F, K), in integers, so that each stage gives the same wherever it is done.
 * What the coder writes, from jpeg_begin to jpeg_end, is a file that others read.  Pure: no I/O, nothing is allocated.
 */
#ifndef NCS_JPEG_H
#define NCS_JPEG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JPEG_SIDE  8u                    /* of a block, in pixels */
#define JPEG_BLOCK 64u
#define JPEG_HEAD  400u                  /* bytes, at most, of all but the blocks */

/* A block of pixels, whose rows are `stride` apart, to coefficients, by rows. */
void jpeg_transform(const uint8_t *pixel, size_t stride, int16_t c[JPEG_BLOCK]);
/* In place: to levels, by annex K's table of luminance. */
void jpeg_quantise(int16_t c[JPEG_BLOCK]);

/* The coder: bits behind bytes; what has no room is left out, and `full` says so. */
struct jpeg_coder {
	uint8_t *b;
	size_t   n, room;
	uint32_t bits;
	unsigned nbits;
	int      dc;                     /* of the block before */
	bool     full;
	struct jpeg_codes { uint16_t code[256]; uint8_t len[256]; } dcs, acs;
};
void jpeg_begin(struct jpeg_coder *c, uint8_t *b, size_t room, unsigned width, unsigned height);
/* Blocks by rows of blocks, from the upper left. */
void jpeg_code(struct jpeg_coder *c, const int16_t level[JPEG_BLOCK]);
/* Bytes of the file. */
size_t jpeg_end(struct jpeg_coder *c);

#endif

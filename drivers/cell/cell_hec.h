/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cell_hec.h - the header error control of cells (ITU-T I.432.1, 4.3.2).
 *
 * The fifth byte of a header is the remainder of the other four by x^8 + x^2 + x + 1, plus 01010101.  A
 * receiver corrects one wrong bit in 40 while it is in correction mode; any wrong header takes it to detection
 * mode, in which every wrong one is dropped, and a right one takes it back: errors that come in bursts
 * are not corrected into something else.
 */
#ifndef CELL_HEC_H
#define CELL_HEC_H

#include <stdbool.h>
#include <stdint.h>

enum cell_hec { CELL_HEC_RIGHT, CELL_HEC_CORRECTED, CELL_HEC_WRONG };

/* The fifth byte of the header whose first four, as a number, are these. */
uint8_t cell_hec(uint32_t header);
/* Judges the 5 bytes at h, and corrects them where that is the result.  *detecting is the receiver's mode;
 * correct: it may correct at all. */
enum cell_hec cell_hec_judge(uint8_t *h, bool *detecting, bool correct);

#endif

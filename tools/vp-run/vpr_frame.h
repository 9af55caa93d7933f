/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpr_frame.h - what an agent writes to whoever started it: a first word, then frames of a type, a length of four
 * bytes, the first one highest, and as many bytes.
 */
#ifndef VPR_FRAME_H
#define VPR_FRAME_H

#include "runtime/base/xk_bytes.h"

#define FRAME_HELLO     "\nxkvp-rank 2\n"         /* the number changes when frames do */
#define FRAME_HELLO_LEN (sizeof FRAME_HELLO - 1)
#define FRAME_HEAD      5u

/* END: two bytes, how and with what. */
enum { FRAME_OUT = 'o', FRAME_ERR = 'e', FRAME_STATE = 's', FRAME_END = 'x' };
enum { FRAME_CODE = 'c', FRAME_SIGNAL = 's' };

static inline size_t frame_length(const char *head)
{
	return xk_be32(head + 1);
}

static inline void frame_head(char *head, char type, size_t n)
{
	head[0] = type;
	xk_put_be32(head + 1, (uint32_t)n);
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_msg_part.h - a piece of a long message, for who knows where in its chain the piece begins.
 *
 * xk_msg_share and xk_msg_split find a place by walking from the message's start, which takes time in the
 * square of the pieces where all of it is cut so.  Who cuts one after the other keeps the segment.
 */
#ifndef XK_MSG_PART_H
#define XK_MSG_PART_H

#include "runtime/msg/xk_msg.h"

/* A second message over n bytes from `off` of m's bytes on; m is any segment of a message, and what lies
 * before it is not walked.  It shares buffers, as what xk_msg_share gives does.  NULL when memory is out. */
struct xk_msg *xk_msg_part(struct xk_msg *m, uint32_t off, uint32_t n);

#endif

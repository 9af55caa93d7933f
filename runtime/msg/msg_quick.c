/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * msg_quick.c - what xk_msg_inline.h does without a call, as functions for all others.
 */
#include "runtime/msg/xk_msg_inline.h"

#undef xk_msg_new
#undef xk_msg_free
#undef xk_msg_push

struct xk_msg *xk_msg_new(uint32_t len)
{
	return xk_msg_new_inline(len);
}

void xk_msg_free(struct xk_msg *m)
{
	xk_msg_free_inline(m);
}

void *xk_msg_push(struct xk_msg **mp, uint32_t n)
{
	return xk_msg_push_inline(mp, n);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inet_control.h - buffers of control operations: what is put into one, what is taken out.
 */
#ifndef INET_CONTROL_H
#define INET_CONTROL_H

#include "runtime/upi/xk_proto.h"

/* The result of a control that answers with the n bytes at v. */
int inet_answer(void *buf, unsigned len, const void *v, unsigned n);
/* The n bytes that a control brings, into v. */
int inet_take(void *v, unsigned n, const void *buf, unsigned len);
/* What lies below has answered `res` with the most that it takes; a header of ours is part of
 * that. */
int inet_less_header(int res, void *buf, uint32_t hdr_len);

static inline int inet_answer32(void *buf, unsigned len, uint32_t v)
{
	return inet_answer(buf, len, &v, sizeof v);
}

#endif

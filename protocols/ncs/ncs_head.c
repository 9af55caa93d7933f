/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_head.c - what stands in front of a message of `process`: written, and taken off.
 *
 * The only code that knows its byte order (ncs.md, "Wire").
 */
#include "protocols/ncs/ncs_call.h"

#include "runtime/base/xk_bytes.h"
#include "runtime/upi/xk_inline.h"

uint32_t ncs_end_longest(const struct ncs_end *e)
{
	uint32_t longest;

	return xk_sess_control(e->s.down, XK_CTL_GETMAXPACKET, &longest, sizeof longest) == (int)sizeof longest ? longest : 0;
}

void ncs_head_put(struct xk_ncs_conn *c, struct xk_msg *m, uint32_t tag, uint32_t len, uint32_t n)
{
	uint8_t h[PROC_LONG];

	xk_put_be32(h, tag);
	xk_put_be32(h + 4, c->notes_out);
	xk_put_be32(h + 8, c->sent++);
	xk_put_be32(h + 12, len);
	xk_msg_copy_in(m, 0, h, n);
}

int ncs_head_take(struct xk_msg **m, uint32_t n, struct proc_head *h)
{
	const uint8_t *b;

	if ((*m)->tot < n)
		return XK_E_INVAL;
	b = xk_msg_peek(m, n);
	if (b == NULL)
		return XK_E_NOMEM;
	*h = (struct proc_head){ xk_be32(b), xk_be32(b + 4), xk_be32(b + 8), n == PROC_LONG ? xk_be32(b + 12) : 0 };
	xk_msg_pop(*m, n);
	return XK_OK;
}

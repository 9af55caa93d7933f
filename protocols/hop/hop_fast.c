/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hop_fast.c - what a hop does with the messages of a batch that passes it (protocols/virtual).
 *
 * It must equal what hop_look_demux and hop_burn_demux do before they pass a message on; without
 * this file (--disable-fastpath) they come one by one.
 */
#include "protocols/hop/hop_priv.h"

#include "runtime/upi/xk_inline.h"

void hop_fast_look(const struct xk_up *up, const struct xk_batch *f)
{
	uint32_t off = f->off;

	(void)up;
	for (struct xk_msg **m = f->m, **end = m + f->n; m < end; m++)
		if (XK_LIKELY((*m)->len > off))
			(*m)->aux = (*m)->data[off];
}

void hop_fast_burn(const struct xk_up *up, const struct xk_batch *f)
{
	hop_burn(up, f->n);
	if (((const struct hop_conf *)up->rep->conf)->look)
		hop_fast_look(up, f);
}

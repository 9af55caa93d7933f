/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hop_fast.c - what a hop does with the messages of a batch that passes it (protocols/virtual).
 *
 * It must equal what hop_look_demux and hop_burn_demux do before they pass a message on; without
 * this file (--disable-fastpath) they come one by one.
 */
#include "protocols/hop/hop_priv.h"

#include "runtime/upi/xk_inline.h"

/* Any message; has each of them a byte here? */
static inline bool look_any(const struct xk_batch *f)
{
	const uint32_t off = f->off;
	bool filled = true;

	for (struct xk_msg **m = f->m, **end = m + f->n; m < end; m++)
		if (XK_LIKELY((*m)->len > off))
			(*m)->aux = (*m)->data[off];
		else
			filled = false;
	return filled;
}

/* All of them have.  Four at a time, or a third of what is done would be to go on to the next. */
static inline void look_filled(const struct xk_batch *f)
{
	struct xk_msg **m = f->m, **end = m + f->n;
	const size_t off = f->off;

	for (; end - m >= 4; m += 4) {
		struct xk_msg *a = m[0], *b = m[1], *c = m[2], *d = m[3];
		uint8_t first = a->data[off], second = b->data[off], third = c->data[off], fourth = d->data[off];

		a->aux = first;
		b->aux = second;
		c->aux = third;
		d->aux = fourth;
	}
	for (; m < end; m++)
		(*m)->aux = (*m)->data[off];
}

void hop_fast_look(const struct xk_up *up, const struct xk_batch *f, bool *filled)
{
	(void)up;
	if (XK_LIKELY(*filled))
		look_filled(f);
	else
		*filled = look_any(f);
}

void hop_fast_burn(const struct xk_up *up, const struct xk_batch *f, bool *filled)
{
	hop_burn(up, f->n);
	if (((const struct hop_conf *)up->rep->conf)->look)
		hop_fast_look(up, f, filled);
}

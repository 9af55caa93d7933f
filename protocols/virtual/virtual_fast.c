/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * virtual_fast.c - a batch passes an own session as it is.
 *
 * It must equal virt_self_demux of each of its messages; without this file
 * (--disable-fastpath) they come one by one.
 */
#include "protocols/virtual/virtual.h"

#include "runtime/upi/xk_inline.h"

unsigned virt_fast_batch(struct xk_up *up, struct xk_sess *lls, const struct xk_batch *f)
{
	struct xk_sess *s = xk_container_of(up, struct xk_sess, self);
	const struct virt_rep *v = up->rep->state;

	(void)lls;
	return up->demux == v->self && s->rcnt > 0 ? xk_pass_batch(s, f) : 0;
}

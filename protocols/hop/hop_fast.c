/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hop_fast.c - a batch passes one graph hop.
 *
 * It must equal hop_look_demux and hop_burn_demux, or virt_self_demux, of each of its
 * messages; without this file (--disable-fastpath) they come one by one.
 */
#include "protocols/hop/hop_priv.h"

#include "runtime/upi/xk_inline.h"

unsigned hop_fast_batch(struct xk_up *up, struct xk_sess *lls, const struct xk_batch *f)
{
	unsigned passed = 0;

	if (XK_UNLIKELY(up->demux == hop_burn_demux)) {
		passed = virt_fast_batch(up, lls, f);
		hop_burn(up, passed);
		return passed;
	}
	if (up->demux == hop_look_demux)
		for (unsigned i = 0; i < f->n; i++)
			if (XK_LIKELY(f->m[i]->len > f->off))
				f->m[i]->aux = f->m[i]->data[f->off];
	return virt_fast_batch(up, lls, f);
}

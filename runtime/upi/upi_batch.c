/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upi_batch.c - frames of a batch that go on one by one after all.
 *
 * A layer whose receiver takes no batches, or is watched, or whose batch holds
 * something that is not plain, ends the batch for what is left: each descriptor
 * is materialised just before its message goes up, so that whatever stops half-way
 * leaves the others untouched.
 */
#include "runtime/upi/upi_priv.h"

unsigned xk_batch_demux_each(struct xk_up *up, struct xk_sess *lls, const struct xk_rep *r,
			     const struct xk_batch *f, unsigned from)
{
	unsigned i;

	for (i = from; i < f->n && lls->rep == r && lls->rcnt > 0; i++) {
		xk_batch_materialise(f, f->m[i]);
		up->demux(up, lls, f->m[i]);
	}
	return i;
}

unsigned xk_batch_pass_each(struct xk_sess *s, const struct xk_batch *f)
{
	const struct xk_rep *r = s->rep;
	struct xk_up *up = s->up;
	unsigned i;

	for (i = 0; i < f->n && s->rep == r && s->rcnt > 0 && s->up == up; i++) {
		xk_batch_materialise(f, f->m[i]);
		xk_count(s->rep->npop);
		up->demux(up, s, f->m[i]);
	}
	return i;
}

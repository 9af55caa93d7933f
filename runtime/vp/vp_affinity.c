/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_affinity.c - what is counted of who ran what, of each worker that may be chosen: a worker under
 * schedule fifo, an I/O thread where messages are what is parallel.
 *
 * Two things may be where they were: the stack (a virtual processor, with the memory, the sessions and
 * the stacks of its connections), which the thread that is inside it now may have been in last; and the code,
 * which the thread that starts may have run last of all.  How long it had run none is the x of Salehi and
 * others' t(x) (1995, 3).
 */
#include "runtime/vp/vp_priv.h"

void vp_affine_start(struct vp_affine *a, xk_ns away, bool code_is_here)
{
	xk_count(a->starts);
	xk_count_add(a->away_ns, away);
	xk_hist_add(&a->away, away);
	if (code_is_here)
		xk_count(a->code_hits);
	else
		xk_count(a->code_moves);
}

static void add(struct xk_affinity_counts *out, const struct vp_affine *a)
{
	out->hits += xk_counter_read(a->hits);
	out->moves += xk_counter_read(a->moves);
	out->code_hits += xk_counter_read(a->code_hits);
	out->code_moves += xk_counter_read(a->code_moves);
	out->starts += xk_counter_read(a->starts);
	out->away_ns += xk_counter_read(a->away_ns);
	xk_hist_sum(out->away, &a->away, 1);
}

unsigned xk_vpset_affinities(const struct xk_vpset *set)
{
	return set->fifo != NULL ? set->arch.workers : set->arch.domain == XK_DOMAIN_NONE ? set->arch.io_threads : 0;
}

/* The mode that has a choice of who starts; NULL: none has. */
static const struct xk_mode_ops *choosing(const struct xk_vpset *set)
{
	for (unsigned k = 0; xk_modes[k] != NULL; k++)
		if (xk_modes[k]->affine != NULL && xk_modes[k]->wanted(&set->arch))
			return xk_modes[k];
	return NULL;
}

void xk_vpset_affinity_of(const struct xk_vpset *set, unsigned i, struct xk_affinity_counts *out)
{
	const struct xk_mode_ops *mode;

	*out = (struct xk_affinity_counts){ 0 };
	mode = choosing(set);
	if (mode != NULL)
		add(out, mode->affine(set, i));
	if (set->fifo != NULL)
		return;
	out->hits += xk_counter_read(set->vp[set->nconn + i]->carrier_hits);
	out->moves += xk_counter_read(set->vp[set->nconn + i]->carrier_moves);
}

void xk_affinity_counts_add(struct xk_affinity_counts *sum, const struct xk_affinity_counts *c, int sign)
{
	uint64_t by = (uint64_t)(int64_t)sign;

	sum->hits += by * c->hits;
	sum->moves += by * c->moves;
	sum->code_hits += by * c->code_hits;
	sum->code_moves += by * c->code_moves;
	sum->starts += by * c->starts;
	sum->away_ns += by * c->away_ns;
	for (unsigned i = 0; i < XK_HIST_PLACES; i++)
		sum->away[i] += by * c->away[i];
}

void xk_vpset_affinity(const struct xk_vpset *set, struct xk_affinity_counts *out)
{
	struct xk_affinity_counts one;

	*out = (struct xk_affinity_counts){ 0 };
	for (unsigned i = 0, n = xk_vpset_affinities(set); i < n; i++) {
		xk_vpset_affinity_of(set, i, &one);
		xk_affinity_counts_add(out, &one, 1);
	}
}

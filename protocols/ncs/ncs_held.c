/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_held.c - what programs hold of messages that they write or read in place (ncs_in_place.c), and how much.
 *
 * What is reserved is a message of the connection's VP, made there, and goes down as it is.  What is taken is the
 * message that came up, or, where it had to be kept or was too much to be held, the memory that it was kept in.  A VP's
 * messages are freed inside it, so giving one back goes there.
 * Taken and reserved have a bound each: who sends on what he took waits for nobody who does the same.
 * Invariant: `taken` and `reserved` of the process are the sums of `counted`; what is held has one of m, box and own,
 * or none.
 */
#include "protocols/ncs/ncs_call.h"

#include "runtime/mem/xk_alloc.h"
#include "runtime/upi/xk_inline.h"

/* ---- what is held: with the lock ---------------------------------------------------------------------- */

bool ncs_held_fits(const struct xk_node *n, uint64_t more)
{
	return proc_of(n)->taken + more <= proc_conf(n)->held;
}

bool ncs_held_may_reserve(const struct xk_node *n, uint64_t more)
{
	return proc_of(n)->reserved == 0 || proc_of(n)->reserved + more <= proc_conf(n)->held;
}

void ncs_held_counts(struct xk_ncs_held *h, uint64_t n)
{
	*(h->c != NULL ? &proc_of(h->n)->reserved : &proc_of(h->n)->taken) += n - h->counted;
	h->counted = n;
}

void ncs_held_has(struct xk_ncs_held *h, struct ncs_box *b)
{
	h->box = b;
	h->len = b->len;
}

/* ---- inside the VP ------------------------------------------------------------------------------------- */

/* Is it h's to hold?  Of short ones what keeps them is more than their bytes. */
static bool holds(struct xk_ncs_held *h, const struct xk_msg *m)
{
	uint64_t n = m->tot + sizeof *m;
	bool fits;

	proc_lock(h->n);
	fits = ncs_held_fits(h->n, n);
	if (fits)
		ncs_held_counts(h, n);
	proc_unlock(h->n);
	return fits;
}

void ncs_held_gets(struct ncs_end *e, struct xk_ncs_held *h, struct xk_msg *m)
{
	bool fits = holds(h, m);

	h->len = m->tot;
	h->vp = e->s.rep->vp;
	if (!fits)
		h->own = xk_alloc(m->tot != 0 ? m->tot : 1);
	xk_count(e->s.rep->count[h->own == NULL ? PROC_COUNT_TAKEN : PROC_COUNT_COPIED]);
	if (h->own == NULL) {                    /* without memory it is held beyond the bound: it may not be lost */
		h->m = m;
		return;
	}
	xk_msg_copy_out(m, 0, h->own, m->tot);
	xk_msg_free(m);
}

struct xk_msg *ncs_held_leaves(struct xk_ncs_held *h)
{
	struct xk_msg *m = h->m;

	h->m = NULL;
	proc_lock(h->n);
	ncs_held_counts(h, 0);
	proc_unlock(h->n);
	return m;
}

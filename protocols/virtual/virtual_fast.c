/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * virtual_fast.c - a batch passes own sessions as it is, any number of them one over another.
 *
 * It must equal the replica's self of each of its messages; without this file (--disable-fastpath)
 * they come one by one.  A tower of such layers is climbed in a loop: calls that nest deeper
 * than a processor remembers where to return to cost more than all that a layer does.
 */
#include "protocols/virtual/virtual.h"

#include "runtime/upi/xk_inline.h"

#define CLIMB 32u                /* layers before the next call */

unsigned virt_fast_batch(struct xk_up *up, struct xk_sess *lls, const struct xk_batch *f)
{
	struct xk_rep *passed[CLIMB];
	struct xk_sess *top = NULL;
	unsigned n = 0, done;
	bool filled = false;

	(void)lls;
	do {
		struct xk_sess *s = xk_container_of(up, struct xk_sess, self);
		struct xk_rep *r = up->rep;
		const struct virt_rep *v = r->state;

		if (XK_UNLIKELY(up->demux != v->self || s->rcnt <= 0))
			break;
		xk_sess_check(s);
		if (v->sees != NULL)
			v->sees(up, f, &filled);
		passed[n++] = r;
		top = s;
		up = s->up;
	} while (n < CLIMB && up->rep->ops->demux_batch == virt_fast_batch);
	if (XK_UNLIKELY(n == 0))
		return 0;
	/* The last of them counts by itself what it passes, as each of the others does what it has. */
	done = xk_pass_batch(top, f);
	for (unsigned i = 0; i + 1 < n; i++)
		xk_count_add(passed[i]->npop, done);
	return done;
}

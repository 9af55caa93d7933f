/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_due.c - a heap of virtual processors by the time at which they have something to do; see vp_due.h.
 *
 * Invariant: heap[i].vp->due_at is i + 1, and 0 is that of all others.
 */
#include "runtime/vp/modes/vp_due.h"

#include "runtime/mem/xk_alloc.h"

int vp_dues_make(struct vp_dues *d, unsigned nvps)
{
	d->heap = xk_alloc(nvps * sizeof *d->heap);
	return d->heap != NULL ? XK_OK : XK_E_NOMEM;
}

void vp_dues_free(struct vp_dues *d)
{
	xk_free(d->heap);
	*d = (struct vp_dues){ .n = 0 };
}

static void put(struct vp_dues *d, uint32_t i, struct vp_due x)
{
	d->heap[i] = x;
	x.vp->due_at = i + 1;
}

static void up(struct vp_dues *d, uint32_t i)
{
	struct vp_due x = d->heap[i];

	for (; i != 0 && x.when < d->heap[(i - 1) / 2].when; i = (i - 1) / 2)
		put(d, i, d->heap[(i - 1) / 2]);
	put(d, i, x);
}

static void down(struct vp_dues *d, uint32_t i)
{
	struct vp_due x = d->heap[i];
	uint32_t child;

	for (; (child = 2 * i + 1) < d->n; i = child) {
		child += child + 1 < d->n && d->heap[child + 1].when < d->heap[child].when;
		if (x.when <= d->heap[child].when)
			break;
		put(d, i, d->heap[child]);
	}
	put(d, i, x);
}

static void take_out(struct vp_dues *d, struct xk_vp *vp)
{
	uint32_t i = vp->due_at - 1;
	struct vp_due last = d->heap[--d->n];

	vp->due_at = 0;
	if (last.vp == vp)
		return;
	put(d, i, last);
	up(d, i);
	down(d, last.vp->due_at - 1);
}

void vp_dues_set(struct vp_dues *d, struct xk_vp *vp, xk_ns when)
{
	if (when == XK_NS_NEVER) {
		if (vp->due_at != 0)
			take_out(d, vp);
		return;
	}
	if (vp->due_at == 0)
		put(d, d->n++, (struct vp_due){ .vp = vp });
	d->heap[vp->due_at - 1].when = when;
	up(d, vp->due_at - 1);
	down(d, vp->due_at - 1);
}

struct xk_vp *vp_dues_take(struct vp_dues *d, xk_ns now)
{
	struct xk_vp *vp = d->n != 0 && d->heap[0].when <= now ? d->heap[0].vp : NULL;

	if (vp != NULL)
		take_out(d, vp);
	return vp;
}

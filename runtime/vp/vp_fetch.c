/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_fetch.c - what a virtual processor's next turn will touch comes into the
 * cache while others have theirs.
 *
 * Of hundreds of VPs none finds anything left of its own when its turn comes, and
 * most lines are found through another: the VP names its task, the task a session,
 * the session its control block.  So the way is gone in four steps, one in each of
 * the turns before; a turn is long enough for any line to come.  Only the first two tasks
 * are fetched like this, the others by the tasks before them (vp_unit.c).
 * Invariant: nothing is written, and nothing is read that another thread may write.
 */
#include "runtime/vp/vp_priv.h"

void xk_vp_warm(struct xk_vp *vp, const void *line)
{
	if (vp->nwarm < XK_VP_WARM)
		vp->warm[vp->nwarm++] = line;
}

/* Itself, up to the wheel's slots. */
static void fetch_vp(const struct xk_vp *vp)
{
	vp_fetch_lines(&vp->mem, 2);
	vp_fetch_lines(&vp->now, (offsetof(struct xk_vp, wheel.slot) - offsetof(struct xk_vp, now)) / XK_CACHELINE + 1);
	__builtin_prefetch(&vp->inbox);
}

/* Lists: of lines, of free buffers; the task whose turn it is. */
static void fetch_lists(const struct xk_vp *vp, const struct xk_task *t)
{
	vp_fetch_lines(vp->warm, (vp->nwarm + 7) / 8);
	for (unsigned c = 0; c < XK_MEM_CLASSES; c++)
		__builtin_prefetch(vp->mem.cache[c].slot + vp->mem.cache[c].n);
	if (t != NULL)
		vp_fetch_task(t);
}

static void fetch_listed(const struct xk_vp *vp, const struct xk_task *t)
{
	for (unsigned i = 0; i < vp->nwarm; i++)
		__builtin_prefetch(vp->warm[i]);
	if (t != NULL) {
		vp_fetch_first(t);
		vp_fetch_task(t->next);
	}
}

/* The heads of the buffers that will be taken first; what sessions point at. */
static void fetch_rest(const struct xk_vp *vp, const struct xk_task *t)
{
	for (unsigned c = 0; c < XK_MEM_CLASSES; c++)
		if (vp->mem.cache[c].n != 0)
			vp_fetch_lines(vp->mem.cache[c].slot[vp->mem.cache[c].n - 1], 4);
	if (t != NULL) {
		vp_fetch_beyond(t);
		vp_fetch_first(t->next);
		vp_fetch_task(t->next->next);
	}
}

void xk_vp_fetch(const struct xk_vp *vp, unsigned before)
{
	const struct xk_task *t;

	if (before >= 4) {
		fetch_vp(vp);
		return;
	}
	t = vp->ring[0] != NULL ? vp->ring[0] : vp->ring[1];
	if (before == 3)
		fetch_lists(vp, t);
	else if (before == 2)
		fetch_listed(vp, t);
	else
		fetch_rest(vp, t);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_recorder.c - the flight recorders of a set: a ring for each virtual processor and for each worker (xk_recorder.h).
 *
 * All rings lie in one piece, as large as fits into a budget when they are many; the system gives memory for what has
 * been written.  A VP's ring is written by the thread inside it, a worker's by its own.
 * Invariant: from when a set is there until it is freed every VP that is run and every worker has a ring.
 */
#include "runtime/vp/vp_priv.h"

#include <sys/mman.h>

#define BUDGET   ((size_t)16 << 20)      /* bytes of all rings, unless each had less than LEAST records */
#define MOST     2048u                   /* records of a ring; powers of two */
#define LEAST    64u

static unsigned rings(const struct xk_vpset *set) { return set->nall + set->nworkers; }

static size_t ring_of(const struct xk_vpset *set)
{
	size_t n = MOST;

	while (n > LEAST && n * sizeof(struct xk_rec) * rings(set) > BUDGET)
		n /= 2;
	return n;
}

static struct xk_recorder *recorder(const struct xk_vpset *set, unsigned i)
{
	return i < set->nall ? &set->all[i]->recorder : &set->worker[i - set->nall]->recorder;
}

int vp_recorders_new(struct xk_vpset *set)
{
	size_t n = ring_of(set), bytes = n * sizeof(struct xk_rec) * rings(set);
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return XK_E_NOMEM;
	set->records = p;
	set->nrecords = bytes;
	for (unsigned i = 0; i < rings(set); i++)
		*recorder(set, i) = (struct xk_recorder){ .ring = set->records + i * n, .mask = n - 1 };
	return XK_OK;
}

void vp_recorders_free(struct xk_vpset *set)
{
	if (set->records != NULL)
		munmap(set->records, set->nrecords);
	set->records = NULL;
}

const struct xk_recorder *xk_vpset_recorder(const struct xk_vpset *set, unsigned i, bool *is_worker, unsigned *no)
{
	if (set->records == NULL || i >= rings(set))
		return NULL;
	*is_worker = i >= set->nall;
	*no = *is_worker ? i - set->nall : i;
	return recorder(set, i);
}

XK_NOINLINE void vp_record_wait(struct xk_vp *vp)
{
	uint64_t ns = vp->lockstat.wait_ns - vp->waited_ns;

	vp->waits = vp->lockstat.contended;
	vp->waited_ns = vp->lockstat.wait_ns;
	if (vp->recorder.ring != NULL)
		xk_vp_record(vp, XK_REC_LOCK, 0, 0, vp->waits, ns);
}

XK_NOINLINE void xk_vp_lost(struct xk_vp *vp, unsigned to, enum xk_rec_handoff how)
{
	xk_count(vp->inbox_drops);
	xk_vp_record(vp, XK_REC_HANDOFF, 0, to, 1, how);
}

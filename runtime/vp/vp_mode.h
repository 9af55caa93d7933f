/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_mode.h - a mode: how the virtual processors of an architecture are run.
 *
 * A VP has one mode from when it is made; so has a worker, whose VPs are all of the same.  The
 * core (the files of runtime/vp) calls the modes of runtime/vp/modes through this table only; modes
 * call the core.  NULL in a row is what the core does by itself for `own`, so that the most common
 * mode pays no indirect call for a turn.
 *
 *   operation       by whom, where
 *   kick            any thread
 *   blocked         vp's worker, which has entered it
 *   drop            the control thread, inside vp, when nothing runs any more
 *   make, free      the control thread; free is legal, and nothing, where make was not called
 *   affine          any thread, while there are workers
 *   serve, keeps,
 *   wait            a program's thread, outside all VPs before and after
 *   the others      vp's worker, or the thread that stands in for all of them
 */
#ifndef XK_VP_MODE_H
#define XK_VP_MODE_H

#include "runtime/base/xk_base.h"
#include "runtime/base/xk_clock.h"

struct vp_affine;
struct xk_arch;
struct xk_event;
struct xk_vp;
struct xk_vpset;
struct xk_worker;

struct xk_mode_ops {
	/* What the mode has beside VPs and workers: after those were made, before these; after both. */
	bool     (*wanted)(const struct xk_arch *a);     /* NULL: nothing is to be made */
	int      (*make)(struct xk_vpset *set);
	void     (*free)(struct xk_vpset *set);
	void     (*drop)(struct xk_vp *vp);              /* frees what waits in vp */

	/* What its i-th worker, or I/O thread, has counted of what it was chosen for. */
	const struct vp_affine *(*affine)(const struct xk_vpset *set, unsigned i);

	/* There is work in vp. */
	void     (*kick)(struct xk_vp *vp);
	/* Does anything wait in vp that the core does not know of? */
	bool     (*waiting)(const struct xk_vp *vp);
	/* One unit, entering and leaving: the calling thread stands in for all workers. */
	unsigned (*step)(struct xk_vp *vp, xk_ns now);

	/* The worker's thread begins. */
	void     (*begin)(struct xk_worker *w);
	/* Whatever is ready, once around; messages done. */
	unsigned (*round)(struct xk_worker *w);
	/* A turn of the i-th VP of w; messages done. */
	unsigned (*visit)(struct xk_worker *w, unsigned i);
	/* A round that began at `before` has done so much. */
	void     (*noted)(struct xk_worker *w, unsigned done, xk_ns before);

	/* A borrowed thread, inside: runs what it made.  Then, having left, with the lock: does vp's worker, asleep
	 * perhaps, know of all that is left?  NULL: it is kicked. */
	void     (*serve)(struct xk_vp *vp);
	bool     (*keeps)(struct xk_vp *vp);
	/* Runs vp until e, which is prepared before and after, is woken, or it is better to sleep; ns of *left are over
	 * by then.  NULL: it is better at once. */
	void     (*wait)(struct xk_vp *vp, struct xk_event *e, uint64_t *left);

	/* For a look at vp's tasks, and back: nobody else is inside meanwhile. */
	void     (*hold)(struct xk_vp *vp);
	void     (*release)(struct xk_vp *vp);
	bool     (*blocked)(struct xk_vp *vp);           /* its tasks may not run now: it waits for no device */
	/* It is about to sleep, and will be woken: false, there is something to be done. */
	bool     (*sleeps)(struct xk_worker *w);
	void     (*wakes)(struct xk_worker *w);
};

/* vp_worker.c */
extern const struct xk_mode_ops xk_mode_own, xk_mode_lock;
/* modes/vp_modes.c: all that have something of their own, NULL last. */
extern const struct xk_mode_ops *const xk_modes[];
/* The mode of the VPs of connections; of I/O threads. */
const struct xk_mode_ops *xk_mode_of(const struct xk_arch *a, bool io_thread);

#endif

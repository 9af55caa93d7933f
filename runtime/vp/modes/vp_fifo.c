/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_fifo.c - one queue of virtual processors that all workers share (schedule `fifo`).
 *
 * Each VP is a stack with a queue of messages; the stacks that have some stand in a queue
 * of their own (Salehi and others 1995, 8).  A free worker takes the first, runs its
 * messages until there are none or it has had `quantum` of them, puts it back at the end
 * if there are more, and takes the next.  So with as many VPs as workers each message
 * finds its stack's processor, and with many more no worker is idle while a stack waits
 * that nobody is inside of.
 *
 * A VP's place: at rest, queued, queued with nothing known to do (its tasks poll a device),
 * running, or running with something left meanwhile.  Who changes `rest` to `queued` puts it
 * into the ring, so it is there once at most.  A VP whose lock somebody has (a borrowed thread,
 * or one that asks what its tasks wait for) goes to the end of the queue, and the next is taken.
 * Timers are looked after by the worker that a VP is dealt to, its home.
 * Invariant: a VP with work is in the ring, or somebody is inside it who will put it there.
 */
#include "runtime/vp/modes/vp_modes.h"
#include "runtime/vp/vp_priv.h"

enum { REST, QUEUED, DRY, RUNNING, AGAIN };

struct xk_fifo {
	struct xk_lock     lock;         /* of the ring */
	struct xk_lockstat stat;
	unsigned           first, n;
	uint32_t           nwork XK_ALIGNED;  /* queued, not dry */
	uint64_t           idle;         /* workers that sleep, a bit each */
	struct xk_vp      *ring[];
};

static const struct xk_lock_ops *const ops = &xk_lock_adaptive;

static bool fifo_wanted(const struct xk_arch *a)
{
	return a->schedule == XK_SCHED_FIFO;
}

static int fifo_make(struct xk_vpset *set)
{
	struct xk_fifo *f = xk_alloc(sizeof *f + set->nvps * sizeof f->ring[0]);

	if (f == NULL)
		return XK_E_NOMEM;
	ops->init(&f->lock);
	set->fifo = f;
	return XK_OK;
}

static void fifo_free(struct xk_vpset *set)
{
	if (set->fifo == NULL)
		return;
	ops->fini(&set->fifo->lock);
	xk_free(set->fifo);
	set->fifo = NULL;
}

/* ---- the ring ---------------------------------------------------------------------- */

static void ring_put(struct xk_vpset *set, struct xk_vp *vp)
{
	struct xk_fifo *f = set->fifo;

	xk_lock_take(ops, &f->lock, &f->stat);
	f->ring[(f->first + f->n++) % set->nvps] = vp;
	xk_lock_drop(ops, &f->lock, &f->stat);
}

static struct xk_vp *ring_take(struct xk_vpset *set)
{
	struct xk_fifo *f = set->fifo;
	struct xk_vp *vp = NULL;

	xk_lock_take(ops, &f->lock, &f->stat);
	if (f->n != 0) {
		vp = f->ring[f->first];
		f->first = (f->first + 1) % set->nvps;
		f->n--;
	}
	xk_lock_drop(ops, &f->lock, &f->stat);
	return vp;
}

static void wake_one(struct xk_vpset *set)
{
	struct xk_fifo *f = set->fifo;
	uint64_t idle = xk_load_relaxed(&f->idle);

	while (idle != 0) {
		unsigned i = (unsigned)__builtin_ctzll(idle);

		if (xk_atomic_cas(&f->idle, &idle, idle & (idle - 1))) {
			xk_event_wake(&set->worker[i]->event);
			return;
		}
	}
}

/* Somebody has left work in vp; any thread. */
static void fifo_kick(struct xk_vp *vp)
{
	static const uint32_t then[] = { [REST] = QUEUED, [QUEUED] = QUEUED, [DRY] = QUEUED, [RUNNING] = AGAIN, [AGAIN] = AGAIN };
	uint32_t was = xk_load_relaxed(&vp->place);

	/* A change even where there is none: who takes it then sees what was left. */
	while (!xk_atomic_cas(&vp->place, &was, then[was]))
		;
	if (was != REST && was != DRY)
		return;
	(void)xk_atomic_add(&vp->set->fifo->nwork, 1u);
	if (was == REST)
		ring_put(vp->set, vp);
	wake_one(vp->set);
}

/* ---- a worker ------------------------------------------------------------------------ */

static struct xk_vp *take(struct xk_vpset *set)
{
	struct xk_vp *vp = ring_take(set);

	if (vp != NULL && xk_atomic_xchg(&vp->place, (uint32_t)RUNNING) == QUEUED)
		(void)xk_atomic_add(&set->fifo->nwork, UINT32_MAX);
	return vp;
}

static void requeue(struct xk_vp *vp)
{
	(void)xk_atomic_xchg(&vp->place, (uint32_t)QUEUED);
	/* The first one is for the worker that does this. */
	if (xk_atomic_add(&vp->set->fifo->nwork, 1u) != 0)
		wake_one(vp->set);
	ring_put(vp->set, vp);
}

/* Its turn is over: back into the queue, or not. */
static void put_back(struct xk_vp *vp, bool busy, bool dry)
{
	uint32_t running = RUNNING;

	if (busy && !dry)
		requeue(vp);
	else if (!xk_atomic_cas(&vp->place, &running, busy ? (uint32_t)DRY : (uint32_t)REST))
		requeue(vp);
	else if (busy)
		ring_put(vp->set, vp);
}

/* Its home sleeps until what it knows of; a nearer timer is news. */
static void tell_home(const struct xk_worker *w, struct xk_vp *vp)
{
	if (vp->worker == w)
		return;
	xk_store_release(&vp->worker->any_kicked, 1);
	xk_event_wake(&vp->worker->event);
}

static unsigned visit(struct xk_worker *w, struct xk_vp *vp)
{
	int32_t left = (int32_t)w->set->arch.quantum;
	bool busy, idle, nearer;
	unsigned total;
	xk_ns next;

	if (!xk_vp_trylock(vp)) {
		requeue(vp);
		return 0;
	}
	xk_vp_step_in(vp, w->now);
	total = xk_vp_turn(vp, w->set->arch.burst, &left, &idle);
	busy = xk_vp_busy(vp);
	next = xk_wheel_next(&vp->wheel);
	nearer = next < xk_load_relaxed(&vp->worker_next);
	xk_store_relaxed(&vp->worker_next, next);
	xk_vp_step_out(vp);
	xk_vp_unlock(vp);
	xk_vp_carry(w->set, w->now);
	if (nearer) {
		w->next = next < w->next ? next : w->next;
		tell_home(w, vp);
	}
	put_back(vp, busy, idle);
	return total;
}

/* Each VP in the queue at most once. */
static unsigned run_queued(struct xk_worker *w)
{
	unsigned total = 0, tries = w->set->nvps;
	struct xk_vp *vp;

	while (total < XK_ROUND && tries-- != 0 && (vp = take(w->set)) != NULL)
		total += visit(w, vp);
	return total;
}

/* Queues those whose timers are due. */
static void fifo_timers(struct xk_worker *w)
{
	w->next = XK_NS_NEVER;
	for (unsigned i = 0; i < w->nslots; i++) {
		struct xk_vp *vp = w->slot[i].vp;
		xk_ns next = xk_load_relaxed(&vp->worker_next);

		/* What it will want next is news when it has run. */
		if (next <= w->now && xk_atomic_cas(&vp->worker_next, &next, XK_NS_NEVER))
			fifo_kick(vp);
		else if (next < w->next)
			w->next = next;
	}
}

static unsigned fifo_round(struct xk_worker *w)
{
	/* Its home's news: a nearer timer. */
	if (xk_load_relaxed(&w->any_kicked) && xk_atomic_xchg(&w->any_kicked, 0))
		w->next = 0;
	if (w->next <= w->now)
		fifo_timers(w);
	return run_queued(w);
}

/* Whatever was done while nobody ran, each has a turn. */
static void fifo_begin(struct xk_worker *w)
{
	for (unsigned i = 0; i < w->nslots; i++)
		xk_store_relaxed(&w->slot[i].vp->worker_next, (xk_ns)0);
	w->next = 0;
}

static void fifo_wakes(struct xk_worker *w)
{
	xk_atomic_and(&w->set->fifo->idle, ~(1ull << w->no));
}

/* After xk_event_prepare: false, there is something to be done. */
static bool fifo_sleeps(struct xk_worker *w)
{
	struct xk_fifo *f = w->set->fifo;

	xk_atomic_or(&f->idle, 1ull << w->no);
	if (xk_atomic_add(&f->nwork, 0u) == 0)
		return true;
	fifo_wakes(w);
	return false;
}

static void fifo_hold(struct xk_vp *vp) { xk_vp_lock(vp); }
static void fifo_release(struct xk_vp *vp) { xk_vp_unlock(vp); }

const struct xk_mode_ops xk_mode_fifo = {
	.wanted = fifo_wanted, .make = fifo_make, .free = fifo_free, .kick = fifo_kick,
	.begin = fifo_begin, .round = fifo_round, .hold = fifo_hold, .release = fifo_release,
	.sleeps = fifo_sleeps, .wakes = fifo_wakes,
};

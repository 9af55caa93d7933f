/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_pool.c - the queue of messages that all I/O threads share, and their sleep
 * (message parallelism: whoever is free takes the next message).
 *
 * The queue is a VP that nobody is inside of: what is posted to it goes into an inbox
 * like any other, in batches, without a lock.  Messages are taken under the
 * queue's lock: it puts the inbox in order and gives each message a ticket, its
 * number in the order of arrival.  An I/O thread that finds nothing parks its task; the
 * threads were made when the graph was, and none is made for a message.
 *
 * Waking: which free I/O thread starts is what xk_sched.h says.  A run there is leave to work on the queue:
 * there are as many as threads, and who has one takes messages until there are none.  A thread that finds
 * nothing says that it is free, then looks once more; who posts or leaves messages behind asks then
 * whether anybody is free.  Both do so by a locked operation on the same word, so one of the two sees the
 * other.  Whoever takes messages and leaves some starts one more, so all are awake soon when
 * there is work for all.
 * Invariant: a thread that is free has a parked task and no call posted; a run is at rest for each, and for each that
 * was started and whose run another one took.
 */
#include "runtime/vp/modes/vp_modes.h"
#include "runtime/vp/modes/vp_pool.h"
#include "runtime/vp/vp_sim.h"

#include <sys/mman.h>

#define BURST 32u                /* most messages taken at once */

uint32_t xk_vpset_backlog(const struct xk_vpset *set)
{
	const struct xk_vp *q = set->pool_queue->queue;

	return xk_load_relaxed(&q->inbox_posted) - xk_load_relaxed(&q->inbox_taken);
}

void xk_vpset_queue_locks(const struct xk_vpset *set, struct xk_lock_counts *out)
{
	*out = (struct xk_lock_counts){ 0 };
	if (set->pool_queue != NULL)
		xk_lockstat_read(&set->pool_queue->lockstat, out);
}

/* ---- waking ---------------------------------------------------------------------- */

static void pool_lock(struct xk_pool *p) { xk_lock_take(p->ops, &p->choice, &p->choicestat); }
static void pool_unlock(struct xk_pool *p) { xk_lock_drop(p->ops, &p->choice, &p->choicestat); }

static unsigned pool_number(const struct xk_vp *vp) { return vp->no - vp->set->nconn; }

/* The caller's I/O thread; XK_SCHED_NONE: it is none. */
static unsigned pool_self(const struct xk_vpset *set)
{
	const struct xk_vp *vp = xk_vp_self;

	return vp != NULL && vp->set == set && vp->no >= set->nconn && vp->no < set->nconn + set->arch.io_threads ?
		pool_number(vp) : XK_SCHED_NONE;
}

/* Under the lock.  Who asks is about to do something else, reading a device for instance, though it has nothing to
 * do here: it is chosen where nobody else is free, or in its turn. */
static unsigned pool_start(const struct xk_vpset *set, struct xk_pool *p)
{
	unsigned self = p->turns ? XK_SCHED_NONE : pool_self(set);
	struct xk_sched_run *run = p->spare[xk_atomic_add(&p->nspare, UINT32_MAX) - 1];

	return self != XK_SCHED_NONE ? xk_sched_brought(p->sched, self, run, 0) : xk_sched_arrive(p->sched, run, 0);
}

/* Somebody has left work in the queue. */
static void pool_kick(struct xk_vp *queue)
{
	struct xk_vpset *set = queue->set;
	struct xk_pool *p = set->pool_queue;
	unsigned i = XK_SCHED_NONE;

	if (xk_atomic_add(&p->nspare, 0u) == 0)
		return;
	pool_lock(p);
	if (xk_load_relaxed(&p->nspare) != 0)
		i = pool_start(set, p);
	pool_unlock(p);
	if (i != XK_SCHED_NONE)
		xk_vp_call_async(set->vp[set->nconn + i], &p->io_thread[i].wake);
}

static void pool_awake(struct xk_vp *vp, void *arg)
{
	struct xk_pool *p = vp->set->pool_queue;
	unsigned i = pool_number(vp);

	pool_lock(p);
	p->io_thread[i].has = xk_sched_next(p->sched, i, vp->now);
	/* Another one was faster. */
	if (p->io_thread[i].has == NULL)
		(void)xk_sched_release(p->sched, i, vp->now);
	else
		vp_affine_start(&p->io_thread[i].affine, xk_sched_away(p->sched, i), p->ran_last == i);
	pool_unlock(p);
	if (p->io_thread[i].has != NULL)
		xk_task_ready(arg);
}

/* Under the lock: i has nothing to do, unless there is work that another one was started for. */
static void pool_release(struct xk_pool *p, unsigned i, xk_ns now)
{
	struct xk_sched_run *run = p->io_thread[i].has;

	(void)xk_sched_done(p->sched, i, run, XK_AFTER_REST, 0, now);
	p->ran_last = i;
	p->spare[xk_load_relaxed(&p->nspare)] = run;
	(void)xk_atomic_add(&p->nspare, 1u);
	p->io_thread[i].has = xk_sched_next(p->sched, i, now);
	if (p->io_thread[i].has == NULL)
		(void)xk_sched_release(p->sched, i, now);
}

/* Nothing there: until somebody wakes it. */
static void pool_rest(struct xk_vpset *set, struct xk_vp *vp, struct xk_task *t)
{
	struct xk_pool *p = set->pool_queue;
	unsigned i = pool_number(vp);

	pool_lock(p);
	pool_release(p, i, vp->now);
	pool_unlock(p);
	if (p->io_thread[i].has == NULL)
		xk_task_park(t);
	if (xk_vpset_backlog(set) != 0)
		pool_kick(p->queue);
}

/* ---- taking ------------------------------------------------------------------------ */

/* The inbox, newest first, behind what was ordered before; under the lock. */
static void pool_order(struct xk_vp *q)
{
	(void)vp_put_in_order(&q->local, xk_atomic_xchg(&q->inbox, NULL));
}

/* Up to n messages; *first is the ticket of m[0], the others' follow. */
static unsigned pool_take(struct xk_vpset *set, struct xk_msg **m, unsigned n, uint64_t *first, bool *more)
{
	struct xk_pool *p = set->pool_queue;
	struct xk_vp *q = p->queue;

	xk_lock_take(set->arch.lock, &p->lock, &p->lockstat);
	if (q->local.n < n && xk_load_relaxed(&q->inbox) != NULL)
		pool_order(q);
	if (n > q->local.n)
		n = q->local.n;
	for (unsigned i = 0; i < n; i++)
		m[i] = xk_msgq_get(&q->local);
	*first = p->given + 1;
	p->given += n;
	xk_store_relaxed(&q->inbox_taken, q->inbox_taken + n);
	*more = q->local.n != 0;
	xk_lock_drop(set->arch.lock, &p->lock, &p->lockstat);
	return n;
}

static unsigned pool_run(struct xk_task *t, unsigned budget)
{
	struct xk_vp *vp = t->vp;
	struct xk_vpset *set = vp->set;
	struct xk_msg *m[BURST];
	uint64_t ticket;
	unsigned n;
	bool more;

	/* The lock is not asked for where there is nothing to be had. */
	n = xk_vpset_backlog(set) == 0 ? 0 : pool_take(set, m, budget < BURST ? budget : BURST, &ticket, &more);
	if (n == 0) {
		pool_rest(set, vp, t);
		return 0;
	}
	if (more)
		pool_kick(set->pool_queue->queue);
	if (XK_UNLIKELY(set->sim != NULL))
		xk_vpsim_pooled(vp, n);
	for (unsigned i = 0; i < n; i++) {
		vp->ticket = ticket + i;
		set->deliver(vp, m[i]);
		if (vp->ticket != 0)
			xk_vp_order_skip(vp);
	}
	return n;
}

/* ---- life ---------------------------------------------------------------------------- */

static void *pages_new(size_t n)
{
	void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static bool pool_wanted(const struct xk_arch *a)
{
	return a->io_threads != 0 && a->inbound == XK_INBOUND_POOL;
}

/* Without a policy of its own, each in its turn. */
static int pool_choose(struct xk_vpset *set, struct xk_pool *p)
{
	const struct xk_arch *a = &set->arch;
	const struct xk_sched_conf conf = {
		.nprocs = a->io_threads, .pick = a->affinity == XK_AFFINITY_ANY ? XK_PICK_LRU : a->pick,
		.queue = XK_QUEUE_ONE, .seed = a->seed,
	};

	p->ran_last = XK_SCHED_NONE;
	p->turns = a->affinity == XK_AFFINITY_ANY;
	p->sched = xk_alloc(xk_sched_size(conf.nprocs));
	if (p->sched == NULL)
		return XK_E_NOMEM;
	for (unsigned i = a->io_threads; i-- > 0;) {
		p->io_thread[i].run.last = -1;
		p->spare[p->nspare++] = &p->io_thread[i].run;
	}
	p->ops = vp_mode_lock(set);
	p->ops->init(&p->choice);
	return xk_sched_init(p->sched, &conf);
}

static int pool_make(struct xk_vpset *set)
{
	struct xk_pool *p = pages_new(sizeof *p);

	if (p == NULL)
		return XK_E_NOMEM;
	p->queue = pages_new(sizeof *p->queue);
	if (p->queue == NULL) {
		munmap(p, sizeof *p);
		return XK_E_NOMEM;
	}
	p->queue->set = set;
	p->queue->mode = &xk_mode_pool;
	p->queue->no = p->queue->at = (uint16_t)set->nvps;
	xk_msgq_init(&p->queue->local);
	set->arch.lock->init(&p->lock);
	p->lockstat.untimed = set->arch.lock_untimed;
	p->turn = 1;
	for (unsigned i = 0; i < set->arch.io_threads; i++) {
		xk_task_init(&p->io_thread[i].task, set->vp[set->nconn + i], pool_run);
		xk_task_input(&p->io_thread[i].task, NULL);
		p->io_thread[i].wake = (struct xk_call){ .fn = pool_awake, .arg = &p->io_thread[i].task };
	}
	set->pool_queue = p;
	set->vp[set->nvps] = p->queue;
	return pool_choose(set, p);
}

/* What still waits is freed inside another VP. */
static void pool_free(struct xk_vpset *set)
{
	struct xk_pool *p = set->pool_queue;

	if (p == NULL)
		return;
	xk_vp_step_in(set->vp[0], set->vp[0]->now);
	pool_order(p->queue);
	xk_msgq_free(&p->queue->local);
	xk_memvp_flush(&set->vp[0]->mem);
	xk_vp_step_out(set->vp[0]);
	set->arch.lock->fini(&p->lock);
	if (p->ops != NULL)
		p->ops->fini(&p->choice);
	xk_free(p->sched);
	munmap(p->queue, sizeof *p->queue);
	munmap(p, sizeof *p);
	set->pool_queue = NULL;
}

static const struct vp_affine *pool_affine(const struct xk_vpset *set, unsigned i)
{
	return &set->pool_queue->io_thread[i].affine;
}

/* The queue's: nobody is ever inside of it. */
const struct xk_mode_ops xk_mode_pool = {
	.wanted = pool_wanted, .make = pool_make, .free = pool_free, .affine = pool_affine, .kick = pool_kick,
};

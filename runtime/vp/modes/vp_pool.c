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
 * Waking: an I/O thread says that it is idle, then looks once more; who posts or leaves
 * messages behind asks then who is idle.  Both do so by a locked operation on the same
 * word, so one of the two sees the other.  Whoever takes messages and leaves some wakes
 * one more, so all are awake soon when there is work for all.
 * Invariant: an I/O thread's bit in `idle` is set only while its task is parked and its
 * call is not posted.
 */
#include "runtime/vp/modes/vp_modes.h"
#include "runtime/vp/modes/vp_pool.h"

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

/* The idle one after who was woken last, round and round. */
static unsigned pool_choose(const struct xk_pool *p, uint64_t idle)
{
	unsigned last = xk_load_relaxed(&p->woken);
	uint64_t after = last >= 63 ? 0 : idle & (~0ull << (last + 1));

	return (unsigned)__builtin_ctzll(after != 0 ? after : idle);
}

/* Somebody has left work in the queue. */
static void pool_kick(struct xk_vp *queue)
{
	struct xk_vpset *set = queue->set;
	struct xk_pool *p = set->pool_queue;
	uint64_t idle = xk_atomic_or(&p->idle, (uint64_t)0);

	while (idle != 0) {
		unsigned i = pool_choose(p, idle);
		uint64_t bit = 1ull << i;

		idle = xk_atomic_and(&p->idle, ~bit);
		if ((idle & bit) != 0) {
			xk_store_relaxed(&p->woken, i);
			xk_vp_call_async(set->vp[set->nconn + i], &p->io_thread[i].wake);
			return;
		}
	}
}

static void pool_awake(struct xk_vp *vp, void *arg)
{
	(void)vp;
	xk_task_ready(arg);
}

/* Nothing there: until somebody wakes it. */
static void pool_rest(struct xk_vpset *set, struct xk_vp *vp, struct xk_task *t)
{
	struct xk_pool *p = set->pool_queue;
	uint64_t bit = 1ull << (vp->no - set->nconn);

	xk_task_park(t);
	(void)xk_atomic_or(&p->idle, bit);
	if (xk_vpset_backlog(set) != 0 && (xk_atomic_and(&p->idle, ~bit) & bit) != 0)
		xk_task_ready(t);
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
		p->io_thread[i].task.input = true;
		p->io_thread[i].wake = (struct xk_call){ .fn = pool_awake, .arg = &p->io_thread[i].task };
		p->idle |= 1ull << i;
	}
	set->pool_queue = p;
	set->vp[set->nvps] = p->queue;
	return XK_OK;
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
	munmap(p->queue, sizeof *p->queue);
	munmap(p, sizeof *p);
	set->pool_queue = NULL;
}

/* The queue's: nobody is ever inside of it. */
const struct xk_mode_ops xk_mode_pool = {
	.wanted = pool_wanted, .make = pool_make, .free = pool_free, .kick = pool_kick,
};

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sync_lockstat.c - a lock that counts who takes it, who had to wait, and how long
 * it was waited for and held.
 *
 * Contended means what Willmann and others (2006, 4.1) count: the lock could not be
 * had at once, by a first try.  Two readings of a clock cost more than a free lock, so
 * times are of samples (every HOLD_EVERYth acquisition, every WAIT_EVERYth that
 * waited) and the sums are scaled up where they are read.  On simulated processors they are simulated
 * times, whose clock costs nothing: every wait is timed.
 * Invariant: a record is written by the holder of its lock only.
 */
#include "runtime/sync/xk_sync.h"

#include "runtime/base/xk_clock.h"
#include "runtime/sync/xk_sim.h"

#define HOLD_EVERY 64u
#define WAIT_EVERY 8u

static _Thread_local unsigned lockstat_waits;

static xk_ns lock_clock(void) { return XK_UNLIKELY(xk_sim_self != NULL) ? *xk_sim_self->now : xk_clock_host(); }

static XK_NOINLINE void take_contended(void (*lock)(struct xk_lock *), struct xk_lock *l, struct xk_lockstat *st)
{
	bool timed = (++lockstat_waits % WAIT_EVERY == 0 || xk_sim_self != NULL) && !st->untimed;
	xk_ns from = timed ? lock_clock() : 0;

	lock(l);
	xk_count(st->contended);
	if (timed) {
		xk_count(st->waits_timed);
		xk_count_add(st->wait_ns, lock_clock() - from);
	}
}

static inline void lock_taken(struct xk_lockstat *st)
{
	xk_count(st->taken);
	if (XK_UNLIKELY(st->taken % HOLD_EVERY == 0) && !st->untimed)
		st->since = lock_clock();
}

void xk_lock_take(const struct xk_lock_ops *ops, struct xk_lock *l, struct xk_lockstat *st)
{
	if (XK_UNLIKELY(!ops->trylock(l)))
		take_contended(ops->lock, l, st);
	lock_taken(st);
}

bool xk_lock_try(const struct xk_lock_ops *ops, struct xk_lock *l, struct xk_lockstat *st)
{
	if (!ops->trylock(l))
		return false;
	lock_taken(st);
	return true;
}

static inline void lock_given(struct xk_lockstat *st)
{
	if (XK_UNLIKELY(st->since != 0)) {
		xk_count(st->holds_timed);
		xk_count_add(st->hold_ns, lock_clock() - st->since);
		st->since = 0;
	}
}

void xk_lock_drop(const struct xk_lock_ops *ops, struct xk_lock *l, struct xk_lockstat *st)
{
	lock_given(st);
	ops->unlock(l);
}

void xk_lock_take_shared(const struct xk_lock_ops *ops, struct xk_lock *l, struct xk_lockstat *st)
{
	if (XK_UNLIKELY(!ops->tryrdlock(l)))
		take_contended(ops->rdlock, l, st);
	lock_taken(st);
}

void xk_lock_drop_shared(const struct xk_lock_ops *ops, struct xk_lock *l, struct xk_lockstat *st)
{
	lock_given(st);
	ops->rdunlock(l);
}

void xk_lockstat_add(struct xk_lockstat *st, const struct xk_lockstat *mine, const struct xk_lockstat *before)
{
	xk_count_add(st->taken, mine->taken - before->taken);
	xk_count_add(st->contended, mine->contended - before->contended);
	xk_count_add(st->waits_timed, mine->waits_timed - before->waits_timed);
	xk_count_add(st->wait_ns, mine->wait_ns - before->wait_ns);
	xk_count_add(st->holds_timed, mine->holds_timed - before->holds_timed);
	xk_count_add(st->hold_ns, mine->hold_ns - before->hold_ns);
}

/* ns of `timed` samples, for all of n; exact where all are. */
static uint64_t scaled(uint64_t ns, uint64_t timed, uint64_t n)
{
	return timed == n ? ns : timed == 0 ? 0 : (uint64_t)((double)ns / (double)timed * (double)n);
}

uint64_t xk_lock_waited_ns(const struct xk_lock_counts *c) { return scaled(c->wait_ns, c->waits_timed, c->contended); }
uint64_t xk_lock_held_ns(const struct xk_lock_counts *c) { return scaled(c->hold_ns, c->holds_timed, c->taken); }

void xk_lockstat_read(const struct xk_lockstat *st, struct xk_lock_counts *out)
{
	*out = (struct xk_lock_counts){
		.taken = xk_counter_read(st->taken), .contended = xk_counter_read(st->contended),
		.waits_timed = xk_counter_read(st->waits_timed), .wait_ns = xk_counter_read(st->wait_ns),
		.holds_timed = xk_counter_read(st->holds_timed), .hold_ns = xk_counter_read(st->hold_ns),
	};
}

void xk_lock_counts_add(struct xk_lock_counts *sum, const struct xk_lock_counts *c, int sign)
{
	uint64_t by = (uint64_t)(int64_t)sign;

	sum->taken += by * c->taken;
	sum->contended += by * c->contended;
	sum->waits_timed += by * c->waits_timed;
	sum->wait_ns += by * c->wait_ns;
	sum->holds_timed += by * c->holds_timed;
	sum->hold_ns += by * c->hold_ns;
}

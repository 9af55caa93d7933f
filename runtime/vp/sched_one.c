/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sched_one.c - one queue that all processors share, first come, first served.
 *
 * Work conserving: no processor is free while something waits (Salehi and others 1995, 3.1: code
 * affinity; and 8: the global queue of stacks).
 */
#include "runtime/vp/sched_priv.h"

static void one_put(struct xk_sched *s, struct xk_sched_run *r) { sched_put(&s->one, r); }

static void one_woken(struct xk_sched *s, struct xk_sched_run *r)
{
	(void)r;
	s->one.waiting++;
}

static struct xk_sched_run *one_take(struct xk_sched *s, unsigned p)
{
	(void)p;
	return sched_get(&s->one);
}

static bool one_has(const struct xk_sched *s, unsigned p)
{
	(void)p;
	return s->one.waiting != 0;
}

static unsigned one_start(struct xk_sched *s, const struct xk_sched_run *r)
{
	(void)r;
	return sched_pick(s);
}

static struct xk_sched_run *one_drain(struct xk_sched *s) { return sched_get(&s->one); }

const struct sched_ops sched_one = {
	.put = one_put, .woken = one_woken, .take = one_take, .has = one_has, .start = one_start, .drain = one_drain,
};

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run_times.c - how long messages waited, were worked on, and both, of all applications that read their stamps.
 *
 * Where messages come as fast as they can be taken, or faster, each waits longer than the one before it: what a
 * run measures is then how long it lasted.  That is seen by the delay of the last message when measuring
 * began and when it ended: a queue that has a steady state wanders by the root of time, one that has none
 * grows as time does.
 */
#include "runtime/run/run_priv.h"

#include <math.h>

#define GROWS  0.005             /* of the measured time: by less a queue that stays short may have grown */
#define WANDER 4.0               /* standard deviations of one that is neither short nor overrun */

static bool ask(struct xk_rep *rep, struct xk_app_times *t)
{
	const struct xk_ops *ops = rep->node->proto->ops;

	return ops->control != NULL && ops->control(rep, XK_CTL_APP_TIMES, t, sizeof *t) == (int)sizeof *t;
}

static void add(struct run_times *t, const struct xk_app_times *now, int sign)
{
	for (unsigned i = 0; i < XK_TIMES; i++) {
		uint64_t sum = xk_counter_read(now->sum[i]);

		xk_hist_sum(t->hist[i], &now->hist[i], sign);
		t->sum[i] += sign < 0 ? -sum : sum;
	}
}

void run_times_begin(struct run_times *t, struct xk_rep *rep)
{
	struct xk_app_times now;
	xk_ns late;

	if (!ask(rep, &now))
		return;
	add(t, &now, -1);
	late = __atomic_load_n(now.late, __ATOMIC_RELAXED);
	t->late = late > t->late ? late : t->late;
}

void run_times_end(struct run_times *t, struct xk_rep *rep, xk_ns *late)
{
	struct xk_app_times now;
	xk_ns last;

	if (!ask(rep, &now))
		return;
	t->known = true;
	add(t, &now, 1);
	last = __atomic_load_n(now.late, __ATOMIC_RELAXED);
	*late = last > *late ? last : *late;
}

void run_dist(const uint64_t *hist, uint64_t sum, struct xk_run_dist *out)
{
	uint64_t n = xk_hist_count(hist);

	out->mean = n != 0 ? (double)sum / (double)n : 0;
	out->p50 = xk_hist_percentile(hist, 0.5);
	out->p90 = xk_hist_percentile(hist, 0.9);
	out->p99 = xk_hist_percentile(hist, 0.99);
	out->p999 = xk_hist_percentile(hist, 0.999);
}

void run_times_read(const struct run_times *t, xk_ns late, xk_ns measured, struct xk_run_times *out)
{
	double grown = late > t->late ? (double)(late - t->late) : 0, least = GROWS * (double)measured, wander;

	*out = (struct xk_run_times){ .known = t->known, .n = xk_hist_count(t->hist[XK_TIME_DELAY]) };
	for (unsigned i = 0; i < XK_TIMES; i++)
		run_dist(t->hist[i], t->sum[i], &out->of[i]);
	wander = WANDER * sqrt(2 * (double)measured * out->of[XK_TIME_EXEC].mean);
	out->grows = grown > least && grown > wander;
	out->by = (xk_ns)grown;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_goals_load.c - what overload leaves of the goodput, and what a million timers
 * cost.
 *
 * Overload: how many messages a second saturate the receiver is found by a run without a
 * rate; then frames come at a multiple of that, whether they are taken or not.  The value is
 * processor time of the receiver's worker for each message that the application got: a
 * saturated worker's goodput is its inverse, and what else runs on the machine is not in it.
 * Timers: a wheel with a million of them in a clock of its own, a millisecond at a time, for
 * two turns of the third level, so that every slot has come up as often as it ever does.
 * Invariant: a value of overload is of a run in which frames were lost where the row says.
 */
#include "tools/vp-bench/bench.h"
#include "tools/vp-bench/bench_goals.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "runtime/base/xk_rand.h"
#include "runtime/mem/xk_mem.h"
#include "runtime/vp/xk_wheel.h"

/* ---- overload -------------------------------------------------------------------------- */

/* Of the worker that the connections are on: the first. */
static double worker_cpu(const json_t *j)
{
	const json_t *w = json_array_get(json_object_get(j, "workers"), 0);

	return bench_number_of(w, "cpu_ns");
}

static double lost_in_inboxes(const json_t *j)
{
	double sum = 0;
	const json_t *v;
	size_t i;

	json_array_foreach(json_object_get(j, "vps"), i, v)
		sum += bench_number_of(v, "inbox_drops");
	return sum;
}

/* A run with so many frames a second, 0: as fast as they are taken; ns for a message. */
static enum goal_fault offered(struct goals *g, const struct goal_side *s, double rate, double *ns, double *lost, char *why)
{
	struct goal_side with = *s;
	char text[40];
	unsigned n = 0;
	double messages;
	json_t *j;

	while (n < GOAL_ARGS - 1 && with.arg[n] != NULL)
		n++;
	snprintf(text, sizeof text, "rate=%.0f", rate);
	with.arg[n] = text;
	j = goal_run(g, &with, g->time, "--vps", why);
	messages = bench_number_of(j, "messages");
	*ns = messages > 0 ? worker_cpu(j) / messages : 0;
	*lost = s->peer_arg != NULL ? goal_node_number(j, "peer_source", "drops", s->peer_arg) : lost_in_inboxes(j);
	json_decref(j);
	if (j == NULL)
		return SIDE_FAILED;
	if (*ns > 0)
		return SIDE_OK;
	snprintf(why, GOAL_TEXT, "not one message in the time given: use a longer --time");
	return SIDE_NOISE;
}

/* times: of the load that saturates. */
static enum goal_fault overload(struct goals *g, const struct goal_side *s, double times, double *v, char *why)
{
	double alone, lost;
	enum goal_fault err = offered(g, s, 0, &alone, &lost, why);

	if (err == SIDE_OK)
		err = offered(g, s, fmin(times * 1e9 / alone, 1e9), v, &lost, why);
	if (err != SIDE_OK || lost > 0)
		return err;
	snprintf(why, GOAL_TEXT, "nothing was lost at %g times the load that saturates: the run was too short", times);
	return SIDE_NOISE;
}

enum goal_fault side_overload(struct goals *g, const struct goal_side *s, double *v, char *why)
{
	return overload(g, s, 4, v, why);
}

/* The peak: a little above what saturates, so that the worker never waits. */
enum goal_fault side_peak(struct goals *g, const struct goal_side *s, double *v, char *why)
{
	return overload(g, s, 1.2, v, why);
}

/* ---- timers ------------------------------------------------------------------------------- */

#define TIMERS   1000000u
#define LIFE_MS  120000u         /* a timer is set for up to so long: 60 s as a mean */
#define TURNS_MS 131072u         /* two slots of the third level */
#define AT_ONCE  64u             /* handlers between two units of work, as a worker has */

struct armed { struct xk_timer t; } XK_ALIGNED;
struct wheel { struct xk_wheel w; struct xk_rand rand; xk_ns now; struct armed *armed; };
static struct wheel *running;    /* a handler gets its timer alone */

static double cpu_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void arm(struct xk_timer *t)
{
	xk_timer_set(&running->w, t, running->now + (1 + xk_rand_below(&running->rand, LIFE_MS)) * XK_MS);
}

static double turns(struct wheel *w)
{
	double from = cpu_now();

	for (unsigned ms = 0; ms < TURNS_MS; ms++) {
		w->now += XK_MS;
		while (xk_wheel_next(&w->w) <= w->now)
			xk_wheel_run(&w->w, w->now, AT_ONCE);
	}
	return cpu_now() - from;
}

/* Per cent of a processor. */
enum goal_fault side_timers(struct goals *g, const struct goal_side *s, double *v, char *why)
{
	static struct wheel w;
	void *block = xk_alloc((TIMERS + 1) * sizeof *w.armed);

	(void)g;
	(void)s;
	if (block == NULL) {
		snprintf(why, GOAL_TEXT, "no memory for a million timers");
		return SIDE_FAILED;
	}
	w.armed = (void *)(((uintptr_t)block + XK_CACHELINE - 1) & ~(uintptr_t)(XK_CACHELINE - 1));
	w.now = XK_SEC;
	running = &w;
	xk_rand_init(&w.rand, 1, 1);
	xk_wheel_init(&w.w, w.now, 0);
	for (unsigned i = 0; i < TIMERS; i++) {
		xk_timer_init(&w.armed[i].t, arm);
		arm(&w.armed[i].t);
	}
	*v = turns(&w) / (TURNS_MS * 1e6) * 100;
	xk_free(block);
	return SIDE_OK;
}

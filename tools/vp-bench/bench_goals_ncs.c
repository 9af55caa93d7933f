/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_goals_ncs.c - one value of one side of a goal of ncs: goodput and rates under the virtual clock, what a choice
 * of control adds to a packet.
 *
 * Runs under the virtual clock depend on their seed alone and on no machine's load; each has the next seed, so that an
 * interval is over seeds.
 * Invariant: no value is of a run in which nothing arrived.
 */
#include "tools/vp-bench/bench.h"
#include "tools/vp-bench/bench_goals.h"

#include <math.h>
#include <stdlib.h>

#define LINE_TIME  (5 * XK_SEC)   /* of the virtual clock */
#define PACE_BITS  2e8            /* that a rate is measured over, */
#define PACE_LEAST (100 * XK_MS)  /* but not shorter, */
#define PACE_MOST  (5 * XK_SEC)   /* nor longer */
#define ECHO_SDUS  2.0            /* packets of an echo of one SDU: there and back */

/* Bits of payload a second that the sink had, by the virtual clock. */
static enum goal_fault arrived(struct goals *g, const struct goal_side *s, xk_ns time, double *v, char *why)
{
	static unsigned seed;
	char more[32];
	json_t *j;

	snprintf(more, sizeof more, "--seed=%u", ++seed);
	j = goal_run(g, s, time, more, why);
	*v = 8e9 * goal_node_number(j, "sink", "counters", "bytes") / bench_number_of(j, "measured_ns");
	json_decref(j);
	if (j == NULL)
		return SIDE_FAILED;
	if (*v > 0)
		return SIDE_OK;
	snprintf(why, GOAL_TEXT, "%s: nothing has arrived", s->graph);
	return SIDE_FAILED;
}

enum goal_fault side_goodput(struct goals *g, const struct goal_side *s, double *v, char *why)
{
	return arrived(g, s, LINE_TIME, v, why);
}

/* peer_arg: Mbit/s that were asked for. */
enum goal_fault side_off_rate(struct goals *g, const struct goal_side *s, double *v, char *why)
{
	double asked = 1e6 * atof(s->peer_arg), got;
	xk_ns time = (xk_ns)fmin(fmax(PACE_BITS / asked * 1e9, (double)PACE_LEAST), (double)PACE_MOST);
	enum goal_fault err = arrived(g, s, time, &got, why);

	if (err == SIDE_OK)
		*v = 100 * fabs(got / asked - 1);
	return err;
}

/* The last two arguments are flow and error control; without them the connection has neither.  By chance it may be
 * below zero. */
enum goal_fault side_choice(struct goals *g, const struct goal_side *s, double *v, char *why)
{
	struct goal_side bare = *s;
	unsigned n = 0;
	double with, without;
	enum goal_fault err;

	while (n < GOAL_ARGS && bare.arg[n] != NULL)
		n++;
	if (n < 2) {
		snprintf(why, GOAL_TEXT, "a choice is the last two arguments");
		return SIDE_FAILED;
	}
	bare.arg[n - 2] = "flow=none";
	bare.arg[n - 1] = "error=none";
	err = side_time(g, s, &with, why);
	if (err == SIDE_OK)
		err = side_time(g, &bare, &without, why);
	if (err == SIDE_OK)
		*v = (with - without) / ECHO_SDUS;
	return err;
}

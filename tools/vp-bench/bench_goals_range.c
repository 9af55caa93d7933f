/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_goals_range.c - measures a row of the goals over its range: every point like a goal of
 * its own, and the row is what its worst point is (goals.lua says which that is).
 *
 * Invariant: the verdict of a row is never better than that of one of its points.
 */
#include "tools/vp-bench/bench.h"
#include "tools/vp-bench/bench_goals.h"
#include "tools/vp-bench/bench_lua.h"

#include <stdlib.h>
#include <string.h>

static void step(const struct goals *g, const struct goal *measured)
{
	if (g->progress != NULL)
		bench_progress_step(g->progress, measured->id);
}

/* Its number from 0; when nobody can say the first, and why. */
static unsigned worst_of(const struct goal_result *points, unsigned n, char *why, size_t size)
{
	json_t *list = json_array(), *said;
	double at = 1;

	for (unsigned i = 0; i < n; i++)
		json_array_append_new(list, goal_json(&points[i]));
	said = bench_lua_call("goals", "worst", &list, 1, why, size);
	if (said != NULL)
		at = bench_number_of(said, "worst");
	json_decref(said);
	json_decref(list);
	return at >= 1 && at <= n ? (unsigned)at - 1 : 0;
}

static void note_of(struct goal_result *r, const char *text)
{
	size_t n = strlen(r->note);

	if (text != NULL && *text != '\0')
		snprintf(r->note + n, sizeof r->note - n, "%s%s", n != 0 ? "; " : "", text);
}

static void measure_points(struct goals *g, const struct goal *row, struct goal_result *points)
{
	struct goals each = *g;

	each.pairs = g->point_pairs;
	each.time = g->point_time;
	for (unsigned i = 0; i < row->npoints; i++) {
		goal_measure(&each, &row->point[i], &points[i]);   /* interrupted, it measures nothing */
		if (!each.interrupted)
			step(g, &row->point[i]);
	}
	g->interrupted = each.interrupted;
}

void goal_measure_row(struct goals *g, const struct goal *row, struct goal_result *r)
{
	struct goal_result *points;
	char why[GOAL_TEXT] = "";
	unsigned worst;

	if (row->npoints == 0) {
		goal_measure(g, row, r);
		step(g, row);
		return;
	}
	memset(r, 0, sizeof *r);
	r->row = row;
	points = calloc(row->npoints, sizeof *points);
	if (points == NULL) {
		note_of(r, "no memory for its points");
		return;
	}
	measure_points(g, row, points);
	worst = worst_of(points, row->npoints, why, sizeof why);
	*r = points[worst];
	r->row = row;
	r->points = points;
	r->worst = worst;
	note_of(r, row->note);
	note_of(r, why);
}

void goal_result_end(struct goal_result *r)
{
	free(r->points);
	r->points = NULL;
}

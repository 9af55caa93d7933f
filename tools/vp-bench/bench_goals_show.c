/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_goals_show.c - the scoreboard as a document.
 *
 * What was not measured is null, and the note says why.
 */
#include "tools/vp-bench/bench.h"
#include "tools/vp-bench/bench_goals.h"

static json_t *real_or_null(bool have, double v)
{
	return have ? json_real(v) : json_null();
}

/* All points of a row over a range, and which of them it is judged by. */
static void add_range(json_t *j, const struct goal_result *r)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < r->row->npoints; i++)
		json_array_append_new(list, goal_json(&r->points[i]));
	json_object_set_new(j, "range", r->row->range ? json_string(r->row->range) : json_null());
	json_object_set_new(j, "worst", json_string(r->points[r->worst].row->id));
	json_object_set_new(j, "points", list);
}

json_t *goal_json(const struct goal_result *r)
{
	json_t *j = json_object();

	json_object_set_new(j, "id", json_string(r->row->id));
	json_object_set_new(j, "ratio", real_or_null(r->have_ratio, r->ratio));
	json_object_set_new(j, "lo", real_or_null(r->have_ratio, r->lo));
	json_object_set_new(j, "hi", real_or_null(r->have_ratio, r->hi));
	json_object_set_new(j, "target", json_real(r->row->target));
	json_object_set_new(j, "verdict", json_string(goal_verdicts[r->verdict]));
	json_object_set_new(j, "ok", r->verdict == GOAL_MISSES ? json_false() :
			    r->verdict == GOAL_HOLDS || r->verdict == GOAL_HOLDS_STRETCH ? json_true() : json_null());
	json_object_set_new(j, "ours", real_or_null(r->have_ours, r->ours));
	json_object_set_new(j, "reference", real_or_null(r->have_ratio, r->reference));
	json_object_set_new(j, "unit", json_string(r->row->unit));
	json_object_set_new(j, "stretch", json_real(r->row->stretch));
	json_object_set_new(j, "smaller_is_better", json_boolean(r->row->sense == GOAL_VALUE));
	json_object_set_new(j, "what", json_string(r->row->what));
	json_object_set_new(j, "note", *r->note ? json_string(r->note) : json_null());
	json_object_set_new(j, "pairs", json_integer(r->pairs));
	json_object_set_new(j, "discarded", json_integer(r->discarded));
	json_object_set_new(j, "spread", real_or_null(r->have_ratio, r->spread));
	if (r->row->two_cores) {
		json_object_set_new(j, "probe_lo_ns", real_or_null(r->probe_lo > 0, r->probe_lo));
		json_object_set_new(j, "probe_hi_ns", real_or_null(r->probe_hi > 0, r->probe_hi));
	}
	if (r->points != NULL)
		add_range(j, r);
	return j;
}

json_t *goals_json(const struct goal_result *r, unsigned n)
{
	json_t *j = json_object(), *list = json_array();

	for (unsigned i = 0; i < n; i++)
		json_array_append_new(list, goal_json(&r[i]));
	json_object_set_new(j, "goals", list);
	return j;
}

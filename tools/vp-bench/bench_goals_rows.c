/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_goals_rows.c - the table of goals (goal_rows.lua), with the probes that it names.
 *
 * Invariant: a row that is handed out names probes and peers that there are.
 */
#include "tools/vp-bench/bench.h"
#include "tools/vp-bench/bench_goals.h"
#include "tools/vp-bench/bench_lua.h"

#include <string.h>

static const char *lacks_peer(struct goals *g, const struct goal_side *s)
{
	return goal_peer_path(g, s->peer) ? NULL : goal_peer_hint(s->peer);
}

static const char *lacks_either(struct goals *g, const struct goal_side *s)
{
	const char *hint = lacks_peer(g, s);

	return hint != NULL || goal_peer_path(g, s->other) ? hint : goal_peer_hint(s->other);
}

static const char *lacks_counting(struct goals *g, const struct goal_side *s)
{
	(void)s;
	return g->counting ? NULL : "needs a build that counts: configure --enable-count-atomics, then "
		"--counting=THAT/vp-run";
}

static const char *lacks_cores(struct goals *g, const struct goal_side *s)
{
	(void)s;
	return g->cpu[1] >= 0 ? NULL : "needs two processors";
}

static const struct probe {
	const char *name;
	goal_probe_fn *measure;
	goal_lacks_fn *lacks;
} probes[] = {
	{ "time", side_time, NULL },
	{ "rate", side_rate, NULL },
	{ "hop", side_hop, NULL },
	{ "fair", side_fair, NULL },
	{ "locked", side_locked, lacks_counting },
	{ "active", side_active, NULL },
	{ "idle", side_idle, NULL },
	{ "rest", side_rest, NULL },
	{ "wall-rate", side_wall_rate, NULL },
	{ "peer", side_peer, lacks_peer },
	{ "peer-bytes", side_peer_bytes, lacks_peer },
	{ "peer-rate", side_peer_rate, lacks_peer },
	{ "best", side_best, lacks_either },
	{ "one", side_one, NULL },
	{ "csum-copy", side_csum_copy, NULL },
	{ "csum-copy-cold", side_csum_copy_cold, NULL },
	{ "memcpy", side_memcpy, NULL },
	{ "memcpy-cold", side_memcpy_cold, NULL },
	{ "demux", side_demux, NULL },
	{ "overload", side_overload, NULL },
	{ "peak", side_peak, NULL },
	{ "timers", side_timers, NULL },
	{ "bpf-filter", side_bpf_filter, NULL },
	{ "cbpf", side_cbpf, NULL },
	{ "one-filter", side_one_filter, NULL },
	{ "many-filters", side_many_filters, NULL },
	{ "native", side_native, NULL },
	{ "arena", side_arena, goal_lacks_arena },
	{ "xdp-run", side_xdp_run, goal_lacks_arena },
	{ "goodput", side_goodput, NULL },
	{ "off-rate", side_off_rate, NULL },
	{ "choice", side_choice, NULL },
	{ "wire-rate", side_wire_rate, goal_lacks_wire },
	{ "wire-cost", side_wire_cost, goal_lacks_wire },
};

/* ---- reading --------------------------------------------------------------------------- */

static const char *text_of(const json_t *o, const char *key)
{
	return json_string_value(json_object_get(o, key));
}

static bool read_probe(struct goal_side *s, const char *name)
{
	for (unsigned i = 0; name != NULL && i < XK_ARRAY_LEN(probes); i++)
		if (strcmp(probes[i].name, name) == 0) {
			s->measure = probes[i].measure;
			s->lacks = probes[i].lacks;
			return true;
		}
	return false;
}

/* No peer is named by a probe that asks none. */
static bool read_peers(struct goal_side *s, const json_t *j)
{
	const char *a = text_of(j, "peer"), *b = text_of(j, "other");

	if (s->lacks == lacks_peer || s->lacks == lacks_either)
		return goal_peer_of(a, &s->peer) && (s->lacks == lacks_peer || goal_peer_of(b, &s->other));
	return a == NULL && b == NULL;
}

static bool read_args(struct goal_side *s, const json_t *list)
{
	if (json_array_size(list) > GOAL_ARGS - 1)
		return false;
	for (size_t i = 0; i < json_array_size(list); i++)
		if ((s->arg[i] = json_string_value(json_array_get(list, i))) == NULL)
			return false;
	return true;
}

static const char *read_side(struct goal_side *s, const json_t *j)
{
	const char *needs = text_of(j, "needs");

	if (!read_probe(s, text_of(j, "probe")))
		return "there is no such probe";
	if (!read_peers(s, j))
		return "there is no such peer";
	if (!read_args(s, json_object_get(j, "args")))
		return "arguments are at most 7 texts";
	if (needs != NULL && strcmp(needs, "cores") != 0)
		return "what may be needed is \"cores\"";
	if (needs != NULL)
		s->lacks = lacks_cores;
	s->lacks_text = text_of(j, "lacks");
	s->graph = text_of(j, "graph");
	s->peer_arg = text_of(j, "arg");
	s->workers = (unsigned)json_integer_value(json_object_get(j, "workers"));
	s->warmup = bench_number_of(j, "warmup");
	s->idle = (unsigned)json_integer_value(json_object_get(j, "idle"));
	s->few = (unsigned)json_integer_value(json_object_get(j, "few"));
	s->many = (unsigned)json_integer_value(json_object_get(j, "many"));
	s->per = (unsigned)json_integer_value(json_object_get(j, "per"));
	s->beside = (unsigned)json_integer_value(json_object_get(j, "beside"));
	s->flows = (unsigned)json_integer_value(json_object_get(j, "flows"));
	return NULL;
}

static bool read_sense(struct goal *r, const char *word)
{
	static const char *const senses[] = { [GOAL_TIME] = "time", [GOAL_RATE] = "rate", [GOAL_VALUE] = "value" };

	for (unsigned i = 0; word != NULL && i < XK_ARRAY_LEN(senses); i++)
		if (strcmp(senses[i], word) == 0) {
			r->sense = (enum goal_sense)i;
			return true;
		}
	return false;
}

static const char *read_row(struct goal *r, const json_t *j);

/* Every point is a row of its own, without points. */
static const char *read_points(struct goal *r, const json_t *list)
{
	static struct goal points[GOAL_POINTS];
	static unsigned used;
	const char *bad = NULL;

	if (!json_is_array(list) || json_array_size(list) == 0 || json_array_size(list) > GOAL_POINTS - used)
		return "points are a list, not empty and not too long";
	r->point = &points[used];
	for (; bad == NULL && r->npoints < json_array_size(list); r->npoints++) {
		const json_t *p = json_array_get(list, r->npoints);

		bad = json_object_get(p, "points") ? "a point has no points" : read_row(&points[used++], p);
	}
	return bad;
}

/* What is wrong, or NULL. */
static const char *read_row(struct goal *r, const json_t *j)
{
	const char *bad;

	r->id = text_of(j, "id");
	r->what = text_of(j, "what");
	r->unit = text_of(j, "unit");
	r->note = text_of(j, "note");
	r->target = bench_real(j, "target");
	r->stretch = bench_real(j, "stretch");
	r->two_cores = json_is_true(json_object_get(j, "two_cores"));
	if (r->id == NULL || r->what == NULL || r->unit == NULL)
		return "a goal has an id, what it is and a unit";
	if (!read_sense(r, text_of(j, "sense")))
		return "the sense is \"time\", \"rate\" or \"value\"";
	r->range = text_of(j, "range");
	if (json_object_get(j, "points") != NULL)
		return read_points(r, json_object_get(j, "points"));
	bad = read_side(&r->ours, json_object_get(j, "ours"));
	if (bad == NULL)
		bad = read_side(&r->reference, json_object_get(j, "reference"));
	if (r->two_cores && r->ours.lacks == NULL)
		r->ours.lacks = lacks_cores;
	return bad;
}

const struct goal *goal_rows(char *why, size_t n)
{
	static struct goal rows[GOAL_ROWS + 1];
	static json_t *doc;              /* the texts of all rows */
	const char *bad = NULL;

	if (doc != NULL)
		return rows;
	doc = bench_lua_call("goals", "rows", NULL, 0, why, n);
	if (doc != NULL && (!json_is_array(doc) || json_array_size(doc) > GOAL_ROWS))
		bad = "not a list, or too long";
	for (size_t i = 0; bad == NULL && i < json_array_size(doc); i++)
		if ((bad = read_row(&rows[i], json_array_get(doc, i))) != NULL && rows[i].id != NULL)
			snprintf(why, n, "goal_rows: %s: %s", rows[i].id, bad);
		else if (bad != NULL)
			snprintf(why, n, "goal_rows: row %zu: %s", i + 1, bad);
	if (bad != NULL) {
		json_decref(doc);
		doc = NULL;
	}
	return doc != NULL ? rows : NULL;
}

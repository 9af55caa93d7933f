/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_bench_affinity.c - vp-bench affinity: what is concluded from rounds that are known, and that two
 * processors do take turns.
 */
#include <CUnit/CUnit.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/xk_test.h"
#include "tools/vp-bench/bench.h"
#include "tools/vp-bench/bench_affinity.h"
#include "tools/vp-bench/bench_lua.h"

#define ROUNDS 12u

/* Values of the rounds: around mid, up to `noise` away, as far above as below. */
static json_t *around(double mid, double noise)
{
	json_t *v = json_array();

	for (unsigned i = 0; i < ROUNDS; i++)
		json_array_append_new(v, json_real(mid + noise * (i % 2 == 0 ? 1 : -1) * (1 + i / 2) / (ROUNDS / 2)));
	return v;
}

static void put(json_t *list, json_t *head, double mid, double noise, const char *why)
{
	json_object_set_new(head, "v", why != NULL ? json_array() : around(mid, noise));
	json_object_set_new(head, "why", why != NULL ? json_string(why) : json_null());
	json_array_append_new(list, head);
}

static const struct { const char *id; double ns; } cells[] = {
	{ "hot", 100 }, { "l1_cold", 150 }, { "cold", 2000 }, { "other_stream", 120 }, { "moved", 300 },
	{ "stack_moved", 290 }, { "moved_l1_cold", 310 }, { "thread", 110 }, { "thread_moved", 160 },
	{ "thread_l1_cold", 170 }, { "thread_moved_l1_cold", 200 },
};
static const struct { const char *id; int bytes; double ns; } probes[] = {
	{ "clock", 0, 10 }, { "lock", 0, 10 }, { "lock_moved", 0, 60 }, { "acquire", 0, 10 }, { "acquire_moved", 0, 70 },
	{ "release", 0, 10 }, { "release_moved", 0, 80 }, { "copy_memory", 64, 90 + 6.4 }, { "copy_memory", 4096, 90 + 409.6 },
};

/* Equation 1 after R references, with F = 1 - exp(-u / lines), u = w R^b. */
static double t_of(double references, double w, double b)
{
	double f1 = 1 - exp(-w * pow(references / 2, b) / 512), f2 = 1 - exp(-w * pow(references, b) / 16384);

	return (1 - f1) * 100 + f1 * ((1 - f2) * 150 + f2 * 2000);
}

/* control: what t(x) is without any work, over hot, as a share of what the work makes of it. */
static json_t *curve(double control)
{
	static const double v[] = { 0, 0.5, 1 }, x[] = { 1e3, 10e3, 100e3, 1e6, 10e6 };
	json_t *list = json_array();

	for (unsigned i = 0; i < XK_ARRAY_LEN(v) * XK_ARRAY_LEN(x); i++) {
		double at = x[i % 5] / 1e3, t = t_of(at * v[i / 5] * 100, 0.5, 0.9);
		double none = 100 + control * (t_of(at * 100, 0.5, 0.9) - 100);

		put(list, json_pack("{s:f, s:f}", "intensity", v[i / 5], "away_ns", x[i % 5]), i / 5 == 0 ? none : fmax(t, none),
		    0.01, NULL);
	}
	return list;
}

static json_t *raw(double noise, const char *why_one, double control)
{
	json_t *c = json_array(), *p = json_array();

	for (unsigned s = 0; s < AFF_SIDES; s++)
		for (unsigned i = 0; i < XK_ARRAY_LEN(cells); i++)
			put(c, json_pack("{s:s, s:s, s:s}", "side", aff_side_name[s], "id", cells[i].id, "doc", ""),
			    cells[i].ns, noise, strstr(cells[i].id, "moved") != NULL ? why_one : NULL);
	for (unsigned i = 0; i < XK_ARRAY_LEN(probes); i++)
		put(p, json_pack("{s:s, s:s, s:i}", "id", probes[i].id, "doc", "", "bytes", probes[i].bytes), probes[i].ns,
		    noise / 100, strstr(probes[i].id, "moved") != NULL ? why_one : NULL);
	return json_pack("{s:s, s:i, s:f, s:i, s:i, s:b, s:f, s:[f, f], s:o, s:o, s:o, s:o}", "clock", "tsc", "rounds",
			 (int)ROUNDS, "precision", 0.01, "payload_bytes", 64, "misfits", 0, "two_processors", why_one == NULL,
			 "others", 0.0, "line_round_trip_ns", 100.0, 100.0, "cells", c, "probes", p, "curve", curve(control),
			 "caches", json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:b, s:f}", "l1d_bytes", 32768, "l1i_bytes",
					     32768, "l2_bytes", 1048576, "last_bytes", 1048576, "line_bytes", 64,
					     "walked_l1_bytes", 65536, "walked_all_bytes", 2097152, "code_is_walked", 1,
					     "references_per_us", 100.0));
}

static json_t *document(json_t *rounds)
{
	json_t *args[] = { json_string("1"), json_pack("{s:s}", "processor", "p"), rounds }, *doc;
	char why[400] = "";

	doc = bench_lua_call("affinity", "document", args, 3, why, sizeof why);
	CU_ASSERT_STRING_EQUAL(why, "");
	CU_ASSERT_PTR_NOT_NULL_FATAL(doc);
	for (unsigned i = 0; i < 3; i++)
		json_decref(args[i]);
	return doc;
}

static json_t *step(const json_t *doc, const char *id)
{
	json_t *o;
	size_t i;

	json_array_foreach(json_object_get(doc, "differences"), i, o)
		if (strcmp(json_string_value(json_object_get(o, "id")), id) == 0)
			return o;
	CU_FAIL_FATAL("no such difference");
	return NULL;
}

static double ns(const json_t *doc, const char *id) { return json_number_value(json_object_get(step(doc, id), "ns")); }
static const char *says(const json_t *doc, const char *id)
{
	const char *s = json_string_value(json_object_get(step(doc, id), "verdict"));

	return s != NULL ? s : "nothing";
}

static void differences_are_those_of_the_same_round(void)
{
	/* Noise of 40 that falls on all cells alike is in no difference. */
	json_t *doc = document(raw(40, NULL, 0));

	CU_ASSERT_DOUBLE_EQUAL(ns(doc, "l1_cold"), 50, 1e-6);
	CU_ASSERT_DOUBLE_EQUAL(ns(doc, "memory_cold"), 1900, 1e-6);
	CU_ASSERT_DOUBLE_EQUAL(ns(doc, "map_miss"), 20, 1e-6);
	CU_ASSERT_DOUBLE_EQUAL(ns(doc, "protocol_moved"), 170, 1e-6);
	CU_ASSERT_DOUBLE_EQUAL(ns(doc, "session_moved"), 30, 1e-6);
	CU_ASSERT_DOUBLE_EQUAL(ns(doc, "thread_moved"), 50, 1e-6);
	CU_ASSERT_DOUBLE_EQUAL(ns(doc, "thread_moved_cold"), 30, 1e-6);
	CU_ASSERT_DOUBLE_EQUAL(ns(doc, "acquire"), 60, 1e-6);
	CU_ASSERT_STRING_EQUAL(says(doc, "session_moved"), "more");
	CU_ASSERT(json_is_false(json_object_get(doc, "reached")));
	json_decref(doc);
}

static void where_intervals_have_zero_in_them_nothing_is_said(void)
{
	json_t *rounds = raw(0.1, NULL, 0), *l1 = json_array_get(json_object_get(rounds, "cells"), 1), *doc;

	json_object_set_new(l1, "v", around(101, -30));      /* against the noise of all others */
	doc = document(rounds);
	CU_ASSERT_STRING_EQUAL(says(doc, "l1_cold"), "undecided");
	CU_ASSERT_STRING_EQUAL(says(doc, "memory_cold"), "more");
	json_decref(doc);
	rounds = raw(0.1, NULL, 0);
	l1 = json_array_get(json_object_get(rounds, "cells"), 1);
	json_object_set_new(l1, "v", around(90, 0.1));
	doc = document(rounds);
	CU_ASSERT_STRING_EQUAL(says(doc, "l1_cold"), "less");
	CU_ASSERT(json_is_null(json_object_get(doc, "fit")));   /* cells in no order tell no levels apart */
	json_decref(doc);
}

static void what_was_not_measured_is_not_judged(void)
{
	json_t *doc = document(raw(0.1, "one processor", 0));

	CU_ASSERT_STRING_EQUAL(says(doc, "moved"), "nothing");
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(step(doc, "session_moved"), "why")), "one processor");
	CU_ASSERT(json_is_null(json_object_get(step(doc, "acquire"), "ns")));
	CU_ASSERT_STRING_EQUAL(says(doc, "l1_cold"), "more");
	CU_ASSERT(json_is_true(json_object_get(doc, "reached")));
	json_decref(doc);
}

static void lines_of_copies_are_found(void)
{
	json_t *doc = document(raw(0.1, NULL, 0)), *line = json_object_get(json_object_get(doc, "copies"), "memory");

	CU_ASSERT_DOUBLE_EQUAL(json_number_value(json_object_get(line, "fixed_ns")), 90, 1e-3);
	CU_ASSERT_DOUBLE_EQUAL(json_number_value(json_object_get(line, "per_byte_ns")), 0.1, 1e-6);
	CU_ASSERT_DOUBLE_EQUAL(json_number_value(json_object_get(line, "per_line_ns")), 6.4, 1e-4);
	CU_ASSERT(json_is_null(json_object_get(json_object_get(doc, "copies"), "cached")));
	json_decref(doc);
}

static void a_planted_displacement_is_found(void)
{
	json_t *doc = document(raw(0.1, NULL, 0)), *fit = json_object_get(doc, "fit"), *last;
	double b = json_number_value(json_object_get(fit, "b")), w = json_number_value(json_object_get(fit, "w"));

	CU_ASSERT_DOUBLE_EQUAL(b, 0.9, 0.01);
	CU_ASSERT_DOUBLE_EQUAL(w, 0.5, 0.05);
	CU_ASSERT(json_number_value(json_object_get(fit, "median_error")) < 0.02);
	last = json_array_get(json_object_get(doc, "curve"), 14);
	CU_ASSERT_DOUBLE_EQUAL(json_number_value(json_object_get(last, "f1")), 1, 1e-9);
	CU_ASSERT(json_number_value(json_object_get(last, "f2")) > 0.9);
	json_decref(doc);
}

static void what_others_displace_is_not_our_works(void)
{
	json_t *doc = document(raw(0.1, NULL, 1)), *last = json_array_get(json_object_get(doc, "curve"), 14);

	CU_ASSERT(json_is_null(json_object_get(doc, "fit")));
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(last, "verdict")), "undecided");
	json_decref(doc);
}

/* ---- a machine file ----------------------------------------------------------------------------- */

/* What ledger.lua makes of doc, to be freed, or NULL and why. */
static char *machine(json_t *doc, char *why, size_t n)
{
	static const char runs[] = "{\"graphs\":[\"g\"],\"sizes\":[{\"small\":64,\"large\":1024}],\"burst\":16,\"runs\":["
		"{\"graph\":\"g\",\"size\":64,\"burst\":1,\"layers\":false,\"messages\":10,\"cpu_ns\":1400,\"nodes\":[]},"
		"{\"graph\":\"g\",\"size\":64,\"burst\":16,\"layers\":false,\"messages\":10,\"cpu_ns\":1025,\"nodes\":[]},"
		"{\"graph\":\"g\",\"size\":64,\"burst\":16,\"layers\":true,\"messages\":10,\"cpu_ns\":9000,\"nodes\":["
		"{\"protocol\":\"udp\",\"up_messages\":10,\"up_ns\":800,\"down_messages\":0,\"down_ns\":0}]}]}";
	static const char queues[] = "{\"hop\":{\"preset\":\"lp\",\"measured\":150,\"us\":0.02,\"without\":90,\"why\":\"\"},"
		"\"pooled\":{\"preset\":\"mp\",\"measured\":0,\"us\":0,\"why\":\"it did not run\"}}";
	json_t *said = json_pack("{s:s, s:s, s:s, s:s, s:i}", "name", "m", "command", "c \"quoted\"", "date", "d", "machine",
				 "x", "processors", 2);
	json_t *args[] = { said, doc, json_array(), json_loads(runs, 0, NULL), json_loads(queues, 0, NULL) };
	char *text = bench_lua_text("ledger", "file", args, XK_ARRAY_LEN(args), why, n);

	for (unsigned i = 0; i < XK_ARRAY_LEN(args); i++)
		json_decref(args[i]);
	return text;
}

static void a_machine_file_has_what_was_measured(void)
{
	char why[400] = "", *text = machine(document(raw(0.1, NULL, 0)), why, sizeof why);

	CU_ASSERT_STRING_EQUAL(why, "");
	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "memory_cold = { 1.9, source"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "session_moved = { 0.03, source"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "copy = { 0.0001, source"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "unit = { 0.04, source"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "alone = { 0.04, source"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "hop = { 0.02, source = here .. \": preset lp takes 150 ns"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "pooled = { 0, source = \"not measured: it did not run"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "up = { 0.1, source"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "c \\\"quoted\\\""));
	free(text);
}

static void a_machine_whose_cold_messages_are_cheap_is_refused(void)
{
	json_t *rounds = raw(0.1, NULL, 0);
	char why[400] = "", *text;

	json_object_set_new(json_array_get(json_object_get(rounds, "cells"), 2), "v", around(160, 0.1));
	text = machine(document(rounds), why, sizeof why);
	CU_ASSERT_PTR_NULL(text);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "receive: a message out of all caches costs 0.06 us more than a hot one"));
	free(text);
}

/* ---- two processors ---------------------------------------------------------------------------- */

struct seen { int cpu; unsigned n; };

static void look(void *arg)
{
	struct seen *s = arg;

	s->cpu = sched_getcpu();
	s->n++;
}

static void the_other_processor_has_done_it_when_the_call_returns(void)
{
	struct aff_pair *p;
	struct seen s = { -1, 0 };
	cpu_set_t before, after;
	int cpu[2] = { -1, -1 };
	char why[AFF_TEXT];

	CU_ASSERT_FATAL(sched_getaffinity(0, sizeof before, &before) == 0);
	aff_pair_open(&p, cpu, why);
	if (p == NULL) {
		CU_ASSERT_PTR_NOT_NULL(strstr(why, "one processor"));
		aff_pair_do(p, look, &s);
		CU_ASSERT_EQUAL(s.n, 0);
	}
	for (unsigned i = 1; p != NULL && i <= 100; i++) {
		aff_pair_do(p, look, &s);
		CU_ASSERT_EQUAL_FATAL(s.n, i);
		CU_ASSERT_EQUAL(s.cpu, cpu[1]);
		CU_ASSERT_EQUAL(sched_getcpu(), cpu[0]);
	}
	aff_pair_close(p);
	CU_ASSERT(sched_getaffinity(0, sizeof after, &after) == 0 && CPU_EQUAL(&before, &after));
}

/* Messages of a VP so far. */
static uint64_t had(const struct xk_vp *vp) { return xk_load_relaxed(&vp->messages); }

static unsigned cell_no(const char *side, const char *id)
{
	for (unsigned i = 0; i < aff_cells.n; i++) {
		json_t *o = aff_cells.head(i);
		bool found = strcmp(json_string_value(json_object_get(o, "side")), side) == 0 &&
			     strcmp(json_string_value(json_object_get(o, "id")), id) == 0;

		json_decref(o);
		if (found)
			return i;
	}
	CU_FAIL_FATAL("no such cell");
	return 0;
}

/* One sample of a cell: how many messages timed, theirs and ours, three VPs, have of it. */
static void sample(struct aff_rig *r, const char *side, const char *id, struct xk_vp *const vp[3],
		   const unsigned want[3])
{
	unsigned i = cell_no(side, id);
	uint64_t before[3];

	for (unsigned k = 0; k < 3; k++)
		before[k] = had(vp[k]);
	CU_ASSERT(aff_cells.sample(r, i) > 0);
	for (unsigned k = 0; k < 3; k++)
		CU_ASSERT_EQUAL(had(vp[k]) - before[k], want[k]);
}

static void stacks(struct aff_rig *r, enum aff_side s, enum aff_variant v, struct xk_vp *vp[3])
{
	for (unsigned k = 0; k < AFF_STACKS; k++)
		vp[k] = aff_vp(r, s, v, k);
}

/* Where the other processor has been, and how often the stack that is timed was at work. */
static void cells_do_what_they_are_called(void)
{
	static struct aff_rig r;
	struct xk_vp *vp[3], *none;
	char why[AFF_TEXT] = "";

	CU_ASSERT_FATAL(aff_rig_open(&r, 64, (size_t)1 << 20, why));
	if (r.pair == NULL) {
		aff_rig_close(&r);
		return;
	}
	stacks(&r, AFF_RECEIVE, AFF_ONE, vp);
	none = vp[AFF_OURS];
	sample(&r, "receive", "hot", vp, (unsigned[]){ 2, 1, 1 });
	sample(&r, "receive", "moved", vp, (unsigned[]){ 2, 0, 1 });
	if (r.threads)
		sample(&r, "receive", "thread_moved", vp, (unsigned[]){ 2, 1, 1 });
	sample(&r, "receive", "other_stream", vp, (unsigned[]){ 0, 0, 0 });
	stacks(&r, AFF_SEND, AFF_TURN, vp);
	sample(&r, "send", "stack_moved", vp, (unsigned[]){ 2, 0, 1 });
	sample(&r, "send", "other_stream", vp, (unsigned[]){ 2, 1, 1 });
	/* An I/O thread for each processor; what moves is behind locks. */
	sample(&r, "locking", "hot", (struct xk_vp *[]){ aff_io(&r, AFF_ONE, 1), aff_io(&r, AFF_ONE, 0), none },
	       (unsigned[]){ 2, 0, 1 });
	sample(&r, "locking", "moved", (struct xk_vp *[]){ aff_io(&r, AFF_ONE, 1), aff_io(&r, AFF_ONE, 0), none },
	       (unsigned[]){ 1, 1, 1 });
	sample(&r, "locking", "stack_moved", (struct xk_vp *[]){ aff_io(&r, AFF_APART, 1), aff_io(&r, AFF_APART, 0), none },
	       (unsigned[]){ 1, 1, 0 });
	sample(&r, "locking", "other_stream", (struct xk_vp *[]){ aff_io(&r, AFF_TURN, 1), aff_io(&r, AFF_TURN, 0), none },
	       (unsigned[]){ 2, 0, 0 });
	CU_ASSERT_EQUAL(r.misfits, 0);
	aff_rig_close(&r);
}

static void other_work_references_what_it_may_and_nothing_when_idle(void)
{
	struct aff_caches c;

	CU_ASSERT_FATAL(aff_caches_init(&c, (size_t)1 << 20));
	CU_ASSERT_EQUAL(c.walk_all, (size_t)1 << 20);
	aff_other_work(&c, 50e3, 0);
	CU_ASSERT_EQUAL(c.all.references, 0);
	CU_ASSERT_EQUAL(aff_references(&c), 0);
	CU_ASSERT_EQUAL(c.at, 0);
	for (unsigned i = 0; i < 50; i++)
		aff_other_work(&c, 20e3, 1);
	CU_ASSERT(c.all.references > 0 && c.at > 0 && c.at <= c.walk_all);
	CU_ASSERT(c.alone.references <= c.all.references && aff_references(&c) > 0);
	aff_flush_all(&c);
	aff_caches_fini(&c);
}

static CU_TestInfo tests[] = {
	{ "differences are those of the same round", differences_are_those_of_the_same_round },
	{ "where intervals have zero in them nothing is said", where_intervals_have_zero_in_them_nothing_is_said },
	{ "what was not measured is not judged", what_was_not_measured_is_not_judged },
	{ "lines of copies are found", lines_of_copies_are_found },
	{ "a planted displacement is found", a_planted_displacement_is_found },
	{ "what others displace is not our work's", what_others_displace_is_not_our_works },
	{ "a machine file has what was measured", a_machine_file_has_what_was_measured },
	{ "a machine whose cold messages are cheap is refused", a_machine_whose_cold_messages_are_cheap_is_refused },
	{ "the other processor has done it when the call returns",
	  the_other_processor_has_done_it_when_the_call_returns },
	{ "cells do what they are called", cells_do_what_they_are_called },
	{ "other work references what it may, and nothing when idle",
	  other_work_references_what_it_may_and_nothing_when_idle },
	CU_TEST_INFO_NULL
};

static CU_SuiteInfo suites[] = {
	{ "affinity of this machine", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}

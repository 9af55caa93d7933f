/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_bench_doc.c - metrics from canned JSON, the stop rule on synthetic series,
 * verdicts, tables and CSV.
 */
#include <CUnit/CUnit.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/mem/xk_mem.h"
#include "tests/support/xk_test.h"
#include "tools/vp-bench/bench.h"
#include "tools/vp-bench/bench_lua.h"

/* ---- metrics -------------------------------------------------------------------- */

/* 2 s, 1000 messages of 4096 bytes; threads have 100 to 400 messages. */
static json_t *child(unsigned threads)
{
	json_t *j = json_pack("{s:i, s:I, s:I, s:i, s:i, s:s, s:[{s:{s:i}}], s:[], s:[], s:[]}", "schema", 2,
			      "measured_ns", (json_int_t)2000000000, "warmup_ns", (json_int_t)1, "messages", 1000,
			      "bytes", 4096000, "busiest", "source", "nodes", "drops", "no memory", 10,
			      "workers", "vps", "connections");

	for (unsigned i = 0; i < threads; i++) {
		json_array_append_new(json_object_get(j, "workers"), json_pack("{s:I, s:I, s:i, s:i, s:i}", "user_ns",
			(json_int_t)(i + 1) * 1000000, "sys_ns", (json_int_t)0, "voluntary_switches", 2,
			"involuntary_switches", 4, "migrations", 1));
		json_array_append_new(json_object_get(j, "vps"), json_pack("{s:i}", "messages", (int)(100 * (i + 1))));
		json_array_append_new(json_object_get(j, "connections"), json_pack("{s:s, s:i}", "node", "source",
			"messages", (int)(100 * (i + 1))));
	}
	return j;
}

static double of(const json_t *m, const char *key)
{
	return bench_real(m, key);
}

#define NEAR(a, b) CU_ASSERT_DOUBLE_EQUAL(a, b, 1e-9)
#define ALL (BENCH_NEED_VPS | BENCH_NEED_CONNS)

static void rates_come_from_the_measured_time(void)
{
	char why[200];
	json_t *j = child(4), *m = bench_metrics_of(j, ALL, why, sizeof why);

	CU_ASSERT_PTR_NOT_NULL_FATAL(m);
	NEAR(of(m, "gbit"), 4096000 * 8 / 2e9);
	NEAR(of(m, "mps"), 500);
	NEAR(of(m, "ns"), 2e6);
	NEAR(of(m, "drops"), 5);
	NEAR(of(m, "switches_voluntary"), 4);
	NEAR(of(m, "switches_involuntary"), 8);
	NEAR(of(m, "migrations"), 2);
	NEAR(of(m, "jain"), 1000.0 * 1000 / (4 * 300000.0));
	NEAR(of(m, "max_over_min"), 4);
	json_decref(m);
	json_decref(j);
}

static void threads_are_ranked_by_throughput(void)
{
	char why[200];
	json_t *j = child(4), *m = bench_metrics_of(j, ALL, why, sizeof why);

	CU_ASSERT_PTR_NOT_NULL_FATAL(m);
	NEAR(of(m, "thread_rate.max"), 400 / 250.0);
	NEAR(of(m, "thread_rate.p75"), 300 / 250.0);
	NEAR(of(m, "thread_rate.p50"), 200 / 250.0);
	NEAR(of(m, "thread_rate.p25"), 100 / 250.0);
	NEAR(of(m, "thread_rate.min"), 100 / 250.0);
	NEAR(of(m, "thread_user.max"), 4 / 2.5);
	NEAR(of(m, "thread_latency.max"), 4e-3 / 400 * 1e6);
	NEAR(of(m, "latency"), 10e-3 / 1000 * 1e6);
	NEAR(of(m, "thread_spread"), 4);
	NEAR(of(m, "user_rate_correlation"), 1);
	CU_ASSERT_TRUE(isnan(of(m, "thread_rate.p4")));
	json_decref(m);
	json_decref(j);
}

static void the_4th_percentile_needs_25_threads(void)
{
	char why[200];
	json_t *j = child(24), *k = child(26);
	json_t *m = bench_metrics_of(j, ALL, why, sizeof why), *n = bench_metrics_of(k, ALL, why, sizeof why);

	CU_ASSERT_TRUE(isnan(of(m, "thread_rate.p4")));
	NEAR(of(n, "thread_rate.p4"), 200 / 1350.0);
	NEAR(of(n, "thread_rate.min"), 100 / 1350.0);
	json_decref(m);
	json_decref(n);
	json_decref(j);
	json_decref(k);
}

static void a_starved_thread_is_the_minimum(void)
{
	char why[200];
	json_t *j = child(4), *m;

	json_object_set_new(json_array_get(json_object_get(j, "vps"), 2), "messages", json_integer(0));
	m = bench_metrics_of(j, ALL, why, sizeof why);
	NEAR(of(m, "thread_rate.min"), 0);
	CU_ASSERT_TRUE(json_is_null(json_object_get(m, "thread_spread")));
	CU_ASSERT_TRUE(json_is_null(json_object_get(m, "thread_latency.min")));
	json_decref(m);
	json_decref(j);
}

static void json_of_something_else_is_refused(void)
{
	char why[200];
	json_t *j = json_object(), *k = child(2);

	CU_ASSERT_PTR_NULL(bench_metrics_of(j, 0, why, sizeof why));
	CU_ASSERT_PTR_NULL(bench_metrics_of(k, BENCH_NEED_FAIR, why, sizeof why));
	CU_ASSERT_STRING_EQUAL(why, "its JSON lacks fairness");
	json_object_set_new(k, "messages", json_integer(0));
	CU_ASSERT_PTR_NULL(bench_metrics_of(k, 0, why, sizeof why));
	CU_ASSERT_STRING_EQUAL(why, "not one message passed");
	json_decref(j);
	json_decref(k);
}

static void a_run_without_a_message_says_that_it_was_starved(void)
{
	char why[200];
	json_t *k = child(2);
	double whole = of(k, "measured_ns") * (double)json_array_size(json_object_get(k, "workers"));

	CU_ASSERT_FATAL(whole > 0);
	json_object_set_new(k, "messages", json_integer(0));
	json_object_set_new(k, "record", json_pack("{s:f}", "run_delay_ns", 0.49 * whole));
	CU_ASSERT_PTR_NULL(bench_metrics_of(k, 0, why, sizeof why));
	CU_ASSERT_STRING_EQUAL(why, "not one message passed");
	json_object_set_new(k, "record", json_pack("{s:f}", "run_delay_ns", 0.51 * whole));
	CU_ASSERT_PTR_NULL(bench_metrics_of(k, 0, why, sizeof why));
	CU_ASSERT_STRING_EQUAL(why, "not one message passed: its threads were ready for most of the time, and other programs "
			       "had the processors");
	json_decref(k);
}

/* ---- documents ----------------------------------------------------------------------- */

static struct bench b;
static json_t *doc, *part;

static void begin(const char *more)
{
	char text[2048];

	snprintf(text, sizeof text, "local a = args { n = uint { 1 } }\nicmp { over = stack { ip { addr = \"10.0.0.1/8\" }, "
		 "arp {}, eth {}, eth_mem {} } }\nreturn bench \"t\" { graph = graph \"g\" { threading = up { } },\n"
		 "metric = \"gbit\", sweep = { n = { 1, 2 } }, %s }", more);
	CU_ASSERT_EQUAL_FATAL(bench_load_text(&b, "t.lua", text, NULL, 0), BENCH_OK);
	doc = bench_doc_new();
	part = bench_doc_bench(doc, &b, "own");
}

static void finish(void)
{
	json_decref(doc);
	bench_free(&b);
}

static void add(unsigned point, unsigned block, double v)
{
	json_t *run = child(2);

	bench_doc_run(part, point, block, run, json_pack("{s:f}", "gbit", v));
	json_decref(run);
	bench_doc_summarise(part);
}

static const char *status(unsigned point)
{
	return bench_text(json_array_get(json_object_get(part, "points"), point), "status");
}

static void a_steady_series_ends_at_the_fewest_runs(void)
{
	begin("runs = { min = 5, max = 20 }");
	CU_ASSERT_STRING_EQUAL(status(0), "pending");
	for (unsigned i = 0; i < 5; i++) {
		add(0, i, 10 + 0.01 * i);
		CU_ASSERT_STRING_EQUAL(status(0), i < 4 ? "running" : "done");
	}
	finish();
}

static void a_noisy_series_goes_on_and_is_told(void)
{
	begin("runs = { min = 5, max = 20 }");
	for (unsigned i = 0; i < 20; i++) {
		add(0, i, i % 2 ? 5 : 15);
		CU_ASSERT_STRING_EQUAL(status(0), i < 19 ? "running" : "interval not reached");
	}
	finish();
}

static void a_series_that_calms_down_ends_when_it_has(void)
{
	unsigned ended = 0;

	begin("runs = { min = 5, max = 40 }");
	for (unsigned i = 0; i < 40 && ended == 0; i++) {
		add(0, i, i == 0 ? 12 : 10);
		if (strcmp(status(0), "done") == 0)
			ended = i + 1;
	}
	/* One outlier of 2 among n: half-width about 3.4 / n over a mean of 10. */
	CU_ASSERT_TRUE(ended >= 7 && ended <= 10);
	finish();
}

/* ---- verdicts ---------------------------------------------------------------------------- */

static const char *verdict(void)
{
	return bench_text(json_array_get(json_object_get(part, "shapes"), 0), "verdict");
}

static const char *why(void)
{
	return bench_text(json_array_get(json_object_get(part, "shapes"), 0), "why");
}

static void judge(const char *bound, double a, double over, bool good, const char *expected)
{
	char more[300];

	snprintf(more, sizeof more, "shape = { { doc = \"d\", a = { n = 1 }, over = { n = 2 }, %s } }", bound);
	begin(more);
	for (unsigned i = 0; i < 7; i++) {
		add(0, i, a * (1 + 0.01 * i));
		add(1, i, over * (1 + 0.01 * i));
	}
	CU_ASSERT_EQUAL(bench_doc_judge(part, NULL), good);
	CU_ASSERT_STRING_EQUAL(verdict(), expected);
	finish();
}

static void ratios_are_paired_and_judged(void)
{
	judge("at_least = 1", 3, 2, true, "pass");
	judge("at_least = 1", 2, 3, false, "fail");
	judge("at_most = 1", 3, 2, false, "fail");
	judge("at_least = 1.4, at_most = 1.6", 3, 2, true, "pass");
	judge("reference = 1.5", 3, 2, true, "reported");
}

/* n runs of both points, n=1 over n=2 by turns at `low` and `high`. */
static void between(const char *bound, unsigned n, double low, double high, const char *expected)
{
	char more[300];

	snprintf(more, sizeof more, "runs = { min = %u, max = %u, decide = %u }, shape = { { doc = \"d\", a = { n = 1 }, "
		 "over = { n = 2 }, %s } }", n, n, n, bound);
	begin(more);
	for (unsigned i = 0; i < n; i++) {
		add(0, i, i % 2 ? low : high);
		add(1, i, 1);
	}
	CU_ASSERT_EQUAL(bench_doc_judge(part, NULL), strcmp(expected, "fail") != 0);
	CU_ASSERT_STRING_EQUAL(verdict(), expected);
	if (strcmp(expected, "undecided") == 0)
		CU_ASSERT_PTR_NOT_NULL(strstr(why(), "the limit is"));
	finish();
}

static void an_interval_on_both_sides_decides_nothing(void)
{
	between("at_least = 1", 12, 0.5, 2.5, "undecided");
	between("at_least = 1", 12, 1.0, 2.5, "pass");
	between("at_least = 1", 12, 0.2, 0.9, "fail");
	between("at_most = 1", 12, 0.5, 2.5, "undecided");
	/* Equivalence: the whole interval inside; noise round 1 is none. */
	between("at_least = 0.9, at_most = 1.1", 12, 0.95, 1.05, "pass");
	between("at_least = 0.9, at_most = 1.1", 12, 0.5, 1.5, "undecided");
	between("at_least = 0.9, at_most = 1.1", 12, 1.2, 1.3, "fail");
}

static void four_blocks_decide_nothing_whatever_they_say(void)
{
	begin("runs = { min = 4, max = 4, decide = 4 }, shape = { { doc = \"d\", a = { n = 1 }, over = { n = 2 }, at_least = 1 } }");
	for (unsigned i = 0; i < 8; i++)
		add(i % 2, i / 2, i % 2 ? 1 : 100);
	CU_ASSERT_TRUE(bench_doc_judge(part, NULL));
	CU_ASSERT_STRING_EQUAL(verdict(), "undecided");
	CU_ASSERT_STRING_EQUAL(why(), "4 blocks have all the points; an interval needs 5");
	finish();
}

static void a_quick_run_decides_nothing(void)
{
	static const double other[] = { 1, 5 };

	for (unsigned k = 0; k < 2; k++) {
		begin("shape = { { doc = \"d\", a = { n = 1 }, over = { n = 2 }, at_least = 1 } }");
		json_object_set_new(json_object_get(part, "settings"), "preset", json_string("quick"));
		for (unsigned i = 0; i < 16; i++)
			add(i % 2, i / 2, i % 2 ? other[k] : 3);
		CU_ASSERT_TRUE(bench_doc_judge(part, NULL));
		CU_ASSERT_STRING_EQUAL(verdict(), "undecided");
		CU_ASSERT_STRING_EQUAL(why(), "preset quick: not to conclude from");
		finish();
	}
}

static void nothing_at_all_is_no_ratio(void)
{
	begin("runs = { min = 8, max = 8 }, shape = { { doc = \"d\", a = { n = 1 }, over = { n = 2 }, at_least = 1 } }");
	for (unsigned i = 0; i < 16; i++)
		add(i % 2, i / 2, i % 2 ? 0 : 3);
	CU_ASSERT_TRUE(bench_doc_judge(part, NULL));
	CU_ASSERT_STRING_EQUAL(verdict(), "undecided");
	finish();
	/* A difference is one: minus. */
	begin("runs = { min = 8, max = 8 }, shape = { { doc = \"d\", a = { n = 1 }, minus = { n = 2 }, at_least = 2.9, at_most = 3.1 } }");
	for (unsigned i = 0; i < 16; i++)
		add(i % 2, i / 2, i % 2 ? 0 : 3);
	CU_ASSERT_TRUE(bench_doc_judge(part, NULL));
	CU_ASSERT_STRING_EQUAL(verdict(), "pass");
	finish();
}

/* ---- who gets more runs ------------------------------------------------------------------ */

static unsigned asked(unsigned blocks, bool *keep)
{
	json_t *w = bench_doc_wanted(part, blocks, NULL);
	unsigned n = (unsigned)json_array_size(json_object_get(w, "points"));

	*keep = json_is_true(json_object_get(w, "keep"));
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(w, "limit")), 40);
	json_decref(w);
	return n;
}

static void undecided_expectations_get_more_runs(void)
{
	bool keep;

	begin("shape = { { doc = \"d\", a = { n = 1 }, over = { n = 2 }, at_least = 1 } }");
	CU_ASSERT_EQUAL(asked(0, &keep), 2);            /* until the first look */
	for (unsigned i = 0; i < 7; i++) {
		add(0, i, i % 2 ? 0.9 : 1.6);
		add(1, i, 1);
	}
	CU_ASSERT_EQUAL(asked(7, &keep), 2);            /* a half-width like its distance: worth the while */
	CU_ASSERT_TRUE(asked(9, &keep) == 0 && keep);   /* between looks: as before */
	for (unsigned i = 7; i < 14; i++) {
		add(0, i, 1.3);
		add(1, i, 1);
	}
	CU_ASSERT_EQUAL(asked(14, &keep), 0);           /* decided */
	CU_ASSERT_FALSE(keep);
	CU_ASSERT_TRUE(asked(40, &keep) == 0 && !keep);
	finish();
}

static void what_no_number_of_runs_decides_gets_none(void)
{
	bool keep;

	begin("shape = { { doc = \"d\", a = { n = 1 }, over = { n = 2 }, at_least = 1 } }");
	for (unsigned i = 0; i < 8; i++) {
		add(0, i, i % 2 ? 0.5 : 2);
		add(1, i, 1);
	}
	/* The centre is on the bound. */
	CU_ASSERT_TRUE(asked(14, &keep) == 0 && !keep);
	finish();
	begin("shape = { { doc = \"d\", a = { n = 1 }, over = { n = 2 }, at_least = 1 } }");
	bench_doc_failed(part, 1, "it died");
	CU_ASSERT_TRUE(asked(0, &keep) == 0);
	finish();
}

/* ---- odd runs ---------------------------------------------------------------------------- */

static const char *oddity(const double *v, unsigned n)
{
	static char text[300];

	begin("shape = {}");
	for (unsigned i = 0; i < n; i++)
		add(0, i, v[i]);
	bench_doc_warn(part);
	snprintf(text, sizeof text, "%s", json_array_size(json_object_get(json_array_get(json_object_get(part, "points"), 0), "warnings")) ?
		 json_string_value(json_array_get(json_object_get(json_array_get(json_object_get(part, "points"), 0), "warnings"), 0)) : "");
	finish();
	return text;
}

static void odd_runs_are_told(void)
{
	static const double steady[] = { 10, 10.1, 9.9, 10.2, 10, 9.8, 10.1, 10, 9.9 };
	static const double wild[] = { 10, 10.1, 9.9, 10.2, 2.4, 9.8, 10.1, 10, 9.9 };
	static const double falls[] = { 10, 9.8, 9.7, 9.4, 9.2, 9, 8.7, 8.5, 8.4 };
	static const double two[] = { 10, 20, 10.1, 20.2, 9.9, 20.1, 10.2, 19.8, 10 };

	CU_ASSERT_STRING_EQUAL(oddity(steady, 9), "");
	CU_ASSERT_STRING_EQUAL(oddity(wild, 9), "far from the median of 10: run 5 (2.4)");
	CU_ASSERT_STRING_EQUAL(oddity(falls, 9), "the runs fall: the last third is 13 % below the first");
	CU_ASSERT_STRING_EQUAL(oddity(two, 9), "two humps: 5 runs from 9.9 to 10.2, 4 from 19.8 to 20.2");
}

static void a_starved_run_is_told(void)
{
	json_t *run = child(2), *p;

	begin("shape = {}");
	json_object_set_new(run, "record", json_pack("{s:f}", "run_delay_ns", 3.9e9));
	bench_doc_run(part, 0, 0, run, json_pack("{s:f}", "gbit", 1.0));
	bench_doc_beside(part, 0, 2, 1);
	bench_doc_summarise(part);
	bench_doc_warn(part);
	p = json_array_get(json_object_get(part, "points"), 0);
	CU_ASSERT_EQUAL_FATAL(json_array_size(json_object_get(p, "warnings")), 3);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_array_get(json_object_get(p, "warnings"), 0)),
			       "threads were ready and did not run in 1 of 1 runs, for 98 % of their time in run 1");
	CU_ASSERT_STRING_EQUAL(json_string_value(json_array_get(json_object_get(p, "warnings"), 1)),
			       "another program's threads, pinned and running, were there before 1 of 1 runs");
	CU_ASSERT_STRING_EQUAL(json_string_value(json_array_get(json_object_get(p, "warnings"), 2)),
			       "processors were throttled during 1 of 1 runs");
	json_decref(run);
	finish();
}

static void what_was_not_measured_never_passes(void)
{
	begin("shape = { { doc = \"d\", a = { n = 1 }, over = { n = 2 }, at_least = 0 } }");
	for (unsigned i = 0; i < 7; i++)
		add(0, i, 1);
	CU_ASSERT_TRUE(bench_doc_judge(part, NULL));
	CU_ASSERT_STRING_EQUAL(verdict(), "undecided");
	CU_ASSERT_STRING_EQUAL(why(), "n=2: not measured yet");
	bench_doc_failed(part, 1, "it died");
	CU_ASSERT_TRUE(bench_doc_judge(part, NULL));
	CU_ASSERT_STRING_EQUAL(verdict(), "undecided");
	CU_ASSERT_STRING_EQUAL(why(), "n=2: its run failed");
	finish();
	/* Runs that cannot tell a metric are this machine's matter. */
	begin("shape = { { doc = \"d\", metric = \"misses_kb\", a = { n = 1 }, over = { n = 2 }, at_least = 0 } }");
	for (unsigned i = 0; i < 14; i++)
		add(i % 2, i / 2, 1);
	CU_ASSERT_TRUE(bench_doc_judge(part, NULL));
	CU_ASSERT_STRING_EQUAL(verdict(), "not measurable here");
	CU_ASSERT_STRING_EQUAL(why(), "n=1: no run can tell misses_kb");
	finish();
	begin("shape = { { doc = \"d\", skip = \"needs 20 processors\" } }");
	CU_ASSERT_TRUE(bench_doc_judge(part, NULL));
	CU_ASSERT_STRING_EQUAL(verdict(), "not measurable here");
	finish();
	begin("shape = { { doc = \"d\", needs_cpus = 100000, a = { n = 1 }, at_least = 0 } }");
	CU_ASSERT_TRUE(bench_doc_judge(part, NULL));
	CU_ASSERT_STRING_EQUAL(verdict(), "not measurable here");
	finish();
}

/* ---- formats --------------------------------------------------------------------------------- */

/* What the document looks like; to be freed. */
static char *shown(enum bench_format format)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	CU_ASSERT_EQUAL(bench_show(f, doc, format), BENCH_OK);
	fclose(f);
	return text;
}

static void csv_has_a_line_per_run_and_metric(void)
{
	char *text;

	begin("reference = { { at = { n = 9 }, value = 2 } }");
	add(0, 0, 1.5);
	add(0, 1, 2.5);
	text = shown(BENCH_CSV);
	CU_ASSERT_STRING_EQUAL(text, "bench,point,run,block,metric,unit,value\n"
			       "t,n=1,1,0,gbit,Gbit/s,1.5\nt,n=1,2,1,gbit,Gbit/s,2.5\n");
	free(text);
	finish();
}

static void the_table_says_what_is_missing(void)
{
	char *text;

	begin("reference = { { at = { n = 9 }, value = 2 } }");
	add(0, 0, 1.5);
	bench_doc_failed(part, 1, "it died of signal 11");
	text = shown(BENCH_TABLE);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "failed: it died of signal 11"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "NOT COMPLETE"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "reference: 2"));
	free(text);
	finish();
}

/* The judge, from the start of Lua to the answer, with the k-th allocation failing and all after it; with
 * memory it is as good as ever. */
static void a_judge_without_memory_says_so(void)
{
	json_t *shapes = json_pack("[{s:s, s:s}, {s:s, s:s}]", "verdict", "pass", "doc", "a", "verdict", "fail", "doc", "b");
	json_t *v = NULL, *again;
	char why[400];
	uint64_t k;

	for (k = 1; v == NULL && k < 100000; k += 21 - xk_test_rounds(20)) {
		bench_lua_from(NULL);
		*why = '\0';
		xk_mem_fail_from(k);
		v = bench_lua_call("judge", "figure", &shapes, 1, why, sizeof why);
		xk_mem_fail_after(0);
		CU_ASSERT(v != NULL || strstr(why, "memory") != NULL);
		again = bench_lua_call("judge", "figure", &shapes, 1, why, sizeof why);
		CU_ASSERT_STRING_EQUAL(bench_text(again, "verdict"), "fail");
		json_decref(again);
	}
	CU_ASSERT(k > 500);
	CU_ASSERT_STRING_EQUAL(bench_text(v, "verdict"), "fail");
	json_decref(v);
	json_decref(shapes);
	bench_lua_from(NULL);
}

static CU_TestInfo tests[] = {
	{ "rates come from the measured time", rates_come_from_the_measured_time },
	{ "threads are ranked by throughput", threads_are_ranked_by_throughput },
	{ "the 4th percentile needs 25 threads", the_4th_percentile_needs_25_threads },
	{ "a starved thread is the minimum", a_starved_thread_is_the_minimum },
	{ "JSON of something else is refused", json_of_something_else_is_refused },
	{ "a steady series ends at the fewest runs", a_steady_series_ends_at_the_fewest_runs },
	{ "a noisy series goes on and is told", a_noisy_series_goes_on_and_is_told },
	{ "a series that calms down ends when it has", a_series_that_calms_down_ends_when_it_has },
	{ "ratios are paired and judged", ratios_are_paired_and_judged },
	{ "an interval on both sides decides nothing", an_interval_on_both_sides_decides_nothing },
	{ "four blocks decide nothing, whatever they say", four_blocks_decide_nothing_whatever_they_say },
	{ "a quick run decides nothing", a_quick_run_decides_nothing },
	{ "nothing at all is no ratio", nothing_at_all_is_no_ratio },
	{ "undecided expectations get more runs", undecided_expectations_get_more_runs },
	{ "what no number of runs decides gets none", what_no_number_of_runs_decides_gets_none },
	{ "odd runs are told", odd_runs_are_told },
	{ "a starved run is told", a_starved_run_is_told },
	{ "a run without a message says that it was starved", a_run_without_a_message_says_that_it_was_starved },
	{ "what was not measured never passes", what_was_not_measured_never_passes },
	{ "CSV has a line per run and metric", csv_has_a_line_per_run_and_metric },
	{ "the table says what is missing", the_table_says_what_is_missing },
	{ "a judge without memory says so", a_judge_without_memory_says_so },
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static CU_SuiteInfo suites[] = { { .pName = "bench results", .pTests = tests }, CU_SUITE_INFO_NULL };

	return xk_test_main(suites);
}

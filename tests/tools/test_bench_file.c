/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_bench_file.c - bench files: what is wrong is told at its line with a
 * suggestion, what is right becomes points, and arguments choose among them.
 */
#include <CUnit/CUnit.h>
#include <string.h>

#include "tests/support/xk_test.h"
#include "tools/vp-bench/bench.h"

/* Line 1 to 5; a case's keys start on line 6. */
#define HEAD "local a = args {\n" \
	"  vps = uint { 2, min = 1, max = 64 }, conns = uint { 4, max = 100 }, name = text { \"x\" } }\n" \
	"stack { load { to = \"10.0.0.2\", conns = a.conns }, udp {}, ip { addr = \"10.0.0.1/8\" },\n" \
	"  arp { neighbours = { [\"10.0.0.2\"] = \"02:00:00:00:00:02\" } }, eth {}, eth_mem {}, peer_sink {} }\n" \
	"return bench \"t\" { graph = graph \"g\" { threading = vppc { vps = a.vps } },\n"

static struct bench b;

static int load_args(const char *keys, const char *const *args, unsigned nargs)
{
	char text[4096];

	snprintf(text, sizeof text, "%s%s}\n", HEAD, keys);
	return bench_load_text(&b, "t.lua", text, args, nargs);
}

/* The keys give a complaint with these words at this line. */
static void complains(const char *keys, int line, const char *words)
{
	bool found = false;

	CU_ASSERT_EQUAL(load_args(keys, NULL, 0), BENCH_FILE_ERRORS);
	for (unsigned i = 0; i < xk_errs_count(b.e); i++) {
		const char *file;
		int at, col;
		const char *text = xk_errs_text(b.e, i, &file, &at, &col);

		found |= at == line && strstr(text, words) != NULL;
		if (!found)
			fprintf(stderr, "# %d:%d: %s\n", at, col, text);
	}
	CU_ASSERT_TRUE(found);
	bench_free(&b);
}

#define GOOD "metric = \"gbit\",\nsweep = { vps = { 2, 4 }, conns = { 1, 2, 3 } },\n"

static void a_sweep_means_all_combinations(void)
{
	char text[100];

	CU_ASSERT_EQUAL(load_args(GOOD, NULL, 0), BENCH_OK);
	CU_ASSERT_EQUAL(b.npoints, 6);
	CU_ASSERT_STRING_EQUAL(bench_point_text(&b, &b.point[0], text, sizeof text), "conns=1 vps=2");
	CU_ASSERT_STRING_EQUAL(bench_point_text(&b, &b.point[5], text, sizeof text), "conns=3 vps=4");
	CU_ASSERT_STRING_EQUAL(b.metric->name, "gbit");
	CU_ASSERT_EQUAL(b.min_runs, 5);
	CU_ASSERT_EQUAL(b.max_runs, 20);
	bench_free(&b);
}

static void points_are_taken_as_listed(void)
{
	CU_ASSERT_EQUAL(load_args("metric = \"ns\",\npoints = { { vps = 2, conns = 9 }, { vps = 4, conns = 1 } },\n"
				  "runs = { min = 3, max = 7 }, duration = \"3s\", precision = \"2%\"", NULL, 0), BENCH_OK);
	CU_ASSERT_EQUAL(b.npoints, 2);
	CU_ASSERT_EQUAL(b.min_runs, 3);
	CU_ASSERT_EQUAL(b.max_runs, 7);
	CU_ASSERT_EQUAL(b.duration, 3 * XK_SEC);
	CU_ASSERT_DOUBLE_EQUAL(b.precision, 0.02, 1e-9);
	bench_free(&b);
}

static void the_estimate_counts_every_run(void)
{
	double least, most;

	CU_ASSERT_EQUAL(load_args(GOOD "duration = \"2s\", warmup = \"1s\"", NULL, 0), BENCH_OK);
	bench_estimate(&b, &least, &most);
	CU_ASSERT_TRUE(least >= 6 * 5 * 3.0 && least < 6 * 5 * 3.5);
	CU_ASSERT_DOUBLE_EQUAL(most, 4 * least, 1e-6);
	bench_free(&b);
}

static void an_argument_that_is_an_axis_keeps_its_points(void)
{
	static const char *const args[] = { "vps=4", "name=y" }, *const none[] = { "vps=3" };

	CU_ASSERT_EQUAL(load_args(GOOD, args, 2), BENCH_OK);
	CU_ASSERT_EQUAL(b.npoints, 3);
	CU_ASSERT_EQUAL(b.narg, 1);
	bench_free(&b);
	CU_ASSERT_EQUAL(load_args(GOOD, none, 1), BENCH_USAGE);
	bench_free(&b);
}

static void unknown_keys_get_a_suggestion(void)
{
	complains(GOOD "metrik = \"gbit\"", 8, "unknown parameter 'metrik' (did you mean 'metric'?)");
	complains("sweep = { vps = { 2 } },\nmetric = \"gbti\"", 7, "unknown metric 'gbti' (did you mean 'gbit'?)");
	complains("sweep = { vps = { 2 } },\nmetric = \"messages_per_s\"", 7, "unknown metric 'messages_per_s' (did you mean 'mps'?)");
	complains("sweep = { vps = { 2 } },\nmetric = \"gbit\",\nprecision = 5", 8, "'precision' must be between 0.001 and 1, got 5");
	complains("metric = \"gbit\",\nsweep = {\n  vsp = { 2 } }", 8, "no argument 'vsp' (did you mean 'vps'?)");
	complains(GOOD "x = \"conn\"", 8, "no axis is called 'conn' (did you mean 'conns'?)");
	complains(GOOD "runs = { mni = 3 }", 8, "unknown parameter 'mni' (did you mean 'min'?)");
	complains(GOOD "shape = { { doc = \"d\", ovr = { vps = 2, conns = 1 } } }", 8, "unknown parameter 'ovr' (did you mean 'over'?)");
}

static void values_are_checked_against_the_argument(void)
{
	complains("metric = \"gbit\",\nsweep = { vps = { 2, 65 } }", 7, "'vps' must be between 1 and 64, got 65");
	complains("metric = \"gbit\",\nsweep = { vps = { 2, \"two\" } }", 7, "'vps'");
	complains("metric = \"gbit\",\nsweep = { vps = { 2, 2 } }", 7, "twice");
	complains("metric = \"gbit\",\nsweep = { vps = 2 }", 7, "needs a list");
	complains("metric = \"gbit\",\npoints = { { vps = 2 },\n { conns = 3 } }", 8, "other axes than the first");
	complains("metric = \"gbit\",\npoints = { { vps = 2 },\n { vps = 2 } }", 8, "is there already");
}

static void wrong_types_and_missing_keys_are_told(void)
{
	complains("metric = \"gbit\"", 5, "'sweep' or 'points' is needed");
	complains("sweep = { vps = { 2 } }", 5, "'metric' is needed");
	complains(GOOD "duration = 5", 8, "needs a time");
	complains(GOOD "confidence = 2", 8, "confidence");
	complains(GOOD "runs = { min = 9, max = 3 }", 8, "min of 9 above its max of 3");
	complains(GOOD "paper_messages = { warmup = 10, measures = 3 }", 8, "did you mean 'measured'?");
	complains(GOOD "paper_messages = { warmup = 10 }", 8, "says nothing of how many are measured");
	complains(GOOD "paper_messages = 20000", 8, "'paper_messages' needs a table");
	complains(GOOD "points = { { vps = 2 } }", 8, "exclude each other");
	complains(GOOD "columns = \"ns\"", 8, "needs a list");
	complains(GOOD "doc = 3", 8, "'doc' needs to be a text");
}

static void curves_are_lists_of_points(void)
{
	complains(GOOD "shape = { { doc = \"d\", order = { { vps = 2, conns = 1 } } } }", 8, "at least two points");
	complains(GOOD "shape = { { doc = \"d\",\n rises = { { vps = 2, conns = 1 }, { vps = 9, conns = 1 } } } }", 9, "no point of this bench");
	complains(GOOD "shape = { { doc = \"d\", crossing = { a = { } } } }", 8, "'crossing' needs a table");
	complains(GOOD "shape = { { doc = \"d\", onset = { { vps = 2, conns = 1 } } } }", 8, "'onset' needs a table");
	complains(GOOD "shape = { { doc = \"d\", within = 0.1, a = { vps = 2, conns = 1 } } }", 8, "within without order");
	complains(GOOD "shape = { { doc = \"d\", a = { vps = 2, conns = 1 }, knee = { { vps = 2, conns = 1 }, { vps = 4, conns = 1 } } } }",
		  8, "several things at once");
	complains(GOOD "shape = { { doc = \"d\", figure = { 7 }, a = { vps = 2, conns = 1 } } }", 8, "'figure' needs a name");
	complains(GOOD "shape = { { doc = \"d\", figure = { \"schmidt1996.fig8\", \"schmidt1996.fig9\" }, a = { vps = 2, conns = 1 } } }", 8,
		  "belongs to several figures");
}

static void what_is_absent_is_taken_out_and_excuses_its_shapes(void)
{
	CU_ASSERT_EQUAL(load_args(GOOD "absent = { { at = { vps = 4 }, why = \"no four\" } },\n"
				  "shape = { { doc = \"d\", a = { vps = 4, conns = 1 } }, { doc = \"e\", a = { vps = 2, conns = 1 } } }",
				  NULL, 0), BENCH_OK);
	CU_ASSERT_EQUAL(b.npoints, 3);
	CU_ASSERT_STRING_EQUAL(bench_text(json_array_get(b.shapes, 0), "skip"), "no four");
	CU_ASSERT_STRING_EQUAL(bench_text(json_array_get(b.shapes, 1), "skip"), "");
	bench_free(&b);
	complains(GOOD "absent = { { at = { vps = 4 } } }", 8, "'absent' needs tables");
	complains(GOOD "absent = { { at = { vsp = 4 }, why = \"x\" } }", 8, "no axis is called 'vsp'");
}

static void shapes_name_points_that_exist(void)
{
	complains(GOOD "shape = { { doc = \"d\",\n a = { vps = 8, conns = 1 } } }", 9, "no point of this bench is there");
	complains(GOOD "shape = { { doc = \"d\",\n a = { vps = 2 } } }", 9, "several points are there");
	complains(GOOD "shape = { { a = { vps = 2, conns = 1 } } }", 8, "has no doc");
	complains(GOOD "reference = { { at = { vps = 12 } } }", 8, "has no value");
	complains(GOOD "reference = { { at = { vps = 12 }, value = \"x\" } }", 8, "needs to be a number");
}

static void all_complaints_come_at_once(void)
{
	CU_ASSERT_EQUAL(load_args("metric = 1,\nsweep = { vps = { 99 } },\nfoo = 2", NULL, 0), BENCH_FILE_ERRORS);
	CU_ASSERT_TRUE(xk_errs_count(b.e) >= 3);
	bench_free(&b);
}

static void a_graph_alone_is_no_bench(void)
{
	CU_ASSERT_EQUAL(bench_load_text(&b, "g.lua", "return graph \"g\" { threading = up { } }\n", NULL, 0),
			BENCH_FILE_ERRORS);
	CU_ASSERT_TRUE(xk_errs_count(b.e) != 0);
	bench_free(&b);
}

#define METRIC(rest) GOOD "metrics = { { name = \"kb\", better = \"higher\", " rest " } }"

static void own_metrics_are_named_and_computed(void)
{
	CU_ASSERT_EQUAL(load_args("metric = \"kb\",\nsweep = { vps = { 2 } }, metrics = { { name = \"kb\", unit = \"KB\","
				  "doc = \"d\", better = \"lower\", of = function(run, m) return run.bytes / 1000 * m.ns end } }",
				  NULL, 0), BENCH_OK);
	CU_ASSERT_STRING_EQUAL(b.metric->name, "kb");
	CU_ASSERT_STRING_EQUAL(b.metric->unit, "KB");
	CU_ASSERT_TRUE(b.metric->lower);
	bench_free(&b);
	complains(METRIC("of = function() end") ", columns = { \"bk\" }", 8, "unknown metric 'bk' (did you mean 'kb'?)");
	complains(METRIC("off = 1"), 8, "metrics: unknown parameter 'off' (did you mean 'of'?)");
	complains(METRIC("doc = \"d\""), 8, "number 1 has no function");
	complains(METRIC("of = 3"), 8, "'of' needs a function");
	complains(GOOD "metrics = { { name = \"ns\", better = \"lower\", of = function() end } }", 8, "a metric 'ns' already");
	complains(GOOD "metrics = { { name = \"x\", of = function() end } }", 8, "needs better = \"higher\" or \"lower\"");
	complains(METRIC("of = (function(x) return function() return x end end)(1)"), 8, "string, table and math, not x");
}

/* Of a run of 2 messages, by of's body: the number, or NAN and the reason in why. */
static double own(const char *body, char *why, size_t n)
{
	json_t *run = json_pack("{s:i, s:I, s:i, s:i, s:[], s:[]}", "schema", 2, "measured_ns", (json_int_t)1000, "messages", 2,
				"bytes", 4000, "workers", "nodes"), *m;
	char keys[700];
	double v;

	snprintf(keys, sizeof keys, GOOD "metrics = { { name = \"own\", better = \"higher\", of = function(run, m)\n%s\nend } }", body);
	CU_ASSERT_EQUAL_FATAL(load_args(keys, NULL, 0), BENCH_OK);
	*why = '\0';
	m = bench_run_metrics(&b, run, why, n);
	v = bench_real(m, "own");
	json_decref(m);
	json_decref(run);
	bench_free(&b);
	return v;
}

static void a_function_of_a_bench_file_has_no_world(void)
{
	static const char *const none[] = { "io", "os", "require", "load", "loadfile", "dofile", "pcall", "package", "debug",
					    "print", "string.dump", "collectgarbage", "coroutine" };
	char why[400], body[200];

	CU_ASSERT_DOUBLE_EQUAL(own("return run.bytes / m.ns", why, sizeof why), 8, 1e-9);
	CU_ASSERT_TRUE(isnan(own("return nil", why, sizeof why)));
	CU_ASSERT_STRING_EQUAL(why, "");
	for (unsigned i = 0; i < XK_ARRAY_LEN(none); i++) {
		snprintf(body, sizeof body, "return %s == nil and 1 or 0", none[i]);
		CU_ASSERT_DOUBLE_EQUAL(own(body, why, sizeof why), 1, 0);
	}
	CU_ASSERT_TRUE(isnan(own("return run.x.y", why, sizeof why)));
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "metric own: "));
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "t.lua:9: attempt to index a nil value (field 'x')"));
	CU_ASSERT_TRUE(isnan(own("return \"fast\"", why, sizeof why)));
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "t.lua:8: it gives a string, not a number or nil"));
	CU_ASSERT_TRUE(isnan(own("while true do end", why, sizeof why)));
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "t.lua:9: it took more than 100000000 steps"));
	CU_ASSERT_TRUE(isnan(own("return #(\"x\"):rep(1 << 29)", why, sizeof why)));
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "not enough memory"));
}

/* ---- own judges ---------------------------------------------------------------------- */

#define JUDGE(rest) GOOD "shape = { { doc = \"d\", " rest " } }"

static void own_judges_are_read(void)
{
	CU_ASSERT_EQUAL(load_args(JUDGE("judge = function(r, interval) return \"pass\" end"), NULL, 0), BENCH_OK);
	CU_ASSERT_PTR_NOT_NULL(bench_judge_of(&b, 0));
	CU_ASSERT_PTR_NULL(bench_judge_of(&b, 1));
	/* The document says no more of it than the sentence. */
	CU_ASSERT_EQUAL(json_object_size(json_array_get(b.shapes, 0)), 1);
	bench_free(&b);
	complains(JUDGE("judge = 3"), 8, "'judge' needs a function: judge = function(result, interval) ... end");
	complains(JUDGE("judge = (function(x) return function() return x end end)(1)"), 8, "string, table and math, not x");
	complains(JUDGE("judge = function() end, a = { vps = 2, conns = 1 }"), 8, "several things at once");
	complains(JUDGE("judge = function() end, at_least = 1"), 8, "both judge and at_least");
	complains(JUDGE("jugde = function() end"), 8, "unknown parameter 'jugde' (did you mean 'judge'?)");
	complains(GOOD "reference = { { judge = function() end, value = 1 } }", 8, "unknown parameter 'judge'");
}

/* A part whose points have 12 runs each, vps=4 twice the rate of vps=2; verdicts are of the preset. */
static json_t *measured(json_t *doc, const char *preset)
{
	json_t *part = bench_doc_bench(doc, &b, preset), *run = json_object();

	for (unsigned block = 0; block < 12; block++)
		for (unsigned i = 0; i < b.npoints; i++) {
			double rate = (strcmp(b.point[i].value[bench_axis(&b, "vps")], "4") == 0 ? 2 : 1) + 0.001 * block;

			bench_doc_run(part, i, block, run, json_pack("{s:f, s:f}", "gbit", rate, "ns", 1 / rate));
		}
	bench_doc_summarise(part);
	json_decref(run);
	return part;
}

static json_t *judge_shape(const char *more, const char *body, const char *preset)
{
	json_t *doc = json_pack("{s:[]}", "benches"), *part, *shape;
	char keys[1200];
	bool good;

	snprintf(keys, sizeof keys, JUDGE("%s judge = function(result, interval)\n%s\nend"), more, body);
	CU_ASSERT_EQUAL_FATAL(load_args(keys, NULL, 0), BENCH_OK);
	part = measured(doc, preset);
	shape = json_incref(json_array_get(json_object_get(part, "shapes"), 0));
	good = bench_doc_judge(part, &b);
	CU_ASSERT_EQUAL(good, strcmp(bench_text(shape, "verdict"), "fail") != 0);
	bench_free(&b);
	json_decref(doc);
	return shape;
}

static void says(const char *body, const char *verdict, const char *why)
{
	json_t *s = judge_shape("", body, "own");

	CU_ASSERT_STRING_EQUAL(bench_text(s, "verdict"), verdict);
	CU_ASSERT_PTR_NOT_NULL(strstr(bench_text(s, "why"), why));
	if (strstr(bench_text(s, "why"), why) == NULL)
		fprintf(stderr, "# %s\n", bench_text(s, "why"));
	json_decref(s);
}

static void an_own_judge_says_its_verdict(void)
{
	json_t *s;

	says("return \"pass\"", "pass", "");
	says("return \"fail\", \"too slow\"", "fail", "too slow");
	says("return \"undecided\", \"noise\"", "undecided", "noise");
	says("return result.name == \"t\" and #result.points == 6 and #result.points[1].runs == 12 and \"reported\"", "reported", "");
	s = judge_shape("metric = \"ns\",", "local r = interval { a = { vps = 4, conns = 1 }, over = { vps = 2, conns = 1 } }\n"
			"return r.hi < 1 and \"pass\" or \"fail\", nil, r", "own");
	CU_ASSERT_STRING_EQUAL(bench_text(s, "verdict"), "pass");
	CU_ASSERT_DOUBLE_EQUAL(bench_real(s, "value"), 0.5, 0.01);
	CU_ASSERT_TRUE(bench_real(s, "lo") <= bench_real(s, "value") && bench_real(s, "value") <= bench_real(s, "hi"));
	CU_ASSERT_EQUAL(bench_real(s, "pairs"), 12);
	json_decref(s);
	s = judge_shape("", "return \"pass\", \"\", 7", "quick");
	CU_ASSERT_STRING_EQUAL(bench_text(s, "verdict"), "undecided");
	CU_ASSERT_STRING_EQUAL(bench_text(s, "why"), "preset quick: not to conclude from");
	CU_ASSERT_EQUAL(bench_real(s, "value"), 7);
	json_decref(s);
	s = judge_shape("needs_cpus = 100000,", "return \"fail\" .. x", "own");
	CU_ASSERT_STRING_EQUAL(bench_text(s, "verdict"), "not measurable here");
	json_decref(s);
}

static void intervals_are_of_points_that_are_there(void)
{
	says("local v, says, why = interval { a = { vps = 8, conns = 1 } }\nreturn says, why", "undecided", "conns=1 vps=8 was left out");
	says("local v, says, why = interval { a = result.points[1].at, metric = \"mps\" }\nreturn says, why", "not measurable here",
	     "no run can tell mps");
	says("local v = interval { a = { vps = 4, conns = 3 }, minus = { vps = 2, conns = 3 } }\n"
	     "return v.lo > 0.9 and v.hi < 1.1 and \"pass\"", "pass", "");
	says("\nlocal v = interval { a = { vsp = 2 } }", "undecided", "t.lua:10: no axis is called 'vsp'");
	says("local v = interval { a = { vps = 2 } }", "undecided", "t.lua:9: several points are at 'vps=2': name every axis");
	says("local v = interval { over = { vps = 2 } }", "undecided", "t.lua:9: interval needs points");
	says("local v = interval { a = { vps = 2, conns = 1 }, ovre = { vps = 2 } }", "undecided", "t.lua:9: interval knows");
}

/* It errs, ends never or gives nonsense: undecided, with the line. */
static void an_own_judge_that_goes_wrong_leaves_it_undecided(void)
{
	says("return result.z.y", "undecided", "t.lua:9: attempt to index a nil value (field 'z')");
	says("error({})", "undecided", "an error without words");
	says("while true do end", "undecided", "t.lua:9: it took more than 100000000 steps");
	says("return #(\"x\"):rep(1 << 29)", "undecided", "not enough memory");
	says("return 7", "undecided", "t.lua:8: it gives a number, not a verdict (pass, fail, undecided, reported, not measurable here)");
	says("return \"good\"", "undecided", "t.lua:8: it gives 'good', not a verdict");
	says("return nil", "undecided", "t.lua:8: it gives a nil, not a verdict");
	says("return \"pass\", {}", "undecided", "t.lua:8: it gives a table, not a text, for its reason");
	says("return require == nil and io == nil and package == nil and pcall == nil and load == nil and string.dump == nil and\n"
	     "utf8 == nil and coroutine == nil and \"pass\"", "pass", "");
}

/* How many points get one more run at the second look, where own judges are asked. */
static size_t more_runs(const char *body)
{
	json_t *doc = json_pack("{s:[]}", "benches"), *part, *w = NULL;
	char keys[700];
	unsigned block = 0;
	size_t n;

	snprintf(keys, sizeof keys, JUDGE("judge = function(result, interval)\n%s\nend"), body);
	CU_ASSERT_EQUAL_FATAL(load_args(keys, NULL, 0), BENCH_OK);
	part = measured(doc, "own");
	/* An interval needs so many, whatever its judge will say. */
	w = bench_doc_wanted(part, b.min_runs, &b);
	CU_ASSERT_EQUAL(json_array_size(json_object_get(w, "points")), b.npoints);
	for (; block < 40 && !json_is_true(json_object_get(w, "ask")); block++) {
		json_decref(w);
		w = bench_doc_wanted(part, block, NULL);
	}
	CU_ASSERT_EQUAL(json_array_size(json_object_get(w, "points")), 0);
	json_decref(w);
	w = bench_doc_wanted(part, block - 1, &b);
	n = json_array_size(json_object_get(w, "points"));
	json_decref(w);
	json_decref(doc);
	bench_free(&b);
	return n;
}

static void an_undecided_own_judge_gets_more_runs_of_all_points(void)
{
	CU_ASSERT_EQUAL(more_runs("return \"undecided\""), 6);
	CU_ASSERT_EQUAL(more_runs("return \"pass\""), 0);
	CU_ASSERT_EQUAL(more_runs("return \"reported\""), 0);
	/* No number of runs mends it. */
	CU_ASSERT_EQUAL(more_runs("return result.z.y"), 0);
}

/* `show` has no bench file. */
static void without_the_file_what_a_judge_said_stays(void)
{
	json_t *doc = json_pack("{s:[]}", "benches"), *part, *shape, *before;

	CU_ASSERT_EQUAL_FATAL(load_args(JUDGE("judge = function() return \"fail\", \"why\", { value = 2, lo = 1, hi = 3, pairs = 5 } end"),
					NULL, 0), BENCH_OK);
	part = measured(doc, "own");
	shape = json_array_get(json_object_get(part, "shapes"), 0);
	CU_ASSERT_TRUE(bench_doc_judge(part, NULL));
	CU_ASSERT_STRING_EQUAL(bench_text(shape, "verdict"), "undecided");
	CU_ASSERT_STRING_EQUAL(bench_text(shape, "why"), "its judge is in the bench file");
	CU_ASSERT_FALSE(bench_doc_judge(part, &b));
	before = json_deep_copy(shape);
	bench_doc_review(doc);
	CU_ASSERT_TRUE(json_equal(before, shape));
	CU_ASSERT_EQUAL(bench_real(shape, "pairs"), 5);
	/* A resumed result whose shapes are others than the file's: no judge of the wrong one. */
	json_object_set_new(shape, "doc", json_string("another"));
	json_object_del(shape, "verdict");
	CU_ASSERT_TRUE(bench_doc_judge(part, &b));
	CU_ASSERT_STRING_EQUAL(bench_text(shape, "verdict"), "undecided");
	json_decref(before);
	json_decref(doc);
	bench_free(&b);
}

static CU_TestInfo tests[] = {
	{ "own judges are read", own_judges_are_read },
	{ "an own judge says its verdict", an_own_judge_says_its_verdict },
	{ "intervals are of points that are there", intervals_are_of_points_that_are_there },
	{ "an own judge that goes wrong leaves it undecided", an_own_judge_that_goes_wrong_leaves_it_undecided },
	{ "an undecided own judge gets more runs of all points", an_undecided_own_judge_gets_more_runs_of_all_points },
	{ "without the file what a judge said stays", without_the_file_what_a_judge_said_stays },
	{ "own metrics are named and computed", own_metrics_are_named_and_computed },
	{ "a function of a bench file has no world", a_function_of_a_bench_file_has_no_world },
	{ "a sweep means all combinations", a_sweep_means_all_combinations },
	{ "points are taken as listed", points_are_taken_as_listed },
	{ "the estimate counts every run", the_estimate_counts_every_run },
	{ "an argument that is an axis keeps its points", an_argument_that_is_an_axis_keeps_its_points },
	{ "unknown keys get a suggestion", unknown_keys_get_a_suggestion },
	{ "values are checked against the argument", values_are_checked_against_the_argument },
	{ "wrong types and missing keys are told", wrong_types_and_missing_keys_are_told },
	{ "curves are lists of points", curves_are_lists_of_points },
	{ "what is absent is taken out and excuses its shapes", what_is_absent_is_taken_out_and_excuses_its_shapes },
	{ "shapes name points that exist", shapes_name_points_that_exist },
	{ "all complaints come at once", all_complaints_come_at_once },
	{ "a graph alone is no bench", a_graph_alone_is_no_bench },
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static CU_SuiteInfo suites[] = { { .pName = "bench files", .pTests = tests }, CU_SUITE_INFO_NULL };

	return xk_test_main(suites);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_bench_papers.c - orders, trends, knees, crossings and onsets on curves with known
 * answers; metrics in the papers' units; the catalogue of figures.
 */
#include <CUnit/CUnit.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/xk_test.h"
#include "tools/vp-bench/bench_lua.h"
#include "tools/vp-bench/bench_papers.h"

/* ---- curves ------------------------------------------------------------------------ */

static struct bench b;
static json_t *doc, *part;

#define CURVE "{ k = 1, n = 1 }, { k = 1, n = 2 }, { k = 1, n = 4 }, { k = 1, n = 8 }"
#define OTHER "{ k = 2, n = 1 }, { k = 2, n = 2 }, { k = 2, n = 4 }, { k = 2, n = 8 }"

static void begin(const char *shape)
{
	char text[2048];

	snprintf(text, sizeof text, "local a = args { k = uint { 1 }, n = uint { 1 } }\nicmp { over = stack { ip { addr = "
		 "\"10.0.0.1/8\" }, arp {}, eth {}, eth_mem {} } }\nreturn bench \"t\" { graph = graph \"g\" { threading = "
		 "up { } },\nmetric = \"gbit\", x = \"n\", sweep = { k = { 1, 2 }, n = { 1, 2, 4, 8 } },\nshape = { { doc = \"d\", %s } } }",
		 shape);
	CU_ASSERT_EQUAL_FATAL(bench_load_text(&b, "t.lua", text, NULL, 0), BENCH_OK);
	doc = bench_doc_new();
	part = bench_doc_bench(doc, &b, "own");
}

static void finish(void)
{
	json_decref(doc);
	bench_free(&b);
}

static const json_t *shape_of(void)
{
	return json_array_get(json_object_get(part, "shapes"), 0);
}

/* v: curve k=1 at 1, 2, 4, 8, then k=2; each measured 12 times, one in a hundred apart. */
static void measured(const double *v)
{
	json_t *none = json_object();

	for (unsigned p = 0; p < 8; p++)
		for (unsigned i = 0; i < 12; i++)
			bench_doc_run(part, p, i, none, json_pack("{s:f}", "gbit", v[p] * (1 + 0.002 * i)));
	json_decref(none);
	bench_doc_summarise(part);
}

static void judged(const char *shape, const double *v, const char *verdict, double value)
{
	begin(shape);
	measured(v);
	CU_ASSERT_EQUAL(bench_doc_judge(part, NULL), strcmp(verdict, "fail") != 0);
	CU_ASSERT_STRING_EQUAL(bench_text(shape_of(), "verdict"), verdict);
	if (!isnan(value))
		CU_ASSERT_DOUBLE_EQUAL(bench_real(shape_of(), "value"), value, 1e-6);
	finish();
}

static void an_order_is_as_good_as_its_worst_step(void)
{
	static const double falling[8] = { 8, 4, 3.9, 1, 1, 1, 1, 1 }, bump[8] = { 8, 4, 5, 1, 1, 1, 1, 1 };

	judged("order = { " CURVE " }", falling, "pass", 4 / 3.9);
	judged("order = { " CURVE " }", bump, "fail", 0.8);
	judged("order = { " CURVE " }, within = 0.25", bump, "pass", 0.8);
	judged("rises = { " CURVE " }", falling, "fail", 0.25 * 4 / 3.9);
}

static void a_trend_rises_and_may_begin_at_nothing(void)
{
	static const double rising[8] = { 1, 2, 3, 5, 1, 1, 1, 1 }, from_zero[8] = { 0, 2, 3, 5, 1, 1, 1, 1 };

	judged("rises = { " CURVE " }", rising, "pass", 1.5);
	/* From nothing any step is a large ratio: it needs one in the metric's own unit. */
	judged("rises = { " CURVE " }", from_zero, "undecided", NAN);
	judged("rises = { " CURVE " }, step = 0.5", from_zero, "pass", NAN);
	judged("rises = { " CURVE " }, step = 1.5", from_zero, "fail", NAN);
	judged("order = { { k = 1, n = 2 }, { k = 1, n = 1 } }", from_zero, "undecided", NAN);
	judged("order = { { k = 1, n = 2 }, { k = 1, n = 1 } }, step = 1", from_zero, "pass", NAN);
	judged("order = { { k = 1, n = 2 }, { k = 1, n = 1 } }, step = 3", from_zero, "fail", NAN);
	judged("rises = { " CURVE " }", (const double[8]){ 5, 3, 2, 1, 1, 1, 1, 1 }, "fail", NAN);
}

static void a_knee_is_where_the_last_gain_ends(void)
{
	static const double knee[8] = { 1, 2, 2.02, 2.03, 1, 1, 1, 1 }, late[8] = { 1, 2, 2, 4, 1, 1, 1, 1 };

	judged("knee = { " CURVE " }", knee, "reported", 2);
	judged("knee = { " CURVE " }, at_most = 4", knee, "pass", 2);
	judged("knee = { " CURVE " }, at_most = 4", late, "fail", 8);
	judged("knee = { " CURVE " }, within = 0.005", knee, "reported", 4);
	judged("knee = { " CURVE " }", (const double[8]){ 1, 1, 1, 1, 1, 1, 1, 1 }, "reported", 1);
}

static void a_crossing_is_where_a_is_above_for_good(void)
{
	static const double from4[8] = { 1, 2, 4, 8, 3, 3, 3, 3 }, twice[8] = { 4, 2, 4, 8, 3, 3, 3, 3 };
	static const double never[8] = { 1, 1, 1, 1, 3, 3, 3, 3 };
#define CROSS "crossing = { a = { " CURVE " }, over = { " OTHER " } }"

	judged(CROSS, from4, "reported", 4);
	judged(CROSS ", at_most = 4", from4, "pass", 4);
	judged(CROSS ", at_most = 2", from4, "fail", 4);
	judged(CROSS, twice, "reported", 4);
	judged(CROSS, never, "fail", NAN);
	/* Above everywhere is no crossing, nor is a curve that touches the other. */
	judged(CROSS ", at_most = 4", (const double[8]){ 9, 9, 9, 9, 3, 3, 3, 3 }, "fail", NAN);
	judged(CROSS ", at_most = 4", (const double[8]){ 3, 3, 3, 9, 3, 3, 3, 3 }, "undecided", NAN);
	judged(CROSS ", at_most = 4", (const double[8]){ 1, 3, 3, 3, 3, 3, 3, 3 }, "undecided", NAN);
	judged(CROSS ", at_most = 4", (const double[8]){ 1, 9, 9, 1, 3, 3, 3, 3 }, "fail", NAN);
}

static void an_onset_is_where_a_curve_falls_for_good(void)
{
	/* What k=2 does in each: falls at 4. */
#define AT_4 10, 10, 8, 7
#define ONSET "onset = { a = { " CURVE " }, over = { " OTHER " } }"
	judged(ONSET, (const double[8]){ 10, 8, 7, 6, AT_4 }, "pass", 2);
	judged(ONSET, (const double[8]){ 10, 9.8, 7, 6, AT_4 }, "pass", 4);
	judged(ONSET, (const double[8]){ 10, 10, 10, 6, AT_4 }, "fail", 8);
	judged(ONSET, (const double[8]){ 10, 10, 10, 10, AT_4 }, "fail", NAN);
	/* A dip is no onset, and as much as is within is none. */
	judged(ONSET, (const double[8]){ 10, 8, 10, 6, AT_4 }, "fail", 8);
	judged(ONSET ", within = 0.35", (const double[8]){ 10, 8, 7, 6, AT_4 }, "pass", 8);
	judged(ONSET, (const double[8]){ 10, 8, 7, 6, 1, 1, 1, 1 }, "pass", 2);
	/* Two curves that do not fall are no comparison. */
	judged(ONSET, (const double[8]){ 10, 10, 10, 10, 1, 1, 1, 1 }, "undecided", NAN);
}

static void a_curve_that_lacks_a_point_is_not_measured(void)
{
	begin("order = { " CURVE " }");
	CU_ASSERT_TRUE(bench_doc_judge(part, NULL));
	CU_ASSERT_STRING_EQUAL(bench_text(shape_of(), "verdict"), "undecided");
	finish();
}

/* ---- figures -------------------------------------------------------------------------- */

static void a_figure_passes_only_when_all_that_can_be_measured_does(void)
{
	static const struct { const char *verdict[3], *all; } cases[] = {
		{ { "pass", "pass", "pass" }, "pass" }, { { "pass", "undecided", "pass" }, "undecided" },
		{ { "undecided", "fail", "pass" }, "fail" }, { { "pass", "not measurable here", "reported" }, "pass" },
		{ { "not measurable here", "not measurable here", "reported" }, "not measurable here" },
		{ { "reported", "reported", "reported" }, "reported" },
	};

	for (unsigned i = 0; i < XK_ARRAY_LEN(cases); i++) {
		json_t *list = json_array(), *v;
		char why[200] = "";

		for (unsigned k = 0; k < 3; k++)
			json_array_append_new(list, json_pack("{s:s, s:s}", "doc", "d", "verdict", cases[i].verdict[k]));
		v = bench_lua_call("judge", "figure", &list, 1, why, sizeof why);
		CU_ASSERT_STRING_EQUAL(bench_text(v, "verdict"), cases[i].all);
		json_decref(v);
		json_decref(list);
	}
}

/* ---- metrics --------------------------------------------------------------------------- */

static json_t *of_work(json_t *child)
{
	char why[400];
	json_t *m = bench_lua_call("metrics", "of_work", &child, 1, why, sizeof why);

	CU_ASSERT_PTR_NOT_NULL_FATAL(m);
	return m;
}

static void metrics_are_in_the_papers_units(void)
{
	json_t *m, *child = json_pack(
		"{s:i, s:i, s:[{s:i, s:i}, {s:i, s:i}], s:[{s:s, s:i, s:i, s:i}, {s:s, s:i, s:i, s:i}]}", "messages", 1000,
		"bytes", 4000000, "workers", "voluntary_switches", 10, "involuntary_switches", 2, "voluntary_switches", 40,
		"involuntary_switches", 0, "locks", "class", "vp", "taken", 900, "contended", 9, "wait_ns", 3000000,
		"class", "table", "taken", 100, "contended", 50, "wait_ns", 2000000);

	m = of_work(child);
	CU_ASSERT_DOUBLE_EQUAL(bench_real(m, "voluntary_20k"), 1000, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(bench_real(m, "involuntary_20k"), 40, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(bench_real(m, "switches_kb"), 52.0 / 4000, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(bench_real(m, "lock_ms_20k"), 100, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(bench_real(m, "contended"), 5.9, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(bench_real(m, "global_contended"), 50, 1e-9);
	CU_ASSERT_TRUE(json_is_null(json_object_get(m, "locking_ms_20k")));
	CU_ASSERT_TRUE(json_is_null(json_object_get(m, "meeting_ms_20k")));
	CU_ASSERT_TRUE(json_is_null(json_object_get(m, "run_delay_kb")));
	CU_ASSERT_TRUE(json_is_null(json_object_get(m, "misses_kb")));
	json_array_remove(json_object_get(child, "locks"), 1);
	json_decref(m);
	m = of_work(child);
	CU_ASSERT_DOUBLE_EQUAL(bench_real(m, "global_contended"), 1, 1e-9);
	json_decref(child);
	json_decref(m);
}

static void time_waited_is_of_locks_and_of_both_conditions(void)
{
	json_t *m, *child = json_pack(
		"{s:i, s:i, s:[{s:s, s:i}], s:[{s:{s:i, s:i}}, {s:{s:i, s:i}}]}", "messages", 1000, "bytes", 4000000,
		"locks", "class", "vp", "wait_ns", 1000000, "vps", "stage", "full_ns", 2000000, "empty_ns", 0,
		"stage", "full_ns", 1000000, "empty_ns", 4000000);

	m = of_work(child);
	CU_ASSERT_DOUBLE_EQUAL(bench_real(m, "lock_ms_20k"), 20, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(bench_real(m, "full_ms_20k"), 60, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(bench_real(m, "empty_ms_20k"), 80, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(bench_real(m, "sync_ms_20k"), 160, 1e-9);
	json_decref(child);
	json_decref(m);
}

static void simulated_threads_have_times_in_locks_and_of_meeting(void)
{
	json_t *m, *child = json_pack("{s:i, s:i, s:[{s:i, s:i}, {s:i, s:i}], s:[]}", "messages", 1000, "bytes", 4000000,
				      "workers", "locking_ns", 1000000, "meeting_ns", 0, "locking_ns", 2000000, "meeting_ns", 500000,
				      "locks");

	m = of_work(child);
	CU_ASSERT_DOUBLE_EQUAL(bench_real(m, "locking_ms_20k"), 60, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(bench_real(m, "meeting_ms_20k"), 10, 1e-9);
	json_decref(child);
	json_decref(m);
}

/* ---- the catalogue ---------------------------------------------------------------------- */

static const char *seeds(void)
{
	static char path[2048];

	snprintf(path, sizeof path, "%s/graphs/seeds", getenv("top_srcdir") ? getenv("top_srcdir") : ".");
	return path;
}

static struct papers p;

static const char *title_of(const char *name)
{
	for (unsigned i = 0; i < p.n; i++)
		if (strcmp(p.entry[i].name, name) == 0)
			return bench_text(p.entry[i].e, "title");
	return NULL;
}

static void every_figure_and_table_of_the_papers_is_there(void)
{
	static const struct { const char *paper, *kind; unsigned last; } all[] = {
		{ "schmidt1996", "fig", 28 }, { "yates1996", "fig", 15 }, { "willmann2006", "fig", 2 }, { "willmann2006", "table", 3 },
		{ "salehi1995", "fig", 13 }, { "salehi1995", "table", 3 }, { "park1998", "fig", 13 }, { "park1998", "table", 1 } };
	char why[4400], name[32];

	CU_ASSERT_TRUE_FATAL(papers_load(&p, seeds(), why, sizeof why));
	for (unsigned i = 0; i < XK_ARRAY_LEN(all); i++)
		for (unsigned k = 1; k <= all[i].last; k++) {
			snprintf(name, sizeof name, "%s.%s%u", all[i].paper, all[i].kind, k);
			CU_ASSERT_PTR_NOT_NULL(title_of(name));
		}
	papers_free(&p);
}

static bool tagged_exists(const json_t *list)
{
	const json_t *v, *name;
	size_t i, k;
	bool good = true;

	json_array_foreach(list, i, v)
		json_array_foreach(json_object_get(v, "figure"), k, name) {
			good &= title_of(json_string_value(name)) != NULL;
			if (!good)
				fprintf(stderr, "# no figure %s\n", json_string_value(name));
		}
	return good;
}

/* In how many figures is the i-th one's f-th file? */
static unsigned sharers(unsigned i, unsigned f)
{
	char file[4096], other[4096];
	unsigned n = 0;

	papers_file(&p, &p.entry[i], f, file, sizeof file);
	for (unsigned k = 0; k < p.n; k++)
		for (unsigned o = 0; papers_file(&p, &p.entry[k], o, other, sizeof other) != NULL; o++)
			n += strcmp(file, other) == 0;
	return n;
}

static bool within_twice(double bound, double reference)
{
	return isnan(bound) || (bound <= 2 * reference * 1.01 && bound >= reference / 2.02);
}

/* A ratio has two bounds, near the paper's ratio, or says because; where figures share a file it names its own. */
static void one_figure_each(const struct bench *x, unsigned i, unsigned f)
{
	const json_t *s;
	size_t k;

	json_array_foreach(x->shapes, k, s) {
		double lo = bench_real(s, "at_least"), hi = bench_real(s, "at_most"), reference = bench_real(s, "reference");
		bool ratio = json_object_get(s, "over") != NULL, says = *bench_text(s, "because") != '\0';
		bool good = sharers(i, f) == 1 || json_array_size(json_object_get(s, "figure")) == 1;

		good &= !ratio || (isnan(lo) && isnan(hi)) || says || (!isnan(lo) && !isnan(hi));
		good &= !ratio || says || isnan(reference) || (within_twice(lo, reference) && within_twice(hi, reference));
		CU_ASSERT_TRUE(good);
		if (!good)
			fprintf(stderr, "# %s: \"%s\"\n", x->file, bench_text(s, "doc"));
	}
}

/* Its file loads, its metrics are known, and narrowed to it points or reasons are left. */
static void whole(unsigned i)
{
	size_t expectations = 0;
	bool chosen[PAPERS_MAX] = { false };
	char path[4096], why[400];
	const json_t *m;
	size_t k;

	chosen[i] = true;
	json_array_foreach(json_object_get(p.entry[i].e, "metrics"), k, m)
		CU_ASSERT_PTR_NOT_NULL(bench_metric_find(json_string_value(m)));
	for (unsigned f = 0; papers_file(&p, &p.entry[i], f, path, sizeof path) != NULL; f++) {
		struct bench x;

		CU_ASSERT_EQUAL(bench_load(&x, path, NULL, 0), BENCH_OK);
		if (xk_errs_count(x.e) != 0)
			bench_print_errors(&x);
		CU_ASSERT_TRUE(tagged_exists(x.shapes) && tagged_exists(x.reference));
		CU_ASSERT_TRUE_FATAL(papers_narrow(&p, chosen, &x, why, sizeof why));
		CU_ASSERT_TRUE(x.npoints != 0 || papers_missing(&p.entry[i]) != NULL);
		expectations += json_array_size(x.shapes);
		one_figure_each(&x, i, f);
		bench_free(&x);
	}
	CU_ASSERT_TRUE(expectations != 0 || *bench_text(p.entry[i].e, "not_measured") != '\0');
}

static void every_entry_has_files_that_load_and_expectations(void)
{
	char why[4400];

	CU_ASSERT_TRUE_FATAL(papers_load(&p, seeds(), why, sizeof why));
	for (unsigned i = 0; i < p.n; i++)
		whole(i);
	papers_free(&p);
}

static void names_are_found_in_any_case_and_whole_papers_too(void)
{
	bool chosen[PAPERS_MAX] = { false };
	char why[4400];

	CU_ASSERT_TRUE_FATAL(papers_load(&p, seeds(), why, sizeof why));
	CU_ASSERT_EQUAL(papers_choose(&p, "Schmidt1996.FIG8", chosen), 1);
	CU_ASSERT_EQUAL(papers_choose(&p, "willmann2006", chosen), 9);
	CU_ASSERT_EQUAL(papers_choose(&p, "all", chosen), p.n);
	CU_ASSERT_EQUAL(papers_choose(&p, "nobody1999", chosen), 0);
	papers_free(&p);
}

static void a_bad_catalogue_is_told(void)
{
	static const struct { const char *text, *words; } bad[] = {
		{ "{", "papers.json:1" }, { "{ \"papers\": [] }", "no papers" },
		{ "{ \"papers\": [ { \"id\": \"X\", \"entries\": [ { \"name\": \"f\" } ] } ] }", "X.f has no name or no title" },
		{ "{ \"papers\": [ { \"id\": \"X\", \"entries\": [ { \"name\": \"f\", \"title\": \"t\" } ] } ] }", "neither files" },
		{ "{ \"papers\": [ { \"id\": \"X\", \"entries\": [ { \"name\": \"f\", \"title\": \"t\", \"files\": 7 } ] } ] }",
		  "lists of texts" },
		{ "{ \"papers\": [ { \"id\": \"X\", \"entries\": [ { \"name\": \"f\", \"title\": \"t\", \"files\": [\"a\"] },"
		  "{ \"name\": \"F\", \"title\": \"t\", \"files\": [\"a\"] } ] } ] }", "there twice" },
		{ "{ \"papers\": [ { \"id\": \"X\", \"beside\": [ { \"measured\": \"a\" } ] } ] }", "beside, number 1 needs the files" },
		{ "{ \"papers\": [ { \"id\": \"X\", \"beside\": [ { \"measured\": \"a\", \"simulated\": \"b\" } ] } ] }",
		  "beside, number 1 needs over" },
	};
	char dir[] = "/tmp/papersXXXXXX", path[64], why[4400];

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/papers.json", dir);
	for (unsigned i = 0; i < XK_ARRAY_LEN(bad); i++) {
		FILE *f = fopen(path, "w");

		fputs(bad[i].text, f);
		fclose(f);
		CU_ASSERT_FALSE(papers_load(&p, dir, why, sizeof why));
		CU_ASSERT_PTR_NOT_NULL(strstr(why, bad[i].words));
		papers_free(&p);
	}
	unlink(path);
	rmdir(dir);
}

static CU_TestInfo curve_tests[] = {
	{ "an order is as good as its worst step", an_order_is_as_good_as_its_worst_step },
	{ "a trend rises, and may begin at nothing", a_trend_rises_and_may_begin_at_nothing },
	{ "a knee is where the last gain ends", a_knee_is_where_the_last_gain_ends },
	{ "a crossing is where a is above for good", a_crossing_is_where_a_is_above_for_good },
	{ "an onset is where a curve falls for good", an_onset_is_where_a_curve_falls_for_good },
	{ "a curve that lacks a point is not measured", a_curve_that_lacks_a_point_is_not_measured },
	{ "a figure passes only when all that can be measured does", a_figure_passes_only_when_all_that_can_be_measured_does },
	{ "metrics are in the papers' units", metrics_are_in_the_papers_units },
	{ "time waited is of locks and of both Conditions", time_waited_is_of_locks_and_of_both_conditions },
	{ "simulated threads have times in locks and of meeting", simulated_threads_have_times_in_locks_and_of_meeting },
	CU_TEST_INFO_NULL
};
static CU_TestInfo paper_tests[] = {
	{ "every figure and table of the papers is there", every_figure_and_table_of_the_papers_is_there },
	{ "every entry has files that load, and expectations", every_entry_has_files_that_load_and_expectations },
	{ "names are found in any case, and whole papers, too", names_are_found_in_any_case_and_whole_papers_too },
	{ "a bad catalogue is told", a_bad_catalogue_is_told },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ .pName = "curves", .pTests = curve_tests }, { .pName = "papers", .pTests = paper_tests }, CU_SUITE_INFO_NULL };

int main(void)
{
	return xk_test_main(suites);
}

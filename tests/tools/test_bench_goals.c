/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_bench_goals.c - the scoreboard's own judgement: a goal holds or misses by its whole
 * interval, over a range by its worst point, and what other programs had of two processors is
 * read off the kernel's table.
 */
#include <CUnit/CUnit.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/xk_test.h"
#include "tools/vp-bench/bench_goals.h"
#include "tools/vp-bench/bench_lua.h"

#define ENOUGH 7u

static void check(enum goal_sense sense, double lo, double hi, unsigned pairs, enum goal_verdict is)
{
	static const char *const word[] = { [GOAL_TIME] = "time", [GOAL_RATE] = "rate", [GOAL_VALUE] = "value" };
	bool less = sense == GOAL_VALUE;
	json_t *args[] = { json_pack("{s:s, s:i, s:i}", "sense", word[sense], "target", less ? 3 : 2, "stretch", less ? 2 : 3),
			   json_integer(pairs), json_real(lo), json_real(hi) };
	char why[400], *said = bench_lua_text("goals", "verdict", args, 4, why, sizeof why);

	CU_ASSERT_PTR_NOT_NULL_FATAL(said);
	CU_ASSERT_STRING_EQUAL(said, goal_verdicts[is]);
	free(said);
	for (unsigned i = 0; i < 4; i++)
		json_decref(args[i]);
}

static void the_whole_interval_decides_a_ratio(void)
{
	static const enum goal_sense ratios[] = { GOAL_TIME, GOAL_RATE };

	for (unsigned i = 0; i < 2; i++) {
		check(ratios[i], 2.0, 2.9, ENOUGH, GOAL_HOLDS);
		check(ratios[i], 1.999, 2.9, ENOUGH, GOAL_CANNOT_SAY);   /* its middle is above the target */
		check(ratios[i], 1.5, 2.0, ENOUGH, GOAL_CANNOT_SAY);     /* its end is at the target */
		check(ratios[i], 1.5, 1.999, ENOUGH, GOAL_MISSES);
		check(ratios[i], 3.0, 9.0, ENOUGH, GOAL_HOLDS_STRETCH);
		check(ratios[i], 2.999, 9.0, ENOUGH, GOAL_HOLDS);
		check(ratios[i], 1.0, 9.0, ENOUGH, GOAL_CANNOT_SAY);
	}
}

static void the_whole_interval_decides_a_value_of_which_less_is_better(void)
{
	check(GOAL_VALUE, 2.1, 3.0, ENOUGH, GOAL_HOLDS);
	check(GOAL_VALUE, 2.1, 3.001, ENOUGH, GOAL_CANNOT_SAY);
	check(GOAL_VALUE, 3.0, 4.0, ENOUGH, GOAL_CANNOT_SAY);
	check(GOAL_VALUE, 3.001, 4.0, ENOUGH, GOAL_MISSES);
	check(GOAL_VALUE, 0.0, 2.0, ENOUGH, GOAL_HOLDS_STRETCH);
}

static void few_pairs_decide_nothing(void)
{
	check(GOAL_TIME, 100, 100, 4, GOAL_CANNOT_SAY);
	check(GOAL_TIME, 0.1, 0.1, 4, GOAL_CANNOT_SAY);
	check(GOAL_TIME, 100, 100, 5, GOAL_HOLDS_STRETCH);
}

/* A side of one value, or of two in turn. */
static enum goal_fault said(struct goals *g, const struct goal_side *s, double *v, char *why)
{
	static unsigned calls;

	(void)g;
	(void)why;
	*v = atof(s->arg[s->arg[1] != NULL ? calls++ % 2 : 0]);
	return SIDE_OK;
}

#define SIDE(...)  { .measure = said, .arg = { __VA_ARGS__ } }
#define POINT(name, lo, ...) \
	{ .id = "row/" name, .what = "w", .unit = "ns", .sense = GOAL_TIME, .target = 2, .stretch = 3, \
	  .ours = SIDE("1"), .reference = SIDE(lo, ##__VA_ARGS__) }
#define VALUE(name, v) \
	{ .id = "row/" name, .what = "w", .unit = "ns", .sense = GOAL_VALUE, .target = 2, .stretch = 1, \
	  .ours = SIDE(v), .reference = SIDE("1") }

/* The row is as its point `worst` is. */
static void over_points(const struct goal *point, unsigned n, enum goal_verdict is, const char *worst)
{
	struct goal row = { .id = "row", .what = "w", .unit = "ns", .sense = point->sense, .target = 2, .stretch = 3,
			    .point = point, .npoints = n };
	struct goals g = { .pairs = 1, .point_pairs = 5 };
	struct goal_result r;

	goal_measure_row(&g, &row, &r);
	CU_ASSERT_EQUAL(r.verdict, is);
	CU_ASSERT_STRING_EQUAL(r.points[r.worst].row->id, worst);
	CU_ASSERT_EQUAL(r.ratio, r.points[r.worst].ratio);
	CU_ASSERT_PTR_EQUAL(r.row, &row);
	CU_ASSERT_EQUAL(g.interrupted, false);
	goal_result_end(&r);
}

static void the_worst_point_decides_a_range(void)
{
	static const struct goal hold[] = { POINT("a", "9"), POINT("b", "2.5"), POINT("c", "4") };
	static const struct goal stretch[] = { POINT("a", "9"), POINT("b", "3.5"), POINT("c", "4") };
	static const struct goal unsaid[] = { POINT("a", "9"), POINT("b", "2.5"), POINT("c", "1", "4") };
	static const struct goal missed[] = { POINT("a", "1", "4"), POINT("b", "2.5"), POINT("c", "1.9"), POINT("d", "1.95") };

	over_points(hold, 3, GOAL_HOLDS, "row/b");
	over_points(stretch, 3, GOAL_HOLDS_STRETCH, "row/b");
	over_points(unsaid, 3, GOAL_CANNOT_SAY, "row/c");
	over_points(missed, 4, GOAL_MISSES, "row/c");            /* not row/a, which is lower at times */
}

static void the_largest_of_values_decides_a_range(void)
{
	static const struct goal values[] = { VALUE("a", "1.2"), VALUE("b", "1.8"), VALUE("c", "1.5") };

	over_points(values, 3, GOAL_HOLDS, "row/b");
}

static void a_range_with_a_point_that_was_not_measured_does_not_hold(void)
{
	struct goal points[] = { POINT("a", "9"), POINT("b", "9"), POINT("c", "9") };

	points[1].reference.lacks_text = "no such program";
	over_points(points, 3, GOAL_UNMEASURED, "row/b");
	points[2].reference.arg[0] = "1";
	over_points(points, 3, GOAL_MISSES, "row/c");
}

/* user nice system idle iowait irq softirq steal guest guest_nice, in ticks */
static const char table[] =
	"cpu  9999 9999 9999 9999 9999 9999 9999 9999 0 0\n"
	"cpu0 100 20 30 4000 50 6 7 8 0 0\n"
	"cpu1 1 2 3 4 5 6 7 8 0 0\n"
	"cpu11 1000000 0 0 0 0 0 0 0 0 0\n"
	"intr 5 5 5 5 5 5 5 5 5\n";

static double busy(const char *text, int x, int y)
{
	FILE *f = fmemopen((char *)(uintptr_t)text, strlen(text), "r");
	double s;

	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	s = goal_busy_of(f, x, y) * (double)sysconf(_SC_CLK_TCK);
	fclose(f);
	return s;
}

static void idle_time_and_other_processors_do_not_count_as_busy(void)
{
	CU_ASSERT_DOUBLE_EQUAL(busy(table, 0, 0), 100 + 20 + 30 + 6 + 7 + 8, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(busy(table, 0, 1), 171 + 1 + 2 + 3 + 6 + 7 + 8, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(busy(table, 2, 3), 0, 0);
	CU_ASSERT_DOUBLE_EQUAL(busy("cpu0 1 2 3\n", 0, 1), 0, 0);       /* an older kernel's line */
	CU_ASSERT_DOUBLE_EQUAL(goal_busy_of(NULL, 0, 1), 0, 0);
}

static void what_runs_beside_a_side_ends_with_it(void)
{
	struct goal_beside b;
	int pid[2];

	goal_beside_begin(&b, 2);
	CU_ASSERT_EQUAL_FATAL(b.n, 2);
	memcpy(pid, b.pid, sizeof pid);
	CU_ASSERT(kill(pid[0], 0) == 0 && kill(pid[1], 0) == 0);
	goal_beside_end(&b);
	CU_ASSERT(kill(pid[0], 0) != 0 && kill(pid[1], 0) != 0);
}

/* Two rows as people read them; what was not measured and what cannot be said is counted. */
static void the_table_says_all_of_a_row(void)
{
	static const struct goal rows[] = {
		{ .id = "udp/lwip", .what = "ours / theirs", .unit = "ns", .sense = GOAL_TIME, .target = 2, .stretch = 3 },
		{ .id = "udp/kernel", .what = "bytes", .unit = "B", .sense = GOAL_VALUE, .target = 2e6, .stretch = 1.5 },
	};
	const struct goal_result r[] = {
		{ .row = &rows[0], .ours = 123.4, .reference = 2.5, .ratio = 1.25, .lo = 1.2, .hi = 2.1, .have_ours = true,
		  .have_ratio = true, .verdict = GOAL_CANNOT_SAY, .pairs = 7 },
		{ .row = &rows[1], .verdict = GOAL_UNMEASURED, .note = "no device" },
	};
	json_t *doc = goals_json(r, 2);
	char why[200] = "", *text = bench_lua_text("goals", "table", &doc, 1, why, sizeof why);

	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "\nudp/lwip               123       2.5  ns             1.250  1.200..2.100"
				      "      >= 2          3  cannot say   ours / theirs\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "\nudp/kernel               -         -  B                  -  -           "
				      "      <= 2e+06    1.5  not measured bytes\n                   no device\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "\n0 hold, 0 miss, 1 cannot say, 1 not measured\ncannot say: udp/lwip (the target"));
	free(text);
	json_decref(doc);
}

static void the_table_says_over_what_a_row_was_measured(void)
{
	static const struct goal points[] = { POINT("mtu/64", "9"), POINT("mtu/4096", "2.5") };
	static const struct goal row = { .id = "row", .what = "w", .unit = "ns", .sense = GOAL_TIME, .target = 2, .stretch = 3,
		.point = points, .npoints = 2, .range = "two sizes" };
	struct goals g = { .point_pairs = 5 };
	struct goal_result r;
	json_t *args[2] = { NULL, NULL };
	char why[200] = "", *text;

	goal_measure_row(&g, &row, &r);
	args[0] = goals_json(&r, 1);
	text = bench_lua_text("goals", "table", args, 1, why, sizeof why);
	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "\n                   worst of 2 points: mtu/4096; over two sizes\n"));
	CU_ASSERT_PTR_NULL(strstr(text, "mtu/64"));
	free(text);
	args[1] = json_true();
	text = bench_lua_text("goals", "table", args, 2, why, sizeof why);
	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "\n  mtu/64 "));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "\n  mtu/4096 "));
	free(text);
	json_decref(args[0]);
	goal_result_end(&r);
}

static CU_TestInfo tests[] = {
	{ "the whole interval decides a ratio", the_whole_interval_decides_a_ratio },
	{ "the whole interval decides a value of which less is better",
	  the_whole_interval_decides_a_value_of_which_less_is_better },
	{ "few pairs decide nothing", few_pairs_decide_nothing },
	{ "idle time and other processors do not count as busy", idle_time_and_other_processors_do_not_count_as_busy },
	{ "what runs beside a side ends with it", what_runs_beside_a_side_ends_with_it },
	{ "the worst point decides a range", the_worst_point_decides_a_range },
	{ "the largest of values decides a range", the_largest_of_values_decides_a_range },
	{ "a range with a point that was not measured does not hold",
	  a_range_with_a_point_that_was_not_measured_does_not_hold },
	{ "the table says all of a row", the_table_says_all_of_a_row },
	{ "the table says over what a row was measured", the_table_says_over_what_a_row_was_measured },
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static CU_SuiteInfo suites[] = { { .pName = "bench goals", .pTests = tests }, CU_SUITE_INFO_NULL };

	return xk_test_main(suites);
}

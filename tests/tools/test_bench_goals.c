/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_bench_goals.c - the scoreboard's own judgement: a goal holds or misses by its whole
 * interval, and what other programs had of two processors is read off the kernel's table.
 */
#include <CUnit/CUnit.h>
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

static CU_TestInfo tests[] = {
	{ "the whole interval decides a ratio", the_whole_interval_decides_a_ratio },
	{ "the whole interval decides a value of which less is better",
	  the_whole_interval_decides_a_value_of_which_less_is_better },
	{ "few pairs decide nothing", few_pairs_decide_nothing },
	{ "idle time and other processors do not count as busy", idle_time_and_other_processors_do_not_count_as_busy },
	{ "the table says all of a row", the_table_says_all_of_a_row },
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static CU_SuiteInfo suites[] = { { .pName = "bench goals", .pTests = tests }, CU_SUITE_INFO_NULL };

	return xk_test_main(suites);
}

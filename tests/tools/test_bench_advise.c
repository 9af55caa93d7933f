/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_bench_advise.c - the rules of the papers on given figures.
 *
 * Held: every rule speaks in one case at least and is silent in another; each case gets the
 * preset that its paper names; of rules that contradict each other one is overruled, and that is told.
 */
#include "tools/vp-bench/bench_advise.h"

#include <math.h>
#include <string.h>

#include "tests/support/xk_test.h"

/* Twenty processors, as S1 had, and a hundred even connections. */
static const struct advise_in plain = {
	.goal = ADVISE_SPEED, .cpus = 20, .conns = 100, .top = 0.01, .skew = 1, .bytes = 64, .ns = 1000, .layer_ns = 200,
	.copied = 0,
};
static struct advise a;

static bool spoke(const char *rule)
{
	for (unsigned i = 0; i < a.nrules; i++)
		if (strcmp(a.rule[i].name, rule) == 0)
			return a.rule[i].spoke;
	CU_FAIL("there is no such rule");
	return false;
}

static void even_connections_are_for_connectional_parallelism(void)
{
	advise(&a, &plain);
	CU_ASSERT_TRUE(spoke("connections") && spoke("speed") && spoke("hand-over"));
	CU_ASSERT_FALSE(spoke("few-connections") || spoke("uneven-rates") || spoke("simplicity") || spoke("one-processor"));
	CU_ASSERT(a.best == ADVISE_VPPC || a.best == ADVISE_TPC);
	CU_ASSERT(a.points[ADVISE_LP] < 0 && a.points[ADVISE_CONNP_T] < 0);
	CU_ASSERT_NOT_EQUAL(a.best, a.next);
}

static void far_fewer_connections_than_processors_are_for_message_parallelism(void)
{
	struct advise_in in = plain;

	in.conns = 2;
	in.top = 0.5;
	advise(&a, &in);
	CU_ASSERT_TRUE(spoke("few-connections"));
	CU_ASSERT_FALSE(spoke("connections"));
	CU_ASSERT_EQUAL(a.best, ADVISE_MP);
	CU_ASSERT_STRING_EQUAL(a.line[0], "threading = mp { carriers = 20 }");
}

static void one_connection_that_outweighs_all_is_for_message_parallelism(void)
{
	struct advise_in in = plain;

	in.top = 0.5;
	in.skew = 50;
	advise(&a, &in);
	CU_ASSERT_TRUE(spoke("uneven-rates"));
	CU_ASSERT_FALSE(spoke("connections"));
	CU_ASSERT_EQUAL(a.best, ADVISE_MP);
}

/* Uneven, but so many that each processor can have its even share. */
static void a_busy_connection_among_very_many_changes_nothing(void)
{
	struct advise_in in = plain;

	in.conns = 10000;
	in.top = 0.002;
	in.skew = 20;
	advise(&a, &in);
	CU_ASSERT_FALSE(spoke("uneven-rates"));
	CU_ASSERT_EQUAL(a.best, ADVISE_VPPC);
	CU_ASSERT_STRING_EQUAL(a.line[0], "threading = vppc { vps = 384, workers = 20 }");
}

static void one_processor_has_nothing_to_win(void)
{
	struct advise_in in = plain;

	in.cpus = 1;
	advise(&a, &in);
	CU_ASSERT_TRUE(spoke("one-processor"));
	CU_ASSERT_FALSE(spoke("connections") || spoke("most-threads"));
	CU_ASSERT_EQUAL(a.best, ADVISE_UP);
}

static void simplicity_is_for_layers(void)
{
	struct advise_in in = plain;

	in.goal = ADVISE_SIMPLE;
	advise(&a, &in);
	CU_ASSERT_TRUE(spoke("simplicity"));
	CU_ASSERT_FALSE(spoke("speed"));
	CU_ASSERT_EQUAL(a.best, ADVISE_LP);
}

/* Both ends of the trade-off. */
static void threads_are_as_processors_for_fairness_and_most_for_speed(void)
{
	struct advise_in in = plain;

	in.goal = ADVISE_FAIR;
	advise(&a, &in);
	CU_ASSERT_TRUE(spoke("fairest"));
	CU_ASSERT_FALSE(spoke("most-threads"));
	CU_ASSERT_STRING_EQUAL(a.line[0], "threading = vppc { vps = 100, workers = 20 }");
	in.goal = ADVISE_SPEED;
	advise(&a, &in);
	CU_ASSERT_TRUE(spoke("most-threads"));
	CU_ASSERT_FALSE(spoke("fairest"));
	CU_ASSERT(a.points[ADVISE_TPC] >= a.points[ADVISE_VPPC]);
	in.conns = 100000;
	advise(&a, &in);
	CU_ASSERT(a.points[ADVISE_TPC] < a.points[ADVISE_VPPC]);
}

static void callers_that_work_are_for_groups_with_locks(void)
{
	struct advise_in in = plain;

	in.called = 0.5;
	in.conns = 2000;
	advise(&a, &in);
	CU_ASSERT_TRUE(spoke("callers"));
	CU_ASSERT_EQUAL(a.best, ADVISE_CONNP_L);
}

static void presentation_and_copies_lean_one_way_or_the_other(void)
{
	struct advise_in in = plain;

	in.xdr = 1;
	in.copied = 1;
	in.bytes = 4096;
	advise(&a, &in);
	CU_ASSERT_TRUE(spoke("presentation") && spoke("locality"));
	in.copied = NAN;
	in.xdr = 0;
	advise(&a, &in);
	CU_ASSERT_FALSE(spoke("presentation") || spoke("locality"));
}

static void what_is_overruled_is_told(void)
{
	struct advise_in in = plain;

	in.xdr = 1;
	advise(&a, &in);
	CU_ASSERT_PTR_NOT_NULL(strstr(a.conflict, "presentation spoke for mp"));
	CU_ASSERT_PTR_NOT_NULL(strstr(a.conflict, "overruled"));
	in = plain;
	in.cpus = 1;
	advise(&a, &in);
	CU_ASSERT_STRING_EQUAL(a.conflict, "");
}

static void every_rule_has_its_place_in_a_paper_and_its_figures(void)
{
	advise(&a, &plain);
	CU_ASSERT_EQUAL(a.nrules, ADVISE_RULES);
	for (unsigned i = 0; i < a.nrules; i++) {
		CU_ASSERT(a.rule[i].cite[0] == 'S' && strstr(a.rule[i].cite, "section") != NULL);
		CU_ASSERT(a.rule[i].input[0] != '\0' && a.rule[i].says[0] != '\0');
	}
}

static CU_TestInfo tests[] = {
	{ "even connections are for connectional parallelism", even_connections_are_for_connectional_parallelism },
	{ "far fewer connections than processors are for message parallelism",
	  far_fewer_connections_than_processors_are_for_message_parallelism },
	{ "one connection that outweighs all is for message parallelism",
	  one_connection_that_outweighs_all_is_for_message_parallelism },
	{ "a busy connection among very many changes nothing", a_busy_connection_among_very_many_changes_nothing },
	{ "one processor has nothing to win", one_processor_has_nothing_to_win },
	{ "simplicity is for layers", simplicity_is_for_layers },
	{ "threads are as processors for fairness and most for speed", threads_are_as_processors_for_fairness_and_most_for_speed },
	{ "callers that work are for groups with locks", callers_that_work_are_for_groups_with_locks },
	{ "presentation and copies lean one way or the other", presentation_and_copies_lean_one_way_or_the_other },
	{ "what is overruled is told", what_is_overruled_is_told },
	{ "every rule has its place in a paper and its figures", every_rule_has_its_place_in_a_paper_and_its_figures },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = { { .pName = "advise", .pTests = tests }, CU_SUITE_INFO_NULL };

int main(void) { return xk_test_main(suites); }

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_bench_advise.c - the rules of the papers on given figures.
 *
 * Held: every rule speaks in one case at least and is silent in another; each case gets the
 * preset that its paper names; of rules that contradict each other one is overruled, and that is told.
 */
#include "tools/vp-bench/bench.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/xk_test.h"
#include "tools/vp-bench/bench_lua.h"

struct figures {
	const char *goal;
	double      processors, connections, share, skew, bytes, called;
	int         copied;              /* -1: not known */
	bool        presentation;
};

/* Twenty processors, as Schmidt and Suda had, and a hundred even connections. */
static const struct figures plain = {
	.goal = "speed", .processors = 20, .connections = 100, .share = 0.01, .skew = 1, .bytes = 64,
};
static json_t *a;

static int forget(void)
{
	json_decref(a);
	a = NULL;
	return 0;
}

static void advise(const struct figures *f)
{
	json_t *copied = f->copied < 0 ? json_null() : json_boolean(f->copied);
	json_t *args[] = { json_string(f->goal), json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:o, s:b}", "processors",
		f->processors, "connections", f->connections, "busiest_share", f->share, "skew", f->skew, "message_bytes", f->bytes,
		"ns_per_message", 1000.0, "ns_per_layer", 200.0, "called_per_message", f->called, "copied", copied, "presentation",
		f->presentation) };
	char why[400];

	forget();
	a = bench_lua_call("advise", "look", args, 2, why, sizeof why);
	CU_ASSERT_PTR_NOT_NULL_FATAL(a);
	json_decref(args[0]);
	json_decref(args[1]);
}

static bool spoke(const char *rule)
{
	const json_t *r;
	size_t i;

	json_array_foreach(json_object_get(a, "rules"), i, r)
		if (strcmp(bench_text(r, "name"), rule) == 0)
			return json_is_true(json_object_get(r, "spoke"));
	CU_FAIL("there is no such rule");
	return false;
}

static bool best_is(const char *preset)
{
	return strcmp(bench_text(json_object_get(a, "recommended"), "preset"), preset) == 0;
}

static const char *line(void)
{
	return bench_text(json_object_get(a, "recommended"), "threading");
}

static int points(const char *preset)
{
	return (int)bench_number_of(json_object_get(a, "points"), preset);
}

static void even_connections_are_for_connectional_parallelism(void)
{
	advise(&plain);
	CU_ASSERT_TRUE(spoke("connections") && spoke("speed") && spoke("hand-over"));
	CU_ASSERT_FALSE(spoke("few-connections") || spoke("uneven-rates") || spoke("simplicity") || spoke("one-processor"));
	CU_ASSERT(best_is("vppc") || best_is("tpc"));
	CU_ASSERT(points("lp") < 0 && points("connp_t") < 0);
	CU_ASSERT_FALSE(best_is(bench_text(json_object_get(a, "runner_up"), "preset")));
}

static void far_fewer_connections_than_processors_are_for_message_parallelism(void)
{
	struct figures in = plain;

	in.connections = 2;
	in.share = 0.5;
	advise(&in);
	CU_ASSERT_TRUE(spoke("few-connections"));
	CU_ASSERT_FALSE(spoke("connections"));
	CU_ASSERT_TRUE(best_is("mp"));
	CU_ASSERT_STRING_EQUAL(line(), "threading = mp { io_threads = 20 }");
}

static void one_connection_that_outweighs_all_is_for_message_parallelism(void)
{
	struct figures in = plain;

	in.share = 0.5;
	in.skew = 50;
	advise(&in);
	CU_ASSERT_TRUE(spoke("uneven-rates"));
	CU_ASSERT_FALSE(spoke("connections"));
	CU_ASSERT_TRUE(best_is("mp"));
}

/* Uneven, but so many that each processor can have its even share. */
static void a_busy_connection_among_very_many_changes_nothing(void)
{
	struct figures in = plain;

	in.connections = 10000;
	in.share = 0.002;
	in.skew = 20;
	advise(&in);
	CU_ASSERT_FALSE(spoke("uneven-rates"));
	CU_ASSERT_TRUE(best_is("vppc"));
	CU_ASSERT_STRING_EQUAL(line(), "threading = vppc { vps = 384, workers = 20 }");
}

static void one_processor_has_nothing_to_win(void)
{
	struct figures in = plain;

	in.processors = 1;
	advise(&in);
	CU_ASSERT_TRUE(spoke("one-processor"));
	CU_ASSERT_FALSE(spoke("connections") || spoke("most-threads"));
	CU_ASSERT_TRUE(best_is("up"));
}

static void simplicity_is_for_layers(void)
{
	struct figures in = plain;

	in.goal = "simple";
	advise(&in);
	CU_ASSERT_TRUE(spoke("simplicity"));
	CU_ASSERT_FALSE(spoke("speed"));
	CU_ASSERT_TRUE(best_is("lp"));
}

/* Both ends of the trade-off. */
static void threads_are_as_processors_for_fairness_and_most_for_speed(void)
{
	struct figures in = plain;

	in.goal = "fair";
	advise(&in);
	CU_ASSERT_TRUE(spoke("fairest"));
	CU_ASSERT_FALSE(spoke("most-threads"));
	CU_ASSERT_STRING_EQUAL(line(), "threading = vppc { vps = 100, workers = 20 }");
	in.goal = "speed";
	advise(&in);
	CU_ASSERT_TRUE(spoke("most-threads"));
	CU_ASSERT_FALSE(spoke("fairest"));
	CU_ASSERT(points("tpc") >= points("vppc"));
	in.connections = 100000;
	advise(&in);
	CU_ASSERT(points("tpc") < points("vppc"));
}

static void callers_that_work_are_for_groups_with_locks(void)
{
	struct figures in = plain;

	in.called = 0.5;
	in.connections = 2000;
	advise(&in);
	CU_ASSERT_TRUE(spoke("callers"));
	CU_ASSERT_TRUE(best_is("connp_l"));
}

static void presentation_and_copies_lean_one_way_or_the_other(void)
{
	struct figures in = plain;

	in.presentation = true;
	in.copied = 1;
	in.bytes = 4096;
	advise(&in);
	CU_ASSERT_TRUE(spoke("presentation") && spoke("locality"));
	in.copied = -1;
	in.presentation = false;
	advise(&in);
	CU_ASSERT_FALSE(spoke("presentation") || spoke("locality"));
}

static void what_is_overruled_is_told(void)
{
	struct figures in = plain;

	in.presentation = true;
	advise(&in);
	CU_ASSERT_PTR_NOT_NULL(strstr(bench_text(a, "conflict"), "presentation spoke for mp"));
	CU_ASSERT_PTR_NOT_NULL(strstr(bench_text(a, "conflict"), "overruled"));
	in = plain;
	in.processors = 1;
	advise(&in);
	CU_ASSERT_STRING_EQUAL(bench_text(a, "conflict"), "");
}

static void every_rule_has_its_place_in_a_paper_and_its_figures(void)
{
	const json_t *r;
	size_t i;

	advise(&plain);
	CU_ASSERT_EQUAL(json_array_size(json_object_get(a, "rules")), 12);
	json_array_foreach(json_object_get(a, "rules"), i, r) {
		CU_ASSERT(strchr("SYW", bench_text(r, "cite")[0]) != NULL && strstr(bench_text(r, "cite"), "section") != NULL);
		CU_ASSERT(*bench_text(r, "input") != '\0' && *bench_text(r, "says") != '\0');
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
static CU_SuiteInfo suites[] = { { .pName = "advise", .pCleanupFunc = forget, .pTests = tests }, CU_SUITE_INFO_NULL };

int main(void) { return xk_test_main(suites); }

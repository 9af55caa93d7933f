/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_sim_lines.c - what a simulated processor pays for the state of sessions and nodes, in closed values.
 *
 * In the machine here u(R; L) is R, so a share of 1 - exp(-R / lines) is gone; times are powers of
 * two, where the table of shares is exact.
 */
#include <math.h>

#include "runtime/vp/vp_sim_lines.h"
#include "runtime/vp/vp_sim_owners.h"
#include "tests/support/xk_test.h"

#define X ((xk_ns)1 << 20)       /* 1048.576 us */

/* A reference a microsecond, half of them to the first level. */
static const struct xk_cache_machine machine = {
	.references = 1, .w = 1, .a = 0, .b = 1, .log_d = 0, .level = { { 1000, 32, 0.5 }, { 8000, 128, 1 } },
};
static const struct xk_machine_node node = { .l1_cold = 10000000, .memory_cold = 100000000 };

static struct vp_lines *lines;

static uint64_t touch(unsigned processor, xk_ns busy, unsigned no, uint32_t what)
{
	return vp_lines_touch(lines, processor, busy, no, what, &node);
}

/* Picoseconds after so many microseconds of other work. */
static double after(double us)
{
	double f1 = 1 - exp(-us / 2 / 1000), f2 = 1 - exp(-us / 8000);

	return f1 * ((1 - f2) * 1e7 + f2 * 1e8);
}

#define NEAR(got, want) CU_ASSERT(fabs((double)(got) - (want)) <= 1)

static void begin(void)
{
	lines = vp_lines_new(&machine, 3, 2);
	CU_ASSERT_PTR_NOT_NULL_FATAL(lines);
}

static void end(void) { vp_lines_free(lines); }

static void what_was_never_touched_is_cold_and_then_hot(void)
{
	begin();
	CU_ASSERT_EQUAL(touch(0, 0, 0, 7), 100000000);
	CU_ASSERT_EQUAL(touch(0, 0, 0, 7), 0);
	/* However long it works on this session itself. */
	CU_ASSERT_EQUAL(touch(0, XK_SEC, 0, 7), 0);
	end();
}

static void other_sessions_displace_by_the_time_that_is_worked_on_them(void)
{
	begin();
	(void)touch(0, 0, 0, 7);
	(void)touch(0, 5 * X, 0, 7);
	CU_ASSERT_EQUAL(touch(0, 6 * X, 0, 8), 100000000);
	/* 7 was left at 6 X, not at its last message. */
	NEAR(touch(0, 7 * X, 0, 7), after(1048.576));
	NEAR(touch(0, 8 * X, 0, 8), after(1048.576));
	/* Of two sessions in turns each is displaced by the other one alone. */
	(void)touch(0, 8 * X, 0, 9);
	NEAR(touch(0, 12 * X, 0, 7), after(4 * 1048.576));
	/* In the end all is gone. */
	(void)touch(0, 12 * X, 0, 8);
	NEAR(touch(0, 1000000 * XK_SEC, 0, 7), 1e8);
	/* No time, nothing lost. */
	(void)touch(0, 1000000 * XK_SEC, 0, 8);
	CU_ASSERT_EQUAL(touch(0, 1000000 * XK_SEC, 0, 7), 0);
	end();
}

static void another_processor_takes_it_away(void)
{
	begin();
	(void)touch(0, 0, 0, 7);
	CU_ASSERT_EQUAL(touch(1, 0, 0, 7), 100000000);
	CU_ASSERT_EQUAL(touch(1, 0, 0, 7), 0);
	/* It was the last one there, and is not any more. */
	CU_ASSERT_EQUAL(touch(0, 0, 0, 7), 100000000);
	CU_ASSERT_EQUAL(touch(0, 0, 0, 7), 0);
	/* Who left a session to another processor does not get it back by leaving it once more. */
	(void)touch(1, 0, 0, 7);
	(void)touch(0, X, 0, 8);
	CU_ASSERT_EQUAL(touch(0, 2 * X, 0, 7), 100000000);
	/* Nor does he change what the other one knows of it. */
	(void)touch(1, 0, 0, 7);
	(void)touch(1, 0, 0, 9);
	(void)touch(0, 3 * X, 0, 8);
	NEAR(touch(1, X, 0, 7), after(1048.576));
	end();
}

static void nodes_and_processors_are_apart(void)
{
	begin();
	(void)touch(0, 0, 0, 7);
	(void)touch(0, X, 1, 8);             /* a session of another node: below it, say */
	CU_ASSERT_EQUAL(touch(0, 2 * X, 0, 7), 0);
	(void)touch(2, X, 0, 9);
	CU_ASSERT_EQUAL(touch(0, 3 * X, 0, 7), 0);
	end();
}

static void thousands_are_remembered(void)
{
	begin();
	for (uint32_t i = 1; i <= 20000; i++)
		CU_ASSERT_EQUAL(touch(i % 3, 0, 0, 3 * i), 100000000);
	for (uint32_t i = 1; i <= 20000; i++)
		NEAR(touch(i % 3, X, 0, 3 * i), i > 19997 ? 0 : after(1048.576));    /* the last three were never left */
	end();
}

static void a_node_that_another_processor_ran_has_moved(void)
{
	begin();
	CU_ASSERT_FALSE(vp_lines_moved(lines, 0, 0));
	CU_ASSERT_FALSE(vp_lines_moved(lines, 0, 0));
	CU_ASSERT_FALSE(vp_lines_moved(lines, 1, 1));
	CU_ASSERT(vp_lines_moved(lines, 2, 0));
	CU_ASSERT_FALSE(vp_lines_moved(lines, 2, 0));
	CU_ASSERT(vp_lines_moved(lines, 0, 0));
	CU_ASSERT_FALSE(vp_lines_moved(lines, 1, 1));
	end();
}

static void a_thing_is_another_processors_until_it_is_taken(void)
{
	static char thing[1000];
	struct vp_owners *o = vp_owners_new();
	unsigned moved = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(o);
	for (unsigned processor = 1; processor <= 3; processor++)
		for (unsigned i = 0; i < XK_ARRAY_LEN(thing); i++) {
			moved += vp_owners_take(o, &thing[i], processor);
			CU_ASSERT(!vp_owners_take(o, &thing[i], processor));
		}
	CU_ASSERT_EQUAL(moved, 2 * XK_ARRAY_LEN(thing));
	vp_owners_free(o);
	vp_owners_free(NULL);
}

static CU_TestInfo tests[] = {
	{ "what was never touched is cold and then hot", what_was_never_touched_is_cold_and_then_hot },
	{ "other sessions displace by the time that is worked on them", other_sessions_displace_by_the_time_that_is_worked_on_them },
	{ "another processor takes it away", another_processor_takes_it_away },
	{ "nodes and processors are apart", nodes_and_processors_are_apart },
	{ "thousands are remembered", thousands_are_remembered },
	{ "a node that another processor ran has moved", a_node_that_another_processor_ran_has_moved },
	{ "a thing is another processor's until it is taken", a_thing_is_another_processors_until_it_is_taken },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "sim lines", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void) { return xk_test_main(suites); }

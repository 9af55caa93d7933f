/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_sim_again.c - thread 0 of simulated processors is asked whether it goes on waiting, before it
 * has its turn: nothing that is counted tells the two apart.
 */
#include "runtime/sync/xk_fiber.h"
#include "runtime/sync/xk_sim.h"
#include "tests/support/xk_test.h"

static xk_ns now;
static struct xk_sim *sim;

static void nothing(void *kept) { (void)kept; }
static const struct xk_sim_ops ops = { .size = 1, .leave = nothing, .enter = nothing };

static void begin(unsigned processors)
{
	static const struct xk_sim_costs costs;

	now = 0;
	CU_ASSERT_FATAL(xk_sim_new(&sim, processors, &costs, &now, &ops) == XK_OK);
}

static void end(void) { xk_sim_free(sim); }

struct steps { xk_ns each; unsigned n; };

static void step(void *arg)
{
	const struct steps *s = arg;

	for (unsigned i = 0; i < s->n; i++) {
		xk_sim_charge(s->each);
		xk_sim_pass();
	}
}

struct looks { xk_ns each, last; unsigned n; };

static xk_ns look(void *arg)
{
	struct looks *l = arg;

	CU_ASSERT(now == ++l->n * l->each);
	return now < l->last ? now + l->each : 0;
}

/* Two processors in steps of 100 ns, and later one alone, thread 0 in those of 70: by its own turns, or asked. */
static uint64_t switches_of(bool asks)
{
	struct steps a = { 100, 30 }, b = { 100, 5 };
	struct looks l = { .each = 70, .last = 1400 };
	struct xk_sim_thread *t, *u;
	struct xk_sim_stats of[2];

	begin(2);
	CU_ASSERT_FATAL(xk_sim_thread_new(sim, &t, 0, step, &a) == XK_OK);
	CU_ASSERT_FATAL(xk_sim_thread_new(sim, &u, 1, step, &b) == XK_OK);
	if (asks)
		xk_sim_again(sim, look, &l);
	for (xk_ns until = 70; until <= 1400; until += 70)
		if (!asks || until == 70)
			CU_ASSERT(xk_sim_run(sim, until));
	CU_ASSERT(now == 1400);
	CU_ASSERT(l.n == (asks ? 20u : 0u));
	xk_sim_again(sim, NULL, NULL);
	xk_sim_join(t);
	xk_sim_join(u);
	for (unsigned i = 0; i < 2; i++)
		xk_sim_stats(sim, i, &of[i]);
	end();
	CU_ASSERT(of[0].busy == 3000 && of[1].busy == 500);
	return of[0].switches * 1000 + of[1].switches;
}

static void asking_thread_0_is_as_good_as_its_turn(void)
{
	CU_ASSERT_EQUAL(switches_of(true), switches_of(false));
}

static xk_ns for_long(void *arg)
{
	return ++*(unsigned *)arg < 1000 ? now + 70 : 0;
}

/* Whoever is asked would wait for long; where all sleep without an end thread 0 has its turn nevertheless. */
static void at_the_end_of_all_work_thread_0_is_not_asked(void)
{
	struct steps a = { 100, 3 };
	struct xk_sim_thread *t;
	unsigned n = 0;

	begin(1);
	CU_ASSERT_FATAL(xk_sim_thread_new(sim, &t, 0, step, &a) == XK_OK);
	xk_sim_again(sim, for_long, &n);
	CU_ASSERT(!xk_sim_run(sim, 70));
	CU_ASSERT(now == 300 && n == 4);
	xk_sim_join(t);
	end();
}

static CU_TestInfo tests[] = {
	{ "asking thread 0 is as good as its turn", asking_thread_0_is_as_good_as_its_turn },
	{ "at the end of all work thread 0 is not asked", at_the_end_of_all_work_thread_0_is_not_asked },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "sim again", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	if (!xk_fiber_available())
		xk_test_skip("built without Boost.Context (package libboost-context-dev)");
	return xk_test_main(suites);
}

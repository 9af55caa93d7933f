/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_sim_lock.c - locks of simulated processors that are free while who waits for them is on its way: who has them
 * then, that nobody is left out for ever, and who keeps its processor meanwhile.
 */
#include <stdio.h>
#include <string.h>

#include "runtime/sync/xk_fiber.h"
#include "runtime/sync/xk_sim.h"
#include "tests/support/xk_test.h"

static xk_ns now;
static struct xk_sim *sim;
static char said[400];
static const struct xk_lock_ops *policy;
static struct xk_lock lock;
static struct xk_lockstat stat;
static bool uninterrupted;               /* no slices */

static void nothing(void *kept) { (void)kept; }
static const struct xk_sim_ops ops = { .size = 1, .leave = nothing, .enter = nothing };

static void say(const char *what)
{
	size_t n = strlen(said);

	snprintf(said + n, sizeof said - n, "%s%s@%llu", n != 0 ? " " : "", what, (unsigned long long)now);
}

/* Of a thread: after `at` it takes the lock n times for `hold`, and works for `rest` after each. */
struct user { const char *name; unsigned processor; xk_ns at, hold, rest; unsigned n; struct xk_sim_counts counts; };

static void uses(void *arg)
{
	struct user *u = arg;

	xk_sim_charge(u->at);
	for (unsigned i = 0; i < u->n; i++) {
		xk_lock_take(policy, &lock, &stat);
		say(u->name);
		xk_sim_charge(u->hold);
		xk_lock_drop(policy, &lock, &stat);
		xk_sim_charge(u->rest);
	}
	xk_sim_counts(xk_sim_running(), &u->counts);
}

/* Works without a lock. */
static void works(void *arg)
{
	struct user *u = arg;

	for (unsigned i = 0; i < u->n; i++) {
		xk_sim_charge(u->hold);
		xk_sim_pass();
	}
	say(u->name);
}

enum { MOST = 4 };

static xk_ns run(const struct xk_lock_ops *p, struct xk_sim_costs costs, unsigned processors, struct user *u, unsigned n)
{
	struct xk_sim_thread *t[MOST];

	now = 0;
	said[0] = '\0';
	stat = (struct xk_lockstat){ .untimed = true };
	policy = xk_lock_simulated(p);
	policy->init(&lock);
	costs.slice = uninterrupted ? 0 : XK_MS;
	CU_ASSERT_FATAL(xk_sim_new(&sim, processors, &costs, &now, &ops) == XK_OK);
	for (unsigned i = 0; i < n; i++)
		CU_ASSERT_FATAL(xk_sim_thread_new(sim, &t[i], u[i].processor, u[i].name[0] == 'w' ? works : uses, &u[i]) == XK_OK);
	for (unsigned i = 0; i < n; i++)
		xk_sim_join(t[i]);
	xk_sim_free(sim);
	policy->fini(&lock);
	return now;
}

/* b is woken at 100 and there at 350; a has the lock twice meanwhile, and once more while b waits for that. */
static void who_comes_has_a_lock_whose_next_is_on_its_way(void)
{
	struct user u[] = { { "a", 0, 0, 100, 10, 4, { 0 } }, { "b", 1, 50, 20, 0, 1, { 0 } } };

	run(&xk_lock_mutex, (struct xk_sim_costs){ .wake = 250 }, 2, u, 2);
	CU_ASSERT_STRING_EQUAL(said, "a@0 a@110 a@220 a@330 b@680");
	CU_ASSERT(u[1].counts.voluntary == 2);
	/* In turn b has it from 100 on, and a waits until b has come, gone, and it has been woken itself. */
	run(&xk_lock_mutex, (struct xk_sim_costs){ .wake = 250, .locks_in_turn = true }, 2, u, 2);
	CU_ASSERT_STRING_EQUAL(said, "a@0 b@350 a@620 a@730 a@840");
	run(&xk_lock_mcs, (struct xk_sim_costs){ .wake = 250 }, 2, u, 2);
	CU_ASSERT_STRING_EQUAL(said, "a@0 b@100 a@120 a@230 a@340");
}

/* b, woken, stands behind w; where w is never interrupted the lock is b's already, since w may want it and nothing else ends w. */
static void without_slices_who_was_woken_has_it(void)
{
	struct user u[] = { { "a", 0, 0, 100, 10, 3, { 0 } }, { "b", 1, 50, 20, 0, 1, { 0 } }, { "w", 1, 0, 100, 0, 20, { 0 } } };

	run(&xk_lock_mutex, (struct xk_sim_costs){ 0 }, 2, u, 3);
	CU_ASSERT_STRING_EQUAL(said, "a@0 a@110 a@220 w@2050 b@2050");
	uninterrupted = true;
	run(&xk_lock_mutex, (struct xk_sim_costs){ 0 }, 2, u, 3);
	CU_ASSERT_STRING_EQUAL(said, "a@0 w@2050 b@2050 a@2070 a@2180");
	uninterrupted = false;
}

/* The same where its processor has taken up another thread, w, and takes its time to take b up again. */
static void who_comes_has_a_lock_whose_nexts_processor_is_busy(void)
{
	struct user u[] = { { "a", 0, 0, 100, 10, 4, { 0 } }, { "b", 1, 50, 20, 0, 1, { 0 } }, { "w", 1, 0, 100, 0, 2, { 0 } } };

	run(&xk_lock_mutex, (struct xk_sim_costs){ .context = 38, .wake = 1000 }, 2, u, 3);
	CU_ASSERT_STRING_EQUAL(said, "a@0 a@110 a@220 w@288 b@326 a@1346");
}

/* Handed on in turn the lock would be had by who is still asleep, all the time. */
static void a_convoy_dissolves(void)
{
	struct user u[] = { { "a", 0, 0, 10, 90, 500, { 0 } }, { "b", 1, 0, 10, 90, 500, { 0 } } };
	struct xk_sim_costs costs = { .wake = 4000, .unlock = 1 };
	xk_ns free = run(&xk_lock_mutex, costs, 2, u, 2), alone;

	alone = run(&xk_lock_mutex, costs, 2, u, 1);
	CU_ASSERT(alone == 500 * 101);
	CU_ASSERT(free < alone + alone / 5);
	costs.locks_in_turn = true;
	CU_ASSERT(run(&xk_lock_mutex, costs, 2, u, 2) > 500 * costs.wake / 2);
}

/* When b looks a has it, every time: it is handed to b in the end. */
static void nobody_is_left_out_for_ever(void)
{
	struct user u[] = { { "a", 0, 0, 90, 10, 1000, { 0 } }, { "b", 1, 50, 1, 0, 1, { 0 } } };

	run(&xk_lock_mutex, (struct xk_sim_costs){ .wake = 250 }, 2, u, 2);
	CU_ASSERT(u[1].counts.voluntary == 17);
	CU_ASSERT(u[1].counts.locking > 17 * 250 && u[1].counts.locking < 17 * 450);
}

/* An adaptive lock's waiter spins where the machine says for how long, and w has no turn before it has the lock. */
static void who_spins_keeps_its_processor(void)
{
	struct user u[] = { { "a", 0, 0, 100, 0, 1, { 0 } }, { "b", 1, 40, 20, 0, 1, { 0 } }, { "w", 1, 0, 10, 0, 1, { 0 } } };

	run(&xk_lock_spin, (struct xk_sim_costs){ .lock_spin = 1000, .wake = 500 }, 2, u, 3);
	CU_ASSERT_STRING_EQUAL(said, "a@0 b@100 w@130");
	/* It has a processor all the while, and 60 of it are for nothing. */
	CU_ASSERT(u[1].counts.worked == 120 && u[1].counts.voluntary == 0);
	/* Without a time to spin it gives way. */
	run(&xk_lock_spin, (struct xk_sim_costs){ .wake = 500 }, 2, u, 3);
	CU_ASSERT_STRING_EQUAL(said, "a@0 w@50 b@100");
	/* An adaptive lock spins for a hundredth of the most at first, then sleeps. */
	run(&xk_lock_adaptive, (struct xk_sim_costs){ .lock_spin = 1000, .wake = 500 }, 2, u, 3);
	CU_ASSERT_STRING_EQUAL(said, "a@0 w@60 b@600");
	CU_ASSERT(u[1].counts.worked == 70 && u[1].counts.voluntary == 1);
}

/* It learns how long it takes: b spins for 10, 12, 15, ... of 40 until that is enough. */
static void an_adaptive_lock_learns_how_long_to_spin(void)
{
	struct user u[] = { { "a", 0, 0, 40, 5, 60, { 0 } }, { "b", 1, 5, 40, 5, 60, { 0 } } };

	run(&xk_lock_adaptive, (struct xk_sim_costs){ .lock_spin = 3000, .wake = 5000 }, 2, u, 2);
	CU_ASSERT(u[0].counts.voluntary + u[1].counts.voluntary > 0 && u[0].counts.voluntary + u[1].counts.voluntary < 20);
}

/* Two wait, one spins and one sleeps: who spins is there first, who sleeps is woken nevertheless. */
static void who_spins_is_before_who_sleeps(void)
{
	struct user u[] = { { "a", 0, 0, 100, 0, 1, { 0 } }, { "b", 1, 10, 20, 0, 1, { 0 } }, { "c", 2, 85, 20, 0, 1, { 0 } } };

	run(&xk_lock_adaptive, (struct xk_sim_costs){ .lock_spin = 2000, .wake = 500 }, 3, u, 3);
	CU_ASSERT_STRING_EQUAL(said, "a@0 c@100 b@600");
}

static CU_TestInfo tests[] = {
	{ "who_comes_has_a_lock_whose_next_is_on_its_way", who_comes_has_a_lock_whose_next_is_on_its_way },
	{ "without_slices_who_was_woken_has_it", without_slices_who_was_woken_has_it },
	{ "who_comes_has_a_lock_whose_nexts_processor_is_busy", who_comes_has_a_lock_whose_nexts_processor_is_busy },
	{ "a_convoy_dissolves", a_convoy_dissolves },
	{ "nobody_is_left_out_for_ever", nobody_is_left_out_for_ever },
	{ "who_spins_keeps_its_processor", who_spins_keeps_its_processor },
	{ "an_adaptive_lock_learns_how_long_to_spin", an_adaptive_lock_learns_how_long_to_spin },
	{ "who_spins_is_before_who_sleeps", who_spins_is_before_who_sleeps },
	CU_TEST_INFO_NULL
};

static CU_SuiteInfo suites[] = {
	{ "sim_lock", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	if (!xk_fiber_available())
		xk_test_skip("built without Boost.Context (package libboost-context-dev)");
	return xk_test_main(suites);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_sim.c - simulated processors: who runs when, what waiting costs, and that nothing of it is the
 * host's.
 */
#include <stdio.h>
#include <string.h>

#include "runtime/sync/xk_fiber.h"
#include "runtime/sync/xk_sim.h"
#include "tests/support/xk_test.h"

static xk_ns now;
static struct xk_sim *sim;
static char said[256];
static int  self;                        /* stands for a thread-local of a room above */

static void leave(void *kept) { *(int *)kept = self; self = 0; }
static void enter(void *kept) { self = *(int *)kept; }
static const struct xk_sim_ops ops = { .size = sizeof(int), .leave = leave, .enter = enter };

static void begin(unsigned processors, struct xk_sim_costs costs)
{
	now = 0;
	said[0] = '\0';
	self = 0;
	CU_ASSERT_FATAL(xk_sim_new(&sim, processors, &costs, &now, &ops) == XK_OK);
	CU_ASSERT(xk_sim_self == sim);
}

static void end(void)
{
	xk_sim_free(sim);
	CU_ASSERT(xk_sim_self == NULL);
}

static void say(const char *what)
{
	size_t n = strlen(said);

	snprintf(said + n, sizeof said - n, "%s%s@%llu", n != 0 ? " " : "", what, (unsigned long long)now);
}

/* ---- order ------------------------------------------------------------------------ */

struct steps { const char *name; xk_ns each; unsigned n; };

static void step(void *arg)
{
	const struct steps *s = arg;

	for (unsigned i = 0; i < s->n; i++) {
		say(s->name);
		xk_sim_charge(s->each);
		xk_sim_pass();
	}
}

static void run_two(unsigned processors, struct xk_sim_costs costs, unsigned second, struct steps *a, struct steps *b,
		    void (*fn)(void *))
{
	struct xk_sim_thread *t, *u;

	begin(processors, costs);
	CU_ASSERT(xk_sim_thread_new(sim, &t, 0, fn, a) == XK_OK);
	CU_ASSERT(xk_sim_thread_new(sim, &u, second, fn, b) == XK_OK);
	xk_sim_join(t);
	xk_sim_join(u);
	end();
}

static void least_time_runs_and_of_several_the_lowest_number(void)
{
	struct steps a = { "a", 100, 3 }, b = { "b", 150, 2 };

	run_two(2, (struct xk_sim_costs){ 0 }, 1, &a, &b, step);
	CU_ASSERT_STRING_EQUAL(said, "a@0 b@0 a@100 b@150 a@200");
}

static void one_processor_runs_one_after_the_other(void)
{
	struct steps a = { "a", 100, 2 }, b = { "b", 100, 2 };

	run_two(1, (struct xk_sim_costs){ .context = 7 }, 0, &a, &b, step);
	CU_ASSERT_STRING_EQUAL(said, "a@0 a@100 b@207 b@307");
}

static void a_slice_ends_a_turn(void)
{
	struct steps a = { "a", 100, 3 }, b = { "b", 100, 2 };

	run_two(1, (struct xk_sim_costs){ .slice = 150 }, 0, &a, &b, step);
	CU_ASSERT_STRING_EQUAL(said, "a@0 a@100 b@200 b@300 a@400");
}

static void yielding(void *arg)
{
	const struct steps *s = arg;

	for (unsigned i = 0; i < s->n; i++) {
		say(s->name);
		xk_thread_yield();
	}
}

static void a_yield_costs_time_and_lets_the_next_run(void)
{
	struct steps a = { "a", 0, 2 }, b = { "b", 0, 2 };

	run_two(1, (struct xk_sim_costs){ .yield = 5 }, 0, &a, &b, yielding);
	CU_ASSERT_STRING_EQUAL(said, "a@0 b@5 a@10 b@15");
}

static xk_ns worked(const struct xk_sim_thread *t)
{
	struct xk_sim_counts c;

	xk_sim_counts(t, &c);
	return c.worked;
}

static void a_thread_knows_what_it_was_charged(void)
{
	struct steps a = { "a", 100, 3 }, b = { "b", 150, 2 };
	struct xk_sim_thread *t, *u;
	struct xk_sim_stats stats;

	begin(1, (struct xk_sim_costs){ .context = 7, .slice = 150 });
	CU_ASSERT(xk_sim_thread_new(sim, &t, 0, step, &a) == XK_OK);
	CU_ASSERT(xk_sim_thread_new(sim, &u, XK_SIM_ANY, step, &b) == XK_OK);
	CU_ASSERT_EQUAL(worked(t), 0);
	(void)xk_sim_run(sim, 250);
	CU_ASSERT_EQUAL(worked(t), 200);
	(void)xk_sim_run(sim, 10000);
	/* Turns come and go; taking one up is the processor's time. */
	CU_ASSERT_EQUAL(worked(t), 300);
	CU_ASSERT_EQUAL(worked(u), 300);
	xk_sim_stats(sim, 0, &stats);
	CU_ASSERT_EQUAL(stats.busy, 600);
	xk_sim_join(t);
	xk_sim_join(u);
	end();
}

/* ---- thread-locals ------------------------------------------------------------------- */

static void keeps(void *arg)
{
	int mine = *(const int *)arg;

	CU_ASSERT(self == 0);
	self = mine;
	for (int i = 0; i < 5; i++) {
		xk_sim_charge(10);
		xk_sim_pass();
		CU_ASSERT(self == mine);
	}
	self = 0;
}

static void each_thread_finds_its_own_as_it_left_it(void)
{
	static int one = 1, two = 2;
	struct xk_sim_thread *t, *u;

	begin(2, (struct xk_sim_costs){ 0 });
	self = 3;
	CU_ASSERT(xk_sim_thread_new(sim, &t, 0, keeps, &one) == XK_OK);
	CU_ASSERT(xk_sim_thread_new(sim, &u, 1, keeps, &two) == XK_OK);
	CU_ASSERT(xk_sim_run(sim, 25));
	CU_ASSERT(self == 3 && now == 25);
	xk_sim_join(t);
	xk_sim_join(u);
	CU_ASSERT(self == 3);
	end();
}

/* ---- locks ------------------------------------------------------------------------------ */

static struct xk_lock lock;
static struct xk_lockstat stat;
static const struct xk_lock_ops *policy;
static bool of_table;

static void locks(void *arg)
{
	const struct steps *s = arg;

	for (unsigned i = 0; i < s->n; i++) {
		xk_lock_take(policy, &lock, &stat);
		say(s->name);
		xk_sim_charge(s->each);
		xk_lock_drop(policy, &lock, &stat);
	}
}

static void take_turns(const struct xk_lock_ops *p, struct xk_sim_costs costs, struct steps *a, struct steps *b)
{
	stat = (struct xk_lockstat){ .untimed = true };
	policy = of_table ? xk_lock_simulated_table(p) : xk_lock_simulated(p);
	CU_ASSERT_STRING_EQUAL(policy->name, p->name);
	policy->init(&lock);
	run_two(2, costs, 1, a, b, locks);
	policy->fini(&lock);
}

static void a_lock_is_had_in_the_order_of_asking(void)
{
	static const struct xk_lock_ops *const all[] = {
		&xk_lock_spin, &xk_lock_ticket, &xk_lock_mcs, &xk_lock_adaptive, &xk_lock_mutex, &xk_lock_rw
	};

	for (unsigned i = 0; i < XK_ARRAY_LEN(all); i++) {
		struct steps a = { "a", 100, 2 }, b = { "b", 50, 2 };

		take_turns(all[i], (struct xk_sim_costs){ 0 }, &a, &b);
		CU_ASSERT_STRING_EQUAL(said, "a@0 b@100 a@150 b@250");
		CU_ASSERT(stat.taken == 4 && stat.contended == 3);
	}
}

static void a_lock_of_another_processor_costs_its_line(void)
{
	struct steps a = { "a", 100, 1 }, b = { "b", 50, 2 };

	take_turns(&xk_lock_mutex, (struct xk_sim_costs){ .lock_local = 3, .lock_moved = 40, .lock_handed = 40 }, &a, &b);
	CU_ASSERT_STRING_EQUAL(said, "a@3 b@143 b@196");
}

static void who_stood_in_line_pays_less_and_giving_back_is_nobody_elses(void)
{
	struct steps a = { "a", 100, 1 }, b = { "b", 50, 2 };

	const struct xk_sim_costs costs = { .lock_local = 10, .lock_moved = 40, .lock_handed = 2, .unlock = 7 };

	take_turns(&xk_lock_mutex, costs, &a, &b);
	/* b has it from 110 on, while a still gives it back; then it gives it back itself, for 7, and takes it again. */
	CU_ASSERT_STRING_EQUAL(said, "a@10 b@112 b@179");
}

static void a_table_is_locked_for_as_long_as_something_is_looked_up(void)
{
	struct steps a = { "a", 100, 1 }, b = { "b", 50, 1 };
	const struct xk_sim_costs costs = { .lock_local = 1, .lock_moved = 2, .lock_handed = 3, .lookup = 1000 };

	of_table = true;
	take_turns(&xk_lock_mutex, costs, &a, &b);
	CU_ASSERT_STRING_EQUAL(said, "a@1001 b@2104");
	of_table = false;
	take_turns(&xk_lock_mutex, costs, &a, &b);
	CU_ASSERT_STRING_EQUAL(said, "a@1 b@104");
}

enum { CROWD = 20, ROUNDS = 50 };
static xk_ns in_locking;

static void crowds(void *arg)
{
	(void)arg;
	for (unsigned i = 0; i < ROUNDS; i++) {
		xk_ns from = now;

		xk_lock_take(policy, &lock, &stat);
		xk_lock_drop(policy, &lock, &stat);
		in_locking += now - from;
	}
}

/* Schmidt and Suda 1996, 4.1: 4 us for taking a lock, 55 among 20 processors that all want it. */
static xk_ns lock_among(unsigned n)
{
	struct xk_sim_thread *t[CROWD];

	in_locking = 0;
	policy = xk_lock_simulated(&xk_lock_mutex);
	policy->init(&lock);
	begin(n, (struct xk_sim_costs){ .lock_local = 4000, .lock_moved = 4000, .lock_handed = 2750 });
	for (unsigned i = 0; i < n; i++)
		CU_ASSERT_FATAL(xk_sim_thread_new(sim, &t[i], i, crowds, NULL) == XK_OK);
	for (unsigned i = 0; i < n; i++)
		xk_sim_join(t[i]);
	end();
	policy->fini(&lock);
	return in_locking / (n * ROUNDS);
}

static void a_lock_among_twenty_costs_each_his_place_in_line(void)
{
	xk_ns among = lock_among(CROWD);

	CU_ASSERT(lock_among(1) == 4000);
	CU_ASSERT(among > 53000 && among < 57000);
}

static void reads(void *arg)
{
	xk_lock_take_shared(policy, &lock, &stat);
	say(arg);
	xk_sim_charge(100);
	xk_lock_drop_shared(policy, &lock, &stat);
}

static void writes(void *arg)
{
	xk_sim_charge(10);
	xk_lock_take(policy, &lock, &stat);
	say(arg);
	xk_sim_charge(100);
	xk_lock_drop(policy, &lock, &stat);
}

static void reads_late(void *arg)
{
	xk_sim_charge(20);
	reads(arg);
}

static void readers_share_but_not_past_a_writer(void)
{
	struct xk_sim_thread *t[4];

	stat = (struct xk_lockstat){ .untimed = true };
	policy = xk_lock_simulated(&xk_lock_rw);
	policy->init(&lock);
	begin(4, (struct xk_sim_costs){ 0 });
	CU_ASSERT(xk_sim_thread_new(sim, &t[0], 0, reads, "r") == XK_OK);
	CU_ASSERT(xk_sim_thread_new(sim, &t[1], 1, reads, "r") == XK_OK);
	CU_ASSERT(xk_sim_thread_new(sim, &t[2], 2, writes, "w") == XK_OK);
	CU_ASSERT(xk_sim_thread_new(sim, &t[3], 3, reads_late, "late") == XK_OK);
	for (unsigned i = 0; i < 4; i++)
		xk_sim_join(t[i]);
	end();
	policy->fini(&lock);
	CU_ASSERT_STRING_EQUAL(said, "r@0 r@0 w@100 late@200");
}

/* ---- what is counted of a thread --------------------------------------------------------------- */

static struct xk_sim_counts held, asked;

/* Holds the lock for 120, in steps of 10; on processor 0, which it shares with another thread or not. */
static void holds(void *arg)
{
	(void)arg;
	xk_lock_take(policy, &lock, &stat);
	for (unsigned i = 0; i < 12; i++) {
		xk_sim_charge(10);
		xk_sim_pass();
	}
	xk_lock_drop(policy, &lock, &stat);
	xk_sim_counts(xk_sim_running(), &held);
}

static void asks(void *arg)
{
	(void)arg;
	xk_sim_charge(60);
	xk_lock_take(policy, &lock, &stat);
	xk_lock_drop(policy, &lock, &stat);
	xk_sim_counts(xk_sim_running(), &asked);
}

static void ask_while_held(const struct xk_lock_ops *p, bool shares)
{
	const struct xk_sim_costs costs = { .lock_local = 1, .lock_moved = 2, .lock_handed = 3, .unlock = 7, .slice = 50 };
	struct steps other = { "o", 10, 10 };
	struct xk_sim_thread *t[3];

	stat = (struct xk_lockstat){ 0 };
	policy = xk_lock_simulated(p);
	policy->init(&lock);
	begin(2, costs);
	CU_ASSERT_FATAL(xk_sim_thread_new(sim, &t[0], 0, holds, NULL) == XK_OK);
	CU_ASSERT_FATAL(xk_sim_thread_new(sim, &t[1], 1, asks, NULL) == XK_OK);
	if (shares)
		CU_ASSERT_FATAL(xk_sim_thread_new(sim, &t[2], 0, step, &other) == XK_OK);
	for (unsigned i = 0; i < 2u + shares; i++)
		xk_sim_join(t[i]);
	end();
	policy->fini(&lock);
}

static void who_stands_in_line_sleeps_where_the_policy_says_so(void)
{
	static const struct { const struct xk_lock_ops *policy; bool shares; unsigned sleeps; } of[] = {
		{ &xk_lock_mutex, false, 1 }, { &xk_lock_mutex, true, 1 }, { &xk_lock_rw, false, 1 },
		{ &xk_lock_adaptive, false, 0 }, { &xk_lock_adaptive, true, 1 },
		{ &xk_lock_spin, true, 0 }, { &xk_lock_ticket, true, 0 }, { &xk_lock_mcs, true, 0 },
	};

	for (unsigned i = 0; i < XK_ARRAY_LEN(of); i++) {
		ask_while_held(of[i].policy, of[i].shares);
		CU_ASSERT(asked.voluntary == of[i].sleeps && held.voluntary == 0);
		CU_ASSERT((held.involuntary != 0) == of[i].shares && asked.involuntary == 0);
	}
}

static void locks_take_so_long_and_every_wait_is_timed(void)
{
	struct xk_lock_counts c;

	/* Taken at 0 for 1, given back at 121 for 7; asked for at 60, had from 124 on, given back for 7. */
	ask_while_held(&xk_lock_mutex, false);
	CU_ASSERT(held.locking == 1 + 7 && asked.locking == 121 - 60 + 3 + 7);
	xk_lockstat_read(&stat, &c);
	CU_ASSERT(c.contended == 1 && c.waits_timed == 1 && xk_lock_waited_ns(&c) == 121 - 60 + 3);
	CU_ASSERT(held.meeting == 0 && asked.meeting == 0);
}

/* ---- sleeping ------------------------------------------------------------------------------ */

static struct xk_event event;

static void sleeps(void *arg)
{
	xk_event_prepare(&event);
	xk_event_wait(&event, *(const uint64_t *)arg, NULL, 0);
	xk_sim_counts(xk_sim_running(), &asked);
	say("woken");
}

static void wakes(void *arg)
{
	xk_sim_charge(*(const uint64_t *)arg);
	xk_sim_pass();
	xk_event_wake(&event);
	say("woke");
}

static void wait_for(uint64_t timeout, uint64_t after, const char *expect)
{
	struct xk_sim_thread *t, *u;

	CU_ASSERT(xk_event_init(&event) == XK_OK);
	begin(2, (struct xk_sim_costs){ .handover = 5, .wake = 2000, .spin = 100 });
	CU_ASSERT(xk_sim_thread_new(sim, &t, 0, sleeps, &timeout) == XK_OK);
	CU_ASSERT(xk_sim_thread_new(sim, &u, 1, wakes, &after) == XK_OK);
	xk_sim_join(t);
	xk_sim_join(u);
	end();
	xk_event_fini(&event);
	CU_ASSERT_STRING_EQUAL(said, expect);
}

static void who_spins_is_prompt_and_who_sleeps_is_not(void)
{
	wait_for(XK_NS_NEVER, 60, "woke@60 woken@65");
	CU_ASSERT(asked.voluntary == 0);
	wait_for(XK_NS_NEVER, 500, "woke@500 woken@2500");
	CU_ASSERT(asked.voluntary == 1);
	wait_for(300, 500, "woken@300 woke@500");
	CU_ASSERT(asked.voluntary == 1);
}

static void times_out(void *arg)
{
	xk_event_prepare(arg);
	xk_event_wait(arg, 1000, NULL, 0);
	xk_sim_counts(xk_sim_running(), &asked);
}

static uint64_t slept(unsigned sleepers, struct xk_sim_costs costs)
{
	static struct xk_event own[CROWD];
	static struct xk_sim_thread *t[CROWD];
	uint64_t busy = 0;

	begin(sleepers, costs);
	for (unsigned i = 0; i < sleepers; i++) {
		CU_ASSERT_FATAL(xk_event_init(&own[i]) == XK_OK);
		CU_ASSERT_FATAL(xk_sim_thread_new(sim, &t[i], i, times_out, &own[i]) == XK_OK);
	}
	for (unsigned i = 0; i < sleepers; i++)
		xk_sim_join(t[i]);
	for (unsigned i = 0; i < sleepers; i++) {
		struct xk_sim_stats of;

		xk_sim_stats(sim, i, &of);
		busy = of.busy > busy ? of.busy : busy;
		xk_event_fini(&own[i]);
	}
	end();
	return busy;
}

/* The same paper: 300 us for a condition, 520 among 20 processors. */
static void sleeping_costs_more_where_others_do(void)
{
	struct xk_sim_costs costs = { .sleep = 300000, .sleep_other = 11579, .spin = 100 };

	CU_ASSERT(slept(1, costs) == 300000);
	CU_ASSERT(asked.meeting == 300000 && asked.voluntary == 1);
	CU_ASSERT(slept(CROWD, costs) / 1000 == 520);
	/* It spun all the while. */
	wait_for(XK_NS_NEVER, 60, "woke@60 woken@65");
}

static void hops(void *arg)
{
	(void)arg;
	for (unsigned i = 0; i < 5; i++) {
		xk_sim_hop();
		xk_sim_pass();
	}
	xk_sim_counts(xk_sim_running(), &asked);
}

/* The others of n processors are at it, or idle after a moment of work. */
static xk_ns hop_among(unsigned n, void (*others)(void *), void *arg)
{
	struct xk_sim_thread *t[CROWD];
	struct xk_sim_stats of;

	begin(n, (struct xk_sim_costs){ .hop = 300000, .sleep_other = 11579 });
	for (unsigned i = 0; i < n; i++)
		CU_ASSERT_FATAL(xk_sim_thread_new(sim, &t[i], i, i == n - 1 ? hops : others, arg) == XK_OK);
	for (unsigned i = 0; i < n; i++)
		xk_sim_join(t[i]);
	xk_sim_stats(sim, n - 1, &of);
	end();
	return of.busy / 5000;
}

static void taking_from_a_queue_costs_more_where_others_do_or_are_idle(void)
{
	struct steps none = { "", 0, 1 }, long_work = { "", XK_SEC, 1 };

	CU_ASSERT(hop_among(1, hops, NULL) == 300);
	CU_ASSERT(asked.meeting == 5 * 300000);
	CU_ASSERT(hop_among(CROWD, hops, NULL) == 520);
	CU_ASSERT(hop_among(CROWD, step, &none) == 520);
	CU_ASSERT(hop_among(CROWD, step, &long_work) == 300);
}

static void naps(void *arg)
{
	xk_thread_nap(*(const uint64_t *)arg);
	xk_sim_counts(xk_sim_running(), &asked);
	say("up");
}

static void when_all_sleep_it_is_said_and_time_goes_on_after(void)
{
	static const uint64_t ms = XK_MS;
	struct xk_sim_thread *t;

	begin(1, (struct xk_sim_costs){ 0 });
	CU_ASSERT(xk_sim_thread_new(sim, &t, 0, naps, (void *)(uintptr_t)&ms) == XK_OK);
	CU_ASSERT(!xk_sim_run(sim, XK_SEC));
	CU_ASSERT(now == 0);
	CU_ASSERT(!xk_sim_run(sim, XK_SEC));     /* it has ended */
	CU_ASSERT(now == XK_MS);
	CU_ASSERT(xk_sim_run(sim, XK_SEC) && now == XK_SEC);
	xk_sim_join(t);
	end();
	CU_ASSERT_STRING_EQUAL(said, "up@1000000");
	CU_ASSERT(asked.voluntary == 1);
}

/* ---- threads of any processor ------------------------------------------------------------------ */

static void threads_of_any_processor_run_where_there_is_room(void)
{
	struct steps s[3] = { { "a", 100, 1 }, { "b", 300, 1 }, { "c", 100, 1 } };
	struct xk_sim_thread *t[3];
	struct xk_sim_stats of;

	begin(2, (struct xk_sim_costs){ .context = 5 });
	for (unsigned i = 0; i < 3; i++)
		CU_ASSERT_FATAL(xk_sim_thread_new(sim, &t[i], XK_SIM_ANY, step, &s[i]) == XK_OK);
	for (unsigned i = 0; i < 3; i++)
		xk_sim_join(t[i]);
	xk_sim_stats(sim, 0, &of);
	CU_ASSERT(of.busy == 200);
	end();
	CU_ASSERT_STRING_EQUAL(said, "a@0 b@0 c@105");
}

static void naps_then_works(void *arg)
{
	xk_thread_nap(50);
	step(arg);
}

/* c slept where a runs now; it goes on where nobody does. */
static void who_wakes_takes_a_processor_that_is_free(void)
{
	struct steps a = { "a", 500, 1 }, c = { "c", 10, 2 };
	struct xk_sim_thread *t, *u;

	begin(2, (struct xk_sim_costs){ 0 });
	CU_ASSERT(xk_sim_thread_new(sim, &u, XK_SIM_ANY, naps_then_works, &c) == XK_OK);
	CU_ASSERT(!xk_sim_run(sim, 10));
	CU_ASSERT(xk_sim_thread_new(sim, &t, 0, step, &a) == XK_OK);
	xk_sim_join(u);
	xk_sim_join(t);
	end();
	CU_ASSERT_STRING_EQUAL(said, "a@0 c@50 c@60");
}

static void a_slice_ends_for_threads_of_any_processor(void)
{
	struct steps a = { "a", 40, 4 }, b = { "b", 40, 2 };
	struct xk_sim_thread *t, *u;

	begin(1, (struct xk_sim_costs){ .slice = 80 });
	CU_ASSERT(xk_sim_thread_new(sim, &t, XK_SIM_ANY, step, &a) == XK_OK);
	CU_ASSERT(xk_sim_thread_new(sim, &u, XK_SIM_ANY, step, &b) == XK_OK);
	xk_sim_join(t);
	xk_sim_join(u);
	end();
	CU_ASSERT_STRING_EQUAL(said, "a@0 a@40 b@80 b@120 a@160 a@200");
}

/* ---- the bus ------------------------------------------------------------------------------- */

struct mover { xk_ns at, work, bus; unsigned n; bool ahead; xk_ns end; };

/* ahead: without letting others go first, as in a unit of work. */
static void moves(void *arg)
{
	struct mover *m = arg;

	xk_sim_charge(m->at);
	for (unsigned i = 0; i < m->n; i++) {
		xk_sim_work(m->work, m->bus);
		if (!m->ahead)
			xk_sim_pass();
	}
	m->end = now;
}

static void move_all(struct mover *m, unsigned n)
{
	static struct xk_sim_thread *t[CROWD];
	xk_ns busy = 0;

	begin(n, (struct xk_sim_costs){ 0 });
	for (unsigned i = 0; i < n; i++)
		CU_ASSERT_FATAL(xk_sim_thread_new(sim, &t[i], i, moves, &m[i]) == XK_OK);
	for (unsigned i = 0; i < n; i++) {
		xk_sim_join(t[i]);
		busy += m[i].n * m[i].bus;
	}
	CU_ASSERT(xk_sim_bus_busy(sim) == busy);
	end();
}

static void work_goes_on_while_bytes_cross(void)
{
	struct mover one = { .at = 5, .work = 1000, .bus = 400, .n = 10 };

	move_all(&one, 1);
	CU_ASSERT(one.end == 5 + 10000);
	one = (struct mover){ .at = 5, .work = 100, .bus = 400, .n = 10 };
	move_all(&one, 1);
	CU_ASSERT(one.end == 5 + 4000);
}

/* 720 us of work with 65.5 of the bus: eleven processors fill it. */
static void the_bus_is_one_for_all(void)
{
	for (unsigned n = 1; n <= CROWD; n++) {
		struct mover m[CROWD];
		double last = 0, each = n < 11 ? 720 : 65.5 * n;

		for (unsigned i = 0; i < n; i++)
			m[i] = (struct mover){ .work = 720000, .bus = 65500, .n = 30 };
		move_all(m, n);
		for (unsigned i = 0; i < n; i++)
			last = (double)m[i].end > last ? (double)m[i].end : last;
		CU_ASSERT(last / 30e3 > each * 0.99 && last / 30e3 < each * 1.03);
	}
}

static void who_is_ahead_does_not_hold_up_who_is_behind(void)
{
	struct mover m[2] = {
		{ .at = 10 * XK_MS, .work = 1, .bus = XK_MS, .n = 1, .ahead = true },
		{ .at = 0, .work = 1, .bus = XK_MS, .n = 2, .ahead = true },
	};

	move_all(m, 2);
	CU_ASSERT(m[0].end == 11 * XK_MS && m[1].end == 2 * XK_MS);
}

/* ---- life --------------------------------------------------------------------------------------- */

static void refuses_what_is_no_number_of_processors(void)
{
	static const struct xk_sim_costs free;
	struct xk_sim *other;

	CU_ASSERT(xk_sim_new(&other, 0, &free, &now, &ops) == XK_E_INVAL);
	CU_ASSERT(xk_sim_new(&other, XK_SIM_PROCESSORS + 1, &free, &now, &ops) == XK_E_INVAL);
	begin(XK_SIM_PROCESSORS, free);
	CU_ASSERT(xk_sim_new(&other, 1, &free, &now, &ops) == XK_E_BUSY);
	end();
}

static void many_threads_are_busy_for_what_they_charged(void)
{
	static struct xk_sim_thread *t[3000];
	struct steps s = { "", 10, 4 };
	struct xk_sim_stats of;
	xk_ns busy = 0;

	begin(XK_SIM_PROCESSORS, (struct xk_sim_costs){ 0 });
	for (unsigned i = 0; i < XK_ARRAY_LEN(t); i++)
		CU_ASSERT_FATAL(xk_sim_thread_new(sim, &t[i], i % XK_SIM_PROCESSORS, step, &s) == XK_OK);
	for (unsigned i = 0; i < XK_ARRAY_LEN(t); i++)
		xk_sim_join(t[i]);
	for (unsigned i = 0; i < XK_SIM_PROCESSORS; i++) {
		xk_sim_stats(sim, i, &of);
		busy += of.busy;
	}
	CU_ASSERT(busy == XK_ARRAY_LEN(t) * 40);
	end();
}

static CU_TestInfo tests[] = {
	{ "least_time_runs_and_of_several_the_lowest_number", least_time_runs_and_of_several_the_lowest_number },
	{ "one_processor_runs_one_after_the_other", one_processor_runs_one_after_the_other },
	{ "a_slice_ends_a_turn", a_slice_ends_a_turn },
	{ "a_thread_knows_what_it_was_charged", a_thread_knows_what_it_was_charged },
	{ "a_yield_costs_time_and_lets_the_next_run", a_yield_costs_time_and_lets_the_next_run },
	{ "each_thread_finds_its_own_as_it_left_it", each_thread_finds_its_own_as_it_left_it },
	{ "a_lock_is_had_in_the_order_of_asking", a_lock_is_had_in_the_order_of_asking },
	{ "a_lock_of_another_processor_costs_its_line", a_lock_of_another_processor_costs_its_line },
	{ "who_stood_in_line_pays_less_and_giving_back_is_nobody_elses",
	  who_stood_in_line_pays_less_and_giving_back_is_nobody_elses },
	{ "a_table_is_locked_for_as_long_as_something_is_looked_up", a_table_is_locked_for_as_long_as_something_is_looked_up },
	{ "a_lock_among_twenty_costs_each_his_place_in_line", a_lock_among_twenty_costs_each_his_place_in_line },
	{ "who_stands_in_line_sleeps_where_the_policy_says_so", who_stands_in_line_sleeps_where_the_policy_says_so },
	{ "locks_take_so_long_and_every_wait_is_timed", locks_take_so_long_and_every_wait_is_timed },
	{ "sleeping_costs_more_where_others_do", sleeping_costs_more_where_others_do },
	{ "taking_from_a_queue_costs_more_where_others_do_or_are_idle",
	  taking_from_a_queue_costs_more_where_others_do_or_are_idle },
	{ "threads_of_any_processor_run_where_there_is_room", threads_of_any_processor_run_where_there_is_room },
	{ "who_wakes_takes_a_processor_that_is_free", who_wakes_takes_a_processor_that_is_free },
	{ "a_slice_ends_for_threads_of_any_processor", a_slice_ends_for_threads_of_any_processor },
	{ "work_goes_on_while_bytes_cross", work_goes_on_while_bytes_cross },
	{ "the_bus_is_one_for_all", the_bus_is_one_for_all },
	{ "who_is_ahead_does_not_hold_up_who_is_behind", who_is_ahead_does_not_hold_up_who_is_behind },
	{ "readers_share_but_not_past_a_writer", readers_share_but_not_past_a_writer },
	{ "who_spins_is_prompt_and_who_sleeps_is_not", who_spins_is_prompt_and_who_sleeps_is_not },
	{ "when_all_sleep_it_is_said_and_time_goes_on_after", when_all_sleep_it_is_said_and_time_goes_on_after },
	{ "refuses_what_is_no_number_of_processors", refuses_what_is_no_number_of_processors },
	{ "many_threads_are_busy_for_what_they_charged", many_threads_are_busy_for_what_they_charged },
	CU_TEST_INFO_NULL
};

static CU_SuiteInfo suites[] = {
	{ "sim", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	if (!xk_fiber_available())
		xk_test_skip("built without Boost.Context (package libboost-context-dev)");
	return xk_test_main(suites);
}

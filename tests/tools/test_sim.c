/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_sim.c - promises of vp-sim's model: equation 1 and table 3, frames and trains, packets that
 * are neither lost nor invented, and the same result for the same seed.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/xk_rand.h"
#include "tests/support/xk_test.h"
#include "tools/vp-sim/sim.h"
#include "tools/vp-sim/sim_heap.h"

static struct sim_ledger challenge;

#define NEAR(is, should, by) CU_ASSERT(fabs((double)(is) - (should)) <= (by) * fabs((double)(should)))

static int open_machine(void)
{
	char path[4096];

	snprintf(path, sizeof path, "%s/graphs/machines/challenge.lua", xk_test_srcdir());
	return sim_ledger_load(&challenge, path);
}

static int close_machine(void)
{
	sim_ledger_free(&challenge);
	return 0;
}

static void model(struct sim_model *m, enum sim_parallel how, unsigned streams)
{
	sim_model_defaults(m);
	m->ledger = &challenge;
	m->processors = 8;
	m->parallel = how;
	m->streams = streams;
	m->duration = XK_SEC;
	m->warmup = 200 * XK_MS;
}

static struct sim_result *run(const struct sim_model *m)
{
	static struct sim_result r[2];
	static unsigned i;

	i = 1 - i;
	CU_ASSERT_FATAL(sim_run(m, &r[i]));
	CU_ASSERT_EQUAL(r[i].waited + r[i].arrived, r[i].served + r[i].waiting);
	return &r[i];
}

/* ---- the caches --------------------------------------------------------------------- */

static void equation_1_is_hot_at_once_and_cold_in_the_end(void)
{
	static struct xk_cache c;
	struct xk_cache_machine caches = sim_cache_of(&challenge);
	double f1, f2, before1 = 0, before2 = 0;

	NEAR(xk_cache_mix(0, 0, 10, 20, 50), 10, 1e-12);
	NEAR(xk_cache_mix(1, 0, 10, 20, 50), 20, 1e-12);
	NEAR(xk_cache_mix(1, 1, 10, 20, 50), 50, 1e-12);
	NEAR(xk_cache_mix(0.5, 0.25, 10, 20, 50), 0.5 * 10 + 0.5 * (0.75 * 20 + 0.25 * 50), 1e-12);
	xk_cache_init(&c, &caches, 1);
	xk_cache_displaced(&c, 0, &f1, &f2);
	CU_ASSERT(f1 == 0 && f2 == 0);
	for (xk_ns x = 100; x < 1000 * XK_SEC; x = x * 5 / 4) {
		xk_cache_displaced(&c, x, &f1, &f2);
		/* It grows, the first level's first, and is what is computed. */
		CU_ASSERT(f1 >= before1 && f2 >= before2 && f1 >= f2 && f1 <= 1);
		CU_ASSERT(fabs(f1 - xk_cache_share(&caches, 1, (double)x / 1e3)) < 1e-4);
		CU_ASSERT(fabs(f2 - xk_cache_share(&caches, 2, (double)x / 1e3)) < 1e-4);
		before1 = f1;
		before2 = f2;
	}
	CU_ASSERT(f1 > 0.999 && f2 > 0.999);
	/* 20 references a microsecond, half of them to each 512 lines of 32 bytes: u(10000; 32) by hand. */
	NEAR(xk_cache_share(&caches, 1, 1000), 1 - exp(-2.19827 * pow(32, 0.033233) * pow(1e4, 0.827457) *
						       pow(10, -0.13025 * log10(32) * 4) / 512), 1e-9);
	/* Other work that references nothing displaces nothing. */
	xk_cache_init(&c, &caches, 0);
	xk_cache_displaced(&c, XK_SEC, &f1, &f2);
	CU_ASSERT(f1 == 0 && f2 == 0);
}

static double cell(enum sim_parallel how, unsigned level, bool moved) { return sim_cache_cell(&challenge, how, level, moved); }

static void cells_are_those_of_table_3(void)
{
	static const double send[3][2] = { { 37.3, 47.2 }, { 53.7, 62.0 }, { 168.3, 168.3 } };
	static const double receive[3][2] = { { 90.6, 110.8 }, { 116.8, 133.8 }, { 258.3, 258.3 } };
	double hot, cold;

	for (unsigned i = 0; i < 3; i++)
		for (int moved = 0; moved < 2; moved++) {
			NEAR(cell(SIM_SEND, i, moved), send[i][moved], 1e-6);
			/* The receive row is a mean over both ways of being parallel. */
			NEAR((cell(SIM_LOCKING, i, moved) + cell(SIM_IPS, i, moved)) / 2, receive[i][moved], 0.05);
		}
	NEAR(challenge.cost[SIM_SEND][SIM_ACQUIRE].v + challenge.cost[SIM_SEND][SIM_RELEASE].v, 20.1, 1e-9);
	NEAR(challenge.cost[SIM_IPS][SIM_ACQUIRE].v + challenge.cost[SIM_IPS][SIM_RELEASE].v, 8.6, 1e-9);
	/* Footnote 18: means over a thread's stack, cached and moved. */
	hot = (cell(SIM_SEND, 0, false) + cell(SIM_SEND, 0, true)) / 2;
	cold = (cell(SIM_SEND, 1, false) + cell(SIM_SEND, 1, true)) / 2;
	NEAR(100 * (cold / hot - 1), 36.9, 0.01);
	NEAR(100 * (cell(SIM_SEND, 2, false) / hot - 1), 298, 0.01);
	NEAR((cell(SIM_SEND, 0, true) + cell(SIM_SEND, 1, true)) / (cell(SIM_SEND, 0, false) + cell(SIM_SEND, 1, false)), 1.2, 0.005);
}

/* ---- streams -------------------------------------------------------------------------- */

static void frames_of_table_2(struct sim_model *m)
{
	static const double frame[][2] = { { 28, 2.8 }, { 40, 4.7 }, { 48, 4.7 }, { 56, 3.8 }, { 60, 0.9 }, { 92, 20.8 }, { 98, 0.9 },
					   { 128, 43.4 }, { 320, 1.9 }, { 470, 0.9 }, { 2400, 0.9 }, { 4096, 14.2 } };
	double sum = 0;

	for (unsigned i = 0; i < XK_ARRAY_LEN(frame); i++) {
		sum += frame[i][1];
		m->frame[m->nframes++] = (struct sim_frame){ frame[i][0], sum / 99.9 };
	}
}

static void frames_have_their_mean(void)
{
	struct sim_model m;
	const struct sim_result *r;

	model(&m, SIM_SEND, 100);
	frames_of_table_2(&m);
	NEAR(sim_model_bytes(&m), 697.4, 0.001);
	m.service = SIM_SERVICE_FRAMES;
	m.duration = 20 * XK_SEC;
	r = run(&m);
	NEAR((double)r->execution / (double)r->served / 40, 697.4, 0.01);
}

/* The rate does not depend on the trains, and with them packets find their stream's cache. */
static void trains_keep_the_rate(void)
{
	double hits = -1;

	for (unsigned burst = 1; burst <= 8; burst *= 2) {
		struct sim_model m;
		const struct sim_result *r;

		model(&m, SIM_IPS, 200);
		m.duration = 10 * XK_SEC;
		m.burst = burst;
		NEAR(sim_model_between(&m), 8e6 * burst - 80e3 * (burst - 1), 1e-12);
		r = run(&m);
		NEAR((double)r->arrived, 200 * 125 * 10, 0.015);
		CU_ASSERT((double)r->map_hits / (double)r->served > hits);
		hits = (double)r->map_hits / (double)r->served;
	}
}

/* ---- policies ----------------------------------------------------------------------------- */

static void wired_streams_do_not_move(void)
{
	struct sim_model m;
	const struct sim_result *r;

	model(&m, SIM_LOCKING, 100);
	m.queue = XK_QUEUE_PER;
	r = run(&m);
	CU_ASSERT_EQUAL(r->sessions_moved, 0);
	CU_ASSERT(r->protocol_moved > r->served / 2);
	CU_ASSERT_EQUAL(r->helped, 0);
	m.depth = XK_SCHED_STEAL;
	r = run(&m);
	CU_ASSERT(r->helped > 0 && r->sessions_moved > 0);
	/* Nobody waits while somebody is free. */
	CU_ASSERT(r->queueing < r->served * 100);
}

/* With a stack for each processor no stack waits for another: it matters not where free ones come from. */
static void as_many_stacks_as_processors_are_processor_scaled(void)
{
	struct sim_model m;
	struct sim_result a;

	model(&m, SIM_IPS, 100);
	m.stacks = 8;
	a = *run(&m);
	m.stacks = SIM_STACKS_PROCESSORS;
	CU_ASSERT_EQUAL(memcmp(&a, run(&m), sizeof a), 0);
	m.stacks = SIM_STACKS_STREAMS;
	CU_ASSERT_NOT_EQUAL(memcmp(&a, run(&m), sizeof a), 0);
}

static void pools_of_their_own_move_nothing(void)
{
	struct sim_model m;
	const struct sim_result *r;
	double own;

	model(&m, SIM_SEND, 200);
	r = run(&m);
	own = sim_mean(r, SIM_EXECUTION);
	CU_ASSERT(r->threads_moved == 0 && r->memory_moved == 0);
	m.memory_global = true;
	r = run(&m);
	/* Whoever was last is hardly next: most packets pay for both. */
	CU_ASSERT(r->memory_moved > r->served / 2);
	NEAR(sim_mean(r, SIM_EXECUTION), own + 20.1 * (double)r->memory_moved / (double)r->served, 0.01);
	m.memory_global = false;
	m.threads_global = true;
	r = run(&m);
	CU_ASSERT(r->threads_moved > r->served / 2 && r->threads_moved <= r->firsts);
	CU_ASSERT(sim_mean(r, SIM_EXECUTION) > own + 4);
}

/* A thread is taken by the first packet after other work alone: hardly ever where there is none. */
static void threads_stay_where_they_are_at_high_rate(void)
{
	struct sim_model m;
	const struct sim_result *r;

	model(&m, SIM_SEND, 1800);
	m.threads_global = true;
	r = run(&m);
	CU_ASSERT(r->threads_moved <= r->firsts && r->firsts < r->served / 100);
}

/* Without a quantum a stack is served until it is empty: it moves less than with a turn for each packet. */
static void a_stack_is_served_until_it_is_empty(void)
{
	struct sim_model m;
	struct sim_result all;

	model(&m, SIM_IPS, 1000);
	m.stacks = SIM_STACKS_STREAMS;
	all = *run(&m);
	m.quantum = 1;
	CU_ASSERT(all.protocol_moved * 2 < run(&m)->protocol_moved);
	CU_ASSERT(all.served > run(&m)->served * 11 / 10);
}

/* ---- the engine ------------------------------------------------------------------------------- */

static void time_in_the_system_is_conserved(void)
{
	for (unsigned i = 0; i < 12; i++) {
		struct sim_model m;
		const struct sim_result *r;

		model(&m, (enum sim_parallel)(i % 3), 300 + 100 * i);
		m.warmup = 0;
		m.seed = i;
		m.queue = (enum xk_queue)(i / 3 % 2);
		m.quantum = i / 6;
		r = run(&m);
		CU_ASSERT_EQUAL(r->delay + r->residue, r->area);
		CU_ASSERT_EQUAL(r->delay, r->queueing + r->execution);
	}
}

/* Only whole numbers and exact operations: the same on every machine, from every compiler. */
static void the_same_seed_gives_the_same_numbers(void)
{
	struct sim_model m;
	struct sim_result a;

	model(&m, SIM_LOCKING, 64);
	m.displace = 0;
	m.duration = 100 * XK_MS;
	m.seed = 7;
	a = *run(&m);
	CU_ASSERT_EQUAL(memcmp(&a, run(&m), sizeof a), 0);
	CU_ASSERT_EQUAL(a.served, 764);
	CU_ASSERT_EQUAL(a.delay, 92275020);
	m.seed = 8;
	CU_ASSERT_NOT_EQUAL(a.delay, run(&m)->delay);
}

static void a_growing_queue_has_no_mean(void)
{
	struct sim_model m;

	model(&m, SIM_IPS, 800);
	CU_ASSERT_TRUE(run(&m)->steady);
	m.streams = 1100;
	CU_ASSERT_FALSE(run(&m)->steady);
}

static void more_streams_than_it_found_are_too_many(void)
{
	struct sim_model m;
	struct sim_result at, above;
	unsigned most;

	model(&m, SIM_SEND, 1);
	m.find_streams = true;
	m.limit = XK_MS;
	m.duration = 500 * XK_MS;
	CU_ASSERT_TRUE_FATAL(sim_find_streams(&m, &most, &at, &above));
	CU_ASSERT(most > 1400 && most < 1730);      /* 8 processors, 37.3 us and 125 packets a second: 1716 */
	CU_ASSERT(sim_mean(&at, SIM_DELAY) < 1000);
	CU_ASSERT(above.time < m.duration || sim_mean(&above, SIM_DELAY) >= 1000);
	/* A limit below a packet's own time: not even one. */
	m.limit = 10 * XK_US;
	CU_ASSERT_TRUE_FATAL(sim_find_streams(&m, &most, &at, &above));
	CU_ASSERT_EQUAL(most, 0);
}

static void events_come_by_time_and_number(void)
{
	uint64_t room[300 + SIM_HEAP_SPARE], last = 0;
	struct sim_heap h = { room, 0 };
	struct xk_rand r;
	uint64_t sum = 0;

	xk_rand_init(&r, 1, 1);
	CU_ASSERT(sim_event_at(sim_event(20 * 3600 * XK_SEC, 70000)) == 20 * 3600 * XK_SEC);
	CU_ASSERT(sim_event_no(sim_event(20 * 3600 * XK_SEC, 70000)) == 70000);
	for (uint32_t i = 0; i < 300; i++)
		sim_heap_put(&h, sim_event(xk_rand_below(&r, 50), 300 - i));
	for (unsigned i = 0; i < 1000; i++) {
		CU_ASSERT(i == 0 || h.e[0] > last);
		last = h.e[0];
		sim_heap_replace(&h, sim_event(sim_event_at(last) + 1 + xk_rand_below(&r, 50), sim_event_no(last)));
	}
	for (unsigned n = 300; n != 0; n--) {
		uint64_t e = sim_heap_get(&h);

		CU_ASSERT(e > last && h.n == n - 1);
		last = e;
		sum += sim_event_no(e);
	}
	CU_ASSERT_EQUAL(sum, 300 * 301 / 2);
}

/* ---- estimates ---------------------------------------------------------------------------------- */

static void neighbours_that_go_together_have_no_interval(void)
{
	static const double even[] = { 1, 3, 1, 3, 1, 3, 1, 3, 1, 3 }, rising[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 };
	struct sim_estimate e = sim_estimate_of(even, 10, true);

	NEAR(e.mean, 2, 1e-12);
	NEAR(e.half, 2.262 * sqrt(10.0 / 9 / 10), 1e-9);
	e = sim_estimate_of(rising, 10, true);
	CU_ASSERT(e.lag1 > 0.3 && isnan(e.half));
	/* Runs of their own do not depend on each other. */
	CU_ASSERT(isfinite(sim_estimate_of(rising, 10, false).half));
}

static void closed_forms_agree(void)
{
	CU_ASSERT_EQUAL(sim_selftest(0.03), SIM_OK);
}

static CU_TestInfo tests[] = {
	{ "equation 1 is hot at once and cold in the end", equation_1_is_hot_at_once_and_cold_in_the_end },
	{ "cells are those of table 3", cells_are_those_of_table_3 },
	{ "frames have their mean", frames_have_their_mean },
	{ "trains keep the rate", trains_keep_the_rate },
	{ "wired streams do not move", wired_streams_do_not_move },
	{ "as many stacks as processors are processor-scaled", as_many_stacks_as_processors_are_processor_scaled },
	{ "pools of their own move nothing", pools_of_their_own_move_nothing },
	{ "threads stay where they are at high rate", threads_stay_where_they_are_at_high_rate },
	{ "a stack is served until it is empty", a_stack_is_served_until_it_is_empty },
	{ "time in the system is conserved", time_in_the_system_is_conserved },
	{ "the same seed gives the same numbers", the_same_seed_gives_the_same_numbers },
	{ "a growing queue has no mean", a_growing_queue_has_no_mean },
	{ "more streams than it found are too many", more_streams_than_it_found_are_too_many },
	{ "events come by time and number", events_come_by_time_and_number },
	{ "neighbours that go together have no interval", neighbours_that_go_together_have_no_interval },
	{ "closed forms agree", closed_forms_agree },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "sim", open_machine, close_machine, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void) { return xk_test_main(suites); }

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_bounds_soak.c - a day of virtual time: connections come and go over a bad link, and
 * again and again everything is let go of, and must be gone.
 *
 * Four times in a run no connection is opened for five minutes.  Then sessions, buffers and
 * timers are what they were before the first one, and memory is what it was after the first
 * quarter: a day leaves no more behind than six hours do.
 *
 *   tests/fault/test_bounds_soak                  three seeds
 *   SOAK_SEEDS=1-100 SOAK_HOURS=24 tests/fault/test_bounds_soak
 * Invariant: a seed and a build give the same run.
 */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/fault/storm.h"
#include "tests/support/xk_test_graph.h"
#include "runtime/sync/xk_sync.h"
#include "runtime/upi/xk_part.h"

struct rest { uint64_t sessions, ip, buffers, timers, memory; };

/* What readers might still have seen is given back first, however late that thread runs. */
static struct rest at_rest(void)
{
	struct rest r;

	xk_rcu_barrier();
	r = (struct rest){ storm_live("tcp1") + storm_live("tcp2"), storm_live("ip1") + storm_live("ip2"), storm_buffers(), 0,
			  storm_memory() };

	for (unsigned i = 0; i < storm_graph->vps->nvps; i++)
		r.timers += storm_graph->vps->vp[i]->wheel.armed;
	return r;
}

static void check_rest(struct rest now, struct rest was, const char *what)
{
	if (now.sessions != was.sessions || now.buffers != was.buffers || now.timers > was.timers || now.ip > was.ip) {
		printf("# %s: %llu sessions, %llu of ip, %llu buffers, %llu timers; were %llu, %llu, %llu, %llu\n", what,
		       (unsigned long long)now.sessions, (unsigned long long)now.ip, (unsigned long long)now.buffers,
		       (unsigned long long)now.timers, (unsigned long long)was.sessions, (unsigned long long)was.ip,
		       (unsigned long long)was.buffers, (unsigned long long)was.timers);
		CU_FAIL("not back to base");
	}
}

static void begin(unsigned seed)
{
	char graph[80], fault[200];

	/* Every seed is another link. */
	snprintf(fault, sizeof fault, "{ loss = '%u%%', dup = '%u%%', reorder = '%u%%', corrupt = '0.1%%', delay = '%ums', "
		 "hold = '5ms', queue = 65536, seed = %u }", seed % 8, seed % 3, seed % 11, 1 + seed * 7 % 150, seed + 1);
	snprintf(graph, sizeof graph, "threading = vppc { vps = %u }, seed = %u", 1 + seed % 3, seed + 1);
	storm_up(&(struct storm_conf){ .client = "every = '0s', patience = '10m'", .fault = fault, .graph = graph });
}

/* Returns the connections that were opened. */
static uint64_t soak(unsigned seed, unsigned hours)
{
	struct rest base, first = { 0 };
	struct storm_stats st;

	begin(seed);
	storm_run(300 * XK_SEC);
	base = at_rest();
	for (unsigned quarter = 0; quarter < 4; quarter++) {
		struct rest now;

		storm_pace(10 * XK_SEC);
		storm_run((xk_ns)hours * 900 * XK_SEC - 1200 * XK_SEC);
		storm_pace(0);
		/* The longest timeouts in a row, and TIME-WAIT. */
		storm_run(1200 * XK_SEC);
		now = at_rest();
		check_rest(now, base, "after a quarter");
		if (quarter == 0)
			first = now;
		/* Runs of slabs and tables may still double once. */
		CU_ASSERT(now.memory <= first.memory + first.memory / 8);
	}
	st = storm_stats("client");
	CU_ASSERT_EQUAL(st.wrong + storm_stats("server").wrong, 0);
	CU_ASSERT_EQUAL(st.opened, st.done + st.failed + st.refused);
	CU_ASSERT((st.failed + st.refused) * 50 <= st.opened);
	storm_down();
	return st.opened;
}

static void what_comes_and_goes_leaves_nothing(void)
{
	const char *seeds = getenv("SOAK_SEEDS"), *h = getenv("SOAK_HOURS");
	unsigned first = 1, last = 3, hours = h != NULL ? (unsigned)atoi(h) : xk_test_rounds(40) == 40 ? 24 : 2;
	uint64_t conns = 0, failures = CU_get_number_of_failures();

	if (seeds != NULL && sscanf(seeds, "%u-%u", &first, &last) == 1)
		last = first;
	for (unsigned seed = first; seed <= last; seed++) {
		conns += soak(seed, hours);
		if (CU_get_number_of_failures() != failures) {
			printf("# seed %u fails\n", seed);
			break;
		}
	}
	printf("# %u seeds of %u hours, %llu connections\n", last - first + 1, hours, (unsigned long long)conns);
}

static CU_TestInfo tests[] = {
	{ "what_comes_and_goes_leaves_nothing", what_comes_and_goes_leaves_nothing },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "soak", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void) { return xk_test_main_rcu(suites); }

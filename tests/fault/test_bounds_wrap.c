/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_bounds_wrap.c - sequence numbers of both sides wrap in one exchange over a bad link,
 * byte-exact.
 *
 * A number is a keyed hash of the connection and a clock, so a port is looked for under
 * which both sides' numbers are near each other, and then it is waited until the clock has
 * brought them to the end of the numbers.
 *
 *   WRAP_GIB=5 tests/fault/test_bounds_wrap     an answer that goes round by itself, too
 * Invariant: the exchange begins below 2^32 and ends above it, on both sides.
 */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>

#include "protocols/tcp/sess/tcp_sess.h"
#include "tests/fault/storm.h"
#include "tests/support/xk_test_graph.h"
#include "runtime/upi/xk_inline.h"

#define START 0xffffff00u

static uint32_t isn(const char *tcp, uint32_t remote, uint32_t local, uint16_t rport, uint16_t lport)
{
	struct xk_rep *r = storm_rep(tcp);
	struct xk_key k;

	r->vp->now = storm_now();
	tcp_key(&k, ip_pair(remote, local), tcp_ports(rport, lport));
	return tcp_isn(r, &k);
}

/* A port of the client's where the server begins at most `near` before the client. */
static uint16_t port_for(uint32_t near)
{
	for (unsigned p = 1024; p < 65536; p++) {
		uint32_t c = isn("tcp1", STORM_SERVER, STORM_CLIENT, STORM_PORT, (uint16_t)p);
		uint32_t s = isn("tcp2", STORM_CLIENT, STORM_SERVER, (uint16_t)p, STORM_PORT);

		if (c - s < near)
			return (uint16_t)p;
	}
	return 0;
}

static void an_exchange(const char *fault, unsigned seed, unsigned lead)
{
	char graph[80], bad[200];
	struct storm_stats st;
	uint32_t now;
	uint16_t port;

	snprintf(graph, sizeof graph, "threading = up {}, seed = %u", seed);
	snprintf(bad, sizeof bad, fault, seed);
	storm_up(&(struct storm_conf){ .client = "every = '0s', ask = '1MiB', size = '1MiB', patience = '1h'",
				       .server = "ask = '1MiB', size = '1MiB'", .graph = graph, .fault = bad });
	storm_run(XK_SEC);
	port = port_for(400000);
	CU_ASSERT_NOT_EQUAL_FATAL(port, 0);
	now = isn("tcp1", STORM_SERVER, STORM_CLIENT, STORM_PORT, port);
	storm_run((xk_ns)(START - lead - now) * 4 * XK_US);
	now = isn("tcp1", STORM_SERVER, STORM_CLIENT, STORM_PORT, port);
	CU_ASSERT_EQUAL(now, START - lead);
	/* Before the wrap both; the exchange's million bytes go beyond it. */
	CU_ASSERT(isn("tcp2", STORM_CLIENT, STORM_SERVER, port, STORM_PORT) > 0xffffff00u - 900000);
	storm_open(port);
	storm_run(600 * XK_SEC);
	st = storm_stats("client");
	CU_ASSERT_EQUAL(st.done, 1);
	CU_ASSERT_EQUAL(st.bytes, 1u << 20);
	CU_ASSERT_EQUAL(storm_stats("server").bytes, 1u << 20);
	CU_ASSERT_EQUAL(st.wrong + storm_stats("server").wrong, 0);
	storm_down();
}

static void both_sides_wrap_in_one_exchange(void)
{
	unsigned n = (unsigned)xk_test_rounds(20);

	for (unsigned seed = 1; seed <= n; seed++) {
		an_exchange("{ delay = '2ms', seed = %u }", seed, seed * 1000);
		an_exchange("{ loss = '3%%', dup = '1%%', reorder = '5%%', reorder_depth = 5, hold = '3ms', corrupt = '0.5%%', "
			    "delay = '2ms', seed = %u }", seed, seed * 20000);
	}
}

static void an_answer_that_goes_round(void)
{
	const char *gib = getenv("WRAP_GIB");
	char client[120], server[80];
	uint64_t bytes;

	if (gib == NULL) {
		xk_test_skip("takes minutes: WRAP_GIB=5");
		return;
	}
	bytes = strtoull(gib, NULL, 10) << 30;
	snprintf(client, sizeof client, "every = '0s', patience = '1h', size = %llu", (unsigned long long)bytes);
	snprintf(server, sizeof server, "size = %llu", (unsigned long long)bytes);
	storm_up(&(struct storm_conf){ .client = client, .server = server, .fault = "{ delay = '1ms', loss = '0.01%' }" });
	storm_open(0);
	for (unsigned i = 0; i < 3600 && storm_stats("client").done == 0; i++)
		storm_run(XK_SEC);
	printf("# %llu bytes in %llu s of virtual time\n", (unsigned long long)storm_stats("client").bytes,
	       (unsigned long long)(storm_now() / XK_SEC));
	CU_ASSERT_EQUAL(storm_stats("client").bytes, bytes);
	CU_ASSERT_EQUAL(storm_stats("client").wrong, 0);
	storm_down();
}

static CU_TestInfo tests[] = {
	{ "both_sides_wrap_in_one_exchange", both_sides_wrap_in_one_exchange },
	{ "an_answer_that_goes_round", an_answer_that_goes_round },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "wrap", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void) { return xk_test_main_rcu(suites); }

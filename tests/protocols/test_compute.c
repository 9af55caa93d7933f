/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_compute.c - compute over UDP, two stacks joined by a wire, under the virtual clock.
 *
 * Promises: a message, then computing, in turns; each has its size; the graph may end after the last; without
 * computing one follows the other; who hears that the connection has gone stops, and the run has failed.
 */
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_node.h"
#include "tests/protocols/proto_fixture.h"
#include "tests/support/xk_test.h"

extern const struct xk_proto xk_proto_eth_mem, xk_proto_eth, xk_proto_arp, xk_proto_ip, xk_proto_udp, xk_proto_ncs,
	xk_proto_echo, xk_proto_compute;

static struct pf f;

#define HOST(x, addr) \
	{ &xk_proto_eth_mem, "d" x, NULL, "wire=w" }, { &xk_proto_eth, "l" x, "d" x, NULL }, \
	{ &xk_proto_arp, "r" x, "l" x, "queue=100" }, { &xk_proto_ip, "i" x, "r" x, "addr=" addr "/24" }, \
	{ &xk_proto_udp, "u" x, "i" x, NULL }, { &xk_proto_ncs, "n" x, "u" x, NULL }

static void up(const char *compute)
{
	const struct pf_spec g[] = {
		HOST("a", "10.0.0.1"), HOST("b", "10.0.0.2"),
		{ &xk_proto_compute, "compute", "na", compute }, { &xk_proto_echo, "echo", "nb", NULL },
		{ NULL, NULL, NULL, NULL } };

	pf_up(&f, 2, g);
}

static void a_message_then_computing(void)
{
	up("to=10.0.0.2; port=7; size=3000; time=10ms; count=5");
	CU_ASSERT_EQUAL(f.g->napps, 1);
	pf_run(&f, 25 * XK_MS);
	CU_ASSERT_EQUAL(pf_count(&f, "compute", "messages"), 2);
	CU_ASSERT_EQUAL(f.g->ndone, 0);
	pf_run(&f, XK_SEC);
	CU_ASSERT_EQUAL(pf_count(&f, "compute", "messages"), 5);
	CU_ASSERT_EQUAL(pf_count(&f, "compute", "bytes"), 15000);
	CU_ASSERT_EQUAL(f.g->ndone, 1);
	CU_ASSERT_EQUAL(pf_count(&f, "nb", "messages_in"), 5);
	CU_ASSERT_EQUAL(pf_count(&f, "nb", "sdus_in"), 15);
	pf_down(&f);
}

static void without_computing_one_follows_the_other(void)
{
	up("to=10.0.0.2; port=7; size=1; time=0s; count=100");
	pf_run(&f, 10 * XK_MS);
	CU_ASSERT_EQUAL(pf_count(&f, "compute", "messages"), 100);
	CU_ASSERT_EQUAL(pf_count(&f, "nb", "messages_in"), 100);
	pf_down(&f);
}

static void who_is_refused_stops_and_has_failed(void)
{
	up("to=10.0.0.2; port=8; time=10ms");
	pf_run(&f, XK_SEC);
	CU_ASSERT_PTR_NOT_NULL(xk_node_failure(pf_node(&f, "compute")));
	CU_ASSERT(pf_count(&f, "compute", "messages") <= 1);
	CU_ASSERT_EQUAL(pf_sessions(&f, "na"), 1);       /* the control connection */
	pf_down(&f);
}

static CU_TestInfo compute[] = {
	{ "a_message_then_computing", a_message_then_computing },
	{ "without_computing_one_follows_the_other", without_computing_one_follows_the_other },
	{ "who_is_refused_stops_and_has_failed", who_is_refused_stops_and_has_failed },
	CU_TEST_INFO_NULL
};

int main(void)
{
	static const CU_SuiteInfo suites[] = { { .pName = "compute", .pTests = compute }, CU_SUITE_INFO_NULL };

	return xk_test_main(suites);
}

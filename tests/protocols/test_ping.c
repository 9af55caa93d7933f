/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_ping.c - ping over ICMP, two stacks joined by a wire that may be bad.
 *
 * Promises: every request is answered, failed or lost, and nothing else; round
 * trip times are the graph's clock; damage, duplicates and late answers are
 * told apart; the graph may end when the last request is decided.
 */
#include <string.h>

#include "runtime/upi/xk_app.h"
#include "runtime/upi/xk_graph.h"
#include "tests/protocols/proto_fixture.h"
#include "tests/support/xk_test.h"

extern const struct xk_proto xk_proto_eth_mem, xk_proto_eth, xk_proto_arp, xk_proto_ip, xk_proto_icmp,
	xk_proto_ping, xk_proto_impair;

static struct pf f;

static void up(unsigned nvps, const char *ping, const char *impair)
{
	const struct pf_spec g[] = {
		{ &xk_proto_eth_mem, "da", NULL, "wire=w" }, { &xk_proto_impair, "bad", "da", impair },
		{ &xk_proto_eth, "la", "bad", NULL }, { &xk_proto_arp, "ra", "la", "queue=100" },
		{ &xk_proto_ip, "ia", "ra", "addr=10.0.0.1/24" }, { &xk_proto_icmp, "here", "ia", NULL },
		{ &xk_proto_ping, "ping", "here", ping },
		{ &xk_proto_eth_mem, "db", NULL, "wire=w" }, { &xk_proto_eth, "lb", "db", NULL },
		{ &xk_proto_arp, "rb", "lb", NULL }, { &xk_proto_ip, "ib", "rb", "addr=10.0.0.2/24" },
		{ &xk_proto_icmp, "there", "ib", NULL },
		{ NULL, NULL, NULL, NULL } };

	pf_up(&f, nvps, g);
}

static uint64_t n(const char *counter)
{
	return pf_count(&f, "ping", counter);
}

static void every_size_is_answered(void)
{
	static const char *const ping[] = {
		"to=10.0.0.2; count=3; interval=10ms; size=0", "to=10.0.0.2; count=3; interval=10ms; size=1472",
		"to=10.0.0.2; count=3; interval=10ms; size=1473", "to=10.0.0.2; count=3; interval=10ms; size=65507" };

	for (unsigned i = 0; i < 4; i++) {
		up(1 + i, ping[i], NULL);
		CU_ASSERT_EQUAL(f.g->napps, 1);
		pf_run(&f, XK_SEC);
		CU_ASSERT_EQUAL(n("sent"), 3);
		CU_ASSERT_EQUAL(n("received"), 3);
		CU_ASSERT_EQUAL(n("lost") + n("failed") + n("damaged") + n("late") + n("duplicates"), 0);
		CU_ASSERT_EQUAL(f.g->ndone, 1);
		pf_down(&f);
	}
}

static void measures_the_round_trip_by_the_graphs_clock(void)
{
	up(1, "to=10.0.0.2; count=20; interval=100ms", "delay=10ms");
	pf_run(&f, 5 * XK_SEC);
	CU_ASSERT_EQUAL(n("received"), 20);
	CU_ASSERT(n("rtt_min_ns") >= 20 * XK_MS);
	CU_ASSERT(n("rtt_min_ns") <= 23 * XK_MS);
	CU_ASSERT(n("rtt_avg_ns") >= n("rtt_min_ns") && n("rtt_avg_ns") <= n("rtt_max_ns"));
	CU_ASSERT(n("rtt_max_ns") <= 46 * XK_MS);        /* the first one waited for ARP */
	pf_down(&f);
}

static void counts_what_is_lost(void)
{
	up(2, "to=10.0.0.2; count=500; interval=5ms; timeout=50ms", "loss=20%");
	pf_run(&f, 10 * XK_SEC);
	CU_ASSERT_EQUAL(n("sent"), 500);
	CU_ASSERT_EQUAL(n("received") + n("lost"), 500);
	CU_ASSERT(n("lost") > 120 && n("lost") < 240);   /* 36 % of 500 */
	CU_ASSERT_EQUAL(f.g->ndone, 1);
	pf_down(&f);
}

static void a_silent_host_costs_the_timeout_and_no_more(void)
{
	up(1, "to=10.0.0.77; count=3; interval=10ms; timeout=300ms", NULL);
	pf_run(&f, 310 * XK_MS);
	CU_ASSERT_EQUAL(f.g->ndone, 0);
	pf_run(&f, 50 * XK_MS);
	CU_ASSERT_EQUAL(n("lost") + n("failed"), 3);
	CU_ASSERT_EQUAL(f.g->ndone, 1);
	pf_down(&f);
}

static void tells_duplicates_and_late_answers_from_answers(void)
{
	up(1, "to=10.0.0.2; count=100; interval=10ms; timeout=1s", "dup=100%");
	pf_run(&f, 5 * XK_SEC);
	CU_ASSERT_EQUAL(n("received"), 100);
	CU_ASSERT_EQUAL(n("duplicates") + n("late"), 300);   /* two requests, four answers each */
	pf_down(&f);
	up(1, "to=10.0.0.2; count=10; interval=50ms; timeout=30ms", "delay=20ms");
	pf_run(&f, 5 * XK_SEC);
	CU_ASSERT_EQUAL(n("received"), 0);
	CU_ASSERT_EQUAL(n("lost"), 10);
	CU_ASSERT(n("late") >= 9);
	pf_down(&f);
}

static void goes_on_for_ever_when_told_to(void)
{
	up(1, "to=10.0.0.2; count=0; interval=1ms; timeout=20ms", NULL);
	CU_ASSERT_EQUAL(f.g->napps, 0);
	pf_run(&f, 70 * XK_SEC);                         /* round the 16-bit numbers */
	CU_ASSERT(n("sent") > 65536 + 1000);
	CU_ASSERT(n("sent") - n("received") <= 1);
	CU_ASSERT_EQUAL(n("lost") + n("late") + n("duplicates"), 0);
	pf_down(&f);
}

static void an_unreachable_host_is_an_error_at_start(void)
{
	const struct pf_spec g[] = {
		{ &xk_proto_eth_mem, "da", NULL, NULL }, { &xk_proto_eth, "la", "da", NULL },
		{ &xk_proto_arp, "ra", "la", NULL }, { &xk_proto_ip, "ia", "ra", "addr=10.0.0.1/24" },
		{ &xk_proto_icmp, "here", "ia", NULL }, { &xk_proto_ping, "ping", "here", "to=192.0.2.1" },
		{ NULL, NULL, NULL, NULL } };
	const char *file;
	int line, col;

	CU_ASSERT_FALSE_FATAL(pf_up_try(&f, 1, g));
	CU_ASSERT_EQUAL_FATAL(xk_errs_count(f.errs), 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(xk_errs_text(f.errs, 0, &file, &line, &col), "ping: cannot ping 192.0.2.1"));
	pf_down(&f);
}

static void only_one_vp_pings(void)
{
	struct xk_app_counts c;

	up(3, "to=10.0.0.2; count=2; interval=1ms", NULL);
	pf_run(&f, 100 * XK_MS);
	for (unsigned vp = 0; vp < 3; vp++) {
		CU_ASSERT_EQUAL(xk_control(pf_rep(&f, "ping", vp), XK_CTL_APP_COUNTS, &c, sizeof c), (int)sizeof c);
		CU_ASSERT_EQUAL(c.n, vp == 0);
	}
	CU_ASSERT_EQUAL(n("received"), 2);
	pf_down(&f);
}

static CU_TestInfo tests[] = {
	{ "every size is answered", every_size_is_answered },
	{ "measures the round trip by the graph's clock", measures_the_round_trip_by_the_graphs_clock },
	{ "counts what is lost", counts_what_is_lost },
	{ "a silent host costs the timeout and no more", a_silent_host_costs_the_timeout_and_no_more },
	{ "tells duplicates and late answers from answers", tells_duplicates_and_late_answers_from_answers },
	{ "goes on for ever when told to", goes_on_for_ever_when_told_to },
	{ "an unreachable host is an error at start", an_unreachable_host_is_an_error_at_start },
	{ "only one VP pings", only_one_vp_pings },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = { { .pName = "ping", .pTests = tests }, CU_SUITE_INFO_NULL };

int main(void)
{
	return xk_test_main(suites);
}

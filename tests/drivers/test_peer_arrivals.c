/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_peer_arrivals.c - frames that are made when they are due.
 *
 * Promises: in virtual time a frame is made at the nanosecond at which it is due; delay is measured from
 * then, however late the frame was made; as many come wherever they are made.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "drivers/mem/mem.h"
#include "drivers/peer/peer.h"
#include "runtime/base/xk_hist.h"
#include "runtime/base/xk_stamp.h"
#include "runtime/upi/xk_app.h"
#include "runtime/upi/xk_graph.h"
#include "tests/drivers/wire_fixture.h"

extern const struct xk_proto xk_proto_eth, xk_proto_arp, xk_proto_ip, xk_proto_udp, xk_proto_sink_port;

static bool near(double got, double want, double share) { return fabs(got - want) <= share * want; }

/* ---- frames --------------------------------------------------------------------------------------- */

static char path[32];

#define RECEIVER(source, sink) { \
	{ &xk_proto_peer_source, "p", NULL, source }, { &xk_proto_eth_mem, "d", "p", NULL }, { &xk_proto_eth, "l", "d", NULL }, \
	{ &xk_proto_arp, "arp", "l", NULL }, { &xk_proto_ip, "ip", "arp", "addr=10.0.0.1/8" }, \
	{ &xk_proto_udp, "udp", "ip", NULL }, { &xk_proto_sink_port, "sink", "udp", sink }, { NULL, NULL, NULL, NULL } }

struct sums { uint64_t n, sum[XK_TIMES]; };

static struct sums times_of(unsigned nvps)
{
	static uint64_t hist[XK_HIST_PLACES];
	struct sums s = { 0 };

	memset(hist, 0, sizeof hist);
	for (unsigned vp = 0; vp < nvps; vp++) {
		struct xk_app_times t;

		CU_ASSERT_EQUAL_FATAL(xk_control(pf_rep(&f, "sink", vp), XK_CTL_APP_TIMES, &t, sizeof t), (int)sizeof t);
		xk_hist_sum(hist, &t.hist[XK_TIME_DELAY], 1);
		for (unsigned i = 0; i < XK_TIMES; i++)
			s.sum[i] += t.sum[i];
	}
	s.n = xk_hist_count(hist);
	return s;
}

static void frames_are_made_when_they_are_due(void)
{
	static const struct pf_spec one[] = RECEIVER("to=10.0.0.1; arrivals.model=constant; arrivals.rate=3333", "times=true");
	static const struct pf_spec many[] =
		RECEIVER("to=10.0.0.1; place=hash; conns=50; arrivals.model=train; arrivals.rate=500; arrivals.burst=3; arrivals.inner=7us",
			 "times=true; touch=none");
	struct sums s;

	/* No other frame is ever in the way, and virtual time stands still while one is worked on. */
	pf_up(&f, 1, one);
	pf_run(&f, XK_SEC);
	s = times_of(1);
	CU_ASSERT_EQUAL(s.n, 3333);
	CU_ASSERT_EQUAL(s.n, pf_count(&f, "p", "made"));
	CU_ASSERT_EQUAL(s.sum[XK_TIME_DELAY], 0);
	pf_down(&f);
	/* Here some are, for 100 ns each. */
	pf_up(&f, 3, many);
	pf_run(&f, XK_SEC);
	s = times_of(3);
	CU_ASSERT(near((double)s.n, 25000, 0.03));
	CU_ASSERT_EQUAL(s.n, pf_count(&f, "sink", "messages"));
	CU_ASSERT(s.sum[XK_TIME_QUEUE] > 0 && s.sum[XK_TIME_QUEUE] / s.n < 1000);
	CU_ASSERT_EQUAL(s.sum[XK_TIME_DELAY], s.sum[XK_TIME_QUEUE] + s.sum[XK_TIME_EXEC]);
	pf_down(&f);
}

static void as_many_come_wherever_they_are_made(void)
{
	static const struct pf_spec g[] =
		RECEIVER("to=10.0.0.1; place=hash; conns=40; arrivals.model=onoff; arrivals.rate=300; arrivals.on=5ms; arrivals.off=9ms",
			 "times=true");
	uint64_t made[3];

	for (unsigned i = 0; i < 3; i++) {
		pf_up(&f, 1 + 3 * i, g);
		pf_run(&f, XK_SEC);
		made[i] = pf_count(&f, "p", "made");
		pf_down(&f);
	}
	CU_ASSERT(near((double)made[0], 12000, 0.1));
	CU_ASSERT_EQUAL(made[1], made[0]);
	CU_ASSERT_EQUAL(made[2], made[0]);
}

static void delay_counts_from_when_a_frame_was_due(void)
{
	/* 20 times what virtual time lets through, 10 M a second: the last of 20000 is due after 0.1 ms,
	 * and waits for what is left of 2 ms. */
	static const struct pf_spec g[] =
		RECEIVER("to=10.0.0.1; count=20000; conns=4; place=hash; arrivals.model=constant; arrivals.rate=50000000", "times=true");
	struct sums s;

	pf_up(&f, 1, g);
	pf_run(&f, XK_SEC);
	s = times_of(1);
	CU_ASSERT_EQUAL(s.n, 20000);
	CU_ASSERT(near((double)s.sum[XK_TIME_QUEUE] / (double)s.n, 950e3, 0.02));
	pf_down(&f);
}

static void a_trace_ends_when_it_has_been_played(void)
{
	char source[160];
	const struct pf_spec g[] = RECEIVER(source, "times=true");
	struct sums s;

	xk_test_file(path, "0 0\n0.5 1\n0.5 0\n0.75 3\n");
	snprintf(source, sizeof source, "to=10.0.0.1; conns=4; place=hash; arrivals.model=trace; arrivals.file=%s", path);
	pf_up(&f, 2, g);
	pf_run(&f, 700 * XK_MS);
	CU_ASSERT_EQUAL(pf_count(&f, "sink", "messages"), 3);
	pf_run(&f, XK_SEC);
	CU_ASSERT_EQUAL(pf_count(&f, "sink", "messages"), 4);
	s = times_of(2);
	CU_ASSERT_EQUAL(s.n, 4);
	CU_ASSERT(s.sum[XK_TIME_DELAY] <= 400);
	pf_down(&f);
	unlink(path);
}

static void what_carries_no_time_is_not_timed(void)
{
	static const struct pf_spec g[] = RECEIVER("to=10.0.0.1; count=100; rate=1000", "times=true");

	pf_up(&f, 1, g);
	pf_run(&f, XK_SEC);
	CU_ASSERT_EQUAL(pf_count(&f, "sink", "messages"), 100);
	CU_ASSERT_EQUAL(times_of(1).n, 0);
	pf_down(&f);
}

static CU_TestInfo frame_tests[] = {
	{ "frames are made when they are due", frames_are_made_when_they_are_due },
	{ "as many come wherever they are made", as_many_come_wherever_they_are_made },
	{ "delay counts from when a frame was due", delay_counts_from_when_a_frame_was_due },
	{ "a trace ends when it has been played", a_trace_ends_when_it_has_been_played },
	{ "what carries no time is not timed", what_carries_no_time_is_not_timed },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ .pName = "frames", .pTests = frame_tests }, CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}

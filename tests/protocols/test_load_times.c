/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_load_times.c - load whose messages are due at times of their own, over datagrams and streams.
 *
 * Promises: in virtual time a message is made at the nanosecond at which it is due, as many wherever its connection
 * lives; one that is made later, because the processor, a window or the stream had no room for it, has waited since
 * it was due; each message says so, however it was made and in whatever pieces it comes; a connection
 * whose trace has been played has done its work; nothing leaks, whatever fails.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/xk_hist.h"
#include "runtime/base/xk_param_value.h"
#include "runtime/mem/xk_alloc.h"
#include "runtime/upi/xk_app.h"
#include "runtime/upi/xk_graph.h"
#include "tests/protocols/stream_fixture.h"
#include "tests/support/xk_test.h"

extern const struct xk_proto xk_proto_eth_mem, xk_proto_eth, xk_proto_arp, xk_proto_ip, xk_proto_udp, xk_proto_echo,
	xk_proto_load_port, xk_proto_sink_port, xk_proto_load_stream, xk_proto_sink_stream, xk_proto_tcpecho;

#define HOST(x, addr) \
	{ &xk_proto_eth_mem, "d" x, NULL, "wire=w; queue=100000" }, { &xk_proto_eth, "l" x, "d" x, NULL }, \
	{ &xk_proto_arp, "r" x, "l" x, "queue=1024" }, { &xk_proto_ip, "i" x, "r" x, "addr=" addr "/24" }, \
	{ &xk_proto_udp, "u" x, "i" x, NULL }

static struct pf f;

static void datagrams(unsigned nvps, const char *load, const struct xk_proto *other, const char *params)
{
	const struct pf_spec g[] = {
		HOST("a", "10.0.0.1"), { &xk_proto_load_port, "load", "ua", load },
		HOST("b", "10.0.0.2"), { other, "other", "ub", params }, { NULL, NULL, NULL, NULL } };

	pf_up(&f, nvps, g);
}

static void streams(unsigned nvps, const char *stream, const char *load, const struct xk_proto *other, const char *params)
{
	const struct pf_spec g[] = {
		{ &sf_stream, "stream", NULL, stream }, { other, "other", "stream", params },
		{ &xk_proto_load_stream, "load", "stream", load }, { NULL, NULL, NULL, NULL } };

	pf_up(&f, nvps, g);
}

struct sums { uint64_t n, sum[XK_TIMES]; };

static struct sums times(void)
{
	static uint64_t hist[XK_HIST_PLACES];
	struct sums s = { 0 };

	memset(hist, 0, sizeof hist);
	for (unsigned vp = 0; vp < f.g->vps->nvps; vp++) {
		struct xk_app_times t;

		CU_ASSERT_EQUAL_FATAL(xk_control(pf_rep(&f, "other", vp), XK_CTL_APP_TIMES, &t, sizeof t), (int)sizeof t);
		xk_hist_sum(hist, &t.hist[XK_TIME_DELAY], 1);
		for (unsigned i = 0; i < XK_TIMES; i++)
			s.sum[i] += t.sum[i];
	}
	s.n = xk_hist_count(hist);
	CU_ASSERT_EQUAL(s.sum[XK_TIME_DELAY], s.sum[XK_TIME_QUEUE] + s.sum[XK_TIME_EXEC]);
	return s;
}

static bool near(double got, double want, double share) { return fabs(got - want) <= share * want; }

/* ---- datagrams --------------------------------------------------------------------------- */

static void messages_are_made_when_they_are_due(void)
{
	static const char *const touch[] = { "copy", "line", "none" };
	char params[128];

	for (unsigned i = 0; i < XK_ARRAY_LEN(touch); i++) {
		struct sums s;

		snprintf(params, sizeof params, "to=10.0.0.2; arrivals.model=constant; arrivals.rate=3333; touch=%s; size=%u",
			 touch[i], i == 0 ? 24 : 3000);
		datagrams(1, params, &xk_proto_sink_port, "times=true");
		pf_run(&f, XK_SEC);
		s = times();
		CU_ASSERT_EQUAL(pf_count(&f, "load", "messages"), 3333);
		CU_ASSERT_EQUAL(s.n, 3333);
		CU_ASSERT_EQUAL(s.sum[XK_TIME_QUEUE], 0);
		CU_ASSERT(s.sum[XK_TIME_EXEC] / s.n < 2000);
		CU_ASSERT_EQUAL(pf_drops(&f, "ub", NULL), 0);    /* checksums were good */
		pf_down(&f);
	}
}

static void as_many_are_sent_wherever_they_are(void)
{
	static const unsigned nvps[] = { 1, 4, 7 };
	uint64_t made[3];

	for (unsigned i = 0; i < 3; i++) {
		datagrams(nvps[i], "to=10.0.0.2; conns=40; arrivals.model=onoff; arrivals.rate=300; arrivals.on=5ms; arrivals.off=9ms",
			  &xk_proto_sink_port, "times=true");
		pf_run(&f, XK_SEC);
		made[i] = pf_count(&f, "load", "messages");
		CU_ASSERT_EQUAL(times().n, made[i]);
		pf_down(&f);
	}
	CU_ASSERT(near((double)made[0], 12000, 0.1));
	CU_ASSERT_EQUAL(made[1], made[0]);
	CU_ASSERT_EQUAL(made[2], made[0]);
}

/* More than virtual time lets through: the last of 20000 is due after 0.1 ms, and sent after 2 at least. */
static void delay_counts_from_when_a_message_was_due(void)
{
	static const char *const burst[] = { "0", "1" };
	char params[160];

	for (unsigned i = 0; i < 2; i++) {
		struct sums s;

		snprintf(params, sizeof params, "to=10.0.0.2; conns=4; count=5000; burst=%s; arrivals.model=constant; arrivals.rate=50000000",
			 burst[i]);
		datagrams(1, params, &xk_proto_sink_port, "times=true");
		pf_run(&f, XK_SEC);
		s = times();
		CU_ASSERT_EQUAL(s.n, 20000);
		CU_ASSERT_EQUAL(f.g->ndone, 1);
		CU_ASSERT(s.sum[XK_TIME_QUEUE] / s.n > 900000 && s.sum[XK_TIME_QUEUE] / s.n < 4000000);
		pf_down(&f);
	}
}

static void a_window_makes_them_late_and_they_are_timed_from_when_they_were_due(void)
{
	static uint64_t sum[XK_HIST_PLACES];
	double median[2];

	for (unsigned i = 0; i < 2; i++) {
		struct xk_app_counts c;

		datagrams(1, i == 0 ? "to=10.0.0.2; port=7; window=1; count=4000; arrivals.model=constant; arrivals.rate=8000" :
				      "to=10.0.0.2; port=7; window=1; count=4000; arrivals.model=train; arrivals.rate=8000; arrivals.burst=16",
			  &xk_proto_echo, "port=7");
		pf_run(&f, 2 * XK_SEC);
		CU_ASSERT_EQUAL(f.g->ndone, 1);
		CU_ASSERT_EQUAL(pf_count(&f, "load", "messages"), 4000);
		CU_ASSERT_EQUAL(pf_count(&f, "load", "answers"), 4000);
		CU_ASSERT_EQUAL(pf_count(&f, "load", "unanswered"), 0);
		CU_ASSERT_EQUAL_FATAL(xk_control(pf_rep(&f, "load", 0), XK_CTL_APP_COUNTS, &c, sizeof c), (int)sizeof c);
		memset(sum, 0, sizeof sum);
		xk_hist_sum(sum, c.rtt, 1);
		median[i] = xk_hist_percentile(sum, 0.5);
		pf_down(&f);
	}
	CU_ASSERT(median[0] > 0);
	CU_ASSERT(median[1] > 5 * median[0]);    /* the middle one of a train waits for those before it */
}

static char path[32];

static void a_connection_has_done_its_work_when_its_trace_has_been_played(void)
{
	char load[160];

	xk_test_file(path, "0 0\n0.25 1\n0.5 0\n0.75 3\n");         /* nothing of connection 2 */
	snprintf(load, sizeof load, "to=10.0.0.2; conns=4; arrivals.model=trace; arrivals.file=%s", path);
	datagrams(2, load, &xk_proto_sink_port, "times=true");
	pf_run(&f, 700 * XK_MS);
	CU_ASSERT_EQUAL(pf_count(&f, "other", "messages"), 3);
	CU_ASSERT_EQUAL(f.g->ndone, 0);
	pf_run(&f, XK_SEC);
	CU_ASSERT_EQUAL(f.g->ndone, 1);
	CU_ASSERT_EQUAL(times().n, 4);
	CU_ASSERT_EQUAL(times().sum[XK_TIME_QUEUE], 0);
	pf_down(&f);
	snprintf(load, sizeof load, "to=10.0.0.2; conns=4; size=100; arrivals.model=trace; arrivals.file=%s", path);
	streams(2, "chunk=9", load, &xk_proto_sink_stream, "size=100; times=true");
	pf_run(&f, 2 * XK_SEC);
	CU_ASSERT_EQUAL(f.g->ndone, 1);
	CU_ASSERT_EQUAL(pf_count(&f, "load", "drained"), 4);
	CU_ASSERT_EQUAL(pf_count(&f, "other", "ended"), 4);
	CU_ASSERT_EQUAL(times().n, 4);
	pf_down(&f);
	unlink(path);
}

static void another_burst_while_it_runs_forgets_nothing(void)
{
	const struct xk_param *p = xk_param_find(xk_proto_load_port.params, "burst");
	unsigned char conf[1024];
	struct xk_rep *r;
	char why[100];

	datagrams(1, "to=10.0.0.2; conns=30; count=100; arrivals.model=poisson; arrivals.rate=1000", &xk_proto_sink_port, "times=true");
	pf_run(&f, 10 * XK_MS);
	r = pf_rep(&f, "load", 0);
	CU_ASSERT_FATAL(r->node->proto->conf_size <= sizeof conf);
	memcpy(conf, r->conf, r->node->proto->conf_size);
	CU_ASSERT_EQUAL_FATAL(xk_param_set(p, conf, "1", true, why, sizeof why), XK_OK);
	pf_enter(&f, 0);
	CU_ASSERT_EQUAL(r->node->proto->ops->rep_set(r, p, conf, why, sizeof why), XK_OK);
	xk_param_copy(p, r->node->conf, conf);
	pf_leave(&f, 0);
	pf_run(&f, XK_SEC);
	CU_ASSERT_EQUAL(f.g->ndone, 1);
	CU_ASSERT_EQUAL(times().n, 3000);
	pf_down(&f);
}

/* ---- streams ------------------------------------------------------------------------------- */

static void messages_of_a_stream_are_made_when_they_are_due(void)
{
	static const char *const touch[] = { "copy", "line", "none" };
	char params[160];

	for (unsigned i = 0; i < XK_ARRAY_LEN(touch); i++) {
		struct sums s;

		snprintf(params, sizeof params, "to=10.0.0.2; conns=3; count=500; size=%u; touch=%s; "
			 "arrivals.model=constant; arrivals.rate=1000", i == 0 ? 24 : 100 * i, touch[i]);
		streams(2, "chunk=7", params, &xk_proto_sink_stream, i == 0 ? "size=24; times=true" : i == 1 ?
			"size=100; times=true; touch=line" : "size=200; times=true; touch=none");
		pf_run(&f, XK_SEC);
		s = times();
		CU_ASSERT_EQUAL(f.g->ndone, 1);
		CU_ASSERT_EQUAL(pf_count(&f, "load", "messages"), 1500);
		CU_ASSERT_EQUAL(pf_count(&f, "load", "drained"), 3);
		CU_ASSERT_EQUAL(pf_count(&f, "other", "messages"), 1500);
		CU_ASSERT_EQUAL(s.n, 1500);
		CU_ASSERT(s.sum[XK_TIME_QUEUE] / s.n < 1000);
		CU_ASSERT_EQUAL(sf_state(&f, "stream")->broken, 0);
		pf_down(&f);
	}
}

/* Connections share a page, and a message may leave in parts: each part is of its own connection's message. */
static void what_waits_for_room_waits_since_it_was_due(void)
{
	static const char *const stream[] = { "room=64; window=100; chunk=50", "room=100000; window=100000" };
	uint64_t mean[2];

	for (unsigned i = 0; i < 2; i++) {
		struct sums s;

		streams(1, stream[i], "to=10.0.0.2; conns=5; count=200; size=101; arrivals.model=train; arrivals.rate=10000; "
			"arrivals.burst=20", &xk_proto_sink_stream, "size=101; times=true");
		pf_run(&f, XK_SEC);
		s = times();
		CU_ASSERT_EQUAL(f.g->ndone, 1);
		CU_ASSERT_EQUAL(pf_count(&f, "other", "messages"), 1000);
		CU_ASSERT_EQUAL_FATAL(s.n, 1000);
		mean[i] = s.sum[XK_TIME_QUEUE] / s.n;
		CU_ASSERT_EQUAL(sf_state(&f, "stream")->broken, 0);
		pf_down(&f);
	}
	CU_ASSERT(mean[0] > 2 * mean[1]);
}

static void echoes_of_a_stream_are_timed_from_when_they_were_due(void)
{
	static uint64_t sum[XK_HIST_PLACES];
	struct xk_app_counts c;

	streams(1, "chunk=700", "to=10.0.0.2; port=7; size=1000; window=1; count=1600; arrivals.model=train; arrivals.rate=10000; "
		"arrivals.burst=16", &xk_proto_tcpecho, NULL);
	pf_run(&f, XK_SEC);
	CU_ASSERT_EQUAL(f.g->ndone, 1);
	CU_ASSERT_EQUAL(pf_count(&f, "load", "received_bytes"), 1600000);
	CU_ASSERT_EQUAL_FATAL(xk_control(pf_rep(&f, "load", 0), XK_CTL_APP_COUNTS, &c, sizeof c), (int)sizeof c);
	xk_hist_sum(sum, c.rtt, 1);
	/* Some are the first of a train and some the last. */
	CU_ASSERT(xk_hist_percentile(sum, 1) > 4 * xk_hist_percentile(sum, 0));
	pf_down(&f);
}

/* ---- whatever fails -------------------------------------------------------------------------- */

static void survives_the_failure_of_every_allocation(void)
{
	static const struct pf_spec port[] = {
		HOST("a", "10.0.0.1"),
		{ &xk_proto_load_port, "load", "ua", "to=10.0.0.2; conns=2; count=4; arrivals.model=poisson; arrivals.rate=2000" },
		HOST("b", "10.0.0.2"), { &xk_proto_sink_port, "other", "ub", "times=true" }, { NULL, NULL, NULL, NULL } };
	static const struct pf_spec stream[] = {
		{ &sf_stream, "stream", NULL, NULL }, { &xk_proto_sink_stream, "other", "stream", "size=64; times=true" },
		{ &xk_proto_load_stream, "load", "stream", "to=10.0.0.2; conns=2; count=4; size=64; arrivals.model=poisson; arrivals.rate=2000" },
		{ NULL, NULL, NULL, NULL } };

	CU_ASSERT(pf_survives(&f, port, 5000));
	CU_ASSERT(pf_survives(&f, stream, 5000));
}

static CU_TestInfo datagram_tests[] = {
	{ "messages are made when they are due", messages_are_made_when_they_are_due },
	{ "as many are sent wherever they are", as_many_are_sent_wherever_they_are },
	{ "delay counts from when a message was due", delay_counts_from_when_a_message_was_due },
	{ "a window makes them late, and they are timed from when they were due",
	  a_window_makes_them_late_and_they_are_timed_from_when_they_were_due },
	{ "a connection has done its work when its trace has been played", a_connection_has_done_its_work_when_its_trace_has_been_played },
	{ "another burst while it runs forgets nothing", another_burst_while_it_runs_forgets_nothing },
	CU_TEST_INFO_NULL
};
static CU_TestInfo stream_tests[] = {
	{ "messages of a stream are made when they are due", messages_of_a_stream_are_made_when_they_are_due },
	{ "what waits for room waits since it was due", what_waits_for_room_waits_since_it_was_due },
	{ "echoes of a stream are timed from when they were due", echoes_of_a_stream_are_timed_from_when_they_were_due },
	{ "survives the failure of every allocation", survives_the_failure_of_every_allocation },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ .pName = "datagrams", .pTests = datagram_tests }, { .pName = "streams", .pTests = stream_tests }, CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_peer_arrivals.c - when packets arrive: models, traces, and frames that are made when they are due.
 *
 * Promises: what is drawn has the moments that its model says, and the same rate whatever the length of its
 * trains; a seed and a stream always draw the same; a trace is played as it was written, and a broken one
 * is refused with its line; in virtual time a frame is made at the nanosecond at which it is due; delay is
 * measured from then, however late the frame was made; nothing leaks, whatever fails.
 */
#include "drivers/peer/peer_arrivals.h"

#include <math.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "drivers/mem/mem.h"
#include "drivers/peer/peer.h"
#include "runtime/base/xk_hist.h"
#include "runtime/base/xk_stamp.h"
#include "runtime/mem/xk_alloc.h"
#include "runtime/upi/xk_graph.h"
#include "tests/drivers/wire_fixture.h"

extern const struct xk_proto xk_proto_eth, xk_proto_arp, xk_proto_ip, xk_proto_udp, xk_proto_sink_port;

#define US XK_US

static bool near(double got, double want, double share) { return fabs(got - want) <= share * want; }

/* ---- models ------------------------------------------------------------------------------- */

struct moments { double mean, var; xk_ns end; };

/* Of the n gaps between a stream's packets. */
static struct moments gaps(const struct peer_arrivals *a, uint64_t seed, uint64_t stream, unsigned n)
{
	double sum = 0, squares = 0;
	struct peer_stream s;
	xk_ns last;

	peer_stream_init(&s, a, NULL, seed, stream);
	last = s.due;
	for (unsigned i = 0; i < n; i++) {
		double d;

		peer_stream_next(&s, a, NULL);
		CU_ASSERT_FATAL(s.due >= last);
		d = (double)(s.due - last);
		sum += d;
		squares += d * d;
		last = s.due;
	}
	return (struct moments){ sum / n, squares / n - sum / n * (sum / n), last };
}

static void poisson_gaps_have_the_mean_and_its_square_as_variance(void)
{
	const struct peer_arrivals a = { .model = PEER_POISSON, .rate = 125 };
	struct moments m = gaps(&a, 7, 3, 400000);

	CU_ASSERT(near(m.mean, 8e6, 0.005));
	CU_ASSERT(near(m.var, 64e12, 0.01));
}

static void constant_gaps_never_drift(void)
{
	const struct peer_arrivals a = { .model = PEER_CONSTANT, .rate = 3 };
	struct peer_stream s, o;
	xk_ns first;

	peer_stream_init(&s, &a, NULL, 1, 0);
	peer_stream_init(&o, &a, NULL, 1, 1);
	CU_ASSERT(s.due != o.due && s.due < XK_SEC / 3 && o.due < XK_SEC / 3);
	first = s.due;
	for (unsigned i = 0; i < 3000; i++)
		peer_stream_next(&s, &a, NULL);
	CU_ASSERT_EQUAL(s.due - first, 1000 * XK_SEC);
}

static void trains_are_bursts_of_their_length(void)
{
	const struct peer_arrivals a = { .model = PEER_TRAIN, .rate = 125, .burst = 8, .inner = 80 * US };
	double inner = 0, between = 0;
	struct peer_stream s;
	xk_ns last;

	peer_stream_init(&s, &a, NULL, 5, 0);
	last = s.due;
	for (unsigned i = 1; i < 8 * 50000; i++) {
		peer_stream_next(&s, &a, NULL);
		*(i % 8 == 0 ? &between : &inner) += (double)(s.due - last);
		last = s.due;
	}
	CU_ASSERT(near(inner / (7 * 50000), 80e3, 0.01));
	CU_ASSERT(near(between / (50000 - 1), 8 * 8e6 - 7 * 80e3, 0.01));    /* 63440 us, as in the paper */
}

static void trains_without_a_gap_are_due_at_once(void)
{
	const struct peer_arrivals a = { .model = PEER_TRAIN, .rate = 125, .burst = 4 };
	struct peer_stream s;
	xk_ns first;

	peer_stream_init(&s, &a, NULL, 5, 0);
	first = s.due;
	for (unsigned i = 0; i < 3; i++) {
		peer_stream_next(&s, &a, NULL);
		CU_ASSERT_EQUAL(s.due, first);
	}
	peer_stream_next(&s, &a, NULL);
	CU_ASSERT(s.due > first);
}

static void the_rate_is_the_same_whatever_the_burst(void)
{
	for (unsigned burst = 1; burst <= 8; burst *= 2) {
		const struct peer_arrivals a = { .model = PEER_TRAIN, .rate = 125, .burst = burst, .inner = 80 * US };
		unsigned n = burst * 400000;
		struct moments m = gaps(&a, 11, burst, n);

		CU_ASSERT(near(m.mean, 8e6, 0.005));
	}
}

static void on_and_off_keep_the_rate_and_their_shares(void)
{
	const struct peer_arrivals a = { .model = PEER_ONOFF, .rate = 1000, .on = 10 * XK_MS, .off = 30 * XK_MS };
	struct moments m = gaps(&a, 3, 0, 4000000);

	/* Within a phase of sending packets come four times as often. */
	CU_ASSERT(near(m.mean, 1e6, 0.01));
	CU_ASSERT(m.var > 20 * m.mean * m.mean);
}

static void a_seed_and_a_stream_always_draw_the_same(void)
{
	const struct peer_arrivals a = { .model = PEER_TRAIN, .rate = 100, .burst = 3, .inner = US };
	struct moments m = gaps(&a, 9, 4, 1000), again = gaps(&a, 9, 4, 1000);

	CU_ASSERT_EQUAL(m.end, again.end);
	CU_ASSERT_NOT_EQUAL(m.end, gaps(&a, 9, 5, 1000).end);
	CU_ASSERT_NOT_EQUAL(m.end, gaps(&a, 10, 4, 1000).end);
}

static void says_what_does_not_go_together(void)
{
	static const struct { struct peer_arrivals a; const char *word; } bad[] = {
		{ { .rate = 1 }, "add model" },
		{ { .model = PEER_POISSON }, "needs 'rate'" },
		{ { .model = PEER_POISSON, .rate = 1, .burst = 2 }, "'burst' means nothing" },
		{ { .model = PEER_TRAIN, .rate = 1 }, "needs 'burst'" },
		{ { .model = PEER_TRAIN, .rate = 1000, .burst = 8, .inner = 2 * XK_MS }, "no time is left" },
		{ { .model = PEER_ONOFF, .rate = 1, .on = 1 }, "needs 'off'" },
		{ { .model = PEER_TRACE }, "needs 'file'" },
		{ { .model = PEER_CONSTANT, .rate = 1, .on = 1 }, "'on' means nothing" },
	};
	static const struct peer_arrivals good[] = {
		{ .model = PEER_MODEL_NONE }, { .model = PEER_TRAIN, .rate = 1000, .burst = 8 },
		{ .model = PEER_TRAIN, .rate = 1000, .burst = 8, .inner = XK_MS },
	};
	char why[256];

	for (unsigned i = 0; i < XK_ARRAY_LEN(bad); i++) {
		why[0] = '\0';
		CU_ASSERT_TRUE(peer_arrivals_fault(&bad[i].a, why, sizeof why));
		CU_ASSERT_PTR_NOT_NULL(strstr(why, bad[i].word));
	}
	for (unsigned i = 0; i < XK_ARRAY_LEN(good); i++)
		CU_ASSERT_FALSE(peer_arrivals_fault(&good[i], why, sizeof why));
}

/* ---- traces ---------------------------------------------------------------------------------- */

static char path[64];

static void written(const char *text)
{
	int fd;
	FILE *out;

	snprintf(path, sizeof path, "/tmp/test_peer_arrivals.XXXXXX");
	fd = mkstemp(path);
	CU_ASSERT_FATAL(fd >= 0);
	out = fdopen(fd, "w");
	CU_ASSERT_FATAL(out != NULL && fputs(text, out) >= 0 && fclose(out) == 0);
}

static void times_are_played_as_they_are_written(void)
{
	static const xk_ns want[] = { 0, 1500, 2500000, 2500000, 9000000 };
	static const uint32_t stream[] = { 0, 1, 0, 2, 1 };
	struct peer_arrivals a = { .model = PEER_TRACE };
	struct peer_stream s;
	struct peer_trace t;
	char why[256];

	written("# comment\n1.0\n1.0000015\n\n  1.0025 6\n1.0025 2\t\n1.009\r\n");
	CU_ASSERT_EQUAL_FATAL(peer_trace_read(&t, path, 3, why, sizeof why), XK_OK);
	CU_ASSERT_EQUAL_FATAL(t.n, 5);
	for (unsigned i = 0; i < 5; i++) {
		CU_ASSERT_EQUAL(t.at[i], want[i]);
		CU_ASSERT_EQUAL(t.stream[i], stream[i]);
	}
	peer_stream_init(&s, &a, &t, 1, 1);
	CU_ASSERT_EQUAL(s.due, 1500);
	peer_stream_next(&s, &a, &t);
	CU_ASSERT_EQUAL(s.due, 9000000);
	peer_stream_next(&s, &a, &t);
	CU_ASSERT_EQUAL(s.due, XK_NS_NEVER);
	peer_stream_init(&s, &a, &t, 1, 7);      /* a stream that the trace says nothing of */
	CU_ASSERT_EQUAL(s.due, XK_NS_NEVER);
	peer_trace_free(&t);
	unlink(path);
}

static void a_broken_trace_is_refused_with_its_line(void)
{
	static const char *const bad[][2] = {
		{ "1\n2\n1.5\n", ":3: time goes back" }, { "1\nx\n", ":2: needs a time" }, { "1 a\n", ":1: the number of a stream" },
		{ "1 2 3\n", ":1: the number of a stream" }, { "-1\n", ":1: the time must be" }, { "nan\n", ":1: the time must be" },
		{ "1e10\n", ":1: the time must be" }, { "", "holds no packet" }, { "# only\n", "holds no packet" }, { "1x\n", ":1: needs" },
		{ "1 -1\n", ":1: the number" }, { "1 99999999999999999999999\n", ":1: the number" },
	};
	struct peer_trace t;
	char why[256], *wide = malloc(400);

	for (unsigned i = 0; i < XK_ARRAY_LEN(bad); i++) {
		written(bad[i][0]);
		why[0] = '\0';
		CU_ASSERT_EQUAL(peer_trace_read(&t, path, 3, why, sizeof why), XK_E_INVAL);
		CU_ASSERT_PTR_NOT_NULL(strstr(why, bad[i][1]));
		unlink(path);
	}
	memset(wide, '1', 399);
	wide[399] = '\0';
	written(wide);
	CU_ASSERT_EQUAL(peer_trace_read(&t, path, 3, why, sizeof why), XK_E_INVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "longer than"));
	unlink(path);
	free(wide);
	CU_ASSERT_EQUAL(peer_trace_read(&t, path, 3, why, sizeof why), XK_E_INVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "No such file"));
	CU_ASSERT_EQUAL(peer_trace_read(&t, "/dev/null", 3, why, sizeof why), XK_E_INVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "no plain file"));
}

/* A capture of n frames of as many flows as `flows`, in turn, every 10 us. */
static void captured(unsigned n, unsigned flows)
{
	pcap_t *p = pcap_open_dead_with_tstamp_precision(DLT_EN10MB, 65535, PCAP_TSTAMP_PRECISION_NANO);
	pcap_dumper_t *d;
	uint8_t b[64];

	written("");
	d = pcap_dump_open(p, path);
	CU_ASSERT_PTR_NOT_NULL_FATAL(d);
	for (unsigned i = 0; i < n; i++) {
		struct pcap_pkthdr h = { .caplen = sizeof b, .len = sizeof b };

		udp_frame(b, sizeof b, (uint16_t)(1000 + i % flows));
		h.ts.tv_sec = 1000000000;
		h.ts.tv_usec = i * 10000;        /* nanoseconds, here */
		pcap_dump((u_char *)d, &h, b);
	}
	pcap_dump_close(d);
	pcap_close(p);
}

static void flows_of_a_capture_are_streams(void)
{
	struct peer_trace t;
	char why[256];

	captured(3000, 700);
	CU_ASSERT_EQUAL_FATAL(peer_trace_read(&t, path, 1000, why, sizeof why), XK_OK);
	CU_ASSERT_EQUAL_FATAL(t.n, 3000);
	for (unsigned i = 0; i < 3000; i++) {
		CU_ASSERT_EQUAL(t.at[i], i * 10000);
		CU_ASSERT_EQUAL(t.stream[i], i % 700);
	}
	peer_trace_free(&t);
	CU_ASSERT_EQUAL(truncate(path, 1000), 0);        /* cut short */
	CU_ASSERT_EQUAL(peer_trace_read(&t, path, 10, why, sizeof why), XK_E_INVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "truncated"));
	unlink(path);
}

static void reading_survives_the_failure_of_every_allocation(void)
{
	struct peer_trace t;
	char why[256];
	int err = XK_E_NOMEM;

	captured(1500, 300);
	for (uint64_t k = 1; err == XK_E_NOMEM && k < 100; k++) {
		uint64_t live = xk_alloc_live();

		xk_mem_fail_after(k);
		err = peer_trace_read(&t, path, 10, why, sizeof why);
		xk_mem_fail_after(0);
		if (err == XK_OK)
			peer_trace_free(&t);
		CU_ASSERT_EQUAL(xk_alloc_live(), live);
	}
	CU_ASSERT_EQUAL(err, XK_OK);
	unlink(path);
}

/* ---- frames --------------------------------------------------------------------------------------- */

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

	written("0 0\n0.5 1\n0.5 0\n0.75 3\n");
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

static CU_TestInfo model_tests[] = {
	{ "poisson gaps have the mean and its square as variance", poisson_gaps_have_the_mean_and_its_square_as_variance },
	{ "constant gaps never drift", constant_gaps_never_drift },
	{ "trains are bursts of their length", trains_are_bursts_of_their_length },
	{ "trains without a gap are due at once", trains_without_a_gap_are_due_at_once },
	{ "the rate is the same whatever the burst", the_rate_is_the_same_whatever_the_burst },
	{ "on and off keep the rate and their shares", on_and_off_keep_the_rate_and_their_shares },
	{ "a seed and a stream always draw the same", a_seed_and_a_stream_always_draw_the_same },
	{ "says what does not go together", says_what_does_not_go_together },
	CU_TEST_INFO_NULL
};
static CU_TestInfo trace_tests[] = {
	{ "times are played as they are written", times_are_played_as_they_are_written },
	{ "a broken trace is refused with its line", a_broken_trace_is_refused_with_its_line },
	{ "flows of a capture are streams", flows_of_a_capture_are_streams },
	{ "reading survives the failure of every allocation", reading_survives_the_failure_of_every_allocation },
	CU_TEST_INFO_NULL
};
static CU_TestInfo frame_tests[] = {
	{ "frames are made when they are due", frames_are_made_when_they_are_due },
	{ "as many come wherever they are made", as_many_come_wherever_they_are_made },
	{ "delay counts from when a frame was due", delay_counts_from_when_a_frame_was_due },
	{ "a trace ends when it has been played", a_trace_ends_when_it_has_been_played },
	{ "what carries no time is not timed", what_carries_no_time_is_not_timed },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ .pName = "models", .pTests = model_tests }, { .pName = "traces", .pTests = trace_tests },
	{ .pName = "frames", .pTests = frame_tests }, CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}

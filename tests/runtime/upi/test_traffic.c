/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_traffic.c - when messages are due: models, traces, and which stream is first.
 *
 * Promises: what is drawn has the moments that its model says, and the same rate whatever the length of its
 * trains; a seed and a stream always draw the same; a trace is played as it was written, and a broken one
 * is refused with its line; those that wait have their turns in the order of their times; nothing leaks,
 * whatever fails.
 */
#include "runtime/upi/xk_traffic.h"

#include <math.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/mem/xk_alloc.h"
#include "tests/drivers/wire_fixture.h"

#define US XK_US

static bool near(double got, double want, double share) { return fabs(got - want) <= share * want; }

/* ---- models ------------------------------------------------------------------------------- */

struct moments { double mean, var; xk_ns end; };

/* Of the n gaps between a stream's packets. */
static struct moments gaps(const struct xk_traffic *a, uint64_t seed, uint64_t stream, unsigned n)
{
	double sum = 0, squares = 0;
	struct xk_traffic_stream s;
	xk_ns last;

	xk_traffic_stream_init(&s, a, NULL, seed, stream);
	last = s.due;
	for (unsigned i = 0; i < n; i++) {
		double d;

		xk_traffic_stream_next(&s, a, NULL);
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
	const struct xk_traffic a = { .model = XK_TRAFFIC_POISSON, .rate = 125 };
	struct moments m = gaps(&a, 7, 3, 400000);

	CU_ASSERT(near(m.mean, 8e6, 0.005));
	CU_ASSERT(near(m.var, 64e12, 0.01));
}

static void constant_gaps_never_drift(void)
{
	const struct xk_traffic a = { .model = XK_TRAFFIC_CONSTANT, .rate = 3 };
	struct xk_traffic_stream s, o;
	xk_ns first;

	xk_traffic_stream_init(&s, &a, NULL, 1, 0);
	xk_traffic_stream_init(&o, &a, NULL, 1, 1);
	CU_ASSERT(s.due != o.due && s.due < XK_SEC / 3 && o.due < XK_SEC / 3);
	first = s.due;
	for (unsigned i = 0; i < 3000; i++)
		xk_traffic_stream_next(&s, &a, NULL);
	CU_ASSERT_EQUAL(s.due - first, 1000 * XK_SEC);
}

static void trains_are_bursts_of_their_length(void)
{
	const struct xk_traffic a = { .model = XK_TRAFFIC_TRAIN, .rate = 125, .burst = 8, .inner = 80 * US };
	double inner = 0, between = 0;
	struct xk_traffic_stream s;
	xk_ns last;

	xk_traffic_stream_init(&s, &a, NULL, 5, 0);
	last = s.due;
	for (unsigned i = 1; i < 8 * 50000; i++) {
		xk_traffic_stream_next(&s, &a, NULL);
		*(i % 8 == 0 ? &between : &inner) += (double)(s.due - last);
		last = s.due;
	}
	CU_ASSERT(near(inner / (7 * 50000), 80e3, 0.01));
	CU_ASSERT(near(between / (50000 - 1), 8 * 8e6 - 7 * 80e3, 0.01));    /* 63440 us, as in the paper */
}

static void trains_without_a_gap_are_due_at_once(void)
{
	const struct xk_traffic a = { .model = XK_TRAFFIC_TRAIN, .rate = 125, .burst = 4 };
	struct xk_traffic_stream s;
	xk_ns first;

	xk_traffic_stream_init(&s, &a, NULL, 5, 0);
	first = s.due;
	for (unsigned i = 0; i < 3; i++) {
		xk_traffic_stream_next(&s, &a, NULL);
		CU_ASSERT_EQUAL(s.due, first);
	}
	xk_traffic_stream_next(&s, &a, NULL);
	CU_ASSERT(s.due > first);
}

static void the_rate_is_the_same_whatever_the_burst(void)
{
	for (unsigned burst = 1; burst <= 8; burst *= 2) {
		const struct xk_traffic a = { .model = XK_TRAFFIC_TRAIN, .rate = 125, .burst = burst, .inner = 80 * US };
		unsigned n = burst * 400000;
		struct moments m = gaps(&a, 11, burst, n);

		CU_ASSERT(near(m.mean, 8e6, 0.005));
	}
}

static void on_and_off_keep_the_rate_and_their_shares(void)
{
	const struct xk_traffic a = { .model = XK_TRAFFIC_ONOFF, .rate = 1000, .on = 10 * XK_MS, .off = 30 * XK_MS };
	struct moments m = gaps(&a, 3, 0, 4000000);

	/* Within a phase of sending packets come four times as often. */
	CU_ASSERT(near(m.mean, 1e6, 0.01));
	CU_ASSERT(m.var > 20 * m.mean * m.mean);
}

static void a_seed_and_a_stream_always_draw_the_same(void)
{
	const struct xk_traffic a = { .model = XK_TRAFFIC_TRAIN, .rate = 100, .burst = 3, .inner = US };
	const struct xk_traffic apart = { .model = XK_TRAFFIC_TRAIN, .rate = 100, .burst = 3, .inner = US, .first = 100 };
	struct moments m = gaps(&a, 9, 4, 1000), again = gaps(&a, 9, 4, 1000);

	CU_ASSERT_EQUAL(m.end, again.end);
	CU_ASSERT_NOT_EQUAL(m.end, gaps(&a, 9, 5, 1000).end);
	CU_ASSERT_NOT_EQUAL(m.end, gaps(&a, 10, 4, 1000).end);
	CU_ASSERT_NOT_EQUAL(m.end, gaps(&apart, 9, 4, 1000).end);
	CU_ASSERT_EQUAL(gaps(&a, 9, 104, 1000).end, gaps(&apart, 9, 4, 1000).end);
}

static void says_what_does_not_go_together(void)
{
	static char file[] = "times";
	static const struct { struct xk_traffic a; const char *word; } bad[] = {
		{ { .rate = 1 }, "add model" },
		{ { .model = XK_TRAFFIC_POISSON }, "needs 'rate'" },
		{ { .model = XK_TRAFFIC_POISSON, .rate = 1, .burst = 2 }, "'burst' means nothing" },
		{ { .model = XK_TRAFFIC_TRAIN, .rate = 1 }, "needs 'burst'" },
		{ { .model = XK_TRAFFIC_TRAIN, .rate = 1000, .burst = 8, .inner = 2 * XK_MS }, "no time is left" },
		{ { .model = XK_TRAFFIC_ONOFF, .rate = 1, .on = 1 }, "needs 'off'" },
		{ { .model = XK_TRAFFIC_TRACE }, "needs 'file'" },
		{ { .model = XK_TRAFFIC_CONSTANT, .rate = 1, .on = 1 }, "'on' means nothing" },
		{ { .model = XK_TRAFFIC_TRACE, .file = file, .first = 1 }, "'first' means nothing" },
	};
	static const struct xk_traffic good[] = {
		{ .model = XK_TRAFFIC_NONE }, { .model = XK_TRAFFIC_TRAIN, .rate = 1000, .burst = 8 },
		{ .model = XK_TRAFFIC_TRAIN, .rate = 1000, .burst = 8, .inner = XK_MS },
		{ .model = XK_TRAFFIC_POISSON, .rate = 1, .first = 7 },
	};
	char why[256];

	for (unsigned i = 0; i < XK_ARRAY_LEN(bad); i++) {
		why[0] = '\0';
		CU_ASSERT_TRUE(xk_traffic_fault(&bad[i].a, why, sizeof why));
		CU_ASSERT_PTR_NOT_NULL(strstr(why, bad[i].word));
	}
	for (unsigned i = 0; i < XK_ARRAY_LEN(good); i++)
		CU_ASSERT_FALSE(xk_traffic_fault(&good[i], why, sizeof why));
}

/* ---- traces ---------------------------------------------------------------------------------- */

static char path[32];

static void times_are_played_as_they_are_written(void)
{
	static const xk_ns want[] = { 0, 1500, 2500000, 2500000, 9000000 };
	static const uint32_t stream[] = { 0, 1, 0, 2, 1 };
	struct xk_traffic a = { .model = XK_TRAFFIC_TRACE };
	struct xk_traffic_stream s;
	struct xk_trace t;
	char why[256];

	xk_test_file(path, "# comment\n1.0\n1.0000015\n\n  1.0025 6\n1.0025 2\t\n1.009\r\n");
	CU_ASSERT_EQUAL_FATAL(xk_trace_read(&t, path, 3, why, sizeof why), XK_OK);
	CU_ASSERT_EQUAL_FATAL(t.n, 5);
	for (unsigned i = 0; i < 5; i++) {
		CU_ASSERT_EQUAL(t.at[i], want[i]);
		CU_ASSERT_EQUAL(t.stream[i], stream[i]);
	}
	xk_traffic_stream_init(&s, &a, &t, 1, 1);
	CU_ASSERT_EQUAL(s.due, 1500);
	xk_traffic_stream_next(&s, &a, &t);
	CU_ASSERT_EQUAL(s.due, 9000000);
	xk_traffic_stream_next(&s, &a, &t);
	CU_ASSERT_EQUAL(s.due, XK_NS_NEVER);
	xk_traffic_stream_init(&s, &a, &t, 1, 7);      /* a stream that the trace says nothing of */
	CU_ASSERT_EQUAL(s.due, XK_NS_NEVER);
	xk_trace_free(&t);
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
	struct xk_trace t;
	char why[256], *wide = malloc(400);

	for (unsigned i = 0; i < XK_ARRAY_LEN(bad); i++) {
		xk_test_file(path, bad[i][0]);
		why[0] = '\0';
		CU_ASSERT_EQUAL(xk_trace_read(&t, path, 3, why, sizeof why), XK_E_INVAL);
		CU_ASSERT_PTR_NOT_NULL(strstr(why, bad[i][1]));
		unlink(path);
	}
	memset(wide, '1', 399);
	wide[399] = '\0';
	xk_test_file(path, wide);
	CU_ASSERT_EQUAL(xk_trace_read(&t, path, 3, why, sizeof why), XK_E_INVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "longer than"));
	unlink(path);
	free(wide);
	CU_ASSERT_EQUAL(xk_trace_read(&t, path, 3, why, sizeof why), XK_E_INVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "No such file"));
	CU_ASSERT_EQUAL(xk_trace_read(&t, "/dev/null", 3, why, sizeof why), XK_E_INVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "no plain file"));
}

/* A capture of n frames of as many flows as `flows`, in turn, every 10 us. */
static void captured(unsigned n, unsigned flows)
{
	pcap_t *p = pcap_open_dead_with_tstamp_precision(DLT_EN10MB, 65535, PCAP_TSTAMP_PRECISION_NANO);
	pcap_dumper_t *d;
	uint8_t b[64];

	xk_test_file(path, "");
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
	struct xk_trace t;
	char why[256];

	captured(3000, 700);
	CU_ASSERT_EQUAL_FATAL(xk_trace_read(&t, path, 1000, why, sizeof why), XK_OK);
	CU_ASSERT_EQUAL_FATAL(t.n, 3000);
	for (unsigned i = 0; i < 3000; i++) {
		CU_ASSERT_EQUAL(t.at[i], i * 10000);
		CU_ASSERT_EQUAL(t.stream[i], i % 700);
	}
	xk_trace_free(&t);
	CU_ASSERT_EQUAL(truncate(path, 1000), 0);        /* cut short */
	CU_ASSERT_EQUAL(xk_trace_read(&t, path, 10, why, sizeof why), XK_E_INVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "truncated"));
	unlink(path);
}

static void reading_survives_the_failure_of_every_allocation(void)
{
	struct xk_trace t;
	char why[256];
	int err = XK_E_NOMEM;

	captured(1500, 300);
	for (uint64_t k = 1; err == XK_E_NOMEM && k < 100; k++) {
		uint64_t live = xk_alloc_live();

		xk_mem_fail_after(k);
		err = xk_trace_read(&t, path, 10, why, sizeof why);
		xk_mem_fail_after(0);
		if (err == XK_OK)
			xk_trace_free(&t);
		CU_ASSERT_EQUAL(xk_alloc_live(), live);
	}
	CU_ASSERT_EQUAL(err, XK_OK);
	unlink(path);
}

/* ---- who is first ------------------------------------------------------------------------------------ */

#define STREAMS 9u

static void those_that_wait_are_taken_in_the_order_of_their_times(void)
{
	static const struct xk_traffic a = { .model = XK_TRAFFIC_POISSON, .rate = 1000 };
	uint64_t no[STREAMS], taken[STREAMS] = { 0 };
	struct xk_traffic_queue q;
	xk_ns last = 0;

	for (unsigned i = 0; i < STREAMS; i++)
		no[i] = 3 * i;
	CU_ASSERT_EQUAL_FATAL(xk_traffic_open(&q, &a, NULL, 4, no, STREAMS, 5 * XK_SEC), XK_OK);
	CU_ASSERT_EQUAL(xk_traffic_first_due(&q), XK_NS_NEVER);
	for (unsigned i = 0; i < STREAMS; i++)
		xk_traffic_wait(&q, i);
	xk_traffic_leave(&q, 4);
	for (unsigned n = 0; n < 9000; n++) {
		uint32_t i = xk_traffic_first(&q);

		CU_ASSERT_EQUAL(xk_traffic_first_due(&q), xk_traffic_due(&q, i));
		CU_ASSERT(xk_traffic_due(&q, i) >= 5 * XK_SEC && xk_traffic_due(&q, i) >= last);
		last = xk_traffic_due(&q, i);
		taken[i]++;
		xk_traffic_next(&q, i);
		xk_traffic_wait(&q, i);
	}
	for (unsigned i = 0; i < STREAMS; i++)
		CU_ASSERT(i == 4 ? taken[i] == 0 : near((double)taken[i], 9000 / 8, 0.15));
	xk_traffic_close(&q);
}

static void of_one_time_the_lowest_number_is_first(void)
{
	static const struct xk_traffic a = { .model = XK_TRAFFIC_TRACE };
	static const uint64_t no[] = { 2, 0, 1 };
	struct xk_traffic_queue q;
	struct xk_trace t;
	char why[256];

	xk_test_file(path, "1 0\n1 1\n1 2\n2 1\n");
	CU_ASSERT_EQUAL_FATAL(xk_trace_read(&t, path, 3, why, sizeof why), XK_OK);
	CU_ASSERT_EQUAL_FATAL(xk_traffic_open(&q, &a, &t, 1, no, 3, 0), XK_OK);
	for (unsigned i = 0; i < 3; i++)
		xk_traffic_wait(&q, i);
	for (unsigned i = 0; i < 3; i++) {
		uint32_t first = xk_traffic_first(&q);

		CU_ASSERT_EQUAL(no[first], i);
		xk_traffic_next(&q, first);
		xk_traffic_wait(&q, first);      /* only 1 has another one */
	}
	CU_ASSERT_EQUAL(xk_traffic_first(&q), 2);
	CU_ASSERT_EQUAL(xk_traffic_first_due(&q), XK_SEC);
	xk_traffic_next(&q, 2);
	xk_traffic_wait(&q, 2);
	CU_ASSERT_EQUAL(xk_traffic_first_due(&q), XK_NS_NEVER);
	xk_traffic_close(&q);
	xk_trace_free(&t);
	unlink(path);
}

static void opening_survives_the_failure_of_every_allocation(void)
{
	static const struct xk_traffic a = { .model = XK_TRAFFIC_CONSTANT, .rate = 9 };
	static const uint64_t no[] = { 0, 1 };
	uint64_t live = xk_alloc_live();
	struct xk_traffic_queue q;
	int err = XK_E_NOMEM;

	for (uint64_t k = 1; err == XK_E_NOMEM && k < 10; k++) {
		xk_mem_fail_after(k);
		err = xk_traffic_open(&q, &a, NULL, 1, no, 2, 0);
		xk_mem_fail_after(0);
		CU_ASSERT(err == XK_OK || xk_alloc_live() == live);
	}
	CU_ASSERT_EQUAL(err, XK_OK);
	xk_traffic_close(&q);
	CU_ASSERT_EQUAL(xk_alloc_live(), live);
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
static CU_TestInfo queue_tests[] = {
	{ "those that wait are taken in the order of their times", those_that_wait_are_taken_in_the_order_of_their_times },
	{ "of one time the lowest number is first", of_one_time_the_lowest_number_is_first },
	{ "opening survives the failure of every allocation", opening_survives_the_failure_of_every_allocation },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ .pName = "models", .pTests = model_tests }, { .pName = "traces", .pTests = trace_tests },
	{ .pName = "queue", .pTests = queue_tests }, CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}

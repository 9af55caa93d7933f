/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_tcp_cc.c - congestion control alone: initial windows, slow start, reno's and
 * cubic's growth against their formulas in floating point.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "protocols/tcp/core/tcp_core.h"
#include "tests/support/xk_test.h"

static struct tcp_cb cb;
static struct tcp_tune tune;
static struct tcp_env e;

static void begin(enum tcp_cc_kind kind, uint16_t mss)
{
	memset(&cb, 0, sizeof cb);
	tune = (struct tcp_tune){ .cc = (uint8_t)kind, .abc = true, .abc_limit = 2, .initial_window = 10 };
	cb.tune = &tune;
	cb.mss = mss;
	e = (struct tcp_env){ .now = 1000 };
	tcp_rec_init(&cb);
}

/* A whole window is in flight, and n bytes of it are acknowledged. */
static void acked(uint32_t n)
{
	cb.snd_max = cb.snd_una + cb.cwnd;
	cb.cc->acked(&cb, &e, n);
	cb.snd_una += n;
}

/* One round trip: every window is acknowledged, two segments at a time. */
static void round_trip(uint32_t ms)
{
	uint32_t left = cb.cwnd;

	e.now += ms;
	while (left != 0) {
		uint32_t n = left < 2u * cb.mss ? left : 2u * cb.mss;

		acked(n);
		left -= n;
	}
}

static void lose(void)
{
	cb.snd_max = cb.snd_una + cb.cwnd;
	cb.ssthresh = cb.cc->reduced(&cb, &e);
	cb.cwnd = cb.ssthresh;
}

static void the_initial_window_is_that_of_its_rfc(void)
{
	begin(TCP_CC_RENO, 1460);
	CU_ASSERT_EQUAL(tcp_cc_initial(&cb), 14600);
	cb.mss = 536;
	CU_ASSERT_EQUAL(tcp_cc_initial(&cb), 5360);
	cb.mss = 4300;
	CU_ASSERT_EQUAL(tcp_cc_initial(&cb), 14600);
	cb.mss = 9000;
	CU_ASSERT_EQUAL(tcp_cc_initial(&cb), 18000);
	tune.initial_window = 0;         /* RFC 3390 */
	cb.mss = 536;
	CU_ASSERT_EQUAL(tcp_cc_initial(&cb), 2144);
	cb.mss = 1460;
	CU_ASSERT_EQUAL(tcp_cc_initial(&cb), 4380);
	cb.mss = 4300;
	CU_ASSERT_EQUAL(tcp_cc_initial(&cb), 8600);
}

static void slow_start_counts_bytes_up_to_its_limit(void)
{
	begin(TCP_CC_RENO, 1000);
	cb.cwnd = 10000;
	acked(1000);
	CU_ASSERT_EQUAL(cb.cwnd, 11000);
	acked(2000);
	CU_ASSERT_EQUAL(cb.cwnd, 13000);
	acked(9000);                     /* L is 2 */
	CU_ASSERT_EQUAL(cb.cwnd, 15000);
	tune.abc = false;
	acked(2000);
	CU_ASSERT_EQUAL(cb.cwnd, 16000);
	cb.ssthresh = 16500;
	tune.abc = true;
	acked(2000);
	CU_ASSERT_EQUAL(cb.cwnd, 16500);
}

static void reno_grows_a_segment_for_each_window(void)
{
	for (unsigned abc = 0; abc < 2; abc++) {
		begin(TCP_CC_RENO, 1000);
		tune.abc = abc;
		cb.cwnd = cb.ssthresh = 20000;
		round_trip(10);
		if (abc)
			CU_ASSERT_EQUAL(cb.cwnd, 21000);
		CU_ASSERT(cb.cwnd >= 20400 && cb.cwnd <= 21000);
	}
}

static void reno_halves_what_is_in_flight_but_not_below_two(void)
{
	begin(TCP_CC_RENO, 1000);
	cb.cwnd = 20000;
	cb.snd_max = cb.snd_una + 12000;
	CU_ASSERT_EQUAL(cb.cc->reduced(&cb, &e), 6000);
	cb.snd_max = cb.snd_una + 1000;
	CU_ASSERT_EQUAL(cb.cc->reduced(&cb, &e), 2000);
}

/* RFC 9438 4.2 in floating point, segments and seconds. */
static double w_cubic(double t, double wmax, double k)
{
	return 0.4 * pow(t - k, 3) + wmax;
}

static void cubic_follows_its_curve(void)
{
	double wmax = 1000, w0 = 700, k = cbrt((wmax - w0) / 0.4);

	begin(TCP_CC_CUBIC, 1000);
	cb.srtt = 100000;
	cb.cwnd = 1000 * 1000;
	lose();
	CU_ASSERT_EQUAL(cb.cwnd, 700000);
	acked(1);                        /* the epoch begins */
	for (unsigned i = 1; i < 150; i++) {
		round_trip(100);
		if (i > 5)               /* cwnd follows the target within a round trip or so */
			CU_ASSERT_DOUBLE_EQUAL(cb.cwnd / 1000.0, w_cubic(i * 0.1, wmax, k),
					       0.02 * w_cubic(i * 0.1, wmax, k) + 2);
	}
	CU_ASSERT(cb.cwnd > 1050000);
}

/* Short round trips: what Reno would have is more (4.3). */
static void cubic_is_not_slower_than_reno_where_reno_is_fast(void)
{
	uint32_t w;

	begin(TCP_CC_CUBIC, 1000);
	cb.srtt = 1000;
	cb.cwnd = 20000;
	lose();
	w = cb.cwnd;
	for (unsigned i = 0; i < 30; i++)
		round_trip(1);
	/* alpha is 9/17 up to the old window, 1 from there on. */
	CU_ASSERT(cb.cwnd >= w + 30 * 1000 / 2 && cb.cwnd <= w + 30 * 1000);
}

static void cubic_gives_way_faster_when_its_share_shrinks(void)
{
	begin(TCP_CC_CUBIC, 1000);
	cb.cwnd = 100000;
	lose();
	lose();                          /* at 70000, below the last maximum: W_max is 59500 */
	CU_ASSERT_EQUAL(cb.cwnd, 49000);
	cb.srtt = 100000;
	for (unsigned i = 0; i < 20; i++)
		round_trip(100);
	CU_ASSERT_DOUBLE_EQUAL(cb.cwnd / 1000.0, 59.5, 4);
}

static void cubic_undoes_a_reduction(void)
{
	uint64_t before[6];

	begin(TCP_CC_CUBIC, 1000);
	cb.srtt = 100000;
	cb.cwnd = 100000;
	lose();
	for (unsigned i = 0; i < 10; i++)
		round_trip(100);
	memcpy(before, &cb.cc_priv, 16); /* w_max, epoch, k, origin */
	cb.cc->reduced(&cb, &e);
	CU_ASSERT(memcmp(before, &cb.cc_priv, 16) != 0);
	cb.cc->undo(&cb);
	CU_ASSERT(memcmp(before, &cb.cc_priv, 16) == 0);
}

/* However long, however large: no overflow, never less than it was. */
static void windows_stay_within_bounds(void)
{
	for (unsigned kind = 0; kind < TCP_CC_COUNT; kind++) {
		begin(kind, 65000);
		cb.srtt = 10000000;
		cb.cwnd = TCP_CWND_MAX - 10;
		lose();
		for (unsigned i = 0; i < 64; i++) {
			uint32_t was = cb.cwnd;

			e.now += 1u << (i % 24);
			acked(cb.cwnd / 2);
			CU_ASSERT(cb.cwnd >= was && cb.cwnd <= TCP_CWND_MAX);
		}
	}
}

int main(void)
{
	static CU_TestInfo tests[] = {
#define T(t) { #t, t }
		T(the_initial_window_is_that_of_its_rfc),
		T(slow_start_counts_bytes_up_to_its_limit),
		T(reno_grows_a_segment_for_each_window),
		T(reno_halves_what_is_in_flight_but_not_below_two),
		T(cubic_follows_its_curve),
		T(cubic_is_not_slower_than_reno_where_reno_is_fast),
		T(cubic_gives_way_faster_when_its_share_shrinks),
		T(cubic_undoes_a_reduction),
		T(windows_stay_within_bounds),
		CU_TEST_INFO_NULL,
	};
	CU_SuiteInfo suites[] = { { "tcp cc", NULL, NULL, NULL, NULL, tests }, CU_SUITE_INFO_NULL };

	return xk_test_main(suites);
}

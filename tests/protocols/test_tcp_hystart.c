/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_tcp_hystart.c - HyStart++ (RFC 9406) alone: a sender whose windows are
 * acknowledged two segments at a time with round trips that a script gives.
 */
#include <stdio.h>
#include <string.h>

#include "protocols/tcp/core/tcp_cc.h"
#include "tests/support/xk_test.h"

#define MSS  1000u
#define BASE 100000u             /* us */

static struct tcp_cb cb;
static struct tcp_tune tune;
static struct tcp_env e;

static void begin(enum tcp_cc_kind kind)
{
	memset(&cb, 0, sizeof cb);
	tune = (struct tcp_tune){ .cc = (uint8_t)kind, .abc = true, .abc_limit = 2, .initial_window = 20, .rto_min = 200,
				  .rto_max = 60000, .hystart = true, .hystart_min = 4, .hystart_max = 16,
				  .hystart_samples = 8, .hystart_rounds = 5 };
	cb.tune = &tune;
	cb.mss = MSS;
	e = (struct tcp_env){ .now = 1000 };
	tcp_rec_init(&cb);
}

/* One window, a round where there are such, full all the while: each ACK's round trip is at
 * least us, the first one's us, the others' up to jitter more. */
static void window(uint32_t us, uint32_t jitter)
{
	uint32_t end;

	cb.snd_max = cb.snd_una + cb.cwnd;
	end = cb.hystart > TCP_HS_NEW ? cb.hs_end : cb.snd_max;
	for (unsigned i = 0; tcp_lt(cb.snd_una, end); i++) {
		uint32_t left = end - cb.snd_una, n = left < 2 * MSS ? left : 2 * MSS;

		tcp_rtt_sample(&cb, us + (i != 0 && jitter != 0 ? i * 7919u % jitter : 0));
		tcp_rec_grow(&cb, &e, n);
		cb.snd_una += n;
		cb.snd_max = cb.snd_una + cb.cwnd;
	}
	e.now += us / 1000;
}

static bool doubled(uint32_t us)
{
	uint32_t before = cb.cwnd;

	window(us, 0);
	return cb.cwnd >= before + before * 3 / 4;
}

static void a_path_whose_round_trips_stay_is_doubled_on(void)
{
	for (unsigned kind = TCP_CC_CUBIC; kind <= TCP_CC_RENO; kind++) {
		begin((enum tcp_cc_kind)kind);
		for (unsigned i = 0; i < 8; i++)
			CU_ASSERT(doubled(BASE));
		CU_ASSERT_EQUAL(cb.ssthresh, TCP_CWND_MAX);
		CU_ASSERT_EQUAL(cb.hystart, TCP_HS_ON);
	}
}

/* An eighth of 100 ms is 12.5; below 32 ms it is 4, from 128 ms on 16. */
static bool leaves(uint32_t base, uint32_t then)
{
	begin(TCP_CC_CUBIC);
	window(base, 0);
	window(base, 0);
	window(then, 0);
	return cb.hystart == TCP_HS_CSS;
}

static void the_threshold_is_an_eighth_between_its_bounds(void)
{
	CU_ASSERT(!leaves(100000, 112499));
	CU_ASSERT(leaves(100000, 112500));
	CU_ASSERT(!leaves(1000, 4999));
	CU_ASSERT(leaves(1000, 5000));
	CU_ASSERT(!leaves(400000, 415999));
	CU_ASSERT(leaves(400000, 416000));
}

static void jitter_above_the_least_round_trip_changes_nothing(void)
{
	begin(TCP_CC_CUBIC);
	for (unsigned i = 0; i < 7; i++) {
		window(BASE, 90000);
		CU_ASSERT_EQUAL(cb.hystart, TCP_HS_ON);
	}
	CU_ASSERT(cb.cwnd > 1000000);
}

static void conservative_slow_start_grows_by_a_quarter(void)
{
	uint32_t before;

	begin(TCP_CC_RENO);
	for (unsigned i = 0; i < 3; i++)
		window(BASE, 0);
	window(BASE + 13000, 0);         /* its eighth ACK changes the pace */
	CU_ASSERT_EQUAL(cb.hystart, TCP_HS_CSS);
	before = cb.cwnd;
	window(BASE + 13000, 0);
	CU_ASSERT(cb.cwnd >= before + before / 4 - MSS && cb.cwnd <= before + before / 4 + MSS);
	CU_ASSERT_EQUAL(cb.ssthresh, TCP_CWND_MAX);
}

static void after_five_such_rounds_avoidance_begins_where_it_is(void)
{
	begin(TCP_CC_RENO);
	for (unsigned i = 0; i < 3; i++)
		window(BASE, 0);
	/* The window in which it began counts. */
	for (unsigned i = 0; i < 5; i++) {
		CU_ASSERT_EQUAL(cb.ssthresh, TCP_CWND_MAX);
		window(BASE + 13000, 0);
	}
	CU_ASSERT_EQUAL(cb.hystart, TCP_HS_OFF);
	CU_ASSERT(cb.ssthresh <= cb.cwnd && cb.cwnd <= cb.ssthresh + 2 * MSS);
	CU_ASSERT(!doubled(BASE));
}

static void round_trips_that_fall_again_take_it_back(void)
{
	begin(TCP_CC_CUBIC);
	for (unsigned i = 0; i < 3; i++)
		window(BASE, 0);
	window(BASE + 20000, 0);
	CU_ASSERT_EQUAL(cb.hystart, TCP_HS_CSS);
	window(BASE + 19000, 0);
	CU_ASSERT_EQUAL(cb.hystart, TCP_HS_ON);
	CU_ASSERT(doubled(BASE + 19000));
	CU_ASSERT_EQUAL(cb.ssthresh, TCP_CWND_MAX);
}

static void few_measurements_say_nothing(void)
{
	begin(TCP_CC_CUBIC);
	cb.cwnd = 14 * MSS;              /* seven ACKs */
	window(BASE, 0);
	CU_ASSERT_EQUAL(cb.hystart, TCP_HS_ON);
	cb.cwnd = 14 * MSS;
	window(2 * BASE, 0);
	CU_ASSERT_EQUAL(cb.hystart, TCP_HS_ON);
}

static void an_acknowledgement_that_measures_nothing_is_no_sample(void)
{
	begin(TCP_CC_CUBIC);
	window(BASE, 0);
	cb.snd_max = cb.snd_una + cb.cwnd;
	for (unsigned i = 0; i < 12; i++) {
		tcp_rec_grow(&cb, &e, MSS);
		cb.snd_una += MSS;
	}
	CU_ASSERT_EQUAL(cb.hs_samples, 0);
}

static void a_loss_ends_it_for_good(void)
{
	begin(TCP_CC_CUBIC);
	window(BASE, 0);
	cb.ssthresh = cb.cc->reduced(&cb, &e);
	cb.cwnd = cb.ssthresh - 4 * MSS; /* as after a timeout */
	window(BASE, 0);
	CU_ASSERT_EQUAL(cb.hystart, TCP_HS_OFF);
	cb.ssthresh = TCP_CWND_MAX;      /* undone */
	for (unsigned i = 0; i < 3; i++)
		CU_ASSERT(doubled(BASE << i));
}

static void an_end_of_long_ago_ends_the_round(void)
{
	begin(TCP_CC_CUBIC);
	window(BASE, 0);
	cb.snd_una += 0x90000000u;       /* not growing meanwhile: less was sent than cwnd */
	cb.snd_max = cb.snd_una + cb.cwnd;
	tcp_rtt_sample(&cb, BASE);
	tcp_rec_grow(&cb, &e, MSS);
	CU_ASSERT_EQUAL(cb.hs_end, cb.snd_max);
}

static void who_does_not_want_it_has_plain_slow_start(void)
{
	begin(TCP_CC_CUBIC);
	tune.hystart = false;
	tcp_rec_init(&cb);
	for (unsigned i = 0; i < 6; i++)
		CU_ASSERT(doubled(BASE << i));
	begin(TCP_CC_NONE);
	CU_ASSERT_EQUAL(cb.hystart, TCP_HS_OFF);
}

int main(void)
{
	static CU_TestInfo tests[] = {
		{ "a path whose round trips stay is doubled on", a_path_whose_round_trips_stay_is_doubled_on },
		{ "the threshold is an eighth between its bounds", the_threshold_is_an_eighth_between_its_bounds },
		{ "jitter above the least round trip changes nothing", jitter_above_the_least_round_trip_changes_nothing },
		{ "conservative slow start grows by a quarter", conservative_slow_start_grows_by_a_quarter },
		{ "after five such rounds avoidance begins where it is", after_five_such_rounds_avoidance_begins_where_it_is },
		{ "round trips that fall again take it back", round_trips_that_fall_again_take_it_back },
		{ "few measurements say nothing", few_measurements_say_nothing },
		{ "an acknowledgement that measures nothing is no sample", an_acknowledgement_that_measures_nothing_is_no_sample },
		{ "a loss ends it for good", a_loss_ends_it_for_good },
		{ "an end of long ago ends the round", an_end_of_long_ago_ends_the_round },
		{ "who does not want it has plain slow start", who_does_not_want_it_has_plain_slow_start },
		CU_TEST_INFO_NULL
	};
	static const CU_SuiteInfo suites[] = { { "hystart", NULL, NULL, NULL, NULL, tests }, CU_SUITE_INFO_NULL };

	return xk_test_main(suites);
}

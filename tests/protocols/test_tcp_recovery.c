/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_tcp_recovery.c - loss, with a control block, a queue and a clock of our own:
 * what is sent again and when, how the window moves, and nonsense from the peer.
 */
#include "tests/protocols/tcp_recovery_fixture.h"

/* ---- round trips ------------------------------------------------------------------------- */

static void the_timeout_follows_rfc_6298(void)
{
	up(0);
	CU_ASSERT_EQUAL(tcp_rto_now(&cb), 1000);
	tcp_rtt_sample(&cb, 100000);
	CU_ASSERT_EQUAL(cb.srtt, 100000);
	CU_ASSERT_EQUAL(cb.rttvar, 50000);
	CU_ASSERT_EQUAL(cb.rto, 300);
	tcp_rtt_sample(&cb, 180000);
	CU_ASSERT_EQUAL(cb.srtt, 110000);
	CU_ASSERT_EQUAL(cb.rttvar, 57500);
	CU_ASSERT_EQUAL(cb.rto, 340);
	for (unsigned i = 0; i < 200; i++)
		tcp_rtt_sample(&cb, 1000);
	CU_ASSERT_EQUAL(cb.rto, 200);    /* the floor */
	cb.backoff = 3;
	CU_ASSERT_EQUAL(tcp_rto_now(&cb), 1600);
	cb.backoff = 15;
	CU_ASSERT_EQUAL(tcp_rto_now(&cb), 60000);
	down();
}

static void an_ack_of_what_was_sent_twice_measures_nothing(void)
{
	up(0);
	put(1);
	output();
	later(1000);
	tcp_rec_timeout(&cb, &e);
	CU_ASSERT_EQUAL(output(), 1);
	later(10);
	ack(1, NULL);
	CU_ASSERT_EQUAL(cb.srtt, 0);     /* Karn */
	CU_ASSERT_EQUAL(cb.backoff, 1);  /* kept until something new is measured */
	put(1);
	output();
	later(50);
	ack(2, NULL);
	CU_ASSERT_EQUAL(cb.srtt, 50000);
	CU_ASSERT_EQUAL(cb.backoff, 0);
	down();
}

/* The first one had come and its ACK was lost: the peer answers the second, a duplicate,
 * with the first one's time, and that is not how long the path is. */
static void an_echo_from_before_the_repetition_measures_nothing(void)
{
	uint32_t ts;

	up(TCP_F_TS);
	put(2);
	output();
	ts = e.now;
	later(1000);
	tcp_rec_timeout(&cb, &e);
	CU_ASSERT_EQUAL(output(), 1);
	later(50);
	ack_ts(1, ts);
	CU_ASSERT_EQUAL(cb.srtt, 0);
	down();
	up(TCP_F_TS);
	put(2);
	output();
	later(1000);
	tcp_rec_timeout(&cb, &e);
	ts = e.now;
	output();
	later(50);
	ack_ts(1, ts);                   /* of the second one */
	CU_ASSERT_EQUAL(cb.srtt, 50000);
	CU_ASSERT_EQUAL(cb.backoff, 0);
	down();
}

/* Behind a hole that stays, blocks of what was sent once measure the path and end the backoff. */
static void a_block_measures_a_round_trip(void)
{
	up(TCP_F_SACK);
	tune.rack = true;
	put(5);
	output();
	later(80);
	cb.backoff = 3;
	ack(0, B({ 2, 3 }));
	CU_ASSERT_EQUAL(cb.srtt, 80000);
	CU_ASSERT_EQUAL(cb.backoff, 0);
	later(20);
	ack(0, B({ 2, 3 }));                     /* nothing new */
	CU_ASSERT_EQUAL(cb.srtt, 80000);
	down();
}

static void the_timer_runs_exactly_while_something_is_in_flight(void)
{
	up(0);
	put(3);
	CU_ASSERT_EQUAL(cb.at[TCP_T_REXMT], 0);
	output();
	CU_ASSERT_EQUAL(cb.at[TCP_T_REXMT], e.now + 1000);
	later(100);
	ack(1, NULL);
	CU_ASSERT_EQUAL(cb.at[TCP_T_REXMT], e.now + 300);
	later(100);
	ack(3, NULL);
	CU_ASSERT_EQUAL(cb.at[TCP_T_REXMT], 0);
	down();
}

/* ---- without SACK -------------------------------------------------------------------------- */

static void three_duplicates_send_the_first_again(void)
{
	up(0);
	put(40);
	CU_ASSERT_EQUAL(output(), 10);
	later(100);
	ack(0, NULL);
	CU_ASSERT_EQUAL(output(), 1);    /* RFC 3042 */
	ack(0, NULL);
	CU_ASSERT_EQUAL(output(), 1);
	CU_ASSERT(!sent[10].again && !sent[11].again);
	ack(0, NULL);
	CU_ASSERT_EQUAL(cb.ca_state, TCP_CA_RECOVERY);
	CU_ASSERT_EQUAL(cb.ssthresh, 5000);
	output();
	CU_ASSERT(sent[12].again && sent[12].no == 0);
	CU_ASSERT_EQUAL(cb.recover, seq(12));
	ack(3, NULL);                    /* partial: the next hole */
	output();
	CU_ASSERT_EQUAL(cb.ca_state, TCP_CA_RECOVERY);
	CU_ASSERT(sent[13].again && sent[13].no == 3);
	ack(12, NULL);
	CU_ASSERT_EQUAL(cb.ca_state, TCP_CA_OPEN);
	CU_ASSERT(cb.cwnd <= 5000);
	CU_ASSERT_EQUAL(count[TCP_COUNT_FAST], 1);
	down();
}

static void limited_transmit_can_be_off(void)
{
	up(0);
	tune.limited_transmit = false;
	put(40);
	output();
	ack(0, NULL);
	ack(0, NULL);
	CU_ASSERT_EQUAL(output(), 0);
	down();
}

/* RFC 6582 4: duplicates that repeated segments cause begin nothing. */
static void duplicates_after_a_recovery_begin_no_other(void)
{
	up(0);
	put(40);
	output();
	for (unsigned i = 0; i < 3; i++)
		ack(0, NULL);
	output();
	ack((cb.recover - first) / MSS, NULL);
	CU_ASSERT_EQUAL(cb.ca_state, TCP_CA_OPEN);
	output();
	for (unsigned i = 0; i < 5; i++)
		ack((cb.snd_una - first) / MSS, NULL);
	CU_ASSERT_EQUAL(count[TCP_COUNT_FAST], 1);
	down();
}

/* ---- with SACK ------------------------------------------------------------------------------- */

static void three_segments_above_a_hole_make_it_lost(void)
{
	for (unsigned rack = 0; rack < 2; rack++) {
		up(TCP_F_SACK);
		tune.rack = rack;
		tune.prr = true;
		put(60);
		cb.cwnd = 20 * MSS;
		output();
		later(100);
		ack(1, NULL);
		output();
		ack(1, B({ 3, 4 }));
		ack(1, B({ 3, 5 }));
		CU_ASSERT(cb.ca_state == TCP_CA_DISORDER);
		output();
		nsent = 0;
		ack(1, B({ 3, 6 }));
		CU_ASSERT_EQUAL(cb.ca_state, TCP_CA_RECOVERY);
		CU_ASSERT_EQUAL(cb.lost_out, 2 * MSS);
		output();
		CU_ASSERT(nsent >= 1 && sent[0].again && sent[0].no == 1);
		down();
	}
}

static void one_segment_above_waits_for_the_reordering_window(void)
{
	up(TCP_F_SACK);
	tune.rack = true;
	put(20);
	output();
	later(100);
	ack(1, NULL);
	output();
	ack(1, B({ 2, 3 }));
	CU_ASSERT_EQUAL(cb.ca_state, TCP_CA_DISORDER);
	CU_ASSERT_NOT_EQUAL(cb.at[TCP_T_REORDER], 0);
	CU_ASSERT(cb.at[TCP_T_REORDER] - e.now <= 26);   /* a quarter of the round trip */
	later(cb.at[TCP_T_REORDER] - e.now);
	tcp_rec_reorder(&cb, &e);
	CU_ASSERT_EQUAL(cb.ca_state, TCP_CA_RECOVERY);
	CU_ASSERT_EQUAL(cb.lost_out, MSS);
	down();
}

static void what_comes_late_shows_reordering_and_is_not_lost(void)
{
	up(TCP_F_SACK);
	tune.rack = true;
	put(40);
	output();
	later(100);
	ack(0, B({ 1, 3 }));
	ack(3, NULL);                    /* it was only late */
	CU_ASSERT(cb.rack_reordering);
	CU_ASSERT_EQUAL(cb.lost_out, 0);
	output();
	later(10);
	ack(3, B({ 4, 8 }));             /* four above: no longer enough by themselves */
	CU_ASSERT_EQUAL(cb.ca_state, TCP_CA_DISORDER);
	CU_ASSERT_NOT_EQUAL(cb.at[TCP_T_REORDER], 0);
	down();
}

/* RFC 6937: in a recovery as long as a window, about ssthresh goes out. */
static void prr_sends_in_proportion(void)
{
	unsigned n;

	up(TCP_F_SACK);
	tune.rack = tune.prr = true;
	put(200);
	cb.cwnd = 20 * MSS;
	output();
	CU_ASSERT_EQUAL(nsent, 20);
	later(100);
	nsent = 0;
	for (n = 2; n <= 20; n++) {
		ack(0, B({ 1, n }));
		output();
		later(1);
	}
	CU_ASSERT_EQUAL(cb.ssthresh, 10 * MSS);
	CU_ASSERT(nsent >= 9 && nsent <= 12);
	CU_ASSERT(tcp_pipe(&cb) <= cb.ssthresh + MSS);
	ack(20, B({ 20, 20 + 5 }));
	CU_ASSERT_EQUAL(cb.cwnd, 10 * MSS);
	down();
}

static void a_repetition_that_is_lost_is_repeated(void)
{
	up(TCP_F_SACK);
	tune.rack = tune.prr = true;
	put(100);
	cb.cwnd = 20 * MSS;
	output();
	later(100);
	ack(0, B({ 1, 5 }));
	CU_ASSERT(output() > 1);
	later(100);
	/* All that was sent after the repetition has come; it has not. */
	later(60);
	nsent = 0;
	ack(0, B({ 1, (cb.snd_max - first) / MSS }));
	output();
	CU_ASSERT(nsent >= 1 && sent[0].again && sent[0].no == 0);
	down();
}

/* The clock stands still while a burst is handled: what went out before a repetition,
 * in the same microsecond, is not taken for sent after it. */
static void what_goes_out_in_one_moment_keeps_its_order(void)
{
	unsigned no;

	up(TCP_F_SACK);
	tune.rack = tune.prr = true;
	put(100);
	output();
	later(100);
	ack(0, B({ 1, 2 }));
	CU_ASSERT_EQUAL(output(), 1);            /* something new ... */
	CU_ASSERT(!sent[10].again && sent[10].no == 10);
	ack(0, B({ 1, 4 }));
	nsent = 0;
	output();
	CU_ASSERT(sent[0].again && sent[0].no == 0);     /* ... and the hole, after it */
	later(100);
	ack(0, B({ 1, 11 }));                    /* what was sent before it has come */
	CU_ASSERT_EQUAL(cb.retrans_out, MSS);
	no = nsent;
	output();
	CU_ASSERT(nsent > no && !sent[no].again);
	later(100);
	ack(0, B({ 1, 12 }));                    /* and now what was sent after it */
	no = nsent;
	output();
	CU_ASSERT(nsent > no && sent[no].again && sent[no].no == 0);
	down();
}

/* RFC 6675 6: a recovery may last longer than the timeout that ran when it began. */
static void each_repetition_starts_the_timeout_again(void)
{
	up(TCP_F_SACK);
	tune.rack = tune.prr = true;
	put(100);
	output();
	later(100);
	ack(1, NULL);
	output();
	later(90);
	ack(1, B({ 2, 5 }));
	CU_ASSERT(output() >= 1);
	CU_ASSERT_EQUAL(cb.at[TCP_T_REXMT], e.now + tcp_rto_now(&cb));
	down();
}

/* What was sent after a recovery began and is lost, too, is another's: the window pays
 * again, and a repetition of a repetition is in flight once. */
static void losses_after_a_recovery_began_begin_another(void)
{
	struct xk_msg *last;

	up(TCP_F_SACK);
	tune.rack = tune.prr = true;
	put(100);
	cb.cwnd = 20 * MSS;
	output();
	later(100);
	for (unsigned n = 4; n <= 20; n++) {
		ack(0, B({ 1, n }));
		output();
	}
	CU_ASSERT_EQUAL(cb.ssthresh, 10 * MSS);
	CU_ASSERT_EQUAL(cb.recover, seq(20));
	CU_ASSERT(tcp_gt(cb.snd_max, seq(23)));
	later(100);
	ack(0, B({ 1, 20 }, { 22, 23 }));
	CU_ASSERT(cb.lost_out >= 2 * MSS);       /* 20 and 21 */
	ack(20, B({ 22, 23 }));                  /* the first ends, with holes behind its end */
	CU_ASSERT(cb.ca_state == TCP_CA_RECOVERY && cb.recover == cb.snd_max);
	CU_ASSERT(count[TCP_COUNT_FAST] == 2 && cb.ssthresh < 10 * MSS);
	output();
	last = cb.sq.first;
	CU_ASSERT(last->kept.flags & TCP_SQ_RETRANS);
	tcp_rec_sent(&cb, &e, last, true);
	check();
	down();
}

static void blocks_that_make_no_sense_are_ignored(void)
{
	struct tcp_seg g;
	uint32_t una;

	up(TCP_F_SACK);
	tune.rack = true;
	put(20);
	output();
	ack(2, NULL);
	una = cb.snd_una;
	const uint32_t bad[][2] = {
		{ una + 2000, una + 1000 },              /* reversed */
		{ una + 1000, una + 1000 },              /* empty */
		{ una + 1000, cb.snd_max + 1 },          /* never sent */
		{ una - 5000, una + 2000 },              /* from before */
		{ una + 0x80000000u, una + 0x80000010u },
		{ 0, 0xffffffffu },
	};
	for (unsigned i = 0; i < XK_ARRAY_LEN(bad); i++) {
		g = (struct tcp_seg){ .ack = una, .o = { .have = TCP_O_SACK, .nsack = 2 } };
		g.o.sack[0].l = g.o.sack[1].l = bad[i][0];
		g.o.sack[0].r = g.o.sack[1].r = bad[i][1];
		ack_seg(&g);
		CU_ASSERT_EQUAL(cb.sacked_out, 0);
		CU_ASSERT_EQUAL(cb.lost_out, 0);
	}
	down();
}

/* Steps of one byte, random blocks, ACKs in the middle: sums and queue agree, and all
 * is acknowledged in the end. */
static void random_acknowledgements_keep_the_scoreboard(void)
{
	struct xk_rand r;

	xk_rand_init(&r, 11, 3);
	for (unsigned way = 0; way < 4; way++) {
		up(way & 1 ? TCP_F_SACK | TCP_F_TS : 0);
		tune.rack = tune.prr = way & 2;
		tune.frto = way & 2;
		put(2000);
		for (unsigned long i = 0; i < xk_test_rounds(6000); i++) {
			uint32_t flight;
			struct tcp_seg g = { .o = { .have = TCP_O_TS } };

			output();
			flight = cb.snd_max - cb.snd_una;
			g.ack = cb.snd_una + (xk_rand_below(&r, 8) ? 0 : (uint32_t)xk_rand_below(&r, flight / 4 + 1));
			g.o.tsecr = e.now - (uint32_t)xk_rand_below(&r, 200);
			g.o.nsack = (uint8_t)xk_rand_below(&r, 5);
			g.o.have |= g.o.nsack ? TCP_O_SACK : 0;
			for (unsigned k = 0; k < g.o.nsack; k++) {
				g.o.sack[k].l = cb.snd_una + (uint32_t)xk_rand_below(&r, flight + 3);
				g.o.sack[k].r = g.o.sack[k].l + (uint32_t)xk_rand_below(&r, 8 * MSS) - 10;
			}
			ack_seg(&g);
			later((uint32_t)xk_rand_below(&r, 20));
			if (cb.at[TCP_T_REORDER] != 0 && (int32_t)(e.now - cb.at[TCP_T_REORDER]) >= 0)
				tcp_rec_reorder(&cb, &e);
			if (cb.at[TCP_T_REXMT] != 0 && (int32_t)(e.now - cb.at[TCP_T_REXMT]) >= 0) {
				cb.retries++;
				tcp_rec_timeout(&cb, &e);
			}
			check();
		}
		while (cb.sq.first != NULL) {
			struct tcp_seg g = { .ack = cb.snd_max };

			output();
			g.ack = cb.snd_max;
			ack_seg(&g);
		}
		CU_ASSERT_EQUAL(cb.snd_una, cb.snd_end);
		CU_ASSERT_EQUAL(cb.sacked_segs + cb.lost_out + cb.retrans_out, 0);
		down();
	}
}

int main(void)
{
	static CU_TestInfo tests[] = {
#define T(t) { #t, t }
		T(the_timeout_follows_rfc_6298),
		T(an_ack_of_what_was_sent_twice_measures_nothing),
		T(an_echo_from_before_the_repetition_measures_nothing),
		T(a_block_measures_a_round_trip),
		T(the_timer_runs_exactly_while_something_is_in_flight),
		T(three_duplicates_send_the_first_again),
		T(limited_transmit_can_be_off),
		T(duplicates_after_a_recovery_begin_no_other),
		T(three_segments_above_a_hole_make_it_lost),
		T(one_segment_above_waits_for_the_reordering_window),
		T(what_comes_late_shows_reordering_and_is_not_lost),
		T(prr_sends_in_proportion),
		T(a_repetition_that_is_lost_is_repeated),
		T(what_goes_out_in_one_moment_keeps_its_order),
		T(each_repetition_starts_the_timeout_again),
		T(losses_after_a_recovery_began_begin_another),
		T(blocks_that_make_no_sense_are_ignored),
		T(random_acknowledgements_keep_the_scoreboard),
		CU_TEST_INFO_NULL,
	};
	CU_SuiteInfo suites[] = { { "tcp recovery", NULL, NULL, NULL, NULL, tests }, CU_SUITE_INFO_NULL };

	return xk_test_main(suites);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_tcp_timeout.c - what TCP does when a retransmission timer fires, and when it turns
 * out to have been too early; and a sender without congestion control.
 */
#include "tests/protocols/tcp_recovery_fixture.h"

/* ---- timeouts --------------------------------------------------------------------------------- */

static void a_timeout_begins_again_with_one_segment(void)
{
	up(0);
	put(40);
	output();
	nsent = 0;
	later(1000);
	cb.retries = 1;
	tcp_rec_timeout(&cb, &e);
	CU_ASSERT_EQUAL(cb.cwnd, MSS);
	CU_ASSERT_EQUAL(cb.ssthresh, 5 * MSS);
	CU_ASSERT_EQUAL(cb.at[TCP_T_REXMT], e.now + 2000);
	CU_ASSERT_EQUAL(output(), 1);
	CU_ASSERT(sent[0].again && sent[0].no == 0);
	later(2000);
	cb.retries = 2;
	tcp_rec_timeout(&cb, &e);
	CU_ASSERT_EQUAL(cb.ssthresh, 5 * MSS);   /* once for all of them */
	CU_ASSERT_EQUAL(cb.at[TCP_T_REXMT], e.now + 4000);
	CU_ASSERT_EQUAL(output(), 1);
	ack(1, NULL);
	CU_ASSERT_EQUAL(output(), 2);            /* slow start, over what was lost */
	CU_ASSERT(sent[2].no == 1 && sent[3].no == 2);
	ack(10, NULL);
	CU_ASSERT_EQUAL(cb.ca_state, TCP_CA_OPEN);
	down();
}

/* Without SACK: what is taken for lost has not arrived, too, and makes no room for more than the window. */
static void duplicates_after_a_timeout_make_no_room(void)
{
	up(0);
	put(20);
	output();
	later(1000);
	tcp_rec_timeout(&cb, &e);
	CU_ASSERT_EQUAL(cb.lost_out, 10 * MSS);
	CU_ASSERT_EQUAL(output(), 1);
	for (unsigned i = 0; i < 6; i++) {
		ack(0, NULL);
		CU_ASSERT_EQUAL(output(), 0);
		CU_ASSERT(cb.sacked_out + cb.lost_out <= cb.snd_max - cb.snd_una);
	}
	down();
}

static void acks_of_what_was_not_repeated_show_a_spurious_timeout(void)
{
	up(0);
	tune.frto = true;
	put(40);
	output();
	later(1000);
	cb.retries = 1;
	tcp_rec_timeout(&cb, &e);
	nsent = 0;
	output();
	CU_ASSERT_EQUAL(nsent, 1);
	ack(1, NULL);                            /* of the repetition or not */
	CU_ASSERT_EQUAL(output(), 2);
	CU_ASSERT(!sent[1].again && !sent[2].again);
	ack(2, NULL);                            /* never repeated */
	CU_ASSERT_EQUAL(count[TCP_COUNT_UNDO], 1);
	CU_ASSERT_EQUAL(cb.ca_state, TCP_CA_OPEN);
	CU_ASSERT(cb.cwnd >= 10 * MSS);
	CU_ASSERT_EQUAL(cb.lost_out, 0);
	CU_ASSERT_EQUAL(cb.backoff, 0);
	down();
}

static void a_real_timeout_is_not_taken_for_spurious(void)
{
	up(0);
	tune.frto = true;
	put(40);
	output();
	later(1000);
	cb.retries = 1;
	tcp_rec_timeout(&cb, &e);
	output();
	ack(1, NULL);
	output();
	ack(1, NULL);                            /* new data came, the hole stays */
	CU_ASSERT_EQUAL(count[TCP_COUNT_UNDO], 0);
	nsent = 0;
	output();
	CU_ASSERT(nsent >= 1 && sent[0].again && sent[0].no == 1);
	down();
}

static void an_old_timestamp_undoes_a_recovery(void)
{
	uint32_t ts;

	up(TCP_F_TS);
	put(40);
	output();
	ts = e.now;
	later(100);
	for (unsigned i = 0; i < 3; i++)
		ack_ts(0, ts);
	CU_ASSERT_EQUAL(cb.ca_state, TCP_CA_RECOVERY);
	output();
	later(1);
	ack_ts(2, ts);                           /* of the first time: Eifel */
	CU_ASSERT_EQUAL(count[TCP_COUNT_UNDO], 1);
	CU_ASSERT(cb.cwnd >= 10 * MSS);
	CU_ASSERT_EQUAL(cb.ssthresh, TCP_CWND_MAX);
	down();
}

static void duplicate_reports_of_all_repetitions_undo_a_recovery(void)
{
	up(TCP_F_SACK);
	tune.rack = tune.prr = true;
	put(40);
	output();
	later(100);
	ack(0, B({ 1, 5 }));
	CU_ASSERT_EQUAL(cb.ca_state, TCP_CA_RECOVERY);
	nsent = 0;
	output();
	CU_ASSERT(sent[0].again);
	ack(10, NULL);
	ack(10, B({ 0, 1 }));                    /* came twice */
	CU_ASSERT_EQUAL(count[TCP_COUNT_UNDO], 1);
	CU_ASSERT(cb.cwnd >= 10 * MSS);
	CU_ASSERT(cb.rack_reo_mult > 1);
	down();
}

static void a_peer_that_forgets_what_it_had_gets_it_again(void)
{
	up(TCP_F_SACK);
	put(10);
	output();
	ack(0, B({ 1, 10 }));
	ack(1, NULL);
	CU_ASSERT_EQUAL(cb.sacked_out, 9 * MSS);
	later(1000);
	tcp_rec_timeout(&cb, &e);
	check();
	CU_ASSERT_EQUAL(cb.sacked_out, 0);
	CU_ASSERT_EQUAL(cb.lost_out, 9 * MSS);
	down();
}

static void congestion_is_answered_once_per_window(void)
{
	up(TCP_F_SACK | TCP_F_ECN);
	put(60);
	output();
	tcp_rec_ecn(&cb, &e);
	CU_ASSERT_EQUAL(cb.cwnd, 5 * MSS);
	CU_ASSERT(cb.flags & TCP_F_CWR);
	tcp_rec_ecn(&cb, &e);
	CU_ASSERT_EQUAL(cb.cwnd, 5 * MSS);
	ack(5, NULL);
	CU_ASSERT_EQUAL(cb.cwnd, 5 * MSS);       /* it does not grow meanwhile */
	ack(10, NULL);
	CU_ASSERT_EQUAL(cb.ca_state, TCP_CA_OPEN);
	output();
	tcp_rec_ecn(&cb, &e);
	CU_ASSERT(cb.cwnd < 5 * MSS);
	down();
}

/* The policy none: a loss is repaired at once and takes nothing back. */
static void without_congestion_control_nothing_waits(void)
{
	up(TCP_F_SACK);
	tune.cc = TCP_CC_NONE;
	tune.rack = tune.prr = tune.frto = true;
	tcp_rec_init(&cb);
	cb.snd_wnd = 40 * MSS;
	put(200);
	CU_ASSERT_EQUAL(output(), 40);           /* the peer's window, from the first segment on */
	later(100);
	nsent = 0;
	ack(0, B({ 5, 8 }));
	CU_ASSERT_EQUAL(cb.ca_state, TCP_CA_RECOVERY);
	CU_ASSERT_EQUAL(output(), 5);            /* all five holes by one ACK */
	CU_ASSERT(sent[0].again && sent[4].again && sent[4].no == 4);
	ack(40, NULL);
	CU_ASSERT_EQUAL(cb.ca_state, TCP_CA_OPEN);
	CU_ASSERT_EQUAL(output(), 40);
	later(1000);
	nsent = 0;
	cb.retries = 1;
	tcp_rec_timeout(&cb, &e);
	CU_ASSERT_EQUAL(output(), 40);           /* and after a timeout the whole window */
	CU_ASSERT(sent[0].again && sent[39].again && sent[39].no == 79);
	tcp_rec_ecn(&cb, &e);
	CU_ASSERT_EQUAL(cb.cwnd, TCP_CWND_MAX);
	later(2000);
	cb.retries = 3;
	tcp_rec_timeout(&cb, &e);
	CU_ASSERT_EQUAL(output(), 40);
	later(4000);
	cb.retries = 4;
	tcp_rec_timeout(&cb, &e);
	CU_ASSERT_EQUAL(output(), 1);            /* a path that does not answer is not filled */
	ack(50, NULL);
	CU_ASSERT_EQUAL(output(), 40);           /* it does: 30 again, 10 new ones */
	ack(80, NULL);
	CU_ASSERT_EQUAL(cb.ca_state, TCP_CA_OPEN);
	down();
}

/* Where losses are guessed from duplicates it holds, too. */
static void without_congestion_control_duplicates_repair(void)
{
	up(0);
	tune.cc = TCP_CC_NONE;
	tcp_rec_init(&cb);
	cb.snd_wnd = 40 * MSS;
	put(200);
	output();
	later(100);
	for (unsigned i = 0; i < 3; i++)
		ack(0, NULL);
	nsent = 0;
	CU_ASSERT_EQUAL(output(), 1);
	CU_ASSERT(sent[0].again && sent[0].no == 0);
	ack(40, NULL);
	CU_ASSERT_EQUAL(cb.ca_state, TCP_CA_OPEN);
	CU_ASSERT_EQUAL(output(), 40);
	down();
}

#define T(t) { #t, t }
static CU_TestInfo tests[] = {
	T(a_timeout_begins_again_with_one_segment),
	T(duplicates_after_a_timeout_make_no_room),
	T(acks_of_what_was_not_repeated_show_a_spurious_timeout),
	T(a_real_timeout_is_not_taken_for_spurious),
	T(an_old_timestamp_undoes_a_recovery),
	T(duplicate_reports_of_all_repetitions_undo_a_recovery),
	T(a_peer_that_forgets_what_it_had_gets_it_again),
	T(congestion_is_answered_once_per_window),
	T(without_congestion_control_nothing_waits),
	T(without_congestion_control_duplicates_repair),
	CU_TEST_INFO_NULL,
};
static CU_SuiteInfo suites[] = { { "tcp timeouts", NULL, NULL, NULL, NULL, tests }, CU_SUITE_INFO_NULL };

int main(void)
{
	return xk_test_main(suites);
}

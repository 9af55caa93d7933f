/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_tcp_close.c - TCP: the ends of a connection, from either side, orderly or not, and how
 * many may wait for theirs.
 */
#include "tests/protocols/tcp_fixture.h"
#include "tests/support/xk_test.h"

static struct pf f;

/* ---- ends ---------------------------------------------------------------------------- */

static void an_active_close_goes_through_fin_wait_to_time_wait(void)
{
	struct xk_sess *s;
	struct tf_out o;

	tf_up1(&f, NULL);
	s = tf_connect(&f, &o);
	tf_close(&f, s);
	CU_ASSERT_EQUAL(tf_states(&f, TCP_S_FIN_WAIT_1), 1);
	CU_ASSERT_EQUAL(tf_out(&f, -1).flags, TCP_FIN | TCP_ACK);
	tf_in(&f, &(struct tf_seg){ .dport = o.sport, .sport = TF_PEER_PORT, .seq = 5001, .ack = o.seq + 2,
				    .flags = TCP_ACK });
	CU_ASSERT_EQUAL(tf_states(&f, TCP_S_FIN_WAIT_2), 1);
	tf_in(&f, &(struct tf_seg){ .dport = o.sport, .seq = 5001, .ack = o.seq + 2, .flags = TCP_FIN | TCP_ACK });
	CU_ASSERT_EQUAL(tf_states(&f, TCP_S_TIME_WAIT), 1);
	CU_ASSERT_EQUAL(tf_out(&f, -1).ack, 5002);
	pf_run(&f, 59 * XK_SEC);
	CU_ASSERT_EQUAL(tf_states(&f, TCP_S_TIME_WAIT), 1);
	pf_run(&f, 2 * XK_SEC);
	CU_ASSERT_EQUAL(pf_sessions(&f, "tcp"), 0);
	tf_down(&f);
}

/* Blocks in use: one is what those without memory share. */
static uint32_t blocks(void) { return tcp_rep(pf_rep(&f, "tcp", 0))->live_slab.live - 1; }

/* Whoever only waits keeps no working memory, and is asked as ever. */
static void time_wait_needs_no_working_memory(void)
{
	struct xk_sess *s;
	struct tf_out o;

	tf_up1(&f, NULL);
	s = tf_connect(&f, &o);
	tf_close(&f, s);
	tf_in(&f, &(struct tf_seg){ .dport = o.sport, .seq = 5001, .ack = o.seq + 2, .flags = TCP_FIN | TCP_ACK, .wnd = 77 });
	CU_ASSERT(tf_states(&f, TCP_S_TIME_WAIT) == 1 && tf_states(&f, TCP_S_ESTABLISHED) == 0 && blocks() == 0);
	pf_run(&f, 30 * XK_SEC);
	tf_forget(&f);
	/* The peer has not seen our last ACK: it comes again, and all begins anew. */
	tf_in(&f, &(struct tf_seg){ .dport = o.sport, .seq = 5001, .ack = o.seq + 2, .flags = TCP_FIN | TCP_ACK, .wnd = 77 });
	CU_ASSERT(tf_nout(&f) == 1 && tf_out(&f, 0).flags == TCP_ACK);
	CU_ASSERT(tf_out(&f, 0).seq == o.seq + 2 && tf_out(&f, 0).ack == 5002 && blocks() == 0);
	pf_run(&f, 40 * XK_SEC);
	CU_ASSERT_EQUAL(tf_states(&f, TCP_S_TIME_WAIT), 1);
	/* Nothing blind ends it, and what is answered so does not make it last longer. */
	tf_in(&f, &(struct tf_seg){ .dport = o.sport, .seq = 5003, .flags = TCP_RST });
	CU_ASSERT(tf_out(&f, -1).flags == TCP_ACK && tf_out(&f, -1).ack == 5002 && blocks() == 1);
	CU_ASSERT_EQUAL(tf_states(&f, TCP_S_TIME_WAIT), 1);
	pf_run(&f, 19 * XK_SEC);
	CU_ASSERT_EQUAL(tf_states(&f, TCP_S_TIME_WAIT), 1);
	pf_run(&f, 2 * XK_SEC);
	CU_ASSERT(pf_sessions(&f, "tcp") == 0 && blocks() == 0);
	tf_down(&f);
}

/* The one that waits begins anew: it is not the oldest any more. */
static void time_wait_ends_in_order_of_age(void)
{
	struct xk_sess *s[3];
	struct tf_out o[3];

	tf_up1(&f, "time_wait=2; sessions=16");
	for (unsigned i = 0; i < 3; i++) {
		s[i] = tf_connect(&f, &o[i]);
		tf_close(&f, s[i]);
		if (i == 2)
			tf_in(&f, &(struct tf_seg){ .dport = o[0].sport, .seq = 5001, .ack = o[0].seq + 2, .flags = TCP_FIN | TCP_ACK });
		tf_in(&f, &(struct tf_seg){ .dport = o[i].sport, .seq = 5001, .ack = o[i].seq + 2, .flags = TCP_FIN | TCP_ACK });
	}
	CU_ASSERT(tf_states(&f, TCP_S_TIME_WAIT) == 2 && blocks() == 0);
	tf_forget(&f);
	for (unsigned i = 0; i < 3; i++) {
		tf_in(&f, &(struct tf_seg){ .dport = o[i].sport, .seq = 5001, .ack = o[i].seq + 2, .flags = TCP_FIN | TCP_ACK });
		CU_ASSERT_EQUAL(tf_out(&f, -1).flags, i == 1 ? TCP_RST : TCP_ACK);
	}
	tf_down(&f);                     /* with those in it */
}

static void a_passive_close_ends_with_the_last_ack(void)
{
	struct xk_sess *s;
	struct tf_out o;

	tf_up1(&f, NULL);
	s = tf_connect(&f, &o);
	tf_in(&f, &(struct tf_seg){ .dport = o.sport, .seq = 5001, .ack = o.seq + 1, .flags = TCP_FIN | TCP_ACK });
	CU_ASSERT_EQUAL(tf_state(s), TCP_S_CLOSE_WAIT);
	CU_ASSERT_EQUAL(tf_app.close_dones, 1);
	tf_push(&f, s, "rest", 4);
	CU_ASSERT_EQUAL(tf_out(&f, -1).len, 4);
	tf_close(&f, s);
	CU_ASSERT_EQUAL(tf_states(&f, TCP_S_LAST_ACK), 1);
	tf_in(&f, &(struct tf_seg){ .dport = o.sport, .seq = 5002, .ack = o.seq + 6, .flags = TCP_ACK });
	CU_ASSERT_EQUAL(pf_sessions(&f, "tcp"), 0);
	CU_ASSERT_EQUAL(tf_app.close_dones, 1);
	tf_down(&f);
}

/* Who closes when told of the peer's end sends its own with the acknowledgement. */
static void an_end_answered_at_once_takes_one_segment(void)
{
	struct tf_out o;

	tf_up1(&f, NULL);
	tf_connect(&f, &o);
	tf_app.close_at_end = true;
	tf_forget(&f);
	tf_in(&f, &(struct tf_seg){ .dport = o.sport, .seq = 5001, .ack = o.seq + 1, .flags = TCP_FIN | TCP_ACK });
	CU_ASSERT_EQUAL(tf_nout(&f), 1);
	CU_ASSERT(tf_out(&f, 0).flags == (TCP_FIN | TCP_ACK) && tf_out(&f, 0).ack == 5002 && tf_out(&f, 0).seq == o.seq + 1);
	CU_ASSERT_EQUAL(tf_states(&f, TCP_S_LAST_ACK), 1);
	tf_in(&f, &(struct tf_seg){ .dport = o.sport, .seq = 5002, .ack = o.seq + 2, .flags = TCP_ACK });
	CU_ASSERT_EQUAL(pf_sessions(&f, "tcp"), 0);
	tf_down(&f);
}

/* The last step of a handshake may bring all that there is: it has one answer. */
static void an_end_in_the_handshake_takes_one_segment(void)
{
	struct tf_out o;

	tf_up1(&f, NULL);
	tf_listen(&f);
	tf_in(&f, &(struct tf_seg){ .sport = TF_PEER_PORT, .seq = 1000, .flags = TCP_SYN });
	o = tf_out(&f, -1);
	tf_app.close_at_end = true;
	tf_forget(&f);
	tf_in(&f, &(struct tf_seg){ .sport = TF_PEER_PORT, .seq = 1001, .ack = o.seq + 1, .flags = TCP_FIN | TCP_ACK,
				    .data = "all", .len = 3 });
	CU_ASSERT(tf_app.ngot == 3 && tf_nout(&f) == 1);
	CU_ASSERT(tf_out(&f, 0).flags == (TCP_FIN | TCP_ACK) && tf_out(&f, 0).ack == 1005);
	tf_in(&f, &(struct tf_seg){ .sport = TF_PEER_PORT, .seq = 1005, .ack = o.seq + 2, .flags = TCP_ACK });
	CU_ASSERT_EQUAL(pf_sessions(&f, "tcp"), 0);
	tf_down(&f);
}

static void ends_that_cross_close_too(void)
{
	struct xk_sess *s;
	struct tf_out o;

	tf_up1(&f, NULL);
	s = tf_connect(&f, &o);
	tf_close(&f, s);
	tf_in(&f, &(struct tf_seg){ .dport = o.sport, .seq = 5001, .ack = o.seq + 1, .flags = TCP_FIN | TCP_ACK });
	CU_ASSERT_EQUAL(tf_states(&f, TCP_S_CLOSING), 1);
	tf_in(&f, &(struct tf_seg){ .dport = o.sport, .seq = 5002, .ack = o.seq + 2, .flags = TCP_ACK });
	CU_ASSERT_EQUAL(tf_states(&f, TCP_S_TIME_WAIT), 1);
	pf_run(&f, 61 * XK_SEC);
	CU_ASSERT_EQUAL(pf_sessions(&f, "tcp"), 0);
	tf_down(&f);
}

static void a_shutdown_leaves_the_other_side_open(void)
{
	struct xk_sess *s;
	struct tf_out o;

	tf_up1(&f, NULL);
	s = tf_connect(&f, &o);
	CU_ASSERT_EQUAL(tf_control(&f, s, XK_STREAM_SHUTDOWN, NULL, 0), 0);
	CU_ASSERT_EQUAL(tf_control(&f, s, XK_STREAM_SHUTDOWN, NULL, 0), 0);
	CU_ASSERT_EQUAL(tf_state(s), TCP_S_FIN_WAIT_1);
	tf_in(&f, &(struct tf_seg){ .dport = o.sport, .seq = 5001, .ack = o.seq + 2, .flags = TCP_ACK,
				    .data = "still here", .len = 10 });
	CU_ASSERT_EQUAL(tf_state(s), TCP_S_FIN_WAIT_2);
	CU_ASSERT_EQUAL(tf_app.ngot, 10);
	CU_ASSERT_EQUAL(tf_events(XK_STREAM_DRAINED), 1);
	/* Held, so nothing ends it. */
	pf_run(&f, 3600 * XK_SEC);
	CU_ASSERT_EQUAL(tf_state(s), TCP_S_FIN_WAIT_2);
	tf_close(&f, s);
	pf_run(&f, 61 * XK_SEC);
	CU_ASSERT_EQUAL(pf_sessions(&f, "tcp"), 0);
	tf_down(&f);
}

static void data_after_the_close_resets(void)
{
	struct xk_sess *s;
	struct tf_out o;

	tf_up1(&f, NULL);
	s = tf_connect(&f, &o);
	tf_close(&f, s);
	tf_in(&f, &(struct tf_seg){ .dport = o.sport, .seq = 5001, .ack = o.seq + 2, .flags = TCP_ACK,
				    .data = "x", .len = 1 });
	CU_ASSERT(tf_out(&f, -1).flags & TCP_RST);
	CU_ASSERT_EQUAL(tf_out(&f, -1).seq, o.seq + 2);
	CU_ASSERT_EQUAL(pf_sessions(&f, "tcp"), 0);
	tf_down(&f);
}

static void an_abort_resets_and_says_nothing(void)
{
	struct xk_sess *s;
	struct tf_out o;
	int32_t e = 0;
	uint32_t on = 1;

	tf_up1(&f, NULL);
	s = tf_connect(&f, &o);
	tf_app.nevents = 0;
	CU_ASSERT_EQUAL(tf_control(&f, s, XK_STREAM_ABORT, NULL, 0), 0);
	CU_ASSERT(tf_out(&f, -1).flags & TCP_RST);
	CU_ASSERT_EQUAL(tf_app.nevents, 0);
	CU_ASSERT_EQUAL(tf_control(&f, s, XK_STREAM_ERRNO, &e, sizeof e), 4);
	CU_ASSERT_EQUAL(e, XK_E_CONNABORTED);
	tf_push(&f, s, "x", 1);
	CU_ASSERT_EQUAL(pf_drops(&f, "tcp", "push_after_end"), 1);
	CU_ASSERT_EQUAL(tf_control(&f, s, XK_STREAM_ABORT, NULL, 0), 0);
	tf_close(&f, s);
	/* Linger of 0 makes a close do the same. */
	tf_forget(&f);
	s = tf_connect(&f, &o);
	CU_ASSERT_EQUAL(tf_control(&f, s, TCP_CTL_LINGER, &on, sizeof on), 0);
	tf_close(&f, s);
	CU_ASSERT(tf_out(&f, -1).flags & TCP_RST);
	CU_ASSERT_EQUAL(pf_sessions(&f, "tcp"), 0);
	tf_down(&f);
}

static void a_reset_is_told_and_a_close_from_inside_the_event_frees(void)
{
	struct xk_sess *s;
	struct tf_out o;

	tf_up1(&f, NULL);
	s = tf_connect(&f, &o);
	tf_app.nevents = 0;
	tf_app.close_in_event = true;
	(void)s;
	tf_in(&f, &(struct tf_seg){ .dport = o.sport, .seq = 5001, .ack = o.seq + 1, .flags = TCP_RST | TCP_ACK });
	CU_ASSERT_EQUAL(tf_app.nevents, 1);
	CU_ASSERT_EQUAL(tf_app.event[0].what, XK_STREAM_FAILED);
	CU_ASSERT_EQUAL(tf_app.event[0].err, XK_E_CONNRESET);
	CU_ASSERT_EQUAL(pf_sessions(&f, "tcp"), 0);
	tf_down(&f);
}

static void bytes_that_nobody_took_reset_the_close(void)
{
	struct xk_sess *s;
	struct tf_out o;
	uint32_t on = 1, n;

	tf_up1(&f, NULL);
	s = tf_connect(&f, &o);
	CU_ASSERT_EQUAL(tf_control(&f, s, XK_STREAM_MANUAL, &on, sizeof on), 0);
	tf_in(&f, &(struct tf_seg){ .dport = o.sport, .seq = 5001, .ack = o.seq + 1, .flags = TCP_ACK,
				    .data = "four", .len = 4 });
	n = 5;
	CU_ASSERT_EQUAL(tf_control(&f, s, XK_STREAM_TAKEN, &n, sizeof n), XK_E_INVAL);
	n = 3;
	CU_ASSERT_EQUAL(tf_control(&f, s, XK_STREAM_TAKEN, &n, sizeof n), 0);
	tf_close(&f, s);
	CU_ASSERT(tf_out(&f, -1).flags & TCP_RST);
	CU_ASSERT_EQUAL(pf_sessions(&f, "tcp"), 0);
	tf_down(&f);
}

static void time_wait_is_capped_and_the_oldest_goes(void)
{
	struct tf_out o[5];
	struct xk_sess *s;

	tf_up1(&f, "time_wait=3");
	for (unsigned i = 0; i < 5; i++) {
		s = tf_connect(&f, &o[i]);
		tf_close(&f, s);
		tf_in(&f, &(struct tf_seg){ .dport = o[i].sport, .seq = 5001, .ack = o[i].seq + 2,
					    .flags = TCP_FIN | TCP_ACK });
		pf_run(&f, XK_SEC);
	}
	CU_ASSERT_EQUAL(tf_states(&f, TCP_S_TIME_WAIT), 3);
	/* The first is gone: its FIN again finds nobody. */
	tf_in(&f, &(struct tf_seg){ .dport = o[0].sport, .seq = 5001, .ack = o[0].seq + 2, .flags = TCP_FIN | TCP_ACK });
	CU_ASSERT(tf_out(&f, -1).flags & TCP_RST);
	/* The last is not: its FIN is acknowledged, and begins its time again. */
	tf_in(&f, &(struct tf_seg){ .dport = o[2].sport, .seq = 5001, .ack = o[2].seq + 2, .flags = TCP_FIN | TCP_ACK });
	CU_ASSERT_EQUAL(tf_out(&f, -1).flags, TCP_ACK);
	pf_run(&f, 59 * XK_SEC);
	CU_ASSERT_EQUAL(tf_states(&f, TCP_S_TIME_WAIT), 1);
	pf_run(&f, 2 * XK_SEC);
	CU_ASSERT_EQUAL(pf_sessions(&f, "tcp"), 0);
	tf_down(&f);
}

static void sessions_are_capped_and_time_wait_gives_way(void)
{
	struct xk_sess *s[3];
	struct tf_out o;
	int err = 0;

	tf_up1(&f, "sessions=2");
	s[0] = tf_connect(&f, &o);
	s[1] = tf_connect(&f, NULL);
	CU_ASSERT_PTR_NULL(tf_open(&f, 80, 0, &err));
	CU_ASSERT_EQUAL(err, XK_E_NOSPC);
	tf_close(&f, s[0]);
	tf_in(&f, &(struct tf_seg){ .dport = o.sport, .seq = 5001, .ack = o.seq + 2, .flags = TCP_FIN | TCP_ACK });
	CU_ASSERT_EQUAL(tf_states(&f, TCP_S_TIME_WAIT), 1);
	s[2] = tf_open(&f, 80, 0, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s[2]);
	CU_ASSERT_EQUAL(pf_sessions(&f, "tcp"), 2);
	tf_close(&f, s[1]);
	tf_close(&f, s[2]);
	tf_down(&f);
}

static CU_TestInfo tests[] = {
	{ "an_active_close_goes_through_fin_wait_to_time_wait", an_active_close_goes_through_fin_wait_to_time_wait },
	{ "time_wait_needs_no_working_memory", time_wait_needs_no_working_memory },
	{ "time_wait_ends_in_order_of_age", time_wait_ends_in_order_of_age },
	{ "a_passive_close_ends_with_the_last_ack", a_passive_close_ends_with_the_last_ack },
	{ "an_end_answered_at_once_takes_one_segment", an_end_answered_at_once_takes_one_segment },
	{ "an_end_in_the_handshake_takes_one_segment", an_end_in_the_handshake_takes_one_segment },
	{ "ends_that_cross_close_too", ends_that_cross_close_too },
	{ "a_shutdown_leaves_the_other_side_open", a_shutdown_leaves_the_other_side_open },
	{ "data_after_the_close_resets", data_after_the_close_resets },
	{ "an_abort_resets_and_says_nothing", an_abort_resets_and_says_nothing },
	{ "a_reset_is_told_and_a_close_from_inside_the_event_frees",
	  a_reset_is_told_and_a_close_from_inside_the_event_frees },
	{ "bytes_that_nobody_took_reset_the_close", bytes_that_nobody_took_reset_the_close },
	{ "time_wait_is_capped_and_the_oldest_goes", time_wait_is_capped_and_the_oldest_goes },
	{ "sessions_are_capped_and_time_wait_gives_way", sessions_are_capped_and_time_wait_gives_way },
	CU_TEST_INFO_NULL
};

static CU_SuiteInfo suites[] = {
	{ "tcp close", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}

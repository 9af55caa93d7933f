/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_tcp_input.c - what a segment does to a connection, with a control block and
 * nothing else: acceptability and its edges, urgent marks, windows, FINs in every
 * state, all flags in all states.
 */
#include "tests/protocols/tcp_input_fixture.h"

/* ---- acceptability ---------------------------------------------------------------------------- */

static void segments_outside_the_window_are_answered_and_change_nothing(void)
{
	static const struct { uint32_t off, len; unsigned reason; } out[] = {
		{ (uint32_t)-10, 10, TCP_DROP_DUP }, { (uint32_t)-1, 1, TCP_DROP_DUP },
		{ WIN, 1, TCP_DROP_WINDOW }, { WIN + 5, 10, TCP_DROP_WINDOW },
		{ (uint32_t)-1, 0, TCP_DROP_SEQ }, { WIN + 1, 0, TCP_DROP_SEQ },
		{ 0x80000000u, 0, TCP_DROP_SEQ },
	};

	for (unsigned i = 0; i < XK_ARRAY_LEN(out); i++) {
		fresh(TCP_S_ESTABLISHED);
		in(seg(TCP_ACK, RCV + out[i].off, SND + 50, out[i].len));
		CU_ASSERT(only_ack() && dropped(out[i].reason));
		CU_ASSERT(cb.snd_una == SND && cb.rcv_nxt == RCV);
	}
}

static void a_bare_ack_at_the_edge_of_a_full_window_counts(void)
{
	fresh(TCP_S_ESTABLISHED);
	in(seg(TCP_ACK, RCV + WIN, SND + 50, 0));
	CU_ASSERT(!(a.acts & TCP_A_DROP) && cb.snd_una == SND + 50);
}

static void payload_is_trimmed_to_the_window_on_both_sides(void)
{
	fresh(TCP_S_ESTABLISHED);
	in(seg(TCP_ACK, RCV - 30, SND, 100));
	CU_ASSERT((a.acts & TCP_A_DATA) && a.skip == 30 && a.take == 70 && (cb.flags & TCP_F_ACK_NOW));
	in(seg(TCP_ACK, RCV + WIN - 10, SND, 30));
	CU_ASSERT((a.acts & (TCP_A_OOO | TCP_A_ACK)) == (TCP_A_OOO | TCP_A_ACK) && a.skip == 0 && a.take == 10);
	in(seg(TCP_ACK | TCP_FIN, RCV - 10, SND, WIN + 20));
	CU_ASSERT((a.acts & TCP_A_DATA) && !(a.acts & TCP_A_FIN) && a.skip == 10 && a.take == WIN);
	/* A FIN right behind what fits is in. */
	in(seg(TCP_ACK | TCP_FIN, RCV, SND, WIN));
	CU_ASSERT((a.acts & TCP_A_FIN) && a.take == WIN);
}

static void after_a_hole_segments_are_acknowledged_one_by_one(void)
{
	fresh(TCP_S_ESTABLISHED);
	tune.quick_acks = 8;
	in(seg(TCP_ACK, RCV + 100, SND, 100));
	CU_ASSERT((a.acts & TCP_A_OOO) && cb.quick == 8);
	cb.quick = 12;
	in(seg(TCP_ACK, RCV + 300, SND, 100));
	CU_ASSERT_EQUAL(cb.quick, 12);
	in(seg(TCP_ACK, RCV, SND, 100));
	CU_ASSERT((a.acts & TCP_A_DATA) && (cb.flags & TCP_F_ACK_NOW));
}

static void what_was_once_offered_is_taken_although_there_is_less_room_now(void)
{
	fresh(TCP_S_ESTABLISHED);
	cb.flags |= TCP_F_MANUAL;
	cb.rcv_held = WIN - 100;
	in(seg(TCP_ACK, RCV + WIN - 50, SND, 50));
	CU_ASSERT((a.acts & TCP_A_OOO) && a.take == 50);
	in(seg(TCP_ACK, RCV, SND, WIN));
	CU_ASSERT((a.acts & TCP_A_DATA) && a.take == WIN);
}

static void into_a_closed_window_only_the_ack_is_taken(void)
{
	fresh(TCP_S_ESTABLISHED);
	cb.rcv_adv = RCV;
	cb.rcv_buf = 0;
	in(seg(TCP_ACK, RCV, SND + 10, 1));
	CU_ASSERT(cb.snd_una == SND + 10 && !(a.acts & (TCP_A_DATA | TCP_A_OOO | TCP_A_DROP)) && (a.acts & TCP_A_ACK));
	in(seg(TCP_ACK, RCV + 1, SND + 20, 1));
	CU_ASSERT(only_ack() && cb.snd_una == SND + 10);
}

static void a_duplicate_is_reported_as_such(void)
{
	fresh(TCP_S_ESTABLISHED);
	cb.flags |= TCP_F_SACK;
	in(seg(TCP_ACK, RCV - 20, SND, 20));
	CU_ASSERT((cb.flags & TCP_F_DSACK) && cb.dsack_l == RCV - 20 && cb.dsack_r == RCV);
	cb.flags &= ~TCP_F_DSACK;
	in(seg(TCP_ACK, RCV - 20, SND, 30));
	CU_ASSERT((cb.flags & TCP_F_DSACK) && cb.dsack_l == RCV - 20 && cb.dsack_r == RCV);
	cb.flags &= ~TCP_F_DSACK;
	in(seg(TCP_ACK, RCV - 1, SND, 0));
	CU_ASSERT(!(cb.flags & TCP_F_DSACK));
	tune.dsack = false;
	in(seg(TCP_ACK, RCV - 20, SND, 20));
	CU_ASSERT(!(cb.flags & TCP_F_DSACK));
}

/* ---- ACK, window ----------------------------------------------------------------------- */

static void an_acknowledgement_moves_snd_una_over_the_wrap(void)
{
	fresh(TCP_S_ESTABLISHED);
	in(seg(TCP_ACK, RCV, SND + 60, 0));
	CU_ASSERT((a.acts & TCP_A_ACKED) && cb.snd_una == SND + 60 && tcp_lt(SND, cb.snd_una));
	CU_ASSERT(cb.snd_una < SND && cb.bytes_acked == 60);
	in(seg(TCP_ACK, RCV, SND + 30, 0));
	CU_ASSERT(cb.snd_una == SND + 60 && !(a.acts & TCP_A_ACKED));
	in(seg(TCP_ACK, RCV, SND + 100, 0));
	CU_ASSERT((a.acts & TCP_A_DRAINED) && cb.snd_una == cb.snd_max);
}

static void a_window_shrinks_and_grows_but_not_by_an_older_segment(void)
{
	struct tcp_seg g;

	fresh(TCP_S_ESTABLISHED);
	g = seg(TCP_ACK, RCV, SND + 10, 0);
	g.wnd = 3000;
	in(g);
	CU_ASSERT(cb.snd_wnd == 3000 && cb.max_wnd == 5000);
	g.ack = SND + 5;                 /* older ACK */
	g.wnd = 9000;
	in(g);
	CU_ASSERT_EQUAL(cb.snd_wnd, 3000);
	g = seg(TCP_ACK, RCV + 100, SND + 10, 0);
	g.wnd = 0;
	in(g);
	CU_ASSERT_EQUAL(cb.snd_wnd, 0);
	g = seg(TCP_ACK, RCV, SND + 10, 0);      /* older number */
	in(g);
	CU_ASSERT_EQUAL(cb.snd_wnd, 0);
	tcp_timer_arm(&cb, &env, TCP_T_PERSIST, 500);
	g = seg(TCP_ACK, RCV + 100, SND + 10, 0);
	g.wnd = 200;
	in(g);
	CU_ASSERT(cb.snd_wnd == 200 && (a.acts & TCP_A_OUTPUT) && cb.at[TCP_T_PERSIST] == 0);
}

static void windows_are_scaled_but_in_a_syn(void)
{
	struct tcp_seg g;

	fresh(TCP_S_SYN_SENT);
	cb.rcv_wscale = 3;
	g = seg(TCP_SYN | TCP_ACK, RCV - 1, cb.iss + 1, 0);
	g.o = (struct tcp_opts){ .have = TCP_O_WSCALE | TCP_O_MSS, .wscale = 14, .mss = 1000 };
	g.wnd = 65535;
	in(g);
	CU_ASSERT(cb.snd_wnd == 65535 && cb.snd_wscale == 14 && cb.rcv_wscale == 3 && cb.peer_mss == 1000);
	g = seg(TCP_ACK, RCV, cb.iss + 1, 0);
	g.wnd = 65535;
	in(g);
	CU_ASSERT_EQUAL(cb.snd_wnd, 65535u << 14);
}

/* ---- the handshake ------------------------------------------------------------------------------------ */

static void syn_ack_opens_and_its_text_is_taken(void)
{
	fresh(TCP_S_SYN_SENT);
	in(seg(TCP_SYN | TCP_ACK, RCV - 1, cb.iss + 1, 3));
	CU_ASSERT_EQUAL(cb.state, TCP_S_ESTABLISHED);
	CU_ASSERT((a.acts & (TCP_A_OPENED | TCP_A_DATA)) == (TCP_A_OPENED | TCP_A_DATA));
	CU_ASSERT(a.skip == 0 && a.take == 3 && cb.rcv_nxt == RCV && cb.irs == RCV - 1);
	CU_ASSERT(cb.flags & TCP_F_ACK_NOW);
	CU_ASSERT(cb.snd_una == cb.iss + 1 && cb.snd_wnd == 5000);
}

/* RFC 5681 3.1, RFC 6298 5.7. */
static void after_a_syn_was_lost_one_segment_goes_and_waits_long(void)
{
	for (unsigned lost = 0; lost < 2; lost++) {
		fresh(TCP_S_SYN_SENT);
		cb.retries = (uint8_t)lost;
		in(seg(TCP_SYN | TCP_ACK, RCV - 1, cb.iss + 1, 0));
		CU_ASSERT_EQUAL(cb.state, TCP_S_ESTABLISHED);
		CU_ASSERT_EQUAL(cb.cwnd, lost ? cb.mss : tcp_cc_initial(&cb));
		CU_ASSERT_EQUAL(cb.rto, lost ? 3000 : 1000);
		CU_ASSERT_EQUAL(cb.retries, 0);
	}
}

static void an_unacceptable_ack_of_a_syn_is_reset(void)
{
	fresh(TCP_S_SYN_SENT);
	in(seg(TCP_ACK, RCV, cb.iss, 0));
	CU_ASSERT(is_reset(cb.iss));
	in(seg(TCP_SYN | TCP_ACK, RCV, cb.iss + 2, 0));
	CU_ASSERT(is_reset(cb.iss + 2));
	in(seg(TCP_RST | TCP_ACK, RCV, cb.iss + 2, 0));
	CU_ASSERT(silent());
	in(seg(TCP_RST, RCV, 0, 0));
	CU_ASSERT(silent());
	in(seg(TCP_ACK, RCV, cb.iss + 1, 0));
	CU_ASSERT(silent() && cb.state == TCP_S_SYN_SENT);
	in(seg(TCP_RST | TCP_ACK, RCV, cb.iss + 1, 3));
	CU_ASSERT(a.acts == TCP_A_FINISH && a.err == XK_E_CONNREFUSED);
	fresh(TCP_S_SYN_RCVD);
	in(seg(TCP_ACK, RCV, cb.iss, 0));
	CU_ASSERT(is_reset(cb.iss));
	in(seg(TCP_ACK, RCV, cb.iss + 2, 0));
	CU_ASSERT(is_reset(cb.iss + 2) && cb.state == TCP_S_SYN_RCVD);
}

static void a_simultaneous_open_stands_after_the_crossed_syn_acks(void)
{
	fresh(TCP_S_SYN_SENT);
	in(seg(TCP_SYN, RCV - 1, 0, 3));
	CU_ASSERT(cb.state == TCP_S_SYN_RCVD && (a.acts & TCP_A_SYN) && (a.acts & TCP_A_OOO) && a.take == 3);
	/* Ours was lost: theirs comes again. */
	in(seg(TCP_SYN, RCV - 1, 0, 0));
	CU_ASSERT((a.acts & TCP_A_SYN) && dropped(TCP_DROP_DUP));
	in(seg(TCP_SYN | TCP_ACK, RCV - 1, cb.iss + 1, 0));
	CU_ASSERT(cb.state == TCP_S_ESTABLISHED && (a.acts & TCP_A_OPENED));
	CU_ASSERT(!(a.acts & TCP_A_DROP) && cb.rcv_nxt == RCV);
	/* Or by a bare ACK. */
	fresh(TCP_S_SYN_SENT);
	in(seg(TCP_SYN, RCV - 1, 0, 0));
	in(seg(TCP_ACK, RCV, cb.iss + 1, 0));
	CU_ASSERT(cb.state == TCP_S_ESTABLISHED && (a.acts & TCP_A_OPENED));
}

static void a_connection_closed_before_it_stood_finishes_at_once(void)
{
	fresh(TCP_S_SYN_SENT);
	cb.flags |= TCP_F_FIN_QUEUED;
	in(seg(TCP_SYN | TCP_ACK, RCV - 1, cb.iss + 1, 0));
	CU_ASSERT(cb.state == TCP_S_FIN_WAIT_1 && (a.acts & TCP_A_OUTPUT));
}

static void options_are_agreed_on_by_both(void)
{
	struct tcp_seg g = seg(TCP_SYN | TCP_ACK, RCV - 1, 0, 0);

	fresh(TCP_S_SYN_SENT);
	g.ack = cb.iss + 1;
	g.o = (struct tcp_opts){ .have = TCP_O_MSS | TCP_O_TS | TCP_O_SACKOK | TCP_O_WSCALE, .mss = 0, .wscale = 2,
				 .tsval = 77 };
	in(g);
	CU_ASSERT((cb.flags & (TCP_F_TS | TCP_F_SACK | TCP_F_WSCALE)) == (TCP_F_TS | TCP_F_SACK | TCP_F_WSCALE));
	/* None can mean so little (RFC 1122 3.3.2): a segment has some room. */
	CU_ASSERT(cb.peer_mss == TCP_MSS_LEAST && cb.ts_recent == 77 && cb.mss == TCP_MSS_LEAST);
	fresh(TCP_S_SYN_SENT);
	g.o.mss = 48;
	in(g);
	CU_ASSERT(cb.peer_mss == 48 && cb.mss == 36 && cb.snd_buf == 256 * 36);     /* below min_mss */
	fresh(TCP_S_SYN_SENT);
	tune.timestamps = tune.sack = tune.use_wscale = false;
	in(g);
	CU_ASSERT(!(cb.flags & (TCP_F_TS | TCP_F_SACK | TCP_F_WSCALE)) && cb.snd_wscale == 0);
	fresh(TCP_S_SYN_SENT);
	g.o.have = 0;
	in(g);
	CU_ASSERT(cb.peer_mss == 536 && !(cb.flags & (TCP_F_TS | TCP_F_SACK | TCP_F_WSCALE)));
}

/* ---- FIN ------------------------------------------------------------------------------------------------ */

static void fins_lead_where_the_diagram_says(void)
{
	fresh(TCP_S_ESTABLISHED);
	in(seg(TCP_ACK | TCP_FIN, RCV, SND, 5));
	CU_ASSERT((a.acts & (TCP_A_DATA | TCP_A_FIN)) == (TCP_A_DATA | TCP_A_FIN));
	take();
	CU_ASSERT(cb.state == TCP_S_CLOSE_WAIT && cb.rcv_nxt == RCV + 6 && (cb.flags & TCP_F_ACK_NOW));
	/* It crosses ours, which is acknowledged later. */
	fresh(TCP_S_FIN_WAIT_1);
	in(seg(TCP_ACK | TCP_FIN, RCV, SND, 0));
	take();
	CU_ASSERT_EQUAL(cb.state, TCP_S_CLOSING);
	in(seg(TCP_ACK, RCV + 1, cb.snd_max, 0));
	CU_ASSERT(cb.state == TCP_S_TIME_WAIT && (a.acts & TCP_A_TIME_WAIT));
	/* It brings the acknowledgement of ours. */
	fresh(TCP_S_FIN_WAIT_1);
	in(seg(TCP_ACK | TCP_FIN, RCV, cb.snd_max, 0));
	take();
	CU_ASSERT(cb.state == TCP_S_TIME_WAIT && (a.acts & TCP_A_TIME_WAIT));
	fresh(TCP_S_FIN_WAIT_2);
	in(seg(TCP_ACK | TCP_FIN, RCV, cb.snd_max, 0));
	take();
	CU_ASSERT_EQUAL(cb.state, TCP_S_TIME_WAIT);
	fresh(TCP_S_LAST_ACK);
	in(seg(TCP_ACK, RCV, cb.snd_max - 1, 0));
	CU_ASSERT(cb.state == TCP_S_LAST_ACK && !(a.acts & TCP_A_FINISH));
	in(seg(TCP_ACK, RCV, cb.snd_max, 0));
	CU_ASSERT((a.acts & TCP_A_FINISH) && a.err == XK_OK);
}

static void a_fin_before_its_turn_waits(void)
{
	fresh(TCP_S_ESTABLISHED);
	in(seg(TCP_ACK | TCP_FIN, RCV + 10, SND, 0));
	CU_ASSERT((a.acts & (TCP_A_OOO | TCP_A_FIN | TCP_A_ACK)) == (TCP_A_OOO | TCP_A_FIN | TCP_A_ACK));
	CU_ASSERT_EQUAL(cb.state, TCP_S_ESTABLISHED);
}

static void nothing_behind_a_fin_is_taken(void)
{
	static const unsigned after[] = { TCP_S_CLOSE_WAIT, TCP_S_CLOSING, TCP_S_LAST_ACK, TCP_S_TIME_WAIT };

	for (unsigned i = 0; i < XK_ARRAY_LEN(after); i++) {
		fresh(after[i]);
		in(seg(TCP_ACK | TCP_FIN | TCP_URG, RCV, cb.snd_una, 20));
		CU_ASSERT(!(a.acts & (TCP_A_DATA | TCP_A_OOO | TCP_A_FIN | TCP_A_URGENT)) && (a.acts & TCP_A_ACK));
		CU_ASSERT_EQUAL(cb.state, after[i]);
	}
}

static void a_fin_that_comes_again_is_acknowledged_and_restarts_time_wait(void)
{
	static const unsigned after[] = { TCP_S_CLOSE_WAIT, TCP_S_CLOSING, TCP_S_LAST_ACK, TCP_S_TIME_WAIT };

	for (unsigned i = 0; i < XK_ARRAY_LEN(after); i++) {
		fresh(after[i]);
		in(seg(TCP_ACK | TCP_FIN, RCV - 1, SND, 0));
		CU_ASSERT((a.acts & TCP_A_ACK) && cb.state == after[i]);
		CU_ASSERT_EQUAL(!!(a.acts & TCP_A_TIME_WAIT), after[i] == TCP_S_TIME_WAIT);
	}
}

static void an_orphan_waits_for_a_fin_and_resets_data(void)
{
	fresh(TCP_S_FIN_WAIT_1);
	cb.flags |= TCP_F_ORPHAN;
	in(seg(TCP_ACK, RCV, cb.snd_max, 0));
	CU_ASSERT(cb.state == TCP_S_FIN_WAIT_2 && cb.at[TCP_T_2MSL] == NOW + tune.fin_wait2);
	in(seg(TCP_ACK, RCV - 10, cb.snd_max, 10));
	CU_ASSERT(only_ack());
	in(seg(TCP_ACK, RCV, cb.snd_max, 10));
	CU_ASSERT(is_reset(cb.snd_max) && (a.acts & TCP_A_FINISH) && dropped(TCP_DROP_AFTER_CLOSE));
	fresh(TCP_S_FIN_WAIT_2);
	cb.flags |= TCP_F_ORPHAN;
	in(seg(TCP_ACK | TCP_FIN, RCV, cb.snd_max, 0));
	take();
	CU_ASSERT_EQUAL(cb.state, TCP_S_TIME_WAIT);
}

static void time_wait_gives_way_to_a_syn_that_cannot_be_old(void)
{
	struct tcp_seg g;

	fresh(TCP_S_TIME_WAIT);
	in(seg(TCP_SYN, RCV + 1, 0, 0));
	CU_ASSERT_EQUAL(a.acts, TCP_A_REUSE);
	in(seg(TCP_SYN, RCV, 0, 0));
	CU_ASSERT(only_ack());
	in(seg(TCP_SYN, RCV - 100, 0, 0));
	CU_ASSERT(only_ack());
	in(seg(TCP_SYN | TCP_ACK, RCV + 1, cb.snd_una, 0));
	CU_ASSERT(!(a.acts & TCP_A_REUSE));
	cb.flags |= TCP_F_TS;
	cb.ts_recent = 0xfffffff0;
	g = stamped(TCP_SYN, RCV - 100, 0, 3);
	in(g);
	CU_ASSERT_EQUAL(a.acts, TCP_A_REUSE);
	g.o.tsval = 0xffffffef;
	g.seq = RCV + 100;
	in(g);
	CU_ASSERT(!(a.acts & TCP_A_REUSE));
	g.o.tsval = 0xfffffff0;
	in(g);
	CU_ASSERT_EQUAL(a.acts, TCP_A_REUSE);
	tune.rfc6191 = false;
	g.o.tsval = 3;
	g.seq = RCV - 100;
	in(g);
	CU_ASSERT(!(a.acts & TCP_A_REUSE));
}

/* ---- urgent data (RFC 6093) -------------------------------------------------------------------------------- */

static void an_urgent_pointer_neither_takes_nor_adds_bytes(void)
{
	static const uint16_t urp[] = { 0, 1, 10, 11, 65535 };

	for (unsigned i = 0; i < XK_ARRAY_LEN(urp); i++) {
		struct tcp_seg g;

		fresh(TCP_S_ESTABLISHED);
		g = seg(TCP_ACK | TCP_URG, RCV, SND, 10);
		g.urp = urp[i];
		in(g);
		CU_ASSERT((a.acts & TCP_A_DATA) && a.skip == 0 && a.take == 10);
		CU_ASSERT_EQUAL(!!(a.acts & TCP_A_URGENT), urp[i] != 0);
		CU_ASSERT(urp[i] == 0 || cb.rcv_up == RCV + urp[i]);
		take();
		/* The same mark again is no news; an earlier one moves nothing. */
		g = seg(TCP_ACK | TCP_URG, RCV + 10, SND, 5);
		g.urp = urp[i] > 10 ? (uint16_t)(urp[i] - 10) : 0;
		in(g);
		CU_ASSERT(!(a.acts & TCP_A_URGENT) && a.take == 5);
	}
}

static void the_urgent_mark_goes_forward_over_the_wrap_and_never_back(void)
{
	struct tcp_seg g;

	fresh(TCP_S_ESTABLISHED);
	g = seg(TCP_ACK | TCP_URG, RCV, SND, 10);
	g.urp = 100;
	in(g);
	CU_ASSERT((a.acts & TCP_A_URGENT) && cb.rcv_up == RCV + 100 && cb.rcv_up < RCV);
	g.urp = 50;
	in(g);
	CU_ASSERT(!(a.acts & TCP_A_URGENT) && cb.rcv_up == RCV + 100);
	g = seg(TCP_ACK | TCP_URG | TCP_FIN, RCV, SND, 0);
	g.urp = 101;
	in(g);
	CU_ASSERT((a.acts & (TCP_A_URGENT | TCP_A_FIN)) == (TCP_A_URGENT | TCP_A_FIN));
	/* Long after the mark was passed, the number space has gone round. */
	fresh(TCP_S_ESTABLISHED);
	cb.rcv_up = RCV + 0x70000000;
	g = seg(TCP_ACK | TCP_URG, RCV, SND, 10);
	g.urp = 1;
	in(g);
	CU_ASSERT((a.acts & TCP_A_URGENT) && cb.rcv_up == RCV + 1);
	/* In a SYN it means nothing that could be believed. */
	fresh(TCP_S_SYN_RCVD);
	g = seg(TCP_SYN | TCP_URG, RCV + 5, 0, 0);
	g.urp = 65535;
	in(g);
	CU_ASSERT(only_ack());
}

/* ---- acknowledging ------------------------------------------------------------------------------------------ */

static void every_second_segment_is_acknowledged_and_the_first_by_a_timer(void)
{
	fresh(TCP_S_ESTABLISHED);
	in(seg(TCP_ACK, RCV, SND, 100));
	CU_ASSERT((cb.flags & TCP_F_ACK_LATER) && !(cb.flags & TCP_F_ACK_NOW) && cb.at[TCP_T_DELACK] == NOW + 40);
	take();
	in(seg(TCP_ACK, RCV + 100, SND, 100));
	CU_ASSERT(cb.flags & TCP_F_ACK_NOW);
	take();
	in(seg(TCP_ACK | TCP_PSH, RCV + 200, SND, 100));
	CU_ASSERT(!(cb.flags & TCP_F_ACK_NOW));
	fresh(TCP_S_ESTABLISHED);
	tune.ack_push = true;
	in(seg(TCP_ACK | TCP_PSH, RCV, SND, 100));
	CU_ASSERT(cb.flags & TCP_F_ACK_NOW);
	fresh(TCP_S_ESTABLISHED);
	cb.quick = 1;
	in(seg(TCP_ACK, RCV, SND, 100));
	CU_ASSERT(cb.flags & TCP_F_ACK_NOW);
	fresh(TCP_S_ESTABLISHED);
	tune.delack = 0;
	in(seg(TCP_ACK, RCV, SND, 100));
	CU_ASSERT(cb.flags & TCP_F_ACK_NOW);
}

static void what_comes_out_of_order_is_acknowledged_at_once(void)
{
	fresh(TCP_S_ESTABLISHED);
	in(seg(TCP_ACK, RCV + 100, SND, 100));
	CU_ASSERT((a.acts & (TCP_A_OOO | TCP_A_ACK)) == (TCP_A_OOO | TCP_A_ACK) && count[TCP_COUNT_OOO] == 1);
}

static void congestion_is_echoed_until_the_peer_has_seen_it(void)
{
	struct tcp_seg g = seg(TCP_ACK, RCV, SND, 10);

	fresh(TCP_S_ESTABLISHED);
	g.ce = 3;
	in(g);
	CU_ASSERT(!(cb.flags & TCP_F_ECE));      /* not agreed on */
	cb.flags |= TCP_F_ECN;
	in(g);
	CU_ASSERT(cb.flags & TCP_F_ECE);
	g.ce = 2;
	in(g);
	CU_ASSERT(cb.flags & TCP_F_ECE);
	g.flags |= TCP_CWR;
	in(g);
	CU_ASSERT(!(cb.flags & TCP_F_ECE));
	g.ce = 3;
	in(g);
	CU_ASSERT(cb.flags & TCP_F_ECE);         /* both: it happened again */
}

/* ---- all flags, all states ------------------------------------------------------------------------------------- */

/* What must hold whatever the state: the rules of RFC 9293 3.10.7 that need no table. */
static void holds(unsigned state, const struct tcp_seg *g, const struct tcp_cb *was)
{
	uint16_t f = g->flags;
	bool closed = state == TCP_S_CLOSED || state == TCP_S_LISTEN;

	if (f & TCP_RST)
		CU_ASSERT(!(a.acts & TCP_A_RESET));
	if (f & TCP_RST)
		CU_ASSERT(!(a.acts & (TCP_A_DATA | TCP_A_OOO | TCP_A_FIN | TCP_A_OPENED)));
	if (closed)
		CU_ASSERT_EQUAL(!!(a.acts & TCP_A_RESET), !(f & TCP_RST));
	if (closed || cb.state == TCP_S_SYN_SENT)
		CU_ASSERT(!(a.acts & TCP_A_ACK));
	if (!(f & TCP_ACK))
		CU_ASSERT(!(a.acts & (TCP_A_OPENED | TCP_A_DATA)) && cb.snd_una == was->snd_una);
	if (!(f & TCP_FIN))
		CU_ASSERT(!(a.acts & TCP_A_FIN));
	if (a.acts & TCP_A_DROP)
		CU_ASSERT(!(a.acts & (TCP_A_DATA | TCP_A_OOO | TCP_A_FIN | TCP_A_OPENED | TCP_A_URGENT)));
	if ((f & TCP_SYN) && state >= TCP_S_ESTABLISHED && !(f & TCP_RST) && state != TCP_S_TIME_WAIT)
		CU_ASSERT(only_ack());
	if (!(a.acts & (TCP_A_FINISH | TCP_A_OPENED)) && !(f & (TCP_ACK | TCP_SYN)))
		CU_ASSERT_EQUAL(cb.state, state);
	CU_ASSERT(cb.state < TCP_S_COUNT && (a.acts & 0x7fff) == a.acts);
	CU_ASSERT(cb.rcv_nxt == was->rcv_nxt || state == TCP_S_SYN_SENT);
}

static void all_flags_in_all_states_are_answered_by_the_rules(void)
{
	static const uint32_t off[] = { 0, 1, (uint32_t)-1, WIN - 1, WIN, WIN + 1, 0x7fffffff, 0x80000000u };
	static const uint32_t len[] = { 0, 1, WIN, WIN + 1 };

	for (unsigned s = 0; s < TCP_S_COUNT; s++)
		for (unsigned f = 0; f < 64; f++)
			for (unsigned i = 0; i < XK_ARRAY_LEN(off) * XK_ARRAY_LEN(len) * XK_ARRAY_LEN(off); i++) {
				struct tcp_seg g;
				struct tcp_cb was;

				fresh(s);
				g = seg((uint16_t)f, RCV + off[i % 8], cb.snd_una + off[i / 8 % 8], len[i / 64]);
				g.urp = (uint16_t)off[i % 5];
				was = cb;
				in(g);
				holds(s, &g, &was);
			}
}

/* Segments at random against one connection, with all options: nothing but states. */
static void a_storm_of_segments_leaves_a_state(void)
{
	struct xk_rand r;

	xk_rand_init(&r, 11, 0);
	for (unsigned s = 1; s < TCP_S_COUNT; s++)
		for (unsigned long i = 0; i < xk_test_rounds(20000); i++) {
			struct tcp_seg g;

			if (i % 50 == 0)
				fresh(s);
			g = seg((uint16_t)(xk_rand_u64(&r) & 0x1ff), cb.rcv_nxt + (uint32_t)xk_rand_below(&r, 40) - 20,
				cb.snd_una + (uint32_t)xk_rand_below(&r, 300) - 100, (uint32_t)xk_rand_below(&r, 60));
			g.wnd = (uint16_t)xk_rand_u64(&r);
			g.urp = (uint16_t)xk_rand_u64(&r);
			g.ce = (uint8_t)xk_rand_below(&r, 4);
			g.o.have = (uint8_t)(xk_rand_u64(&r) & 0x1f);
			g.o.nsack = g.o.have & TCP_O_SACK ? 2 : 0;
			for (unsigned k = 0; k < 2; k++) {
				g.o.sack[k].l = cb.snd_una + (uint32_t)xk_rand_below(&r, 300) - 100;
				g.o.sack[k].r = g.o.sack[k].l + (uint32_t)xk_rand_below(&r, 100) - 20;
			}
			g.o.tsval = (uint32_t)xk_rand_u64(&r);
			in(g);
			take();
			CU_ASSERT(cb.state < TCP_S_COUNT && tcp_leq(cb.snd_una, cb.snd_max) &&
				  tcp_leq(cb.snd_nxt, cb.snd_max) && cb.cwnd != 0);
		}
}

#define T(f) { #f, f }
static CU_TestInfo window[] = {
	T(segments_outside_the_window_are_answered_and_change_nothing),
	T(a_bare_ack_at_the_edge_of_a_full_window_counts),
	T(payload_is_trimmed_to_the_window_on_both_sides),
	T(after_a_hole_segments_are_acknowledged_one_by_one),
	T(what_was_once_offered_is_taken_although_there_is_less_room_now),
	T(into_a_closed_window_only_the_ack_is_taken),
	T(a_duplicate_is_reported_as_such),
	T(an_acknowledgement_moves_snd_una_over_the_wrap),
	T(a_window_shrinks_and_grows_but_not_by_an_older_segment),
	T(windows_are_scaled_but_in_a_syn),
	CU_TEST_INFO_NULL
};
static CU_TestInfo life[] = {
	T(syn_ack_opens_and_its_text_is_taken),
	T(after_a_syn_was_lost_one_segment_goes_and_waits_long),
	T(an_unacceptable_ack_of_a_syn_is_reset),
	T(a_simultaneous_open_stands_after_the_crossed_syn_acks),
	T(a_connection_closed_before_it_stood_finishes_at_once),
	T(options_are_agreed_on_by_both),
	T(fins_lead_where_the_diagram_says),
	T(a_fin_before_its_turn_waits),
	T(nothing_behind_a_fin_is_taken),
	T(a_fin_that_comes_again_is_acknowledged_and_restarts_time_wait),
	T(an_orphan_waits_for_a_fin_and_resets_data),
	T(time_wait_gives_way_to_a_syn_that_cannot_be_old),
	CU_TEST_INFO_NULL
};
static CU_TestInfo marks[] = {
	T(an_urgent_pointer_neither_takes_nor_adds_bytes),
	T(the_urgent_mark_goes_forward_over_the_wrap_and_never_back),
	T(every_second_segment_is_acknowledged_and_the_first_by_a_timer),
	T(what_comes_out_of_order_is_acknowledged_at_once),
	T(congestion_is_echoed_until_the_peer_has_seen_it),
	CU_TEST_INFO_NULL
};
static CU_TestInfo all[] = {
	T(all_flags_in_all_states_are_answered_by_the_rules),
	T(a_storm_of_segments_leaves_a_state),
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "tcp input, window", NULL, NULL, NULL, NULL, window },
	{ "tcp input, open and close", NULL, NULL, NULL, NULL, life },
	{ "tcp input, marks and acknowledgements", NULL, NULL, NULL, NULL, marks },
	{ "tcp input, everything", NULL, NULL, NULL, NULL, all },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}

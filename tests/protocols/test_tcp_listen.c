/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_tcp_listen.c - TCP: passive open, SYN cache, cookies, and segments for
 * nobody.
 */
#include <stdio.h>
#include <string.h>

#include "tests/protocols/tcp_fixture.h"
#include "tests/support/xk_test.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"

static struct pf f;
static uint8_t opt[40];

static void syn(uint16_t sport, uint32_t seq)
{
	tf_in(&f, &(struct tf_seg){ .sport = sport, .seq = seq, .flags = TCP_SYN });
}

static void ack(uint16_t sport, uint32_t seq, uint32_t a)
{
	tf_in(&f, &(struct tf_seg){ .sport = sport, .seq = seq, .ack = a, .flags = TCP_ACK });
}

static void up(const char *tcp)
{
	tf_up1(&f, tcp);
	tf_listen(&f);
}

/* ---- CLOSED and LISTEN (RFC 9293 3.10.7.1, 3.10.7.2) ---------------------------------- */

static void nobody_answers_with_rst(void)
{
	struct tf_out o;

	tf_up1(&f, NULL);
	syn(5000, 77);
	o = tf_out(&f, 0);
	CU_ASSERT(o.flags == (TCP_RST | TCP_ACK) && o.seq == 0 && o.ack == 78 && o.len == 0);
	CU_ASSERT(o.sport == TF_PORT && o.dport == 5000);
	tf_only_drop(&f, "port_closed");
	ack(5000, 77, 99);
	o = tf_out(&f, 1);
	CU_ASSERT(o.flags == TCP_RST && o.seq == 99);
	tf_in(&f, &(struct tf_seg){ .seq = 77, .flags = TCP_FIN, .data = "abc", .len = 3 });
	o = tf_out(&f, 2);
	CU_ASSERT(o.flags == (TCP_RST | TCP_ACK) && o.ack == 81);
	tf_in(&f, &(struct tf_seg){ .seq = 77, .ack = 5, .flags = TCP_RST | TCP_ACK });
	tf_in(&f, &(struct tf_seg){ .seq = 77, .flags = TCP_RST });
	CU_ASSERT_EQUAL(tf_nout(&f), 3);
	tf_down(&f);
}

/* All flags in LISTEN, as the RFC has it; nothing is kept but for a SYN. */
static void every_combination_of_flags_in_listen(void)
{
	for (uint16_t flags = 0; flags < 64; flags++) {
		uint32_t half;
		unsigned out;

		up(NULL);
		tf_in(&f, &(struct tf_seg){ .seq = 1000, .ack = 3, .flags = flags });
		half = tf_states(&f, TCP_S_SYN_RCVD);
		out = tf_nout(&f);
		if (flags & TCP_RST) {
			CU_ASSERT(half == 0 && out == 0);
		} else if (flags & TCP_ACK) {
			CU_ASSERT(half == 0 && out == 1 && tf_out(&f, 0).flags == TCP_RST && tf_out(&f, 0).seq == 3);
		} else if ((flags & TCP_SYN) && !(flags & TCP_FIN)) {
			CU_ASSERT(half == 1 && out == 1 && tf_out(&f, 0).ack == 1001);
		} else {
			CU_ASSERT(half == 0 && out == 0);
		}
		CU_ASSERT_EQUAL(pf_sessions(&f, "tcp"), 0);
		tf_down(&f);
	}
}

/* The LAND attack, and what is not from one host to one host. */
static void strange_senders_are_not_answered(void)
{
	static const struct { uint32_t src, dst; uint16_t sport, dport; } bad[] = {
		{ NF_US, NF_US, TF_PORT, TF_PORT }, { NF_US, NF_US, 5000, TF_PORT },
		{ 0x7f000001u, 0, 5000, TF_PORT }, { 0x00000001u, 0, 5000, TF_PORT },
		{ 0xffffffffu, 0, 5000, TF_PORT }, { 0xe0000001u, 0, 5000, TF_PORT },
		{ 0x0affffffu, 0, 5000, TF_PORT },
		{ 0, 0xffffffffu, 5000, TF_PORT }, { 0, 0xe0000001u, 5000, TF_PORT },
		{ 0, 0x0affffffu, 5000, TF_PORT },
	};

	up(NULL);
	for (unsigned i = 0; i < XK_ARRAY_LEN(bad); i++) {
		tf_in(&f, &(struct tf_seg){ .src = bad[i].src, .dst = bad[i].dst, .sport = bad[i].sport,
					    .dport = bad[i].dport, .seq = 1, .flags = TCP_SYN });
		tf_in(&f, &(struct tf_seg){ .src = bad[i].src, .dst = bad[i].dst, .sport = bad[i].sport,
					    .dport = 999, .seq = 1, .flags = TCP_SYN });
	}
	/* A broadcast of the link to our own address. */
	{
		static uint8_t d[100];

		nf_in_flags(&f, 0, d, tf_datagram(d, &(struct tf_seg){ .seq = 1, .flags = TCP_SYN }), XK_MSG_LINK_BCAST);
	}
	CU_ASSERT_EQUAL(tf_nout(&f), 0);
	CU_ASSERT_EQUAL(tf_states(&f, TCP_S_SYN_RCVD), 0);
	tf_down(&f);
}

/* ---- the handshake --------------------------------------------------------------------- */

static void a_session_is_made_by_the_last_ack_only(void)
{
	struct tf_out o;

	up(NULL);
	syn(5000, 1000);
	CU_ASSERT_EQUAL(pf_sessions(&f, "tcp"), 0);
	CU_ASSERT_EQUAL(tf_app.open_dones, 0);
	o = tf_out(&f, 0);
	CU_ASSERT_EQUAL(o.flags, TCP_SYN | TCP_ACK);
	CU_ASSERT_EQUAL(o.mss, 1460);
	CU_ASSERT(o.wscale < 0 && !o.ts && !o.sackok);
	ack(5000, 1001, o.seq + 1);
	CU_ASSERT_EQUAL(pf_sessions(&f, "tcp"), 1);
	CU_ASSERT_EQUAL(tf_app.open_dones, 1);
	CU_ASSERT_EQUAL(tf_states(&f, TCP_S_ESTABLISHED), 1);
	CU_ASSERT_EQUAL(tf_states(&f, TCP_S_SYN_RCVD), 0);
	CU_ASSERT_EQUAL(tf_app.kept[0]->rcnt, 1);
	CU_ASSERT_EQUAL(tf_nout(&f), 1);
	CU_ASSERT_EQUAL(pf_count(&f, "tcp", "accepted"), 1);
	tf_close(&f, tf_app.kept[0]);
	tf_down(&f);
}

static void options_of_the_syn_hold_in_the_session(void)
{
	uint32_t ts = 100;
	struct tcp_snapshot i;
	struct tf_out o;

	up(NULL);
	tf_in(&f, &(struct tf_seg){ .seq = 1000, .flags = TCP_SYN | TCP_ECE | TCP_CWR, .opt = opt,
				    .nopt = tf_syn_opts(opt, 1200, true, &ts, 7) });
	o = tf_out(&f, 0);
	CU_ASSERT(o.ts && o.tsecr == 100 && o.sackok && o.wscale >= 0);
	CU_ASSERT_EQUAL(o.flags, TCP_SYN | TCP_ACK | TCP_ECE);
	tf_in(&f, &(struct tf_seg){ .seq = 1001, .ack = o.seq + 1, .flags = TCP_ACK, .wnd = 100, .opt = opt,
				    .nopt = tf_ts_opts(opt, 101, o.tsval) });
	CU_ASSERT_EQUAL_FATAL(tf_app.nkept, 1);
	CU_ASSERT_EQUAL(tf_control(&f, tf_app.kept[0], TCP_CTL_INFO, &i, sizeof i), (int)sizeof i);
	CU_ASSERT(i.timestamps && i.sack && i.wscale && i.ecn);
	CU_ASSERT_EQUAL(i.snd_wnd, 100u << 7);
	CU_ASSERT_EQUAL(i.mss, 1200 - 12);
	CU_ASSERT_EQUAL(i.rmss, 1200);
	tf_close(&f, tf_app.kept[0]);
	tf_down(&f);
}

static void the_acknowledgement_may_carry_data_and_the_end(void)
{
	struct tf_out o;

	up(NULL);
	syn(5000, 1000);
	o = tf_out(&f, 0);
	tf_in(&f, &(struct tf_seg){ .sport = 5000, .seq = 1001, .ack = o.seq + 1, .flags = TCP_ACK | TCP_FIN | TCP_PSH,
				    .data = "GET", .len = 3 });
	CU_ASSERT_EQUAL(tf_app.open_dones, 1);
	CU_ASSERT(tf_app.ngot == 3 && memcmp(tf_app.got, "GET", 3) == 0);
	CU_ASSERT_EQUAL(tf_app.close_dones, 1);
	CU_ASSERT_EQUAL(tf_state(tf_app.kept[0]), TCP_S_CLOSE_WAIT);
	CU_ASSERT_EQUAL(tf_out(&f, -1).ack, 1005);
	tf_close(&f, tf_app.kept[0]);
	tf_down(&f);
}

static void a_server_may_speak_first(void)
{
	struct tf_out o;

	up(NULL);
	tf_app.greet = "220 hello";
	syn(5000, 1000);
	o = tf_out(&f, 0);
	ack(5000, 1001, o.seq + 1);
	CU_ASSERT_EQUAL(tf_out(&f, -1).len, 9);
	CU_ASSERT_EQUAL(tf_out(&f, -1).seq, o.seq + 1);
	tf_close(&f, tf_app.kept[0]);
	tf_down(&f);
}

static void what_nobody_keeps_is_closed(void)
{
	struct tf_out o;

	up(NULL);
	tf_app.keep = false;
	syn(5000, 1000);
	o = tf_out(&f, 0);
	ack(5000, 1001, o.seq + 1);
	CU_ASSERT_EQUAL(tf_app.open_dones, 1);
	CU_ASSERT_EQUAL(tf_out(&f, -1).flags, TCP_FIN | TCP_ACK);
	CU_ASSERT_EQUAL(tf_states(&f, TCP_S_FIN_WAIT_1), 1);
	tf_down(&f);
}

static void a_refusal_leaves_nothing_and_resets(void)
{
	struct tf_out o;

	up(NULL);
	tf_app.answer = XK_E_PERM;
	syn(5000, 1000);
	o = tf_out(&f, 0);
	ack(5000, 1001, o.seq + 1);
	CU_ASSERT_EQUAL(tf_out(&f, -1).flags, TCP_RST);
	CU_ASSERT_EQUAL(tf_out(&f, -1).seq, o.seq + 1);
	CU_ASSERT_EQUAL(pf_sessions(&f, "tcp"), 0);
	CU_ASSERT_EQUAL(tf_states(&f, TCP_S_SYN_RCVD), 0);
	CU_ASSERT_EQUAL(xk_flowtab_count(f.g->flows), 0);
	tf_only_drop(&f, "refused");
	tf_down(&f);
}

static void not_now_keeps_the_handshake(void)
{
	struct tf_out o;

	up(NULL);
	tf_app.answer = XK_E_AGAIN;
	syn(5000, 1000);
	o = tf_out(&f, 0);
	ack(5000, 1001, o.seq + 1);
	CU_ASSERT_EQUAL(tf_nout(&f), 1);
	CU_ASSERT_EQUAL(pf_sessions(&f, "tcp"), 0);
	CU_ASSERT_EQUAL(tf_states(&f, TCP_S_SYN_RCVD), 1);
	tf_app.answer = 0;
	/* The SYN-ACK comes again, the peer acknowledges again. */
	pf_run(&f, 1005 * XK_MS);
	CU_ASSERT_EQUAL(tf_nout(&f), 2);
	ack(5000, 1001, o.seq + 1);
	CU_ASSERT_EQUAL(tf_app.nkept, 1);
	tf_close(&f, tf_app.kept[0]);
	tf_down(&f);
}

/* ---- SYN-RECEIVED in the cache ------------------------------------------------------------- */

static void a_syn_ack_is_repeated_and_then_forgotten(void)
{
	static const unsigned at_s[] = { 0, 1, 3, 7, 15, 31 };

	up(NULL);
	syn(5000, 1000);
	for (unsigned i = 0; i + 1 < XK_ARRAY_LEN(at_s); i++) {
		pf_run(&f, (at_s[i + 1] - at_s[i]) * XK_SEC - 10 * XK_MS);
		CU_ASSERT_EQUAL(tf_nout(&f), i + 1);
		pf_run(&f, 12 * XK_MS);
		CU_ASSERT_EQUAL(tf_nout(&f), i + 2);
		CU_ASSERT_EQUAL(tf_out(&f, -1).flags, TCP_SYN | TCP_ACK);
		CU_ASSERT_EQUAL(tf_out(&f, -1).seq, tf_out(&f, 0).seq);
		CU_ASSERT_EQUAL(tf_out(&f, -1).ack, 1001);
		CU_ASSERT_EQUAL(tf_out(&f, -1).mss, 1460);
	}
	CU_ASSERT_EQUAL(tf_states(&f, TCP_S_SYN_RCVD), 1);
	pf_run(&f, 33 * XK_SEC);
	CU_ASSERT_EQUAL(tf_states(&f, TCP_S_SYN_RCVD), 0);
	CU_ASSERT_EQUAL(tf_nout(&f), 6);
	tf_down(&f);
}

static void the_same_syn_gets_the_same_answer(void)
{
	struct tf_out o;

	up(NULL);
	syn(5000, 1000);
	o = tf_out(&f, 0);
	pf_run(&f, 100 * XK_MS);
	syn(5000, 1000);
	CU_ASSERT_EQUAL(tf_nout(&f), 2);
	CU_ASSERT_EQUAL(tf_out(&f, 1).seq, o.seq);
	CU_ASSERT_EQUAL(tf_out(&f, 1).flags, TCP_SYN | TCP_ACK);
	CU_ASSERT_EQUAL(tf_states(&f, TCP_S_SYN_RCVD), 1);
	/* Another number: do you mean it?  A peer that does resets, and begins anew. */
	syn(5000, 2000);
	CU_ASSERT_EQUAL(tf_out(&f, 2).flags, TCP_ACK);
	CU_ASSERT(tf_out(&f, 2).ack == 1001 && tf_out(&f, 2).seq == o.seq + 1);
	tf_in(&f, &(struct tf_seg){ .sport = 5000, .seq = 1001, .flags = TCP_RST });
	CU_ASSERT_EQUAL(tf_states(&f, TCP_S_SYN_RCVD), 0);
	syn(5000, 2000);
	CU_ASSERT_EQUAL(tf_out(&f, -1).ack, 2001);
	tf_down(&f);
}

/* RFC 5961 3 for what is not a session yet. */
static void only_the_exact_reset_removes_an_entry(void)
{
	struct tf_out o;

	up(NULL);
	syn(5000, 1000);
	o = tf_out(&f, 0);
	tf_in(&f, &(struct tf_seg){ .sport = 5000, .seq = 1000, .flags = TCP_RST });
	tf_in(&f, &(struct tf_seg){ .sport = 5000, .seq = 1001 + o.wnd, .flags = TCP_RST });
	CU_ASSERT_EQUAL(tf_nout(&f), 1);
	CU_ASSERT_EQUAL(tf_states(&f, TCP_S_SYN_RCVD), 1);
	tf_in(&f, &(struct tf_seg){ .sport = 5000, .seq = 1002, .flags = TCP_RST });
	CU_ASSERT_EQUAL(tf_out(&f, -1).flags, TCP_ACK);
	CU_ASSERT_EQUAL(tf_states(&f, TCP_S_SYN_RCVD), 1);
	tf_in(&f, &(struct tf_seg){ .sport = 5000, .seq = 1001, .flags = TCP_RST });
	CU_ASSERT_EQUAL(tf_states(&f, TCP_S_SYN_RCVD), 0);
	tf_down(&f);
}

static void a_wrong_acknowledgement_is_reset_and_the_entry_stays(void)
{
	struct tf_out o;

	up(NULL);
	syn(5000, 1000);
	o = tf_out(&f, 0);
	ack(5000, 1001, o.seq);
	CU_ASSERT(tf_out(&f, -1).flags == TCP_RST && tf_out(&f, -1).seq == o.seq);
	ack(5000, 1001, o.seq + 2);
	CU_ASSERT(tf_out(&f, -1).flags == TCP_RST && tf_out(&f, -1).seq == o.seq + 2);
	/* Outside the window: the ACK says where we are. */
	ack(5000, 900, o.seq + 1);
	CU_ASSERT(tf_out(&f, -1).flags == TCP_ACK && tf_out(&f, -1).ack == 1001);
	CU_ASSERT_EQUAL(tf_states(&f, TCP_S_SYN_RCVD), 1);
	ack(5000, 1001, o.seq + 1);
	CU_ASSERT_EQUAL(tf_app.nkept, 1);
	tf_close(&f, tf_app.kept[0]);
	tf_down(&f);
}

/* The listener goes while a handshake is under way. */
static void a_listener_that_has_gone_refuses_the_last_step(void)
{
	struct tf_out o;

	up(NULL);
	syn(5000, 1000);
	o = tf_out(&f, 0);
	CU_ASSERT_EQUAL(nf_enable(&f, "app", false, TF_PORT, 0), XK_OK);
	ack(5000, 1001, o.seq + 1);
	CU_ASSERT_EQUAL(tf_out(&f, -1).flags, TCP_RST);
	CU_ASSERT_EQUAL(tf_states(&f, TCP_S_SYN_RCVD), 0);
	CU_ASSERT_EQUAL(pf_sessions(&f, "tcp"), 0);
	tf_down(&f);
}

/* The cache remembers a port that has no handshake any more, one at a time; each has its own backlog. */
static void ports_come_and_go_in_the_cache(void)
{
	up("cookies=never; backlog=2");
	CU_ASSERT_EQUAL(nf_enable(&f, "app", true, 81, 0), XK_OK);
	for (uint16_t i = 0; i < 6; i++) {
		struct tf_seg s = { .sport = (uint16_t)(6000 + i), .dport = i % 2 ? 81 : 0, .seq = 100u * i, .flags = TCP_SYN };

		tf_in(&f, &s);
		CU_ASSERT_EQUAL(tf_states(&f, TCP_S_SYN_RCVD), 1);
		s.seq++;
		s.flags = TCP_RST;
		tf_in(&f, &s);
		CU_ASSERT_EQUAL(tf_states(&f, TCP_S_SYN_RCVD), 0);
	}
	for (uint16_t i = 0; i < 10; i++)
		tf_in(&f, &(struct tf_seg){ .sport = (uint16_t)(7000 + i), .dport = i % 2 ? 81 : 0, .seq = i, .flags = TCP_SYN });
	CU_ASSERT_EQUAL(tf_states(&f, TCP_S_SYN_RCVD), 4);
	CU_ASSERT_EQUAL(nf_enable(&f, "app", false, 81, 0), XK_OK);
	tf_down(&f);
}

static void enables_count(void)
{
	tf_up1(&f, NULL);
	CU_ASSERT_EQUAL(nf_enable(&f, "app", true, 81, 0), XK_OK);
	CU_ASSERT_EQUAL(nf_enable(&f, "app", true, 81, 0), XK_OK);
	CU_ASSERT_EQUAL(tf_states(&f, TCP_S_LISTEN), 1);
	CU_ASSERT_EQUAL(nf_enable(&f, "app", false, 81, 0), XK_OK);
	CU_ASSERT_EQUAL(nf_enable(&f, "app", false, 81, 0), XK_OK);
	CU_ASSERT(nf_enable(&f, "app", false, 81, 0) < 0);
	CU_ASSERT_EQUAL(nf_enable(&f, "app", true, 0, 0), XK_E_INVAL);
	/* The exact address before the wildcard. */
	CU_ASSERT_EQUAL(nf_enable(&f, "app", true, 81, 0x0a000063u), XK_OK);
	tf_in(&f, &(struct tf_seg){ .dport = 81, .seq = 1, .flags = TCP_SYN });
	CU_ASSERT(tf_out(&f, -1).flags & TCP_RST);
	CU_ASSERT_EQUAL(nf_enable(&f, "app", true, 81, NF_US), XK_OK);
	tf_in(&f, &(struct tf_seg){ .dport = 81, .seq = 1, .flags = TCP_SYN });
	CU_ASSERT(tf_out(&f, -1).flags & TCP_SYN);
	tf_down(&f);
}

/* ---- floods ---------------------------------------------------------------------------------- */

static void the_oldest_gives_way_without_cookies(void)
{
	struct tf_out o;

	up("cookies=never; syncache=8; backlog=4");
	for (uint16_t i = 0; i < 6; i++)
		syn((uint16_t)(6000 + i), 100u * i);
	CU_ASSERT_EQUAL(tf_states(&f, TCP_S_SYN_RCVD), 4);
	CU_ASSERT_EQUAL(tf_nout(&f), 6);
	o = tf_out(&f, 0);
	ack(6000, 1, o.seq + 1);
	CU_ASSERT_EQUAL(tf_out(&f, -1).flags, TCP_RST);
	o = tf_out(&f, 5);
	ack(6005, 501, o.seq + 1);
	CU_ASSERT_EQUAL(tf_app.nkept, 1);
	tf_close(&f, tf_app.kept[0]);
	tf_down(&f);
}

static void a_cookie_brings_everything_back(void)
{
	static const struct { unsigned mss, want; } sizes[] = {
		{ 1460, 1460 }, { 1459, 1440 }, { 536, 536 }, { 700, 536 }, { 9000, 8960 }, { 4312, 4312 },
	};

	for (unsigned i = 0; i < XK_ARRAY_LEN(sizes); i++) {
		uint32_t ts = 1000 + i;
		struct tcp_snapshot in;
		struct tf_out o;

		up("cookies=always");
		tf_in(&f, &(struct tf_seg){ .seq = 1000, .flags = TCP_SYN | TCP_ECE | TCP_CWR, .opt = opt,
					    .nopt = tf_syn_opts(opt, sizes[i].mss, true, &ts, 9) });
		CU_ASSERT_EQUAL(tf_states(&f, TCP_S_SYN_RCVD), 0);
		o = tf_out(&f, 0);
		CU_ASSERT(o.flags == (TCP_SYN | TCP_ACK | TCP_ECE) && o.ts && o.sackok && o.wscale >= 0);
		pf_run(&f, 60 * XK_SEC);
		tf_in(&f, &(struct tf_seg){ .seq = 1001, .ack = o.seq + 1, .flags = TCP_ACK, .wnd = 10, .opt = opt,
					    .nopt = tf_ts_opts(opt, 61000, o.tsval) });
		CU_ASSERT_EQUAL_FATAL(tf_app.nkept, 1);
		CU_ASSERT_EQUAL(tf_control(&f, tf_app.kept[0], TCP_CTL_INFO, &in, sizeof in), (int)sizeof in);
		CU_ASSERT_EQUAL(in.rmss, sizes[i].want);
		CU_ASSERT(in.timestamps && in.sack && in.wscale && in.ecn);
		CU_ASSERT_EQUAL(in.snd_wnd, 10u << 9);
		/* Our clock goes on from what the cookie has shown. */
		tf_push(&f, tf_app.kept[0], "x", 1);
		CU_ASSERT(tcp_gt(tf_out(&f, -1).tsval, o.tsval));
		tf_close(&f, tf_app.kept[0]);
		tf_down(&f);
	}
}

static void a_half_open_connection_outlives_no_jump_of_the_clock(void)
{
	static const unsigned days[] = { 1, 25, 30, 100 };

	for (unsigned i = 0; i < XK_ARRAY_LEN(days); i++) {
		up("synack_retries=1");
		tf_in(&f, &(struct tf_seg){ .seq = 1000, .flags = TCP_SYN, .opt = opt,
					    .nopt = tf_syn_opts(opt, 1460, true, NULL, 9) });
		xk_clock_advance(&f.g->vps->clock, pf_now(&f) + days[i] * 24 * 3600 * XK_SEC);
		pf_settle(&f);
		CU_ASSERT_EQUAL(tf_nout(&f), 2);
		pf_run(&f, 10 * XK_SEC);
		CU_ASSERT_EQUAL(tf_states(&f, TCP_S_SYN_RCVD), 0);
		tf_down(&f);
	}
}

static void no_cookie_is_sent_that_cannot_say_the_peers_size(void)
{
	up("cookies=always");
	tf_in(&f, &(struct tf_seg){ .seq = 1000, .flags = TCP_SYN, .opt = opt, .nopt = tf_syn_opts(opt, 63, true, NULL, 9) });
	CU_ASSERT_EQUAL(tf_nout(&f), 0);
	tf_only_drop(&f, "syn_cache_full");
	tf_in(&f, &(struct tf_seg){ .seq = 1000, .flags = TCP_SYN, .opt = opt, .nopt = tf_syn_opts(opt, 64, true, NULL, 9) });
	CU_ASSERT_EQUAL(tf_nout(&f), 1);
	tf_down(&f);
}

static void a_cookie_without_timestamps_promises_no_more_than_a_size(void)
{
	struct tcp_snapshot in;
	struct tf_out o;

	up("cookies=always");
	tf_in(&f, &(struct tf_seg){ .seq = 1000, .flags = TCP_SYN | TCP_ECE | TCP_CWR, .opt = opt,
				    .nopt = tf_syn_opts(opt, 1460, true, NULL, 9) });
	o = tf_out(&f, 0);
	CU_ASSERT(o.flags == (TCP_SYN | TCP_ACK) && !o.ts && !o.sackok && o.wscale < 0);
	ack(TF_PEER_PORT, 1001, o.seq + 1);
	CU_ASSERT_EQUAL_FATAL(tf_app.nkept, 1);
	tf_control(&f, tf_app.kept[0], TCP_CTL_INFO, &in, sizeof in);
	CU_ASSERT(in.rmss == 1460 && !in.sack && !in.wscale && !in.ecn);
	tf_close(&f, tf_app.kept[0]);
	tf_down(&f);
}

static void a_cookie_is_good_for_its_connection_and_its_time_only(void)
{
	struct tf_out o;

	up("cookies=always");
	syn(5000, 1000);
	o = tf_out(&f, 0);
	for (unsigned bit = 0; bit < 32; bit++) {
		ack(5000, 1001, (o.seq ^ 1u << bit) + 1);
		CU_ASSERT_EQUAL(tf_out(&f, -1).flags, TCP_RST);
	}
	ack(5001, 1001, o.seq + 1);
	ack(5000, 1002, o.seq + 1);
	CU_ASSERT_EQUAL(tf_app.open_dones, 0);
	/* Later data of a handshake whose last step was lost: no reason to reset it. */
	{
		unsigned n = tf_nout(&f);

		tf_in(&f, &(struct tf_seg){ .sport = 5000, .seq = 2000, .ack = o.seq + 1, .flags = TCP_ACK,
					    .data = "x", .len = 1 });
		CU_ASSERT_EQUAL(tf_nout(&f), n);
		CU_ASSERT_EQUAL(pf_drops(&f, "tcp", "bad_cookie"), 1);
	}
	/* Two periods later it is nothing, although another cookie is on its way. */
	pf_run(&f, 128 * XK_SEC);
	syn(5003, 1);
	ack(5000, 1001, o.seq + 1);
	CU_ASSERT_EQUAL(tf_app.open_dones, 0);
	syn(5000, 1000);
	CU_ASSERT(tf_out(&f, -1).seq != o.seq);
	ack(5000, 1001, tf_out(&f, -1).seq + 1);
	CU_ASSERT_EQUAL(tf_app.open_dones, 1);
	tf_close(&f, tf_app.kept[0]);
	tf_down(&f);
	/* Where none was sent none is looked for. */
	up(NULL);
	syn(5000, 1000);
	CU_ASSERT_EQUAL(pf_count(&f, "tcp", "cookies_sent"), 0);
	tf_down(&f);
}

/* A million SYNs from nowhere among which a client a thousand really connects. */
static void flood(const char *params, unsigned n, unsigned *real, unsigned *connected)
{
	static uint8_t d[100];
	uint64_t most = 0, live;

	up(params);
	tf_app.keep = false;
	*real = *connected = 0;
	for (unsigned i = 0; i < n; i++) {
		struct tf_seg s = { .src = 0x0b000000u + i, .sport = (uint16_t)(1024 + i % 60000), .seq = i * 7919,
				    .flags = TCP_SYN };

		nf_in(&f, 0, d, tf_datagram(d, &s));
		if (i % 100 == 0)
			pf_run(&f, XK_MS);
		if (i % 1000 == 999) {
			uint32_t ts = i;
			struct tf_out o;

			(*real)++;
			tf_forget(&f);
			s = (struct tf_seg){ .sport = (uint16_t)(2000 + i / 1000), .seq = i, .flags = TCP_SYN, .opt = opt,
					     .nopt = tf_syn_opts(opt, 1460, true, &ts, 7) };
			tf_in(&f, &s);
			o = tf_out(&f, 0);
			tf_in(&f, &(struct tf_seg){ .sport = s.sport, .seq = i + 1, .ack = o.seq + 1, .flags = TCP_ACK,
						    .opt = opt, .nopt = tf_ts_opts(opt, i, o.tsval) });
			*connected = tf_app.open_dones;
			tf_forget(&f);
		}
		live = tcp_syncache_count(pf_rep(&f, "tcp", 0));
		most = live > most ? live : most;
	}
	CU_ASSERT(most <= 16384);
	tf_down(&f);
}

static void a_flood_is_bounded_and_clients_still_connect(void)
{
	unsigned real, connected, many = (unsigned)xk_test_rounds(1000000), some = (unsigned)xk_test_rounds(100000);

	flood(NULL, many, &real, &connected);
	CU_ASSERT_EQUAL(real, many / 1000);
	CU_ASSERT(connected * 100 >= real * 99);
	/* Without cookies a client that answers at once is younger than the cap. */
	flood("cookies=never; syncache=128; backlog=128", some, &real, &connected);
	CU_ASSERT(connected * 100 >= real * 99);
	flood("syncache=128; backlog=128", some, &real, &connected);
	CU_ASSERT(connected * 100 >= real * 99);
}

/* ---- failing allocations -------------------------------------------------------------------------- */

static void accept_torture(void)
{
	struct tf_out o;

	if (!tf_up_try(&f, &(struct tf_conf){ .tcp = NULL })) {
		tf_down(&f);
		return;
	}
	if (nf_enable(&f, "app", true, TF_PORT, 0) == XK_OK) {
		syn(5000, 1000);
		if (tf_nout(&f) != 0) {
			o = tf_out(&f, 0);
			tf_in(&f, &(struct tf_seg){ .sport = 5000, .seq = 1001, .ack = o.seq + 1, .flags = TCP_ACK,
						    .data = "abc", .len = 3 });
		}
		if (tf_app.nkept != 0)
			tf_close(&f, tf_app.kept[0]);
	}
	tf_down(&f);
}

static void cookie_torture(void)
{
	struct tf_out o;

	if (!tf_up_try(&f, &(struct tf_conf){ .tcp = "cookies=always" })) {
		tf_down(&f);
		return;
	}
	if (nf_enable(&f, "app", true, TF_PORT, 0) == XK_OK) {
		syn(5000, 1000);
		if (tf_nout(&f) != 0) {
			o = tf_out(&f, 0);
			ack(5000, 1001, o.seq + 1);
		}
		if (tf_app.nkept != 0)
			tf_close(&f, tf_app.kept[0]);
	}
	tf_down(&f);
}

static void every_allocation_of_an_accept_may_fail(void)
{
	nf_torture(accept_torture);
	nf_torture(cookie_torture);
}

/* Reference counts balance, on the passive side. */
static void ten_thousand_accepts_leave_nothing(void)
{
	up(NULL);
	for (unsigned i = 0; i < 10000; i++) {
		struct tf_out o;
		struct xk_sess *s = tf_accept(&f, (uint16_t)(1024 + i), &o);

		CU_ASSERT_EQUAL(s->rcnt, 1);
		tf_close(&f, s);
		tf_in(&f, &(struct tf_seg){ .sport = (uint16_t)(1024 + i), .seq = 1001, .flags = TCP_RST });
		tf_forget(&f);
	}
	CU_ASSERT_EQUAL(pf_sessions(&f, "tcp"), 0);
	CU_ASSERT_EQUAL(xk_flowtab_count(f.g->flows), 0);
	tf_down(&f);
}

static CU_TestInfo tests[] = {
	{ "nobody_answers_with_rst", nobody_answers_with_rst },
	{ "every_combination_of_flags_in_listen", every_combination_of_flags_in_listen },
	{ "strange_senders_are_not_answered", strange_senders_are_not_answered },
	{ "a_session_is_made_by_the_last_ack_only", a_session_is_made_by_the_last_ack_only },
	{ "options_of_the_syn_hold_in_the_session", options_of_the_syn_hold_in_the_session },
	{ "the_acknowledgement_may_carry_data_and_the_end", the_acknowledgement_may_carry_data_and_the_end },
	{ "a_server_may_speak_first", a_server_may_speak_first },
	{ "what_nobody_keeps_is_closed", what_nobody_keeps_is_closed },
	{ "a_refusal_leaves_nothing_and_resets", a_refusal_leaves_nothing_and_resets },
	{ "not_now_keeps_the_handshake", not_now_keeps_the_handshake },
	{ "a_syn_ack_is_repeated_and_then_forgotten", a_syn_ack_is_repeated_and_then_forgotten },
	{ "the_same_syn_gets_the_same_answer", the_same_syn_gets_the_same_answer },
	{ "only_the_exact_reset_removes_an_entry", only_the_exact_reset_removes_an_entry },
	{ "a_wrong_acknowledgement_is_reset_and_the_entry_stays", a_wrong_acknowledgement_is_reset_and_the_entry_stays },
	{ "a_listener_that_has_gone_refuses_the_last_step", a_listener_that_has_gone_refuses_the_last_step },
	{ "ports come and go in the cache", ports_come_and_go_in_the_cache },
	{ "enables_count", enables_count },
	{ "the_oldest_gives_way_without_cookies", the_oldest_gives_way_without_cookies },
	{ "a_cookie_brings_everything_back", a_cookie_brings_everything_back },
	{ "a_half_open_connection_outlives_no_jump_of_the_clock", a_half_open_connection_outlives_no_jump_of_the_clock },
	{ "no_cookie_is_sent_that_cannot_say_the_peers_size", no_cookie_is_sent_that_cannot_say_the_peers_size },
	{ "a_cookie_without_timestamps_promises_no_more_than_a_size",
	  a_cookie_without_timestamps_promises_no_more_than_a_size },
	{ "a_cookie_is_good_for_its_connection_and_its_time_only", a_cookie_is_good_for_its_connection_and_its_time_only },
	{ "a_flood_is_bounded_and_clients_still_connect", a_flood_is_bounded_and_clients_still_connect },
	{ "every_allocation_of_an_accept_may_fail", every_allocation_of_an_accept_may_fail },
	{ "ten_thousand_accepts_leave_nothing", ten_thousand_accepts_leave_nothing },
	CU_TEST_INFO_NULL
};

static CU_SuiteInfo suites[] = {
	{ "tcp listen", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}

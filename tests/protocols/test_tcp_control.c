/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_tcp_control.c - TCP: control operations, and what ICMP may do to a
 * connection.
 */
#include <stdio.h>
#include <string.h>

#include "tests/protocols/tcp_fixture.h"
#include "tests/support/xk_test.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"

static struct pf f;
static uint8_t big[65536];

/* ---- what a session says ------------------------------------------------------------- */

static uint32_t get(struct xk_sess *s, unsigned op)
{
	uint32_t v = 0xdeadbeef;

	CU_ASSERT_EQUAL(tf_control(&f, s, op, &v, sizeof v), 4);
	return v;
}

static void standard_operations_answer_as_udps_do(void)
{
	struct xk_sess *s;
	struct xk_parts ps;
	struct tf_out o;
	uint16_t port;
	uint32_t host;

	tf_up1(&f, NULL);
	s = tf_connect(&f, &o);
	CU_ASSERT_EQUAL(tf_control(&f, s, XK_CTL_GETMYPORT, &port, sizeof port), 2);
	CU_ASSERT_EQUAL(port, o.sport);
	CU_ASSERT_EQUAL(tf_control(&f, s, XK_CTL_GETPEERPORT, &port, sizeof port), 2);
	CU_ASSERT_EQUAL(port, TF_PEER_PORT);
	CU_ASSERT_EQUAL(get(s, XK_CTL_GETMYPROTO), o.sport);
	CU_ASSERT_EQUAL(get(s, XK_CTL_GETOPTPACKET), 1460);
	CU_ASSERT_EQUAL(get(s, XK_CTL_GETMAXPACKET), UINT32_MAX);
	/* What TCP does not know is asked below. */
	CU_ASSERT_EQUAL(get(s, XK_CTL_GETPEERHOST), NF_PEER);
	CU_ASSERT_EQUAL(get(s, XK_CTL_GETMYHOST), NF_US);
	CU_ASSERT_EQUAL(tf_control(&f, s, XK_CTL_GETPARTICIPANTS, &ps, sizeof ps), (int)sizeof ps);
	CU_ASSERT(xk_part_pop_port(&ps.p[XK_REMOTE], &port) == 0 && port == TF_PEER_PORT);
	CU_ASSERT(xk_part_pop_host(&ps.p[XK_REMOTE], &host) == 0 && host == NF_PEER);
	CU_ASSERT(xk_part_pop_port(&ps.p[XK_LOCAL], &port) == 0 && port == o.sport);
	CU_ASSERT(xk_part_pop_host(&ps.p[XK_LOCAL], &host) == 0 && host == NF_US);
	CU_ASSERT(tf_control(&f, s, 123456, NULL, 0) < 0);
	/* A sum of the payload is of use. */
	CU_ASSERT(tf_control(&f, s, XK_CTL_HEADER_SUM, &host, sizeof host) != XK_E_INVAL);
	tf_close(&f, s);
	tf_down(&f);
}

static void a_short_buffer_is_refused(void)
{
	static const unsigned ops[] = {
		XK_CTL_GETMYPORT, XK_CTL_GETPEERPORT, XK_CTL_GETMYPROTO, XK_CTL_GETMAXPACKET, XK_CTL_GETOPTPACKET,
		XK_CTL_GETPARTICIPANTS, XK_STREAM_ROOM, XK_STREAM_MANUAL, XK_STREAM_TAKEN, XK_STREAM_ERRNO,
		XK_STREAM_QUEUED, TCP_CTL_INFO, TCP_CTL_NODELAY, TCP_CTL_KEEPALIVE, TCP_CTL_USER_TIMEOUT,
		TCP_CTL_LINGER, TCP_CTL_RCVBUF, TCP_CTL_SNDBUF, TCP_CTL_MAXSEG, TCP_CTL_CORK,
	};
	struct xk_sess *s;
	uint8_t none[4] = { 0 };
	uint32_t n[TCP_S_COUNT];

	tf_up1(&f, NULL);
	s = tf_connect(&f, NULL);
	for (unsigned i = 0; i < XK_ARRAY_LEN(ops); i++)
		CU_ASSERT(tf_control(&f, s, ops[i], none, 1) < 0);
	pf_enter(&f, 0);
	CU_ASSERT(xk_control(pf_rep(&f, "tcp", 0), TCP_CTL_STATES, n, sizeof n - 1) < 0);
	CU_ASSERT(xk_control(pf_rep(&f, "tcp", 0), IP_CTL_ERROR_IN, n, 4) < 0);
	CU_ASSERT_EQUAL(xk_control(pf_rep(&f, "tcp", 0), XK_CTL_GETOPTPACKET, n, 4), 4);
	CU_ASSERT_EQUAL(n[0], 1460);
	pf_leave(&f, 0);
	tf_close(&f, s);
	tf_down(&f);
}

static void room_counts_what_is_queued_and_writable_follows_none(void)
{
	struct xk_sess *s;
	struct tf_out o;
	uint32_t small = 4096;

	tf_up1(&f, NULL);
	s = tf_connect(&f, &o);
	CU_ASSERT_EQUAL(tf_control(&f, s, TCP_CTL_SNDBUF, &small, sizeof small), 0);
	CU_ASSERT_EQUAL(get(s, XK_STREAM_ROOM), 4096);
	tf_push(&f, s, big, 4000);
	CU_ASSERT_EQUAL(get(s, XK_STREAM_ROOM), 96);
	CU_ASSERT_EQUAL(get(s, XK_STREAM_QUEUED), 4000);
	/* Taken whole, although it is longer. */
	tf_push(&f, s, big, 1000);
	CU_ASSERT_EQUAL(get(s, XK_STREAM_QUEUED), 5000);
	CU_ASSERT_EQUAL(get(s, XK_STREAM_ROOM), 0);
	CU_ASSERT_EQUAL(tf_events(XK_STREAM_WRITABLE), 0);
	CU_ASSERT_EQUAL(tf_control(&f, s, XK_STREAM_DRAIN, NULL, 0), 0);
	tf_in(&f, &(struct tf_seg){ .dport = o.sport, .seq = 5001, .ack = o.seq + 1 + 4000, .flags = TCP_ACK });
	tf_in(&f, &(struct tf_seg){ .dport = o.sport, .seq = 5001, .ack = o.seq + 1 + 5000, .flags = TCP_ACK });
	CU_ASSERT_EQUAL(tf_events(XK_STREAM_WRITABLE), 1);
	CU_ASSERT_EQUAL(tf_events(XK_STREAM_DRAINED), 1);
	CU_ASSERT_EQUAL(get(s, XK_STREAM_ROOM), 4096);
	tf_close(&f, s);
	tf_down(&f);
}

static void what_is_held_back_closes_the_window_and_taking_opens_it(void)
{
	uint32_t on = 1, n = 60000;
	struct tcp_snapshot i;
	struct xk_sess *s;
	struct tf_out o;
	uint16_t wnd;

	tf_up1(&f, "rcv_buf=64KiB; use_wscale=false");
	s = tf_connect(&f, &o);
	CU_ASSERT_EQUAL(tf_control(&f, s, XK_STREAM_MANUAL, &on, sizeof on), 0);
	for (uint32_t at = 0; at < 60000; at += 1000)
		tf_in(&f, &(struct tf_seg){ .dport = o.sport, .seq = 5001 + at, .ack = o.seq + 1, .flags = TCP_ACK,
					    .data = big, .len = 1000 });
	CU_ASSERT_EQUAL(tf_app.ngot, 60000);
	tf_control(&f, s, TCP_CTL_INFO, &i, sizeof i);
	CU_ASSERT(i.rcv_wnd <= 5536);
	wnd = tf_out(&f, -1).wnd;
	CU_ASSERT(wnd < 8000);
	CU_ASSERT_EQUAL(tf_control(&f, s, XK_STREAM_TAKEN, &n, sizeof n), 0);
	CU_ASSERT(tf_out(&f, -1).wnd > 60000);
	tf_close(&f, s);
	tf_down(&f);
}

static void small_pieces_wait_under_cork_and_go_at_once_with_nodelay(void)
{
	uint32_t on = 1, off = 0;
	struct xk_sess *s;
	struct tf_out o;
	unsigned n;

	tf_up1(&f, NULL);
	s = tf_connect(&f, &o);
	CU_ASSERT_EQUAL(tf_control(&f, s, TCP_CTL_CORK, &on, sizeof on), 0);
	n = tf_nout(&f);
	tf_push(&f, s, "a", 1);
	tf_push(&f, s, "b", 1);
	CU_ASSERT_EQUAL(tf_nout(&f), n);
	CU_ASSERT_EQUAL(tf_control(&f, s, TCP_CTL_CORK, &off, sizeof off), 0);
	CU_ASSERT_EQUAL(tf_nout(&f), n + 1);
	CU_ASSERT(tf_out(&f, -1).len == 2 && memcmp(tf_out(&f, -1).data, "ab", 2) == 0);
	/* Nagle: the next small piece waits for the acknowledgement. */
	tf_push(&f, s, "c", 1);
	CU_ASSERT_EQUAL(tf_nout(&f), n + 1);
	CU_ASSERT_EQUAL(tf_control(&f, s, TCP_CTL_NODELAY, &on, sizeof on), 0);
	CU_ASSERT_EQUAL(tf_nout(&f), n + 2);
	tf_push(&f, s, "d", 1);
	CU_ASSERT_EQUAL(tf_nout(&f), n + 3);
	tf_close(&f, s);
	tf_down(&f);
}

static void keepalive_probes_and_gives_up(void)
{
	struct tcp_keepalive k = { 1, 10000, 1000, 3 };
	struct xk_sess *s;
	struct tf_out o;
	unsigned n;

	tf_up1(&f, NULL);
	s = tf_connect(&f, &o);
	CU_ASSERT_EQUAL(tf_control(&f, s, TCP_CTL_KEEPALIVE, &k, sizeof k), 0);
	n = tf_nout(&f);
	pf_run(&f, 9900 * XK_MS);
	CU_ASSERT_EQUAL(tf_nout(&f), n);
	pf_run(&f, 200 * XK_MS);
	CU_ASSERT_EQUAL(tf_nout(&f), n + 1);
	CU_ASSERT_EQUAL(tf_out(&f, -1).seq, o.seq);
	/* An answer begins the silence anew. */
	tf_in(&f, &(struct tf_seg){ .dport = o.sport, .seq = 5001, .ack = o.seq + 1, .flags = TCP_ACK });
	pf_run(&f, 9 * XK_SEC);
	CU_ASSERT_EQUAL(tf_nout(&f), n + 1);
	pf_run(&f, 10 * XK_SEC);
	CU_ASSERT_EQUAL(tf_events(XK_STREAM_FAILED), 1);
	CU_ASSERT_EQUAL(tf_app.event[tf_app.nevents - 1].err, XK_E_TIMEDOUT);
	CU_ASSERT_EQUAL(pf_count(&f, "tcp", "keepalives"), 4);
	tf_close(&f, s);
	tf_down(&f);
}

static void a_user_timeout_ends_what_is_not_acknowledged(void)
{
	uint32_t ms = 5000;
	struct xk_sess *s;

	tf_up1(&f, NULL);
	s = tf_connect(&f, NULL);
	CU_ASSERT_EQUAL(tf_control(&f, s, TCP_CTL_USER_TIMEOUT, &ms, sizeof ms), 0);
	tf_push(&f, s, "x", 1);
	pf_run(&f, 4900 * XK_MS);
	CU_ASSERT_EQUAL(tf_events(XK_STREAM_FAILED), 0);
	pf_run(&f, 300 * XK_MS);
	CU_ASSERT_EQUAL(tf_events(XK_STREAM_FAILED), 1);
	CU_ASSERT_EQUAL(tf_app.event[tf_app.nevents - 1].err, XK_E_TIMEDOUT);
	tf_close(&f, s);
	tf_down(&f);
}

static void urgent_marks_the_last_byte(void)
{
	struct xk_sess *s;
	struct tf_out o;

	tf_up1(&f, NULL);
	s = tf_connect(&f, &o);
	CU_ASSERT_EQUAL(tf_control(&f, s, TCP_CTL_URGENT, NULL, 0), XK_E_INVAL);
	tf_push(&f, s, "x", 1);
	tf_push(&f, s, "yz", 2);
	CU_ASSERT_EQUAL(tf_control(&f, s, TCP_CTL_URGENT, NULL, 0), 0);
	tf_in(&f, &(struct tf_seg){ .dport = o.sport, .seq = 5001, .ack = o.seq + 2, .flags = TCP_ACK });
	CU_ASSERT(tf_out(&f, -1).flags & TCP_URG);
	CU_ASSERT_EQUAL(tf_out(&f, -1).len, 2);
	CU_ASSERT_EQUAL(tf_out(&f, -1).urp, 2);
	tf_close(&f, s);
	tf_down(&f);
}

static void a_smaller_segment_can_be_asked_for(void)
{
	uint32_t v = 500, bad = 10;
	struct xk_sess *s;
	struct tf_out o;

	tf_up1(&f, NULL);
	s = tf_connect(&f, &o);
	CU_ASSERT_EQUAL(tf_control(&f, s, TCP_CTL_MAXSEG, &bad, sizeof bad), XK_E_INVAL);
	CU_ASSERT_EQUAL(tf_control(&f, s, TCP_CTL_MAXSEG, &v, sizeof v), 0);
	tf_push(&f, s, big, 1200);
	CU_ASSERT_EQUAL(tf_out(&f, -1).len, 200);
	CU_ASSERT_EQUAL(tf_out(&f, (int)tf_nout(&f) - 2).len, 500);
	tf_close(&f, s);
	tf_down(&f);
}

/* ---- ICMP (RFC 5927, RFC 1191) ------------------------------------------------------------ */

/* The datagram that left as number i comes back in an ICMP error; cut after n bytes
 * behind its IP header; seq 0: as it was. */
static void icmp(uint8_t type, uint8_t code, uint32_t arg, unsigned i, uint32_t n, uint32_t seq)
{
	static uint8_t d[2000], q[1600];
	uint32_t len;
	const uint8_t *p = nf_sent(&f, i, &len) - 20;

	memcpy(q, p, 20 + (len < 1500 ? len : 1500));
	if (seq != 0)
		xk_put_be32(q + 24, seq);
	nf_in(&f, 0, d, nf_icmp(d, 0x0a000063u, NF_US, type, code, arg, q, 20 + n));
}

static void a_hard_error_ends_an_open_when_its_number_fits(void)
{
	struct xk_sess *s;
	int err = 0;

	tf_up1(&f, NULL);
	s = tf_open(&f, 80, 0, &err);
	icmp(3, 3, 0, 0, 8, tf_out(&f, 0).seq + 1);
	icmp(3, 3, 0, 0, 8, tf_out(&f, 0).seq - 1);
	CU_ASSERT_EQUAL(tf_state(s), TCP_S_SYN_SENT);
	for (uint32_t n = 0; n < 8; n++)
		icmp(3, 3, 0, 0, n, 0);
	CU_ASSERT_EQUAL(tf_state(s), TCP_S_SYN_SENT);
	CU_ASSERT_EQUAL(tf_app.nevents, 0);
	/* A soft one does not end it, but is the reason when time does. */
	icmp(3, 1, 0, 0, 8, 0);
	CU_ASSERT_EQUAL(tf_state(s), TCP_S_SYN_SENT);
	icmp(3, 3, 0, 0, 8, 0);
	CU_ASSERT_EQUAL(tf_state(s), TCP_S_CLOSED);
	CU_ASSERT_EQUAL(tf_events(XK_STREAM_FAILED), 1);
	CU_ASSERT_EQUAL(tf_app.event[0].err, XK_E_CONNREFUSED);
	tf_close(&f, s);
	tf_down(&f);
}

static void a_soft_error_is_the_reason_of_a_timeout(void)
{
	struct xk_sess *s;
	int err = 0;

	tf_up1(&f, NULL);
	s = tf_open(&f, 80, 0, &err);
	icmp(3, 0, 0, 0, 8, 0);
	pf_run(&f, 200 * XK_SEC);
	CU_ASSERT_EQUAL(tf_events(XK_STREAM_FAILED), 1);
	CU_ASSERT_EQUAL(tf_app.event[0].err, XK_E_UNREACH);
	tf_close(&f, s);
	tf_down(&f);
}

static void a_firewalls_refusal_ends_connecting_at_once(void)
{
	static const struct { uint8_t code; bool ends; } said[] = {
		{ 0, false }, { 1, false }, { 5, false }, { 8, false }, { 9, true }, { 10, true }, { 11, false }, { 13, true },
	};
	struct xk_sess *s;
	int err = 0;

	for (unsigned i = 0; i < XK_ARRAY_LEN(said); i++) {
		tf_up1(&f, NULL);
		s = tf_open(&f, 80, 0, &err);
		icmp(3, said[i].code, 0, 0, 8, tf_out(&f, 0).seq + 1);   /* of no segment of ours */
		CU_ASSERT_EQUAL(tf_events(XK_STREAM_FAILED), 0);
		icmp(3, said[i].code, 0, 0, 8, 0);
		CU_ASSERT_EQUAL(tf_events(XK_STREAM_FAILED), said[i].ends ? 1 : 0);
		if (said[i].ends)
			CU_ASSERT_EQUAL(tf_app.event[0].err, XK_E_UNREACH);
		tf_close(&f, s);
		tf_down(&f);
	}
}

static void no_error_ends_a_connection_that_stands(void)
{
	static const uint8_t codes[] = { 0, 1, 2, 3, 5, 6, 9, 10, 13 };
	struct xk_sess *s;
	struct tf_out o;
	unsigned i;

	tf_up1(&f, NULL);
	s = tf_connect(&f, &o);
	tf_push(&f, s, "data", 4);
	i = tf_nout(&f) - 1;
	for (unsigned k = 0; k < XK_ARRAY_LEN(codes); k++)
		icmp(3, codes[k], 0, i, 8, 0);
	icmp(11, 0, 0, i, 8, 0);
	icmp(12, 0, 0, i, 8, 0);
	icmp(4, 0, 0, i, 8, 0);
	CU_ASSERT_EQUAL(tf_state(s), TCP_S_ESTABLISHED);
	CU_ASSERT_EQUAL(tf_events(XK_STREAM_FAILED), 0);
	CU_ASSERT_EQUAL(tf_control(&f, s, XK_STREAM_DRAIN, NULL, 0), 0);
	tf_in(&f, &(struct tf_seg){ .dport = o.sport, .seq = 5001, .ack = o.seq + 5, .flags = TCP_ACK });
	CU_ASSERT_EQUAL(tf_events(XK_STREAM_DRAINED), 1);
	tf_close(&f, s);
	tf_down(&f);
}

static struct xk_sess *in_flight(struct tf_out *o)
{
	struct xk_sess *s;

	nf_fill(big, 6000, 3);
	s = tf_connect(&f, o);
	tf_push(&f, s, big, 5840);
	CU_ASSERT_EQUAL(tf_out(&f, -1).len, 1460);
	return s;
}

/* All data of the session as the segments since `from` have it, for bytes [0, n). */
static void covered(unsigned from, uint32_t first, uint32_t n, uint32_t most)
{
	static uint8_t seen[6000];
	uint32_t have = 0;

	memset(seen, 0, sizeof seen);
	for (unsigned i = from; i < tf_nout(&f); i++) {
		struct tf_out o = tf_out(&f, (int)i);

		CU_ASSERT(o.len <= most);
		CU_ASSERT_FATAL(o.len == 0 || o.seq - first + o.len <= n);
		CU_ASSERT(memcmp(o.data, big + (o.seq - first), o.len) == 0);
		memset(seen + (o.seq - first), 1, o.len);
	}
	for (uint32_t i = 0; i < n; i++)
		have += seen[i];
	CU_ASSERT_EQUAL(have, n);
}

static void a_smaller_path_mtu_cuts_and_sends_again(void)
{
	struct tcp_snapshot in;
	struct xk_sess *s;
	struct tf_out o;
	unsigned first, n;

	tf_up1(&f, NULL);
	s = in_flight(&o);
	first = tf_nout(&f) - 4;
	n = tf_nout(&f);
	icmp(3, 4, 1000, first, 8, 0);
	tf_control(&f, s, TCP_CTL_INFO, &in, sizeof in);
	CU_ASSERT_EQUAL(in.mss, 960);
	CU_ASSERT_EQUAL(pf_count(&f, "tcp", "path_mtu_lowered"), 1);
	CU_ASSERT(tf_nout(&f) > n);
	/* All of it, in pieces that fit, as far as the window lets them. */
	for (unsigned i = n; i < tf_nout(&f); i++)
		CU_ASSERT(tf_out(&f, (int)i).len <= 960);
	CU_ASSERT_EQUAL(tf_out(&f, (int)n).seq, o.seq + 1);
	pf_run(&f, 30 * XK_SEC);
	for (unsigned i = 0; i < 12; i++) {
		uint32_t up = 960 * (i + 1) < 5840 ? 960 * (i + 1) : 5840;

		tf_in(&f, &(struct tf_seg){ .dport = o.sport, .seq = 5001, .ack = o.seq + 1 + up, .flags = TCP_ACK });
	}
	covered(n, o.seq + 1, 5840, 960);
	CU_ASSERT_EQUAL(get(s, XK_STREAM_QUEUED), 0);
	/* It may grow no larger by the network's word. */
	tf_push(&f, s, big, 3000);
	icmp(3, 4, 1400, tf_nout(&f) - 1, 8, 0);
	tf_control(&f, s, TCP_CTL_INFO, &in, sizeof in);
	CU_ASSERT_EQUAL(in.mss, 960);
	tf_close(&f, s);
	tf_down(&f);
}

static void a_path_mtu_has_a_floor_and_a_number(void)
{
	static const struct { uint32_t mtu; uint32_t mss; } said[] = {
		{ 68, 512 }, { 552, 512 }, { 551, 512 }, { 576, 536 }, { 1499, 1459 }, { 0, 1452 },
	};

	for (unsigned i = 0; i < XK_ARRAY_LEN(said); i++) {
		struct tcp_snapshot in;
		struct xk_sess *s;
		struct tf_out o;
		unsigned first;

		tf_up1(&f, NULL);
		s = in_flight(&o);
		first = tf_nout(&f) - 4;
		/* Numbers that are not in flight. */
		icmp(3, 4, said[i].mtu, first, 8, o.seq);
		icmp(3, 4, said[i].mtu, first, 8, o.seq + 1 + 5840);
		icmp(3, 4, said[i].mtu, first, 8, o.seq + 0x80000000u);
		tf_control(&f, s, TCP_CTL_INFO, &in, sizeof in);
		CU_ASSERT_EQUAL(in.mss, 1460);
		icmp(3, 4, said[i].mtu, first, 8, 0);
		tf_control(&f, s, TCP_CTL_INFO, &in, sizeof in);
		CU_ASSERT_EQUAL(in.mss, said[i].mss);
		tf_close(&f, s);
		tf_down(&f);
	}
}

static void an_error_about_the_cache_needs_its_number_and_a_second_word(void)
{
	uint32_t seq;

	tf_up1(&f, NULL);
	tf_listen(&f);
	tf_in(&f, &(struct tf_seg){ .seq = 1000, .flags = TCP_SYN });
	seq = tf_out(&f, 0).seq;
	icmp(3, 3, 0, 0, 8, seq + 1);
	icmp(3, 3, 0, 0, 8, 0);
	icmp(3, 3, 0, 0, 8, 0);
	CU_ASSERT_EQUAL(tf_states(&f, TCP_S_SYN_RCVD), 1);
	pf_run(&f, 1100 * XK_MS);
	icmp(3, 3, 0, 0, 8, seq + 1);
	CU_ASSERT_EQUAL(tf_states(&f, TCP_S_SYN_RCVD), 1);
	icmp(3, 3, 0, 0, 8, 0);
	CU_ASSERT_EQUAL(tf_states(&f, TCP_S_SYN_RCVD), 0);
	/* About nobody. */
	icmp(3, 3, 0, 0, 8, 0);
	icmp(3, 4, 576, 0, 8, 0);
	tf_down(&f);
}

static CU_TestInfo tests[] = {
	{ "standard_operations_answer_as_udps_do", standard_operations_answer_as_udps_do },
	{ "a_short_buffer_is_refused", a_short_buffer_is_refused },
	{ "room_counts_what_is_queued_and_writable_follows_none", room_counts_what_is_queued_and_writable_follows_none },
	{ "what_is_held_back_closes_the_window_and_taking_opens_it",
	  what_is_held_back_closes_the_window_and_taking_opens_it },
	{ "small_pieces_wait_under_cork_and_go_at_once_with_nodelay",
	  small_pieces_wait_under_cork_and_go_at_once_with_nodelay },
	{ "keepalive_probes_and_gives_up", keepalive_probes_and_gives_up },
	{ "a_user_timeout_ends_what_is_not_acknowledged", a_user_timeout_ends_what_is_not_acknowledged },
	{ "urgent_marks_the_last_byte", urgent_marks_the_last_byte },
	{ "a_smaller_segment_can_be_asked_for", a_smaller_segment_can_be_asked_for },
	{ "a_hard_error_ends_an_open_when_its_number_fits", a_hard_error_ends_an_open_when_its_number_fits },
	{ "a_soft_error_is_the_reason_of_a_timeout", a_soft_error_is_the_reason_of_a_timeout },
	{ "a_firewalls_refusal_ends_connecting_at_once", a_firewalls_refusal_ends_connecting_at_once },
	{ "no_error_ends_a_connection_that_stands", no_error_ends_a_connection_that_stands },
	{ "a_smaller_path_mtu_cuts_and_sends_again", a_smaller_path_mtu_cuts_and_sends_again },
	{ "a_path_mtu_has_a_floor_and_a_number", a_path_mtu_has_a_floor_and_a_number },
	{ "an_error_about_the_cache_needs_its_number_and_a_second_word",
	  an_error_about_the_cache_needs_its_number_and_a_second_word },
	CU_TEST_INFO_NULL
};

static CU_SuiteInfo suites[] = {
	{ "tcp control", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_tcp_attack.c - what somebody who is not the peer, or a peer that means ill, can
 * send: blind segments, forged addresses, segments that count answers, peers that fall
 * silent in any state, windows that never open.
 *
 * The host is driven from outside, segment by segment; what a single function answers is
 * shown elsewhere (docs/internals/reliability.md says where).
 * Invariant: after each attack the connection it was about still moves bytes, or is gone
 * and leaves nothing.
 */
#include <CUnit/CUnit.h>
#include <string.h>

#include "tests/protocols/tcp_fixture.h"
#include "tests/support/xk_test_graph.h"
#include "runtime/upi/xk_inline.h"

static struct pf f;
static struct tf_out synack;

static struct xk_sess *up(const char *params)
{
	tf_up1(&f, params);
	tf_listen(&f);
	return tf_accept(&f, TF_PEER_PORT, &synack);
}

static void send(uint16_t sport, uint16_t flags, uint32_t seq, uint32_t ack, const void *data, uint32_t n)
{
	tf_in(&f, &(struct tf_seg){ .sport = sport, .seq = seq, .ack = ack, .flags = flags, .data = data, .len = n });
}

/* The connection of tf_accept takes a byte, answers one, ends in order. */
static void still_works(struct xk_sess *s, uint32_t seq, uint32_t ack)
{
	uint32_t had = tf_app.ngot;

	send(TF_PEER_PORT, TCP_ACK | TCP_PSH, seq, ack, "k", 1);
	CU_ASSERT_EQUAL(tf_app.ngot, had + 1);
	CU_ASSERT_EQUAL(tf_app.got[had], 'k');
	tf_push(&f, s, "q", 1);
	CU_ASSERT_EQUAL(tf_out(&f, -1).len, 1);
	CU_ASSERT_EQUAL(tf_out(&f, -1).seq, ack);
	send(TF_PEER_PORT, TCP_ACK, seq + 1, ack + 1, NULL, 0);
	CU_ASSERT_EQUAL(tf_state(s), TCP_S_ESTABLISHED);
}

static void reset(struct xk_sess *s)
{
	uint32_t on = 1;

	tf_control(&f, s, TCP_CTL_LINGER, &on, sizeof on);
	tf_close(&f, s);
}

static void over(struct xk_sess *s)
{
	reset(s);
	CU_ASSERT_EQUAL(pf_sessions(&f, "tcp"), 0);
	tf_down(&f);
}

/* ---- blind segments (RFC 5961) --------------------------------------------------- */

/* The window that the peer was last offered. */
static uint32_t offered(struct xk_sess *s)
{
	struct tcp_snapshot in;

	tf_control(&f, s, TCP_CTL_INFO, &in, sizeof in);
	return in.rcv_wnd;
}

/* Answers to one segment: 0, or 1 and it is an ACK of what we have. */
static unsigned answers(uint16_t flags, uint32_t seq, uint32_t ack, const void *data, uint32_t n)
{
	unsigned had = tf_nout(&f);

	send(TF_PEER_PORT, flags, seq, ack, data, n);
	if (tf_nout(&f) != had) {
		struct tf_out o = tf_out(&f, -1);

		CU_ASSERT(tf_nout(&f) == had + 1 && o.flags == TCP_ACK && o.len == 0);
		CU_ASSERT(o.seq == synack.seq + 1 && o.ack == 1001);
	}
	return tf_nout(&f) - had;
}

static void a_blind_reset_counts_at_one_number_of_all(void)
{
	struct xk_sess *s = up("rcv_buf=64KiB; use_wscale=false");
	uint32_t nxt = 1001, wnd = offered(s);

	CU_ASSERT(wnd > 60000);
	for (unsigned with = 0; with < 2; with++) {
		uint16_t rst = TCP_RST | (with ? TCP_ACK : 0);

		CU_ASSERT_EQUAL(answers(rst, nxt - 1, synack.seq + 1, NULL, 0), 0);
		CU_ASSERT_EQUAL(answers(rst, nxt + 1, synack.seq + 1, NULL, 0), 1);
		CU_ASSERT_EQUAL(answers(rst, nxt + wnd - 1, synack.seq + 1, NULL, 0), 1);
		CU_ASSERT_EQUAL(answers(rst, nxt + wnd, synack.seq + 1, NULL, 0), 0);
		CU_ASSERT_EQUAL(answers(rst, nxt + wnd + 1, synack.seq + 1, NULL, 0), 0);
		CU_ASSERT_EQUAL(answers(rst, nxt + 0x80000000u, synack.seq + 1, NULL, 0), 0);
	}
	CU_ASSERT_EQUAL(pf_count(&f, "tcp", "challenge_acks"), 4);
	still_works(s, nxt, synack.seq + 1);
	send(TF_PEER_PORT, TCP_RST, nxt + 1, 0, NULL, 0);
	CU_ASSERT_EQUAL(tf_state(s), TCP_S_CLOSED);
	CU_ASSERT_EQUAL(tf_events(XK_STREAM_FAILED), 1);
	over(s);
}

/* A whole sweep by windows, as one who does not know the number would go: one answer for
 * each reset in the window, and the connection lives. */
static void a_sweep_of_resets_that_misses_the_number_ends_nothing(void)
{
	struct xk_sess *s = up("rcv_buf=64KiB; use_wscale=false");
	uint64_t n = 0;

	for (uint64_t seq = 1001 + 100; seq < 1001 + 100 + (UINT64_C(1) << 32); seq += 60000, n++)
		answers(TCP_RST, (uint32_t)seq, 0, NULL, 0);
	CU_ASSERT(n > 71000);
	CU_ASSERT(pf_count(&f, "tcp", "challenge_acks") <= 2);
	still_works(s, 1001, synack.seq + 1);
	over(s);
}

static void a_blind_syn_changes_nothing(void)
{
	struct xk_sess *s = up("rcv_buf=64KiB; use_wscale=false; challenge_limit=1000");
	uint32_t wnd = offered(s);
	const uint32_t where[] = { 0, 1, wnd - 1, wnd, wnd + 1, (uint32_t)-1, 0x80000000u, 77777777 };

	for (unsigned i = 0; i < XK_ARRAY_LEN(where); i++) {
		CU_ASSERT_EQUAL(answers(TCP_SYN, 1001 + where[i], 0, NULL, 0), 1);
		CU_ASSERT_EQUAL(answers(TCP_SYN | TCP_ACK, 1001 + where[i], synack.seq + 1, "evil", 4), 1);
	}
	CU_ASSERT_EQUAL(tf_app.ngot, 0);
	CU_ASSERT_EQUAL(tf_states(&f, TCP_S_SYN_RCVD), 0);
	still_works(s, 1001, synack.seq + 1);
	over(s);
}

/* RFC 5961 5.2: the acknowledgement must lie in (SND.UNA - MAX.SND.WND, SND.NXT]. */
static void blind_data_is_not_taken(void)
{
	struct xk_sess *s = up("rcv_buf=64KiB; use_wscale=false; challenge_limit=1000");
	uint32_t una = synack.seq + 1;
	const uint32_t wrong[] = { una + 1, una + 2, una + 0x7fffffff, una + 0x80000000u, una - 65535 - 1, una - 65535 - 2,
				   una - 0x10000000u };

	for (unsigned i = 0; i < XK_ARRAY_LEN(wrong); i++) {
		CU_ASSERT_EQUAL(answers(TCP_ACK, 1001, wrong[i], "evil", 4), 1);
		CU_ASSERT_EQUAL(answers(TCP_ACK | TCP_FIN, 1001, wrong[i], "evil", 4), 1);
		CU_ASSERT_EQUAL(answers(TCP_ACK, 1001 + 50, wrong[i], "evil", 4), 1);
	}
	CU_ASSERT_EQUAL(tf_app.ngot, 0);
	CU_ASSERT_EQUAL(tf_app.close_dones, 0);
	still_works(s, 1001, una);
	CU_ASSERT_EQUAL(tf_app.ngot, 1);
	over(s);
}

/* ---- counting answers ----------------------------------------------------------------- */

/* Of 1000 resets in one second: how many are answered.  peer: which connection. */
static unsigned answered(uint16_t peer, unsigned n)
{
	uint64_t had = pf_count(&f, "tcp", "challenge_acks");
	unsigned k;

	for (unsigned i = 0; i < n; i++)
		send(peer, TCP_RST, 1001 + 10, 0, NULL, 0);
	k = (unsigned)(pf_count(&f, "tcp", "challenge_acks") - had);
	tf_forget(&f);
	return k;
}

static void answers_to_one_connection_tell_nothing_of_another(void)
{
	unsigned kinds = 0, seen[101] = { 0 };
	struct xk_sess *s = up(NULL);
	struct xk_sess *other = tf_accept(&f, 40001, NULL);

	pf_run(&f, XK_SEC);
	for (unsigned second = 0; second < 40; second++) {
		bool loud = second % 2;
		unsigned n = loud ? answered(TF_PEER_PORT, 1000) : 0, m = answered(40001, 1000);

		/* What the other one is asked leaves this one its own limit. */
		CU_ASSERT(!loud || (n >= 50 && n <= 100));
		CU_ASSERT_FATAL(m >= 50 && m <= 100);
		kinds += seen[m]++ == 0;
		pf_run(&f, XK_SEC);
	}
	/* Not a number that can be subtracted from. */
	CU_ASSERT(kinds > 10);
	still_works(s, 1001, synack.seq + 1);
	reset(other);
	over(s);
}

/* ---- land and other senders that cannot be ----------------------------------------------- */

static void no_flag_from_an_impossible_sender_is_answered(void)
{
	static const uint16_t flags[] = { TCP_SYN, TCP_SYN | TCP_ACK, TCP_ACK, TCP_RST, TCP_FIN | TCP_ACK, 0, 0x1ff };
	static const uint32_t from[] = { NF_US, 0x7f000001u, 0x7fffffffu, 0x00000001u, 0xffffffffu, 0xe0000001u,
					 0xefffffffu, 0xf0000001u, 0x0affffffu };
	struct xk_sess *s = up(NULL);
	uint64_t sessions = pf_sessions(&f, "tcp"), ip = pf_sessions(&f, "ip");

	tf_forget(&f);
	for (unsigned i = 0; i < XK_ARRAY_LEN(from); i++)
		for (unsigned k = 0; k < XK_ARRAY_LEN(flags); k++)
			for (unsigned same = 0; same < 3; same++)
				tf_in(&f, &(struct tf_seg){ .src = from[i], .sport = same ? TF_PORT : 9,
							    .dport = same == 2 ? 999 : TF_PORT, .seq = 1001,
							    .ack = synack.seq + 1, .flags = flags[k] });
	pf_run(&f, 10 * XK_SEC);
	CU_ASSERT_EQUAL(tf_nout(&f), 0);
	CU_ASSERT_EQUAL(pf_sessions(&f, "tcp"), sessions);
	CU_ASSERT_EQUAL(pf_sessions(&f, "ip"), ip);
	CU_ASSERT_EQUAL(tf_states(&f, TCP_S_SYN_RCVD), 0);
	still_works(s, 1001, synack.seq + 1);
	over(s);
}

/* ---- peers that fall silent --------------------------------------------------------------- */

/* Everything that waits for the peer ends by itself within `limit`. */
static void ends_by_itself(xk_ns limit)
{
	xk_ns from = pf_now(&f);

	while (pf_sessions(&f, "tcp") + tf_states(&f, TCP_S_SYN_RCVD) != 0 && pf_now(&f) - from < limit) {
		pf_run(&f, XK_SEC);
		tf_forget(&f);
	}
	CU_ASSERT_EQUAL(pf_sessions(&f, "tcp"), 0);
	CU_ASSERT_EQUAL(tf_states(&f, TCP_S_SYN_RCVD), 0);
	CU_ASSERT_EQUAL(xk_flowtab_count(f.g->flows), 0);
	tf_down(&f);
}

static void to_syn_rcvd(void)
{
	tf_up1(&f, NULL);
	tf_listen(&f);
	send(5000, TCP_SYN, 1000, 0, NULL, 0);
	CU_ASSERT_EQUAL(tf_states(&f, TCP_S_SYN_RCVD), 1);
}

static void a_listener_that_closes_in_syn_rcvd_leaves_nothing(void)
{
	struct tf_out o;

	/* The peer falls silent, too. */
	to_syn_rcvd();
	CU_ASSERT_EQUAL(nf_enable(&f, "app", false, TF_PORT, 0), XK_OK);
	ends_by_itself(200 * XK_SEC);
	/* It answers: refused. */
	to_syn_rcvd();
	o = tf_out(&f, -1);
	CU_ASSERT_EQUAL(nf_enable(&f, "app", false, TF_PORT, 0), XK_OK);
	send(5000, TCP_ACK, 1001, o.seq + 1, NULL, 0);
	CU_ASSERT_EQUAL(tf_out(&f, -1).flags, TCP_RST);
	CU_ASSERT_EQUAL(tf_out(&f, -1).seq, o.seq + 1);
	CU_ASSERT_EQUAL(tf_app.open_dones, 0);
	ends_by_itself(0);
}

static void syn_sent(void)
{
	int err = 0;
	struct xk_sess *s;

	tf_up1(&f, NULL);
	s = tf_open(&f, 80, 0, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	tf_push(&f, s, "x", 1);
	tf_close(&f, s);
}

static void established_with_data(void)
{
	struct xk_sess *s = up(NULL);

	tf_push(&f, s, "x", 1);
	tf_close(&f, s);
	CU_ASSERT_EQUAL(tf_states(&f, TCP_S_FIN_WAIT_1), 1);
}

static void fin_wait_2(void)
{
	struct xk_sess *s = up(NULL);

	tf_close(&f, s);
	send(TF_PEER_PORT, TCP_ACK, 1001, synack.seq + 2, NULL, 0);
	CU_ASSERT_EQUAL(tf_states(&f, TCP_S_FIN_WAIT_2), 1);
}

static void closing(void)
{
	struct xk_sess *s = up(NULL);

	tf_close(&f, s);
	send(TF_PEER_PORT, TCP_ACK | TCP_FIN, 1001, synack.seq + 1, NULL, 0);
	CU_ASSERT_EQUAL(tf_states(&f, TCP_S_CLOSING), 1);
}

static void last_ack(void)
{
	struct xk_sess *s = up(NULL);

	send(TF_PEER_PORT, TCP_ACK | TCP_FIN, 1001, synack.seq + 1, NULL, 0);
	CU_ASSERT_EQUAL(tf_states(&f, TCP_S_CLOSE_WAIT), 1);
	tf_close(&f, s);
	CU_ASSERT_EQUAL(tf_states(&f, TCP_S_LAST_ACK), 1);
}

static void time_wait(void)
{
	struct xk_sess *s = up(NULL);

	tf_close(&f, s);
	send(TF_PEER_PORT, TCP_ACK | TCP_FIN, 1001, synack.seq + 2, NULL, 0);
	CU_ASSERT_EQUAL(tf_states(&f, TCP_S_TIME_WAIT), 1);
}

static void every_state_without_an_owner_has_a_timer(void)
{
	static void (*const state[])(void) = { to_syn_rcvd, syn_sent, established_with_data, fin_wait_2, closing,
					       last_ack, time_wait };

	for (unsigned i = 0; i < XK_ARRAY_LEN(state); i++) {
		state[i]();
		ends_by_itself(600 * XK_SEC);
	}
}

/* What an application keeps ends by the peer's silence as soon as it says something. */
static void what_is_kept_is_told_of_a_silent_peer(void)
{
	for (unsigned closed = 0; closed < 2; closed++) {
		struct xk_sess *s = up(NULL);

		if (closed)
			send(TF_PEER_PORT, TCP_ACK | TCP_FIN, 1001, synack.seq + 1, NULL, 0);
		tf_push(&f, s, "anybody?", 8);
		pf_run(&f, 2000 * XK_SEC);
		CU_ASSERT_EQUAL(tf_events(XK_STREAM_FAILED), 1);
		CU_ASSERT_EQUAL(tf_state(s), TCP_S_CLOSED);
		tf_close(&f, s);
		ends_by_itself(0);
	}
}

/* ---- windows --------------------------------------------------------------------------------- */

/* The peer takes a byte at a time and says so: few segments go out, none of them tiny
 * but those that a timer forces (RFC 9293 3.8.6.2.1). */
static void a_peer_that_takes_a_byte_at_a_time_gets_no_silly_segments(void)
{
	static uint8_t bytes[20000];
	struct xk_sess *s = up("use_wscale=false; persist_min=5s");
	uint32_t una = synack.seq + 1, sent;
	unsigned small = 0;

	tf_in(&f, &(struct tf_seg){ .seq = 1001, .ack = una, .flags = TCP_ACK, .wnd = 1000 });
	tf_push(&f, s, bytes, sizeof bytes);
	sent = tf_out(&f, -1).seq + tf_out(&f, -1).len;
	tf_forget(&f);
	for (unsigned i = 1; i <= 400; i++) {
		/* All that was sent is acknowledged, the window's right edge goes on by one. */
		tf_in(&f, &(struct tf_seg){ .seq = 1001, .ack = sent, .flags = TCP_ACK, .wnd = (uint16_t)i });
		pf_run(&f, 10 * XK_MS);
		for (unsigned k = 0; k < tf_nout(&f); k++)
			small += tf_out(&f, (int)k).len > 0;
	}
	CU_ASSERT_EQUAL(small, 0);
	/* It is not forgotten: the timer sends what fits. */
	tf_forget(&f);
	pf_run(&f, 10 * XK_SEC);
	CU_ASSERT(tf_nout(&f) >= 1 && tf_out(&f, 0).len == 400 && tf_out(&f, 0).seq == sent);
	over(s);
}

/* A window taken back by k: what is beyond it waits, nothing is lost. */
static void a_window_that_shrinks_stops_nothing_for_ever(void)
{
	static uint8_t bytes[30000];

	for (unsigned k = 1; k <= 30000; k *= 7) {
		struct xk_sess *s = up("use_wscale=false; initial_window=10; cc=reno");
		uint32_t una = synack.seq + 1, top = una;

		tf_forget(&f);
		tf_push(&f, s, bytes, sizeof bytes);
		for (unsigned round = 0; round < 200 && una != synack.seq + 1 + sizeof bytes; round++) {
			for (unsigned i = 0; i < tf_nout(&f); i++) {
				struct tf_out o = tf_out(&f, (int)i);

				if (o.len != 0 && tcp_gt(o.seq + o.len, top))
					top = o.seq + o.len;
				/* Taken when in order. */
				if (tcp_leq(o.seq, una) && tcp_gt(o.seq + o.len, una))
					una = o.seq + o.len;
			}
			tf_forget(&f);
			tf_in(&f, &(struct tf_seg){ .seq = 1001, .ack = una, .flags = TCP_ACK,
						    .wnd = (uint16_t)(round % 2 ? 20000 : k < 20000 ? 20000 - k : 1) });
			pf_run(&f, round % 2 ? XK_SEC : 50 * XK_MS);
		}
		CU_ASSERT_EQUAL(una, synack.seq + 1 + (uint32_t)sizeof bytes);
		CU_ASSERT_EQUAL(top, una);
		over(s);
	}
}

/* Some peers look at nothing that begins or ends behind their edge, not even at what it
 * acknowledges: it must not be all they get. */
static void what_is_sent_lies_in_a_window_that_was_taken_back(void)
{
	static const unsigned left[] = { 1, 500, 2500 };
	static uint8_t bytes[3000];

	for (unsigned k = 0; k < XK_ARRAY_LEN(left); k++) {
		struct xk_sess *s = up("use_wscale=false; initial_window=10; cc=reno");
		uint32_t una = synack.seq + 1, edge = una + left[k], bare = 0;

		tf_push(&f, s, bytes, sizeof bytes);
		tf_forget(&f);
		tf_in(&f, &(struct tf_seg){ .seq = 1001, .ack = una, .flags = TCP_ACK, .wnd = (uint16_t)left[k],
					    .data = bytes, .len = 100 });
		pf_run(&f, 5 * XK_SEC);
		for (unsigned i = 0; i < tf_nout(&f); i++) {
			struct tf_out o = tf_out(&f, (int)i);

			CU_ASSERT_EQUAL(o.ack, 1101);
			CU_ASSERT(tcp_leq(o.seq, edge));
			CU_ASSERT(o.len == 0 || tcp_leq(o.seq + o.len, edge));
			bare += o.len == 0;
		}
		CU_ASSERT(bare != 0);
		over(s);
	}
}

/* An update that is lost: the peer's window opened long ago, nobody told us. */
static void a_lost_window_update_is_found_by_a_probe(void)
{
	static uint8_t bytes[5000];
	struct xk_sess *s = up("use_wscale=false");
	uint32_t una = synack.seq + 1;
	struct tf_out o;

	send(TF_PEER_PORT, TCP_ACK, 1001, una, NULL, 0);
	tf_in(&f, &(struct tf_seg){ .seq = 1001, .ack = una, .flags = TCP_ACK, .wnd = 1 });
	tf_push(&f, s, bytes, sizeof bytes);
	pf_run(&f, 20 * XK_SEC);
	o = tf_out(&f, -1);
	/* Whatever the probe is, the peer must answer it, and with its window. */
	tf_forget(&f);
	tf_in(&f, &(struct tf_seg){ .seq = 1001, .ack = tcp_gt(o.seq + o.len, una) ? o.seq + o.len : una,
				    .flags = TCP_ACK, .wnd = 60000 });
	CU_ASSERT(tf_nout(&f) >= 1 && tf_out(&f, 0).len > 100);
	over(s);
}

/* ---- errors about errors --------------------------------------------------------------------------- */

/* Every length of the quote, every type and code, about a connection that stands: it does,
 * and nothing is ever answered to an error. */
static void no_error_about_a_connection_is_answered_or_ends_it(void)
{
	static uint8_t d[200], q[100];
	struct xk_sess *s = up("min_pmtu=552");
	uint32_t n;
	const uint8_t *sent;
	unsigned outs;

	tf_push(&f, s, "data", 4);
	sent = nf_sent(&f, nf_nsent(&f) - 1, &n) - 20;
	memcpy(q, sent, 20 + n);
	outs = nf_nsent(&f);
	for (unsigned type = 0; type < 256; type++) {
		if (type == 8 || type == 13 || type == 15 || type == 17 || type == 10)
			continue;        /* questions, not errors */
		for (unsigned code = 0; code < 17; code++)
			for (uint32_t len = 0; len <= 32; len += 4)
				nf_in(&f, 0, d, nf_icmp(d, 0x0a000063u, NF_US, (uint8_t)type, (uint8_t)code,
							len % 8 ? 0 : 68, q, len));
	}
	/* An error that quotes an error of ours. */
	nf_in(&f, 0, d, nf_icmp(d, 0x0a000063u, NF_US, 3, 3, 0, d, 40));
	CU_ASSERT_EQUAL(tf_state(s), TCP_S_ESTABLISHED);
	CU_ASSERT_EQUAL(tf_events(XK_STREAM_FAILED), 0);
	/* At most what was in flight went out again, cut to the floor's size. */
	for (unsigned i = outs; i < nf_nsent(&f); i++)
		CU_ASSERT_EQUAL(tf_out(&f, (int)i).len, 4);
	CU_ASSERT(nf_nsent(&f) - outs <= 2);
	tf_forget(&f);
	send(TF_PEER_PORT, TCP_ACK, 1001, synack.seq + 5, NULL, 0);
	still_works(s, 1001, synack.seq + 5);
	over(s);
}

#define T(fn) { #fn, fn }
static CU_TestInfo blind[] = {
	T(a_blind_reset_counts_at_one_number_of_all), T(a_sweep_of_resets_that_misses_the_number_ends_nothing),
	T(a_blind_syn_changes_nothing), T(blind_data_is_not_taken), T(answers_to_one_connection_tell_nothing_of_another),
	T(no_flag_from_an_impossible_sender_is_answered), T(no_error_about_a_connection_is_answered_or_ends_it),
	CU_TEST_INFO_NULL
};
static CU_TestInfo silent[] = {
	T(a_listener_that_closes_in_syn_rcvd_leaves_nothing), T(every_state_without_an_owner_has_a_timer),
	T(what_is_kept_is_told_of_a_silent_peer), CU_TEST_INFO_NULL
};
static CU_TestInfo windows[] = {
	T(a_peer_that_takes_a_byte_at_a_time_gets_no_silly_segments), T(a_window_that_shrinks_stops_nothing_for_ever),
	T(what_is_sent_lies_in_a_window_that_was_taken_back),
	T(a_lost_window_update_is_found_by_a_probe), CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "tcp attack, blind", NULL, NULL, NULL, NULL, blind },
	{ "tcp attack, silence", NULL, NULL, NULL, NULL, silent },
	{ "tcp attack, windows", NULL, NULL, NULL, NULL, windows },
	CU_SUITE_INFO_NULL
};

int main(void) { return xk_test_main_rcu(suites); }

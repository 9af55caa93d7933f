/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_tcp_blind.c - segments that may be forged or old, with a control block and nothing
 * else: RST, SYN and ACK that may be blind, timestamps that go back.
 */
#include "tests/protocols/tcp_input_fixture.h"

/* ---- RST (RFC 5961 3) -------------------------------------------------------------------- */

static const unsigned synced[] = { TCP_S_SYN_RCVD, TCP_S_ESTABLISHED, TCP_S_CLOSE_WAIT, TCP_S_FIN_WAIT_1,
				   TCP_S_CLOSING, TCP_S_LAST_ACK, TCP_S_FIN_WAIT_2, TCP_S_TIME_WAIT };

static void a_reset_counts_at_rcv_nxt_alone_and_is_challenged_in_the_window(void)
{
	for (unsigned i = 0; i < XK_ARRAY_LEN(synced); i++)
		for (unsigned ack = 0; ack < 2; ack++) {
			uint16_t f = TCP_RST | (ack ? TCP_ACK : 0);

			fresh(synced[i]);
			in(seg(f, RCV - 1, SND, 0));
			CU_ASSERT(silent() && a.drop == TCP_DROP_RST);
			in(seg(f, RCV + 1, SND, 0));
			CU_ASSERT(only_ack() && a.drop == TCP_DROP_RST);
			in(seg(f, RCV + WIN - 1, SND, 0));
			CU_ASSERT(only_ack());
			in(seg(f, RCV + WIN, SND, 0));
			CU_ASSERT(silent());
			in(seg(f, RCV + 0x80000000u, SND, 0));
			CU_ASSERT(silent() && cb.state == synced[i]);
			in(seg(f, RCV, SND, 0));
			CU_ASSERT_EQUAL(a.acts, TCP_A_FINISH);
		}
}

static void a_reset_is_an_error_but_where_both_sides_had_ended(void)
{
	for (unsigned i = 0; i < XK_ARRAY_LEN(synced); i++) {
		unsigned s = synced[i];
		bool over = s == TCP_S_CLOSING || s == TCP_S_LAST_ACK || s == TCP_S_TIME_WAIT;

		fresh(s);
		in(seg(TCP_RST, RCV, 0, 0));
		CU_ASSERT_EQUAL(a.err, over ? XK_OK : s == TCP_S_SYN_RCVD ? XK_E_CONNREFUSED : XK_E_CONNRESET);
	}
}

static void a_reset_into_a_closed_window_must_be_exact(void)
{
	fresh(TCP_S_ESTABLISHED);
	cb.rcv_adv = cb.rcv_nxt;
	cb.rcv_buf = 0;
	in(seg(TCP_RST, RCV + 1, 0, 0));
	CU_ASSERT(silent());
	in(seg(TCP_RST, RCV, 0, 0));
	CU_ASSERT(a.acts & TCP_A_FINISH);
}

static void a_reset_needs_no_timestamp(void)
{
	fresh(TCP_S_ESTABLISHED);
	cb.flags |= TCP_F_TS;
	cb.ts_recent = 1000;
	cb.ts_recent_at = NOW;
	in(seg(TCP_RST, RCV, 0, 0));
	CU_ASSERT(a.acts & TCP_A_FINISH);
}

/* ---- SYN and ACK that may be blind (RFC 5961 4, 5) ------------------------------------------ */

static void a_syn_anywhere_is_challenged_and_nothing_more(void)
{
	static const uint32_t where[] = { 0, 1, WIN - 1, WIN, WIN + 1, (uint32_t)-1, 0x80000000u, 12345678 };

	for (unsigned i = 1; i < XK_ARRAY_LEN(synced); i++)
		for (unsigned k = 0; k < XK_ARRAY_LEN(where); k++) {
			struct tcp_cb was;

			if (synced[i] == TCP_S_TIME_WAIT)
				continue;        /* RFC 6191, below */
			fresh(synced[i]);
			was = cb;
			in(seg(TCP_SYN, RCV + where[k], 0, 0));
			CU_ASSERT(only_ack() && a.drop == TCP_DROP_SYN);
			in(seg(TCP_SYN | TCP_ACK, RCV + where[k], SND, 10));
			CU_ASSERT(only_ack());
			CU_ASSERT(cb.state == was.state && cb.rcv_nxt == was.rcv_nxt && cb.snd_una == was.snd_una);
		}
}

static void an_ack_of_nothing_sent_and_one_too_old_are_challenged(void)
{
	for (unsigned i = 1; i < XK_ARRAY_LEN(synced); i++) {
		fresh(synced[i]);
		in(seg(TCP_ACK, RCV, cb.snd_max + 1, 50));
		CU_ASSERT(only_ack() && a.drop == TCP_DROP_ACK_NEW);
		in(seg(TCP_ACK, RCV, cb.snd_una + 0x7fffffff, 50));
		CU_ASSERT(only_ack() && a.drop == TCP_DROP_ACK_NEW);
		in(seg(TCP_ACK, RCV, cb.snd_una - cb.max_wnd - 1, 50));
		CU_ASSERT(only_ack() && a.drop == TCP_DROP_ACK_OLD);
		in(seg(TCP_ACK, RCV, cb.snd_una - cb.max_wnd, 50));
		CU_ASSERT(!(a.acts & TCP_A_DROP));
		CU_ASSERT_EQUAL(cb.state, synced[i]);
	}
}

static void a_segment_without_ack_is_dropped(void)
{
	for (unsigned i = 0; i < XK_ARRAY_LEN(synced); i++) {
		fresh(synced[i]);
		in(seg(0, RCV, 0, 10));
		CU_ASSERT(silent() && a.drop == TCP_DROP_NO_ACK);
		in(seg(TCP_FIN | TCP_PSH | TCP_URG, RCV, 0, 10));
		CU_ASSERT(silent() && cb.state == synced[i]);
	}
}

/* How many challenges n resets out of order are answered by. */
static unsigned challenges(struct tcp_cb *c, unsigned n)
{
	struct tcp_seg g = seg(TCP_RST, RCV + 5, 0, 0);
	unsigned sent = 0;

	for (unsigned i = 0; i < n; i++) {
		tcp_input(c, &env, &g, &a);
		sent += (a.acts & TCP_A_ACK) != 0;
	}
	return sent;
}

static void challenges_are_limited_by_connection_and_not_countable(void)
{
	unsigned seen[101] = { 0 }, kinds = 0;
	struct tcp_cb other;

	fresh(TCP_S_ESTABLISHED);
	other = cb;
	for (unsigned s = 0; s < 100; s++) {
		unsigned n, m;

		at(NOW + s * 1000);
		n = challenges(&cb, 1000);
		/* Another connection's limit is its own. */
		m = challenges(&other, 1000);
		CU_ASSERT(n >= 50 && n <= 100 && m >= 50 && m <= 100);
		kinds += seen[n]++ == 0;
	}
	CU_ASSERT(kinds > 10);
	CU_ASSERT(count[TCP_COUNT_CHALLENGE] >= 10000);
}

/* ---- PAWS and timestamps -------------------------------------------------------------------------- */

static void with_ts(uint32_t recent)
{
	fresh(TCP_S_ESTABLISHED);
	cb.flags |= TCP_F_TS;
	cb.ts_recent = recent;
	cb.ts_recent_at = NOW;
}

static void an_old_timestamp_is_answered_and_dropped(void)
{
	with_ts(0x00000010);
	in(stamped(TCP_ACK, RCV, 10, 0x0000000f));
	CU_ASSERT(only_ack() && dropped(TCP_DROP_PAWS));
	in(stamped(TCP_ACK | TCP_FIN, RCV, 0, 0xfffffff0));
	CU_ASSERT(only_ack() && cb.state == TCP_S_ESTABLISHED);
	in(stamped(TCP_ACK, RCV, 10, 0x00000010));
	CU_ASSERT(a.acts & TCP_A_DATA);
}

static void an_overtaken_acknowledgement_is_no_old_one(void)
{
	/* Number, ack, window against RCV, SND, 5000; age; dropped for; answered. */
	static const struct { int seq, ack, wnd, age; unsigned drop; bool answer; } late[] = {
		{ 0, -1, 0, 1, 0, false }, { 0, 0, 0, 1, 0, false }, { 0, -1, -9, 1200, 0, false },
		{ 0, 0, -9, 1, TCP_DROP_ACK_OLD, false }, { -10, 0, 0, 1, TCP_DROP_ACK_OLD, false },
		/* What PAWS is for. */
		{ 0, 0, 0, 1201, TCP_DROP_PAWS, true }, { 0, 10, 0, 1, TCP_DROP_PAWS, true }, { 1, 0, 0, 1, TCP_DROP_PAWS, true },
	};

	for (unsigned i = 0; i < XK_ARRAY_LEN(late); i++) {
		struct tcp_seg g = stamped(TCP_ACK, RCV + (uint32_t)late[i].seq, 0, 5000 - (uint32_t)late[i].age);

		with_ts(5000);
		cb.rto = 1000;
		g.ack += (uint32_t)late[i].ack;
		g.wnd = (uint16_t)(g.wnd + late[i].wnd);
		in(g);
		CU_ASSERT(late[i].drop != 0 ? dropped(late[i].drop) : !(a.acts & TCP_A_DROP));
		CU_ASSERT(!(a.acts & TCP_A_ACK) == !late[i].answer && cb.ts_recent == 5000 && cb.snd_wnd == 5000 && cb.snd_una == SND);
	}
}

static void timestamps_wrap(void)
{
	with_ts(0xfffffff0);
	in(stamped(TCP_ACK, RCV, 10, 5));
	CU_ASSERT((a.acts & TCP_A_DATA) && cb.ts_recent == 5);
	in(stamped(TCP_ACK, RCV, 10, 0xfffffff5));
	CU_ASSERT(dropped(TCP_DROP_PAWS));
}

static void a_segment_without_a_timestamp_midway_is_dropped(void)
{
	with_ts(10);
	in(seg(TCP_ACK, RCV, SND + 10, 10));
	CU_ASSERT(silent() && a.drop == TCP_DROP_PAWS && cb.snd_una == SND);
}

static void after_24_days_a_timestamp_means_nothing(void)
{
	with_ts(1000);
	at(NOW + 24u * 24 * 3600 * 1000);
	in(stamped(TCP_ACK, RCV, 10, 999));
	CU_ASSERT(dropped(TCP_DROP_PAWS));
	at(NOW + 24u * 24 * 3600 * 1000 + 1);
	in(stamped(TCP_ACK, RCV, 10, 999));
	CU_ASSERT((a.acts & TCP_A_DATA) && cb.ts_recent == 999);
}

static void ts_recent_is_of_the_oldest_that_is_not_acknowledged(void)
{
	with_ts(10);
	in(stamped(TCP_ACK, RCV + 100, 10, 30));
	CU_ASSERT_EQUAL(cb.ts_recent, 10);
	in(stamped(TCP_ACK, RCV, 10, 20));
	CU_ASSERT_EQUAL(cb.ts_recent, 20);
	/* Delayed: what came behind it does not move the stamp. */
	cb.rcv_nxt += 10;
	in(stamped(TCP_ACK, RCV + 10, 10, 25));
	CU_ASSERT_EQUAL(cb.ts_recent, 20);
}

static void an_ack_of_nothing_sent_does_not_move_ts_recent(void)
{
	struct tcp_seg g;

	with_ts(100);
	g = stamped(TCP_ACK | TCP_FIN, RCV, 0, 200000);
	g.ack = cb.snd_max + 9999;
	in(g);
	CU_ASSERT_EQUAL(cb.ts_recent, 100);
	in(stamped(TCP_ACK, RCV, 1000, 201));
	CU_ASSERT((a.acts & TCP_A_DATA) && cb.ts_recent == 201);
}

#define T(f) { #f, f }
static CU_TestInfo blind[] = {
	T(a_reset_counts_at_rcv_nxt_alone_and_is_challenged_in_the_window),
	T(a_reset_is_an_error_but_where_both_sides_had_ended),
	T(a_reset_into_a_closed_window_must_be_exact),
	T(a_reset_needs_no_timestamp),
	T(a_syn_anywhere_is_challenged_and_nothing_more),
	T(an_ack_of_nothing_sent_and_one_too_old_are_challenged),
	T(a_segment_without_ack_is_dropped),
	T(challenges_are_limited_by_connection_and_not_countable),
	CU_TEST_INFO_NULL
};
static CU_TestInfo stamps[] = {
	T(an_old_timestamp_is_answered_and_dropped), T(an_overtaken_acknowledgement_is_no_old_one),
	T(timestamps_wrap),
	T(a_segment_without_a_timestamp_midway_is_dropped),
	T(after_24_days_a_timestamp_means_nothing),
	T(ts_recent_is_of_the_oldest_that_is_not_acknowledged),
	T(an_ack_of_nothing_sent_does_not_move_ts_recent),
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "tcp input, what may be blind", NULL, NULL, NULL, NULL, blind },
	{ "tcp input, timestamps", NULL, NULL, NULL, NULL, stamps },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_tcp_input.c - what a segment does to a connection, with a control block and
 * nothing else: acceptability and its edges, RST, SYN and ACK that may be blind,
 * PAWS, urgent marks, windows, FINs in every state, all flags in all states.
 *
 * Both sequence spaces begin shortly before their wrap.
 */
#include <string.h>

#include "protocols/tcp/core/tcp_core.h"
#include "tests/support/xk_test.h"

#define RCV  0xffffffe0u         /* rcv_nxt */
#define SND  0xfffffff0u         /* snd_una */
#define WIN  1000u
#define NOW  100000u

static struct tcp_tune tune;
static struct tcp_cb cb;
static struct xk_rand rnd;
static xk_counter count[TCP_COUNT_N];
static struct tcp_env env;
static struct tcp_acts a;

static void at(uint32_t ms)
{
	env = (struct tcp_env){ (xk_ns)ms * XK_MS, ms, ms * 1000, &rnd, count };
}

/* A connection in `state` with 100 bytes in flight; a FIN behind them where the
 * state has one. */
static void fresh(unsigned state)
{
	bool fin = state == TCP_S_FIN_WAIT_1 || state == TCP_S_CLOSING || state == TCP_S_LAST_ACK ||
		   state == TCP_S_FIN_WAIT_2 || state == TCP_S_TIME_WAIT;

	memset(&cb, 0, sizeof cb);
	memset(count, 0, sizeof count);
	tune = (struct tcp_tune){ .rcv_buf = WIN, .snd_buf = 32768, .min_mss = 88, .use_wscale = true,
		.timestamps = true, .sack = true, .dsack = true, .nagle = true, .newreno = true, .initial_window = 10,
		.ack_every = 2, .delack = 40, .rto_init = 1000, .rto_min = 200, .rto_max = 60000, .retries = 15,
		.persist_min = 200, .persist_max = 60000, .challenge_limit = 100, .msl = 30000, .fin_wait2 = 60000,
		.rfc6191 = true, .cc = TCP_CC_RENO };
	xk_rand_init(&rnd, 7, state);
	at(NOW);
	cb.tune = &tune;
	cb.fin_wait2 = tune.fin_wait2;
	cb.cc = &tcp_cc_table[TCP_CC_RENO];
	cb.state = (uint8_t)state;
	cb.path_mss = cb.peer_mss = cb.mss = 1460;
	cb.snd_buf = tune.snd_buf;
	cb.rcv_buf = WIN;
	tcp_rec_init(&cb);
	cb.irs = RCV - 1;
	cb.iss = SND - 1;
	cb.rcv_nxt = cb.rcv_acked = cb.rcv_up = RCV;
	cb.rcv_adv = RCV + WIN;
	cb.snd_una = SND;
	cb.snd_wnd = cb.max_wnd = 5000;
	cb.snd_wl1 = RCV;
	cb.snd_wl2 = SND;
	cb.snd_end = SND + 100;
	cb.snd_nxt = cb.snd_max = SND + 100 + fin;
	cb.flags = fin ? TCP_F_FIN_QUEUED | TCP_F_FIN_SENT : 0;
	if (state == TCP_S_FIN_WAIT_2 || state == TCP_S_TIME_WAIT)
		cb.snd_una = cb.snd_wl2 = cb.snd_max;
	if (state == TCP_S_SYN_SENT || state == TCP_S_SYN_RCVD) {
		cb.snd_una = cb.iss;
		cb.snd_nxt = cb.snd_max = cb.snd_end = cb.iss + 1;
		cb.flags = 0;
	}
	if (state == TCP_S_CLOSE_WAIT || state == TCP_S_CLOSING || state == TCP_S_LAST_ACK || state == TCP_S_TIME_WAIT)
		cb.flags |= TCP_F_FIN_RCVD;
}

static struct tcp_seg seg(uint16_t flags, uint32_t seq, uint32_t ack, uint32_t len)
{
	return (struct tcp_seg){ .seq = seq, .ack = ack, .len = len, .wnd = 5000, .flags = flags, .hlen = 20 };
}

static void in(struct tcp_seg g)
{
	/* What was done so far, tcp_act would have sent. */
	if (cb.flags & TCP_F_ACK_NOW) {
		cb.flags &= ~(TCP_F_ACK_NOW | TCP_F_ACK_LATER);
		cb.unacked_full = 0;
		cb.rcv_acked = cb.rcv_nxt;
	}
	tcp_input(&cb, &env, &g, &a);
}

static bool dropped(unsigned reason)
{
	return (a.acts & TCP_A_DROP) && a.drop == reason;
}

/* An acknowledgement and nothing else; silence. */
static bool only_ack(void)   { return a.acts == (TCP_A_DROP | TCP_A_ACK); }
static bool silent(void)     { return a.acts == TCP_A_DROP; }
static bool is_reset(uint32_t seq)
{
	return (a.acts & TCP_A_RESET) && a.rst_seq == seq && a.rst_flags == TCP_RST;
}

/* Takes what tcp_act would: bytes in order and the FIN. */
static void take(void)
{
	if (a.acts & TCP_A_DATA)
		cb.rcv_nxt += a.take;
	if ((a.acts & TCP_A_FIN) && !(a.acts & TCP_A_OOO)) {
		cb.rcv_nxt++;
		tcp_input_fin(&cb, &a);
	}
}

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

/* ---- PAWS and timestamps -------------------------------------------------------------------------- */

static struct tcp_seg stamped(uint16_t flags, uint32_t seq, uint32_t len, uint32_t tsval)
{
	struct tcp_seg g = seg(flags, seq, SND, len);

	g.o.have = TCP_O_TS;
	g.o.tsval = tsval;
	return g;
}

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
static CU_TestInfo stamps[] = {
	T(an_old_timestamp_is_answered_and_dropped), T(an_overtaken_acknowledgement_is_no_old_one),
	T(timestamps_wrap),
	T(a_segment_without_a_timestamp_midway_is_dropped),
	T(after_24_days_a_timestamp_means_nothing),
	T(ts_recent_is_of_the_oldest_that_is_not_acknowledged),
	T(an_ack_of_nothing_sent_does_not_move_ts_recent),
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
	{ "tcp input, what may be blind", NULL, NULL, NULL, NULL, blind },
	{ "tcp input, window", NULL, NULL, NULL, NULL, window },
	{ "tcp input, timestamps", NULL, NULL, NULL, NULL, stamps },
	{ "tcp input, open and close", NULL, NULL, NULL, NULL, life },
	{ "tcp input, marks and acknowledgements", NULL, NULL, NULL, NULL, marks },
	{ "tcp input, everything", NULL, NULL, NULL, NULL, all },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}

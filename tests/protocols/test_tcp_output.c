/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_tcp_output.c - what leaves and when: small segments, windows open and closed,
 * timers, acknowledgements, promises to those above; byte by byte on the wire.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/protocols/tcp_fixture.h"
#include "tests/support/xk_test.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"

static struct pf f;
static uint8_t bytes[1 << 17];
static struct xk_sess *s;
static struct tf_out sa;                 /* our SYN-ACK */

/* Plain: no options, so that every segment is as long as it says: mss 536. */
#define PLAIN "timestamps=false; sack=false; use_wscale=false; ecn=false; quick_acks=0; "

static void up(const char *tcp)
{
	for (uint32_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t)(i * 7 + i / 256);
	tf_up1(&f, tcp);
	tf_listen(&f);
	s = tf_accept(&f, TF_PEER_PORT, &sa);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	tf_forget(&f);
}

static void down(void)
{
	tf_down(&f);
}

static struct tcp_cb *cb(void)
{
	struct tcp_sess *ts = tcp_sess(s);

	if (tcp_is_compressed(ts)) {
		pf_enter(&f, 0);
		CU_ASSERT_FATAL(tcp_wake(ts));
		pf_leave(&f, 0);
	}
	return tcp_cb(ts);
}

/* The peer acknowledges all before the n-th byte of ours and offers wnd. */
static void ack(uint32_t n, uint16_t wnd)
{
	tf_in(&f, &(struct tf_seg){ .sport = TF_PEER_PORT, .seq = 1001, .ack = sa.seq + 1 + n,
				    .flags = TCP_ACK, .wnd = wnd });
}

/* The same with a window of 0, which tf_in does not know. */
static void ack_closed(uint32_t n)
{
	uint8_t d[64], *t = d + 20;
	uint32_t len = tf_datagram(d, &(struct tf_seg){ .sport = TF_PEER_PORT, .seq = 1001, .ack = sa.seq + 1 + n,
							.flags = TCP_ACK, .wnd = 1 });

	/* One less in a word, one more in the complement of the sum. */
	xk_put_be16(t + 14, 0);
	xk_put_be16(t + 16, (uint16_t)(xk_be16(t + 16) + 1));
	nf_in(&f, 0, d, len);
}

static void data(uint32_t at, const void *p, uint32_t n)
{
	tf_in(&f, &(struct tf_seg){ .sport = TF_PEER_PORT, .seq = 1001 + at, .ack = cb()->snd_una,
				    .flags = TCP_ACK, .wnd = 60000, .data = p, .len = n });
}

static void push(uint32_t at, uint32_t n) { tf_push(&f, s, bytes + at, n); }

/* The i-th segment out holds bytes [at, at + n). */
static void holds(int i, uint32_t at, uint32_t n)
{
	struct tf_out o = tf_out(&f, i);

	CU_ASSERT_EQUAL(o.seq, sa.seq + 1 + at);
	CU_ASSERT_EQUAL(o.len, n);
	CU_ASSERT(o.len == n && memcmp(o.data, bytes + at, n) == 0);
}

static void wait(uint32_t ms) { pf_run(&f, (xk_ns)ms * XK_MS); }

static void end(void)
{
	tf_control(&f, s, XK_STREAM_ABORT, NULL, 0);
	tf_close(&f, s);
	down();
}

/* ---- segments -------------------------------------------------------------------------- */

static void a_long_push_leaves_in_full_segments_and_a_rest_with_psh(void)
{
	up(PLAIN);
	ack(0, 60000);
	push(0, 1400);
	CU_ASSERT_EQUAL(tf_nout(&f), 3);
	holds(0, 0, 536);
	holds(1, 536, 536);
	holds(2, 1072, 328);
	CU_ASSERT_EQUAL(tf_out(&f, 0).flags, TCP_ACK);
	CU_ASSERT_EQUAL(tf_out(&f, 2).flags, TCP_ACK | TCP_PSH);
	end();
}

static void more(uint32_t v)
{
	CU_ASSERT_EQUAL(tf_control(&f, s, XK_STREAM_MORE, &v, sizeof v), 0);
}

static void what_more_follows_has_no_psh_and_is_not_cut_short(void)
{
	up(PLAIN);
	ack(0, 60000);
	more(XK_STREAM_MORE_FOLLOW);
	push(0, 536);                    /* the short way down */
	push(536, 836);                  /* the long one: 300 wait for company */
	CU_ASSERT_EQUAL(tf_nout(&f), 2);
	holds(0, 0, 536);
	holds(1, 536, 536);
	CU_ASSERT_EQUAL(tf_out(&f, 0).flags, TCP_ACK);
	CU_ASSERT_EQUAL(tf_out(&f, 1).flags, TCP_ACK);
	wait(150);                       /* and no probe of a window either */
	CU_ASSERT_EQUAL(tf_nout(&f), 2);
	more(XK_STREAM_MORE_LAST);
	CU_ASSERT_EQUAL(tf_nout(&f), 2);
	push(1372, 100);
	CU_ASSERT_EQUAL(tf_nout(&f), 3);
	holds(2, 1072, 400);
	CU_ASSERT_EQUAL(tf_out(&f, 2).flags, TCP_ACK | TCP_PSH);
	end();
}

static void what_was_to_follow_and_does_not_is_no_reason_to_wait(void)
{
	uint32_t three = 3;

	up(PLAIN);
	ack(0, 60000);
	more(XK_STREAM_MORE_FOLLOW);
	push(0, 100);
	CU_ASSERT_EQUAL(tf_nout(&f), 0);
	more(XK_STREAM_MORE_NONE);
	CU_ASSERT_EQUAL(tf_nout(&f), 1);
	holds(0, 0, 100);
	CU_ASSERT_EQUAL(tf_out(&f, 0).flags, TCP_ACK | TCP_PSH);
	CU_ASSERT_EQUAL(tf_control(&f, s, XK_STREAM_MORE, &three, sizeof three), XK_E_INVAL);
	end();
}

/* A machine that slept, a virtual clock that was set: half of what a deadline can tell is 24.8 days. */
static void no_deadline_is_missed_when_the_clock_jumps(void)
{
	static const unsigned days[] = { 1, 24, 25, 30, 49, 50, 100 };

	for (unsigned i = 0; i < XK_ARRAY_LEN(days); i++) {
		up(PLAIN);
		ack(0, 60000);
		push(0, 100);
		CU_ASSERT_EQUAL(tf_nout(&f), 1);
		xk_clock_advance(&f.g->vps->clock, pf_now(&f) + days[i] * 24 * 3600 * XK_SEC);
		pf_settle(&f);
		CU_ASSERT_EQUAL(tf_nout(&f), 2);
		holds(1, 0, 100);
		ack(100, 60000);
		push(100, 100);
		CU_ASSERT_EQUAL(tf_nout(&f), 3);
		end();
	}
}

static void a_small_segment_waits_for_another_one(void)
{
	up(PLAIN);
	ack(0, 60000);
	push(0, 10);
	CU_ASSERT_EQUAL(tf_nout(&f), 1);
	push(10, 20);
	push(30, 20);
	CU_ASSERT_EQUAL(tf_nout(&f), 1);
	push(50, 600);                   /* a full one may go, a second small one not */
	CU_ASSERT_EQUAL(tf_nout(&f), 2);
	holds(1, 10, 536);
	ack(546, 60000);
	CU_ASSERT_EQUAL(tf_nout(&f), 3);
	holds(2, 546, 104);
	end();
}

static void nodelay_sends_at_once(void)
{
	uint32_t on = 1;

	up(PLAIN);
	ack(0, 60000);
	CU_ASSERT_EQUAL(tf_control(&f, s, TCP_CTL_NODELAY, &on, sizeof on), 0);
	for (unsigned i = 0; i < 5; i++)
		push(i * 3, 3);
	CU_ASSERT_EQUAL(tf_nout(&f), 5);
	holds(4, 12, 3);
	end();
}

static void a_cork_keeps_all_but_full_segments(void)
{
	uint32_t on = 1;

	up(PLAIN);
	ack(0, 60000);
	CU_ASSERT_EQUAL(tf_control(&f, s, TCP_CTL_CORK, &on, sizeof on), 0);
	push(0, 500);
	CU_ASSERT_EQUAL(tf_nout(&f), 0);
	push(500, 100);
	CU_ASSERT_EQUAL(tf_nout(&f), 1);
	holds(0, 0, 536);
	on = 0;
	tf_control(&f, s, TCP_CTL_CORK, &on, sizeof on);
	CU_ASSERT_EQUAL(tf_nout(&f), 2);
	holds(1, 536, 64);
	end();
}

static void the_fin_rides_on_the_last_data(void)
{
	struct tf_out o;

	up(PLAIN);
	ack(0, 60000);
	push(0, 10);
	push(10, 10);
	tf_control(&f, s, XK_STREAM_SHUTDOWN, NULL, 0);
	CU_ASSERT_EQUAL(tf_nout(&f), 2);
	holds(1, 10, 10);
	o = tf_out(&f, 1);
	CU_ASSERT_EQUAL(o.flags, TCP_ACK | TCP_PSH | TCP_FIN);
	end();
}

static void a_lost_fin_is_sent_again(void)
{
	up(PLAIN);
	ack(0, 60000);
	tf_control(&f, s, XK_STREAM_SHUTDOWN, NULL, 0);
	CU_ASSERT_EQUAL(tf_nout(&f), 1);
	wait(1500);
	CU_ASSERT(tf_nout(&f) >= 2);
	CU_ASSERT_EQUAL(tf_out(&f, 1).flags, TCP_ACK | TCP_FIN);
	CU_ASSERT_EQUAL(tf_out(&f, 1).seq, sa.seq + 1);
	end();
}

/* ---- windows ----------------------------------------------------------------------------- */

static void no_byte_leaves_beyond_the_window(void)
{
	up(PLAIN);
	ack(0, 1200);
	push(0, 5000);
	CU_ASSERT_EQUAL(tf_nout(&f), 2);
	CU_ASSERT(tcp_leq(cb()->snd_max, sa.seq + 1 + 1200));
	ack(1072, 536);
	CU_ASSERT_EQUAL(tf_nout(&f), 3);
	end();
}

static void a_closed_window_is_probed_and_opens_again(void)
{
	struct tf_out o;
	unsigned n;

	up(PLAIN);
	ack(0, 536);
	push(0, 2000);
	CU_ASSERT_EQUAL(tf_nout(&f), 1);
	ack_closed(536);
	CU_ASSERT_NOT_EQUAL(cb()->at[TCP_T_PERSIST], 0);
	wait(30000);
	n = tf_nout(&f);
	CU_ASSERT(n >= 4 && n <= 12);    /* backed off */
	o = tf_out(&f, -1);
	CU_ASSERT_EQUAL(o.len, 0);
	CU_ASSERT_EQUAL(o.seq, sa.seq + 536);    /* below the window: must be answered */
	for (unsigned i = 0; i < 40; i++) {      /* closed for as long as the peer answers */
		ack_closed(536);
		wait(60000);
	}
	CU_ASSERT_EQUAL(tf_state(s), TCP_S_ESTABLISHED);
	n = tf_nout(&f);
	ack(536, 60000);
	CU_ASSERT_EQUAL(tf_nout(&f), n + 3);
	holds((int)n, 536, 536);
	CU_ASSERT_EQUAL(cb()->at[TCP_T_PERSIST], 0);
	end();
}

/* The sender's silly window avoidance, and its override. */
static void a_tiny_window_is_not_filled_at_once_but_in_the_end(void)
{
	up(PLAIN);
	ack(0, 60000);
	push(0, 536);
	ack(536, 100);
	tf_forget(&f);
	push(536, 2000);
	CU_ASSERT_EQUAL(tf_nout(&f), 0);
	wait(2000);
	CU_ASSERT(tf_nout(&f) >= 1);
	holds(0, 536, 100);
	end();
}

static void our_window_never_shrinks_and_opens_in_steps_worth_it(void)
{
	uint32_t on = 1, n = 1, edge;

	up(PLAIN "rcv_buf=8KiB; delack=0ms");
	CU_ASSERT_EQUAL(tf_control(&f, s, XK_STREAM_MANUAL, &on, sizeof on), 0);
	edge = 1001 + sa.wnd;
	for (unsigned i = 0; i < 8; i++) {
		struct tf_out o;

		data(i * 1024, bytes, 1024);
		o = tf_out(&f, -1);
		CU_ASSERT_EQUAL(o.ack, 1001 + (i + 1) * 1024);
		CU_ASSERT(tcp_geq(o.ack + o.wnd, edge));
		edge = o.ack + o.wnd;
	}
	CU_ASSERT_EQUAL(tf_out(&f, -1).wnd, 0);
	tf_forget(&f);
	for (unsigned i = 0; i < 1000; i++)      /* a byte at a time says nothing */
		tf_control(&f, s, XK_STREAM_TAKEN, &n, sizeof n);
	CU_ASSERT_EQUAL(tf_nout(&f), 0);
	n = 4000;
	tf_control(&f, s, XK_STREAM_TAKEN, &n, sizeof n);
	CU_ASSERT_EQUAL(tf_nout(&f), 1);
	CU_ASSERT(tf_out(&f, 0).wnd >= 4096);
	end();
}

/* ---- acknowledgements ------------------------------------------------------------------------ */

static void every_second_full_segment_is_acknowledged_and_a_single_one_later(void)
{
	up(PLAIN "delack=40ms; ack_every=2");
	data(0, bytes, 536);
	CU_ASSERT_EQUAL(tf_nout(&f), 0);
	data(536, bytes, 536);
	CU_ASSERT_EQUAL(tf_nout(&f), 1);
	data(1072, bytes, 100);
	CU_ASSERT_EQUAL(tf_nout(&f), 1);
	wait(50);
	CU_ASSERT_EQUAL(tf_nout(&f), 2);
	CU_ASSERT_EQUAL(tf_out(&f, 1).ack, 1001 + 1172);
	end();
}

/* What a device has put together counts as what it was. */
static void a_long_segment_counts_as_several(void)
{
	up(PLAIN "delack=40ms; ack_every=5");
	data(0, bytes, 4 * 536);
	CU_ASSERT_EQUAL(tf_nout(&f), 0);
	data(4 * 536, bytes, 10);
	CU_ASSERT_EQUAL(tf_nout(&f), 1);
	data(4 * 536 + 10, bytes, 40 * 536);
	CU_ASSERT_EQUAL(tf_nout(&f), 2);
	CU_ASSERT_EQUAL(tf_out(&f, 1).ack, 1001 + 44 * 536 + 10);
	end();
}

static void data_of_ours_carries_the_acknowledgement(void)
{
	up(PLAIN "delack=40ms");
	ack(0, 60000);
	data(0, bytes, 100);
	push(0, 10);
	CU_ASSERT_EQUAL(tf_nout(&f), 1);
	CU_ASSERT_EQUAL(tf_out(&f, 0).ack, 1101);
	wait(100);
	CU_ASSERT_EQUAL(tf_nout(&f), 1);
	end();
}

/* ---- timers ------------------------------------------------------------------------------------- */

static void unanswered_data_is_repeated_and_given_up(void)
{
	up(PLAIN "retries=3; rto_init=1s");
	ack(0, 60000);
	push(0, 10);
	wait(60000);
	CU_ASSERT_EQUAL(tf_nout(&f), 4);
	for (int i = 1; i < 4; i++)
		holds(i, 0, 10);
	CU_ASSERT_EQUAL(tf_state(s), TCP_S_CLOSED);
	CU_ASSERT_EQUAL(tf_events(XK_STREAM_FAILED), 1);
	CU_ASSERT_EQUAL(tf_app.event[tf_app.nevents - 1].err, XK_E_TIMEDOUT);
	tf_close(&f, s);
	down();
}

static void the_users_patience_ends_it_earlier(void)
{
	up(PLAIN "user_timeout=5s");
	ack(0, 60000);
	push(0, 10);
	wait(4900);
	CU_ASSERT_EQUAL(tf_state(s), TCP_S_ESTABLISHED);
	wait(200);
	CU_ASSERT_EQUAL(tf_state(s), TCP_S_CLOSED);
	tf_close(&f, s);
	down();
}

static void keepalives_find_out_that_the_peer_has_gone(void)
{
	up(PLAIN "keepalive=true; keep_idle=10s; keep_interval=1s; keep_count=3");
	wait(9900);
	CU_ASSERT_EQUAL(tf_nout(&f), 0);
	wait(200);
	CU_ASSERT_EQUAL(tf_nout(&f), 1);
	CU_ASSERT_EQUAL(tf_out(&f, 0).seq, sa.seq);
	CU_ASSERT_EQUAL(tf_out(&f, 0).len, 0);
	ack(0, 60000);
	wait(9500);
	CU_ASSERT_EQUAL(tf_nout(&f), 1);
	wait(6000);
	CU_ASSERT_EQUAL(tf_state(s), TCP_S_CLOSED);
	CU_ASSERT(tf_out(&f, -1).flags & TCP_RST);
	tf_close(&f, s);
	down();
}

/* RFC 5482: the patience counts, not the number of probes. */
static void with_a_user_timeout_keepalives_go_on_as_long_as_that(void)
{
	up(PLAIN "keepalive=true; keep_idle=10s; keep_interval=1s; keep_count=1; user_timeout=15s");
	wait(14500);
	CU_ASSERT_EQUAL(tf_nout(&f), 5);
	CU_ASSERT_EQUAL(tf_state(s), TCP_S_ESTABLISHED);
	wait(1000);
	CU_ASSERT_EQUAL(tf_state(s), TCP_S_CLOSED);
	CU_ASSERT_EQUAL(tf_app.event[tf_app.nevents - 1].err, XK_E_TIMEDOUT);
	tf_close(&f, s);
	down();
}

/* What is under way has timers of its own: no probe beside it, and none for as long
 * again after it. */
static void no_keepalive_is_sent_while_data_is_under_way(void)
{
	up(PLAIN "keepalive=true; keep_idle=10s; keep_interval=1s; keep_count=3; rto_init=60s; rto_min=60s; rto_max=1h");
	ack(0, 60000);
	wait(5000);
	push(0, 10);
	wait(20000);
	CU_ASSERT_EQUAL(tf_nout(&f), 1);
	CU_ASSERT_EQUAL(pf_count(&f, "tcp", "keepalives"), 0);
	ack(10, 60000);
	wait(9000);
	CU_ASSERT_EQUAL(pf_count(&f, "tcp", "keepalives"), 0);
	wait(3000);
	CU_ASSERT(pf_count(&f, "tcp", "keepalives") > 0);
	end();
}

/* RFC 8985 7: the last segment of a flight is lost. */
static void a_lost_tail_is_probed_before_the_timeout(void)
{
	static uint8_t opt[40];
	uint32_t n = tf_syn_opts(opt, 536, true, NULL, -1);
	struct tf_out o;

	tf_up1(&f, "timestamps=false; use_wscale=false; ecn=false; rto_init=1s");
	tf_listen(&f);
	tf_in(&f, &(struct tf_seg){ .sport = TF_PEER_PORT, .seq = 1000, .flags = TCP_SYN, .wnd = 60000, .opt = opt, .nopt = n });
	sa = tf_out(&f, -1);
	wait(10);
	tf_in(&f, &(struct tf_seg){ .sport = TF_PEER_PORT, .seq = 1001, .ack = sa.seq + 1, .flags = TCP_ACK, .wnd = 60000 });
	s = tf_app.kept[0];
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	CU_ASSERT(cb()->flags & TCP_F_SACK);
	push(0, 536 * 3);
	tf_forget(&f);
	wait(10);
	ack(536, 60000);
	wait(60);                        /* well before the timeout of 200 ms */
	CU_ASSERT_EQUAL(tf_nout(&f), 1);
	o = tf_out(&f, 0);
	CU_ASSERT_EQUAL(o.seq, sa.seq + 1 + 1072);
	CU_ASSERT_EQUAL(o.len, 536);
	CU_ASSERT_EQUAL(pf_count(&f, "tcp", "tail_loss_probes"), 1);
	end();
}

/* RFC 3168: new data is ECN-capable, what is repeated and bare ACKs are not; the
 * peer's echo is answered by CWR on the next new data. */
static void new_data_alone_is_ecn_capable(void)
{
	const uint8_t *ip;

	tf_up1(&f, "timestamps=false; sack=false; use_wscale=false; quick_acks=0; ecn=true");
	tf_listen(&f);
	tf_in(&f, &(struct tf_seg){ .sport = TF_PEER_PORT, .seq = 1000, .flags = TCP_SYN | TCP_ECE | TCP_CWR });
	sa = tf_out(&f, -1);
	CU_ASSERT_EQUAL(sa.flags, TCP_SYN | TCP_ACK | TCP_ECE);
	ip = pf_pushed(&f, "hl", pf_npushed(&f, "hl") - 1)->bytes;
	CU_ASSERT_EQUAL(ip[1] & 3, 0);
	tf_in(&f, &(struct tf_seg){ .sport = TF_PEER_PORT, .seq = 1001, .ack = sa.seq + 1, .flags = TCP_ACK });
	s = tf_app.kept[0];
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	CU_ASSERT(cb()->flags & TCP_F_ECN);
	tf_forget(&f);
	push(0, 600);
	CU_ASSERT_EQUAL(tf_nout(&f), 2);
	CU_ASSERT_EQUAL(pf_pushed(&f, "hl", 0)->bytes[1] & 3, 2);
	CU_ASSERT_EQUAL(pf_pushed(&f, "hl", 1)->bytes[1] & 3, 2);
	wait(300);                       /* again: not capable */
	CU_ASSERT_EQUAL(tf_nout(&f), 3);
	CU_ASSERT_EQUAL(pf_pushed(&f, "hl", 2)->bytes[1] & 3, 0);
	data(0, bytes, 10);
	wait(100);
	CU_ASSERT_EQUAL(pf_pushed(&f, "hl", 3)->bytes[1] & 3, 0);
	tf_in(&f, &(struct tf_seg){ .sport = TF_PEER_PORT, .seq = 1011, .ack = sa.seq + 1 + 600, .flags = TCP_ACK });
	tf_forget(&f);
	push(600, 1);
	tf_in(&f, &(struct tf_seg){ .sport = TF_PEER_PORT, .seq = 1011, .ack = sa.seq + 1 + 601,
				    .flags = TCP_ACK | TCP_ECE });
	push(601, 1);
	CU_ASSERT_EQUAL(tf_nout(&f), 2);
	CU_ASSERT(tf_out(&f, 1).flags & TCP_CWR);
	end();
}

/* ---- promises ------------------------------------------------------------------------------------- */

static void room_is_told_when_it_comes_back(void)
{
	uint32_t room = 1;

	up(PLAIN "snd_buf=4KiB");
	ack(0, 1000);
	push(0, 4096);
	CU_ASSERT_EQUAL(tf_control(&f, s, XK_STREAM_ROOM, &room, sizeof room), 4);
	CU_ASSERT_EQUAL(room, 0);
	ack(536, 60000);
	CU_ASSERT_EQUAL(tf_events(XK_STREAM_WRITABLE), 0);
	CU_ASSERT_EQUAL(tf_control(&f, s, XK_STREAM_DRAIN, NULL, 0), 0);
	ack(536 * 3, 60000);
	CU_ASSERT_EQUAL(tf_events(XK_STREAM_WRITABLE), 1);
	CU_ASSERT_EQUAL(tf_events(XK_STREAM_DRAINED), 0);
	ack(4096, 60000);
	CU_ASSERT_EQUAL(tf_events(XK_STREAM_WRITABLE), 1);
	CU_ASSERT_EQUAL(tf_events(XK_STREAM_DRAINED), 1);
	end();
}

static void a_push_without_room_ends_the_connection(void)
{
	up(PLAIN "snd_buf=4KiB");
	push(0, 8192);                   /* taken whole */
	CU_ASSERT_EQUAL(cb()->sq.bytes, 8192);
	push(8192, 1);
	CU_ASSERT_EQUAL(tf_state(s), TCP_S_CLOSED);
	CU_ASSERT_EQUAL(pf_drops(&f, "tcp", "push_without_room"), 1);
	CU_ASSERT(tf_out(&f, -1).flags & TCP_RST);
	CU_ASSERT_EQUAL(tf_events(XK_STREAM_FAILED), 1);
	push(0, 10);
	CU_ASSERT_EQUAL(pf_drops(&f, "tcp", "push_after_end"), 1);
	tf_close(&f, s);
	down();
}

static void urgent_data_is_pointed_at_from_behind(void)
{
	struct tf_out o;

	up(PLAIN);
	ack(0, 60000);
	push(0, 5);
	push(5, 5);
	CU_ASSERT_EQUAL(tf_control(&f, s, TCP_CTL_URGENT, NULL, 0), 0);
	ack(5, 60000);
	o = tf_out(&f, -1);
	CU_ASSERT(o.flags & TCP_URG);
	CU_ASSERT_EQUAL(o.len, 5);
	CU_ASSERT_EQUAL(o.urp, 5);
	end();
}

/* Bytes that a peer has without a hole. */
static uint32_t arrived(void)
{
	uint32_t n = 0;

	for (unsigned i = 0; i < tf_nout(&f); i++) {
		struct tf_out o = tf_out(&f, (int)i);
		uint32_t at = o.seq - (sa.seq + 1);

		if (o.len != 0 && at <= n && at + o.len > n)
			n = at + o.len;
	}
	return n;
}

/* Every buffer that is taken, in turn, is not there: the bytes arrive all the same. */
static void without_memory_a_segment_is_only_late(void)
{
	for (unsigned k = 1; k < 6; k++) {
		up(PLAIN);
		ack(0, 60000);
		push(0, 0);
		pf_enter(&f, 0);
		{
			struct xk_msg *m = pf_msg(bytes, 1200);

			xk_memvp_starve(xk_mem_self, true);
			xk_mem_fail_after(k);
			xk_push(s, m);
			xk_mem_fail_after(0);
			xk_memvp_starve(xk_mem_self, false);
		}
		pf_leave(&f, 0);
		for (unsigned i = 0; i < 10; i++) {
			ack(arrived(), 60000);
			wait(2000);
		}
		CU_ASSERT_EQUAL(arrived(), 1200);
		CU_ASSERT_EQUAL(cb()->sq.bytes, 0);
		end();
	}
}

int main(void)
{
	static CU_TestInfo tests[] = {
#define T(t) { #t, t }
		T(a_long_push_leaves_in_full_segments_and_a_rest_with_psh),
		T(what_more_follows_has_no_psh_and_is_not_cut_short), T(no_deadline_is_missed_when_the_clock_jumps),
		T(what_was_to_follow_and_does_not_is_no_reason_to_wait),
		T(a_small_segment_waits_for_another_one),
		T(nodelay_sends_at_once),
		T(a_cork_keeps_all_but_full_segments),
		T(the_fin_rides_on_the_last_data),
		T(a_lost_fin_is_sent_again),
		T(no_byte_leaves_beyond_the_window),
		T(a_closed_window_is_probed_and_opens_again),
		T(a_tiny_window_is_not_filled_at_once_but_in_the_end),
		T(our_window_never_shrinks_and_opens_in_steps_worth_it),
		T(every_second_full_segment_is_acknowledged_and_a_single_one_later),
		T(a_long_segment_counts_as_several),
		T(data_of_ours_carries_the_acknowledgement),
		T(unanswered_data_is_repeated_and_given_up),
		T(the_users_patience_ends_it_earlier),
		T(keepalives_find_out_that_the_peer_has_gone),
		T(with_a_user_timeout_keepalives_go_on_as_long_as_that),
		T(no_keepalive_is_sent_while_data_is_under_way),
		T(a_lost_tail_is_probed_before_the_timeout),
		T(new_data_alone_is_ecn_capable),
		T(room_is_told_when_it_comes_back),
		T(a_push_without_room_ends_the_connection),
		T(urgent_data_is_pointed_at_from_behind),
		T(without_memory_a_segment_is_only_late),
		CU_TEST_INFO_NULL,
	};
	CU_SuiteInfo suites[] = { { "tcp output", NULL, NULL, NULL, NULL, tests }, CU_SUITE_INFO_NULL };

	return xk_test_main(suites);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_tcp_idle.c - idle connections: when they give their working memory back, what
 * is true of them meanwhile, what wakes them, and when there is no memory to wake.
 *
 * A connection at rest must say and do what it would say and do awake, so most tests
 * run the same exchange with parameter rest and without, and compare.
 */
#include <stdio.h>
#include <string.h>

#include "tests/protocols/tcp_fixture.h"
#include "tests/support/xk_test.h"
#include "runtime/upi/xk_inline.h"

static struct pf f;
static struct xk_sess *s;
static struct tf_out sa;

#define PLAIN "timestamps=false; sack=false; use_wscale=false; ecn=false; quick_acks=0; "

static void up(const char *tcp)
{
	s = tf_up_accepted(&f, tcp, &sa);
}

/* An accepted one at rest. */
static void up_at_rest(void)
{
	s = tf_up_accepted(&f, "", &sa);
	pf_run(&f, 1100 * XK_MS);
	CU_ASSERT(tcp_is_compressed(tcp_sess(s)));
}

static void end(void) { tf_down_reset(&f, s); }

static bool rests(void) { return tcp_is_compressed(tcp_sess(s)); }
static void wait(uint32_t ms) { pf_run(&f, (xk_ns)ms * XK_MS); }
/* Blocks in use: one is what those without memory share. */
static uint32_t blocks(void) { return tcp_rep(s->rep)->live_slab.live - 1; }

static void data(uint32_t at, const void *p, uint32_t n, uint32_t acked)
{
	tf_in(&f, &(struct tf_seg){ .sport = TF_PEER_PORT, .seq = 1001 + at, .ack = sa.seq + 1 + acked,
				    .flags = TCP_ACK | TCP_PSH, .wnd = 60000, .data = p, .len = n });
}

static struct tcp_snapshot info(void)
{
	struct tcp_snapshot i;

	memset(&i, 0, sizeof i);
	CU_ASSERT_EQUAL(tf_control(&f, s, TCP_CTL_INFO, &i, sizeof i), (int)sizeof i);
	return i;
}

/* ---- when -------------------------------------------------------------------------- */

static void a_new_connection_rests_when_nothing_is_said(void)
{
	up("");
	CU_ASSERT(!rests() && blocks() == 1);
	wait(1100);
	CU_ASSERT(rests() && blocks() == 0);
	CU_ASSERT_EQUAL(tf_state(s), TCP_S_ESTABLISHED);
	CU_ASSERT_EQUAL(tf_states(&f, TCP_S_ESTABLISHED), 1);
	CU_ASSERT_EQUAL(xk_rep_slab(s->rep)->size, sizeof(struct xk_sess));
	CU_ASSERT_EQUAL(tcp_rep(s->rep)->idle_slab.live, 1);
	CU_ASSERT_EQUAL(tcp_rep(s->rep)->idle_slab.size, XK_CACHELINE / 2);
	end();
}

/* The oldest of those that are new need not wait for its time when too many come. */
static void new_ones_keep_little_memory_together(void)
{
	tf_up1(&f, "idle_compress=60s");
	tf_listen(&f);
	tf_app.keep_most = XK_ARRAY_LEN(tf_app.kept);
	for (unsigned i = 0; i < TCP_FRESH + 10; i++) {
		s = tf_accept(&f, (uint16_t)(TF_PEER_PORT + i), &sa);
		CU_ASSERT_EQUAL(blocks(), i < TCP_FRESH ? i + 1 : TCP_FRESH);
	}
	for (unsigned i = 0; i < TCP_FRESH + 10; i++)
		CU_ASSERT_EQUAL(tcp_is_compressed(tcp_sess(tf_app.kept[i])), i < 10);
	/* One that ends is not waited for, and leaves its place. */
	tf_control(&f, tf_app.kept[10], XK_STREAM_ABORT, NULL, 0);
	CU_ASSERT_EQUAL(tcp_rep(s->rep)->fresh_n, TCP_FRESH - 1);
	wait(61000);
	CU_ASSERT(tcp_rep(s->rep)->fresh_n == 0 && blocks() == 1);      /* the aborted one's, which is held */
	for (unsigned i = 0; i < TCP_FRESH + 10; i++)
		tf_close(&f, tf_app.kept[i]);
	tf_down(&f);
}

/* What was said to one that is new starts its own timer. */
static void a_new_one_that_was_spoken_to_rests_later(void)
{
	up("idle_compress=500ms");
	wait(300);
	data(0, "hello", 5, 0);
	wait(300);
	CU_ASSERT(!rests());
	wait(600);
	CU_ASSERT(rests() && blocks() == 0);
	end();
}

static void silence_brings_it_to_rest_and_the_next_segment_wakes_it(void)
{
	up("idle_compress=500ms");
	data(0, "hello", 5, 0);
	CU_ASSERT(!rests() && blocks() == 1);
	wait(450);
	CU_ASSERT(!rests());
	wait(200);
	CU_ASSERT(rests() && blocks() == 0);
	data(5, " world", 6, 0);
	CU_ASSERT(!rests() && blocks() == 1);
	CU_ASSERT(tf_app.ngot == 11 && memcmp(tf_app.got, "hello world", 11) == 0);
	wait(1100);
	CU_ASSERT(rests());
	end();
}

static void what_is_sent_wakes_it_and_it_rests_when_all_is_acknowledged(void)
{
	up(PLAIN "idle_compress=500ms; rto_min=200ms");
	wait(2000);
	tf_push(&f, s, "abc", 3);
	CU_ASSERT(!rests());
	CU_ASSERT_EQUAL(tf_nout(&f), 1);
	CU_ASSERT(tf_out(&f, 0).seq == sa.seq + 1 && tf_out(&f, 0).len == 3);
	wait(5000);
	/* Nobody has acknowledged it. */
	CU_ASSERT(!rests() && tf_nout(&f) > 1);
	data(0, NULL, 0, 3);
	wait(20000);                     /* the wheel's timer still stands where the next repetition was due */
	CU_ASSERT(rests());
	tf_forget(&f);
	tf_push(&f, s, "def", 3);
	CU_ASSERT(tf_out(&f, 0).seq == sa.seq + 4 && tf_out(&f, 0).ack == 1001);
	data(0, NULL, 0, 6);
	end();
}

static void one_that_was_opened_here_rests_too(void)
{
	struct tf_out syn;

	tf_up1(&f, "idle_compress=300ms");
	tf_listen(&f);
	s = tf_connect(&f, &syn);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	wait(2500);
	CU_ASSERT(rests() && blocks() == 0);
	tf_forget(&f);
	tf_push(&f, s, "x", 1);
	CU_ASSERT(tf_nout(&f) == 1 && tf_out(&f, 0).seq == syn.seq + 1 && tf_out(&f, 0).ack == 5001);
	end();
}

static void what_holds_something_back_keeps_its_memory(void)
{
	uint32_t on = 1, n = 5;

	up("idle_compress=300ms");
	tf_control(&f, s, XK_STREAM_MANUAL, &on, sizeof on);
	data(0, "hello", 5, 0);
	wait(3000);
	CU_ASSERT(!rests());             /* five bytes are not taken */
	tf_control(&f, s, XK_STREAM_TAKEN, &n, sizeof n);
	wait(700);
	CU_ASSERT(rests());
	data(10, "later", 5, 0);         /* a hole */
	wait(3000);
	CU_ASSERT(!rests());
	data(5, "there", 5, 0);
	wait(3000);
	CU_ASSERT(!rests());             /* ten more to take */
	n = 10;
	tf_control(&f, s, XK_STREAM_TAKEN, &n, sizeof n);
	wait(700);
	CU_ASSERT(rests());
	end();
}

static void what_is_not_as_the_node_has_it_keeps_its_memory(void)
{
	struct tcp_keepalive k = { .on = 1, .idle_ms = 100000 };
	uint32_t v = 123456;

	up("idle_compress=300ms");
	tf_control(&f, s, TCP_CTL_KEEPALIVE, &k, sizeof k);
	wait(3000);
	CU_ASSERT(!rests());
	end();
	up("idle_compress=300ms");
	tf_control(&f, s, TCP_CTL_RCVBUF, &v, sizeof v);
	wait(3000);
	CU_ASSERT(!rests() && info().rcv_buf == v);
	end();
	up("idle_compress=300ms");
	tf_control(&f, s, TCP_CTL_USER_TIMEOUT, &v, sizeof v);
	wait(3000);
	CU_ASSERT(!rests());
	end();
	up("idle_compress=0s");
	wait(3000);
	CU_ASSERT(!rests());
	end();
}

/* ---- what is true of it -------------------------------------------------------------------- */

/* Bytes both ways, losses, then silence; what it says of itself afterwards. */
static struct tcp_snapshot told(const char *tcp, bool want)
{
	static const uint8_t some[500];
	struct tcp_snapshot i;

	up(tcp);
	for (unsigned k = 0; k < 3; k++) {
		data(k * 100, some, 100, k * 500);
		tf_push(&f, s, some, sizeof some);
		wait(k == 1 ? 700 : 30);         /* one timeout */
		data((k + 1) * 100, NULL, 0, (k + 1) * 500);
		wait(4000);
	}
	CU_ASSERT_EQUAL(rests(), want);
	i = info();
	CU_ASSERT_EQUAL(rests(), want);  /* asking does not wake it */
	end();
	return i;
}

static void compare(const char *a, const char *b)
{
	struct tcp_snapshot x = told(a, true), y = told(b, false);

	CU_ASSERT_EQUAL(x.bytes_acked, 1500);
	CU_ASSERT_EQUAL(x.bytes_received, 300);
	CU_ASSERT(x.retransmits != 0);
	x.iss = y.iss = 0;               /* a secret of each graph, and what counts from it */
	x.snd_una = y.snd_una = x.snd_nxt = y.snd_nxt = 0;
	CU_ASSERT(memcmp(&x, &y, sizeof x) == 0);
}

static void it_says_of_itself_what_it_would_say_awake(void)
{
	compare(PLAIN "idle_compress=1s", PLAIN "idle_compress=0s");
	compare(PLAIN "idle_compress=200ms; cc=reno", PLAIN "idle_compress=0s; cc=reno");
	compare(PLAIN "idle_compress=1s; whole_buffers=true; rcv_buf=50000; snd_buf=70001",
		PLAIN "idle_compress=0s; whole_buffers=true; rcv_buf=50000; snd_buf=70001");
}

static void timestamps_and_options_outlive_it(void)
{
	uint8_t o[40];
	uint32_t ts = 777, n = tf_syn_opts(o, 1000, true, &ts, 3);

	tf_up1(&f, "idle_compress=200ms; quick_acks=0");
	tf_listen(&f);
	tf_in(&f, &(struct tf_seg){ .sport = TF_PEER_PORT, .seq = 1000, .flags = TCP_SYN, .wnd = 8000, .opt = o, .nopt = n });
	sa = tf_out(&f, -1);
	n = tf_ts_opts(o, 778, sa.tsval);
	tf_in(&f, &(struct tf_seg){ .sport = TF_PEER_PORT, .seq = 1001, .ack = sa.seq + 1, .flags = TCP_ACK, .wnd = 8000,
				    .opt = o, .nopt = n });
	CU_ASSERT_EQUAL_FATAL(tf_app.nkept, 1);
	s = tf_app.kept[0];
	tf_push(&f, s, "w", 1);
	CU_ASSERT(tf_out(&f, -1).ts && tf_out(&f, -1).tsval - sa.tsval < 20);    /* the SYN-ACK's clock */
	n = tf_ts_opts(o, 778, sa.tsval);
	tf_in(&f, &(struct tf_seg){ .sport = TF_PEER_PORT, .seq = 1001, .ack = sa.seq + 2, .flags = TCP_ACK, .wnd = 8000,
				    .opt = o, .nopt = n });
	wait(5000);
	CU_ASSERT(rests() && info().snd_wnd == 64000 && info().timestamps && info().sack && info().rmss == 1000);
	tf_forget(&f);
	tf_push(&f, s, "x", 1);
	CU_ASSERT(tf_out(&f, 0).ts && tf_out(&f, 0).tsecr == 778);
	CU_ASSERT(tf_out(&f, 0).tsval - sa.tsval - 4990 < 20);
	/* Older than what it knows: PAWS. */
	n = tf_ts_opts(o, 700, sa.tsval);
	tf_in(&f, &(struct tf_seg){ .sport = TF_PEER_PORT, .seq = 1001, .ack = sa.seq + 2, .flags = TCP_ACK, .wnd = 8000,
				    .opt = o, .nopt = n, .data = "y", .len = 1 });
	CU_ASSERT_EQUAL(tf_app.ngot, 0);
	end();
}

static void the_end_wakes_it(void)
{
	up_at_rest();
	tf_close(&f, s);
	CU_ASSERT_EQUAL(tf_nout(&f), 1);
	CU_ASSERT(tf_out(&f, 0).flags & TCP_FIN);
	tf_down(&f);
	up_at_rest();
	tf_control(&f, s, XK_STREAM_ABORT, NULL, 0);
	CU_ASSERT_EQUAL(tf_nout(&f), 1);
	CU_ASSERT(tf_out(&f, 0).flags & TCP_RST);
	tf_close(&f, s);
	tf_down(&f);
	up("");
	tf_in(&f, &(struct tf_seg){ .sport = TF_PEER_PORT, .seq = 1001, .ack = sa.seq + 1, .flags = TCP_RST | TCP_ACK });
	CU_ASSERT_EQUAL(tf_events(XK_STREAM_FAILED), 1);
	tf_close(&f, s);
	tf_down(&f);
}

/* ---- no memory ------------------------------------------------------------------------------- */

/* The next block that is asked for is not to be had. */
static void no_block(void)
{
	pf_enter(&f, 0);
	xk_mem_fail_after(1);
	pf_leave(&f, 0);
}

static void a_segment_that_finds_no_memory_is_lost_and_comes_again(void)
{
	up_at_rest();
	tf_app.ngot = 0;
	for (uint64_t k = 1; k < 12 && tf_app.ngot == 0; k++) {
		pf_enter(&f, 0);
		xk_mem_fail_after(k);
		pf_leave(&f, 0);
		data(0, "again", 5, 0);
		xk_mem_fail_after(0);
		if (tf_app.ngot == 0)
			CU_ASSERT(rests());
	}
	CU_ASSERT(tf_app.ngot == 5 && memcmp(tf_app.got, "again", 5) == 0);
	CU_ASSERT_EQUAL(tf_events(XK_STREAM_FAILED), 0);
	end();
}

static void bytes_that_find_no_memory_end_the_connection(void)
{
	struct xk_msg *m;
	int32_t err = 0;

	up_at_rest();
	pf_enter(&f, 0);
	m = xk_msg_new(4);
	CU_ASSERT_PTR_NOT_NULL_FATAL(m);
	pf_leave(&f, 0);
	no_block();
	pf_enter(&f, 0);
	xk_push(s, m);
	pf_leave(&f, 0);
	xk_mem_fail_after(0);
	pf_settle(&f);
	CU_ASSERT(!rests());
	CU_ASSERT_EQUAL(tf_state(s), TCP_S_CLOSED);
	CU_ASSERT_EQUAL(tf_events(XK_STREAM_FAILED), 1);
	CU_ASSERT_EQUAL(tf_control(&f, s, XK_STREAM_ERRNO, &err, sizeof err), (int)sizeof err);
	CU_ASSERT_EQUAL(err, XK_E_NOMEM);
	CU_ASSERT(tf_nout(&f) == 1 && (tf_out(&f, 0).flags & TCP_RST));
	CU_ASSERT_EQUAL(blocks(), 0);
	tf_close(&f, s);
	tf_down(&f);
}

static void a_close_that_finds_no_memory_resets(void)
{
	up_at_rest();
	no_block();
	pf_enter(&f, 0);
	xk_close(s);
	pf_leave(&f, 0);
	xk_mem_fail_after(0);
	pf_settle(&f);
	CU_ASSERT(tf_nout(&f) == 1 && (tf_out(&f, 0).flags & TCP_RST));
	CU_ASSERT_EQUAL(tf_states(&f, TCP_S_ESTABLISHED), 0);
	tf_down(&f);
}

/* ---- what is kept is kept to the last bit ---------------------------------------------------- */

#define MAY_BE_SET (TCP_F_TOLD_OPEN | TCP_F_TS | TCP_F_SACK | TCP_F_WSCALE | TCP_F_ECN | TCP_F_ECE | TCP_F_CWR | \
		    TCP_F_NODELAY | TCP_F_CORK | TCP_F_MANUAL | TCP_F_RST_CLOSE | TCP_F_PMTU | TCP_F_PASSIVE)

static struct xk_rand dice;
static uint32_t below(uint64_t n) { return (uint32_t)xk_rand_below(&dice, n); }
/* As a header told it. */
static uint32_t window(const struct tcp_cb *cb) { return below(1 << 16) << (below(2) != 0 ? cb->snd_wscale : 0); }

static void any_sending(struct tcp_cb *cb)
{
	cb->snd_wscale = (uint8_t)below(15);
	cb->snd_wnd = window(cb);
	cb->max_wnd = window(cb);
	cb->snd_una = cb->snd_nxt = cb->snd_max = cb->snd_end = cb->snd_wl2 = below(UINT64_C(1) << 32);
	cb->bytes_acked = below(UINT64_C(1) << 32);
	cb->iss = cb->snd_una - 1 - (uint32_t)cb->bytes_acked;
	cb->recover = cb->snd_una - below(2);
	cb->cwnd = below((1u << 30) + 1);
	cb->ssthresh = below(2) != 0 ? TCP_CWND_MAX : below(1u << 30);
	cb->srtt = 1 + below((1u << 28) - 1);
	cb->rttvar = below(1u << 28);
	cb->rto = tcp_rto_of(cb);
	cb->backoff = (uint8_t)below(16);
	cb->peer_mss = (uint16_t)(100 + below(65000));
	cb->path_mss = (uint16_t)(100 + below(65000));
	cb->rack_reordering = below(2) != 0;
	cb->rack_reo_mult = (uint8_t)below(256);
	cb->rack_persist = (uint8_t)below(17);
	cb->segs_out = below(1 << 24);
	cb->retransmits = below(1 << 16);
}

static void any_receiving(struct tcp_cb *cb)
{
	cb->rcv_wscale = (uint8_t)below(15);
	cb->rcv_nxt = cb->rcv_acked = below(UINT64_C(1) << 32);
	cb->rcv_adv = cb->rcv_nxt + below(1u << 30);
	cb->snd_wl1 = cb->rcv_nxt - below(2);
	cb->bytes_received = below(UINT64_C(1) << 32);
	cb->irs = cb->rcv_nxt - 1 - (uint32_t)cb->bytes_received;
	cb->quick = (uint8_t)below(256);
	cb->ts_recent = below(UINT64_C(1) << 32);
	cb->ts_recent_at = below(1 << 16) << 16;
	cb->segs_in = below(1 << 24);
	cb->flags = below(UINT64_C(1) << 32) & MAY_BE_SET;
}

/* So many of those that are kept differ. */
static unsigned differs(const struct tcp_cb *a, const struct tcp_cb *b)
{
#define IS(x) + (a->x != b->x)
	return 0 IS(snd_wscale) IS(snd_wnd) IS(max_wnd) IS(snd_una) IS(snd_nxt) IS(snd_max) IS(snd_end) IS(snd_wl1) IS(snd_wl2)
		IS(bytes_acked) IS(iss) IS(recover) IS(cwnd) IS(ssthresh) IS(srtt) IS(rttvar) IS(rto) IS(backoff) IS(peer_mss)
		IS(path_mss) IS(rack_reordering) IS(rack_reo_mult) IS(rack_persist) IS(segs_out) IS(retransmits)
		IS(rcv_wscale) IS(rcv_nxt) IS(rcv_acked) IS(rcv_adv) IS(bytes_received) IS(irs) IS(quick) IS(ts_recent)
		IS(ts_recent_at) IS(segs_in) IS(flags) IS(idle_since) IS(rcv_buf) IS(snd_buf) IS(ts_off) IS(state);
#undef IS
}

static void all_that_is_kept_is_kept_to_the_last_bit(void)
{
	struct tcp_sess *ts;
	struct tcp_cb was;
	unsigned bad = 0;

	xk_rand_init(&dice, 11, 11);
	up("idle_compress=60s");
	ts = tcp_sess(s);
	wait(61000);
	CU_ASSERT_TRUE_FATAL(rests());
	pf_enter(&f, 0);
	for (unsigned i = 0; i < 1000; i++) {
		CU_ASSERT_TRUE_FATAL(tcp_wake(ts));
		any_sending(tcp_cb(ts));
		any_receiving(tcp_cb(ts));
		was = *tcp_cb(ts);
		tcp_idle_look(ts);
		CU_ASSERT_TRUE_FATAL(tcp_is_compressed(ts));
		CU_ASSERT_TRUE_FATAL(tcp_wake(ts));
		bad += differs(tcp_cb(ts), &was) != 0 || was.cc->keep(&was) != tcp_cb(ts)->cc->keep(tcp_cb(ts));
		tcp_idle_look(ts);
	}
	CU_ASSERT_EQUAL(bad, 0);
	CU_ASSERT_EQUAL(tcp_rep(s->rep)->idle_slab.live, 1);
	pf_leave(&f, 0);
	end();
}

/* What no header tells, and a round trip of minutes, keep the block. */
static void what_has_no_room_keeps_its_memory(void)
{
	struct tcp_sess *ts;
	struct tcp_cb *cb;

	up_at_rest();
	ts = tcp_sess(s);
	pf_enter(&f, 0);
	CU_ASSERT_TRUE_FATAL(tcp_wake(ts));
	cb = tcp_cb(ts);
	cb->srtt += 1u << 28;
	tcp_idle_look(ts);
	CU_ASSERT(!rests());
	cb->srtt -= 1u << 28;
	cb->snd_wscale = 3;
	cb->snd_wnd = (1u << 18) + 1;
	tcp_idle_look(ts);
	CU_ASSERT(!rests());
	cb->snd_wnd = 1u << 18;
	cb->rcv_adv = cb->rcv_nxt - 1;
	tcp_idle_look(ts);
	CU_ASSERT(!rests());
	cb->rcv_adv = cb->rcv_nxt + 1;
	tcp_idle_look(ts);
	CU_ASSERT(rests());
	pf_leave(&f, 0);
	end();
}

static void without_half_a_line_it_stays_awake_until_there_is_one(void)
{
	up("idle_compress=500ms");
	xk_mem_fail_from(1);
	wait(600);
	CU_ASSERT(!rests() && blocks() == 1);
	xk_mem_fail_after(0);
	wait(600);
	CU_ASSERT(rests() && blocks() == 0);
	end();
}

int main(void)
{
	static CU_TestInfo tests[] = {
#define T(t) { #t, t }
		T(a_new_connection_rests_when_nothing_is_said),
		T(new_ones_keep_little_memory_together),
		T(a_new_one_that_was_spoken_to_rests_later),
		T(silence_brings_it_to_rest_and_the_next_segment_wakes_it),
		T(what_is_sent_wakes_it_and_it_rests_when_all_is_acknowledged),
		T(one_that_was_opened_here_rests_too),
		T(what_holds_something_back_keeps_its_memory),
		T(what_is_not_as_the_node_has_it_keeps_its_memory),
		T(it_says_of_itself_what_it_would_say_awake),
		T(timestamps_and_options_outlive_it),
		T(the_end_wakes_it),
		T(a_segment_that_finds_no_memory_is_lost_and_comes_again),
		T(bytes_that_find_no_memory_end_the_connection),
		T(a_close_that_finds_no_memory_resets),
		T(all_that_is_kept_is_kept_to_the_last_bit),
		T(what_has_no_room_keeps_its_memory),
		T(without_half_a_line_it_stays_awake_until_there_is_one),
		CU_TEST_INFO_NULL,
	};
	CU_SuiteInfo suites[] = { { "tcp rest", NULL, NULL, NULL, NULL, tests }, CU_SUITE_INFO_NULL };

	return xk_test_main(suites);
}

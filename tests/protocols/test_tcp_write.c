/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_tcp_write.c - bytes written into a stream: cut at full segments, joined to what waits,
 * fewer than asked for where room or memory ends; byte by byte on the wire.
 */
#include <stdlib.h>
#include <string.h>

#include "protocols/stream/stream_app.h"
#include "tests/protocols/tcp_fixture.h"
#include "tests/support/xk_test.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_inline.h"

static struct pf f;
static uint8_t bytes[1 << 17];
static struct xk_sess *s;
static struct tf_out sa;                 /* our SYN-ACK */

/* No options: mss 536. */
#define PLAIN "timestamps=false; sack=false; use_wscale=false; ecn=false; quick_acks=0; "

static void fill_bytes(void)
{
	for (uint32_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t)(i * 7 + i / 256);
}

static void up(const char *tcp)
{
	fill_bytes();
	s = tf_up_accepted(&f, tcp, &sa);
}

static void end(void) { tf_down_reset(&f, s); }

static struct tcp_cb *cb(void) { return tcp_cb(tcp_sess(s)); }

/* Bytes [at, at + n); how many were taken. */
static uint32_t writes(uint32_t at, uint32_t n)
{
	uint32_t took;

	pf_enter(&f, 0);
	took = stream_write_some(s, bytes + at, n);
	pf_leave(&f, 0);
	pf_settle(&f);
	return took;
}

static void ack(uint32_t n, uint16_t wnd)
{
	tf_in(&f, &(struct tf_seg){ .sport = TF_PEER_PORT, .seq = 1001, .ack = sa.seq + 1 + n, .flags = TCP_ACK, .wnd = wnd });
}

/* The i-th segment out holds bytes [at, at + n) and these flags. */
static void holds(int i, uint32_t at, uint32_t n, uint16_t flags)
{
	struct tf_out o = tf_out(&f, i);

	CU_ASSERT_EQUAL(o.seq, sa.seq + 1 + at);
	CU_ASSERT_EQUAL(o.flags, flags);
	CU_ASSERT_EQUAL(o.len, n);
	CU_ASSERT(o.len == n && memcmp(o.data, bytes + at, n) == 0);
}

static uint32_t room(void)
{
	uint32_t v = 0xdeadbeef;

	CU_ASSERT_EQUAL(tf_control(&f, s, XK_STREAM_ROOM, &v, sizeof v), 4);
	return v;
}

/* ---- segments ----------------------------------------------------------------------------- */

static void a_long_write_leaves_in_full_segments_and_a_rest_with_psh(void)
{
	up(PLAIN);
	ack(0, 60000);
	CU_ASSERT_EQUAL(writes(0, 1400), 1400);
	CU_ASSERT_EQUAL(tf_nout(&f), 3);
	holds(0, 0, 536, TCP_ACK);
	holds(1, 536, 536, TCP_ACK);
	holds(2, 1072, 328, TCP_ACK | TCP_PSH);
	end();
}

static void what_is_queued_lies_in_buffers_of_whole_segments(void)
{
	unsigned n = 0;

	up(PLAIN);
	ack(0, 60000);
	CU_ASSERT_EQUAL(writes(0, 4000), 4000);
	for (struct xk_msg *m = cb()->sq.first; m != NULL; m = m->link, n++) {
		CU_ASSERT_EQUAL(m->flags & XK_MSG_CHAIN, 0);
		CU_ASSERT_EQUAL(m->flags & XK_MSG_REF, 0);
		CU_ASSERT_EQUAL(m->tot, m->link != NULL ? 536u : 4000 - 7 * 536u);
	}
	CU_ASSERT_EQUAL(n, 8);
	end();
}

static void a_write_that_ends_with_a_segment_has_its_psh_there(void)
{
	up(PLAIN);
	ack(0, 60000);
	CU_ASSERT_EQUAL(writes(0, 1072), 1072);
	CU_ASSERT_EQUAL(tf_nout(&f), 2);
	holds(0, 0, 536, TCP_ACK);
	holds(1, 536, 536, TCP_ACK | TCP_PSH);
	end();
}

/* Nagle: what waits is filled up, across odd joints, and goes when it is full. */
static void small_writes_join_what_waits(void)
{
	uint32_t at = 1;

	up(PLAIN);
	ack(0, 60000);
	CU_ASSERT_EQUAL(writes(0, 1), 1);
	CU_ASSERT_EQUAL(tf_nout(&f), 1);
	for (; at + 77 <= 536; at += 77)
		CU_ASSERT_EQUAL(writes(at, 77), 77);
	CU_ASSERT_EQUAL(tf_nout(&f), 1);
	CU_ASSERT_EQUAL(writes(at, 77), 77);
	CU_ASSERT_EQUAL(tf_nout(&f), 2);
	holds(1, 1, 536, TCP_ACK);
	CU_ASSERT_EQUAL(writes(at + 77, 1000), 1000);
	CU_ASSERT_EQUAL(tf_nout(&f), 3);
	holds(2, 537, 536, TCP_ACK);
	ack(1073, 60000);
	CU_ASSERT_EQUAL(tf_nout(&f), 4);
	holds(3, 1073, at + 1077 - 1073, TCP_ACK | TCP_PSH);
	end();
}

static void what_more_follows_has_no_psh_and_is_not_cut_short(void)
{
	uint32_t v = XK_STREAM_MORE_FOLLOW;

	up(PLAIN);
	ack(0, 60000);
	tf_control(&f, s, XK_STREAM_MORE, &v, sizeof v);
	CU_ASSERT_EQUAL(writes(0, 536), 536);
	CU_ASSERT_EQUAL(writes(536, 836), 836);
	CU_ASSERT_EQUAL(tf_nout(&f), 2);
	holds(0, 0, 536, TCP_ACK);
	holds(1, 536, 536, TCP_ACK);
	v = XK_STREAM_MORE_LAST;
	tf_control(&f, s, XK_STREAM_MORE, &v, sizeof v);
	CU_ASSERT_EQUAL(writes(1372, 100), 100);
	CU_ASSERT_EQUAL(tf_nout(&f), 3);
	holds(2, 1072, 400, TCP_ACK | TCP_PSH);
	end();
}

static void our_end_goes_with_what_was_left(void)
{
	up(PLAIN);
	ack(0, 60000);
	CU_ASSERT_EQUAL(writes(0, 10), 10);
	CU_ASSERT_EQUAL(writes(10, 600), 600);
	CU_ASSERT_EQUAL(tf_nout(&f), 2);
	tf_control(&f, s, XK_STREAM_SHUTDOWN, NULL, 0);
	CU_ASSERT_EQUAL(tf_nout(&f), 3);
	holds(2, 546, 64, TCP_ACK | TCP_PSH | TCP_FIN);
	CU_ASSERT_EQUAL(writes(610, 10), 0);     /* behind our end */
	CU_ASSERT_EQUAL(tf_events(XK_STREAM_FAILED), 0);
	end();
}

/* A message that was pushed is cut by reference; what is written behind it ends its segment. */
static void pushes_and_writes_keep_their_order(void)
{
	up(PLAIN "nagle=false; ");
	ack(0, 1);                       /* so small that nothing but a probe goes */
	tf_push(&f, s, bytes, 700);
	CU_ASSERT_EQUAL(writes(700, 700), 700);
	tf_push(&f, s, bytes + 1400, 20);
	CU_ASSERT_EQUAL(writes(1420, 3), 3);
	tf_forget(&f);
	ack(0, 60000);
	for (unsigned i = 0; i < tf_nout(&f); i++) {
		struct tf_out o = tf_out(&f, (int)i);
		uint32_t at = o.seq - (sa.seq + 1);

		CU_ASSERT(at + o.len <= 1423 && memcmp(o.data, bytes + at, o.len) == 0);
	}
	CU_ASSERT_EQUAL(cb()->snd_max, sa.seq + 1 + 1423);
	end();
}

/* The path takes less than when it was written. */
static void what_was_cut_for_a_longer_segment_is_cut_again(void)
{
	uint32_t v = 512;

	up(PLAIN);
	ack(0, 1);
	CU_ASSERT_EQUAL(writes(0, 1608), 1608);
	tf_forget(&f);
	CU_ASSERT(tf_control(&f, s, TCP_CTL_MAXSEG, &v, sizeof v) >= 0);
	CU_ASSERT_EQUAL(writes(1608, 500), 500);
	ack(0, 60000);
	for (unsigned i = 0; i < tf_nout(&f); i++) {
		struct tf_out o = tf_out(&f, (int)i);
		uint32_t at = o.seq - (sa.seq + 1);

		CU_ASSERT(o.len <= 512);
		CU_ASSERT(at + o.len <= 2108 && memcmp(o.data, bytes + at, o.len) == 0);
	}
	CU_ASSERT_EQUAL(cb()->snd_max, sa.seq + 1 + 2108);
	end();
}

/* ---- room and memory ---------------------------------------------------------------------- */

static void no_room_takes_less_and_room_is_told(void)
{
	up(PLAIN "snd_buf=2KiB; ");
	ack(0, 60000);
	CU_ASSERT_EQUAL(writes(0, 5000), 2048);
	CU_ASSERT_EQUAL(writes(2048, 1), 0);
	CU_ASSERT_EQUAL(tf_events(XK_STREAM_WRITABLE), 0);
	CU_ASSERT_EQUAL(room(), 0);
	ack(2048, 60000);
	CU_ASSERT_EQUAL(tf_events(XK_STREAM_WRITABLE), 1);
	CU_ASSERT_EQUAL(writes(2048, 100), 100);
	CU_ASSERT_EQUAL(tf_events(XK_STREAM_FAILED), 0);
	end();
}

static void memory_that_runs_short_takes_less(void)
{
	uint32_t full = 99 * XK_MEM_FULL / 100, was;
	const uint32_t *fill;

	up(PLAIN);
	ack(0, 60000);
	fill = f.g->vps->vp[0]->mem.fill;
	f.g->vps->vp[0]->mem.fill = &full;
	CU_ASSERT_EQUAL(writes(0, 536), 0);
	full = 76 * XK_MEM_FULL / 100 + 1;
	CU_ASSERT_EQUAL(writes(0, 5000), 536);   /* one segment */
	f.g->vps->vp[0]->mem.fill = fill;
	was = cb()->sq.bytes;
	CU_ASSERT_EQUAL(writes(536, 100), 100);
	CU_ASSERT_EQUAL(cb()->sq.bytes, was + 100);
	pf_run(&f, 100 * XK_MS);
	end();
}

static void without_a_buffer_what_was_taken_is_right(void)
{
	struct xk_memvp *v;
	uint32_t at = 0, n;

	up(PLAIN);
	ack(0, 60000);
	for (unsigned k = 1; k < 8; k++) {
		pf_enter(&f, 0);
		v = xk_mem_self;
		xk_memvp_starve(v, true);
		xk_mem_fail_after(k);
		n = stream_write_some(s, bytes + at, 4000);
		xk_mem_fail_after(0);
		xk_memvp_starve(v, false);
		pf_leave(&f, 0);
		pf_settle(&f);
		CU_ASSERT(n <= 4000);
		at += n;
		CU_ASSERT_EQUAL(cb()->snd_end, sa.seq + 1 + at);
		ack(cb()->snd_max - (sa.seq + 1), 60000);
		pf_run(&f, 2 * XK_SEC);
		ack(at, 60000);
		tf_forget(&f);
	}
	CU_ASSERT(at > 0);
	CU_ASSERT_EQUAL(writes(at, 100), 100);
	holds(-1, at, 100, TCP_ACK | TCP_PSH);
	end();
}

/* ---- connections ----------------------------------------------------------------------------- */

static void what_is_written_before_the_answer_goes_after_it(void)
{
	struct tf_out syn;
	uint8_t opt[40];
	int err;

	fill_bytes();
	tf_up1(&f, "ecn=false");
	s = tf_open(&f, TF_PEER_PORT, 0, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	pf_settle(&f);
	syn = tf_out(&f, -1);
	CU_ASSERT_EQUAL(writes(0, 3000), 3000);
	CU_ASSERT_EQUAL(tf_nout(&f), 1);
	tf_forget(&f);
	tf_in(&f, &(struct tf_seg){ .sport = TF_PEER_PORT, .dport = syn.sport, .seq = 5000, .ack = syn.seq + 1,
				    .flags = TCP_SYN | TCP_ACK, .wnd = 60000, .opt = opt,
				    .nopt = tf_syn_opts(opt, 1460, true, &(uint32_t){ 9 }, -1) });
	CU_ASSERT_EQUAL(cb()->mss, 1448);
	for (unsigned i = 0, k = 0; i < tf_nout(&f); i++) {
		struct tf_out o = tf_out(&f, (int)i);
		uint32_t at = o.seq - (syn.seq + 1);

		if (o.len == 0)
			continue;
		CU_ASSERT_EQUAL(at, 1448 * k);
		CU_ASSERT(at + o.len <= 3000 && memcmp(o.data, bytes + at, o.len) == 0);
		k++;
	}
	CU_ASSERT_EQUAL(cb()->snd_max, syn.seq + 1 + 3000);
	end();
}

static void a_connection_that_is_gone_takes_nothing(void)
{
	up(PLAIN);
	tf_in(&f, &(struct tf_seg){ .sport = TF_PEER_PORT, .seq = 1001, .flags = TCP_RST });
	CU_ASSERT_EQUAL(tf_events(XK_STREAM_FAILED), 1);
	CU_ASSERT_EQUAL(writes(0, 1000), 0);
	CU_ASSERT_EQUAL(tf_nout(&f), 0);
	end();
}

static void a_connection_that_rests_is_woken(void)
{
	up(PLAIN "idle_compress=1s");
	ack(0, 60000);
	pf_run(&f, 5 * XK_SEC);
	CU_ASSERT_TRUE_FATAL(tcp_is_compressed(tcp_sess(s)));
	CU_ASSERT_EQUAL(writes(0, 600), 600);
	CU_ASSERT_EQUAL(tf_nout(&f), 2);
	holds(0, 0, 536, TCP_ACK);
	holds(1, 536, 64, TCP_ACK | TCP_PSH);
	end();
}

/* Who stands before push sees a message, and so does a stream without the operation. */
static void where_messages_are_wanted_one_is_pushed(void)
{
	xk_push_fn own;

	up(PLAIN "snd_buf=2KiB; ");
	ack(0, 60000);
	own = xk_sess_own_push(s);
	s->rep->pushes[s->push_no] = NULL;
	CU_ASSERT_EQUAL(writes(0, 600), 600);
	CU_ASSERT_EQUAL(writes(600, 60000), 2048 - 600);
	CU_ASSERT_EQUAL(writes(2048, 1), 0);
	s->rep->pushes[s->push_no] = own;
	holds(0, 0, 536, TCP_ACK);
	CU_ASSERT_EQUAL(cb()->snd_end, sa.seq + 1 + 2048);
	end();
}

int main(void)
{
	CU_TestInfo tests[] = {
#define T(t) { #t, t }
		T(a_long_write_leaves_in_full_segments_and_a_rest_with_psh),
		T(what_is_queued_lies_in_buffers_of_whole_segments),
		T(a_write_that_ends_with_a_segment_has_its_psh_there),
		T(small_writes_join_what_waits),
		T(what_more_follows_has_no_psh_and_is_not_cut_short),
		T(our_end_goes_with_what_was_left),
		T(pushes_and_writes_keep_their_order),
		T(what_was_cut_for_a_longer_segment_is_cut_again),
		T(no_room_takes_less_and_room_is_told),
		T(memory_that_runs_short_takes_less),
		T(without_a_buffer_what_was_taken_is_right),
		T(what_is_written_before_the_answer_goes_after_it),
		T(a_connection_that_is_gone_takes_nothing),
		T(a_connection_that_rests_is_woken),
		T(where_messages_are_wanted_one_is_pushed),
		CU_TEST_INFO_NULL,
	};
	CU_SuiteInfo suites[] = { { "tcp write", NULL, NULL, NULL, NULL, tests }, CU_SUITE_INFO_NULL };

	return xk_test_main(suites);
}

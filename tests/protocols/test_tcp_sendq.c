/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_tcp_sendq.c - the send queue against an array of bytes: whatever is pushed, written,
 * cut, acknowledged and cut again, bytes, sums and records agree.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/tcp/core/tcp_core.h"
#include "tests/protocols/proto_fixture.h"
#include "tests/support/xk_test.h"

static struct pf f;
static struct tcp_cb cb;
static struct tcp_tune tune;
static uint8_t ref[1 << 20], out[1 << 16];
static struct xk_rand rnd;
#define ISS 0xffffff00u                  /* every test crosses the wrap */

static void up(void)
{
	static const struct pf_spec specs[] = {
		{ &pf_hostlink, "hl", NULL, NULL }, { &pf_upper, "up", "hl", "enable=false" }, { 0 },
	};

	pf_up(&f, 1, specs);
	memset(&cb, 0, sizeof cb);
	memset(&tune, 0, sizeof tune);
	cb.tune = &tune;
	cb.iss = ISS;
	cb.state = TCP_S_ESTABLISHED;
	cb.mss = 4300;
	cb.snd_una = cb.snd_nxt = cb.snd_max = cb.snd_end = ISS + 1;
	xk_rand_init(&rnd, 7, 1);
	for (uint32_t i = 0; i < sizeof ref; i++)
		ref[i] = (uint8_t)xk_rand_u64(&rnd);
	pf_enter(&f, 0);
}

static void down(void)
{
	tcp_sendq_free(&cb);
	CU_ASSERT_PTR_NULL(cb.sq.first);
	pf_leave(&f, 0);
	pf_down(&f);
}

static uint32_t at(uint32_t seq) { return seq - (ISS + 1); }

/* n bytes that follow what was put; sums: 0 none, 1 right. */
static void put(uint32_t n, bool sum)
{
	struct xk_msg *m = xk_msg_new(n);

	CU_ASSERT_PTR_NOT_NULL_FATAL(m);
	xk_msg_copy_in(m, 0, ref + at(cb.snd_end), n);
	if (sum && !(m->flags & XK_MSG_CHAIN)) {
		m->csum = xk_csum(m->data, m->len, 0);
		m->flags |= XK_MSG_CSUM;
	}
	tcp_sendq_put(&cb, m);
}

/* The same written; all of it is taken. */
static void writes(uint32_t n)
{
	CU_ASSERT_EQUAL(tcp_sendq_write(&cb, ref + at(cb.snd_end), n), n);
}

/* m holds ref's bytes from seq on, and its sum, if it has one, is theirs. */
static void same(struct xk_msg *m, uint32_t seq)
{
	xk_msg_check(m);
	CU_ASSERT_EQUAL_FATAL(xk_msg_copy_out(m, 0, out, m->tot), m->tot);
	CU_ASSERT(memcmp(out, ref + at(seq), m->tot) == 0);
	if (m->flags & XK_MSG_CSUM)
		CU_ASSERT_EQUAL(xk_csum_fold(m->csum) % 0xffff,
				xk_csum_fold(xk_csum(ref + at(seq), m->tot, 0)) % 0xffff);
}

static void all_same(void)
{
	uint32_t seq = cb.snd_una;

	for (struct xk_msg *m = cb.sq.first; m != NULL; m = m->link) {
		if (m == cb.sq.unsent)
			CU_ASSERT_EQUAL(seq, cb.snd_max);
		same(m, seq);
		seq += m->tot;
	}
	CU_ASSERT_EQUAL(seq, cb.snd_end);
	CU_ASSERT_EQUAL(cb.sq.bytes, cb.snd_end - cb.snd_una);
	CU_ASSERT_EQUAL(cb.sq.unsent_bytes, cb.snd_end - cb.snd_max);
}

static struct xk_msg *cut(uint32_t len)
{
	uint32_t want = cb.sq.unsent_bytes < len ? cb.sq.unsent_bytes : len;
	struct xk_msg *m = tcp_sendq_cut(&cb, len);

	if (want == 0) {
		CU_ASSERT_PTR_NULL(m);
		return NULL;
	}
	CU_ASSERT_PTR_NOT_NULL_FATAL(m);
	CU_ASSERT_EQUAL(m->tot, want);
	CU_ASSERT_PTR_EQUAL(m, cb.sq.unsent);
	same(m, cb.snd_max);
	return m;
}

static struct xk_msg *send(uint32_t len)
{
	struct xk_msg *m = cut(len);

	if (m == NULL)
		return NULL;
	tcp_sendq_sent(&cb, m, cb.snd_max, 123);
	CU_ASSERT_EQUAL(m->kept.seq, cb.snd_max);
	CU_ASSERT_EQUAL(m->kept.count, 1);
	cb.snd_max += m->tot;
	return m;
}

static void ack(uint32_t una)
{
	tcp_sendq_acked(&cb, una);
	cb.snd_una = una;
}

/* ---- tests ----------------------------------------------------------------------------- */

static void a_message_of_a_segments_size_is_the_segment_itself(void)
{
	struct xk_msg *m, *was;

	up();
	put(1000, true);
	was = cb.sq.unsent;
	m = send(1000);
	CU_ASSERT_PTR_EQUAL(m, was);
	CU_ASSERT(m->flags & XK_MSG_CSUM);
	CU_ASSERT(!(m->flags & XK_MSG_CHAIN));
	CU_ASSERT_EQUAL(m->kept.flags, TCP_SQ_PUSH);
	ack(cb.snd_max);
	CU_ASSERT_PTR_NULL(cb.sq.first);
	CU_ASSERT_PTR_NULL(cb.sq.last);
	down();
}

static void a_long_message_is_split_and_every_part_keeps_a_sum(void)
{
	unsigned n = 0;

	up();
	put(4096, true);
	while (cb.sq.unsent != NULL) {
		struct xk_msg *m = send(1001);   /* odd: sums are turned */

		CU_ASSERT(m->flags & XK_MSG_CSUM);
		CU_ASSERT_EQUAL(m->kept.flags & TCP_SQ_PUSH, cb.sq.unsent == NULL ? TCP_SQ_PUSH : 0);
		n++;
	}
	CU_ASSERT_EQUAL(n, 5);
	all_same();
	down();
}

static void short_messages_are_joined_and_keep_a_sum(void)
{
	struct xk_msg *m;

	up();
	put(701, true);
	put(701, true);
	put(701, true);
	m = send(1500);
	CU_ASSERT(m->flags & XK_MSG_CSUM);
	CU_ASSERT_EQUAL(m->kept.flags & TCP_SQ_PUSH, 0);
	m = send(1500);
	CU_ASSERT_EQUAL(m->tot, 603);
	CU_ASSERT(m->kept.flags & TCP_SQ_PUSH);
	all_same();
	down();
}

static void many_tiny_writes_take_few_buffers(void)
{
	struct xk_msg *m;
	unsigned n = 0, chain = 0;

	up();
	put(1, true);
	for (unsigned i = 0; i < 20000; i++)
		put(1 + i % 3, i % 5 != 0);
	for (m = cb.sq.first; m != NULL; m = m->link)
		n++;
	CU_ASSERT(n < 20);
	m = send(4300);
	for (struct xk_msg *s = m; s != NULL; s = s->next)
		chain++;
	CU_ASSERT(chain <= 4);
	all_same();
	down();
}

static void many_joined_pieces_are_copied_together(void)
{
	struct xk_msg *m;

	up();
	for (unsigned i = 0; i < 9; i++)
		put(513, i & 1);         /* too long to be gathered, several to a segment */
	m = send(4000);
	CU_ASSERT(!(m->flags & XK_MSG_CHAIN));
	CU_ASSERT(m->flags & XK_MSG_CSUM);
	all_same();
	ack(cb.snd_max - 1);
	all_same();
	down();
}

/* What waits is whole segments, each in one buffer of its own, with room for headers, and a rest; with
 * their sums unless they began with short pieces, which are summed when they go. */
static unsigned whole_segments(bool shorts)
{
	unsigned n = 0;

	for (struct xk_msg *m = cb.sq.unsent; m != NULL; m = m->link, n++) {
		CU_ASSERT_EQUAL(m->flags | (shorts ? XK_MSG_CSUM : 0), XK_MSG_CSUM);
		CU_ASSERT_EQUAL(m->tot, m->link != NULL ? cb.mss : m->tot);
		CU_ASSERT(m->tot <= cb.mss);
		CU_ASSERT(xk_msg_headroom(m) >= 74);
		CU_ASSERT(m->link != NULL || m->kept.flags == TCP_SQ_PUSH);
	}
	all_same();
	return n;
}

static void what_is_written_lies_in_segments_to_be(void)
{
	static const uint16_t mss[] = { 536, 1448, 1920, 1921, 4300, (uint16_t)XK_MSG_MAX_SEG };

	for (unsigned i = 0; i < XK_ARRAY_LEN(mss); i++) {
		up();
		cb.mss = mss[i];
		writes(65536);
		CU_ASSERT_EQUAL(cb.sq.first->kept.flags, 0);
		CU_ASSERT_EQUAL(whole_segments(false), (65536u + mss[i] - 1) / mss[i]);
		down();
	}
}

static void writes_join_whatever_their_length(void)
{
	up();
	cb.mss = 1448;
	for (unsigned i = 0; i < 1000; i++)
		writes(1 + (uint32_t)xk_rand_below(&rnd, i % 7 == 0 ? 5000 : 99));
	CU_ASSERT_EQUAL(whole_segments(true), (cb.sq.bytes + 1447) / 1448);
	while (cb.sq.unsent != NULL)
		send(1448);
	all_same();
	down();
}

static void the_first_small_write_has_a_small_buffer(void)
{
	up();
	writes(64);
	CU_ASSERT_EQUAL(cb.sq.unsent->cls, XK_MEM_SMALL);
	writes(500);                      /* that outgrows it */
	CU_ASSERT_EQUAL(cb.sq.unsent->cls, XK_MEM_LARGE);
	CU_ASSERT_EQUAL(whole_segments(true), 1);
	send(4300);
	writes(64);                       /* more will come before it goes */
	CU_ASSERT_EQUAL(cb.sq.unsent->cls, XK_MEM_LARGE);
	send(4300);
	cb.flags |= TCP_F_NODELAY;       /* it goes at once */
	writes(64);
	CU_ASSERT_EQUAL(cb.sq.unsent->cls, XK_MEM_SMALL);
	all_same();
	down();
}

static void a_segment_longer_than_a_buffer_is_a_chain_of_few(void)
{
	struct xk_msg *m;
	unsigned n = 0;

	up();
	cb.mss = 8948;
	writes(30000);
	while ((m = send(8948)) != NULL && cb.sq.unsent != NULL) {
		CU_ASSERT(m->flags & XK_MSG_CSUM);
		CU_ASSERT_PTR_NOT_NULL_FATAL(m->next);
		CU_ASSERT_EQUAL(m->len, XK_MSG_MAX_SEG);
		CU_ASSERT_EQUAL(m->next->len, 8948 - XK_MSG_MAX_SEG);
		CU_ASSERT(!(m->next->flags & XK_MSG_SLOW));
		n++;
	}
	CU_ASSERT_EQUAL(n, 3);
	all_same();
	down();
}

/* What was pushed stays where it is; what is written behind it fills its segment up. */
static void a_write_behind_a_push_ends_its_segment(void)
{
	struct xk_msg *own, *lent, *m;

	up();
	cb.mss = 1448;
	put(1000, true);
	own = cb.sq.unsent;
	writes(1448);
	CU_ASSERT_PTR_EQUAL(cb.sq.unsent, own);
	CU_ASSERT_EQUAL(whole_segments(false), 2);
	send(1448);
	send(1448);
	own = xk_msg_new(1001);
	lent = xk_msg_share(own);
	memcpy(own->data, ref + at(cb.snd_end), 1001);
	tcp_sendq_put(&cb, lent);
	writes(1448);
	m = send(1448);
	CU_ASSERT_PTR_EQUAL(m, lent);
	CU_ASSERT_EQUAL(m->len, 1001);
	CU_ASSERT_EQUAL(m->next->len, 447);
	CU_ASSERT_EQUAL(whole_segments(true), 1);
	xk_msg_free(own);
	down();
}

static void before_the_peers_word_segments_are_hoped_for(void)
{
	up();
	cb.state = TCP_S_SYN_SENT;
	cb.mss = 536;
	cb.path_mss = 1460;
	tune.timestamps = true;
	writes(3000);
	CU_ASSERT_EQUAL(cb.sq.first->tot, 1448);
	tune.mss = 1000;
	CU_ASSERT_EQUAL(tcp_hoped_mss(&cb), 988);
	cb.state = TCP_S_ESTABLISHED;
	cb.mss = 1448;
	CU_ASSERT_EQUAL(whole_segments(false), 3);
	cb.mss = 524;                    /* it had one after all */
	while (send(524) != NULL)
		;
	all_same();
	down();
}

static void a_write_without_memory_takes_less(void)
{
	uint32_t n;

	up();
	cb.mss = 1448;
	writes(100);
	for (unsigned k = 2; k < 6; k++) {       /* the first, a larger buffer for what waits, is not needed */
		xk_memvp_starve(xk_mem_self, true);
		xk_mem_fail_after(k);
		n = tcp_sendq_write(&cb, ref + at(cb.snd_end), 65536);
		xk_mem_fail_after(0);
		xk_memvp_starve(xk_mem_self, false);
		CU_ASSERT(n < k * 1448);
		all_same();
		tcp_sendq_check(&cb);
	}
	writes(1);
	all_same();
	down();
}

static void part_of_a_segment_acknowledged_is_gone(void)
{
	up();
	put(9000, false);                /* a chain */
	send(9000);
	ack(cb.snd_una + 1);
	all_same();
	ack(cb.snd_una + 5000);
	all_same();
	CU_ASSERT_EQUAL(cb.sq.first->kept.seq, cb.snd_una);
	ack(cb.snd_max - 1);
	all_same();
	ack(cb.snd_max);
	CU_ASSERT_PTR_NULL(cb.sq.first);
	down();
}

static void a_sent_segment_is_cut_again_with_its_record(void)
{
	struct xk_msg *m;

	up();
	put(3000, true);
	put(1000, true);
	m = send(3000);
	m->kept.flags |= TCP_SQ_SACKED | TCP_SQ_EVER;
	cb.sacked_out = 3000;
	cb.sacked_segs = 1;
	CU_ASSERT(tcp_sendq_recut(&cb, m, 1400));
	CU_ASSERT_EQUAL(m->tot, 1400);
	CU_ASSERT_EQUAL(m->link->tot, 1600);
	CU_ASSERT_EQUAL(m->link->kept.seq, m->kept.seq + 1400);
	CU_ASSERT_EQUAL(m->link->kept.when, 123);
	CU_ASSERT_EQUAL(m->kept.flags & TCP_SQ_PUSH, 0);
	CU_ASSERT_EQUAL(m->link->kept.flags, TCP_SQ_PUSH | TCP_SQ_SACKED | TCP_SQ_EVER);
	CU_ASSERT_PTR_EQUAL(cb.sq.unsent_prev, m->link);
	CU_ASSERT_EQUAL(cb.sacked_segs, 2);
	all_same();
	ack(cb.snd_una + 1400);
	CU_ASSERT_EQUAL(cb.sacked_out, 1600);
	CU_ASSERT_EQUAL(cb.sacked_segs, 1);
	ack(cb.snd_max);
	CU_ASSERT_EQUAL(cb.sacked_out, 0);
	CU_ASSERT_EQUAL(cb.sacked_segs, 0);
	all_same();
	down();
}

static void empty_messages_leave_no_trace(void)
{
	up();
	put(0, false);
	CU_ASSERT_PTR_NULL(cb.sq.first);
	CU_ASSERT_PTR_NULL(tcp_sendq_cut(&cb, 100));
	down();
}

/* No memory: NULL or what there is, and the queue is whole. */
static void without_memory_nothing_is_lost(void)
{
	struct xk_memvp *v;

	up();
	v = xk_mem_self;
	put(4000, true);
	put(4000, true);
	for (unsigned i = 0; i < 12; i++) {
		struct xk_msg *m;

		xk_memvp_starve(v, true);
		xk_mem_fail_after(1 + i % 3);
		m = tcp_sendq_cut(&cb, 5000);
		CU_ASSERT(m == NULL || m->tot <= 5000);
		if (m == NULL)
			m = tcp_sendq_cut(&cb, 300);
		xk_mem_fail_after(0);
		xk_memvp_starve(v, false);
		tcp_sendq_check(&cb);
		all_same();
	}
	while (send(1000) != NULL)
		;
	all_same();
	down();
}

static void step(void)
{
	uint32_t n;

	switch (xk_rand_below(&rnd, 9)) {
	case 8:
		n = (uint32_t)xk_rand_below(&rnd, xk_rand_below(&rnd, 3) == 0 ? 12000 : 200);
		if (at(cb.snd_end) + n < sizeof ref)
			writes(n);
		break;
	case 0:
	case 1:
		n = (uint32_t)xk_rand_below(&rnd, xk_rand_below(&rnd, 3) == 0 ? 12000 : 700);
		if (at(cb.snd_end) + n < sizeof ref)
			put(n, xk_rand_below(&rnd, 2));
		break;
	case 2:
	case 3:
	case 4:
		send(1 + (uint32_t)xk_rand_below(&rnd, 4500));
		break;
	case 5:
		cut(1 + (uint32_t)xk_rand_below(&rnd, 4500));
		break;
	case 6:
		ack(cb.snd_una + (uint32_t)xk_rand_below(&rnd, cb.snd_max - cb.snd_una + 1));
		break;
	default:
		if (cb.sq.first != cb.sq.unsent)
			tcp_sendq_recut(&cb, cb.sq.first, 1 + (uint32_t)xk_rand_below(&rnd, 2000));
		break;
	}
}

static void any_order_of_operations_keeps_every_byte(void)
{
	unsigned long n = xk_test_rounds(20000);

	up();
	for (unsigned long i = 0; i < n; i++) {
		step();
		if (i % 16 == 0)
			all_same();
	}
	all_same();
	down();
}

static CU_TestInfo tests[] = {
#define T(t) { #t, t }
	T(a_message_of_a_segments_size_is_the_segment_itself),
	T(a_long_message_is_split_and_every_part_keeps_a_sum),
	T(short_messages_are_joined_and_keep_a_sum),
	T(many_tiny_writes_take_few_buffers),
	T(many_joined_pieces_are_copied_together),
	T(what_is_written_lies_in_segments_to_be),
	T(writes_join_whatever_their_length),
	T(the_first_small_write_has_a_small_buffer),
	T(a_segment_longer_than_a_buffer_is_a_chain_of_few),
	T(a_write_behind_a_push_ends_its_segment),
	T(before_the_peers_word_segments_are_hoped_for),
	T(a_write_without_memory_takes_less),
	T(part_of_a_segment_acknowledged_is_gone),
	T(a_sent_segment_is_cut_again_with_its_record),
	T(empty_messages_leave_no_trace),
	T(without_memory_nothing_is_lost),
	T(any_order_of_operations_keeps_every_byte),
	CU_TEST_INFO_NULL,
};

int main(void)
{
	CU_SuiteInfo suites[] = {
		{ "tcp sendq", NULL, NULL, NULL, NULL, tests }, CU_SUITE_INFO_NULL,
	};

	return xk_test_main(suites);
}

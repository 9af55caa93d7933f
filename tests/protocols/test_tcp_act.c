/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_tcp_act.c - segments on the wire of a host: what is no segment at all,
 * prediction, bytes up in whatever order they come, holders that close in the
 * middle of it, and every flag in every state, after which the host still serves.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/protocols/tcp_fixture.h"
#include "tests/support/xk_test.h"
#include "runtime/upi/xk_inline.h"

static struct pf f;
static uint8_t pay[8192], d[9000];
#define PEER 1001u               /* the peer's first byte, after tf_accept */

static struct xk_sess *up(const char *tcp, struct tf_out *syn)
{
	struct xk_sess *s;

	nf_fill(pay, sizeof pay, 5);
	tf_up1(&f, tcp);
	tf_listen(&f);
	s = tf_accept(&f, TF_PEER_PORT, syn);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	/* The window that all segments here have. */
	tf_in(&f, &(struct tf_seg){ .seq = PEER, .ack = syn->seq + 1, .flags = TCP_ACK, .wnd = 5000 });
	tf_forget(&f);
	return s;
}

static void over(struct xk_sess *s)
{
	if (s != NULL) {
		tf_control(&f, s, XK_STREAM_ABORT, NULL, 0);
		tf_close(&f, s);
	}
	tf_down(&f);
}

/* Bytes [off, off + n) of the peer's stream. */
static struct tf_seg data(const struct tf_out *syn, uint32_t off, uint32_t n, uint16_t flags)
{
	return (struct tf_seg){ .seq = PEER + off, .ack = syn->seq + 1, .flags = TCP_ACK | flags, .wnd = 5000,
				.data = pay + off, .len = n };
}

static void in(const struct tf_out *syn, uint32_t off, uint32_t n, uint16_t flags)
{
	struct tf_seg g = data(syn, off, n, flags);

	tf_in(&f, &g);
}

static void got(uint32_t n)
{
	CU_ASSERT_EQUAL(tf_app.ngot, n);
	CU_ASSERT(memcmp(tf_app.got, pay, n) == 0);
}

/* ---- what is no segment ------------------------------------------------------------ */

static void headers_that_lie_are_dropped(void)
{
	struct tf_out syn;
	struct xk_sess *s = up(NULL, &syn);
	struct tf_seg g = data(&syn, 0, 10, 0);
	uint32_t n;

	for (uint32_t len = 0; len < 20; len++) {
		n = nf_ip(d, &(struct nf_ip){ .proto = 6 }, pay, len);
		nf_in(&f, 0, d, n);
		tf_only_drop(&f, "short");
	}
	for (unsigned off = 0; off < 16; off++) {
		uint32_t sum;

		if (off >= 5 && off <= 7)
			continue;
		n = tf_datagram(d, &g);
		d[20 + 12] = (uint8_t)(off << 4);
		xk_put_be16(d + 36, 0);
		sum = nf_pseudo(xk_be32(d + 12), xk_be32(d + 16), 6, n - 20);
		xk_put_be16(d + 36, nf_sum(d + 20, n - 20, sum));
		nf_in(&f, 0, d, n);
		tf_only_drop(&f, "bad_offset");
	}
	got(0);
	CU_ASSERT_EQUAL(tf_nout(&f), 0);
	over(s);
}

static void a_wrong_bit_anywhere_is_a_wrong_checksum(void)
{
	struct tf_out syn;
	struct xk_sess *s = up(NULL, &syn);
	struct tf_seg g = data(&syn, 0, 33, 0);

	for (uint32_t at = 0; at < 20 + 33; at++) {
		uint32_t n = tf_datagram(d, &g);

		if (at == 12)
			continue;                /* the offset: another reason */
		d[20 + at] ^= 0x04;
		nf_in(&f, 0, d, n);
		tf_only_drop(&f, "bad_checksum");
		nf_in_cut(&f, 0, d, n, 20 + at);
		tf_only_drop(&f, "bad_checksum");
	}
	got(0);
	over(s);
}

static void every_cut_of_a_good_segment_passes(void)
{
	struct tf_out syn;
	struct xk_sess *s = up(NULL, &syn);
	uint32_t off = 0;

	for (uint32_t len = 1; len < 60; len += 7)
		for (uint32_t cut = 1; cut < 40 + len; cut++) {
			struct tf_seg g;

			if (off + len > sizeof pay)
				break;
			g = data(&syn, off, len, 0);
			nf_in_cut(&f, 0, d, tf_datagram(d, &g), cut);
			off += len;
			got(off);
		}
	CU_ASSERT(off > 4000 && pf_drops(&f, "tcp", NULL) == 0);
	over(s);
}

static void what_is_not_from_one_host_to_one_host_is_not_answered(void)
{
	static const struct { uint32_t src, dst; uint16_t sport, dport; const char *why; } bad[] = {
		{ NF_PEER, NF_US, 0, TF_PORT, "port_zero" },
		{ 0xe0000001, NF_US, 5, TF_PORT, NULL },
		{ NF_US, NF_US, TF_PORT, TF_PORT, NULL },
		{ 0xffffffff, NF_US, 5, TF_PORT, NULL },
		{ NF_PEER, 0x0affffff, 5, TF_PORT, NULL },
		{ NF_PEER, 0xe0000001, 5, TF_PORT, NULL },
		{ 0x7f000001, NF_US, 5, TF_PORT, NULL },
	};
	struct tf_out syn;
	struct xk_sess *s = up(NULL, &syn);

	for (unsigned i = 0; i < XK_ARRAY_LEN(bad); i++) {
		struct tf_seg g = { .src = bad[i].src, .dst = bad[i].dst, .sport = bad[i].sport, .dport = bad[i].dport,
				    .seq = 5, .flags = TCP_SYN, .wnd = 100 };
		uint32_t n = tf_datagram(d, &g), sum;

		if (bad[i].sport == 0) {         /* the fixture has a default for it */
			xk_put_be16(d + 20, 0);
			xk_put_be16(d + 36, 0);
			sum = nf_pseudo(xk_be32(d + 12), xk_be32(d + 16), 6, n - 20);
			xk_put_be16(d + 36, nf_sum(d + 20, n - 20, sum));
		}
		nf_in(&f, 0, d, n);
		CU_ASSERT_EQUAL(nf_nsent(&f), 0);
		if (bad[i].why != NULL)
			tf_only_drop(&f, bad[i].why);
	}
	over(s);
}

/* ---- bytes up --------------------------------------------------------------------------- */

/* Of a build with fast paths; without them the counters count the plain way. */
static void predicted(uint64_t n, uint64_t slow)
{
	if (XK_FAST(true, false))
		CU_ASSERT(pf_count(&f, "tcp", "predicted") == n && pf_count(&f, "tcp", "not_predicted") == slow);
}

static void bytes_in_order_are_predicted_and_every_second_is_acknowledged(void)
{
	struct tf_out syn;
	struct xk_sess *s = up("quick_acks=0", &syn);
	uint64_t slow = pf_count(&f, "tcp", "not_predicted");

	for (uint32_t i = 0; i < 20; i++)
		in(&syn, i * 100, 100, i % 3 ? 0 : TCP_PSH);
	got(2000);
	predicted(20, slow);
	CU_ASSERT_EQUAL(tf_nout(&f), 10);
	for (int i = 0; i < 10; i++)
		CU_ASSERT_EQUAL(tf_out(&f, i).ack, PEER + 200u * (unsigned)(i + 1));
	/* A single one waits for the timer. */
	in(&syn, 2000, 1, 0);
	CU_ASSERT_EQUAL(tf_nout(&f), 10);
	pf_run(&f, 500 * XK_MS);
	CU_ASSERT(tf_nout(&f) == 11 && tf_out(&f, -1).ack == PEER + 2001);
	over(s);
}

static void acknowledgements_of_data_are_predicted(void)
{
	struct tf_out syn;
	struct xk_sess *s = up(NULL, &syn);
	uint64_t slow = pf_count(&f, "tcp", "not_predicted");

	for (unsigned i = 0; i < 10; i++) {
		tf_push(&f, s, pay, 100);
		/* Who has not asked is not told. */
		if (i % 2 != 0)
			CU_ASSERT_EQUAL(tf_control(&f, s, XK_STREAM_DRAIN, NULL, 0), 0);
		tf_in(&f, &(struct tf_seg){ .seq = PEER, .ack = syn.seq + 1 + 100 * (i + 1), .flags = TCP_ACK,
					    .wnd = 5000 });
		CU_ASSERT_EQUAL(tf_events(XK_STREAM_DRAINED), (i + 1) / 2);
	}
	predicted(10, slow);
	CU_ASSERT_EQUAL(tf_control(&f, s, XK_STREAM_DRAIN, NULL, 0), 1);
	over(s);
}

static void drained_is_told_when_all_is_acknowledged_that_was_pushed_meanwhile(void)
{
	struct tf_out syn;
	struct xk_sess *s = up(NULL, &syn);

	tf_push(&f, s, pay, 100);
	CU_ASSERT_EQUAL(tf_control(&f, s, XK_STREAM_DRAIN, NULL, 0), 0);
	CU_ASSERT_EQUAL(tf_control(&f, s, XK_STREAM_DRAIN, NULL, 0), 0);
	tf_push(&f, s, pay, 100);
	tf_in(&f, &(struct tf_seg){ .seq = PEER, .ack = syn.seq + 101, .flags = TCP_ACK, .wnd = 5000 });
	CU_ASSERT_EQUAL(tf_events(XK_STREAM_DRAINED), 0);
	tf_in(&f, &(struct tf_seg){ .seq = PEER, .ack = syn.seq + 201, .flags = TCP_ACK, .wnd = 5000 });
	CU_ASSERT_EQUAL(tf_events(XK_STREAM_DRAINED), 1);
	/* Once: the next time has to be asked for again. */
	tf_push(&f, s, pay, 100);
	tf_in(&f, &(struct tf_seg){ .seq = PEER, .ack = syn.seq + 301, .flags = TCP_ACK, .wnd = 5000 });
	CU_ASSERT_EQUAL(tf_events(XK_STREAM_DRAINED), 1);
	over(s);
}

static void any_order_comes_up_in_order(void)
{
	static const unsigned order[][5] = { { 4, 3, 2, 1, 0 }, { 1, 0, 3, 2, 4 }, { 2, 4, 0, 1, 3 }, { 3, 0, 4, 1, 2 } };

	for (unsigned k = 0; k < XK_ARRAY_LEN(order); k++) {
		struct tf_out syn, o;
		struct xk_sess *s = up(NULL, &syn);
		unsigned outs = 0;

		for (unsigned i = 0; i < 5; i++) {
			in(&syn, order[k][i] * 300, 300, 0);
			outs = tf_nout(&f);
		}
		got(1500);
		CU_ASSERT(outs >= 4);
		o = tf_out(&f, -1);
		CU_ASSERT(o.ack == PEER + 1500 && o.len == 0);
		CU_ASSERT(tcp_cb(tcp_sess(s))->reass == NULL);
		over(s);
	}
}

static void overlaps_are_delivered_once(void)
{
	struct tf_out syn;
	struct xk_sess *s = up(NULL, &syn);

	in(&syn, 0, 99, 0);
	in(&syn, 199, 100, 0);
	in(&syn, 399, 100, 0);
	in(&syn, 599, 100, 0);
	in(&syn, 99, 200, 0);
	got(299);
	in(&syn, 149, 450, 0);
	got(699);
	in(&syn, 0, 799, 0);
	got(799);
	in(&syn, 0, 799, 0);
	got(799);
	CU_ASSERT_EQUAL(tf_out(&f, -1).ack, PEER + 799);
	over(s);
}

static void a_fin_that_came_first_ends_when_its_bytes_are_there(void)
{
	struct tf_out syn;
	struct xk_sess *s = up(NULL, &syn);

	in(&syn, 200, 100, TCP_FIN);
	in(&syn, 100, 100, 0);
	CU_ASSERT(tf_app.close_dones == 0 && tf_state(s) == TCP_S_ESTABLISHED);
	in(&syn, 0, 100, 0);
	got(300);
	CU_ASSERT(tf_app.close_dones == 1 && tf_state(s) == TCP_S_CLOSE_WAIT);
	CU_ASSERT_EQUAL(tf_out(&f, -1).ack, PEER + 301);
	/* It comes again, and so does text. */
	in(&syn, 200, 100, TCP_FIN);
	CU_ASSERT_EQUAL(tf_out(&f, -1).ack, PEER + 301);
	got(300);
	CU_ASSERT_EQUAL(tf_app.close_dones, 1);
	over(s);
}

static void manual_consumption_closes_and_opens_the_window(void)
{
	struct tf_out syn, o;
	struct xk_sess *s = up("rcv_buf=4KiB", &syn);
	uint32_t v = 1;

	tf_control(&f, s, XK_STREAM_MANUAL, &v, sizeof v);
	for (uint32_t i = 0; i < 4; i++)
		in(&syn, i * 1024, 1024, TCP_PSH);
	got(4096);
	pf_run(&f, 1000 * XK_MS);
	o = tf_out(&f, -1);
	CU_ASSERT(o.ack == PEER + 4096 && o.wnd == 0);
	/* A probe: answered, not taken. */
	in(&syn, 4096, 1, 0);
	got(4096);
	CU_ASSERT(tf_out(&f, -1).ack == PEER + 4096 && tf_out(&f, -1).wnd == 0);
	v = 4096;
	tf_control(&f, s, XK_STREAM_TAKEN, &v, sizeof v);
	pf_settle(&f);
	CU_ASSERT(tf_out(&f, -1).wnd != 0);
	in(&syn, 4096, 100, 0);
	got(4196);
	over(s);
}

static void an_urgent_mark_is_told_of_and_takes_no_byte(void)
{
	struct tf_out syn;
	struct xk_sess *s = up(NULL, &syn);
	struct tf_seg g = data(&syn, 0, 10, TCP_URG);

	g.urp = 15;
	tf_in(&f, &g);
	CU_ASSERT_EQUAL(tf_events(XK_STREAM_URGENT), 1);
	g = data(&syn, 10, 10, TCP_URG);
	g.urp = 5;
	tf_in(&f, &g);
	CU_ASSERT_EQUAL(tf_events(XK_STREAM_URGENT), 1);
	got(20);
	over(s);
}

/* ---- holders that do something in the middle ------------------------------------------------ */

static struct { unsigned what; unsigned n; struct xk_up up; struct xk_rep *rep; } hook;

static void hooked(struct xk_up *u, struct xk_sess *s, struct xk_msg *m)
{
	(void)u;
	hook.n++;
	xk_msg_free(m);
	if (hook.what == 1)
		xk_close(s);
	else if (hook.what == 2)
		xk_sess_control(s, XK_STREAM_ABORT, NULL, 0);
	else if (hook.what == 3)
		xk_push(s, pf_msg("answer", 6));
	else if (hook.what == 4)
		xk_sess_control(s, XK_STREAM_SHUTDOWN, NULL, 0);
}

static void hook_up(struct xk_sess *s, unsigned what)
{
	hook.what = what;
	hook.n = 0;
	hook.up = (struct xk_up){ hooked, s->up->rep };
	s->up = &hook.up;
}

static void a_close_from_inside_the_upcall_finishes_or_resets(void)
{
	struct tf_out syn, o;
	struct xk_sess *s = up(NULL, &syn);

	/* Nothing is behind: an ordinary close. */
	hook_up(s, 1);
	in(&syn, 0, 100, 0);
	o = tf_out(&f, -1);
	CU_ASSERT(hook.n == 1 && (o.flags & TCP_FIN) && o.ack == PEER + 100);
	tf_in(&f, &(struct tf_seg){ .seq = PEER + 100, .ack = o.seq + 1, .flags = TCP_ACK | TCP_FIN, .wnd = 500 });
	CU_ASSERT_EQUAL(tf_states(&f, TCP_S_TIME_WAIT), 1);
	tf_down(&f);

	/* There is: what nobody reads resets. */
	s = up(NULL, &syn);
	in(&syn, 100, 100, 0);
	hook_up(s, 1);
	in(&syn, 0, 100, 0);
	CU_ASSERT_EQUAL(hook.n, 1);
	CU_ASSERT(tf_out(&f, -1).flags & TCP_RST);
	tf_only_drop(&f, "data_after_close");
	CU_ASSERT_EQUAL(pf_sessions(&f, "tcp"), 0);
	tf_down(&f);
}

static void an_abort_from_inside_the_upcall_resets(void)
{
	struct tf_out syn;
	struct xk_sess *s = up(NULL, &syn);

	in(&syn, 100, 100, TCP_FIN);
	hook_up(s, 2);
	in(&syn, 0, 100, 0);
	CU_ASSERT(hook.n == 1 && (tf_out(&f, -1).flags & TCP_RST) && tf_state(s) == TCP_S_CLOSED);
	in(&syn, 200, 100, 0);
	CU_ASSERT(tf_out(&f, -1).flags & TCP_RST);
	tf_close(&f, s);
	CU_ASSERT_EQUAL(pf_sessions(&f, "tcp"), 0);
	tf_down(&f);
}

static void an_answer_from_inside_the_upcall_carries_the_acknowledgement(void)
{
	struct tf_out syn, o;
	struct xk_sess *s = up(NULL, &syn);

	hook_up(s, 3);
	in(&syn, 0, 100, TCP_PSH);
	CU_ASSERT_EQUAL(tf_nout(&f), 1);
	o = tf_out(&f, 0);
	CU_ASSERT(o.len == 6 && o.ack == PEER + 100);
	over(s);
	s = up(NULL, &syn);
	hook_up(s, 4);
	in(&syn, 0, 100, TCP_PSH);
	o = tf_out(&f, -1);
	CU_ASSERT(tf_nout(&f) == 1 && (o.flags & TCP_FIN) && o.ack == PEER + 100 && tf_state(s) == TCP_S_FIN_WAIT_1);
	over(s);
}

/* ---- runs --------------------------------------------------------------------------------------- */

/* The network header is behind 14 bytes of something, as a link's would be. */
static void run(const struct tf_out *syn, struct xk_sess *s, uint32_t first, unsigned n, unsigned odd)
{
	struct xk_flow flow = { .sess = { s, &xk_sess_none } };
	const struct xk_run one = { &flow, 1, 0, (uint8_t)n, 1 };
	struct xk_rep *r = pf_rep(&f, "tcp", 0);
	struct xk_msg *m[32];
	struct xk_batch run = { m, &one, NULL, n, 14 + 20, 14, 0, false };

	pf_enter(&f, 0);
	for (unsigned i = 0; i < n; i++) {
		struct tf_seg g = data(syn, (first + i) * 100, 100, 0);

		if (i == odd)
			g.flags |= TCP_URG;
		memset(d, 0xee, 14);
		m[i] = pf_msg(d, 14 + tf_datagram(d + 14, &g));
	}
	if (r->node->proto->ops->demux_batch != NULL)
		CU_ASSERT_EQUAL(r->node->proto->ops->demux_batch(&r->up, s->down, &run), n);
	for (unsigned i = 0; i < n && r->node->proto->ops->demux_batch == NULL; i++) {
		xk_batch_materialise(&run, &one, m[i]);
		r->up.demux(&r->up, s->down, m[i]);
	}
	pf_leave(&f, 0);
	pf_settle(&f);
}

static void a_run_in_order_is_acknowledged_once(void)
{
	struct tf_out syn;
	struct xk_sess *s = up("quick_acks=0", &syn);

	run(&syn, s, 0, 32, 99);
	got(3200);
	CU_ASSERT(tf_nout(&f) == XK_FAST(1, 16) && tf_out(&f, -1).ack == PEER + 3200);
	predicted(32, pf_count(&f, "tcp", "not_predicted"));
	over(s);
}

static void a_run_with_an_odd_one_in_it_loses_nothing(void)
{
	for (unsigned odd = 0; odd < 8; odd++) {
		struct tf_out syn;
		struct xk_sess *s = up(NULL, &syn);

		run(&syn, s, 0, 8, odd);
		got(800);
		CU_ASSERT_EQUAL(pf_drops(&f, "tcp", NULL), 0);
		/* Out of order and again: the whole of it one by one. */
		run(&syn, s, 12, 8, 99);
		run(&syn, s, 4, 8, 99);
		got(2000);
		over(s);
	}
}

/* Our end has ended, the peer goes on. */
static void data_behind_our_fin_is_predicted(void)
{
	struct tf_out syn;
	struct xk_sess *s = up("quick_acks=0", &syn);
	uint64_t slow = pf_count(&f, "tcp", "not_predicted");
	struct tf_seg g;

	tf_control(&f, s, XK_STREAM_SHUTDOWN, NULL, 0);
	CU_ASSERT_EQUAL(tf_state(s), TCP_S_FIN_WAIT_1);
	in(&syn, 0, 100, 0);
	run(&syn, s, 1, 9, 99);
	predicted(10, slow);
	tf_in(&f, &(struct tf_seg){ .seq = PEER + 1000, .ack = syn.seq + 2, .flags = TCP_ACK, .wnd = 5000 });
	CU_ASSERT_EQUAL(tf_state(s), TCP_S_FIN_WAIT_2);
	predicted(10, slow + 1);
	g = data(&syn, 1000, 100, 0);
	g.ack++;
	tf_in(&f, &g);
	got(1100);
	predicted(11, slow + 1);
	over(s);
}

static void a_run_closed_in_its_middle_is_reset(void)
{
	struct tf_out syn;
	struct xk_sess *s = up(NULL, &syn);

	hook_up(s, 1);
	run(&syn, s, 0, 8, 99);
	CU_ASSERT(hook.n == 1 && (tf_out(&f, -1).flags & TCP_RST));
	/* One by one, all after the first of them find a listener. */
	CU_ASSERT_EQUAL(pf_drops(&f, "tcp", "data_after_close"), XK_FAST(7, 1));
	CU_ASSERT_EQUAL(pf_drops(&f, "tcp", "not_a_syn"), XK_FAST(0, 6));
	CU_ASSERT_EQUAL(pf_drops(&f, "tcp", NULL), 7);
	CU_ASSERT_EQUAL(pf_sessions(&f, "tcp"), 0);
	tf_down(&f);
}

/* ---- all flags in all states ---------------------------------------------------------------------- */

static uint16_t peer_port;               /* of the connection at hand */

static void step(const struct tf_out *syn, uint16_t flags, uint32_t ack)
{
	tf_in(&f, &(struct tf_seg){ .sport = peer_port, .seq = PEER, .ack = syn->seq + ack, .flags = flags, .wnd = 5000 });
}

/* An active open; stage 1: crossed by the peer's. */
static struct xk_sess *opening(unsigned stage, struct tf_out *syn)
{
	int err;
	struct xk_sess *s = tf_open(&f, peer_port, 4000, &err);

	*syn = tf_out(&f, -1);
	if (stage == 1)
		tf_in(&f, &(struct tf_seg){ .sport = peer_port, .dport = 4000, .seq = PEER - 1, .flags = TCP_SYN,
					    .wnd = 5000 });
	return s;
}

/* Brings a connection on by events of either side, as far as stage says. */
static struct xk_sess *to_stage(unsigned stage, struct tf_out *syn)
{
	struct xk_sess *s;

	peer_port++;
	if (stage <= 1)
		return opening(stage, syn);
	s = tf_accept(&f, peer_port, syn);
	if (stage == 3 || stage == 4)            /* CLOSE-WAIT, LAST-ACK */
		step(syn, TCP_ACK | TCP_FIN, 1);
	if (stage >= 4)                          /* FIN-WAIT-1 */
		tf_control(&f, s, XK_STREAM_SHUTDOWN, NULL, 0);
	if (stage == 6)                          /* CLOSING */
		step(syn, TCP_ACK | TCP_FIN, 1);
	if (stage >= 7)                          /* FIN-WAIT-2 */
		step(syn, TCP_ACK, 2);
	if (stage == 8)                          /* TIME-WAIT */
		step(syn, TCP_ACK | TCP_FIN, 2);
	return s;
}

static void host_up(void)
{
	nf_fill(pay, sizeof pay, 5);
	tf_up1(&f, NULL);
	tf_listen(&f);
	peer_port = 20000;
}

static void gone(struct xk_sess *s)
{
	tf_control(&f, s, XK_STREAM_ABORT, NULL, 0);
	tf_close(&f, s);
}

static const unsigned stages[] = { TCP_S_SYN_SENT, TCP_S_SYN_RCVD, TCP_S_ESTABLISHED, TCP_S_CLOSE_WAIT,
				   TCP_S_LAST_ACK, TCP_S_FIN_WAIT_1, TCP_S_CLOSING, TCP_S_FIN_WAIT_2, TCP_S_TIME_WAIT };

static void stages_are_reached(void)
{
	host_up();
	for (unsigned i = 0; i < XK_ARRAY_LEN(stages); i++) {
		struct tf_out syn;
		struct xk_sess *s = to_stage(i, &syn);

		CU_ASSERT_EQUAL(tf_state(s), stages[i]);
		gone(s);
	}
	tf_down(&f);
}

static void still_serves(void)
{
	struct tf_out syn;
	struct xk_sess *s;

	tf_forget(&f);
	tf_app.ngot = 0;
	s = tf_accept(&f, ++peer_port, &syn);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	for (uint32_t i = 0; i < 8; i++) {
		struct tf_seg g = data(&syn, i * 1000, 1000, 0);

		g.sport = peer_port;
		tf_in(&f, &g);
	}
	got(8000);
	gone(s);
}

static void flags_at(const struct tf_out *syn, unsigned stage, unsigned flags)
{
	static const uint32_t off[] = { 0, 1, (uint32_t)-1, 100000 };

	for (unsigned k = 0; k < 16; k++)
		tf_in(&f, &(struct tf_seg){ .sport = peer_port, .dport = stage <= 1 ? 4000 : 0, .seq = PEER + off[k % 4],
					    .ack = syn->seq + 1 + off[k / 4], .flags = (uint16_t)flags, .wnd = 500,
					    .urp = 7, .data = pay, .len = k % 3 * 10 });
}

static void every_flag_in_every_state_leaves_a_host_that_serves(void)
{
	for (unsigned i = 0; i < XK_ARRAY_LEN(stages); i++) {
		host_up();
		for (unsigned flags = 0; flags < 64; flags++) {
			struct tf_out syn;
			struct xk_sess *s = to_stage(i, &syn);

			flags_at(&syn, i, flags);
			pf_run(&f, 1000 * XK_MS);
			gone(s);
			still_serves();
		}
		tf_down(&f);
	}
}

#define T(fn) { #fn, fn }
static CU_TestInfo bad[] = {
	T(headers_that_lie_are_dropped),
	T(a_wrong_bit_anywhere_is_a_wrong_checksum),
	T(every_cut_of_a_good_segment_passes),
	T(what_is_not_from_one_host_to_one_host_is_not_answered),
	CU_TEST_INFO_NULL
};
static CU_TestInfo bytes[] = {
	T(bytes_in_order_are_predicted_and_every_second_is_acknowledged),
	T(acknowledgements_of_data_are_predicted),
	T(drained_is_told_when_all_is_acknowledged_that_was_pushed_meanwhile),
	T(any_order_comes_up_in_order),
	T(overlaps_are_delivered_once),
	T(a_fin_that_came_first_ends_when_its_bytes_are_there),
	T(manual_consumption_closes_and_opens_the_window),
	T(an_urgent_mark_is_told_of_and_takes_no_byte),
	CU_TEST_INFO_NULL
};
static CU_TestInfo holders[] = {
	T(a_close_from_inside_the_upcall_finishes_or_resets),
	T(an_abort_from_inside_the_upcall_resets),
	T(an_answer_from_inside_the_upcall_carries_the_acknowledgement),
	T(a_run_in_order_is_acknowledged_once),
	T(a_run_with_an_odd_one_in_it_loses_nothing),
	T(data_behind_our_fin_is_predicted),
	T(a_run_closed_in_its_middle_is_reset),
	CU_TEST_INFO_NULL
};
static CU_TestInfo everything[] = {
	T(stages_are_reached),
	T(every_flag_in_every_state_leaves_a_host_that_serves),
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "tcp act, no segments", NULL, NULL, NULL, NULL, bad },
	{ "tcp act, bytes", NULL, NULL, NULL, NULL, bytes },
	{ "tcp act, holders and runs", NULL, NULL, NULL, NULL, holders },
	{ "tcp act, everything", NULL, NULL, NULL, NULL, everything },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_tcp_memory.c - TCP: what room a connection is said to have while the graph's memory
 * is short, what its peer is offered and what is kept out of order, who is given up, and who is
 * woken when it is not short any more.
 *
 * How full the memory is the test says itself; that the pool says so truly is test_pool's,
 * that all of it together holds a host up is test_bounds_readers's.
 */
#include <stdio.h>
#include <string.h>

#include "tests/protocols/tcp_fixture.h"
#include "tests/support/xk_test_graph.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"

static struct pf f;
static uint8_t big[65536];
static uint32_t fill;

/* Percent as the parameters mean them; just above. */
static void memory_used(unsigned percent)
{
	fill = percent * XK_MEM_FULL / 100 + (percent != 0);
}

static struct xk_sess *up(const char *params, struct tf_out *o)
{
	struct xk_sess *s;

	memory_used(0);
	tf_up1(&f, params);
	f.g->vps->vp[0]->mem.fill = &fill;
	s = tf_connect(&f, o);
	/* Once round, so that nothing of the handshake is left. */
	tf_push(&f, s, big, 1460);
	tf_in(&f, &(struct tf_seg){ .dport = o->sport, .seq = 5001, .ack = o->seq + 1 + 1460, .flags = TCP_ACK });
	tf_forget(&f);
	return s;
}

static void down(struct xk_sess *s)
{
	memory_used(0);
	pf_run(&f, 100 * XK_MS);
	if (s != NULL)
		tf_close(&f, s);
	tf_down(&f);
}

static uint32_t room(struct xk_sess *s)
{
	uint32_t v = 0xdeadbeef;

	CU_ASSERT_EQUAL(tf_control(&f, s, XK_STREAM_ROOM, &v, sizeof v), 4);
	return v;
}

static void acked(const struct tf_out *o, uint32_t n)
{
	tf_in(&f, &(struct tf_seg){ .dport = o->sport, .seq = 5001, .ack = o->seq + 1 + n, .flags = TCP_ACK });
}

static void room_shrinks_in_steps(void)
{
	struct tf_out o;
	struct xk_sess *s = up("snd_buf=512KiB; nagle=false", &o);
	const struct tcp_cb *cb = tcp_cb(tcp_sess(s));

	CU_ASSERT(cb->cwnd < 65535);
	memory_used(49);
	CU_ASSERT_EQUAL(room(s), 512u << 10);
	CU_ASSERT_EQUAL(pf_count(&f, "tcp", "memory_pressure"), 0);
	memory_used(50);
	CU_ASSERT_EQUAL(room(s), cb->cwnd);
	memory_used(75);
	CU_ASSERT_EQUAL(room(s), cb->mss);
	memory_used(88);
	CU_ASSERT_EQUAL(room(s), 0);
	CU_ASSERT_EQUAL(pf_count(&f, "tcp", "memory_pressure"), 1);
	memory_used(50);
	tf_push(&f, s, big, cb->mss);
	CU_ASSERT_EQUAL(room(s), cb->cwnd - cb->mss);
	memory_used(75);
	CU_ASSERT_EQUAL(room(s), 0);
	/* What was promised is taken nevertheless. */
	tf_push(&f, s, big, 20000);
	CU_ASSERT_EQUAL(tf_events(XK_STREAM_FAILED), 0);
	CU_ASSERT_EQUAL(cb->sq.bytes, cb->mss + 20000u);
	down(s);
}

/* The peer's window limits, too; one segment may always wait. */
static void a_closed_window_leaves_a_segment(void)
{
	struct tf_out o;
	struct xk_sess *s = up("nagle=false", &o);

	tf_push(&f, s, big, 1000);
	tf_in(&f, &(struct tf_seg){ .dport = o.sport, .seq = 5001, .ack = o.seq + 1 + 2460, .flags = TCP_ACK, .wnd = 1 });
	memory_used(60);
	CU_ASSERT_EQUAL(room(s), tcp_cb(tcp_sess(s))->mss);
	down(s);
}

/* Nothing is under way whose acknowledgement would say it. */
static void who_has_nothing_queued_is_woken_when_there_is_some(void)
{
	struct tf_out o;
	struct xk_sess *s = up(NULL, &o);

	memory_used(99);
	CU_ASSERT_EQUAL(room(s), 0);
	pf_run(&f, 5 * XK_SEC);
	CU_ASSERT_EQUAL(tf_events(XK_STREAM_WRITABLE), 0);
	memory_used(80);
	pf_run(&f, 20 * XK_MS);
	CU_ASSERT_EQUAL(tf_events(XK_STREAM_WRITABLE), 1);
	memory_used(99);
	CU_ASSERT_EQUAL(room(s), 0);
	memory_used(0);
	pf_run(&f, 20 * XK_MS);
	CU_ASSERT_EQUAL(tf_events(XK_STREAM_WRITABLE), 2);
	/* And then it is quiet: no timer goes on. */
	pf_run(&f, 5 * XK_SEC);
	CU_ASSERT_EQUAL(tf_events(XK_STREAM_WRITABLE), 2);
	CU_ASSERT_FALSE(tcp_rep(pf_rep(&f, "tcp", 0))->mem_watched);
	down(s);
}

static void who_rests_is_woken_too(void)
{
	struct tf_out o;
	struct xk_sess *s = up("idle_compress=1s", &o);

	pf_run(&f, 5 * XK_SEC);
	CU_ASSERT_TRUE_FATAL(tcp_is_compressed(tcp_sess(s)));
	CU_ASSERT(room(s) > 1460);
	CU_ASSERT_TRUE(tcp_is_compressed(tcp_sess(s)));
	memory_used(99);
	CU_ASSERT_EQUAL(room(s), 0);
	memory_used(0);
	pf_run(&f, 20 * XK_MS);
	CU_ASSERT_EQUAL(tf_events(XK_STREAM_WRITABLE), 1);
	down(s);
}

static void at_the_high_mark_the_worst_is_reset(void)
{
	struct tf_out o, out;
	struct xk_sess *s = up("nagle=false", &o);

	tf_push(&f, s, big, 10000);
	memory_used(60);
	room(s);
	pf_run(&f, 10 * XK_SEC);
	CU_ASSERT_EQUAL(pf_count(&f, "tcp", "given_up_for_memory"), 0);
	memory_used(76);
	pf_run(&f, 20 * XK_MS);
	CU_ASSERT_EQUAL(pf_count(&f, "tcp", "given_up_for_memory"), 1);
	out = tf_out(&f, -1);
	CU_ASSERT(out.flags & TCP_RST);
	CU_ASSERT_EQUAL(tf_events(XK_STREAM_FAILED), 1);
	CU_ASSERT_EQUAL(tf_app.event[tf_app.nevents - 1].err, XK_E_NOMEM);
	down(s);
}

/* What is under way to a peer that answers is no reason. */
static void who_drains_is_not(void)
{
	struct tf_out o;
	struct xk_sess *s = up("nagle=false", &o);
	uint32_t n = 1460;

	memory_used(76);
	for (unsigned i = 0; i < 100; i++) {
		tf_push(&f, s, big, 1000);
		pf_run(&f, 100 * XK_MS);
		acked(&o, n += 1000);
	}
	CU_ASSERT_EQUAL(pf_count(&f, "tcp", "given_up_for_memory"), 0);
	CU_ASSERT_EQUAL(tf_events(XK_STREAM_FAILED), 0);
	down(s);
}

/* Of two that do not move the one that holds more goes first. */
static void the_larger_goes_first(void)
{
	struct tf_out o;
	struct xk_sess *s = up("nagle=false", &o), *t;

	tf_push(&f, s, big, 1000);
	tf_listen(&f);
	t = tf_accept(&f, 1234, &o);
	tf_push(&f, t, big, 30000);
	memory_used(60);
	room(s);
	pf_run(&f, 5 * XK_SEC);
	memory_used(76);
	pf_run(&f, 10 * XK_MS);
	memory_used(60);
	CU_ASSERT_EQUAL(pf_count(&f, "tcp", "given_up_for_memory"), 1);
	CU_ASSERT_EQUAL(tf_state(t), TCP_S_CLOSED);
	CU_ASSERT_EQUAL(tf_state(s), TCP_S_ESTABLISHED);
	tf_close(&f, t);
	down(s);
}

/* ---- what comes in ---------------------------------------------------------------------- */

#define SEG 1460u

/* The peer's i-th segment. */
static void comes(const struct tf_out *o, unsigned i)
{
	tf_in(&f, &(struct tf_seg){ .dport = o->sport, .seq = 5001 + i * SEG, .ack = o->seq + 1 + SEG, .flags = TCP_ACK,
				    .data = big, .len = SEG });
}

static uint32_t offered(struct xk_sess *s)
{
	return tcp_cb(tcp_sess(s))->rcv_adv - tcp_cb(tcp_sess(s))->rcv_nxt;
}

/* n segments from the i-th on, in order; the window's edge never moves left.  Returns the next. */
static unsigned come(struct xk_sess *s, const struct tf_out *o, unsigned i, unsigned n)
{
	for (unsigned end = i + n; i < end; i++) {
		uint32_t edge = tcp_cb(tcp_sess(s))->rcv_adv;

		CU_ASSERT(offered(s) >= SEG);            /* who takes what comes is never stopped */
		comes(o, i);
		CU_ASSERT_FALSE(tcp_lt(tcp_cb(tcp_sess(s))->rcv_adv, edge));
	}
	CU_ASSERT_EQUAL(tf_app.ngot, i * SEG);
	return i;
}

static void the_offered_window_shrinks_to_a_share(void)
{
	struct tf_out o, out;
	struct xk_sess *s = up("rcv_buf=32KiB; nagle=false; delack=0s", &o);
	uint32_t mss = tcp_cb(tcp_sess(s))->mss;
	unsigned i;

	CU_ASSERT_EQUAL(tcp_cb(tcp_sess(s))->rcv_wscale, 0);
	i = come(s, &o, 0, 4);
	CU_ASSERT(offered(s) > 30000);
	memory_used(60);
	i = come(s, &o, i, 30);
	CU_ASSERT(offered(s) <= 4 * mss);
	CU_ASSERT_EQUAL(pf_count(&f, "tcp", "memory_pressure"), 1);
	memory_used(99);
	i = come(s, &o, i, 20);
	CU_ASSERT(offered(s) <= 2 * mss);
	tf_forget(&f);
	memory_used(0);
	pf_run(&f, 30 * XK_MS);
	/* The peer is told, once, without being asked. */
	CU_ASSERT_EQUAL(tf_nout(&f), 1);
	out = tf_out(&f, -1);
	CU_ASSERT_EQUAL(out.len, 0);
	CU_ASSERT_EQUAL(out.wnd, 32u << 10);
	down(s);
}

static void what_waits_for_the_application_is_of_that_share(void)
{
	struct tf_out o;
	struct xk_sess *s = up("rcv_buf=32KiB; nagle=false; delack=0s", &o);
	uint32_t on = 1, held, mss = tcp_cb(tcp_sess(s))->mss;
	unsigned i = 0;

	CU_ASSERT_EQUAL(tf_control(&f, s, XK_STREAM_MANUAL, &on, sizeof on), 0);
	memory_used(60);
	while (offered(s) >= SEG)
		comes(&o, i++);
	/* What was offered before is taken, and no more. */
	held = tcp_cb(tcp_sess(s))->rcv_held;
	CU_ASSERT(held > 30000 && held <= 32u << 10);
	held -= 2 * mss;
	CU_ASSERT_EQUAL(tf_control(&f, s, XK_STREAM_TAKEN, &held, sizeof held), 0);
	CU_ASSERT(offered(s) <= 2 * mss);
	held = 2 * mss;
	CU_ASSERT_EQUAL(tf_control(&f, s, XK_STREAM_TAKEN, &held, sizeof held), 0);
	CU_ASSERT(offered(s) >= 2 * mss && offered(s) <= 4 * mss);
	down(s);
}

static void no_more_than_a_share_is_kept_out_of_order(void)
{
	struct tf_out o;
	struct xk_sess *s = up("rcv_buf=64KiB; nagle=false", &o);
	const struct tcp_cb *cb = tcp_cb(tcp_sess(s));

	memory_used(60);
	comes(&o, 1);
	memory_used(76);
	comes(&o, 2);
	CU_ASSERT_EQUAL(tcp_reass_bytes(cb, NULL), SEG);
	CU_ASSERT_EQUAL(pf_drops(&f, "tcp", "reassembly_full"), 1);
	memory_used(60);
	for (unsigned i = 2; i < 10; i++)
		comes(&o, i);
	CU_ASSERT_EQUAL(tcp_reass_bytes(cb, NULL), 4 * SEG);
	CU_ASSERT_EQUAL(pf_drops(&f, "tcp", "reassembly_full"), 6);
	/* What was kept, and said to be kept, stays: the gap is all that is missing. */
	memory_used(99);
	CU_ASSERT_EQUAL(tcp_reass_bytes(cb, NULL), 4 * SEG);
	comes(&o, 0);
	CU_ASSERT_EQUAL(tf_app.ngot, 5 * SEG);
	memory_used(0);
	for (unsigned i = 6; i < 12; i++)
		comes(&o, i);
	CU_ASSERT_EQUAL(tcp_reass_bytes(cb, NULL), 6 * SEG);
	down(s);
}

#define T(fn) { #fn, fn }
static CU_TestInfo tests[] = {
	T(room_shrinks_in_steps), T(a_closed_window_leaves_a_segment), T(who_has_nothing_queued_is_woken_when_there_is_some),
	T(who_rests_is_woken_too), T(at_the_high_mark_the_worst_is_reset), T(who_drains_is_not), T(the_larger_goes_first),
	T(the_offered_window_shrinks_to_a_share), T(what_waits_for_the_application_is_of_that_share),
	T(no_more_than_a_share_is_kept_out_of_order),
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "tcp memory", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void) { return xk_test_main_rcu(suites); }

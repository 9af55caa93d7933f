/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_tcp_writer.c - a writer of short pieces (struct stream_writer): the same segments as by writes,
 * whatever the pieces; where there is a span, and that nothing else may be said of one.
 */
#include <string.h>

#include "protocols/stream/stream_app.h"
#include "runtime/base/xk_rand.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_inline.h"
#include "tests/protocols/tcp_fixture.h"
#include "tests/support/xk_test.h"

static struct pf f;
static uint8_t bytes[1 << 18];
static struct xk_sess *s;
static struct tf_out sa;                 /* our SYN-ACK, or SYN */
static bool opens;                       /* we open it: segments of 1460 bytes */

/* No options: mss 536. */
#define PLAIN "timestamps=false; sack=false; use_wscale=false; ecn=false; quick_acks=0; "

static void up(const char *tcp)
{
	for (uint32_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t)(i * 7 + i / 256);
	if (!opens) {
		s = tf_up_accepted(&f, tcp, &sa);
		return;
	}
	tf_up1(&f, tcp);
	s = tf_connect(&f, &sa);
	tf_forget(&f);
}

static void end(void) { tf_down_reset(&f, s); }

static struct tcp_cb *cb(void) { return tcp_cb(tcp_sess(s)); }

static void ack(uint32_t n, uint16_t wnd)
{
	tf_in(&f, &(struct tf_seg){ .sport = TF_PEER_PORT, .dport = opens ? sa.sport : 0, .seq = opens ? 5001 : 1001,
				    .ack = sa.seq + 1 + n, .flags = TCP_ACK, .wnd = wnd });
}

/* A unit of work: pieces one after the other from byte `at` on; how many bytes were taken. */
static uint32_t unit(uint32_t at, const uint32_t *piece, unsigned n, bool writer)
{
	uint32_t took = 0, k = 0;
	struct stream_writer w;

	pf_enter(&f, 0);
	stream_writer_begin(&w, s);
	for (unsigned i = 0; i < n && k == (i == 0 ? 0 : piece[i - 1]); i++) {
		k = writer ? stream_writer_put(&w, bytes + at + took, piece[i]) : stream_write_some(s, bytes + at + took, piece[i]);
		took += k;
	}
	stream_writer_end(&w);
	pf_leave(&f, 0);
	pf_settle(&f);
	return took;
}

/* ---- the same as by writes ---------------------------------------------------------------- */

struct told { uint32_t n, taken, pushes; struct { uint32_t seq, len; uint16_t flags; } seg[4000]; };
static struct told told[2];

/* What went out since it was last asked. */
static void note(struct told *t)
{
	for (unsigned i = 0; i < tf_nout(&f) && t->n < XK_ARRAY_LEN(t->seg); i++) {
		struct tf_out o = tf_out(&f, (int)i);
		uint32_t at = o.seq - (sa.seq + 1);

		CU_ASSERT(o.len == 0 || (at + o.len <= sizeof bytes && memcmp(o.data, bytes + at, o.len) == 0));
		t->seg[t->n].seq = at;
		t->seg[t->n].len = o.len;
		t->seg[t->n++].flags = o.flags;
	}
	tf_forget(&f);
}

/* Units of pieces up to `longest`, acknowledgements of some of it now and then. */
static void script(const char *tcp, uint64_t seed, uint32_t longest, bool writer)
{
	struct told *t = &told[writer];
	uint32_t piece[40], acked = 0;
	struct xk_rand r;

	memset(t, 0, sizeof *t);
	xk_rand_init(&r, seed, 0);
	up(tcp);
	ack(0, 60000);
	t->pushes = (uint32_t)s->rep->npush;
	for (unsigned step = 0; step < 150 && t->taken < sizeof bytes - 40 * 4096; step++) {
		unsigned n = 1 + (unsigned)xk_rand_below(&r, XK_ARRAY_LEN(piece));

		for (unsigned i = 0; i < n; i++)
			piece[i] = 1 + (uint32_t)xk_rand_below(&r, xk_rand_below(&r, 8) == 0 ? 4 * longest : longest);
		t->taken += unit(t->taken, piece, n, writer);
		note(t);
		if (xk_rand_below(&r, 3) != 0) {
			acked += (uint32_t)xk_rand_below(&r, cb()->snd_max - (sa.seq + 1) - acked + 1);
			ack(acked, 60000);
			note(t);
		}
	}
	ack(cb()->snd_max - (sa.seq + 1), 60000);
	note(t);
	t->pushes = (uint32_t)s->rep->npush - t->pushes;
	end();
}

static void same(const char *tcp, uint64_t seed, uint32_t longest)
{
	script(tcp, seed, longest, false);
	script(tcp, seed, longest, true);
	CU_ASSERT(told[0].n > 10 && told[0].taken > 1000);
	CU_ASSERT_EQUAL(memcmp(&told[0], &told[1], sizeof told[0]), 0);
}

static void a_writer_sends_what_writes_send(void)
{
	for (uint64_t seed = 1; seed <= 5; seed++) {
		same(PLAIN, seed, 8);
		same(PLAIN, seed, 64);
		same(PLAIN, seed, 300);
		same("ecn=false; ", seed, 64);
		same(PLAIN "nagle=false; ", seed, 64);
		same(PLAIN "snd_buf=4KiB; ", seed, 200);
	}
}

/* Some of them summed by the writer, at odd places, too. */
static void longer_pieces_are_summed_by_the_writer(void)
{
	opens = true;
	for (uint64_t seed = 1; seed <= 5; seed++) {
		same(PLAIN, seed, 64);
		same(PLAIN, seed, 700);
		same(PLAIN, seed, 1100);
		same(PLAIN "nagle=false; ", seed, 700);
	}
	opens = false;
}

/* ---- spans ---------------------------------------------------------------------------------- */

static uint32_t write_on(uint32_t n, struct xk_stream_span *x)
{
	uint32_t took;

	pf_enter(&f, 0);
	took = s->rep->ops->write_on(s, bytes, n, x);
	pf_leave(&f, 0);
	return took;
}

static struct xk_stream_span span(void)
{
	struct xk_stream_span x = { .room = 12345 };

	CU_ASSERT_EQUAL(write_on(0, &x), 0);
	return x;
}

/* Are n bytes taken that are said to be there? */
static bool spanned(uint32_t n)
{
	struct xk_stream_span x = { .room = 12345, .put = n };
	uint32_t had = cb()->sq.unsent_bytes;

	CU_ASSERT_EQUAL(write_on(0, &x), 0);
	return cb()->sq.unsent_bytes == had + n;
}

/* Nor is anything written behind such that may not be there. */
static bool refused(uint32_t n)
{
	struct xk_stream_span x = { .room = 12345, .put = n };
	uint32_t had = cb()->sq.bytes;

	return write_on(1, &x) == 0 && x.room == 0 && cb()->sq.bytes == had;
}

static void a_span_is_the_end_of_what_waits_for_company(void)
{
	static const uint32_t hundred = 100;
	uint32_t on = 1;

	up(PLAIN);
	ack(0, 60000);
	CU_ASSERT_EQUAL(span().room, 0);                 /* nothing waits */
	CU_ASSERT_EQUAL(unit(0, &hundred, 1, false), 100);
	CU_ASSERT_EQUAL(span().room, 0);                 /* it has gone */
	CU_ASSERT_EQUAL(unit(100, &hundred, 1, false), 100);
	CU_ASSERT_EQUAL(cb()->sq.unsent_bytes, 100);
	CU_ASSERT_EQUAL(span().room, 536 - 1 - 100);
	CU_ASSERT_EQUAL(span().at, cb()->sq.last->data + 100);
	CU_ASSERT(refused(536 - 100));
	CU_ASSERT_EQUAL(cb()->sq.unsent_bytes, 100);
	memcpy(span().at, bytes + 200, 435);
	CU_ASSERT(spanned(435));
	CU_ASSERT_EQUAL(cb()->sq.unsent_bytes, 535);
	CU_ASSERT_EQUAL(span().room, 0);
	CU_ASSERT(refused(1));
	tf_forget(&f);
	CU_ASSERT(tf_control(&f, s, TCP_CTL_NODELAY, &on, sizeof on) >= 0);
	CU_ASSERT_EQUAL(tf_nout(&f), 1);
	CU_ASSERT_EQUAL(tf_out(&f, -1).len, 535);
	CU_ASSERT(memcmp(tf_out(&f, -1).data, bytes + 100, 535) == 0);
	end();
}

static void no_span_is_longer_than_the_buffer(void)
{
	static const uint32_t piece[] = { 100, 536, 536, 536, 300 };

	up(PLAIN "snd_buf=2KiB; ");
	ack(0, 60000);
	CU_ASSERT_EQUAL(unit(0, piece, 5, false), 2008);
	CU_ASSERT_EQUAL(cb()->sq.unsent_bytes, 300);
	CU_ASSERT_EQUAL(span().room, 2048 - 2008);
	end();
}

static void nothing_joins_a_stream_whose_end_is_said(void)
{
	static const uint32_t piece[] = { 100, 100 };

	up(PLAIN);
	ack(0, 100);                                     /* the peer's window has room for the first one */
	CU_ASSERT_EQUAL(unit(0, piece, 2, false), 200);
	CU_ASSERT_EQUAL(cb()->sq.unsent_bytes, 100);
	CU_ASSERT(span().room != 0);
	CU_ASSERT_EQUAL(tf_control(&f, s, XK_STREAM_SHUTDOWN, NULL, 0), 0);
	CU_ASSERT_EQUAL(cb()->sq.unsent_bytes, 100);
	CU_ASSERT_EQUAL(span().room, 0);
	CU_ASSERT(refused(1));
	CU_ASSERT_EQUAL(cb()->sq.unsent_bytes, 100);
	end();
}

static void a_stream_that_has_ended_has_no_span(void)
{
	static const uint32_t piece[] = { 100, 100 };

	up(PLAIN);
	ack(0, 60000);
	CU_ASSERT_EQUAL(unit(0, piece, 2, false), 200);
	CU_ASSERT_EQUAL(tf_control(&f, s, XK_STREAM_SHUTDOWN, NULL, 0), 0);
	CU_ASSERT_EQUAL(span().room, 0);
	tf_in(&f, &(struct tf_seg){ .sport = TF_PEER_PORT, .seq = 1001, .flags = TCP_RST });
	CU_ASSERT_EQUAL(tf_events(XK_STREAM_FAILED), 1);
	CU_ASSERT_EQUAL(span().room, 0);
	CU_ASSERT(refused(1));
	end();
}

static unsigned seen;

static void seeing_push(struct xk_sess *x, struct xk_msg *m)
{
	seen++;
	xk_sess_own_push(x)(x, m);
}

static void who_stands_before_push_sees_each_message(void)
{
	static const uint32_t piece[] = { 10, 20, 30, 40, 50 };

	up(PLAIN);
	ack(0, 60000);
	seen = 0;
	s->push = seeing_push;
	CU_ASSERT_EQUAL(unit(0, piece, 5, true), 150);
	CU_ASSERT_EQUAL(seen, 5);
	CU_ASSERT(span().room > 150);
	CU_ASSERT_EQUAL(unit(150, piece, 5, true), 150);
	CU_ASSERT_EQUAL(seen, 10);
	s->push = xk_sess_own_push(s);
	end();
}

int main(void)
{
	CU_TestInfo tests[] = {
#define T(t) { #t, t }
		T(a_writer_sends_what_writes_send), T(longer_pieces_are_summed_by_the_writer),
		T(a_span_is_the_end_of_what_waits_for_company),
		T(no_span_is_longer_than_the_buffer),
		T(nothing_joins_a_stream_whose_end_is_said), T(a_stream_that_has_ended_has_no_span),
		T(who_stands_before_push_sees_each_message),
		CU_TEST_INFO_NULL,
	};
	CU_SuiteInfo suites[] = { { "tcp writer", NULL, NULL, NULL, NULL, tests }, CU_SUITE_INFO_NULL };

	return xk_test_main(suites);
}

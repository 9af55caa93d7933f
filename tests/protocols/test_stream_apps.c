/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_stream_apps.c - the applications over a stream, against a stream that tests
 * can narrow, stall, refuse and break.
 *
 * Promises: what goes in comes back or is counted; nobody pushes without room; a
 * peer that does not read is waited for and never served ahead of its window; ends,
 * refusals and resets are told apart and leave nothing behind.
 */
#include <stdio.h>
#include <string.h>

#include "protocols/stream/stream_app.h"
#include "runtime/base/xk_hist.h"
#include "runtime/base/xk_param_value.h"
#include "runtime/sync/xk_fiber.h"
#include "runtime/upi/xk_app.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"
#include "tests/protocols/stream_fixture.h"
#include "tests/support/xk_test.h"

extern const struct xk_proto xk_proto_tcpecho, xk_proto_echo_blocking, xk_proto_discard, xk_proto_chargen, xk_proto_load_stream, xk_proto_sink_stream;

static struct pf f;
static uint8_t bytes[300000];

static void up3(unsigned nvps, const char *stream, const struct xk_proto *server, const char *params,
		const struct xk_proto *client, const char *client_params)
{
	const struct pf_spec g[] = {
		{ &sf_stream, "stream", NULL, stream }, { server, "server", "stream", params },
		{ client, "client", "stream", client_params }, { NULL, NULL, NULL, NULL } };

	for (uint32_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t)(i * 11 + i / 256);
	pf_up(&f, nvps, g);
}

static void up(const char *stream, const struct xk_proto *server, const char *params)
{
	up3(1, stream, server, params, &sf_peer, NULL);
}

/* Nobody has broken a promise, and both ends of everything are gone. */
static void over_and_out(void)
{
	CU_ASSERT_EQUAL(sf_state(&f, "stream")->broken, 0);
	for (unsigned i = 0; i < f.g->vps->nvps; i++)
		CU_ASSERT_EQUAL(sf_ends(&f, "stream", i), 0);
	pf_down(&f);
}

/* The echo under test: written for events, or as a thread for each connection. */
static const struct xk_proto *echo = &xk_proto_tcpecho;

/* ---- tcpecho ------------------------------------------------------------------------ */

static void echoes_what_it_gets_in_order(void)
{
	struct sf_conn *c;

	up("chunk=1000", echo, NULL);
	c = sf_open(&f, "client", 0, 7, false);
	CU_ASSERT_EQUAL(c->opened, 1);
	sf_say(&f, c, "hello");
	CU_ASSERT_EQUAL(c->n, 5);
	sf_send(&f, c, bytes, 60000);
	CU_ASSERT_EQUAL_FATAL(c->n, 60005);
	CU_ASSERT_EQUAL(memcmp(c->got, "hello", 5), 0);
	CU_ASSERT_EQUAL(memcmp(c->got + 5, bytes, 60000), 0);
	CU_ASSERT_EQUAL(pf_count(&f, "server", "bytes"), 60005);
	sf_shutdown(&f, c);
	CU_ASSERT_EQUAL(c->ended, 1);
	sf_close(&f, c);
	CU_ASSERT_EQUAL(pf_sessions(&f, "server"), 0);
	over_and_out();
}

static void a_reader_that_sleeps_stops_the_echo_within_its_window(void)
{
	struct sf_conn *c;
	uint32_t sent = 0;

	up("chunk=1000; room=8000; window=4000", echo, NULL);
	c = sf_open(&f, "client", 0, 7, true);
	/* Until nothing moves: room, window and what the echo holds are full. */
	for (unsigned i = 0; i < 100; i++) {
		pf_enter(&f, 0);
		if (stream_room(c->s) != 0) {
			xk_push(c->s, pf_msg(bytes + sent, 700));
			sent += 700;
		}
		pf_leave(&f, 0);
		pf_settle(&f);
	}
	CU_ASSERT(sent < 32000);
	CU_ASSERT(c->n >= 4000 && c->n < 5000);
	/* The echo has passed on what its stream took, holds its window, and no more. */
	CU_ASSERT(pf_count(&f, "server", "bytes") < 14000);
	for (unsigned i = 0; i < 100 && c->n < sent; i++)
		sf_take(&f, c, 1000);
	CU_ASSERT_EQUAL_FATAL(c->n, sent);
	CU_ASSERT_EQUAL(memcmp(c->got, bytes, sent), 0);
	CU_ASSERT(c->writable > 0);
	sf_shutdown(&f, c);
	sf_close(&f, c);
	over_and_out();
}

static void the_echo_ends_after_all_was_sent_back(void)
{
	struct sf_conn *c;

	up("chunk=500; room=3000; window=2000", echo, NULL);
	c = sf_open(&f, "client", 0, 7, true);
	for (unsigned i = 0; i < 10; i++)
		if (i * 1000 < 9000)
			sf_send(&f, c, bytes + i * 1000, 1000);
	sf_shutdown(&f, c);
	CU_ASSERT_EQUAL(c->ended, 0);
	for (unsigned i = 0; i < 100 && c->n < 9000; i++)
		sf_take(&f, c, 500);
	CU_ASSERT_EQUAL(c->n, 9000);
	CU_ASSERT_EQUAL(memcmp(c->got, bytes, 9000), 0);
	CU_ASSERT_EQUAL(c->ended, 1);
	sf_close(&f, c);
	over_and_out();
}

static void a_reset_frees_what_the_echo_held(void)
{
	struct sf_conn *c;

	up("chunk=500; room=3000; window=2000", echo, NULL);
	c = sf_open(&f, "client", 0, 7, true);
	for (unsigned i = 0; i < 7; i++)
		sf_send(&f, c, bytes, 1000);
	sf_abort(&f, c);
	CU_ASSERT_EQUAL(pf_count(&f, "server", "reset"), 1);
	CU_ASSERT_EQUAL(pf_sessions(&f, "server"), 0);
	c = sf_open(&f, "client", 0, 7, false);
	sf_fail_all(&f, "stream", 0, XK_E_TIMEDOUT);
	CU_ASSERT_EQUAL(pf_count(&f, "server", "failed"), 1);
	CU_ASSERT_EQUAL(c->failed, 1);
	over_and_out();
}

/* ---- echo_blocking: the same promises, kept in blocking style -------------------------- */

static void with_a_thread(void (*test)(void))
{
	if (!xk_fiber_available()) {
		xk_test_skip("built without Boost.Context (package libboost-context-dev)");
		return;
	}
	echo = &xk_proto_echo_blocking;
	test();
	echo = &xk_proto_tcpecho;
}

static void a_thread_echoes_what_it_gets_in_order(void) { with_a_thread(echoes_what_it_gets_in_order); }
static void a_thread_is_stopped_by_a_reader_that_sleeps(void)
{
	with_a_thread(a_reader_that_sleeps_stops_the_echo_within_its_window);
}
static void a_thread_ends_after_all_was_sent_back(void) { with_a_thread(the_echo_ends_after_all_was_sent_back); }
static void a_reset_ends_a_thread_that_waits(void) { with_a_thread(a_reset_frees_what_the_echo_held); }

static void the_graph_may_stop_while_threads_wait(void)
{
	if (!xk_fiber_available()) {
		xk_test_skip("built without Boost.Context (package libboost-context-dev)");
		return;
	}
	up("chunk=500; room=3000; window=2000", &xk_proto_echo_blocking, NULL);
	for (unsigned i = 0; i < 5; i++) {
		struct sf_conn *c = sf_open(&f, "client", 0, 7, true);

		for (unsigned k = 0; k < 2 * i && k < 6; k++)
			sf_send(&f, c, bytes, 1000);     /* reads, or waits for room */
	}
	CU_ASSERT_EQUAL(pf_sessions(&f, "server"), 5);
	pf_down(&f);
}

static void connections_beyond_the_cap_are_refused(void)
{
	static const struct xk_proto *const servers[] = { &xk_proto_tcpecho, &xk_proto_discard, &xk_proto_sink_stream };
	static const char *const params[] = { "port=9; sessions=2", "sessions=2", "sessions=2" };
	struct sf_conn *c[3];

	for (unsigned k = 0; k < 3; k++) {
		up(NULL, servers[k], params[k]);
		for (unsigned i = 0; i < 3; i++)
			c[i] = sf_open(&f, "client", 0, 9, false);
		CU_ASSERT_EQUAL(c[1]->opened, 1);
		CU_ASSERT_EQUAL(c[2]->opened, 0);
		CU_ASSERT_EQUAL(c[2]->err, XK_E_CONNREFUSED);
		CU_ASSERT_EQUAL(pf_count(&f, "server", "refused"), 1);
		sf_close(&f, c[0]);
		c[2] = sf_open(&f, "client", 0, 9, false);
		CU_ASSERT_EQUAL(c[2]->opened, 1);
		CU_ASSERT_EQUAL(pf_count(&f, "server", "accepted"), 3);
		sf_close(&f, c[1]);
		sf_close(&f, c[2]);
		over_and_out();
	}
}

static void single_bytes_do_not_hold_a_buffer_each(void)
{
	struct stream_q q = { NULL, NULL, 0, 0 };
	uint8_t out[5000];
	unsigned n = 0;

	up(NULL, &xk_proto_tcpecho, NULL);
	pf_enter(&f, 0);
	for (uint32_t i = 0; i < 5000; i++)
		stream_q_put(&q, pf_msg(bytes + i, 1));
	CU_ASSERT_EQUAL(q.bytes, 5000);
	for (struct xk_msg *m = q.first; m != NULL; m = m->link)
		n++;
	CU_ASSERT(n <= 5000 / 300);
	CU_ASSERT_EQUAL(stream_q_copy(&q, 10, out, 4000), 4000);
	CU_ASSERT_EQUAL(memcmp(out, bytes + 10, 4000), 0);
	stream_q_drop(&q, 1234);
	CU_ASSERT_EQUAL(stream_q_copy(&q, 1, out, 5000), 3765);
	CU_ASSERT_EQUAL(memcmp(out, bytes + 1235, 3765), 0);
	stream_q_drop(&q, 3766);
	CU_ASSERT_EQUAL(q.bytes, 0);
	CU_ASSERT_PTR_NULL(q.first);
	stream_q_put(&q, pf_msg(bytes, 100));
	stream_q_put(&q, pf_msg(bytes, 20000));
	CU_ASSERT_EQUAL(stream_q_copy(&q, 50, out, 100), 100);
	CU_ASSERT_EQUAL(memcmp(out, bytes + 50, 50), 0);
	CU_ASSERT_EQUAL(memcmp(out + 50, bytes, 50), 0);
	stream_q_free(&q);
	pf_leave(&f, 0);
	over_and_out();
}

/* ---- discard, chargen ----------------------------------------------------------------- */

static void discard_takes_everything_and_answers_nothing(void)
{
	struct xk_app_counts a;
	struct sf_conn *c;

	up("window=2000", &xk_proto_discard, NULL);
	c = sf_open(&f, "client", 0, 9, false);
	sf_send(&f, c, bytes, 60000);
	sf_send(&f, c, bytes, 60000);
	CU_ASSERT_EQUAL(pf_count(&f, "server", "bytes"), 120000);
	CU_ASSERT_EQUAL(c->n, 0);
	CU_ASSERT_EQUAL(xk_control(pf_rep(&f, "server", 0), XK_CTL_APP_COUNTS, &a, sizeof a), (int)sizeof a);
	CU_ASSERT_EQUAL(a.bytes[0], 120000);
	sf_shutdown(&f, c);
	CU_ASSERT_EQUAL(c->ended, 1);
	sf_close(&f, c);
	over_and_out();
}

static void chargen_sends_lines_as_fast_as_they_are_read(void)
{
	struct sf_conn *c;

	up("window=5000; room=4000", &xk_proto_chargen, NULL);
	c = sf_open(&f, "client", 0, 19, true);
	CU_ASSERT(c->n >= 5000 && c->n < 7000);
	sf_say(&f, c, "nobody listens");
	CU_ASSERT_EQUAL(pf_count(&f, "server", "received_bytes"), 14);
	for (unsigned i = 0; i < 100; i++)
		sf_take(&f, c, 1000);
	CU_ASSERT(c->n > 100000 && c->n < 107000);
	for (uint32_t i = 0; i < c->n; i++) {
		uint32_t col = i % 74, want = col == 72 ? '\r' : col == 73 ? '\n' : ' ' + (i / 74 + col) % 95;

		if (c->got[i] != want)
			CU_FAIL_FATAL("a wrong character");
	}
	sf_shutdown(&f, c);
	for (unsigned i = 0; i < 20; i++)
		sf_take(&f, c, 1000);
	CU_ASSERT_EQUAL(c->ended, 1);
	sf_close(&f, c);
	over_and_out();
}

static void chargen_survives_a_reset_while_it_sends(void)
{
	struct sf_conn *c;

	up("window=5000; room=4000", &xk_proto_chargen, NULL);
	c = sf_open(&f, "client", 0, 19, true);
	sf_abort(&f, c);
	CU_ASSERT_EQUAL(pf_count(&f, "server", "reset"), 1);
	CU_ASSERT_EQUAL(pf_sessions(&f, "server"), 0);
	over_and_out();
}

/* ---- load, sink -------------------------------------------------------------------- */

static void sends_all_of_all_connections_and_finishes(void)
{
	struct xk_app_counts a;

	up3(2, "room=5000; chunk=1111", &xk_proto_sink_stream, "size=3000; touch=verify",
	    &xk_proto_load_stream, "to=10.0.0.2; conns=6; size=3000; count=50");
	pf_run(&f, XK_SEC);
	CU_ASSERT_EQUAL(f.g->ndone, 1);
	CU_ASSERT_EQUAL(pf_count(&f, "client", "opened"), 6);
	CU_ASSERT_EQUAL(pf_count(&f, "client", "messages"), 300);
	CU_ASSERT_EQUAL(pf_count(&f, "client", "drained"), 6);
	CU_ASSERT_EQUAL(pf_count(&f, "server", "messages"), 300);
	CU_ASSERT_EQUAL(pf_count(&f, "server", "bytes"), 900000);
	CU_ASSERT_EQUAL(pf_count(&f, "server", "ended"), 6);
	CU_ASSERT_EQUAL(pf_count(&f, "server", "wrong_bytes"), 0);
	CU_ASSERT(sf_state(&f, "stream")->most_queued < 8000);
	for (unsigned vp = 0; vp < 2; vp++) {
		CU_ASSERT_EQUAL(xk_control(pf_rep(&f, "client", vp), XK_CTL_APP_COUNTS, &a, sizeof a), (int)sizeof a);
		CU_ASSERT_EQUAL_FATAL(a.n, 3);
		for (unsigned i = 0; i < 3; i++) {
			CU_ASSERT_EQUAL(a.messages[i], 50);
			CU_ASSERT_EQUAL(a.bytes[i], 150000);
			CU_ASSERT_EQUAL(a.conn[i] % 2, vp);
		}
		CU_ASSERT_EQUAL(xk_control(pf_rep(&f, "server", vp), XK_CTL_APP_COUNTS, &a, sizeof a), (int)sizeof a);
		CU_ASSERT_EQUAL(a.n, 3);
	}
	over_and_out();
}

/* Pushed to a stream that has no operation write. */
static void messages_that_fit_a_buffer_carry_their_sum(void)
{
	up3(1, NULL, &xk_proto_sink_stream, "size=1001; touch=verify",
	    &xk_proto_load_stream, "to=10.0.0.2; size=1001; count=20");
	pf_run(&f, XK_SEC);
	CU_ASSERT_EQUAL(sf_state(&f, "stream")->summed, 20);
	CU_ASSERT_EQUAL(pf_count(&f, "server", "wrong_bytes"), 0);
	CU_ASSERT_EQUAL(pf_count(&f, "server", "messages"), 20);
	over_and_out();
	up3(1, "room=1000000", &xk_proto_sink_stream, "size=9000",
	    &xk_proto_load_stream, "to=10.0.0.2; size=9000; count=20");
	pf_run(&f, XK_SEC);
	CU_ASSERT_EQUAL(sf_state(&f, "stream")->summed, 0);
	CU_ASSERT_EQUAL(pf_count(&f, "server", "messages"), 20);
	over_and_out();
}

static void finds_wrong_bytes(void)
{
	struct sf_conn *c;
	uint8_t b[600];

	up(NULL, &xk_proto_sink_stream, "size=300; touch=verify");
	stream_pattern(b, 300);
	memcpy(b + 300, b, 300);
	b[310] ^= 1;
	c = sf_open(&f, "client", 0, 9, false);
	sf_send(&f, c, b, 450);
	sf_send(&f, c, b + 450, 150);
	CU_ASSERT_EQUAL(pf_count(&f, "server", "messages"), 2);
	CU_ASSERT_EQUAL(pf_count(&f, "server", "wrong_bytes"), 1);
	sf_shutdown(&f, c);
	sf_close(&f, c);
	over_and_out();
}

static void a_rate_spaces_messages_out(void)
{
	up3(1, NULL, &xk_proto_sink_stream, "size=100", &xk_proto_load_stream, "to=10.0.0.2; size=100; rate=100; count=50");
	pf_run(&f, 100 * XK_MS);
	CU_ASSERT(pf_count(&f, "client", "messages") >= 8 && pf_count(&f, "client", "messages") <= 11);
	CU_ASSERT_EQUAL(f.g->ndone, 0);
	pf_run(&f, XK_SEC);
	CU_ASSERT_EQUAL(pf_count(&f, "client", "messages"), 50);
	CU_ASSERT_EQUAL(pf_count(&f, "client", "drained"), 1);
	over_and_out();
}

/* What went there and was echoed comes back in pieces that are not the messages. */
static void a_window_waits_for_answers_and_times_some(void)
{
	uint64_t sum[XK_HIST_PLACES] = { 0 };
	struct xk_app_counts a;

	up3(1, "chunk=700", &xk_proto_tcpecho, NULL, &xk_proto_load_stream, "to=10.0.0.2; port=7; conns=3; size=1000; window=2; count=100");
	pf_run(&f, XK_SEC);
	CU_ASSERT_EQUAL(f.g->ndone, 1);
	CU_ASSERT_EQUAL(pf_count(&f, "client", "messages"), 300);
	CU_ASSERT_EQUAL(pf_count(&f, "client", "received_bytes"), 300000);
	CU_ASSERT_EQUAL(pf_count(&f, "client", "drained"), 3);
	CU_ASSERT(sf_state(&f, "stream")->most_queued <= 2000);
	CU_ASSERT_EQUAL(xk_control(pf_rep(&f, "client", 0), XK_CTL_APP_COUNTS, &a, sizeof a), (int)sizeof a);
	CU_ASSERT_PTR_NOT_NULL_FATAL(a.rtt);
	xk_hist_sum(sum, a.rtt, 1);
	CU_ASSERT(xk_hist_count(sum) >= 3 && xk_hist_count(sum) <= 3 * 7);
	over_and_out();
	/* A peer that does not answer gets a window's worth. */
	up3(1, NULL, &xk_proto_discard, NULL, &xk_proto_load_stream, "to=10.0.0.2; size=1000; window=5; count=100");
	pf_run(&f, XK_SEC);
	CU_ASSERT_EQUAL(f.g->ndone, 0);
	CU_ASSERT_EQUAL(pf_count(&f, "client", "messages"), 5);
	pf_down(&f);
	/* One that says more than it was told has answered. */
	up3(1, NULL, &xk_proto_chargen, NULL, &xk_proto_load_stream, "to=10.0.0.2; port=19; size=10; window=1; count=100");
	pf_run(&f, 10 * XK_MS);
	CU_ASSERT_EQUAL(pf_count(&f, "client", "messages"), 100);
	CU_ASSERT_EQUAL(pf_count(&f, "client", "drained"), 1);
	pf_down(&f);
}

static void a_slow_reader_is_met_by_backpressure(void)
{
	uint64_t got;

	up3(1, "room=4000; window=3000", &xk_proto_sink_stream, "size=1000; rate=80kbit/s",
	    &xk_proto_load_stream, "to=10.0.0.2; size=1000; count=30");
	pf_run(&f, XK_SEC);
	got = pf_count(&f, "server", "bytes");
	CU_ASSERT(got >= 11000 && got <= 15000);
	pf_run(&f, 5 * XK_SEC);
	CU_ASSERT_EQUAL(pf_count(&f, "server", "bytes"), 30000);
	CU_ASSERT_EQUAL(pf_count(&f, "client", "drained"), 1);
	over_and_out();
}

static void a_slow_reader_closes_when_it_has_read_everything(void)
{
	struct sf_conn *c;

	up(NULL, &xk_proto_sink_stream, "rate=80kbit/s");
	c = sf_open(&f, "client", 0, 9, false);
	sf_send(&f, c, bytes, 10000);
	sf_shutdown(&f, c);
	pf_run(&f, 900 * XK_MS);
	CU_ASSERT_EQUAL(pf_count(&f, "server", "ended"), 1);
	CU_ASSERT_EQUAL(c->ended, 0);
	pf_run(&f, 200 * XK_MS);
	CU_ASSERT_EQUAL(c->ended, 1);
	sf_close(&f, c);
	over_and_out();
}

static void a_refusal_is_counted_and_ends_the_run(void)
{
	up3(1, NULL, &xk_proto_sink_stream, "port=10", &xk_proto_load_stream, "to=10.0.0.2; count=5; conns=3");
	pf_run(&f, XK_SEC);
	CU_ASSERT_EQUAL(pf_count(&f, "client", "refused"), 3);
	CU_ASSERT_EQUAL(pf_count(&f, "client", "messages"), 0);
	CU_ASSERT_EQUAL(pf_count(&f, "client", "drained"), 0);
	CU_ASSERT_EQUAL(f.g->ndone, 1);
	over_and_out();
}

static void opens_again_when_told_to(void)
{
	up3(1, "room=4000; window=1000", &xk_proto_sink_stream, "size=1000; rate=80kbit/s",
	    &xk_proto_load_stream, "to=10.0.0.2; size=1000; count=20; reconnect=100ms");
	pf_run(&f, 450 * XK_MS);
	sf_state(&f, "stream")->refuse = true;
	sf_fail_all(&f, "stream", 0, XK_E_CONNRESET);
	CU_ASSERT_EQUAL(pf_count(&f, "server", "reset"), 1);
	CU_ASSERT_EQUAL(pf_count(&f, "client", "reset"), 1);
	pf_run(&f, 450 * XK_MS);
	CU_ASSERT_EQUAL(pf_count(&f, "client", "refused"), 4);
	CU_ASSERT_EQUAL(f.g->ndone, 0);
	sf_state(&f, "stream")->refuse = false;
	pf_run(&f, 10 * XK_SEC);
	CU_ASSERT_EQUAL(pf_count(&f, "client", "reopened"), 5);
	CU_ASSERT_EQUAL(pf_count(&f, "client", "opened"), 2);
	CU_ASSERT_EQUAL(pf_count(&f, "client", "drained"), 1);
	CU_ASSERT_EQUAL(pf_count(&f, "client", "messages"), 20);
	CU_ASSERT_EQUAL(f.g->ndone, 1);
	over_and_out();
}

static void a_connection_that_is_done_is_opened_anew_when_told_to(void)
{
	uint64_t opened;

	up3(1, NULL, &xk_proto_sink_stream, "size=1000; touch=verify; sessions=2",
	    &xk_proto_load_stream, "to=10.0.0.2; size=1000; count=2; conns=2; rate=1000; again=true");
	pf_run(&f, 100 * XK_MS);
	opened = pf_count(&f, "client", "opened");
	CU_ASSERT(opened >= 20);
	CU_ASSERT(opened - pf_count(&f, "client", "drained") <= 2);
	CU_ASSERT_EQUAL(pf_count(&f, "client", "drained"), pf_count(&f, "server", "ended"));
	CU_ASSERT(pf_count(&f, "client", "messages") >= 2 * pf_count(&f, "client", "drained"));
	CU_ASSERT_EQUAL(pf_count(&f, "server", "refused"), 0);
	CU_ASSERT_EQUAL(pf_count(&f, "server", "wrong_bytes"), 0);
	CU_ASSERT_EQUAL(f.g->ndone, 0);
	pf_down(&f);
}

/* Of one message, and no more, is all said when the connection stands. */
static void one_message_goes_with_the_handshake(void)
{
	for (unsigned count = 1; count <= 2; count++) {
		char load[80];

		snprintf(load, sizeof load, "to=10.0.0.2; size=1000; conns=3; count=%u", count);
		up3(1, NULL, &xk_proto_sink_stream, "size=1000; touch=verify", &xk_proto_load_stream, load);
		pf_run(&f, 100 * XK_MS);
		CU_ASSERT_EQUAL(sf_state(&f, "stream")->at_once, count == 1 ? 3 : 0);
		CU_ASSERT_EQUAL(pf_count(&f, "server", "messages"), 3 * count);
		CU_ASSERT(pf_count(&f, "client", "drained") == 3 && pf_count(&f, "server", "wrong_bytes") == 0);
		over_and_out();
	}
}

static void a_failure_without_reconnect_is_the_end(void)
{
	up3(1, "room=4000; window=1000", &xk_proto_sink_stream, "size=1000; rate=8kbit/s",
	    &xk_proto_load_stream, "to=10.0.0.2; size=1000; count=1000");
	pf_run(&f, 10 * XK_MS);
	CU_ASSERT_EQUAL(f.g->ndone, 0);
	sf_fail_all(&f, "stream", 0, XK_E_TIMEDOUT);
	CU_ASSERT_EQUAL(pf_count(&f, "client", "failed"), 1);
	CU_ASSERT_EQUAL(f.g->ndone, 1);
	over_and_out();
}

static void stops_in_the_middle_of_everything(void)
{
	up3(2, "room=4000; window=1000", &xk_proto_sink_stream, "size=1000; rate=8kbit/s",
	    &xk_proto_load_stream, "to=10.0.0.2; size=1000; conns=4; reconnect=1s");
	pf_run(&f, 10 * XK_MS);
	pf_down(&f);
	up3(1, NULL, &xk_proto_tcpecho, NULL, &xk_proto_load_stream, "to=10.0.0.2; port=7; rate=1000; conns=4");
	pf_run(&f, 10 * XK_MS);
	CU_ASSERT(pf_count(&f, "client", "received_bytes") > 0);
	pf_down(&f);
}

static void parameters_that_cannot_work_are_refused(void)
{
	uint64_t conf[32];
	char why[200];

	memset(conf, 0, sizeof conf);
	CU_ASSERT(xk_proto_load_stream.conf_size <= sizeof conf && xk_proto_sink_stream.conf_size <= sizeof conf);
	CU_ASSERT_EQUAL(xk_param_defaults(xk_proto_load_stream.params, conf, why, sizeof why), 0);
	CU_ASSERT(xk_proto_load_stream.check(conf, why, sizeof why) < 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "'to'"));
	CU_ASSERT_EQUAL(xk_param_set(xk_param_find(xk_proto_load_stream.params, "again"), conf, "true", true, why, sizeof why), 0);
	CU_ASSERT(xk_proto_load_stream.check(conf, why, sizeof why) < 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "'count'"));
	memset(conf, 0, sizeof conf);
	CU_ASSERT_EQUAL(xk_param_defaults(xk_proto_sink_stream.params, conf, why, sizeof why), 0);
	CU_ASSERT_EQUAL(xk_proto_sink_stream.check(conf, why, sizeof why), 0);
	CU_ASSERT_EQUAL(xk_param_set(xk_param_find(xk_proto_sink_stream.params, "ports"), conf, "65535", true, why, sizeof why), 0);
	CU_ASSERT(xk_proto_sink_stream.check(conf, why, sizeof why) < 0);
}

static void survives_the_failure_of_every_allocation(void)
{
	static const struct { const struct xk_proto *server; const char *server_params, *client_params; } t[] = {
		{ &xk_proto_tcpecho, NULL, "to=10.0.0.2; port=7; conns=2; size=10000; count=2" },
		{ &xk_proto_sink_stream, NULL, "to=10.0.0.2; conns=2; size=1000; count=2; reconnect=1ms" },
		{ &xk_proto_discard, NULL, "to=10.0.0.2; conns=2; size=1000; count=2" },
		{ &xk_proto_chargen, NULL, "to=10.0.0.2; port=20; conns=2; size=1000; count=2" },
	};

	for (unsigned i = 0; i < XK_ARRAY_LEN(t); i++) {
		const struct pf_spec g[] = {
			{ &sf_stream, "stream", NULL, NULL }, { t[i].server, "server", "stream", t[i].server_params },
			{ &xk_proto_load_stream, "client", "stream", t[i].client_params }, { NULL, NULL, NULL, NULL } };

		CU_ASSERT(pf_survives(&f, g, 3000));
	}
}

static CU_TestInfo tests[] = {
	{ "echoes what it gets in order", echoes_what_it_gets_in_order },
	{ "a reader that sleeps stops the echo within its window", a_reader_that_sleeps_stops_the_echo_within_its_window },
	{ "the echo ends after all was sent back", the_echo_ends_after_all_was_sent_back },
	{ "a reset frees what the echo held", a_reset_frees_what_the_echo_held },
	{ "a thread echoes what it gets in order", a_thread_echoes_what_it_gets_in_order },
	{ "a thread is stopped by a reader that sleeps", a_thread_is_stopped_by_a_reader_that_sleeps },
	{ "a thread ends after all was sent back", a_thread_ends_after_all_was_sent_back },
	{ "a reset ends a thread that waits", a_reset_ends_a_thread_that_waits },
	{ "the graph may stop while threads wait", the_graph_may_stop_while_threads_wait },
	{ "connections beyond the cap are refused", connections_beyond_the_cap_are_refused },
	{ "single bytes do not hold a buffer each", single_bytes_do_not_hold_a_buffer_each },
	{ "discard takes everything and answers nothing", discard_takes_everything_and_answers_nothing },
	{ "chargen sends lines as fast as they are read", chargen_sends_lines_as_fast_as_they_are_read },
	{ "chargen survives a reset while it sends", chargen_survives_a_reset_while_it_sends },
	{ "sends all of all connections and finishes", sends_all_of_all_connections_and_finishes },
	{ "messages that fit a buffer carry their sum", messages_that_fit_a_buffer_carry_their_sum },
	{ "finds wrong bytes", finds_wrong_bytes },
	{ "a rate spaces messages out", a_rate_spaces_messages_out },
	{ "a window waits for answers and times some", a_window_waits_for_answers_and_times_some },
	{ "a slow reader is met by backpressure", a_slow_reader_is_met_by_backpressure },
	{ "a slow reader closes when it has read everything", a_slow_reader_closes_when_it_has_read_everything },
	{ "a refusal is counted and ends the run", a_refusal_is_counted_and_ends_the_run },
	{ "opens again when told to", opens_again_when_told_to },
	{ "a connection that is done is opened anew when told to", a_connection_that_is_done_is_opened_anew_when_told_to },
	{ "one message goes with the handshake", one_message_goes_with_the_handshake },
	{ "a failure without reconnect is the end", a_failure_without_reconnect_is_the_end },
	{ "stops in the middle of everything", stops_in_the_middle_of_everything },
	{ "parameters that cannot work are refused", parameters_that_cannot_work_are_refused },
	{ "survives the failure of every allocation", survives_the_failure_of_every_allocation },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = { { .pName = "stream_apps", .pTests = tests }, CU_SUITE_INFO_NULL };

int main(void)
{
	return xk_test_main(suites);
}

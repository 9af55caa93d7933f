/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_xdr.c - the presentation layer between an application and what carries its messages.
 *
 * Promises: what is pushed arrives as it was, over datagrams and over a stream; each kind of
 * malformed bytes is dropped for its reason, and over a stream ends that session alone, which
 * both sides hear of; a reader that takes nothing is met by its window; nothing is left.
 * The test host link plays a datagram transport, the test stream TCP.
 */
#include <string.h>

#include "protocols/xdr/xdr_priv.h"
#include "runtime/base/xk_bytes.h"
#include "runtime/upi/xk_inline.h"
#include "tests/protocols/stream_fixture.h"
#include "tests/support/xk_test_graph.h"

extern const struct xk_proto xk_proto_xdr, xk_proto_load_stream, xk_proto_sink_stream, xk_proto_tcpecho;

#define PEER 0x0a000002u
#define IP 0x0800
#define PORT 7
#define END { NULL, NULL, NULL, NULL }

static struct pf f;

/* n samples of which every byte is told from its neighbours, and their XDR as a record. */
static uint8_t samples[200 * XDR_SAMPLE], record[XDR_MARK + XDR_COUNT + sizeof samples];

static uint32_t make(uint32_t n)
{
	for (uint32_t i = 0; i < n * XDR_SAMPLE; i++)
		samples[i] = (uint8_t)(i * 7 + i / 251);
	xk_put_be32(record, XDR_LAST | (XDR_COUNT + n * XDR_SAMPLE));
	xk_put_be32(record + XDR_MARK, n);
	for (uint32_t i = 0; i < n; i++) {
		static const uint8_t width[] = { 4, 4, 8, 8, 8 };
		const uint8_t *p = samples + i * XDR_SAMPLE;
		uint8_t *q = record + XDR_MARK + XDR_COUNT + i * XDR_SAMPLE;

		for (unsigned k = 0; k < XK_ARRAY_LEN(width); p += width[k], q += width[k], k++)
			for (unsigned b = 0; b < width[k]; b++)
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
				q[b] = p[width[k] - 1 - b];
#else
				q[b] = p[b];
#endif
	}
	return XDR_MARK + XDR_COUNT + n * XDR_SAMPLE;
}

/* ---- datagrams ----------------------------------------------------------------------- */

static const struct pf_spec datagrams[] = {
	{ &pf_hostlink, "low", NULL, "mtu=4352" }, { &xk_proto_xdr, "x", "low", "samples=100" },
	{ &pf_upper, "up", "x", NULL }, END
};

static void inject(const uint8_t *p, uint32_t n) { pf_inject_host(&f, "low", 0, PEER, IP, p, n); }

static void datagrams_are_converted_both_ways(void)
{
	struct xk_sess *s;

	pf_up(&f, 1, datagrams);
	s = pf_open_host(&f, "up", 0, PEER, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	for (uint32_t n = 0; n <= 100; n++) {
		uint32_t len = make(n) - XDR_MARK;

		pf_push(&f, 0, s, samples, n * XDR_SAMPLE);
		CU_ASSERT_EQUAL_FATAL(pf_npushed(&f, "low"), n + 1);
		CU_ASSERT_EQUAL(pf_pushed(&f, "low", n)->len, len);
		CU_ASSERT_EQUAL(memcmp(pf_pushed(&f, "low", n)->bytes, record + XDR_MARK, len), 0);
		inject(record + XDR_MARK, len);
		CU_ASSERT_EQUAL_FATAL(pf_ngot(&f, "up"), n + 1);
		CU_ASSERT_EQUAL(pf_got(&f, "up", n)->len, n * XDR_SAMPLE);
		CU_ASSERT_EQUAL(memcmp(pf_got(&f, "up", n)->bytes, samples, n * XDR_SAMPLE), 0);
		CU_ASSERT_PTR_EQUAL(pf_got(&f, "up", n)->lls, s);
	}
	CU_ASSERT_EQUAL(pf_count(&f, "x", "samples_out"), 5050);
	CU_ASSERT_EQUAL(pf_count(&f, "x", "samples_in"), 5050);
	CU_ASSERT_EQUAL(pf_drops(&f, "x", NULL), 0);
	pf_close(&f, 0, s);
	pf_down(&f);
}

static void malformed_datagrams_are_dropped_for_their_reason(void)
{
	uint32_t len;

	pf_up(&f, 1, datagrams);
	len = make(3) - XDR_MARK;
	for (uint32_t n = 0; n < len; n++)
		inject(record + XDR_MARK, n);
	CU_ASSERT_EQUAL(pf_drops(&f, "x", "truncated"), len);
	inject(record + XDR_MARK, len + 1);
	inject(record + XDR_MARK, len + XDR_SAMPLE);
	CU_ASSERT_EQUAL(pf_drops(&f, "x", "trailing_bytes"), 2);
	xk_put_be32(record + XDR_MARK, 101);
	inject(record + XDR_MARK, len);
	xk_put_be32(record + XDR_MARK, 0xffffffff);
	inject(record + XDR_MARK, len);
	CU_ASSERT_EQUAL(pf_drops(&f, "x", "count_over_maximum"), 2);
	CU_ASSERT_EQUAL(pf_ngot(&f, "up"), 0);
	make(3);
	inject(record + XDR_MARK, len);
	CU_ASSERT_EQUAL(pf_ngot(&f, "up"), 1);
	pf_down(&f);
}

static void pushes_that_are_no_arrays_are_dropped(void)
{
	struct xk_sess *s;

	pf_up(&f, 1, datagrams);
	s = pf_open_host(&f, "up", 0, PEER, NULL);
	make(101);
	for (uint32_t n = 1; n < XDR_SAMPLE; n++)
		pf_push(&f, 0, s, samples, XDR_SAMPLE + n);
	CU_ASSERT_EQUAL(pf_drops(&f, "x", "not_samples"), XDR_SAMPLE - 1);
	pf_push(&f, 0, s, samples, 101 * XDR_SAMPLE);
	CU_ASSERT_EQUAL(pf_drops(&f, "x", "too_long"), 1);
	CU_ASSERT_EQUAL(pf_npushed(&f, "low"), 0);
	pf_close(&f, 0, s);
	pf_down(&f);
}

static void sizes_are_those_of_whole_samples(void)
{
	struct xk_sess *s;
	uint32_t v = 0;

	pf_up(&f, 1, datagrams);
	s = pf_open_host(&f, "up", 0, PEER, NULL);
	pf_enter(&f, 0);
	CU_ASSERT_EQUAL(xk_sess_control(s, XK_CTL_GETMAXPACKET, &v, 4), 4);
	CU_ASSERT_EQUAL(v, 100 * XDR_SAMPLE);
	CU_ASSERT_EQUAL(xk_control(pf_rep(&f, "x", 0), XK_CTL_GETOPTPACKET, &v, 4), 4);
	CU_ASSERT_EQUAL(v, 100 * XDR_SAMPLE);
	CU_ASSERT(xk_sess_control(s, XK_CTL_HEADER_SUM, &v, 4) < 0);
	CU_ASSERT(xk_sess_control(s, XK_STREAM_ROOM, &v, 4) < 0);
	CU_ASSERT_EQUAL(xk_sess_control(s, XK_CTL_GETPEERHOST, &v, 4), 4);
	CU_ASSERT_EQUAL(v, PEER);
	pf_leave(&f, 0);
	pf_close(&f, 0, s);
	pf_down(&f);
}

static void peers_nobody_keeps_are_served_and_forgotten(void)
{
	uint32_t len = make(2) - XDR_MARK;

	pf_up(&f, 1, datagrams);
	for (uint32_t i = 0; i < 50; i++)
		pf_inject_host(&f, "low", 0, PEER + i, IP, record + XDR_MARK, len);
	CU_ASSERT_EQUAL(pf_ngot(&f, "up"), 50);
	CU_ASSERT_EQUAL(pf_sessions(&f, "x"), 50);
	pf_run(&f, 200 * XK_SEC);
	CU_ASSERT_EQUAL(pf_sessions(&f, "x") + pf_sessions(&f, "low"), 0);
	pf_down(&f);
}

/* ---- streams --------------------------------------------------------------------------- */

/* Both ends have the layer, and `raw` speaks to the server's without it. */
static const struct pf_spec streams[] = {
	{ &sf_stream, "net", NULL, NULL }, { &xk_proto_xdr, "x", "net", "samples=100; fragment=3" },
	{ &sf_peer, "server", "x", "port=7" }, { &sf_peer, "client", "x", NULL },
	{ &sf_peer, "raw", "net", NULL }, END
};

static struct sf_conn *raw, *server;

static void begin(const struct pf_spec *g, bool manual)
{
	pf_up(&f, 1, g);
	raw = sf_open(&f, "raw", 0, PORT, false);
	CU_ASSERT_PTR_NOT_NULL_FATAL(raw);
	server = sf_conn(&f, "server", 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(server);
	if (manual) {
		uint32_t one = 1;

		pf_enter(&f, 0);
		xk_sess_control(server->s, XK_STREAM_MANUAL, &one, sizeof one);
		pf_leave(&f, 0);
	}
}

static void end(void)
{
	CU_ASSERT_EQUAL(sf_state(&f, "net")->broken, 0);
	pf_down(&f);
}

static void streams_are_converted_both_ways(void)
{
	struct sf_conn *c, *s;

	pf_up(&f, 1, streams);
	c = sf_open(&f, "client", 0, PORT, false);
	CU_ASSERT_EQUAL(c->opened, 1);
	s = sf_conn(&f, "server", 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	make(200);
	sf_send(&f, c, samples, 200 * XDR_SAMPLE);
	sf_send(&f, c, samples, 7 * XDR_SAMPLE);
	CU_ASSERT_EQUAL(s->n, 207 * XDR_SAMPLE);
	CU_ASSERT_EQUAL(memcmp(s->got, samples, 200 * XDR_SAMPLE), 0);
	CU_ASSERT_EQUAL(memcmp(s->got + 200 * XDR_SAMPLE, samples, 7 * XDR_SAMPLE), 0);
	CU_ASSERT_EQUAL(pf_count(&f, "x", "records_in"), 3);
	CU_ASSERT_EQUAL(pf_count(&f, "x", "records_out"), 3);
	sf_send(&f, s, samples, XDR_SAMPLE);
	CU_ASSERT_EQUAL(c->n, XDR_SAMPLE);
	sf_shutdown(&f, c);
	CU_ASSERT_EQUAL(c->drained, 1);
	CU_ASSERT_EQUAL(s->ended, 1);
	sf_close(&f, s);
	CU_ASSERT_EQUAL(c->ended, 1);
	sf_close(&f, c);
	CU_ASSERT_EQUAL(pf_sessions(&f, "x") + pf_sessions(&f, "net"), 0);
	end();
}

/* What `raw` sends is XDR as others write it, and reads as others read it. */
static void records_are_those_of_other_programs(void)
{
	uint32_t len = make(5);

	begin(streams, false);
	sf_send(&f, raw, record, len);
	for (uint32_t i = 0; i < len; i++)
		sf_send(&f, raw, record + i, 1);
	CU_ASSERT_EQUAL(server->n, 10 * XDR_SAMPLE);
	CU_ASSERT_EQUAL(memcmp(server->got, samples, 5 * XDR_SAMPLE), 0);
	CU_ASSERT_EQUAL(memcmp(server->got + 5 * XDR_SAMPLE, samples, 5 * XDR_SAMPLE), 0);
	sf_send(&f, server, samples, 5 * XDR_SAMPLE);      /* fragments of 3 and 2 */
	CU_ASSERT_EQUAL_FATAL(raw->n, len + XDR_MARK);
	CU_ASSERT_EQUAL(xk_be32(raw->got), XDR_COUNT + 3 * XDR_SAMPLE);
	CU_ASSERT_EQUAL(memcmp(raw->got + 4, record + 4, XDR_COUNT + 3 * XDR_SAMPLE), 0);
	CU_ASSERT_EQUAL(xk_be32(raw->got + 8 + 3 * XDR_SAMPLE), XDR_LAST | 2 * XDR_SAMPLE);
	CU_ASSERT_EQUAL(memcmp(raw->got + 12 + 3 * XDR_SAMPLE, record + 8 + 3 * XDR_SAMPLE, 2 * XDR_SAMPLE), 0);
	end();
}

/* Bytes behind one good record end the session, and nothing else. */
static void refused(const char *reason, const uint8_t *bytes, uint32_t n, bool ends)
{
	struct sf_conn *other;

	begin(streams, false);
	sf_send(&f, raw, record, make(1));
	sf_send(&f, raw, bytes, n);
	if (ends)
		sf_shutdown(&f, raw);
	CU_ASSERT_EQUAL(pf_drops(&f, "x", reason), 1);
	CU_ASSERT_EQUAL(pf_count(&f, "x", "aborted"), 1);
	CU_ASSERT_EQUAL(server->n, XDR_SAMPLE);
	CU_ASSERT_EQUAL(server->failed, 1);
	CU_ASSERT_EQUAL(server->err, XK_E_CONNABORTED);
	CU_ASSERT_EQUAL(server->ended, 0);
	CU_ASSERT_EQUAL(raw->failed, 1);
	CU_ASSERT_EQUAL(raw->err, XK_E_CONNRESET);
	CU_ASSERT_EQUAL(pf_sessions(&f, "x") + pf_sessions(&f, "net"), 0);
	other = sf_open(&f, "raw", 0, PORT, false);
	sf_send(&f, other, record, make(2));
	CU_ASSERT_EQUAL(sf_conn(&f, "server", 1)->n, 2 * XDR_SAMPLE);
	end();
}

static void malformed_records_end_their_session_for_their_reason(void)
{
	uint8_t b[256] = { 0 };

	xk_put_be32(b, XDR_LAST | (XDR_COUNT + 100 * XDR_SAMPLE + 1));
	refused("record_too_long", b, XDR_MARK, false);
	xk_put_be32(b, 0x7fffffff);
	refused("record_too_long", b, XDR_MARK, false);
	xk_put_be32(b, XDR_LAST | 36);
	xk_put_be32(b + 4, 101);
	refused("count_over_maximum", b, 8, false);
	xk_put_be32(b + 4, 2);
	refused("truncated", b, 40, false);
	xk_put_be32(b, XDR_LAST | 40);
	xk_put_be32(b + 4, 1);
	refused("trailing_bytes", b, 44, false);
	xk_put_be32(b, XDR_LAST);
	refused("truncated", b, 4, false);
	memset(b, 0, sizeof b);
	refused("empty_fragments", b, sizeof b, false);
	/* The peer ends where it should not: in a mark, in a count, in a sample, between fragments. */
	refused("truncated", b, 3, true);
	refused("truncated", b, 4, true);
	xk_put_be32(b, XDR_LAST | 68);
	refused("truncated", b, 6, true);
	xk_put_be32(b + 4, 2);
	refused("truncated", b, 50, true);
	xk_put_be32(b, 4);
	refused("truncated", b, 8, true);
}

static void a_push_that_leaves_a_hole_ends_the_session(void)
{
	begin(streams, false);
	make(2);
	sf_send(&f, server, samples, XDR_SAMPLE + 1);
	CU_ASSERT_EQUAL(pf_drops(&f, "x", "not_samples"), 1);
	CU_ASSERT(server->failed == 1 && server->err == XK_E_CONNABORTED);
	CU_ASSERT(raw->failed == 1 && raw->n == 0);
	CU_ASSERT_EQUAL(pf_sessions(&f, "x") + pf_sessions(&f, "net"), 0);
	end();
}

static void a_failure_below_is_told_above_once(void)
{
	begin(streams, false);
	sf_send(&f, raw, record, make(3) - 5);   /* and what was held of a record goes */
	sf_fail_all(&f, "net", 0, XK_E_TIMEDOUT);
	CU_ASSERT(server->failed == 1 && server->err == XK_E_TIMEDOUT);
	CU_ASSERT_EQUAL(pf_count(&f, "x", "aborted"), 0);
	CU_ASSERT_EQUAL(pf_sessions(&f, "x") + pf_sessions(&f, "net"), 0);
	end();
}

static void a_refused_port_is_told_to_the_opener(void)
{
	struct sf_conn *c;

	pf_up(&f, 1, streams);
	c = sf_open(&f, "client", 0, PORT + 1, false);
	CU_ASSERT(c->failed == 1 && c->err == XK_E_CONNREFUSED);
	CU_ASSERT_EQUAL(pf_sessions(&f, "x"), 0);
	end();
}

/* ---- flow control ------------------------------------------------------------------------- */

static const struct pf_spec narrow[] = {
	{ &sf_stream, "net", NULL, "room=1000; window=1000; chunk=100" }, { &xk_proto_xdr, "x", "net", "samples=100" },
	{ &sf_peer, "server", "x", "port=7" }, { &sf_peer, "raw", "net", NULL }, END
};

static void a_reader_that_takes_nothing_is_met_by_its_window(void)
{
	uint32_t len = make(1), sent = 0, taken = 0;

	begin(narrow, true);
	for (unsigned i = 0; i < 200; i++) {
		uint32_t room = 0;

		pf_enter(&f, 0);
		xk_sess_control(raw->s, XK_STREAM_ROOM, &room, sizeof room);
		pf_leave(&f, 0);
		if (room == 0)
			break;
		sf_send(&f, raw, record, len);
		sent++;
	}
	/* Ours and theirs: 1000 bytes of window, 1000 of room, and what passes each edge. */
	CU_ASSERT(sent >= 2000 / len && sent <= 2200 / len + 2);
	CU_ASSERT(server->n >= 900 / len * XDR_SAMPLE && server->n <= 1100 / len * XDR_SAMPLE + XDR_SAMPLE);
	while (taken < server->n) {
		sf_take(&f, server, XDR_SAMPLE / 2);
		taken += XDR_SAMPLE / 2;
	}
	CU_ASSERT_EQUAL(server->n, sent * XDR_SAMPLE);
	sf_shutdown(&f, raw);
	CU_ASSERT_EQUAL(server->ended, 1);
	sf_close(&f, server);
	CU_ASSERT_EQUAL(raw->failed, 0);         /* all was read: no reset */
	end();
}

/* Its bytes count as they come, or its end would be waited for for ever. */
static void a_record_larger_than_the_window_arrives(void)
{
	uint32_t len = make(100);

	begin(narrow, true);
	for (uint32_t i = 0; i < len; i += 500)
		sf_send(&f, raw, record + i, len - i < 500 ? len - i : 500);
	CU_ASSERT_EQUAL(server->n, 100 * XDR_SAMPLE);
	CU_ASSERT_EQUAL(memcmp(server->got, samples, server->n), 0);
	sf_take(&f, server, server->n);
	end();
}

/* As much as the room says, in the shortest pieces: a push without room would be counted. */
static void all_that_fits_is_pushed_and_no_more(void)
{
	static const struct pf_spec apps[] = {
		{ &sf_stream, "net", NULL, "room=1000; window=1000; chunk=77" },
		{ &xk_proto_xdr, "x", "net", "fragment=1" },
		{ &xk_proto_sink_stream, "recv", "x", "port=9; size=32; touch=verify" },
		{ &xk_proto_load_stream, "send", "x", "to=10.0.0.2; port=9; conns=4; size=32; count=500" }, END
	};

	pf_up(&f, 2, apps);
	pf_run(&f, XK_SEC);
	CU_ASSERT_EQUAL(pf_count(&f, "recv", "messages"), 2000);
	CU_ASSERT_EQUAL(pf_count(&f, "recv", "wrong_bytes"), 0);
	CU_ASSERT_EQUAL(pf_count(&f, "send", "drained"), 4);
	CU_ASSERT_EQUAL(pf_count(&f, "recv", "ended"), 4);
	CU_ASSERT(sf_state(&f, "net")->most_queued <= 1000 + 40);
	end();
}

static void echoes_of_samples_are_samples(void)
{
	static const struct pf_spec apps[] = {
		{ &sf_stream, "net", NULL, "room=3000; window=500; chunk=200" },
		{ &xk_proto_xdr, "x", "net", "samples=20" },
		{ &xk_proto_tcpecho, "echo", "x", "port=7" }, { &sf_peer, "client", "x", NULL }, END
	};
	struct sf_conn *c;
	unsigned i;

	pf_up(&f, 1, apps);
	make(50);
	c = sf_open(&f, "client", 0, PORT, false);
	for (i = 1; i <= 50; i++) {
		sf_forget(c);
		sf_send(&f, c, samples, i * XDR_SAMPLE);
		CU_ASSERT(c->n == i * XDR_SAMPLE && memcmp(c->got, samples, c->n) == 0);
	}
	sf_shutdown(&f, c);
	CU_ASSERT_EQUAL(c->ended, 1);
	sf_close(&f, c);
	CU_ASSERT_EQUAL(pf_sessions(&f, "x") + pf_sessions(&f, "net"), 0);
	end();
}

/* ---- an application that has enough ------------------------------------------------------------ */

static int quitter_open_done(struct xk_rep *r, struct xk_sess *lls, struct xk_node *type)
{
	(void)r;
	(void)type;
	xk_dup(lls);
	return XK_OK;
}

static void quitter_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	xk_count(up->rep->npop);
	xk_msg_free(m);
	xk_close(lls);
}

static int quitter_start(struct xk_node *n, struct xk_errs *e)
{
	return xk_app_listen(n, PORT, e);
}

static void quitter_stop(struct xk_node *n) { xk_open_disable_all(n, n->down[0]); }

static const struct xk_ops quitter_ops = {
	.start = quitter_start, .stop = quitter_stop, .open_done = quitter_open_done, .demux = quitter_demux,
};
static const struct xk_proto quitter = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "quitter", .doc = "closes when the first bytes come",
	.ops = &quitter_ops, .needs = { "stream" }, .min_down = 1, .max_down = 1,
};

static void closing_inside_a_record_is_safe_and_what_follows_is_refused(void)
{
	static const struct pf_spec g[] = {
		{ &sf_stream, "net", NULL, NULL }, { &xk_proto_xdr, "x", "net", NULL },
		{ &quitter, "server", "x", NULL }, { &sf_peer, "raw", "net", NULL }, END
	};
	uint8_t both[2 * sizeof record];

	for (uint32_t n = 1; n <= 2; n++) {
		uint32_t len = make(2);

		memcpy(both, record, len);
		memcpy(both + len, record, len);
		pf_up(&f, 1, g);
		raw = sf_open(&f, "raw", 0, PORT, false);
		sf_send(&f, raw, both, n * len);
		CU_ASSERT_EQUAL(pf_rep(&f, "server", 0)->npop, 1);
		CU_ASSERT_EQUAL(pf_drops(&f, "x", "session_gone"), n - 1);
		CU_ASSERT_EQUAL(raw->failed, n - 1);     /* unread bytes: a reset */
		CU_ASSERT_EQUAL(raw->ended, 2 - n);
		CU_ASSERT_EQUAL(pf_sessions(&f, "x"), 0);
		end();
	}
}

/* ---- no memory ------------------------------------------------------------------------------------ */

static void running_out_of_memory_anywhere_leaves_nothing(void)
{
	bool up = false;

	for (uint64_t k = 1; !up && k < 500; k++) {
		xk_mem_fail_after(k);
		up = pf_up_try(&f, 2, streams);
		xk_mem_fail_after(0);
		pf_down(&f);
	}
	CU_ASSERT(up);
	for (uint64_t k = 1; k < 30; k++) {
		struct sf_conn *c;

		pf_up(&f, 1, streams);
		make(200);
		xk_mem_fail_after(k);
		c = sf_open(&f, "client", 0, PORT, false);
		if (c != NULL && c->s != NULL)
			sf_shutdown(&f, c);
		xk_mem_fail_after(0);
		pf_down(&f);
	}
}

#define T(name) { #name, name }
static CU_TestInfo datagram_tests[] = {
	T(datagrams_are_converted_both_ways),
	T(malformed_datagrams_are_dropped_for_their_reason),
	T(pushes_that_are_no_arrays_are_dropped),
	T(sizes_are_those_of_whole_samples),
	T(peers_nobody_keeps_are_served_and_forgotten),
	CU_TEST_INFO_NULL
};
static CU_TestInfo stream_tests[] = {
	T(streams_are_converted_both_ways),
	T(records_are_those_of_other_programs),
	T(malformed_records_end_their_session_for_their_reason),
	T(a_push_that_leaves_a_hole_ends_the_session),
	T(a_failure_below_is_told_above_once),
	T(a_refused_port_is_told_to_the_opener),
	T(a_reader_that_takes_nothing_is_met_by_its_window),
	T(a_record_larger_than_the_window_arrives),
	T(all_that_fits_is_pushed_and_no_more),
	T(echoes_of_samples_are_samples),
	T(closing_inside_a_record_is_safe_and_what_follows_is_refused),
	T(running_out_of_memory_anywhere_leaves_nothing),
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "over datagrams", NULL, NULL, NULL, NULL, datagram_tests },
	{ "over a stream", NULL, NULL, NULL, NULL, stream_tests },
	CU_SUITE_INFO_NULL
};

int main(void) { return xk_test_main_rcu(suites); }

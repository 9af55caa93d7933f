/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_peer_tcp.c - the in-memory drivers as simulated TCP peers, under our TCP.
 *
 * Promises: the receiver takes part in set-up and end and acknowledges every
 * other segment of each connection, ceil(n/2) in all, on the stack of the
 * push; the sender's segments come in order, each connection on its VP, within
 * the window; nothing leaks, whatever fails or stays open.
 */
#include "drivers/mem/mem.h"
#include "drivers/peer/peer.h"

#include <string.h>

#include "protocols/tcp/tcp.h"
#include "runtime/base/xk_bytes.h"
#include "runtime/base/xk_param_value.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"
#include "tests/protocols/proto_fixture.h"
#include "tests/support/xk_test.h"

extern const struct xk_proto xk_proto_eth, xk_proto_fddi, xk_proto_arp, xk_proto_ip, xk_proto_tcp;
extern const struct xk_proto xk_proto_load_stream, xk_proto_sink_stream;

static struct pf f;

#define STACK(drv, link, peer, peer_params, tcp_params, app, app_params) { \
	{ peer, "p", NULL, peer_params }, { drv, "d", "p", NULL }, { link, "l", "d", NULL }, \
	{ &xk_proto_arp, "arp", "l", "neighbours=10.0.0.2=02:00:00:00:00:09" }, \
	{ &xk_proto_ip, "ip", "arp", "addr=10.0.0.1/8" }, { &xk_proto_tcp, "tcp", "ip", tcp_params }, \
	{ app, "app", "tcp", app_params }, { NULL, NULL, NULL, NULL } }

static void no_drops(void)
{
	for (unsigned i = 0; i < f.g->nnodes; i++)
		CU_ASSERT_EQUAL(pf_drops(&f, f.g->node[i]->name, NULL), 0);
}

/* ---- the receiver ---------------------------------------------------------------------- */

/* Sends `n` messages of one segment each over every one of `conns` connections. */
static void sends(const struct pf_spec *g, unsigned nvps, unsigned conns, uint64_t n, uint64_t size)
{
	pf_up(&f, nvps, g);
	pf_run(&f, 20 * XK_SEC);
	CU_ASSERT_EQUAL(pf_count(&f, "p", "opened"), conns);
	CU_ASSERT_EQUAL(pf_count(&f, "p", "closed"), conns);
	CU_ASSERT_EQUAL(pf_count(&f, "p", "sunk_bytes"), conns * n * size);
	CU_ASSERT_EQUAL(pf_count(&f, "app", "drained"), conns);
	CU_ASSERT_EQUAL(pf_count(&f, "tcp", "retransmitted"), 0);
}

static void a_stream_is_swallowed_and_ended(void)
{
	static const struct pf_spec eth[] = STACK(&xk_proto_eth_mem, &xk_proto_eth, &xk_proto_peer_tcp_sink, NULL, NULL,
		&xk_proto_load_stream, "to=10.0.0.2; conns=5; count=40; size=1460");
	static const struct pf_spec fddi[] = STACK(&xk_proto_fddi_mem, &xk_proto_fddi, &xk_proto_peer_tcp_sink, "window=1MiB", NULL,
		&xk_proto_load_stream, "to=10.0.0.2; conns=9; count=100; size=4KiB");

	sends(eth, 1, 5, 40, 1460);
	no_drops();
	pf_down(&f);
	sends(fddi, 4, 9, 100, 4096);
	no_drops();
	pf_down(&f);
}

static void every_other_segment_is_acknowledged(void)
{
	/* Nagle's algorithm off and a window that lets one message out at a time. */
	static const struct pf_spec even[] = STACK(&xk_proto_eth_mem, &xk_proto_eth, &xk_proto_peer_tcp_sink, NULL, "initial_window=64",
		&xk_proto_load_stream, "to=10.0.0.2; conns=3; count=20; size=1460; rate=1000");
	uint64_t segments;

	pf_up(&f, 1, even);
	pf_run(&f, 10 * XK_SEC);
	segments = pf_count(&f, "p", "sunk");
	CU_ASSERT_EQUAL(segments, 60);
	CU_ASSERT_EQUAL(pf_count(&f, "p", "acks"), segments / 2);
	pf_down(&f);
}

static void a_single_segment_is_acknowledged_after_a_while(void)
{
	static const struct pf_spec g[] = STACK(&xk_proto_eth_mem, &xk_proto_eth, &xk_proto_peer_tcp_sink, NULL, "tlp=false; rack=false",
		&xk_proto_load_stream, "to=10.0.0.2; size=100; rate=1");

	pf_up(&f, 1, g);
	pf_run(&f, 3500 * XK_MS);
	CU_ASSERT(pf_count(&f, "p", "sunk") >= 3);
	CU_ASSERT(pf_count(&f, "p", "acks") >= 3);
	pf_down(&f);
}

static void as_many_as_asked_for_are_acknowledged_together(void)
{
	static const struct pf_spec g[] = STACK(&xk_proto_eth_mem, &xk_proto_eth, &xk_proto_peer_tcp_sink, "ack_every=4", NULL,
		&xk_proto_load_stream, "to=10.0.0.2; count=80; size=1460");
	uint64_t acks;

	pf_up(&f, 1, g);
	pf_run(&f, 10 * XK_SEC);
	acks = pf_count(&f, "p", "acks");
	CU_ASSERT_EQUAL(pf_count(&f, "p", "sunk_bytes"), 80 * 1460);
	CU_ASSERT(acks >= 20 && acks <= 24);
	pf_down(&f);
}

/* A segment of the stack as the driver gets it; the simulated receiver trusts it. */
static struct xk_msg *segment(uint32_t seq, uint8_t flags, uint32_t len)
{
	uint8_t b[14 + 40 + 100] = { [12] = 8, [14] = 0x45, [23] = 6, [26] = 10, [29] = 1, [30] = 10, [33] = 2 };
	uint8_t *ip = b + 14, *tcp = ip + 20;

	xk_put_be16(ip + 2, (uint16_t)(40 + len));
	xk_put_be16(tcp, 1000);
	xk_put_be16(tcp + 2, 9);
	xk_put_be32(tcp + 4, seq);
	tcp[12] = 0x50;
	tcp[13] = flags;
	return pf_msg(b, 54 + len);
}

static void the_answer_comes_on_the_stack_of_the_push(void)
{
	static const struct pf_spec g[] = { { &xk_proto_peer_tcp_sink, "p", NULL, NULL },
		{ &xk_proto_eth_mem, "d", "p", NULL },
		{ &pf_upper, "u", "d", "enable=false" }, { NULL, NULL, NULL, NULL } };
	struct xk_parts ps;
	struct xk_sess *s;

	pf_up(&f, 1, g);
	xk_parts_init(&ps, 0);
	s = pf_open(&f, "u", 0, &ps, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	pf_enter(&f, 0);
	xk_push(s, segment(100, 0x02, 0));
	CU_ASSERT_EQUAL(pf_ngot(&f, "u"), 0);    /* whoever opens has not returned yet */
	pf_leave(&f, 0);
	pf_settle(&f);
	CU_ASSERT_EQUAL_FATAL(pf_ngot(&f, "u"), 1);
	CU_ASSERT_EQUAL(pf_got(&f, "u", 0)->bytes[47], 0x12);
	pf_enter(&f, 0);
	xk_push(s, segment(101, 0x10, 100));
	CU_ASSERT_EQUAL(pf_ngot(&f, "u"), 1);
	xk_push(s, segment(201, 0x10, 100));
	CU_ASSERT_EQUAL_FATAL(pf_ngot(&f, "u"), 2);
	CU_ASSERT_EQUAL(xk_be32(pf_got(&f, "u", 1)->bytes + 42), 301);
	xk_push(s, segment(999, 0x10, 100));     /* out of order: at once, and the same number */
	CU_ASSERT_EQUAL_FATAL(pf_ngot(&f, "u"), 3);
	CU_ASSERT_EQUAL(xk_be32(pf_got(&f, "u", 2)->bytes + 42), 301);
	pf_leave(&f, 0);
	pf_close(&f, 0, s);
	pf_down(&f);
}

/* ---- the sender -------------------------------------------------------------------------- */

static void segments_arrive_and_connections_end(void)
{
	static const struct pf_spec eth[] = STACK(&xk_proto_eth_mem, &xk_proto_eth,
		&xk_proto_peer_tcp_source, "to=10.0.0.1; conns=7; count=700; size=1460", NULL, &xk_proto_sink_stream, "port=9; size=1460");
	static const struct pf_spec fddi[] = STACK(&xk_proto_fddi_mem, &xk_proto_fddi,
		&xk_proto_peer_tcp_source, "to=10.0.0.1; conns=70; count=7001; size=64; checksum=good; ports=3", NULL,
		&xk_proto_sink_stream, "port=9; ports=3; size=64");

	pf_up(&f, 1, eth);
	pf_run(&f, 20 * XK_SEC);
	CU_ASSERT_EQUAL(pf_count(&f, "app", "bytes"), 700 * 1460);
	CU_ASSERT_EQUAL(pf_count(&f, "app", "accepted"), 7);
	CU_ASSERT_EQUAL(pf_count(&f, "app", "ended"), 7);
	CU_ASSERT_EQUAL(pf_count(&f, "p", "made"), 700 + 2 * 7);
	CU_ASSERT_EQUAL(pf_count(&f, "p", "closed"), 7);
	no_drops();
	pf_down(&f);
	pf_up(&f, 3, fddi);
	pf_run(&f, 20 * XK_SEC);
	CU_ASSERT_EQUAL(pf_count(&f, "app", "bytes"), 7001 * 64);
	CU_ASSERT_EQUAL(pf_count(&f, "p", "closed"), 70);
	no_drops();
	pf_down(&f);
}

static void each_connection_runs_where_the_map_puts_it(void)
{
	static const struct pf_spec g[] = STACK(&xk_proto_eth_mem, &xk_proto_eth,
		&xk_proto_peer_tcp_source, "to=10.0.0.1; conns=32; count=3200; size=100", NULL, &xk_proto_sink_stream, "port=9; size=100");
	struct xk_app_counts c;

	pf_up(&f, 4, g);
	pf_run(&f, 20 * XK_SEC);
	for (unsigned vp = 0; vp < 4; vp++) {
		CU_ASSERT_EQUAL(xk_control(pf_rep(&f, "p", vp), XK_CTL_PEER_COUNTS, &c, sizeof c), (int)sizeof c);
		CU_ASSERT_EQUAL_FATAL(c.n, 8);
		for (unsigned i = 0; i < c.n; i++) {
			CU_ASSERT_EQUAL(c.conn[i] % 4, vp);
			CU_ASSERT_EQUAL(c.messages[i], 100);
		}
		CU_ASSERT_EQUAL(f.g->vps->vp[vp]->handed_over, 0);
	}
	pf_down(&f);
}

static void the_window_is_obeyed(void)
{
	/* A receiver that reads 8000 bytes a second. */
	static const struct pf_spec g[] = STACK(&xk_proto_eth_mem, &xk_proto_eth,
		&xk_proto_peer_tcp_source, "to=10.0.0.1; size=1000", "rcv_buf=16KiB", &xk_proto_sink_stream, "port=9; rate=64kbit/s");
	uint64_t bytes;

	pf_up(&f, 1, g);
	pf_run(&f, 10 * XK_SEC);
	bytes = pf_count(&f, "app", "bytes");
	CU_ASSERT(bytes > 60000 && bytes < 120000);
	CU_ASSERT_EQUAL(pf_drops(&f, "tcp", "beyond_window"), 0);
	pf_down(&f);
}

/* ---- faults --------------------------------------------------------------------------------- */

static void open_connections_leave_nothing_behind(void)
{
	static const struct pf_spec down[] = STACK(&xk_proto_eth_mem, &xk_proto_eth, &xk_proto_peer_tcp_sink, NULL, NULL,
		&xk_proto_load_stream, "to=10.0.0.2; conns=100; size=1460; rate=100");
	static const struct pf_spec up[] = STACK(&xk_proto_eth_mem, &xk_proto_eth,
		&xk_proto_peer_tcp_source, "to=10.0.0.1; conns=100; size=1000; rxbuf=cold; rxcold=1MiB", NULL, &xk_proto_sink_stream,
		"port=9; rate=800kbit/s");

	pf_up(&f, 2, down);
	pf_run(&f, 300 * XK_MS);
	pf_down(&f);
	pf_up(&f, 2, up);
	pf_run(&f, 300 * XK_MS);
	pf_down(&f);
}

static void a_port_that_nobody_waits_on_ends_the_sender(void)
{
	static const struct pf_spec g[] = STACK(&xk_proto_eth_mem, &xk_proto_eth,
		&xk_proto_peer_tcp_source, "to=10.0.0.1; conns=3; port=80", NULL, &xk_proto_sink_stream, "port=9");

	pf_up(&f, 1, g);
	pf_run(&f, 5 * XK_SEC);
	CU_ASSERT_EQUAL(pf_count(&f, "p", "closed"), 3);
	CU_ASSERT_EQUAL(pf_count(&f, "p", "opened"), 0);
	pf_down(&f);
}

static bool conf_ok(const char *const *pairs)
{
	const struct xk_proto *p = &xk_proto_peer_tcp_source;
	unsigned char conf[1024] = { 0 };
	char why[256] = "";
	bool ok = true;

	CU_ASSERT_FATAL(p->conf_size <= sizeof conf);
	CU_ASSERT_EQUAL(xk_param_defaults(p->params, conf, why, sizeof why), XK_OK);
	for (; *pairs != NULL; pairs += 2)
		ok = ok && xk_param_set(xk_param_find(p->params, pairs[0]), conf, pairs[1], false, why, sizeof why) == XK_OK;
	ok = ok && p->check(conf, why, sizeof why) == XK_OK;
	xk_param_release(p->params, conf);
	return ok;
}

#define OK(...) conf_ok((const char *const[]){ __VA_ARGS__, NULL })

static void wrong_parameters_are_refused(void)
{
	CU_ASSERT(OK("to", "10.0.0.1", "size", "1460"));
	CU_ASSERT(!OK("to", "10.0.0.1", "size", "0"));
	CU_ASSERT(!OK("to", "10.0.0.1", "from_port", "60000"));
	CU_ASSERT(!OK("to", "10.0.0.1", "port", "65535", "ports", "2"));
}

int main(void)
{
	static CU_TestInfo receiver[] = {
		{ "a stream is swallowed and ended", a_stream_is_swallowed_and_ended },
		{ "every other segment is acknowledged", every_other_segment_is_acknowledged },
		{ "the answer comes on the stack of the push", the_answer_comes_on_the_stack_of_the_push },
		{ "a single segment is acknowledged after a while", a_single_segment_is_acknowledged_after_a_while },
		{ "as many as asked for are acknowledged together", as_many_as_asked_for_are_acknowledged_together },
		CU_TEST_INFO_NULL
	};
	static CU_TestInfo sender[] = {
		{ "segments arrive and connections end", segments_arrive_and_connections_end },
		{ "each connection runs where the map puts it", each_connection_runs_where_the_map_puts_it },
		{ "the window is obeyed", the_window_is_obeyed },
		CU_TEST_INFO_NULL
	};
	static CU_TestInfo faults[] = {
		{ "open connections leave nothing behind", open_connections_leave_nothing_behind },
		{ "a port that nobody waits on ends the sender", a_port_that_nobody_waits_on_ends_the_sender },
		{ "wrong parameters are refused", wrong_parameters_are_refused },
		CU_TEST_INFO_NULL
	};
	static const CU_SuiteInfo suites[] = {
		{ "receiver", NULL, NULL, NULL, NULL, receiver },
		{ "sender", NULL, NULL, NULL, NULL, sender },
		{ "faults", NULL, NULL, NULL, NULL, faults },
		CU_SUITE_INFO_NULL
	};

	return xk_test_main(suites);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_sock_tcp.c - sockets over real TCP, two hosts of one graph in virtual time: the
 * calling thread runs the graph, nothing waits, and a bad link loses no byte.
 */
#include "protocols/sock/xk_sock.h"
#include "protocols/tcp/tcp.h"
#include "runtime/compose/xk_compose.h"
#include "runtime/sync/xk_sync.h"
#include "runtime/upi/xk_part.h"
#include "tests/support/xk_test_graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PORT 80
#define BYTES 300000u
#define UNIT  32                /* of the window, as the node's own buffer scales it */

static struct { struct xk_errs *e; struct xk_spec *s; struct xk_graph *g; uint64_t live; } run;
static struct xk_node *client, *server;
static const struct xk_sock_addr there = { 0x0a000002, PORT };

static const char text_fmt[] =
	"local macs = { ['10.0.0.1'] = '02:00:00:00:00:01', ['10.0.0.2'] = '02:00:00:00:00:02' }\n"
	"local function host(n, own)\n"
	"  local d = eth_mem { name = 'mem' .. n, wire = 'w', mac = macs[own], queue = 4096 }\n"
	"  local fault = %s\n"
	"  if fault then fault.over = d; d = impair(fault) end\n"
	"  return tcp { name = 'tcp' .. n, over = ip { name = 'ip' .. n, addr = own .. '/24',\n"
	"    over = arp { name = 'arp' .. n, neighbours = macs, over = eth { name = 'eth' .. n, over = d } } } }\n"
	"end\n"
	"sock { name = 'client', over = host(1, '10.0.0.1') }\n"
	"sock { name = 'server', over = host(2, '10.0.0.2') }\n"
	"return graph 'tcp' { threading = vppc { vps = 3 }, clock = 'virtual' }\n";

static void up(const char *fault)
{
	struct xk_compose_opts o = { .path = NULL };
	char text[4096];
	int n = snprintf(text, sizeof text, text_fmt, fault);

	run.live = xk_alloc_live();
	run.e = xk_errs_new();
	if (xk_spec_load_text(&run.s, "tcp.lua", text, (size_t)n, &o, run.e) != XK_OK ||
	    xk_spec_check(run.s, run.e, NULL) != XK_OK || xk_spec_build(run.s, &run.g, run.e) != XK_OK ||
	    xk_graph_up(run.g, run.e) != XK_OK)
		xk_spec_print_errors(stdout, run.s, run.e, NULL);
	CU_ASSERT_EQUAL_FATAL(xk_errs_count(run.e), 0);
	client = xk_graph_find(run.g, "client");
	server = xk_graph_find(run.g, "server");
}

static void down(void) { xk_test_unbuild(run.s, run.g, run.e, run.live); }

static void pass(xk_ns dt)
{
	xk_ns until = xk_clock_read(&run.g->vps->clock) + dt;

	if (!xk_vpset_run_virtual(run.g->vps, until) && xk_clock_read(&run.g->vps->clock) < until)
		xk_clock_advance(&run.g->vps->clock, until);
}

/* A connected pair; the accepted end, whose listener has a receive buffer of so much, 0: the node's, is *b. */
static int joined_with(int rcvbuf, int *b)
{
	int l = xk_sock_socket(server, XK_SOCK_STREAM), a = xk_sock_socket(client, XK_SOCK_STREAM), res = XK_OK;

	xk_sock_bind(l, &(struct xk_sock_addr){ 0, PORT });
	if (rcvbuf != 0)
		CU_ASSERT_EQUAL(xk_sock_setopt(l, XK_SO_RCVBUF, &rcvbuf, sizeof rcvbuf), XK_OK);
	CU_ASSERT_EQUAL_FATAL(xk_sock_listen(l, 4), XK_OK);
	CU_ASSERT_EQUAL(xk_sock_connect(a, &there), XK_E_INPROGRESS);
	for (int i = 0; i < 600 && res != XK_E_ISCONN; i++) {
		pass(100 * XK_MS);
		res = xk_sock_connect(a, &there);
	}
	CU_ASSERT_EQUAL(res, XK_E_ISCONN);
	*b = XK_E_AGAIN;
	for (int i = 0; i < 600 && *b == XK_E_AGAIN; i++) {
		*b = xk_sock_accept(l, NULL, 0);
		pass(100 * XK_MS);
	}
	CU_ASSERT_FATAL(*b > 0);
	xk_sock_close(l);
	return a;
}

static int joined(int *b) { return joined_with(0, b); }

static uint8_t byte_of(size_t i, unsigned way) { return (uint8_t)((i + way * 77) * 2654435761u >> 14); }

/* One way: what has gone and come. */
struct way { int from, to; unsigned no; size_t sent, got, wrong; };

/* False: there is no room, or nothing left. */
static bool put(struct way *w)
{
	uint8_t b[9000];
	ssize_t n;

	for (size_t i = 0; i < sizeof b; i++)
		b[i] = byte_of(w->sent + i, w->no);
	n = w->sent < BYTES ? xk_sock_write(w->from, b, BYTES - w->sent < sizeof b ? BYTES - w->sent : sizeof b) : 0;
	w->sent += n > 0 ? (size_t)n : 0;
	return n > 0;
}

static void take(struct way *w, size_t most)
{
	uint8_t b[9000];
	ssize_t n = xk_sock_read(w->to, b, most);

	for (ssize_t i = 0; i < n; i++)
		w->wrong += b[i] != byte_of(w->got + (size_t)i, w->no);
	w->got += n > 0 ? (size_t)n : 0;
}

static bool move(struct way *w)
{
	(void)put(w);
	take(w, 5000);
	return w->got < BYTES;
}

static void both_ways(const char *fault)
{
	struct way w[2] = { { 0 } };
	int a, b;

	up(fault);
	a = joined(&b);
	w[0] = (struct way){ a, b, 0, 0, 0, 0 };
	w[1] = (struct way){ b, a, 1, 0, 0, 0 };
	for (int i = 0; i < 100000 && (int)move(&w[0]) + (int)move(&w[1]) > 0; i++)
		pass(XK_MS);
	for (int i = 0; i < 2; i++) {
		CU_ASSERT_EQUAL(w[i].got, BYTES);
		CU_ASSERT_EQUAL(w[i].wrong, 0);
	}
	xk_sock_close(a);
	for (int i = 0; i < 600 && xk_sock_read(b, &a, 1) == XK_E_AGAIN; i++)
		pass(100 * XK_MS);
	CU_ASSERT_EQUAL(xk_sock_read(b, &a, 1), 0);
	xk_sock_close(b);
	pass(10 * XK_SEC);
	down();
}

static void every_byte_comes_over_a_good_link(void) { both_ways("nil"); }

static void every_byte_comes_over_a_bad_link(void)
{
	for (unsigned seed = 1; seed <= 5; seed++) {
		char fault[200];

		snprintf(fault, sizeof fault, "{ loss = '5%%', dup = '5%%', reorder = '5%%', corrupt = '2%%', hold = '1ms', seed = %u }", seed);
		both_ways(fault);
	}
}

/* Nobody has accepted it yet: what its peer may send is bounded all the same. */
static void a_listeners_receive_buffer_is_its_connections_before_they_are_accepted(void)
{
	const struct { bool early; int bytes; } with[] = { { true, 4096 }, { false, 4096 }, { true, 20000 } };
	static uint8_t b[BYTES];

	for (unsigned i = 0; i < XK_ARRAY_LEN(with); i++) {
		size_t len = sizeof(int);
		int l, a, c, n = 0;

		up("nil");
		l = xk_sock_socket(server, XK_SOCK_STREAM);
		a = xk_sock_socket(client, XK_SOCK_STREAM);
		xk_sock_bind(l, &(struct xk_sock_addr){ 0, PORT });
		if (!with[i].early)
			CU_ASSERT_EQUAL(xk_sock_listen(l, 4), XK_OK);
		CU_ASSERT_EQUAL(xk_sock_setopt(l, XK_SO_RCVBUF, &with[i].bytes, sizeof(int)), XK_OK);
		if (with[i].early)
			CU_ASSERT_EQUAL(xk_sock_listen(l, 4), XK_OK);
		CU_ASSERT_EQUAL(xk_sock_connect(a, &there), XK_E_INPROGRESS);
		pass(XK_SEC);
		CU_ASSERT(xk_sock_write(a, b, sizeof b) > 100000);
		pass(10 * XK_SEC);
		c = xk_sock_accept(l, NULL, 0);
		CU_ASSERT_FATAL(c > 0);
		CU_ASSERT_EQUAL(xk_sock_getopt(c, XK_SO_NREAD, &n, &len), XK_OK);
		CU_ASSERT(n > with[i].bytes / 2 && n <= with[i].bytes + UNIT);
		down();
	}
}

/* Its window is said in units: bytes that come one by one move its edge no further for that. */
static void single_bytes_fill_no_more_than_the_buffer(void)
{
	const int on = 1;
	size_t len = sizeof(int);
	int a, c, n = 0;

	up("nil");
	a = joined_with(4096, &c);
	CU_ASSERT_EQUAL(xk_sock_setopt(a, XK_TCP_NODELAY, &on, sizeof on), XK_OK);
	for (unsigned i = 0; i < 10000; i++) {
		CU_ASSERT_EQUAL(xk_sock_write(a, "x", 1), 1);
		pass(XK_MS);
	}
	CU_ASSERT_EQUAL(xk_sock_getopt(c, XK_SO_NREAD, &n, &len), XK_OK);
	CU_ASSERT(n > 4096 - 1448 && n <= 4096 + UNIT);
	down();
}

static struct tcp_snapshot told_of(int fd)
{
	struct tcp_snapshot i = { 0 };
	size_t len = sizeof i;

	CU_ASSERT_EQUAL(xk_sock_getopt(fd, XK_TCP_INFO, &i, &len), XK_OK);
	return i;
}

/* For two minutes it takes nothing, then 1 KiB a second. */
static void a_reader_that_stops_and_then_is_slow_gets_every_byte(void)
{
	struct way w = { .no = 1 };
	struct tcp_snapshot i;

	up("{ loss = '1%', seed = 7 }");
	w.from = joined_with(4096, &w.to);
	for (unsigned s = 0; s < 120; s++) {
		while (put(&w))
			continue;
		pass(XK_SEC);
	}
	i = told_of(w.from);
	CU_ASSERT_EQUAL(i.state, TCP_S_ESTABLISHED);
	CU_ASSERT_EQUAL(i.snd_wnd, 0);
	CU_ASSERT(i.bytes_acked <= 4096 + UNIT);
	for (unsigned s = 0; s < 1000 && w.got < BYTES; s++) {
		(void)put(&w);
		take(&w, 1024);
		pass(XK_SEC);
	}
	CU_ASSERT_EQUAL(w.got, BYTES);
	CU_ASSERT_EQUAL(w.wrong, 0);
	CU_ASSERT_EQUAL(told_of(w.from).state, TCP_S_ESTABLISHED);
	down();
}

/* Copies are summed once, in pieces that TCP sends as they are. */
static void options_reach_tcp(void)
{
	static const struct { enum xk_sock_opt o; int v; } o[] = {
		{ XK_SO_SNDBUF, 20000 }, { XK_SO_RCVBUF, 20000 }, { XK_SO_KEEPALIVE, 1 }, { XK_TCP_KEEPIDLE, 5 },
		{ XK_TCP_KEEPINTVL, 1 }, { XK_TCP_KEEPCNT, 2 }, { XK_TCP_NODELAY, 1 }, { XK_TCP_USER_TIMEOUT, 30000 },
		{ XK_TCP_MAXSEG, 1000 },
	};
	static uint8_t b[100000];
	struct tcp_snapshot i;
	size_t len = sizeof i;
	int a, c;

	up("nil");
	a = joined(&c);
	for (unsigned k = 0; k < XK_ARRAY_LEN(o); k++)
		CU_ASSERT_EQUAL(xk_sock_setopt(a, o[k].o, &o[k].v, sizeof(int)), XK_OK);
	CU_ASSERT_EQUAL(xk_sock_getopt(a, XK_TCP_INFO, &i, &len), XK_OK);
	CU_ASSERT(i.mss <= 1000);
	CU_ASSERT(xk_sock_write(a, b, sizeof b) < 40000);
	pass(60 * XK_SEC);               /* keepalives are answered */
	CU_ASSERT_EQUAL(xk_sock_getopt(a, XK_TCP_INFO, &i, &len), XK_OK);
	CU_ASSERT_EQUAL(i.state, TCP_S_ESTABLISHED);
	CU_ASSERT(xk_sock_read(c, b, sizeof b) > 10000);
	down();
}

/* Sessions of a node, over all VPs. */
static uint64_t sessions(const char *name)
{
	const struct xk_node *n = xk_graph_find(run.g, name);
	uint64_t sum = 0;

	for (unsigned v = 0; v < run.g->vps->nvps; v++)
		sum += xk_rep_sessions(n->rep[v]);
	return sum;
}

static void a_closed_socket_waits_for_its_peers_end_as_told(void)
{
	const int two = 2;
	int v = 0, a, c;
	size_t len = sizeof v;

	up("nil");
	a = joined(&c);
	CU_ASSERT_EQUAL(xk_sock_setopt(a, XK_TCP_LINGER2, &two, sizeof two), XK_OK);
	CU_ASSERT_EQUAL(xk_sock_getopt(a, XK_TCP_LINGER2, &v, &len), XK_OK);
	CU_ASSERT_EQUAL(v, 2);
	xk_sock_close(a);                /* c keeps its end open */
	pass(1500 * XK_MS);
	CU_ASSERT_EQUAL(sessions("tcp1"), 1);
	pass(XK_SEC);
	CU_ASSERT_EQUAL(sessions("tcp1"), 0);
	down();
}

/* Corked pieces leave as full segments; uncorked, the rest follows. */
static void a_cork_holds_what_is_not_a_full_segment(void)
{
	static uint8_t b[3000];
	size_t len = sizeof(int);
	int a, c, on = 1, n;

	up("nil");
	a = joined(&c);
	xk_sock_setopt(a, XK_TCP_CORK, &on, sizeof on);
	for (int i = 0; i < 20; i++)
		CU_ASSERT_EQUAL(xk_sock_write(a, b, 100), 100);
	pass(10 * XK_MS);
	CU_ASSERT_EQUAL(xk_sock_getopt(c, XK_SO_NREAD, &n, &len), XK_OK);
	CU_ASSERT_EQUAL(n, 1448);
	on = 0;
	xk_sock_setopt(a, XK_TCP_CORK, &on, sizeof on);
	pass(10 * XK_MS);
	CU_ASSERT_EQUAL(xk_sock_read(c, b, sizeof b), 2000);
	down();
}

static void urgent_bytes_are_said_to_be_so(void)
{
	struct pollfd p = { .events = POLLPRI };
	char b[4];
	int a;

	up("nil");
	a = joined(&p.fd);
	CU_ASSERT_EQUAL(xk_sock_poll(&p, 1, 0), 0);
	CU_ASSERT_EQUAL(xk_sock_send(a, "now", 3, XK_SOCK_OOB), 3);
	pass(100 * XK_MS);
	CU_ASSERT_EQUAL(xk_sock_poll(&p, 1, 0), 1);
	CU_ASSERT_EQUAL(xk_sock_read(p.fd, b, 4), 3);
	CU_ASSERT_EQUAL(xk_sock_poll(&p, 1, 0), 0);
	down();
}

#define T(x) { #x, x }
static CU_TestInfo tests[] = {
	T(every_byte_comes_over_a_good_link), T(every_byte_comes_over_a_bad_link),
	T(a_listeners_receive_buffer_is_its_connections_before_they_are_accepted),
	T(single_bytes_fill_no_more_than_the_buffer),
	T(a_reader_that_stops_and_then_is_slow_gets_every_byte), T(options_reach_tcp), T(a_closed_socket_waits_for_its_peers_end_as_told),
	T(a_cork_holds_what_is_not_a_full_segment), T(urgent_bytes_are_said_to_be_so), CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = { { "tcp", NULL, NULL, NULL, NULL, tests }, CU_SUITE_INFO_NULL };

int main(void) { return xk_test_main_rcu(suites); }

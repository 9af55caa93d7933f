/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_sock_dgram.c - datagram sockets over real UDP and IP, two hosts of one graph
 * in virtual time, on several VPs: every datagram comes whole, from the right
 * address, whatever VP its peer is on.
 */
#include "protocols/sock/xk_sock.h"
#include "runtime/compose/xk_compose.h"
#include "runtime/sync/xk_sync.h"
#include "runtime/upi/xk_part.h"
#include "tests/support/xk_test_graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLIENT 0x0a000001u
#define SERVER 0x0a000002u

static struct { struct xk_errs *e; struct xk_spec *s; struct xk_graph *g; uint64_t live; } run;
static struct xk_node *client, *server;

static const char text_fmt[] =
	"local macs = { ['10.0.0.1'] = '02:00:00:00:00:01', ['10.0.0.2'] = '02:00:00:00:00:02' }\n"
	"local function host(n, own)\n"
	"  local net = ip { name = 'ip' .. n, addr = own .. '/24', over = arp { name = 'arp' .. n, neighbours = macs,\n"
	"    over = eth { name = 'eth' .. n, over = eth_mem { name = 'mem' .. n, wire = 'w', mac = macs[own], queue = 4096 } } } }\n"
	"  icmp { name = 'icmp' .. n, over = net }\n"
	"  return udp { name = 'udp' .. n, over = net }\n"
	"end\n"
	"sock { name = 'client', over = host(1, '10.0.0.1') %s}\n"
	"sock { name = 'server', over = host(2, '10.0.0.2') %s}\n"
	"return graph 'dgram' { threading = vppc { vps = %u }, clock = 'virtual' }\n";

static void up_with(unsigned vps, const char *params)
{
	struct xk_compose_opts o = { .path = NULL };
	char text[4096];
	int n = snprintf(text, sizeof text, text_fmt, params, params, vps);

	run.live = xk_alloc_live();
	run.e = xk_errs_new();
	if (xk_spec_load_text(&run.s, "dgram.lua", text, (size_t)n, &o, run.e) != XK_OK ||
	    xk_spec_check(run.s, run.e, NULL) != XK_OK || xk_spec_build(run.s, &run.g, run.e) != XK_OK ||
	    xk_graph_up(run.g, run.e) != XK_OK)
		xk_spec_print_errors(stdout, run.s, run.e, NULL);
	CU_ASSERT_EQUAL_FATAL(xk_errs_count(run.e), 0);
	client = xk_graph_find(run.g, "client");
	server = xk_graph_find(run.g, "server");
}

static void up(unsigned vps) { up_with(vps, ""); }

static void down(void) { xk_test_unbuild(run.s, run.g, run.e, run.live); }

static void settle(void)
{
	xk_vpset_run_virtual(run.g->vps, xk_clock_read(&run.g->vps->clock) + 10 * XK_MS);
}

static uint64_t count_of(struct xk_node *n, const char *name)
{
	uint64_t sum = 0;

	for (unsigned i = 0; n->proto->counts[i] != NULL; i++)
		for (unsigned v = 0; strcmp(n->proto->counts[i], name) == 0 && v < run.g->vps->nvps; v++)
			sum += xk_counter_read(n->rep[v]->count[i]);
	return sum;
}

static uint64_t drops_of(struct xk_node *n, const char *name)
{
	uint64_t sum = 0;

	for (unsigned i = 0; n->proto->drops[i] != NULL; i++)
		for (unsigned v = 0; strcmp(n->proto->drops[i], name) == 0 && v < run.g->vps->nvps; v++)
			sum += xk_counter_read(n->rep[v]->drop[XK_DROP_FIRST + i]);
	return sum;
}

static int dgram(struct xk_node *n)
{
	int fd = xk_sock_socket(n, XK_SOCK_DGRAM);

	CU_ASSERT_FATAL(fd > 0);
	return fd;
}

static int bound(struct xk_node *n, uint16_t port)
{
	int fd = dgram(n);

	CU_ASSERT_EQUAL(xk_sock_bind(fd, &(struct xk_sock_addr){ 0, port }), XK_OK);
	return fd;
}

static ssize_t to(int fd, uint32_t host, uint16_t port, const char *text)
{
	return xk_sock_sendto(fd, text, strlen(text), 0, &(struct xk_sock_addr){ host, port });
}

/* The next datagram is this text from this port; gives it back as the sender's. */
static bool from(int fd, const char *text, struct xk_sock_addr *who)
{
	char b[256];
	ssize_t n = xk_sock_recvfrom(fd, b, sizeof b, 0, who);

	return n == (ssize_t)strlen(text) && memcmp(b, text, (size_t)n) == 0;
}

/* ---- with peers on every VP --------------------------------------------------------- */

static void every_peer_is_answered_from_one_socket(void)
{
	char text[32];
	int s, c[40];

	up(7);
	s = bound(server, 53);
	for (int i = 0; i < 40; i++) {
		struct xk_sock_addr me;

		c[i] = dgram(client);
		snprintf(text, sizeof text, "question %d", i);
		CU_ASSERT_EQUAL(to(c[i], SERVER, 53, text), (ssize_t)strlen(text));
		CU_ASSERT_EQUAL(xk_sock_getsockname(c[i], &me), XK_OK);
		CU_ASSERT(me.port >= 49152);
	}
	settle();
	for (int i = 0; i < 40; i++) {
		struct xk_sock_addr who;
		char b[64];
		ssize_t n = xk_sock_recvfrom(s, b, sizeof b, 0, &who);

		CU_ASSERT_FATAL(n > 0);
		CU_ASSERT_EQUAL(who.host, CLIENT);
		CU_ASSERT_EQUAL(xk_sock_sendto(s, b, (size_t)n, 0, &who), n);
	}
	CU_ASSERT_EQUAL(xk_sock_read(s, text, 1), XK_E_AGAIN);
	settle();
	for (int i = 0; i < 40; i++) {
		struct xk_sock_addr who;

		snprintf(text, sizeof text, "question %d", i);
		CU_ASSERT(from(c[i], text, &who));
		CU_ASSERT(who.host == SERVER && who.port == 53);
		CU_ASSERT_EQUAL(xk_sock_close(c[i]), XK_OK);
	}
	CU_ASSERT(count_of(server, "handed_to_socket") > 0);
	CU_ASSERT_EQUAL(xk_sock_close(s), XK_OK);
	down();
}

static void one_socket_talks_to_many(void)
{
	struct xk_sock_addr who;
	int s[30], c;

	up(5);
	for (uint16_t i = 0; i < 30; i++)
		s[i] = bound(server, (uint16_t)(1000 + i));
	c = dgram(client);
	for (int round = 0; round < 3; round++) {
		for (uint16_t i = 0; i < 30; i++)
			CU_ASSERT_EQUAL(to(c, SERVER, (uint16_t)(1000 + i), "ping"), 4);
		settle();
		for (int i = 0; i < 30; i++) {
			CU_ASSERT(from(s[i], "ping", &who));
			CU_ASSERT_EQUAL(to(s[i], who.host, who.port, "pong"), 4);
		}
		settle();
		for (int i = 0; i < 30; i++)
			CU_ASSERT(from(c, "pong", &who));
	}
	for (int i = 0; i < 30; i++)
		CU_ASSERT_EQUAL(xk_sock_close(s[i]), XK_OK);
	CU_ASSERT_EQUAL(xk_sock_close(c), XK_OK);
	down();
}

static void both_may_begin(void)
{
	struct xk_sock_addr who;
	int a, b;

	up(5);
	a = bound(client, 2000);
	b = bound(server, 2000);
	for (int i = 0; i < 4; i++) {
		CU_ASSERT_EQUAL(to(a, SERVER, 2000, "from a"), 6);
		CU_ASSERT_EQUAL(to(b, CLIENT, 2000, "from b"), 6);
		settle();
		CU_ASSERT(from(a, "from b", &who));
		CU_ASSERT(from(b, "from a", &who));
	}
	xk_sock_close(a);
	a = bound(client, 2000);                 /* the name is free again at once */
	CU_ASSERT_EQUAL(to(a, SERVER, 2000, "new"), 3);
	CU_ASSERT_EQUAL(to(b, CLIENT, 2000, "newer"), 5);
	settle();
	CU_ASSERT(from(a, "newer", &who));
	CU_ASSERT(from(b, "new", &who));
	xk_sock_close(a);
	xk_sock_close(b);
	down();
}

static void the_longest_unused_peer_is_forgotten_and_learnt_again(void)
{
	struct xk_sock_addr who;
	int s, c[20];

	up_with(2, ", peers = 3 ");
	s = bound(server, 53);
	for (int round = 0; round < 3; round++)
		for (int i = 0; i < 20; i++) {
			if (round == 0)
				c[i] = bound(client, (uint16_t)(3000 + i));
			CU_ASSERT_EQUAL(to(c[i], SERVER, 53, "q"), 1);
			settle();
			CU_ASSERT(from(s, "q", &who));
			CU_ASSERT_EQUAL(to(s, who.host, who.port, "a"), 1);
			settle();
			CU_ASSERT(from(c[i], "a", &who));
		}
	for (unsigned v = 0; v < 2; v++)
		CU_ASSERT(xk_rep_sessions(server->rep[v]) <= 3);
	down();
}

/* ---- sizes --------------------------------------------------------------------------- */

static void datagrams_keep_their_borders(void)
{
	static const size_t sizes[] = { 0, 1, 2, 1471, 1472, 1473, 8000, 65506, 65507 };
	static uint8_t out[70000], in[70000];
	struct xk_sock_addr me = { SERVER, 53 };
	int s, c;

	up(3);
	s = bound(server, 53);
	c = dgram(client);
	CU_ASSERT_EQUAL(xk_sock_connect(c, &me), XK_OK);
	for (size_t i = 0; i < sizeof out; i++)
		out[i] = (uint8_t)(i * 31 >> 3);
	for (unsigned i = 0; i < XK_ARRAY_LEN(sizes); i++) {
		CU_ASSERT_EQUAL(xk_sock_write(c, out, sizes[i]), (ssize_t)sizes[i]);
		settle();
		memset(in, 0, sizeof in);
		CU_ASSERT_EQUAL(xk_sock_read(s, in, sizeof in), (ssize_t)sizes[i]);
		CU_ASSERT_EQUAL(memcmp(in, out, sizes[i]), 0);
	}
	CU_ASSERT_EQUAL(xk_sock_write(c, out, 65508), XK_E_MSGSIZE);
	CU_ASSERT_EQUAL(xk_sock_write(c, out, sizeof out), XK_E_MSGSIZE);
	xk_sock_close(c);
	xk_sock_close(s);
	down();
}

static void what_does_not_fit_is_cut_and_said(void)
{
	struct xk_sock_addr who;
	char b[4];
	struct iovec v = { b, sizeof b };
	struct xk_sock_msg m = { &who, &v, 1, 0 };
	size_t len = sizeof(int);
	int s, c, n;

	up(1);
	s = bound(server, 53);
	c = dgram(client);
	to(c, SERVER, 53, "longer than four");
	to(c, SERVER, 53, "tiny");
	settle();
	CU_ASSERT_EQUAL(xk_sock_getopt(s, XK_SO_NREAD, &n, &len), XK_OK);
	CU_ASSERT_EQUAL(n, 16);
	CU_ASSERT_EQUAL(xk_sock_recvmsg(s, &m, XK_SOCK_PEEK | XK_SOCK_TRUNC), 16);
	CU_ASSERT_EQUAL(m.flags, XK_SOCK_TRUNC);
	CU_ASSERT_EQUAL(xk_sock_recvmsg(s, &m, 0), 4);
	CU_ASSERT_EQUAL(m.flags, XK_SOCK_TRUNC);
	CU_ASSERT_EQUAL(memcmp(b, "long", 4), 0);
	CU_ASSERT_EQUAL(xk_sock_recvmsg(s, &m, 0), 4);
	CU_ASSERT_EQUAL(m.flags, 0);
	CU_ASSERT_EQUAL(memcmp(b, "tiny", 4), 0);
	xk_sock_close(c);
	xk_sock_close(s);
	down();
}

static void a_full_socket_drops_and_counts(void)
{
	static char b[1000];
	int s, c, cap = 5000, got = 0;

	up(2);
	s = bound(server, 53);
	c = dgram(client);
	CU_ASSERT_EQUAL(xk_sock_setopt(s, XK_SO_RCVBUF, &cap, sizeof cap), XK_OK);
	for (int i = 0; i < 20; i++)
		xk_sock_sendto(c, b, sizeof b, 0, &(struct xk_sock_addr){ SERVER, 53 });
	settle();
	while (xk_sock_read(s, b, sizeof b) > 0)
		got++;
	CU_ASSERT_EQUAL(got, 4);
	CU_ASSERT_EQUAL(drops_of(server, "socket_full"), 16);
	xk_sock_close(c);
	xk_sock_close(s);
	down();
}

/* ---- connected ------------------------------------------------------------------------- */

static void a_connected_socket_hears_its_peer_alone(void)
{
	struct xk_sock_addr peer = { SERVER, 53 }, other = { SERVER, 54 }, me, none = { 0, 0 };
	int a, b, c;

	up(3);
	a = bound(server, 53);
	b = bound(server, 54);
	c = dgram(client);
	CU_ASSERT_EQUAL(xk_sock_write(c, "x", 1), XK_E_DESTADDRREQ);
	CU_ASSERT_EQUAL(xk_sock_getpeername(c, &me), XK_E_NOTCONN);
	CU_ASSERT_EQUAL(xk_sock_connect(c, &peer), XK_OK);
	CU_ASSERT_EQUAL(xk_sock_getpeername(c, &me), XK_OK);
	CU_ASSERT_EQUAL(me.port, 53);
	CU_ASSERT_EQUAL(xk_sock_getsockname(c, &me), XK_OK);
	CU_ASSERT_EQUAL(to(a, CLIENT, me.port, "peer"), 4);
	CU_ASSERT_EQUAL(to(b, CLIENT, me.port, "stranger"), 8);
	settle();
	CU_ASSERT(from(c, "peer", NULL));
	CU_ASSERT_EQUAL(xk_sock_read(c, &me, 1), XK_E_AGAIN);
	CU_ASSERT_EQUAL(drops_of(client, "not_the_peer"), 1);
	CU_ASSERT_EQUAL(xk_sock_connect(c, &other), XK_OK);
	CU_ASSERT_EQUAL(to(b, CLIENT, me.port, "now"), 3);
	settle();
	CU_ASSERT(from(c, "now", NULL));
	CU_ASSERT_EQUAL(xk_sock_connect(c, &none), XK_OK);
	CU_ASSERT_EQUAL(to(a, CLIENT, me.port, "all"), 3);
	settle();
	CU_ASSERT(from(c, "all", NULL));
	xk_sock_close(a);
	xk_sock_close(b);
	xk_sock_close(c);
	down();
}

static void a_closed_port_is_told_to_who_is_connected(void)
{
	struct pollfd p = { .events = POLLIN };
	char b;

	up(4);
	p.fd = dgram(client);
	CU_ASSERT_EQUAL(xk_sock_connect(p.fd, &(struct xk_sock_addr){ SERVER, 9 }), XK_OK);
	CU_ASSERT_EQUAL(xk_sock_write(p.fd, "anybody", 7), 7);
	settle();
	CU_ASSERT_EQUAL(xk_sock_poll(&p, 1, 0), 1);
	CU_ASSERT_EQUAL(p.revents & POLLERR, POLLERR);
	CU_ASSERT_EQUAL(xk_sock_read(p.fd, &b, 1), XK_E_CONNREFUSED);
	CU_ASSERT_EQUAL(xk_sock_read(p.fd, &b, 1), XK_E_AGAIN);
	CU_ASSERT_EQUAL(xk_sock_write(p.fd, "anybody", 7), 7);
	settle();
	CU_ASSERT_EQUAL(xk_sock_write(p.fd, "again", 5), XK_E_CONNREFUSED);
	CU_ASSERT_EQUAL(xk_sock_write(p.fd, "again", 5), 5);
	xk_sock_close(p.fd);
	down();
}

static void names_are_ours_and_free(void)
{
	struct xk_sock_addr a = { SERVER, 53 };
	int x, y;

	up(2);
	x = dgram(client);
	y = dgram(client);
	CU_ASSERT_EQUAL(xk_sock_bind(x, &a), XK_E_ADDRNOTAVAIL);
	a.host = CLIENT;
	CU_ASSERT_EQUAL(xk_sock_bind(x, &a), XK_OK);
	CU_ASSERT_EQUAL(xk_sock_bind(y, &a), XK_E_ADDRINUSE);
	CU_ASSERT_EQUAL(xk_sock_listen(y, 1), XK_E_NOTSUP);
	CU_ASSERT_EQUAL(xk_sock_accept(y, NULL, 0), XK_E_NOTSUP);
	CU_ASSERT_EQUAL(xk_sock_shutdown(y, XK_SHUT_WR), XK_E_NOTCONN);
	CU_ASSERT_EQUAL(xk_sock_socket(client, XK_SOCK_STREAM), XK_E_NOTSUP);
	xk_sock_close(x);
	CU_ASSERT_EQUAL(xk_sock_bind(y, &a), XK_OK);
	down();
}

static void every_lack_of_memory_is_survived(void)
{
	bool through = false;

	for (uint64_t k = 1; !through; k++) {
		struct xk_sock_addr who;
		int s, c;

		up(2);
		xk_mem_fail_after(k);
		s = xk_sock_socket(server, XK_SOCK_DGRAM);
		c = xk_sock_socket(client, XK_SOCK_DGRAM);
		xk_sock_bind(s, &(struct xk_sock_addr){ 0, 53 });
		to(c, SERVER, 53, "q");
		settle();
		if (from(s, "q", &who)) {
			to(s, who.host, who.port, "a");
			settle();
			through = from(c, "a", &who);
		}
		xk_mem_fail_after(0);
		down();
	}
}

#define T(x) { #x, x }
static CU_TestInfo tests[] = {
	T(every_peer_is_answered_from_one_socket), T(one_socket_talks_to_many), T(both_may_begin),
	T(the_longest_unused_peer_is_forgotten_and_learnt_again), T(datagrams_keep_their_borders),
	T(what_does_not_fit_is_cut_and_said), T(a_full_socket_drops_and_counts),
	T(a_connected_socket_hears_its_peer_alone), T(a_closed_port_is_told_to_who_is_connected),
	T(names_are_ours_and_free), T(every_lack_of_memory_is_survived), CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = { { "dgram", NULL, NULL, NULL, NULL, tests }, CU_SUITE_INFO_NULL };

int main(void) { return xk_test_main_rcu(suites); }

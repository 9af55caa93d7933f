/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_sock_threads.c - a program's own threads over sockets, real time, every
 * threading architecture: two stacks of one graph, TCP and UDP between them.
 *
 * Promises: threads that the runtime did not make may call; two of them share one
 * socket, each in its direction; every byte comes; a call that waits holds up nobody,
 * and ends when the socket is closed, shut, ended by its peer, or the node stops.
 */
#include "protocols/sock/xk_sock.h"
#include "runtime/base/xk_clock.h"
#include "runtime/classify/xk_classify.h"
#include "runtime/compose/xk_compose.h"
#include "runtime/sync/xk_sync.h"
#include "tests/support/xk_test_graph.h"

#include <endian.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLIENT 0x0a000001u
#define SERVER 0x0a000002u
#define PORT   7000u
#define CONNS  8u
#define BYTES  150000u

static struct { struct xk_errs *e; struct xk_spec *s; struct xk_graph *g; uint64_t live; } run;
static struct xk_node *client, *server;

static const char text_fmt[] =
	"local macs = { ['10.0.0.1'] = '02:00:00:00:00:01', ['10.0.0.2'] = '02:00:00:00:00:02' }\n"
	"local function host(n, own)\n"
	"  local d = eth_mem { name = 'mem' .. n, wire = 'w', mac = macs[own], queue = 65536 }\n"
	"  local net = ip { name = 'ip' .. n, addr = own .. '/24', over = arp { name = 'arp' .. n, neighbours = macs,\n"
	"    over = eth { name = 'eth' .. n, over = d } } }\n"
	"  return { tcp { name = 'tcp' .. n, over = net }, udp { name = 'udp' .. n, over = net } }\n"
	"end\n"
	"sock { name = 'client', over = host(1, '10.0.0.1') }\n"
	"sock { name = 'server', over = host(2, '10.0.0.2') }\n"
	"return graph 'threads' { %s }\n";

static void up(const char *fields)
{
	struct xk_compose_opts o = { .path = NULL };
	char text[4096];
	int n = snprintf(text, sizeof text, text_fmt, fields);

	printf("# %s\n", fields);
	run.live = xk_alloc_live();
	run.e = xk_errs_new();
	if (xk_spec_load_text(&run.s, "threads.lua", text, (size_t)n, &o, run.e) != XK_OK ||
	    xk_spec_check(run.s, run.e, NULL) != XK_OK || xk_spec_build(run.s, &run.g, run.e) != XK_OK ||
	    xk_graph_up(run.g, run.e) != XK_OK || xk_graph_run(run.g, run.e) != XK_OK)
		xk_spec_print_errors(stdout, run.s, run.e, NULL);
	CU_ASSERT_EQUAL_FATAL(xk_errs_count(run.e), 0);
	client = xk_graph_find(run.g, "client");
	server = xk_graph_find(run.g, "server");
}

static void down(void)
{
	xk_sock_stop(client);
	xk_sock_stop(server);
	CU_ASSERT_EQUAL(xk_graph_free(run.g), 0);
	xk_spec_free(run.s);
	xk_errs_free(run.e);
	xk_rcu_barrier();
	CU_ASSERT_EQUAL(xk_alloc_live(), run.live);
}

static pthread_t begin(void *(*fn)(void *), void *arg)
{
	pthread_t t;
	int err = pthread_create(&t, NULL, fn, arg);

	xk_assert(err == 0);
	return t;
}

static const struct xk_sock_addr there = { SERVER, PORT };

static int listening(void)
{
	int fd = xk_sock_socket(server, XK_SOCK_STREAM);

	CU_ASSERT_FATAL(fd > 0);
	CU_ASSERT_EQUAL_FATAL(xk_sock_bind(fd, &(struct xk_sock_addr){ 0, PORT }), XK_OK);
	CU_ASSERT_EQUAL_FATAL(xk_sock_listen(fd, 64), XK_OK);
	return fd;
}

static int connected(void)
{
	int fd = xk_sock_socket(client, XK_SOCK_STREAM), res = xk_sock_connect(fd, &there);

	if (res != XK_OK)
		printf("# connect: %s\n", xk_strerror(res));
	return res == XK_OK ? fd : res;
}

/* ---- an echo with a thread for each connection ------------------------------------------ */

static void *echo_one(void *arg)
{
	int fd = (int)(intptr_t)arg;
	char b[7000];
	ssize_t n;

	while ((n = xk_sock_read(fd, b, sizeof b)) > 0)
		if (xk_sock_write(fd, b, (size_t)n) != n)
			break;
	xk_sock_close(fd);
	return NULL;
}

/* Accepts until the listener is closed, then waits for all. */
static void *echo_server(void *arg)
{
	pthread_t t[4 * CONNS];
	unsigned n = 0;
	int fd;

	while (n < XK_ARRAY_LEN(t) && (fd = xk_sock_accept((int)(intptr_t)arg, NULL, 0)) >= 0)
		t[n++] = begin(echo_one, (void *)(intptr_t)fd);
	while (n > 0)
		pthread_join(t[--n], NULL);
	return NULL;
}

struct talk { int fd; unsigned no; uint64_t sent, got, wrong; ssize_t last; };

static uint8_t byte_of(unsigned conn, uint64_t i)
{
	return (uint8_t)((i + 1) * (2 * conn + 3) * 2654435761u >> 13);
}

static void *talk_writer(void *arg)
{
	struct talk *t = arg;
	uint8_t b[5000];
	ssize_t n = 0;

	while (t->sent < BYTES && n >= 0) {
		size_t want = 1 + (t->sent * 7 + t->no) % sizeof b;

		want = want < BYTES - t->sent ? want : (size_t)(BYTES - t->sent);
		for (size_t i = 0; i < want; i++)
			b[i] = byte_of(t->no, t->sent + i);
		n = xk_sock_write(t->fd, b, want);
		t->sent += n > 0 ? (uint64_t)n : 0;
	}
	xk_sock_shutdown(t->fd, XK_SHUT_WR);
	return NULL;
}

static void *talk_reader(void *arg)
{
	struct talk *t = arg;
	uint8_t b[3000];

	while ((t->last = xk_sock_read(t->fd, b, sizeof b)) > 0) {
		for (ssize_t i = 0; i < t->last; i++)
			t->wrong += b[i] != byte_of(t->no, t->got + (uint64_t)i);
		t->got += (uint64_t)t->last;
	}
	return NULL;
}

/* Connects, then two threads use the one socket. */
static void *talk_both(void *arg)
{
	struct talk *t = arg;
	pthread_t w;

	t->fd = connected();
	if (t->fd < 0)
		return NULL;
	w = begin(talk_writer, t);
	talk_reader(t);
	pthread_join(w, NULL);
	xk_sock_close(t->fd);
	return NULL;
}

static void two_threads_of_each_connection_echo_every_byte(void)
{
	for (const char *const *p = xk_test_presets(24, XK_TEST_ROWS | XK_TEST_CHANGED); *p != NULL; p++) {
		struct talk talk[CONNS];
		pthread_t s, t[CONNS];
		int l;

		up(*p);
		l = listening();
		s = begin(echo_server, (void *)(intptr_t)l);
		memset(talk, 0, sizeof talk);
		for (unsigned i = 0; i < CONNS; i++) {
			talk[i].no = i;
			t[i] = begin(talk_both, &talk[i]);
		}
		for (unsigned i = 0; i < CONNS; i++)
			pthread_join(t[i], NULL);
		xk_sock_close(l);
		pthread_join(s, NULL);
		for (unsigned i = 0; i < CONNS; i++) {
			CU_ASSERT_EQUAL(talk[i].sent, BYTES);
			CU_ASSERT_EQUAL(talk[i].got, BYTES);
			CU_ASSERT_EQUAL(talk[i].wrong, 0);
			CU_ASSERT_EQUAL(talk[i].last, 0);
		}
		down();
	}
}

/* ---- one thread serves many, by poll --------------------------------------------------------- */

#define HELD 4096u
struct served { int fd; size_t n; uint8_t b[HELD]; bool eof; };

/* Moves what can be moved; false when the connection is over. */
static bool serve(struct served *c)
{
	ssize_t n = 1;

	if (!c->eof && c->n < HELD) {
		n = xk_sock_read(c->fd, c->b + c->n, HELD - c->n);
		c->eof = n == 0;
		c->n += n > 0 ? (size_t)n : 0;
	}
	if (n < 0 && n != XK_E_AGAIN)
		return false;
	n = c->n > 0 ? xk_sock_write(c->fd, c->b, c->n) : 0;
	if (n > 0) {
		memmove(c->b, c->b + n, c->n - (size_t)n);
		c->n -= (size_t)n;
	}
	return (n >= 0 || n == XK_E_AGAIN) && !(c->eof && c->n == 0);
}

static void *poll_server(void *arg)
{
	static struct served c[CONNS];
	struct pollfd p[1 + CONNS];
	unsigned n = 0, over = 0;
	int l = (int)(intptr_t)arg;

	xk_sock_setopt(l, XK_SO_NONBLOCK, &(int){ 1 }, sizeof(int));
	while (over < CONNS) {
		int fd;

		p[0] = (struct pollfd){ .fd = l, .events = POLLIN };
		for (unsigned i = 0; i < n; i++)
			p[1 + i] = (struct pollfd){ .fd = c[i].fd, .events = (short)((c[i].eof || c[i].n == HELD ? 0 : POLLIN) |
										(c[i].n > 0 ? POLLOUT : 0)) };
		xk_assert(xk_sock_poll(p, 1 + n, UINT64_MAX) > 0);
		for (unsigned i = 0; i < n; i++)
			if (c[i].fd >= 0 && p[1 + i].revents != 0 && !serve(&c[i])) {
				xk_sock_close(c[i].fd);
				c[i].fd = -1;
				over++;
			}
		while (n < CONNS && (fd = xk_sock_accept(l, NULL, XK_SOCK_NONBLOCK)) >= 0)
			c[n++] = (struct served){ .fd = fd };
	}
	return NULL;
}

static void one_thread_serves_many_by_poll(void)
{
	for (const char *const *p = xk_test_presets(24, XK_TEST_ROWS); *p != NULL; p++) {
		struct talk talk[CONNS];
		pthread_t s, t[CONNS];
		int l;

		up(*p);
		l = listening();
		s = begin(poll_server, (void *)(intptr_t)l);
		memset(talk, 0, sizeof talk);
		for (unsigned i = 0; i < CONNS; i++) {
			talk[i].no = i;
			t[i] = begin(talk_both, &talk[i]);
		}
		for (unsigned i = 0; i < CONNS; i++)
			pthread_join(t[i], NULL);
		pthread_join(s, NULL);
		xk_sock_close(l);
		for (unsigned i = 0; i < CONNS; i++) {
			CU_ASSERT_EQUAL(talk[i].got, BYTES);
			CU_ASSERT_EQUAL(talk[i].wrong, 0);
			CU_ASSERT_EQUAL(talk[i].last, 0);
		}
		down();
	}
}

/* ---- waiting ends ------------------------------------------------------------------------------- */

/* A thread that waits in one call, and what the call answered. */
struct waiter { int fd; int64_t res; pthread_t t; struct pollfd p; uint32_t begun; };

static void *wait_read(void *arg)
{
	struct waiter *w = arg;
	char b[100];

	xk_store_release(&w->begun, 1u);
	w->res = xk_sock_recv(w->fd, b, sizeof b, XK_SOCK_WAITALL);
	return NULL;
}

static void *wait_accept(void *arg)
{
	struct waiter *w = arg;

	xk_store_release(&w->begun, 1u);
	w->res = xk_sock_accept(w->fd, NULL, 0);
	return NULL;
}

static void *wait_write(void *arg)
{
	static char b[1 << 20];
	struct waiter *w = arg;

	xk_store_release(&w->begun, 1u);
	do
		w->res = xk_sock_write(w->fd, b, sizeof b);
	while (w->res > 0);
	return NULL;
}

static void *wait_poll(void *arg)
{
	struct waiter *w = arg;

	w->p = (struct pollfd){ .fd = w->fd, .events = POLLIN };
	xk_store_release(&w->begun, 1u);
	w->res = xk_sock_poll(&w->p, 1, UINT64_MAX);
	return NULL;
}

static void wait_in(struct waiter *w, int fd, void *(*fn)(void *))
{
	*w = (struct waiter){ .fd = fd };
	w->t = begin(fn, w);
	while (!xk_load_acquire(&w->begun))
		xk_thread_yield();
	/* It waits by now, or will at once: both must end well. */
	for (int i = 0; i < 50; i++)
		xk_thread_yield();
}

static void joined(int *a, int *b, int *l)
{
	*l = listening();
	*a = connected();
	*b = xk_sock_accept(*l, NULL, 0);
	CU_ASSERT_FATAL(*a > 0 && *b > 0);
}

static void closing_wakes_whoever_waits(void)
{
	for (const char *const *p = xk_test_presets(24, XK_TEST_ROWS); *p != NULL; p++) {
		struct waiter r[2], w, acc, pol;
		int a, b, l;

		up(*p);
		joined(&a, &b, &l);
		wait_in(&r[0], a, wait_read);
		wait_in(&r[1], a, wait_read);
		wait_in(&pol, a, wait_poll);
		wait_in(&acc, l, wait_accept);
		wait_in(&w, b, wait_write);
		CU_ASSERT_EQUAL(xk_sock_close(a), XK_OK);
		CU_ASSERT_EQUAL(xk_sock_close(l), XK_OK);
		pthread_join(r[0].t, NULL);
		pthread_join(r[1].t, NULL);
		pthread_join(pol.t, NULL);
		pthread_join(acc.t, NULL);
		/* The readers shared what the writer sent; then each was told. */
		CU_ASSERT(r[0].res == XK_E_BADF || r[0].res > 0);
		CU_ASSERT(r[1].res == XK_E_BADF || r[1].res > 0);
		CU_ASSERT_EQUAL(pol.res, 1);
		CU_ASSERT_EQUAL(acc.res, XK_E_BADF);
		pthread_join(w.t, NULL);         /* reset: nobody will read */
		CU_ASSERT(w.res == XK_E_CONNRESET || w.res == XK_E_PIPE);
		xk_sock_close(b);
		down();
	}
}

static void the_peers_end_wakes_a_reader(void)
{
	for (const char *const *p = xk_test_presets(24, XK_TEST_ROWS); *p != NULL; p++) {
		struct waiter r, pol;
		int a, b, l;

		up(*p);
		joined(&a, &b, &l);
		wait_in(&r, a, wait_read);
		wait_in(&pol, a, wait_poll);
		CU_ASSERT_EQUAL(xk_sock_shutdown(b, XK_SHUT_WR), XK_OK);
		pthread_join(r.t, NULL);
		pthread_join(pol.t, NULL);
		CU_ASSERT_EQUAL(r.res, 0);
		CU_ASSERT_EQUAL(pol.res, 1);
		CU_ASSERT_EQUAL(xk_sock_write(a, "still", 5), 5);
		wait_in(&r, b, wait_read);
		xk_sock_close(a);
		pthread_join(r.t, NULL);
		CU_ASSERT_EQUAL(r.res, 5);
		xk_sock_close(b);
		xk_sock_close(l);
		down();
	}
}

static void stopping_a_node_wakes_everybody(void)
{
	for (const char *const *p = xk_test_presets(24, XK_TEST_ROWS); *p != NULL; p++) {
		struct waiter r, w, acc, pol;
		int a, b, l;

		up(*p);
		joined(&a, &b, &l);
		wait_in(&r, b, wait_read);
		wait_in(&acc, l, wait_accept);
		wait_in(&pol, l, wait_poll);
		xk_sock_stop(server);
		pthread_join(r.t, NULL);
		pthread_join(acc.t, NULL);
		pthread_join(pol.t, NULL);
		CU_ASSERT_EQUAL(r.res, XK_E_SHUTDOWN);
		CU_ASSERT_EQUAL(acc.res, XK_E_SHUTDOWN);
		CU_ASSERT_EQUAL(pol.p.revents & POLLNVAL, POLLNVAL);
		wait_in(&w, a, wait_write);      /* nobody reads there: it fills the window and waits */
		xk_sock_stop(client);
		pthread_join(w.t, NULL);
		CU_ASSERT_EQUAL(w.res, XK_E_SHUTDOWN);
		down();
	}
}

static void a_wait_has_its_limit(void)
{
	uint64_t soon = 2 * XK_MS;
	struct pollfd p = { .events = POLLIN };
	int a, b, l;
	char c[10];

	up("threading = ppc {}");
	joined(&a, &b, &l);
	xk_sock_setopt(a, XK_SO_RCVTIMEO, &soon, sizeof soon);
	xk_sock_setopt(l, XK_SO_RCVTIMEO, &soon, sizeof soon);
	CU_ASSERT_EQUAL(xk_sock_read(a, c, 1), XK_E_AGAIN);
	CU_ASSERT_EQUAL(xk_sock_accept(l, NULL, 0), XK_E_AGAIN);
	p.fd = a;
	CU_ASSERT_EQUAL(xk_sock_poll(&p, 1, soon), 0);
	CU_ASSERT_EQUAL(xk_sock_poll(NULL, 0, soon), 0);
	CU_ASSERT_EQUAL(xk_sock_write(b, "abc", 3), 3);
	CU_ASSERT_EQUAL(xk_sock_poll(&p, 1, UINT64_MAX), 1);
	CU_ASSERT_EQUAL(xk_sock_recv(a, c, 10, XK_SOCK_WAITALL), 3);   /* all there was until then */
	xk_sock_close(a);
	xk_sock_close(b);
	xk_sock_close(l);
	down();
}

static void a_lingering_close_waits_for_the_peer_to_have_it(void)
{
	struct xk_sock_linger g = { 1, 30 };
	static char b[200000];
	int a, c, l, n = -1;
	size_t len = sizeof n;

	up("threading = ppc {}");
	joined(&a, &c, &l);
	xk_sock_setopt(a, XK_SO_LINGER, &g, sizeof g);
	CU_ASSERT_EQUAL(xk_sock_write(a, b, 50000), 50000);
	CU_ASSERT_EQUAL(xk_sock_close(a), XK_OK);
	CU_ASSERT_EQUAL(xk_sock_getopt(c, XK_SO_NREAD, &n, &len), XK_OK);
	CU_ASSERT_EQUAL(n, 50000);               /* there already: acknowledged */
	xk_sock_close(c);
	xk_sock_close(l);
	down();
}

static void nobody_there_is_told_to_who_connects(void)
{
	for (const char *const *p = xk_test_presets(24, XK_TEST_ROWS); *p != NULL; p++) {
		int fd, l;

		up(*p);
		fd = xk_sock_socket(client, XK_SOCK_STREAM);
		CU_ASSERT_EQUAL(xk_sock_connect(fd, &there), XK_E_CONNREFUSED);
		l = listening();
		CU_ASSERT_EQUAL(xk_sock_connect(fd, &there), XK_OK);
		xk_sock_close(fd);
		xk_sock_close(l);
		down();
	}
}

/* ---- connections come and go ------------------------------------------------------------------------ */

static void *many_short(void *arg)
{
	uintptr_t bad = 0;
	char b[16];

	(void)arg;
	for (int i = 0; i < 20; i++) {
		int fd = connected();

		if (fd < 0) {
			bad++;
			continue;
		}
		bad += xk_sock_write(fd, "ping", 4) != 4;
		bad += xk_sock_recv(fd, b, 4, XK_SOCK_WAITALL) != 4;
		xk_sock_close(fd);
	}
	return (void *)bad;
}

static void *echo_in_turn(void *arg)
{
	int fd;

	while ((fd = xk_sock_accept((int)(intptr_t)arg, NULL, 0)) >= 0)
		echo_one((void *)(intptr_t)fd);
	return NULL;
}

static void hundreds_of_connections_come_and_go(void)
{
	for (const char *const *p = xk_test_presets(24, XK_TEST_ROWS | XK_TEST_CHANGED); *p != NULL; p++) {
		pthread_t c[4], s[3];
		uintptr_t bad = 0;
		void *one;
		int l;

		up(*p);
		l = listening();
		for (unsigned i = 0; i < 3; i++)
			s[i] = begin(echo_in_turn, (void *)(intptr_t)l);
		for (unsigned i = 0; i < 4; i++)
			c[i] = begin(many_short, NULL);
		for (unsigned i = 0; i < 4; i++) {
			pthread_join(c[i], &one);
			bad += (uintptr_t)one;
		}
		xk_sock_close(l);
		for (unsigned i = 0; i < 3; i++)
			pthread_join(s[i], NULL);
		CU_ASSERT_EQUAL(bad, 0);
		down();
	}
}

/* ---- datagrams ------------------------------------------------------------------------------------------ */

static void *answer(void *arg)
{
	int fd = (int)(intptr_t)arg;
	struct xk_sock_addr who;
	char b[2000];
	ssize_t n;

	while ((n = xk_sock_recvfrom(fd, b, sizeof b, 0, &who)) >= 0)
		if (xk_sock_sendto(fd, b, (size_t)n, 0, &who) != n)
			printf("# an answer of %zd bytes was not taken\n", n);
	return NULL;
}

static void *ask(void *arg)
{
	unsigned no = (unsigned)(uintptr_t)arg;
	int fd = xk_sock_socket(client, XK_SOCK_DGRAM);
	uintptr_t bad = xk_sock_connect(fd, &there) != XK_OK;
	char q[64], a[64];

	for (int i = 0; i < 80; i++) {
		int n = snprintf(q, sizeof q, "question %d of %u", i, no);
		ssize_t put = xk_sock_write(fd, q, (size_t)n), got = xk_sock_read(fd, a, sizeof a);

		if (put == n && got == n && memcmp(q, a, (size_t)n) == 0)
			continue;
		printf("# %s: %zd written, %zd read: %.*s\n", q, put, got, got > 0 ? (int)got : 0, a);
		bad++;
	}
	xk_sock_close(fd);
	return (void *)bad;
}

static void two_threads_answer_datagrams_of_many(void)
{
	for (const char *const *p = xk_test_presets(24, XK_TEST_ROWS); *p != NULL; p++) {
		pthread_t s[2], c[CONNS];
		uintptr_t bad = 0;
		void *one;
		int fd;

		up(*p);
		fd = xk_sock_socket(server, XK_SOCK_DGRAM);
		CU_ASSERT_EQUAL(xk_sock_bind(fd, &(struct xk_sock_addr){ 0, PORT }), XK_OK);
		for (unsigned i = 0; i < 2; i++)
			s[i] = begin(answer, (void *)(intptr_t)fd);
		for (unsigned i = 0; i < CONNS; i++)
			c[i] = begin(ask, (void *)(uintptr_t)i);
		for (unsigned i = 0; i < CONNS; i++) {
			pthread_join(c[i], &one);
			bad += (uintptr_t)one;
		}
		xk_sock_close(fd);
		for (unsigned i = 0; i < 2; i++)
			pthread_join(s[i], NULL);
		CU_ASSERT_EQUAL(bad, 0);
		down();
	}
}

/* ---- sockets whose connection's hash says where they live ----------------------------------- */

static uint64_t connects_on(unsigned vp)
{
	unsigned i = 0;

	while (strcmp(client->proto->counts[i], "connects") != 0)
		i++;
	return xk_counter_read(client->rep[vp]->count[i]);
}

/* Both ends complete at connect: one byte there and back, on the VP of their hash. */
static void bound_one(uint16_t port, unsigned *home)
{
	struct xk_flowkey k = { .raddr = htobe32(SERVER), .laddr = htobe32(CLIENT), .rport = htobe16(PORT),
				.lport = htobe16(port), .proto = 6 };
	int fd = xk_sock_socket(client, XK_SOCK_STREAM);
	char c = (char)port, back = 0;

	home[xk_flow_home(run.g->flows, &k)]++;
	CU_ASSERT_EQUAL(xk_sock_bind(fd, &(struct xk_sock_addr){ 0, port }), XK_OK);
	CU_ASSERT_EQUAL(xk_sock_connect(fd, &there), XK_OK);
	CU_ASSERT_EQUAL(xk_sock_write(fd, &c, 1), 1);
	CU_ASSERT_EQUAL(xk_sock_read(fd, &back, 1), 1);
	CU_ASSERT_EQUAL(back, c);
	xk_sock_close(fd);
}

static void bound_sockets_move_to_the_group_of_their_connection(void)
{
	unsigned home[4] = { 0 }, groups = 0;
	pthread_t s;
	int l;

	up("threading = connp_t { vps = 4 }");
	l = listening();
	s = begin(echo_server, (void *)(intptr_t)l);
	for (uint16_t port = 20000; port < 20000 + CONNS; port++)
		bound_one(port, home);
	xk_sock_close(l);
	pthread_join(s, NULL);
	for (unsigned v = 0; v < 4; v++) {
		CU_ASSERT_EQUAL(connects_on(v), home[v]);
		groups += home[v] != 0;
	}
	CU_ASSERT(groups > 1);
	down();
}

#define T(x) { #x, x }
static CU_TestInfo byte_tests[] = {
	T(two_threads_of_each_connection_echo_every_byte), T(one_thread_serves_many_by_poll),
	T(hundreds_of_connections_come_and_go), T(two_threads_answer_datagrams_of_many),
	T(bound_sockets_move_to_the_group_of_their_connection), CU_TEST_INFO_NULL
};
static CU_TestInfo wait_tests[] = {
	T(closing_wakes_whoever_waits), T(the_peers_end_wakes_a_reader), T(stopping_a_node_wakes_everybody),
	T(a_wait_has_its_limit), T(a_lingering_close_waits_for_the_peer_to_have_it),
	T(nobody_there_is_told_to_who_connects), CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "bytes", NULL, NULL, NULL, NULL, byte_tests }, { "waiting", NULL, NULL, NULL, NULL, wait_tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	int code;

	xk_rcu_register();
	setvbuf(stdout, NULL, _IOLBF, 0);
	code = xk_test_main(suites);
	xk_rcu_unregister();
	return code;
}

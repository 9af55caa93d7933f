/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_sock.c - sockets over streams, in virtual time: the calls mean what POSIX
 * says, nothing waits, and every error has its number.
 */
#include "tests/protocols/sock_fixture.h"
#include "protocols/tcp/tcp.h"
#include "runtime/mem/xk_alloc.h"

#include <stdlib.h>

static int64_t opt(int fd, enum xk_sock_opt o)
{
	size_t len = sizeof(int);
	int v = -12345;

	CU_ASSERT_EQUAL(xk_sock_getopt(fd, o, &v, &len), XK_OK);
	CU_ASSERT_EQUAL(len, sizeof v);
	return v;
}

static int set(int fd, enum xk_sock_opt o, int v)
{
	return xk_sock_setopt(fd, o, &v, sizeof v);
}

static short polled(int fd, short events)
{
	struct pollfd p = { .fd = fd, .events = events };

	xk_sock_poll(&p, 1, UINT64_MAX);          /* nothing waits here */
	return p.revents;
}

/* ---- life -------------------------------------------------------------------------- */

static void a_connection_is_made_used_and_closed(void)
{
	int l, a, b;
	struct xk_sock_addr who;

	up();
	l = listener(PORT, 8);
	CU_ASSERT_EQUAL(xk_sock_accept(l, NULL, 0), XK_E_AGAIN);
	a = begin(PORT);
	CU_ASSERT_EQUAL(polled(a, POLLOUT), 0);
	CU_ASSERT_EQUAL(xk_sock_connect(a, &(struct xk_sock_addr){ HOST, PORT }), XK_E_ALREADY);
	CU_ASSERT_EQUAL(xk_sock_write(a, "x", 1), XK_E_AGAIN);
	pf_settle(&f);
	CU_ASSERT_EQUAL(polled(l, POLLIN), POLLIN);
	CU_ASSERT_EQUAL(polled(a, POLLOUT), POLLOUT);
	CU_ASSERT_EQUAL(opt(a, XK_SO_ERROR), 0);
	CU_ASSERT_EQUAL(xk_sock_connect(a, &(struct xk_sock_addr){ HOST, PORT }), XK_E_ISCONN);
	b = xk_sock_accept(l, &who, 0);
	CU_ASSERT(b > 0 && who.port == 40000);
	CU_ASSERT_EQUAL(xk_sock_read(b, &who, 1), XK_E_AGAIN);
	CU_ASSERT_EQUAL(xk_sock_write(a, "hello", 5), 5);
	pf_settle(&f);
	CU_ASSERT_EQUAL(polled(b, POLLIN), POLLIN);
	CU_ASSERT_EQUAL(opt(b, XK_SO_NREAD), 5);
	CU_ASSERT(reads(b, "hello"));
	gone(a);
	CU_ASSERT_EQUAL(polled(b, POLLIN | POLLRDHUP), POLLIN | POLLRDHUP);
	CU_ASSERT_EQUAL(xk_sock_read(b, &who, 1), 0);
	gone(b);
	gone(l);
	CU_ASSERT_EQUAL(sf_ends(&f, "st", 0), 0);
	down();
}

static void a_closed_number_is_refused_for_ever(void)
{
	struct pollfd p[2];
	int old, fd;

	up();
	old = stream();
	gone(old);
	CU_ASSERT_EQUAL(xk_sock_close(old), XK_E_BADF);
	for (int i = 0; i < 100; i++) {
		fd = stream();
		CU_ASSERT_NOT_EQUAL(fd, old);
		CU_ASSERT_EQUAL(xk_sock_read(old, p, 1), XK_E_BADF);
		CU_ASSERT_EQUAL(xk_sock_listen(old, 1), XK_E_BADF);
		CU_ASSERT_EQUAL(set(old, XK_TCP_NODELAY, 1), XK_E_BADF);
		p[0] = (struct pollfd){ .fd = old, .events = POLLIN };
		p[1] = (struct pollfd){ .fd = -1, .events = POLLIN };
		CU_ASSERT_EQUAL(xk_sock_poll(p, 2, UINT64_MAX), 1);
		CU_ASSERT_EQUAL(p[0].revents, POLLNVAL);
		CU_ASSERT_EQUAL(p[1].revents, 0);
		gone(fd);
	}
	CU_ASSERT_EQUAL(xk_sock_close(-1), XK_E_BADF);
	CU_ASSERT_EQUAL(xk_sock_close(0), XK_E_BADF);
	CU_ASSERT_EQUAL(xk_sock_close(INT32_MAX), XK_E_BADF);
	down();
}

static void a_refused_connection_says_so_once_and_can_be_tried_again(void)
{
	int fd;

	up();
	fd = begin(1234);
	pf_settle(&f);
	CU_ASSERT_EQUAL(polled(fd, POLLOUT) & (POLLERR | POLLOUT), POLLERR | POLLOUT);
	CU_ASSERT_EQUAL(opt(fd, XK_SO_ERROR), XK_E_CONNREFUSED);
	CU_ASSERT_EQUAL(opt(fd, XK_SO_ERROR), 0);
	CU_ASSERT_EQUAL(xk_sock_read(fd, &fd, 1), XK_E_NOTCONN);
	CU_ASSERT_EQUAL(xk_sock_write(fd, "x", 1), XK_E_NOTCONN);
	CU_ASSERT_EQUAL(xk_sock_shutdown(fd, XK_SHUT_WR), XK_E_NOTCONN);
	CU_ASSERT_EQUAL(xk_sock_connect(fd, &(struct xk_sock_addr){ HOST, 90 }), XK_E_INPROGRESS);
	pf_settle(&f);
	CU_ASSERT_EQUAL(xk_sock_connect(fd, &(struct xk_sock_addr){ HOST, 90 }), XK_E_ISCONN);
	gone(fd);
	down();
}

static void sockets_left_open_go_with_the_graph(void)
{
	int a, b;

	up_with(3, NULL, NULL);
	listener(PORT, 8);
	for (int i = 0; i < 9; i++)
		begin(PORT);
	pf_settle(&f);
	a = begin(90);
	b = stream();
	pf_settle(&f);
	xk_sock_write(a, "never read", 10);
	pf_settle(&f);
	down();
	CU_ASSERT_EQUAL(xk_sock_close(a), XK_E_BADF);
	CU_ASSERT_EQUAL(xk_sock_read(b, &a, 1), XK_E_BADF);
}

static void a_stopped_node_answers_nothing_but_close(void)
{
	int fd;
	char b;

	up();
	fd = begin(90);
	pf_settle(&f);
	xk_sock_stop(node);
	CU_ASSERT_EQUAL(xk_sock_read(fd, &b, 1), XK_E_SHUTDOWN);
	CU_ASSERT_EQUAL(xk_sock_write(fd, &b, 1), XK_E_SHUTDOWN);
	CU_ASSERT_EQUAL(xk_sock_socket(node, XK_SOCK_STREAM), XK_E_SHUTDOWN);
	CU_ASSERT_EQUAL(xk_sock_listen(fd, 1), XK_E_SHUTDOWN);
	CU_ASSERT_EQUAL(polled(fd, POLLIN) & POLLNVAL, POLLNVAL);
	CU_ASSERT_EQUAL(xk_sock_close(fd), XK_OK);
	down();
}

/* ---- names ---------------------------------------------------------------------------- */

static void a_port_has_one_owner_unless_both_agree(void)
{
	struct xk_sock_addr any = { 0, PORT }, one = { 0x0a000001, PORT };
	int a, b;

	up();
	a = stream();
	b = stream();
	CU_ASSERT_EQUAL(xk_sock_bind(a, &any), XK_OK);
	CU_ASSERT_EQUAL(xk_sock_bind(a, &any), XK_E_INVAL);
	CU_ASSERT_EQUAL(xk_sock_bind(b, &any), XK_E_ADDRINUSE);
	CU_ASSERT_EQUAL(xk_sock_bind(b, &one), XK_E_ADDRINUSE);
	gone(a);
	CU_ASSERT_EQUAL(xk_sock_bind(b, &one), XK_OK);
	a = stream();
	CU_ASSERT_EQUAL(xk_sock_bind(a, &any), XK_E_ADDRINUSE);
	gone(a);
	gone(b);
	a = stream();
	b = stream();
	set(a, XK_SO_REUSEADDR, 1);
	set(b, XK_SO_REUSEADDR, 1);
	CU_ASSERT_EQUAL(xk_sock_bind(a, &any), XK_OK);
	CU_ASSERT_EQUAL(xk_sock_bind(b, &any), XK_OK);
	CU_ASSERT_EQUAL(xk_sock_listen(b, 1), XK_E_ADDRINUSE);
	CU_ASSERT_EQUAL(xk_sock_listen(a, 1), XK_OK);
	gone(a);
	CU_ASSERT_EQUAL(xk_sock_listen(b, 1), XK_OK);
	gone(b);
	down();
}

static void a_port_is_chosen_when_none_is_given(void)
{
	struct xk_sock_addr me, peer;
	int l, a, b;

	up();
	l = stream();
	CU_ASSERT_EQUAL(xk_sock_getsockname(l, &me), XK_OK);
	CU_ASSERT_EQUAL(me.port, 0);
	CU_ASSERT_EQUAL(xk_sock_listen(l, 4), XK_OK);
	CU_ASSERT_EQUAL(xk_sock_getsockname(l, &me), XK_OK);
	CU_ASSERT(me.port >= 49152);
	CU_ASSERT_EQUAL(xk_sock_getpeername(l, &peer), XK_E_NOTCONN);
	a = begin(me.port);
	pf_settle(&f);
	b = xk_sock_accept(l, &peer, 0);
	CU_ASSERT(b > 0);
	CU_ASSERT_EQUAL(xk_sock_getpeername(a, &peer), XK_OK);
	CU_ASSERT(peer.host == HOST && peer.port == me.port);
	CU_ASSERT_EQUAL(xk_sock_getsockname(b, &peer), XK_OK);
	CU_ASSERT_EQUAL(peer.port, me.port);
	gone(a);
	gone(b);
	gone(l);
	down();
}

/* ---- listening --------------------------------------------------------------------------- */

static void the_backlog_holds_over_all_vps(void)
{
	int l, c[12], made = 0, got = 0;

	up_with(4, NULL, NULL);
	l = listener(PORT, 5);
	for (int i = 0; i < 12; i++)
		c[i] = begin(PORT);
	pf_settle(&f);
	for (int i = 0; i < 12; i++)
		made += opt(c[i], XK_SO_ERROR) == 0;
	CU_ASSERT_EQUAL(made, 5);
	CU_ASSERT_EQUAL(pf_count(&f, "sock", "backlog_full"), 7);
	for (int fd; (fd = xk_sock_accept(l, NULL, 0)) >= 0; got++) {
		CU_ASSERT_EQUAL(xk_sock_write(fd, "hi", 2), 2);
		pf_settle(&f);
		gone(fd);
	}
	CU_ASSERT_EQUAL(got, 5);
	for (int i = 0; i < 12; i++) {
		char b[8];

		got -= xk_sock_read(c[i], b, sizeof b) == 2;
		gone(c[i]);
	}
	CU_ASSERT_EQUAL(got, 0);
	c[0] = begin(PORT);
	pf_settle(&f);
	CU_ASSERT_EQUAL(opt(c[0], XK_SO_ERROR), 0);
	gone(c[0]);
	gone(l);
	down();
}

static void connections_stay_on_the_vp_that_their_number_is_mapped_to(void)
{
	int l, fd, c[8];

	up_with(4, NULL, NULL);
	l = listener(PORT, 8);
	for (int i = 0; i < 8; i++) {
		c[i] = begin(PORT);
		CU_ASSERT_EQUAL(opt(c[i], XK_SO_VP), i % 4);
	}
	pf_settle(&f);
	for (int i = 0; i < 8; i++) {
		char b[16];
		int vp;

		fd = xk_sock_accept(l, NULL, 0);
		CU_ASSERT_FATAL(fd > 0);
		vp = (int)opt(fd, XK_SO_VP);
		CU_ASSERT_EQUAL(xk_sock_write(fd, "abc", 3), 3);
		pf_settle(&f);
		for (int k = 0; k < 8; k++)      /* the fixture joins ends of one VP */
			if (xk_sock_read(c[k], b, sizeof b) == 3)
				CU_ASSERT_EQUAL(k % 4, vp);
		gone(fd);
	}
	for (int i = 0; i < 8; i++)
		gone(c[i]);
	gone(l);
	down();
}

static void closing_a_listener_resets_who_waits(void)
{
	int l, c[6];

	up_with(3, NULL, NULL);
	l = listener(PORT, 8);
	for (int i = 0; i < 6; i++)
		c[i] = begin(PORT);
	pf_settle(&f);
	gone(l);
	for (int i = 0; i < 6; i++) {
		CU_ASSERT_EQUAL(xk_sock_read(c[i], &l, 1), XK_E_CONNRESET);
		CU_ASSERT_EQUAL(xk_sock_read(c[i], &l, 1), 0);
		CU_ASSERT_EQUAL(xk_sock_write(c[i], &l, 1), XK_E_PIPE);
		gone(c[i]);
	}
	c[0] = begin(PORT);
	pf_settle(&f);
	CU_ASSERT_EQUAL(opt(c[0], XK_SO_ERROR), XK_E_CONNREFUSED);
	gone(c[0]);
	down();
}

static void a_listener_that_is_shut_listens_no_more(void)
{
	int l;

	up();
	l = listener(PORT, 8);
	CU_ASSERT_EQUAL(opt(l, XK_SO_ACCEPTCONN), 1);
	CU_ASSERT_EQUAL(xk_sock_connect(l, &(struct xk_sock_addr){ HOST, 90 }), XK_E_INVAL);
	CU_ASSERT_EQUAL(xk_sock_shutdown(l, XK_SHUT_RD), XK_OK);
	CU_ASSERT_EQUAL(opt(l, XK_SO_ACCEPTCONN), 0);
	CU_ASSERT_EQUAL(xk_sock_accept(l, NULL, 0), XK_E_INVAL);
	gone(l);
	down();
}

static void an_accepted_socket_has_the_options_of_its_listener(void)
{
	struct xk_sock_linger g = { 1, 7 };
	size_t len = sizeof g;
	int l, a, b;

	up();
	l = listener(PORT, 8);
	set(l, XK_SO_NONBLOCK, 1);
	set(l, XK_TCP_NODELAY, 1);
	set(l, XK_SO_SNDBUF, 54321);
	xk_sock_setopt(l, XK_SO_LINGER, &g, sizeof g);
	a = begin(PORT);
	pf_settle(&f);
	b = xk_sock_accept(l, NULL, 0);
	CU_ASSERT_EQUAL(opt(b, XK_SO_NONBLOCK), 0);
	CU_ASSERT_EQUAL(opt(b, XK_TCP_NODELAY), 1);
	CU_ASSERT_EQUAL(opt(b, XK_SO_SNDBUF), 54321);
	g.seconds = 0;
	CU_ASSERT_EQUAL(xk_sock_getopt(b, XK_SO_LINGER, &g, &len), XK_OK);
	CU_ASSERT(g.on == 1 && g.seconds == 7);
	gone(b);
	gone(a);
	a = begin(PORT);
	pf_settle(&f);
	b = xk_sock_accept(l, NULL, XK_SOCK_NONBLOCK);
	CU_ASSERT_EQUAL(opt(b, XK_SO_NONBLOCK), 1);
	gone(a);
	gone(b);
	gone(l);
	down();
}

/* ---- bytes --------------------------------------------------------------------------------- */

static uint8_t pattern(uint64_t i) { return (uint8_t)(i * 2654435761u >> 11); }

/* n bytes from a to b, written and read in pieces of these sizes. */
static void transfer(int a, int b, uint64_t n, size_t wr, size_t rd)
{
	uint64_t sent = 0, got = 0, bad = 0;
	uint8_t *out = malloc(wr), *in = malloc(rd);

	while (got < n) {
		size_t want = n - sent < wr ? (size_t)(n - sent) : wr;
		ssize_t r;

		for (size_t i = 0; i < want; i++)
			out[i] = pattern(sent + i);
		r = want != 0 ? xk_sock_write(a, out, want) : 0;
		CU_ASSERT_FATAL(r >= 0 || r == XK_E_AGAIN);
		sent += r > 0 ? (uint64_t)r : 0;
		pf_settle(&f);
		r = xk_sock_read(b, in, rd);
		CU_ASSERT_FATAL(r > 0 || r == XK_E_AGAIN);
		for (ssize_t i = 0; i < r; i++)
			bad += in[i] != pattern(got + (uint64_t)i);
		got += r > 0 ? (uint64_t)r : 0;
	}
	CU_ASSERT_EQUAL(bad, 0);
	free(out);
	free(in);
}

static void every_byte_comes_whatever_the_pieces(void)
{
	static const size_t sizes[][2] = { { 1, 1 }, { 1, 4096 }, { 4096, 1 }, { 1459, 1461 }, { 100000, 7777 },
					   { 65537, 65536 }, { 13, 1000 } };
	int a, b;

	up_with(1, "room=16384; window=16384; chunk=1000", NULL);
	a = pair(&b);
	for (unsigned i = 0; i < XK_ARRAY_LEN(sizes); i++)
		transfer(a, b, sizes[i][0] == 1 || sizes[i][1] == 1 ? 3000 : 300000, sizes[i][0], sizes[i][1]);
	CU_ASSERT(sf_state(&f, "st")->summed > 100);
	gone(a);
	gone(b);
	down();
}

static void pieces_of_a_vector_are_one_stream_with_the_right_sum(void)
{
	uint8_t bytes[4000], got[4000];
	struct iovec v[8] = { { bytes, 1 }, { NULL, 0 }, { bytes + 1, 3 }, { bytes + 4, 1000 }, { bytes + 1004, 7 },
			      { bytes + 1011, 1989 }, { bytes + 3000, 0 }, { bytes + 3000, 1000 } };
	struct iovec r[3] = { { got, 5 }, { got + 5, 3000 }, { got + 3005, 995 } };
	int a, b;

	up_with(1, NULL, NULL);
	for (unsigned i = 0; i < sizeof bytes; i++)
		bytes[i] = pattern(i);
	a = pair(&b);
	CU_ASSERT_EQUAL(xk_sock_writev(a, v, 8), 4000);
	pf_settle(&f);
	CU_ASSERT_EQUAL(xk_sock_readv(b, r, 3), 4000);
	CU_ASSERT_EQUAL(memcmp(bytes, got, sizeof got), 0);
	CU_ASSERT(sf_state(&f, "st")->summed >= 1);
	CU_ASSERT_EQUAL(xk_sock_writev(a, v, -1), XK_E_INVAL);
	CU_ASSERT_EQUAL(xk_sock_writev(a, v, XK_SOCK_IOV + 1), XK_E_INVAL);
	v[0].iov_len = SIZE_MAX;
	CU_ASSERT_EQUAL(xk_sock_writev(a, v, 8), XK_E_INVAL);
	gone(a);
	gone(b);
	down();
}

static void the_window_follows_the_reader(void)
{
	char b[30000];
	int a, c;

	up_with(1, "room=100000; window=20000", NULL);
	a = pair(&c);
	memset(b, 'x', sizeof b);
	CU_ASSERT_EQUAL(xk_sock_write(a, b, 30000), 30000);
	CU_ASSERT_EQUAL(xk_sock_write(a, b, 30000), 30000);
	pf_settle(&f);
	CU_ASSERT(opt(c, XK_SO_NREAD) >= 20000 && opt(c, XK_SO_NREAD) < 22000);
	CU_ASSERT(opt(a, XK_SO_NWRITE) > 38000);
	CU_ASSERT_EQUAL(xk_sock_recv(c, b, 10000, XK_SOCK_PEEK), 10000);
	pf_settle(&f);
	CU_ASSERT(opt(c, XK_SO_NREAD) < 22000);
	CU_ASSERT_EQUAL(xk_sock_read(c, b, 10000), 10000);
	pf_settle(&f);
	CU_ASSERT(opt(c, XK_SO_NREAD) >= 20000);
	CU_ASSERT_EQUAL(xk_sock_shutdown(c, XK_SHUT_RD), XK_OK);
	pf_settle(&f);
	CU_ASSERT_EQUAL(xk_sock_read(c, b, 1), 0);
	CU_ASSERT_EQUAL(opt(a, XK_SO_NWRITE), 0);
	gone(a);
	gone(c);
	down();
}

static void a_full_buffer_says_so_and_then_is_writable_again(void)
{
	static char b[100000];
	int a, c;

	up_with(1, "room=10000; window=5000", NULL);
	a = pair(&c);
	CU_ASSERT_EQUAL(xk_sock_write(a, b, sizeof b), 10000);
	CU_ASSERT_EQUAL(xk_sock_write(a, b, 1), XK_E_AGAIN);
	CU_ASSERT_EQUAL(polled(a, POLLOUT), 0);
	pf_settle(&f);
	CU_ASSERT_EQUAL(polled(a, POLLOUT), POLLOUT);
	while (xk_sock_write(a, b, sizeof b) > 0)
		pf_settle(&f);
	CU_ASSERT(xk_sock_read(c, b, sizeof b) > 0);
	CU_ASSERT_EQUAL(polled(a, POLLOUT), 0);
	pf_settle(&f);
	CU_ASSERT_EQUAL(polled(a, POLLOUT), POLLOUT);
	gone(c);
	gone(a);
	down();
}

static void peeking_takes_nothing(void)
{
	char b[64];
	int a, c;

	up_with(1, "chunk=4", NULL);
	a = pair(&c);
	xk_sock_write(a, "one two three", 13);
	pf_settle(&f);
	CU_ASSERT_EQUAL(xk_sock_recv(c, b, 2, 0), 2);
	CU_ASSERT_EQUAL(xk_sock_recv(c, b, 5, XK_SOCK_PEEK), 5);
	CU_ASSERT_EQUAL(memcmp(b, "e two", 5), 0);
	CU_ASSERT_EQUAL(xk_sock_recv(c, b, 64, XK_SOCK_PEEK | XK_SOCK_WAITALL), 11);
	CU_ASSERT(reads(c, "e two three"));
	CU_ASSERT_EQUAL(xk_sock_recv(c, b, 5, XK_SOCK_PEEK), XK_E_AGAIN);
	gone(a);
	CU_ASSERT_EQUAL(xk_sock_recv(c, b, 5, XK_SOCK_PEEK), 0);
	gone(c);
	down();
}

static void urgent_bytes_come_inline(void)
{
	char b[8];
	int a, c;

	up();
	a = pair(&c);
	CU_ASSERT_EQUAL(xk_sock_send(a, "ab!", 3, XK_SOCK_OOB), 3);
	pf_settle(&f);
	CU_ASSERT_EQUAL(xk_sock_recv(c, b, 8, XK_SOCK_OOB), XK_E_INVAL);
	CU_ASSERT(reads(c, "ab!"));
	CU_ASSERT_EQUAL(opt(c, XK_SO_OOBINLINE), 1);
	CU_ASSERT_EQUAL(set(c, XK_SO_OOBINLINE, 0), XK_E_NOTSUP);
	gone(a);
	gone(c);
	down();
}

/* ---- ends ----------------------------------------------------------------------------------- */

static void a_half_closed_stream_goes_on_the_other_way(void)
{
	int a, b;

	up();
	a = pair(&b);
	xk_sock_write(a, "last words", 10);
	CU_ASSERT_EQUAL(xk_sock_shutdown(a, XK_SHUT_WR), XK_OK);
	CU_ASSERT_EQUAL(xk_sock_shutdown(a, XK_SHUT_WR), XK_OK);
	CU_ASSERT_EQUAL(xk_sock_write(a, "x", 1), XK_E_PIPE);
	CU_ASSERT_EQUAL(xk_sock_shutdown(a, 3), XK_E_INVAL);
	pf_settle(&f);
	CU_ASSERT(reads(b, "last words"));
	CU_ASSERT_EQUAL(xk_sock_read(b, &a + 0, 0), 0);
	CU_ASSERT(reads(b, ""));
	CU_ASSERT_EQUAL(polled(b, POLLIN | POLLOUT | POLLRDHUP), POLLIN | POLLOUT | POLLRDHUP);
	xk_sock_write(b, "answer", 6);
	pf_settle(&f);
	CU_ASSERT(reads(a, "answer"));
	CU_ASSERT_EQUAL(polled(a, POLLIN) & POLLHUP, 0);
	xk_sock_shutdown(b, XK_SHUT_RDWR);
	pf_settle(&f);
	CU_ASSERT_EQUAL(polled(a, POLLIN) & POLLHUP, POLLHUP);
	gone(a);
	gone(b);
	CU_ASSERT_EQUAL(sf_ends(&f, "st", 0), 0);
	down();
}

static void a_reset_is_told_once_after_the_bytes_before_it(void)
{
	struct sf_conn *p;
	int a;

	up();
	a = begin(90);
	pf_settle(&f);
	p = sf_conn(&f, "peer", 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(p);
	sf_say(&f, p, "before");
	sf_abort(&f, p);
	CU_ASSERT_EQUAL(polled(a, POLLIN) & (POLLIN | POLLERR | POLLHUP), POLLIN | POLLERR | POLLHUP);
	CU_ASSERT(reads(a, "before"));
	CU_ASSERT_EQUAL(xk_sock_read(a, &p, 1), XK_E_CONNRESET);
	CU_ASSERT_EQUAL(xk_sock_read(a, &p, 1), 0);
	CU_ASSERT_EQUAL(xk_sock_write(a, &p, 1), XK_E_PIPE);
	gone(a);
	down();
}

static void unread_bytes_and_a_linger_of_zero_reset_the_peer(void)
{
	struct xk_sock_linger g = { 1, 0 };
	struct sf_conn *p;
	int a;

	up();
	a = begin(90);
	pf_settle(&f);
	p = sf_conn(&f, "peer", 0);
	sf_say(&f, p, "nobody reads this");
	gone(a);
	CU_ASSERT_EQUAL(p->failed, 1);
	CU_ASSERT_EQUAL(p->err, XK_E_CONNRESET);
	a = begin(90);
	pf_settle(&f);
	xk_sock_setopt(a, XK_SO_LINGER, &g, sizeof g);
	gone(a);
	CU_ASSERT_EQUAL(sf_conn(&f, "peer", 1)->failed, 1);
	a = begin(90);
	pf_settle(&f);
	gone(a);
	CU_ASSERT_EQUAL(sf_conn(&f, "peer", 2)->failed, 0);
	CU_ASSERT_EQUAL(sf_conn(&f, "peer", 2)->ended, 1);
	down();
}

static void what_is_queued_goes_out_after_close(void)
{
	static char b[50000];
	struct sf_conn *p;
	int a;

	up_with(1, "window=1000000", NULL);
	a = begin(90);
	pf_settle(&f);
	p = sf_conn(&f, "peer", 0);
	CU_ASSERT_EQUAL(xk_sock_write(a, b, sizeof b), sizeof b);
	CU_ASSERT_EQUAL(xk_sock_close(a), XK_OK);
	CU_ASSERT_EQUAL(p->n, 0);
	pf_settle(&f);
	CU_ASSERT_EQUAL(p->n, sizeof b);
	CU_ASSERT_EQUAL(p->ended, 1);
	down();
}

static void a_failure_below_wakes_with_its_own_number(void)
{
	int a;

	up();
	a = begin(90);
	pf_settle(&f);
	sf_fail_all(&f, "st", 0, XK_E_TIMEDOUT);
	CU_ASSERT_EQUAL(xk_sock_write(a, "x", 1), XK_E_TIMEDOUT);
	CU_ASSERT_EQUAL(xk_sock_write(a, "x", 1), XK_E_PIPE);
	CU_ASSERT_EQUAL(xk_sock_getpeername(a, &(struct xk_sock_addr){ 0 }), XK_E_NOTCONN);
	gone(a);
	down();
}

/* ---- options ---------------------------------------------------------------------------------- */

static void options_are_checked_kept_and_told(void)
{
	static const enum xk_sock_opt numbers[] = { XK_SO_SNDBUF, XK_SO_RCVBUF, XK_SO_RCVLOWAT, XK_TCP_MAXSEG,
		XK_TCP_USER_TIMEOUT, XK_TCP_KEEPIDLE, XK_TCP_KEEPINTVL, XK_TCP_KEEPCNT };
	static const enum xk_sock_opt flags[] = { XK_SO_KEEPALIVE, XK_SO_REUSEADDR, XK_TCP_NODELAY, XK_TCP_CORK,
		XK_SO_NONBLOCK };
	uint64_t t = 5000000000u;
	size_t len = sizeof t;
	struct tcp_snapshot info;
	int a;

	up();
	a = stream();
	for (unsigned i = 0; i < XK_ARRAY_LEN(numbers); i++) {
		CU_ASSERT_EQUAL(set(a, numbers[i], 777), XK_OK);
		CU_ASSERT_EQUAL(opt(a, numbers[i]), 777);
		CU_ASSERT_EQUAL(set(a, numbers[i], -1), XK_E_INVAL);
	}
	for (unsigned i = 0; i < XK_ARRAY_LEN(flags); i++) {
		CU_ASSERT_EQUAL(opt(a, flags[i]), 0);
		CU_ASSERT_EQUAL(set(a, flags[i], 5), XK_OK);
		CU_ASSERT_EQUAL(opt(a, flags[i]), 1);
	}
	CU_ASSERT_EQUAL(set(a, XK_SO_SNDBUF, 0), XK_E_INVAL);
	CU_ASSERT_EQUAL(set(a, XK_SO_TYPE, 1), XK_E_NOPROTOOPT);
	CU_ASSERT_EQUAL(opt(a, XK_SO_TYPE), XK_SOCK_STREAM);
	CU_ASSERT_EQUAL(set(a, (enum xk_sock_opt)9999, 1), XK_E_NOPROTOOPT);
	CU_ASSERT_EQUAL(xk_sock_setopt(a, XK_SO_RCVTIMEO, &t, sizeof t), XK_OK);
	t = 0;
	CU_ASSERT_EQUAL(xk_sock_getopt(a, XK_SO_RCVTIMEO, &t, &len), XK_OK);
	CU_ASSERT_EQUAL(t, 5000000000u);
	len = 2;
	CU_ASSERT_EQUAL(xk_sock_getopt(a, XK_SO_RCVTIMEO, &t, &len), XK_E_INVAL);
	CU_ASSERT_EQUAL(xk_sock_setopt(a, XK_SO_RCVTIMEO, &t, 4), XK_E_INVAL);
	len = sizeof info;
	CU_ASSERT_EQUAL(xk_sock_getopt(a, XK_TCP_INFO, &info, &len), XK_E_NOTCONN);
	gone(a);
	down();
}

static void what_cannot_be_is_refused(void)
{
	int a;

	up();
	CU_ASSERT_EQUAL(xk_sock_socket(node, 7), XK_E_INVAL);
	CU_ASSERT_EQUAL(xk_sock_socket(node, XK_SOCK_DGRAM), XK_E_NOTSUP);
	CU_ASSERT_EQUAL(xk_sock_socket(pf_node(&f, "st"), XK_SOCK_STREAM), XK_E_NOTSUP);
	a = stream();
	CU_ASSERT_EQUAL(xk_sock_connect(a, &(struct xk_sock_addr){ HOST, 0 }), XK_E_ADDRNOTAVAIL);
	CU_ASSERT_EQUAL(xk_sock_accept(a, NULL, 0), XK_E_INVAL);
	CU_ASSERT_EQUAL(polled(a, POLLIN | POLLOUT), POLLOUT | POLLHUP);
	gone(a);
	down();
}

/* Memory fails at every place in turn; nothing leaks, nothing is half made. */
static void every_lack_of_memory_is_survived(void)
{
	bool through = false;

	for (uint64_t k = 1; !through; k++) {
		int l, a, b;

		up();
		xk_mem_fail_after(k);
		l = xk_sock_socket(node, XK_SOCK_STREAM);
		a = xk_sock_socket(node, XK_SOCK_STREAM);
		xk_sock_bind(l, &(struct xk_sock_addr){ 0, PORT });
		xk_sock_listen(l, 4);
		xk_sock_connect(a, &(struct xk_sock_addr){ HOST, PORT });
		pf_settle(&f);
		b = xk_sock_accept(l, NULL, 0);
		xk_sock_write(a, "through", 7);
		pf_settle(&f);
		through = b >= 0 && reads(b, "through");
		xk_mem_fail_after(0);
		pf_down(&f);
	}
}

#define T(x) { #x, x }
static CU_TestInfo life_tests[] = {
	T(a_connection_is_made_used_and_closed), T(a_closed_number_is_refused_for_ever),
	T(a_refused_connection_says_so_once_and_can_be_tried_again), T(sockets_left_open_go_with_the_graph),
	T(a_stopped_node_answers_nothing_but_close), CU_TEST_INFO_NULL
};
static CU_TestInfo name_tests[] = {
	T(a_port_has_one_owner_unless_both_agree), T(a_port_is_chosen_when_none_is_given), CU_TEST_INFO_NULL
};
static CU_TestInfo listen_tests[] = {
	T(the_backlog_holds_over_all_vps), T(connections_stay_on_the_vp_that_their_number_is_mapped_to),
	T(closing_a_listener_resets_who_waits), T(a_listener_that_is_shut_listens_no_more),
	T(an_accepted_socket_has_the_options_of_its_listener), CU_TEST_INFO_NULL
};
static CU_TestInfo byte_tests[] = {
	T(every_byte_comes_whatever_the_pieces), T(pieces_of_a_vector_are_one_stream_with_the_right_sum),
	T(the_window_follows_the_reader), T(a_full_buffer_says_so_and_then_is_writable_again),
	T(peeking_takes_nothing), T(urgent_bytes_come_inline), CU_TEST_INFO_NULL
};
static CU_TestInfo end_tests[] = {
	T(a_half_closed_stream_goes_on_the_other_way), T(a_reset_is_told_once_after_the_bytes_before_it),
	T(unread_bytes_and_a_linger_of_zero_reset_the_peer), T(what_is_queued_goes_out_after_close),
	T(a_failure_below_wakes_with_its_own_number), CU_TEST_INFO_NULL
};
static CU_TestInfo option_tests[] = {
	T(options_are_checked_kept_and_told), T(what_cannot_be_is_refused),
	T(every_lack_of_memory_is_survived), CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "life", NULL, NULL, NULL, NULL, life_tests }, { "names", NULL, NULL, NULL, NULL, name_tests },
	{ "listening", NULL, NULL, NULL, NULL, listen_tests }, { "bytes", NULL, NULL, NULL, NULL, byte_tests },
	{ "ends", NULL, NULL, NULL, NULL, end_tests }, { "options", NULL, NULL, NULL, NULL, option_tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}

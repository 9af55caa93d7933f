/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_sock_tap.c - sockets over TCP and UDP against the Linux kernel's, through a TAP
 * device in a network namespace of the test's own.
 *
 * Promises: whoever connects, 1 byte to 16 MiB go both ways at once, byte for byte, and
 * each way of ending a connection is seen by the other side as what it is.  Needs root;
 * is skipped without.
 */
#include "protocols/sock/xk_sock.h"
#include "protocols/tcp/tcp.h"
#include "runtime/compose/xk_compose.h"
#include "runtime/sync/xk_sync.h"
#include "tests/support/xk_test_graph.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define KERNEL 0x0a090001u
#define US     0x0a090002u
#define PORT   7100u

static struct { struct xk_errs *e; struct xk_spec *s; struct xk_graph *g; uint64_t live; } run;
static struct xk_node *node;

static const char text_fmt[] =
	"local net = ip { addr = '10.9.0.2/24', over = arp { over = eth { over = tap { ifname = 'xks0', addr = '10.9.0.1/24' } } } }\n"
	"icmp { over = net }\n"
	"sock { name = 'sock', over = { tcp { over = net }, udp { over = net } } }\n"
	"return graph 'tap' { %s }\n";

static void up(const char *fields)
{
	struct xk_compose_opts o = { .path = NULL };
	char text[2048];
	int n = snprintf(text, sizeof text, text_fmt, fields);

	printf("# %s\n", fields);
	run.live = xk_alloc_live();
	run.e = xk_errs_new();
	if (xk_spec_load_text(&run.s, "tap.lua", text, (size_t)n, &o, run.e) != XK_OK ||
	    xk_spec_check(run.s, run.e, NULL) != XK_OK || xk_spec_build(run.s, &run.g, run.e) != XK_OK ||
	    xk_graph_up(run.g, run.e) != XK_OK || xk_graph_run(run.g, run.e) != XK_OK)
		xk_spec_print_errors(stdout, run.s, run.e, NULL);
	CU_ASSERT_EQUAL_FATAL(xk_errs_count(run.e), 0);
	node = xk_graph_find(run.g, "sock");
}

static void down(void)
{
	xk_sock_stop(node);
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

/* ---- the kernel's side ----------------------------------------------------------------- */

static struct sockaddr_in in_of(uint32_t host, uint16_t port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(port) };

	a.sin_addr.s_addr = htonl(host);
	return a;
}

static int k_listen(void)
{
	struct sockaddr_in a = in_of(KERNEL, PORT);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	CU_ASSERT_EQUAL_FATAL(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
	CU_ASSERT_EQUAL_FATAL(listen(fd, 16), 0);
	return fd;
}

static int k_connect(void)
{
	struct sockaddr_in a = in_of(US, PORT);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CU_ASSERT_EQUAL_FATAL(connect(fd, (struct sockaddr *)&a, sizeof a), 0);
	return fd;
}

static void *k_echo(void *arg)
{
	int fd = (int)(intptr_t)arg;
	char b[65536];
	ssize_t n;

	while ((n = read(fd, b, sizeof b)) > 0)
		for (ssize_t at = 0, w; at < n; at += w)
			if ((w = send(fd, b + at, (size_t)(n - at), MSG_NOSIGNAL)) < 0)
				return (void *)(intptr_t)errno;
	shutdown(fd, SHUT_WR);
	return n < 0 ? (void *)(intptr_t)errno : NULL;
}

/* ---- our side ---------------------------------------------------------------------------- */

static const struct xk_sock_addr kernel = { KERNEL, PORT };

static int x_listen(void)
{
	int fd = xk_sock_socket(node, XK_SOCK_STREAM);

	CU_ASSERT_EQUAL_FATAL(xk_sock_bind(fd, &(struct xk_sock_addr){ 0, PORT }), XK_OK);
	CU_ASSERT_EQUAL_FATAL(xk_sock_listen(fd, 16), XK_OK);
	return fd;
}

static int x_connect(void)
{
	int fd = xk_sock_socket(node, XK_SOCK_STREAM);

	CU_ASSERT_EQUAL_FATAL(xk_sock_connect(fd, &kernel), XK_OK);
	return fd;
}

struct talk { int fd; size_t n, got, wrong; ssize_t last; uint8_t *out; };

static void *x_writer(void *arg)
{
	struct talk *t = arg;
	ssize_t n = xk_sock_write(t->fd, t->out, t->n);

	xk_sock_shutdown(t->fd, XK_SHUT_WR);
	return (void *)(intptr_t)(n != (ssize_t)t->n);
}

static void x_read(struct talk *t)
{
	static uint8_t b[100000];

	while ((t->last = xk_sock_read(t->fd, b, sizeof b)) > 0) {
		if (t->got + (size_t)t->last > t->n || memcmp(b, t->out + t->got, (size_t)t->last) != 0)
			t->wrong++;
		t->got += (size_t)t->last;
	}
}

/* n bytes to the kernel's echo and back, at once; both ends are closed. */
static void exchange(int xfd, int kfd, size_t n)
{
	struct talk t = { .fd = xfd, .n = n, .out = malloc(n) };
	void *kerr, *short_write;
	pthread_t echo, w;

	for (size_t i = 0; i < n; i++)
		t.out[i] = (uint8_t)((i + n) * 2654435761u >> 15);
	echo = begin(k_echo, (void *)(intptr_t)kfd);
	w = begin(x_writer, &t);
	x_read(&t);
	pthread_join(w, &short_write);
	pthread_join(echo, &kerr);
	CU_ASSERT_PTR_NULL(short_write);
	CU_ASSERT_PTR_NULL(kerr);
	CU_ASSERT_EQUAL(t.got, n);
	CU_ASSERT_EQUAL(t.wrong, 0);
	CU_ASSERT_EQUAL(t.last, 0);
	CU_ASSERT_EQUAL(xk_sock_close(xfd), XK_OK);
	close(kfd);
	free(t.out);
}

static const size_t sizes[] = { 1, 2, 535, 1448, 1449, 65535, 1000000, 16u << 20 };

static size_t size_no(unsigned i)
{
	return sizes[i] > 1000000 ? xk_test_rounds(sizes[i]) : sizes[i];
}

/* ---- bytes ---------------------------------------------------------------------------------- */

static void we_connect_and_every_byte_comes_back(void)
{
	for (const char *const *p = xk_test_presets(8, XK_TEST_ROWS); *p != NULL; p++) {
		int l;

		up(*p);
		l = k_listen();
		for (unsigned i = 0; i < XK_ARRAY_LEN(sizes); i++) {
			int x = x_connect(), k = accept(l, NULL, NULL);

			CU_ASSERT_FATAL(k >= 0);
			exchange(x, k, size_no(i));
		}
		close(l);
		down();
	}
}

static void the_kernel_connects_and_every_byte_comes_back(void)
{
	for (const char *const *p = xk_test_presets(8, XK_TEST_ROWS); *p != NULL; p++) {
		struct xk_sock_addr peer;
		int l;

		up(*p);
		l = x_listen();
		for (unsigned i = 0; i < XK_ARRAY_LEN(sizes); i++) {
			int k = k_connect(), x = xk_sock_accept(l, &peer, 0);

			CU_ASSERT_FATAL(x > 0);
			CU_ASSERT_EQUAL(peer.host, KERNEL);
			exchange(x, k, size_no(i));
		}
		xk_sock_close(l);
		down();
	}
}

/* ---- ends ------------------------------------------------------------------------------------- */

static void an_end_is_an_end_on_both_sides(void)
{
	char b[10];
	int l, x, k;

	up("threading = ppc {}");
	l = k_listen();
	x = x_connect();
	k = accept(l, NULL, NULL);
	CU_ASSERT_EQUAL(write(k, "bye", 3), 3);
	shutdown(k, SHUT_WR);
	CU_ASSERT_EQUAL(xk_sock_recv(x, b, 10, XK_SOCK_WAITALL), 3);
	CU_ASSERT_EQUAL(xk_sock_read(x, b, 10), 0);
	CU_ASSERT_EQUAL(xk_sock_write(x, "and you", 7), 7);
	CU_ASSERT_EQUAL(xk_sock_close(x), XK_OK);
	CU_ASSERT_EQUAL(recv(k, b, 10, MSG_WAITALL), 7);
	CU_ASSERT_EQUAL(read(k, b, 10), 0);
	close(k);
	close(l);
	down();
}

static void a_reset_is_a_reset_on_both_sides(void)
{
	struct linger g = { 1, 0 };
	struct xk_sock_linger xg = { 1, 0 };
	char b[10];
	int l, x, k;

	up("threading = ppc {}");
	l = k_listen();
	x = x_connect();
	k = accept(l, NULL, NULL);
	setsockopt(k, SOL_SOCKET, SO_LINGER, &g, sizeof g);
	close(k);
	CU_ASSERT_EQUAL(xk_sock_read(x, b, 10), XK_E_CONNRESET);
	CU_ASSERT_EQUAL(xk_sock_write(x, b, 1), XK_E_PIPE);
	xk_sock_close(x);
	x = x_connect();
	k = accept(l, NULL, NULL);
	xk_sock_setopt(x, XK_SO_LINGER, &xg, sizeof xg);
	xk_sock_close(x);
	CU_ASSERT_EQUAL(read(k, b, 10), -1);
	CU_ASSERT_EQUAL(errno, ECONNRESET);
	close(k);
	close(l);
	x = xk_sock_socket(node, XK_SOCK_STREAM);
	CU_ASSERT_EQUAL(xk_sock_connect(x, &kernel), XK_E_CONNREFUSED);
	xk_sock_close(x);
	down();
}

static void the_state_of_a_connection_can_be_asked(void)
{
	struct xk_sock_addr me;
	struct tcp_snapshot info;
	size_t len = sizeof info;
	int l, x, k;

	up("threading = ppc {}");
	l = k_listen();
	x = x_connect();
	k = accept(l, NULL, NULL);
	CU_ASSERT_EQUAL(xk_sock_getopt(x, XK_TCP_INFO, &info, &len), XK_OK);
	CU_ASSERT_EQUAL(info.state, TCP_S_ESTABLISHED);
	CU_ASSERT(info.timestamps && info.sack && info.wscale);
	CU_ASSERT_EQUAL(info.mss, 1448);
	CU_ASSERT_EQUAL(xk_sock_getsockname(x, &me), XK_OK);
	CU_ASSERT(me.host == US && me.port != 0);
	CU_ASSERT_EQUAL(xk_sock_getpeername(x, &me), XK_OK);
	CU_ASSERT(me.host == KERNEL && me.port == PORT);
	xk_sock_close(x);
	close(k);
	close(l);
	down();
}

/* ---- urgent, datagrams ---------------------------------------------------------------------------- */

static void urgent_bytes_reach_the_kernel_and_come_from_it(void)
{
	struct pollfd p = { .events = POLLPRI };
	struct pollfd kp = { .events = POLLPRI };
	char b[10];
	int l, x, one = 1;

	up("threading = ppc {}");
	l = k_listen();
	p.fd = x = x_connect();
	kp.fd = accept(l, NULL, NULL);
	setsockopt(kp.fd, SOL_SOCKET, SO_OOBINLINE, &one, sizeof one);
	CU_ASSERT_EQUAL(xk_sock_send(x, "ab!", 3, XK_SOCK_OOB), 3);
	CU_ASSERT_EQUAL(poll(&kp, 1, 10000), 1);
	CU_ASSERT_EQUAL(recv(kp.fd, b, 2, MSG_WAITALL), 2);
	CU_ASSERT_EQUAL(recv(kp.fd, b, 10, 0), 1);       /* it stops before the urgent byte */
	CU_ASSERT_EQUAL(b[0], '!');
	CU_ASSERT_EQUAL(send(kp.fd, "cd?", 3, MSG_OOB), 3);
	CU_ASSERT_EQUAL(xk_sock_poll(&p, 1, UINT64_MAX), 1);
	CU_ASSERT_EQUAL(p.revents & POLLPRI, POLLPRI);
	CU_ASSERT_EQUAL(xk_sock_recv(x, b, 3, XK_SOCK_WAITALL), 3);
	CU_ASSERT_EQUAL(memcmp(b, "cd?", 3), 0);
	xk_sock_close(x);
	close(kp.fd);
	close(l);
	down();
}

static void datagrams_of_every_size_go_and_come(void)
{
	static const size_t lengths[] = { 0, 1, 1472, 1473, 9000, 65507 };
	static uint8_t out[65507], in[65507];
	struct sockaddr_in a = in_of(KERNEL, PORT), peer;
	struct xk_sock_addr from;
	socklen_t len = sizeof peer;
	int x, k = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	up("threading = vppc {}");
	CU_ASSERT_EQUAL_FATAL(bind(k, (struct sockaddr *)&a, sizeof a), 0);
	x = xk_sock_socket(node, XK_SOCK_DGRAM);
	for (size_t i = 0; i < sizeof out; i++)
		out[i] = (uint8_t)(i * 2654435761u >> 9);
	for (unsigned i = 0; i < XK_ARRAY_LEN(lengths); i++) {
		size_t n = lengths[i];

		CU_ASSERT_EQUAL(xk_sock_sendto(x, out, n, 0, &kernel), (ssize_t)n);
		CU_ASSERT_EQUAL(recvfrom(k, in, sizeof in, 0, (struct sockaddr *)&peer, &len), (ssize_t)n);
		CU_ASSERT_EQUAL(memcmp(in, out, n), 0);
		CU_ASSERT_EQUAL(sendto(k, in, n, 0, (struct sockaddr *)&peer, len), (ssize_t)n);
		memset(in, 0, sizeof in);
		CU_ASSERT_EQUAL(xk_sock_recvfrom(x, in, sizeof in, 0, &from), (ssize_t)n);
		CU_ASSERT_EQUAL(memcmp(in, out, n), 0);
		CU_ASSERT(from.host == KERNEL && from.port == PORT);
	}
	close(k);
	CU_ASSERT_EQUAL(xk_sock_connect(x, &kernel), XK_OK);
	CU_ASSERT_EQUAL(xk_sock_write(x, "x", 1), 1);
	CU_ASSERT_EQUAL(xk_sock_read(x, in, 1), XK_E_CONNREFUSED);
	xk_sock_close(x);
	down();
}

#define T(x) { #x, x }
static CU_TestInfo tests[] = {
	T(we_connect_and_every_byte_comes_back), T(the_kernel_connects_and_every_byte_comes_back),
	T(an_end_is_an_end_on_both_sides), T(a_reset_is_a_reset_on_both_sides),
	T(the_state_of_a_connection_can_be_asked), T(urgent_bytes_reach_the_kernel_and_come_from_it),
	T(datagrams_of_every_size_go_and_come), CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = { { "kernel", NULL, NULL, NULL, NULL, tests }, CU_SUITE_INFO_NULL };

int main(void)
{
	int code, tun = open("/dev/net/tun", O_RDWR | O_CLOEXEC);

	if (geteuid() != 0)
		xk_test_skip_all("needs root: the peer is the kernel, through a TAP device");
	if (tun < 0)
		xk_test_skip_all("needs /dev/net/tun");
	close(tun);
	if (unshare(CLONE_NEWNET) != 0)
		xk_test_skip_all("cannot make a network namespace here");
	xk_rcu_register();
	setvbuf(stdout, NULL, _IOLBF, 0);
	code = xk_test_main(suites);
	xk_rcu_unregister();
	return code;
}

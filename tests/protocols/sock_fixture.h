/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sock_fixture.h - sockets over the fixture's streams, in virtual time, for the tests of sock.
 *
 * The program is the test's thread: it runs the graph and calls sockets in between.  A
 * peer played by the fixture is at the other end, or another socket is.
 */
#ifndef SOCK_FIXTURE_H
#define SOCK_FIXTURE_H

#include "protocols/sock/xk_sock.h"
#include "tests/protocols/stream_fixture.h"
#include "tests/support/xk_test.h"

#include <string.h>

extern const struct xk_proto xk_proto_sock;

#define PORT 80
#define HOST 0x0a000002u

static struct pf f;
static struct xk_node *node;

static inline void up_with(unsigned nvps, const char *stream, const char *sock)
{
	struct pf_spec specs[] = {
		{ &sf_stream, "st", NULL, stream },
		{ &xk_proto_sock, "sock", "st", sock },
		{ &sf_peer, "peer", "st", "port=90" },
		{ NULL, NULL, NULL, NULL },
	};

	pf_up(&f, nvps, specs);
	node = pf_node(&f, "sock");
}

static inline void up(void) { up_with(1, NULL, NULL); }

static inline void down(void)
{
	CU_ASSERT_EQUAL(sf_state(&f, "st")->broken, 0);
	pf_down(&f);
}

static inline int stream(void)
{
	int fd = xk_sock_socket(node, XK_SOCK_STREAM);

	CU_ASSERT_FATAL(fd >= 0);
	return fd;
}

static inline int listener(uint16_t port, unsigned backlog)
{
	int fd = stream();

	CU_ASSERT_EQUAL(xk_sock_bind(fd, &(struct xk_sock_addr){ 0, port }), XK_OK);
	CU_ASSERT_EQUAL(xk_sock_listen(fd, backlog), XK_OK);
	return fd;
}

static inline int begin(uint16_t port)
{
	int fd = stream();

	CU_ASSERT_EQUAL(xk_sock_connect(fd, &(struct xk_sock_addr){ HOST, port }), XK_E_INPROGRESS);
	return fd;
}

/* Two sockets, joined; returns the one that connected. */
static inline int pair(int *other)
{
	int l = listener(PORT, 8), fd = begin(PORT);

	pf_settle(&f);
	*other = xk_sock_accept(l, NULL, 0);
	CU_ASSERT_FATAL(*other >= 0);
	CU_ASSERT_EQUAL(xk_sock_close(l), XK_OK);
	return fd;
}

static inline bool reads(int fd, const char *text)
{
	char b[256];
	ssize_t n = xk_sock_read(fd, b, sizeof b);

	return n == (ssize_t)strlen(text) && memcmp(b, text, (size_t)n) == 0;
}

static inline void gone(int fd)
{
	CU_ASSERT_EQUAL(xk_sock_close(fd), XK_OK);
	pf_settle(&f);
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * talk_bsd.h - the calls of a stack whose sockets are BSD's: the including file
 * says under which names (BSD(socket) is socket or lwip_socket) and adds up and down.
 */
#ifndef XK_TALK_BSD_H
#define XK_TALK_BSD_H

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "tests/interop/talk.h"

static int bsd_done(ssize_t r) { return r < 0 ? -errno : (int)r; }

static struct sockaddr_in bsd_addr(uint32_t host, uint16_t port)
{
	struct sockaddr_in a;

	memset(&a, 0, sizeof a);
	a.sin_family = AF_INET;
	a.sin_port = htons(port);
	a.sin_addr.s_addr = htonl(host);
	return a;
}

static int bsd_connect(uint32_t host, uint16_t port)
{
	struct sockaddr_in a = bsd_addr(host, port);
	int fd = BSD(socket)(AF_INET, SOCK_STREAM, 0), err;

	if (fd < 0)
		return -errno;
	if (BSD(connect)(fd, (struct sockaddr *)&a, sizeof a) == 0)
		return fd;
	err = -errno;
	BSD(close)(fd);
	return err;
}

static int bsd_listen(uint16_t port)
{
	struct sockaddr_in a = bsd_addr(0, port);
	int fd = BSD(socket)(AF_INET, SOCK_STREAM, 0), one = 1;

	if (fd < 0)
		return -errno;
	BSD(setsockopt)(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (BSD(bind)(fd, (struct sockaddr *)&a, sizeof a) == 0 && BSD(listen)(fd, 16) == 0)
		return fd;
	return -errno;
}

static int bsd_accept(int fd) { return bsd_done(BSD(accept)(fd, NULL, NULL)); }

static int bsd_wait(int fd, int events, int ms)
{
	struct pollfd p = { .fd = fd };
	int r;

	p.events = (short)((events & TALK_IN ? POLLIN : 0) | (events & TALK_OUT ? POLLOUT : 0));
	r = BSD(poll)(&p, 1, ms);
	if (r <= 0)
		return r < 0 && errno != EINTR ? -errno : 0;
	return (p.revents & ~POLLOUT ? TALK_IN : 0) | (p.revents & POLLOUT ? TALK_OUT : 0);
}

static ssize_t bsd_send(int fd, const void *buf, size_t n)
{
	return bsd_done(BSD(send)(fd, buf, n, MSG_DONTWAIT));
}

static ssize_t bsd_recv(int fd, void *buf, size_t n)
{
	return bsd_done(BSD(recv)(fd, buf, n, MSG_DONTWAIT));
}

static int bsd_end(int fd) { return bsd_done(BSD(shutdown)(fd, SHUT_WR)); }
static int bsd_close(int fd) { return bsd_done(BSD(close)(fd)); }

#define BSD_CALLS \
	.connect = bsd_connect, .listen = bsd_listen, .accept = bsd_accept, .wait = bsd_wait, \
	.send = bsd_send, .recv = bsd_recv, .end = bsd_end, .close = bsd_close

#endif

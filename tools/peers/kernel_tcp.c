/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel_tcp.c - TCP through the kernel's loopback, both ends on one processor:
 * write then read, in batches, so that nothing ever blocks.
 *
 * BYTES up to 4096: messages of that size, written one by one with Nagle's
 * algorithm off; else bulk in writes of that size.  Usage:
 * kernel-tcp BYTES MILLISECONDS
 */
#define _GNU_SOURCE
#include "peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#define BATCH 32

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* A connected pair over 127.0.0.1. */
static void connect_pair(int fd[2])
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	int l = socket(AF_INET, SOCK_STREAM, 0), one = 1, big = 4 << 20;
	socklen_t n = sizeof a;

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (l < 0 || setsockopt(l, SOL_SOCKET, SO_RCVBUF, &big, sizeof big) != 0 ||
	    bind(l, (struct sockaddr *)&a, sizeof a) != 0 || listen(l, 1) != 0 ||
	    getsockname(l, (struct sockaddr *)&a, &n) != 0)
		die("listen");
	fd[0] = socket(AF_INET, SOCK_STREAM, 0);
	if (fd[0] < 0 || setsockopt(fd[0], SOL_SOCKET, SO_SNDBUF, &big, sizeof big) != 0 ||
	    connect(fd[0], (struct sockaddr *)&a, sizeof a) != 0)
		die("connect");
	fd[1] = accept(l, NULL, NULL);
	if (fd[1] < 0 || setsockopt(fd[0], IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) != 0)
		die("accept");
	close(l);
}

/* Bytes moved. */
static double batch(const int fd[2], size_t len, unsigned count)
{
	static char buf[1 << 17];
	size_t sent = 0;

	for (unsigned i = 0; i < count; i++) {
		ssize_t k = send(fd[0], buf, len, MSG_DONTWAIT);

		if (k <= 0)
			break;
		sent += (size_t)k;
	}
	for (size_t got = 0; got < sent; ) {
		ssize_t k = recv(fd[1], buf, len, 0);

		if (k <= 0)
			die("recv");
		got += (size_t)k;
	}
	return (double)sent;
}

static double run(const int fd[2], size_t len, double ms, double *bytes)
{
	double t0 = peer_now(), t;

	*bytes = 0;
	do {
		*bytes += batch(fd, len, len <= 4096 ? BATCH : 4);
		t = peer_now() - t0;
	} while (t < ms * 1e6);
	return t;
}

int main(int argc, char **argv)
{
	size_t len = argc > 1 ? (size_t)atoi(argv[1]) : 64;
	double ms = argc > 2 ? atof(argv[2]) : 200, bytes, t;
	cpu_set_t one;
	int fd[2];

	if (len == 0 || len > 1 << 17)
		return 2;
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof one, &one);
	connect_pair(fd);
	run(fd, len, ms / 4, &bytes);
	t = run(fd, len, ms, &bytes);
	printf("{\"peer\":\"kernel\",\"workload\":\"tcp-%zu\",\"bytes_per_cpu_s\":%.0f,\"ns\":%.4f}\n", len,
	       bytes * 1e9 / t, t * (double)len / bytes);
	return 0;
}

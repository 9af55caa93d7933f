/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel_udp.c - UDP through the kernel's loopback, both ends on one processor:
 * send then receive, a system call each, in batches of 32.
 *
 * Usage: kernel-udp BYTES MILLISECONDS
 */
#define _GNU_SOURCE
#include "peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>

#define BATCH 32

static int bound_socket(struct sockaddr_in *a)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0), big = 16 << 20;
	socklen_t n = sizeof *a;

	memset(a, 0, sizeof *a);
	a->sin_family = AF_INET;
	a->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || bind(fd, (struct sockaddr *)a, sizeof *a) != 0 ||
	    getsockname(fd, (struct sockaddr *)a, &n) != 0) {
		perror("kernel-udp");
		exit(1);
	}
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &big, sizeof big);
	return fd;
}

static double run(int s, int r, size_t len, double ms)
{
	static char buf[65536];
	double t0 = peer_now(), t;
	unsigned long n = 0;

	do {
		for (unsigned i = 0; i < BATCH; i++)
			if (send(s, buf, len, 0) != (ssize_t)len)
				exit(1);
		for (unsigned i = 0; i < BATCH; i++)
			if (recv(r, buf, sizeof buf, MSG_DONTWAIT) != (ssize_t)len)
				exit(1);
		n += BATCH;
		t = peer_now() - t0;
	} while (t < ms * 1e6);
	return t / (double)n;
}

int main(int argc, char **argv)
{
	size_t len = argc > 1 ? (size_t)atoi(argv[1]) : 64;
	double ms = argc > 2 ? atof(argv[2]) : 200;
	struct sockaddr_in sa, ra;
	int s = bound_socket(&sa), r = bound_socket(&ra);
	char name[32];
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof one, &one);
	if (connect(s, (struct sockaddr *)&ra, sizeof ra) != 0)
		return 1;
	run(s, r, len, ms / 4);
	snprintf(name, sizeof name, "udp-%zu", len);
	peer_report("kernel", name, run(s, r, len, ms));
	return 0;
}

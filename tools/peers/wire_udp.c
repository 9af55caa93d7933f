/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wire_udp.c - UDP by the kernel's sockets: what tools/peers/wire measures a graph
 * on an interface with, and what it compares it with.
 *
 * Usage: wire-udp send ADDRESS PORT BYTES MILLISECONDS   messages as fast as they go
 *        wire-udp ask  ADDRESS PORT BYTES MILLISECONDS   16 sockets, 16 messages unanswered each
 *        wire-udp sink PORT MILLISECONDS                 receives
 *        wire-udp echo PORT MILLISECONDS                 receives and sends back
 * Everything in batches of 32.  sink and echo measure the last two thirds of their
 * time.  Prints one JSON line: messages, wall and processor time.
 */
#define _GNU_SOURCE
#include "peer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/socket.h>

#define BATCH   32
#define SOCKETS 16
#define WINDOW  16
#define MOST    2048

static struct mmsghdr h[BATCH];
static struct iovec v[BATCH];
static struct sockaddr_in from[BATCH];
static char buf[BATCH][MOST];

static double wall(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void report(const char *what, unsigned long n, double ns, double cpu)
{
	printf("{\"what\":\"%s\",\"messages\":%lu,\"ns\":%.0f,\"cpu_ns\":%.0f}\n", what, n, ns, cpu);
	fflush(stdout);
}

static void batch(size_t bytes, bool names)
{
	for (unsigned i = 0; i < BATCH; i++) {
		v[i] = (struct iovec){ buf[i], bytes };
		memset(&h[i], 0, sizeof h[i]);
		h[i].msg_hdr.msg_iov = &v[i];
		h[i].msg_hdr.msg_iovlen = 1;
		if (names) {
			h[i].msg_hdr.msg_name = &from[i];
			h[i].msg_hdr.msg_namelen = sizeof from[i];
		}
	}
}

static int udp_socket(const char *address, const char *port, bool ours)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port)) };
	int fd = socket(AF_INET, SOCK_DGRAM, 0), big = 16 << 20;

	a.sin_addr.s_addr = ours ? htonl(INADDR_ANY) : inet_addr(address);
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &big, sizeof big);
	if (fd < 0 || (ours ? bind(fd, (void *)&a, sizeof a) : connect(fd, (void *)&a, sizeof a)) != 0) {
		perror("wire-udp");
		exit(1);
	}
	return fd;
}

static void send_all(char **arg)
{
	int fd = udp_socket(arg[0], arg[1], false);
	double t0 = wall(), c0 = peer_now(), end = t0 + atof(arg[3]) * 1e6;
	unsigned long n = 0;

	batch((size_t)atoi(arg[2]), false);
	while (wall() < end) {
		int k = sendmmsg(fd, h, BATCH, 0);

		n += k > 0 ? (unsigned long)k : 0;
	}
	report("send", n, wall() - t0, peer_now() - c0);
}

/* Answers of one socket make new questions; a lost one is made good after a while. */
static unsigned turn(int fd, unsigned *unanswered, bool late)
{
	int k = recvmmsg(fd, h, BATCH, MSG_DONTWAIT, NULL);
	unsigned got = k > 0 ? (unsigned)k : 0, more;

	*unanswered = late ? 0 : *unanswered > got ? *unanswered - got : 0;
	more = WINDOW - *unanswered;
	if (more != 0 && (k = sendmmsg(fd, h, more, MSG_DONTWAIT)) > 0)
		*unanswered += (unsigned)k;
	return got;
}

/* Until the first answer: before, addresses are asked for and most of a burst is lost. */
static void knock(struct pollfd *p, size_t bytes)
{
	do
		send(p->fd, buf[0], bytes, 0);
	while (poll(p, 1, 20) == 0 || recv(p->fd, buf[0], MOST, MSG_DONTWAIT) < 0);
	while (poll(p, 1, 50) > 0)
		recv(p->fd, buf[0], MOST, MSG_DONTWAIT);
}

static void ask(char **arg)
{
	struct pollfd p[SOCKETS];
	unsigned unanswered[SOCKETS] = { 0 };
	double t0, c0, end;
	unsigned long n = 0;

	for (unsigned i = 0; i < SOCKETS; i++)
		p[i] = (struct pollfd){ udp_socket(arg[0], arg[1], false), POLLIN, 0 };
	knock(p, (size_t)atoi(arg[2]));
	batch((size_t)atoi(arg[2]), false);
	t0 = wall();
	c0 = peer_now();
	end = t0 + atof(arg[3]) * 1e6;
	for (bool late = false; wall() < end; late = poll(p, SOCKETS, 200) == 0)
		for (unsigned i = 0; i < SOCKETS; i++)
			n += turn(p[i].fd, &unanswered[i], late);
	report("ask", n, wall() - t0, peer_now() - c0);
}

static void serve(const char *what, char **arg)
{
	int fd = udp_socket(NULL, arg[0], true);
	struct pollfd p = { fd, POLLIN, 0 };
	double ms = atof(arg[1]), start = wall() + ms * 1e6 / 3, end = start + ms * 1e6 * 2 / 3, t0 = 0, c0 = 0, t;
	bool echo = strcmp(what, "echo") == 0;
	unsigned long n = 0;

	while ((t = wall()) < end) {
		int k;

		if (t0 == 0 && t >= start) {
			t0 = t;
			c0 = peer_now();
			n = 0;
		}
		batch(MOST, echo);
		k = recvmmsg(fd, h, BATCH, MSG_DONTWAIT, NULL);
		if (k <= 0) {
			poll(&p, 1, 20);
			continue;
		}
		n += (unsigned long)k;
		for (int i = 0; i < k; i++)
			v[i].iov_len = h[i].msg_len;
		if (echo)
			sendmmsg(fd, h, (unsigned)k, MSG_DONTWAIT);
	}
	report(what, n, wall() - t0, peer_now() - c0);
}

int main(int argc, char **argv)
{
	if (argc == 6 && strcmp(argv[1], "send") == 0)
		send_all(argv + 2);
	else if (argc == 6 && strcmp(argv[1], "ask") == 0)
		ask(argv + 2);
	else if (argc == 4 && (strcmp(argv[1], "sink") == 0 || strcmp(argv[1], "echo") == 0))
		serve(argv[1], argv + 2);
	else
		return 2;
	return 0;
}

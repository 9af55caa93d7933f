/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * turns.c - a program's turns with another by TCP, and a call that is answered about a socket: medians of their times.
 *
 * Usage: turns serve PORT                answers each 64 B of every connection with the same, one connection at a time
 *        turns ask ADDRESS PORT MS       asks for so long; prints {"ns": MEDIAN, "turns": N}
 *        turns call ADDRESS PORT MS      the same of getsockname(2) on a connected socket
 *
 * Times are of the clock, from before a call to behind it.  Nothing here links into the product.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MOST 10000000u
enum { SIZE = 64 };

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* 0: the other end has closed. */
static int whole(int fd, char *buf)
{
	for (size_t n = 0; n < SIZE;) {
		ssize_t r = read(fd, buf + n, SIZE - n);

		if (r <= 0)
			return 0;
		n += (size_t)r;
	}
	return 1;
}

static void no_delay(int fd) { setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int)); }

_Noreturn static void serve(const char *port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(port)) };
	int l = socket(AF_INET, SOCK_STREAM, 0);
	char buf[SIZE];

	setsockopt(l, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int));
	if (l < 0 || bind(l, (struct sockaddr *)&a, sizeof a) != 0 || listen(l, 8) != 0)
		die("turns: listen");
	for (;;) {
		int fd = accept(l, NULL, NULL);

		if (fd < 0)
			die("turns: accept");
		no_delay(fd);
		while (whole(fd, buf) && write(fd, buf, SIZE) == SIZE)
			;
		close(fd);
	}
}

static int later(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

static void turn(int fd, unsigned n)
{
	char out[SIZE], in[SIZE];

	memset(out, (int)(n & 0x7f), SIZE);
	if (write(fd, out, SIZE) != SIZE || !whole(fd, in) || memcmp(out, in, SIZE) != 0) {
		fprintf(stderr, "turns: the answer is not what was sent\n");
		exit(1);
	}
}

static void call(int fd, unsigned n)
{
	struct sockaddr_in a;
	socklen_t len = sizeof a;

	(void)n;
	if (getsockname(fd, (struct sockaddr *)&a, &len) != 0 || a.sin_family != AF_INET)
		die("turns: getsockname");
}

static int measure(const char *addr, const char *port, double ms, void (*once)(int, unsigned))
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(port)) };
	float *took = malloc(MOST * sizeof *took);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	double end, before = 0;
	unsigned n = 0;

	if (took == NULL || inet_pton(AF_INET, addr, &a.sin_addr) != 1)
		die("turns");
	if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof a) != 0)
		die("turns: connect");
	no_delay(fd);
	for (unsigned i = 0; i < 100; i++)      /* caches, and ways of a kernel that are made when they are used */
		once(fd, i);
	for (end = now() + ms * 1e6; n < MOST && before < end; n++) {
		before = now();
		once(fd, n);
		took[n] = (float)(now() - before);
	}
	qsort(took, n, sizeof *took, later);
	printf("{\"ns\": %.0f, \"turns\": %u}\n", (double)took[n / 2], n);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "serve") == 0)
		serve(argv[2]);
	if (argc == 5 && strcmp(argv[1], "ask") == 0 && atof(argv[4]) > 0)
		return measure(argv[2], argv[3], atof(argv[4]), turn);
	if (argc == 5 && strcmp(argv[1], "call") == 0 && atof(argv[4]) > 0)
		return measure(argv[2], argv[3], atof(argv[4]), call);
	fprintf(stderr, "usage: turns serve PORT | ask ADDRESS PORT MS | call ADDRESS PORT MS\n");
	return 2;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * talk.c - calls or answers, over the stack that the program was made with.
 *
 * talk-STACK [OPTION]... call HOST PORT SIZE...  one connection for each size, in turn
 * talk-STACK [OPTION]... serve PORT              answers until SIGTERM
 * talk-STACK [OPTION]... fetch HOST PORT PATH    a file of an HTTP server, to standard output
 *
 * Options are those of struct talk_opts.  Nothing here waits for a clock: a
 * conversation fails when neither side gets on for a minute.  Exit code 0 when every
 * byte of every conversation was right and everything was given back.
 */
#include "tests/interop/talk.h"

#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PIECE    65536u
#define PATIENCE 60000              /* ms without a byte in either direction */

static volatile sig_atomic_t stop;

static void on_term(int sig)
{
	(void)sig;
	stop = 1;
}

/* ---- the stream: word i of the stream of n bytes ---------------------------------- */

static uint64_t word(uint64_t n, uint64_t i)
{
	uint64_t z = (n + 1) * 0xd1342543de82ef95u + (i + 1) * 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* Bytes at ... at + len of it. */
static void fill(uint8_t *to, uint64_t n, uint64_t at, size_t len)
{
	for (size_t k = 0; k < len; ) {
		uint64_t w = word(n, (at + k) / 8);

		for (unsigned b = (unsigned)((at + k) % 8); b < 8 && k < len; b++)
			to[k++] = (uint8_t)(w >> 8 * b);
	}
}

/* ---- caller --------------------------------------------------------------------------- */

struct call { int fd; uint64_t n, sent, got; bool ended; };

static int call_send(struct call *c)
{
	static uint8_t buf[PIECE];
	size_t len = c->n - c->sent < PIECE ? (size_t)(c->n - c->sent) : PIECE;
	ssize_t r;

	fill(buf, c->n, c->sent, len);
	r = talk_stack.send(c->fd, buf, len);
	if (r > 0)
		c->sent += (uint64_t)r;
	else if (r != -EAGAIN)
		return (int)r;
	return c->sent == c->n ? talk_stack.end(c->fd) : 0;
}

static int call_recv(struct call *c)
{
	static uint8_t buf[PIECE], want[PIECE];
	ssize_t r = talk_stack.recv(c->fd, buf, sizeof buf);

	if (r == -EAGAIN)
		return 0;
	if (r <= 0) {
		c->ended = true;
		return (int)r;
	}
	if ((uint64_t)r > c->n - c->got)
		return -EOVERFLOW;
	fill(want, c->n, c->got, (size_t)r);
	for (ssize_t i = 0; i < r; i++)
		if (buf[i] != want[i]) {
			fprintf(stderr, "byte %llu is wrong\n", (unsigned long long)c->got + (unsigned long long)i);
			return -EILSEQ;
		}
	c->got += (uint64_t)r;
	return 0;
}

static int converse(struct call *c)
{
	int err = 0;

	while (err == 0 && !c->ended) {
		int want = TALK_IN | (c->sent < c->n ? TALK_OUT : 0), r = talk_stack.wait(c->fd, want, PATIENCE);

		if (r <= 0)
			return r == 0 ? -ETIMEDOUT : r;
		if (r & TALK_OUT && c->sent < c->n)
			err = call_send(c);
		if (err == 0 && r & TALK_IN)
			err = call_recv(c);
	}
	return err == 0 && c->got != c->n ? -ENODATA : err;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int call(const char *host, uint16_t port, uint64_t n)
{
	struct call c = { .n = n };
	double t = seconds();
	struct in_addr a;
	int err;

	if (inet_aton(host, &a) == 0)
		return -EINVAL;
	c.fd = talk_stack.connect(ntohl(a.s_addr), port);
	if (c.fd < 0)
		return c.fd;
	err = converse(&c);
	t = seconds() - t;
	talk_stack.close(c.fd);
	printf("%s: %llu bytes there, %llu back, %.3f s: %s\n", talk_stack.name, (unsigned long long)c.sent,
	       (unsigned long long)c.got, t, err == 0 ? "exact" : strerror(-err));
	fflush(stdout);
	return err;
}

/* ---- answerer ---------------------------------------------------------------------------- */

struct answer { uint8_t buf[PIECE]; size_t at, have; bool ended; };

static int answer_once(struct answer *a, int fd)
{
	int r = talk_stack.wait(fd, a->have != 0 ? TALK_OUT : TALK_IN, PATIENCE);
	ssize_t n;

	if (r <= 0)
		return r == 0 ? -ETIMEDOUT : r;
	if (a->have == 0) {
		n = talk_stack.recv(fd, a->buf, sizeof a->buf);
		a->ended = n == 0;
		a->at = 0;
		a->have = n > 0 ? (size_t)n : 0;
	} else {
		n = talk_stack.send(fd, a->buf + a->at, a->have);
		a->at += n > 0 ? (size_t)n : 0;
		a->have -= n > 0 ? (size_t)n : 0;
	}
	return n < 0 && n != -EAGAIN ? (int)n : 0;
}

static int answer(int fd)
{
	static struct answer a;
	int err = 0;

	a.ended = false;
	a.have = 0;
	while (err == 0 && !a.ended)
		err = answer_once(&a, fd);
	if (err == 0)
		err = talk_stack.end(fd);
	talk_stack.close(fd);
	if (err != 0)
		fprintf(stderr, "%s: answering: %s\n", talk_stack.name, strerror(-err));
	return err;
}

static int serve(uint16_t port)
{
	int l = talk_stack.listen(port), err = 0;

	if (l < 0)
		return l;
	printf("ready\n");
	fflush(stdout);
	while (!stop) {
		int fd, r = talk_stack.wait(l, TALK_IN, 50);

		if (r <= 0)
			continue;
		fd = talk_stack.accept(l);
		r = fd < 0 ? fd : answer(fd);
		if (r != -EAGAIN && err == 0)
			err = r;
	}
	talk_stack.close(l);
	return err;
}

/* ---- a file of an HTTP server --------------------------------------------------------------- */

/* All that still comes. */
static int fetch_rest(int fd, FILE *to)
{
	static char buf[PIECE];
	ssize_t n;

	for (;;) {
		int r = talk_stack.wait(fd, TALK_IN, PATIENCE);

		if (r <= 0)
			return r == 0 ? -ETIMEDOUT : r;
		n = talk_stack.recv(fd, buf, sizeof buf);
		if (n == -EAGAIN)
			continue;
		if (n <= 0)
			return (int)n;
		if (fwrite(buf, 1, (size_t)n, to) != (size_t)n)
			return -EIO;
	}
}

/* The head, its blank line included; negative unless the server says 200. */
static int fetch_head(int fd)
{
	char head[8192] = "";

	for (size_t n = 0; n < sizeof head - 1 && strstr(head, "\r\n\r\n") == NULL; ) {
		int r = talk_stack.wait(fd, TALK_IN, PATIENCE);
		ssize_t got = r <= 0 ? -ETIMEDOUT : talk_stack.recv(fd, head + n, 1);

		if (got <= 0 && got != -EAGAIN)
			return got == 0 ? -ENODATA : (int)got;
		n += got > 0;
	}
	return strncmp(head, "HTTP/1.", 7) == 0 && strncmp(head + 8, " 200 ", 5) == 0 ? 0 : -EPROTO;
}

static int fetch(const char *host, uint16_t port, const char *path)
{
	char ask[1024];
	int n = snprintf(ask, sizeof ask, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", path, host), fd, err;
	struct in_addr a;

	if (n >= (int)sizeof ask || inet_aton(host, &a) == 0)
		return -EINVAL;
	fd = talk_stack.connect(ntohl(a.s_addr), port);
	if (fd < 0)
		return fd;
	err = talk_stack.send(fd, ask, (size_t)n) == n ? fetch_head(fd) : -EIO;
	if (err == 0)
		err = fetch_rest(fd, stdout);
	talk_stack.close(fd);
	return fflush(stdout) == 0 ? err : -EIO;
}

/* ---- the command line --------------------------------------------------------------------- */

static int usage(void)
{
	fprintf(stderr, "usage: talk-%s [-i IFNAME] [-a ADDR/LEN] [-k KERNEL/LEN] [-l LOSS] [-t THREADING] [-p TCP] [-d DEVICE] "
		"call HOST PORT SIZE... | serve PORT | fetch HOST PORT PATH\n", talk_stack.name);
	return 2;
}

static int options(int argc, char **argv, struct talk_opts *o)
{
	int c;

	while ((c = getopt(argc, argv, "+i:a:k:l:t:p:d:")) != -1)
		switch (c) {
		case 'i': o->ifname = optarg; break;
		case 'a': o->addr = optarg; break;
		case 'k': o->kernel = optarg; break;
		case 'l': o->loss = optarg; break;
		case 't': o->threading = optarg; break;
		case 'p': o->tcp = optarg; break;
		case 'd': o->device = optarg; break;
		default: return -1;
		}
	return optind;
}

/* Is what is asked for well put? */
static bool asked(char **w, int n)
{
	return (n == 2 && strcmp(w[0], "serve") == 0) || (n >= 4 && strcmp(w[0], "call") == 0) ||
	       (n == 4 && strcmp(w[0], "fetch") == 0);
}

static int run(char **w, int n)
{
	int err = 0;

	if (strcmp(w[0], "fetch") == 0)
		return fetch(w[1], (uint16_t)atoi(w[2]), w[3]);
	if (strcmp(w[0], "serve") == 0)
		return serve((uint16_t)atoi(w[1]));
	for (int i = 3; i < n && err == 0; i++)
		err = call(w[1], (uint16_t)atoi(w[2]), strtoull(w[i], NULL, 10));
	return err;
}

int main(int argc, char **argv)
{
	struct talk_opts o = { "xk0", "10.9.0.2/24", NULL, NULL, "vppc {}", "", NULL };
	struct sigaction sa = { .sa_handler = on_term };
	int at = options(argc, argv, &o), err;

	if (at < 0 || !asked(argv + at, argc - at))
		return usage();
	sigaction(SIGTERM, &sa, NULL);
	sa.sa_handler = SIG_IGN;
	sigaction(SIGPIPE, &sa, NULL);
	err = talk_stack.up(&o);
	if (err == 0)
		err = run(argv + at, argc - at);
	if (err != 0)
		fprintf(stderr, "talk-%s: %s\n", talk_stack.name, strerror(-err));
	if (talk_stack.down() < 0) {
		fprintf(stderr, "talk-%s: not everything was given back\n", talk_stack.name);
		return 5;
	}
	return err != 0;
}

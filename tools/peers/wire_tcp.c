/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wire_tcp.c - TCP by the kernel's sockets: what tools/peers/wire measures a graph
 * on an interface with, and what it compares it with.
 *
 * Usage: wire-tcp send ADDRESS PORT MS CPUS   one connection, writes of 64 KiB; measures
 *        wire-tcp take PORT MS CPUS           the same, reads; measures
 *        wire-tcp source ADDRESS PORT         writes until the peer ends it
 *        wire-tcp sink PORT                   reads until the peer ends it
 *        wire-tcp knock ADDRESS PORT          returns once a connection stands
 *        wire-tcp busy CPUS COMMAND...        runs it; measures
 * MS milliseconds are measured, after a third of that to get warm.  What measures
 * prints one JSON line: bytes, wall time (ns), and how long the processors CPUS (X or
 * X,Y) were not idle meanwhile, whoever had them (busy_ns); and the processor time of
 * this process with what it started (own_ns) and of the processes that $WIRE_CLOCKS
 * names (clocks_ns), which says something on a machine with other work, too.
 */
#define _GNU_SOURCE
#include "peer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIZE    65536
#define KNOCKS  400          /* of 50 ms each */

static char buf[SIZE];
static int cpu[2];
static unsigned cpus;

static double wall(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Time that they were idle, or were not ours to have: ns.  The kernel counts idle time exactly, all else by ticks. */
static double idle_now(void)
{
	FILE *f = fopen("/proc/stat", "r");
	double sum = 0;
	char line[512];

	while (f != NULL && fgets(line, sizeof line, f) != NULL) {
		unsigned long long t[8];
		int c;

		if (sscanf(line, "cpu%d %llu %llu %llu %llu %llu %llu %llu %llu", &c, &t[0], &t[1], &t[2], &t[3], &t[4], &t[5],
			   &t[6], &t[7]) == 9 && (c == cpu[0] || c == cpu[1]))
			sum += (double)(t[3] + t[4] + t[7]);
	}
	if (f != NULL)
		fclose(f);
	return sum * 1e9 / (double)sysconf(_SC_CLK_TCK);
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static struct sockaddr_in at(const char *address, const char *port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port)) };

	a.sin_addr.s_addr = address ? inet_addr(address) : htonl(INADDR_ANY);
	return a;
}

/* A server that does not answer yet is asked again. */
static int connected(char **arg)
{
	struct sockaddr_in a = at(arg[0], arg[1]);

	for (unsigned i = 0; i < KNOCKS; i++) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);

		if (fd < 0)
			break;
		if (connect(fd, (struct sockaddr *)&a, sizeof a) == 0)
			return fd;
		close(fd);
		usleep(50000);
	}
	die("connect");
	return -1;
}

static int accepted(const char *port)
{
	struct sockaddr_in a = at(NULL, port);
	int l = socket(AF_INET, SOCK_STREAM, 0), one = 1, fd;

	if (l < 0 || setsockopt(l, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) != 0 ||
	    bind(l, (struct sockaddr *)&a, sizeof a) != 0 || listen(l, 1) != 0)
		die("listen");
	fd = accept(l, NULL, NULL);
	if (fd < 0)
		die("accept");
	close(l);
	return fd;
}

/* For so long, or without a limit until the peer ends it; bytes moved, 0 when it has ended. */
static double move(int fd, int out, double ns)
{
	double end = ns > 0 ? wall() + ns : 0, bytes = 0;

	do {
		ssize_t k = out ? send(fd, buf, SIZE, MSG_NOSIGNAL) : recv(fd, buf, SIZE, 0);

		if (k <= 0)
			return 0;
		bytes += (double)k;
	} while (ns <= 0 || wall() < end);
	return bytes;
}

static double own_now(void)
{
	struct rusage r;

	getrusage(RUSAGE_CHILDREN, &r);
	return peer_now() + (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1e9 +
	       (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) * 1e3;
}

static double clocks_now(void)
{
	const char *list = getenv("WIRE_CLOCKS");
	double sum = 0;
	int n;

	for (int pid; list != NULL && sscanf(list, "%d%n", &pid, &n) == 1; list += n) {
		struct timespec t;
		clockid_t clock;

		if (clock_getcpuclockid(pid, &clock) == 0 && clock_gettime(clock, &t) == 0)
			sum += (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
	}
	return sum;
}

struct span { double wall, idle, own, clocks; };

static struct span begin(const char *list)
{
	cpus = (unsigned)sscanf(list, "%d,%d", &cpu[0], &cpu[1]);
	if (cpus == 1)
		cpu[1] = cpu[0];
	return (struct span){ wall(), idle_now(), own_now(), clocks_now() };
}

static void report(struct span s, double bytes)
{
	double t = wall() - s.wall, busy = cpus * t - (idle_now() - s.idle);

	printf("{\"bytes\":%.0f,\"ns\":%.0f,\"busy_ns\":%.0f,\"own_ns\":%.0f,\"clocks_ns\":%.0f}\n", bytes, t,
	       busy > 0 ? busy : 0, own_now() - s.own, clocks_now() - s.clocks);
}

static void measure(int fd, int out, char **arg)
{
	double ns = atof(arg[0]) * 1e6, bytes;
	struct span s;

	move(fd, out, ns / 3);
	s = begin(arg[1]);
	bytes = move(fd, out, ns);
	if (bytes == 0)
		die("the connection ended");
	report(s, bytes);
}

static int busy(char **arg)
{
	struct span s = begin(arg[0]);
	int status = 1;
	pid_t pid = fork();

	if (pid == 0) {
		execvp(arg[1], arg + 1);
		die(arg[1]);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		die("busy");
	report(s, 0);
	return status != 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	signal(SIGPIPE, SIG_IGN);
	if (strcmp(what, "send") == 0 && argc == 6)
		measure(connected(argv + 2), 1, argv + 4);
	else if (strcmp(what, "take") == 0 && argc == 5)
		measure(accepted(argv[2]), 0, argv + 3);
	else if (strcmp(what, "source") == 0 && argc == 4)
		move(connected(argv + 2), 1, 0);
	else if (strcmp(what, "sink") == 0 && argc == 3)
		move(accepted(argv[2]), 0, 0);
	else if (strcmp(what, "knock") == 0 && argc == 4)
		close(connected(argv + 2));
	else if (strcmp(what, "busy") == 0 && argc > 3)
		return busy(argv + 2);
	else
		return 2;
	return 0;
}

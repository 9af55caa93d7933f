/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel_mem.c - what an established idle TCP connection takes of the kernel:
 * the objects that loopback connections add, both ends here, by end.
 *
 * Of four slab caches the objects in use times their size (/proc/slabinfo): TCP's control
 * block, the socket with its inode, its file and that one's name.  Free places of slabs that
 * grew earlier would take new objects and show no growth of the slabs themselves.  What else
 * grows (what finds a port, page tables, security modules) is not counted.
 * Where slabinfo may not be read (it is root's) the growth of the slabs must do, and
 * the least of three rounds, since free places make it less; of objects, which others
 * may add meanwhile, the middle one.  Usage:
 * kernel-mem CONNECTIONS [ignored]
 */
#define _GNU_SOURCE
#include "peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define ROUNDS 3

static void die(const char *what)
{
	perror(what);
	exit(1);
}

#define CACHES 4u
static const char *const caches[CACHES] = { "TCP", "sock_inode_cache", "filp", "dentry" };
struct objects { double active, size; };

/* Of each of these caches; 0: it may not be read. */
static int objects_now(struct objects o[CACHES])
{
	FILE *f = fopen("/proc/slabinfo", "r");
	unsigned long long active, all, size;
	char line[512], name[64];
	unsigned found = 0;

	while (f != NULL && fgets(line, sizeof line, f) != NULL)
		for (unsigned i = 0; i < CACHES; i++)
			if (sscanf(line, "%63s %llu %llu %llu", name, &active, &all, &size) == 4 && strcmp(name, caches[i]) == 0) {
				o[i] = (struct objects){ (double)active, (double)size };
				found++;
			}
	if (f != NULL)
		fclose(f);
	return found == CACHES;
}

/* Of one end.  It has a whole number of each: what others took or gave back meanwhile is not its own. */
static double object_bytes(const struct objects before[CACHES], const struct objects after[CACHES], double ends)
{
	double sum = 0;

	for (unsigned i = 0; i < CACHES; i++)
		sum += (double)(long)((after[i].active - before[i].active) / ends + 0.5) * after[i].size;
	return sum;
}

static double slab_bytes(void)
{
	FILE *f = fopen("/proc/meminfo", "r");
	unsigned long long kb = 0;
	char line[256];

	while (f != NULL && fgets(line, sizeof line, f) != NULL)
		if (sscanf(line, "Slab: %llu", &kb) == 1)
			break;
	if (f == NULL || kb == 0)
		die("/proc/meminfo");
	fclose(f);
	return (double)kb * 1024;
}

static int listener(struct sockaddr_in *a)
{
	socklen_t n = sizeof *a;
	int l = socket(AF_INET, SOCK_STREAM, 0);

	*a = (struct sockaddr_in){ .sin_family = AF_INET };
	a->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (l < 0 || bind(l, (struct sockaddr *)a, n) != 0 || listen(l, 64) != 0 ||
	    getsockname(l, (struct sockaddr *)a, &n) != 0)
		die("listen");
	return l;
}

/* Bytes of one end, n connections. */
static double round_of(int *fd, unsigned n)
{
	struct sockaddr_in a;
	int l = listener(&a);
	struct objects was[CACHES], is[CACHES];
	int readable = objects_now(was);
	double before = slab_bytes(), after;

	for (unsigned i = 0; i < n; i++) {
		fd[2 * i] = socket(AF_INET, SOCK_STREAM, 0);
		if (fd[2 * i] < 0 || connect(fd[2 * i], (struct sockaddr *)&a, sizeof a) != 0)
			die("connect");
		fd[2 * i + 1] = accept(l, NULL, NULL);
		if (fd[2 * i + 1] < 0)
			die("accept");
	}
	after = slab_bytes();
	readable = readable && objects_now(is);
	for (unsigned i = 0; i < 2 * n; i++)
		close(fd[i]);
	close(l);
	return readable ? object_bytes(was, is, 2.0 * n) : (after - before) / (2.0 * n);
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 5000, most;
	struct rlimit r;
	double v[ROUNDS];
	int *fd;

	if (getrlimit(RLIMIT_NOFILE, &r) != 0)
		die("getrlimit");
	r.rlim_cur = r.rlim_max;
	setrlimit(RLIMIT_NOFILE, &r);
	most = (unsigned)((r.rlim_cur - 16) / 2);
	n = n < most ? n : most;
	fd = calloc(2 * (size_t)n, sizeof *fd);
	if (fd == NULL || n == 0)
		die("memory");
	/* The first one also pays for what stays afterwards: it is what a fresh kernel needs. */
	for (unsigned i = 0; i < ROUNDS; i++)
		v[i] = round_of(fd, n);
	qsort(v, ROUNDS, sizeof *v, ascending);
	printf("{\"peer\":\"kernel\",\"workload\":\"tcp-idle\",\"bytes\":%.1f}\n",
	       access("/proc/slabinfo", R_OK) == 0 || v[0] <= 0 ? v[ROUNDS / 2] : v[0]);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_place.c - which processors pinned workers get.
 *
 * Two programs whose workers are pinned would meet on the first processor, each with half
 * of it, while others are idle.  So whoever pins looks first at who else has pinned workers:
 * threads of other processes that are named as workers are and may run on one processor
 * only.  Where enough processors are left, the workers get those; otherwise they are dealt
 * over all, and the set says whom they share with.  Looking and pinning is done under a
 * lock of the whole system (of "/", which everybody can open), so that two programs that
 * start together see each other.  What cannot be read is nobody: this is a courtesy.
 * Invariant: a worker's processor is one of arch.cpus.
 */
#include "runtime/vp/vp_priv.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "runtime/sync/xk_sync.h"

#define LOCK_TRIES 200u
#define LOCK_NAP   XK_MS

/* The i-th processor of a mask, round and round. */
static int nth_cpu(uint64_t mask, unsigned i)
{
	for (i %= (unsigned)__builtin_popcountll(mask); i != 0; i--)
		mask &= mask - 1;
	return __builtin_ctzll(mask);
}

/* Neighbours in a stack of layers share a processor where they must share one, so that few
 * messages cross; other workers are dealt round. */
static unsigned place_of(const struct xk_vpset *set, unsigned worker)
{
	unsigned cpus = (unsigned)__builtin_popcountll(set->arch.cpus);

	return set->arch.domain == XK_DOMAIN_LAYER && set->oversubscribed ? worker * cpus / set->nworkers : worker;
}

/* ---- who else is there ------------------------------------------------------------------ */

static bool is_number(const char *s)
{
	return *s != '\0' && s[strspn(s, "0123456789")] == '\0';
}

/* As xk_vpset_start names them. */
static bool is_worker(FILE *f)
{
	char line[64];

	if (fgets(line, sizeof line, f) == NULL || strncmp(line, "Name:\tvp-", 9) != 0)
		return false;
	line[strcspn(line, "\n")] = '\0';
	return is_number(line + 9);
}

/* The processor that a worker is pinned to, or -1: it is none, or may run on several. */
static int pinned_to(const char *status)
{
	FILE *f = fopen(status, "r");
	char line[256], *end;
	int cpu = -1;

	if (f == NULL)
		return -1;
	if (is_worker(f))
		while (fgets(line, sizeof line, f) != NULL) {
			if (strncmp(line, "Cpus_allowed_list:\t", 19) != 0)
				continue;
			cpu = (int)strtol(line + 19, &end, 10);
			if (end == line + 19 || (*end != '\n' && *end != '\0'))
				cpu = -1;
			break;
		}
	fclose(f);
	return cpu;
}

static uint64_t taken_by(const char *pid)
{
	struct dirent *e;
	uint64_t taken = 0;
	char path[600];
	DIR *d;

	snprintf(path, sizeof path, "/proc/%s/task", pid);
	d = opendir(path);
	if (d == NULL)
		return 0;
	while ((e = readdir(d)) != NULL) {
		int cpu;

		if (!is_number(e->d_name))
			continue;
		snprintf(path, sizeof path, "/proc/%s/task/%s/status", pid, e->d_name);
		cpu = pinned_to(path);
		if (cpu >= 0 && cpu < 64)
			taken |= 1ull << cpu;
	}
	closedir(d);
	return taken;
}

/* Processors of `of` that other processes have pinned workers on; *by: one such process. */
static uint64_t taken_by_others(uint64_t of, int32_t *by)
{
	DIR *d = opendir("/proc");
	uint64_t all = 0;
	struct dirent *e;

	*by = 0;
	while (d != NULL && (e = readdir(d)) != NULL) {
		uint64_t taken;

		if (!is_number(e->d_name) || atoi(e->d_name) == getpid())
			continue;
		taken = taken_by(e->d_name) & of;
		if (taken != 0)
			*by = (int32_t)atoi(e->d_name);
		all |= taken;
	}
	if (d != NULL)
		closedir(d);
	return all;
}

/* ---- placing ------------------------------------------------------------------------------ */

int xk_place_begin(struct xk_vpset *set)
{
	int fd;

	if (!set->arch.wired)
		return -1;
	fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (unsigned i = 0; fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0 && i < LOCK_TRIES; i++)
		xk_thread_nap(LOCK_NAP);
	xk_place_workers(set, taken_by_others(set->arch.cpus, &set->shared_with));
	return fd;
}

void xk_place_end(int fd)
{
	if (fd >= 0)
		close(fd);               /* and unlocks */
}

void xk_place_workers(struct xk_vpset *set, uint64_t taken)
{
	uint64_t all = set->arch.cpus, mine = 0;
	unsigned cpus = (unsigned)__builtin_popcountll(all), wanted = set->nworkers < cpus ? set->nworkers : cpus;
	bool enough = (unsigned)__builtin_popcountll(all & ~taken) >= wanted;

	for (unsigned i = 0; i < set->nworkers; i++) {
		set->worker[i]->cpu = nth_cpu(enough ? all & ~taken : all, place_of(set, i));
		mine |= 1ull << set->worker[i]->cpu;
	}
	set->shared_cpus = mine & taken;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run_machine.c - what the system says of a run: waiting for a processor, cache misses.
 *
 * All threads of the process are asked, the runner's own with them, whose part is a few
 * microseconds: it sleeps.  Threads that begin after the first reading count from 0.
 * Misses come from a hardware counter for each thread, which those it starts inherit;
 * where there is none (a virtual machine, perf_event_paranoid) the reason is kept.
 * Nothing is read while the run is measured.
 * Invariant: a number that is not known is never 0, it has `known` unset.
 */
#include "runtime/run/run_priv.h"

#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Calls fn for each thread of the process; false: they cannot be listed. */
static bool each_thread(void (*fn)(void *arg, int tid), void *arg)
{
	DIR *d = opendir("/proc/self/task");
	struct dirent *e;

	if (d == NULL)
		return false;
	while ((e = readdir(d)) != NULL)
		if (e->d_name[0] != '.')
			fn(arg, atoi(e->d_name));
	closedir(d);
	return true;
}

/* ---- the scheduler ------------------------------------------------------------------- */

static void add_schedstat(void *arg, int tid)
{
	struct xk_run_sched *s = arg;
	unsigned long long run, delay, slices;
	char path[64];
	FILE *f;

	snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", tid);
	f = fopen(path, "r");
	if (f == NULL)
		return;
	if (fscanf(f, "%llu %llu %llu", &run, &delay, &slices) == 3) {
		s->known = true;
		s->run_ns += run;
		s->delay_ns += delay;
		s->slices += slices;
	}
	fclose(f);
}

void run_sched_read(struct xk_run_sched *s)
{
	*s = (struct xk_run_sched){ .known = false };
	(void)each_thread(add_schedstat, s);
}

/* ---- cache misses ----------------------------------------------------------------------- */

static void open_counter(void *arg, int tid)
{
	struct run_misses *m = arg;
	struct perf_event_attr a = { .type = PERF_TYPE_HARDWARE, .size = sizeof a, .config = PERF_COUNT_HW_CACHE_MISSES,
				     .inherit = 1, .exclude_kernel = 1, .exclude_hv = 1 };
	int fd;

	if (m->err != 0)
		return;
	if (m->n == RUN_COUNTERS) {      /* a part would look like all */
		m->err = EMFILE;
		return;
	}
	fd = (int)syscall(SYS_perf_event_open, &a, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		m->err = errno;
	else
		m->fd[m->n++] = fd;
}

void run_misses_open(struct run_misses *m)
{
	m->n = 0;
	m->err = 0;
	if (!each_thread(open_counter, m))
		m->err = errno;
}

static const char *misses_why(int err)
{
	if (err == ENOENT || err == ENODEV || err == EOPNOTSUPP)
		return "this machine has no hardware counter for them";
	if (err == EACCES || err == EPERM)
		return "hardware counters are not allowed here (perf_event_paranoid)";
	if (err == EMFILE)
		return "there are more threads than hardware counters can be had for";
	return err == ENOSYS ? "this kernel has no perf_event_open" : "the hardware counters could not be read";
}

void run_misses_close(struct run_misses *m, struct xk_run_misses *out)
{
	*out = (struct xk_run_misses){ .known = m->err == 0 && m->n != 0 };
	for (unsigned i = 0; i < m->n; i++) {
		uint64_t v;

		if (read(m->fd[i], &v, sizeof v) == (ssize_t)sizeof v)
			out->n += v;
		else
			out->known = false;
		close(m->fd[i]);
	}
	m->n = 0;
	if (!out->known)
		out->why = misses_why(m->err);
}

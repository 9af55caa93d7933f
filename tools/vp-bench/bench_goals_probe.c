/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_goals_probe.c - how long a cache line takes from one processor to
 * another and back.
 *
 * On a virtual machine the two processors move on the host within seconds, and
 * what they share costs several times as much when they are far apart.  So a
 * pair of runs on two processors is kept only when the probe says the same
 * before and after it.  And what other programs took of the two meanwhile.
 */
#include "tools/vp-bench/bench.h"
#include "tools/vp-bench/bench_goals.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/sync/xk_sync.h"

#define SAMPLES 200u
#define TRIPS   20u          /* round trips of a sample */
#define LIMIT   (300 * 1e6)  /* ns for the whole probe */

struct probe {
	uint32_t ping XK_ALIGNED, pong XK_ALIGNED, stop XK_ALIGNED;
	double   ns[SAMPLES];
	unsigned n;
};

static double wall_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void answer(void *arg)
{
	struct probe *p = arg;
	uint32_t last = 0, now;

	while (!xk_load_relaxed(&p->stop)) {
		now = xk_load_acquire(&p->ping);
		if (now != last)
			xk_store_release(&p->pong, now);
		last = now;
		xk_cpu_relax();
	}
}

/* False when the other one does not answer in time. */
static bool trip(struct probe *p, uint32_t no, double until)
{
	uint32_t spins = 0;

	xk_store_release(&p->ping, no);
	while (xk_load_acquire(&p->pong) != no) {
		if ((++spins & 0xffff) == 0 && wall_now() > until)
			return false;
		xk_cpu_relax();
	}
	return true;
}

static void ask(void *arg)
{
	struct probe *p = arg;
	double until = wall_now() + LIMIT, t;
	uint32_t no = 0;
	bool good = true;

	while (good && p->n < SAMPLES && (t = wall_now()) < until) {
		for (unsigned i = 0; good && i < TRIPS; i++)
			good = trip(p, ++no, until);
		if (good)
			p->ns[p->n++] = (wall_now() - t) / TRIPS;
	}
	xk_store_relaxed(&p->stop, 1);
}

double goal_probe(int a, int b)
{
	struct xk_thread *one, *other;
	struct probe p;

	memset(&p, 0, sizeof p);
	if (xk_thread_new(&other, "probe-b", b, answer, &p) != XK_OK)
		return 0;
	if (xk_thread_new(&one, "probe-a", a, ask, &p) == XK_OK)
		xk_thread_join(one);
	xk_store_relaxed(&p.stop, 1);
	xk_thread_join(other);
	return p.n != 0 ? bench_stat("median", p.ns, p.n) : 0;
}

/* ---- who else runs --------------------------------------------------------------------- */

double goal_busy_of(FILE *stat, int x, int y)
{
	double sum = 0;
	char line[512];

	while (stat != NULL && fgets(line, sizeof line, stat) != NULL) {
		unsigned long long t[8];
		int cpu;

		/* user, nice, system, idle, waiting for a disk, interrupts (2), stolen by the host */
		if (sscanf(line, "cpu%d %llu %llu %llu %llu %llu %llu %llu %llu", &cpu, &t[0], &t[1], &t[2], &t[3], &t[4], &t[5],
			   &t[6], &t[7]) == 9 && (cpu == x || cpu == y))
			sum += (double)(t[0] + t[1] + t[2] + t[5] + t[6] + t[7]);
	}
	return sum / (double)sysconf(_SC_CLK_TCK);
}

static double busy_now(int x, int y)
{
	FILE *f = fopen("/proc/stat", "re");
	double s = goal_busy_of(f, x, y);

	if (f != NULL)
		fclose(f);
	return s;
}

static double own_now(void)
{
	static const int who[] = { RUSAGE_SELF, RUSAGE_CHILDREN };
	struct rusage r;
	double s = 0;

	for (unsigned i = 0; i < XK_ARRAY_LEN(who); i++)
		if (getrusage(who[i], &r) == 0)
			s += (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) + (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e6;
	return s;
}

void goal_busy_begin(struct goal_busy *b, int x, int y)
{
	*b = (struct goal_busy){ { x, y }, busy_now(x, y), own_now(), (double)xk_clock_host() / 1e9 };
}

double goal_busy_others(const struct goal_busy *b)
{
	double wall = (double)xk_clock_host() / 1e9 - b->wall;
	double others = busy_now(b->cpu[0], b->cpu[1]) - b->busy - (own_now() - b->own);

	return wall > 0 && others > 0 ? others / (2 * wall) : 0;
}

void goal_beside_begin(struct goal_beside *b, unsigned n)
{
	for (b->n = 0; b->n < n && b->n < GOAL_BESIDE; b->n++) {
		int pid = fork();

		if (pid < 0)
			return;
		if (pid == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				xk_cpu_relax();
		}
		b->pid[b->n] = pid;
	}
}

void goal_beside_end(struct goal_beside *b)
{
	while (b->n > 0) {
		kill(b->pid[--b->n], SIGKILL);
		waitpid(b->pid[b->n], NULL, 0);
	}
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_many.c - many cases by several processes.
 *
 * A run spends most of its real time waiting for grace periods when its graph is
 * freed, so more processes than processors pay.  Each takes the next number from a
 * shared page and leaves failures there; a process that a case kills is
 * replaced, and the case is a failure.
 * Invariant: every number is run exactly once.
 */
#include "tests/sim/sim.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/sync/xk_sync.h"

#define WORKERS 12u
#define LONGEST 600u             /* seconds of a worker's life between two cases */
#define FAILURES 256u

struct page {
	uint64_t next, frames, nfailed;
	uint64_t now[WORKERS];           /* number + 1 that a worker is at, 0: none */
	struct sim_result *all;          /* shared, too, or NULL */
	struct { uint64_t i; struct sim_result r; } failed[FAILURES];
};

static void *shared(size_t n)
{
	void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	xk_assert(p != MAP_FAILED);
	return p;
}

static void note(struct page *p, uint64_t i, const struct sim_result *r)
{
	uint64_t k;

	if (p->all != NULL)
		p->all[i] = *r;
	if (r->ok)
		return;
	k = xk_atomic_add(&p->nfailed, (uint64_t)1);
	if (k < FAILURES) {
		p->failed[k].i = i;
		p->failed[k].r = *r;
	}
}

static void run_one(struct page *p, const struct sim_batch *b, uint64_t i)
{
	struct sim_result r, again;
	struct sim_case c;

	b->make(&c, i, b->arg);
	sim_run(&c, &r);
	if (b->twice && r.ok) {
		sim_run(&c, &again);
		if (again.hash != r.hash || again.frames != r.frames || again.took != r.took) {
			r.ok = false;
			snprintf(r.why, sizeof r.why, "the second run differs");
		}
	}
	xk_atomic_add(&p->frames, r.frames);
	note(p, i, &r);
}

static pid_t start(struct page *p, const struct sim_batch *b, unsigned w, uint64_t n)
{
	pid_t pid = fork();

	xk_assert(pid >= 0);
	if (pid != 0)
		return pid;
	for (;;) {
		uint64_t i = xk_atomic_add(&p->next, (uint64_t)1);

		if (i >= n)
			_exit(0);
		xk_store_release(&p->now[w], i + 1);
		alarm(LONGEST);
		run_one(p, b, i);
		xk_store_release(&p->now[w], 0);
	}
}

static void died(struct page *p, unsigned w, int status)
{
	struct sim_result r = { .ok = false };

	snprintf(r.why, sizeof r.why, WIFSIGNALED(status) ? "ended by signal %d" : "ended with code %d",
		 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	note(p, p->now[w] - 1, &r);
	p->now[w] = 0;
}

uint64_t sim_many(struct sim_batch *b, uint64_t n)
{
	struct page *p = shared(sizeof *p);
	pid_t pid[WORKERS];
	uint64_t bad, told = 0;
	unsigned left = WORKERS;
	int status;

	if (b->all != NULL)
		p->all = shared(n * sizeof *p->all);
	fflush(NULL);
	for (unsigned w = 0; w < WORKERS; w++)
		pid[w] = start(p, b, w, n);
	while (left != 0) {
		pid_t who = wait(&status);
		unsigned w = 0;

		while (w < WORKERS && pid[w] != who)
			w++;
		if (w == WORKERS)
			continue;
		if (p->now[w] != 0) {
			died(p, w, status);
			pid[w] = start(p, b, w, n);
		} else {
			left--;
		}
	}
	for (bad = p->nfailed; told < bad && told < FAILURES && b->failed != NULL; told++) {
		struct sim_case c;

		b->make(&c, p->failed[told].i, b->arg);
		b->failed(&c, &p->failed[told].r, b->arg);
	}
	if (b->all != NULL) {
		memcpy(b->all, p->all, n * sizeof *p->all);
		munmap(p->all, n * sizeof *p->all);
	}
	b->frames += p->frames;
	munmap(p, sizeof *p);
	return bad;
}

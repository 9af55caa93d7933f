/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_affinity_pair.c - two processors in lock step: the caller's thread says what the other one's
 * is to do, and waits until it has been done.
 *
 * Both wait without sleeping, since a wake-up would put more out of the caches than what is measured; who waits long
 * gives way to other programs.
 */
#include "tools/vp-bench/bench_affinity.h"

#include <sched.h>
#include <stdlib.h>

#include "runtime/sync/xk_sync.h"

#define SPINS 4096u

struct aff_pair {
	struct xk_thread *thread;
	uint32_t asked XK_ALIGNED;       /* jobs so far; the last one's fn and arg */
	void   (*fn)(void *arg);         /* NULL: end */
	void    *arg;
	uint32_t done XK_ALIGNED;
	cpu_set_t before XK_ALIGNED;     /* where the caller's thread might run */
};

/* Until *n is no longer `old`. */
static uint32_t await(const uint32_t *n, uint32_t old)
{
	unsigned spins = 0;
	uint32_t now;

	while ((now = xk_load_acquire(n)) == old) {
		if (++spins % SPINS == 0)
			xk_thread_yield();
		xk_cpu_relax();
	}
	return now;
}

static void other(void *arg)
{
	struct aff_pair *p = arg;
	uint32_t at = 0;

	for (;;) {
		at = await(&p->asked, at);
		if (p->fn == NULL)
			return;
		p->fn(p->arg);
		xk_store_release(&p->done, at);
	}
}

void aff_pair_do(struct aff_pair *p, void (*fn)(void *arg), void *arg)
{
	uint32_t before;

	if (p == NULL)
		return;
	before = p->asked;
	p->fn = fn;
	p->arg = arg;
	xk_store_release(&p->asked, before + 1);
	if (fn != NULL)
		(void)await(&p->done, before);
}

static unsigned processors(cpu_set_t *set, int cpu[2])
{
	unsigned n = 0;

	if (sched_getaffinity(0, sizeof *set, set) != 0)
		return 0;
	for (int i = 0; i < CPU_SETSIZE && n < 2; i++)
		if (CPU_ISSET((size_t)i, set))
			cpu[n++] = i;
	return n;
}

void aff_pair_open(struct aff_pair **out, int cpu[2], char *why)
{
	struct aff_pair *p = aligned_alloc(XK_CACHELINE, sizeof *p);

	*out = NULL;
	snprintf(why, AFF_TEXT, "no memory for a thread on another processor");
	if (p == NULL)
		return;
	*p = (struct aff_pair){ .thread = NULL };
	snprintf(why, AFF_TEXT, "this process may use one processor only: nothing can be moved to another one");
	if (processors(&p->before, cpu) == 2) {
		snprintf(why, AFF_TEXT, "no thread can be made on processor %d", cpu[1]);
		if (xk_thread_new(&p->thread, "other", cpu[1], other, p) == XK_OK)
			*out = p;
	}
	if (*out == NULL)
		free(p);
	else
		(void)xk_thread_pin(cpu[0]);
}

void aff_pair_close(struct aff_pair *p)
{
	if (p == NULL)
		return;
	aff_pair_do(p, NULL, NULL);
	xk_thread_join(p->thread);
	(void)sched_setaffinity(0, sizeof p->before, &p->before);
	free(p);
}

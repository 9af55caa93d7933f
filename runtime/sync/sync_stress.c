/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sync_stress.c - the stress build: any thread may stand still wherever it hands
 * something over.
 *
 * Every hand-off of the program passes through this room's words: locked operations,
 * loads that acquire and stores that release, locks, sleeping and waking, changes of the
 * stack.  With --enable-stress each of them first counts down to the thread's next stall:
 * it lends its processor, spins, or sleeps for microseconds, now and then for
 * milliseconds, which is as long as a machine's own interruptions are.  How often that
 * comes changes within one thread by a factor of 256: so now the one who gives is
 * the slow one, now the one who takes, and queues are met both full and empty.
 * What is drawn follows from XK_STRESS_SEED and the order in which threads first come
 * here; the threads' meeting each other does not.  The seed is printed, once, on standard
 * error.  Seed 0 stalls nobody and is not printed.
 * Invariant: errno and what the caller did are left as they were; nothing here waits for
 * another thread.
 */
#include "runtime/sync/xk_sync.h"

bool xk_stress_build(void)
{
#ifdef XK_STRESS
	return true;
#else
	return false;
#endif
}

#ifdef XK_STRESS

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "runtime/base/xk_rand.h"

#define MOOD 32u                 /* stalls after which a thread is slower or faster */

_Thread_local uint32_t xk_stall_left __attribute__((tls_model("initial-exec"))) = 1;

static _Thread_local struct { struct xk_rand rand; uint64_t stalls, gap; bool known; } self;
static uint64_t seed;
static uint32_t threads;

/* Before main, and so before any other thread. */
static __attribute__((constructor)) void stress_begin(void)
{
	const char *s = getenv("XK_STRESS_SEED");
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	seed = s != NULL ? strtoull(s, NULL, 0) : ((uint64_t)ts.tv_sec << 20 ^ (uint64_t)ts.tv_nsec) | 1;
	if (seed != 0)
		fprintf(stderr, "# stress build: XK_STRESS_SEED=%llu\n", (unsigned long long)seed);
}

static void stall(struct xk_rand *r)
{
	uint64_t kind = xk_rand_below(r, 200);

	if (kind < 120)
		sched_yield();
	else if (kind < 184)
		for (uint32_t n = 1u << xk_rand_below(r, 13); n != 0; n--)
			xk_cpu_relax();
	else if (kind < 199)
		xk_thread_nap(1000u + xk_rand_below(r, 200000));
	else
		xk_thread_nap(1000000u + xk_rand_below(r, 4000000));
}

uint64_t xk_stalls(void) { return self.stalls; }

void xk_stall_now(void)
{
	int err = errno;

	if (seed == 0) {
		xk_stall_left = UINT32_MAX;
		return;
	}
	if (!self.known)
		xk_rand_init(&self.rand, seed, __atomic_fetch_add(&threads, 1, __ATOMIC_RELAXED));
	if (self.known)
		stall(&self.rand);
	self.known = true;
	if (self.stalls++ % MOOD == 0)
		self.gap = 16u << 2 * xk_rand_below(&self.rand, 5);
	xk_stall_left = 1 + (uint32_t)xk_rand_below(&self.rand, 2 * self.gap);
	errno = err;
}

#else

uint64_t xk_stalls(void) { return 0; }

#endif

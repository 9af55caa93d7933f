/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_adaptive.c - when the adaptive lock spins and when it sleeps, step by step.
 *
 * The lock's source is compiled here with its two ways of waiting, the pause of a
 * spin and the kernel's futex, in the test's hands: an owner that runs releases
 * after so many pauses, one that does not run never does, and then the waiter must
 * sleep.  One thread plays both, so nothing depends on who gets a processor when.
 */
#include <linux/futex.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/sync/xk_sync.h"
#include "tests/support/xk_test.h"

static void pause_hook(void);
static long futex_hook(long number, uint32_t *word, int op, uint32_t value, ...);

#define xk_cpu_relax pause_hook
#define syscall      futex_hook
#include "runtime/sync/sync_adaptive.c"
#undef xk_cpu_relax
#undef syscall

static struct {
	struct xk_lock l;
	unsigned release_at;             /* the owner's: after so many pauses; 0: while the waiter sleeps */
	unsigned pauses, sleeps, wakes;
} t;

static void pause_hook(void)
{
	if (++t.pauses == t.release_at)
		xk_lock_adaptive.unlock(&t.l);
}

static long futex_hook(long number, uint32_t *word, int op, uint32_t value, ...)
{
	CU_ASSERT_EQUAL(number, SYS_futex);
	if (op == FUTEX_WAKE_PRIVATE) {
		t.wakes++;
		return 0;
	}
	CU_ASSERT_EQUAL(op, FUTEX_WAIT_PRIVATE);
	CU_ASSERT_EQUAL(value, 2);
	CU_ASSERT_EQUAL(*word, 2);
	t.sleeps++;
	xk_lock_adaptive.unlock(&t.l);   /* its owner gets a processor at last */
	return 0;
}

static void begin(long nprocessors)
{
	memset(&t, 0, sizeof t);
	processors = nprocessors;
	xk_lock_adaptive.init(&t.l);
}

/* Somebody has it; we wait for it, and give it back. */
static void wait_once(unsigned release_at)
{
	xk_lock_adaptive.lock(&t.l);
	t.pauses = 0;
	t.release_at = release_at;
	xk_lock_adaptive.lock(&t.l);
	CU_ASSERT_FALSE(xk_lock_adaptive.trylock(&t.l));
	xk_lock_adaptive.unlock(&t.l);
}

static void ways(uint64_t spun, uint64_t slept)
{
	uint64_t a, b;

	xk_lock_adaptive_ways(&t.l, &a, &b);
	CU_ASSERT_EQUAL(a, spun);
	CU_ASSERT_EQUAL(b, slept);
	CU_ASSERT_EQUAL(t.sleeps, slept);
}

static void while_the_owner_runs_it_spins(void)
{
	begin(2);
	for (unsigned n = 1; n < SPIN_LEAST; n++) {
		wait_once(n);
		CU_ASSERT_EQUAL(t.pauses, n);
	}
	ways(SPIN_LEAST - 1, 0);
	CU_ASSERT_EQUAL(t.wakes, 0);
}

static void when_spinning_is_not_enough_it_sleeps_and_is_woken(void)
{
	begin(2);
	wait_once(0);
	CU_ASSERT_EQUAL(t.pauses, SPIN_LEAST);
	ways(0, 1);
	CU_ASSERT(t.wakes >= 1);
}

/* It spins up to twice as long as those before it had to, and never for ever. */
static void it_learns_how_long_owners_take(void)
{
	unsigned longest = 0;

	begin(2);
	for (unsigned n = 1; n <= 2 * SPIN_MOST; n++) {
		uint64_t slept = t.sleeps;

		wait_once(n);
		if (t.sleeps != slept)
			break;
		longest = n;
	}
	CU_ASSERT(longest > 2 * SPIN_LEAST);
	CU_ASSERT(longest <= SPIN_MOST);
	CU_ASSERT(t.pauses <= SPIN_MOST);
	/* Owners that are quick again: it goes back to short spins. */
	for (unsigned i = 0; i < 100; i++)
		wait_once(1);
	wait_once(0);
	CU_ASSERT(t.pauses < 3 * SPIN_LEAST);
}

static void on_one_processor_it_sleeps_at_once(void)
{
	begin(1);
	wait_once(0);
	CU_ASSERT_EQUAL(t.pauses, 0);
	ways(0, 1);
}

static CU_TestInfo tests[] = {
	{ "while the owner runs it spins", while_the_owner_runs_it_spins },
	{ "when spinning is not enough it sleeps and is woken", when_spinning_is_not_enough_it_sleeps_and_is_woken },
	{ "it learns how long owners take", it_learns_how_long_owners_take },
	{ "on one processor it sleeps at once", on_one_processor_it_sleeps_at_once },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "adaptive", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void) { return xk_test_main(suites); }

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_groups.c - promises of groups of connections with a lock each (connp_l), counted.
 *
 * An operation of an application takes the lock of its connection's group, once, and messages
 * that it leaves for other groups cost each of these its lock once, however many they are.
 * Threads that want locks at the same time contend in their own group only: with a group for
 * each of them nobody does.
 *
 * No worker runs here, so whatever takes a lock is what the test has called.  Who contends is made
 * so: the first thread inside a group stays until every other one of all groups has tried.
 */
#include "tests/runtime/vp/vp_fixture.h"
#include "tests/support/xk_test.h"
#include "tests/support/xk_test_graph.h"

#define THREADS 8u
#define ROUNDS  3u
#define OPS     256u

static struct xk_lock_counts locks_of(const struct xk_vp *vp)
{
	struct xk_lock_counts c;

	xk_lockstat_read(&vp->lockstat, &c);
	return c;
}

static struct xk_lock_counts locks_of_all(void)
{
	struct xk_lock_counts c, sum = { 0 };

	for (unsigned i = 0; i < fx.set->nvps; i++) {
		c = locks_of(fx.set->vp[i]);
		xk_lock_counts_add(&sum, &c, 1);
	}
	return sum;
}

/* Callers lend their threads as if workers ran. */
static void groups(unsigned n, enum xk_handover h, const struct xk_lock_ops *lock)
{
	struct xk_arch a = arch_of("connp_l", (int)n, 1);

	CU_ASSERT_EQUAL(a.entry, XK_ENTRY_LOCK);
	a.handover = h;
	a.lock = lock;
	make(a);
	xk_store_release(&fx.set->running, 1u);
}

static void no_groups(void)
{
	xk_store_release(&fx.set->running, 0u);
	unmake();
}

/* ---- locks of an operation ------------------------------------------------------------ */

static void one_more(struct xk_vp *vp, void *arg)
{
	(void)vp;
	++*(uint64_t *)arg;
}

static void an_operation_takes_the_lock_of_its_group_once(void)
{
	static const unsigned n[] = { 1, 2, 4, 32, 128 };

	for (unsigned k = 0; k < XK_ARRAY_LEN(n); k++) {
		uint64_t done = 0;

		groups(n[k], XK_HANDOVER_ENTER, &xk_lock_adaptive);
		for (unsigned i = 0; i < OPS; i++) {
			xk_vp_do(fx.set->vp[i % n[k]], one_more, &done);
			CU_ASSERT_EQUAL(locks_of_all().taken, i + 1);
		}
		for (unsigned i = 0; i < n[k]; i++)
			CU_ASSERT_EQUAL(locks_of(fx.set->vp[i]).taken, OPS / n[k]);
		CU_ASSERT_EQUAL(done, OPS);
		CU_ASSERT_EQUAL(locks_of_all().contended, 0);
		no_groups();
	}
}

/* What is called inside is the same operation still. */
static void nested(struct xk_vp *vp, void *arg)
{
	xk_vp_do(vp, one_more, arg);
	xk_vp_do(vp, one_more, arg);
}

static void what_an_operation_calls_takes_no_lock_of_its_own(void)
{
	uint64_t done = 0;

	groups(4, XK_HANDOVER_ENTER, &xk_lock_adaptive);
	xk_vp_do(fx.set->vp[2], nested, &done);
	CU_ASSERT_EQUAL(done, 2);
	CU_ASSERT_EQUAL(locks_of_all().taken, 1);
	no_groups();
}

/* Three messages for each of the groups 1 to *n. */
static void leave_three_each(struct xk_vp *vp, void *arg)
{
	unsigned n = *(unsigned *)arg;

	for (unsigned i = 0; i < 3 * n; i++) {
		struct xk_msg *m = xk_msg_new(8);

		CU_ASSERT_PTR_NOT_NULL_FATAL(m);
		xk_vp_post(vp->set->vp[1 + i % n], m);
	}
}

static void messages_for_another_group_cost_its_lock_once(void)
{
	for (unsigned h = 0; h < 2; h++)
		for (unsigned n = 1; n <= 7; n++) {
			groups(8, h ? XK_HANDOVER_TRY : XK_HANDOVER_ENTER, &xk_lock_adaptive);
			xk_vp_do(fx.set->vp[0], leave_three_each, &n);
			CU_ASSERT_EQUAL(locks_of_all().taken, 1 + n);
			for (unsigned i = 0; i < 8; i++) {
				CU_ASSERT_EQUAL(locks_of(fx.set->vp[i]).taken, i <= n ? 1 : 0);
				CU_ASSERT_EQUAL(fx.delivered[i], i != 0 && i <= n ? 3 : 0);
			}
			no_groups();
		}
}

/* ---- contention by groups --------------------------------------------------------------- */

/* A mutex that tells of everybody whose first try has failed. */
static struct xk_lock_ops telling;
static struct { uint32_t failed, want; unsigned groups; } step;

static void tell_and_lock(struct xk_lock *l)
{
	(void)xk_atomic_add(&step.failed, 1u);
	xk_lock_mutex.lock(l);
}

/* The first of its group waits for all others; they find that it has. */
static void stay(struct xk_vp *vp, void *arg)
{
	(void)vp;
	(void)arg;
	while (xk_load_acquire(&step.failed) != step.want)
		xk_thread_yield();
}

static void enter_own_group(void *arg)
{
	xk_vp_do(fx.set->vp[*(unsigned *)arg % step.groups], stay, NULL);
}

/* All threads at once, one operation each; thread i is of group i modulo n. */
static void all_at_once(unsigned n)
{
	struct xk_thread *t[THREADS];
	unsigned no[THREADS];

	step.failed = 0;
	step.groups = n;
	step.want = n < THREADS ? THREADS - n : 0;
	for (unsigned i = 0; i < THREADS; i++) {
		no[i] = i;
		CU_ASSERT_EQUAL_FATAL(xk_thread_new(&t[i], "app", -1, enter_own_group, &no[i]), XK_OK);
	}
	for (unsigned i = 0; i < THREADS; i++)
		xk_thread_join(t[i]);
	CU_ASSERT_EQUAL(step.failed, step.want);
}

static void contention_falls_as_groups_are_added(void)
{
	static const struct { unsigned groups, contended; } of[] = { { 1, 7 }, { 2, 6 }, { 4, 4 }, { 8, 0 }, { 128, 0 } };

	telling = xk_lock_mutex;
	telling.lock = tell_and_lock;
	for (unsigned k = 0; k < XK_ARRAY_LEN(of); k++) {
		unsigned n = of[k].groups, used = n < THREADS ? n : THREADS;

		groups(n, XK_HANDOVER_ENTER, &telling);
		for (unsigned round = 0; round < ROUNDS; round++)
			all_at_once(n);
		CU_ASSERT_EQUAL(locks_of_all().taken, ROUNDS * THREADS);
		CU_ASSERT_EQUAL(locks_of_all().contended, ROUNDS * of[k].contended);
		for (unsigned i = 0; i < used; i++)
			CU_ASSERT_EQUAL(locks_of(fx.set->vp[i]).contended, ROUNDS * (THREADS / used - 1));
		no_groups();
	}
}

static CU_TestInfo tests[] = {
	{ "an operation takes the lock of its group once", an_operation_takes_the_lock_of_its_group_once },
	{ "what an operation calls takes no lock of its own", what_an_operation_calls_takes_no_lock_of_its_own },
	{ "messages for another group cost its lock once", messages_for_another_group_cost_its_lock_once },
	{ "contention falls as groups are added", contention_falls_as_groups_are_added },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = { { .pName = "groups", .pTests = tests }, CU_SUITE_INFO_NULL };

int main(void) { return xk_test_main_rcu(suites); }

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_stackpool.c - promises of pools of thread stacks: a unit of work runs on one, whoever runs it and however what
 * it works on came there; a processor's own stack is its next one, and never moves; of one pool the longest idle is
 * next, and what moved is counted, of units that did something; where more are in use at once, or there is no memory,
 * the unit runs all the same.
 */
#include "tests/runtime/vp/vp_fixture.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/mem/xk_mem.h"
#include "runtime/vp/modes/vp_ult.h"
#include "tests/support/xk_test.h"

#define PROCESSORS 3u

static bool have_fibers(void)
{
	if (!xk_fiber_available())
		printf("skipped: built without Boost.Context (package %s)\n", xk_fiber_missing);
	return xk_fiber_available();
}

static struct xk_stack_counts counts(void)
{
	struct xk_stack_counts c;

	xk_vpset_stacks(fx.set, &c);
	return c;
}

/* Is what stands at `at` on the calling kernel thread's own stack? */
static bool is_on_own_stack(const void *at)
{
	static _Thread_local size_t size;
	static _Thread_local void *low;
	pthread_attr_t attr;

	if (low == NULL) {
		xk_assert(pthread_getattr_np(pthread_self(), &attr) == 0);
		xk_assert(pthread_attr_getstack(&attr, &low, &size) == 0);
		pthread_attr_destroy(&attr);
	}
	return (uintptr_t)at - (uintptr_t)low < size;
}

/* ---- which stack is next, one unit after the other -------------------------------------------------- */

static struct conn worker_of[MAX_VPS];
static uint32_t units, on_own;

static void note_unit(struct conn *c)
{
	(void)c;
	xk_atomic_add(&units, 1u);
	xk_atomic_add(&on_own, (uint32_t)is_on_own_stack(__builtin_frame_address(0)));
}

/* Three VPs with a task each, but the last; nobody runs but who is told to. */
static bool make_three(enum xk_stackpools kind)
{
	struct xk_arch a = arch_of("vppc", PROCESSORS, PROCESSORS);

	if (!have_fibers())
		return false;
	a.stacks = kind;
	make(a);
	units = on_own = 0;
	for (unsigned i = 0; i + 1 < PROCESSORS; i++) {
		xk_vp_enter_idle(fx.set->vp[i]);
		conn_start(&worker_of[i], fx.set->vp[i], 0);
		worker_of[i].hook = note_unit;
		xk_vp_leave_idle(fx.set->vp[i]);
	}
	return true;
}

static void unmake_three(void)
{
	CU_ASSERT_EQUAL(on_own, 0);
	xk_mem_processor = 0;
	unmake();
}

/* A unit of VP `vp` on this processor; the stack that it had. */
static const struct xk_stack *unit_on(unsigned processor, unsigned vp)
{
	const struct xk_stack *s;
	struct xk_vp *v = fx.set->vp[vp];

	xk_mem_processor = (uint16_t)processor;
	s = vp_stack_next(fx.set);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	xk_vp_enter_idle(v);
	CU_ASSERT_EQUAL(vp_any_unit(v, 1), vp + 1 < PROCESSORS);
	xk_vp_leave_idle(v);
	CU_ASSERT_EQUAL(s->used_by, processor + 1);
	return s;
}

static void a_processors_stack_is_its_next_one_and_never_moves(void)
{
	const struct xk_stack *of[PROCESSORS + 1];
	struct xk_stack_counts c;

	if (!make_three(XK_STACKS_PROCESSOR))
		return;
	for (unsigned p = 0; p <= PROCESSORS; p++)
		of[p] = unit_on(p, p % 2);
	for (unsigned p = 0; p <= PROCESSORS; p++)
		for (unsigned q = 0; q < p; q++)
			CU_ASSERT_PTR_NOT_EQUAL(of[p], of[q]);
	for (unsigned round = 1; round < 10; round++)
		for (unsigned p = 0; p <= PROCESSORS; p++)
			CU_ASSERT_PTR_EQUAL(unit_on(p, round % 2), of[p]);
	c = counts();
	CU_ASSERT_EQUAL(c.pools, PROCESSORS + 1);
	CU_ASSERT_EQUAL(c.stacks, PROCESSORS + 1);
	CU_ASSERT_EQUAL(c.hits, 9 * (PROCESSORS + 1));
	CU_ASSERT_EQUAL(c.moves, 0);
	CU_ASSERT_EQUAL(c.stackless, 0);
	CU_ASSERT_EQUAL(c.lock.taken, 2 * units);
	CU_ASSERT_EQUAL(c.lock.contended, 0);
	CU_ASSERT_EQUAL(units, 10 * (PROCESSORS + 1));
	unmake_three();
}

static void the_longest_idle_of_one_pool_is_next_and_moves(void)
{
	const struct xk_stack *of[PROCESSORS];

	if (!make_three(XK_STACKS_GLOBAL))
		return;
	CU_ASSERT_EQUAL(counts().pools, 1);
	CU_ASSERT_EQUAL(counts().stacks, PROCESSORS);
	for (unsigned i = 0; i < PROCESSORS; i++)
		of[i] = unit_on(1, 0);
	CU_ASSERT(of[0] != of[1] && of[1] != of[2] && of[0] != of[2]);
	CU_ASSERT_EQUAL(counts().hits + counts().moves, 0);      /* nobody's before */
	for (unsigned i = 0; i < 2 * PROCESSORS; i++)
		CU_ASSERT_PTR_EQUAL(unit_on(1, 1), of[i % PROCESSORS]);
	CU_ASSERT_EQUAL(counts().hits, 2 * PROCESSORS);
	CU_ASSERT_EQUAL(counts().moves, 0);
	for (unsigned i = 0; i < 2 * PROCESSORS; i++)
		CU_ASSERT_PTR_EQUAL(unit_on(2, 0), of[i % PROCESSORS]);
	CU_ASSERT_EQUAL(counts().hits, 3 * PROCESSORS);
	CU_ASSERT_EQUAL(counts().moves, PROCESSORS);
	/* Two in turns, and three stacks: each has been the other one's. */
	for (unsigned i = 0; i < 12; i++)
		unit_on(1 + i % 2, i % 2);
	CU_ASSERT_EQUAL(counts().hits + counts().moves, 4 * PROCESSORS + 12);
	CU_ASSERT_EQUAL(counts().moves, PROCESSORS + 2 + 9);
	unmake_three();
}

/* A look that finds nothing is none of the paper's packets; the stack has gone where it was made nevertheless. */
static void a_unit_that_does_nothing_is_not_counted(void)
{
	if (!make_three(XK_STACKS_GLOBAL))
		return;
	for (unsigned i = 0; i < 2 * PROCESSORS; i++)
		unit_on(1 + i % 2, PROCESSORS - 1);
	CU_ASSERT_EQUAL(counts().hits + counts().moves, 0);
	for (unsigned i = 0; i < PROCESSORS; i++)
		unit_on(3, 0);
	CU_ASSERT_EQUAL(counts().moves, PROCESSORS);
	CU_ASSERT_EQUAL(counts().hits, 0);
	unmake_three();
}

/* Which turns of a simulated clock are run on stacks, too. */
static void one_thread_for_all_runs_units_on_stacks(void)
{
	struct xk_arch a = arch_of("vppc", 4, 1);

	if (!have_fibers())
		return;
	a.schedule = XK_SCHED_VIRTUAL;
	a.stacks = XK_STACKS_PROCESSOR;
	make(a);
	units = on_own = 0;
	for (unsigned i = 0; i < 4; i++) {
		xk_vp_enter_idle(fx.set->vp[i]);
		conn_start(&worker_of[i], fx.set->vp[i], 160);
		worker_of[i].hook = note_unit;
		xk_vp_leave_idle(fx.set->vp[i]);
	}
	CU_ASSERT_FALSE(xk_vpset_run_virtual(fx.set, XK_SEC));
	CU_ASSERT_EQUAL(units, 40);
	CU_ASSERT_EQUAL(on_own, 0);
	CU_ASSERT_EQUAL(counts().hits, 39);
	CU_ASSERT_EQUAL(counts().moves, 0);
	unmake();
}

/* ---- more at once than there are --------------------------------------------------------------------- */

#define DEEP 12u                 /* more than are made at a time */
static unsigned deep, fails_at;
static const void *frame[DEEP];

static void go_deeper(struct conn *c)
{
	struct xk_vp *vp = c->task.vp;

	frame[deep++] = __builtin_frame_address(0);
	if (deep == fails_at)
		xk_mem_fail_after(1);
	if (deep < DEEP)
		CU_ASSERT_EQUAL(vp_any_unit(vp, 1), 1);
}

static void nest(unsigned fail)
{
	struct xk_vp *vp = fx.set->vp[0];

	deep = 0;
	fails_at = fail;
	worker_of[0].hook = go_deeper;
	xk_vp_enter_idle(vp);
	CU_ASSERT_EQUAL(vp_any_unit(vp, 1), 1);
	xk_vp_leave_idle(vp);
	xk_mem_fail_after(0);
	CU_ASSERT_EQUAL(deep, DEEP);
	for (unsigned i = 0; i < DEEP; i++)
		CU_ASSERT_FALSE(is_on_own_stack(frame[i]));
}

static void more_are_made_where_more_are_in_use(void)
{
	const struct xk_stack *last;

	if (!make_three(XK_STACKS_PROCESSOR))
		return;
	nest(0);
	CU_ASSERT_EQUAL(counts().stacks, PROCESSORS + DEEP);
	nest(0);
	CU_ASSERT_EQUAL(counts().stacks, PROCESSORS + DEEP);
	CU_ASSERT_EQUAL(counts().hits, DEEP);
	CU_ASSERT_EQUAL(counts().stackless, 0);
	/* Of many the one that was used last. */
	last = unit_on(0, 1);
	for (unsigned i = 0; i < 3; i++)
		CU_ASSERT_PTR_EQUAL(unit_on(0, 1), last);
	unmake_three();
}

static void without_memory_for_one_a_unit_runs_where_it_is_and_is_counted(void)
{
	if (!make_three(XK_STACKS_PROCESSOR))
		return;
	nest(8);                         /* what is made at a time is used up */
	CU_ASSERT_EQUAL(counts().stacks, PROCESSORS + DEEP - 1);
	CU_ASSERT_EQUAL(counts().stackless, 1);
	nest(0);
	CU_ASSERT_EQUAL(counts().stacks, PROCESSORS + DEEP);
	CU_ASSERT_EQUAL(counts().stackless, 1);
	unmake_three();
}

static void making_survives_the_failure_of_every_allocation(void)
{
	struct xk_arch a = arch_of("vppc", 2, 2);
	struct xk_mem_conf mem = { .limit = 64u << 20 };
	uint64_t live = xk_alloc_live();
	struct xk_errs *e = xk_errs_new();
	struct xk_vpset *set;
	int err = XK_E_NOMEM;

	a.stacks = XK_STACKS_PROCESSOR;
	for (uint64_t k = 1; have_fibers() && err == XK_E_NOMEM && k < 1000; k++) {
		uint64_t before = xk_alloc_live();

		xk_mem_fail_after(k);
		err = xk_vpset_new(&set, &a, &mem, e);
		xk_mem_fail_after(0);
		if (err == XK_OK)
			xk_vpset_free(set);
		xk_errs_free(e);
		e = xk_errs_new();
		CU_ASSERT_EQUAL(xk_alloc_live(), before);
	}
	CU_ASSERT(err == XK_OK || !xk_fiber_available());
	xk_errs_free(e);
	CU_ASSERT(xk_alloc_live() <= live);
}

static void touch_the_end(struct conn *c)
{
	const struct xk_stack *s = c->task.vp->set->stacks != NULL ? frame[0] : NULL;

	*(volatile uint64_t *)(s->zone + XK_STACK_ZONE / 2) = (uintptr_t)c;      /* what a call leaves there */
}

static void a_stack_that_was_too_small_is_found(void)
{
	int status = 0;
	pid_t pid;

	if (!make_three(XK_STACKS_PROCESSOR))
		return;
	pid = fork();
	if (pid == 0) {
		close(2);
		frame[0] = vp_stack_next(fx.set);
		worker_of[0].hook = touch_the_end;
		unit_on(0, 0);
		_exit(0);
	}
	CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
	CU_ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	unmake_three();
}

/* ---- threads --------------------------------------------------------------------------------------------- */

static uint32_t delivered_on_own;

static void deliver(struct xk_vp *vp, struct xk_msg *m)
{
	xk_atomic_add(&delivered_on_own, (uint32_t)is_on_own_stack(__builtin_frame_address(0)));
	count_delivery(vp, m);
}

static void post_to_all(struct conn *c)
{
	struct xk_vpset *set = c->task.vp->set;

	note_unit(c);
	for (unsigned i = 0; i < set->nconn; i++) {
		struct xk_msg *m = xk_msg_new(64);

		if (m != NULL)
			xk_vp_post(set->vp[i], m);
	}
}

/* Every VP posts a message to every VP in each of so many units: all are run on stacks of pools. */
static struct xk_stack_counts everybody(struct xk_arch a, enum xk_stackpools kind)
{
	enum { each = 80 };              /* more than a turn, of one virtual processor, too: the first is neither hit nor move */
	struct xk_errs *e = xk_errs_new();
	struct xk_stack_counts c;
	uint32_t want;
	char why[200];

	a.stacks = kind;
	a.burst = 1;
	CU_ASSERT_EQUAL(xk_arch_check(&a, why, sizeof why), XK_OK);
	make(a);
	fx.set->deliver = deliver;
	units = on_own = delivered_on_own = 0;
	for (unsigned i = 0; i < fx.set->nconn; i++) {
		xk_vp_enter_idle(fx.set->vp[i]);
		conn_start(&worker_of[i], fx.set->vp[i], each);
		worker_of[i].hook = post_to_all;
		xk_vp_leave_idle(fx.set->vp[i]);
	}
	want = each * fx.set->nconn * fx.set->nconn;
	CU_ASSERT_EQUAL_FATAL(xk_vpset_start(fx.set, e), XK_OK);
	while (xk_load_acquire(&fx.total) != want)
		xk_thread_yield();
	xk_vpset_stop(fx.set);
	c = counts();
	CU_ASSERT_EQUAL(units, each * fx.set->nconn);
	CU_ASSERT_EQUAL(on_own + delivered_on_own, 0);
	CU_ASSERT_EQUAL(fx.overlap + c.stackless, 0);
	CU_ASSERT(c.hits + c.moves > 0);
	CU_ASSERT(kind == XK_STACKS_GLOBAL || c.moves == 0);
	unmake();
	xk_errs_free(e);
	return c;
}

static const struct { const char *preset; int vps; unsigned workers; } architectures[] = {
	{ "up", 1, 1 }, { "ppc", 3, 3 }, { "vppc", 8, 2 }, { "tpc", 6, 0 }, { "connp_t", 4, 0 }, { "connp_l", 8, 3 },
	{ "ips", 3, 3 }, { "ips_conn", 8, 3 }, { "caller", 1, 1 },
};

static void all_runs_on_stacks_under_every_architecture(void)
{
	for (unsigned i = 0; have_fibers() && i < XK_ARRAY_LEN(architectures); i++) {
		struct xk_arch a = arch_of(architectures[i].preset, architectures[i].vps, architectures[i].workers);

		everybody(a, XK_STACKS_PROCESSOR);
		everybody(a, XK_STACKS_GLOBAL);
	}
}

/* Messages that are left or brought, by the way they take; one worker moves nothing of one pool either. */
static void what_is_brought_runs_on_stacks(void)
{
	struct xk_arch a = arch_of("connp_l", 8, 3);

	if (!have_fibers())
		return;
	a.handover = XK_HANDOVER_TRY;
	a.lock = &xk_lock_mcs;
	everybody(a, XK_STACKS_PROCESSOR);
	everybody(a, XK_STACKS_GLOBAL);
	CU_ASSERT_EQUAL(everybody(arch_of("connp_l", 8, 1), XK_STACKS_GLOBAL).moves, 0);
}

static void stacks_of_one_pool_move_between_two_workers(void)
{
	struct xk_stack_counts c = { 0 };

	for (unsigned tries = 0; have_fibers() && tries < 1000 && c.moves == 0; tries++)
		c = everybody(arch_of("ppc", 2, 2), XK_STACKS_GLOBAL);
	CU_ASSERT(c.moves > 0 || !xk_fiber_available());
}

/* ---- what makes no sense --------------------------------------------------------------------------------------- */

static void what_has_stacks_of_its_own_takes_none_from_a_pool(void)
{
	struct xk_arch a = *xk_arch_find("vppc"), lp = *xk_arch_find("lp");
	char why[256] = "";

	a.stacks = lp.stacks = XK_STACKS_GLOBAL;
	a.stack = XK_STACK_MIN_UNIT;
	CU_ASSERT_EQUAL(xk_arch_check(&a, why, sizeof why), xk_fiber_available() ? XK_OK : XK_E_INVAL);
	CU_ASSERT(xk_fiber_available() || strstr(why, xk_fiber_missing) != NULL);
	a.stack--;
	CU_ASSERT_EQUAL(xk_arch_check(&a, why, sizeof why), XK_E_INVAL);
	a.stack = 0;
	a.threads = XK_THREADS_USER;
	CU_ASSERT_EQUAL(xk_arch_check(&a, why, sizeof why), XK_E_INVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "threads = \"kernel\""));
	CU_ASSERT_EQUAL(xk_arch_check(&lp, why, sizeof why), XK_E_INVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "domain"));
}

static void without_a_word_there_are_none(void)
{
	make(arch_of("vppc", 2, 1));
	CU_ASSERT_PTR_NULL(fx.set->stacks);
	CU_ASSERT_PTR_NULL(fx.set->units);
	CU_ASSERT_EQUAL(counts().pools, 0);
	unmake();
}

static CU_TestInfo tests[] = {
	{ "a processor's stack is its next one and never moves", a_processors_stack_is_its_next_one_and_never_moves },
	{ "the longest idle of one pool is next and moves", the_longest_idle_of_one_pool_is_next_and_moves },
	{ "a unit that does nothing is not counted", a_unit_that_does_nothing_is_not_counted },
	{ "one thread for all runs units on stacks", one_thread_for_all_runs_units_on_stacks },
	{ "more are made where more are in use", more_are_made_where_more_are_in_use },
	{ "without memory for one a unit runs where it is and is counted",
	  without_memory_for_one_a_unit_runs_where_it_is_and_is_counted },
	{ "making survives the failure of every allocation", making_survives_the_failure_of_every_allocation },
	{ "a stack that was too small is found", a_stack_that_was_too_small_is_found },
	{ "all runs on stacks under every architecture", all_runs_on_stacks_under_every_architecture },
	{ "what is brought runs on stacks", what_is_brought_runs_on_stacks },
	{ "stacks of one pool move between two workers", stacks_of_one_pool_move_between_two_workers },
	{ "what has stacks of its own takes none from a pool", what_has_stacks_of_its_own_takes_none_from_a_pool },
	{ "without a word there are none", without_a_word_there_are_none },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = { { .pName = "pools of thread stacks", .pTests = tests }, CU_SUITE_INFO_NULL };

int main(void)
{
	xk_rcu_register();
	return xk_test_main(suites);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_ult.c - promises of user-level threads: units and bodies on stacks of their own,
 * what waits goes on, units run above a body that waits, stacks are used again, and one
 * that was too small is found.
 */
#include <string.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/sync/xk_fiber.h"
#include "runtime/sync/xk_sync.h"
#include "runtime/vp/modes/vp_ult.h"
#include "tests/support/xk_test.h"
#include "tests/support/xk_test_graph.h"

static struct {
	struct xk_vpset *set;
	struct xk_vp    *vp;
	uint64_t         before;
	unsigned         gone;
} fx;

static void no_delivery(struct xk_vp *vp, struct xk_msg *m)
{
	(void)vp;
	xk_msg_free(m);
}

static bool make(size_t stack)
{
	struct xk_mem_conf mem = { .limit = 64u << 20 };
	struct xk_arch a = *xk_arch_find("up");
	struct xk_errs *e;

	if (!xk_fiber_available()) {
		xk_test_skip("built without Boost.Context (package libboost-context-dev)");
		return false;
	}
	memset(&fx, 0, sizeof fx);
	fx.before = xk_alloc_live();
	a.schedule = XK_SCHED_VIRTUAL;
	a.threads = XK_THREADS_USER;
	a.stack = stack;
	e = xk_errs_new();
	CU_ASSERT_EQUAL_FATAL(xk_vpset_new(&fx.set, &a, &mem, e), XK_OK);
	fx.set->deliver = no_delivery;
	xk_errs_free(e);
	fx.vp = fx.set->vp[0];
	xk_vp_enter_idle(fx.vp);
	return true;
}

static void unmake(void)
{
	xk_vp_leave_idle(fx.vp);
	CU_ASSERT_EQUAL(xk_vpset_free(fx.set), 0);
	CU_ASSERT_EQUAL(xk_alloc_live(), fx.before);
}

/* One unit of the VP, which the test is inside of. */
static void step(void)
{
	xk_vp_unit(fx.vp, 1);
}

static void note_gone(struct xk_ult *t)
{
	(void)t;
	fx.gone++;
}

/* ---- units -------------------------------------------------------------------------- */

struct probe { struct xk_ult *t; const char *at; unsigned n, sum; };

static unsigned probe_unit(void *arg, unsigned n)
{
	struct probe *p = arg;
	char here = 0;

	__atomic_store_n(&p->at, &here, __ATOMIC_RELAXED);
	p->t = xk_ult_self(fx.vp);
	p->sum += n;
	return n + 1;
}

static void a_unit_runs_to_its_end_on_the_threads_stack(void)
{
	struct xk_ult t;
	struct probe p = { 0 };
	struct xk_ult_stats st;

	if (!make(0))
		return;
	xk_ult_init(&t, fx.vp, note_gone);
	CU_ASSERT_PTR_NULL(t.stack);
	CU_ASSERT_EQUAL(xk_ult_call(&t, probe_unit, &p, 41), 42);
	CU_ASSERT_PTR_EQUAL(p.t, &t);
	CU_ASSERT(p.at > (const char *)t.stack->zone && p.at < (const char *)t.stack);
	CU_ASSERT_PTR_NULL(xk_ult_self(fx.vp));
	CU_ASSERT_EQUAL(xk_ult_call(&t, probe_unit, &p, 1), 2);
	CU_ASSERT_EQUAL(p.sum, 42);
	xk_ult_stats(fx.vp, &st);
	CU_ASSERT_EQUAL(st.live, 1);
	CU_ASSERT_EQUAL(st.stacks, 1);
	CU_ASSERT_EQUAL(st.switches, 4);
	xk_ult_put(&t);
	CU_ASSERT_EQUAL(fx.gone, 1);
	unmake();
}

struct nest { struct xk_ult *inner; struct probe p; };

static unsigned nest_unit(void *arg, unsigned n)
{
	struct nest *x = arg;

	return xk_ult_call(x->inner, probe_unit, &x->p, n);
}

static void what_a_unit_causes_at_once_runs_where_it_is(void)
{
	struct xk_ult a, b;
	struct nest x = { .inner = &b };

	if (!make(0))
		return;
	xk_ult_init(&a, fx.vp, note_gone);
	xk_ult_init(&b, fx.vp, note_gone);
	CU_ASSERT_EQUAL(xk_ult_call(&a, nest_unit, &x, 7), 8);
	CU_ASSERT_PTR_EQUAL(x.p.t, &a);
	CU_ASSERT_PTR_NULL(b.stack);
	xk_ult_put(&a);
	xk_ult_put(&b);
	unmake();
}

static unsigned put_unit(void *arg, unsigned n)
{
	xk_ult_put(arg);
	CU_ASSERT_EQUAL(fx.gone, 0);
	return n;
}

static void a_thread_that_loses_its_last_reference_while_it_runs_goes_when_it_stops(void)
{
	struct xk_ult t, next;
	struct probe p = { 0 };
	struct xk_stack *s;

	if (!make(0))
		return;
	xk_ult_init(&t, fx.vp, note_gone);
	xk_ult_call(&t, probe_unit, &p, 1);
	s = t.stack;
	CU_ASSERT_EQUAL(xk_ult_call(&t, put_unit, &t, 3), 3);
	CU_ASSERT_EQUAL(fx.gone, 1);
	xk_ult_init(&next, fx.vp, note_gone);
	xk_ult_call(&next, probe_unit, &p, 1);
	CU_ASSERT_PTR_EQUAL(next.stack, s);
	xk_ult_put(&next);
	unmake();
}

static void a_thread_at_rest_lends_its_stack(void)
{
	struct xk_ult a, b;
	struct probe p = { 0 };
	struct xk_stack *s;
	struct xk_ult_stats st;

	if (!make(0))
		return;
	xk_ult_init(&a, fx.vp, note_gone);
	xk_ult_init(&b, fx.vp, note_gone);
	xk_ult_rest(&a);                         /* has none */
	for (unsigned i = 0; i < 10; i++) {
		CU_ASSERT_EQUAL(xk_ult_call(&a, probe_unit, &p, i), i + 1);
		s = a.stack;
		xk_ult_rest(&a);
		CU_ASSERT_PTR_NULL(a.stack);
		CU_ASSERT_EQUAL(xk_ult_call(&b, probe_unit, &p, i), i + 1);
		CU_ASSERT_PTR_EQUAL(p.t, &b);
		CU_ASSERT_PTR_EQUAL(b.stack, s);
		xk_ult_rest(&b);
	}
	xk_ult_stats(fx.vp, &st);
	CU_ASSERT_EQUAL(st.live, 2);
	CU_ASSERT_EQUAL(st.stacks, 1);
	xk_ult_put(&a);
	xk_ult_put(&b);
	CU_ASSERT_EQUAL(fx.gone, 2);
	unmake();
}

/* ---- a task's turns ------------------------------------------------------------------- */

struct tasked { struct xk_task task; struct xk_ult *seen; unsigned turns; };

static unsigned tasked_run(struct xk_task *task, unsigned budget)
{
	struct tasked *k = xk_container_of(task, struct tasked, task);

	k->seen = xk_ult_self(fx.vp);
	if (++k->turns % 3 == 0)
		xk_task_park(task);
	return budget;
}

static void an_adopted_tasks_turns_run_on_its_thread_until_it_leaves(void)
{
	struct xk_ult t;
	struct tasked k = { .turns = 0 }, other = { .turns = 0 };

	if (!make(0))
		return;
	xk_ult_init(&t, fx.vp, note_gone);
	xk_task_init(&k.task, fx.vp, tasked_run);
	xk_task_init(&other.task, fx.vp, tasked_run);
	CU_ASSERT_TRUE(xk_ult_adopt(&t, &k.task));
	CU_ASSERT_FALSE(xk_ult_adopt(&t, &other.task));
	CU_ASSERT_FALSE(xk_ult_adopt(&t, &k.task));
	xk_ult_put(&t);
	CU_ASSERT_EQUAL(fx.gone, 0);             /* the task keeps it */
	xk_task_ready(&k.task);
	for (unsigned i = 0; i < 5; i++)
		step();
	CU_ASSERT_EQUAL(k.turns, 3);             /* then it had parked */
	CU_ASSERT_PTR_EQUAL(k.seen, &t);
	xk_ult_leave(&k.task);
	CU_ASSERT_EQUAL(fx.gone, 1);
	xk_ult_leave(&k.task);
	xk_task_ready(&k.task);
	step();
	CU_ASSERT_PTR_NULL(k.seen);
	xk_task_park(&k.task);
	unmake();
}

/* ---- bodies ------------------------------------------------------------------------------ */

struct reader { struct xk_ult t; unsigned given, taken, waits; bool stop; };

static void reader_body(void *arg)
{
	struct reader *r = arg;
	volatile unsigned sum = 0;       /* on the stack, over every wait */

	while (!r->stop) {
		while (r->given == r->taken && !r->stop) {
			r->waits++;
			xk_ult_wait(&r->t);
		}
		if (r->given != r->taken) {
			r->taken++;
			sum += r->taken;
			CU_ASSERT_EQUAL(sum, r->taken * (r->taken + 1) / 2);
		}
	}
}

static unsigned give_unit(void *arg, unsigned n)
{
	struct reader *r = arg;

	r->given += n;
	xk_ult_wake(&r->t);
	CU_ASSERT_PTR_EQUAL(xk_ult_self(fx.vp), &r->t);
	return n;
}

static void a_body_waits_and_units_run_above_it(void)
{
	struct reader r = { .given = 0 };
	struct xk_stack *s;

	if (!make(0))
		return;
	xk_ult_init(&r.t, fx.vp, note_gone);
	CU_ASSERT_TRUE(xk_ult_idle(&r.t));
	CU_ASSERT_EQUAL(xk_ult_begin(&r.t, reader_body, &r), XK_OK);
	CU_ASSERT_EQUAL(xk_ult_begin(&r.t, reader_body, &r), XK_E_BUSY);
	xk_ult_call(&r.t, give_unit, &r, 2);     /* before it has begun */
	step();
	CU_ASSERT_EQUAL(r.taken, 2);
	CU_ASSERT_EQUAL(r.waits, 2);
	s = r.t.stack;
	for (unsigned i = 0; i < 100; i++) {
		CU_ASSERT_EQUAL(xk_ult_call(&r.t, give_unit, &r, i % 3), i % 3);
		CU_ASSERT_PTR_EQUAL(r.t.stack, s);
		step();
		CU_ASSERT_EQUAL(r.taken, r.given);
	}
	xk_ult_rest(&r.t);                       /* its body is on it */
	CU_ASSERT_PTR_EQUAL(r.t.stack, s);
	xk_ult_wake(&r.t);                       /* for nothing */
	step();
	CU_ASSERT_FALSE(xk_ult_idle(&r.t));
	r.stop = true;
	xk_ult_wake(&r.t);
	step();
	CU_ASSERT_TRUE(xk_ult_idle(&r.t));
	CU_ASSERT_EQUAL(fx.gone, 0);
	xk_ult_put(&r.t);
	CU_ASSERT_EQUAL(fx.gone, 1);
	unmake();
}

struct turns { struct xk_ult t; char *to; unsigned n; char me; };

static void turns_body(void *arg)
{
	struct turns *x = arg;

	for (unsigned i = 0; i < x->n; i++) {
		x->to[strlen(x->to)] = x->me;
		xk_ult_yield(&x->t);
	}
}

static void bodies_that_yield_take_turns(void)
{
	char text[32] = "";
	struct turns a = { .to = text, .n = 3, .me = 'a' }, b = { .to = text, .n = 2, .me = 'b' };

	if (!make(0))
		return;
	xk_ult_init(&a.t, fx.vp, note_gone);
	xk_ult_init(&b.t, fx.vp, note_gone);
	xk_ult_begin(&a.t, turns_body, &a);
	xk_ult_begin(&b.t, turns_body, &b);
	xk_ult_put(&a.t);                        /* a body keeps its thread */
	xk_ult_put(&b.t);
	for (unsigned i = 0; i < 10; i++)
		step();
	CU_ASSERT_STRING_EQUAL(text, "ababa");
	CU_ASSERT_EQUAL(fx.gone, 2);
	unmake();
}

static void woken_ahead_a_wait_ends_at_once(void)
{
	struct reader r = { .given = 1 };

	if (!make(0))
		return;
	xk_ult_init(&r.t, fx.vp, note_gone);
	xk_ult_begin(&r.t, reader_body, &r);
	r.stop = true;
	while (!xk_ult_idle(&r.t)) {             /* as at the end of a graph */
		xk_ult_wake(&r.t);
		xk_ult_resume(&r.t);
	}
	CU_ASSERT_FALSE(xk_task_is_ready(&r.t.task));
	xk_ult_put(&r.t);
	unmake();
}

/* ---- stacks --------------------------------------------------------------------------------- */

static void thousands_of_threads_have_a_stack_each_in_few_mappings(void)
{
	unsigned n = (unsigned)xk_test_rounds(4000);
	struct xk_ult *t;
	struct xk_ult_stats st;
	struct probe p = { 0 };
	unsigned same = 0;

#if defined(__SANITIZE_THREAD__)
	n = 200;                                 /* the sanitizer's own threads are large */
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
	n = 200;
#endif
#endif
	if (!make(0))
		return;
	t = xk_alloc(n * sizeof *t);
	for (unsigned i = 0; i < n; i++) {
		xk_ult_init(&t[i], fx.vp, note_gone);
		xk_ult_call(&t[i], probe_unit, &p, 1);
	}
	CU_ASSERT_EQUAL(p.sum, n);
	for (unsigned i = 1; i < n; i++)
		same += t[i].stack == t[i - 1].stack;
	CU_ASSERT_EQUAL(same, 0);
	xk_ult_stats(fx.vp, &st);
	CU_ASSERT_EQUAL(st.stacks, n);
	CU_ASSERT_EQUAL(st.live, n);
	CU_ASSERT_EQUAL(st.stackless, 0);
	for (unsigned i = 0; i < n; i++)
		xk_ult_put(&t[i]);
	CU_ASSERT_EQUAL(fx.gone, n);
	xk_free(t);
	unmake();
}

/* Which memory fails does not matter: the unit runs, and is counted. */
static void without_memory_for_a_stack_a_unit_runs_on_the_callers(void)
{
	struct xk_ult t;
	struct probe p = { 0 };
	struct xk_ult_stats st;

	if (!make(0))
		return;
	xk_ult_init(&t, fx.vp, note_gone);
	xk_mem_fail_after(1);
	CU_ASSERT_EQUAL(xk_ult_call(&t, probe_unit, &p, 1), 2);
	CU_ASSERT_PTR_NULL(p.t);
	xk_mem_fail_after(1);
	CU_ASSERT_EQUAL(xk_ult_begin(&t, reader_body, &t), XK_E_NOMEM);
	xk_mem_fail_after(0);
	xk_ult_stats(fx.vp, &st);
	CU_ASSERT_EQUAL(st.stackless, 1);
	CU_ASSERT_EQUAL(xk_ult_call(&t, probe_unit, &p, 1), 2);
	CU_ASSERT_PTR_EQUAL(p.t, &t);
	xk_ult_put(&t);
	unmake();
}

static unsigned deep_unit(void *arg, unsigned n)
{
	struct xk_stack *s = ((struct xk_ult *)arg)->stack;

	*(volatile uint64_t *)(s->zone + n) = (uintptr_t)arg;    /* what a call leaves there */
	return n;
}

static void a_stack_that_was_too_small_is_found(void)
{
	struct xk_ult t;
	int status = 0;
	pid_t pid;

	if (!make(XK_STACK_MIN * 4))
		return;
	xk_ult_init(&t, fx.vp, note_gone);
	pid = fork();
	if (pid == 0) {
		close(2);
		for (unsigned i = 0; i < XK_STACK_ZONE; i++)
			xk_ult_call(&t, deep_unit, &t, XK_STACK_ZONE / 2);
		_exit(0);
	}
	CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
	CU_ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	xk_ult_put(&t);
	unmake();
}

static void kernel_threads_have_no_stack_to_choose_and_locks_no_user_threads(void)
{
	struct xk_arch a = *xk_arch_find("vppc");
	char why[256] = "";

	a.stack = XK_STACK_MIN;
	CU_ASSERT_EQUAL(xk_arch_check(&a, why, sizeof why), XK_E_INVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "threads = \"user\""));
	a.threads = XK_THREADS_USER;
	CU_ASSERT_EQUAL(xk_arch_check(&a, why, sizeof why), xk_fiber_available() ? XK_OK : XK_E_INVAL);
	a.entry = XK_ENTRY_LOCK;
	CU_ASSERT_EQUAL(xk_arch_check(&a, why, sizeof why), XK_E_INVAL);
}

static CU_TestInfo unit_tests[] = {
	{ "a unit runs to its end on the thread's stack", a_unit_runs_to_its_end_on_the_threads_stack },
	{ "what a unit causes at once runs where it is", what_a_unit_causes_at_once_runs_where_it_is },
	{ "a thread that loses its last reference while it runs goes when it stops",
	  a_thread_that_loses_its_last_reference_while_it_runs_goes_when_it_stops },
	{ "a thread at rest lends its stack", a_thread_at_rest_lends_its_stack },
	{ "an adopted task's turns run on its thread until it leaves",
	  an_adopted_tasks_turns_run_on_its_thread_until_it_leaves },
	CU_TEST_INFO_NULL
};
static CU_TestInfo body_tests[] = {
	{ "a body waits and units run above it", a_body_waits_and_units_run_above_it },
	{ "bodies that yield take turns", bodies_that_yield_take_turns },
	{ "woken ahead a wait ends at once", woken_ahead_a_wait_ends_at_once },
	CU_TEST_INFO_NULL
};
static CU_TestInfo stack_tests[] = {
	{ "thousands of threads have a stack each in few mappings",
	  thousands_of_threads_have_a_stack_each_in_few_mappings },
	{ "without memory for a stack a unit runs on the caller's",
	  without_memory_for_a_stack_a_unit_runs_on_the_callers },
	{ "a stack that was too small is found", a_stack_that_was_too_small_is_found },
	{ "kernel threads have no stack to choose, and locks no user threads",
	  kernel_threads_have_no_stack_to_choose_and_locks_no_user_threads },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "units", NULL, NULL, NULL, NULL, unit_tests },
	{ "bodies", NULL, NULL, NULL, NULL, body_tests },
	{ "stacks", NULL, NULL, NULL, NULL, stack_tests },
	CU_SUITE_INFO_NULL
};

int main(void) { return xk_test_main_rcu(suites); }

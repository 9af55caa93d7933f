/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_caller.c - promises of threads that wait in a call and run the virtual processor meanwhile (waiters `run`).
 *
 * Who waits runs what it waits for, one thread at a time; a call wakes nobody whose worker sleeps and knows of all that
 * is left, and wakes it where it does not: for a task, a timer, work, or a message that came as the thread left.
 *
 * But for the last test no worker runs: what it would do before it sleeps is done by the test, and
 * whether it was kicked is looked up.
 */
#include "tests/runtime/vp/vp_fixture.h"

#include <unistd.h>

#include "runtime/vp/vp_priv.h"
#include "tests/support/xk_test.h"

#define LONG (10 * XK_SEC)       /* what would wait for ever, fails */

static struct {
	struct xk_vp     *vp;
	struct xk_worker *w;
	struct xk_event  *event;
	struct xk_task    task;          /* polls, and has to ask */
	struct xk_call    call;
	unsigned          runs, until, asks, calls;
	bool              asked, work, calls_again, posts;
	bool              was_runner;
} me;

static void count_call(struct xk_vp *vp, void *arg)
{
	(void)vp;
	(void)arg;
	me.calls++;
}

/* Wakes who waits in its last run. */
static unsigned poll_run(struct xk_task *t, unsigned budget)
{
	(void)budget;
	me.asked = false;
	me.was_runner = me.vp->runner != 0;
	me.runs++;
	if (me.calls_again && me.runs == 1)
		xk_vp_call_async(t->vp, &me.call);
	if (me.until == 0 || me.runs != me.until)
		return 0;
	xk_event_wake(me.event);
	return 1;
}

static bool poll_asks(struct xk_task *t)
{
	me.asked = true;
	me.asks++;
	if (me.posts)
		xk_vp_call_async(t->vp, &me.call);
	me.posts = false;
	return !me.work;
}

static void poll_begin(struct xk_vp *vp, void *arg)
{
	(void)arg;
	xk_task_init(&me.task, vp, poll_run);
	me.task.fd = 0;
	xk_task_on_sleep(&me.task, poll_asks);
	xk_task_ready(&me.task);
}

static void nothing(struct xk_vp *vp, void *arg)
{
	(void)vp;
	(void)arg;
}

/* What its worker does when there is nothing to do. */
static void worker_falls_asleep(void)
{
	xk_store_relaxed(&me.w->any_kicked, 0u);
	(void)me.w->mode->visit(me.w, 0);
	me.w->mode->hold(me.vp);
	CU_ASSERT_FALSE(me.w->mode->blocked(me.vp));
	me.w->mode->release(me.vp);
	me.runs = me.asks = 0;
	me.asked = true;
}

static void up_with(uint32_t spin_us)
{
	struct xk_arch a = arch_of("caller", 1, 1);

	a.spin_us = spin_us;
	make(a);
	memset(&me, 0, sizeof me);
	me.vp = fx.set->vp[0];
	me.w = fx.set->worker[0];
	me.event = xk_guest_event();
	me.call = (struct xk_call){ .fn = count_call };
	xk_store_relaxed(&fx.set->running, 1u);
	xk_vp_do(me.vp, poll_begin, NULL);
	worker_falls_asleep();
}

static void down(void)
{
	xk_store_relaxed(&fx.set->running, 0u);
	unmake();
}

static void waits(uint64_t ns)
{
	xk_event_prepare(me.event);
	xk_vp_wait(me.vp, me.event, ns);
}

static bool kicked(void) { return xk_load_relaxed(&me.w->any_kicked) != 0; }

/* ---- a call -------------------------------------------------------------------------------- */

static void a_call_runs_what_it_made_and_wakes_nobody(void)
{
	up_with(20);
	for (unsigned i = 0; i < 100; i++)
		xk_vp_do(me.vp, nothing, NULL);
	CU_ASSERT_FALSE(kicked());
	CU_ASSERT_EQUAL(me.runs, 100);
	CU_ASSERT_EQUAL(me.asks, 100);
	CU_ASSERT_TRUE(me.asked);
	down();
}

static struct xk_task errand;
static unsigned errands;

static unsigned errand_run(struct xk_task *t, unsigned budget)
{
	(void)budget;
	errands++;
	xk_task_park(t);
	return 1;
}

static void an_errand(struct xk_vp *vp, void *arg)
{
	(void)vp;
	(void)arg;
	xk_task_ready(&errand);
}

/* Whichever task's turn it is: one that polls has nothing to do, and the other is not left to the worker. */
static void a_call_runs_each_task_that_it_made_ready(void)
{
	up_with(20);
	errands = 0;
	xk_task_init(&errand, me.vp, errand_run);
	for (unsigned i = 0; i < 100; i++) {
		xk_vp_do(me.vp, an_errand, NULL);
		CU_ASSERT_EQUAL(errands, i + 1);
		CU_ASSERT_FALSE(kicked());
		if (i % 3 == 0)
			xk_vp_do(me.vp, nothing, NULL);
	}
	down();
}

static struct conn more[2];
static struct xk_timer near_timer;

static unsigned drops_out(struct xk_task *t, unsigned budget)
{
	(void)t;
	(void)budget;
	return 0;
}
static void a_task(struct xk_vp *vp, void *arg)
{
	(void)arg;
	xk_task_init(&more[0].task, vp, drops_out);
	xk_task_ready(&more[0].task);
}
static void another_instead(struct xk_vp *vp, void *arg)
{
	(void)arg;
	xk_task_park(&more[0].task);
	xk_task_init(&more[1].task, vp, drops_out);
	xk_task_ready(&more[1].task);
}
static void never(struct xk_timer *t) { (void)t; }
static void a_timer(struct xk_vp *vp, void *arg)
{
	(void)arg;
	xk_timer_init(&near_timer, never);
	xk_timer_set(&vp->wheel, &near_timer, vp->now + 3600 * XK_SEC);
}
static void much(struct xk_vp *vp, void *arg)
{
	(void)arg;
	xk_task_park(&more[1].task);
	conn_start(&more[0], vp, 64 * fx.set->arch.burst);
}
static void work_to_ask_for(struct xk_vp *vp, void *arg)
{
	(void)vp;
	(void)arg;
	me.work = true;
}

static void the_worker_is_told_what_it_does_not_know(void)
{
	static const struct { void (*fn)(struct xk_vp *, void *); const char *what; } rows[] = {
		{ a_task, "a task" }, { another_instead, "another one in its place" }, { a_timer, "a timer" },
		{ much, "more than a call's units" }, { work_to_ask_for, "work that is found by asking" },
	};

	up_with(20);
	for (unsigned i = 0; i < XK_ARRAY_LEN(rows); i++) {
		worker_falls_asleep();
		xk_vp_do(me.vp, rows[i].fn, NULL);
		CU_ASSERT_TRUE(kicked());
		if (!kicked())
			printf("# %s\n", rows[i].what);
		me.work = false;
		worker_falls_asleep();
		xk_vp_do(me.vp, nothing, NULL);
		CU_ASSERT_FALSE(kicked());
	}
	down();
}

/* ---- waiting ------------------------------------------------------------------------------------- */

static void who_waits_runs_what_it_waits_for(void)
{
	uint64_t woken;

	up_with(10u * 1000 * 1000);
	me.until = 1000;
	me.calls_again = true;
	waits(LONG);
	CU_ASSERT(me.runs >= 1000);
	CU_ASSERT_TRUE(me.was_runner);
	CU_ASSERT_EQUAL(me.calls, 1);            /* a kick was nobody's but its own */
	CU_ASSERT_FALSE(kicked());
	CU_ASSERT_TRUE(me.asked);                /* and it is asked for its worker when it has gone */
	CU_ASSERT_EQUAL(me.vp->runner, 0);
	/* It woke itself without a system call. */
	CU_ASSERT(read(me.event->fd, &woken, sizeof woken) < 0);
	down();
}

/* It comes back soon, and if not, the worker does. */
static void who_has_it_has_nobody_asked_where_the_worker_looks_soon(void)
{
	const xk_ns later[] = { XK_MS, XK_SEC, XK_NS_NEVER };

	for (unsigned i = 0; i < 3; i++) {
		xk_ns now;

		up_with(20);
		me.until = 1;
		now = xk_clock_read(&fx.set->clock);
		xk_store_relaxed(&me.vp->worker_next, later[i] == XK_NS_NEVER ? later[i] : now + later[i]);
		waits(LONG);
		CU_ASSERT(me.runs >= 1);
		CU_ASSERT_EQUAL(me.asks, i == 0 ? 0 : 1);
		CU_ASSERT_FALSE(kicked());
		down();
	}
}

/* As long as being woken takes, at most eight times as long as a worker looks. */
static void who_slept_for_a_short_while_looks_longer(void)
{
	up_with(100000);                         /* what a busy machine adds is short beside it */
	for (unsigned i = 0; i < 6; i++) {
		me.vp->rested = i == 0 ? 0 : xk_clock_read(&fx.set->clock);
		waits(1);
		CU_ASSERT(me.vp->rested != 0);
		CU_ASSERT_EQUAL(me.vp->patience, i <= 3 ? i : 3);
	}
	xk_store_relaxed(&fx.set->arch.spin_us, 0u);     /* a sleep of any length is long */
	waits(1);
	CU_ASSERT_EQUAL(me.vp->patience, 0);
	me.until = me.runs + 1;
	waits(LONG);
	CU_ASSERT_EQUAL(me.vp->rested, 0);
	down();
}

static void what_comes_as_it_leaves_is_the_workers(void)
{
	up_with(10u * 1000 * 1000);
	me.until = 10;
	me.posts = true;
	waits(LONG);
	CU_ASSERT_EQUAL(me.calls, 0);
	CU_ASSERT_TRUE(kicked());
	down();
}

static void it_sleeps_when_there_is_nothing_and_when_its_time_is_over(void)
{
	up_with(0);
	waits(XK_MS);
	CU_ASSERT(me.runs > 0 && me.asked);
	down();
	up_with(3600u * 1000 * 1000);
	waits(XK_MS);
	CU_ASSERT(me.runs > 0 && me.asked);
	down();
}

static void one_thread_at_a_time_runs_it(void)
{
	up_with(20);
	me.vp->runner = 1;
	waits(XK_MS);
	CU_ASSERT_EQUAL(me.runs, 0);
	CU_ASSERT_EQUAL(me.vp->runner, 1);
	/* Nor does anybody where the graph does not run. */
	me.vp->runner = 0;
	xk_store_relaxed(&fx.set->running, 0u);
	waits(XK_MS);
	CU_ASSERT_EQUAL(me.runs, 0);
	xk_store_relaxed(&fx.set->running, 1u);
	me.vp->runner = 1;
	/* A call beside it runs what it made, and leaves the rest to it. */
	xk_vp_do(me.vp, a_task, NULL);
	CU_ASSERT_FALSE(kicked());
	me.vp->runner = 0;
	down();
}

static void the_worker_leaves_it_to_who_runs_it(void)
{
	up_with(20);
	me.vp->runner = 1;
	CU_ASSERT_EQUAL(me.w->mode->visit(me.w, 0), 0);
	CU_ASSERT_EQUAL(me.runs, 0);
	CU_ASSERT_EQUAL(me.w->ready[0], 0);
	CU_ASSERT_EQUAL(me.w->slot[0].next, XK_NS_NEVER);
	me.w->mode->hold(me.vp);
	CU_ASSERT_TRUE(me.w->mode->blocked(me.vp));      /* it does not sleep on its descriptors */
	me.w->mode->release(me.vp);
	me.vp->runner = 0;
	/* Who leaves it next kicks it. */
	me.until = 1;
	waits(LONG);
	CU_ASSERT_TRUE(kicked());
	down();
}

/* ---- with a worker ---------------------------------------------------------------------------------- */

static uint32_t posting;

/* A kick that is lost would be waited for an hour. */
static void posts(void *arg)
{
	struct xk_call c;

	(void)arg;
	for (unsigned long i = xk_test_rounds(4000); i > 0; i--) {
		c = (struct xk_call){ .fn = nothing, .done = xk_guest_call_event() };
		xk_vp_call_async(fx.set->vp[0], &c);
		while (!xk_load_acquire(&c.finished))
			xk_thread_yield();
	}
	xk_store_release(&posting, 0u);
}

static void far_timer_off(struct xk_vp *vp, void *arg)
{
	(void)arg;
	xk_timer_cancel(&vp->wheel, &near_timer);
}

static void no_kick_is_lost_between_threads_that_come_and_go(void)
{
	struct xk_errs *e = xk_errs_new();
	struct xk_event *mine = xk_guest_event();
	struct xk_thread *t;

	make(arch_of("caller", 1, 1));
	CU_ASSERT_EQUAL_FATAL(xk_vpset_start(fx.set, e), XK_OK);
	xk_vp_do(fx.set->vp[0], a_timer, NULL);
	posting = 1;
	CU_ASSERT_EQUAL_FATAL(xk_thread_new(&t, "posts", -1, posts, NULL), XK_OK);
	while (xk_load_acquire(&posting)) {
		xk_event_prepare(mine);
		xk_vp_wait(fx.set->vp[0], mine, 30 * XK_US);
	}
	xk_thread_join(t);
	xk_vp_do(fx.set->vp[0], far_timer_off, NULL);
	xk_vpset_stop(fx.set);
	unmake();
	xk_errs_free(e);
}

/* ---- what cannot be ------------------------------------------------------------------------------------ */

static void refused(struct xk_arch a, const char *word)
{
	char why[300] = "";

	a.waiters = XK_WAITERS_RUN;
	CU_ASSERT_NOT_EQUAL(xk_arch_check(&a, why, sizeof why), XK_OK);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, word));
}

static void combinations_that_cannot_work_are_refused(void)
{
	char why[300];
	struct xk_arch a = arch_of("connp_l", 4, 2);

	refused(arch_of("vppc", 4, 2), "entry \"lock\"");
	refused(arch_of("lp", 1, 0), "entry \"lock\"");
	refused(arch_of("msgp", 4, 2), "without io_threads");
	refused(arch_of("ips", 2, 2), "schedule must be");
	a.waiters = XK_WAITERS_RUN;
	CU_ASSERT_EQUAL(xk_arch_check(&a, why, sizeof why), XK_OK);
}

static CU_TestInfo tests[] = {
	{ "a call runs what it made and wakes nobody", a_call_runs_what_it_made_and_wakes_nobody },
	{ "a call runs each task that it made ready", a_call_runs_each_task_that_it_made_ready },
	{ "who has it has nobody asked where the worker looks soon", who_has_it_has_nobody_asked_where_the_worker_looks_soon },
	{ "who slept for a short while looks longer", who_slept_for_a_short_while_looks_longer },
	{ "the worker is told what it does not know", the_worker_is_told_what_it_does_not_know },
	{ "who waits runs what it waits for", who_waits_runs_what_it_waits_for },
	{ "what comes as it leaves is the worker's", what_comes_as_it_leaves_is_the_workers },
	{ "it sleeps when there is nothing and when its time is over",
	  it_sleeps_when_there_is_nothing_and_when_its_time_is_over },
	{ "one thread at a time runs it", one_thread_at_a_time_runs_it },
	{ "the worker leaves it to who runs it", the_worker_leaves_it_to_who_runs_it },
	{ "no kick is lost between threads that come and go", no_kick_is_lost_between_threads_that_come_and_go },
	{ "combinations that cannot work are refused", combinations_that_cannot_work_are_refused },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = { { "caller", NULL, NULL, NULL, NULL, tests }, CU_SUITE_INFO_NULL };

int main(void)
{
	xk_rcu_register();
	return xk_test_main(suites);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_vp_timers.c - what virtual processors promise of time: timers between units,
 * never early, and nobody sleeps past the next one.
 */
#include <fcntl.h>
#include <unistd.h>

#include "tests/runtime/vp/vp_fixture.h"
#include "tests/support/xk_test.h"

/* ---- timers -------------------------------------------------------------------------- */

static struct { struct xk_timer t; unsigned fired; bool in_task, overlapped; xk_ns at; } tm;

static void tm_fire(struct xk_timer *t)
{
	(void)t;
	tm.fired++;
	tm.overlapped |= tm.in_task;
	tm.at = xk_vp_now();
}

static void tm_task(struct conn *c)
{
	tm.in_task = true;
	if (c->done == 1)
		xk_timer_set(&c->task.vp->wheel, &tm.t, xk_vp_now() + 5 * XK_MS);
	tm.in_task = false;
}

static void timers_run_between_units_never_inside_one_and_never_early(void)
{
	struct conn c;
	struct xk_arch a = arch_of("up", 1, 1);

	a.schedule = XK_SCHED_VIRTUAL;
	a.burst = 1;
	make(a);
	memset(&tm, 0, sizeof tm);
	xk_timer_init(&tm.t, tm_fire);
	xk_vp_enter_idle(fx.set->vp[0]);
	conn_start(&c, fx.set->vp[0], 0);
	c.hook = tm_task;
	xk_vp_leave_idle(fx.set->vp[0]);
	CU_ASSERT_TRUE(xk_vpset_run_virtual(fx.set, 20 * XK_MS));
	CU_ASSERT_EQUAL(tm.fired, 1);
	CU_ASSERT_FALSE(tm.overlapped);
	CU_ASSERT_TRUE(tm.at >= 5 * XK_MS && tm.at <= 7 * XK_MS);
	unmake();
}

static void an_idle_virtual_graph_jumps_to_its_next_timer(void)
{
	struct xk_arch a = arch_of("up", 1, 1);

	a.schedule = XK_SCHED_VIRTUAL;
	make(a);
	memset(&tm, 0, sizeof tm);
	xk_timer_init(&tm.t, tm_fire);
	xk_vp_enter_idle(fx.set->vp[0]);
	xk_timer_set(&fx.set->vp[0]->wheel, &tm.t, 3600 * XK_SEC);
	xk_vp_leave_idle(fx.set->vp[0]);
	CU_ASSERT_FALSE(xk_vpset_run_virtual(fx.set, 10000 * XK_SEC));
	CU_ASSERT_EQUAL(tm.fired, 1);
	unmake();
}

static unsigned many_fired;

static void many_fire(struct xk_timer *t)
{
	(void)t;
	many_fired++;
}

static void more_timers_in_one_tick_than_a_unit_runs_all_fire(void)
{
	static struct xk_timer t[500];
	struct xk_arch a = arch_of("up", 1, 1);

	a.schedule = XK_SCHED_VIRTUAL;
	make(a);
	many_fired = 0;
	xk_vp_enter_idle(fx.set->vp[0]);
	for (unsigned i = 0; i < XK_ARRAY_LEN(t); i++) {
		xk_timer_init(&t[i], many_fire);
		xk_timer_set(&fx.set->vp[0]->wheel, &t[i], 3 * XK_MS);
	}
	xk_vp_leave_idle(fx.set->vp[0]);
	CU_ASSERT_FALSE(xk_vpset_run_virtual(fx.set, XK_SEC));
	CU_ASSERT_EQUAL(many_fired, XK_ARRAY_LEN(t));
	unmake();
}

static unsigned polls_run(struct xk_task *t, unsigned budget)
{
	(void)t;
	(void)budget;
	return 0;
}

static unsigned parks_run(struct xk_task *t, unsigned budget)
{
	(void)budget;
	xk_task_park(t);
	return 0;
}

/* A connection with 1000 messages beside five tasks that have nothing to do; `stay` of them are still ready in the end. */
static void beside_five(unsigned (*run)(struct xk_task *, unsigned), unsigned stay)
{
	struct xk_task idle[5];
	struct conn c;
	struct xk_arch a = arch_of("up", 1, 1);

	a.schedule = XK_SCHED_VIRTUAL;
	a.burst = 1;
	make(a);
	xk_vp_enter_idle(fx.set->vp[0]);
	for (unsigned i = 0; i < 5; i++) {
		xk_task_init(&idle[i], fx.set->vp[0], run);
		xk_task_ready(&idle[i]);
	}
	conn_start(&c, fx.set->vp[0], 1000);
	CU_ASSERT_EQUAL(fx.set->vp[0]->nready, 6);
	xk_vp_leave_idle(fx.set->vp[0]);
	CU_ASSERT_FALSE(xk_vpset_run_virtual(fx.set, XK_SEC));
	CU_ASSERT_EQUAL(c.done, 1000);
	CU_ASSERT_EQUAL(fx.set->vp[0]->nready, stay);
	unmake();
}

static void a_polling_task_does_not_make_a_busy_vp_look_idle(void) { beside_five(polls_run, 5); }
static void nor_do_tasks_that_park_with_nothing_done(void) { beside_five(parks_run, 0); }

static uint32_t fired_on_worker;

static void worker_fire(struct xk_timer *t)
{
	(void)t;
	xk_store_release(&fired_on_worker, 1);
}

static void arm(struct xk_vp *vp, void *arg)
{
	xk_timer_set(&vp->wheel, arg, vp->now + 2 * XK_MS);
}

static void a_sleeping_worker_wakes_for_a_timer(void)
{
	struct xk_timer t;
	struct xk_errs *e = xk_errs_new();

	make(arch_of("up", 1, 1));
	fired_on_worker = 0;
	xk_timer_init(&t, worker_fire);
	CU_ASSERT_EQUAL_FATAL(xk_vpset_start(fx.set, e), XK_OK);
	xk_vp_do(fx.set->vp[0], arm, &t);
	while (!xk_load_acquire(&fired_on_worker))
		xk_thread_yield();
	xk_vpset_stop(fx.set);
	unmake();
	xk_errs_free(e);
}

/* A worker that was held up: a byte came and a timer fell due while it did not run. */
static struct {
	struct xk_task  stall, device;
	struct xk_timer t;
	int             fd[2];
	uint32_t        read_at, fired_at, order, done;
} late;

static unsigned late_device(struct xk_task *t, unsigned budget)
{
	char b;

	(void)t;
	(void)budget;
	if (read(late.fd[0], &b, 1) != 1)
		return 0;
	late.read_at = ++late.order;
	return 1;
}

static void late_fire(struct xk_timer *t)
{
	(void)t;
	late.fired_at = ++late.order;
	xk_store_release(&late.done, 1);
}

static unsigned late_stall(struct xk_task *t, unsigned budget)
{
	struct xk_vp *vp = t->vp;
	xk_ns due = vp->now + 2 * XK_MS;

	(void)budget;
	CU_ASSERT_EQUAL(write(late.fd[1], "x", 1), 1);
	xk_timer_set(&vp->wheel, &late.t, due);
	while (xk_clock_read(&vp->set->clock) < due + 2 * XK_MS)
		;
	xk_task_park(t);
	return 0;
}

static void late_begin(struct xk_vp *vp, void *arg)
{
	(void)arg;
	xk_task_init(&late.stall, vp, late_stall);
	xk_task_init(&late.device, vp, late_device);
	late.device.fd = late.fd[0];
	xk_task_ready(&late.stall);
	xk_task_ready(&late.device);
}

static void late_end(struct xk_vp *vp, void *arg)
{
	(void)vp;
	(void)arg;
	xk_task_park(&late.device);
}

static void what_came_in_is_taken_before_a_timer_that_is_late(void)
{
	static const char *const presets[] = { "up", "vppc" };

	for (unsigned i = 0; i < XK_ARRAY_LEN(presets); i++) {
		struct xk_arch a = arch_of(presets[i], 1, 1);
		struct xk_errs *e = xk_errs_new();

		if (i == 1)
			a.entry = XK_ENTRY_LOCK;
		make(a);
		memset(&late, 0, sizeof late);
		xk_timer_init(&late.t, late_fire);
		CU_ASSERT_EQUAL_FATAL(pipe2(late.fd, O_NONBLOCK | O_CLOEXEC), 0);
		CU_ASSERT_EQUAL_FATAL(xk_vpset_start(fx.set, e), XK_OK);
		xk_vp_do(fx.set->vp[0], late_begin, NULL);
		while (!xk_load_acquire(&late.done))
			xk_thread_yield();
		xk_vp_do(fx.set->vp[0], late_end, NULL);
		xk_vpset_stop(fx.set);
		CU_ASSERT_EQUAL(late.read_at, 1);
		CU_ASSERT_EQUAL(late.fired_at, 2);
		close(late.fd[0]);
		close(late.fd[1]);
		unmake();
		xk_errs_free(e);
	}
}

static void time_inside_a_vp_never_goes_back(void)
{
	struct xk_arch a = arch_of("vppc", 1, 1);

	a.schedule = XK_SCHED_VIRTUAL;
	make(a);
	fx.set->vp[0]->now = 5 * XK_MS;
	xk_vp_enter_idle(fx.set->vp[0]);
	CU_ASSERT_EQUAL(xk_vp_now(), 5 * XK_MS);
	xk_vp_leave_idle(fx.set->vp[0]);
	xk_clock_advance(&fx.set->clock, 6 * XK_MS);
	xk_vp_enter_idle(fx.set->vp[0]);
	CU_ASSERT_EQUAL(xk_vp_now(), 6 * XK_MS);
	xk_vp_leave_idle(fx.set->vp[0]);
	unmake();
}

/* ---- a worker that sleeps until a far timer ------------------------------------------------ */

static struct { struct xk_timer far, near; uint32_t rang; } bell;

static void alarm_rings(struct xk_timer *t)
{
	xk_store_release(&bell.rang, t == &bell.near ? 1u : 2u);
}

static void alarm_far(struct xk_vp *vp, void *arg)
{
	(void)arg;
	xk_timer_init(&bell.far, alarm_rings);
	xk_timer_set(&vp->wheel, &bell.far, vp->now + 3600 * XK_SEC);
}

static void alarm_near(struct xk_vp *vp, void *arg)
{
	(void)arg;
	xk_timer_init(&bell.near, alarm_rings);
	xk_timer_set(&vp->wheel, &bell.near, vp->now + 2 * XK_MS);
}

static void alarm_off(struct xk_vp *vp, void *arg)
{
	(void)arg;
	xk_timer_cancel(&vp->wheel, &bell.far);
}

/* Whoever would not be woken would sleep for an hour. */
static void sleeper_is_woken(struct xk_arch a)
{
	struct xk_errs *e = xk_errs_new();
	struct xk_worker_stats st = { 0 };
	uint64_t slept;

	a.spin_us = 0;
	make(a);
	memset(&bell, 0, sizeof bell);
	CU_ASSERT_EQUAL_FATAL(xk_vpset_start(fx.set, e), XK_OK);
	xk_worker_stats(fx.set, 0, &st);
	slept = st.sleeps;
	xk_vp_do(fx.set->vp[0], alarm_far, NULL);
	for (; st.sleeps == slept; xk_worker_stats(fx.set, 0, &st))
		xk_thread_yield();
	xk_vp_do(fx.set->vp[0], alarm_near, NULL);
	while (xk_load_acquire(&bell.rang) == 0)
		xk_thread_yield();
	CU_ASSERT_EQUAL(bell.rang, 1);
	xk_vp_do(fx.set->vp[0], alarm_off, NULL);
	xk_vpset_stop(fx.set);
	unmake();
	xk_errs_free(e);
}

static void a_nearer_timer_armed_from_outside_wakes_whoever_sleeps_until_a_far_one(void)
{
	struct xk_arch locked = arch_of("vppc", 1, 1);

	locked.entry = XK_ENTRY_LOCK;
	sleeper_is_woken(arch_of("vppc", 1, 1));
	sleeper_is_woken(locked);
	sleeper_is_woken(arch_of("ips", 1, 1));
	sleeper_is_woken(arch_of("caller", 1, 1));
}

/* ---- a worker that naps ---------------------------------------------------------------------- */

static struct { struct xk_task task; int fd[2]; uint32_t runs; } drowsy;

/* Its descriptor is readable all the time. */
static unsigned drowsy_run(struct xk_task *t, unsigned budget)
{
	(void)t;
	(void)budget;
	xk_store_release(&drowsy.runs, drowsy.runs + 1);
	return 0;
}

static void drowsy_begin(struct xk_vp *vp, void *arg)
{
	(void)arg;
	xk_task_init(&drowsy.task, vp, drowsy_run);
	drowsy.task.fd = drowsy.fd[0];
	xk_task_ready(&drowsy.task);
}

static void drowsy_nap(struct xk_vp *vp, void *on)
{
	(void)vp;
	for (unsigned i = 0; i < 2; i++)         /* legal when so already */
		xk_task_nap(&drowsy.task, on != NULL ? 50 : 0);
}

static void drowsy_end(struct xk_vp *vp, void *arg)
{
	(void)vp;
	(void)arg;
	xk_task_park(&drowsy.task);
}

static void until_it_ran_again(void)
{
	uint32_t runs = xk_load_acquire(&drowsy.runs) + 100;

	while ((int32_t)(xk_load_acquire(&drowsy.runs) - runs) < 0)
		xk_thread_yield();
}

/* It may spin for an hour. */
static void who_naps_does_not_spin_but_looks_again(void)
{
	struct xk_arch a = arch_of("vppc", 1, 1);
	struct xk_errs *e = xk_errs_new();
	struct xk_worker_stats st = { 0 };
	uint64_t slept;

	a.spin_us = 3600u * 1000 * 1000;
	make(a);
	memset(&drowsy, 0, sizeof drowsy);
	CU_ASSERT_EQUAL_FATAL(pipe(drowsy.fd), 0);
	CU_ASSERT_EQUAL_FATAL(write(drowsy.fd[1], "x", 1), 1);
	CU_ASSERT_EQUAL_FATAL(xk_vpset_start(fx.set, e), XK_OK);
	xk_vp_do(fx.set->vp[0], drowsy_begin, NULL);
	until_it_ran_again();
	xk_worker_stats(fx.set, 0, &st);
	CU_ASSERT_EQUAL(st.sleeps, 0);
	xk_vp_do(fx.set->vp[0], drowsy_nap, &drowsy);
	until_it_ran_again();
	xk_worker_stats(fx.set, 0, &st);
	CU_ASSERT(st.sleeps >= 90);
	xk_vp_do(fx.set->vp[0], drowsy_nap, NULL);
	xk_worker_stats(fx.set, 0, &st);
	slept = st.sleeps;
	until_it_ran_again();
	xk_worker_stats(fx.set, 0, &st);
	CU_ASSERT_EQUAL(st.sleeps, slept);
	xk_vp_do(fx.set->vp[0], drowsy_end, NULL);
	xk_vpset_stop(fx.set);
	close(drowsy.fd[0]);
	close(drowsy.fd[1]);
	unmake();
	xk_errs_free(e);
}

static CU_TestInfo tests[] = {
	{ "who naps does not spin but looks again", who_naps_does_not_spin_but_looks_again },
	{ "a nearer timer armed from outside wakes whoever sleeps until a far one",
	  a_nearer_timer_armed_from_outside_wakes_whoever_sleeps_until_a_far_one },
	{ "time inside a VP never goes back", time_inside_a_vp_never_goes_back },
	{ "timers run between units, never inside one and never early", timers_run_between_units_never_inside_one_and_never_early },
	{ "an idle virtual graph jumps to its next timer", an_idle_virtual_graph_jumps_to_its_next_timer },
	{ "more timers in one tick than a unit runs all fire", more_timers_in_one_tick_than_a_unit_runs_all_fire },
	{ "a polling task does not make a busy VP look idle", a_polling_task_does_not_make_a_busy_vp_look_idle },
	{ "nor do tasks that park with nothing done", nor_do_tasks_that_park_with_nothing_done },
	{ "a sleeping worker wakes for a timer", a_sleeping_worker_wakes_for_a_timer },
	{ "what came in is taken before a timer that is late", what_came_in_is_taken_before_a_timer_that_is_late },
	CU_TEST_INFO_NULL
};

static CU_SuiteInfo suites[] = {
	{ "vp timers", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	xk_rcu_register();
	return xk_test_main(suites);
}

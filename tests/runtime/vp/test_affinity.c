/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_affinity.c - which worker runs a virtual processor, under schedule `fifo`.
 *
 * Promises: under every affinity, pick and queue everything that is left somewhere is done, by as many
 * workers as are asked for; wired streams never move; what moved is counted; a VP whose tasks know when they
 * have something to do rests until then, and its worker with it; one whose tasks have to ask who makes work is not
 * left without asking; without a quantum a stack is served until it is
 * empty; a run that was noted, played back
 * through the scheduling module alone, is decided in the same way, call by call.
 */
#include "tests/runtime/vp/vp_fixture.h"

#include <stdlib.h>

#include "runtime/sync/xk_fiber.h"
#include "runtime/vp/xk_machine.h"
#include "tests/support/xk_test.h"

static struct xk_affinity_counts counts(void)
{
	struct xk_affinity_counts c;

	xk_vpset_affinity(fx.set, &c);
	return c;
}

/* ---- calls that go round ---------------------------------------------------------------- */

#define ROUNDS 200u

static struct xk_affinity_counts all_is_done(struct xk_arch a)
{
	struct xk_affinity_counts c;
	char why[200];

	CU_ASSERT_EQUAL(xk_arch_check(&a, why, sizeof why), XK_OK);
	make(a);
	calls_go_round(ROUNDS);
	c = counts();
	CU_ASSERT(c.hits + c.moves >= ROUNDS);
	CU_ASSERT_EQUAL(c.starts, xk_hist_count(c.away));
	CU_ASSERT_EQUAL(c.starts, c.code_hits + c.code_moves);
	unmake();
	return c;
}

static void everything_is_done_under_every_affinity(void)
{
	static const enum xk_pick picks[] = { XK_PICK_MRU, XK_PICK_LRU, XK_PICK_LOW, XK_PICK_RANDOM };
	static const uint32_t depths[] = { XK_SCHED_WIRED, XK_SCHED_STEAL, 1, 3 };

	all_is_done(affine(8, 3, XK_AFFINITY_ANY));
	for (unsigned i = 0; i < XK_ARRAY_LEN(picks); i++) {
		struct xk_arch a = affine(8, 3, XK_AFFINITY_CODE);

		a.pick = picks[i];
		all_is_done(a);
	}
	for (unsigned i = 0; i < XK_ARRAY_LEN(depths); i++) {
		struct xk_arch a = affine(8, 3, XK_AFFINITY_STREAM);

		a.depth = depths[i];
		all_is_done(a);
	}
}

static void wired_streams_never_move(void)
{
	struct xk_affinity_counts c = all_is_done(affine(9, 4, XK_AFFINITY_STREAM));

	CU_ASSERT_EQUAL(c.moves, 0);
	CU_ASSERT(c.hits > 0);
}

/* Stacks that any worker may run do move, and are counted when they do: one worker cannot, three will. */
static void who_moves_is_counted(void)
{
	struct xk_affinity_counts c = all_is_done(affine(6, 1, XK_AFFINITY_CODE));

	CU_ASSERT_EQUAL(c.moves, 0);
	CU_ASSERT_EQUAL(c.code_moves, 1);        /* before its first start nobody had run any */
	for (unsigned tries = 0; tries < 1000 && c.moves == 0; tries++)
		c = all_is_done(affine(6, 3, XK_AFFINITY_NONE));
	CU_ASSERT(c.moves > 0);
	/* The one that has been idle longest did not run last, while there are others. */
	for (unsigned tries = 0; tries < 1000 && c.code_moves < 2; tries++)
		c = all_is_done(affine(6, 3, XK_AFFINITY_NONE));
	CU_ASSERT(c.code_moves > 1);
}

/* ---- more workers than a word has bits -------------------------------------------------------- */

static uint32_t called;

static void note_call(struct xk_vp *vp, void *arg)
{
	(void)vp;
	(void)arg;
	xk_atomic_add(&called, 1u);
}

static void more_than_64_workers_share_a_queue(void)
{
	struct xk_arch a = affine(100, 100, XK_AFFINITY_NONE);
	struct xk_mem_conf mem = { .limit = 64u << 20 };
	struct xk_errs *e = xk_errs_new();
	static struct xk_call call[100];
	struct xk_vpset *set;

	CU_ASSERT_EQUAL_FATAL(xk_vpset_new(&set, &a, &mem, e), XK_OK);
	CU_ASSERT_EQUAL(set->nworkers, 100);
	called = 0;
	CU_ASSERT_EQUAL_FATAL(xk_vpset_start(set, e), XK_OK);
	for (unsigned round = 1; round <= 20; round++) {
		for (unsigned i = 0; i < 100; i++) {
			call[i] = (struct xk_call){ .fn = note_call };
			xk_vp_call_async(set->vp[i], &call[i]);
		}
		while (xk_load_acquire(&called) != 100 * round)
			xk_thread_yield();
	}
	xk_vpset_stop(set);
	CU_ASSERT_EQUAL(xk_vpset_free(set), 0);
	xk_errs_free(e);
}

/* ---- what was decided --------------------------------------------------------------------------- */

#define NOTES 400000u
static struct { struct xk_sched_note n[NOTES]; unsigned count; } log_of;

static void keep(void *arg, const struct xk_sched_note *n)
{
	(void)arg;
	if (log_of.count < NOTES)
		log_of.n[log_of.count++] = *n;
}

/* ---- what is due ------------------------------------------------------------------------------- */

#define EACH (50 * XK_US)
#define TIMES 40u

/* Works, and again EACH after that, however late it was. */
struct clockwork {
	struct xk_task task;
	struct xk_due  due;
	uint32_t       done;
};
static struct clockwork works[MAX_VPS];
static uint32_t finished;

static unsigned tick(struct xk_task *t, unsigned budget)
{
	struct clockwork *k = xk_container_of(t, struct clockwork, task);
	xk_ns now = xk_vp_clock(t->vp);

	(void)budget;
	if (k->due.when > now)
		return 0;
	k->due.when = now + EACH;
	if (++k->done < TIMES)
		return 1;
	xk_due_remove(&k->due);
	xk_task_park(t);
	xk_atomic_add(&finished, 1u);
	return 1;
}

static void what_is_due_later_rests_until_then(struct xk_arch a)
{
	struct xk_errs *e = xk_errs_new();
	struct xk_sched_conf conf;
	unsigned polled = 0;

	make(a);
	finished = 0;
	log_of.count = 0;
	xk_vpset_note_sched(fx.set, keep, NULL, &conf);
	for (unsigned i = 0; i < fx.set->nvps; i++) {
		struct clockwork *k = &works[i];

		xk_vp_enter_idle(fx.set->vp[i]);
		*k = (struct clockwork){ .done = 0 };
		xk_task_init(&k->task, fx.set->vp[i], tick);
		xk_due_add(&k->due, &k->task);
		k->due.when = (i + 1) * XK_US;
		xk_task_ready(&k->task);
		xk_vp_leave_idle(fx.set->vp[i]);
	}
	CU_ASSERT_EQUAL_FATAL(xk_vpset_start(fx.set, e), XK_OK);
	while (xk_load_acquire(&finished) != fx.set->nvps)
		xk_thread_yield();
	xk_vpset_stop(fx.set);
	for (unsigned i = 0; i < fx.set->nvps; i++)
		CU_ASSERT_EQUAL(works[i].done, TIMES);
	for (unsigned i = 0; i < log_of.count; i++)
		polled += log_of.n[i].call == XK_CALL_DONE && log_of.n[i].left == XK_AFTER_POLLS;
	CU_ASSERT_EQUAL(polled, 0);
	CU_ASSERT(log_of.count > fx.set->nvps);
	xk_errs_free(e);
	unmake();
}

static void tasks_that_know_when_do_not_poll(void)
{
	what_is_due_later_rests_until_then(affine(12, 2, XK_AFFINITY_CODE));
	what_is_due_later_rests_until_then(affine(12, 2, XK_AFFINITY_STREAM));
	what_is_due_later_rests_until_then(affine(12, 2, XK_AFFINITY_ANY));
}

/* ---- work that a sleeper has to be told of ------------------------------------------------------ */

/* VP 1's task has to ask who makes work to tell it; VP 0 makes it, in the midst of a turn of TURN messages. */
#define TURN 100u
#define MADE 20u
#define BEGINS (5 * XK_MS)
static struct {
	struct xk_task  task;
	struct xk_timer begins;
	struct xk_call  ring;
	struct conn     maker;
	bool            asked, at_once;  /* it is told; work comes while it asks */
	xk_ns           made, seen;      /* 0: not yet */
} want;

static unsigned want_run(struct xk_task *t, unsigned budget)
{
	(void)budget;
	want.asked = false;
	if (want.made == 0 || want.seen != 0)
		return 0;
	want.seen = xk_vp_clock(t->vp);
	return 1;
}

static bool want_asks(struct xk_task *t)
{
	want.asked = true;
	if (want.at_once && want.made == 0 && xk_vp_clock(t->vp) >= BEGINS)
		want.made = xk_vp_clock(t->vp);
	return want.made == 0 || want.seen != 0;
}

static void want_hears(struct xk_vp *vp, void *arg)
{
	(void)vp;
	(void)arg;
}

static void makes(struct conn *c)
{
	if (c->done != MADE || want.made != 0)
		return;
	want.made = xk_vp_clock(c->task.vp);
	if (want.asked)
		xk_vp_call_async(fx.set->vp[1], &want.ring);
}

static void maker_begins(struct xk_timer *t)
{
	(void)t;
	conn_start(&want.maker, fx.set->vp[0], TURN);
	want.maker.hook = makes;
}

static void want_begin(void)
{
	xk_vp_enter_idle(fx.set->vp[1]);
	xk_task_init(&want.task, fx.set->vp[1], want_run);
	xk_task_nap(&want.task, XK_TASK_NAP_MAX);       /* whoever is not told looks in 50 ms */
	xk_task_on_sleep(&want.task, want_asks);
	xk_task_ready(&want.task);
	xk_vp_leave_idle(fx.set->vp[1]);
	xk_vp_enter_idle(fx.set->vp[0]);
	xk_timer_init(&want.begins, maker_begins);
	xk_timer_set(&fx.set->vp[0]->wheel, &want.begins, BEGINS);
	xk_vp_leave_idle(fx.set->vp[0]);
}

/* Of two workers the one that both VPs were last with is in a turn of 0.1 s; the other one, VP 1's home, sleeps. */
static void is_seen_soon(bool at_once)
{
	struct xk_arch a = affine(2, 2, XK_AFFINITY_ANY);
	struct xk_machine slow = xk_machine_flat;
	struct xk_errs *e = xk_errs_new();

	slow.message = XK_MS;
	a.pick = XK_PICK_MRU;
	a.processors = 2;
	a.machine = &slow;
	a.burst = 1;
	a.quantum = 0;
	make(a);
	memset(&want, 0, sizeof want);
	want.at_once = at_once;
	want.ring = (struct xk_call){ .fn = want_hears };
	want_begin();
	CU_ASSERT_EQUAL_FATAL(xk_vpset_start(fx.set, e), XK_OK);
	xk_vpset_run_virtual(fx.set, 2 * XK_SEC);
	xk_vpset_stop(fx.set);
	CU_ASSERT_EQUAL(want.maker.done, TURN);
	CU_ASSERT(want.made >= BEGINS && want.made < 30 * XK_MS);
	CU_ASSERT(want.seen >= want.made && want.seen - want.made <= 5 * XK_MS);
	xk_errs_free(e);
	unmake();
}

static void who_sleeps_is_told_though_others_had_its_vp_since(void)
{
	if (!xk_fiber_available())
		return;
	is_seen_soon(false);
	is_seen_soon(true);
}

/* ---- a run that is played back --------------------------------------------------------------------- */

/* What the module makes of the same call. */
static unsigned again(struct xk_sched *s, struct xk_sched_run *run, const struct xk_sched_note *n)
{
	struct xk_sched_run *r;

	switch (n->call) {
	case XK_CALL_ARRIVE: return xk_sched_arrive(s, &run[n->vp], n->now);
	case XK_CALL_DONE: return xk_sched_done(s, n->p, &run[n->vp], n->left, n->n, n->now);
	case XK_CALL_RELEASE: return xk_sched_release(s, n->p, n->now);
	case XK_CALL_NEXT: break;
	}
	r = xk_sched_next(s, n->p, n->now);
	return r != NULL ? (unsigned)(r - run) : XK_SCHED_NONE;
}

static void played_back(struct xk_arch a)
{
	struct xk_sched_run run[MAX_VPS];
	unsigned started = 0, differ = 0;
	struct xk_sched_conf conf;
	struct xk_sched *s;

	make(a);
	log_of.count = 0;
	xk_vpset_note_sched(fx.set, keep, NULL, &conf);
	calls_go_round(ROUNDS);
	for (unsigned i = 0; i < fx.set->nvps; i++)
		run[i] = (struct xk_sched_run){ .home = fx.set->vp[i]->run.home, .last = -1 };
	s = malloc(xk_sched_size(conf.nprocs));
	CU_ASSERT_EQUAL_FATAL(xk_sched_init(s, &conf), XK_OK);
	for (unsigned i = 0; i < log_of.count; i++) {
		const struct xk_sched_note *n = &log_of.n[i];

		differ += again(s, run, n) != (n->call == XK_CALL_NEXT ? n->vp : n->answer);
		started += n->call == XK_CALL_ARRIVE && n->answer != XK_SCHED_NONE;
	}
	CU_ASSERT_EQUAL(differ, 0);
	CU_ASSERT(log_of.count > ROUNDS && log_of.count < NOTES && started > 0);
	free(s);
	unmake();
}

static void a_run_played_back_is_decided_alike(void)
{
	struct xk_arch steals = affine(12, 4, XK_AFFINITY_STREAM), random = affine(12, 4, XK_AFFINITY_CODE);

	steals.depth = XK_SCHED_STEAL;
	random.pick = XK_PICK_RANDOM;
	played_back(affine(12, 4, XK_AFFINITY_CODE));
	played_back(affine(12, 4, XK_AFFINITY_NONE));
	played_back(affine(12, 4, XK_AFFINITY_STREAM));
	played_back(steals);
	played_back(random);
}

/* ---- how long a turn is ------------------------------------------------------------------------------ */

#define LONG 20000u
static struct { struct conn busy; uint64_t met_at; } line;

static void line_deliver(struct xk_vp *vp, struct xk_msg *m)
{
	CU_ASSERT_EQUAL(vp->no, 1);
	line.met_at = line.busy.done;
	xk_msg_free(m);
	xk_store_release(&fx.total, 1u);
}

/* The first unit leaves a message for the other VP. */
static void line_hook(struct conn *c)
{
	struct xk_msg *m;

	if (c->done > fx.set->arch.burst)
		return;
	m = xk_msg_new(64);
	CU_ASSERT_PTR_NOT_NULL_FATAL(m);
	xk_vp_post(fx.set->vp[1], m);
}

/* How much of one stack's work was done when the only worker came to the other one. */
static uint64_t met_after(unsigned quantum)
{
	struct xk_arch a = affine(2, 1, XK_AFFINITY_CODE);
	struct xk_errs *e = xk_errs_new();

	a.quantum = quantum;
	make(a);
	fx.set->deliver = line_deliver;
	xk_vp_enter_idle(fx.set->vp[0]);
	conn_start(&line.busy, fx.set->vp[0], LONG);
	line.busy.hook = line_hook;
	xk_vp_leave_idle(fx.set->vp[0]);
	CU_ASSERT_EQUAL_FATAL(xk_vpset_start(fx.set, e), XK_OK);
	while (xk_load_acquire(&fx.total) == 0)
		xk_thread_yield();
	xk_vpset_stop(fx.set);
	unmake();
	xk_errs_free(e);
	return line.met_at;
}

static void without_a_quantum_a_stack_is_served_until_it_is_empty(void)
{
	CU_ASSERT(met_after(64) < LONG / 2);
	CU_ASSERT(met_after(0) >= LONG);
}

/* Its worker goes on for ever, and stops when it is asked. */
static void a_stack_that_never_ends_can_be_stopped(void)
{
	struct xk_arch a = affine(2, 1, XK_AFFINITY_STREAM);
	struct xk_errs *e = xk_errs_new();
	struct conn c;

	a.quantum = 0;
	make(a);
	xk_vp_enter_idle(fx.set->vp[0]);
	conn_start(&c, fx.set->vp[0], 0);
	xk_vp_leave_idle(fx.set->vp[0]);
	for (unsigned i = 1; i <= 2; i++) {
		CU_ASSERT_EQUAL_FATAL(xk_vpset_start(fx.set, e), XK_OK);
		while (xk_counter_read(fx.set->vp[0]->messages) < i * LONG)
			xk_thread_yield();
		xk_vpset_stop(fx.set);
	}
	CU_ASSERT(c.done >= 2 * LONG);
	unmake();
	xk_errs_free(e);
}

/* ---- what is refused --------------------------------------------------------------------------------- */

static void refused(struct xk_arch a, const char *word)
{
	char why[256] = "";

	CU_ASSERT_EQUAL(xk_arch_check(&a, why, sizeof why), XK_E_INVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, word));
}

static void combinations_that_cannot_work_are_refused(void)
{
	struct xk_arch a = arch_of("ppc", 2, 2);

	a.affinity = XK_AFFINITY_CODE;
	refused(a, "schedule \"fifo\"");
	a = affine(2, 2, XK_AFFINITY_ANY);
	a.pick = XK_PICK_LRU;
	refused(a, "need an affinity");
	a = arch_of("connp_l", 2, 2);
	a.quantum = 0;
	refused(a, "schedule \"fifo\"");
	a = affine(2, 2, XK_AFFINITY_CODE);
	a.depth = 4;
	refused(a, "queue \"processor\"");
}

static CU_TestInfo tests[] = {
	{ "everything is done under every affinity", everything_is_done_under_every_affinity },
	{ "wired streams never move", wired_streams_never_move },
	{ "who moves is counted", who_moves_is_counted },
	{ "more than 64 workers share a queue", more_than_64_workers_share_a_queue },
	{ "tasks that know when do not poll", tasks_that_know_when_do_not_poll },
	{ "who sleeps is told though others had its VP since", who_sleeps_is_told_though_others_had_its_vp_since },
	{ "a run played back is decided alike", a_run_played_back_is_decided_alike },
	{ "without a quantum a stack is served until it is empty", without_a_quantum_a_stack_is_served_until_it_is_empty },
	{ "a stack that never ends can be stopped", a_stack_that_never_ends_can_be_stopped },
	{ "combinations that cannot work are refused", combinations_that_cannot_work_are_refused },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = { { "affinity", NULL, NULL, NULL, NULL, tests }, CU_SUITE_INFO_NULL };

int main(void)
{
	xk_rcu_register();
	return xk_test_main(suites);
}

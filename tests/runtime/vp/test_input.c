/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_input.c - what comes in among what goes out: when tasks of input have their turns, and how many.
 *
 * Promises: input is taken after a burst of what others made, of messages or of frames; neither side starves the
 * other; what a unit made does not pile up.
 */
#include "tests/runtime/vp/vp_fixture.h"
#include "tests/support/xk_test.h"

/* ---- turns ------------------------------------------------------------------------------ */

static void conn_start_input(struct conn *c, struct xk_vp *vp)
{
	conn_start(c, vp, 0);
	xk_task_park(&c->task);
	xk_task_input(&c->task, NULL);
	xk_task_ready(&c->task);
}

/* A queue that is nearly empty: it says less than its budget, and counts the turn as a whole one. */
static unsigned run_nearly(struct xk_task *t, unsigned budget)
{
	struct conn *c = xk_container_of(t, struct conn, task);

	c->done += budget;
	if (c->hook != NULL)
		c->hook(c);
	return budget - 1;
}

/* Two that pass on what is queued and five that make more: a queue's turns, so many, come after
 * each whole unit of the five, not after all five, and neither side starves the other. */
static void input_after_units(unsigned budget, bool nearly, unsigned turns)
{
	struct conn c[5], in[2];
	struct xk_vp *vp;
	struct xk_arch a = arch_of("vppc", 1, 1);

	a.schedule = XK_SCHED_VIRTUAL;
	a.burst = budget;
	make(a);
	vp = fx.set->vp[0];
	xk_vp_enter_idle(vp);
	for (unsigned i = 0; i < 5; i++)
		conn_start(&c[i], vp, 0);
	for (unsigned i = 0; i < 2; i++) {
		conn_start_input(&in[i], vp);
		in[i].task.run = nearly ? run_nearly : in[i].task.run;
	}
	xk_vp_leave_idle(vp);
	for (uint64_t units = 1; units <= 7 * (1 + 2 * turns); units++) {
		uint64_t others = 0;

		xk_vpset_step(fx.set);
		for (unsigned i = 0; i < 5; i++)
			others += c[i].done / budget;
		CU_ASSERT_FATAL(others + (in[0].done + in[1].done) / budget == units);
		CU_ASSERT_FATAL(others == (units + 2 * turns) / (1 + 2 * turns));
		CU_ASSERT(in[1].done <= in[0].done && in[0].done <= in[1].done + budget);
		CU_ASSERT(c[4].done <= c[0].done && c[0].done <= c[4].done + budget);
	}
	xk_vp_enter_idle(vp);
	for (unsigned i = 0; i < 5; i++)
		xk_task_park(&c[i].task);
	xk_vp_leave_idle(vp);
	for (unsigned i = 0; i < 6; i++)
		xk_vpset_step(fx.set);
	CU_ASSERT_EQUAL(in[0].done + in[1].done, (7 * 2 * turns + 6) * budget);
	xk_vp_enter_idle(vp);
	xk_task_park(&in[0].task);
	xk_task_park(&in[1].task);
	CU_ASSERT(vp->ninput == 0 && vp->nready == 0);
	xk_vp_leave_idle(vp);
	unmake();
}

static void input_is_taken_after_each_unit_of_others(void)
{
	input_after_units(8, true, 2);
	input_after_units(32, true, 2);
}

static void input_that_never_ends_does_not_starve_others(void)
{
	static const unsigned budget[] = { 1, 8, 32, 256, 512, 1024 };

	for (unsigned i = 0; i < XK_ARRAY_LEN(budget); i++) {
		unsigned turns = XK_INPUT_MOST / 2 / budget[i];

		input_after_units(budget[i], false, turns > 2 ? turns : 2);
	}
}

static void step_often(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		xk_vpset_step(fx.set);
}

/* ---- input of more than two turns ------------------------------------------------------- */

/* A wire: `in` takes off what `c` puts on, and answers half of it to `back`. */
static struct { struct conn c[9], in, back; uint32_t wire, answers, most, made, says; } long_writes;

static unsigned wire_take(struct xk_task *t, uint32_t *queue, unsigned budget)
{
	unsigned n = *queue < budget ? *queue : budget;

	*queue -= n;
	if (*queue == 0)
		xk_task_park(t);
	return n;
}

static unsigned run_wire(struct xk_task *t, unsigned budget)
{
	unsigned n = wire_take(t, &long_writes.wire, budget);

	long_writes.answers += (n + 1) / 2;
	xk_task_ready(&long_writes.back.task);
	return n;
}

static unsigned run_answers(struct xk_task *t, unsigned budget)
{
	return wire_take(t, &long_writes.answers, budget);
}

/* A unit of long messages. */
static unsigned run_writes(struct xk_task *t, unsigned budget)
{
	(void)t, (void)budget;
	if (long_writes.wire > long_writes.most)
		long_writes.most = long_writes.wire;
	long_writes.wire += long_writes.made;
	xk_task_ready(&long_writes.in.task);
	return long_writes.says;
}

/* Nine of units of `says` messages, which make `made` frames, over a wire that tells how many wait there, or does not. */
static void writes_begin(unsigned says, unsigned made, bool told)
{
	struct xk_arch a = arch_of("vppc", 1, 1);
	struct xk_vp *vp;

	memset(&long_writes, 0, sizeof long_writes);
	long_writes.says = says;
	long_writes.made = made;
	a.schedule = XK_SCHED_VIRTUAL;
	a.burst = 32;
	make(a);
	vp = fx.set->vp[0];
	xk_vp_enter_idle(vp);
	for (unsigned i = 0; i < 9; i++) {
		conn_start(&long_writes.c[i], vp, 0);
		long_writes.c[i].task.run = run_writes;
	}
	xk_task_init(&long_writes.in.task, vp, run_wire);
	xk_task_init(&long_writes.back.task, vp, run_answers);
	xk_task_input(&long_writes.in.task, told ? &long_writes.wire : NULL);
	xk_task_input(&long_writes.back.task, told ? &long_writes.answers : NULL);
	xk_vp_leave_idle(vp);
}

static void writes_end(void)
{
	struct xk_vp *vp = fx.set->vp[0];

	xk_vp_enter_idle(vp);
	for (unsigned i = 0; i < 9; i++)
		xk_task_park(&long_writes.c[i].task);
	xk_task_park(&long_writes.in.task);
	xk_task_park(&long_writes.back.task);
	xk_vp_leave_idle(vp);
	unmake();
}

/* What a unit made is taken in before the next one's, where it is no more than a window. */
static void what_long_writes_made_does_not_pile_up(void)
{
	static const unsigned made[] = { 1, 64, 65, 96, 180, 500 };

	for (unsigned k = 0; k < XK_ARRAY_LEN(made); k++) {
		writes_begin(32, made[k], k % 2 == 0);
		step_often(1000);
		CU_ASSERT_EQUAL(long_writes.most, 0);
		writes_end();
	}
}

/* A unit of one message that is many frames: input waits for a burst of those, where the wire tells of them, and
 * not for a burst of messages. */
static void input_waits_for_no_more_than_a_burst_of_frames(void)
{
	static const struct { unsigned made; bool told; unsigned most; } how[] = {
		{ 1, true, 31 }, { 2, true, 30 }, { 16, true, 16 }, { 31, true, 31 }, { 32, true, 0 }, { 64, true, 0 },
		{ 500, true, 0 }, { 1, false, 31 }, { 16, false, 31 * 16 },
	};

	for (unsigned k = 0; k < XK_ARRAY_LEN(how); k++) {
		writes_begin(1, how[k].made, how[k].told);
		step_often(1000);
		CU_ASSERT_EQUAL(long_writes.most, how[k].most);
		writes_end();
	}
}

/* Beside the wire there is one that always has, and says, as much. */
static void either_of_two_inputs_presses(void)
{
	static const struct { uint32_t other; unsigned most; } how[] = { { 0, 16 }, { 31, 16 }, { 32, 0 }, { 1000, 0 } };
	struct conn other;

	for (unsigned k = 0; k < XK_ARRAY_LEN(how); k++) {
		writes_begin(1, 16, true);
		xk_vp_enter_idle(fx.set->vp[0]);
		conn_start(&other, fx.set->vp[0], 0);
		xk_task_park(&other.task);
		other.task.run = run_nearly;
		xk_task_input(&other.task, &how[k].other);
		xk_task_ready(&other.task);
		xk_vp_leave_idle(fx.set->vp[0]);
		step_often(1000);
		CU_ASSERT_EQUAL(long_writes.most, how[k].most);
		CU_ASSERT(other.done != 0);
		xk_vp_enter_idle(fx.set->vp[0]);
		xk_task_park(&other.task);
		xk_task_no_input(&other.task);
		CU_ASSERT(!other.task.input && other.task.sleeps == NULL);
		xk_vp_leave_idle(fx.set->vp[0]);
		writes_end();
	}
}

/* ---- input among units of less than a budget ------------------------------------------ */

static struct { struct conn c[9], in; struct xk_vp *vp; unsigned made, most; uint64_t last; } gap;

/* As many messages as gap.made says. */
static unsigned run_small(struct xk_task *t, unsigned budget)
{
	struct conn *c = xk_container_of(t, struct conn, task);

	(void)budget;
	c->done += gap.made;
	if (c->limit != 0 && c->done >= c->limit)
		xk_task_park(t);
	return gap.made;
}

static uint64_t others_done(void)
{
	uint64_t n = fx.delivered[0];

	for (unsigned i = 0; i < 9; i++)
		n += gap.c[i].done;
	return n;
}

/* Notes what others did between its turns. */
static void input_hook(struct conn *in)
{
	unsigned since = (unsigned)(others_done() - gap.last);

	(void)in;
	gap.last += since;
	gap.most = since > gap.most ? since : gap.most;
}

/* Nine tasks that make so many messages a unit, each up to limit, and one that takes them in. */
static void gap_begin_several(unsigned budget, unsigned made, unsigned several, uint64_t limit)
{
	struct xk_arch a = arch_of("vppc", 1, 1);

	memset(&gap, 0, sizeof gap);
	a.schedule = XK_SCHED_VIRTUAL;
	a.burst = budget;
	make(a);
	gap.vp = fx.set->vp[0];
	gap.made = made;
	xk_vp_enter_idle(gap.vp);
	for (unsigned i = 0; i < 9; i++) {
		conn_start(&gap.c[i], gap.vp, limit);
		gap.c[i].task.run = run_small;
		gap.c[i].task.several = (uint8_t)several;
	}
	conn_start_input(&gap.in, gap.vp);
	gap.in.task.run = run_nearly;
	gap.in.hook = input_hook;
	xk_vp_leave_idle(gap.vp);
}

static void gap_begin(unsigned budget, unsigned made, uint64_t limit)
{
	gap_begin_several(budget, made, 0, limit);
}

static void gap_end(void)
{
	xk_vp_enter_idle(gap.vp);
	for (unsigned i = 0; i < 9; i++)
		xk_task_park(&gap.c[i].task);
	xk_task_park(&gap.in.task);
	xk_vp_leave_idle(gap.vp);
	unmake();
}

/* Units of one: a burst gathers, and no more than a unit's budget waits. */
static void input_waits_for_a_budget_of_others(void)
{
	static const struct { unsigned budget, made, most, turns; } how[] = {
		{ 8, 1, 8, 16 }, { 8, 3, 9, 14 }, { 8, 7, 14, 16 }, { 8, 8, 8, 2 }, { 1, 1, 1, 2 }, { 32, 1, 32, 64 },
	};
	uint64_t turns, due;

	for (unsigned k = 0; k < XK_ARRAY_LEN(how); k++) {
		gap_begin(how[k].budget, how[k].made, 0);
		step_often(1000);
		CU_ASSERT_EQUAL(gap.most, how[k].most);
		/* Two turns for each unit, and never before. */
		turns = gap.in.done / how[k].budget;
		due = how[k].turns * (others_done() / how[k].most);
		CU_ASSERT(turns <= due && due <= turns + how[k].turns);
		gap_end();
	}
}

/* Short messages are counted as the frames that they make: a unit of them is one at least. */
static void input_waits_longer_for_short_messages(void)
{
	static const struct { unsigned budget, made, several, most; } how[] = {
		{ 8, 1, 2, 8 }, { 8, 8, 2, 32 }, { 8, 7, 2, 28 }, { 8, 5, 2, 20 }, { 8, 8, 4, 64 }, { 1, 1, 4, 1 }, { 8, 4, 0, 8 },
	};

	for (unsigned k = 0; k < XK_ARRAY_LEN(how); k++) {
		gap_begin_several(how[k].budget, how[k].made, how[k].several, 0);
		step_often(1000);
		CU_ASSERT_EQUAL(gap.most, how[k].most);
		CU_ASSERT(gap.in.done != 0);
		gap_end();
	}
}

/* Who does nothing is not waited for.  Who has parked may wait for what comes in, and is not either when all have. */
static void input_is_taken_when_others_rest(void)
{
	gap_begin(8, 0, 0);
	step_often(300);
	CU_ASSERT_EQUAL(gap.in.done, 200 * 8);
	gap_end();
	gap_begin(8, 1, 1);
	step_often(8 + 16 + 1 + 2);
	CU_ASSERT_EQUAL(others_done(), 9);
	CU_ASSERT_EQUAL(gap.in.done, (16 + 2) * 8);
	CU_ASSERT_EQUAL(gap.most, 8);
	gap_end();
	gap_begin(32, 1, 1);
	step_often(9 + 1);
	CU_ASSERT_EQUAL(gap.in.done, 32);
	CU_ASSERT_EQUAL(gap.most, 9);
	gap_end();
}

/* What others left here counts like what is made here. */
static void input_waits_no_longer_for_what_others_left(void)
{
	gap_begin(8, 1, 0);
	for (unsigned i = 0; i < 300; i++) {
		xk_vp_enter_idle(gap.vp);
		for (unsigned k = 0; k < 3; k++)
			xk_vp_post(gap.vp, xk_msg_new(64));
		xk_vp_leave_idle(gap.vp);
		xk_vpset_step(fx.set);
	}
	CU_ASSERT_EQUAL(fx.delivered[0], 900);
	CU_ASSERT(gap.most > 8 && gap.most <= 8 + 2 * 3);
	gap_end();
}

static CU_TestInfo tests[] = {
	{ "input is taken after each unit of others", input_is_taken_after_each_unit_of_others },
	{ "input that never ends does not starve others", input_that_never_ends_does_not_starve_others },
	{ "what long writes made does not pile up", what_long_writes_made_does_not_pile_up },
	{ "input waits for no more than a burst of frames", input_waits_for_no_more_than_a_burst_of_frames },
	{ "either of two inputs presses", either_of_two_inputs_presses },
	{ "input waits for a budget of others", input_waits_for_a_budget_of_others },
	{ "input waits longer for short messages", input_waits_longer_for_short_messages },
	{ "input is taken when others rest", input_is_taken_when_others_rest },
	{ "input waits no longer for what others left", input_waits_no_longer_for_what_others_left },
	CU_TEST_INFO_NULL
};

static CU_SuiteInfo suites[] = {
	{ "input", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	xk_rcu_register();
	return xk_test_main(suites);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_timer.c - holds the timer wheel to its promises: never early, never more
 * than a tick late, cheap while nothing is due, safe against its own handlers.
 */
#include "runtime/base/xk_rand.h"
#include "runtime/vp/xk_wheel.h"
#include "tests/support/xk_test.h"

#include <stdlib.h>

#define TICK wheel.length
#define DAY  (UINT64_C(86400) * XK_SEC)

struct probe {
	struct xk_timer t;
	unsigned        fired;
	uint64_t        at;         /* tick of the wheel when it last fired */
};

static struct xk_wheel wheel;
static struct probe probe[8];

static void probe_fire(struct xk_timer *t)
{
	struct probe *p = xk_container_of(t, struct probe, t);

	p->fired++;
	p->at = wheel.tick;
}

static void begin(xk_ns length)
{
	xk_wheel_init(&wheel, 0, length);
	for (unsigned i = 0; i < XK_ARRAY_LEN(probe); i++) {
		probe[i] = (struct probe){ .fired = 0 };
		xk_timer_init(&probe[i].t, probe_fire);
	}
	CU_ASSERT_EQUAL_FATAL(wheel.armed, 0);
}

static void setup(void) { begin(0); }

static void teardown(void)
{
	unsigned linked = 0;

	for (unsigned l = 0; l < XK_WHEEL_LEVELS; l++)
		for (unsigned i = 0; i < 1u << XK_WHEEL_BITS; i++)
			linked += wheel.slot[l][i] != NULL || (wheel.used[l][i / 64] >> i % 64 & 1);
	CU_ASSERT_EQUAL(linked, 0);
	CU_ASSERT_EQUAL(wheel.armed, 0);
}

static void an_empty_wheel_wants_nothing(void)
{
	CU_ASSERT_EQUAL(xk_wheel_next(&wheel), XK_NS_NEVER);
	CU_ASSERT_EQUAL(xk_wheel_run(&wheel, 1000 * DAY, 100), 0);
	CU_ASSERT_EQUAL(wheel.tick, 1000 * DAY / TICK);
	CU_ASSERT_EQUAL(wheel.slots, 0);
	CU_ASSERT_FALSE(xk_timer_armed(&probe[0].t));
	xk_timer_cancel(&wheel, &probe[0].t);
}

static void a_timer_runs_at_the_first_tick_at_or_after_its_deadline(void)
{
	xk_timer_set(&wheel, &probe[0].t, 5 * TICK);
	xk_timer_set(&wheel, &probe[1].t, 5 * TICK + 1);
	xk_timer_set(&wheel, &probe[2].t, 300 * TICK - 1);
	CU_ASSERT_TRUE(xk_timer_armed(&probe[0].t));
	CU_ASSERT_EQUAL(xk_wheel_next(&wheel), 5 * TICK);
	CU_ASSERT_EQUAL(xk_wheel_run(&wheel, 5 * TICK - 1, 100), 0);
	CU_ASSERT_EQUAL(xk_wheel_run(&wheel, 5 * TICK, 100), 1);
	CU_ASSERT_EQUAL(probe[0].fired, 1);
	CU_ASSERT_EQUAL(xk_wheel_run(&wheel, 6 * TICK - 1, 100), 0);
	CU_ASSERT_EQUAL(xk_wheel_run(&wheel, 6 * TICK, 100), 1);
	CU_ASSERT_EQUAL(probe[1].fired, 1);
	CU_ASSERT_EQUAL(xk_wheel_run(&wheel, 299 * TICK, 100), 0);
	CU_ASSERT_EQUAL(xk_wheel_run(&wheel, 300 * TICK, 100), 1);
	CU_ASSERT_EQUAL(probe[2].fired, 1);
}

static void a_deadline_that_has_passed_runs_at_the_next_tick(void)
{
	xk_wheel_run(&wheel, 1000 * TICK, 100);
	xk_timer_set(&wheel, &probe[0].t, 3);
	CU_ASSERT_EQUAL(xk_wheel_next(&wheel), 1001 * TICK);
	CU_ASSERT_EQUAL(xk_wheel_run(&wheel, 1000 * TICK, 100), 0);
	CU_ASSERT_EQUAL(xk_wheel_run(&wheel, 1001 * TICK, 100), 1);
}

static void re_arming_later_leaves_the_wheel_alone_until_the_old_slot_comes_up(void)
{
	struct xk_timer **place;

	xk_timer_set(&wheel, &probe[0].t, 10 * TICK);
	place = probe[0].t.pprev;
	for (unsigned i = 11; i <= 100; i++)
		xk_timer_set(&wheel, &probe[0].t, i * TICK);
	CU_ASSERT_PTR_EQUAL(probe[0].t.pprev, place);
	CU_ASSERT_EQUAL(wheel.armed, 1);
	CU_ASSERT_EQUAL(xk_wheel_run(&wheel, 99 * TICK, 100), 0);
	CU_ASSERT_EQUAL(wheel.lazy, 1);
	CU_ASSERT_EQUAL(xk_wheel_run(&wheel, 100 * TICK, 100), 1);
	CU_ASSERT_EQUAL(probe[0].fired, 1);
}

static void re_arming_earlier_runs_earlier(void)
{
	xk_timer_set(&wheel, &probe[0].t, 70000 * TICK);
	xk_timer_set(&wheel, &probe[0].t, 300 * TICK);
	xk_timer_set(&wheel, &probe[0].t, 3 * TICK);
	CU_ASSERT_EQUAL(wheel.armed, 1);
	CU_ASSERT_EQUAL(xk_wheel_next(&wheel), 3 * TICK);
	CU_ASSERT_EQUAL(xk_wheel_run(&wheel, 3 * TICK, 100), 1);
	CU_ASSERT_EQUAL(xk_wheel_run(&wheel, DAY, 100), 0);
}

static void a_cancelled_timer_never_runs(void)
{
	xk_timer_set(&wheel, &probe[0].t, 3 * TICK);
	xk_timer_set(&wheel, &probe[1].t, 3 * TICK);
	xk_timer_set(&wheel, &probe[2].t, 3 * TICK);
	xk_timer_cancel(&wheel, &probe[1].t);
	xk_timer_set(&wheel, &probe[2].t, XK_NS_NEVER);
	CU_ASSERT_FALSE(xk_timer_armed(&probe[1].t));
	CU_ASSERT_FALSE(xk_timer_armed(&probe[2].t));
	CU_ASSERT_EQUAL(xk_wheel_run(&wheel, DAY, 100), 1);
	CU_ASSERT_EQUAL(probe[0].fired, 1);
	xk_timer_set(&wheel, &probe[1].t, XK_NS_NEVER);
	CU_ASSERT_EQUAL(wheel.armed, 0);
}

static void rearm_past(struct xk_timer *t)
{
	probe_fire(t);
	if (xk_container_of(t, struct probe, t)->fired < 3)
		xk_timer_set(&wheel, t, 0);
}

static void a_handler_that_re_arms_into_the_past_runs_once_a_tick(void)
{
	probe[0].t.fn = rearm_past;
	xk_timer_set(&wheel, &probe[0].t, 3 * TICK);
	CU_ASSERT_EQUAL(xk_wheel_run(&wheel, 3 * TICK, 100), 1);
	CU_ASSERT_EQUAL(xk_wheel_run(&wheel, 4 * TICK, 100), 1);
	CU_ASSERT_EQUAL(xk_wheel_run(&wheel, 9 * TICK, 100), 1);
	CU_ASSERT_EQUAL(probe[0].at, 5);
}

static struct probe *victim[3];

static void free_all(struct xk_timer *t)
{
	(void)t;
	for (unsigned i = 0; i < XK_ARRAY_LEN(victim); i++) {
		xk_timer_cancel(&wheel, &victim[i]->t);
		free(victim[i]);
	}
}

static void a_handler_may_free_itself_and_its_neighbours(void)
{
	for (unsigned i = 0; i < XK_ARRAY_LEN(victim); i++) {
		victim[i] = calloc(1, sizeof(*victim[i]));
		CU_ASSERT_PTR_NOT_NULL_FATAL(victim[i]);
		xk_timer_init(&victim[i]->t, free_all);
		xk_timer_set(&wheel, &victim[i]->t, 300 * TICK);
	}
	xk_timer_set(&wheel, &probe[0].t, 300 * TICK);
	CU_ASSERT_EQUAL(xk_wheel_run(&wheel, 300 * TICK, 100), 2);
	CU_ASSERT_EQUAL(probe[0].fired, 1);
}

static void a_run_stops_at_its_limit_and_the_rest_stay_due(void)
{
	for (unsigned i = 0; i < 5; i++)
		xk_timer_set(&wheel, &probe[i].t, 7 * TICK);
	xk_timer_set(&wheel, &probe[5].t, 8 * TICK);
	CU_ASSERT_EQUAL(xk_wheel_run(&wheel, 100 * TICK, 0), 0);
	CU_ASSERT_EQUAL(xk_wheel_run(&wheel, 100 * TICK, 2), 2);
	CU_ASSERT_TRUE(xk_wheel_next(&wheel) <= 100 * TICK);
	CU_ASSERT_EQUAL(xk_wheel_run(&wheel, 100 * TICK, 2), 2);
	CU_ASSERT_EQUAL(probe[5].fired, 0);
	CU_ASSERT_EQUAL(xk_wheel_run(&wheel, 100 * TICK, 2), 2);
	CU_ASSERT_EQUAL(probe[5].fired, 1);
	CU_ASSERT_EQUAL(xk_wheel_run(&wheel, 100 * TICK, 2), 0);
	CU_ASSERT_EQUAL(xk_wheel_next(&wheel), XK_NS_NEVER);
}

static void days_of_idling_are_skipped_not_counted(void)
{
	xk_timer_set(&wheel, &probe[0].t, 40 * DAY + 5);
	CU_ASSERT_EQUAL(xk_wheel_run(&wheel, 40 * DAY, 100), 0);
	CU_ASSERT_EQUAL(xk_wheel_run(&wheel, 41 * DAY, 100), 1);
	CU_ASSERT_EQUAL(probe[0].at, 40 * DAY / TICK + 1);
	CU_ASSERT_TRUE(wheel.slots <= XK_WHEEL_LEVELS);
}

static void a_deadline_beyond_the_horizon_is_kept(void)
{
	uint64_t far[] = { (UINT64_C(1) << 32) - 1, UINT64_C(1) << 32, (UINT64_C(1) << 32) + 77,
			   (UINT64_C(3) << 32) + 5, UINT64_C(1) << 40 };

	xk_wheel_run(&wheel, ((UINT64_C(1) << 32) - 3) * TICK, 1);
	for (unsigned i = 0; i < XK_ARRAY_LEN(far); i++)
		xk_timer_set(&wheel, &probe[i].t, far[i] * TICK - 1);
	for (unsigned i = 0; i < XK_ARRAY_LEN(far); i++) {
		xk_wheel_run(&wheel, (far[i] - 1) * TICK, 100);
		CU_ASSERT_EQUAL(probe[i].fired, 0);
		xk_wheel_run(&wheel, far[i] * TICK, 100);
		CU_ASSERT_EQUAL(probe[i].fired, 1);
	}
	/* 2^40 ticks are 256 turns of the wheel: a move for each, no more. */
	CU_ASSERT_TRUE(wheel.lazy < 600);
}

static void bare_fire(struct xk_timer *t)
{
	(void)t;
}

static void a_million_armed_timers_cost_only_when_they_move_or_run(void)
{
	unsigned n = 1000000, ran = 0;
	struct xk_timer *t = calloc(n, sizeof(*t));
	struct xk_rand r;

	CU_ASSERT_PTR_NOT_NULL_FATAL(t);
	xk_rand_init(&r, 1, 2);
	for (unsigned i = 0; i < n; i++) {
		xk_timer_init(&t[i], bare_fire);
		xk_timer_set(&wheel, &t[i], (70000 + xk_rand_below(&r, 1000000)) * TICK);
	}
	/* A minute of ticks: nothing comes near. */
	for (unsigned i = 1; i <= 65000; i++)
		xk_wheel_run(&wheel, i * TICK, 100);
	CU_ASSERT_EQUAL(wheel.slots + wheel.lazy + wheel.fired, 0);
	while (wheel.armed > 0)
		ran += xk_wheel_run(&wheel, xk_wheel_next(&wheel), n);
	CU_ASSERT_EQUAL(ran, n);
	/* Each timer moves at most twice on its way down from the third level. */
	CU_ASSERT_TRUE(wheel.lazy <= 2 * (uint64_t)n);
	free(t);
}

static void moves_between_slots_are_limited_like_handlers(void)
{
	unsigned n = 100000, runs = 0, ran = 0;
	struct xk_timer *t = calloc(n, sizeof(*t));
	xk_counter before;

	CU_ASSERT_PTR_NOT_NULL_FATAL(t);
	for (unsigned i = 0; i < n; i++) {
		xk_timer_init(&t[i], bare_fire);
		xk_timer_set(&wheel, &t[i], 300 * TICK);
		xk_timer_set(&wheel, &t[i], 700 * TICK);
	}
	do {
		before = wheel.lazy;
		ran += xk_wheel_run(&wheel, 400 * TICK, 10);
		CU_ASSERT_TRUE_FATAL(wheel.lazy - before <= 640);
		runs++;
	} while (xk_wheel_next(&wheel) <= 400 * TICK);
	CU_ASSERT_EQUAL(ran, 0);
	CU_ASSERT_TRUE(runs >= n / 640);
	for (unsigned i = 0; i < n; i++)
		xk_timer_cancel(&wheel, &t[i]);
	free(t);
}

/* ---- against a model --------------------------------------------------------- */

#define MODEL 64u
/* What ought to happen: a list sorted by when a timer may run at the latest. */
struct model {
	struct xk_timer *t;         /* its own heap block: a late touch shows */
	bool             armed;
	xk_ns            deadline;
	uint64_t         latest;    /* tick */
};
static struct model model[MODEL], *sorted[MODEL];
static unsigned nsorted, bad, operations = 300000;
static struct xk_rand dice;

static void model_drop(struct model *m)
{
	unsigned i = 0;

	if (!m->armed)
		return;
	m->armed = false;
	while (sorted[i] != m)
		i++;
	for (nsorted--; i < nsorted; i++)
		sorted[i] = sorted[i + 1];
}

static void model_arm(struct model *m, xk_ns deadline)
{
	uint64_t due = deadline / TICK + (deadline % TICK != 0);
	unsigned i;

	model_drop(m);
	m->armed = true;
	m->deadline = deadline;
	m->latest = due > wheel.tick ? due : wheel.tick + 1;
	for (i = nsorted++; i > 0 && sorted[i - 1]->latest > m->latest; i--)
		sorted[i] = sorted[i - 1];
	sorted[i] = m;
}

static xk_ns random_deadline(void)
{
	xk_ns now = wheel.tick * TICK;

	switch (xk_rand_below(&dice, 8)) {
	case 0: return now - xk_rand_below(&dice, now + 1);
	case 1: return now + xk_rand_below(&dice, 100 * DAY);
	case 2: return now + xk_rand_below(&dice, 5 * DAY);
	case 3: return now + xk_rand_below(&dice, 100 * XK_SEC);
	case 4: return (now / (256 * TICK) + 1) * 256 * TICK;
	case 5: return (now / (65536 * TICK) + 1) * 65536 * TICK - xk_rand_below(&dice, 3);
	default: return now + xk_rand_below(&dice, XK_SEC);
	}
}

static void model_fire(struct xk_timer *t);

static void random_change(struct model *m)
{
	xk_ns d;

	switch (xk_rand_below(&dice, 6)) {
	case 0:
		model_drop(m);
		xk_timer_cancel(&wheel, m->t);
		break;
	case 1:
		model_drop(m);
		xk_timer_set(&wheel, m->t, XK_NS_NEVER);
		break;
	case 2:
		model_drop(m);
		xk_timer_cancel(&wheel, m->t);
		free(m->t);
		m->t = malloc(sizeof(*m->t));
		CU_ASSERT_PTR_NOT_NULL_FATAL(m->t);
		xk_timer_init(m->t, model_fire);
		break;
	default:
		d = random_deadline();
		model_arm(m, d);
		xk_timer_set(&wheel, m->t, d);
	}
	bad += xk_timer_armed(m->t) != m->armed;
}

static void model_fire(struct xk_timer *t)
{
	struct model *m = model;

	while (m < model + MODEL && m->t != t)
		m++;
	CU_ASSERT_TRUE_FATAL(m < model + MODEL);
	bad += !m->armed || wheel.tick * TICK < m->deadline || wheel.tick > m->latest;
	model_drop(m);
	for (uint64_t n = xk_rand_below(&dice, 3); n > 0; n--)
		random_change(n == 2 ? m : &model[xk_rand_below(&dice, MODEL)]);
}

static void random_run(xk_ns *now)
{
	unsigned max = (unsigned)xk_rand_below(&dice, 20);
	xk_ns next = xk_wheel_next(&wheel);

	bad += nsorted > 0 && next > sorted[0]->latest * TICK;
	if (xk_rand_below(&dice, 4) == 0 && next != XK_NS_NEVER && next > *now)
		*now = next;
	else
		*now += xk_rand_below(&dice, 200) == 0 ? xk_rand_below(&dice, 60 * DAY) :
			xk_rand_below(&dice, 400 * TICK);
	bad += xk_wheel_run(&wheel, *now, max) > max;
	if (xk_wheel_next(&wheel) > *now)
		bad += nsorted > 0 && sorted[0]->latest <= *now / TICK;
}

static void random_operations_agree_with_a_sorted_list(void)
{
	xk_ns now = 0;

	xk_rand_init(&dice, 42, 0);
	nsorted = bad = 0;
	for (unsigned i = 0; i < MODEL; i++) {
		model[i] = (struct model){ .t = malloc(sizeof(struct xk_timer)) };
		CU_ASSERT_PTR_NOT_NULL_FATAL(model[i].t);
		xk_timer_init(model[i].t, model_fire);
	}
	for (unsigned op = 0; op < operations && bad == 0; op++)
		if (xk_rand_below(&dice, 3) == 0)
			random_run(&now);
		else
			random_change(&model[xk_rand_below(&dice, MODEL)]);
	CU_ASSERT_EQUAL(bad, 0);
	CU_ASSERT_TRUE(wheel.fired > operations / 30);
	for (unsigned i = 0; i < MODEL; i++) {
		xk_timer_cancel(&wheel, model[i].t);
		free(model[i].t);
	}
}

/* ---- ticks of other lengths ----------------------------------------------------- */

static const xk_ns lengths[] = {
	XK_WHEEL_TICK_MIN, 1001, 1024, 16000, 65536, 65537, 999983, XK_WHEEL_TICK, 1048577, XK_WHEEL_TICK_MAX,
};

static void a_tick_of_any_length_keeps_the_promises(void)
{
	operations = 30000;
	for (unsigned i = 0; i < XK_ARRAY_LEN(lengths); i++) {
		begin(lengths[i]);
		CU_ASSERT_EQUAL(wheel.length, lengths[i]);
		a_timer_runs_at_the_first_tick_at_or_after_its_deadline();
		begin(lengths[i]);
		random_operations_agree_with_a_sorted_list();
		teardown();
	}
	operations = 300000;
}

static void a_tick_begins_exactly_at_its_time(void)
{
	unsigned wrong = 0;

	xk_rand_init(&dice, 7, 0);
	for (unsigned i = 0; i < XK_ARRAY_LEN(lengths); i++)
		for (unsigned k = 0; k < 20000; k++) {
			uint64_t n = xk_rand_below(&dice, (UINT64_C(1) << (24 + k % 40)) / lengths[i]) + 1;

			if (n * lengths[i] > INT64_MAX)
				n = INT64_MAX / lengths[i];
			xk_wheel_init(&wheel, n * lengths[i], lengths[i]);
			wrong += wheel.tick != n;
			xk_wheel_init(&wheel, n * lengths[i] - 1, lengths[i]);
			wrong += wheel.tick != n - 1;
		}
	CU_ASSERT_EQUAL(wrong, 0);
	setup();
}

static CU_TestInfo tests[] = {
	{ "an empty wheel wants nothing", an_empty_wheel_wants_nothing },
	{ "a timer runs at the first tick at or after its deadline", a_timer_runs_at_the_first_tick_at_or_after_its_deadline },
	{ "a deadline that has passed runs at the next tick", a_deadline_that_has_passed_runs_at_the_next_tick },
	{ "re-arming later leaves the wheel alone until the old slot comes up", re_arming_later_leaves_the_wheel_alone_until_the_old_slot_comes_up },
	{ "re-arming earlier runs earlier", re_arming_earlier_runs_earlier },
	{ "a cancelled timer never runs", a_cancelled_timer_never_runs },
	{ "a handler that re-arms into the past runs once a tick", a_handler_that_re_arms_into_the_past_runs_once_a_tick },
	{ "a handler may free itself and its neighbours", a_handler_may_free_itself_and_its_neighbours },
	{ "a run stops at its limit and the rest stay due", a_run_stops_at_its_limit_and_the_rest_stay_due },
	{ "days of idling are skipped, not counted", days_of_idling_are_skipped_not_counted },
	{ "a deadline beyond the horizon is kept", a_deadline_beyond_the_horizon_is_kept },
	{ "a million armed timers cost only when they move or run", a_million_armed_timers_cost_only_when_they_move_or_run },
	{ "moves between slots are limited like handlers", moves_between_slots_are_limited_like_handlers },
	{ "random operations agree with a sorted list", random_operations_agree_with_a_sorted_list },
	{ "a tick of any length keeps the promises", a_tick_of_any_length_keeps_the_promises },
	{ "a tick begins exactly at its time", a_tick_begins_exactly_at_its_time },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "timer", NULL, NULL, setup, teardown, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return xk_test_main(suites);
}

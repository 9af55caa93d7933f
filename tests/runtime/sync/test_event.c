/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_event.c - no wake-up is lost, and none costs a system call for nothing.
 *
 * All waits are without limit: a lost wake-up hangs, and the alarm then kills
 * the program, which TAP reports as a missing plan.
 */
#include "runtime/base/xk_clock.h"
#include "runtime/sync/xk_sync.h"
#include "tests/support/xk_test.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define ROUNDS 100000u

static int start_alarm(void)
{
	alarm(300);
	return 0;
}

static int stop_alarm(void)
{
	alarm(0);
	return 0;
}

/* Until *word has value, by the book: prepare, look again, wait. */
static void wait_for(struct xk_event *e, const uint32_t *word, uint32_t value)
{
	while (xk_load_acquire(word) != value) {
		xk_event_prepare(e);
		if (xk_load_acquire(word) == value) {
			xk_event_cancel(e);
			return;
		}
		xk_event_wait(e, XK_NS_NEVER, NULL, 0);
	}
}

struct table { struct xk_event side[2]; uint32_t turn; uint64_t played; };

static void play(struct table *t, uint32_t me)
{
	unsigned i;

	for (i = 0; i < ROUNDS; i++) {
		wait_for(&t->side[me], &t->turn, me);
		t->played++;
		xk_store_release(&t->turn, 1 - me);
		xk_event_wake(&t->side[1 - me]);
	}
}

static void play_black(void *p)
{
	play(p, 1);
}

static void ping_pong_loses_no_wake_up(void)
{
	struct table t = { .turn = 0 };
	struct xk_thread *black;

	CU_ASSERT_EQUAL_FATAL(xk_event_init(&t.side[0]), XK_OK);
	CU_ASSERT_EQUAL_FATAL(xk_event_init(&t.side[1]), XK_OK);
	CU_ASSERT_EQUAL_FATAL(xk_thread_new(&black, "black", -1, play_black, &t), XK_OK);
	play(&t, 0);
	xk_thread_join(black);
	CU_ASSERT_EQUAL(t.played, 2 * ROUNDS);
	xk_event_fini(&t.side[0]);
	xk_event_fini(&t.side[1]);
}

/* ---- what a wait costs --------------------------------------------------------- */

#define SLEEPS 20
struct sleeper { struct xk_event e; uint32_t woken, tid; uint64_t switches; };

static void sleep_often(void *p)
{
	struct sleeper *s = p;
	struct rusage before, after;

	xk_store_release(&s->tid, (uint32_t)gettid());
	getrusage(RUSAGE_THREAD, &before);
	for (uint32_t i = 1; i <= SLEEPS; i++)
		wait_for(&s->e, &s->woken, i);
	getrusage(RUSAGE_THREAD, &after);
	s->switches = (uint64_t)(after.ru_nvcsw - before.ru_nvcsw);
}

/* The kernel says that the thread sleeps. */
static bool sleeps(uint32_t tid)
{
	char path[64], state = 0;
	FILE *f;

	snprintf(path, sizeof path, "/proc/self/task/%u/stat", tid);
	f = fopen(path, "r");
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	CU_ASSERT_EQUAL(fscanf(f, "%*d (%*[^)]) %c", &state), 1);
	fclose(f);
	return state == 'S';
}

static void a_wait_gives_the_processor_away_once(void)
{
	struct sleeper s = { .woken = 0 };
	struct xk_thread *t;

	CU_ASSERT_EQUAL_FATAL(xk_event_init(&s.e), XK_OK);
	CU_ASSERT_EQUAL_FATAL(xk_thread_new(&t, "sleeper", -1, sleep_often, &s), XK_OK);
	while (xk_load_acquire(&s.tid) == 0)
		sched_yield();
	for (uint32_t i = 1; i <= SLEEPS; i++) {
		while (!sleeps(s.tid))
			sched_yield();
		xk_store_release(&s.woken, i);
		xk_event_wake(&s.e);
	}
	xk_thread_join(t);
	/* Page faults may add a few; whoever runs this thread for us has switches of its own. */
	if (getenv("XK_TEST_SLOW") == NULL)
		CU_ASSERT(s.switches >= SLEEPS && s.switches <= SLEEPS + SLEEPS / 4);
	xk_event_fini(&s.e);
}

#define WAKERS 4
#define WAKES 25000u
struct crowd { struct xk_event e; uint32_t given; };

static void give(void *p)
{
	struct crowd *c = p;
	unsigned i;

	for (i = 0; i < WAKES; i++) {
		xk_atomic_add(&c->given, 1u);
		xk_event_wake(&c->e);
	}
}

static void one_waiter_hears_all_wakers(void)
{
	struct crowd c = { .given = 0 };
	struct xk_thread *t[WAKERS];
	unsigned i;

	CU_ASSERT_EQUAL_FATAL(xk_event_init(&c.e), XK_OK);
	for (i = 0; i < WAKERS; i++)
		CU_ASSERT_EQUAL_FATAL(xk_thread_new(&t[i], "waker", -1, give, &c), XK_OK);
	wait_for(&c.e, &c.given, WAKERS * WAKES);
	for (i = 0; i < WAKERS; i++)
		xk_thread_join(t[i]);
	CU_ASSERT_EQUAL(c.given, WAKERS * WAKES);
	xk_event_fini(&c.e);
}

/* Was the eventfd written?  Takes it back. */
static bool written(struct xk_event *e)
{
	uint64_t n;

	return read(e->fd, &n, sizeof n) == (ssize_t)sizeof n;
}

static void waking_nobody_makes_no_system_call(void)
{
	struct xk_event e;

	CU_ASSERT_EQUAL_FATAL(xk_event_init(&e), XK_OK);
	xk_event_wake(&e);
	xk_event_wake(&e);
	CU_ASSERT_FALSE(written(&e));
	xk_event_prepare(&e);
	xk_event_cancel(&e);
	xk_event_wake(&e);
	CU_ASSERT_FALSE(written(&e));
	xk_event_fini(&e);
}

static void a_prepared_waiter_is_written_to_once(void)
{
	struct xk_event e;
	uint64_t n = 0;

	CU_ASSERT_EQUAL_FATAL(xk_event_init(&e), XK_OK);
	xk_event_prepare(&e);
	xk_event_wake(&e);
	xk_event_wake(&e);
	CU_ASSERT_EQUAL(read(e.fd, &n, sizeof n), sizeof n);
	CU_ASSERT_EQUAL(n, 1);
	CU_ASSERT_EQUAL(read(e.fd, &n, sizeof n), -1);
	CU_ASSERT_EQUAL(errno, EAGAIN);
	xk_event_fini(&e);
}

static void a_wake_before_the_wait_is_kept_for_it(void)
{
	struct xk_event e;

	CU_ASSERT_EQUAL_FATAL(xk_event_init(&e), XK_OK);
	xk_event_wake(&e);
	xk_event_prepare(&e);
	xk_event_wait(&e, XK_NS_NEVER, NULL, 0);     /* returns */
	xk_event_prepare(&e);
	xk_event_wake(&e);
	xk_event_wait(&e, XK_NS_NEVER, NULL, 0);     /* returns */
	/* A cancel does not swallow it either. */
	xk_event_prepare(&e);
	xk_event_wake(&e);
	xk_event_cancel(&e);
	CU_ASSERT_EQUAL(e.state, 2);
	xk_event_prepare(&e);
	xk_event_wait(&e, XK_NS_NEVER, NULL, 0);     /* returns */
	/* And each was consumed: the next wait is ended by its limit only. */
	while (written(&e))
		;
	xk_event_prepare(&e);
	CU_ASSERT_EQUAL(e.state, 1);
	xk_event_wait(&e, 1, NULL, 0);
	CU_ASSERT_EQUAL(e.state, 0);
	xk_event_fini(&e);
}

static void a_readable_descriptor_ends_the_wait(void)
{
	struct xk_event e;
	int p[2], fds[3];

	CU_ASSERT_EQUAL_FATAL(xk_event_init(&e), XK_OK);
	CU_ASSERT_EQUAL_FATAL(pipe(p), 0);
	fds[0] = e.fd;
	fds[1] = p[0];
	fds[2] = -1;                                  /* ignored, as poll does */
	CU_ASSERT_EQUAL(write(p[1], "x", 1), 1);
	xk_event_prepare(&e);
	xk_event_wait(&e, XK_NS_NEVER, fds, 3);       /* returns */
	CU_ASSERT_EQUAL(e.state, 0);
	close(p[0]);
	close(p[1]);
	xk_event_fini(&e);
}

static CU_TestInfo tests[] = {
	{ "ping_pong_loses_no_wake_up", ping_pong_loses_no_wake_up },
	{ "a_wait_gives_the_processor_away_once", a_wait_gives_the_processor_away_once },
	{ "one_waiter_hears_all_wakers", one_waiter_hears_all_wakers },
	{ "waking_nobody_makes_no_system_call", waking_nobody_makes_no_system_call },
	{ "a_prepared_waiter_is_written_to_once", a_prepared_waiter_is_written_to_once },
	{ "a_wake_before_the_wait_is_kept_for_it", a_wake_before_the_wait_is_kept_for_it },
	{ "a_readable_descriptor_ends_the_wait", a_readable_descriptor_ends_the_wait },
	CU_TEST_INFO_NULL
};

static CU_SuiteInfo suites[] = {
	{ "event", start_alarm, stop_alarm, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_thread.c - threads start named, pinned and without signals, or not at all.
 */
#include "runtime/sync/xk_sync.h"
#include "tests/support/xk_test.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/xk_clock.h"

struct seen {
	char name[16];
	cpu_set_t cpus;
	sigset_t blocked;
	int rc;
	uint64_t mask;
	int pin;
};

static void look(void *p)
{
	struct seen *s = p;

	pthread_getname_np(pthread_self(), s->name, sizeof s->name);
	sched_getaffinity(0, sizeof s->cpus, &s->cpus);
	pthread_sigmask(SIG_BLOCK, NULL, &s->blocked);
}

static void run(struct seen *s, const char *name, int cpu, void (*fn)(void *))
{
	struct xk_thread *t;

	CU_ASSERT_EQUAL_FATAL(xk_thread_new(&t, name, cpu, fn, s), XK_OK);
	CU_ASSERT_PTR_NOT_NULL(t);
	xk_thread_join(t);
}

/* Some processor that we may use; not always number 0. */
static int a_cpu(void)
{
	cpu_set_t set;
	int i;

	sched_getaffinity(0, sizeof set, &set);
	for (i = 0; !CPU_ISSET(i, &set); i++)
		;
	return i;
}

static void a_name_is_cut_at_fifteen_bytes(void)
{
	struct seen s;

	run(&s, "short", -1, look);
	CU_ASSERT_STRING_EQUAL(s.name, "short");
	run(&s, "a name that is too long", -1, look);
	CU_ASSERT_STRING_EQUAL(s.name, "a name that is ");
}

static void a_pinned_thread_has_one_processor(void)
{
	struct seen s;

	run(&s, "pinned", a_cpu(), look);
	CU_ASSERT_EQUAL(CPU_COUNT(&s.cpus), 1);
	CU_ASSERT(CPU_ISSET(a_cpu(), &s.cpus));
}

static void a_processor_that_is_not_there_is_refused(void)
{
	static const int absent[] = { CPU_SETSIZE - 1, CPU_SETSIZE, 1 << 30 };
	struct xk_thread *t;
	struct seen s;
	size_t i;

	for (i = 0; i < XK_ARRAY_LEN(absent); i++) {
		t = (struct xk_thread *)&s;
		CU_ASSERT_EQUAL(xk_thread_new(&t, "nowhere", absent[i], look, &s), XK_E_INVAL);
		CU_ASSERT_PTR_NULL(t);
		CU_ASSERT_EQUAL(xk_thread_pin(absent[i]), XK_E_INVAL);
	}
	CU_ASSERT_EQUAL(xk_thread_pin(-1), XK_E_INVAL);
	CU_ASSERT_EQUAL(xk_thread_affinity(0), XK_E_INVAL);
}

static void signals_are_left_to_the_main_thread(void)
{
	sigset_t mine, after;
	struct seen s;

	pthread_sigmask(SIG_BLOCK, NULL, &mine);
	run(&s, "deaf", -1, look);
	CU_ASSERT_TRUE(sigismember(&s.blocked, SIGINT));
	CU_ASSERT_TRUE(sigismember(&s.blocked, SIGTERM));
	CU_ASSERT_FALSE(sigismember(&s.blocked, SIGSEGV));
	CU_ASSERT_FALSE(sigismember(&s.blocked, SIGABRT));
	pthread_sigmask(SIG_BLOCK, NULL, &after);
	CU_ASSERT_EQUAL(sigismember(&after, SIGINT), sigismember(&mine, SIGINT));
}

static void restrict_and_look(void *p)
{
	struct seen *s = p;

	s->rc = s->pin >= 0 ? xk_thread_pin(s->pin) : xk_thread_affinity(s->mask);
	look(s);
}

static void a_thread_can_restrict_itself(void)
{
	struct seen s = { .pin = a_cpu() };

	if (a_cpu() > 63) {
		xk_test_skip("no processor below 64 to run on");
		return;
	}
	run(&s, "pin", -1, restrict_and_look);
	CU_ASSERT_EQUAL(s.rc, XK_OK);
	CU_ASSERT_EQUAL(CPU_COUNT(&s.cpus), 1);
	s.pin = -1;
	s.mask = UINT64_C(1) << a_cpu();
	run(&s, "mask", -1, restrict_and_look);
	CU_ASSERT_EQUAL(s.rc, XK_OK);
	CU_ASSERT_EQUAL(CPU_COUNT(&s.cpus), 1);
	CU_ASSERT(CPU_ISSET(a_cpu(), &s.cpus));
}

static void *a_guest(void *p)
{
	struct xk_event *e = xk_guest_event();

	*(bool *)p = e != NULL && xk_guest_event() == e && xk_guest_call_event() != NULL && xk_guest_call_event() != e;
	if (e == NULL)
		return NULL;
	xk_rcu_read_lock();              /* aborts in the debug build unless registered */
	xk_rcu_read_unlock();
	xk_event_wake(e);
	xk_event_prepare(e);
	xk_event_wait(e, XK_NS_NEVER, NULL, 0);
	return NULL;
}

/* The lowest descriptor that is free. */
static int lowest(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

static void a_thread_that_others_made_gets_an_event_and_leaves_nothing(void)
{
	bool same = false;
	int before = lowest();
	pthread_t t;

	for (int i = 0; i < 3; i++) {
		CU_ASSERT_EQUAL_FATAL(pthread_create(&t, NULL, a_guest, &same), 0);
		pthread_join(t, NULL);
		CU_ASSERT(same);
		CU_ASSERT_EQUAL(lowest(), before);
	}
}

static CU_TestInfo tests[] = {
	{ "a_thread_that_others_made_gets_an_event_and_leaves_nothing",
	  a_thread_that_others_made_gets_an_event_and_leaves_nothing },
	{ "a_name_is_cut_at_fifteen_bytes", a_name_is_cut_at_fifteen_bytes },
	{ "a_pinned_thread_has_one_processor", a_pinned_thread_has_one_processor },
	{ "a_processor_that_is_not_there_is_refused", a_processor_that_is_not_there_is_refused },
	{ "signals_are_left_to_the_main_thread", signals_are_left_to_the_main_thread },
	{ "a_thread_can_restrict_itself", a_thread_can_restrict_itself },
	CU_TEST_INFO_NULL
};

static CU_SuiteInfo suites[] = {
	{ "thread", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}

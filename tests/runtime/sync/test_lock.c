/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_lock.c - every lock policy excludes what it must and loses no update.
 *
 * One torture serves all policies by name; plain variables stand under the
 * lock, so that the thread sanitizer judges too.  Ends are counts, not times.
 */
#include "runtime/sync/xk_sync.h"
#include "tests/support/xk_test.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 4
#define ROUNDS 20000

struct arena {
	const struct xk_lock_ops *ops;
	struct xk_lock lock;
	uint64_t count, twin;        /* both under the lock, always equal outside it */
	uint64_t torn;               /* atomic: readers that saw them differ */
	uint64_t refused;            /* atomic: trylocks that said no */
	uint64_t reads;              /* atomic */
};

static void writer(void *p)
{
	struct arena *a = p;
	unsigned i;

	for (i = 0; i < ROUNDS; i++) {
		if (i % 3 == 0 && !a->ops->trylock(&a->lock)) {
			xk_atomic_add(&a->refused, 1u);
			a->ops->lock(&a->lock);
		} else if (i % 3 != 0) {
			a->ops->lock(&a->lock);
		}
		a->count++;
		a->twin++;
		a->ops->unlock(&a->lock);
	}
}

static void reader(void *p)
{
	struct arena *a = p;
	unsigned i;

	for (i = 0; i < ROUNDS; i++) {
		a->ops->rdlock(&a->lock);
		if (a->count != a->twin)
			xk_atomic_add(&a->torn, 1u);
		a->ops->rdunlock(&a->lock);
		xk_atomic_add(&a->reads, 1u);
	}
}

static void torture(const struct xk_lock_ops *ops, unsigned writers, unsigned readers)
{
	struct xk_thread *t[2 * THREADS];
	struct arena a;
	unsigned i;

	memset(&a, 0, sizeof a);
	a.ops = ops;
	ops->init(&a.lock);
	for (i = 0; i < writers + readers; i++)
		CU_ASSERT_EQUAL_FATAL(xk_thread_new(&t[i], "torture", -1, i < writers ? writer : reader, &a),
				      XK_OK);
	for (i = 0; i < writers + readers; i++)
		xk_thread_join(t[i]);
	CU_ASSERT_EQUAL(a.count, (uint64_t)writers * ROUNDS);
	CU_ASSERT_EQUAL(a.twin, a.count);
	CU_ASSERT_EQUAL(a.torn, 0);
	CU_ASSERT_EQUAL(a.reads, (uint64_t)readers * ROUNDS);
	ops->fini(&a.lock);
}

static void spin_loses_no_update(void) { torture(&xk_lock_spin, THREADS, THREADS); }
static void mutex_loses_no_update(void) { torture(&xk_lock_mutex, THREADS, THREADS); }
static void rw_loses_no_update(void) { torture(&xk_lock_rw, THREADS, THREADS); }
/* Without a lock only one thread may be there; the policy still goes through. */
static void none_serves_one_thread(void) { torture(&xk_lock_none, 1, 0); }

/* ---- single steps ---------------------------------------------------------- */

struct probe { const struct xk_lock_ops *ops; struct xk_lock *lock; bool got; };

static void try_it(void *p)
{
	struct probe *q = p;

	q->got = q->ops->trylock(q->lock);
	if (q->got)
		q->ops->unlock(q->lock);
}

/* Asked from another thread, so that recursion plays no part. */
static bool others_get(const struct xk_lock_ops *ops, struct xk_lock *lock)
{
	struct probe q = { ops, lock, false };
	struct xk_thread *t;

	CU_ASSERT_EQUAL_FATAL(xk_thread_new(&t, "probe", -1, try_it, &q), XK_OK);
	xk_thread_join(t);
	return q.got;
}

static const struct xk_lock_ops *const real[] = { &xk_lock_spin, &xk_lock_mutex, &xk_lock_rw };

static void a_held_lock_refuses_a_try_and_a_free_one_grants_it(void)
{
	struct xk_lock l;
	unsigned i;

	for (i = 0; i < XK_ARRAY_LEN(real); i++) {
		real[i]->init(&l);
		CU_ASSERT_TRUE(others_get(real[i], &l));
		real[i]->lock(&l);
		CU_ASSERT_FALSE(others_get(real[i], &l));
		real[i]->unlock(&l);
		CU_ASSERT_TRUE(real[i]->trylock(&l));
		CU_ASSERT_FALSE(others_get(real[i], &l));
		real[i]->unlock(&l);
		real[i]->rdlock(&l);
		CU_ASSERT_FALSE(others_get(real[i], &l));
		real[i]->rdunlock(&l);
		CU_ASSERT_TRUE(others_get(real[i], &l));
		real[i]->fini(&l);
	}
}

struct shared { struct xk_lock lock; uint32_t inside, met; };

/* Waits inside until the other reader is inside as well. */
static void meet(void *p)
{
	struct shared *s = p;

	xk_lock_rw.rdlock(&s->lock);
	xk_atomic_add(&s->inside, 1u);
	while (xk_load_acquire(&s->inside) != 2)
		xk_thread_yield();
	xk_atomic_add(&s->met, 1u);
	xk_lock_rw.rdunlock(&s->lock);
}

static void readers_share_a_reader_writer_lock(void)
{
	struct xk_thread *t[2];
	struct shared s;

	memset(&s, 0, sizeof s);
	xk_lock_rw.init(&s.lock);
	CU_ASSERT_EQUAL_FATAL(xk_thread_new(&t[0], "reader", -1, meet, &s), XK_OK);
	CU_ASSERT_EQUAL_FATAL(xk_thread_new(&t[1], "reader", -1, meet, &s), XK_OK);
	xk_thread_join(t[0]);
	xk_thread_join(t[1]);
	CU_ASSERT_EQUAL(s.met, 2);
	xk_lock_rw.fini(&s.lock);
}

static void policies_are_found_by_name(void)
{
	CU_ASSERT_PTR_EQUAL(xk_lock_find("none"), &xk_lock_none);
	CU_ASSERT_PTR_EQUAL(xk_lock_find("spin"), &xk_lock_spin);
	CU_ASSERT_PTR_EQUAL(xk_lock_find("mutex"), &xk_lock_mutex);
	CU_ASSERT_PTR_EQUAL(xk_lock_find("rw"), &xk_lock_rw);
	CU_ASSERT_PTR_NULL(xk_lock_find("rwx"));
}

/* ---- the plain mutex --------------------------------------------------------- */

struct counted { struct xk_mutex m; uint64_t n; };

static void count_up(void *p)
{
	struct counted *c = p;
	unsigned i;

	for (i = 0; i < ROUNDS; i++) {
		xk_mutex_lock(&c->m);
		c->n++;
		xk_mutex_unlock(&c->m);
	}
}

static void the_plain_mutex_loses_no_update(void)
{
	struct xk_thread *t[THREADS];
	struct counted c = { .n = 0 };
	unsigned i;

	xk_mutex_init(&c.m);
	CU_ASSERT_TRUE(xk_mutex_trylock(&c.m));
	CU_ASSERT_FALSE(xk_mutex_trylock(&c.m));
	xk_mutex_unlock(&c.m);
	for (i = 0; i < THREADS; i++)
		CU_ASSERT_EQUAL_FATAL(xk_thread_new(&t[i], "count", -1, count_up, &c), XK_OK);
	for (i = 0; i < THREADS; i++)
		xk_thread_join(t[i]);
	CU_ASSERT_EQUAL(c.n, THREADS * ROUNDS);
	xk_mutex_fini(&c.m);
}

/* ---- misuse and counting --------------------------------------------------------- */

static void unlock_a_free_spin_lock(void)
{
	struct xk_lock l;

	xk_lock_spin.init(&l);
	xk_lock_spin.unlock(&l);
}

static void destroy_a_held_spin_lock(void)
{
	struct xk_lock l;

	xk_lock_spin.init(&l);
	xk_lock_spin.lock(&l);
	xk_lock_spin.fini(&l);
}

static void destroy_a_held_mutex(void)
{
	struct xk_mutex m;

	xk_mutex_init(&m);
	xk_mutex_lock(&m);
	xk_mutex_fini(&m);
}

static bool aborts(void (*fn)(void))
{
	const struct rlimit no_core = { 0, 0 };
	int status = 0;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	CU_ASSERT_FATAL(pid >= 0);
	if (pid == 0) {
		setrlimit(RLIMIT_CORE, &no_core);
		if (freopen("/dev/null", "w", stderr) != NULL)
			fn();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void misuse_ends_the_program(void)
{
	CU_ASSERT_TRUE(aborts(unlock_a_free_spin_lock));
	CU_ASSERT_TRUE(aborts(destroy_a_held_spin_lock));
	CU_ASSERT_TRUE(aborts(destroy_a_held_mutex));
}

static uint64_t cost(const struct xk_lock_ops *ops, bool shared)
{
	struct xk_lock l;
	uint64_t before;

	ops->init(&l);
	before = xk_atomics_count();
	(shared ? ops->rdlock : ops->lock)(&l);
	(shared ? ops->rdunlock : ops->unlock)(&l);
	before = xk_atomics_count() - before;
	ops->fini(&l);
	return before;
}

/* What the counting build says an uncontended pair costs; nothing otherwise. */
static void locked_operations_are_counted_inside_locks_too(void)
{
	const unsigned on = xk_atomics_counted();
	uint32_t word = 0;
	uint64_t before = xk_atomics_count();

	CU_ASSERT_EQUAL(cost(&xk_lock_none, false), 0);
	CU_ASSERT_EQUAL(cost(&xk_lock_spin, false), on * 1);
	CU_ASSERT_EQUAL(cost(&xk_lock_mutex, false), on * 2);
	CU_ASSERT_EQUAL(cost(&xk_lock_rw, false), on * 2);
	CU_ASSERT_EQUAL(cost(&xk_lock_rw, true), on * 2);
	CU_ASSERT_EQUAL(xk_atomics_count() - before, on * 7);
	xk_atomic_add(&word, 1u);
	xk_atomic_or(&word, 2u);
	xk_atomic_and(&word, 3u);
	xk_atomic_xchg(&word, 4u);
	CU_ASSERT_EQUAL(xk_atomics_count() - before, on * 11);
}

static CU_TestInfo tests[] = {
	{ "spin_loses_no_update", spin_loses_no_update },
	{ "mutex_loses_no_update", mutex_loses_no_update },
	{ "rw_loses_no_update", rw_loses_no_update },
	{ "none_serves_one_thread", none_serves_one_thread },
	{ "a_held_lock_refuses_a_try_and_a_free_one_grants_it",
	  a_held_lock_refuses_a_try_and_a_free_one_grants_it },
	{ "readers_share_a_reader_writer_lock", readers_share_a_reader_writer_lock },
	{ "policies_are_found_by_name", policies_are_found_by_name },
	{ "the_plain_mutex_loses_no_update", the_plain_mutex_loses_no_update },
	{ "misuse_ends_the_program", misuse_ends_the_program },
	{ "locked_operations_are_counted_inside_locks_too", locked_operations_are_counted_inside_locks_too },
	CU_TEST_INFO_NULL
};

static CU_SuiteInfo suites[] = {
	{ "lock", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}

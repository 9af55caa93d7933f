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
static unsigned turns = 20000;   /* of each thread */

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

	for (i = 0; i < turns; i++) {
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

	for (i = 0; i < turns; i++) {
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
	CU_ASSERT_EQUAL(a.count, (uint64_t)writers * turns);
	CU_ASSERT_EQUAL(a.twin, a.count);
	CU_ASSERT_EQUAL(a.torn, 0);
	CU_ASSERT_EQUAL(a.reads, (uint64_t)readers * turns);
	ops->fini(&a.lock);
}

static void spin_loses_no_update(void) { torture(&xk_lock_spin, THREADS, THREADS); }
static void ticket_loses_no_update(void) { torture(&xk_lock_ticket, THREADS, THREADS); }
static void mcs_loses_no_update(void) { torture(&xk_lock_mcs, THREADS, THREADS); }
static void adaptive_loses_no_update(void) { torture(&xk_lock_adaptive, THREADS, THREADS); }
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

static const struct xk_lock_ops *const real[] = {
	&xk_lock_spin, &xk_lock_ticket, &xk_lock_mcs, &xk_lock_adaptive, &xk_lock_mutex, &xk_lock_rw,
};

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

/* ---- order, sleep, records ------------------------------------------------------ */

struct line {
	const struct xk_lock_ops *ops;
	struct xk_lock lock;
	unsigned order[THREADS], n;      /* under the lock */
	unsigned next;                   /* who queues next */
};

static uint64_t look(const struct xk_lock *l) { return xk_load_acquire(&l->opaque[0]); }

static void stand_in_line(void *p)
{
	struct line *q = p;
	unsigned me = xk_load_relaxed(&q->next);

	q->ops->lock(&q->lock);
	q->order[q->n++] = me;
	q->ops->unlock(&q->lock);
}

/* Each asks when the one before it is seen to stand in the queue. */
static void in_order(const struct xk_lock_ops *ops)
{
	struct xk_thread *t[THREADS];
	struct line q = { .ops = ops };

	ops->init(&q.lock);
	ops->lock(&q.lock);
	for (q.next = 0; q.next < THREADS;) {
		uint64_t before = look(&q.lock);

		CU_ASSERT_EQUAL_FATAL(xk_thread_new(&t[q.next], "line", -1, stand_in_line, &q), XK_OK);
		while (look(&q.lock) == before)
			xk_thread_yield();
		q.next++;
	}
	ops->unlock(&q.lock);
	for (unsigned i = 0; i < THREADS; i++)
		xk_thread_join(t[i]);
	for (unsigned i = 0; i < THREADS; i++)
		CU_ASSERT_EQUAL(q.order[i], i);
	ops->fini(&q.lock);
}

static void ticket_and_mcs_serve_in_the_order_of_asking(void)
{
	in_order(&xk_lock_ticket);
	in_order(&xk_lock_mcs);
}

static void take_and_drop(void *p)
{
	struct line *q = p;

	q->ops->lock(&q->lock);
	q->n++;
	q->ops->unlock(&q->lock);
}

static void an_adaptive_lock_says_that_it_slept(void)
{
	struct line q = { .ops = &xk_lock_adaptive };
	struct xk_thread *t;
	uint64_t spun, slept;

	q.ops->init(&q.lock);
	q.ops->lock(&q.lock);
	CU_ASSERT_EQUAL_FATAL(xk_thread_new(&t, "sleeper", -1, take_and_drop, &q), XK_OK);
	while ((uint32_t)look(&q.lock) != 2)
		xk_thread_yield();
	q.ops->unlock(&q.lock);
	xk_thread_join(t);
	xk_lock_adaptive_ways(&q.lock, &spun, &slept);
	CU_ASSERT_EQUAL(spun, 0);
	CU_ASSERT_EQUAL(slept, 1);
	CU_ASSERT_EQUAL(q.n, 1);
	q.ops->fini(&q.lock);
}

struct recorded { const struct xk_lock_ops *ops; struct xk_lock lock; struct xk_lockstat st; uint64_t n; };

static void take_recorded(void *p)
{
	struct recorded *r = p;

	for (unsigned i = 0; i < turns; i++) {
		xk_lock_take(r->ops, &r->lock, &r->st);
		r->n++;
		xk_lock_drop(r->ops, &r->lock, &r->st);
	}
}

static void a_record_counts_every_acquisition_and_no_false_contention(void)
{
	struct xk_thread *t[THREADS];

	for (unsigned i = 0; i < XK_ARRAY_LEN(real); i++) {
		struct recorded r = { .ops = real[i] };
		struct xk_lock_counts c;

		r.ops->init(&r.lock);
		take_recorded(&r);
		CU_ASSERT_TRUE_FATAL(xk_lock_try(r.ops, &r.lock, &r.st));
		CU_ASSERT_FALSE(others_get(r.ops, &r.lock));
		xk_lock_drop(r.ops, &r.lock, &r.st);
		xk_lockstat_read(&r.st, &c);
		CU_ASSERT_EQUAL(c.taken, turns + 1);
		CU_ASSERT_EQUAL(c.contended, 0);
		CU_ASSERT_EQUAL(xk_lock_waited_ns(&c), 0);
		CU_ASSERT_EQUAL(c.holds_timed, (turns + 1) / 64);
		CU_ASSERT(xk_lock_held_ns(&c) >= c.hold_ns);
		for (unsigned k = 0; k < THREADS; k++)
			CU_ASSERT_EQUAL_FATAL(xk_thread_new(&t[k], "take", -1, take_recorded, &r), XK_OK);
		for (unsigned k = 0; k < THREADS; k++)
			xk_thread_join(t[k]);
		xk_lockstat_read(&r.st, &c);
		CU_ASSERT_EQUAL(c.taken, (THREADS + 1) * turns + 1);
		CU_ASSERT_EQUAL(r.n, (THREADS + 1) * turns);
		CU_ASSERT(c.contended < c.taken);
		r.ops->fini(&r.lock);
	}
}

static void take_recorded_once(void *p)
{
	struct recorded *r = p;

	xk_lock_take(r->ops, &r->lock, &r->st);
	xk_lock_drop(r->ops, &r->lock, &r->st);
}

/* Waits that are sure: the lock is given up when the other one has failed to get it. */
static void who_waits_is_counted(void)
{
	struct recorded r = { .ops = &xk_lock_ticket };
	struct xk_lock_counts c;
	unsigned rounds = 20;

	r.ops->init(&r.lock);
	for (unsigned i = 0; i < rounds; i++) {
		struct xk_thread *t;
		uint64_t before;

		xk_lock_take(r.ops, &r.lock, &r.st);
		before = look(&r.lock);
		CU_ASSERT_EQUAL_FATAL(xk_thread_new(&t, "wait", -1, take_recorded_once, &r), XK_OK);
		while (look(&r.lock) == before)
			xk_thread_yield();
		xk_lock_drop(r.ops, &r.lock, &r.st);
		xk_thread_join(t);
	}
	xk_lockstat_read(&r.st, &c);
	CU_ASSERT_EQUAL(c.taken, 2 * rounds);
	CU_ASSERT_EQUAL(c.contended, rounds);
	CU_ASSERT(xk_lock_waited_ns(&c) >= c.wait_ns);
	r.ops->fini(&r.lock);
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
	for (unsigned i = 0; i < XK_ARRAY_LEN(real); i++)
		CU_ASSERT_PTR_EQUAL(xk_lock_find(real[i]->name), real[i]);
	CU_ASSERT_PTR_NULL(xk_lock_find("rwx"));
}

/* ---- the plain mutex --------------------------------------------------------- */

struct counted { struct xk_mutex m; uint64_t n; };

static void count_up(void *p)
{
	struct counted *c = p;
	unsigned i;

	for (i = 0; i < turns; i++) {
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
	CU_ASSERT_EQUAL(c.n, THREADS * turns);
	xk_mutex_fini(&c.m);
}

/* ---- misuse and counting --------------------------------------------------------- */

static void unlock_a_free_ticket_lock(void)
{
	struct xk_lock l;

	xk_lock_ticket.init(&l);
	xk_lock_ticket.unlock(&l);
}

static void unlock_a_free_mcs_lock(void)
{
	struct xk_lock l;

	xk_lock_mcs.init(&l);
	xk_lock_mcs.unlock(&l);
}

static void unlock_a_free_adaptive_lock(void)
{
	struct xk_lock l;

	xk_lock_adaptive.init(&l);
	xk_lock_adaptive.unlock(&l);
}

static void hold_five_mcs_locks(void)
{
	struct xk_lock l[5];

	for (unsigned i = 0; i < XK_ARRAY_LEN(l); i++) {
		xk_lock_mcs.init(&l[i]);
		xk_lock_mcs.lock(&l[i]);
	}
}

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

/* Three ways out of a scope. */
static int scoped(struct xk_mutex *m, int way)
{
	if (way == 0)
		return -1;
	XK_MUTEX_SCOPE(m);
	CU_ASSERT_FALSE(xk_mutex_trylock(m));
	for (int i = 0; i < 3; i++) {
		if (way == 1 && i == 1)
			return 1;
	}
	if (way == 2)
		goto out;
	return 3;
out:
	return 2;
}

static void a_scope_releases_its_lock_on_every_way_out(void)
{
	struct xk_mutex m;

	xk_mutex_init(&m);
	for (int way = 0; way <= 3; way++) {
		CU_ASSERT_EQUAL(scoped(&m, way), way == 0 ? -1 : way);
		CU_ASSERT_TRUE_FATAL(xk_mutex_trylock(&m));
		xk_mutex_unlock(&m);
	}
	for (int i = 0; i < 2; i++) {
		XK_MUTEX_SCOPE(&m);
		CU_ASSERT_FALSE(xk_mutex_trylock(&m));
		if (i == 0)
			continue;
	}
	CU_ASSERT_TRUE_FATAL(xk_mutex_trylock(&m));
	xk_mutex_unlock(&m);
	xk_mutex_fini(&m);
}

static void misuse_ends_the_program(void)
{
	CU_ASSERT_TRUE(aborts(unlock_a_free_spin_lock));
	CU_ASSERT_TRUE(aborts(unlock_a_free_ticket_lock));
	CU_ASSERT_TRUE(aborts(unlock_a_free_mcs_lock));
	CU_ASSERT_TRUE(aborts(unlock_a_free_adaptive_lock));
	CU_ASSERT_TRUE(aborts(hold_five_mcs_locks));
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
	CU_ASSERT_EQUAL(cost(&xk_lock_ticket, false), on * 1);
	CU_ASSERT_EQUAL(cost(&xk_lock_mcs, false), on * 2);
	CU_ASSERT_EQUAL(cost(&xk_lock_adaptive, false), on * 2);
	CU_ASSERT_EQUAL(cost(&xk_lock_mutex, false), on * 2);
	CU_ASSERT_EQUAL(cost(&xk_lock_rw, false), on * 2);
	CU_ASSERT_EQUAL(cost(&xk_lock_rw, true), on * 2);
	CU_ASSERT_EQUAL(xk_atomics_count() - before, on * 12);
	xk_atomic_add(&word, 1u);
	xk_atomic_or(&word, 2u);
	xk_atomic_and(&word, 3u);
	xk_atomic_xchg(&word, 4u);
	CU_ASSERT_EQUAL(xk_atomics_count() - before, on * 16);
}

static CU_TestInfo tests[] = {
	{ "spin_loses_no_update", spin_loses_no_update },
	{ "ticket_loses_no_update", ticket_loses_no_update },
	{ "mcs_loses_no_update", mcs_loses_no_update },
	{ "adaptive_loses_no_update", adaptive_loses_no_update },
	{ "mutex_loses_no_update", mutex_loses_no_update },
	{ "rw_loses_no_update", rw_loses_no_update },
	{ "none_serves_one_thread", none_serves_one_thread },
	{ "a_held_lock_refuses_a_try_and_a_free_one_grants_it",
	  a_held_lock_refuses_a_try_and_a_free_one_grants_it },
	{ "ticket_and_mcs_serve_in_the_order_of_asking", ticket_and_mcs_serve_in_the_order_of_asking },
	{ "an_adaptive_lock_says_that_it_slept", an_adaptive_lock_says_that_it_slept },
	{ "a_record_counts_every_acquisition_and_no_false_contention",
	  a_record_counts_every_acquisition_and_no_false_contention },
	{ "who_waits_is_counted", who_waits_is_counted },
	{ "readers_share_a_reader_writer_lock", readers_share_a_reader_writer_lock },
	{ "policies_are_found_by_name", policies_are_found_by_name },
	{ "the_plain_mutex_loses_no_update", the_plain_mutex_loses_no_update },
	{ "a_scope_releases_its_lock_on_every_way_out", a_scope_releases_its_lock_on_every_way_out },
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
	turns = (unsigned)xk_test_rounds(turns);
	return xk_test_main(suites);
}

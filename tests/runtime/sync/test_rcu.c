/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_rcu.c - readers never see freed memory, and everything is freed in the end.
 *
 * The reclaimer calls in order, all of it, whoever waits.
 * An object is poisoned before it is freed; a reader that meets the poison, or
 * the address sanitizer that meets the access, has found a grace period that
 * was none.
 */
#include "runtime/sync/xk_sync.h"
#include "tests/support/xk_test.h"

#include <stdlib.h>
#include <string.h>

#define READERS 3
#define READS 20000u
#define REPLACED 3000u
#define ALIVE 0x11223344u
#define DEAD 0xdeaddeadu

struct object { uint32_t life, twin; struct xk_rcu_head rcu; };
struct shelf { struct object *now; uint32_t freed, bad, left; };

static struct shelf shelf;

static struct object *object_new(void)
{
	struct object *o = malloc(sizeof *o);

	CU_ASSERT_PTR_NOT_NULL_FATAL(o);
	o->life = o->twin = ALIVE;
	return o;
}

static void object_free(void *p)
{
	struct object *o = p;

	o->life = o->twin = DEAD;
	xk_atomic_add(&shelf.freed, 1u);
	free(o);
}

static void read_on(void *p)
{
	unsigned i, k;
	struct object *o;

	(void)p;
	for (i = 0; i < READS; i++) {
		xk_rcu_read_lock();
		o = xk_rcu_dereference(shelf.now);
		for (k = 0; k < 4; k++) {
			if (o->life != ALIVE || o->twin != ALIVE)
				xk_atomic_add(&shelf.bad, 1u);
			/* Now and then the writer gets its chance while we are inside. */
			if (i % 16 == 0)
				xk_thread_yield();
		}
		xk_rcu_read_unlock();
	}
	xk_atomic_add(&shelf.left, 1u);
}

static void start_readers(struct xk_thread **t)
{
	unsigned i;

	for (i = 0; i < READERS; i++)
		CU_ASSERT_EQUAL_FATAL(xk_thread_new(&t[i], "reader", -1, read_on, NULL), XK_OK);
}

static void readers_never_see_what_was_freed_later(void)
{
	struct xk_thread *t[READERS];
	struct object *old;
	unsigned i, replaced;

	memset(&shelf, 0, sizeof shelf);
	shelf.now = object_new();
	start_readers(t);
	for (i = 0; i < REPLACED || xk_load_acquire(&shelf.left) < READERS; i++) {
		old = shelf.now;
		xk_rcu_assign(shelf.now, object_new());
		xk_rcu_free(&old->rcu, object_free, old);
	}
	replaced = i;
	for (i = 0; i < READERS; i++)
		xk_thread_join(t[i]);
	xk_rcu_barrier();
	CU_ASSERT_EQUAL(shelf.bad, 0);
	CU_ASSERT_EQUAL(shelf.freed, replaced);
	free(shelf.now);
}

static void readers_never_see_what_was_freed_after_synchronize(void)
{
	struct xk_thread *t[READERS];
	struct object *old;
	unsigned i;

	memset(&shelf, 0, sizeof shelf);
	shelf.now = object_new();
	start_readers(t);
	while (xk_load_acquire(&shelf.left) < READERS) {
		old = shelf.now;
		xk_rcu_assign(shelf.now, object_new());
		xk_rcu_synchronize();
		object_free(old);
	}
	for (i = 0; i < READERS; i++)
		xk_thread_join(t[i]);
	CU_ASSERT_EQUAL(shelf.bad, 0);
	free(shelf.now);
}

/* A reader that stays inside holds back every free behind it. */
struct gate { uint32_t inside, go, freed_inside, waits; };

static void stay_inside(void *p)
{
	struct gate *g = p;
	struct object *o;

	xk_rcu_read_lock();
	o = xk_rcu_dereference(shelf.now);
	xk_store_release(&g->inside, 1u);
	while (!xk_load_acquire(&g->go))
		xk_thread_yield();
	g->freed_inside = xk_load_acquire(&shelf.freed);
	if (o->life != ALIVE)
		xk_atomic_add(&shelf.bad, 1u);
	xk_rcu_read_unlock();
}

/* Somebody who waits, so that the reclaimer does not. */
static void wait_for_it(void *p)
{
	struct gate *g = p;

	xk_store_release(&g->waits, 1u);
	xk_rcu_barrier();
}

static void a_reader_inside_holds_the_free_back(void)
{
	struct gate g = { 0, 0, 0, 0 };
	struct xk_thread *t, *waits;
	struct object *old;
	unsigned i;

	memset(&shelf, 0, sizeof shelf);
	old = shelf.now = object_new();
	CU_ASSERT_EQUAL_FATAL(xk_thread_new(&t, "inside", -1, stay_inside, &g), XK_OK);
	while (!xk_load_acquire(&g.inside))
		xk_thread_yield();
	xk_rcu_assign(shelf.now, object_new());
	xk_rcu_free(&old->rcu, object_free, old);
	CU_ASSERT_EQUAL_FATAL(xk_thread_new(&waits, "waits", -1, wait_for_it, &g), XK_OK);
	for (i = 0; i < 5000 || !xk_load_acquire(&g.waits); i++)
		xk_thread_yield();
	xk_store_release(&g.go, 1u);
	xk_thread_join(t);
	xk_thread_join(waits);
	CU_ASSERT_EQUAL(g.freed_inside, 0);
	CU_ASSERT_EQUAL(shelf.bad, 0);
	xk_rcu_barrier();
	CU_ASSERT_EQUAL(shelf.freed, 1);
	free(shelf.now);
}

static void registering_may_nest(void)
{
	xk_rcu_register();
	xk_rcu_register();
	xk_rcu_unregister();
	xk_rcu_read_lock();
	xk_rcu_read_lock();
	xk_rcu_read_unlock();
	xk_rcu_read_unlock();
	xk_rcu_unregister();
	xk_rcu_synchronize();
}

/* ---- the thread that calls what is freed ------------------------------------- */

#define GIVEN 100u

static struct { struct xk_rcu_head rcu[GIVEN]; unsigned called, in_order; } row;

static void called(void *p)
{
	row.in_order += (struct xk_rcu_head *)p == &row.rcu[row.called];
	row.called++;
}

static void give_all(void)
{
	row.called = row.in_order = 0;
	for (unsigned i = 0; i < GIVEN; i++)
		xk_rcu_free(&row.rcu[i], called, &row.rcu[i]);
}

/* The first test of all: there is no thread yet. */
static void before_it_is_started_a_barrier_does_the_work(void)
{
	give_all();
	CU_ASSERT_EQUAL(row.called, 0);
	xk_rcu_barrier();
	CU_ASSERT_EQUAL(row.called, GIVEN);
	CU_ASSERT_EQUAL(row.in_order, GIVEN);
}

static void it_is_started_once(void)
{
	CU_ASSERT_EQUAL(xk_rcu_start(), XK_OK);
	CU_ASSERT_EQUAL(xk_rcu_start(), XK_OK);
}

static void it_calls_in_the_order_given(void)
{
	for (unsigned round = 0; round < 20; round++) {
		give_all();
		xk_rcu_barrier();
		CU_ASSERT_EQUAL(row.called, GIVEN);
		CU_ASSERT_EQUAL(row.in_order, GIVEN);
	}
}

static void it_calls_although_nobody_waits(void)
{
	memset(&shelf, 0, sizeof shelf);
	struct object *o = object_new();

	xk_rcu_free(&o->rcu, object_free, o);
	while (xk_load_acquire(&shelf.freed) == 0)
		xk_thread_yield();
}

static void give_and_wait(void *p)
{
	uint32_t *ok = p;

	for (unsigned i = 0; i < 200; i++) {
		uint32_t before = xk_load_acquire(&shelf.freed);
		struct object *o = object_new();

		xk_rcu_free(&o->rcu, object_free, o);
		xk_rcu_barrier();
		xk_atomic_add(ok, xk_load_acquire(&shelf.freed) > before);
	}
}

static void barriers_of_several_threads_return_after_their_own(void)
{
	struct xk_thread *t[READERS];
	uint32_t ok = 0;

	memset(&shelf, 0, sizeof shelf);
	for (unsigned i = 0; i < READERS; i++)
		CU_ASSERT_EQUAL_FATAL(xk_thread_new(&t[i], "gives", -1, give_and_wait, &ok), XK_OK);
	for (unsigned i = 0; i < READERS; i++)
		xk_thread_join(t[i]);
	CU_ASSERT_EQUAL(ok, READERS * 200);
	CU_ASSERT_EQUAL(shelf.freed, READERS * 200);
}

static CU_TestInfo reclaimer_tests[] = {
	{ "before_it_is_started_a_barrier_does_the_work", before_it_is_started_a_barrier_does_the_work },
	{ "it_is_started_once", it_is_started_once },
	{ "it_calls_in_the_order_given", it_calls_in_the_order_given },
	{ "it_calls_although_nobody_waits", it_calls_although_nobody_waits },
	{ "barriers_of_several_threads_return_after_their_own", barriers_of_several_threads_return_after_their_own },
	CU_TEST_INFO_NULL
};

static CU_TestInfo tests[] = {
	{ "readers_never_see_what_was_freed_later", readers_never_see_what_was_freed_later },
	{ "readers_never_see_what_was_freed_after_synchronize",
	  readers_never_see_what_was_freed_after_synchronize },
	{ "a_reader_inside_holds_the_free_back", a_reader_inside_holds_the_free_back },
	{ "registering_may_nest", registering_may_nest },
	CU_TEST_INFO_NULL
};

static CU_SuiteInfo suites[] = {
	{ "reclaimer", NULL, NULL, NULL, NULL, reclaimer_tests },
	{ "rcu", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_passive.c - holds passive maps to their promises: one binding per key,
 * memory that does not creep, and readers that never miss what stays bound.
 */
#include "runtime/map/xk_passive.h"
#include "runtime/mem/xk_mem.h"
#include "tests/support/xk_test.h"

#include <stdlib.h>

struct obj {
	struct xk_mapnode  node;
	struct xk_rcu_head rcu;
	uint64_t           no;
};

static struct xk_passive map;
static uint64_t blocks;

static void setup(void)
{
	xk_rcu_register();
	blocks = xk_alloc_live();
	CU_ASSERT_EQUAL_FATAL(xk_passive_init(&map), XK_OK);
}

static void teardown(void)
{
	xk_mem_fail_after(0);
	CU_ASSERT_EQUAL(xk_passive_count(&map), 0);
	xk_passive_fini(&map);
	xk_rcu_barrier();
	CU_ASSERT_EQUAL(xk_alloc_live(), blocks);
	xk_rcu_unregister();
}

static struct xk_key key_of(uint64_t i)
{
	return (struct xk_key){ { i, ~i } };
}

static struct obj *obj_new(uint64_t i)
{
	struct obj *o = calloc(1, sizeof(*o));

	CU_ASSERT_PTR_NOT_NULL_FATAL(o);
	o->node.key = key_of(i);
	o->no = i;
	return o;
}

static void obj_gone(struct obj *o)
{
	xk_passive_unbind(&map, &o->node);
	xk_rcu_free(&o->rcu, free, o);
}

static struct obj *find(uint64_t i)
{
	struct xk_key k = key_of(i);
	struct xk_mapnode *n = xk_passive_resolve(&map, &k);

	return n != NULL ? xk_container_of(n, struct obj, node) : NULL;
}

static void what_is_bound_is_found_until_it_is_unbound(void)
{
	struct obj *o = obj_new(1);

	xk_rcu_read_lock();
	CU_ASSERT_PTR_NULL(find(1));
	CU_ASSERT_EQUAL(xk_passive_bind(&map, &o->node), XK_OK);
	CU_ASSERT_PTR_EQUAL(find(1), o);
	CU_ASSERT_PTR_NULL(find(2));
	CU_ASSERT_EQUAL(xk_passive_count(&map), 1);
	obj_gone(o);
	CU_ASSERT_PTR_NULL(find(1));
	xk_rcu_read_unlock();
}

static void a_key_is_bound_once(void)
{
	struct obj *o = obj_new(1), *p = obj_new(1);

	CU_ASSERT_EQUAL(xk_passive_bind(&map, &o->node), XK_OK);
	CU_ASSERT_EQUAL(xk_passive_bind(&map, &p->node), XK_E_EXIST);
	CU_ASSERT_EQUAL(p->node.bound, 0);
	obj_gone(o);
	CU_ASSERT_EQUAL(xk_passive_bind(&map, &p->node), XK_OK);
	obj_gone(p);
}

static int visit(struct xk_mapnode *n, void *arg)
{
	struct obj *o = xk_container_of(n, struct obj, node);
	unsigned *visits = arg;

	++*visits;
	if (o->no % 4 == 0) {
		xk_rcu_free(&o->rcu, free, o);
		return XK_MAP_REMOVE;
	}
	return *visits == 700 ? XK_MAP_STOP : XK_MAP_KEEP;
}

static void many_keys_are_found_and_walked_once(void)
{
	static struct obj *o[600];
	unsigned visits = 0, bad = 0;

	xk_rcu_read_lock();
	for (unsigned i = 0; i < 600; i++) {
		o[i] = obj_new(i);
		CU_ASSERT_EQUAL_FATAL(xk_passive_bind(&map, &o[i]->node), XK_OK);
	}
	xk_passive_foreach(&map, visit, &visits);
	CU_ASSERT_EQUAL(visits, 600);
	CU_ASSERT_EQUAL(xk_passive_count(&map), 450);
	for (unsigned i = 0; i < 600; i++)
		bad += find(i) != (i % 4 ? o[i] : NULL);
	CU_ASSERT_EQUAL(bad, 0);
	visits = 500;
	xk_passive_foreach(&map, visit, &visits);
	CU_ASSERT_EQUAL(visits, 700);
	for (unsigned i = 0; i < 600; i++)
		if (i % 4)
			obj_gone(o[i]);
	xk_rcu_read_unlock();
}

static void coming_and_going_does_not_use_up_memory(void)
{
	uint64_t tries;

	xk_mem_fail_after(0);
	for (unsigned i = 0; i < 10000; i++) {
		struct obj *o = obj_new(i);

		CU_ASSERT_EQUAL_FATAL(xk_passive_bind(&map, &o->node), XK_OK);
		obj_gone(o);
	}
	xk_rcu_barrier();
	/* One array of eight slots at a time, renewed every few bindings. */
	CU_ASSERT_EQUAL(xk_alloc_live(), blocks + 2);
	tries = xk_mem_tries();
	CU_ASSERT_TRUE(tries >= 1000 && tries <= 5000);
}

static void lack_of_memory_leaves_the_map_as_it_was(void)
{
	struct obj *o[5];

	for (unsigned i = 0; i < 4; i++) {
		o[i] = obj_new(i);
		CU_ASSERT_EQUAL(xk_passive_bind(&map, &o[i]->node), XK_OK);
	}
	o[4] = obj_new(4);
	xk_mem_fail_after(1);
	CU_ASSERT_EQUAL(xk_passive_bind(&map, &o[4]->node), XK_E_NOMEM);
	CU_ASSERT_EQUAL(o[4]->node.bound, 0);
	CU_ASSERT_EQUAL(xk_passive_count(&map), 4);
	CU_ASSERT_EQUAL(xk_passive_bind(&map, &o[4]->node), XK_OK);
	for (unsigned i = 0; i < 5; i++) {
		CU_ASSERT_PTR_EQUAL(find(i), o[i]);
		obj_gone(o[i]);
	}
}

static void a_failed_init_leaves_nothing(void)
{
	struct xk_passive m;

	for (unsigned k = 1; k <= 2; k++) {
		xk_mem_fail_after(k);
		CU_ASSERT_EQUAL(xk_passive_init(&m), XK_E_NOMEM);
		xk_passive_fini(&m);
	}
	CU_ASSERT_EQUAL(xk_alloc_live(), blocks + 2);
}

/* ---- readers and a writer ----------------------------------------------------- */

#define STABLE 24u
#define CHURN  200u
static struct { uint32_t stop, rounds, missed, wrong; } race;

static void reader(void *arg)
{
	uint64_t i = (uintptr_t)arg;

	while (!xk_load_acquire(&race.stop)) {
		struct obj *o;

		xk_rcu_read_lock();
		for (unsigned n = 0; n < 64; n++, i++) {
			o = find(i % STABLE);
			if (o == NULL || o->no != i % STABLE)
				xk_atomic_add(&race.missed, 1);
			o = find(1000 + i % CHURN);
			if (o != NULL && o->no != 1000 + i % CHURN)
				xk_atomic_add(&race.wrong, 1);
		}
		xk_rcu_read_unlock();
		xk_atomic_add(&race.rounds, 1);
	}
}

static void readers_never_miss_what_stays_bound(void)
{
	struct obj *stable[STABLE], *churn[CHURN] = { NULL };
	struct xk_thread *t[2];

	race.stop = race.rounds = race.missed = race.wrong = 0;
	for (unsigned i = 0; i < STABLE; i++) {
		stable[i] = obj_new(i);
		CU_ASSERT_EQUAL_FATAL(xk_passive_bind(&map, &stable[i]->node), XK_OK);
	}
	for (uintptr_t i = 0; i < 2; i++)
		CU_ASSERT_EQUAL_FATAL(xk_thread_new(&t[i], "reader", -1, reader, (void *)(i * 7)), XK_OK);
	for (unsigned i = 0; i < 40000 || xk_load_relaxed(&race.rounds) < 100; i++) {
		struct obj **o = &churn[(i * 7919u) % CHURN];

		if (*o == NULL) {
			*o = obj_new(1000 + (i * 7919u) % CHURN);
			CU_ASSERT_EQUAL(xk_passive_bind(&map, &(*o)->node), XK_OK);
		} else {
			obj_gone(*o);
			*o = NULL;
		}
		if (i % 64 == 0)
			xk_thread_yield();
	}
	xk_store_release(&race.stop, 1);
	for (unsigned i = 0; i < 2; i++)
		xk_thread_join(t[i]);
	CU_ASSERT_EQUAL(race.missed, 0);
	CU_ASSERT_EQUAL(race.wrong, 0);
	for (unsigned i = 0; i < STABLE; i++)
		obj_gone(stable[i]);
	for (unsigned i = 0; i < CHURN; i++)
		if (churn[i] != NULL)
			obj_gone(churn[i]);
}

static CU_TestInfo tests[] = {
	{ "what is bound is found until it is unbound", what_is_bound_is_found_until_it_is_unbound },
	{ "a key is bound once", a_key_is_bound_once },
	{ "many keys are found and walked once", many_keys_are_found_and_walked_once },
	{ "coming and going does not use up memory", coming_and_going_does_not_use_up_memory },
	{ "lack of memory leaves the map as it was", lack_of_memory_leaves_the_map_as_it_was },
	{ "a failed init leaves nothing", a_failed_init_leaves_nothing },
	{ "readers never miss what stays bound", readers_never_miss_what_stays_bound },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "passive", NULL, NULL, setup, teardown, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return xk_test_main(suites);
}

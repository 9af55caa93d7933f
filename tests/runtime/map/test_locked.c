/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_locked.c - a map that threads share under a lock policy.
 *
 * Promises: under every policy that excludes, what stays bound is always found
 * while others are bound and unbound and the table doubles; under the
 * reader/writer lock finds are in the map together and a bind is there alone;
 * the null policy is the same code for one thread.  Ends are counts.
 */
#include "runtime/map/xk_map.h"
#include "runtime/map/xk_table.h"
#include "runtime/sync/xk_sync.h"
#include "tests/support/xk_test.h"

#include <string.h>

#define FIXED   500u
#define MOVING  2000u
#define ROUNDS  3u
#define READERS 3u

struct obj {
	struct xk_mapnode node;
	uint64_t no;
};

static struct shared {
	const struct xk_lock_ops *ops;
	struct xk_lock lock;
	struct xk_map  map;              /* under lock */
	struct xk_slab slab;
	struct obj    *moving[MOVING];
	uint64_t missed, wrong, found;   /* atomic */
	uint32_t inside, together;       /* atomic: finds in the map, the most at once */
} sh;

static struct xk_key key_of(uint64_t i) { return (struct xk_key){ { 0x0a00000100000000u + i, i >> 3 } }; }

static struct obj *obj_new(uint64_t no)
{
	struct obj *o = xk_slab_get(&sh.slab);

	CU_ASSERT_PTR_NOT_NULL_FATAL(o);
	o->node.key = key_of(no);
	o->no = no;
	return o;
}

static void begin(const struct xk_lock_ops *ops)
{
	memset(&sh, 0, sizeof sh);
	sh.ops = ops;
	ops->init(&sh.lock);
	xk_slab_init(&sh.slab, sizeof(struct obj));
	xk_map_init(&sh.map, offsetof(struct obj, node));
	for (unsigned i = 0; i < FIXED; i++)
		CU_ASSERT_EQUAL_FATAL(xk_map_bind(&sh.map, &obj_new(i)->node), XK_OK);
	for (unsigned i = 0; i < MOVING; i++)
		sh.moving[i] = obj_new(FIXED + i);
}

static int give_back(struct xk_mapnode *n, void *arg)
{
	(void)arg;
	xk_slab_put(&sh.slab, xk_container_of(n, struct obj, node));
	return XK_MAP_REMOVE;
}

static void end(void)
{
	xk_map_foreach(&sh.map, give_back, NULL);
	for (unsigned i = 0; i < MOVING; i++)
		xk_slab_put(&sh.slab, sh.moving[i]);
	xk_map_fini(&sh.map);
	xk_slab_fini(&sh.slab);
	sh.ops->fini(&sh.lock);
}

/* A find by a reader: it changes nothing in the map. */
static struct obj *find(uint64_t no)
{
	struct xk_key k = key_of(no);
	struct xk_mapnode *n = xk_table_find(&sh.map.tab, xk_hash_key(&k), &k);

	return n != NULL ? xk_container_of(n, struct obj, node) : NULL;
}

static void reader(void *p)
{
	(void)p;
	for (unsigned round = 0; round < 10 * ROUNDS; round++)
		for (unsigned i = 0; i < FIXED; i++) {
			const struct obj *o;

			sh.ops->rdlock(&sh.lock);
			o = find(i);
			if (o == NULL)
				xk_atomic_add(&sh.missed, 1u);
			else if (o->no != i)
				xk_atomic_add(&sh.wrong, 1u);
			else
				xk_atomic_add(&sh.found, 1u);
			sh.ops->rdunlock(&sh.lock);
		}
}

/* From none of them to all and back, so the table doubles on the way. */
static void writer(void *p)
{
	(void)p;
	for (unsigned round = 0; round < ROUNDS; round++) {
		for (unsigned i = 0; i < MOVING; i++) {
			sh.ops->lock(&sh.lock);
			if (xk_map_bind(&sh.map, &sh.moving[i]->node) != XK_OK || find(FIXED + i) != sh.moving[i])
				xk_atomic_add(&sh.wrong, 1u);
			sh.ops->unlock(&sh.lock);
		}
		for (unsigned i = 0; i < MOVING; i++) {
			sh.ops->lock(&sh.lock);
			xk_map_unbind(&sh.map, &sh.moving[i]->node);
			if (find(FIXED + i) != NULL)
				xk_atomic_add(&sh.wrong, 1u);
			sh.ops->unlock(&sh.lock);
		}
	}
}

static void finds_and_binds_under(const struct xk_lock_ops *ops, bool threads)
{
	struct xk_thread *t[READERS + 1];

	begin(ops);
	if (threads) {
		for (unsigned i = 0; i <= READERS; i++)
			CU_ASSERT_EQUAL_FATAL(xk_thread_new(&t[i], "map", -1, i == 0 ? writer : reader, NULL), XK_OK);
		for (unsigned i = 0; i <= READERS; i++)
			xk_thread_join(t[i]);
	} else {
		writer(NULL);
		reader(NULL);
	}
	CU_ASSERT_EQUAL(sh.missed, 0);
	CU_ASSERT_EQUAL(sh.wrong, 0);
	CU_ASSERT_EQUAL(sh.found, (uint64_t)(threads ? READERS : 1) * 10 * ROUNDS * FIXED);
	CU_ASSERT_EQUAL(xk_map_count(&sh.map), FIXED);
	end();
}

static void finds_and_binds_meet_under_every_policy(void)
{
	static const struct xk_lock_ops *const excluding[] = {
		&xk_lock_rw, &xk_lock_mutex, &xk_lock_adaptive, &xk_lock_spin, &xk_lock_ticket, &xk_lock_mcs,
	};

	for (unsigned i = 0; i < XK_ARRAY_LEN(excluding); i++)
		finds_and_binds_under(excluding[i], true);
}

static void the_null_policy_is_the_same_code_for_one_thread(void) { finds_and_binds_under(&xk_lock_none, false); }

/* Each finds while all others are in the map, too. */
static void meets_the_others(void *p)
{
	bool got = sh.ops->tryrdlock(&sh.lock);

	(void)p;
	if (!got)
		xk_atomic_add(&sh.wrong, 1u);
	else if (find(7) == NULL)
		xk_atomic_add(&sh.missed, 1u);
	xk_atomic_add(&sh.inside, 1u);
	while (xk_load_acquire(&sh.inside) != READERS)
		xk_thread_yield();
	if (sh.ops->trylock(&sh.lock))
		xk_atomic_add(&sh.wrong, 1u);    /* a bind would be here with a find */
	xk_atomic_add(&sh.together, 1u);
	while (xk_load_acquire(&sh.together) != READERS)
		xk_thread_yield();
	if (got)
		sh.ops->rdunlock(&sh.lock);
}

static void finds_are_together_and_a_bind_is_alone(void)
{
	struct xk_thread *t[READERS];

	begin(&xk_lock_rw);
	for (unsigned i = 0; i < READERS; i++)
		CU_ASSERT_EQUAL_FATAL(xk_thread_new(&t[i], "find", -1, meets_the_others, NULL), XK_OK);
	for (unsigned i = 0; i < READERS; i++)
		xk_thread_join(t[i]);
	CU_ASSERT_EQUAL(sh.together, READERS);
	CU_ASSERT_EQUAL(sh.missed + sh.wrong, 0);
	CU_ASSERT_TRUE_FATAL(sh.ops->trylock(&sh.lock));
	CU_ASSERT_EQUAL(xk_map_bind(&sh.map, &sh.moving[0]->node), XK_OK);
	CU_ASSERT_FALSE(sh.ops->tryrdlock(&sh.lock));
	xk_map_unbind(&sh.map, &sh.moving[0]->node);
	sh.ops->unlock(&sh.lock);
	end();
}

static CU_TestInfo tests[] = {
	{ "finds and binds meet under every policy", finds_and_binds_meet_under_every_policy },
	{ "the null policy is the same code for one thread", the_null_policy_is_the_same_code_for_one_thread },
	{ "finds are together and a bind is alone", finds_are_together_and_a_bind_is_alone },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "locked map", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void) { return xk_test_main(suites); }

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_table.c - the inside of the tagged table: places, overflow counts, hash
 * bits and moves stay true to its invariant at loads where everything is full.
 */
#include "runtime/base/xk_rand.h"
#include "runtime/map/xk_table.h"
#include "tests/support/xk_test.h"

#include <stdlib.h>

#define BUCKETS 64u
#define MAX     (BUCKETS * XK_WAYS + 64u)

struct obj { struct xk_mapnode node; };

static struct xk_table table;
static struct xk_slab slab;
static struct xk_rand dice;
static struct obj *obj[MAX];
static uint64_t blocks;

static void setup(void)
{
	blocks = xk_alloc_live();
	xk_slab_init(&slab, sizeof(struct obj));
	xk_rand_init(&dice, 5, 5);
	CU_ASSERT_EQUAL_FATAL(xk_table_init(&table, BUCKETS, 0, false), XK_OK);
	for (unsigned i = 0; i < MAX; i++) {
		obj[i] = xk_slab_get(&slab);
		CU_ASSERT_PTR_NOT_NULL_FATAL(obj[i]);
		obj[i]->node.key = (struct xk_key){ { xk_rand_u64(&dice), i } };
		obj[i]->node.hash = xk_hash_key(&obj[i]->node.key);
	}
}

static void teardown(void)
{
	xk_table_fini(&table);
	for (unsigned i = 0; i < MAX; i++)
		xk_slab_put(&slab, obj[i]);
	xk_slab_fini(&slab);
	CU_ASSERT_EQUAL(xk_alloc_live(), blocks);
}

/* Counts what is not as it should be: home or away told rightly, hash bits kept,
 * and each bucket's overflow the number of its own that live elsewhere. */
static unsigned lies(const struct xk_table *t)
{
	static uint32_t over[BUCKETS * 4];
	unsigned bad = 0, n = 0;

	for (uint32_t b = 0; b < t->buckets; b++)
		over[b] = t->bucket[b].over;
	for (uint32_t b = 0; b < t->buckets; b++)
		for (unsigned s = 0; s < XK_WAYS; s++) {
			const struct xk_bucket *k = &t->bucket[b];
			uint32_t hash, home;

			if (k->tag[s] == 0)
				continue;
			n++;
			hash = xk_table_node(t, k->h[s])->hash;
			home = xk_hash_part(hash, t->buckets);
			bad += k->tag[s] != xk_table_tag(hash) || k->ext[s] != (uint8_t)(hash >> 15);
			bad += (k->away >> s & 1) != (home != b);
			over[home] -= home != b;
		}
	for (uint32_t i = 0; t->stash != NULL && i < t->stash->used; i++)
		if (t->stash->e[i].h != 0) {
			n++;
			over[xk_hash_part(t->stash->e[i].hash, t->buckets)]--;
		}
	for (uint32_t b = 0; b < t->buckets; b++)
		bad += over[b] != 0;
	return bad + (n != t->n);
}

static unsigned missed(const struct xk_table *t, unsigned n)
{
	unsigned bad = 0;

	for (unsigned i = 0; i < n; i++)
		bad += xk_table_find(t, obj[i]->node.hash, &obj[i]->node.key) != &obj[i]->node;
	return bad;
}

static unsigned fill(void)
{
	unsigned n = 0, bad = 0;

	while (n < MAX && xk_table_put(&table, &obj[n]->node) == XK_OK) {
		n++;
		bad += lies(&table) + missed(&table, n);
	}
	CU_ASSERT_EQUAL(bad, 0);
	return n;
}

static void a_table_that_may_not_grow_fills_nearly_to_the_last_slot(void)
{
	unsigned n = fill();

	CU_ASSERT_TRUE(n >= BUCKETS * XK_WAYS * 9 / 10);
	CU_ASSERT_PTR_NULL(table.stash);
	CU_ASSERT_EQUAL(table.n, n);
}

static void a_refused_put_changes_nothing(void)
{
	unsigned n = fill();

	for (unsigned i = n; i < MAX; i++)
		if (xk_table_put(&table, &obj[i]->node) == XK_OK)
			xk_table_del(&table, &obj[i]->node);
	CU_ASSERT_EQUAL(lies(&table), 0);
	CU_ASSERT_EQUAL(missed(&table, n), 0);
}

static void the_invariant_holds_while_entries_come_and_go_at_high_load(void)
{
	bool in[MAX] = { false };
	unsigned bad = 0, refused = 0;

	for (unsigned op = 0; op < 60000; op++) {
		/* About nine of ten slots are taken most of the time. */
		unsigned i = (unsigned)xk_rand_below(&dice, BUCKETS * XK_WAYS * 15 / 16);

		if (!in[i]) {
			in[i] = xk_table_put(&table, &obj[i]->node) == XK_OK;
			refused += !in[i];
		} else if (xk_rand_below(&dice, 16) == 0) {
			xk_table_del(&table, &obj[i]->node);
			in[i] = false;
		}
		bad += (xk_table_find(&table, obj[i]->node.hash, &obj[i]->node.key) != NULL) != in[i];
		if (op % 16 == 0)
			bad += lies(&table);
	}
	CU_ASSERT_EQUAL(bad, 0);
	CU_ASSERT_TRUE(refused < 60000 / 4);
	for (unsigned i = 0; i < MAX; i++)
		if (in[i])
			xk_table_del(&table, &obj[i]->node);
	CU_ASSERT_EQUAL(table.n, 0);
	CU_ASSERT_EQUAL(lies(&table), 0);
}

static void a_grown_table_has_the_same_entries_at_true_places(void)
{
	struct xk_table half, again;
	unsigned n = fill();

	CU_ASSERT_EQUAL_FATAL(xk_table_grow(&table, &half), XK_OK);
	CU_ASSERT_EQUAL(half.buckets, BUCKETS + BUCKETS / 2);
	CU_ASSERT_EQUAL(lies(&half), 0);
	CU_ASSERT_EQUAL(missed(&half, n), 0);
	CU_ASSERT_EQUAL(missed(&table, n), 0);
	CU_ASSERT_EQUAL_FATAL(xk_table_grow(&half, &again), XK_OK);
	CU_ASSERT_EQUAL(again.buckets, 2 * BUCKETS);
	CU_ASSERT_EQUAL(lies(&again), 0);
	CU_ASSERT_EQUAL(missed(&again, n), 0);
	xk_table_fini(&half);
	xk_table_fini(&again);
}

/* From 512 buckets on the hash comes from the buckets alone, whatever their number. */
static void growing_large_tables_reads_no_node(void)
{
	struct xk_table big, half, twice;
	unsigned n = 0, bad = 0;

	CU_ASSERT_EQUAL_FATAL(xk_table_init(&big, 512, 0, false), XK_OK);
	/* An eighth of the buckets is home to all, so that many live elsewhere. */
	for (; n < MAX; n++) {
		struct xk_mapnode *node = &obj[n]->node;

		do {
			node->key.w[0] = xk_rand_u64(&dice);
			node->hash = xk_hash_key(&node->key);
		} while (node->hash >> 29 != 5);
		CU_ASSERT_EQUAL_FATAL(xk_table_put(&big, node), XK_OK);
	}
	for (unsigned i = 0; i < n; i++)
		obj[i]->node.hash = ~obj[i]->node.hash;
	CU_ASSERT_EQUAL_FATAL(xk_table_grow(&big, &half), XK_OK);
	CU_ASSERT_EQUAL_FATAL(xk_table_grow(&half, &twice), XK_OK);
	for (unsigned i = 0; i < n; i++)
		obj[i]->node.hash = ~obj[i]->node.hash;
	bad += missed(&half, n) + missed(&twice, n);
	CU_ASSERT_EQUAL(bad, 0);
	xk_table_fini(&big);
	xk_table_fini(&half);
	xk_table_fini(&twice);
}

/* As the two ends of a connection have. */
static void of_two_with_one_hash_the_younger_is_first(void)
{
	struct xk_table grown;
	unsigned bad = 0;

	for (unsigned i = 0; i < 32; i++) {
		obj[i]->node.hash = obj[i & ~1u]->node.hash;
		CU_ASSERT_EQUAL_FATAL(xk_table_put(&table, &obj[i]->node), XK_OK);
	}
	CU_ASSERT_EQUAL_FATAL(xk_table_grow(&table, &grown), XK_OK);
	for (unsigned i = 1; i < 32; i += 2) {
		uint32_t h = obj[i]->node.hash;

		bad += xk_bucket_aim(xk_table_home(&table, h), xk_table_tag(h), xk_slab_ptr(0)) != obj[i];
		bad += xk_bucket_aim(xk_table_home(&grown, h), xk_table_tag(h), xk_slab_ptr(0)) != obj[i];
	}
	CU_ASSERT_EQUAL(bad, 0);
	CU_ASSERT_EQUAL(lies(&table) + missed(&table, 32) + missed(&grown, 32), 0);
	xk_table_fini(&grown);
}

static CU_TestInfo tests[] = {
	{ "a table that may not grow fills nearly to the last slot", a_table_that_may_not_grow_fills_nearly_to_the_last_slot },
	{ "a refused put changes nothing", a_refused_put_changes_nothing },
	{ "the invariant holds while entries come and go at high load", the_invariant_holds_while_entries_come_and_go_at_high_load },
	{ "a grown table has the same entries at true places", a_grown_table_has_the_same_entries_at_true_places },
	{ "growing large tables reads no node", growing_large_tables_reads_no_node },
	{ "of two with one hash the younger is first", of_two_with_one_hash_the_younger_is_first },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "table", NULL, NULL, setup, teardown, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return xk_test_main(suites);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_map.c - holds active maps to their promises: what is bound is found,
 * once, whatever collides, overflows, grows or fails to.
 */
#include "runtime/base/xk_bytes.h"
#include "runtime/base/xk_rand.h"
#include "runtime/map/xk_map.h"
#include "runtime/map/xk_table.h"
#include "tests/support/xk_test.h"

#include <stdlib.h>
#include <string.h>

struct obj {
	uint64_t          before[3];     /* so that the node's offset is not 0 */
	struct xk_mapnode node;
	uint32_t          no;
	uint32_t          seen;
};

static struct xk_map map;
static struct xk_slab slab;
static uint64_t blocks;

static void setup(void)
{
	blocks = xk_alloc_live();
	xk_slab_init(&slab, sizeof(struct obj));
	xk_map_init(&map, offsetof(struct obj, node));
	CU_ASSERT_EQUAL_FATAL(xk_alloc_live(), blocks);
}

static void teardown(void)
{
	xk_mem_fail_after(0);
	CU_ASSERT_EQUAL(xk_map_count(&map), 0);
	CU_ASSERT_EQUAL(slab.live, 0);
	for (uint32_t b = 0; map.tab.bucket != NULL && b < map.tab.buckets; b++)
		if (map.tab.bucket[b].over != 0)
			CU_FAIL("an empty map counts overflow");
	xk_map_fini(&map);
	xk_slab_fini(&slab);
	CU_ASSERT_EQUAL(xk_alloc_live(), blocks);
}

static struct obj *of_node(struct xk_mapnode *n)
{
	return n != NULL ? xk_container_of(n, struct obj, node) : NULL;
}

static struct xk_key key_of(uint64_t i)
{
	return (struct xk_key){ { 0x0a00000100000000u + i, i >> 3 } };
}

static struct obj *obj_new(struct xk_key k)
{
	struct obj *o = xk_slab_get(&slab);

	CU_ASSERT_PTR_NOT_NULL_FATAL(o);
	o->node.key = k;
	return o;
}

static struct obj *obj_bind(struct xk_key k)
{
	struct obj *o = obj_new(k);

	CU_ASSERT_EQUAL_FATAL(xk_map_bind(&map, &o->node), XK_OK);
	return o;
}

static void obj_gone(struct obj *o)
{
	xk_map_unbind(&map, &o->node);
	xk_slab_put(&slab, o);
}

static int put_back(struct xk_mapnode *n, void *arg)
{
	(void)arg;
	/* The memory is reused only after the walk: it still is an object. */
	xk_slab_put(&slab, of_node(n));
	return XK_MAP_REMOVE;
}

static void clear(void)
{
	xk_map_foreach(&map, put_back, NULL);
}

/* Keys that share one 32-bit hash, as many as one likes: CRC is linear. */
static struct xk_key colliding(uint32_t i)
{
	uint32_t c0 = xk_crc32c_soft(XK_HASH_SEED, 0), ci = xk_crc32c_soft(XK_HASH_SEED, i);

	return (struct xk_key){ { i, 0x1234567800000000u | (c0 ^ ci) } };
}

/* ---- tests ---------------------------------------------------------------------- */

/* n words at p, one by one. */
static uint32_t soft_words(uint32_t crc, const uint8_t *p, size_t n)
{
	for (; n != 0; n--, p += 8)
		crc = xk_crc32c_soft(crc, xk_raw64(p));
	return crc;
}

/* What the variant in use makes of keys, and of words at any place. */
static void hashes_as_by_table(void)
{
	uint8_t bytes[40 * 8];
	struct xk_rand r;

	xk_rand_init(&r, 7, 7);
	for (unsigned i = 0; i < 1000; i++) {
		uint64_t a = xk_rand_u64(&r), b = xk_rand_u64(&r);

		CU_ASSERT_EQUAL(xk_hash_pair_any(a, b), xk_crc32c_soft(xk_crc32c_soft(XK_HASH_SEED, a), b));
	}
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t)xk_rand_u64(&r);
	for (size_t at = 0; at < 8; at++)
		for (size_t n = 0; n < 39; n++)
			CU_ASSERT_EQUAL(xk_crc32c_any(~0u, bytes + at, n), soft_words(~0u, bytes + at, n));
}

static void every_variant_of_the_hash_gives_the_same(void)
{
	static const char *const name[] = { "table", "sse4.2", "crc" };
	unsigned tried = 0;

	for (size_t i = 0; i < XK_ARRAY_LEN(name); i++) {
		int err = xk_hash_set_variant(name[i]);

		CU_ASSERT(err == XK_OK || err == XK_E_NOTSUP || err == XK_E_NOENT);
		if (err == XK_OK) {
			hashes_as_by_table();
			tried++;
		}
	}
	CU_ASSERT(tried >= 1);
	CU_ASSERT_EQUAL(xk_hash_set_variant("md5"), XK_E_NOENT);
	CU_ASSERT(strlen(xk_hash_variant()) != 0);
}

static void the_hash_is_crc32c_by_instruction_and_by_table(void)
{
	uint32_t crc = 0xffffffffu;
	struct xk_rand r;

	/* RFC 3720, B.4: 32 bytes of zeroes. */
	for (unsigned i = 0; i < 4; i++)
		crc = xk_crc32c_soft(crc, 0);
	CU_ASSERT_EQUAL(~crc, 0x8a9136aau);
	xk_rand_init(&r, 7, 7);
	for (unsigned i = 0; i < 1000; i++) {
		struct xk_key k = { { xk_rand_u64(&r), xk_rand_u64(&r) } };
		uint32_t soft = xk_crc32c_soft(xk_crc32c_soft(XK_HASH_SEED, k.w[0]), k.w[1]);

		CU_ASSERT_EQUAL(xk_key_hash(&k), soft);
		CU_ASSERT_EQUAL(xk_hash_pair_any(k.w[0], k.w[1]), soft);
	}
}

static void a_tag_matches_its_slots_and_zero_the_free_ones(void)
{
	struct xk_bucket b = { .tag = { 0x8001, 0, 0x8001, 0xffff, 0, 0x7fff, 0x0180, 0x8001 } };

	CU_ASSERT_EQUAL(xk_bucket_match(&b, 0x8001), 0x85);
	CU_ASSERT_EQUAL(xk_bucket_match(&b, 0xffff), 0x08);
	CU_ASSERT_EQUAL(xk_bucket_match(&b, 0), 0x12);
	CU_ASSERT_EQUAL(xk_bucket_match(&b, 0x8000), 0);
}

static void an_empty_map_finds_nothing(void)
{
	struct xk_key k = key_of(1), many[32] = { { { 0, 0 } } };
	struct xk_mapnode *out[32];

	CU_ASSERT_PTR_NULL(xk_map_resolve(&map, &k));
	xk_map_resolve_bulk(&map, many, 32, out);
	CU_ASSERT_PTR_NULL(out[0]);
	CU_ASSERT_PTR_NULL(out[31]);
	CU_ASSERT_EQUAL(xk_alloc_live(), blocks);
}

static void what_is_bound_is_found_until_it_is_unbound(void)
{
	struct xk_key k = key_of(1), other = key_of(2);
	struct obj *o = obj_bind(k);

	CU_ASSERT_PTR_EQUAL(of_node(xk_map_resolve(&map, &k)), o);
	CU_ASSERT_PTR_NULL(xk_map_resolve(&map, &other));
	CU_ASSERT_EQUAL(o->node.bound, 1);
	xk_map_unbind(&map, &o->node);
	CU_ASSERT_EQUAL(o->node.bound, 0);
	CU_ASSERT_PTR_NULL(xk_map_resolve(&map, &k));
	xk_slab_put(&slab, o);
}

static void a_key_is_bound_once(void)
{
	struct obj *o = obj_bind(key_of(1)), *p = obj_new(key_of(1));
	struct xk_key k = key_of(1);

	CU_ASSERT_EQUAL(xk_map_bind(&map, &p->node), XK_E_EXIST);
	CU_ASSERT_EQUAL(p->node.bound, 0);
	CU_ASSERT_EQUAL(xk_map_count(&map), 1);
	CU_ASSERT_PTR_EQUAL(of_node(xk_map_resolve(&map, &k)), o);
	obj_gone(o);
	CU_ASSERT_EQUAL(xk_map_bind(&map, &p->node), XK_OK);
	obj_gone(p);
}

static void the_last_one_is_remembered_and_forgotten_with_its_binding(void)
{
	struct xk_key k = key_of(1), l = key_of(2);
	struct obj *o = obj_bind(k), *p = obj_bind(l);

	xk_map_resolve(&map, &k);
	xk_map_resolve(&map, &k);
	xk_map_resolve(&map, &l);
	CU_ASSERT_EQUAL(map.lookup, 3);
	CU_ASSERT_EQUAL(map.hit, 1);
	CU_ASSERT_PTR_EQUAL(map.last, &p->node);
	obj_gone(o);
	CU_ASSERT_PTR_EQUAL(map.last, &p->node);
	obj_gone(p);
	CU_ASSERT_PTR_NULL(map.last);
	CU_ASSERT_PTR_NULL(xk_map_resolve(&map, &l));
}

static void a_growing_map_keeps_everything_in_ten_to_fifteen_bytes_each(void)
{
	enum { N = 300000 };
	unsigned missed = 0, fat = 0;

	for (uint32_t i = 0; i < N; i++) {
		uint64_t full = (uint64_t)map.tab.buckets * 8 * 13 / 16, bytes;

		obj_bind(key_of(i))->no = i;
		bytes = xk_table_bytes(&map.tab);
		/* Just before it grows, 64 bytes for 6.5 entries; half as much again just after. */
		fat += i > 100 && xk_map_count(&map) == full && bytes > 10u * xk_map_count(&map);
		fat += i > 100 && bytes > 15u * xk_map_count(&map);
	}
	for (uint32_t i = 0; i < N; i++) {
		struct xk_key k = key_of(i);
		struct obj *o = of_node(xk_map_lookup(&map, &k));

		missed += o == NULL || o->no != i;
	}
	CU_ASSERT_EQUAL(missed, 0);
	CU_ASSERT_EQUAL(fat, 0);
	CU_ASSERT_PTR_NULL(map.tab.stash);
	clear();
}

static void keys_of_one_hash_are_all_found(void)
{
	enum { N = 300 };
	struct obj *o[N];
	struct xk_key k;

	for (uint32_t i = 0; i < N; i++) {
		o[i] = obj_bind(colliding(i));
		CU_ASSERT_EQUAL(o[i]->node.hash, o[0]->node.hash);
	}
	CU_ASSERT_PTR_NOT_NULL(map.tab.stash);
	for (uint32_t i = 0; i < N; i += 2)
		obj_gone(o[i]);
	for (uint32_t i = 0; i < N; i++) {
		k = colliding(i);
		CU_ASSERT_PTR_EQUAL(of_node(xk_map_resolve(&map, &k)), i % 2 ? o[i] : NULL);
	}
	for (uint32_t i = 0; i < N; i += 2)
		o[i] = obj_bind(colliding(i));
	/* The holes were filled before the stash grew. */
	CU_ASSERT_TRUE(map.tab.stash->used <= N);
	for (uint32_t i = 0; i < N; i++)
		obj_gone(o[i]);
}

static void a_map_that_cannot_grow_serves_until_it_is_full(void)
{
	struct obj *o[64];
	struct xk_key k;
	unsigned n = 0;
	int err = XK_OK;

	for (unsigned i = 0; i < 13; i++)
		o[n++] = obj_bind(key_of(i));
	CU_ASSERT_EQUAL_FATAL(map.tab.buckets, 2);
	while (n < 64 && err == XK_OK) {
		o[n] = obj_new(key_of(n));
		/* The next two: the larger table, the stash. */
		xk_mem_fail_after(1);
		err = xk_map_bind(&map, &o[n]->node);
		xk_mem_fail_after(0);
		n += err == XK_OK;
	}
	CU_ASSERT_EQUAL(err, XK_E_NOMEM);
	CU_ASSERT_TRUE(n >= 14 && n <= 16);
	CU_ASSERT_EQUAL(map.tab.buckets, 2);
	CU_ASSERT_EQUAL(o[n]->node.bound, 0);
	k = key_of(n);
	CU_ASSERT_PTR_NULL(xk_map_resolve(&map, &k));
	/* As soon as there is memory it goes on. */
	CU_ASSERT_EQUAL(xk_map_bind(&map, &o[n]->node), XK_OK);
	n++;
	for (unsigned i = 0; i < n; i++) {
		k = key_of(i);
		CU_ASSERT_PTR_EQUAL(of_node(xk_map_resolve(&map, &k)), o[i]);
		obj_gone(o[i]);
	}
}

static void the_first_bind_may_lack_memory_too(void)
{
	struct obj *o = obj_new(key_of(1));

	xk_mem_fail_after(1);
	CU_ASSERT_EQUAL(xk_map_bind(&map, &o->node), XK_E_NOMEM);
	CU_ASSERT_EQUAL(xk_map_bind(&map, &o->node), XK_OK);
	obj_gone(o);
}

static void a_bulk_resolve_finds_what_single_ones_find(void)
{
	struct xk_key k[32];
	struct xk_mapnode *out[32];
	struct xk_rand r;

	xk_rand_init(&r, 3, 3);
	for (uint32_t i = 0; i < 5000; i++)
		obj_bind(key_of(i));
	for (uint32_t i = 0; i < 40; i++)
		obj_bind(colliding(i));
	for (unsigned round = 0; round < 500; round++) {
		unsigned n = (unsigned)xk_rand_below(&r, 33), bad = 0;

		for (unsigned i = 0; i < n; i++)
			k[i] = xk_rand_below(&r, 4) == 0 ? colliding((uint32_t)xk_rand_below(&r, 50)) :
				key_of(xk_rand_below(&r, 6000));
		xk_map_resolve_bulk(&map, k, n, out);
		for (unsigned i = 0; i < n; i++)
			bad += out[i] != xk_map_lookup(&map, &k[i]);
		CU_ASSERT_EQUAL(bad, 0);
	}
	clear();
}

/* Random keys: odd ones are bound. */
static struct xk_key random_key(uint64_t i)
{
	return (struct xk_key){ { i * UINT64_C(0x9e3779b97f4a7c15), i ^ i << 40 } };
}

static void a_bulk_resolve_finds_what_lives_away_from_home(void)
{
	enum { N = 3300 };                    /* 79 % of 512 buckets */
	struct xk_key k[32];
	struct xk_mapnode *out[32];
	static struct obj *o[N];
	uint32_t away = 0, bad = 0;

	for (uint32_t i = 0; i < N; i++)
		o[i] = obj_bind(random_key(2 * i + 1));
	for (uint32_t b = 0; b < map.tab.buckets; b++)
		away += map.tab.bucket[b].over;
	CU_ASSERT_EQUAL(map.tab.buckets, 512);
	CU_ASSERT_TRUE(away > N / 50);
	for (uint32_t i = 0; i + 16 <= N; i += 16) {
		for (uint32_t j = 0; j < 32; j++)
			k[j] = random_key(2 * i + j);
		xk_map_resolve_bulk(&map, k, 32, out);
		for (uint32_t j = 0; j < 32; j++)
			bad += of_node(out[j]) != (j % 2 ? o[i + j / 2] : NULL);
	}
	CU_ASSERT_EQUAL(bad, 0);
	clear();
}

/* ---- walks ------------------------------------------------------------------------ */

struct walk { unsigned visits, limit; struct obj **all; unsigned n, next; };

static int walk_some(struct xk_mapnode *n, void *arg)
{
	struct walk *w = arg;
	struct obj *o = of_node(n);

	o->seen++;
	w->visits++;
	if (w->limit != 0 && w->visits == w->limit)
		return XK_MAP_STOP;
	return o->no % 3 == 0 ? XK_MAP_REMOVE : XK_MAP_KEEP;
}

static void a_walk_visits_each_once_removing_as_told(void)
{
	enum { N = 2000 };
	struct obj *o[N];
	struct walk w = { 0 };
	unsigned bad = 0;

	for (uint32_t i = 0; i < N; i++) {
		o[i] = obj_bind(i < N - 50 ? key_of(i) : colliding(i));
		o[i]->no = i;
	}
	xk_map_foreach(&map, walk_some, &w);
	CU_ASSERT_EQUAL(w.visits, N);
	for (uint32_t i = 0; i < N; i++) {
		struct obj *f = of_node(xk_map_lookup(&map, &o[i]->node.key));

		bad += o[i]->seen != 1 || o[i]->node.bound != (i % 3 != 0) || f != (i % 3 ? o[i] : NULL);
		if (i % 3 == 0)
			xk_slab_put(&slab, o[i]);
	}
	CU_ASSERT_EQUAL(bad, 0);
	CU_ASSERT_EQUAL(xk_map_count(&map), N - (N + 2) / 3);
	clear();
}

static void a_walk_stops_when_told(void)
{
	struct walk w = { .limit = 7 };

	for (uint32_t i = 0; i < 100; i++)
		obj_bind(key_of(i))->no = 1;
	xk_map_foreach(&map, walk_some, &w);
	CU_ASSERT_EQUAL(w.visits, 7);
	CU_ASSERT_EQUAL(xk_map_count(&map), 100);
	clear();
}

/* Unbinds a node elsewhere and binds two new ones at every visit. */
static int walk_meddle(struct xk_mapnode *n, void *arg)
{
	struct walk *w = arg;

	of_node(n)->seen++;
	w->visits++;
	if (w->n > 0 && w->all[w->n - 1]->seen == 0) {
		w->n--;
		if (w->all[w->n]->node.bound)
			xk_map_unbind(&map, &w->all[w->n]->node);
	}
	for (unsigned i = 0; i < 2 && w->next < 1500; i++)
		obj_bind(key_of(1000 + w->next++));
	return XK_MAP_KEEP;
}

static void a_walk_neither_skips_nor_repeats_while_the_map_changes(void)
{
	enum { N = 400 };
	struct obj *o[N];
	struct walk w = { .all = o, .n = N };
	unsigned bad = 0;

	for (uint32_t i = 0; i < N; i++)
		o[i] = obj_bind(key_of(i));
	xk_map_foreach(&map, walk_meddle, &w);
	CU_ASSERT_EQUAL(w.next, 1500);
	for (uint32_t i = 0; i < N; i++) {
		bad += o[i]->node.bound ? o[i]->seen != 1 : o[i]->seen > 1;
		if (!o[i]->node.bound)
			xk_slab_put(&slab, o[i]);
	}
	for (uint32_t i = 0; i < w.next; i++) {
		struct xk_key k = key_of(1000 + i);
		struct obj *f = of_node(xk_map_lookup(&map, &k));

		bad += f == NULL || f->seen > 1;
	}
	CU_ASSERT_EQUAL(bad, 0);
	/* What piled up meanwhile finds its places with the next growth. */
	obj_bind(key_of(500000));
	CU_ASSERT_TRUE(map.tab.buckets > 128);
	clear();
}

static void random_operations_agree_with_a_plain_array(void)
{
	enum { N = 6000 };
	static struct obj *o[N];
	struct xk_rand r;
	unsigned bad = 0;

	memset(o, 0, sizeof(o));
	xk_rand_init(&r, 11, 0);
	for (unsigned op = 0; op < 400000; op++) {
		/* The load swings, so that buckets fill, overflow and empty. */
		unsigned swing = op / 50000 % 2 ? 3 : 1;
		uint32_t i = (uint32_t)xk_rand_below(&r, N);
		struct xk_key k = i < 100 ? colliding(i) : key_of(i);
		struct xk_mapnode *n = xk_map_resolve(&map, &k);

		bad += of_node(n) != o[i];
		if (xk_rand_below(&r, 4) >= swing) {
			if (o[i] == NULL)
				o[i] = obj_bind(k);
		} else if (o[i] != NULL) {
			obj_gone(o[i]);
			o[i] = NULL;
		}
	}
	CU_ASSERT_EQUAL(bad, 0);
	for (uint32_t i = 0; i < N; i++)
		if (o[i] != NULL)
			obj_gone(o[i]);
}

static CU_TestInfo tests[] = {
	{ "the hash is CRC-32C by instruction and by table", the_hash_is_crc32c_by_instruction_and_by_table },
	{ "every variant of the hash gives the same", every_variant_of_the_hash_gives_the_same },
	{ "a tag matches its slots and zero the free ones", a_tag_matches_its_slots_and_zero_the_free_ones },
	{ "an empty map finds nothing", an_empty_map_finds_nothing },
	{ "what is bound is found until it is unbound", what_is_bound_is_found_until_it_is_unbound },
	{ "a key is bound once", a_key_is_bound_once },
	{ "the last one is remembered and forgotten with its binding", the_last_one_is_remembered_and_forgotten_with_its_binding },
	{ "a growing map keeps everything in ten to fifteen bytes each", a_growing_map_keeps_everything_in_ten_to_fifteen_bytes_each },
	{ "keys of one hash are all found", keys_of_one_hash_are_all_found },
	{ "a map that cannot grow serves until it is full", a_map_that_cannot_grow_serves_until_it_is_full },
	{ "the first bind may lack memory too", the_first_bind_may_lack_memory_too },
	{ "a bulk resolve finds what single ones find", a_bulk_resolve_finds_what_single_ones_find },
	{ "a bulk resolve finds what lives away from home", a_bulk_resolve_finds_what_lives_away_from_home },
	{ "a walk visits each once, removing as told", a_walk_visits_each_once_removing_as_told },
	{ "a walk stops when told", a_walk_stops_when_told },
	{ "a walk neither skips nor repeats while the map changes", a_walk_neither_skips_nor_repeats_while_the_map_changes },
	{ "random operations agree with a plain array", random_operations_agree_with_a_plain_array },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "map", NULL, NULL, setup, teardown, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return xk_test_main(suites);
}

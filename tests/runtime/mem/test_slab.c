/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_slab.c - promises of typed slabs: zeroed, aligned, named by a handle,
 * type-stable, and no growth over the lives of many graphs.
 */
#include <CUnit/CUnit.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "runtime/mem/xk_mem.h"
#include "tests/runtime/mem/mem_fixture.h"
#include "tests/support/xk_test.h"

#define N 5000u
static unsigned char *o[N];
static uint64_t live;

static void setup(void)
{
	live = xk_alloc_live();
	CU_ASSERT_EQUAL(live, 0);
}

static void teardown(void)
{
	xk_mem_fail_after(0);
	CU_ASSERT_EQUAL(xk_alloc_live(), live);
}

static void get_all(struct xk_slab *s, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		o[i] = xk_slab_get(s);
		CU_ASSERT_PTR_NOT_NULL_FATAL(o[i]);
	}
}

static void put_all(struct xk_slab *s, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		xk_slab_put(s, o[i]);
}

static bool is_zero(const unsigned char *p, size_t n)
{
	while (n-- > 0)
		if (*p++ != 0)
			return false;
	return true;
}

/* In a child whose address space is limited; exits with success when a slab
 * works as *arg says. */
static void use_in_little_space(void *arg)
{
	const struct { rlim_t gib; bool works; } *c = arg;
	struct rlimit lim = { c->gib << 30, c->gib << 30 };
	struct xk_slab s;
	void *x;

	setrlimit(RLIMIT_AS, &lim);
	xk_slab_init(&s, 100);
	x = xk_slab_get(&s);
	if ((x != NULL) != c->works || s.live != c->works)
		_exit(1);
	if (x != NULL)
		xk_slab_put(&s, x);
	xk_slab_fini(&s);
}

/* First of all: the reservation is made once in a process. */
static void little_address_space_is_enough_or_refused(void)
{
	struct { rlim_t gib; bool works; } enough = { 20, true }, few = { 6, true }, too_little = { 2, false };

#if defined(XK_ASAN) || defined(XK_TSAN)
	xk_test_skip("a sanitizer needs the address space itself");
	return;
#endif
	CU_ASSERT_FALSE(fx_aborts(use_in_little_space, &enough));
	CU_ASSERT_FALSE(fx_aborts(use_in_little_space, &few));
	CU_ASSERT_FALSE(fx_aborts(use_in_little_space, &too_little));
}

static void objects_are_zeroed_aligned_and_disjoint(void)
{
	static const size_t sizes[] = { 1, 64, 65, 200, 1000, 4033, 9000 };
	struct xk_slab s;

	for (unsigned k = 0; k < XK_ARRAY_LEN(sizes); k++) {
		xk_slab_init(&s, sizes[k]);
		for (unsigned round = 0; round < 2; round++) {
			for (unsigned i = 0; i < 300; i++) {
				o[i] = xk_slab_get(&s);
				CU_ASSERT_PTR_NOT_NULL_FATAL(o[i]);
				CU_ASSERT_EQUAL((uintptr_t)o[i] % XK_CACHELINE, 0);
				CU_ASSERT_TRUE(is_zero(o[i], sizes[k]));
				memset(o[i], (int)i + 1, sizes[k]);
			}
			for (unsigned i = 0; i < 300; i++) {
				CU_ASSERT_EQUAL(o[i][0], (unsigned char)(i + 1));
				CU_ASSERT_EQUAL(o[i][sizes[k] - 1], (unsigned char)(i + 1));
			}
			CU_ASSERT_EQUAL(s.live, 300);
			put_all(&s, 300);
		}
		xk_slab_fini(&s);
	}
}

static void handle_names_the_object_and_is_never_zero(void)
{
	struct xk_slab a, b;
	void *x;

	xk_slab_init(&a, 128);
	xk_slab_init(&b, 64);
	get_all(&a, N);
	for (unsigned i = 0; i < N; i++) {
		uint32_t h = xk_slab_handle(o[i]);

		CU_ASSERT_NOT_EQUAL(h, 0);
		CU_ASSERT_PTR_EQUAL(xk_slab_ptr(h), o[i]);
		if (i > 0)
			CU_ASSERT_NOT_EQUAL(h, xk_slab_handle(o[i - 1]));
	}
	x = xk_slab_get(&b);
	CU_ASSERT_PTR_EQUAL(xk_slab_ptr(xk_slab_handle(x)), x);
	xk_slab_put(&b, x);
	put_all(&a, N);
	xk_slab_fini(&a);
	xk_slab_fini(&b);
}

static void last_put_is_first_got(void)
{
	struct xk_slab s;

	xk_slab_init(&s, 192);
	get_all(&s, 100);
	put_all(&s, 100);
	for (unsigned i = 100; i-- > 0; )
		CU_ASSERT_PTR_EQUAL(xk_slab_get(&s), o[i]);
	put_all(&s, 100);
	xk_slab_fini(&s);
}

static void contents_stay_until_reuse_but_the_last_eight_bytes(void)
{
	struct xk_slab s;

	xk_slab_init(&s, 256);
	get_all(&s, 50);
	for (unsigned i = 0; i < 50; i++)
		memset(o[i], 0x40 + (int)i, 256);
	put_all(&s, 50);
	for (unsigned i = 0; i < 50; i++)
		for (unsigned k = 0; k < 248; k++)
			CU_ASSERT_EQUAL_FATAL(o[i][k], 0x40 + i);
	xk_slab_fini(&s);
}

/* A stale pointer meets an object of its own type: other slabs never get it. */
static void memory_is_type_stable_while_the_slab_lives(void)
{
	struct xk_slab a, b;

	xk_slab_init(&a, 128);
	xk_slab_init(&b, 128);
	get_all(&a, 1000);
	memset(o[7], 0xa5, 120);
	put_all(&a, 1000);
	for (unsigned i = 0; i < 3000; i++) {
		unsigned char *x = xk_slab_get(&b);

		CU_ASSERT_PTR_NOT_NULL_FATAL(x);
		memset(x, 0x11, 120);
		o[1000 + i] = x;
	}
	CU_ASSERT_EQUAL(o[7][0], 0xa5);
	CU_ASSERT_EQUAL(o[7][119], 0xa5);
	for (unsigned i = 0; i < 3000; i++)
		xk_slab_put(&b, o[1000 + i]);
	xk_slab_fini(&b);
	xk_slab_fini(&a);
}

/* The highest 2 MiB that one graph's worth of slabs reaches; within, a run places
 * its objects anew each time. */
static uint32_t one_graph(void)
{
	static const size_t sizes[] = { 64, 192, 320, 5000 };
	struct xk_slab s[XK_ARRAY_LEN(sizes)];
	uint32_t top = 0;

	for (unsigned k = 0; k < XK_ARRAY_LEN(sizes); k++) {
		xk_slab_init(&s[k], sizes[k]);
		get_all(&s[k], 700);
		for (unsigned i = 0; i < 700; i++)
			top = xk_slab_handle(o[i]) > top ? xk_slab_handle(o[i]) : top;
		put_all(&s[k], 700);
	}
	for (unsigned k = 0; k < XK_ARRAY_LEN(sizes); k++)
		xk_slab_fini(&s[k]);
	return top / ((2u << 20) / XK_CACHELINE);
}

/* A path takes one object of each of many slabs: no set of an 8-way cache of 32
 * KiB gets more than its share of their first lines. */
static void first_objects_of_many_slabs_spread_over_the_cache(void)
{
	static const size_t sizes[] = { 192, 448, 256, 1600 };
	unsigned set[64] = { 0 }, most = 0;
	struct xk_slab s[32];
	void *first[32];

	for (unsigned i = 0; i < 32; i++) {
		xk_slab_init(&s[i], sizes[i % XK_ARRAY_LEN(sizes)]);
		first[i] = xk_slab_get(&s[i]);
		CU_ASSERT_PTR_NOT_NULL_FATAL(first[i]);
		set[(uintptr_t)first[i] / 64 % 64]++;
		most = set[(uintptr_t)first[i] / 64 % 64] > most ? set[(uintptr_t)first[i] / 64 % 64] : most;
	}
	CU_ASSERT(most <= 4);
	for (unsigned i = 0; i < 32; i++) {
		xk_slab_put(&s[i], first[i]);
		xk_slab_fini(&s[i]);
	}
}

static void a_thousand_graphs_take_the_memory_of_one(void)
{
	uint32_t top = one_graph();

	for (unsigned i = 0; i < 1000; i++) {
		uint32_t t = one_graph();

		CU_ASSERT(t <= top);
		top = t > top ? t : top;
	}
}

static void every_get_may_be_made_to_fail(void)
{
	struct xk_slab s;

	xk_slab_init(&s, 100);
	xk_mem_fail_after(0);
	CU_ASSERT_PTR_NOT_NULL(o[0] = xk_slab_get(&s));
	CU_ASSERT_EQUAL(xk_mem_tries(), 1);
	xk_mem_fail_after(1);
	CU_ASSERT_PTR_NULL(xk_slab_get(&s));
	CU_ASSERT_EQUAL(s.live, 1);
	CU_ASSERT_PTR_NOT_NULL(o[1] = xk_slab_get(&s));
	put_all(&s, 2);
	xk_slab_fini(&s);
}

static struct xk_slab aslab;
static void put_twice(void *x)
{
	xk_slab_put(&aslab, x);
	xk_slab_put(&aslab, x);
}
static void fini_live(void *x)
{
	(void)x;
	xk_slab_fini(&aslab);
}

static void misuse_aborts(void)
{
	void *x;

	xk_slab_init(&aslab, 64);
	x = xk_slab_get(&aslab);
	CU_ASSERT_TRUE(fx_aborts(fini_live, x));
#ifdef XK_DEBUG
	CU_ASSERT_TRUE(fx_aborts(put_twice, x));
#else
	(void)put_twice;
#endif
	xk_slab_put(&aslab, x);
	xk_slab_fini(&aslab);
}

static CU_TestInfo tests[] = {
	{ "little address space is enough or refused", little_address_space_is_enough_or_refused },
	{ "objects are zeroed, aligned and disjoint", objects_are_zeroed_aligned_and_disjoint },
	{ "handle names the object and is never zero", handle_names_the_object_and_is_never_zero },
	{ "last put is first got", last_put_is_first_got },
	{ "contents stay until reuse but the last eight bytes", contents_stay_until_reuse_but_the_last_eight_bytes },
	{ "memory is type-stable while the slab lives", memory_is_type_stable_while_the_slab_lives },
	{ "a thousand graphs take the memory of one", a_thousand_graphs_take_the_memory_of_one },
	{ "first objects of many slabs spread over the cache", first_objects_of_many_slabs_spread_over_the_cache },
	{ "every get may be made to fail", every_get_may_be_made_to_fail },
	{ "misuse aborts", misuse_aborts },
	CU_TEST_INFO_NULL
};

static const CU_SuiteInfo suites[] = {
	{ "slab", NULL, NULL, setup, teardown, tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}

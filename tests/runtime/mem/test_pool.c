/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_pool.c - promises of message buffers: LIFO on their own VP, home from
 * every other, accounted to the last one, refused at the limit, checked in the
 * debug build.
 */
#include <CUnit/CUnit.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/mem/xk_mem.h"
#include "tests/runtime/mem/mem_fixture.h"
#include "tests/support/xk_test.h"

static struct xk_mem_stats stats_of(enum xk_memclass c)
{
	struct xk_mem_stats s[XK_MEM_CLASSES];

	xk_mempool_stats(fx.pool, s);
	return s[c];
}

static void *get(unsigned vp, enum xk_memclass c)
{
	fx_enter(vp);
	return xk_mem_get(&fx.vp[vp], c);
}

static void put(unsigned vp, enum xk_memclass c, void *b)
{
	fx_enter(vp);
	xk_mem_put(&fx.vp[vp], c, b);
}

/* ---- the freelist -------------------------------------------------------------- */

static void last_put_is_first_got(void)
{
	void *b[100];

	for (unsigned c = 0; c < XK_MEM_CLASSES; c++) {
		for (unsigned i = 0; i < 100; i++)
			b[i] = get(0, (enum xk_memclass)c);
		for (unsigned i = 0; i < 100; i++)
			put(0, (enum xk_memclass)c, b[i]);
		for (unsigned i = 100; i-- > 0; )
			CU_ASSERT_PTR_EQUAL(get(0, (enum xk_memclass)c), b[i]);
		for (unsigned i = 0; i < 100; i++)
			put(0, (enum xk_memclass)c, b[i]);
	}
}

static void lifo_order_survives_a_spill(void)
{
	enum { N = XK_MEM_CACHE + 500 };
	static void *b[N];
	uint32_t cap = fx.vp[0].cache[XK_MEM_SMALL].cap;

	CU_ASSERT_FATAL(cap <= XK_MEM_CACHE);
	for (unsigned i = 0; i < N; i++)
		b[i] = get(0, XK_MEM_SMALL);
	for (unsigned i = 0; i < N; i++) {
		put(0, XK_MEM_SMALL, b[i]);
		CU_ASSERT(fx.vp[0].cache[XK_MEM_SMALL].n <= cap);
	}
	for (unsigned i = N; i-- > N - (cap - XK_MEM_BATCH); )
		CU_ASSERT_PTR_EQUAL(get(0, XK_MEM_SMALL), b[i]);
	for (unsigned i = N; i-- > N - (cap - XK_MEM_BATCH); )
		put(0, XK_MEM_SMALL, b[i]);
}

static void buffers_are_whole_lines_apart_and_disjoint(void)
{
	static char *b[500];

	for (unsigned c = 0; c < XK_MEM_CLASSES; c++) {
		for (unsigned i = 0; i < 500; i++) {
			b[i] = get(1, (enum xk_memclass)c);
			CU_ASSERT_EQUAL((uintptr_t)b[i] % XK_CACHELINE, 0);
			memset(b[i], (int)i, xk_mem_size[c]);
		}
		for (unsigned i = 0; i < 500; i++)
			for (uint32_t k = 0; k < xk_mem_size[c]; k += 61)
				CU_ASSERT_EQUAL_FATAL((unsigned char)b[i][k], (unsigned char)i);
		for (unsigned i = 0; i < 500; i++)
			put(1, (enum xk_memclass)c, b[i]);
	}
}

static void neighbours_start_in_every_set_of_the_first_cache(void)
{
	static void *b[64];
	uint64_t sets = 0;

	for (unsigned i = 0; i < 64; i++) {
		b[i] = get(0, XK_MEM_MEDIUM);
		sets |= (uint64_t)1 << ((uintptr_t)b[i] / XK_CACHELINE % 64);
	}
	CU_ASSERT_EQUAL(sets, UINT64_MAX);
	for (unsigned i = 0; i < 64; i++)
		put(0, XK_MEM_MEDIUM, b[i]);
}

static void warm_cache_needs_no_refill(void)
{
	void *b = get(0, XK_MEM_LARGE);
	uint64_t before = fx.vp[0].refills;

	for (unsigned i = 0; i < 10000; i++) {
		put(0, XK_MEM_LARGE, b);
		b = get(0, XK_MEM_LARGE);
	}
	CU_ASSERT_EQUAL(fx.vp[0].refills, before);
	put(0, XK_MEM_LARGE, b);
}

/* ---- accounts ------------------------------------------------------------------- */

static void stats_are_exact_at_rest(void)
{
	void *b[10];

	for (unsigned i = 0; i < 10; i++)
		b[i] = get(i % FX_VPS, XK_MEM_MEDIUM);
	CU_ASSERT_EQUAL(stats_of(XK_MEM_MEDIUM).outstanding, 10);
	CU_ASSERT_EQUAL(stats_of(XK_MEM_SMALL).outstanding, 0);
	CU_ASSERT_EQUAL(stats_of(XK_MEM_MEDIUM).carved, FX_VPS * XK_MEM_BATCH);
	CU_ASSERT_EQUAL(stats_of(XK_MEM_MEDIUM).free, FX_VPS * XK_MEM_BATCH - 10);
	for (unsigned i = 0; i < 10; i++)
		put(i % FX_VPS, XK_MEM_MEDIUM, b[i]);
	CU_ASSERT_EQUAL(stats_of(XK_MEM_MEDIUM).outstanding, 0);
}

static void leaked_buffers_are_counted_when_the_pool_goes(void)
{
	struct xk_mem_conf c = { .limit = 1 << 20 };
	struct xk_mempool *p;
	static struct xk_memvp v;

	CU_ASSERT_EQUAL_FATAL(xk_mempool_new(&p, &c, 1), XK_OK);
	CU_ASSERT_EQUAL_FATAL(xk_memvp_init(&v, p, 0), XK_OK);
	fx_enter(0);
	xk_mem_self = &v;
	CU_ASSERT_PTR_NOT_NULL(xk_mem_get(&v, XK_MEM_SMALL));
	CU_ASSERT_PTR_NOT_NULL(xk_mem_get(&v, XK_MEM_SMALL));
	CU_ASSERT_PTR_NOT_NULL(xk_mem_get(&v, XK_MEM_LARGE));
	xk_memvp_fini(&v);
	fx_enter(0);
	CU_ASSERT_EQUAL(xk_mempool_free(p), 3);
}

static void limit_refuses_and_counts(void)
{
	static void *b[4096];
	unsigned n = 0;
	uint64_t misses;

	fx_teardown();
	fx_begin(80 * XK_MEM_LARGE_SIZE, false, 2);
	while ((b[n] = get(0, XK_MEM_LARGE)) != NULL)
		n++;
	CU_ASSERT_EQUAL(n, 60);
	misses = fx.vp[0].misses;
	CU_ASSERT_EQUAL(misses, 1);
	CU_ASSERT_PTR_NULL(get(1, XK_MEM_LARGE));      /* none to steal */
	CU_ASSERT_EQUAL(fx.vp[1].misses, 1);
	put(0, XK_MEM_LARGE, b[--n]);
	CU_ASSERT_PTR_EQUAL(get(0, XK_MEM_LARGE), b[n]);
	for (n = 0; n < 60; n++)
		put(0, XK_MEM_LARGE, b[n]);
}

/* Takes up to n; returns how many it got. */
static unsigned take(enum xk_memclass c, void **b, unsigned n)
{
	unsigned i;

	for (i = 0; i < n && (b[i] = get(0, c)) != NULL; i++)
		;
	return i;
}

/* Who asks hears of a shortage in time, and of its end; what lies in caches is none. */
static void the_pool_says_how_full_it_is(void)
{
	static void *b[40000];
	const uint64_t limit = 64u << 20;
	const unsigned all = (unsigned)(limit * 3 / 4 / XK_MEM_MEDIUM_SIZE);
	unsigned n, m;

	fx_teardown();
	fx_begin(limit, false, 2);
	CU_ASSERT_EQUAL(xk_mem_fill(&fx.vp[0]), 0);
	n = take(XK_MEM_MEDIUM, b, all / 2);
	CU_ASSERT(xk_mem_fill(&fx.vp[0]) >= XK_MEM_FULL * 4 / 10 && xk_mem_fill(&fx.vp[0]) <= XK_MEM_FULL / 2);
	CU_ASSERT_EQUAL(xk_mem_fill(&fx.vp[1]), xk_mem_fill(&fx.vp[0]));
	n += take(XK_MEM_MEDIUM, b + n, all / 4);
	CU_ASSERT(xk_mem_fill(&fx.vp[0]) >= XK_MEM_FULL * 6 / 10 && xk_mem_fill(&fx.vp[0]) <= XK_MEM_FULL * 3 / 4);
	/* Another class has no part in it. */
	m = take(XK_MEM_SMALL, b + n, 1000);
	CU_ASSERT(xk_mem_fill(&fx.vp[0]) <= XK_MEM_FULL * 3 / 4);
	while (m > 0)
		put(0, XK_MEM_SMALL, b[n + --m]);
	n += take(XK_MEM_MEDIUM, b + n, all);
	CU_ASSERT(n < all + 64);
	CU_ASSERT_EQUAL(xk_mem_fill(&fx.vp[0]), XK_MEM_FULL);
	while (n > 0)
		put(0, XK_MEM_MEDIUM, b[--n]);
	CU_ASSERT_EQUAL(xk_mem_fill(&fx.vp[0]), 0);
}

/* What a thousand VPs keep for themselves is not used. */
static void full_caches_are_no_shortage(void)
{
	static struct xk_memvp v[1024];
	static void *b[512];
	struct xk_mempool *p;

	CU_ASSERT_EQUAL_FATAL(xk_mempool_new(&p, &(struct xk_mem_conf){ .limit = 256u << 20 }, 1024), XK_OK);
	for (unsigned i = 0; i < 1024; i++) {
		CU_ASSERT_EQUAL_FATAL(xk_memvp_init(&v[i], p, (uint16_t)i), XK_OK);
		xk_mem_self = &v[i];
		for (unsigned k = 0; k < v[i].cache[XK_MEM_MEDIUM].cap; k++)
			b[k] = xk_mem_get(&v[i], XK_MEM_MEDIUM);
		for (unsigned k = v[i].cache[XK_MEM_MEDIUM].cap; k > 0; k--)
			xk_mem_put(&v[i], XK_MEM_MEDIUM, b[k - 1]);
	}
	CU_ASSERT_EQUAL(xk_mem_fill(&v[0]), 0);
	xk_mem_self = NULL;
	for (unsigned i = 0; i < 1024; i++)
		xk_memvp_fini(&v[i]);
	CU_ASSERT_EQUAL(xk_mempool_free(p), 0);
}

/* Or one that has no more to do would have the last ones for ever. */
static void of_the_last_ones_who_rests_keeps_none(void)
{
	void *b[64];
	unsigned n;

	fx_teardown();
	fx_begin(16 * XK_MEM_MEDIUM_SIZE, false, 2);
	n = take(XK_MEM_MEDIUM, b, 1);
	put(0, XK_MEM_MEDIUM, b[0]);
	fx_enter(0);
	xk_memvp_share(&fx.vp[0]);
	CU_ASSERT(fx.vp[0].cache[XK_MEM_MEDIUM].n != 0);         /* there is no want of any */
	n = take(XK_MEM_MEDIUM, b, XK_ARRAY_LEN(b));
	CU_ASSERT(n > 8 && n < 16);
	for (unsigned i = n; i > 0; i--)
		put(0, XK_MEM_MEDIUM, b[i - 1]);
	CU_ASSERT_PTR_NULL(get(1, XK_MEM_MEDIUM));
	fx_enter(0);
	xk_memvp_share(&fx.vp[0]);
	CU_ASSERT_EQUAL(fx.vp[0].cache[XK_MEM_MEDIUM].n, 0);
	/* Each is to have some. */
	b[0] = get(1, XK_MEM_MEDIUM);
	CU_ASSERT_PTR_NOT_NULL_FATAL(b[0]);
	CU_ASSERT_EQUAL(fx.vp[1].cache[XK_MEM_MEDIUM].n + 1, n / 2);
	put(1, XK_MEM_MEDIUM, b[0]);
	fx_enter(0);
}

static void one_class_cannot_starve_another(void)
{
	static void *b[XK_MEM_CLASSES][4096];
	unsigned n[XK_MEM_CLASSES] = { 0 };
	const uint64_t limit = 80 * XK_MEM_LARGE_SIZE;
	uint64_t bytes = 0;

	fx_teardown();
	fx_begin(limit, false, 2);
	for (unsigned c = 0; c < XK_MEM_CLASSES; c++) {
		while ((b[c][n[c]] = get(0, (enum xk_memclass)c)) != NULL)
			n[c]++;
		CU_ASSERT(n[c] >= limit / 8 / xk_mem_size[c]);
		bytes += (uint64_t)n[c] * xk_mem_size[c];
	}
	CU_ASSERT(bytes <= limit);
	for (unsigned c = 0; c < XK_MEM_CLASSES; c++)
		while (n[c] > 0)
			put(0, (enum xk_memclass)c, b[c][--n[c]]);
}

static void caches_of_many_vps_do_not_hoard(void)
{
	static struct xk_memvp v[4096];
	struct xk_mem_conf c = { .limit = 0 };
	struct xk_mempool *p;
	uint64_t hoard = 0;

	CU_ASSERT_EQUAL_FATAL(xk_mempool_new(&p, &c, 4096), XK_OK);
	for (unsigned i = 0; i < 4096; i++)
		CU_ASSERT_EQUAL_FATAL(xk_memvp_init(&v[i], p, (uint16_t)i), XK_OK);
	for (unsigned k = 0; k < XK_MEM_CLASSES; k++) {
		CU_ASSERT(v[0].cache[k].cap >= 16 && v[0].cache[k].cap <= XK_MEM_CACHE);
		hoard += (uint64_t)v[0].cache[k].cap * xk_mem_size[k] * 4096;
	}
	/* Some of the limit always circulates, even at the smallest caps. */
	CU_ASSERT(hoard <= (uint64_t)896 << 20);
	for (unsigned i = 0; i < 4096; i++)
		xk_memvp_fini(&v[i]);
	CU_ASSERT_EQUAL(xk_mempool_free(p), 0);
}

static void large_pages_serve_as_well_as_small(void)
{
	static void *b[2000];

	fx_teardown();
	fx_begin((uint64_t)32 << 20, true, 2);
	for (unsigned i = 0; i < 2000; i++) {
		b[i] = get(0, XK_MEM_LARGE);
		CU_ASSERT_PTR_NOT_NULL_FATAL(b[i]);
		memset(b[i], 1, XK_MEM_LARGE_SIZE);
	}
	CU_ASSERT_EQUAL(stats_of(XK_MEM_LARGE).outstanding, 2000);
	CU_ASSERT_FALSE(stats_of(XK_MEM_SMALL).huge);      /* no chunk yet */
	for (unsigned i = 0; i < 2000; i++)
		put(0, XK_MEM_LARGE, b[i]);
}

/* ---- other VPs -------------------------------------------------------------------- */

static void foreign_buffer_comes_home(void)
{
	void *b = get(0, XK_MEM_SMALL), *own[XK_MEM_BATCH];
	bool seen = false;
	unsigned n = fx.vp[0].cache[XK_MEM_SMALL].n;

	fx_enter(1);
	xk_mem_put_foreign(&fx.vp[1], XK_MEM_SMALL, 0, b);
	CU_ASSERT_EQUAL(fx.vp[1].nforeign, 1);
	CU_ASSERT_EQUAL(fx_out(), 0);                       /* travelling is not lost */
	xk_memvp_flush(&fx.vp[1]);
	CU_ASSERT_EQUAL(fx.vp[1].nforeign, 0);
	CU_ASSERT_EQUAL(fx.vp[0].nreturned, 1);
	CU_ASSERT_EQUAL(fx_out(), 0);
	for (unsigned i = 0; i < n; i++)
		own[i] = get(0, XK_MEM_SMALL);
	seen = get(0, XK_MEM_SMALL) == b;                   /* before the stock is asked */
	CU_ASSERT_TRUE(seen);
	CU_ASSERT_EQUAL(fx.vp[0].nreturned, 0);
	put(0, XK_MEM_SMALL, b);
	for (unsigned i = 0; i < n; i++)
		put(0, XK_MEM_SMALL, own[i]);
}

static void foreign_buffers_of_many_homes_and_classes_are_sorted(void)
{
	void *b[3 * 40];
	unsigned n = 0;

	for (unsigned i = 0; i < 40; i++)
		for (unsigned h = 0; h < 3; h++)
			b[n++] = get(h, (enum xk_memclass)((i + h) % XK_MEM_CLASSES));
	fx_enter(3);
	for (unsigned i = 0; i < n; i++)
		xk_mem_put_foreign(&fx.vp[3], (enum xk_memclass)((i / 3 + i % 3) % XK_MEM_CLASSES), (uint16_t)(i % 3), b[i]);
	xk_memvp_flush(&fx.vp[3]);
	for (unsigned h = 0; h < 3; h++)
		CU_ASSERT_EQUAL(fx.vp[h].nreturned, 40);
	CU_ASSERT_EQUAL(fx_out(), 0);
}

static void full_foreign_array_sends_itself(void)
{
	void *b[XK_MEM_BATCH];

	for (unsigned i = 0; i < XK_MEM_BATCH; i++)
		b[i] = get(0, XK_MEM_MEDIUM);
	fx_enter(2);
	for (unsigned i = 0; i < XK_MEM_BATCH; i++)
		xk_mem_put_foreign(&fx.vp[2], XK_MEM_MEDIUM, 0, b[i]);
	CU_ASSERT_EQUAL(fx.vp[2].nforeign, 0);
	CU_ASSERT_EQUAL(fx.vp[0].nreturned, XK_MEM_BATCH);
}

static void foreign_put_at_home_is_a_plain_put(void)
{
	void *b = get(0, XK_MEM_MEDIUM);

	xk_mem_put_foreign(&fx.vp[0], XK_MEM_MEDIUM, 0, b);
	CU_ASSERT_EQUAL(fx.vp[0].nforeign, 0);
	CU_ASSERT_PTR_EQUAL(get(0, XK_MEM_MEDIUM), b);
	put(0, XK_MEM_MEDIUM, b);
}

static void buffers_of_a_vp_that_is_gone_go_to_the_stock(void)
{
	void *b = get(1, XK_MEM_LARGE);
	uint64_t carved = stats_of(XK_MEM_LARGE).carved;

	xk_memvp_fini(&fx.vp[1]);
	fx_enter(0);
	xk_mem_put_foreign(&fx.vp[0], XK_MEM_LARGE, 1, b);
	xk_memvp_flush(&fx.vp[0]);
	CU_ASSERT_EQUAL(stats_of(XK_MEM_LARGE).free, carved);
	CU_ASSERT_EQUAL_FATAL(xk_memvp_init(&fx.vp[1], fx.pool, 1), XK_OK);
}

static void idle_home_does_not_hoard_what_comes_back(void)
{
	enum { N = 3 * XK_MEM_CACHE };
	static void *b[N];

	for (unsigned i = 0; i < N; i++)
		b[i] = get(0, XK_MEM_SMALL);
	fx_enter(1);
	for (unsigned i = 0; i < N; i++)
		xk_mem_put_foreign(&fx.vp[1], XK_MEM_SMALL, 0, b[i]);
	xk_memvp_flush(&fx.vp[1]);
	CU_ASSERT(fx.vp[0].nreturned <= 2 * XK_MEM_CACHE);
	CU_ASSERT_EQUAL(fx_out(), 0);
	/* The rest is there for others, without carving. */
	CU_ASSERT(stats_of(XK_MEM_SMALL).carved <= N + XK_MEM_BATCH);
	for (unsigned i = 0; i < XK_MEM_CACHE; i++)
		b[i] = get(2, XK_MEM_SMALL);
	CU_ASSERT(stats_of(XK_MEM_SMALL).carved <= N + XK_MEM_BATCH);
	for (unsigned i = 0; i < XK_MEM_CACHE; i++)
		put(2, XK_MEM_SMALL, b[i]);
}

/* ---- failure ---------------------------------------------------------------------- */

static void hook_fails_exactly_the_kth_trip(void)
{
	void *b[8];

	xk_memvp_starve(&fx.vp[0], true);
	for (unsigned k = 1; k <= 8; k++) {
		xk_mem_fail_after(k);
		for (unsigned i = 0; i < 8; i++) {
			b[i] = get(0, XK_MEM_SMALL);
			CU_ASSERT_EQUAL(b[i] == NULL, i + 1 == k);
		}
		CU_ASSERT_EQUAL(xk_mem_tries(), 8);
		for (unsigned i = 0; i < 8; i++)
			if (b[i] != NULL)
				put(0, XK_MEM_SMALL, b[i]);
		CU_ASSERT_EQUAL(fx_out(), 0);
	}
	CU_ASSERT_EQUAL(fx.vp[0].misses, 8);
	CU_ASSERT_EQUAL(fx.vp[0].cache[XK_MEM_SMALL].n, 0);
	xk_mem_fail_after(0);
	xk_memvp_starve(&fx.vp[0], false);
}

static void building_a_pool_survives_every_failure(void)
{
	struct xk_mem_conf c = { .limit = 1 << 20 };
	struct xk_mempool *p;
	static struct xk_memvp v[3];
	uint64_t live = xk_alloc_live();

	for (unsigned k = 1; k <= 5; k++) {
		bool ok;

		memset(v, 0, sizeof(v));
		xk_mem_fail_after(k);
		ok = xk_mempool_new(&p, &c, 3) == XK_OK;
		for (unsigned i = 0; ok && i < 3; i++)
			ok = xk_memvp_init(&v[i], p, (uint16_t)i) == XK_OK;
		CU_ASSERT_EQUAL(ok, k == 5);
		for (unsigned i = 0; i < 3; i++)
			xk_memvp_fini(&v[i]);
		CU_ASSERT_EQUAL(xk_mempool_free(p), 0);
		CU_ASSERT_EQUAL(xk_alloc_live(), live);
	}
	xk_mem_fail_after(0);
	CU_ASSERT_EQUAL(xk_mempool_new(&p, &c, 0), XK_E_INVAL);
	CU_ASSERT_EQUAL(xk_mempool_new(&p, &c, XK_VP_MAX + 1), XK_E_INVAL);
}

static void control_memory_is_zeroed_counted_and_may_fail(void)
{
	uint64_t live = xk_alloc_live();
	char *a = xk_alloc(100), *s = xk_strdup("virtual processor");

	for (unsigned i = 0; i < 100; i++)
		CU_ASSERT_EQUAL(a[i], 0);
	CU_ASSERT_STRING_EQUAL(s, "virtual processor");
	CU_ASSERT_EQUAL(xk_alloc_live(), live + 2);
	xk_mem_fail_after(2);
	xk_free(a);
	a = xk_alloc(0);
	CU_ASSERT_PTR_NOT_NULL(a);
	CU_ASSERT_PTR_NULL(xk_strdup(s));
	CU_ASSERT_EQUAL(xk_mem_tries(), 2);
	xk_free(a);
	xk_free(s);
	xk_free(NULL);
	CU_ASSERT_EQUAL(xk_alloc_live(), live);
}

/* ---- the debug build's checks --------------------------------------------------------- */

static void put_twice(void *b)
{
	put(0, XK_MEM_SMALL, b);
	put(0, XK_MEM_SMALL, b);
}

static void put_elsewhere(void *b)
{
	put(1, XK_MEM_SMALL, b);
}

static void put_as_other_class(void *b)
{
	put(0, XK_MEM_LARGE, b);
}

static void touch_from_outside(void *b)
{
	fx_enter(1);
	xk_mem_put(&fx.vp[0], XK_MEM_SMALL, b);
}

static void write_after_free(void *b)
{
	put(0, XK_MEM_SMALL, b);
	((volatile char *)b)[200] = 7;
	(void)get(0, XK_MEM_SMALL);
}

static void debug_build_aborts_on_misuse(void)
{
	void *b;

#ifndef XK_DEBUG
	xk_test_skip("only with --enable-debug");
	return;
#endif
	b = get(0, XK_MEM_SMALL);
	CU_ASSERT_TRUE(fx_aborts(put_twice, b));
	CU_ASSERT_TRUE(fx_aborts(put_elsewhere, b));
	CU_ASSERT_TRUE(fx_aborts(put_as_other_class, b));
	CU_ASSERT_TRUE(fx_aborts(touch_from_outside, b));
	CU_ASSERT_TRUE(fx_aborts(write_after_free, b));
	put(0, XK_MEM_SMALL, b);
}

/* ---- passed on ------------------------------------------------------------------ */

/* Both VPs have buffers of their own; what VP 0 used last is what VP 1 uses first. */
static void what_one_vp_used_last_the_next_uses_first(void)
{
	struct xk_memhot hot = { .n = { 0 } };
	void *b[3];

	put(1, XK_MEM_LARGE, get(1, XK_MEM_LARGE));
	fx_enter(0);
	xk_memvp_take_hot(&fx.vp[0], &hot);
	for (unsigned i = 0; i < 3; i++)
		b[i] = get(0, XK_MEM_LARGE);
	for (unsigned i = 0; i < 3; i++)
		put(0, XK_MEM_LARGE, b[i]);
	xk_memvp_leave_hot(&fx.vp[0], &hot);
	CU_ASSERT_EQUAL(hot.n[XK_MEM_LARGE], XK_MEM_HOT);
	fx_enter(1);
	xk_memvp_take_hot(&fx.vp[1], &hot);
	CU_ASSERT_EQUAL(hot.n[XK_MEM_LARGE], 0);
	for (unsigned i = 3; i-- > 0; )
		CU_ASSERT_PTR_EQUAL(get(1, XK_MEM_LARGE), b[i]);
	for (unsigned i = 0; i < 3; i++)
		put(1, XK_MEM_LARGE, b[i]);
	CU_ASSERT_EQUAL(fx_out(), 0);
}

/* Freed cold: under what is passed on, in this turn and the next; nothing is lost. */
static void what_is_cold_lies_below(void)
{
	struct xk_memhot hot = { .n = { 0 } };
	void *cold = get(0, XK_MEM_SMALL), *warm = get(0, XK_MEM_SMALL);

	xk_memvp_take_hot(&fx.vp[0], &hot);
	put(0, XK_MEM_SMALL, warm);
	xk_mem_put_cold(&fx.vp[0], XK_MEM_SMALL, cold);
	CU_ASSERT_PTR_EQUAL(get(0, XK_MEM_SMALL), warm);
	put(0, XK_MEM_SMALL, warm);
	xk_memvp_leave_hot(&fx.vp[0], &hot);
	CU_ASSERT_PTR_EQUAL(hot.slot[XK_MEM_SMALL][XK_MEM_HOT - 1], warm);
	xk_memvp_take_hot(&fx.vp[0], &hot);
	for (unsigned i = 0; i < XK_MEM_HOT; i++)
		CU_ASSERT_PTR_NOT_EQUAL(fx.vp[0].cache[XK_MEM_SMALL].slot[fx.vp[0].cache[XK_MEM_SMALL].n - 1 - i], cold);
	xk_memvp_leave_hot(&fx.vp[0], &hot);
	/* Outside a turn of many it is a put like any other. */
	cold = get(0, XK_MEM_SMALL);
	xk_mem_put_cold(&fx.vp[0], XK_MEM_SMALL, cold);
	CU_ASSERT_PTR_EQUAL(get(0, XK_MEM_SMALL), cold);
	put(0, XK_MEM_SMALL, cold);
	xk_memhot_fini(&hot, fx.pool);
	CU_ASSERT_EQUAL(fx_out(), 0);
}

/* More than there is room for goes the usual way; an empty cache takes it in. */
static void cold_buffers_serve_when_others_are_out(void)
{
	enum { N = XK_MEM_COLD + 8 };
	struct xk_memhot hot = { .n = { 0 } };
	void *b[N];
	uint64_t trips;

	xk_memvp_take_hot(&fx.vp[0], &hot);
	for (unsigned i = 0; i < N; i++)
		b[i] = get(0, XK_MEM_MEDIUM);
	for (unsigned i = 0; i < N; i++)
		xk_mem_put_cold(&fx.vp[0], XK_MEM_MEDIUM, b[i]);
	CU_ASSERT_EQUAL(fx.vp[0].ncold[XK_MEM_MEDIUM], XK_MEM_COLD);
	CU_ASSERT_EQUAL(fx_out(), 0);
	trips = fx.vp[0].refills;
	for (unsigned i = 0; i < N; i++)
		b[i] = get(0, XK_MEM_MEDIUM);
	CU_ASSERT_EQUAL(fx.vp[0].refills, trips);
	for (unsigned i = 0; i < N; i++)
		put(0, XK_MEM_MEDIUM, b[i]);
	xk_memvp_leave_hot(&fx.vp[0], &hot);
	xk_memhot_fini(&hot, fx.pool);
}

/* A VP that keeps nothing leaves what is passed on to the next. */
static void who_is_full_passes_it_on(void)
{
	struct xk_memhot hot = { .n = { 0 } };

	put(0, XK_MEM_SMALL, get(0, XK_MEM_SMALL));
	xk_memvp_leave_hot(&fx.vp[0], &hot);
	xk_memvp_starve(&fx.vp[1], true);
	fx_enter(1);
	xk_memvp_take_hot(&fx.vp[1], &hot);
	CU_ASSERT_EQUAL(hot.n[XK_MEM_SMALL], XK_MEM_HOT);
	xk_memvp_leave_hot(&fx.vp[1], &hot);
	xk_memvp_starve(&fx.vp[1], false);
	xk_memhot_fini(&hot, fx.pool);
	CU_ASSERT_EQUAL(fx_out(), 0);
}

/* Two chunks of a device's, the rest of which stays its own. */
static void what_is_given_is_carved_first_and_for_its_class(void)
{
	char *all = mmap(NULL, 4 * XK_MEM_CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0), *at;
	static char *b[2200];
	unsigned in = 0;

	CU_ASSERT_FATAL(all != MAP_FAILED);
	at = all + (-(uintptr_t)all & (XK_MEM_CHUNK - 1));
	xk_mempool_give(fx.pool, XK_MEM_MEDIUM, at, 2);
	b[0] = get(0, XK_MEM_SMALL);
	CU_ASSERT_FALSE(b[0] >= at && b[0] < at + 2 * XK_MEM_CHUNK);
	put(0, XK_MEM_SMALL, b[0]);
	for (unsigned i = 0; i < XK_ARRAY_LEN(b); i++) {
		b[i] = get(0, XK_MEM_MEDIUM);
		CU_ASSERT_FATAL(b[i] != NULL);
		memset(b[i], 1, XK_MEM_MEDIUM_SIZE);
		if (b[i] >= at && b[i] < at + 2 * XK_MEM_CHUNK)
			CU_ASSERT_EQUAL(in++, i);
	}
	CU_ASSERT(in >= 2 * ((XK_MEM_CHUNK - 8192) / XK_MEM_MEDIUM_SIZE));
	for (unsigned i = 0; i < XK_ARRAY_LEN(b); i++)
		put(0, XK_MEM_MEDIUM, b[i]);
	munmap(all, (size_t)(at - all));
	munmap(at + 2 * XK_MEM_CHUNK, 2 * XK_MEM_CHUNK - (size_t)(at - all));
}

static CU_TestInfo passed[] = {
	{ "what one VP used last the next uses first", what_one_vp_used_last_the_next_uses_first },
	{ "what is cold lies below", what_is_cold_lies_below },
	{ "cold buffers serve when others are out", cold_buffers_serve_when_others_are_out },
	{ "who is full passes it on", who_is_full_passes_it_on },
	CU_TEST_INFO_NULL
};
static CU_TestInfo freelist[] = {
	{ "last put is first got", last_put_is_first_got },
	{ "LIFO order survives a spill", lifo_order_survives_a_spill },
	{ "buffers are whole lines apart and disjoint", buffers_are_whole_lines_apart_and_disjoint },
	{ "neighbours start in every set of the first cache", neighbours_start_in_every_set_of_the_first_cache },
	{ "warm cache needs no refill", warm_cache_needs_no_refill },
	CU_TEST_INFO_NULL
};
static CU_TestInfo accounts[] = {
	{ "stats are exact at rest", stats_are_exact_at_rest },
	{ "leaked buffers are counted when the pool goes", leaked_buffers_are_counted_when_the_pool_goes },
	{ "limit refuses and counts", limit_refuses_and_counts },
	{ "what is given is carved first, and for its class", what_is_given_is_carved_first_and_for_its_class },
	{ "the pool says how full it is", the_pool_says_how_full_it_is },
	{ "full caches are no shortage", full_caches_are_no_shortage },
	{ "of the last ones who rests keeps none", of_the_last_ones_who_rests_keeps_none },
	{ "one class cannot starve another", one_class_cannot_starve_another },
	{ "caches of many VPs do not hoard", caches_of_many_vps_do_not_hoard },
	{ "large pages serve as well as small", large_pages_serve_as_well_as_small },
	CU_TEST_INFO_NULL
};
static CU_TestInfo others[] = {
	{ "foreign buffer comes home", foreign_buffer_comes_home },
	{ "foreign buffers of many homes and classes are sorted", foreign_buffers_of_many_homes_and_classes_are_sorted },
	{ "full foreign array sends itself", full_foreign_array_sends_itself },
	{ "foreign put at home is a plain put", foreign_put_at_home_is_a_plain_put },
	{ "buffers of a VP that is gone go to the stock", buffers_of_a_vp_that_is_gone_go_to_the_stock },
	{ "idle home does not hoard what comes back", idle_home_does_not_hoard_what_comes_back },
	CU_TEST_INFO_NULL
};
static CU_TestInfo failure[] = {
	{ "hook fails exactly the k-th trip", hook_fails_exactly_the_kth_trip },
	{ "building a pool survives every failure", building_a_pool_survives_every_failure },
	{ "control memory is zeroed, counted and may fail", control_memory_is_zeroed_counted_and_may_fail },
	{ "debug build aborts on misuse", debug_build_aborts_on_misuse },
	CU_TEST_INFO_NULL
};

static const CU_SuiteInfo suites[] = {
	{ "freelist", NULL, NULL, fx_setup, fx_teardown, freelist },
	{ "accounts", NULL, NULL, fx_setup, fx_teardown, accounts },
	{ "other VPs", NULL, NULL, fx_setup, fx_teardown, others },
	{ "passed on", NULL, NULL, fx_setup, fx_teardown, passed },
	{ "failure", NULL, NULL, fx_setup, fx_teardown, failure },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}

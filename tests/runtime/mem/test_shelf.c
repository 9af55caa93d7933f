/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_shelf.c - promises of pools of free buffers that threads share: a buffer is whoever's processor freed it, or
 * everybody's; what moved is counted; the last one freed is the first one taken; none is lost, twice or
 * too many, whatever threads do at once.
 */
#include <CUnit/CUnit.h>
#include <string.h>

#include "runtime/mem/xk_mem.h"
#include "tests/support/xk_test.h"

#define VPS 4u

static struct xk_mempool *pool;
static struct xk_memvp vp[VPS];

static void make(enum xk_freelist kind, uint64_t limit)
{
	const struct xk_mem_conf conf = { .limit = limit, .freelist = kind, .processors = VPS };

	CU_ASSERT_EQUAL_FATAL(xk_mempool_new(&pool, &conf, VPS), XK_OK);
	for (unsigned i = 0; i < VPS; i++)
		CU_ASSERT_EQUAL_FATAL(xk_memvp_init(&vp[i], pool, (uint16_t)i), XK_OK);
}

static void unmake(void)
{
	xk_mem_self = NULL;
	for (unsigned i = 0; i < VPS; i++)
		xk_memvp_fini(&vp[i]);
	CU_ASSERT_EQUAL(xk_mempool_free(pool), 0);
	xk_mem_processor = 0;
}

/* The calling thread is inside VP i, on a processor. */
static struct xk_memvp *inside(unsigned i, uint16_t processor)
{
	xk_mem_processor = processor;
	xk_mem_self = &vp[i];
	xk_vp_no = (uint16_t)i;
	return &vp[i];
}

static struct xk_freelist_counts counts(void)
{
	struct xk_freelist_counts c;

	xk_mempool_freelist(pool, &c);
	return c;
}

static struct xk_mem_stats stats(enum xk_memclass c)
{
	struct xk_mem_stats s[XK_MEM_CLASSES];

	xk_mempool_stats(pool, s);
	return s[c];
}

static void vps_keep_none(void)
{
	make(XK_FREELIST_GLOBAL, 64 << 20);
	for (unsigned c = 0; c < XK_MEM_CLASSES; c++) {
		struct xk_memvp *v = inside(0, 1);
		void *b = xk_mem_get(v, (enum xk_memclass)c);

		CU_ASSERT_PTR_NOT_NULL_FATAL(b);
		memset(b, 1, xk_mem_size[c]);
		xk_mem_put(v, (enum xk_memclass)c, b);
		CU_ASSERT_EQUAL(v->cache[c].n, 0);
		CU_ASSERT_PTR_EQUAL(xk_mem_get(inside(3, 1), (enum xk_memclass)c), b);
		xk_mem_put(v = inside(3, 1), (enum xk_memclass)c, b);
		CU_ASSERT_EQUAL(stats((enum xk_memclass)c).outstanding, 0);
	}
	unmake();
}

/* All of one pool: what another processor had freed moves, to the last one. */
static void one_pool_moves_what_another_processor_freed(void)
{
	void *b[40];

	make(XK_FREELIST_GLOBAL, 64 << 20);
	for (unsigned i = 0; i < 40; i++)
		b[i] = xk_mem_get(inside(0, 1), XK_MEM_MEDIUM);
	for (unsigned i = 0; i < 40; i++)
		xk_mem_put(inside(0, 1), XK_MEM_MEDIUM, b[i]);
	CU_ASSERT_EQUAL(counts().shelves, 1);
	CU_ASSERT_EQUAL(counts().moves, 0);
	for (unsigned i = 40; i-- > 10;)
		CU_ASSERT_PTR_EQUAL(xk_mem_get(inside(1, 2), XK_MEM_MEDIUM), b[i]);
	CU_ASSERT_EQUAL(counts().moves, 30);
	for (unsigned i = 10; i < 40; i++)
		xk_mem_put(inside(1, 2), XK_MEM_MEDIUM, b[i]);
	for (unsigned i = 40; i-- > 0;)
		CU_ASSERT_PTR_EQUAL(xk_mem_get(inside(2, 2), XK_MEM_MEDIUM), b[i]);
	CU_ASSERT_EQUAL(counts().moves, 40);
	for (unsigned i = 0; i < 40; i++)
		xk_mem_put(inside(2, 2), XK_MEM_MEDIUM, b[i]);
	unmake();
}

/* The same with one of each processor: none moves, whichever VP runs there, and a buffer is its processor's that freed it. */
static void pools_of_processors_move_none(void)
{
	void *b, *other;

	make(XK_FREELIST_PROCESSOR, 64 << 20);
	CU_ASSERT_EQUAL(counts().shelves, VPS + 1);
	b = xk_mem_get(inside(0, 1), XK_MEM_SMALL);
	xk_mem_put(inside(0, 1), XK_MEM_SMALL, b);
	other = xk_mem_get(inside(0, 2), XK_MEM_SMALL);
	CU_ASSERT_PTR_NOT_EQUAL(other, b);
	CU_ASSERT_PTR_EQUAL(xk_mem_get(inside(1, 1), XK_MEM_SMALL), b);
	/* Made by VP 1, freed by VP 3 on another processor. */
	xk_mem_put_foreign(inside(3, 4), XK_MEM_SMALL, 1, b);
	CU_ASSERT_PTR_EQUAL(xk_mem_get(inside(2, 4), XK_MEM_SMALL), b);
	xk_mem_put(inside(2, 4), XK_MEM_SMALL, b);
	xk_mem_put(inside(0, 2), XK_MEM_SMALL, other);
	CU_ASSERT_EQUAL(counts().moves, 0);
	CU_ASSERT(counts().hits >= 2);
	CU_ASSERT(counts().lock.taken >= 8 && counts().lock.contended == 0);
	/* Threads that are none of the set's share one. */
	b = xk_mem_get(inside(0, 0), XK_MEM_SMALL);
	xk_mem_put(inside(0, 0), XK_MEM_SMALL, b);
	CU_ASSERT_PTR_EQUAL(xk_mem_get(inside(1, 0), XK_MEM_SMALL), b);
	xk_mem_put(inside(1, 0), XK_MEM_SMALL, b);
	unmake();
}

/* Far more than a pool holds: the rest lies in the stock, and comes back. */
static void what_a_pool_has_no_room_for_is_the_stocks(void)
{
	enum { N = 9000 };
	static void *b[N];

	make(XK_FREELIST_PROCESSOR, 64 << 20);
	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 0; i < N; i++)
			CU_ASSERT_PTR_NOT_NULL_FATAL(b[i] = xk_mem_get(inside(0, 1), XK_MEM_SMALL));
		CU_ASSERT_EQUAL(stats(XK_MEM_SMALL).outstanding, N);
		for (unsigned i = 0; i < N; i++)
			xk_mem_put(inside(0, 2), XK_MEM_SMALL, b[i]);
		CU_ASSERT_EQUAL(stats(XK_MEM_SMALL).outstanding, 0);
	}
	CU_ASSERT(stats(XK_MEM_SMALL).carved < 2 * N);
	unmake();
}

static void the_limit_is_kept(void)
{
	static void *b[40000];
	unsigned n = 0;

	make(XK_FREELIST_GLOBAL, 8 << 20);
	while (n < XK_ARRAY_LEN(b) && (b[n] = xk_mem_get(inside(0, 1), XK_MEM_SMALL)) != NULL)
		n++;
	CU_ASSERT(n > 1000 && (uint64_t)n * XK_MEM_SMALL_SIZE <= 8 << 20);
	CU_ASSERT_EQUAL(vp[0].misses, 1);
	CU_ASSERT_EQUAL(xk_mem_fill(&vp[0]), XK_MEM_FULL);
	while (n != 0)
		xk_mem_put(inside(0, 1), XK_MEM_SMALL, b[--n]);
	CU_ASSERT_EQUAL(xk_mem_fill(&vp[0]), 0);
	unmake();
}

/* ---- threads --------------------------------------------------------------------------------- */

#define ROUNDS 3000u
#define OUT    50u

static void *box[VPS][OUT];

/* Takes and gives its own, and frees what it finds of another's in a box. */
static void churn(void *arg)
{
	unsigned me = (unsigned)(uintptr_t)arg;
	unsigned long rounds = xk_test_rounds(ROUNDS);
	struct xk_memvp *v = inside(me, (uint16_t)(me + 1));

	for (unsigned long r = 0; r < rounds; r++) {
		unsigned k = r % OUT, from = (me + 1) % VPS;
		void *b = xk_mem_get(v, XK_MEM_SMALL);

		if (b == NULL)
			continue;
		memset(b, (int)me, 64);
		b = xk_atomic_xchg(&box[me][k], b);
		if (b != NULL)
			xk_mem_put(v, XK_MEM_SMALL, b);
		b = xk_atomic_xchg(&box[from][k], NULL);
		if (b != NULL)
			xk_mem_put_foreign(v, XK_MEM_SMALL, (uint16_t)from, b);
	}
	xk_mem_self = NULL;
}

static void threads_lose_none(void)
{
	static const enum xk_freelist kind[] = { XK_FREELIST_PROCESSOR, XK_FREELIST_GLOBAL };

	for (unsigned i = 0; i < 2; i++) {
		struct xk_thread *t[VPS];

		make(kind[i], 64 << 20);
		memset(box, 0, sizeof box);
		for (unsigned k = 0; k < VPS; k++)
			CU_ASSERT_EQUAL_FATAL(xk_thread_new(&t[k], "churn", -1, churn, (void *)(uintptr_t)k), XK_OK);
		for (unsigned k = 0; k < VPS; k++)
			xk_thread_join(t[k]);
		for (unsigned k = 0; k < VPS; k++)
			for (unsigned n = 0; n < OUT; n++)
				if (box[k][n] != NULL)
					xk_mem_put(inside(k, 0), XK_MEM_SMALL, box[k][n]);
		CU_ASSERT_EQUAL(stats(XK_MEM_SMALL).outstanding, 0);
		CU_ASSERT(counts().hits + counts().moves > 0);
		CU_ASSERT(kind[i] == XK_FREELIST_GLOBAL || counts().moves == 0);
		unmake();
	}
}

static void making_survives_the_failure_of_every_allocation(void)
{
	const struct xk_mem_conf conf = { .limit = 8 << 20, .freelist = XK_FREELIST_PROCESSOR, .processors = 2 };
	uint64_t live = xk_alloc_live();
	int err = XK_E_NOMEM;

	for (uint64_t k = 1; err == XK_E_NOMEM && k < 100; k++) {
		xk_mem_fail_after(k);
		err = xk_mempool_new(&pool, &conf, 2);
		xk_mem_fail_after(0);
		if (err == XK_OK)
			xk_mempool_free(pool);
		CU_ASSERT_EQUAL(xk_alloc_live(), live);
	}
	CU_ASSERT_EQUAL(err, XK_OK);
}

static CU_TestInfo tests[] = {
	{ "virtual processors keep none", vps_keep_none },
	{ "one pool moves what another processor freed", one_pool_moves_what_another_processor_freed },
	{ "pools of processors move none", pools_of_processors_move_none },
	{ "what a pool has no room for is the stock's", what_a_pool_has_no_room_for_is_the_stocks },
	{ "the limit is kept", the_limit_is_kept },
	{ "threads lose none", threads_lose_none },
	{ "making survives the failure of every allocation", making_survives_the_failure_of_every_allocation },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = { { .pName = "shelves", .pTests = tests }, CU_SUITE_INFO_NULL };

int main(void)
{
	return xk_test_main(suites);
}

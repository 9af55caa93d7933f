/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_sim_order.c - who is next of a simulation's threads, against the least of all by looking at each: times at
 * random, many of them the same, threads that come later and those that nothing wakes.
 */
#include "runtime/base/xk_rand.h"
#include "runtime/sync/sync_sim_priv.h"
#include "tests/support/xk_test.h"

#define THREADS 100u

static struct xk_sim_thread thread[THREADS];
static struct sim_order order;

/* Ties are in no order of numbers: a thread's processor is what counts. */
static void begin(unsigned n)
{
	order = (struct sim_order){ 0 };
	for (unsigned i = 0; i < n; i++) {
		thread[i] = (struct xk_sim_thread){ .no = i, .tie = (uint64_t)(i * 7 % 10) << 32 | i, .when = XK_NS_NEVER };
		CU_ASSERT_FATAL(sim_order_grow(&order, &thread[i]));
	}
}

static void put(unsigned i, xk_ns when)
{
	thread[i].when = when;
	sim_order_set(&order, &thread[i], when);
}

/* NULL: nobody goes on by himself. */
static const struct xk_sim_thread *least(unsigned n, unsigned but)
{
	const struct xk_sim_thread *first = NULL;

	for (unsigned i = 0; i < n; i++) {
		const struct xk_sim_thread *t = &thread[i];

		if (i == but || t->when == XK_NS_NEVER)
			continue;
		if (first == NULL || t->when < first->when || (t->when == first->when && t->tie < first->tie))
			first = t;
	}
	return first;
}

/* Up to when `who` goes on before `next`. */
static xk_ns before(const struct xk_sim_thread *next, const struct xk_sim_thread *who)
{
	return next->when - (next->when != 0 && next->tie < who->tie);
}

/* n: all; who goes on, and up to when, once with and once without it. */
static void first_is(unsigned n, const struct xk_sim_thread *want)
{
	const struct xk_sim_thread *next = want != NULL ? least(n, want->no) : NULL;
	xk_ns limit;

	CU_ASSERT_PTR_EQUAL(sim_order_first(&order, &limit), want);
	if (want == NULL)
		return;
	CU_ASSERT(sim_order_limit(&order, want) == limit || next == NULL);
	CU_ASSERT(next != NULL ? limit == before(next, want) : limit >= XK_NS_NEVER - 1);
	CU_ASSERT(sim_order_others(&order, want) == (next != NULL ? next->when : XK_NS_NEVER));
}

static void others_are(unsigned n, unsigned but)
{
	const struct xk_sim_thread *next = least(n, but);
	xk_ns limit = sim_order_limit(&order, &thread[but]);

	CU_ASSERT(next != NULL ? limit == before(next, &thread[but]) : limit >= XK_NS_NEVER - 1);
	CU_ASSERT(sim_order_others(&order, &thread[but]) == (next != NULL ? next->when : XK_NS_NEVER));
}

static void the_least_is_first(void)
{
	struct xk_rand rand;

	for (unsigned seed = 1; seed <= 20; seed++) {
		unsigned n = seed * THREADS / 20;

		begin(n);
		xk_rand_init(&rand, seed, 0);
		for (unsigned step = 0; step < 500; step++) {
			unsigned i = (unsigned)xk_rand_below(&rand, n);

			put(i, xk_rand_below(&rand, 3) == 0 ? XK_NS_NEVER : xk_rand_below(&rand, seed * 5));
			first_is(n, least(n, n));
			others_are(n, i);
		}
		sim_order_free(&order);
	}
}

/* More leaves make no difference to those that are there, nor fewer. */
static void who_comes_later_finds_the_others(void)
{
	begin(1);
	put(0, 70);
	for (unsigned i = 1; i < THREADS; i++) {
		thread[i] = (struct xk_sim_thread){ .no = i, .tie = i + (i % 2) * THREADS };
		CU_ASSERT_FATAL(sim_order_grow(&order, &thread[i]));
		thread[i].when = XK_NS_NEVER;
		first_is(i + 1, &thread[0]);
		put(i, 100 + i);
		first_is(i + 1, &thread[0]);
		others_are(i + 1, i);
	}
	put(THREADS - 1, 3);
	first_is(THREADS, &thread[THREADS - 1]);
	for (unsigned i = THREADS - 1; i != 0; i--) {
		sim_order_leave(&order, &thread[i]);
		first_is(i, &thread[0]);
	}
	sim_order_free(&order);
}

static void of_the_same_time_it_is_who_has_less(void)
{
	begin(THREADS);
	for (unsigned i = 1; i < THREADS; i++)
		put(i, 5);
	first_is(THREADS, least(THREADS, 0));
	put(0, 5);
	first_is(THREADS, &thread[0]);
	sim_order_free(&order);
}

static CU_TestInfo tests[] = {
	{ "the least is first", the_least_is_first },
	{ "who comes later finds the others", who_comes_later_finds_the_others },
	{ "of the same time it is who has less", of_the_same_time_it_is_who_has_less },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "sim order", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void) { return xk_test_main(suites); }

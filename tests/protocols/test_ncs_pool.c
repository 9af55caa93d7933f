/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_ncs_pool.c - receive buffers that connections share.
 *
 * Promises: the one that is active among a thousand has 0.95 of the pool within five round trips; two that are
 * active share it; no more is ever allowed in all than the pool and one SDU each, whoever comes and goes;
 * what closed ones had is there for others; without a pool nothing of this happens.
 */
#include "protocols/ncs/ncs_priv.h"

#include "tests/protocols/ncs_fixture.h"
#include "tests/support/xk_test.h"

#define ROUND_TRIP (20 * XK_MS)
#define POOL 1000u               /* SDUs of 1000 bytes */
#define MANY 1000u

static struct pf f;
static struct xk_sess *conn[MANY];

/* Credit without error control: nothing else holds a sender back. */
static void up(const char *ncs, unsigned n)
{
	const struct nf_how how = { .pair = 2 * NF_ERRORS, .ncs = ncs, .flow = "first=1; most=1024",
				    .faults = "delay=10ms; queue=100000" };

	nf_up(&f, &how);
	for (unsigned i = 0; i < n; i++) {
		conn[i] = nf_open(&f, "client", 0, 7, NULL);
		CU_ASSERT_PTR_NOT_NULL_FATAL(conn[i]);
	}
	pf_run(&f, 10 * ROUND_TRIP);
	CU_ASSERT_EQUAL(pf_count(&f, "nb", "accepted"), n);
}

/* The other end of conn[i]. */
static const struct ncs_conn *end(unsigned i)
{
	return ncs_conn_find(pf_rep(&f, "nb", 0), ((struct ncs_sess *)(void *)conn[i])->conn.peer_id);
}

static uint32_t has(unsigned i)
{
	struct ncs_buffers b = { 0, 0, 0 };

	CU_ASSERT_TRUE(ncs_rx_buffers(end(i)->rx, &b));
	return b.of;
}

/* Beyond one each. */
static uint64_t promised(unsigned n)
{
	uint64_t all = 0;

	for (unsigned i = 0; i < n; i++) {
		struct ncs_buffers b;

		ncs_rx_buffers(end(i)->rx, &b);
		all += (b.of > b.owed ? b.of : b.owed) - 1;
	}
	return all;
}

/* Messages of ten SDUs. */
static void push(unsigned i, unsigned n)
{
	while (n-- != 0)
		pf_push(&f, 0, conn[i], nf_bytes, 10000);
}

static void the_one_that_is_active_has_the_pool(void)
{
	unsigned n = xk_test_rounds(MANY) < 100 ? 100 : MANY;

	up("sdu=1000; pool=1000000; connections=2000", n);
	push(n / 2, 500);
	for (unsigned i = 0; i < 5; i++) {
		CU_ASSERT(i > 2 || has(n / 2) < POOL / 2);
		pf_run(&f, ROUND_TRIP);
		CU_ASSERT(promised(n) <= POOL);
	}
	CU_ASSERT(has(n / 2) >= POOL * 95 / 100);
	for (unsigned i = 0; i < n; i++)
		CU_ASSERT(i == n / 2 || has(i) == 1);
	pf_run(&f, XK_SEC);
	CU_ASSERT_EQUAL(pf_count(&f, "nb", "messages_in"), 500);
	for (unsigned i = 0; i < n; i++)
		pf_close(&f, 0, conn[i]);
	pf_run(&f, XK_SEC);
	pf_down(&f);
}

static void two_that_are_active_share_it(void)
{
	up("sdu=1000; pool=1000000", 3);
	for (unsigned i = 0; i < 60; i++) {
		push(0, 40);
		if (i >= 10)
			push(1, 40);
		pf_run(&f, ROUND_TRIP);
		CU_ASSERT(promised(3) <= POOL);
	}
	CU_ASSERT(has(0) > POOL * 2 / 10);
	CU_ASSERT(has(1) > POOL * 2 / 10);
	CU_ASSERT_EQUAL(has(2), 1);
	pf_close(&f, 0, conn[0]);                /* what it had is there again */
	pf_run(&f, XK_SEC);
	for (unsigned i = 0; i < 30; i++) {
		push(1, 100);
		pf_run(&f, ROUND_TRIP);
	}
	CU_ASSERT(has(1) >= POOL * 95 / 100);
	pf_close(&f, 0, conn[1]);
	pf_close(&f, 0, conn[2]);
	pf_run(&f, 2 * XK_SEC);
	CU_ASSERT_EQUAL(ncs_rep(pf_rep(&f, "nb", 0))->pooled, 0);
	pf_down(&f);
}

static void without_a_pool_each_grows_alone(void)
{
	up("sdu=1000", 2);
	for (unsigned i = 0; i < 30; i++) {
		push(0, 100);
		push(1, 100);
		pf_run(&f, ROUND_TRIP);
	}
	CU_ASSERT_EQUAL(has(0), 1024);
	CU_ASSERT_EQUAL(has(1), 1024);
	CU_ASSERT_EQUAL(ncs_rep(pf_rep(&f, "nb", 0))->pooled, 0);
	pf_close(&f, 0, conn[0]);
	pf_close(&f, 0, conn[1]);
	pf_run(&f, 2 * XK_SEC);
	pf_down(&f);
}

static CU_TestInfo tests[] = {
	{ "the_one_that_is_active_has_the_pool", the_one_that_is_active_has_the_pool },
	{ "two_that_are_active_share_it", two_that_are_active_share_it },
	{ "without_a_pool_each_grows_alone", without_a_pool_each_grows_alone },
	CU_TEST_INFO_NULL
};

int main(void)
{
	static const CU_SuiteInfo suites[] = { { .pName = "ncs_pool", .pTests = tests }, CU_SUITE_INFO_NULL };

	return xk_test_main(suites);
}

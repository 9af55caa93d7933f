/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_handover.c - buffers crossing between VPs on two threads: A takes and
 * hands over, B reads and frees, A takes the same ones again.
 *
 * Run under the thread sanitizer this proves the ordering of hand-over and
 * return; in any build, that a pool far smaller than the traffic suffices and
 * that nothing is lost.
 */
#include <CUnit/CUnit.h>
#include <string.h>

#include "runtime/mem/xk_mem.h"
#include "runtime/msg/xk_msg_inline.h"
#include "tests/runtime/mem/mem_fixture.h"
#include "tests/support/xk_test.h"

#define TOTAL 100000u
#define WINDOW 256u          /* handed over and not yet freed, at most */

static struct xk_mpsc inbox;        /* of B, linked through the payload's place */
static uint32_t freed;              /* by B, atomically */
static uint64_t sum_sent, sum_got;
static bool     misses;

/* Two threads and a starved host must not spin a time slice away. */
static void wait_a_little(void)
{
	xk_thread_yield();
}

static void run_a(void *arg)
{
	(void)arg;
	fx_enter(0);
	for (uint32_t i = 0; i < TOTAL; ) {
		struct xk_msg *m;

		if (i - xk_load_acquire(&freed) >= WINDOW) {
			wait_a_little();
			continue;
		}
		m = xk_msg_new(1 + i % XK_MSG_MAX_SEG);
		if (m == NULL) {              /* all are on their way home */
			misses = true;
			wait_a_little();
			continue;
		}
		m->data[0] = (uint8_t)i;
		m->data[m->len - 1] = (uint8_t)i;
		sum_sent += (uint8_t)i;
		xk_mpsc_push(&inbox, (struct xk_qlink *)(void *)m->data - 1, (struct xk_qlink *)(void *)m->data - 1);
		i++;
	}
	fx_leave();
}

static void run_b(void *arg)
{
	(void)arg;
	fx_enter(1);
	for (uint32_t n = 0; n < TOTAL; ) {
		struct xk_qlink *q = xk_mpsc_take(&inbox), *next;

		for (; q != NULL; q = next, n++) {
			struct xk_msg *m = (struct xk_msg *)((char *)(q + 1) - XK_MSG_HEADROOM) - 1;

			next = q->next;
			sum_got += m->data[m->len - 1];
			xk_msg_free(m);
			xk_atomic_add(&freed, 1u);
		}
		xk_memvp_flush(&fx.vp[1]);
		wait_a_little();
	}
	fx_leave();
}

static void two_threads(void)
{
	struct xk_thread *a, *b;

	inbox.head = NULL;
	freed = 0;
	sum_sent = sum_got = 0;
	CU_ASSERT_EQUAL_FATAL(xk_thread_new(&a, "vp-a", -1, run_a, NULL), XK_OK);
	CU_ASSERT_EQUAL_FATAL(xk_thread_new(&b, "vp-b", -1, run_b, NULL), XK_OK);
	xk_thread_join(a);
	xk_thread_join(b);
	CU_ASSERT_EQUAL(sum_sent, sum_got);
	CU_ASSERT_EQUAL(freed, TOTAL);
	CU_ASSERT_EQUAL(fx_out(), 0);
}

static void buffers_handed_over_come_home_and_are_reused(void)
{
	struct xk_mem_stats s[XK_MEM_CLASSES];

	two_threads();
	xk_mempool_stats(fx.pool, s);
	/* The window, what travels and two batches: not the traffic. */
	for (unsigned c = 0; c < XK_MEM_CLASSES; c++)
		CU_ASSERT(s[c].carved <= WINDOW + 4 * XK_MEM_BATCH);
	CU_ASSERT(fx.vp[0].refills <= XK_MEM_CLASSES * (WINDOW / XK_MEM_BATCH + 4));
}

static void a_pool_at_its_limit_goes_on(void)
{
	fx_teardown();
	fx_begin(40 * (XK_MEM_SMALL_SIZE + XK_MEM_MEDIUM_SIZE + XK_MEM_LARGE_SIZE), false, 2);
	two_threads();
}

static CU_TestInfo tests[] = {
	{ "buffers handed over come home and are reused", buffers_handed_over_come_home_and_are_reused },
	{ "a pool at its limit goes on", a_pool_at_its_limit_goes_on },
	CU_TEST_INFO_NULL
};

static const CU_SuiteInfo suites[] = {
	{ "hand-over", NULL, NULL, fx_setup, fx_teardown, tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}

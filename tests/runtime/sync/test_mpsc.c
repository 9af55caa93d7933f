/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_mpsc.c - the hand-off queue loses nothing and keeps each producer's order.
 */
#include "runtime/sync/xk_sync.h"
#include "tests/support/xk_test.h"

#include <stdlib.h>

#define PRODUCERS 4
#define EACH 60000u

struct item { struct xk_qlink link; unsigned producer, no; };

static struct item *item_of(struct xk_qlink *l)
{
	return xk_container_of(l, struct item, link);
}

static void order_is_kept_through_pushes_and_chains(void)
{
	struct xk_mpsc q = { NULL };
	struct item v[9];
	struct xk_qlink *l;
	unsigned i;

	for (i = 0; i < 9; i++) {
		v[i].no = i;
		v[i].link.next = i < 8 ? &v[i + 1].link : NULL;
	}
	CU_ASSERT_TRUE(xk_mpsc_empty(&q));
	CU_ASSERT_PTR_NULL(xk_mpsc_take(&q));
	/* 0 | 1 2 3 | 4 5 | 6 | 7 8; the first says that the queue was empty. */
	CU_ASSERT_TRUE(xk_mpsc_push(&q, &v[0].link, &v[0].link));
	CU_ASSERT_FALSE(xk_mpsc_push(&q, &v[1].link, &v[3].link));
	CU_ASSERT_FALSE(xk_mpsc_push(&q, &v[4].link, &v[5].link));
	CU_ASSERT_FALSE(xk_mpsc_push(&q, &v[6].link, &v[6].link));
	CU_ASSERT_FALSE(xk_mpsc_push(&q, &v[7].link, &v[8].link));
	CU_ASSERT_FALSE(xk_mpsc_empty(&q));
	for (i = 0, l = xk_mpsc_take(&q); l != NULL; l = l->next, i++)
		CU_ASSERT_EQUAL(item_of(l)->no, i);
	CU_ASSERT_EQUAL(i, 9);
	CU_ASSERT_TRUE(xk_mpsc_empty(&q));
	CU_ASSERT_TRUE(xk_mpsc_push(&q, &v[0].link, &v[0].link));
	CU_ASSERT_PTR_EQUAL(xk_mpsc_take(&q), &v[0].link);
}

static void what_follows_the_last_of_a_chain_is_not_taken_along(void)
{
	struct xk_mpsc q = { NULL };
	struct item v[3];
	struct xk_qlink *l;

	v[0].link.next = &v[1].link;
	v[1].link.next = &v[2].link;
	v[2].link.next = NULL;
	xk_mpsc_push(&q, &v[0].link, &v[1].link);
	l = xk_mpsc_take(&q);
	CU_ASSERT_PTR_EQUAL_FATAL(l, &v[0].link);
	CU_ASSERT_PTR_EQUAL_FATAL(l->next, &v[1].link);
	CU_ASSERT_PTR_NULL(l->next->next);
}

struct work { struct xk_mpsc q; struct item *v[PRODUCERS]; uint32_t started, found_empty; };
struct side { struct work *w; unsigned no; };

/* Pushes chains of 1, 2, ... 7 items in turn. */
static void produce(void *p)
{
	struct side *s = p;
	struct item *v = s->w->v[s->no];
	unsigned i, k, n;

	xk_atomic_add(&s->w->started, 1u);
	while (xk_load_acquire(&s->w->started) != PRODUCERS)
		xk_thread_yield();
	for (i = 0; i < EACH; i += n) {
		n = 1 + i % 7;
		if (n > EACH - i)
			n = EACH - i;
		for (k = 0; k + 1 < n; k++)
			v[i + k].link.next = &v[i + k + 1].link;
		if (xk_mpsc_push(&s->w->q, &v[i].link, &v[i + n - 1].link))
			xk_atomic_add(&s->w->found_empty, 1u);
	}
}

/* Takes until all came; takes[0] counts the takes that brought something. */
static unsigned consume(struct work *w, unsigned *next, unsigned *takes)
{
	struct xk_qlink *l;
	unsigned n = 0, wrong = 0;

	while (n < PRODUCERS * EACH) {
		l = xk_mpsc_take(&w->q);
		if (l == NULL)
			xk_thread_yield();
		*takes += l != NULL;
		for (; l != NULL; l = l->next, n++)
			wrong += item_of(l)->no != next[item_of(l)->producer]++;
	}
	return wrong;
}

static void four_producers_lose_nothing_and_keep_their_order(void)
{
	struct work w = { .started = 0 };
	struct xk_thread *t[PRODUCERS];
	struct side s[PRODUCERS];
	unsigned next[PRODUCERS] = { 0 }, takes = 0, i, k;

	for (i = 0; i < PRODUCERS; i++) {
		w.v[i] = calloc(EACH, sizeof *w.v[i]);
		CU_ASSERT_PTR_NOT_NULL_FATAL(w.v[i]);
		for (k = 0; k < EACH; k++)
			w.v[i][k].producer = i, w.v[i][k].no = k;
	}
	for (i = 0; i < PRODUCERS; i++) {
		s[i] = (struct side){ &w, i };
		CU_ASSERT_EQUAL_FATAL(xk_thread_new(&t[i], "producer", -1, produce, &s[i]), XK_OK);
	}
	CU_ASSERT_EQUAL(consume(&w, next, &takes), 0);
	for (i = 0; i < PRODUCERS; i++) {
		xk_thread_join(t[i]);
		CU_ASSERT_EQUAL(next[i], EACH);
		free(w.v[i]);
	}
	CU_ASSERT_TRUE(xk_mpsc_empty(&w.q));
	/* Each take that brought something began with exactly one push on empty. */
	CU_ASSERT_EQUAL(w.found_empty, takes);
}

static CU_TestInfo tests[] = {
	{ "order_is_kept_through_pushes_and_chains", order_is_kept_through_pushes_and_chains },
	{ "what_follows_the_last_of_a_chain_is_not_taken_along",
	  what_follows_the_last_of_a_chain_is_not_taken_along },
	{ "four_producers_lose_nothing_and_keep_their_order",
	  four_producers_lose_nothing_and_keep_their_order },
	CU_TEST_INFO_NULL
};

static CU_SuiteInfo suites[] = {
	{ "mpsc", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_recorder.c - the ring of a flight recorder (xk_recorder.h).
 *
 * Promises: the last records of a ring are there, in order, with their numbers, older ones are not; read in pieces they are
 * the same; what happens again is counted in its record; who reads while records are written gets none that is half one
 * and half another, and comes to an end.
 */
#include "runtime/base/xk_recorder.h"

#include <string.h>

#include "runtime/sync/xk_sync.h"
#include "tests/support/xk_test.h"

#define RING 16u
#define LAST (RING - 1)                  /* the oldest may be about to be written over */

static struct xk_rec ring[RING], got[2 * RING];
static struct xk_recorder r;

static void empty(void)
{
	memset(ring, 0xee, sizeof ring);
	r = (struct xk_recorder){ .ring = ring, .mask = RING - 1 };
}

static uint64_t mixed(uint64_t i) { return (i + 1) * 0x9e3779b97f4a7c15u; }

static void put(uint64_t i) { xk_recorder_put(&r, i, mixed(i), ~i, i * 3); }

static bool is(const struct xk_rec *e, uint64_t i)
{
	return e->when == i && e->what == mixed(i) && e->a == ~i && e->b == i * 3;
}

static void the_last_are_there(void)
{
	for (uint64_t n = 0; n < 5 * RING; n++) {
		uint64_t from = 0, first = n > LAST ? n - LAST : 0;
		unsigned k;

		empty();
		for (uint64_t i = 0; i < n; i++)
			put(i);
		k = xk_recorder_read(&r, &from, xk_recorder_head(&r), got, XK_ARRAY_LEN(got));
		CU_ASSERT_EQUAL(k, n - first);
		CU_ASSERT(k == 0 || from == first);
		for (unsigned i = 0; i < k; i++)
			CU_ASSERT_TRUE(is(&got[i], first + i));
		from += k;
		CU_ASSERT_EQUAL(xk_recorder_read(&r, &from, xk_recorder_head(&r), got, 1), 0);
	}
}

static void pieces_are_the_whole(void)
{
	uint64_t from = 0, next = 3 * RING - LAST;
	unsigned k;

	empty();
	for (uint64_t i = 0; i < 3 * RING; i++)
		put(i);
	while ((k = xk_recorder_read(&r, &from, xk_recorder_head(&r), got, 4)) != 0) {
		CU_ASSERT_EQUAL(from, next);
		for (unsigned i = 0; i < k; i++)
			CU_ASSERT_TRUE(is(&got[i], next++));
		from += k;
	}
	CU_ASSERT_EQUAL(next, 3 * RING);
}

static void no_more_than_until(void)
{
	uint64_t from = 0;

	empty();
	for (uint64_t i = 0; i < 10; i++)
		put(i);
	CU_ASSERT_EQUAL(xk_recorder_read(&r, &from, 7, got, XK_ARRAY_LEN(got)), 7);
	from = 7;
	CU_ASSERT_EQUAL(xk_recorder_read(&r, &from, 7, got, XK_ARRAY_LEN(got)), 0);
	/* It was the head once; the ring has gone on. */
	for (uint64_t i = 10; i < 10 + 2 * RING; i++)
		put(i);
	from = 0;
	CU_ASSERT_EQUAL(xk_recorder_read(&r, &from, 7, got, XK_ARRAY_LEN(got)), 0);
}

static void again_is_counted(void)
{
	uint64_t from = 0, drop = xk_rec_what(XK_REC_DROP, 7, 3);

	empty();
	CU_ASSERT_FALSE(xk_recorder_again(&r, drop, 1));
	xk_recorder_put(&r, 1, drop, 1, 64);
	CU_ASSERT_TRUE(xk_recorder_again(&r, drop, 1));
	CU_ASSERT_TRUE(xk_recorder_again(&r, drop, 40));
	CU_ASSERT_FALSE(xk_recorder_again(&r, xk_rec_what(XK_REC_DROP, 7, 4), 1));
	CU_ASSERT_FALSE(xk_recorder_again(&r, xk_rec_what(XK_REC_DROP, 8, 3), 1));
	put(2);
	CU_ASSERT_FALSE(xk_recorder_again(&r, drop, 1));
	CU_ASSERT_EQUAL(xk_recorder_read(&r, &from, xk_recorder_head(&r), got, XK_ARRAY_LEN(got)), 2);
	CU_ASSERT_EQUAL(got[0].a, 42);
	CU_ASSERT_EQUAL(got[0].b, 64);
	CU_ASSERT_TRUE(is(&got[1], 2));
}

static void a_record_says_what_it_was_told(void)
{
	uint64_t w = xk_rec_what(XK_REC_EVENT, 0xfffe, 0xfffffffd);

	CU_ASSERT_EQUAL(xk_rec_kind(w), XK_REC_EVENT);
	CU_ASSERT_EQUAL(xk_rec_node(w), 0xfffe);
	CU_ASSERT_EQUAL(xk_rec_n(w), 0xfffffffd);
}

/* ---- beside the writer ---------------------------------------------------------------------- */

static uint32_t done;

static void writer(void *arg)
{
	const uint64_t *n = arg;

	for (uint64_t i = 0; i < *n; i++)
		put(i);
	xk_store_release(&done, 1);
}

/* All that is there now: how many records. */
static uint64_t read_all(void)
{
	uint64_t from = 0, until = xk_recorder_head(&r), n = 0;
	unsigned k;

	while ((k = xk_recorder_read(&r, &from, until, got, 5)) != 0) {
		for (unsigned i = 0; i < k; i++)
			CU_ASSERT_TRUE_FATAL(is(&got[i], from + i));
		from += k;
		n += k;
	}
	CU_ASSERT_FATAL(n <= RING);
	return n;
}

static void readers_see_whole_records(void)
{
	uint64_t n = xk_test_rounds(4000000), seen = 0;
	struct xk_thread *t;

	empty();
	done = 0;
	CU_ASSERT_EQUAL_FATAL(xk_thread_new(&t, "writer", -1, writer, &n), XK_OK);
	while (!xk_load_acquire(&done))
		seen += read_all();
	xk_thread_join(t);
	seen += read_all();
	CU_ASSERT(seen >= LAST);
}

static CU_TestInfo tests[] = {
	{ "the last are there", the_last_are_there },
	{ "pieces are the whole", pieces_are_the_whole },
	{ "no more than until", no_more_than_until },
	{ "again is counted", again_is_counted },
	{ "a record says what it was told", a_record_says_what_it_was_told },
	{ "readers see whole records", readers_see_whole_records },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "recorder", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void) { return xk_test_main(suites); }

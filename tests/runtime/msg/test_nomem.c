/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_nomem.c - every allocation of every operation made to fail in turn:
 * nothing leaks and the operands are as the header says.
 *
 * Each operation runs on each shape of message with the k-th allocation
 * failing, for k from 1 until it succeeds.
 */
#include <CUnit/CUnit.h>
#include <string.h>

#include "runtime/msg/xk_msg_inline.h"
#include "tests/runtime/mem/mem_fixture.h"
#include "tests/support/xk_test.h"

#define LEN 12000u
static uint8_t pattern[LEN], buf[LEN + 256];

static void setup(void)
{
	for (unsigned i = 0; i < LEN; i++)
		pattern[i] = (uint8_t)(i * 11 + (i >> 8));
	fx_setup();
	xk_memvp_starve(&fx.vp[0], true);
}

/* A message of LEN bytes and, where the shape is a shared one, its other. */
struct pair { struct xk_msg *m, *other; };

static struct pair plain(void)
{
	struct pair p = { xk_msg_new(LEN), NULL };

	xk_msg_copy_in(p.m, 0, pattern, LEN);
	return p;
}

static struct pair shared(void)
{
	struct pair p = plain();

	p.other = xk_msg_share(p.m);
	return p;
}

static struct pair ref(void)
{
	struct pair p = shared();

	return (struct pair){ p.other, p.m };
}

static struct pair lent(void)
{
	return (struct pair){ xk_msg_new_extern(pattern, LEN, NULL, NULL), NULL };
}

static struct pair ragged(void)
{
	struct pair p = plain();

	for (unsigned cut = 4000; cut > 0; cut /= 3) {
		struct xk_msg *rest = xk_msg_split(p.m, cut);

		xk_msg_join(p.m, rest);
	}
	return p;
}

/* Operations return false when memory was out; what they make they free. */
static bool made(struct xk_msg *m)
{
	if (m != NULL)
		xk_msg_free(m);
	return m != NULL;
}

static bool do_push(struct xk_msg **m)
{
	if (xk_msg_push(m, XK_MSG_HEADROOM + 10) == NULL)
		return false;
	xk_msg_pop(*m, XK_MSG_HEADROOM + 10);
	return true;
}

static bool do_pullup(struct xk_msg **m) { return xk_msg_pullup(m, 4500); }
static bool do_share(struct xk_msg **m) { return made(xk_msg_share(*m)); }
static bool do_clone(struct xk_msg **m) { return made(xk_msg_clone(*m)); }

static bool do_own(struct xk_msg **m)
{
	struct xk_msg *o = xk_msg_own(*m);

	if (o != NULL)
		*m = o;
	return o != NULL;
}

static bool do_split(struct xk_msg **m)
{
	struct xk_msg *rest = xk_msg_split(*m, 5000);

	if (rest != NULL)
		xk_msg_join(*m, rest);
	return rest != NULL;
}

static bool do_split_end(struct xk_msg **m)
{
	return made(xk_msg_split(*m, (*m)->tot));
}

static bool do_new(struct xk_msg **m)
{
	(void)m;
	return made(xk_msg_new(LEN));
}

static bool do_new_extern(struct xk_msg **m)
{
	(void)m;
	return made(xk_msg_new_extern(pattern, 5, NULL, NULL));
}

static bool intact(const struct xk_msg *m)
{
	xk_msg_check(m);
	return m->tot == LEN && xk_msg_copy_out(m, 0, buf, sizeof(buf)) == LEN &&
	       memcmp(buf, pattern, LEN) == 0;
}

/* One operation on one shape; returns how many allocations it could fail at. */
static unsigned fail_in_turn(bool (*op)(struct xk_msg **), struct pair (*shape)(void))
{
	for (unsigned k = 1; ; k++) {
		struct pair p = shape();
		uint64_t out = fx_out();
		bool ok;

		p.m->hash = 4711;
		xk_mem_fail_after(k);
		ok = op(&p.m);
		if (ok)
			CU_ASSERT(xk_mem_tries() < k);
		xk_mem_fail_after(0);
		CU_ASSERT_TRUE(intact(p.m));
		CU_ASSERT_EQUAL(p.m->hash, 4711);
		if (!ok)
			CU_ASSERT_EQUAL(fx_out(), out);
		if (p.other != NULL) {
			CU_ASSERT_TRUE(intact(p.other));
			xk_msg_free(p.other);
		}
		xk_msg_free(p.m);
		CU_ASSERT_EQUAL_FATAL(fx_out(), 0);
		if (ok)
			return k - 1;
		CU_ASSERT_FATAL(k < 100);
	}
}

static unsigned on_every_shape(bool (*op)(struct xk_msg **))
{
	static struct pair (*const shapes[])(void) = { plain, shared, ref, lent, ragged };
	unsigned n = 0;

	for (unsigned i = 0; i < XK_ARRAY_LEN(shapes); i++)
		n += fail_in_turn(op, shapes[i]);
	return n;
}

static void push_fails_cleanly(void) { CU_ASSERT_EQUAL(on_every_shape(do_push), 5); }
static void pullup_fails_cleanly(void) { CU_ASSERT(on_every_shape(do_pullup) >= 1); }
static void share_fails_cleanly(void) { CU_ASSERT(on_every_shape(do_share) >= 13); }
static void clone_fails_cleanly(void) { CU_ASSERT_EQUAL(on_every_shape(do_clone), 15); }
static void own_fails_cleanly(void) { CU_ASSERT_EQUAL(on_every_shape(do_own), 9); }
static void split_fails_cleanly(void) { CU_ASSERT(on_every_shape(do_split) >= 4); }
static void split_at_the_end_fails_cleanly(void) { CU_ASSERT_EQUAL(on_every_shape(do_split_end), 5); }
static void new_fails_cleanly(void) { CU_ASSERT_EQUAL(fail_in_turn(do_new, plain), 3); }
static void lending_fails_cleanly(void) { CU_ASSERT_EQUAL(fail_in_turn(do_new_extern, plain), 1); }

static void misses_are_counted(void)
{
	uint64_t before = fx.vp[0].misses;

	xk_mem_fail_after(1);
	CU_ASSERT_PTR_NULL(xk_msg_new(10));
	xk_mem_fail_after(0);
	CU_ASSERT_EQUAL(fx.vp[0].misses, before + 1);
}

static CU_TestInfo tests[] = {
	{ "push fails cleanly", push_fails_cleanly },
	{ "pullup fails cleanly", pullup_fails_cleanly },
	{ "share fails cleanly", share_fails_cleanly },
	{ "clone fails cleanly", clone_fails_cleanly },
	{ "own fails cleanly", own_fails_cleanly },
	{ "split fails cleanly", split_fails_cleanly },
	{ "split at the end fails cleanly", split_at_the_end_fails_cleanly },
	{ "new fails cleanly", new_fails_cleanly },
	{ "lending fails cleanly", lending_fails_cleanly },
	{ "misses are counted", misses_are_counted },
	CU_TEST_INFO_NULL
};

static const CU_SuiteInfo suites[] = {
	{ "nomem", NULL, NULL, setup, fx_teardown, tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}

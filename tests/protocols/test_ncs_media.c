/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_ncs_media.c - the node `media`, where it receives, and frames that a test makes up.
 *
 * Promises: a frame is late by what the fastest one took, whatever the two clocks show; a time that no clock shows is
 * dropped and counted, and others are judged as if it had not come; so is what is no frame, or an old one.
 */
#include "runtime/base/xk_bytes.h"
#include "tests/protocols/ncs_fixture.h"
#include "tests/support/xk_test.h"

#define PORT 5004
#define MAGIC 0x6d656469u
#define FRAME 24u

extern const struct xk_proto xk_proto_media;

static struct pf f;

static struct xk_sess *up(void)
{
	const struct nf_how how = { .pair = NF_PAIRS - 1, .server = &xk_proto_media };
	struct xk_sess *s;

	nf_up(&f, &how);
	s = nf_open(&f, "client", 0, PORT, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	pf_run(&f, XK_SEC);
	return s;
}

static void down(struct xk_sess *s)
{
	pf_close(&f, 0, s);
	pf_run(&f, XK_SEC);
	pf_down(&f);
}

/* That frame, which says it was due at `due`. */
static void sends(struct xk_sess *s, uint32_t magic, uint32_t no, uint64_t due)
{
	uint8_t b[FRAME] = { 0 };

	xk_put_be32(b, magic);
	xk_put_be32(b + 4, no);
	xk_put_be64(b + 8, due);
	pf_push(&f, 0, s, b, sizeof b);
	pf_run(&f, 20 * XK_MS);
}

/* Of now, by a clock that is so much before ours. */
static uint64_t now(uint64_t before)
{
	uint64_t t;

	pf_enter(&f, 0);
	t = xk_vp_now() + before;
	pf_leave(&f, 0);
	return t;
}

static bool has(unsigned frames, unsigned late, unsigned missing, unsigned strange)
{
	return pf_count(&f, "echo", "frames") == frames && pf_count(&f, "echo", "late") == late &&
	       pf_count(&f, "echo", "missing") == missing && pf_drops(&f, "echo", "strange") == strange;
}

static void clocks_may_be_apart(void)
{
	const uint64_t day = 86400 * XK_SEC, far = UINT64_C(1) << 61, apart[] = { 0, day, -day, far, -far };

	for (unsigned i = 0; i < XK_ARRAY_LEN(apart); i++) {
		struct xk_sess *s = up();

		sends(s, MAGIC, 0, now(apart[i]));
		sends(s, MAGIC, 1, now(apart[i]));
		CU_ASSERT_TRUE(has(2, 0, 0, 0));
		sends(s, MAGIC, 2, now(apart[i]) - XK_SEC);      /* the default is 100 ms */
		CU_ASSERT_TRUE(has(3, 1, 0, 0));
		down(s);
	}
}

static void the_furthest_apart_are_late(void)
{
	const uint64_t far = UINT64_C(1) << 62;
	struct xk_sess *s = up();

	sends(s, MAGIC, 0, now(far - XK_SEC));
	sends(s, MAGIC, 1, now(-far + XK_SEC));
	CU_ASSERT_TRUE(has(2, 1, 0, 0));
	down(s);
}

static void a_time_that_no_clock_shows_is_strange(void)
{
	struct xk_sess *s = up();

	sends(s, MAGIC, 0, now(INT64_MAX));
	CU_ASSERT_TRUE(has(0, 0, 0, 1));
	sends(s, MAGIC, 7, now(UINT64_C(1) << 63));
	CU_ASSERT_TRUE(has(0, 0, 0, 2));
	sends(s, MAGIC, 0, 0);
	CU_ASSERT_TRUE(has(1, 0, 0, 2));
	sends(s, MAGIC, 1, now(0) - 1);
	CU_ASSERT_TRUE(has(2, 0, 0, 2));
	down(s);
}

static void what_is_no_frame_is_dropped(void)
{
	struct xk_sess *s = up();

	sends(s, MAGIC + 1, 0, now(0));
	CU_ASSERT_TRUE(has(0, 0, 0, 1));
	pf_push(&f, 0, s, nf_bytes, 19);
	pf_run(&f, 20 * XK_MS);
	CU_ASSERT_TRUE(has(0, 0, 0, 2));
	sends(s, MAGIC, 3, now(0));
	CU_ASSERT_TRUE(has(1, 0, 3, 2));
	sends(s, MAGIC, 2, now(0));
	CU_ASSERT_TRUE(has(1, 0, 3, 2));
	CU_ASSERT_EQUAL(pf_drops(&f, "echo", "old"), 1);
	down(s);
}

static CU_TestInfo tests[] = {
	{ "clocks_may_be_apart", clocks_may_be_apart },
	{ "the_furthest_apart_are_late", the_furthest_apart_are_late },
	{ "a_time_that_no_clock_shows_is_strange", a_time_that_no_clock_shows_is_strange },
	{ "what_is_no_frame_is_dropped", what_is_no_frame_is_dropped },
	CU_TEST_INFO_NULL
};

int main(void)
{
	static const CU_SuiteInfo suites[] = { { .pName = "ncs_media", .pTests = tests }, CU_SUITE_INFO_NULL };

	return xk_test_main(suites);
}

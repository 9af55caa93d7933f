/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_ddp_stream.c - the bytes of a stream that a driver places one behind the other.
 */
#include "tests/protocols/ddp_fixture.h"

/* ---- streams ------------------------------------------------------------------------------------ */

/* UDP says of every datagram that it is the next: a stream of single frames. */
static void a_stream_fills_the_ring_byte_after_byte(void)
{
	begin(4096, true);
	for (unsigned i = 0; i < 200; i++) {
		expect(datagram(128 + i * 3));
		feed();
		same();
	}
	/* What does not fit before the ring's end is copied in two. */
	CU_ASSERT_TRUE(counted(XK_DDP_PLACED) > 150);
	CU_ASSERT_EQUAL(counted(XK_DDP_PLACED) + counted(XK_DDP_FULL), 200);
	CU_ASSERT_EQUAL(counted(XK_DDP_COPIED), 2 * counted(XK_DDP_FULL));
	CU_ASSERT_EQUAL(counted(XK_DDP_MISSED), 0);
	host_down();
}

static void a_stream_that_is_held_or_kept_is_not_written_over(void)
{
	for (unsigned how = 0; how < 2; how++) {
		begin(4096, true);
		t.keep = how == 0;
		t.hold = how == 1;
		for (unsigned i = 0; i < 12; i++) {
			expect(datagram(1000));
			feed();
		}
		if (how == 1)
			for (unsigned i = 0, at = 0; i < t.nheld; at += t.held[i++].n)
				CU_ASSERT_EQUAL(memcmp(t.held[i].at, want + at, t.held[i].n), 0);
		for (unsigned i = 0; i < t.nkept; i++) {
			uint8_t now[1000];

			xk_msg_copy_out(t.kept[i], 0, now, 1000);
			CU_ASSERT_EQUAL(memcmp(now, want + i * 1000, 1000), 0);
		}
		same();
		CU_ASSERT_TRUE(counted(XK_DDP_MISSED) > 0);
		inside(drop_kept);
		inside(drop_held);
		t.keep = t.hold = false;
		for (unsigned i = 0; i < 8; i++) {
			expect(datagram(1000));
			feed();
		}
		same();
		CU_ASSERT_TRUE(counted(XK_DDP_PLACED) >= 8);
		host_down();
	}
}

/* UDP's payload function says 0 of the second, too: placed once, then not the next. */
static void what_is_not_the_next_of_a_stream_is_not_placed(void)
{
	begin(8192, true);
	for (unsigned i = 0; i < 4; i++)
		expect(datagram(500));
	feed();
	same();
	CU_ASSERT_EQUAL(counted(XK_DDP_PLACED), 1);
	CU_ASSERT_EQUAL(counted(XK_DDP_ORDER), 3);
	CU_ASSERT_EQUAL(counted(XK_DDP_COPIED), 3);
	host_down();
}

static CU_TestInfo stream_tests[] = {
	{ "a stream fills the ring byte after byte", a_stream_fills_the_ring_byte_after_byte },
	{ "a stream that is held or kept is not written over", a_stream_that_is_held_or_kept_is_not_written_over },
	{ "what is not the next of a stream is not placed", what_is_not_the_next_of_a_stream_is_not_placed },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "streams", NULL, NULL, NULL, NULL, stream_tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return ddp_main(suites);
}

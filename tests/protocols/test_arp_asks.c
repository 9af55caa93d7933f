/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_arp_asks.c - address resolution: how often it asks, what waits for the answer, and what
 * becomes of it when none comes.
 */
#include "tests/protocols/arp_fixture.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"

static const struct pf_spec graph_plain[] = {
	DRV, { &xk_proto_arp, "arp", "eth", "addresses=10.0.0.1/8" }, UP, END
};
static const struct pf_spec graph_short[] = {
	DRV, { &xk_proto_arp, "arp", "eth", "addresses=10.0.0.1/8; queue=3" }, UP, END
};

/* ---- asking ------------------------------------------------------------------------------ */

static void asks_then_sends_what_waited_in_order(void)
{
	struct xk_sess *s;
	const struct pf_rec *r;

	pf_up(&f, 1, graph_plain);
	s = pf_open_host(&f, "up", 0, THEM, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	CU_ASSERT_EQUAL(pf_npushed(&f, "drv"), 0);
	pf_push(&f, 0, s, "1", 1);
	pf_push(&f, 0, s, "2", 1);
	CU_ASSERT_EQUAL_FATAL(pf_npushed(&f, "drv"), 1);
	r = pf_pushed(&f, "drv", 0);
	CU_ASSERT_EQUAL(r->len, 42);
	CU_ASSERT_EQUAL(memcmp(r->bytes, packet(everybody, 1, me, US, (uint8_t[6]){ 0 }, THEM).b, 42), 0);
	says_reply(0, peer, THEM);
	CU_ASSERT_EQUAL_FATAL(pf_npushed(&f, "drv"), 3);
	CU_ASSERT_EQUAL(memcmp(pf_pushed(&f, "drv", 1)->bytes, peer, 6), 0);
	CU_ASSERT_EQUAL(pf_pushed(&f, "drv", 1)->bytes[14], '1');
	CU_ASSERT_EQUAL(pf_pushed(&f, "drv", 2)->bytes[14], '2');
	pf_push(&f, 0, s, "3", 1);
	CU_ASSERT_EQUAL(pf_npushed(&f, "drv"), 4);
	pf_close(&f, 0, s);
	pf_down(&f);
}

static void keeps_the_newest_messages(void)
{
	struct xk_sess *s;

	pf_up(&f, 1, graph_short);
	s = pf_open_host(&f, "up", 0, THEM, NULL);
	for (char c = '1'; c <= '9'; c++)
		pf_push(&f, 0, s, &c, 1);
	CU_ASSERT_EQUAL(pf_drops(&f, "arp", "queue_full"), 6);
	says_reply(0, peer, THEM);
	CU_ASSERT_EQUAL_FATAL(data_frames(), 3);
	CU_ASSERT_EQUAL(last_data()->bytes[14], '9');
	CU_ASSERT_EQUAL(pf_pushed(&f, "drv", 1)->bytes[14], '7');
	pf_close(&f, 0, s);
	pf_down(&f);
}

/* What a burst of connections sends before the first answer is not lost: as many as Linux keeps, and more. */
static void keeps_a_burst_of_messages_by_default(void)
{
	struct xk_sess *s;

	pf_up(&f, 1, graph_plain);
	s = pf_open_host(&f, "up", 0, THEM, NULL);
	for (unsigned i = 0; i < 128; i++)
		pf_push(&f, 0, s, "x", 1);
	CU_ASSERT_EQUAL(pf_drops(&f, "arp", "queue_full"), 0);
	says_reply(0, peer, THEM);
	CU_ASSERT_EQUAL(data_frames(), 128);
	pf_close(&f, 0, s);
	pf_down(&f);
}

static void asks_once_a_second_at_most_and_gives_up(void)
{
	struct xk_sess *s;

	pf_up(&f, 1, graph_short);
	s = pf_open_host(&f, "up", 0, THEM, NULL);
	for (int ms = 0; ms < 2900; ms += 100) {
		pf_push(&f, 0, s, "x", 1);
		CU_ASSERT_FATAL(requests_for(THEM) <= 1 + (unsigned)ms / 1000);
		pf_run(&f, 100 * XK_MS);
	}
	CU_ASSERT_EQUAL(requests_for(THEM), 3);
	pf_run(&f, XK_SEC);
	CU_ASSERT_EQUAL(pf_drops(&f, "arp", "unreachable"), 3);
	CU_ASSERT_EQUAL(pf_count(&f, "arp", "failed"), 1);
	/* For a while nobody is asked. */
	pf_push(&f, 0, s, "y", 1);
	CU_ASSERT_EQUAL(pf_drops(&f, "arp", "unreachable"), 4);
	CU_ASSERT_EQUAL(requests_for(THEM), 3);
	pf_run(&f, 6 * XK_SEC);
	pf_push(&f, 0, s, "z", 1);
	CU_ASSERT_EQUAL(requests_for(THEM), 4);
	says_reply(0, peer, THEM);
	CU_ASSERT_EQUAL(data_frames(), 1);
	pf_close(&f, 0, s);
	pf_down(&f);
}

static void sessions_that_close_and_open_again_do_not_ask_faster(void)
{
	pf_up(&f, 4, graph_short);
	for (int i = 0; i < 40; i++) {
		struct xk_sess *s = pf_open_host(&f, "up", (unsigned)i % 4, THEM, NULL);

		pf_push(&f, (unsigned)i % 4, s, "x", 1);
		pf_close(&f, (unsigned)i % 4, s);
		pf_run(&f, 50 * XK_MS);
	}
	CU_ASSERT(requests_for(THEM) <= 3);
	/* The newest three of each VP waited until nobody had answered. */
	pf_run(&f, 5 * XK_SEC);
	CU_ASSERT_EQUAL(pf_drops(&f, "arp", "queue_full") + pf_drops(&f, "arp", "unreachable"), 40);
	CU_ASSERT(pf_drops(&f, "arp", "unreachable") >= 3);
	CU_ASSERT_EQUAL(pf_sessions(&f, "arp"), 0);
	pf_down(&f);
}

/* RFC 1122 2.3.2.2: the message stays although its sender is gone. */
static void what_waits_is_sent_after_its_session_was_closed(void)
{
	struct xk_sess *s;

	pf_up(&f, 2, graph_plain);
	s = pf_open_host(&f, "up", 1, THEM, NULL);
	pf_push(&f, 1, s, "1", 1);
	pf_push(&f, 1, s, "2", 1);
	pf_close(&f, 1, s);
	CU_ASSERT_EQUAL(pf_sessions(&f, "arp"), 1);
	says_reply(0, peer, THEM);
	CU_ASSERT_EQUAL_FATAL(data_frames(), 2);
	CU_ASSERT_EQUAL(pf_pushed(&f, "drv", 1)->bytes[14], '1');
	CU_ASSERT_EQUAL(last_data()->bytes[14], '2');
	CU_ASSERT_EQUAL(pf_sessions(&f, "arp"), 0);
	pf_down(&f);
}

static void a_closed_session_that_waits_can_be_opened_again(void)
{
	struct xk_sess *s, *again;

	pf_up(&f, 1, graph_plain);
	s = pf_open_host(&f, "up", 0, THEM, NULL);
	pf_push(&f, 0, s, "1", 1);
	pf_close(&f, 0, s);
	again = pf_open_host(&f, "up", 0, THEM, NULL);
	CU_ASSERT_PTR_EQUAL(again, s);
	pf_push(&f, 0, again, "2", 1);
	says_reply(0, peer, THEM);
	CU_ASSERT_EQUAL(data_frames(), 2);
	CU_ASSERT_EQUAL_FATAL(pf_sessions(&f, "arp"), 1);
	pf_push(&f, 0, again, "3", 1);
	CU_ASSERT_EQUAL(data_frames(), 3);
	pf_close(&f, 0, again);
	CU_ASSERT_EQUAL(pf_sessions(&f, "arp"), 0);
	pf_down(&f);
}

static void closed_sessions_wait_no_longer_than_others(void)
{
	struct xk_sess *s;

	pf_up(&f, 1, graph_plain);
	s = pf_open_host(&f, "up", 0, THEM, NULL);
	pf_push(&f, 0, s, "x", 1);
	pf_close(&f, 0, s);
	pf_run(&f, 10 * XK_SEC);
	CU_ASSERT_EQUAL(requests_for(THEM), 3);
	CU_ASSERT_EQUAL(pf_drops(&f, "arp", "unreachable"), 1);
	CU_ASSERT_EQUAL(pf_sessions(&f, "arp"), 0);
	pf_down(&f);
}

static void closed_sessions_that_wait_are_few_and_end_with_the_graph(void)
{
	enum { N = 100, LEFT = 64 };

	pf_up(&f, 1, graph_plain);
	for (unsigned i = 0; i < N; i++) {
		struct xk_sess *s = pf_open_host(&f, "up", 0, HOST(10, 0, 4, i), NULL);

		pf_push(&f, 0, s, "x", 1);
		pf_close(&f, 0, s);
	}
	CU_ASSERT_EQUAL(pf_sessions(&f, "arp"), LEFT);
	CU_ASSERT_EQUAL(pf_drops(&f, "arp", "closed"), N - LEFT);
	says_reply(0, peer, HOST(10, 0, 4, 0));          /* one of those that gave way */
	CU_ASSERT_EQUAL(data_frames(), 0);
	says_reply(0, peer, HOST(10, 0, 4, N - 1));
	CU_ASSERT_EQUAL(data_frames(), 1);
	CU_ASSERT_EQUAL(pf_sessions(&f, "arp"), LEFT - 1);
	pf_down(&f);
}

static void group_addresses_need_no_question(void)
{
	static const struct { uint32_t host; uint8_t mac[6]; } c[] = {
		{ HOST(255, 255, 255, 255), { 255, 255, 255, 255, 255, 255 } },
		{ HOST(10, 255, 255, 255), { 255, 255, 255, 255, 255, 255 } },
		{ HOST(224, 0, 0, 1), { 1, 0, 0x5e, 0, 0, 1 } },
		{ HOST(239, 255, 1, 2), { 1, 0, 0x5e, 0x7f, 1, 2 } },
	};

	pf_up(&f, 1, graph_plain);
	for (unsigned i = 0; i < XK_ARRAY_LEN(c); i++) {
		struct xk_sess *s = pf_open_host(&f, "up", 0, c[i].host, NULL);

		CU_ASSERT_PTR_NOT_NULL_FATAL(s);
		pf_push(&f, 0, s, "x", 1);
		CU_ASSERT_EQUAL_FATAL(pf_npushed(&f, "drv"), i + 1);
		CU_ASSERT_EQUAL(memcmp(pf_pushed(&f, "drv", i)->bytes, c[i].mac, 6), 0);
		pf_close(&f, 0, s);
	}
	pf_run(&f, 3600 * XK_SEC);
	CU_ASSERT_EQUAL(pf_npushed(&f, "drv"), XK_ARRAY_LEN(c));
	pf_down(&f);
}

static void hosts_that_cannot_be_reached_are_refused(void)
{
	static const uint32_t no[] = { 0, HOST(0, 1, 2, 3), HOST(127, 0, 0, 1), US, HOST(240, 0, 0, 1), HOST(255, 255, 255, 254) };
	struct xk_parts ps;
	int err;

	pf_up(&f, 1, graph_plain);
	for (unsigned i = 0; i < XK_ARRAY_LEN(no); i++) {
		err = 0;
		CU_ASSERT_PTR_NULL(pf_open_host(&f, "up", 0, no[i], &err));
		CU_ASSERT_EQUAL(err, XK_E_INVAL);
	}
	xk_parts_init(&ps, 1);
	xk_part_push_any(&ps.p[0]);
	CU_ASSERT_PTR_NULL(pf_open(&f, "up", 0, &ps, &err));
	CU_ASSERT_EQUAL(pf_sessions(&f, "arp"), 0);
	pf_down(&f);
}

#define T(name) { #name, name }
static CU_TestInfo tests[] = {
	T(asks_then_sends_what_waited_in_order),
	T(keeps_the_newest_messages),
	T(keeps_a_burst_of_messages_by_default),
	T(asks_once_a_second_at_most_and_gives_up),
	T(sessions_that_close_and_open_again_do_not_ask_faster),
	T(what_waits_is_sent_after_its_session_was_closed),
	T(a_closed_session_that_waits_can_be_opened_again),
	T(closed_sessions_wait_no_longer_than_others),
	T(closed_sessions_that_wait_are_few_and_end_with_the_graph),
	T(group_addresses_need_no_question),
	T(hosts_that_cannot_be_reached_are_refused),
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "arp asks", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}

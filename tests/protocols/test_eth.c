/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_eth.c - Ethernet: framing, whom it listens to, sessions and enables.
 *
 * Promises: active and passive opens, also from layers without a header; reference
 * counts, messages and buffers balance; a session is announced before its first
 * message, and a refused one leaves no binding; enables count; each layer consumes its
 * part of an address; a close during a pop waits for its end; a failing allocation
 * leaks nothing; and a counted drop for every header that lies.
 */
#include "protocols/eth/eth.h"

#include <string.h>

#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"
#include "tests/protocols/proto_fixture.h"
#include "tests/support/xk_test.h"

#define ME   0x02, 0, 0, 0, 0, 0x01
#define PEER 0x02, 0, 0, 0, 0, 0x02
#define ALL  0xff, 0xff, 0xff, 0xff, 0xff, 0xff

static const uint8_t me[6] = { ME }, peer[6] = { PEER }, everybody[6] = { ALL };
static const uint8_t frame_ip[] = { ME, PEER, 0x08, 0x00, 'h', 'e', 'l', 'l', 'o' };

static const struct pf_spec graph_plain[] = {
	{ &pf_driver, "drv", NULL, "mac=02:00:00:00:00:01" },
	{ &xk_proto_eth, "eth", "drv", NULL },
	{ &pf_upper, "up", "eth", NULL },
	{ NULL, NULL, NULL, NULL }
};
static const struct pf_spec graph_mute[] = {
	{ &pf_driver, "drv", NULL, NULL },
	{ &xk_proto_eth, "eth", "drv", NULL },
	{ &pf_upper, "up", "eth", "enable=false" },
	{ NULL, NULL, NULL, NULL }
};
static const struct pf_spec graph_promiscuous[] = {
	{ &pf_driver, "drv", NULL, NULL },
	{ &xk_proto_eth, "eth", "drv", "promiscuous=true" },
	{ &pf_upper, "up", "eth", NULL },
	{ NULL, NULL, NULL, NULL }
};
static const struct pf_spec graph_small[] = {
	{ &pf_driver, "drv", NULL, NULL },
	{ &xk_proto_eth, "eth", "drv", "sessions=4; linger=1s" },
	{ &pf_upper, "up", "eth", NULL },
	{ NULL, NULL, NULL, NULL }
};

static struct pf f;

static void inject_with(unsigned vp, const uint8_t dst[6], const uint8_t src[6], uint16_t type)
{
	uint8_t b[20] = { 0 };

	memcpy(b, dst, 6);
	memcpy(b + 6, src, 6);
	xk_put_be16(b + 12, type);
	memcpy(b + 14, "abcdef", 6);
	pf_inject(&f, "drv", vp, b, sizeof(b));
}

/* ---- framing --------------------------------------------------------------------- */

static void pushes_destination_source_and_type(void)
{
	struct xk_sess *s;

	pf_up(&f, 1, graph_plain);
	s = pf_open_mac(&f, "up", 0, peer, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	pf_push(&f, 0, s, "hi", 2);
	CU_ASSERT_EQUAL_FATAL(pf_npushed(&f, "drv"), 1);
	CU_ASSERT_EQUAL(pf_pushed(&f, "drv", 0)->len, 16);
	CU_ASSERT_EQUAL(memcmp(pf_pushed(&f, "drv", 0)->bytes,
			       ((uint8_t[]){ PEER, ME, 0x08, 0x00, 'h', 'i' }), 16), 0);
	pf_close(&f, 0, s);
	pf_down(&f);
}

static void pushes_a_shared_message_without_touching_the_other_copy(void)
{
	struct xk_msg *m, *copy;
	struct xk_sess *s;

	pf_up(&f, 1, graph_plain);
	s = pf_open_mac(&f, "up", 0, peer, NULL);
	pf_enter(&f, 0);
	m = pf_msg("abc", 3);
	copy = xk_msg_share(m);
	xk_push(s, m);
	xk_push(s, copy);
	pf_leave(&f, 0);
	CU_ASSERT_EQUAL_FATAL(pf_npushed(&f, "drv"), 2);
	for (unsigned i = 0; i < 2; i++) {
		CU_ASSERT_EQUAL(pf_pushed(&f, "drv", i)->len, 17);
		CU_ASSERT_EQUAL(memcmp(pf_pushed(&f, "drv", i)->bytes + 14, "abc", 3), 0);
	}
	pf_close(&f, 0, s);
	pf_down(&f);
}

static void pops_the_header_and_keeps_padding(void)
{
	uint8_t padded[60] = { 0 };

	pf_up(&f, 1, graph_plain);
	memcpy(padded, frame_ip, sizeof(frame_ip));
	pf_inject(&f, "drv", 0, frame_ip, sizeof(frame_ip));
	pf_inject(&f, "drv", 0, padded, sizeof(padded));
	CU_ASSERT_EQUAL_FATAL(pf_ngot(&f, "up"), 2);
	CU_ASSERT_EQUAL(pf_got(&f, "up", 0)->len, 5);
	CU_ASSERT_EQUAL(memcmp(pf_got(&f, "up", 0)->bytes, "hello", 5), 0);
	CU_ASSERT_EQUAL(pf_got(&f, "up", 0)->flags & XK_MSG_LINK_BCAST, 0);
	CU_ASSERT_EQUAL(pf_got(&f, "up", 1)->len, 46);
	CU_ASSERT_EQUAL(pf_drops(&f, "eth", NULL), 0);
	pf_down(&f);
}

static void accepts_a_header_cut_over_segments_anywhere(void)
{
	pf_up(&f, 1, graph_plain);
	for (uint32_t cut = 1; cut < sizeof(frame_ip); cut++)
		pf_inject_split(&f, "drv", 0, frame_ip, sizeof(frame_ip), cut);
	CU_ASSERT_EQUAL_FATAL(pf_ngot(&f, "up"), sizeof(frame_ip) - 1);
	for (unsigned i = 0; i < pf_ngot(&f, "up"); i++)
		CU_ASSERT_EQUAL(memcmp(pf_got(&f, "up", i)->bytes, "hello", 5), 0);
	pf_down(&f);
}

static void drops_every_truncated_header_and_counts_it(void)
{
	pf_up(&f, 1, graph_plain);
	for (uint32_t len = 0; len < ETH_HDR_LEN; len++)
		pf_inject(&f, "drv", 0, frame_ip, len);
	CU_ASSERT_EQUAL(pf_drops(&f, "eth", "short"), ETH_HDR_LEN);
	CU_ASSERT_EQUAL(pf_drops(&f, "eth", NULL), ETH_HDR_LEN);
	pf_inject(&f, "drv", 0, frame_ip, ETH_HDR_LEN);
	CU_ASSERT_EQUAL_FATAL(pf_ngot(&f, "up"), 1);
	CU_ASSERT_EQUAL(pf_got(&f, "up", 0)->len, 0);
	pf_down(&f);
}

/* ---- whom it listens to -------------------------------------------------------------- */

static void drops_frames_for_other_stations(void)
{
	uint8_t other[6] = { 0x02, 0, 0, 0, 0, 0x77 };

	pf_up(&f, 1, graph_plain);
	inject_with(0, other, peer, 0x0800);
	for (int i = 0; i < 6; i++) {
		memcpy(other, me, 6);
		other[i] ^= i == 0 ? 0x80 : 0x01;   /* one bit off, still one station */
		inject_with(0, other, peer, 0x0800);
	}
	CU_ASSERT_EQUAL(pf_ngot(&f, "up"), 0);
	CU_ASSERT_EQUAL(pf_drops(&f, "eth", "not_for_us"), 7);
	pf_down(&f);
}

static void marks_group_frames_for_the_layers_above(void)
{
	static const uint8_t group[6] = { 0x01, 0, 0x5e, 0, 0, 0x05 };

	pf_up(&f, 1, graph_plain);
	inject_with(0, everybody, peer, 0x0800);
	inject_with(0, group, peer, 0x0800);
	CU_ASSERT_EQUAL_FATAL(pf_ngot(&f, "up"), 2);
	CU_ASSERT(pf_got(&f, "up", 0)->flags & XK_MSG_LINK_BCAST);
	CU_ASSERT(pf_got(&f, "up", 1)->flags & XK_MSG_LINK_BCAST);
	pf_down(&f);
}

static void promiscuous_takes_everything_but_marks_it(void)
{
	static const uint8_t other[6] = { 0x02, 0, 0, 0, 0, 0x77 };

	pf_up(&f, 1, graph_promiscuous);
	inject_with(0, other, peer, 0x0800);
	CU_ASSERT_EQUAL_FATAL(pf_ngot(&f, "up"), 1);
	CU_ASSERT(pf_got(&f, "up", 0)->flags & XK_MSG_LINK_BCAST);
	pf_down(&f);
}

static void drops_impossible_and_own_sources(void)
{
	static const uint8_t zero[6], group[6] = { 0x01, 0, 0x5e, 0, 0, 0x05 };
	struct xk_sess *all;

	pf_up(&f, 1, graph_plain);
	/* A session that sends to everybody must not receive from "everybody". */
	all = pf_open_mac(&f, "up", 0, everybody, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(all);
	inject_with(0, me, everybody, 0x0800);
	inject_with(0, me, group, 0x0800);
	inject_with(0, me, zero, 0x0800);
	inject_with(0, everybody, me, 0x0800);
	CU_ASSERT_EQUAL(pf_ngot(&f, "up"), 0);
	CU_ASSERT_EQUAL(pf_drops(&f, "eth", "bad_source"), 3);
	CU_ASSERT_EQUAL(pf_drops(&f, "eth", "own_source"), 1);
	pf_close(&f, 0, all);
	pf_down(&f);
}

static void drops_unknown_types_and_lengths_in_place_of_types(void)
{
	static const uint16_t types[] = { 0, 1, 46, 0x05dc, 0x05ff, 0x0600, 0x07ff, 0x0801, 0x0806, 0x86dd, 0xffff };

	pf_up(&f, 1, graph_plain);
	for (unsigned i = 0; i < XK_ARRAY_LEN(types); i++)
		inject_with(0, me, peer, types[i]);
	CU_ASSERT_EQUAL(pf_ngot(&f, "up"), 0);
	CU_ASSERT_EQUAL(pf_drops(&f, "eth", "unknown_type"), XK_ARRAY_LEN(types));
	CU_ASSERT_EQUAL(pf_sessions(&f, "eth"), 0);
	pf_down(&f);
}

/* ---- sessions -------------------------------------------------------------------------- */

static void refuses_stations_that_cannot_be_opened(void)
{
	static const uint8_t zero[6];
	struct xk_parts ps;
	int err = 0;

	pf_up(&f, 1, graph_plain);
	CU_ASSERT_PTR_NULL(pf_open_mac(&f, "up", 0, me, &err));
	CU_ASSERT_EQUAL(err, XK_E_INVAL);
	CU_ASSERT_PTR_NULL(pf_open_mac(&f, "up", 0, zero, &err));
	CU_ASSERT_EQUAL(err, XK_E_INVAL);
	xk_parts_init(&ps, 1);
	xk_part_push_any(&ps.p[0]);
	CU_ASSERT_PTR_NULL(pf_open(&f, "up", 0, &ps, &err));
	CU_ASSERT_EQUAL(err, XK_E_INVAL);
	xk_parts_init(&ps, 0);
	CU_ASSERT_PTR_NULL(pf_open(&f, "up", 0, &ps, &err));
	CU_ASSERT_EQUAL(err, XK_E_INVAL);
	CU_ASSERT_PTR_NULL(pf_open_host(&f, "up", 0, 0x0a000001, &err));
	CU_ASSERT_EQUAL(err, XK_E_INVAL);
	CU_ASSERT_EQUAL(pf_sessions(&f, "eth"), 0);
	pf_down(&f);
}

static void accepts_the_own_station_as_local_participant_only(void)
{
	struct xk_parts ps;
	struct xk_sess *s;
	int err = 0;

	pf_up(&f, 1, graph_plain);
	xk_parts_init(&ps, 2);
	xk_part_push_mac(&ps.p[XK_REMOTE], peer);
	xk_part_push_mac(&ps.p[XK_LOCAL], peer);
	CU_ASSERT_PTR_NULL(pf_open(&f, "up", 0, &ps, &err));
	CU_ASSERT_EQUAL(err, XK_E_ADDRNOTAVAIL);
	xk_parts_init(&ps, 2);
	xk_part_push_mac(&ps.p[XK_REMOTE], peer);
	xk_part_push_mac(&ps.p[XK_LOCAL], me);
	s = pf_open(&f, "up", 0, &ps, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	CU_ASSERT_EQUAL(ps.p[XK_REMOTE].depth + ps.p[XK_LOCAL].depth, 0);   /* consumed */
	pf_close(&f, 0, s);
	pf_down(&f);
}

static void opening_twice_shares_and_closing_twice_frees(void)
{
	struct xk_sess *a, *b;

	pf_up(&f, 1, graph_plain);
	a = pf_open_mac(&f, "up", 0, peer, NULL);
	b = pf_open_mac(&f, "up", 0, peer, NULL);
	CU_ASSERT_PTR_EQUAL(a, b);
	CU_ASSERT_EQUAL(a->rcnt, 2);
	pf_close(&f, 0, a);
	CU_ASSERT_EQUAL(pf_sessions(&f, "eth"), 1);
	pf_close(&f, 0, b);
	CU_ASSERT_EQUAL(pf_sessions(&f, "eth"), 0);
	pf_down(&f);
}

static void ten_thousand_active_opens_leave_nothing(void)
{
	uint8_t mac[6] = { PEER };
	int32_t base;

	pf_up(&f, 4, graph_plain);
	base = pf_rep(&f, "drv", 0)->drv_sess->rcnt;
	for (unsigned i = 0; i < 10000; i++) {
		mac[4] = (uint8_t)(i >> 6);
		mac[5] = (uint8_t)(i | 2);
		pf_close(&f, i % 4, pf_open_mac(&f, "up", i % 4, mac, NULL));
	}
	CU_ASSERT_EQUAL(pf_sessions(&f, "eth"), 0);
	CU_ASSERT_EQUAL(pf_rep(&f, "drv", 0)->drv_sess->rcnt, base);
	pf_down(&f);
}

static void an_active_session_receives_what_its_peer_sends(void)
{
	struct xk_sess *s;

	pf_up(&f, 1, graph_mute);
	s = pf_open_mac(&f, "up", 0, peer, NULL);
	pf_inject(&f, "drv", 0, frame_ip, sizeof(frame_ip));
	CU_ASSERT_EQUAL_FATAL(pf_ngot(&f, "up"), 1);
	CU_ASSERT_PTR_EQUAL(pf_got(&f, "up", 0)->lls, s);
	CU_ASSERT_EQUAL(s->rcnt, 1);
	CU_ASSERT_EQUAL(pf_upper_of(&f, "up")->open_dones, 0);
	pf_close(&f, 0, s);
	pf_inject(&f, "drv", 0, frame_ip, sizeof(frame_ip));
	CU_ASSERT_EQUAL(pf_ngot(&f, "up"), 1);
	CU_ASSERT_EQUAL(pf_drops(&f, "eth", "unknown_type"), 1);
	pf_down(&f);
}

static void close_it(struct xk_rep *r, struct xk_sess *lls, struct xk_msg *m)
{
	(void)r;
	(void)m;
	xk_close(lls);
	CU_ASSERT_PTR_NOT_NULL(lls->rep);      /* still there: a pop is going on */
}

static void closing_inside_the_pop_waits_for_its_end(void)
{
	pf_up(&f, 1, graph_mute);
	pf_open_mac(&f, "up", 0, peer, NULL);
	pf_upper_of(&f, "up")->on_msg = close_it;
	pf_inject(&f, "drv", 0, frame_ip, sizeof(frame_ip));
	CU_ASSERT_EQUAL(pf_ngot(&f, "up"), 1);
	CU_ASSERT_EQUAL(pf_sessions(&f, "eth"), 0);
	pf_down(&f);
}

/* ---- passive opens ------------------------------------------------------------------------ */

static void open_done_comes_once_and_before_the_first_message(void)
{
	struct pf_upper_state *up;

	pf_up(&f, 1, graph_plain);
	up = pf_upper_of(&f, "up");
	for (int i = 0; i < 10; i++)
		pf_inject(&f, "drv", 0, frame_ip, sizeof(frame_ip));
	CU_ASSERT_EQUAL(up->open_dones, 1);
	CU_ASSERT_EQUAL(up->got_at_open_done, 0);
	CU_ASSERT_EQUAL(pf_ngot(&f, "up"), 10);
	CU_ASSERT_EQUAL(pf_sessions(&f, "eth"), 1);
	pf_down(&f);
}

static void a_passive_session_answers_its_peer(void)
{
	pf_up(&f, 1, graph_plain);
	pf_upper_of(&f, "up")->keep = true;
	pf_inject(&f, "drv", 0, frame_ip, sizeof(frame_ip));
	CU_ASSERT_EQUAL_FATAL(pf_upper_of(&f, "up")->nkept, 1);
	pf_push(&f, 0, pf_upper_of(&f, "up")->kept[0], "re", 2);
	CU_ASSERT_EQUAL_FATAL(pf_npushed(&f, "drv"), 1);
	CU_ASSERT_EQUAL(memcmp(pf_pushed(&f, "drv", 0)->bytes,
			       ((uint8_t[]){ PEER, ME, 0x08, 0x00, 'r', 'e' }), 16), 0);
	pf_down(&f);
}

static void a_refused_passive_session_leaves_no_binding(void)
{
	pf_up(&f, 1, graph_plain);
	pf_upper_of(&f, "up")->refuse = true;
	for (int i = 0; i < 100; i++)
		pf_inject(&f, "drv", 0, frame_ip, sizeof(frame_ip));
	CU_ASSERT_EQUAL(pf_ngot(&f, "up"), 0);
	CU_ASSERT_EQUAL(pf_drops(&f, "eth", "refused"), 100);
	CU_ASSERT_EQUAL(pf_sessions(&f, "eth"), 0);
	CU_ASSERT_EQUAL(xk_map_count(&pf_rep(&f, "eth", 0)->active), 0);
	pf_upper_of(&f, "up")->refuse = false;
	pf_inject(&f, "drv", 0, frame_ip, sizeof(frame_ip));
	CU_ASSERT_EQUAL(pf_ngot(&f, "up"), 1);
	pf_down(&f);
}

static void a_lingering_session_goes_after_its_time(void)
{
	pf_up(&f, 1, graph_small);
	pf_inject(&f, "drv", 0, frame_ip, sizeof(frame_ip));
	pf_run(&f, XK_SEC / 2);
	CU_ASSERT_EQUAL(pf_sessions(&f, "eth"), 1);
	pf_run(&f, XK_SEC * 6 / 10);
	CU_ASSERT_EQUAL(pf_sessions(&f, "eth"), 0);
	pf_inject(&f, "drv", 0, frame_ip, sizeof(frame_ip));
	CU_ASSERT_EQUAL(pf_upper_of(&f, "up")->open_dones, 2);
	pf_down(&f);
}

static void a_kept_session_outlives_its_lingering(void)
{
	struct xk_sess *s;

	pf_up(&f, 1, graph_small);
	pf_upper_of(&f, "up")->keep = true;
	pf_inject(&f, "drv", 0, frame_ip, sizeof(frame_ip));
	s = pf_upper_of(&f, "up")->kept[0];
	CU_ASSERT_EQUAL(s->rcnt, 2);
	pf_run(&f, 5 * XK_SEC);
	CU_ASSERT_EQUAL(s->rcnt, 1);
	pf_inject(&f, "drv", 0, frame_ip, sizeof(frame_ip));
	CU_ASSERT_EQUAL(pf_upper_of(&f, "up")->open_dones, 1);
	CU_ASSERT_EQUAL(pf_ngot(&f, "up"), 2);
	pf_down(&f);
}

static void strangers_cannot_grow_the_table_past_its_cap(void)
{
	uint8_t mac[6] = { PEER };

	pf_up(&f, 1, graph_small);
	for (unsigned i = 0; i < 10000; i++) {
		mac[4] = (uint8_t)(i >> 8);
		mac[5] = (uint8_t)i | 2;
		inject_with(0, me, mac, 0x0800);
		CU_ASSERT_FATAL(pf_sessions(&f, "eth") <= 4);
	}
	CU_ASSERT_EQUAL(pf_ngot(&f, "up"), 10000);
	pf_down(&f);
}

static void sessions_that_are_held_make_newcomers_wait_at_the_cap(void)
{
	uint8_t mac[6] = { PEER };

	pf_up(&f, 1, graph_small);
	pf_upper_of(&f, "up")->keep = true;
	for (unsigned i = 0; i < 6; i++) {
		mac[5] = (uint8_t)(0x10 + i);
		inject_with(0, me, mac, 0x0800);
	}
	CU_ASSERT_EQUAL(pf_ngot(&f, "up"), 4);
	CU_ASSERT_EQUAL(pf_drops(&f, "eth", "session_cap"), 2);
	pf_down(&f);
}

static void one_that_nobody_holds_makes_room_among_those_that_are_held(void)
{
	uint8_t mac[6] = { PEER };

	pf_up(&f, 1, graph_small);
	for (unsigned i = 0; i < 6; i++) {
		pf_upper_of(&f, "up")->keep = i != 2;
		mac[5] = (uint8_t)(0x10 + i);
		inject_with(0, me, mac, 0x0800);
	}
	CU_ASSERT_EQUAL(pf_ngot(&f, "up"), 5);
	CU_ASSERT_EQUAL(pf_drops(&f, "eth", "session_cap"), 1);
	CU_ASSERT_EQUAL(pf_count(&f, "eth", "lingered"), 1);
	pf_down(&f);
}

static void ten_thousand_passive_opens_leave_nothing(void)
{
	uint8_t mac[6] = { PEER };
	int32_t base;

	pf_up(&f, 4, graph_plain);
	base = pf_rep(&f, "drv", 0)->drv_sess->rcnt;
	for (unsigned i = 0; i < 10000; i++) {
		mac[3] = (uint8_t)(i >> 8);
		mac[4] = (uint8_t)i;
		inject_with(i % 4, me, mac, 0x0800);
	}
	CU_ASSERT_EQUAL(pf_ngot(&f, "up"), 10000);
	pf_run(&f, 180 * XK_SEC);
	CU_ASSERT_EQUAL(pf_sessions(&f, "eth"), 0);
	CU_ASSERT_EQUAL(pf_rep(&f, "drv", 0)->drv_sess->rcnt, base);
	pf_down(&f);
}

/* ---- enables ---------------------------------------------------------------------------------- */

static void enables_count_and_the_third_disable_fails(void)
{
	struct xk_node *up, *eth;
	struct xk_parts ps;

	pf_up(&f, 1, graph_mute);
	up = pf_node(&f, "up");
	eth = pf_node(&f, "eth");
	xk_parts_init(&ps, 0);
	CU_ASSERT_EQUAL(xk_open_enable(up, up, eth, &ps), 0);
	CU_ASSERT_EQUAL(xk_open_enable(up, up, eth, &ps), 0);
	CU_ASSERT_EQUAL(xk_open_enable(eth, up, eth, &ps), XK_E_ADDRINUSE);
	CU_ASSERT_EQUAL(xk_open_disable(up, up, eth, &ps), 0);
	pf_inject(&f, "drv", 0, frame_ip, sizeof(frame_ip));
	CU_ASSERT_EQUAL(pf_ngot(&f, "up"), 1);
	CU_ASSERT_EQUAL(xk_open_disable(up, up, eth, &ps), 0);
	CU_ASSERT(xk_open_disable(up, up, eth, &ps) < 0);
	CU_ASSERT_EQUAL(xk_open_enable(up, eth, eth, &ps), XK_E_INVAL);   /* eth has no number */
	pf_down(&f);
}

static void disabling_ends_the_sessions_made_under_the_enable(void)
{
	pf_up(&f, 4, graph_plain);
	for (unsigned vp = 0; vp < 4; vp++)
		pf_inject(&f, "drv", vp, frame_ip, sizeof(frame_ip));
	CU_ASSERT_EQUAL(pf_sessions(&f, "eth"), 4);
	xk_open_disable_all(pf_node(&f, "up"), pf_node(&f, "eth"));
	pf_settle(&f);
	CU_ASSERT_EQUAL(pf_sessions(&f, "eth"), 0);
	pf_inject(&f, "drv", 2, frame_ip, sizeof(frame_ip));
	CU_ASSERT_EQUAL(pf_ngot(&f, "up"), 4);
	CU_ASSERT_EQUAL(pf_drops(&f, "eth", "unknown_type"), 1);
	pf_down(&f);
}

/* ---- control ---------------------------------------------------------------------------------- */

static void answers_controls_and_passes_unknown_ones_down(void)
{
	struct xk_rep *r;
	struct xk_sess *s;
	struct xk_parts ps;
	uint8_t mac[6];
	uint32_t v = 0;

	pf_up(&f, 1, graph_plain);
	r = pf_rep(&f, "eth", 0);
	s = pf_open_mac(&f, "up", 0, peer, NULL);
	pf_enter(&f, 0);
	CU_ASSERT_EQUAL(xk_control(r, XK_CTL_GETMAXPACKET, &v, 4), 4);
	CU_ASSERT_EQUAL(v, 1500);
	CU_ASSERT_EQUAL(xk_sess_control(s, XK_CTL_GETOPTPACKET, &v, 4), 4);
	CU_ASSERT_EQUAL(v, 1500);
	CU_ASSERT_EQUAL(xk_control(r, XK_CTL_GETMYMAC, mac, 6), 6);
	CU_ASSERT_EQUAL(memcmp(mac, me, 6), 0);
	CU_ASSERT_EQUAL(xk_sess_control(s, XK_CTL_GETPEERMAC, mac, 6), 6);
	CU_ASSERT_EQUAL(memcmp(mac, peer, 6), 0);
	CU_ASSERT_EQUAL(xk_sess_control(s, XK_CTL_GETPEERMAC, mac, 5), XK_E_INVAL);
	CU_ASSERT_EQUAL(xk_sess_control(s, XK_CTL_GETMYPROTO, &v, 4), 4);
	CU_ASSERT_EQUAL(v, 0x0800);
	CU_ASSERT_EQUAL(xk_sess_control(s, XK_CTL_GETPARTICIPANTS, &ps, sizeof(ps)), (int)sizeof(ps));
	CU_ASSERT_EQUAL(xk_part_pop_mac(&ps.p[XK_REMOTE], mac), 0);
	CU_ASSERT_EQUAL(memcmp(mac, peer, 6), 0);
	CU_ASSERT_EQUAL(xk_sess_control(s, 999999, &v, 4), XK_E_NOTSUP);
	pf_leave(&f, 0);
	pf_close(&f, 0, s);
	pf_down(&f);
}

/* ---- memory ------------------------------------------------------------------------------------ */

static void a_graph_that_runs_out_of_memory_leaves_nothing(void)
{
	bool up = false;

	for (uint64_t k = 1; !up && k < 500; k++) {
		xk_mem_fail_after(k);
		up = pf_up_try(&f, 2, graph_plain);
		xk_mem_fail_after(0);
		pf_down(&f);
	}
	CU_ASSERT(up);
}

static void opens_and_messages_without_memory_leave_nothing(void)
{
	for (uint64_t k = 1; k < 12; k++) {
		struct xk_sess *s;

		pf_up(&f, 1, graph_plain);
		xk_mem_fail_after(k);
		s = pf_open_mac(&f, "up", 0, peer, NULL);
		if (s != NULL)
			pf_push(&f, 0, s, "x", 1);
		pf_inject(&f, "drv", 0, frame_ip, sizeof(frame_ip));
		xk_mem_fail_after(0);
		if (s != NULL)
			pf_close(&f, 0, s);
		pf_inject(&f, "drv", 0, frame_ip, sizeof(frame_ip));
		CU_ASSERT(pf_ngot(&f, "up") >= 1);
		pf_down(&f);
	}
}

static void every_vp_has_its_own_sessions(void)
{
	struct xk_sess *s[4];

	pf_up(&f, 4, graph_plain);
	for (unsigned vp = 0; vp < 4; vp++)
		s[vp] = pf_open_mac(&f, "up", vp, peer, NULL);
	for (unsigned vp = 0; vp < 4; vp++) {
		pf_inject(&f, "drv", vp, frame_ip, sizeof(frame_ip));
		CU_ASSERT_EQUAL(pf_got(&f, "up", vp)->vp, vp);
		CU_ASSERT_PTR_EQUAL(pf_got(&f, "up", vp)->lls, s[vp]);
	}
	for (unsigned vp = 4; vp-- > 0;)
		pf_close(&f, vp, s[vp]);
	CU_ASSERT_EQUAL(pf_sessions(&f, "eth"), 0);
	pf_down(&f);
}

#define T(name) { #name, name }
static CU_TestInfo tests[] = {
	T(pushes_destination_source_and_type),
	T(pushes_a_shared_message_without_touching_the_other_copy),
	T(pops_the_header_and_keeps_padding),
	T(accepts_a_header_cut_over_segments_anywhere),
	T(drops_every_truncated_header_and_counts_it),
	T(drops_frames_for_other_stations),
	T(marks_group_frames_for_the_layers_above),
	T(promiscuous_takes_everything_but_marks_it),
	T(drops_impossible_and_own_sources),
	T(drops_unknown_types_and_lengths_in_place_of_types),
	T(refuses_stations_that_cannot_be_opened),
	T(accepts_the_own_station_as_local_participant_only),
	T(opening_twice_shares_and_closing_twice_frees),
	T(ten_thousand_active_opens_leave_nothing),
	T(an_active_session_receives_what_its_peer_sends),
	T(closing_inside_the_pop_waits_for_its_end),
	T(open_done_comes_once_and_before_the_first_message),
	T(a_passive_session_answers_its_peer),
	T(a_refused_passive_session_leaves_no_binding),
	T(a_lingering_session_goes_after_its_time),
	T(a_kept_session_outlives_its_lingering),
	T(strangers_cannot_grow_the_table_past_its_cap),
	T(sessions_that_are_held_make_newcomers_wait_at_the_cap),
	T(one_that_nobody_holds_makes_room_among_those_that_are_held),
	T(ten_thousand_passive_opens_leave_nothing),
	T(enables_count_and_the_third_disable_fails),
	T(disabling_ends_the_sessions_made_under_the_enable),
	T(answers_controls_and_passes_unknown_ones_down),
	T(a_graph_that_runs_out_of_memory_leaves_nothing),
	T(opens_and_messages_without_memory_leave_nothing),
	T(every_vp_has_its_own_sessions),
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "eth", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}

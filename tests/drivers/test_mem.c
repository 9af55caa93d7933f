/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_mem.c - the in-memory Ethernet and FDDI, one joined to another.
 *
 * Promises: a frame crosses a wire whole, once copied, never on the stack of its
 * push; queue caps are counted; it runs on the VP that the classifier
 * names; MTU by link type; nothing leaks.
 */
#include "drivers/mem/mem.h"

#include <string.h>

#include "protocols/ip/ip.h"
#include "runtime/base/xk_csum.h"
#include "runtime/classify/xk_classify.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"
#include "tests/drivers/wire_fixture.h"

extern const struct xk_proto xk_proto_eth;

#define LOOP2(wire_a, wire_b, drv_a, drv_b) { \
	{ drv_a, "da", NULL, "wire=" wire_a }, { &pf_flat, "ua", "da", "enable=false" }, \
	{ drv_b, "db", NULL, "wire=" wire_b }, { &pf_flat, "ub", "db", "enable=false" }, \
	{ NULL, NULL, NULL, NULL } }

static struct xk_sess *sa[8], *sb[8];

/* ---- the wire ----------------------------------------------------------------------- */

static const struct pf_spec wire[] = LOOP2("w", "w", &xk_proto_eth_mem, &xk_proto_eth_mem);

static void carries_frames_whole_and_copies_them_once(void)
{
	uint8_t b[1514];

	pf_up(&f, 1, wire);
	open_all("ua", sa);
	open_all("ub", sb);
	for (uint32_t len = 60; len <= 1514; len += 97) {
		udp_frame(b, len, 1000);
		pf_push(&f, 0, sa[0], b, len);
		CU_ASSERT_EQUAL_FATAL(pf_ngot(&f, "ub"), 1);
		CU_ASSERT_EQUAL(pf_got(&f, "ub", 0)->len, len);
		CU_ASSERT_EQUAL(memcmp(pf_got(&f, "ub", 0)->bytes, b, len), 0);
		pf_forget(&f, "ub");
	}
	CU_ASSERT_EQUAL(pf_count(&f, "da", "copies"), 15);
	CU_ASSERT_EQUAL(pf_drops(&f, "da", NULL) + pf_drops(&f, "db", NULL), 0);
	close_all(sa);
	close_all(sb);
	pf_down(&f);
}

/* b: Ethernet, IPv4, then n bytes of proto; len at least that much, the rest padding. */
static void long_frame(uint8_t *b, uint32_t n, uint8_t proto, uint16_t fragment)
{
	memset(b, 0, 34);
	for (uint32_t i = 34; i < 2000; i++)
		b[i] = (uint8_t)(i * 7 + i / 256);
	b[12] = 8;
	b[14] = 0x45;
	xk_put_be16(b + 16, (uint16_t)(20 + n));
	xk_put_be16(b + 20, fragment);
	b[22] = 64;
	b[23] = proto;
}

static void sums_what_a_transport_will_judge(void)
{
	static const struct { uint32_t n, pad; uint8_t proto; uint16_t fragment; bool sum; } t[] = {
		{ 1000, 0, 6, 0x4000, true }, { 1001, 0, 17, 0, true }, { 1466, 0, 6, 0, true },
		{ 1000, 0, 1, 0, false }, { 1000, 4, 6, 0, false }, { 1000, 0, 6, 0x2000, false }, { 100, 0, 6, 0, false },
		{ 221, 0, 17, 0, false }, { 222, 0, 17, 0, true }, { 301, 0, 6, 0, true }, { 477, 0, 6, 0, true }, { 478, 0, 6, 0, true },
	};
	uint8_t b[2048];

	pf_up(&f, 1, wire);
	open_all("ua", sa);
	open_all("ub", sb);
	for (unsigned i = 0; i < XK_ARRAY_LEN(t); i++) {
		uint32_t len = 34 + t[i].n + t[i].pad;
		const struct pf_rec *g;

		long_frame(b, t[i].n, t[i].proto, t[i].fragment);
		pf_push(&f, 0, sa[0], b, len);
		CU_ASSERT_EQUAL_FATAL(pf_ngot(&f, "ub"), 1);
		g = pf_got(&f, "ub", 0);
		CU_ASSERT_TRUE(g->len == len && memcmp(g->bytes, b, len) == 0);
		CU_ASSERT_EQUAL((g->flags & XK_MSG_CSUM) != 0, t[i].sum);
		if (t[i].sum)
			CU_ASSERT_EQUAL(xk_csum_fold(g->csum), xk_csum_fold(xk_csum(b + 34, t[i].n, 0)));
		pf_forget(&f, "ub");
	}
	close_all(sa);
	close_all(sb);
	pf_down(&f);
}

static void carries_both_ways_and_only_to_the_other_end(void)
{
	uint8_t b[64];

	pf_up(&f, 2, wire);
	open_all("ua", sa);
	open_all("ub", sb);
	udp_frame(b, sizeof b, 5);
	pf_push(&f, 0, sa[0], b, sizeof b);
	pf_push(&f, 1, sb[1], b, sizeof b);
	pf_push(&f, 1, sb[1], b, sizeof b);
	CU_ASSERT_EQUAL(pf_ngot(&f, "ub"), 1);
	CU_ASSERT_EQUAL(pf_ngot(&f, "ua"), 2);
	close_all(sa);
	close_all(sb);
	pf_down(&f);
}

/* Long and short, on an empty wire and behind another frame. */
static void a_frame_for_which_there_is_no_memory_is_a_drop(void)
{
	struct xk_msg *m;
	uint8_t b[1400];

	pf_up(&f, 1, wire);
	open_all("ua", sa);
	open_all("ub", sb);
	for (unsigned i = 0; i < 4; i++) {
		uint32_t len = i & 1 ? sizeof b : 60;

		udp_frame(b, len, 5);
		pf_enter(&f, 0);
		if (i & 2)
			xk_push(sa[0], pf_msg(b, 1000));
		m = pf_msg(b, len);
		xk_memvp_starve(xk_mem_self, true);
		xk_mem_fail_after(1);
		xk_push(sa[0], m);
		/* A short one is copied later. */
		pf_leave(&f, 0);
		pf_settle(&f);
		pf_enter(&f, 0);
		xk_mem_fail_after(0);
		xk_memvp_starve(xk_mem_self, false);
		pf_leave(&f, 0);
		CU_ASSERT_EQUAL(pf_drops(&f, "da", "nomem"), i + 1);
		CU_ASSERT_EQUAL(pf_drops(&f, "da", NULL) + pf_drops(&f, "db", NULL), i + 1);
		CU_ASSERT_EQUAL(pf_ngot(&f, "ub"), i < 2 ? 0 : i - 1);
	}
	close_all(sa);
	close_all(sb);
	pf_down(&f);
}

static void hands_the_buffer_over_when_told_not_to_copy(void)
{
	static const struct pf_spec g[] = {
		{ &xk_proto_eth_mem, "da", NULL, "wire=w; copy=false" }, { &pf_upper, "ua", "da", "enable=false" },
		{ &xk_proto_eth_mem, "db", NULL, "wire=w" }, { &pf_upper, "ub", "db", "enable=false" },
		{ NULL, NULL, NULL, NULL } };
	struct xk_msg *m, *twin;
	uint8_t b[1400];

	pf_up(&f, 1, g);
	open_all("ua", sa);
	open_all("ub", sb);
	for (uint32_t len = 200, i = 0; i < 2; len = sizeof b, i++) {
		udp_frame(b, len, 5);
		pf_push(&f, 0, sa[0], b, len);
		CU_ASSERT_EQUAL(pf_count(&f, "da", "copies"), i);
		/* But never bytes that somebody else may look at. */
		pf_enter(&f, 0);
		m = pf_msg(b, len);
		twin = xk_msg_share(m);
		xk_push(sa[0], m);
		pf_leave(&f, 0);
		pf_settle(&f);
		pf_enter(&f, 0);
		xk_msg_free(twin);
		pf_leave(&f, 0);
		CU_ASSERT_EQUAL(pf_count(&f, "da", "copies"), i + 1);
		CU_ASSERT_EQUAL_FATAL(pf_ngot(&f, "ub"), 2);
		CU_ASSERT(pf_got(&f, "ub", 0)->len == len && memcmp(pf_got(&f, "ub", 0)->bytes, b, len) == 0);
		CU_ASSERT(pf_got(&f, "ub", 1)->len == len && memcmp(pf_got(&f, "ub", 1)->bytes, b, len) == 0);
		pf_forget(&f, "ub");
	}
	close_all(sa);
	close_all(sb);
	pf_down(&f);
}

static void flattens_a_chain_into_a_frame(void)
{
	struct xk_msg *m, *tail;
	uint8_t b[900];

	pf_up(&f, 1, wire);
	open_all("ua", sa);
	open_all("ub", sb);
	udp_frame(b, sizeof b, 5);
	pf_enter(&f, 0);
	m = pf_msg(b, sizeof b);
	tail = xk_msg_split(m, 333);
	xk_msg_join(m, tail);
	xk_push(sa[0], m);
	pf_leave(&f, 0);
	pf_settle(&f);
	CU_ASSERT_EQUAL_FATAL(pf_ngot(&f, "ub"), 1);
	CU_ASSERT_EQUAL(memcmp(pf_got(&f, "ub", 0)->bytes, b, sizeof b), 0);
	close_all(sa);
	close_all(sb);
	pf_down(&f);
}

static void never_delivers_on_the_stack_of_the_push(void)
{
	uint8_t b[64];

	pf_up(&f, 1, wire);
	open_all("ua", sa);
	open_all("ub", sb);
	udp_frame(b, sizeof b, 5);
	pf_enter(&f, 0);
	xk_push(sa[0], pf_msg(b, sizeof b));
	CU_ASSERT_EQUAL(pf_ngot(&f, "ub"), 0);
	pf_leave(&f, 0);
	CU_ASSERT_EQUAL(pf_ngot(&f, "ub"), 0);
	pf_settle(&f);
	CU_ASSERT_EQUAL(pf_ngot(&f, "ub"), 1);
	close_all(sa);
	close_all(sb);
	pf_down(&f);
}

static void caps_the_receive_queue_and_counts_what_it_drops(void)
{
	static const struct pf_spec g[] = {
		{ &xk_proto_eth_mem, "da", NULL, "wire=w" }, { &pf_upper, "ua", "da", "enable=false" },
		{ &xk_proto_eth_mem, "db", NULL, "wire=w; queue=5" }, { &pf_upper, "ub", "db", "enable=false" },
		{ NULL, NULL, NULL, NULL } };
	uint8_t b[64];

	pf_up(&f, 1, g);
	open_all("ua", sa);
	open_all("ub", sb);
	udp_frame(b, sizeof b, 5);
	pf_enter(&f, 0);
	for (unsigned i = 0; i < 12; i++)
		xk_push(sa[0], pf_msg(b, sizeof b));
	pf_leave(&f, 0);
	pf_settle(&f);
	CU_ASSERT_EQUAL(pf_ngot(&f, "ub"), 5);
	CU_ASSERT_EQUAL(pf_drops(&f, "da", "queue_full"), 7);
	pf_push(&f, 0, sa[0], b, sizeof b);              /* room again */
	CU_ASSERT_EQUAL(pf_ngot(&f, "ub"), 6);
	close_all(sa);
	close_all(sb);
	pf_down(&f);
}

static void frees_what_is_still_on_the_wire_at_the_end(void)
{
	uint8_t b[64];

	pf_up(&f, 4, wire);
	open_all("ua", sa);
	open_all("ub", sb);
	udp_frame(b, sizeof b, 5);
	for (unsigned vp = 0; vp < 4; vp++) {
		pf_enter(&f, vp);
		for (unsigned i = 0; i < 50; i++)
			xk_push(i & 1 ? sa[vp] : sb[vp], pf_msg(b, sizeof b));
		pf_leave(&f, vp);
	}
	close_all(sa);
	close_all(sb);
	pf_down(&f);                                     /* asserts that nothing leaks */
}

static void a_frame_runs_where_the_classifier_says(void)
{
	struct xk_flowkey k = { .raddr = 0 };
	uint8_t b[80];

	pf_up(&f, 4, wire);
	open_all("ua", sa);
	open_all("ub", sb);
	for (uint16_t port = 1; port <= 64; port++) {
		udp_frame(b, sizeof b, port);
		pf_push(&f, port % 4, sa[port % 4], b, sizeof b);
		CU_ASSERT_EQUAL_FATAL(pf_ngot(&f, "ub"), port);
		k.raddr = htobe32(0x0a000001);
		k.laddr = htobe32(0x0a000002);
		k.rport = htobe16(port);
		k.lport = htobe16(7);
		CU_ASSERT_EQUAL(pf_got(&f, "ub", port - 1u)->vp, xk_flow_home(f.g->flows, &k));
	}
	close_all(sa);
	close_all(sb);
	pf_down(&f);
}

static void a_driver_alone_on_its_wire_hears_only_itself(void)
{
	static const struct pf_spec g[] = {
		{ &xk_proto_eth_mem, "da", NULL, NULL }, { &pf_upper, "ua", "da", "enable=false" },
		{ NULL, NULL, NULL, NULL } };
	uint8_t b[64], own[6] = { 2, 0, 0, 0, 0, 1 };

	pf_up(&f, 1, g);
	open_all("ua", sa);
	udp_frame(b, sizeof b, 5);                       /* to ...:02 */
	pf_push(&f, 0, sa[0], b, sizeof b);
	memset(b, 0xff, 6);
	pf_push(&f, 0, sa[0], b, sizeof b);
	CU_ASSERT_EQUAL(pf_ngot(&f, "ua"), 0);
	CU_ASSERT_EQUAL(pf_drops(&f, "da", "nobody_there"), 2);
	memcpy(b, own, 6);
	pf_push(&f, 0, sa[0], b, sizeof b);
	CU_ASSERT_EQUAL(pf_ngot(&f, "ua"), 1);
	close_all(sa);
	pf_down(&f);
}

static void refused(const struct pf_spec *g, const char *word)
{
	const char *file;
	int line, col;

	CU_ASSERT_FALSE_FATAL(pf_up_try(&f, 1, g));
	CU_ASSERT_FATAL(xk_errs_count(f.errs) >= 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(xk_errs_text(f.errs, 0, &file, &line, &col), word));
	pf_down(&f);
}

static void refuses_a_third_end_and_another_link_type(void)
{
	static const struct pf_spec three[] = {
		{ &xk_proto_eth_mem, "da", NULL, "wire=w" }, { &xk_proto_eth_mem, "db", NULL, "wire=w" },
		{ &xk_proto_eth_mem, "dc", NULL, "wire=w" }, { NULL, NULL, NULL, NULL } };
	static const struct pf_spec mixed[] = LOOP2("w", "w", &xk_proto_eth_mem, &xk_proto_fddi_mem);

	refused(three, "two ends");
	refused(mixed, "another link type");
}

static void drops_what_is_longer_than_the_link_takes(void)
{
	static uint8_t b[4400];

	pf_up(&f, 1, wire);
	open_all("ua", sa);
	open_all("ub", sb);
	udp_frame(b, 1515, 5);
	pf_push(&f, 0, sa[0], b, 1515);
	CU_ASSERT_EQUAL(pf_ngot(&f, "ub"), 0);
	CU_ASSERT_EQUAL(pf_drops(&f, "da", "too_long"), 1);
	close_all(sa);
	close_all(sb);
	pf_down(&f);
}

static uint32_t ask_u32(const char *node, unsigned op)
{
	uint32_t v = 0;

	pf_enter(&f, 0);
	CU_ASSERT_EQUAL(xk_control(pf_rep(&f, node, 0), op, &v, sizeof v), (int)sizeof v);
	CU_ASSERT(xk_control(pf_rep(&f, node, 0), op, &v, 3) < 0);
	pf_leave(&f, 0);
	return v;
}

static void tells_its_frame_size_link_type_and_address(void)
{
	static const struct pf_spec g[] = {
		{ &xk_proto_eth_mem, "e", NULL, NULL }, { &xk_proto_fddi_mem, "f", NULL, NULL },
		{ &xk_proto_eth_mem, "m", NULL, "mac=02:aa:00:00:00:09; mtu=9000" },
		{ NULL, NULL, NULL, NULL } };
	uint8_t mac[6];

	pf_up(&f, 1, g);
	CU_ASSERT_EQUAL(ask_u32("e", XK_CTL_GETMAXPACKET), 1514);
	CU_ASSERT_EQUAL(ask_u32("f", XK_CTL_GETMAXPACKET), 4352 + 21);
	CU_ASSERT_EQUAL(ask_u32("m", XK_CTL_GETMAXPACKET), 9014);
	CU_ASSERT_EQUAL(ask_u32("e", XK_CTL_LINK_TYPE), XK_LINK_ETH);
	CU_ASSERT_EQUAL(ask_u32("f", XK_CTL_LINK_TYPE), XK_LINK_FDDI);
	pf_enter(&f, 0);
	CU_ASSERT_EQUAL(xk_control(pf_rep(&f, "f", 0), XK_CTL_GETMYMAC, mac, 6), 6);
	CU_ASSERT_EQUAL(memcmp(mac, ((uint8_t[]){ 2, 0, 0, 0, 0, 2 }), 6), 0);
	CU_ASSERT_EQUAL(xk_control(pf_rep(&f, "m", 0), XK_CTL_GETMYMAC, mac, 6), 6);
	CU_ASSERT_EQUAL(memcmp(mac, ((uint8_t[]){ 2, 0xaa, 0, 0, 0, 9 }), 6), 0);
	CU_ASSERT_EQUAL(xk_control(pf_rep(&f, "e", 0), 12345, mac, 6), XK_E_NOTSUP);
	pf_leave(&f, 0);
	pf_down(&f);
}

static void serves_one_opener_at_a_time(void)
{
	struct xk_parts ps;
	int err;

	pf_up(&f, 1, wire);
	xk_parts_init(&ps, 0);
	open_all("ua", sa);
	CU_ASSERT_PTR_NULL(pf_open(&f, "ua", 0, &ps, &err));
	CU_ASSERT_EQUAL(err, XK_E_BUSY);
	close_all(sa);
	open_all("ua", sa);
	close_all(sa);
	pf_down(&f);
}

/* ---- super-segments ------------------------------------------------------------------ */

static uint32_t max_super(void)
{
	uint32_t v = 99;

	pf_enter(&f, 0);
	CU_ASSERT_EQUAL(xk_sess_control(sa[0], XK_CTL_GETMAXSUPER, &v, sizeof v), (int)sizeof v);
	pf_leave(&f, 0);
	return v;
}

/* The k-th frame that came is n bytes of payload from `at` of b on, and its sum is right. */
static void is_piece(unsigned k, const uint8_t *b, uint32_t at, uint32_t n)
{
	const struct pf_rec *g = pf_got(&f, "ub", k);
	uint32_t pseudo = xk_csum_add(xk_csum(g->bytes + 26, 8, 0), htobe16(17) + htobe16((uint16_t)(8 + n)));

	CU_ASSERT_EQUAL_FATAL(g->len, 42 + n);
	CU_ASSERT_EQUAL(memcmp(g->bytes + 42, b + 42 + at, n), 0);
	CU_ASSERT_EQUAL(xk_be16(g->bytes + 16), 28 + n);
	CU_ASSERT_EQUAL(xk_csum_fold(xk_csum(g->bytes + 34, 8 + n, pseudo)), 0xffff);
}

static void cuts_super_segments_into_frames(void)
{
	static uint8_t b[9000];

	pf_up(&f, 1, wire);
	open_all("ua", sa);
	open_all("ub", sb);
	CU_ASSERT_EQUAL(max_super(), 65535 + 14);
	udp_frame(b, 42 + 5 * 1472 + 100, 1000);
	pf_push_super(&f, sa[0], b, 42 + 5 * 1472 + 100, 1472);
	CU_ASSERT_EQUAL_FATAL(pf_ngot(&f, "ub"), 6);
	for (unsigned k = 0; k < 6; k++)
		is_piece(k, b, k * 1472, k < 5 ? 1472 : 100);
	CU_ASSERT_EQUAL(pf_count(&f, "da", "copies"), 6 + 1);    /* the short one when it is taken off, too */
	pf_forget(&f, "ub");
	/* One that would fit a frame. */
	udp_frame(b, 42 + 50, 1000);
	pf_push_super(&f, sa[0], b, 42 + 50, 20);
	CU_ASSERT_EQUAL_FATAL(pf_ngot(&f, "ub"), 3);
	is_piece(2, b, 40, 10);
	/* Behind frames that wait. */
	pf_enter(&f, 0);
	xk_push(sa[0], pf_msg(b, 92));
	pf_leave(&f, 0);
	pf_push_super(&f, sa[0], b, 42 + 50, 25);
	CU_ASSERT_EQUAL_FATAL(pf_ngot(&f, "ub"), 6);
	is_piece(5, b, 25, 25);
	CU_ASSERT_EQUAL(pf_drops(&f, "da", NULL), 0);
	close_all(sa);
	close_all(sb);
	pf_down(&f);
}

static void a_super_segment_that_lies_is_a_drop(void)
{
	static uint8_t b[9000];

	pf_up(&f, 1, wire);
	open_all("ua", sa);
	open_all("ub", sb);
	udp_frame(b, 8000, 1000);
	pf_push_super(&f, sa[0], b, 8000, 0);
	pf_push_super(&f, sa[0], b, 8000, 1473);
	pf_push_super(&f, sa[0], b, 8000, UINT32_MAX);
	pf_push_super(&f, sa[0], b, 7999, 1000);
	pf_push_super(&f, sa[0], b, 10, 1000);
	b[12] = 9;
	pf_push_super(&f, sa[0], b, 8000, 1000);
	CU_ASSERT_EQUAL(pf_drops(&f, "da", "bad_super_segment"), 6);
	CU_ASSERT_EQUAL(pf_ngot(&f, "ub"), 0);
	close_all(sa);
	close_all(sb);
	pf_down(&f);
}

static void super_segments_meet_full_queues_and_large_mtus(void)
{
	static const struct pf_spec small[] = {
		{ &xk_proto_eth_mem, "da", NULL, "wire=w; queue=3" }, { &pf_flat, "ua", "da", "enable=false" },
		{ &xk_proto_eth_mem, "db", NULL, "wire=w; queue=3" }, { &pf_flat, "ub", "db", "enable=false" },
		{ NULL, NULL, NULL, NULL } };
	static const struct pf_spec large[] = {
		{ &xk_proto_eth_mem, "da", NULL, "wire=w; mtu=9000" }, { &pf_flat, "ua", "da", "enable=false" },
		{ &xk_proto_eth_mem, "db", NULL, "wire=w; mtu=9000" }, { &pf_flat, "ub", "db", "enable=false" },
		{ NULL, NULL, NULL, NULL } };
	static uint8_t b[9000];

	udp_frame(b, 8000, 1000);
	pf_up(&f, 1, small);
	open_all("ua", sa);
	open_all("ub", sb);
	pf_push_super(&f, sa[0], b, 8000, 1000);
	CU_ASSERT_EQUAL(pf_ngot(&f, "ub"), 3);
	CU_ASSERT_EQUAL(pf_drops(&f, "da", "queue_full"), 5);
	close_all(sa);
	close_all(sb);
	pf_down(&f);
	pf_up(&f, 1, large);
	open_all("ua", sa);
	open_all("ub", sb);
	CU_ASSERT_EQUAL(max_super(), 0);
	pf_push_super(&f, sa[0], b, 8000, 1000);
	CU_ASSERT_EQUAL(pf_drops(&f, "da", "bad_super_segment"), 1);
	close_all(sa);
	close_all(sb);
	pf_down(&f);
}

static CU_TestInfo loop_tests[] = {
	{ "cuts super-segments into frames", cuts_super_segments_into_frames },
	{ "a super-segment that lies is a drop", a_super_segment_that_lies_is_a_drop },
	{ "super-segments meet full queues and large MTUs", super_segments_meet_full_queues_and_large_mtus },
	{ "carries frames whole and copies them once", carries_frames_whole_and_copies_them_once },
	{ "sums what a transport will judge", sums_what_a_transport_will_judge },
	{ "carries both ways and only to the other end", carries_both_ways_and_only_to_the_other_end },
	{ "a frame for which there is no memory is a drop", a_frame_for_which_there_is_no_memory_is_a_drop },
	{ "hands the buffer over when told not to copy", hands_the_buffer_over_when_told_not_to_copy },
	{ "flattens a chain into a frame", flattens_a_chain_into_a_frame },
	{ "never delivers on the stack of the push", never_delivers_on_the_stack_of_the_push },
	{ "caps the receive queue and counts what it drops", caps_the_receive_queue_and_counts_what_it_drops },
	{ "frees what is still on the wire at the end", frees_what_is_still_on_the_wire_at_the_end },
	{ "a frame runs where the classifier says", a_frame_runs_where_the_classifier_says },
	{ "a driver alone on its wire hears only itself", a_driver_alone_on_its_wire_hears_only_itself },
	{ "refuses a third end and another link type", refuses_a_third_end_and_another_link_type },
	{ "drops what is longer than the link takes", drops_what_is_longer_than_the_link_takes },
	{ "tells its frame size, link type and address", tells_its_frame_size_link_type_and_address },
	{ "serves one opener at a time", serves_one_opener_at_a_time },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ .pName = "wire", .pTests = loop_tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_fddi.c - FDDI: the LLC/SNAP header of RFC 1390, field by field.
 *
 * What FDDI shares with Ethernet is promised in test_eth.c; here is what lies
 * in the frame, every single-byte lie about it, and that the shared part is
 * really used (sessions, passive opens, marks).
 */
#include "protocols/fddi/fddi.h"

#include <string.h>

#include "runtime/upi/xk_inline.h"
#include "tests/protocols/proto_fixture.h"
#include "tests/support/xk_test.h"

#define ME   0x02, 0, 0, 0, 0, 0x01
#define PEER 0x02, 0, 0, 0, 0, 0x02

static const uint8_t me[6] = { ME }, peer[6] = { PEER };
static const uint8_t frame_ip[] = {
	0x50, ME, PEER, 0xaa, 0xaa, 0x03, 0, 0, 0, 0x08, 0x00, 'h', 'e', 'l', 'l', 'o'
};

static const struct pf_spec graph_plain[] = {
	{ &pf_driver, "drv", NULL, "mtu=4500" },
	{ &xk_proto_fddi, "fddi", "drv", NULL },
	{ &pf_upper, "up", "fddi", NULL },
	{ NULL, NULL, NULL, NULL }
};
static const struct pf_spec graph_classified[] = {
	{ &pf_driver, "drv", NULL, "link=fddi; mtu=4373" },
	{ &xk_proto_fddi, "fddi", "drv", NULL },
	{ &pf_upper, "up", "fddi", NULL },
	{ NULL, NULL, NULL, NULL }
};

static struct pf f;

static void inject_changed(unsigned at, uint8_t to)
{
	uint8_t b[sizeof(frame_ip)];

	memcpy(b, frame_ip, sizeof(b));
	b[at] = to;
	pf_inject(&f, "drv", 0, b, sizeof(b));
}

static void pushes_the_header_of_rfc_1390(void)
{
	struct xk_sess *s;

	pf_up(&f, 1, graph_plain);
	s = pf_open_mac(&f, "up", 0, peer, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	pf_push(&f, 0, s, "hi", 2);
	CU_ASSERT_EQUAL_FATAL(pf_npushed(&f, "drv"), 1);
	CU_ASSERT_EQUAL(pf_pushed(&f, "drv", 0)->len, 23);
	CU_ASSERT_EQUAL(memcmp(pf_pushed(&f, "drv", 0)->bytes,
			       ((uint8_t[]){ 0x50, PEER, ME, 0xaa, 0xaa, 0x03, 0, 0, 0, 0x08, 0x00, 'h', 'i' }), 23), 0);
	pf_close(&f, 0, s);
	pf_down(&f);
}

static void what_is_pushed_by_one_is_popped_by_its_peer(void)
{
	uint8_t wire[64];
	struct xk_sess *s;
	uint32_t len;

	pf_up(&f, 1, graph_plain);
	s = pf_open_mac(&f, "up", 0, peer, NULL);
	pf_push(&f, 0, s, "payload", 7);
	len = pf_pushed(&f, "drv", 0)->len;
	memcpy(wire, pf_pushed(&f, "drv", 0)->bytes, len);
	memcpy(wire + 1, me, 6);
	memcpy(wire + 7, peer, 6);
	pf_inject(&f, "drv", 0, wire, len);
	CU_ASSERT_EQUAL_FATAL(pf_ngot(&f, "up"), 1);
	CU_ASSERT_PTR_EQUAL(pf_got(&f, "up", 0)->lls, s);
	CU_ASSERT_EQUAL(memcmp(pf_got(&f, "up", 0)->bytes, "payload", 7), 0);
	pf_close(&f, 0, s);
	pf_down(&f);
}

static void accepts_a_header_cut_over_segments_anywhere(void)
{
	pf_up(&f, 1, graph_plain);
	for (uint32_t cut = 1; cut < sizeof(frame_ip); cut++)
		pf_inject_split(&f, "drv", 0, frame_ip, sizeof(frame_ip), cut);
	CU_ASSERT_EQUAL(pf_ngot(&f, "up"), sizeof(frame_ip) - 1);
	pf_down(&f);
}

static void drops_every_truncated_header_and_counts_it(void)
{
	pf_up(&f, 1, graph_plain);
	for (uint32_t len = 0; len < FDDI_HDR_LEN; len++)
		pf_inject(&f, "drv", 0, frame_ip, len);
	CU_ASSERT_EQUAL(pf_drops(&f, "fddi", "short"), FDDI_HDR_LEN);
	CU_ASSERT_EQUAL(pf_drops(&f, "fddi", NULL), FDDI_HDR_LEN);
	pf_inject(&f, "drv", 0, frame_ip, FDDI_HDR_LEN);
	CU_ASSERT_EQUAL(pf_ngot(&f, "up"), 1);
	pf_down(&f);
}

static void accepts_llc_frames_of_every_priority_and_no_other_frame(void)
{
	pf_up(&f, 1, graph_plain);
	for (unsigned fc = 0; fc < 256; fc++)
		inject_changed(0, (uint8_t)fc);
	CU_ASSERT_EQUAL(pf_ngot(&f, "up"), 8);
	CU_ASSERT_EQUAL(pf_drops(&f, "fddi", "bad_fc"), 248);
	pf_down(&f);
}

static void drops_each_wrong_byte_of_llc_and_snap(void)
{
	pf_up(&f, 1, graph_plain);
	for (unsigned at = 13; at < 16; at++)
		for (unsigned bit = 0; bit < 8; bit++)
			inject_changed(at, frame_ip[at] ^ (uint8_t)(1 << bit));
	CU_ASSERT_EQUAL(pf_drops(&f, "fddi", "bad_llc"), 24);
	for (unsigned at = 16; at < 19; at++)
		for (unsigned bit = 0; bit < 8; bit++)
			inject_changed(at, (uint8_t)(1 << bit));
	CU_ASSERT_EQUAL(pf_drops(&f, "fddi", "bad_oui"), 24);
	for (unsigned at = 19; at < 21; at++)
		for (unsigned bit = 0; bit < 8; bit++)
			inject_changed(at, frame_ip[at] ^ (uint8_t)(1 << bit));
	CU_ASSERT_EQUAL(pf_drops(&f, "fddi", "unknown_type"), 16);
	CU_ASSERT_EQUAL(pf_ngot(&f, "up"), 0);
	pf_down(&f);
}

static void checks_every_bit_of_the_destination(void)
{
	pf_up(&f, 1, graph_plain);
	for (unsigned at = 1; at < 7; at++)
		for (unsigned bit = 0; bit < 8; bit++)
			inject_changed(at, frame_ip[at] ^ (uint8_t)(1 << bit));
	/* One of the 48 is the group bit: such a frame is ours, and marked. */
	CU_ASSERT_EQUAL(pf_drops(&f, "fddi", "not_for_us"), 47);
	CU_ASSERT_EQUAL_FATAL(pf_ngot(&f, "up"), 1);
	CU_ASSERT(pf_got(&f, "up", 0)->flags & XK_MSG_LINK_BCAST);
	pf_down(&f);
}

static void tells_sources_apart_by_every_bit(void)
{
	pf_up(&f, 1, graph_plain);
	inject_changed(7, peer[0]);
	for (unsigned at = 7; at < 13; at++)
		for (unsigned bit = 0; bit < 8; bit++)
			inject_changed(at, frame_ip[at] ^ (uint8_t)(1 << bit));
	CU_ASSERT_EQUAL(pf_drops(&f, "fddi", "bad_source"), 1);    /* the group bit */
	CU_ASSERT_EQUAL(pf_ngot(&f, "up"), 48);
	CU_ASSERT_EQUAL(pf_sessions(&f, "fddi"), 48);
	CU_ASSERT_EQUAL(pf_upper_of(&f, "up")->open_dones, 48);
	inject_changed(12, 0x01);
	CU_ASSERT_EQUAL(pf_drops(&f, "fddi", "own_source"), 1);
	pf_down(&f);
}

static void never_promises_more_than_4352_bytes(void)
{
	uint32_t v = 0;

	pf_up(&f, 1, graph_plain);
	pf_enter(&f, 0);
	CU_ASSERT_EQUAL(xk_control(pf_rep(&f, "fddi", 0), XK_CTL_GETMAXPACKET, &v, 4), 4);
	CU_ASSERT_EQUAL(v, 4352);
	pf_leave(&f, 0);
	pf_down(&f);
	pf_up(&f, 1, graph_classified);
	pf_enter(&f, 0);
	CU_ASSERT_EQUAL(xk_control(pf_rep(&f, "fddi", 0), XK_CTL_GETOPTPACKET, &v, 4), 4);
	CU_ASSERT_EQUAL(v, 4352);
	pf_leave(&f, 0);
	pf_down(&f);
}

static void frames_pass_the_classifier_on_four_vps(void)
{
	pf_up(&f, 4, graph_classified);
	for (unsigned vp = 0; vp < 4; vp++)
		pf_inject(&f, "drv", vp, frame_ip, sizeof(frame_ip));
	/* Not a whole IP header: VP 0 runs them all, over one session. */
	CU_ASSERT_EQUAL_FATAL(pf_ngot(&f, "up"), 4);
	for (unsigned i = 0; i < 4; i++)
		CU_ASSERT_EQUAL(pf_got(&f, "up", i)->vp, 0);
	CU_ASSERT_EQUAL(pf_upper_of(&f, "up")->open_dones, 1);
	pf_down(&f);
}

static void a_refused_passive_session_leaves_no_binding(void)
{
	pf_up(&f, 1, graph_plain);
	pf_upper_of(&f, "up")->refuse = true;
	pf_inject(&f, "drv", 0, frame_ip, sizeof(frame_ip));
	CU_ASSERT_EQUAL(pf_drops(&f, "fddi", "refused"), 1);
	CU_ASSERT_EQUAL(pf_sessions(&f, "fddi"), 0);
	pf_down(&f);
}

#define T(name) { #name, name }
static CU_TestInfo tests[] = {
	T(pushes_the_header_of_rfc_1390),
	T(what_is_pushed_by_one_is_popped_by_its_peer),
	T(accepts_a_header_cut_over_segments_anywhere),
	T(drops_every_truncated_header_and_counts_it),
	T(accepts_llc_frames_of_every_priority_and_no_other_frame),
	T(drops_each_wrong_byte_of_llc_and_snap),
	T(checks_every_bit_of_the_destination),
	T(tells_sources_apart_by_every_bit),
	T(never_promises_more_than_4352_bytes),
	T(frames_pass_the_classifier_on_four_vps),
	T(a_refused_passive_session_leaves_no_binding),
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "fddi", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_aal5.c - AAL5: frames and their trailer, reassembly and its bounds, circuits as ports.
 *
 * Promises: the CRC is that of the standard's examples, whoever reckons it; frames of every length are in
 * as few cells as they need, padded with zeros, and come back as they were; each error of I.363.5 is found,
 * counted as what it is, and costs its frame alone; what is not whole is bounded in bytes and in time; over
 * cells that are lost and damaged at random a frame arrives exactly, or not at all.
 */
#include "protocols/aal5/aal5.h"
#include "protocols/aal5/aal5_crc.h"
#include "protocols/aal5/aal5_hdr.h"
#include "runtime/base/xk_rand.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_part.h"
#include "tests/protocols/proto_fixture.h"
#include "tests/support/xk_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct xk_proto xk_proto_aal5, xk_proto_cell, xk_proto_echo;

#define HERE  0x0a000001u
#define PEER  0x0a000002u
#define PORT  1007
#define VPI   33                         /* of a peer with a greater address, in the third lane */
#define VC    XK_CELL_VC(VPI, PORT)
#define FRAME (AAL5_MOST + AAL5_TAIL + XK_CELL_HDR)

static struct pf f;
static uint8_t frame[FRAME], bytes[AAL5_MOST + 1];

static void fill(void)
{
	for (uint32_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t)(i * 11 + i / 256 * 5 + 1);
}

/* ---- CRC ------------------------------------------------------------------------------------------- */

/* The examples of I.363.5: payloads of 40 bytes, so no padding; UU and CPI are 0. */
static uint32_t crc_of_example(uint8_t first, uint8_t step)
{
	uint8_t b[44] = { 0 };

	for (unsigned i = 0; i < 40; i++)
		b[i] = (uint8_t)(first + i * step);
	aal5_trailer_store(b + 40, 0, 40);
	CU_ASSERT_EQUAL(aal5_crc(AAL5_CRC_NONE, b, sizeof b), aal5_crc_tables(AAL5_CRC_NONE, b, sizeof b));
	return aal5_crc(AAL5_CRC_NONE, b, sizeof b);
}

static void the_crc_is_that_of_the_standard(void)
{
	CU_ASSERT_EQUAL(crc_of_example(0, 0), 0x864d7f99);
	CU_ASSERT_EQUAL(crc_of_example(0xff, 0), 0xc55e457a);
	CU_ASSERT_EQUAL(crc_of_example(1, 1), 0xbf671ed0);
}

static uint32_t crc_by_bits(const uint8_t *p, size_t n)
{
	uint32_t r = ~0u;

	for (size_t i = 0; i < n * 8; i++)
		r = r << 1 ^ ((r >> 31 ^ (p[i / 8] >> (7 - i % 8) & 1)) ? 0x04c11db7u : 0);
	return ~r;
}

static void every_way_to_reckon_it_gives_the_same(void)
{
	fill();
	for (uint32_t n = 0; n < 200; n++)
		for (uint32_t cut = 0; cut <= n; cut += 7) {
			uint32_t want = crc_by_bits(bytes + 3, n);

			CU_ASSERT_EQUAL(aal5_crc(aal5_crc(AAL5_CRC_NONE, bytes + 3, cut), bytes + 3 + cut, n - cut), want);
			CU_ASSERT_EQUAL(aal5_crc_tables(aal5_crc_tables(AAL5_CRC_NONE, bytes + 3, cut), bytes + 3 + cut, n - cut),
					want);
		}
	CU_ASSERT_EQUAL(aal5_crc(AAL5_CRC_NONE, bytes, sizeof bytes), crc_by_bits(bytes, sizeof bytes));
}

/* ---- over a double of the cells ------------------------------------------------------------------------ */

static void up(const char *params)
{
	char p[300];
	const struct pf_spec g[] = {
		{ &pf_driver, "d", NULL, "link=none; mtu=70000" }, { &xk_proto_aal5, "a", "d", p },
		{ &pf_upper, "u", "a", "enable=false" }, { NULL, NULL, NULL, NULL } };

	fill();
	snprintf(p, sizeof p, "addr=10.0.0.1; peer=10.0.0.2; %s", params);
	pf_up(&f, 1, g);
}

static struct xk_sess *open_ports(const char *who, uint32_t host, uint16_t remote, uint16_t local, int *err)
{
	struct xk_parts ps;

	xk_parts_init(&ps, 2);
	xk_part_push_host(&ps.p[XK_REMOTE], host);
	xk_part_push_port(&ps.p[XK_REMOTE], remote);
	xk_part_push_any(&ps.p[XK_LOCAL]);
	if (local != 0)
		xk_part_push_port(&ps.p[XK_LOCAL], local);
	else
		xk_part_push_any(&ps.p[XK_LOCAL]);
	return pf_open(&f, who, 0, &ps, err);
}

static uint16_t port_of(struct xk_sess *s, unsigned op)
{
	uint16_t port = 0;

	pf_enter(&f, 0);
	CU_ASSERT_EQUAL(xk_sess_control(s, op, &port, sizeof port), 2);
	pf_leave(&f, 0);
	return port;
}

static void frames_are_in_cells_with_a_trailer(void)
{
	struct xk_sess *s;

	up("uu=7; clp=true");
	s = open_ports("u", PEER, PORT, 12, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	for (uint32_t n = 1; n <= AAL5_MOST; n += n < 300 ? 1 : 6089) {
		const struct pf_rec *r;
		struct aal5_trailer t;
		uint32_t all = (n + 8 + 47) / 48 * 48, padding = 0;

		pf_push(&f, 0, s, bytes, n);
		CU_ASSERT_EQUAL_FATAL(pf_npushed(&f, "d"), 1);
		r = pf_pushed(&f, "d", 0);
		CU_ASSERT_EQUAL_FATAL(r->len, XK_CELL_HDR + all);
		CU_ASSERT_EQUAL(xk_be32(r->bytes), XK_CELL_VC(12, PORT) | XK_CELL_LAST | XK_CELL_CLP);
		CU_ASSERT_EQUAL(memcmp(r->bytes + XK_CELL_HDR, bytes, n), 0);
		for (uint32_t i = n; i < all - 8; i++)
			padding |= r->bytes[XK_CELL_HDR + i];
		aal5_trailer_load(r->bytes + XK_CELL_HDR + all - 8, &t);
		CU_ASSERT(padding == 0 && t.uu == 7 && t.cpi == 0 && t.length == n);
		CU_ASSERT_EQUAL(t.crc, aal5_crc_tables(AAL5_CRC_NONE, r->bytes + XK_CELL_HDR, all - 4));
		pf_forget(&f, "d");
	}
	pf_push(&f, 0, s, bytes, 0);
	pf_push(&f, 0, s, bytes, AAL5_MOST + 1);
	CU_ASSERT_EQUAL(pf_drops(&f, "a", "empty"), 1);
	CU_ASSERT_EQUAL(pf_drops(&f, "a", "too_long"), 1);
	CU_ASSERT_EQUAL(pf_npushed(&f, "d"), 0);
	pf_close(&f, 0, s);
	pf_down(&f);
}

/* A whole frame of n bytes behind a header, in frame[]; returns its length, header included. */
static uint32_t make(uint32_t n, uint32_t header)
{
	uint32_t all = aal5_frame_len(n);

	xk_put_be32(frame, header);
	memcpy(frame + XK_CELL_HDR, bytes, n);
	memset(frame + XK_CELL_HDR + n, 0, all - n);
	aal5_trailer_store(frame + all - 4, 0, (uint16_t)n);
	xk_put_be32(frame + all, aal5_crc_tables(AAL5_CRC_NONE, frame + XK_CELL_HDR, all - 4));
	return XK_CELL_HDR + all;
}

static void reckon_again(uint32_t len)
{
	xk_put_be32(frame + len - 4, aal5_crc_tables(AAL5_CRC_NONE, frame + XK_CELL_HDR, len - XK_CELL_HDR - 4));
}

static void inject(uint32_t len)
{
	pf_inject(&f, "d", 0, frame, len);
}

/* Cells first to first + n of frame[], as a train. */
static void inject_cells(uint32_t header, uint32_t first, uint32_t n)
{
	static uint8_t b[FRAME];

	xk_put_be32(b, header);
	memcpy(b + XK_CELL_HDR, frame + XK_CELL_HDR + first * XK_CELL_PAYLOAD, n * XK_CELL_PAYLOAD);
	pf_inject(&f, "d", 0, b, XK_CELL_HDR + n * XK_CELL_PAYLOAD);
}

/* With somebody who opened port 12: frames to it come up. */
static struct xk_sess *up_open(const char *params)
{
	struct xk_sess *s;

	up(params);
	s = open_ports("u", PEER, PORT, 12, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	return s;
}
#define MINE XK_CELL_VC(12, PORT)

static bool got(unsigned i, uint32_t n)
{
	return pf_ngot(&f, "u") > i && pf_got(&f, "u", i)->len == n && memcmp(pf_got(&f, "u", i)->bytes, bytes, n) == 0;
}

static void frames_come_up_in_whatever_pieces(void)
{
	struct xk_sess *s = up_open("");
	unsigned k = 0;

	for (uint32_t n = 1; n < 500; n += 13)
		for (uint32_t piece = 1; piece <= aal5_frame_len(n) / XK_CELL_PAYLOAD; piece++) {
			uint32_t cells = make(n, MINE) / XK_CELL_PAYLOAD, at = 0;

			for (; cells - at > piece; at += piece)
				inject_cells(MINE, at, piece);
			inject_cells(MINE | XK_CELL_LAST | XK_CELL_CONG, at, cells - at);
			CU_ASSERT_TRUE(got(k++, n));
		}
	CU_ASSERT_EQUAL(pf_drops(&f, "a", NULL), 0);
	pf_close(&f, 0, s);
	pf_down(&f);
}

static void what_is_wrong_with_a_frame_is_counted_as_what_it_is(void)
{
	struct xk_sess *s = up_open("max=9000; memory=1MiB");
	uint32_t len = make(1000, MINE | XK_CELL_LAST);

	frame[500] ^= 4;
	inject(len);
	CU_ASSERT_EQUAL(pf_drops(&f, "a", "bad_crc"), 1);
	for (uint32_t wrong = 0; wrong < 3; wrong++) {   /* the lengths on either side of what fits, and one that fits nothing */
		static const uint16_t length[] = { 952, 1001, 60000 };

		len = make(1000, MINE | XK_CELL_LAST);
		xk_put_be16(frame + len - 6, length[wrong]);
		reckon_again(len);
		inject(len);
		CU_ASSERT_EQUAL(pf_drops(&f, "a", "bad_length"), wrong + 1);
	}
	len = make(1000, MINE | XK_CELL_LAST);
	frame[len - 7] = 1;
	reckon_again(len);
	inject(len);
	CU_ASSERT_EQUAL(pf_drops(&f, "a", "bad_cpi"), 1);
	len = make(1000, MINE | XK_CELL_LAST);
	xk_put_be16(frame + len - 6, 0);
	reckon_again(len);
	inject(len);
	CU_ASSERT_EQUAL(pf_drops(&f, "a", "aborted"), 1);
	inject(make(9001, MINE | XK_CELL_LAST));
	CU_ASSERT_EQUAL(pf_drops(&f, "a", "oversize"), 1);
	CU_ASSERT_EQUAL(pf_ngot(&f, "u"), 0);
	for (uint32_t n = 953; n <= 1000; n++) {         /* all that are of as many cells */
		inject(make(n, MINE | XK_CELL_LAST));
		CU_ASSERT_TRUE(got(n - 953, n));
	}
	CU_ASSERT_EQUAL(pf_drops(&f, "a", NULL), 7);
	pf_close(&f, 0, s);
	pf_down(&f);
}

static void what_is_no_users_frame_is_dropped(void)
{
	struct xk_sess *s = up_open("");

	make(40, MINE | XK_CELL_LAST);
	for (uint32_t n = 0; n < XK_CELL_HDR + XK_CELL_PAYLOAD; n++)
		inject(n);
	inject(XK_CELL_HDR + XK_CELL_PAYLOAD + 1);
	CU_ASSERT_EQUAL(pf_drops(&f, "a", "bad_train"), XK_CELL_HDR + XK_CELL_PAYLOAD + 1);
	inject(make(40, MINE | XK_CELL_NOUSER));
	CU_ASSERT_EQUAL(pf_drops(&f, "a", "not_user_data"), 1);
	inject(make(40, XK_CELL_VC(13, PORT) | XK_CELL_LAST));
	CU_ASSERT_EQUAL(pf_drops(&f, "a", "nobody_waits"), 1);
	CU_ASSERT_EQUAL(pf_ngot(&f, "u"), 0);
	CU_ASSERT_EQUAL(pf_sessions(&f, "a"), 1);
	pf_close(&f, 0, s);
	pf_down(&f);
}

/* ---- frames that are not whole --------------------------------------------------------------------------- */

static void a_lost_end_costs_two_frames_and_no_more(void)
{
	struct xk_sess *s = up_open("");

	make(100, MINE);
	inject_cells(MINE, 0, 2);
	inject(make(100, MINE | XK_CELL_LAST));
	CU_ASSERT_EQUAL(pf_drops(&f, "a", "bad_crc"), 1);
	inject(make(100, MINE | XK_CELL_LAST));
	CU_ASSERT(got(0, 100) && pf_ngot(&f, "u") == 1);
	pf_close(&f, 0, s);
	pf_down(&f);
}

static void what_never_ends_is_given_up_in_time(void)
{
	struct xk_sess *s = up_open("timeout=50ms");

	make(100, MINE);
	inject_cells(MINE, 0, 1);
	pf_run(&f, 30 * XK_MS);
	inject_cells(MINE, 1, 1);                        /* more of it is no reason to wait longer */
	pf_run(&f, 15 * XK_MS);
	CU_ASSERT_EQUAL(pf_drops(&f, "a", "timeout"), 0);
	pf_run(&f, 10 * XK_MS);
	CU_ASSERT_EQUAL(pf_drops(&f, "a", "timeout"), 1);
	inject(make(100, MINE | XK_CELL_LAST));
	CU_ASSERT_TRUE(got(0, 100));
	make(100, MINE);
	inject_cells(MINE, 0, 1);                        /* the close forgets it, and its time */
	pf_close(&f, 0, s);
	pf_run(&f, XK_SEC);
	CU_ASSERT_EQUAL(pf_drops(&f, "a", NULL), 1);
	pf_down(&f);
}

static void a_frame_without_an_end_is_bounded(void)
{
	struct xk_sess *s = up_open("max=480; memory=4KiB");

	make(1000, MINE);
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < 20; i++)        /* of 11 cells at most */
			inject_cells(MINE, i, 1);
		CU_ASSERT_EQUAL(pf_drops(&f, "a", "oversize"), round + 1);
		inject_cells(MINE | XK_CELL_LAST, 20, 1);
		inject(make(480, MINE | XK_CELL_LAST));
		CU_ASSERT_TRUE(got(round, 480));
		make(1000, MINE);
	}
	CU_ASSERT_EQUAL(pf_drops(&f, "a", NULL), 3);
	pf_close(&f, 0, s);
	pf_down(&f);
}

static void the_oldest_goes_when_memory_is_full(void)
{
	struct xk_sess *s[3];

	up("max=960; memory=2000");              /* 41 cells */
	for (uint16_t i = 0; i < 3; i++) {
		s[i] = open_ports("u", PEER, PORT, (uint16_t)(12 + i), NULL);
		CU_ASSERT_PTR_NOT_NULL_FATAL(s[i]);
		make(960, 0);
		inject_cells(XK_CELL_VC(12 + i, PORT), 0, 20);
	}
	CU_ASSERT_EQUAL(pf_drops(&f, "a", "no_room"), 1);
	for (uint32_t i = 0; i < 3; i++)
		inject_cells(XK_CELL_VC(12 + i, PORT) | XK_CELL_LAST, 20, 1);
	CU_ASSERT_EQUAL(pf_ngot(&f, "u"), 2);    /* the rest of the first is skipped, and counted once */
	CU_ASSERT_EQUAL(pf_drops(&f, "a", NULL), 1);
	inject(make(500, XK_CELL_VC(12, PORT) | XK_CELL_LAST));
	CU_ASSERT_TRUE(got(2, 500));
	for (unsigned i = 0; i < 3; i++)
		pf_close(&f, 0, s[i]);
	pf_down(&f);
}

/* ---- circuits as ports -------------------------------------------------------------------------------------- */

static void what_is_opened_is_a_circuit(void)
{
	struct xk_sess *s, *t;
	uint16_t first;
	int err = 0;

	up("");
	s = open_ports("u", PEER, PORT, 0, &err);
	t = open_ports("u", PEER, PORT, 0, &err);
	CU_ASSERT_TRUE_FATAL(s != NULL && t != NULL);
	first = port_of(s, XK_CTL_GETMYPORT);
	CU_ASSERT(first != 0 && first < 4096 / 16 && first % 2 == 0);    /* the smaller address takes even ones */
	CU_ASSERT_NOT_EQUAL(first, port_of(t, XK_CTL_GETMYPORT));
	CU_ASSERT_EQUAL(port_of(s, XK_CTL_GETPEERPORT), PORT);
	CU_ASSERT_PTR_NULL(open_ports("u", PEER, PORT, first, &err));
	CU_ASSERT_EQUAL(err, XK_E_ADDRINUSE);
	CU_ASSERT_PTR_NULL(open_ports("u", PEER + 1, PORT, 0, &err));
	CU_ASSERT_EQUAL(err, XK_E_UNREACH);
	CU_ASSERT_PTR_NULL(open_ports("u", PEER, 31, 0, &err));
	CU_ASSERT_EQUAL(err, XK_E_RANGE);
	CU_ASSERT_PTR_NULL(open_ports("u", PEER, PORT, 300, &err));      /* another lane, whose link nobody made */
	CU_ASSERT_EQUAL(err, XK_E_NOTCONN);
	CU_ASSERT_PTR_NULL(open_ports("u", PEER, 5000, 5001, &err));     /* no VPI among them */
	CU_ASSERT_EQUAL(err, XK_E_RANGE);
	pf_close(&f, 0, s);
	pf_close(&f, 0, t);
	s = open_ports("u", PEER, 13, 5001, &err);                       /* the peer's circuit: we have the VCI */
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	inject(make(10, XK_CELL_VC(13, 5001) | XK_CELL_LAST));
	CU_ASSERT_TRUE(got(0, 10));
	pf_close(&f, 0, s);
	pf_down(&f);
}

static void a_lane_has_as_many_circuits_as_it_has(void)
{
	struct xk_sess *s[16];
	unsigned n = 0;
	int err = 0;

	up("lanes=256");                         /* 16 VPIs each, half of them ours, one of them 0 */
	while (n < 16 && (s[n] = open_ports("u", PEER, PORT, 0, &err)) != NULL)
		n++;
	CU_ASSERT_EQUAL(n, 7);
	CU_ASSERT_EQUAL(err, XK_E_ADDRNOTAVAIL);
	CU_ASSERT_PTR_NOT_NULL(s[n] = open_ports("u", PEER, PORT + 1, 0, &err));
	pf_close(&f, 0, s[n]);
	while (n-- > 0)
		pf_close(&f, 0, s[n]);
	pf_down(&f);
}

static void through_a_port_a_lane_is_one_vps(void)
{
	const struct pf_spec g[] = {
		{ &pf_driver, "d", NULL, "link=none" }, { &xk_proto_cell, "c", "d", "to=10.0.0.2; port=9" },
		{ &xk_proto_aal5, "a", "c", "addr=10.0.0.1; peer=10.0.0.2; lanes=2" },
		{ &pf_upper, "u", "a", "enable=false" }, { NULL, NULL, NULL, NULL } };
	struct xk_sess *s;
	struct xk_parts ps;
	int err = 0;

	pf_up(&f, 3, g);
	for (unsigned vp = 0; vp < 3; vp++) {
		xk_parts_init(&ps, 1);
		xk_part_push_host(&ps.p[XK_REMOTE], PEER);
		xk_part_push_port(&ps.p[XK_REMOTE], PORT);
		s = pf_open(&f, "u", vp, &ps, &err);
		CU_ASSERT_EQUAL(s != NULL, vp < 2);
		if (s != NULL)
			pf_close(&f, vp, s);
	}
	CU_ASSERT_EQUAL(err, XK_E_NOSPC);
	CU_ASSERT_EQUAL(pf_sessions(&f, "c"), 2);
	pf_down(&f);
}

static void ends_of_a_session_are_told(void)
{
	struct xk_sess *s = up_open("");
	struct xk_parts ps;
	uint32_t v = 0;
	uint8_t uu = 99;

	make(40, MINE | XK_CELL_LAST);
	frame[XK_CELL_HDR + 40] = 42;
	reckon_again(XK_CELL_HDR + 48);
	inject(XK_CELL_HDR + 48);
	pf_enter(&f, 0);
	CU_ASSERT(xk_sess_control(s, AAL5_CTL_GET_UU, &uu, 1) == 1 && uu == 42);
	CU_ASSERT(xk_sess_control(s, AAL5_CTL_SET_UU, &(uint8_t){ 17 }, 1) == XK_OK);
	CU_ASSERT(xk_sess_control(s, XK_CTL_GETMAXPACKET, &v, 4) == 4 && v == 65535);
	CU_ASSERT(xk_sess_control(s, XK_CTL_GETOPTPACKET, &v, 4) == 4 && v == 9180);
	CU_ASSERT(xk_sess_control(s, XK_CTL_GETMYHOST, &v, 4) == 4 && v == HERE);
	CU_ASSERT(xk_sess_control(s, XK_CTL_GETPEERHOST, &v, 4) == 4 && v == PEER);
	CU_ASSERT_EQUAL(xk_sess_control(s, XK_CTL_GETPARTICIPANTS, &ps, sizeof ps), (int)sizeof ps);
	CU_ASSERT_EQUAL(ps.p[XK_REMOTE].depth, 2);
	pf_leave(&f, 0);
	pf_push(&f, 0, s, bytes, 40);
	CU_ASSERT_EQUAL(pf_pushed(&f, "d", 0)->bytes[XK_CELL_HDR + 40], 17);
	pf_close(&f, 0, s);
	pf_down(&f);
}

/* ---- two stacks over cells ------------------------------------------------------------------------------------ */

/* near, far: parameters of the two ends of the wire. */
static void up_two(const char *near, const char *far, const char *params)
{
	char a[300], b[300], pa[300], pb[300];
	const struct pf_spec g[] = {
		{ &xk_proto_cell, "ca", NULL, a }, { &xk_proto_cell, "cb", NULL, b },
		{ &xk_proto_aal5, "a", "ca", pa }, { &xk_proto_aal5, "b", "cb", pb },
		{ &pf_upper, "u", "a", "enable=false" }, { &xk_proto_echo, "echo", "b", "port=1007" },
		{ NULL, NULL, NULL, NULL } };

	fill();
	snprintf(a, sizeof a, "wire=w; %s", near);
	snprintf(b, sizeof b, "wire=w; %s", far);
	snprintf(pa, sizeof pa, "addr=10.0.0.1; peer=10.0.0.2; %s", params);
	snprintf(pb, sizeof pb, "addr=10.0.0.2; peer=10.0.0.1; %s", params);
	pf_up(&f, 1, g);
}

static void every_size_comes_back(void)
{
	struct xk_sess *s;

	up_two("", "", "");
	s = open_ports("u", PEER, PORT, 0, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	for (uint32_t n = 1; n <= AAL5_MOST; n += n < 200 ? 1 : 4667) {
		pf_push(&f, 0, s, bytes, n);
		CU_ASSERT_TRUE(got(0, n));
		pf_forget(&f, "u");
	}
	CU_ASSERT_EQUAL(pf_sessions(&f, "b"), 1);
	CU_ASSERT_EQUAL(pf_drops(&f, "a", NULL) + pf_drops(&f, "b", NULL) + pf_drops(&f, "ca", NULL) + pf_drops(&f, "cb", NULL), 0);
	pf_close(&f, 0, s);
	pf_run(&f, 31 * XK_SEC);
	CU_ASSERT_EQUAL(pf_sessions(&f, "a"), 0);
	pf_down(&f);
}

/* A frame whose bytes all follow from its number, and its length from both. */
static uint32_t numbered(uint8_t *b, uint32_t i, uint64_t size)
{
	uint32_t n = 8 + (uint32_t)(size % 9000);

	for (uint32_t k = 8; k < n; k++)
		b[k] = (uint8_t)(k * 7 + i * 31 + k / 251);
	xk_put_be32(b, i);
	xk_put_be32(b + 4, n);
	return n;
}

static bool as_it_was(const struct pf_rec *r)
{
	static uint8_t want[16384];

	if (r->len < 8 || r->len != xk_be32(r->bytes + 4))
		return false;
	numbered(want, xk_be32(r->bytes), r->len - 8);
	return memcmp(want, r->bytes, r->len) == 0;
}

static void frames_survive_or_are_dropped_and_are_never_damaged(void)
{
	static const char *const lines[] = { "loss=0.001", "loss=0.01", "loss=0.05", "errors=0.01", "loss=0.01; errors=0.02; hec=detect",
					     "loss=0.02; errors=0.2" };
	static uint8_t b[16384];
	struct xk_rand dice;

	xk_rand_init(&dice, 5, 5);
	for (unsigned i = 0; i < XK_ARRAY_LEN(lines); i++) {
		char line[100];
		uint32_t frames = (uint32_t)xk_test_rounds(600), last = 0, n;
		struct xk_sess *s;

		snprintf(line, sizeof line, "%s; seed=%u", lines[i], i + 1);
		up_two(line, line, "");
		s = open_ports("u", PEER, PORT, 0, NULL);
		CU_ASSERT_PTR_NOT_NULL_FATAL(s);
		for (uint32_t k = 1; k <= frames; k++) {
			n = numbered(b, k, xk_rand_u64(&dice));
			pf_push(&f, 0, s, b, n);
			if (pf_ngot(&f, "u") > 1)
				CU_FAIL("one frame came back as several");
			if (pf_ngot(&f, "u") == 1) {
				CU_ASSERT_TRUE(as_it_was(pf_got(&f, "u", 0)));
				CU_ASSERT(xk_be32(pf_got(&f, "u", 0)->bytes) > last);
				last = xk_be32(pf_got(&f, "u", 0)->bytes);
			}
			pf_forget(&f, "u");
		}
		CU_ASSERT_EQUAL(pf_count(&f, "a", "frames_out"), frames);
		CU_ASSERT_EQUAL(pf_count(&f, "b", "frames_in"), pf_count(&f, "b", "frames_out"));
		if (frames > 100)
			CU_ASSERT(i == 2 || i == 5 || pf_count(&f, "a", "frames_in") > 0);
		pf_close(&f, 0, s);
		pf_down(&f);
	}
}

static void whom_nobody_waits_for_or_wants_is_dropped(void)
{
	struct xk_sess *s;

	up_two("", "", "lanes=1");
	s = open_ports("u", PEER, PORT + 1, 12, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	pf_push(&f, 0, s, bytes, 10);
	CU_ASSERT_EQUAL(pf_drops(&f, "b", "nobody_waits"), 1);
	pf_close(&f, 0, s);
	s = open_ports("u", PEER, PORT, PORT, NULL);     /* echo wants nobody who comes from its own port */
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	for (unsigned i = 1; i <= 3; i++) {
		pf_push(&f, 0, s, bytes, 10);
		CU_ASSERT_EQUAL(pf_drops(&f, "b", "refused"), i);
	}
	CU_ASSERT_EQUAL(pf_ngot(&f, "u"), 0);
	pf_close(&f, 0, s);
	pf_down(&f);
}

static void sessions_that_nobody_keeps_go(void)
{
	struct xk_sess *s[40];

	up_two("", "", "sessions=40; idle_sessions=20; idle_timeout=1s");
	for (unsigned i = 0; i < 40; i++) {
		s[i] = open_ports("u", PEER, PORT, 0, NULL);
		CU_ASSERT_PTR_NOT_NULL_FATAL(s[i]);
		pf_push(&f, 0, s[i], bytes, 10);
	}
	CU_ASSERT_EQUAL(pf_ngot(&f, "u"), 40);
	CU_ASSERT_PTR_NULL(open_ports("u", PEER, PORT, 0, NULL));
	CU_ASSERT(pf_sessions(&f, "b") <= 40);
	for (unsigned i = 0; i < 40; i++)
		pf_close(&f, 0, s[i]);
	CU_ASSERT_EQUAL(pf_sessions(&f, "a"), 0);
	pf_down(&f);
}

static void every_allocation_may_fail(void)
{
	unsigned came = 0;

	for (unsigned k = 1; k <= 60; k++) {
		struct xk_sess *s;
		int err = XK_OK;

		up_two("trains=false", "", "timeout=50ms");
		xk_mem_fail_after(k);
		s = open_ports("u", PEER, PORT, 0, &err);
		if (s != NULL) {
			pf_push(&f, 0, s, bytes, 20000);
			pf_push(&f, 0, s, bytes, 20000);
		}
		xk_mem_fail_after(0);
		CU_ASSERT(s != NULL || err == XK_E_NOMEM);
		for (unsigned i = 0; i < pf_ngot(&f, "u"); i++, came++)
			CU_ASSERT_TRUE(got(i, 20000));
		pf_forget(&f, "u");
		pf_run(&f, 100 * XK_MS);
		if (s != NULL) {                 /* it is as it was */
			pf_push(&f, 0, s, bytes, 100);
			CU_ASSERT_TRUE(got(0, 100));
			pf_close(&f, 0, s);
		}
		pf_down(&f);
	}
	CU_ASSERT(came > 0 && came < 120);
}

static CU_TestInfo crc_tests[] = {
	{ "the CRC is that of the standard", the_crc_is_that_of_the_standard },
	{ "every way to reckon it gives the same", every_way_to_reckon_it_gives_the_same },
	CU_TEST_INFO_NULL,
};
static CU_TestInfo frame_tests[] = {
	{ "frames are in cells with a trailer", frames_are_in_cells_with_a_trailer },
	{ "frames come up in whatever pieces", frames_come_up_in_whatever_pieces },
	{ "what is wrong with a frame is counted as what it is", what_is_wrong_with_a_frame_is_counted_as_what_it_is },
	{ "what is no user's frame is dropped", what_is_no_users_frame_is_dropped },
	{ "a lost end costs two frames and no more", a_lost_end_costs_two_frames_and_no_more },
	{ "what never ends is given up in time", what_never_ends_is_given_up_in_time },
	{ "a frame without an end is bounded", a_frame_without_an_end_is_bounded },
	{ "the oldest goes when memory is full", the_oldest_goes_when_memory_is_full },
	CU_TEST_INFO_NULL,
};
static CU_TestInfo circuit_tests[] = {
	{ "what is opened is a circuit", what_is_opened_is_a_circuit },
	{ "a lane has as many circuits as it has", a_lane_has_as_many_circuits_as_it_has },
	{ "through a port a lane is one VP's", through_a_port_a_lane_is_one_vps },
	{ "ends of a session are told", ends_of_a_session_are_told },
	CU_TEST_INFO_NULL,
};
static CU_TestInfo cells_tests[] = {
	{ "every size comes back", every_size_comes_back },
	{ "frames survive or are dropped, never damaged", frames_survive_or_are_dropped_and_are_never_damaged },
	{ "whom nobody waits for or wants is dropped", whom_nobody_waits_for_or_wants_is_dropped },
	{ "sessions that nobody keeps go", sessions_that_nobody_keeps_go },
	{ "every allocation may fail", every_allocation_may_fail },
	CU_TEST_INFO_NULL,
};
static CU_SuiteInfo suites[] = {
	{ "crc", NULL, NULL, NULL, NULL, crc_tests }, { "frames", NULL, NULL, NULL, NULL, frame_tests },
	{ "circuits", NULL, NULL, NULL, NULL, circuit_tests }, { "cells", NULL, NULL, NULL, NULL, cells_tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return xk_test_main(suites);
}

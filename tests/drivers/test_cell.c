/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_cell.c - ATM cells: the check of a header, what happens to cells on the way, circuits, cells in the
 * messages of a port.
 *
 * Promises: every single wrong bit of a header is corrected, every two are found, and of errors in a row only
 * the first is corrected; the listed cells meet their fate and no others; rates hold within binomial bounds
 * and repeat by their seed; trains that pass as one and cells that pass one by one come to the same end;
 * what is on a port is cells of 53 bytes to the bit, and what is torn or foreign there is counted.
 */
#include "drivers/cell/cell_hec.h"
#include "runtime/base/xk_bytes.h"
#include "runtime/base/xk_cell.h"
#include "runtime/base/xk_rand.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_part.h"
#include "tests/protocols/proto_fixture.h"
#include "tests/support/xk_test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

extern const struct xk_proto xk_proto_cell;

#define VC     XK_CELL_VC(5, 1007)
#define SIGMAS 4.5                       /* chance of a false alarm: 7e-6, and the seed is fixed */
#define MOST   (XK_CELL_HDR + 2000 * XK_CELL_PAYLOAD)

static struct pf f;
static struct xk_sess *s;
static uint8_t bytes[MOST];

static void up(unsigned nvps, const char *near, const char *far)
{
	char a[400], b[400];
	struct xk_parts ps;
	const struct pf_spec g[] = {
		{ &xk_proto_cell, "a", NULL, a }, { &xk_proto_cell, "b", NULL, b },
		{ &pf_upper, "ua", "a", "enable=false" }, { &pf_upper, "ub", "b", NULL }, { NULL, NULL, NULL, NULL } };

	snprintf(a, sizeof a, "wire=w; %s", near);
	snprintf(b, sizeof b, "wire=w; %s", far);
	pf_up(&f, nvps, g);
	pf_upper_of(&f, "ub")->keep = true;
	xk_parts_init(&ps, 0);
	s = pf_open(&f, "ua", 0, &ps, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
}

static void down(void)
{
	struct pf_upper_state *ub = pf_upper_of(&f, "ub");

	pf_close(&f, 0, s);
	while (ub->nkept != 0)
		pf_close(&f, 0, ub->kept[--ub->nkept]);
	pf_down(&f);
}

/* Cell k of a train that began with number i. */
static void payload(uint8_t *b, uint32_t i, uint32_t k)
{
	for (uint32_t n = 0; n < XK_CELL_PAYLOAD; n++)
		b[n] = (uint8_t)(n * 7 + (i + k) * 13);
	xk_put_be32(b, i + k);
}

/* A train of n cells numbered from i on. */
static void send(uint32_t header, uint32_t i, uint32_t n)
{
	xk_put_be32(bytes, header);
	for (uint32_t k = 0; k < n; k++)
		payload(bytes + XK_CELL_HDR + k * XK_CELL_PAYLOAD, i, k);
	pf_push(&f, 0, s, bytes, XK_CELL_HDR + n * XK_CELL_PAYLOAD);
}

static uint32_t got_header(unsigned i) { return xk_be32(pf_got(&f, "ub", i)->bytes); }
static uint32_t got_cells(unsigned i) { return (pf_got(&f, "ub", i)->len - XK_CELL_HDR) / XK_CELL_PAYLOAD; }
static const uint8_t *got_cell(unsigned i, uint32_t k)
{
	return pf_got(&f, "ub", i)->bytes + XK_CELL_HDR + k * XK_CELL_PAYLOAD;
}
static bool intact(unsigned i, uint32_t k)
{
	uint8_t want[XK_CELL_PAYLOAD];

	payload(want, xk_be32(got_cell(i, k)), 0);
	return memcmp(want, got_cell(i, k), sizeof want) == 0;
}

/* ---- headers ---------------------------------------------------------------------------------- */

static void headers_have_the_check_of_the_standard(void)
{
	CU_ASSERT_EQUAL(cell_hec(0x00000001), 0x52);     /* an idle cell: I.432.1, table 1 */
	CU_ASSERT_EQUAL(cell_hec(0), 0x55);
}

static void make_header(uint8_t h[5], uint32_t header)
{
	xk_put_be32(h, header);
	h[4] = cell_hec(header);
}

static void one_wrong_bit_is_corrected_and_two_are_found(void)
{
	static const uint32_t headers[] = { 0, 1, VC, VC | XK_CELL_LAST, 0xffffffff, 0x12345678 };
	uint8_t want[5], h[5];

	for (unsigned i = 0; i < XK_ARRAY_LEN(headers); i++) {
		make_header(want, headers[i]);
		for (unsigned a = 0; a < 40; a++)
			for (unsigned b = a; b < 40; b++) {
				bool detecting = false, must = a == b;

				memcpy(h, want, 5);
				h[a / 8] ^= (uint8_t)(0x80u >> a % 8);
				h[b / 8] ^= (uint8_t)(must ? 0 : 0x80u >> b % 8);
				CU_ASSERT_EQUAL(cell_hec_judge(h, &detecting, true), must ? CELL_HEC_CORRECTED : CELL_HEC_WRONG);
				CU_ASSERT(!must || memcmp(h, want, 5) == 0);
				CU_ASSERT_TRUE(detecting);
				h[a / 8] ^= (uint8_t)(must ? 0x80u >> a % 8 : 0);
				CU_ASSERT_EQUAL(cell_hec_judge(h, &detecting, true), CELL_HEC_WRONG);
				CU_ASSERT_EQUAL(cell_hec_judge(want, &detecting, true), CELL_HEC_RIGHT);
				CU_ASSERT_FALSE(detecting);
			}
		h[0] = want[0] ^ 1;
		memcpy(h + 1, want + 1, 4);
		CU_ASSERT_EQUAL(cell_hec_judge(h, &(bool){ false }, false), CELL_HEC_WRONG);
	}
}

/* ---- a wire to which nothing happens ------------------------------------------------------------- */

static void a_train_crosses_as_it_is(void)
{
	up(1, "", "");
	send(VC | XK_CELL_LAST, 1, 3);
	send(VC, 4, 1366);
	CU_ASSERT_EQUAL_FATAL(pf_ngot(&f, "ub"), 2);
	CU_ASSERT_EQUAL(got_header(0), VC | XK_CELL_LAST);
	CU_ASSERT_EQUAL(got_cells(0), 3);
	CU_ASSERT_EQUAL(got_header(1), VC);
	CU_ASSERT_EQUAL(got_cells(1), 1366);
	for (uint32_t k = 0; k < 1366; k++)
		CU_ASSERT(intact(1, k) && xk_be32(got_cell(1, k)) == 4 + k);
	CU_ASSERT_EQUAL(pf_count(&f, "a", "cells_out"), 1369);
	CU_ASSERT_EQUAL(pf_count(&f, "b", "cells_in"), 1369);
	CU_ASSERT_EQUAL(pf_count(&f, "a", "copies"), 0);
	CU_ASSERT_EQUAL(pf_upper_of(&f, "ub")->open_dones, 1);
	down();
}

static void what_somebody_else_looks_at_is_copied(void)
{
	struct xk_msg *m, *other;

	up(1, "", "");
	pf_enter(&f, 0);
	xk_put_be32(bytes, VC);
	m = pf_msg(bytes, XK_CELL_HDR + XK_CELL_PAYLOAD);
	other = xk_msg_share(m);
	xk_push(s, other);
	memset(m->data, 0xff, m->len);           /* whoever shares it does what he must not */
	xk_msg_free(m);
	pf_leave(&f, 0);
	pf_settle(&f);
	CU_ASSERT_EQUAL(pf_count(&f, "a", "copies"), 1);
	CU_ASSERT_EQUAL_FATAL(pf_ngot(&f, "ub"), 1);
	CU_ASSERT_EQUAL(got_header(0), VC);
	down();
}

static void what_is_no_train_is_dropped(void)
{
	up(1, "", "");
	for (uint32_t n = 0; n < XK_CELL_HDR + XK_CELL_PAYLOAD; n++)
		pf_push(&f, 0, s, bytes, n);
	pf_push(&f, 0, s, bytes, XK_CELL_HDR + 2 * XK_CELL_PAYLOAD - 1);
	pf_push(&f, 0, s, bytes, XK_CELL_TRAIN + XK_CELL_PAYLOAD);
	CU_ASSERT_EQUAL(pf_drops(&f, "a", "bad_train"), XK_CELL_HDR + XK_CELL_PAYLOAD + 2);
	CU_ASSERT_EQUAL(pf_ngot(&f, "ub"), 0);
	down();
}

static void the_wire_has_its_room(void)
{
	struct xk_msg *m;

	up(1, "queue=1366", "");
	xk_put_be32(bytes, VC);
	pf_enter(&f, 0);
	for (unsigned i = 0; i < 3; i++) {
		m = pf_msg(bytes, XK_CELL_HDR + 600 * XK_CELL_PAYLOAD);
		CU_ASSERT_PTR_NOT_NULL_FATAL(m);
		xk_push(s, m);
	}
	pf_leave(&f, 0);
	pf_settle(&f);
	CU_ASSERT_EQUAL(pf_drops(&f, "a", "queue_full"), 1);
	CU_ASSERT_EQUAL(pf_ngot(&f, "ub"), 2);
	send(VC, 0, 1366);                       /* it is empty again */
	CU_ASSERT_EQUAL(pf_ngot(&f, "ub"), 3);
	down();
}

/* ---- fates ---------------------------------------------------------------------------------------- */

static void listed_cells_meet_their_fate(void)
{
	/* Cells 1-4, 5-8, 9-12, 13-16: one in the middle, the last, all, none. */
	up(1, "fates=2 lost,8 lost,9-12 lost", "");
	for (uint32_t i = 0; i < 4; i++)
		send(VC | XK_CELL_LAST, 1 + 4 * i, 4);
	CU_ASSERT_EQUAL_FATAL(pf_ngot(&f, "ub"), 3);
	CU_ASSERT(got_cells(0) == 3 && got_header(0) == (VC | XK_CELL_LAST));
	CU_ASSERT(xk_be32(got_cell(0, 0)) == 1 && xk_be32(got_cell(0, 1)) == 3 && xk_be32(got_cell(0, 2)) == 4);
	CU_ASSERT(got_cells(1) == 3 && got_header(1) == VC);
	CU_ASSERT(got_cells(2) == 4 && got_header(2) == (VC | XK_CELL_LAST));
	CU_ASSERT_EQUAL(pf_drops(&f, "a", "lost"), 6);
	CU_ASSERT_EQUAL(pf_count(&f, "b", "cells_in"), 10);
	down();
}

static void listed_bits_are_wrong(void)
{
	/* A bit of the payload; one of a header; two of a header; one each of two headers in a row, and one behind them. */
	up(1, "fates=1 flip 47,2 flip 5,4 flip 5 9,6 flip 0,7 flip 0,9 flip 39", "");
	send(VC, 1, 9);
	CU_ASSERT_EQUAL_FATAL(pf_ngot(&f, "ub"), 1);
	CU_ASSERT_EQUAL(got_cells(0), 7);
	CU_ASSERT_EQUAL(got_cell(0, 0)[0] ^ 0, 1);       /* bit 47 is the last of the payload's first byte */
	for (uint32_t k = 1; k < 7; k++)
		CU_ASSERT_TRUE(intact(0, k));
	CU_ASSERT_EQUAL(xk_be32(got_cell(0, 6)), 9);
	CU_ASSERT_EQUAL(pf_count(&f, "a", "damaged"), 6);
	CU_ASSERT_EQUAL(pf_count(&f, "b", "corrected"), 3);
	CU_ASSERT_EQUAL(pf_drops(&f, "b", "bad_header"), 2);
	down();
	/* From train to train: an error behind a right cell is corrected, one behind an error is not. */
	up(1, "fates=2 flip 5,5 flip 5,6 flip 5", "");
	send(VC, 1, 2);
	send(VC, 3, 2);
	send(VC, 5, 1);
	send(VC, 6, 1);
	CU_ASSERT_EQUAL(pf_count(&f, "b", "corrected"), 2);
	CU_ASSERT_EQUAL(pf_drops(&f, "b", "bad_header"), 1);
	down();
	up(1, "fates=1 flip 5", "hec=detect");
	send(VC, 1, 2);
	CU_ASSERT_EQUAL(pf_drops(&f, "b", "bad_header"), 1);
	CU_ASSERT_EQUAL(got_cells(0), 1);
	down();
}

/* ---- chance ------------------------------------------------------------------------------------------- */

static bool binomial(uint64_t got, double n, double p)
{
	return fabs((double)got - n * p) <= SIGMAS * sqrt(n * p * (1 - p));
}

static void rates_hold(void)
{
	uint64_t n = xk_test_rounds(400) * 200, in;

	up(1, "loss=0.01; errors=0.02; seed=5", "");
	for (uint32_t i = 0; i < n / 200; i++) {
		send(VC | XK_CELL_LAST, 0, 200);
		pf_forget(&f, "ub");
	}
	in = pf_count(&f, "b", "cells_in");
	CU_ASSERT(binomial(pf_drops(&f, "a", "lost"), (double)n, 0.01));
	CU_ASSERT(binomial(pf_count(&f, "a", "damaged"), (double)n, 0.99 * 0.02));
	CU_ASSERT(binomial(pf_count(&f, "b", "corrected") + pf_drops(&f, "b", "bad_header"),
			   (double)pf_count(&f, "a", "damaged"), 40.0 / 424));
	CU_ASSERT_EQUAL(in + pf_drops(&f, "a", "lost") + pf_drops(&f, "b", "bad_header"), n);
	down();
	up(1, "loss=1", "");
	send(VC, 0, 200);
	CU_ASSERT_EQUAL(pf_drops(&f, "a", "lost"), 200);
	CU_ASSERT_EQUAL(pf_ngot(&f, "ub"), 0);
	down();
}

/* What came, as one sum. */
static uint64_t outcome(const char *near)
{
	uint64_t h = 14695981039346656037u;
	struct xk_rand rand;

	up(1, near, "");
	xk_rand_init(&rand, 1, 1);
	for (unsigned i = 0; i < 300; i++)
		send((i % 5 == 0 ? XK_CELL_VC(6, 77) : VC) | (i % 3 == 0 ? XK_CELL_LAST : 0), i * 100,
		     1 + (uint32_t)xk_rand_below(&rand, 60));
	for (unsigned i = 0; i < pf_ngot(&f, "ub"); i++)
		for (uint32_t k = 0; k < pf_got(&f, "ub", i)->len; k++)
			h = (h ^ pf_got(&f, "ub", i)->bytes[k]) * 1099511628211u;
	h ^= pf_ngot(&f, "ub");
	down();
	return h;
}

static void the_same_seed_gives_the_same_and_so_do_cells_one_by_one(void)
{
	uint64_t h = outcome("loss=0.003; errors=0.01; seed=9");

	CU_ASSERT_EQUAL(h, outcome("loss=0.003; errors=0.01; seed=9"));
	CU_ASSERT_EQUAL(h, outcome("loss=0.003; errors=0.01; seed=9; trains=false"));
	CU_ASSERT_NOT_EQUAL(h, outcome("loss=0.003; errors=0.01; seed=10"));
	CU_ASSERT_EQUAL(outcome(""), outcome("trains=false"));
}

/* ---- circuits --------------------------------------------------------------------------------------------- */

static void only_circuits_that_there_are(void)
{
	up(1, "vcs=5/1000-1010,7-8/50", "vcs=5/1007,7/50,8/50");
	send(VC, 0, 1);
	send(XK_CELL_VC(5, 1011), 0, 1);
	send(XK_CELL_VC(6, 1007), 0, 1);
	send(XK_CELL_VC(8, 50), 0, 1);
	CU_ASSERT_EQUAL(pf_drops(&f, "a", "no_such_vc"), 2);
	send(XK_CELL_VC(5, 1006), 0, 3);         /* the other end has it not */
	CU_ASSERT_EQUAL(pf_drops(&f, "b", "no_such_vc"), 3);
	CU_ASSERT_EQUAL(pf_ngot(&f, "ub"), 2);
	down();
	up(1, "", "");
	send(XK_CELL_VC(0, 31), 0, 1);           /* reserved */
	send(XK_CELL_VC(0, 32), 0, 1);
	CU_ASSERT_EQUAL(pf_drops(&f, "a", "no_such_vc"), 1);
	CU_ASSERT_EQUAL(pf_ngot(&f, "ub"), 1);
	down();
}

static void nobody_at_the_other_end(void)
{
	const struct pf_spec g[] = {
		{ &xk_proto_cell, "a", NULL, "wire=w" }, { &xk_proto_cell, "b", NULL, "wire=w" },
		{ &xk_proto_cell, "c", NULL, "wire=alone" },
		{ &pf_upper, "ua", "a", "enable=false" }, { &pf_upper, "uc", "c", "enable=false" }, { NULL, NULL, NULL, NULL } };
	struct xk_sess *c;
	struct xk_parts ps;

	pf_up(&f, 1, g);
	xk_parts_init(&ps, 0);
	s = pf_open(&f, "ua", 0, &ps, NULL);
	c = pf_open(&f, "uc", 0, &ps, NULL);
	CU_ASSERT_TRUE_FATAL(s != NULL && c != NULL);
	send(VC, 0, 2);
	CU_ASSERT_EQUAL(pf_drops(&f, "b", "nobody_there"), 1);
	pf_push(&f, 0, c, bytes, XK_CELL_HDR + XK_CELL_PAYLOAD);
	CU_ASSERT_EQUAL(pf_drops(&f, "c", "nobody_there"), 1);
	pf_close(&f, 0, c);
	pf_close(&f, 0, s);
	pf_down(&f);
}

static void a_wire_has_two_ends(void)
{
	const struct pf_spec g[] = { { &xk_proto_cell, "a", NULL, "wire=w" }, { &xk_proto_cell, "b", NULL, "wire=w" },
				     { &xk_proto_cell, "c", NULL, "wire=w" }, { NULL, NULL, NULL, NULL } };

	CU_ASSERT_FALSE(pf_up_try(&f, 1, g));
	pf_down(&f);
}

/* ---- cells in messages of a port ------------------------------------------------------------------------ */

static void up_port(const char *params)
{
	const struct pf_spec g[] = {
		{ &pf_driver, "d", NULL, "mtu=1500; link=none" }, { &xk_proto_cell, "c", "d", params },
		{ &pf_upper, "ub", "c", "enable=false" }, { NULL, NULL, NULL, NULL } };
	struct xk_parts ps;

	pf_up(&f, 1, g);
	xk_parts_init(&ps, 0);
	s = pf_open(&f, "ub", 0, &ps, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
}

static void on_a_port_are_cells_to_the_bit(void)
{
	uint8_t want[5], pay[XK_CELL_PAYLOAD];
	uint32_t k = 0;

	up_port("to=10.0.0.1; port=9");
	send(VC | XK_CELL_LAST | XK_CELL_CLP, 10, 60);
	CU_ASSERT_EQUAL_FATAL(pf_npushed(&f, "d"), 3);   /* 28 cells fit 1500 bytes */
	for (unsigned i = 0; i < 3; i++) {
		const struct pf_rec *r = pf_pushed(&f, "d", i);

		CU_ASSERT_EQUAL(r->len, (i < 2 ? 28 : 4) * XK_CELL_LEN);
		for (uint32_t at = 0; at + XK_CELL_LEN <= r->len; at += XK_CELL_LEN, k++) {
			make_header(want, VC | XK_CELL_CLP | (k == 59 ? XK_CELL_LAST : 0));
			payload(pay, 10, k);
			CU_ASSERT(memcmp(r->bytes + at, want, 5) == 0 && memcmp(r->bytes + at + 5, pay, sizeof pay) == 0);
		}
	}
	pf_close(&f, 0, s);
	pf_down(&f);
}

/* A cell at b; returns what is behind it. */
static uint8_t *put_cell(uint8_t *b, uint32_t header, uint32_t no)
{
	make_header(b, header);
	payload(b + 5, no, 0);
	return b + XK_CELL_LEN;
}

static void cells_of_a_port_become_trains(void)
{
	uint8_t b[10 * XK_CELL_LEN], *p = b;
	unsigned n;

	up_port("to=10.0.0.1; port=9; vcs=5/1007,6/77");
	p = put_cell(p, VC, 1);
	p = put_cell(p, VC | XK_CELL_LAST, 2);           /* two of a frame */
	p = put_cell(p, VC, 3);
	p = put_cell(p, XK_CELL_VC(6, 77) | XK_CELL_CLP, 4);  /* another circuit between */
	p = put_cell(p, 1, 5);                           /* idle */
	p = put_cell(p, XK_CELL_VC(6, 78), 6);           /* no such circuit */
	p = put_cell(p, VC, 7);
	p[-(int)XK_CELL_LEN] ^= 1;                            /* corrected */
	p = put_cell(p, VC, 8);
	p[-(int)XK_CELL_LEN] ^= 1;                            /* and not again */
	p = put_cell(p, VC, 9);
	pf_inject(&f, "d", 0, b, (uint32_t)(p - b));
	n = pf_ngot(&f, "ub");
	CU_ASSERT_EQUAL_FATAL(n, 4);
	CU_ASSERT(got_header(0) == (VC | XK_CELL_LAST) && got_cells(0) == 2);
	CU_ASSERT(got_header(1) == VC && got_cells(1) == 1);
	CU_ASSERT(got_header(2) == (XK_CELL_VC(6, 77) | XK_CELL_CLP) && got_cells(2) == 1);
	CU_ASSERT(got_header(3) == VC && got_cells(3) == 2 && xk_be32(got_cell(3, 1)) == 9);
	CU_ASSERT_EQUAL(pf_count(&f, "c", "idle"), 1);
	CU_ASSERT_EQUAL(pf_count(&f, "c", "corrected"), 1);
	CU_ASSERT_EQUAL(pf_drops(&f, "c", "bad_header"), 1);
	CU_ASSERT_EQUAL(pf_drops(&f, "c", "no_such_vc"), 1);
	for (uint32_t cut = 0; cut < XK_CELL_LEN; cut++)
		pf_inject(&f, "d", 0, b, XK_CELL_LEN + cut);
	CU_ASSERT_EQUAL(pf_drops(&f, "c", "torn"), XK_CELL_LEN - 1);
	CU_ASSERT_EQUAL(pf_ngot(&f, "ub"), n + 1);
	pf_close(&f, 0, s);
	pf_down(&f);
}

static void what_is_sent_by_a_port_meets_its_fate(void)
{
	up_port("to=10.0.0.1; port=9; fates=2 lost,3 flip 0");
	send(VC, 0, 4);
	CU_ASSERT_EQUAL_FATAL(pf_npushed(&f, "d"), 1);
	CU_ASSERT_EQUAL(pf_pushed(&f, "d", 0)->len, 3 * XK_CELL_LEN);
	CU_ASSERT_EQUAL(xk_be32(pf_pushed(&f, "d", 0)->bytes + XK_CELL_LEN), VC ^ 0x80000000u);
	pf_close(&f, 0, s);
	pf_down(&f);
}

/* ---- memory --------------------------------------------------------------------------------------------------- */

static void every_allocation_may_fail(void)
{
	static const char *const near[] = { "", "trains=false" };
	unsigned whole = 0;

	for (unsigned way = 0; way < 2; way++)
		for (unsigned k = 1; k <= 12; k++) {
			up(1, near[way], "");
			xk_mem_fail_after(k);
			send(VC | XK_CELL_LAST, 0, 300);
			send(VC | XK_CELL_LAST, 0, 2);
			xk_mem_fail_after(0);
			whole += pf_ngot(&f, "ub");
			send(VC | XK_CELL_LAST, 0, 5);
			CU_ASSERT_EQUAL(got_cells(pf_ngot(&f, "ub") - 1), 5);
			down();
		}
	CU_ASSERT(whole > 0 && whole < 48);
}

static CU_TestInfo hec_tests[] = {
	{ "headers have the check of the standard", headers_have_the_check_of_the_standard },
	{ "one wrong bit is corrected, two are found", one_wrong_bit_is_corrected_and_two_are_found },
	CU_TEST_INFO_NULL,
};
static CU_TestInfo wire_tests[] = {
	{ "a train crosses as it is", a_train_crosses_as_it_is },
	{ "what somebody else looks at is copied", what_somebody_else_looks_at_is_copied },
	{ "what is no train is dropped", what_is_no_train_is_dropped },
	{ "the wire has its room", the_wire_has_its_room },
	{ "listed cells meet their fate", listed_cells_meet_their_fate },
	{ "listed bits are wrong", listed_bits_are_wrong },
	{ "rates hold", rates_hold },
	{ "the same seed gives the same, cells one by one, too", the_same_seed_gives_the_same_and_so_do_cells_one_by_one },
	{ "only circuits that there are", only_circuits_that_there_are },
	{ "nobody at the other end", nobody_at_the_other_end },
	{ "a wire has two ends", a_wire_has_two_ends },
	{ "every allocation may fail", every_allocation_may_fail },
	CU_TEST_INFO_NULL,
};
static CU_TestInfo port_tests[] = {
	{ "on a port are cells to the bit", on_a_port_are_cells_to_the_bit },
	{ "cells of a port become trains", cells_of_a_port_become_trains },
	{ "what is sent by a port meets its fate", what_is_sent_by_a_port_meets_its_fate },
	CU_TEST_INFO_NULL,
};
static CU_SuiteInfo suites[] = {
	{ "hec", NULL, NULL, NULL, NULL, hec_tests }, { "wire", NULL, NULL, NULL, NULL, wire_tests },
	{ "port", NULL, NULL, NULL, NULL, port_tests }, CU_SUITE_INFO_NULL,
};

int main(void)
{
	return xk_test_main(suites);
}

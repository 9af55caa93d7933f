/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_ncs.c - connections of ncs over UDP, two stacks joined by a wire.
 *
 * Promises: messages of every size come back as they were, under each flow control with each error
 * control; over a line that loses, doubles, reorders and damages, exactly once and in order, or
 * without error control whole and once or not at all; no control byte is on a data connection;
 * connections close and leave nothing; who is refused or hears nothing is told; a peer that says
 * what it likes is counted and changes nothing for others.
 */
#include "protocols/ncs/ncs_hdr.h"

#include "runtime/base/xk_rand.h"
#include "runtime/mem/xk_alloc.h"
#include "tests/protocols/ncs_fixture.h"
#include "tests/support/xk_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct pf f;

/* pair: of flow and error control, on both sides. */
static void up(unsigned nvps, unsigned pair, const char *params, const char *faults)
{
	const struct nf_how how = { .nvps = nvps, .pair = pair, .ncs = params, .faults = faults };

	nf_up(&f, &how);
}

/* ---- messages ---------------------------------------------------------------------------------- */

static void every_size_comes_back_under_every_pair(void)
{
	static const uint32_t sizes[] = { 0, 1, 999, 1000, 1001, 2000, 16384, 65536, NF_MOST };

	for (unsigned pair = 0; pair < NF_PAIRS; pair++) {
		struct xk_sess *s;

		up(2, pair, "sdu=1000", NULL);
		s = nf_open(&f, "client", 0, 7, NULL);
		CU_ASSERT_PTR_NOT_NULL_FATAL(s);
		for (unsigned i = 0; i < XK_ARRAY_LEN(sizes); i++) {
			pf_push(&f, 0, s, nf_bytes, sizes[i]);
			pf_run(&f, 100 * XK_MS);
			CU_ASSERT_EQUAL_FATAL(pf_ngot(&f, "client"), 1);
			CU_ASSERT_EQUAL(pf_got(&f, "client", 0)->len, sizes[i]);
			CU_ASSERT_EQUAL(memcmp(pf_got(&f, "client", 0)->bytes, nf_bytes, sizes[i]), 0);
			CU_ASSERT_PTR_EQUAL(pf_got(&f, "client", 0)->lls, s);
			pf_forget(&f, "client");
		}
		CU_ASSERT_EQUAL(pf_drops(&f, "na", NULL) + pf_drops(&f, "nb", NULL), 0);
		CU_ASSERT_EQUAL(pf_count(&f, "na", "sdus_repeated"), 0);
		pf_close(&f, 0, s);
		pf_down(&f);
	}
}

static void a_bad_line_changes_nothing(void)
{
	static uint8_t b[16384];

	for (unsigned long round = 0; round < xk_test_rounds(3) * NF_PAIRS; round++) {
		unsigned pair = (unsigned)(round % NF_PAIRS);
		char faults[128];
		uint32_t n = 60, got;
		struct xk_sess *s;

		snprintf(faults, sizeof faults, "loss=0.0%lu; dup=0.1; reorder=0.2; reorder_depth=8; corrupt=0.02; seed=%lu",
			 round / NF_PAIRS * 4, round + 1);
		up(1, pair, "sdu=1000", faults);
		s = nf_open(&f, "client", 0, 7, NULL);
		CU_ASSERT_PTR_NOT_NULL_FATAL(s);
		for (uint32_t i = 0; i < n; i++) {
			pf_push(&f, 0, s, b, nf_make(i, b));
			pf_run(&f, XK_MS);
		}
		pf_run(&f, 9 * XK_SEC);
		got = nf_judged(&f, n);
		if (pair % NF_ERRORS != 0)
			CU_ASSERT_EQUAL(got, n);
		CU_ASSERT(got <= n && got > 0);
		pf_close(&f, 0, s);
		pf_down(&f);
	}
}

/* ---- opening and closing ----------------------------------------------------------------------------- */

static void connections_close_and_leave_the_control_connection(void)
{
	struct xk_sess *s[20];

	up(1, NF_PAIRS - 1, NULL, NULL);
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < 20; i++) {
			s[i] = nf_open(&f, "client", 0, 7, NULL);
			CU_ASSERT_PTR_NOT_NULL_FATAL(s[i]);
			pf_push(&f, 0, s[i], nf_bytes, 5000);
		}
		pf_run(&f, 100 * XK_MS);
		CU_ASSERT_EQUAL(pf_ngot(&f, "client"), 20);
		CU_ASSERT_EQUAL(pf_sessions(&f, "na"), 21);
		CU_ASSERT_EQUAL(pf_sessions(&f, "nb"), 21);
		for (unsigned i = 0; i < 20; i++)
			pf_close(&f, 0, s[i]);
		pf_run(&f, XK_SEC);
		CU_ASSERT_EQUAL(pf_sessions(&f, "na"), 1);
		CU_ASSERT_EQUAL(pf_sessions(&f, "nb"), 1);
		CU_ASSERT_EQUAL(pf_sessions(&f, "echo"), 0);
		pf_forget(&f, "client");
	}
	CU_ASSERT_EQUAL(pf_count(&f, "nb", "accepted"), 60);
	pf_down(&f);
}

static void what_was_pushed_before_the_close_arrives(void)
{
	struct xk_sess *s;

	up(1, NF_PAIRS - 1, "sdu=1000", "loss=0.2; seed=3");
	s = nf_open(&f, "client", 0, 7, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	pf_push(&f, 0, s, nf_bytes, 100000);
	pf_close(&f, 0, s);
	pf_run(&f, 20 * XK_SEC);
	CU_ASSERT_EQUAL(pf_count(&f, "nb", "messages_in"), 1);
	CU_ASSERT_EQUAL(pf_count(&f, "echo", "bytes"), 100000);
	CU_ASSERT_EQUAL(pf_sessions(&f, "na"), 1);
	CU_ASSERT_EQUAL(pf_sessions(&f, "nb"), 1);
	pf_down(&f);
}

static void without_error_control_a_close_comes_after_what_was_pushed(void)
{
	for (unsigned pair = 0; pair < NF_PAIRS; pair += NF_ERRORS) {
		struct xk_sess *s;

		up(2, pair, "sdu=1000", NULL);
		s = nf_open(&f, "client", 0, 7, NULL);
		CU_ASSERT_PTR_NOT_NULL_FATAL(s);
		pf_run(&f, 100 * XK_MS);
		pf_push(&f, 0, s, nf_bytes, 2500);
		pf_run(&f, 100 * XK_MS);
		pf_forget(&f, "client");
		pf_enter(&f, 0);
		for (unsigned i = 0; i < 40; i++)
			xk_push(s, pf_msg(nf_bytes, 1000 + i));
		xk_close(s);
		pf_leave(&f, 0);
		pf_run(&f, 2 * XK_SEC);
		CU_ASSERT_EQUAL(pf_count(&f, "nb", "messages_in"), 41);
		CU_ASSERT_EQUAL(pf_drops(&f, "nb", NULL), 0);
		CU_ASSERT_EQUAL(pf_count(&f, "na", "given_up") + pf_count(&f, "nb", "given_up"), 0);
		pf_down(&f);
	}
}

static void who_is_refused_is_told(void)
{
	struct xk_sess *s;

	up(1, 0, NULL, NULL);
	s = nf_open(&f, "client", 0, 9, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	pf_push(&f, 0, s, nf_bytes, 10);
	pf_run(&f, 100 * XK_MS);
	CU_ASSERT_EQUAL(pf_upper_of(&f, "client")->close_dones, 1);
	CU_ASSERT_EQUAL(pf_count(&f, "na", "refused"), 1);
	pf_push(&f, 0, s, nf_bytes, 10);
	CU_ASSERT_EQUAL(pf_drops(&f, "na", "closed"), 1);
	pf_close(&f, 0, s);
	CU_ASSERT_EQUAL(pf_sessions(&f, "na"), 1);
	CU_ASSERT_EQUAL(pf_sessions(&f, "nb"), 1);
	pf_down(&f);
}

static void who_hears_nothing_gives_up(void)
{
	struct xk_sess *s;

	up(1, 5, "give_up=3s", "loss=1; dir=down");
	s = nf_open(&f, "client", 0, 7, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	pf_push(&f, 0, s, nf_bytes, 10);
	pf_run(&f, 2900 * XK_MS);
	CU_ASSERT_EQUAL(pf_upper_of(&f, "client")->close_dones, 0);
	pf_run(&f, 200 * XK_MS);
	CU_ASSERT_EQUAL(pf_upper_of(&f, "client")->close_dones, 1);
	CU_ASSERT_EQUAL(pf_count(&f, "na", "given_up"), 1);
	pf_close(&f, 0, s);
	CU_ASSERT_EQUAL(pf_sessions(&f, "na"), 1);
	pf_down(&f);
}

static void what_does_not_fit_is_dropped_and_counted(void)
{
	struct xk_sess *s;

	up(1, 5, "message=5000; queue=8000", "loss=1; dir=down");
	s = nf_open(&f, "client", 0, 7, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	pf_push(&f, 0, s, nf_bytes, 5001);
	CU_ASSERT_EQUAL(pf_drops(&f, "na", "too_long"), 1);
	pf_push(&f, 0, s, nf_bytes, 5000);
	pf_push(&f, 0, s, nf_bytes, 3001);
	CU_ASSERT_EQUAL(pf_drops(&f, "na", "queue_full"), 1);
	pf_push(&f, 0, s, nf_bytes, 3000);
	CU_ASSERT_EQUAL(pf_drops(&f, "na", NULL), 2);
	pf_close(&f, 0, s);
	pf_down(&f);
}

/* SDUs that take two seconds each, and are never answered. */
static void a_slow_pace_is_not_silence(void)
{
	const struct nf_how how = { .pair = 3 * NF_ERRORS, .flow = "rate=4kbit/s", .ncs = "sdu=1000; give_up=1s" };
	struct xk_sess *s;

	nf_up(&f, &how);
	s = nf_open(&f, "client", 0, 7, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	pf_run(&f, 100 * XK_MS);
	pf_push(&f, 0, s, nf_bytes, 6000);
	pf_run(&f, 20 * XK_SEC);
	CU_ASSERT_EQUAL(pf_count(&f, "nb", "messages_in"), 1);
	CU_ASSERT_EQUAL(pf_count(&f, "na", "given_up"), 0);
	pf_push(&f, 0, s, nf_bytes, 6000);          /* what waits at the close leaves, then the end is said */
	pf_close(&f, 0, s);
	pf_run(&f, 20 * XK_SEC);
	CU_ASSERT_EQUAL(pf_count(&f, "nb", "messages_in"), 2);
	CU_ASSERT_EQUAL(pf_count(&f, "na", "given_up"), 0);
	CU_ASSERT_EQUAL(pf_sessions(&f, "na"), 1);
	CU_ASSERT_EQUAL(pf_sessions(&f, "nb"), 1);
	pf_down(&f);
}

static void a_close_before_the_peer_accepts_leaves_nothing_there(void)
{
	for (unsigned seed = 0; seed < 8; seed++) {
		struct xk_sess *s;
		char faults[64];

		snprintf(faults, sizeof faults, "loss=0.%u; seed=%u", seed == 0 ? 0 : 3, seed);
		up(1, NF_PAIRS - 1, NULL, faults);
		s = nf_open(&f, "client", 0, 7, NULL);
		CU_ASSERT_PTR_NOT_NULL_FATAL(s);
		CU_ASSERT_EQUAL(pf_count(&f, "na", "opened"), 0);
		pf_close(&f, 0, s);
		pf_run(&f, seed == 0 ? XK_SEC : 20 * XK_SEC);
		CU_ASSERT_EQUAL(pf_count(&f, "nb", "accepted"), 1);
		CU_ASSERT_EQUAL(pf_sessions(&f, "na"), 1);
		CU_ASSERT_EQUAL(pf_sessions(&f, "nb"), 1);
		CU_ASSERT_EQUAL(pf_sessions(&f, "echo"), 0);
		pf_down(&f);
	}
}

static void questions_stay_ever_further_apart(void)
{
	uint64_t before;

	up(1, 5, "give_up=1h", "loss=1; dir=down");
	CU_ASSERT_PTR_NOT_NULL_FATAL(nf_open(&f, "client", 0, 7, NULL));
	pf_run(&f, 60 * XK_SEC);
	for (unsigned i = 0; i < 30; i++) {
		before = pf_count(&f, "na", "records_out");
		pf_run(&f, 60 * XK_SEC);
		CU_ASSERT(pf_count(&f, "na", "records_out") - before <= 10);
	}
	pf_down(&f);
}

/* The k-th allocation fails: somebody hears of it, and nothing is left. */
static void every_allocation_may_fail(void)
{
	unsigned opened = 0;

	for (unsigned k = 1; k <= 120; k++) {
		struct xk_sess *s;
		int err = XK_OK;

		up(1, NF_PAIRS - 1, "sdu=1000; give_up=1s", NULL);
		xk_mem_fail_after(k);
		s = nf_open(&f, "client", 0, 7, &err);
		if (s != NULL) {
			opened++;
			pf_push(&f, 0, s, nf_bytes, 5000);
			pf_run(&f, 300 * XK_MS);
			pf_close(&f, 0, s);
		}
		xk_mem_fail_after(0);
		CU_ASSERT(s != NULL || err == XK_E_NOMEM);
		pf_run(&f, 4 * XK_SEC);
		CU_ASSERT(pf_sessions(&f, "na") <= 1);
		pf_down(&f);
	}
	CU_ASSERT(opened > 0 && opened < 120);
}

/* ---- planes --------------------------------------------------------------------------------------------- */

/* Data connections carry headers of data and nothing else; they go to another port. */
static void control_and_data_have_connections_of_their_own(void)
{
	struct xk_sess *s;

	up(1, NF_PAIRS - 1, "sdu=1000", NULL);
	s = nf_open(&f, "client", 0, 7, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	pf_push(&f, 0, s, nf_bytes, 50000);
	pf_run(&f, 100 * XK_MS);
	CU_ASSERT_EQUAL(pf_ngot(&f, "client"), 1);
	CU_ASSERT_EQUAL(pf_sessions(&f, "ub"), 2);
	CU_ASSERT_EQUAL(pf_count(&f, "nb", "sdus_in"), 50);
	CU_ASSERT_EQUAL(pf_drops(&f, "nb", NULL), 0);
	pf_close(&f, 0, s);
	pf_down(&f);
}

/* ---- a peer that says what it likes -------------------------------------------------------------------------- */

static uint32_t open_record(uint8_t *b, uint32_t id, uint16_t data, uint8_t flow, uint8_t error)
{
	struct ncs_rec rec = { .type = NCS_OPEN, .len = NCS_REC_LEN + NCS_OPEN_LEN, .conn = id, .epoch = 77 };
	struct ncs_open o = { .service = 7, .data = data, .flow = flow, .error = error,
			      .a = { .flow_window = 8, .first = 2, .most = 8, .rate = 1000000,
				     .sdu = 1000, .error_window = 8 } };

	ncs_rec_store(b, &rec);
	ncs_open_store(b + NCS_REC_LEN, &o);
	return rec.len;
}

static void an_open_that_makes_no_sense_opens_nothing(void)
{
	uint8_t b[128];
	struct xk_sess *s;
	uint32_t n;

	up(1, 0, NULL, NULL);
	s = nf_open(&f, "raw", 0, NF_CTL, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	n = open_record(b, 1, 5000, 2, 2);
	for (uint32_t cut = 0; cut < n; cut++)
		pf_push(&f, 0, s, b, cut);
	CU_ASSERT_EQUAL(pf_count(&f, "nb", "accepted"), 0);
	CU_ASSERT_EQUAL(pf_drops(&f, "nb", "bad_record"), n);
	for (unsigned at = 20; at < 44; at += 4) {
		n = open_record(b, 1, 5000, 2, 2);
		memset(b + NCS_REC_LEN + at - 12, 0xff, 4);
		pf_push(&f, 0, s, b, n);
	}
	n = open_record(b, 2, 5000, 9, 2);       /* no such control: refused by number */
	pf_push(&f, 0, s, b, n);
	n = open_record(b, 3, 0, 2, 2);
	pf_push(&f, 0, s, b, n);
	pf_run(&f, 10 * XK_MS);
	CU_ASSERT(pf_sessions(&f, "nb") <= 3);
	CU_ASSERT(pf_count(&f, "nb", "refused") >= 1);
	pf_close(&f, 0, s);
	pf_down(&f);
}

/* Is there a record of the type for conn among what "raw" got? */
static bool heard(uint8_t type, uint32_t conn)
{
	for (unsigned i = 0; i < pf_ngot(&f, "raw"); i++) {
		const struct pf_rec *got = pf_got(&f, "raw", i);
		struct ncs_rec rec;

		for (uint32_t at = 0; at < got->len && ncs_rec_load(got->bytes + at, got->len - at, &rec); at += rec.len)
			if (rec.type == type && rec.conn == conn)
				return true;
	}
	return false;
}

/* A record of one value. */
static void say(struct xk_sess *s, uint8_t type, uint32_t conn, uint32_t value)
{
	struct ncs_rec rec = { .type = type, .len = NCS_REC_LEN + 4, .conn = conn, .epoch = 77 };
	uint8_t b[NCS_REC_LEN + 4];

	ncs_rec_store(b, &rec);
	xk_put_be32(b + NCS_REC_LEN, value);
	pf_push(&f, 0, s, b, sizeof b);
	pf_run(&f, XK_MS);
}

static void a_short_sdu_is_refused(void)
{
	uint8_t b[128];
	struct xk_sess *s;
	uint32_t n = open_record(b, 1, 5000, 2, 2);

	up(1, 0, NULL, NULL);
	s = nf_open(&f, "raw", 0, NF_CTL, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	for (uint32_t sdu = NCS_SDU_LEAST - 1; sdu <= NCS_SDU_LEAST; sdu++) {
		xk_put_be32(b + NCS_REC_LEN + 28, sdu);
		pf_push(&f, 0, s, b, n);
		pf_run(&f, XK_MS);
		CU_ASSERT_EQUAL(pf_drops(&f, "nb", "bad_record"), 1);
		CU_ASSERT_EQUAL(pf_count(&f, "nb", "accepted"), sdu == NCS_SDU_LEAST);
	}
	pf_close(&f, 0, s);
	pf_down(&f);
}

static void who_accepts_what_nobody_asked_for_is_told(void)
{
	struct xk_sess *s;

	up(1, 0, NULL, NULL);
	s = nf_open(&f, "raw", 0, NF_CTL, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	say(s, NCS_ACCEPT, 5, 1234);
	CU_ASSERT_TRUE(heard(NCS_CLOSE, 1234));
	pf_close(&f, 0, s);
	pf_down(&f);
}

/* A peer that answers each question, and never acknowledges what it asked to be echoed. */
static void answers_that_help_nothing_keep_nothing_up(void)
{
	struct ncs_hdr h = { { 0, 0, 0, 0, NCS_ASK }, 0, 77, 0 };
	struct xk_sess *ctl, *data;
	uint8_t b[128] = { 0 };

	up(1, 0, "give_up=1s", NULL);
	ctl = nf_open(&f, "raw", 0, NF_CTL, NULL);
	data = nf_open_data(&f);
	CU_ASSERT_TRUE_FATAL(ctl != NULL && data != NULL);
	pf_push(&f, 0, ctl, b, open_record(b, 3, 5000, 1, 2));
	pf_run(&f, 10 * XK_MS);
	ncs_hdr_store(b, &h);
	pf_push(&f, 0, data, b, NCS_HDR_LEN + 10);
	for (unsigned i = 0; i < 30; i++) {
		say(ctl, NCS_CREDIT, 0, 1);
		if (i <= 8 || i >= 12)           /* after a second */
			CU_ASSERT_EQUAL(heard(NCS_CLOSE, 3), i >= 12);
		pf_run(&f, 100 * XK_MS);
	}
	CU_ASSERT_EQUAL(pf_count(&f, "nb", "messages_in"), 1);
	CU_ASSERT_EQUAL(pf_count(&f, "nb", "given_up"), 1);
	CU_ASSERT_EQUAL(pf_sessions(&f, "nb"), 1);
	pf_close(&f, 0, ctl);
	pf_close(&f, 0, data);
	pf_down(&f);
}

/* Control connections that peers began and do not use are in nobody's way, nor are they used. */
static void idle_peers_make_room(void)
{
	struct xk_sess *s[5], *back;
	uint8_t b[128];

	up(1, 0, "peers=2", NULL);
	for (unsigned i = 0; i < 15; i++) {      /* all come, and come again */
		if (i < 5)
			s[i] = nf_open(&f, "raw", 0, NF_CTL, NULL);
		CU_ASSERT_PTR_NOT_NULL_FATAL(s[i % 5]);
		say(s[i % 5], NCS_CLOSED, 1, 0);
		CU_ASSERT_EQUAL(pf_drops(&f, "nb", "other_connection"), i + 1);
		CU_ASSERT_EQUAL(pf_sessions(&f, "nb"), i == 0 ? 1 : 2);
	}
	for (unsigned i = 0; i < 5; i++) {
		pf_push(&f, 0, s[i], b, open_record(b, i, (uint16_t)(5000 + i), 2, 2));
		pf_run(&f, XK_MS);
		CU_ASSERT_EQUAL(pf_count(&f, "nb", "accepted"), i == 0 ? 1 : 2);
	}
	back = nf_open_host(&f, "back", 0, 0x0a000001u, 9, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(back);
	pf_run(&f, 10 * XK_MS);
	CU_ASSERT_EQUAL(pf_count(&f, "na", "refused"), 1);
	CU_ASSERT_EQUAL(pf_upper_of(&f, "back")->close_dones, 1);
	pf_close(&f, 0, back);
	for (unsigned i = 0; i < 5; i++)
		pf_close(&f, 0, s[i]);
	pf_down(&f);
}

static void a_flood_of_opens_ends_at_the_cap(void)
{
	uint8_t b[128];
	struct xk_sess *s;

	up(1, 0, "connections=50", NULL);
	s = nf_open(&f, "raw", 0, NF_CTL, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	for (uint32_t i = 0; i < 500; i++) {
		uint32_t n = open_record(b, i, (uint16_t)(5000 + i), 2, 2);

		pf_push(&f, 0, s, b, n);
		pf_push(&f, 0, s, b, n);         /* it did not hear */
	}
	pf_run(&f, 10 * XK_MS);
	CU_ASSERT_EQUAL(pf_count(&f, "nb", "accepted"), 50);
	CU_ASSERT_EQUAL(pf_count(&f, "nb", "refused"), 900);
	CU_ASSERT_EQUAL(pf_sessions(&f, "nb"), 51);
	pf_close(&f, 0, s);
	pf_down(&f);
}

static void what_another_process_said_is_not_taken(void)
{
	struct ncs_hdr h = { { 0, 0, 0, 0, NCS_ASK }, 0, 78, 0 };
	struct xk_sess *ctl, *data;
	uint8_t b[128] = { 0 };

	up(1, 0, NULL, NULL);
	ctl = nf_open(&f, "raw", 0, NF_CTL, NULL);
	data = nf_open_data(&f);
	CU_ASSERT_TRUE_FATAL(ctl != NULL && data != NULL);
	pf_push(&f, 0, ctl, b, open_record(b, 3, 5000, 0, 0));
	pf_run(&f, 10 * XK_MS);
	for (unsigned i = 0; i < 2; i++, h.epoch--) {
		ncs_hdr_store(b, &h);
		pf_push(&f, 0, data, b, NCS_HDR_LEN + 10);
		pf_run(&f, XK_MS);
		CU_ASSERT_EQUAL(pf_drops(&f, "nb", "other_epoch"), 1);
		CU_ASSERT_EQUAL(pf_count(&f, "nb", "messages_in"), i);
	}
	pf_close(&f, 0, ctl);
	pf_close(&f, 0, data);
	pf_down(&f);
}

/* One datagram with some bits and lengths that are wrong. */
static uint32_t spoilt(struct xk_rand *r, uint8_t *b, bool control)
{
	uint32_t n = 0;

	if (control) {
		for (unsigned k = (unsigned)xk_rand_below(r, 4) + 1; k != 0; k--) {
			struct ncs_rec rec = { .type = (uint8_t)xk_rand_below(r, NCS_TYPES + 1), .epoch = 77,
				.len = (uint16_t)(NCS_REC_LEN + 4 * xk_rand_below(r, 12)),
				.conn = (uint32_t)xk_rand_below(r, 60) };

			ncs_rec_store(b + n, &rec);
			for (unsigned i = NCS_REC_LEN; i < rec.len; i++)
				b[n + i] = xk_rand_below(r, 3) == 0 ? (uint8_t)xk_rand_u64(r) : 0;
			n += rec.len;
		}
	} else {
		struct ncs_hdr h = { { (uint32_t)xk_rand_below(r, 40), (uint32_t)xk_rand_below(r, 40),
				       (uint32_t)xk_rand_below(r, 3), (uint32_t)xk_rand_below(r, 5),
				       (uint8_t)xk_rand_u64(r) }, (uint32_t)xk_rand_below(r, 3), 77,
				     xk_rand_below(r, 3) == 0 ? xk_rand_u64(r) | NCS_ALONG : 0 };

		ncs_hdr_store(b, &h);
		n = NCS_HDR_LEN + (xk_rand_below(r, 3) == 0 ? (uint32_t)xk_rand_below(r, 1100) : 1000);
	}
	if (xk_rand_below(r, 4) == 0)
		b[xk_rand_below(r, n)] ^= (uint8_t)(1u << xk_rand_below(r, 8));
	return xk_rand_below(r, 8) == 0 ? (uint32_t)xk_rand_below(r, n + 1) : n;
}

/* SDUs that arrived. */
static uint64_t spoil(unsigned flow, unsigned error, unsigned rounds)
{
	static uint8_t b[2048];
	struct xk_sess *ctl, *data, *good;
	struct xk_rand r;
	uint16_t port = 5000;
	uint64_t got;

	up(1, NF_PAIRS - 1, "sdu=1000; connections=20", NULL);
	xk_rand_init(&r, 5, flow * 3 + error);
	good = nf_open(&f, "client", 0, 7, NULL);
	ctl = nf_open(&f, "raw", 0, NF_CTL, NULL);
	data = nf_open_data(&f);
	CU_ASSERT_TRUE_FATAL(good != NULL && ctl != NULL && data != NULL);
	pf_push(&f, 0, ctl, b, open_record(b, 3, port, (uint8_t)flow, (uint8_t)error));
	for (unsigned i = 0; i < rounds; i++) {
		bool control = xk_rand_below(&r, 2) != 0;

		memset(b, 0, sizeof b);
		pf_push(&f, 0, control ? ctl : data, b, spoilt(&r, b, control));
		if (i % 64 == 0)
			pf_run(&f, XK_MS);
		pf_forget(&f, "raw");
	}
	pf_push(&f, 0, good, nf_bytes, 50000);
	pf_run(&f, 100 * XK_MS);
	CU_ASSERT_EQUAL(pf_ngot(&f, "client"), 1);
	CU_ASSERT(pf_sessions(&f, "nb") <= 22);
	got = pf_count(&f, "nb", "sdus_in");
	pf_close(&f, 0, good);
	pf_close(&f, 0, ctl);
	pf_close(&f, 0, data);
	pf_down(&f);
	return got;
}

static void a_peer_that_says_what_it_likes_changes_nothing_for_others(void)
{
	unsigned rounds = (unsigned)xk_test_rounds(4000);
	uint64_t got = 0;

	for (unsigned pair = 0; pair < NF_PAIRS; pair++)
		got += spoil(pair / NF_ERRORS, pair % NF_ERRORS, rounds);
	CU_ASSERT(got > (50 + rounds / 80) * NF_PAIRS);         /* 50 each are the good one's */
}

static CU_TestInfo ncs[] = {
	{ "every_size_comes_back_under_every_pair", every_size_comes_back_under_every_pair },
	{ "a_bad_line_changes_nothing", a_bad_line_changes_nothing },
	{ "connections_close_and_leave_the_control_connection", connections_close_and_leave_the_control_connection },
	{ "what_was_pushed_before_the_close_arrives", what_was_pushed_before_the_close_arrives },
	{ "without_error_control_a_close_comes_after_what_was_pushed",
	  without_error_control_a_close_comes_after_what_was_pushed },
	{ "who_is_refused_is_told", who_is_refused_is_told },
	{ "who_hears_nothing_gives_up", who_hears_nothing_gives_up },
	{ "what_does_not_fit_is_dropped_and_counted", what_does_not_fit_is_dropped_and_counted },
	{ "a_slow_pace_is_not_silence", a_slow_pace_is_not_silence },
	{ "a_close_before_the_peer_accepts_leaves_nothing_there", a_close_before_the_peer_accepts_leaves_nothing_there },
	{ "questions_stay_ever_further_apart", questions_stay_ever_further_apart },
	{ "every_allocation_may_fail", every_allocation_may_fail },
	{ "control_and_data_have_connections_of_their_own", control_and_data_have_connections_of_their_own },
	{ "an_open_that_makes_no_sense_opens_nothing", an_open_that_makes_no_sense_opens_nothing },
	{ "what_another_process_said_is_not_taken", what_another_process_said_is_not_taken },
	{ "a_short_sdu_is_refused", a_short_sdu_is_refused },
	{ "who_accepts_what_nobody_asked_for_is_told", who_accepts_what_nobody_asked_for_is_told },
	{ "answers_that_help_nothing_keep_nothing_up", answers_that_help_nothing_keep_nothing_up },
	{ "idle_peers_make_room", idle_peers_make_room },
	{ "a_flood_of_opens_ends_at_the_cap", a_flood_of_opens_ends_at_the_cap },
	{ "a_peer_that_says_what_it_likes_changes_nothing_for_others",
	  a_peer_that_says_what_it_likes_changes_nothing_for_others },
	CU_TEST_INFO_NULL
};

int main(void)
{
	static const CU_SuiteInfo suites[] = { { .pName = "ncs", .pTests = ncs }, CU_SUITE_INFO_NULL };

	return xk_test_main(suites);
}

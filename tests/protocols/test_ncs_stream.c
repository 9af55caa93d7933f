/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_ncs_stream.c - connections of ncs over TCP: what keeps no boundaries is given them.
 *
 * Promises: messages of every size come back as they were, under each flow control with each error
 * control, over a bad line, too, whatever virtual processors the streams come up on; a connection
 * and its stream end together, either way round; a length that nobody sends ends the stream, is
 * counted, and is nobody else's matter; a peer that takes nothing holds up the sender, not its memory.
 */
#include "protocols/ncs/ncs_hdr.h"

#include "runtime/base/xk_rand.h"
#include "runtime/mem/xk_alloc.h"
#include "runtime/upi/xk_stream.h"
#include "tests/protocols/ncs_fixture.h"
#include "tests/support/xk_test.h"

#include <stdio.h>
#include <string.h>

static struct pf f;

static void up(unsigned nvps, unsigned pair, const char *params, const char *faults)
{
	const struct nf_how how = { .nvps = nvps, .pair = pair, .ncs = params, .faults = faults, .stream = true };

	nf_up(&f, &how);
}

static void nothing_is_left(void)
{
	CU_ASSERT_EQUAL(pf_sessions(&f, "na"), 0);
	CU_ASSERT_EQUAL(pf_sessions(&f, "nb"), 0);
	CU_ASSERT_EQUAL(pf_sessions(&f, "echo"), 0);
}

/* ---- messages ---------------------------------------------------------------------------------- */

static void every_size_comes_back_under_every_pair(void)
{
	static const uint32_t sizes[] = { 0, 1, 999, 1000, 1001, 2000, 16384, 65536, NF_MOST };

	for (unsigned pair = 0; pair < NF_PAIRS; pair++) {
		struct xk_sess *s[3];

		up(4, pair, "sdu=1000", NULL);
		for (unsigned k = 0; k < XK_ARRAY_LEN(s); k++) {
			s[k] = nf_open(&f, "client", k, 7, NULL);
			CU_ASSERT_PTR_NOT_NULL_FATAL(s[k]);
		}
		for (unsigned i = 0; i < XK_ARRAY_LEN(sizes) * XK_ARRAY_LEN(s); i++) {
			uint32_t n = sizes[i / XK_ARRAY_LEN(s)];

			pf_push(&f, i % XK_ARRAY_LEN(s), s[i % XK_ARRAY_LEN(s)], nf_bytes, n);
			pf_run(&f, 100 * XK_MS);
			CU_ASSERT_EQUAL_FATAL(pf_ngot(&f, "client"), 1);
			CU_ASSERT_EQUAL(pf_got(&f, "client", 0)->len, n);
			CU_ASSERT_EQUAL(memcmp(pf_got(&f, "client", 0)->bytes, nf_bytes, n), 0);
			pf_forget(&f, "client");
		}
		/* Who repeats cannot know that the stream does so, too. */
		CU_ASSERT_EQUAL(pf_drops(&f, "na", NULL) + pf_drops(&f, "nb", NULL),
				pf_drops(&f, "na", "duplicate") + pf_drops(&f, "nb", "duplicate"));
		CU_ASSERT(NF_SURE(pair) || pf_drops(&f, "nb", NULL) == 0);
		for (unsigned k = 0; k < XK_ARRAY_LEN(s); k++)
			pf_close(&f, k, s[k]);
		pf_run(&f, XK_SEC);
		nothing_is_left();
		pf_down(&f);
	}
}

static void a_bad_line_changes_nothing(void)
{
	static uint8_t b[16384];

	for (unsigned long round = 0; round < xk_test_rounds(2) * NF_PAIRS; round++) {
		unsigned pair = (unsigned)(round % NF_PAIRS);
		char faults[128];
		uint32_t n = 40;
		struct xk_sess *s;

		snprintf(faults, sizeof faults, "loss=0.0%lu; dup=0.05; reorder=0.1; corrupt=0.01; seed=%lu",
			 round / NF_PAIRS * 3, round + 1);
		up(1, pair, "sdu=1000", faults);
		s = nf_open(&f, "client", 0, 7, NULL);
		CU_ASSERT_PTR_NOT_NULL_FATAL(s);
		for (uint32_t i = 0; i < n; i++) {
			pf_push(&f, 0, s, b, nf_make(i, b));
			pf_run(&f, XK_MS);
		}
		pf_run(&f, 30 * XK_SEC);
		CU_ASSERT_EQUAL(nf_judged(&f, n), n);     /* the stream is sure, whatever lies over it */
		pf_close(&f, 0, s);
		pf_down(&f);
	}
}

/* ---- the end -------------------------------------------------------------------------------------- */

static void what_was_pushed_before_the_close_arrives(void)
{
	for (unsigned pair = 0; pair < NF_PAIRS; pair++) {
		struct xk_sess *s;

		up(1, pair, "sdu=1000", "loss=0.1; seed=3");
		s = nf_open(&f, "client", 0, 7, NULL);
		CU_ASSERT_PTR_NOT_NULL_FATAL(s);
		pf_push(&f, 0, s, nf_bytes, 100000);
		pf_close(&f, 0, s);
		pf_run(&f, 30 * XK_SEC);
		CU_ASSERT_EQUAL(pf_count(&f, "nb", "messages_in"), 1);
		CU_ASSERT_EQUAL(pf_count(&f, "echo", "bytes"), 100000);
		nothing_is_left();
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
	pf_close(&f, 0, s);
	pf_run(&f, XK_SEC);
	CU_ASSERT_EQUAL(pf_sessions(&f, "na"), 0);
	pf_down(&f);
}

/* Nobody waits there at all; or the line is cut. */
static void who_reaches_nobody_is_told(void)
{
	struct xk_sess *s;

	for (unsigned cut = 0; cut < 2; cut++) {
		up(1, 5, "give_up=3s", cut ? "loss=1" : NULL);
		s = cut ? nf_open(&f, "client", 0, 7, NULL) : nf_open_host(&f, "client", 0, 0x0a000063u, 7, NULL);
		CU_ASSERT_PTR_NOT_NULL_FATAL(s);
		pf_push(&f, 0, s, nf_bytes, 10);
		pf_run(&f, 2500 * XK_MS);
		CU_ASSERT(cut == 0 || pf_upper_of(&f, "client")->close_dones == 0);
		pf_run(&f, 600 * XK_MS);
		CU_ASSERT_EQUAL(pf_upper_of(&f, "client")->close_dones, 1);
		CU_ASSERT_EQUAL(pf_count(&f, "na", "given_up") + pf_count(&f, "na", "lost"), 1);
		pf_close(&f, 0, s);
		pf_run(&f, XK_SEC);
		CU_ASSERT_EQUAL(pf_sessions(&f, "na"), 0);
		pf_down(&f);
	}
}

/* ---- a peer that says what it likes ------------------------------------------------------------------ */

static struct xk_sess *raw(void)
{
	struct xk_sess *s = nf_open(&f, "raw", 0, NF_CTL, NULL);

	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	pf_run(&f, 10 * XK_MS);
	return s;
}

static uint32_t open_record(uint8_t *b, uint32_t id)
{
	struct ncs_rec rec = { .type = NCS_OPEN, .len = NCS_REC_LEN + NCS_OPEN_LEN, .conn = id, .epoch = 77 };
	struct ncs_open o = { .service = 7, .data = 1,
			      .a = { .flow_window = 8, .first = 2, .most = 8, .rate = 1000000,
				     .sdu = 1000, .error_window = 8 } };

	xk_put_be32(b, rec.len | 0x80000000u);
	ncs_rec_store(b + NCS_WORD, &rec);
	ncs_open_store(b + NCS_WORD + NCS_REC_LEN, &o);
	return NCS_WORD + rec.len;
}

static void a_length_that_nobody_sends_ends_the_stream(void)
{
	static const uint32_t lengths[] = { 0, 0x80000000u, 65512, 0x7fffffff, 0xffffffff, 0x80000000u + NCS_CTL_MOST + 17 };
	uint8_t b[128];

	up(1, 0, NULL, NULL);
	for (unsigned i = 0; i < XK_ARRAY_LEN(lengths); i++) {
		struct xk_sess *good = nf_open(&f, "client", 0, 7, NULL), *s = raw();
		uint32_t n = open_record(b, i);

		CU_ASSERT_PTR_NOT_NULL_FATAL(good);
		pf_push(&f, 0, s, b, n);
		pf_run(&f, 10 * XK_MS);
		CU_ASSERT_EQUAL(pf_count(&f, "nb", "accepted"), 2 * i + 2);
		CU_ASSERT_EQUAL(pf_sessions(&f, "nb"), 4);
		xk_put_be32(b, lengths[i]);
		pf_push(&f, 0, s, b, 20);
		pf_run(&f, 10 * XK_MS);
		CU_ASSERT_EQUAL(pf_drops(&f, "nb", "bad_length"), i + 1);
		CU_ASSERT_EQUAL(pf_count(&f, "nb", "lost"), i + 1);
		CU_ASSERT_EQUAL(pf_sessions(&f, "nb"), 2);
		pf_push(&f, 0, good, nf_bytes, 5000);
		pf_run(&f, 10 * XK_MS);
		CU_ASSERT_EQUAL(pf_ngot(&f, "client"), 1);
		pf_forget(&f, "client");
		pf_close(&f, 0, s);
		pf_close(&f, 0, good);
		pf_run(&f, XK_SEC);
		nothing_is_left();
	}
	pf_down(&f);
}

/* One octet at a time, two pieces at once: the words are where they are. */
static void pieces_may_come_in_any_pieces(void)
{
	uint8_t b[256] = { 0 };
	struct xk_sess *s;
	uint32_t n;

	up(1, 0, NULL, NULL);
	s = raw();
	n = open_record(b, 3);
	for (uint32_t i = 0; i < n; i++) {
		pf_push(&f, 0, s, b + i, 1);
		pf_run(&f, 100 * XK_MS);         /* TCP keeps short ones together otherwise (RFC 1122 4.2.3.4) */
		CU_ASSERT_EQUAL(pf_count(&f, "nb", "accepted"), i + 1 == n);
	}
	for (unsigned k = 0; k < 2; k++) {       /* two SDUs, each a message */
		struct ncs_hdr h = { { k, k, 0, 0, NCS_ASK }, 0, 77, 0 };
		uint8_t *at = b + k * (NCS_WORD + NCS_HDR_LEN + 10);

		xk_put_be32(at, NCS_HDR_LEN + 10);
		ncs_hdr_store(at + NCS_WORD, &h);
	}
	pf_push(&f, 0, s, b, 2 * (NCS_WORD + NCS_HDR_LEN + 10));
	pf_run(&f, 10 * XK_MS);
	CU_ASSERT_EQUAL(pf_count(&f, "nb", "messages_in"), 2);
	n = open_record(b, 4);                   /* a second connection over one stream */
	pf_push(&f, 0, s, b, n);
	pf_run(&f, 10 * XK_MS);
	CU_ASSERT_EQUAL(pf_count(&f, "nb", "refused"), 1);
	CU_ASSERT_EQUAL(pf_count(&f, "nb", "accepted"), 1);
	pf_close(&f, 0, s);                      /* without a CLOSE */
	pf_run(&f, XK_SEC);
	CU_ASSERT_EQUAL(pf_count(&f, "nb", "lost"), 1);
	CU_ASSERT_EQUAL(pf_sessions(&f, "nb"), 0);
	pf_down(&f);
}

static void noise_harms_nobody(void)
{
	struct xk_rand r;
	uint8_t b[512];

	xk_rand_init(&r, 7, 1);
	up(1, NF_PAIRS - 1, "sdu=1000; connections=20", NULL);
	for (unsigned long i = 0; i < xk_test_rounds(200); i++) {
		struct xk_sess *s = raw();

		for (unsigned k = 0; k < 4; k++) {
			uint32_t n = open_record(b, (uint32_t)i);

			for (uint32_t j = n; j < sizeof b; j++)
				b[j] = (uint8_t)xk_rand_u64(&r);
			xk_put_be32(b + n, (uint32_t)xk_rand_below(&r, 300) | (xk_rand_below(&r, 2) ? 0x80000000u : 0));
			pf_push(&f, 0, s, b + (k == 0 ? 0 : n), (uint32_t)xk_rand_below(&r, sizeof b - n));
		}
		pf_run(&f, XK_MS);
		pf_close(&f, 0, s);
		pf_run(&f, 10 * XK_MS);
	}
	pf_run(&f, 60 * XK_SEC);
	CU_ASSERT_EQUAL(pf_sessions(&f, "nb"), 0);
	pf_down(&f);
}

static void every_allocation_may_fail(void)
{
	unsigned long opened = 0, step = xk_test_rounds(300) / 100;

	for (unsigned long k = 1; k < 300; k += 4 - (step < 3 ? step : 3)) {
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
		pf_run(&f, 90 * XK_SEC);
		CU_ASSERT_EQUAL(pf_sessions(&f, "na"), 0);
		pf_down(&f);
	}
	CU_ASSERT(opened > 0);
}

static CU_TestInfo ncs[] = {
	{ "every_size_comes_back_under_every_pair", every_size_comes_back_under_every_pair },
	{ "a_bad_line_changes_nothing", a_bad_line_changes_nothing },
	{ "what_was_pushed_before_the_close_arrives", what_was_pushed_before_the_close_arrives },
	{ "who_is_refused_is_told", who_is_refused_is_told },
	{ "who_reaches_nobody_is_told", who_reaches_nobody_is_told },
	{ "a_length_that_nobody_sends_ends_the_stream", a_length_that_nobody_sends_ends_the_stream },
	{ "pieces_may_come_in_any_pieces", pieces_may_come_in_any_pieces },
	{ "noise_harms_nobody", noise_harms_nobody },
	{ "every_allocation_may_fail", every_allocation_may_fail },
	CU_TEST_INFO_NULL
};

int main(void)
{
	static const CU_SuiteInfo suites[] = { { .pName = "ncs_stream", .pTests = ncs }, CU_SUITE_INFO_NULL };

	return xk_test_main(suites);
}

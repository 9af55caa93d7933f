/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_ncs_along.c - answers that go along with SDUs.
 *
 * Promises: what is echoed has its acknowledgement and its credit with it, under every pair of controls, and no record is
 * said for it; over what loses nothing one waits for the next message, for a tick and a half at most, and not where its
 * sender would wait for it; where either end wants them apart, all are records; messages of several SDUs have records; what a line
 * loses, doubles and exchanges comes exactly once all the same; numbers that begin anew are understood; an answer that
 * nobody can have given is counted and changes nothing.
 */
#include "protocols/ncs/ncs_priv.h"

#include "tests/protocols/ncs_fixture.h"
#include "tests/support/xk_test.h"

#define N 60u
#define EACH (20 * XK_MS)

static struct pf f;
static struct xk_sess *ctl, *data;

/* N messages of n bytes, one after the other's echo. */
static void echoes(const struct nf_how *how, uint32_t n)
{
	struct xk_sess *s;

	nf_up(&f, how);
	s = nf_open(&f, "client", 0, 7, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	for (unsigned i = 0; i < N; i++) {
		pf_push(&f, 0, s, nf_bytes, n);
		pf_run(&f, EACH);
		CU_ASSERT_EQUAL(pf_ngot(&f, "client"), i + 1);
	}
}

static uint64_t along(void) { return pf_count(&f, "na", "answers_along") + pf_count(&f, "nb", "answers_along"); }

static void an_echo_has_its_answer_with_it(void)
{
	for (unsigned pair = 0; pair < NF_PAIRS; pair++) {
		const struct nf_how how = { .pair = pair };

		echoes(&how, 100);
		CU_ASSERT(!NF_SURE(pair) || pf_count(&f, "nb", "answers_along") == N);
		CU_ASSERT(pf_count(&f, "nb", "records_out") < 5);
		/* Who does not ask at once says it by a record, and at once. */
		CU_ASSERT(!NF_SURE(pair) || pf_count(&f, "na", "records_out") >= N);
		CU_ASSERT_EQUAL(pf_count(&f, "na", "sdus_repeated") + pf_count(&f, "nb", "sdus_repeated"), 0);
		pf_down(&f);
	}
}

/* With error control each SDU that asks has one. */
static void others_are_records(const struct nf_how *how, uint32_t n)
{
	echoes(how, n);
	CU_ASSERT_EQUAL(along(), 0);
	CU_ASSERT(pf_count(&f, "nb", "records_out") >= N);
	pf_down(&f);
}

static void either_end_may_have_them_apart(void)
{
	const struct nf_how both = { .pair = NF_PAIRS - 1, .ncs = "answers=apart" };
	const struct nf_how one = { .pair = NF_PAIRS - 1, .ncs = "answers=along", .ncs_b = "answers=apart" };
	const struct nf_how other = { .pair = NF_PAIRS - 1, .ncs = "answers=apart", .ncs_b = "answers=along" };

	others_are_records(&both, 100);
	others_are_records(&one, 100);
	others_are_records(&other, 100);
}

static void messages_of_several_sdus_have_records(void)
{
	const struct nf_how how = { .pair = NF_PAIRS - 1, .ncs = "sdu=1000" };

	others_are_records(&how, 3000);
}

static void nothing_is_lost_with_them(void)
{
	static uint8_t b[16384];
	unsigned n = xk_test_rounds(200);
	uint64_t all = 0;

	for (unsigned pair = 0; pair < NF_PAIRS; pair++) {
		const struct nf_how how = { .pair = pair, .ncs = "sdu=1300",
					    .faults = "loss=0.1; dup=0.05; reorder=0.2; delay=1ms" };
		struct xk_sess *s;
		uint32_t got;

		nf_up(&f, &how);
		s = nf_open(&f, "client", 0, 7, NULL);
		CU_ASSERT_PTR_NOT_NULL_FATAL(s);
		for (unsigned i = 0; i < n; i++) {
			pf_push(&f, 0, s, b, nf_make(i, b));
			pf_run(&f, 2 * XK_MS);
		}
		pf_run(&f, 60 * XK_SEC);
		got = nf_judged(&f, n);
		CU_ASSERT(NF_SURE(pair) ? got == n : got <= n);
		all += along();
		pf_close(&f, 0, s);
		pf_run(&f, XK_SEC);
		pf_down(&f);
	}
	CU_ASSERT(all > n / 4);
}

/* As over shm: of an interface that loses nothing. */
static void sure(struct xk_sess *s)
{
	struct ncs_conn *c = &((struct ncs_sess *)(void *)s)->conn, *there = ncs_conn_find(pf_rep(&f, "nb", 0), c->peer_id);

	CU_ASSERT_PTR_NOT_NULL_FATAL(there);
	c->holds = there->holds = true;
}

static void one_waits_for_the_next_message(void)
{
	const struct nf_how how = { .pair = 2 * NF_ERRORS + 2, .ncs = "sdu=1000" };
	uint64_t before;
	struct xk_sess *s;

	nf_up(&f, &how);
	s = nf_open(&f, "client", 0, 7, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	pf_run(&f, EACH);
	sure(s);
	before = pf_count(&f, "na", "records_out");
	for (unsigned i = 0; i < N; i++) {
		pf_push(&f, 0, s, nf_bytes, 100);
		pf_run(&f, 50 * XK_US);
		CU_ASSERT_EQUAL(pf_ngot(&f, "client"), i + 1);
	}
	CU_ASSERT_EQUAL(pf_count(&f, "na", "answers_along"), N - 1);
	CU_ASSERT_EQUAL(pf_count(&f, "na", "records_out"), before);
	pf_run(&f, 2 * XK_MS);                   /* there is none: the last answer is said, and credit */
	CU_ASSERT_EQUAL(pf_count(&f, "na", "records_out"), before + 2);
	pf_push(&f, 0, s, nf_bytes, 9000);       /* who has more is answered at once, and none is said twice */
	pf_run(&f, 50 * XK_US);
	CU_ASSERT_EQUAL(pf_ngot(&f, "client"), N + 1);
	CU_ASSERT_EQUAL(pf_count(&f, "na", "sdus_repeated") + pf_count(&f, "nb", "sdus_repeated"), 0);
	pf_down(&f);
}

/* ---- a peer that says what it likes ------------------------------------------------------------- */

/* A connection of `raw` to the echo, whose numbers begin with start, is opened. */
static void begin(uint32_t start)
{
	const struct nf_how how = { .pair = NF_PAIRS - 1 };
	struct ncs_open o = { .service = 7, .data = 5000, .flow = 2, .error = 2,
			      .a = { .start = start, .flow_window = 8, .first = 8, .most = 8, .rate = 1000000, .sdu = 1000,
				     .error_window = 16 } };
	struct ncs_rec rec = { .type = NCS_OPEN, .len = NCS_REC_LEN + NCS_OPEN_LEN, .conn = 3, .epoch = 77 };
	uint8_t b[128] = { 0 };

	nf_up(&f, &how);
	ctl = nf_open(&f, "raw", 0, NF_CTL, NULL);
	data = nf_open_data(&f);
	CU_ASSERT_TRUE_FATAL(ctl != NULL && data != NULL);
	ncs_rec_store(b, &rec);
	ncs_open_store(b + NCS_REC_LEN, &o);
	pf_push(&f, 0, ctl, b, rec.len);
	pf_run(&f, 10 * XK_MS);
	CU_ASSERT_EQUAL_FATAL(pf_count(&f, "nb", "accepted"), 1);
}

/* SDU i, with an answer. */
static void say(uint32_t start, uint32_t i, uint64_t answer)
{
	struct ncs_hdr h = { { start + i, start + i, 0, 0, NCS_ASK }, 0, 77, answer };
	uint8_t b[NCS_HDR_LEN + 10] = { 0 };

	ncs_hdr_store(b, &h);
	pf_push(&f, 0, data, b, sizeof b);
	pf_run(&f, XK_MS);
}

static uint64_t answer(uint32_t base, uint32_t echo, uint32_t off)
{
	return NCS_ALONG | NCS_ALONG_ACK | NCS_ALONG_VALUE | (uint64_t)(off & 0xfff) << NCS_ALONG_OFF |
	       (uint64_t)(base & 0xffffff) << NCS_ALONG_BASE | (echo & 0xffffff);
}

static void end(void)
{
	pf_close(&f, 0, ctl);
	pf_close(&f, 0, data);
	pf_down(&f);
}

static const struct ncs_conn *theirs(void) { return ncs_conn_find(pf_rep(&f, "nb", 0), 0); }

/* All of its echoes are acknowledged, with the SDU after each: credit for 8 more each time, so none is ever lacking. */
static void numbers_begin_anew(void)
{
	static const uint32_t starts[] = { 0, 0xfffff0, 0xfffffff0, 0x7ffffff0 };

	for (unsigned k = 0; k < XK_ARRAY_LEN(starts); k++) {
		uint32_t start = starts[k];

		begin(start);
		say(start, 0, 0);
		for (uint32_t i = 1; i < 40; i++) {
			say(start, i, answer(start + i, start + i - 1, 8));
			CU_ASSERT_PTR_NOT_NULL_FATAL(theirs());
			CU_ASSERT_EQUAL(ncs_tx_done(theirs()->tx), start + i);
		}
		CU_ASSERT_EQUAL(pf_count(&f, "nb", "messages_in"), 40);
		CU_ASSERT_EQUAL(pf_count(&f, "nb", "sdus_out"), 40);
		CU_ASSERT_EQUAL(pf_drops(&f, "nb", "bad_record"), 0);
		end();
	}
}

static void what_nobody_can_say_changes_nothing(void)
{
	begin(100);
	say(100, 0, 0);
	/* Acknowledges what was not sent: its bits are those of numbers 2^24 below. */
	say(100, 1, answer(100 + 5, 100, 8));
	CU_ASSERT_EQUAL(ncs_tx_done(theirs()->tx), 100);
	/* Less credit than was given, and much more than numbers tell apart: refused, as a record is. */
	say(100, 2, answer(101, 100, (uint32_t)-2000));
	CU_ASSERT_EQUAL(ncs_tx_done(theirs()->tx), 101);
	say(100, 3, answer(102, 101, 2000));
	CU_ASSERT_EQUAL(ncs_tx_done(theirs()->tx), 102);
	CU_ASSERT_EQUAL(pf_count(&f, "nb", "messages_in"), 4);
	/* So credit is what it was: 8 in all. */
	for (uint32_t i = 4; i < 12; i++)
		say(100, i, 0);
	CU_ASSERT_EQUAL(pf_count(&f, "nb", "sdus_out") - pf_count(&f, "nb", "sdus_repeated"), 8);
	end();
}

static CU_TestInfo tests[] = {
	{ "an_echo_has_its_answer_with_it", an_echo_has_its_answer_with_it },
	{ "one_waits_for_the_next_message", one_waits_for_the_next_message },
	{ "either_end_may_have_them_apart", either_end_may_have_them_apart },
	{ "messages_of_several_sdus_have_records", messages_of_several_sdus_have_records },
	{ "nothing_is_lost_with_them", nothing_is_lost_with_them },
	{ "numbers_begin_anew", numbers_begin_anew },
	{ "what_nobody_can_say_changes_nothing", what_nobody_can_say_changes_nothing },
	CU_TEST_INFO_NULL
};

int main(void)
{
	static const CU_SuiteInfo suites[] = { { .pName = "ncs_along", .pTests = tests }, CU_SUITE_INFO_NULL };

	return xk_test_main(suites);
}

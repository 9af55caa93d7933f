/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_ncs_life.c - peers of ncs that are gone, that have started anew, or that know nothing of a connection.
 *
 * Promises: a peer that is gone is noticed though nothing is waited for, within give_up, and one that is
 * there is not given up however long both say nothing; who has started anew is known by his epoch when he
 * is asked; who speaks of a connection that there is not is told at once; a connection that a late second
 * OPEN made goes, though the first CLOSE was lost; old answers, and answers of others, mean nothing; whatever is lost of
 * what ends a connection, it ends at both.
 */
#include "protocols/ncs/ncs_hdr.h"

#include "runtime/mem/xk_alloc.h"
#include "tests/protocols/ncs_fixture.h"
#include "tests/support/xk_test.h"

#include <stdio.h>
#include <string.h>

static struct pf f;

static void up(const char *params, const char *faults, bool stream)
{
	const struct nf_how how = { .pair = NF_PAIRS - 1, .ncs = params, .faults = faults, .stream = stream };

	nf_up(&f, &how);
}

/* ---- there, or gone --------------------------------------------------------------------------------- */

static void who_is_there_is_not_given_up(void)
{
	for (unsigned k = 0; k < 2; k++) {
		struct xk_sess *s;

		up("give_up=2s", NULL, k != 0);
		s = nf_open(&f, "client", 0, 7, NULL);
		CU_ASSERT_PTR_NOT_NULL_FATAL(s);
		pf_run(&f, 100 * XK_SEC);
		CU_ASSERT_EQUAL(pf_upper_of(&f, "client")->close_dones, 0);
		CU_ASSERT(pf_count(&f, "na", "records_out") < 500);
		pf_push(&f, 0, s, nf_bytes, 5000);
		pf_run(&f, 100 * XK_MS);
		CU_ASSERT_EQUAL(pf_ngot(&f, "client"), 1);
		pf_close(&f, 0, s);
		pf_run(&f, XK_SEC);
		pf_down(&f);
	}
}

/* The line is cut when nobody waits for anything. */
static void who_is_gone_is_missed(void)
{
	for (unsigned k = 0; k < 2; k++) {
		struct xk_sess *s;

		up("give_up=4s", NULL, k != 0);
		s = nf_open(&f, "client", 0, 7, NULL);
		CU_ASSERT_PTR_NOT_NULL_FATAL(s);
		pf_push(&f, 0, s, nf_bytes, 5000);
		pf_run(&f, 500 * XK_MS);
		CU_ASSERT_EQUAL(pf_ngot(&f, "client"), 1);
		nf_cut(&f, true);
		pf_run(&f, 3 * XK_SEC);
		CU_ASSERT_EQUAL(pf_upper_of(&f, "client")->close_dones, 0);
		CU_ASSERT_EQUAL(pf_sessions(&f, "echo"), 1);
		pf_run(&f, 2 * XK_SEC);
		CU_ASSERT_EQUAL(pf_upper_of(&f, "client")->close_dones, 1);
		CU_ASSERT_EQUAL(pf_sessions(&f, "echo"), 0);
		CU_ASSERT_EQUAL(pf_count(&f, "na", "given_up"), 1);
		CU_ASSERT_EQUAL(pf_count(&f, "nb", "given_up"), 1);
		pf_close(&f, 0, s);
		pf_run(&f, 100 * XK_SEC);
		pf_down(&f);
	}
}

/* The line is cut for most of give_up: what is waited for is asked for soon enough behind that. */
static void a_line_that_is_back_is_found(void)
{
	struct xk_sess *s;

	for (unsigned opening = 0; opening < 2; opening++) {
		up("give_up=10s", NULL, false);
		if (opening != 0)
			nf_cut(&f, true);
		s = nf_open(&f, "client", 0, 7, NULL);
		CU_ASSERT_PTR_NOT_NULL_FATAL(s);
		if (opening == 0) {
			pf_push(&f, 0, s, nf_bytes, 5000);
			pf_run(&f, XK_SEC);
			nf_cut(&f, true);
		}
		pf_push(&f, 0, s, nf_bytes, 5000);
		pf_run(&f, 7500 * XK_MS);
		nf_cut(&f, false);
		pf_run(&f, 2 * XK_SEC);
		CU_ASSERT_EQUAL(pf_ngot(&f, "client"), opening == 0 ? 2 : 1);
		CU_ASSERT_EQUAL(pf_upper_of(&f, "client")->close_dones, 0);
		pf_close(&f, 0, s);
		pf_run(&f, XK_SEC);
		pf_down(&f);
	}
}

/* ---- a peer that a test plays ---------------------------------------------------------------------------- */

static uint32_t nheard;                  /* of raw's messages, looked at */
static uint16_t epoch;

/* The first record of that type since the last look. */
static bool heard(uint8_t type, struct ncs_rec *rec)
{
	while (nheard < pf_ngot(&f, "raw")) {
		const struct pf_rec *got = pf_got(&f, "raw", nheard++);

		for (uint32_t at = 0; at < got->len && ncs_rec_load(got->bytes + at, got->len - at, rec); at += rec->len)
			if (rec->type == type)
				return true;
	}
	return false;
}

static void say(struct xk_sess *s, uint8_t type, uint32_t conn, uint32_t value)
{
	struct ncs_rec rec = { .type = type, .len = NCS_REC_LEN + 4, .conn = conn, .epoch = epoch };
	uint8_t b[NCS_REC_LEN + 4];

	ncs_rec_store(b, &rec);
	xk_put_be32(b + NCS_REC_LEN, value);
	pf_push(&f, 0, s, b, sizeof b);
	pf_run(&f, XK_MS);
}

static void say_open(struct xk_sess *s, uint32_t id)
{
	struct ncs_rec rec = { .type = NCS_OPEN, .len = NCS_REC_LEN + NCS_OPEN_LEN, .conn = id, .epoch = epoch };
	struct ncs_open o = { .service = 7, .data = 5000,
			      .a = { .flow_window = 8, .first = 2, .most = 8, .rate = 1000000,
				     .sdu = 1000, .error_window = 8 } };
	uint8_t b[NCS_REC_LEN + NCS_OPEN_LEN];

	ncs_rec_store(b, &rec);
	ncs_open_store(b + NCS_REC_LEN, &o);
	pf_push(&f, 0, s, b, sizeof b);
	pf_run(&f, XK_MS);
}

/* A peer with a connection, whose number at the other end is *id. */
static struct xk_sess *played(uint32_t *id, uint16_t *their_epoch)
{
	struct xk_sess *s;
	struct ncs_rec rec;

	nheard = 0;
	epoch = 77;
	up("give_up=10s", NULL, false);
	s = nf_open(&f, "raw", 0, NF_CTL, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	say_open(s, 3);
	CU_ASSERT_TRUE_FATAL(heard(NCS_ACCEPT, &rec) && rec.len == NCS_REC_LEN + 4);
	*id = xk_be32(rec.v);
	*their_epoch = rec.epoch;
	return s;
}

/* Answers to all that was asked since; other records are still to be heard. */
static void pongs(struct xk_sess *s)
{
	unsigned at = nheard;
	struct ncs_rec rec;

	while (heard(NCS_PING, &rec))
		say(s, NCS_PONG, 0, xk_be32(rec.v));
	nheard = at;
}

/* It answers what it is asked, but for one kind, for n seconds. */
static unsigned answers(struct xk_sess *s, unsigned n, bool confirm)
{
	unsigned asked = 0;

	for (unsigned i = 0; i < n * 10; i++) {
		struct ncs_rec rec;

		pongs(s);
		while (heard(NCS_ACCEPT, &rec)) {
			asked++;
			if (confirm)
				say(s, NCS_CONFIRM, xk_be32(rec.v), 0);
		}
		pf_run(&f, 100 * XK_MS);
	}
	return asked;
}

static void who_was_accepted_is_asked_until_he_confirms(void)
{
	uint32_t id;
	uint16_t theirs;
	struct xk_sess *s = played(&id, &theirs);
	unsigned n = answers(s, 64, false);

	CU_ASSERT(n >= 4 && n <= 8);             /* ever further apart */
	CU_ASSERT_EQUAL(pf_sessions(&f, "echo"), 1);
	CU_ASSERT_EQUAL(answers(s, 60, true), 1);
	CU_ASSERT_EQUAL(answers(s, 60, true), 0);
	CU_ASSERT_EQUAL(pf_sessions(&f, "echo"), 1);
	pf_close(&f, 0, s);
	pf_down(&f);
}

/* What real peers do about what they did not ask for: once it does not arrive. */
static void a_connection_that_nobody_wants_goes(void)
{
	uint32_t id;
	uint16_t theirs;
	struct xk_sess *s = played(&id, &theirs);
	struct ncs_rec rec;

	pf_run(&f, 1500 * XK_MS);                /* the CLOSE that answered the first ACCEPT was lost */
	CU_ASSERT_TRUE(heard(NCS_ACCEPT, &rec));
	say(s, NCS_CLOSE, id, UINT32_MAX);
	CU_ASSERT_EQUAL(pf_sessions(&f, "echo"), 0);
	CU_ASSERT_EQUAL(pf_sessions(&f, "nb"), 1);
	say(s, NCS_CLOSE, id, UINT32_MAX);
	CU_ASSERT_EQUAL(pf_sessions(&f, "nb"), 1);
	pf_close(&f, 0, s);
	pf_down(&f);
}

/* The OPEN came through another port first, which is nobody's: one of its bits was changed. */
static void an_open_from_a_wrong_port_is_in_nobodys_way(void)
{
	uint32_t id;
	uint16_t theirs;
	struct xk_sess *wrong = played(&id, &theirs), *s = nf_open(&f, "raw", 0, NF_CTL, NULL);
	struct ncs_rec rec;

	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	say_open(s, 3);
	CU_ASSERT_TRUE(heard(NCS_ACCEPT, &rec));
	CU_ASSERT_EQUAL(pf_count(&f, "nb", "accepted"), 2);
	CU_ASSERT_EQUAL(pf_count(&f, "nb", "refused"), 0);
	CU_ASSERT_EQUAL(pf_sessions(&f, "echo"), 1);
	say(s, NCS_CONFIRM, xk_be32(rec.v), 0);
	say_open(wrong, 3);                      /* once it is known that way it stays */
	CU_ASSERT_EQUAL(pf_count(&f, "nb", "refused"), 1);
	CU_ASSERT_EQUAL(pf_sessions(&f, "echo"), 1);
	pf_close(&f, 0, s);
	pf_close(&f, 0, wrong);
	pf_down(&f);
}

static void who_started_anew_is_known_by_his_epoch(void)
{
	uint32_t id, asked;
	uint16_t theirs;
	struct xk_sess *s = played(&id, &theirs);
	struct ncs_rec rec;

	say(s, NCS_CONFIRM, id, 0);
	pf_run(&f, 1100 * XK_MS);
	CU_ASSERT_TRUE_FATAL(heard(NCS_PING, &rec));
	asked = xk_be32(rec.v);
	epoch = 78;
	say(s, NCS_PONG, 0, asked - 1);          /* an old answer */
	say(s, NCS_PONG, 0, asked + 1);
	CU_ASSERT_EQUAL(pf_count(&f, "nb", "lost"), 0);
	epoch = 77;
	say(s, NCS_PONG, 0, asked);
	epoch = 78;
	say(s, NCS_PONG, 0, asked);              /* it was answered */
	CU_ASSERT_EQUAL(pf_count(&f, "nb", "lost"), 0);
	say(s, NCS_CREDIT, id, 5);               /* of another epoch: it is asked at once */
	CU_ASSERT_TRUE_FATAL(heard(NCS_PING, &rec));
	CU_ASSERT_EQUAL(pf_count(&f, "nb", "lost"), 0);
	say(s, NCS_PONG, 0, xk_be32(rec.v));
	CU_ASSERT_EQUAL(pf_count(&f, "nb", "lost"), 1);
	CU_ASSERT_EQUAL(pf_sessions(&f, "echo"), 0);
	pf_close(&f, 0, s);
	pf_down(&f);
}

static void who_speaks_of_what_there_is_not_is_told(void)
{
	static const uint8_t types[] = { NCS_CREDIT, NCS_QUERY };
	uint32_t id;
	uint16_t theirs;
	struct xk_sess *s = played(&id, &theirs);
	struct ncs_rec rec;

	for (unsigned i = 0; i < XK_ARRAY_LEN(types); i++) {
		say(s, types[i], id + 5 + i, 1);
		CU_ASSERT_TRUE_FATAL(heard(NCS_RESET, &rec));
		CU_ASSERT_EQUAL(rec.conn, id + 5 + i);
		CU_ASSERT_EQUAL(xk_be32(rec.v), epoch);
		CU_ASSERT_EQUAL(rec.epoch, theirs);
	}
	say(s, NCS_RESET, id + 5, theirs);       /* no reset is answered */
	say(s, NCS_CLOSED, id + 5, 0);
	CU_ASSERT_FALSE(heard(NCS_RESET, &rec));
	pf_close(&f, 0, s);
	pf_down(&f);
}

static void a_reset_ends_what_it_names(void)
{
	uint32_t id;
	uint16_t theirs;
	struct xk_sess *s = played(&id, &theirs);

	say(s, NCS_RESET, 4, theirs);            /* another connection, another process here, another there */
	say(s, NCS_RESET, 3, theirs ^ 1u);
	epoch = 78;
	say(s, NCS_RESET, 3, theirs);
	epoch = 77;
	CU_ASSERT_EQUAL(pf_count(&f, "nb", "lost"), 0);
	say(s, NCS_RESET, 3, theirs);
	CU_ASSERT_EQUAL(pf_count(&f, "nb", "lost"), 1);
	CU_ASSERT_EQUAL(pf_sessions(&f, "echo"), 0);
	pf_close(&f, 0, s);
	pf_down(&f);
}

/* ---- the end, and what is lost of it ------------------------------------------------------------------------ */

/* A message there and back, and a close, where frame `down` of A's and frame `up` to A are lost; 0: none. */
static void ends_though(unsigned down, unsigned up_to)
{
	char faults[80];
	struct xk_sess *s;

	snprintf(faults, sizeof faults, "fates=down %u lost,up %u lost", down != 0 ? down : 9999, up_to != 0 ? up_to : 9999);
	up("give_up=20s", faults, false);
	s = nf_open(&f, "client", 0, 7, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	pf_push(&f, 0, s, nf_bytes, 2000);
	for (unsigned i = 0; i < 100 && pf_ngot(&f, "client") == 0; i++)
		pf_run(&f, 100 * XK_MS);
	CU_ASSERT_EQUAL(pf_ngot(&f, "client"), 1);
	pf_close(&f, 0, s);
	pf_run(&f, 15 * XK_SEC);
	CU_ASSERT_EQUAL(pf_sessions(&f, "echo"), 0);
	CU_ASSERT_EQUAL(pf_sessions(&f, "na"), 1);       /* the control connection */
	CU_ASSERT_EQUAL(pf_sessions(&f, "nb"), 1);
	CU_ASSERT_EQUAL(pf_count(&f, "na", "closes_unheard"), 0);
	pf_down(&f);
}

static void whichever_frame_is_lost_both_end(void)
{
	unsigned most = (unsigned)xk_test_rounds(9);

	for (unsigned down = 0; down <= most; down++)
		for (unsigned up_to = 0; up_to <= most; up_to++)
			ends_though(down, up_to);
}

/* Nothing arrives any more from the close on. */
static void a_close_that_nobody_hears_is_counted(void)
{
	struct xk_sess *s;

	up("give_up=4s", NULL, false);
	s = nf_open(&f, "client", 0, 7, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	pf_push(&f, 0, s, nf_bytes, 2000);
	pf_run(&f, 500 * XK_MS);
	nf_cut(&f, true);
	pf_close(&f, 0, s);
	pf_run(&f, 10 * XK_SEC);
	CU_ASSERT_EQUAL(pf_count(&f, "na", "closes_unheard"), 1);
	CU_ASSERT_EQUAL(pf_sessions(&f, "na"), 1);
	CU_ASSERT_EQUAL(pf_sessions(&f, "echo"), 0);
	pf_down(&f);
}

/* Each CLOSE of the peer that is played was lost, or is not said: it is there, and has no such connection.  n: for so
 * many seconds; it says of the connection what `with` is.  How often it was asked. */
static unsigned is_asked(struct xk_sess *s, unsigned n, uint8_t with, uint32_t id, uint16_t theirs)
{
	unsigned asked = 0;

	for (unsigned i = 0; i < n * 10; i++) {
		struct ncs_rec rec;

		pongs(s);
		while (heard(NCS_CHECK, &rec)) {
			CU_ASSERT_EQUAL(rec.conn, 3);
			asked++;
			if (with == NCS_RESET)
				say(s, NCS_RESET, rec.conn, theirs);
			else if (with != 0)
				say(s, with, id, 0);
		}
		pf_run(&f, 100 * XK_MS);
	}
	return asked;
}

/* A peer that is there, and never acknowledges what it asked to be echoed.  *said: CLOSEs in three seconds; it answers
 * the second, if `answers`. */
static void given_up_by(bool answers_it, unsigned *said)
{
	struct ncs_hdr h = { { 0, 0, 0, 0, NCS_ASK }, 0, 77, 0 };
	struct ncs_open o = { .service = 7, .data = 5000, .error = 2,
			      .a = { .flow_window = 8, .first = 2, .most = 8, .rate = 1000000, .sdu = 1000, .error_window = 8 } };
	struct ncs_rec rec = { .type = NCS_OPEN, .len = NCS_REC_LEN + NCS_OPEN_LEN, .conn = 3, .epoch = 77 };
	uint8_t b[128] = { 0 };
	struct xk_sess *s, *data;

	nheard = *said = 0;
	epoch = 77;
	up("give_up=1s", NULL, false);
	s = nf_open(&f, "raw", 0, NF_CTL, NULL);
	data = nf_open_data(&f);
	CU_ASSERT_TRUE_FATAL(s != NULL && data != NULL);
	ncs_rec_store(b, &rec);
	ncs_open_store(b + NCS_REC_LEN, &o);
	pf_push(&f, 0, s, b, rec.len);
	pf_run(&f, 10 * XK_MS);
	ncs_hdr_store(b, &h);
	pf_push(&f, 0, data, b, NCS_HDR_LEN + 10);
	for (unsigned i = 0; i < 40; i++) {
		pongs(s);
		while (heard(NCS_CLOSE, &rec))
			if (++*said == 2 && answers_it)
				say(s, NCS_CLOSED, xk_be32(rec.v), 0);
		pf_run(&f, 50 * XK_MS);
	}
	CU_ASSERT_EQUAL(pf_count(&f, "nb", "given_up"), 1);
	CU_ASSERT_EQUAL(pf_sessions(&f, "echo"), 0);
	pf_run(&f, 2 * XK_SEC);
	CU_ASSERT_EQUAL(pf_sessions(&f, "nb"), 1);
	CU_ASSERT_EQUAL(pf_count(&f, "nb", "closes_unheard"), !answers_it);
	pf_close(&f, 0, s);
	pf_close(&f, 0, data);
	pf_down(&f);
}

static void who_gives_up_says_so_until_it_is_heard(void)
{
	unsigned said;

	given_up_by(false, &said);
	CU_ASSERT(said >= 3);
	given_up_by(true, &said);
	CU_ASSERT_EQUAL(said, 2);
}

static void who_was_left_half_open_finds_out(void)
{
	uint32_t id;
	uint16_t theirs;
	struct xk_sess *s = played(&id, &theirs);
	unsigned n;

	say(s, NCS_CONFIRM, id, 0);
	n = is_asked(s, 60, NCS_CONFIRM, id, theirs);
	CU_ASSERT(n >= 9 && n <= 12);            /* every half of give_up, once it is answered */
	n = is_asked(s, 30, 0, id, theirs);
	CU_ASSERT(n >= 20 && n <= 30);           /* again and again, while it is not: what is there is not given up by that */
	CU_ASSERT_EQUAL(pf_sessions(&f, "echo"), 1);
	CU_ASSERT_EQUAL(is_asked(s, 5, NCS_RESET, id, theirs), 1);
	CU_ASSERT_EQUAL(pf_sessions(&f, "echo"), 0);
	CU_ASSERT_EQUAL(pf_count(&f, "nb", "lost"), 1);
	CU_ASSERT_EQUAL(is_asked(s, 30, NCS_RESET, id, theirs), 0);
	pf_close(&f, 0, s);
	pf_down(&f);
}

static void who_asks_whether_it_is_there_is_answered(void)
{
	uint32_t id;
	uint16_t theirs;
	struct xk_sess *s = played(&id, &theirs);
	struct ncs_rec rec;

	say(s, NCS_CHECK, id, 0);
	CU_ASSERT_TRUE_FATAL(heard(NCS_CONFIRM, &rec));
	CU_ASSERT_EQUAL(rec.conn, 3);
	say(s, NCS_CHECK, id + 5, 0);
	CU_ASSERT_TRUE_FATAL(heard(NCS_RESET, &rec));
	CU_ASSERT_EQUAL(rec.conn, id + 5);
	CU_ASSERT_EQUAL(xk_be32(rec.v), epoch);
	pf_close(&f, 0, s);
	pf_down(&f);
}

/* Given up, it is said so for as long again, and nothing else. */
static void what_is_closing_says_nothing_but_close(void)
{
	uint32_t id;
	uint16_t theirs;
	struct xk_sess *s = played(&id, &theirs);
	struct ncs_rec rec;

	pf_run(&f, 11 * XK_SEC);
	CU_ASSERT_EQUAL(pf_count(&f, "nb", "given_up"), 1);
	CU_ASSERT_TRUE(heard(NCS_CLOSE, &rec));
	nheard = pf_ngot(&f, "raw");
	say(s, NCS_CHECK, id, 0);
	CU_ASSERT_TRUE_FATAL(heard(NCS_CLOSE, &rec));
	CU_ASSERT_EQUAL(rec.conn, 3);
	CU_ASSERT_EQUAL(xk_be32(rec.v), id);
	nheard = pf_ngot(&f, "raw");
	say(s, NCS_ACCEPT, id, 3);
	say(s, NCS_QUERY, id, 9);
	CU_ASSERT_EQUAL(pf_ngot(&f, "raw"), nheard);
	say(s, NCS_CLOSED, id, 0);
	say(s, NCS_CHECK, id, 0);
	CU_ASSERT_TRUE_FATAL(heard(NCS_RESET, &rec));    /* now it is gone */
	pf_close(&f, 0, s);
	pf_down(&f);
}

static CU_TestInfo life[] = {
	{ "what_is_closing_says_nothing_but_close", what_is_closing_says_nothing_but_close },
	{ "who_is_there_is_not_given_up", who_is_there_is_not_given_up },
	{ "who_is_gone_is_missed", who_is_gone_is_missed },
	{ "a_line_that_is_back_is_found", a_line_that_is_back_is_found },
	{ "who_was_accepted_is_asked_until_he_confirms", who_was_accepted_is_asked_until_he_confirms },
	{ "a_connection_that_nobody_wants_goes", a_connection_that_nobody_wants_goes },
	{ "an_open_from_a_wrong_port_is_in_nobodys_way", an_open_from_a_wrong_port_is_in_nobodys_way },
	{ "who_started_anew_is_known_by_his_epoch", who_started_anew_is_known_by_his_epoch },
	{ "who_speaks_of_what_there_is_not_is_told", who_speaks_of_what_there_is_not_is_told },
	{ "a_reset_ends_what_it_names", a_reset_ends_what_it_names },
	{ "whichever_frame_is_lost_both_end", whichever_frame_is_lost_both_end },
	{ "a_close_that_nobody_hears_is_counted", a_close_that_nobody_hears_is_counted },
	{ "who_gives_up_says_so_until_it_is_heard", who_gives_up_says_so_until_it_is_heard },
	{ "who_was_left_half_open_finds_out", who_was_left_half_open_finds_out },
	{ "who_asks_whether_it_is_there_is_answered", who_asks_whether_it_is_there_is_answered },
	CU_TEST_INFO_NULL
};

int main(void)
{
	static const CU_SuiteInfo suites[] = { { .pName = "ncs_life", .pTests = life }, CU_SUITE_INFO_NULL };

	return xk_test_main(suites);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_ncs_hello.c - what both ends of ncs tell of themselves, and the key of a job.
 *
 * Promises: who has another version or number of ranks is refused by a sentence that says both; a message that the
 * peer does not take is dropped where it is pushed, or ends the connection where it was pushed before that was known;
 * who has another key, or none, opens nothing, is told nothing and is counted; who has the same one is let in, also
 * where datagrams are lost; a key that was said once opens nothing more; who may ask one that has begun anew says the
 * key again; no order of words that is another makes a group; a HELLO may be longer than ours.
 */
#include "protocols/ncs/ncs_hdr.h"
#include "protocols/ncs/xk_ncs.h"

#include "runtime/mem/xk_alloc.h"
#include "tests/protocols/ncs_fixture.h"
#include "tests/support/xk_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct pf f;
static unsigned seen;                    /* of raw's messages */

static void up(const char *params, const char *faults, const char *job)
{
	const struct nf_how how = { .pair = NF_PAIRS - 1, .ncs = params, .faults = faults, .job = job };

	seen = 0;
	nf_up(&f, &how);
}

/* ---- a peer that a test plays ------------------------------------------------------------------------- */

struct says { uint16_t version; uint8_t order; uint32_t rank, ranks; const char *key; uint32_t group; bool longer, opens; };

static uint8_t order_here(void)
{
	const uint16_t one = 1;

	return *(const uint8_t *)&one == 1 ? NCS_LITTLE : NCS_BIG;
}

/* HELLO, and OPEN of a connection that is called 3, to the service of `process`, or the echo, in one datagram. */
static uint32_t greeting(uint8_t *b, const struct says *w)
{
	struct ncs_rec rec = { .type = NCS_HELLO, .len = NCS_REC_LEN + NCS_HELLO_REC + (w->longer ? 8 : 0), .epoch = 77 };
	struct ncs_open o = { .service = w->ranks != 0 ? 8 : 7, .data = 5000,
			      .a = { .flow_window = 8, .first = 2, .most = 8, .rate = 1000000, .sdu = 1000, .error_window = 8 } };
	uint8_t key[NCS_KEY_LEN] = { 0 };
	struct ncs_hello h = { w->version, w->order, w->rank, w->ranks, 5000, key, false };
	uint32_t n = 0;

	if (w->key != NULL)
		memcpy(key, w->key, strlen(w->key));
	if (w->version != 0) {
		memset(b, 0, rec.len);
		ncs_rec_store(b, &rec);
		ncs_hello_store(b + NCS_REC_LEN, &h);
		n = rec.len;
	}
	if (!w->opens)
		return n;
	rec = (struct ncs_rec){ .type = NCS_OPEN, .len = NCS_REC_LEN + NCS_OPEN_LEN + NCS_HELLO_LEN, .conn = 3, .epoch = 77 };
	ncs_rec_store(b + n, &rec);
	ncs_open_store(b + n + NCS_REC_LEN, &o);
	memset(b + n + NCS_REC_LEN + NCS_OPEN_LEN, 0, NCS_HELLO_LEN);
	xk_put_be32(b + n + NCS_REC_LEN + NCS_OPEN_LEN, w->ranks != 0 ? 1 : 0);          /* of rank 1, thread 0 to 0 */
	xk_put_be32(b + n + NCS_REC_LEN + NCS_OPEN_LEN + 8, w->group);
	return n + rec.len;
}

/* The first record of that type since the last look. */
static bool heard(uint8_t type, struct ncs_rec *rec)
{
	while (seen < pf_ngot(&f, "raw")) {
		const struct pf_rec *got = pf_got(&f, "raw", seen++);

		for (uint32_t at = 0; at < got->len && ncs_rec_load(got->bytes + at, got->len - at, rec); at += rec->len)
			if (rec->type == type)
				return true;
	}
	return false;
}

static void says_on(struct xk_sess *s, const struct says *w)
{
	uint8_t b[400];

	pf_push(&f, 0, s, b, greeting(b, w));
	pf_run(&f, 20 * XK_MS);
}

static struct xk_sess *says(const struct says *w)
{
	struct xk_sess *s = nf_open(&f, "raw", 0, NF_CTL, NULL);

	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	says_on(s, w);
	return s;
}

/* A record of that type with one word, about a connection that there is not, behind what w says. */
static void asks_on(struct xk_sess *s, const struct says *w, uint8_t type)
{
	const struct ncs_rec rec = { .type = type, .len = NCS_REC_LEN + 4, .conn = 9, .epoch = 77 };
	uint8_t b[400];
	uint32_t n = greeting(b, w);

	ncs_rec_store(b + n, &rec);
	xk_put_be32(b + n + NCS_REC_LEN, 5);
	pf_push(&f, 0, s, b, n + rec.len);
	pf_run(&f, 20 * XK_MS);
}

static bool refused_by(const char *why)
{
	struct ncs_rec rec;
	char text[64] = "";

	if (!heard(NCS_REFUSE, &rec) || rec.len <= NCS_REC_LEN + 4 || rec.len > NCS_REC_LEN + 4 + 60)
		return false;
	memcpy(text, rec.v + 4, rec.len - NCS_REC_LEN - 4);
	if (strcmp(text, why) != 0)
		printf("# '%s'\n", text);
	return strcmp(text, why) == 0;
}

/* ---- misfits ---------------------------------------------------------------------------------------------- */

static void another_version_is_refused_by_a_sentence(void)
{
	struct xk_sess *s;
	struct ncs_rec rec;

	up(NULL, NULL, NULL);
	s = says(&(struct says){ .version = NCS_VERSION + 1, .order = order_here(), .rank = NCS_NO_RANK, .opens = true });
	CU_ASSERT_TRUE(refused_by("version 1 here, 2 there"));
	seen = 0;
	CU_ASSERT_TRUE(heard(NCS_HELLO, &rec));  /* and it hears what is here */
	CU_ASSERT_EQUAL(xk_be16(rec.v), NCS_VERSION);
	CU_ASSERT_EQUAL(pf_sessions(&f, "echo"), 0);
	pf_close(&f, 0, s);
	pf_down(&f);
}

/* The asker has said none: there is no more in the answer than there was in the question. */
static void who_says_no_hello_gets_none(void)
{
	struct xk_sess *s;
	struct ncs_rec rec;

	up(NULL, NULL, NULL);
	s = says(&(struct says){ .opens = true });
	CU_ASSERT_TRUE(heard(NCS_ACCEPT, &rec));
	seen = 0;
	CU_ASSERT_FALSE(heard(NCS_HELLO, &rec));
	pf_close(&f, 0, s);
	pf_down(&f);
}

static void a_longer_hello_is_as_good(void)
{
	struct xk_sess *s;
	struct ncs_rec rec;

	up(NULL, NULL, NULL);
	s = says(&(struct says){ .version = NCS_VERSION, .order = order_here(), .rank = NCS_NO_RANK, .longer = true, .opens = true });
	CU_ASSERT_TRUE(heard(NCS_ACCEPT, &rec));
	CU_ASSERT_EQUAL(pf_drops(&f, "nb", NULL), 0);
	pf_close(&f, 0, s);
	pf_down(&f);
}

static void another_number_of_ranks_is_refused(void)
{
	struct xk_sess *s;

	up(NULL, NULL, "service=8");
	s = says(&(struct says){ .version = NCS_VERSION, .order = order_here(), .rank = 1, .ranks = 3, .opens = true });
	CU_ASSERT_TRUE(refused_by("a job of 2 ranks here, of 3 there"));
	pf_close(&f, 0, s);
	pf_down(&f);
}

/* Rank 1 opens, on a connection whose HELLO was of `rank`, and whose words have `order`: is it taken? */
static bool taken(uint32_t rank, uint8_t order, uint32_t group)
{
	struct xk_ncs_thread *t;
	struct xk_sess *s;
	struct ncs_rec rec;
	bool in;

	up(NULL, NULL, "service=8");
	CU_ASSERT_EQUAL_FATAL(xk_ncs_attach(pf_node(&f, "job"), 0, &t), XK_OK);
	s = says(&(struct says){ .version = NCS_VERSION, .order = order, .rank = rank, .ranks = 2, .group = group, .opens = true });
	in = heard(NCS_ACCEPT, &rec);
	seen = 0;
	CU_ASSERT_EQUAL(heard(NCS_REFUSE, &rec), !in);
	pf_close(&f, 0, s);
	xk_ncs_detach(t);
	xk_ncs_stop(pf_node(&f, "job"));
	pf_down(&f);
	return in;
}

static void who_says_two_ranks_is_refused(void)
{
	CU_ASSERT_TRUE(taken(1, order_here(), 0));
	CU_ASSERT_TRUE(taken(NCS_NO_RANK, order_here(), 0));
	CU_ASSERT_FALSE(taken(0, order_here(), 0));
}

static void words_of_another_order_are_in_no_group(void)
{
	uint8_t other = order_here() == NCS_LITTLE ? NCS_BIG : NCS_LITTLE;

	CU_ASSERT_TRUE(taken(1, other, 0));
	CU_ASSERT_TRUE(taken(1, order_here(), 0x80000000u));
	CU_ASSERT_FALSE(taken(1, other, 0x80000000u));
}

/* ---- lengths ------------------------------------------------------------------------------------------------ */

static void up_unequal(const char *a, const char *b, const char *faults)
{
	const struct nf_how how = { .pair = NF_PAIRS - 1, .ncs = a, .ncs_b = b, .faults = faults };

	seen = 0;
	nf_up(&f, &how);
}

static uint32_t longest(struct xk_sess *s)
{
	uint32_t most = 0;

	pf_enter(&f, 0);
	CU_ASSERT_EQUAL(xk_sess_control(s, XK_CTL_GETMAXPACKET, &most, sizeof most), (int)sizeof most);
	pf_leave(&f, 0);
	return most;
}

static void what_the_peer_does_not_take_is_dropped_where_it_is_pushed(void)
{
	struct xk_sess *s;

	up_unequal("message=100000", "message=20000", NULL);
	s = nf_open(&f, "client", 0, 7, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	CU_ASSERT_EQUAL(longest(s), 100000);     /* it is not known yet */
	pf_run(&f, 100 * XK_MS);
	CU_ASSERT_EQUAL(longest(s), 20000);
	pf_push(&f, 0, s, nf_bytes, 20001);
	CU_ASSERT_EQUAL(pf_drops(&f, "na", "too_long"), 1);
	pf_push(&f, 0, s, nf_bytes, 20000);
	pf_run(&f, XK_SEC);
	CU_ASSERT_EQUAL(pf_ngot(&f, "client"), 1);
	pf_close(&f, 0, s);
	pf_run(&f, XK_SEC);
	CU_ASSERT_EQUAL(pf_sessions(&f, "echo"), 0);
	pf_down(&f);
}

static void what_waits_and_is_too_long_ends_the_connection(void)
{
	struct ncs_ended e = { .err = 0 };
	struct xk_sess *s;

	up_unequal("message=100000", "message=20000", NULL);
	s = nf_open(&f, "client", 0, 7, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	pf_push(&f, 0, s, nf_bytes, 30000);      /* before the peer has said anything */
	pf_run(&f, 200 * XK_MS);
	CU_ASSERT_EQUAL(pf_upper_of(&f, "client")->close_dones, 1);
	pf_enter(&f, 0);
	CU_ASSERT_EQUAL(xk_sess_control(s, NCS_CTL_ENDED, &e, sizeof e), (int)sizeof e);
	pf_leave(&f, 0);
	CU_ASSERT_EQUAL(e.err, XK_E_MSGSIZE);
	CU_ASSERT_STRING_EQUAL(e.why, "messages of 20000 bytes at most there");
	pf_close(&f, 0, s);
	pf_run(&f, XK_SEC);
	CU_ASSERT_EQUAL(pf_sessions(&f, "echo"), 0);
	CU_ASSERT_EQUAL(pf_sessions(&f, "na"), 1);
	pf_down(&f);
}

/* n bytes in parts of two SDUs, but for the last `missing` bytes. */
static void push_in_parts(struct xk_sess *s, uint32_t n, uint32_t missing)
{
	uint32_t part = 0;

	pf_enter(&f, 0);
	CU_ASSERT_EQUAL(xk_sess_control(s, XK_CTL_GETOPTPACKET, &part, sizeof part), (int)sizeof part);
	CU_ASSERT_EQUAL(xk_sess_control(s, NCS_CTL_LONG, &n, sizeof n), XK_OK);
	pf_leave(&f, 0);
	part *= 2;
	for (uint32_t at = 0; at + missing < n; at += part)
		pf_push(&f, 0, s, nf_bytes + at, n - at < part ? n - at : part);
}

/* In parts, by its last SDU too long, with all of them here or not; others that are not stand around it. */
static void what_waits_in_parts_is_as_long_as_all_of_them(void)
{
	static const struct { uint32_t n, missing; bool ends; } cases[] = {
		{ 20000, 0, false }, { 20001, 0, true }, { 20001, 15000, true }, { 30000, 28000, true },
	};

	for (unsigned i = 0; i < XK_ARRAY_LEN(cases); i++) {
		struct ncs_ended e = { .err = 0 };
		struct xk_sess *s;

		up_unequal("message=100000; sdu=1000", "message=20000; sdu=1000", "delay=10ms");
		s = nf_open(&f, "client", 0, 7, NULL);
		CU_ASSERT_PTR_NOT_NULL_FATAL(s);
		push_in_parts(s, 19000, 0);
		pf_push(&f, 0, s, nf_bytes, 15000);
		push_in_parts(s, cases[i].n, cases[i].missing);
		pf_run(&f, 2 * XK_SEC);
		pf_enter(&f, 0);
		CU_ASSERT_EQUAL(xk_sess_control(s, NCS_CTL_ENDED, &e, sizeof e), (int)sizeof e);
		pf_leave(&f, 0);
		CU_ASSERT_EQUAL(e.err, cases[i].ends ? XK_E_MSGSIZE : XK_OK);
		CU_ASSERT_EQUAL(pf_ngot(&f, "client"), cases[i].ends ? 0 : 3);
		pf_close(&f, 0, s);
		pf_run(&f, 20 * XK_SEC);
		pf_down(&f);
	}
}

/* ---- keys ------------------------------------------------------------------------------------------------------- */

static void who_has_the_key_is_let_in(void)
{
	for (unsigned seed = 0; seed < 20; seed++) {
		struct xk_sess *s;
		char faults[64];

		snprintf(faults, sizeof faults, "loss=0.%u; seed=%u", seed == 0 ? 0 : 3, seed + 1);
		up_unequal("key=three", "key=three", faults);
		s = nf_open(&f, "client", 0, 7, NULL);
		CU_ASSERT_PTR_NOT_NULL_FATAL(s);
		pf_push(&f, 0, s, nf_bytes, 5000);
		pf_run(&f, 20 * XK_SEC);
		CU_ASSERT_EQUAL(pf_ngot(&f, "client"), 1);
		CU_ASSERT_EQUAL(pf_drops(&f, "na", "bad_key") + pf_drops(&f, "nb", "bad_key"), 0);
		pf_close(&f, 0, s);
		pf_run(&f, 20 * XK_SEC);
		pf_down(&f);
	}
}

/* Which of the two ends counts is who has a key: the other one's is none, or not that. */
static void who_has_not_opens_nothing(void)
{
	static const struct { const char *a, *b; bool here, there; } cases[] = {
		{ "key=three; give_up=2s", "key=thref; give_up=2s", false, true },
		{ "key=three; give_up=2s", "key=three0; give_up=2s", false, true },
		{ "give_up=2s", "key=three; give_up=2s", false, true },
		{ "key=three; give_up=2s", "give_up=2s", true, false },
	};

	for (unsigned i = 0; i < XK_ARRAY_LEN(cases); i++) {
		struct xk_sess *s;

		up_unequal(cases[i].a, cases[i].b, NULL);
		s = nf_open(&f, "client", 0, 7, NULL);
		CU_ASSERT_PTR_NOT_NULL_FATAL(s);
		pf_push(&f, 0, s, nf_bytes, 5000);
		pf_run(&f, 10 * XK_SEC);
		CU_ASSERT_EQUAL(pf_ngot(&f, "client"), 0);
		CU_ASSERT_EQUAL(pf_upper_of(&f, "client")->close_dones, 1);
		CU_ASSERT_EQUAL(pf_count(&f, "na", "opened"), 0);
		CU_ASSERT_EQUAL(pf_drops(&f, "na", "bad_key") != 0, cases[i].here);
		CU_ASSERT_EQUAL(pf_drops(&f, "nb", "bad_key") != 0, cases[i].there);
		CU_ASSERT_EQUAL(pf_count(&f, "nb", "accepted") != 0, !cases[i].there);
		CU_ASSERT_EQUAL(pf_sessions(&f, "echo"), 0);
		pf_close(&f, 0, s);
		pf_run(&f, 10 * XK_SEC);
		pf_down(&f);
	}
}

/* Nor does what stands behind a wrong key in the same datagram count. */
static void strangers_are_told_nothing(void)
{
	static const char *const keys[] = { NULL, "", "th", "Three", "three and more" };
	struct ncs_rec rec;

	for (unsigned i = 0; i < XK_ARRAY_LEN(keys); i++) {
		struct xk_sess *s;

		up("key=three", NULL, NULL);
		s = says(&(struct says){ .version = i != 0 ? NCS_VERSION : 0, .order = order_here(), .rank = NCS_NO_RANK,
					 .key = keys[i], .opens = true });
		CU_ASSERT_EQUAL(pf_drops(&f, "nb", "bad_key"), 1);
		CU_ASSERT_EQUAL(pf_ngot(&f, "raw"), 0);
		CU_ASSERT_EQUAL(pf_sessions(&f, "echo"), 0);
		pf_close(&f, 0, s);
		s = says(&(struct says){ .version = NCS_VERSION, .order = order_here(), .rank = NCS_NO_RANK, .key = "three", .opens = true });
		CU_ASSERT_TRUE(heard(NCS_ACCEPT, &rec));
		pf_close(&f, 0, s);
		pf_down(&f);
	}
}

static const uint8_t questions[] = { NCS_PING, NCS_CLOSE, NCS_CHECK, NCS_ACK, NCS_CREDIT, NCS_QUERY, NCS_NOTE };
static const uint8_t answers[] = { NCS_PONG, NCS_CLOSED, NCS_RESET, NCS_RESET, NCS_RESET, NCS_RESET, NCS_RESET };

/* With the key, and without one here, who asks is answered. */
static void strangers_that_ask_are_told_nothing(void)
{
	const struct says none = { .version = 0 }, other = { .version = NCS_VERSION, .order = order_here(), .key = "thre" },
			  same = { .version = NCS_VERSION, .order = order_here(), .key = "three" };

	for (unsigned i = 0; i < XK_ARRAY_LEN(questions); i++) {
		struct xk_sess *s = NULL;
		struct ncs_rec rec;

		for (unsigned keyed = 0; keyed < 2; keyed++) {
			up(keyed ? "key=three" : NULL, NULL, NULL);
			s = nf_open(&f, "raw", 0, NF_CTL, NULL);
			CU_ASSERT_PTR_NOT_NULL_FATAL(s);
			asks_on(s, &none, questions[i]);
			CU_ASSERT_EQUAL(heard(answers[i], &rec), !keyed);
			if (!keyed) {
				pf_close(&f, 0, s);
				pf_down(&f);
			}
		}
		asks_on(s, &other, questions[i]);
		CU_ASSERT_EQUAL(pf_ngot(&f, "raw"), 0);
		CU_ASSERT_EQUAL(pf_drops(&f, "nb", "bad_key"), 2);
		asks_on(s, &same, questions[i]);
		CU_ASSERT_TRUE(heard(answers[i], &rec));
		CU_ASSERT_EQUAL(pf_drops(&f, "nb", "bad_key"), 2);
		pf_close(&f, 0, s);
		pf_down(&f);
	}
}

/* The rank that said it may have ended, and its address be another process's. */
static void a_key_opens_what_comes_with_it_alone(void)
{
	struct says w = { .version = NCS_VERSION, .order = order_here(), .rank = NCS_NO_RANK, .key = "three" };
	struct xk_sess *s;
	struct ncs_rec rec;

	up("key=three", NULL, NULL);
	s = says(&w);
	CU_ASSERT_EQUAL(pf_drops(&f, "nb", "bad_key"), 0);
	says_on(s, &(struct says){ .opens = true });
	CU_ASSERT_FALSE(heard(NCS_ACCEPT, &rec));
	CU_ASSERT_EQUAL(pf_drops(&f, "nb", "bad_key"), 1);
	CU_ASSERT_EQUAL(pf_sessions(&f, "echo"), 0);
	w.opens = true;
	says_on(s, &w);
	CU_ASSERT_TRUE(heard(NCS_ACCEPT, &rec));
	pf_close(&f, 0, s);
	pf_down(&f);
}

/* What comes next of that type has the key before it in its datagram. */
static bool comes_with_key(uint8_t type)
{
	for (unsigned tries = 0; tries < 40; tries++, pf_run(&f, XK_SEC)) {
		while (seen < pf_ngot(&f, "raw")) {
			const struct pf_rec *got = pf_got(&f, "raw", seen++);
			bool key = false;
			struct ncs_rec rec;

			for (uint32_t at = 0; at < got->len && ncs_rec_load(got->bytes + at, got->len - at, &rec); at += rec.len) {
				key |= rec.type == NCS_HELLO && rec.len >= NCS_REC_LEN + NCS_HELLO_REC &&
				       memcmp(rec.v + NCS_HELLO_REC - NCS_KEY_LEN, "three", 6) == 0;
				if (rec.type == type)
					return key;
			}
		}
	}
	return false;
}

/* It may have begun anew, and would hear nobody that it does not know. */
static void who_asks_says_the_key_again(void)
{
	static const uint8_t asked[] = { NCS_PING, NCS_CHECK, NCS_CLOSE };

	for (unsigned i = 0; i < XK_ARRAY_LEN(asked); i++) {
		struct xk_sess *s;

		up("key=three; give_up=20s", NULL, NULL);
		s = says(&(struct says){ .version = NCS_VERSION, .order = order_here(), .rank = NCS_NO_RANK, .key = "three", .opens = true });
		CU_ASSERT_EQUAL(pf_sessions(&f, "echo"), 1);
		for (unsigned k = 0; asked[i] == NCS_CHECK && k < 12; k++) {    /* it lives, but says nothing of the connection */
			asks_on(s, &(struct says){ .version = 0 }, NCS_PING);
			pf_run(&f, XK_SEC);
		}
		CU_ASSERT_TRUE(comes_with_key(asked[i]));
		pf_close(&f, 0, s);
		pf_down(&f);
	}
}

static void the_environment_has_a_key_for_who_has_none(void)
{
	struct xk_sess *s;
	struct ncs_rec rec;

	CU_ASSERT_EQUAL(setenv("VP_KEY", "abc", 1), 0);
	up(NULL, NULL, NULL);
	s = says(&(struct says){ .version = NCS_VERSION, .order = order_here(), .rank = NCS_NO_RANK, .key = "abd", .opens = true });
	CU_ASSERT_EQUAL(pf_drops(&f, "nb", "bad_key"), 1);
	pf_close(&f, 0, s);
	s = says(&(struct says){ .version = NCS_VERSION, .order = order_here(), .rank = NCS_NO_RANK, .key = "abc", .opens = true });
	CU_ASSERT_TRUE(heard(NCS_ACCEPT, &rec));
	pf_close(&f, 0, s);
	pf_down(&f);
	CU_ASSERT_EQUAL(unsetenv("VP_KEY"), 0);
}

static CU_TestInfo tests[] = {
	{ "another_version_is_refused_by_a_sentence", another_version_is_refused_by_a_sentence },
	{ "who_says_no_hello_gets_none", who_says_no_hello_gets_none },
	{ "a_longer_hello_is_as_good", a_longer_hello_is_as_good },
	{ "another_number_of_ranks_is_refused", another_number_of_ranks_is_refused },
	{ "who_says_two_ranks_is_refused", who_says_two_ranks_is_refused },
	{ "words_of_another_order_are_in_no_group", words_of_another_order_are_in_no_group },
	{ "what_the_peer_does_not_take_is_dropped_where_it_is_pushed", what_the_peer_does_not_take_is_dropped_where_it_is_pushed },
	{ "what_waits_and_is_too_long_ends_the_connection", what_waits_and_is_too_long_ends_the_connection },
	{ "what_waits_in_parts_is_as_long_as_all_of_them", what_waits_in_parts_is_as_long_as_all_of_them },
	{ "who_has_the_key_is_let_in", who_has_the_key_is_let_in },
	{ "who_has_not_opens_nothing", who_has_not_opens_nothing },
	{ "strangers_are_told_nothing", strangers_are_told_nothing },
	{ "strangers_that_ask_are_told_nothing", strangers_that_ask_are_told_nothing },
	{ "a_key_opens_what_comes_with_it_alone", a_key_opens_what_comes_with_it_alone },
	{ "who_asks_says_the_key_again", who_asks_says_the_key_again },
	{ "the_environment_has_a_key_for_who_has_none", the_environment_has_a_key_for_who_has_none },
	CU_TEST_INFO_NULL
};

int main(void)
{
	static const CU_SuiteInfo suites[] = { { .pName = "ncs_hello", .pTests = tests }, CU_SUITE_INFO_NULL };

	return xk_test_main(suites);
}

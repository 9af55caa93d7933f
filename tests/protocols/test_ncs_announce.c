/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_ncs_announce.c - long messages over ncs are announced (xk_ncs.h), several processes of one graph in virtual
 * time, under every pair of controls.
 *
 * Promises: who is not asked for a long message keeps nothing of it but its announcement; it is probed and matched in
 * its place, others pass it; what is called for without a receive stays within half of `unexpected`; sends and
 * receives are cancelled at any time; whoever closes, or is lost, ends what is under way; random lines, sizes, tags
 * and orders give what the calls' order says, and nothing is left.
 * XK_NCS_SEEDS=FIRST:N runs those seeds.
 */
#define JOB_PATHS \
	" go_back_n { name = 'back' .. i, over = pace { name = 'slow' .. i, rate = '100Mbit/s', over = net } },"

#include "runtime/base/xk_rand.h"
#include "runtime/compose/xk_compose.h"
#include "tests/protocols/ncs_announce.h"
#include "tests/support/xk_test.h"

#define MOST 120000u
static uint8_t out[MOST], in[MOST];

static const char *const flows[] = { "none", "window", "credit", "pace" };
static const char *const errors[] = { "none", "go_back_n", "selective_repeat" };
#define PAIRS 12u
static struct xk_ncs_choice pair_of(unsigned p)
{
	return (struct xk_ncs_choice){ .flow = flows[p % 4], .error = errors[p / 4] };
}

static bool sure(unsigned p) { return p / 4 != 0; }

/* ---- the fixture ------------------------------------------------------------------------------------ */

static void fill(uint8_t *b, size_t n, unsigned key)
{
	for (size_t i = 0; i < n; i++)
		b[i] = (uint8_t)(i * 7 + i / 256 * 3 + i / 65536 + key * 29);
}

/* ---- in order ---------------------------------------------------------------------------------------- */

static void a_long_message_waits_for_its_receive(void)
{
	fill(out, LONG, 1);
	for (unsigned p = 0; p < PAIRS; p++) {
		const struct xk_ncs_choice ch = pair_of(p);
		struct xk_ncs_conn *b, *a;
		struct xk_ncs_status st;
		struct xk_ncs_req s, r;

		a = job_joined(&ch, &b);
		CU_ASSERT_EQUAL(xk_ncs_isend(a, 3, out, LONG, &s), XK_OK);
		job_run(20 * XK_SEC);            /* longer than anybody is given up */
		CU_ASSERT_EQUAL(xk_ncs_test(&s), XK_E_INPROGRESS);
		CU_ASSERT_EQUAL(xk_ncs_flush(a, 0), XK_E_AGAIN);
		CU_ASSERT_EQUAL(xk_ncs_probe(b, 3, &st, 0), XK_OK);
		CU_ASSERT(st.len == LONG && st.tag == 3 && st.rank == 0);
		CU_ASSERT_EQUAL(xk_ncs_recv(b, 3, in, LONG - 1, &st, 0), XK_E_MSGSIZE);
		CU_ASSERT(xk_ncs_unexpected(proc[1]) < 1000);
		CU_ASSERT_EQUAL(job_count("p0", "announced_out"), 1);
		CU_ASSERT_EQUAL(job_count("p1", "called_for"), 0);
		memset(in, 0, LONG);
		CU_ASSERT_EQUAL(xk_ncs_irecv(b, XK_NCS_ANY, in, LONG, &r), XK_OK);
		is_done(&r, XK_OK);
		CU_ASSERT(r.st.len == LONG && r.st.tag == 3);
		CU_ASSERT_EQUAL(memcmp(in, out, LONG), 0);
		is_done(&s, XK_OK);
		CU_ASSERT_EQUAL(xk_ncs_flush(a, 0), XK_OK);
		CU_ASSERT_EQUAL(job_count("p1", "to_posted_receives"), 1);
		CU_ASSERT_EQUAL(xk_ncs_unexpected(proc[1]), 0);
		job_down(2);
	}
}

static void what_is_called_for_without_a_receive_has_half_of_the_room(void)
{
	enum { N = 12, EACH = 8000 };
	struct xk_ncs_conn *b, *a;
	struct xk_ncs_req s[N];
	unsigned sent = 0;

	job_virtual(2, "unexpected = 40000, eager = 1000", "");
	a = joined(0, 1, NULL, &b);
	for (unsigned i = 0; i < N; i++) {
		fill(out + i * EACH, EACH, i);
		CU_ASSERT_EQUAL(xk_ncs_isend(a, 1, out + i * EACH, EACH, &s[i]), XK_OK);
	}
	job_run(XK_SEC);
	for (unsigned i = 0; i < N; i++)
		sent += xk_ncs_test(&s[i]) == XK_OK;
	CU_ASSERT_EQUAL(sent, 2);
	CU_ASSERT(xk_ncs_unexpected(proc[1]) >= 2 * EACH && xk_ncs_unexpected(proc[1]) <= 20000);
	for (unsigned i = 0; i < N; i++) {       /* each that is taken makes room for another */
		CU_ASSERT_EQUAL(xk_ncs_recv(b, 1, in, EACH, NULL, 0), XK_OK);
		CU_ASSERT_EQUAL(memcmp(in, out + i * EACH, EACH), 0);
		job_run(100 * XK_MS);
		CU_ASSERT(xk_ncs_unexpected(proc[1]) <= 20000);
	}
	CU_ASSERT_EQUAL(xk_ncs_unexpected(proc[1]), 0);
	CU_ASSERT_EQUAL(job_count("p1", "unexpected_full"), 0);
	job_down(2);
}

static void others_pass_it_and_it_keeps_its_place(void)
{
	struct xk_ncs_conn *b, *a;
	struct xk_ncs_status st;
	struct xk_ncs_req s[2], r[2];

	fill(out, LONG, 1);
	for (unsigned p = 0; p < PAIRS; p++) {
		const struct xk_ncs_choice ch = pair_of(p);

		a = job_joined(&ch, &b);
		CU_ASSERT_EQUAL(xk_ncs_isend(a, 1, out, LONG, &s[0]), XK_OK);
		CU_ASSERT_EQUAL(xk_ncs_send(a, 2, "two", 4, 0), XK_OK);
		CU_ASSERT_EQUAL(xk_ncs_send(a, 1, "one", 4, 0), XK_OK);
		CU_ASSERT_EQUAL(xk_ncs_isend(a, 2, out + 1, LONG - 1, &s[1]), XK_OK);
		job_run(XK_SEC);
		CU_ASSERT_EQUAL(xk_ncs_recv(b, 2, in, 4, &st, 0), XK_OK);
		CU_ASSERT_STRING_EQUAL((char *)in, "two");
		CU_ASSERT_EQUAL(xk_ncs_recv(b, 1, in, 4, &st, 0), XK_E_MSGSIZE);
		CU_ASSERT_EQUAL(st.len, LONG);
		/* The second one is called for first. */
		CU_ASSERT_EQUAL(xk_ncs_irecv(b, 2, in + LONG, LONG, &r[1]), XK_OK);
		is_done(&r[1], XK_OK);
		CU_ASSERT_EQUAL(r[1].st.len, LONG - 1);
		CU_ASSERT_EQUAL(memcmp(in + LONG, out + 1, LONG - 1), 0);
		CU_ASSERT_EQUAL(xk_ncs_irecv(b, XK_NCS_ANY, in, LONG, &r[0]), XK_OK);
		CU_ASSERT_EQUAL(xk_ncs_recv(b, 1, in + LONG, 4, &st, 0), XK_OK);
		CU_ASSERT_STRING_EQUAL((char *)in + LONG, "one");
		is_done(&r[0], XK_OK);
		CU_ASSERT_EQUAL(memcmp(in, out, LONG), 0);
		job_down(2);
	}
}

/* ---- cancelled ---------------------------------------------------------------------------------------- */

static void a_send_that_is_cancelled_is_no_more(void)
{
	struct xk_ncs_conn *b, *a;
	struct xk_ncs_req s[2], r;

	fill(out, LONG, 1);
	for (unsigned p = 0; p < PAIRS; p++) {
		const struct xk_ncs_choice ch = pair_of(p);

		a = job_joined(&ch, &b);
		CU_ASSERT_EQUAL(xk_ncs_isend(a, 1, out, LONG, &s[0]), XK_OK);
		CU_ASSERT_EQUAL(xk_ncs_isend(a, 1, out + 1, LONG - 1, &s[1]), XK_OK);
		job_run(XK_SEC);
		CU_ASSERT_EQUAL(xk_ncs_cancel(&s[0]), XK_OK);
		CU_ASSERT_EQUAL(xk_ncs_test(&s[0]), XK_E_CONNABORTED);
		CU_ASSERT_EQUAL(xk_ncs_irecv(b, 1, in, LONG, &r), XK_OK);        /* it finds the one that is gone */
		is_done(&r, XK_OK);
		CU_ASSERT_EQUAL(r.st.len, LONG - 1);
		CU_ASSERT_EQUAL(memcmp(in, out + 1, LONG - 1), 0);
		is_done(&s[1], XK_OK);
		CU_ASSERT_EQUAL(job_count("p1", "withdrawn"), 1);
		CU_ASSERT_EQUAL(xk_ncs_send(a, 1, out, LONG, 0), XK_E_AGAIN);    /* time is over: nothing has happened */
		job_run(XK_SEC);
		CU_ASSERT_EQUAL(xk_ncs_probe(b, XK_NCS_ANY, NULL, 0), XK_E_AGAIN);
		CU_ASSERT_EQUAL(xk_ncs_flush(a, 0), XK_OK);
		CU_ASSERT_EQUAL(xk_ncs_unexpected(proc[1]), 0);
		job_down(2);
	}
}

static void a_receive_that_is_cancelled_leaves_it_to_others(void)
{
	struct xk_ncs_conn *b, *a;
	struct xk_ncs_req s, r[2];

	fill(out, LONG, 1);
	for (unsigned p = 0; p < PAIRS; p++) {
		const struct xk_ncs_choice ch = pair_of(p);

		a = job_joined(&ch, &b);
		CU_ASSERT_EQUAL(xk_ncs_isend(a, 1, out, LONG, &s), XK_OK);
		job_run(XK_SEC);
		CU_ASSERT_EQUAL(xk_ncs_recv(b, 1, in, LONG, NULL, 0), XK_E_AGAIN);
		CU_ASSERT(xk_ncs_unexpected(proc[1]) >= LONG);   /* it comes now */
		job_run(p % 2 ? XK_SEC : 0);
		CU_ASSERT_EQUAL(xk_ncs_irecv(b, 1, in, LONG, &r[0]), XK_OK);
		CU_ASSERT_EQUAL(xk_ncs_irecv_any(thr[1], 0, 1, in + LONG, LONG, &r[1]), XK_OK);
		if (p % 2 == 0)                          /* the next one that was posted has it */
			CU_ASSERT_EQUAL(xk_ncs_cancel(&r[0]), XK_OK);
		is_done(&r[p % 2 == 0], XK_OK);
		CU_ASSERT_EQUAL(memcmp(p % 2 ? in : in + LONG, out, LONG), 0);
		if (p % 2)
			CU_ASSERT_EQUAL(xk_ncs_cancel(&r[1]), XK_OK);
		is_done(&s, XK_OK);
		CU_ASSERT_EQUAL(xk_ncs_unexpected(proc[1]), 0);
		job_down(2);
	}
}

/* ---- ends ---------------------------------------------------------------------------------------------- */

/* Who closes: the sender, the receiver, or nobody and the line is cut. */
static void an_end(unsigned p, unsigned who)
{
	const struct xk_ncs_choice ch = pair_of(p);
	struct xk_ncs_conn *b, *a;
	struct xk_ncs_req s[2], r[2];

	a = job_joined(&ch, &b);
	CU_ASSERT_EQUAL(xk_ncs_isend(a, 1, out, LONG, &s[0]), XK_OK);
	CU_ASSERT_EQUAL(xk_ncs_isend(a, 2, out, LONG, &s[1]), XK_OK);
	CU_ASSERT_EQUAL(xk_ncs_send(a, 3, "three", 6, 0), XK_OK);
	job_run(XK_SEC);
	if (who == 2)
		cut(1);
	CU_ASSERT_EQUAL(xk_ncs_irecv(b, 1, in, LONG, &r[0]), XK_OK);     /* called for, in vain */
	CU_ASSERT_EQUAL(xk_ncs_irecv_any(thr[1], XK_NCS_ANY, 2, in, LONG, &r[1]), XK_OK);
	if (who < 2)
		xk_ncs_close(who == 0 ? a : b);
	job_run(40 * XK_SEC);
	CU_ASSERT_EQUAL(xk_ncs_test(&s[0]), who == 0 ? XK_E_BADF : who == 1 ? XK_E_CONNRESET : XK_E_TIMEDOUT);
	CU_ASSERT_EQUAL(xk_ncs_test(&r[0]), who == 1 ? XK_E_BADF : who == 0 ? XK_E_CONNRESET : XK_E_TIMEDOUT);
	CU_ASSERT_EQUAL(xk_ncs_test(&r[1]), XK_E_INPROGRESS);    /* others may still come */
	CU_ASSERT_EQUAL(xk_ncs_cancel(&r[1]), XK_OK);
	if (who != 1) {
		CU_ASSERT_EQUAL(xk_ncs_recv(b, 3, in, 6, NULL, 0), XK_OK);
		CU_ASSERT_EQUAL(xk_ncs_recv(b, XK_NCS_ANY, in, LONG, NULL, 0), who == 0 ? XK_E_CONNRESET : XK_E_TIMEDOUT);
	}
	CU_ASSERT_EQUAL(xk_ncs_unexpected(proc[1]), 0);
	job_down(2);
}

static void whoever_closes_or_is_lost_ends_what_was_announced(void)
{
	for (unsigned p = 0; p < PAIRS; p++)
		for (unsigned who = 0; who < 3; who++)
			an_end(p, who);
}

/* A receive of any source that had found what does not come takes another's. */
static void a_receive_goes_on_where_its_message_does_not_come(void)
{
	struct xk_ncs_conn *a, *b, *x, *y;
	struct xk_ncs_req s[2], r;

	fill(out, LONG, 1);
	job_virtual(3, "unexpected = 20000, eager = 1000", "");
	a = joined(0, 2, NULL, &x);
	b = joined(1, 2, NULL, &y);
	CU_ASSERT_EQUAL(xk_ncs_isend(a, 1, out, LONG, &s[0]), XK_OK);
	job_run(XK_SEC);
	CU_ASSERT_EQUAL(xk_ncs_isend(b, 1, out + 5, LONG - 5, &s[1]), XK_OK);
	job_run(XK_SEC);
	CU_ASSERT_EQUAL(xk_ncs_irecv_any(thr[2], XK_NCS_ANY, 1, in, LONG, &r), XK_OK);
	xk_ncs_close(a);
	is_done(&r, XK_OK);
	CU_ASSERT(r.st.rank == 1 && r.st.len == LONG - 5);
	CU_ASSERT_EQUAL(memcmp(in, out + 5, LONG - 5), 0);
	job_down(3);
}

/* Without error control the bytes are lost behind their announcement: the next one takes the receive. */
static void bytes_that_are_lost_give_the_receive_back(void)
{
	const struct xk_ncs_choice ch = pair_of(0);
	struct xk_ncs_conn *b, *a;
	struct xk_ncs_req s[2], r[2];

	fill(out, LONG, 1);
	a = job_joined(&ch, &b);
	CU_ASSERT_EQUAL(xk_ncs_irecv(b, 1, in, LONG, &r[0]), XK_OK);
	CU_ASSERT_EQUAL(xk_ncs_irecv(b, 1, in + LONG, LONG, &r[1]), XK_OK);
	CU_ASSERT_EQUAL(xk_ncs_isend(a, 1, out, LONG, &s[0]), XK_OK);
	for (unsigned i = 0; i < 10000 && job_count("p1", "called_for") == 0; i++)
		job_run(XK_US);
	cut(1);                               /* READY is on the line, or is said again when that is whole */
	job_run(XK_MS);
	cut(0);
	for (unsigned i = 0; i < 3000 && xk_ncs_test(&s[0]) == XK_E_INPROGRESS; i++) {
		job_run(XK_MS / 4);
		cut(xk_ncs_test(&s[0]) == XK_OK);
	}
	cut(1);
	job_run(100 * XK_MS);
	cut(0);
	if (xk_ncs_test(&r[0]) == XK_E_INPROGRESS) {     /* the line was cut in time */
		CU_ASSERT_EQUAL(xk_ncs_send(a, 1, "next", 5, 0), XK_OK);
		is_done(&r[0], XK_OK);
		CU_ASSERT_EQUAL(r[0].st.len, 5);
		CU_ASSERT_EQUAL(job_count("p1", "announced_and_lost"), 1);
		CU_ASSERT_EQUAL(xk_ncs_test(&r[1]), XK_E_INPROGRESS);
	} else {
		CU_FAIL("nothing was lost");
	}
	job_down(2);
}

/* Who is told of the one behind cannot know that nothing more comes before it, until a mark does. */
static void what_was_lost_before_it_does_not_hold_it(void)
{
	struct xk_ncs_conn *b, *a;
	struct xk_ncs_req s, r;

	fill(out, LONG, 1);
	for (unsigned p = 0; p < 4; p++) {
		const struct xk_ncs_choice ch = pair_of(p);

		a = job_joined(&ch, &b);
		cut(1);
		CU_ASSERT_EQUAL(xk_ncs_send(a, 1, "lost", 5, 0), XK_OK);
		job_run(5 * XK_MS);
		cut(0);
		CU_ASSERT_EQUAL(xk_ncs_isend(a, 1, out, LONG, &s), XK_OK);
		CU_ASSERT_EQUAL(xk_ncs_irecv(b, 1, in, LONG, &r), XK_OK);
		is_done(&r, XK_OK);
		CU_ASSERT_EQUAL(r.st.len, LONG);
		is_done(&s, XK_OK);
		job_down(2);
	}
}

static void every_allocation_may_fail(void)
{
	unsigned good = 0;

	fill(out, LONG, 1);
	for (unsigned k = 1; k <= 60; k++) {
		const struct xk_ncs_choice ch = pair_of(k % PAIRS);
		struct xk_ncs_conn *b, *a;
		struct xk_ncs_req s, r;
		int err;

		a = job_joined(&ch, &b);
		CU_ASSERT_EQUAL(xk_ncs_irecv(b, 1, in, LONG, &r), XK_OK);
		xk_mem_fail_after(k / 2 + 1);
		err = xk_ncs_isend(a, 1, out, LONG, &s);
		job_run(2 * XK_SEC);
		xk_mem_fail_after(0);
		CU_ASSERT(err == XK_OK || err == XK_E_NOMEM);
		job_run(15 * XK_SEC);
		if (xk_ncs_test(&s) == XK_OK && xk_ncs_test(&r) == XK_OK) {
			CU_ASSERT_EQUAL(memcmp(in, out, LONG), 0);
			good++;
		} else if (xk_ncs_test(&r) == XK_E_INPROGRESS) {         /* it was not sent, or lost */
			CU_ASSERT(xk_ncs_test(&s) != XK_E_INPROGRESS);
			CU_ASSERT_EQUAL(xk_ncs_cancel(&r), XK_OK);
		}
		job_run(XK_SEC);
		job_down(2);
	}
	CU_ASSERT(good > 0);
	printf("# %u of 60\n", good);
}

/* ---- seeds ----------------------------------------------------------------------------------------------- */

#define SENDS   16u
#define RECEIVES 24u
#define EAGER   2000u
#define KEPT    60000u
#define LARGEST 20000u

struct sent { size_t len; int tag; bool begun, cancelled, got; struct xk_ncs_req r; uint8_t b[LARGEST]; };
struct asked { int tag; bool begun, cancelled; struct xk_ncs_req r; uint8_t b[LARGEST]; };
struct talk {
	unsigned seed, pair, nsent, nasked;
	bool cancels, wrong;
	struct xk_rand rand;
	struct xk_ncs_conn *a, *b;
	struct sent s[SENDS];
	struct asked q[RECEIVES];
};
static struct talk talk;
static unsigned talk_lost;

static unsigned below(unsigned n) { return (unsigned)xk_rand_below(&talk.rand, n); }

static void wrong(const char *what, unsigned i)
{
	if (!talk.wrong)
		printf("# seed %u, pair %u: %s %u\n", talk.seed, talk.pair, what, i);
	talk.wrong = true;
}

static size_t a_size(void)
{
	switch (below(4)) {
	case 0:  return below(20);
	case 1:  return EAGER - 1 + below(3);
	case 2:  return below(EAGER);
	default: return below(LARGEST);
	}
}

static void send_one(void)
{
	struct sent *s = &talk.s[talk.nsent];

	if (talk.nsent == SENDS)
		return;
	s->len = a_size();
	s->tag = (int)below(3);
	fill(s->b, s->len, talk.nsent + talk.seed);
	s->begun = xk_ncs_isend(talk.a, s->tag, s->b, s->len, &s->r) == XK_OK;
	if (!s->begun)
		wrong("could not send", talk.nsent);
	talk.nsent++;
}

static void ask(int tag)
{
	struct asked *q = &talk.q[talk.nasked];

	if (talk.nasked == RECEIVES)
		return;
	q->tag = tag;
	q->cancelled = false;
	q->begun = xk_ncs_irecv(talk.b, tag, q->b, LARGEST, &q->r) == XK_OK;
	if (!q->begun)
		wrong("could not ask", talk.nasked);
	talk.nasked++;
}

static void cancel_one(void)
{
	unsigned i = below(SENDS), k = below(RECEIVES);

	if (i < talk.nsent && talk.s[i].begun && below(2) && xk_ncs_cancel(&talk.s[i].r) == XK_OK)
		talk.s[i].cancelled = true;
	else if (k < talk.nasked && talk.q[k].begun && xk_ncs_cancel(&talk.q[k].r) == XK_OK)
		talk.q[k].cancelled = true;
}

/* Which message is it? */
static unsigned which(const struct asked *q)
{
	for (unsigned i = 0; i < talk.nsent; i++)
		if (!talk.s[i].got && !talk.s[i].cancelled && talk.s[i].len == q->r.st.len && talk.s[i].tag == q->r.st.tag &&
		    memcmp(talk.s[i].b, q->b, q->r.st.len) == 0)
			return i;
	return SENDS;
}

/* In the order in which they were asked for, each receive has the first that fits it and nobody before it has. */
static unsigned first_for(const struct asked *q)
{
	for (unsigned i = 0; i < talk.nsent; i++)
		if (!talk.s[i].got && (q->tag == XK_NCS_ANY || q->tag == talk.s[i].tag))
			return i;
	return SENDS;
}

static void judge(void)
{
	for (unsigned k = 0; k < talk.nasked; k++) {
		struct asked *q = &talk.q[k];
		unsigned i = which(q), want = first_for(q);

		if (q->cancelled || xk_ncs_test(&q->r) != XK_OK) {
			if (!q->cancelled && sure(talk.pair) && !talk.cancels && want != SENDS)
				wrong("got nothing: receive", k);
			continue;
		}
		if (i == SENDS || (q->tag != XK_NCS_ANY && q->tag != q->r.st.tag))
			wrong("no such message: receive", k);
		else if (sure(talk.pair) && !talk.cancels && talk.s[want].len == talk.s[i].len && want != i &&
			 memcmp(talk.s[want].b, talk.s[i].b, talk.s[i].len) == 0)
			i = want;                /* the same bytes */
		else if (sure(talk.pair) && !talk.cancels && want != i)
			wrong("out of order: receive", k);
		if (i != SENDS)
			talk.s[i].got = true;
	}
	for (unsigned i = 0; i < talk.nsent; i++)
		if (sure(talk.pair) && !talk.s[i].cancelled && !talk.s[i].got)
			wrong("was lost: message", i);
}

/* All that is still to come is asked for, and comes. */
static void drain(void)
{
	for (unsigned i = 0; i < 300 && talk.nasked < RECEIVES; i++) {
		unsigned open = 0, left = 0;

		for (unsigned k = 0; k < talk.nasked; k++)
			open += xk_ncs_test(&talk.q[k].r) == XK_E_INPROGRESS && talk.q[k].tag == XK_NCS_ANY;
		for (unsigned k = 0; k < talk.nsent; k++)
			left += xk_ncs_test(&talk.s[k].r) == XK_E_INPROGRESS;
		if (open == 0 && (left != 0 || xk_ncs_probe(talk.b, XK_NCS_ANY, NULL, 0) == XK_OK || i < 20))
			ask(XK_NCS_ANY);
		job_run(sure(talk.pair) ? XK_SEC / 2 : 2 * XK_SEC);
	}
}

/* Sends, receives and time, as they come. */
static void speak(void)
{
	for (unsigned i = 0; i < 60; i++) {
		unsigned what = below(8);

		if (what < 3)
			send_one();
		else if (what < 5 && talk.nasked < SENDS / 2)
			ask(below(3) ? (int)below(3) : XK_NCS_ANY);
		else if (what == 5 && talk.cancels)
			cancel_one();
		else
			job_run(below(3) ? below(3000) * XK_US : below(100) * XK_MS);
		if (!talk.cancels && xk_ncs_unexpected(proc[1]) > KEPT)
			wrong("too much is kept at step", i);
	}
}

/* Was everything lost for longer than a peer is waited for?  Each line end loses, so it happens. */
static bool given_up(void)
{
	bool lost = false;

	for (unsigned i = 0; i < talk.nsent; i++)
		lost |= xk_ncs_test(&talk.s[i].r) == XK_E_TIMEDOUT;
	lost |= xk_ncs_send(talk.a, 0, "", 0, 0) == XK_E_TIMEDOUT;
	talk_lost += lost;
	return lost;
}

static bool right(unsigned seed)
{
	static const unsigned losses[] = { 0, 0, 10, 50, 100 }, delays[] = { 0, 10, 1000, 20000 };
	struct xk_ncs_choice ch;
	char faults[160];

	memset(&talk, 0, offsetof(struct talk, s));
	memset(talk.s, 0, sizeof talk.s);
	talk.seed = seed;
	talk.pair = seed % PAIRS;
	xk_rand_init(&talk.rand, seed, 23);
	talk.cancels = below(2);
	ch = pair_of(talk.pair);
	snprintf(faults, sizeof faults,
		 "loss = 0.%03u, dup = 0.%03u, reorder = 0.%03u, reorder_depth = %u, delay = '%uus', seed = %u",
		 losses[below(5)], below(2) * below(200), below(2) * below(300), 1 + below(20), delays[below(4)], seed + 1);
	job_virtual(2, "unexpected = 60000, eager = 2000", faults);
	talk.a = tried(0, 1, &ch, &talk.b);
	if (talk.a == NULL) {
		talk_lost++;
		job_down(2);
		return true;
	}
	speak();
	drain();
	if (!given_up())
		judge();
	xk_ncs_close(talk.a);
	xk_ncs_close(talk.b);
	job_run(60 * XK_SEC);
	if (xk_ncs_unexpected(proc[1]) != 0)
		wrong("something is kept: bytes", (unsigned)xk_ncs_unexpected(proc[1]));
	job_down(2);
	return !talk.wrong;
}

static void every_seed_is_in_order(void)
{
	const char *s = getenv("XK_NCS_SEEDS");
	unsigned first = 0, n = (unsigned)xk_test_rounds(180), bad = 0;

	if (s != NULL)
		CU_ASSERT_EQUAL_FATAL(sscanf(s, "%u:%u", &first, &n), 2);
	for (unsigned seed = first; seed != first + n && bad < 3; seed++)
		bad += !right(seed);
	CU_ASSERT_EQUAL(bad, 0);
	CU_ASSERT_EQUAL(talk_lost, 0);
	printf("# %u seeds from %u, %u connections lost\n", n, first, talk_lost);
}

#define T(x) { #x, x }
static CU_TestInfo tests[] = {
	T(a_long_message_waits_for_its_receive), T(what_is_called_for_without_a_receive_has_half_of_the_room),
	T(others_pass_it_and_it_keeps_its_place), T(a_send_that_is_cancelled_is_no_more),
	T(a_receive_that_is_cancelled_leaves_it_to_others), T(whoever_closes_or_is_lost_ends_what_was_announced),
	T(a_receive_goes_on_where_its_message_does_not_come), T(bytes_that_are_lost_give_the_receive_back),
	T(what_was_lost_before_it_does_not_hold_it), T(every_allocation_may_fail),
	T(every_seed_is_in_order), CU_TEST_INFO_NULL
};

int main(void)
{
	static const CU_SuiteInfo suites[] = { { .pName = "ncs announced", .pTests = tests }, CU_SUITE_INFO_NULL };

	return xk_test_main_rcu(suites);
}

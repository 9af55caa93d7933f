/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_ncs_held.c - messages over ncs (xk_ncs.h) written and read in place, several processes of one graph in virtual
 * time.
 *
 * Promises: what is written in place comes as it was, of every length, under every pair of controls, announced or not;
 * what is taken is what was sent, whether it waited or was waited for; what a process may hold has its bound,
 * beyond which room is refused and messages are copied, and others go on; what is longer than the peer takes is
 * refused, in place or not, and nothing else waits for it; whatever is held may be given back
 * once its connection has ended, its thread is gone or its process has stopped; memory may be short at any step.
 */
#define LESS 20000u                      /* rank 2 takes */
#define JOB_SIZES "message = i == 3 and 20000 or '1MiB', queue = '4MiB'"

#include "protocols/ncs/ncs_call.h"
#include "protocols/ncs/ncs_priv.h"
#include "runtime/compose/xk_compose.h"
#include "tests/protocols/ncs_announce.h"
#include "tests/support/xk_test.h"

#define MOST 60000u
static uint8_t out[MOST], in[MOST];

static const char *const flows[] = { "none", "window", "credit" };
static const char *const errors[] = { "none", "selective_repeat" };
#define PAIRS 6u
static struct xk_ncs_choice pair_of(unsigned p)
{
	return (struct xk_ncs_choice){ .flow = flows[p % 3], .error = errors[p / 3] };
}

static void fill(unsigned key)
{
	for (size_t i = 0; i < MOST; i++)
		out[i] = (uint8_t)(i * 7 + i / 256 * 3 + key * 29);
}

static void write_all(const struct xk_ncs_held *h, size_t n)
{
	struct xk_ncs_piece p = { NULL, 0, NULL };
	size_t at = 0;

	for (; xk_ncs_next(h, &p); at += p.len)
		memcpy(p.at, out + at, p.len);
	CU_ASSERT_EQUAL(at, n);
}

static bool is_what_was_sent(const struct xk_ncs_held *h, size_t n)
{
	struct xk_ncs_piece p = { NULL, 0, NULL };
	size_t at = 0;
	bool same = true;

	for (; xk_ncs_next(h, &p); at += p.len)
		same = same && at + p.len <= n && memcmp(p.at, out + at, p.len) == 0;
	return same && at == n;
}

static struct xk_ncs_held *reserved(struct xk_ncs_conn *c, size_t n)
{
	struct xk_ncs_held *h;

	CU_ASSERT_EQUAL_FATAL(xk_ncs_reserve(c, n, &h), XK_OK);
	write_all(h, n);
	return h;
}

/* ---- as it was --------------------------------------------------------------------------------------- */

static void every_length_goes_as_it_was_written(void)
{
	static const size_t sizes[] = { 0, 1, 987, 988, 989, 5000, 20000, MOST };
	static const char *const hows[] = { "eager = '1MiB'", "eager = 1000" };

	for (unsigned k = 0; k < 2 * PAIRS; k++) {
		const struct xk_ncs_choice ch = pair_of(k / 2);
		struct xk_ncs_conn *b, *a;

		job_virtual(2, hows[k % 2], "");
		a = joined(0, 1, &ch, &b);
		for (unsigned i = 0; i < XK_ARRAY_LEN(sizes); i++) {
			struct xk_ncs_held *h, *t;
			struct xk_ncs_req s, r;
			size_t n = sizes[i];

			fill(i);
			h = reserved(a, n);
			if (i % 2 == 0)
				CU_ASSERT_EQUAL(xk_ncs_itake(b, 4, &t, &r), XK_OK);
			CU_ASSERT_EQUAL(xk_ncs_icommit(h, 4, &s), XK_OK);
			job_run(XK_SEC);
			if (i % 2 != 0)
				CU_ASSERT_EQUAL(xk_ncs_itake(b, XK_NCS_ANY, &t, &r), XK_OK);
			is_done(&r, XK_OK);
			is_done(&s, XK_OK);
			CU_ASSERT(r.st.len == n && r.st.tag == 4 && r.st.conn == b);
			CU_ASSERT(is_what_was_sent(t, n));
			CU_ASSERT_EQUAL(xk_ncs_commit(h, 4, 0), XK_E_INVAL);     /* it is sent */
			CU_ASSERT_EQUAL(xk_ncs_commit(t, 4, 0), XK_E_INVAL);
			xk_ncs_give(h);
			xk_ncs_give(t);
			CU_ASSERT_EQUAL(xk_ncs_unexpected(proc[1]), 0);
		}
		CU_ASSERT_EQUAL(job_count("p0", "sent_in_place"), XK_ARRAY_LEN(sizes));
		CU_ASSERT_EQUAL(job_count("p1", "taken_by_copy"), 0);
		CU_ASSERT(job_count("p1", "taken_in_place") >= XK_ARRAY_LEN(sizes) / 2);
		job_down(2);
	}
}

static void both_kinds_of_calls_meet(void)
{
	struct xk_ncs_held *h, *t;
	struct xk_ncs_conn *b, *a;
	struct xk_ncs_status st;

	fill(3);
	job_virtual(2, "", "");
	a = joined(0, 1, NULL, &b);
	h = reserved(a, 3000);
	CU_ASSERT_EQUAL(xk_ncs_commit(h, 1, 0), XK_OK);
	xk_ncs_give(h);
	CU_ASSERT_EQUAL(xk_ncs_send(a, 2, out, 4000, 0), XK_OK);
	CU_ASSERT_EQUAL(xk_ncs_take(b, 1, &t, NULL, 0), XK_E_AGAIN);
	CU_ASSERT_PTR_NULL(t);
	job_run(XK_SEC);
	CU_ASSERT_EQUAL(xk_ncs_take_any(thr[1], 0, 2, &t, &st, 0), XK_OK);
	CU_ASSERT(st.len == 4000 && st.tag == 2 && is_what_was_sent(t, 4000));
	xk_ncs_give(t);
	CU_ASSERT_EQUAL(xk_ncs_recv(b, 1, in, sizeof in, &st, 0), XK_OK);
	CU_ASSERT(st.len == 3000 && memcmp(in, out, 3000) == 0);
	h = reserved(a, 10);
	CU_ASSERT_EQUAL(xk_ncs_commit(h, -1, 0), XK_E_INVAL);
	xk_ncs_give(h);
	job_down(2);
}

/* ---- bounds --------------------------------------------------------------------------------------------- */

static void who_holds_much_is_refused_and_has_copies(void)
{
	struct xk_ncs_held *h[4], *t[8], *more;
	struct xk_ncs_conn *b, *a;
	struct xk_ncs_req r;

	fill(5);
	job_virtual(2, "held = 10000, eager = '1MiB'", "");
	a = joined(0, 1, NULL, &b);
	for (unsigned i = 0; i < 3; i++)
		h[i] = reserved(a, 3000);
	CU_ASSERT_EQUAL(xk_ncs_reserve(a, 3000, &more), XK_E_NOSPC);
	CU_ASSERT_PTR_NULL(more);
	CU_ASSERT_EQUAL(xk_ncs_commit(h[0], 1, 0), XK_OK);               /* it is not held any more */
	h[3] = reserved(a, 3000);
	for (unsigned i = 0; i < 4; i++)
		xk_ncs_give(h[i]);
	CU_ASSERT_EQUAL(xk_ncs_reserve(a, 1u << 20, &more), XK_E_MSGSIZE);
	job_run(XK_SEC);
	CU_ASSERT_EQUAL(xk_ncs_recv(b, 1, in, sizeof in, NULL, 0), XK_OK);
	for (unsigned i = 0; i < 8; i++) {       /* of one SDU, and of more */
		size_t n = i % 2 == 0 ? 900 : 4500;

		CU_ASSERT_EQUAL(xk_ncs_itake(b, 2, &t[i], &r), XK_OK);
		CU_ASSERT_EQUAL(xk_ncs_send(a, 2, out, n, 0), XK_OK);
		is_done(&r, XK_OK);
		CU_ASSERT(r.st.len == n && is_what_was_sent(t[i], n));
	}
	CU_ASSERT_EQUAL(job_count("p1", "taken_by_copy"), 3);
	CU_ASSERT_EQUAL(job_count("p1", "taken_in_place"), 5);
	for (unsigned i = 0; i < 8; i++) {
		CU_ASSERT(is_what_was_sent(t[i], i % 2 == 0 ? 900 : 4500));
		xk_ncs_give(t[i]);
	}
	CU_ASSERT_EQUAL(xk_ncs_itake(b, 2, &t[0], &r), XK_OK);           /* and there is room again */
	CU_ASSERT_EQUAL(xk_ncs_send(a, 2, out, 4500, 0), XK_OK);
	is_done(&r, XK_OK);
	CU_ASSERT_EQUAL(job_count("p1", "taken_in_place"), 6);
	xk_ncs_give(t[0]);
	job_down(2);
}

/* Begun before the connection is open (k even) or behind, announced or not. */
static void what_the_peer_does_not_take_is_refused(void)
{
	static const char *const hows[] = { "eager = '1MiB'", "eager = 1000" };
	const size_t most = LESS - PROC_LONG;

	fill(4);
	for (unsigned k = 0; k < 4 * PAIRS; k++) {
		const struct xk_ncs_choice ch = pair_of(k / 4);
		struct xk_ncs_held *h = NULL, *more;
		struct xk_ncs_conn *a, *b;
		struct xk_ncs_req o, s, r;

		job_virtual(3, hows[k / 2 % 2], "");
		CU_ASSERT_EQUAL(xk_ncs_iopen(thr[0], &(struct xk_ncs_addr){ .rank = 2 }, &ch, &a, &o), XK_OK);
		if (k % 2 == 0) {
			h = reserved(a, most + 1);
			CU_ASSERT_EQUAL(xk_ncs_isend(a, 1, out, most + 1, &s), XK_OK);
		}
		is_done(&o, XK_OK);
		CU_ASSERT_EQUAL(xk_ncs_accept(thr[2], &b, NULL, 0), XK_OK);
		if (k % 2 != 0)
			CU_ASSERT_EQUAL(xk_ncs_isend(a, 1, out, most + 1, &s), XK_OK);
		is_done(&s, XK_E_MSGSIZE);
		if (h != NULL)
			CU_ASSERT_EQUAL(xk_ncs_commit(h, 1, 0), XK_E_MSGSIZE);
		CU_ASSERT_EQUAL(xk_ncs_reserve(a, most + 1, &more), XK_E_MSGSIZE);
		xk_ncs_give(h);
		CU_ASSERT_EQUAL(xk_ncs_isend(a, 1, out, most, &s), XK_OK);
		CU_ASSERT_EQUAL(xk_ncs_irecv(b, 1, in, most, &r), XK_OK);
		is_done(&r, XK_OK);
		is_done(&s, XK_OK);
		CU_ASSERT(r.st.len == most && memcmp(in, out, most) == 0);
		CU_ASSERT_EQUAL(job_count("n0", "too_long"), 0);
		CU_ASSERT_EQUAL(job_count("p2", "bad_note"), 0);
		job_down(3);
	}
}

/* The peer has started anew, with less, say. */
static void what_it_does_not_take_any_more_is_withdrawn(void)
{
	for (unsigned p = 0; p < PAIRS; p++) {
		const struct xk_ncs_choice ch = pair_of(p);
		struct xk_ncs_conn *b, *a = job_joined(&ch, &b);
		struct ncs_peer *there = &ncs_sess(a->end->s.down)->conn.peer->peer;
		struct xk_ncs_req s, r;

		CU_ASSERT_EQUAL(xk_ncs_isend(a, 1, out, LONG, &s), XK_OK);
		job_run(XK_SEC);
		there->message = LONG - 1;
		CU_ASSERT_EQUAL(xk_ncs_irecv(b, 1, in, LONG, &r), XK_OK);
		is_done(&s, XK_E_MSGSIZE);
		job_run(XK_SEC);
		CU_ASSERT_EQUAL(job_count("p1", "withdrawn"), 1);
		CU_ASSERT_EQUAL(xk_ncs_send(a, 1, "next", 5, 0), XK_OK);
		is_done(&r, XK_OK);
		CU_ASSERT_EQUAL(r.st.len, 5);
		job_down(2);
	}
}

/* Announced, and more than may be held: placed in memory of its own. */
static void a_long_one_is_not_held(void)
{
	struct xk_ncs_held *t;
	struct xk_ncs_conn *b, *a;
	struct xk_ncs_req s, r;

	fill(7);
	job_virtual(2, "held = 10000, eager = 1000, unexpected = 20000", "");
	a = joined(0, 1, NULL, &b);
	CU_ASSERT_EQUAL(xk_ncs_isend(a, 1, out, MOST, &s), XK_OK);
	CU_ASSERT_EQUAL(xk_ncs_itake(b, 1, &t, &r), XK_OK);
	is_done(&r, XK_OK);
	is_done(&s, XK_OK);
	CU_ASSERT(r.st.len == MOST && is_what_was_sent(t, MOST));
	CU_ASSERT_EQUAL(job_count("p1", "taken_by_copy"), 1);
	CU_ASSERT_EQUAL(xk_ncs_unexpected(proc[1]), 0);
	xk_ncs_give(t);
	job_down(2);
}

/* ---- ends ----------------------------------------------------------------------------------------------- */

/* Who ends it: the holder closes, its thread is detached, its process stops, the peer closes. */
static void what_is_held_outlives_its_connection(void)
{
	for (unsigned who = 0; who < 4; who++) {
		int ended = who < 2 ? XK_E_BADF : who == 2 ? XK_E_SHUTDOWN : XK_E_CONNRESET;
		struct xk_ncs_held *h, *kept, *came, *never;
		struct xk_ncs_conn *b, *a;
		struct xk_ncs_req r, gone;

		fill(who);
		job_virtual(2, "", "");
		a = joined(0, 1, NULL, &b);
		h = reserved(b, 5000);
		CU_ASSERT_EQUAL(xk_ncs_send(a, 1, out, 4000, 0), XK_OK);
		job_run(XK_SEC);
		CU_ASSERT_EQUAL(xk_ncs_take(b, 1, &kept, NULL, 0), XK_OK);
		CU_ASSERT_EQUAL(xk_ncs_itake(b, 2, &came, &r), XK_OK);
		CU_ASSERT_EQUAL(xk_ncs_itake(b, 3, &never, &gone), XK_OK);
		CU_ASSERT_EQUAL(xk_ncs_send(a, 2, out, 6000, 0), XK_OK);
		is_done(&r, XK_OK);
		if (who == 0)
			xk_ncs_close(b);
		else if (who == 1)
			xk_ncs_detach(thr[1]);
		else if (who == 2)
			xk_ncs_stop(proc[1]);
		else
			xk_ncs_close(a);
		job_run(XK_SEC);
		CU_ASSERT_EQUAL(xk_ncs_test(&gone), ended);
		CU_ASSERT_EQUAL(xk_ncs_commit(h, 1, 0), ended);
		CU_ASSERT(is_what_was_sent(kept, 4000) && is_what_was_sent(came, 6000) && is_what_was_sent(never, 0));
		xk_ncs_give(h);
		xk_ncs_give(kept);
		xk_ncs_give(came);
		xk_ncs_give(never);
		if (who == 1)
			CU_ASSERT_EQUAL(xk_ncs_attach(proc[1], 0, &thr[1]), XK_OK);
		job_down(2);
	}
}

static void what_waits_may_be_cancelled(void)
{
	struct xk_ncs_held *h, *t;
	struct xk_ncs_conn *b, *a;
	struct xk_ncs_req s, r;

	fill(9);
	job_virtual(2, "eager = 1000, unexpected = 2000", "");
	a = joined(0, 1, NULL, &b);
	h = reserved(a, 5000);
	CU_ASSERT_EQUAL(xk_ncs_icommit(h, 1, &s), XK_OK);
	job_run(XK_SEC);
	CU_ASSERT_EQUAL(xk_ncs_cancel(&s), XK_OK);                       /* announced; and it may be sent again */
	CU_ASSERT_EQUAL(xk_ncs_itake(b, 1, &t, &r), XK_OK);
	job_run(XK_SEC);
	CU_ASSERT_EQUAL(xk_ncs_cancel(&r), XK_OK);
	xk_ncs_give(t);
	CU_ASSERT_EQUAL(xk_ncs_icommit(h, 2, &s), XK_OK);
	CU_ASSERT_EQUAL(xk_ncs_itake(b, 2, &t, &r), XK_OK);
	is_done(&r, XK_OK);
	is_done(&s, XK_OK);
	CU_ASSERT(is_what_was_sent(t, 5000));
	xk_ncs_give(t);
	xk_ncs_give(h);
	xk_ncs_give(NULL);
	job_down(2);
}

static void every_allocation_may_fail(void)
{
	unsigned good = 0, n = (unsigned)xk_test_rounds(60);

	for (unsigned k = 1; k <= n; k++) {
		struct xk_ncs_held *h = NULL, *t = NULL;
		struct xk_ncs_conn *b, *a;
		struct xk_ncs_req s = { .err = XK_E_NOMEM }, r;
		int err;

		fill(k);
		job_virtual(2, k % 2 ? "held = 1000, eager = 1000" : "eager = '1MiB'", "");
		a = joined(0, 1, NULL, &b);
		xk_mem_fail_after(k < n ? k / 2 + 1 : 0);       /* the last one has all that it asks for */
		err = xk_ncs_itake(b, 1, &t, &r);
		CU_ASSERT(err == XK_OK || err == XK_E_NOMEM);
		if (k % 2 == 0 && xk_ncs_reserve(a, 5000, &h) == XK_OK) {
			write_all(h, 5000);
			(void)xk_ncs_icommit(h, 1, &s);
		} else if (k % 2 != 0) {
			(void)xk_ncs_isend(a, 1, out, 5000, &s);
		}
		job_run(2 * XK_SEC);
		xk_mem_fail_after(0);
		job_run(15 * XK_SEC);
		if (err == XK_OK && xk_ncs_test(&r) == XK_OK) {
			CU_ASSERT(is_what_was_sent(t, 5000));
			good++;
		} else if (err == XK_OK && xk_ncs_test(&r) == XK_E_INPROGRESS) {
			CU_ASSERT(xk_ncs_test(&s) != XK_OK);
			CU_ASSERT_EQUAL(xk_ncs_cancel(&r), XK_OK);
		}
		(void)xk_ncs_cancel(&s);
		job_run(XK_SEC);
		xk_ncs_give(t);
		xk_ncs_give(h);
		job_down(2);
	}
	CU_ASSERT(good > 0);
	printf("# %u of %u\n", good, n);
}

#define T(x) { #x, x }
static CU_TestInfo held[] = {
	T(every_length_goes_as_it_was_written), T(both_kinds_of_calls_meet),
	T(who_holds_much_is_refused_and_has_copies), T(what_the_peer_does_not_take_is_refused),
	T(what_it_does_not_take_any_more_is_withdrawn),
	T(a_long_one_is_not_held), T(what_is_held_outlives_its_connection), T(what_waits_may_be_cancelled),
	T(every_allocation_may_fail), CU_TEST_INFO_NULL
};

int main(void)
{
	static const CU_SuiteInfo suites[] = { { .pName = "ncs held", .pTests = held }, CU_SUITE_INFO_NULL };

	return xk_test_main_rcu(suites);
}

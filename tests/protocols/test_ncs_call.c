/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_ncs_call.c - a program's calls over ncs (xk_ncs.h), several processes of one graph in virtual time.
 *
 * Promises: a connection names process, thread and session; messages of every size come as they were,
 * straight into a buffer that waits for them; sources, tags and wildcards match in MPI's order; what
 * does not fit stays; who is refused is told why; what is lost, closed, cancelled or stopped ends
 * requests; nothing is left when the graph goes, whatever was open.
 */
#include "runtime/base/xk_rand.h"
#include "runtime/compose/xk_compose.h"
#include "tests/protocols/ncs_job.h"
#include "tests/support/xk_test.h"

#include <limits.h>

#define MOST 300000u
static uint8_t out[MOST], in[MOST];

static void fill(void)
{
	for (uint32_t i = 0; i < MOST; i++)
		out[i] = (uint8_t)(i * 7 + i / 256 * 3 + i / 65536);
}

/* Joins thread 0 of a to thread 0 of b; the second is the accepter's. */
static struct xk_ncs_conn *joined(unsigned a, unsigned b, unsigned session, const struct xk_ncs_choice *ch,
				  struct xk_ncs_conn **other)
{
	struct xk_ncs_conn *c;
	struct xk_ncs_addr from;
	struct xk_ncs_req r;

	CU_ASSERT_EQUAL_FATAL(xk_ncs_iopen(thr[a], &(struct xk_ncs_addr){ (int)b, 0, session, 0 }, ch, &c, &r), XK_OK);
	job_run(XK_SEC);
	CU_ASSERT_EQUAL_FATAL(xk_ncs_test(&r), XK_OK);
	CU_ASSERT_EQUAL_FATAL(xk_ncs_accept(thr[b], other, &from, 0), XK_OK);
	CU_ASSERT(from.rank == (int)a && from.thread == 0 && from.session == session);
	CU_ASSERT_EQUAL(from.host, 0x0a000001u + a);
	return c;
}

static void send_now(struct xk_ncs_conn *c, int tag, const void *b, size_t n)
{
	CU_ASSERT_EQUAL(xk_ncs_send(c, tag, b, n, 0), XK_OK);
	job_run(100 * XK_MS);
}

/* The longest goes by announcement. */
static void begun(struct xk_ncs_conn *c, int tag, size_t n)
{
	struct xk_ncs_req r;

	CU_ASSERT_EQUAL(xk_ncs_isend(c, tag, out, n, &r), XK_OK);
	job_run(200 * XK_MS);
	CU_ASSERT_EQUAL(xk_ncs_test(&r), XK_OK);
}

/* ---- addresses ---------------------------------------------------------------------------------- */

static void a_connection_names_process_thread_and_session(void)
{
	static const struct { int rank; unsigned thread, session; } to[] = {
		{ 1, 0, 5 }, { 1, 9, 5 }, { 1, 9, 6 }, { 2, 65535, 0x7fffffffu }, { 0, 9, 1 }, { 0, 0, 0 },
	};
	struct xk_ncs_thread *more[3];
	struct xk_ncs_conn *c[6], *a;
	struct xk_ncs_req r[6];
	struct xk_ncs_addr who;

	job_virtual(3, "", "");
	CU_ASSERT_EQUAL(xk_ncs_rank(proc[2]), 2);
	CU_ASSERT_EQUAL(xk_ncs_size(proc[2]), 3);
	CU_ASSERT_EQUAL(xk_ncs_attach(proc[1], 9, &more[0]), XK_OK);
	CU_ASSERT_EQUAL(xk_ncs_attach(proc[2], 65535, &more[1]), XK_OK);
	CU_ASSERT_EQUAL(xk_ncs_attach(proc[0], 9, &more[2]), XK_OK);
	CU_ASSERT_EQUAL(xk_ncs_attach(proc[1], 9, &(struct xk_ncs_thread *){ NULL }), XK_E_EXIST);
	CU_ASSERT_EQUAL(xk_ncs_attach(proc[1], 65536, &(struct xk_ncs_thread *){ NULL }), XK_E_INVAL);
	for (unsigned i = 0; i < 4; i++)
		CU_ASSERT_EQUAL(xk_ncs_iopen(more[2], &(struct xk_ncs_addr){ to[i].rank, to[i].thread, to[i].session, 0 },
					     NULL, &c[i], &r[i]), XK_OK);
	job_run(XK_SEC);
	for (unsigned i = 0; i < 4; i++) {
		CU_ASSERT_EQUAL_FATAL(xk_ncs_test(&r[i]), XK_OK);
		xk_ncs_peer(c[i], &who);
		CU_ASSERT(who.rank == to[i].rank && who.thread == to[i].thread && who.session == to[i].session);
	}
	CU_ASSERT_EQUAL(xk_ncs_accept(thr[2], &a, &who, 0), XK_E_AGAIN);
	CU_ASSERT_EQUAL(xk_ncs_accept(thr[1], &a, &who, 0), XK_OK);
	CU_ASSERT(who.rank == 0 && who.thread == 9 && who.session == 5);
	CU_ASSERT_EQUAL(xk_ncs_accept(more[0], &a, &who, 0), XK_OK);
	CU_ASSERT_EQUAL(who.session, 5);
	CU_ASSERT_EQUAL(xk_ncs_accept(more[0], &a, &who, 0), XK_OK);
	CU_ASSERT_EQUAL(who.session, 6);
	CU_ASSERT_EQUAL(xk_ncs_accept(more[0], &a, &who, 0), XK_E_AGAIN);
	CU_ASSERT_EQUAL(xk_ncs_accept(more[1], &a, &who, 0), XK_OK);
	CU_ASSERT_EQUAL(who.session, 0x7fffffffu);
	for (unsigned i = 0; i < 3; i++)
		xk_ncs_detach(more[i]);
	job_down(3);
}

/* ---- messages ------------------------------------------------------------------------------------- */

static void every_size_comes_as_it_was(void)
{
	static const size_t sizes[] = { 0, 1, 991, 992, 993, 5000, 65536, MOST };
	static const struct xk_ncs_choice ways[] = { { .path = NULL }, { .flow = "window" }, { .over = "udp", .flow = "none" } };
	struct xk_ncs_status st;
	struct xk_ncs_req r;

	fill();
	job_virtual(2, "", "");
	for (unsigned w = 0; w < XK_ARRAY_LEN(ways); w++) {
		struct xk_ncs_conn *b, *a = joined(0, 1, w, &ways[w], &b);

		for (unsigned i = 0; i < XK_ARRAY_LEN(sizes); i++) {
			begun(a, (int)i, sizes[i]);                       /* nobody asks for it yet */
			memset(in, 0, sizeof in);
			CU_ASSERT_EQUAL(xk_ncs_recv(b, XK_NCS_ANY, in, sizeof in, &st, 0), XK_OK);
			CU_ASSERT(st.len == sizes[i] && st.tag == (int)i && st.rank == 0 && st.session == w && st.conn == b);
			CU_ASSERT_EQUAL(memcmp(in, out, sizes[i]), 0);
			memset(in, 0, sizeof in);
			CU_ASSERT_EQUAL(xk_ncs_irecv(b, 1000, in, sizes[i], &r), XK_OK);
			CU_ASSERT_EQUAL(xk_ncs_test(&r), XK_E_INPROGRESS);
			begun(a, 1000, sizes[i]);                         /* somebody does */
			CU_ASSERT_EQUAL(xk_ncs_test(&r), XK_OK);
			CU_ASSERT_EQUAL(r.st.len, sizes[i]);
			CU_ASSERT_EQUAL(memcmp(in, out, sizes[i]), 0);
			CU_ASSERT_EQUAL(xk_ncs_flush(a, 0), XK_OK);
		}
		CU_ASSERT_EQUAL(xk_ncs_recv(b, XK_NCS_ANY, in, sizeof in, &st, 0), XK_E_AGAIN);
	}
	CU_ASSERT_EQUAL(job_count("p1", "messages_in"), 2 * XK_ARRAY_LEN(sizes) * XK_ARRAY_LEN(ways));
	CU_ASSERT_EQUAL(job_count("p1", "to_posted_receives"), XK_ARRAY_LEN(sizes) * XK_ARRAY_LEN(ways));
	job_down(2);
}

static void what_does_not_fit_stays(void)
{
	struct xk_ncs_conn *b, *a;
	struct xk_ncs_status st;
	struct xk_ncs_req small, large;

	fill();
	job_virtual(2, "", "");
	a = joined(0, 1, 0, NULL, &b);
	send_now(a, 3, out, 1000);
	CU_ASSERT_EQUAL(xk_ncs_recv(b, 3, in, 999, &st, 0), XK_E_MSGSIZE);
	CU_ASSERT_EQUAL(st.len, 1000);
	CU_ASSERT_EQUAL(xk_ncs_probe(b, 3, &st, 0), XK_OK);
	CU_ASSERT_EQUAL(st.len, 1000);
	CU_ASSERT_EQUAL(xk_ncs_probe(b, 4, &st, 0), XK_E_AGAIN);
	CU_ASSERT_EQUAL(xk_ncs_recv(b, 3, in, 1000, &st, 0), XK_OK);
	CU_ASSERT_EQUAL(xk_ncs_irecv(b, 3, in, 999, &small), XK_OK);
	CU_ASSERT_EQUAL(xk_ncs_irecv(b, 3, in, 1000, &large), XK_OK);
	send_now(a, 3, out, 1000);
	CU_ASSERT_EQUAL(xk_ncs_test(&small), XK_E_MSGSIZE);
	CU_ASSERT_EQUAL(small.st.len, 1000);
	CU_ASSERT_EQUAL(xk_ncs_test(&large), XK_OK);
	CU_ASSERT_EQUAL(xk_ncs_send(a, 0, out, (1u << 20) - 7, 0), XK_E_MSGSIZE);
	CU_ASSERT_EQUAL(xk_ncs_send(a, -1, out, 1, 0), XK_E_INVAL);
	CU_ASSERT_EQUAL(xk_ncs_recv(b, -2, in, 1, &st, 0), XK_E_INVAL);
	CU_ASSERT_EQUAL(xk_ncs_recv_any(thr[0], 2, 0, in, 1, &st, 0), XK_E_RANGE);
	job_down(2);
}

/* ---- matching ----------------------------------------------------------------------------------------- */

static void sources_and_tags_match_in_the_order_of_coming_and_of_asking(void)
{
	struct xk_ncs_conn *a, *b, *x, *y;
	struct xk_ncs_status st;
	struct xk_ncs_req r[5], last;
	char got[5][8], t[8];

	job_virtual(3, "", "");
	a = joined(0, 2, 0, NULL, &x);
	b = joined(1, 2, 0, NULL, &y);
	send_now(a, 5, "a5", 3);
	send_now(b, 5, "b5", 3);
	send_now(b, 6, "b6", 3);
	send_now(a, 6, "a6", 3);
	CU_ASSERT_EQUAL(xk_ncs_probe_any(thr[2], XK_NCS_ANY, 6, &st, 0), XK_OK);
	CU_ASSERT(st.rank == 1 && st.tag == 6 && st.len == 3 && st.conn == y);
	CU_ASSERT_EQUAL(xk_ncs_recv_any(thr[2], XK_NCS_ANY, 6, t, 8, &st, 0), XK_OK);
	CU_ASSERT_STRING_EQUAL(t, "b6");
	CU_ASSERT_EQUAL(xk_ncs_recv_any(thr[2], 1, XK_NCS_ANY, t, 8, &st, 0), XK_OK);
	CU_ASSERT_STRING_EQUAL(t, "b5");
	CU_ASSERT_EQUAL(xk_ncs_recv_any(thr[2], XK_NCS_ANY, XK_NCS_ANY, t, 8, &st, 0), XK_OK);
	CU_ASSERT_STRING_EQUAL(t, "a5");
	CU_ASSERT_EQUAL(xk_ncs_recv(y, XK_NCS_ANY, t, 8, &st, 0), XK_E_AGAIN);
	CU_ASSERT_EQUAL(xk_ncs_recv(x, XK_NCS_ANY, t, 8, &st, 0), XK_OK);
	CU_ASSERT_STRING_EQUAL(t, "a6");
	/* Receives that were posted first get what fits them first. */
	CU_ASSERT_EQUAL(xk_ncs_irecv_any(thr[2], XK_NCS_ANY, 7, got[0], 8, &r[0]), XK_OK);
	CU_ASSERT_EQUAL(xk_ncs_irecv_any(thr[2], 1, XK_NCS_ANY, got[1], 8, &r[1]), XK_OK);
	CU_ASSERT_EQUAL(xk_ncs_irecv(x, XK_NCS_ANY, got[2], 8, &r[2]), XK_OK);
	CU_ASSERT_EQUAL(xk_ncs_irecv_any(thr[2], XK_NCS_ANY, XK_NCS_ANY, got[3], 8, &r[3]), XK_OK);
	CU_ASSERT_EQUAL(xk_ncs_irecv(y, 9, got[4], 8, &r[4]), XK_OK);
	send_now(b, 9, "1", 2);
	send_now(b, 9, "2", 2);
	send_now(b, 9, "3", 2);
	send_now(a, 7, "4", 2);
	send_now(a, 7, "5", 2);
	for (unsigned i = 0; i < 5; i++)
		CU_ASSERT_EQUAL(xk_ncs_test(&r[i]), XK_OK);
	CU_ASSERT(got[0][0] == '4' && got[1][0] == '1' && got[2][0] == '5' && got[3][0] == '2' && got[4][0] == '3');
	/* Cancelled, it gets nothing. */
	CU_ASSERT_EQUAL(xk_ncs_irecv(x, 1, got[0], 8, &r[0]), XK_OK);
	CU_ASSERT_EQUAL(xk_ncs_irecv(x, 1, got[1], 8, &last), XK_OK);
	CU_ASSERT_EQUAL(xk_ncs_cancel(&r[0]), XK_OK);
	send_now(a, 1, "6", 2);
	CU_ASSERT_EQUAL(xk_ncs_test(&r[0]), XK_E_CONNABORTED);
	CU_ASSERT_EQUAL(xk_ncs_waitany((struct xk_ncs_req *[]){ NULL, &last }, 2, 0), 1);
	CU_ASSERT_EQUAL(xk_ncs_cancel(&last), XK_E_BUSY);
	CU_ASSERT_EQUAL(got[1][0], '6');
	job_down(3);
}

/* ---- room ------------------------------------------------------------------------------------------------ */

/* 4 MiB are kept below; what is more waits, and may be cancelled as long as it does. */
/* ---- many that nobody has received -------------------------------------------------------------------- */

#define KEPT 150u
struct came { struct xk_ncs_conn *at; int rank, tag; unsigned no; bool gone; };

/* The first that fits, as a list has it that is looked through from its start; -1: none. */
static int first_that_fits(const struct came *m, const struct xk_ncs_conn *c, int rank, int tag)
{
	for (unsigned i = 0; i < KEPT; i++)
		if (!m[i].gone && (tag == XK_NCS_ANY || tag == m[i].tag) && (c != NULL ? c == m[i].at :
		    rank == XK_NCS_ANY || rank == m[i].rank))
			return (int)i;
	return -1;
}

/* Two connections from each of two ranks; tags that share a place, and that do not. */
static void a_talk(unsigned seed)
{
	static const int tags[] = { 0, 1, 31, 64, 65, 128, INT_MAX };
	struct xk_ncs_conn *to[4], *from[4];
	static struct came m[KEPT];
	struct xk_rand rand;
	unsigned no, left = KEPT;

	xk_rand_init(&rand, seed, 1);
	job_virtual(3, "", "");
	for (unsigned i = 0; i < 4; i++)
		from[i] = joined(i % 2 == 0 ? 0 : 2, 1, i, NULL, &to[i]);
	for (unsigned i = 0; i < KEPT; i++) {
		unsigned k = (unsigned)xk_rand_below(&rand, 4);
		int tag = tags[xk_rand_below(&rand, XK_ARRAY_LEN(tags))];

		m[i] = (struct came){ to[k], k % 2 == 0 ? 0 : 2, tag, i, false };
		CU_ASSERT_EQUAL(xk_ncs_send(from[k], m[i].tag, &i, sizeof i, 0), XK_OK);
		job_run(10 * XK_MS);
	}
	for (unsigned tries = 0; left > 0 && tries < 100 * KEPT; tries++) {
		struct xk_ncs_conn *c = xk_rand_below(&rand, 2) == 0 ? to[xk_rand_below(&rand, 4)] : NULL;
		int rank = (int)xk_rand_below(&rand, 4) - 1, tag = xk_rand_below(&rand, 8) == 0 ? XK_NCS_ANY :
			   tags[xk_rand_below(&rand, XK_ARRAY_LEN(tags))], i = first_that_fits(m, c, rank, tag);
		int err = c != NULL ? xk_ncs_recv(c, tag, &no, sizeof no, NULL, 0) :
			  xk_ncs_recv_any(thr[1], rank, tag, &no, sizeof no, NULL, 0);

		CU_ASSERT_EQUAL(err, i >= 0 ? XK_OK : XK_E_AGAIN);
		CU_ASSERT(i < 0 || no == m[i].no);
		if (i >= 0)
			m[i].gone = true;
		left -= i >= 0;
	}
	CU_ASSERT_EQUAL(left, 0);
	job_down(3);
}

static void the_first_that_fits_is_found_among_many(void)
{
	unsigned n = (unsigned)xk_test_rounds(12);

	for (unsigned seed = 1; seed <= n; seed++)
		a_talk(seed);
}

static void a_send_that_has_no_room_waits(void)
{
	static uint8_t big[700000];
	struct xk_ncs_conn *b, *a;
	struct xk_ncs_req r[8];

	job_virtual(2, "unexpected = '1GiB', eager = '1MiB'", "");
	a = joined(0, 1, 0, NULL, &b);
	for (unsigned i = 0; i < 8; i++)
		CU_ASSERT_EQUAL(xk_ncs_isend(a, (int)i, big, sizeof big, &r[i]), XK_OK);
	for (unsigned i = 0; i < 8; i++)
		CU_ASSERT_EQUAL(xk_ncs_test(&r[i]), i < 5 ? XK_OK : XK_E_INPROGRESS);
	CU_ASSERT_EQUAL(xk_ncs_send(a, 8, big, 1, 0), XK_E_AGAIN);
	CU_ASSERT_EQUAL(xk_ncs_cancel(&r[6]), XK_OK);
	CU_ASSERT_EQUAL(xk_ncs_cancel(&r[0]), XK_E_BUSY);
	CU_ASSERT_EQUAL(xk_ncs_flush(a, 0), XK_E_AGAIN);
	job_run(60 * XK_SEC);
	CU_ASSERT_EQUAL(xk_ncs_test(&r[7]), XK_OK);
	CU_ASSERT_EQUAL(xk_ncs_flush(a, 0), XK_OK);
	CU_ASSERT_EQUAL(xk_ncs_probe(b, 6, NULL, 0), XK_E_AGAIN);
	CU_ASSERT_EQUAL(xk_ncs_probe(b, 7, NULL, 0), XK_OK);
	job_down(2);
}

static void messages_that_nobody_receives_end_the_connection_that_brings_more(void)
{
	struct xk_ncs_conn *b, *a, *y, *x;
	struct xk_ncs_status st;

	job_virtual(3, "unexpected = 2500", "");
	a = joined(0, 1, 0, NULL, &b);
	x = joined(2, 1, 0, NULL, &y);
	send_now(a, 1, out, 1000);
	send_now(a, 2, out, 1000);
	send_now(a, 3, out, 1000);
	CU_ASSERT_EQUAL(job_count("p1", "unexpected_full"), 1);
	job_run(XK_SEC);
	CU_ASSERT_EQUAL(xk_ncs_send(a, 4, out, 1, 0), XK_E_CONNRESET);
	CU_ASSERT_EQUAL(xk_ncs_recv(b, 2, in, sizeof in, &st, 0), XK_OK);
	CU_ASSERT_EQUAL(xk_ncs_recv(b, 1, in, sizeof in, &st, 0), XK_OK);
	CU_ASSERT_EQUAL(xk_ncs_recv(b, 3, in, sizeof in, &st, 0), XK_E_NOSPC);
	send_now(x, 1, out, 2300);               /* others are as they were */
	CU_ASSERT_EQUAL(xk_ncs_recv(y, 1, in, sizeof in, &st, 0), XK_OK);
	job_down(3);
}

static void empty_messages_that_nobody_receives_count_too(void)
{
	struct xk_ncs_conn *b, *a;
	unsigned n = 0;

	job_virtual(2, "unexpected = 2500", "");
	a = joined(0, 1, 0, NULL, &b);
	while (n < 1000 && xk_ncs_send(a, 1, out, 0, 0) != XK_E_CONNRESET) {
		job_run(XK_MS);
		n++;
	}
	CU_ASSERT(n > 10 && n < 1000);
	CU_ASSERT_EQUAL(job_count("p1", "unexpected_full"), 1);
	job_down(2);
}

/* ---- refusals and ends -------------------------------------------------------------------------------------- */

static void refused(const struct xk_ncs_addr *to, const struct xk_ncs_choice *ch, int err, const char *why)
{
	struct xk_ncs_conn *c;
	struct xk_ncs_req r;

	CU_ASSERT_EQUAL_FATAL(xk_ncs_iopen(thr[0], to, ch, &c, &r), XK_OK);
	job_run(15 * XK_SEC);
	CU_ASSERT_EQUAL(xk_ncs_test(&r), err);
	CU_ASSERT_STRING_EQUAL(r.why, why);
	CU_ASSERT_EQUAL(xk_ncs_send(c, 0, "", 0, 0), err);
	xk_ncs_close(c);
}

static void who_is_refused_is_told_why(void)
{
	struct xk_ncs_conn *c;
	struct xk_ncs_req r;

	job_virtual(2, "backlog = 1", "");
	refused(&(struct xk_ncs_addr){ .rank = 1, .thread = 4 }, NULL, XK_E_NOENT, "no such thread there");
	refused(&(struct xk_ncs_addr){ .rank = 1 }, &(struct xk_ncs_choice){ .path = "audio" }, XK_E_NOENT, "no 'audio' here");
	refused(&(struct xk_ncs_addr){ .rank = 1 }, &(struct xk_ncs_choice){ .flow = "pace" }, XK_E_NOENT, "no 'pace' here");
	refused(&(struct xk_ncs_addr){ .rank = 1, .host = 0x0a000009 }, NULL, XK_E_TIMEDOUT, "");
	CU_ASSERT_EQUAL(xk_ncs_iopen(thr[0], &(struct xk_ncs_addr){ .rank = 2 }, NULL, &c, &r), XK_E_RANGE);
	CU_ASSERT_PTR_NULL(c);
	CU_ASSERT_EQUAL(xk_ncs_iopen(thr[0], &(struct xk_ncs_addr){ .rank = 1 }, NULL, &c, &r), XK_OK);
	job_run(XK_SEC);
	CU_ASSERT_EQUAL(xk_ncs_test(&r), XK_OK);
	refused(&(struct xk_ncs_addr){ .rank = 1 }, NULL, XK_E_NOSPC, "");
	CU_ASSERT_EQUAL(xk_ncs_open(thr[0], &(struct xk_ncs_addr){ .rank = 1 }, NULL, &c, NULL, 0), XK_E_AGAIN);
	CU_ASSERT_PTR_NULL(c);
	job_down(2);
}

static void the_peers_end_comes_behind_its_messages(void)
{
	struct xk_ncs_conn *b, *a;
	struct xk_ncs_status st;
	struct xk_ncs_req r[3];

	job_virtual(2, "", "loss = 0.1, seed = 4");
	a = joined(0, 1, 0, NULL, &b);
	CU_ASSERT_EQUAL(xk_ncs_irecv(b, 8, in, 10, &r[0]), XK_OK);
	CU_ASSERT_EQUAL(xk_ncs_irecv_any(thr[1], 0, 8, in, 10, &r[1]), XK_OK);
	CU_ASSERT_EQUAL(xk_ncs_irecv_any(thr[1], XK_NCS_ANY, 8, in, 10, &r[2]), XK_OK);
	for (int i = 0; i < 5; i++)
		CU_ASSERT_EQUAL(xk_ncs_send(a, i, out, 5000, 0), XK_OK);
	xk_ncs_close(a);
	job_run(5 * XK_SEC);
	CU_ASSERT_EQUAL(xk_ncs_test(&r[0]), XK_E_CONNRESET);
	CU_ASSERT_EQUAL(xk_ncs_test(&r[1]), XK_E_CONNRESET);
	CU_ASSERT_EQUAL(xk_ncs_test(&r[2]), XK_E_INPROGRESS);    /* somebody else may still come */
	for (int i = 0; i < 5; i++) {
		CU_ASSERT_EQUAL(xk_ncs_recv(b, XK_NCS_ANY, in, sizeof in, &st, 0), XK_OK);
		CU_ASSERT_EQUAL(st.tag, i);
	}
	CU_ASSERT_EQUAL(xk_ncs_recv(b, XK_NCS_ANY, in, sizeof in, &st, 0), XK_E_CONNRESET);
	CU_ASSERT_EQUAL(xk_ncs_send(b, 0, out, 1, 0), XK_E_CONNRESET);
	CU_ASSERT_EQUAL(xk_ncs_flush(b, 0), XK_E_CONNRESET);
	xk_ncs_close(b);
	CU_ASSERT_EQUAL(xk_ncs_cancel(&r[2]), XK_OK);
	job_down(2);
}

static void closing_and_stopping_end_what_was_begun(void)
{
	struct xk_ncs_conn *b, *a, *c;
	struct xk_ncs_req r[3], o;

	job_virtual(2, "", "");
	a = joined(0, 1, 0, NULL, &b);
	CU_ASSERT_EQUAL(xk_ncs_irecv(a, 8, in, 10, &r[0]), XK_OK);
	xk_ncs_close(a);
	CU_ASSERT_EQUAL(xk_ncs_test(&r[0]), XK_E_BADF);
	CU_ASSERT_EQUAL(xk_ncs_iopen(thr[0], &(struct xk_ncs_addr){ .rank = 1 }, NULL, &c, &o), XK_OK);
	xk_ncs_close(c);                         /* before the peer has answered */
	CU_ASSERT_EQUAL(xk_ncs_test(&o), XK_E_BADF);
	CU_ASSERT_EQUAL(xk_ncs_irecv_any(thr[1], XK_NCS_ANY, 8, in, 10, &r[1]), XK_OK);
	CU_ASSERT_EQUAL(xk_ncs_irecv(b, 8, in, 10, &r[2]), XK_OK);
	xk_ncs_stop(proc[1]);
	CU_ASSERT_EQUAL(xk_ncs_test(&r[1]), XK_E_SHUTDOWN);
	CU_ASSERT_EQUAL(xk_ncs_test(&r[2]), XK_E_SHUTDOWN);
	CU_ASSERT_EQUAL(xk_ncs_irecv(b, 8, in, 10, &r[2]), XK_E_SHUTDOWN);
	CU_ASSERT_EQUAL(xk_ncs_test(&r[2]), XK_E_SHUTDOWN);
	job_run(XK_SEC);
	job_down(2);
}

/* Threads, connections, messages and requests are there when the graph goes. */
static void nothing_is_left_of_what_was_open(void)
{
	struct xk_ncs_conn *b, *a;
	struct xk_ncs_req r;

	job_virtual(2, "", "");
	a = joined(0, 1, 0, NULL, &b);
	send_now(a, 1, out, 5000);
	CU_ASSERT_EQUAL(xk_ncs_isend(a, 2, out, 50000, &r), XK_OK);
	xk_ncs_stop(proc[0]);
	thr[0] = thr[1] = NULL;
	job_down(2);
}

static void every_allocation_may_fail(void)
{
	unsigned good = 0;

	for (unsigned k = 1; k <= 60; k++) {
		struct xk_ncs_conn *c = NULL, *b = NULL;
		struct xk_ncs_req r;
		int err;

		job_virtual(2, "", "");
		xk_mem_fail_after(k);
		err = xk_ncs_iopen(thr[0], &(struct xk_ncs_addr){ .rank = 1 }, NULL, &c, &r);
		if (err == XK_OK) {
			job_run(300 * XK_MS);
			if (xk_ncs_test(&r) == XK_OK && xk_ncs_send(c, 1, out, 5000, 0) == XK_OK) {
				job_run(300 * XK_MS);
				good += xk_ncs_accept(thr[1], &b, NULL, 0) == XK_OK &&
					xk_ncs_recv(b, 1, in, sizeof in, NULL, 0) == XK_OK;
			}
		}
		xk_mem_fail_after(0);
		CU_ASSERT(err == XK_OK || err == XK_E_NOMEM);
		xk_ncs_close(c);
		job_run(15 * XK_SEC);
		job_down(2);
	}
	CU_ASSERT(good > 0);
}

#define T(x) { #x, x }
static CU_TestInfo calls[] = {
	T(a_connection_names_process_thread_and_session), T(every_size_comes_as_it_was), T(what_does_not_fit_stays),
	T(sources_and_tags_match_in_the_order_of_coming_and_of_asking), T(a_send_that_has_no_room_waits),
	T(the_first_that_fits_is_found_among_many), T(empty_messages_that_nobody_receives_count_too),
	T(messages_that_nobody_receives_end_the_connection_that_brings_more), T(who_is_refused_is_told_why),
	T(the_peers_end_comes_behind_its_messages), T(closing_and_stopping_end_what_was_begun),
	T(nothing_is_left_of_what_was_open), T(every_allocation_may_fail), CU_TEST_INFO_NULL
};

int main(void)
{
	static const CU_SuiteInfo suites[] = { { .pName = "ncs calls", .pTests = calls }, CU_SUITE_INFO_NULL };

	return xk_test_main_rcu(suites);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_ncs_strain.c - announced messages of ncs (xk_ncs.h) where a process stops beside them, a receive or a probe
 * is told late, memory is short, or the peer says more than it may; in virtual time.
 *
 * Promises: an end of any kind withdraws what was announced; what is free again is found by receives and probes that
 * wait; what a connection keeps of notes and announcements is bounded, whatever its peer says.
 * A peer that is not like us is one of ours whose notes the test says itself, below its process.
 */
#include "protocols/ncs/ncs_call.h"
#include "protocols/ncs/ncs_priv.h"
#include "runtime/base/xk_bytes.h"
#include "runtime/compose/xk_compose.h"
#include "runtime/mem/xk_alloc.h"
#include "tests/protocols/ncs_announce.h"
#include "tests/support/xk_test.h"

static uint8_t out[700000], in[700000];

static const struct xk_ncs_choice bare = { .flow = "none", .error = "none" };

/* ---- ends --------------------------------------------------------------------------------------------- */

/* READY comes behind the end; the peer hears that there is none. */
static void a_process_that_stops_withdraws_what_it_announced(void)
{
	for (unsigned k = 0; k < 4; k++) {
		struct xk_ncs_conn *b, *a;
		struct xk_ncs_req s[2], r;

		a = job_joined(k % 2 ? &bare : NULL, &b);
		CU_ASSERT_EQUAL(xk_ncs_isend(a, 1, out, LONG, &s[0]), XK_OK);
		CU_ASSERT_EQUAL(xk_ncs_isend(a, 2, out, LONG, &s[1]), XK_OK);
		job_run(XK_SEC);
		xk_ncs_stop(proc[0]);
		CU_ASSERT_EQUAL(xk_ncs_test(&s[0]), XK_E_SHUTDOWN);
		job_run(k < 2 ? XK_SEC : 0);
		CU_ASSERT_EQUAL(xk_ncs_irecv(b, 1, in, LONG, &r), XK_OK);
		job_run(XK_SEC);
		CU_ASSERT_EQUAL(xk_ncs_test(&r), XK_E_INPROGRESS);
		CU_ASSERT_EQUAL(job_count("p1", "withdrawn"), 2);
		CU_ASSERT_EQUAL(xk_ncs_probe(b, XK_NCS_ANY, NULL, 0), XK_E_AGAIN);
		CU_ASSERT_EQUAL(xk_ncs_unexpected(proc[1]), 0);
		CU_ASSERT_EQUAL(xk_ncs_cancel(&r), XK_OK);
		job_down(2);
	}
}

/* The receive had found one that does not come any more; another is here. */
static void a_receive_gets_what_is_here_before_it_hears_of_the_end(void)
{
	struct xk_ncs_conn *b, *a;
	struct xk_ncs_req s, r;

	a = job_joined(NULL, &b);
	CU_ASSERT_EQUAL(xk_ncs_isend(a, 1, out, LONG, &s), XK_OK);
	CU_ASSERT_EQUAL(xk_ncs_send(a, 1, "here", 5, 0), XK_OK);
	job_run(XK_SEC);
	cut(1);
	CU_ASSERT_EQUAL(xk_ncs_irecv(b, 1, in, LONG, &r), XK_OK);
	job_run(40 * XK_SEC);
	CU_ASSERT_EQUAL(xk_ncs_test(&r), XK_OK);
	CU_ASSERT_EQUAL(r.st.len, 5);
	CU_ASSERT_STRING_EQUAL((char *)in, "here");
	CU_ASSERT_EQUAL(xk_ncs_recv(b, 1, in, LONG, NULL, 0), XK_E_TIMEDOUT);
	job_down(2);
}

/* Wherever memory ends while it is called for and sent: what is under way ends, or may be cancelled. */
static void memory_may_be_short_when_it_is_called_for(void)
{
	unsigned n = (unsigned)xk_test_rounds(60), good = 0;

	for (unsigned k = 0; k < n; k++) {
		struct xk_ncs_conn *b, *a;
		struct xk_ncs_req s, r;

		a = job_joined(k % 2 ? &bare : NULL, &b);
		CU_ASSERT_EQUAL(xk_ncs_isend(a, 1, out, LONG, &s), XK_OK);
		job_run(XK_SEC);
		CU_ASSERT_EQUAL(xk_ncs_irecv(b, 1, in, LONG, &r), XK_OK);
		xk_mem_fail_after(k / 2 + 1);
		job_run(XK_SEC);
		xk_mem_fail_after(0);
		job_run(15 * XK_SEC);
		good += xk_ncs_test(&r) == XK_OK;
		CU_ASSERT(xk_ncs_test(&s) != XK_E_INPROGRESS || xk_ncs_cancel(&s) == XK_OK);
		CU_ASSERT(xk_ncs_test(&r) != XK_E_INPROGRESS || xk_ncs_cancel(&r) == XK_OK);
		job_down(2);
	}
	printf("# %u of %u\n", good, n);
}

/* ---- who waits ----------------------------------------------------------------------------------------- */

static struct { struct xk_ncs_conn *c; struct xk_ncs_status st; int err; } probe;

static void probes(void *arg)
{
	(void)arg;
	probe.err = xk_ncs_probe(probe.c, 1, &probe.st, 3600 * XK_SEC);
}

static void a_probe_hears_of_what_a_receive_gives_back(void)
{
	struct xk_ncs_task *t;
	struct xk_ncs_conn *a;
	struct xk_ncs_req s, r;
	int err;

	a = job_joined(NULL, &probe.c);
	CU_ASSERT_EQUAL(xk_ncs_isend(a, 1, out, LONG, &s), XK_OK);
	job_run(XK_SEC);
	cut(1);                                  /* its bytes do not come meanwhile */
	CU_ASSERT_EQUAL(xk_ncs_irecv(probe.c, 1, in, LONG, &r), XK_OK);
	probe.err = XK_E_INPROGRESS;
	err = xk_ncs_spawn(proc[1], XK_NCS_USER, 0, probes, NULL, &t);
	CU_ASSERT(err == XK_OK || err == XK_E_NOTSUP);
	job_run(100 * XK_MS);
	if (err == XK_OK) {
		CU_ASSERT_EQUAL(probe.err, XK_E_INPROGRESS);
		CU_ASSERT_EQUAL(xk_ncs_cancel(&r), XK_OK);
		job_run(100 * XK_MS);
		CU_ASSERT_EQUAL(probe.err, XK_OK);
		CU_ASSERT_EQUAL(probe.st.len, LONG);
	} else {
		printf("# no user-level threads in this build\n");
	}
	xk_ncs_close(probe.c);
	job_run(XK_SEC);
	if (err == XK_OK)
		CU_ASSERT_EQUAL(xk_ncs_join(t, 0), XK_OK);
	job_down(2);
}

/* What a receive that had been promised took is less that is kept, and may be what another lacked. */
static void room_that_a_receive_leaves_is_used(void)
{
	const size_t box = sizeof(struct ncs_box), len = 10000 - 3 * box / 2;
	struct xk_ncs_conn *b, *a;
	struct xk_ncs_req s[2], r;

	job_virtual(2, "unexpected = 20000, eager = 1000", "delay = '1ms'");
	a = joined(0, 1, NULL, &b);
	CU_ASSERT_EQUAL(xk_ncs_irecv(b, 1, in, LONG, &r), XK_OK);
	CU_ASSERT_EQUAL(xk_ncs_isend(a, 1, out, LONG, &s[0]), XK_OK);
	CU_ASSERT_EQUAL(xk_ncs_isend(a, 2, out, len, &s[1]), XK_OK);
	is_done(&r, XK_OK);
	is_done(&s[1], XK_OK);
	job_run(XK_SEC);
	CU_ASSERT_EQUAL(xk_ncs_recv(b, 2, in, len, NULL, 0), XK_OK);
	CU_ASSERT_EQUAL(xk_ncs_unexpected(proc[1]), 0);
	job_down(2);
}

/* ---- bounds -------------------------------------------------------------------------------------------- */

static void what_is_beyond_the_bound_is_announced_later(void)
{
	enum { MORE = 50 };
	static struct xk_ncs_req s[PROC_OFFERS + MORE];
	struct xk_ncs_conn *b, *a;
	struct xk_ncs_req r;

	job_virtual(2, "unexpected = '1MiB', eager = 1000", "");
	a = joined(0, 1, NULL, &b);
	for (unsigned i = 0; i < PROC_OFFERS + MORE; i++)
		CU_ASSERT_EQUAL(xk_ncs_isend(a, 1, out, sizeof out - i, &s[i]), XK_OK);
	job_run(10 * XK_SEC);
	CU_ASSERT_EQUAL(job_count("p0", "announced_out"), PROC_OFFERS);
	CU_ASSERT_EQUAL(job_count("p1", "announced_in"), PROC_OFFERS);
	CU_ASSERT_EQUAL(job_count("p1", "called_for"), 0);
	CU_ASSERT_EQUAL(xk_ncs_irecv(b, 1, in, sizeof in, &r), XK_OK);
	is_done(&r, XK_OK);
	CU_ASSERT_EQUAL(r.st.len, sizeof out);
	job_run(XK_SEC);
	CU_ASSERT_EQUAL(job_count("p1", "announced_in"), PROC_OFFERS + 1);
	CU_ASSERT_EQUAL(xk_ncs_cancel(&s[7]), XK_OK);
	job_run(XK_SEC);
	CU_ASSERT_EQUAL(job_count("p1", "announced_in"), PROC_OFFERS + 2);
	for (unsigned i = 0; i < PROC_OFFERS + MORE; i++)
		(void)xk_ncs_cancel(&s[i]);
	job_run(10 * XK_SEC);
	CU_ASSERT_EQUAL(job_count("p1", "withdrawn"), PROC_OFFERS + 1);
	CU_ASSERT_EQUAL(xk_ncs_probe(b, 1, NULL, 0), XK_E_AGAIN);
	CU_ASSERT_EQUAL(xk_ncs_unexpected(proc[1]), 0);
	job_down(2);
}

/* Notes that a peer says which is not like us: n announcements from `no` on, each withdrawn at once if `takes`. */
struct says { struct xk_ncs_conn *c; uint32_t no, n, len; bool takes; };

static struct ncs_conn *below(const struct xk_ncs_conn *c) { return &ncs_sess(c->end->s.down)->conn; }

static void say_one(const struct xk_ncs_conn *c, uint32_t kind, uint32_t no, uint32_t len)
{
	uint8_t b[NCS_NOTE_LEN] = { 0 };

	xk_put_be32(b, kind);
	xk_put_be32(b + 4, no);
	xk_put_be32(b + 8, len);
	(void)xk_sess_control(c->end->s.down, NCS_CTL_NOTE, b, sizeof b);
}

static void say_op(struct xk_vp *vp, void *arg)
{
	const struct says *s = arg;

	(void)vp;
	for (uint32_t i = s->no; i < s->no + s->n && s->c->end != NULL; i++) {
		say_one(s->c, NOTE_ANNOUNCE, i, s->len);
		if (s->takes && s->c->end != NULL)
			say_one(s->c, NOTE_WITHDRAW, i, 0);
	}
}

static void says(struct says *s)
{
	ncs_vp_do(s->c->n, s->c->vp, say_op, s);
	s->no += s->n;
}

static void a_peer_that_announces_more_than_it_may_is_reset(void)
{
	struct xk_ncs_conn *b, *a;
	struct says s;

	job_virtual(2, "unexpected = '3MiB', eager = 1000", "");
	a = joined(0, 1, NULL, &b);
	for (s = (struct says){ .c = a, .n = 256, .len = 500000 }; s.no < 2 * PROC_OFFERS; job_run(100 * XK_MS))
		says(&s);
	CU_ASSERT_EQUAL(job_count("p1", "announced_in"), 2 * PROC_OFFERS);
	CU_ASSERT_EQUAL(xk_ncs_recv(b, 9, in, 1, NULL, 0), XK_E_AGAIN);
	s.n = 1;
	says(&s);
	job_run(XK_SEC);
	CU_ASSERT_EQUAL(xk_ncs_recv(b, 9, in, 1, NULL, 0), XK_E_NOSPC);
	CU_ASSERT_EQUAL(job_count("p1", "unexpected_full"), 1);
	CU_ASSERT_EQUAL(xk_ncs_unexpected(proc[1]), 0);
	job_down(2);
}

/* It knows what it knew. */
static void nothing_new_op(struct xk_vp *vp, void *arg)
{
	const struct xk_ncs_conn *c = arg;
	struct ncs_conn *l = c->end != NULL ? below(c) : NULL;

	(void)vp;
	if (l == NULL)
		return;
	ncs_peer_enter(l->peer);
	xk_put_be32(ncs_say(l->peer, NCS_KNOWN, l->peer_id, 4), 0);
	ncs_peer_leave(l->peer);
}

/* Each of its notes is answered by one, none of which it hears. */
static void a_peer_that_hears_nothing_fills_no_memory(void)
{
	for (unsigned k = 0; k < 2; k++) {
		struct xk_ncs_conn *b, *a;
		uint32_t most = 0, n;
		struct says s;

		a = job_joined(k == 0 ? NULL : &bare, &b);
		below(a)->notes.heard -= 1u << 20;
		for (s = (struct says){ .c = a, .n = 200, .len = 2000, .takes = true }; s.no < 3000; job_run(20 * XK_MS)) {
			says(&s);
			n = b->end != NULL ? ncs_notes_pending(&below(b)->notes) : 0;
			most = n > most ? n : most;
		}
		CU_ASSERT(most > 100 && most <= NCS_NOTES_MOST);
		for (unsigned i = 0; i < 20; i++) {
			ncs_vp_do(a->n, a->vp, nothing_new_op, a);
			job_run(XK_SEC);
		}
		CU_ASSERT_EQUAL(xk_ncs_recv(b, 9, in, 1, NULL, 0), XK_E_TIMEDOUT);
		CU_ASSERT_EQUAL(xk_ncs_unexpected(proc[1]), 0);
		job_down(2);
	}
}

/* One that hears late is told the rest then. */
static void notes_go_on_when_the_peer_has_heard(void)
{
	struct xk_ncs_conn *b, *a;
	static struct xk_ncs_req s[NCS_NOTES_MOST + 500];
	const unsigned n = NCS_NOTES_MOST + 500;

	job_virtual(2, "unexpected = '1MiB', eager = 1000", "");
	a = joined(0, 1, NULL, &b);
	cut(1);
	for (unsigned i = 0; i < n; i++)
		CU_ASSERT_EQUAL(xk_ncs_isend(a, 1, out, sizeof out, &s[i]), XK_OK);
	CU_ASSERT_EQUAL(ncs_notes_pending(&below(a)->notes), NCS_NOTES_MOST);
	CU_ASSERT_EQUAL(job_count("p0", "announced_out"), NCS_NOTES_MOST);
	cut(0);
	job_run(10 * XK_SEC);
	CU_ASSERT_EQUAL(job_count("p1", "announced_in"), n);
	CU_ASSERT_EQUAL(ncs_notes_pending(&below(a)->notes), 0);
	job_down(2);
}

#define T(x) { #x, x }
static CU_TestInfo tests[] = {
	T(a_process_that_stops_withdraws_what_it_announced), T(a_receive_gets_what_is_here_before_it_hears_of_the_end),
	T(memory_may_be_short_when_it_is_called_for), T(a_probe_hears_of_what_a_receive_gives_back),
	T(room_that_a_receive_leaves_is_used), T(what_is_beyond_the_bound_is_announced_later),
	T(a_peer_that_announces_more_than_it_may_is_reset), T(a_peer_that_hears_nothing_fills_no_memory),
	T(notes_go_on_when_the_peer_has_heard), CU_TEST_INFO_NULL
};

int main(void)
{
	static const CU_SuiteInfo suites[] = { { .pName = "ncs under strain", .pTests = tests }, CU_SUITE_INFO_NULL };

	return xk_test_main_rcu(suites);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_ncs_place.c - messages of several SDUs over ncs (xk_ncs.h) are placed SDU by SDU, several processes of one
 * graph in virtual time.
 *
 * Promises: a message that has found its receive lies in that one's buffer as far as it has come, and nowhere else
 * but for what is under way; its sender copies little more than may leave.  A receive that is cancelled
 * half-way has its buffer back, and the next one has the message; whoever closes, stops or is lost half-way ends
 * what was begun; a peer that sends another length than it said is reset, at the first SDU where that one shows it;
 * memory may be short at any step; no pair of controls, and no line, changes a byte.
 */
#define JOB_PATHS \
	" go_back_n { name = 'back' .. i, over = pace { name = 'slow' .. i, rate = '100Mbit/s', over = net } },"
#define JOB_SIZES "message = '8MiB', queue = '8MiB'"

#include "runtime/compose/xk_compose.h"
#include "runtime/upi/xk_inline.h"
#include "tests/protocols/ncs_announce.h"
#include "tests/support/xk_test.h"
#include "protocols/ncs/ncs_call.h"
#include "protocols/ncs/ncs_priv.h"

#define MOST 5000000u
static uint8_t out[MOST], in[2][MOST];

static const char *const flows[] = { "none", "window", "credit", "pace" };
static const char *const errors[] = { "none", "go_back_n", "selective_repeat" };
#define PAIRS 12u
static struct xk_ncs_choice pair_of(unsigned p)
{
	return (struct xk_ncs_choice){ .flow = flows[p % 4], .error = errors[p / 4] };
}

static void fill(void)
{
	for (size_t i = 0; i < MOST; i++)
		out[i] = (uint8_t)(i * 7 + i / 256 * 3 + i / 65536);
	memset(in, 0xee, sizeof in);
}

/* Announced, or not; of n bytes, over a line that takes long; the last is more than its sender copies ahead. */
static const struct way { const char *params, *line; size_t n; } ways[] = {
	{ "eager = '8MiB', unexpected = '1MiB'", "rate = '20Mbit/s'", 40000 },
	{ "eager = 1000, unexpected = 20000", "rate = '20Mbit/s'", 50000 },
	{ "eager = 1000, unexpected = 20000", "rate = '200Mbit/s'", 2500000 },
};
#define PARTS 2u                         /* that one */

static struct xk_ncs_conn *up(const struct way *w, const struct xk_ncs_choice *ch, const char *faults,
			      struct xk_ncs_conn **other)
{
	job_virtual(2, w->params, faults);
	return joined(0, 1, ch, other);
}

static struct ncs_conn *below(const struct xk_ncs_conn *c) { return &ncs_sess(c->end->s.down)->conn; }

#define BLOCK 100u

/* How much of the message lies in b, from `had` on, in blocks: b was 0xee before, which no block ends with. */
static size_t lies(const uint8_t *b, size_t n, size_t had)
{
	while (had + BLOCK <= n && memcmp(b + had + BLOCK - 4, "\xee\xee\xee\xee", 4) != 0)
		had += BLOCK;
	return had;
}

/* Goes on until a share of n bytes lies in b, or r is done. */
static size_t until(struct xk_ncs_req *r, const uint8_t *b, size_t n, size_t share)
{
	size_t had = 0;

	for (unsigned i = 0; i < 100000 && had < share && xk_ncs_test(r) == XK_E_INPROGRESS; i++) {
		job_run(XK_MS);
		had = lies(b, n, had);
	}
	return had;
}

/* ---- placed ------------------------------------------------------------------------------------------ */

static void it_lies_in_the_buffer_as_far_as_it_has_come(void)
{
	for (unsigned w = 0; w < XK_ARRAY_LEN(ways); w++)
		for (unsigned p = 4; p < PAIRS; p++) {
			const struct xk_ncs_choice ch = pair_of(p);
			struct xk_ncs_conn *b, *a = up(&ways[w], &ch, ways[w].line, &b);
			size_t n = ways[w].n, had = 0, now;
			struct xk_ncs_req s, r;
			unsigned steps = 0;

			fill();
			CU_ASSERT_EQUAL(xk_ncs_irecv(b, 1, in[0], n, &r), XK_OK);
			CU_ASSERT_EQUAL(xk_ncs_isend(a, 1, out, n, &s), XK_OK);
			while (xk_ncs_test(&r) == XK_E_INPROGRESS && steps < 10000) {
				job_run(XK_MS);
				now = lies(in[0], n, had);
				CU_ASSERT(now >= had && memcmp(in[0], out, now) == 0);
				CU_ASSERT_EQUAL(below(b)->in.n, 0);
				CU_ASSERT_PTR_NULL(b->end->coming.first);
				steps += now != had;
				had = now;
			}
			CU_ASSERT(steps >= 5);
			CU_ASSERT_EQUAL(xk_ncs_test(&r), XK_OK);
			CU_ASSERT(r.st.len == n && r.st.tag == 1 && memcmp(in[0], out, n) == 0);
			is_done(&s, XK_OK);
			CU_ASSERT_EQUAL(job_count("p1", "to_posted_receives"), 1);
			CU_ASSERT_EQUAL(job_count("p1", "messages_in"), 1);
			CU_ASSERT_EQUAL(xk_ncs_unexpected(proc[1]), 0);
			job_down(2);
		}
}

static void its_sender_copies_little_more_than_may_leave(void)
{
	static const struct way w = { "eager = 1000, unexpected = 20000", NULL, MOST };
	static const struct xk_ncs_choice ch = { .flow = "window", .error = "selective_repeat" };
	struct xk_ncs_conn *b, *a = up(&w, &ch, "rate = '400Mbit/s'", &b);
	struct xk_ncs_req s, r;
	uint64_t most = 0;

	fill();
	CU_ASSERT_EQUAL(xk_ncs_irecv(b, 1, in[0], MOST, &r), XK_OK);
	CU_ASSERT_EQUAL(xk_ncs_isend(a, 1, out, MOST, &s), XK_OK);
	for (unsigned i = 0; i < 10000 && xk_ncs_test(&r) == XK_E_INPROGRESS; i++) {
		job_run(XK_MS);
		most = below(a)->queued > most ? below(a)->queued : most;
	}
	printf("# %llu of %u bytes\n", (unsigned long long)most, MOST);
	CU_ASSERT(most > 0 && most < MOST / 2);
	CU_ASSERT_EQUAL(xk_ncs_test(&r), XK_OK);
	CU_ASSERT_EQUAL(xk_ncs_test(&s), XK_OK);
	CU_ASSERT_EQUAL(memcmp(in[0], out, MOST), 0);
	CU_ASSERT_EQUAL(job_count("n0", "messages_out"), 1);
	CU_ASSERT_EQUAL(job_count("n1", "messages_in"), 1);
	job_down(2);
}

/* Short ones go before and behind, none between. */
static void no_line_changes_a_byte(void)
{
	for (unsigned w = 0; w < XK_ARRAY_LEN(ways); w++)
		for (unsigned p = 0; p < PAIRS; p++) {
			const struct xk_ncs_choice ch = pair_of(p);
			bool sure = p / 4 != 0;
			struct xk_ncs_conn *b, *a = up(&ways[w], &ch, sure ? "loss = 0.02, reorder = 0.05, dup = 0.02" :
						       "", &b);
			struct xk_ncs_req s[3], r[3];
			size_t n = ways[w].n;

			fill();
			CU_ASSERT_EQUAL(xk_ncs_irecv_any(thr[1], XK_NCS_ANY, 1, in[0], n, &r[0]), XK_OK);
			CU_ASSERT_EQUAL(xk_ncs_irecv(b, XK_NCS_ANY, in[1], n, &r[1]), XK_OK);
			CU_ASSERT_EQUAL(xk_ncs_irecv(b, XK_NCS_ANY, in[1] + n, 900, &r[2]), XK_OK);
			CU_ASSERT_EQUAL(xk_ncs_isend(a, 1, out, n, &s[0]), XK_OK);
			CU_ASSERT_EQUAL(xk_ncs_isend(a, 2, out + 1000, n, &s[1]), XK_OK);
			CU_ASSERT_EQUAL(xk_ncs_isend(a, 3, out + 2000, 900, &s[2]), XK_OK);
			for (unsigned i = 0; i < 3; i++) {
				is_done(&r[i], XK_OK);
				is_done(&s[i], XK_OK);
				CU_ASSERT_EQUAL(r[i].st.tag, (int)i + 1);
			}
			CU_ASSERT_EQUAL(memcmp(in[0], out, n), 0);
			CU_ASSERT_EQUAL(memcmp(in[1], out + 1000, n), 0);
			CU_ASSERT_EQUAL(memcmp(in[1] + n, out + 2000, 900), 0);
			job_down(2);
		}
}

/* ---- ended half-way ------------------------------------------------------------------------------------- */

/* The next receive is posted before (k even) or behind. */
static void a_cancelled_receive_has_its_buffer_back(void)
{
	for (unsigned w = 0; w < XK_ARRAY_LEN(ways); w++)
		for (unsigned k = 0; k < 8; k++) {
			const struct xk_ncs_choice ch = pair_of(4 + k);
			struct xk_ncs_conn *b, *a = up(&ways[w], &ch, ways[w].line, &b);
			size_t n = ways[w].n, had;
			struct xk_ncs_req s, r[2];

			fill();
			CU_ASSERT_EQUAL(xk_ncs_irecv(b, 1, in[0], n, &r[0]), XK_OK);
			if (k % 2 == 0)
				CU_ASSERT_EQUAL(xk_ncs_irecv_any(thr[1], 0, 1, in[1], n, &r[1]), XK_OK);
			CU_ASSERT_EQUAL(xk_ncs_isend(a, 1, out, n, &s), XK_OK);
			had = until(&r[0], in[0], n, n / 8 * k + 1);
			CU_ASSERT(had > 0 && had < n);
			CU_ASSERT_EQUAL(xk_ncs_cancel(&r[0]), XK_OK);
			CU_ASSERT_EQUAL(xk_ncs_test(&r[0]), XK_E_CONNABORTED);
			memset(in[0], 0x11, n);
			if (k % 2 != 0) {
				CU_ASSERT(xk_ncs_unexpected(proc[1]) >= n);
				CU_ASSERT_EQUAL(xk_ncs_irecv(b, XK_NCS_ANY, in[1], n, &r[1]), XK_OK);
			}
			is_done(&r[1], XK_OK);
			CU_ASSERT(r[1].st.len == n && memcmp(in[1], out, n) == 0);
			for (size_t i = 0; i < n; i++)
				if (in[0][i] != 0x11) {
					CU_FAIL("a buffer is written that was given back");
					break;
				}
			is_done(&s, XK_OK);
			CU_ASSERT_EQUAL(xk_ncs_unexpected(proc[1]), 0);
			job_down(2);
		}
}

/* Nobody takes it then: it is kept, and a probe sees it. */
static void what_nobody_takes_then_is_kept(void)
{
	static const struct xk_ncs_choice ch = { .path = NULL };
	struct xk_ncs_conn *b, *a = up(&ways[0], &ch, ways[0].line, &b);
	struct xk_ncs_status st;
	struct xk_ncs_req s, r;
	size_t n = ways[0].n;

	fill();
	CU_ASSERT_EQUAL(xk_ncs_irecv(b, 1, in[0], n, &r), XK_OK);
	CU_ASSERT_EQUAL(xk_ncs_isend(a, 1, out, n, &s), XK_OK);
	CU_ASSERT(until(&r, in[0], n, n / 2) < n);
	CU_ASSERT_EQUAL(xk_ncs_cancel(&r), XK_OK);
	job_run(XK_SEC);
	CU_ASSERT_EQUAL(xk_ncs_probe(b, 1, &st, 0), XK_OK);
	CU_ASSERT_EQUAL(st.len, n);
	CU_ASSERT_EQUAL(xk_ncs_recv(b, 1, in[0], n - 1, &st, 0), XK_E_MSGSIZE);
	CU_ASSERT_EQUAL(xk_ncs_recv(b, 1, in[1], n, &st, 0), XK_OK);
	CU_ASSERT_EQUAL(memcmp(in[1], out, n), 0);
	job_down(2);
}

/* Who ends it: the sender closes, the receiver does, either stops, a thread is detached, the line is cut. */
static void an_end(const struct way *w, unsigned who, unsigned pair)
{
	static const int hears[] = { XK_E_CONNRESET, XK_E_BADF, XK_E_CONNRESET, XK_E_SHUTDOWN, XK_E_BADF,
				     XK_E_TIMEDOUT };
	static const int sends[] = { XK_E_BADF, XK_E_CONNRESET, XK_E_SHUTDOWN, XK_E_CONNRESET, XK_E_CONNRESET,
				     XK_E_TIMEDOUT };
	const struct xk_ncs_choice ch = pair_of(pair);
	struct xk_ncs_conn *b, *a = up(w, &ch, w->line, &b);
	struct xk_ncs_req s, r;
	size_t n = w->n;
	uint64_t kept;

	fill();
	CU_ASSERT_EQUAL(xk_ncs_irecv(b, 1, in[0], n, &r), XK_OK);
	CU_ASSERT_EQUAL(xk_ncs_isend(a, 1, out, n, &s), XK_OK);
	CU_ASSERT(until(&r, in[0], n, n / 4) < n);
	if (who == 0 || who == 1)
		xk_ncs_close(who == 0 ? a : b);
	else if (who == 2 || who == 3)
		xk_ncs_stop(proc[who - 2]);
	else if (who == 4)
		xk_ncs_detach(thr[1]);
	else
		cut(1);
	if (who == 1 || who == 3 || who == 4)    /* at once, and the buffer is ours */
		CU_ASSERT_EQUAL(xk_ncs_test(&r), hears[who]);
	if (who == 0 || (who == 2 && w == &ways[PARTS]))
		CU_ASSERT(xk_ncs_test(&s) == (w == &ways[PARTS] ? sends[who] : XK_OK));
	job_run(40 * XK_SEC);
	if (who == 0 && w != &ways[PARTS]) {           /* it was ncs's already */
		CU_ASSERT_EQUAL(xk_ncs_test(&r), XK_OK);
		CU_ASSERT_EQUAL(memcmp(in[0], out, n), 0);
	} else if (who != 2) {
		CU_ASSERT_EQUAL(xk_ncs_test(&r), hears[who]);
	}
	kept = xk_ncs_unexpected(proc[1]);
	CU_ASSERT(kept == 0 || ((who == 2 || who == 3) && kept < 1000));         /* nobody has closed */
	if (who == 4)
		CU_ASSERT_EQUAL(xk_ncs_attach(proc[1], 0, &thr[1]), XK_OK);
	job_down(2);
}

static void whoever_ends_it_half_way_ends_what_was_begun(void)
{
	for (unsigned w = 0; w < XK_ARRAY_LEN(ways); w++)
		for (unsigned who = 0; who < 6; who++)
			an_end(&ways[w], who, 4 + (w + who) % 8);
}

/* ---- peers and memory ----------------------------------------------------------------------------------- */

struct lie { struct xk_ncs_conn *c; uint32_t says, sends, tag; };

static void lie_op(struct xk_vp *vp, void *arg)
{
	const struct lie *l = arg;
	struct xk_msg *m = xk_msg_new(l->sends + PROC_LONG);

	(void)vp;
	ncs_head_put(l->c, m, l->tag, l->says, PROC_LONG);
	xk_push(l->c->end->s.down, m);
}

static void a_peer_that_sends_another_length_is_reset(void)
{
	static const struct { uint32_t says, sends; bool posted; } lies_of[] = {
		{ 5000, 4999, true }, { 5000, 5001, true }, { 5000, 8000, true }, { 1000, 5000, true },
		{ 0, 5000, true },
		{ 6000, 5000, false }, { 5000, 6000, false }, { 3000000000u, 5000, false }, { 500, 2000, false },
	};

	for (unsigned i = 0; i < XK_ARRAY_LEN(lies_of); i++) {
		static const struct xk_ncs_choice ch = { .path = NULL };
		struct xk_ncs_conn *b, *a = up(&ways[0], &ch, "", &b);
		struct lie l = { a, lies_of[i].says, lies_of[i].sends, 1 };
		struct xk_ncs_req r = { .err = XK_E_CONNRESET };

		fill();
		if (lies_of[i].posted)
			CU_ASSERT_EQUAL(xk_ncs_irecv(b, 1, in[0], 7000, &r), XK_OK);
		ncs_vp_do(a->n, a->vp, lie_op, &l);
		job_run(XK_SEC);
		CU_ASSERT_EQUAL(xk_ncs_test(&r), XK_E_CONNRESET);
		CU_ASSERT_EQUAL(xk_ncs_recv(b, XK_NCS_ANY, in[1], 10, NULL, 0), XK_E_CONNRESET);
		CU_ASSERT_EQUAL(job_count("p1", "other_length"), 1);
		CU_ASSERT(lies(in[0], MOST, 0) <= lies_of[i].says);
		CU_ASSERT_EQUAL(xk_ncs_unexpected(proc[1]), 0);
		job_down(2);
	}
}

/* The first SDU of a message that has more, with what stands in front of it; the others do not come. */
static void begin_op(struct xk_vp *vp, void *arg)
{
	const struct lie *l = arg;
	struct xk_sess *down = l->c->end->s.down;
	struct xk_msg *m = xk_msg_new(1000);
	uint32_t all = l->sends + PROC_LONG;

	(void)vp;
	ncs_sess(down)->conn.coming = 0;         /* what came before broke off */
	CU_ASSERT_EQUAL(xk_sess_control(down, NCS_CTL_LONG, &all, sizeof all), XK_OK);
	ncs_head_put(l->c, m, l->tag, l->says, PROC_LONG);
	xk_push(down, m);
}

/* A receive for 10000 bytes, or a take of any length, is not bound to what cannot come, and no memory is taken. */
static void a_length_that_cannot_be_is_refused_at_once(void)
{
	static const struct { uint32_t says, sends; int err; } lies_of[] = {
		{ 5000, 5000, XK_E_INPROGRESS }, { 5983, 5000, XK_E_INPROGRESS }, { 4985, 5000, XK_E_INPROGRESS },
		{ 5985, 5000, XK_E_CONNRESET }, { 4984, 5000, XK_E_CONNRESET }, { 0, 5000, XK_E_CONNRESET },
		{ UINT32_MAX, 1500, XK_E_CONNRESET }, { UINT32_MAX - PROC_LONG, 1500, XK_E_CONNRESET },
	};

	for (unsigned i = 0; i < 2 * XK_ARRAY_LEN(lies_of); i++) {
		static const struct way w = { "held = 1", "", 0 };
		static const struct xk_ncs_choice ch = { .path = NULL };
		struct xk_ncs_conn *b, *a = up(&w, &ch, "", &b);
		struct lie l = { a, lies_of[i / 2].says, lies_of[i / 2].sends, 1 };
		struct xk_ncs_held *h = NULL;
		struct xk_ncs_req r;

		CU_ASSERT_EQUAL(i % 2 != 0 ? xk_ncs_itake(b, 1, &h, &r) : xk_ncs_irecv(b, 1, in[0], 10000, &r), XK_OK);
		ncs_vp_do(a->n, a->vp, begin_op, &l);
		job_run(XK_SEC);
		CU_ASSERT_EQUAL(xk_ncs_test(&r), lies_of[i / 2].err);
		CU_ASSERT_EQUAL(job_count("p1", "other_length"), lies_of[i / 2].err != XK_E_INPROGRESS);
		xk_ncs_cancel(&r);
		xk_ncs_give(h);
		job_down(2);
	}
}

struct note { struct xk_ncs_conn *c; uint32_t len; };

static void announce_op(struct xk_vp *vp, void *arg)
{
	const struct note *n = arg;
	uint8_t v[NCS_NOTE_LEN];

	(void)vp;
	xk_put_be32(v, NOTE_ANNOUNCE);
	xk_put_be32(v + 4, 0);
	xk_put_be32(v + 8, n->len);
	xk_put_be32(v + 12, 1);
	xk_put_be32(v + 16, n->c->sent);
	n->c->notes_out++;
	CU_ASSERT_EQUAL(xk_sess_control(n->c->end->s.down, NCS_CTL_NOTE, v, sizeof v), XK_OK);
}

/* A receive's buffer (how 0), memory of a take (1), memory that a cancelled receive has left it (2): it has one of
 * these, and neither a second one nor bytes from the beginning again. */
static void what_was_announced_does_not_begin_twice(void)
{
	for (unsigned how = 0; how < 3; how++)
		for (unsigned p = 0; p < PAIRS; p++) {
			static const struct way w = { "held = 1, unexpected = 20000", "", 0 };
			const struct xk_ncs_choice ch = pair_of(p);
			struct xk_ncs_conn *b, *a = up(&w, &ch, "", &b);
			const struct note n = { a, 5000 };
			struct lie l = { a, 5000, 5000, PROC_BODY };
			struct xk_ncs_held *h = NULL;
			struct xk_ncs_req r;

			CU_ASSERT_EQUAL(how == 1 ? xk_ncs_itake(b, 1, &h, &r) : xk_ncs_irecv(b, 1, in[0], 5000, &r), XK_OK);
			ncs_vp_do(a->n, a->vp, announce_op, (void *)(uintptr_t)&n);
			job_run(100 * XK_MS);
			ncs_vp_do(a->n, a->vp, begin_op, &l);
			job_run(100 * XK_MS);
			CU_ASSERT_PTR_NOT_NULL(b->filling);
			if (how == 2)
				CU_ASSERT_EQUAL(xk_ncs_cancel(&r), XK_OK);
			ncs_vp_do(a->n, a->vp, begin_op, &l);
			job_run(XK_SEC);
			CU_ASSERT_EQUAL(xk_ncs_test(&r), how == 2 ? XK_E_CONNABORTED : XK_E_CONNRESET);
			CU_ASSERT_EQUAL(job_count("p1", "not_announced"), 1);
			CU_ASSERT_EQUAL(xk_ncs_unexpected(proc[1]), 0);
			xk_ncs_give(h);
			job_down(2);
		}
}

/* Nothing can come of a peer that takes less than what stands in front of a message. */
static void who_takes_nothing_announces_nothing(void)
{
	for (uint32_t most = 0; most <= PROC_LONG; most += PROC_LONG / 2) {
		static const struct xk_ncs_choice ch = { .path = NULL };
		struct xk_ncs_conn *b, *a = up(&ways[1], &ch, "", &b);
		struct ncs_peer *p = &below(b)->peer->peer;
		struct xk_ncs_req s;

		CU_ASSERT(p->met);
		p->message = most;
		CU_ASSERT_EQUAL(xk_ncs_isend(a, 1, out, ways[1].n, &s), XK_OK);
		is_done(&s, XK_E_CONNRESET);
		CU_ASSERT_EQUAL(job_count("p1", "bad_note"), 1);
		CU_ASSERT_EQUAL(job_count("p1", "announced_in"), 0);
		job_down(2);
	}
}

static void every_allocation_may_fail(void)
{
	unsigned good = 0, n = 0;

	for (unsigned w = 0; w < XK_ARRAY_LEN(ways); w++)
		for (unsigned k = 1; k <= (xk_test_rounds(60)); k++, n++) {
			const struct xk_ncs_choice ch = pair_of(4 + k % 8);
			struct xk_ncs_conn *b, *a = up(&ways[w], &ch, ways[w].line, &b);
			struct xk_ncs_req s, r;
			int err, gone;

			fill();
			CU_ASSERT_EQUAL(xk_ncs_irecv(b, 1, in[0], MOST, &r), XK_OK);
			xk_mem_fail_after(k / 2 + 1);
			err = xk_ncs_isend(a, 1, out, ways[w].n, &s);
			until(&r, in[0], ways[w].n, ways[w].n / 3);
			gone = k % 3 == 0 ? xk_ncs_cancel(&r) : XK_E_BUSY;
			job_run(2 * XK_SEC);
			xk_mem_fail_after(0);
			CU_ASSERT(err == XK_OK || err == XK_E_NOMEM);
			job_run(15 * XK_SEC);
			if (xk_ncs_test(&r) == XK_OK) {
				CU_ASSERT_EQUAL(memcmp(in[0], out, ways[w].n), 0);
				good++;
			} else if (gone != XK_OK && xk_ncs_test(&r) == XK_E_INPROGRESS) {
				CU_ASSERT(xk_ncs_test(&s) != XK_E_INPROGRESS);
				CU_ASSERT_EQUAL(xk_ncs_cancel(&r), XK_OK);
			}
			job_run(XK_SEC);
			job_down(2);
		}
	CU_ASSERT(good > 0);
	printf("# %u of %u\n", good, n);
}

#define T(x) { #x, x }
static CU_TestInfo placed[] = {
	T(it_lies_in_the_buffer_as_far_as_it_has_come), T(its_sender_copies_little_more_than_may_leave),
	T(no_line_changes_a_byte), T(a_cancelled_receive_has_its_buffer_back), T(what_nobody_takes_then_is_kept),
	T(whoever_ends_it_half_way_ends_what_was_begun), T(a_peer_that_sends_another_length_is_reset),
	T(a_length_that_cannot_be_is_refused_at_once), T(what_was_announced_does_not_begin_twice),
	T(who_takes_nothing_announces_nothing), T(every_allocation_may_fail), CU_TEST_INFO_NULL
};

int main(void)
{
	static const CU_SuiteInfo suites[] = { { .pName = "ncs placed", .pTests = placed }, CU_SUITE_INFO_NULL };

	return xk_test_main_rcu(suites);
}

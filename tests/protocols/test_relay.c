/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_relay.c - messages that are passed on between two interfaces.
 *
 * Promises: what a peer sends arrives on the far side as it was, and the answer comes back to that peer and
 * no other; over two interfaces with controls of their own, of which both lose, exactly once and in order;
 * a pair ends with either side, or when nothing goes over it; who cannot be brought further is refused;
 * nothing is left.
 */
#include "runtime/base/xk_bytes.h"
#include "runtime/upi/xk_part.h"
#include "tests/protocols/proto_fixture.h"
#include "tests/support/xk_test.h"

#include <stdio.h>
#include <string.h>

extern const struct xk_proto xk_proto_cell, xk_proto_aal5, xk_proto_relay, xk_proto_echo, xk_proto_ncs,
	xk_proto_selective_repeat, xk_proto_credit, xk_proto_go_back_n;

#define PORT 1007
#define NEAR_HOST 0x0a000002u

static struct pf f;
static uint8_t bytes[70000];

/* A line between two ends of AAL5, of which it loses cells. */
#define LINE(x, cells) \
	{ &xk_proto_cell, "c" x "1", NULL, "wire=" x "; " cells }, { &xk_proto_cell, "c" x "2", NULL, "wire=" x "; " cells }, \
	{ &xk_proto_aal5, x "1", "c" x "1", "addr=10.0.0.1; peer=10.0.0.2" }, \
	{ &xk_proto_aal5, x "2", "c" x "2", "addr=10.0.0.2; peer=10.0.0.1" }

static void fill(void)
{
	for (unsigned i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t)(i * 7 + i / 256);
}

static void up(const char *relay)
{
	const struct pf_spec g[] = {
		LINE("a", ""), LINE("b", ""), { &pf_upper, "u", "a1", "enable=false" }, { &xk_proto_relay, "r", "a2,b1", relay },
		{ &xk_proto_echo, "echo", "b2", "port=1007" }, { NULL, NULL, NULL, NULL } };

	fill();
	pf_up(&f, 1, g);
}

/* The same with ncs on every end. */
static void up_ncs(const char *relay)
{
	const struct pf_spec g[] = {
		LINE("a", "loss=0.01; seed=3"), LINE("b", "loss=0.01; errors=0.01; seed=4"),
		{ &xk_proto_selective_repeat, "ea1", "a1", NULL }, { &xk_proto_ncs, "na1", "ea1", "sdu=1000" },
		{ &xk_proto_selective_repeat, "ea2", "a2", NULL }, { &xk_proto_ncs, "na2", "ea2", "sdu=1000" },
		{ &xk_proto_credit, "kb1", "b1", NULL }, { &xk_proto_go_back_n, "eb1", "kb1", NULL },
		{ &xk_proto_ncs, "nb1", "eb1", "sdu=600" },
		{ &xk_proto_credit, "kb2", "b2", NULL }, { &xk_proto_go_back_n, "eb2", "kb2", NULL },
		{ &xk_proto_ncs, "nb2", "eb2", "sdu=600" },
		{ &pf_upper, "u", "na1", "enable=false" }, { &xk_proto_relay, "r", "na2,nb1", relay },
		{ &xk_proto_echo, "echo", "nb2", "port=1007" }, { NULL, NULL, NULL, NULL } };

	fill();
	pf_up(&f, 1, g);
}

static struct xk_sess *open_near(int *err)
{
	struct xk_parts ps;

	xk_parts_init(&ps, 1);
	xk_part_push_host(&ps.p[XK_REMOTE], NEAR_HOST);
	xk_part_push_port(&ps.p[XK_REMOTE], PORT);
	return pf_open(&f, "u", 0, &ps, err);
}

#define TO "port=1007; to=10.0.0.2; to_port=1007"

static void each_peer_gets_its_own_answers(void)
{
	struct xk_sess *s[10];

	up(TO);
	for (unsigned i = 0; i < 10; i++) {
		s[i] = open_near(NULL);
		CU_ASSERT_PTR_NOT_NULL_FATAL(s[i]);
	}
	for (unsigned round = 0; round < 3; round++)
		for (unsigned i = 0; i < 10; i++)
			pf_push(&f, 0, s[i], bytes + i, 1 + i * 5000);
	CU_ASSERT_EQUAL_FATAL(pf_ngot(&f, "u"), 30);
	for (unsigned k = 0; k < 30; k++) {
		const struct pf_rec *r = pf_got(&f, "u", k);

		CU_ASSERT_PTR_EQUAL(r->lls, s[k % 10]);
		CU_ASSERT(r->len == 1 + k % 10 * 5000 && memcmp(r->bytes, bytes + k % 10, r->len) == 0);
	}
	CU_ASSERT_EQUAL(pf_count(&f, "r", "pairs"), 10);
	CU_ASSERT_EQUAL(pf_count(&f, "r", "out"), 30);
	CU_ASSERT_EQUAL(pf_count(&f, "r", "back"), 30);
	CU_ASSERT_EQUAL(pf_sessions(&f, "b1"), 10);
	for (unsigned i = 0; i < 10; i++)
		pf_close(&f, 0, s[i]);
	pf_down(&f);
}

/* Message i: its number, and bytes that follow from it. */
static uint32_t make(uint8_t *b, uint32_t i)
{
	uint32_t n = 4 + i * 977 % 6000;

	for (uint32_t k = 4; k < n; k++)
		b[k] = (uint8_t)(k * 7 + i * 3);
	xk_put_be32(b, i);
	return n;
}

static void over_two_bad_lines_everything_comes_once(void)
{
	static uint8_t b[8192], want[8192];
	struct xk_sess *s;

	up_ncs(TO);
	s = open_near(NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	for (uint32_t i = 0; i < 60; i++) {
		pf_push(&f, 0, s, b, make(b, i));
		pf_run(&f, XK_MS);
	}
	pf_run(&f, 9 * XK_SEC);
	CU_ASSERT_EQUAL_FATAL(pf_ngot(&f, "u"), 60);
	for (uint32_t i = 0; i < 60; i++) {
		const struct pf_rec *r = pf_got(&f, "u", i);

		CU_ASSERT(r->len == make(want, i) && memcmp(r->bytes, want, r->len) == 0);
	}
	CU_ASSERT(pf_count(&f, "na1", "sdus_repeated") > 0 && pf_count(&f, "nb1", "sdus_repeated") > 0);
	pf_close(&f, 0, s);
	pf_down(&f);
}

static void a_pair_ends_with_its_peer(void)
{
	struct xk_sess *s[5];

	up_ncs(TO);
	for (unsigned i = 0; i < 5; i++) {
		s[i] = open_near(NULL);
		CU_ASSERT_PTR_NOT_NULL_FATAL(s[i]);
		pf_push(&f, 0, s[i], bytes, 3000);
	}
	pf_run(&f, 9 * XK_SEC);
	CU_ASSERT_EQUAL(pf_ngot(&f, "u"), 5);
	CU_ASSERT_EQUAL(pf_sessions(&f, "r"), 10);
	for (unsigned i = 0; i < 5; i++)
		pf_close(&f, 0, s[i]);
	pf_run(&f, 9 * XK_SEC);
	CU_ASSERT_EQUAL(pf_count(&f, "r", "ended"), 5);
	CU_ASSERT_EQUAL(pf_sessions(&f, "r"), 0);
	CU_ASSERT_EQUAL(pf_sessions(&f, "echo"), 0);
	CU_ASSERT_EQUAL(pf_sessions(&f, "nb1"), 1);      /* its control connection */
	pf_down(&f);
}

/* Nobody waits there: the far side ends, and so the near one. */
static void a_pair_ends_with_its_far_side(void)
{
	struct xk_sess *s;

	up_ncs("port=1007; to=10.0.0.2; to_port=99");
	s = open_near(NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	pf_push(&f, 0, s, bytes, 3000);
	pf_run(&f, 9 * XK_SEC);
	CU_ASSERT_EQUAL(pf_count(&f, "nb1", "refused"), 1);
	CU_ASSERT_EQUAL(pf_count(&f, "r", "ended"), 1);
	CU_ASSERT_EQUAL(pf_sessions(&f, "r"), 0);
	CU_ASSERT_EQUAL(pf_upper_of(&f, "u")->close_dones, 1);
	pf_close(&f, 0, s);
	pf_down(&f);
}

static void what_is_idle_ends(void)
{
	struct xk_sess *s, *t;

	up(TO "; idle_timeout=10s");
	s = open_near(NULL);
	t = open_near(NULL);
	CU_ASSERT_TRUE_FATAL(s != NULL && t != NULL);
	pf_push(&f, 0, s, bytes, 10);
	pf_push(&f, 0, t, bytes, 10);
	pf_run(&f, 6 * XK_SEC);
	pf_push(&f, 0, s, bytes, 10);
	pf_run(&f, 6 * XK_SEC);
	CU_ASSERT_EQUAL(pf_count(&f, "r", "idle"), 1);
	CU_ASSERT_EQUAL(pf_sessions(&f, "r"), 2);
	pf_push(&f, 0, s, bytes, 10);
	CU_ASSERT_EQUAL(pf_ngot(&f, "u"), 4);
	pf_run(&f, 11 * XK_SEC);
	CU_ASSERT_EQUAL(pf_count(&f, "r", "idle"), 2);
	CU_ASSERT_EQUAL(pf_sessions(&f, "r"), 0);
	pf_push(&f, 0, s, bytes, 10);            /* AAL5 knows the peer, relay does not */
	CU_ASSERT_EQUAL(pf_drops(&f, "r", "stray"), 1);
	pf_close(&f, 0, s);
	pf_close(&f, 0, t);
	pf_down(&f);
}

static void who_cannot_be_brought_further_is_refused(void)
{
	struct xk_sess *s[3];

	up(TO "; sessions=2");
	for (unsigned i = 0; i < 3; i++) {
		s[i] = open_near(NULL);
		CU_ASSERT_PTR_NOT_NULL_FATAL(s[i]);
		pf_push(&f, 0, s[i], bytes, 10);
	}
	CU_ASSERT_EQUAL(pf_ngot(&f, "u"), 2);
	CU_ASSERT_EQUAL(pf_count(&f, "r", "refused"), 1);
	CU_ASSERT_EQUAL(pf_drops(&f, "a2", "refused"), 1);
	for (unsigned i = 0; i < 3; i++)
		pf_close(&f, 0, s[i]);
	pf_down(&f);
	up("port=1007; to=10.0.0.9; to_port=1007");      /* no way there */
	s[0] = open_near(NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s[0]);
	pf_push(&f, 0, s[0], bytes, 10);
	CU_ASSERT_EQUAL(pf_drops(&f, "a2", "refused"), 1);
	CU_ASSERT_EQUAL(pf_sessions(&f, "r"), 0);
	pf_close(&f, 0, s[0]);
	pf_down(&f);
}

static void every_allocation_may_fail(void)
{
	unsigned came = 0;

	for (unsigned k = 1; k <= 60; k++) {
		struct xk_sess *s;

		up(TO);
		s = open_near(NULL);
		CU_ASSERT_PTR_NOT_NULL_FATAL(s);
		xk_mem_fail_after(k);
		pf_push(&f, 0, s, bytes, 9000);
		xk_mem_fail_after(0);
		came += pf_ngot(&f, "u");
		CU_ASSERT(pf_sessions(&f, "r") % 2 == 0);
		pf_forget(&f, "u");
		pf_push(&f, 0, s, bytes, 9000);
		CU_ASSERT_EQUAL(pf_ngot(&f, "u"), 1);
		pf_close(&f, 0, s);
		pf_down(&f);
	}
	CU_ASSERT(came > 0 && came < 60);
}

static CU_TestInfo tests[] = {
	{ "each peer gets its own answers", each_peer_gets_its_own_answers },
	{ "over two bad lines everything comes once", over_two_bad_lines_everything_comes_once },
	{ "a pair ends with its peer", a_pair_ends_with_its_peer },
	{ "a pair ends with its far side", a_pair_ends_with_its_far_side },
	{ "what is idle ends", what_is_idle_ends },
	{ "who cannot be brought further is refused", who_cannot_be_brought_further_is_refused },
	{ "every allocation may fail", every_allocation_may_fail },
	CU_TEST_INFO_NULL,
};
static CU_SuiteInfo suites[] = { { "relay", NULL, NULL, NULL, NULL, tests }, CU_SUITE_INFO_NULL };

int main(void)
{
	return xk_test_main(suites);
}

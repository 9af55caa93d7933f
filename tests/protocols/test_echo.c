/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_echo.c - the echo service over UDP, two stacks joined by a wire.
 *
 * Promises: the same bytes come back to the same port, from every VP; a peer is
 * remembered, up to the cap, and forgotten at the end; two echo services never
 * feed each other; a port can be waited on once.
 */
#include <string.h>

#include "runtime/base/xk_errs.h"
#include "runtime/mem/xk_alloc.h"
#include "runtime/upi/xk_app.h"
#include "runtime/upi/xk_part.h"
#include "tests/protocols/proto_fixture.h"
#include "tests/support/xk_test.h"

extern const struct xk_proto xk_proto_eth_mem, xk_proto_eth, xk_proto_arp, xk_proto_ip, xk_proto_udp,
	xk_proto_echo;

/* A host named by one letter: wire, Ethernet, ARP, IP, UDP. */
#define HOST(x, addr) \
	{ &xk_proto_eth_mem, "d" x, NULL, "wire=w" }, { &xk_proto_eth, "l" x, "d" x, NULL }, \
	{ &xk_proto_arp, "r" x, "l" x, "queue=100" }, { &xk_proto_ip, "i" x, "r" x, "addr=" addr "/24" }, \
	{ &xk_proto_udp, "u" x, "i" x, NULL }

#define CLIENT 0x0a000001u
#define SERVER 0x0a000002u

static struct pf f;

static void up(unsigned nvps, const char *params)
{
	const struct pf_spec g[] = {
		HOST("a", "10.0.0.1"), { &pf_upper, "client", "ua", "enable=false" },
		HOST("b", "10.0.0.2"), { &xk_proto_echo, "echo", "ub", params },
		{ NULL, NULL, NULL, NULL } };

	pf_up(&f, nvps, g);
}

static struct xk_sess *open_to(unsigned vp, uint16_t port, uint16_t own)
{
	struct xk_parts ps;

	xk_parts_init(&ps, 2);
	xk_part_push_host(&ps.p[XK_REMOTE], SERVER);
	xk_part_push_port(&ps.p[XK_REMOTE], port);
	xk_part_push_any(&ps.p[XK_LOCAL]);
	if (own != 0)
		xk_part_push_port(&ps.p[XK_LOCAL], own);
	else
		xk_part_push_any(&ps.p[XK_LOCAL]);
	return pf_open(&f, "client", vp, &ps, NULL);
}

static void sends_every_size_back_as_it_was(void)
{
	static uint8_t b[65507];
	static const uint32_t sizes[] = { 0, 1, 2, 63, 64, 1471, 1472, 1473, 4096, 20000, 65507 };
	struct xk_sess *s;

	for (uint32_t i = 0; i < sizeof b; i++)
		b[i] = (uint8_t)(i * 11 + i / 256);
	up(2, NULL);
	s = open_to(0, 7, 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	for (unsigned i = 0; i < XK_ARRAY_LEN(sizes); i++) {
		pf_push(&f, 0, s, b, sizes[i]);
		pf_run(&f, XK_MS);
		CU_ASSERT_EQUAL_FATAL(pf_ngot(&f, "client"), 1);
		CU_ASSERT_EQUAL(pf_got(&f, "client", 0)->len, sizes[i]);
		CU_ASSERT_EQUAL(memcmp(pf_got(&f, "client", 0)->bytes, b, sizes[i]), 0);
		CU_ASSERT_PTR_EQUAL(pf_got(&f, "client", 0)->lls, s);
		pf_forget(&f, "client");
	}
	CU_ASSERT_EQUAL(pf_count(&f, "echo", "messages"), XK_ARRAY_LEN(sizes));
	CU_ASSERT_EQUAL(pf_sessions(&f, "echo"), 1);
	pf_close(&f, 0, s);
	pf_down(&f);
}

static void answers_each_peer_on_its_own_vp(void)
{
	struct xk_sess *s[40];
	char text[16];

	up(4, NULL);
	for (unsigned i = 0; i < 40; i++) {
		s[i] = open_to(i % 4, 7, 0);
		CU_ASSERT_PTR_NOT_NULL_FATAL(s[i]);
	}
	for (unsigned round = 0; round < 3; round++)
		for (unsigned i = 0; i < 40; i++) {
			memset(text, 'a' + (int)i % 26, sizeof text);
			pf_push(&f, i % 4, s[i], text, 1 + i % 16);
		}
	pf_run(&f, XK_MS);
	CU_ASSERT_EQUAL_FATAL(pf_ngot(&f, "client"), 120);
	for (unsigned k = 0; k < 120; k++) {
		const struct pf_rec *r = pf_got(&f, "client", k);
		unsigned i = 0;

		while (i < 40 && s[i] != r->lls)
			i++;
		CU_ASSERT_FATAL(i < 40);
		CU_ASSERT_EQUAL(r->vp, i % 4);
		CU_ASSERT_EQUAL(r->len, 1 + i % 16);
		CU_ASSERT_EQUAL(r->bytes[0], 'a' + i % 26);
	}
	CU_ASSERT_EQUAL(pf_sessions(&f, "echo"), 40);
	for (unsigned i = 0; i < 40; i++)
		pf_close(&f, i % 4, s[i]);
	pf_down(&f);
}

static void serves_peers_beyond_the_cap_without_remembering_them(void)
{
	struct xk_sess *s[10];

	up(1, "sessions=4");
	for (unsigned i = 0; i < 10; i++) {
		s[i] = open_to(0, 7, 0);
		pf_push(&f, 0, s[i], "x", 1);
		pf_push(&f, 0, s[i], "y", 1);
	}
	CU_ASSERT_EQUAL(pf_ngot(&f, "client"), 20);
	CU_ASSERT_EQUAL(pf_sessions(&f, "echo"), 4);
	for (unsigned i = 0; i < 10; i++)
		pf_close(&f, 0, s[i]);
	pf_down(&f);
}

static void does_not_answer_a_peer_on_its_own_port(void)
{
	struct xk_sess *s;

	up(1, NULL);
	s = open_to(0, 7, 7);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	pf_push(&f, 0, s, "for ever", 8);
	pf_run(&f, XK_MS);
	CU_ASSERT_EQUAL(pf_ngot(&f, "client"), 0);
	CU_ASSERT_EQUAL(pf_count(&f, "echo", "messages"), 0);
	CU_ASSERT_EQUAL(pf_drops(&f, "ub", NULL), 1);
	pf_close(&f, 0, s);
	pf_down(&f);
}

static void waits_on_the_port_it_was_given_and_on_no_other(void)
{
	struct xk_sess *right, *wrong;

	up(1, "port=4711");
	right = open_to(0, 4711, 0);
	wrong = open_to(0, 7, 0);
	pf_push(&f, 0, right, "a", 1);
	pf_push(&f, 0, wrong, "b", 1);
	CU_ASSERT_EQUAL(pf_ngot(&f, "client"), 1);
	pf_close(&f, 0, right);
	pf_close(&f, 0, wrong);
	pf_down(&f);
}

static void a_port_that_is_taken_is_an_error_with_the_reason(void)
{
	const struct pf_spec g[] = {
		HOST("b", "10.0.0.2"), { &xk_proto_echo, "one", "ub", NULL }, { &xk_proto_echo, "two", "ub", NULL },
		{ NULL, NULL, NULL, NULL } };
	const char *file, *text;
	int line, col;

	CU_ASSERT_FALSE_FATAL(pf_up_try(&f, 2, g));
	CU_ASSERT_EQUAL_FATAL(xk_errs_count(f.errs), 1);
	text = xk_errs_text(f.errs, 0, &file, &line, &col);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "two: cannot wait on port 7"));
	pf_down(&f);
}

static void tells_a_runner_its_counts(void)
{
	struct xk_app_counts c;
	struct xk_sess *s;

	up(1, NULL);
	s = open_to(0, 7, 0);
	pf_push(&f, 0, s, "12345", 5);
	CU_ASSERT_EQUAL(xk_control(pf_rep(&f, "echo", 0), XK_CTL_APP_COUNTS, &c, sizeof c), (int)sizeof c);
	CU_ASSERT_EQUAL(c.n, 1);
	CU_ASSERT_EQUAL(c.messages[0], 1);
	CU_ASSERT_EQUAL(c.bytes[0], 5);
	CU_ASSERT(xk_control(pf_rep(&f, "echo", 0), XK_CTL_APP_COUNTS, &c, 3) < 0);
	pf_close(&f, 0, s);
	pf_down(&f);
}

static void survives_the_failure_of_every_allocation(void)
{
	const struct pf_spec g[] = {
		HOST("a", "10.0.0.1"), { &pf_upper, "client", "ua", "enable=false" },
		HOST("b", "10.0.0.2"), { &xk_proto_echo, "echo", "ub", NULL }, { NULL, NULL, NULL, NULL } };

	for (uint64_t k = 1; k < 3000; k++) {
		struct xk_sess *s = NULL;
		bool ok;

		xk_mem_fail_after(k);
		ok = pf_up_try(&f, 1, g);
		if (ok)
			s = open_to(0, 7, 0);
		if (s != NULL)
			pf_push(&f, 0, s, "x", 1);
		ok = ok && xk_mem_tries() < k;
		xk_mem_fail_after(0);
		if (s != NULL)
			pf_close(&f, 0, s);
		pf_down(&f);
		if (ok)
			return;
	}
	CU_FAIL("never came through");
}

static CU_TestInfo tests[] = {
	{ "sends every size back as it was", sends_every_size_back_as_it_was },
	{ "answers each peer on its own VP", answers_each_peer_on_its_own_vp },
	{ "serves peers beyond the cap without remembering them", serves_peers_beyond_the_cap_without_remembering_them },
	{ "does not answer a peer on its own port", does_not_answer_a_peer_on_its_own_port },
	{ "waits on the port it was given and on no other", waits_on_the_port_it_was_given_and_on_no_other },
	{ "a port that is taken is an error with the reason", a_port_that_is_taken_is_an_error_with_the_reason },
	{ "tells a runner its counts", tells_a_runner_its_counts },
	{ "survives the failure of every allocation", survives_the_failure_of_every_allocation },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = { { .pName = "echo", .pTests = tests }, CU_SUITE_INFO_NULL };

int main(void)
{
	return xk_test_main(suites);
}

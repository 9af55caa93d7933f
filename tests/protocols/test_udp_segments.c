/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_udp_segments.c - one push that leaves as several datagrams (UDP_CTL_SEGMENT) is, to the byte, what as
 * many pushes would have been, with super-segments below and without.
 */
#include <string.h>

#include "protocols/udp/udp_priv.h"
#include "runtime/base/xk_rand.h"
#include "runtime/upi/xk_capture.h"
#include "runtime/upi/xk_inline.h"
#include "tests/protocols/net_fixture.h"
#include "tests/support/xk_test.h"

#define MOST 65507u

static struct pf f;
static uint8_t pay[MOST + 1];

struct sent { unsigned n; uint64_t trains; struct { uint32_t len; uint16_t id; uint8_t bytes[1600]; } v[2000]; };
static struct sent one, all;

static int segment(struct xk_sess *s, uint32_t n)
{
	int res;

	pf_enter(&f, 0);
	res = xk_sess_control(s, UDP_CTL_SEGMENT, &n, sizeof n);
	pf_leave(&f, 0);
	return res;
}

static struct xk_sess *up(const char *hl, const char *udp)
{
	struct xk_sess *s;

	nf_fill(pay, sizeof pay, 3);
	nf_up(&f, &(struct nf_conf){ .hl = hl, .udp = udp });
	s = nf_open(&f, "app", 0, NF_PEER, 9, 0, 4000, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	return s;
}

static void down(struct sent *st, struct xk_sess *s)
{
	st->n = nf_nsent(&f);
	CU_ASSERT_FATAL(st->n <= XK_ARRAY_LEN(st->v));
	for (unsigned i = 0; i < st->n; i++) {
		uint32_t len;
		const uint8_t *u = nf_sent(&f, i, &len);

		CU_ASSERT_FATAL(len <= 1480);
		memset(&st->v[i], 0, sizeof st->v[i]);
		st->v[i].len = len;
		st->v[i].id = xk_be16(u - 16);
		memcpy(st->v[i].bytes, u, len);
		CU_ASSERT_TRUE(xk_be16(u + 6) == 0 || nf_sum(u, len, nf_pseudo(NF_US, NF_PEER, 17, len)) == 0);
	}
	st->trains = pf_count(&f, "udp", "super_segments_out");
	CU_ASSERT_EQUAL(nf_drops(&f), 0);
	pf_close(&f, 0, s);
	nf_down(&f);
}

/* n bytes in pushes of seg, or in one. */
static void tell(struct sent *st, const char *hl, const char *udp, uint32_t n, uint32_t seg, bool at_once)
{
	struct xk_sess *s = up(hl, udp);

	if (at_once) {
		CU_ASSERT_EQUAL(segment(s, seg), XK_OK);
		pf_push(&f, 0, s, pay, n);
	} else {
		for (uint32_t at = 0; at < n; at += seg)
			pf_push(&f, 0, s, pay + at, n - at < seg ? n - at : seg);
	}
	down(st, s);
}

static void compare(const char *hl, const char *udp, uint32_t n, uint32_t seg)
{
	tell(&one, NULL, udp, n, seg, false);
	tell(&all, hl, udp, n, seg, true);
	CU_ASSERT_EQUAL_FATAL(one.n, all.n);
	for (unsigned i = 0; i < one.n; i++)
		CU_ASSERT_EQUAL_FATAL(memcmp(&one.v[i], &all.v[i], sizeof one.v[i]), 0);
}

static void datagrams_are_those_of_single_pushes(void)
{
	struct xk_rand r;

	compare("super=65535", NULL, MOST, 1472);
	CU_ASSERT_EQUAL(all.trains, 1);
	compare("super=65535", "checksum=false", 40000, 1000);
	CU_ASSERT_EQUAL(all.trains, 1);
	compare("super=65535", NULL, 64 * 100 + 64 * 100 + 1, 100);     /* no more than 64 at once, the last one alone */
	CU_ASSERT_EQUAL(all.trains, 2);
	compare("super=4000", NULL, 20000, 900);
	CU_ASSERT_TRUE(all.trains > 1);
	compare("super=0", NULL, 20000, 900);
	CU_ASSERT_EQUAL(all.trains, 0);
	xk_rand_init(&r, 4, 0);
	for (unsigned i = 0; i < 100; i++) {
		uint32_t seg = 1 + (uint32_t)xk_rand_below(&r, 1472);

		compare(i % 3 ? "super=65535" : "super=9000", i % 5 ? NULL : "checksum=false",
			(uint32_t)xk_rand_below(&r, seg < 65 ? 1000 * seg : MOST), seg);
	}
}

static void what_is_shorter_is_one_datagram_and_0_is_as_before(void)
{
	struct xk_sess *s = up("super=65535", NULL);

	CU_ASSERT_EQUAL(segment(s, 1000), XK_OK);
	pf_push(&f, 0, s, pay, 1000);
	pf_push(&f, 0, s, pay, 0);
	pf_push(&f, 0, s, pay, 1001);
	CU_ASSERT_EQUAL(segment(s, 0), XK_OK);
	pf_push(&f, 0, s, pay, 1400);
	CU_ASSERT_EQUAL(segment(s, MOST + 1), XK_E_INVAL);
	down(&all, s);
	CU_ASSERT_EQUAL_FATAL(all.n, 5);
	CU_ASSERT_TRUE(all.v[0].len == 1008 && all.v[1].len == 8 && all.v[2].len == 1008 && all.v[3].len == 9 &&
		       all.v[4].len == 1408);
	CU_ASSERT_EQUAL(all.trains, 1);
}

static void look_fn(struct xk_capture *c, xk_ns now, const struct xk_msg *m, bool goes_down)
{
	(void)c;
	(void)now;
	(void)goes_down;
	CU_ASSERT_FALSE(m->flags & XK_MSG_SUPER);
}

static void they_go_one_by_one_while_something_is_captured(void)
{
	struct xk_capture look = { .fn = look_fn };
	struct xk_sess *s = up("super=65535", NULL);

	CU_ASSERT_EQUAL(segment(s, 1000), XK_OK);
	xk_capture_attach(pf_node(&f, "app"), &look);
	pf_push(&f, 0, s, pay, 2500);
	CU_ASSERT_EQUAL(nf_nsent(&f), 3);
	CU_ASSERT_EQUAL(pf_count(&f, "udp", "super_segments_out"), 0);
	xk_capture_detach(pf_node(&f, "app"), &look);
	pf_push(&f, 0, s, pay, 2500);
	down(&all, s);
	CU_ASSERT_EQUAL(all.n, 6);
	CU_ASSERT_EQUAL(all.trains, 1);
}

static CU_TestInfo segments[] = {
	{ "datagrams are those of single pushes", datagrams_are_those_of_single_pushes },
	{ "they go one by one while something is captured", they_go_one_by_one_while_something_is_captured },
	{ "what is shorter is one datagram, and 0 is as before", what_is_shorter_is_one_datagram_and_0_is_as_before },
	CU_TEST_INFO_NULL
};

static const CU_SuiteInfo suites[] = {
	{ "segments", NULL, NULL, NULL, NULL, segments },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}

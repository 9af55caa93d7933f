/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_rawip.c - the driver without a device: datagrams in, datagrams out, through ip.
 */
#include <string.h>

#include "drivers/rawip/rawip.h"
#include "tests/protocols/proto_fixture.h"
#include "tests/support/xk_test.h"

extern const struct xk_proto xk_proto_ip;

static const struct pf_spec stack[] = {
	{ &xk_proto_rawip, "raw", NULL, "mtu=1500" },
	{ &xk_proto_ip, "ip", "raw", "addr=10.0.0.1/8" },
	{ &pf_upper, "top", "ip", NULL },
	{ NULL, NULL, NULL, NULL }
};

struct seen { unsigned n; uint32_t len; uint8_t bytes[64]; xk_ns at; };

static void sent(void *arg, xk_ns now, const struct xk_msg *m)
{
	struct seen *s = arg;

	s->n++;
	s->len = m->tot;
	s->at = now;
	xk_msg_copy_out(m, 0, s->bytes, sizeof s->bytes);
}

/* 10.0.0.2 to 10.0.0.1, protocol 253, 4 bytes. */
static const uint8_t datagram[24] = {
	0x45, 0, 0, 24, 0, 0, 0x40, 0, 64, 253, 0x25, 0xe6, 10, 0, 0, 2, 10, 0, 0, 1, 1, 2, 3, 4
};

static int inject(struct pf *f, const void *p, uint32_t n)
{
	int err;

	pf_enter(f, 0);
	err = rawip_inject(pf_node(f, "raw"), p, n);
	pf_leave(f, 0);
	pf_settle(f);
	return err;
}

static void fix_sum(uint8_t *p)
{
	uint32_t s = 0;

	p[10] = p[11] = 0;
	for (int i = 0; i < 20; i += 2)
		s += (uint32_t)p[i] << 8 | p[i + 1];
	s = (s & 0xffff) + (s >> 16);
	s = ~((s & 0xffff) + (s >> 16));
	p[10] = (uint8_t)(s >> 8);
	p[11] = (uint8_t)s;
}

static void a_datagram_goes_up(void)
{
	uint8_t d[24];
	struct pf f;

	memcpy(d, datagram, sizeof d);
	fix_sum(d);
	pf_up(&f, 1, stack);
	CU_ASSERT_EQUAL(inject(&f, d, sizeof d), XK_OK);
	CU_ASSERT_EQUAL(inject(&f, d, sizeof d), XK_OK);
	CU_ASSERT_EQUAL(pf_ngot(&f, "top"), 2);
	CU_ASSERT_EQUAL(pf_got(&f, "top", 0)->len, 4);
	CU_ASSERT_EQUAL(memcmp(pf_got(&f, "top", 1)->bytes, d + 20, 4), 0);
	CU_ASSERT_EQUAL(pf_count(&f, "raw", "received"), 2);
	pf_down(&f);
}

static void a_push_reaches_the_callback_with_the_graphs_time(void)
{
	struct seen s = { 0 };
	struct xk_sess *ses;
	struct pf f;

	pf_up(&f, 1, stack);
	rawip_on_sent(pf_node(&f, "raw"), sent, &s);
	pf_run(&f, 7 * XK_SEC);
	ses = pf_open_host(&f, "top", 0, 0x0a000002, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(ses);
	pf_push(&f, 0, ses, "abcd", 4);
	CU_ASSERT(s.n == 1 && s.len == 24 && memcmp(s.bytes + 20, "abcd", 4) == 0);
	CU_ASSERT(s.at >= 7 * XK_SEC && s.at < 8 * XK_SEC);
	rawip_on_sent(pf_node(&f, "raw"), NULL, NULL);
	pf_push(&f, 0, ses, "abcd", 4);
	CU_ASSERT(s.n == 1 && pf_count(&f, "raw", "sunk") == 1 && pf_count(&f, "raw", "sent") == 2);
	pf_close(&f, 0, ses);
	pf_down(&f);
}

static void hosts_share_the_one_session(void)
{
	struct xk_sess *a, *b;
	struct pf f;

	pf_up(&f, 1, stack);
	a = pf_open_host(&f, "top", 0, 0x0a000002, NULL);
	b = pf_open_host(&f, "top", 0, 0x0a000003, NULL);
	CU_ASSERT(a != NULL && b != NULL && a != b);
	CU_ASSERT_EQUAL(pf_sessions(&f, "raw"), 1);
	pf_close(&f, 0, a);
	pf_close(&f, 0, b);
	CU_ASSERT_EQUAL(pf_sessions(&f, "raw"), 1);
	pf_down(&f);
}

static void too_long_is_refused_both_ways(void)
{
	static uint8_t big[65536];
	static const struct pf_spec small[] = {
		{ &xk_proto_rawip, "raw", NULL, "mtu=100" },
		{ &pf_upper, "top", "raw", "enable=false" }, { NULL, NULL, NULL, NULL }
	};
	struct xk_sess *s;
	struct pf f;

	pf_up(&f, 1, stack);
	CU_ASSERT_EQUAL(inject(&f, big, sizeof big), XK_E_RANGE);
	CU_ASSERT_EQUAL(pf_count(&f, "raw", "received"), 0);
	pf_down(&f);
	pf_up(&f, 1, small);
	s = pf_open_host(&f, "top", 0, 1, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	pf_push(&f, 0, s, big, 101);
	CU_ASSERT_EQUAL(pf_drops(&f, "raw", "too_long"), 1);
	pf_close(&f, 0, s);
	CU_ASSERT_EQUAL(inject(&f, big, 50), XK_OK);
	pf_down(&f);
}

static void a_datagram_for_nobody_is_counted(void)
{
	static const struct pf_spec bare[] = {
		{ &xk_proto_rawip, "raw", NULL, NULL },
		{ &pf_upper, "top", "raw", "enable=false" }, { NULL, NULL, NULL, NULL }
	};
	struct pf f;

	pf_up(&f, 1, bare);
	CU_ASSERT_EQUAL(inject(&f, datagram, sizeof datagram), XK_OK);
	CU_ASSERT_EQUAL(pf_drops(&f, "raw", "nobody_above"), 1);
	pf_down(&f);
}

static void connections_of_other_vps_are_handed_over(void)
{
	uint8_t d[24];
	unsigned vps = 0;
	struct pf f;

	memcpy(d, datagram, sizeof d);
	pf_up(&f, 4, stack);
	for (unsigned i = 0; i < 64; i++) {
		d[15] = (uint8_t)(2 + i);
		fix_sum(d);
		CU_ASSERT_EQUAL(inject(&f, d, sizeof d), XK_OK);
	}
	CU_ASSERT_EQUAL(pf_ngot(&f, "top"), 64);
	for (unsigned i = 0; i < pf_ngot(&f, "top"); i++)
		vps |= 1u << pf_got(&f, "top", i)->vp;
	CU_ASSERT_EQUAL(vps, 15);
	pf_down(&f);
}

#define T(f) { #f, f }
static CU_TestInfo all[] = {
	T(a_datagram_goes_up), T(a_push_reaches_the_callback_with_the_graphs_time), T(hosts_share_the_one_session),
	T(too_long_is_refused_both_ways), T(a_datagram_for_nobody_is_counted),
	T(connections_of_other_vps_are_handed_over), CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = { { "rawip", NULL, NULL, NULL, NULL, all }, CU_SUITE_INFO_NULL };

int main(void)
{
	return xk_test_main(suites);
}

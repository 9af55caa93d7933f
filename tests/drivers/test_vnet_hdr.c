/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_vnet_hdr.c - headers of virtio-net: those that the kernel writes are read as it means them, all
 * others are refused, whatever stands in them; ours are what linux/virtio_net.h asks for.
 */
#include <CUnit/CUnit.h>
#include <string.h>

#include "drivers/common/cut.h"
#include "drivers/common/vnet_hdr.h"
#include "runtime/base/xk_rand.h"
#include "runtime/msg/xk_msg_inline.h"
#include "tests/runtime/mem/mem_fixture.h"
#include "tests/support/xk_test.h"

#define ETH 14u
enum { NEEDS_CSUM = 1, DATA_VALID = 2, TCPV4 = 1, UDP = 3, TCPV6 = 4, UDP_L4 = 5, ECN = 0x80 };

/* An Ethernet frame of TCP (20 bytes) or UDP with n bytes of payload; the rest of it 0. */
static struct xk_msg *frame(bool tcp, uint32_t n)
{
	uint32_t h = tcp ? 20 : 8;
	struct xk_msg *m = xk_msg_new(ETH + 20 + h + n);
	uint8_t *p = m->data;

	CU_ASSERT_FATAL(m->len >= ETH + 40);
	memset(p, 0, ETH + 40);
	xk_put_be16(p + 12, 0x0800);
	p[14] = 0x45;
	xk_put_be16(p + 16, (uint16_t)(20 + h + n));
	p[22] = 64;
	p[23] = tcp ? 6 : 17;
	if (tcp) {
		p[46] = 0x50;
		p[47] = 0x10;
	} else {
		xk_put_be16(p + 38, (uint16_t)(8 + n));
	}
	return m;
}

static bool read(const struct xk_msg *m, unsigned flags, unsigned type, unsigned seg, unsigned start, unsigned offset,
		 struct xk_vnet *v)
{
	uint8_t h[XK_VNET_LEN] = { (uint8_t)flags, (uint8_t)type };

	xk_put_raw16(h + 4, (uint16_t)seg);
	xk_put_raw16(h + 6, (uint16_t)start);
	xk_put_raw16(h + 8, (uint16_t)offset);
	return xk_vnet_read(h, m, ETH, v);
}

static void what_the_kernel_says_is_understood(void)
{
	struct xk_msg *t = frame(true, 5000), *u = frame(false, 5000);
	struct xk_vnet v;

	CU_ASSERT_TRUE(read(t, 0, 0, 0, 0, 0, &v) && !v.vouched && v.seg == 0);
	CU_ASSERT_TRUE(read(t, NEEDS_CSUM, 0, 0, 34, 16, &v) && v.vouched && v.seg == 0);
	CU_ASSERT_TRUE(read(u, NEEDS_CSUM, 0, 0, 34, 6, &v) && v.vouched && v.seg == 0);
	CU_ASSERT_TRUE(read(t, DATA_VALID, 0, 0, 0, 0, &v) && v.vouched && v.seg == 0);
	CU_ASSERT_TRUE(read(t, NEEDS_CSUM, TCPV4, 1448, 34, 16, &v) && v.vouched && v.seg == 1448 && !v.udp);
	CU_ASSERT_TRUE(read(t, DATA_VALID, TCPV4 | ECN, 1448, 0, 0, &v) && v.seg == 1448);
	CU_ASSERT_TRUE(read(u, NEEDS_CSUM, UDP_L4, 700, 34, 6, &v) && v.udp && v.seg == 700);
	xk_msg_free(t);
	xk_msg_free(u);
}

static void what_does_not_fit_the_frame_is_refused(void)
{
	struct xk_msg *t = frame(true, 5000), *u = frame(false, 5000);
	struct xk_vnet v;

	CU_ASSERT_FALSE(read(t, NEEDS_CSUM, 0, 0, 34, 6, &v));          /* TCP's is elsewhere */
	CU_ASSERT_FALSE(read(u, NEEDS_CSUM, 0, 0, 34, 16, &v));
	CU_ASSERT_FALSE(read(t, NEEDS_CSUM, 0, 0, 14, 10, &v));
	CU_ASSERT_FALSE(read(t, NEEDS_CSUM, 0, 0, 65535, 16, &v));      /* outside */
	CU_ASSERT_FALSE(read(t, NEEDS_CSUM, 0, 0, 5052, 1, &v));
	CU_ASSERT_FALSE(read(t, 0, TCPV4, 1448, 0, 0, &v));             /* nobody vouches */
	CU_ASSERT_FALSE(read(t, NEEDS_CSUM, TCPV4, 0, 34, 16, &v));     /* pieces of nothing */
	CU_ASSERT_FALSE(read(t, NEEDS_CSUM, UDP_L4, 700, 34, 16, &v));  /* another protocol */
	CU_ASSERT_FALSE(read(u, NEEDS_CSUM, TCPV4, 700, 34, 6, &v));
	CU_ASSERT_FALSE(read(t, NEEDS_CSUM, TCPV6, 1448, 34, 16, &v));  /* never offered */
	CU_ASSERT_FALSE(read(u, NEEDS_CSUM, UDP, 700, 34, 6, &v));
	CU_ASSERT_FALSE(read(t, NEEDS_CSUM, 99, 1448, 34, 16, &v));
	xk_put_be16(t->data + 16, 5000);                                /* a length that lies */
	CU_ASSERT_FALSE(read(t, NEEDS_CSUM, TCPV4, 1448, 34, 16, &v));
	xk_msg_free(t);
	xk_msg_free(u);
}

static void others_frames_are_not_vouched_for(void)
{
	struct xk_msg *m = frame(true, 1000);
	struct xk_vnet v;

	xk_put_be16(m->data + 20, 0x2000);                              /* a fragment */
	CU_ASSERT_TRUE(read(m, DATA_VALID, 0, 0, 0, 0, &v) && !v.vouched);
	xk_put_be16(m->data + 20, 0);
	m->data[23] = 132;
	CU_ASSERT_TRUE(read(m, NEEDS_CSUM, 0, 0, 34, 8, &v) && !v.vouched);
	xk_put_be16(m->data + 12, 0x86dd);
	CU_ASSERT_TRUE(read(m, NEEDS_CSUM, 0, 0, 54, 16, &v) && !v.vouched);
	CU_ASSERT_FALSE(read(m, NEEDS_CSUM, TCPV4, 500, 54, 16, &v));
	xk_msg_free(m);
	m = xk_msg_new(3);
	CU_ASSERT_TRUE(read(m, DATA_VALID, 0, 0, 0, 0, &v) && !v.vouched);
	CU_ASSERT_FALSE(read(m, NEEDS_CSUM, 0, 0, 2, 0, &v));
	xk_msg_free(m);
}

/* Nothing is vouched for, or told to be several, unless it could be. */
static void noise_is_harmless(void)
{
	struct xk_rand r;

	xk_rand_init(&r, 5, 0);
	for (unsigned i = 0; i < 50000; i++) {
		struct xk_msg *m = frame(xk_rand_below(&r, 2) != 0, 20 + (uint32_t)xk_rand_below(&r, 2000));
		uint8_t h[XK_VNET_LEN];
		struct xk_vnet v;
		struct xk_cut c;

		for (unsigned k = 0; k < XK_VNET_LEN; k++)
			h[k] = (uint8_t)(xk_rand_below(&r, 2) ? xk_rand_u64(&r) : xk_rand_below(&r, 6));
		if (xk_rand_below(&r, 2)) {
			xk_put_raw16(h + 6, 34);
			xk_put_raw16(h + 8, m->data[23] == 6 ? 16 : 6);
		}
		for (uint64_t k = xk_rand_below(&r, 3); k != 0; k--)
			m->data[12 + xk_rand_below(&r, 36)] = (uint8_t)xk_rand_u64(&r);
		if (xk_vnet_read(h, m, ETH, &v)) {
			CU_ASSERT_TRUE(v.seg == 0 || v.vouched);
			CU_ASSERT_TRUE(!v.vouched || (m->data[12] == 8 && (m->data[23] == 6 || m->data[23] == 17)));
			CU_ASSERT_TRUE(v.seg == 0 || xk_cut_begin(&c, m, ETH, v.seg, UINT32_MAX, true));
		}
		xk_msg_free(m);
	}
}

static void ours_are_what_the_kernel_asks_for(void)
{
	struct xk_msg *t = frame(true, 5000), *u = frame(false, 5000);
	uint8_t h[XK_VNET_LEN];
	struct xk_vnet v;
	bool udp;

	t->flags |= XK_MSG_SUPER | XK_MSG_PARTIAL;
	t->u.cut.seg = 1448;
	CU_ASSERT_TRUE_FATAL(xk_vnet_super(h, t, ETH, 1514, &udp));
	CU_ASSERT_TRUE(!udp && h[0] == NEEDS_CSUM && h[1] == TCPV4 && xk_raw16(h + 2) == 54 && xk_raw16(h + 4) == 1448 &&
		       xk_raw16(h + 6) == 34 && xk_raw16(h + 8) == 16);
	CU_ASSERT_TRUE(xk_vnet_read(h, t, ETH, &v) && v.seg == 1448);
	t->data[47] |= 0x80;                                            /* CWR */
	CU_ASSERT_TRUE(xk_vnet_super(h, t, ETH, 1514, &udp) && h[1] == (TCPV4 | ECN));
	t->data[47] |= 0x20;                                            /* URG: a kernel has one pointer in all */
	CU_ASSERT_FALSE(xk_vnet_super(h, t, ETH, 1514, &udp));
	CU_ASSERT_TRUE(xk_vnet_read(h, t, ETH, &v) && v.seg == 1448);
	t->data[47] &= (uint8_t)~0x20;
	CU_ASSERT_FALSE(xk_vnet_super(h, t, ETH, 1501, &udp));          /* longer than a frame may be */
	t->flags &= (uint8_t)~XK_MSG_PARTIAL;
	CU_ASSERT_FALSE(xk_vnet_super(h, t, ETH, 1514, &udp));
	u->flags |= XK_MSG_SUPER | XK_MSG_PARTIAL;
	u->u.cut.seg = 100;
	CU_ASSERT_TRUE(xk_vnet_super(h, u, ETH, 1514, &udp) && udp && h[1] == UDP_L4 && xk_raw16(h + 8) == 6);
	xk_msg_free(t);
	xk_msg_free(u);
}

/* A frame of n bytes of payload with the sum of its pseudo-header in the field, completed: is it good? */
static bool completed(bool tcp, uint32_t n, uint16_t first)
{
	struct xk_msg *m = frame(tcp, n);
	uint32_t pseudo = htobe16(tcp ? 6 : 17) + htobe16((uint16_t)(m->tot - ETH - 20)), sum, at = tcp ? 50 : 40;
	uint8_t h[XK_VNET_LEN] = { NEEDS_CSUM };
	uint16_t field;
	bool good;

	xk_put_raw16(h + 6, 34);
	xk_put_raw16(h + 8, tcp ? 16 : 6);
	for (struct xk_msg *x = m; x != NULL; x = x->next)
		for (uint32_t i = x == m ? at + 4 : 0; i < x->len; i++)
			x->data[i] = (uint8_t)(i * 7);
	xk_msg_copy_in(m, m->tot - 2 - (m->tot & 1), &first, 2);
	xk_put_raw16(m->data + at, xk_csum_fold(pseudo));
	xk_vnet_complete(h, m);
	sum = xk_csum_add(pseudo, xk_msg_csum(m, 34, 0));
	field = xk_raw16(m->data + at);
	good = xk_csum_fold(sum) == 0xffff && field != 0;
	h[0] = DATA_VALID;
	xk_vnet_complete(h, m);
	good = good && xk_raw16(m->data + at) == field;
	xk_msg_free(m);
	return good;
}

static void what_was_left_to_us_is_made(void)
{
	for (uint32_t n = 12; n < 9000; n += n < 32 ? 1 : 997)
		CU_ASSERT_TRUE(completed(true, n, 0) && completed(false, n, 0));
	for (uint32_t v = 0; v <= 0xffff; v++)                          /* one of them makes the sum 0 */
		if (!completed(false, 100, (uint16_t)v)) {
			CU_FAIL("a checksum is wrong");
			return;
		}
}

static CU_TestInfo headers[] = {
	{ "what the kernel says is understood", what_the_kernel_says_is_understood },
	{ "what does not fit the frame is refused", what_does_not_fit_the_frame_is_refused },
	{ "others' frames are not vouched for", others_frames_are_not_vouched_for },
	{ "noise is harmless", noise_is_harmless },
	{ "what was left to us is made", what_was_left_to_us_is_made },
	{ "ours are what the kernel asks for", ours_are_what_the_kernel_asks_for },
	CU_TEST_INFO_NULL
};

static const CU_SuiteInfo suites[] = {
	{ "headers", NULL, NULL, fx_setup, fx_teardown, headers },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}

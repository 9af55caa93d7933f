/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_cut.c - frames cut out of a super-segment are those that would have been sent one by one, and a
 * message that lies is refused.
 *
 * The other side of each comparison is written down here from the RFCs, a byte and a 16-bit word at a
 * time, and shares no code with the cutter.
 */
#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/common/cut.h"
#include "runtime/base/xk_rand.h"
#include "runtime/msg/xk_msg_inline.h"
#include "tests/runtime/mem/mem_fixture.h"
#include "tests/support/xk_test.h"

#define MOST (64u * 1024u)

enum { FIN = 1, SYN = 2, RST = 4, PSH = 8, ACK = 16, URG = 32, ECE = 64, CWR = 128 };

/* A super-segment as a sender describes it. */
struct what {
	uint32_t link, ipopts, tcpopts, seg, n;
	uint32_t seq;
	uint16_t id, frag, urg;
	uint8_t  tos, flags;
	bool     tcp, sums;
};

static uint8_t payload[MOST], super[MOST + 200];

/* ---- one frame, by the book ---------------------------------------------------------- */

static void put16(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static void put32(uint8_t *p, uint32_t v)
{
	put16(p, v >> 16);
	put16(p + 2, v & 0xffff);
}

static uint32_t add(uint32_t sum, const uint8_t *p, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		sum += i & 1 ? p[i] : (uint32_t)p[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static uint32_t pseudo(const uint8_t *ip, uint32_t proto, uint32_t len)
{
	uint8_t p[12] = { 0 };

	memcpy(p, ip + 12, 8);
	p[9] = (uint8_t)proto;
	put16(p + 10, len);
	return add(0, p, 12);
}

static uint32_t head_length(const struct what *w)
{
	return w->link + 20 + w->ipopts + (w->tcp ? 20 + w->tcpopts : 8);
}

/* Headers at p of a frame with n bytes of payload behind them, already there.  `partial`: the checksum is
 * left to the device.  Its length. */
static uint32_t frame(uint8_t *p, const struct what *w, uint32_t n, uint32_t seq, uint16_t id, uint8_t flags, bool partial)
{
	uint32_t h = head_length(w), iph = 20 + w->ipopts, len = h - w->link - iph + n, sum;
	uint8_t *ip = p + w->link, *t = ip + iph, *field = t + (w->tcp ? 16 : 6);

	for (uint32_t i = 0; i < w->link; i++)
		p[i] = (uint8_t)(0x40 + i);
	put16(ip - 2, 0x0800);
	memset(ip, 0, h - w->link);
	ip[0] = (uint8_t)(0x40 | iph / 4);
	ip[1] = w->tos;
	put16(ip + 2, iph + len);
	put16(ip + 4, id);
	put16(ip + 6, w->frag);
	ip[8] = 64;
	ip[9] = w->tcp ? 6 : 17;
	put32(ip + 12, 0x0a000001);
	put32(ip + 16, 0x0a0000fe);
	memset(ip + 20, 1, w->ipopts);
	put16(ip + 10, ~add(0, ip, iph) & 0xffff);
	put16(t, 4001);
	put16(t + 2, 80);
	if (w->tcp) {
		put32(t + 4, seq);
		put32(t + 8, 77777);
		t[12] = (uint8_t)((20 + w->tcpopts) / 4 << 4);
		t[13] = flags;
		put16(t + 14, 1234);
		put16(t + 18, flags & URG ? w->urg - (seq - w->seq) : w->flags & URG ? 0 : w->urg);
		for (uint32_t i = 0; i < w->tcpopts; i++)
			t[20 + i] = (uint8_t)(i + 9);
	} else {
		put16(t + 4, len);
	}
	if (w->sums) {
		sum = pseudo(ip, ip[9], len);
		if (!partial)
			sum = ~add(sum, t, len) & 0xffff;
		put16(field, sum == 0 && !w->tcp ? 0xffff : sum);
	}
	return h + n;
}

/* The frame that carries payload [at, at + n), the i-th. */
static uint32_t expected(uint8_t *p, const struct what *w, uint32_t i, uint32_t at, uint32_t n)
{
	uint8_t flags = w->flags;

	if (i != 0)
		flags &= (uint8_t)~CWR;
	if (at + n != w->n)
		flags &= (uint8_t)~(FIN | PSH);
	if (i != 0 && at >= w->urg)
		flags &= (uint8_t)~URG;
	memcpy(p + head_length(w), payload + at, n);
	return frame(p, w, n, w->seq + at, (uint16_t)(w->frag & 0x4000 ? w->id : w->id + i), flags, false);
}

/* ---- one super-segment, in pieces -------------------------------------------------------- */


/* The bytes of w as a chain: the headers, then pieces of up to `most` bytes at random, or of just a
 * frame's payload when most is 0; some with their sums noted. */
static struct xk_msg *make(const struct what *w, struct xk_rand *r, uint32_t most)
{
	uint32_t h = head_length(w), at = 0;
	struct xk_msg *m = xk_msg_new(h);

	memcpy(super + h, payload, w->n);
	frame(super, w, w->n, w->seq, w->id, w->flags, true);
	xk_msg_copy_in(m, 0, super, h);
	while (at < w->n) {
		uint32_t k = most == 0 ? w->seg : 1 + (uint32_t)xk_rand_below(r, most), left = w->n - at;
		struct xk_msg *x;

		k = k < left ? k : left;
		k = k < XK_MSG_MAX_SEG ? k : XK_MSG_MAX_SEG;
		x = xk_msg_new(k);
		xk_msg_copy_in(x, 0, payload + at, k);
		xk_msg_join(m, x);
		if (xk_rand_below(r, 2) != 0) {
			x->csum = xk_csum(x->data, k, 0);
			x->flags |= XK_MSG_CSUM;
		}
		at += k;
	}
	m->flags |= XK_MSG_SUPER | (w->sums ? XK_MSG_PARTIAL : 0);
	m->u.cut.seg = w->seg;
	return m;
}

/* Is what xk_cut_put says of a frame the sum of what lies behind its network header? */
static bool said_right(const struct what *w, const uint8_t *f, uint32_t n, uint32_t sum)
{
	uint32_t tp = w->link + 20 + w->ipopts;
	uint16_t is = xk_csum_fold(xk_csum(f + tp, n - tp, 0)), said = xk_csum_fold(sum);

	return is == said || (is % 0xffff == 0 && said % 0xffff == 0);
}

static void compare(const struct what *w, struct xk_rand *r, uint32_t most)
{
	static uint8_t got[MOST + 200], want[MOST + 200];
	struct xk_msg *m = make(w, r, most);
	uint32_t at = 0, i = 0, n;
	struct xk_cut c;

	CU_ASSERT_TRUE_FATAL(xk_cut_super(&c, m, w->link, head_length(w) + w->seg));
	while ((n = xk_cut_next(&c)) != 0) {
		uint32_t k = w->n - at < w->seg ? w->n - at : w->seg, sum;

		CU_ASSERT_EQUAL_FATAL(n, head_length(w) + k);
		sum = xk_cut_put(&c, got);
		CU_ASSERT_EQUAL(expected(want, w, i, at, k), n);
		CU_ASSERT_EQUAL_FATAL(memcmp(got, want, n), 0);
		CU_ASSERT_TRUE(said_right(w, got, n, sum));
		at += k;
		i++;
	}
	CU_ASSERT_EQUAL(at, w->n);
	xk_msg_free(m);
}

static void setup(void)
{
	for (unsigned i = 0; i < MOST; i++)
		payload[i] = (uint8_t)(i * 7 + (i >> 8) * 13 + 1);
	fx_setup();
}

static const struct what tcp = { .link = 14, .tcpopts = 12, .seg = 1448, .n = 10 * 1448 + 17, .seq = 0xfffff000, .id = 0xfffe,
				 .frag = 0x4000, .tos = 2, .flags = ACK | PSH | FIN | CWR, .tcp = true, .sums = true };

/* ---- tests ------------------------------------------------------------------------------- */

static void tcp_frames_are_those_of_single_pushes(void)
{
	struct xk_rand r;

	xk_rand_init(&r, 1, 0);
	compare(&tcp, &r, 0);
	compare(&tcp, &r, 4000);
	compare(&tcp, &r, 3);
}

static void urgent_data_ends_where_it_did(void)
{
	static const uint16_t to[] = { 0, 1, 1447, 1448, 1449, 2 * 1448, 2 * 1448 + 1, 10 * 1448 + 17, 65535 };
	struct what w = tcp;
	struct xk_rand r;

	xk_rand_init(&r, 1, 0);
	for (unsigned i = 0; i < XK_ARRAY_LEN(to); i++) {
		w.urg = to[i];
		w.flags = ACK | URG | PSH;
		compare(&w, &r, 0);
		w.flags = ACK;                   /* a pointer that says nothing stays */
		compare(&w, &r, 0);
	}
}

static void without_df_identifications_go_on(void)
{
	struct what w = tcp;
	struct xk_rand r;

	xk_rand_init(&r, 1, 0);
	w.frag = 0;
	compare(&w, &r, 0);
}

static void udp_datagrams_have_their_lengths_and_no_sum_of_0(void)
{
	struct what w = { .link = 21, .seg = 2, .n = 2 * 5000 + 1, .id = 7, .sums = true };
	struct xk_rand r;

	xk_rand_init(&r, 1, 0);
	/* Payload of all values: one of them makes the sum 0. */
	for (unsigned i = 0; i < 20000; i++)
		put16(payload + 2 * (i % 5000), i * 13);
	compare(&w, &r, 700);
	w.sums = false;
	compare(&w, &r, 700);
}

static void any_sizes_in_any_pieces(void)
{
	struct xk_rand r;

	xk_rand_init(&r, 20, 0);
	for (unsigned i = 0; i < 600; i++) {
		struct what w = { .link = xk_rand_below(&r, 2) ? 14 : 21, .ipopts = 4 * (uint32_t)xk_rand_below(&r, 11),
				  .tcpopts = 4 * (uint32_t)xk_rand_below(&r, 11), .seg = 1 + (uint32_t)xk_rand_below(&r, 3000),
				  .seq = (uint32_t)xk_rand_u64(&r), .id = (uint16_t)xk_rand_u64(&r),
				  .frag = xk_rand_below(&r, 2) ? 0x4000 : 0, .tos = (uint8_t)xk_rand_u64(&r),
				  .flags = (uint8_t)xk_rand_u64(&r) & (uint8_t)~(SYN | RST),
				  .urg = (uint16_t)xk_rand_below(&r, 6000),
				  .tcp = xk_rand_below(&r, 3) != 0, .sums = xk_rand_below(&r, 4) != 0 };

		w.n = 1 + (uint32_t)xk_rand_below(&r, w.seg < 40 ? 40 * w.seg : xk_rand_below(&r, 8) ? 9000 : 65300);
		compare(&w, &r, 1 + (uint32_t)xk_rand_below(&r, 5000));
	}
}

/* Of a link whose frames do not fit a segment. */
static void long_frames_are_chains(void)
{
	static uint8_t got[MOST + 200], want[MOST + 200];
	struct what w = { .link = 14, .n = 60000, .seq = 5, .id = 9, .flags = ACK | PSH, .tcp = true, .sums = true };
	struct xk_rand r;

	xk_rand_init(&r, 6, 0);
	for (w.seg = XK_MSG_MAX_SEG - 53; w.seg < 40000; w.seg += 1 + (uint32_t)xk_rand_below(&r, 2000)) {
		struct xk_msg *m = make(&w, &r, 5000), *x;
		struct xk_cut c;

		CU_ASSERT_TRUE_FATAL(xk_cut_super(&c, m, w.link, head_length(&w) + w.seg));
		for (uint32_t at = 0, i = 0; at < w.n; at += w.seg, i++) {
			uint32_t k = w.n - at < w.seg ? w.n - at : w.seg, n = expected(want, &w, i, at, k);

			x = xk_cut_msg(&c);
			CU_ASSERT_PTR_NOT_NULL_FATAL(x);
			xk_msg_check(x);
			CU_ASSERT_EQUAL_FATAL(x->tot, n);
			CU_ASSERT_EQUAL(!(x->flags & XK_MSG_CSUM), n > XK_MSG_MAX_SEG);
			CU_ASSERT_EQUAL(xk_msg_copy_out(x, 0, got, n), n);
			CU_ASSERT_EQUAL_FATAL(memcmp(got, want, n), 0);
			xk_msg_free(x);
		}
		CU_ASSERT_EQUAL(xk_cut_next(&c), 0);
		xk_msg_free(m);
	}
}

/* A sum that was noted wrong goes into the checksum: what has happened to the bytes since shows. */
static void what_changed_on_the_way_shows(void)
{
	struct what w = tcp;
	struct xk_rand r;
	struct xk_msg *m;
	struct xk_cut c;
	uint8_t got[2000];
	uint32_t sum;

	xk_rand_init(&r, 1, 0);
	w.n = 2 * w.seg;
	m = make(&w, &r, 0);
	m->next->csum = xk_csum(m->next->data, m->next->len, 0);
	m->next->flags |= XK_MSG_CSUM;
	m->next->data[5] ^= 1;
	CU_ASSERT_TRUE_FATAL(xk_cut_super(&c, m, w.link, 1514));
	sum = xk_cut_put(&c, got);
	CU_ASSERT_TRUE(said_right(&w, got, 1514, sum));
	CU_ASSERT_NOT_EQUAL(add(pseudo(got + 14, 6, 1480), got + 34, 1480), 0xffff);
	xk_cut_put(&c, got);
	CU_ASSERT_EQUAL(add(pseudo(got + 14, 6, 1480), got + 34, 1480), 0xffff);
	xk_msg_free(m);
}

static void messages_have_room_and_lie_in_lines(void)
{
	struct xk_rand r;
	struct xk_msg *m;
	struct xk_msgq q;
	struct xk_cut c;

	xk_rand_init(&r, 1, 0);
	m = make(&tcp, &r, 0);
	xk_msgq_init(&q);
	CU_ASSERT_TRUE_FATAL(xk_cut_super(&c, m, 14, 1514));
	CU_ASSERT_EQUAL(xk_cut_rest(&c, &q), 0);
	CU_ASSERT_EQUAL(q.n, 11);
	for (const struct xk_msg *x = q.first; x != NULL; x = x->link) {
		xk_msg_check(x);
		CU_ASSERT_EQUAL((uintptr_t)(x->data + 66) % XK_CACHELINE, 0);
		CU_ASSERT_TRUE(x->flags == XK_MSG_CSUM && xk_msg_headroom(x) >= 64);
		CU_ASSERT_TRUE(said_right(&tcp, x->data, x->len, x->csum));
	}
	xk_msgq_free(&q);
	xk_msg_free(m);
}

/* ---- what is refused ----------------------------------------------------------------------- */

/* Byte `at` of a super-segment's headers becomes v. */
static bool taken(const struct what *w, int at, uint8_t v, uint32_t seg, uint32_t frame_max)
{
	struct xk_rand r;
	struct xk_msg *m;
	struct xk_cut c;
	bool yes;

	xk_rand_init(&r, 1, 0);
	m = make(w, &r, 0);
	if (at >= 0)
		m->data[at] = v;
	yes = xk_cut_begin(&c, m, w->link, seg, frame_max, true);
	xk_msg_free(m);
	return yes;
}

static void lies_are_refused(void)
{
	struct what udp = { .link = 14, .seg = 100, .n = 1000, .sums = true };
	static const struct { int at; uint8_t v; } lie[] = {
		{ 12, 0x86 }, { 14, 0x65 }, { 14, 0x44 }, { 14, 0x4f }, { 16, 0 }, { 17, 0 }, { 20, 0x20 }, { 21, 1 }, { 23, 1 },
		{ 46, 0x40 }, { 47, SYN | ACK }, { 47, RST | ACK },
	};

	CU_ASSERT_TRUE(taken(&tcp, -1, 0, 1448, 1514));
	for (unsigned i = 0; i < sizeof lie / sizeof lie[0]; i++)
		CU_ASSERT_FALSE(taken(&tcp, lie[i].at, lie[i].v, 1448, 1514));
	CU_ASSERT_FALSE(taken(&tcp, -1, 0, 0, 1514));
	CU_ASSERT_FALSE(taken(&tcp, -1, 0, 1449, 1514));
	CU_ASSERT_FALSE(taken(&tcp, -1, 0, 1, 66));
	CU_ASSERT_FALSE(taken(&tcp, -1, 0, UINT32_MAX, 1514));
	CU_ASSERT_TRUE(taken(&udp, -1, 0, 100, 142));
	CU_ASSERT_FALSE(taken(&udp, -1, 0, 100, 141));
	CU_ASSERT_FALSE(taken(&udp, 38, 0, 100, 142));
}

/* Whatever the headers say, what is made is no longer than was allowed and holds what was there. */
static void noise_makes_no_long_frames(void)
{
	static uint8_t got[MOST + 200];
	struct xk_rand r;

	xk_rand_init(&r, 21, 0);
	for (unsigned i = 0; i < 20000; i++) {
		struct what w = tcp;
		uint32_t seg = (uint32_t)xk_rand_below(&r, 300), max = 40 + (uint32_t)xk_rand_below(&r, 300), n;
		struct xk_msg *m;
		struct xk_cut c;

		w.n = (uint32_t)xk_rand_below(&r, 600);
		w.seg = seg != 0 ? seg : 1;
		m = make(&w, &r, 300);
		for (uint64_t k = xk_rand_below(&r, 4); k != 0; k--)
			m->data[xk_rand_below(&r, m->len)] = (uint8_t)xk_rand_u64(&r);
		xk_msg_truncate(m, m->tot - (xk_rand_below(&r, 4) == 0 ? (uint32_t)xk_rand_below(&r, m->tot) : 0));
		if (xk_cut_begin(&c, m, 14, seg, max, true)) {
			uint32_t sum = 0;

			while ((n = xk_cut_next(&c)) != 0) {
				CU_ASSERT_TRUE_FATAL(n <= max);
				xk_cut_put(&c, got);
				sum += n - c.hlen;
			}
			CU_ASSERT_EQUAL(sum, m->tot - c.hlen);
		}
		xk_msg_free(m);
	}
}

static CU_TestInfo frames[] = {
	{ "TCP: frames are those of single pushes", tcp_frames_are_those_of_single_pushes },
	{ "urgent data ends where it did", urgent_data_ends_where_it_did },
	{ "without DF identifications go on", without_df_identifications_go_on },
	{ "UDP: datagrams have their lengths, and no sum of 0", udp_datagrams_have_their_lengths_and_no_sum_of_0 },
	{ "any sizes in any pieces", any_sizes_in_any_pieces },
	{ "long frames are chains", long_frames_are_chains },
	{ "what changed on the way shows", what_changed_on_the_way_shows },
	{ "messages have room and lie in lines", messages_have_room_and_lie_in_lines },
	{ "lies are refused", lies_are_refused },
	{ "noise makes no long frames", noise_makes_no_long_frames },
	CU_TEST_INFO_NULL
};

static const CU_SuiteInfo suites[] = {
	{ "frames", NULL, NULL, setup, fx_teardown, frames },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}

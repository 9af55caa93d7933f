/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_inet.c - the whole house: udp and icmp over ip over arp over Ethernet,
 * classified onto one and four VPs.
 *
 * Promises: what one layer tells the next holds together (addresses, network
 * header, hints, controls), hints spare the maps, and fragments meet.  With
 * VP_CLASSIFIER=none there are no hints: each message is looked up where it
 * arrived, and handed over once where that is not its connection's VP.
 */
#include <stdlib.h>
#include <string.h>

#include "protocols/arp/arp.h"
#include "protocols/eth/eth.h"
#include "runtime/classify/xk_classify.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"
#include "tests/protocols/net_fixture.h"
#include "tests/support/xk_test.h"

extern const struct xk_proto xk_proto_arp, xk_proto_ip, xk_proto_icmp, xk_proto_udp, xk_proto_eth_mem, xk_proto_tcp,
	xk_proto_tcpecho, xk_proto_load_stream, xk_proto_echo, xk_proto_load_port;

static const struct pf_spec graph[] = {
	{ &pf_driver, "drv", NULL, "link=eth" },
	{ &xk_proto_eth, "eth", "drv", NULL },
	/* This peer answers no question: it is never doubted. */
	{ &xk_proto_arp, "arp", "eth", "reachable=1h" },
	{ &xk_proto_ip, "ip", "arp", "addr=10.0.0.1/8" },
	{ &xk_proto_icmp, "icmp", "ip", NULL },
	{ &xk_proto_udp, "udp", "ip", NULL },
	{ &pf_upper, "app", "udp", "enable=false" },
	{ &pf_upper, "echoer", "icmp", "enable=false" },
	{ NULL, NULL, NULL, NULL },
};
static const uint8_t us[6] = { 2, 0, 0, 0, 0, 1 }, peer[6] = { 2, 0, 0, 0, 0, 2 };

static struct pf f;
static uint8_t fr[70000], pay[70000], d[70000];

/* The frame around the n bytes at `what`. */
static uint32_t frame(const uint8_t dst[6], uint16_t type, const void *what, uint32_t n)
{
	memmove(fr + 14, what, n);
	memcpy(fr, dst, 6);
	memcpy(fr + 6, peer, 6);
	xk_put_be16(fr + 12, type);
	return n + 14;
}

static void in_ip(unsigned vp, uint32_t n)
{
	pf_inject(&f, "drv", vp, fr, frame(us, 0x0800, d, n));
}

/* The peer asks who has our address: now both know each other. */
static void meet(void)
{
	uint8_t a[28] = { 0, 1, 8, 0, 6, 4, 0, 1 };
	const struct pf_rec *r;

	memcpy(a + 8, peer, 6);
	xk_put_be32(a + 14, NF_PEER);
	xk_put_be32(a + 24, NF_US);
	pf_inject(&f, "drv", 0, fr, frame((const uint8_t[6]){ 255, 255, 255, 255, 255, 255 }, 0x0806, a, 28));
	CU_ASSERT_EQUAL_FATAL(pf_npushed(&f, "drv"), 1);
	r = pf_pushed(&f, "drv", 0);
	CU_ASSERT(memcmp(r->bytes, peer, 6) == 0 && xk_be16(r->bytes + 12) == 0x0806 && r->bytes[21] == 2);
	pf_forget(&f, "drv");
}

static void answer(struct xk_rep *r, struct xk_sess *lls, struct xk_msg *m)
{
	struct xk_msg *a = xk_msg_clone(m);

	(void)r;
	xk_push(lls, a);
}

static void up(unsigned nvps)
{
	struct xk_parts ps;

	nf_fill(pay, sizeof pay, 4);
	pf_up(&f, nvps, graph);
	xk_parts_init(&ps, 1);
	xk_part_push_port(&ps.p[0], NF_PORT);
	xk_assert(xk_open_enable(pf_node(&f, "app"), pf_node(&f, "app"), pf_node(&f, "udp"), &ps) == XK_OK);
	pf_upper_of(&f, "app")->on_msg = answer;
	meet();
}

static void down(void)
{
	static const char *const all[] = { "eth", "arp", "ip", "icmp", "udp", "app" };

	for (unsigned i = 0; i < XK_ARRAY_LEN(all); i++)
		CU_ASSERT_EQUAL(pf_drops(&f, all[i], NULL), 0);
	xk_open_disable_all(pf_node(&f, "app"), pf_node(&f, "udp"));
	pf_down(&f);
}

/* The i-th frame out: to the peer, IPv4 with a right checksum; its payload. */
static const uint8_t *out_ip(unsigned i, uint8_t proto, uint32_t *n)
{
	const struct pf_rec *r = pf_pushed(&f, "drv", i);
	const uint8_t *h = r->bytes + 14;

	CU_ASSERT(memcmp(r->bytes, peer, 6) == 0 && memcmp(r->bytes + 6, us, 6) == 0);
	CU_ASSERT_EQUAL(xk_be16(r->bytes + 12), 0x0800);
	CU_ASSERT(nf_sum(h, 20, 0) == 0 && h[9] == proto);
	CU_ASSERT(xk_be32(h + 12) == NF_US && xk_be32(h + 16) == NF_PEER);
	*n = xk_be16(h + 2) - 20u;
	CU_ASSERT(*n + 34 <= r->len);
	return h + 20;
}

static void an_echo_request_comes_back_to_the_station_that_sent_it(void)
{
	for (unsigned nvps = 1; nvps <= 4; nvps += 3) {
		up(nvps);
		for (uint32_t len = 0; len < 1400; len += 100) {
			const uint8_t *p;
			uint32_t n;

			in_ip(len / 100 % nvps, nf_icmp(d, NF_PEER, NF_US, 8, 0, 0x10000 + len, pay, len));
			CU_ASSERT_EQUAL_FATAL(pf_npushed(&f, "drv"), len / 100 + 1);
			p = out_ip(len / 100, 1, &n);
			CU_ASSERT(n == len + 8 && p[0] == 0 && nf_sum(p, n, 0) == 0 && memcmp(p + 8, pay, len) == 0);
		}
		down();
	}
}

static bool late(void)
{
	return strcmp(pf_node(&f, "drv")->classifier->ops->name, "none") == 0;
}

/* Does a frame from that port that arrives on vp have to change its VP? */
static bool is_away(uint16_t port, unsigned vp)
{
	const struct xk_flowkey k = { .raddr = htobe32(NF_PEER), .laddr = htobe32(NF_US), .rport = htobe16(port),
				      .lport = htobe16(NF_PORT), .proto = 17 };

	return xk_flow_home(f.g->flows, &k) != vp;
}

static uint64_t wrong_vps(void)
{
	uint64_t n = 0;

	for (unsigned vp = 0; vp < f.g->vps->nvps; vp++)
		n += f.g->vps->vp[vp]->wrong_vp;
	return n;
}

static uint64_t handed_over(void)
{
	uint64_t n = 0;

	for (unsigned vp = 0; vp < f.g->vps->nvps; vp++)
		n += f.g->vps->vp[vp]->handed_over;
	return n;
}

/* A reply's identifier is a key: wherever it arrives, it comes to the VP that asked. */
static void an_echo_reply_comes_to_the_vp_that_asked(void)
{
	static const uint16_t id = 0x4200;
	struct xk_sess *s[4];
	int err = 0;

	up(4);
	for (unsigned i = 0; i < 4; i++) {
		struct xk_parts ps;

		xk_parts_init(&ps, 2);
		xk_part_push_host(&ps.p[XK_REMOTE], NF_PEER);
		xk_part_push_any(&ps.p[XK_LOCAL]);
		xk_part_push_port(&ps.p[XK_LOCAL], (uint16_t)(id + i));
		s[i] = pf_open(&f, "echoer", i, &ps, &err);
		CU_ASSERT_PTR_NOT_NULL_FATAL(s[i]);
	}
	for (unsigned i = 0; i < 4; i++)
		for (unsigned vp = 0; vp < 4; vp++) {
			in_ip(vp, nf_icmp(d, NF_PEER, NF_US, 0, 0, (uint32_t)(id + i) << 16, pay, 8));
			CU_ASSERT_EQUAL_FATAL(pf_ngot(&f, "echoer"), 4 * i + vp + 1);
			CU_ASSERT_EQUAL(pf_got(&f, "echoer", 4 * i + vp)->vp, i);
			CU_ASSERT_PTR_EQUAL(pf_got(&f, "echoer", 4 * i + vp)->lls, s[i]);
		}
	CU_ASSERT_EQUAL(handed_over(), 12);
	CU_ASSERT_EQUAL(pf_count(&f, "icmp", "rerouted"), late() ? 12 : 0);
	for (unsigned i = 0; i < 4; i++)
		pf_close(&f, i, s[i]);
	down();
}

static uint64_t lookups(const char *name)
{
	uint64_t sum = 0;

	for (unsigned vp = 0; vp < f.g->vps->nvps; vp++)
		sum += pf_rep(&f, name, vp)->active.lookup;
	return sum;
}

static void many_peers_are_answered_and_hints_spare_the_maps(void)
{
	for (unsigned nvps = 1; nvps <= 4; nvps += 3) {
		uint64_t ip = 0, udp = 0, away = 0;

		up(nvps);
		for (unsigned round = 0; round < 4; round++) {
			for (uint16_t port = 2000; port < 2064; port++) {
				const uint8_t *p;
				uint32_t n;

				in_ip(port % nvps, nf_udp(d, NF_PEER, port, NF_US, NF_PORT, pay, port % 50));
				away += is_away(port, port % nvps);
				p = out_ip(pf_npushed(&f, "drv") - 1, 17, &n);
				CU_ASSERT(n == port % 50 + 8u && xk_be16(p) == NF_PORT && xk_be16(p + 2) == port);
				CU_ASSERT_EQUAL(nf_sum(p, n, nf_pseudo(NF_US, NF_PEER, 17, n)), 0);
				CU_ASSERT(memcmp(p + 8, pay, n - 8) == 0);
			}
			CU_ASSERT_EQUAL(pf_npushed(&f, "drv"), (round + 1) * 64);
			if (round == 1) {
				ip = lookups("ip");
				udp = lookups("udp");
			}
		}
		if (!late()) {
			CU_ASSERT_EQUAL(lookups("ip"), ip);
			CU_ASSERT_EQUAL(lookups("udp"), udp);
		}
		CU_ASSERT_EQUAL(pf_upper_of(&f, "app")->open_dones, 64);
		CU_ASSERT_EQUAL(xk_flowtab_count(f.g->flows), 64);
		CU_ASSERT_EQUAL(pf_count(&f, "udp", "rerouted"), late() ? away : 0);
		CU_ASSERT_EQUAL(handed_over(), away);
		CU_ASSERT_EQUAL(wrong_vps(), 0);
		down();
	}
}

static void a_fragmented_datagram_is_answered_in_fragments(void)
{
	static uint8_t whole[70000], back[70000];

	for (unsigned nvps = 1; nvps <= 4; nvps += 3) {
		up(nvps);
		for (uint16_t port = 3000; port < 3008; port++) {
			uint32_t n = nf_udp(whole, NF_PEER, port, NF_US, NF_PORT, pay, 9000), end = 0;

			for (uint32_t at = 0; at < n - 20; at += 1480) {
				uint32_t len = n - 20 - at < 1480 ? n - 20 - at : 1480;
				struct nf_ip h = { .proto = 17, .id = port,
						   .frag = (uint16_t)(at / 8 | (at + len < n - 20 ? 0x2000 : 0)) };

				in_ip(port % nvps, nf_ip(d, &h, whole + 20 + at, len));
			}
			for (unsigned i = 0; i < pf_npushed(&f, "drv"); i++) {
				uint32_t len, at = (xk_be16(pf_pushed(&f, "drv", i)->bytes + 20) & 0x1fffu) * 8;
				const uint8_t *p = out_ip(i, 17, &len);

				memcpy(back + at, p, len);
				end = at + len > end ? at + len : end;
			}
			CU_ASSERT_EQUAL(end, 9008);
			CU_ASSERT_EQUAL(nf_sum(back, end, nf_pseudo(NF_US, NF_PEER, 17, end)), 0);
			CU_ASSERT(memcmp(back + 8, pay, 9000) == 0);
			pf_forget(&f, "drv");
		}
		down();
	}
}

static void a_control_that_nobody_knows_reaches_the_driver(void)
{
	struct xk_parts ps;
	struct xk_sess *s;
	uint8_t mac[6];
	uint32_t v;
	int err = 0;

	up(1);
	xk_parts_init(&ps, 1);
	xk_part_push_host(&ps.p[0], NF_PEER);
	xk_part_push_port(&ps.p[0], 9);
	s = pf_open(&f, "app", 0, &ps, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	CU_ASSERT_EQUAL(ps.p[0].depth, 0);               /* every layer took its piece */
	pf_enter(&f, 0);
	CU_ASSERT(xk_sess_control(s, XK_CTL_GETMYMAC, mac, 6) == 6 && memcmp(mac, us, 6) == 0);
	CU_ASSERT(xk_sess_control(s, XK_CTL_LINK_TYPE, &v, 4) == 4 && v == XK_LINK_ETH);
	CU_ASSERT(xk_sess_control(s, XK_CTL_GETOPTPACKET, &v, 4) == 4 && v == 1472);
	CU_ASSERT_EQUAL(xk_sess_control(s, 4711, mac, 6), XK_E_NOTSUP);
	pf_leave(&f, 0);
	pf_close(&f, 0, s);
	down();
}

/* A broadcast finds the link's own way out. */
static void a_broadcast_leaves_as_one(void)
{
	static const uint32_t to[] = { 0xffffffff, 0x0affffff };
	static const uint8_t all[6] = { 255, 255, 255, 255, 255, 255 };

	up(1);
	for (unsigned i = 0; i < 2; i++) {
		struct xk_parts ps;
		struct xk_sess *s;
		int err = 0;

		xk_parts_init(&ps, 1);
		xk_part_push_host(&ps.p[0], to[i]);
		xk_part_push_port(&ps.p[0], 9);
		s = pf_open(&f, "app", 0, &ps, &err);
		CU_ASSERT_PTR_NOT_NULL_FATAL(s);
		pf_push(&f, 0, s, pay, 4);
		CU_ASSERT_EQUAL_FATAL(pf_npushed(&f, "drv"), i + 1);
		CU_ASSERT(memcmp(pf_pushed(&f, "drv", i)->bytes, all, 6) == 0);
		CU_ASSERT_EQUAL(xk_be32(pf_pushed(&f, "drv", i)->bytes + 14 + 16), to[i]);
		pf_close(&f, 0, s);
	}
	down();
}

static void listening_resolves_nothing(void)
{
	up(1);
	pf_upper_of(&f, "app")->on_msg = NULL;
	for (uint32_t i = 0; i < 100; i++)
		in_ip(0, nf_udp(d, NF_PEER + 10 + i, 2000, NF_US, NF_PORT, pay, 4));
	CU_ASSERT_EQUAL(pf_npushed(&f, "drv"), 0);
	CU_ASSERT_EQUAL(pf_sessions(&f, "arp"), 0);
	CU_ASSERT_EQUAL(pf_upper_of(&f, "app")->got.n, 100);
	down();
}

/* ---- systematic mutation ------------------------------------------------------------ */

static uint32_t base(unsigned which, uint8_t *out)
{
	static const uint8_t rr[8] = { 1, 7, 7, 4, 0, 0, 0, 0 };
	uint8_t q[64];

	switch (which) {
	case 0: return nf_udp(out, NF_PEER, 2000, NF_US, NF_PORT, pay, 20);
	case 1: return nf_icmp(out, NF_PEER, NF_US, 8, 0, 0x00010001, pay, 20);
	case 2: return nf_icmp(out, NF_PEER, NF_US, 3, 4, 600, q, nf_udp(q, NF_US, NF_PORT, NF_PEER, 2000, pay, 8));
	case 3: return nf_icmp(out, NF_PEER, NF_US, 0, 0, 0x00010001, pay, 20);
	case 4: return nf_ip(out, &(struct nf_ip){ .proto = 17, .id = 5, .frag = 0x2000 }, pay, 24);
	case 5: return nf_ip(out, &(struct nf_ip){ .proto = 17, .id = 5, .frag = 3 }, pay, 20);
	default: return nf_ip(out, &(struct nf_ip){ .proto = 17, .opt = rr, .nopt = 8 }, pay, 20);
	}
}

/* Right header checksum, where the header allows one, and right ICMP and UDP
 * ones, so that the lie is met by whoever must see it. */
static void mend(uint32_t n)
{
	uint32_t hlen = (d[0] & 15u) * 4;

	if (hlen < 20 || hlen + 8 > n)
		return;
	if (d[9] == 1) {
		xk_put_be16(d + hlen + 2, 0);
		xk_put_be16(d + hlen + 2, nf_sum(d + hlen, n - hlen, 0));
	} else if (d[9] == 17) {
		xk_put_be16(d + hlen + 6, 0);
	}
	nf_fix(d);
}

static void mutate(struct xk_rand *r, uint32_t n)
{
	static const uint8_t values[] = { 0, 1, 0x7f, 0x80, 0xfe, 0xff };
	uint64_t how = xk_rand_below(r, XK_ARRAY_LEN(values) + 3);
	uint8_t *p = d + xk_rand_below(r, n < 68 ? n : 68);

	*p = how < XK_ARRAY_LEN(values) ? values[how] : how == XK_ARRAY_LEN(values) ? (uint8_t)(*p + 1) :
	     how == XK_ARRAY_LEN(values) + 1 ? (uint8_t)(*p - 1) : (uint8_t)xk_rand_u64(r);
}

static void no_lie_of_any_field_harms_what_follows(void)
{
	struct xk_rand r;
	uint32_t n, before;

	xk_rand_init(&r, 99, 0);
	up(4);
	for (unsigned i = 0; i < 20000; i++) {
		n = base(i % 7, d);
		for (unsigned k = 0; k <= i % 3; k++)
			mutate(&r, n);
		if (i % 4 != 0)
			mend(n);
		in_ip(i % 4, n - (i % 11 == 0 ? (uint32_t)xk_rand_below(&r, n) : 0));
		if (i % 100 == 0) {
			before = pf_npushed(&f, "drv");
			in_ip(i / 100 % 4, nf_udp(d, NF_PEER, 2000, NF_US, NF_PORT, pay, 33));
			CU_ASSERT_EQUAL(pf_npushed(&f, "drv"), before + 1);
			CU_ASSERT(memcmp(out_ip(before, 17, &n) + 8, pay, 33) == 0);
			pf_forget(&f, "drv");
			pf_run(&f, XK_SEC / 4);
		}
	}
	pf_run(&f, 60 * XK_SEC);
	CU_ASSERT_EQUAL(pf_sessions(&f, "udp"), 0);
	CU_ASSERT_EQUAL(pf_sessions(&f, "ip"), 0);
	CU_ASSERT_EQUAL(xk_flowtab_count(f.g->flows), 0);
	xk_open_disable_all(pf_node(&f, "app"), pf_node(&f, "udp"));
	pf_down(&f);
}

/* ---- neighbours of hosts that talk ----------------------------------------------------------- */

#define HOST(n) \
	{ &xk_proto_eth_mem, "mem" #n, NULL, "wire=w; mac=02:00:00:00:00:0" #n }, { &xk_proto_eth, "eth" #n, "mem" #n, NULL }, \
	{ &xk_proto_arp, "arp" #n, "eth" #n, NULL }, { &xk_proto_ip, "ip" #n, "arp" #n, "addr=10.0.0." #n "/8" }

/* Probes of neighbours, of both hosts together, while they talk for five minutes. */
static uint64_t probes(const struct xk_proto *transport, const struct xk_proto *server, const struct xk_proto *client)
{
	const struct pf_spec two[] = {
		HOST(1), HOST(2), { transport, "t1", "ip1", NULL }, { transport, "t2", "ip2", NULL },
		{ server, "server", "t2", NULL }, { client, "client", "t1", "to=10.0.0.2; port=7; size=1000; rate=10; count=10000" }, { NULL, NULL, NULL, NULL } };
	uint64_t n;

	pf_up(&f, 1, two);
	pf_run(&f, 300 * XK_SEC);
	CU_ASSERT(pf_count(&f, "client", "messages") >= 300);
	CU_ASSERT(pf_count(&f, "arp1", "requests_out") <= 2);
	n = pf_count(&f, "arp1", "probes_out") + pf_count(&f, "arp2", "probes_out");
	pf_down(&f);
	return n;
}

static void a_neighbour_that_acknowledges_is_not_probed(void)
{
	CU_ASSERT_EQUAL(probes(&xk_proto_tcp, &xk_proto_tcpecho, &xk_proto_load_stream), 0);
	/* Datagrams prove nothing. */
	CU_ASSERT(probes(&xk_proto_udp, &xk_proto_echo, &xk_proto_load_port) >= 300 / 37);
}

#define T(fn) { #fn, fn }
static CU_TestInfo tests[] = {
	T(an_echo_request_comes_back_to_the_station_that_sent_it),
	T(an_echo_reply_comes_to_the_vp_that_asked),
	T(many_peers_are_answered_and_hints_spare_the_maps),
	T(a_fragmented_datagram_is_answered_in_fragments),
	T(a_control_that_nobody_knows_reaches_the_driver), T(a_broadcast_leaves_as_one),
	T(listening_resolves_nothing),
	T(no_lie_of_any_field_harms_what_follows), T(a_neighbour_that_acknowledges_is_not_probed), CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "internet over Ethernet", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}

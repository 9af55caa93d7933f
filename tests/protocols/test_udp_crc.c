/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_udp_crc.c - where UDP leaves its checksum to the interface's CRC (trust_crc): the rule of Kay and
 * Pasquale (Winter USENIX 1993), row by row, and a router that shows what the rule is for.
 *
 * A sum that is there is always the right one.
 */
#include <string.h>

#include "protocols/udp/udp_priv.h"
#include "runtime/upi/xk_gives.h"
#include "runtime/upi/xk_part.h"
#include "tests/protocols/net_fixture.h"
#include "tests/support/xk_test.h"

#define ROUTER 0x0a0000feu               /* on our network */
#define BEHIND 0x0b000001u               /* on another, by the router */
#define ROUTED "routes=0.0.0.0/0=10.0.0.254"

extern const struct xk_proto xk_proto_arp, xk_proto_eth, xk_proto_eth_mem, xk_proto_fddi, xk_proto_fddi_mem,
	xk_proto_impair, xk_proto_ip, xk_proto_udp;

static struct pf f;
static uint8_t d[2000], pay[70000];

static void up(const char *hl, const char *ip, const char *udp)
{
	nf_fill(pay, sizeof pay, 5);
	nf_up(&f, &(struct nf_conf){ .hl = hl, .ip = ip, .udp = udp });
}

static struct xk_sess *open_to(uint32_t host)
{
	int err = 0;
	struct xk_sess *s = nf_open(&f, "app", 0, host, 9, NF_US, 4000, &err);

	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	return s;
}

static uint64_t left_out(void) { return pf_count(&f, "udp", "checksums_left_out"); }

/* Has what was sent from frame i on, one datagram to host, a sum, which is then right?  *frames are its pieces. */
static bool summed(unsigned i, uint32_t host, uint32_t n, unsigned *frames)
{
	static uint8_t whole[70000];
	uint32_t at = 0, len;

	*frames = nf_nsent(&f) - i;
	for (unsigned k = 0; k < *frames; k++, at += len) {
		const uint8_t *p = nf_sent(&f, i + k, &len);

		memcpy(whole + at, p, len);
	}
	CU_ASSERT_EQUAL(at, n + 8);
	CU_ASSERT_EQUAL(memcmp(whole + 8, pay, n), 0);
	if (xk_be16(whole + 6) == 0)
		return false;
	CU_ASSERT_EQUAL(nf_sum(whole, at, nf_pseudo(NF_US, host, 17, at)), 0);
	return true;
}

/* ---- the rule ------------------------------------------------------------------------- */

struct row { const char *hl, *ip, *udp; uint32_t host, n; bool sum; unsigned frames; };
static const struct row rows[] = {
	/* CRC, next hop the destination, asked for: left out, whatever the length. */
	{ "crc=true", NULL, "trust_crc=true", NF_PEER, 0, false, 1 },
	{ "crc=true", NULL, "trust_crc=true", NF_PEER, 1, false, 1 },
	{ "crc=true", NULL, "trust_crc=true", NF_PEER, 100, false, 1 },
	{ "crc=true", NULL, "trust_crc=true", NF_PEER, 1472, false, 1 },
	{ "crc=true", ROUTED, "trust_crc=true", NF_PEER, 100, false, 1 },
	{ "crc=true", ROUTED, "trust_crc=true", ROUTER, 100, false, 1 },
	{ "crc=true", "df=never", "trust_crc=true", NF_PEER, 1472, false, 1 },
	{ "crc=true; mtu=9000", NULL, "trust_crc=true", NF_PEER, 8972, false, 1 },
	/* Not asked for: the default. */
	{ "crc=true", NULL, NULL, NF_PEER, 100, true, 1 },
	{ "crc=true", NULL, "trust_crc=false", NF_PEER, 100, true, 1 },
	/* No CRC. */
	{ NULL, NULL, "trust_crc=true", NF_PEER, 100, true, 1 },
	{ "crc=false", ROUTED, "trust_crc=true", ROUTER, 100, true, 1 },
	/* The next hop is another host, which forwards. */
	{ "crc=true", ROUTED, "trust_crc=true", BEHIND, 100, true, 1 },
	{ "crc=true", "routes=10.0.0.2/32=10.0.0.254", "trust_crc=true", NF_PEER, 100, true, 1 },
	{ NULL, ROUTED, "trust_crc=true", BEHIND, 100, true, 1 },
	/* No host is the destination: broadcast, directed and limited, and groups. */
	{ "crc=true", NULL, "trust_crc=true", 0x0affffff, 100, true, 1 },
	{ "crc=true", NULL, "trust_crc=true", 0xffffffff, 100, true, 1 },
	{ "crc=true", NULL, "trust_crc=true", 0xe0000001, 100, true, 1 },
	/* In fragments, by the link's MTU or our own. */
	{ "crc=true", NULL, "trust_crc=true", NF_PEER, 1473, true, 2 },
	{ "crc=true", NULL, "trust_crc=true", NF_PEER, 65507, true, 45 },
	{ "crc=true", "mtu=600", "trust_crc=true", NF_PEER, 572, false, 1 },
	{ "crc=true", "mtu=600", "trust_crc=true", NF_PEER, 573, true, 2 },
	{ "crc=true; mtu=9000", NULL, "trust_crc=true", NF_PEER, 8973, true, 2 },
};

static void each_row_of_the_rule(void)
{
	for (unsigned i = 0; i < XK_ARRAY_LEN(rows); i++) {
		const struct row *r = &rows[i];
		struct xk_sess *s;
		unsigned frames;
		bool sum;

		up(r->hl, r->ip, r->udp);
		s = open_to(r->host);
		for (unsigned k = 0; k < 3; k++) {
			unsigned before = nf_nsent(&f);

			pf_push(&f, 0, s, pay, r->n);
			sum = summed(before, r->host, r->n, &frames);
			if (sum != r->sum || frames != r->frames)
				fprintf(stderr, "# row %u: a sum: %d, frames: %u\n", i, sum, frames);
			CU_ASSERT_EQUAL(sum, r->sum);
			CU_ASSERT_EQUAL(frames, r->frames);
			CU_ASSERT_EQUAL(left_out(), r->sum ? 0 : k + 1);
		}
		CU_ASSERT_FALSE(udp_sess(s)->ask);                      /* known when it was opened */
		CU_ASSERT_EQUAL(nf_drops(&f), 0);
		pf_close(&f, 0, s);
		nf_down(&f);
	}
}

/* To ourselves there is no interface and so no CRC: the sum is made. */
static void to_ourselves_there_is_a_sum(void)
{
	static const uint32_t ours[] = { NF_US, 0x7f000001 };

	up("crc=true", NULL, "trust_crc=true");
	for (unsigned i = 0; i < XK_ARRAY_LEN(ours); i++) {
		int err = 0;
		struct xk_sess *s = nf_open(&f, "app", 0, ours[i], NF_PORT, 0, 4000, &err);

		CU_ASSERT_PTR_NOT_NULL_FATAL(s);
		CU_ASSERT_FALSE(udp_sess(s)->ask);
		pf_push(&f, 0, s, pay, 100);
		CU_ASSERT_EQUAL(nf_ngot(&f, "app"), i + 1);
		pf_close(&f, 0, s);
	}
	CU_ASSERT_EQUAL(left_out(), 0);
	nf_down(&f);
}

/* ---- beside the rule --------------------------------------------------------------------- */

/* Somebody on the way has a smaller MTU after all: it is no neighbour, whatever ARP said. */
static void a_path_that_turns_out_narrow_gets_sums(void)
{
	uint8_t quote[28];
	struct xk_sess *s;
	unsigned frames;

	up("crc=true", NULL, "trust_crc=true");
	s = open_to(NF_PEER);
	pf_push(&f, 0, s, pay, 1000);
	CU_ASSERT_FALSE(summed(0, NF_PEER, 1000, &frames));
	memcpy(quote, pf_pushed(&f, "hl", 0)->bytes, sizeof quote);
	nf_in(&f, 0, d, nf_icmp(d, NF_PEER, NF_US, 3, 4, 600, quote, sizeof quote));
	CU_ASSERT_EQUAL(pf_count(&f, "ip", "path_mtu_lowered"), 1);
	pf_push(&f, 0, s, pay, 1000);
	CU_ASSERT_TRUE(summed(1, NF_PEER, 1000, &frames));
	CU_ASSERT_EQUAL(frames, 2);
	pf_push(&f, 0, s, pay, 572);
	CU_ASSERT_FALSE(summed(3, NF_PEER, 572, &frames));
	CU_ASSERT_EQUAL(left_out(), 2);
	pf_close(&f, 0, s);
	nf_down(&f);
}

static void answer(struct xk_rep *r, struct xk_sess *lls, struct xk_msg *m)
{
	(void)r;
	xk_push(lls, pf_msg(m->data, m->len));
}

/* The way to a peer that began is sought by the first answer. */
static void an_answer_follows_the_rule_once_the_way_is_known(void)
{
	unsigned frames;
	uint32_t n;

	up("crc=true", NULL, "trust_crc=true");
	pf_upper_of(&f, "app")->on_msg = answer;
	for (unsigned i = 0; i < 3; i++) {
		n = nf_udp(d, NF_PEER, 5000, NF_US, NF_PORT, pay, 64);
		nf_in(&f, 0, d, n);
		CU_ASSERT_EQUAL(summed(i, NF_PEER, 64, &frames), i == 0);
	}
	/* Another peer's port, the same host: IP knows it. */
	nf_in(&f, 0, d, nf_udp(d, NF_PEER, 5001, NF_US, NF_PORT, pay, 64));
	CU_ASSERT_FALSE(summed(3, NF_PEER, 64, &frames));
	/* A host behind the router, never. */
	nf_down(&f);
	up("crc=true", ROUTED, "trust_crc=true");
	pf_upper_of(&f, "app")->on_msg = answer;
	for (unsigned i = 0; i < 3; i++) {
		nf_in(&f, 0, d, nf_udp(d, BEHIND, 5000, NF_US, NF_PORT, pay, 64));
		CU_ASSERT_TRUE(summed(i, BEHIND, 64, &frames));
	}
	CU_ASSERT_EQUAL(left_out(), 0);
	nf_down(&f);
}

/* Several datagrams in one push, by 1000 bytes; with super-segments and without. */
static void several_in_one_push(const char *hl, uint32_t host, bool sum)
{
	struct xk_sess *s;
	uint32_t n = 1000, len;

	up(hl, ROUTED, "trust_crc=true");
	s = open_to(host);
	pf_enter(&f, 0);
	CU_ASSERT_EQUAL(xk_sess_control(s, UDP_CTL_SEGMENT, &n, sizeof n), XK_OK);
	pf_leave(&f, 0);
	pf_push(&f, 0, s, pay, 4500);
	CU_ASSERT_EQUAL_FATAL(nf_nsent(&f), 5);
	for (unsigned i = 0; i < 5; i++) {
		const uint8_t *u = nf_sent(&f, i, &len);

		CU_ASSERT_EQUAL(len, i < 4 ? 1008 : 508);
		CU_ASSERT_EQUAL(xk_be16(u + 6) != 0, sum);
		CU_ASSERT_TRUE(!sum || nf_sum(u, len, nf_pseudo(NF_US, host, 17, len)) == 0);
	}
	CU_ASSERT_EQUAL(left_out(), sum ? 0 : 5);
	pf_close(&f, 0, s);
	nf_down(&f);
}

static void several_datagrams_in_one_push_follow_it_too(void)
{
	several_in_one_push("crc=true; super=65535", NF_PEER, true);
	several_in_one_push("crc=true", NF_PEER, false);
	several_in_one_push("crc=true; super=65535", BEHIND, true);
	several_in_one_push("crc=false; super=65535", NF_PEER, true);
	several_in_one_push("crc=false", NF_PEER, true);
}

/* Who copies and sums in one pass asks whether the sum is of use; who needs a sum from end to end hears
 * that there may be none. */
static void those_above_are_told(void)
{
	static const struct { const char *hl, *udp; bool of_use, gives; } told[] = {
		{ "crc=true", "trust_crc=true", false, false }, { "crc=false", "trust_crc=true", true, false },
		{ "crc=true", NULL, true, true }, { "crc=true", "checksum=false", false, false },
	};

	for (unsigned i = 0; i < XK_ARRAY_LEN(told); i++) {
		uint32_t v, gives = 0;
		struct xk_sess *s;

		up(told[i].hl, NULL, told[i].udp);
		s = open_to(NF_PEER);
		pf_enter(&f, 0);
		CU_ASSERT_EQUAL(xk_sess_control(s, XK_CTL_HEADER_SUM, &v, sizeof v) == (int)sizeof v, told[i].of_use);
		CU_ASSERT_EQUAL(xk_sess_control(s, XK_CTL_GIVES, &gives, sizeof gives), (int)sizeof gives);
		CU_ASSERT_EQUAL((gives & XK_GIVES_SUM) != 0, told[i].gives);
		CU_ASSERT_FALSE(gives & XK_GIVES_CRC);
		pf_leave(&f, 0);
		pf_close(&f, 0, s);
		nf_down(&f);
	}
}

/* ---- over cables, with a router and without -------------------------------------------------- */

/* A router for two networks of a few hosts: it damages a byte that it stores, if told to, and what it sends has
 * a right CRC all the same. */
static struct { unsigned forwarded; uint16_t sum; bool damages; } router;

static int router_start(struct xk_node *n, struct xk_errs *e)
{
	struct xk_parts ps;

	(void)e;
	for (unsigned i = 0; i < xk_node_ndown(n); i++) {
		xk_parts_init(&ps, 0);
		if (xk_open_enable(n, n, xk_node_down(n, i), &ps) < 0)
			return XK_E_INVAL;
	}
	return XK_OK;
}

static void router_stop(struct xk_node *n)
{
	for (unsigned i = 0; i < xk_node_ndown(n); i++)
		xk_open_disable_all(n, xk_node_down(n, i));
}

static void router_demux(struct xk_up *up_, struct xk_sess *lls, struct xk_msg *m)
{
	struct xk_rep *r = up_->rep;
	uint32_t n = xk_be16(m->data + 2), to = ip_net_dst(m->data);
	struct xk_parts ps;
	struct xk_sess *s;

	(void)lls;
	CU_ASSERT_FATAL(n <= sizeof d && n <= m->len);
	memcpy(d, m->data, n);
	xk_msg_free(m);
	router.sum = xk_be16(d + 26);
	router.forwarded++;
	d[8]--;
	nf_fix(d);
	if (router.damages)
		d[40] ^= 4;
	xk_parts_init(&ps, 1);
	xk_part_push_host(&ps.p[XK_REMOTE], to);
	s = xk_open(r, r->node, r->down[to >> 24 == 10 ? 0 : 1], &ps, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	xk_push(s, pf_msg(d, n));
	xk_close(s);
}

static int router_open_done(struct xk_rep *r, struct xk_sess *lls, struct xk_node *type)
{
	(void)r;
	(void)lls;
	(void)type;
	return XK_OK;
}

static const struct xk_ops router_ops = {
	.start = router_start, .stop = router_stop, .demux = router_demux, .open_done = router_open_done,
};
static const struct xk_number router_numbers[] = { { "link", 0x0800 }, { "hostlink", 0x0800 }, { NULL, 0 } };
static const struct xk_proto test_router = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "test_router", .doc = "forwards between two links",
	.ops = &router_ops, .needs = { "hostlink", "hostlink" }, .min_down = 2, .max_down = 2,
	.numbers = router_numbers,
};

/* A host by its letter: its cable, then upwards; fddi: of the other kind. */
#define LINK(x, driver, link, cable, wire, known) \
	{ driver, "d" x, NULL, "wire=" wire "; mac=02:00:00:00:00:0" x "; " cable }, \
	{ link, "l" x, "d" x, NULL }, \
	{ &xk_proto_arp, "r" x, "l" x, "neighbours=" known }
#define HOST(x, ip, udp) \
	{ &xk_proto_ip, "i" x, "r" x, ip }, { &xk_proto_udp, "u" x, "i" x, udp }, { &pf_upper, "app" x, "u" x, "enable=false" }

/* Host a sends n datagrams to port 9 of `to`, which is b's. */
static void send_to(uint32_t to, unsigned n)
{
	struct xk_sess *s;
	int err = 0;

	nf_fill(pay, sizeof pay, 5);
	pf_settle(&f);
	CU_ASSERT_EQUAL(nf_enable(&f, "appb", true, 9, 0), XK_OK);
	s = nf_open(&f, "appa", 0, to, 9, 0, 4000, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	for (unsigned i = 0; i < n; i++)
		pf_push(&f, 0, s, pay, 700);
	pf_close(&f, 0, s);
}

static void gone(void)
{
	xk_open_disable_all(pf_node(&f, "appb"), pf_node(&f, "ub"));
	pf_down(&f);
}

static void neighbours(const struct pf_spec *g, bool sum)
{
	pf_up(&f, 1, g);
	send_to(0x0a000002, 10);
	CU_ASSERT_EQUAL(pf_count(&f, "ua", "checksums_left_out"), sum ? 0 : 10);
	CU_ASSERT_EQUAL(pf_count(&f, "ub", "received_without_checksum"), sum ? 0 : 10);
	CU_ASSERT_EQUAL_FATAL(nf_ngot(&f, "appb"), 10);
	for (unsigned i = 0; i < 10; i++)
		CU_ASSERT_TRUE(nf_got(&f, "appb", i)->len == 700 && memcmp(nf_got(&f, "appb", i)->bytes, pay, 700) == 0);
	gone();
}

#define PAIR(driver, link, cable, udp) { \
	LINK("a", driver, link, cable, "w", "10.0.0.2=02:00:00:00:00:0b"), HOST("a", "addr=10.0.0.1/8", udp), \
	LINK("b", driver, link, cable, "w", "10.0.0.1=02:00:00:00:00:0a"), HOST("b", "addr=10.0.0.2/8", NULL), \
	{ NULL, NULL, NULL, NULL } }

static void neighbours_on_a_cable_with_a_crc_do_without(void)
{
	static const struct pf_spec eth[] = PAIR(&xk_proto_eth_mem, &xk_proto_eth, "crc=true", "trust_crc=true");
	static const struct pf_spec fddi[] = PAIR(&xk_proto_fddi_mem, &xk_proto_fddi, "crc=true", "trust_crc=true");
	static const struct pf_spec bare[] = PAIR(&xk_proto_eth_mem, &xk_proto_eth, "copy=true", "trust_crc=true");
	static const struct pf_spec dflt[] = PAIR(&xk_proto_eth_mem, &xk_proto_eth, "crc=true", NULL);

	neighbours(eth, false);
	neighbours(fddi, false);
	neighbours(bare, true);
	neighbours(dflt, true);
}

/* What damages frames between an interface and its link keeps no CRC's promise, though it damages none yet. */
static void an_impaired_line_vouches_for_nothing(void)
{
	static const struct pf_spec g[] = {
		{ &xk_proto_eth_mem, "da", NULL, "wire=w; mac=02:00:00:00:00:0a; crc=true" },
		{ &xk_proto_impair, "fa", "da", "loss=0" }, { &xk_proto_eth, "la", "fa", NULL },
		{ &xk_proto_arp, "ra", "la", "neighbours=10.0.0.2=02:00:00:00:00:0b" },
		HOST("a", "addr=10.0.0.1/8", "trust_crc=true"),
		LINK("b", &xk_proto_eth_mem, &xk_proto_eth, "crc=true", "w", "10.0.0.1=02:00:00:00:00:0a"),
		HOST("b", "addr=10.0.0.2/8", NULL),
		{ NULL, NULL, NULL, NULL }
	};

	neighbours(g, true);
}

static void routed(bool damages)
{
	static const struct pf_spec g[] = {
		LINK("a", &xk_proto_eth_mem, &xk_proto_eth, "crc=true", "v", "10.0.0.254=02:00:00:00:00:0c"),
		HOST("a", "addr=10.0.0.1/8; routes=0.0.0.0/0=10.0.0.254", "trust_crc=true"),
		LINK("b", &xk_proto_eth_mem, &xk_proto_eth, "crc=true", "w", "11.0.0.254=02:00:00:00:00:0d"),
		HOST("b", "addr=11.0.0.1/8; routes=0.0.0.0/0=11.0.0.254", "trust_crc=true"),
		LINK("c", &xk_proto_eth_mem, &xk_proto_eth, "crc=true", "v", "10.0.0.1=02:00:00:00:00:0a"),
		LINK("d", &xk_proto_eth_mem, &xk_proto_eth, "crc=true", "w", "11.0.0.1=02:00:00:00:00:0b"),
		{ &test_router, "router", "rc,rd", NULL },
		{ NULL, NULL, NULL, NULL }
	};

	memset(&router, 0, sizeof router);
	router.damages = damages;
	pf_up(&f, 1, g);
	send_to(BEHIND, 10);
	CU_ASSERT_EQUAL(router.forwarded, 10);
	CU_ASSERT_TRUE(router.sum != 0);
	CU_ASSERT_EQUAL(pf_count(&f, "ua", "checksums_left_out"), 0);
	CU_ASSERT_EQUAL(pf_count(&f, "ub", "received_without_checksum"), 0);
	CU_ASSERT_EQUAL(nf_ngot(&f, "appb"), damages ? 0 : 10);
	CU_ASSERT_EQUAL(pf_drops(&f, "ub", "bad_checksum"), damages ? 10 : 0);
	gone();
}

static void through_a_router_there_is_a_sum_and_it_finds_what_the_router_did(void)
{
	routed(false);
	routed(true);
}

#define T(name) { #name, name }
static CU_TestInfo rule[] = { T(each_row_of_the_rule), T(to_ourselves_there_is_a_sum), CU_TEST_INFO_NULL };
static CU_TestInfo beside[] = {
	T(a_path_that_turns_out_narrow_gets_sums), T(an_answer_follows_the_rule_once_the_way_is_known),
	T(several_datagrams_in_one_push_follow_it_too), T(those_above_are_told), CU_TEST_INFO_NULL
};
static CU_TestInfo cables[] = {
	T(neighbours_on_a_cable_with_a_crc_do_without), T(an_impaired_line_vouches_for_nothing),
	T(through_a_router_there_is_a_sum_and_it_finds_what_the_router_did), CU_TEST_INFO_NULL
};

static const CU_SuiteInfo suites[] = {
	{ "udp crc", NULL, NULL, NULL, NULL, rule },
	{ "udp crc, beside the rule", NULL, NULL, NULL, NULL, beside },
	{ "udp crc, over cables", NULL, NULL, NULL, NULL, cables },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}

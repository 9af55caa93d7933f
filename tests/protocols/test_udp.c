/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_udp.c - UDP: checksums at every corner, associations as connections,
 * ports, and what becomes of datagrams that nobody wants.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/udp/udp_priv.h"
#include "runtime/classify/xk_classify.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"
#include "tests/protocols/net_fixture.h"
#include "tests/support/xk_test.h"

static struct pf f;
static uint8_t d[70000], pay[70000];
extern const struct xk_proto xk_proto_udp;

static uint32_t in(uint16_t sport, uint16_t dport, uint32_t n)
{
	return nf_udp(d, NF_PEER, sport, NF_US, dport, pay, n);
}

static void got(unsigned i, uint32_t n)
{
	const struct pf_rec *r;

	CU_ASSERT_EQUAL_FATAL(nf_ngot(&f, "app"), i + 1);
	r = nf_got(&f, "app", i);
	CU_ASSERT(r->len == n && memcmp(r->bytes, pay, n) == 0);
}

static void up(const char *udp)
{
	nf_fill(pay, sizeof pay, 9);
	nf_up(&f, &(struct nf_conf){ .udp = udp });
}

/* ---- up ---------------------------------------------------------------------------- */

static void delivers_what_an_enabled_port_gets(void)
{
	up(NULL);
	nf_in(&f, 0, d, in(5000, NF_PORT, 100));
	got(0, 100);
	nf_in(&f, 0, d, in(5000, NF_PORT, 0));
	got(1, 0);
	nf_in(&f, 0, d, in(5001, NF_PORT, 1));
	got(2, 1);
	CU_ASSERT_EQUAL(pf_upper_of(&f, "app")->open_dones, 2);
	CU_ASSERT_EQUAL(pf_sessions(&f, "udp"), 2);
	CU_ASSERT_EQUAL(pf_sessions(&f, "ip"), 1);
	CU_ASSERT_EQUAL(nf_drops(&f), 0);
	nf_down(&f);
}

static void lengths_that_lie_are_dropped_and_padding_is_cut(void)
{
	static const struct { uint16_t length; const char *reason; } lies[] = {
		{ 0, "bad_length" }, { 1, "bad_length" }, { 7, "bad_length" }, { 29, "bad_length" },
		{ 65535, "bad_length" },
	};
	uint32_t n;

	up(NULL);
	for (unsigned i = 0; i < XK_ARRAY_LEN(lies); i++) {
		n = in(5000, NF_PORT, 20);
		xk_put_be16(d + 24, lies[i].length);
		nf_in(&f, 0, d, n);
		nf_only_drop(&f, "udp", lies[i].reason);
	}
	for (uint32_t len = 0; len < 8; len++) {
		nf_in(&f, 0, d, nf_ip(d, &(struct nf_ip){ .proto = 17 }, pay, len));
		nf_only_drop(&f, "udp", "short");
	}
	/* IP's payload is longer than the datagram says. */
	n = in(5000, NF_PORT, 10);
	n = nf_ip(d, &(struct nf_ip){ .proto = 17 }, d + 20, n - 20 + 5);
	nf_in(&f, 0, d, n);
	got(0, 10);
	nf_down(&f);
}

static void every_length_and_cut_of_a_right_checksum_passes(void)
{
	up(NULL);
	for (uint32_t n = 0; n < 130; n++)
		for (uint32_t cut = 0; cut <= n + 28; cut += 1 + n % 3) {
			uint32_t len = in(5000, NF_PORT, n);

			nf_in_cut(&f, 0, d, len, cut);
			got(0, n);
			nf_forget(&f, "app");
		}
	CU_ASSERT_EQUAL(nf_drops(&f), 0);
	nf_down(&f);
}

static void a_wrong_checksum_creates_nothing(void)
{
	uint32_t n;

	up(NULL);
	for (uint32_t at = 0; at < 8 + 33; at++) {
		if (at == 4 || at == 5)
			continue;                      /* the length: another reason */
		n = in(5000, NF_PORT, 33);
		d[20 + at] ^= 0x10;
		nf_in_cut(&f, 0, d, n, 20 + at);
		nf_only_drop(&f, "udp", "bad_checksum");
		nf_in(&f, 0, d, n);
		nf_only_drop(&f, "udp", "bad_checksum");
	}
	/* Addresses count, too. */
	n = in(5000, NF_PORT, 33);
	xk_put_be32(d + 12, NF_PEER + 1);
	nf_fix(d);
	nf_in(&f, 0, d, n);
	nf_only_drop(&f, "udp", "bad_checksum");
	CU_ASSERT_EQUAL(pf_sessions(&f, "udp"), 0);
	CU_ASSERT_EQUAL(pf_upper_of(&f, "app")->open_dones, 0);
	nf_down(&f);
}

static void no_checksum_is_accepted_unless_required(void)
{
	uint32_t n;

	up(NULL);
	n = in(5000, NF_PORT, 12);
	xk_put_be16(d + 26, 0);
	nf_in(&f, 0, d, n);
	got(0, 12);
	CU_ASSERT_EQUAL(pf_count(&f, "udp", "received_without_checksum"), 1);
	nf_down(&f);
	up("require_checksum=true");
	nf_in(&f, 0, d, n);
	nf_only_drop(&f, "udp", "no_checksum");
	nf_down(&f);
}

static void the_edge_may_vouch_or_ask_to_ignore_the_verdict(void)
{
	uint32_t n;

	up(NULL);
	n = in(5000, NF_PORT, 12);
	d[26] ^= 1;
	nf_in_flags(&f, 0, d, n, XK_MSG_CSUM_OK);
	got(0, 12);
	nf_in_flags(&f, 0, d, n, XK_MSG_CSUM_IGNORE);
	got(1, 12);
	nf_in(&f, 0, d, n);
	nf_only_drop(&f, "udp", "bad_checksum");
	nf_down(&f);
}

/* Finds a payload whose sum makes the field 0 and 0xffff. */
static void a_sum_of_zero_travels_as_its_other_form(void)
{
	struct xk_sess *s;
	unsigned seen = 0;
	int err;

	up(NULL);
	s = nf_open(&f, "app", 0, NF_PEER, 9, 0, 4000, &err);
	for (uint32_t v = 0; v < 65536; v += 1) {
		uint32_t n;
		const uint8_t *p;

		xk_put_be16(pay, (uint16_t)v);
		if ((nf_sum(pay, 2, nf_pseudo(NF_US, NF_PEER, 17, 10) + 4000 + 9 + 10) & 0xffff) != 0)
			continue;
		pf_push(&f, 0, s, pay, 2);
		p = nf_sent(&f, nf_nsent(&f) - 1, &n);
		CU_ASSERT_EQUAL(xk_be16(p + 6), 0xffff);
		seen++;
		n = nf_udp(d, NF_PEER, 9, NF_US, 4000, pay, 2);
		CU_ASSERT_EQUAL(xk_be16(d + 26), 0xffff);
		nf_in(&f, 0, d, n);
		CU_ASSERT_EQUAL(nf_ngot(&f, "app"), seen);
	}
	CU_ASSERT(seen >= 1);
	CU_ASSERT_EQUAL(nf_drops(&f), 0);
	pf_close(&f, 0, s);
	nf_down(&f);
}

static void ports_and_sources_that_cannot_be_are_refused(void)
{
	up(NULL);
	nf_in(&f, 0, d, in(5000, 0, 4));
	nf_only_drop(&f, "udp", "port_zero");
	nf_in(&f, 0, d, nf_udp(d, 0xe0000001, 5000, NF_US, NF_PORT, pay, 4));
	nf_only_drop(&f, "ip", "bad_source");
	/* A sender without a port is heard, and cannot be answered. */
	pf_upper_of(&f, "app")->keep = true;
	nf_in(&f, 0, d, in(0, NF_PORT, 4));
	got(0, 4);
	pf_push(&f, 0, pf_upper_of(&f, "app")->kept[0], pay, 4);
	nf_only_drop(&f, "udp", "port_zero");
	nf_down(&f);
}

/* ---- nobody there --------------------------------------------------------------------- */

static void a_closed_port_is_answered_by_icmp(void)
{
	uint32_t n, len;
	const uint8_t *p;

	up(NULL);
	len = in(5000, 99, 30);
	nf_in(&f, 0, d, len);
	nf_only_drop(&f, "udp", "port_unreachable");
	CU_ASSERT_EQUAL_FATAL(nf_nsent(&f), 1);
	p = nf_sent(&f, 0, &n);
	CU_ASSERT(p[0] == 3 && p[1] == 3 && n == 8 + len);
	CU_ASSERT(memcmp(p + 8, d, len) == 0);
	CU_ASSERT_EQUAL(nf_sum(p, n, 0), 0);
	nf_in_cut(&f, 0, d, len, 21);
	CU_ASSERT_EQUAL_FATAL(nf_nsent(&f), 2);
	p = nf_sent(&f, 1, &n);
	CU_ASSERT(n == 8 + len && memcmp(p + 8, d, len) == 0);
	nf_forget_drops(&f);
	nf_in(&f, 0, d, nf_udp(d, NF_PEER, 5000, 0x0affffff, 99, pay, 30));
	nf_only_drop(&f, "udp", "port_unreachable");
	CU_ASSERT_EQUAL(nf_nsent(&f), 2);
	CU_ASSERT_EQUAL(pf_sessions(&f, "udp"), 0);
	nf_down(&f);
}

static void the_application_is_told_that_its_peer_is_gone(void)
{
	struct xk_sess *s;
	uint8_t quote[28];
	uint32_t n;
	int err;

	up(NULL);
	s = nf_open(&f, "app", 0, NF_PEER, 9, 0, 4000, &err);
	pf_push(&f, 0, s, pay, 10);
	memcpy(quote, pf_pushed(&f, "hl", 0)->bytes, 28);
	nf_in(&f, 0, d, nf_icmp(d, NF_PEER, NF_US, 3, 3, 0, quote, 28));
	CU_ASSERT_EQUAL(nf_told.n, 1);
	CU_ASSERT(nf_told.op == UDP_CTL_ERROR && nf_told.type == 3 && nf_told.code == 3);
	xk_put_be16(quote + 20, 4001);               /* not a session of ours */
	n = nf_icmp(d, NF_PEER, NF_US, 3, 3, 0, quote, 28);
	nf_in(&f, 0, d, n);
	CU_ASSERT_EQUAL(nf_told.n, 1);
	CU_ASSERT_EQUAL(nf_drops(&f), 0);
	pf_close(&f, 0, s);
	nf_down(&f);
}

/* ---- down --------------------------------------------------------------------------------- */

static void check_sent(unsigned i, uint16_t sport, uint16_t dport, const void *bytes, uint32_t n)
{
	uint32_t len;
	const uint8_t *p = nf_sent(&f, i, &len);

	CU_ASSERT_EQUAL(len, n + 8);
	CU_ASSERT_EQUAL(pf_pushed(&f, "hl", i)->flags & XK_MSG_CSUM, 0);
	CU_ASSERT_EQUAL(xk_be16(p), sport);
	CU_ASSERT_EQUAL(xk_be16(p + 2), dport);
	CU_ASSERT_EQUAL(xk_be16(p + 4), n + 8);
	CU_ASSERT_EQUAL(nf_sum(p, len, nf_pseudo(NF_US, NF_PEER, 17, len)), 0);
	CU_ASSERT(memcmp(p + 8, bytes, n) == 0);
}

static void pushes_every_length_with_a_right_checksum(void)
{
	struct xk_sess *s;
	int err;

	up(NULL);
	s = nf_open(&f, "app", 0, NF_PEER, 9, 0, 4000, &err);
	for (uint32_t n = 0; n <= 1472; n += n < 140 ? 1 : 31) {
		pf_push(&f, 0, s, pay + n % 5, n);
		check_sent(0, 4000, 9, pay + n % 5, n);
		pf_forget(&f, "hl");
	}
	pf_close(&f, 0, s);
	nf_down(&f);
}

static void uses_the_sum_that_came_with_the_copy_and_sums_chains(void)
{
	struct xk_sess *s;
	int err;

	up(NULL);
	s = nf_open(&f, "app", 0, NF_PEER, 9, 0, 4000, &err);
	pf_enter(&f, 0);
	for (uint32_t cut = 0; cut <= 77; cut++) {
		struct xk_msg *m = pf_msg(pay, cut), *t = pf_msg(pay + cut, 77 - cut);

		xk_msg_join(m, t);
		xk_push(s, m);
	}
	for (uint32_t n = 0; n < 100; n++) {
		struct xk_msg *m = xk_msg_new(n), *view;

		m->csum = xk_csum_copy(m->data, pay, n, 0);
		m->flags |= XK_MSG_CSUM;
		view = xk_msg_share(m);          /* no room before it */
		xk_push(s, m);
		xk_push(s, view);
	}
	pf_leave(&f, 0);
	for (unsigned i = 0; i < 78; i++)
		check_sent(i, 4000, 9, pay, 77);
	for (unsigned i = 0; i < 200; i++)
		check_sent(78 + i, 4000, 9, pay, i / 2);
	pf_close(&f, 0, s);
	nf_down(&f);
}

static void sends_no_checksum_when_told_so(void)
{
	struct xk_sess *s;
	uint32_t n;
	int err;

	up("checksum=false");
	s = nf_open(&f, "app", 0, NF_PEER, 9, 0, 4000, &err);
	pf_push(&f, 0, s, pay, 30);
	CU_ASSERT_EQUAL(xk_be16(nf_sent(&f, 0, &n) + 6), 0);
	pf_close(&f, 0, s);
	nf_down(&f);
}

static void the_largest_datagram_fits_and_one_more_byte_does_not(void)
{
	struct xk_sess *s;
	uint32_t v;
	int err;

	nf_up(&f, &(struct nf_conf){ .hl = "mtu=65535" });
	s = nf_open(&f, "app", 0, NF_PEER, 9, 0, 4000, &err);
	pf_enter(&f, 0);
	CU_ASSERT(xk_sess_control(s, XK_CTL_GETMAXPACKET, &v, 4) == 4 && v == 65507);
	CU_ASSERT(xk_sess_control(s, XK_CTL_GETOPTPACKET, &v, 4) == 4 && v == 65507);
	pf_leave(&f, 0);
	pf_push(&f, 0, s, pay, 65507);
	check_sent(0, 4000, 9, pay, 65507);
	pf_push(&f, 0, s, pay, 65508);
	nf_only_drop(&f, "udp", "too_long");
	pf_close(&f, 0, s);
	nf_down(&f);
}

/* ---- connections --------------------------------------------------------------------------- */

static void an_association_is_opened_once(void)
{
	struct xk_sess *a, *b;
	int err = 0;

	up(NULL);
	a = nf_open(&f, "app", 0, NF_PEER, 9, 0, 4000, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(a);
	CU_ASSERT_PTR_NULL(nf_open(&f, "app", 0, NF_PEER, 9, 0, 4000, &err));
	CU_ASSERT_EQUAL(err, XK_E_ADDRINUSE);
	b = nf_open(&f, "app", 0, NF_PEER, 9, 0, 4001, &err);
	CU_ASSERT_PTR_NOT_NULL(b);
	nf_in(&f, 0, d, in(9, 4001, 5));
	got(0, 5);
	CU_ASSERT_PTR_EQUAL(nf_got(&f, "app", 0)->lls, b);
	pf_close(&f, 0, a);
	nf_in(&f, 0, d, in(9, 4000, 5));
	nf_only_drop(&f, "udp", "port_unreachable");
	a = nf_open(&f, "app", 0, NF_PEER, 9, 0, 4000, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(a);
	pf_close(&f, 0, a);
	pf_close(&f, 0, b);
	CU_ASSERT_EQUAL(pf_sessions(&f, "udp"), 0);
	CU_ASSERT_EQUAL(xk_flowtab_count(f.g->flows), 0);
	nf_down(&f);
}

static void bad_participants_are_refused_and_leave_nothing(void)
{
	int err = 0;

	up(NULL);
	CU_ASSERT_PTR_NULL(nf_open(&f, "app", 0, NF_PEER, 0, 0, 0, &err));
	CU_ASSERT_EQUAL(err, XK_E_INVAL);
	CU_ASSERT_PTR_NULL(nf_open(&f, "app", 0, 0, 9, 0, 0, &err));
	CU_ASSERT_EQUAL(err, XK_E_INVAL);
	CU_ASSERT_PTR_NULL(nf_open(&f, "app", 0, 0x08080808, 9, 0, 0, &err));
	CU_ASSERT_EQUAL(err, XK_E_UNREACH);
	CU_ASSERT_PTR_NULL(nf_open(&f, "app", 0, NF_PEER, 9, 0x0a000055, 5, &err));
	CU_ASSERT_EQUAL(err, XK_E_ADDRNOTAVAIL);
	CU_ASSERT_EQUAL(nf_enable(&f, "app", true, 0, 0), XK_E_INVAL);
	CU_ASSERT_EQUAL(pf_sessions(&f, "udp") + pf_sessions(&f, "ip") + pf_sessions(&f, "hl"), 0);
	nf_down(&f);
}

static void participants_name_both_ends(void)
{
	struct xk_parts ps;
	struct xk_sess *s;
	uint16_t port;
	uint32_t host;
	int err;

	up(NULL);
	s = nf_open(&f, "app", 0, NF_PEER, 9, NF_US, 0, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	pf_enter(&f, 0);
	CU_ASSERT_EQUAL(xk_sess_control(s, XK_CTL_GETPARTICIPANTS, &ps, sizeof ps), (int)sizeof ps);
	CU_ASSERT(xk_part_pop_port(&ps.p[XK_REMOTE], &port) == 0 && port == 9);
	CU_ASSERT(xk_part_pop_host(&ps.p[XK_REMOTE], &host) == 0 && host == NF_PEER && ps.p[0].depth == 0);
	CU_ASSERT(xk_part_pop_port(&ps.p[XK_LOCAL], &port) == 0 && port >= 1024);
	CU_ASSERT(xk_sess_control(s, XK_CTL_GETMYPORT, &host, 2) == 2 && memcmp(&host, &port, 2) == 0);
	CU_ASSERT(xk_part_pop_host(&ps.p[XK_LOCAL], &host) == 0 && host == NF_US && ps.p[1].depth == 0);
	CU_ASSERT(xk_sess_control(s, XK_CTL_GETPEERPORT, &port, 2) == 2 && port == 9);
	pf_leave(&f, 0);
	pf_close(&f, 0, s);
	nf_down(&f);
}

/* Chosen ports: every one once, spread over the range, exhausted cleanly. */
static void chosen_ports_are_random_and_run_out_cleanly(void)
{
	static struct xk_sess *s[65536];
	static uint8_t used[65536];
	unsigned low = 0, up_steps = 0;
	uint16_t last = 0;
	int err = 0;

	up(NULL);
	memset(used, 0, sizeof used);
	for (unsigned i = 0; i < 64512; i++) {
		uint16_t port;

		s[i] = nf_open(&f, "app", 0, NF_PEER, 9, 0, 0, &err);
		CU_ASSERT_PTR_NOT_NULL_FATAL(s[i]);
		port = udp_sess(s[i])->lport;
		CU_ASSERT(port >= 1024 && !used[port]);
		used[port] = 1;
		if (i < 1000) {
			low += port < 1024 + 32256;
			up_steps += port == last + 1;
			last = port;
		}
	}
	CU_ASSERT(low > 400 && low < 600);
	CU_ASSERT(up_steps < 50);
	CU_ASSERT_PTR_NULL(nf_open(&f, "app", 0, NF_PEER, 9, 0, 0, &err));
	CU_ASSERT_EQUAL(err, XK_E_ADDRNOTAVAIL);
	s[64512] = nf_open(&f, "app", 0, NF_PEER, 10, 0, 0, &err);   /* another peer port: free */
	CU_ASSERT_PTR_NOT_NULL(s[64512]);
	pf_close(&f, 0, s[3]);
	s[3] = nf_open(&f, "app", 0, NF_PEER, 9, 0, 0, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s[3]);
	for (unsigned i = 0; i <= 64512; i++)
		pf_close(&f, 0, s[i]);
	CU_ASSERT_EQUAL(pf_sessions(&f, "udp"), 0);
	nf_down(&f);
}

/* Ports that the graph's seed gives, with the clock virtual, as it is, or said to be real. */
static void some_ports(uint16_t *port, unsigned n, bool is_virtual)
{
	struct xk_sess *s[8];
	struct xk_parts ps;
	int err;

	up(NULL);
	for (unsigned i = 0; i < n; i++) {
		xk_parts_init(&ps, 2);
		xk_part_push_host(&ps.p[XK_REMOTE], NF_PEER);
		xk_part_push_port(&ps.p[XK_REMOTE], 9);
		xk_part_push_any(&ps.p[XK_LOCAL]);
		xk_part_push_any(&ps.p[XK_LOCAL]);
		pf_enter(&f, 0);
		f.g->vps->clock.is_virtual = is_virtual;
		s[i] = xk_open(pf_rep(&f, "app", 0), pf_node(&f, "app"), pf_rep(&f, "udp", 0), &ps, &err);
		f.g->vps->clock.is_virtual = true;
		pf_leave(&f, 0);
		CU_ASSERT_PTR_NOT_NULL_FATAL(s[i]);
		port[i] = udp_sess(s[i])->lport;
	}
	for (unsigned i = 0; i < n; i++)
		pf_close(&f, 0, s[i]);
	nf_down(&f);
}

/* RFC 6056 3.1: nothing that a peer may know or work out, such as the seed, tells them. */
static void a_seed_tells_the_ports_in_virtual_time_alone(void)
{
	uint16_t a[8], b[8];

	some_ports(a, 8, true);
	some_ports(b, 8, true);
	CU_ASSERT_EQUAL(memcmp(a, b, sizeof a), 0);
	some_ports(a, 8, false);
	some_ports(b, 8, false);
	CU_ASSERT_NOT_EQUAL(memcmp(a, b, sizeof a), 0);
}

static void a_chosen_port_is_nobodys_well_known_one(void)
{
	uint32_t taken = (uint32_t)xk_test_rounds(64512);
	int err;

	up(NULL);
	for (uint32_t p = 1024; p < 1024 + taken; p++)
		if (p != 30000)
			xk_assert(nf_enable(&f, "app", true, (uint16_t)p, 0) == XK_OK);
	for (unsigned i = 0; i < 20; i++) {
		struct xk_sess *s = nf_open(&f, "app", 0, NF_PEER, 9, 0, 0, &err);

		CU_ASSERT_TRUE(udp_sess(s)->lport == 30000 || udp_sess(s)->lport >= 1024 + taken);
		pf_close(&f, 0, s);
	}
	nf_down(&f);
}

static void an_exact_enable_goes_before_the_wildcard(void)
{
	up(NULL);
	CU_ASSERT_EQUAL(nf_enable(&f, "app", true, NF_PORT, 0), XK_OK);
	CU_ASSERT_EQUAL(nf_enable(&f, "app", false, NF_PORT, 0), XK_OK);
	CU_ASSERT_EQUAL(nf_enable(&f, "app", false, NF_PORT, 0), XK_OK);
	CU_ASSERT_EQUAL(nf_enable(&f, "app", false, NF_PORT, 0), XK_E_NOENT);
	nf_in(&f, 0, d, in(5000, NF_PORT, 4));
	nf_only_drop(&f, "udp", "port_unreachable");
	CU_ASSERT_EQUAL(nf_enable(&f, "app", true, NF_PORT, NF_US), XK_OK);
	nf_in(&f, 0, d, in(5000, NF_PORT, 4));
	got(0, 4);
	nf_in(&f, 0, d, nf_udp(d, NF_PEER, 5000, 0x0affffff, NF_PORT, pay, 4));
	nf_only_drop(&f, "udp", "port_unreachable");
	nf_down(&f);
}

static void refused_lingering_kept_and_taken_over_as_in_ip(void)
{
	struct xk_sess *s;
	int err;

	up("idle_timeout=5s");
	pf_upper_of(&f, "app")->refuse = true;
	nf_in(&f, 0, d, in(5000, NF_PORT, 4));
	nf_only_drop(&f, "udp", "refused");
	CU_ASSERT_EQUAL(pf_sessions(&f, "udp"), 0);
	CU_ASSERT_EQUAL(xk_flowtab_count(f.g->flows), 0);
	pf_upper_of(&f, "app")->refuse = false;
	nf_in(&f, 0, d, in(5000, NF_PORT, 4));
	got(0, 4);
	CU_ASSERT_EQUAL(pf_upper_of(&f, "app")->got_at_open_done, 0);
	s = nf_open(&f, "app", 0, NF_PEER, 5000, 0, NF_PORT, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	CU_ASSERT(s->rcnt == 1 && s->flags == 0);
	CU_ASSERT_PTR_NULL(nf_open(&f, "app", 0, NF_PEER, 5000, 0, NF_PORT, &err));
	CU_ASSERT_EQUAL(err, XK_E_ADDRINUSE);
	pf_run(&f, 40 * XK_SEC);
	CU_ASSERT_EQUAL(pf_sessions(&f, "udp"), 1);
	pf_push(&f, 0, s, pay, 6);
	check_sent(0, NF_PORT, 5000, pay, 6);
	pf_close(&f, 0, s);
	nf_in(&f, 0, d, in(5001, NF_PORT, 4));
	CU_ASSERT_EQUAL(pf_sessions(&f, "udp"), 1);
	pf_run(&f, 6 * XK_SEC);
	CU_ASSERT_EQUAL(pf_sessions(&f, "udp"), 0);
	CU_ASSERT_EQUAL(xk_flowtab_count(f.g->flows), 0);
	nf_down(&f);
}

static void the_oldest_unkept_session_makes_room_at_the_cap(void)
{
	int err = 0;

	up("sessions=3");
	for (uint16_t i = 0; i < 10; i++)
		nf_in(&f, 0, d, in((uint16_t)(5000 + i), NF_PORT, 4));
	CU_ASSERT_EQUAL(nf_ngot(&f, "app"), 10);
	CU_ASSERT_EQUAL(pf_sessions(&f, "udp"), 3);
	pf_upper_of(&f, "app")->keep = true;
	for (uint16_t i = 0; i < 3; i++)
		nf_in(&f, 0, d, in((uint16_t)(6000 + i), NF_PORT, 4));
	CU_ASSERT_EQUAL(nf_drops(&f), 0);
	nf_in(&f, 0, d, in(7000, NF_PORT, 4));
	nf_only_drop(&f, "udp", "too_many_sessions");
	CU_ASSERT_PTR_NULL(nf_open(&f, "app", 0, NF_PEER, 9, 0, 0, &err));
	CU_ASSERT_EQUAL(err, XK_E_NOSPC);
	nf_down(&f);
}

static void counts_return_to_base_after_ten_thousand(void)
{
	up("idle_timeout=0s");
	for (unsigned i = 0; i < 10000; i++) {
		int err;
		struct xk_sess *s = nf_open(&f, "app", 0, NF_PEER, 9, 0, 0, &err);

		pf_close(&f, 0, s);
		nf_in(&f, 0, d, in((uint16_t)(1 + i), NF_PORT, 1));
	}
	CU_ASSERT_EQUAL(pf_upper_of(&f, "app")->open_dones, 10000);
	CU_ASSERT_EQUAL(pf_sessions(&f, "udp"), 0);
	CU_ASSERT_EQUAL(xk_flowtab_count(f.g->flows), 0);
	nf_down(&f);
}

/* ---- virtual processors ---------------------------------------------------------------------- */

static void a_connection_is_one_in_the_graph(void)
{
	struct xk_sess *s[4];
	int err = 0;

	nf_fill(pay, 100, 9);
	nf_up(&f, &(struct nf_conf){ .nvps = 4 });
	s[0] = nf_open(&f, "app", 2, NF_PEER, 9, 0, 4000, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s[0]);
	CU_ASSERT_PTR_NULL(nf_open(&f, "app", 1, NF_PEER, 9, 0, 4000, &err));
	CU_ASSERT_EQUAL(err, XK_E_ADDRINUSE);
	/* Wherever its datagrams arrive, they reach it. */
	for (unsigned vp = 0; vp < 4; vp++) {
		nf_in(&f, vp, d, in(9, 4000, 20));
		got(vp, 20);
		CU_ASSERT_EQUAL(nf_got(&f, "app", vp)->vp, 2);
		CU_ASSERT_PTR_EQUAL(nf_got(&f, "app", vp)->lls, s[0]);
	}
	CU_ASSERT_EQUAL(pf_count(&f, "udp", "rerouted"), 3);
	CU_ASSERT_EQUAL(nf_drops(&f), 0);
	pf_close(&f, 2, s[0]);
	nf_down(&f);
}

static void a_passive_session_is_born_where_its_peer_is_classified(void)
{
	unsigned n = 0, at[4] = { 0 };

	nf_fill(pay, 100, 9);
	nf_up(&f, &(struct nf_conf){ .nvps = 4 });
	pf_upper_of(&f, "app")->keep = true;
	for (uint16_t port = 5000; port < 5032; port++)
		for (unsigned vp = 0; vp < 4; vp++) {
			nf_in(&f, vp, d, in(port, NF_PORT, 20));
			got(n, 20);
			CU_ASSERT_EQUAL(nf_got(&f, "app", n)->vp, nf_got(&f, "app", n - vp)->vp);
			at[nf_got(&f, "app", n)->vp]++;
			n++;
		}
	CU_ASSERT_EQUAL(pf_upper_of(&f, "app")->open_dones, 32);
	CU_ASSERT(at[0] && at[1] && at[2] && at[3]);
	CU_ASSERT_EQUAL(nf_drops(&f), 0);
	/* Each can answer, also when its first message came from another VP. */
	for (unsigned i = 0; i < 32; i++) {
		struct xk_sess *s = pf_upper_of(&f, "app")->kept[i];

		pf_push(&f, s->rep->vp->no, s, pay, 10);
		check_sent(i, NF_PORT, udp_sess(s)->rport, pay, 10);
	}
	nf_down(&f);
}

/* ---- memory --------------------------------------------------------------------------------- */

static void one_of_everything(void)
{
	struct xk_sess *s;
	int err;

	if (!nf_up_try(&f, &(struct nf_conf){ .nvps = 2 })) {
		pf_down(&f);
		return;
	}
	if (nf_enable(&f, "app", true, NF_PORT, 0) == XK_OK) {
		nf_in(&f, 0, d, in(5000, NF_PORT, 30));
		nf_in(&f, 1, d, in(5000, NF_PORT, 30));
		nf_in(&f, 1, d, in(5003, NF_PORT, 30));
	}
	nf_in(&f, 0, d, in(5000, 99, 30));
	s = nf_open(&f, "app", 1, NF_PEER, 9, 0, 0, &err);
	if (s != NULL) {
		pf_push(&f, 1, s, pay, 3000);
		pf_close(&f, 1, s);
	}
	nf_down(&f);
}

static void no_failed_allocation_leaks(void)
{
	nf_torture(one_of_everything);
}

/* ---- table ------------------------------------------------------------------------------------ */

#define T(fn) { #fn, fn }
static CU_TestInfo up_tests[] = {
	T(delivers_what_an_enabled_port_gets), T(lengths_that_lie_are_dropped_and_padding_is_cut),
	T(every_length_and_cut_of_a_right_checksum_passes), T(a_wrong_checksum_creates_nothing),
	T(no_checksum_is_accepted_unless_required), T(the_edge_may_vouch_or_ask_to_ignore_the_verdict),
	T(a_sum_of_zero_travels_as_its_other_form), T(ports_and_sources_that_cannot_be_are_refused),
	T(a_closed_port_is_answered_by_icmp), T(the_application_is_told_that_its_peer_is_gone),
	CU_TEST_INFO_NULL
};
static CU_TestInfo down_tests[] = {
	T(pushes_every_length_with_a_right_checksum), T(uses_the_sum_that_came_with_the_copy_and_sums_chains),
	T(sends_no_checksum_when_told_so), T(the_largest_datagram_fits_and_one_more_byte_does_not),
	CU_TEST_INFO_NULL
};
static CU_TestInfo conn_tests[] = {
	T(an_association_is_opened_once), T(bad_participants_are_refused_and_leave_nothing),
	T(participants_name_both_ends), T(chosen_ports_are_random_and_run_out_cleanly),
	T(a_seed_tells_the_ports_in_virtual_time_alone),
	T(a_chosen_port_is_nobodys_well_known_one), T(an_exact_enable_goes_before_the_wildcard),
	T(refused_lingering_kept_and_taken_over_as_in_ip), T(the_oldest_unkept_session_makes_room_at_the_cap),
	T(counts_return_to_base_after_ten_thousand), T(a_connection_is_one_in_the_graph),
	T(a_passive_session_is_born_where_its_peer_is_classified), T(no_failed_allocation_leaks),
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "udp up", NULL, NULL, NULL, NULL, up_tests },
	{ "udp down", NULL, NULL, NULL, NULL, down_tests },
	{ "udp connections", NULL, NULL, NULL, NULL, conn_tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}

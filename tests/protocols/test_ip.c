/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_ip.c - IP as a host: what it accepts and refuses, where it sends and how
 * it cuts.  Its sessions are in test_ip_sess.c, reassembly in test_ip_reass.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/ip/ip_priv.h"
extern const struct xk_proto xk_proto_ip;
#include "tests/protocols/net_fixture.h"
#include "tests/support/xk_test.h"
#include "runtime/base/xk_rand.h"
#include "runtime/upi/xk_inline.h"

static struct pf f;
static uint8_t d[70000], pay[70000];

/* ---- up: what is right ------------------------------------------------------------ */

static void got_payload(unsigned i, const void *bytes, uint32_t n)
{
	const struct pf_rec *r;

	CU_ASSERT_EQUAL_FATAL(nf_ngot(&f, "raw"), i + 1);
	r = nf_got(&f, "raw", i);
	CU_ASSERT_EQUAL(r->len, n);
	CU_ASSERT(r->len == n && memcmp(r->bytes, bytes, n) == 0);
}

static void delivers_a_plain_datagram_without_its_header(void)
{
	uint32_t n;

	nf_up1(&f, NULL);
	nf_fill(pay, 100, 1);
	n = nf_ip(d, &(struct nf_ip){ 0 }, pay, 100);
	nf_in(&f, 0, d, n);
	got_payload(0, pay, 100);
	nf_in(&f, 0, d, n);
	got_payload(1, pay, 100);
	CU_ASSERT_EQUAL(nf_drops(&f), 0);
	nf_down(&f);
}

static struct { uint32_t src, dst; unsigned n; } seen;
static void look_at_net(struct xk_rep *r, struct xk_sess *lls, struct xk_msg *m)
{
	const void *net = xk_msg_net(m);

	(void)r;
	(void)lls;
	CU_ASSERT_PTR_NOT_NULL_FATAL(net);
	seen.src = ip_net_src(net);
	seen.dst = ip_net_dst(net);
	seen.n++;
}

/* Every cut, and buffers that are not the message's own. */
static void accepts_a_datagram_in_any_shape(void)
{
	uint8_t opt[8] = { 1, 1, 7, 4, 4, 0, 0, 0 };
	uint32_t n;

	nf_up1(&f, NULL);
	memset(&seen, 0, sizeof seen);
	pf_upper_of(&f, "raw")->on_msg = look_at_net;
	nf_fill(pay, 300, 2);
	for (unsigned o = 0; o < 2; o++) {
		n = nf_ip(d, &(struct nf_ip){ .opt = opt, .nopt = o * 8 }, pay, 300);
		for (uint32_t cut = 0; cut <= n; cut++) {
			nf_in_cut(&f, 0, d, n, cut);
			got_payload(0, pay, 300);
			nf_forget(&f, "raw");
		}
		nf_in_view(&f, 0, d, n);
		got_payload(0, pay, 300);
		nf_in_lent(&f, 0, d, n);
		got_payload(1, pay, 300);
		nf_forget(&f, "raw");
	}
	CU_ASSERT_EQUAL(seen.n, 2 * 2 + 321 + 329);
	CU_ASSERT_EQUAL(seen.src, NF_PEER);
	CU_ASSERT_EQUAL(seen.dst, NF_US);
	CU_ASSERT_EQUAL(nf_drops(&f), 0);
	nf_down(&f);
}

static void cuts_off_padding_behind_the_datagram(void)
{
	nf_up1(&f, NULL);
	nf_fill(pay, 10, 3);
	for (uint32_t pad = 1; pad <= 46; pad++) {
		uint32_t n = nf_ip(d, &(struct nf_ip){ 0 }, pay, 10);

		memset(d + n, 0xee, pad);
		nf_in(&f, 0, d, n + pad);
		got_payload(0, pay, 10);
		nf_forget(&f, "raw");
		nf_in_cut(&f, 0, d, n + pad, n + pad / 2);
		got_payload(0, pay, 10);
		nf_forget(&f, "raw");
	}
	nf_in(&f, 0, d, nf_ip(d, &(struct nf_ip){ 0 }, pay, 0));
	got_payload(0, pay, 0);
	nf_down(&f);
}

static void takes_what_is_for_all_of_the_network_or_a_group(void)
{
	static const uint32_t to[] = { 0x0affffff, 0xffffffff, 0xe0000001, 0xefffffff };

	nf_up1(&f, NULL);
	for (unsigned i = 0; i < XK_ARRAY_LEN(to); i++) {
		nf_in_flags(&f, 0, d, nf_ip(d, &(struct nf_ip){ .dst = to[i] }, pay, 8), XK_MSG_LINK_BCAST);
		got_payload(i, pay, 8);
	}
	CU_ASSERT_EQUAL(nf_drops(&f), 0);
	nf_in_flags(&f, 0, d, nf_ip(d, &(struct nf_ip){ 0 }, pay, 8), XK_MSG_LINK_BCAST);
	nf_only_drop(&f, "ip", "unicast_by_link_broadcast");
	nf_down(&f);
}

/* ---- up: what is wrong --------------------------------------------------------------- */

struct lie { unsigned at, bytes; uint32_t value; bool fix; const char *reason; };

static void drops_every_lie_of_the_header_with_its_reason(void)
{
	static const struct lie lies[] = {
		{ 0, 1, 0x05, true, "bad_version" },    { 0, 1, 0x65, true, "bad_version" },
		{ 0, 1, 0xf5, true, "bad_version" },    { 0, 1, 0x35, true, "bad_version" },
		{ 0, 1, 0x40, true, "bad_header_length" }, { 0, 1, 0x41, true, "bad_header_length" },
		{ 0, 1, 0x42, true, "bad_header_length" }, { 0, 1, 0x43, true, "bad_header_length" },
		{ 0, 1, 0x44, true, "bad_header_length" }, { 0, 1, 0x4f, true, "bad_header_length" },
		{ 2, 2, 0, true, "bad_total_length" },  { 2, 2, 1, true, "bad_total_length" },
		{ 2, 2, 19, true, "bad_total_length" }, { 2, 2, 41, true, "bad_total_length" },
		{ 2, 2, 65535, true, "bad_total_length" },
		{ 10, 2, 0, false, "bad_checksum" },    { 10, 2, 0xffff, false, "bad_checksum" },
		{ 1, 1, 1, false, "bad_checksum" },     { 16, 1, 11, false, "bad_checksum" },
		{ 8, 1, 0, true, "ttl_zero" },
		{ 12, 4, 0, true, "bad_source" },       { 12, 4, 0x00000001, true, "bad_source" },
		{ 12, 4, 0x7f000001, true, "bad_source" }, { 12, 4, 0xe0000001, true, "bad_source" },
		{ 12, 4, 0xf0000001, true, "bad_source" }, { 12, 4, 0xffffffff, true, "bad_source" },
		{ 12, 4, 0x0affffff, true, "bad_source" }, { 12, 4, 0x0a000000, true, "bad_source" },
		{ 12, 4, NF_US, true, "bad_source" },
		{ 16, 4, 0x0a000009, true, "not_ours" }, { 16, 4, 0, true, "not_ours" },
		{ 16, 4, 0x7f000001, true, "not_ours" }, { 16, 4, 0xf0000001, true, "not_ours" },
		{ 16, 4, 0x0a000000, true, "not_ours" }, { 16, 4, 0xc0a80001, true, "not_ours" },
		{ 9, 1, 99, true, "unknown_protocol" }, { 9, 1, 0, true, "unknown_protocol" },
	};

	nf_up1(&f, NULL);
	for (unsigned i = 0; i < XK_ARRAY_LEN(lies); i++) {
		uint32_t n = nf_ip(d, &(struct nf_ip){ 0 }, pay, 20);

		for (unsigned b = 0; b < lies[i].bytes; b++)
			d[lies[i].at + b] = (uint8_t)(lies[i].value >> 8 * (lies[i].bytes - 1 - b));
		if (lies[i].fix && (d[0] & 15) >= 5 && (d[0] & 15) * 4u <= n)
			nf_fix(d);
		nf_in(&f, 0, d, n);
		nf_only_drop(&f, "ip", lies[i].reason);
		nf_in_cut(&f, 0, d, n, 9);
		nf_only_drop(&f, "ip", lies[i].reason);
	}
	CU_ASSERT_EQUAL(nf_ngot(&f, "raw"), 0);
	nf_down(&f);
}

static void drops_what_is_shorter_than_a_header(void)
{
	nf_up1(&f, NULL);
	nf_ip(d, &(struct nf_ip){ 0 }, pay, 20);
	for (uint32_t n = 0; n < 20; n++) {
		nf_in(&f, 0, d, n);
		nf_only_drop(&f, "ip", "short");
	}
	for (uint32_t n = 20; n < 40; n++) {
		nf_in(&f, 0, d, n);
		nf_only_drop(&f, "ip", "bad_total_length");
	}
	nf_down(&f);
}

/* One datagram with these options; what became of it. */
static void option_case(const uint8_t *opt, uint32_t n, const char *reason)
{
	uint8_t o[40] = { 0 };

	memcpy(o, opt, n);
	nf_in(&f, 0, d, nf_ip(d, &(struct nf_ip){ .opt = o, .nopt = (n + 3) & ~3u }, pay, 8));
	if (reason != NULL) {
		nf_only_drop(&f, "ip", reason);
		CU_ASSERT_EQUAL(nf_ngot(&f, "raw"), 0);
	} else {
		got_payload(0, pay, 8);
		nf_forget(&f, "raw");
	}
}
#define OPT(reason, ...) option_case((const uint8_t[]){ __VA_ARGS__ }, sizeof (const uint8_t[]){ __VA_ARGS__ }, reason)

static void walks_options_safely(void)
{
	uint8_t nops[40];

	nf_up1(&f, NULL);
	memset(nops, 1, sizeof nops);
	option_case(nops, 40, NULL);
	OPT(NULL, 0, 99, 0, 255);                       /* junk behind the end of the list */
	OPT(NULL, 7, 7, 4, 0, 0, 0, 0);
	OPT(NULL, 7, 3, 4);
	OPT(NULL, 68, 8, 5, 0, 0, 0, 0, 0);
	OPT(NULL, 148, 4, 0, 0);                        /* router alert */
	OPT(NULL, 200, 2);                              /* never heard of */
	OPT("bad_options", 7, 0, 4, 0);
	OPT("bad_options", 7, 1, 4, 0);
	OPT("bad_options", 7, 2, 4, 0);
	OPT("bad_options", 7, 5, 4, 0);                 /* past the end */
	OPT("bad_options", 7, 3, 3);                    /* pointer before the data */
	OPT("bad_options", 7, 7, 0, 0, 0, 0, 0);
	OPT("bad_options", 68, 4, 4, 0);
	OPT("bad_options", 68, 3, 5, 0);
	OPT("bad_options", 200, 0);
	OPT("bad_options", 200, 255);
	OPT("bad_options", 1, 1, 1, 200);               /* no room for its length */
	OPT("source_route", 131, 7, 4, 1, 2, 3, 4);
	OPT("source_route", 137, 7, 8, 1, 2, 3, 4);
	OPT("bad_options", 131, 2, 0, 0);
	OPT("bad_options", 131, 7, 0, 0, 0, 0, 0);
	CU_ASSERT_EQUAL(pf_count(&f, "ip", "icmp_errors_asked"), 13);
	nf_down(&f);
}

static void ignores_the_checksum_when_told_to(void)
{
	nf_up1(&f, "checksum=ignore");
	nf_ip(d, &(struct nf_ip){ 0 }, pay, 8);
	d[10] ^= 0x55;
	nf_in(&f, 0, d, 28);
	got_payload(0, pay, 8);
	nf_down(&f);
}

/* The quick path against the definition, over headers with every sort of sum. */
static void quick_header_check_agrees_with_the_definition(void)
{
	struct xk_rand r;
	unsigned right = 0;

	xk_rand_init(&r, 7, 0);
	for (unsigned i = 0; i < 20000; i++) {
		uint8_t h[20];
		struct xk_key k;
		uint32_t len;
		bool ok;

		for (unsigned b = 0; b < 20; b++)
			h[b] = (uint8_t)(i % 3 == 0 ? 0xff : i % 3 == 1 ? 0 : xk_rand_u64(&r));
		h[0] = 0x45;
		h[1] = (uint8_t)xk_rand_u64(&r);
		xk_put_be16(h + 2, 20);
		xk_put_be16(h + 6, 0x4000);
		h[8] = 1;
		nf_fix(h);
		if (i % 2)
			h[10 + i % 4 / 2] ^= (uint8_t)xk_rand_below(&r, 256);
		if (xk_be16(h + 10) == 0 && i % 5 == 0)
			xk_put_be16(h + 10, 0xffff);        /* the other zero */
		ok = nf_sum(h, 20, 0) == 0;
		right += ok;
		CU_ASSERT_EQUAL(ip_hdr_quick(h, 20, &k, &len), ok);
		CU_ASSERT_EQUAL(ip_hdr_sum_ok(h, 20), ok);
	}
	CU_ASSERT(right > 5000 && right < 19000);
}

/* ---- down -------------------------------------------------------------------------------- */

static void pushes_a_header_that_says_what_it_should(void)
{
	const struct pf_rec *r;
	struct xk_sess *s;
	int err;

	nf_up1(&f, "ttl=33");
	s = pf_open_host(&f, "raw", 0, NF_PEER, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	for (uint32_t n = 0; n <= 1480; n += 37) {
		uint32_t len;
		const uint8_t *p;

		nf_fill(pay, n, n);
		pf_push(&f, 0, s, pay, n);
		p = nf_sent(&f, 0, &len);
		r = pf_pushed(&f, "hl", 0);
		CU_ASSERT(len == n && memcmp(p, pay, n) == 0);
		CU_ASSERT_EQUAL(r->host, NF_PEER);
		CU_ASSERT_EQUAL(r->bytes[8], 33);
		CU_ASSERT_EQUAL(r->bytes[9], 253);
		CU_ASSERT_EQUAL(xk_be16(r->bytes + 6), 0x4000);
		CU_ASSERT_EQUAL(xk_be32(r->bytes + 12), NF_US);
		CU_ASSERT_EQUAL(xk_be32(r->bytes + 16), NF_PEER);
		pf_forget(&f, "hl");
	}
	pf_close(&f, 0, s);
	CU_ASSERT_EQUAL(pf_sessions(&f, "ip"), 0);
	CU_ASSERT_EQUAL(pf_sessions(&f, "hl"), 0);
	nf_down(&f);
}

struct hop { uint32_t to, hop, from; };

static void sends_by_the_longest_prefix(void)
{
	static const struct hop hops[] = {
		{ 0x0a000005, 0x0a000005, NF_US },          /* on the link */
		{ 0xc0a80155, 0xc0a80155, 0xc0a80101 },     /* on the second link */
		{ 0x08080808, 0x0a0000fe, NF_US },          /* by default */
		{ 0xac100001, 0xc0a801fe, 0xc0a80101 },     /* 172.16/12 by the other gateway */
		{ 0xac100101, 0x0a0000fd, NF_US },          /* 172.16.1/24 is longer */
		{ 0xffffffff, 0xffffffff, NF_US },
		{ 0x0affffff, 0x0affffff, NF_US },
		{ 0xc0a801ff, 0xc0a801ff, 0xc0a80101 },
		{ 0xe0000005, 0xe0000005, NF_US },
	};

	nf_up1(&f, "addrs=192.168.1.1/24; routes=0.0.0.0/0=10.0.0.254,172.16.0.0/12=192.168.1.254,"
	       "172.16.1.0/24=10.0.0.253");
	for (unsigned i = 0; i < XK_ARRAY_LEN(hops); i++) {
		int err = 0;
		struct xk_sess *s = pf_open_host(&f, "raw", 0, hops[i].to, &err);

		CU_ASSERT_PTR_NOT_NULL_FATAL(s);
		pf_push(&f, 0, s, pay, 4);
		CU_ASSERT_EQUAL(pf_pushed(&f, "hl", i)->host, hops[i].hop);
		CU_ASSERT_EQUAL(xk_be32(pf_pushed(&f, "hl", i)->bytes + 12), hops[i].from);
		CU_ASSERT_EQUAL(xk_be32(pf_pushed(&f, "hl", i)->bytes + 16), hops[i].to);
		pf_close(&f, 0, s);
	}
	nf_down(&f);
}

static void refuses_opens_that_lead_nowhere(void)
{
	int err = 0;

	nf_up1(&f, NULL);
	CU_ASSERT_PTR_NULL(pf_open_host(&f, "raw", 0, 0x08080808, &err));
	CU_ASSERT_EQUAL(err, XK_E_UNREACH);
	CU_ASSERT_PTR_NULL(pf_open_host(&f, "raw", 0, 0, &err));
	CU_ASSERT_EQUAL(err, XK_E_INVAL);
	CU_ASSERT_PTR_NULL(nf_open(&f, "raw", 0, NF_PEER, 0, 0x0a000077, 0, &err));
	CU_ASSERT_EQUAL(err, XK_E_ADDRNOTAVAIL);
	CU_ASSERT_PTR_NULL(nf_open(&f, "raw", 0, 0, 9, 0, 0, &err));
	CU_ASSERT_EQUAL(err, XK_E_INVAL);
	CU_ASSERT_EQUAL(pf_sessions(&f, "ip"), 0);
	CU_ASSERT_EQUAL(pf_sessions(&f, "hl"), 0);
	nf_down(&f);
}

static void refuses_configurations_that_cannot_work(void)
{
	static const struct { struct xk_cidr a; uint32_t gw; int err; } c[] = {
		{ { NF_US, 8 }, 0, XK_OK },          { { NF_US, 32 }, 0, XK_OK },
		{ { NF_US, 31 }, 0, XK_OK },         { { 0x0a000000, 8 }, 0, XK_E_INVAL },
		{ { 0x0affffff, 8 }, 0, XK_E_INVAL }, { { 0x7f000001, 8 }, 0, XK_E_INVAL },
		{ { 0xe0000001, 8 }, 0, XK_E_INVAL }, { { NF_US, 0 }, 0, XK_E_INVAL },
		{ { NF_US, 24 }, 0x0a0000fe, XK_OK }, { { NF_US, 24 }, 0x0a0001fe, XK_E_INVAL },
	};
	char why[200];

	for (unsigned i = 0; i < XK_ARRAY_LEN(c); i++) {
		struct xk_pmap_entry e = { .val.ip = c[i].gw };
		struct ip_conf conf = { .addr = c[i].a, .routes = { c[i].gw != 0, &e } };

		why[0] = '\0';
		CU_ASSERT_EQUAL(xk_proto_ip.check(&conf, why, sizeof why), c[i].err);
		CU_ASSERT_EQUAL(why[0] != '\0', c[i].err != XK_OK);
	}
}

/* Puts the fragments of datagram i.. back together by their offsets. */
static uint32_t glue(unsigned from, uint8_t *out, uint32_t mtu)
{
	uint32_t end = 0, got = 0, ends = 0;

	for (unsigned i = from; i < nf_nsent(&f); i++) {
		uint32_t n, at = (xk_be16(pf_pushed(&f, "hl", i)->bytes + 6) & 0x1fffu) * 8;
		const uint8_t *p = nf_sent(&f, i, &n);

		CU_ASSERT(pf_pushed(&f, "hl", i)->len <= mtu);
		CU_ASSERT_EQUAL(xk_be16(pf_pushed(&f, "hl", i)->bytes + 4), xk_be16(pf_pushed(&f, "hl", from)->bytes + 4));
		memcpy(out + at, p, n);
		got += n;
		if (!(xk_be16(pf_pushed(&f, "hl", i)->bytes + 6) & 0x2000))
			end = at + n, ends++;
		else
			CU_ASSERT_EQUAL(n % 8, 0);
		CU_ASSERT_EQUAL(pf_pushed(&f, "hl", i)->bytes[6] & 0xc0, 0);
	}
	CU_ASSERT_EQUAL(ends, 1);
	CU_ASSERT_EQUAL(got, end);
	return end;
}

static void cuts_what_the_link_cannot_take(void)
{
	static const uint32_t mtus[] = { 68, 576, 1500, 4352 }, sizes[] = { 1481, 4333, 8192, 65515 };
	static uint8_t back[70000];

	for (unsigned i = 0; i < XK_ARRAY_LEN(mtus); i++) {
		char hl[32];
		struct xk_sess *s;
		int err;

		snprintf(hl, sizeof hl, "mtu=%u", mtus[i]);
		nf_up(&f, &(struct nf_conf){ .hl = hl });
		s = pf_open_host(&f, "raw", 0, NF_PEER, &err);
		for (unsigned k = 0; k < XK_ARRAY_LEN(sizes); k++) {
			if (sizes[k] + 20 <= mtus[i])
				continue;
			nf_fill(pay, sizes[k], k);
			pf_push(&f, 0, s, pay, sizes[k]);
			CU_ASSERT_EQUAL(glue(0, back, mtus[i]), sizes[k]);
			CU_ASSERT(memcmp(back, pay, sizes[k]) == 0);
			pf_forget(&f, "hl");
		}
		pf_close(&f, 0, s);
		nf_down(&f);
	}
}

static void refuses_what_no_datagram_can_hold(void)
{
	struct xk_sess *s;
	int err;

	nf_up1(&f, NULL);
	s = pf_open_host(&f, "raw", 0, NF_PEER, &err);
	pf_push(&f, 0, s, pay, 65516);
	nf_only_drop(&f, "ip", "too_long");
	pf_close(&f, 0, s);
	nf_down(&f);
	nf_up1(&f, "df=always; mtu=600");
	s = pf_open_host(&f, "raw", 0, NF_PEER, &err);
	pf_push(&f, 0, s, pay, 581);
	nf_only_drop(&f, "ip", "needs_fragmentation");
	pf_push(&f, 0, s, pay, 580);
	CU_ASSERT_EQUAL(nf_nsent(&f), 1);
	pf_close(&f, 0, s);
	nf_down(&f);
}

/* Non-atomic datagrams of one (source, destination, protocol) from all VPs. */
static void identifications_are_unique_although_counted_by_vp(void)
{
	static const unsigned vps[] = { 1, 3, 4, 16 };

	for (unsigned i = 0; i < XK_ARRAY_LEN(vps); i++) {
		uint8_t *used = calloc(65536, 1);
		unsigned step = 1, twice = 0;

		while (step < vps[i])
			step *= 2;
		nf_up(&f, &(struct nf_conf){ .nvps = vps[i], .ip = "df=never" });
		for (unsigned vp = 0; vp < vps[i]; vp++) {
			int err;
			struct xk_sess *s = pf_open_host(&f, "raw", vp, NF_PEER, &err);

			/* More than one session's life, and as many as there are. */
			for (unsigned n = 0; n < 65536 / step && n < 3000; n++) {
				if (n == 100) {
					pf_close(&f, vp, s);
					s = pf_open_host(&f, "raw", vp, NF_PEER, &err);
				}
				pf_push(&f, vp, s, pay, 1);
			}
			pf_close(&f, vp, s);
		}
		for (unsigned n = 0; n < nf_nsent(&f); n++) {
			const uint8_t *h = pf_pushed(&f, "hl", n)->bytes;

			CU_ASSERT_EQUAL(xk_be16(h + 6), 0);
			twice += used[xk_be16(h + 4)]++;
		}
		CU_ASSERT_EQUAL(twice, 0);
		free(used);
		nf_down(&f);
	}
}

/* ---- table -------------------------------------------------------------------------------------------- */

#define T(fn) { #fn, fn }
static CU_TestInfo up_tests[] = {
	T(delivers_a_plain_datagram_without_its_header), T(accepts_a_datagram_in_any_shape),
	T(cuts_off_padding_behind_the_datagram), T(takes_what_is_for_all_of_the_network_or_a_group),
	T(drops_every_lie_of_the_header_with_its_reason), T(drops_what_is_shorter_than_a_header),
	T(walks_options_safely), T(ignores_the_checksum_when_told_to),
	T(quick_header_check_agrees_with_the_definition), CU_TEST_INFO_NULL
};
static CU_TestInfo down_tests[] = {
	T(pushes_a_header_that_says_what_it_should), T(sends_by_the_longest_prefix),
	T(refuses_opens_that_lead_nowhere), T(refuses_configurations_that_cannot_work),
	T(cuts_what_the_link_cannot_take), T(refuses_what_no_datagram_can_hold),
	T(identifications_are_unique_although_counted_by_vp), CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "ip up", NULL, NULL, NULL, NULL, up_tests },
	{ "ip down", NULL, NULL, NULL, NULL, down_tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_icmp.c - ICMP: echo, errors sent under rules and a rate, errors received
 * whatever they quote, and echo sessions of applications.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/icmp/icmp_priv.h"
#include "protocols/ip/ip_priv.h"
#include "tests/protocols/net_fixture.h"
#include "tests/support/xk_test.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_inline.h"

static struct pf f;
static uint8_t d[70000], pay[70000], q[200];

static void up(const char *icmp)
{
	nf_fill(pay, sizeof pay, 3);
	nf_up(&f, &(struct nf_conf){ .icmp = icmp });
}

static uint32_t icmp(uint8_t type, uint8_t code, uint32_t rest, const void *bytes, uint32_t n)
{
	return nf_icmp(d, NF_PEER, NF_US, type, code, rest, bytes, n);
}

/* The i-th message that we sent is this one, with a right checksum. */
static void sent(unsigned i, uint8_t type, uint8_t code, uint32_t rest, const void *bytes, uint32_t n)
{
	const uint8_t *p;
	uint32_t len;

	CU_ASSERT_EQUAL_FATAL(nf_nsent(&f), i + 1);
	p = nf_sent(&f, i, &len);
	CU_ASSERT_EQUAL(len, n + 8);
	CU_ASSERT(p[0] == type && p[1] == code);
	CU_ASSERT_EQUAL(xk_be32(p + 4), rest);
	CU_ASSERT_EQUAL(nf_sum(p, len, 0), 0);
	CU_ASSERT(len == n + 8 && memcmp(p + 8, bytes, n) == 0);
	CU_ASSERT_EQUAL(xk_be32(pf_pushed(&f, "hl", i)->bytes + 12), NF_US);
	CU_ASSERT_EQUAL(xk_be32(pf_pushed(&f, "hl", i)->bytes + 16), NF_PEER);
}

/* ---- echo ---------------------------------------------------------------------------- */

static void answers_every_size_and_shape_of_echo(void)
{
	void (*const in[])(struct pf *, unsigned, const void *, uint32_t) = { nf_in, nf_in_view, nf_in_lent };

	up(NULL);
	for (uint32_t n = 0; n <= 1472; n += n < 70 ? 1 : 97) {
		for (unsigned k = 0; k < 3; k++) {
			in[k](&f, 0, d, icmp(8, 0, 0x12340000 + n, pay, n));
			sent(0, 0, 0, 0x12340000 + n, pay, n);
			pf_forget(&f, "hl");
		}
		nf_in_cut(&f, 0, d, icmp(8, 0, n, pay, n), 20 + n / 2);
		sent(0, 0, 0, n, pay, n);
		pf_forget(&f, "hl");
	}
	CU_ASSERT_EQUAL(nf_drops(&f), 0);
	nf_down(&f);
}

/* Checksums of every value, the two zeros among them. */
static void corrects_the_checksum_at_every_corner(void)
{
	up(NULL);
	for (uint32_t v = 0; v < 65536; v += v < 16 || v > 65500 || (v > 0xf700 && v < 0xf810) ? 1 : 61) {
		xk_put_be16(pay, (uint16_t)v);
		nf_in(&f, 0, d, icmp(8, 0, 0, pay, 2));
		sent(0, 0, 0, 0, pay, 2);
		pf_forget(&f, "hl");
	}
	nf_down(&f);
}

static void answers_an_echo_of_the_largest_size_in_fragments(void)
{
	static uint8_t whole[70000];
	uint32_t n, end = 0;

	nf_fill(pay, sizeof pay, 3);
	nf_up(&f, &(struct nf_conf){ .ip = "reass_bytes=1MiB" });
	n = icmp(8, 0, 77, pay, 65507);
	memcpy(whole, d, n);
	for (uint32_t at = 0; at < n - 20; at += 1480) {
		uint32_t len = n - 20 - at < 1480 ? n - 20 - at : 1480;
		struct nf_ip h = { .proto = 1, .id = 9,
				   .frag = (uint16_t)(at / 8 | (at + len < n - 20 ? 0x2000 : 0)) };

		nf_in(&f, 0, d, nf_ip(d, &h, whole + 20 + at, len));
	}
	for (unsigned i = 0; i < nf_nsent(&f); i++) {
		uint32_t len, at = (xk_be16(pf_pushed(&f, "hl", i)->bytes + 6) & 0x1fffu) * 8;
		const uint8_t *p = nf_sent(&f, i, &len);

		memcpy(whole + at, p, len);
		end = at + len > end ? at + len : end;
	}
	CU_ASSERT_EQUAL(end, 65515);
	CU_ASSERT(whole[0] == 0 && nf_sum(whole, end, 0) == 0 && memcmp(whole + 8, pay, 65507) == 0);
	CU_ASSERT_EQUAL(nf_drops(&f), 0);
	nf_down(&f);
}

static void is_no_amplifier(void)
{
	up(NULL);
	nf_in(&f, 0, d, nf_icmp(d, NF_PEER, 0x0affffff, 8, 0, 0, pay, 8));
	nf_only_drop(&f, "icmp", "broadcast");
	nf_in(&f, 0, d, nf_icmp(d, NF_PEER, 0xffffffff, 8, 0, 0, pay, 8));
	nf_only_drop(&f, "icmp", "broadcast");
	nf_in(&f, 0, d, nf_icmp(d, NF_PEER, 0xe0000001, 8, 0, 0, pay, 8));
	nf_only_drop(&f, "icmp", "broadcast");
	nf_in(&f, 0, d, nf_icmp(d, 0x0affffff, NF_US, 8, 0, 0, pay, 8));
	nf_only_drop(&f, "ip", "bad_source");
	nf_in(&f, 0, d, nf_icmp(d, NF_US, NF_US, 8, 0, 0, pay, 8));
	nf_only_drop(&f, "ip", "bad_source");
	CU_ASSERT_EQUAL(nf_nsent(&f), 0);
	nf_down(&f);
	up("echo=false");
	nf_in(&f, 0, d, icmp(8, 0, 0, pay, 8));
	nf_only_drop(&f, "icmp", "echo_off");
	nf_down(&f);
}

static void drops_what_is_short_wrong_or_unknown(void)
{
	uint32_t n;

	up(NULL);
	for (n = 0; n < 8; n++) {
		nf_in(&f, 0, d, nf_ip(d, &(struct nf_ip){ .proto = 1 }, pay, n));
		nf_only_drop(&f, "icmp", "short");
	}
	for (uint32_t at = 20; at < 48; at++) {
		n = icmp(8, 0, 7, pay, 20);
		d[at] ^= 4;
		nf_in(&f, 0, d, n);
		nf_only_drop(&f, "icmp", "bad_checksum");
	}
	for (unsigned type = 0; type < 256; type++) {
		if (type == 8 || type == 3 || type == 4 || type == 11 || type == 12)
			continue;
		nf_in(&f, 0, d, icmp((uint8_t)type, 0, 7, pay, 60));
		nf_only_drop(&f, "icmp", type == 0 ? "no_session" : type == 5 ? "redirect_ignored" :
			     type >= 13 && type <= 18 ? "query_ignored" : "unknown_type");
	}
	CU_ASSERT_EQUAL(nf_nsent(&f), 0);
	nf_down(&f);
}

/* ---- errors that we send ------------------------------------------------------------------ */

static void unknown_protocols_are_reported_with_a_quote(void)
{
	uint32_t n;

	up(NULL);
	for (uint32_t len = 0; len < 700; len += 60) {
		uint32_t quote;

		n = nf_ip(d, &(struct nf_ip){ .proto = 99 }, pay, len);
		quote = n < 548 ? n : 548;
		nf_in(&f, 0, d, n);
		sent(0, 3, 2, 0, d, quote);
		pf_forget(&f, "hl");
		nf_in_cut(&f, 0, d, n, n / 2);
		sent(0, 3, 2, 0, d, quote);
		pf_forget(&f, "hl");
		pf_run(&f, XK_SEC);
	}
	nf_down(&f);
}

static void a_bad_option_is_pointed_at(void)
{
	uint8_t opt[8] = { 1, 1, 7, 0, 0, 0, 0, 0 };
	uint32_t n;

	up(NULL);
	n = nf_ip(d, &(struct nf_ip){ .opt = opt, .nopt = 8 }, pay, 10);
	nf_in(&f, 0, d, n);
	sent(0, 12, 0, 22u << 24, d, n);
	nf_down(&f);
}

static void some_datagrams_are_never_answered(void)
{
	static const uint8_t errors[] = { 3, 4, 5, 11, 12, 99 };

	/* Nobody speaks "protocol 1" but through a second IP address' enable, so
	 * ask ICMP itself, as IP would. */
	up(NULL);
	for (unsigned i = 0; i < 12; i++) {
		struct ip_icmp_error e = { NULL, 3, 3, 0 };
		struct nf_ip h = { .proto = 1 };
		int res;

		memset(q, 0, sizeof q);
		if (i < 6) {
			q[0] = errors[i];
		} else {
			h.proto = 17;
			h.frag = i == 6 ? 100 : 0;
			h.dst = i == 7 ? 0x0affffff : i == 8 ? 0xe0000001 : i == 9 ? 0xffffffff : 0;
			h.src = i == 10 ? 0xe0000001 : 0;
		}
		pf_enter(&f, 0);
		e.m = pf_msg(d, nf_ip(d, &h, q, 40));
		if (i == 11)
			e.m->flags |= XK_MSG_LINK_BCAST;
		xk_msg_set_net(e.m, e.m->data);
		xk_msg_pop(e.m, 20);
		res = xk_control(pf_rep(&f, "udp", 0), IP_CTL_ICMP_ERROR, &e, sizeof e);
		xk_msg_free(e.m);
		pf_leave(&f, 0);
		CU_ASSERT_EQUAL(res, 0);
	}
	CU_ASSERT_EQUAL(pf_count(&f, "icmp", "errors_not_allowed"), 12);
	CU_ASSERT_EQUAL(pf_count(&f, "icmp", "errors_rate_limited"), 0);
	CU_ASSERT_EQUAL(nf_nsent(&f), 0);
	nf_down(&f);
}

static void errors_obey_burst_and_rate(void)
{
	up("rate=10; burst=5");
	for (unsigned i = 0; i < 50; i++)
		nf_in(&f, 0, d, nf_ip(d, &(struct nf_ip){ .proto = 99 }, pay, 8));
	CU_ASSERT_EQUAL(nf_nsent(&f), 5);
	CU_ASSERT_EQUAL(pf_count(&f, "icmp", "errors_rate_limited"), 45);
	pf_run(&f, 200 * XK_MS);
	for (unsigned i = 0; i < 50; i++)
		nf_in(&f, 0, d, nf_ip(d, &(struct nf_ip){ .proto = 99 }, pay, 8));
	CU_ASSERT_EQUAL(nf_nsent(&f), 7);
	pf_run(&f, 100 * XK_SEC);
	for (unsigned i = 0; i < 50; i++)
		nf_in(&f, 0, d, nf_ip(d, &(struct nf_ip){ .proto = 99 }, pay, 8));
	CU_ASSERT_EQUAL(nf_nsent(&f), 12);
	nf_down(&f);
	up("rate=0");
	nf_in(&f, 0, d, nf_ip(d, &(struct nf_ip){ .proto = 99 }, pay, 8));
	CU_ASSERT_EQUAL(nf_nsent(&f), 0);
	nf_down(&f);
	nf_up(&f, &(struct nf_conf){ .nvps = 4, .icmp = "rate=100; burst=20" });
	for (unsigned i = 0; i < 100; i++)
		nf_in(&f, i % 4, d, nf_ip(d, &(struct nf_ip){ .proto = 99 }, pay, 8));
	CU_ASSERT_EQUAL(nf_nsent(&f), 20);
	nf_down(&f);
}

/* ---- errors that we get ------------------------------------------------------------------------- */

/* A quote of what raw sent to NF_PEER, with n bytes behind its header. */
static uint32_t quote_of_ours(uint8_t proto, uint32_t n)
{
	return nf_ip(q, &(struct nf_ip){ .src = NF_US, .dst = NF_PEER, .proto = proto }, pay, n);
}

static void short_and_foreign_quotes_are_dropped(void)
{
	uint32_t n;

	up(NULL);
	for (unsigned type = 0; type < 4; type++) {
		static const uint8_t types[] = { 3, 4, 11, 12 };

		for (uint32_t len = 0; len < 28; len++) {
			quote_of_ours(253, 8);
			nf_in(&f, 0, d, icmp(types[type], 0, 0, q, len));
			nf_only_drop(&f, "icmp", "short_quote");
		}
	}
	n = quote_of_ours(253, 8);
	q[0] = 0x46;                             /* a longer header than there is */
	nf_in(&f, 0, d, icmp(3, 1, 0, q, n));
	nf_only_drop(&f, "icmp", "short_quote");
	q[0] = 0x44;
	nf_in(&f, 0, d, icmp(3, 1, 0, q, n));
	nf_only_drop(&f, "icmp", "bad_quote");
	q[0] = 0x65;
	nf_in(&f, 0, d, icmp(3, 1, 0, q, n));
	nf_only_drop(&f, "icmp", "bad_quote");
	n = nf_ip(q, &(struct nf_ip){ .src = NF_PEER, .dst = NF_US }, pay, 8);
	nf_in(&f, 0, d, icmp(3, 1, 0, q, n));    /* not ours */
	nf_only_drop(&f, "icmp", "bad_quote");
	n = nf_ip(q, &(struct nf_ip){ .src = NF_US, .dst = NF_PEER, .frag = 5 }, pay, 8);
	nf_in(&f, 0, d, icmp(3, 1, 0, q, n));
	nf_only_drop(&f, "icmp", "bad_quote");
	CU_ASSERT_EQUAL(nf_told.n, 0);
	CU_ASSERT_EQUAL(nf_nsent(&f), 0);
	nf_down(&f);
}

static void a_good_error_reaches_the_transport_that_sent_it(void)
{
	up(NULL);
	nf_in(&f, 0, d, icmp(3, 1, 5, q, quote_of_ours(253, 8)));
	CU_ASSERT_EQUAL(nf_told.n, 1);
	CU_ASSERT(nf_told.op == IP_CTL_ERROR_IN && nf_told.type == 3 && nf_told.code == 1 && nf_told.arg == 5);
	nf_in(&f, 0, d, icmp(11, 0, 0, q, quote_of_ours(253, 100)));
	CU_ASSERT_EQUAL(nf_told.n, 2);
	nf_in(&f, 0, d, icmp(11, 0, 0, q, quote_of_ours(98, 100)));    /* nobody's */
	CU_ASSERT_EQUAL(nf_told.n, 2);
	/* Errors about errors: the inner one is not an echo request. */
	quote_of_ours(1, 8);
	q[20] = 3;
	nf_in(&f, 0, d, icmp(3, 1, 0, q, 28));
	CU_ASSERT_EQUAL(nf_told.n, 2);
	CU_ASSERT_EQUAL(nf_drops(&f), 0);
	CU_ASSERT_EQUAL(nf_nsent(&f), 0);
	nf_down(&f);
}

static uint32_t opt_packet(struct xk_sess *s)
{
	uint32_t v = 0;

	pf_enter(&f, 0);
	xk_sess_control(s, XK_CTL_GETOPTPACKET, &v, sizeof v);
	pf_leave(&f, 0);
	return v;
}

static void the_path_mtu_is_lowered_never_below_its_floor_and_recovers(void)
{
	static const uint32_t mtus[] = { 1400, 1000, 68, 0, 552 };
	static const uint32_t rooms[] = { 1380, 980, 532, 532, 532 };
	struct xk_sess *s;
	int err;

	up(NULL);
	s = pf_open_host(&f, "raw", 0, NF_PEER, &err);
	CU_ASSERT_EQUAL(opt_packet(s), 1480);
	nf_in(&f, 0, d, icmp(3, 4, 9000, q, quote_of_ours(253, 8)));
	CU_ASSERT_EQUAL(opt_packet(s), 1480);            /* never raised */
	for (unsigned i = 0; i < XK_ARRAY_LEN(mtus); i++) {
		nf_in(&f, 0, d, icmp(3, 4, mtus[i], q, quote_of_ours(253, 8)));
		CU_ASSERT_EQUAL(opt_packet(s), rooms[i]);
	}
	CU_ASSERT_EQUAL(pf_count(&f, "ip", "path_mtu_lowered"), 3);
	pf_push(&f, 0, s, pay, 1480);
	CU_ASSERT_EQUAL(nf_nsent(&f), 3);
	for (unsigned i = 0; i < 3; i++)                 /* fragments say no "don't" */
		CU_ASSERT_EQUAL(pf_pushed(&f, "hl", i)->bytes[6] & 0x40, 0);
	pf_run(&f, 601 * XK_SEC);
	pf_push(&f, 0, s, pay, 1480);
	CU_ASSERT_EQUAL(nf_nsent(&f), 4);
	CU_ASSERT_EQUAL(opt_packet(s), 1480);
	pf_close(&f, 0, s);
	nf_down(&f);
}

/* ---- echo sessions ----------------------------------------------------------------------------------- */

static uint32_t last_seq;
static void note_seq(struct xk_rep *r, struct xk_sess *lls, struct xk_msg *m)
{
	(void)r;
	(void)lls;
	CU_ASSERT_PTR_NOT_NULL(xk_msg_net(m));
	last_seq = m->aux;
}

static void sends_requests_and_passes_replies_up(void)
{
	struct xk_sess *s;
	int err = 0;

	up(NULL);
	pf_upper_of(&f, "echoer")->on_msg = note_seq;
	s = nf_open(&f, "echoer", 0, NF_PEER, 0, 0, 0x4242, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	for (uint32_t seq = 0; seq < 70; seq++) {
		pf_push(&f, 0, s, pay, seq);
		sent(0, 8, 0, 0x42420000 + seq, pay, seq);
		pf_forget(&f, "hl");
		nf_in(&f, 0, d, icmp(0, 0, 0x42420000 + seq, pay, seq));
		CU_ASSERT_EQUAL_FATAL(nf_ngot(&f, "echoer"), seq + 1);
		CU_ASSERT_EQUAL(last_seq, seq);
		CU_ASSERT(nf_got(&f, "echoer", seq)->len == seq &&
			  memcmp(nf_got(&f, "echoer", seq)->bytes, pay, seq) == 0);
	}
	nf_in(&f, 0, d, icmp(0, 0, 0x42430000, pay, 4));
	nf_only_drop(&f, "icmp", "no_session");
	CU_ASSERT_PTR_NULL(nf_open(&f, "echoer", 0, NF_PEER, 0, 0, 0x4242, &err));
	CU_ASSERT_EQUAL(err, XK_E_ADDRINUSE);
	pf_push(&f, 0, s, pay, 65508);
	nf_only_drop(&f, "icmp", "too_long");
	pf_close(&f, 0, s);
	CU_ASSERT_EQUAL(pf_sessions(&f, "icmp"), 0);
	CU_ASSERT_EQUAL(pf_sessions(&f, "hl"), 0);
	nf_down(&f);
}

static void an_error_about_a_request_reaches_its_session(void)
{
	struct xk_sess *s;
	int err = 0;

	up(NULL);
	s = nf_open(&f, "echoer", 0, NF_PEER, 0, 0, 0, &err);
	pf_push(&f, 0, s, pay, 10);
	memcpy(q, pf_pushed(&f, "hl", 0)->bytes, 38);
	nf_in(&f, 0, d, icmp(11, 0, 0, q, 38));
	CU_ASSERT_EQUAL(nf_told.n, 1);
	CU_ASSERT(nf_told.op == ICMP_CTL_ERROR && nf_told.type == 11);
	pf_close(&f, 0, s);
	nf_down(&f);
}

static void replies_find_their_session_from_any_vp(void)
{
	struct xk_sess *s[8];
	unsigned got = 0;
	uint16_t id;
	int err = 0;

	nf_fill(pay, 100, 3);
	nf_up(&f, &(struct nf_conf){ .nvps = 4 });
	for (unsigned i = 0; i < 8; i++) {
		s[i] = nf_open(&f, "echoer", i % 4, NF_PEER, 0, 0, 0, &err);
		CU_ASSERT_PTR_NOT_NULL_FATAL(s[i]);
	}
	for (unsigned i = 0; i < 8; i++)
		for (unsigned vp = 0; vp < 4; vp++) {
			nf_in(&f, vp, d, icmp(0, 0, (uint32_t)icmp_sess(s[i])->id << 16, pay, 5));
			CU_ASSERT_EQUAL_FATAL(nf_ngot(&f, "echoer"), ++got);
			CU_ASSERT_PTR_EQUAL(nf_got(&f, "echoer", got - 1)->lls, s[i]);
			CU_ASSERT_EQUAL(nf_got(&f, "echoer", got - 1)->vp, i % 4);
		}
	CU_ASSERT_EQUAL(nf_drops(&f), 0);
	CU_ASSERT_EQUAL(pf_count(&f, "icmp", "rerouted"), 8 * 3);
	/* An identifier of the application's own: taken by another VP's session, and free. */
	id = icmp_sess(s[0])->id;
	CU_ASSERT_PTR_NULL(nf_open(&f, "echoer", 1, NF_PEER, 0, 0, id, &err));
	CU_ASSERT_EQUAL(err, XK_E_ADDRINUSE);
	pf_close(&f, 0, s[0]);
	s[0] = nf_open(&f, "echoer", 0, NF_PEER, 0, 0, id, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s[0]);
	for (unsigned i = 0; i < 8; i++)
		pf_close(&f, i % 4, s[i]);
	CU_ASSERT_EQUAL(xk_flowtab_count(f.g->flows), 0);
	nf_down(&f);
}

static void errors_find_their_connection_from_any_vp(void)
{
	struct xk_sess *s;
	int err = 0;

	nf_fill(pay, 100, 3);
	nf_up(&f, &(struct nf_conf){ .nvps = 4 });
	s = nf_open(&f, "app", 3, NF_PEER, 9, 0, 4000, &err);
	pf_push(&f, 3, s, pay, 10);
	memcpy(q, pf_pushed(&f, "hl", 0)->bytes, 38);
	for (unsigned vp = 0; vp < 4; vp++) {
		nf_in(&f, vp, d, nf_icmp(d, 0x0a000099, NF_US, 3, 3, 0, q, 38));
		CU_ASSERT_EQUAL(nf_told.n, vp + 1);
	}
	CU_ASSERT_EQUAL(pf_count(&f, "icmp", "rerouted"), 3);
	pf_close(&f, 3, s);
	pf_forget(&f, "hl");
	s = nf_open(&f, "echoer", 2, NF_PEER, 0, 0, 0, &err);           /* and an echo request's */
	pf_push(&f, 2, s, pay, 10);
	memcpy(q, pf_pushed(&f, "hl", 0)->bytes, 38);
	for (unsigned vp = 0; vp < 4; vp++) {
		nf_in(&f, vp, d, nf_icmp(d, 0x0a000099, NF_US, 11, 0, 0, q, 38));
		CU_ASSERT_EQUAL(nf_told.n, vp + 5);
	}
	CU_ASSERT_EQUAL(pf_count(&f, "icmp", "rerouted"), 6);
	pf_close(&f, 2, s);
	nf_down(&f);
}

/* ---- memory --------------------------------------------------------------------------------------------- */

static void one_of_everything(void)
{
	struct xk_sess *s;
	int err;

	if (!nf_up_try(&f, &(struct nf_conf){ .nvps = 2 })) {
		pf_down(&f);
		return;
	}
	nf_in(&f, 0, d, icmp(8, 0, 0, pay, 30));
	nf_in_lent(&f, 1, d, icmp(8, 0, 0, pay, 30));
	nf_in(&f, 0, d, nf_ip(d, &(struct nf_ip){ .proto = 99 }, pay, 30));
	nf_in(&f, 0, d, icmp(3, 1, 0, q, quote_of_ours(253, 8)));
	s = nf_open(&f, "echoer", 1, NF_PEER, 0, 0, 0, &err);
	if (s != NULL) {
		uint32_t id = icmp_sess(s)->id;

		pf_push(&f, 1, s, pay, 3000);
		nf_in(&f, 0, d, icmp(0, 0, id << 16, pay, 30));
		pf_close(&f, 1, s);
	}
	nf_down(&f);
}

static void no_failed_allocation_leaks(void)
{
	nf_torture(one_of_everything);
}

/* ---- table ------------------------------------------------------------------------------------------------ */

#define T(fn) { #fn, fn }
static CU_TestInfo echo_tests[] = {
	T(answers_every_size_and_shape_of_echo), T(corrects_the_checksum_at_every_corner),
	T(answers_an_echo_of_the_largest_size_in_fragments), T(is_no_amplifier),
	T(drops_what_is_short_wrong_or_unknown), CU_TEST_INFO_NULL
};
static CU_TestInfo error_tests[] = {
	T(unknown_protocols_are_reported_with_a_quote), T(a_bad_option_is_pointed_at),
	T(some_datagrams_are_never_answered), T(errors_obey_burst_and_rate),
	T(short_and_foreign_quotes_are_dropped), T(a_good_error_reaches_the_transport_that_sent_it),
	T(the_path_mtu_is_lowered_never_below_its_floor_and_recovers), CU_TEST_INFO_NULL
};
static CU_TestInfo sess_tests[] = {
	T(sends_requests_and_passes_replies_up), T(an_error_about_a_request_reaches_its_session),
	T(replies_find_their_session_from_any_vp), T(errors_find_their_connection_from_any_vp),
	T(no_failed_allocation_leaks), CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "icmp echo", NULL, NULL, NULL, NULL, echo_tests },
	{ "icmp errors", NULL, NULL, NULL, NULL, error_tests },
	{ "icmp sessions", NULL, NULL, NULL, NULL, sess_tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}

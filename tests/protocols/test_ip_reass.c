/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_ip_reass.c - datagrams put together from fragments, and attacks on that:
 * any order, duplicates, overlaps, two ends, floods, and what it may cost.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/ip/ip_priv.h"
#include "tests/protocols/net_fixture.h"
#include "tests/support/xk_test.h"
#include "runtime/classify/xk_classify.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"

#define MF 0x2000
static struct pf f;
static uint8_t d[70000], pay[70000], big[70000];

/* Bytes [at, to) of pay as a fragment; the last one when `more` is false. */
static void send_on(unsigned vp, uint32_t src, uint16_t id, uint32_t at, uint32_t to, bool more)
{
	struct nf_ip h = { .src = src, .id = id, .frag = (uint16_t)(at / 8 | (more ? MF : 0)) };

	nf_in(&f, vp, d, nf_ip(d, &h, pay + at, to - at));
}

static void send(uint16_t id, uint32_t at, uint32_t to, bool more)
{
	send_on(0, NF_PEER, id, at, to, more);
}

static void got_all(unsigned i, uint32_t n)
{
	const struct pf_rec *r;

	CU_ASSERT_EQUAL_FATAL(nf_ngot(&f, "raw"), i + 1);
	r = nf_got(&f, "raw", i);
	CU_ASSERT_EQUAL(r->len, n);
	CU_ASSERT(r->len == n && memcmp(r->bytes, pay, n) == 0);
}

static struct ip_reass *reass(unsigned vp)
{
	return &ip_state(pf_rep(&f, "ip", vp))->reass;
}

static int64_t credit(void)
{
	return ((struct ip_node *)pf_node(&f, "ip")->state)->credit;
}

/* Nothing held, and every byte of credit back with the node. */
static void at_rest(int64_t cap)
{
	int64_t sum = credit();

	for (unsigned vp = 0; vp < f.g->vps->nvps; vp++) {
		CU_ASSERT_EQUAL(reass(vp)->n, 0);
		CU_ASSERT_EQUAL(reass(vp)->held, 0);
		CU_ASSERT_EQUAL(reass(vp)->credit, 0);
		for (unsigned i = 0; i < 256; i++)
			CU_ASSERT_EQUAL(reass(vp)->source[i], 0);
	}
	CU_ASSERT_EQUAL(sum, cap);
}

static void up(const char *ip)
{
	nf_fill(pay, sizeof pay, 5);
	nf_up1(&f, ip);
}

/* ---- order ----------------------------------------------------------------------- */

static const uint32_t cut5[] = { 0, 8, 24, 64, 72, 75 };

static void piece(uint16_t id, unsigned i)
{
	send(id, cut5[i], cut5[i + 1], i < 4);
}

static void any_order_of_five_gives_the_same_datagram(void)
{
	unsigned p[5], done = 0;

	up(NULL);
	for (unsigned code = 0; code < 3125; code++) {
		unsigned used = 0, c = code;

		for (unsigned i = 0; i < 5; i++, c /= 5)
			used |= 1u << (p[i] = c % 5);
		if (used != 31)
			continue;
		for (unsigned i = 0; i < 5; i++) {
			CU_ASSERT_EQUAL(nf_ngot(&f, "raw"), 0);
			piece((uint16_t)code, p[i]);
		}
		got_all(0, 75);
		nf_forget(&f, "raw");
		done++;
	}
	CU_ASSERT_EQUAL(done, 120);
	CU_ASSERT_EQUAL(nf_drops(&f), 0);
	CU_ASSERT_EQUAL(pf_count(&f, "ip", "reassembled"), 120);
	at_rest(256 * 1024);
	nf_down(&f);
}

static void any_cutting_in_any_order_with_duplicates_is_exact(void)
{
	struct xk_rand r;

	up("reass_bytes=4MiB");
	xk_rand_init(&r, 11, 0);
	for (unsigned round = 0; round < 300; round++) {
		uint32_t n = 9 + (uint32_t)xk_rand_below(&r, round % 10 ? 3000 : 60000), at = 0, cnt = 0;
		struct { uint32_t at, to; } fr[400];

		while (at < n) {
			uint32_t len = 8 + 8 * (uint32_t)xk_rand_below(&r, n / 400 + 20);

			fr[cnt].at = at;
			fr[cnt++].to = at = at + len < n ? at + len : n;
		}
		if (cnt == 1)
			continue;
		for (uint32_t i = cnt; i-- > 1;) {
			uint32_t k = (uint32_t)xk_rand_below(&r, i + 1), a = fr[i].at, b = fr[i].to;

			fr[i] = fr[k];
			fr[k].at = a;
			fr[k].to = b;
		}
		for (uint32_t i = 0; i < cnt; i++) {
			send((uint16_t)round, fr[i].at, fr[i].to, fr[i].to != n);
			if (i + 1 < cnt && xk_rand_below(&r, 4) == 0) {
				send((uint16_t)round, fr[i].at, fr[i].to, fr[i].to != n);
				nf_only_drop(&f, "ip", "fragment_duplicate");
			}
		}
		got_all(0, n);
		nf_forget(&f, "raw");
	}
	CU_ASSERT_EQUAL(nf_drops(&f), 0);
	at_rest(4 << 20);
	nf_down(&f);
}

static void datagrams_do_not_mix(void)
{
	up(NULL);
	send_on(0, NF_PEER, 1, 0, 16, true);
	send_on(0, NF_PEER + 1, 1, 0, 16, true);
	send_on(0, NF_PEER, 2, 0, 16, true);
	nf_in(&f, 0, d, nf_ip(d, &(struct nf_ip){ .id = 1, .proto = 254, .frag = 2 }, pay + 16, 4));
	nf_in(&f, 0, d, nf_ip(d, &(struct nf_ip){ .id = 1, .dst = 0x0affffff, .frag = 2 }, pay + 16, 4));
	CU_ASSERT_EQUAL(nf_ngot(&f, "raw"), 0);
	CU_ASSERT_EQUAL(reass(0)->n, 5);
	send_on(0, NF_PEER, 1, 16, 20, false);
	got_all(0, 20);
	send_on(0, NF_PEER + 1, 1, 16, 21, false);
	got_all(1, 21);
	nf_down(&f);
}

static void the_largest_datagram_is_put_together(void)
{
	up("reass_bytes=16MiB");
	for (uint32_t at = 0; at < 65512; at += 8)
		send(1, at, at + 8, true);
	CU_ASSERT_EQUAL(nf_ngot(&f, "raw"), 0);
	send(1, 65512, 65515, false);
	got_all(0, 65515);
	at_rest(16 << 20);
	nf_down(&f);
}

static void fragments_in_any_shape_of_buffer_are_joined(void)
{
	void (*const in[])(struct pf *, unsigned, const void *, uint32_t) = { nf_in, nf_in_view, nf_in_lent };

	up(NULL);
	for (unsigned a = 0; a < 3; a++)
		for (unsigned b = 0; b < 3; b++) {
			struct nf_ip h = { .id = (uint16_t)(a * 3 + b), .frag = MF };

			in[a](&f, 0, d, nf_ip(d, &h, pay, 304));
			h.frag = 38;
			in[b](&f, 0, d, nf_ip(d, &h, pay + 304, 100));
			got_all(a * 3 + b, 404);
		}
	for (uint32_t cut = 0; cut <= 36; cut++) {
		nf_in_cut(&f, 0, d, nf_ip(d, &(struct nf_ip){ .id = 99, .frag = MF }, pay, 16), cut);
		send(99, 16, 20, false);
		got_all(9 + cut, 20);
	}
	CU_ASSERT_EQUAL(nf_drops(&f), 0);
	nf_down(&f);
}

static void options_of_the_first_fragment_stay(void)
{
	uint8_t opt[8] = { 7, 7, 4, 0, 0, 0, 0, 0 };

	up(NULL);
	send(1, 16, 32, false);
	nf_in(&f, 0, d, nf_ip(d, &(struct nf_ip){ .id = 1, .frag = MF, .opt = opt, .nopt = 8 }, pay, 16));
	got_all(0, 32);
	nf_down(&f);
}

/* ---- attacks ------------------------------------------------------------------------ */

/* Sends a, then b: b condemns the datagram for this reason, and a whole set of
 * right pieces afterwards does not revive it. */
static void condemns(uint16_t id, const uint32_t a[3], const uint32_t b[3], const char *reason)
{
	send(id, a[0], a[1], a[2] != 0);
	CU_ASSERT_EQUAL(nf_drops(&f), 0);
	send(id, b[0], b[1], b[2] != 0);
	CU_ASSERT_EQUAL(pf_drops(&f, "ip", reason), 2);      /* the held one, too */
	CU_ASSERT_EQUAL(nf_drops(&f), 2);
	nf_forget_drops(&f);
	send(id, 0, 40, true);
	nf_only_drop(&f, "ip", "fragment_of_dropped_datagram");
	send(id, 40, 80, false);
	nf_only_drop(&f, "ip", "fragment_of_dropped_datagram");
	CU_ASSERT_EQUAL(nf_ngot(&f, "raw"), 0);
}
#define FR(a, b, more) ((const uint32_t[3]){ a, b, more })

static void any_overlap_condemns_the_datagram(void)
{
	uint16_t id = 0;

	up(NULL);
	condemns(id++, FR(0, 40, 1), FR(8, 16, 1), "fragment_overlap");      /* inside */
	condemns(id++, FR(8, 16, 1), FR(0, 40, 1), "fragment_overlap");      /* around */
	condemns(id++, FR(0, 40, 1), FR(32, 48, 1), "fragment_overlap");     /* over its tail */
	condemns(id++, FR(32, 48, 1), FR(0, 40, 1), "fragment_overlap");     /* over its head */
	condemns(id++, FR(0, 40, 1), FR(0, 32, 1), "fragment_overlap");      /* same start */
	condemns(id++, FR(0, 40, 1), FR(0, 48, 1), "fragment_overlap");
	condemns(id++, FR(0, 40, 1), FR(32, 40, 1), "fragment_overlap");     /* same end */
	condemns(id++, FR(40, 45, 0), FR(40, 48, 1), "fragment_two_ends");
	condemns(id++, FR(0, 40, 1), FR(32, 80, 0), "fragment_overlap");
	condemns(id++, FR(512, 520, 1), FR(504, 1112, 1), "fragment_overlap"); /* across words */
	condemns(id++, FR(504, 1112, 1), FR(1104, 1112, 1), "fragment_overlap");
	pf_run(&f, 31 * XK_SEC);
	at_rest(256 * 1024);
	nf_down(&f);
}

static void the_same_bytes_twice_are_fine_other_bytes_are_not(void)
{
	up(NULL);
	send(1, 0, 16, true);
	send(1, 0, 16, true);
	nf_only_drop(&f, "ip", "fragment_duplicate");
	nf_fill(big, 16, 77);
	nf_in(&f, 0, d, nf_ip(d, &(struct nf_ip){ .id = 1, .frag = MF }, big, 16));
	CU_ASSERT_EQUAL(pf_drops(&f, "ip", "fragment_overlap"), 2);
	nf_forget_drops(&f);
	send(2, 16, 20, false);
	send(2, 16, 20, false);
	nf_only_drop(&f, "ip", "fragment_duplicate");
	send(2, 0, 16, true);
	got_all(0, 20);
	nf_down(&f);
}

static void two_different_ends_condemn_the_datagram(void)
{
	uint16_t id = 0;

	up(NULL);
	condemns(id++, FR(40, 80, 0), FR(80, 88, 0), "fragment_two_ends");
	condemns(id++, FR(40, 80, 0), FR(16, 24, 0), "fragment_two_ends");
	condemns(id++, FR(40, 80, 0), FR(80, 88, 1), "fragment_two_ends");   /* beyond the end */
	condemns(id++, FR(80, 88, 1), FR(40, 80, 0), "fragment_two_ends");   /* the end before what we have */
	condemns(id++, FR(40, 80, 0), FR(40, 72, 0), "fragment_two_ends");
	nf_down(&f);
}

static void lengths_that_cannot_be_are_refused(void)
{
	up(NULL);
	nf_in(&f, 0, d, nf_ip(d, &(struct nf_ip){ .id = 1, .frag = MF }, pay, 0));
	nf_only_drop(&f, "ip", "fragment_empty");
	nf_in(&f, 0, d, nf_ip(d, &(struct nf_ip){ .id = 1, .frag = 9 }, pay, 0));
	nf_only_drop(&f, "ip", "fragment_empty");
	for (uint32_t n = 1; n < 8; n++) {
		nf_in(&f, 0, d, nf_ip(d, &(struct nf_ip){ .id = (uint16_t)n, .frag = MF }, pay, 8 + n));
		nf_only_drop(&f, "ip", "fragment_not_multiple_of_8");
	}
	/* The ping of death: offset 65528 and 100 bytes. */
	nf_in(&f, 0, d, nf_ip(d, &(struct nf_ip){ .id = 50, .frag = 8191 }, pay, 100));
	nf_only_drop(&f, "ip", "fragment_past_65535");
	nf_in(&f, 0, d, nf_ip(d, &(struct nf_ip){ .id = 51, .frag = 8189 }, pay, 4));
	nf_only_drop(&f, "ip", "fragment_past_65535");
	nf_in(&f, 0, d, nf_ip(d, &(struct nf_ip){ .id = 52, .frag = 8189 }, pay, 3));
	CU_ASSERT_EQUAL(nf_drops(&f), 0);
	nf_down(&f);
}

/* Pieces that fit each, but not behind the first one's long header. */
static void options_count_in_the_length_of_the_whole(void)
{
	uint8_t opt[40];

	memset(opt, 1, sizeof opt);
	up("reass_bytes=16MiB");
	for (uint32_t at = 8; at < 65512; at += 2184)
		send(1, at, at + 2184 < 65512 ? at + 2184 : 65512, true);
	send(1, 65512, 65515, false);
	CU_ASSERT_EQUAL(nf_drops(&f), 0);
	nf_in(&f, 0, d, nf_ip(d, &(struct nf_ip){ .id = 1, .frag = MF, .opt = opt, .nopt = 40 }, pay, 8));
	CU_ASSERT_EQUAL(nf_ngot(&f, "raw"), 0);
	CU_ASSERT(pf_drops(&f, "ip", "fragment_past_65535") > 0);
	pf_run(&f, 31 * XK_SEC);
	at_rest(16 << 20);
	nf_down(&f);
}

static void a_tiny_first_fragment_is_not_delivered_alone(void)
{
	up(NULL);
	nf_in(&f, 0, d, nf_ip(d, &(struct nf_ip){ .id = 1, .proto = 6, .frag = MF }, pay, 8));
	CU_ASSERT_EQUAL(nf_drops(&f), 0);
	CU_ASSERT_EQUAL(pf_count(&f, "ip", "icmp_errors_asked"), 0);
	nf_down(&f);
}

/* ---- time ------------------------------------------------------------------------------ */

static void time_runs_out_and_the_sender_hears_of_it_if_we_saw_the_first(void)
{
	uint32_t n;
	const uint8_t *p;

	up("reass_timeout=15s");
	send(1, 0, 16, true);
	send(2, 16, 32, true);
	pf_run(&f, 14 * XK_SEC);
	CU_ASSERT_EQUAL(reass(0)->n, 2);
	CU_ASSERT_EQUAL(nf_nsent(&f), 0);
	pf_run(&f, 2 * XK_SEC);
	CU_ASSERT_EQUAL(pf_drops(&f, "ip", "reassembly_timeout"), 2);
	CU_ASSERT_EQUAL(pf_count(&f, "ip", "reassembly_timeouts"), 2);
	at_rest(256 * 1024);
	CU_ASSERT_EQUAL_FATAL(nf_nsent(&f), 1);
	p = nf_sent(&f, 0, &n);
	CU_ASSERT_EQUAL(n, 8 + 36);
	CU_ASSERT_EQUAL(p[0], 11);
	CU_ASSERT_EQUAL(p[1], 1);
	CU_ASSERT_EQUAL(nf_sum(p, n, 0), 0);
	CU_ASSERT(memcmp(p + 8 + 20, pay, 16) == 0);
	send(1, 16, 32, false);                              /* too late */
	CU_ASSERT_EQUAL(nf_ngot(&f, "raw"), 0);
	nf_down(&f);
}

static void the_timer_serves_the_oldest_first(void)
{
	up("reass_timeout=10s");
	for (uint16_t i = 0; i < 10; i++) {
		send(i, 0, 8, true);
		pf_run(&f, XK_SEC / 2);
	}
	for (unsigned i = 10; i > 0; i--) {
		CU_ASSERT_EQUAL(reass(0)->n, i);
		pf_run(&f, i == 10 ? 5 * XK_SEC + XK_MS : XK_SEC / 2);
	}
	at_rest(256 * 1024);
	nf_down(&f);
}

/* ---- caps --------------------------------------------------------------------------------- */

/* 8-byte fragments of ever new datagrams, far from each other (FragmentSmack,
 * Rose): memory stays under its cap and honest traffic goes on afterwards. */
static void a_flood_stays_under_the_cap(void)
{
	int64_t most = 0;

	up("reass_bytes=64KiB; reass_datagrams=100000; reass_per_source=65535");
	for (uint32_t i = 0; i < 20000; i++) {
		struct nf_ip h = { .src = NF_PEER + i % 50000, .id = (uint16_t)i,
				   .frag = (uint16_t)(i % 2 ? 8100 : MF) };

		nf_in(&f, 0, d, nf_ip(d, &h, pay, 32));
		if (reass(0)->held > most)
			most = reass(0)->held;
		CU_ASSERT(reass(0)->held <= reass(0)->credit && reass(0)->credit + credit() == 64 * 1024);
	}
	CU_ASSERT(most <= 64 * 1024 && most > 48 * 1024);
	CU_ASSERT(pf_count(&f, "ip", "reassembly_evictions") > 19000);
	send(7, 0, 16, true);
	send(7, 16, 20, false);
	got_all(0, 20);
	pf_run(&f, 31 * XK_SEC);
	at_rest(64 * 1024);
	nf_down(&f);
}

static void memory_counts_by_what_is_held_not_by_offset(void)
{
	up(NULL);
	send(1, 0, 32, true);
	nf_in(&f, 0, d, nf_ip(d, &(struct nf_ip){ .id = 1, .frag = 8100 }, pay, 32));
	CU_ASSERT(reass(0)->held < 3000);
	nf_down(&f);
}

static void one_source_has_its_own_cap(void)
{
	up("reass_per_source=5");
	for (uint16_t i = 0; i < 5; i++)
		send(i, 0, 8, true);
	send(5, 0, 8, true);
	nf_only_drop(&f, "ip", "reassembly_source_cap");
	send_on(0, NF_PEER + 1, 5, 0, 8, true);
	CU_ASSERT_EQUAL(nf_drops(&f), 0);
	send(0, 8, 12, false);
	got_all(0, 12);
	send(5, 0, 8, true);
	CU_ASSERT_EQUAL(nf_drops(&f), 0);
	nf_down(&f);
}

static void the_oldest_makes_room_for_the_newest(void)
{
	up("reass_datagrams=6");
	for (uint16_t i = 0; i < 7; i++)
		send(i, 0, 8, true);
	nf_only_drop(&f, "ip", "reassembly_evicted");
	CU_ASSERT_EQUAL(reass(0)->n, 6);
	send(0, 8, 12, false);                               /* evicted: starts anew, evicts 1 */
	send(6, 8, 12, false);
	got_all(0, 12);
	nf_down(&f);
}

static void one_datagram_larger_than_the_cap_is_refused(void)
{
	up("reass_bytes=16KiB");
	for (uint32_t at = 0; at < 40000; at += 1480)
		send(1, at, at + 1480, true);
	CU_ASSERT(pf_drops(&f, "ip", "reassembly_full") > 0);
	CU_ASSERT_EQUAL(reass(0)->n, 1);                     /* the mark that it is dead */
	pf_run(&f, 31 * XK_SEC);
	at_rest(16 * 1024);
	nf_down(&f);
}

/* ---- virtual processors --------------------------------------------------------------------- */

/* Fragments of UDP meet on the VP of their datagram's identity, although this device decides
 * nothing; the connection may live on another. */
static void a_whole_datagram_goes_on_where_its_connection_lives(void)
{
	struct xk_flowkey k = { .raddr = htobe32(NF_PEER), .laddr = htobe32(NF_US),
				.lport = htobe16(NF_PORT), .proto = 17 };
	unsigned got = 0, moved = 0, gathered = 0;

	nf_fill(pay, 3000, 5);
	nf_up(&f, &(struct nf_conf){ .nvps = 4 });
	for (uint16_t port = 1000; port < 1016; port++) {
		uint32_t n = nf_udp(big, NF_PEER, port, NF_US, NF_PORT, pay, 2000);

		uint16_t meet = xk_hash_vp(xk_hash_ends(NF_PEER, port, NF_US, 17u << 8, 1), 4);

		k.rport = htobe16(port);
		for (unsigned twice = 0; twice < 2; twice++) {
			struct nf_ip h = { .proto = 17, .id = port, .frag = MF };

			nf_in(&f, port % 4, d, nf_ip(d, &h, big + 20, 1000));
			h.frag = 125;
			nf_in(&f, port % 4, d, nf_ip(d, &h, big + 1020, n - 1020));
			CU_ASSERT_EQUAL_FATAL(nf_ngot(&f, "app"), ++got);
			CU_ASSERT(nf_got(&f, "app", got - 1)->len == 2000 &&
				  memcmp(nf_got(&f, "app", got - 1)->bytes, pay, 2000) == 0);
			CU_ASSERT_EQUAL(nf_got(&f, "app", got - 1)->vp, xk_flow_home(f.g->flows, &k));
			moved += xk_flow_home(f.g->flows, &k) != meet;
			gathered += meet != port % 4 ? 2 : 0;
		}
	}
	CU_ASSERT(moved > 0 && moved < 32);
	CU_ASSERT_EQUAL(pf_count(&f, "ip", "rerouted"), moved);
	CU_ASSERT_EQUAL(pf_count(&f, "ip", "fragments_gathered"), gathered);
	CU_ASSERT_EQUAL(pf_upper_of(&f, "app")->open_dones, 16);
	CU_ASSERT_EQUAL(nf_drops(&f), 0);
	nf_down(&f);
}

static void four_vps_share_one_cap(void)
{
	nf_fill(pay, 3000, 5);
	nf_up(&f, &(struct nf_conf){ .nvps = 4, .ip = "reass_bytes=64KiB" });
	for (uint32_t i = 0; i < 400; i++) {
		int64_t sum = credit();

		send_on(i % 4, NF_PEER + i, (uint16_t)i, 0, 1480, true);
		sum = credit();
		for (unsigned vp = 0; vp < 4; vp++)
			sum += reass(vp)->credit;
		CU_ASSERT_EQUAL(sum, 64 * 1024);
		CU_ASSERT(credit() >= 0);
	}
	pf_run(&f, 31 * XK_SEC);
	at_rest(64 * 1024);
	nf_down(&f);
}

static void pieces_and_stop(void)
{
	if (!nf_up_try(&f, &(struct nf_conf){ .nvps = 1 })) {
		pf_down(&f);
		return;
	}
	for (unsigned i = 0; i < 5; i++)
		piece(1, 4 - i);
	for (unsigned i = 0; i < 4; i++)
		piece(2, i);
	send(3, 0, 16, true);
	send(3, 0, 24, true);
	pf_run(&f, 31 * XK_SEC);
	piece(4, 1);
	nf_down(&f);
}

static void no_failed_allocation_leaks(void)
{
	nf_torture(pieces_and_stop);
}

/* ---- table ----------------------------------------------------------------------------------------- */

#define T(fn) { #fn, fn }
static CU_TestInfo order_tests[] = {
	T(any_order_of_five_gives_the_same_datagram), T(any_cutting_in_any_order_with_duplicates_is_exact),
	T(datagrams_do_not_mix), T(the_largest_datagram_is_put_together),
	T(fragments_in_any_shape_of_buffer_are_joined), T(options_of_the_first_fragment_stay), CU_TEST_INFO_NULL
};
static CU_TestInfo attack_tests[] = {
	T(any_overlap_condemns_the_datagram), T(the_same_bytes_twice_are_fine_other_bytes_are_not),
	T(two_different_ends_condemn_the_datagram), T(lengths_that_cannot_be_are_refused),
	T(options_count_in_the_length_of_the_whole), T(a_tiny_first_fragment_is_not_delivered_alone),
	CU_TEST_INFO_NULL
};
static CU_TestInfo cap_tests[] = {
	T(time_runs_out_and_the_sender_hears_of_it_if_we_saw_the_first), T(the_timer_serves_the_oldest_first),
	T(a_flood_stays_under_the_cap), T(memory_counts_by_what_is_held_not_by_offset),
	T(one_source_has_its_own_cap), T(the_oldest_makes_room_for_the_newest),
	T(one_datagram_larger_than_the_cap_is_refused), T(a_whole_datagram_goes_on_where_its_connection_lives),
	T(four_vps_share_one_cap), T(no_failed_allocation_leaks), CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "ip reassembly", NULL, NULL, NULL, NULL, order_tests },
	{ "ip fragment attacks", NULL, NULL, NULL, NULL, attack_tests },
	{ "ip reassembly caps", NULL, NULL, NULL, NULL, cap_tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_bounds_cost.c - no message costs more than 20 times what its like cost in the middle,
 * whatever it is made of: SACK blocks, segments and fragments as attackers make them.
 *
 * Work is counted in edges of control flow (steps.h) in the files that keep lists: the
 * scoreboard, the send queue, both reassemblies, messages.  Each message of an attack is
 * delivered alone; the costs are sorted.  One that sets others free (pieces passed up or
 * given up, segments sent again) costs by those: each has been paid for by its own.
 * Invariant: the same numbers on every run of a build.
 */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fault/steps.h"
#include "tests/protocols/tcp_fixture.h"
#include "tests/support/xk_test_graph.h"
#include "runtime/upi/xk_inline.h"

#define MOST 200000u

static struct pf f;
static uint32_t cost[MOST];
static unsigned ncost;
static uint8_t d[2048];

static int cmp32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* One datagram arrives and is all done with. */
static void arrives(uint32_t n)
{
	uint64_t had = steps;

	nf_in(&f, 0, d, n);
	xk_assert(ncost < MOST);
	cost[ncost++] = (uint32_t)(steps - had);
}

/* What arrived last did so for n messages. */
static void shared_by(uint64_t n)
{
	if (n > 1)
		cost[ncost - 1] /= (uint32_t)n;
}

/* Returns the median. */
static uint32_t verdict(const char *what)
{
	uint32_t mid, worst;

	CU_ASSERT_FATAL(ncost > 100);
	qsort(cost, ncost, sizeof cost[0], cmp32);
	mid = cost[ncost / 2];
	worst = cost[ncost - 1];
	printf("# %s: %u messages, median %u steps, 99 %% %u, worst %u: %.1f times\n", what, ncost, mid, cost[ncost / 100 * 99],
	       worst, (double)worst / mid);
	CU_ASSERT(mid > 20);
	CU_ASSERT(worst <= 20 * mid);
	ncost = 0;
	return mid;
}

/* ---- SACK --------------------------------------------------------------------------------- */

static struct xk_sess *in_flight(uint32_t flight, uint32_t *una)
{
	static uint8_t bytes[65536];
	struct xk_sess *s;
	uint8_t opt[40];
	struct tf_out o;

	tf_up1(&f, "snd_buf=4MiB; timestamps=false; nagle=false; idle_compress=0s");
	tf_listen(&f);
	tf_in(&f, &(struct tf_seg){ .seq = 1000, .flags = TCP_SYN, .opt = opt, .nopt = tf_syn_opts(opt, 64, true, NULL, 7) });
	o = tf_out(&f, -1);
	tf_in(&f, &(struct tf_seg){ .seq = 1001, .ack = o.seq + 1, .flags = TCP_ACK });
	CU_ASSERT_FATAL(tf_app.nkept == 1);
	s = tf_app.kept[0];
	tcp_cb(tcp_sess(s))->cwnd = 2 * flight;
	for (unsigned i = 0; i < flight / sizeof bytes; i++) {
		tf_push(&f, s, bytes, sizeof bytes);
		tf_forget(&f);
	}
	*una = o.seq + 1;
	CU_ASSERT_EQUAL_FATAL(tcp_cb(tcp_sess(s))->snd_max - *una, flight);
	CU_ASSERT_EQUAL(tcp_cb(tcp_sess(s))->mss, 64);
	return s;
}

static void sack(uint32_t ack, const uint32_t lr[8])
{
	uint8_t opt[36] = { 1, 1, 5, 34 };

	for (unsigned i = 0; i < 8; i++)
		xk_put_be32(opt + 4 + 4 * i, lr[i]);
	arrives(tf_datagram(d, &(struct tf_seg){ .seq = 1001, .ack = ack, .flags = TCP_ACK, .opt = opt, .nopt = sizeof opt }));
	shared_by(tf_nout(&f));
	tf_forget(&f);
}

static void done(struct xk_sess *s)
{
	uint32_t on = 1;

	tf_control(&f, s, TCP_CTL_LINGER, &on, sizeof on);
	tf_close(&f, s);
	tf_down(&f);
}

enum sack_kind { BYTE_STEPS, RANDOM_BYTES, EVERY_OTHER, RANDOM_SEGMENTS, BACKWARDS, REVERSED, SACK_KINDS };
static const char *const sack_names[] = {
	"SACK, 4 blocks in steps of a byte", "SACK, single bytes anywhere", "SACK, every other segment",
	"SACK, single segments anywhere", "SACK, every other segment from the end", "SACK, reversed and beyond",
};

static void block(enum sack_kind kind, uint32_t flight, unsigned i, uint32_t una, struct xk_rand *r, uint32_t *l, uint32_t *e)
{
	uint32_t segs = flight / 64, at;

	switch (kind) {
	case BYTE_STEPS: *l = una + 64 + i * 2 % (flight - 128); *e = *l + 1; break;
	case RANDOM_BYTES: *l = una + 1 + (uint32_t)xk_rand_below(r, flight - 2); *e = *l + 1; break;
	case EVERY_OTHER: at = 1 + i * 2 % (segs - 2); *l = una + at * 64; *e = *l + 64; break;
	case RANDOM_SEGMENTS: at = 1 + (uint32_t)xk_rand_below(r, segs - 2); *l = una + at * 64; *e = *l + 64; break;
	case BACKWARDS: at = segs - 1 - i * 2 % (segs - 2); *l = una + at * 64; *e = *l + 64; break;
	default: *l = una + flight + 1 + i; *e = una - i; break;
	}
}

static uint32_t sacks(enum sack_kind kind, uint32_t flight)
{
	unsigned n = (unsigned)xk_test_rounds(4000);
	uint32_t una, lr[8], mid;
	struct xk_rand r;
	struct xk_sess *s;

	xk_rand_init(&r, 9, kind);
	s = in_flight(flight, &una);
	for (unsigned i = 0; i < n; i++) {
		for (unsigned k = 0; k < 4; k++)
			block(kind, flight, i * 4 + k, una, &r, &lr[2 * k], &lr[2 * k + 1]);
		sack(una, lr);
		if (i % 16 == 0)
			pf_run(&f, XK_MS);
	}
	mid = verdict(sack_names[kind]);
	done(s);
	return mid;
}

static void selective_acknowledgements_cost_alike(void)
{
	for (enum sack_kind kind = 0; kind < SACK_KINDS; kind++)
		sacks(kind, 1u << 20);
}

/* What is in flight is sixteen times as much: no list is walked through. */
static void their_cost_does_not_grow_with_what_is_in_flight(void)
{
	static const enum sack_kind kinds[] = { BYTE_STEPS, RANDOM_BYTES, RANDOM_SEGMENTS, BACKWARDS };

	for (unsigned i = 0; i < XK_ARRAY_LEN(kinds); i++)
		CU_ASSERT(sacks(kinds[i], 1u << 20) <= 4 * sacks(kinds[i], 1u << 16));
}

/* ---- segments -------------------------------------------------------------------------------- */

static void shuffle(uint32_t *v, uint32_t n, struct xk_rand *r)
{
	for (uint32_t i = n; i > 1; i--) {
		uint32_t k = (uint32_t)xk_rand_below(r, i), t = v[i - 1];

		v[i - 1] = v[k];
		v[k] = t;
	}
}

static void single_byte(uint32_t at, uint32_t ack)
{
	uint8_t b = (uint8_t)(at * 7);
	uint32_t had = tf_app.ngot;

	arrives(tf_datagram(d, &(struct tf_seg){ .seq = 1001 + at, .ack = ack, .flags = TCP_ACK, .data = &b, .len = 1 }));
	shared_by(tf_app.ngot - had);
	tf_forget(&f);
}

static void every_other_byte(const char *params, const char *what, bool fill)
{
	static uint32_t order[32768];
	uint32_t n = (uint32_t)xk_test_rounds(32768);
	struct xk_rand r;
	struct tf_out o;
	struct xk_sess *s;

	xk_rand_init(&r, 10, 1);
	tf_up1(&f, params);
	tf_listen(&f);
	s = tf_accept(&f, TF_PEER_PORT, &o);
	for (uint32_t i = 0; i < n; i++)
		single_byte(2 * i + 1, o.seq + 1);
	for (uint32_t i = 0; i < n; i++)
		order[i] = 2 * i;
	shuffle(order, n, &r);
	for (uint32_t i = 0; fill && i < n; i++)
		single_byte(order[i], o.seq + 1);
	verdict(what);
	done(s);
}

static void single_bytes_cost_alike(void)
{
	every_other_byte(NULL, "every other byte, then the rest at random", true);
	every_other_byte("ooo_segments=100000; ooo_bytes=1MiB", "the same, caps far away", false);
	every_other_byte("ooo_segments=100000; ooo_bytes=1MiB", "the same and the rest, by piece", true);
}

/* As many as the caps let wait behind one hole, and the hole filled, by piece; again and again. */
static void pieces_behind_one_hole_cost_alike(void)
{
	uint32_t rounds = (uint32_t)xk_test_rounds(40);
	struct tf_out o;
	struct xk_sess *s;

	tf_up1(&f, NULL);
	tf_listen(&f);
	s = tf_accept(&f, TF_PEER_PORT, &o);
	for (uint32_t i = 0; i < rounds; i++) {
		for (uint32_t k = 1; k < 1025; k++)
			single_byte(i * 1025 + k, o.seq + 1);
		single_byte(i * 1025, o.seq + 1);
		CU_ASSERT_EQUAL(tf_app.ngot, (i + 1) * 1025);
	}
	verdict("1024 pieces behind one hole, by piece");
	done(s);
}

/* ---- fragments ---------------------------------------------------------------------- */

static void fragment(uint32_t src, uint16_t id, uint16_t frag, uint32_t n)
{
	static uint8_t pay[64];
	uint64_t had = nf_drops(&f);

	arrives(nf_ip(d, &(struct nf_ip){ .src = src, .id = id, .frag = frag }, pay, n));
	shared_by(nf_drops(&f) - had);
	if (ncost % 64 == 0)
		pf_forget(&f, "hl");
}

static void fragments_anywhere_cost_alike(void)
{
	unsigned n = (unsigned)xk_test_rounds(100000);
	struct xk_rand r;

	xk_rand_init(&r, 11, 1);
	nf_up1(&f, NULL);
	for (unsigned i = 0; i < n; i++) {
		fragment(NF_PEER + i % 64, (uint16_t)(i / 60000), (uint16_t)(0x2000 | xk_rand_below(&r, 8000)), 8);
		if (i % 20 == 0)
			pf_run(&f, XK_MS);
	}
	verdict("FragmentSmack, 64 datagrams");
	nf_down(&f);
	/* One datagram takes all there is, then one fragment condemns it; again and again. */
	nf_up1(&f, NULL);
	for (unsigned i = 0; i < n; i++) {
		unsigned at = i % 400;

		fragment(NF_PEER, (uint16_t)(i / 400), (uint16_t)(0x2000 | (at == 399 ? 0 : at * 2)), at == 399 ? 16 : 8);
	}
	verdict("datagrams of 399 pieces, condemned by the 400th");
	nf_down(&f);
	/* One of many pieces at a time is the oldest when room is wanted. */
	nf_up1(&f, NULL);
	for (unsigned i = 0; i < n; i++)
		fragment(NF_PEER + i / 300, (uint16_t)(i / 300), (uint16_t)(0x2000 | (i % 300 * 2)), 8);
	verdict("datagrams of 300 pieces that push each other out");
	nf_down(&f);
}

static void new_dawn_costs_alike(void)
{
	unsigned n = (unsigned)xk_test_rounds(131072);

	nf_up1(&f, NULL);
	for (unsigned i = 0; i < n; i++) {
		fragment(NF_PEER, (uint16_t)(i / 2), (uint16_t)(i % 2 ? 8100 : 0x2000), 32);
		if (i % 20 == 0)
			pf_run(&f, XK_MS);
	}
	verdict("New Dawn");
	nf_down(&f);
}

#define T(fn) { #fn, fn }
static CU_TestInfo tests[] = {
	T(selective_acknowledgements_cost_alike), T(their_cost_does_not_grow_with_what_is_in_flight),
	T(single_bytes_cost_alike), T(pieces_behind_one_hole_cost_alike), T(fragments_anywhere_cost_alike),
	T(new_dawn_costs_alike), CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "cost", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void) { return xk_test_main_rcu(suites); }

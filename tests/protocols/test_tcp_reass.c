/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_tcp_reass.c - what arrives out of order: held once, bounded, reported as
 * RFC 2018 and 2883 say, given back byte for byte, and nothing left behind.
 *
 * Every byte tells its place in the stream, which begins shortly before the wrap.
 * A bitmap is the model.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/tcp/sess/tcp_sess.h"
#include "tests/runtime/mem/mem_fixture.h"
#include "tests/support/xk_test.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/vp/xk_vp.h"

#define BASE 0xffffff00u

static struct xk_vp vp;
static struct tcp_node tcp;
static struct xk_graph graph;
static struct xk_node node = { .graph = &graph, .state = &tcp };
static struct xk_rep rep;
static struct tcp_rep trep;
static struct tcp_tune tune;
static struct tcp_sess *ts;
static struct tcp_live live;
static const uint32_t no_shortage;

static void up(void)
{
	fx_setup();
	memset(&rep, 0, sizeof rep);
	memset(&trep, 0, sizeof trep);
	memset(&live, 0, sizeof live);
	xk_rand_init(&vp.rand, 3, 0);
	rep.vp = &vp;
	vp.mem.fill = &no_shortage;
	trep.mem = &vp.mem;
	rep.node = &node;
	rep.state = &trep;
	tune = (struct tcp_tune){ .sack = true, .dsack = true, .ooo_bytes = 1 << 20, .ooo_segments = 10000,
				  .ooo_total = 1u << 30 };
	tcp_reass_init(&rep);
	ts = calloc(1, sizeof *ts);
	ts->s.hot = (uintptr_t)&live.cb;
	ts->s.rep = &rep;
	tcp_cb(ts)->tune = &tune;
	tcp_cb(ts)->flags = TCP_F_SACK;
	tcp_cb(ts)->rcv_nxt = BASE;
}

static void down(void)
{
	tcp_reass_free(ts);
	CU_ASSERT(tcp_cb(ts)->reass == NULL && trep.ooo_bytes == 0 && trep.reass_slab.live == 0);
	free(ts);
	tcp_reass_fini(&rep);
	fx_teardown();
}

static uint8_t byte_at(uint32_t off) { return (uint8_t)(off * 7 + (off >> 8) * 13 + 1); }

/* [off, off + n) of the stream, in pieces of `cut` bytes when it is not 0. */
static struct xk_msg *piece(uint32_t off, uint32_t n, uint32_t cut)
{
	struct xk_msg *m = xk_msg_new(n), *x;

	if (m == NULL)
		return NULL;
	for (uint32_t i = 0; i < n; i++)
		xk_msg_copy_in(m, i, &(uint8_t){ byte_at(off + i) }, 1);
	if (cut != 0 && cut < n && (x = xk_msg_split(m, cut)) != NULL)
		xk_msg_join(m, x);
	return m;
}

static void put(uint32_t off, uint32_t end, bool fin)
{
	tcp_cb(ts)->flags &= ~TCP_F_DSACK;
	tcp_reass_put(ts, piece(off, end - off, 0), BASE + off, fin);
}

static uint64_t drops(unsigned reason) { return rep.drop[reason]; }

/* Takes one message at rcv_nxt: its length, its bytes checked; 0: none. */
static uint32_t get(bool *fin)
{
	struct xk_msg *m = tcp_reass_get(ts, fin);
	uint32_t off = tcp_cb(ts)->rcv_nxt - BASE, n = m != NULL ? m->tot : 0;
	uint8_t buf[4096];

	if (m == NULL)
		return 0;
	CU_ASSERT_FATAL(n <= sizeof buf && xk_msg_copy_out(m, 0, buf, n) == n);
	for (uint32_t i = 0; i < n; i++)
		CU_ASSERT_FATAL(buf[i] == byte_at(off + i));
	tcp_cb(ts)->rcv_nxt += n;
	xk_msg_free(m);
	return n;
}

static uint32_t get_all(bool *fin)
{
	uint32_t n, all = 0;

	*fin = false;
	while (!*fin && (n = get(fin)) != 0)
		all += n;
	return all;
}

/* The blocks as text, "l:r l:r", relative to BASE; a DSACK first, with a '*'. */
static const char *blocks(void)
{
	static char text[200];
	struct tcp_opts o;
	unsigned n = tcp_reass_blocks(tcp_cb(ts), 4, &o);
	int at = 0;

	text[0] = '\0';
	if (tcp_cb(ts)->flags & TCP_F_DSACK)
		at += snprintf(text, sizeof text, "*%u:%u ", tcp_cb(ts)->dsack_l - BASE, tcp_cb(ts)->dsack_r - BASE);
	for (unsigned i = 0; i < n; i++)
		at += snprintf(text + at, sizeof text - (size_t)at, "%u:%u ", o.sack[i].l - BASE, o.sack[i].r - BASE);
	if (at > 0)
		text[at - 1] = '\0';
	return text;
}

/* ---- blocks -------------------------------------------------------------------------- */

static void blocks_are_told_most_recent_first(void)
{
	put(200, 300, false);
	CU_ASSERT_STRING_EQUAL(blocks(), "200:300");
	put(400, 500, false);
	CU_ASSERT_STRING_EQUAL(blocks(), "400:500 200:300");
	put(600, 700, false);
	CU_ASSERT_STRING_EQUAL(blocks(), "600:700 400:500 200:300");
	put(300, 350, false);
	CU_ASSERT_STRING_EQUAL(blocks(), "200:350 600:700 400:500");
	put(550, 600, false);
	CU_ASSERT_STRING_EQUAL(blocks(), "550:700 200:350 400:500");
	put(800, 900, false);
	put(1000, 1100, false);
	CU_ASSERT_STRING_EQUAL(blocks(), "1000:1100 800:900 550:700 200:350");
	put(350, 400, false);
	CU_ASSERT_STRING_EQUAL(blocks(), "200:500 1000:1100 800:900 550:700");
}

static void three_blocks(void)
{
	bool fin;

	tcp_reass_free(ts);
	tcp_cb(ts)->rcv_nxt = BASE + 100;
	put(200, 300, false);
	put(400, 500, false);
	put(600, 700, false);
	CU_ASSERT_EQUAL(get_all(&fin), 0);
}

static void the_first_duplicate_part_is_told_of(void)
{
	three_blocks();
	put(150, 600, false);
	CU_ASSERT_STRING_EQUAL(blocks(), "*200:300 150:700");
	three_blocks();
	put(250, 350, false);
	CU_ASSERT_STRING_EQUAL(blocks(), "*250:300 200:350 600:700 400:500");
	three_blocks();
	put(350, 450, false);
	CU_ASSERT_STRING_EQUAL(blocks(), "*400:450 350:500 600:700 200:300");
	three_blocks();
	put(220, 280, false);
	CU_ASSERT_STRING_EQUAL(blocks(), "*220:280 200:300 600:700 400:500");
	CU_ASSERT_EQUAL(drops(TCP_DROP_DUP), 1);
	three_blocks();
	put(200, 700, false);
	CU_ASSERT_STRING_EQUAL(blocks(), "*200:300 200:700");
	tcp_cb(ts)->tune = &(struct tcp_tune){ .ooo_bytes = 1 << 20, .ooo_segments = 100, .ooo_total = 1 << 30 };
	put(220, 280, false);
	CU_ASSERT_STRING_EQUAL(blocks(), "200:700");
	tcp_cb(ts)->tune = &tune;
}

static void what_came_again_in_order_is_told_of_when_it_is_found(void)
{
	bool fin;

	three_blocks();
	tcp_cb(ts)->rcv_nxt = BASE + 250;             /* 100:250 came in order */
	CU_ASSERT_EQUAL(get_all(&fin), 50);
	CU_ASSERT_STRING_EQUAL(blocks(), "*200:250 600:700 400:500");
	tcp_cb(ts)->flags &= ~TCP_F_DSACK;
	tcp_cb(ts)->rcv_nxt = BASE + 800;
	CU_ASSERT_EQUAL(get_all(&fin), 0);
	CU_ASSERT_STRING_EQUAL(blocks(), "*400:500");
	CU_ASSERT_PTR_NULL(tcp_cb(ts)->reass);
}

/* ---- a model --------------------------------------------------------------------------- */

#define SPAN 3000u
static bool held[SPAN + 1];

static bool is_run(uint32_t l, uint32_t r)
{
	for (uint32_t i = l; i < r; i++)
		if (!held[i])
			return false;
	return l < r && (l == 0 || !held[l - 1]) && !held[r];
}

static unsigned runs(void)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < SPAN; i++)
		n += held[i] && (i == 0 || !held[i - 1]);
	return n;
}

static void check_blocks(void)
{
	struct tcp_opts o;
	unsigned n = tcp_reass_blocks(tcp_cb(ts), 4, &o), want = runs();

	CU_ASSERT_EQUAL(n, want < 4 ? want : 4);
	for (unsigned i = 0; i < n; i++) {
		CU_ASSERT(is_run(o.sack[i].l - BASE, o.sack[i].r - BASE));
		for (unsigned k = 0; k < i; k++)
			CU_ASSERT_NOT_EQUAL(o.sack[k].l, o.sack[i].l);
	}
}

static uint32_t held_bytes(void)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < SPAN; i++)
		n += held[i];
	return n;
}

/* In order: as input would have it, bytes at rcv_nxt pass by the store. */
static void in_order(uint32_t end)
{
	bool fin;

	for (uint32_t i = tcp_cb(ts)->rcv_nxt - BASE; i < end; i++)
		held[i] = false;
	tcp_cb(ts)->rcv_nxt = BASE + end;
	get_all(&fin);
	for (uint32_t i = 0; i < tcp_cb(ts)->rcv_nxt - BASE; i++)
		held[i] = false;
	CU_ASSERT(tcp_cb(ts)->rcv_nxt - BASE >= end && !held[tcp_cb(ts)->rcv_nxt - BASE]);
}

static void one_stream(struct xk_rand *r)
{
	memset(held, 0, sizeof held);
	tcp_cb(ts)->rcv_nxt = BASE;
	while (tcp_cb(ts)->rcv_nxt - BASE < SPAN) {
		uint32_t nxt = tcp_cb(ts)->rcv_nxt - BASE, l, n;

		if (xk_rand_below(r, 12) == 0) {
			in_order(nxt + 1 + (uint32_t)xk_rand_below(r, SPAN - nxt < 60 ? SPAN - nxt : 60));
			continue;
		}
		l = nxt + 1 + (uint32_t)xk_rand_below(r, 200);
		if (l >= SPAN)
			continue;
		n = 1 + (uint32_t)xk_rand_below(r, 90);
		n = n < SPAN - l ? n : SPAN - l;
		tcp_reass_put(ts, piece(l, n, (uint32_t)xk_rand_below(r, 30)), BASE + l, false);
		memset(held + l, 1, n);
		check_blocks();
		CU_ASSERT_EQUAL(tcp_reass_bytes(tcp_cb(ts), NULL), held_bytes());
	}
	CU_ASSERT_PTR_NULL(tcp_cb(ts)->reass);
}

static void any_order_and_overlap_comes_out_as_the_model_says(void)
{
	struct xk_rand r;

	for (unsigned long seed = 0; seed < xk_test_rounds(60); seed++) {
		xk_rand_init(&r, seed, 1);
		one_stream(&r);
	}
}

/* ---- FIN ---------------------------------------------------------------------------------- */

static void a_fin_waits_for_its_bytes(void)
{
	bool fin;

	put(10, 20, true);
	CU_ASSERT_EQUAL(get_all(&fin), 0);
	CU_ASSERT(!fin);
	tcp_cb(ts)->rcv_nxt = BASE + 10;
	CU_ASSERT(get_all(&fin) == 10 && fin);
	CU_ASSERT_PTR_NULL(tcp_cb(ts)->reass);
	/* Alone. */
	put(50, 50, true);
	CU_ASSERT(tcp_cb(ts)->reass != NULL && blocks()[0] == '\0');
	tcp_cb(ts)->rcv_nxt = BASE + 50;
	CU_ASSERT(get_all(&fin) == 0 && fin);
	CU_ASSERT_PTR_NULL(tcp_cb(ts)->reass);
}

static void nothing_is_believed_behind_a_fin_nor_a_fin_before_what_is_held(void)
{
	bool fin;

	put(10, 20, true);
	put(15, 40, false);
	CU_ASSERT_STRING_EQUAL(blocks(), "*15:20 10:20");
	put(30, 40, false);
	CU_ASSERT_STRING_EQUAL(blocks(), "10:20");
	tcp_reass_free(ts);
	put(30, 40, false);
	put(10, 20, true);
	tcp_cb(ts)->rcv_nxt = BASE + 10;
	CU_ASSERT(get_all(&fin) == 10 && !fin);
	tcp_cb(ts)->rcv_nxt = BASE + 30;
	CU_ASSERT(get_all(&fin) == 10 && !fin);
}

/* ---- caps ----------------------------------------------------------------------------------- */

static void segments_bytes_and_memory_are_capped_and_the_newest_is_refused(void)
{
	uint32_t n;

	tune.ooo_segments = 100;
	for (uint32_t i = 0; i < 200; i++)
		put(2 * i + 1, 2 * i + 2, false);
	CU_ASSERT(tcp_reass_bytes(tcp_cb(ts), &n) == 100 && n == 100);
	CU_ASSERT_EQUAL(drops(TCP_DROP_OOO_FULL), 100);
	CU_ASSERT(tcp_reass_bytes(tcp_cb(ts), NULL) == 100);
	/* What is held already costs nothing. */
	put(1, 2, false);
	CU_ASSERT_EQUAL(drops(TCP_DROP_DUP), 1);
	tcp_reass_free(ts);
	tune.ooo_segments = 10000;
	tune.ooo_bytes = 1000;
	put(100, 1000, false);
	put(2000, 2101, false);
	CU_ASSERT_EQUAL(tcp_reass_bytes(tcp_cb(ts), NULL), 900);
	put(2000, 2100, false);
	CU_ASSERT_EQUAL(tcp_reass_bytes(tcp_cb(ts), NULL), 1000);
	tcp_reass_free(ts);
	tune.ooo_total = 50 * XK_MEM_SMALL_SIZE;
	for (uint32_t i = 0; i < 200; i++)
		put(2 * i + 1, 2 * i + 2, false);
	tcp_reass_bytes(tcp_cb(ts), &n);
	CU_ASSERT(n == 50 && trep.ooo_bytes == 50 * XK_MEM_SMALL_SIZE);
}

static void every_other_byte_of_64_kib_and_then_the_rest_at_random(void)
{
	static uint32_t order[32768];
	struct xk_rand r;
	uint32_t n;
	bool fin;

	tune.ooo_segments = 40000;
	for (uint32_t i = 0; i < 32768; i++) {
		tcp_reass_put(ts, piece(2 * i + 1, 1, 0), BASE + 2 * i + 1, false);
		order[i] = 2 * i;
	}
	CU_ASSERT(tcp_reass_bytes(tcp_cb(ts), &n) == 32768 && n == 32768);
	xk_rand_init(&r, 1, 1);
	for (uint32_t i = 32767; i > 0; i--) {
		uint32_t k = (uint32_t)xk_rand_below(&r, i + 1), x = order[i];

		order[i] = order[k];
		order[k] = x;
	}
	tune.ooo_segments = 65536;
	for (uint32_t i = 0; i < 32768; i++)
		tcp_reass_put(ts, piece(order[i], 1, 0), BASE + order[i], false);
	CU_ASSERT_EQUAL(get_all(&fin), 65536);
	CU_ASSERT_PTR_NULL(tcp_cb(ts)->reass);
	CU_ASSERT_EQUAL(drops(TCP_DROP_OOO_FULL), 0);
}

/* ---- no memory --------------------------------------------------------------------------------- */

static void any_allocation_may_fail(void)
{
	for (uint64_t k = 1; k < 60; k++) {
		struct xk_msg *m[6];
		bool fin;

		tcp_cb(ts)->rcv_nxt = BASE;
		for (unsigned i = 0; i < 6; i++)
			m[i] = piece(10 + i * 37 % 100, 30, i % 2 ? 7 : 0);
		xk_memvp_starve(&fx.vp[0], true);
		xk_mem_fail_after(k);
		for (unsigned i = 0; i < 6; i++)
			tcp_reass_put(ts, m[i], BASE + 10 + i * 37 % 100, i == 5);
		tcp_cb(ts)->rcv_nxt = BASE + 15;
		get_all(&fin);
		xk_mem_fail_after(0);
		xk_memvp_starve(&fx.vp[0], false);
		tcp_reass_free(ts);
		CU_ASSERT(trep.ooo_bytes == 0 && trep.reass_slab.live == 0);
	}
}

#define T(f) { #f, f }
static CU_TestInfo told[] = {
	T(blocks_are_told_most_recent_first),
	T(the_first_duplicate_part_is_told_of),
	T(what_came_again_in_order_is_told_of_when_it_is_found),
	CU_TEST_INFO_NULL
};
static CU_TestInfo kept[] = {
	T(any_order_and_overlap_comes_out_as_the_model_says),
	T(a_fin_waits_for_its_bytes),
	T(nothing_is_believed_behind_a_fin_nor_a_fin_before_what_is_held),
	T(segments_bytes_and_memory_are_capped_and_the_newest_is_refused),
	T(every_other_byte_of_64_kib_and_then_the_rest_at_random),
	T(any_allocation_may_fail),
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "tcp reassembly, blocks", NULL, NULL, up, down, told },
	{ "tcp reassembly", NULL, NULL, up, down, kept },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}

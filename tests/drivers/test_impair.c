/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_impair.c - the impaired link: what it does to frames, and what it never
 * does.
 *
 * Promises: the same seed gives the same faults frame by frame; fractions hold
 * within binomial bounds; a frame is overtaken by at most reorder_depth others;
 * a corrupted frame differs in exactly one bit; delays are never cut short and
 * keep the order; nothing is lost but what is counted; frames that are listed meet
 * exactly the fate that the list says.
 */
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/xk_bytes.h"
#include "tests/protocols/proto_fixture.h"
#include "tests/support/xk_test.h"

extern const struct xk_proto xk_proto_impair;

#define LEN 100u
#define SIGMAS 4.5               /* chance of a false alarm: 7e-6, and the seed is fixed */

static struct pf f;
static struct xk_sess *s[4];

static void up(unsigned nvps, const char *params)
{
	const struct pf_spec g[] = {
		{ &pf_driver, "d", NULL, NULL }, { &xk_proto_impair, "i", "d", params },
		{ &pf_upper, "u", "i", "enable=false" }, { NULL, NULL, NULL, NULL } };

	pf_up(&f, nvps, g);
	for (unsigned vp = 0; vp < nvps; vp++) {
		struct xk_parts ps;

		xk_parts_init(&ps, 0);
		s[vp] = pf_open(&f, "u", vp, &ps, NULL);
		CU_ASSERT_PTR_NOT_NULL_FATAL(s[vp]);
	}
}

static void down(void)
{
	for (unsigned vp = 0; vp < f.g->vps->nvps; vp++)
		pf_close(&f, vp, s[vp]);
	pf_down(&f);
}

/* Frame number i: its number, then a pattern. */
static void frame(uint8_t b[LEN], uint32_t i)
{
	for (unsigned k = 0; k < LEN; k++)
		b[k] = (uint8_t)(k + i);
	xk_put_be32(b, i);
}

static void send(unsigned vp, uint32_t i)
{
	uint8_t b[LEN];

	frame(b, i);
	pf_push(&f, vp, s[vp], b, LEN);
}

static void receive(unsigned vp, uint32_t i)
{
	uint8_t b[LEN];

	frame(b, i);
	pf_inject(&f, "d", vp, b, LEN);
}

static uint32_t sent_no(unsigned k)
{
	return xk_be32(pf_pushed(&f, "d", k)->bytes);
}

static bool is_intact(const struct pf_rec *r)
{
	uint8_t b[LEN];

	if (r->len != LEN)
		return false;
	frame(b, xk_be32(r->bytes));
	return memcmp(r->bytes, b, LEN) == 0;
}

static bool binomial(uint64_t got, double n, double p)
{
	return fabs((double)got - n * p) <= SIGMAS * sqrt(n * p * (1 - p));
}

/* ---- nothing asked for, nothing done --------------------------------------------- */

static void a_good_link_passes_everything_both_ways_at_once(void)
{
	up(2, NULL);
	for (uint32_t i = 0; i < 50; i++) {
		send(i % 2, i);
		receive(i % 2, i);
		CU_ASSERT_EQUAL_FATAL(pf_npushed(&f, "d"), i + 1);
		CU_ASSERT_EQUAL_FATAL(pf_ngot(&f, "u"), i + 1);
		CU_ASSERT_EQUAL(sent_no(i), i);
		CU_ASSERT(is_intact(pf_pushed(&f, "d", i)) && is_intact(pf_got(&f, "u", i)));
		CU_ASSERT_EQUAL(pf_got(&f, "u", i)->vp, i % 2);
	}
	CU_ASSERT_EQUAL(pf_drops(&f, "i", NULL), 0);
	down();
}

static void asks_the_driver_what_it_does_not_know(void)
{
	uint32_t v = 0;

	up(1, NULL);
	pf_enter(&f, 0);
	CU_ASSERT_EQUAL(xk_control(pf_rep(&f, "i", 0), XK_CTL_GETMAXPACKET, &v, sizeof v), 4);
	CU_ASSERT_EQUAL(v, 1514);
	CU_ASSERT_EQUAL(xk_sess_control(s[0], XK_CTL_GETMAXPACKET, &v, sizeof v), 4);
	pf_leave(&f, 0);
	down();
}

static void serves_one_opener_and_can_be_opened_again(void)
{
	struct xk_parts ps;
	int err;

	up(1, NULL);
	xk_parts_init(&ps, 0);
	CU_ASSERT_PTR_NULL(pf_open(&f, "u", 0, &ps, &err));
	CU_ASSERT_EQUAL(err, XK_E_BUSY);
	for (unsigned i = 0; i < 100; i++) {
		pf_close(&f, 0, s[0]);
		s[0] = pf_open(&f, "u", 0, &ps, NULL);
		CU_ASSERT_PTR_NOT_NULL_FATAL(s[0]);
	}
	CU_ASSERT_EQUAL(pf_sessions(&f, "d"), 1);
	CU_ASSERT_EQUAL(pf_sessions(&f, "i"), 1);
	down();
}

/* ---- loss --------------------------------------------------------------------------- */

static void loses_the_fraction_within_binomial_bounds(void)
{
	static const char *const text[] = { "loss=0.1%", "loss=1%", "loss=20%" };
	static const double p[] = { .001, .01, .2 };
	enum { N = 20000 };

	for (unsigned k = 0; k < 3; k++) {
		up(1, text[k]);
		for (uint32_t i = 0; i < N; i++)
			send(0, i);
		CU_ASSERT(binomial(pf_drops(&f, "i", "lost"), N, p[k]));
		CU_ASSERT_EQUAL(pf_npushed(&f, "d") + pf_drops(&f, "i", "lost"), N);
		for (unsigned i = 1; i < pf_npushed(&f, "d"); i++)
			CU_ASSERT_FATAL(sent_no(i) > sent_no(i - 1));
		down();
	}
	up(1, "loss=100%");
	send(0, 1);
	CU_ASSERT_EQUAL(pf_npushed(&f, "d"), 0);
	down();
}

static void impairs_only_the_direction_asked_for(void)
{
	up(1, "loss=100%; dir=up");
	send(0, 1);
	receive(0, 1);
	CU_ASSERT_EQUAL(pf_npushed(&f, "d"), 1);
	CU_ASSERT_EQUAL(pf_ngot(&f, "u"), 0);
	down();
	up(1, "loss=100%; dir=down");
	send(0, 1);
	receive(0, 1);
	CU_ASSERT_EQUAL(pf_npushed(&f, "d"), 0);
	CU_ASSERT_EQUAL(pf_ngot(&f, "u"), 1);
	down();
}

/* ---- determinism ----------------------------------------------------------------------- */

/* A hash over everything that came out, with its time. */
static uint64_t everything(const char *params)
{
	uint64_t h = 14695981039346656037ull;

	up(2, params);
	for (uint32_t i = 0; i < 3000; i++) {
		send(i % 2, i);
		receive((i + 1) % 2, i);
		if (i % 16 == 0)
			pf_run(&f, XK_MS);
		h = h * 31 + pf_npushed(&f, "d") * 65537 + pf_ngot(&f, "u");
	}
	pf_run(&f, XK_SEC);
	for (unsigned i = 0; i < pf_npushed(&f, "d"); i++)
		for (unsigned k = 0; k < LEN; k++)
			h = (h ^ pf_pushed(&f, "d", i)->bytes[k]) * 1099511628211ull;
	for (unsigned i = 0; i < pf_ngot(&f, "u"); i++)
		for (unsigned k = 0; k < LEN; k++)
			h = (h ^ pf_got(&f, "u", i)->bytes[k]) * 1099511628211ull;
	down();
	return h;
}

#define ALL "loss=5%; dup=5%; reorder=5%; corrupt=5%; delay=3ms; jitter=5ms; rate=1Gbit/s; seed="

static void the_same_seed_does_the_same_and_another_does_not(void)
{
	uint64_t a = everything(ALL "7");

	CU_ASSERT_EQUAL(everything(ALL "7"), a);
	CU_ASSERT_NOT_EQUAL(everything(ALL "8"), a);
	CU_ASSERT_EQUAL(everything(ALL "0"), everything(ALL "0"));  /* the graph's */
}

static void each_vp_and_direction_draws_its_own_numbers(void)
{
	char lost[4][200];
	unsigned before = 0;

	up(4, "loss=50%; seed=3");
	for (unsigned vp = 0; vp < 4; vp++) {
		for (uint32_t i = 0; i < 200; i++) {
			send(vp, i);
			lost[vp][i] = pf_npushed(&f, "d") == before;
			before = pf_npushed(&f, "d");
		}
	}
	for (unsigned a = 0; a < 4; a++)
		for (unsigned b = 0; b < a; b++)
			CU_ASSERT_NOT_EQUAL(memcmp(lost[a], lost[b], sizeof lost[a]), 0);
	down();
}

/* ---- duplication -------------------------------------------------------------------------- */

static void doubles_whole_frames_and_counts_them(void)
{
	enum { N = 5000 };
	uint64_t doubled;
	unsigned twice = 0;

	up(1, "dup=10%");
	for (uint32_t i = 0; i < N; i++)
		send(0, i);
	doubled = pf_count(&f, "i", "doubled");
	CU_ASSERT(binomial(doubled, N, .1));
	CU_ASSERT_EQUAL_FATAL(pf_npushed(&f, "d"), N + doubled);
	for (unsigned i = 0; i < pf_npushed(&f, "d"); i++) {
		CU_ASSERT(is_intact(pf_pushed(&f, "d", i)));
		twice += i != 0 && sent_no(i) == sent_no(i - 1);
	}
	CU_ASSERT_EQUAL(twice, doubled);
	down();
}

/* ---- reordering ------------------------------------------------------------------------------ */

static void check_depth(const char *params, unsigned depth, double p)
{
	enum { N = 4000 };
	unsigned at[N], displaced = 0, worst = 0;

	up(1, params);
	for (uint32_t i = 0; i < N; i++)
		send(0, i);
	pf_run(&f, XK_SEC);                              /* the last ones wait for nobody */
	CU_ASSERT_EQUAL_FATAL(pf_npushed(&f, "d"), N);
	for (unsigned i = 0; i < N; i++)
		at[sent_no(i)] = i;
	for (unsigned i = 0; i < N; i++) {
		unsigned overtaken = 0;

		for (unsigned k = i + 1; k < N && k <= i + 3 * depth + 3; k++)
			overtaken += at[k] < at[i];
		worst = overtaken > worst ? overtaken : worst;
		displaced += overtaken != 0;
	}
	CU_ASSERT(worst <= depth);
	CU_ASSERT_EQUAL(worst, depth);                   /* with so many, the bound is met */
	CU_ASSERT(displaced <= pf_count(&f, "i", "reordered"));
	CU_ASSERT(binomial(pf_count(&f, "i", "reordered"), N, p) || depth == 1);
	down();
}

static void no_frame_is_overtaken_by_more_than_the_depth(void)
{
	check_depth("reorder=10%; reorder_depth=1", 1, .1);
	check_depth("reorder=10%; reorder_depth=3", 3, .1);
	check_depth("reorder=5%; reorder_depth=20", 20, .05);
}

static void a_held_frame_goes_when_nothing_overtakes_it(void)
{
	up(1, "reorder=100%; reorder_depth=5; hold=20ms");
	send(0, 1);
	CU_ASSERT_EQUAL(pf_npushed(&f, "d"), 0);
	pf_run(&f, 19 * XK_MS);
	CU_ASSERT_EQUAL(pf_npushed(&f, "d"), 0);
	pf_run(&f, 3 * XK_MS);
	CU_ASSERT_EQUAL(pf_npushed(&f, "d"), 1);
	down();
}

/* ---- corruption -------------------------------------------------------------------------------- */

static unsigned bits_changed(const struct pf_rec *r, uint32_t no)
{
	uint8_t b[LEN];
	unsigned n = 0;

	frame(b, no);
	for (unsigned k = 0; k < LEN; k++)
		n += (unsigned)__builtin_popcount(b[k] ^ r->bytes[k]);
	return n;
}

static void changes_exactly_one_bit_of_the_frames_it_counts(void)
{
	enum { N = 4000 };
	unsigned changed = 0, where[LEN * 8 / 100] = { 0 };

	up(1, "corrupt=25%");
	for (uint32_t i = 0; i < N; i++)
		send(0, i);
	CU_ASSERT_EQUAL_FATAL(pf_npushed(&f, "d"), N);
	for (uint32_t i = 0; i < N; i++) {
		unsigned n = bits_changed(pf_pushed(&f, "d", i), i);

		CU_ASSERT_FATAL(n <= 1);
		changed += n;
		for (unsigned k = 0; n != 0 && k < LEN; k++) {
			uint8_t b[LEN];

			frame(b, i);
			if (b[k] != pf_pushed(&f, "d", i)->bytes[k])
				where[k * 8 / 100]++;
		}
	}
	CU_ASSERT_EQUAL(changed, pf_count(&f, "i", "corrupted"));
	CU_ASSERT(binomial(changed, N, .25));
	for (unsigned k = 0; k < XK_ARRAY_LEN(where); k++)   /* anywhere in the frame */
		CU_ASSERT(binomial(where[k], changed, 1. / XK_ARRAY_LEN(where)));
	down();
}

static void leaves_the_other_copy_of_a_shared_frame_alone(void)
{
	struct xk_msg *m, *twin;
	uint8_t b[LEN], out[LEN];

	up(1, "corrupt=100%");
	frame(b, 9);
	pf_enter(&f, 0);
	m = pf_msg(b, LEN);
	twin = xk_msg_share(m);
	xk_push(s[0], m);
	CU_ASSERT_EQUAL(xk_msg_copy_out(twin, 0, out, LEN), LEN);
	CU_ASSERT_EQUAL(memcmp(out, b, LEN), 0);
	xk_msg_free(twin);
	pf_leave(&f, 0);
	CU_ASSERT_EQUAL(bits_changed(pf_pushed(&f, "d", 0), 9), 1);
	down();
}

static void an_empty_frame_cannot_be_corrupted(void)
{
	up(1, "corrupt=100%; dup=100%");
	pf_push(&f, 0, s[0], "", 0);
	CU_ASSERT_EQUAL(pf_npushed(&f, "d"), 2);
	CU_ASSERT_EQUAL(pf_count(&f, "i", "corrupted"), 0);
	down();
}

/* ---- the line --------------------------------------------------------------------------------------- */

static void delays_by_the_delay_and_at_most_a_tick_more(void)
{
	up(1, "delay=30ms");
	send(0, 1);
	receive(0, 2);
	pf_run(&f, 30 * XK_MS - 1);
	CU_ASSERT_EQUAL(pf_npushed(&f, "d") + pf_ngot(&f, "u"), 0);
	pf_run(&f, XK_MS + 1);
	CU_ASSERT_EQUAL(pf_npushed(&f, "d"), 1);
	CU_ASSERT_EQUAL(pf_ngot(&f, "u"), 1);
	down();
}

static void jitter_keeps_the_order(void)
{
	enum { N = 500 };

	up(1, "delay=5ms; jitter=50ms");
	for (uint32_t i = 0; i < N; i++) {
		send(0, i);
		pf_run(&f, XK_MS);
	}
	pf_run(&f, 100 * XK_MS);
	CU_ASSERT_EQUAL_FATAL(pf_npushed(&f, "d"), N);
	for (unsigned i = 0; i < N; i++)
		CU_ASSERT_EQUAL(sent_no(i), i);
	down();
}

static void the_rate_spreads_frames_over_time(void)
{
	up(1, "rate=800kbit/s");                         /* 1 ms for each frame of 100 bytes */
	for (uint32_t i = 0; i < 100; i++)
		send(0, i);
	pf_run(&f, 50 * XK_MS + XK_MS / 2);
	CU_ASSERT(pf_npushed(&f, "d") >= 49 && pf_npushed(&f, "d") <= 50);
	pf_run(&f, 60 * XK_MS);
	CU_ASSERT_EQUAL(pf_npushed(&f, "d"), 100);
	down();
}

static void the_line_holds_no_more_than_its_queue(void)
{
	up(1, "delay=10ms; queue=7");
	for (uint32_t i = 0; i < 20; i++)
		send(0, i);
	CU_ASSERT_EQUAL(pf_drops(&f, "i", "queue_full"), 13);
	pf_run(&f, 20 * XK_MS);
	CU_ASSERT_EQUAL_FATAL(pf_npushed(&f, "d"), 7);
	CU_ASSERT_EQUAL(sent_no(6), 6);
	for (uint32_t i = 20; i < 27; i++)               /* round the ring */
		send(0, i);
	pf_run(&f, 20 * XK_MS);
	CU_ASSERT_EQUAL_FATAL(pf_npushed(&f, "d"), 14);
	CU_ASSERT_EQUAL(sent_no(13), 26);
	down();
}

static void frames_on_the_line_are_freed_at_the_end(void)
{
	up(4, "delay=1s; reorder=50%; reorder_depth=100");
	for (uint32_t i = 0; i < 200; i++) {
		send(i % 4, i);
		receive(i % 4, i);
	}
	CU_ASSERT_EQUAL(pf_npushed(&f, "d"), 0);
	down();                                          /* asserts that nothing leaks */
}

static void closing_empties_the_line(void)
{
	struct xk_parts ps;

	up(1, "delay=1s");
	send(0, 1);
	receive(0, 1);
	pf_close(&f, 0, s[0]);
	xk_parts_init(&ps, 0);
	s[0] = pf_open(&f, "u", 0, &ps, NULL);
	pf_run(&f, 2 * XK_SEC);
	CU_ASSERT_EQUAL(pf_npushed(&f, "d") + pf_ngot(&f, "u"), 0);
	down();
}

static void survives_the_failure_of_every_allocation(void)
{
	const struct pf_spec g[] = {
		{ &pf_driver, "d", NULL, NULL }, { &xk_proto_impair, "i", "d", "delay=5ms; dup=50%; corrupt=50%; fates=9 lost,2 doubled" },
		{ &pf_upper, "u", "i", "enable=false" }, { NULL, NULL, NULL, NULL } };

	for (uint64_t k = 1; k < 1000; k++) {
		struct xk_parts ps;
		bool ok;

		xk_mem_fail_after(k);
		ok = pf_up_try(&f, 2, g);
		xk_parts_init(&ps, 0);
		s[0] = ok ? pf_open(&f, "u", 0, &ps, NULL) : NULL;
		for (uint32_t i = 0; s[0] != NULL && i < 20; i++)
			send(0, i);
		ok = ok && xk_mem_tries() < k;
		xk_mem_fail_after(0);
		if (s[0] != NULL)
			pf_close(&f, 0, s[0]);
		pf_down(&f);
		if (ok)
			return;
	}
	CU_FAIL("never came through");
}

/* ---- fates ------------------------------------------------------------------------- */

static void out_is(const unsigned *want, unsigned n)
{
	CU_ASSERT_EQUAL_FATAL(pf_npushed(&f, "d"), n);
	for (unsigned i = 0; i < n; i++)
		CU_ASSERT_EQUAL(sent_no(i), want[i]);
}

static void in_is(const unsigned *want, unsigned n)
{
	CU_ASSERT_EQUAL_FATAL(pf_ngot(&f, "u"), n);
	for (unsigned i = 0; i < n; i++)
		CU_ASSERT_EQUAL(xk_be32(pf_got(&f, "u", i)->bytes), want[i]);
}

static void frames_of_the_list_meet_their_fates_exactly(void)
{
	static const unsigned out[] = { 1, 2, 4, 5, 5, 6, 9, 8, 7, 12, 13, 14 };
	static const unsigned in[] = { 1, 2, 4, 5, 5, 6, 9, 8, 7, 10, 11, 13, 14 };

	up(1, "fates=7 late 2,3 lost,5 doubled,8 late 1,down 10-11 lost,up 12 lost");
	for (uint32_t i = 1; i <= 14; i++) {
		send(0, i);
		receive(0, i);
	}
	out_is(out, XK_ARRAY_LEN(out));
	in_is(in, XK_ARRAY_LEN(in));
	for (unsigned i = 0; i < XK_ARRAY_LEN(out); i++)
		CU_ASSERT(is_intact(pf_pushed(&f, "d", i)));
	CU_ASSERT_EQUAL(pf_drops(&f, "i", "lost"), 5);
	CU_ASSERT_EQUAL(pf_count(&f, "i", "doubled"), 2);
	CU_ASSERT_EQUAL(pf_count(&f, "i", "reordered"), 4);
	down();
}

static void each_vp_counts_its_own_frames_for_the_fates(void)
{
	static const unsigned out[] = { 1, 1, 3, 3 };

	up(2, "fates=2 lost");
	for (uint32_t i = 1; i <= 3; i++) {
		send(0, i);
		send(1, i);
	}
	out_is(out, 4);
	down();
}

static void a_fate_stands_before_chance(void)
{
	static const unsigned out[] = { 2, 2, 4 };

	up(1, "loss=100%; corrupt=100%; fates=2 doubled,4 late 1");
	for (uint32_t i = 1; i <= 5; i++)
		send(0, i);
	CU_ASSERT_EQUAL(pf_npushed(&f, "d"), 2);
	pf_run(&f, 30 * XK_MS);          /* whom nobody passes goes after `hold` */
	out_is(out, 3);
	CU_ASSERT(is_intact(pf_pushed(&f, "d", 0)));
	down();
}

static void of_two_late_ones_that_leave_at_once_one_goes_behind_the_other(void)
{
	static const unsigned out[] = { 3, 4, 1, 2, 5 };

	up(1, "fates=1-2 late 2; dir=down");
	for (uint32_t i = 1; i <= 5; i++) {
		send(0, i);
		receive(0, i);
	}
	out_is(out, 5);
	CU_ASSERT_EQUAL(pf_ngot(&f, "u"), 5);
	CU_ASSERT_EQUAL(xk_be32(pf_got(&f, "u", 0)->bytes), 1);
	down();
}

static void no_more_than_a_thousand_are_held_for_their_fate(void)
{
	enum { HELD = 1000 };

	up(1, "fates=down 1-1000000 late 1");
	for (uint32_t i = 1; i <= HELD; i++)
		send(0, i);
	CU_ASSERT_EQUAL(pf_npushed(&f, "d"), 0);
	send(0, HELD + 1);               /* and by that all have been passed */
	CU_ASSERT_EQUAL_FATAL(pf_npushed(&f, "d"), HELD + 1);
	CU_ASSERT_EQUAL(sent_no(0), HELD + 1);
	for (unsigned i = 1; i <= HELD; i++)
		CU_ASSERT_EQUAL_FATAL(sent_no(i), i);
	CU_ASSERT_EQUAL(pf_count(&f, "i", "reordered"), HELD);
	down();
}

static CU_TestInfo tests[] = {
	{ "a good link passes everything both ways at once", a_good_link_passes_everything_both_ways_at_once },
	{ "asks the driver what it does not know", asks_the_driver_what_it_does_not_know },
	{ "serves one opener and can be opened again", serves_one_opener_and_can_be_opened_again },
	{ "loses the fraction within binomial bounds", loses_the_fraction_within_binomial_bounds },
	{ "impairs only the direction asked for", impairs_only_the_direction_asked_for },
	{ "the same seed does the same and another does not", the_same_seed_does_the_same_and_another_does_not },
	{ "each VP and direction draws its own numbers", each_vp_and_direction_draws_its_own_numbers },
	{ "doubles whole frames and counts them", doubles_whole_frames_and_counts_them },
	{ "no frame is overtaken by more than the depth", no_frame_is_overtaken_by_more_than_the_depth },
	{ "a held frame goes when nothing overtakes it", a_held_frame_goes_when_nothing_overtakes_it },
	{ "changes exactly one bit of the frames it counts", changes_exactly_one_bit_of_the_frames_it_counts },
	{ "leaves the other copy of a shared frame alone", leaves_the_other_copy_of_a_shared_frame_alone },
	{ "an empty frame cannot be corrupted", an_empty_frame_cannot_be_corrupted },
	{ "delays by the delay and at most a tick more", delays_by_the_delay_and_at_most_a_tick_more },
	{ "jitter keeps the order", jitter_keeps_the_order },
	{ "the rate spreads frames over time", the_rate_spreads_frames_over_time },
	{ "the line holds no more than its queue", the_line_holds_no_more_than_its_queue },
	{ "frames on the line are freed at the end", frames_on_the_line_are_freed_at_the_end },
	{ "closing empties the line", closing_empties_the_line },
	{ "frames of the list meet their fates exactly", frames_of_the_list_meet_their_fates_exactly },
	{ "each VP counts its own frames for the fates", each_vp_counts_its_own_frames_for_the_fates },
	{ "a fate stands before chance", a_fate_stands_before_chance },
	{ "of two late ones that leave at once one goes behind the other", of_two_late_ones_that_leave_at_once_one_goes_behind_the_other },
	{ "no more than a thousand are held for their fate", no_more_than_a_thousand_are_held_for_their_fate },
	{ "survives the failure of every allocation", survives_the_failure_of_every_allocation },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = { { .pName = "impair", .pTests = tests }, CU_SUITE_INFO_NULL };

int main(void)
{
	return xk_test_main(suites);
}

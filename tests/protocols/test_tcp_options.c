/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_tcp_options.c - options of TCP segments: what is built has the bytes that
 * other stacks expect and parses to what it was; whatever else comes is parsed in
 * bounded time and read within its bounds.
 */
#include <stdlib.h>
#include <string.h>

#include "protocols/tcp/core/tcp_core.h"
#include "tests/support/xk_test.h"

/* Parses exactly n bytes from a block of exactly n, so that a sanitizer sees any
 * read beyond. */
static bool parse(struct tcp_opts *o, const void *p, uint32_t n)
{
	uint8_t *copy = calloc(1, n != 0 ? n : 1);
	bool good;

	memcpy(copy, p, n);
	memset(o, 0xa5, sizeof *o);
	good = tcp_opts_parse(o, copy, n);
	free(copy);
	return good;
}
#define PARSE(o, ...) parse(o, (const uint8_t[]){ __VA_ARGS__ }, sizeof (const uint8_t[]){ __VA_ARGS__ })

static bool built(const struct tcp_opts *o, enum tcp_synopts order, const void *want, uint32_t n)
{
	uint8_t p[64];

	memset(p, 0xee, sizeof p);
	return tcp_opts_syn(p, o, order) == n && memcmp(p, want, n) == 0 && p[n] == 0xee;
}
#define BUILT(o, order, ...) \
	built(o, order, (const uint8_t[]){ __VA_ARGS__ }, sizeof (const uint8_t[]){ __VA_ARGS__ })
#define TS100 8, 10, 0, 0, 0, 100, 0, 0, 0, 0

/* ---- building --------------------------------------------------------------------- */

static void syn_of_bsd_is_mss_nop_wscale_sackok_ts(void)
{
	struct tcp_opts o = { .have = TCP_O_MSS | TCP_O_WSCALE | TCP_O_SACKOK | TCP_O_TS,
			      .mss = 1460, .wscale = 6, .tsval = 100 };

	CU_ASSERT(BUILT(&o, TCP_SYNOPTS_BSD, 2, 4, 5, 180, 1, 3, 3, 6, 4, 2, TS100));
	o.have = TCP_O_MSS | TCP_O_SACKOK;
	CU_ASSERT(BUILT(&o, TCP_SYNOPTS_BSD, 2, 4, 5, 180, 4, 2, 0, 0));
	o.have = TCP_O_MSS | TCP_O_SACKOK | TCP_O_TS;
	CU_ASSERT(BUILT(&o, TCP_SYNOPTS_BSD, 2, 4, 5, 180, 4, 2, TS100));
	o.have = TCP_O_MSS | TCP_O_TS;
	CU_ASSERT(BUILT(&o, TCP_SYNOPTS_BSD, 2, 4, 5, 180, 1, 1, TS100));
	o.have = TCP_O_MSS | TCP_O_WSCALE;
	CU_ASSERT(BUILT(&o, TCP_SYNOPTS_BSD, 2, 4, 5, 180, 1, 3, 3, 6));
	o.have = TCP_O_MSS;
	CU_ASSERT(BUILT(&o, TCP_SYNOPTS_BSD, 2, 4, 5, 180));
}

static void syn_of_linux_is_aligned_word_by_word(void)
{
	struct tcp_opts o = { .have = TCP_O_MSS | TCP_O_WSCALE | TCP_O_SACKOK, .mss = 1460, .wscale = 8, .tsval = 100 };

	CU_ASSERT(BUILT(&o, TCP_SYNOPTS_LINUX, 2, 4, 5, 180, 1, 1, 4, 2, 1, 3, 3, 8));
	o.have |= TCP_O_TS;
	CU_ASSERT(BUILT(&o, TCP_SYNOPTS_LINUX, 2, 4, 5, 180, 4, 2, TS100, 1, 3, 3, 8));
	o.have = TCP_O_MSS | TCP_O_SACKOK | TCP_O_TS;
	CU_ASSERT(BUILT(&o, TCP_SYNOPTS_LINUX, 2, 4, 5, 180, 4, 2, TS100));
	o.have = TCP_O_MSS | TCP_O_TS;
	CU_ASSERT(BUILT(&o, TCP_SYNOPTS_LINUX, 2, 4, 5, 180, 1, 1, TS100));
	o.have = TCP_O_MSS | TCP_O_WSCALE;
	CU_ASSERT(BUILT(&o, TCP_SYNOPTS_LINUX, 2, 4, 5, 180, 1, 3, 3, 8));
}

static bool same_syn(const struct tcp_opts *a, const struct tcp_opts *b)
{
	return a->have == b->have && (!(a->have & TCP_O_MSS) || a->mss == b->mss) &&
	       (!(a->have & TCP_O_WSCALE) || a->wscale == b->wscale) && (!(a->have & TCP_O_UTO) || a->uto == b->uto) &&
	       (!(a->have & TCP_O_TS) || (a->tsval == b->tsval && a->tsecr == b->tsecr));
}

static void what_is_built_parses_to_what_it_was(void)
{
	struct tcp_opts o = { .mss = 1234, .wscale = 14, .tsval = 0xfffffffe, .tsecr = 0x80000001, .uto = 0x8005 }, got;
	uint8_t p[40];

	for (unsigned have = 0; have < 64; have++) {
		if (have & TCP_O_SACK)
			continue;
		o.have = (uint8_t)have;
		for (unsigned order = 0; order < 2; order++) {
			uint32_t n = tcp_opts_syn(p, &o, (enum tcp_synopts)order);

			CU_ASSERT(n <= 40 && n % 4 == 0);
			CU_ASSERT(parse(&got, p, n) && same_syn(&o, &got));
		}
	}
}

static void later_segments_carry_as_many_blocks_as_fit(void)
{
	struct tcp_opts o = { .have = TCP_O_SACK, .nsack = 4, .tsval = 7, .tsecr = 9 }, got;
	uint8_t p[40];

	for (unsigned i = 0; i < 4; i++) {
		o.sack[i].l = 0xfffffff0u + i * 100;
		o.sack[i].r = o.sack[i].l + 50;
	}
	for (unsigned ts = 0; ts < 2; ts++)
		for (uint8_t want = 0; want <= 4; want++) {
			uint8_t fit = ts && want > 3 ? 3 : want;
			uint32_t n;

			o.have = TCP_O_SACK | (ts ? TCP_O_TS : 0);
			o.nsack = want;
			n = tcp_opts_store(p, &o);
			CU_ASSERT_EQUAL(n, (ts ? 12u : 0u) + (fit ? 4u + 8u * fit : 0u));
			CU_ASSERT(parse(&got, p, n));
			CU_ASSERT_EQUAL(got.nsack, fit);
			CU_ASSERT_EQUAL(!!(got.have & TCP_O_TS), ts);
			CU_ASSERT(fit == 0 || memcmp(got.sack, o.sack, fit * sizeof o.sack[0]) == 0);
		}
	CU_ASSERT(memcmp(p, (const uint8_t[]){ 1, 1, 8, 10 }, 4) == 0);
	CU_ASSERT(memcmp(p + 12, (const uint8_t[]){ 1, 1, 5, 26 }, 4) == 0);
}

/* ---- parsing ---------------------------------------------------------------------------- */

static void nothing_and_nops_are_no_options(void)
{
	struct tcp_opts o;
	uint8_t nops[40];

	memset(nops, 1, sizeof nops);
	CU_ASSERT(parse(&o, nops, 0) && o.have == 0 && o.nsack == 0);
	CU_ASSERT(parse(&o, nops, 40) && o.have == 0);
	memset(nops, 0, sizeof nops);
	CU_ASSERT(parse(&o, nops, 40) && o.have == 0);
}

static void what_is_behind_the_end_is_not_looked_at(void)
{
	struct tcp_opts o;

	CU_ASSERT(PARSE(&o, 2, 4, 5, 180, 0, 2, 0, 1));
	CU_ASSERT_EQUAL(o.have, TCP_O_MSS);
	CU_ASSERT(PARSE(&o, 0, 2, 4, 5, 180, 0, 0, 0) && o.have == 0);
}

static void every_kind_with_a_length_that_cannot_be_ends_the_parse(void)
{
	struct tcp_opts o;

	for (unsigned kind = 2; kind < 256; kind++)
		for (unsigned len = 0; len < 256; len++) {
			uint8_t p[12] = { 2, 4, 5, 180, (uint8_t)kind, (uint8_t)len, 1, 1, 1, 1, 1, 1 };
			bool fits = len >= 2 && len <= 8;

			CU_ASSERT_EQUAL(parse(&o, p, sizeof p), fits);
			CU_ASSERT(o.have & TCP_O_MSS);
		}
	CU_ASSERT(!PARSE(&o, 1, 1, 1, 8));
	CU_ASSERT(!PARSE(&o, 1, 1, 8, 10));
	CU_ASSERT_EQUAL(o.have, 0);
}

static void a_known_kind_of_wrong_length_is_passed_over(void)
{
	struct tcp_opts o;

	CU_ASSERT(PARSE(&o, 2, 3, 5, 3, 4, 1, 1, 4, 3, 1, 8, 9, 1, 2, 3, 4, 5, 6, 7, 2, 4, 1, 0, 1));
	CU_ASSERT(o.have == TCP_O_MSS && o.mss == 256);
	/* SACK: no block, half a block, five. */
	CU_ASSERT(PARSE(&o, 1, 1, 5, 2) && o.have == 0);
	CU_ASSERT(PARSE(&o, 5, 6, 1, 2, 3, 4, 1, 1) && o.have == 0 && o.nsack == 0);
}

static void a_window_scale_is_at_most_14_and_an_mss_may_be_0(void)
{
	struct tcp_opts o;

	for (unsigned w = 0; w < 256; w++) {
		uint8_t p[4] = { 1, 3, 3, (uint8_t)w };

		CU_ASSERT(parse(&o, p, 4));
		CU_ASSERT_EQUAL(o.wscale, w < 14 ? w : 14);
	}
	CU_ASSERT(PARSE(&o, 2, 4, 0, 0) && (o.have & TCP_O_MSS) && o.mss == 0);
}

static void the_aligned_timestamp_is_the_same_by_both_ways(void)
{
	struct tcp_opts a, b;

	CU_ASSERT(PARSE(&a, 1, 1, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8));
	CU_ASSERT(PARSE(&b, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8, 1, 1));
	CU_ASSERT(a.have == TCP_O_TS && b.have == TCP_O_TS);
	CU_ASSERT(a.tsval == 0x01020304 && a.tsecr == 0x05060708 && b.tsval == a.tsval && b.tsecr == a.tsecr);
}

static bool same(const struct tcp_opts *a, const struct tcp_opts *b)
{
	return a->have == b->have && a->nsack == b->nsack && (!(a->have & TCP_O_MSS) || a->mss == b->mss) &&
	       (!(a->have & TCP_O_WSCALE) || a->wscale == b->wscale) &&
	       (!(a->have & TCP_O_TS) || (a->tsval == b->tsval && a->tsecr == b->tsecr));
}

/* Behind four NOPs it is parsed option by option; so is what differs from it in any byte. */
static void the_usual_syn_is_the_same_by_both_ways(void)
{
	static const uint8_t usual[20] = { 2, 4, 5, 180, 4, 2, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8, 1, 3, 3, 7 };
	unsigned differ = 0;

	for (unsigned i = 0; i < sizeof usual * 256; i++) {
		uint8_t p[24] = { 1, 1, 1, 1 };
		struct tcp_opts a, b;

		memcpy(p + 4, usual, sizeof usual);
		p[4 + i / 256] = (uint8_t)i;
		differ += parse(&a, p + 4, 20) != parse(&b, p, 24) || !same(&a, &b);
	}
	CU_ASSERT_EQUAL(differ, 0);
}

static void any_forty_bytes_are_parsed_within_their_bounds(void)
{
	struct xk_rand r;
	struct tcp_opts o;
	uint8_t p[40];

	xk_rand_init(&r, 5, 0);
	for (unsigned long i = 0; i < xk_test_rounds(200000); i++) {
		uint32_t n = (uint32_t)xk_rand_below(&r, 11) * 4;

		for (unsigned k = 0; k < n; k++)
			p[k] = (uint8_t)(xk_rand_below(&r, 3) ? xk_rand_below(&r, 12) : xk_rand_u64(&r));
		parse(&o, p, n);
		CU_ASSERT(o.nsack <= TCP_SACK_MAX && (o.have & ~0x3fu) == 0);
		CU_ASSERT(!(o.have & TCP_O_WSCALE) || o.wscale <= 14);
	}
}

static CU_TestInfo building[] = {
	{ "syn of bsd is mss nop wscale sackok ts", syn_of_bsd_is_mss_nop_wscale_sackok_ts },
	{ "syn of linux is aligned word by word", syn_of_linux_is_aligned_word_by_word },
	{ "what is built parses to what it was", what_is_built_parses_to_what_it_was },
	{ "later segments carry as many blocks as fit", later_segments_carry_as_many_blocks_as_fit },
	CU_TEST_INFO_NULL
};
static CU_TestInfo parsing[] = {
	{ "nothing and nops are no options", nothing_and_nops_are_no_options },
	{ "what is behind the end is not looked at", what_is_behind_the_end_is_not_looked_at },
	{ "every kind with a length that cannot be ends the parse",
	  every_kind_with_a_length_that_cannot_be_ends_the_parse },
	{ "a known kind of wrong length is passed over", a_known_kind_of_wrong_length_is_passed_over },
	{ "a window scale is at most 14 and an mss may be 0", a_window_scale_is_at_most_14_and_an_mss_may_be_0 },
	{ "the aligned timestamp is the same by both ways", the_aligned_timestamp_is_the_same_by_both_ways },
	{ "the usual syn is the same by both ways", the_usual_syn_is_the_same_by_both_ways },
	{ "any forty bytes are parsed within their bounds", any_forty_bytes_are_parsed_within_their_bounds },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "tcp options, built", NULL, NULL, NULL, NULL, building },
	{ "tcp options, parsed", NULL, NULL, NULL, NULL, parsing },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}

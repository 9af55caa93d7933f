/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_csum.c - every variant of the checksum agrees with RFC 1071 as written.
 *
 * The reference adds big-endian 16-bit words one at a time.  Each promise is
 * tried on every variant that this processor has, through the inline paths for
 * short messages and around them.
 */
#include "runtime/base/xk_csum_inline.h"
#include "runtime/base/xk_rand.h"
#include "tests/support/xk_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX 65600u
#define GUARD 64u

static uint8_t src[MAX + 4 * GUARD], dst[MAX + 4 * GUARD];

/* RFC 1071, the definition: in host order after the swap of section 2(B). */
static uint16_t reference(const uint8_t *p, size_t n)
{
	uint32_t s = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		s += (uint32_t)p[i] << (i & 1 ? 0 : 8);
		s = (s & 0xffff) + (s >> 16);
	}
	return htobe16((uint16_t)s);
}

static int fill(void)
{
	struct xk_rand r;
	size_t i;

	xk_rand_init(&r, 1, 0);
	for (i = 0; i < sizeof src; i++)
		src[i] = (uint8_t)xk_rand_u64(&r);
	return 0;
}

static int restore(void)
{
	static const char *const best[] = { "avx512", "avx2", "sse2", "neon", "portable" };
	size_t i;

	for (i = 0; xk_csum_set_variant(best[i]) != XK_OK; i++)
		;
	return 0;
}

static void try_length(size_t align, size_t n)
{
	const uint8_t *p = src + GUARD + align;
	uint8_t *d = dst + GUARD + (align * 7 & 63);
	uint16_t want = reference(p, n);
	size_t i, clean = 0;

	CU_ASSERT_EQUAL(xk_csum_fold(xk_csum(p, n, 0)), want);
	CU_ASSERT_EQUAL(xk_csum_fold(xk_csum_long(p, n, 0)), want);
	memset(d - GUARD, 0xa5, n + 2 * GUARD);
	CU_ASSERT_EQUAL(xk_csum_fold(xk_csum_copy(d, p, n, 0)), want);
	CU_ASSERT_EQUAL(memcmp(d, p, n), 0);
	memset(d, 0x5a, n);
	CU_ASSERT_EQUAL(xk_csum_fold(xk_csum_copy_long(d, p, n, 0)), want);
	CU_ASSERT_EQUAL(memcmp(d, p, n), 0);
	for (i = 0; i < GUARD; i++)
		clean += (d - GUARD)[i] == 0xa5 && d[n + i] == 0xa5;
	CU_ASSERT_EQUAL(clean, GUARD);
}

static bool variant(const char *name)
{
	if (xk_csum_set_variant(name) == XK_OK)
		return true;
	xk_test_skip("this processor, or VP_CPU, has no such variant");
	return false;
}

static void try_variant(const char *name)
{
	static const size_t around[] = { 1280, 1408, 4096, 4352, 9000, 65535 };
	size_t align, n, i;

	if (!variant(name))
		return;
	CU_ASSERT_STRING_EQUAL(xk_csum_variant(), name);
	for (align = 0; align < 64; align++)
		for (n = 0; n <= 300; n++)
			try_length(align, n);
	for (i = 0; i < XK_ARRAY_LEN(around); i++)
		for (align = 0; align < 64; align += 21)
			for (n = around[i] - 9; n <= around[i] + 9; n++)
				try_length(align, n);
}

static void portable_agrees_with_rfc_1071(void) { try_variant("portable"); }
static void sse2_agrees_with_rfc_1071(void) { try_variant("sse2"); }
static void neon_agrees_with_rfc_1071(void) { try_variant("neon"); }
static void avx2_agrees_with_rfc_1071(void) { try_variant("avx2"); }
static void avx512_agrees_with_rfc_1071(void) { try_variant("avx512"); }

/* Carries everywhere: the sums that wrap most. */
static void all_ones_do_not_lose_a_carry(void)
{
	static const char *const name[] = { "portable", "sse2", "neon", "avx2", "avx512" };
	size_t n, v;

	memset(src, 0xff, sizeof src);
	for (v = 0; v < XK_ARRAY_LEN(name); v++) {
		if (xk_csum_set_variant(name[v]) != XK_OK)
			continue;
		for (n = 0; n <= 300; n++) {
			CU_ASSERT_EQUAL(xk_csum_fold(xk_csum(src, n, 0xffffffffu)),
					n & 1 ? htobe16(0xff00) : 0xffff);
			CU_ASSERT_EQUAL(xk_csum_fold(xk_csum_long(src, n, 0xffffffffu)),
					n & 1 ? htobe16(0xff00) : 0xffff);
		}
		CU_ASSERT_EQUAL(xk_csum_fold(xk_csum(src, 65534, 0)), 0xffff);
	}
	fill();
	restore();
}

/* Only all-zero bytes sum to zero; one bit anywhere is seen. */
static void zero_sums_to_zero_and_nothing_else_does(void)
{
	static uint8_t z[320];
	size_t n, i;

	for (n = 1; n <= sizeof z; n++) {
		CU_ASSERT_EQUAL(xk_csum_fold(xk_csum(z, n, 0)), 0);
		for (i = 0; i < n; i += n / 7 + 1) {
			z[i] = 0x80;
			CU_ASSERT_NOT_EQUAL(xk_csum_fold(xk_csum(z, n, 0)), 0);
			z[i] = 0;
		}
	}
}

/* What a receiver relies on, for every length: sum with the field is 0xffff. */
static void a_message_with_its_checksum_is_valid_and_one_flipped_bit_is_not(void)
{
	uint8_t m[200];
	size_t n, at;

	for (n = 8; n <= sizeof m; n++) {
		memcpy(m, src + n, n);
		xk_put_raw16(m + 6, 0);
		xk_put_raw16(m + 6, (uint16_t)~xk_csum_fold(xk_csum(m, n, 0)));
		CU_ASSERT_EQUAL(xk_csum_fold(xk_csum(m, n, 0)), 0xffff);
		at = n * 5 % n;
		m[at] ^= 0x10;
		CU_ASSERT_NOT_EQUAL(xk_csum_fold(xk_csum(m, n, 0)), 0xffff);
	}
}

/* A long copy's destination begins anywhere in a line. */
static void seed_of_long(size_t n, size_t place, uint32_t seed)
{
	uint16_t want = xk_csum_fold(xk_csum_add(xk_csum(src, n, 0), seed));

	CU_ASSERT_EQUAL(xk_csum_fold(xk_csum_copy(dst + place, src, n, seed)), want);
	CU_ASSERT_EQUAL(xk_csum_fold(xk_csum_copy_long(dst + place, src, n, seed)), want);
	CU_ASSERT_EQUAL(memcmp(dst + place, src, n), 0);
}

static void a_seed_is_added(void)
{
	struct xk_rand r;
	uint32_t seed;
	size_t n, place;

	xk_rand_init(&r, 2, 0);
	for (n = 0; n <= 300; n++) {
		seed = (uint32_t)xk_rand_u64(&r);
		CU_ASSERT_EQUAL(xk_csum_fold(xk_csum(src, n, seed)),
				xk_csum_fold(xk_csum_add(xk_csum(src, n, 0), seed)));
		CU_ASSERT_EQUAL(xk_csum_fold(xk_csum_copy(dst, src, n, seed)),
				xk_csum_fold(xk_csum_add(xk_csum(src, n, 0), seed)));
	}
	for (n = 1279; n <= 1284; n++)
		for (place = 0; place < 64; place++)
			seed_of_long(n, place, (uint32_t)xk_rand_u64(&r));
}

/* Two pieces at every cut, odd cuts through the swap. */
static void pieces_add_up_wherever_they_are_cut(void)
{
	size_t n, cut;
	uint32_t a, b;

	for (n = 1; n <= 200; n++)
		for (cut = 0; cut <= n; cut++) {
			a = xk_csum(src + 3, cut, 0);
			b = xk_csum(src + 3 + cut, n - cut, 0);
			if (cut & 1)
				b = xk_csum_swap(b);
			CU_ASSERT_EQUAL(xk_csum_fold(xk_csum_add(a, b)), reference(src + 3, n));
		}
}

/* Many pieces of random lengths, as a chained message gives them. */
static void a_chain_of_odd_pieces_adds_up(void)
{
	struct xk_rand r;
	unsigned round;

	xk_rand_init(&r, 3, 0);
	for (round = 0; round < 300; round++) {
		size_t n = xk_rand_below(&r, 9000), off, k;
		uint32_t s = 0, piece;

		for (off = 0; off < n; off += k) {
			k = 1 + xk_rand_below(&r, 400);
			if (k > n - off)
				k = n - off;
			piece = xk_csum_copy(dst + off, src + off, k, 0);
			s = xk_csum_add(s, off & 1 ? xk_csum_swap(piece) : piece);
		}
		CU_ASSERT_EQUAL(xk_csum_fold(s), reference(src, n));
		CU_ASSERT_EQUAL(memcmp(dst, src, n), 0);
	}
}

/* A fold must be the remainder modulo 0xffff, 0 kept for 0 only. */
static void folds_are_exact(void)
{
	static const uint64_t edge[] = {
		0, 1, 0xffff, 0x10000, 0x1ffff, 0xffff0000u, 0xffffffffu, 0x100000000u,
		0xffffffff00000000u, 0x00000001ffffffffu, 0xfffffffffffffffeu, UINT64_MAX,
	};
	struct xk_rand r;
	uint64_t s;
	unsigned i;

	xk_rand_init(&r, 4, 0);
	for (i = 0; i < 100000; i++) {
		s = i < XK_ARRAY_LEN(edge) ? edge[i] : xk_rand_u64(&r);
		CU_ASSERT_EQUAL(xk_csum_fold64(s) % 0xffff, s % 0xffff);
		CU_ASSERT_EQUAL(xk_csum_fold64(s) == 0, s == 0);
		CU_ASSERT_EQUAL(xk_csum_fold((uint32_t)s) % 0xffff, (uint32_t)s % 0xffff);
		CU_ASSERT_EQUAL(xk_csum_fold((uint32_t)s) == 0, (uint32_t)s == 0);
	}
}

/* Exact heap blocks, of which the last n bytes are used: a sanitizer or valgrind sees a byte too many. */
static void stays_inside(size_t n, size_t place)
{
	uint8_t *p = malloc(n), *block = malloc(n + place), *d = block + place;

	CU_ASSERT_PTR_NOT_NULL_FATAL(p);
	CU_ASSERT_PTR_NOT_NULL_FATAL(block);
	memset(block, 0xa5, n + place);
	memcpy(p, src, n);
	CU_ASSERT_EQUAL(xk_csum_fold(xk_csum(p, n, 0)), reference(src, n));
	CU_ASSERT_EQUAL(xk_csum_fold(xk_csum_copy(d, p, n, 0)), reference(src, n));
	CU_ASSERT_EQUAL(xk_csum_fold(xk_csum_copy_long(d, p, n, 0)), reference(src, n));
	CU_ASSERT_EQUAL(memcmp(p, d, n), 0);
	for (size_t i = 0; i < place; i++)
		CU_ASSERT_EQUAL(block[i], 0xa5);
	free(p);
	free(block);
}

static void reads_and_writes_stay_inside_their_blocks(void)
{
	for (size_t n = 1; n <= 300; n++)
		stays_inside(n, 0);
	for (size_t place = 0; place < 64; place++)
		stays_inside(1280 + place, place);
}

static void an_unknown_variant_is_refused_and_changes_nothing(void)
{
	const char *before = xk_csum_variant();

	CU_ASSERT_EQUAL(xk_csum_set_variant("sse9"), XK_E_NOENT);
	CU_ASSERT_STRING_EQUAL(xk_csum_variant(), before);
}

static void touching_to_read_changes_nothing(void)
{
	size_t n;

	for (n = 0; n <= 300; n++) {
		memcpy(dst, src, 400);
		xk_csum_touch(dst, n, true);
		CU_ASSERT_EQUAL(memcmp(dst, src, 400), 0);
	}
}

static void touching_to_write_writes_each_byte_and_no_other(void)
{
	size_t n, i, same;

	/* The line holds what was read into it last. */
	memset(dst, 0x77, XK_CACHELINE);
	xk_csum_touch(dst, XK_CACHELINE, true);
	for (n = 0; n <= 300; n++) {
		memset(dst, 0x11, 400);
		xk_csum_touch(dst, n, false);
		for (same = 0, i = 0; i < 400; i++)
			same += dst[i] == (i < n ? 0x77 : 0x11);
		CU_ASSERT_EQUAL(same, 400);
	}
}

static CU_TestInfo tests[] = {
	{ "portable_agrees_with_rfc_1071", portable_agrees_with_rfc_1071 },
	{ "sse2_agrees_with_rfc_1071", sse2_agrees_with_rfc_1071 },
	{ "neon_agrees_with_rfc_1071", neon_agrees_with_rfc_1071 },
	{ "avx2_agrees_with_rfc_1071", avx2_agrees_with_rfc_1071 },
	{ "avx512_agrees_with_rfc_1071", avx512_agrees_with_rfc_1071 },
	{ "all_ones_do_not_lose_a_carry", all_ones_do_not_lose_a_carry },
	{ "zero_sums_to_zero_and_nothing_else_does", zero_sums_to_zero_and_nothing_else_does },
	{ "a_message_with_its_checksum_is_valid_and_one_flipped_bit_is_not",
	  a_message_with_its_checksum_is_valid_and_one_flipped_bit_is_not },
	{ "a_seed_is_added", a_seed_is_added },
	{ "pieces_add_up_wherever_they_are_cut", pieces_add_up_wherever_they_are_cut },
	{ "a_chain_of_odd_pieces_adds_up", a_chain_of_odd_pieces_adds_up },
	{ "folds_are_exact", folds_are_exact },
	{ "reads_and_writes_stay_inside_their_blocks", reads_and_writes_stay_inside_their_blocks },
	{ "an_unknown_variant_is_refused_and_changes_nothing",
	  an_unknown_variant_is_refused_and_changes_nothing },
	{ "touching_to_read_changes_nothing", touching_to_read_changes_nothing },
	{ "touching_to_write_writes_each_byte_and_no_other",
	  touching_to_write_writes_each_byte_and_no_other },
	CU_TEST_INFO_NULL
};

static CU_SuiteInfo suites[] = {
	{ "csum", fill, restore, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}

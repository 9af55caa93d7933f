/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_ebpf_batch.c - batches of frames in an arena and in the context buffer get the verdicts
 * of the reference matcher: key, hash, kind and cell; whole and cut at every length; patterns
 * made by hand and by chance; headers that go on behind the slot.
 *
 * Needs the privilege to load programs, and for arenas Linux 6.9.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/classify/classify_ebpf.h"
#include "runtime/classify/xk_ebpf.h"
#include "tests/runtime/classify/patterns.h"
#include "tests/support/xk_test.h"

#define SLOTS 256u

static struct dice dice = { 0x2545f4914f6cdd1du };
static char why[1024];
static uint8_t frame[SLOTS][PATTERN_FRAME];
static uint32_t len[SLOTS];

static bool same(const struct xk_pat_verdict *a, const struct xk_pat_verdict *b)
{
	return memcmp(&a->key, &b->key, sizeof a->key) == 0 && a->hash == b->hash && a->kind == b->kind && a->cell == b->cell;
}

/* Runs the first n frames; kinds[] counts what the reference says of them. */
static unsigned wrong(struct xk_ebpf *e, const struct xk_pattern *p, unsigned n, unsigned kinds[4])
{
	struct xk_pat_verdict want;
	unsigned bad = 0;

	for (unsigned i = 0; i < n; i++)
		xk_ebpf_put(e, i, frame[i], len[i]);
	CU_ASSERT_FATAL(xk_ebpf_call(e, n));
	for (unsigned i = 0; i < n; i++) {
		xk_pattern_match(p, frame[i], len[i], &want);
		bad += !same(&want, xk_ebpf_verdict(e, i, frame[i], len[i]));
		kinds[want.kind]++;
	}
	return bad;
}

static unsigned wrong_frames(struct xk_ebpf *e, const struct xk_pattern *p, unsigned rounds, unsigned kinds[4])
{
	unsigned bad = 0, n = xk_ebpf_slots(e);

	for (unsigned r = 0; r < rounds; r++) {
		for (unsigned i = 0; i < n; i++)
			len[i] = pattern_frame(p, &dice, frame[i]);
		bad += wrong(e, p, r % 4 == 3 ? 1 + roll(&dice, n) : n, kinds);
	}
	return bad;
}

/* One frame, cut at every length, in blocks of just that length. */
static unsigned wrong_cuts(struct xk_ebpf *e, const struct xk_pattern *p, unsigned kinds[4])
{
	uint32_t whole = pattern_frame(p, &dice, frame[0]);
	struct xk_pat_verdict want;
	unsigned bad = 0;

	for (uint32_t n = 0; n <= whole; n++) {
		uint8_t *block = malloc(n != 0 ? n : 1);

		CU_ASSERT_FATAL(block != NULL);
		memcpy(block, frame[0], n);
		xk_ebpf_put(e, 0, block, n);
		CU_ASSERT_FATAL(xk_ebpf_call(e, 1));
		xk_pattern_match(p, block, n, &want);
		bad += !same(&want, xk_ebpf_verdict(e, 0, block, n));
		kinds[want.kind]++;
		free(block);
	}
	return bad;
}

static struct xk_ebpf *make(const struct xk_pattern *p, enum xk_ebpf_kind kind)
{
	struct xk_ebpf *e;

	if (xk_ebpf_open(&e, p, kind, SLOTS, why, sizeof why) != XK_OK)
		fprintf(stderr, "# %s\n", why);
	return e;
}

static void agrees(const struct xk_pattern *p, enum xk_ebpf_kind kind, unsigned rounds, unsigned kinds[4])
{
	struct xk_ebpf *e = make(p, kind);

	CU_ASSERT_PTR_NOT_NULL_FATAL(e);
	CU_ASSERT_EQUAL(wrong_frames(e, p, rounds, kinds), 0);
	for (unsigned i = 0; i < rounds / 4; i++)
		CU_ASSERT_EQUAL(wrong_cuts(e, p, kinds), 0);
	xk_ebpf_close(e);
}

static bool skipped(enum xk_ebpf_kind kind)
{
	static struct xk_pattern nothing;
	struct xk_ebpf *e;

	if (xk_ebpf_open(&e, &nothing, kind, 1, why, sizeof why) != XK_OK) {
		xk_test_skip(why);
		return true;
	}
	xk_ebpf_close(e);
	return false;
}

static void all_agree(enum xk_ebpf_kind kind)
{
	static struct xk_pattern p;

	if (skipped(kind))
		return;
	for (unsigned i = 0; pattern_names[i] != NULL; i++) {
		unsigned kinds[4] = { 0 };

		pattern_make(&p, pattern_names[i]);
		agrees(&p, kind, (unsigned)xk_test_rounds(80), kinds);
		CU_ASSERT(kinds[XK_PAT_HOST] != 0 && kinds[XK_PAT_IDENT] != 0 && kinds[XK_PAT_FLOW] != 0);
	}
}

static void an_arena_says_what_the_reference_says(void)
{
	all_agree(XK_EBPF_ARENA);
}

static void a_context_buffer_says_what_the_reference_says(void)
{
	all_agree(XK_EBPF_CONTEXT);
}

static void patterns_by_chance_agree(void)
{
	unsigned kinds[4] = { 0 };
	struct xk_pattern p;

	if (skipped(XK_EBPF_ARENA))
		return;
	for (unsigned i = 0; i < xk_test_rounds(120); i++) {
		pattern_random(&p, &dice);
		agrees(&p, XK_EBPF_ARENA, 8, kinds);
		if (i % 6 == 0)
			agrees(&p, XK_EBPF_CONTEXT, 8, kinds);
	}
}

static void an_empty_pattern_knows_nothing(void)
{
	static struct xk_pattern nothing;
	unsigned kinds[4] = { 0 };

	if (skipped(XK_EBPF_CONTEXT))
		return;
	agrees(&nothing, XK_EBPF_CONTEXT, 4, kinds);
	CU_ASSERT(kinds[XK_PAT_HOST] + kinds[XK_PAT_IDENT] + kinds[XK_PAT_FLOW] == 0);
}

/* ---- headers longer than slots ---------------------------------------------------------------- */

static const struct xk_demux_field long_fields[] = {
	{ XK_DX_REMOTE, 1, 2, 0, 0 }, { XK_DX_HLEN, 1, 0, 0, 1 }, { XK_DX_SELECT, 1, 1, 0, 0 }, { XK_DX_END, 0, 0, 0, 0 }
};
static const struct xk_demux longer = { .need = 3, .field = long_fields };
static const struct xk_demux_field last_fields[] = { { XK_DX_LOCAL, 2, 0, 0, 0 }, { XK_DX_END, 0, 0, 0, 0 } };
static const struct xk_demux last = { .need = 2, .field = last_fields };

/* Headers of up to 255 bytes on each other, the last one anywhere in 256. */
static void long_pattern(struct xk_pattern *p)
{
	int at = XK_PAT_ABOVE;

	memset(p, 0, sizeof *p);
	for (unsigned i = 0; i < 3; i++)
		at = xk_pattern_add(p, (unsigned)at, i == 0 ? 0 : 5, "long", "long", &longer, why, sizeof why);
	at = xk_pattern_add(p, (unsigned)at, 5, "last", "last", &last, why, sizeof why);
	CU_ASSERT_FATAL(at == 3);
}

static void headers_behind_the_slot_are_read_all_the_same(void)
{
	unsigned kinds[4] = { 0 };
	struct xk_pattern p;

	long_pattern(&p);
	CU_ASSERT_TRUE(ebpf_window(&p).bounded);
	if (skipped(XK_EBPF_ARENA))
		return;
	for (unsigned i = 0; i < 40; i++) {
		agrees(&p, XK_EBPF_ARENA, 8, kinds);
		if (i % 8 == 0)
			agrees(&p, XK_EBPF_CONTEXT, 8, kinds);
	}
	CU_ASSERT(kinds[XK_PAT_FLOW] > 100);
}

static void a_header_too_long_for_any_slot_is_refused_with_a_sentence(void)
{
	static const struct xk_demux_field fields[] = { { XK_DX_SELECT, 1, 255, 0, 0 }, { XK_DX_END, 0, 0, 0, 0 } };
	static const struct xk_demux big = { .need = 256, .field = fields };
	struct xk_pattern p = { 0 };
	struct xk_ebpf *e;
	int at = XK_PAT_ABOVE;

	for (unsigned i = 0; i < 6; i++)
		at = xk_pattern_add(&p, (unsigned)at, 1, "big", "big", &big, why, sizeof why);
	CU_ASSERT_FATAL(at == 5);
	CU_ASSERT_EQUAL(xk_ebpf_open(&e, &p, XK_EBPF_ARENA, SLOTS, why, sizeof why), XK_E_NOTSUP);
	CU_ASSERT_PTR_NULL(e);
	CU_ASSERT_STRING_EQUAL(why, "headers of this graph take 1312 bytes of a frame: a batch has room for 1024");
}

static CU_TestInfo tests[] = {
	{ "an arena says what the reference says", an_arena_says_what_the_reference_says },
	{ "a context buffer says what the reference says", a_context_buffer_says_what_the_reference_says },
	{ "patterns by chance agree", patterns_by_chance_agree },
	{ "an empty pattern knows nothing", an_empty_pattern_knows_nothing },
	{ "headers behind the slot are read all the same", headers_behind_the_slot_are_read_all_the_same },
	{ "a header too long for any slot is refused with a sentence", a_header_too_long_for_any_slot_is_refused_with_a_sentence },
	CU_TEST_INFO_NULL
};

int main(void)
{
	static const CU_SuiteInfo suites[] = { { "ebpf batches", NULL, NULL, NULL, NULL, tests }, CU_SUITE_INFO_NULL };

	return xk_test_main(suites);
}

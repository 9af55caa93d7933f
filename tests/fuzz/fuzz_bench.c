/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_bench.c - fuzz target of bench files: a file means points to be measured, or is refused in sentences.
 *
 * Held to: it is good exactly if there are no complaints; each complaint is a sentence at a line that there is; a good
 * one has points, a measure, and as many runs as it may have; the same text means the same twice; all memory is given
 * back.
 * Invariant: nothing is kept from one input to the next.
 */
#include <string.h>

#include "runtime/mem/xk_mem.h"
#include "tests/fuzz/fuzz_errs.h"
#include "tools/vp-bench/bench.h"

#define NAME "fuzz.lua"

static void good(const struct bench *b)
{
	if (b->npoints == 0)
		fuzz_must("a good bench without a point");
	if (b->metric == NULL)
		fuzz_must("a good bench that measures nothing");
	if (b->min_runs == 0 || b->min_runs > b->max_runs)
		fuzz_must("a good bench whose runs do not fit");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct bench b, again;
	char *text = strndup((const char *)data, size);
	uint64_t live;
	int res;

	if (text == NULL)
		abort();
	xk_rcu_register();
	live = xk_alloc_live();
	res = bench_load_text(&b, NAME, text, NULL, 0);
	if ((res == BENCH_OK) != (xk_errs_count(b.e) == 0))
		fuzz_must("complaints and what comes of them differ");
	fuzz_located(b.e, NAME, (const uint8_t *)text, strlen(text));
	if (res == BENCH_OK)
		good(&b);
	if (bench_load_text(&again, NAME, text, NULL, 0) != res || again.npoints != b.npoints ||
	    xk_errs_count(again.e) != xk_errs_count(b.e))
		fuzz_must("the same file means two things");
	bench_free(&again);
	bench_free(&b);
	if (xk_alloc_live() != live)
		fuzz_must("memory is left");
	xk_rcu_unregister();
	free(text);
	return 0;
}

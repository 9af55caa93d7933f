/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_graph.c - whatever the text: a graph file is good, or refused in sentences.
 *
 * An input is a graph file.  It is loaded, checked, its errors printed, and, if it is good,
 * built, as `vp-run --check` and a start would.  It must be good exactly if there are no
 * errors, and each error is a sentence at a line that there is.  `make fuzz` runs it under
 * libFuzzer; fuzz_replay.c runs the corpus as an ordinary test.
 * Invariant: nothing is kept from one input to the next.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/compose/xk_compose.h"
#include "runtime/mem/xk_mem.h"
#include "tests/fuzz/fuzz_errs.h"

#define NAME "fuzz.lua"

static void print_all(const struct xk_spec *s, struct xk_errs *e)
{
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	if (f == NULL)
		abort();
	xk_spec_print_errors(f, s, e, NULL);
	fclose(f);
	free(text);
}

static void build(struct xk_spec *s, struct xk_errs *e)
{
	struct xk_graph *g;

	if (xk_spec_build(s, &g, e) == XK_OK && xk_graph_free(g) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool ready;
	struct xk_errs *e = xk_errs_new(), *w = xk_errs_new();
	struct xk_spec *s = NULL;
	int load, check;
	uint64_t live;

	if (!ready)
		xk_rcu_register();
	ready = true;
	live = xk_alloc_live();
	load = xk_spec_load_text(&s, NAME, (const char *)data, size, NULL, e);
	if (s == NULL || e == NULL || w == NULL)
		abort();
	check = xk_spec_check(s, e, w);
	print_all(s, e);
	fuzz_located(e, NAME, data, size);
	if ((load == XK_OK && check == XK_OK) != (xk_errs_count(e) == 0))
		abort();
	if (xk_errs_count(e) == 0 && xk_spec_plan(s) != NULL && xk_spec_plan(s)->mem.limit <= (1u << 30))
		build(s, e);
	xk_spec_free(s);
	xk_errs_free(w);
	xk_errs_free(e);
	if (xk_alloc_live() != live)
		abort();
	return 0;
}

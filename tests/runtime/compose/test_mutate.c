/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_mutate.c - two thousand damaged copies of a good graph file, by seed:
 * each is loaded, checked and, if it is still good, built and brought up.
 * None may crash, hang, leak, or pass the check and then fail.
 */
#include "tests/runtime/compose/toys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/mem/xk_mem.h"
#include "tests/support/xk_test_graph.h"

#define ROUNDS 2000

static const char *const pieces[] = {
	"{", "}", "(", ")", "=", ",", "\"", "--", "[[", "]]", "nil", "true", "1e308", "-1", "0x7fffffffffffffff", "..",
	"stack", "wire {}", "link", "host", "ports", "app", "graph", "args", "over = ", "name = \"x\", ", "local ",
	"return ", "function", "end", "while true do end", "(\"x\"):rep(1e9)", "a", "\n", "\0", "\xff", "[1]", "#",
	"{ {}, {} }", "time", "uint { 1 }", "// 0", "\"10.0.0.1/8\"", "0/0", "include \"toy.lua\"", "goto x", "::x::",
};

/* One damage: cut, copy, overwrite, or put a piece in. */
static size_t damage(struct xk_rand *r, char *text, size_t n, size_t room)
{
	size_t at = n ? xk_rand_below(r, n) : 0, len = 1 + xk_rand_below(r, 12);
	const char *piece = pieces[xk_rand_below(r, XK_ARRAY_LEN(pieces))];
	size_t m = *piece ? strlen(piece) : 1;

	if (len > n - at)
		len = n - at;
	switch (xk_rand_below(r, 4)) {
	case 0:
		memmove(text + at, text + at + len, n - at - len);
		return n - len;
	case 1:
		if (n + len > room)
			return n;
		memmove(text + at + len, text + at, n - at);
		return n + len;
	case 2:
		if (n != 0)
			text[at] = (char)xk_rand_below(r, 256);
		return n;
	default:
		if (n + m > room)
			return n;
		memmove(text + at + m, text + at, n - at);
		memcpy(text + at, piece, m);
		return n + m;
	}
}

static void print_all(const struct xk_spec *s, struct xk_errs *e)
{
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	xk_spec_print_errors(f, s, e, NULL);
	fclose(f);
	free(text);
}

/* True when it was still a good graph. */
static bool try_one(const char *text, size_t n)
{
	const struct xk_compose_opts o = { .table = toys };
	struct xk_errs *e = xk_errs_new();
	struct xk_graph *g = NULL;
	struct xk_spec *s;
	int load = xk_spec_load_text(&s, "toy.lua", text, n, &o, e), check;
	bool good;

	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	check = xk_spec_check(s, e, NULL);
	good = load == XK_OK && check == XK_OK && xk_spec_plan(s) != NULL;
	CU_ASSERT(good || xk_errs_count(e) != 0);
	print_all(s, e);
	if (good) {
		CU_ASSERT_EQUAL(xk_spec_build(s, &g, e), XK_OK);
		CU_ASSERT_EQUAL(xk_graph_up(g, e), XK_OK);
		CU_ASSERT_EQUAL(xk_graph_free(g), 0);
	}
	xk_spec_free(s);
	xk_errs_free(e);
	return good;
}

static void a_damaged_graph_file_is_refused_or_works(void)
{
	uint64_t live = xk_alloc_live();
	size_t room = 8192;
	char *text = malloc(room);
	unsigned good = 0;

	for (unsigned i = 0; i < ROUNDS; i++) {
		struct xk_rand r;
		size_t n = strlen(toy_good);

		xk_rand_init(&r, 2024, i);
		memcpy(text, toy_good, n);
		for (uint64_t k = 1 + xk_rand_below(&r, 4); k > 0; k--)
			n = damage(&r, text, n, room);
		good += try_one(text, n);
	}
	printf("# %u of %d damaged files were still good\n", good, ROUNDS);
	CU_ASSERT(good > 10 && good < ROUNDS / 2);
	CU_ASSERT_EQUAL(xk_alloc_live(), live);
	free(text);
}

static CU_TestInfo tests[] = {
	{ "a damaged graph file is refused or works", a_damaged_graph_file_is_refused_or_works },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "mutate", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void) { return xk_test_main_rcu(suites); }

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_suggest.c - a threading table that cannot run is answered with the nearest that can.
 *
 * Held: whatever a table of known axes says, it runs or comes with a line that runs
 * when it stands in its place; the line changes as little as the fixed cases say; a table
 * that runs has none.
 */
#include "tests/runtime/compose/toys.h"

#include <stdio.h>
#include <string.h>

#include "runtime/base/xk_rand.h"
#include "runtime/mem/xk_mem.h"
#include "tests/support/xk_test_graph.h"

static uint64_t live;

static int setup(void)
{
	live = xk_alloc_live();
	return 0;
}

static int teardown(void)
{
	return xk_alloc_live() != live;
}

static struct toy_load load(const char *threading, const char *field)
{
	char text[2048];

	snprintf(text, sizeof text, "stack { link {}, wire {} }\nreturn graph \"g\" { %s%s%s }", threading,
		 *threading && *field ? ", " : "", field);
	return toy_load(text, NULL);
}

static void nearest_is(const char *threading, const char *field, const char *line)
{
	struct toy_load l = load(threading, field);
	const char *got = xk_spec_nearest(l.s);

	CU_ASSERT_NOT_EQUAL(l.check, XK_OK);
	CU_ASSERT_PTR_NOT_NULL_FATAL(got);
	if (strcmp(got, line) != 0)
		printf("# %s: got %s\n", threading, got);
	CU_ASSERT_STRING_EQUAL(got, line);
	toy_unload(&l);
}

static void as_little_as_possible_is_changed(void)
{
	nearest_is("threading = vppc { vps = 2, workers = 4 }", "", "threading = vppc { vps = 2, workers = 2 }");
	nearest_is("threading = vppc { handover = 'try', vps = 3 }", "",
		   "threading = vppc { vps = 3, entry = \"lock\", handover = \"try\" }");
	nearest_is("threading = { domain = 'layers', entry = 'own', workers = 2, vps = 1 }", "",
		   "threading = { domain = \"connections\", vps = 1, workers = 1, entry = \"own\" }");
	nearest_is("threading = lp { entry = 'own' }", "", "threading = lp { entry = \"thread\" }");
	nearest_is("threading = lp { high = 4, low = 4 }", "", "threading = lp { high = 5, low = 4 }");
	nearest_is("threading = mp { io_threads = 0 }", "", "threading = mp { io_threads = 1 }");
	nearest_is("threading = ips { steal = true }", "", "threading = ips { affinity = \"stream\", steal = true }");
	nearest_is("threading = ips_conn { affinity = 'any', pick = 'lru' }", "", "threading = ips_conn { affinity = \"code\", pick = \"lru\" }");
	nearest_is("threading = tpc { background = { v = 0.5 } }", "", "threading = tpc { schedule = \"drr\", background = { v = 0.5 } }");
	nearest_is("threading = ips { pick = 'mru', steal = true, background = { v = '25%', data = '1MiB' } }", "",
		   "threading = ips { affinity = \"stream\", pick = \"mru\", steal = true, background = { v = 0.25, data = \"1MiB\" } }");
	nearest_is("threading = vppc { quantum = 0 }", "", "threading = vppc { quantum = 1 }");
	nearest_is("threading = ips { background = { data = '1MiB' } }", "", "threading = ips {}");
	nearest_is("threading = msgp { table = 'none', hold = true }", "", "threading = msgp { table = \"rw\", hold = true }");
}

static void numbers_come_back_to_what_still_runs(void)
{
	nearest_is("threading = vppc { vps = 100000 }", "", "threading = vppc { vps = 8192 }");
	nearest_is("threading = vppc { vps = -3, burst = 4 }", "", "threading = vppc { vps = 1, burst = 4 }");
	nearest_is("threading = vppc { vps = 8000 }", "memory = '1MiB'", "threading = vppc { vps = 1820 }");
	nearest_is("threading = mp { vps = 8192 }", "", "threading = mp { vps = 8187 }");
	nearest_is("threading = vppc { vps = 4, map = { 1, 9 } }", "", "threading = vppc { vps = 9, map = { 1, 9 } }");
}

static void a_misspelt_word_is_the_one_that_was_meant(void)
{
	nearest_is("threading = connp_l { lock = 'mutx' }", "", "threading = connp_l { lock = \"mutex\" }");
	nearest_is("threading = vppc { schedule = 'banana', vps = 2 }", "", "threading = vppc { vps = 2 }");
}

static void what_runs_and_what_is_not_known_has_no_nearest(void)
{
	static const char *const tables[] = { "threading = vppc { vps = 2 }", "threading = lp {}", "", NULL };
	struct toy_load l;

	for (unsigned i = 0; tables[i] != NULL; i++) {
		l = load(tables[i], "");
		CU_ASSERT_EQUAL(l.check, XK_OK);
		CU_ASSERT_PTR_NULL(xk_spec_nearest(l.s));
		toy_unload(&l);
	}
	l = load("threading = vppc { wokers = 2 }", "");
	CU_ASSERT_PTR_NULL(xk_spec_nearest(l.s));
	toy_unload(&l);
}

/* A virtual processor for each connection, as many as the graph makes. */
static void per_connection_is_as_many_as_the_graph_makes(void)
{
	static const char *const presets[] = { "tpc", "cp", "ips_conn", NULL };
	struct toy_load l;
	char text[400];

	for (unsigned i = 0; presets[i] != NULL; i++)
		for (unsigned conns = 0; conns <= 40; conns += 40) {
			snprintf(text, sizeof text, "stack { app { %s }, ports {}, host { addr = \"10.0.0.1/8\" }, link {}, wire {} }\n"
				 "return graph \"g\" { threading = %s {} }", conns ? "conns = 40" : "", presets[i]);
			l = toy_load(text, NULL);
			CU_ASSERT_EQUAL_FATAL(l.check, XK_OK);
			CU_ASSERT_EQUAL(xk_spec_plan(l.s)->arch.vps, conns ? 40 : 16);
			toy_unload(&l);
		}
}

/* ---- tables by chance ---------------------------------------------------------------- */

static size_t put_value(char *at, size_t n, const struct xk_param *p, struct xk_rand *r)
{
	static const unsigned numbers[] = { 0, 1, 2, 3, 4, 8, 64, 65, 128, 1024, 8192, 9000 };
	unsigned words = 0;

	switch (p->type) {
	case XK_P_BOOL:
		return (size_t)snprintf(at, n, "%s = %s", p->name, xk_rand_below(r, 2) ? "true" : "false");
	case XK_P_ENUM:
		while (p->choices[words] != NULL)
			words++;
		return (size_t)snprintf(at, n, "%s = '%s'", p->name, p->choices[xk_rand_below(r, words)]);
	case XK_P_UINT:
		return (size_t)snprintf(at, n, "%s = %u", p->name, numbers[xk_rand_below(r, XK_ARRAY_LEN(numbers))]);
	case XK_P_SIZE:
		return (size_t)snprintf(at, n, "%s = '%uKiB'", p->name, 1u << xk_rand_below(r, 8));
	case XK_P_LIST:
		return (size_t)snprintf(at, n, p->elem == XK_P_UINT ? "%s = { 1, 2, 5 }" : "%s = { 'wire', 'link' }", p->name);
	default:
		return (size_t)snprintf(at, n, "%s = %s", p->name, p->type == XK_P_TIME ? "'3us'" : "'0'");
	}
}

static void make_table(char *text, size_t n, struct xk_rand *r, unsigned keys)
{
	unsigned naxes = 0, npresets = 0;
	uint64_t taken = 0;
	size_t at;

	while (xk_arch_params[naxes].name != NULL)
		naxes++;
	while (xk_arch_presets[npresets].name != NULL)
		npresets++;
	at = (size_t)snprintf(text, n, "threading = %s {", xk_rand_below(r, 8) ? xk_arch_presets[xk_rand_below(r, npresets)].name : "");
	while (keys-- > 0) {
		uint64_t a = xk_rand_below(r, naxes);

		if (taken >> a & 1)
			continue;
		taken |= 1ull << a;
		at += (size_t)snprintf(text + at, n - at, " ");
		if (xk_arch_params[a].group != NULL)
			at += (size_t)snprintf(text + at, n - at, "%s = { ", xk_arch_params[a].group);
		at += put_value(text + at, n - at, &xk_arch_params[a], r);
		if (xk_arch_params[a].group != NULL)
			at += (size_t)snprintf(text + at, n - at, " }");
		at += (size_t)snprintf(text + at, n - at, ",");
	}
	snprintf(text + at, n - at, " }");
}

static void every_table_runs_or_has_one_that_does(void)
{
	static const char *const fields[] = { "", "clock = 'virtual'", "memory = '1MiB'" };
	unsigned long refused = 0, rounds = xk_test_rounds(600);
	struct xk_rand r;
	char text[1024], line[1024];

	xk_rand_init(&r, 17, 0);
	for (unsigned long i = 0; i < rounds; i++) {
		const char *field = fields[xk_rand_below(&r, 3)];
		struct toy_load l, m;

		make_table(text, sizeof text, &r, 1 + (unsigned)xk_rand_below(&r, 7));
		l = load(text, field);
		if (l.check != XK_OK) {
			refused++;
			snprintf(line, sizeof line, "%s", xk_spec_nearest(l.s) ? xk_spec_nearest(l.s) : "nothing");
			m = load(line, field);
			if (m.check != XK_OK)
				printf("# %s with '%s': proposed %s: %s\n", text, field, line, toy_error(&m, 0));
			CU_ASSERT_EQUAL(m.check, XK_OK);
			toy_unload(&m);
		}
		toy_unload(&l);
	}
	CU_ASSERT(refused > rounds / 4);
}

static CU_TestInfo tests[] = {
	{ "as little as possible is changed", as_little_as_possible_is_changed },
	{ "numbers come back to what still runs", numbers_come_back_to_what_still_runs },
	{ "a misspelt word is the one that was meant", a_misspelt_word_is_the_one_that_was_meant },
	{ "what runs, and what is not known, has no nearest", what_runs_and_what_is_not_known_has_no_nearest },
	{ "per connection is as many as the graph makes", per_connection_is_as_many_as_the_graph_makes },
	{ "every table runs or has one that does", every_table_runs_or_has_one_that_does },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = { { "suggest", setup, teardown, NULL, NULL, tests }, CU_SUITE_INFO_NULL };

int main(void) { return xk_test_main_rcu(suites); }

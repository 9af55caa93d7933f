/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_scan.c - the finder of places follows a path of keys through any source,
 * and through no source past its end.
 */
#include <stdlib.h>
#include <string.h>

#include "runtime/compose/compose_priv.h"
#include "tests/support/xk_test.h"

/* More than any source here needs. */
static uint64_t left = 1000000000;

static void at(const char *text, int line, const char *callee, const char *a, const char *b, int want_line, int want_col)
{
	struct scan_step step[2] = { { .name = a }, { .name = b } };
	int l, c;

	scan_place(text, strlen(text), line, callee, step, (a != NULL) + (b != NULL), &left, &l, &c);
	CU_ASSERT_EQUAL(l, want_line);
	CU_ASSERT_EQUAL(c, want_col);
}

static void a_key_is_found_on_its_own_line(void)
{
	at("x = 1\nudp {\n  a = 1,\n  bb = 2 }\n", 2, "udp", "bb", NULL, 4, 3);
	at("udp { a = 1, bb = 2 }", 1, "udp", "bb", NULL, 1, 14);
	at("udp({ a = 1 })", 1, "udp", "a", NULL, 1, 7);
	at("graph \"x y\" { a = 1 }", 1, "graph", "a", NULL, 1, 15);
	at("udp { [\"a\"] = 1, ['b'] = 2 }", 1, "udp", "b", NULL, 1, 19);
}

static void comments_strings_and_nested_tables_do_not_mislead(void)
{
	at("udp { --[[ b = 1 ]] x = \"b = 2\", b = 3 }", 1, "udp", "b", NULL, 1, 34);
	at("udp { x = { b = 1 }, b = 2 }", 1, "udp", "b", NULL, 1, 22);
	at("udp { x = [==[ b = 1 ]] ]==], b = 2 }", 1, "udp", "b", NULL, 1, 31);
	at("udp { f = function(p, q) local t = { b = 1 } return p, q end, b = 2 }", 1, "udp", "b", NULL, 1, 63);
	at("udp { x == b, b = 2 }", 1, "udp", "b", NULL, 1, 15);
	at("udp { 'it\\'s b = 1', b = 2 }", 1, "udp", "b", NULL, 1, 22);
	at("udp { x = a < b and { 1 } or f(b, { b = 1 }), b = 2 }", 1, "udp", "b", NULL, 1, 47);
}

static void the_second_call_of_a_line_is_tried_too(void)
{
	at("stack { udp { a = 1 }, udp { b = 2 } }", 1, "udp", "b", NULL, 1, 30);
	at("local u = udp; u { b = 1 }", 1, "udp", "b", NULL, 1, 20);
}

static void a_path_goes_into_tables(void)
{
	at("arp {\n n = {\n  [\"10.0.0.2\"] = 1,\n  [\"10.0.0.3\"] = 2 } }", 1, "arp", "n", "10.0.0.3", 4, 4);
	at("graph \"g\" { t = { v = 1 } }", 1, "graph", "t", "v", 1, 19);
	at("graph \"g\" { t = other }", 1, "graph", "t", "v", 1, 13);
}

static void what_the_source_does_not_show_is_the_call(void)
{
	at("local t = { a = 1 }\nudp(t)\n", 2, "udp", "a", NULL, 2, 1);
	at("udp { }", 1, "udp", NULL, NULL, 1, 1);
	at("nothing here", 1, "udp", "a", NULL, 1, 0);
	at("", 7, "udp", "a", NULL, 7, 0);
}

static void a_list_is_counted_over_its_names(void)
{
	struct scan_step step = { .i = 2 };
	const char *text = "stack { a = 1, x {}, y { 1, 2 }, z }";
	int l, c;

	CU_ASSERT(scan_place(text, strlen(text), 1, "stack", &step, 1, &left, &l, &c));
	CU_ASSERT_EQUAL(c, 22);
}

static void every_cut_of_a_source_ends(void)
{
	static const char text[] = "--[==[ x ]==] udp { a = [[ ]] , b = 'c\\'d', [\"e\"] = { f = function() end }, g = 1 } -- [[";
	struct scan_step step = { .name = "g" };
	int l, c;

	for (size_t n = 0; n <= sizeof text - 1; n++) {
		char *copy = malloc(n ? n : 1);

		memcpy(copy, text, n);
		scan_place(copy, n, 1, "udp", &step, 1, &left, &l, &c);
		scan_place(copy, n, 1, NULL, &step, 1, &left, &l, &c);
		free(copy);
	}
	CU_PASS();
}

static CU_TestInfo tests[] = {
	{ "a key is found on its own line", a_key_is_found_on_its_own_line },
	{ "comments, strings and nested tables do not mislead", comments_strings_and_nested_tables_do_not_mislead },
	{ "the second call of a line is tried too", the_second_call_of_a_line_is_tried_too },
	{ "a path goes into tables", a_path_goes_into_tables },
	{ "what the source does not show is the call", what_the_source_does_not_show_is_the_call },
	{ "a list is counted over its names", a_list_is_counted_over_its_names },
	{ "every cut of a source ends", every_cut_of_a_source_ends },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "scan", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}

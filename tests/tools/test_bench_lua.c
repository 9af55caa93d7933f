/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_bench_lua.c - documents on their way through Lua modules: nothing is lost, nothing
 * changes its place.
 */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/xk_rand.h"
#include "tests/support/xk_test.h"
#include "tools/vp-bench/bench_lua.h"

static const char module[] =
	"local json, metrics = require 'json', require 'metrics'\n"
	"local t = {}\n"
	"function t.same(v) return v end\n"
	"function t.order(v) local s = '' for k, x in pairs(v) do s = s .. k .. tostring(x) end return s end\n"
	"function t.keys(v) return json.keys(v) end\n"
	"function t.change(v) v.b = nil v.zz = 1 v.y = 2 return v end\n"
	"function t.made() return json.object({ 'z', 'n', 'a' }, { a = 1, z = 2 }) end\n"
	"function t.none() return { list = json.list {}, object = {} } end\n"
	"function t.holes(v) return #v end\n"
	"function t.text(v) return json.text(v) end\n"
	"function t.metric(i) return metrics[i] end\n"
	"function t.world() return tostring(io or os or package.cpath ~= '') end\n"
	"function t.drawn(seed, stream, n)\n"
	"  local r, v = require('rand').new(seed, stream), {}\n"
	"  for i = 1, 100 do v[i] = r:below(n) end\n"
	"  return v\n"
	"end\n"
	"function t.wrong() error('it is wrong\\nreally', 0) end\n"
	"return t\n";

static char dir[] = "/tmp/bench-lua-XXXXXX", file[64];

static int begin(void)
{
	FILE *f;

	if (mkdtemp(dir) == NULL)
		return 1;
	snprintf(file, sizeof file, "%s/t.lua", dir);
	f = fopen(file, "w");
	if (f == NULL || fputs(module, f) < 0 || fclose(f) != 0)
		return 1;
	bench_lua_from(dir);
	return 0;
}

static int end(void)
{
	bench_lua_from(NULL);
	unlink(file);
	return rmdir(dir);
}

/* function(v), as JSON on one line. */
static void gives(const char *function, const char *v, const char *want)
{
	json_t *arg = json_loads(v, JSON_DECODE_ANY, NULL), *got;
	char why[200] = "", *text;

	got = bench_lua_call("t", function, &arg, 1, why, sizeof why);
	CU_ASSERT_STRING_EQUAL(why, "");
	text = json_dumps(got, JSON_ENCODE_ANY | JSON_COMPACT);
	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	CU_ASSERT_STRING_EQUAL(text, want);
	free(text);
	json_decref(got);
	json_decref(arg);
}

#define DOCUMENT "{\"z\":1,\"b\":{\"y\":[],\"a\":{},\"n\":null},\"a\":[1,null,2.5,null],\"m\":null,\"s\":\"a\\nb\",\"t\":true}"

static void a_document_comes_back_as_it_was(void)
{
	gives("same", DOCUMENT, DOCUMENT);
	gives("text", "{\"z\":1,\"b\":null,\"a\":[null]}", "\"{\\\"z\\\":1,\\\"b\\\":null,\\\"a\\\":[null]}\"");
}

static void pairs_follows_the_document(void)
{
	gives("order", "{\"z\":1,\"b\":null,\"a\":3,\"c\":4}", "\"z1a3c4\"");
	gives("keys", "{\"z\":1,\"b\":null,\"a\":3}", "[\"z\",\"b\",\"a\"]");
}

static void what_lua_adds_comes_last(void)
{
	gives("change", "{\"z\":1,\"b\":5,\"n\":null,\"a\":3}", "{\"z\":1,\"n\":null,\"a\":3,\"y\":2,\"zz\":1}");
	gives("made", "0", "{\"z\":2,\"n\":null,\"a\":1}");
}

static void an_empty_list_is_a_list(void)
{
	gives("none", "0", "{\"list\":[],\"object\":{}}");
	gives("holes", "[null,1,null]", "3");
}

static void metrics_are_known_and_files_are_not(void)
{
	gives("metric", "1", "{\"better\":\"higher\",\"doc\":\"payload bits per second\",\"name\":\"gbit\",\"unit\":\"Gbit/s\"}");
	gives("world", "0", "\"false\"");
}

static void what_goes_wrong_is_a_sentence(void)
{
	char why[200] = "";

	CU_ASSERT_PTR_NULL(bench_lua_text("t", "wrong", NULL, 0, why, sizeof why));
	CU_ASSERT_STRING_EQUAL(why, "it is wrong really");
	CU_ASSERT_PTR_NULL(bench_lua_text("t", "none", NULL, 0, why, sizeof why));
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "string expected, got table"));
	CU_ASSERT_PTR_NULL(bench_lua_call("t", "no_such", NULL, 0, why, sizeof why));
}

/* So that what is resampled is the same whoever does it. */
static void random_numbers_are_those_of_the_runtime(void)
{
	static const uint64_t below[] = { 2, 7, 12, 1000, 2147483647 };
	struct xk_rand own;
	char why[200];

	for (unsigned i = 0; i < XK_ARRAY_LEN(below); i++) {
		json_t *args[] = { json_integer(1000 + i), json_integer(i), json_integer((json_int_t)below[i]) }, *v;

		xk_rand_init(&own, 1000 + i, i);
		v = bench_lua_call("t", "drawn", args, 3, why, sizeof why);
		CU_ASSERT_EQUAL(json_array_size(v), 100);
		for (unsigned k = 0; k < 100; k++)
			CU_ASSERT_EQUAL(json_integer_value(json_array_get(v, k)), (json_int_t)xk_rand_below(&own, below[i]));
		json_decref(v);
		for (unsigned k = 0; k < 3; k++)
			json_decref(args[k]);
	}
}

/* Keys of models stand in their order, and what was not measured is null. */
static void a_machine_that_was_measured_in_part_is_null_in_part(void)
{
	static const char said[] = "{\"schema\":2,\"tool\":\"vp-bench calibrate\",\"version\":\"v\",\"environment\":{\"cpus\":1},"
		"\"model\":{\"lock_local_ns\":null,\"lock_recorded_ns\":null,\"lock_bounced_ns\":null,\"hand_off_ns\":null,"
		"\"wake_up_ns\":null,\"switch_ns\":null,\"clock_ns\":4.5,\"copy\":%s},"
		"\"presets\":[{\"name\":\"up\",\"runs\":3,\"message_ns\":2.5,\"lowest_ns\":1.5,\"highest_ns\":9.5},"
		"{\"name\":\"mp\",\"runs\":0,\"message_ns\":null,\"lowest_ns\":null,\"highest_ns\":null,\"why\":\"not built\"}],"
		"\"micro\":[{\"name\":\"lock spin, two want it\",\"median\":null},{\"name\":\"reading the clock\",\"median\":4.5}]}";
	json_t *measured = json_pack("{s:{s:i}, s:n, s:[{s:s, s:[f,f,f], s:s}, {s:s, s:[], s:s}], s:[{s:s, s:n}, {s:s, s:f}]}",
		"environment", "cpus", 1, "copies", "presets", "name", "up", "ns", 2.5, 9.5, 1.5, "why", "once",
		"name", "mp", "ns", "why", "not built", "micro", "name", "lock spin, two want it", "median",
		"name", "reading the clock", "median", 4.5);
	json_t *args[] = { json_string("v"), measured };
	char want[1200], why[200] = "";

	for (unsigned i = 0; i < 2; i++) {
		json_t *doc = bench_lua_call("calibrate", "document", args, 2, why, sizeof why);
		char *text = json_dumps(doc, JSON_COMPACT);

		snprintf(want, sizeof want, said, i == 0 ? "null" : "{\"fixed_ns\":1.0,\"per_byte_ns\":0.5}");
		CU_ASSERT_PTR_NOT_NULL_FATAL(text);
		CU_ASSERT_STRING_EQUAL(text, want);
		free(text);
		json_decref(doc);
		json_object_set_new(measured, "copies", json_pack("{s:[i,i], s:[f,f]}", "bytes", 2, 10, "ns", 2.0, 6.0));
	}
	json_decref(args[0]);
	json_decref(args[1]);
}

static CU_TestInfo tests[] = {
	{ "a machine that was measured in part is null in part", a_machine_that_was_measured_in_part_is_null_in_part },
	{ "a document comes back as it was", a_document_comes_back_as_it_was },
	{ "pairs follows the document", pairs_follows_the_document },
	{ "what Lua adds comes last", what_lua_adds_comes_last },
	{ "an empty list is a list", an_empty_list_is_a_list },
	{ "metrics are known, and files are not", metrics_are_known_and_files_are_not },
	{ "random numbers are those of the runtime", random_numbers_are_those_of_the_runtime },
	{ "what goes wrong is a sentence", what_goes_wrong_is_a_sentence },
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static CU_SuiteInfo suites[] = {
		{ .pName = "Lua modules", .pInitFunc = begin, .pCleanupFunc = end, .pTests = tests }, CU_SUITE_INFO_NULL
	};

	return xk_test_main(suites);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_embed_build.c - graphs that a program builds node by node: they run like those of files, and what is wrong
 * names the call that it came from.
 */
#include "runtime/embed/xk_embed.h"
#include "runtime/mem/xk_alloc.h"
#include "runtime/sync/xk_sync.h"
#include "tests/support/xk_test_graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEVER UINT64_MAX

static uint64_t live;

static struct xk_embed *fresh(const char *name)
{
	struct xk_embed *g;

	live = xk_alloc_live();
	g = xk_embed_new(name);
	CU_ASSERT_PTR_NOT_NULL_FATAL(g);
	return g;
}

static void gone(struct xk_embed *g)
{
	CU_ASSERT_EQUAL(xk_embed_free(g), 0);
	xk_rcu_barrier();
	CU_ASSERT_EQUAL(xk_alloc_live(), live);
}

/* A host over one end of the cable: the number of its udp. */
static int host(struct xk_embed *g, const char *addr)
{
	int cable = xk_embed_add(g, "eth_mem", NULL), eth = xk_embed_add(g, "eth", NULL);
	int arp = xk_embed_add(g, "arp", NULL), ip = xk_embed_add(g, "ip", NULL), udp = xk_embed_add(g, "udp", NULL);

	xk_embed_set_text(g, cable, "wire", "cable");
	xk_embed_set_text(g, ip, "addr", addr);
	xk_embed_over(g, eth, cable);
	xk_embed_over(g, arp, eth);
	xk_embed_over(g, ip, arp);
	CU_ASSERT_EQUAL(xk_embed_over(g, udp, ip), XK_OK);
	return udp;
}

/* A client, an echo server, virtual time; the number of the client. */
static int pair(struct xk_embed *g)
{
	int here = host(g, "10.0.0.1/24"), there = host(g, "10.0.0.2/24");
	int echo = xk_embed_add(g, "echo", NULL), load = xk_embed_add(g, "load", "client");

	CU_ASSERT(load > echo && echo > there && there > here && here > XK_EMBED_GRAPH);
	xk_embed_over(g, echo, there);
	xk_embed_over(g, load, here);
	xk_embed_set_text(g, load, "to", "10.0.0.2");
	xk_embed_set(g, load, "port", "7");
	xk_embed_set(g, load, "window", "1");
	xk_embed_set(g, XK_EMBED_GRAPH, "clock", "\"virtual\"");
	return load;
}

static void is_a_graph_like_one_of_a_file(void)
{
	struct xk_embed *g = fresh("pair");
	int load = pair(g);
	char value[32];
	uint64_t n = 0;

	xk_embed_set(g, load, "count", "30");
	CU_ASSERT_EQUAL(xk_embed_set(g, XK_EMBED_GRAPH, "threading", "vppc { vps = 2 }"), XK_OK);
	CU_ASSERT_EQUAL(xk_embed_check(g), XK_OK);
	CU_ASSERT_EQUAL(xk_embed_check(g), XK_OK);
	CU_ASSERT_EQUAL(xk_embed_add(g, "udp", NULL), XK_E_ALREADY);
	CU_ASSERT_EQUAL(xk_embed_start(g), XK_OK);
	CU_ASSERT_EQUAL(xk_embed_wait(g, NEVER), XK_OK);
	CU_ASSERT_STRING_EQUAL(xk_embed_errors(g), "");
	CU_ASSERT_EQUAL(xk_embed_count(g, "client", "answers", &n), XK_OK);
	CU_ASSERT_EQUAL(n, 30);
	CU_ASSERT_EQUAL(xk_embed_get(g, "udp2", "nothing", value, sizeof value), XK_E_NOENT);
	CU_ASSERT_EQUAL(xk_embed_get(g, "ip2", "addr", value, sizeof value), XK_OK);
	CU_ASSERT_STRING_EQUAL(value, "10.0.0.2/24");
	gone(g);
}

/* ---- values ------------------------------------------------------------------------------ */

static void a_value_is_what_a_file_would_say(void)
{
	static const char odd[] = "a \"cable\" \\ of\nlength\t7\x01 {}";
	struct xk_embed *g = fresh(NULL);
	int load = pair(g);
	uint64_t n = 0;

	xk_embed_set(g, load, "count", "3 * 7 -- a comment ends with its line");
	xk_embed_set(g, load, "size", "\n\n\"1KiB\"\n");
	xk_embed_set_text(g, load, "timeout", "2s");
	xk_embed_set_text(g, XK_EMBED_GRAPH, "doc", odd);
	CU_ASSERT_EQUAL(xk_embed_start(g), XK_OK);
	CU_ASSERT_STRING_EQUAL(xk_embed_errors(g), "");
	CU_ASSERT_EQUAL(xk_embed_wait(g, NEVER), XK_OK);
	CU_ASSERT_EQUAL(xk_embed_count(g, "client", "bytes", &n), XK_OK);
	CU_ASSERT_EQUAL(n, 21 * 1024);
	gone(g);
}

static void a_text_arrives_as_it_was(void)
{
	static const char odd[] = "a \"b\" \\ c\td { } ' [[e]]";
	struct xk_embed *g = fresh(NULL);
	char value[64];
	int one = xk_embed_add(g, "eth_mem", NULL);

	xk_embed_set_text(g, one, "wire", odd);
	xk_embed_over(g, xk_embed_add(g, "eth", NULL), one);
	xk_embed_set(g, XK_EMBED_GRAPH, "clock", "\"virtual\"");
	CU_ASSERT_EQUAL(xk_embed_start(g), XK_OK);
	CU_ASSERT_STRING_EQUAL(xk_embed_errors(g), "");
	CU_ASSERT_EQUAL(xk_embed_get(g, "eth_mem", "wire", value, sizeof value), XK_OK);
	CU_ASSERT_STRING_EQUAL(value, odd);
	CU_ASSERT_EQUAL(xk_embed_get(g, "eth_mem", "wire", value, 4), XK_OK);
	CU_ASSERT_STRING_EQUAL(value, "a \"");
	gone(g);
}

/* More than a function of Lua may have variables. */
static void many_nodes_are_built(void)
{
	struct xk_embed *g = fresh(NULL);
	int at = host(g, "10.0.0.1/24"), last = 0;

	for (int i = 0; i < 300; i++) {
		last = xk_embed_add(g, "hop", NULL);
		xk_embed_over(g, last, at);
		at = last;
	}
	at = xk_embed_add(g, "echo", NULL);
	xk_embed_over(g, at, last);
	xk_embed_set(g, XK_EMBED_GRAPH, "clock", "\"virtual\"");
	CU_ASSERT_EQUAL(xk_embed_check(g), XK_OK);
	CU_ASSERT_STRING_EQUAL(xk_embed_errors(g), "");
	CU_ASSERT_EQUAL(xk_embed_start(g), XK_OK);
	CU_ASSERT_STRING_EQUAL(xk_embed_node(g, 304), "hop300");
	gone(g);
}

/* ---- what is wrong names the call ------------------------------------------------------------ */

/* An error of g is of that line of this file, and has that text. */
static void told(struct xk_embed *g, int line, const char *text)
{
	char want[160];

	CU_ASSERT_EQUAL(xk_embed_start(g), XK_E_INVAL);
	snprintf(want, sizeof want, "test_embed_build.c:%d: %s", line, text);
	if (strstr(xk_embed_errors(g), want) == NULL)
		printf("# wanted: %s\n# told: %s", want, xk_embed_errors(g));
	CU_ASSERT_PTR_NOT_NULL(strstr(xk_embed_errors(g), want));
	gone(g);
}

static void faults_that_a_call_sees(void)
{
	struct xk_embed *g = fresh(NULL);
	int udp;

	(void)pair(g);
	CU_ASSERT_EQUAL(xk_embed_set(g, 99, "port", "7"), XK_E_INVAL);
	told(g, __LINE__ - 1, "there is no node 99: 12 were added");
	g = fresh(NULL);
	CU_ASSERT_EQUAL(xk_embed_add(g, "u d p", NULL), XK_E_INVAL);
	told(g, __LINE__ - 1, "'u d p' is no name of a protocol or driver");
	g = fresh(NULL);
	udp = xk_embed_add(g, "udp", NULL);
	CU_ASSERT_EQUAL(xk_embed_over(g, udp, xk_embed_add(g, "ip", NULL)), XK_E_INVAL);
	told(g, __LINE__ - 1, "a node stands over nodes that were added before it: 1 over 2 is the wrong way round");
	g = fresh(NULL);
	CU_ASSERT_EQUAL(xk_embed_set(g, xk_embed_add(g, "udp", NULL), "over", "1"), XK_E_INVAL);
	told(g, __LINE__ - 1, "'over' is no parameter: xk_embed_over says it");
	g = fresh(NULL);
	CU_ASSERT_EQUAL(xk_embed_set(g, xk_embed_add(g, "udp", NULL), "a = 1, b", "1"), XK_E_INVAL);
	told(g, __LINE__ - 1, "'a = 1, b' is no name of a parameter");
	g = fresh(NULL);
	CU_ASSERT_EQUAL(xk_embed_set(g, xk_embed_add(g, "udp", NULL), "port", NULL), XK_E_INVAL);
	told(g, __LINE__ - 1, "parameter 'port' is given no value");
	g = fresh(NULL);
	CU_ASSERT_EQUAL(xk_embed_over(g, XK_EMBED_GRAPH, xk_embed_add(g, "udp", NULL)), XK_E_INVAL);
	told(g, __LINE__ - 1, "the graph itself stands over no node");
}

static void a_fault_is_told_once(void)
{
	struct xk_embed *g = fresh(NULL);
	int none = xk_embed_add(g, "", NULL);

	CU_ASSERT_EQUAL(xk_embed_set(g, none, "port", "7"), XK_E_INVAL);
	CU_ASSERT_EQUAL(xk_embed_over(g, none, none), XK_E_INVAL);
	CU_ASSERT_EQUAL(xk_embed_start(g), XK_E_INVAL);
	CU_ASSERT_PTR_EQUAL(strchr(xk_embed_errors(g), '\n'), strrchr(xk_embed_errors(g), '\n'));
	gone(g);
}

static void faults_that_the_check_sees(void)
{
	struct xk_embed *g = fresh(NULL);
	int load = pair(g);

	xk_embed_set(g, load, "size", "\n\n\"1KiB\"\n");
	xk_embed_set(g, load, "cuont", "7");
	told(g, __LINE__ - 1, "load 'client': unknown parameter 'cuont' (did you mean 'count'?)");
	g = fresh(NULL);
	load = pair(g);
	xk_embed_set(g, load, "size", "\n\n\"1KiB\" -- of three lines and more\n\n");
	xk_embed_set(g, load, "count", "-7");
	told(g, __LINE__ - 1, "load 'client': parameter 'count' must not be negative");
	g = fresh(NULL);
	load = pair(g);
	xk_embed_set(g, load, "count", "many");
	told(g, __LINE__ - 1, "unknown name 'many'");
	g = fresh(NULL);
	load = pair(g);
	xk_embed_set(g, load, "count", "(((");
	told(g, __LINE__ - 1, "");
	g = fresh(NULL);
	xk_embed_add(g, "upd", NULL);
	told(g, __LINE__ - 1, "unknown name 'upd' (did you mean 'udp'?)");
	g = fresh(NULL);
	(void)pair(g);
	xk_embed_set(g, XK_EMBED_GRAPH, "threading", "vppc { vps = 0 }");
	told(g, __LINE__ - 1, "vppc: parameter 'vps'");
	g = fresh(NULL);
	load = xk_embed_add(g, "echo", "a");
	xk_embed_over(g, load, load - 1);
	told(g, __LINE__ - 1, "the graph itself stands over no node, and no node over it");
	g = fresh(NULL);
	load = xk_embed_add(g, "eth_mem", NULL);
	xk_embed_over(g, xk_embed_add(g, "echo", NULL), load);
	told(g, __LINE__ - 1, "echo: cannot sit over eth_mem");
	g = fresh("empty");
	xk_embed_set(g, XK_EMBED_GRAPH, "clock", "\"virtual\"");
	told(g, __LINE__ - 1, "graph: there is no node in it");
	g = fresh(NULL);
	CU_ASSERT_EQUAL(xk_embed_add(g, "udp", "no name"), 1);
	told(g, __LINE__ - 1, "udp: 'name' needs letters");
}

/* ---- memory -------------------------------------------------------------------------------------- */

static bool fails_in_order(uint64_t k)
{
	struct xk_embed *g;
	bool failed;
	int err;

	live = xk_alloc_live();
	xk_mem_fail_after(k);
	g = xk_embed_new(NULL);
	if (g != NULL) {
		int load = xk_embed_add(g, "load", "one"), over = xk_embed_add(g, "udp", NULL);

		xk_embed_over(g, over, load);
		xk_embed_set(g, load, "count", "1");
		xk_embed_set_text(g, load, "to", "10.0.0.1");
	}
	err = g != NULL ? xk_embed_check(g) : XK_E_NOMEM;
	failed = xk_mem_tries() >= k;
	xk_mem_fail_after(0);
	CU_ASSERT(err == XK_E_NOMEM || err == XK_E_INVAL);
	if (g != NULL)
		CU_ASSERT(strlen(xk_embed_errors(g)) > 5);
	gone(g);
	return failed;
}

static void no_memory_leaves_nothing(void)
{
	uint64_t k = 1;

	while (fails_in_order(k))
		k++;
	CU_ASSERT(k > 15);
}

static CU_TestInfo tests[] = {
	{ "what is built is a graph like one of a file", is_a_graph_like_one_of_a_file },
	{ "a value is what a file would say", a_value_is_what_a_file_would_say },
	{ "a text arrives as it was", a_text_arrives_as_it_was },
	{ "many nodes are built", many_nodes_are_built },
	{ "faults that a call sees name it", faults_that_a_call_sees },
	{ "a fault is told once", a_fault_is_told_once },
	{ "faults that the check sees name the call", faults_that_the_check_sees },
	{ "no memory leaves nothing", no_memory_leaves_nothing },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "embed_build", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void) { return xk_test_main(suites); }

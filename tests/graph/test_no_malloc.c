/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_no_malloc.c - after warm-up, messages flow without one call of the
 * allocator, and few of them take the lock of the buffers' stock: nearly none where a
 * connection has one thread from end to end, a part where each message has another.
 *
 * This program's own malloc family counts and passes on to the C library's.
 * The graph runs under the virtual schedule, so the counts are exact.
 */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <string.h>

#include "runtime/compose/xk_compose.h"
#include "runtime/upi/xk_part.h"
#include "tests/support/xk_test.h"

#if defined(__SANITIZE_ADDRESS__) || defined(XK_TSAN)
#define SANITISED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITISED 1
#endif
#endif
#ifndef SANITISED
#define SANITISED 0
#endif

static uint64_t allocations;

#if !SANITISED
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t m);
void *__libc_realloc(void *p, size_t n);
void *malloc(size_t n);
void *calloc(size_t n, size_t m);
void *realloc(void *p, size_t n);

static void note(void)
{
	__atomic_store_n(&allocations, __atomic_load_n(&allocations, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
}

void *malloc(size_t n) { note(); return __libc_malloc(n); }
void *calloc(size_t n, size_t m) { note(); return __libc_calloc(n, m); }
void *realloc(void *p, size_t n) { note(); return __libc_realloc(p, n); }
#endif

static const char udp_text[] =
	"local a = fddi_mem { name = 'a', mac = '02:00:00:00:00:01', wire = 'w' }\n"
	"local b = fddi_mem { name = 'b', mac = '02:00:00:00:00:02', wire = 'w' }\n"
	"local function inet(n, d, addr, peer, mac)\n"
	"  local l = fddi { name = 'fddi' .. n, over = d }\n"
	"  local r = arp { name = 'arp' .. n, over = l, neighbours = { [peer] = mac } }\n"
	"  return udp { name = 'udp' .. n, over = ip { name = 'ip' .. n, addr = addr, over = r } }\n"
	"end\n"
	"local ua = inet('a', a, '10.0.0.1/8', '10.0.0.2', '02:00:00:00:00:02')\n"
	"local ub = inet('b', b, '10.0.0.2/8', '10.0.0.1', '02:00:00:00:00:01')\n"
	"echo { port = 7, over = ub }\n"
	"load { conns = 40, size = 64, to = '10.0.0.2', port = 7, over = ua }\n"
	"return graph 'no-malloc' { threading = vppc { vps = 4 }, clock = 'virtual' }\n";

/* The same with the presentation layer, datagrams of one piece and of several, and a stream. */
static const char xdr_text[] =
	"local function inet(n, addr, peer)\n"
	"  return ip { name = 'ip' .. n, addr = addr, over = arp { name = 'arp' .. n,\n"
	"    neighbours = { [peer .. 1] = '02:00:00:00:00:01', [peer .. 2] = '02:00:00:00:00:02' }, over = eth { name = 'eth' .. n,\n"
	"    over = eth_mem { name = 'mem' .. n, mac = '02:00:00:00:00:0' .. n, wire = 'w', queue = 65536 } } } }\n"
	"end\n"
	"local a, b = inet(1, '10.0.0.1/8', '10.0.0.'), inet(2, '10.0.0.2/8', '10.0.0.')\n"
	"local ua, ub = xdr { over = udp { over = a } }, xdr { over = udp { over = b } }\n"
	"local ta, tb = xdr { fragment = 20, over = tcp { over = a } }, xdr { over = tcp { over = b } }\n"
	"echo { port = 7, over = ub }\n"
	"load { conns = 4, size = 64, to = '10.0.0.2', port = 7, over = ua }\n"
	"load { conns = 4, size = 8192, to = '10.0.0.2', port = 7, over = ua }\n"
	"sink { port = 9, size = 4096, over = tb }\n"
	"load { conns = 4, size = 4096, to = '10.0.0.2', port = 9, over = ta }\n"
	"return graph 'no-malloc-xdr' { threading = vppc { vps = 4 }, clock = 'virtual' }\n";

static struct xk_graph *graph_up(const char *text, struct xk_spec **s, struct xk_errs *e)
{
	struct xk_compose_opts o = { 0 };
	struct xk_graph *g = NULL;

	CU_ASSERT_EQUAL_FATAL(xk_spec_load_text(s, "no-malloc.lua", text, strlen(text), &o, e), XK_OK);
	CU_ASSERT_EQUAL_FATAL(xk_spec_check(*s, e, NULL), XK_OK);
	CU_ASSERT_EQUAL_FATAL(xk_spec_build(*s, &g, e), XK_OK);
	CU_ASSERT_EQUAL_FATAL(xk_graph_up(g, e), XK_OK);
	return g;
}

static uint64_t popped(const struct xk_graph *g, const char *name)
{
	const struct xk_node *node = xk_graph_find(g, name);
	uint64_t n = 0;

	for (unsigned v = 0; node != NULL && v < g->vps->nvps; v++)
		n += node->rep[v]->npop;
	return n;
}

static void none_in(struct xk_graph *g, uint64_t least)
{
	uint64_t before, messages, stream;

	xk_vpset_run_virtual(g->vps, 5 * XK_MS);
	messages = popped(g, "echo");
	stream = popped(g, "sink");
	before = allocations;
	xk_vpset_run_virtual(g->vps, 50 * XK_MS);
	messages = popped(g, "echo") - messages;
	CU_ASSERT_EQUAL(allocations, before);
	CU_ASSERT_TRUE(messages > least);
	CU_ASSERT_TRUE(xk_graph_find(g, "sink") == NULL || popped(g, "sink") - stream > least);
}

static void no_message_of(const char *text, uint64_t least)
{
	struct xk_errs *e = xk_errs_new();
	struct xk_spec *s = NULL;
	struct xk_graph *g = graph_up(text, &s, e);

	if (allocations == 0)                        /* building a graph allocates: not ours that was called */
		xk_test_skip("the allocator is another's here: a sanitizer's, or valgrind's");
	else
		none_in(g, least);
	CU_ASSERT_EQUAL(xk_graph_free(g), 0);
	xk_spec_free(s);
	xk_errs_free(e);
}

/* Trips to the shared stock in that time, and messages, with that threading. */
static uint64_t trips_of(const char *threading, uint64_t *messages)
{
	const char *from = strstr(udp_text, "threading = ");
	struct xk_errs *e = xk_errs_new();
	struct xk_spec *s = NULL;
	struct xk_graph *g;
	char text[2048];
	uint64_t trips;

	snprintf(text, sizeof text, "%.*sthreading = %s, clock = 'virtual' }\n", (int)(from - udp_text), udp_text, threading);
	g = graph_up(text, &s, e);
	xk_vpset_run_virtual(g->vps, 5 * XK_MS);
	*messages = popped(g, "echo");
	trips = xk_mempool_trips(g->vps->pool);
	xk_vpset_run_virtual(g->vps, 50 * XK_MS);
	*messages = popped(g, "echo") - *messages;
	trips = xk_mempool_trips(g->vps->pool) - trips;
	CU_ASSERT_EQUAL(xk_graph_free(g), 0);
	xk_spec_free(s);
	xk_errs_free(e);
	return trips;
}

static void few_messages_take_the_allocators_lock(void)
{
	static const struct { const char *threading; uint64_t least; } rows[] = {   /* messages for a trip */
		{ "vppc { vps = 4 }", 1000 }, { "connp_l { vps = 4 }", 1000 }, { "cp {}", 100 }, { "msgp { vps = 4 }", 8 },
		{ "mp { vps = 4 }", 5 },
	};
	uint64_t messages, trips;

	for (unsigned i = 0; i < XK_ARRAY_LEN(rows); i++) {
		trips = trips_of(rows[i].threading, &messages);
		printf("# %s: %llu trips, %llu messages\n", rows[i].threading, (unsigned long long)trips, (unsigned long long)messages);
		CU_ASSERT_TRUE(messages > 1000);
		CU_ASSERT_TRUE(trips * rows[i].least <= messages);
	}
}

static void no_message_allocates_after_warm_up(void) { no_message_of(udp_text, 10000); }

static void no_converted_message_allocates_either(void)
{
	if (xk_proto_find("xdr") == NULL)
		xk_test_skip("this build has no xdr");
	else
		no_message_of(xdr_text, 1000);
}

static CU_TestInfo tests[] = {
	{ "no message allocates after warm-up", no_message_allocates_after_warm_up },
	{ "no converted message allocates either", no_converted_message_allocates_either },
	{ "few messages take the allocator's lock", few_messages_take_the_allocators_lock },
	CU_TEST_INFO_NULL
};

static CU_SuiteInfo suites[] = {
	{ "allocation", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	xk_rcu_register();
	return xk_test_main(suites);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_xdr_presets.c - one graph with the presentation layer, and without it, under every
 * threading architecture.
 *
 * Promises: whatever runs it, over UDP and over TCP, on a clean link and a bad one, with arrays of
 * any length and records in fragments of any length, those above get the bytes that they get
 * without the layer, each exactly once; nothing is refused and nothing left.
 */
#include <stdio.h>
#include <string.h>

#include "runtime/base/xk_rand.h"
#include "runtime/run/xk_run.h"
#include "runtime/upi/xk_part.h"
#include "tests/graph/udp_checker.h"
#include "tests/support/xk_test_graph.h"

#define COUNT 20u

/* Where a fragment was lost the others hold memory that all share, for as long as they are kept: not
 * for half a minute of real time. */
static const char hosts[] =
	"local function host(addr, neighbours, own, n, fault)\n"
	"  local d = eth_mem { name = 'd' .. n, wire = 'w', mac = own, queue = 65536 }\n"
	"  if fault then fault.over = d; d = impair(fault) end\n"
	"  return ip { addr = addr, reass_timeout = FAULT and '100ms' or nil, over = arp { name = 'arp' .. n, neighbours = neighbours,\n"
	"    over = eth { name = 'link' .. n, over = d } } }\n"
	"end\n"
	"local macs = { ['10.0.0.1'] = '02:00:00:00:00:01', ['10.0.0.2'] = '02:00:00:00:00:02' }\n"
	"local s, c = host('10.0.0.2/24', macs, macs['10.0.0.2'], '1'), host('10.0.0.1/24', macs, macs['10.0.0.1'], '0', FAULT)\n";

/* connections, count, size, time to resend */
static const char udp_fmt[] =
	"echo { port = 7, over = LAYER(1, udp { name = 'server', over = s }) }\n"
	"checker { to = '10.0.0.2', conns = %u, count = %u, size = %u, resend = '%s', over = LAYER(2, udp { name = 'client', over = c }) }\n";
/* size, connections, count, size */
/* Sends again soon, and for as long as a busy machine may let it wait. */
static const char tcp_fmt[] =
	"local function patient(over)\n"
	"  return tcp { quirks = { rto_init = '20ms', rto_min = '20ms', rto_max = '1s', syn_retries = 100,\n"
	"    synack_retries = 100, retries = 100 },\n"
	"    over = over }\n"
	"end\n"
	"sink { name = 'recv', port = 9, size = %u, touch = 'verify', count = %u, over = LAYER(1, patient(s)) }\n"
	"load { to = '10.0.0.2', port = 9, conns = %u, count = %u, size = %u, over = LAYER(2, patient(c)) }\n";

struct job {
	const char *fields;            /* "threading = up {}" */
	const char *impair;            /* "nil", or a table */
	bool        tcp, xdr;
	unsigned    conns, size, most, fragment;
};

static struct run {
	struct xk_errs       *e;
	struct xk_spec       *s;
	struct xk_graph      *g;
	struct xk_run_result  r;
} run;

static void compose(const struct job *j, char *text, size_t n)
{
	size_t used = (size_t)snprintf(text, n, "local FAULT = %s\n"
		"local function LAYER(n, low)\n"
		"  if not %s then return low end\n"
		"  return xdr { name = 'xdr' .. n, samples = %u, fragment = %u, over = low }\n"
		"end\n%s", j->impair, j->xdr ? "true" : "false", j->most, j->fragment, hosts);

	if (j->tcp)
		used += (size_t)snprintf(text + used, n - used, tcp_fmt, j->size, j->conns * COUNT, j->conns, COUNT, j->size);
	else
		used += (size_t)snprintf(text + used, n - used, udp_fmt, j->conns, COUNT, j->size,
					 strcmp(j->impair, "nil") == 0 ? "1h" : "20ms");
	snprintf(text + used, n - used, "return graph 'xdr' { %s }\n", j->fields);
}

static void begin(const struct job *j)
{
	struct xk_compose_opts o = { .table = xk_test_table(&xk_proto_checker) };
	struct xk_run_opts ro = { .stop_fd = -1, .duration = 300 * XK_SEC };   /* then something is lost */
	char text[4096];

	chk_reset();
	memset(&run, 0, sizeof run);
	run.e = xk_errs_new();
	compose(j, text, sizeof text);
	if (xk_spec_load_text(&run.s, "xdr.lua", text, strlen(text), &o, run.e) != XK_OK ||
	    xk_spec_check(run.s, run.e, NULL) != XK_OK || xk_spec_build(run.s, &run.g, run.e) != XK_OK ||
	    xk_graph_up(run.g, run.e) != XK_OK || xk_run(run.g, &ro, &run.r, run.e) != XK_OK)
		xk_spec_print_errors(stdout, run.s, run.e, NULL);
	CU_ASSERT_EQUAL_FATAL(xk_errs_count(run.e), 0);
	CU_ASSERT_EQUAL(run.r.end, XK_RUN_FINISHED);
}

/* Counter `name` of a node over all VPs. */
static uint64_t counted(const char *node, const char *name)
{
	struct xk_node *n = xk_graph_find(run.g, node);
	uint64_t sum = 0;
	unsigned i = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(n);
	while (strcmp(n->proto->counts[i], name) != 0)
		i++;
	for (unsigned v = 0; v < run.g->vps->nvps; v++)
		sum += xk_counter_read(n->rep[v]->count[i]);
	return sum;
}

static uint64_t dropped(const char *node)
{
	struct xk_node *n = xk_graph_find(run.g, node);
	uint64_t sum = 0;

	for (unsigned v = 0; v < run.g->vps->nvps; v++)
		for (unsigned i = 0; i < XK_DROPS_MAX; i++)
			sum += xk_counter_read(n->rep[v]->drop[i]);
	return sum;
}

static void check_udp(const struct job *j)
{
	unsigned bad = 0;

	for (unsigned i = 0; i < j->conns; i++)
		bad += !chk_is_right(&chk_conn[i], COUNT);
	CU_ASSERT_EQUAL(bad, 0);
	if (j->xdr && strcmp(j->impair, "nil") == 0) {
		CU_ASSERT_EQUAL(counted("xdr1", "samples_in"), (uint64_t)j->conns * COUNT * (j->size / 32));
		CU_ASSERT_EQUAL(counted("xdr2", "samples_in"), (uint64_t)j->conns * COUNT * (j->size / 32));
	}
}

static void check_tcp(const struct job *j)
{
	uint64_t samples = (uint64_t)j->conns * COUNT * (j->size / 32), each = j->size / 32;

	CU_ASSERT_EQUAL(counted("recv", "messages"), (uint64_t)j->conns * COUNT);
	CU_ASSERT_EQUAL(counted("recv", "wrong_bytes"), 0);
	if (!j->xdr)
		return;
	CU_ASSERT_EQUAL(counted("xdr2", "samples_out"), samples);
	CU_ASSERT_EQUAL(counted("xdr1", "samples_in"), samples);
	CU_ASSERT_EQUAL(counted("xdr1", "records_in"), (uint64_t)j->conns * COUNT * ((each + j->most - 1) / j->most));
	CU_ASSERT_EQUAL(counted("xdr1", "aborted") + counted("xdr2", "aborted"), 0);
}

static void play(const struct job *j)
{
	uint64_t left;

	printf("# %s, %u bytes, %s, %s, %s\n", j->tcp ? "tcp" : "udp", j->size, j->xdr ? "xdr" : "plain",
	       strcmp(j->impair, "nil") == 0 ? "good" : "bad", j->fields);
	begin(j);
	/* Where layers have threads presentation has another one than transport. */
	if (j->xdr && run.g->vps->arch.domain == XK_DOMAIN_LAYER)
		CU_ASSERT(xk_graph_find(run.g, "xdr1")->layer > xk_graph_find(run.g, "xdr1")->down[0]->layer);
	if (j->tcp)
		check_tcp(j);
	else
		check_udp(j);
	if (j->xdr)
		CU_ASSERT_EQUAL(dropped("xdr1") + dropped("xdr2"), 0);
	xk_run_fini(&run.r);
	left = xk_graph_free(run.g);
	if (left != 0)
		printf("# %llu left\n", (unsigned long long)left);
	CU_ASSERT_EQUAL(left, 0);
	xk_spec_free(run.s);
	xk_errs_free(run.e);
}

static const char bad_link[] = "{ loss = '5%', dup = '5%', reorder = '5%', corrupt = '2%', hold = '1ms', seed = 7 }";

static void on(bool tcp, const char *impair)
{
	for (const char *const *p = xk_test_presets(12, XK_TEST_ALL); *p != NULL; p++)
		for (unsigned xdr = 0; xdr < 2; xdr++) {
			struct job small = { *p, impair, tcp, xdr, 12, 64, 2046, 0 };
			struct job large = { *p, impair, tcp, xdr, 3, 4096, 2046, tcp ? 50 : 0 };

			play(&small);
			play(&large);
		}
}

static void every_preset_delivers_the_same_over_udp(void) { on(false, "nil"); }
static void every_preset_delivers_the_same_over_tcp(void) { on(true, "nil"); }

static void a_bad_link_changes_nothing(void)
{
	for (const char *const *p = xk_test_presets(3, XK_TEST_ROWS); *p != NULL; p++)
		for (unsigned tcp = 0; tcp < 2; tcp++) {
			struct job j = { *p, bad_link, tcp, true, 3, 4096, 100, 7 };

			j.most = tcp ? 100 : 2046;
			play(&j);
		}
}

static void any_length_of_array_record_and_fragment_will_do(void)
{
	unsigned long rounds = xk_test_rounds(60);
	struct xk_rand r;

	xk_rand_init(&r, 1994, 0);
	for (unsigned long i = 0; i < rounds; i++) {
		struct job j = { "threading = vppc { vps = 3 }, clock = 'virtual'", i % 3 == 0 ? bad_link : "nil", i % 2 != 0, true,
				 1 + (unsigned)xk_rand_below(&r, 4), 0, 0, 0 };

		j.most = j.tcp ? 1 + (unsigned)xk_rand_below(&r, i % 4 == 1 ? 2046 : 60) : 2046;
		j.fragment = (unsigned)xk_rand_below(&r, 80);
		j.size = 32 * (1 + (unsigned)xk_rand_below(&r, j.tcp && i % 8 == 1 ? 6000 : i % 5 == 0 ? 256 : 40));
		play(&j);
	}
}

static CU_TestInfo tests[] = {
	{ "every preset delivers the same over UDP", every_preset_delivers_the_same_over_udp },
	{ "every preset delivers the same over TCP", every_preset_delivers_the_same_over_tcp },
	{ "a bad link changes nothing", a_bad_link_changes_nothing },
	{ "any length of array, record and fragment will do", any_length_of_array_record_and_fragment_will_do },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "xdr", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void) { return xk_test_main_rcu(suites); }

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_sockload.c - an application with threads of its own, in real time, under every
 * threading architecture: two stacks of one graph, senders on one, receivers on the other.
 *
 * Promises: every byte of every connection arrives, whoever receives; nothing is sent or
 * measured before all connections are established, and what can not be ends the run with a
 * sentence; a graph is taken down whatever its threads are doing, and nothing is left.
 */
#include "runtime/run/xk_run.h"
#include "runtime/sync/xk_sync.h"
#include "runtime/upi/xk_part.h"
#include "tests/support/xk_test_graph.h"

#include <stdio.h>
#include <string.h>

#define CONNS  10u
#define COUNT  12u
#define SIZE   3000u

static struct { struct xk_errs *e; struct xk_spec *s; struct xk_graph *g; uint64_t live; struct xk_run_result r; } run;

/* net(1) and net(2) are the two ends of a cable, dark() is a host whose frames nobody gets. */
#define HOSTS \
	"local macs = { ['10.0.0.1'] = '02:00:00:00:00:01', ['10.0.0.2'] = '02:00:00:00:00:02' }\n" \
	"local function host(n, own, dev)\n" \
	"  return tcp { name = 'tcp' .. n, over = ip { name = 'ip' .. n, addr = own .. '/24',\n" \
	"    over = arp { name = 'arp' .. n, neighbours = macs, over = eth { name = 'eth' .. n, over = dev } } } }\n" \
	"end\n" \
	"local function net(n)\n" \
	"  local own = '10.0.0.' .. n\n" \
	"  return host(n, own, eth_mem { name = 'mem' .. n, wire = 'w', mac = macs[own], queue = 65536 })\n" \
	"end\n" \
	"local function dark() return host(3, '10.0.0.1', eth_mem { mac = macs['10.0.0.1'], over = peer_sink {} }) end\n"

static void load(const char *nodes, const char *fields)
{
	struct xk_compose_opts o = { .path = NULL };
	char text[8192];
	int n = snprintf(text, sizeof text, HOSTS "%s\nreturn graph 'load' { %s }\n", nodes, fields);

	printf("# %s\n", fields);
	run.live = xk_alloc_live();
	run.g = NULL;
	run.e = xk_errs_new();
	if (xk_spec_load_text(&run.s, "load.lua", text, (size_t)n, &o, run.e) != XK_OK ||
	    xk_spec_check(run.s, run.e, NULL) != XK_OK)
		xk_spec_print_errors(stdout, run.s, run.e, NULL);
	CU_ASSERT_EQUAL_FATAL(xk_errs_count(run.e), 0);
}

static void up(const char *nodes, const char *fields)
{
	load(nodes, fields);
	if (xk_spec_build(run.s, &run.g, run.e) != XK_OK || xk_graph_up(run.g, run.e) != XK_OK)
		xk_spec_print_errors(stdout, run.s, run.e, NULL);
	CU_ASSERT_EQUAL_FATAL(xk_errs_count(run.e), 0);
}

static int measure(struct xk_run_opts o)
{
	o.stop_fd = -1;
	return xk_run(run.g, &o, &run.r, run.e);
}

/* A run that goes well. */
static void measure_well(struct xk_run_opts o)
{
	if (measure(o) != XK_OK)
		xk_spec_print_errors(stdout, run.s, run.e, NULL);
	CU_ASSERT_EQUAL_FATAL(xk_errs_count(run.e), 0);
}

static void down(void) { xk_test_unbuild(run.s, run.g, run.e, run.live); }

static uint64_t counted(const char *name, const char *counter)
{
	const struct xk_node *n = xk_graph_find(run.g, name);
	uint64_t sum = 0;
	unsigned i = 0;

	while (strcmp(n->proto->counts[i], counter) != 0)
		i++;
	for (unsigned v = 0; v < run.g->vps->nvps; v++)
		sum += xk_counter_read(n->rep[v]->count[i]);
	return sum;
}

static const struct xk_run_node *measured(const char *name)
{
	return &run.r.node[xk_graph_find(run.g, name)->no];
}

/* ---- bytes ------------------------------------------------------------------------------ */

static const char both_kinds[] =
	"local a, b = sock { name = 'sa', over = net(1) }, net(2)\n"
	"sockload { name = 'read', conns = 10, threads = 2, size = 3000, verify = true, within = '1h',\n"
	"  over = sock { name = 'sb', over = b } }\n"
	"sink { name = 'recv', port = 10, size = 3000, touch = 'verify', over = b }\n"
	"sockload { name = 'one', to = '10.0.0.2', port = 9, conns = 10, threads = 3, size = 3000, count = 12, within = '1h', over = a }\n"
	"sockload { name = 'two', to = '10.0.0.2', port = 10, conns = 10, size = 3000, count = 12, within = '1h', over = a }\n";

static void sent_and_arrived(const char *from, const char *to)
{
	/* No warm-up: measuring begins before the first byte, but after the last connection. */
	CU_ASSERT_EQUAL(measured(from)->messages, CONNS * COUNT);
	CU_ASSERT_EQUAL(measured(from)->bytes, (uint64_t)CONNS * COUNT * SIZE);
	CU_ASSERT_EQUAL(measured(to)->bytes, (uint64_t)CONNS * COUNT * SIZE);
	CU_ASSERT_EQUAL(measured(to)->messages, CONNS * COUNT);
	CU_ASSERT_EQUAL(counted(to, "wrong_bytes"), 0);
	CU_ASSERT_EQUAL(counted(from, "opened"), CONNS);
	CU_ASSERT_EQUAL(counted(from, "ended"), CONNS);
	CU_ASSERT_EQUAL(counted(to, "ended"), CONNS);
	CU_ASSERT_EQUAL(measured(from)->nconns, CONNS);
}

static void every_byte_of_every_connection_arrives(void)
{
	for (const char *const *p = xk_test_presets(24, XK_TEST_ROWS | XK_TEST_CHANGED); *p != NULL; p++) {
		up(both_kinds, *p);
		measure_well((struct xk_run_opts){ 0 });
		CU_ASSERT_EQUAL(run.r.end, XK_RUN_FINISHED);
		sent_and_arrived("one", "read");
		sent_and_arrived("two", "recv");
		xk_run_fini(&run.r);
		down();
	}
}

static void each_connections_messages_are_told(void)
{
	uint64_t seen = 0;

	up(both_kinds, "threading = vppc { vps = 2 }");
	measure_well((struct xk_run_opts){ 0 });
	for (uint64_t i = 0; i < run.r.nconns; i++) {
		const struct xk_run_conn *c = &run.r.conn[i];

		if (strcmp(run.r.node[c->node].node->name, "one") != 0)
			continue;
		CU_ASSERT_EQUAL(c->messages, COUNT);
		CU_ASSERT_EQUAL(c->bytes, (uint64_t)COUNT * SIZE);
		CU_ASSERT_EQUAL(c->vp, c->no % 3 % 2);       /* of thread no % 3, told at its VP's */
		CU_ASSERT_EQUAL(seen >> c->no & 1, 0);
		seen |= 1ull << c->no;
	}
	CU_ASSERT_EQUAL(seen, (1ull << CONNS) - 1);
	xk_run_fini(&run.r);
	down();
}

/* ---- the end ------------------------------------------------------------------------------ */

static const char endless[] =
	"sink { name = 'recv', port = 9, size = 3000, touch = 'none', over = net(2) }\n"
	"sockload { name = 'one', to = '10.0.0.2', conns = 10, threads = 3, size = 3000, within = '1h', over = sock { over = net(1) } }\n";

static void busy_threads_are_stopped(void)
{
	for (const char *const *p = xk_test_presets(24, XK_TEST_ROWS | XK_TEST_CHANGED); *p != NULL; p++) {
		up(endless, *p);
		measure_well((struct xk_run_opts){ .max_messages = 200, .warmup = XK_MS });
		CU_ASSERT_EQUAL(run.r.end, XK_RUN_MESSAGES);
		CU_ASSERT_EQUAL(run.r.noutside, 3);
		CU_ASSERT_EQUAL(run.r.nworkers, run.g->vps->nworkers + 3);
		for (unsigned i = 0; i < 3; i++) {
			struct xk_worker_stats used;

			xk_outside_stats(run.g->vps, i, &used);
			CU_ASSERT(used.cpu_ns > 0);
		}
		CU_ASSERT_EQUAL(measured("one")->nconns, CONNS);
		xk_run_fini(&run.r);
		down();
	}
}

/* Some of them are still opening, or wait for a word that never comes. */
static void threads_are_stopped_wherever_they_are(void)
{
	for (unsigned spins = 0; spins < 40; spins++) {
		up(endless, spins % 2 ? "threading = connp_l {}" : "threading = connp_t {}");
		CU_ASSERT_EQUAL_FATAL(xk_graph_run(run.g, run.e), XK_OK);
		for (unsigned i = 0; i < spins * 10; i++)
			xk_thread_yield();
		CU_ASSERT_EQUAL(counted("one", "messages"), 0);
		down();
	}
}

/* ---- the gate --------------------------------------------------------------------------------- */

static struct xk_app_gate ask(bool go)
{
	struct xk_node *n = xk_graph_find(run.g, "one");
	struct xk_app_gate a = { .go = go };

	CU_ASSERT_EQUAL(n->proto->ops->control(n->rep[0], XK_CTL_APP_GATE, &a, sizeof a), (int)sizeof a);
	return a;
}

static void nothing_is_sent_before_the_word(void)
{
	up(endless, "threading = vppc { vps = 2 }");
	CU_ASSERT_EQUAL_FATAL(xk_graph_run(run.g, run.e), XK_OK);
	while (ask(false).ready < CONNS)
		xk_thread_yield();
	CU_ASSERT_EQUAL(ask(false).of, CONNS);
	CU_ASSERT_EQUAL(ask(false).failed, 0);
	for (unsigned i = 0; i < 1000; i++)
		xk_thread_yield();
	CU_ASSERT_EQUAL(counted("one", "bytes"), 0);
	CU_ASSERT_EQUAL(counted("recv", "bytes"), 0);
	ask(true);
	while (counted("recv", "messages") < 100)
		xk_thread_yield();
	down();
}

/* The whole sentence, after its place. */
static void says(const char *text)
{
	const char *file, *said;
	int line, col;

	CU_ASSERT_EQUAL_FATAL(xk_errs_count(run.e), 1);
	said = xk_errs_text(run.e, 0, &file, &line, &col);
	if (strstr(said, text) == NULL)
		printf("# said: %s\n", said);
	CU_ASSERT_PTR_NOT_NULL(strstr(said, text));
	CU_ASSERT_STRING_EQUAL(file, "load.lua");
	CU_ASSERT(line > 10);
}

static void a_peer_that_never_answers_ends_the_run(void)
{
	for (const char *const *p = xk_test_presets(24, XK_TEST_ROWS); *p != NULL; p++) {
		up("sockload { to = '10.0.0.2', conns = 100, threads = 2, within = '30ms', over = sock { over = dark() } }\n", *p);
		CU_ASSERT_EQUAL(measure((struct xk_run_opts){ 0 }), XK_E_TIMEDOUT);
		says("sockload: only 0 of 100 connections were established after ");
		down();
	}
}

static void a_peer_that_refuses_ends_the_run_at_once(void)
{
	for (const char *const *p = xk_test_presets(24, XK_TEST_ROWS); *p != NULL; p++) {
		up("sink { port = 10, over = net(2) }\n"
		   "sockload { to = '10.0.0.2', conns = 5, within = '1h', over = sock { over = net(1) } }\n", *p);
		CU_ASSERT_EQUAL(measure((struct xk_run_opts){ 0 }), XK_E_CONNREFUSED);
		says("sockload: only 0 of 5 connections were established, 5 came to nothing");
		CU_ASSERT_EQUAL(counted("sockload", "refused"), 5);
		CU_ASSERT_PTR_NOT_NULL(xk_node_failure(xk_graph_find(run.g, "sockload")));
		down();
	}
}

static void a_receiver_waits_for_as_many_as_it_was_told(void)
{
	up("sockload { name = 'read', conns = 5, within = '50ms', over = sock { name = 'sb', over = net(2) } }\n"
	   "sockload { name = 'one', to = '10.0.0.2', conns = 3, over = sock { over = net(1) } }\n", "threading = up {}");
	CU_ASSERT_EQUAL(measure((struct xk_run_opts){ 0 }), XK_E_TIMEDOUT);
	says(" of 5 connections were established after ");
	down();
}

static void without_a_gate_each_sends_at_once(void)
{
	up("sink { name = 'recv', size = 3000, over = net(2) }\n"
	   "sockload { to = '10.0.0.2', conns = 4, size = 3000, count = 7, within = '0s', over = sock { over = net(1) } }\n",
	   "threading = connp_l {}");
	measure_well((struct xk_run_opts){ 0 });
	CU_ASSERT_EQUAL(run.r.end, XK_RUN_FINISHED);
	CU_ASSERT_EQUAL(run.r.messages, 28);
	CU_ASSERT_EQUAL(measured("recv")->messages, 28);
	xk_run_fini(&run.r);
	down();
}

/* ---- what it may run with --------------------------------------------------------------------- */

/* The baseline has one processor, and so have its threads. */
static void threads_are_as_many_as_the_workers_processors(void)
{
	const char *nodes = "sink { over = net(2) }\n"
			    "sockload { to = '10.0.0.2', conns = 100, over = sock { over = net(1) } }\n";

	up(nodes, "threading = up {}");
	CU_ASSERT_EQUAL(run.g->vps->noutside, 1);
	CU_ASSERT(run.g->vps->oversubscribed);
	down();
	up(nodes, "threading = vppc { vps = 8 }");
	CU_ASSERT_EQUAL(run.g->vps->noutside, (unsigned)__builtin_popcountll(run.g->vps->arch.cpus));
	CU_ASSERT(run.g->vps->oversubscribed);
	down();
}

static void a_simulated_clock_is_refused(void)
{
	struct xk_plan *p;

	load(endless, "threading = vppc { vps = 2 }");
	p = xk_spec_plan(run.s);
	p->is_virtual = true;
	p->arch.schedule = XK_SCHED_VIRTUAL;
	CU_ASSERT_EQUAL_FATAL(xk_spec_build(run.s, &run.g, run.e), XK_OK);
	CU_ASSERT_EQUAL(xk_graph_up(run.g, run.e), XK_E_NOTSUP);
	says("one: has threads of its own, outside the virtual processors, and a simulated clock would not wait for them");
	down();
}

static void every_lack_of_memory_at_the_start_is_survived(void)
{
	int err = XK_E_NOMEM;

	for (uint64_t k = 1; err != XK_OK && k < 5000; k++) {
		load(both_kinds, "threading = up {}");
		CU_ASSERT_EQUAL_FATAL(xk_spec_build(run.s, &run.g, run.e), XK_OK);
		xk_mem_fail_after(k);
		err = xk_graph_up(run.g, run.e);
		xk_mem_fail_after(0);
		down();
	}
	CU_ASSERT_EQUAL(err, XK_OK);
}

#define T(x) { #x, x }
static CU_TestInfo byte_tests[] = {
	T(every_byte_of_every_connection_arrives), T(each_connections_messages_are_told), CU_TEST_INFO_NULL
};
static CU_TestInfo end_tests[] = {
	T(busy_threads_are_stopped), T(threads_are_stopped_wherever_they_are), CU_TEST_INFO_NULL
};
static CU_TestInfo gate_tests[] = {
	T(nothing_is_sent_before_the_word), T(a_peer_that_never_answers_ends_the_run), T(a_peer_that_refuses_ends_the_run_at_once),
	T(a_receiver_waits_for_as_many_as_it_was_told), T(without_a_gate_each_sends_at_once), CU_TEST_INFO_NULL
};
static CU_TestInfo start_tests[] = {
	T(threads_are_as_many_as_the_workers_processors), T(a_simulated_clock_is_refused),
	T(every_lack_of_memory_at_the_start_is_survived), CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "bytes", NULL, NULL, NULL, NULL, byte_tests }, { "the end", NULL, NULL, NULL, NULL, end_tests },
	{ "the gate", NULL, NULL, NULL, NULL, gate_tests }, { "the start", NULL, NULL, NULL, NULL, start_tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	return xk_test_main_rcu(suites);
}

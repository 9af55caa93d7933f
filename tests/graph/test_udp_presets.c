/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_udp_presets.c - one UDP echo graph under every threading architecture.
 *
 * Promises: the same text, with one word changed, delivers the same messages,
 * byte for byte, on one virtual processor per connection, whatever runs it and
 * whatever the link does to its frames; sends borrow the caller's thread where
 * the architecture says so, and what is received goes up on the thread below.
 *
 * All this with whatever classifier VP_CLASSIFIER names (classifiers.t names them all).
 * Each datagram changes its virtual processor as often as the two ends of its connection
 * lie apart: at the device where there is a classifier, and in UDP where there is none.
 * None ever reaches a wrong one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/run/xk_run.h"
#include "runtime/sync/xk_fiber.h"
#include "runtime/upi/xk_part.h"
#include "tests/graph/udp_checker.h"
#include "tests/support/xk_test_graph.h"

#define COUNT 40u

/* link, impairment, connections, messages of each, size, time to resend, fields of the graph */
static const char text_fmt[] =
	"local function host(addr, neighbours, own, n, impaired)\n"
	"  local d = %1$s_mem { name = 'd' .. n, wire = 'w', mac = own, queue = 65536 }\n"
	"  local fault = %2$s\n"
	"  if fault and impaired then fault.over = d; d = impair(fault) end\n"
	"  return ip { addr = addr, over = arp { name = 'arp' .. n, neighbours = neighbours,\n"
	"    over = %1$s { name = 'link' .. n, over = d } } }\n"
	"end\n"
	"local macs = { ['10.0.0.1'] = '02:00:00:00:00:01', ['10.0.0.2'] = '02:00:00:00:00:02' }\n"
	"stack { echo { port = 7 }, udp { name = 'server', over = host('10.0.0.2/24', macs, macs['10.0.0.2'], '1', false) } }\n"
	"stack { checker { to = '10.0.0.2', conns = %3$u, count = %4$u, size = %5$u, resend = '%6$s' },\n"
	"  udp { name = 'client', over = host('10.0.0.1/24', macs, macs['10.0.0.1'], '0', true) } }\n"
	"return graph 'presets' { %7$s }\n";

struct job {
	const char *link;              /* "eth" */
	const char *impair;            /* "nil", or a table */
	unsigned    conns, size;
	const char *fields;            /* "threading = up {}" */
};

static struct run {
	struct xk_errs       *e;
	struct xk_spec       *s;
	struct xk_graph      *g;
	struct chk_tap        tap[2];
	struct xk_run_result  r;
	bool                  late;      /* no classifier at the devices */
} run;

static const char bad_link[] = "{ loss = '10%', dup = '5%', reorder = '5%', corrupt = '5%', hold = '1ms', seed = 7 }";

static void say_errors(void)
{
	if (xk_errs_count(run.e) != 0)
		xk_spec_print_errors(stdout, run.s, run.e, NULL);
	CU_ASSERT_EQUAL(xk_errs_count(run.e), 0);
}

static bool load(const struct job *j)
{
	struct xk_compose_opts o = { .table = xk_test_table(&xk_proto_checker) };
	char text[4096];
	int len;

	len = snprintf(text, sizeof text, text_fmt, j->link, j->impair, j->conns, COUNT, j->size,
		       strcmp(j->impair, "nil") == 0 ? "1h" : "20ms", j->fields);
	return xk_spec_load_text(&run.s, "presets.lua", text, (size_t)len, &o, run.e) == XK_OK &&
	       xk_spec_check(run.s, run.e, NULL) == XK_OK;
}

static void begin(const struct job *j)
{
	struct xk_run_opts o = { .stop_fd = -1 };

	chk_reset();
	memset(&run, 0, sizeof run);
	run.e = xk_errs_new();
	if (!load(j) || xk_spec_build(run.s, &run.g, run.e) != XK_OK)
		say_errors();
	CU_ASSERT_PTR_NOT_NULL_FATAL(run.g);
	if (strcmp(j->impair, "nil") == 0) {
		unsigned header = strcmp(j->link, "eth") == 0 ? 14 : 21;

		chk_attach(&run.tap[0], run.g, "link0", 0, header);
		chk_attach(&run.tap[1], run.g, "link1", 1, header);
	}
	if (xk_graph_up(run.g, run.e) != XK_OK)
		say_errors();
	run.late = run.tap[0].late = run.tap[1].late = chk_late(run.g);
	if (xk_run(run.g, &o, &run.r, run.e) != XK_OK)
		say_errors();
	CU_ASSERT_EQUAL_FATAL(xk_errs_count(run.e), 0);
	CU_ASSERT_EQUAL(run.r.end, XK_RUN_FINISHED);
}

static void end(void)
{
	uint64_t wrong = 0;

	for (unsigned i = 0; i < run.g->vps->nall; i++)
		wrong += xk_counter_read(run.g->vps->all[i]->wrong_vp);
	CU_ASSERT_EQUAL(wrong, 0);
	xk_run_fini(&run.r);
	CU_ASSERT_EQUAL(xk_graph_free(run.g), 0);
	xk_spec_free(run.s);
	xk_errs_free(run.e);
}

static uint64_t handed_over(void)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < run.g->vps->nall; i++)
		n += xk_counter_read(run.g->vps->all[i]->handed_over);
	return n;
}

static uint64_t rerouted(void)
{
	static const char *const udp[] = { "client", "server" };
	uint64_t n = 0;

	for (unsigned i = 0; i < 2; i++) {
		const struct xk_node *u = xk_graph_find(run.g, udp[i]);
		unsigned k = 0;

		while (strcmp(u->proto->counts[k], "rerouted") != 0)
			k++;
		for (unsigned v = 0; v < run.g->vps->nvps; v++)
			n += xk_counter_read(u->rep[v]->count[k]);
	}
	return n;
}

/* Datagrams for the echo are run where they come in: it has a session for a peer on any I/O thread. */
static bool anywhere(void) { return run.g->vps->arch.datagrams == XK_DATAGRAMS_ANYWHERE; }

/* The datagrams of connections whose two ends live apart, there and back: who handed them over?
 * Those that are run anywhere are nobody's: then only the answers. */
static void check_hand_overs(const struct job *j)
{
	const struct xk_vpset *set = run.g->vps;
	bool io_threads = set->arch.io_threads != 0;
	uint64_t apart = 0, late;

	/* Who carried the last answer to the application may not have counted that yet. */
	xk_vpset_stop(run.g->vps);
	/* An I/O thread's VP is nobody's home; its own inbox is one more place to wait in. */
	for (unsigned i = 0; i < j->conns; i++)
		apart += io_threads || chk_home(run.g, 0, i) != chk_home(run.g, 1, i) ? 2 * COUNT : 0;
	late = anywhere() ? apart / 2 : apart;
	CU_ASSERT_EQUAL(handed_over(), io_threads && !xk_vpset_pools(set) ? 2 * apart : late);
	CU_ASSERT_EQUAL(rerouted(), run.late ? late : 0);
	CU_ASSERT_EQUAL(chk_away(&run.tap[0]) + chk_away(&run.tap[1]), run.late ? apart : 0);
}

/* All delivered, every byte, where it belongs. */
static void check_all(const struct job *j)
{
	bool clean = strcmp(j->impair, "nil") == 0, whole = j->size < 1400 || strcmp(j->link, "fddi") == 0;
	unsigned bad = 0;

	for (unsigned i = 0; i < j->conns; i++) {
		const struct chk_conn *k = &chk_conn[i];

		bad += !chk_is_right(k, COUNT);
		if (clean)
			bad += k->twice != 0 || k->again != 0;
		if (clean && whole)              /* no VP of a fragment: only the first one has ports */
			bad += (int)chk_home(run.g, 0, i) != k->vp[0] ||
			       (!anywhere() && (int)chk_home(run.g, 1, i) != k->vp[1]);
	}
	CU_ASSERT_EQUAL(bad, 0);
	if (clean && whole)
		check_hand_overs(j);
}

static void play(const struct job *j)
{
	bool clean = strcmp(j->impair, "nil") == 0;

	begin(j);
	if (clean)
		check_all(j);
	end();
	if (!clean)              /* late copies of answers came until the end */
		check_all(j);
}

/* ---- every architecture, both links, good and bad ------------------------------ */

/* Clean Ethernet meets every row; the other cases share the variants among them. */
static void on(const char *link, const char *impair, unsigned conns, unsigned size, unsigned which)
{
	for (const char *const *p = xk_test_presets(conns, which); *p != NULL; p++) {
		struct job j = { link, impair, conns, size, *p };

		printf("# %s, %s\n", link, *p);
		play(&j);
	}
}

static void every_preset_delivers_every_byte_over_ethernet(void) { on("eth", "nil", 24, 200, XK_TEST_ALL); }
static void every_preset_delivers_every_byte_over_fddi(void) { on("fddi", "nil", 24, 4096, XK_TEST_ROWS); }
static void every_preset_delivers_every_byte_in_fragments(void) { on("eth", "nil", 4, 4096, XK_TEST_ROWS); }

static void every_preset_delivers_every_byte_over_a_bad_link(void)
{
	on("eth", bad_link, 12, 300, XK_TEST_ROWS | XK_TEST_VIRTUAL);
	on("fddi", bad_link, 3, 4096, XK_TEST_CHANGED);
}

/* What the link is given, header and all, on both sides, depends on the protocols alone. */
static void every_preset_gives_the_driver_the_same_bytes(void)
{
	const char *const *presets = xk_test_presets(16, XK_TEST_ALL);
	uint64_t want[16][2] = { 0 };

	for (unsigned i = 0; presets[i] != NULL; i++) {
		struct job j = { "eth", "nil", 16, 128, presets[i] };
		unsigned differ = 0;

		begin(&j);
		for (unsigned k = 0; k < 16; k++) {
			if (i == 0)
				memcpy(want[k], chk_conn[k].digest, sizeof want[k]);
			differ += memcmp(want[k], chk_conn[k].digest, sizeof want[k]) != 0 || want[k][0] == 0 || want[k][1] == 0;
		}
		CU_ASSERT_EQUAL(differ, 0);
		end();
	}
}

/* ---- turns ----------------------------------------------------------------------------- */

/* Each row has its turn once: those of a third are the rows of the whole, with two left out after each. */
static void thirds_are_every_preset_together(void)
{
	const char *before = getenv("XK_TEST_TURN");
	char was[32], turn[32];
	const char *const *p;
	static char whole[96][128];
	unsigned n = 0, seen = 0, misplaced = 0;

	if (getenv("XK_TEST_PRESETS") != NULL) {
		xk_test_skip("XK_TEST_PRESETS says which");
		return;
	}
	snprintf(was, sizeof was, "%s", before != NULL ? before : "0/1");
	setenv("XK_TEST_TURN", "0/1", 1);
	for (p = xk_test_presets(8, XK_TEST_ALL); *p != NULL; p++)
		snprintf(whole[n++], sizeof whole[0], "%s", *p);
	for (unsigned i = 0; i < 3; i++) {
		snprintf(turn, sizeof turn, "%u/3", i);
		setenv("XK_TEST_TURN", turn, 1);
		p = xk_test_presets(8, XK_TEST_ALL);
		for (unsigned k = i; *p != NULL; p++, k += 3, seen++)
			misplaced += k >= n || strcmp(*p, whole[k]) != 0;
	}
	setenv("XK_TEST_TURN", was, 1);
	CU_ASSERT(n > 40);
	CU_ASSERT_EQUAL(seen, n);
	CU_ASSERT_EQUAL(misplaced, 0);
}

/* ---- the map ------------------------------------------------------------------------- */

/* Figure 2(c) of Yates and others: connections on VPs, VPs on processors, as a table says. */
static void eight_connections_on_four_vps_on_two_workers(void)
{
	static const struct job j = { "fddi", "nil", 8, 64,
		"threading = vppc { vps = 4, workers = 2, map = { 1, 1, 2, 2, 3, 3, 4, 4 } }" };
	unsigned of_worker[2] = { 0 };

	begin(&j);
	check_all(&j);
	CU_ASSERT_EQUAL(run.g->vps->nvps, 4);
	CU_ASSERT_EQUAL_FATAL(run.g->vps->nworkers, 2);
	for (unsigned i = 0; i < 8; i++)
		CU_ASSERT_EQUAL(chk_conn[i].vp[0], (int)i / 2);
	for (unsigned i = 0; i < 4; i++)
		for (unsigned w = 0; w < 2; w++)
			of_worker[w] += run.g->vps->vp[i]->worker == run.g->vps->worker[w];
	CU_ASSERT_EQUAL(of_worker[0], 2);
	CU_ASSERT_EQUAL(of_worker[1], 2);
	end();
}

static void a_map_may_be_uneven(void)
{
	static const struct job j = { "eth", "nil", 9, 64, "threading = vppc { vps = 3, map = { 3, 3, 1 } }" };

	begin(&j);
	check_all(&j);
	for (unsigned i = 0; i < 9; i++)
		CU_ASSERT_EQUAL(chk_conn[i].vp[0], i % 3 == 2 ? 0 : 2);
	end();
}

/* ---- frames ------------------------------------------------------------------------------ */

static uint64_t packets(const char *link, unsigned size)
{
	struct job j = { link, "nil", 4, size, "threading = vppc { vps = 2 }, clock = 'virtual'" };
	uint64_t n;

	begin(&j);
	check_all(&j);
	n = chk_frames(&run.tap[0]);
	CU_ASSERT_EQUAL(n, chk_frames(&run.tap[1]));
	end();
	return n;
}

static void four_kibibytes_are_one_packet_over_fddi_and_three_over_ethernet(void)
{
	CU_ASSERT_EQUAL(packets("fddi", 4096), 4 * COUNT);
	CU_ASSERT_EQUAL(packets("eth", 4096), 3 * 4 * COUNT);
}

/* ---- threads ----------------------------------------------------------------------------- */

static void send_borrows_the_callers_thread_under_a_lock(void)
{
	static const struct job j = { "eth", "nil", 1, 64, "threading = vppc { vps = 2, entry = 'lock' }" };

	begin(&j);
	CU_ASSERT_NOT_EQUAL(chk_seen[0].link_down, gettid());
	xk_vp_do(xk_graph_vp_of(run.g, 0), chk_send_one, NULL);
	CU_ASSERT_EQUAL(chk_seen[0].link_down, gettid());
	end();
}

static void send_is_left_to_the_worker_that_owns_the_vp(void)
{
	static const struct job j = { "eth", "nil", 1, 64, "threading = vppc { vps = 2, workers = 1 }" };

	begin(&j);
	chk_seen[0].link_down = 0;
	xk_vp_do(xk_graph_vp_of(run.g, 0), chk_send_one, NULL);
	CU_ASSERT_NOT_EQUAL(chk_seen[0].link_down, gettid());
	CU_ASSERT_NOT_EQUAL(chk_seen[0].link_down, 0);
	end();
}

/*
 * The thread below goes up into the application, through to the end, without asking anyone who is
 * next; where frames run where they arrive, as far as the hand-over, and what was handed over goes
 * up in the same way on the thread of its connection.
 */
static void the_thread_below_enters_the_application(void)
{
	for (const char *const *p = xk_test_presets(8, XK_TEST_ALL); *p != NULL; p++) {
		struct job j = { "eth", "nil", 8, 64, *p };
		unsigned other = 0, left = 0;
		int under_way = 0;

		if (strstr(*p, "= lp") != NULL)
			continue;        /* layers are what this one has threads for */
		begin(&j);
		for (unsigned k = 0; k < 8; k++) {
			const struct chk_seen *s = &chk_seen[xk_graph_vp_of(run.g, k)->no];

			other += s->link != s->app && !run.late;
			other += (s->app == gettid()) != (strstr(*p, "virtual") != NULL);
			left += !run.late && (s->left_behind != 0 || s->on_the_way != 0);
		}
		for (unsigned v = 0; v < CHK_VPS; v++)
			under_way += chk_seen[v].on_the_way;
		CU_ASSERT_EQUAL(other, 0);
		CU_ASSERT_EQUAL(left, 0);
		CU_ASSERT_EQUAL(under_way, 0);
		end();
	}
}

/* Work of a connection is on its own stack, whoever runs its virtual processor. */
static void user_level_tpc_has_a_stack_for_each_connection(void)
{
	static const struct job j = { "eth", "nil", 12, 64, "threading = tpc { threads = 'user', stack = '128KiB' }" };
	struct xk_ult_stats sum = { 0 };

	if (!xk_fiber_available()) {
		xk_test_skip("built without Boost.Context (package libboost-context-dev)");
		return;
	}
	begin(&j);
	check_all(&j);
	for (unsigned i = 0; i < run.g->vps->nvps; i++) {
		struct xk_ult_stats st;

		xk_ult_stats(run.g->vps->vp[i], &st);
		sum.live += st.live;
		sum.stacks += st.stacks;
		sum.switches += st.switches;
		sum.stackless += st.stackless;
	}
	if (!run.late) {
		CU_ASSERT_EQUAL(sum.live, 24);           /* both ends of 12 */
		CU_ASSERT_EQUAL(sum.stacks, 24);
		/* Each of COUNT datagrams comes to the server, its answer to the client. */
		CU_ASSERT(sum.switches >= 2 * 12);
	}
	CU_ASSERT_EQUAL(sum.stackless, 0);
	end();
}

static void tpc_has_a_thread_for_each_connection(void)
{
	static const struct job j = { "eth", "nil", 12, 64, "threading = tpc { vps = 12 }" };
	unsigned same = 0;

	begin(&j);
	CU_ASSERT_EQUAL(run.g->vps->nvps, 12);
	for (unsigned i = 0; i < 12; i++)
		for (unsigned k = 0; k < i; k++)
			same += chk_seen[i].app == chk_seen[k].app;
	CU_ASSERT_EQUAL(same, 0);
	end();
}

static CU_TestInfo presets_tests[] = {
	{ "every preset delivers every byte over Ethernet", every_preset_delivers_every_byte_over_ethernet },
	{ "every preset delivers every byte over FDDI", every_preset_delivers_every_byte_over_fddi },
	{ "every preset delivers every byte in fragments", every_preset_delivers_every_byte_in_fragments },
	{ "every preset delivers every byte over a bad link", every_preset_delivers_every_byte_over_a_bad_link },
	{ "every preset gives the driver the same bytes", every_preset_gives_the_driver_the_same_bytes },
	{ "thirds are every preset together", thirds_are_every_preset_together },
	CU_TEST_INFO_NULL
};
static CU_TestInfo map_tests[] = {
	{ "eight connections on four VPs on two workers", eight_connections_on_four_vps_on_two_workers },
	{ "a map may be uneven", a_map_may_be_uneven },
	{ "four kibibytes are one packet over FDDI and three over Ethernet",
	  four_kibibytes_are_one_packet_over_fddi_and_three_over_ethernet },
	CU_TEST_INFO_NULL
};
static CU_TestInfo thread_tests[] = {
	{ "send borrows the caller's thread under a lock", send_borrows_the_callers_thread_under_a_lock },
	{ "send is left to the worker that owns the VP", send_is_left_to_the_worker_that_owns_the_vp },
	{ "the thread below enters the application", the_thread_below_enters_the_application },
	{ "user-level tpc has a stack for each connection", user_level_tpc_has_a_stack_for_each_connection },
	{ "tpc has a thread for each connection", tpc_has_a_thread_for_each_connection },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "presets", NULL, NULL, NULL, NULL, presets_tests },
	{ "placement", NULL, NULL, NULL, NULL, map_tests },
	{ "threads", NULL, NULL, NULL, NULL, thread_tests },
	CU_SUITE_INFO_NULL
};

int main(void) { return xk_test_main_rcu(suites); }

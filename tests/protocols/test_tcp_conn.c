/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_tcp_conn.c - TCP end to end: two hosts of one graph, joined by a cable in
 * memory, connections both ways, every byte compared, under every threading
 * architecture, every profile, good links and bad ones.
 *
 * Promises: what one side sends the other gets, in order and whole; both are told
 * of each other's end; nothing is left of any of it in the end.
 */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/tcp/sess/tcp_sess.h"
#include "runtime/compose/xk_compose.h"
#include "runtime/run/xk_run.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"
#include "tests/support/xk_test_graph.h"

/* link, impairment or nil, parameters of tcp at host 1, at host 2, connections each way,
 * messages of each, size, fields of the graph, neighbours or nil */
static const char text_fmt[] =
	"local macs = { ['10.0.0.1'] = '02:00:00:00:00:01', ['10.0.0.2'] = '02:00:00:00:00:02' }\n"
	"local function host(n, addr, fault)\n"
	"  local d = %1$s_mem { name = 'd' .. n, wire = 'w', mac = macs['10.0.0.' .. n], queue = 65536 }\n"
	"  if fault then fault.over = d; d = impair(fault) end\n"
	"  return ip { name = 'ip' .. n, addr = addr, over = arp { name = 'arp' .. n, queue = 1024, neighbours = %9$s,\n"
	"    over = %1$s { name = 'link' .. n, over = d } } }\n"
	"end\n"
	"local t1 = tcp { name = 'tcp1', over = host('1', '10.0.0.1/24', %2$s), %3$s }\n"
	"local t2 = tcp { name = 'tcp2', over = host('2', '10.0.0.2/24', nil), %4$s }\n"
	"sink { name = 'r1', port = 9, size = %7$u, touch = 'verify', count = %5$u * %6$u, over = t1 }\n"
	"sink { name = 'r2', port = 9, size = %7$u, touch = 'verify', count = %5$u * %6$u, over = t2 }\n"
	"load { name = 's1', to = '10.0.0.2', conns = %5$u, size = %7$u, count = %6$u, over = t1 }\n"
	"load { name = 's2', to = '10.0.0.1', conns = %5$u, size = %7$u, count = %6$u, over = t2 }\n"
	"return graph 'conn' { %8$s }\n";

struct job {
	const char *link, *impair, *tcp1, *tcp2;
	unsigned    conns, count, size;
	const char *fields;
};
static bool one_knows;                 /* host 1 knows who host 2 is, not the other way round */

static struct {
	struct xk_errs       *e;
	struct xk_spec       *s;
	struct xk_graph      *g;
	struct xk_run_result  r;
} run;

/* ---- a run ------------------------------------------------------------------------------ */

static void say_errors(void)
{
	if (xk_errs_count(run.e) != 0)
		xk_spec_print_errors(stdout, run.s, run.e, NULL);
	CU_ASSERT_EQUAL_FATAL(xk_errs_count(run.e), 0);
}

/* ARP asks again after a second, too long where time is real. */
static const char *neighbours(const struct job *j)
{
	if (one_knows)
		return "n == '1' and macs or nil";
	return j->impair != NULL && strstr(j->fields, "virtual") == NULL ? "macs" : "nil";
}

static void bring_up(const char *text)
{
	struct xk_compose_opts c = { 0 };

	memset(&run, 0, sizeof run);
	run.e = xk_errs_new();
	if (xk_spec_load_text(&run.s, "conn.lua", text, strlen(text), &c, run.e) != XK_OK ||
	    xk_spec_check(run.s, run.e, NULL) != XK_OK || xk_spec_build(run.s, &run.g, run.e) != XK_OK ||
	    xk_graph_up(run.g, run.e) != XK_OK)
		say_errors();
}

static void bring_up_job(const struct job *j)
{
	char text[4096];

	snprintf(text, sizeof text, text_fmt, j->link, j->impair ? j->impair : "nil", j->tcp1 ? j->tcp1 : "",
		 j->tcp2 ? j->tcp2 : "", j->conns, j->count, j->size, j->fields, neighbours(j));
	bring_up(text);
}

static void run_to_its_end(void)
{
	struct xk_run_opts o = { .stop_fd = -1, .duration = 1000 * XK_SEC };   /* then something is lost */

	if (xk_run(run.g, &o, &run.r, run.e) != XK_OK)
		say_errors();
	CU_ASSERT_EQUAL(run.r.end, XK_RUN_FINISHED);
}

static void begin(const struct job *j)
{
	bring_up_job(j);
	run_to_its_end();
}

/* Counter or drop of a node by name, all VPs, since the graph began. */
static uint64_t sum(const char *node, const char *const *words, const char *word, size_t at)
{
	struct xk_node *n = xk_graph_find(run.g, node);
	uint64_t v = 0;
	unsigned i = 0;

	while (words[i] != NULL && strcmp(words[i], word) != 0)
		i++;
	CU_ASSERT_PTR_NOT_NULL_FATAL(words[i]);
	for (unsigned k = 0; k < run.g->vps->nvps; k++)
		v += xk_counter_read(((xk_counter *)(void *)((char *)n->rep[k] + at))[i]);
	return v;
}

static uint64_t count(const char *node, const char *word)
{
	return sum(node, xk_graph_find(run.g, node)->proto->counts, word, offsetof(struct xk_rep, count));
}

static uint64_t dropped(const char *node, const char *word)
{
	return sum(node, xk_graph_find(run.g, node)->proto->drops, word,
		   offsetof(struct xk_rep, drop) + XK_DROP_FIRST * sizeof(xk_counter));
}

/* The receivers have all that they wait for, and the senders know it; ends may still be on their way. */
static void check_all(const struct job *j)
{
	uint64_t bytes = (uint64_t)j->conns * j->count * j->size, wrong_vp = 0;

	for (unsigned i = 1; i <= 2; i++) {
		char r[] = "r1", s[] = "s1";

		r[1] = s[1] = (char)('0' + i);
		CU_ASSERT_EQUAL(count(s, "drained"), j->conns);
		CU_ASSERT_EQUAL(count(s, "bytes"), bytes);
		CU_ASSERT_EQUAL(count(r, "bytes"), bytes);
		CU_ASSERT_EQUAL(count(r, "accepted"), j->conns);
		CU_ASSERT_EQUAL(count(r, "wrong_bytes"), 0);
		CU_ASSERT_EQUAL(count(r, "reset") + count(r, "failed") + count(r, "refused"), 0);
		CU_ASSERT_EQUAL(count(s, "reset") + count(s, "failed") + count(s, "refused"), 0);
	}
	for (unsigned i = 0; i < run.g->vps->nvps; i++)
		wrong_vp += xk_counter_read(run.g->vps->vp[i]->wrong_vp);
	CU_ASSERT_EQUAL(wrong_vp, 0);
}

static void end(void)
{
	xk_run_fini(&run.r);
	CU_ASSERT_EQUAL(xk_graph_free(run.g), 0);
	xk_spec_free(run.s);
	xk_errs_free(run.e);
}

static void play(const struct job *j)
{
	printf("# %s, %s, %s, %s\n", j->link, j->tcp1 ? j->tcp1 : "modern", j->impair ? "bad" : "good", j->fields);
	begin(j);
	check_all(j);
	end();
}

/* ---- architectures -------------------------------------------------------------------------- */

static void every_architecture_moves_every_byte_both_ways(void)
{
	for (const char *const *p = xk_test_presets(8, XK_TEST_ALL); *p != NULL; p++) {
		play(&(struct job){ "eth", NULL, NULL, NULL, 8, 50, 4096, *p });
		play(&(struct job){ "fddi", NULL, NULL, NULL, 8, 50, 4096, *p });
	}
}

/* The answer to the first segment finds nobody's address known, and its session is closed at once;
 * it is sent when the address is, not a second later (RFC 1122 2.3.2.2). */
static void no_handshake_waits_for_its_second_try(void)
{
	static const char *const fields[] = {
		"threading = up {}, clock = 'virtual'", "threading = vppc { vps = 32 }, clock = 'virtual'",
		"threading = msgp { vps = 32 }, clock = 'virtual'",
	};
	const char *old = getenv("VP_CLASSIFIER");
	char kept[32];

	snprintf(kept, sizeof kept, "%s", old != NULL ? old : "");
	for (unsigned i = 0; i < 2 * XK_ARRAY_LEN(fields); i++) {
		struct job j = { "eth", NULL, NULL, NULL, 3, 5, 1000, fields[i / 2] };

		if (i % 2 == 0)
			setenv("VP_CLASSIFIER", "none", 1);      /* connections are found late */
		else if (kept[0] != '\0')
			setenv("VP_CLASSIFIER", kept, 1);
		else
			unsetenv("VP_CLASSIFIER");
		one_knows = true;
		begin(&j);
		one_knows = false;
		check_all(&j);
		CU_ASSERT(run.r.measured_ns < XK_SEC / 2);
		end();
	}
}

static const char bad_link[] = "{ loss = '3%', dup = '2%', reorder = '5%', corrupt = '1%', hold = '1ms', seed = 7 }";

static void every_architecture_moves_every_byte_over_a_bad_link(void)
{
	/* Time is real in most: a first segment that was lost need not wait for a second. */
	/* Sends again soon, and for as long as a busy machine may let it wait. */
	static const char soon[] = "quirks = { rto_init = '20ms', rto_min = '20ms', rto_max = '1s', syn_retries = 100, "
				   "synack_retries = 100, retries = 100 }";

	for (const char *const *p = xk_test_presets(3, XK_TEST_ALL); *p != NULL; p++)
		play(&(struct job){ "eth", bad_link, soon, soon, 3, 5, 3000, *p });
}

/* ---- profiles --------------------------------------------------------------------------------- */

static const char *const profiles[] = {
	"profile = 'modern'", "profile = 'linux'", "profile = 'freebsd'", "profile = 'reno43'", "profile = 'lite44'",
};

static void every_profile_talks_to_every_other(void)
{
	for (unsigned i = 0; i < XK_ARRAY_LEN(profiles); i++)
		for (unsigned k = 0; k < XK_ARRAY_LEN(profiles); k++) {
			play(&(struct job){ "eth", NULL, profiles[i], profiles[k], 4, 20, 5000,
					    "threading = vppc { vps = 2 }, clock = 'virtual', seed = 1" });
			play(&(struct job){ "eth", bad_link, profiles[i], profiles[k], 2, 20, 2000,
					    "threading = vppc { vps = 2 }, clock = 'virtual', seed = 1" });
		}
}

static void odd_parameters_move_every_byte_too(void)
{
	static const char *const odd[] = {
		"mss = 100", "rcv_buf = '2KiB'", "snd_buf = '2KiB'", "quirks = { cookies = 'always' }", "delack = '0s'", "nagle = false",
		"quirks = { checksum = true, sack = false }", "timestamps = false", "quirks = { use_wscale = false }",
		"quirks = { ack_every = 8 }",
		"quirks = { initial_window = 1 }", "quirks = { wscale = 14 }", "ecn = false, quirks = { rack = false, tlp = false }", "cc = 'reno'",
		"quirks = { cookies = 'always' }, timestamps = false",
	};

	for (unsigned i = 0; i < XK_ARRAY_LEN(odd); i++) {
		play(&(struct job){ "eth", NULL, odd[i], NULL, 2, 20, 4096, "threading = up {}, clock = 'virtual', seed = 1" });
		play(&(struct job){ "eth", bad_link, odd[i], odd[i], 2, 10, 4096,
				    "threading = up {}, clock = 'virtual', seed = 1" });
	}
}

/* More than nine in ten segments of a bulk flow are as predicted. */
static void bulk_flow_is_predicted(void)
{
	static const char *const which[] = { "profile = 'modern', snd_buf = '128KiB'", "profile = 'reno43'", "profile = 'lite44'" };

	for (unsigned i = 0; i < XK_ARRAY_LEN(which); i++) {
		struct job j = { "fddi", NULL, which[i], which[i], 1, 2000, 4096, "threading = up {}, clock = 'virtual', seed = 1" };
		uint64_t yes, no;

		begin(&j);
		check_all(&j);
		yes = count("tcp1", "predicted") + count("tcp2", "predicted");
		no = count("tcp1", "not_predicted") + count("tcp2", "not_predicted");
		printf("# %s: predicted %llu, not %llu\n", which[i], (unsigned long long)yes, (unsigned long long)no);
		CU_ASSERT(XK_FAST(yes > 9 * no, yes == 0));
		CU_ASSERT_EQUAL(count("tcp1", "retransmitted") + count("tcp2", "retransmitted"), 0);
		CU_ASSERT_EQUAL(dropped("tcp1", "duplicate"), 0);
		end();
	}
}

/* ---- many, one after the other ------------------------------------------------------------------ */

static void ten_thousand_connections_come_and_go(void)
{
	/* A port of the sender rests for 2 MSL: nothing is in its way. */
	static const char tcp[] = "quirks = { msl = '10ms', time_wait = 1000 }";
	struct job j = { "eth", NULL, tcp, tcp, 5000, 1, 10, "threading = vppc { vps = 4 }, clock = 'virtual', seed = 1" };

	/* Two ways, 5000 each: sink takes 4096 a VP. */
	begin(&j);
	check_all(&j);
	CU_ASSERT_EQUAL(count("tcp1", "accepted") + count("tcp2", "accepted"), 10000);
	CU_ASSERT_EQUAL(count("tcp1", "opened") + count("tcp2", "opened"), 10000);
	xk_vpset_run_virtual(run.g->vps, xk_clock_read(&run.g->vps->clock) + 5 * XK_SEC);
	for (unsigned i = 0; i < run.g->vps->nvps; i++) {
		CU_ASSERT_EQUAL(xk_rep_sessions(xk_graph_find(run.g, "tcp1")->rep[i]), 0);
		CU_ASSERT_EQUAL(xk_rep_sessions(xk_graph_find(run.g, "tcp2")->rep[i]), 0);
	}
	CU_ASSERT_EQUAL(count("tcp1", "closed") + count("tcp2", "closed"), 20000);
	end();
}

/* The same seed: the same counters of every node. */
static void a_run_can_be_repeated(void)
{
	static const struct job j = { "eth", bad_link, NULL, NULL, 4, 20, 4096, "threading = vppc { vps = 4 }, clock = 'virtual', seed = 5" };
	uint64_t first[4] = { 0 };

	for (unsigned i = 0; i < 2; i++) {
		uint64_t now[4];

		begin(&j);
		now[0] = count("tcp1", "predicted");
		now[1] = count("tcp1", "retransmitted");
		now[2] = count("tcp2", "retransmitted");
		now[3] = run.g->vps->clock.virtual_now;
		CU_ASSERT(i == 0 || memcmp(first, now, sizeof now) == 0);
		CU_ASSERT(now[1] + now[2] > 0);
		memcpy(first, now, sizeof now);
		end();
	}
}

/* Data that comes says that acknowledgements arrive: neither end asks whether the other is there. */
static void progress_either_way_confirms_the_neighbour(void)
{
	static const char fmt[] =
		"local function host(n)\n"
		"  local d = eth_mem { name = 'd' .. n, wire = 'w', mac = '02:00:00:00:00:0' .. n }\n"
		"  return tcp { over = ip { addr = '10.0.0.' .. n .. '/24', over = arp { name = 'arp' .. n, over = eth { over = d } } } }\n"
		"end\n"
		"load { to = '10.0.0.2', rate = %u, count = %u, size = 100, over = host(1) }\n"
		"sink { size = 100, over = host(2) }\n"
		"return graph 'way' { threading = vppc { vps = 2 }, clock = 'virtual', seed = 1 }\n";
	static const unsigned rate[] = { 1, 3, 200 };

	for (unsigned i = 0; i < XK_ARRAY_LEN(rate); i++) {
		char text[1024];

		snprintf(text, sizeof text, fmt, rate[i], 600 * rate[i]);
		bring_up(text);
		run_to_its_end();
		CU_ASSERT(run.r.measured_ns >= 590 * XK_SEC);
		CU_ASSERT(count("arp1", "reached") > 600 / 15);
		CU_ASSERT(count("arp2", "reached") > 600 / 15);
		CU_ASSERT_EQUAL(count("arp1", "probes_out") + count("arp2", "probes_out"), 0);
		end();
	}
}

/* Timeouts in a row have the neighbour asked, which a loss now and then does not. */
static void timeouts_doubt_the_neighbour(void)
{
	static const char fmt[] =
		"local function host(n)\n"
		"  local d = eth_mem { name = 'd' .. n, wire = 'w', mac = '02:00:00:00:00:0' .. n }\n"
		"  d = impair { loss = '%s', seed = n, over = d }\n"
		"  return tcp { over = ip { addr = '10.0.0.' .. n .. '/24', over = arp { name = 'arp' .. n, over = eth { over = d } } } }\n"
		"end\n"
		"load { to = '10.0.0.2', rate = 20, count = 600, size = 100, over = host(1) }\n"
		"sink { size = 100, over = host(2) }\n"
		"return graph 'way' { threading = vppc { vps = 2 }, clock = 'virtual', seed = 1 }\n";
	static const char *const loss[] = { "1%", "45%" };

	for (unsigned i = 0; i < XK_ARRAY_LEN(loss); i++) {
		char text[1024];

		snprintf(text, sizeof text, fmt, loss[i]);
		bring_up(text);
		run_to_its_end();
		CU_ASSERT_EQUAL(count("arp1", "doubted") != 0, i == 1);
		CU_ASSERT_EQUAL(count("arp1", "probes_out") != 0, i == 1);
		end();
	}
}

/* Stopping in the middle of everything leaves nothing. */
static void a_graph_may_stop_at_any_moment(void)
{
	for (unsigned ms = 0; ms < 60; ms += 3) {
		struct job j = { "eth", "{ delay = '5ms', loss = '2%' }", NULL, NULL, 8, 100000, 4096,
				 "threading = vppc { vps = 4 }, clock = 'virtual', seed = 3" };

		bring_up_job(&j);
		xk_vpset_run_virtual(run.g->vps, ms * XK_MS);
		CU_ASSERT_EQUAL(xk_graph_free(run.g), 0);
		xk_spec_free(run.s);
		xk_errs_free(run.e);
	}
}

static CU_TestInfo tests[] = {
	{ "every_architecture_moves_every_byte_both_ways", every_architecture_moves_every_byte_both_ways },
	{ "no_handshake_waits_for_its_second_try", no_handshake_waits_for_its_second_try },
	{ "every_architecture_moves_every_byte_over_a_bad_link", every_architecture_moves_every_byte_over_a_bad_link },
	{ "every_profile_talks_to_every_other", every_profile_talks_to_every_other },
	{ "odd_parameters_move_every_byte_too", odd_parameters_move_every_byte_too },
	{ "bulk_flow_is_predicted", bulk_flow_is_predicted },
	{ "ten_thousand_connections_come_and_go", ten_thousand_connections_come_and_go },
	{ "a_run_can_be_repeated", a_run_can_be_repeated },
	{ "progress_either_way_confirms_the_neighbour", progress_either_way_confirms_the_neighbour },
	{ "timeouts_doubt_the_neighbour", timeouts_doubt_the_neighbour },
	{ "a_graph_may_stop_at_any_moment", a_graph_may_stop_at_any_moment },
	CU_TEST_INFO_NULL
};

static CU_SuiteInfo suites[] = {
	{ "tcp connections", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void) { return xk_test_main_rcu(suites); }

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_change.c - a graph changes a thousand times under full load.
 *
 * Promises, under each architecture that allows it, with real workers and in virtual time: layers are put
 * between an application and its transport and between a link and its device, and between layers there,
 * exchanged and taken out,
 * applications come, are replaced and go, while 48 connections keep their windows full and 32 others are
 * closed and opened anew; every message of the steady ones comes back once and in order (where a delaying link
 * keeps it), of the others each is answered or counted as one for a closed port; and nothing grows.  What
 * cannot change is refused, and whatever allocation fails on the way, all is as it was.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/compose/xk_diff.h"
#include "runtime/mem/xk_alloc.h"
#include "runtime/mem/xk_shared.h"
#include "runtime/mem/xk_slab.h"
#include "runtime/sync/xk_sync.h"
#include "runtime/upi/xk_part.h"
#include "tests/graph/churner.h"
#include "tests/support/xk_test_graph.h"

#define ALL (CHURN_STEADY + CHURN_SLOTS)

/* What lies over the client's UDP, the server's, below the client's Ethernet, and what else is over the
 * server's UDP. */
struct shape { const char *client, *server, *link, *more; };

static const char text_fmt[] =
	"local macs = { ['10.0.0.1'] = '02:00:00:00:00:01', ['10.0.0.2'] = '02:00:00:00:00:02' }\n"
	"local function host(n, addr, link)\n"
	"  local wire = eth_mem { name = 'mem' .. n, wire = 'w', mac = macs[addr], queue = 65536 }\n"
	"  if link then wire = link(wire) end\n"
	"  return udp { name = 'udp' .. n, over = ip { name = 'ip' .. n, addr = addr .. '/24',\n"
	"    over = arp { name = 'arp' .. n, neighbours = macs, over = eth { name = 'eth' .. n, over = wire } } } }\n"
	"end\n"
	"local client = host(1, '10.0.0.1', function(w) return %s end)\n"
	"local server = host(2, '10.0.0.2')\n"
	"churner { to = '10.0.0.2', count = 1000000000000, every = 60, over = (function(u) return %s end)(client) }\n"
	"echo { port = 7, over = (function(u) return %s end)(server) }\n"
	"sink { name = 'nine', port = 9, over = client }\n"
	"%s\n"
	"return graph 'change' { %s }\n";

#define TWO(low, high) "hop { name = " high ", over = hop { name = " low ", over = u } }"

static const struct shape shapes[] = {
	{ "u", "u", "w", "" },
	{ "hop { name = 'h', over = u }", "u", "w", "" },
	{ "hop { name = 'h', look = true, over = u }", "u", "w", "sink { port = 99, over = server }" },
	{ "hop { name = 'h', burn = 2, over = u }", "u", "impair { over = w }", "sink { port = 99, touch = 'none', over = server }" },
	{ "hop { name = 'h2', over = u }", "hop { name = 's', over = u }", "impair { delay = '20us', over = w }",
	  "echo { name = 'more', port = 99, over = server }" },
	{ "hop { name = 'h2', look = true, over = u }", "hop { name = 's', burn = 1, over = u }",
	  "impair { name = 'later', delay = '50us', queue = 2000, over = w }",
	  "load { name = 'beside', to = '10.0.0.1', port = 9, lport = 5000, rate = 1000, over = server }" },
	{ "u", "hop { name = 's', over = u }", "impair { reorder_depth = 5, over = w }", "" },
	/* Two at once; one between two, one below one; the lowest exchanged, the highest out; and all at once. */
	{ TWO("'h'", "'h2'"), "hop { name = 's', over = u }", "impair { name = 'i2', over = impair { name = 'i1', over = w } }", "" },
	{ "hop { name = 'h2', over = hop { name = 'm', burn = 1, over = hop { name = 'h', over = u } } }", TWO("'s0'", "'s'"),
	  "impair { name = 'i2', over = impair { name = 'im', delay = '20us', over = impair { name = 'i1', over = w } } }", "" },
	{ "hop { name = 'h2', over = hop { name = 'm', burn = 1, over = hop { name = 'h', look = true, over = u } } }",
	  "hop { name = 's0', over = u }", "impair { name = 'i2', over = impair { name = 'im', over = w } }", "" },
	{ TWO("'m', burn = 1", "'h2'"), TWO("'s0'", "'s1'"), "impair { name = 'im', over = w }", "" },
};

static struct { struct xk_errs *e; struct xk_spec *s; struct xk_graph *g; const char *fields; bool unordered; } run;
static bool shared;                      /* counters lie where another process may look at them */

/* ---- fixture ------------------------------------------------------------------------- */

static struct xk_spec *spec_of(const struct shape *w, struct xk_errs *e)
{
	struct xk_compose_opts o = { .table = xk_test_table(&xk_proto_churner) };
	struct xk_spec *s = NULL;
	char text[4096];
	int len = snprintf(text, sizeof text, text_fmt, w->link, w->client, w->server, w->more, run.fields);

	if (xk_spec_load_text(&s, "change.lua", text, (size_t)len, &o, e) != XK_OK || xk_spec_check(s, e, NULL) != XK_OK) {
		xk_spec_print_errors(stdout, s, e, NULL);
		CU_FAIL_FATAL("the graph file is wrong");
	}
	return s;
}

static void up(const struct shape *w, const char *fields)
{
	memset(&run, 0, sizeof run);
	churn_reset();
	run.fields = fields;
	/* A link that delays has a line for each I/O thread, and a pool's threads share the frames of a device. */
	run.unordered = strstr(fields, "= mp ") != NULL;
	run.e = xk_errs_new();
	run.s = spec_of(w, run.e);
	xk_spec_plan(run.s)->mem.shared = shared;
	if (xk_spec_build(run.s, &run.g, run.e) == XK_OK)
		(void)xk_graph_up(run.g, run.e);
	if (xk_errs_count(run.e) != 0)
		xk_spec_print_errors(stdout, run.s, run.e, NULL);
	CU_ASSERT_EQUAL_FATAL(xk_errs_count(run.e), 0);
}

static void down(void)
{
	CU_ASSERT_EQUAL(xk_graph_free(run.g), 0);        /* no session is left, no message went astray */
	xk_spec_free(run.s);
	xk_errs_free(run.e);
}

/* Applied; the number of errors. */
static int apply(const struct shape *w, struct xk_errs *e)
{
	struct xk_spec *s = spec_of(w, e);
	struct xk_diff *d = NULL;
	int err = xk_diff_new(&d, s, run.g, e);

	if (err == XK_OK)
		err = xk_diff_apply(d, false, e);
	xk_diff_free(d);
	xk_spec_free(s);
	return err;
}

static void must_apply(const struct shape *w)
{
	int err = apply(w, run.e);

	if (err != XK_OK)
		xk_spec_print_errors(stdout, NULL, run.e, NULL);
	CU_ASSERT_EQUAL_FATAL(err, XK_OK);
}

static uint64_t drops(const char *only)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < xk_graph_slots(run.g); i++) {
		const struct xk_node *node = xk_graph_slot(run.g, i);

		for (unsigned v = 0; node != NULL && v < run.g->vps->nvps; v++)
			for (unsigned k = 0; k < XK_DROPS_MAX; k++) {
				const char *word = xk_drop_name(node->proto, k);

				if (word != NULL && (only == NULL || strcmp(word, only) == 0))
					n += xk_counter_read(node->rep[v]->drop[k]);
			}
	}
	for (unsigned v = 0; only == NULL && v < run.g->vps->nvps; v++)
		n += xk_counter_read(run.g->vps->vp[v]->inbox_drops);
	return n;
}

static uint64_t got(void)
{
	struct churn_sums a;

	churn_sum(&a, 0, CHURN_STEADY);
	return a.got;
}

static bool all_back(void)
{
	struct churn_sums a;
	uint64_t lost = drops(NULL);

	churn_sum(&a, 0, ALL);
	return a.got + lost + churn_astray == a.sent && a.opened == a.closed + ALL - a.failed;
}

static void check_all(void)
{
	struct churn_sums s, c;
	uint64_t lost = drops(NULL);

	churn_sum(&s, 0, CHURN_STEADY);
	churn_sum(&c, CHURN_STEADY, ALL);
	printf("# %llu messages, and %llu on connections that came and went, %llu too late\n", (unsigned long long)s.sent,
	       (unsigned long long)c.sent, (unsigned long long)lost);
	CU_ASSERT_EQUAL(s.got, s.sent);
	CU_ASSERT(s.wrong + c.wrong == 0 || run.unordered);
	CU_ASSERT_EQUAL(churn_astray, 0);
	CU_ASSERT_EQUAL(s.failed + c.failed, 0);
	CU_ASSERT_EQUAL(c.got + lost, c.sent);
	CU_ASSERT_EQUAL(drops("port_unreachable"), lost);
	CU_ASSERT(c.closed != 0);
}

/* ---- a thousand swaps ---------------------------------------------------------------------- */

/* Messages pass between any two swaps. */
static void pass_virtual(void)
{
	uint64_t was = got();
	xk_ns until = xk_clock_read(&run.g->vps->clock), end = until + XK_SEC;

	while (got() < was + CHURN_STEADY && until < end)
		(void)xk_vpset_run_virtual(run.g->vps, until += 20 * XK_US);
}

static void pass_real(void)
{
	const struct timespec nap = { .tv_nsec = 100000 };
	uint64_t was = got();

	for (unsigned still = 0; still < 600000 && got() < was + CHURN_STEADY; still++)
		nanosleep(&nap, NULL);
}

struct memory { uint64_t blocks, slabs; unsigned slots; };

/* What has ended under RCU is given back first. */
static struct memory memory_now(void)
{
	xk_rcu_barrier();
	return (struct memory){ xk_alloc_live(), xk_slab_bytes(), run.g->nslots };
}

/* rounds times through all shapes, to the first at last. */
static void swap_all(unsigned rounds, void (*pass)(void), uint64_t slack)
{
	struct memory early = { 0, 0, 0 }, late;
	unsigned n = 0;

	for (unsigned i = 0; i < rounds; i++) {
		for (unsigned k = 1; k <= XK_ARRAY_LEN(shapes); k++, n++) {
			uint64_t was = got();

			must_apply(&shapes[k % XK_ARRAY_LEN(shapes)]);
			pass();
			CU_ASSERT_FATAL(got() > was);
		}
		if (i == rounds / 4)
			early = memory_now();
	}
	late = memory_now();
	printf("# %u swaps; %llu blocks of memory then, %llu now; %llu KiB of sessions then, %llu now\n", n,
	       (unsigned long long)early.blocks, (unsigned long long)late.blocks, (unsigned long long)early.slabs >> 10,
	       (unsigned long long)late.slabs >> 10);
	CU_ASSERT_EQUAL(late.slots, run.g->nnodes);
	CU_ASSERT(late.blocks <= early.blocks + 64);
	CU_ASSERT(late.slabs <= early.slabs + slack);
}

/* Architectures that stand something at every node before the graph comes up. */
static bool refuses(const char *fields)
{
	return strstr(fields, "= lp ") != NULL || strstr(fields, "= locking ") != NULL || strstr(fields, "'user'") != NULL;
}

/* All the thousand where entry is `own` and where it is `lock`; of the others a few, unless XK_SWAPS is `all`. */
static unsigned rounds_of(const char *fields, unsigned few)
{
	const char *asked = getenv("XK_SWAPS");
	bool all = strstr(fields, "= vppc ") != NULL || strstr(fields, "= connp_l ") != NULL ||
		   (asked != NULL && strcmp(asked, "all") == 0);

	return (unsigned)xk_test_rounds(all ? 1000 : few) / XK_ARRAY_LEN(shapes) + 1;
}

/* `mp` gives datagrams that nobody owns to whichever thread has them: here each has an owner. */
static const char *owned(const char *fields, char *buf, size_t n)
{
	if (strstr(fields, "= mp ") == NULL)
		return fields;
	snprintf(buf, n, "threading = mp { vps = 4, order = 'arrival', datagrams = 'owned' }%s", strstr(fields, "virtual") != NULL ?
		 ", clock = 'virtual'" : "");
	return buf;
}

static void a_thousand_swaps_in_virtual_time(void)
{
	char buf[128];

	for (const char *const *p = xk_test_presets_of(4, 4, XK_TEST_VIRTUAL); *p != NULL; p++) {
		if (refuses(*p))
			continue;
		printf("# %s\n", *p);
		up(&shapes[0], owned(*p, buf, sizeof buf));
		swap_all(rounds_of(*p, 40), pass_virtual, 32u << 10);
		xk_store_relaxed(&churn_over, 1u);
		for (unsigned i = 0; i < 10000 && !all_back(); i++)
			(void)xk_vpset_run_virtual(run.g->vps, xk_clock_read(&run.g->vps->clock) + XK_MS);
		check_all();
		down();
	}
}

/* What has ended under RCU goes back when a thread for that has its turn: how many sessions and entries there were at
 * once is the scheduler's, and only what each swap keeps by itself is counted. */
static void a_thousand_swaps_beside_workers(void)
{
	char buf[128];

	for (const char *const *p = xk_test_presets_of(4, 4, XK_TEST_ROWS); *p != NULL; p++) {
		if (refuses(*p))
			continue;
		printf("# %s\n", *p);
		up(&shapes[0], owned(*p, buf, sizeof buf));
		CU_ASSERT_EQUAL_FATAL(xk_graph_run(run.g, run.e), XK_OK);
		swap_all(rounds_of(*p, 11), pass_real, UINT32_MAX);
		xk_store_relaxed(&churn_over, 1u);
		for (unsigned i = 0; i < 600000 && !all_back(); i++)
			nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
		xk_vpset_stop(run.g->vps);
		check_all();
		down();
	}
}

/* Counters of what comes lie in shared memory, too, and what goes leaves its place to others. */
static void what_comes_and_goes_takes_no_more_shared_memory(void)
{
	static const struct shape comes = { "u", "u", "w", "load { to = '10.0.0.1', port = 9, lport = 5000, window = 1, over = server }\n"
		"sink { name = 'more', port = 99, times = true, over = server }" };
	uint64_t size = 0, blocks = 0;
	bool all = true;

	shared = true;
	up(&shapes[0], "threading = vppc { vps = 2 }, clock = 'virtual', seed = 5");
	shared = false;
	if (run.g->vps->shared == NULL)
		printf("# this system has no memory to share\n");
	for (unsigned i = 0; i < 100; i++) {
		must_apply(&comes);
		for (unsigned v = 0; run.g->vps->shared != NULL && v < 2; v++)
			all &= xk_shared_has(run.g->vps->shared, xk_graph_find(run.g, "more")->rep[v]);
		must_apply(&shapes[0]);
		blocks = i == 50 ? xk_alloc_live() : blocks;
		size = i == 3 && run.g->vps->shared != NULL ? xk_shared_size(run.g->vps->shared) : size;
	}
	CU_ASSERT(all);
	CU_ASSERT(xk_alloc_live() <= blocks + 8);
	if (run.g->vps->shared != NULL)
		CU_ASSERT_EQUAL(xk_shared_size(run.g->vps->shared), size);
	xk_store_relaxed(&churn_over, 1u);
	down();
}

/* ---- whatever fails --------------------------------------------------------------------------- */

/* The graph as it would be written, and what enables and sessions its nodes have. */
static char *picture(void)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	for (unsigned i = 0; i < xk_graph_slots(run.g); i++) {
		const struct xk_node *node = xk_graph_slot(run.g, i);

		if (node == NULL)
			continue;
		fprintf(f, "%s %s: %u enables, over", node->proto->name, node->name, xk_passive_count(&node->passive));
		for (unsigned k = 0; k < node->ndown; k++)
			fprintf(f, " %s", node->down[k]->name);
		for (unsigned v = 0; v < run.g->vps->nvps; v++)
			fprintf(f, " %s", node->ndown != 0 ? node->rep[v]->down[0]->node->name : "-");
		fputc('\n', f);
	}
	fclose(f);
	return text;
}

/* The k-th allocation that the change asks for fails: it is refused with a sentence, and all is as it was, or it was only a
 * wish and the change is made.  False: there is no k-th. */
static bool fail_one(const struct shape *w, uint64_t k, int *err)
{
	struct xk_errs *e = xk_errs_new();
	struct xk_spec *s = spec_of(w, e);
	struct xk_diff *d = NULL;
	bool met;

	xk_mem_fail_after(k);
	*err = xk_diff_new(&d, s, run.g, e);
	if (*err == XK_OK)
		*err = xk_diff_apply(d, false, e);
	met = xk_mem_tries() >= k;
	xk_mem_fail_after(0);
	xk_diff_free(d);
	CU_ASSERT((*err == XK_OK) == (xk_errs_count(e) == 0));
	xk_spec_free(s);
	xk_errs_free(e);
	return met;
}

/* Of the change from one shape to another each `step`-th, to the last. */
static void fail_each(const struct shape *was, const struct shape *w, unsigned step)
{
	uint64_t k = 0;
	unsigned wishes = 0;
	bool met;
	int err;

	do {
		char *before = picture(), *after;

		met = fail_one(w, k += step, &err);
		after = picture();
		CU_ASSERT_EQUAL(strcmp(after, before) == 0, err != XK_OK);
		free(before);
		free(after);
		pass_virtual();
		wishes += met && err == XK_OK;
		if (met && err == XK_OK)
			must_apply(was);
	} while (met && k < 100000);
	CU_ASSERT_EQUAL(err, XK_OK);
	printf("# %llu allocations, %u of them wishes\n", (unsigned long long)k - 1, wishes);
}

/* What passes while the change is made may be what finds no memory: then it is a counted drop. */
static void each_failed_allocation_leaves_all_as_it_was(void)
{
	struct churn_sums a;

	up(&shapes[0], "threading = vppc { vps = 2 }, clock = 'virtual', seed = 5");
	pass_virtual();
	for (unsigned k = 1; k <= XK_ARRAY_LEN(shapes); k++) {
		const struct shape *was = &shapes[k - 1], *w = &shapes[k % XK_ARRAY_LEN(shapes)];

		if (k % 2 != 0)
			fail_each(was, w, xk_test_rounds(100) == 100 ? 5 : 29);
		else
			must_apply(w);
	}
	xk_store_relaxed(&churn_over, 1u);
	for (unsigned i = 0; i < 10000 && !all_back(); i++)
		(void)xk_vpset_run_virtual(run.g->vps, xk_clock_read(&run.g->vps->clock) + XK_MS);
	churn_sum(&a, 0, ALL);
	printf("# %llu messages, %llu dropped for want of memory\n", (unsigned long long)a.sent,
	       (unsigned long long)drops("no memory"));
	CU_ASSERT_EQUAL(a.got + drops(NULL), a.sent);
	CU_ASSERT_EQUAL(drops("no memory") + drops("port_unreachable"), drops(NULL));
	CU_ASSERT_EQUAL(churn_astray, 0);
	down();
}

/* ---- what is refused ----------------------------------------------------------------------------- */

static void refused_with(const struct shape *w, const char *fields, const char *text)
{
	const char *was = run.fields, *file;
	struct xk_errs *e = xk_errs_new();
	char *before = picture(), *after;
	uint64_t was_got = got();
	bool said = false;
	int line, col, err;

	run.fields = fields;
	err = apply(w, e);
	run.fields = was;
	CU_ASSERT_EQUAL(err, XK_E_INVAL);
	xk_errs_sort(e);
	for (unsigned i = 0; i < xk_errs_count(e); i++)
		said = said || strstr(xk_errs_text(e, i, &file, &line, &col), text) != NULL;
	if (!said)
		xk_spec_print_errors(stdout, NULL, e, NULL);
	CU_ASSERT(said);
	after = picture();
	CU_ASSERT_STRING_EQUAL(after, before);
	free(before);
	free(after);
	xk_errs_free(e);
	pass_virtual();
	CU_ASSERT(got() > was_got);      /* the graph runs on */
}

static const char plain[] = "threading = vppc { vps = 2 }, clock = 'virtual', seed = 5";

static void what_cannot_change_is_refused(void)
{
	static const struct shape device = { "u", "u", "eth_mem { name = 'other', wire = 'x', mac = '02:00:00:00:00:09' }", "" };
	static const struct shape transport = { "u", "u", "w", "udp { name = 'udp3', over = ip { name = 'ip3', addr = '10.0.1.1/24', "
		"over = arp { name = 'arp3', over = eth { name = 'eth3', over = eth_mem { name = 'mem3', wire = 'v' } } } } }" };
	static const struct shape elsewhere = { "server", "client", "w", "" };

	up(&shapes[0], plain);
	pass_virtual();
	refused_with(&shapes[1], "threading = vppc { vps = 4 }, clock = 'virtual'", "threading is 'vppc' and 2 virtual processors");
	refused_with(&device, plain, "is a driver: devices stay as they were opened");
	refused_with(&transport, plain, "has a header of its own");
	refused_with(&elsewhere, plain, "would lie over another node");
	xk_store_relaxed(&churn_over, 1u);
	down();
}

#define LAYER(name, low) "hop { name = '" name "', over = " low " }"

/* What two applications wait for through a stack goes with them, whichever layers came and went meanwhile: below both,
 * below one, between, on top; and those that come wait through what comes with them. */
static void what_is_enabled_stays_of_one_piece(void)
{
	static const char *const low[] = { "server", LAYER("a", "server"), LAYER("b", LAYER("a", "server")), LAYER("b", "server") };
	static const char *const high[] = { "layer", LAYER("c", "layer"), LAYER("d", LAYER("c", "layer")), LAYER("d", "layer") };
	char more[512], *before, *after;
	struct shape w = { "u", "u", "w", more };

	up(&shapes[0], plain);
	before = picture();
	for (unsigned i = 0; i < 64; i++) {
		/* Each of low over which `layer` lies, to each of high over it. */
		snprintf(more, sizeof more, "local layer = hop { name = 'layer', over = %s }\n"
			 "sink { name = 'x', port = 99, over = %s }\n%s", low[i * 7 / 4 % 4], high[i % 4],
			 i % 3 != 0 ? "echo { name = 'y', port = 98, over = layer }\n" : "");
		must_apply(&w);
		pass_virtual();
		if (i % 5 != 4)
			continue;
		must_apply(&shapes[0]);
		after = picture();
		CU_ASSERT_STRING_EQUAL(after, before);
		free(after);
	}
	must_apply(&shapes[0]);
	after = picture();
	CU_ASSERT_STRING_EQUAL(after, before);
	free(after);
	free(before);
	xk_store_relaxed(&churn_over, 1u);
	down();
}

static void parts_of(struct xk_parts *ps, uint16_t port)
{
	xk_parts_init(ps, 1);
	xk_part_push_any(&ps->p[0]);
	xk_part_push_port(&ps->p[0], port);
}

static int enabled(struct xk_node *who, struct xk_node *below, uint16_t port, bool on)
{
	struct xk_parts ps;

	parts_of(&ps, port);
	return on ? xk_open_enable(who, who, below, &ps) : xk_open_disable(who, who, below, &ps);
}

/* Who gets port 98 or 99 finds it taken, or free: bits 0 and 1. */
static void must_be_free(unsigned which)
{
	struct xk_node *who = xk_graph_find(run.g, "nine"), *udp = xk_graph_find(run.g, "udp2");

	for (unsigned k = 0; k < 2; k++) {
		int err = enabled(who, udp, (uint16_t)(98 + k), true);

		CU_ASSERT_EQUAL(err, which >> k & 1u ? XK_OK : XK_E_ADDRINUSE);
		if (err == XK_OK)
			CU_ASSERT_EQUAL(enabled(who, udp, (uint16_t)(98 + k), false), XK_OK);
	}
}

static void must_be_as_at_first(const char *first)
{
	char *now;

	must_apply(&shapes[0]);
	now = picture();
	CU_ASSERT_STRING_EQUAL(now, first);
	free(now);
}

/* An application that waits on two ports through `top` gives up one of them, or both, when two layers came below it. */
static void give_up(const char *low, unsigned which)
{
	char few[512], more[512], *first;
	const struct shape without = { "u", "u", "w", few }, with = { "u", "u", "w", more };
	struct xk_node *x;

	snprintf(few, sizeof few, "sink { name = 'x', port = 99, over = hop { name = 'top', over = %s } }", low);
	snprintf(more, sizeof more, "sink { name = 'x', port = 99, over = hop { name = 'top', over = "
		 "hop { name = 'm2', over = hop { name = 'm1', over = %s } } } }", low);
	up(&shapes[0], plain);
	first = picture();
	must_apply(&without);
	x = xk_graph_find(run.g, "x");
	CU_ASSERT_EQUAL(enabled(x, x->down[0], 98, true), XK_OK);
	must_apply(&with);
	for (unsigned k = 0; k < 2; k++)
		if (which >> k & 1u)
			CU_ASSERT_EQUAL(enabled(x, x->down[0], (uint16_t)(98 + k), false), XK_OK);
	must_be_free(which);
	must_apply(&without);
	must_be_free(which);
	must_be_as_at_first(first);
	free(first);
	xk_store_relaxed(&churn_over, 1u);
	down();
}

/* What nobody waits on is given up through layers that came later: an error, and nothing else. */
static void what_is_not_there_gives_up_no_other(void)
{
	static const char more[] = "sink { name = 'x', port = 99, over = hop { name = 'top', over = "
				   "hop { name = 'm2', over = hop { name = 'm1', over = server } } } }";
	static const struct shape without = { "u", "u", "w", "sink { name = 'x', port = 99, over = hop { name = 'top', over = server } }" };
	static const struct shape with = { "u", "u", "w", more };
	struct xk_node *x, *top;
	struct xk_parts ps;

	up(&shapes[0], plain);
	must_apply(&without);
	x = xk_graph_find(run.g, "x");
	top = x->down[0];
	CU_ASSERT_EQUAL(enabled(x, top, 98, true), XK_OK);
	must_apply(&with);
	parts_of(&ps, 97);
	CU_ASSERT_EQUAL(xk_open_disable(top, x, top->down[0], &ps), XK_E_NOENT);
	must_be_free(0);
	CU_ASSERT_EQUAL(enabled(x, top, 98, false), XK_OK);
	must_be_free(1);
	xk_store_relaxed(&churn_over, 1u);
	down();
}

static void of_two_ports_one_is_given_up_and_the_other_stays(void)
{
	for (unsigned which = 0; which < 4; which++) {
		give_up("server", which);
		give_up(LAYER("low", "server"), which);
	}
}

/* 'x' waits on port 99 three times over; 'y' that comes in its place does once, and a layer comes that can fail after it. */
static const struct shape thrice = { "u", "u", "w", "sink { name = 'x', port = 99, over = server }" },
	once = { "u", "hop { name = 's', over = u }", "w", "echo { name = 'y', port = 99, over = server }" };

static struct xk_node *wait_thrice(void)
{
	struct xk_node *x;

	must_apply(&thrice);
	x = xk_graph_find(run.g, "x");
	for (unsigned i = 0; i < 2; i++)
		CU_ASSERT_EQUAL(enabled(x, x->down[0], 99, true), XK_OK);
	return x;
}

static void give_up_times(struct xk_node *who, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		must_be_free(1);
		CU_ASSERT_EQUAL(enabled(who, who->down[0], 99, false), XK_OK);
	}
	must_be_free(3);
}

static void who_takes_a_port_over_has_it_as_often_as_it_asked(void)
{
	struct xk_node *y;
	char *first;

	up(&shapes[0], plain);
	first = picture();
	(void)wait_thrice();
	must_apply(&once);
	y = xk_graph_find(run.g, "y");
	give_up_times(y, 1);
	must_be_as_at_first(first);
	free(first);
	xk_store_relaxed(&churn_over, 1u);
	down();
}

/* Whatever fails, x has its port as often as before. */
static void who_keeps_a_port_has_it_as_often_as_before(void)
{
	unsigned failed = 0, step = xk_test_rounds(100) == 100 ? 1 : 7;
	uint64_t k = 0;
	char *first;
	bool met;
	int err;

	up(&shapes[0], plain);
	first = picture();
	do {
		struct xk_node *x = wait_thrice();

		met = fail_one(&once, k += step, &err);
		if (err != XK_OK)
			give_up_times(x, 3);
		failed += err != XK_OK;
		must_be_as_at_first(first);
	} while (met);
	CU_ASSERT(failed > 1);
	free(first);
	xk_store_relaxed(&churn_over, 1u);
	down();
}

static CU_TestInfo tests[] = {
	{ "a thousand swaps in virtual time", a_thousand_swaps_in_virtual_time },
	{ "a thousand swaps beside workers", a_thousand_swaps_beside_workers },
	{ "what comes and goes takes no more shared memory", what_comes_and_goes_takes_no_more_shared_memory },
	{ "each failed allocation leaves all as it was", each_failed_allocation_leaves_all_as_it_was },
	{ "what cannot change is refused", what_cannot_change_is_refused },
	{ "what is enabled stays of one piece", what_is_enabled_stays_of_one_piece },
	{ "of two ports one is given up and the other stays", of_two_ports_one_is_given_up_and_the_other_stays },
	{ "who takes a port over has it as often as it asked", who_takes_a_port_over_has_it_as_often_as_it_asked },
	{ "who keeps a port has it as often as before", who_keeps_a_port_has_it_as_often_as_before },
	{ "what is not there gives up no other", what_is_not_there_gives_up_no_other },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = { { "change", NULL, NULL, NULL, NULL, tests }, CU_SUITE_INFO_NULL };

int main(void) { return xk_test_main_rcu(suites); }

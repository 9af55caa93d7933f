/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_change_sock.c - layers change a thousand times below sockets that are in use.
 *
 * Promises, under each architecture that allows it, with real workers and in virtual time: layers are put between a
 * program's sockets and the TCP and UDP below them, between layers there, exchanged and taken out, while streams and
 * datagrams pass, connections and ports come and go, and threads wait in calls; no byte is lost or another, each
 * datagram is answered once, no call fails, and nothing grows.  What a socket has bound it gives up, whichever layers
 * came and went meanwhile.  Whatever allocation fails on the way, all is as it was.
 */
#include "runtime/compose/xk_diff.h"
#include "runtime/mem/xk_alloc.h"
#include "runtime/mem/xk_slab.h"
#include "runtime/sync/xk_sync.h"
#include "runtime/upi/xk_proto.h"
#include "tests/graph/sock_talk.h"
#include "tests/support/xk_test_graph.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What lies over the client's TCP and UDP, over the server's, below the client's Ethernet; what else there is. */
struct shape { const char *ct, *cu, *st, *su, *link, *more; };

static const char text_fmt[] =
	"local macs = { ['10.0.0.1'] = '02:00:00:00:00:01', ['10.0.0.2'] = '02:00:00:00:00:02' }\n"
	"local function host(n, own, link)\n"
	"  local wire = eth_mem { name = 'mem' .. n, wire = 'w', mac = macs[own], queue = 65536 }\n"
	"  local net = ip { name = 'ip' .. n, addr = own .. '/24', over = arp { name = 'arp' .. n, neighbours = macs,\n"
	"    over = eth { name = 'eth' .. n, over = link(wire) } } }\n"
	"  icmp { name = 'icmp' .. n, over = net }\n"
	/* What has ended is not remembered for long: what grows is the swaps'. */
	"  return tcp { name = 'tcp' .. n, quirks = { msl = '1ms' }, over = net },\n"
	"    udp { name = 'udp' .. n, idle_timeout = '1ms', over = net }\n"
	"end\n"
	"local ct, cu = host(1, '10.0.0.1', function(b) return %s end)\n"
	"local st, su = host(2, '10.0.0.2', function(b) return b end)\n"
	"sock { name = 'client', over = { (function(b) return %s end)(ct), (function(b) return %s end)(cu) } }\n"
	"sock { name = 'server', over = { (function(b) return %s end)(st), (function(b) return %s end)(su) } }\n"
	"%s\n"
	"return graph 'change' { %s }\n";

#define HOP(name, more, low) "hop { name = '" name "'" more ", over = " low " }"

static const struct shape shapes[] = {
	{ "b", "b", "b", "b", "b", NULL },
	/* One comes; others, on the other sides; exchanged; out, and one below the link. */
	{ HOP("ct", "", "b"), "b", "b", HOP("su", "", "b"), "b", NULL },
	{ HOP("ct", ", look = true", "b"), HOP("cu", "", "b"), HOP("st", "", "b"), HOP("su", ", burn = 2", "b"), "b", NULL },
	{ "b", HOP("cu", "", "b"), HOP("st", ", burn = 1", "b"), "b", "impair { over = b }", NULL },
	/* Two at once, one below one, one over one; the lowest exchanged, the highest out. */
	{ HOP("ct2", "", HOP("ct", "", "b")), HOP("cu2", "", HOP("cu", "", "b")), "b", HOP("su2", "", HOP("su", "", "b")), "b", NULL },
	{ HOP("ct2", "", HOP("ctm", "", HOP("ct", "", "b"))), HOP("cu2", "", HOP("cu", ", look = true", "b")), HOP("st", "", "b"),
	  HOP("su", "", "b"), "impair { delay = '20us', over = b }", NULL },
	{ HOP("ctm", "", HOP("ct", "", "b")), HOP("cu2", "", "b"), HOP("st2", "", HOP("st", "", "b")), HOP("su3", "", HOP("su", "", "b")), "b", NULL },
};

static struct { struct xk_errs *e; struct xk_spec *s; struct xk_graph *g; const char *fields; uint64_t live; } run;

/* ---- an application that waits for no change ---------------------------------------------- */

static void binder_halt(struct xk_node *n) { (void)n; }

static const struct xk_ops binder_ops = { .halt = binder_halt };
static const struct xk_proto proto_binder = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "binder", .doc = "is called by threads of a program",
	.ops = &binder_ops, .needs = { "port" }, .min_down = 1, .max_down = 1,
};

/* ---- fixture ------------------------------------------------------------------------- */

static struct xk_spec *spec_of(const struct shape *w, struct xk_errs *e)
{
	struct xk_compose_opts o = { .table = xk_test_table(&proto_binder) };
	struct xk_spec *s = NULL;
	char text[4096];
	int len = snprintf(text, sizeof text, text_fmt, w->link, w->ct, w->cu, w->st, w->su, w->more != NULL ? w->more : "",
			   run.fields);

	if (xk_spec_load_text(&s, "change.lua", text, (size_t)len, &o, e) != XK_OK || xk_spec_check(s, e, NULL) != XK_OK) {
		xk_spec_print_errors(stdout, s, e, NULL);
		CU_FAIL_FATAL("the graph file is wrong");
	}
	return s;
}

static void up(const struct shape *w, const char *fields)
{
	memset(&run, 0, sizeof run);
	printf("# %s\n", fields);
	run.live = xk_alloc_live();
	run.fields = fields;
	run.e = xk_errs_new();
	run.s = spec_of(w, run.e);
	if (xk_spec_build(run.s, &run.g, run.e) == XK_OK)
		(void)xk_graph_up(run.g, run.e);
	if (xk_errs_count(run.e) != 0)
		xk_spec_print_errors(stdout, run.s, run.e, NULL);
	CU_ASSERT_EQUAL_FATAL(xk_errs_count(run.e), 0);
}

static void down(void)
{
	xk_test_unbuild(run.s, run.g, run.e, run.live);  /* no session is left, no message went astray */
}

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

static void step(xk_ns ns)
{
	(void)xk_vpset_run_virtual(run.g->vps, xk_clock_read(&run.g->vps->clock) + ns);
}

/* Messages that nodes of this protocol have dropped. */
static uint64_t drops(const char *proto)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < xk_graph_slots(run.g); i++) {
		const struct xk_node *node = xk_graph_slot(run.g, i);

		for (unsigned v = 0; node != NULL && strcmp(node->proto->name, proto) == 0 && v < run.g->vps->nvps; v++)
			for (unsigned k = 0; k < XK_DROPS_MAX; k++)
				n += xk_counter_read(node->rep[v]->drop[k]);
	}
	return n;
}

/* ---- talkers ---------------------------------------------------------------------------- */

static uint64_t total(void)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < TALKERS; i++)
		n += xk_load_relaxed(&talker[i].total);
	return n;
}

/* Where each was. */
struct marks { uint64_t at[TALKERS]; };

static void mark(struct marks *m)
{
	for (unsigned i = 0; i < TALKERS; i++)
		m->at[i] = xk_load_relaxed(&talker[i].total);
}

static bool all_went_on(const struct marks *m)
{
	for (unsigned i = 0; i < TALKERS; i++)
		if (xk_load_relaxed(&talker[i].total) == m->at[i])
			return false;
	return true;
}

/* Who did not. */
static void say_talkers(const struct marks *m)
{
	for (unsigned i = 0; i < TALKERS; i++)
		if (xk_load_relaxed(&talker[i].total) == m->at[i])
			printf("# talker %u waits: %s, %llu sent, %llu back, %llu rounds\n", i, xk_strerror(talker[i].failed),
			       (unsigned long long)talker[i].sent, (unsigned long long)talker[i].got, (unsigned long long)talker[i].rounds);
}

static void turn_all(void)
{
	for (unsigned i = 0; i < TALKERS; i++)
		(void)talk_turn(&talker[i]);
	step(20 * XK_US);
}

/* Something of every talker comes back between any two swaps. */
static void pass_virtual(void)
{
	struct marks m;

	mark(&m);
	for (unsigned i = 0; i < 20000 && !all_went_on(&m); i++)
		turn_all();
	CU_ASSERT_FATAL(all_went_on(&m));
}

static void pass_real(void)
{
	const struct timespec nap = { .tv_nsec = 100000 };
	struct marks m;

	mark(&m);
	for (unsigned i = 0; i < 600000 && !all_went_on(&m); i++)
		nanosleep(&nap, NULL);
	if (!all_went_on(&m))
		say_talkers(&m);
	CU_ASSERT_FATAL(all_went_on(&m));
}

static bool all_over(void)
{
	for (unsigned i = 0; i < TALKERS; i++)
		if (!talk_is_over(&talker[i]))
			return false;
	return true;
}

static uint64_t rounds_sum(void)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < TALKERS; i++)
		n += xk_load_relaxed(&talker[i].rounds);
	return n;
}

static void check_talkers(void)
{
	for (unsigned i = 0; i < TALKERS; i++) {
		const struct talker *t = &talker[i];

		if (t->failed != 0)
			printf("# talker %u: %s\n", i, xk_strerror(t->failed));
		CU_ASSERT_EQUAL(t->failed, 0);
		CU_ASSERT_EQUAL(t->wrong, 0);
		CU_ASSERT_EQUAL(t->sent, t->got);
	}
	printf("# %llu bytes and datagrams came back, %llu times all was closed and opened anew\n", (unsigned long long)total(),
	       (unsigned long long)rounds_sum());
	CU_ASSERT_EQUAL(drops("sock"), 0);
	CU_ASSERT_EQUAL(drops("hop"), 0);
	CU_ASSERT_EQUAL(drops("udp"), 0);
}

static void end_virtual(void)
{
	xk_store_relaxed(&talk_over, 1u);
	for (unsigned i = 0; i < 100000 && !all_over(); i++)
		turn_all();
	CU_ASSERT(all_over());
	check_talkers();
	for (unsigned i = 0; i < TALKERS; i++)
		talk_end(&talker[i]);
	step(10 * XK_MS);
	down();
}

/* ---- a thousand swaps ---------------------------------------------------------------------- */

struct memory { uint64_t blocks, slabs; unsigned slots; };

/* What has ended under RCU has gone back. */
static struct memory memory_now(void)
{
	xk_rcu_barrier();
	return (struct memory){ xk_alloc_live(), xk_slab_bytes(), run.g->nslots };
}

/* rounds times through all shapes, to the first at last.  slack: blocks, and bytes of sessions. */
static void swap_all(unsigned rounds, void (*pass)(void), uint64_t slack_blocks, uint64_t slack_slabs)
{
	struct memory early = { 0, 0, 0 }, late;
	unsigned n = 0;

	for (unsigned i = 0; i < rounds; i++) {
		for (unsigned k = 1; k <= XK_ARRAY_LEN(shapes); k++, n++) {
			must_apply(&shapes[k % XK_ARRAY_LEN(shapes)]);
			pass();
		}
		if (i == rounds / 4)
			early = memory_now();
	}
	late = memory_now();
	CU_ASSERT(rounds_sum() != 0);
	printf("# %u swaps; %llu blocks of memory then, %llu now; %llu KiB of sessions then, %llu now\n", n,
	       (unsigned long long)early.blocks, (unsigned long long)late.blocks, (unsigned long long)early.slabs >> 10,
	       (unsigned long long)late.slabs >> 10);
	CU_ASSERT_EQUAL(late.slots, run.g->nnodes);
	CU_ASSERT(late.blocks <= early.blocks + slack_blocks);
	CU_ASSERT(late.slabs <= early.slabs + slack_slabs);
}

/* Architectures that stand something at every node before the graph comes up. */
static bool refuses(const char *fields)
{
	return strstr(fields, "= lp ") != NULL || strstr(fields, "= locking ") != NULL || strstr(fields, "'user'") != NULL;
}

/* All the thousand where entry is `own` and where it is `lock`; of the others a few. */
static unsigned rounds_of(const char *fields, unsigned few)
{
	bool all = strstr(fields, "= vppc ") != NULL || strstr(fields, "= connp_l ") != NULL;

	return (unsigned)xk_test_rounds(all ? 1000 : few) / XK_ARRAY_LEN(shapes) + 1;
}

/* `mp` gives datagrams that nobody owns to whichever thread has them: here each has an owner.  In any order:
 * threads that keep that of arrival wait for each other's turn, which takes long where they are more than processors. */
static const char *owned(const char *fields, char *buf, size_t n)
{
	if (strstr(fields, "= mp ") == NULL)
		return fields;
	snprintf(buf, n, "threading = mp { vps = 4, order = 'any', datagrams = 'owned' }%s", strstr(fields, "virtual") != NULL ?
		 ", clock = 'virtual'" : "");
	return buf;
}

static void begin_talk(void)
{
	talk_begin(xk_graph_find(run.g, "client"), xk_graph_find(run.g, "server"));
}

static void a_thousand_swaps_in_virtual_time(void)
{
	char buf[128];

	for (const char *const *p = xk_test_presets_of(4, 4, XK_TEST_VIRTUAL); *p != NULL; p++) {
		if (refuses(*p))
			continue;
		up(&shapes[0], owned(*p, buf, sizeof buf));
		begin_talk();
		swap_all(rounds_of(*p, 21), pass_virtual, 64, 64u << 10);
		end_virtual();
	}
}

/* How many sockets and sessions there are at once, and have not gone back yet, is the scheduler's: what each of the
 * thousand would keep by itself is more. */
static void a_thousand_swaps_beside_workers(void)
{
	pthread_t thread[TALKERS];
	char buf[128];

	for (const char *const *p = xk_test_presets_of(4, 4, XK_TEST_ROWS); *p != NULL; p++) {
		if (refuses(*p))
			continue;
		up(&shapes[0], owned(*p, buf, sizeof buf));
		begin_talk();
		CU_ASSERT_EQUAL_FATAL(xk_graph_run(run.g, run.e), XK_OK);
		for (unsigned i = 0; i < TALKERS; i++)
			CU_ASSERT_EQUAL_FATAL(pthread_create(&thread[i], NULL, talk_thread, &talker[i]), 0);
		swap_all(rounds_of(*p, 7), pass_real, 512, UINT32_MAX);
		xk_store_relaxed(&talk_over, 1u);
		for (unsigned i = 0; i < TALKERS; i++)
			pthread_join(thread[i], NULL);
		check_talkers();
		for (unsigned i = 0; i < TALKERS; i++)
			talk_end(&talker[i]);
		down();
	}
}

/* ---- whatever fails --------------------------------------------------------------------------- */

static const char plain[] = "threading = vppc { vps = 2 }, clock = 'virtual', seed = 5";

/* Over what each node lies, what is enabled and open of it. */
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
		for (unsigned v = 0; v < run.g->vps->nvps; v++) {
			for (unsigned k = 0; k < node->ndown; k++)
				fprintf(f, " %s", node->rep[v]->down[k]->node->name);
			fprintf(f, ", %u sessions", xk_rep_sessions(node->rep[v]));
		}
		fputc('\n', f);
	}
	fclose(f);
	return text;
}

/* The k-th allocation that the change asks for fails.  False: there is no k-th. */
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

/* Of the change from one shape to another each `every`-th, to the last. */
static void fail_each(const struct shape *was, const struct shape *w, unsigned every)
{
	unsigned wishes = 0;
	uint64_t k = 0;
	bool met;
	int err;

	do {
		char *before = picture(), *after;

		met = fail_one(w, k += every, &err);
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

static void each_failed_allocation_leaves_all_as_it_was(void)
{
	up(&shapes[0], plain);
	begin_talk();
	pass_virtual();
	for (unsigned k = 1; k <= XK_ARRAY_LEN(shapes); k++)
		fail_each(&shapes[k - 1], &shapes[k % XK_ARRAY_LEN(shapes)], xk_test_rounds(100) == 100 ? 3 : 29);
	end_virtual();
}

/* ---- what is bound ------------------------------------------------------------------------------- */

#define PORTS 12u
/* Each port of the server's: a stream's that listens, or a datagram's; two may share one of these. */
static struct { int fd[2]; } bound[PORTS];

static int bind_one(unsigned i)
{
	const int on = 1, type = i % 2 != 0 ? XK_SOCK_STREAM : XK_SOCK_DGRAM;
	int fd = xk_sock_socket(xk_graph_find(run.g, "server"), type);

	CU_ASSERT_FATAL(fd > 0);
	CU_ASSERT_EQUAL(xk_sock_setopt(fd, XK_SO_REUSEADDR, &on, sizeof on), XK_OK);
	CU_ASSERT_EQUAL(xk_sock_bind(fd, &(struct xk_sock_addr){ 0, (uint16_t)(100 + i) }), XK_OK);
	if (type == XK_SOCK_STREAM)
		CU_ASSERT_EQUAL(xk_sock_listen(fd, 4), XK_OK);
	return fd;
}

static void bind_or_close(unsigned i, unsigned which)
{
	int *fd = &bound[i].fd[i % 2 == 0 ? which : 0];

	if (*fd == 0) {
		*fd = bind_one(i);
		return;
	}
	if (i % 2 != 0 && which != 0)
		CU_ASSERT_EQUAL(xk_sock_shutdown(*fd, XK_SHUT_RD), XK_OK);
	CU_ASSERT_EQUAL(xk_sock_close(*fd), XK_OK);
	*fd = 0;
}

static void check_enables(unsigned parity)
{
	const struct xk_node *n = xk_graph_find(run.g, parity != 0 ? "tcp2" : "udp2"), *above;
	unsigned ports = 0;

	for (unsigned i = parity; i < PORTS; i += 2)
		ports += bound[i].fd[0] != 0 || bound[i].fd[1] != 0;
	CU_ASSERT_EQUAL(xk_passive_count(&n->passive), ports);
	for (above = xk_graph_find(run.g, "server")->down[parity != 0 ? 0 : 1]; above != n; above = above->down[0])
		CU_ASSERT_EQUAL(xk_passive_count(&above->passive), ports != 0);
}

/* Bound before layers came, between, after; closed in any order. */
static void what_is_bound_is_given_up_whichever_layers_came(void)
{
	uint32_t dice = 12345;

	up(&shapes[0], plain);
	memset(bound, 0, sizeof bound);
	for (unsigned i = 0; i < xk_test_rounds(4000); i++) {
		unsigned no;

		dice = dice * 1664525u + 1013904223u;
		no = dice >> 16;
		if (no % 4 == 0)
			must_apply(&shapes[no / 4 % XK_ARRAY_LEN(shapes)]);
		else
			bind_or_close(no / 4 % PORTS, no / 64 % 2);
		check_enables(0);
		check_enables(1);
	}
	for (unsigned i = 0; i < 2 * PORTS; i++)
		if (bound[i / 2].fd[i % 2] != 0)
			CU_ASSERT_EQUAL(xk_sock_close(bound[i / 2].fd[i % 2]), XK_OK);
	memset(bound, 0, sizeof bound);
	check_enables(0);
	check_enables(1);
	must_apply(&shapes[0]);
	down();
}

/* ---- what is told, and what is refused --------------------------------------------------------------- */

static bool all_parted(uint64_t rounds)
{
	for (unsigned i = 0; i < TALKERS; i++)
		if (talker[i].limit != 0 && talker[i].rounds < rounds)
			return false;
	return true;
}

/* Whichever end closes first, the other reads the end of the stream: a layer holds no connection. */
static void ends_of_streams_pass_layers(void)
{
	for (unsigned k = 0; k < XK_ARRAY_LEN(shapes); k++) {
		up(&shapes[k], plain);
		begin_talk();
		for (unsigned i = 0; i < 20000 && !all_parted(4); i++)
			turn_all();
		CU_ASSERT(all_parted(4));
		end_virtual();
	}
}

/* Nobody waits at the port: who is connected hears of it, through layers, too. */
static void news_of_a_port_that_is_closed_passes_layers(void)
{
	for (unsigned k = 0; k < XK_ARRAY_LEN(shapes); k++) {
		char b[8];
		int fd;

		up(&shapes[0], plain);
		must_apply(&shapes[k]);
		fd = xk_sock_socket(xk_graph_find(run.g, "client"), XK_SOCK_DGRAM | XK_SOCK_NONBLOCK);
		CU_ASSERT_EQUAL(xk_sock_connect(fd, &(struct xk_sock_addr){ TALK_SERVER, 9 }), XK_OK);
		CU_ASSERT_EQUAL(xk_sock_send(fd, "?", 1, 0), 1);
		step(10 * XK_MS);
		CU_ASSERT_EQUAL(xk_sock_recv(fd, b, sizeof b, 0), XK_E_CONNREFUSED);
		/* And a layer that comes after it was opened. */
		must_apply(&shapes[(k + 1) % XK_ARRAY_LEN(shapes)]);
		CU_ASSERT_EQUAL(xk_sock_send(fd, "?", 1, 0), 1);
		step(10 * XK_MS);
		CU_ASSERT_EQUAL(xk_sock_recv(fd, b, sizeof b, 0), XK_E_CONNREFUSED);
		CU_ASSERT_EQUAL(xk_sock_close(fd), XK_OK);
		down();
	}
}

static void refused_with(const char *why, const struct shape *w)
{
	struct xk_errs *e = xk_errs_new();
	char *before = picture(), *after;
	const char *file, *text;
	int line, col;

	CU_ASSERT_EQUAL(apply(w, e), XK_E_INVAL);
	CU_ASSERT_EQUAL(xk_errs_count(e), 1);
	text = xk_errs_count(e) != 0 ? xk_errs_text(e, 0, &file, &line, &col) : "";
	if (strstr(text, why) == NULL)
		printf("# %s\n", text);
	CU_ASSERT(strstr(text, why) != NULL);
	after = picture();
	CU_ASSERT_STRING_EQUAL(after, before);
	free(before);
	free(after);
	xk_errs_free(e);
	pass_virtual();
}

static void what_cannot_change_is_refused(void)
{
	static const struct shape elsewhere = { "b", HOP("cu", "", "su"), "b", "b", "b", NULL };
	/* The rest of the server's sock: another backlog. */
	static const struct shape another = { "b", "b", "b", "b end)(su) }, backlog = #{ (function(b) return 1", "b", NULL };

	up(&shapes[0], plain);
	begin_talk();
	pass_virtual();
	refused_with("client would lie over another node, and what it has open stays where it is", &elsewhere);
	refused_with("server is called by threads of a program, which hold what it gave them", &another);
	end_virtual();
}

#define BINDER(low) { "b", "b", "b", "b", "b", "binder { name = 'binds', over = " low " }" }

/* Straight below, and below a layer. */
static void a_layer_below_who_waits_for_no_change_is_refused(void)
{
	static const struct shape bare = BINDER("su"), one = BINDER(HOP("x", "", "su")), other = BINDER(HOP("x", ", burn = 1", "su")),
				  two = BINDER(HOP("x", "", HOP("y", "", "su")));
	static const char below[] = "binds binds and gives up ports while it runs";

	up(&bare, plain);
	begin_talk();
	refused_with(below, &one);
	end_virtual();
	up(&one, plain);
	begin_talk();
	refused_with(below, &bare);
	refused_with(below, &other);
	refused_with("has another above it that binds", &two);
	end_virtual();
}

static CU_TestInfo tests[] = {
	{ "a thousand swaps in virtual time", a_thousand_swaps_in_virtual_time },
	{ "a thousand swaps beside workers", a_thousand_swaps_beside_workers },
	{ "each failed allocation leaves all as it was", each_failed_allocation_leaves_all_as_it_was },
	{ "what is bound is given up whichever layers came", what_is_bound_is_given_up_whichever_layers_came },
	{ "ends of streams pass layers", ends_of_streams_pass_layers },
	{ "news of a port that is closed passes layers", news_of_a_port_that_is_closed_passes_layers },
	{ "what cannot change is refused", what_cannot_change_is_refused },
	{ "a layer below who waits for no change is refused", a_layer_below_who_waits_for_no_change_is_refused },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = { { "change below sockets", NULL, NULL, NULL, NULL, tests }, CU_SUITE_INFO_NULL };

int main(void) { return xk_test_main_rcu(suites); }

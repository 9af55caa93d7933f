/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_locking.c - locks of each layer's objects (object_locks = "layer"), counted.
 *
 * Promises (Salehi and others 1995, 2.2 and 6): on its way up a message takes the lock of each
 * layer's map once and that of its session there once, six over UDP, IP and FDDI with the two of
 * its connection; on its way down it takes none.  All I/O threads share the two: one map of a node,
 * and one session, whichever I/O thread's own it came through, whose count misses nobody.
 */
#include <stdio.h>
#include <string.h>

#include "runtime/run/xk_run.h"
#include "runtime/upi/upi_hook_locks.h"
#include "tests/graph/udp_checker.h"
#include "tests/support/xk_test_graph.h"

#define CONNS 6u
#define COUNT 40u
#define EACH  ((uint64_t)CONNS * COUNT)    /* datagrams in one direction */

/* what the client runs, what the server runs, virtual links between IP and FDDI, fields of the graph */
static const char text_fmt[] =
	"local macs = { ['10.0.0.1'] = '02:00:00:00:00:01', ['10.0.0.2'] = '02:00:00:00:00:02' }\n"
	"local function host(addr, n)\n"
	"  local d = fddi_mem { name = 'd' .. n, wire = 'w', mac = macs[addr], queue = 65536 }\n"
	"  local links = arp { name = 'arp' .. n, neighbours = macs, over = fddi { name = 'link' .. n, over = d } }\n"
	"  if %3$s then links = vnet { name = 'v' .. n, links = { ['10.0.0.0/24'] = 1 }, over = { links } } end\n"
	"  return udp { name = 'udp' .. n, over = ip { name = 'ip' .. n, addr = addr .. '/24', over = links } }\n"
	"end\n"
	"stack { %2$s, host('10.0.0.2', '1') }\n"
	"stack { %1$s, host('10.0.0.1', '0') }\n"
	"return graph 'locking' { threading = %4$s }\n";

static const char asks[] = "checker { to = '10.0.0.2', conns = 6, count = 40, size = 200, resend = '1h' }";
static const char answers[] = "echo { port = 7 }";
static const char sends[] = "load { to = '10.0.0.2', port = 9, conns = 6, count = 40, size = 64 }";
static const char takes[] = "sink { port = 9, count = 240 }";

static struct {
	struct xk_spec  *s;
	struct xk_graph *g;
	struct xk_errs  *e;
	struct xk_run_result r;
} run;

/* Until all datagrams are where they belong, and nobody runs. */
static void begin(const char *client, const char *server, bool vnet, const char *fields)
{
	struct xk_run_opts o = { .stop_fd = -1 };
	char text[2048];

	chk_reset();
	run.e = xk_errs_new();
	snprintf(text, sizeof text, text_fmt, client, server, vnet ? "true" : "false", fields);
	xk_test_build(&run.s, &run.g, "locking.lua", text, &xk_proto_checker);
	CU_ASSERT_EQUAL_FATAL(xk_graph_up(run.g, run.e), XK_OK);
	CU_ASSERT_EQUAL_FATAL(xk_run(run.g, &o, &run.r, run.e), XK_OK);
	CU_ASSERT_EQUAL(run.r.end, XK_RUN_FINISHED);
	xk_vpset_stop(run.g->vps);
}

static void end(void)
{
	xk_run_fini(&run.r);
	CU_ASSERT_EQUAL(xk_graph_free(run.g), 0);
	xk_spec_free(run.s);
	xk_errs_free(run.e);
}

/* ---- counts of a node, over all virtual processors ---------------------------------- */

struct sums { uint64_t push, pop, bound; };

/* Sessions are bound as they are made and unbound as they go: a lock of the map each time. */
static struct sums sums_of(const struct xk_node *n)
{
	struct sums t = { 0 };

	for (unsigned v = 0; v < run.g->vps->nvps; v++) {
		const struct xk_rep *r = n->rep[v];

		t.push += xk_counter_read(r->npush);
		t.pop += xk_counter_read(r->npop);
		t.bound += xk_counter_read(r->nsess_made) + xk_counter_read(r->nsess_gone);
	}
	return t;
}

struct records { uint64_t passed, held; };

static int add_record(struct xk_mapnode *node, void *arg)
{
	const struct upi_object *x = xk_container_of(node, struct upi_object, map);
	struct records *sum = arg;

	sum->passed += x->passed;
	sum->held += x->held;
	return XK_MAP_KEEP;
}

/* Of node `name`: so many messages came up, each took both locks, and nothing else did. */
static void check_layer(const char *name, uint64_t messages)
{
	const struct xk_node *n = xk_graph_find(run.g, name);
	struct records sum = { 0 };
	struct xk_object_locks l;
	struct sums t = sums_of(n);

	xk_objects_read(n, &l);
	CU_ASSERT_EQUAL(l.maps, 1);
	CU_ASSERT_EQUAL(t.pop, messages);
	CU_ASSERT_EQUAL(l.session.taken, messages);
	CU_ASSERT_EQUAL(l.map.taken, messages + t.bound);
	xk_map_foreach(&n->edge->locks->map, add_record, &sum);
	CU_ASSERT_EQUAL(sum.passed, messages);
	CU_ASSERT_EQUAL(sum.held, t.bound);      /* none has gone */
	CU_ASSERT_EQUAL(l.sessions, xk_map_count(&n->edge->locks->map));
}

/* A connection's two are the table's and its own: its layer's are for sessions that are made and go. */
static void check_transport(const char *name, uint64_t messages)
{
	const struct xk_node *n = xk_graph_find(run.g, name);
	struct xk_object_locks l;
	struct sums t = sums_of(n);

	xk_objects_read(n, &l);
	CU_ASSERT_EQUAL(t.pop, messages);
	CU_ASSERT_EQUAL(l.session.taken, 0);
	CU_ASSERT_EQUAL(l.map.taken, t.bound);
}

/* One session: whose thread passes a message moves the layer's map and its session alike, and there is no other. */
static void check_moves(const char *name, bool any)
{
	struct xk_object_locks l;

	xk_objects_read(xk_graph_find(run.g, name), &l);
	CU_ASSERT_EQUAL(l.session_moves, l.map_moves);
	CU_ASSERT_EQUAL(l.session_moves != 0, any);
	CU_ASSERT(l.session_moves < l.session.taken);
	CU_ASSERT_EQUAL(l.map_misses, 1);
}

/* ---- tests ------------------------------------------------------------------------------ */

static const char *const policies[] = { "mutex", "adaptive", "spin", "ticket", "mcs" };

static void two_locks_a_layer_and_message_under_any_number_of_io_threads(void)
{
	for (unsigned io_threads = 1; io_threads <= 8; io_threads++)
		for (unsigned clock = 0; clock < 2; clock++) {
			char fields[160];

			snprintf(fields, sizeof fields, "locking { io_threads = %u, lock = '%s', burst = %u }%s", io_threads,
				 policies[io_threads % XK_ARRAY_LEN(policies)], io_threads % 3 + 1, clock ? ", clock = 'virtual'" : "");
			begin(asks, answers, false, fields);
			for (unsigned i = 0; i < CONNS; i++)
				CU_ASSERT(chk_is_right(&chk_conn[i], COUNT));
			check_layer("link0", EACH);
			check_layer("link1", EACH);
			check_layer("ip0", EACH);
			check_layer("ip1", EACH);
			check_transport("udp0", EACH);
			check_transport("udp1", EACH);
			if (io_threads == 1)
				check_moves("ip1", false);
			end();
		}
}

/* One peer: whichever I/O threads it came through, its session is one. */
static void all_io_threads_share_a_session(void)
{
	const struct xk_node *ip;

	begin(asks, answers, false, "locking { io_threads = 4 }, clock = 'virtual'");
	ip = xk_graph_find(run.g, "ip1");
	CU_ASSERT(sums_of(ip).bound > 1);
	CU_ASSERT_EQUAL(xk_map_count(&ip->edge->locks->map), 1);
	check_layer("ip1", EACH);
	check_moves("ip1", true);
	end();
}

/* Under the simulated clock nothing but messages and announcements takes a lock of a connection. */
static void six_locks_over_udp_ip_and_fddi(void)
{
	struct xk_lock_counts conn = { 0 }, table = { 0 }, c;
	struct xk_object_locks l;
	uint64_t taken = 0;

	begin(asks, answers, false, "locking { io_threads = 3 }, clock = 'virtual'");
	for (unsigned v = 0; v < run.g->vps->nvps; v++) {
		xk_lockstat_read(&run.g->vps->vp[v]->lockstat, &c);
		xk_lock_counts_add(&conn, &c, 1);
		xk_lockstat_read(&run.g->vps->vp[v]->tablestat, &c);
		xk_lock_counts_add(&table, &c, 1);
	}
	CU_ASSERT_EQUAL(table.taken - 2 * CONNS, conn.taken);    /* both ends are announced once */
	for (unsigned i = 0; i < run.g->nnodes; i++) {
		xk_objects_read(run.g->node[i], &l);
		taken += l.session.taken + l.map.taken - (l.maps ? sums_of(run.g->node[i]).bound : 0);
	}
	taken += conn.taken + table.taken - 2 * CONNS;
	CU_ASSERT_EQUAL(taken, 6 * 2 * EACH);
	end();
}

static void a_message_sent_takes_none(void)
{
	static const char *const layer[] = { "link0", "ip0" };

	begin(sends, takes, false, "locking { io_threads = 2 }");
	for (unsigned i = 0; i < 2; i++) {
		CU_ASSERT_EQUAL(sums_of(xk_graph_find(run.g, layer[i])).push, EACH);
		check_layer(layer[i], 0);
	}
	check_layer("link1", EACH);
	check_layer("ip1", EACH);
	end();
}

/* What lies between two layers and has no header takes none, and hides none: the first
 * message over each of its sessions is told of twice. */
static void a_virtual_link_in_between_changes_nothing(void)
{
	static const char *const link[] = { "link0", "link1" }, *const virt[] = { "v0", "v1", "arp0", "arp1" };
	struct xk_object_locks l;

	begin(asks, answers, true, "locking { io_threads = 3 }");
	for (unsigned i = 0; i < 2; i++) {
		struct sums t = sums_of(xk_graph_find(run.g, link[i]));

		xk_objects_read(xk_graph_find(run.g, link[i]), &l);
		CU_ASSERT_EQUAL(t.pop, EACH);
		CU_ASSERT(l.session.taken >= EACH && l.session.taken <= EACH + t.bound);
		CU_ASSERT_EQUAL(l.map.taken, l.session.taken + t.bound);
	}
	for (unsigned i = 0; i < 4; i++) {
		xk_objects_read(xk_graph_find(run.g, virt[i]), &l);
		CU_ASSERT_EQUAL(l.maps + l.map.taken + l.session.taken, 0);
	}
	check_layer("ip0", EACH);
	check_layer("ip1", EACH);
	end();
}

/* Nobody's datagrams are of no connection: a session of them has a map's lock and its own, too. */
static void a_session_in_no_table_takes_its_layers_own(void)
{
	begin(sends, takes, false, "locking { io_threads = 3, datagrams = 'anywhere' }");
	check_layer("udp1", EACH);
	check_layer("ip1", EACH);
	end();
}

static void where_only_connections_are_locked_no_layer_is(void)
{
	struct xk_object_locks l;

	begin(asks, answers, false, "locking { io_threads = 2, object_locks = 'connection' }");
	for (unsigned i = 0; i < run.g->nnodes; i++) {
		xk_objects_read(run.g->node[i], &l);
		CU_ASSERT_EQUAL(l.maps + l.map.taken + l.session.taken, 0);
		CU_ASSERT_PTR_NULL(run.g->node[i]->edge->locks);
	}
	end();
}

/* A record of a key goes with the last session under it.  The sink remembers one peer; nobody holds the sessions
 * of others, which linger, and an hour is longer than that. */
static void a_session_that_goes_leaves_nothing(void)
{
	struct xk_object_locks l;
	const struct xk_node *udp;

	begin(sends, "sink { port = 9, count = 240, sessions = 1 }", false, "locking { io_threads = 2, vps = 1 }, clock = 'virtual'");
	udp = xk_graph_find(run.g, "udp1");
	xk_objects_read(udp, &l);
	CU_ASSERT_EQUAL(l.sessions, CONNS);
	(void)xk_vpset_run_virtual(run.g->vps, xk_clock_read(&run.g->vps->clock) + 3600 * XK_SEC);
	xk_objects_read(udp, &l);
	CU_ASSERT_EQUAL(l.sessions, 1);
	CU_ASSERT_EQUAL(sums_of(udp).bound, 2 * CONNS - 1);
	CU_ASSERT_EQUAL(l.map.taken, 2 * CONNS - 1);
	end();
}

static CU_TestInfo tests[] = {
	{ "two locks a layer and message under any number of I/O threads", two_locks_a_layer_and_message_under_any_number_of_io_threads },
	{ "all I/O threads share a session", all_io_threads_share_a_session },
	{ "six locks over UDP, IP and FDDI", six_locks_over_udp_ip_and_fddi },
	{ "a message sent takes none", a_message_sent_takes_none },
	{ "a virtual link in between changes nothing", a_virtual_link_in_between_changes_nothing },
	{ "a session in no table takes its layer's own", a_session_in_no_table_takes_its_layers_own },
	{ "where only connections are locked no layer is", where_only_connections_are_locked_no_layer_is },
	{ "a session that goes leaves nothing", a_session_that_goes_leaves_nothing },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = { { .pName = "locking", .pTests = tests }, CU_SUITE_INFO_NULL };

int main(void) { return xk_test_main_rcu(suites); }

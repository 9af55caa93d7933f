/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_send_writes.c - what a message that is sent writes to (Salehi and others 1995, section 6): messages,
 * their pools, its own virtual processor's counters, and nothing else.
 *
 * Under each threading architecture, UDP over IP, VNET, ARP and FDDI sends while a trap lies on all that its
 * layers keep: nodes with their configuration, state and edges, sessions, replicas with their protocol's state.
 * The counters of a replica are its virtual processor's; another's store to them counts.  A layer that writes
 * on purpose shows that the trap sees.
 */
#include <stdio.h>
#include <string.h>

#include "runtime/upi/upi_hook.h"
#include "runtime/upi/upi_priv.h"
#include "tests/support/mem_trap.h"
#include "tests/support/xk_test_graph.h"

#define LAYERS 6u

/* ---- a layer that writes, between IP and VNET ----------------------------------------- */

enum plant { NOTHING, NODE_STATE, SESSION, SAME_VALUE, OTHERS_COUNTER, OWN_COUNTER, REPLICA_STATE, NODE, PLANTS };
static enum plant plant;

struct writer_sess { struct xk_sess s; volatile uint32_t n; };

static void writer_push(struct xk_sess *s, struct xk_msg *m)
{
	struct writer_sess *w = (struct writer_sess *)s;
	struct xk_node *n = s->rep->node;
	unsigned other = (s->rep->no + 1) % n->graph->vps->nvps;

	if (plant == NODE_STATE)
		++*(volatile uint32_t *)n->state;
	else if (plant == SESSION)
		w->n++;
	else if (plant == SAME_VALUE)
		w->n = 0;
	else if (plant == OTHERS_COUNTER)
		xk_count(n->rep[other]->count[0]);
	else if (plant == OWN_COUNTER)
		xk_count(s->rep->count[0]);
	else if (plant == REPLICA_STATE)
		++*(volatile uint32_t *)s->rep->state;
	else if (plant == NODE)
		++*(volatile int *)&n->line;
	xk_push(s->down, m);
}

static struct xk_sess *writer_open(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type, struct xk_parts *ps, int *err)
{
	struct xk_sess *down = xk_open(r, type, r->down[0], ps, err), *s;

	if (down == NULL)
		return NULL;
	s = xk_sess_create(r, &rcv->up, type, down);
	if (s == NULL) {
		*err = XK_E_NOMEM;
		xk_close(down);
	} else {
		xk_sess_set_push(s, writer_push);
	}
	return s;
}

static void writer_close(struct xk_sess *s)
{
	xk_close(s->down);
	xk_sess_destroy(s);
}

static int writer_enable(struct xk_node *n, struct xk_node *rcv, struct xk_node *type, struct xk_parts *ps)
{
	return xk_open_enable(rcv, type, n->down[0], ps);
}

static int writer_disable(struct xk_node *n, struct xk_node *rcv, struct xk_node *type, struct xk_parts *ps)
{
	return xk_open_disable(rcv, type, n->down[0], ps);
}

static void writer_disable_all(struct xk_node *n, struct xk_node *rcv)
{
	xk_open_disable_all(rcv, n->down[0]);
}

static const struct xk_ops writer_ops = {
	.open = writer_open, .open_enable = writer_enable, .open_disable = writer_disable,
	.open_disable_all = writer_disable_all, .close = writer_close,
	.push = writer_push,
};
static const char *const writer_counts[] = { "written", NULL };
static const struct xk_proto writer = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "writer", .doc = "writes while it sends",
	.ops = &writer_ops, .offers = "hostlink", .needs = { "hostlink" }, .min_down = 1, .max_down = 1,
	.node_size = 64, .rep_size = 64, .sess_size = sizeof(struct writer_sess), .counts = writer_counts,
};

/* ---- the graph --------------------------------------------------------------------------------- */

static const char text_fmt[] =
	"local link = arp { neighbours = { ['10.0.0.2'] = '02:00:00:00:00:02' }, over = fddi { over = fddi_mem { over = peer_sink {} } } }\n"
	"local v = vnet { links = { ['10.0.0.0/24'] = 1 }, over = { link } }\n"
	"load { to = '10.0.0.2', port = 9, conns = 8, size = 64, over = udp { over = ip { addr = '10.0.0.1/24', over = %s } } }\n"
	"return graph 'send' { %s }\n";
static const char *const layer[LAYERS] = { "udp", "ip", "vnet", "arp", "fddi", "fddi_mem" };

static struct xk_spec *spec;
static struct xk_graph *g;

/* The first sends resolve, connect and warm; the trap is for those that follow. */
static void up(const char *fields, bool plants)
{
	struct xk_errs *e = xk_errs_new();
	char text[2048];

	snprintf(text, sizeof text, text_fmt, plants ? "writer { over = v }" : "v", fields);
	xk_test_build(&spec, &g, "send.lua", text, &writer);
	CU_ASSERT_EQUAL_FATAL(xk_graph_up(g, e), XK_OK);
	xk_errs_free(e);
	xk_vpset_run_virtual(g->vps, 2 * XK_MS);
}

static void down(void)
{
	CU_ASSERT_EQUAL(xk_graph_free(g), 0);
	xk_spec_free(spec);
}

static uint64_t sent(void)
{
	const struct xk_node *n = xk_graph_find(g, "fddi_mem");
	uint64_t sum = 0;

	for (unsigned v = 0; v < g->vps->nvps; v++)
		sum += xk_counter_read(n->rep[v]->npush);
	return sum;
}

/* ---- what is watched ------------------------------------------------------------------------------ */

/* Owner of what virtual processor `no` counts; the layers of a pipeline have one number, and who pushes counts
 * for the layer that gets it. */
static const void *owner(unsigned no) { return (const char *)g + 1 + no; }
static const void *self(void) { return owner(xk_vp_self->no); }

static void watch_rep(const struct xk_rep *r)
{
	const struct xk_proto *p = r->node->proto;
	const size_t push = offsetof(struct xk_rep, npush), map = offsetof(struct xk_rep, active);
	const size_t made = offsetof(struct xk_rep, nsess_made), end = sizeof *r;
	const char *b = (const char *)r;

	mt_watch(b, push, "a replica", NULL);
	mt_watch(b + push, map - push, "a replica's counters", owner(r->no));
	mt_watch(b + map, made - map, "a replica's map", NULL);
	mt_watch(b + made, end - made, "a replica's counters", owner(r->no));
	if (!p->is_driver)
		mt_watch(r->state, p->rep_size, "a replica's state", NULL);
}

static void watch_node(const struct xk_node *n)
{
	mt_watch(n, sizeof *n, "a node", NULL);
	mt_watch(n->state, n->proto->node_size, "a node's state", NULL);
	mt_watch(n->conf, n->proto->conf_size, "a node's configuration", NULL);
	mt_watch(n->edge, sizeof *n->edge, "a node's edge", NULL);
	for (unsigned v = 0; v < g->vps->nvps; v++)
		watch_rep(n->rep[v]);
}

/* Each once: those that connections share are met more than once. */
static void watch_sess(const struct xk_sess *s)
{
	static const struct xk_sess *seen[1024];
	static unsigned n;

	if (s == NULL) {
		n = 0;
		return;
	}
	for (; s != NULL; s = s->down) {
		bool again = false;

		for (unsigned i = 0; i < n; i++)
			again |= seen[i] == s;
		if (again)
			continue;
		CU_ASSERT_FATAL(n < XK_ARRAY_LEN(seen));
		seen[n++] = s;
		mt_watch(s, s->rep->node->proto->sess_size, s->rep->node->proto->is_driver ? "a device's session" : "a session", NULL);
	}
}

static int watch_chain(struct xk_mapnode *node, void *arg)
{
	++*(unsigned *)arg;
	watch_sess(xk_container_of(node, struct xk_sess, map));
	return XK_MAP_KEEP;
}

static void watch_all(bool plants)
{
	const struct xk_node *udp = xk_graph_find(g, "udp");
	unsigned conns = 0;

	mt_watch(g, offsetof(struct xk_graph, structure), "the graph", NULL);
	for (unsigned i = 0; i < LAYERS; i++)
		watch_node(xk_graph_find(g, layer[i]));
	if (plants)
		watch_node(xk_graph_find(g, "writer"));
	watch_sess(NULL);
	for (unsigned v = 0; v < g->vps->nvps; v++)
		xk_map_foreach(&udp->rep[v]->active, watch_chain, &conns);
	CU_ASSERT_EQUAL(conns, 8);
}

/* How many stores messages made that they should not have; some were sent, and their own counters seen. */
static unsigned stores(const char *fields, bool plants, char first[MT_TEXT])
{
	uint64_t before;
	unsigned n;

	up(fields, plants);
	watch_all(plants);
	before = sent();
	mt_begin(self);
	xk_vpset_run_virtual(g->vps, xk_clock_read(&g->vps->clock) + 20 * XK_US);
	n = mt_end(first);
	CU_ASSERT_TRUE(sent() >= before + 16);
	CU_ASSERT_TRUE(!mt_steps() || mt_traps() >= 16 * LAYERS);
	mt_forget();
	down();
	return n;
}

static void a_message_sent_writes_nothing_that_others_have(void)
{
	const char *const *p = xk_test_presets(8, XK_TEST_VIRTUAL);

	for (; *p != NULL; p++) {
		char first[MT_TEXT];
		unsigned n = stores(*p, false, first);

		if (n != 0)
			printf("# %s: %u stores, the first: %s\n", *p, n, first);
		CU_ASSERT_EQUAL(n, 0);
	}
}

static void each_planted_store_is_seen(void)
{
	static const struct { const char *what; bool seen, step; } want[PLANTS] = {
		[NOTHING] = { "", false, false }, [NODE_STATE] = { "a node's state, byte 0, is stored to", true, false },
		[SESSION] = { "a session, byte ", true, false }, [SAME_VALUE] = { "a session, byte ", true, true },
		[OTHERS_COUNTER] = { "a replica's counters, byte ", true, true }, [OWN_COUNTER] = { "", false, false },
		[REPLICA_STATE] = { "a replica's state, byte 0, is stored to", true, false },
		[NODE] = { "a node, byte ", true, false },
	};

	for (plant = NOTHING; plant < PLANTS; plant++) {
		char first[MT_TEXT];
		unsigned n = stores("threading = vppc { vps = 4 }, clock = 'virtual'", true, first);
		bool seen = want[plant].seen && (mt_steps() || !want[plant].step);

		CU_ASSERT_EQUAL(n != 0, seen);
		if (mt_steps())
			CU_ASSERT_EQUAL(strncmp(first, want[plant].what, strlen(want[plant].what)), 0);
		if ((n != 0) != seen)
			printf("# plant %d: %u stores, the first: %s\n", plant, n, first);
	}
	plant = NOTHING;
}

static CU_TestInfo tests[] = {
	{ "each planted store is seen", each_planted_store_is_seen },
	{ "a message sent writes nothing that others have", a_message_sent_writes_nothing_that_others_have },
	CU_TEST_INFO_NULL
};

static const CU_SuiteInfo suites[] = {
	{ "send writes", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main_rcu(suites);
}

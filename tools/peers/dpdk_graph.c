/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dpdk_graph.c - what a hop of DPDK's rte_graph costs: a source, N nodes that
 * touch each object's header and pass it on, a sink.
 *
 * The time of a hop is the slope between a short and a long chain, so that
 * source and sink drop out.  Usage: dpdk-graph VECTOR MILLISECONDS [SHORT LONG]
 */
#include "peer.h"

/* Without the two time stamps of each visit of a node, which the package's own programs have. */
#undef RTE_LIBRTE_GRAPH_STATS
#include <rte_eal.h>
#include <rte_graph.h>
#include <rte_graph_worker.h>

#define SHORT   2u
#define LONG    10u
#define LONGEST 256u

static unsigned vector;
static unsigned long long delivered;
static struct object { unsigned char header[64]; } pool[256];

static uint16_t source(struct rte_graph *g, struct rte_node *n, void **objs, uint16_t nb)
{
	(void)objs;
	(void)nb;
	for (unsigned i = 0; i < vector; i++)
		rte_node_enqueue_x1(g, n, 0, &pool[i]);
	return (uint16_t)vector;
}

/* Looks at the header and chooses the next node, as a protocol does. */
static uint16_t touch(struct rte_graph *g, struct rte_node *n, void **objs, uint16_t nb)
{
	for (uint16_t i = 0; i < nb; i++) {
		struct object *o = objs[i];

		o->header[0]++;
		rte_node_enqueue_x1(g, n, o->header[1], o);
	}
	return nb;
}

static uint16_t sink(struct rte_graph *g, struct rte_node *n, void **objs, uint16_t nb)
{
	(void)g;
	(void)n;
	(void)objs;
	delivered += nb;
	return nb;
}

static struct rte_node_register sink_node = { .process = sink, .name = "xk_sink" };
static struct rte_node_register touch_node = {
	.process = touch, .name = "xk_touch", .nb_edges = 1, .next_nodes = { "xk_sink" } };
static struct rte_node_register source_node = {
	.process = source, .name = "xk_source", .flags = RTE_NODE_SOURCE_F, .nb_edges = 1,
	.next_nodes = { "xk_sink" } };
RTE_NODE_REGISTER(sink_node);
RTE_NODE_REGISTER(touch_node);
RTE_NODE_REGISTER(source_node);

/* source -> touch-0 -> ... -> touch-(n-1) -> sink, as clones named after tag. */
static struct rte_graph *chain(const char *tag, unsigned n)
{
	static char names[2 * LONGEST + 4][64];
	static unsigned used;
	const char *patterns[LONGEST + 2], *next = "xk_sink";
	struct rte_graph_param p = { .socket_id = SOCKET_ID_ANY };
	unsigned k = 0;
	char clone[32];
	rte_node_t id;

	patterns[k++] = "xk_sink";
	for (unsigned i = n; i-- > 0;) {
		snprintf(clone, sizeof clone, "%s%u", tag, i);
		id = rte_node_clone(rte_node_from_name("xk_touch"), clone);
		rte_node_edge_update(id, 0, &next, 1);
		snprintf(names[used], sizeof names[0], "xk_touch-%s", clone);
		patterns[k++] = next = names[used++];
	}
	snprintf(clone, sizeof clone, "%s", tag);
	id = rte_node_clone(rte_node_from_name("xk_source"), clone);
	rte_node_edge_update(id, 0, &next, 1);
	snprintf(names[used], sizeof names[0], "xk_source-%s", clone);
	patterns[k++] = names[used++];
	p.nb_node_patterns = (uint16_t)k;
	p.node_patterns = patterns;
	if (rte_graph_create(tag, &p) == RTE_GRAPH_ID_INVALID) {
		fprintf(stderr, "dpdk-graph: cannot create the graph\n");
		exit(1);
	}
	return rte_graph_lookup(tag);
}

static double run(struct rte_graph *g, double ms)
{
	double t0 = peer_now(), t;
	unsigned long long base = delivered;

	do {
		for (unsigned i = 0; i < 256; i++)
			rte_graph_walk(g);
		t = peer_now() - t0;
	} while (t < ms * 1e6);
	return t / (double)(delivered - base);
}

int main(int argc, char **argv)
{
	static char *eal[] = { "dpdk-graph", "--no-huge", "--no-pci", "-m", "64", "--no-telemetry",
			       "--no-shconf", "--log-level=error", "-l", "0", NULL };
	struct rte_graph *few, *many;
	double ms = argc > 2 ? atof(argv[2]) : 200, a, b;
	unsigned from = argc > 4 ? (unsigned)atoi(argv[3]) : SHORT, to = argc > 4 ? (unsigned)atoi(argv[4]) : LONG;
	char name[32];

	vector = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
	if (from >= to || to > LONGEST)
		return 2;
	if (vector == 0 || vector > 256 || rte_eal_init((int)(sizeof eal / sizeof eal[0]) - 1, eal) < 0) {
		fprintf(stderr, "dpdk-graph: cannot start DPDK\n");
		return 1;
	}
	few = chain("few", from);
	many = chain("many", to);
	run(few, ms / 8);
	run(many, ms / 8);
	a = run(few, ms / 2);
	b = run(many, ms / 2);
	snprintf(name, sizeof name, "hop-%u-%u", to, vector);
	peer_report("rte_graph", name, (b - a) / (to - from));
	return 0;
}

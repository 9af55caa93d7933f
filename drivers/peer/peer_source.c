/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peer_source.c - the infinite source: sends the stack UDP datagrams of N connections as fast
 * as they are taken.
 *
 * The headers of each connection's frame are built once, one cache line per connection, and
 * peer_gen.c makes frames of them.  The UDP checksum in a template is a dummy: the receiver
 * computes it and ignores the verdict (XK_MSG_CSUM_IGNORE).
 * Invariant: a connection is of the replica on whose VP the graph's map, or the flow hash, has it.
 */
#include "drivers/peer/peer_gen.h"

#include <stdio.h>
#include <string.h>

#include "runtime/base/xk_bytes.h"
#include "runtime/base/xk_stamp.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_review.h"

#define IP_HEADER   20u
#define UDP_HEADER  8u
#define PROTO_UDP   17
#define DUMMY_CSUM  0xbad1u      /* never 0: that would mean "none" */
#define PORTS_PER_HOST 16384u    /* connections from one remote address */

/* ---- templates ---------------------------------------------------------------- */

static struct xk_flowkey conn_key(const struct peer_gen_conf *c, uint64_t i)
{
	struct xk_flowkey k = { .proto = PROTO_UDP };

	k.raddr = htobe32(c->from + (uint32_t)(i / PORTS_PER_HOST));
	k.laddr = htobe32(c->to);
	k.rport = htobe16((uint16_t)(c->from_port + i % PORTS_PER_HOST));
	k.lport = htobe16((uint16_t)(c->port + i % c->ports));
	return k;
}

/* The payload is zeros when the checksum must be good: see gen_one. */
static uint16_t udp_checksum(const struct peer_gen_conf *c, const uint8_t *ip, const uint8_t *udp)
{
	uint8_t pseudo[4] = { 0, PROTO_UDP, udp[4], udp[5] };
	uint32_t sum;
	uint16_t v;

	if (c->checksum == PEER_CSUM_NONE)
		return 0;
	if (c->checksum == PEER_CSUM_IGNORE)
		return DUMMY_CSUM;
	sum = xk_csum(ip + 12, 8, xk_csum(pseudo, 4, 0));
	v = (uint16_t)~xk_csum_fold(xk_csum(udp, UDP_HEADER, sum));
	return v ? v : 0xffff;
}

/* Slot j of the replica becomes connection i of the graph. */
static void conn_build(struct peer_gen *g, uint32_t j, uint64_t i)
{
	struct peer_gen_conn *k = &g->conn[j];
	const struct peer_gen_conf *c = peer_gen_conf(g);
	struct xk_flowkey key = conn_key(c, i);
	uint32_t n = peer_link_header(mem_state(g->mr->rep), c->mac, k->hdr);
	uint8_t *ip = k->hdr + n, *udp = ip + IP_HEADER;

	peer_ip_header(ip, &key, IP_HEADER + UDP_HEADER + (uint32_t)c->size);
	xk_put_raw16(udp, key.rport);
	xk_put_raw16(udp + 2, key.lport);
	xk_put_be16(udp + 4, (uint16_t)(UDP_HEADER + c->size));
	xk_put_raw16(udp + 6, udp_checksum(c, ip, udp));
	/* In the line that is copied: the longest headers leave 15 bytes of it. */
	(void)peer_lead(c->lead, udp + UDP_HEADER);
	g->no[j] = i;
	g->left[j] = c->count == 0 ? UINT64_MAX : c->count / c->conns + (i < c->count % c->conns);
	g->live += g->left[j] != 0;
}

/* ---- life ---------------------------------------------------------------------------- */

static bool conn_is_here(const struct peer_gen *g, uint64_t i)
{
	const struct peer_gen_conf *c = peer_gen_conf(g);
	const struct xk_rep *r = g->mr->rep;

	if (c->place == PEER_PLACE_HASH) {
		struct xk_flowkey k = conn_key(c, i);

		return mem_is_here(r, r->vp->set->vp[xk_flow_home(r->node->graph->flows, &k)]);
	}
	return mem_is_here(r, xk_graph_vp_of(r->node->graph, i));
}

static int gen_fill(struct peer_gen *g)
{
	const struct peer_gen_conf *c = peer_gen_conf(g);
	uint32_t n = 0;

	for (uint64_t i = 0; i < c->conns; i++)
		n += conn_is_here(g, i);
	if (n == 0)
		return XK_OK;
	g->block = xk_alloc((n + 1) * sizeof *g->conn);
	g->made = xk_alloc(n * 4 * sizeof *g->made);
	if (g->block == NULL || g->made == NULL)
		return XK_E_NOMEM;
	g->conn = (void *)(((uintptr_t)g->block + XK_CACHELINE - 1) & ~(uintptr_t)(XK_CACHELINE - 1));
	g->bytes = g->made + n;
	g->left = g->bytes + n;
	g->no = g->left + n;
	for (uint64_t i = 0; i < c->conns; i++)
		if (conn_is_here(g, i))
			conn_build(g, g->nconn++, i);
	peer_gen_strides(g, c->mix);
	return XK_OK;
}

static int gen_start(struct peer_gen *g)
{
	const struct peer_gen_conf *c = peer_gen_conf(g);
	const struct mem_state *wire = mem_state(g->mr->rep);
	int err;

	g->hdr_len = wire->link->header + IP_HEADER + UDP_HEADER;
	g->frame = g->hdr_len + (uint32_t)c->size;
	g->flags = c->checksum == PEER_CSUM_GOOD ? 0 : XK_MSG_CSUM_IGNORE;
	err = gen_fill(g);
	if (err == XK_OK && c->rxbuf == PEER_COLD && g->nconn != 0)
		err = peer_cold_fill(&g->cold, c->rxcold, g->frame);
	if (err != XK_OK)
		return err;
	if (c->rate != 0 && g->nconn != 0) {
		g->rate = c->rate * g->nconn / c->conns;
		g->rate += g->rate == 0;
	}
	g->start = xk_vp_now();
	if (c->arrivals.model != XK_TRAFFIC_NONE) {
		g->mr->stamp_at = g->hdr_len;
		err = peer_due_start(g);
	}
	if (err == XK_OK && g->live != 0)
		xk_task_ready(&g->mr->task);
	return err;
}

static int source_init(struct xk_node *n, struct xk_errs *e)
{
	const struct peer_gen_conf *c = n->conf;

	if (c->rxbuf == PEER_COLD && c->rxcold == 0)
		peer_cold_warn(n);
	return xk_trace_load(&((struct peer_gen_node *)n->state)->trace, &c->arrivals, c->conns, n, e);
}

static void source_fini(struct xk_node *n)
{
	xk_trace_free(&((struct peer_gen_node *)n->state)->trace);
}

static int source_rep_init(struct xk_rep *r)
{
	peer_gen_init(r);
	return XK_OK;
}

static int source_rep_start(struct xk_rep *r, struct xk_errs *e)
{
	struct peer_gen *g = r->state;
	int err;

	if (g->mr == NULL)
		return XK_OK;
	if (peer_gen_conf(g)->arrivals.model != XK_TRAFFIC_NONE)
		g->mr->task.run = mem_state(g->mr->rep)->reader != NULL ? peer_due_run_carried : peer_due_run;
	else
		g->mr->task.run = mem_state(g->mr->rep)->reader != NULL ? peer_gen_run_carried : peer_gen_run;
	xk_task_no_input(&g->mr->task);
	err = gen_start(g);
	if (err != XK_OK)
		peer_no_memory(r, e, peer_gen_conf(g)->conns);
	return err;
}

static void source_rep_stop(struct xk_rep *r)
{
	struct peer_gen *g = r->state;

	xk_timer_cancel(r->wheel, &g->timer);
	peer_due_stop(g);
	peer_cold_empty(&g->cold);
}

static void source_rep_fini(struct xk_rep *r)
{
	struct peer_gen *g = r->state;

	xk_free(g->block);
	xk_free(g->made);
	xk_traffic_close(&g->times);
}

static const struct mem_peer source_peer = { .push = peer_sink_push };

static int source_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	const struct peer_gen *g = r->state;
	struct xk_app_counts c = { g->nconn, g->made, g->bytes, g->no, NULL, NULL };

	if (op == XK_CTL_MEM_PEER)
		return peer_tell(&source_peer, buf, len);
	return op == XK_CTL_PEER_COUNTS ? xk_answer(buf, len, &c, sizeof c) : XK_E_NOTSUP;
}

static const struct xk_ops source_ops = {
	.init = source_init, .fini = source_fini, .rep_init = source_rep_init, .rep_fini = source_rep_fini,
	.rep_start = source_rep_start, .rep_stop = source_rep_stop, .control = source_control,
};

/* ---- before there is a graph --------------------------------------------------------------- */

/* Frames that come at times of their own say when they were due, at the beginning of the payload. */
static bool arrivals_fault(const struct peer_gen_conf *c, char *why, size_t n)
{
	const char *text = NULL;

	if (xk_traffic_fault(&c->arrivals, why, n))
		return true;
	if (c->arrivals.model == XK_TRAFFIC_NONE)
		return false;
	if (c->rate != 0)
		text = "rate paces all connections together; with arrivals write arrivals = { ..., rate = ... }, of each connection";
	else if (c->mix)
		text = "mix means nothing with arrivals: frames come in the order of their times";
	else if (c->size < XK_STAMP_SIZE)
		text = "arrivals write times into the payload: size must be at least 24";
	else if (c->lead != NULL)
		text = "arrivals write times where lead begins: leave one of the two out";
	else if (c->checksum == PEER_CSUM_GOOD)
		text = "a good checksum is made for zeros: arrivals need checksum = \"compute-ignore\" or \"none\"";
	if (text != NULL)
		snprintf(why, n, "%s", text);
	return text != NULL;
}

static int source_check(const void *conf, char *why, size_t n)
{
	const struct peer_gen_conf *c = conf;

	if (arrivals_fault(c, why, n))
		return XK_E_INVAL;
	if (c->ring != 0 && c->rate == 0)
		snprintf(why, n, "ring is for frames that come at a rate of their own: it needs 'rate'");
	else if (c->from_port + (c->conns < PORTS_PER_HOST ? c->conns : PORTS_PER_HOST) > 65536)
		snprintf(why, n, "from_port %u leaves too few ports for %llu connections (16384 for each address)",
			 c->from_port, (unsigned long long)c->conns);
	else if (!peer_lead_fault(c->lead, c->size, c->checksum, why, n) &&
		 !peer_ports_fault(c->port, c->ports, why, n))
		return XK_OK;
	return XK_E_INVAL;
}

static void source_review(const struct xk_view *v, struct xk_review *r)
{
	const struct peer_gen_conf *c = v->conf;

	xk_trace_review(&c->arrivals, c->conns, v, r);
}

static int source_ask(const struct xk_view *v, unsigned op, void *buf, unsigned len)
{
	const struct peer_gen_conf *c = v->conf;

	(void)len;
	return op == MEM_ASK_FITS ? peer_fits(buf, c->size, IP_HEADER + UDP_HEADER) : XK_E_NOTSUP;
}

/* ---- parameters ------------------------------------------------------------------------------ */

#define P(field, t, d, text, ...) \
	{ .name = #field, .type = t, .def = d, .doc = text, \
	  .offset = offsetof(struct peer_gen_conf, field), ##__VA_ARGS__ }

static const struct xk_param source_params[] = {
	PEER_SOURCE_PARAMS(P),
	P(size, XK_P_SIZE, "64", "payload bytes of each datagram", .min = "0", .max = "65507"),
	P(from, XK_P_IPV4, "10.0.0.2",
	  "address that the first 16384 connections come from; the next 16384 come from the next"),
	P(mix, XK_P_BOOL, "false",
	  "each frame of a unit is the next connection's, in an order that looks like chance"),
	P(rate, XK_P_UINT, "0",
	  "frames per second of all connections together; 0: as fast as they are taken",
	  .max = "1000000000"),
	P(ring, XK_P_UINT, "0",
	  "with rate: frames that wait to be taken at most, by virtual processor; what comes then is "
	  "missed; 0: none is, they are late", .max = "1048576"),
	P(checksum, XK_P_ENUM, "compute-ignore",
	  "a dummy that receivers compute and ignore, none, or a good one", .choices = peer_csums),
	XK_TRAFFIC_PARAMS(peer_gen_conf),
	XK_PARAM_END
};

static const char *const source_drops[] = { "missed", NULL };
static const char *const source_counts[] = { "sunk", "sunk_bytes", "made", NULL };

const struct xk_proto xk_proto_peer_source = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "peer_source",
	.doc = "at the far end of a wire in memory: "
	       "sends datagrams of many connections as fast as they are taken",
	.is_driver = true, .ops = &source_ops, .offers = "peer", .params = source_params,
	.conf_size = sizeof(struct peer_gen_conf), .node_size = sizeof(struct peer_gen_node),
	.rep_size = sizeof(struct peer_gen),
	.check = source_check, .review = source_review, .ask = source_ask, .drops = source_drops, .counts = source_counts,
};

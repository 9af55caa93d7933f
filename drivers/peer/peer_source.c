/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peer_source.c - the infinite source: sends the stack UDP datagrams of N connections as fast
 * as they are taken.
 *
 * The headers of each connection's frame are built once, one cache line per
 * connection; making a frame is copying that line before a payload that the
 * receive buffer already holds.  The UDP checksum in the template is a dummy:
 * the receiver computes it and ignores the verdict (XK_MSG_CSUM_IGNORE).
 * Each replica serves the connections mapped to its VP in turn, one unit each;
 * mixed, one frame each, in strides that visit every connection before one twice
 * and look like chance to the caches.
 * Invariant: frames made for two connections of one VP differ by at most one
 * unit, mixed by at most one, while both have frames left.
 */
#include "drivers/peer/peer_priv.h"

#include <stdio.h>
#include <string.h>

#include "runtime/base/xk_bytes.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_input.h"
#include "runtime/upi/xk_review.h"

#define IP_HEADER   20u
#define UDP_HEADER  8u
#define PROTO_UDP   17
#define DUMMY_CSUM  0xbad1u      /* never 0: that would mean "none" */
#define PORTS_PER_HOST 16384u    /* connections from one remote address */
#define AHEAD       16u          /* mixed: frames that a template is fetched before it is used */

struct source_conf {
	uint64_t conns, size, burst, count, rate, ring, rxcold, ports;
	uint32_t from, to;
	uint16_t from_port, port;
	uint8_t  mac[6];
	unsigned checksum, rxbuf, place;
	char    *lead;
	bool     mix;
};

struct peer_conn { uint8_t hdr[XK_CACHELINE]; } XK_ALIGNED;

/* Replica state. */
struct peer_gen {
	struct mem_rep *mr;               /* the wire */
	struct xk_rep *rep;
	struct peer_conn *conn;            /* [nconn], the templates */
	xk_counter *made, *bytes;         /* [nconn], for XK_CTL_PEER_COUNTS */
	uint64_t   *left, *no;            /* [nconn]: frames to make; number in the graph */
	uint32_t  nconn, live;            /* live: connections with frames left */
	uint32_t  stride, ahead;          /* to the next connection; to the AHEADth */
	uint32_t  turn;                   /* whose unit it is ... */
	uint32_t  unit_left;              /* ... and what is left of it */
	uint32_t  frame;                  /* bytes of each */
	uint32_t  hdr_len;
	uint8_t   flags;
	struct peer_cold cold;
	/* open loop */
	uint64_t  rate;                   /* frames per second of this replica, 0: no limit */
	xk_ns     start;
	uint64_t  produced;
	struct xk_timer timer;
	void     *block;                  /* what conn was cut from */
};

static const struct source_conf *conf_of(const struct xk_rep *r) { return r->conf; }

/* ---- templates ---------------------------------------------------------------- */

static struct xk_flowkey conn_key(const struct source_conf *c, uint64_t i)
{
	struct xk_flowkey k = { .proto = PROTO_UDP };

	k.raddr = htobe32(c->from + (uint32_t)(i / PORTS_PER_HOST));
	k.laddr = htobe32(c->to);
	k.rport = htobe16((uint16_t)(c->from_port + i % PORTS_PER_HOST));
	k.lport = htobe16((uint16_t)(c->port + i % c->ports));
	return k;
}

/* The payload is zeros when the checksum must be good: see gen_one. */
static uint16_t udp_checksum(const struct source_conf *c, const uint8_t *ip, const uint8_t *udp)
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
	struct peer_conn *k = &g->conn[j];
	const struct source_conf *c = conf_of(g->rep);
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

/* ---- making frames --------------------------------------------------------------- */

static inline struct xk_msg *gen_one(struct peer_gen *g, const struct peer_conn *k)
{
	struct xk_msg *m = xk_msg_new(g->frame);

	if (XK_UNLIKELY(m == NULL))
		return NULL;
	if (g->cold.n != 0)
		m = peer_cold_swap(&g->cold, m);
	/* A whole line: its tail lies in the payload, which is ours. */
	memcpy(m->data, k->hdr, XK_CACHELINE);
	if (XK_UNLIKELY(g->flags == 0))          /* the checksum was made for zeros */
		memset(m->data + g->hdr_len, 0, m->len - g->hdr_len);
	m->flags = g->flags;
	return m;
}

static inline void gen_made(struct peer_gen *g, uint32_t j, unsigned n)
{
	g->left[j] -= n;
	g->live -= g->left[j] == 0;
	xk_count_add(g->made[j], n);
	xk_count_add(g->bytes[j], (uint64_t)n * (g->frame - g->hdr_len));
}

static unsigned gen_burst(struct peer_gen *g, uint32_t j, unsigned n)
{
	struct xk_msg *burst[MEM_BURST];
	unsigned i;

	for (i = 0; i < n; i++) {
		burst[i] = gen_one(g, &g->conn[j]);
		if (XK_UNLIKELY(burst[i] == NULL)) {
			xk_count(g->rep->drop[XK_DROP_NOMEM]);
			break;
		}
	}
	gen_made(g, j, i);
	xk_count_add(g->rep->count[PEER_N_MADE], i);
	if (i != 0)
		xk_input(g->mr->rep, burst, i);
	return i;
}

/* Of `n` frames that came since, those that the ring had room for: a card loses the others without asking. */
static uint64_t gen_waiting(struct peer_gen *g, uint64_t n)
{
	uint64_t ring = conf_of(g->rep)->ring;

	if (ring == 0 || n <= ring)
		return n;
	xk_count_add(g->rep->drop[PEER_DROP_MISSED], n - ring);
	g->produced += n - ring;
	return ring;
}

/* Frames that the open loop allows by now; 0 after arming the timer. */
static uint64_t gen_due(struct peer_gen *g)
{
	xk_ns now = xk_vp_now(), t = now - g->start;
	uint64_t due = t / XK_SEC * g->rate + t % XK_SEC * g->rate / XK_SEC;

	if (due > g->produced)
		return gen_waiting(g, due - g->produced);
	xk_timer_set(g->rep->wheel, &g->timer, now + XK_SEC / g->rate);
	xk_task_park(&g->mr->task);
	return 0;
}

static void gen_timer(struct xk_timer *t)
{
	struct peer_gen *g = xk_container_of(t, struct peer_gen, timer);

	xk_task_ready(&g->mr->task);
}

static inline uint32_t gen_step(const struct peer_gen *g, uint32_t j, uint32_t stride)
{
	j += stride;
	return j >= g->nconn ? j - g->nconn : j;
}

/* The turn goes on to the next connection with frames left; there is one. */
static inline void gen_turn(struct peer_gen *g)
{
	do
		g->turn = gen_step(g, g->turn, g->stride);
	while (g->left[g->turn] == 0);
}

/* Its unit begins. */
static void gen_next(struct peer_gen *g, uint32_t unit)
{
	gen_turn(g);
	g->unit_left = g->left[g->turn] < unit ? (uint32_t)g->left[g->turn] : unit;
}

/* What the driver keeps of a connection is not what is measured. */
static inline void gen_fetch(const struct peer_gen *g, uint32_t j)
{
	__builtin_prefetch(&g->conn[j]);
	__builtin_prefetch(&g->left[j], 1);
	__builtin_prefetch(&g->made[j], 1);
	__builtin_prefetch(&g->bytes[j], 1);
}

/* A burst of frames of as many connections. */
static unsigned gen_mixed(struct peer_gen *g, unsigned n)
{
	struct xk_msg *burst[MEM_BURST];
	unsigned i;

	for (i = 0; i < n && g->live != 0; i++) {
		uint32_t before = g->turn;

		gen_turn(g);
		gen_fetch(g, gen_step(g, g->turn, g->ahead));
		burst[i] = gen_one(g, &g->conn[g->turn]);
		if (XK_UNLIKELY(burst[i] == NULL)) {
			xk_count(g->rep->drop[XK_DROP_NOMEM]);
			g->turn = before;
			break;
		}
		gen_made(g, g->turn, 1);
	}
	xk_count_add(g->rep->count[PEER_N_MADE], i);
	if (i != 0)
		xk_input(g->mr->rep, burst, i);
	return i;
}

/* One unit of frames of different connections; apart, so that the usual way stays
 * as it is. */
static __attribute__((noinline)) unsigned gen_mixed_unit(struct peer_gen *g, uint64_t unit)
{
	unsigned done = 0;

	while (done < unit && g->live != 0) {
		unsigned want = unit - done < MEM_BURST ? (unsigned)unit - done : MEM_BURST;
		unsigned got = gen_mixed(g, want);

		done += got;
		if (got < want)
			break;
	}
	return done;
}

static unsigned gen_unit(struct peer_gen *g, uint64_t unit)
{
	unsigned done = 0;

	while (done < unit) {
		unsigned want = unit - done < MEM_BURST ? (unsigned)unit - done : MEM_BURST;
		unsigned got = gen_burst(g, g->turn, want);

		done += got;
		if (got < want)
			break;
	}
	g->unit_left -= done;
	return done;
}

/*
 * One unit: a burst of one connection.  One that the rate, or memory, cuts short
 * goes on with the same connection, or counts would drift apart.
 */
static unsigned gen_run(struct xk_task *t, unsigned budget)
{
	struct mem_rep *mr = xk_container_of(t, struct mem_rep, task);
	const struct source_conf *c = conf_of(mr->far);
	struct peer_gen *g = mr->far->state;
	uint64_t due = UINT64_MAX, unit = c->burst != 0 ? c->burst : budget;
	unsigned done;

	if (g->rate != 0 && (due = gen_due(g)) == 0)
		return 0;
	if (c->mix) {
		done = gen_mixed_unit(g, unit < due ? unit : due);
	} else {
		if (g->unit_left == 0)
			gen_next(g, (uint32_t)unit);
		done = gen_unit(g, g->unit_left < due ? g->unit_left : due);
	}
	g->produced += done;
	if (g->live == 0)
		xk_task_park(t);
	else if (g->rate != 0)
		gen_due(g);                      /* asleep at once, not a turn later */
	return done;
}

/* As fast as messages are taken from the queue that I/O threads share, no faster. */
static unsigned gen_run_carried(struct xk_task *t, unsigned budget)
{
	return mem_backlogged(xk_container_of(t, struct mem_rep, task)) ? 0 : gen_run(t, budget);
}

/* ---- life ---------------------------------------------------------------------------- */

static bool conn_is_here(const struct peer_gen *g, uint64_t i)
{
	const struct source_conf *c = conf_of(g->rep);
	const struct xk_rep *r = g->mr->rep;

	if (c->place == PEER_PLACE_HASH) {
		struct xk_flowkey k = conn_key(c, i);

		return mem_is_here(r, r->vp->set->vp[xk_flow_home(r->node->graph->flows, &k)]);
	}
	return mem_is_here(r, xk_graph_vp_of(r->node->graph, i));
}

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
	return b == 0 ? a : common_divisor(b, a % b);
}

/* Mixed, the golden ratio of the ring, near a number that shares no divisor with it. */
static void gen_strides(struct peer_gen *g, bool mix)
{
	g->stride = 1;
	if (mix && g->nconn > 2) {
		g->stride = (uint32_t)((uint64_t)g->nconn * 1640531527 >> 32) | 1;
		while (common_divisor(g->nconn, g->stride) != 1)
			g->stride++;
	}
	g->ahead = (uint32_t)((uint64_t)g->stride * AHEAD % g->nconn);
}

static int gen_fill(struct peer_gen *g)
{
	const struct source_conf *c = conf_of(g->rep);
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
	gen_strides(g, c->mix);
	return XK_OK;
}

static int gen_start(struct peer_gen *g)
{
	const struct source_conf *c = conf_of(g->rep);
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
	if (g->live != 0)
		xk_task_ready(&g->mr->task);
	return XK_OK;
}

static int source_init(struct xk_node *n, struct xk_errs *e)
{
	const struct source_conf *c = n->conf;

	(void)e;
	if (c->rxbuf == PEER_COLD && c->rxcold == 0)
		peer_cold_warn(n);
	return XK_OK;
}

static int source_rep_init(struct xk_rep *r)
{
	struct peer_gen *g = r->state;

	g->rep = r;
	xk_timer_init(&g->timer, gen_timer);
	return XK_OK;
}

static int source_rep_start(struct xk_rep *r, struct xk_errs *e)
{
	struct peer_gen *g = r->state;
	int err;

	if (g->mr == NULL)
		return XK_OK;
	g->mr->task.run = mem_state(g->mr->rep)->reader != NULL ? gen_run_carried : gen_run;
	g->mr->task.input = false;
	err = gen_start(g);
	if (err != XK_OK)
		peer_no_memory(r, e, conf_of(r)->conns);
	return err;
}

static void source_rep_stop(struct xk_rep *r)
{
	struct peer_gen *g = r->state;

	xk_timer_cancel(r->wheel, &g->timer);
	peer_cold_empty(&g->cold);
}

static void source_rep_fini(struct xk_rep *r)
{
	struct peer_gen *g = r->state;

	xk_free(g->block);
	xk_free(g->made);
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
	.init = source_init, .rep_init = source_rep_init, .rep_fini = source_rep_fini,
	.rep_start = source_rep_start, .rep_stop = source_rep_stop, .control = source_control,
};

/* ---- before there is a graph --------------------------------------------------------------- */

static int source_check(const void *conf, char *why, size_t n)
{
	const struct source_conf *c = conf;

	if (c->ring != 0 && c->rate == 0)
		snprintf(why, n, "ring is for frames that come at a rate of their own: it needs 'rate'");
	else if (c->from_port + (c->conns < PORTS_PER_HOST ? c->conns : PORTS_PER_HOST) > 65536)
		snprintf(why, n, "from_port %u leaves too few ports for %llu connections (16384 for each address)",
			 c->from_port, (unsigned long long)c->conns);
	else if (peer_lead_fault(c->lead, c->size, why, n))
		;
	else if (peer_lead(c->lead, NULL) != 0 && c->checksum == PEER_CSUM_GOOD)
		snprintf(why, n, "a good checksum is made for zeros: lead needs checksum = \"compute-ignore\" or \"none\"");
	else if (c->port + c->ports > 65536)
		snprintf(why, n, "port %u plus %llu ports passes 65535", c->port, (unsigned long long)c->ports);
	else
		return XK_OK;
	return XK_E_INVAL;
}

static int source_ask(const struct xk_view *v, unsigned op, void *buf, unsigned len)
{
	const struct source_conf *c = v->conf;

	(void)len;
	return op == MEM_ASK_FITS ? peer_fits(buf, c->size, IP_HEADER + UDP_HEADER) : XK_E_NOTSUP;
}

/* ---- parameters ------------------------------------------------------------------------------ */

#define P(field, t, d, text, ...) \
	{ .name = #field, .type = t, .def = d, .doc = text, .offset = offsetof(struct source_conf, field), ##__VA_ARGS__ }

static const struct xk_param source_params[] = {
	P(to, XK_P_IPV4, NULL, "address the datagrams are for", .flags = XK_PF_REQUIRED),
	P(port, XK_P_PORT, "9", "first port they are for"),
	P(ports, XK_P_UINT, "1", "consecutive ports, used in turn", .min = "1", .max = "65535"),
	P(conns, XK_P_UINT, "1", "connections", .min = "1", .max = "1048576"),
	P(size, XK_P_SIZE, "64", "payload bytes of each datagram", .min = "0", .max = "65507"),
	P(from, XK_P_IPV4, "10.0.0.2", "address that the first 16384 connections come from; the next 16384 come from the next"),
	P(from_port, XK_P_PORT, "20000", "first port of such an address"),
	P(mac, XK_P_MAC, NULL, "link address that frames come from"),
	P(burst, XK_P_UINT, "0", "frames of one connection in a unit of work; 0: the graph's burst", .max = "1024"),
	P(mix, XK_P_BOOL, "false", "each frame of a unit is the next connection's, in an order that looks like chance"),
	P(count, XK_P_UINT, "0", "stop after so many frames of all connections together; 0: never"),
	P(rate, XK_P_UINT, "0", "frames per second of all connections together; 0: as fast as they are taken",
	  .max = "1000000000"),
	P(ring, XK_P_UINT, "0", "with rate: frames that wait to be taken at most, by virtual processor; what comes then is "
	  "missed; 0: none is, they are late", .max = "1048576"),
	P(checksum, XK_P_ENUM, "compute-ignore", "a dummy that receivers compute and ignore, none, or a good one",
	  .choices = peer_csums),
	P(place, XK_P_ENUM, "map", "make frames on the virtual processor of the graph's map of connections, or of the flow hash",
	  .choices = peer_places),
	P(lead, XK_P_TEXT, NULL, "what every payload begins with, at most 8 bytes in hexadecimal; unset: whatever the buffer holds"),
	P(rxbuf, XK_P_ENUM, "lifo", "receive buffers last freed first, or cold ones from a circular list", .choices = peer_rxbufs),
	P(rxcold, XK_P_SIZE, "0", "bytes in the circular list of a virtual processor; 0: twice the second-level cache",
	  .max = "1GiB"),
	XK_PARAM_END
};

static const char *const source_drops[] = { "missed", NULL };
static const char *const source_counts[] = { "sunk", "sunk_bytes", "made", NULL };

const struct xk_proto xk_proto_peer_source = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "peer_source",
	.doc = "at the far end of a wire in memory: sends datagrams of many connections as fast as they are taken",
	.is_driver = true, .ops = &source_ops, .offers = "peer", .params = source_params,
	.conf_size = sizeof(struct source_conf), .rep_size = sizeof(struct peer_gen),
	.check = source_check, .ask = source_ask, .drops = source_drops, .counts = source_counts,
};

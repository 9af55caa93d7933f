/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mem_source.c - the infinite source: a driver that receives UDP datagrams for
 * N connections as fast as they are taken.
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
#include "drivers/mem/mem_priv.h"

#include <stdio.h>
#include <string.h>

#include "runtime/base/xk_bytes.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_input.h"

#define IP_HEADER   20u
#define UDP_HEADER  8u
#define PROTO_UDP   17
#define DUMMY_CSUM  0xbad1u      /* never 0: that would mean "none" */
#define PORTS_PER_HOST 16384u    /* connections from one remote address */
#define AHEAD       16u          /* mixed: frames that a template is fetched before it is used */

static const uint8_t source_mac[6] = { 0x02, 0, 0, 0, 0x50, 0x0c };

struct mem_conn { uint8_t hdr[XK_CACHELINE]; } XK_ALIGNED;

struct mem_gen {
	struct mem_conn *conn;            /* [nconn], the templates */
	xk_counter *made, *bytes;         /* [nconn], for XK_CTL_MEM_COUNTS */
	uint64_t   *left, *no;            /* [nconn]: frames to make; number in the graph */
	uint32_t  nconn, live;            /* live: connections with frames left */
	uint32_t  stride, ahead;          /* to the next connection; to the AHEADth */
	uint32_t  turn;                   /* whose unit it is ... */
	uint32_t  unit_left;              /* ... and what is left of it */
	uint32_t  frame;                  /* bytes of each */
	uint32_t  hdr_len;
	uint8_t   flags;
	struct mem_cold cold;
	/* open loop */
	uint64_t  rate;                   /* frames per second of this replica, 0: no limit */
	xk_ns     start;
	uint64_t  produced;
	struct xk_timer timer;
	struct mem_rep *mr;
	void     *block;                  /* what conn was cut from */
};

/* ---- templates ---------------------------------------------------------------- */

uint32_t mem_link_header(const struct mem_state *st, const struct mem_conf *c, uint8_t *h)
{
	const uint8_t *src = c->peer_mac[0] | c->peer_mac[5] ? c->peer_mac : source_mac;
	uint32_t n = 0;

	if (st->link->type == XK_LINK_FDDI)
		h[n++] = 0x50;                   /* asynchronous LLC frame */
	memcpy(h + n, st->mac, 6);
	memcpy(h + n + 6, src, 6);
	n += 12;
	if (st->link->type == XK_LINK_FDDI) {
		static const uint8_t snap[6] = { 0xaa, 0xaa, 0x03, 0, 0, 0 };

		memcpy(h + n, snap, 6);
		n += 6;
	}
	xk_put_be16(h + n, 0x0800);
	return n + 2;
}

static struct xk_flowkey conn_key(const struct mem_conf *c, uint64_t i)
{
	struct xk_flowkey k = { .proto = PROTO_UDP };

	k.raddr = htobe32(c->from + (uint32_t)(i / PORTS_PER_HOST));
	k.laddr = htobe32(c->to);
	k.rport = htobe16((uint16_t)(c->from_port + i % PORTS_PER_HOST));
	k.lport = htobe16((uint16_t)(c->port + i % c->ports));
	return k;
}

void mem_ip_header(uint8_t *p, const struct xk_flowkey *k, uint32_t total)
{
	memset(p, 0, IP_HEADER);
	p[0] = 0x45;
	xk_put_be16(p + 2, (uint16_t)total);
	xk_put_be16(p + 6, 0x4000);              /* do not fragment: identifier unused */
	p[8] = 64;
	p[9] = k->proto;
	xk_put_raw32(p + 12, k->raddr);
	xk_put_raw32(p + 16, k->laddr);
	if (total != 0)
		xk_put_raw16(p + 10, (uint16_t)~xk_csum_fold(xk_csum(p, IP_HEADER, 0)));
}

/* The payload is zeros when the checksum must be good: see gen_one. */
static uint16_t udp_checksum(const struct mem_conf *c, const uint8_t *ip, const uint8_t *udp)
{
	uint8_t pseudo[4] = { 0, PROTO_UDP, udp[4], udp[5] };
	uint32_t sum;
	uint16_t v;

	if (c->checksum == MEM_CSUM_NONE)
		return 0;
	if (c->checksum == MEM_CSUM_IGNORE)
		return DUMMY_CSUM;
	sum = xk_csum(ip + 12, 8, xk_csum(pseudo, 4, 0));
	v = (uint16_t)~xk_csum_fold(xk_csum(udp, UDP_HEADER, sum));
	return v ? v : 0xffff;
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

int mem_lead(const char *text, uint8_t *out)
{
	unsigned n = 0;

	for (; text != NULL && text[2 * n] != '\0'; n++) {
		int hi = hex_digit(text[2 * n]), lo = hi < 0 ? -1 : hex_digit(text[2 * n + 1]);

		if (lo < 0 || n == MEM_LEAD_MAX)
			return -1;
		if (out != NULL)
			out[n] = (uint8_t)(hi << 4 | lo);
	}
	return (int)n;
}

/* Slot j of the replica becomes connection i of the graph. */
static void conn_build(struct mem_gen *g, uint32_t j, uint64_t i)
{
	struct mem_conn *k = &g->conn[j];
	struct xk_rep *r = g->mr->rep;
	const struct mem_conf *c = mem_conf(r);
	struct xk_flowkey key = conn_key(c, i);
	uint32_t n = mem_link_header(mem_state(r), c, k->hdr);
	uint8_t *ip = k->hdr + n, *udp = ip + IP_HEADER;

	mem_ip_header(ip, &key, IP_HEADER + UDP_HEADER + (uint32_t)c->size);
	xk_put_raw16(udp, key.rport);
	xk_put_raw16(udp + 2, key.lport);
	xk_put_be16(udp + 4, (uint16_t)(UDP_HEADER + c->size));
	xk_put_raw16(udp + 6, udp_checksum(c, ip, udp));
	/* In the line that is copied: the longest headers leave 15 bytes of it. */
	(void)mem_lead(c->lead, udp + UDP_HEADER);
	g->no[j] = i;
	g->left[j] = c->count == 0 ? UINT64_MAX : c->count / c->conns + (i < c->count % c->conns);
	g->live += g->left[j] != 0;
}

/* ---- making frames --------------------------------------------------------------- */

static inline struct xk_msg *gen_one(struct mem_gen *g, const struct mem_conn *k)
{
	struct xk_msg *m = xk_msg_new(g->frame);

	if (XK_UNLIKELY(m == NULL))
		return NULL;
	if (g->cold.n != 0)
		m = mem_cold_swap(&g->cold, m);
	/* A whole line: its tail lies in the payload, which is ours. */
	memcpy(m->data, k->hdr, XK_CACHELINE);
	if (XK_UNLIKELY(g->flags == 0))          /* the checksum was made for zeros */
		memset(m->data + g->hdr_len, 0, m->len - g->hdr_len);
	m->flags = g->flags;
	return m;
}

static inline void gen_made(struct mem_gen *g, uint32_t j, unsigned n)
{
	g->left[j] -= n;
	g->live -= g->left[j] == 0;
	xk_count_add(g->made[j], n);
	xk_count_add(g->bytes[j], (uint64_t)n * (g->frame - g->hdr_len));
}

static unsigned gen_burst(struct mem_gen *g, uint32_t j, unsigned n)
{
	struct xk_msg *burst[MEM_BURST];
	unsigned i;

	for (i = 0; i < n; i++) {
		burst[i] = gen_one(g, &g->conn[j]);
		if (XK_UNLIKELY(burst[i] == NULL)) {
			xk_count(g->mr->rep->drop[XK_DROP_NOMEM]);
			break;
		}
	}
	gen_made(g, j, i);
	xk_count_add(g->mr->rep->count[MEM_N_MADE], i);
	if (i != 0)
		xk_input(g->mr->rep, burst, i);
	return i;
}

/* Of `n` frames that came since, those that the ring had room for: a card loses the others without asking. */
static uint64_t gen_waiting(struct mem_gen *g, uint64_t n)
{
	uint64_t ring = mem_conf(g->mr->rep)->ring;

	if (ring == 0 || n <= ring)
		return n;
	xk_count_add(g->mr->rep->drop[MEM_DROP_MISSED], n - ring);
	g->produced += n - ring;
	return ring;
}

/* Frames that the open loop allows by now; 0 after arming the timer. */
static uint64_t gen_due(struct mem_gen *g)
{
	xk_ns now = xk_vp_now(), t = now - g->start;
	uint64_t due = t / XK_SEC * g->rate + t % XK_SEC * g->rate / XK_SEC;

	if (due > g->produced)
		return gen_waiting(g, due - g->produced);
	xk_timer_set(g->mr->rep->wheel, &g->timer, now + XK_SEC / g->rate);
	xk_task_park(&g->mr->task);
	return 0;
}

static void gen_timer(struct xk_timer *t)
{
	struct mem_gen *g = xk_container_of(t, struct mem_gen, timer);

	xk_task_ready(&g->mr->task);
}

static inline uint32_t gen_step(const struct mem_gen *g, uint32_t j, uint32_t stride)
{
	j += stride;
	return j >= g->nconn ? j - g->nconn : j;
}

/* The turn goes on to the next connection with frames left; there is one. */
static inline void gen_turn(struct mem_gen *g)
{
	do
		g->turn = gen_step(g, g->turn, g->stride);
	while (g->left[g->turn] == 0);
}

/* Its unit begins. */
static void gen_next(struct mem_gen *g, uint32_t unit)
{
	gen_turn(g);
	g->unit_left = g->left[g->turn] < unit ? (uint32_t)g->left[g->turn] : unit;
}

/* What the driver keeps of a connection is not what is measured. */
static inline void gen_fetch(const struct mem_gen *g, uint32_t j)
{
	__builtin_prefetch(&g->conn[j]);
	__builtin_prefetch(&g->left[j], 1);
	__builtin_prefetch(&g->made[j], 1);
	__builtin_prefetch(&g->bytes[j], 1);
}

/* A burst of frames of as many connections. */
static unsigned gen_mixed(struct mem_gen *g, unsigned n)
{
	struct xk_msg *burst[MEM_BURST];
	unsigned i;

	for (i = 0; i < n && g->live != 0; i++) {
		uint32_t before = g->turn;

		gen_turn(g);
		gen_fetch(g, gen_step(g, g->turn, g->ahead));
		burst[i] = gen_one(g, &g->conn[g->turn]);
		if (XK_UNLIKELY(burst[i] == NULL)) {
			xk_count(g->mr->rep->drop[XK_DROP_NOMEM]);
			g->turn = before;
			break;
		}
		gen_made(g, g->turn, 1);
	}
	xk_count_add(g->mr->rep->count[MEM_N_MADE], i);
	if (i != 0)
		xk_input(g->mr->rep, burst, i);
	return i;
}

/* One unit of frames of different connections; apart, so that the usual way stays
 * as it is. */
static __attribute__((noinline)) unsigned gen_mixed_unit(struct mem_gen *g, uint64_t unit)
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

static unsigned gen_unit(struct mem_gen *g, uint64_t unit)
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
unsigned mem_gen_run(struct xk_task *t, unsigned budget)
{
	struct mem_rep *mr = xk_container_of(t, struct mem_rep, task);
	const struct mem_conf *c = mem_conf(mr->rep);
	struct mem_gen *g = mr->gen;
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

int mem_gen_counts(const struct mem_rep *mr, void *buf, unsigned len)
{
	const struct mem_gen *g = mr->gen;
	struct xk_app_counts c = { 0, NULL, NULL, NULL, NULL, NULL };

	if (g != NULL)
		c = (struct xk_app_counts){ g->nconn, g->made, g->bytes, g->no, NULL, NULL };
	return xk_answer(buf, len, &c, sizeof c);
}

/* ---- life ---------------------------------------------------------------------------- */

static bool conn_is_here(const struct xk_rep *r, uint64_t i)
{
	const struct mem_conf *c = mem_conf(r);

	if (c->place == MEM_PLACE_HASH) {
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
static void gen_strides(struct mem_gen *g, bool mix)
{
	g->stride = 1;
	if (mix && g->nconn > 2) {
		g->stride = (uint32_t)((uint64_t)g->nconn * 1640531527 >> 32) | 1;
		while (common_divisor(g->nconn, g->stride) != 1)
			g->stride++;
	}
	g->ahead = (uint32_t)((uint64_t)g->stride * AHEAD % g->nconn);
}

static int gen_fill(struct mem_gen *g)
{
	struct xk_rep *r = g->mr->rep;
	const struct mem_conf *c = mem_conf(r);
	uint32_t n = 0;

	for (uint64_t i = 0; i < c->conns; i++)
		n += conn_is_here(r, i);
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
		if (conn_is_here(r, i))
			conn_build(g, g->nconn++, i);
	gen_strides(g, c->mix);
	return XK_OK;
}

int mem_gen_new(struct mem_rep *mr)
{
	const struct mem_conf *c = mem_conf(mr->rep);
	const struct mem_state *st = mem_state(mr->rep);
	struct mem_gen *g = mr->gen = xk_alloc(sizeof *g);
	int err;

	if (g == NULL)
		return XK_E_NOMEM;
	g->mr = mr;
	g->hdr_len = st->link->header + IP_HEADER + UDP_HEADER;
	g->frame = g->hdr_len + (uint32_t)c->size;
	g->flags = c->checksum == MEM_CSUM_GOOD ? 0 : XK_MSG_CSUM_IGNORE;
	xk_timer_init(&g->timer, gen_timer);
	err = gen_fill(g);
	if (err == XK_OK && c->rxbuf == MEM_COLD && g->nconn != 0)
		err = mem_cold_fill(&g->cold, c->rxcold ? c->rxcold : 2 * mem_l2_size(), g->frame);
	if (err != XK_OK)
		return err;
	if (c->rate != 0 && g->nconn != 0) {
		g->rate = c->rate * g->nconn / c->conns;
		g->rate += g->rate == 0;
	}
	g->start = xk_vp_now();
	if (g->live != 0)
		xk_task_ready(&mr->task);
	return XK_OK;
}

void mem_gen_stop(struct mem_rep *mr)
{
	if (mr->gen == NULL)
		return;
	xk_timer_cancel(mr->rep->wheel, &mr->gen->timer);
	mem_cold_empty(&mr->gen->cold);
}

void mem_gen_free(struct mem_rep *mr)
{
	if (mr->gen == NULL)
		return;
	xk_free(mr->gen->block);
	xk_free(mr->gen->made);
	xk_free(mr->gen);
	mr->gen = NULL;
}

int mem_gen_check(const struct mem_conf *c, char *why, size_t n)
{
	if (c->ring != 0 && c->rate == 0)
		snprintf(why, n, "ring is for frames that come at a rate of their own: it needs 'rate'");
	else if (c->to == 0)
		snprintf(why, n, "peer = \"source\" needs 'to', the address that the datagrams are for");
	else if (c->size + IP_HEADER + UDP_HEADER > c->mtu)
		snprintf(why, n, "size %llu does not fit one frame: mtu %llu leaves %llu bytes",
			 (unsigned long long)c->size, (unsigned long long)c->mtu,
			 (unsigned long long)(c->mtu - IP_HEADER - UDP_HEADER));
	else if (c->from_port + (c->conns < PORTS_PER_HOST ? c->conns : PORTS_PER_HOST) > 65536)
		snprintf(why, n, "from_port %u leaves too few ports for %llu connections (16384 for each address)",
			 c->from_port, (unsigned long long)c->conns);
	else if (mem_lead(c->lead, NULL) < 0)
		snprintf(why, n, "lead needs pairs of hexadecimal digits, at most %u of them, as in \"00000080\"", MEM_LEAD_MAX);
	else if ((uint64_t)mem_lead(c->lead, NULL) > c->size)
		snprintf(why, n, "lead has more bytes than the payload, whose size is %llu", (unsigned long long)c->size);
	else if (mem_lead(c->lead, NULL) != 0 && c->checksum == MEM_CSUM_GOOD)
		snprintf(why, n, "a good checksum is made for zeros: lead needs checksum = \"compute-ignore\" or \"none\"");
	else if (c->port + c->ports > 65536)
		snprintf(why, n, "port %u plus %llu ports passes 65535", c->port, (unsigned long long)c->ports);
	else
		return XK_OK;
	return XK_E_INVAL;
}

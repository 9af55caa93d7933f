/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peer_tcp.c - frames of the simulated TCP peers: read as the stack pushed them,
 * made from templates of one cache line.
 *
 * A template is a bare ACK but for numbers and checksum, its sum beside it, so that
 * most of what the receiver sends is two numbers and a sum; what else there is gets
 * length and flags of its own and is summed whole.
 */
#include "drivers/peer/peer_tcp.h"

#include <string.h>

#include "runtime/base/xk_csum_inline.h"

#define IP_HEADER  20u
#define TCP_HEADER 20u
#define SYN_OPTS   8u
#define PROTO_TCP  6
#define DUMMY_CSUM 0xbad1u

/* ---- reading ------------------------------------------------------------------- */

static void parse_options(const uint8_t *p, uint32_t n, struct peer_tcp_seg *g)
{
	for (uint32_t i = 0; i < n && p[i] != 0; ) {
		uint32_t len = p[i] == 1 ? 1 : i + 1 < n ? p[i + 1] : 0;

		if (len == 0 || i + len > n || (p[i] != 1 && len < 2))
			return;
		if (p[i] == 2 && len == 4)
			g->mss = xk_be16(p + i + 2);
		else if (p[i] == 3 && len == 3)
			g->wscale = p[i + 2] < 14 ? p[i + 2] : 14;
		i += len;
	}
}

/* False when it is no TCP segment.  *m may change. */
static bool parse(const struct mem_rep *mr, struct xk_msg **m, struct peer_tcp_seg *g)
{
	uint32_t h = mem_state(mr->rep)->link->header, ihl, doff, total;
	const uint8_t *p = xk_msg_peek(m, h + IP_HEADER + TCP_HEADER), *t;
	struct xk_flowkey *k = (struct xk_flowkey *)(void *)&g->key;

	if (p == NULL || xk_be16(p + h - 2) != 0x0800 || p[h + 9] != PROTO_TCP || (xk_be16(p + h + 6) & 0x3fff) != 0)
		return false;
	ihl = (p[h] & 15u) * 4;
	total = xk_be16(p + h + 2);
	if (ihl < IP_HEADER || (*m)->tot < h + total || total < ihl + TCP_HEADER ||
	    (p = xk_msg_peek(m, h + ihl + TCP_HEADER)) == NULL)
		return false;
	doff = (uint32_t)(p[h + ihl + 12] >> 4) * 4;
	if (doff < TCP_HEADER || total < ihl + doff || (p = xk_msg_peek(m, h + ihl + doff)) == NULL)
		return false;
	t = p + h + ihl;
	*k = (struct xk_flowkey){ .raddr = xk_raw32(p + h + 16), .laddr = xk_raw32(p + h + 12),
				  .rport = xk_raw16(t + 2), .lport = xk_raw16(t), .proto = PROTO_TCP };
	g->seq = xk_be32(t + 4);
	g->ack = xk_be32(t + 8);
	g->flags = t[13];
	g->wnd = xk_be16(t + 14);
	g->len = total - ihl - doff;
	g->mss = 536;
	g->wscale = 255;
	if (g->flags & PEER_TCP_SYN)
		parse_options(t + TCP_HEADER, doff - TCP_HEADER, g);
	return true;
}

bool peer_tcp_take(struct xk_sess *s, struct xk_msg *m, struct peer_tcp_seg *g)
{
	const struct mem_rep *mr = s->rep->state;

	if (XK_UNLIKELY(!mr->open || m->tot > mr->frame_max)) {
		xk_drop(s->rep, mr->open ? MEM_DROP_TOO_LONG : MEM_DROP_STOPPED, m);
		return false;
	}
	if (XK_UNLIKELY(!parse(mr, &m, g))) {
		peer_answer_arp(s, m, ((const struct peer_tcp *)mem_far_state(s))->conf->mac);
		return false;
	}
	xk_msg_free(m);
	return true;
}

/* ---- making ------------------------------------------------------------------------ */

/* An IP header's length and checksum, n bytes behind it. */
static void put_lengths(uint8_t *ip, uint32_t n)
{
	xk_put_be16(ip + 2, (uint16_t)(IP_HEADER + n));
	xk_put_raw16(ip + 10, 0);
	xk_put_raw16(ip + 10, (uint16_t)~xk_csum_fold(xk_csum_quick(ip, IP_HEADER, 0)));
}

/* Of n bytes from the TCP header on. */
static uint32_t pseudo_sum(const uint8_t *ip, uint32_t n)
{
	uint8_t pseudo[4] = { 0, PROTO_TCP, (uint8_t)(n >> 8), (uint8_t)n };

	return xk_csum(ip + 12, 8, xk_csum(pseudo, 4, 0));
}

/* Over n bytes from the TCP header on, its checksum field 0. */
static void put_checksum(const uint8_t *ip, uint8_t *tcp, uint32_t n)
{
	xk_put_raw16(tcp + 16, (uint16_t)~xk_csum_fold(xk_csum(tcp, n, pseudo_sum(ip, n))));
}

void peer_tcp_template(const struct peer_tcp *t, struct peer_tcp_conn *c)
{
	const struct xk_flowkey *k = (const struct xk_flowkey *)(const void *)&c->map.key;
	uint32_t n = peer_link_header(mem_state(t->mr->rep), t->conf->mac, c->hdr);
	uint8_t *p = c->hdr + n + IP_HEADER;

	peer_ip_header(c->hdr + n, k, 0);
	memset(p, 0, TCP_HEADER);
	xk_put_raw16(p, k->rport);
	xk_put_raw16(p + 2, k->lport);
	p[12] = TCP_HEADER / 4 << 4;
	xk_put_be16(p + 14, t->window);
	/* All of a bare ACK but numbers and checksum. */
	p[13] = PEER_TCP_ACK;
	put_lengths(c->hdr + n, TCP_HEADER);
	c->sum = xk_csum(p, TCP_HEADER, pseudo_sum(c->hdr + n, TCP_HEADER));
}

static uint32_t put_options(const struct peer_tcp *t, uint8_t *p)
{
	uint32_t mss = mem_state(t->mr->rep)->mtu - IP_HEADER - TCP_HEADER;

	p[0] = 2;
	p[1] = 4;
	xk_put_be16(p + 2, (uint16_t)mss);
	p[4] = 3;
	p[5] = 3;
	p[6] = t->wscale;
	p[7] = 1;
	return SYN_OPTS;
}

/* The next number of c's, what came acknowledged, nothing else. */
static struct xk_msg *bare_ack(struct peer_tcp *t, const struct peer_tcp_conn *c, uint32_t seq)
{
	struct xk_msg *m = xk_msg_new_cls(XK_MEM_SMALL, t->hdr_len);
	uint32_t n = htobe32(seq), ack = htobe32(c->rcv_nxt);
	uint8_t *tcp;

	if (XK_UNLIKELY(m == NULL)) {
		xk_dropped(t->rep, XK_DROP_NOMEM, 1);
		return NULL;
	}
	xk_copy_quick(m->data, c->hdr, t->hdr_len);
	tcp = m->data + t->hdr_len - TCP_HEADER;
	xk_put_raw32(tcp + 4, n);
	xk_put_raw32(tcp + 8, ack);
	xk_put_raw16(tcp + 16, (uint16_t)~xk_csum_fold(xk_csum_fold64((uint64_t)c->sum + n + ack)));
	return m;
}

/* Apart: few graphs ask for it, and in line it costs each frame registers. */
static XK_NOINLINE struct xk_msg *put_lead(const struct peer_tcp *t, struct xk_msg *m)
{
	memcpy(m->data + t->hdr_len, t->lead, t->nlead);
	return m;
}

struct xk_msg *peer_tcp_frame(struct peer_tcp *t, const struct peer_tcp_conn *c, uint32_t seq, uint8_t flags, uint32_t len)
{
	uint32_t opts = flags & PEER_TCP_SYN ? SYN_OPTS : 0, h = t->hdr_len, total = IP_HEADER + TCP_HEADER + opts + len;
	struct xk_msg *m;
	uint8_t *ip, *tcp;

	if (flags == PEER_TCP_ACK && len == 0)
		return bare_ack(t, c, seq);
	m = xk_msg_new(h + opts + len);

	if (XK_UNLIKELY(m == NULL)) {
		xk_dropped(t->rep, XK_DROP_NOMEM, 1);
		return NULL;
	}
	if (t->cold.n != 0 && len != 0)
		m = peer_cold_swap(&t->cold, m);
	memcpy(m->data, c->hdr, h);
	ip = m->data + h - TCP_HEADER - IP_HEADER;
	tcp = ip + IP_HEADER;
	put_lengths(ip, total - IP_HEADER);
	xk_put_be32(tcp + 4, seq);
	xk_put_be32(tcp + 8, flags & PEER_TCP_ACK ? c->rcv_nxt : 0);
	tcp[13] = flags;
	if (XK_UNLIKELY(opts != 0)) {
		put_options(t, tcp + TCP_HEADER);
		tcp[12] = (TCP_HEADER + SYN_OPTS) / 4 << 4;
		if (t->wscale != 0)              /* a SYN's own window is not scaled */
			xk_put_be16(tcp + 14, 65535);
	}
	if (len != 0 && t->flags != 0) {
		xk_put_be16(tcp + 16, DUMMY_CSUM);
		m->flags = t->flags;
		return XK_UNLIKELY(t->nlead != 0) ? put_lead(t, m) : m;
	}
	memset(tcp + TCP_HEADER + opts, 0, len);
	put_checksum(ip, tcp, total - IP_HEADER);
	return m;
}

/* ---- connections ------------------------------------------------------------------------ */

void peer_tcp_init(struct xk_rep *r, void (*tick)(struct xk_timer *))
{
	struct peer_tcp *t = r->state;
	uint64_t w;

	t->rep = r;
	t->conf = r->conf;
	w = t->conf->window;
	while (w >> t->wscale > 65535)
		t->wscale++;
	t->window = (uint16_t)(w >> t->wscale);
	t->flags = t->conf->checksum == PEER_CSUM_GOOD ? 0 : XK_MSG_CSUM_IGNORE;
	xk_slab_init(&t->slab, sizeof(struct peer_tcp_conn));
	xk_map_init(&t->map, offsetof(struct peer_tcp_conn, map));
	xk_timer_init(&t->tick, tick);
}

void peer_tcp_start(struct peer_tcp *t, unsigned (*run)(struct xk_task *, unsigned))
{
	t->hdr_len = (uint16_t)(mem_state(t->mr->rep)->link->header + IP_HEADER + TCP_HEADER);
	if (run != NULL)
		t->mr->task.run = run;
	if (t->conf->idle != 0)
		xk_task_ready(&t->mr->task);
}

struct peer_tcp_conn *peer_tcp_conn_new(struct peer_tcp *t, const struct xk_key *k)
{
	struct peer_tcp_conn *c = xk_slab_get(&t->slab);

	if (c == NULL)
		return NULL;
	c->map.key = *k;
	c->map.hash = xk_key_hash(k);
	if (xk_map_bind(&t->map, &c->map) != XK_OK) {
		xk_slab_put(&t->slab, c);
		return NULL;
	}
	c->snd_una = c->snd_nxt = c->map.hash;   /* any number will do */
	peer_tcp_template(t, c);
	return c;
}

void peer_tcp_conn_free(struct peer_tcp *t, struct peer_tcp_conn *c)
{
	struct peer_tcp_conn **at = &t->first, *prev = NULL;

	for (; c->listed && *at != NULL && *at != c; at = &prev->next)
		prev = *at;
	if (c->listed) {
		*at = c->next;
		if (t->last == c)
			t->last = prev;
	}
	if (c->map.bound)
		xk_map_unbind(&t->map, &c->map);
	for (unsigned i = 0; i < PEER_TCP_RECENT; i++)
		if (t->recent[i] == c)
			t->recent[i] = NULL;
	xk_slab_put(&t->slab, c);
}

static int drop_one(struct xk_mapnode *n, void *arg)
{
	struct peer_tcp *t = arg;

	xk_map_unbind(&t->map, n);
	xk_slab_put(&t->slab, xk_container_of(n, struct peer_tcp_conn, map));
	return XK_MAP_KEEP;
}

void peer_tcp_rep_stop(struct xk_rep *r)
{
	struct peer_tcp *t = r->state;

	xk_timer_cancel(r->wheel, &t->tick);
	peer_cold_empty(&t->cold);
}

void peer_tcp_rep_fini(struct xk_rep *r)
{
	struct peer_tcp *t = r->state;

	t->first = t->last = NULL;
	memset(t->recent, 0, sizeof t->recent);
	xk_map_foreach(&t->map, drop_one, t);
	xk_map_fini(&t->map);
	xk_slab_fini(&t->slab);
	xk_free(t->conn);
	xk_free(t->made);
}

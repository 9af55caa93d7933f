/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mem_echo.c - a reflector: sends every frame back with its addresses and
 * ports exchanged, as an echo service on the other end would.
 *
 * Exchanging two 16-bit-aligned fields leaves an Internet checksum as it was,
 * so none is computed.  ARP requests are answered for every address and ICMP
 * echo requests become replies, so a stack above needs no static neighbours.
 */
#include "drivers/mem/mem_priv.h"

#include <string.h>

#include "runtime/base/xk_bytes.h"

#define ETHERTYPE_IP  0x0800u
#define ETHERTYPE_ARP 0x0806u
#define PROTO_ICMP 1
#define PROTO_TCP  6
#define PROTO_UDP  17

/* Any address may be asked for: the answer names this one, unless given. */
static const uint8_t echo_mac[6] = { 0x02, 0, 0, 0, 0xec, 0x40 };

static void swap_bytes(uint8_t *a, uint8_t *b, unsigned n)
{
	uint8_t t[8];

	memcpy(t, a, n);
	memcpy(a, b, n);
	memcpy(b, t, n);
}

static bool reflect_arp(uint8_t *p, uint32_t len, const uint8_t mac[6])
{
	if (len < 28 || xk_be16(p + 6) != 1)
		return false;
	xk_put_be16(p + 6, 2);
	swap_bytes(p + 14, p + 24, 4);           /* protocol addresses */
	memcpy(p + 18, p + 8, 6);                /* target = who asked */
	memcpy(p + 8, mac, 6);
	return true;
}

static bool reflect_icmp(uint8_t *p, uint32_t len)
{
	uint32_t sum;

	if (len < 8 || p[0] != 8)
		return false;
	/* RFC 1624: the first word goes from 0x08xx to 0x00xx. */
	sum = (uint16_t)~xk_be16(p + 2) + (uint32_t)(uint16_t)~0x0800u;
	p[0] = 0;
	sum = (sum & 0xffff) + (sum >> 16);
	xk_put_be16(p + 2, (uint16_t)~((sum & 0xffff) + (sum >> 16)));
	return true;
}

static bool reflect_ip(uint8_t *p, uint32_t len)
{
	uint32_t ihl;
	bool first;

	if (len < 20)
		return false;
	ihl = (p[0] & 15u) * 4;
	first = (xk_be16(p + 6) & 0x1fff) == 0;
	swap_bytes(p + 12, p + 16, 4);
	if (!first || ihl < 20 || len < ihl)
		return !first;
	if (p[9] == PROTO_ICMP)
		return reflect_icmp(p + ihl, len - ihl);
	if ((p[9] == PROTO_UDP || p[9] == PROTO_TCP) && len >= ihl + 4) {
		swap_bytes(p + ihl, p + ihl + 2, 2);
		return true;
	}
	return false;
}

/* In place; false when there is no sensible answer. */
static bool reflect(const struct mem_state *st, const struct mem_conf *c, uint8_t *f, uint32_t len)
{
	const uint8_t *mac = c->peer_mac[0] | c->peer_mac[5] ? c->peer_mac : echo_mac;
	uint32_t h = st->link->header, at = st->link->mac;
	uint16_t type;

	if (len < h)
		return false;
	type = xk_be16(f + h - 2);
	memcpy(f + at, f + at + 6, 6);           /* to whoever sent it */
	memcpy(f + at + 6, mac, 6);
	if (type == ETHERTYPE_ARP)
		return reflect_arp(f + h, len - h, mac);
	return type == ETHERTYPE_IP && reflect_ip(f + h, len - h);
}

/* In one segment of its own, whose headers may be written in place; NULL, counted,
 * when memory is out. */
static struct xk_msg *writable(struct xk_rep *r, struct xk_msg *m)
{
	struct xk_msg *c = m;

	if (m->flags & XK_MSG_SLOW) {
		c = xk_msg_clone(m);
		if (c == NULL)
			xk_drop(r, XK_DROP_NOMEM, m);
		else
			xk_msg_free(m);
	}
	return c;
}

void mem_echo_arp(struct xk_sess *s, struct xk_msg *m)
{
	struct xk_rep *r = s->rep;
	const struct mem_link *l = mem_state(r)->link;
	const uint8_t *f = xk_msg_peek(&m, l->header);

	if (f != NULL && xk_be16(f + l->header - 2) == ETHERTYPE_ARP)
		mem_echo_push(s, m);
	else
		xk_drop(r, MEM_DROP_NOT_REFLECTED, m);
}

struct xk_msg *mem_echo_reflect(struct xk_sess *s, struct xk_msg *m)
{
	struct xk_rep *r = s->rep;
	struct mem_rep *mr = r->state;
	uint32_t want = m->tot < 128 ? m->tot : 128;

	if (!mr->open || mr->q.n >= mr->cap) {
		xk_drop(r, mr->open ? MEM_DROP_QUEUE_FULL : MEM_DROP_STOPPED, m);
		return NULL;
	}
	m = writable(r, m);
	if (m == NULL)
		return NULL;
	if (xk_msg_peek(&m, want) == NULL || !reflect(mem_state(r), mem_conf(r), m->data, m->len)) {
		xk_drop(r, MEM_DROP_NOT_REFLECTED, m);
		return NULL;
	}
	m->flags &= XK_MSG_SLOW;
	m->net = 0;
	return m;
}

void mem_echo_push(struct xk_sess *s, struct xk_msg *m)
{
	m = mem_echo_reflect(s, m);
	if (m != NULL)
		mem_rx_put(s->rep->state, m);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peer_echo.c - a reflector: sends every frame back with its addresses and
 * ports exchanged, as an echo service on the other end would.
 *
 * Exchanging two 16-bit-aligned fields leaves an Internet checksum as it was,
 * so none is computed.  ARP requests are answered for every address and ICMP
 * echo requests become replies, so a stack above needs no static neighbours.
 */
#include "drivers/peer/peer_priv.h"

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
static bool reflect(const struct mem_link *l, const uint8_t mac[6], uint8_t *f, uint32_t len)
{
	uint32_t h = l->header, at = l->mac;
	uint16_t type;

	if (len < h)
		return false;
	if ((mac[0] | mac[5]) == 0)
		mac = echo_mac;
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

struct xk_msg *peer_reflect(struct xk_sess *s, struct xk_msg *m, const uint8_t mac[6])
{
	const struct mem_rep *mr = s->rep->state;
	struct xk_rep *r = mem_far(s);
	uint32_t want = m->tot < 128 ? m->tot : 128;

	if (!mr->open || mr->q.n >= mr->cap) {
		xk_drop(s->rep, mr->open ? MEM_DROP_QUEUE_FULL : MEM_DROP_STOPPED, m);
		return NULL;
	}
	m = writable(r, m);
	if (m == NULL)
		return NULL;
	if (xk_msg_peek(&m, want) == NULL || !reflect(mem_state(s->rep)->link, mac, m->data, m->len)) {
		xk_drop(r, PEER_DROP_NOT_REFLECTED, m);
		return NULL;
	}
	m->flags &= XK_MSG_SLOW;
	m->net = 0;
	return m;
}

void peer_answer_arp(struct xk_sess *s, struct xk_msg *m, const uint8_t mac[6])
{
	const struct mem_link *l = mem_state(s->rep)->link;
	const uint8_t *f = xk_msg_peek(&m, l->header);

	if (f == NULL || xk_be16(f + l->header - 2) != ETHERTYPE_ARP)
		xk_drop(mem_far(s), PEER_DROP_NOT_REFLECTED, m);
	else if ((m = peer_reflect(s, m, mac)) != NULL)
		mem_rx_put(s->rep->state, m);
}

/* ---- the node ----------------------------------------------------------------------- */

struct echo_conf { uint8_t mac[6]; };

static void echo_push(struct xk_sess *s, struct xk_msg *m)
{
	const struct echo_conf *c = mem_far(s)->conf;

	m = peer_reflect(s, m, c->mac);
	if (m != NULL)
		mem_rx_answer(s, m);
}

static const struct mem_peer echo_peer = { .push = echo_push };

static int echo_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	(void)r;
	return op == XK_CTL_MEM_PEER ? peer_tell(&echo_peer, buf, len) : XK_E_NOTSUP;
}

static const struct xk_ops echo_ops = { .control = echo_control };

static const struct xk_param echo_params[] = {
	{ .name = "mac", .type = XK_P_MAC, .doc = "link address that frames come from",
	  .offset = offsetof(struct echo_conf, mac) },
	XK_PARAM_END
};

static const char *const echo_drops[] = { "not_reflected", NULL };

const struct xk_proto xk_proto_peer_echo = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "peer_echo",
	.doc = "at the far end of a wire in memory: "
	       "sends frames back with their addresses and ports exchanged",
	.is_driver = true, .ops = &echo_ops, .offers = "peer", .params = echo_params,
	.conf_size = sizeof(struct echo_conf), .rep_size = sizeof(struct mem_rep *), .drops = echo_drops,
};

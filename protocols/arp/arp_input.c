/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arp_input.c - ARP packets: checked, answered, learned from; and made.
 *
 * The order of RFC 826 with today's suspicion: sizes and senders are checked
 * first, a packet that claims our own address is a conflict (arp_claim.c) and
 * teaches nothing, what is told updates entries that exist, and only a request
 * that is aimed at us makes one.
 * Invariant: no entry's station address is a group's, zero, or our own.
 */
#include "protocols/arp/arp_priv.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"

#include <string.h>

struct arp_pkt {
	uint16_t op;
	uint8_t  sha[6], tha[6];
	uint32_t spa, tpa;
};

/* ---- header: the only code that knows byte order ------------------------------------ */

enum { HTYPE_ETHER = 1, PTYPE_IPV4 = 0x0800 };

static void hdr_store(uint8_t *h, const struct arp_pkt *p)
{
	xk_put_be16(h, HTYPE_ETHER);
	xk_put_be16(h + 2, PTYPE_IPV4);
	h[4] = 6;
	h[5] = 4;
	xk_put_be16(h + 6, p->op);
	memcpy(h + 8, p->sha, 6);
	xk_put_be32(h + 14, p->spa);
	memcpy(h + 18, p->tha, 6);
	xk_put_be32(h + 24, p->tpa);
}

/* 0, or why the packet is none (RFC 1390: FDDI says hardware type 1 too). */
static unsigned hdr_load(const uint8_t *h, struct arp_pkt *p)
{
	if (xk_be16(h) != HTYPE_ETHER)
		return ARP_DROP_HTYPE;
	if (xk_be16(h + 2) != PTYPE_IPV4)
		return ARP_DROP_PTYPE;
	if (h[4] != 6)
		return ARP_DROP_HLEN;
	if (h[5] != 4)
		return ARP_DROP_PLEN;
	p->op = xk_be16(h + 6);
	memcpy(p->sha, h + 8, 6);
	p->spa = xk_be32(h + 14);
	memcpy(p->tha, h + 18, 6);
	p->tpa = xk_be32(h + 24);
	return p->op == ARP_OP_REQUEST || p->op == ARP_OP_REPLY ? 0 : ARP_DROP_OP;
}

/* ---- sending --------------------------------------------------------------------------- */

static void send_on(struct xk_sess *s, const struct arp_pkt *p)
{
	struct xk_msg *m = xk_msg_new(ARP_PKT_LEN);

	if (m == NULL) {
		xk_dropped(s->up->rep, XK_DROP_NOMEM, 1);
		return;
	}
	hdr_store(m->data, p);
	xk_push(s, m);
}

static uint32_t source_for(struct xk_node *n, uint32_t host)
{
	const struct arp_table *t = n->state;
	unsigned nown = xk_load_acquire(&t->nown);
	uint32_t any = 0;

	for (unsigned i = 0; i < nown; i++) {
		uint8_t len = xk_load_relaxed(&t->own[i].len);
		uint32_t mask = len ? UINT32_MAX << (32 - len) : 0;

		if (!xk_load_acquire(&t->own[i].ours))
			continue;
		if (((t->own[i].addr ^ host) & mask) == 0)
			return t->own[i].addr;
		if (any == 0)
			any = t->own[i].addr;
	}
	return any;
}

static void broadcast_request(struct xk_rep *r, uint32_t spa, uint32_t tpa)
{
	struct arp_rep *st = r->state;
	struct arp_pkt p = { .op = ARP_OP_REQUEST, .spa = spa, .tpa = tpa };

	if (st->bcast == NULL)
		return;
	memcpy(p.sha, st->mac, 6);
	xk_count(r->count[ARP_COUNT_REQ_OUT]);
	send_on(st->bcast, &p);
}

void arp_send_request(struct xk_rep *r, uint32_t host)
{
	broadcast_request(r, source_for(r->node, host), host);
}

void arp_send_address_probe(struct xk_rep *r, uint32_t addr)
{
	xk_count(r->count[ARP_COUNT_ADDRESS_PROBES]);
	broadcast_request(r, 0, addr);
}

void arp_send_announcement(struct xk_rep *r, uint32_t addr)
{
	broadcast_request(r, addr, addr);
}

/* To p->tha, from us. */
static void send_to(struct xk_rep *r, struct arp_pkt *p, unsigned counter)
{
	struct arp_rep *st = r->state;
	struct xk_parts ps;
	struct xk_sess *s;
	int err;

	xk_parts_init(&ps, 1);
	(void)xk_part_push_mac(&ps.p[XK_REMOTE], p->tha);
	s = xk_open(r, r->node, r->down[0], &ps, &err);
	if (s == NULL) {
		xk_dropped(r, XK_DROP_NOMEM, 1);
		return;
	}
	memcpy(p->sha, st->mac, 6);
	xk_count(r->count[counter]);
	send_on(s, p);
	xk_close(s);
}

void arp_send_probe(struct xk_rep *r, uint32_t host, const uint8_t mac[6])
{
	struct arp_pkt p = { .op = ARP_OP_REQUEST, .spa = source_for(r->node, host), .tpa = host };

	memcpy(p.tha, mac, 6);
	send_to(r, &p, ARP_COUNT_PROBES);
}

/* To the station that the packet names, which need not be the frame's. */
static void send_reply(struct xk_rep *r, const struct arp_pkt *q)
{
	struct arp_pkt p = { .op = ARP_OP_REPLY, .spa = q->tpa, .tpa = q->spa };

	memcpy(p.tha, q->sha, 6);
	send_to(r, &p, ARP_COUNT_REP_OUT);
}

/* ---- receiving ----------------------------------------------------------------------------- */

/* The sender's fields by themselves; 0 or why they cannot be. */
static unsigned sender_fault(struct xk_rep *r, const struct arp_pkt *p)
{
	static const uint8_t zero[6];
	const struct arp_rep *st = r->state;

	if ((p->sha[0] & 1) || memcmp(p->sha, zero, 6) == 0)
		return ARP_DROP_SENDER_MAC;
	if (memcmp(p->sha, st->mac, 6) == 0)
		return ARP_DROP_OWN_ECHO;
	/* 0.0.0.0 is a probe (RFC 5227); it is answered, not learned. */
	if (p->spa >= 0xe0000000u || p->spa >> 24 == 127 || (p->spa >> 24 == 0 && p->spa != 0))
		return ARP_DROP_SENDER_IP;
	return arp_is_broadcast(r->node, p->spa) ? ARP_DROP_SENDER_IP : 0;
}

/* Our address that the packet speaks against: its sender's, or one that it probes for while we
 * do (RFC 5227 2.1.1); NULL: none. */
static struct arp_own *claimed(struct xk_rep *r, const struct arp_pkt *p, bool request)
{
	struct arp_own *own = arp_own_find(r->node, p->spa);

	if (own != NULL || p->spa != 0 || !request)
		return own;
	own = arp_own_find(r->node, p->tpa);
	return own != NULL && !xk_load_acquire(&own->ours) ? own : NULL;
}

static bool is_answered_for(struct xk_rep *r, uint32_t addr)
{
	struct arp_own *own = arp_own_find(r->node, addr);

	return own != NULL && xk_load_acquire(&own->ours) && arp_gate(arp_table(r->node)) != ARP_GATE_LOST;
}

/* 0: done with; else the reason to drop. */
static unsigned input(struct xk_rep *r, const struct arp_pkt *p)
{
	const struct arp_conf *c = r->conf;
	bool request = p->op == ARP_OP_REQUEST, for_us;
	unsigned why = sender_fault(r, p);
	struct arp_own *own;

	if (why != 0)
		return why;
	xk_count(r->count[request ? ARP_COUNT_REQ_IN : ARP_COUNT_REP_IN]);
	own = claimed(r, p, request);
	if (own != NULL && arp_is_our_station(r, p->sha))
		return ARP_DROP_OWN_ECHO;
	if (own != NULL) {
		arp_conflict(r, own, p->sha);
		return ARP_DROP_CONFLICT;
	}
	for_us = is_answered_for(r, p->tpa);
	if (p->spa != 0)
		arp_learn(r, p->spa, p->sha, request && for_us && c->learn);
	if (request && for_us)
		send_reply(r, p);
	return 0;
}

void arp_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	struct xk_rep *r = up->rep;
	uint8_t *h = xk_msg_peek(&m, ARP_PKT_LEN);
	struct arp_pkt p;
	unsigned why;

	(void)lls;
	if (h == NULL) {
		xk_drop(r, m->tot < ARP_PKT_LEN ? ARP_DROP_SHORT : XK_DROP_NOMEM, m);
		return;
	}
	why = hdr_load(h, &p);
	if (why == 0)
		why = input(r, &p);
	if (why != 0)
		xk_drop(r, why, m);
	else
		xk_msg_free(m);
}

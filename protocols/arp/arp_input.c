/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arp_input.c - ARP packets that come: checked, answered, learned from.
 *
 * The order of RFC 826 with today's suspicion: sizes and senders are checked
 * first, a packet that claims our own address is a conflict (arp_claim.c) and
 * teaches nothing, what is told updates entries that exist, and only a request
 * that is aimed at us makes one.
 * Invariant: no entry's station address is a group's, zero, or our own.
 */
#include "protocols/arp/arp_priv.h"
#include "runtime/upi/xk_inline.h"

#include <string.h>

/* 0, or why the packet is none (RFC 1390: FDDI says hardware type 1 too). */
static unsigned hdr_load(const uint8_t *h, struct arp_pkt *p)
{
	if (xk_be16(h) != ARP_HTYPE_ETHER)
		return ARP_DROP_HTYPE;
	if (xk_be16(h + 2) != ARP_PTYPE_IPV4)
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

/* ---- receiving ---------------------------------------------------------------------------- */

/* To the station that the packet names, which need not be the frame's. */
static void send_reply(struct xk_rep *r, const struct arp_pkt *q)
{
	struct arp_pkt p = { .op = ARP_OP_REPLY, .spa = q->tpa, .tpa = q->spa };

	memcpy(p.tha, q->sha, 6);
	arp_send_to(r, &p, ARP_COUNT_REP_OUT);
}

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

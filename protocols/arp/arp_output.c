/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arp_output.c - ARP packets that leave: requests, probes, announcements, and what is sent to one station.
 */
#include "protocols/arp/arp_priv.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"

#include <string.h>

static void hdr_store(uint8_t *h, const struct arp_pkt *p)
{
	xk_put_be16(h, ARP_HTYPE_ETHER);
	xk_put_be16(h + 2, ARP_PTYPE_IPV4);
	h[4] = 6;
	h[5] = 4;
	xk_put_be16(h + 6, p->op);
	memcpy(h + 8, p->sha, 6);
	xk_put_be32(h + 14, p->spa);
	memcpy(h + 18, p->tha, 6);
	xk_put_be32(h + 24, p->tpa);
}

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

void arp_send_to(struct xk_rep *r, struct arp_pkt *p, unsigned counter)
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
	arp_send_to(r, &p, ARP_COUNT_PROBES);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ip_msg.c - a datagram as a message: its headers in one piece, and which connection it is of.
 */
#include "protocols/ip/ip_priv.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_input.h"

/* Bytes behind a header that transports may expect in one piece with it. */
#define CONTIGUOUS 128u

/* Has the first segment, its own, all of the headers up to UDP's or TCP's payload?  A driver that
 * places payload elsewhere leaves no more there (xk_ddp.h). */
static bool headers_whole(const struct xk_msg *m, uint32_t hlen)
{
	const uint8_t *p = m->data;

	if ((m->flags & IP_FOREIGN) || m->len < hlen + 8 || (xk_be16(p + 6) & (IP_FLAG_MF | IP_OFFSET_MASK)) != 0)
		return false;
	return p[9] == IP_PROTO_UDP ||
	       (p[9] == IP_PROTO_TCP && m->len >= hlen + 20 && m->len >= hlen + (p[hlen + 12] >> 4) * 4u);
}

/*
 * Header and transport header in one piece and in a buffer of the message's
 * own: what lies in somebody else's cannot be noted as its network header.
 */
bool ip_pull(struct xk_msg **mp, uint32_t hlen)
{
	uint32_t n = hlen + CONTIGUOUS < (*mp)->tot ? hlen + CONTIGUOUS : (*mp)->tot;
	uint8_t copy[IP_HDR_MAX + CONTIGUOUS], *p;

	if (headers_whole(*mp, hlen))
		return true;
	if (xk_msg_peek(mp, n) == NULL)
		return false;
	if (!((*mp)->flags & IP_FOREIGN))
		return true;
	memcpy(copy, (*mp)->data, n);
	xk_msg_pop(*mp, n);
	p = xk_msg_push(mp, n);
	if (p == NULL)
		return false;
	memcpy(p, copy, n);
	return true;
}

/* What the classifier would have said, had it seen the whole datagram: ports
 * for UDP and TCP, the identifier of echo and its reply; else the two hosts. */
void ip_flow_key(const uint8_t *p, uint32_t hlen, uint32_t have, struct xk_flowkey *k)
{
	const uint8_t *t = p + hlen;

	*k = (struct xk_flowkey){ .raddr = xk_raw32(p + 12), .laddr = xk_raw32(p + 16),
				  .proto = IP_PROTO_ICMP };
	if ((p[9] == IP_PROTO_UDP || p[9] == IP_PROTO_TCP) && have >= hlen + 8) {
		k->proto = p[9];
		k->rport = xk_raw16(t);
		k->lport = xk_raw16(t + 2);
	} else if (p[9] == IP_PROTO_ICMP && have >= hlen + 8 && (t[0] & 0xf7) == 0) {
		k->lport = xk_raw16(t + 4);
	}
}

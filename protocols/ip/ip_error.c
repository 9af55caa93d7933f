/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ip_error.c - what hosts say to each other about datagrams that went wrong, by ICMP above us.
 */
#include "protocols/ip/ip_priv.h"

#include "runtime/upi/xk_inline.h"

int ip_icmp_error(struct xk_rep *r, struct xk_msg *m, uint8_t type, uint8_t code, uint32_t arg)
{
	struct ip_icmp_error e = { m, type, code, arg };
	struct xk_enable *icmp = inet_enable_find(r->node, IP_PROTO_ICMP, ip_net_dst(xk_msg_net(m)));

	xk_count(r->count[IP_COUNT_ICMP_ASKED]);
	if (icmp == NULL)
		return 0;
	return xk_control(xk_rep_here(icmp->rcv, r), IP_CTL_ICMP_SEND, &e, sizeof e);
}

/* An error about a datagram of ours: the path's MTU is IP's own business, the
 * rest is for the transport that sent it. */
int ip_icmp_in(struct xk_rep *r, struct ip_error_in *e)
{
	struct xk_enable *up;
	struct xk_mapnode *node;
	struct ip_hdr h;
	struct xk_key k;

	ip_hdr_load(e->quote, &h);
	k.w[0] = ip_pair(h.destination, h.source);
	k.w[1] = h.protocol;
	xk_count(r->count[IP_COUNT_ERRORS_IN]);
	node = xk_map_resolve(&r->active, &k);
	if (node != NULL && e->type == 3 && e->code == 4)
		ip_path_mtu(xk_container_of(node, struct ip_sess, s.map), e->arg & 0xffff);
	up = inet_enable_find(r->node, h.protocol, h.source);
	if (up == NULL)
		return 0;
	return xk_control(xk_rep_here(up->rcv, r), IP_CTL_ERROR_IN, e, sizeof *e);
}

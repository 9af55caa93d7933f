/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lwip_link.h - two in-memory Ethernet interfaces of lwIP, joined by two rings,
 * one thread; every frame is copied once by the driver, as ours does.
 */
#ifndef XK_LWIP_LINK_H
#define XK_LWIP_LINK_H

#include "../peer.h"

#include "lwip/etharp.h"
#include "lwip/init.h"
#include "lwip/netif.h"
#include "netif/ethernet.h"

#ifndef RING
#define RING 4096u
#endif

static struct netif side[2];
static struct { struct pbuf *p[RING]; unsigned head, tail; } wire[2];
static ip4_addr_t addr[2];
static unsigned long lost;

static err_t transmit(struct netif *n, struct pbuf *p)
{
	unsigned to = n == &side[0];
	struct pbuf *q = pbuf_alloc(PBUF_RAW, p->tot_len, PBUF_POOL);

	if (q == NULL || wire[to].head - wire[to].tail == RING) {
		lost++;
		if (q != NULL)
			pbuf_free(q);
		return ERR_OK;
	}
	pbuf_copy(q, p);
	wire[to].p[wire[to].head++ % RING] = q;
	return ERR_OK;
}

static unsigned poll_side(unsigned i, unsigned max)
{
	unsigned n = 0;

	for (; n < max && wire[i].tail != wire[i].head; n++) {
		struct pbuf *p = wire[i].p[wire[i].tail++ % RING];

		if (side[i].input(p, &side[i]) != ERR_OK)
			pbuf_free(p);
	}
	return n;
}

static void poll_all(void)
{
	while (poll_side(1, RING) + poll_side(0, RING) != 0)
		;
}

static err_t setup(struct netif *n)
{
	n->name[0] = 'm';
	n->name[1] = n == &side[0] ? 'a' : 'b';
	n->mtu = MTU;
	n->hwaddr_len = 6;
	n->hwaddr[0] = 2;
	n->hwaddr[5] = n == &side[0] ? 1 : 2;
	n->flags = NETIF_FLAG_BROADCAST | NETIF_FLAG_ETHARP | NETIF_FLAG_LINK_UP;
	n->output = etharp_output;
	n->linkoutput = transmit;
	return ERR_OK;
}

/* Both interfaces up, each knowing the other's address. */
static void link_up(void)
{
	ip4_addr_t mask, none;

	lwip_init();
	IP4_ADDR(&addr[0], 10, 0, 0, 1);
	IP4_ADDR(&addr[1], 10, 0, 0, 2);
	IP4_ADDR(&mask, 255, 255, 255, 0);
	IP4_ADDR(&none, 0, 0, 0, 0);
	for (unsigned i = 0; i < 2; i++) {
		netif_add(&side[i], &addr[i], &mask, &none, NULL, setup, ethernet_input);
		netif_set_up(&side[i]);
	}
	poll_all();
	etharp_request(&side[0], &addr[1]);
	poll_all();
	etharp_request(&side[1], &addr[0]);
	poll_all();
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lwip_udp.c - UDP through lwIP at its best: two in-memory Ethernet interfaces,
 * raw API, one thread, both ends.
 *
 * The application copies its payload into a pbuf, the driver copies the frame
 * (as ours does), checksums are generated and verified.  Batches of 32, then
 * the receiving interface is polled.  Usage: lwip-udp BYTES MILLISECONDS
 */
#include "../peer.h"

#include "lwip/etharp.h"
#include "lwip/init.h"
#include "lwip/netif.h"
#include "lwip/udp.h"
#include "netif/ethernet.h"

#define RING 4096u
#define BATCH 32

static struct netif side[2];
static struct { struct pbuf *p[RING]; unsigned head, tail; } wire[2];
static ip4_addr_t addr[2];
static unsigned long received, lost;

u32_t sys_now(void)
{
	return (u32_t)(peer_now() / 1e6);
}

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

static unsigned poll_side(unsigned i)
{
	unsigned n = 0;

	for (; wire[i].tail != wire[i].head; n++) {
		struct pbuf *p = wire[i].p[wire[i].tail++ % RING];

		if (side[i].input(p, &side[i]) != ERR_OK)
			pbuf_free(p);
	}
	return n;
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

static void on_receive(void *arg, struct udp_pcb *u, struct pbuf *p, const ip_addr_t *from, u16_t port)
{
	(void)arg;
	(void)u;
	(void)from;
	(void)port;
	received++;
	pbuf_free(p);
}

static void send_one(struct udp_pcb *s, const char *payload, unsigned len)
{
	struct pbuf *p = pbuf_alloc(PBUF_TRANSPORT, (u16_t)len, PBUF_RAM);

	if (p == NULL)
		exit(1);
	pbuf_take(p, payload, (u16_t)len);
	if (udp_sendto(s, p, &addr[1], 7000) != ERR_OK)
		exit(1);
	pbuf_free(p);
}

static double run(struct udp_pcb *s, const char *payload, unsigned len, double ms)
{
	double t0 = peer_now(), t;

	received = 0;
	do {
		for (unsigned k = 0; k < 32; k++) {
			for (unsigned i = 0; i < BATCH; i++)
				send_one(s, payload, len);
			poll_side(1);
		}
		t = peer_now() - t0;
	} while (t < ms * 1e6);
	return t / (double)received;
}

int main(int argc, char **argv)
{
	static char payload[65536];
	char name[32];
	unsigned len = argc > 1 ? (unsigned)atoi(argv[1]) : 64;
	double ms = argc > 2 ? atof(argv[2]) : 200;
	ip4_addr_t mask, none;
	struct udp_pcb *s, *r;

	for (unsigned i = 0; i < sizeof payload; i++)
		payload[i] = (char)(i * 7);
	lwip_init();
	IP4_ADDR(&addr[0], 10, 0, 0, 1);
	IP4_ADDR(&addr[1], 10, 0, 0, 2);
	IP4_ADDR(&mask, 255, 255, 255, 0);
	IP4_ADDR(&none, 0, 0, 0, 0);
	for (unsigned i = 0; i < 2; i++) {
		netif_add(&side[i], &addr[i], &mask, &none, NULL, setup, ethernet_input);
		netif_set_up(&side[i]);
	}
	while (poll_side(0) + poll_side(1) != 0)
		;
	etharp_request(&side[0], &addr[1]);
	while (poll_side(0) + poll_side(1) != 0)
		;
	s = udp_new();
	r = udp_new();
	if (s == NULL || r == NULL)
		return 1;
	udp_bind(r, &addr[1], 7000);
	udp_bind_netif(r, &side[1]);
	udp_recv(r, on_receive, NULL);
	udp_bind(s, &addr[0], 6000);
	udp_bind_netif(s, &side[0]);
	run(s, payload, len, ms / 4);
	snprintf(name, sizeof name, "udp-%u", len);
	peer_report("lwip", name, run(s, payload, len, ms));
	if (lost != 0) {
		fprintf(stderr, "lwip-udp: %lu frames lost\n", lost);
		return 1;
	}
	return 0;
}

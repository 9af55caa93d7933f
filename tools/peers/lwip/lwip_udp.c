/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lwip_udp.c - UDP through lwIP at its best: two in-memory Ethernet interfaces,
 * raw API, one thread, both ends.
 *
 * The application copies its payload into a pbuf, the driver copies the frame
 * (as ours does), checksums are generated and verified.  Batches of 32, then
 * the receiving interface is polled.  Usage: lwip-udp BYTES MILLISECONDS
 */
#include "lwip_link.h"

#include "lwip/udp.h"

#define BATCH 32

static unsigned long received;

u32_t sys_now(void)
{
	return (u32_t)(peer_now() / 1e6);
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
			poll_side(1, RING);
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
	struct udp_pcb *s, *r;

	for (unsigned i = 0; i < sizeof payload; i++)
		payload[i] = (char)(i * 7);
	link_up();
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

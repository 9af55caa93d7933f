/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lwip_udp.c - UDP through lwIP at its best: two in-memory Ethernet interfaces,
 * raw API, one thread, both ends.
 *
 * The application copies its payload into a pbuf, the driver copies the frame
 * (as ours does), checksums are generated and verified.  Batches of 32, then
 * the receiving interface is polled.  With PCBS the receiver has so many control
 * blocks, each connected to the sender's one, which sends to each in turn: no frame is of
 * the connection of the one before.  Usage: lwip-udp BYTES MILLISECONDS [PCBS]
 *
 * Both ends share lwIP's one list of control blocks; so the sender has a single one.
 */
#include "lwip_link.h"

#include "lwip/udp.h"

#define BATCH 32

static unsigned long received;
static struct udp_pcb *sender;

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

static void send_one(u16_t port, const char *payload, unsigned len)
{
	struct pbuf *p = pbuf_alloc(PBUF_TRANSPORT, (u16_t)len, PBUF_RAM);

	if (p == NULL)
		exit(1);
	pbuf_take(p, payload, (u16_t)len);
	if (udp_sendto(sender, p, &addr[1], port) != ERR_OK)
		exit(1);
	pbuf_free(p);
}

static struct udp_pcb *pcb(unsigned at, u16_t port)
{
	struct udp_pcb *u = udp_new();

	if (u == NULL || udp_bind(u, &addr[at], port) != ERR_OK)
		exit(1);
	udp_bind_netif(u, &side[at]);
	return u;
}

static void open_all(unsigned n)
{
	sender = pcb(0, 6000);
	for (unsigned i = 0; i < n; i++) {
		struct udp_pcb *u = pcb(1, (u16_t)(7000 + i));

		if (udp_connect(u, &addr[0], 6000) != ERR_OK)
			exit(1);
		udp_recv(u, on_receive, NULL);
	}
}

static double run(unsigned n, const char *payload, unsigned len, double ms)
{
	double t0 = peer_now(), t;
	unsigned turn = 0;

	received = 0;
	do {
		for (unsigned k = 0; k < 32; k++) {
			for (unsigned i = 0; i < BATCH; i++) {
				send_one((u16_t)(7000 + turn), payload, len);
				turn = turn + 1 == n ? 0 : turn + 1;
			}
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
	unsigned n = argc > 3 ? (unsigned)atoi(argv[3]) : 1;

	for (unsigned i = 0; i < sizeof payload; i++)
		payload[i] = (char)(i * 7);
	link_up();
	if (n == 0 || n > NUDP)
		return 2;
	open_all(n);
	run(n, payload, len, ms / 4);
	snprintf(name, sizeof name, "udp-%u-%u", len, n);
	peer_report("lwip", name, run(n, payload, len, ms));
	if (lost != 0) {
		fprintf(stderr, "lwip-udp: %lu frames lost\n", lost);
		return 1;
	}
	return 0;
}

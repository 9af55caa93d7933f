/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lwip_tcp.c - TCP bulk transfer through lwIP at its best: two in-memory
 * Ethernet interfaces, raw API, one thread, both ends.
 *
 * The application's bytes are copied into lwIP's buffers (TCP_WRITE_FLAG_COPY),
 * the driver copies each frame, checksums are generated and verified; the
 * receiver does not touch the payload.  The application writes WRITE bytes at a time
 * (0: two segments); connections are filled in turn up to OUTSTANDING bytes each.  The
 * MTU is the program's, see build.  Usage:
 * lwip-tcp CONNECTIONS MILLISECONDS [WRITE [MTU [OUTSTANDING]]]
 */
#define RING (1u << 18)
#include "lwip_link.h"

#include "lwip/tcp.h"
#include "lwip/timeouts.h"

#define PIECE 32768u                     /* most that goes into one tcp_write, whose length has 16 bits */

struct conn { struct tcp_pcb *p; unsigned unacked, left; };   /* left: of the write that has begun */
static struct conn *conns;
static unsigned established, write_size, outstanding, failed;
static double received;
static char payload[PIECE];

/* Milliseconds of a clock that costs little: nothing here times out. */
u32_t sys_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return (u32_t)(t.tv_sec * 1000 + t.tv_nsec / 1000000);
}

static void fill(struct conn *c)
{
	unsigned n = 0;

	while (c->left != 0 || c->unacked + write_size <= outstanding) {
		unsigned len;

		c->left = c->left != 0 ? c->left : write_size;
		len = c->left < PIECE ? c->left : PIECE;
		if (tcp_sndbuf(c->p) < len || tcp_write(c->p, payload, (u16_t)len, TCP_WRITE_FLAG_COPY) != ERR_OK)
			break;
		c->left -= len;
		c->unacked += len;
		n++;
	}
	if (n != 0)
		tcp_output(c->p);
}

static err_t on_sent(void *arg, struct tcp_pcb *p, u16_t len)
{
	struct conn *c = arg;

	(void)p;
	c->unacked -= len;
	fill(c);
	return ERR_OK;
}

static err_t on_receive(void *arg, struct tcp_pcb *p, struct pbuf *b, err_t err)
{
	(void)arg;
	(void)err;
	if (b == NULL)
		return ERR_OK;
	received += b->tot_len;
	tcp_recved(p, b->tot_len);
	pbuf_free(b);
	return ERR_OK;
}

static err_t on_accept(void *arg, struct tcp_pcb *p, err_t err)
{
	(void)arg;
	(void)err;
	established++;
	tcp_recv(p, on_receive);
	tcp_nagle_disable(p);
	return ERR_OK;
}

static err_t on_connect(void *arg, struct tcp_pcb *p, err_t err)
{
	(void)arg;
	(void)p;
	return err;
}

static void on_error(void *arg, err_t err)
{
	(void)arg;
	(void)err;
	failed++;
}

static void open_one(struct conn *c, unsigned i)
{
	c->p = tcp_new();
	if (c->p == NULL)
		exit(1);
	tcp_arg(c->p, c);
	tcp_bind_netif(c->p, &side[0]);
	tcp_bind(c->p, &addr[0], (u16_t)(10000 + i));
	tcp_sent(c->p, on_sent);
	tcp_err(c->p, on_error);
	if (tcp_connect(c->p, &addr[1], 80, on_connect) != ERR_OK)
		exit(1);
	poll_all();
}

static void open_all(unsigned n)
{
	struct tcp_pcb *l = tcp_new();

	tcp_bind(l, &addr[1], 80);
	tcp_bind_netif(l, &side[1]);
	l = tcp_listen(l);
	tcp_accept(l, on_accept);
	conns = calloc(n, sizeof *conns);
	for (unsigned i = 0; i < n; i++)
		open_one(&conns[i], i);
	if (established != n || failed != 0) {
		fprintf(stderr, "lwip-tcp: %u of %u connections\n", established, n);
		exit(1);
	}
}

static double run(unsigned n, double ms)
{
	double t0 = peer_now(), t;

	received = 0;
	do {
		for (unsigned k = 0; k < 16; k++) {
			poll_side(1, 64);
			poll_side(0, 64);
		}
		sys_check_timeouts();
		if (wire[0].head == wire[0].tail && wire[1].head == wire[1].tail)
			for (unsigned i = 0; i < n; i++)
				fill(&conns[i]);
		t = peer_now() - t0;
	} while (t < ms * 1e6);
	return t;
}

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
	double ms = argc > 2 ? atof(argv[2]) : 200, t;
	char name[32];

	write_size = argc > 3 && atoi(argv[3]) > 0 ? (unsigned)atoi(argv[3]) : 2 * TCP_MSS;
	if (argc > 4 && atoi(argv[4]) != MTU) {
		fprintf(stderr, "lwip-tcp: built for an MTU of %d\n", MTU);
		return 2;
	}
	outstanding = argc > 5 ? (unsigned)atoi(argv[5]) : n > 64 ? 65536 : 4 * TCP_MSS;
	/* Room for a write while an acknowledgement is delayed, or the rest of the one before waits for it. */
	outstanding = outstanding > write_size + 4 * TCP_MSS ? outstanding : write_size + 4 * TCP_MSS;
	for (unsigned i = 0; i < sizeof payload; i++)
		payload[i] = (char)(i * 7);
	link_up();
	open_all(n);
	for (unsigned i = 0; i < n; i++)
		fill(&conns[i]);
	run(n, ms / 4);
	snprintf(name, sizeof name, "tcp-%u", n);
	t = run(n, ms);
	peer_report_bulk("lwip", name, received, t);
	if (lost != 0 || failed != 0) {
		fprintf(stderr, "lwip-tcp: %lu frames lost, %u connections failed\n", lost, failed);
		return 1;
	}
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_xdp.c - the AF_XDP driver against a packet socket at the other end of a veth.
 *
 * Promises: frames pass both ways whole, copied or lent, in chains or not; a lent
 * frame may be kept, and even outlive the device; checksums that a sender left to
 * its device are known for what they are; a program of somebody else's stays where
 * it is; every way in which the interface cannot be had is one clear sentence.
 * Runs in a network namespace of its own; without root, or AF_XDP, only the
 * sentences are tested.
 */
#include "runtime/base/xk_param_value.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/protocols/proto_fixture.h"
#include "tests/support/xk_test.h"

#ifndef XK_XDP_MISSING
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/if_link.h>
#include "drivers/xdp/xdp_priv.h"
#endif

extern const struct xk_proto xk_proto_xdp, xk_proto_eth, xk_proto_arp, xk_proto_ip, xk_proto_udp;

#define OUR_TYPE 0x88b5          /* for local experiments */
#define PARAMS   "ifname=xkx0; mode=generic; "

static struct pf f;
static struct xk_sess *s[2];
static const char *missing = "needs root";

static bool skip(void)
{
	if (missing != NULL)
		xk_test_skip(missing);
	return missing != NULL;
}

static void up(unsigned nvps, const char *params)
{
	const struct pf_spec g[] = {
		{ &xk_proto_xdp, "d", NULL, params }, { &pf_upper, "u", "d", "enable=false" },
		{ NULL, NULL, NULL, NULL } };
	struct xk_parts ps;

	pf_up(&f, nvps, g);
	xk_log_set(&pf_node(&f, "d")->log, 0);
	xk_parts_init(&ps, 0);
	for (unsigned vp = 0; vp < nvps; vp++)
		s[vp] = pf_open(&f, "u", vp, &ps, NULL);
}

static void down(void)
{
	for (unsigned vp = 0; vp < f.g->vps->nvps; vp++)
		pf_close(&f, vp, s[vp]);
	pf_down(&f);
}

static int packet_socket_at(const char *ifname, uint16_t type)
{
	struct sockaddr_ll a = { .sll_family = AF_PACKET, .sll_protocol = htons(type) };
	struct timeval wait = { .tv_sec = 20 };
	int fd = socket(AF_PACKET, SOCK_RAW, htons(type));

	a.sll_ifindex = (int)if_nametoindex(ifname);
	CU_ASSERT_FATAL(fd >= 0 && a.sll_ifindex != 0);
	CU_ASSERT_EQUAL_FATAL(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
	return fd;
}

static int packet_socket(uint16_t type) { return packet_socket_at("xkx1", type); }

static void fill(uint8_t *b, uint32_t n, uint32_t seed)
{
	for (uint32_t i = 14; i < n; i++)
		b[i] = (uint8_t)(i * 3 + seed);
	memcpy(b, ((uint8_t[]){ 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 9, OUR_TYPE >> 8, OUR_TYPE & 255 }), 14);
}

/* The kernel may be slow to pass a frame on; no clock decides but its patience. */
static bool wait_for(unsigned n)
{
	const struct timespec nap = { .tv_nsec = 2000000 };

	for (unsigned i = 0; i < 10000; i++) {
		pf_settle(&f);
		if (pf_ngot(&f, "u") >= n)
			return true;
		nanosleep(&nap, NULL);
	}
	return false;
}

/* ---- frames ------------------------------------------------------------------------ */

static void frames_reach_the_kernel_whole(void)
{
	uint8_t b[1600], got[1600];
	int fd;

	if (skip())
		return;
	up(2, PARAMS);
	fd = packet_socket(OUR_TYPE);
	for (uint32_t len = 60; len <= 1514; len += 103) {
		unsigned vp = len & 1;

		fill(b, len, len);
		pf_push(&f, vp, s[vp], b, len);
		CU_ASSERT_EQUAL_FATAL(recv(fd, got, sizeof got, 0), (ssize_t)len);
		CU_ASSERT_EQUAL(memcmp(got, b, len), 0);
	}
	fill(b, 30, 1);                                  /* a short one is padded with zeros */
	memset(b + 30, 0, 30);
	pf_push(&f, 0, s[0], b, 30);
	CU_ASSERT_EQUAL_FATAL(recv(fd, got, sizeof got, 0), 60);
	CU_ASSERT_EQUAL(memcmp(got, b, 60), 0);
	CU_ASSERT_EQUAL(pf_drops(&f, "d", NULL), 0);
	close(fd);
	down();
}

static void a_chain_reaches_the_kernel_as_one_frame(void)
{
	uint8_t b[1000], got[1600];
	struct xk_msg *m, *tail;
	int fd;

	if (skip())
		return;
	up(1, PARAMS);
	fd = packet_socket(OUR_TYPE);
	fill(b, sizeof b, 1);
	pf_enter(&f, 0);
	m = pf_msg(b, sizeof b);
	tail = xk_msg_split(m, 400);
	xk_msg_join(m, tail);
	tail = xk_msg_share(m);                          /* shared, too */
	xk_push(s[0], m);
	xk_msg_free(tail);
	pf_leave(&f, 0);
	pf_settle(&f);
	CU_ASSERT_EQUAL_FATAL(recv(fd, got, sizeof got, 0), (ssize_t)sizeof b);
	CU_ASSERT_EQUAL(memcmp(got, b, sizeof b), 0);
	close(fd);
	down();
}

static void more_frames_than_the_ring_holds_are_sent_in_order(void)
{
	uint8_t b[100], got[200];
	unsigned n = xk_test_rounds(300);
	int fd;

	if (skip())
		return;
	up(2, PARAMS "tx_ring=32");
	fd = packet_socket(OUR_TYPE);
	for (unsigned i = 0; i < n; i++) {
		fill(b, sizeof b, i);
		pf_push(&f, 1, s[1], b, sizeof b);
		CU_ASSERT_EQUAL_FATAL(recv(fd, got, sizeof got, 0), (ssize_t)sizeof b);
		CU_ASSERT_EQUAL(got[20], b[20]);
	}
	CU_ASSERT_EQUAL(pf_count(&f, "d", "written"), n);
	CU_ASSERT_EQUAL(pf_drops(&f, "d", NULL), 0);
	close(fd);
	down();
}

/* Of TCP over IPv4 with 7010 bytes behind it. */
static const uint8_t tcp_head[54] = {
	2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 9, 8, 0, 0x45, 0, 7050 >> 8, 7050 & 255, 0, 1, 0x40, 0, 64, 6, 0, 0,
	10, 9, 0, 2, 10, 9, 0, 1, 0x12, 0x34, 0, 7, 0, 0, 0, 1, 0, 0, 0, 1, 0x50, 0x10, 1, 0, 0, 0, 0, 0 };

static void a_super_segment_leaves_as_its_frames(void)
{
	static uint8_t b[9000], got[1600];
	uint32_t longest = 0;
	struct xk_msg *m;
	int fd;

	if (skip())
		return;
	up(1, PARAMS "tx_ring=32");
	CU_ASSERT(xk_control(pf_rep(&f, "d", 0), XK_CTL_GETMAXSUPER, &longest, sizeof longest) > 0);
	CU_ASSERT_EQUAL(longest, 14 + 8 * 1500);
	fd = packet_socket(0x0800);
	fill(b, sizeof b, 3);
	memcpy(b, tcp_head, sizeof tcp_head);
	for (unsigned lies = 0; lies < 2; lies++) {
		pf_enter(&f, 0);
		m = pf_msg(b, 54 + 7 * 1000 + 10);
		m->flags |= XK_MSG_SUPER | XK_MSG_PARTIAL;
		m->u.cut.seg = lies ? 1461 : 1000;       /* longer than the MTU */
		xk_push(s[0], m);
		pf_leave(&f, 0);
		pf_settle(&f);
	}
	for (unsigned i = 0; i < 8; i++) {
		uint32_t n = i < 7 ? 1000 : 10;

		CU_ASSERT_EQUAL_FATAL(recv(fd, got, sizeof got, 0), (ssize_t)(54 + n));
		CU_ASSERT_EQUAL(memcmp(got + 54, b + 54 + i * 1000, n), 0);
	}
	CU_ASSERT_EQUAL(pf_count(&f, "d", "written"), 8);
	CU_ASSERT_EQUAL(pf_count(&f, "d", "super_segments_cut"), 1);
	CU_ASSERT_EQUAL(pf_drops(&f, "d", "bad_super_segment"), 1);
	close(fd);
	down();
}

/* As the kernel shows it between a frame's way back and its place's. */
static void a_full_send_ring_is_a_counted_drop(void)
{
#ifndef XK_XDP_MISSING
	uint8_t b[100], got[200];
	struct xdp_port *p;
	uint32_t *kernels, stale;
	int fd;

	if (skip())
		return;
	up(1, PARAMS "tx_ring=32");
	fd = packet_socket(OUR_TYPE);
	p = xdp_port(*(struct xdp_dev **)pf_node(&f, "d")->state, 0, 0);
	fill(b, sizeof b, 1);
	for (unsigned i = 0; i < 40; i++) {
		pf_push(&f, 0, s[0], b, sizeof b);
		CU_ASSERT_EQUAL_FATAL(recv(fd, got, sizeof got, 0), (ssize_t)sizeof b);
	}
	kernels = p->tx.consumer;
	stale = p->tx.cached_prod - p->tx.size;
	p->tx.consumer = &stale;
	p->tx.cached_cons = p->tx.cached_prod;
	for (unsigned i = 0; i < 40; i++)
		pf_push(&f, 0, s[0], b, sizeof b);
	CU_ASSERT_EQUAL(pf_drops(&f, "d", "queue_full"), 40);
	p->tx.consumer = kernels;
	for (unsigned i = 0; i < 40; i++) {
		pf_push(&f, 0, s[0], b, sizeof b);
		CU_ASSERT_EQUAL_FATAL(recv(fd, got, sizeof got, 0), (ssize_t)sizeof b);
	}
	CU_ASSERT_EQUAL(pf_count(&f, "d", "written"), 80);
	CU_ASSERT_EQUAL(pf_drops(&f, "d", NULL), 40);
	close(fd);
	down();
#else
	(void)skip();
#endif
}

static void frames_from_the_kernel_reach_the_graph_whole(void)
{
	static const char *const params[] = { PARAMS "lend=0", PARAMS "lend=64KiB", PARAMS, "ifname=xkx0; mode=native" };
	uint8_t b[1514];
	int fd;

	if (skip())
		return;
	for (unsigned k = 0; k < 4; k++) {
		unsigned n = 0, lent = 0;

		up(2, params[k]);
		fd = packet_socket(OUR_TYPE);
		for (uint32_t len = 60; len <= 1514; len += 97) {
			fill(b, len, len);
			CU_ASSERT_EQUAL(send(fd, b, len, 0), (ssize_t)len);
			CU_ASSERT_FATAL(wait_for(++n));
			CU_ASSERT_EQUAL_FATAL(pf_got(&f, "u", n - 1)->len, len);
			CU_ASSERT_EQUAL(memcmp(pf_got(&f, "u", n - 1)->bytes, b, len), 0);
			lent += k == 0 || (k != 1 && len >= 1024);
		}
		CU_ASSERT_EQUAL(pf_count(&f, "d", "read"), n);
		CU_ASSERT_EQUAL(pf_count(&f, "d", "lent"), lent);
		close(fd);
		down();
	}
}

static void the_frames_serve_again_and_again(void)
{
	unsigned n = xk_test_rounds(500);
	uint8_t b[1200];
	int fd;

	if (skip())
		return;
	up(2, PARAMS "frames=64; rx_ring=64; lend=0");
	fd = packet_socket(OUR_TYPE);
	for (unsigned i = 0; i < n; i++) {
		fill(b, sizeof b, i);
		CU_ASSERT_EQUAL(send(fd, b, sizeof b, 0), (ssize_t)sizeof b);
		CU_ASSERT_FATAL(wait_for(i + 1));
		CU_ASSERT_EQUAL(pf_got(&f, "u", i)->bytes[20], b[20]);
	}
	CU_ASSERT_EQUAL(pf_count(&f, "d", "kernel_dropped"), 0);
	close(fd);
	down();
}

static struct xk_msg *kept[256];
static unsigned nkept;

static void keep(struct xk_rep *r, struct xk_sess *lls, struct xk_msg *m)
{
	(void)r;
	(void)lls;
	if (nkept < XK_ARRAY_LEN(kept))
		kept[nkept++] = xk_msg_share(m);
}

static void messages_that_are_kept_do_not_stop_the_device(void)
{
	uint8_t b[1200];
	int fd;

	if (skip())
		return;
	nkept = 0;
	up(1, PARAMS "frames=64; rx_ring=64; lend=0");
	pf_upper_of(&f, "u")->on_msg = keep;
	fd = packet_socket(OUR_TYPE);
	for (unsigned i = 0; i < 200; i++) {
		fill(b, sizeof b, i);
		CU_ASSERT_EQUAL(send(fd, b, sizeof b, 0), (ssize_t)sizeof b);
		CU_ASSERT_FATAL(wait_for(i + 1));
	}
	CU_ASSERT_EQUAL_FATAL(nkept, 200);
	CU_ASSERT(pf_count(&f, "d", "lent") >= 32 && pf_count(&f, "d", "lent") < 64);
	pf_enter(&f, 0);
	for (unsigned i = 0; i < 200; i++) {
		fill(b, sizeof b, i);
		CU_ASSERT(kept[i] != NULL && memcmp(kept[i]->data, b, sizeof b) == 0);
		xk_msg_free(kept[i]);
	}
	pf_leave(&f, 0);
	close(fd);
	down();
}

/* Deferred when the graph is taken down: the message is freed after the device. */
static void defer(struct xk_rep *r, struct xk_sess *lls, struct xk_msg *m)
{
	struct xk_msg *x = xk_msg_share(m);

	(void)lls;
	if (x != NULL && nkept++ < 3)
		xk_defer(r->down[0], x);
	else if (x != NULL)
		xk_msg_free(x);
}

static void a_lent_frame_may_outlive_the_device(void)
{
	uint8_t b[1200];
	int fd;

	if (skip())
		return;
	nkept = 0;
	up(1, PARAMS "lend=0");
	fd = packet_socket(OUR_TYPE);
	fill(b, sizeof b, 1);
	CU_ASSERT_EQUAL(send(fd, b, sizeof b, 0), (ssize_t)sizeof b);
	CU_ASSERT_FATAL(wait_for(1));
	pf_upper_of(&f, "u")->on_msg = defer;
	CU_ASSERT_EQUAL(send(fd, b, sizeof b, 0), (ssize_t)sizeof b);
	for (unsigned i = 0; i < 100000 && nkept == 0; i++) {
		pf_enter(&f, 0);
		xk_vp_unit(f.g->vps->vp[0], 1);
		pf_leave(&f, 0);
	}
	CU_ASSERT_EQUAL(nkept, 1);
	close(fd);
	down();                                          /* and nothing has leaked */
}

/* ---- several queues ----------------------------------------------------------------- */

#ifndef XK_XDP_MISSING
#define FLOWS 96u

static void udp_up(const char *params)
{
	const struct pf_spec g[] = {
		{ &xk_proto_xdp, "d", NULL, params }, { &xk_proto_eth, "eth", "d", NULL }, { &xk_proto_arp, "arp", "eth", NULL },
		{ &xk_proto_ip, "ip", "arp", "addr=10.9.0.2/24" }, { &xk_proto_udp, "udp", "ip", NULL },
		{ &pf_upper, "u", "udp", "enable=false" }, { NULL, NULL, NULL, NULL } };
	struct xk_parts ps;

	pf_up(&f, 3, g);
	xk_parts_init(&ps, 1);
	xk_part_push_port(&ps.p[0], 7);
	CU_ASSERT_EQUAL_FATAL(xk_open_enable(pf_node(&f, "u"), pf_node(&f, "u"), pf_node(&f, "udp"), &ps), XK_OK);
}

static void udp_down(void)
{
	xk_open_disable_all(pf_node(&f, "u"), pf_node(&f, "udp"));
	pf_down(&f);
}

static uint16_t sum_of(const uint8_t *p, unsigned n)
{
	uint32_t sum = 0;

	for (unsigned i = 0; i < n; i += 2)
		sum += (uint32_t)p[i] << 8 | p[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~((sum & 0xffff) + (sum >> 16));
}

/* A datagram of each of so many connections, without a checksum. */
static void send_flows(int fd)
{
	static const uint8_t head[] = {
		2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 9, 8, 0,
		0x45, 0, 0, 36, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 9, 0, 1, 10, 9, 0, 2, 0, 0, 0, 7, 0, 16, 0, 0 };

	for (unsigned i = 0; i < FLOWS; i++) {
		uint8_t b[60] = { 0 };

		memcpy(b, head, sizeof head);
		b[34] = (uint8_t)(20 + i / 64);
		b[35] = (uint8_t)(i * 3);
		b[24] = (uint8_t)(sum_of(head + 14, 20) >> 8);
		b[25] = (uint8_t)sum_of(head + 14, 20);
		CU_ASSERT_EQUAL(send(fd, b, sizeof b, 0), (ssize_t)sizeof b);
	}
}

/* Frames that the sockets at queue q (by the driver's count) were given. */
static unsigned at_queue(unsigned q)
{
	struct xdp_dev *d = *(struct xdp_dev **)pf_node(&f, "d")->state;
	unsigned n = 0;

	for (unsigned vp = 0; vp < d->nvps; vp++)
		n += xdp_port(d, q, vp)->rx.cached_cons;
	return n;
}

static uint64_t hand_overs(void)
{
	uint64_t n = 0;

	for (unsigned vp = 0; vp < f.g->vps->nvps; vp++)
		n += f.g->vps->vp[vp]->handed_over;
	return n;
}

/* The device spreads connections over its queues; each comes to its VP's socket there. */
static void queues_of(const char *mode, unsigned at[2])
{
	char params[128];
	int fd;

	for (unsigned first = 0; first < 2; first++) {
		snprintf(params, sizeof params, "ifname=xkq0; mac=02:00:00:00:00:01; mode=%s; queue=%u", mode, first);
		udp_up(params);
		fd = packet_socket_at("xkq1", 0x0800);  /* the kernel spreads by what it knows */
		send_flows(fd);
		CU_ASSERT_FATAL(wait_for(first == 0 ? FLOWS : at[1]));
		CU_ASSERT_EQUAL(pf_count(&f, "d", "read"), first == 0 ? FLOWS : at[1]);
		CU_ASSERT_EQUAL(hand_overs(), 0);
		for (unsigned vp = 0; vp < 3 && first == 0; vp++)
			CU_ASSERT(pf_rep(&f, "d", vp)->npop != 0);
		if (first == 0)
			at[0] = at_queue(0), at[1] = at_queue(1);
		else
			CU_ASSERT_EQUAL(at_queue(0), at[1]);
		close(fd);
		udp_down();
	}
}
#endif

static void frames_of_every_queue_come_to_their_vps(void)
{
#ifndef XK_XDP_MISSING
	static const char *const all[] = { "generic", "native" };
	unsigned at[2] = { 0, 0 };

	if (skip())
		return;
	if (system("ip link add xkq0 numrxqueues 2 numtxqueues 2 type veth peer name xkq1 numrxqueues 2 numtxqueues 2 && "
		   "ip link set xkq0 up && ip link set xkq1 up") != 0) {
		xk_test_skip("needs veth interfaces with two queues");
		return;
	}
	for (unsigned i = 0; i < 2; i++) {
		queues_of(all[i], at);
		printf("# %s: %u frames at one queue, %u at the other\n", all[i], at[0], at[1]);
		CU_ASSERT_EQUAL(at[0] + at[1], FLOWS);
	}
	CU_ASSERT(at[0] != 0 && at[1] != 0);
	CU_ASSERT_EQUAL(system("ip link del xkq0"), 0);
#else
	(void)skip();
#endif
}

/* ---- checksums left to the device -------------------------------------------------- */

static uint16_t fold(uint32_t x)
{
	x = (x & 0xffff) + (x >> 16);
	return (uint16_t)((x & 0xffff) + (x >> 16));
}

/* UDP of 8 bytes from 10.9.0.1 to 10.9.0.2 with that checksum field. */
static void datagram(uint8_t b[60], uint16_t field)
{
	static const uint8_t head[] = {
		2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 9, 8, 0,
		0x45, 0, 0, 36, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 9, 0, 1, 10, 9, 0, 2, 0x12, 0x34, 0, 7, 0, 16 };

	memset(b, 7, 60);
	memcpy(b, head, sizeof head);
	b[40] = (uint8_t)(field >> 8);
	b[41] = (uint8_t)field;
}

static void checksums_left_to_the_device_are_known(void)
{
	static const char *const params[] = { PARAMS, PARAMS "partial=accept", PARAMS "partial=drop", PARAMS "partial=off" };
	const uint16_t pseudo = fold(0x0a09 + 1 + 0x0a09 + 2 + 17 + 16);
	uint8_t b[60];
	int fd;

	if (skip())
		return;
	for (unsigned k = 0; k < 4; k++) {
		up(1, params[k]);
		fd = packet_socket(OUR_TYPE);
		datagram(b, pseudo);
		CU_ASSERT_EQUAL(send(fd, b, sizeof b, 0), (ssize_t)sizeof b);
		datagram(b, (uint16_t)(pseudo + 1));
		CU_ASSERT_EQUAL(send(fd, b, sizeof b, 0), (ssize_t)sizeof b);
		CU_ASSERT_FATAL(wait_for(k == 2 ? 1 : 2));
		CU_ASSERT_EQUAL(pf_drops(&f, "d", "partial_checksum"), k == 2);
		CU_ASSERT_EQUAL(pf_count(&f, "d", "partial_accepted"), k < 2);
		if (k != 2)
			CU_ASSERT_EQUAL((pf_got(&f, "u", 0)->flags & XK_MSG_CSUM_OK) != 0, k < 2);
		CU_ASSERT_EQUAL(pf_got(&f, "u", k == 2 ? 0 : 1)->flags & XK_MSG_CSUM_OK, 0);
		close(fd);
		down();
	}
}

/* ---- the interface ------------------------------------------------------------------------ */

static void drops_what_the_interface_cannot_take(void)
{
	static uint8_t b[1515];

	if (skip())
		return;
	up(1, PARAMS);
	fill(b, sizeof b, 1);
	pf_push(&f, 0, s[0], b, sizeof b);
	CU_ASSERT_EQUAL(pf_drops(&f, "d", "too_long"), 1);
	CU_ASSERT_EQUAL(system("ip link set xkx0 down"), 0);
	pf_run(&f, XK_SEC);
	pf_push(&f, 0, s[0], b, 100);
	CU_ASSERT_EQUAL(pf_drops(&f, "d", "interface_down"), 1);
	CU_ASSERT_EQUAL(system("ip link set xkx0 up"), 0);
	pf_run(&f, XK_SEC);
	pf_push(&f, 0, s[0], b, 100);
	CU_ASSERT_EQUAL(pf_drops(&f, "d", "interface_down"), 1);
	CU_ASSERT_EQUAL(pf_count(&f, "d", "written"), 1);
	CU_ASSERT_EQUAL(pf_count(&f, "d", "device_errors"), 0);
	CU_ASSERT_EQUAL(system("ip link del xkx0 && ip link add xkx0 type veth peer name xkx1 && ip link set xkx1 up"), 0);
	pf_run(&f, XK_SEC);
	pf_push(&f, 0, s[0], b, 100);
	CU_ASSERT_EQUAL(pf_drops(&f, "d", "device_gone"), 1);
	CU_ASSERT_EQUAL(pf_count(&f, "d", "device_errors"), 1);
	down();
}

static bool refused(const char *params, const char *word)
{
	const struct pf_spec g[] = { { &xk_proto_xdp, "d", NULL, params }, { NULL, NULL, NULL, NULL } };
	const char *file, *text;
	bool said = false;
	int line, col;

	if (!pf_up_try(&f, 1, g) && xk_errs_count(f.errs) == 1) {
		text = xk_errs_text(f.errs, 0, &file, &line, &col);
		said = strstr(text, word) != NULL;
		if (!said)
			fprintf(stderr, "# %s\n", text);
	}
	pf_down(&f);
	return said;
}

static void a_program_of_somebody_else_stays(void)
{
#ifndef XK_XDP_MISSING
	static const struct bpf_insn pass[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = XDP_PASS }, { .code = BPF_JMP | BPF_EXIT } };
	LIBBPF_OPTS(bpf_xdp_query_opts, q);
	int fd, i;

	if (skip())
		return;
	fd = bpf_prog_load(BPF_PROG_TYPE_XDP, "theirs", "BSD", pass, 2, NULL);
	i = (int)if_nametoindex("xkx0");
	CU_ASSERT_FATAL(fd >= 0 && i > 0);
	for (unsigned native = 0; native < 2; native++) {
		CU_ASSERT_EQUAL_FATAL(bpf_xdp_attach(i, fd, native ? XDP_FLAGS_DRV_MODE : XDP_FLAGS_SKB_MODE, NULL), 0);
		CU_ASSERT(refused("ifname=xkx0", "has an XDP program already ('theirs'"));
		CU_ASSERT_EQUAL(bpf_xdp_query(i, 0, &q), 0);
		CU_ASSERT_NOT_EQUAL(q.prog_id, 0);
		CU_ASSERT_EQUAL(bpf_xdp_detach(i, native ? XDP_FLAGS_DRV_MODE : XDP_FLAGS_SKB_MODE, NULL), 0);
	}
	close(fd);
	up(1, PARAMS);
	CU_ASSERT_EQUAL(bpf_xdp_query(i, 0, &q), 0);
	CU_ASSERT_NOT_EQUAL(q.prog_id, 0);
	down();
	CU_ASSERT_EQUAL(bpf_xdp_query(i, 0, &q), 0);
	CU_ASSERT_EQUAL(q.prog_id, 0);                   /* ours has gone with the graph */
#else
	(void)skip();
#endif
}

/* Somebody takes our program away while frames come: they go on to the kernel, what is sent is, and it is told. */
static void without_its_program_it_still_sends_and_says_so(void)
{
#ifndef XK_XDP_MISSING
	uint8_t b[100], got[200];
	int fd;

	if (skip())
		return;
	up(1, PARAMS);
	fd = packet_socket(OUR_TYPE);
	fill(b, sizeof b, 1);
	CU_ASSERT_EQUAL(send(fd, b, sizeof b, 0), (ssize_t)sizeof b);
	CU_ASSERT_FATAL(wait_for(1));
	CU_ASSERT_EQUAL(bpf_link_detach((*(struct xdp_dev **)pf_node(&f, "d")->state)->link_fd), 0);
	for (unsigned i = 0; i < 40; i++)
		CU_ASSERT_EQUAL(send(fd, b, sizeof b, 0), (ssize_t)sizeof b);
	pf_push(&f, 0, s[0], b, sizeof b);
	CU_ASSERT_EQUAL_FATAL(recv(fd, got, sizeof got, 0), (ssize_t)sizeof b);
	pf_run(&f, XK_SEC);
	CU_ASSERT_EQUAL(pf_ngot(&f, "u"), 1);
	CU_ASSERT_EQUAL(pf_count(&f, "d", "device_errors"), 1);
	close(fd);
	down();
#else
	(void)skip();
#endif
}

static void what_cannot_be_had_is_one_sentence(void)
{
#ifdef XK_XDP_MISSING
	CU_ASSERT(refused("ifname=xkx0", "built without AF_XDP: install the package lib"));
#else
	CU_ASSERT(refused("ifname=nowhere0", "there is no interface nowhere0"));
	CU_ASSERT(refused("ifname=nowhere0; netns=nowhere", "no network namespace nowhere"));
	if (skip())
		return;
	CU_ASSERT(refused("ifname=xkx0; crc=true", "interface 'xkx0' is no hardware (its driver: veth)"));
	CU_ASSERT(refused("ifname=xkx0; queue=99", "there is no queue 99"));
	CU_ASSERT(refused("ifname=xkx0; queues=99", "from queue 0 on, not 99"));
	CU_ASSERT(refused("ifname=xkx0; mode=zerocopy", "cannot do without copies"));
#endif
}

static void without_privilege_it_says_what_is_needed(void)
{
	int status = 0;
	pid_t pid;

	if (skip())
		return;
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		if (setresuid(65534, 65534, 65534) != 0)
			_exit(3);
		_exit(refused("ifname=xkx0", "needs CAP_NET_ADMIN, CAP_NET_RAW and CAP_BPF (run as root)") ? 0 : 1);
	}
	CU_ASSERT_FATAL(pid > 0);
	CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
	CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void checks_rules_between_parameters(void)
{
	static const char *const bad[][2] = {
		{ "ifname", "a-name-of-17-char" }, { "ifname", "" }, { "frames", "1000" }, { "rx_ring", "33" },
		{ "tx_ring", "100" }, { "mac", "01:00:00:00:00:01" } };
	char why[256];

	for (unsigned i = 0; i < XK_ARRAY_LEN(bad); i++) {
		_Alignas(16) unsigned char conf[256] = { 0 };

		CU_ASSERT_FATAL(xk_proto_xdp.conf_size <= sizeof conf);
		xk_param_defaults(xk_proto_xdp.params, conf, why, sizeof why);
		xk_param_set(xk_param_find(xk_proto_xdp.params, "ifname"), conf, "xkx0", false, why, sizeof why);
		CU_ASSERT_EQUAL(xk_proto_xdp.check(conf, why, sizeof why), XK_OK);
		xk_param_set(xk_param_find(xk_proto_xdp.params, bad[i][0]), conf, bad[i][1], false, why, sizeof why);
		CU_ASSERT(xk_proto_xdp.check(conf, why, sizeof why) < 0);
		CU_ASSERT_PTR_NOT_NULL(strstr(why, bad[i][0]));
		xk_param_release(xk_proto_xdp.params, conf);
	}
}

static CU_TestInfo tests[] = {
	{ "frames reach the kernel whole", frames_reach_the_kernel_whole },
	{ "a chain reaches the kernel as one frame", a_chain_reaches_the_kernel_as_one_frame },
	{ "more frames than the ring holds are sent in order", more_frames_than_the_ring_holds_are_sent_in_order },
	{ "a super-segment leaves as its frames", a_super_segment_leaves_as_its_frames },
	{ "a full send ring is a counted drop", a_full_send_ring_is_a_counted_drop },
	{ "frames from the kernel reach the graph whole", frames_from_the_kernel_reach_the_graph_whole },
	{ "the frames serve again and again", the_frames_serve_again_and_again },
	{ "messages that are kept do not stop the device", messages_that_are_kept_do_not_stop_the_device },
	{ "a lent frame may outlive the device", a_lent_frame_may_outlive_the_device },
	{ "frames of every queue come to their VPs", frames_of_every_queue_come_to_their_vps },
	{ "checksums left to the device are known", checksums_left_to_the_device_are_known },
	{ "drops what the interface cannot take", drops_what_the_interface_cannot_take },
	{ "a program of somebody else stays", a_program_of_somebody_else_stays },
	{ "without its program it still sends, and says so", without_its_program_it_still_sends_and_says_so },
	{ "what cannot be had is one sentence", what_cannot_be_had_is_one_sentence },
	{ "without privilege it says what is needed", without_privilege_it_says_what_is_needed },
	{ "checks rules between parameters", checks_rules_between_parameters },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = { { .pName = "xdp", .pTests = tests }, CU_SUITE_INFO_NULL };

/* IPv6 sends by itself when an interface comes up, at a moment of its own. */
static XK_UNUSED void without_ipv6(void)
{
	static const char *const where[] = { "all", "default" };
	char path[64];

	for (unsigned i = 0; i < 2; i++) {
		FILE *p;

		snprintf(path, sizeof path, "/proc/sys/net/ipv6/conf/%s/disable_ipv6", where[i]);
		p = fopen(path, "w");
		if (p != NULL) {
			fputs("1\n", p);
			fclose(p);
		}
	}
}

static const char *prepare(void)
{
#ifdef XK_XDP_MISSING
	return "needs libbpf-dev and libxdp-dev";
#else
	int fd;

	if (geteuid() != 0 || unshare(CLONE_NEWNET) != 0)
		return "needs root";
	fd = socket(AF_XDP, SOCK_RAW, 0);
	if (fd < 0)
		return "needs a kernel with AF_XDP sockets";
	close(fd);
	without_ipv6();
	if (system("ip link add xkx0 type veth peer name xkx1 2>/dev/null && ip link set xkx0 up && ip link set xkx1 up") != 0)
		return "needs ip and veth interfaces";
	return NULL;
#endif
}

int main(void)
{
	missing = prepare();
	return xk_test_main(suites);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_packet.c - the packet driver on one end of a veth pair, against a packet
 * socket on the other.
 *
 * Promises: frames pass both ways whole and in order, in chains or not, over
 * rings of either version; what the kernel says of a frame is honoured; what is
 * not for us is counted; an interface that goes down or away harms nothing; each
 * way in which it cannot be had is one clear sentence.
 * Runs in a network namespace of its own; without root only the sentences are
 * tested.
 */
#include "runtime/base/xk_param_value.h"
#include "runtime/upi/xk_capture.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "drivers/packet/packet_priv.h"
#include "tests/protocols/proto_fixture.h"
#include "tests/support/xk_test.h"

extern const struct xk_proto xk_proto_packet;

#define OUR_TYPE 0x88b5          /* for local experiments */
#define OURS     "xkq1"          /* the driver's end */
#define THEIRS   "xkq0"

static struct pf f;
static struct xk_sess *s[4];
static bool privileged;

static void up(unsigned nvps, const char *params)
{
	const struct pf_spec g[] = {
		{ &xk_proto_packet, "d", NULL, params }, { &pf_upper, "u", "d", "enable=false" },
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

static bool sh(const char *command)
{
	return system(command) == 0;
}

/* A fresh pair of interfaces, both up. */
static bool pair(void)
{
	(void)sh("ip link del " THEIRS " 2>/dev/null");
	return sh("ip link add " THEIRS " mtu 9000 type veth peer name " OURS " mtu 9000 && "
		  "ip link set " THEIRS " up && ip link set " OURS " up");
}

static bool skip(void)
{
	if (!privileged)
		xk_test_skip("needs root, ip and veth interfaces");
	else
		CU_ASSERT_FATAL(pair());
	return !privileged;
}

/* A socket that sees frames of OUR_TYPE on an interface; vnet: it sends IP with headers for a card. */
static int packet_socket(const char *ifname, bool vnet)
{
	uint16_t type = htons(vnet ? 0x0800 : OUR_TYPE);
	struct sockaddr_ll a = { .sll_family = AF_PACKET, .sll_protocol = type };
	struct timeval wait = { .tv_sec = 20 };
	int fd = socket(AF_PACKET, SOCK_RAW, type), one = 1;

	a.sll_ifindex = (int)if_nametoindex(ifname);
	CU_ASSERT_FATAL(fd >= 0 && a.sll_ifindex != 0);
	CU_ASSERT_EQUAL_FATAL(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
	if (vnet)
		CU_ASSERT_EQUAL_FATAL(setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &one, sizeof one), 0);
	return fd;
}

static void fill(uint8_t *b, uint32_t n, uint32_t seed)
{
	for (uint32_t i = 14; i < n; i++)
		b[i] = (uint8_t)(i * 3 + seed);
	memcpy(b, ((uint8_t[]){ 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 9, OUR_TYPE >> 8, OUR_TYPE & 255 }), 14);
}

/* A TCP or UDP segment of n bytes in one IP datagram. */
static void fill_ip(uint8_t *b, uint32_t n, uint8_t proto)
{
	static const uint8_t ip[20] = { 0x45, 0, 0, 0, 0, 1, 0x40, 0, 64, 0, 0, 0, 10, 9, 0, 1, 10, 9, 0, 2 };

	fill(b, n, n);
	b[12] = 8;
	b[13] = 0;
	memcpy(b + 14, ip, 20);
	b[16] = (uint8_t)((n - 14) >> 8);
	b[17] = (uint8_t)(n - 14);
	b[23] = proto;
	b[46] = 0x50;                                    /* TCP: a header of 20 bytes */
	if (proto == 17) {
		b[38] = (uint8_t)((n - 34) >> 8);
		b[39] = (uint8_t)(n - 34);
	}
}

/* Lets the graph run until it has got n messages, or much time has passed. */
static bool await(unsigned n)
{
	time_t end = time(NULL) + 20;

	do
		pf_settle(&f);
	while (pf_ngot(&f, "u") < n && time(NULL) < end);
	if (pf_ngot(&f, "u") != n)
		printf("# got %u of %u, read %llu\n", pf_ngot(&f, "u"), n, (unsigned long long)pf_count(&f, "d", "read"));
	return pf_ngot(&f, "u") == n;
}

/* The same until `counter` (or the drop) is n. */
static bool await_counter(const char *counter, bool is_drop, uint64_t n)
{
	time_t end = time(NULL) + 20;
	uint64_t have;

	do {
		pf_run(&f, 10 * XK_MS);
		have = is_drop ? pf_drops(&f, "d", counter) : pf_count(&f, "d", counter);
	} while (have < n && time(NULL) < end);
	return have == n;
}

static const struct pf_rec *last(void)
{
	return pf_got(&f, "u", pf_ngot(&f, "u") - 1);
}

/* ---- frames ------------------------------------------------------------------------ */

static void frames_reach_the_wire_whole(void)
{
	uint8_t b[1600], got[1600];
	int fd;

	if (skip())
		return;
	up(3, "ifname=" OURS "; queues=2");
	fd = packet_socket(THEIRS, false);
	for (uint32_t len = 14; len <= 1514; len += 100) {
		unsigned vp = len % 3;                   /* the last one has no socket of its own */

		fill(b, len, len);
		pf_push(&f, vp, s[vp], b, len);
		CU_ASSERT_EQUAL_FATAL(recv(fd, got, sizeof got, 0), (ssize_t)len);
		CU_ASSERT_EQUAL(memcmp(got, b, len), 0);
	}
	CU_ASSERT_EQUAL(pf_drops(&f, "d", NULL), 0);
	CU_ASSERT_EQUAL(pf_count(&f, "d", "written"), 16);
	close(fd);
	down();
}

static struct xk_msg *pieces(const uint8_t *b, uint32_t n, uint32_t of)
{
	struct xk_msg *m = pf_msg(b, of < n ? of : n);

	for (uint32_t at = of; at < n; at += of)
		xk_msg_join(m, pf_msg(b + at, n - at < of ? n - at : of));
	return m;
}

static void what_one_unit_sends_leaves_in_one_batch(void)
{
	uint8_t b[1000], got[1600];
	struct xk_msg *m, *copy;
	int fd;

	if (skip())
		return;
	up(1, "ifname=" OURS);
	fd = packet_socket(THEIRS, false);
	fill(b, sizeof b, 1);
	pf_enter(&f, 0);
	for (unsigned i = 0; i < 20; i++) {
		b[14] = (uint8_t)i;
		m = pieces(b, sizeof b, i % 2 ? 200 : 1000);
		copy = i % 3 == 0 ? xk_msg_share(m) : NULL;
		xk_push(s[0], m);
		if (copy != NULL)
			xk_msg_free(copy);
	}
	pf_leave(&f, 0);
	pf_settle(&f);
	for (unsigned i = 0; i < 20; i++) {
		b[14] = (uint8_t)i;
		CU_ASSERT_EQUAL_FATAL(recv(fd, got, sizeof got, 0), (ssize_t)sizeof b);
		CU_ASSERT_EQUAL(memcmp(got, b, sizeof b), 0);
	}
	CU_ASSERT_EQUAL(pf_count(&f, "d", "batches"), 1);
	close(fd);
	down();
}

static void a_batch_that_is_full_leaves_at_once(void)
{
	uint8_t b[600];
	struct xk_msg *m;

	if (skip())
		return;
	up(1, "ifname=" OURS);
	fill(b, sizeof b, 1);
	pf_enter(&f, 0);
	for (unsigned i = 0; i < 64; i++)
		xk_push(s[0], pf_msg(b, 60));
	CU_ASSERT_EQUAL(pf_count(&f, "d", "written"), 64);
	for (unsigned i = 0; i < 7; i++)
		xk_push(s[0], pieces(b, sizeof b, 12));          /* 50 pieces each */
	CU_ASSERT_EQUAL(pf_count(&f, "d", "written"), 64 + 6);
	m = pieces(b, sizeof b, 3);                              /* more than a system call takes */
	xk_push(s[0], m);
	CU_ASSERT_EQUAL(pf_drops(&f, "d", "too_many_pieces"), 1);
	pf_leave(&f, 0);
	pf_settle(&f);
	CU_ASSERT_EQUAL(pf_count(&f, "d", "written"), 64 + 7);
	down();
}

static void frames_from_the_wire_reach_the_graph_whole(void)
{
	static const char *const params[] = {
		"ifname=" OURS "; format=v2; mtu=1500", "ifname=" OURS "; mtu=1500",
		"ifname=" OURS "; format=v2; ring=64KiB", "ifname=" OURS "; mtu=9000" };
	static uint8_t b[9014];
	int fd;

	if (skip())
		return;
	for (unsigned k = 0; k < 4; k++) {
		uint32_t most = k >= 2 ? 9014 : 1514;

		up(2, params[k]);
		fd = packet_socket(THEIRS, false);
		for (uint32_t len = 14, n = 1; len <= most; len += k >= 2 ? 900 : 100, n++) {
			fill(b, len, len);
			CU_ASSERT_EQUAL(send(fd, b, len, 0), (ssize_t)len);
			CU_ASSERT_FATAL(await(n));
			CU_ASSERT_EQUAL_FATAL(last()->len, len);
			CU_ASSERT_EQUAL(memcmp(last()->bytes, b, len), 0);
			CU_ASSERT_EQUAL(last()->flags & XK_MSG_CSUM_OK, 0);
		}
		CU_ASSERT_EQUAL(pf_drops(&f, "d", NULL), 0);
		close(fd);
		down();
	}
}

static void a_burst_larger_than_a_unit_arrives_in_order(void)
{
	uint8_t b[100];
	int fd;

	if (skip())
		return;
	for (unsigned v = 0; v < 2; v++) {
		up(2, v ? "ifname=" OURS : "ifname=" OURS "; format=v2; mtu=1500");
		fd = packet_socket(THEIRS, false);
		for (unsigned i = 0; i < 200; i++) {
			fill(b, sizeof b, i);
			CU_ASSERT_EQUAL(send(fd, b, sizeof b, 0), (ssize_t)sizeof b);
		}
		CU_ASSERT_FATAL(await(200));
		for (unsigned i = 0; i < 200; i++)
			CU_ASSERT_EQUAL(pf_got(&f, "u", i)->bytes[14], (uint8_t)(14 * 3 + i));
		CU_ASSERT_EQUAL(pf_count(&f, "d", "read"), 200);
		close(fd);
		down();
	}
}

/* ---- what the kernel says of a frame --------------------------------------------------- */

/* Sends b with a header for the card. */
static bool send_vnet(int fd, struct virtio_net_hdr *h, uint8_t *b, uint32_t n)
{
	struct iovec v[2] = { { h, sizeof *h }, { b, n } };

	ssize_t sent = writev(fd, v, 2);

	if (sent < 0)
		printf("# %s\n", strerror(errno));
	return sent == (ssize_t)(sizeof *h + n);
}

static void a_checksum_left_to_the_card_needs_no_verdict(void)
{
	struct virtio_net_hdr h = { .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM, .csum_start = 34, .csum_offset = 16 };
	uint8_t b[200];
	int fd;

	if (skip())
		return;
	for (unsigned v = 0; v < 2; v++) {
		up(1, v ? "ifname=" OURS : "ifname=" OURS "; format=v2");
		fd = packet_socket(THEIRS, true);
		fill_ip(b, sizeof b, 6);
		CU_ASSERT(send_vnet(fd, &h, b, sizeof b));
		CU_ASSERT_FATAL(await(1));
		CU_ASSERT(last()->flags & XK_MSG_CSUM_OK);
		CU_ASSERT_EQUAL(pf_count(&f, "d", "vouched"), 1);
		CU_ASSERT(send_vnet(fd, &(struct virtio_net_hdr){ 0 }, b, sizeof b));
		CU_ASSERT_FATAL(await(2));
		CU_ASSERT_EQUAL(last()->flags & XK_MSG_CSUM_OK, 0);
		close(fd);
		down();
	}
}

static void segments_that_nobody_has_cut_are_taken_whole(void)
{
	struct virtio_net_hdr tcp = { .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM, .gso_type = VIRTIO_NET_HDR_GSO_TCPV4,
				      .hdr_len = 54, .gso_size = 1460, .csum_start = 34, .csum_offset = 16 };
	static uint8_t b[60000];
	int fd;

	if (skip())
		return;
	for (unsigned v = 0; v < 2; v++) {
		up(1, v ? "ifname=" OURS "; mtu=1500; offload=false" : "ifname=" OURS "; format=v2; mtu=1500; offload=false");
		fd = packet_socket(THEIRS, true);
		for (unsigned i = 0; i < 10; i++) {
			fill_ip(b, sizeof b, 6);
			CU_ASSERT_FATAL(send_vnet(fd, &tcp, b, sizeof b));
			CU_ASSERT_FATAL(await(i + 1));
			CU_ASSERT_EQUAL_FATAL(last()->len, sizeof b);
			CU_ASSERT_EQUAL(memcmp(last()->bytes, b, sizeof b), 0);
		}
		CU_ASSERT_EQUAL(pf_count(&f, "d", "long_frames"), 10);
		/* Longer than our link's, but no segments of TCP. */
		fill_ip(b, 5000, 17);
		CU_ASSERT_FATAL(send_vnet(fd, &(struct virtio_net_hdr){ 0 }, b, 5000));
		CU_ASSERT(await_counter("unsegmented", true, 1));
		/* And the next one is itself. */
		fill_ip(b, 30000, 6);
		CU_ASSERT_FATAL(send_vnet(fd, &tcp, b, 30000));
		CU_ASSERT_FATAL(await(11));
		CU_ASSERT(last()->len == 30000 && memcmp(last()->bytes, b, 30000) == 0);
		close(fd);
		down();
	}
}

/* ---- super-segments ---------------------------------------------------------------------- */

#define SEG 1000u                /* payload of a frame */

/* One of TCP or UDP, with a payload of n bytes. */
static uint32_t fill_super(uint8_t *b, uint32_t n, uint8_t proto)
{
	uint32_t len = n + (proto == 6 ? 54 : 42);

	fill_ip(b, len, proto);
	if (proto == 6)
		b[47] = 0x10;
	return len;
}

static uint32_t longest(void)
{
	uint32_t v = 1;

	CU_ASSERT(xk_control(pf_rep(&f, "d", 0), XK_CTL_GETMAXSUPER, &v, sizeof v) > 0);
	return v;
}

static void a_super_segment_leaves_as_one(void)
{
	static uint8_t b[65536], got[65600];
	struct virtio_net_hdr h;
	int fd;

	if (skip())
		return;
	up(1, "ifname=" OURS "; mtu=1500");
	CU_ASSERT_EQUAL(longest(), 65535 + 14);
	fd = packet_socket(THEIRS, true);
	for (unsigned i = 0; i < 6; i++) {
		uint8_t proto = i & 1 ? 17 : 6;
		uint32_t len = fill_super(b, i < 4 ? 8 * SEG + i : 64000, proto);

		pf_push_super(&f, s[0], b, len, SEG);
		CU_ASSERT_EQUAL_FATAL(recv(fd, got, sizeof got, 0), (ssize_t)(sizeof h + len));
		memcpy(&h, got, sizeof h);
		CU_ASSERT_EQUAL(h.gso_type, proto == 6 ? VIRTIO_NET_HDR_GSO_TCPV4 : 5);
		CU_ASSERT_EQUAL(h.gso_size, SEG);
		CU_ASSERT_EQUAL(h.csum_start, 34);
		CU_ASSERT_EQUAL(memcmp(got + sizeof h, b, len), 0);
	}
	CU_ASSERT_EQUAL(pf_count(&f, "d", "super_segments_written"), 6);
	CU_ASSERT_EQUAL(pf_count(&f, "d", "written"), 0);
	/* A plain one among them has a header that asks for nothing. */
	fill_ip(b, 100, 17);
	pf_push(&f, 0, s[0], b, 100);
	CU_ASSERT_EQUAL_FATAL(recv(fd, got, sizeof got, 0), (ssize_t)(sizeof h + 100));
	CU_ASSERT_EQUAL(got[1], 0);
	/* One that lies. */
	pf_push_super(&f, s[0], b, fill_super(b, 3000, 6) - 1, SEG);
	CU_ASSERT_EQUAL(pf_drops(&f, "d", "bad_super_segment"), 1);
	close(fd);
	down();
}

/* Where the kernel does not cut we do, and no frame is longer than the link's. */
static void without_offload_its_frames_leave(void)
{
	static uint8_t b[9000], got[9000];
	int fd;

	if (skip())
		return;
	up(1, "ifname=" OURS "; mtu=1500; offload=false");
	CU_ASSERT_EQUAL(longest(), 0);
	fd = packet_socket(THEIRS, true);
	pf_push_super(&f, s[0], b, fill_super(b, 7 * SEG + 10, 6), SEG);
	for (unsigned i = 0; i < 8; i++) {
		uint32_t n = i < 7 ? SEG : 10;

		CU_ASSERT_EQUAL_FATAL(recv(fd, got, sizeof got, 0), (ssize_t)(10 + 54 + n));
		CU_ASSERT_EQUAL(memcmp(got + 10 + 54, b + 54 + i * SEG, n), 0);
	}
	CU_ASSERT_EQUAL(pf_count(&f, "d", "written"), 8);
	/* Frames that would be longer than the link's. */
	fill_super(b, 4000, 6);
	pf_enter(&f, 0);
	{
		struct xk_msg *m = pf_msg(b, 4054);

		m->flags |= XK_MSG_SUPER | XK_MSG_PARTIAL;
		m->u.cut.seg = 1461;
		xk_push(s[0], m);
	}
	pf_leave(&f, 0);
	pf_settle(&f);
	CU_ASSERT_EQUAL(pf_drops(&f, "d", "bad_super_segment"), 1);
	close(fd);
	down();
}

static void look_fn(struct xk_capture *c, xk_ns now, const struct xk_msg *m, bool goes_down)
{
	(void)c;
	(void)now;
	CU_ASSERT_TRUE(goes_down || m->tot <= 1514);
}

static void trains_are_cut_for_who_wants_frames(void)
{
	struct virtio_net_hdr h = { .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM, .gso_size = SEG, .csum_start = 34 };
	static uint8_t b[60000];
	struct xk_capture look = { .fn = look_fn };
	uint32_t len;
	int fd;

	if (skip())
		return;
	for (unsigned v = 0; v < 16; v++) {
		uint8_t proto = v & 2 ? 17 : 6;
		bool takes_long = (v & 4) != 0, captured = (v & 8) != 0, whole = takes_long && !captured && proto == 6;

		up(1, v & 1 ? "ifname=" OURS "; mtu=1500" : "ifname=" OURS "; format=v2; mtu=1500");
		if (takes_long) {
			struct packet_rep *pr = pf_rep(&f, "d", 0)->state;

			pr->asked = pr->takes_long = true;
		}
		if (captured)
			xk_capture_attach(pf_node(&f, "d"), &look);
		fd = packet_socket(THEIRS, true);
		h.gso_type = proto == 6 ? VIRTIO_NET_HDR_GSO_TCPV4 : 5;
		h.csum_offset = proto == 6 ? 16 : 6;
		h.hdr_len = proto == 6 ? 54 : 42;
		for (unsigned k = 1; k < 4; k++) {
			unsigned before = pf_ngot(&f, "u"), n = whole ? 1 : k * 13 + 1;

			len = fill_super(b, k * 13 * SEG + 7, proto);
			CU_ASSERT_FATAL(send_vnet(fd, &h, b, len));
			CU_ASSERT_FATAL(await(before + n));
			for (unsigned i = 0; i < n; i++) {
				const struct pf_rec *r = pf_got(&f, "u", before + i);
				uint32_t head = h.hdr_len;

				CU_ASSERT_EQUAL(r->len, whole ? len : head + (i + 1 < n ? SEG : 7));
				CU_ASSERT_EQUAL(memcmp(r->bytes + head, b + head + i * SEG, r->len - head), 0);
			}
		}
		CU_ASSERT_EQUAL(pf_count(&f, "d", "super_segments_read"), 3);
		CU_ASSERT_EQUAL(pf_drops(&f, "d", NULL), 0);
		if (captured)
			xk_capture_detach(pf_node(&f, "d"), &look);
		close(fd);
		down();
	}
}

static void frames_with_a_vlan_tag_are_refused(void)
{
	uint8_t b[100];
	int fd;

	if (skip())
		return;
	up(1, "ifname=" OURS);
	fd = packet_socket(THEIRS, false);
	fill(b, sizeof b, 1);
	memcpy(b + 12, ((uint8_t[]){ 0x81, 0, 0, 5, 8, 0 }), 6);
	CU_ASSERT_EQUAL(send(fd, b, sizeof b, 0), (ssize_t)sizeof b);
	CU_ASSERT(await_counter("vlan_tag", true, 1));
	CU_ASSERT_EQUAL(pf_ngot(&f, "u"), 0);
	close(fd);
	down();
}

static void what_this_end_sends_is_not_received(void)
{
	uint8_t b[100];
	int ours, theirs;

	if (skip())
		return;
	up(2, "ifname=" OURS);
	ours = packet_socket(OURS, false);
	theirs = packet_socket(THEIRS, false);
	fill(b, sizeof b, 1);
	for (unsigned i = 0; i < 10; i++) {
		pf_push(&f, i & 1, s[i & 1], b, sizeof b);
		CU_ASSERT_EQUAL(send(ours, b, sizeof b, 0), (ssize_t)sizeof b);
	}
	fill(b, sizeof b, 77);
	CU_ASSERT_EQUAL(send(theirs, b, sizeof b, 0), (ssize_t)sizeof b);
	CU_ASSERT(await(1) && memcmp(last()->bytes, b, sizeof b) == 0);
	close(ours);
	close(theirs);
	down();
}

static void frames_that_found_the_ring_full_are_counted(void)
{
	uint8_t b[1000];
	time_t end;
	int fd;

	if (skip())
		return;
	up(1, "ifname=" OURS "; format=v2; ring=64KiB; mtu=1500");
	fd = packet_socket(THEIRS, false);
	fill(b, sizeof b, 1);
	for (unsigned i = 0; i < 300; i++)
		CU_ASSERT_EQUAL(send(fd, b, sizeof b, 0), (ssize_t)sizeof b);
	end = time(NULL) + 20;
	do
		pf_run(&f, 50 * XK_MS);
	while (pf_ngot(&f, "u") + pf_count(&f, "d", "ring_full") < 300 && time(NULL) < end);
	CU_ASSERT_EQUAL(pf_ngot(&f, "u") + pf_count(&f, "d", "ring_full"), 300);
	CU_ASSERT(pf_count(&f, "d", "ring_full") > 100);
	close(fd);
	down();
}

/* ---- an interface that changes ----------------------------------------------------------- */

static void an_interface_that_goes_down_may_come_up_again(void)
{
	uint8_t b[60];
	int fd;

	if (skip())
		return;
	up(3, "ifname=" OURS);
	fill(b, sizeof b, 1);
	CU_ASSERT(sh("ip link set " OURS " down"));
	pf_push(&f, 0, s[0], b, sizeof b);
	CU_ASSERT_EQUAL(pf_drops(&f, "d", "interface_down"), 1);
	CU_ASSERT(await_counter("went_down", false, 3));
	CU_ASSERT(sh("ip link set " OURS " up"));
	fd = packet_socket(THEIRS, false);
	CU_ASSERT_EQUAL(send(fd, b, sizeof b, 0), (ssize_t)sizeof b);
	CU_ASSERT_FATAL(await(1));
	CU_ASSERT_EQUAL(pf_count(&f, "d", "device_errors"), 0);
	close(fd);
	down();
}

static void an_interface_that_is_removed_harms_nothing(void)
{
	uint64_t errors;
	uint8_t b[60];

	if (skip())
		return;
	up(3, "ifname=" OURS);
	fill(b, sizeof b, 1);
	CU_ASSERT(sh("ip link del " THEIRS));
	CU_ASSERT(await_counter("device_errors", false, 3));
	errors = pf_count(&f, "d", "device_errors");
	for (unsigned vp = 0; vp < 3; vp++)
		pf_push(&f, vp, s[vp], b, sizeof b);
	CU_ASSERT_EQUAL(pf_drops(&f, "d", "device_gone"), 3);
	/* Who knows of the end does not ask the kernel again. */
	CU_ASSERT_EQUAL(pf_count(&f, "d", "device_errors"), errors);
	down();
}

static void drops_what_is_longer_than_the_link_takes(void)
{
	static uint8_t b[1515];

	if (skip())
		return;
	up(1, "ifname=" OURS "; mtu=1500");
	fill(b, sizeof b, 1);
	pf_push(&f, 0, s[0], b, sizeof b);
	CU_ASSERT_EQUAL(pf_drops(&f, "d", "too_long"), 1);
	down();
	/* And what has become too long since. */
	up(1, "ifname=" OURS);
	CU_ASSERT(sh("ip link set " OURS " mtu 1000"));
	pf_push(&f, 0, s[0], b, sizeof b);
	CU_ASSERT_EQUAL(pf_drops(&f, "d", "too_long"), 1);
	down();
}

static void the_address_is_the_interfaces_or_ours(void)
{
	uint8_t mac[6];

	if (skip())
		return;
	CU_ASSERT(sh("ip link set " OURS " address 02:00:00:00:aa:01"));
	for (unsigned own = 0; own < 2; own++) {
		up(1, own ? "ifname=" OURS "; mac=02:00:00:00:bb:02; promiscuous=true; qdisc_bypass=true" : "ifname=" OURS);
		pf_enter(&f, 0);
		CU_ASSERT_EQUAL(xk_control(pf_rep(&f, "d", 0), XK_CTL_GETMYMAC, mac, sizeof mac), 6);
		pf_leave(&f, 0);
		CU_ASSERT(mac[4] == (own ? 0xbb : 0xaa) && mac[5] == 1 + own);
		down();
	}
}

/* ---- what cannot be had ------------------------------------------------------------------- */

static bool refused(unsigned nvps, const char *params, const char *word)
{
	const struct pf_spec g[] = { { &xk_proto_packet, "d", NULL, params }, { NULL, NULL, NULL, NULL } };
	const char *file, *text = "nothing was said";
	bool said = false;
	int line, col;

	if (!pf_up_try(&f, nvps, g) && xk_errs_count(f.errs) == 1) {
		text = xk_errs_text(f.errs, 0, &file, &line, &col);
		said = strstr(text, word) != NULL;
	}
	if (!said)
		fprintf(stderr, "# %s\n", text);
	pf_down(&f);
	return said;
}

static void what_cannot_be_had_is_said(void)
{
	if (skip())
		return;
	CU_ASSERT(refused(2, "ifname=nowhere0", "no interface 'nowhere0'"));
	CU_ASSERT(refused(2, "ifname=lo", "'lo' is not an Ethernet interface"));
	CU_ASSERT(refused(2, "ifname=" OURS "; mtu=9001", "mtu 9001 is larger than that of interface '" OURS "', 9000"));
	CU_ASSERT(refused(2, "ifname=" OURS "; crc=true", "interface '" OURS "' is no hardware (its driver: veth)"));
	CU_ASSERT(refused(2, "ifname=" OURS "; netns=nowhere", "no network namespace nowhere"));
	CU_ASSERT(sh("ip link set " OURS " down"));
	CU_ASSERT(refused(2, "ifname=" OURS, "interface '" OURS "' is down: ip link set " OURS " up"));
}

static void without_privilege_it_says_what_is_needed(void)
{
	int status = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0)
			_exit(3);
		_exit(refused(1, "ifname=lo", "'lo': not permitted: needs CAP_NET_RAW (run as root)") ? 0 : 1);
	}
	CU_ASSERT_FATAL(pid > 0);
	CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
	CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void checks_rules_between_parameters(void)
{
	static const char *const bad[][2] = {
		{ "ifname", "a-name-of-17-char" }, { "ifname", "" }, { "mac", "01:00:00:00:00:01" } };
	char why[256];

	for (unsigned i = 0; i < XK_ARRAY_LEN(bad); i++) {
		_Alignas(16) unsigned char conf[256] = { 0 };

		CU_ASSERT_FATAL(xk_proto_packet.conf_size <= sizeof conf);
		xk_param_defaults(xk_proto_packet.params, conf, why, sizeof why);
		xk_param_set(xk_param_find(xk_proto_packet.params, "ifname"), conf, "eth0", false, why, sizeof why);
		CU_ASSERT_EQUAL(xk_proto_packet.check(conf, why, sizeof why), XK_OK);
		xk_param_set(xk_param_find(xk_proto_packet.params, bad[i][0]), conf, bad[i][1], false, why, sizeof why);
		CU_ASSERT(xk_proto_packet.check(conf, why, sizeof why) < 0);
		CU_ASSERT_PTR_NOT_NULL(strstr(why, bad[i][0]));
		xk_param_release(xk_proto_packet.params, conf);
	}
}

static CU_TestInfo tests[] = {
	{ "frames reach the wire whole", frames_reach_the_wire_whole },
	{ "what one unit sends leaves in one batch", what_one_unit_sends_leaves_in_one_batch },
	{ "a batch that is full leaves at once", a_batch_that_is_full_leaves_at_once },
	{ "frames from the wire reach the graph whole", frames_from_the_wire_reach_the_graph_whole },
	{ "a burst larger than a unit arrives in order", a_burst_larger_than_a_unit_arrives_in_order },
	{ "a checksum left to the card needs no verdict", a_checksum_left_to_the_card_needs_no_verdict },
	{ "segments that nobody has cut are taken whole", segments_that_nobody_has_cut_are_taken_whole },
	{ "a super-segment leaves as one", a_super_segment_leaves_as_one },
	{ "without offload its frames leave", without_offload_its_frames_leave },
	{ "trains are cut for who wants frames", trains_are_cut_for_who_wants_frames },
	{ "frames with a VLAN tag are refused", frames_with_a_vlan_tag_are_refused },
	{ "what this end sends is not received", what_this_end_sends_is_not_received },
	{ "frames that found the ring full are counted", frames_that_found_the_ring_full_are_counted },
	{ "an interface that goes down may come up again", an_interface_that_goes_down_may_come_up_again },
	{ "an interface that is removed harms nothing", an_interface_that_is_removed_harms_nothing },
	{ "drops what is longer than the link takes", drops_what_is_longer_than_the_link_takes },
	{ "the address is the interface's or ours", the_address_is_the_interfaces_or_ours },
	{ "what cannot be had is said", what_cannot_be_had_is_said },
	{ "without privilege it says what is needed", without_privilege_it_says_what_is_needed },
	{ "checks rules between parameters", checks_rules_between_parameters },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = { { .pName = "packet", .pTests = tests }, CU_SUITE_INFO_NULL };

/* IPv6 sends by itself when an interface comes up, at a moment of its own. */
static void without_ipv6(void)
{
	FILE *p = fopen("/proc/sys/net/ipv6/conf/default/disable_ipv6", "w");

	if (p != NULL) {
		fputs("1\n", p);
		fclose(p);
	}
}

int main(void)
{
	privileged = geteuid() == 0 && unshare(CLONE_NEWNET) == 0;
	if (privileged)
		without_ipv6();
	privileged = privileged && pair();
	return xk_test_main(suites);
}

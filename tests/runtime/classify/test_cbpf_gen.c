/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_cbpf_gen.c - classic BPF made from patterns says what the reference says, run by
 * libpcap and by the kernel.
 *
 * The kernel runs a program on datagrams of a pair of sockets, which it cuts to as many bytes
 * as the program returns; and on frames to a fanout group, on the loopback device of a network
 * of our own, where there is permission.
 */
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <pcap/pcap.h>

#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/base/xk_base.h"
#include "runtime/base/xk_bytes.h"
#include "runtime/classify/xk_cbpf.h"
#include "runtime/mem/xk_mem.h"
#include "tests/runtime/classify/patterns.h"
#include "tests/support/xk_test.h"

#define VPS 13u

static struct sock_filter prog[BPF_MAXINSNS];
static struct xk_pattern pat;

static uint32_t run(const struct sock_filter *f, const uint8_t *frame, uint32_t len)
{
	return bpf_filter((const struct bpf_insn *)(const void *)f, frame, len, len);
}

static bool valid(int n)
{
	return n > 0 && bpf_validate((const struct bpf_insn *)(const void *)prog, n);
}

static uint32_t vp_of(const uint8_t *frame, uint32_t len)
{
	struct xk_pat_verdict v;

	xk_pattern_match(&pat, frame, len, &v);
	return xk_hash_vp(v.hash, VPS);
}

/* Of a copy that ends where the frame does, so that reading on is seen. */
static void frame_agrees(const uint8_t *frame, uint32_t len)
{
	uint8_t *copy = malloc(len + 1);
	uint32_t want = vp_of(frame, len), got;

	memcpy(copy, frame, len);
	got = run(prog, copy, len);
	CU_ASSERT_EQUAL(got, want);
	free(copy);
}

static void pattern_agrees(struct dice *d, unsigned long frames)
{
	uint8_t frame[PATTERN_FRAME];

	for (unsigned long i = 0; i < frames; i++)
		frame_agrees(frame, pattern_frame(&pat, d, frame));
}

static void patterns_by_hand_steer_as_the_reference_says(void)
{
	struct dice d = { 0x1234567 };

	for (unsigned i = 0; pattern_names[i] != NULL; i++) {
		pattern_make(&pat, pattern_names[i]);
		CU_ASSERT_TRUE_FATAL(valid(xk_pattern_cbpf_vp(&pat, VPS, 0, prog, BPF_MAXINSNS)));
		pattern_agrees(&d, xk_test_rounds(40000));
	}
}

static void random_patterns_steer_as_the_reference_says(void)
{
	struct dice d = { 0xfeedbeef };

	for (unsigned long i = xk_test_rounds(2000); i > 0; i--) {
		pattern_random(&pat, &d);
		CU_ASSERT_TRUE_FATAL(valid(xk_pattern_cbpf_vp(&pat, VPS, 0, prog, BPF_MAXINSNS)));
		pattern_agrees(&d, 60);
	}
}

static void frames_cut_at_any_length_are_not_read_past_their_end(void)
{
	struct dice d = { 77 };
	uint8_t frame[PATTERN_FRAME];

	for (unsigned i = 0; pattern_names[i] != NULL; i++) {
		pattern_make(&pat, pattern_names[i]);
		CU_ASSERT_TRUE_FATAL(valid(xk_pattern_cbpf_vp(&pat, VPS, 0, prog, BPF_MAXINSNS)));
		for (unsigned k = 0; k < 12; k++) {
			pattern_frame(&pat, &d, frame);
			for (uint32_t len = 0; len <= 128; len++)
				frame_agrees(frame, len);
		}
	}
}

static void long_jumps_are_led_on(void)
{
	bool led = false;
	int n;

	pattern_make(&pat, "wide");
	n = xk_pattern_cbpf_vp(&pat, VPS, 0, prog, BPF_MAXINSNS);
	CU_ASSERT_TRUE(n > 512);
	for (int i = 0; i < n; i++)
		led = led || (prog[i].code == (BPF_JMP | BPF_JA) && prog[i].k > 255);
	CU_ASSERT_TRUE(led);
	CU_ASSERT_EQUAL(xk_pattern_cbpf_vp(&pat, VPS, 0, prog, (unsigned)n - 1), XK_E_NOSPC);
	CU_ASSERT_EQUAL(xk_pattern_cbpf_vp(&pat, VPS, 0, prog, (unsigned)n), n);
	CU_ASSERT_EQUAL(xk_pattern_cbpf_vp(&pat, 0, 0, prog, BPF_MAXINSNS), XK_E_INVAL);
}

/* A root with 32 kinds of a protocol whose every field is odd. */
static void what_does_not_fit_is_refused(void)
{
	static const struct xk_demux_field sel[] = { { XK_DX_SELECT, 4, 0, 0, 0 }, { .role = XK_DX_END } };
	static const struct xk_demux root = { .need = 4, .field = sel };
	struct xk_demux_field f[] = { [XK_PAT_GUARDS] = { .role = XK_DX_END } };
	struct xk_demux many = { .need = 64, .field = f };
	char why[200];

	for (unsigned i = 0; i < XK_PAT_GUARDS; i++)
		f[i] = (struct xk_demux_field){ XK_DX_GUARD | XK_DX_LITTLE, 4, (uint16_t)(4 * i), 0, i };
	memset(&pat, 0, sizeof pat);
	CU_ASSERT_EQUAL_FATAL(xk_pattern_add(&pat, XK_PAT_ABOVE, 0, "r", "r", &root, why, sizeof why), 0);
	for (unsigned i = 0; i < XK_PAT_KIDS; i++)
		CU_ASSERT_TRUE(xk_pattern_add(&pat, 0, i, "m", "m", &many, why, sizeof why) > 0);
	CU_ASSERT_EQUAL(xk_pattern_cbpf_vp(&pat, VPS, 0, prog, BPF_MAXINSNS), XK_E_NOSPC);
	for (unsigned i = 1; i < 6; i++) {
		pattern_make(&pat, "eth");
		xk_mem_fail_after(i);
		if (xk_pattern_cbpf_vp(&pat, VPS, 0, prog, BPF_MAXINSNS) >= 0)
			CU_ASSERT_TRUE(i > 4);
		xk_mem_fail_after(0);
	}
	CU_ASSERT_EQUAL(xk_alloc_live(), 0);
}

static void nothing_is_known_without_a_pattern(void)
{
	struct xk_pattern none = { .ncell = 0 };
	uint8_t frame[64] = { 0 };

	CU_ASSERT_EQUAL(xk_pattern_cbpf_vp(&none, VPS, 0, prog, BPF_MAXINSNS), 1);
	CU_ASSERT_EQUAL(run(prog, frame, sizeof frame), 0);
	CU_ASSERT_EQUAL(xk_pattern_cbpf_full(&none, prog, BPF_MAXINSNS), 1);
	CU_ASSERT_EQUAL(run(prog, frame, sizeof frame), (uint32_t)XK_PAT_NONE << 16 | XK_PAT_ABOVE);
}

static void a_filter_accepts_what_the_graph_wants(void)
{
	uint8_t frame[64] = { [12] = 8, 0, 0x45, [23] = 17, [26] = 10, 0, 0, 1, 10, 0, 0, 2 };
	uint32_t local[2] = { htobe32(0x0a000003), htobe32(0x0a000002) };

	pattern_make(&pat, "eth");
	CU_ASSERT_TRUE_FATAL(valid(xk_pattern_cbpf_filter(&pat, NULL, 0, 0, prog, BPF_MAXINSNS)));
	CU_ASSERT_EQUAL(run(prog, frame, 64), XK_CBPF_SNAP);
	frame[23] = 200;                         /* IP has to answer for what it does not know */
	CU_ASSERT_EQUAL(run(prog, frame, 64), XK_CBPF_SNAP);
	frame[13] = 6;
	CU_ASSERT_EQUAL(run(prog, frame, 64), XK_CBPF_SNAP);
	frame[13] = 7;
	CU_ASSERT_EQUAL(run(prog, frame, 64), 0);
	CU_ASSERT_EQUAL(run(prog, frame, 13), 0);
	frame[13] = 0;
	CU_ASSERT_TRUE_FATAL(valid(xk_pattern_cbpf_filter(&pat, local, 2, 0, prog, BPF_MAXINSNS)));
	CU_ASSERT_EQUAL(run(prog, frame, 64), XK_CBPF_SNAP);
	CU_ASSERT_TRUE_FATAL(valid(xk_pattern_cbpf_filter(&pat, local, 1, 0, prog, BPF_MAXINSNS)));
	CU_ASSERT_EQUAL(run(prog, frame, 64), 0);
	frame[13] = 6;                           /* ARP has no local address in its place */
	CU_ASSERT_EQUAL(run(prog, frame, 64), XK_CBPF_SNAP);
}

static void text_is_that_of_tcpdump(void)
{
	struct dice d = { 5 };
	char text[128];

	pattern_make(&pat, "user");
	for (int i = 0, n = xk_pattern_cbpf_full(&pat, prog, BPF_MAXINSNS); i < n; i++) {
		xk_cbpf_print(prog, (unsigned)i, text, sizeof text);
		CU_ASSERT_EQUAL(strncmp(text, bpf_image((const struct bpf_insn *)(const void *)&prog[i], i),
					strlen(text)), 0);
	}
	for (unsigned i = 0; i < 4000; i++) {
		struct sock_filter any = { .code = (uint16_t)roll(&d, 0), .k = roll(&d, 0) };

		xk_cbpf_print(&any, 0, text, sizeof text);
		CU_ASSERT_NOT_EQUAL(text[0], '\0');
	}
}

/* ---- the kernel ---------------------------------------------------------------------------------- */

/* How many bytes are left of a datagram; 0 also when it was dropped. */
static ssize_t sent_through(const int *s, const uint8_t *frame, uint32_t len)
{
	static uint8_t got[PATTERN_FRAME];
	ssize_t n = send(s[0], frame, len, MSG_DONTWAIT) < 0 ? 0 : recv(s[1], got, sizeof got, MSG_DONTWAIT);

	return n < 0 ? 0 : n;
}

static void the_kernel_steers_as_the_reference_says(void)
{
	uint8_t frame[PATTERN_FRAME];
	struct dice d = { 4711 };
	int s[2];

	CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_DGRAM, 0, s), 0);
	for (unsigned i = 0; pattern_names[i] != NULL; i++) {
		struct sock_fprog f = { .filter = prog };
		int n;

		pattern_make(&pat, pattern_names[i]);
		n = xk_pattern_cbpf_vp(&pat, VPS, 0, prog, BPF_MAXINSNS);
		f.len = (unsigned short)n;
		CU_ASSERT_EQUAL_FATAL(setsockopt(s[1], SOL_SOCKET, SO_ATTACH_FILTER, &f, sizeof f), 0);
		for (unsigned long k = xk_test_rounds(4000); k > 0; k--) {
			uint32_t len = pattern_frame(&pat, &d, frame);

			if (len >= VPS)
				CU_ASSERT_EQUAL(sent_through(s, frame, len), (ssize_t)vp_of(frame, len));
		}
	}
	close(s[0]);
	close(s[1]);
}

#define MEMBERS 4u
#define ETH_LEN 14u

/* A network of our own with its loopback device up. */
static bool own_network(void)
{
	struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int s;
	bool up;

	if (unshare(CLONE_NEWNET) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
		return false;
	s = socket(AF_INET, SOCK_DGRAM, 0);
	up = s >= 0 && ioctl(s, SIOCSIFFLAGS, &lo) == 0;
	close(s);
	return up;
}

static int member_new(unsigned type)
{
	struct sockaddr_ll a = { .sll_family = AF_PACKET, .sll_protocol = htons(0x0003) };
	int s = socket(AF_PACKET, SOCK_RAW, 0), one = 1, fanout = 42 | (int)type << 16;

	a.sll_ifindex = (int)if_nametoindex("lo");
	if (s < 0 || setsockopt(s, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof one) != 0 ||
	    bind(s, (struct sockaddr *)&a, sizeof a) != 0 ||
	    setsockopt(s, SOL_PACKET, PACKET_FANOUT, &fanout, sizeof fanout) != 0)
		return -1;
	return s;
}

/* Which member got the frame; -1: none did. */
static int member_of(const struct pollfd *member)
{
	static uint8_t got[2 * PATTERN_FRAME];
	struct pollfd p[MEMBERS];

	memcpy(p, member, sizeof p);
	if (poll(p, MEMBERS, 5000) <= 0)
		return -1;
	for (unsigned i = 0; i < MEMBERS; i++)
		if (p[i].revents & POLLIN)
			return recv(p[i].fd, got, sizeof got, MSG_DONTWAIT) > 0 ? (int)i : -1;
	return -1;
}

static void fanout_agrees(const char *name, const struct pollfd *member, struct dice *d)
{
	struct sockaddr_ll to = { .sll_family = AF_PACKET, .sll_ifindex = (int)if_nametoindex("lo") };
	struct sock_fprog f = { .filter = prog };
	uint8_t frame[PATTERN_FRAME];
	struct xk_pat_verdict v;

	pattern_make(&pat, name);
	f.len = (unsigned short)xk_pattern_cbpf_vp(&pat, MEMBERS, ETH_LEN, prog, BPF_MAXINSNS);
	CU_ASSERT_EQUAL_FATAL(setsockopt(member[0].fd, SOL_PACKET, PACKET_FANOUT_DATA, &f, sizeof f), 0);
	for (unsigned long k = xk_test_rounds(2000); k > 0; k--) {
		uint32_t len = pattern_frame(&pat, d, frame);

		/* The kernel takes VLAN tags off. */
		if (len < ETH_LEN || frame[12] == 0x81 || frame[12] == 0x88)
			continue;
		xk_pattern_match(&pat, frame, len, &v);
		CU_ASSERT_EQUAL_FATAL(sendto(member[0].fd, frame, len, 0, (struct sockaddr *)&to, sizeof to), (ssize_t)len);
		CU_ASSERT_EQUAL(member_of(member), xk_hash_vp(v.hash, MEMBERS));
	}
}

static void a_fanout_group_steers_as_the_reference_says(void)
{
	static const char *const of_ethernet[] = { "eth", "user", "wide" };
	struct pollfd member[MEMBERS] = { 0 };
	struct dice d = { 0xfa40 };

	if (!own_network()) {
		xk_test_skip("no permission for a network of our own");
		return;
	}
	for (unsigned i = 0; i < MEMBERS; i++) {
		member[i] = (struct pollfd){ .fd = member_new(PACKET_FANOUT_CBPF), .events = POLLIN };
		if (member[i].fd < 0) {
			xk_test_skip("no permission for packet sockets");
			return;
		}
	}
	for (unsigned i = 0; i < XK_ARRAY_LEN(of_ethernet); i++)
		fanout_agrees(of_ethernet[i], member, &d);
	for (unsigned i = 0; i < MEMBERS; i++)
		close(member[i].fd);
}

static CU_TestInfo tests[] = {
	{ "patterns by hand steer as the reference says", patterns_by_hand_steer_as_the_reference_says },
	{ "random patterns steer as the reference says", random_patterns_steer_as_the_reference_says },
	{ "frames cut at any length are not read past their end", frames_cut_at_any_length_are_not_read_past_their_end },
	{ "long jumps are led on", long_jumps_are_led_on },
	{ "what does not fit is refused", what_does_not_fit_is_refused },
	{ "nothing is known without a pattern", nothing_is_known_without_a_pattern },
	{ "a filter accepts what the graph wants", a_filter_accepts_what_the_graph_wants },
	{ "text is that of tcpdump", text_is_that_of_tcpdump },
	{ "the kernel steers as the reference says", the_kernel_steers_as_the_reference_says },
	{ "a fanout group steers as the reference says", a_fanout_group_steers_as_the_reference_says },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "classic BPF from patterns", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return xk_test_main(suites);
}

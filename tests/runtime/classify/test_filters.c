/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_filters.c - many filters at once take the frames that each of them takes by itself, and
 * those of one shape share a table.
 */
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/xk_bytes.h"
#include "runtime/classify/xk_cbpf.h"
#include "runtime/classify/xk_filters.h"
#include "runtime/mem/xk_mem.h"
#include "tests/runtime/classify/patterns.h"
#include "tests/support/xk_test.h"

#define MANY 1024u

static struct bpf_program kept[MANY];
static struct xk_filters *all;
static pcap_t *dead;
static char why[200];

static int add_text(const char *text, struct bpf_program *b)
{
	CU_ASSERT_EQUAL_FATAL(pcap_compile(dead, b, text, 1, PCAP_NETMASK_UNKNOWN), 0);
	return xk_filters_add(all, (const struct sock_filter *)(const void *)b->bf_insns, b->bf_len, why, sizeof why);
}

static void begin(void)
{
	dead = pcap_open_dead(DLT_EN10MB, 65535);
	CU_ASSERT_EQUAL_FATAL(xk_filters_new(&all), XK_OK);
}

static void end(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		pcap_freecode(&kept[i]);
	xk_filters_free(all);
	pcap_close(dead);
	CU_ASSERT_EQUAL(xk_alloc_live(), 0);
}

/* Of a copy that ends where the frame does: every filter by itself, and all at once. */
static void frame_agrees(const uint8_t *frame, uint32_t len, unsigned n)
{
	uint8_t *copy = malloc(len + 1);
	uint16_t taker[MANY];
	unsigned got, k = 0;

	memcpy(copy, frame, len);
	got = xk_filters_match(all, copy, len, taker, MANY);
	for (unsigned i = 0; i < n; i++)
		if (bpf_filter(kept[i].bf_insns, copy, len, len) != 0) {
			CU_ASSERT_TRUE(k < got && taker[k] == i);
			k++;
		}
	CU_ASSERT_EQUAL(k, got);
	free(copy);
}

static const char *const texts[] = {
	"udp", "tcp", "ip and tcp port 80", "host 10.0.0.1", "src host 10.0.0.1 and udp dst port 53", "not arp", "less 60",
	"ip[6:2] & 0x1fff = 0 and udp[4:2] > 8", "tcp[tcpflags] & tcp-syn != 0", "ether proto 0x88b5", "vlan 7", "ip6 and udp",
	"net 10.0.0.0/8", "net 10.0.0.0/8 and udp", "portrange 1000-2000", "ether host 02:00:00:00:00:01", "ip[0] & 0xf = 6",
	"udp[0] = 1 or tcp[0:4] = 7", "ip and udp dst port 257", "icmp", "src net 128.0.0.0/1 and icmp", "", "ip[2:2] = 3 and udp",
	"ether[0] & 1 = 0 and ip and ether[12] = 8", "udp and not host 10.0.0.1", "arp or rarp or ip6",
};

/* Addresses and ports that filters ask for, now and then. */
static void season(struct dice *d, uint8_t *frame)
{
	if (roll(d, 2))
		xk_put_be32(frame + (roll(d, 2) ? 26 : 30), 0x0a000001u);
	if (roll(d, 2))
		xk_put_be16(frame + 34 + 2 * roll(d, 2), (uint16_t)(roll(d, 3) == 0 ? 53 : roll(d, 2) ? 80 : 1500));
	if (roll(d, 8) == 0)
		memcpy(frame + 6 * roll(d, 2), "\2\0\0\0\0\1", 6);
	if (roll(d, 16) == 0)
		xk_put_be16(frame + 12, (uint16_t)(roll(d, 2) ? 0x86dd : roll(d, 2) ? 0x8100 : 0x88b5));
}

static void expressions_take_what_each_takes_by_itself(void)
{
	unsigned n = sizeof texts / sizeof texts[0];
	uint8_t frame[PATTERN_FRAME];
	struct dice d = { 424242 };
	struct xk_pattern pat;

	begin();
	pattern_make(&pat, "eth");
	for (unsigned i = 0; i < n; i++)
		CU_ASSERT_EQUAL_FATAL(add_text(texts[i], &kept[i]), (int)i);
	CU_ASSERT_TRUE(xk_filters_shape(all).alone > 0 && xk_filters_shape(all).alone < n / 2);
	for (unsigned long i = xk_test_rounds(60000); i > 0; i--) {
		uint32_t len = pattern_frame(&pat, &d, frame);

		season(&d, frame);
		frame_agrees(frame, len, n);
	}
	end(n);
}

/* Programs by chance, mostly of loads, masks and comparisons. */
static unsigned random_program(struct dice *d, struct sock_filter *f)
{
	unsigned n = 0, all_of = 3 + roll(d, 18);

	while (n + 2 < all_of) {
		unsigned left = all_of - n - 2, size = roll(d, 3) * 8, kind = roll(d, 10);

		if (kind < 3)
			f[n++] = (struct sock_filter)BPF_STMT((uint16_t)(BPF_LD | size | BPF_ABS), roll(d, 3));
		else if (kind == 3)
			f[n++] = (struct sock_filter)BPF_STMT((uint16_t)(BPF_LD | size | BPF_IND), roll(d, 3));
		else if (kind == 4)
			f[n++] = (struct sock_filter)BPF_STMT(BPF_LDX | BPF_MSH | BPF_B, roll(d, 3));
		else if (kind == 5)
			f[n++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, roll(d, 4));
		else if (kind == 6 && roll(d, 6) == 0)
			f[n++] = (struct sock_filter)BPF_STMT(BPF_LDX | BPF_IMM, roll(d, 4));
		else
			f[n++] = (struct sock_filter)BPF_JUMP((uint16_t)(BPF_JMP | BPF_K | (roll(d, 4) ? BPF_JEQ : BPF_JSET)),
				roll(d, 4), (uint8_t)roll(d, left + 1), (uint8_t)roll(d, left + 1));
	}
	f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, 0);
	f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, 1);
	return n;
}

static void random_programs_take_what_each_takes_by_itself(void)
{
	static struct sock_filter f[8][24];
	struct dice d = { 0x5eed };
	unsigned terms = 0;

	for (unsigned long i = xk_test_rounds(4000); i > 0; i--) {
		begin();
		for (unsigned k = 0; k < 8; k++) {
			unsigned n = random_program(&d, f[k]);

			CU_ASSERT_EQUAL(xk_filters_add(all, f[k], n, why, sizeof why), (int)k);
			kept[k] = (struct bpf_program){ .bf_len = n, .bf_insns = (struct bpf_insn *)(void *)f[k] };
		}
		terms += xk_filters_shape(all).terms;
		for (unsigned k = 0; k < 40; k++) {
			uint8_t frame[8];

			for (unsigned b = 0; b < sizeof frame; b++)
				frame[b] = (uint8_t)roll(&d, 4);
			frame_agrees(frame, roll(&d, 4) ? 8 : roll(&d, 9), 8);
		}
		end(0);
	}
	CU_ASSERT_TRUE(terms > xk_test_rounds(4000));
}

static void filters_of_one_shape_share_a_table(void)
{
	uint8_t frame[64] = { [12] = 8, 0, 0x45, [23] = 17, [26] = 10, 0, 0, 1, 10, 0, 0, 2, 3, 0xe8 };
	struct xk_filters_shape s;
	uint16_t taker[4];
	char text[100];

	begin();
	for (unsigned i = 0; i < MANY; i++) {
		snprintf(text, sizeof text, "src host 10.0.0.1 and dst host 10.0.0.2 and udp src port 1000 and dst port %u", i);
		CU_ASSERT_EQUAL(add_text(text, &kept[i]), (int)i);
	}
	s = xk_filters_shape(all);
	CU_ASSERT_TRUE(s.filters == MANY && s.alone == 0 && s.terms == MANY && s.tables == 1);
	for (unsigned i = 0; i < MANY; i++) {
		xk_put_be16(frame + 36, (uint16_t)i);
		CU_ASSERT_TRUE(xk_filters_match(all, frame, 64, taker, 4) == 1 && taker[0] == i);
	}
	frame[20] = 1;                   /* a later fragment has no ports */
	CU_ASSERT_EQUAL(xk_filters_match(all, frame, 64, taker, 4), 0);
	frame[20] = 0;
	CU_ASSERT_EQUAL(xk_filters_match(all, frame, 37, taker, 4), 0);
	frame[37] = 9;
	frame[36] = 9;
	CU_ASSERT_EQUAL(xk_filters_match(all, frame, 64, taker, 4), 0);
	end(MANY);
}

static void cells_are_filters_too(void)
{
	const struct xk_filter_cell udp[] = { { .off = 12, .width = 2, .mask = 0xffff, .value = 0x0800 },
		{ .off = 23, .width = 1, .mask = 0xff, .value = 17 } };
	const struct xk_filter_cell port[] = { udp[1], udp[0],
		{ .off = 16, .width = 2, .by_nibble = true, .nibble = 14, .mask = 0xffff, .value = 53 } };
	const struct xk_filter_cell never[] = { udp[1], { .off = 23, .width = 1, .mask = 0xff, .value = 6 } };
	struct xk_filter_cell bad = { .off = 0, .width = 3, .mask = 1 }, many[XK_FILTER_CELLS + 1];
	uint8_t frame[64] = { [12] = 8, 0, 0x46, [23] = 17, [41] = 53 };
	uint16_t taker[4];

	begin();
	CU_ASSERT_EQUAL(xk_filters_add_cells(all, udp, 2, why, sizeof why), 0);
	CU_ASSERT_EQUAL(xk_filters_add_cells(all, never, 2, why, sizeof why), 1);
	CU_ASSERT_EQUAL(xk_filters_add_cells(all, port, 3, why, sizeof why), 2);
	CU_ASSERT_EQUAL(xk_filters_add_cells(all, NULL, 0, why, sizeof why), 3);
	CU_ASSERT_EQUAL(xk_filters_add_cells(all, udp, 2, why, sizeof why), 4);
	CU_ASSERT_EQUAL(xk_filters_add_cells(all, &bad, 1, why, sizeof why), XK_E_INVAL);
	bad = (struct xk_filter_cell){ .width = 1, .mask = 0x1ff };
	CU_ASSERT_EQUAL(xk_filters_add_cells(all, &bad, 1, why, sizeof why), XK_E_INVAL);
	for (unsigned i = 0; i < XK_FILTER_CELLS + 1; i++)
		many[i] = (struct xk_filter_cell){ .off = i, .width = 1, .mask = 1 };
	CU_ASSERT_EQUAL(xk_filters_add_cells(all, many, XK_FILTER_CELLS + 1, why, sizeof why), XK_E_NOSPC);
	CU_ASSERT_TRUE(xk_filters_match(all, frame, 64, taker, 4) == 4 && taker[0] == 0 && taker[1] == 2 && taker[2] == 3 &&
		       taker[3] == 4);
	CU_ASSERT_TRUE(xk_filters_match(all, frame, 64, taker, 2) == 2 && taker[0] == 0 && taker[1] == 2);
	CU_ASSERT_TRUE(xk_filters_match(all, frame, 41, taker, 4) == 3 && taker[1] == 3);
	CU_ASSERT_TRUE(xk_filters_match(all, frame, 0, taker, 4) == 1 && taker[0] == 3);
	end(0);
}

static void a_filter_for_which_memory_runs_out_is_not_added(void)
{
	const struct xk_filter_cell c = { .off = 0, .width = 1, .mask = 0xff, .value = 1 };
	uint8_t frame[4] = { 1 };
	uint16_t taker[2];

	begin();
	for (unsigned i = 1, n = 0; n < 40; i++) {
		int got;

		xk_mem_fail_after(i % 5);
		got = i % 2 ? xk_filters_add_cells(all, &c, 1, why, sizeof why) : add_text("less 60", &kept[0]);
		xk_mem_fail_after(0);
		if (i % 2 == 0)
			pcap_freecode(&kept[0]);
		CU_ASSERT_TRUE(got == (int)n || got == XK_E_NOMEM);
		n += got >= 0;
	}
	CU_ASSERT_EQUAL(xk_filters_shape(all).filters, 40);
	CU_ASSERT_EQUAL(xk_filters_match(all, frame, 4, taker, 2), 2);
	end(0);
}

static CU_TestInfo tests[] = {
	{ "expressions take what each takes by itself", expressions_take_what_each_takes_by_itself },
	{ "random programs take what each takes by itself", random_programs_take_what_each_takes_by_itself },
	{ "filters of one shape share a table", filters_of_one_shape_share_a_table },
	{ "cells are filters, too", cells_are_filters_too },
	{ "a filter for which memory runs out is not added", a_filter_for_which_memory_runs_out_is_not_added },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "filters", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return xk_test_main(suites);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_packet_ring.c - the walk over the packet driver's receive rings, in
 * memory that the test fills as the kernel would.
 *
 * Promises: frames come out whole, in order, each once, over any number of
 * rounds; a place that is the kernel's is never read; blocks that are empty are
 * passed over; a ring is laid out in a way that the kernel accepts.
 */
#include "drivers/packet/packet_priv.h"

#include <linux/if_packet.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/xk_test.h"

static struct packet_ring g;
static struct packet_frame f;
static uint32_t fill_at;         /* the next place or block to fill */
static uint32_t number;          /* of the next frame */

static void ring_new(enum packet_format format, uint64_t bytes, uint32_t frame_max)
{
	packet_ring_plan(&g, format, bytes, frame_max);
	g.map = aligned_alloc(4096, packet_ring_bytes(&g));
	CU_ASSERT_FATAL(g.map != NULL);
	memset(g.map, 0, packet_ring_bytes(&g));
	fill_at = number = 0;
}

static void ring_free(void)
{
	free(g.map);
}

/* ---- version 2 ------------------------------------------------------------------------ */

static struct tpacket2_hdr *place(uint32_t i)
{
	return (struct tpacket2_hdr *)(void *)(g.map + (size_t)(i / g.slots_per_block) * g.block_size +
					       (size_t)(i % g.slots_per_block) * g.slot_size);
}

static void put(uint32_t len, uint32_t status)
{
	struct tpacket2_hdr *h = place(fill_at);
	struct sockaddr_ll a = { .sll_pkttype = (unsigned char)(number % 5) };

	CU_ASSERT_EQUAL_FATAL(h->tp_status, TP_STATUS_KERNEL);
	h->tp_mac = 66;
	h->tp_len = h->tp_snaplen = len;
	memcpy((uint8_t *)h + TPACKET_ALIGN(sizeof *h), &a, sizeof a);
	memset((uint8_t *)h + 66, (int)(number++ & 255), len);
	h->tp_status = TP_STATUS_USER | status;
	fill_at = (fill_at + 1) % (g.nblocks * g.slots_per_block);
}

static bool is(uint32_t n, uint32_t len, uint32_t status)
{
	return packet_ring_peek(&g, &f) && f.len == len && f.snap == len && f.pkttype == n % 5 &&
	       f.status == (TP_STATUS_USER | status) && f.data[0] == (n & 255) && f.data[len - 1] == (n & 255);
}

static void frames_come_out_as_they_went_in(void)
{
	uint32_t slots, seen = 0;

	ring_new(PACKET_V2, 256 << 10, 1514);
	slots = g.nblocks * g.slots_per_block;
	CU_ASSERT_FALSE(packet_ring_peek(&g, &f));
	for (unsigned round = 0; round < 50; round++) {
		uint32_t n = 1 + round * 7 % slots;

		for (uint32_t i = 0; i < n; i++)
			put(1 + (number * 97) % 1514, number % 3 ? TP_STATUS_CSUMNOTREADY : 0);
		for (uint32_t i = 0; i < n; i++, seen++) {
			CU_ASSERT(is(seen, 1 + (seen * 97) % 1514, seen % 3 ? TP_STATUS_CSUMNOTREADY : 0));
			packet_ring_next(&g);
		}
		CU_ASSERT_FALSE(packet_ring_peek(&g, &f));
	}
	for (uint32_t i = 0; i < slots; i++)
		CU_ASSERT_EQUAL(place(i)->tp_status, TP_STATUS_KERNEL);
	ring_free();
}

static void a_frame_stays_until_it_is_given_back(void)
{
	ring_new(PACKET_V2, 128 << 10, 1514);
	put(60, 0);
	put(70, 0);
	CU_ASSERT(is(0, 60, 0));
	CU_ASSERT(is(0, 60, 0));
	CU_ASSERT_EQUAL(place(0)->tp_status, TP_STATUS_USER);
	packet_ring_next(&g);
	CU_ASSERT_EQUAL(place(0)->tp_status, TP_STATUS_KERNEL);
	CU_ASSERT(is(1, 70, 0));
	packet_ring_next(&g);
	ring_free();
}

static void a_place_that_is_being_filled_is_not_read(void)
{
	ring_new(PACKET_V2, 128 << 10, 1514);
	put(60, 0);
	place(0)->tp_status = 0x40000000;        /* neither the kernel's to give nor ours to take */
	CU_ASSERT_FALSE(packet_ring_peek(&g, &f));
	place(0)->tp_status = TP_STATUS_USER | TP_STATUS_LOSING;
	CU_ASSERT(packet_ring_peek(&g, &f) && (f.status & TP_STATUS_LOSING));
	ring_free();
}

/* ---- version 3 -------------------------------------------------------------------------- */

static struct tpacket_hdr_v1 *head(uint32_t i)
{
	return &((struct tpacket_block_desc *)(void *)(g.map + (size_t)i * g.block_size))->hdr.bh1;
}

/* A block of n frames, of growing length. */
static void put_block(uint32_t n)
{
	struct tpacket_hdr_v1 *b = head(fill_at);
	uint8_t *at = g.map + (size_t)fill_at * g.block_size + 48;
	struct sockaddr_ll a = { 0 };

	CU_ASSERT_EQUAL_FATAL(b->block_status, TP_STATUS_KERNEL);
	b->num_pkts = n;
	b->offset_to_first_pkt = 48;
	for (uint32_t i = 0; i < n; i++) {
		struct tpacket3_hdr *h = (struct tpacket3_hdr *)(void *)at;

		memset(h, 0, sizeof *h);
		h->tp_mac = 82;
		h->tp_len = h->tp_snaplen = 60 + i;
		h->tp_status = TP_STATUS_USER;
		a.sll_pkttype = (unsigned char)(number % 5);
		memcpy(at + TPACKET_ALIGN(sizeof *h), &a, sizeof a);
		memset(at + 82, (int)(number++ & 255), 60 + i);
		h->tp_next_offset = i + 1 < n ? TPACKET_ALIGN(82 + 60 + i) : 0;
		at += h->tp_next_offset;
	}
	b->block_status = TP_STATUS_USER;
	fill_at = (fill_at + 1) % g.nblocks;
}

static void blocks_come_out_frame_by_frame(void)
{
	uint32_t seen = 0;

	ring_new(PACKET_V3, 1 << 20, 1514);
	CU_ASSERT_FALSE(packet_ring_peek(&g, &f));
	for (unsigned round = 0; round < 40; round++) {
		uint32_t at = fill_at, n = 1 + round * 13 % 300;

		put_block(n);
		for (uint32_t i = 0; i < n; i++, seen++) {
			CU_ASSERT_EQUAL(head(at)->block_status, TP_STATUS_USER);
			CU_ASSERT(is(seen, 60 + i, 0));
			packet_ring_next(&g);
		}
		CU_ASSERT_EQUAL(head(at)->block_status, TP_STATUS_KERNEL);
		CU_ASSERT_FALSE(packet_ring_peek(&g, &f));
	}
	ring_free();
}

static void empty_blocks_are_passed_over(void)
{
	ring_new(PACKET_V3, 1 << 20, 1514);
	for (unsigned i = 0; i + 1 < g.nblocks; i++)
		put_block(0);
	put_block(3);
	CU_ASSERT(is(0, 60, 0));
	for (unsigned i = 0; i < 3; i++)
		packet_ring_next(&g);
	for (unsigned i = 0; i < g.nblocks; i++)
		put_block(0);
	CU_ASSERT_FALSE(packet_ring_peek(&g, &f));
	for (unsigned i = 0; i < g.nblocks; i++)
		CU_ASSERT_EQUAL(head(i)->block_status, TP_STATUS_KERNEL);
	ring_free();
}

/* ---- the layout --------------------------------------------------------------------------- */

static void rings_are_laid_out_as_the_kernel_wants_them(void)
{
	static const uint32_t frames[] = { 82, 1514, 4366, 9014, 65535 };
	static const uint64_t bytes[] = { 64 << 10, 100000, 2 << 20, 1 << 30 };

	for (unsigned i = 0; i < XK_ARRAY_LEN(frames); i++)
		for (unsigned k = 0; k < XK_ARRAY_LEN(bytes); k++)
			for (unsigned v = 0; v < 2; v++) {
				packet_ring_plan(&g, v ? PACKET_V3 : PACKET_V2, bytes[k], frames[i]);
				CU_ASSERT_EQUAL(g.block_size % 4096, 0);
				CU_ASSERT_EQUAL(g.slot_size % TPACKET_ALIGNMENT, 0);
				CU_ASSERT(g.slot_size >= frames[i] + 80 && g.nblocks >= 2);
				CU_ASSERT(g.slots_per_block >= 1 || v);
				CU_ASSERT(packet_ring_bytes(&g) <= bytes[k] || g.nblocks == 2);
				CU_ASSERT(packet_ring_bytes(&g) > bytes[k] / 2);
			}
}

static CU_TestInfo tests[] = {
	{ "frames come out as they went in", frames_come_out_as_they_went_in },
	{ "a frame stays until it is given back", a_frame_stays_until_it_is_given_back },
	{ "a place that is being filled is not read", a_place_that_is_being_filled_is_not_read },
	{ "blocks come out frame by frame", blocks_come_out_frame_by_frame },
	{ "empty blocks are passed over", empty_blocks_are_passed_over },
	{ "rings are laid out as the kernel wants them", rings_are_laid_out_as_the_kernel_wants_them },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = { { .pName = "packet ring", .pTests = tests }, CU_SUITE_INFO_NULL };

int main(void)
{
	return xk_test_main(suites);
}

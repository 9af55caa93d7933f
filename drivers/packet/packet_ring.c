/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * packet_ring.c - walks a receive ring that the kernel fills.
 *
 * Version 2 has slots of one size, each handed over alone: a frame is there as
 * soon as it has come.  Version 3 packs frames of any size into blocks, which
 * are handed over when full or when a time has passed.  Either way one word says
 * who owns the memory: its load orders every read of a frame behind it, its
 * store every read before.
 * Invariant: memory that was given back is not read again.
 */
#include "drivers/packet/packet_priv.h"

#include <linux/if_packet.h>

#define V2_BLOCK   (64u << 10)
#define V3_BLOCK   (128u << 10)  /* holds what a sender would have had segmented */
/* The kernel puts at most so much before a frame's network header. */
#define V2_BEFORE  128u

static uint32_t whole(uint32_t n, uint32_t of)
{
	return (n + of - 1) / of * of;
}

void packet_ring_plan(struct packet_ring *g, enum packet_format f, uint64_t bytes, uint32_t frame_max)
{
	uint64_t n;

	*g = (struct packet_ring){ .format = f };
	/* An odd number of lines: headers that all lie in the same few sets of
	 * a cache would drive each other out. */
	g->slot_size = whole(frame_max + V2_BEFORE, XK_CACHELINE) | XK_CACHELINE;
	g->block_size = f == PACKET_V3 ? V3_BLOCK : g->slot_size > V2_BLOCK ? whole(g->slot_size, 4096) : V2_BLOCK;
	g->slots_per_block = g->block_size / g->slot_size;
	n = bytes / g->block_size;
	/* The kernel fills one while another is read. */
	g->nblocks = n < 2 ? 2 : (uint32_t)n;
}

static uint8_t *block(const struct packet_ring *g, uint32_t i)
{
	return g->map + (size_t)i * g->block_size;
}

/* ---- version 2 -------------------------------------------------------------------- */

static struct tpacket2_hdr *slot(const struct packet_ring *g)
{
	return (struct tpacket2_hdr *)(void *)(block(g, g->block) + (size_t)g->at * g->slot_size);
}

static bool v2_peek(const struct packet_ring *g, struct packet_frame *f)
{
	struct tpacket2_hdr *h = slot(g);
	const struct sockaddr_ll *a;

	f->status = xk_load_acquire(&h->tp_status);
	if (!(f->status & TP_STATUS_USER))
		return false;
	a = (const struct sockaddr_ll *)(const void *)((uint8_t *)h + TPACKET_ALIGN(sizeof *h));
	f->data = (uint8_t *)h + h->tp_mac;
	f->len = h->tp_len;
	f->snap = h->tp_snaplen;
	f->pkttype = a->sll_pkttype;
	return true;
}

static void v2_next(struct packet_ring *g)
{
	xk_store_release(&slot(g)->tp_status, (uint32_t)TP_STATUS_KERNEL);
	if (++g->at < g->slots_per_block)
		return;
	g->at = 0;
	if (++g->block == g->nblocks)
		g->block = 0;
}

/* ---- version 3 --------------------------------------------------------------------- */

static struct tpacket_hdr_v1 *head(const struct packet_ring *g)
{
	return &((struct tpacket_block_desc *)(void *)block(g, g->block))->hdr.bh1;
}

static void v3_release(struct packet_ring *g)
{
	xk_store_release(&head(g)->block_status, (uint32_t)TP_STATUS_KERNEL);
	if (++g->block == g->nblocks)
		g->block = 0;
}

static bool v3_open(struct packet_ring *g)
{
	for (uint32_t i = 0; i < g->nblocks; i++) {
		struct tpacket_hdr_v1 *h = head(g);

		if (!(xk_load_acquire(&h->block_status) & TP_STATUS_USER))
			return false;
		if (h->num_pkts != 0) {
			g->left = h->num_pkts;
			g->next = block(g, g->block) + h->offset_to_first_pkt;
			return true;
		}
		v3_release(g);           /* its time was over before a frame came */
	}
	return false;
}

static bool v3_peek(struct packet_ring *g, struct packet_frame *f)
{
	const struct tpacket3_hdr *h;
	const struct sockaddr_ll *a;

	if (g->left == 0 && !v3_open(g))
		return false;
	h = (const struct tpacket3_hdr *)(const void *)g->next;
	a = (const struct sockaddr_ll *)(const void *)(g->next + TPACKET_ALIGN(sizeof *h));
	f->data = g->next + h->tp_mac;
	f->len = h->tp_len;
	f->snap = h->tp_snaplen;
	f->status = h->tp_status;
	f->pkttype = a->sll_pkttype;
	return true;
}

static void v3_next(struct packet_ring *g)
{
	const struct tpacket3_hdr *h = (const struct tpacket3_hdr *)(const void *)g->next;

	if (--g->left != 0)
		g->next += h->tp_next_offset;
	else
		v3_release(g);
}

bool packet_ring_peek(struct packet_ring *g, struct packet_frame *f)
{
	return g->format == PACKET_V3 ? v3_peek(g, f) : v2_peek(g, f);
}

void packet_ring_next(struct packet_ring *g)
{
	if (g->format == PACKET_V3)
		v3_next(g);
	else
		v2_next(g);
}

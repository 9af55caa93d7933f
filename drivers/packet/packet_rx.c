/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * packet_rx.c - frames of a ring become messages.
 *
 * Each frame is copied once into a buffer of this virtual processor, and its
 * place goes back to the kernel at once: a lent frame would hold a place of the
 * ring for as long as a transport keeps the bytes, and would be of a kind that
 * leaves every fast path above.  What the kernel says of a frame is honoured: a
 * checksum that it has verified, or that a sender on this machine left to be
 * computed, need not be computed; a tag that it took off makes the frame one
 * that is not for us.
 * Invariant: every frame of the ring is passed up, or dropped with a reason and
 * counted, or our own.
 */
#include "drivers/packet/packet_priv.h"

#include <linux/if_packet.h>

#include "runtime/base/xk_bytes.h"
#include "runtime/base/xk_csum_inline.h"
#include "runtime/upi/xk_input.h"

#ifndef TP_STATUS_CSUM_VALID
#define TP_STATUS_CSUM_VALID (1 << 7)
#endif
#define VOUCHED (TP_STATUS_CSUMNOTREADY | TP_STATUS_CSUM_VALID)

static bool packet_is_tcp(const struct packet_frame *f)
{
	const uint8_t *ip = f->data + PACKET_ETH_HEADER;

	return f->snap >= PACKET_ETH_HEADER + 20 && xk_be16(ip - 2) == 0x0800 && ip[9] == 6;
}

/* Before the frame lies its header of virtio-net, where there is one. */
static inline const uint8_t *packet_vnet(const struct packet_frame *f)
{
	return f->data - XK_VNET_LEN;
}

/* Does that say that it stands for several? */
static inline bool packet_is_super(const struct xk_rep *r, const struct packet_frame *f)
{
	return packet_state(r)->vnet && xk_vnet_several(packet_vnet(f));
}

/* Why a frame is not passed up, or 0. */
static unsigned packet_fault(const struct xk_rep *r, const struct packet_frame *f)
{
	if (XK_UNLIKELY(f->status & TP_STATUS_VLAN_VALID))
		return PACKET_DROP_VLAN;
	if (XK_LIKELY(f->len <= packet_state(r)->frame_max))
		return XK_LIKELY(f->snap == f->len) ? 0 : PACKET_DROP_CUT;
	/* Segments of a sender on this machine, which leaves cutting them to the card: TCP takes them as one,
	 * any other protocol would mistake it, unless it is said how long each was. */
	if (!packet_is_tcp(f) && !packet_is_super(r, f))
		return PACKET_DROP_UNCUT;
	return f->snap == f->len || (f->status & TP_STATUS_COPY) ? 0 : PACKET_DROP_CUT;
}

static bool packet_fill(const struct packet_rep *pr, struct xk_msg *m, const struct packet_frame *f)
{
	if (XK_UNLIKELY(f->snap != f->len))
		return packet_dev_recv(pr->queue, m, packet_state(pr->rep)->vnet) == (ssize_t)f->len;
	if (!(m->flags & XK_MSG_CHAIN))
		xk_copy_quick(m->data, f->data, f->len);
	else
		xk_msg_copy_in(m, 0, f->data, f->len);
	return true;
}

/* The whole frame of a slot that is not passed up must leave the socket's queue, too. */
static XK_NOINLINE void packet_discard(struct packet_rep *pr, const struct packet_frame *f, unsigned reason)
{
	xk_dropped(pr->rep, reason, 1);
	if (f->status & TP_STATUS_COPY)
		(void)packet_dev_recv(pr->queue, NULL, packet_state(pr->rep)->vnet);
}

static struct xk_msg *packet_take(struct packet_rep *pr, const struct packet_frame *f)
{
	struct xk_rep *r = pr->rep;
	unsigned reason = packet_fault(r, f);
	struct xk_msg *m;

	if (XK_UNLIKELY(reason != 0)) {
		packet_discard(pr, f, reason);
		return NULL;
	}
	m = xk_msg_new(f->len);
	if (XK_UNLIKELY(m == NULL)) {
		packet_discard(pr, f, XK_DROP_NOMEM);
		return NULL;
	}
	if (XK_UNLIKELY(!packet_fill(pr, m, f))) {
		xk_drop(r, PACKET_DROP_CUT, m);
		return NULL;
	}
	xk_count_add(r->count[N_LONG], f->len > packet_state(r)->frame_max);
	if (f->status & VOUCHED) {
		m->flags |= XK_MSG_CSUM_OK;
		xk_count(r->count[N_VOUCHED]);
	}
	return m;
}

static inline void packet_pass(struct packet_rep *pr, struct xk_burst *b, struct xk_msg *m,
			       const struct packet_frame *f)
{
	if (XK_UNLIKELY(packet_is_super(pr->rep, f)))
		packet_super_up(pr, b, m, packet_vnet(f));
	else if (XK_LIKELY(b->n < PACKET_BURST))
		b->m[b->n++] = m;
	else
		xk_burst_add(b, m);
}

/* ---- one unit ---------------------------------------------------------------------------- */

unsigned packet_rx_run(struct xk_task *t, unsigned budget)
{
	struct packet_rep *pr = xk_container_of(t, struct packet_rep, task);
	struct packet_ring *g = &pr->queue->ring;
	struct xk_burst b;
	struct packet_frame f;
	unsigned n = 0, seen = 0;
	struct xk_msg *m;

	if (XK_UNLIKELY(!pr->asked && pr->rep->drv_sess != NULL)) {
		pr->asked = true;
		pr->takes_long = xk_burst_takes_long(pr->rep);
	}
	xk_burst_begin(&b, pr->rep);
	if (budget > PACKET_BURST)
		budget = PACKET_BURST;
	for (; seen < budget && packet_ring_peek(g, &f); seen++) {
		if (XK_UNLIKELY(f.pkttype == PACKET_OUTGOING))
			xk_count(pr->rep->count[N_OWN]);
		else if ((m = packet_take(pr, &f)) != NULL) {
			packet_pass(pr, &b, m, &f);
			n++;
		}
		if (XK_UNLIKELY(f.status & TP_STATUS_LOSING))
			packet_count_lost(pr);
		packet_ring_next(g);
	}
	if (seen == 0) {
		if (XK_UNLIKELY(pr->rep->vp->now >= pr->look_at))
			packet_look(pr);
		/* A turn without work would end this virtual processor's. */
		return pr->tx.n != 0 ? packet_tx_run(&pr->tx.task, budget) : 0;
	}
	pr->down = false;
	xk_count_add(pr->rep->count[N_READ], n);
	xk_burst_up(&b);
	return seen;
}

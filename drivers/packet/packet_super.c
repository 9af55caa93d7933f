/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * packet_super.c - frames with a header of virtio-net before them: what stands for several.
 *
 * Where the kernel can, each frame has such a header, sent or received.  A super-segment of TCP or UDP
 * goes to the kernel as one, its checksum left to it; one that it does not take so, or that has more
 * pieces than a system call takes, is cut here.  What a sender on this machine or the card's driver has
 * joined comes up as one where all above takes that, and else frame by frame; datagrams always do.
 * Invariant: no frame longer than frame_max is sent.
 */
#include "drivers/packet/packet_priv.h"

#include "drivers/common/cut.h"
#include "runtime/upi/xk_input.h"

/* ---- in ---------------------------------------------------------------------------- */

void packet_super_up(struct packet_rep *pr, struct xk_burst *b, struct xk_msg *m, const uint8_t *h)
{
	struct xk_vnet v;
	bool said = xk_vnet_read(h, m, PACKET_ETH_HEADER, &v) && v.seg != 0;
	bool whole = pr->takes_long && !xk_captured(pr->rep->node);

	xk_count(pr->rep->count[N_SUPER_READ]);
	/* TCP, which judges its own header, needs to know no more than that it is long. */
	if (whole && xk_msg_has(m, PACKET_ETH_HEADER + 20) && m->data[PACKET_ETH_HEADER + 9] == 6)
		xk_burst_add(b, m);
	else if (said)
		xk_burst_cut(b, m, v.seg, packet_state(pr->rep)->frame_max, PACKET_DROP_VNET);
	else
		xk_drop(pr->rep, PACKET_DROP_VNET, m);
}

/* ---- out ---------------------------------------------------------------------------- */

static void packet_cut_down(struct packet_rep *pr, struct xk_msg *m)
{
	struct xk_rep *r = pr->rep;
	struct xk_msgq q;

	xk_msgq_init(&q);
	xk_cut_down(r, m, packet_state(r)->frame_max, PACKET_DROP_SUPER, &q);
	while ((m = xk_msgq_get(&q)) != NULL)
		if (!packet_tx_frame(pr, m, NULL))
			xk_drop(r, PACKET_DROP_PIECES, m);
}

void packet_super_down(struct packet_rep *pr, struct xk_msg *m)
{
	const struct packet_state *st = packet_state(pr->rep);
	uint8_t h[XK_VNET_LEN];
	bool udp;

	if (!st->vnet || !xk_vnet_super(h, m, PACKET_ETH_HEADER, st->frame_max, &udp) || !packet_tx_frame(pr, m, h))
		packet_cut_down(pr, m);
}

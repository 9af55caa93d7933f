/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xdp_train.c - a received frame that lies in several of the UMEM's.
 *
 * In generic mode the kernel shows what a sender on this machine has left to its card to cut, or what
 * it has joined itself, as one frame of up to 64 KiB, in pieces, one behind the other in the ring.  Each
 * piece is lent or copied as a frame is, and the whole is one message.  TCP takes it as it is, where all
 * above does; else it is cut into frames.  What it holds of checksums is the sum of the pseudo-header.
 * Invariant: between two bursts `train` holds the pieces of one frame whose last has not come.
 */
#include "drivers/xdp/xdp_priv.h"

#include "runtime/base/xk_bytes.h"
#include "runtime/msg/xk_msg_inline.h"
#include "runtime/upi/xk_input.h"

#define ETH_HEADER 14u
#define VLAN_TAG   4u

/* Payload of a frame of m, TCP over IPv4; 0: it is none. */
static uint32_t train_seg(const struct xdp_dev *d, const struct xk_msg *m)
{
	const uint8_t *ip = m->data + ETH_HEADER;
	uint32_t hlen;

	if (m->len < ETH_HEADER + 60 + 20 || xk_be16(ip - 2) != 0x0800 || ip[9] != 6)
		return 0;
	hlen = (ip[0] & 15u) * 4;
	hlen += (ip[hlen + 12] >> 4) * 4u;
	return hlen < d->mtu ? d->mtu - hlen : 0;
}

static void train_up(struct xdp_port *p, struct xk_burst *b, struct xk_msg *m)
{
	struct xdp_dev *d = p->q->dev;
	uint32_t seg = train_seg(d, m);

	if (xdp_sum_is_partial(m->data, m->len, m->tot)) {
		if (d->partial == XDP_SUMS_DROP) {
			xk_drop(p->rep, XDP_DROP_PARTIAL, m);
			return;
		}
		xk_count(p->rep->count[N_PARTIAL]);
		m->flags |= XK_MSG_CSUM_OK;
	}
	if (m->tot <= d->mtu + ETH_HEADER + VLAN_TAG) {
		xk_burst_add(b, m);
	} else if (seg == 0 || !(m->flags & XK_MSG_CSUM_OK)) {
		xk_drop(p->rep, XDP_DROP_UNCUT, m);
	} else {
		xk_count(p->rep->count[N_LONG]);
		if (p->takes_long && !xk_captured(p->rep->node))
			xk_burst_add(b, m);
		else
			xk_burst_cut(b, m, seg, d->mtu + ETH_HEADER, XDP_DROP_UNCUT);
	}
}

static void train_add(struct xdp_port *p, struct xk_msg *x)
{
	if (x == NULL)
		p->broken = true;
	else if (p->train == NULL)
		p->train = p->train_last = x;
	else
		p->train_last = xk_msg_append(p->train, p->train_last, x);
}

bool xdp_train_piece(struct xdp_port *p, struct xk_burst *b, const struct xdp_desc *desc, bool lend)
{
	struct xk_msg *m;

	train_add(p, xdp_rx_bytes(p, desc, lend));
	p->in_train = (desc->options & XDP_CONTINUED) != 0;
	if (p->in_train)
		return false;
	m = p->train;
	p->train = NULL;
	if (!p->broken && m != NULL)
		train_up(p, b, m);
	else if (m != NULL)
		xk_msg_free(m);
	p->broken = false;
	return true;
}

void xdp_train_forget(struct xdp_port *p)
{
	if (p->train != NULL)
		xk_msg_free(p->train);
	p->train = NULL;
	p->in_train = p->broken = false;
}

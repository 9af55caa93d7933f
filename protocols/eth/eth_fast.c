/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * eth_fast.c - the frame of a station known, in fewer instructions: one alone, and a
 * batch of known connections.
 *
 * It must equal eth.c: eth_fast_demux and eth_fast_push do what eth_demux and eth_push
 * do, and leave to them whatever they do not see through; eth_fast_batch does to a batch
 * what eth_demux does to each of it.  Without this file (--disable-fastpath) Ethernet does
 * the same, slower.  A fast function has no stack frame: every call is the last thing done.
 */
#include "protocols/eth/eth_priv.h"

#include "protocols/link/link_fast.h"

/* ---- down ----------------------------------------------------------------------- */

void eth_fast_push(struct xk_sess *s, struct xk_msg *m)
{
	uint8_t *h = xk_msg_push_quick(m, ETH_HDR_LEN);

	if (XK_UNLIKELY(h == NULL)) {
		eth_push(s, m);
		return;
	}
	memcpy(h, ((const struct link_sess *)s)->hdr, ETH_HDR_LEN);
	xk_push(s->down, m);
}

/* ---- up ------------------------------------------------------------------------- */

void eth_fast_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	const uint8_t *h = m->data;

	if (XK_LIKELY(m->len >= ETH_HDR_LEN && link_addr(h) == link_state(up->rep)->own) &&
	    link_pass(up->rep, m, xk_raw64(h + 6), ETH_HDR_LEN))
		return;
	eth_demux(up, lls, m);
}

/* Our address, the source and the type in session s's key: 14 bytes. */
static inline unsigned eth_batch_of(const struct xk_rep *r, const struct xk_sess *s, const struct xk_batch *f)
{
	static const uint8_t mask[XK_WIDE] = {
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	uint8_t head[XK_WIDE] = { 0 };

	if (!link_batch_for(r, f, s))
		return 0;
	memcpy(head, link_state(r)->mac, 6);
	xk_put_raw64(head + 6, s->map.key.w[0]);
	return link_batch_same(f, xk_wide_load(head), xk_wide_load(mask));
}

unsigned eth_fast_batch(struct xk_up *up, struct xk_sess *lls, const struct xk_batch *f)
{
	(void)lls;
	return xk_batch_through(up->rep, f, eth_batch_of, ETH_HDR_LEN, -1);
}

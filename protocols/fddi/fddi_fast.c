/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fddi_fast.c - the frame of a station known, in fewer instructions: one alone, and a
 * batch of one connection.
 *
 * It must equal fddi.c: fddi_fast_demux and fddi_fast_push do what fddi_demux and fddi_push
 * do, and leave to them whatever they do not see through; fddi_fast_batch does to a batch
 * what fddi_demux does to each of it.  Without this file (--disable-fastpath) FDDI does
 * the same, slower.  A fast function has no stack frame: every call is the last thing done.
 */
#include "protocols/fddi/fddi_priv.h"

#include "protocols/link/link_fast.h"

/* ---- down ----------------------------------------------------------------------- */

void fddi_fast_push(struct xk_sess *s, struct xk_msg *m)
{
	uint8_t *h = xk_msg_push_quick(m, FDDI_HDR_LEN);

	if (XK_UNLIKELY(h == NULL)) {
		fddi_push(s, m);
		return;
	}
	memcpy(h, ((const struct link_sess *)s)->hdr, FDDI_HDR_LEN);
	xk_push(s->down, m);
}

/* ---- up ------------------------------------------------------------------------- */

void fddi_fast_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	const uint8_t *h = m->data;

	if (XK_LIKELY(m->len >= FDDI_HDR_LEN && (h[FDDI_FC] & 0xf8) == FDDI_FC_LLC_ASYNC &&
		      link_addr(h + FDDI_LLC) == link_addr(fddi_llc_snap) &&
		      link_addr(h + FDDI_DST) == link_state(up->rep)->own)) {
		struct xk_key k = link_key(xk_raw64(h + FDDI_SRC), xk_raw64(h + FDDI_LLC));

		if (link_pass(up->rep, m, k.w[0], FDDI_HDR_LEN))
			return;
	}
	fddi_demux(up, lls, m);
}

/* Frame control but for its priority, our address, the source, the LLC header
 * and the type in session s's key: 21 bytes. */
static inline unsigned fddi_batch_of(const struct xk_rep *r, const struct xk_sess *s, const struct xk_batch *f)
{
	static const uint8_t mask[XK_WIDE] = {
		0xf8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	uint8_t head[XK_WIDE] = { FDDI_FC_LLC_ASYNC }, key[8];

	if (!link_batch_for(r, f, s))
		return 0;
	xk_put_raw64(key, s->map.key.w[0]);     /* the source, then the type */
	memcpy(head + FDDI_DST, link_state(r)->mac, 6);
	memcpy(head + FDDI_SRC, key, 6);
	memcpy(head + FDDI_LLC, fddi_llc_snap, 6);
	memcpy(head + FDDI_TYPE, key + 6, 2);
	return link_batch_same(f, xk_wide_load(head), xk_wide_load(mask));
}

unsigned fddi_fast_batch(struct xk_up *up, struct xk_sess *lls, const struct xk_batch *f)
{
	(void)lls;
	return xk_batch_through(up->rep, f, fddi_batch_of, FDDI_HDR_LEN, -1);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ip_fast.c - the header that nearly all datagrams have, in fewer instructions: one
 * alone, and a batch of known connections.
 *
 * It must equal ip_input.c and ip_output.c: ip_fast_demux and ip_fast_push do what
 * ip_demux and ip_push do, and leave to them whatever they do not see through;
 * ip_fast_batch does to a batch what ip_demux does to each of it.  Without this file
 * (--disable-fastpath) IP does the same, slower.
 * Checked is what can differ between datagrams of one session (header, length, TTL,
 * checksum): that addresses are legal was settled when the session was made, since
 * its key holds both of them.  Invariant: no datagram makes a session here.
 */
#include "protocols/ip/ip_priv.h"
#include "runtime/upi/xk_inline.h"

/* ---- down ----------------------------------------------------------------------- */

/* A header of a datagram that heeds ECN, room for it at p. */
static XK_NOINLINE void push_ect(struct ip_sess *is, struct xk_msg *m, uint8_t *p)
{
	m->flags &= (uint8_t)~XK_MSG_ECT;
	ip_template_put_atomic(p, &is->ect, m->tot);
	xk_push(is->s.down, m);
}

/* No stack frame: every call is the last thing done. */
void ip_fast_push(struct xk_sess *s, struct xk_msg *m)
{
	struct ip_sess *is = ip_sess(s);
	uint8_t *p;

	if (XK_LIKELY(m->tot <= is->room)) {
		p = xk_msg_push_quick(m, IP_HDR_LEN);
		if (XK_LIKELY(p != NULL)) {
			if (m->flags & XK_MSG_ECT) {
				push_ect(is, m, p);
				return;
			}
			ip_template_put_atomic(p, &is->head, m->tot);
			xk_push(s->down, m);
			return;
		}
	}
	ip_push(s, m);
}

/* ---- up ------------------------------------------------------------------------- */

/* Is m a plain datagram in a buffer of its own?  Then with its key and its length. */
static inline bool plain(const struct xk_msg *m, struct xk_key *k, uint32_t *length)
{
	return !(m->flags & (XK_MSG_CHAIN | IP_FOREIGN | XK_MSG_LINK_BCAST)) && m->len >= IP_HDR_LEN &&
	       ip_hdr_quick(m->data, m->len, k, length);
}

/* The header at h, in m's own buffer, ends: what is behind it rises. */
static inline void open_plain(struct xk_msg *m, uint8_t *h, uint32_t length)
{
	m->net = (uint16_t)(h - (uint8_t *)m);
	m->data = h + IP_HDR_LEN;
	m->len = m->tot = length - IP_HDR_LEN;
}

/* The session of a plain datagram is looked up; of others, and without one, ip_demux knows. */
static XK_NOINLINE void demux_unhinted(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	uint8_t *h = m->data;
	struct xk_sess *s;
	struct xk_key k;
	uint32_t length = 0;   /* gcc does not see that plain gives it */

	if (XK_UNLIKELY(!plain(m, &k, &length) || (s = xk_find(up->rep, m, &k)) == NULL)) {
		ip_demux(up, lls, m);
		return;
	}
	open_plain(m, h, length);
	xk_pop(s, lls, m, h);
}

/* No stack frame, no map: every call is the last thing done. */
void ip_fast_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	struct xk_sess *s;
	struct xk_key k;
	uint32_t length;

	if (XK_LIKELY(plain(m, &k, &length))) {
		s = xk_find_hinted(up->rep, m, k.w[0], k.w[1]);
		if (XK_LIKELY(s != NULL)) {
			open_plain(m, m->data, length);
			xk_pass(s, m);
			return;
		}
	}
	demux_unhinted(up, lls, m);
}

/* ---- up, a batch of known connections ------------------------------------------------- */

/* One whole datagram of session s, behind f->off bytes?  Padding goes. */
static inline bool frame_open(const struct xk_sess *s, const struct xk_batch *f, struct xk_msg *x)
{
	uint32_t length, have = x->len - f->off;
	struct xk_key k;

	if (x->len < f->off + XK_WIDE || !ip_hdr_quick(x->data + f->off, have, &k, &length) ||
	    !xk_key_eq(&s->map.key, &k))
		return false;
	x->len = x->tot = f->off + length;
	return true;
}

/*
 * How many, from the first one on, are plain datagrams of session s.  A header
 * that is the one before it bit for bit (senders need no identification in what
 * may not be fragmented) is as good as that one; one that differs in
 * identification and checksum alone needs the sum.
 */
static inline unsigned frames_open(const struct xk_rep *r, const struct xk_sess *s, const struct xk_batch *f)
{
	const xk_wide whole = xk_wide_load(ip_hdr_whole_mask), same = xk_wide_load(ip_hdr_same_mask);
	const uint64_t pair = (uint32_t)s->map.key.w[0] + (s->map.key.w[0] >> 32);
	uint32_t len = 0;                /* of the frame before; no frame is so short */
	const size_t off = f->off;
	xk_wide last = whole;
	unsigned i;

	if (XK_UNLIKELY(s->rep != r || s->rcnt <= 0))
		return 0;
	for (i = 0; i < f->n; i++) {
		struct xk_msg *x = f->m[i];
		const uint8_t *h = x->data + off;

		if (XK_LIKELY(x->len == len && xk_wide_same(xk_wide_load(h), last, whole)))
			continue;
		if (x->len == len && xk_wide_same(xk_wide_load(h), last, same) && ip_hdr_same_sum_ok(h, pair))
			continue;
		len = x->len;
		if (!frame_open(s, f, x))
			break;
		if (XK_UNLIKELY(x->len != len))
			len = 0;         /* padded ones are cut one by one */
		last = xk_wide_load(h);
	}
	return i;
}

unsigned ip_fast_batch(struct xk_up *up, struct xk_sess *lls, const struct xk_batch *f)
{
	(void)lls;
	return xk_batch_through(up->rep, f, frames_open, IP_HDR_LEN, (int32_t)f->off);
}

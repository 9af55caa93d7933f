/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cut.c - frames out of a super-segment.
 *
 * The headers are read once, copied for each frame, and only what differs is stored again:
 * lengths, number, flags, identification, checksums, each of these a few additions to sums of what is
 * the same.  Payload is read once, copied and summed by the same loads; where the transport has noted the
 * sum of a segment, that one goes into the checksum, so what happens to the bytes in between shows.
 * Invariant: after xk_cut_begin said yes, hlen <= XK_CUT_HEAD, hlen + seg <= frame_max, and the chain
 * has `left` bytes from (at, off) on.
 */
#include "drivers/common/cut.h"

#include <string.h>

#include "runtime/base/xk_csum_inline.h"
#include "runtime/msg/xk_msg_inline.h"
#include "runtime/upi/xk_node.h"

#define ETH_HDR  14u
#define IP_HDR   20u
#define TCP_HDR  20u
#define UDP_HDR  8u
#define TYPE_IP  0x0800u
#define FLAG_DF  0x4000u
#define FRAGMENT 0x3fffu         /* more fragments, or an offset */
#define TCP_FIN  0x01u
#define TCP_SYN  0x02u
#define TCP_RST  0x04u
#define TCP_PSH  0x08u
#define TCP_URG  0x20u
#define TCP_CWR  0x80u
enum { PROTO_TCP = 6, PROTO_UDP = 17 };

/* ---- headers ---------------------------------------------------------------------- */

/* The sum of n bytes at p, of which the k at `but` count as 0. */
static uint32_t sum_but(const uint8_t *p, uint32_t n, uint32_t but, uint32_t k)
{
	uint32_t s = xk_csum(p, but, 0);

	return xk_csum_add(s, xk_csum(p + but + k, n - but - k, 0));
}

/* A whole datagram of IPv4 that fills the message of tot bytes, none of its headers options that
 * reach out of what there is; c->tp is set. */
static bool read_ip(struct xk_cut *c, uint32_t have, uint32_t tot)
{
	const uint8_t *ip = c->head + c->net;
	uint32_t hlen, fragment;

	if (have < c->net + IP_HDR || xk_be16(ip - 2) != TYPE_IP || ip[0] >> 4 != 4)
		return false;
	hlen = (ip[0] & 15u) * 4;
	fragment = xk_be16(ip + 6);
	if (hlen < IP_HDR || have < c->net + hlen || xk_be16(ip + 2) != tot - c->net || (fragment & FRAGMENT) != 0)
		return false;
	c->tp = c->net + hlen;
	c->df = (fragment & FLAG_DF) != 0;
	c->id = xk_be16(ip + 4);
	c->tcp = ip[9] == PROTO_TCP;
	return c->tcp || ip[9] == PROTO_UDP;
}

static bool read_tcp(struct xk_cut *c, uint32_t have)
{
	const uint8_t *t = c->head + c->tp;

	if (have < c->tp + TCP_HDR || (t[13] & (TCP_SYN | TCP_RST)) != 0 || t[12] >> 4 < TCP_HDR / 4)
		return false;
	c->hlen = c->tp + (t[12] >> 4) * 4u;
	c->seq = xk_be32(t + 4);
	c->word = xk_be16(t + 12);
	c->urg = xk_be16(t + 18);
	return true;
}

static bool read_udp(struct xk_cut *c, uint32_t have, uint32_t tot)
{
	c->hlen = c->tp + UDP_HDR;
	return have >= c->hlen && xk_be16(c->head + c->tp + 4) == tot - c->tp;
}

/* Sums of what is the same in every frame. */
static void sum_same(struct xk_cut *c)
{
	uint8_t *ip = c->head + c->net, *t = c->head + c->tp;
	uint32_t n = c->hlen - c->tp;

	xk_put_raw32(ip + 2, 0);         /* total length, identification */
	xk_put_raw16(ip + 10, 0);
	c->ip_sum = xk_csum(ip, c->tp - c->net, 0);
	c->pseudo = xk_csum_add(xk_csum(ip + 12, 8, 0), htobe16(c->tcp ? PROTO_TCP : PROTO_UDP));
	if (c->tcp) {
		xk_put_raw32(t + 4, 0);
		xk_put_raw16(t + 12, 0);
		xk_put_raw16(t + 18, 0);
		c->tp_sum = sum_but(t, n, 16, 2);
	} else {
		xk_put_raw16(t + 4, 0);
		c->tp_sum = sum_but(t, n, 6, 2);
	}
}

/* (at, off) becomes the n-th byte of m, which is longer. */
static void seek(struct xk_cut *c, const struct xk_msg *m, uint32_t n)
{
	while (n >= m->len) {
		n -= m->len;
		m = m->next;
	}
	c->at = m;
	c->off = n;
}

bool xk_cut_begin(struct xk_cut *c, const struct xk_msg *m, uint32_t link, uint32_t seg, uint32_t frame_max, bool sums)
{
	uint32_t have = xk_msg_copy_out(m, 0, c->head, XK_CUT_HEAD);

	if (link < 2 || link > 24)
		return false;
	c->net = link;
	if (!read_ip(c, have, m->tot) || !(c->tcp ? read_tcp(c, have) : read_udp(c, have, m->tot)))
		return false;
	if (c->hlen > have || c->hlen >= m->tot || seg == 0 || c->hlen > frame_max || seg > frame_max - c->hlen)
		return false;
	c->seg = seg;
	c->sums = sums;
	c->left = m->tot - c->hlen;
	sum_same(c);
	seek(c, m, c->hlen);
	return true;
}

/* ---- a frame ------------------------------------------------------------------------ */

struct sums { uint32_t noted, copied; };

static uint32_t place(uint32_t sum, uint32_t at, uint32_t part)
{
	return xk_csum_add(sum, at & 1 ? xk_csum_swap(part) : part);
}

/* n bytes of payload: their sum as it is noted, and as it is. */
static struct sums copy_payload(struct xk_cut *c, uint8_t *dst, uint32_t n)
{
	struct sums s = { 0, 0 };

	for (uint32_t at = 0; at < n;) {
		const struct xk_msg *m = c->at;
		uint32_t have = m->len - c->off, k = have < n - at ? have : n - at, sum;

		sum = xk_csum_copy_quick(dst + at, m->data + c->off, k, 0);
		s.copied = place(s.copied, at, sum);
		s.noted = place(s.noted, at, (m->flags & XK_MSG_CSUM) && k == m->len ? m->csum : sum);
		at += k;
		c->off += k;
		while (c->off == c->at->len && c->at->next != NULL) {
			c->at = c->at->next;
			c->off = 0;
		}
	}
	return s;
}

static void put_ip(struct xk_cut *c, uint8_t *ip, uint32_t len)
{
	uint32_t sum = xk_csum_add(c->ip_sum, (uint32_t)htobe16((uint16_t)len) + htobe16(c->id));

	xk_put_be16(ip + 2, (uint16_t)len);
	xk_put_be16(ip + 4, c->id);
	xk_put_raw16(ip + 10, (uint16_t)~xk_csum_fold(sum));
	if (!c->df)
		c->id++;
}

/* Offset and flags of the next frame, which n bytes of payload make. */
static uint16_t word_of(const struct xk_cut *c, uint32_t n)
{
	return n == c->left ? c->word : c->word & (uint16_t)~(TCP_FIN | TCP_PSH);
}

/* n bytes have gone: how far the urgent data reaches is said from where a frame begins. */
static XK_NOINLINE void pass_urgent(struct xk_cut *c, uint32_t n)
{
	if (c->urg <= n)
		c->word &= (uint16_t)~TCP_URG;
	c->urg = (uint16_t)(c->urg > n ? c->urg - n : 0);
}

/* The transport's header but for the checksum; what is stored as a partial sum. */
static uint32_t put_transport(struct xk_cut *c, uint8_t *t, uint32_t n, uint32_t len)
{
	uint32_t seq = htobe32(c->seq), word, urg;

	if (!c->tcp) {
		xk_put_be16(t + 4, (uint16_t)len);
		return xk_csum_add(c->tp_sum, htobe16((uint16_t)len));
	}
	word = htobe16(word_of(c, n));
	urg = htobe16(c->urg);
	xk_put_raw32(t + 4, seq);
	xk_put_raw16(t + 12, (uint16_t)word);
	xk_put_raw16(t + 18, (uint16_t)urg);
	c->seq += n;
	c->word &= (uint16_t)~TCP_CWR;
	if (XK_UNLIKELY(c->word & TCP_URG))
		pass_urgent(c, n);
	return xk_csum_add(xk_csum_add(c->tp_sum, seq), word + urg);
}

/* The checksum for a sum of all; UDP's 0 means that there is none (RFC 768). */
static uint16_t checksum(const struct xk_cut *c, uint32_t sum)
{
	uint16_t x = (uint16_t)~xk_csum_fold(sum);

	return x == 0 && !c->tcp ? 0xffff : x;
}

/* The headers, before n bytes of payload that were just copied. */
static inline uint32_t put_heads(struct xk_cut *c, uint8_t *dst, uint32_t n, struct sums s)
{
	uint32_t len = c->hlen - c->tp + n, head;
	uint8_t *t = dst + c->tp, *field = t + (c->tcp ? 16 : 6);

	memcpy(dst, c->head, c->hlen);
	put_ip(c, dst + c->net, c->hlen - c->net + n);
	head = put_transport(c, t, n, len);
	if (c->sums)
		xk_put_raw16(field, checksum(c, xk_csum_add(xk_csum_add(c->pseudo, htobe16((uint16_t)len)),
							    xk_csum_add(head, place(0, c->hlen - c->tp, s.noted)))));
	c->left -= n;
	return xk_csum_add(xk_csum_add(head, xk_raw16(field)), place(0, c->hlen - c->tp, s.copied));
}

uint32_t xk_cut_put(struct xk_cut *c, uint8_t *dst)
{
	uint32_t n = c->left < c->seg ? c->left : c->seg;

	return put_heads(c, dst, n, copy_payload(c, dst + c->hlen, n));
}

/* ---- messages ----------------------------------------------------------------------- */

/* A frame of n bytes, longer than a segment. */
static XK_NOINLINE struct xk_msg *cut_chain(struct xk_cut *c, uint32_t n)
{
	struct xk_msg *m = xk_msg_new(n);
	struct sums s = { 0, 0 };
	uint32_t at = 0;

	for (struct xk_msg *x = m; x != NULL; x = x->next) {
		uint32_t head = x == m ? c->hlen : 0;
		struct sums part = copy_payload(c, x->data + head, x->len - head);

		s.copied = place(s.copied, at, part.copied);
		s.noted = place(s.noted, at, part.noted);
		at += x->len - head;
	}
	if (m != NULL)
		(void)put_heads(c, m->data, at, s);
	return m;
}

struct xk_msg *xk_cut_msg(struct xk_cut *c)
{
	uint32_t n = xk_cut_next(c), back = c->hlen & (XK_CACHELINE - 1);
	struct xk_msg *m;

	if (XK_UNLIKELY(n > XK_MSG_MAX_SEG))
		return cut_chain(c, n);
	m = xk_msg_new_cls(xk_msg_class(n), n);
	if (m == NULL)
		return NULL;
	m->data -= back;
	m->csum = xk_cut_put(c, m->data);
	m->flags |= XK_MSG_CSUM;
	return m;
}

uint32_t xk_cut_rest(struct xk_cut *c, struct xk_msgq *q)
{
	while (c->left != 0) {
		struct xk_msg *m = xk_cut_msg(c);

		if (m == NULL)
			break;
		xk_msgq_put(q, m);
	}
	return c->left;
}

void xk_cut_down(struct xk_rep *r, struct xk_msg *m, uint32_t frame_max, unsigned drop, struct xk_msgq *q)
{
	struct xk_cut c;

	if (!xk_cut_super(&c, m, ETH_HDR, frame_max)) {
		xk_drop(r, drop, m);
		return;
	}
	if (xk_cut_rest(&c, q) != 0)
		xk_dropped(r, XK_DROP_NOMEM, 1);
	xk_msg_free(m);
}

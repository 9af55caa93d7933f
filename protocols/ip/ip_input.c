/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ip_input.c - the up path: the header that nearly all datagrams have goes
 * straight to its session, every other is examined field by field.
 *
 * The quick path checks what can differ between datagrams of one session
 * (header, length, TTL, checksum); whether addresses are legal was settled
 * when the session was made, since its key holds both of them.  Rows of the
 * list of known attacks: header and length lies, options, LAND, TTL 0.
 * Invariant: a message that reaches pop is exactly total_length bytes long and
 * its first header bytes are contiguous with the network header noted.
 */
#include "protocols/ip/ip_priv.h"

/* Bytes behind a header that transports may expect in one piece with it. */
#define CONTIGUOUS 128u
#define FOREIGN    (XK_MSG_REF | XK_MSG_EXTERN)

void ip_pop(struct xk_sess *s, struct xk_sess *lls, struct xk_msg *m, void *hdr)
{
	(void)lls;
	(void)hdr;
	xk_demux(s, m);
}

/* ---- sessions that a datagram makes or wakes --------------------------------------- */

/* Legal as a sender, and something that reaches us; else the reason. */
static int illegal(const struct ip_node *in, uint32_t src, uint32_t dst)
{
	enum ip_kind to = ip_addr_kind(in, dst);

	if (ip_addr_kind(in, src) != IP_ADDR_OTHER)
		return IP_DROP_SOURCE;
	if (to == IP_ADDR_OTHER || to == IP_ADDR_ILLEGAL)
		return IP_DROP_NOT_OURS;
	return IP_PASS;
}

/* The address that answers carry: a group's or a broadcast's is not ours. */
static uint32_t answer_from(const struct ip_node *in, uint32_t src, uint32_t dst)
{
	uint32_t hop, local;

	if (ip_addr_kind(in, dst) == IP_ADDR_OURS)
		return dst;
	return ip_route_find(in, src, &hop, &local) ? local : in->addr[0].addr;
}

static void unknown_protocol(struct xk_rep *r, struct xk_msg *m)
{
	ip_icmp_error(r, m, 3, 2, 0);
	xk_drop(r, IP_DROP_PROTOCOL, m);
}

/*
 * Nobody's session: makes one if an enable wants it, says so above, delivers,
 * and lets the session linger.  m->data is past the header h.  The reference
 * is ours until then: what open_done pushes may be answered on this stack.
 */
static XK_NOINLINE void deliver_first(struct xk_rep *r, struct xk_sess *lls, struct xk_msg *m,
				      uint8_t *h, const struct xk_key *k)
{
	uint32_t src = ip_net_src(h), dst = ip_net_dst(h);
	struct xk_enable *e = inet_enable_find(r->node, (uint8_t)k->w[1], dst);
	struct ip_sess *is;
	int err;

	if (e == NULL) {
		unknown_protocol(r, m);
		return;
	}
	is = ip_sess_new(r, &e->rcv->rep[r->vp->no]->up, e->type, k, src,
			 answer_from(ip_state(r)->in, src, dst), &err);
	if (is == NULL) {
		xk_drop(r, err == XK_E_NOSPC ? IP_DROP_SESSIONS : XK_DROP_NOMEM, m);
		return;
	}
	xk_dup(&is->s);
	if (xk_open_done(e->rcv, &is->s, e->type) < 0) {
		xk_close(&is->s);
		xk_drop(r, IP_DROP_REFUSED, m);
		return;
	}
	xk_pop(&is->s, lls, m, h);
	linger_add(&ip_state(r)->linger, &is->linger, &is->s);
}

/* m->data is at its valid header; addresses are legal. */
static void deliver(struct xk_rep *r, struct xk_sess *lls, struct xk_msg *m, uint32_t hlen)
{
	uint8_t *h = m->data;
	struct xk_sess *s;
	struct xk_key k;

	ip_hdr_key(h, &k);
	s = xk_find(r, m, &k);
	xk_msg_set_net(m, h);
	xk_msg_pop(m, hlen);
	if (XK_LIKELY(s != NULL))
		xk_pop(s, lls, m, h);
	else
		deliver_first(r, lls, m, h, &k);
}

/* ---- the careful path ------------------------------------------------------------------ */

/* Has the first segment, its own, all of the headers up to UDP's or TCP's payload?  A driver that
 * places payload elsewhere leaves no more there (xk_deposit.h). */
static bool headers_whole(const struct xk_msg *m, uint32_t hlen)
{
	const uint8_t *p = m->data;

	if ((m->flags & FOREIGN) || m->len < hlen + 8 || (xk_be16(p + 6) & (IP_FLAG_MF | IP_OFFSET_MASK)) != 0)
		return false;
	return p[9] == IP_PROTO_UDP ||
	       (p[9] == IP_PROTO_TCP && m->len >= hlen + 20 && m->len >= hlen + (p[hlen + 12] >> 4) * 4u);
}

/*
 * Header and transport header in one piece and in a buffer of the message's
 * own: what lies in somebody else's cannot be noted as its network header.
 */
static bool pull(struct xk_msg **mp, uint32_t hlen)
{
	uint32_t n = hlen + CONTIGUOUS < (*mp)->tot ? hlen + CONTIGUOUS : (*mp)->tot;
	uint8_t copy[IP_HDR_MAX + CONTIGUOUS], *p;

	if (headers_whole(*mp, hlen))
		return true;
	if (xk_msg_peek(mp, n) == NULL)
		return false;
	if (!((*mp)->flags & FOREIGN))
		return true;
	memcpy(copy, (*mp)->data, n);
	xk_msg_pop(*mp, n);
	p = xk_msg_push(mp, n);
	if (p == NULL)
		return false;
	memcpy(p, copy, n);
	return true;
}

/* Version and lengths, with the header in one piece afterwards. */
static int examine_lengths(struct xk_msg **mp, struct ip_hdr *h)
{
	uint32_t tot = (*mp)->tot;
	uint8_t *p;

	if (tot < IP_HDR_LEN)
		return IP_DROP_SHORT;
	p = xk_msg_peek(mp, IP_HDR_LEN);
	if (p == NULL)
		return XK_DROP_NOMEM;
	ip_hdr_load(p, h);
	if (h->version != 4)
		return IP_DROP_VERSION;
	if (h->hlen < IP_HDR_LEN || h->hlen > tot)
		return IP_DROP_HLEN;
	if (h->total_length < h->hlen || h->total_length > tot)
		return IP_DROP_LENGTH;
	return pull(mp, h->hlen) ? IP_PASS : XK_DROP_NOMEM;
}

/* Everything but options and fragments; IP_PASS or the reason to drop. */
static int examine(struct xk_rep *r, struct xk_msg **mp, struct ip_hdr *h)
{
	const struct ip_conf *c = r->conf;
	int reason = examine_lengths(mp, h);

	if (reason != IP_PASS)
		return reason;
	if (!ip_hdr_sum_ok((*mp)->data, h->hlen) && c->checksum == IP_CSUM_VERIFY)
		return IP_DROP_CHECKSUM;
	if (h->ttl == 0)
		return IP_DROP_TTL;
	reason = illegal(ip_state(r)->in, h->source, h->destination);
	if (reason == IP_PASS && ((*mp)->flags & XK_MSG_LINK_BCAST) &&
	    ip_addr_kind(ip_state(r)->in, h->destination) == IP_ADDR_OURS)
		return IP_DROP_LINK_BCAST;
	return reason;
}

/* True when m may go on.  Takes m otherwise. */
static bool options_pass(struct xk_rep *r, struct xk_msg *m, const struct ip_hdr *h)
{
	uint32_t pointer = 0;
	enum ip_options o;

	if (h->hlen == IP_HDR_LEN)
		return true;
	o = ip_hdr_options(m->data, h->hlen, &pointer);
	if (o == IP_OPT_OK)
		return true;
	xk_msg_set_net(m, m->data);
	xk_msg_pop(m, h->hlen);
	if (o == IP_OPT_BAD)
		ip_icmp_error(r, m, 12, 0, pointer << 24);
	xk_drop(r, o == IP_OPT_BAD ? IP_DROP_OPTIONS : IP_DROP_SOURCE_ROUTE, m);
	return false;
}

/* What the classifier would have said, had it seen the whole datagram: ports
 * for UDP and TCP, the identifier of echo and its reply; else the two hosts. */
static void flow_key(const uint8_t *p, uint32_t hlen, uint32_t have, struct xk_flowkey *k)
{
	const uint8_t *t = p + hlen;

	*k = (struct xk_flowkey){ .raddr = xk_raw32(p + 12), .laddr = xk_raw32(p + 16),
				  .proto = IP_PROTO_ICMP };
	if ((p[9] == IP_PROTO_UDP || p[9] == IP_PROTO_TCP) && have >= hlen + 8) {
		k->proto = p[9];
		k->rport = xk_raw16(t);
		k->lport = xk_raw16(t + 2);
	} else if (p[9] == IP_PROTO_ICMP && have >= hlen + 8 && (t[0] & 0xf7) == 0) {
		k->lport = xk_raw16(t + 4);
	}
}

/* A device that decides nothing spreads a datagram's fragments: they meet where any other device
 * would have sent them. */
static bool fragment_away(struct xk_rep *r, struct xk_msg *m)
{
	const uint8_t *p = m->data;

	if (m->hash != 0)
		return false;
	m->hash = xk_hash_ends(xk_be32(p + 12), xk_be16(p + 4), xk_be32(p + 16), (uint32_t)p[9] << 8, 1);
	m->vp = xk_hash_vp(m->hash, r->vp->set->nconn);
	if (m->vp == r->vp->no)
		return false;
	m->node = r->node->no;
	xk_count(r->count[IP_COUNT_GATHERED]);
	xk_vp_post(r->node->rep[m->vp]->vp, m);
	return true;
}

/* A fragment; what it completes goes on where its connection lives. */
static void fragment_in(struct xk_rep *r, struct xk_sess *lls, struct xk_msg *m, const struct ip_hdr *h)
{
	struct xk_flowkey k;
	uint32_t hlen;

	if (XK_UNLIKELY(fragment_away(r, m)))
		return;
	m = ip_reass_input(r, m, h);
	if (m == NULL)
		return;
	hlen = ip_net_hlen(m->data);
	if (!pull(&m, hlen)) {
		xk_drop(r, XK_DROP_NOMEM, m);
		return;
	}
	flow_key(m->data, hlen, m->len, &k);
	if (xk_reroute(r, &k, m))
		xk_count(r->count[IP_COUNT_REROUTED]);
	else
		deliver(r, lls, m, hlen);
}

static XK_NOINLINE void input_careful(struct xk_rep *r, struct xk_sess *lls, struct xk_msg *m)
{
	struct ip_hdr h;
	int reason = examine(r, &m, &h);

	if (reason != IP_PASS) {
		xk_drop(r, (unsigned)reason, m);
		return;
	}
	xk_msg_truncate(m, h.total_length);
	m->flags &= (uint8_t)~XK_MSG_CSUM;       /* of what a plain header led to */
	if (!options_pass(r, m, &h))
		return;
	if ((h.fragment & (IP_FLAG_MF | IP_OFFSET_MASK)) != 0)
		fragment_in(r, lls, m, &h);
	else
		deliver(r, lls, m, h.hlen);
}

/* ---- the quick path ---------------------------------------------------------------------- */

static XK_NOINLINE void input_first(struct xk_rep *r, struct xk_sess *lls, struct xk_msg *m,
				    const struct xk_key *k)
{
	uint8_t *h = m->data - IP_HDR_LEN;
	int reason = illegal(ip_state(r)->in, ip_net_src(h), ip_net_dst(h));

	if (reason != IP_PASS)
		xk_drop(r, (unsigned)reason, m);
	else
		deliver_first(r, lls, m, h, k);
}

/* Every datagram that ip_demux did not see through. */
static XK_NOINLINE void demux_any(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	struct xk_rep *r = up->rep;
	uint8_t *h = m->data;
	struct xk_sess *s;
	struct xk_key k;
	uint32_t length;

	if (XK_UNLIKELY((m->flags & (XK_MSG_CHAIN | FOREIGN | XK_MSG_LINK_BCAST)) || m->len < IP_HDR_LEN ||
			!ip_hdr_quick(h, m->len, &k, &length))) {
		input_careful(r, lls, m);
		return;
	}
	s = xk_find(r, m, &k);
	m->len = m->tot = length;
	xk_msg_set_net(m, h);
	xk_msg_pop(m, IP_HDR_LEN);
	if (XK_UNLIKELY(s == NULL))
		input_first(r, lls, m, &k);
	else
		xk_pop(s, lls, m, h);
}

/* No stack frame, no map: every call is the last thing done. */
void ip_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	uint8_t *h = m->data;
	struct xk_sess *s;
	struct xk_key k;
	uint32_t length;

	if (XK_LIKELY(!(m->flags & (XK_MSG_CHAIN | FOREIGN | XK_MSG_LINK_BCAST)) && m->len >= IP_HDR_LEN &&
		      ip_hdr_quick(h, m->len, &k, &length))) {
		s = xk_find_hinted(up->rep, m, k.w[0], k.w[1]);
		if (XK_LIKELY(s != NULL)) {
			m->net = (uint16_t)(h - (uint8_t *)m);  /* its own buffer: it fits */
			m->data = h + IP_HDR_LEN;
			m->len = m->tot = length - IP_HDR_LEN;
			xk_pass(s, m);
			return;
		}
	}
	demux_any(up, lls, m);
}

/* One whole datagram of session s, behind f->off bytes?  Padding goes. */
static inline bool frame_open(const struct xk_sess *s, const struct xk_frames *f, struct xk_msg *x)
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
static inline unsigned frames_open(const struct xk_sess *s, const struct xk_frames *f)
{
	const xk_wide whole = xk_wide_load(ip_hdr_whole_mask), same = xk_wide_load(ip_hdr_same_mask);
	const uint64_t pair = (uint32_t)s->map.key.w[0] + (s->map.key.w[0] >> 32);
	uint32_t len = 0;                /* of the frame before; no frame is so short */
	const size_t off = f->off;
	xk_wide last = whole;
	unsigned i;

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

unsigned ip_demux_frames(struct xk_up *up, struct xk_sess *lls, const struct xk_frames *f)
{
	struct xk_sess *s = *f->hint;
	unsigned plain = 0;

	if (XK_LIKELY(s->rep == up->rep && s->rcnt > 0))
		plain = frames_open(s, f);
	return xk_frames_on(up, lls, f, s, plain, IP_HDR_LEN, (int32_t)f->off);
}

/* A datagram put together on another VP: checked there already.  Or a fragment that came to
 * one where it could not meet the others. */
void ip_enter(struct xk_rep *r, struct xk_msg *m)
{
	if (XK_UNLIKELY((xk_be16(m->data + 6) & (IP_FLAG_MF | IP_OFFSET_MASK)) != 0))
		input_careful(r, NULL, m);
	else
		deliver(r, NULL, m, ip_net_hlen(m->data));
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ip_input.c - the up path: every datagram is examined field by field.
 *
 * Rows of the list of known attacks: header and length lies, options, LAND, TTL 0.
 * Invariant: a message that reaches pop is exactly total_length bytes long and
 * its first header bytes are contiguous with the network header noted.
 */
#include "protocols/ip/ip_priv.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_input.h"

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

	if (ip_is_self(in, dst))
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
	is = ip_sess_new(r, &xk_rep_here(xk_enable_rcv(e), r)->up, xk_enable_type(e), k, src,
			 answer_from(ip_state(r)->in, src, dst), &err);
	if (is == NULL) {
		xk_drop(r, err == XK_E_NOSPC ? IP_DROP_SESSIONS : XK_DROP_NOMEM, m);
		return;
	}
	xk_dup(&is->s);
	if (xk_open_done(xk_enable_rcv(e), &is->s, xk_enable_type(e)) < 0) {
		xk_close(&is->s);
		xk_drop(r, IP_DROP_REFUSED, m);
		return;
	}
	xk_pop(&is->s, lls, m, h);
	linger_add(&ip_state(r)->linger, &is->linger, &is->s);
}

/* m->data is at its valid header; addresses are legal; of: IP_KEY_SELF or 0. */
static void deliver(struct xk_rep *r, struct xk_sess *lls, struct xk_msg *m, uint32_t hlen, uint32_t of)
{
	uint8_t *h = m->data;
	struct xk_sess *s;
	struct xk_key k;

	ip_hdr_key(h, &k);
	k.w[1] |= of;
	s = xk_find(r, m, &k);
	xk_msg_set_net(m, h);
	xk_msg_pop(m, hlen);
	if (XK_LIKELY(s != NULL))
		xk_pop(s, lls, m, h);
	else
		deliver_first(r, lls, m, h, &k);
}

/* ---- what a datagram must be --------------------------------------------------------- */

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
	return ip_pull(mp, h->hlen) ? IP_PASS : XK_DROP_NOMEM;
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

/* A device that decides nothing spreads a datagram's fragments: they meet where any other device
 * would have sent them. */
static bool fragment_away(struct xk_rep *r, struct xk_msg *m)
{
	const uint8_t *p = m->data;

	if (m->hash != 0)
		return false;
	m->hash = xk_hash_ends(xk_be32(p + 12), xk_be16(p + 4), xk_be32(p + 16), (uint32_t)p[9] << 8, 1);
	if (!xk_spread(r, m))
		return false;
	xk_count(r->count[IP_COUNT_GATHERED]);
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
	if (!ip_pull(&m, hlen)) {
		xk_drop(r, XK_DROP_NOMEM, m);
		return;
	}
	ip_flow_key(m->data, hlen, m->len, &k);
	if (xk_reroute(r, &k, m))
		xk_count(r->count[IP_COUNT_REROUTED]);
	else
		deliver(r, lls, m, hlen, 0);
}

/* ---- every datagram --------------------------------------------------------------- */

static void input(struct xk_rep *r, struct xk_sess *lls, struct xk_msg *m)
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
		deliver(r, lls, m, h.hlen, 0);
}

void ip_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	input(up->rep, lls, m);
}

/* A datagram put together on another VP: checked there already.  Or a fragment that came to
 * one where it could not meet the others.  Or one to ourselves: none of a link has such a source. */
void ip_enter(struct xk_rep *r, struct xk_msg *m)
{
	uint32_t of = ip_is_self(ip_state(r)->in, ip_net_src(m->data)) ? IP_KEY_SELF : 0;

	if (XK_UNLIKELY((xk_be16(m->data + 6) & (IP_FLAG_MF | IP_OFFSET_MASK)) != 0))
		input(r, NULL, m);
	else
		deliver(r, NULL, m, ip_net_hlen(m->data), of);
}

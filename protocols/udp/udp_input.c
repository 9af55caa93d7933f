/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * udp_input.c - datagrams on their way up, and the sessions that they make.
 *
 * udp_demux is the whole way: lengths, checksum, ports.  Nothing is created for
 * loads: addresses from the network header, ports from ours.
 * Invariant: what reaches a session is length - 8 bytes, checked.
 */
#include "protocols/udp/udp_priv.h"

#include "protocols/inet/inet_sum.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"

/* ---- sessions made by datagrams ---------------------------------------------------- */

void udp_pop(struct xk_sess *s, struct xk_sess *lls, struct xk_msg *m, void *hdr)
{
	(void)lls;
	(void)hdr;
	xk_demux(s, m);
}

/* The session below for a datagram that came by way of another VP. */
static struct xk_sess *open_below(struct xk_rep *r, uint32_t remote, uint32_t local)
{
	struct xk_parts ps;

	xk_parts_init(&ps, 2);
	xk_part_push_host(&ps.p[XK_REMOTE], remote);
	if (xk_control(r->down[0], XK_CTL_ISLOCAL, &local, sizeof local) == 1)
		xk_part_push_host(&ps.p[XK_LOCAL], local);
	return xk_open(r, r->node, r->down[0], &ps, NULL);
}

/* Makes the session that e wants for a datagram under k, of this VP alone unless `anywhere`;
 * NULL with *reason. */
static struct udp_sess *sess_first(struct xk_rep *r, struct xk_sess *lls, const struct xk_enable *e,
				   const struct xk_key *k, const uint8_t *net, bool anywhere, unsigned *reason)
{
	struct udp_sess *us;
	int err = XK_E_NOMEM;

	*reason = XK_DROP_NOMEM;
	lls = lls != NULL ? xk_dup(lls) : open_below(r, ip_net_src(net), ip_net_dst(net));
	if (lls == NULL)
		return NULL;
	us = udp_sess_new(r, &xk_rep_here(xk_enable_rcv(e), r)->up, xk_enable_type(e), lls, &err);
	if (us == NULL) {
		if (err == XK_E_NOSPC)
			*reason = UDP_DROP_SESSIONS;
		return NULL;
	}
	err = udp_sess_bind(us, k, !anywhere);
	if (err == XK_OK)
		return us;
	inet_sess_free(&us->s);
	if (err == XK_E_EXIST)
		*reason = UDP_DROP_ELSEWHERE;
	return NULL;
}

static void unreachable(struct xk_rep *r, struct xk_msg *m)
{
	struct ip_icmp_error e = { m, 3, 3, 0 };

	xk_control(r->down[0], IP_CTL_ICMP_ERROR, &e, sizeof e);
	xk_drop(r, UDP_DROP_PORT, m);
}

static struct xk_enable *wanted_by(struct xk_rep *r, struct xk_msg *m, const struct xk_key *k)
{
	return inet_enable_find(r->node, udp_ports_destination((uint32_t)k->w[1]), ip_net_dst(xk_msg_net(m)));
}

/* No session under k on this VP, and this is the VP for it, or one of several.  The header is
 * still before the payload. */
static void deliver_first(struct xk_rep *r, struct xk_sess *lls, struct xk_msg *m, const struct xk_key *k, bool anywhere)
{
	const uint8_t *net = xk_msg_net(m);
	struct xk_enable *e = wanted_by(r, m, k);
	struct udp_sess *us;
	unsigned reason;

	if (e == NULL) {
		unreachable(r, m);
		return;
	}
	us = sess_first(r, lls, e, k, net, anywhere, &reason);
	if (us == NULL) {
		xk_drop(r, reason, m);
		return;
	}
	xk_dup(&us->s);
	if (xk_open_done(us->s.up->rep->node, &us->s, xk_sess_type(&us->s)) < 0) {
		xk_close(&us->s);
		xk_drop(r, UDP_DROP_REFUSED, m);
		return;
	}
	xk_msg_pop(m, UDP_HDR_LEN);
	xk_pop(&us->s, lls, m, m->data - UDP_HDR_LEN);
	linger_add(&udp_state(r)->linger, &us->linger, &us->s);
}

/* The first of its connection that this VP sees. */
static XK_NOINLINE void input_first(struct xk_rep *r, struct xk_sess *lls, struct xk_msg *m,
				    const struct xk_key *k)
{
	const struct xk_enable *e;
	struct xk_flowkey f;

	if (udp_ports_destination((uint32_t)k->w[1]) == 0) {
		xk_drop(r, UDP_DROP_PORT_ZERO, m);
		return;
	}
	if (ip_is_multicast(ip_net_src(xk_msg_net(m)))) {
		xk_drop(r, UDP_DROP_SOURCE, m);
		return;
	}
	udp_flowkey(&f, k);
	if (xk_anywhere_here(r) && (e = wanted_by(r, m, k)) != NULL && xk_anywhere(r, &f, xk_enable_rcv(e)))
		deliver_first(r, lls, m, k, true);
	else if (xk_reroute(r, &f, m))
		xk_count(r->count[UDP_COUNT_REROUTED]);
	else
		deliver_first(r, lls, m, k, false);
}

/* ---- every datagram ------------------------------------------------------------------- */

/* What is wrong with m's lengths, or UDP_PASS with m cut to its datagram. */
static inline int examine(struct xk_msg *m)
{
	uint32_t length;

	if (XK_UNLIKELY(m->tot < UDP_HDR_LEN))
		return UDP_DROP_SHORT;
	/* The layer below leaves both headers in one piece, its own noted. */
	if (XK_UNLIKELY(m->net == 0 || m->len < UDP_HDR_LEN))
		return XK_DROP_UNSUPPORTED;
	length = udp_hdr_length(m->data);
	if (XK_UNLIKELY(length < UDP_HDR_LEN || length > m->tot))
		return UDP_DROP_LENGTH;
	xk_msg_truncate(m, length);
	return UDP_PASS;
}

static XK_NOINLINE int no_checksum(struct xk_rep *r)
{
	const struct udp_conf *c = r->conf;

	xk_count(r->count[UDP_COUNT_UNCHECKED]);
	return c->require_checksum ? UDP_DROP_NO_CHECKSUM : UDP_PASS;
}

/* What is wrong with the checksum of m, the whole datagram between the addresses of pair. */
static inline int judge(struct xk_rep *r, const struct xk_msg *m, uint64_t pair)
{
	if (m->flags & XK_MSG_CSUM_OK)
		return UDP_PASS;
	if (XK_UNLIKELY(!udp_hdr_has_checksum(m->data)))
		return no_checksum(r);
	return inet_sum_good(m, udp_pseudo(pair, m->tot)) ? UDP_PASS : UDP_DROP_CHECKSUM;
}

void udp_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	struct xk_rep *r = up->rep;
	int reason = examine(m);
	struct xk_sess *s;
	struct xk_key k;

	if (XK_LIKELY(reason == UDP_PASS)) {
		udp_key(&k, ip_net_pair(xk_msg_net(m)), udp_hdr_ports(m->data));
		reason = judge(r, m, k.w[0]);
	}
	if (XK_UNLIKELY(reason != UDP_PASS)) {
		xk_drop(r, (unsigned)reason, m);
		return;
	}
	m->flags &= (uint8_t)~XK_MSG_CSUM;       /* judged */
	s = xk_find(r, m, &k);
	if (XK_UNLIKELY(s == NULL)) {
		input_first(r, lls, m, &k);
		return;
	}
	xk_msg_pop(m, UDP_HDR_LEN);
	xk_pop(s, lls, m, m->data - UDP_HDR_LEN);
}

/* From another VP: examined there, but for its session. */
void udp_enter(struct xk_rep *r, struct xk_msg *m)
{
	struct xk_sess *s;
	struct xk_key k;

	udp_key(&k, ip_net_pair(xk_msg_net(m)), udp_hdr_ports(m->data));
	s = xk_find(r, m, &k);
	if (s == NULL) {
		deliver_first(r, NULL, m, &k, false);
		return;
	}
	xk_msg_pop(m, UDP_HDR_LEN);
	xk_pop(s, s->down, m, m->data - UDP_HDR_LEN);
}

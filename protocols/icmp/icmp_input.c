/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * icmp_input.c - what comes in: echo requests are answered in place, replies
 * find their session, errors are handed to whoever sent what they quote.
 *
 * An error comes from some router and lands on whatever VP its addresses name;
 * the datagram that it quotes belongs to a connection, so it goes on on that
 * connection's VP.  So does a reply that no classifier looked at.
 * Invariant: nothing is read behind a quote's end, however short it is.
 */
#include "protocols/icmp/icmp_priv.h"

#include "protocols/inet/inet_sum.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_input.h"

#define IP_LEN_MIN 20u

/* ---- echo -------------------------------------------------------------------- */

static bool to_one_host(struct xk_sess *lls, const void *net)
{
	uint32_t mine;

	return xk_sess_control(lls, XK_CTL_GETMYHOST, &mine, sizeof mine) == (int)sizeof mine &&
	       mine == ip_net_dst(net);
}

/* Header off and on again: a lent buffer gets a header segment of its own,
 * every other is answered where it lies. */
static void echo(struct xk_rep *r, struct xk_sess *lls, struct xk_msg *m, const struct icmp_hdr *h)
{
	const struct icmp_conf *c = r->conf;
	uint8_t *p;

	if (!c->echo) {
		xk_drop(r, ICMP_DROP_ECHO_OFF, m);
		return;
	}
	if (lls == NULL || (m->flags & XK_MSG_LINK_BCAST) || !to_one_host(lls, xk_msg_net(m))) {
		xk_drop(r, ICMP_DROP_BROADCAST, m);
		return;
	}
	xk_msg_pop(m, ICMP_HDR_LEN);
	p = xk_msg_push(&m, ICMP_HDR_LEN);
	if (p == NULL) {
		xk_drop(r, XK_DROP_NOMEM, m);
		return;
	}
	icmp_hdr_store_reply(p, h);
	m->flags &= XK_MSG_SLOW;         /* forget what was true as received */
	xk_count(r->count[ICMP_COUNT_ECHOED]);
	xk_push(lls, m);
}

/* ---- echo replies ------------------------------------------------------------------ */

/* No session here: another VP may have it. */
static void reply_elsewhere(struct xk_rep *r, struct xk_msg *m, uint16_t id, bool entered)
{
	const uint8_t *net = xk_msg_net(m);
	struct xk_flowkey f;

	icmp_flowkey(&f, htobe32(ip_net_src(net)), htobe32(ip_net_dst(net)), htobe16(id));
	if (!entered && xk_reroute(r, &f, m))
		xk_count(r->count[ICMP_COUNT_REROUTED]);
	else
		xk_drop(r, ICMP_DROP_NO_SESSION, m);
}

static void reply(struct xk_rep *r, struct xk_sess *lls, struct xk_msg *m, const struct icmp_hdr *h,
		  bool entered)
{
	struct xk_sess *s;
	struct xk_key k;

	icmp_key(&k, ip_net_pair(xk_msg_net(m)), icmp_echo_id(h));
	s = xk_find(r, m, &k);
	if (s == NULL) {
		reply_elsewhere(r, m, icmp_echo_id(h), entered);
		return;
	}
	xk_count(r->count[ICMP_COUNT_REPLIES]);
	xk_msg_pop(m, ICMP_HDR_LEN);
	m->aux = icmp_echo_seq(h);
	xk_pop(s, lls, m, m->data - ICMP_HDR_LEN);
}

void icmp_pop(struct xk_sess *s, struct xk_sess *lls, struct xk_msg *m, void *hdr)
{
	(void)lls;
	(void)hdr;
	xk_demux(s, m);
}

/* ---- errors ---------------------------------------------------------------------------- */

/* Is the quote (len bytes) the head of a datagram that we sent?  0 or a reason. */
static unsigned check_quote(struct xk_rep *r, const uint8_t *q, uint32_t len)
{
	uint32_t hlen, src;

	if (len < IP_LEN_MIN)
		return ICMP_DROP_SHORT_QUOTE;
	hlen = ip_net_hlen(q);
	if (ip_net_version(q) != 4 || hlen < IP_LEN_MIN)
		return ICMP_DROP_QUOTE;
	if (len < hlen + 8)
		return ICMP_DROP_SHORT_QUOTE;
	src = ip_net_src(q);
	if (xk_control(r->down[0], XK_CTL_ISLOCAL, &src, sizeof src) != 1)
		return ICMP_DROP_QUOTE;
	return ip_net_is_tail(q) ? ICMP_DROP_QUOTE : 0;
}

/* About an echo request of ours: for the session's application. */
static void echo_failed(struct xk_rep *r, const struct ip_error_in *e)
{
	uint32_t hlen = ip_net_hlen(e->quote);
	struct xk_mapnode *node;
	struct icmp_error up;
	struct icmp_hdr h;
	struct xk_key k;

	icmp_hdr_load(e->quote + hlen, &h);
	if (h.type != ICMP_ECHO)
		return;
	icmp_key(&k, ip_pair(ip_net_dst(e->quote), ip_net_src(e->quote)), icmp_echo_id(&h));
	node = xk_map_resolve(&r->active, &k);
	if (node == NULL)
		return;
	up = (struct icmp_error){ xk_container_of(node, struct xk_sess, map), e->type, e->code,
				  icmp_echo_seq(&h), e->arg, e->from };
	xk_control(up.s->up->rep, ICMP_CTL_ERROR, &up, sizeof up);
}

/* The connection of the quoted datagram, as its answers would be classified. */
static void quoted_flow(const uint8_t *q, struct xk_flowkey *k)
{
	const uint8_t *t = q + ip_net_hlen(q);
	uint8_t proto = ip_net_protocol(q);

	*k = (struct xk_flowkey){ .raddr = htobe32(ip_net_dst(q)), .laddr = htobe32(ip_net_src(q)),
				  .proto = ICMP_PROTO };
	if (proto == 17 || proto == 6) {
		k->proto = proto;
		k->rport = xk_raw16(t + 2);
		k->lport = xk_raw16(t);
	} else if (proto == ICMP_PROTO && t[0] == ICMP_ECHO) {
		k->lport = xk_raw16(t + 4);
	}
}

static void error_in(struct xk_rep *r, struct xk_msg *m, const struct icmp_hdr *h, bool entered)
{
	const uint8_t *q = m->data + ICMP_HDR_LEN;
	uint32_t len = m->len - ICMP_HDR_LEN;
	unsigned reason = check_quote(r, q, len);
	struct xk_flowkey k;
	struct ip_error_in e;

	if (reason != 0) {
		xk_drop(r, reason, m);
		return;
	}
	quoted_flow(q, &k);
	if (!entered && xk_reroute(r, &k, m)) {
		xk_count(r->count[ICMP_COUNT_REROUTED]);
		return;
	}
	xk_count(r->count[ICMP_COUNT_ERRORS_IN]);
	e = (struct ip_error_in){ .type = h->type, .code = h->code, .arg = h->rest,
				  .from = ip_net_src(xk_msg_net(m)), .quote = q, .len = len };
	xk_control(r->down[0], IP_CTL_ICMP_IN, &e, sizeof e);
	if (ip_net_protocol(q) == ICMP_PROTO)
		echo_failed(r, &e);
	xk_msg_free(m);
}

/* ---- by type ------------------------------------------------------------------------------- */

static void dispatch(struct xk_rep *r, struct xk_sess *lls, struct xk_msg *m, bool entered)
{
	struct icmp_hdr h;

	icmp_hdr_load(m->data, &h);
	switch (h.type) {
	case ICMP_ECHO:
		echo(r, lls, m, &h);
		break;
	case ICMP_ECHO_REPLY:
		reply(r, lls, m, &h, entered);
		break;
	case ICMP_REDIRECT:
		xk_drop(r, ICMP_DROP_REDIRECT, m);
		break;
	default:
		if (icmp_is_error(h.type))
			error_in(r, m, &h, entered);
		else
			xk_drop(r, icmp_is_query(h.type) ? ICMP_DROP_IGNORED : ICMP_DROP_UNKNOWN, m);
	}
}

void icmp_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	struct xk_rep *r = up->rep;

	if (m->tot < ICMP_HDR_LEN) {
		xk_drop(r, ICMP_DROP_SHORT, m);
		return;
	}
	/* The layer below leaves headers and quotes in one piece, its own noted. */
	if (m->net == 0 || m->len < ICMP_HDR_LEN) {
		xk_drop(r, XK_DROP_UNSUPPORTED, m);
		return;
	}
	if (!inet_sum_good(m, 0)) {
		xk_drop(r, ICMP_DROP_CHECKSUM, m);
		return;
	}
	m->flags &= (uint8_t)~XK_MSG_CSUM;       /* judged */
	dispatch(r, lls, m, false);
}

void icmp_enter(struct xk_rep *r, struct xk_msg *m)
{
	dispatch(r, NULL, m, true);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * icmp_error.c - the errors that we send (RFC 792, RFC 1122 3.2.2, RFC 1812
 * 4.3.2.8): about which datagrams, how much of them, and how many.
 *
 * A token bucket for each VP with its share of the rate; time is the VP's
 * cached one.  Rules come before the bucket, so that what must not be answered
 * costs nobody else's share.
 * Invariant: no error is sent about an error, about a fragment other than the
 * first, or to or from anything but one host.
 */
#include "protocols/icmp/icmp_priv.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"
#include "runtime/upi/xk_vps.h"

void icmp_error_init(struct xk_rep *r)
{
	struct icmp_state *st = icmp_state(r);
	const struct icmp_conf *c = r->conf;
	uint64_t nvps = xk_node_nvps(r->node), burst = c->burst / nvps;

	if (c->rate == 0)
		return;
	st->interval = XK_SEC * nvps / c->rate;
	if (st->interval == 0)
		st->interval = 1;
	st->bucket = st->interval * (burst != 0 ? burst : 1);
	st->credit = st->bucket;
	st->filled = xk_vp_now();
}

static bool may_send_now(struct icmp_state *st)
{
	xk_ns now = xk_vp_now(), more = now - st->filled;

	if (st->interval == 0)
		return false;
	st->filled = now;
	st->credit = more > st->bucket - st->credit ? st->bucket : st->credit + more;
	if (st->credit < st->interval)
		return false;
	st->credit -= st->interval;
	return true;
}

/* Is this a datagram that may be answered with an error?  net is its header,
 * m what follows. */
static bool may_be_told(struct xk_rep *r, const struct xk_msg *m, const uint8_t *net)
{
	uint32_t dst = ip_net_dst(net), src = ip_net_src(net);
	uint8_t type;

	if ((m->flags & XK_MSG_LINK_BCAST) || ip_net_is_tail(net))
		return false;
	if (xk_control(r->down[0], XK_CTL_ISLOCAL, &dst, sizeof dst) != 1)
		return false;
	if (src >> 24 == 0 || src >> 28 >= 0xe)
		return false;
	if (src >> 24 == 127 && xk_control(r->down[0], XK_CTL_ISLOCAL, &src, sizeof src) != 1)
		return false;
	if (ip_net_protocol(net) != ICMP_PROTO)
		return true;
	/* The type may lie before the data pointer by now. */
	if (net + ip_net_hlen(net) < m->data)
		return icmp_is_query(net[ip_net_hlen(net)]);
	return xk_msg_copy_out(m, 0, &type, 1) == 1 && icmp_is_query(type);
}

/* The message: header, and the datagram from its header on, cut to size. */
static struct xk_msg *build(struct xk_rep *r, const struct ip_icmp_error *e, const uint8_t *net)
{
	const struct icmp_conf *c = r->conf;
	uint32_t before = (uint32_t)(e->m->data - net), quote = before + e->m->tot;
	struct xk_msg *n;

	if (quote > c->quote)
		quote = (uint32_t)c->quote;
	if (before > quote)
		before = quote;
	n = xk_msg_new(ICMP_HDR_LEN + quote);
	if (n == NULL)
		return NULL;
	memcpy(n->data + ICMP_HDR_LEN, net, before);
	xk_msg_copy_out(e->m, 0, n->data + ICMP_HDR_LEN + before, quote - before);
	icmp_hdr_store(n->data, e->type, e->code, e->arg, xk_csum(n->data + ICMP_HDR_LEN, quote, 0));
	return n;
}

int icmp_error_send(struct xk_rep *r, const struct ip_icmp_error *e)
{
	const uint8_t *net = xk_msg_net(e->m);
	struct xk_parts ps;
	struct xk_sess *s;
	struct xk_msg *n;

	if (net == NULL || !may_be_told(r, e->m, net)) {
		xk_count(r->count[ICMP_COUNT_NOT_SENT]);
		return 0;
	}
	if (!may_send_now(icmp_state(r))) {
		xk_count(r->count[ICMP_COUNT_LIMITED]);
		return 0;
	}
	xk_parts_init(&ps, 2);
	xk_part_push_host(&ps.p[XK_REMOTE], ip_net_src(net));
	xk_part_push_host(&ps.p[XK_LOCAL], ip_net_dst(net));
	s = xk_open(r, r->node, r->down[0], &ps, NULL);
	n = s != NULL ? build(r, e, net) : NULL;
	if (n != NULL)
		xk_push(s, n);
	if (s != NULL)
		xk_close(s);
	xk_count(r->count[n != NULL ? ICMP_COUNT_ERRORS_SENT : ICMP_COUNT_FAILED]);
	return n != NULL;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ip_sess.c - a session of IP: made, and connected to the link by its first use.
 *
 * One that the peer began has no session below until it first sends: the way back is then found
 * by route, not from the frame, so a host that only talks at us costs no address resolution and
 * cannot steer our replies.
 */
#include "protocols/ip/ip_priv.h"

#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"

/* ---- the way down ---------------------------------------------------------------- */

static uint32_t link_mtu(const struct ip_sess *is, struct xk_sess *down)
{
	const struct ip_conf *c = is->s.rep->conf;
	uint32_t mtu;

	if (xk_sess_control(down, XK_CTL_GETOPTPACKET, &mtu, sizeof mtu) != (int)sizeof mtu)
		mtu = 576;
	if (mtu > IP_MAX_DATAGRAM)
		mtu = IP_MAX_DATAGRAM;
	if (c->mtu != 0 && c->mtu < mtu)
		mtu = (uint32_t)c->mtu;
	return mtu < IP_MIN_MTU ? IP_MIN_MTU : mtu;
}

static void make_header(struct ip_sess *is)
{
	const struct ip_conf *c = is->s.rep->conf;
	struct ip_hdr h = {
		.ttl = (uint8_t)c->ttl, .protocol = is->protocol,
		.source = is->local, .destination = is->remote,
		.fragment = c->df == IP_DF_NEVER ? 0 : IP_FLAG_DF,
	};

	ip_template_make(&is->head, &h);
	is->ect = ip_template_ect(&is->head);
}

static xk_push_fn push_kind(const struct xk_rep *r)
{
	return ((struct ip_conf *)r->conf)->df == IP_DF_NEVER ? ip_push_counted : XK_FAST(ip_fast_push, ip_push);
}

int ip_sess_connect(struct ip_sess *is)
{
	struct xk_rep *r = is->s.rep;
	struct xk_sess *down;
	struct xk_parts ps;
	uint32_t hop, local;
	int err;

	if (is->mtu != 0)                /* connected */
		return XK_OK;
	make_header(is);
	if (ip_is_self(ip_state(r)->in, is->remote)) {
		ip_self_connect(is);
		return XK_OK;
	}
	if (!ip_route_find(ip_state(r)->in, is->remote, &hop, &local))
		return XK_E_UNREACH;
	xk_parts_init(&ps, 1);
	xk_part_push_host(&ps.p[XK_REMOTE], hop);
	down = xk_open(r, r->node, r->down[0], &ps, &err);
	if (down == NULL)
		return err;
	is->s.down = down;
	is->mtu = link_mtu(is, down);
	is->room = is->mtu - IP_HDR_LEN;
	xk_sess_set_push(&is->s, push_kind(r));
	return XK_OK;
}

static void push_first(struct xk_sess *s, struct xk_msg *m)
{
	if (ip_sess_connect(ip_sess(s)) != XK_OK)
		xk_drop(s->rep, IP_DROP_NO_ROUTE, m);
	else
		xk_sess_own_push(s)(s, m);
}

/* ---- birth ------------------------------------------------------------------------ */

struct ip_sess *ip_sess_new(struct xk_rep *r, struct xk_up *up, struct xk_node *type,
			    const struct xk_key *k, uint32_t remote, uint32_t local, int *err)
{
	struct ip_sess *is;

	*err = XK_E_NOSPC;
	if (!inet_sess_room(r, ((struct ip_conf *)r->conf)->sessions, &ip_state(r)->linger))
		return NULL;
	*err = XK_E_NOMEM;
	is = ip_sess(xk_sess_create(r, up, type, NULL));
	if (is == NULL)
		return NULL;
	is->remote = remote;
	is->local = local;
	is->protocol = (uint8_t)k->w[1];
	ip_output_hide(is, k);
	xk_sess_set_push(&is->s, push_first);
	*err = xk_sess_bind(&is->s, k);
	if (*err == XK_OK)
		return is;
	xk_sess_destroy(&is->s);
	return NULL;
}

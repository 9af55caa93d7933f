/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_listen.c - passive open: what a segment means that belongs to no session
 * (RFC 9293 3.10.7.1 and 3.10.7.2).
 *
 * Such a segment is the cache's, when that knows its connection (tcp_syncache.c); a
 * listener's, when one stands at its port; or nobody's, and is answered with RST.
 * A session is made by the last step of the handshake alone, so a listener costs the
 * same whoever knocks.
 * Invariant: nothing is answered that came from or went to more than one host.
 */
#include "protocols/tcp/sess/tcp_listen.h"
#include "runtime/upi/xk_inline.h"

/* ---- LISTEN -------------------------------------------------------------------------------- */

static void listen_ack(const struct tcp_arrival *a, const struct xk_enable *e)
{
	struct tcp_half h;

	if (tcp_cookie_check(a, &h)) {
		xk_count(a->r->count[TCP_COUNT_COOKIE_IN]);
		tcp_accept(a, e, &h);
	} else if (tcp_says_more(a->g) && xk_vp_time(a->r->vp) < tcp_rep(a->r)->cookie_until) {
		/* The first data of such a handshake may have overtaken what comes before
		 * them or survived it; they come again, in order, and then fit. */
		xk_drop(a->r, TCP_DROP_COOKIE, a->m);
	} else {
		tcp_refuse(a, TCP_DROP_LISTEN);
	}
}

/* RFC 9293 3.10.7.2, in its order. */
static void listen_input(const struct tcp_arrival *a, const struct xk_enable *e)
{
	uint16_t f = a->g->flags;

	if (f & TCP_RST)
		xk_drop(a->r, TCP_DROP_RST, a->m);
	else if ((f & (TCP_SYN | TCP_ACK)) == (TCP_SYN | TCP_ACK) && tcp_tune(a->r)->listen_quiet)
		xk_drop(a->r, TCP_DROP_LISTEN, a->m);
	else if ((f & (TCP_SYN | TCP_ACK)) == (TCP_SYN | TCP_ACK))
		tcp_refuse(a, TCP_DROP_LISTEN);
	else if (f & TCP_ACK)
		listen_ack(a, e);
	else if (!(f & TCP_SYN))
		xk_drop(a->r, TCP_DROP_LISTEN, a->m);
	else if (f & TCP_FIN)
		xk_drop(a->r, TCP_DROP_FLAGS, a->m);
	else
		tcp_syncache_syn(a);
}

/* ---- who is it for? --------------------------------------------------------------------------- */

/* One host to one host, and not to itself, unless lls says that no link was between; else the
 * reason.  It is asked of a SYN, and true of its connection from then on. */
static int illegal(const struct xk_rep *r, struct xk_sess *lls, const struct xk_key *k)
{
	uint32_t ports = (uint32_t)k->w[1], source, local;

	source = be64toh(k->w[0]) >> 32;
	local = be64toh(k->w[0]) & 0xffffffff;
	if (tcp_ports_source(ports) == 0 || tcp_ports_destination(ports) == 0)
		return TCP_DROP_PORT_ZERO;
	if (source == local && (lls == NULL || xk_sess_control(lls, IP_CTL_SELF, NULL, 0) != 1))
		return TCP_DROP_LAND;
	if (ip_is_multicast(source) || source == 0xffffffffu ||
	    xk_control(r->down[0], XK_CTL_ISLOCAL, &local, sizeof local) != 1)
		return TCP_DROP_SOURCE;
	return -1;
}

void tcp_listen_input(struct xk_rep *r, struct xk_sess *lls, const struct tcp_seg *g, const struct xk_key *k,
		      struct xk_msg *m)
{
	struct tcp_arrival a = { r, lls, g, k, m };
	struct xk_enable *e;
	int reason;

	if (!(m->flags & XK_MSG_LINK_BCAST) && tcp_syncache_input(&a))
		return;
	reason = illegal(r, lls, k);
	if (reason < 0 && (m->flags & XK_MSG_LINK_BCAST))
		reason = TCP_DROP_SOURCE;
	if (reason >= 0) {
		xk_drop(r, (unsigned)reason, m);
		return;
	}
	e = inet_enable_find(r->node, tcp_ports_destination((uint32_t)k->w[1]), be64toh(k->w[0]) & 0xffffffff);
	if (e != NULL)
		listen_input(&a, e);
	else
		tcp_refuse(&a, TCP_DROP_NO_PORT);
}

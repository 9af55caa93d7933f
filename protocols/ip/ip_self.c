/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ip_self.c - datagrams to ourselves: one of our addresses, or any of 127.0.0.0/8 (RFC 1122 3.2.1.3).
 *
 * They go through no link: the header is made, and the datagram comes in again on the VP where the connection lives
 * that it is for, as what another VP has put together does.  Never before the push has returned: whoever sends may be
 * in the middle of a session that the answer is for.
 * Invariant: sessions to ourselves have keys that no datagram of a link has, so one that claims to come from us finds
 * none, on the fast path either, and is dropped as before.
 */
#include "protocols/ip/ip_priv.h"

#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_input.h"

static void push_self(struct xk_sess *s, struct xk_msg *m)
{
	struct ip_sess *is = ip_sess(s);
	struct xk_rep *r = s->rep;
	uint32_t len = m->tot + IP_HDR_LEN;
	struct xk_flowkey k;
	uint8_t *p;

	if (m->tot > is->room) {
		xk_drop(r, IP_DROP_TOO_LONG, m);
		return;
	}
	p = xk_msg_push(&m, IP_HDR_LEN);
	if (p == NULL) {
		xk_drop(r, XK_DROP_NOMEM, m);
		return;
	}
	ip_template_put(p, m->flags & XK_MSG_ECT ? &is->ect : &is->head, len, 0);
	if (!ip_pull(&m, IP_HDR_LEN)) {
		xk_drop(r, XK_DROP_NOMEM, m);
		return;
	}
	xk_msg_reset_rx(m);
	m->hash = 0;
	xk_count(r->count[IP_COUNT_SELF]);
	ip_flow_key(m->data, IP_HDR_LEN, m->len, &k);
	if (!xk_reroute(r, &k, m))
		xk_defer(r, m);
}

void ip_self_connect(struct ip_sess *is)
{
	is->mtu = IP_MAX_DATAGRAM;
	is->room = is->mtu - IP_HDR_LEN;
	xk_sess_set_push(&is->s, push_self);
}

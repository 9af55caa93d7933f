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

/* ---- what a listening port has of its own -------------------------------------------------- */

static uint32_t port_value(const uint64_t *table, uint16_t port)
{
	for (unsigned i = 0; i < TCP_DEFERS; i++) {
		uint64_t v = xk_load_relaxed(&table[i]);

		if (v >> 32 == port && port != 0)
			return (uint32_t)v;
	}
	return 0;
}

/* Whole words, one writer at a time: a SYN meets the old or the new one. */
static int port_value_set(struct xk_rep *r, uint64_t *table, uint16_t port, uint32_t value)
{
	unsigned at = TCP_DEFERS;

	xk_mutex_lock(&r->node->graph->structure);
	for (unsigned i = 0; i < TCP_DEFERS; i++) {
		uint64_t v = xk_load_relaxed(&table[i]);

		if (v >> 32 == port || (v == 0 && at == TCP_DEFERS))
			at = i;
		if (v >> 32 == port)
			break;
	}
	if (at != TCP_DEFERS && (value != 0 || table[at] != 0))
		xk_store_relaxed(&table[at], value != 0 ? (uint64_t)port << 32 | value : 0);
	xk_mutex_unlock(&r->node->graph->structure);
	return at == TCP_DEFERS && value != 0 ? XK_E_NOSPC : 0;
}

uint32_t tcp_defer_of(const struct xk_rep *r, uint16_t port)
{
	return port_value(((const struct tcp_node *)r->node->state)->defer, port);
}

int tcp_defer_set(struct xk_rep *r, const void *buf, unsigned len)
{
	struct tcp_defer d;

	if (len < sizeof d)
		return XK_E_INVAL;
	memcpy(&d, buf, sizeof d);
	return port_value_set(r, ((struct tcp_node *)r->node->state)->defer, d.port, d.ms);
}

uint16_t tcp_listen_mss(const struct tcp_arrival *a)
{
	const struct tcp_node *n = a->r->node->state;
	uint32_t own = port_value(n->port_mss, tcp_ports_destination((uint32_t)a->k->w[1]));
	uint32_t path = tcp_path_mss(a->r, a->lls);

	return (uint16_t)(own != 0 && own < path ? own : path);
}

int tcp_listen_mss_set(struct xk_rep *r, const void *buf, unsigned len)
{
	struct tcp_listen_mss v;

	if (len < sizeof v)
		return XK_E_INVAL;
	memcpy(&v, buf, sizeof v);
	if (v.mss != 0 && (v.mss < tcp_tune(r)->min_mss || v.mss > UINT16_MAX))
		return XK_E_INVAL;
	return port_value_set(r, ((struct tcp_node *)r->node->state)->port_mss, v.port, v.mss);
}

/* ---- answers ---------------------------------------------------------------------------- */

void tcp_refuse(const struct tcp_arrival *a, unsigned why)
{
	struct tcp_acts acts = { 0 };

	tcp_input_closed(a->g, &acts);
	if (acts.do_ & TCP_A_RESET) {
		xk_count(a->r->count[TCP_COUNT_RST_OUT]);
		tcp_answer(a->r, a->lls, a->m, acts.rst_seq, acts.rst_ack, acts.rst_flags, 0, NULL, 0);
	}
	xk_drop(a->r, why, a->m);
}

/* ---- a session from a handshake that is complete -------------------------------------------- */

/* The session below for a segment that came by way of another VP. */
static struct xk_sess *open_below(const struct tcp_arrival *a)
{
	uint32_t remote, local;
	struct xk_parts ps;

	remote = be64toh(a->k->w[0]) >> 32;
	local = be64toh(a->k->w[0]) & 0xffffffff;
	xk_parts_init(&ps, 2);
	xk_part_push_host(&ps.p[XK_REMOTE], remote);
	xk_part_push_host(&ps.p[XK_LOCAL], local);
	return xk_open(a->r, a->r->node, a->r->down[0], &ps, NULL);
}

static struct tcp_sess *sess_over(const struct tcp_arrival *a, const struct xk_enable *e, int *err)
{
	struct xk_sess *lls = a->lls != NULL ? xk_dup(a->lls) : open_below(a);
	struct tcp_sess *ts;

	*err = XK_E_NOMEM;
	if (lls == NULL)
		return NULL;
	if (a->r->slab.live >= tcp_tune(a->r)->sessions && tcp_rep(a->r)->tw_first == NULL)
		(void)tcp_stalled_reclaim(a->r);
	ts = tcp_sess_new(a->r, &e->rcv->rep[a->r->vp->no]->up, e->type, lls, err);
	if (ts == NULL) {
		xk_close(lls);
		return NULL;
	}
	*err = tcp_sess_bind(ts, a->k);
	if (*err == XK_OK)
		return ts;
	tcp_sess_free(ts);
	return NULL;
}

/* As if our SYN-ACK had been sent and acknowledged from SYN-RCVD on. */
static void cb_establish(struct tcp_sess *ts, const struct tcp_arrival *a, const struct tcp_half *h)
{
	struct tcp_env e = tcp_env(a->r);
	struct tcp_cb *cb = tcp_cb(ts);
	struct tcp_seg syn = { .seq = h->irs, .wnd = a->g->wnd, .flags = TCP_SYN, .o = h->peer, .hlen = TCP_HDR_LEN };

	if (h->ecn)
		syn.flags |= TCP_ECE | TCP_CWR;
	cb->flags |= TCP_F_PASSIVE | TCP_F_TOLD_OPEN;
	cb->iss = h->iss;
	cb->irs = h->irs;
	cb->rcv_nxt = cb->rcv_acked = cb->rcv_up = h->irs + 1;
	cb->rcv_adv = cb->rcv_nxt + h->window;
	cb->snd_una = cb->snd_nxt = cb->snd_max = cb->snd_end = cb->snd_up = h->iss + 1;
	cb->recover = h->iss;
	tcp_negotiate(cb, &e, &syn);
	cb->state = TCP_S_ESTABLISHED;
	tcp_rec_init(cb);
	if (!h->sent_again && h->sent_us != 0)
		tcp_rtt_sample(cb, e.now_us - h->sent_us);
	tcp_rec_open(cb, h->sent_again);
	cb->snd_wnd = (uint32_t)a->g->wnd << cb->snd_wscale;
	cb->max_wnd = cb->snd_wnd;
	cb->snd_wl1 = a->g->seq;
	cb->snd_wl2 = a->g->ack;
	cb->last_rcv = cb->idle_since = e.now;
	if (a->g->o.have & TCP_O_TS)
		cb->ts_recent = a->g->o.tsval;
	cb->ts_recent_at = e.now;
	if (cb->flags & TCP_F_KEEPALIVE) {
		tcp_timer_arm(cb, &e, TCP_T_KEEP, cb->keep_idle);
		tcp_timer_sync(ts);
	}
}

/* Is there more in it than the acknowledgement that has made the session? */
static bool says_more(const struct tcp_seg *g)
{
	return g->len != 0 || (g->flags & (TCP_FIN | TCP_URG));
}

static unsigned drop_of(int err)
{
	return err == XK_E_NOSPC ? TCP_DROP_SESSIONS :
	       err == XK_E_EXIST ? TCP_DROP_ELSEWHERE : XK_DROP_NOMEM;
}

/* The holder that would take it is asked; a session it does not want leaves no trace. */
static int offer(struct tcp_sess *ts, const struct xk_enable *e)
{
	int err;

	xk_dup(&ts->s);
	err = xk_open_done(e->rcv, &ts->s, e->type);
	if (err >= 0)
		return XK_OK;
	tcp_cb(ts)->state = TCP_S_CLOSED;
	xk_close(&ts->s);
	return err;
}

int tcp_accept(const struct tcp_arrival *a, const struct xk_enable *e, const struct tcp_half *h)
{
	struct tcp_sess *ts;
	int err;

	ts = sess_over(a, e, &err);
	if (ts == NULL) {
		xk_drop(a->r, drop_of(err), a->m);
		return XK_E_AGAIN;
	}
	cb_establish(ts, a, h);
	err = offer(ts, e);
	if (err == XK_E_AGAIN)
		xk_drop(a->r, TCP_DROP_REFUSED, a->m);
	else if (err != XK_OK)
		tcp_refuse(a, TCP_DROP_REFUSED);
	if (err != XK_OK)
		return err;
	xk_count(a->r->count[TCP_COUNT_ACCEPTED]);
	if (says_more(a->g))
		tcp_act(ts, a->g, a->m);
	else
		xk_msg_free(a->m);
	if (ts->s.rcnt > 1)
		tcp_rest_soon(ts);
	xk_close(&ts->s);
	return XK_OK;
}

/* ---- LISTEN -------------------------------------------------------------------------------- */

static void listen_ack(const struct tcp_arrival *a, const struct xk_enable *e)
{
	struct tcp_half h;

	if (tcp_cookie_check(a, &h)) {
		xk_count(a->r->count[TCP_COUNT_COOKIE_IN]);
		tcp_accept(a, e, &h);
	} else if (says_more(a->g) && a->r->vp->now < tcp_rep(a->r)->cookie_until) {
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

/* One host to one host, and not to itself; else the reason. */
static int illegal(const struct xk_rep *r, const struct xk_msg *m, const struct xk_key *k)
{
	uint32_t ports = (uint32_t)k->w[1], source, local;

	source = be64toh(k->w[0]) >> 32;
	local = be64toh(k->w[0]) & 0xffffffff;
	if (tcp_ports_source(ports) == 0 || tcp_ports_destination(ports) == 0)
		return TCP_DROP_PORT_ZERO;
	if (source == local)
		return TCP_DROP_LAND;
	if ((m->flags & XK_MSG_LINK_BCAST) || ip_is_multicast(source) || source == 0xffffffffu ||
	    xk_control(r->down[0], XK_CTL_ISLOCAL, &local, sizeof local) != 1)
		return TCP_DROP_SOURCE;
	return -1;
}

void tcp_listen_input(struct xk_rep *r, struct xk_sess *lls, const struct tcp_seg *g, const struct xk_key *k,
		      struct xk_msg *m)
{
	struct tcp_arrival a = { r, lls, g, k, m };
	struct xk_enable *e;
	int reason = illegal(r, m, k);

	if (reason >= 0) {
		xk_drop(r, (unsigned)reason, m);
		return;
	}
	if (tcp_syncache_input(&a))
		return;
	e = inet_enable_find(r->node, tcp_ports_destination((uint32_t)k->w[1]), be64toh(k->w[0]) & 0xffffffff);
	if (e != NULL)
		listen_input(&a, e);
	else
		tcp_refuse(&a, TCP_DROP_NO_PORT);
}

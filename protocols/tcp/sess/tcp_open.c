/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_open.c - active open, and the choice of a port for it (RFC 6056).
 *
 * As with UDP a connection is unique in the graph because the classifiers' table
 * takes its key once: a port is free towards a peer when that table has room for
 * it, so the VPs share no table of ports.
 * Invariant: a session that nobody above knows yet is held while its SYN goes out.
 */
#include "protocols/tcp/sess/tcp_sess.h"
#include "protocols/inet/inet_ports.h"
#include "protocols/inet/inet_sess.h"
#include "runtime/base/xk_rand.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"
#include "runtime/vp/xk_task.h"

/* ---- active open --------------------------------------------------------------------------- */

static int addresses(struct xk_sess *lls, uint64_t *pair)
{
	uint32_t remote, local;

	if (inet_sess_hosts(lls, &remote, &local) != XK_OK)
		return XK_E_NOTSUP;
	/* A connection has two ends (RFC 1122 4.2.3.10). */
	if (ip_is_multicast(remote) || remote == 0xffffffffu || remote == 0)
		return XK_E_INVAL;
	*pair = ip_pair(remote, local);
	return XK_OK;
}

static int bind_port(struct tcp_sess *ts, uint64_t pair, uint16_t rport, uint16_t lport, bool at_home)
{
	struct xk_flowkey f;
	struct xk_key k;

	tcp_key(&k, pair, tcp_ports(rport, lport));
	tcp_flowkey(&f, &k);
	if (at_home && xk_rep_home(ts->s.rep, &f) != XK_OK)
		return XK_E_ELSEWHERE;
	return tcp_sess_bind(ts, &k);
}

/* Connections go to the same place one after the other. */
static uint64_t port_hash(struct xk_rep *r, uint64_t pair, uint16_t rport)
{
	struct tcp_rep *tr = tcp_rep(r);

	if (tr->port_last.pair != pair || tr->port_last.rport != rport) {
		tr->port_last.hash = tcp_hash(r->node->state, pair, rport, TCP_HASH_PORT);
		tr->port_last.pair = pair;
		tr->port_last.rport = rport;
	}
	return tr->port_last.hash;
}

/*
 * RFC 6056 3.3.4 and 3.3.5: where a destination's ports begin is a keyed hash of
 * it, and how far they have come is counted in steps of random length in one slot of
 * a table, chosen by the hash's other half.  So the ports towards one destination tell nothing
 * of those towards another, the next is not known from the last, and none comes
 * again soon.  One lap over all ports at most.
 */
static int bind_some_port(struct tcp_sess *ts, uint64_t pair, uint16_t rport)
{
	struct xk_rep *r = ts->s.rep;
	uint32_t local = be64toh(pair) & 0xffffffff;
	uint64_t hash = port_hash(r, pair, rport);
	uint32_t first = (uint32_t)hash % INET_PORTS;
	uint32_t *step = &tcp_rep(r)->port_step[(hash >> 32) % TCP_PORT_SLOTS];

	*step = (*step + 1 + (uint32_t)xk_rand_below(xk_vp_rand(r->vp), TCP_PORT_STRIDE)) % INET_PORTS;
	for (uint32_t i = 0; i < INET_PORTS; i++) {
		uint16_t port = (uint16_t)(INET_PORT_FIRST + (first + *step + i) % INET_PORTS);
		int err;

		if (inet_enable_find(r->node, port, local) != NULL)
			continue;
		err = bind_port(ts, pair, rport, port, true);
		if (err != XK_E_EXIST && err != XK_E_ELSEWHERE) {
			*step = (*step + i) % INET_PORTS;
			return err;
		}
	}
	return XK_E_ADDRNOTAVAIL;
}

static int bind_this_port(struct tcp_sess *ts, uint64_t pair, uint16_t rport, uint16_t lport, bool at_home)
{
	int err = bind_port(ts, pair, rport, lport, at_home);

	return err == XK_E_EXIST ? XK_E_ADDRINUSE : err;
}

/* The peer's first segment may be here before tcp_send_syn returns, so it runs
 * with a reference; nobody above knows the session yet. */
static void connect(struct tcp_sess *ts)
{
	const struct tcp_hidden hidden = tcp_hidden(ts->s.rep, &ts->s.map.key);
	struct tcp_cb *cb = tcp_cb(ts);

	cb->state = TCP_S_SYN_SENT;
	tcp_record_state(ts, TCP_S_CLOSED);
	cb->iss = hidden.isn;
	cb->ts_off = hidden.ts_off;
	cb->snd_una = cb->snd_nxt = cb->snd_max = cb->snd_up = cb->iss;
	cb->snd_end = cb->iss + 1;
	cb->recover = cb->iss;           /* RFC 6582 3.2 */
	xk_count(ts->s.rep->count[TCP_COUNT_OPENED]);
	ts->s.rcnt++;
	tcp_send_syn(ts);
	ts->s.rcnt--;
}

/* A new session over lls, bound; takes the reference to lls either way. */
static struct tcp_sess *open_over(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type, struct xk_sess *lls,
				  uint16_t rport, uint16_t lport, bool at_home, int *err)
{
	struct tcp_sess *ts;
	uint64_t pair;

	*err = addresses(lls, &pair);
	if (*err != XK_OK) {
		xk_close(lls);
		return NULL;
	}
	ts = tcp_sess_new(r, &rcv->up, type, lls, err);
	if (ts == NULL)
		return NULL;
	*err = lport != 0 ? bind_this_port(ts, pair, rport, lport, at_home) : bind_some_port(ts, pair, rport);
	if (*err == XK_OK) {
		tcp_set_mss(tcp_cb(ts));
		tcp_rec_init(tcp_cb(ts));
		return ts;
	}
	tcp_sess_free(ts);
	return NULL;
}

int tcp_open_with(struct xk_rep *r, const void *buf, unsigned len)
{
	struct tcp_open_with w;

	if (xk_take(&w, sizeof w, buf, len) != XK_OK)
		return XK_E_INVAL;
	if (!tcp_is_buffer(w.rcv_buf) || !tcp_is_buffer(w.snd_buf) ||
	    (w.mss != 0 && (w.mss < tcp_tune(r)->min_mss || w.mss > UINT16_MAX)))
		return XK_E_INVAL;
	tcp_rep(r)->with = w;
	return 0;
}

/* Before its SYN. */
static void begin_with(struct tcp_cb *cb, const struct tcp_open_with *w)
{
	if (w->rcv_buf != 0)
		cb->rcv_buf = w->rcv_buf;
	if (w->snd_buf != 0)
		cb->snd_buf = w->snd_buf;
	if (w->mss == 0 || w->mss >= cb->path_mss)
		return;
	cb->path_mss = (uint16_t)w->mss;
	tcp_set_mss(cb);
}

struct xk_sess *tcp_open(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type, struct xk_parts *ps, int *err)
{
	struct tcp_open_with with = tcp_rep(r)->with;
	uint16_t rport, lport;
	struct xk_sess *lls;
	struct tcp_sess *ts;

	tcp_rep(r)->with = (struct tcp_open_with){ 0 };
	*err = inet_open_ports(ps, &rport, &lport);
	if (*err != XK_OK)
		return NULL;
	lls = xk_open(r, r->node, r->down[0], ps, err);
	if (lls == NULL)
		return NULL;
	ts = open_over(r, rcv, type, lls, rport, lport, ps->at_home, err);
	if (ts == NULL)
		return NULL;
	begin_with(tcp_cb(ts), &with);
	connect(ts);
	return &ts->s;
}

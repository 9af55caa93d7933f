/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pkt_sock.c - the node above tcp: sockets as a program sees them, over streams.
 *
 * A socket keeps what its stream has passed up until it is read; only reading
 * counts as consumed (XK_STREAM_MANUAL), so the window a script sees is the one
 * that its reads leave.  Bytes carry a pattern that depends on their place in the
 * stream: what arrives is checked on arrival.
 * Invariant: a socket with a session holds one reference to it.
 */
#include <stdlib.h>
#include <string.h>

#include "runtime/upi/xk_upi_inline.h"
#include "tools/pkt/pkt_priv.h"

static struct pkt_run *run_of(const struct xk_rep *r)
{
	return *(struct pkt_run **)r->node->state;
}

/* ---- sockets of a run ------------------------------------------------------------ */

struct pkt_sock *pkt_sock_new(struct pkt_run *u)
{
	struct pkt_sock *k = calloc(1, sizeof *k);

	xk_assert(k != NULL);
	k->run = u;
	k->state = PKT_S_NEW;
	k->reuseaddr = k->rcvbuf = k->sndbuf = k->nodelay = k->cork = k->keepalive = k->linger = k->maxseg =
		k->user_timeout = k->linger2 = k->defer_accept = -1;
	k->keepidle = u->keepidle;
	k->keepintvl = u->keepintvl;
	k->keepcnt = u->keepcnt;
	return k;
}

static void drop_session(struct pkt_sock *k)
{
	struct xk_sess *s = k->s;

	k->s = NULL;
	if (s == NULL)
		return;
	/* RFC 1122 4.2.2.13: nobody will read what is here. */
	if (k->rx_n != 0 && k->state != PKT_S_DEAD)
		xk_sess_control(s, XK_STREAM_ABORT, NULL, 0);
	xk_close(s);
}

void pkt_sock_free(struct pkt_sock *k)
{
	if (k->state == PKT_S_LISTEN)
		pkt_sock_listen(k, false);
	while (k->accept_first != NULL) {
		struct pkt_sock *c = k->accept_first;

		k->accept_first = c->accept_next;
		if (c->s != NULL && c->state != PKT_S_DEAD)
			xk_sess_control(c->s, XK_STREAM_ABORT, NULL, 0);
		c->rx_n = 0;
		pkt_sock_free(c);
	}
	drop_session(k);
	free(k->rx);
	free(k);
}

/* ---- what the program asks for ------------------------------------------------------ */

int pkt_sock_listen(struct pkt_sock *k, bool on)
{
	struct pkt_run *u = k->run;
	struct tcp_defer d = { k->lport, on && k->defer_accept > 0 ? (uint32_t)k->defer_accept : 0 };
	struct xk_parts ps;

	xk_parts_init(&ps, 1);
	xk_part_push_port(&ps.p[0], k->lport);
	if (k->defer_accept > 0)
		xk_control(u->tcp->rep[0], TCP_CTL_DEFER, &d, sizeof d);
	return on ? xk_open_enable(u->sock, u->sock, u->tcp, &ps) : xk_open_disable(u->sock, u->sock, u->tcp, &ps);
}

static void set_u32(struct pkt_sock *k, unsigned op, int64_t v)
{
	uint32_t n = (uint32_t)v;

	if (v >= 0)
		xk_sess_control(k->s, op, &n, sizeof n);
}

void pkt_sock_apply(struct pkt_sock *k)
{
	struct tcp_keepalive ka = { .on = k->keepalive > 0 };

	if (k->s == NULL)
		return;
	set_u32(k, TCP_CTL_NODELAY, k->nodelay);
	set_u32(k, TCP_CTL_CORK, k->cork);
	set_u32(k, TCP_CTL_RCVBUF, k->rcvbuf);
	set_u32(k, TCP_CTL_SNDBUF, k->sndbuf);
	set_u32(k, TCP_CTL_MAXSEG, k->maxseg);
	set_u32(k, TCP_CTL_USER_TIMEOUT, k->user_timeout);
	set_u32(k, TCP_CTL_FIN_WAIT2, k->linger2);
	set_u32(k, TCP_CTL_LINGER, k->linger >= 0 ? k->linger == 0 : -1);
	if (k->keepalive < 0)
		return;
	ka.idle_ms = k->keepidle < 0 ? 0 : (uint32_t)k->keepidle;
	ka.interval_ms = k->keepintvl < 0 ? 0 : (uint32_t)k->keepintvl;
	ka.count = k->keepcnt < 0 ? 0 : (uint32_t)k->keepcnt;
	xk_sess_control(k->s, TCP_CTL_KEEPALIVE, &ka, sizeof ka);
}

static void adopt(struct pkt_sock *k, struct xk_sess *s)
{
	uint32_t manual = 1;

	k->s = s;
	xk_sess_control(s, XK_STREAM_MANUAL, &manual, sizeof manual);
	pkt_sock_apply(k);
}

int pkt_sock_connect(struct pkt_sock *k)
{
	struct pkt_run *u = k->run;
	struct xk_rep *r = u->sock->rep[0];
	struct xk_parts ps;
	struct xk_sess *s;
	int err;

	xk_parts_init(&ps, 2);
	xk_part_push_host(&ps.p[XK_REMOTE], u->remote);
	xk_part_push_port(&ps.p[XK_REMOTE], u->connect_port);
	if (k->lport != 0) {
		xk_part_push_host(&ps.p[XK_LOCAL], u->local);
		xk_part_push_port(&ps.p[XK_LOCAL], k->lport);
	} else {
		ps.n = 1;
	}
	k->state = PKT_S_CONNECTING;
	s = xk_open(r, r->node, r->down[0], &ps, &err);
	if (s == NULL) {
		k->state = PKT_S_NEW;
		return err;
	}
	adopt(k, s);
	return XK_OK;
}

uint32_t pkt_sock_write(struct pkt_sock *k, uint32_t n)
{
	uint32_t room = 0, at = (uint32_t)k->tx_total;
	struct xk_msg *m;

	if (xk_sess_control(k->s, XK_STREAM_ROOM, &room, sizeof room) != (int)sizeof room)
		room = 0;
	if (n > room)
		n = room;
	m = n != 0 ? xk_msg_new(n) : NULL;
	if (m == NULL)
		return 0;
	for (uint32_t done = 0, piece; done < n; done += piece) {
		uint8_t buf[1024];

		piece = n - done < sizeof buf ? n - done : (uint32_t)sizeof buf;
		for (uint32_t i = 0; i < piece; i++)
			buf[i] = pkt_byte(at + done + i, PKT_SALT_OUT);
		xk_msg_copy_in(m, done, buf, piece);
	}
	k->tx_total += n;
	xk_push(k->s, m);
	return n;
}

void pkt_sock_taken(struct pkt_sock *k, uint32_t n)
{
	k->rx_n -= n;
	memmove(k->rx, k->rx + n, k->rx_n);
	if (k->s != NULL && k->state != PKT_S_DEAD && n != 0)
		xk_sess_control(k->s, XK_STREAM_TAKEN, &n, sizeof n);
}

/* ---- what the stream tells ------------------------------------------------------------ */

static struct pkt_sock *find_in(struct pkt_sock *list, const struct xk_sess *s)
{
	for (; list != NULL; list = list->accept_next)
		if (list->s == s)
			return list;
	return NULL;
}

static struct pkt_sock *find(struct pkt_run *u, const struct xk_sess *s)
{
	struct pkt_sock *k;

	for (int i = 0; i < PKT_FDS; i++) {
		if (u->fd[i] == NULL)
			continue;
		if (u->fd[i]->s == s)
			return u->fd[i];
		k = find_in(u->fd[i]->accept_first, s);
		if (k != NULL)
			return k;
	}
	return find_in(u->hidden, s);
}

static struct pkt_sock *listener_of(struct pkt_run *u, struct xk_sess *s)
{
	uint16_t port = 0;

	xk_sess_control(s, XK_CTL_GETMYPORT, &port, sizeof port);
	for (int i = 0; i < PKT_FDS; i++)
		if (u->fd[i] != NULL && u->fd[i]->state == PKT_S_LISTEN && u->fd[i]->lport == port)
			return u->fd[i];
	return NULL;
}

static int sock_open_done(struct xk_rep *r, struct xk_sess *lls, struct xk_node *type)
{
	struct pkt_run *u = run_of(r);
	struct pkt_sock *l = listener_of(u, lls), *k, **end;

	(void)type;
	if (l == NULL || l->nqueued > l->backlog)
		return XK_E_PERM;
	k = pkt_sock_new(u);
	k->state = PKT_S_OPEN;
	k->opened = true;
	k->lport = l->lport;
	k->rcvbuf = l->rcvbuf;
	k->sndbuf = l->sndbuf;
	k->nodelay = l->nodelay;
	k->cork = l->cork;
	k->keepalive = l->keepalive;
	k->keepidle = l->keepidle;
	k->keepintvl = l->keepintvl;
	k->keepcnt = l->keepcnt;
	k->linger = l->linger;
	k->user_timeout = l->user_timeout;
	adopt(k, xk_dup(lls));
	for (end = &l->accept_first; *end != NULL; end = &(*end)->accept_next)
		;
	*end = k;
	l->nqueued++;
	return XK_OK;
}

static void sock_close_done(struct xk_rep *r, struct xk_sess *lls)
{
	struct pkt_sock *k = find(run_of(r), lls);

	if (k != NULL)
		k->eof = true;
}

static void keep(struct pkt_sock *k, const struct xk_msg *m)
{
	if (k->rx_n + m->tot > k->rx_cap) {
		uint8_t *more = realloc(k->rx, k->rx_cap = (k->rx_n + m->tot) * 2);

		xk_assert(more != NULL);
		k->rx = more;
	}
	xk_assert(xk_msg_copy_out(m, 0, k->rx + k->rx_n, m->tot) == m->tot);
	for (uint32_t i = 0; i < m->tot; i++)
		k->bad_rx += k->rx[k->rx_n + i] != pkt_byte((uint32_t)k->rx_total + i, PKT_SALT_IN);
	k->rx_n += m->tot;
	k->rx_total += m->tot;
}

static void sock_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	struct pkt_sock *k = find(run_of(up->rep), lls);

	if (k != NULL)
		keep(k, m);
	xk_msg_free(m);
}

static void event(struct pkt_sock *k, const struct xk_stream_event *ev)
{
	if (ev->what == XK_STREAM_OPENED) {
		k->opened = true;
		if (k->state == PKT_S_CONNECTING)
			k->state = PKT_S_OPEN;
	} else if (ev->what == XK_STREAM_FAILED) {
		k->state = PKT_S_DEAD;
		k->err = ev->err < 0 ? -ev->err : ev->err;
	}
}

static int sock_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	const struct xk_stream_event *ev = buf;
	struct pkt_sock *k;

	if (op != XK_CTL_STREAM_EVENT)
		return XK_E_NOTSUP;
	if (len < sizeof *ev)
		return XK_E_INVAL;
	k = find(run_of(r), ev->s);
	if (k != NULL)
		event(k, ev);
	return XK_OK;
}

static const struct xk_ops sock_ops = {
	.open_done = sock_open_done, .close_done = sock_close_done, .demux = sock_demux, .control = sock_control,
};

const struct xk_proto pkt_sockets = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "sockets",
	.doc = "the calls of a wire script", .ops = &sock_ops,
	.needs = { "stream" }, .min_down = 1, .max_down = 1, .node_size = sizeof(struct pkt_run *),
};

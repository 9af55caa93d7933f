/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sock_dgram.c - datagrams: sockets with many peers, each peer on its own VP.
 *
 * The classifier gives every peer of a port a VP, so a session stands there for each
 * that we have heard from or sent to, under (descriptor, peer).  What it receives gets
 * the sender's address in front and goes to the socket's VP, by the VP's inbox when
 * that is another one.  To send, the caller enters the VP of the peer: the socket's
 * own, the one remembered, or each in turn until the protocol below agrees that
 * the peer may be served there.  Sessions that were not used for longest are
 * closed when there are too many.
 * Invariant: a datagram in sk->rx begins with a struct sock_from.
 */
#include "protocols/sock/sock_priv.h"

#include <string.h>

#include "protocols/udp/udp.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"
#include "runtime/upi/xk_vps.h"
#include "runtime/vp/xk_task.h"

/* ---- sessions of peers --------------------------------------------------------------- */

static struct xk_key peer_key(int fd, const struct xk_sock_addr *a)
{
	return (struct xk_key){ { (uint64_t)a->host << 16 | a->port, (uint32_t)fd } };
}

static struct sock_sess *peer_of(struct xk_listed *i)
{
	return xk_container_of(i, struct sock_sess, age);
}

static void peer_free(struct sock_sess *ss)
{
	xk_list_take(&ss->age);
	sock_rep(ss->s.rep)->npeers--;
	sock_sess_free(ss);
}

static void peer_used(struct sock_sess *ss)
{
	struct xk_list *peers = &sock_rep(ss->s.rep)->peers;

	if (xk_list_last(peers) == &ss->age)
		return;
	xk_list_take(&ss->age);
	xk_list_put(peers, &ss->age);
}

static struct sock_sess *peer_find(struct xk_rep *r, int fd, const struct xk_sock_addr *a)
{
	struct xk_key k = peer_key(fd, a);
	struct xk_mapnode *n = xk_map_resolve(&r->active, &k);

	return n != NULL ? xk_container_of(n, struct sock_sess, s.map) : NULL;
}

/* Takes over the reference to lls in every case. */
static struct sock_sess *peer_new(struct xk_rep *r, int fd, const struct xk_sock_addr *a, struct xk_sess *lls)
{
	struct sock_rep *st = sock_rep(r);
	struct sock_sess *ss = sock_sess_new(r, lls);
	struct xk_key k = peer_key(fd, a);

	if (ss == NULL) {
		xk_close(lls);
		return NULL;
	}
	ss->fd = fd;
	ss->peer = *a;
	xk_list_put(&st->peers, &ss->age);
	st->npeers++;
	if (xk_sess_bind(&ss->s, &k) != XK_OK) {
		peer_free(ss);
		return NULL;
	}
	if (st->npeers > ((const struct sock_conf *)r->conf)->peers)
		peer_free(peer_of(xk_list_first(&st->peers)));
	return ss;
}

void sock_dgram_forget(struct xk_rep *r, int fd)
{
	const struct xk_list *peers = &sock_rep(r)->peers;

	for (struct xk_listed *i = xk_list_first(peers), *next; i != NULL; i = next) {
		next = xk_list_next(peers, i);
		if (fd == 0 || peer_of(i)->fd == fd)
			peer_free(peer_of(i));
	}
}

/* Somebody sends to a port of ours for the first time. */
int sock_dgram_come(struct xk_rep *r, struct xk_sess *lls, struct sock *sk)
{
	struct xk_sock_addr a = { 0 };

	if (xk_sess_control(lls, XK_CTL_GETPEERHOST, &a.host, sizeof a.host) != (int)sizeof a.host ||
	    xk_sess_control(lls, XK_CTL_GETPEERPORT, &a.port, sizeof a.port) != (int)sizeof a.port)
		return XK_E_NOTSUP;
	return peer_new(r, sk->fd, &a, xk_dup(lls)) != NULL ? XK_OK : XK_E_NOMEM;
}

/* ---- up --------------------------------------------------------------------------------- */

static unsigned guess_slot(const struct xk_sock_addr *a)
{
	return ((a->host * 0x9e3779b1u) ^ (a->port * 0x85ebca6bu)) >> 16 & (SOCK_GUESSES - 1);
}

static void remember(struct sock *sk, const struct xk_sock_addr *a, uint16_t vp)
{
	unsigned i = guess_slot(a);

	sk->guess[i].peer = *a;
	sk->guess[i].vp = vp;
}

/* On the socket's VP: why a datagram is not for it, or 0. */
static unsigned refuse(const struct sock *sk, const struct sock_from *f, uint32_t n)
{
	const struct sock_conf *c = sk->node->conf;
	uint64_t cap = sk->opts.set & OPT_RCVBUF ? sk->opts.rcvbuf : c->rcvbuf;

	if (sk->shut_rd)
		return SOCK_DROP_SHUT;
	if (sk->peer.port != 0 && (sk->peer.host != f->host || sk->peer.port != f->port))
		return SOCK_DROP_STRANGER;
	return sk->rx_bytes + n > cap && sk->rx.n != 0 ? SOCK_DROP_FULL : 0;
}

static void queue(struct xk_rep *r, struct sock *sk, struct xk_msg *m)
{
	struct sock_from f;
	unsigned reason;

	xk_msg_copy_out(m, 0, &f, sizeof f);
	reason = refuse(sk, &f, m->tot);
	if (reason != 0) {
		xk_drop(r, reason, m);
		return;
	}
	xk_count_add(r->count[SOCK_COUNT_IN], m->tot - sizeof f);
	if (f.vp != r->no)
		remember(sk, &(struct xk_sock_addr){ f.host, f.port }, f.vp);
	sk->rx_bytes += m->tot;
	xk_msgq_put(&sk->rx, m);
	if (!xk_list_empty(&sk->waiters))
		sock_wake(sk, POLLIN);
}

void sock_dgram_enter(struct xk_rep *r, struct xk_msg *m)
{
	struct sock *sk = sock_get((int)m->aux);

	if (sk == NULL || xk_load_acquire(&sk->vp) != r->vp)
		xk_drop(r, SOCK_DROP_NOBODY, m);
	else
		queue(r, sk, m);
	if (sk != NULL)
		sock_put(sk);
}

/* The descriptor's place is a line of its own, shared by the VPs of its peers. */
void sock_dgram_demux(struct sock_sess *ss, struct xk_msg *m)
{
	struct xk_rep *r = ss->s.rep;
	struct sock_from f = { ss->peer.host, ss->peer.port, r->no };
	struct sock *sk = sock_get(ss->fd);
	void *p;

	if (sk == NULL) {
		xk_drop(r, SOCK_DROP_NOBODY, m);
		peer_free(ss);
		return;
	}
	p = xk_msg_push(&m, sizeof f);
	if (p == NULL) {
		xk_drop(r, XK_DROP_NOMEM, m);
	} else {
		memcpy(p, &f, sizeof f);
		m->flags &= (uint8_t)~XK_MSG_CSUM_OK;
		peer_used(ss);
		if (xk_load_acquire(&sk->vp) == r->vp) {
			queue(r, sk, m);
		} else {
			xk_count(r->count[SOCK_COUNT_CROSSED]);
			m->aux = (uint32_t)ss->fd;
			m->node = r->node->no;
			xk_vp_post(xk_load_acquire(&sk->vp), m);
		}
	}
	sock_put(sk);
}

/* ---- what ICMP says ------------------------------------------------------------------------ */

struct bad_news { struct xk_call call; int fd; struct xk_sock_addr peer; int err; };

static void news_arrive(struct xk_vp *vp, void *arg)
{
	struct bad_news *b = arg;
	struct sock *sk = sock_get(b->fd);

	/* Only who is connected can know whom an error is about. */
	if (sk != NULL && xk_load_acquire(&sk->vp) == vp && sock_addr_eq(&sk->peer, &b->peer)) {
		sk->err = b->err;
		sock_wake(sk, POLLIN | POLLOUT | POLLERR);
	}
	if (sk != NULL)
		sock_put(sk);
	xk_free(b);
}

void sock_dgram_error(struct sock_sess *ss, unsigned type, unsigned code)
{
	struct sock *sk;
	struct bad_news *b;

	if (type != 3 || code > 3)       /* soft errors, RFC 1122 4.1.3.3: nobody needs to know */
		return;
	sk = sock_get(ss->fd);
	b = sk != NULL ? xk_alloc(sizeof *b) : NULL;
	if (b != NULL) {
		*b = (struct bad_news){ .fd = ss->fd, .peer = ss->peer,
					.err = code == 3 || code == 2 ? XK_E_CONNREFUSED : XK_E_UNREACH };
		b->call = (struct xk_call){ .fn = news_arrive, .arg = b };
		if (xk_load_acquire(&sk->vp) == xk_vp_self)
			news_arrive(sk->vp, b);
		else
			xk_vp_call_async(xk_load_acquire(&sk->vp), &b->call);
	}
	if (sk != NULL)
		sock_put(sk);
}

/* ---- receive ------------------------------------------------------------------------------------ */

static void copy_out(struct sock_io *io, const struct xk_msg *m)
{
	uint32_t n = m->tot - (uint32_t)sizeof(struct sock_from);
	uint32_t fits = io->left < n ? (uint32_t)io->left : n;

	sock_io_take(io, m, sizeof(struct sock_from), fits);
	io->cut = n - fits;
}

int64_t sock_dgram_recv(struct sock *sk, void *arg)
{
	struct sock_io *io = arg;
	struct xk_msg *m = sk->rx.first;
	struct sock_from f;

	if (m == NULL && sk->err != 0) {
		int err = sk->err;

		sk->err = 0;
		return err;
	}
	if (m == NULL)
		return sk->shut_rd ? 0 : XK_E_AGAIN;
	xk_msg_copy_out(m, 0, &f, sizeof f);
	if (io->from != NULL)
		*io->from = (struct xk_sock_addr){ f.host, f.port };
	copy_out(io, m);
	if (!(io->flags & XK_SOCK_PEEK)) {
		sk->rx_bytes -= m->tot;
		xk_msg_free(xk_msgq_get(&sk->rx));
	}
	return (int64_t)(io->done + (io->flags & XK_SOCK_TRUNC ? io->cut : 0));
}

/* ---- send ------------------------------------------------------------------------------------------ */

/* On the socket's VP: whom to, from which port, and where that peer may be. */
struct aim { struct sock_io *io; struct xk_sock_addr to, local; struct xk_vp *first; bool held; };

static int64_t aim_op(struct sock *sk, void *arg)
{
	struct aim *a = arg;
	int err = sk->err;

	if (sk->closed)
		return XK_E_BADF;
	if (sk->local.port == 0 && !a->held)
		return SOCK_BINDS;
	sk->err = 0;
	if (err != XK_OK)
		return err;
	if (sk->shut_wr)
		return XK_E_PIPE;
	a->to = a->io->to != NULL ? *a->io->to : sk->peer;
	if (a->to.port == 0)
		return a->io->to != NULL ? XK_E_INVAL : XK_E_DESTADDRREQ;
	if (sk->local.port == 0)
		err = sock_take_some_port(sk, sk->local.host, true);
	a->local = sk->local;
	a->first = sk->vp;
	if (sock_addr_eq(&sk->guess[guess_slot(&a->to)].peer, &a->to))
		a->first = xk_node_vp(sk->node, sk->guess[guess_slot(&a->to)].vp);
	return err;
}

/* On the peer's VP, perhaps. */
struct shot { struct sock *sk; struct aim *a; int64_t res; };

static struct sock_sess *shot_session(struct xk_rep *r, struct shot *t, int *err)
{
	struct sock_sess *ss = peer_find(r, t->sk->fd, &t->a->to);
	struct xk_sess *lls;
	struct xk_parts ps;

	if (ss != NULL)
		return ss;
	sock_parts(&ps, &t->a->to, &t->a->local);
	lls = xk_open(r, r->node, sock_below(t->sk), &ps, err);
	if (lls == NULL)
		return NULL;
	*err = XK_E_NOMEM;
	return peer_new(r, t->sk->fd, &t->a->to, lls);
}

static void shoot(struct xk_vp *vp, void *arg)
{
	struct shot *t = arg;
	struct sock_io *io = t->a->io;
	struct xk_rep *r = t->sk->node->rep[xk_vp_no];
	uint32_t n = (uint32_t)io->left, max;
	struct sock_sess *ss;
	struct xk_msg *m;
	int err = XK_OK;

	(void)vp;
	ss = shot_session(r, t, &err);
	t->res = err;
	if (ss == NULL)
		return;
	if (xk_sess_control(ss->s.down, XK_CTL_GETMAXPACKET, &max, sizeof max) == (int)sizeof max && io->left > max) {
		t->res = XK_E_MSGSIZE;
		return;
	}
	m = sock_io_msg(io, n);
	t->res = m != NULL ? (int64_t)n : XK_E_NOMEM;
	if (m == NULL)
		return;
	peer_used(ss);
	xk_count_add(r->count[SOCK_COUNT_OUT], n);
	xk_push(ss->s.down, m);
}

static int64_t closed_op(struct sock *sk, void *arg)
{
	(void)arg;
	return sk->closed;
}

static void forget_one(struct xk_vp *vp, void *arg)
{
	struct shot *t = arg;

	(void)vp;
	sock_dgram_forget(t->sk->node->rep[xk_vp_no], t->sk->fd);
}

void sock_dgram_forget_all(struct sock *sk)
{
	struct shot t = { .sk = sk };

	for (unsigned i = 0; i < xk_node_nvps(sk->node); i++)
		xk_vp_do(xk_node_vp(sk->node, i), forget_one, &t);
}

int64_t sock_dgram_send(struct sock *sk, struct sock_io *io)
{
	unsigned nconn = xk_node_nconn(sk->node);
	struct aim a = { .io = io };
	struct shot t = { .sk = sk, .a = &a };
	int64_t res = io->left > UDP_MAX_PAYLOAD ? XK_E_MSGSIZE : sock_do_seldom(sk, aim_op, &a, &a.held);

	if (res != XK_OK)
		return res;
	/* No peer lives on an I/O thread. */
	for (unsigned i = 0; i < nconn; i++) {
		struct xk_vp *vp = xk_node_vp(sk->node, (xk_vp_number(a.first) + i) % nconn);

		xk_vp_do(vp, shoot, &t);
		if (t.res != XK_E_ADDRINUSE && t.res != XK_E_ELSEWHERE) {
			/* Closed meanwhile: its peers were forgotten before this one was made. */
			if (sock_do(sk, closed_op, NULL))
				xk_vp_do(vp, forget_one, &t);
			return t.res;
		}
	}
	return t.res;
}

/* ---- connect ----------------------------------------------------------------------------------------- */

int64_t sock_dgram_connect(struct sock *sk, void *arg)
{
	const struct xk_sock_addr *a = arg;

	if (sk->closed)
		return XK_E_BADF;
	if (a->host != XK_SOCK_ANY && a->port == 0)
		return XK_E_INVAL;
	if (a->host != XK_SOCK_ANY && sk->local.port == 0) {
		int err = sock_take_some_port(sk, sk->local.host, true);

		if (err != XK_OK)
			return err;
	}
	sk->peer = a->host != XK_SOCK_ANY ? *a : (struct xk_sock_addr){ 0 };
	sk->err = 0;
	return XK_OK;
}

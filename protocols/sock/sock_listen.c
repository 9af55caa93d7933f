/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sock_listen.c - listening, connections that come, and accepting them.
 *
 * A connection stands on its own VP when we are told of it, and its socket is made
 * there; then the socket travels to the listener's VP, as a call, and joins the
 * queue.  Its place in the queue is counted before it leaves, so the backlog holds for
 * all VPs together.  A listener that has gone meanwhile sends it back to be reset.
 * Invariant: listener->queued counts those in the queue and on their way there.
 */
#include "protocols/sock/sock_priv.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/vp/xk_call.h"
#include "runtime/vp/xk_task.h"

/* ---- the end of one that nobody accepted ---------------------------------------------- */

/* On its own VP. */
static void undo(struct xk_vp *vp, void *arg)
{
	int fd = ((struct sock *)arg)->fd;
	struct sock *sk = sock_get_last(fd);

	(void)vp;
	if (sk == NULL)
		return;
	sock_end(sk, true);
	sock_put(sk);
}

static void send_back(struct sock *sk)
{
	if (sk->vp == xk_vp_self) {
		undo(sk->vp, sk);
		return;
	}
	sk->travel = (struct xk_call){ .fn = undo, .arg = sk };
	xk_vp_call_async(sk->vp, &sk->travel);
}

/* ---- joining the queue: on the listener's VP -------------------------------------------- */

static void arrive(struct xk_vp *vp, void *arg)
{
	struct sock *sk = arg, *l = sock_get(sk->listener);

	(void)vp;
	if (l == NULL || xk_load_acquire(&l->vp) != xk_vp_self || l->state != SOCK_LISTENING) {
		send_back(sk);
	} else {
		sk->acc_next = NULL;
		if (l->acc_first == NULL)
			l->acc_first = sk;
		else
			l->acc_last->acc_next = sk;
		l->acc_last = sk;
		sock_wake(l, POLLIN);
	}
	if (l != NULL)
		sock_put(l);
}

static void travel(struct sock *sk, struct sock *l)
{
	struct xk_vp *to = xk_load_acquire(&l->vp);

	sk->listener = l->fd;
	sk->travel = (struct xk_call){ .fn = arrive, .arg = sk };
	if (to == xk_vp_self)
		arrive(to, sk);
	else
		xk_vp_call_async(to, &sk->travel);
}

/* ---- a connection has come: on its VP ------------------------------------------------------ */

static void note_names(struct sock *sk)
{
	struct xk_sess *lls = sk->sess->s.down;

	(void)xk_sess_control(lls, XK_CTL_GETMYHOST, &sk->local.host, sizeof sk->local.host);
	(void)xk_sess_control(lls, XK_CTL_GETMYPORT, &sk->local.port, sizeof sk->local.port);
	(void)xk_sess_control(lls, XK_CTL_GETPEERHOST, &sk->peer.host, sizeof sk->peer.host);
	(void)xk_sess_control(lls, XK_CTL_GETPEERPORT, &sk->peer.port, sizeof sk->peer.port);
}

static int make(struct xk_rep *r, struct xk_sess *lls, struct sock *l)
{
	struct sock *sk;
	int err;

	sk = sock_new(r->node, XK_SOCK_STREAM, &err);
	if (sk == NULL)
		return err;
	sk->vp = r->vp;
	err = sock_stream_attach(sk, xk_dup(lls));
	if (err != XK_OK) {
		sock_put(sock_get_last(sk->fd));
		return err;
	}
	note_names(sk);
	sk->state = SOCK_CONNECTED;
	sock_join(sk);
	travel(sk, l);
	return XK_OK;
}

int sock_come(struct xk_rep *r, struct xk_sess *lls, struct sock *l)
{
	uint32_t before = xk_atomic_add(&l->queued, 1u);
	int err = XK_E_AGAIN;

	if (before < xk_load_relaxed(&l->backlog))
		err = make(r, lls, l);
	if (err == XK_OK)
		return err;
	(void)xk_atomic_add(&l->queued, (uint32_t)-1);
	xk_count(r->count[SOCK_COUNT_REFUSED]);
	return err;
}

/* ---- what a SYN-ACK shows of a listener ------------------------------------------------------- */

void sock_listen_tells(const struct sock *sk, bool on)
{
	struct tcp_listen_mss mss = { sk->local.port, on ? sk->opts.maxseg : 0 };
	struct tcp_listen_rcvbuf rcv = { sk->local.port, on ? sk->opts.rcvbuf : 0 };
	struct xk_rep *below = sock_below(sk);

	if (sk->opts.maxseg != 0)
		(void)xk_control(below, TCP_CTL_LISTEN_MSS, &mss, sizeof mss);
	if (sk->opts.rcvbuf != 0)
		(void)xk_control(below, TCP_CTL_LISTEN_RCVBUF, &rcv, sizeof rcv);
}

/* ---- listen, accept: on the listener's VP ------------------------------------------------------ */

static int64_t listen_op(struct sock *sk, void *arg)
{
	const struct sock_conf *c = sk->node->conf;
	uint32_t n = *(unsigned *)arg;
	bool named = false;
	int err = XK_OK;

	if (sk->closed)
		return XK_E_BADF;
	if (sk->type != XK_SOCK_STREAM)
		return XK_E_NOTSUP;
	if (sk->state != SOCK_IDLE && sk->state != SOCK_LISTENING)
		return XK_E_ISCONN;
	n = n == 0 ? 1 : n > c->backlog ? (uint32_t)c->backlog : n;
	if (sk->state == SOCK_LISTENING) {
		xk_store_relaxed(&sk->backlog, n);
		return XK_OK;
	}
	/* Peers may come as soon as the name is open. */
	xk_store_relaxed(&sk->backlog, n);
	sk->state = SOCK_LISTENING;
	if (sk->local.port == 0)
		err = sock_take_some_port(sk, sk->local.host, true);
	else if (sk->port == NULL)       /* the name was shared: now it must be ours alone */
		err = sock_take_port(sk, &sk->local, true);
	named = err == XK_OK;
	if (named)
		sock_listen_tells(sk, true);
	if (err == XK_OK && sk->enabled == NULL)
		err = sock_enable(sk);
	if (err == XK_OK)
		return XK_OK;
	if (named)                       /* else it is another listener's */
		sock_listen_tells(sk, false);
	sk->state = SOCK_IDLE;
	xk_store_relaxed(&sk->backlog, 0);
	return err;
}

int xk_sock_listen(int fd, unsigned backlog)
{
	struct sock *sk;
	int res = sock_hold(fd, &sk);

	if (res != XK_OK)
		return res;
	res = (int)sock_do_binding(sk, listen_op, &backlog);
	sock_put(sk);
	return res;
}

static struct sock *dequeue(struct sock *l)
{
	struct sock *sk = l->acc_first;

	if (sk != NULL) {
		l->acc_first = sk->acc_next;
		(void)xk_atomic_add(&l->queued, (uint32_t)-1);
	}
	return sk;
}

struct accept { struct sock *sk; struct sock_opts opts; struct xk_sock_addr peer; };

static int64_t accept_op(struct sock *l, void *arg)
{
	struct accept *a = arg;

	if (l->state != SOCK_LISTENING)
		return l->type == XK_SOCK_STREAM ? XK_E_INVAL : XK_E_NOTSUP;
	a->opts = l->opts;
	a->sk = dequeue(l);
	if (a->sk == NULL)
		return XK_E_AGAIN;
	xk_count(sock_rep_here(l)->count[SOCK_COUNT_ACCEPTS]);
	return XK_OK;
}

/* On the new socket's VP. */
static int64_t inherit_op(struct sock *sk, void *arg)
{
	struct accept *a = arg;

	a->peer = sk->peer;
	sk->opts = a->opts;
	sock_stream_apply(sk);
	return XK_OK;
}

static int accept_held(struct sock *l, struct xk_sock_addr *peer, unsigned flags)
{
	struct accept a = { .sk = NULL };
	int res = (int)sock_wait(l, accept_op, &a, POLLIN, false, 0);

	if (res == XK_E_AGAIN && sock_blocks(l, 0))
		res = (int)sock_wait(l, accept_op, &a, POLLIN, true, a.opts.rcvtimeo);
	if (res != XK_OK)
		return res;
	xk_store_relaxed(&a.sk->nonblock, flags & XK_SOCK_NONBLOCK ? 1u : 0u);
	sock_do(a.sk, inherit_op, &a);
	if (peer != NULL)
		*peer = a.peer;
	return a.sk->fd;
}

int xk_sock_accept(int fd, struct xk_sock_addr *peer, unsigned flags)
{
	struct sock *l;
	int res = sock_hold(fd, &l);

	if (res != XK_OK)
		return res;
	res = accept_held(l, peer, flags);
	sock_put(l);
	return res;
}

void sock_listen_end(struct sock *l)
{
	struct sock *sk;

	xk_store_relaxed(&l->backlog, 0);
	sock_listen_tells(l, false);
	sock_disable(l);
	sock_leave_port(l);
	/* When the graph goes, each VP ends what lives there, and has perhaps done so. */
	if (sock_node(l->node)->going)
		l->acc_first = NULL;
	while ((sk = dequeue(l)) != NULL)
		send_back(sk);
}

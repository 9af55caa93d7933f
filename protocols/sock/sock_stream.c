/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sock_stream.c - streams: connect, send, receive.
 *
 * Bytes that come are queued as the messages they came in and count as consumed
 * when somebody has read them, so the window follows the reader.  Bytes that go are
 * written as long as there is room; what the stream below says afterwards (writable,
 * ended) wakes who waits.  The session below may end inside any call into it: it is
 * held meanwhile, and sk->sess is looked at again.
 * Invariant: sk->sess is set exactly in states CONNECTING and CONNECTED.
 */
#include "protocols/sock/sock_priv.h"
#include "protocols/stream/stream_app.h"
#include "runtime/sync/xk_sync.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"
#include "runtime/upi/xk_vps.h"

/* ---- the session below ------------------------------------------------------------------- */

static void apply_buffers(struct sock *sk, struct xk_sess *lls)
{
	const struct sock_opts *o = &sk->opts;

	if (o->set & OPT_SNDBUF)
		(void)sock_told(lls, TCP_CTL_SNDBUF, o->sndbuf);
	if (o->set & OPT_RCVBUF)
		(void)sock_told(lls, TCP_CTL_RCVBUF, o->rcvbuf);
	if (o->set & OPT_MAXSEG)
		(void)sock_told(lls, TCP_CTL_MAXSEG, o->maxseg);
}

static void apply_rest(const struct sock_opts *o, struct xk_sess *lls)
{
	struct tcp_keepalive keep = o->keep;

	if (o->set & OPT_NODELAY)
		(void)sock_told(lls, TCP_CTL_NODELAY, o->nodelay);
	if (o->set & OPT_CORK)
		(void)sock_told(lls, TCP_CTL_CORK, o->cork);
	if (o->set & OPT_USER)
		(void)sock_told(lls, TCP_CTL_USER_TIMEOUT, o->user_timeout);
	if (o->set & OPT_LINGER2)
		(void)sock_told(lls, TCP_CTL_FIN_WAIT2, o->fin_wait2);
	if (o->set & OPT_KEEP)
		(void)xk_sess_control(lls, TCP_CTL_KEEPALIVE, &keep, sizeof keep);
}

void sock_stream_apply(struct sock *sk)
{
	struct xk_sess *lls;

	if (sk->sess == NULL)
		return;
	/* Held: uncorking may send, and sending may end it. */
	lls = xk_dup(sock_lls(sk));
	apply_buffers(sk, lls);
	apply_rest(&sk->opts, lls);
	xk_close(lls);
}

int sock_stream_attach(struct sock *sk, struct xk_sess *lls)
{
	struct sock_sess *ss = sock_sess_new(sock_rep_here(sk), lls);

	if (ss == NULL) {
		xk_close(lls);
		return XK_E_NOMEM;
	}
	ss->sk = sk;
	sk->sess = ss;
	(void)sock_told(lls, XK_STREAM_MANUAL, 1);
	return XK_OK;
}

void sock_stream_detach(struct sock *sk, bool reset)
{
	struct sock_sess *ss = sk->sess;

	if (ss == NULL)
		return;
	sk->sess = NULL;
	if (reset)
		(void)xk_sess_control(ss->s.down, XK_STREAM_ABORT, NULL, 0);
	sock_sess_free(ss);
}

/* ---- what comes from below ------------------------------------------------------------------ */

void sock_rx_free(struct sock *sk)
{
	xk_msgq_free(&sk->rx);
	xk_msgq_init(&sk->rx);
	sk->rx_bytes = sk->rx_off = 0;
}

void sock_stream_demux(struct sock_sess *ss, struct xk_msg *m)
{
	struct sock *sk = ss->sk;
	uint32_t n = m->tot;

	xk_count_add(ss->s.rep->count[SOCK_COUNT_IN], n);
	if (XK_UNLIKELY(sk->shut_rd || n == 0)) {
		xk_drop(ss->s.rep, SOCK_DROP_SHUT, m);
		(void)sock_told(ss->s.down, XK_STREAM_TAKEN, n);
		return;
	}
	xk_msgq_put(&sk->rx, m);
	sk->rx_bytes += n;
	if (!xk_list_empty(&sk->waiters))
		sock_wake(sk, POLLIN);
}

/* The connection is gone: nothing of it but what has been received. */
static void ended(struct sock *sk, int err)
{
	bool was_connecting = sk->state == SOCK_CONNECTING;

	sk->err = err;
	sk->state = was_connecting ? SOCK_IDLE : SOCK_DEAD;
	sk->eof = !was_connecting;
	sk->drained = true;
	sock_stream_detach(sk, false);
	sock_wake(sk, SOCK_EVERYTHING);
}

void sock_stream_event(struct sock_sess *ss, const struct xk_stream_event *e)
{
	struct sock *sk = ss->sk;

	switch (e->what) {
	case XK_STREAM_OPENED:
		sk->state = SOCK_CONNECTED;
		sock_wake(sk, SOCK_EVERYTHING);
		return;
	case XK_STREAM_FAILED:
		ended(sk, e->err != 0 ? e->err : XK_E_CONNRESET);
		return;
	case XK_STREAM_WRITABLE:
		sock_wake(sk, POLLOUT);
		return;
	case XK_STREAM_DRAINED:
		sk->drained = true;
		sock_wake(sk, POLLOUT);
		return;
	case XK_STREAM_URGENT:
		sk->urgent = true;
		sock_wake(sk, POLLPRI);
		return;
	default:
		return;
	}
}

void sock_stream_closed(struct sock_sess *ss)
{
	ss->sk->eof = true;
	sock_wake(ss->sk, POLLIN | POLLRDHUP | POLLHUP);
}

/* ---- connect ----------------------------------------------------------------------------------- */

struct connect { struct xk_sock_addr to; struct xk_vp *vp; uint64_t limit; bool begun; };

/* Where it is now: decides where it shall live, and goes there. */
static int64_t connect_choose(struct sock *sk, void *arg)
{
	struct connect *c = arg;

	if (sk->closed)
		return XK_E_BADF;
	c->limit = sk->opts.sndtimeo;
	switch (sk->state) {
	case SOCK_IDLE:
		break;
	case SOCK_CONNECTING:
		return XK_E_ALREADY;
	case SOCK_LISTENING:
		return XK_E_INVAL;
	default:
		return XK_E_ISCONN;
	}
	if (sk->err != 0) {              /* why the last one failed, if nobody has asked */
		int err = sk->err;

		sk->err = 0;
		return err;
	}
	sk->state = SOCK_CONNECTING;
	c->vp = xk_node_vp_of(sk->node, xk_atomic_add(&sock_node(sk->node)->conns, (uint64_t)1));
	sock_leave(sk);
	xk_store_release(&sk->vp, c->vp);
	return XK_OK;
}

/* What the SYN shows has to be known before it goes. */
static void open_with(const struct sock *sk, struct xk_rep *below)
{
	const struct sock_opts *o = &sk->opts;
	struct tcp_open_with w = {
		.mss = o->set & OPT_MAXSEG ? o->maxseg : 0,
		.rcv_buf = o->set & OPT_RCVBUF ? o->rcvbuf : 0, .snd_buf = o->set & OPT_SNDBUF ? o->sndbuf : 0,
	};

	if (o->set & (OPT_MAXSEG | OPT_RCVBUF | OPT_SNDBUF))
		(void)xk_control(below, TCP_CTL_OPEN_WITH, &w, sizeof w);
}

static int64_t connect_begin(struct sock *sk, void *arg)
{
	struct connect *c = arg;
	struct xk_rep *r = sock_rep_here(sk);
	struct xk_sess *lls;
	struct xk_parts ps;
	int err;

	if (sk->closed)
		return XK_E_BADF;
	sock_join(sk);
	sock_parts(&ps, &c->to, &sk->local);
	open_with(sk, sock_below(sk));
	lls = xk_open(r, r->node, sock_below(sk), &ps, &err);
	if (lls != NULL)
		err = sock_stream_attach(sk, lls);
	if (err != XK_OK) {
		if (err != XK_E_ELSEWHERE)
			sk->state = SOCK_IDLE;
		return err;
	}
	sk->peer = c->to;
	sk->eof = sk->shut_wr = sk->shut_rd = sk->drained = false;
	xk_count(r->count[SOCK_COUNT_CONNECTS]);
	sock_stream_apply(sk);
	return XK_OK;
}

/* The hash of a connection whose ports are both given is another VP's: goes to the next one. */
static int64_t connect_move(struct sock *sk, void *arg)
{
	struct connect *c = arg;

	if (sk->closed)
		return XK_E_BADF;
	c->vp = xk_node_vp(sk->node, (xk_vp_number(c->vp) + 1u) % xk_node_nconn(sk->node));
	sock_leave(sk);
	xk_store_release(&sk->vp, c->vp);
	return XK_OK;
}

static int64_t connect_here_or_next(struct sock *sk, struct connect *c)
{
	int64_t res = sock_do(sk, connect_begin, c);

	while (res == XK_E_ELSEWHERE) {
		res = sock_do(sk, connect_move, c);
		if (res == XK_OK)
			res = sock_do(sk, connect_begin, c);
	}
	return res;
}

static int64_t connect_done(struct sock *sk, void *arg)
{
	int err = sk->err;

	(void)arg;
	if (sk->state == SOCK_CONNECTING)
		return XK_E_AGAIN;
	sk->err = 0;
	return err;
}

static int connect_stream(struct sock *sk, const struct xk_sock_addr *a)
{
	struct connect c = { .to = *a };
	int res = (int)sock_do(sk, connect_choose, &c);

	if (res == XK_OK)
		res = (int)connect_here_or_next(sk, &c);
	else if (res != XK_E_ALREADY || !sock_blocks(sk, 0) || !sock_has_workers(sk))
		return res;
	if (res != XK_OK && res != XK_E_ALREADY)
		return res;
	if (!sock_blocks(sk, 0) || !sock_has_workers(sk))
		return XK_E_INPROGRESS;
	res = (int)sock_wait(sk, connect_done, NULL, POLLOUT, true, c.limit);
	return res == XK_E_AGAIN ? XK_E_INPROGRESS : res;
}

int xk_sock_connect(int fd, const struct xk_sock_addr *a)
{
	struct xk_sock_addr copy = *a;
	struct sock *sk;
	int res = sock_hold(fd, &sk);

	if (res != XK_OK)
		return res;
	if (sk->type == XK_SOCK_DGRAM)
		res = (int)sock_do_binding(sk, sock_dgram_connect, &copy);
	else if (copy.port == 0 || copy.host == XK_SOCK_ANY)
		res = XK_E_ADDRNOTAVAIL;
	else
		res = connect_stream(sk, &copy);
	sock_put(sk);
	return res;
}

/* ---- send ----------------------------------------------------------------------------------------- */

static int take_err(struct sock *sk)
{
	int err = sk->err;

	sk->err = 0;
	return err;
}

/* May bytes go down now? */
static int may_send(struct sock *sk)
{
	if (sk->err != 0)
		return take_err(sk);
	if (sk->shut_wr || sk->state == SOCK_DEAD)
		return XK_E_PIPE;
	if (sk->state == SOCK_CONNECTING)
		return XK_E_AGAIN;
	return sk->state == SOCK_CONNECTED ? XK_OK : XK_E_NOTCONN;
}

/* Bytes that may go in one piece: the urgent one, the last, goes by itself. */
static uint32_t piece_max(const struct sock_io *io)
{
	size_t left = (io->flags & XK_SOCK_OOB) && io->left > 1 ? io->left - 1 : io->left;

	return left < UINT32_MAX ? (uint32_t)left : UINT32_MAX;
}

/* The urgent byte is held back until it has its mark: a segment that has left cannot be
 * given one.  1 or 0, as it was taken. */
static uint32_t write_urgent(const struct sock *sk, struct xk_sess *lls, const uint8_t *p)
{
	uint32_t took;

	(void)sock_told(lls, TCP_CTL_CORK, 1);
	took = stream_write_some(lls, p, 1);
	if (took != 0)
		(void)xk_sess_control(lls, TCP_CTL_URGENT, NULL, 0);
	(void)sock_told(lls, TCP_CTL_CORK, sk->opts.cork);
	return took;
}

/* Is the next piece followed by another of this call at once?  *said: what the stream was
 * told last.  RFC 9293 3.9.1.2: PSH stands where what there is to send ends, not on each
 * segment of a long write. */
static void say_more(struct xk_sess *lls, bool more, bool *said)
{
	if (XK_LIKELY(more == *said))
		return;
	*said = more;
	(void)sock_told(lls, XK_STREAM_MORE, more ? XK_STREAM_MORE_FOLLOW : XK_STREAM_MORE_LAST);
}

/* Writes what there is room for; the caller holds lls. */
static int write_pieces(struct sock *sk, struct xk_sess *lls, struct sock_io *io, bool *said)
{
	uint32_t room = 0, n, took;
	const uint8_t *p;

	while (io->left > 0 && sk->sess != NULL) {
		p = sock_io_here(io, piece_max(io), &n);
		if (n < io->left && room <= n)
			room = sock_stream_room(sk);
		say_more(lls, n < io->left && room > n, said);
		took = (io->flags & XK_SOCK_OOB) && io->left == 1 ? write_urgent(sk, lls, p) : stream_write_some(lls, p, n);
		sock_io_skip(io, took);
		room -= took < room ? took : room;
		if (took < n && sk->sess != NULL && sock_stream_room(sk) == 0)
			return XK_E_AGAIN;
		if (took == 0 && sk->sess != NULL)       /* the stream says when it is worth trying again */
			return XK_E_NOMEM;
	}
	return io->left == 0 ? XK_OK : XK_E_PIPE;
}

static int write_some(struct sock *sk, struct xk_sess *lls, struct sock_io *io)
{
	bool said = false;
	int err = write_pieces(sk, lls, io, &said);

	/* Memory was out in the middle. */
	if (XK_UNLIKELY(said))
		(void)sock_told(lls, XK_STREAM_MORE, XK_STREAM_MORE_NONE);
	return err;
}

int64_t sock_stream_send(struct sock *sk, void *arg)
{
	struct sock_io *io = arg;
	size_t before = io->done;
	struct xk_sess *lls;
	int err = may_send(sk);

	if (err != XK_OK)
		return err;
	if (io->left == 0)
		return (int64_t)io->done;
	lls = xk_dup(sock_lls(sk));
	err = write_some(sk, lls, io);
	xk_count_add(sock_rep_here(sk)->count[SOCK_COUNT_OUT], io->done - before);
	xk_close(lls);
	return err == XK_OK ? (int64_t)io->done : err;
}

/* ---- receive ------------------------------------------------------------------------------------------ */

static void consume(struct sock *sk, uint32_t n)
{
	sk->rx_bytes -= n;
	sk->rx_off += n;
	if (sk->rx_off == sk->rx.first->tot) {
		xk_msg_free(xk_msgq_get(&sk->rx));
		sk->rx_off = 0;
	}
}

static uint32_t take_queued(struct sock *sk, struct sock_io *io)
{
	struct xk_msg *m;
	uint32_t taken = 0, n;

	while (io->left > 0 && (m = sk->rx.first) != NULL) {
		n = m->tot - sk->rx_off;
		n = io->left < n ? (uint32_t)io->left : n;
		sock_io_take(io, m, sk->rx_off, n);
		consume(sk, n);
		taken += n;
	}
	return taken;
}

/* Looks without taking, from the beginning each time. */
static void peek_queued(const struct sock *sk, struct sock_io *io)
{
	uint32_t off = sk->rx_off, n;

	io->left += io->done;
	io->done = io->off = 0;
	io->i = 0;
	for (const struct xk_msg *m = sk->rx.first; m != NULL && io->left > 0; m = m->link) {
		n = m->tot - off;
		n = io->left < n ? (uint32_t)io->left : n;
		sock_io_take(io, m, off, n);
		off = 0;
	}
}

/* Nothing (more) is queued: why, or AGAIN. */
static int64_t nothing_queued(struct sock *sk, const struct sock_io *io)
{
	if (io->done > 0 && (!(io->flags & XK_SOCK_WAITALL) || sk->err != 0))
		return (int64_t)io->done;
	if (sk->err != 0)
		return take_err(sk);
	if (sk->eof || sk->shut_rd)
		return (int64_t)io->done;
	return sk->state == SOCK_CONNECTED || sk->state == SOCK_CONNECTING ? XK_E_AGAIN : XK_E_NOTCONN;
}

static int64_t recv_some(struct sock *sk, struct sock_io *io)
{
	uint32_t taken = take_queued(sk, io);

	if (sk->rx_bytes == 0)
		sk->urgent = false;
	if (taken != 0 && sk->sess != NULL) {
		struct xk_sess *lls = xk_dup(sock_lls(sk));

		(void)sock_told(lls, XK_STREAM_TAKEN, taken);
		xk_close(lls);
	}
	return io->left == 0 ? (int64_t)io->done : nothing_queued(sk, io);
}

int64_t sock_stream_recv(struct sock *sk, void *arg)
{
	struct sock_io *io = arg;
	bool all = (io->flags & XK_SOCK_WAITALL) != 0;

	if (sk->state == SOCK_LISTENING)
		return XK_E_NOTCONN;
	if (io->left == 0)
		return (int64_t)io->done;
	/* A blocking reader sleeps until there is as much as it asked to be woken for. */
	if (io->block && sk->rx_bytes != 0 && sk->rx_bytes < sk->opts.rcvlowat && sk->rx_bytes < io->left &&
	    !sk->eof && !sk->shut_rd && sk->err == 0)
		return XK_E_AGAIN;
	if (!(io->flags & XK_SOCK_PEEK)) {
		int64_t res = recv_some(sk, io);

		return res == XK_E_AGAIN && io->done > 0 && !io->block ? (int64_t)io->done : res;
	}
	peek_queued(sk, io);
	if (io->left == 0 || (io->done > 0 && !all))
		return (int64_t)io->done;
	return nothing_queued(sk, io);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sock_opt.c - options of a socket, and the names of both its ends.
 *
 * What an option is worth is kept in the socket, so that it can be given before
 * there is a connection; a stream that stands is told at once.  A value goes into
 * the VP as a number, so that one switch inside does all.
 * Invariant: opts.set says which values the stream below has to be told.
 */
#include "protocols/sock/sock_priv.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/vp/xk_call.h"

#include <string.h>

#define STREAM_ONLY 1u
#define GET_ONLY    2u
#define BOOLEAN     4u

static const struct opt {
	enum xk_sock_opt o;
	uint8_t          size, flags;
} opts[] = {
	{ XK_SO_TYPE, sizeof(int), GET_ONLY },
	{ XK_SO_ERROR, sizeof(int), GET_ONLY },
	{ XK_SO_ACCEPTCONN, sizeof(int), GET_ONLY },
	{ XK_SO_NONBLOCK, sizeof(int), BOOLEAN },
	{ XK_SO_SNDBUF, sizeof(int), STREAM_ONLY },
	{ XK_SO_RCVBUF, sizeof(int), 0 },
	{ XK_SO_RCVLOWAT, sizeof(int), STREAM_ONLY },
	{ XK_SO_KEEPALIVE, sizeof(int), STREAM_ONLY | BOOLEAN },
	{ XK_SO_LINGER, sizeof(struct xk_sock_linger), STREAM_ONLY },
	{ XK_SO_REUSEADDR, sizeof(int), BOOLEAN },
	{ XK_SO_RCVTIMEO, sizeof(uint64_t), 0 },
	{ XK_SO_SNDTIMEO, sizeof(uint64_t), 0 },
	{ XK_SO_OOBINLINE, sizeof(int), BOOLEAN },
	{ XK_SO_NREAD, sizeof(int), GET_ONLY },
	{ XK_SO_NWRITE, sizeof(int), GET_ONLY | STREAM_ONLY },
	{ XK_SO_VP, sizeof(int), GET_ONLY },
	{ XK_TCP_NODELAY, sizeof(int), STREAM_ONLY | BOOLEAN },
	{ XK_TCP_CORK, sizeof(int), STREAM_ONLY | BOOLEAN },
	{ XK_TCP_MAXSEG, sizeof(int), STREAM_ONLY },
	{ XK_TCP_INFO, sizeof(struct tcp_snapshot), GET_ONLY | STREAM_ONLY },
	{ XK_TCP_USER_TIMEOUT, sizeof(int), STREAM_ONLY },
	{ XK_TCP_KEEPIDLE, sizeof(int), STREAM_ONLY },
	{ XK_TCP_KEEPINTVL, sizeof(int), STREAM_ONLY },
	{ XK_TCP_KEEPCNT, sizeof(int), STREAM_ONLY },
	{ XK_TCP_LINGER2, sizeof(int), STREAM_ONLY },
};

static const struct opt *opt_find(enum xk_sock_opt o)
{
	for (unsigned i = 0; i < XK_ARRAY_LEN(opts); i++)
		if (opts[i].o == o)
			return &opts[i];
	return NULL;
}

/* One option on its way into the VP or out of it. */
struct opt_call {
	const struct opt *o;
	uint64_t v;                      /* the value as a number, by size */
	struct xk_sock_linger linger;
	struct tcp_snapshot info;
};

/* ---- set: inside the VP ------------------------------------------------------------------ */

/* Seconds, bytes and so on: a whole positive number. */
static int set_u32(struct sock_opts *o, unsigned bit, uint32_t *p, uint64_t v, uint64_t scale)
{
	if (v > (uint64_t)INT32_MAX / scale)
		return XK_E_INVAL;
	*p = (uint32_t)(v * scale);
	o->set |= bit;
	return XK_OK;
}

static int set_some(struct sock_opts *o, unsigned bit, uint32_t *p, uint64_t v, uint64_t scale)
{
	return v == 0 ? XK_E_INVAL : set_u32(o, bit, p, v, scale);
}

static int set_tcp(struct sock_opts *o, enum xk_sock_opt what, uint64_t v)
{
	switch (what) {
	case XK_SO_SNDBUF:
		return set_some(o, OPT_SNDBUF, &o->sndbuf, v, 1);
	case XK_SO_RCVBUF:
		return set_some(o, OPT_RCVBUF, &o->rcvbuf, v, 1);
	case XK_TCP_NODELAY:
		return set_u32(o, OPT_NODELAY, &o->nodelay, v, 1);
	case XK_TCP_CORK:
		return set_u32(o, OPT_CORK, &o->cork, v, 1);
	case XK_TCP_MAXSEG:
		return set_some(o, OPT_MAXSEG, &o->maxseg, v, 1);
	case XK_TCP_USER_TIMEOUT:
		return set_u32(o, OPT_USER, &o->user_timeout, v, 1);
	case XK_TCP_LINGER2:
		return set_some(o, OPT_LINGER2, &o->fin_wait2, v, 1000);
	case XK_SO_KEEPALIVE:
		return set_u32(o, OPT_KEEP, &o->keep.on, v, 1);
	case XK_TCP_KEEPIDLE:
		return set_some(o, OPT_KEEP, &o->keep.idle_ms, v, 1000);
	case XK_TCP_KEEPINTVL:
		return set_some(o, OPT_KEEP, &o->keep.interval_ms, v, 1000);
	case XK_TCP_KEEPCNT:
		return set_some(o, OPT_KEEP, &o->keep.count, v, 1);
	default:
		return XK_E_NOPROTOOPT;
	}
}

static int set_own(struct sock *sk, const struct opt_call *c)
{
	switch (c->o->o) {
	case XK_SO_NONBLOCK:
		xk_store_relaxed(&sk->nonblock, (uint32_t)c->v);
		return XK_OK;
	case XK_SO_RCVLOWAT:
		sk->opts.rcvlowat = c->v == 0 ? 1 : (uint32_t)c->v;
		sock_wake(sk, POLLIN);
		return XK_OK;
	case XK_SO_LINGER:
		sk->opts.linger = c->linger;
		return c->linger.seconds < 0 ? XK_E_INVAL : XK_OK;
	case XK_SO_REUSEADDR:
		sk->opts.reuse = c->v != 0;
		return XK_OK;
	case XK_SO_RCVTIMEO:
		sk->opts.rcvtimeo = c->v;
		return XK_OK;
	case XK_SO_SNDTIMEO:
		sk->opts.sndtimeo = c->v;
		return XK_OK;
	case XK_SO_OOBINLINE:
		return c->v != 0 ? XK_OK : XK_E_NOTSUP;
	default:
		return XK_E_NOPROTOOPT;
	}
}

static int64_t set_op(struct sock *sk, void *arg)
{
	struct opt_call *c = arg;
	uint32_t all = sk->opts.set;
	int err = set_own(sk, c);

	if (err != XK_E_NOPROTOOPT)
		return err;
	sk->opts.set = 0;
	err = set_tcp(&sk->opts, c->o->o, c->v);
	/* Only what has just been set goes down: told again, some would act again. */
	if (err == XK_OK && sk->type == XK_SOCK_STREAM)
		sock_stream_apply(sk);
	if (err == XK_OK && sk->state == SOCK_LISTENING)
		sock_listen_tells(sk, true);
	sk->opts.set |= all;
	return err;
}

/* ---- get: inside the VP --------------------------------------------------------------------- */

static int nread(const struct sock *sk)
{
	uint64_t n = sk->rx_bytes;

	if (sk->type == XK_SOCK_DGRAM)
		n = sk->rx.first != NULL ? sk->rx.first->tot - sizeof(struct sock_from) : 0;
	return n > INT32_MAX ? INT32_MAX : (int)n;
}

static int64_t nwrite(const struct sock *sk)
{
	uint32_t v;

	if (sk->sess == NULL ||
	    xk_sess_control(sk->sess->s.down, XK_STREAM_QUEUED, &v, sizeof v) != (int)sizeof v)
		return 0;
	return v;
}

static int64_t get_state(struct sock *sk, enum xk_sock_opt what)
{
	int err = sk->err;

	switch (what) {
	case XK_SO_TYPE:
		return sk->type;
	case XK_SO_ERROR:
		sk->err = 0;
		return err;
	case XK_SO_ACCEPTCONN:
		return sk->state == SOCK_LISTENING;
	case XK_SO_NONBLOCK:
		return xk_load_relaxed(&sk->nonblock);
	case XK_SO_OOBINLINE:
		return 1;
	case XK_SO_NREAD:
		return nread(sk);
	case XK_SO_NWRITE:
		return nwrite(sk);
	case XK_SO_VP:
		return xk_vp_number(sk->vp);
	default:
		return INT64_MIN;
	}
}

/* A stream's buffers: the connection's, which the handshake may have rounded; before there is one
 * what was asked for, or else what the node below gives. */
static uint32_t buffer(struct sock *sk, bool to_send)
{
	const struct sock_opts *o = &sk->opts;
	struct tcp_snapshot info;
	uint32_t node[2];

	if (sk->sess != NULL &&
	    xk_sess_control(sk->sess->s.down, TCP_CTL_INFO, &info, sizeof info) == (int)sizeof info)
		return to_send ? info.snd_buf : info.rcv_buf;
	if (o->set & (to_send ? OPT_SNDBUF : OPT_RCVBUF))
		return to_send ? o->sndbuf : o->rcvbuf;
	if (xk_control(sock_below(sk), TCP_CTL_BUFFERS, node, sizeof node) != (int)sizeof node)
		return 0;
	return node[to_send];
}

static int64_t rcvbuf(struct sock *sk)
{
	if (sk->type == XK_SOCK_STREAM)
		return buffer(sk, false);
	return sk->opts.set & OPT_RCVBUF ? sk->opts.rcvbuf :
	       (int64_t)((const struct sock_conf *)sk->node->conf)->rcvbuf;
}

/* Bytes of a full segment; RFC 9293 3.7.1: without a word from the peer it takes 536. */
static int64_t maxseg(const struct sock *sk)
{
	uint32_t v;

	if (sk->sess != NULL && xk_sess_control(sock_lls(sk), XK_CTL_GETOPTPACKET, &v, sizeof v) == (int)sizeof v)
		return v;
	return sk->opts.set & OPT_MAXSEG ? sk->opts.maxseg : 536;
}

static int64_t get_kept(struct sock *sk, enum xk_sock_opt what)
{
	const struct sock_opts *o = &sk->opts;

	switch (what) {
	case XK_SO_SNDBUF:        return buffer(sk, true);
	case XK_SO_RCVBUF:        return rcvbuf(sk);
	case XK_SO_RCVLOWAT:      return o->rcvlowat;
	case XK_SO_KEEPALIVE:     return o->keep.on;
	case XK_SO_REUSEADDR:     return o->reuse;
	case XK_SO_RCVTIMEO:      return (int64_t)o->rcvtimeo;
	case XK_SO_SNDTIMEO:      return (int64_t)o->sndtimeo;
	case XK_TCP_NODELAY:      return o->nodelay;
	case XK_TCP_CORK:         return o->cork;
	case XK_TCP_MAXSEG:       return maxseg(sk);
	case XK_TCP_USER_TIMEOUT: return o->user_timeout;
	case XK_TCP_KEEPIDLE:     return o->keep.idle_ms / 1000;
	case XK_TCP_KEEPINTVL:    return o->keep.interval_ms / 1000;
	case XK_TCP_KEEPCNT:      return o->keep.count;
	case XK_TCP_LINGER2:      return o->fin_wait2 / 1000;
	default:                  return 0;
	}
}

static int64_t get_op(struct sock *sk, void *arg)
{
	struct opt_call *c = arg;
	int64_t v;

	if (c->o->o == XK_SO_LINGER) {
		c->linger = sk->opts.linger;
		return XK_OK;
	}
	if (c->o->o == XK_TCP_INFO) {
		if (sk->sess == NULL)
			return XK_E_NOTCONN;
		v = xk_sess_control(sk->sess->s.down, TCP_CTL_INFO, &c->info, sizeof c->info);
		return v < 0 ? v : XK_OK;
	}
	v = get_state(sk, c->o->o);
	c->v = (uint64_t)(v != INT64_MIN ? v : get_kept(sk, c->o->o));
	return XK_OK;
}

/* ---- the calls ---------------------------------------------------------------------------------- */

static int check(const struct sock *sk, const struct opt *o, bool set)
{
	bool bad = o == NULL || (set && (o->flags & GET_ONLY)) || ((o->flags & STREAM_ONLY) && sk->type != XK_SOCK_STREAM);

	return bad ? XK_E_NOPROTOOPT : XK_OK;
}

static int parse(struct opt_call *c, const void *v, size_t len)
{
	int i;

	if (len != c->o->size)
		return XK_E_INVAL;
	if (c->o->size == sizeof(uint64_t) && c->o->o != XK_SO_LINGER)
		memcpy(&c->v, v, sizeof c->v);
	else if (c->o->o == XK_SO_LINGER)
		memcpy(&c->linger, v, sizeof c->linger);
	else {
		memcpy(&i, v, sizeof i);
		if (i < 0)
			return XK_E_INVAL;
		c->v = c->o->flags & BOOLEAN ? i != 0 : (uint64_t)i;
	}
	return XK_OK;
}

static int set_held(struct sock *sk, enum xk_sock_opt o, const void *v, size_t len)
{
	struct opt_call c = { .o = opt_find(o) };
	int err = check(sk, c.o, true);

	if (err == XK_OK)
		err = parse(&c, v, len);
	return err == XK_OK ? (int)sock_do(sk, set_op, &c) : err;
}

int xk_sock_setopt(int fd, enum xk_sock_opt o, const void *v, size_t len)
{
	struct sock *sk;
	int res = sock_hold(fd, &sk);

	if (res != XK_OK)
		return res;
	res = set_held(sk, o, v, len);
	sock_put(sk);
	return res;
}

static void give(const struct opt_call *c, void *v, size_t *len)
{
	int i = (int)c->v;

	*len = c->o->size;
	if (c->o->o == XK_SO_LINGER)
		memcpy(v, &c->linger, sizeof c->linger);
	else if (c->o->o == XK_TCP_INFO)
		memcpy(v, &c->info, sizeof c->info);
	else if (c->o->size == sizeof c->v)
		memcpy(v, &c->v, sizeof c->v);
	else
		memcpy(v, &i, sizeof i);
}

static int get_held(struct sock *sk, enum xk_sock_opt o, void *v, size_t *len)
{
	struct opt_call c = { .o = opt_find(o) };
	int err = check(sk, c.o, false);

	if (err == XK_OK && *len < c.o->size)
		err = XK_E_INVAL;
	if (err == XK_OK)
		err = (int)sock_do(sk, get_op, &c);
	if (err == XK_OK)
		give(&c, v, len);
	return err;
}

int xk_sock_getopt(int fd, enum xk_sock_opt o, void *v, size_t *len)
{
	struct sock *sk;
	int res = sock_hold(fd, &sk);

	if (res != XK_OK)
		return res;
	res = get_held(sk, o, v, len);
	sock_put(sk);
	return res;
}

/* ---- names ------------------------------------------------------------------------------------------ */

struct names { struct xk_sock_addr local, peer; };

static int64_t names_op(struct sock *sk, void *arg)
{
	struct names *n = arg;

	*n = (struct names){ sk->local, sk->peer };
	/* A connection knows exactly which address and port of ours it has. */
	if (sk->sess != NULL) {
		(void)xk_sess_control(sk->sess->s.down, XK_CTL_GETMYHOST, &n->local.host, sizeof n->local.host);
		(void)xk_sess_control(sk->sess->s.down, XK_CTL_GETMYPORT, &n->local.port, sizeof n->local.port);
	}
	if (sk->type == XK_SOCK_STREAM ? sk->state != SOCK_CONNECTED : sk->peer.port == 0)
		return XK_E_NOTCONN;
	return XK_OK;
}

static int names_of(int fd, struct names *n)
{
	struct sock *sk;
	int res = sock_hold(fd, &sk);

	if (res != XK_OK)
		return res;
	res = (int)sock_do(sk, names_op, n);
	sock_put(sk);
	return res;
}

int xk_sock_getsockname(int fd, struct xk_sock_addr *a)
{
	struct names n;
	int res = names_of(fd, &n);

	if (res == XK_E_NOTCONN)
		res = XK_OK;
	if (res == XK_OK)
		*a = n.local;
	return res;
}

int xk_sock_getpeername(int fd, struct xk_sock_addr *a)
{
	struct names n;
	int res = names_of(fd, &n);

	if (res == XK_OK)
		*a = n.peer;
	return res;
}

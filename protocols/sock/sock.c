/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sock.c - the node below a program's sockets: the descriptor, what comes from below,
 * start and stop.
 *
 * sock sits over streams, datagrams, or both, and is where the graph ends and the
 * program begins.  Each session below gets one of ours, which is its receiver itself
 * (as a virtual protocol's would be), so what comes up finds its socket without a
 * lookup.
 * Invariant: a session below that we hold has lls->up = &session->self.
 */
#include "protocols/sock/sock_priv.h"

#include <string.h>

#include "protocols/udp/udp.h"
#include "runtime/base/xk_errs.h"
#include "runtime/sync/xk_sync.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_move.h"
#include "runtime/upi/xk_vps.h"

/* ---- what comes from below ------------------------------------------------------------ */

static int type_over(const struct xk_node *n)
{
	return xk_node_offers(n, "stream") ? XK_SOCK_STREAM : XK_SOCK_DGRAM;
}

/* By the session itself: what lies below us, and below a layer, may be another node in a moment. */
static int type_of(const struct xk_sess *lls)
{
	while (lls->rep->node->proto->as_below && lls->down != NULL)
		lls = lls->down;
	return type_over(lls->rep->node);
}

static int sock_open_done(struct xk_rep *r, struct xk_sess *lls, struct xk_node *type)
{
	int kind = type_of(lls), err;
	struct sock *sk = sock_find_port(r, lls, kind);

	(void)type;
	if (sk == NULL)
		return XK_E_CONNREFUSED;
	if (sock_stopping(r->node))
		err = XK_E_SHUTDOWN;
	else if (kind == XK_SOCK_DGRAM)
		err = sock_dgram_come(r, lls, sk);
	else
		err = sock_come(r, lls, sk);
	sock_put(sk);
	return err;
}

static void sock_close_done(struct xk_rep *r, struct xk_sess *lls)
{
	struct sock_sess *ss = sock_sess_on(lls);

	(void)r;
	if (ss != NULL && ss->sk != NULL)
		sock_stream_closed(ss);
}

/* A datagram of a session that we have given up, and the protocol below has not. */
static XK_NOINLINE void demux_forgotten(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	struct sock_sess *ss;

	if (type_of(lls) == XK_SOCK_DGRAM && sock_open_done(up->rep, lls, up->rep->node) == XK_OK) {
		ss = sock_sess_on(lls);
		if (ss != NULL) {
			sock_dgram_demux(ss, m);
			return;
		}
	}
	xk_drop(up->rep, SOCK_DROP_NOBODY, m);
}

static void sock_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	struct sock_sess *ss = sock_sess_of(up);

	xk_count(up->rep->npop);
	if (XK_UNLIKELY(ss == NULL))
		demux_forgotten(up, lls, m);
	else if (XK_LIKELY(ss->sk != NULL))
		sock_stream_demux(ss, m);
	else
		sock_dgram_demux(ss, m);
}

static int tell_stream(const struct xk_stream_event *e)
{
	struct sock_sess *ss = sock_sess_on(e->s);

	if (ss != NULL && ss->sk != NULL)
		sock_stream_event(ss, e);
	return XK_OK;
}

static int udp_error(const struct udp_error *e)
{
	struct sock_sess *ss = sock_sess_on(e->s);

	if (ss != NULL && ss->sk == NULL)
		sock_dgram_error(ss, e->type, e->code);
	return XK_OK;
}

/* A layer comes below our sessions, or goes: who holds what it stands over is its receiver, or will be. */
static int sock_move(struct xk_rep *r, const struct xk_move *m)
{
	int res = xk_asked(r, m);
	struct sock_sess *ss;

	if (res <= 0)
		return res;
	ss = sock_sess_on(m->now != NULL ? m->now : m->old);
	if (ss == NULL || ss->s.rep != r || ss->s.down != m->old)
		return XK_E_NOENT;
	if (m->now != NULL) {
		ss->s.down = xk_dup(m->now);
		xk_close(m->old);
	}
	return XK_OK;
}

static int sock_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	switch (op) {
	case XK_CTL_MOVE:
		return sock_move(r, buf);
	case XK_CTL_STREAM_EVENT:
		return len < sizeof(struct xk_stream_event) ? XK_E_INVAL : tell_stream(buf);
	case UDP_CTL_ERROR:
		return len < sizeof(struct udp_error) ? XK_E_INVAL : udp_error(buf);
	default:
		return XK_E_NOTSUP;
	}
}

/* ---- life -------------------------------------------------------------------------------- */

static int sock_init(struct xk_node *n, struct xk_errs *e)
{
	struct sock_node *st = sock_node(n);

	st->down[XK_SOCK_STREAM] = st->down[XK_SOCK_DGRAM] = -1;
	for (unsigned i = 0; i < n->ndown; i++) {
		int type = type_over(n->down[i]);

		if (st->down[type] >= 0) {
			xk_errs_add(e, n->file, n->line, 0, "%s: two protocols below offer the same: "
				    "make a second sock for %s", n->name, n->down[i]->name);
			return XK_E_INVAL;
		}
		st->down[type] = (int)i;
	}
	xk_mutex_init(&st->lock);
	return XK_OK;
}

static void sock_fini(struct xk_node *n)
{
	xk_mutex_fini(&sock_node(n)->lock);
}

/* Nobody can take hold of one of its sockets any more; who did is on its way out. */
static void sock_stop_node(struct xk_node *n)
{
	sock_await_quiet(n);
	for (unsigned i = 0; i < n->ndown; i++)
		xk_open_disable_all(n, n->down[i]);
}

static void sock_rep_stop(struct xk_rep *r)
{
	struct sock_rep *st = sock_rep(r);
	struct sock *sk, *held;

	xk_store_release(&sock_node(r->node)->stopping, SOCK_HALTED);
	sock_node(r->node)->going = true;
	while (!xk_list_empty(&st->socks)) {
		sk = xk_container_of(xk_list_first(&st->socks), struct sock, here);
		held = sock_get_last(sk->fd);
		sock_end(sk, false);
		if (held != NULL)
			sock_put(held);
	}
	sock_dgram_forget(r, 0);
}

static int64_t join_op(struct sock *sk, void *arg)
{
	(void)arg;
	if (!sk->closed)
		sock_join(sk);
	return XK_OK;
}

int xk_sock_socket(struct xk_node *n, int type)
{
	int kind = type & ~XK_SOCK_NONBLOCK, err;
	struct sock *sk;

	if (kind != XK_SOCK_STREAM && kind != XK_SOCK_DGRAM)
		return XK_E_INVAL;
	if (!sock_is_sock(n) || sock_node(n)->down[kind] < 0)
		return XK_E_NOTSUP;
	if (sock_stopping(n))
		return XK_E_SHUTDOWN;
	if (xk_guest_event() == NULL)
		return XK_E_MFILE;
	sk = sock_new(n, kind, &err);
	if (sk == NULL)
		return err;
	sk->nonblock = type & XK_SOCK_NONBLOCK ? 1 : 0;
	sock_do(sk, join_op, NULL);
	return sk->fd;
}

static void wake_all(struct xk_vp *vp, void *arg)
{
	struct xk_node *n = arg;
	const struct xk_list *l = &sock_rep(n->rep[xk_vp_no])->socks;

	(void)vp;
	for (struct xk_listed *i = xk_list_first(l); i != NULL; i = xk_list_next(l, i))
		sock_wake(xk_container_of(i, struct sock, here), POLLIN | POLLOUT | POLLPRI | POLLRDHUP | POLLNVAL);
}

static void stop(struct xk_node *n, uint32_t how)
{
	uint32_t was = xk_load_acquire(&sock_node(n)->stopping);

	xk_guest_event();
	while (was < how && !xk_atomic_cas(&sock_node(n)->stopping, &was, how))
		;
	for (unsigned i = 0; i < xk_node_nvps(n); i++)
		xk_vp_do(xk_node_vp(n, i), wake_all, n);
	sock_sets_stop(n);
	sock_await_quiet(n);
}

void xk_sock_stop(struct xk_node *n) { stop(n, SOCK_STOPPED); }

/* While the workers run: whoever waits in a call gets out of it, and nobody gets into one. */
static void sock_halt(struct xk_node *n) { stop(n, SOCK_HALTED); }

/* ---- schema --------------------------------------------------------------------------------- */

#define AT(f) .offset = offsetof(struct sock_conf, f)
static const struct xk_param sock_params[] = {
	{ .name = "backlog", .type = XK_P_UINT, .def = "4096", .min = "1", .max = "65535", AT(backlog),
	  .doc = "most connections that wait to be accepted, whatever listen asks for" },
	{ .name = "rcvbuf", .type = XK_P_SIZE, .def = "256KiB", .min = "1KiB", .max = "1GiB", AT(rcvbuf),
	  .doc = "bytes that wait in a datagram socket, unless its XK_SO_RCVBUF says otherwise" },
	{ .name = "peers", .type = XK_P_UINT, .def = "4096", .min = "1", .max = "16777216", AT(peers),
	  .doc = "peers of datagram sockets that each virtual processor remembers; the longest unused is forgotten" },
	XK_PARAM_END
};

#define SOCK_TEXT(n, s) s,
static const char *const sock_drops[] = { SOCK_DROPS(SOCK_TEXT) NULL };
static const char *const sock_counts[] = { SOCK_COUNTS(SOCK_TEXT) NULL };

static const struct xk_ops sock_ops = {
	.init = sock_init, .fini = sock_fini, .stop = sock_stop_node, .halt = sock_halt, .rep_stop = sock_rep_stop,
	.open_done = sock_open_done, .close_done = sock_close_done,
	.demux = sock_demux, .enter = sock_dgram_enter, .control = sock_control,
};

const struct xk_proto xk_proto_sock = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto),
	.name = "sock", .doc = "sockets: where a program's own threads meet the graph",
	.ops = &sock_ops, .offers = "socket", .needs = { "stream|port", "stream|port" }, .min_down = 1, .max_down = 2,
	.params = sock_params, .conf_size = sizeof(struct sock_conf), .node_size = sizeof(struct sock_node),
	.rep_size = sizeof(struct sock_rep), .sess_size = sizeof(struct sock_sess),
	.drops = sock_drops, .counts = sock_counts,
};

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hosttcp.c - streams by sockets of the host's kernel: opening, waiting, control, life.
 *
 * Offers "stream" as tcp does and keeps the promises of xk_stream.h, so whatever sits on that sits on this,
 * and its peers are any programs.  A connection lives on the VP that opened it, or whose socket accepted it:
 * who waits on a port has a socket for it on each VP (SO_REUSEPORT), and the kernel deals connections out.
 * Invariant: a session that those above have closed lives on only while it connects or has bytes to send.
 */
#include "drivers/hosttcp/hosttcp_priv.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/mem/xk_alloc.h"
#include "runtime/upi/xk_enable.h"
#include "runtime/upi/xk_gives.h"

#define CLOSED_TIMEOUT 60000u            /* ms that a peer may take nothing of a closed connection (RFC 5482) */

/* ---- sessions ------------------------------------------------------------------------ */

static struct xk_key key_of(const struct hosttcp_sess *ts)
{
	return (struct xk_key){ { (uint64_t)ts->peer.host << 32 | ts->local.host,
				  (uint64_t)ts->peer.port << 32 | ts->local.port } };
}

struct hosttcp_sess *hosttcp_make(struct xk_rep *r, struct xk_up *up, struct xk_node *type, int fd, int *err)
{
	struct xk_sess *s = xk_sess_create(r, up, type, NULL);
	struct hosttcp_rep *hr = hosttcp_rep(r);
	struct hosttcp_sess *ts;
	const int one = 1;
	struct xk_key k;

	*err = XK_E_NOMEM;
	if (s == NULL)
		return NULL;
	ts = hosttcp_sess(s);
	ts->watch.sess = ts;
	ts->fd = fd;
	ts->events = UINT32_MAX;
	xk_msgq_init(&ts->q);
	xk_host_ends(fd, &ts->local, &ts->peer);
	k = key_of(ts);
	if (ts->peer.port != 0 && xk_sess_bind(s, &k) == XK_E_NOMEM) {
		xk_sess_destroy(s);
		return NULL;
	}
	/* What is pushed in a unit leaves together already. */
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	xk_list_put(&hr->all, &ts->all);
	hr->nsessions++;
	return ts;
}

void hosttcp_free(struct hosttcp_sess *ts)
{
	struct hosttcp_rep *hr = hosttcp_rep(ts->s.rep);

	hosttcp_cut(ts, false);
	for (int i = 0; i < hr->nev; i++)
		if (hr->ev[i].data.ptr == &ts->watch)
			hr->ev[i].data.ptr = NULL;
	xk_list_take(&ts->all);
	xk_list_take(&ts->busy);
	xk_list_take(&ts->drain);
	hr->nsessions--;
	xk_sess_unbind(&ts->s);
	xk_sess_destroy(&ts->s);
}

static void hosttcp_close(struct xk_sess *s)
{
	struct hosttcp_sess *ts = hosttcp_sess(s);
	const unsigned timeout = CLOSED_TIMEOUT;

	ts->closed = true;
	ts->wants_room = ts->wants_drained = false;
	xk_list_take(&ts->drain);
	if (ts->state == HOSTTCP_OVER || (ts->queued == 0 && ts->state == HOSTTCP_OPEN)) {
		hosttcp_free(ts);
		return;
	}
	/* Nobody waits for a peer that takes nothing any more. */
	(void)setsockopt(ts->fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout, sizeof timeout);
	hosttcp_later(ts);
}

/* ---- active open ------------------------------------------------------------------------ */

/* Errors of the network are told later, as those of a peer are; others at once. */
static int begin(int fd, struct xk_hostend remote, int *later)
{
	struct sockaddr_in to = xk_hostend_sa(remote);

	*later = XK_OK;
	if (connect(fd, (struct sockaddr *)&to, sizeof to) == 0 || errno == EINPROGRESS)
		return XK_OK;
	if (errno == EADDRNOTAVAIL || errno == EADDRINUSE)
		return -errno;
	*later = -errno;
	return XK_OK;
}

static int open_socket(const struct hosttcp_conf *c, struct xk_hostend local, struct xk_hostend remote, int *fd, int *later)
{
	int err = xk_host_socket(c->netns, SOCK_STREAM, c->kernel_buffer, fd);

	if (err == XK_OK && (local.port != 0 || local.host != 0))
		err = xk_host_bind(*fd, local, false);
	return err == XK_OK ? begin(*fd, remote, later) : err;
}

static struct xk_sess *hosttcp_open(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type, struct xk_parts *ps, int *err)
{
	struct hosttcp_rep *hr = hosttcp_rep(r);
	struct hosttcp_sess *ts = NULL;
	struct xk_hostend remote, local;
	int fd = -1, later = XK_OK;

	*err = xk_host_parts(ps, &remote, &local);
	if (*err == XK_OK && hr->nsessions >= hosttcp_conf(r)->sessions)
		*err = XK_E_NOSPC;
	if (*err == XK_OK)
		*err = open_socket(hosttcp_conf(r), local, remote, &fd, &later);
	if (*err == XK_OK)
		ts = hosttcp_make(r, &rcv->up, type, fd, err);
	if (ts == NULL) {
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	ts->peer = remote;
	ts->err = later != XK_OK ? later : hosttcp_watch(ts);
	if (ts->err != XK_OK)
		hosttcp_later(ts);
	xk_task_ready(&hr->rx_task);
	return &ts->s;
}

/* ---- waiting on a port --------------------------------------------------------------------- */

static int tcp_listen(struct xk_node *n, struct xk_hostlisten *l)
{
	struct hosttcp_listen *k = xk_container_of(l, struct hosttcp_listen, l);
	struct epoll_event ev = { .events = EPOLLIN, .data.ptr = &k->watch };
	const struct hosttcp_conf *c = n->conf;
	const int one = 1;
	int err = xk_host_socket(c->netns, SOCK_STREAM, c->kernel_buffer, &l->fd);

	k->watch.listen = k;
	if (err != XK_OK)
		return err;
	/* Connections of an earlier run may be in TIME-WAIT. */
	(void)setsockopt(l->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	err = xk_host_bind(l->fd, l->local, true);
	if (err == XK_OK && (listen(l->fd, (int)c->backlog) < 0 ||
			     epoll_ctl(hosttcp_rep(n->rep[l->vp])->epoll, EPOLL_CTL_ADD, l->fd, &ev) < 0))
		err = -errno;
	return err;
}

static int hosttcp_open_enable(struct xk_node *n, struct xk_node *rcv, struct xk_node *type, struct xk_parts *ps)
{
	static const struct xk_hostlistener how = { sizeof(struct hosttcp_listen), tcp_listen };

	return xk_host_enable(n, rcv, type, ps, &((struct hosttcp_node *)n->state)->listens, &how);
}

/* ---- control --------------------------------------------------------------------------------------- */

static int hosttcp_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	switch (op) {
	case XK_CTL_GETMAXPACKET:
	case XK_CTL_GETOPTPACKET:
		return xk_answer32(buf, len, HOSTTCP_ROOM);
	case XK_CTL_ISLOCAL:
		return xk_host_is_local(hosttcp_conf(r)->netns, buf, len);
	default:
		return XK_E_NOTSUP;
	}
}

/* What of the bytes passed up is taken. */
static int taken(struct hosttcp_sess *ts, uint32_t n)
{
	ts->untaken -= n < ts->untaken ? n : ts->untaken;
	return ts->state == HOSTTCP_OPEN ? hosttcp_watch(ts) : XK_OK;
}

static int told(struct hosttcp_sess *ts, unsigned op, uint32_t v)
{
	switch (op) {
	case XK_STREAM_MANUAL:
		ts->manual = v != 0;
		ts->untaken = ts->manual ? ts->untaken : 0;
		return XK_OK;
	case XK_STREAM_TAKEN:
		return taken(ts, v);
	case XK_STREAM_SHUTDOWN:
		ts->shut = true;
		ts->wants_drained = ts->state != HOSTTCP_OVER;
		hosttcp_later(ts);
		return XK_OK;
	default:
		hosttcp_cut(ts, true);
		ts->err = XK_E_CONNABORTED;
		return XK_OK;
	}
}

static int drain(struct hosttcp_sess *ts)
{
	if (ts->queued == 0 && hosttcp_unacked(ts) == 0)
		return 1;
	ts->wants_drained = true;
	hosttcp_later(ts);
	return 0;
}

static int room(struct hosttcp_sess *ts, void *buf, unsigned len)
{
	uint32_t n = hosttcp_room(ts);

	ts->wants_room |= n == 0 && ts->state != HOSTTCP_OVER;
	return xk_answer32(buf, len, n);
}

static int stream_control(struct hosttcp_sess *ts, unsigned op, void *buf, unsigned len)
{
	uint32_t v = 0;

	switch (op) {
	case XK_STREAM_ROOM:
		return room(ts, buf, len);
	case XK_STREAM_ERRNO:
		return xk_answer(buf, len, &ts->err, sizeof ts->err);
	case XK_STREAM_QUEUED:
		return xk_answer32(buf, len, ts->queued + hosttcp_unacked(ts));
	case XK_STREAM_DRAIN:
		return drain(ts);
	case XK_STREAM_MANUAL:
	case XK_STREAM_TAKEN:
		if (xk_take(&v, sizeof v, buf, len) != XK_OK)
			return XK_E_INVAL;
		return told(ts, op, v);
	case XK_STREAM_SHUTDOWN:
	case XK_STREAM_ABORT:
		return told(ts, op, 0);
	default:
		return hosttcp_control(ts->s.rep, op, buf, len);
	}
}

static int hosttcp_sess_control(struct xk_sess *s, unsigned op, void *buf, unsigned len)
{
	struct hosttcp_sess *ts = hosttcp_sess(s);
	int res = xk_host_control(ts->local, ts->peer, op, buf, len);

	return res != XK_E_NOTSUP ? res : stream_control(ts, op, buf, len);
}

/* ---- life -------------------------------------------------------------------------------------------- */

static void hosttcp_fini(struct xk_node *n)
{
	xk_host_unlisten(&((struct hosttcp_node *)n->state)->listens, NULL);
}

static void hosttcp_rep_fini(struct xk_rep *r)
{
	struct hosttcp_rep *hr = hosttcp_rep(r);

	if (hr->rep == NULL)
		return;
	if (hr->epoll >= 0)
		close(hr->epoll);
	hr->epoll = -1;
	xk_free(hr->room);
	hr->room = NULL;
}

static int hosttcp_rep_init(struct xk_rep *r)
{
	struct hosttcp_rep *hr = hosttcp_rep(r);
	int err;

	hr->rep = r;
	hr->room = xk_alloc(HOSTTCP_ROOM);
	hr->epoll = epoll_create1(EPOLL_CLOEXEC);
	err = hr->epoll < 0 ? -errno : hr->room == NULL ? XK_E_NOMEM : XK_OK;
	if (err != XK_OK) {
		hosttcp_rep_fini(r);
		return err;
	}
	xk_task_init(&hr->rx_task, r->vp, hosttcp_rx_run);
	hr->rx_task.fd = hr->epoll;
	xk_task_init(&hr->tx_task, r->vp, hosttcp_tx_run);
	xk_timer_init(&hr->poll, hosttcp_poll);
	xk_timer_init(&hr->resume, hosttcp_resume);
	return XK_OK;
}

static int hosttcp_rep_start(struct xk_rep *r, struct xk_errs *e)
{
	(void)e;
	if (r->no < xk_host_listeners(r->node))
		xk_task_ready(&hosttcp_rep(r)->rx_task);
	return XK_OK;
}

static void hosttcp_rep_stop(struct xk_rep *r)
{
	struct hosttcp_rep *hr = hosttcp_rep(r);
	struct xk_listed *i = xk_list_first(&hr->all), *next;

	xk_task_park(&hr->rx_task);
	xk_task_park(&hr->tx_task);
	xk_timer_cancel(r->wheel, &hr->poll);
	xk_timer_cancel(r->wheel, &hr->resume);
	for (; i != NULL; i = next) {
		struct hosttcp_sess *ts = xk_container_of(i, struct hosttcp_sess, all);

		next = xk_list_next(&hr->all, i);
		if (ts->closed)
			hosttcp_free(ts);
	}
}

/* ---- schema --------------------------------------------------------------------------------------------- */

/* The kernel minds congestion. */
static uint32_t hosttcp_gives(const void *conf, uint32_t below)
{
	(void)conf;
	(void)below;
	return XK_GIVES_ORDER | XK_GIVES_RELIABLE | XK_GIVES_SUM;
}

static const struct xk_ops hosttcp_ops = {
	.fini = hosttcp_fini, .rep_init = hosttcp_rep_init, .rep_fini = hosttcp_rep_fini,
	.rep_start = hosttcp_rep_start, .rep_stop = hosttcp_rep_stop,
	.open = hosttcp_open, .open_enable = hosttcp_open_enable, .open_disable = xk_host_disable,
	.open_disable_all = xk_enable_unbind_all,
	.push = hosttcp_push, .close = hosttcp_close,
	.control = hosttcp_control, .sess_control = hosttcp_sess_control,
};

#define P(field, t, d, text, ...) \
	{ .name = #field, .type = t, .def = d, .doc = text, .offset = offsetof(struct hosttcp_conf, field), ##__VA_ARGS__ }

static const struct xk_param hosttcp_params[] = {
	P(netns, XK_P_TEXT, NULL, "network namespace of the sockets, a name of \"ip netns\"", .flags = XK_PF_HOST),
	P(buffer, XK_P_SIZE, "256KiB", "bytes of a connection that wait here, and that are passed up and not taken", .min = "4KiB", .max = "256MiB"),
	P(kernel_buffer, XK_P_SIZE, "0", "of the kernel, for each connection and direction; 0: it chooses", .max = "1GiB"),
	P(sessions, XK_P_UINT, "65536", "most connections of a virtual processor; more are refused", .min = "1", .max = "16777216"),
	P(backlog, XK_P_UINT, "1024", "connections that wait to be accepted, of each virtual processor; the system has a limit, too",
	  .min = "1", .max = "65535"),
	XK_PARAM_END
};

static const char *const hosttcp_drops[] = {
#define X(id, text) text,
	HOSTTCP_DROPS(X)
#undef X
	NULL
};
static const char *const hosttcp_counts[] = {
	"opened", "accepted", "refused_here", "nobody_waits", "failed", "reset", "no_descriptors", "read_calls", "write_calls",
	"bytes_read", "bytes_written", NULL
};

const struct xk_proto xk_proto_hosttcp = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "hosttcp",
	.doc = "streams by TCP sockets of the host's kernel",
	.is_driver = true, .is_host = true, .ops = &hosttcp_ops, .offers = "stream", .params = hosttcp_params,
	.conf_size = sizeof(struct hosttcp_conf), .node_size = sizeof(struct hosttcp_node),
	.rep_size = sizeof(struct hosttcp_rep), .sess_size = sizeof(struct hosttcp_sess),
	.drops = hosttcp_drops, .counts = hosttcp_counts, .gives = hosttcp_gives,
};

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hostudp.c - datagrams by sockets of the host's kernel: opening, waiting, control, life.
 *
 * Offers "port" as udp does, so whatever sits on that sits on this, and its peers are any programs.  A
 * session that is opened has a connected socket of its own, on the VP that opened it.  Who waits on a port
 * has a socket for it on each VP, all bound to it (SO_REUSEPORT), and the kernel gives each peer to one of
 * them; so a peer's session lives where its datagrams come in, and nothing is handed over.  A port that
 * nobody waits on any more stays bound until the graph ends: its sockets may be in use meanwhile.
 * Invariant: a passive session that nobody above keeps is held by the driver for idle_timeout; the list
 * of these is in order of time.
 */
#include "drivers/hostudp/hostudp_priv.h"

#include <errno.h>
#include <netinet/udp.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "runtime/base/xk_errs.h"
#include "runtime/mem/xk_alloc.h"
#include "runtime/upi/xk_enable.h"
#include "runtime/upi/xk_gives.h"
#include "runtime/upi/xk_part.h"
#include "runtime/upi/xk_review.h"

#ifndef UDP_GRO
#define UDP_GRO 104
#endif

#define IP_UDP_HEADERS 28u

/* ---- sockets ------------------------------------------------------------------------- */

static void sock_close(struct hostudp_sock *k)
{
	if (k->l.fd >= 0)
		close(k->l.fd);          /* leaves its epoll by that */
	k->l.fd = -1;
}

/* Says what a socket of ours is to say of what it reads. */
static void sock_set(int fd, const struct hostudp_conf *c, bool passive)
{
	const int one = 1;

	if (c->offload)
		(void)setsockopt(fd, IPPROTO_UDP, UDP_GRO, &one, sizeof one);
	if (passive)
		(void)setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &one, sizeof one);
}

/* From now on events of that descriptor name k. */
static int sock_watch(struct hostudp_sock *k, int epoll)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.ptr = k };

	return epoll_ctl(epoll, EPOLL_CTL_ADD, k->l.fd, &ev) == 0 ? XK_OK : -errno;
}

static int sock_connect(int fd, struct xk_hostend remote)
{
	struct sockaddr_in to = xk_hostend_sa(remote);

	return connect(fd, (struct sockaddr *)&to, sizeof to) == 0 ? XK_OK : -errno;
}

/* Opens k at k->l.local; remote, unless NULL: connected. */
static int sock_open(struct hostudp_sock *k, const struct hostudp_conf *c, const struct xk_hostend *remote)
{
	struct xk_hostend local = k->l.local;
	int err = xk_host_socket(c->netns, SOCK_DGRAM, c->buffer, &k->l.fd);

	if (err == XK_OK && (local.port != 0 || local.host != 0))
		err = xk_host_bind(k->l.fd, local, local.port != 0);
	if (err == XK_OK)
		sock_set(k->l.fd, c, remote == NULL);
	if (err == XK_OK && remote != NULL)
		err = sock_connect(k->l.fd, *remote);
	if (err != XK_OK)
		sock_close(k);
	return err;
}

/* ---- active open ------------------------------------------------------------------------ */

static void sess_end(struct hostudp_sess *us)
{
	struct hostudp_rep *hr = hostudp_rep(us->s.rep);
	struct hostudp_sock *k = us->sock;

	xk_sess_unbind(&us->s);
	if (k->only == us) {
		if (hr->nout != 0)
			hostudp_flush(hr);       /* they name its descriptor */
		sock_close(k);
		k->only = NULL;
		k->dead = hr->dead;
		hr->dead = k;
	}
	hr->nsessions--;
	xk_sess_destroy(&us->s);
}

static struct hostudp_sess *sess_make(struct xk_rep *r, struct xk_up *up, struct xk_node *type, struct hostudp_sock *k,
				      const struct xk_key *key)
{
	struct xk_sess *s = xk_sess_create(r, up, type, NULL);
	struct hostudp_sess *us;

	if (s == NULL)
		return NULL;
	us = hostudp_sess(s);
	us->sock = k;
	if (xk_sess_bind(s, key) != XK_OK) {
		xk_sess_destroy(s);
		return NULL;
	}
	hostudp_rep(r)->nsessions++;
	return us;
}

static struct xk_sess *open_over(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type, struct hostudp_sock *k, int *err)
{
	struct xk_hostend local, peer;
	struct hostudp_sess *us;
	struct xk_key key;

	xk_host_ends(k->l.fd, &local, &peer);
	key = hostudp_key(peer, local);
	*err = XK_E_NOMEM;
	us = sess_make(r, &rcv->up, type, k, &key);
	if (us == NULL)
		return NULL;
	us->local = local;
	us->peer = peer;
	k->only = us;
	*err = sock_watch(k, hostudp_rep(r)->epoll);
	if (*err == XK_OK)
		return &us->s;
	k->only = NULL;
	sess_end(us);
	return NULL;
}

static struct xk_sess *hostudp_open(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type, struct xk_parts *ps, int *err)
{
	struct hostudp_rep *hr = hostudp_rep(r);
	struct hostudp_sock *k = xk_alloc(sizeof *k);
	struct xk_hostend remote;
	struct xk_sess *s = NULL;

	*err = XK_E_NOMEM;
	if (k == NULL)
		return NULL;
	*k = (struct hostudp_sock){ .l.fd = -1 };
	*err = xk_host_parts(ps, &remote, &k->l.local);
	if (*err == XK_OK && hr->nsessions >= hostudp_conf(r)->sessions)
		*err = XK_E_NOSPC;
	if (*err == XK_OK)
		*err = sock_open(k, hostudp_conf(r), &remote);
	if (*err == XK_OK)
		s = open_over(r, rcv, type, k, err);
	if (s != NULL) {
		xk_task_ready(&hr->rx_task);
		return s;
	}
	sock_close(k);
	xk_free(k);
	return NULL;
}

static void hostudp_close(struct xk_sess *s)
{
	xk_list_take(&hostudp_sess(s)->listed);
	sess_end(hostudp_sess(s));
}

/* ---- peers ------------------------------------------------------------------------------- */

static void sweep_later(struct hostudp_rep *hr)
{
	const struct xk_listed *i = xk_list_first(&hr->passive);

	if (i != NULL)
		xk_timer_set(hr->rep->wheel, &hr->sweep, xk_container_of(i, struct hostudp_sess, listed)->since +
			     hostudp_conf(hr->rep)->idle_timeout);
}

/* The driver's own reference; the session ends with it unless somebody above keeps it. */
static void let_go(struct hostudp_sess *us)
{
	xk_list_take(&us->listed);
	xk_close(&us->s);
}

static void sweep(struct xk_timer *t)
{
	struct hostudp_rep *hr = xk_container_of(t, struct hostudp_rep, sweep);
	xk_ns now = xk_vp_now(), timeout = hostudp_conf(hr->rep)->idle_timeout;
	struct xk_listed *i;

	while ((i = xk_list_first(&hr->passive)) != NULL) {
		struct hostudp_sess *us = xk_container_of(i, struct hostudp_sess, listed);

		if (us->since + timeout > now)
			break;
		let_go(us);
	}
	sweep_later(hr);
}

/* Room for one more: at the cap the oldest that nobody else holds goes. */
static bool make_room(struct hostudp_rep *hr)
{
	struct xk_listed *i = xk_list_first(&hr->passive);

	if (hr->nsessions < hostudp_conf(hr->rep)->sessions)
		return true;
	for (unsigned looks = 0; i != NULL && looks < 8; looks++, i = xk_list_next(&hr->passive, i)) {
		struct hostudp_sess *us = xk_container_of(i, struct hostudp_sess, listed);

		if (us->s.rcnt == 1) {
			let_go(us);
			return true;
		}
	}
	return false;
}

struct hostudp_sess *hostudp_first(struct xk_rep *r, struct hostudp_sock *k, const struct xk_key *key,
				   struct xk_hostend peer, struct xk_hostend local, unsigned *reason)
{
	struct hostudp_rep *hr = hostudp_rep(r);
	struct xk_enable *e = xk_enable_find(r->node, &k->l.key);
	struct hostudp_sess *us;

	*reason = HOSTUDP_DROP_NOBODY;
	if (e == NULL || peer.port == 0)
		return NULL;
	*reason = HOSTUDP_DROP_SESSIONS;
	if (!make_room(hr))
		return NULL;
	*reason = XK_DROP_NOMEM;
	us = sess_make(r, &xk_rep_here(xk_enable_rcv(e), r)->up, xk_enable_type(e), k, key);
	if (us == NULL)
		return NULL;
	us->local = local;
	us->peer = peer;
	us->since = xk_vp_now();
	xk_dup(&us->s);
	if (xk_open_done(xk_enable_rcv(e), &us->s, xk_enable_type(e)) < 0) {
		*reason = HOSTUDP_DROP_REFUSED;
		xk_close(&us->s);
		return NULL;
	}
	xk_list_put(&hr->passive, &us->listed);
	if (!xk_timer_armed(&hr->sweep))
		sweep_later(hr);
	return us;
}

/* ---- waiting on a port ------------------------------------------------------------------------ */

static int sock_listen(struct xk_node *n, struct xk_hostlisten *l)
{
	struct hostudp_sock *k = xk_container_of(l, struct hostudp_sock, l);
	int err = sock_open(k, n->conf, NULL);

	return err == XK_OK ? sock_watch(k, hostudp_rep(n->rep[l->vp])->epoll) : err;
}

static int hostudp_open_enable(struct xk_node *n, struct xk_node *rcv, struct xk_node *type, struct xk_parts *ps)
{
	static const struct xk_hostlistener how = { sizeof(struct hostudp_sock), sock_listen };

	return xk_host_enable(n, rcv, type, ps, &((struct hostudp_node *)n->state)->listens, &how);
}

/* ---- control --------------------------------------------------------------------------------------- */

static int hostudp_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	switch (op) {
	case XK_CTL_GETMAXPACKET:
		return xk_answer32(buf, len, HOSTUDP_MAX);
	case XK_CTL_GETOPTPACKET:
		return xk_answer32(buf, len, 1500 - IP_UDP_HEADERS);
	case XK_CTL_ISLOCAL:
		return xk_host_is_local(hostudp_conf(r)->netns, buf, len);
	default:
		return XK_E_NOTSUP;
	}
}

/* What fits the path, as far as the kernel knows it; 0: it does not say. */
static uint32_t path_room(const struct hostudp_sess *us)
{
	socklen_t n = sizeof(int);
	int mtu;

	if (us->sock->only == NULL || getsockopt(us->sock->l.fd, IPPROTO_IP, IP_MTU, &mtu, &n) < 0 || mtu <= (int)IP_UDP_HEADERS)
		return 0;
	return (uint32_t)mtu - IP_UDP_HEADERS < HOSTUDP_MAX ? (uint32_t)mtu - IP_UDP_HEADERS : HOSTUDP_MAX;
}

static int hostudp_sess_control(struct xk_sess *s, unsigned op, void *buf, unsigned len)
{
	struct hostudp_sess *us = hostudp_sess(s);
	uint32_t room = op == XK_CTL_GETOPTPACKET ? path_room(us) : 0;
	int res = xk_host_control(us->local, us->peer, op, buf, len);

	if (res != XK_E_NOTSUP)
		return res;
	return room != 0 ? xk_answer32(buf, len, room) : hostudp_control(s->rep, op, buf, len);
}

/* ---- life -------------------------------------------------------------------------------------------- */

static void hostudp_fini(struct xk_node *n)
{
	struct hostudp_node *st = n->state;

	xk_host_unlisten(&st->listens, NULL);
}

static void hostudp_rep_fini(struct xk_rep *r)
{
	struct hostudp_rep *hr = hostudp_rep(r);
	struct hostudp_sock *k;

	if (hr->rep == NULL)
		return;
	while ((k = hr->dead) != NULL) {
		hr->dead = k->dead;
		xk_free(k);
	}
	if (hr->epoll >= 0)
		close(hr->epoll);
	hr->epoll = -1;
	xk_free(hr->rx);
	xk_free(hr->tx);
	hr->rx = NULL;
	hr->tx = NULL;
}

static int hostudp_rep_init(struct xk_rep *r)
{
	struct hostudp_rep *hr = hostudp_rep(r);

	hr->rep = r;
	hr->rx = xk_alloc(sizeof *hr->rx);
	hr->tx = xk_alloc(sizeof *hr->tx);
	hr->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (hr->rx == NULL || hr->tx == NULL || hr->epoll < 0) {
		int err = hr->epoll < 0 ? -errno : XK_E_NOMEM;

		hostudp_rep_fini(r);
		return err;
	}
	hostudp_rx_init(hr->rx);
	hr->most_cut = hostudp_conf(r)->offload ? HOSTUDP_MAX : 0;
	xk_task_init(&hr->rx_task, r->vp, hostudp_rx_run);
	hr->rx_task.fd = hr->epoll;
	xk_task_init(&hr->tx_task, r->vp, hostudp_tx_run);
	xk_timer_init(&hr->sweep, sweep);
	return XK_OK;
}

/* A VP that may hear of peers looks for them from the start. */
static int hostudp_rep_start(struct xk_rep *r, struct xk_errs *e)
{
	(void)e;
	if (r->no < xk_host_listeners(r->node))
		xk_task_ready(&hostudp_rep(r)->rx_task);
	return XK_OK;
}

static void hostudp_rep_stop(struct xk_rep *r)
{
	struct hostudp_rep *hr = hostudp_rep(r);
	struct xk_listed *i;

	xk_task_park(&hr->rx_task);
	while ((i = xk_list_first(&hr->passive)) != NULL)
		let_go(xk_container_of(i, struct hostudp_sess, listed));
	hostudp_flush(hr);
	xk_task_park(&hr->tx_task);
	xk_timer_cancel(r->wheel, &hr->sweep);
}

/* ---- schema --------------------------------------------------------------------------------------------- */

static uint32_t hostudp_gives(const void *conf, uint32_t below)
{
	(void)conf;
	(void)below;
	return XK_GIVES_BOUNDARIES | XK_GIVES_SUM | XK_GIVES_SHARED;
}

static const struct xk_ops hostudp_ops = {
	.fini = hostudp_fini, .rep_init = hostudp_rep_init, .rep_fini = hostudp_rep_fini,
	.rep_start = hostudp_rep_start, .rep_stop = hostudp_rep_stop,
	.open = hostudp_open, .open_enable = hostudp_open_enable, .open_disable = xk_host_disable,
	.open_disable_all = xk_enable_unbind_all,
	.push = hostudp_push, .close = hostudp_close,
	.control = hostudp_control, .sess_control = hostudp_sess_control,
};

#define P(field, t, d, text, ...) \
	{ .name = #field, .type = t, .def = d, .doc = text, .offset = offsetof(struct hostudp_conf, field), ##__VA_ARGS__ }

static const struct xk_param hostudp_params[] = {
	P(netns, XK_P_TEXT, NULL, "network namespace of the sockets, a name of \"ip netns\"", .flags = XK_PF_HOST),
	P(buffer, XK_P_SIZE, "1MiB", "of the kernel, for each socket and direction; it may give less", .min = "4KiB", .max = "1GiB"),
	P(offload, XK_P_BOOL, "true", "let the kernel cut and join datagrams of one length (UDP_SEGMENT, UDP_GRO)"),
	P(sessions, XK_P_UINT, "65536", "most sessions of a virtual processor", .min = "1", .max = "16777216"),
	P(idle_timeout, XK_P_TIME, "30s", "how long a session that a peer began is kept although nobody above keeps it",
	  .min = "1ms", .max = "1h"),
	XK_PARAM_END
};

static const char *const hostudp_drops[] = {
#define X(id, text) text,
	HOSTUDP_DROPS(X)
#undef X
	NULL
};
static const char *const hostudp_counts[] = {
	"read", "written", "read_calls", "write_calls", "trains_read", "trains_written", "peer_refused", "kernel_errors", NULL
};

const struct xk_proto xk_proto_hostudp = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "hostudp",
	.doc = "datagrams by UDP sockets of the host's kernel",
	.is_driver = true, .is_host = true, .ops = &hostudp_ops, .offers = "port", .params = hostudp_params,
	.conf_size = sizeof(struct hostudp_conf), .node_size = sizeof(struct hostudp_node),
	.rep_size = sizeof(struct hostudp_rep), .sess_size = sizeof(struct hostudp_sess),
	.drops = hostudp_drops, .counts = hostudp_counts, .gives = hostudp_gives,
};

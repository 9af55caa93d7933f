/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shm.c - messages between processes by memory that they share: opening, waiting, control, life.
 *
 * Offers "port" as udp does, so whatever sits on that sits on this.  A host is a node of a job: `at` names
 * it, no address of a network.  A session uses the link of its VP to the peer (shm_link.c); a peer's session
 * lives where its link ends, and is told of when its first message comes.
 * Invariant: a session has a link and is in its list, or is over: what is pushed is dropped then.
 */
#include "drivers/shm/shm_priv.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "drivers/common/hostsock.h"
#include "runtime/base/xk_errs.h"
#include "runtime/upi/xk_enable.h"
#include "runtime/upi/xk_gives.h"
#include "runtime/upi/xk_part.h"
#include "runtime/upi/xk_review.h"
#include "runtime/upi/xk_stream.h"

#define PORT_TRIES 64u
#define DATAGRAM_MAX 65507u              /* of UDP: who sits on a port may reckon with no more, as ncs does */

/* ---- sessions ------------------------------------------------------------------------- */

/* Not by its link: the two may each have begun one, and answer by their own. */
static struct xk_key key_of(const struct shm_link *l, uint16_t peer_port, uint16_t port)
{
	return (struct xk_key){ { l->host, (uint64_t)peer_port << 16 | port } };
}

static void sess_end(struct shm_sess *us)
{
	xk_sess_unbind(&us->s);
	xk_list_take(&us->kept);
	xk_list_take(&us->failed);
	xk_list_take(&us->stopped);
	xk_list_take(&us->of_link);
	shm_rep(us->s.rep)->nsessions--;
	xk_sess_destroy(&us->s);
}

static struct shm_sess *sess_make(struct xk_rep *r, struct xk_up *up, struct xk_node *type, struct shm_link *l,
				  uint16_t peer_port, uint16_t port, int *err)
{
	struct xk_sess *s = xk_sess_create(r, up, type, NULL);
	struct xk_key k = key_of(l, peer_port, port);
	struct shm_sess *us;

	*err = s != NULL ? xk_sess_bind(s, &k) : XK_E_NOMEM;
	if (*err != XK_OK) {
		if (s != NULL)
			xk_sess_destroy(s);
		return NULL;
	}
	us = shm_sess(s);
	us->link = l;
	us->host = l->host;
	us->peer_port = peer_port;
	us->port = port;
	us->of_link = us->kept = us->failed = us->stopped = (struct xk_listed){ NULL, NULL };
	xk_list_put(&l->sessions, &us->of_link);
	shm_rep(r)->nsessions++;
	return us;
}

static void shm_close(struct xk_sess *s)
{
	struct shm_sess *us = shm_sess(s);

	if (us->link != NULL)
		shm_say_end(us->link, us->port, us->peer_port);
	sess_end(us);
}

/* The driver's own reference; the session ends with it unless somebody above keeps it. */
static void let_go(struct shm_sess *us)
{
	if (!xk_is_listed(&us->kept))
		return;
	xk_list_take(&us->kept);
	xk_close(&us->s);
}

void shm_sess_over(struct shm_sess *us)
{
	bool kept = xk_is_listed(&us->kept);

	xk_list_take(&us->of_link);
	xk_list_take(&us->failed);
	xk_list_take(&us->stopped);
	xk_sess_unbind(&us->s);          /* the host may come again */
	us->link = NULL;
	xk_dup(&us->s);
	let_go(us);
	if (us->s.rcnt > 1 || !kept)
		xk_close_done(&us->s);
	xk_close(&us->s);
}

/* ---- active open ------------------------------------------------------------------------ */

/* A port of ours that no session to that peer has; it says which VP it is of. */
static struct shm_sess *sess_anywhere(struct xk_rep *r, struct xk_up *up, struct xk_node *type, struct shm_link *l,
				      uint16_t peer_port, int *err)
{
	struct shm_rep *hr = shm_rep(r);
	uint32_t nvps = r->node->graph->vps->nvps, mine = (65536u - SHM_EPHEMERAL - r->no % nvps + nvps - 1) / nvps;
	struct shm_sess *us = NULL;

	*err = XK_E_ADDRNOTAVAIL;
	for (unsigned tries = 0; us == NULL && tries < PORT_TRIES && tries < mine; tries++) {
		uint32_t port = SHM_EPHEMERAL + r->no % nvps + hr->next_port * nvps;

		hr->next_port = hr->next_port + 1 < mine ? hr->next_port + 1 : 0;
		us = sess_make(r, up, type, l, peer_port, (uint16_t)port, err);
		if (us == NULL && *err == XK_E_NOMEM)
			break;
	}
	return us;
}

/* May a session of this VP have that port? */
static bool is_of(const struct xk_rep *r, uint16_t port)
{
	uint32_t nvps = r->node->graph->vps->nvps;

	return port < SHM_EPHEMERAL || (port - SHM_EPHEMERAL) % nvps == r->no % nvps;
}

static struct xk_sess *shm_open(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type, struct xk_parts *ps,
				int *err)
{
	struct shm_rep *hr = shm_rep(r);
	struct xk_hostend remote, local;
	struct shm_sess *us = NULL;
	struct shm_link *l = NULL;

	*err = xk_host_parts(ps, &remote, &local);
	if (*err == XK_OK && ((local.host != 0 && local.host != hr->at.host) || !is_of(r, local.port)))
		*err = XK_E_ADDRNOTAVAIL;
	if (*err == XK_OK && hr->nsessions >= shm_conf(r)->sessions)
		*err = XK_E_NOSPC;
	if (*err == XK_OK)
		l = shm_link_to(hr, remote.host, remote.port, err);
	xk_task_ready(&hr->rx_task);
	if (l == NULL)
		return NULL;
	if (local.port != 0)
		us = sess_make(r, &rcv->up, type, l, remote.port, local.port, err);
	else
		us = sess_anywhere(r, &rcv->up, type, l, remote.port, err);
	return us != NULL ? &us->s : NULL;
}

/* ---- peers ------------------------------------------------------------------------------- */

/* Room for one more: at the cap the oldest that nobody else holds goes. */
static bool make_room(struct shm_rep *hr)
{
	struct xk_listed *i = xk_list_first(&hr->kept);

	if (hr->nsessions < shm_conf(hr->rep)->sessions)
		return true;
	for (unsigned looks = 0; i != NULL && looks < 8; looks++, i = xk_list_next(&hr->kept, i)) {
		struct shm_sess *us = xk_container_of(i, struct shm_sess, kept);

		if (us->s.rcnt == 1) {
			let_go(us);
			return true;
		}
	}
	return false;
}

/* The session of a port that is heard of for the first time, told to who waits. */
static struct shm_sess *first(struct shm_link *l, const struct shm_got *g, unsigned *reason)
{
	struct xk_rep *r = l->hr->rep;
	struct xk_key k = { { g->to, 0 } };
	struct xk_enable *e = xk_enable_find(r->node, &k);
	struct shm_sess *us;
	int err;

	*reason = SHM_DROP_NOBODY;
	if (e == NULL || g->from == 0)
		return NULL;
	*reason = SHM_DROP_SESSIONS;
	if (!make_room(l->hr))
		return NULL;
	*reason = XK_DROP_NOMEM;
	us = sess_make(r, &xk_rep_here(xk_enable_rcv(e), r)->up, xk_enable_type(e), l, g->from, g->to, &err);
	if (us == NULL)
		return NULL;
	xk_dup(&us->s);
	if (xk_open_done(xk_enable_rcv(e), &us->s, xk_enable_type(e)) < 0) {
		*reason = SHM_DROP_REFUSED;
		xk_close(&us->s);
		return NULL;
	}
	xk_list_put(&l->hr->kept, &us->kept);
	return us;
}

static void pass_up(struct shm_sess *us, const struct shm_got *g)
{
	struct xk_msg *m = xk_msg_new(g->len);

	if (m == NULL) {
		xk_dropped(us->s.rep, XK_DROP_NOMEM, 1);
		return;
	}
	if (g->len != 0)
		xk_msg_copy_in(m, 0, g->bytes, g->len);
	xk_count(us->s.rep->count[SHM_N_READ]);
	xk_dup(&us->s);
	xk_demux(&us->s, m);
	xk_close(&us->s);
}

void shm_deliver(struct shm_link *l, const struct shm_got *g)
{
	struct xk_rep *r = l->hr->rep;
	struct xk_key k = key_of(l, g->from, g->to);
	struct xk_mapnode *n = xk_map_resolve(&r->active, &k);
	struct shm_sess *us = n != NULL ? xk_container_of(n, struct shm_sess, s.map) : NULL;
	unsigned reason;

	if (XK_UNLIKELY(g->kind == SHM_END)) {
		if (us != NULL)
			let_go(us);
		return;
	}
	if (XK_UNLIKELY(us == NULL))
		us = first(l, g, &reason);
	if (us != NULL)
		pass_up(us, g);
	else
		xk_dropped(r, reason, 1);
}

/* ---- waiting on a port ------------------------------------------------------------------------ */

static int enable_key(struct xk_parts *ps, struct xk_key *k)
{
	struct xk_hostend at;

	if (ps == NULL || ps->n == 0 || xk_host_part(&ps->p[0], &at) != XK_OK || at.port == 0)
		return XK_E_INVAL;
	if (at.port >= SHM_EPHEMERAL)    /* it says which VP a session of it lives on */
		return XK_E_ADDRNOTAVAIL;
	*k = (struct xk_key){ { at.port, 0 } };
	return XK_OK;
}

static int shm_open_enable(struct xk_node *n, struct xk_node *rcv, struct xk_node *type, struct xk_parts *ps)
{
	struct xk_key k;
	int err = enable_key(ps, &k);

	return err == XK_OK ? xk_enable_bind(n, &k, rcv, type) : err;
}

static int shm_open_disable(struct xk_node *n, struct xk_node *rcv, struct xk_node *type, struct xk_parts *ps)
{
	struct xk_key k;
	int err = enable_key(ps, &k);

	return err == XK_OK ? xk_enable_unbind(n, &k, rcv, type) : err;
}

/* ---- control --------------------------------------------------------------------------------------- */

static int is_local(const struct xk_rep *r, const void *buf, unsigned len)
{
	uint32_t host;
	int err = xk_take(&host, sizeof host, buf, len);

	return err == XK_OK ? host == shm_conf(r)->at : err;
}

static int shm_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	switch (op) {
	case XK_CTL_GETMAXPACKET:
		return xk_answer32(buf, len, (uint32_t)shm_conf(r)->slot);
	case XK_CTL_GETOPTPACKET:
		return xk_answer32(buf, len, shm_conf(r)->slot < DATAGRAM_MAX ? (uint32_t)shm_conf(r)->slot : DATAGRAM_MAX);
	case XK_CTL_GETMYHOST:
		return xk_answer32(buf, len, shm_conf(r)->at);
	case XK_CTL_ISLOCAL:
		return is_local(r, buf, len);
	default:
		return XK_E_NOTSUP;
	}
}

static int shm_sess_control(struct xk_sess *s, unsigned op, void *buf, unsigned len)
{
	const struct shm_sess *us = shm_sess(s);
	int res;

	if (op == XK_STREAM_ROOM)
		return xk_answer32(buf, len, shm_room(shm_sess(s)));
	res = xk_host_control((struct xk_hostend){ shm_conf(s->rep)->at, us->port },
			      (struct xk_hostend){ us->host, us->peer_port }, op, buf, len);
	return res != XK_E_NOTSUP ? res : shm_control(s->rep, op, buf, len);
}

/* ---- life -------------------------------------------------------------------------------------------- */

static void shm_rep_fini(struct xk_rep *r)
{
	struct shm_rep *hr = shm_rep(r);

	if (hr->rep == NULL)
		return;
	shm_links_free(hr, true);
	shm_unlisten(&hr->at, &hr->listening);
	if (hr->epoll >= 0)
		close(hr->epoll);
	hr->epoll = -1;
}

static int shm_rep_init(struct xk_rep *r)
{
	struct shm_rep *hr = shm_rep(r);
	const struct shm_conf *c = shm_conf(r);

	hr->rep = r;
	hr->at = (struct shm_place){ c->job, c->dir, c->at, r->no };
	hr->listening = -1;
	hr->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (hr->epoll < 0)
		return -errno;
	xk_task_init(&hr->rx_task, r->vp, shm_rx_run);
	hr->rx_task.fd = hr->epoll;
	xk_task_on_sleep(&hr->rx_task, shm_sleeps);
	xk_task_init(&hr->tx_task, r->vp, shm_tx_run);
	xk_timer_init(&hr->seek, shm_seek);
	return XK_OK;
}

/* A VP that may hear of peers looks for them from the start. */
static int shm_rep_start(struct xk_rep *r, struct xk_errs *e)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.ptr = NULL };
	struct shm_rep *hr = shm_rep(r);
	unsigned most = xk_host_listeners(r->node);
	char name[SHM_PATH_MAX + 1];
	int err;

	if (r->no >= (most < SHM_LISTENERS ? most : SHM_LISTENERS))
		return XK_OK;
	err = shm_listen(&hr->at, &hr->listening);
	if (err == XK_OK && epoll_ctl(hr->epoll, EPOLL_CTL_ADD, hr->listening, &ev) < 0)
		err = -errno;
	if (err != XK_OK) {
		(void)shm_place_name(&hr->at, name, sizeof name);
		xk_node_error(r->node, e, "cannot wait for peers at %s: %s", name, xk_strerror(err));
		return err;
	}
	xk_task_ready(&hr->rx_task);
	return XK_OK;
}

static void shm_rep_stop(struct xk_rep *r)
{
	struct shm_rep *hr = shm_rep(r);
	struct xk_listed *i;

	while ((i = xk_list_first(&hr->kept)) != NULL)
		let_go(xk_container_of(i, struct shm_sess, kept));
	for (i = xk_list_first(&hr->links); i != NULL; i = xk_list_next(&hr->links, i)) {
		struct shm_link *l = xk_container_of(i, struct shm_link, all);

		if (l->state == SHM_UP)
			shm_flush(l);
		shm_link_end(l);         /* its peer wakes by that, and reads what is left */
	}
	xk_task_park(&hr->rx_task);
	xk_task_park(&hr->tx_task);
	xk_timer_cancel(r->wheel, &hr->seek);
	shm_unlisten(&hr->at, &hr->listening);
}

/* ---- schema --------------------------------------------------------------------------------------------- */

static uint32_t shm_gives(const void *conf, uint32_t below)
{
	(void)conf;
	(void)below;
	return XK_GIVES_BOUNDARIES | XK_GIVES_ORDER | XK_GIVES_RELIABLE;
}

static int shm_check(const void *conf, char *why, size_t n)
{
	const struct shm_conf *c = conf;
	struct shm_shape s = shm_shape_of(c);
	const char *fault = shm_shape_fault(&s);
	char name[SHM_PATH_MAX + 1];
	struct shm_place at = { c->job, c->dir, c->at, UINT16_MAX };

	if (fault != NULL)
		snprintf(why, n, "%s", fault);
	else if (c->at == 0)
		snprintf(why, n, "at must be an address, 0.0.0.0 is none");
	else if (c->job[0] == '\0' || strchr(c->job, '/') != NULL || strlen(c->job) > SHM_JOB_MAX)
		snprintf(why, n, "job must have 1 to %u characters, no '/' among them", SHM_JOB_MAX);
	else if (shm_place_name(&at, name, sizeof name) != XK_OK)
		snprintf(why, n, "dir and job are too long for the name of a socket (%u bytes)", SHM_PATH_MAX);
	else
		return XK_OK;
	return XK_E_INVAL;
}

static const struct xk_ops shm_ops = {
	.rep_init = shm_rep_init, .rep_fini = shm_rep_fini, .rep_start = shm_rep_start, .rep_stop = shm_rep_stop,
	.open = shm_open, .open_enable = shm_open_enable, .open_disable = shm_open_disable,
	.open_disable_all = xk_enable_unbind_all,
	.push = shm_push, .close = shm_close,
	.control = shm_control, .sess_control = shm_sess_control,
};

#define P(field, t, d, text, ...) \
	{ .name = #field, .type = t, .def = d, .doc = text, .offset = offsetof(struct shm_conf, field), ##__VA_ARGS__ }

static const struct xk_param shm_params[] = {
	P(at, XK_P_IPV4, NULL, "this process's address in the job, of no network", .flags = XK_PF_REQUIRED),
	P(job, XK_P_TEXT, "xkvp", "processes of one job find each other", .flags = XK_PF_HOST),
	P(dir, XK_P_TEXT, NULL, "folder of the sockets by which they do; none: the abstract namespace",
	  .flags = XK_PF_HOST),
	P(lines, XK_P_UINT, "256", "messages under way, each way of a link; a power of two", .min = "64", .max = "65536"),
	P(slots, XK_P_UINT, "8", "of these, longer than 52 bytes", .min = "4", .max = "1024"),
	P(slot, XK_P_SIZE, "64KiB", "longest message", .min = "4KiB", .max = "64KiB"),
	P(queue, XK_P_SIZE, "64MiB", "bytes that wait for room in a link; a session that pushes more fails", .min = "4KiB",
	  .max = "4GiB"),
	P(sessions, XK_P_UINT, "65536", "most sessions of a virtual processor", .min = "1", .max = "16777216"),
	P(links, XK_P_UINT, "256", "most links of a virtual processor, each with two areas", .min = "1", .max = "65536"),
	P(wait, XK_P_TIME, "10s", "how long a peer that is not there is looked for", .min = "1ms", .max = "1h"),
	XK_PARAM_END
};

static const char *const shm_drops[] = {
#define X(id, text) text,
	SHM_DROPS(X)
#undef X
	NULL
};
static const char *const shm_counts[] = {
#define X(id, text) text,
	SHM_COUNTS(X)
#undef X
	NULL
};

const struct xk_proto xk_proto_shm = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "shm",
	.doc = "messages between processes of this machine by shared memory",
	.is_driver = true, .is_host = true, .ops = &shm_ops, .offers = "port", .params = shm_params,
	.conf_size = sizeof(struct shm_conf), .rep_size = sizeof(struct shm_rep), .sess_size = sizeof(struct shm_sess),
	.drops = shm_drops, .counts = shm_counts, .check = shm_check, .gives = shm_gives,
};

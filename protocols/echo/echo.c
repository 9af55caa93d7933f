/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * echo.c - sends every message back where it came from (RFC 862).
 *
 * The smallest complete application, and the one to copy for a new one (for a layer, copy
 * protocols/hop).  It sits on
 * any datagram transport, waits on a port and answers on the session that the transport
 * made for the peer.  A session of echo's own, bound under the lower session's
 * address, holds a reference to it until the peer closes or the graph stops.
 * Invariant: echo has one session for each lower session that it keeps.
 */
#include "runtime/upi/xk_app.h"
#include "runtime/upi/xk_move.h"
#include "runtime/upi/xk_proto.h"
#include "runtime/upi/xk_review.h"

/* Filled by the parser from the schema below; the same for all replicas. */
struct echo_conf {
	uint16_t port;
	uint64_t sessions;
};

enum { N_MESSAGES, N_BYTES };            /* ORDER echo_counts */

static const struct echo_conf *conf_of(const struct xk_node *n) { return xk_node_conf(n); }

/* ---- sessions: what echo remembers of a peer ------------------------------------ */

static struct xk_key key_of(const struct xk_sess *lls)
{
	return (struct xk_key){ { (uintptr_t)lls, 0 } };
}

static void echo_keep(struct xk_rep *r, struct xk_sess *lls)
{
	struct xk_key k = key_of(lls);
	struct xk_sess *s = xk_sess_create(r, NULL, r->node, lls);

	if (s == NULL)
		return;
	if (xk_sess_bind(s, &k) == XK_OK)
		xk_dup(lls);
	else
		xk_sess_destroy(s);
}

static void echo_forget(struct xk_sess *s)
{
	struct xk_sess *lls = s->down;

	xk_sess_destroy(s);              /* unbinds */
	xk_close(lls);                   /* the reference that echo_keep took */
}

/* A new peer, before its first message.  One that is not remembered, at the cap
 * or without memory, is served all the same. */
static int echo_open_done(struct xk_rep *r, struct xk_sess *lls, struct xk_node *type)
{
	uint16_t port;

	(void)type;
	/* A packet forged to come from our own port would be answered for ever
	 * (CERT CA-1996-01): refused, the transport drops and counts it. */
	if (xk_sess_control(lls, XK_CTL_GETPEERPORT, &port, sizeof port) == sizeof port &&
	    port == conf_of(r->node)->port)
		return XK_E_PERM;
	if (xk_map_count(&r->active) < conf_of(r->node)->sessions)
		echo_keep(r, lls);
	return XK_OK;
}

static void echo_close_done(struct xk_rep *r, struct xk_sess *lls)
{
	struct xk_key k = key_of(lls);
	struct xk_mapnode *n = xk_map_resolve(&r->active, &k);

	if (n != NULL)
		echo_forget(xk_container_of(n, struct xk_sess, map));
}

/* ---- messages: what comes up goes down -------------------------------------------- */

static void echo_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	struct xk_rep *r = up->rep;

	xk_count(r->npop);
	xk_count(r->count[N_MESSAGES]);
	xk_count_add(r->count[N_BYTES], m->tot);
	xk_msg_reset_rx(m);
	xk_push(lls, m);                 /* takes m, like every push */
}

/* ---- control, start, stop ------------------------------------------------------------ */

static int echo_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	struct xk_app_counts c = { 1, &r->count[N_MESSAGES], &r->count[N_BYTES], NULL, NULL, &r->nsess_made };

	if (op == XK_CTL_MOVE)           /* a layer is put between, or taken out */
		return xk_app_move(r, buf, key_of);
	return xk_app_answer(op, &c, buf, len);
}

static int echo_start(struct xk_node *n, struct xk_errs *e)
{
	return xk_app_listen(n, conf_of(n)->port, e);
}

static void echo_stop(struct xk_node *n)
{
	xk_open_disable_all(n, xk_node_down(n, 0));
}

static int forget_visit(struct xk_mapnode *node, void *arg)
{
	(void)arg;
	echo_forget(xk_container_of(node, struct xk_sess, map));
	return XK_MAP_KEEP;              /* it is unbound already */
}

static void echo_rep_stop(struct xk_rep *r)
{
	xk_map_foreach(&r->active, forget_visit, NULL);
}

/* ---- the descriptor: all that others see of this file ---------------------------------- */

static void echo_review(const struct xk_view *v, struct xk_review *r)
{
	const struct echo_conf *c = v->conf;

	xk_review_ports(r, v, "port", c->port, 1);
}

static const struct xk_ops echo_ops = {
	.start = echo_start, .stop = echo_stop, .rep_stop = echo_rep_stop,
	.open_done = echo_open_done, .close_done = echo_close_done,
	.demux = echo_demux, .control = echo_control,
};

static const struct xk_param echo_params[] = {
	{ .name = "port", .type = XK_P_PORT, .def = "7", .min = "1",
	  .doc = "port to wait on", .offset = offsetof(struct echo_conf, port) },
	{ .name = "sessions", .type = XK_P_UINT, .def = "65536", .max = "16777216",
	  .doc = "peers that each virtual processor remembers; others are served, but not remembered",
	  .offset = offsetof(struct echo_conf, sessions) },
	XK_PARAM_END
};

static const char *const echo_counts[] = { "messages", "bytes", NULL };

const struct xk_proto xk_proto_echo = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "echo",
	.doc = "sends every message back on the session it came by", .ops = &echo_ops,
	.needs = { "port" }, .min_down = 1, .max_down = 1,
	.params = echo_params, .conf_size = sizeof(struct echo_conf),
	.sess_size = sizeof(struct xk_sess), .counts = echo_counts,
	.review = echo_review,
	.anywhere = XK_ANYWHERE,
};

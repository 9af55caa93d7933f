/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcpecho.c - sends the bytes of every connection back (RFC 862, TCP half).
 *
 * A message goes back as it came while the stream has room.  Otherwise it waits,
 * and the peer is not told that it was consumed: a peer that does not read
 * fills its own window and stops, and we never hold more than that.  When the
 * peer ends its side the rest is sent, then the connection ends.
 * Invariant: messages wait only while the stream has no room.
 */
#include "protocols/stream/stream_app.h"
#include "runtime/upi/xk_app.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_review.h"

enum { N_MESSAGES, N_BYTES, N_ACCEPTED, N_REFUSED, N_RESET, N_FAILED };  /* ORDER tcpecho_counts */
enum { DROP_STRAY = XK_DROP_FIRST };

struct tcpecho_conf {
	uint64_t sessions;
	uint16_t port;
};
struct tcpecho_sess {
	struct xk_sess  s;
	struct stream_q q;               /* received, not sent back */
	bool            ended;           /* the peer sends no more */
};

static const struct tcpecho_conf *conf_of(const struct xk_node *n) { return n->conf; }
static struct tcpecho_sess *echo_of(struct xk_sess *s) { return (struct tcpecho_sess *)(void *)s; }

static void tcpecho_forget(struct xk_sess *s)
{
	stream_q_free(&echo_of(s)->q);
	stream_forget(s);
}

static int tcpecho_open_done(struct xk_rep *r, struct xk_sess *lls, struct xk_node *type)
{
	(void)type;
	if (stream_accept(r, lls, conf_of(r->node)->sessions) == NULL) {
		xk_count(r->count[N_REFUSED]);
		return XK_E_NOSPC;
	}
	xk_count(r->count[N_ACCEPTED]);
	stream_tell(lls, XK_STREAM_MANUAL, 1);
	return XK_OK;
}

/* ---- bytes: what comes up goes down ---------------------------------------------- */

static void tcpecho_send(struct xk_rep *r, struct xk_sess *lls, struct xk_msg *m)
{
	uint32_t n = m->tot;

	xk_count(r->count[N_MESSAGES]);
	xk_count_add(r->count[N_BYTES], n);
	xk_push(lls, m);                 /* may end the connection */
	stream_tell(lls, XK_STREAM_TAKEN, n);
}

static void tcpecho_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	struct xk_rep *r = up->rep;
	struct xk_sess *s = stream_own(up);

	xk_count(r->npop);
	if (XK_UNLIKELY(s == NULL)) {
		xk_drop(r, DROP_STRAY, m);
		return;
	}
	if (echo_of(s)->q.first != NULL || stream_room(lls) == 0) {
		stream_q_put(&echo_of(s)->q, m);
		return;
	}
	m->flags &= XK_MSG_SLOW;         /* forget what was true as received */
	tcpecho_send(r, lls, m);
}

/* There is room again. */
static void tcpecho_resume(struct xk_sess *s, struct xk_sess *lls)
{
	struct tcpecho_sess *es = echo_of(s);

	while (stream_above(lls) == s && es->q.first != NULL && stream_room(lls) != 0)
		tcpecho_send(s->rep, lls, stream_q_get(&es->q));
	if (stream_above(lls) == s && es->ended && es->q.first == NULL)
		tcpecho_forget(s);
}

static void tcpecho_close_done(struct xk_rep *r, struct xk_sess *lls)
{
	struct xk_sess *s = stream_above(lls);

	(void)r;
	if (s == NULL)
		return;
	echo_of(s)->ended = true;
	if (echo_of(s)->q.first == NULL)
		tcpecho_forget(s);
}

static void tcpecho_event(struct xk_rep *r, const struct xk_stream_event *ev)
{
	struct xk_sess *s = stream_above(ev->s);

	if (s == NULL)
		return;
	if (ev->what == XK_STREAM_WRITABLE) {
		tcpecho_resume(s, ev->s);
	} else if (ev->what == XK_STREAM_FAILED) {
		xk_count(r->count[ev->err == XK_E_CONNRESET ? N_RESET : N_FAILED]);
		tcpecho_forget(s);
	}
}

/* ---- control, start, stop ------------------------------------------------------------ */

static int tcpecho_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	const struct xk_app_counts c = { 1, &r->count[N_MESSAGES], &r->count[N_BYTES], NULL, NULL, &r->count[N_ACCEPTED] };

	return stream_app_control(r, op, buf, len, &c, tcpecho_event);
}

static int tcpecho_start(struct xk_node *n, struct xk_errs *e)
{
	return xk_app_listen(n, conf_of(n)->port, e);
}

static void tcpecho_stop(struct xk_node *n) { xk_open_disable_all(n, n->down[0]); }
static void tcpecho_rep_stop(struct xk_rep *r) { stream_forget_all(r, tcpecho_forget); }

static void tcpecho_review(const struct xk_view *v, struct xk_review *r)
{
	const struct tcpecho_conf *c = v->conf;

	xk_review_ports(r, v, "port", c->port, 1);
}

static const struct xk_ops tcpecho_ops = {
	.start = tcpecho_start, .stop = tcpecho_stop, .rep_stop = tcpecho_rep_stop,
	.open_done = tcpecho_open_done, .close_done = tcpecho_close_done,
	.demux = tcpecho_demux, .control = tcpecho_control,
};

static const struct xk_param tcpecho_params[] = {
	{ .name = "port", .type = XK_P_PORT, .def = "7", .min = "1",
	  .doc = "port to wait on", .offset = offsetof(struct tcpecho_conf, port) },
	{ .name = "sessions", .type = XK_P_UINT, .def = "65536", .min = "1", .max = "16777216",
	  .doc = "connections of each virtual processor; more are refused",
	  .offset = offsetof(struct tcpecho_conf, sessions) },
	XK_PARAM_END
};

static const char *const tcpecho_drops[] = { "stray", NULL };
static const char *const tcpecho_counts[] = {
	"messages", "bytes", "accepted", "refused", "reset", "failed", NULL
};

const struct xk_proto xk_proto_tcpecho = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "tcpecho",
	.doc = "sends the bytes of every connection back, as fast as the peer reads them", .ops = &tcpecho_ops,
	.needs = { "stream" }, .min_down = 1, .max_down = 1,
	.params = tcpecho_params, .conf_size = sizeof(struct tcpecho_conf),
	.sess_size = sizeof(struct tcpecho_sess), .drops = tcpecho_drops, .counts = tcpecho_counts,
	.review = tcpecho_review,
};

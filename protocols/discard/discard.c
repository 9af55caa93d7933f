/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * discard.c - takes the bytes of every connection and forgets them (RFC 863, TCP
 * half).
 *
 * The smallest application over a stream: everything that is passed up counts as
 * consumed, nothing is sent, and the connection ends when the peer ends it.  It has
 * nothing to know of a connection, so it has no session for it: messages come up to
 * the replica, and a million idle connections cost it nothing.
 * Invariant: `kept` references to connections whose `up` is the replica's are ours.
 */
#include "protocols/stream/stream_app.h"
#include "runtime/msg/xk_msg_inline.h"
#include "runtime/upi/xk_app.h"
#include "runtime/upi/xk_batch.h"
#include "runtime/upi/xk_review.h"

enum { N_MESSAGES, N_BYTES, N_ACCEPTED, N_REFUSED, N_RESET, N_FAILED };  /* ORDER discard_counts */

struct discard_conf {
	uint64_t sessions;
	uint16_t port;
};

struct discard_rep { uint64_t kept; };   /* connections held */

static const struct discard_conf *conf_of(const struct xk_node *n) { return xk_node_conf(n); }

static int discard_open_done(struct xk_rep *r, struct xk_sess *lls, struct xk_node *type)
{
	struct discard_rep *dr = r->state;

	(void)type;
	if (dr->kept >= conf_of(r->node)->sessions) {
		xk_count(r->count[N_REFUSED]);
		return XK_E_NOSPC;
	}
	dr->kept++;
	xk_dup(lls);
	xk_count(r->count[N_ACCEPTED]);
	return XK_OK;
}

static void discard_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	struct xk_rep *r = up->rep;

	(void)lls;
	xk_count(r->npop);
	xk_count(r->count[N_MESSAGES]);
	xk_count_add(r->count[N_BYTES], m->tot);
	xk_msg_free(m);
}

static unsigned discard_demux_batch(struct xk_up *up, struct xk_sess *lls, const struct xk_batch *f)
{
	struct xk_rep *r = up->rep;
	uint64_t bytes = xk_msg_free_all(f->m, f->n) - (uint64_t)f->off * f->n;

	(void)lls;
	xk_count_add(r->npop, f->n);
	xk_count_add(r->count[N_MESSAGES], f->n);
	xk_count_add(r->count[N_BYTES], bytes);
	return f->n;
}

/* The reference goes back; what is queued (nothing) is sent, then it ends. */
static void discard_close_done(struct xk_rep *r, struct xk_sess *lls)
{
	((struct discard_rep *)r->state)->kept--;
	xk_close(lls);
}

static void discard_event(struct xk_rep *r, const struct xk_stream_event *ev)
{
	if (ev->what != XK_STREAM_FAILED)
		return;
	xk_count(r->count[ev->err == XK_E_CONNRESET ? N_RESET : N_FAILED]);
	discard_close_done(r, ev->s);
}

static int discard_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	const struct xk_app_counts c = { 1, &r->count[N_MESSAGES], &r->count[N_BYTES], NULL, NULL, &r->count[N_ACCEPTED] };

	return stream_app_control(r, op, buf, len, &c, discard_event);
}

static int discard_start(struct xk_node *n, struct xk_errs *e)
{
	return xk_app_listen(n, conf_of(n)->port, e);
}

static void discard_stop(struct xk_node *n) { xk_open_disable_all(n, xk_node_down(n, 0)); }
static void discard_rep_stop(struct xk_rep *r) { stream_release_all(r); }

static void discard_review(const struct xk_view *v, struct xk_review *r)
{
	const struct discard_conf *c = v->conf;

	xk_review_ports(r, v, "port", c->port, 1);
}

static const struct xk_ops discard_ops = {
	.start = discard_start, .stop = discard_stop, .rep_stop = discard_rep_stop,
	.open_done = discard_open_done, .close_done = discard_close_done,
	.demux = discard_demux, .demux_batch = discard_demux_batch, .batch_many = true, .control = discard_control,
};

static const struct xk_param discard_params[] = {
	{ .name = "port", .type = XK_P_PORT, .def = "9", .min = "1",
	  .doc = "port to wait on", .offset = offsetof(struct discard_conf, port) },
	{ .name = "sessions", .type = XK_P_UINT, .def = "65536", .min = "1", .max = "16777216",
	  .doc = "connections of each virtual processor; more are refused",
	  .offset = offsetof(struct discard_conf, sessions) },
	XK_PARAM_END
};

static const char *const discard_counts[] = {
	"messages", "bytes", "accepted", "refused", "reset", "failed", NULL
};

const struct xk_proto xk_proto_discard = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "discard",
	.doc = "takes the bytes of every connection and forgets them", .ops = &discard_ops,
	.needs = { "stream" }, .min_down = 1, .max_down = 1,
	.params = discard_params, .conf_size = sizeof(struct discard_conf),
	.rep_size = sizeof(struct discard_rep), .counts = discard_counts,
	.review = discard_review,
};

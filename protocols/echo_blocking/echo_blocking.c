/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * echo_blocking.c - the echo service as it is written with a thread for each connection.
 *
 * echo_blocking_serve is all there is to it: it reads, writes, and returns at the end, and
 * knows nothing of events.  It runs on the connection's user-level thread.  tcpecho is
 * the same service written for events; what both cost can be compared.
 * Invariant: a session of ours is a body that has not returned.
 */
#include "protocols/stream/stream_thread.h"
#include "runtime/upi/xk_app.h"
#include "runtime/upi/xk_review.h"

enum { N_MESSAGES, N_BYTES, N_ACCEPTED, N_REFUSED, N_RESET, N_FAILED };  /* ORDER echo_blocking_counts */
enum { DROP_STRAY = XK_DROP_FIRST };

#define PIECE 1024u              /* bytes of the stack */

struct echo_blocking_conf {
	uint64_t sessions;
	uint16_t port;
};
struct echo_blocking_sess {
	struct xk_sess       s;
	struct stream_thread st;
};

static const struct echo_blocking_conf *conf_of(const struct xk_node *n) { return xk_node_conf(n); }
static struct stream_thread *thread_of(struct xk_sess *s)
{
	return &((struct echo_blocking_sess *)(void *)s)->st;
}

static void echo_blocking_serve(struct stream_thread *st)
{
	struct xk_rep *r = st->s->rep;
	uint8_t buf[PIECE];
	int64_t n;

	while ((n = stream_read(st, buf, sizeof buf)) > 0 && stream_write(st, buf, (uint32_t)n) == n) {
		xk_count(r->count[N_MESSAGES]);
		xk_count_add(r->count[N_BYTES], (uint64_t)n);
	}
}

static int echo_blocking_open_done(struct xk_rep *r, struct xk_sess *lls, struct xk_node *type)
{
	struct xk_sess *s = stream_accept(r, lls, conf_of(r->node)->sessions);

	(void)type;
	if (s != NULL && stream_thread_begin(thread_of(s), s, echo_blocking_serve) == XK_OK) {
		xk_count(r->count[N_ACCEPTED]);
		return XK_OK;
	}
	if (s != NULL)
		stream_forget(s);
	xk_count(r->count[N_REFUSED]);
	return XK_E_NOSPC;
}

/* ---- what is heard of a connection is the thread's business ------------------------- */

static void echo_blocking_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	struct xk_sess *s = stream_own(up);

	(void)lls;
	xk_count(up->rep->npop);
	if (XK_UNLIKELY(s == NULL))
		xk_drop(up->rep, DROP_STRAY, m);
	else
		stream_thread_put(thread_of(s), m);
}

static void echo_blocking_close_done(struct xk_rep *r, struct xk_sess *lls)
{
	struct xk_sess *s = stream_above(lls);

	(void)r;
	if (s != NULL)
		stream_thread_ended(thread_of(s));
}

static void echo_blocking_event(struct xk_rep *r, const struct xk_stream_event *ev)
{
	struct xk_sess *s = stream_above(ev->s);

	if (s == NULL)
		return;
	if (ev->what == XK_STREAM_WRITABLE) {
		stream_thread_writable(thread_of(s));
	} else if (ev->what == XK_STREAM_FAILED) {
		xk_count(r->count[ev->err == XK_E_CONNRESET ? N_RESET : N_FAILED]);
		stream_thread_failed(thread_of(s), ev->err);
	}
}

/* ---- control, start, stop ------------------------------------------------------------ */

static int echo_blocking_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	const struct xk_app_counts c = { 1, &r->count[N_MESSAGES], &r->count[N_BYTES], NULL, NULL, &r->count[N_ACCEPTED] };

	return stream_app_control(r, op, buf, len, &c, echo_blocking_event);
}

static int echo_blocking_start(struct xk_node *n, struct xk_errs *e)
{
	int err = xk_threads_check(n, e);

	return err == XK_OK ? xk_app_listen(n, conf_of(n)->port, e) : err;
}

static void echo_blocking_forget(struct xk_sess *s) { stream_thread_stop(thread_of(s)); }
static void echo_blocking_stop(struct xk_node *n) { xk_open_disable_all(n, xk_node_down(n, 0)); }
static void echo_blocking_rep_stop(struct xk_rep *r) { stream_forget_all(r, echo_blocking_forget); }

static void echo_blocking_review(const struct xk_view *v, struct xk_review *r)
{
	const struct echo_blocking_conf *c = v->conf;

	xk_review_ports(r, v, "port", c->port, 1);
}

static const struct xk_ops echo_blocking_ops = {
	.start = echo_blocking_start, .stop = echo_blocking_stop, .rep_stop = echo_blocking_rep_stop,
	.open_done = echo_blocking_open_done, .close_done = echo_blocking_close_done,
	.demux = echo_blocking_demux, .control = echo_blocking_control,
};

static const struct xk_param echo_blocking_params[] = {
	{ .name = "port", .type = XK_P_PORT, .def = "7", .min = "1",
	  .doc = "port to wait on", .offset = offsetof(struct echo_blocking_conf, port) },
	{ .name = "sessions", .type = XK_P_UINT, .def = "65536", .min = "1", .max = "16777216",
	  .doc = "connections of each virtual processor; more are refused",
	  .offset = offsetof(struct echo_blocking_conf, sessions) },
	XK_PARAM_END
};

static const char *const echo_blocking_drops[] = { "stray", NULL };
static const char *const echo_blocking_counts[] = {
	"messages", "bytes", "accepted", "refused", "reset", "failed", NULL
};

const struct xk_proto xk_proto_echo_blocking = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "echo_blocking",
	.doc = "sends the bytes of every connection back: a user-level thread each, in blocking style",
	.ops = &echo_blocking_ops, .needs = { "stream" }, .min_down = 1, .max_down = 1,
	.params = echo_blocking_params, .conf_size = sizeof(struct echo_blocking_conf),
	.sess_size = sizeof(struct echo_blocking_sess), .drops = echo_blocking_drops, .counts = echo_blocking_counts,
	.review = echo_blocking_review,
};

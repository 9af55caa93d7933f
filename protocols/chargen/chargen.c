/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * chargen.c - sends lines of characters for as long as the peer reads them (RFC
 * 864, TCP half).
 *
 * The 95 printable characters in a ring, 72 of them a line, each line beginning
 * one further.  A page holds all 95 lines and the first again, so that every
 * message is one copy from it.  Each connection is a task that sends while there
 * is room and sleeps otherwise; what the peer sends is forgotten.
 * Invariant: a task is ready exactly while its stream may have room.
 */
#include "protocols/stream/stream_app.h"
#include "runtime/upi/xk_app.h"
#include "runtime/upi/xk_review.h"
#include "runtime/upi/xk_thread.h"
#include "runtime/vp/xk_task.h"

#define LINE   74u               /* 72 characters, CR, LF */
#define ROUND  (95u * LINE)
#define PIECE  1460u             /* bytes of a message: one segment on most links */

enum { N_MESSAGES, N_BYTES, N_RECEIVED, N_ACCEPTED, N_REFUSED, N_RESET, N_FAILED };  /* ORDER chargen_counts */

struct chargen_conf {
	uint64_t sessions;
	uint16_t port;
};
struct chargen_node { uint8_t page[ROUND + PIECE]; };    /* written by init only */
struct chargen_sess {
	struct xk_sess s;
	struct xk_task task;
	uint32_t       at;               /* in the page, below ROUND */
};

static const struct chargen_conf *conf_of(const struct xk_node *n) { return xk_node_conf(n); }
static struct chargen_sess *gen_of(struct xk_sess *s) { return (struct chargen_sess *)(void *)s; }

static void chargen_forget(struct xk_sess *s)
{
	xk_task_park(&gen_of(s)->task);
	xk_task_of(&gen_of(s)->task, NULL);
	stream_forget(s);
}

/* ---- sending ------------------------------------------------------------------------ */

/* A piece; false when not all of it was taken, and the rest is for later. */
static bool chargen_send(struct chargen_sess *gs, struct xk_rep *r, struct xk_sess *lls)
{
	const struct chargen_node *n = xk_node_state(r->node);
	uint32_t took = stream_write_some(lls, n->page + gs->at, PIECE);

	xk_count_add(r->count[N_BYTES], took);
	if (stream_above(lls) != &gs->s)
		return false;            /* that has ended the connection, and this session */
	xk_count_add(r->count[N_MESSAGES], took != 0);
	gs->at = (gs->at + took) % ROUND;
	if (took == PIECE)
		return true;
	if (stream_room(lls) == 0)
		xk_task_park(&gs->task);
	else if (took == 0)
		xk_dropped(r, XK_DROP_NOMEM, 1);
	return false;
}

static unsigned chargen_run(struct xk_task *t, unsigned budget)
{
	struct chargen_sess *gs = xk_container_of(t, struct chargen_sess, task);
	struct xk_sess *lls = gs->s.down;
	struct xk_rep *r = gs->s.rep;
	unsigned i = 0;

	xk_dup(lls);                     /* looked at after it may have ended */
	while (i < budget && chargen_send(gs, r, lls))
		i++;
	xk_close(lls);
	return i;
}

/* ---- connections ---------------------------------------------------------------------- */

static int chargen_open_done(struct xk_rep *r, struct xk_sess *lls, struct xk_node *type)
{
	struct xk_sess *s = stream_accept(r, lls, conf_of(r->node)->sessions);

	(void)type;
	if (s == NULL) {
		xk_count(r->count[N_REFUSED]);
		return XK_E_NOSPC;
	}
	xk_count(r->count[N_ACCEPTED]);
	xk_task_init(&gen_of(s)->task, r->vp, chargen_run);
	xk_task_of(&gen_of(s)->task, lls);
	xk_task_ready(&gen_of(s)->task);
	return XK_OK;
}

static void chargen_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	(void)lls;
	xk_count(up->rep->npop);
	xk_count_add(up->rep->count[N_RECEIVED], m->tot);
	xk_msg_free(m);
}

static void chargen_close_done(struct xk_rep *r, struct xk_sess *lls)
{
	struct xk_sess *s = stream_above(lls);

	(void)r;
	if (s != NULL)
		chargen_forget(s);
}

static void chargen_event(struct xk_rep *r, const struct xk_stream_event *ev)
{
	struct xk_sess *s = stream_above(ev->s);

	if (s == NULL)
		return;
	if (ev->what == XK_STREAM_WRITABLE) {
		xk_task_ready(&gen_of(s)->task);
	} else if (ev->what == XK_STREAM_FAILED) {
		xk_count(r->count[ev->err == XK_E_CONNRESET ? N_RESET : N_FAILED]);
		chargen_forget(s);
	}
}

/* ---- control, start, stop ---------------------------------------------------------------- */

static int chargen_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	const struct xk_app_counts c = { 1, &r->count[N_MESSAGES], &r->count[N_BYTES], NULL, NULL, &r->count[N_ACCEPTED] };

	return stream_app_control(r, op, buf, len, &c, chargen_event);
}

static int chargen_init(struct xk_node *n, struct xk_errs *e)
{
	struct chargen_node *cn = xk_node_state(n);

	(void)e;
	for (uint32_t i = 0; i < sizeof cn->page; i++) {
		uint32_t line = i / LINE, col = i % LINE;

		cn->page[i] = (uint8_t)(col < 72 ? ' ' + (line + col) % 95 : col == 72 ? '\r' : '\n');
	}
	return XK_OK;
}

static int chargen_start(struct xk_node *n, struct xk_errs *e)
{
	return xk_app_listen(n, conf_of(n)->port, e);
}

static void chargen_stop(struct xk_node *n) { xk_open_disable_all(n, xk_node_down(n, 0)); }
static void chargen_rep_stop(struct xk_rep *r) { stream_forget_all(r, chargen_forget); }

static void chargen_review(const struct xk_view *v, struct xk_review *r)
{
	const struct chargen_conf *c = v->conf;

	xk_review_ports(r, v, "port", c->port, 1);
}

static const struct xk_ops chargen_ops = {
	.init = chargen_init, .start = chargen_start, .stop = chargen_stop, .rep_stop = chargen_rep_stop,
	.open_done = chargen_open_done, .close_done = chargen_close_done,
	.demux = chargen_demux, .control = chargen_control,
};

static const struct xk_param chargen_params[] = {
	{ .name = "port", .type = XK_P_PORT, .def = "19", .min = "1",
	  .doc = "port to wait on", .offset = offsetof(struct chargen_conf, port) },
	{ .name = "sessions", .type = XK_P_UINT, .def = "1024", .min = "1", .max = "16777216",
	  .doc = "connections of each virtual processor; more are refused",
	  .offset = offsetof(struct chargen_conf, sessions) },
	XK_PARAM_END
};

static const char *const chargen_counts[] = {
	"messages", "bytes", "received_bytes", "accepted", "refused", "reset", "failed", NULL
};

const struct xk_proto xk_proto_chargen = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "chargen",
	.doc = "sends lines of characters for as long as the peer reads them", .ops = &chargen_ops,
	.needs = { "stream" }, .min_down = 1, .max_down = 1,
	.params = chargen_params, .conf_size = sizeof(struct chargen_conf),
	.node_size = sizeof(struct chargen_node), .sess_size = sizeof(struct chargen_sess),
	.counts = chargen_counts,
	.review = chargen_review,
};

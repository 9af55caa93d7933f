/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * storm_app.c - who asks and who answers: see storm.h.
 *
 * A client pushes its question, reads the answer to its end and gives the session back; the
 * server answers when the whole question is there, ends its side and lets go.  A client
 * that has waited for too long gives up and counts it.  A connection is found by its
 * session in a table of the replica.
 * Invariant: every connection in the table holds one reference to its session.
 */
#include "tests/fault/storm.h"

#include <string.h>

#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"
#include "runtime/upi/xk_stream.h"

#define SLOTS 4096u

struct app_conf { uint32_t to; uint64_t port, ask, size, most; uint64_t every, patience; bool keep; };

struct conn {
	struct conn    *next;
	struct xk_sess *s;
	uint64_t        sent, got;
	xk_ns           since;
	bool            stood, shut, ended;
	struct xk_timer patience;
};

struct app_rep {
	struct conn       *slot[SLOTS];
	struct xk_slab     slab;
	struct xk_timer    next;
	struct xk_rep     *r;
	xk_ns              every;
	uint64_t           n;
	struct storm_stats st;
};

static struct app_rep *app(const struct xk_rep *r) { return r->state; }
static const struct app_conf *conf(const struct xk_rep *r) { return r->conf; }
static bool is_client(const struct xk_rep *r) { return conf(r)->to != 0; }
static uint64_t to_send(const struct xk_rep *r) { return is_client(r) ? conf(r)->ask : conf(r)->size; }
static uint64_t to_get(const struct xk_rep *r) { return is_client(r) ? conf(r)->size : conf(r)->ask; }

uint8_t storm_byte(uint64_t i)
{
	return (uint8_t)(i * 31 + (i >> 8) * 7 + (i >> 16));
}

/* ---- connections -------------------------------------------------------------------- */

static struct conn **slot_of(struct app_rep *a, const struct xk_sess *s)
{
	return &a->slot[((uintptr_t)s / XK_CACHELINE) * 0x9e3779b1u % SLOTS];
}

static struct conn *conn_of(const struct xk_rep *r, const struct xk_sess *s)
{
	struct conn *c = *slot_of(app(r), s);

	while (c != NULL && c->s != s)
		c = c->next;
	return c;
}

static void let_go(struct xk_rep *r, struct conn *c)
{
	struct conn **at = slot_of(app(r), c->s);
	struct xk_sess *s = c->s;

	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	xk_timer_cancel(&r->vp->wheel, &c->patience);
	xk_slab_put(&app(r)->slab, c);
	app(r)->n--;
	xk_close(s);
}

static void failed(struct xk_rep *r, struct conn *c)
{
	app(r)->st.failed++;
	let_go(r, c);
}

static void waited_too_long(struct xk_timer *t)
{
	struct conn *c = xk_container_of(t, struct conn, patience);
	struct xk_sess *s = c->s;
	struct xk_rep *r = s->up->rep;

	xk_sess_control(s, XK_STREAM_ABORT, NULL, 0);
	failed(r, c);
}

static struct conn *conn_new(struct xk_rep *r, struct xk_sess *s)
{
	struct conn *c = xk_slab_get(&app(r)->slab);

	if (c == NULL)
		return NULL;
	c->s = s;
	c->since = r->vp->now;
	c->next = *slot_of(app(r), s);
	*slot_of(app(r), s) = c;
	app(r)->n++;
	xk_timer_init(&c->patience, waited_too_long);
	if (is_client(r))
		xk_timer_set(&r->vp->wheel, &c->patience, r->vp->now + conf(r)->patience);
	return c;
}

/* ---- sending --------------------------------------------------------------------------- */

static bool push_some(struct xk_rep *r, struct conn *c, uint32_t room)
{
	uint64_t left = to_send(r) - c->sent;
	uint32_t n = left < 4096 ? (uint32_t)left : 4096;
	struct xk_msg *m;

	n = n < room ? n : room;
	m = xk_msg_new(n);
	if (m == NULL)
		return false;
	for (struct xk_msg *seg = m; seg != NULL; seg = seg->next)
		for (uint32_t i = 0; i < seg->len; i++)
			seg->data[i] = storm_byte(c->sent++);
	xk_push(c->s, m);
	return true;
}

/* As much as there is room for; the server ends behind it. */
static void pump(struct xk_rep *r, struct xk_sess *s)
{
	struct conn *c;
	uint32_t room;

	while ((c = conn_of(r, s)) != NULL && c->sent < to_send(r)) {
		if (xk_sess_control(s, XK_STREAM_ROOM, &room, sizeof room) != (int)sizeof room || room == 0)
			return;
		if (!push_some(r, c, room)) {
			xk_sess_control(s, XK_STREAM_ABORT, NULL, 0);
			failed(r, c);
			return;
		}
	}
	if (c == NULL || is_client(r) || c->shut)
		return;
	c->shut = true;
	xk_sess_control(s, XK_STREAM_SHUTDOWN, NULL, 0);
	c = conn_of(r, s);
	if (c != NULL && !conf(r)->keep) {
		app(r)->st.done++;
		let_go(r, c);
	}
}

/* ---- receiving --------------------------------------------------------------------------- */

static void finish(struct xk_rep *r, struct conn *c)
{
	struct storm_stats *st = &app(r)->st;
	xk_ns took = r->vp->now - c->since;

	if (c->got != to_get(r)) {
		failed(r, c);
		return;
	}
	st->done++;
	st->slowest = took > st->slowest ? took : st->slowest;
	let_go(r, c);
}

static void app_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	struct xk_rep *r = up->rep;
	struct conn *c = conn_of(r, lls);
	bool was;

	if (c == NULL) {
		app(r)->st.wrong++;
		xk_msg_free(m);
		return;
	}
	was = c->got >= to_get(r);
	for (struct xk_msg *seg = m; seg != NULL; seg = seg->next)
		for (uint32_t i = 0; i < seg->len; i++)
			app(r)->st.wrong += seg->data[i] != storm_byte(c->got++);
	app(r)->st.bytes += m->tot;
	xk_msg_free(m);
	if (!is_client(r) && !was && c->got >= to_get(r))
		pump(r, lls);
}

static int app_open_done(struct xk_rep *r, struct xk_sess *lls, struct xk_node *type)
{
	(void)type;
	if (app(r)->n >= conf(r)->most || conn_new(r, lls) == NULL) {
		app(r)->st.refused++;
		return XK_E_NOSPC;
	}
	xk_dup(lls);
	app(r)->st.stood++;
	if (to_get(r) == 0)
		pump(r, lls);
	return XK_OK;
}

static void app_close_done(struct xk_rep *r, struct xk_sess *lls)
{
	struct conn *c = conn_of(r, lls);

	if (c == NULL)
		return;
	c->ended = true;
	if (is_client(r) || c->got < to_get(r) || c->shut)
		finish(r, c);
}

static int app_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	struct xk_stream_event v;
	struct conn *c;

	if (op != XK_CTL_STREAM_EVENT || len < sizeof v)
		return XK_E_NOTSUP;
	memcpy(&v, buf, sizeof v);
	c = conn_of(r, v.s);
	if (c == NULL)
		return 0;
	if (v.what == XK_STREAM_FAILED)
		failed(r, c);
	else if (v.what == XK_STREAM_OPENED)
		app(r)->st.stood++;
	else if (v.what == XK_STREAM_WRITABLE)
		pump(r, v.s);
	else if (v.what == XK_STREAM_DRAINED && c->shut && c->ended)
		finish(r, c);
	return 0;
}

/* ---- opening ------------------------------------------------------------------------------- */

static void open_one(struct xk_rep *r, uint16_t lport)
{
	struct xk_parts ps;
	struct xk_sess *s;
	struct conn *c;
	int err;

	xk_parts_init(&ps, lport != 0 ? 2 : 1);
	xk_part_push_host(&ps.p[XK_REMOTE], conf(r)->to);
	xk_part_push_port(&ps.p[XK_REMOTE], (uint16_t)conf(r)->port);
	if (lport != 0)
		xk_part_push_port(&ps.p[XK_LOCAL], lport);
	app(r)->st.opened++;
	s = xk_open(r, r->node, r->down[0], &ps, &err);
	c = s != NULL ? conn_new(r, s) : NULL;
	if (c != NULL) {
		pump(r, s);
		return;
	}
	app(r)->st.refused++;
	if (s != NULL)
		xk_close(s);
}

static void arm(struct app_rep *a)
{
	struct xk_vp *vp = a->r->vp;

	/* Not in step with anything. */
	if (a->every != 0)
		xk_timer_set(&vp->wheel, &a->next, vp->now + a->every / 2 + xk_rand_below(&vp->rand, a->every));
	else
		xk_timer_cancel(&vp->wheel, &a->next);
}

static void time_to_open(struct xk_timer *t)
{
	struct app_rep *a = xk_container_of(t, struct app_rep, next);

	if (a->n < conf(a->r)->most)
		open_one(a->r, 0);
	arm(a);
}

void storm_open(uint16_t lport)
{
	struct xk_rep *r = storm_rep("client");

	xk_vp_enter_idle(r->vp);
	open_one(r, lport);
	xk_vp_leave_idle(r->vp);
}

void storm_pace(xk_ns every)
{
	struct xk_node *n = xk_graph_find(storm_graph, "client");

	for (unsigned i = 0; i < storm_graph->vps->nvps; i++) {
		xk_vp_enter_idle(n->rep[i]->vp);
		app(n->rep[i])->every = every;
		arm(app(n->rep[i]));
		xk_vp_leave_idle(n->rep[i]->vp);
	}
}

struct storm_stats storm_stats(const char *node)
{
	struct xk_node *n = xk_graph_find(storm_graph, node);
	struct storm_stats sum = { 0 };

	for (unsigned i = 0; i < storm_graph->vps->nvps; i++) {
		const struct storm_stats *s = &app(n->rep[i])->st;

		sum.opened += s->opened;
		sum.stood += s->stood;
		sum.done += s->done;
		sum.failed += s->failed;
		sum.refused += s->refused;
		sum.bytes += s->bytes;
		sum.wrong += s->wrong;
		sum.slowest = s->slowest > sum.slowest ? s->slowest : sum.slowest;
	}
	return sum;
}

/* ---- life ------------------------------------------------------------------------------------- */

static int app_rep_init(struct xk_rep *r)
{
	app(r)->r = r;
	app(r)->every = conf(r)->every;
	xk_slab_init(&app(r)->slab, sizeof(struct conn) + 8);
	xk_timer_init(&app(r)->next, time_to_open);
	return XK_OK;
}

static void app_rep_fini(struct xk_rep *r)
{
	if (app(r)->r != NULL)
		xk_slab_fini(&app(r)->slab);
}

static int app_start(struct xk_node *n, struct xk_errs *e)
{
	const struct app_conf *c = n->conf;
	struct xk_parts ps;

	(void)e;
	if (c->to != 0)
		return XK_OK;
	xk_parts_init(&ps, 1);
	xk_part_push_port(&ps.p[0], (uint16_t)c->port);
	return xk_open_enable(n, n, n->down[0], &ps);
}

static void app_stop(struct xk_node *n)
{
	xk_open_disable_all(n, n->down[0]);
}

static int app_rep_start(struct xk_rep *r, struct xk_errs *e)
{
	(void)e;
	if (is_client(r))
		arm(app(r));
	return XK_OK;
}

static void app_rep_stop(struct xk_rep *r)
{
	struct app_rep *a = app(r);

	xk_timer_cancel(&r->vp->wheel, &a->next);
	for (unsigned i = 0; i < SLOTS; i++)
		while (a->slot[i] != NULL)
			let_go(r, a->slot[i]);
}

static const struct xk_ops app_ops = {
	.rep_init = app_rep_init, .rep_fini = app_rep_fini, .start = app_start, .stop = app_stop,
	.rep_start = app_rep_start, .rep_stop = app_rep_stop, .open_done = app_open_done,
	.close_done = app_close_done, .demux = app_demux, .control = app_control,
};

#define P(field, t, d, text) { .name = #field, .type = t, .def = d, .doc = text, .offset = offsetof(struct app_conf, field) }
static const struct xk_param app_params[] = {
	P(to, XK_P_IPV4, "0.0.0.0", "whom to ask; none: answers"),
	P(port, XK_P_UINT, "80", "asked and answered there"),
	P(ask, XK_P_SIZE, "100", "bytes of a question"),
	P(size, XK_P_SIZE, "10KiB", "bytes of an answer"),
	P(most, XK_P_UINT, "4096", "connections at a time, of a virtual processor"),
	P(every, XK_P_TIME, "10ms", "between two questions, half to one and a half of it"),
	P(patience, XK_P_TIME, "60s", "how long an answer may take"),
	P(keep, XK_P_BOOL, "false", "the server holds its session until all is acknowledged"),
	XK_PARAM_END
};

const struct xk_proto xk_proto_stormapp = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "stormapp", .doc = "asks and answers",
	.ops = &app_ops, .needs = { "stream" }, .min_down = 1, .max_down = 1,
	.params = app_params, .conf_size = sizeof(struct app_conf), .rep_size = sizeof(struct app_rep),
};

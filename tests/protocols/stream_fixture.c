/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stream_fixture.c - streams without a transport, for tests of applications.
 *
 * See stream_fixture.h.  One task per VP moves at most one piece of each end in a
 * pass and parks when a pass has moved nothing.  Ends stand in a list; an end
 * whose holder is gone stays until both sides are over.
 * Invariant: an end that is not over has a peer, or is still being opened.
 */
#include "tests/protocols/stream_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/upi/xk_enable.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"

#define SETTLED 32       /* turns without work: a task that only parks is none */

/* ---- sf_stream: objects ------------------------------------------------------------ */

struct sf_conf { uint64_t room, window, chunk; };

struct sf_end {
	struct xk_sess  s;
	struct sf_end  *next, *peer;
	struct xk_msgq  out;
	uint32_t        queued;          /* bytes of out */
	uint32_t        untaken;         /* passed up to us */
	uint16_t        port;
	bool            passive, opening, manual, want_room, drain_owed;
	bool            fin, fin_sent;   /* our side ends; the peer was told */
	bool            over, orphan;
	int             reset;           /* an error on its way to us */
	int             err;
};

struct sf_rep { struct xk_task task; struct xk_rep *r; struct sf_end *ends; };

static const struct xk_param sf_params[] = {
	{ .name = "room", .type = XK_P_SIZE, .def = "65536", .doc = "bytes an end may push ahead",
	  .offset = offsetof(struct sf_conf, room) },
	{ .name = "window", .type = XK_P_SIZE, .def = "65536", .doc = "bytes passed up and not taken",
	  .offset = offsetof(struct sf_conf, window) },
	{ .name = "chunk", .type = XK_P_SIZE, .def = "1460", .doc = "most bytes passed up at once",
	  .offset = offsetof(struct sf_conf, chunk) },
	XK_PARAM_END
};

static struct sf_end *end_of(struct xk_sess *s) { return (struct sf_end *)(void *)s; }
static const struct sf_conf *sf_conf(const struct sf_end *e) { return e->s.rep->conf; }
static struct sf_state *state_of(const struct sf_end *e) { return e->s.rep->node->state; }
static struct sf_rep *rep_of(const struct sf_end *e) { return e->s.rep->state; }
static void wake(const struct sf_end *e) { xk_task_ready(&rep_of(e)->task); }

static struct sf_end *end_new(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type)
{
	struct sf_rep *sr = r->state;
	struct xk_sess *s = xk_sess_create(r, &rcv->up, type, NULL);

	if (s == NULL)
		return NULL;
	end_of(s)->next = sr->ends;
	sr->ends = end_of(s);
	xk_msgq_init(&end_of(s)->out);
	return end_of(s);
}

static void end_free(struct sf_end *e)
{
	struct sf_end **p = &rep_of(e)->ends;

	while (*p != e)
		p = &(*p)->next;
	*p = e->next;
	if (e->peer != NULL)
		e->peer->peer = NULL;
	xk_msgq_free(&e->out);
	xk_sess_destroy(&e->s);
}

/* ---- sf_stream: what those above are told --------------------------------------------- */

static void hold(struct sf_end *e) { e->s.rcnt++; }
/* True when e is still there. */
static bool release(struct sf_end *e)
{
	if (--e->s.rcnt > 0)
		return true;
	xk_sess_idle_slow(&e->s);
	return e->s.rep != NULL;
}

static void tell(struct sf_end *e, enum xk_stream_what what, int err)
{
	struct xk_stream_event ev = { &e->s, what, err };

	if (!e->orphan)
		xk_control(e->s.up->rep, XK_CTL_STREAM_EVENT, &ev, sizeof ev);
}

/* The end is over; the other one, if any, hears of it in the next pass. */
static void finish(struct sf_end *e, int err)
{
	struct sf_end *p = e->peer;

	e->over = true;
	e->opening = false;
	e->err = err;
	e->queued = 0;
	xk_msgq_free(&e->out);
	xk_msgq_init(&e->out);
	e->peer = NULL;
	if (p != NULL) {
		p->peer = NULL;
		if (p->reset == 0)
			p->reset = XK_E_CONNRESET;
		wake(p);
	}
}

static void fail(struct sf_end *e, int err)
{
	finish(e, err);
	hold(e);
	tell(e, XK_STREAM_FAILED, err);
	release(e);
}

/* ---- sf_stream: what moves --------------------------------------------------------------- */

static uint32_t room_of(const struct sf_end *e)
{
	uint32_t room = (uint32_t)sf_conf(e)->room;

	return e->over || e->fin || e->queued >= room ? 0 : room - e->queued;
}

static void connect_end(struct sf_end *e)
{
	struct xk_rep *r = e->s.rep;
	struct xk_key k = { { e->port, 0 } };
	struct xk_enable *en = state_of(e)->refuse ? NULL : xk_enable_find(r->node, &k);
	struct sf_end *p = en != NULL ? end_new(r, en->rcv->rep[r->vp->no], en->type) : NULL;

	e->opening = false;
	if (p == NULL) {
		fail(e, XK_E_CONNREFUSED);
		return;
	}
	e->peer = p;
	p->peer = e;
	p->port = e->port;
	p->passive = true;
	hold(p);
	if (xk_open_done(en->rcv, &p->s, en->type) < 0) {
		p->peer = e->peer = NULL;
		p->over = true;
		release(p);
		fail(e, XK_E_CONNREFUSED);
		return;
	}
	release(p);
	hold(e);
	tell(e, XK_STREAM_OPENED, 0);
	state_of(e)->at_once += e->queued != 0 && e->fin;
	release(e);
}

/* One piece from e to its peer.  Both are held. */
static void deliver(struct sf_end *e, struct sf_end *p)
{
	struct xk_msg *m = xk_msgq_get(&e->out), *rest;
	uint32_t chunk = (uint32_t)sf_conf(e)->chunk;

	rest = m->tot > chunk ? xk_msg_split(m, chunk) : NULL;
	if (rest != NULL) {              /* else whole, for want of memory */
		rest->link = e->out.first;
		if (e->out.first == NULL)
			e->out.last = rest;
		e->out.first = rest;
		e->out.n++;
	}
	e->queued -= m->tot;
	if (p->orphan) {                 /* nobody there to take it */
		xk_msg_free(m);
		finish(p, XK_E_CONNABORTED);
		return;
	}
	if (p->manual)
		p->untaken += m->tot;
	m->link = NULL;
	xk_demux(&p->s, m);
}

/* What e's holder is owed after something has moved. */
static void answer(struct sf_end *e)
{
	if (e->want_room && room_of(e) >= (sf_conf(e)->room + 3) / 4) {
		e->want_room = false;
		tell(e, XK_STREAM_WRITABLE, 0);
	}
	if (!e->over && e->drain_owed && e->out.first == NULL && (!e->fin || e->fin_sent)) {
		e->drain_owed = false;
		tell(e, XK_STREAM_DRAINED, 0);
	}
}

static bool step_held(struct sf_end *e)
{
	struct sf_end *p = e->peer;
	bool moved = false;

	if (p == NULL || state_of(e)->stalled)
		return false;
	hold(p);
	if (e->out.first != NULL && !(p->manual && p->untaken >= sf_conf(p)->window)) {
		deliver(e, p);
		moved = true;
	} else if (e->out.first == NULL && e->fin && !e->fin_sent) {
		e->fin_sent = moved = true;
		if (!p->orphan)
			xk_close_done(&p->s);
	}
	release(p);
	if (moved)
		answer(e);
	return moved;
}

/* True when something has happened. */
static bool step(struct sf_end *e)
{
	bool moved;
	int err = e->reset;

	if (err != 0 && !e->over) {
		e->reset = 0;
		fail(e, err);
		return true;
	}
	if (e->opening) {
		if (state_of(e)->stalled)
			return false;
		connect_end(e);
		return true;
	}
	hold(e);
	moved = step_held(e);
	/* Both sides have ended in order: nothing is left between them. */
	if (e->peer != NULL && e->fin_sent && e->peer->fin_sent) {
		e->over = e->peer->over = true;
		if (e->peer->orphan)
			end_free(e->peer);
		else
			e->peer->peer = NULL;
		e->peer = NULL;
	}
	release(e);
	return moved;
}

static unsigned pump(struct xk_task *t, unsigned budget)
{
	struct sf_rep *sr = xk_container_of(t, struct sf_rep, task);
	struct sf_end *list[4 * SF_CONNS];
	unsigned n = 0, moved = 0;

	(void)budget;
	for (struct sf_end *e = sr->ends; e != NULL; e = e->next) {
		xk_assert(n < XK_ARRAY_LEN(list));
		list[n++] = e;
	}
	xk_task_park(t);
	for (unsigned i = n; i-- > 0;) {
		struct sf_end *e = sr->ends;

		while (e != NULL && e != list[i])        /* gone meanwhile? */
			e = e->next;
		moved += e != NULL && step(e);
	}
	if (moved != 0)
		xk_task_ready(t);
	return moved;
}

/* ---- sf_stream: operations ------------------------------------------------------------------ */

static struct xk_sess *sf_do_open(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type,
				  struct xk_parts *ps, int *err)
{
	uint16_t port;
	struct sf_end *e;

	if (ps->n < 1 || xk_part_pop_port(&ps->p[XK_REMOTE], &port) != 0) {
		*err = XK_E_INVAL;
		return NULL;
	}
	e = end_new(r, rcv, type);
	if (e == NULL) {
		*err = XK_E_NOMEM;
		return NULL;
	}
	e->port = port;
	e->opening = true;
	wake(e);
	return &e->s;
}

static int sf_enable(struct xk_node *n, struct xk_node *rcv, struct xk_node *type, struct xk_parts *ps)
{
	struct xk_key k = { { 0, 0 } };
	uint16_t port;

	if (xk_part_pop_port(&ps->p[0], &port) != 0)
		return XK_E_INVAL;
	k.w[0] = port;
	return xk_enable_bind(n, &k, rcv, type);
}

static int sf_disable(struct xk_node *n, struct xk_node *rcv, struct xk_node *type, struct xk_parts *ps)
{
	struct xk_key k = { { 0, 0 } };
	uint16_t port;

	if (xk_part_pop_port(&ps->p[0], &port) != 0)
		return XK_E_INVAL;
	k.w[0] = port;
	return xk_enable_unbind(n, &k, rcv, type);
}

static void sf_disable_all(struct xk_node *n, struct xk_node *rcv)
{
	xk_enable_unbind_all(n, rcv);
}

static void sf_push(struct xk_sess *s, struct xk_msg *m)
{
	struct sf_end *e = end_of(s);
	struct sf_state *st = state_of(e);

	if (e->over) {
		xk_drop(s->rep, XK_DROP_FIRST, m);
		return;
	}
	if (e->fin || room_of(e) == 0) {
		st->broken++;
		xk_drop(s->rep, XK_DROP_FIRST, m);
		return;
	}
	if (m->flags & XK_MSG_CSUM) {
		st->summed++;
		st->broken += (m->flags & XK_MSG_CHAIN) ||
			xk_csum_fold(m->csum) != xk_csum_fold(xk_msg_csum(m, 0, 0));
	}
	m->flags &= XK_MSG_SLOW;
	e->queued += m->tot;
	if (e->queued > st->most_queued)
		st->most_queued = e->queued;
	xk_msgq_put(&e->out, m);
	wake(e);
}

static void sf_sess_close(struct xk_sess *s)
{
	struct sf_end *e = end_of(s);

	if (e->over || e->opening) {
		end_free(e);
		return;
	}
	if (e->orphan)
		return;                  /* again, after a call under way */
	if (e->manual && e->untaken != 0) {      /* unread bytes: a reset, as TCP has it */
		finish(e, XK_E_CONNABORTED);
		end_free(e);
		return;
	}
	e->orphan = e->fin = true;
	if (e->peer == NULL)             /* gone, and the news not told yet */
		end_free(e);
	else
		wake(e);
}

static int sf_take_in(struct sf_end *e, uint32_t n)
{
	if (!e->over && (n > e->untaken || !e->manual))
		state_of(e)->broken++;
	e->untaken -= n < e->untaken ? n : e->untaken;
	wake(e);
	return 0;
}

static int sf_sess_control(struct xk_sess *s, unsigned op, void *buf, unsigned len)
{
	struct sf_end *e = end_of(s);
	const uint16_t port[2] = { e->passive ? e->port : 40000, e->passive ? 40000 : e->port };
	uint32_t in = 0;

	if (buf != NULL && len >= sizeof in)
		memcpy(&in, buf, sizeof in);
	switch (op) {
	case XK_STREAM_ROOM:
		e->want_room = room_of(e) == 0;
		return xk_answer32(buf, len, room_of(e));
	case XK_STREAM_MANUAL:
		e->manual = in != 0;
		return 0;
	case XK_STREAM_TAKEN:
		return sf_take_in(e, in);
	case XK_STREAM_SHUTDOWN:
		e->fin = e->drain_owed = true;
		wake(e);
		return 0;
	case XK_STREAM_DRAIN:
		if (e->out.first == NULL && (!e->fin || e->fin_sent))
			return 1;
		e->drain_owed = true;
		return 0;
	case XK_STREAM_ABORT:
		finish(e, XK_E_CONNABORTED);
		return 0;
	case XK_STREAM_QUEUED:
		return xk_answer32(buf, len, e->queued);
	case XK_STREAM_ERRNO:
		return xk_answer32(buf, len, (uint32_t)e->err);
	case XK_CTL_GETOPTPACKET:
		return xk_answer32(buf, len, (uint32_t)sf_conf(e)->chunk);
	case XK_CTL_GETMYPORT:           /* who opens has port 40000, and all are 10.0.0.2 */
		return xk_answer(buf, len, &port[0], sizeof port[0]);
	case XK_CTL_GETPEERPORT:
		return xk_answer(buf, len, &port[1], sizeof port[1]);
	case XK_CTL_GETMYHOST:
	case XK_CTL_GETPEERHOST:
		return xk_answer32(buf, len, 0x0a000002);
	default:
		return XK_E_NOTSUP;
	}
}

static int sf_rep_init(struct xk_rep *r)
{
	struct sf_rep *sr = r->state;

	sr->r = r;
	xk_task_init(&sr->task, r->vp, pump);
	return XK_OK;
}

/* Those above have given back what they held: the rest nobody holds. */
static void sf_rep_stop(struct xk_rep *r)
{
	struct sf_rep *sr = r->state;

	xk_task_park(&sr->task);
	while (sr->ends != NULL)
		end_free(sr->ends);
}

static const struct xk_ops sf_ops = {
	.rep_init = sf_rep_init, .rep_stop = sf_rep_stop,
	.open = sf_do_open, .open_enable = sf_enable,
	.open_disable = sf_disable, .open_disable_all = sf_disable_all,
	.push = sf_push, .close = sf_sess_close, .sess_control = sf_sess_control,
};
static const char *const sf_drops[] = { "over", NULL };

const struct xk_proto sf_stream = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "sf_stream",
	.doc = "test stream: joins two ends on one VP", .ops = &sf_ops, .offers = "stream",
	.params = sf_params, .conf_size = sizeof(struct sf_conf), .node_size = sizeof(struct sf_state),
	.rep_size = sizeof(struct sf_rep), .sess_size = sizeof(struct sf_end), .drops = sf_drops,
};

void sf_settle(struct pf *f)
{
	for (unsigned idle = 0; idle < SETTLED;)
		idle = xk_vpset_step(f->g->vps) != 0 ? 0 : idle + 1;
}

struct sf_state *sf_state(struct pf *f, const char *name)
{
	return pf_node(f, name)->state;
}

void sf_fail_all(struct pf *f, const char *name, unsigned vp, int err)
{
	struct sf_rep *sr = pf_rep(f, name, vp)->state;

	for (struct sf_end *e = sr->ends; e != NULL; e = e->next)
		e->reset = err;
	pf_enter(f, vp);
	xk_task_ready(&sr->task);
	pf_leave(f, vp);
	sf_settle(f);
}

unsigned sf_ends(struct pf *f, const char *name, unsigned vp)
{
	unsigned n = 0;

	for (struct sf_end *e = ((struct sf_rep *)pf_rep(f, name, vp)->state)->ends; e != NULL; e = e->next)
		n++;
	return n;
}

/* ---- sf_peer ------------------------------------------------------------------------------------ */

struct peer_conf { uint16_t port; };
struct peer_state { struct sf_conn *conn[SF_CONNS]; unsigned n, passive; struct sf_conn *accepted[SF_CONNS]; };

static const struct xk_param peer_params[] = {
	{ .name = "port", .type = XK_P_PORT, .def = "0", .doc = "port to wait on; 0: none",
	  .offset = offsetof(struct peer_conf, port) },
	XK_PARAM_END
};

static struct sf_conn *conn_new(struct peer_state *st, struct xk_sess *s, unsigned vp)
{
	struct sf_conn *c = calloc(1, sizeof *c);

	xk_assert(c != NULL && st->n < SF_CONNS);
	st->conn[st->n++] = c;
	c->s = s;
	c->vp = vp;
	return c;
}

static struct sf_conn *conn_find(struct xk_rep *r, const struct xk_sess *s)
{
	struct peer_state *st = r->node->state;

	for (unsigned i = 0; i < st->n; i++)
		if (st->conn[i]->s == s)
			return st->conn[i];
	return NULL;
}

static int peer_open_done(struct xk_rep *r, struct xk_sess *lls, struct xk_node *type)
{
	struct peer_state *st = r->node->state;

	(void)type;
	st->accepted[st->passive++] = conn_new(st, xk_dup(lls), r->vp->no);
	return XK_OK;
}

static void peer_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	struct sf_conn *c = conn_find(up->rep, lls);

	xk_assert(c != NULL);
	if (c->n + m->tot > c->cap) {
		c->cap = (c->n + m->tot) * 2;
		c->got = realloc(c->got, c->cap);
		xk_assert(c->got != NULL);
	}
	xk_msg_copy_out(m, 0, c->got + c->n, m->tot);
	c->n += m->tot;
	xk_msg_free(m);
}

static void peer_close_done(struct xk_rep *r, struct xk_sess *lls)
{
	struct sf_conn *c = conn_find(r, lls);

	if (c != NULL)
		c->ended++;
}

static int peer_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	const struct xk_stream_event *ev = buf;
	struct sf_conn *c;

	if (op != XK_CTL_STREAM_EVENT || len < sizeof *ev)
		return XK_E_NOTSUP;
	c = conn_find(r, ev->s);
	if (c == NULL)
		return 0;
	c->opened += ev->what == XK_STREAM_OPENED;
	c->writable += ev->what == XK_STREAM_WRITABLE;
	c->drained += ev->what == XK_STREAM_DRAINED;
	if (ev->what == XK_STREAM_FAILED) {
		c->failed++;
		c->err = ev->err;
		c->s = NULL;
		xk_close(ev->s);
	}
	return 0;
}

static int peer_start(struct xk_node *n, struct xk_errs *e)
{
	const struct peer_conf *c = n->conf;
	struct xk_parts ps;

	(void)e;
	if (c->port == 0)
		return XK_OK;
	xk_parts_init(&ps, 1);
	xk_part_push_port(&ps.p[0], c->port);
	return xk_open_enable(n, n, n->down[0], &ps);
}

static void peer_stop(struct xk_node *n) { xk_open_disable_all(n, n->down[0]); }

static void peer_rep_stop(struct xk_rep *r)
{
	struct peer_state *st = r->node->state;

	for (unsigned i = 0; i < st->n; i++)
		if (st->conn[i]->s != NULL && st->conn[i]->vp == r->vp->no) {
			xk_close(st->conn[i]->s);
			st->conn[i]->s = NULL;
		}
}

static void peer_fini(struct xk_node *n)
{
	struct peer_state *st = n->state;

	for (unsigned i = 0; i < st->n; i++) {
		free(st->conn[i]->got);
		free(st->conn[i]);
	}
	st->n = st->passive = 0;
}

static const struct xk_ops peer_ops = {
	.fini = peer_fini, .start = peer_start, .stop = peer_stop, .rep_stop = peer_rep_stop,
	.open_done = peer_open_done, .close_done = peer_close_done, .demux = peer_demux, .control = peer_control,
};

const struct xk_proto sf_peer = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "sf_peer",
	.doc = "test application over a stream", .ops = &peer_ops, .needs = { "stream" },
	.min_down = 1, .max_down = 1, .params = peer_params, .conf_size = sizeof(struct peer_conf),
	.node_size = sizeof(struct peer_state),
};

/* ---- sf_peer: what a test does ------------------------------------------------------------------- */

struct sf_conn *sf_open(struct pf *f, const char *name, unsigned vp, uint16_t port, bool manual)
{
	struct peer_state *st = pf_node(f, name)->state;
	struct xk_parts ps;
	struct xk_sess *s;
	struct sf_conn *c;
	uint32_t one = 1;

	xk_parts_init(&ps, 2);
	xk_part_push_host(&ps.p[XK_REMOTE], 0x0a000002);
	xk_part_push_port(&ps.p[XK_REMOTE], port);
	xk_part_push_any(&ps.p[XK_LOCAL]);
	s = pf_open(f, name, vp, &ps, NULL);
	if (s == NULL)
		return NULL;
	c = conn_new(st, s, vp);
	if (manual) {
		pf_enter(f, vp);
		xk_sess_control(s, XK_STREAM_MANUAL, &one, sizeof one);
		pf_leave(f, vp);
	}
	sf_settle(f);
	return c;
}

struct sf_conn *sf_conn(struct pf *f, const char *name, unsigned i)
{
	struct peer_state *st = pf_node(f, name)->state;

	return i < st->passive ? st->accepted[i] : NULL;
}

void sf_send(struct pf *f, struct sf_conn *c, const void *bytes, uint32_t len)
{
	xk_assert(c->s != NULL);
	pf_push(f, c->vp, c->s, bytes, len);
	sf_settle(f);
}

void sf_say(struct pf *f, struct sf_conn *c, const char *text)
{
	sf_send(f, c, text, (uint32_t)strlen(text));
}

static void tell_stream(struct pf *f, struct sf_conn *c, unsigned op, uint32_t v)
{
	xk_assert(c->s != NULL);
	pf_enter(f, c->vp);
	xk_sess_control(c->s, op, &v, sizeof v);
	pf_leave(f, c->vp);
}

void sf_take(struct pf *f, struct sf_conn *c, uint32_t n)
{
	tell_stream(f, c, XK_STREAM_TAKEN, n);
	sf_settle(f);
}

void sf_shutdown(struct pf *f, struct sf_conn *c)
{
	tell_stream(f, c, XK_STREAM_SHUTDOWN, 0);
	sf_settle(f);
}

void sf_close(struct pf *f, struct sf_conn *c)
{
	struct xk_sess *s = c->s;

	c->s = NULL;
	if (s != NULL)
		pf_close(f, c->vp, s);
	sf_settle(f);
}

void sf_abort(struct pf *f, struct sf_conn *c)
{
	tell_stream(f, c, XK_STREAM_ABORT, 0);
	sf_close(f, c);
}

void sf_forget(struct sf_conn *c)
{
	c->n = 0;
}

void sf_forget_all(struct pf *f, const char *name)
{
	struct peer_state *st = pf_node(f, name)->state;

	for (unsigned i = 0; i < st->n; i++)
		xk_assert(st->conn[i]->s == NULL);
	peer_fini(pf_node(f, name));
}

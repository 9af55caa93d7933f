/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sink_port.c - receives messages on a range of ports, touches their bytes as an
 * application would, counts them by connection and forgets them.
 *
 * Passive: a session made for a peer is kept, so that its next message costs no
 * open; a session of sink's own stands above it and holds the place where its
 * messages are counted.  Active (conns > 0): the connections are opened at
 * start, each on its VP by the graph's map, so that their frames are
 * classified to that VP from the first one on.
 * With `post`, what is kept posts memory at its connection: there the bytes of a
 * message are wanted, and a driver may have put them there (xk_ddp.h).
 * Invariant: each kept lower session has `up` set to one session of ours.
 */
#include "protocols/sink/sink.h"
#include "runtime/base/xk_errs.h"
#include "runtime/upi/xk_app.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_move.h"
#include "runtime/upi/xk_part.h"
#include "runtime/upi/xk_vps.h"

#include <stdio.h>
#include <string.h>

#define PORTS_PER_HOST 16384u    /* as peer_source counts */

enum { TOUCH_COPY, TOUCH_LINE, TOUCH_NONE };
enum { N_NOT_KEPT = SINK_OWN, N_POST };  /* ORDER port_counts */

struct port_conf {
	struct sink_conf recv;
	uint64_t              conns;
	uint32_t              from;
	uint16_t              from_port;
};

/* Its place is s.aux[0], in the line of `self`. */
struct port_sess {
	struct xk_sess s;
	struct xk_ddp *post;         /* NULL: nothing is posted */
};
static inline uint32_t slot_of(const struct xk_up *up) { return xk_container_of(up, const struct xk_sess, self)->aux[0]; }

static struct sink *recv_of(const struct xk_rep *r) { return r->state; }
static const struct port_conf *conf_of(const struct xk_rep *r) { return r->conf; }

/* ---- sessions ------------------------------------------------------------------------ */

static struct xk_key key_of(const struct xk_sess *lls)
{
	return (struct xk_key){ { (uintptr_t)lls, 0 } };
}

/* Stands a session of ours over lls, with a reference that the caller has or
 * takes. */
static int port_keep(struct xk_rep *r, struct xk_sess *lls, uint64_t no)
{
	struct sink *sr = r->state;
	struct xk_key k = key_of(lls);
	struct xk_sess *s;
	int err;

	err = sink_get(sr);
	if (err != XK_OK || !sink_place_left(sr))
		return err != XK_OK ? err : XK_E_NOSPC;
	s = xk_sess_create(r, NULL, r->node, lls);
	if (s == NULL)
		return XK_E_NOMEM;
	err = xk_sess_bind(s, &k);
	if (err != XK_OK) {
		xk_sess_destroy(s);
		return err;
	}
	s->aux[0] = sink_place_take(sr, no);
	lls->up = &s->self;
	sink_post(sr, &((struct port_sess *)s)->post, lls, false, N_POST);
	return XK_OK;
}

static void port_forget(struct xk_sess *s)
{
	struct xk_rep *r = s->rep;
	struct sink *sr = r->state;
	struct xk_sess *lls = s->down;

	xk_ddp_close(((struct port_sess *)s)->post);
	sink_place_give(sr, s->aux[0]);
	lls->up = &r->up;
	xk_sess_destroy(s);
	xk_close(lls);
}

static int port_open_done(struct xk_rep *r, struct xk_sess *lls, struct xk_node *type)
{
	struct sink *sr = r->state;
	uint64_t no = (uint64_t)sr->n * xk_node_nvps(r->node) + r->no;

	(void)type;
	if (port_keep(r, lls, no) == XK_OK)
		xk_dup(lls);
	else                                     /* received all the same, one by one */
		xk_count(r->count[N_NOT_KEPT]);
	return XK_OK;
}

static void port_close_done(struct xk_rep *r, struct xk_sess *lls)
{
	struct xk_key k = key_of(lls);
	struct xk_mapnode *n = xk_map_resolve(&r->active, &k);

	if (n != NULL)
		port_forget(xk_container_of(n, struct xk_sess, map));
}

/* ---- messages ---------------------------------------------------------------------------- */

static inline void port_touch(struct xk_rep *r, struct xk_msg *m)
{
	switch (conf_of(r)->recv.touch) {
	case TOUCH_COPY:
		if (XK_UNLIKELY(recv_of(r)->page == NULL))     /* of a peer that is not kept */
			break;
		if (XK_LIKELY(!(m->flags & XK_MSG_CHAIN) && m->len <= SINK_BIGGEST))
			memcpy(recv_of(r)->page, m->data, m->len);
		else
			xk_msg_copy_out(m, 0, recv_of(r)->page,
					m->tot < SINK_BIGGEST ? m->tot : SINK_BIGGEST);
		break;
	case TOUCH_LINE:
		for (struct xk_msg *x = m; x != NULL; x = x->next)
			xk_csum_touch(x->data, x->len, true);
		break;
	default:
		break;
	}
}

/* Where the bytes are wanted; false: not all could go there. */
static bool port_place(const struct xk_up *up, const struct xk_msg *m)
{
	struct xk_ddp *d;
	uint8_t *at;

	if (up == &up->rep->up)
		return false;
	d = ((struct port_sess *)xk_container_of(up, struct xk_sess, self))->post;
	if (d == NULL || xk_ddp_receive(d, m, 0, &at) == 0)
		return false;
	xk_ddp_done(d, at, m->tot);
	return true;
}

static XK_NOINLINE void port_consume(const struct xk_up *up, struct xk_msg *m)
{
	if (conf_of(up->rep)->recv.post == 0 || !port_place(up, m))
		port_touch(up->rep, m);
	if (recv_of(up->rep)->times != NULL)
		sink_time(recv_of(up->rep), m->data, m->len);
	xk_msg_free(m);
}

static void port_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	struct xk_rep *r = up->rep;

	(void)lls;
	xk_count(r->npop);
	xk_count(r->count[SINK_MESSAGES]);
	xk_count_add(r->count[SINK_BYTES], m->tot);
	if (XK_LIKELY(up != &r->up)) {           /* a kept one: its session is our `up` */
		struct sink *sr = r->state;
		uint32_t i = slot_of(up);

		xk_count(sr->messages[i]);
		xk_count_add(sr->bytes[i], m->tot);
	}
	if (!recv_of(r)->looks)
		xk_msg_free(m);
	else
		port_consume(up, m);
}

/* n messages have come to one of ours, or to none. */
static inline void port_count(const struct xk_rep *r, const struct xk_up *up, unsigned n, uint64_t bytes)
{
	const struct sink *sr = r->state;
	uint32_t i;

	if (XK_UNLIKELY(up == &r->up))
		return;
	i = slot_of(up);
	xk_count_add(sr->messages[i], n);
	xk_count_add(sr->bytes[i], bytes);
}

/* Bytes of the first n of m, behind `off` of headers. */
static inline uint64_t bytes_of(struct xk_msg *const *m, unsigned n, uint32_t off)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < n; i++)
		bytes += m[i]->tot - off;
	return bytes;
}

/* Each run counted where it belongs, and read; returns the bytes of all. */
static inline uint64_t port_runs(const struct xk_rep *r, struct xk_sess *lls, const struct xk_batch *f, bool touch)
{
	const struct xk_run *run = f->run;
	uint64_t all = 0;

	for (unsigned i = 0, at = 0, n; at < f->n; at += n, run++, i++) {
		const struct xk_up *up = xk_batch_below(f, lls, i)->up;
		uint64_t bytes;

		n = xk_run_left(run, f->n - at);
		bytes = bytes_of(f->m + at, n, f->off);
		port_count(r, up, n, bytes);
		all += bytes;
		for (unsigned k = at; touch && k < at + n; k++) {
			xk_batch_materialise(f, run, f->m[k]);
			port_consume(up, f->m[k]);
		}
	}
	return all;
}

/* Frames of as many sessions that nobody reads; returns their bytes. */
static inline uint64_t port_apart(const struct xk_rep *r, const struct xk_batch *f)
{
	const struct sink *sr = r->state;
	xk_counter *messages = sr->messages, *sums = sr->bytes;
	struct xk_sess *const *sess = f->sess;
	const uint32_t off = f->off;
	uint64_t all = 0;

	for (unsigned i = 0; i < f->n; i++) {
		const struct xk_up *up = sess[i]->up;
		uint32_t bytes = f->m[i]->tot - off;

		all += bytes;
		if (XK_UNLIKELY(up == &r->up))
			continue;
		xk_count(messages[slot_of(up)]);
		xk_count_add(sums[slot_of(up)], bytes);
	}
	return all;
}

static unsigned port_demux_batch(struct xk_up *up, struct xk_sess *lls, const struct xk_batch *f)
{
	struct xk_rep *r = up->rep;
	bool touch = recv_of(r)->looks;
	uint64_t bytes;

	if (XK_LIKELY(!touch && f->sess == NULL)) {      /* of one session: freed at once */
		bytes = xk_msg_free_all(f->m, f->n) - (uint64_t)f->off * f->n;
		port_count(r, up, f->n, bytes);
	} else {
		bytes = f->apart && f->sess != NULL && !touch ? port_apart(r, f) : port_runs(r, lls, f, touch);
		if (!touch)
			xk_msg_free_all(f->m, f->n);
	}
	xk_count_add(r->npop, f->n);
	xk_count_add(r->count[SINK_MESSAGES], f->n);
	xk_count_add(r->count[SINK_BYTES], bytes);
	return f->n;
}

/* ---- life --------------------------------------------------------------------------------------- */

static int port_connect(struct xk_rep *r, uint64_t i)
{
	const struct port_conf *c = conf_of(r);
	struct xk_parts ps;
	struct xk_sess *lls;
	int err;

	xk_parts_init(&ps, 2);
	xk_part_push_host(&ps.p[XK_REMOTE], c->from + (uint32_t)(i / PORTS_PER_HOST));
	xk_part_push_port(&ps.p[XK_REMOTE], (uint16_t)(c->from_port + i % PORTS_PER_HOST));
	xk_part_push_any(&ps.p[XK_LOCAL]);
	xk_part_push_port(&ps.p[XK_LOCAL], (uint16_t)(c->recv.port + i % c->recv.ports));
	lls = xk_open(r, r->node, r->down[0], &ps, &err);
	if (lls == NULL)
		return err;
	err = port_keep(r, lls, i);
	if (err != XK_OK)
		xk_close(lls);
	return err;
}

static int port_start(struct xk_node *n, struct xk_errs *e)
{
	return ((const struct port_conf *)n->conf)->conns == 0 ? sink_wait(n, e) : XK_OK;
}

static void port_stop(struct xk_node *n)
{
	if (((const struct port_conf *)n->conf)->conns == 0)
		xk_open_disable_all(n, n->down[0]);
}

static uint64_t port_here(const struct xk_rep *r)
{
	const struct port_conf *c = conf_of(r);
	uint64_t n = 0;

	for (uint64_t i = 0; i < c->conns; i++)
		n += xk_app_is_here(r, i);
	return n;
}

static int port_rep_init(struct xk_rep *r)
{
	const struct port_conf *c = conf_of(r);

	recv_of(r)->looks = c->recv.touch != TOUCH_NONE || c->recv.times;
	return sink_size(r, c->conns != 0 ? port_here(r) : c->recv.sessions, SINK_BIGGEST);
}

static int port_rep_start(struct xk_rep *r, struct xk_errs *e)
{
	const struct port_conf *c = conf_of(r);

	for (uint64_t i = 0; i < c->conns; i++) {
		int err;

		if (!xk_app_is_here(r, i))
			continue;
		err = port_connect(r, i);
		if (err != XK_OK) {
			xk_errs_add(e, r->node->file, r->node->line, 0, "%s: cannot open connection %llu of %llu: %s",
				    r->node->name, (unsigned long long)i + 1, (unsigned long long)c->conns,
				    xk_strerror(err));
			return err;
		}
	}
	sink_watch(r);
	return XK_OK;
}

static int forget_visit(struct xk_mapnode *node, void *arg)
{
	(void)arg;
	port_forget(xk_container_of(node, struct xk_sess, map));
	return XK_MAP_KEEP;              /* it is unbound already */
}

static void port_rep_stop(struct xk_rep *r)
{
	sink_unwatch(r);
	xk_map_foreach(&r->active, forget_visit, NULL);
}

static int port_move(struct xk_rep *r, const struct xk_move *m)
{
	/* Memory is posted at the connection by the session that it was posted through. */
	return conf_of(r)->recv.post != 0 ? XK_E_NOTSUP : xk_app_move(r, m, key_of);
}

static int port_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	struct xk_app_counts c = sink_counts(r->state, &r->nsess_made);

	if (op == XK_CTL_MOVE)
		return port_move(r, buf);
	if (op == XK_CTL_APP_TIMES)
		return sink_answer_times(r->state, buf, len);
	return xk_app_answer(op, &c, buf, len);
}

static int port_check(const void *conf, char *why, size_t n)
{
	const struct port_conf *c = conf;
	int err = sink_check(&c->recv, c->recv.touch == TOUCH_COPY,
				  "messages are copied to: it goes with touch = \"copy\"", why, n);

	if (err != XK_OK)
		return err;
	if (c->conns != 0 && c->from == 0)
		snprintf(why, n, "conns opens connections and needs 'from', the address of the first peer");
	else if (c->from_port + (c->conns < PORTS_PER_HOST ? c->conns : PORTS_PER_HOST) > 65536)
		snprintf(why, n, "from_port %u leaves too few ports for %llu connections (16384 for each address)",
			 c->from_port, (unsigned long long)c->conns);
	else
		return XK_OK;
	return XK_E_INVAL;
}

static void port_review(const struct xk_view *v, struct xk_review *r)
{
	const struct port_conf *c = v->conf;

	if (c->conns == 0)
		xk_review_ports(r, v, "port", c->recv.port, c->recv.ports);
	else
		xk_review_reach(r, v, "from", c->from);
}

static const struct xk_ops port_ops = {
	.init = sink_init, .rep_init = port_rep_init, .rep_fini = sink_fini,
	.start = port_start, .stop = port_stop, .rep_start = port_rep_start, .rep_stop = port_rep_stop,
	.open_done = port_open_done, .close_done = port_close_done,
	.demux = port_demux, .demux_batch = port_demux_batch, .batch_many = true, .control = port_control,
};

static const char *const touches[] = { "copy", "line", "none", NULL };

#define P(field, t, d, text, ...) \
	{ .name = #field, .type = t, .def = d, .doc = text, .offset = offsetof(struct port_conf, field), ##__VA_ARGS__ }

static const struct xk_param port_params[] = {
	SINK_PARAMS_WHERE,
	SINK_P(touch, XK_P_ENUM, "copy", "copy each message to a page, read it through one cache line, or leave it", .choices = touches),
	SINK_P(count, XK_P_UINT, "0", "the graph may end after so many messages; 0: never"),
	SINK_P(sessions, XK_P_UINT, "4096", "passive: peers that each virtual processor remembers; others are received too",
	  .min = "1", .max = "1048576"),
	P(conns, XK_P_UINT, "0", "active: connections to open at start, by the graph's map; 0: passive", .max = "1048576"),
	P(from, XK_P_IPV4, NULL, "active: peer of the first 16384 connections; the next 16384 are of the next address"),
	P(from_port, XK_P_PORT, "20000", "active: first port of a peer"),
	SINK_PARAMS_TIMES,
	SINK_PARAMS_POST,
	XK_PARAM_END
};

#define POST_TEXT(id, text) text,
static const char *const port_counts[] = { "messages", "bytes", "not_kept", XK_DDP_COUNTS(POST_TEXT) "not_posted", NULL };

const struct xk_proto xk_proto_sink_port = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "sink",
	.doc = "over a port: receives, touches and counts messages by connection", .ops = &port_ops,
	.needs = { "port" }, .min_down = 1, .max_down = 1,
	.params = port_params, .conf_size = sizeof(struct port_conf),
	.rep_size = sizeof(struct sink), .sess_size = sizeof(struct port_sess),
	.check = port_check, .counts = port_counts,
	.review = port_review,
	.anywhere = XK_ANYWHERE,
};

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sink.c - receives messages on a range of ports, touches their bytes as an
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
#include "protocols/load/load_recv.h"
#include "runtime/base/xk_errs.h"
#include "runtime/upi/xk_app.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"
#include "runtime/upi/xk_vps.h"

#include <stdio.h>
#include <string.h>

#define PORTS_PER_HOST 16384u    /* as the template source counts */

enum { TOUCH_COPY, TOUCH_LINE, TOUCH_NONE };
enum { N_NOT_KEPT = LOAD_OWN, N_POST };  /* ORDER sink_counts */

struct sink_conf {
	struct load_recv_conf recv;
	uint64_t              conns;
	uint32_t              from;
	uint16_t              from_port;
};

struct sink_sess {
	struct xk_sess s;
	uint32_t       slot;
	struct xk_ddp *post;         /* NULL: nothing is posted */
};

static struct load_recv *recv_of(const struct xk_rep *r) { return r->state; }
static const struct sink_conf *conf_of(const struct xk_rep *r) { return r->conf; }

/* ---- sessions ------------------------------------------------------------------------ */

static struct xk_key key_of(const struct xk_sess *lls)
{
	return (struct xk_key){ { (uintptr_t)lls, 0 } };
}

/* Stands a session of ours over lls, with a reference that the caller has or
 * takes. */
static int sink_keep(struct xk_rep *r, struct xk_sess *lls, uint64_t no)
{
	struct load_recv *sr = r->state;
	struct xk_key k = key_of(lls);
	struct xk_sess *s;
	int err;

	if (!load_place_left(sr))
		return XK_E_NOSPC;
	s = xk_sess_create(r, NULL, r->node, lls);
	if (s == NULL)
		return XK_E_NOMEM;
	err = xk_sess_bind(s, &k);
	if (err != XK_OK) {
		xk_sess_destroy(s);
		return err;
	}
	((struct sink_sess *)s)->slot = load_place_take(sr, no);
	lls->up = &s->self;
	load_post(sr, &((struct sink_sess *)s)->post, lls, false, N_POST);
	return XK_OK;
}

static void sink_forget(struct xk_sess *s)
{
	struct xk_rep *r = s->rep;
	struct load_recv *sr = r->state;
	struct xk_sess *lls = s->down;

	xk_ddp_close(((struct sink_sess *)s)->post);
	load_place_give(sr, ((struct sink_sess *)s)->slot);
	lls->up = &r->up;
	xk_sess_destroy(s);
	xk_close(lls);
}

static int sink_open_done(struct xk_rep *r, struct xk_sess *lls, struct xk_node *type)
{
	struct load_recv *sr = r->state;
	uint64_t no = (uint64_t)sr->n * xk_node_nvps(r->node) + r->no;

	(void)type;
	if (sink_keep(r, lls, no) == XK_OK)
		xk_dup(lls);
	else                                     /* received all the same, one by one */
		xk_count(r->count[N_NOT_KEPT]);
	return XK_OK;
}

static void sink_close_done(struct xk_rep *r, struct xk_sess *lls)
{
	struct xk_key k = key_of(lls);
	struct xk_mapnode *n = xk_map_resolve(&r->active, &k);

	if (n != NULL)
		sink_forget(xk_container_of(n, struct xk_sess, map));
}

/* ---- messages ---------------------------------------------------------------------------- */

static inline void sink_touch(struct xk_rep *r, struct xk_msg *m)
{
	switch (conf_of(r)->recv.touch) {
	case TOUCH_COPY:
		if (XK_LIKELY(!(m->flags & XK_MSG_CHAIN) && m->len <= LOAD_BIGGEST))
			memcpy(recv_of(r)->page, m->data, m->len);
		else
			xk_msg_copy_out(m, 0, recv_of(r)->page,
					m->tot < LOAD_BIGGEST ? m->tot : LOAD_BIGGEST);
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
static bool sink_place(const struct xk_up *up, const struct xk_msg *m)
{
	struct xk_ddp *d;
	uint8_t *at;

	if (up == &up->rep->up)
		return false;
	d = ((struct sink_sess *)xk_container_of(up, struct xk_sess, self))->post;
	if (d == NULL || xk_ddp_receive(d, m, 0, &at) == 0)
		return false;
	xk_ddp_done(d, at, m->tot);
	return true;
}

static XK_NOINLINE void sink_consume(const struct xk_up *up, struct xk_msg *m)
{
	if (conf_of(up->rep)->recv.post == 0 || !sink_place(up, m))
		sink_touch(up->rep, m);
	xk_msg_free(m);
}

static void sink_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	struct xk_rep *r = up->rep;

	(void)lls;
	xk_count(r->npop);
	xk_count(r->count[LOAD_MESSAGES]);
	xk_count_add(r->count[LOAD_BYTES], m->tot);
	if (XK_LIKELY(up != &r->up)) {           /* a kept one: its session is our `up` */
		struct load_recv *sr = r->state;
		uint32_t i = ((struct sink_sess *)xk_container_of(up, struct xk_sess, self))->slot;

		xk_count(sr->messages[i]);
		xk_count_add(sr->bytes[i], m->tot);
	}
	if (conf_of(r)->recv.touch == TOUCH_NONE)
		xk_msg_free(m);
	else
		sink_consume(up, m);
}

/* Reads and frees all of f; returns the bytes of their descriptors. */
static uint64_t sink_consume_all(const struct xk_up *up, const struct xk_batch *f)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < f->n; i++) {
		bytes += f->m[i]->tot;
		xk_batch_materialise(f, f->m[i]);
		sink_consume(up, f->m[i]);
	}
	return bytes;
}

/* For one session of ours, or for none: counted and freed at once. */
static unsigned sink_demux_batch(struct xk_up *up, struct xk_sess *lls, const struct xk_batch *f)
{
	struct xk_rep *r = up->rep;
	struct load_recv *sr = r->state;
	uint64_t bytes;

	(void)lls;
	if (XK_LIKELY(conf_of(r)->recv.touch == TOUCH_NONE))
		bytes = xk_msg_free_all(f->m, f->n);
	else
		bytes = sink_consume_all(up, f);
	bytes -= (uint64_t)f->off * f->n;
	xk_count_add(r->npop, f->n);
	xk_count_add(r->count[LOAD_MESSAGES], f->n);
	xk_count_add(r->count[LOAD_BYTES], bytes);
	if (XK_LIKELY(up != &r->up)) {
		uint32_t k = ((struct sink_sess *)xk_container_of(up, struct xk_sess, self))->slot;

		xk_count_add(sr->messages[k], f->n);
		xk_count_add(sr->bytes[k], bytes);
	}
	return f->n;
}

/* ---- life --------------------------------------------------------------------------------------- */

static int sink_connect(struct xk_rep *r, uint64_t i)
{
	const struct sink_conf *c = conf_of(r);
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
	err = sink_keep(r, lls, i);
	if (err != XK_OK)
		xk_close(lls);
	return err;
}

static int sink_wait(struct xk_node *n, uint16_t port, struct xk_errs *e)
{
	struct xk_parts ps;
	int err;

	xk_parts_init(&ps, 1);
	xk_part_push_any(&ps.p[0]);
	xk_part_push_port(&ps.p[0], port);
	err = xk_open_enable(n, n, n->down[0], &ps);
	if (err != XK_OK)
		xk_errs_add(e, n->file, n->line, 0, "%s: cannot wait on port %u: %s", n->name, port, xk_strerror(err));
	return err;
}

static int sink_start(struct xk_node *n, struct xk_errs *e)
{
	return ((const struct sink_conf *)n->conf)->conns == 0 ? load_recv_wait(n, e, sink_wait) : XK_OK;
}

static void sink_stop(struct xk_node *n)
{
	if (((const struct sink_conf *)n->conf)->conns == 0)
		xk_open_disable_all(n, n->down[0]);
}

static uint64_t sink_here(const struct xk_rep *r)
{
	const struct sink_conf *c = conf_of(r);
	uint64_t n = 0;

	for (uint64_t i = 0; i < c->conns; i++)
		n += xk_app_is_here(r, i);
	return n;
}

static int sink_rep_init(struct xk_rep *r)
{
	const struct sink_conf *c = conf_of(r);

	return load_recv_alloc(r, c->conns != 0 ? sink_here(r) : c->recv.sessions, LOAD_BIGGEST);
}

static int sink_rep_start(struct xk_rep *r, struct xk_errs *e)
{
	const struct sink_conf *c = conf_of(r);

	for (uint64_t i = 0; i < c->conns; i++) {
		int err;

		if (!xk_app_is_here(r, i))
			continue;
		err = sink_connect(r, i);
		if (err != XK_OK) {
			xk_errs_add(e, r->node->file, r->node->line, 0, "%s: cannot open connection %llu of %llu: %s",
				    r->node->name, (unsigned long long)i + 1, (unsigned long long)c->conns,
				    xk_strerror(err));
			return err;
		}
	}
	load_recv_watch(r);
	return XK_OK;
}

static int forget_visit(struct xk_mapnode *node, void *arg)
{
	(void)arg;
	sink_forget(xk_container_of(node, struct xk_sess, map));
	return XK_MAP_KEEP;              /* it is unbound already */
}

static void sink_rep_stop(struct xk_rep *r)
{
	load_recv_unwatch(r);
	xk_map_foreach(&r->active, forget_visit, NULL);
}

static int sink_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	struct xk_app_counts c = load_recv_counts(r->state, &r->nsess_made);

	return xk_app_answer(op, &c, buf, len);
}

static int sink_check(const void *conf, char *why, size_t n)
{
	const struct sink_conf *c = conf;
	int err = load_recv_check(&c->recv, c->recv.touch == TOUCH_COPY,
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

static void sink_review(const struct xk_view *v, struct xk_review *r)
{
	const struct sink_conf *c = v->conf;

	if (c->conns == 0)
		xk_review_ports(r, v, "port", c->recv.port, c->recv.ports);
	else
		xk_review_reach(r, v, "from", c->from);
}

static const struct xk_ops sink_ops = {
	.init = load_recv_init, .rep_init = sink_rep_init, .rep_fini = load_recv_fini,
	.start = sink_start, .stop = sink_stop, .rep_start = sink_rep_start, .rep_stop = sink_rep_stop,
	.open_done = sink_open_done, .close_done = sink_close_done,
	.demux = sink_demux, .demux_batch = sink_demux_batch, .control = sink_control,
};

static const char *const touches[] = { "copy", "line", "none", NULL };

#define P(field, t, d, text, ...) \
	{ .name = #field, .type = t, .def = d, .doc = text, .offset = offsetof(struct sink_conf, field), ##__VA_ARGS__ }

static const struct xk_param sink_params[] = {
	LOAD_RECV_PARAMS_WHERE,
	LOAD_RECV_P(touch, XK_P_ENUM, "copy", "copy each message to a page, read it through one cache line, or leave it", .choices = touches),
	LOAD_RECV_P(count, XK_P_UINT, "0", "the graph may end after so many messages; 0: never"),
	LOAD_RECV_P(sessions, XK_P_UINT, "4096", "passive: peers that each virtual processor remembers; others are received too",
	  .min = "1", .max = "1048576"),
	P(conns, XK_P_UINT, "0", "active: connections to open at start, by the graph's map; 0: passive", .max = "1048576"),
	P(from, XK_P_IPV4, NULL, "active: peer of the first 16384 connections; the next 16384 are of the next address"),
	P(from_port, XK_P_PORT, "20000", "active: first port of a peer"),
	LOAD_RECV_PARAMS_POST,
	XK_PARAM_END
};

#define POST_TEXT(id, text) text,
static const char *const sink_counts[] = { "messages", "bytes", "not_kept", XK_DDP_COUNTS(POST_TEXT) "not_posted", NULL };

const struct xk_proto xk_proto_sink = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "sink",
	.doc = "receives, touches and counts messages by connection", .ops = &sink_ops,
	.needs = { "port" }, .min_down = 1, .max_down = 1,
	.params = sink_params, .conf_size = sizeof(struct sink_conf),
	.rep_size = sizeof(struct load_recv), .sess_size = sizeof(struct sink_sess),
	.check = sink_check, .counts = sink_counts,
	.review = sink_review,
	.anywhere = XK_ANYWHERE,
};

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
 * message are wanted, and a driver may have put them there (xk_deposit.h).
 * Counts are per VP and nobody shares a line; whether `count` is reached is
 * looked at by a timer.
 * Invariant: each kept lower session has `up` set to one session of ours.
 */
#include "runtime/upi/xk_app.h"
#include "runtime/upi/xk_deposit.h"
#include "runtime/upi/xk_review.h"
#include "runtime/upi/xk_upi_inline.h"

#include <stdio.h>
#include <string.h>

#define PAGE 4096u
#define BIGGEST 65536u           /* of one message: the page it is copied to */
#define PORTS_PER_HOST 16384u    /* as the template source counts */
#define LOOK_EVERY XK_MS

enum { TOUCH_COPY, TOUCH_LINE, TOUCH_NONE };
enum { N_MESSAGES, N_BYTES, N_NOT_KEPT, N_POST };  /* ORDER sink_counts */

struct sink_conf {
	uint64_t ports, conns, count, sessions, post, post_least;
	uint32_t from;
	uint16_t port, from_port;
	unsigned touch;
};

struct sink_sess {
	struct xk_sess s;
	uint32_t       slot;
	struct xk_deposit *post;         /* NULL: nothing is posted */
};

struct sink_rep {
	struct xk_rep   *r;
	xk_counter      *messages, *bytes;  /* [cap] */
	uint64_t        *no;                /* [cap] */
	uint32_t        *spare;             /* slots given back */
	uint32_t         nspare, n, cap;    /* n: slots ever used */
	uint8_t         *page;
	void            *page_block;
	struct xk_timer  timer;             /* first VP, count != 0 */
};

static const struct sink_conf *conf_of(const struct xk_rep *r) { return r->conf; }

/* ---- sessions ------------------------------------------------------------------------ */

static struct xk_key key_of(const struct xk_sess *lls)
{
	return (struct xk_key){ { (uintptr_t)lls, 0 } };
}

static uint32_t slot_take(struct sink_rep *sr, uint64_t no)
{
	uint32_t i = sr->nspare != 0 ? sr->spare[--sr->nspare] : sr->n;

	xk_store_relaxed(&sr->no[i], no);        /* a runner may be reading */
	if (i == sr->n)
		xk_store_release(&sr->n, i + 1);
	return i;
}

/* Memory for what comes by lls; without it messages are copied to the page. */
static void sink_post(struct sink_sess *ss, struct xk_sess *lls)
{
	const struct sink_conf *c = conf_of(ss->s.rep);
	struct xk_deposit_conf d = { (uint32_t)c->post, (uint32_t)c->post_least, false, &ss->s.rep->count[N_POST] };

	if (c->post != 0 && xk_deposit_open(&ss->post, lls, &d) != XK_OK)
		xk_count(ss->s.rep->count[N_POST + XK_DEPOSIT_N]);
}

/* Stands a session of ours over lls, with a reference that the caller has or
 * takes. */
static int sink_keep(struct xk_rep *r, struct xk_sess *lls, uint64_t no)
{
	struct sink_rep *sr = r->state;
	struct xk_key k = key_of(lls);
	struct xk_sess *s;
	int err;

	if (sr->nspare == 0 && sr->n == sr->cap)
		return XK_E_NOSPC;
	s = xk_sess_create(r, NULL, r->node, lls);
	if (s == NULL)
		return XK_E_NOMEM;
	err = xk_sess_bind(s, &k);
	if (err != XK_OK) {
		xk_sess_destroy(s);
		return err;
	}
	((struct sink_sess *)s)->slot = slot_take(sr, no);
	lls->up = &s->self;
	sink_post((struct sink_sess *)s, lls);
	return XK_OK;
}

static void sink_forget(struct xk_sess *s)
{
	struct xk_rep *r = s->rep;
	struct sink_rep *sr = r->state;
	struct xk_sess *lls = s->down;

	xk_deposit_close(((struct sink_sess *)s)->post);
	sr->spare[sr->nspare++] = ((struct sink_sess *)s)->slot;
	lls->up = &r->up;
	xk_sess_destroy(s);
	xk_close(lls);
}

static int sink_open_done(struct xk_rep *r, struct xk_sess *lls, struct xk_node *type)
{
	struct sink_rep *sr = r->state;
	uint64_t no = (uint64_t)sr->n * r->vp->set->nvps + r->vp->no;

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
	switch (conf_of(r)->touch) {
	case TOUCH_COPY:
		if (XK_LIKELY(!(m->flags & XK_MSG_CHAIN) && m->len <= BIGGEST))
			memcpy(((struct sink_rep *)r->state)->page, m->data, m->len);
		else
			xk_msg_copy_out(m, 0, ((struct sink_rep *)r->state)->page,
					m->tot < BIGGEST ? m->tot : BIGGEST);
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
	struct xk_deposit *d;
	uint8_t *at;

	if (up == &up->rep->up)
		return false;
	d = ((struct sink_sess *)xk_container_of(up, struct xk_sess, self))->post;
	if (d == NULL || xk_deposit_receive(d, m, 0, &at) == 0)
		return false;
	xk_deposit_done(d, at, m->tot);
	return true;
}

static XK_NOINLINE void sink_consume(const struct xk_up *up, struct xk_msg *m)
{
	if (conf_of(up->rep)->post == 0 || !sink_place(up, m))
		sink_touch(up->rep, m);
	xk_msg_free(m);
}

static void sink_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	struct xk_rep *r = up->rep;

	(void)lls;
	xk_count(r->npop);
	xk_count(r->count[N_MESSAGES]);
	xk_count_add(r->count[N_BYTES], m->tot);
	if (XK_LIKELY(up != &r->up)) {           /* a kept one: its session is our `up` */
		struct sink_rep *sr = r->state;
		uint32_t i = ((struct sink_sess *)xk_container_of(up, struct xk_sess, self))->slot;

		xk_count(sr->messages[i]);
		xk_count_add(sr->bytes[i], m->tot);
	}
	if (conf_of(r)->touch == TOUCH_NONE)
		xk_msg_free(m);
	else
		sink_consume(up, m);
}

/* Reads and frees all of f; returns the bytes of their descriptors. */
static uint64_t sink_consume_all(const struct xk_up *up, const struct xk_frames *f)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < f->n; i++) {
		bytes += f->m[i]->tot;
		xk_frames_settle(f, f->m[i]);
		sink_consume(up, f->m[i]);
	}
	return bytes;
}

/* For one session of ours, or for none: counted and freed at once. */
static unsigned sink_demux_frames(struct xk_up *up, struct xk_sess *lls, const struct xk_frames *f)
{
	struct xk_rep *r = up->rep;
	struct sink_rep *sr = r->state;
	uint64_t bytes;

	(void)lls;
	if (XK_LIKELY(conf_of(r)->touch == TOUCH_NONE))
		bytes = xk_msg_free_all(f->m, f->n);
	else
		bytes = sink_consume_all(up, f);
	bytes -= (uint64_t)f->off * f->n;
	xk_count_add(r->npop, f->n);
	xk_count_add(r->count[N_MESSAGES], f->n);
	xk_count_add(r->count[N_BYTES], bytes);
	if (XK_LIKELY(up != &r->up)) {
		uint32_t k = ((struct sink_sess *)xk_container_of(up, struct xk_sess, self))->slot;

		xk_count_add(sr->messages[k], f->n);
		xk_count_add(sr->bytes[k], bytes);
	}
	return f->n;
}

/* ---- the end of a run ------------------------------------------------------------------------ */

static void sink_look(struct xk_timer *t)
{
	struct sink_rep *sr = xk_container_of(t, struct sink_rep, timer);
	const struct xk_node *n = sr->r->node;
	uint64_t got = 0;

	for (unsigned i = 0; i < n->graph->vps->nvps; i++)
		got += xk_counter_read(n->rep[i]->count[N_MESSAGES]);
	if (got >= conf_of(sr->r)->count)
		xk_graph_finished(n->graph);
	else
		xk_timer_set(&sr->r->vp->wheel, t, xk_vp_now() + LOOK_EVERY);
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
	xk_part_push_port(&ps.p[XK_LOCAL], (uint16_t)(c->port + i % c->ports));
	lls = xk_open(r, r->node, r->down[0], &ps, &err);
	if (lls == NULL)
		return err;
	err = sink_keep(r, lls, i);
	if (err != XK_OK)
		xk_close(lls);
	return err;
}

static int sink_enable(struct xk_node *n, uint64_t i)
{
	const struct sink_conf *c = n->conf;
	struct xk_parts ps;

	xk_parts_init(&ps, 1);
	xk_part_push_any(&ps.p[0]);
	xk_part_push_port(&ps.p[0], (uint16_t)(c->port + i));
	return xk_open_enable(n, n, n->down[0], &ps);
}

static int sink_start(struct xk_node *n, struct xk_errs *e)
{
	const struct sink_conf *c = n->conf;

	for (uint64_t i = 0; c->conns == 0 && i < c->ports; i++) {
		int err = sink_enable(n, i);

		if (err == XK_OK)
			continue;
		xk_errs_add(e, n->file, n->line, 0, "%s: cannot wait on port %llu: %s", n->name,
			    (unsigned long long)(c->port + i), xk_strerror(err));
		xk_open_disable_all(n, n->down[0]);
		return err;
	}
	return XK_OK;
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
		n += xk_graph_vp_of(r->node->graph, i) == r->vp;
	return n;
}

static int sink_rep_init(struct xk_rep *r)
{
	const struct sink_conf *c = conf_of(r);
	struct sink_rep *sr = r->state;

	sr->r = r;
	xk_timer_init(&sr->timer, sink_look);
	sr->cap = (uint32_t)(c->conns != 0 ? sink_here(r) : c->sessions);
	sr->messages = xk_alloc((sr->cap + 1) * (3 * sizeof *sr->messages + sizeof *sr->spare));
	sr->page_block = xk_alloc(BIGGEST + PAGE);
	if (sr->messages == NULL || sr->page_block == NULL) {
		xk_free(sr->messages);
		xk_free(sr->page_block);
		return XK_E_NOMEM;
	}
	sr->bytes = sr->messages + sr->cap;
	sr->no = sr->bytes + sr->cap;
	sr->spare = (uint32_t *)(sr->no + sr->cap);
	sr->page = (void *)(((uintptr_t)sr->page_block + PAGE - 1) & ~(uintptr_t)(PAGE - 1));
	return XK_OK;
}

static void sink_rep_fini(struct xk_rep *r)
{
	struct sink_rep *sr = r->state;

	xk_free(sr->messages);
	xk_free(sr->page_block);
}

static int sink_rep_start(struct xk_rep *r, struct xk_errs *e)
{
	const struct sink_conf *c = conf_of(r);
	struct sink_rep *sr = r->state;

	for (uint64_t i = 0; i < c->conns; i++) {
		int err;

		if (xk_graph_vp_of(r->node->graph, i) != r->vp)
			continue;
		err = sink_connect(r, i);
		if (err != XK_OK) {
			xk_errs_add(e, r->node->file, r->node->line, 0, "%s: cannot open connection %llu of %llu: %s",
				    r->node->name, (unsigned long long)i + 1, (unsigned long long)c->conns,
				    xk_strerror(err));
			return err;
		}
	}
	if (c->count != 0 && r->vp->no == 0)
		xk_timer_set(&r->vp->wheel, &sr->timer, xk_vp_now() + LOOK_EVERY);
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
	xk_timer_cancel(&r->vp->wheel, &((struct sink_rep *)r->state)->timer);
	xk_map_foreach(&r->active, forget_visit, NULL);
}

static int sink_init(struct xk_node *n, struct xk_errs *e)
{
	(void)e;
	if (((const struct sink_conf *)n->conf)->count != 0)
		xk_graph_will_finish(n->graph);
	return XK_OK;
}

static int sink_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	const struct sink_rep *sr = r->state;
	struct xk_app_counts c = { xk_load_acquire(&sr->n), sr->messages, sr->bytes, sr->no, NULL, &r->nsess_made };

	return xk_app_answer(op, &c, buf, len);
}

static int sink_check(const void *conf, char *why, size_t n)
{
	const struct sink_conf *c = conf;

	if (c->port + c->ports > 65536)
		snprintf(why, n, "port %u plus %llu ports passes 65535", c->port, (unsigned long long)c->ports);
	else if (c->conns != 0 && c->from == 0)
		snprintf(why, n, "conns opens connections and needs 'from', the address of the first peer");
	else if (c->from_port + (c->conns < PORTS_PER_HOST ? c->conns : PORTS_PER_HOST) > 65536)
		snprintf(why, n, "from_port %u leaves too few ports for %llu connections (16384 for each address)",
			 c->from_port, (unsigned long long)c->conns);
	else if (c->post != 0 && (c->post < XK_DEPOSIT_MIN || c->touch != TOUCH_COPY))
		snprintf(why, n, "post is where messages are copied to: it goes with touch = \"copy\" and takes at least %u bytes",
			 XK_DEPOSIT_MIN);
	else
		return XK_OK;
	return XK_E_INVAL;
}

static void sink_review(const struct xk_view *v, struct xk_review *r)
{
	const struct sink_conf *c = v->conf;

	if (c->conns == 0)
		xk_review_ports(r, v, "port", c->port, c->ports);
	else
		xk_review_reach(r, v, "from", c->from);
}

static const struct xk_ops sink_ops = {
	.init = sink_init, .rep_init = sink_rep_init, .rep_fini = sink_rep_fini,
	.start = sink_start, .stop = sink_stop, .rep_start = sink_rep_start, .rep_stop = sink_rep_stop,
	.open_done = sink_open_done, .close_done = sink_close_done,
	.demux = sink_demux, .demux_frames = sink_demux_frames, .control = sink_control,
};

static const char *const touches[] = { "copy", "line", "none", NULL };

#define P(field, t, d, text, ...) \
	{ .name = #field, .type = t, .def = d, .doc = text, .offset = offsetof(struct sink_conf, field), ##__VA_ARGS__ }

static const struct xk_param sink_params[] = {
	P(port, XK_P_PORT, "9", "first port to wait on", .min = "1"),
	P(ports, XK_P_UINT, "1", "consecutive ports", .min = "1", .max = "65535"),
	P(touch, XK_P_ENUM, "copy", "copy each message to a page, read it through one cache line, or leave it", .choices = touches),
	P(count, XK_P_UINT, "0", "the graph may end after so many messages; 0: never"),
	P(sessions, XK_P_UINT, "4096", "passive: peers that each virtual processor remembers; others are received too",
	  .min = "1", .max = "1048576"),
	P(conns, XK_P_UINT, "0", "active: connections to open at start, by the graph's map; 0: passive", .max = "1048576"),
	P(from, XK_P_IPV4, NULL, "active: peer of the first 16384 connections; the next 16384 are of the next address"),
	P(from_port, XK_P_PORT, "20000", "active: first port of a peer"),
	XK_DEPOSIT_PARAMS(struct sink_conf, post, post_least),
	XK_PARAM_END
};

#define POST_TEXT(id, text) text,
static const char *const sink_counts[] = { "messages", "bytes", "not_kept", XK_DEPOSIT_COUNTS(POST_TEXT) "not_posted", NULL };

const struct xk_proto xk_proto_sink = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "sink",
	.doc = "receives, touches and counts messages by connection", .ops = &sink_ops,
	.needs = { "port" }, .min_down = 1, .max_down = 1,
	.params = sink_params, .conf_size = sizeof(struct sink_conf),
	.rep_size = sizeof(struct sink_rep), .sess_size = sizeof(struct sink_sess),
	.check = sink_check, .counts = sink_counts,
	.review = sink_review,
	.anywhere = XK_ANYWHERE,
};

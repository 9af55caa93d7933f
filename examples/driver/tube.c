/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tube.c - a driver outside the tree: a long tube, out of which comes what went in, after a while.
 *
 * It offers a port, so applications stand right over it; a real driver would give its messages to a device instead.
 * A session has a queue and one timer for its oldest message.  All of it runs inside the session's virtual processor.
 */
#include <xk/proto.h>

struct tube_conf { uint64_t length, room; };     /* nanoseconds, messages */
struct tube_msg { struct xk_msg *m; xk_ns due; };
struct tube_sess { struct xk_sess s; struct xk_timer timer; struct tube_msg *ring; uint64_t first, n; };
enum { DROP_FULL = XK_DROP_FIRST };              /* as in tube_drops */
enum { N_THROUGH };                              /* as in tube_counts */

static struct tube_sess *tube_of(struct xk_sess *s) { return xk_container_of(s, struct tube_sess, s); }
static const struct tube_conf *conf_of(const struct xk_sess *s) { return s->rep->conf; }

/* Whoever is above may close the session while it is given a message: so it is held meanwhile. */
static void tube_due(struct xk_timer *t)
{
	struct tube_sess *ts = xk_container_of(t, struct tube_sess, timer);
	xk_ns now = xk_vp_now();

	xk_dup(&ts->s);
	while (ts->n != 0 && ts->ring[ts->first].due <= now) {
		struct xk_msg *m = ts->ring[ts->first].m;

		ts->first = (ts->first + 1) % conf_of(&ts->s)->room;
		ts->n--;
		xk_count(ts->s.rep->count[N_THROUGH]);
		xk_msg_reset_rx(m);
		m->u.name = 0;
		xk_demux(&ts->s, m);
	}
	if (ts->n != 0)
		xk_timer_set(ts->s.rep->wheel, t, ts->ring[ts->first].due);
	xk_close(&ts->s);
}

static void tube_push(struct xk_sess *s, struct xk_msg *m)
{
	struct tube_sess *ts = tube_of(s);
	const struct tube_conf *c = conf_of(s);
	xk_ns due = xk_vp_now() + c->length;

	if (ts->n == c->room) {
		xk_drop(s->rep, DROP_FULL, m);
		return;
	}
	ts->ring[(ts->first + ts->n++) % c->room] = (struct tube_msg){ m, due };
	if (ts->n == 1)
		xk_timer_set(s->rep->wheel, &ts->timer, due);
}

static struct xk_sess *tube_open(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type, struct xk_parts *ps,
				 int *err)
{
	struct tube_msg *ring = xk_alloc(((const struct tube_conf *)r->conf)->room * sizeof *ring);
	struct xk_sess *s = ring != NULL ? xk_sess_create(r, &rcv->up, type, NULL) : NULL;

	(void)ps;                                /* there is one other end */
	*err = s != NULL ? XK_OK : XK_E_NOMEM;
	if (s == NULL) {
		xk_free(ring);
		return NULL;
	}
	tube_of(s)->ring = ring;
	xk_timer_init(&tube_of(s)->timer, tube_due);
	return s;
}

static void tube_close(struct xk_sess *s)
{
	struct tube_sess *ts = tube_of(s);

	xk_timer_cancel(s->rep->wheel, &ts->timer);
	for (; ts->n != 0; ts->n--, ts->first = (ts->first + 1) % conf_of(s)->room)
		xk_msg_free(ts->ring[ts->first].m);
	xk_free(ts->ring);
	xk_sess_destroy(s);
}

static int tube_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	(void)r;
	return op == XK_CTL_GETMAXPACKET || op == XK_CTL_GETOPTPACKET ? xk_answer32(buf, len, 65507) : XK_E_NOTSUP;
}
static const struct xk_ops tube_ops = {
	.open = tube_open, .close = tube_close, .push = tube_push, .control = tube_control,
};
#define AT(f) .offset = offsetof(struct tube_conf, f)
static const struct xk_param tube_params[] = {
	{ .name = "length", .type = XK_P_TIME, .def = "3ms", .max = "10s",
	  .doc = "how long a message is inside", AT(length) },
	{ .name = "room", .type = XK_P_UINT, .def = "64", .min = "1", .max = "65536",
	  .doc = "messages inside", AT(room) },
	XK_PARAM_END
};
static const char *const tube_drops[] = { "tube_full", NULL };
static const char *const tube_counts[] = { "through", NULL };

static const struct xk_proto tube = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "tube", .doc = "what goes in comes out after a while",
	.is_driver = true, .ops = &tube_ops, .offers = "port",
	.params = tube_params, .conf_size = sizeof(struct tube_conf), .sess_size = sizeof(struct tube_sess), .drops = tube_drops, .counts = tube_counts,
};
XK_PLUGIN(&tube);

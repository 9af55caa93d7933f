/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * relay.c - passes messages on between two interfaces: what a peer sends to a port of the one goes to a
 * host and port of the other, and what that answers goes back.
 *
 * For each peer a connection of its own is opened on the far side, and the two end together; a pair over
 * which nothing has gone for `idle_timeout` ends, too.  What is between two networks is one of these.
 * Invariant: a side is bound under its session below, holds a reference to it, and has another side
 * unless the graph is stopping; near sides are listed in order of the last message.
 */
#include "runtime/base/xk_list.h"
#include "runtime/upi/xk_app.h"
#include "runtime/upi/xk_part.h"
#include "runtime/upi/xk_proto.h"
#include "runtime/upi/xk_review.h"
#include "runtime/vp/xk_task.h"
#include "runtime/vp/xk_timer.h"

enum { NEAR, FAR };
enum { DROP_STRAY = XK_DROP_FIRST };     /* ORDER relay_drops */
enum { N_OUT, N_BACK, N_PAIRS, N_FAILED, N_ENDED, N_IDLE };  /* ORDER relay_counts */

struct relay_conf {
	uint16_t port, to_port;
	uint32_t to;
	uint64_t sessions, idle_timeout;
};

struct relay_rep { struct xk_rep *rep; struct xk_list pairs; struct xk_timer timer; };

/* What relay keeps of a session below. */
struct side {
	struct xk_sess   s;
	struct side     *other;
	struct xk_listed listed;         /* near sides */
	xk_ns            since;
	bool             is_near;
};

static const struct relay_conf *conf_of(const struct xk_rep *r) { return r->conf; }
static struct side *side_of(struct xk_sess *s) { return xk_container_of(s, struct side, s); }
static struct xk_key key_of(const struct xk_sess *lls) { return (struct xk_key){ { (uintptr_t)lls, 0 } }; }

/* ---- pairs ------------------------------------------------------------------------------ */

static void later(struct relay_rep *rr)
{
	const struct xk_listed *i = xk_list_first(&rr->pairs);
	xk_ns timeout = conf_of(rr->rep)->idle_timeout;

	if (i != NULL && timeout != 0)
		xk_timer_set(rr->rep->wheel, &rr->timer, xk_container_of(i, struct side, listed)->since + timeout);
}

/* Takes the reference to lls either way. */
static struct side *side_new(struct xk_rep *r, struct xk_sess *lls, bool is_near)
{
	struct xk_key k = key_of(lls);
	struct xk_sess *s = xk_sess_create(r, NULL, r->node, lls);

	if (s != NULL && xk_sess_bind(s, &k) == XK_OK) {
		side_of(s)->other = NULL;
		side_of(s)->listed = (struct xk_listed){ NULL, NULL };
		side_of(s)->is_near = is_near;
		return side_of(s);
	}
	if (s != NULL)
		xk_sess_destroy(s);
	xk_close(lls);
	return NULL;
}

static void side_end(struct side *d)
{
	struct xk_sess *lls = d->s.down;

	xk_list_take(&d->listed);
	if (d->other != NULL)
		d->other->other = NULL;
	xk_sess_destroy(&d->s);          /* unbinds */
	xk_close(lls);
}

static void pair_end(struct side *d, unsigned why)
{
	struct side *other = d->other;

	xk_count(d->s.rep->count[why]);
	side_end(d);
	if (other != NULL)
		side_end(other);
}

static void idle(struct xk_timer *t)
{
	struct relay_rep *rr = xk_container_of(t, struct relay_rep, timer);
	xk_ns now = xk_vp_now(), timeout = conf_of(rr->rep)->idle_timeout;
	struct xk_listed *i;

	while ((i = xk_list_first(&rr->pairs)) != NULL) {
		struct side *d = xk_container_of(i, struct side, listed);

		if (d->since + timeout > now)
			break;
		pair_end(d, N_IDLE);
	}
	later(rr);
}

static void touch(struct side *near)
{
	struct relay_rep *rr = near->s.rep->state;

	near->since = xk_vp_now();
	xk_list_take(&near->listed);
	xk_list_put(&rr->pairs, &near->listed);
	if (!xk_timer_armed(&rr->timer))
		later(rr);
}

static struct xk_sess *open_far(struct xk_rep *r, int *err)
{
	struct xk_parts ps;

	xk_parts_init(&ps, 2);
	xk_part_push_host(&ps.p[XK_REMOTE], conf_of(r)->to);
	xk_part_push_port(&ps.p[XK_REMOTE], conf_of(r)->to_port);
	xk_part_push_any(&ps.p[XK_LOCAL]);
	xk_part_push_any(&ps.p[XK_LOCAL]);
	return xk_open(r, r->node, r->down[FAR], &ps, err);
}

/* A peer comes: who cannot be brought further is refused. */
static int relay_open_done(struct xk_rep *r, struct xk_sess *lls, struct xk_node *type)
{
	struct xk_sess *far_lls = NULL;
	struct side *near, *far;
	int err = XK_E_NOSPC;

	(void)type;
	if (xk_map_count(&r->active) / 2 < conf_of(r)->sessions)
		far_lls = open_far(r, &err);
	if (far_lls == NULL) {
		xk_count(r->count[N_FAILED]);
		return err;
	}
	far = side_new(r, far_lls, false);
	near = far != NULL ? side_new(r, xk_dup(lls), true) : NULL;
	if (near == NULL) {
		if (far != NULL)
			side_end(far);
		xk_count(r->count[N_FAILED]);
		return XK_E_NOMEM;
	}
	near->other = far;
	far->other = near;
	xk_count(r->count[N_PAIRS]);
	touch(near);
	return XK_OK;
}

static struct side *find(struct xk_rep *r, const struct xk_sess *lls)
{
	struct xk_key k = key_of(lls);
	struct xk_mapnode *n = xk_map_resolve(&r->active, &k);

	return n != NULL ? xk_container_of(n, struct side, s.map) : NULL;
}

static void relay_close_done(struct xk_rep *r, struct xk_sess *lls)
{
	struct side *d = find(r, lls);

	if (d != NULL)
		pair_end(d, N_ENDED);
}

/* ---- messages -------------------------------------------------------------------------------- */

static void relay_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	struct xk_rep *r = up->rep;
	struct side *d = find(r, lls);

	xk_count(r->npop);
	if (d == NULL || d->other == NULL) {
		xk_drop(r, DROP_STRAY, m);
		return;
	}
	xk_count(r->count[d->is_near ? N_OUT : N_BACK]);
	touch(d->is_near ? d : d->other);
	xk_msg_reset_rx(m);
	xk_push(d->other->s.down, m);
}

/* ---- life ---------------------------------------------------------------------------------------- */

static int relay_rep_init(struct xk_rep *r)
{
	struct relay_rep *rr = r->state;

	rr->rep = r;
	xk_timer_init(&rr->timer, idle);
	return XK_OK;
}

static int relay_start(struct xk_node *n, struct xk_errs *e)
{
	return xk_app_listen(n, ((const struct relay_conf *)xk_node_conf(n))->port, e);
}

static void relay_stop(struct xk_node *n)
{
	xk_open_disable_all(n, xk_node_down(n, NEAR));
}

static int end_visit(struct xk_mapnode *n, void *arg)
{
	(void)arg;
	side_end(xk_container_of(n, struct side, s.map));
	return XK_MAP_KEEP;              /* it is unbound already */
}

static void relay_rep_stop(struct xk_rep *r)
{
	xk_timer_cancel(r->wheel, &((struct relay_rep *)r->state)->timer);
	xk_map_foreach(&r->active, end_visit, NULL);
}

/* ---- schema ---------------------------------------------------------------------------------------- */

static void relay_review(const struct xk_view *v, struct xk_review *r)
{
	const struct relay_conf *c = v->conf;
	uint32_t to = c->to;
	int res = xk_view_ask(v->down[FAR], XK_ASK_REACH, &to, sizeof to);

	xk_review_ports(r, v, "port", c->port, 1);
	if (res >= 0 && res != XK_REACH_YES)
		xk_review_fault(r, v, "to", "%u.%u.%u.%u cannot be sent to by %s, the far side", to >> 24, to >> 16 & 255,
				to >> 8 & 255, to & 255, v->down[FAR]->name);
}

#define AT(f) .offset = offsetof(struct relay_conf, f)
static const struct xk_param relay_params[] = {
	{ .name = "port", .type = XK_P_PORT, .min = "1", .flags = XK_PF_REQUIRED, AT(port), .doc = "port to wait on, of the first node below" },
	{ .name = "to", .type = XK_P_IPV4, .flags = XK_PF_REQUIRED, AT(to), .doc = "the host to which messages go, by the second" },
	{ .name = "to_port", .type = XK_P_PORT, .min = "1", .flags = XK_PF_REQUIRED, AT(to_port), .doc = "and its port" },
	{ .name = "sessions", .type = XK_P_UINT, .def = "65536", .min = "1", .max = "16777216", AT(sessions),
	  .doc = "most peers of a virtual processor at a time" },
	{ .name = "idle_timeout", .type = XK_P_TIME, .def = "10m", .max = "24h", AT(idle_timeout),
	  .doc = "a peer of which nothing comes, and to which nothing goes, for so long is given up; 0s: it is not" },
	XK_PARAM_END
};

static const char *const relay_drops[] = { "stray", NULL };
static const char *const relay_counts[] = { "out", "back", "pairs", "refused", "ended", "idle", NULL };

static const struct xk_ops relay_ops = {
	.rep_init = relay_rep_init, .start = relay_start, .stop = relay_stop, .rep_stop = relay_rep_stop,
	.open_done = relay_open_done, .close_done = relay_close_done, .demux = relay_demux,
};

const struct xk_proto xk_proto_relay = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "relay",
	.doc = "passes messages on between two interfaces, a connection there for each peer here",
	.ops = &relay_ops, .needs = { "port", "port" }, .min_down = 2, .max_down = 2,
	.params = relay_params, .conf_size = sizeof(struct relay_conf), .rep_size = sizeof(struct relay_rep),
	.sess_size = sizeof(struct side), .review = relay_review,
	.drops = relay_drops, .counts = relay_counts,
};

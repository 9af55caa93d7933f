/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * compute.c - sends a message, computes, and again: how much of sending is hidden behind computing?
 *
 * The test program of Park, Lee, Hariri 1998 (figure 9).  One connection; a turn of its task is a slice of
 * computing, so what else the virtual processor has to do, threads of stages among it, has turns in between: the
 * slices are what the paper's threads call yield.  In virtual time, in which computing takes none, it waits.
 * Invariant: a message is pushed where no computing is left.
 */
#include "runtime/upi/xk_app.h"
#include "runtime/upi/xk_part.h"
#include "runtime/upi/xk_review.h"
#include "runtime/vp/xk_task.h"
#include "runtime/vp/xk_timer.h"

enum { N_MESSAGES, N_BYTES };

struct compute_conf { uint32_t to; uint16_t port; uint64_t size, time, slice, count; };

struct compute_rep {
	struct xk_rep  *r;
	struct xk_sess *s;               /* NULL: not on this VP, or gone */
	struct xk_task  task;
	struct xk_timer timer;
	xk_ns           left;            /* to be computed */

	bool            over;
};

static const struct compute_conf *conf_of(const struct xk_rep *r) { return r->conf; }

/* false: no memory; tried again at the next turn. */
static bool send_one(struct compute_rep *cr)
{
	static const uint8_t zero[4096];
	struct xk_rep *r = cr->r;
	const struct compute_conf *c = conf_of(r);
	struct xk_msg *m = xk_msg_new((uint32_t)c->size);

	if (m == NULL) {
		xk_dropped(r, XK_DROP_NOMEM, 1);
		return false;
	}
	for (uint32_t off = 0; off < m->tot; off += sizeof zero)
		xk_msg_copy_in(m, off, zero, m->tot - off < sizeof zero ? m->tot - off : (uint32_t)sizeof zero);
	cr->left = c->time;
	xk_push(cr->s, m);
	return true;
}

static void done_one(struct compute_rep *cr)
{
	struct xk_rep *r = cr->r;
	const struct compute_conf *c = conf_of(r);

	xk_count(r->count[N_MESSAGES]);
	xk_count_add(r->count[N_BYTES], c->size);
	if (c->count != 0 && r->count[N_MESSAGES] == c->count) {
		cr->over = true;
		xk_app_finished(r->node);
	}
}

/* Computes for at most a slice; in virtual time waits for all that is left. */
static void compute(struct compute_rep *cr)
{
	const struct compute_conf *c = conf_of(cr->r);
	xk_ns from = xk_vp_clock(cr->r->vp), now = from;
	xk_ns slice = cr->left < c->slice ? cr->left : c->slice;

	for (unsigned i = 0; now - from < slice; i++) {
		now = xk_vp_clock(cr->r->vp);
		if (i == 1000 && now == from) {  /* it does not move while we look */
			xk_task_park(&cr->task);
			xk_timer_set(cr->r->wheel, &cr->timer, now + cr->left);
			return;
		}
	}
	cr->left -= now - from < cr->left ? now - from : cr->left;
}

static unsigned compute_turn(struct xk_task *t, unsigned budget)
{
	struct compute_rep *cr = xk_container_of(t, struct compute_rep, task);

	(void)budget;
	if (cr->s == NULL || cr->over) {
		xk_task_park(t);
		return 0;
	}
	if (cr->left == 0 && !send_one(cr))
		return 1;
	if (cr->left != 0) {
		compute(cr);
		if (cr->left == 0)
			done_one(cr);
	} else if (conf_of(cr->r)->time == 0) {
		done_one(cr);
	}
	return 1;
}

static void compute_timer(struct xk_timer *t)
{
	struct compute_rep *cr = xk_container_of(t, struct compute_rep, timer);

	cr->left = 0;
	done_one(cr);
	if (!cr->over)
		xk_task_ready(&cr->task);
}

/* ---- life ---------------------------------------------------------------------------------------- */

static int compute_open(struct compute_rep *cr)
{
	const struct compute_conf *c = conf_of(cr->r);
	struct xk_parts ps;
	int err;

	xk_parts_init(&ps, 2);
	xk_part_push_host(&ps.p[XK_REMOTE], c->to);
	xk_part_push_port(&ps.p[XK_REMOTE], c->port);
	xk_part_push_any(&ps.p[XK_LOCAL]);
	xk_part_push_any(&ps.p[XK_LOCAL]);
	cr->s = xk_open(cr->r, cr->r->node, cr->r->down[0], &ps, &err);
	return cr->s != NULL ? XK_OK : err;
}

static int compute_rep_start(struct xk_rep *r, struct xk_errs *e)
{
	struct compute_rep *cr = r->state;
	int err;

	if (!xk_app_is_here(r, 0))
		return XK_OK;
	err = compute_open(cr);
	if (err != XK_OK) {
		xk_node_error(r->node, e, "cannot open its connection: %s", xk_strerror(err));
		return err;
	}
	xk_task_ready(&cr->task);
	return XK_OK;
}

static void let_go(struct compute_rep *cr)
{
	struct xk_sess *s = cr->s;

	xk_timer_cancel(cr->r->wheel, &cr->timer);
	xk_task_park(&cr->task);
	cr->s = NULL;
	if (s != NULL)
		xk_close(s);
}

static void compute_rep_stop(struct xk_rep *r) { let_go(r->state); }

static void compute_close_done(struct xk_rep *r, struct xk_sess *lls)
{
	struct compute_rep *cr = r->state;

	if (cr->s != lls)
		return;
	if (!cr->over)
		xk_node_failed(r->node, "its peer has refused or closed the connection");
	let_go(cr);
}

static void compute_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	(void)lls;
	xk_count(up->rep->npop);
	xk_msg_free(m);                          /* answers are not waited for */
}

static int compute_rep_init(struct xk_rep *r)
{
	struct compute_rep *cr = r->state;

	cr->r = r;
	xk_task_init(&cr->task, r->vp, compute_turn);
	xk_timer_init(&cr->timer, compute_timer);
	return XK_OK;
}

static int compute_init(struct xk_node *n, struct xk_errs *e)
{
	(void)e;
	if (((const struct compute_conf *)xk_node_conf(n))->count != 0)
		xk_app_will_finish(n);
	return XK_OK;
}

static int compute_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	/* One that is over counts as before: there are never fewer. */
	struct xk_app_counts c = { xk_app_is_here(r, 0), &r->count[N_MESSAGES], &r->count[N_BYTES], NULL, NULL, NULL };

	return xk_app_answer(op, &c, buf, len);
}

static void compute_review(const struct xk_view *v, struct xk_review *r)
{
	const struct compute_conf *c = v->conf;

	xk_review_reach(r, v, "to", c->to);
}

static const struct xk_ops compute_ops = {
	.init = compute_init, .rep_init = compute_rep_init, .rep_start = compute_rep_start, .rep_stop = compute_rep_stop,
	.close_done = compute_close_done, .demux = compute_demux, .control = compute_control,
};

#define P(field, t, d, text, ...) \
	{ .name = #field, .type = t, .def = d, .doc = text, .offset = offsetof(struct compute_conf, field), ##__VA_ARGS__ }

static const struct xk_param compute_params[] = {
	P(to, XK_P_IPV4, NULL, "address to send to", .flags = XK_PF_REQUIRED),
	P(port, XK_P_PORT, "9", "port to send to", .min = "1"),
	P(size, XK_P_SIZE, "1KiB", "bytes of a message", .min = "1", .max = "1MiB"),
	P(time, XK_P_TIME, "100us", "computing after each message", .max = "1s"),
	P(slice, XK_P_TIME, "10us", "computing in one turn: in between others have theirs", .min = "1us", .max = "1s"),
	P(count, XK_P_UINT, "0", "messages; the graph may end then; 0: endless"),
	XK_PARAM_END
};

static const char *const compute_counts[] = { "messages", "bytes", NULL };

const struct xk_proto xk_proto_compute = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "compute",
	.doc = "sends a message, computes for a while, and again", .ops = &compute_ops,
	.needs = { "port" }, .min_down = 1, .max_down = 1,
	.params = compute_params, .conf_size = sizeof(struct compute_conf),
	.rep_size = sizeof(struct compute_rep), .counts = compute_counts,
	.review = compute_review,
};

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cell.c - ATM cells over a wire in memory, or in the messages of a port: opening, control, the descriptor.
 *
 * Above it lies one protocol, which gets and gives trains (xk_cell.h).
 */
#include "drivers/cell/cell_priv.h"

#include <stdio.h>
#include <string.h>

#include "runtime/upi/xk_enable.h"
#include "runtime/upi/xk_gives.h"
#include "runtime/upi/xk_part.h"
#include "runtime/upi/xk_review.h"

/* ---- links -------------------------------------------------------------------------------- */

static struct xk_sess *cell_open(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type, struct xk_parts *ps, int *err)
{
	struct xk_sess *lls;

	(void)ps;
	if (r->node->ndown == 0) {
		*err = XK_E_BUSY;
		return r->drv_sess == NULL ? cell_link_new(r, &rcv->up, type, NULL, err) : NULL;
	}
	lls = cell_port_open(r, err);
	return lls != NULL ? cell_link_new(r, &rcv->up, type, lls, err) : NULL;
}

static int cell_open_enable(struct xk_node *n, struct xk_node *rcv, struct xk_node *type, struct xk_parts *ps)
{
	(void)ps;
	return xk_enable_bind(n, &(struct xk_key){ { 0, 0 } }, rcv, type);
}

static int cell_open_disable(struct xk_node *n, struct xk_node *rcv, struct xk_node *type, struct xk_parts *ps)
{
	(void)ps;
	return xk_enable_unbind(n, &(struct xk_key){ { 0, 0 } }, rcv, type);
}

/* A session of the port: its link is made by the first cells. */
static int cell_open_done(struct xk_rep *r, struct xk_sess *lls, struct xk_node *type)
{
	(void)r;
	(void)lls;
	(void)type;
	return XK_OK;
}

static void cell_close_done(struct xk_rep *r, struct xk_sess *lls)
{
	struct xk_mapnode *n = xk_map_resolve(&r->active, &(struct xk_key){ { (uintptr_t)lls, 0 } });

	if (n != NULL)
		xk_close_done(xk_container_of(n, struct xk_sess, map));
}

/* ---- control ------------------------------------------------------------------------------- */

static int cell_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	(void)r;
	if (op == XK_CTL_GETMAXPACKET || op == XK_CTL_GETOPTPACKET)
		return xk_answer32(buf, len, XK_CELL_TRAIN);
	return XK_E_NOTSUP;
}

static int cell_sess_control(struct xk_sess *s, unsigned op, void *buf, unsigned len)
{
	return cell_control(s->rep, op, buf, len);
}

/* ---- life ------------------------------------------------------------------------------------ */

/* The one before n that names its wire; nodes are made bottom-up. */
static int join(struct xk_node *n, struct xk_errs *e)
{
	const struct cell_conf *c = n->conf, *d;
	struct cell_node *mine = n->state, *its;

	for (unsigned i = 0; c->wire != NULL && i < n->no; i++) {
		struct xk_node *o = n->graph->node[i];

		d = o->conf;
		if (o->proto != n->proto || d->wire == NULL || strcmp(d->wire, c->wire) != 0)
			continue;
		its = o->state;
		if (its->other != NULL) {
			xk_node_error(n, e, "wire '%s' has two ends already, %s and %s", c->wire, o->name, its->other->name);
			return XK_E_INVAL;
		}
		if (o->layer != n->layer) {
			xk_node_error(n, e, "%s, at the other end of its wire, belongs to another layer", o->name);
			return XK_E_INVAL;
		}
		its->other = n;
		mine->other = o;
		return XK_OK;
	}
	return XK_OK;
}

static int cell_init(struct xk_node *n, struct xk_errs *e)
{
	const struct cell_conf *c = n->conf;
	struct cell_node *st = n->state;
	char why[256] = "out of memory";
	int err = cell_lists_read(&st->lists, &c->fates, &c->vcs, why, sizeof why);

	if (err != XK_OK) {
		xk_node_error(n, e, "%s", why);
		return err;
	}
	err = join(n, e);
	if (err != XK_OK)
		cell_lists_free(&st->lists);
	return err;
}

static void cell_fini(struct xk_node *n)
{
	cell_lists_free(&((struct cell_node *)n->state)->lists);
}

static int cell_rep_init(struct xk_rep *r)
{
	struct cell_rep *cr = cell_rep(r);

	cr->rep = r;
	cr->take = (struct cell_take){ .at = cr };
	cr->open = true;
	xk_msgq_init(&cr->q);
	xk_task_init(&cr->task, r->vp, cell_rx_run);
	xk_task_input(&cr->task, &cr->q.n);
	cell_line_init(cr);
	return XK_OK;
}

static int cell_rep_start(struct xk_rep *r, struct xk_errs *e)
{
	(void)e;
	if (cell_node(r)->other != NULL)
		cell_rep(r)->other = cell_rep(xk_rep_here(cell_node(r)->other, r));
	return XK_OK;
}

static void cell_rep_stop(struct xk_rep *r)
{
	struct cell_rep *cr = cell_rep(r);

	cr->open = false;
	xk_task_park(&cr->task);
	xk_msgq_free(&cr->q);
	xk_msgq_init(&cr->q);
	cr->waiting = 0;
}

static void cell_stop(struct xk_node *n)
{
	if (n->ndown != 0)
		xk_open_disable_all(n, n->down[0]);
}

/* ---- before there is a graph --------------------------------------------------------------------- */

static int cell_check(const void *conf, char *why, size_t n)
{
	const struct cell_conf *c = conf;
	struct cell_lists l;
	int err = cell_lists_read(&l, &c->fates, &c->vcs, why, n);

	if (err == XK_OK)
		cell_lists_free(&l);
	else if (err == XK_E_NOMEM)
		snprintf(why, n, "out of memory for its lists");
	return err;
}

static void review_port(const struct xk_view *v, const struct cell_conf *c, struct xk_review *r)
{
	if (c->wire != NULL)
		xk_review_fault(r, v, "wire", "names a cable in memory, but its cells go through %s", v->down[0]->name);
	else if (c->port == 0)
		xk_review_fault(r, v, NULL, "needs 'port', of %s, through which its cells go", v->down[0]->name);
	else if (c->to == 0)
		xk_review_ports(r, v, "port", c->port, 1);
	else
		xk_review_reach(r, v, "to", c->to);
}

static void cell_review(const struct xk_view *v, struct xk_review *r)
{
	const struct cell_conf *c = v->conf;
	const struct xk_claim end = { .param = "wire", .what = "cable", .name = c->wire, .ends = 2, .kind = "ATM" };

	if (v->ndown != 0)
		review_port(v, c, r);
	else if (c->wire == NULL)
		xk_review_fault(r, v, NULL, "needs 'wire', the name of its cable, or a port to lie over");
	else if (c->to != 0 || c->port != 0)
		xk_review_fault(r, v, c->to != 0 ? "to" : "port", "is of cells that go through a port, and none is below");
	else
		xk_review_claim(r, v, &end);
}

/* Cells keep their order. */
static uint32_t cell_gives(const void *conf, uint32_t below)
{
	const struct cell_conf *c = conf;

	return XK_GIVES_BOUNDARIES | (c->wire != NULL ? XK_GIVES_ORDER : below & (XK_GIVES_ORDER | XK_GIVES_SHARED));
}

/* ---- schema ---------------------------------------------------------------------------------------- */

static const struct xk_ops cell_ops = {
	.init = cell_init, .fini = cell_fini, .rep_init = cell_rep_init, .start = cell_port_start, .stop = cell_stop,
	.rep_start = cell_rep_start, .rep_stop = cell_rep_stop,
	.open = cell_open, .open_enable = cell_open_enable, .open_disable = cell_open_disable,
	.open_disable_all = xk_enable_unbind_all, .open_done = cell_open_done, .close_done = cell_close_done,
	.push = cell_push, .demux = cell_port_demux, .close = cell_link_free,
	.control = cell_control, .sess_control = cell_sess_control,
};

static const char *const hecs[] = { "detect", "correct", NULL };

#define P(field, t, d, text, ...) \
	{ .name = #field, .type = t, .def = d, .doc = text, .offset = offsetof(struct cell_conf, field), ##__VA_ARGS__ }

static const struct xk_param cell_params[] = {
	P(wire, XK_P_TEXT, NULL, "name of the cable in memory; the two that name it are its ends"),
	P(to, XK_P_IPV4, NULL, "over a port: the host to which cells go; unset: whoever comes"),
	P(port, XK_P_PORT, "0", "over a port: there, or with no 'to' here"),
	P(loss, XK_P_FRACTION, "0", "of the cells that are sent, lost"),
	P(errors, XK_P_FRACTION, "0", "of the cells that are sent, with one bit changed, anywhere"),
	P(fates, XK_P_LIST, NULL, "of cells that are sent, by number, from 1, per virtual processor: "
	  "\"FIRST[-LAST] lost|flip BIT [BIT ...]\"", .elem = XK_P_TEXT),
	P(seed, XK_P_UINT, "0", "of loss and errors; 0: the graph's"),
	P(hec, XK_P_ENUM, "correct", "a header with one wrong bit: corrected, or only detected", .choices = hecs),
	P(vcs, XK_P_LIST, NULL, "circuits that there are, \"VPI[-VPI]/VCI[-VCI]\"; none: all with a VCI from 32 on",
	  .elem = XK_P_TEXT),
	P(queue, XK_P_UINT, "65536", "most cells that wait on the wire, per virtual processor", .min = "1366", .max = "16777216"),
	P(trains, XK_P_BOOL, "true", "cells of a frame to which nothing happens pass as one; false: one by one, to the same end"),
	XK_PARAM_END
};

#define X(id, text) text,
static const char *const cell_drops[] = { CELL_DROPS(X) NULL };
static const char *const cell_counts[] = { CELL_COUNTS(X) NULL };
#undef X

const struct xk_proto xk_proto_cell = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "cell",
	.doc = "ATM cells of 53 bytes over a wire in memory, or in the messages of a port",
	.is_driver = true, .ops = &cell_ops, .offers = "cells", .needs = { "port" }, .max_down = 1,
	.params = cell_params, .conf_size = sizeof(struct cell_conf), .node_size = sizeof(struct cell_node),
	.rep_size = sizeof(struct cell_rep), .sess_size = sizeof(struct cell_sess),
	.check = cell_check, .review = cell_review, .gives = cell_gives,
	.drops = cell_drops, .counts = cell_counts,
};

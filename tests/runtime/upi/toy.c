/* SPDX-License-Identifier: BSD-2-Clause */
/* toy.c - the protocols of toy.h. */
#include "tests/runtime/upi/toy.h"

#include <string.h>

#include "runtime/upi/xk_enable.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_input.h"
#include "runtime/upi/xk_part.h"

struct toy toy;

/* ---- the driver --------------------------------------------------------------- */

static void drv_push(struct xk_sess *s, struct xk_msg *m)
{
	(void)s;
	toy.sent++;
	toy.last_len = xk_msg_copy_out(m, 0, toy.last, sizeof toy.last);
	xk_msg_free(m);
}

static struct xk_sess *drv_open(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type,
				struct xk_parts *ps, int *err)
{
	struct xk_sess *s = r->drv_sess;

	(void)ps;
	if (s == NULL)
		s = r->drv_sess = xk_sess_create(r, &rcv->up, type, NULL);
	*err = s ? XK_OK : XK_E_NOMEM;
	return s;
}

static void drv_close(struct xk_sess *s)
{
	s->rep->drv_sess = NULL;
	xk_sess_destroy(s);
}

static int drv_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	(void)r;
	if ((op != TOY_CTL_DRIVER && op != XK_CTL_LINK_TYPE) || len < 4)
		return XK_E_NOTSUP;
	*(uint32_t *)buf = op == TOY_CTL_DRIVER ? 4711 : XK_LINK_ETH;
	return 4;
}

static const struct xk_ops drv_ops = {
	.open = drv_open, .push = drv_push, .close = drv_close, .control = drv_control,
	.enter = xk_input_enter,
};
static const struct xk_proto toydrv = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "toydrv", .doc = "toy driver",
	.is_driver = true, .ops = &drv_ops, .offers = "frame",
};

/* ---- the multiplexer ------------------------------------------------------------- */

struct mux_rep { struct xk_sess *drv; };

static struct xk_key mux_key(uint8_t port)
{
	return (struct xk_key){ { port, 0 } };
}

static struct xk_sess *mux_new(struct xk_rep *r, struct xk_up *up, struct xk_node *type, uint8_t port)
{
	struct mux_rep *st = r->state;
	struct xk_key k = mux_key(port);
	struct xk_sess *s = xk_sess_create(r, up, type, NULL);

	if (s == NULL)
		return NULL;
	if (xk_sess_bind(s, &k) != XK_OK) {
		xk_sess_destroy(s);
		return NULL;
	}
	s->down = xk_dup(st->drv);
	s->aux[0] = port;
	return s;
}

static struct xk_sess *mux_open(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type,
				struct xk_parts *ps, int *err)
{
	uint8_t port;
	struct xk_key k;
	struct xk_mapnode *n;
	struct xk_sess *s;

	*err = XK_E_INVAL;
	if (xk_part_pop(&ps->p[XK_REMOTE], &port, 1) != XK_OK)
		return NULL;
	k = mux_key(port);
	n = xk_map_resolve(&r->active, &k);
	if (n != NULL) {
		s = xk_container_of(n, struct xk_sess, map);
		*err = XK_E_ADDRINUSE;
		return s->rcnt == 0 ? s : NULL;
	}
	*err = XK_E_NOMEM;
	return mux_new(r, &rcv->up, type, port);
}

static int mux_enable(struct xk_node *n, struct xk_node *rcv, struct xk_node *type, struct xk_parts *ps)
{
	uint8_t port;
	struct xk_key k;

	if (xk_part_pop(&ps->p[0], &port, 1) != XK_OK)
		return XK_E_INVAL;
	k = mux_key(port);
	return xk_enable_bind(n, &k, rcv, type);
}

static int mux_disable(struct xk_node *n, struct xk_node *rcv, struct xk_node *type, struct xk_parts *ps)
{
	uint8_t port;
	struct xk_key k;

	if (xk_part_pop(&ps->p[0], &port, 1) != XK_OK)
		return XK_E_INVAL;
	k = mux_key(port);
	return xk_enable_unbind(n, &k, rcv, type);
}

static void mux_gone(struct xk_sess *s)
{
	struct xk_sess *below = s->down;

	xk_sess_destroy(s);
	xk_close(below);
}

/* Sessions stay in the map as idle ones until the collector comes. */
static void mux_close(struct xk_sess *s)
{
	if (s->aux[0] >= 200)
		s->flags |= XK_SESS_IDLE;
	else
		mux_gone(s);
}

static struct xk_sess *mux_passive(struct xk_rep *r, const struct xk_key *k)
{
	struct xk_enable *e = xk_enable_find(r->node, k);
	struct xk_sess *s;

	if (e == NULL)
		return NULL;
	s = mux_new(r, &r->up, e->type, (uint8_t)k->w[0]);
	if (s == NULL)
		return NULL;
	if (xk_open_done(e->rcv, s, e->type) < 0) {
		mux_gone(s);
		return NULL;
	}
	return s;
}

static void mux_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	struct xk_rep *r = up->rep;
	uint8_t *h = xk_msg_peek(&m, 1);
	struct xk_key k;
	struct xk_sess *s;

	if (h == NULL) {
		xk_drop(r, XK_DROP_FIRST, m);
		return;
	}
	k = mux_key(*h);
	xk_msg_pop(m, 1);
	s = xk_find(r, m, &k);
	if (s == NULL)
		s = mux_passive(r, &k);
	if (s == NULL)
		xk_drop(r, XK_DROP_FIRST + 1, m);
	else
		xk_pop(s, lls, m, NULL);
}

static void mux_pop(struct xk_sess *s, struct xk_sess *lls, struct xk_msg *m, void *hdr)
{
	(void)lls;
	(void)hdr;
	xk_demux(s, m);
}

static void mux_push(struct xk_sess *s, struct xk_msg *m)
{
	uint8_t *h = xk_msg_push(&m, 1);

	if (h == NULL) {
		xk_drop(s->rep, XK_DROP_NOMEM, m);
		return;
	}
	*h = (uint8_t)s->aux[0];
	xk_push(s->down, m);
}

static int mux_rep_start(struct xk_rep *r, struct xk_errs *e)
{
	struct mux_rep *st = r->state;
	struct xk_parts ps;
	int err;

	(void)e;
	xk_parts_init(&ps, 0);
	st->drv = xk_open(r, r->node, r->down[0], &ps, &err);
	return err;
}

static void mux_rep_stop(struct xk_rep *r)
{
	struct mux_rep *st = r->state;

	xk_sess_collect(r, mux_gone);
	xk_sess_collect(r, mux_gone);
	if (st->drv != NULL)
		xk_close(st->drv);
}

static const char *const mux_drops[] = { "short", "no session", NULL };
static const struct xk_ops mux_ops = {
	.open = mux_open, .open_enable = mux_enable, .open_disable = mux_disable,
	.open_disable_all = xk_enable_unbind_all, .demux = mux_demux, .pop = mux_pop,
	.push = mux_push, .close = mux_close, .rep_start = mux_rep_start, .rep_stop = mux_rep_stop,
};
static const struct xk_proto toymux = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "toymux", .doc = "toy multiplexer",
	.ops = &mux_ops, .offers = "port", .needs = { "frame" }, .min_down = 1, .max_down = 1,
	.rep_size = sizeof(struct mux_rep), .drops = mux_drops,
};

/* ---- the application ------------------------------------------------------------------ */

static void note(char c)
{
	if (toy.nevents < TOY_EVENTS)
		toy.events[toy.nevents++] = c;
}

static int app_open_done(struct xk_rep *r, struct xk_sess *lls, struct xk_node *type)
{
	(void)r;
	(void)type;
	note('O');
	if (toy.refuse)
		return XK_E_PERM;
	if (toy.keep)
		toy.kept = xk_dup(lls);
	return XK_OK;
}

static void app_close_done(struct xk_rep *r, struct xk_sess *lls)
{
	(void)r;
	(void)lls;
	note('C');
}

static void app_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	(void)up;
	(void)lls;
	note('P');
	if (toy.close_in_demux && toy.kept != NULL) {
		xk_close(toy.kept);
		toy.kept = NULL;
	}
	xk_msg_free(m);
}

static const struct xk_ops app_ops = {
	.open_done = app_open_done, .close_done = app_close_done, .demux = app_demux,
};
static const struct xk_proto toyapp = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "toyapp", .doc = "toy application",
	.ops = &app_ops, .needs = { "port" }, .min_down = 1, .max_down = 1,
};

/* ---- the graph -------------------------------------------------------------------------- */

static int toy_add(void)
{
	int err = xk_graph_add(toy.g, &toydrv, "drv", NULL, NULL, 0, "toy", 1, &toy.drv);

	if (err == XK_OK)
		err = xk_graph_add(toy.g, &toymux, "mux", NULL, &toy.drv, 1, "toy", 2, &toy.mux);
	if (err == XK_OK)
		err = xk_graph_add(toy.g, &toyapp, "app", NULL, &toy.mux, 1, "toy", 3, &toy.app);
	return err;
}

int toy_up(unsigned nvps)
{
	struct xk_graph_conf c = { .name = "toy", .arch = *xk_arch_find("vppc") };
	struct xk_errs *e = xk_errs_new();
	int err;

	memset(&toy, 0, sizeof toy);
	c.arch.vps = (int)nvps;
	c.arch.workers = 1;
	c.arch.schedule = XK_SCHED_VIRTUAL;
	c.mem.limit = 16u << 20;
	err = xk_graph_new(&toy.g, &c, e);
	if (err == XK_OK)
		err = toy_add();
	if (err == XK_OK)
		err = xk_graph_up(toy.g, e);
	if (err == XK_OK) {
		toy.drv_r = toy.drv->rep[0];
		toy.mux_r = toy.mux->rep[0];
		toy.app_r = toy.app->rep[0];
	}
	xk_errs_free(e);
	return err;
}

uint64_t toy_down(void)
{
	uint64_t leaked = xk_graph_free(toy.g);

	toy.g = NULL;
	return leaked;
}

void toy_enter(void) { xk_vp_enter_idle(toy.g->vps->vp[0]); }
void toy_leave(void) { xk_vp_leave_idle(toy.g->vps->vp[0]); }

void toy_inject(const void *bytes, uint32_t n)
{
	struct xk_msg *m;

	toy_enter();
	m = xk_msg_new(n);
	if (m != NULL) {
		memcpy(m->data, bytes, n);
		xk_input(toy.drv_r, &m, 1);
	}
	toy_leave();
	xk_vpset_step(toy.g->vps);
}

struct xk_sess *toy_open(uint8_t port, int *err)
{
	struct xk_parts ps;

	xk_parts_init(&ps, 1);
	xk_part_push(&ps.p[XK_REMOTE], &port, 1);
	return xk_open(toy.app_r, toy.app, toy.mux_r, &ps, err);
}

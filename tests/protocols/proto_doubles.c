/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * proto_doubles.c - what stands in for the neighbours of a protocol under test: a driver, a
 * host link and something above, which keep what passes.
 *
 * Invariant: every message that reaches a double is recorded, then freed.
 */
#include "tests/protocols/proto_doubles.h"

#include <stdlib.h>
#include <string.h>

#include "drivers/common/cut.h"
#include "runtime/upi/xk_enable.h"
#include "runtime/upi/xk_gives.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_input.h"
#include "runtime/upi/xk_part.h"

/* ---- records ----------------------------------------------------------------- */

static struct pf_rec *rec_add(struct pf_recs *rs, const struct xk_msg *m)
{
	struct pf_rec *r;

	if (rs->n == rs->cap) {
		rs->cap = rs->cap ? rs->cap * 2 : 16;
		rs->v = realloc(rs->v, rs->cap * sizeof(*rs->v));
		xk_assert(rs->v != NULL);
	}
	r = &rs->v[rs->n++];
	memset(r, 0, sizeof(*r));
	r->vp = xk_vp_self->no;
	r->flags = m->flags;
	r->csum = m->csum;
	r->len = m->tot;
	r->bytes = malloc(m->tot ? m->tot : 1);
	xk_assert(r->bytes != NULL);
	xk_assert(xk_msg_copy_out(m, 0, r->bytes, m->tot) == m->tot);
	return r;
}

void pf_recs_clear(struct pf_recs *rs)
{
	for (unsigned i = 0; i < rs->n; i++)
		free(rs->v[i].bytes);
	free(rs->v);
	memset(rs, 0, sizeof(*rs));
}

/* ---- pf_driver ------------------------------------------------------------------ */

struct drv_conf { unsigned link, classifier; uint8_t mac[6]; bool record; uint64_t mtu; };
struct drv_state { struct pf_recs out; };

static const char *const drv_links[] = { "eth", "fddi", "rawip", "none", NULL };
static const struct xk_param drv_params[] = {
	{ .name = "link", .type = XK_P_ENUM, .def = "none", .choices = drv_links,
	  .doc = "kind of frames told to the classifier; none: frames stay on their VP",
	  .offset = offsetof(struct drv_conf, link) },
	{ .name = "mac", .type = XK_P_MAC, .def = "02:00:00:00:00:01",
	  .doc = "own address", .offset = offsetof(struct drv_conf, mac) },
	{ .name = "mtu", .type = XK_P_UINT, .def = "1514",
	  .doc = "largest frame, headers included", .offset = offsetof(struct drv_conf, mtu) },
	{ .name = "record", .type = XK_P_BOOL, .def = "true",
	  .doc = "keep what is pushed", .offset = offsetof(struct drv_conf, record) },
	XK_CLASSIFIER_PARAM(struct drv_conf, classifier),
	XK_PARAM_END
};

static void drv_fini(struct xk_node *n)
{
	pf_recs_clear(&((struct drv_state *)n->state)->out);
}

static struct xk_sess *drv_open(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type,
				struct xk_parts *ps, int *err)
{
	(void)ps;
	if (r->drv_sess != NULL) {
		*err = XK_E_BUSY;
		return NULL;
	}
	r->drv_sess = xk_sess_create(r, &rcv->up, type, NULL);
	if (r->drv_sess == NULL)
		*err = XK_E_NOMEM;
	return r->drv_sess;
}

static void drv_close(struct xk_sess *s)
{
	s->rep->drv_sess = NULL;
	xk_sess_destroy(s);
}

static void drv_push(struct xk_sess *s, struct xk_msg *m)
{
	if (((const struct drv_conf *)s->rep->conf)->record)
		rec_add(&((struct drv_state *)s->rep->node->state)->out, m);
	xk_msg_free(m);
}

static int drv_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	const struct drv_conf *c = r->conf;

	switch (op) {
	case XK_CTL_GETMYMAC:
		return xk_answer(buf, len, c->mac, 6);
	case XK_CTL_GETMAXPACKET:
	case XK_CTL_GETOPTPACKET:
		return xk_answer32(buf, len, (uint32_t)c->mtu);
	case XK_CTL_LINK_TYPE:
		return c->link == 3 ? XK_E_NOTSUP : xk_answer32(buf, len, c->link);
	default:
		return XK_E_NOTSUP;
	}
}

static int drv_sess_control(struct xk_sess *s, unsigned op, void *buf, unsigned len)
{
	return drv_control(s->rep, op, buf, len);
}

/* Whoever may wait for links has the one that it opens. */
static int drv_enable(struct xk_node *n, struct xk_node *rcv, struct xk_node *type, struct xk_parts *ps)
{
	(void)n;
	(void)rcv;
	(void)type;
	(void)ps;
	return XK_OK;
}

static void drv_disable_all(struct xk_node *n, struct xk_node *rcv)
{
	(void)n;
	(void)rcv;
}

static const struct xk_ops drv_ops = {
	.open_enable = drv_enable, .open_disable_all = drv_disable_all,
	.fini = drv_fini, .open = drv_open, .close = drv_close, .push = drv_push,
	.enter = xk_input_enter, .control = drv_control, .sess_control = drv_sess_control,
};

/* All that there is, so that who is above shows what it takes away. */
static uint32_t drv_gives(const void *conf, uint32_t below)
{
	(void)conf;
	(void)below;
	return XK_GIVES_ALL;
}

const struct xk_proto pf_driver = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "pf_driver",
	.doc = "test driver: records what is pushed", .is_driver = true, .ops = &drv_ops,
	.offers = "frame", .params = drv_params, .conf_size = sizeof(struct drv_conf),
	.node_size = sizeof(struct drv_state), .sess_size = sizeof(struct xk_sess),
	.gives = drv_gives,
};

/* ---- pf_hostlink ------------------------------------------------------------------ */

struct hl_conf { uint64_t mtu, super; uint32_t host; bool whole, crc; };
struct hl_sess { struct xk_sess s; uint32_t host; };

static const struct xk_param hl_params[] = {
	{ .name = "mtu", .type = XK_P_UINT, .def = "1500",
	  .doc = "largest message", .offset = offsetof(struct hl_conf, mtu) },
	{ .name = "whole", .type = XK_P_BOOL, .def = "false",
	  .doc = "it says that it sends them as one", .offset = offsetof(struct hl_conf, whole) },
	{ .name = "crc", .type = XK_P_BOOL, .def = "false",
	  .doc = "its frames have a CRC", .offset = offsetof(struct hl_conf, crc) },
	{ .name = "super", .type = XK_P_UINT, .def = "0",
	  .doc = "longest super-segment; what is kept are its frames", .offset = offsetof(struct hl_conf, super) },
	{ .name = "host", .type = XK_P_IPV4, .def = "10.0.0.1",
	  .doc = "own address", .offset = offsetof(struct hl_conf, host) },
	XK_PARAM_END
};

static struct xk_key hl_key(uint32_t host, uint32_t number)
{
	return (struct xk_key){ { host, number } };
}

static struct xk_sess *hl_new(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type,
			      uint32_t host, uint32_t number)
{
	struct xk_sess *s = xk_sess_create(r, &rcv->up, type, NULL);
	struct xk_key k = hl_key(host, number);

	if (s == NULL)
		return NULL;
	((struct hl_sess *)s)->host = host;
	if (xk_sess_bind(s, &k) < 0) {
		xk_sess_destroy(s);
		return NULL;
	}
	return s;
}

static struct xk_sess *hl_find(struct xk_rep *r, uint32_t host, uint32_t number)
{
	struct xk_key k = hl_key(host, number);
	struct xk_mapnode *n = xk_map_resolve(&r->active, &k);

	return n ? xk_container_of(n, struct xk_sess, map) : NULL;
}

static struct xk_sess *hl_open(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type,
			       struct xk_parts *ps, int *err)
{
	uint32_t number = xk_proto_number(type, "link"), host;
	struct xk_sess *s;

	if (ps->n < 1 || xk_part_pop_host(&ps->p[XK_REMOTE], &host) != 0 || number == 0) {
		*err = XK_E_INVAL;
		return NULL;
	}
	s = hl_find(r, host, number);
	if (s == NULL)
		s = hl_new(r, rcv, type, host, number);
	if (s == NULL)
		*err = XK_E_NOMEM;
	return s;
}

static int hl_open_enable(struct xk_node *n, struct xk_node *rcv, struct xk_node *type, struct xk_parts *ps)
{
	struct xk_key k = hl_key(0, xk_proto_number(type, "link"));

	(void)ps;
	return xk_enable_bind(n, &k, rcv, type);
}

static int hl_open_disable(struct xk_node *n, struct xk_node *rcv, struct xk_node *type, struct xk_parts *ps)
{
	struct xk_key k = hl_key(0, xk_proto_number(type, "link"));

	(void)ps;
	return xk_enable_unbind(n, &k, rcv, type);
}

static void hl_open_disable_all(struct xk_node *n, struct xk_node *rcv)
{
	xk_enable_unbind_all(n, rcv);
}

static void hl_close(struct xk_sess *s)
{
	xk_sess_unbind(s);
	xk_sess_destroy(s);
}

static void hl_record(struct xk_sess *s, struct xk_msg *m)
{
	struct pf_rec *rec = rec_add(&((struct drv_state *)s->rep->node->state)->out, m);

	rec->host = ((struct hl_sess *)s)->host;
	xk_msg_free(m);
}

/* Each frame, behind a link header that the cutter wants to see. */
static void hl_push_super(struct xk_sess *s, struct xk_msg *m)
{
	static const uint8_t link[14] = { [12] = 0x08 };
	const struct hl_conf *c = s->rep->conf;
	struct xk_cut cut;

	xk_assert(m->tot <= c->super);
	memcpy(xk_msg_push(&m, sizeof link), link, sizeof link);
	xk_assert(xk_cut_super(&cut, m, sizeof link, (uint32_t)c->mtu + sizeof link));
	while (xk_cut_next(&cut) != 0) {
		struct xk_msg *x = xk_cut_msg(&cut);

		xk_assert(x != NULL);
		xk_msg_pop(x, sizeof link);
		hl_record(s, x);
	}
	xk_msg_free(m);
}

static void hl_push(struct xk_sess *s, struct xk_msg *m)
{
	if (m->flags & XK_MSG_SUPER)
		hl_push_super(s, m);
	else
		hl_record(s, m);
}

static void hl_pop(struct xk_sess *s, struct xk_sess *lls, struct xk_msg *m, void *hdr)
{
	(void)lls;
	(void)hdr;
	xk_demux(s, m);
}

/* The passive side, as a real link does it.  Held while it is told: the
 * receiver may dup and close at once. */
static struct xk_sess *hl_passive(struct xk_rep *r, uint32_t host, uint32_t number)
{
	struct xk_key k = hl_key(0, number);
	struct xk_enable *e = xk_enable_find(r->node, &k);
	struct xk_sess *s;

	if (e == NULL)
		return NULL;
	s = hl_new(r, e->rcv->rep[r->vp->no], e->type, host, number);
	if (s == NULL)
		return NULL;
	xk_dup(s);
	if (xk_open_done(e->rcv, s, e->type) < 0) {
		xk_close(s);
		return NULL;
	}
	s->rcnt--;       /* the pop that follows counts, and closes what nobody kept */
	return s;
}

struct xk_sess *pf_hostlink_sess(struct xk_rep *r, uint32_t host, uint32_t number)
{
	struct xk_sess *s = hl_find(r, host, number);

	return s != NULL ? s : hl_passive(r, host, number);
}

static int hl_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	const struct hl_conf *c = r->conf;

	switch (op) {
	case XK_CTL_GETMAXPACKET:
	case XK_CTL_GETOPTPACKET:
		return xk_answer32(buf, len, (uint32_t)c->mtu);
	case XK_CTL_GETMAXSUPER:
		return xk_answer32(buf, len, (uint32_t)c->super);
	case XK_CTL_SENDS_SUPER:
		return c->whole;
	case XK_CTL_GETMYHOST:
		return xk_answer32(buf, len, c->host);
	default:
		return XK_E_NOTSUP;
	}
}

static int hl_sess_control(struct xk_sess *s, unsigned op, void *buf, unsigned len)
{
	if (op == XK_CTL_GETPEERHOST)
		return xk_answer32(buf, len, ((struct hl_sess *)s)->host);
	return hl_control(s->rep, op, buf, len);
}

static const struct xk_ops hl_ops = {
	.fini = drv_fini, .open = hl_open, .open_enable = hl_open_enable,
	.open_disable = hl_open_disable, .open_disable_all = hl_open_disable_all,
	.close = hl_close, .push = hl_push, .pop = hl_pop,
	.control = hl_control, .sess_control = hl_sess_control,
};

static uint32_t hl_gives(const void *conf, uint32_t below)
{
	(void)below;
	return XK_GIVES_BOUNDARIES | (((const struct hl_conf *)conf)->crc ? XK_GIVES_CRC : 0);
}

const struct xk_proto pf_hostlink = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "pf_hostlink",
	.doc = "test host link: records what is pushed", .ops = &hl_ops,
	.offers = "hostlink", .gives = hl_gives, .params = hl_params, .conf_size = sizeof(struct hl_conf),
	.node_size = sizeof(struct drv_state), .sess_size = sizeof(struct hl_sess),
};

/* ---- pf_upper ----------------------------------------------------------------------- */

struct up_conf { bool enable; };

static const struct xk_param up_params[] = {
	{ .name = "enable", .type = XK_P_BOOL, .def = "true",
	  .doc = "open_enable at start", .offset = offsetof(struct up_conf, enable) },
	XK_PARAM_END
};
static const struct xk_number up_numbers[] = {
	{ "link", 0x0800 }, { "ip", 253 }, { "host", 253 }, { NULL, 0 }
};

static void up_fini(struct xk_node *n)
{
	pf_recs_clear(&((struct pf_upper_state *)n->state)->got);
}

static int up_start(struct xk_node *n, struct xk_errs *e)
{
	const struct up_conf *c = n->conf;
	struct xk_parts ps;
	int err;

	if (!c->enable)
		return 0;
	xk_parts_init(&ps, 1);
	err = xk_open_enable(n, n, n->down[0], &ps);
	if (err < 0)
		xk_errs_add(e, n->file, n->line, 0, "%s: enable failed: %s", n->name, xk_strerror(err));
	return err;
}

static void up_stop(struct xk_node *n)
{
	if (((const struct up_conf *)n->conf)->enable)
		xk_open_disable_all(n, n->down[0]);
}

static int up_open_done(struct xk_rep *r, struct xk_sess *lls, struct xk_node *type)
{
	struct pf_upper_state *st = r->node->state;

	(void)type;
	st->open_dones++;
	st->got_at_open_done = st->got.n;
	if (st->refuse)
		return XK_E_PERM;
	if (st->keep && st->nkept < PF_KEPT_MAX)
		st->kept[st->nkept++] = xk_dup(lls);
	return 0;
}

static void up_close_done(struct xk_rep *r, struct xk_sess *lls)
{
	(void)lls;
	((struct pf_upper_state *)r->node->state)->close_dones++;
}

static void up_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	struct pf_upper_state *st = up->rep->node->state;
	struct pf_rec *rec = rec_add(&st->got, m);

	rec->lls = lls;
	rec->type = xk_sess_type(lls);
	if (st->on_msg != NULL)
		st->on_msg(up->rep, lls, m);
	xk_msg_free(m);
}

/* Gives back what open_done kept on this VP. */
static void up_rep_stop(struct xk_rep *r)
{
	struct pf_upper_state *st = r->node->state;
	unsigned left = 0;

	for (unsigned i = 0; i < st->nkept; i++) {
		if (st->kept[i]->rep->vp == r->vp)
			xk_close(st->kept[i]);
		else
			st->kept[left++] = st->kept[i];
	}
	st->nkept = left;
}

static const struct xk_ops up_ops = {
	.fini = up_fini, .start = up_start, .stop = up_stop, .open_done = up_open_done,
	.close_done = up_close_done, .demux = up_demux, .rep_stop = up_rep_stop,
};

const struct xk_proto pf_upper = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "pf_upper",
	.doc = "test upper protocol: records what it gets", .ops = &up_ops,
	.needs = { "frame|link|hostlink|host|port|stream", NULL }, .min_down = 1, .max_down = 1,
	.numbers = up_numbers, .params = up_params, .conf_size = sizeof(struct up_conf),
	.node_size = sizeof(struct pf_upper_state),
};

/* Ethernet, IPv4 and UDP as one header. */
static const struct xk_demux_field flat_fields[] = {
	{ .role = XK_DX_GUARD, .width = 4, .off = 12, .mask = 0xffffff00, .value = 0x08004500 },
	{ .role = XK_DX_GUARD, .width = 4, .off = 20, .mask = 0x3fff00ff, .value = 17 },
	{ .role = XK_DX_REMOTE, .width = 4, .off = 26 }, { .role = XK_DX_LOCAL, .width = 4, .off = 30 },
	{ .role = XK_DX_REMOTE, .width = 2, .off = 34 }, { .role = XK_DX_LOCAL, .width = 2, .off = 36 },
	{ .role = XK_DX_END }
};
static const struct xk_demux flat_decl = { .need = 42, .field = flat_fields };

const struct xk_proto pf_flat = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "pf_flat",
	.doc = "test protocol over frames: pf_upper that declares a header", .ops = &up_ops,
	.needs = { "frame", NULL }, .min_down = 1, .max_down = 1,
	.numbers = up_numbers, .params = up_params, .conf_size = sizeof(struct up_conf),
	.node_size = sizeof(struct pf_upper_state), .demux = &flat_decl,
};

/* ---- what the fixture asks ------------------------------------------------------------ */

struct pf_recs *pf_recs_of(struct xk_node *n)
{
	if (n->proto->ops == &up_ops)
		return &((struct pf_upper_state *)n->state)->got;
	xk_assert(n->proto->ops == &drv_ops || n->proto->ops == &hl_ops);
	return &((struct drv_state *)n->state)->out;
}

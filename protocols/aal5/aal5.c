/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * aal5.c - ATM adaptation layer 5, common part (ITU-T I.363.5): opening and closing, links, control, the
 * descriptor.
 *
 * Circuits stand by themselves (PVCs), so that two ends agree on them is a matter of numbers: see aal5.h.
 * Who opens takes an even VPI where its address is the smaller one, an odd one where not, of its lane.
 * Invariant: a session is bound under its circuit and its link, and holds a reference to the link.
 */
#include "protocols/aal5/aal5_priv.h"

#include "runtime/upi/xk_enable.h"
#include "runtime/upi/xk_gives.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"
#include "runtime/upi/xk_review.h"

#include <stdio.h>

/* ---- links --------------------------------------------------------------------------------- */

static uint32_t lane_of(const struct xk_rep *r, uint32_t vpi) { return vpi / aal5_vpis(r) % (uint32_t)aal5_conf(r)->lanes; }
static uint32_t own_lane(const struct xk_rep *r) { return r->no % (uint32_t)aal5_conf(r)->lanes; }

void aal5_learn(struct xk_rep *r, struct xk_sess *lls, uint32_t vc)
{
	struct xk_sess **at = &aal5_rep(r)->link[lane_of(r, xk_cell_vpi(vc))], *old = *at;

	if (XK_LIKELY(old == lls))
		return;
	*at = xk_dup(lls);
	if (old != NULL) {
		xk_count(r->count[AAL5_N_LOST_LANES]);
		xk_close(old);
	}
}

static struct xk_sess *any_link(struct xk_rep *r, uint32_t *lane)
{
	struct aal5_rep *ar = aal5_rep(r);

	for (uint32_t i = 0; i < aal5_conf(r)->lanes; i++)
		if (ar->link[i] != NULL) {
			*lane = i;
			return ar->link[i];
		}
	return NULL;
}

/* Our own.  Over a port those of several VPs may end at one: there each has a lane of its own, or none. */
static struct xk_sess *open_link(struct xk_rep *r, int *err)
{
	struct xk_sess *lls;
	struct xk_parts ps;

	xk_parts_init(&ps, 0);
	lls = xk_open(r, r->node, r->down[0], &ps, err);
	if (lls == NULL || lls->down == NULL || r->no < aal5_conf(r)->lanes)
		return lls;
	xk_close(lls);
	*err = XK_E_NOSPC;
	return NULL;
}

/* The link of this lane, opened where it is our own. */
static struct xk_sess *link_to(struct xk_rep *r, uint32_t lane, int *err)
{
	struct xk_sess **at = &aal5_rep(r)->link[lane];

	*err = XK_E_NOTCONN;
	if (*at == NULL && lane == own_lane(r))
		*at = open_link(r, err);
	return *at;
}

/* Takes those that are lls, NULL: all, out of n places. */
static void links_take(struct xk_sess **at, unsigned n, const struct xk_sess *lls)
{
	for (unsigned i = 0; i < n; i++) {
		struct xk_sess *s = at[i];

		if (s == NULL || (lls != NULL && s != lls))
			continue;
		at[i] = NULL;
		xk_close(s);
	}
}

static void links_close(struct aal5_rep *ar, const struct xk_sess *lls)
{
	links_take(ar->link, AAL5_LANES_MAX, lls);
	links_take(ar->recent, AAL5_RECENT, lls);
}

/* A link that cells made is kept as one of the last, until a circuit on it or a lane does. */
static int aal5_open_done(struct xk_rep *r, struct xk_sess *lls, struct xk_node *type)
{
	struct aal5_rep *ar = aal5_rep(r);
	struct xk_sess **at = &ar->recent[ar->nrecent++ % AAL5_RECENT], *old = *at;

	(void)type;
	*at = xk_dup(lls);
	if (old != NULL)
		xk_close(old);
	return XK_OK;
}

/* ---- sessions ------------------------------------------------------------------------------- */

static void aal5_close(struct xk_sess *s)
{
	struct xk_sess *lls = s->down;

	aal5_forget(aal5_sess(s));
	xk_sess_destroy(s);              /* unbinds */
	xk_close(lls);
}

static bool is_bound(struct xk_rep *r, uint32_t vc, const struct xk_sess *lls)
{
	return xk_map_resolve(&r->active, &(struct xk_key){ { vc, (uintptr_t)lls } }) != NULL;
}

static struct aal5_sess *sess_new(struct xk_rep *r, struct xk_up *up, struct xk_node *type, struct xk_sess *lls,
				  uint32_t vc, bool opened, int *err)
{
	struct xk_sess *s = NULL;
	struct aal5_sess *as;

	*err = XK_E_NOSPC;
	if (xk_rep_sessions(r) < aal5_conf(r)->sessions || linger_reclaim(&aal5_rep(r)->linger)) {
		*err = XK_E_NOMEM;
		s = xk_sess_create(r, up, type, lls);
	}
	if (s == NULL)
		return NULL;
	as = aal5_sess(s);
	as->vc = vc;
	as->lport = (uint16_t)(opened ? xk_cell_vpi(vc) : xk_cell_vci(vc));
	as->rport = (uint16_t)(opened ? xk_cell_vci(vc) : xk_cell_vpi(vc));
	as->uu_in = 0;
	as->uu_out = (uint8_t)aal5_conf(r)->uu;
	as->told = opened;
	as->skip = false;
	as->part = NULL;
	as->listed = (struct xk_listed){ NULL, NULL };
	as->linger = (struct linger_entry){ { NULL, NULL }, NULL, 0 };
	*err = xk_sess_bind(s, &(struct xk_key){ { vc, (uintptr_t)lls } });
	if (*err == XK_OK) {
		xk_dup(lls);
		return as;
	}
	xk_sess_destroy(s);
	return NULL;
}

/* ---- active open ------------------------------------------------------------------------------ */

static unsigned parity(const struct xk_rep *r) { return aal5_conf(r)->addr > aal5_conf(r)->peer; }

/* A VPI of the lane for which no circuit to this port is ours; 0: there is none. */
static uint32_t choose_vpi(struct xk_rep *r, uint32_t lane, const struct xk_sess *lls, uint16_t port)
{
	struct aal5_rep *ar = aal5_rep(r);
	uint32_t n = aal5_vpis(r) / 2;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t vpi = lane * aal5_vpis(r) + 2 * (ar->cursor++ % n) + parity(r);

		if (vpi != 0 && !is_bound(r, XK_CELL_VC(vpi, port), lls))
			return vpi;
	}
	return 0;
}

/* What is to be opened, by its ports. */
struct wanted { uint16_t rport, lport; };

static int take_parts(struct xk_rep *r, struct xk_parts *ps, struct wanted *w)
{
	uint32_t host;

	w->lport = 0;
	if (ps == NULL || ps->n == 0 || xk_part_pop_port(&ps->p[XK_REMOTE], &w->rport) != XK_OK || w->rport == 0 ||
	    xk_part_pop_host(&ps->p[XK_REMOTE], &host) != XK_OK)
		return XK_E_INVAL;
	if (host != aal5_conf(r)->peer)
		return XK_E_UNREACH;
	if (ps->n > XK_LOCAL && ps->p[XK_LOCAL].depth != 0 && xk_part_pop_port(&ps->p[XK_LOCAL], &w->lport) < 0)
		return XK_E_INVAL;
	return XK_OK;
}

/* Does who has this port wait on it?  Then the circuit is the peer's. */
static bool waits(struct xk_rep *r, uint16_t port)
{
	return port >= AAL5_VPIS || xk_enable_find(r->node, &(struct xk_key){ { port, 0 } }) != NULL;
}

static struct xk_sess *open_some(struct xk_rep *r, const struct wanted *w, uint32_t *vc, int *err)
{
	uint32_t lane = own_lane(r), vpi;
	struct xk_sess *lls = link_to(r, lane, err);

	if (lls == NULL)
		lls = any_link(r, &lane);
	if (lls == NULL)
		return NULL;
	vpi = choose_vpi(r, lane, lls, w->rport);
	*vc = XK_CELL_VC(vpi, w->rport);
	*err = XK_E_ADDRNOTAVAIL;
	return vpi != 0 ? lls : NULL;
}

static struct xk_sess *aal5_open(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type, struct xk_parts *ps, int *err)
{
	struct xk_sess *lls;
	struct aal5_sess *as;
	struct wanted w;
	bool opened;
	uint32_t vc;

	*err = take_parts(r, ps, &w);
	if (*err != XK_OK)
		return NULL;
	opened = w.lport == 0 || !waits(r, w.lport);
	*err = XK_E_RANGE;
	if ((opened ? w.rport : w.lport) < AAL5_VCI_LEAST || (opened ? w.lport : w.rport) >= AAL5_VPIS)
		return NULL;
	if (w.lport == 0) {
		lls = open_some(r, &w, &vc, err);
	} else {
		vc = opened ? XK_CELL_VC(w.lport, w.rport) : XK_CELL_VC(w.rport, w.lport);
		lls = link_to(r, lane_of(r, xk_cell_vpi(vc)), err);
	}
	if (lls == NULL)
		return NULL;
	*err = XK_E_ADDRINUSE;
	if (is_bound(r, vc, lls))
		return NULL;
	as = sess_new(r, &rcv->up, type, lls, vc, opened, err);
	if (as == NULL)
		return NULL;
	as->told = true;
	return &as->s;
}

/* ---- passive open -------------------------------------------------------------------------------- */

struct aal5_sess *aal5_first(struct xk_rep *r, struct xk_sess *lls, uint32_t vc, unsigned *reason)
{
	struct xk_enable *e = xk_enable_find(r->node, &(struct xk_key){ { xk_cell_vci(vc), 0 } });
	uint32_t vpi = xk_cell_vpi(vc);
	struct aal5_sess *as;
	int err;

	*reason = AAL5_DROP_NOBODY;
	if (e == NULL || vpi == 0)
		return NULL;
	as = sess_new(r, &xk_rep_here(e->rcv, r)->up, e->type, lls, vc, false, &err);
	if (as != NULL) {
		xk_dup(&as->s);
		linger_add(&aal5_rep(r)->linger, &as->linger, &as->s);
	}
	*reason = err == XK_E_NOSPC ? AAL5_DROP_SESSIONS : XK_DROP_NOMEM;
	return as;
}

bool aal5_tell(struct aal5_sess *as)
{
	struct xk_rep *r = as->s.rep;
	struct xk_enable *e = xk_enable_find(r->node, &(struct xk_key){ { as->lport, 0 } });

	aal5_learn(r, as->s.down, as->vc);
	if (e == NULL)
		return false;
	as->s.up = &xk_rep_here(e->rcv, r)->up;
	as->s.flags |= XK_SESS_PASSIVE;
	as->told = xk_open_done(e->rcv, &as->s, e->type) >= 0;
	return as->told;
}

static int enable_key(struct xk_parts *ps, struct xk_key *k)
{
	uint16_t port;

	if (ps == NULL || ps->n == 0 || xk_part_pop_port(&ps->p[0], &port) != XK_OK || port == 0)
		return XK_E_INVAL;
	*k = (struct xk_key){ { port, 0 } };
	return port >= AAL5_VCI_LEAST ? XK_OK : XK_E_RANGE;
}

static int aal5_open_enable(struct xk_node *n, struct xk_node *rcv, struct xk_node *type, struct xk_parts *ps)
{
	struct xk_key k;
	int err = enable_key(ps, &k);

	return err == XK_OK ? xk_enable_bind(n, &k, rcv, type) : err;
}

static int aal5_open_disable(struct xk_node *n, struct xk_node *rcv, struct xk_node *type, struct xk_parts *ps)
{
	struct xk_key k;
	int err = enable_key(ps, &k);

	return err == XK_OK ? xk_enable_unbind(n, &k, rcv, type) : err;
}

struct gone { const struct xk_sess *lls; };

static int tell_gone(struct xk_mapnode *n, void *arg)
{
	struct aal5_sess *as = xk_container_of(n, struct aal5_sess, s.map);

	if (as->s.down == ((const struct gone *)arg)->lls && as->told)
		xk_close_done(&as->s);
	return XK_MAP_KEEP;
}

static void aal5_close_done(struct xk_rep *r, struct xk_sess *lls)
{
	struct gone g = { lls };

	xk_dup(lls);
	xk_map_foreach(&r->active, tell_gone, &g);
	links_close(aal5_rep(r), lls);
	xk_close(lls);
}

/* ---- control ---------------------------------------------------------------------------------------- */

static int participants(struct aal5_sess *as, void *buf, unsigned len)
{
	const struct aal5_conf *c = aal5_conf(as->s.rep);
	struct xk_parts ps;

	xk_parts_init(&ps, 2);
	xk_part_push_host(&ps.p[XK_REMOTE], c->peer);
	xk_part_push_port(&ps.p[XK_REMOTE], as->rport);
	xk_part_push_host(&ps.p[XK_LOCAL], c->addr);
	xk_part_push_port(&ps.p[XK_LOCAL], as->lport);
	return xk_answer(buf, len, &ps, sizeof ps);
}

static int says_of(const struct aal5_conf *c, unsigned op, void *buf, unsigned len)
{
	uint32_t host;

	switch (op) {
	case XK_CTL_GETMAXPACKET:
		return xk_answer32(buf, len, (uint32_t)c->max);
	case XK_CTL_GETOPTPACKET:
		return xk_answer32(buf, len, (uint32_t)(c->mtu < c->max ? c->mtu : c->max));
	case XK_CTL_GETMYHOST:
		return xk_answer32(buf, len, c->addr);
	case XK_CTL_GETPEERHOST:
		return xk_answer32(buf, len, c->peer);
	case XK_CTL_ISLOCAL:
		return xk_take(&host, sizeof host, buf, len) != XK_OK ? XK_E_INVAL : host == c->addr;
	default:
		return XK_E_NOTSUP;
	}
}

static int aal5_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	return says_of(aal5_conf(r), op, buf, len);
}

static int aal5_sess_control(struct xk_sess *s, unsigned op, void *buf, unsigned len)
{
	struct aal5_sess *as = aal5_sess(s);

	switch (op) {
	case XK_CTL_GETMYPORT:
		return xk_answer(buf, len, &as->lport, sizeof as->lport);
	case XK_CTL_GETPEERPORT:
		return xk_answer(buf, len, &as->rport, sizeof as->rport);
	case XK_CTL_GETMYPROTO:
		return xk_answer32(buf, len, as->lport);
	case XK_CTL_GETPARTICIPANTS:
		return participants(as, buf, len);
	case AAL5_CTL_SET_UU:
		return xk_take(&as->uu_out, 1, buf, len);
	case AAL5_CTL_GET_UU:
		return xk_answer(buf, len, &as->uu_in, 1);
	case XK_CTL_HEADER_SUM:
		return XK_E_INVAL;       /* the sum of a payload is of no use here */
	default:
		return says_of(aal5_conf(s->rep), op, buf, len);
	}
}

/* ---- life ---------------------------------------------------------------------------------------------- */

static int aal5_rep_init(struct xk_rep *r)
{
	const struct aal5_conf *c = r->conf;
	struct aal5_rep *ar = aal5_rep(r);

	ar->rep = r;
	xk_timer_init(&ar->timer, aal5_late);
	linger_init(&ar->linger, r->wheel, c->idle_timeout, c->idle_sessions, NULL);
	return XK_OK;
}

static void aal5_rep_stop(struct xk_rep *r)
{
	linger_drain(&aal5_rep(r)->linger);
	xk_timer_cancel(r->wheel, &aal5_rep(r)->timer);
	links_close(aal5_rep(r), NULL);
}

static int aal5_start(struct xk_node *n, struct xk_errs *e)
{
	struct xk_parts ps;

	(void)e;
	xk_parts_init(&ps, 0);
	return xk_open_enable(n, n, xk_node_down(n, 0), &ps);
}

static void aal5_stop(struct xk_node *n)
{
	xk_open_disable_all(n, xk_node_down(n, 0));
}

static int aal5_check(const void *conf, char *why, size_t n)
{
	const struct aal5_conf *c = conf;

	if (c->addr == c->peer)
		snprintf(why, n, "peer is our own address, %u.%u.%u.%u", c->addr >> 24, c->addr >> 16 & 255, c->addr >> 8 & 255,
			 c->addr & 255);
	else if (c->memory < aal5_frame_len((uint32_t)c->max))
		snprintf(why, n, "a frame of 'max', %llu bytes, does not fit a memory of %llu", (unsigned long long)c->max,
			 (unsigned long long)c->memory);
	else
		return XK_OK;
	return XK_E_INVAL;
}

/* Those that are reserved are ours: whoever wants to wait on one is told. */
static void aal5_review(const struct xk_view *v, struct xk_review *r)
{
	const struct xk_claim reserved = { .of = v, .what = "port", .first = 1, .n = AAL5_VCI_LEAST - 1 };

	xk_review_claim(r, v, &reserved);
}

static int aal5_ask(const struct xk_view *v, unsigned op, void *buf, unsigned len)
{
	const struct aal5_conf *c = v->conf;
	uint32_t host;

	if (op == XK_CTL_GETMAXPACKET)
		return says_of(c, op, buf, len);
	if (op != XK_ASK_REACH)
		return XK_E_NOTSUP;
	if (xk_take(&host, sizeof host, buf, len) != XK_OK)
		return XK_E_INVAL;
	return host == c->peer ? XK_REACH_YES : host == c->addr ? XK_REACH_OURS : XK_REACH_NO;
}

static uint32_t aal5_gives(const void *conf, uint32_t below)
{
	(void)conf;
	return below | XK_GIVES_SUM | XK_GIVES_CRC;
}

/* ---- schema ----------------------------------------------------------------------------------------------- */

#define AT(f) .offset = offsetof(struct aal5_conf, f)
static const struct xk_param aal5_params[] = {
	{ .name = "addr", .type = XK_P_IPV4, .flags = XK_PF_REQUIRED, AT(addr), .doc = "our address, for those above" },
	{ .name = "peer", .type = XK_P_IPV4, .flags = XK_PF_REQUIRED, AT(peer), .doc = "that of the other end" },
	{ .name = "max", .type = XK_P_SIZE, .def = "65535", .min = "64", .max = "65535", AT(max),
	  .doc = "longest payload of a frame, both ways" },
	{ .name = "mtu", .type = XK_P_SIZE, .def = "9180", .min = "64", .max = "65535", AT(mtu),
	  .doc = "those above that may choose are told to take payloads of so many bytes (RFC 2225: 9180)" },
	{ .name = "timeout", .type = XK_P_TIME, .def = "1s", .min = "1ms", .max = "1h", AT(timeout),
	  .doc = "a frame that has begun is given up when its end does not come for so long" },
	{ .name = "memory", .type = XK_P_SIZE, .def = "4MiB", .min = "64", .max = "4GiB", AT(memory),
	  .doc = "bytes of frames that are not whole, of a virtual processor; at more the oldest goes" },
	{ .name = "lanes", .type = XK_P_UINT, .def = "16", .min = "1", .max = "256", AT(lanes),
	  .doc = "the 4096 VPIs are shared out to so many virtual processors; the same at both ends" },
	{ .name = "uu", .type = XK_P_UINT, .def = "0", .max = "255", AT(uu), .doc = "user-to-user byte of what is sent" },
	{ .name = "clp", .type = XK_P_BOOL, .def = "false", AT(clp), .doc = "mark cells as those to be lost first" },
	{ .name = "idle_timeout", .type = XK_P_TIME, .def = "30s", .min = "1ms", .max = "1h", AT(idle_timeout),
	  .doc = "how long a session that a peer began is kept although nobody above keeps it" },
	{ .name = "idle_sessions", .type = XK_P_UINT, .def = "16384", .min = "1", .max = "16777216", AT(idle_sessions),
	  .doc = "most sessions of a virtual processor that are kept so; the oldest goes" },
	{ .name = "sessions", .type = XK_P_UINT, .def = "65536", .min = "1", .max = "16777216", AT(sessions),
	  .doc = "most sessions of a virtual processor; at the cap the oldest that nobody keeps goes" },
	XK_PARAM_END
};

#define X(id, text) text,
static const char *const aal5_drops[] = { AAL5_DROPS(X) NULL };
static const char *const aal5_counts[] = { AAL5_COUNTS(X) NULL };
#undef X

static const struct xk_ops aal5_ops = {
	.rep_init = aal5_rep_init, .rep_fini = aal5_rep_stop, .start = aal5_start, .stop = aal5_stop, .rep_stop = aal5_rep_stop,
	.open = aal5_open, .open_enable = aal5_open_enable, .open_disable = aal5_open_disable,
	.open_disable_all = xk_enable_unbind_all, .open_done = aal5_open_done, .close_done = aal5_close_done,
	.demux = aal5_demux, .push = aal5_push, .close = aal5_close,
	.control = aal5_control, .sess_control = aal5_sess_control,
};

const struct xk_proto xk_proto_aal5 = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto),
	.name = "aal5", .doc = "ATM adaptation layer 5: frames in cells, a circuit for each connection",
	.ops = &aal5_ops, .offers = "port", .needs = { "cells" }, .min_down = 1, .max_down = 1,
	.params = aal5_params, .conf_size = sizeof(struct aal5_conf),
	.rep_size = sizeof(struct aal5_rep), .sess_size = sizeof(struct aal5_sess),
	.drops = aal5_drops, .counts = aal5_counts,
	.check = aal5_check, .review = aal5_review, .ask = aal5_ask, .gives = aal5_gives,
};

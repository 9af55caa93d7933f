/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xdr.c - the presentation layer (RFC 4506): opening and closing, control, and the descriptor.
 *
 * It lies between an application and its transport, datagrams or a stream, and offers what lies
 * below: participants, enables and numbers are those of the neighbours (protocols/virtual/virtual.h).
 * Over datagrams passive sessions linger as those of every virtual protocol.  Over a stream each
 * session is its connection's: it lives as long as those above hold it, and news of the
 * connection is passed on under its name.
 * Invariant: the session below has `up` set to the own session's `self` while that lives.
 */
#include "protocols/xdr/xdr_priv.h"

#include "protocols/udp/udp.h"
#include "runtime/classify/xk_demux.h"
#include "runtime/upi/xk_gives.h"

#include <string.h>

/* ---- opening and closing --------------------------------------------------------------- */

/* The session below may be one that we stand over already. */
static struct xk_sess *over(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type, struct xk_sess *lls,
			    int *err)
{
	struct xk_key k = virt_key(lls);
	struct xk_mapnode *node = xk_map_resolve(&r->active, &k);
	struct xk_sess *s;

	if (node == NULL) {
		s = virt_new(r, rcv, type, lls, &k);
		*err = s != NULL ? XK_OK : XK_E_NOMEM;
		return s;
	}
	s = xk_container_of(node, struct xk_sess, map);
	lls->up = &s->self;
	xk_close(lls);
	*err = s->up->rep == rcv && xk_sess_type(s) == type ? XK_OK : XK_E_BUSY;
	return *err == XK_OK ? s : NULL;
}

static struct xk_sess *xdr_open(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type, struct xk_parts *ps,
				int *err)
{
	struct xk_sess *lls = xk_open(r, type, r->down[0], ps, err);

	return lls == NULL ? NULL : over(r, rcv, type, lls, err);
}

static void xdr_close(struct xk_sess *s)
{
	xdr_rec_free(&xdr_sess(s)->rec);
	virt_close(s);
}

/* The peer ends its side; in the middle of a record it has ended more. */
static void xdr_close_done(struct xk_rep *r, struct xk_sess *lls)
{
	struct xdr_sess *xs = xdr_above(lls);

	if (xs == NULL || xs->gone)
		return;
	if (!xdr_rec_open(&xs->rec)) {
		xk_close_done(&xs->s);
		return;
	}
	xk_dropped(r, XDR_DROP_TRUNCATED, 1);
	xk_dup(&xs->s);
	xdr_abort(xs);
	xk_close(&xs->s);
}

/* ---- control: sizes ---------------------------------------------------------------------- */

/* What fits of whole samples where `res` bytes of *buf say how much fits below. */
static int fits(const struct xk_rep *r, int res, void *buf)
{
	const struct xdr_rep *xr = xdr_rep(r);
	uint32_t v, words = xr->stream ? XDR_MARK + XDR_COUNT : XDR_COUNT;

	if (res != (int)sizeof v)
		return res;
	memcpy(&v, buf, sizeof v);
	v = v > words ? (v - words) / XDR_SAMPLE : 0;
	if (!xr->stream && v > xr->most)
		v = xr->most;
	v *= XDR_SAMPLE;
	memcpy(buf, &v, sizeof v);
	return (int)sizeof v;
}

/* A push is taken whole while there is room, and no push needs more than 5 bytes below for 4:
 * the shortest record is a sample behind a mark and a count. */
_Static_assert((XDR_MARK + XDR_COUNT + XDR_SAMPLE) * 4 == XDR_SAMPLE * 5, "room");
static int room(struct xdr_sess *xs, void *buf, unsigned len)
{
	uint32_t v = xs->gone ? 0 : stream_room(xs->s.down);

	return xk_answer32(buf, len, v - v / 5);
}

/* ---- control: what those above have read ---------------------------------------------------- */

static int manual(struct xdr_sess *xs, unsigned op, void *buf, unsigned len)
{
	uint32_t on;
	int res = xk_sess_control(xs->s.down, op, buf, len);

	if (res < 0)
		return res;
	memcpy(&on, buf, sizeof on);
	xs->manual = on != 0;
	return res;
}

/* n bytes of those passed up: as large a part of those held below. */
static int taken(struct xdr_sess *xs, const void *buf, unsigned len)
{
	uint32_t n, give;

	if (xk_take(&n, sizeof n, buf, len) != XK_OK || n > xs->unread)
		return XK_E_INVAL;
	if (xs->gone || n == 0)
		return 0;
	give = (uint32_t)(xs->held * n / xs->unread);
	xs->unread -= n;
	xs->held -= give;
	if (give != 0)
		stream_tell(xs->s.down, XK_STREAM_TAKEN, give);
	return 0;
}

static int xdr_sess_control(struct xk_sess *s, unsigned op, void *buf, unsigned len)
{
	struct xdr_sess *xs = xdr_sess(s);

	switch (op) {
	case XK_CTL_GETMAXPACKET:
	case XK_CTL_GETOPTPACKET:
		return fits(s->rep, xk_sess_control(s->down, op, buf, len), buf);
	case XK_CTL_HEADER_SUM:
		return XK_E_INVAL;               /* the sum of samples is of no use below */
	default:
		break;
	}
	if (!xdr_rep(s->rep)->stream)
		return XK_E_NOTSUP;
	switch (op) {
	case XK_STREAM_ROOM:   return room(xs, buf, len);
	case XK_STREAM_MANUAL: return manual(xs, op, buf, len);
	case XK_STREAM_TAKEN:  return taken(xs, buf, len);
	default:               return XK_E_NOTSUP;
	}
}

/* ---- control: news from below --------------------------------------------------------------- */

/* Of a session below with one of ours over it, or NULL. */
static struct xdr_sess *news_of(const struct xk_rep *r, struct xk_sess *lls)
{
	return lls->rep->node == xk_node_down(r->node, 0) ? xdr_above(lls) : NULL;
}

static int stream_news(struct xk_rep *r, const struct xk_stream_event *ev)
{
	struct xdr_sess *xs = news_of(r, ev->s);
	struct xk_stream_event up = *ev;
	int res = 0;

	if (xs == NULL || xs->gone)
		return xs != NULL ? 0 : XK_E_NOTSUP;
	up.s = xk_dup(&xs->s);
	if (ev->what == XK_STREAM_FAILED)
		xdr_fail(xs, ev->err);
	else
		res = xk_control(xs->s.up->rep, XK_CTL_STREAM_EVENT, &up, sizeof up);
	xk_close(&xs->s);
	return res;
}

static int xdr_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	const struct xk_stream_event *ev = stream_event(op, buf, len);

	if (ev != NULL)
		return stream_news(r, ev);
	if (op == UDP_CTL_ERROR)
		return virt_news(r, op, buf, len);
	if (op == XK_CTL_GETMAXPACKET || op == XK_CTL_GETOPTPACKET)
		return fits(r, xk_control(r->down[0], op, buf, len), buf);
	return XK_E_NOTSUP;
}

/* ---- life --------------------------------------------------------------------------------------- */

static int xdr_rep_init(struct xk_rep *r)
{
	const struct xdr_conf *c = r->conf;
	struct xdr_rep *xr = xdr_rep(r);
	uint32_t gives = 0;

	/* What keeps no boundaries needs records. */
	(void)xk_control(r->down[0], XK_CTL_GIVES, &gives, sizeof gives);
	xr->stream = (gives & XK_GIVES_BOUNDARIES) == 0;
	xr->most = (uint32_t)c->most;
	xr->fragment = (uint32_t)c->fragment;
	xr->virt.self = xr->stream ? xdr_self_stream : xdr_self_datagram;
	return virt_rep_init(r);
}

static const struct xk_ops xdr_ops = {
	VIRT_ENABLES, .rep_init = xdr_rep_init, .open = xdr_open, .open_done = virt_open_done, .close_done = xdr_close_done,
	.demux = xdr_demux, .control = xdr_control,
	.push = xdr_push, .pop = xdr_pop, .close = xdr_close, .sess_control = xdr_sess_control,
};

static const struct xk_param xdr_params[] = {
	{ .name = "samples", .type = XK_P_UINT, .def = "2046", .min = "1", .max = "2046",
	  .doc = "most samples of an array, 32 bytes each: a longer message is refused, over a stream cut",
	  .offset = offsetof(struct xdr_conf, most) },
	{ .name = "fragment", .type = XK_P_UINT, .def = "0", .max = "2046",
	  .doc = "over a stream: samples of a record's fragment; 0: a record is one fragment",
	  .offset = offsetof(struct xdr_conf, fragment) },
	{ .name = "sessions", .type = XK_P_UINT, .def = "4096", .min = "1", .max = "1048576",
	  .doc = "over datagrams: most lingering passive sessions per virtual processor",
	  .offset = offsetof(struct xdr_conf, virt.sessions) },
	{ .name = "linger", .type = XK_P_TIME, .def = "60s", .min = "10ms", .max = "1h",
	  .doc = "over datagrams: how long a passive session that nobody holds lives",
	  .offset = offsetof(struct xdr_conf, virt.linger) },
	XK_PARAM_END
};

#define XDR_TEXT(n, s) s,
static const char *const xdr_drops[] = { VIRT_DROPS, XDR_DROPS(XDR_TEXT) NULL };
static const char *const xdr_counts[] = { VIRT_COUNTS, XDR_COUNTS(XDR_TEXT) NULL };

/* Who is above has its number, or port, in the header below. */
static const struct xk_demux xdr_decl = { .through = true };

const struct xk_proto xk_proto_xdr = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto),
	.name = "xdr", .doc = "presentation layer: arrays of samples to XDR and back, with record marks over a stream",
	.ops = &xdr_ops, .offers = "port|stream", .as_below = true,
	.needs = { "port|stream", NULL }, .min_down = 1, .max_down = 1,
	.params = xdr_params, .conf_size = sizeof(struct xdr_conf), .node_size = sizeof(struct virt_node),
	.rep_size = sizeof(struct xdr_rep), .sess_size = sizeof(struct xdr_sess),
	.drops = xdr_drops, .counts = xdr_counts, .demux = &xdr_decl,
	.anywhere = XK_ANYWHERE_AS_ABOVE,
};

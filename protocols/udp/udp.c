/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * udp.c - the User Datagram Protocol (RFC 768, RFC 1122 section 4.1): opening
 * and closing, control, and the descriptor.
 *
 * An association of two hosts and two ports is a connection: it has a session,
 * a VP, and an exact entry in the classifiers.  That entry is also what makes
 * it unique in the graph, so no table of ports in use is shared by the VPs: a
 * port is free towards a peer when the classifier has room for it.
 * Invariant: a bound session is announced, and holds a reference below.
 */
#include "protocols/udp/udp_priv.h"
#include "protocols/inet/inet_ports.h"
#include "runtime/upi/xk_gives.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_move.h"
#include "runtime/upi/xk_part.h"
#include "runtime/upi/xk_secret.h"
#include "runtime/vp/xk_task.h"

/* ---- sessions -------------------------------------------------------------------- */

struct udp_sess *udp_sess_new(struct xk_rep *r, struct xk_up *up, struct xk_node *type,
			      struct xk_sess *lls, int *err)
{
	struct xk_sess *s;

	*err = XK_E_NOSPC;
	if (!inet_sess_room(r, ((struct udp_conf *)r->conf)->sessions, &udp_state(r)->linger))
		goto none;
	*err = XK_E_NOMEM;
	s = xk_sess_create(r, up, type, lls);
	if (s != NULL)
		return udp_sess(s);
none:
	xk_close(lls);
	return NULL;
}

/* NULL: IP does not know yet. */
static xk_push_fn known_kind(struct udp_sess *us)
{
	const struct udp_conf *c = us->s.rep->conf;

	if (us->rport == 0)
		return udp_push_nowhere;
	if (!c->checksum)
		return udp_push_plain;
	if (XK_UNLIKELY(c->trust_crc))
		udp_ask_way(us);
	return us->ask ? NULL : us->whole != NULL ? udp_push_near : XK_FAST(udp_fast_push, udp_push);
}

/* A peer began, and IP seeks the way to it with the first datagram that is pushed: that one has a sum. */
static void push_ask(struct xk_sess *s, struct xk_msg *m)
{
	xk_push_fn fn = known_kind(udp_sess(s));

	if (fn == NULL)
		fn = udp_push;
	else
		xk_sess_set_push(s, fn);
	fn(s, m);
}

static xk_push_fn push_kind(struct udp_sess *us)
{
	xk_push_fn fn = known_kind(us);

	return fn != NULL ? fn : push_ask;
}

int udp_sess_bind(struct udp_sess *us, const struct xk_key *k, bool announce)
{
	uint32_t ports = (uint32_t)k->w[1], sum;
	struct xk_flowkey f;
	int err;

	us->rport = udp_ports_source(ports);
	us->lport = udp_ports_destination(ports);
	us->ports = udp_ports(us->lport, us->rport);
	if (xk_sess_control(us->s.down, XK_CTL_HEADER_SUM, &sum, sizeof sum) != (int)sizeof sum)
		return XK_E_NOTSUP;
	us->sum = xk_csum_add(sum, us->ports);
	us->s.hot = xk_csum_fold(ip_pseudo_sum(k->w[0], UDP_PROTO));
	err = xk_sess_bind(&us->s, k);
	if (err != XK_OK)
		return err;
	udp_flowkey(&f, k);
	if (announce)
		err = xk_sess_announce(&us->s, &f);
	if (err != XK_OK)
		xk_sess_unbind(&us->s);
	else
		xk_sess_set_push(&us->s, push_kind(us));
	return err;
}

/* ---- active open ----------------------------------------------------------------------- */

static int addresses(struct xk_sess *lls, uint64_t *pair)
{
	uint32_t remote, local;
	int err = inet_sess_hosts(lls, &remote, &local);

	if (err == XK_OK)
		*pair = ip_pair(remote, local);
	return err;
}

/* Announced; where datagrams of this port may come up anywhere, I/O threads may have sessions for the
 * peer already, and will find none of ours. */
static int bind_opened(struct udp_sess *us, const struct xk_key *k)
{
	const struct xk_enable *e;
	int err = udp_sess_bind(us, k, true);

	if (err != XK_OK)
		return err;
	e = inet_enable_find(us->s.rep->node, us->lport, (uint32_t)(be64toh(k->w[0]) & 0xffffffff));
	return e != NULL && xk_anywhere_waits(us->s.rep->node->graph, xk_enable_rcv(e)) ? XK_E_ADDRINUSE : XK_OK;
}

/* Where hashes say which VP a connection lives on, is it this one? */
static int bind_at_home(struct udp_sess *us, const struct xk_key *k)
{
	struct xk_flowkey f;
	int err;

	udp_flowkey(&f, k);
	err = xk_rep_home(us->s.rep, &f);
	return err == XK_OK ? bind_opened(us, k) : err;
}

/* A chosen port: starts at random and takes the next free one (RFC 6056 3.3.1), so no search is longer
 * than the range.  Nobody outside shall be able to tell it from those before (3.1). */
static int bind_some_port(struct udp_sess *us, uint64_t pair, uint16_t rport)
{
	struct xk_rep *r = us->s.rep;
	uint32_t first = (uint32_t)xk_vp_secret_below(r->vp, INET_PORTS), local = be64toh(pair) & 0xffffffff;

	for (uint32_t i = 0; i < INET_PORTS; i++) {
		uint16_t port = (uint16_t)(INET_PORT_FIRST + (first + i) % INET_PORTS);
		struct xk_key k;
		int err;

		udp_key(&k, pair, udp_ports(rport, port));
		if (inet_enable_find(r->node, port, local) != NULL || xk_map_resolve(&r->active, &k) != NULL)
			continue;
		err = bind_at_home(us, &k);
		if (err != XK_E_EXIST && err != XK_E_ELSEWHERE)
			return err;
	}
	return XK_E_ADDRNOTAVAIL;
}

static int bind_this_port(struct udp_sess *us, uint64_t pair, uint16_t rport, uint16_t lport, bool at_home)
{
	struct xk_key k;
	int err;

	udp_key(&k, pair, udp_ports(rport, lport));
	err = at_home ? bind_at_home(us, &k) : bind_opened(us, &k);
	return err == XK_E_EXIST ? XK_E_ADDRINUSE : err;
}

/* A passive session that only lingers is the opener's from now on. */
static struct xk_sess *open_lingering(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type,
				      uint64_t pair, uint16_t rport, uint16_t lport)
{
	struct xk_mapnode *node;
	struct udp_sess *us;
	struct xk_key k;

	udp_key(&k, pair, udp_ports(rport, lport));
	node = lport != 0 ? xk_map_resolve(&r->active, &k) : NULL;
	us = node != NULL ? xk_container_of(node, struct udp_sess, s.map) : NULL;
	if (us == NULL || !linger_alone(&us->linger))
		return NULL;
	linger_adopt(&udp_state(r)->linger, &us->linger, rcv, type);
	return &us->s;
}

/* A new session over lls, bound; takes the reference to lls either way. */
static struct xk_sess *open_new(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type,
				struct xk_sess *lls, uint64_t pair, uint16_t rport, uint16_t lport, bool at_home, int *err)
{
	struct udp_sess *us = udp_sess_new(r, &rcv->up, type, lls, err);

	if (us == NULL)
		return NULL;
	*err = lport != 0 ? bind_this_port(us, pair, rport, lport, at_home) : bind_some_port(us, pair, rport);
	if (*err == XK_OK)
		return &us->s;
	inet_sess_free(&us->s);
	return NULL;
}

static struct xk_sess *udp_open(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type,
				struct xk_parts *ps, int *err)
{
	uint16_t rport, lport;
	struct xk_sess *lls, *s;
	uint64_t pair;

	*err = inet_open_ports(ps, &rport, &lport);
	if (*err != XK_OK)
		return NULL;
	lls = xk_open(r, r->node, r->down[0], ps, err);
	if (lls == NULL)
		return NULL;
	*err = addresses(lls, &pair);
	if (*err != XK_OK) {
		xk_close(lls);
		return NULL;
	}
	s = open_lingering(r, rcv, type, pair, rport, lport);
	if (s == NULL)
		return open_new(r, rcv, type, lls, pair, rport, lport, ps->at_home, err);
	xk_close(lls);
	return s;
}

/* ---- control --------------------------------------------------------------------------------- */

/* Where fast paths are left out, nothing is placed. */
static int payload(void *buf, unsigned len)
{
	const xk_payload_fn fn = XK_FAST(udp_fast_payload, NULL);

	return fn != NULL ? xk_answer(buf, len, &fn, sizeof fn) : XK_E_NOTSUP;
}

/* RFC 1122 4.1.3.3: whoever sent the datagram is told. */
static int error_in(struct xk_rep *r, const struct ip_error_in *e)
{
	uint32_t hlen = ip_net_hlen(e->quote), ports;
	struct xk_mapnode *node;
	struct udp_error up;
	struct xk_key k;

	if (e->len < hlen + UDP_HDR_LEN)
		return XK_E_INVAL;
	xk_count(r->count[UDP_COUNT_ERRORS_IN]);
	ports = udp_hdr_ports(e->quote + hlen);
	udp_key(&k, ip_pair(ip_net_dst(e->quote), ip_net_src(e->quote)),
		udp_ports(udp_ports_destination(ports), udp_ports_source(ports)));
	node = xk_map_resolve(&r->active, &k);
	if (node == NULL)
		return 0;
	up = (struct udp_error){ xk_container_of(node, struct xk_sess, map), e->type, e->code, e->arg };
	xk_control(up.s->up->rep, UDP_CTL_ERROR, &up, sizeof up);
	return 1;
}

static int udp_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	int res;

	switch (op) {
	case XK_CTL_GETMAXPACKET:
	case XK_CTL_GETOPTPACKET:
		return inet_less_header(xk_control(r->down[0], op, buf, len), buf, UDP_HDR_LEN);
	case IP_CTL_ERROR_IN:
		return len < sizeof(struct ip_error_in) ? XK_E_INVAL : error_in(r, buf);
	case XK_CTL_ORPHANS:
		res = xk_asked(r, buf);
		if (res > 0)
			linger_purge(&udp_state(r)->linger, xk_sess_is_orphan);
		return res > 0 ? XK_OK : res;
	default:
		return XK_E_NOTSUP;
	}
}

#define TRAIN_MAX 64u            /* what every kernel that cuts datagrams takes */

/* What fits a frame goes as super-segments, where there are any. */
static int set_segment(struct udp_sess *us, const void *buf, unsigned len)
{
	uint32_t n, most, frame;

	if (xk_take(&n, sizeof n, buf, len) != XK_OK || n > UDP_MAX_PAYLOAD)
		return XK_E_INVAL;
	us->seg = (uint16_t)n;
	us->train = 1;
	if (n != 0 && xk_sess_control(us->s.down, XK_CTL_GETMAXSUPER, &most, sizeof most) == (int)sizeof most &&
	    xk_sess_control(us->s.down, XK_CTL_GETOPTPACKET, &frame, sizeof frame) == (int)sizeof frame &&
	    n + UDP_HDR_LEN <= frame && most >= n + UDP_HDR_LEN) {
		most = (most < UDP_MAX_PAYLOAD + UDP_HDR_LEN ? most - UDP_HDR_LEN : UDP_MAX_PAYLOAD) / n;
		us->train = (uint16_t)(most < TRAIN_MAX ? most : TRAIN_MAX);
	}
	xk_sess_set_push(&us->s, us->rport != 0 && n != 0 ? udp_push_segments : push_kind(us));
	return XK_OK;
}

static int udp_sess_control(struct xk_sess *s, unsigned op, void *buf, unsigned len)
{
	struct udp_sess *us = udp_sess(s);

	switch (op) {
	case XK_CTL_GETMAXPACKET:
	case XK_CTL_GETOPTPACKET:
		return inet_less_header(xk_sess_control(s->down, op, buf, len), buf, UDP_HDR_LEN);
	case XK_CTL_GETMYPORT:
		return xk_answer(buf, len, &us->lport, sizeof us->lport);
	case XK_CTL_GETPEERPORT:
		return xk_answer(buf, len, &us->rport, sizeof us->rport);
	case XK_CTL_GETMYPROTO:
		return xk_answer32(buf, len, us->lport);
	case XK_CTL_GETPARTICIPANTS:
		return inet_participants(s->down, us->rport, us->lport, buf, len);
	case UDP_CTL_SEGMENT:
		return set_segment(us, buf, len);
	case XK_CTL_PAYLOAD:
		return payload(buf, len);
	case XK_CTL_HEADER_SUM:
		/* Who asks wants to know whether a sum of its payload is of use. */
		return ((struct udp_conf *)s->rep->conf)->checksum && us->whole == NULL ? XK_E_NOTSUP : XK_E_INVAL;
	default:
		return XK_E_NOTSUP;
	}
}

/* ---- life ------------------------------------------------------------------------------------- */

static int udp_rep_init(struct xk_rep *r)
{
	const struct udp_conf *c = r->conf;

	linger_init(&udp_state(r)->linger, r->wheel, c->idle_timeout, c->idle_sessions, NULL);
	return XK_OK;
}

static void udp_rep_stop(struct xk_rep *r)
{
	linger_drain(&udp_state(r)->linger);
}

/* ---- schema -------------------------------------------------------------------------------------- */

#define AT(f) .offset = offsetof(struct udp_conf, f)
static const struct xk_param udp_params[] = {
	{ .name = "checksum", .type = XK_P_BOOL, .def = "true", AT(checksum),
	  .doc = "compute the checksum of what we send" },
	{ .name = "trust_crc", .type = XK_P_BOOL, .def = "false", AT(trust_crc),
	  .doc = "send none where the next hop is the destination and the interface gives a CRC, fragments apart" },
	{ .name = "require_checksum", .type = XK_P_BOOL, .def = "false", AT(require_checksum),
	  .doc = "drop datagrams whose sender computed none" },
	{ .name = "idle_timeout", .type = XK_P_TIME, .def = "30s", .min = "0s", .max = "1h", AT(idle_timeout),
	  .doc = "how long a session that a peer began is kept although nobody above keeps it; 0s: not at all" },
	{ .name = "idle_sessions", .type = XK_P_UINT, .def = "16384", .min = "1", .max = "16777216", AT(idle_sessions),
	  .doc = "most sessions of a VP that are kept so; the oldest goes" },
	{ .name = "sessions", .type = XK_P_UINT, .def = "1048576", .min = "1", .max = "16777216", AT(sessions),
	  .doc = "most sessions of a VP; at the cap the oldest that nobody keeps goes, or the new one is refused" },
	XK_PARAM_END
};

#define UDP_TEXT(n, s) s,
static const char *const udp_drops[] = { UDP_DROPS(UDP_TEXT) NULL };
static const char *const udp_counts[] = { UDP_COUNTS(UDP_TEXT) NULL };
static const struct xk_number udp_numbers[] = { { "host", UDP_PROTO }, { NULL, 0 } };

static const struct xk_ops udp_ops = {
	.rep_init = udp_rep_init, .rep_fini = udp_rep_stop, .start = inet_start, .stop = inet_stop,
	.rep_stop = udp_rep_stop,
	.open = udp_open, .open_enable = inet_open_enable, .open_disable = inet_open_disable,
	.open_disable_all = xk_enable_unbind_all,
	.demux = XK_FAST(udp_fast_demux, udp_demux), .demux_batch = XK_FAST(udp_fast_batch, NULL), .batch_many = true,
	.enter = udp_enter, .control = udp_control,
	.push = XK_FAST(udp_fast_push, udp_push), .pop = udp_pop, .close = inet_sess_free,
	.sess_control = udp_sess_control,
};

/* RFC 768. */
static const struct xk_demux_field udp_fields[] = {
	{ .role = XK_DX_REMOTE, .width = 2, .off = 0 },
	{ .role = XK_DX_LOCAL, .width = 2, .off = 2 },
	{ .role = XK_DX_END }
};
static const struct xk_demux udp_decl = { .need = UDP_HDR_LEN, .field = udp_fields };

static uint32_t udp_gives(const void *conf, uint32_t below)
{
	const struct udp_conf *c = conf;

	return c->checksum && !c->trust_crc ? below | XK_GIVES_SUM : below;
}

const struct xk_proto xk_proto_udp = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto),
	.name = "udp", .doc = "User Datagram Protocol",
	.ops = &udp_ops, .offers = "port", .needs = { "host" }, .min_down = 1, .max_down = 1,
	.numbers = udp_numbers, .params = udp_params, .conf_size = sizeof(struct udp_conf),
	.rep_size = sizeof(struct udp_state), .sess_size = sizeof(struct udp_sess),
	.drops = udp_drops, .counts = udp_counts,
	.demux = &udp_decl, .ask = inet_ports_ask, .gives = udp_gives,
};

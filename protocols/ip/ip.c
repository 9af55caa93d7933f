/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ip.c - the Internet Protocol (RFC 791, RFC 1122 section 3) as a host: opening
 * and closing, control, and the descriptor.
 *
 * A session is {protocol, peer, our address} (ip_sess.c); transports share it.
 * Left out: forwarding, source routes, our own options.
 * Invariant: a bound session's peer was legal and its local address ours (or a
 * broadcast or group that reaches us) when it was made.
 */
#include "protocols/ip/ip_priv.h"

#include "protocols/arp/arp.h"
#include "runtime/classify/xk_demux.h"
#include "runtime/upi/xk_gives.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"
#include "runtime/upi/xk_secret.h"
#include "runtime/upi/xk_vps.h"

#include <stdio.h>

/* ---- active open -------------------------------------------------------------------- */

/* Our address towards a remote one: by route, or mine where that is given. */
static int open_local(const struct ip_node *in, uint32_t remote, const uint32_t *mine, uint32_t *local)
{
	uint32_t hop;
	bool self = ip_is_self(in, remote);

	*local = ip_self_local(remote);
	if (!self && ip_addr_kind(in, remote) == IP_ADDR_ILLEGAL)
		return XK_E_INVAL;
	if (!self && !ip_route_find(in, remote, &hop, local))
		return XK_E_UNREACH;
	if (mine == NULL)
		return XK_OK;
	*local = *mine;
	if (!ip_is_self(in, *mine))
		return XK_E_ADDRNOTAVAIL;
	return self || !ip_is_loopback(*mine) ? XK_OK : XK_E_INVAL;   /* 127.0.0.0/8 leaves no host */
}

/* Protocol, remote and local address of an open, checked and completed by route.  Whoever opens
 * many connections opens most of them to one host, and no route changes: the last answer is kept. */
static int open_ends(struct xk_rep *r, const struct xk_node *type, struct xk_parts *ps, struct ip_ends *e)
{
	struct ip_ends *last = &ip_state(r)->opened;
	uint32_t mine;
	int err, any = 1;

	e->type = type;
	if (ps->n == 0 || xk_part_pop_host(&ps->p[XK_REMOTE], &e->remote) != XK_OK)
		return XK_E_INVAL;
	if (ps->n > XK_LOCAL && ps->p[XK_LOCAL].depth != 0 && (any = xk_part_pop_host(&ps->p[XK_LOCAL], &mine)) < 0)
		return XK_E_INVAL;
	if (any == 1 && last->type == type && last->remote == e->remote) {
		*e = *last;
		return XK_OK;
	}
	e->protocol = xk_proto_number(type, "host");
	if (e->protocol == 0 || e->protocol > 255)
		return XK_E_INVAL;
	err = open_local(ip_state(r)->in, e->remote, any == 1 ? NULL : &mine, &e->local);
	if (err == XK_OK && any == 1)
		*last = *e;
	return err;
}

/* A bound session for rcv: shared, or one that only lingers, as if new. */
static int open_again(struct ip_sess *is, struct xk_rep *rcv, struct xk_node *type)
{
	int err;

	if (!linger_alone(&is->linger) && is->s.up->rep != rcv)
		return XK_E_ADDRINUSE;
	err = ip_sess_connect(is);
	if (err != XK_OK || !linger_alone(&is->linger))
		return err;
	linger_adopt(&ip_state(is->s.rep)->linger, &is->linger, rcv, type);
	return XK_OK;
}

static struct xk_sess *ip_open(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type,
			       struct xk_parts *ps, int *err)
{
	struct xk_mapnode *node;
	struct ip_sess *is;
	struct ip_ends e;
	struct xk_key k;

	*err = open_ends(r, type, ps, &e);
	if (*err != XK_OK)
		return NULL;
	k.w[0] = ip_pair(e.remote, e.local);
	k.w[1] = e.protocol | (ip_is_self(ip_state(r)->in, e.remote) ? IP_KEY_SELF : 0);
	node = xk_map_resolve(&r->active, &k);
	if (node != NULL) {
		is = xk_container_of(node, struct ip_sess, s.map);
		*err = open_again(is, rcv, type);
		return *err == XK_OK ? &is->s : NULL;
	}
	is = ip_sess_new(r, &rcv->up, type, &k, e.remote, e.local, err);
	if (is == NULL)
		return NULL;
	*err = ip_sess_connect(is);
	if (*err == XK_OK)
		return &is->s;
	inet_sess_free(&is->s);
	return NULL;
}

/* ---- passive open ---------------------------------------------------------------------- */

/* type's number, at the host of ours that ps may name. */
static int enable_key(struct xk_node *type, struct xk_parts *ps, struct xk_key *k)
{
	uint32_t proto = xk_proto_number(type, "host");

	return proto == 0 || proto > 255 ? XK_E_INVAL : inet_enable_key(ps, proto, k);
}

static int ip_open_enable(struct xk_node *n, struct xk_node *rcv, struct xk_node *type, struct xk_parts *ps)
{
	struct xk_key k;
	int err = enable_key(type, ps, &k);

	return err != XK_OK ? err : xk_enable_bind(n, &k, rcv, type);
}

static int ip_open_disable(struct xk_node *n, struct xk_node *rcv, struct xk_node *type, struct xk_parts *ps)
{
	struct xk_key k;
	int err = enable_key(type, ps, &k);

	return err != XK_OK ? err : xk_enable_unbind(n, &k, rcv, type);
}

/* ---- control --------------------------------------------------------------------------------- */

static int opt_packet(struct xk_rep *r, void *buf, unsigned len)
{
	const struct ip_conf *c = r->conf;
	uint32_t mtu;

	if (r->down[0] == NULL ||
	    xk_control(r->down[0], XK_CTL_GETOPTPACKET, &mtu, sizeof mtu) != (int)sizeof mtu)
		mtu = 576;
	if (c->mtu != 0 && c->mtu < mtu)
		mtu = (uint32_t)c->mtu;
	return xk_answer32(buf, len, (mtu < IP_MIN_MTU ? IP_MIN_MTU : mtu) - IP_HDR_LEN);
}

static int ip_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	uint32_t addr;

	switch (op) {
	case XK_CTL_GETMAXPACKET:
		return xk_answer32(buf, len, IP_MAX_DATAGRAM - IP_HDR_LEN);
	case XK_CTL_GETOPTPACKET:
		return opt_packet(r, buf, len);
	case XK_CTL_GETMYHOST:
		return xk_answer32(buf, len, ip_state(r)->in->addr[0].addr);
	case XK_CTL_ISLOCAL:
		if (xk_take(&addr, sizeof addr, buf, len) != XK_OK)
			return XK_E_INVAL;
		return ip_is_self(ip_state(r)->in, addr);
	case IP_CTL_ICMP_ERROR:
		if (len < sizeof(struct ip_icmp_error))
			return XK_E_INVAL;
		return ip_icmp_error(r, ((struct ip_icmp_error *)buf)->m, ((struct ip_icmp_error *)buf)->type,
				     ((struct ip_icmp_error *)buf)->code, ((struct ip_icmp_error *)buf)->arg);
	case IP_CTL_ICMP_IN:
		return len < sizeof(struct ip_error_in) ? XK_E_INVAL : ip_icmp_in(r, buf);
	default:
		return XK_E_NOTSUP;
	}
}

static int participants(const struct ip_sess *is, void *buf, unsigned len)
{
	struct xk_parts ps;

	xk_parts_init(&ps, 2);
	xk_part_push_host(&ps.p[XK_REMOTE], is->remote);
	xk_part_push_host(&ps.p[XK_LOCAL], is->local);
	return xk_answer(buf, len, &ps, sizeof ps);
}

/* Where pieces may be made on the way, each frame needs an identification of its own. */
static int max_super(const struct ip_sess *is, void *buf, unsigned len)
{
	uint32_t v;

	if (is->s.down == NULL || ((struct ip_conf *)is->s.rep->conf)->df == IP_DF_NEVER ||
	    xk_sess_control(is->s.down, XK_CTL_GETMAXSUPER, &v, sizeof v) != (int)sizeof v)
		return XK_E_NOTSUP;
	v = v < IP_MAX_DATAGRAM ? v : IP_MAX_DATAGRAM;
	return xk_answer32(buf, len, v > IP_HDR_LEN ? v - IP_HDR_LEN : 0);
}

/* Kay and Pasquale's rule. */
static int near(const struct ip_sess *is, void *buf, unsigned len)
{
	const struct ip_node *in = ip_state(is->s.rep)->in;
	const uint32_t *room = &is->room;
	uint32_t hop, local, gives;

	if (is->s.down == NULL)
		return ip_is_self(in, is->remote) ? XK_E_UNREACH : XK_E_AGAIN;
	if (ip_addr_kind(in, is->remote) != IP_ADDR_OTHER || !ip_route_find(in, is->remote, &hop, &local) ||
	    hop != is->remote || xk_sess_control(is->s.down, XK_CTL_GIVES, &gives, sizeof gives) != (int)sizeof gives ||
	    !(gives & XK_GIVES_CRC))
		return XK_E_UNREACH;
	return xk_answer(buf, len, &room, sizeof room);
}

static int ip_sess_control(struct xk_sess *s, unsigned op, void *buf, unsigned len)
{
	struct ip_sess *is = ip_sess(s);

	switch (op) {
	case XK_CTL_GETMAXSUPER:
		return max_super(is, buf, len);
	case XK_CTL_GETMAXPACKET:
		return xk_answer32(buf, len, IP_MAX_DATAGRAM - IP_HDR_LEN);
	case XK_CTL_GETOPTPACKET:
		if (is->mtu == 0)
			return opt_packet(s->rep, buf, len);
		return xk_answer32(buf, len, is->room);
	case XK_CTL_GETMYHOST:
		return xk_answer32(buf, len, is->local);
	case XK_CTL_GETPEERHOST:
		return xk_answer32(buf, len, is->remote);
	case XK_CTL_GETMYPROTO:
		return xk_answer32(buf, len, is->protocol);
	case XK_CTL_GETPARTICIPANTS:
		return participants(is, buf, len);
	case XK_CTL_HEADER_SUM:
		return xk_answer32(buf, len, ip_pseudo_sum(ip_pair(is->remote, is->local), is->protocol));
	case IP_CTL_SELF:
		return ip_is_self(ip_state(s->rep)->in, is->remote);
	case IP_CTL_NEAR:
		return near(is, buf, len);
	case XK_CTL_REACHED:
	case XK_CTL_DOUBT:
		return s->down != NULL ? xk_sess_control(s->down, op, buf, len) : XK_E_NOTSUP;
	default:
		return XK_E_NOTSUP;
	}
}

/* ---- life ------------------------------------------------------------------------------------- */

static int ip_init(struct xk_node *n, struct xk_errs *e)
{
	struct ip_node *in = n->state;
	const struct ip_conf *c = n->conf;
	int err = ip_route_init(in, c);

	(void)e;
	if (err != XK_OK)
		return err;
	in->credit = (int64_t)c->reass_bytes;
	ip_output_init(in, xk_node_nvps(n));
	xk_node_secrets(n, 0x6970000000000000u, in->id_secret, XK_ARRAY_LEN(in->id_secret));
	return XK_OK;
}

static void ip_fini(struct xk_node *n)
{
	ip_route_fini(n->state);
}

static int ip_rep_init(struct xk_rep *r)
{
	struct ip_state *st = ip_state(r);
	const struct ip_conf *c = r->conf;

	st->in = r->node->state;
	linger_init(&st->linger, r->wheel, c->idle_timeout, c->idle_sessions, NULL);
	ip_output_rep_init(r);
	ip_reass_init(r);
	return XK_OK;
}

static void ip_rep_stop(struct xk_rep *r)
{
	linger_drain(&ip_state(r)->linger);
	ip_reass_stop(r);
}

static void ip_rep_fini(struct xk_rep *r)
{
	ip_rep_stop(r);
	ip_reass_fini(r);
}

/* Says our addresses to whoever resolves addresses below; nobody need. */
static void tell_addresses(struct xk_node *n)
{
	const struct ip_node *in = n->state;

	for (unsigned d = 0; d < n->ndown; d++)
		for (unsigned i = 0; i < in->naddr; i++) {
			struct arp_addr a = { .addr = in->addr[i].addr, .len = in->addr[i].len };

			xk_control(n->down[d]->rep[0], ARP_CTL_ADD_ADDR, &a, sizeof a);
		}
}

static int ip_start(struct xk_node *n, struct xk_errs *e)
{
	tell_addresses(n);
	return inet_start(n, e);
}

/* ---- schema --------------------------------------------------------------------------------------- */

static int ip_check(const void *conf, char *why, size_t n)
{
	return ip_route_check(conf, why, n);
}

static const char *const ip_checksums[] = { "verify", "ignore", NULL };
static const char *const ip_dfs[] = { "fit", "never", "always", NULL };

/* Where frames go to a cable that others are on, an address of it is ours alone. */
static void claim_address(const struct xk_view *v, struct xk_review *r, const char *param, uint32_t host)
{
	struct xk_segment s = { .host = host };
	char name[100];
	const struct xk_claim c = { .param = param, .what = "address", .name = name };

	if (xk_view_ask(v->down[0], XK_ASK_SEGMENT, &s, sizeof s) <= 0)
		return;
	snprintf(name, sizeof name, "%u.%u.%u.%u' of cable '%s", host >> 24, host >> 16 & 255, host >> 8 & 255,
		 host & 255, s.name);
	xk_review_claim(r, v, &c);
}

static void ip_review(const struct xk_view *v, struct xk_review *r)
{
	const struct ip_conf *c = v->conf;

	claim_address(v, r, "addr", c->addr.addr);
	for (unsigned i = 0; i < c->addrs.n; i++)
		claim_address(v, r, "addrs", c->addrs.v[i].cidr.addr);
}

static int ip_ask(const struct xk_view *v, unsigned op, void *buf, unsigned len)
{
	return op == XK_ASK_REACH && len >= sizeof(uint32_t) ? ip_route_ask(v->conf, *(const uint32_t *)buf) : XK_E_NOTSUP;
}

#define AT(f) .offset = offsetof(struct ip_conf, f)
static const struct xk_param ip_params[] = {
	{ .name = "addr", .type = XK_P_CIDR, .flags = XK_PF_REQUIRED, AT(addr),
	  .doc = "our address and the prefix length of its network" },
	{ .name = "addrs", .type = XK_P_LIST, .elem = XK_P_CIDR, AT(addrs),
	  .doc = "further addresses of ours" },
	{ .name = "routes", .type = XK_P_MAP, .key = XK_P_CIDR, .elem = XK_P_IPV4, AT(routes),
	  .doc = "gateways by destination network; 0.0.0.0/0 is the default route" },
	{ .name = "ttl", .type = XK_P_UINT, .def = "64", .min = "1", .max = "255", AT(ttl),
	  .doc = "time to live of what we send" },
	{ .name = "mtu", .type = XK_P_SIZE, .def = "0", .min = "0", .max = "65535", AT(mtu),
	  .doc = "largest datagram sent in one piece; 0 takes the link's, less than 68 counts as 68" },
	{ .name = "checksum", .type = XK_P_ENUM, .def = "verify", .choices = ip_checksums, AT(checksum),
	  .doc = "what to do about a wrong header checksum" },
	{ .name = "df", .type = XK_P_ENUM, .def = "fit", .choices = ip_dfs, AT(df),
	  .doc = "don't fragment: on datagrams that fit the path, on none, or on all (then nothing is fragmented)" },
	{ .name = "reass_bytes", .type = XK_P_SIZE, .def = "256KiB", .min = "0", .max = "1GiB", AT(reass_bytes),
	  .doc = "most memory held by incomplete datagrams, whole graph, counted in buffers" },
	{ .name = "reass_datagrams", .type = XK_P_UINT, .def = "256", .min = "1", .max = "1048576", AT(reass_datagrams),
	  .doc = "most incomplete datagrams, shared out to the VPs, at least 4 each" },
	{ .name = "reass_per_source", .type = XK_P_UINT, .def = "64", .min = "1", .max = "65535", AT(reass_per_source),
	  .doc = "most incomplete datagrams of one source on a VP" },
	{ .name = "reass_timeout", .type = XK_P_TIME, .def = "30s", .min = "1ms", .max = "120s", AT(reass_timeout),
	  .doc = "how long a datagram may stay incomplete" },
	{ .name = "idle_timeout", .type = XK_P_TIME, .def = "30s", .min = "0s", .max = "1h", AT(idle_timeout),
	  .doc = "how long a session that a peer began is kept although nobody above keeps it; 0s: not at all" },
	{ .name = "idle_sessions", .type = XK_P_UINT, .def = "16384", .min = "1", .max = "16777216", AT(idle_sessions),
	  .doc = "most sessions of a VP that are kept so; the oldest goes" },
	{ .name = "sessions", .type = XK_P_UINT, .def = "1048576", .min = "1", .max = "16777216", AT(sessions),
	  .doc = "most sessions of a VP; at the cap the oldest that nobody keeps goes, or the new one is refused" },
	XK_PARAM_END
};

#define IP_TEXT(n, s) s,
static const char *const ip_drops[] = { IP_DROPS(IP_TEXT) NULL };
static const char *const ip_counts[] = { IP_COUNTS(IP_TEXT) NULL };
static const struct xk_number ip_numbers[] = { { "link", 0x0800 }, { "hostlink", 0x0800 }, { NULL, 0 } };

static const struct xk_ops ip_ops = {
	.init = ip_init, .fini = ip_fini,
	.rep_init = ip_rep_init, .rep_fini = ip_rep_fini,
	.start = ip_start, .stop = inet_stop, .rep_stop = ip_rep_stop,
	.open = ip_open, .open_enable = ip_open_enable, .open_disable = ip_open_disable,
	.open_disable_all = xk_enable_unbind_all, .open_done = inet_open_done,
	.demux = XK_FAST(ip_fast_demux, ip_demux), .demux_batch = XK_FAST(ip_fast_batch, NULL), .batch_many = true,
	.enter = ip_enter, .control = ip_control,
	.push = XK_FAST(ip_fast_push, ip_push), .pop = ip_pop, .close = inet_sess_free, .sess_control = ip_sess_control,
};

/* Version 4; the fragments of a datagram have its identification and protocol in common and
 * nothing more: they meet, and what they make goes on from there. */
static const struct xk_demux_field ip_fields[] = {
	{ .role = XK_DX_GUARD, .width = 1, .off = 0, .mask = 0xf0, .value = 0x40 },
	{ .role = XK_DX_REMOTE, .width = 4, .off = 12 },
	{ .role = XK_DX_LOCAL, .width = 4, .off = 16 },
	{ .role = XK_DX_POSTPONE, .width = 2, .off = 6, .mask = IP_FLAG_MF | IP_OFFSET_MASK },
	{ .role = XK_DX_IDENT, .width = 2, .off = 4 },
	{ .role = XK_DX_IDENT, .width = 1, .off = 9 },
	{ .role = XK_DX_HLEN, .width = 1, .off = 0, .mask = 0x0f, .value = 4 },
	{ .role = XK_DX_SELECT, .width = 1, .off = 9 },
	{ .role = XK_DX_END }
};
static const struct xk_demux ip_decl = { .need = IP_HDR_LEN, .field = ip_fields };

/* RFC 791 1.2: datagrams, and no more; its sum is of the header. */
static uint32_t ip_gives(const void *conf, uint32_t below)
{
	(void)conf;
	return below & (XK_GIVES_BOUNDARIES | XK_GIVES_SHARED);
}

const struct xk_proto xk_proto_ip = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto),
	.name = "ip", .doc = "Internet Protocol version 4, as a host",
	.ops = &ip_ops, .offers = "host", .needs = { "hostlink" }, .min_down = 1, .max_down = 1,
	.numbers = ip_numbers, .params = ip_params, .conf_size = sizeof(struct ip_conf),
	.node_size = sizeof(struct ip_node), .rep_size = sizeof(struct ip_state),
	.sess_size = sizeof(struct ip_sess), .check = ip_check,
	.drops = ip_drops, .counts = ip_counts,
	.demux = &ip_decl, .review = ip_review, .ask = ip_ask, .gives = ip_gives,
};

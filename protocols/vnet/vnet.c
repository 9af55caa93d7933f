/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vnet.c - chooses the link by which a host is reached (x-kernel VNET).
 *
 * A virtual protocol over up to eight host links: it has no header, only a
 * table of networks, longest prefix first, that is read when a session is
 * opened; after that a message passes by one jump.  Passive sessions stand over
 * whatever link the first message came from.
 * Invariant: the table is sorted by prefix length and never changes after init.
 */
#include "protocols/vnet/vnet.h"

#include <string.h>

#include "protocols/arp/arp.h"
#include "protocols/virtual/virtual.h"
#include "runtime/base/xk_errs.h"
#include "runtime/classify/xk_demux.h"
#include "runtime/mem/xk_alloc.h"
#include "runtime/upi/xk_node.h"
#include "runtime/upi/xk_part.h"
#include "runtime/upi/xk_review.h"

struct vnet_conf { struct virt_conf virt; struct xk_pmap links; uint64_t dflt; };
struct vnet_route { uint32_t net, mask; uint8_t len, link; };
struct vnet_node { struct virt_node virt; struct vnet_route *route; unsigned nroutes; };

/* ---- the table ------------------------------------------------------------------------ */

static uint32_t mask_of(uint8_t len)
{
	return len == 0 ? 0 : UINT32_MAX << (32 - len);
}

/* Behind those that are as long or longer: the first of equals wins. */
static void route_insert(struct vnet_node *st, struct xk_cidr c, uint8_t link)
{
	unsigned i = st->nroutes++;

	for (; i > 0 && st->route[i - 1].len < c.len; i--)
		st->route[i] = st->route[i - 1];
	st->route[i] = (struct vnet_route){ c.addr & mask_of(c.len), mask_of(c.len), c.len, link };
}

static int link_check(struct xk_node *n, struct xk_errs *e, const char *what, uint64_t link)
{
	if (link >= 1 && link <= n->ndown)
		return XK_OK;
	xk_errs_add(e, n->file, n->line, 0, "%s: %s names link %llu, but there are %u below",
		    n->name, what, (unsigned long long)link, n->ndown);
	return XK_E_INVAL;
}

static int vnet_init(struct xk_node *n, struct xk_errs *e)
{
	const struct vnet_conf *c = n->conf;
	struct vnet_node *st = n->state;
	int err = link_check(n, e, "parameter 'default'", c->dflt);

	for (unsigned i = 0; i < c->links.n; i++)
		if (link_check(n, e, "parameter 'links'", c->links.v[i].val.u) < 0)
			err = XK_E_INVAL;
	if (err < 0)
		return err;
	st->route = xk_alloc((c->links.n + 1) * sizeof(*st->route));
	if (st->route == NULL)
		return XK_E_NOMEM;
	for (unsigned i = 0; i < c->links.n; i++)
		route_insert(st, c->links.v[i].key.cidr, (uint8_t)(c->links.v[i].val.u - 1));
	return XK_OK;
}

static void vnet_fini(struct xk_node *n)
{
	struct vnet_node *st = n->state;

	virt_fini(n);
	xk_free(st->route);
	st->route = NULL;
}

static unsigned choose_link(const struct xk_node *n, uint32_t host)
{
	const struct vnet_node *st = n->state;

	for (unsigned i = 0; i < st->nroutes; i++)
		if ((host & st->route[i].mask) == st->route[i].net)
			return st->route[i].link;
	return (unsigned)((const struct vnet_conf *)n->conf)->dflt - 1;
}

/* ---- opening ---------------------------------------------------------------------------- */

static struct xk_key vnet_key(uint32_t host, const struct xk_node *type)
{
	return (struct xk_key){ { host, type->no } };
}

static struct xk_sess *open_by_link(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type,
				    struct xk_parts *ps, uint32_t host, int *err)
{
	struct xk_rep *link = r->down[choose_link(r->node, host)];
	struct xk_key k = vnet_key(host, type);
	struct xk_sess *lls, *s;

	(void)xk_part_push_host(&ps->p[XK_REMOTE], host);   /* room: it was just popped */
	lls = xk_open(r, type, link, ps, err);
	if (lls == NULL)
		return NULL;
	s = virt_new(r, rcv, type, lls, &k);
	if (s == NULL)
		*err = XK_E_NOMEM;
	return s;
}

static struct xk_sess *vnet_open(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type,
				 struct xk_parts *ps, int *err)
{
	struct xk_mapnode *node;
	struct xk_key k;
	struct xk_sess *s;
	uint32_t host;

	*err = XK_E_INVAL;
	if (ps == NULL || ps->n < 1 || xk_part_pop_host(&ps->p[XK_REMOTE], &host) != 0)
		return NULL;
	k = vnet_key(host, type);
	node = xk_map_resolve(&r->active, &k);
	if (node == NULL)
		return open_by_link(r, rcv, type, ps, host, err);
	s = xk_container_of(node, struct xk_sess, map);
	if (s->up->rep == rcv)
		return s;
	*err = XK_E_BUSY;
	return NULL;
}

/* ---- control ------------------------------------------------------------------------------- */

/* The least of all links' answers; the first error when none answers, or, where all are needed, one does not. */
static int least(struct xk_rep *r, unsigned op, bool all, void *buf, unsigned len)
{
	uint32_t v, best = UINT32_MAX;
	int err = XK_E_NOTSUP, res;

	for (unsigned i = 0; i < r->node->ndown; i++) {
		res = xk_control(r->down[i], op, &v, sizeof(v));
		if (res < 0 && all)
			return res;
		if (res < 0)
			continue;
		err = res;
		best = v < best ? v : best;
	}
	return err < 0 ? err : xk_answer32(buf, len, best);
}

/* Every link hears it; the first error that is not "what is that" counts. */
static int tell_all(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	int res = XK_E_NOTSUP;

	for (unsigned i = 0; i < r->node->ndown; i++) {
		int one = xk_control(r->down[i], op, buf, len);

		if (res == XK_E_NOTSUP || (one < 0 && one != XK_E_NOTSUP && res >= 0))
			res = one;
	}
	return res;
}

static int any_says_yes(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	int res = XK_E_NOTSUP;

	for (unsigned i = 0; i < r->node->ndown && res <= 0; i++) {
		int one = xk_control(r->down[i], op, buf, len);

		if (one >= 0 || res == XK_E_NOTSUP)
			res = one;
	}
	return res;
}

static int vnet_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	switch (op) {
	case XK_CTL_GETMAXPACKET:
	case XK_CTL_GETOPTPACKET:
		return least(r, op, false, buf, len);
	case XK_CTL_GETMAXSUPER:
		return least(r, op, true, buf, len);
	case XK_CTL_ISLOCAL:
		return any_says_yes(r, op, buf, len);
	case ARP_CTL_ADD_ADDR:
		return tell_all(r, op, buf, len);
	default:
		return XK_E_NOTSUP;
	}
}

/* All are the link's; one is not passed on by itself. */
static int vnet_sess_control(struct xk_sess *s, unsigned op, void *buf, unsigned len)
{
	return op == XK_CTL_GETMAXSUPER ? xk_sess_control(s->down, op, buf, len) : XK_E_NOTSUP;
}

/* ---- descriptor ------------------------------------------------------------------------------ */

static void vnet_review(const struct xk_view *v, struct xk_review *r)
{
	const struct vnet_conf *c = v->conf;

	if (c->dflt > v->ndown)
		xk_review_fault(r, v, "default", "parameter 'default' names link %llu, but there are %u below",
				(unsigned long long)c->dflt, v->ndown);
	for (unsigned i = 0; i < c->links.n; i++)
		if (c->links.v[i].val.u < 1 || c->links.v[i].val.u > v->ndown)
			xk_review_fault(r, v, "links", "parameter 'links' names link %llu, but there are %u below",
					(unsigned long long)c->links.v[i].val.u, v->ndown);
}

/* The cable is that of the link for the address. */
static int vnet_ask(const struct xk_view *v, unsigned op, void *buf, unsigned len)
{
	const struct vnet_conf *c = v->conf;
	const struct xk_segment *s = buf;
	uint64_t link = c->dflt;
	unsigned best = 0;

	if (op != XK_ASK_SEGMENT)
		return XK_E_NOTSUP;
	for (unsigned i = 0; i < c->links.n; i++) {
		const struct xk_cidr *net = &c->links.v[i].key.cidr;

		if (((net->addr ^ s->host) & mask_of(net->len)) == 0 && net->len >= best) {
			link = c->links.v[i].val.u;
			best = net->len;
		}
	}
	return link >= 1 && link <= v->ndown ? xk_view_ask(v->down[link - 1], op, buf, len) : 0;
}

static const struct xk_ops vnet_ops = {
	.init = vnet_init, .fini = vnet_fini, .rep_init = virt_rep_init, .rep_stop = virt_rep_stop,
	.open = vnet_open, .open_enable = virt_open_enable, .open_disable = virt_open_disable,
	.open_disable_all = virt_open_disable_all, .open_done = virt_open_done,
	.close_done = virt_close_done, .demux = virt_demux, .batch_self = true,
	.demux_batch = XK_FAST(virt_fast_batch, NULL),
	.push = virt_push, .pop = virt_pop, .close = virt_close, .control = vnet_control,
	.sess_control = vnet_sess_control,
};

static const struct xk_param vnet_params[] = {
	{ .name = "links", .type = XK_P_MAP, .key = XK_P_CIDR, .elem = XK_P_UINT,
	  .doc = "network to link, by position in 'over' from 1; the longest prefix wins",
	  .offset = offsetof(struct vnet_conf, links) },
	{ .name = "default", .type = XK_P_UINT, .def = "1", .min = "1", .max = "8",
	  .doc = "link for hosts in none of the networks",
	  .offset = offsetof(struct vnet_conf, dflt) },
	VIRT_PARAMS
};
static const char *const vnet_counts[] = { VIRT_COUNTS, NULL };
static const char *const vnet_drops[] = { VIRT_DROPS, NULL };

/* No header: who is above it is told from others by the link. */
static const struct xk_demux vnet_decl = { .through = true };

const struct xk_proto xk_proto_vnet = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto),
	.name = "vnet", .doc = "chooses among host links by destination, adds no header", .ops = &vnet_ops,
	.offers = "hostlink", .needs = { "hostlink", NULL }, .min_down = 1, .max_down = XK_DOWN_MAX,
	.params = vnet_params, .conf_size = sizeof(struct vnet_conf),
	.node_size = sizeof(struct vnet_node), .rep_size = sizeof(struct virt_rep),
	.sess_size = sizeof(struct virt_sess), .drops = vnet_drops, .counts = vnet_counts,
	.demux = &vnet_decl, .review = vnet_review, .ask = vnet_ask,
};

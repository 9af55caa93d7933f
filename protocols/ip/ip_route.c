/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ip_route.c - our addresses, what kind an address is, and the next hop.
 *
 * Routes are few and looked up when a session opens, never per message: a list
 * sorted by prefix length is enough.  Each address contributes its own prefix
 * as on-link; each gateway must lie in one of those.
 * Invariant: route[] is longest prefix first, in configuration order within a length.
 */
#include "protocols/ip/ip_priv.h"
#include "runtime/upi/xk_inline.h"

#include <stdio.h>

static uint32_t mask_of(unsigned len)
{
	return len == 0 ? 0 : ~(uint32_t)0 << (32 - len);
}

static bool on_link(const struct xk_cidr *c, uint32_t addr)
{
	return ((addr ^ c->addr) & mask_of(c->len)) == 0;
}

/* All of one network's hosts (RFC 919, RFC 922): with /31 and /32 there is none. */
static bool is_broadcast(const struct xk_cidr *c, uint32_t addr)
{
	return c->len <= 30 && on_link(c, addr) && (addr | mask_of(c->len)) == UINT32_MAX;
}

/* The bits after the prefix are all zero: RFC 1122's obsolete broadcast. */
static bool is_network(const struct xk_cidr *c, uint32_t addr)
{
	return c->len <= 30 && on_link(c, addr) && (addr & ~mask_of(c->len)) == 0;
}

enum ip_kind ip_addr_kind(const struct ip_node *in, uint32_t addr)
{
	if (addr == IP_LIMITED_BROADCAST)
		return IP_ADDR_BROADCAST;
	if (ip_is_multicast(addr))
		return IP_ADDR_MULTICAST;
	if (addr >> 24 == 0 || addr >> 24 == 127 || addr >> 28 == 0xf)
		return IP_ADDR_ILLEGAL;
	for (unsigned i = 0; i < in->naddr; i++) {
		if (addr == in->addr[i].addr)
			return IP_ADDR_OURS;
		if (is_broadcast(&in->addr[i], addr))
			return IP_ADDR_BROADCAST;
		if (is_network(&in->addr[i], addr))
			return IP_ADDR_ILLEGAL;
	}
	return IP_ADDR_OTHER;
}

bool ip_is_self(const struct ip_node *in, uint32_t addr)
{
	return ip_is_loopback(addr) || ip_addr_kind(in, addr) == IP_ADDR_OURS;
}

uint32_t ip_self_local(uint32_t remote) { return ip_is_loopback(remote) ? IP_LOOPBACK : remote; }

bool ip_route_find(const struct ip_node *in, uint32_t dst, uint32_t *hop, uint32_t *local)
{
	enum ip_kind kind = ip_addr_kind(in, dst);

	for (unsigned i = 0; dst != IP_LIMITED_BROADCAST && i < in->nroute; i++) {
		const struct ip_route *r = &in->route[i];

		if ((dst & r->mask) != r->net)
			continue;
		/* Broadcasts and groups are of a link: what is below knows them,
		 * and chooses the link by the address where there are several. */
		*hop = r->gateway != 0 && kind == IP_ADDR_OTHER ? r->gateway : dst;
		*local = r->local;
		return true;
	}
	*hop = dst;
	*local = in->addr[0].addr;
	return kind == IP_ADDR_BROADCAST || kind == IP_ADDR_MULTICAST;
}

/* ---- from the configuration --------------------------------------------------------- */

static void route_add(struct ip_node *in, const struct ip_route *r)
{
	unsigned at = in->nroute++;

	for (; at > 0 && in->route[at - 1].len < r->len; at--)
		in->route[at] = in->route[at - 1];
	in->route[at] = *r;
}

static void addr_add(struct ip_node *in, const struct xk_cidr *c)
{
	struct ip_route r = { c->addr & mask_of(c->len), mask_of(c->len), 0, c->addr, c->len };

	in->addr[in->naddr++] = *c;
	route_add(in, &r);
}

int ip_route_init(struct ip_node *in, const struct ip_conf *c)
{
	unsigned n = 1 + c->addrs.n;

	in->addr = xk_alloc(n * sizeof *in->addr);
	in->route = xk_alloc((n + c->routes.n) * sizeof *in->route);
	if (in->addr == NULL || in->route == NULL) {
		ip_route_fini(in);
		return XK_E_NOMEM;
	}
	addr_add(in, &c->addr);
	for (unsigned i = 0; i < c->addrs.n; i++)
		addr_add(in, &c->addrs.v[i].cidr);
	for (unsigned i = 0; i < c->routes.n; i++) {
		const struct xk_cidr *to = &c->routes.v[i].key.cidr;
		struct ip_route r = { to->addr & mask_of(to->len), mask_of(to->len),
				      c->routes.v[i].val.ip, c->addr.addr, to->len };
		uint32_t hop;

		ip_route_find(in, r.gateway, &hop, &r.local);
		route_add(in, &r);
	}
	return XK_OK;
}

void ip_route_fini(struct ip_node *in)
{
	xk_free(in->addr);
	xk_free(in->route);
	in->addr = NULL;
	in->route = NULL;
	in->naddr = in->nroute = 0;
}

int ip_route_ask(const struct ip_conf *c, uint32_t host)
{
	struct ip_node *in = xk_alloc(sizeof *in);
	int res = in != NULL ? ip_route_init(in, c) : XK_E_NOMEM;
	uint32_t hop, local;

	if (res == XK_OK) {
		enum ip_kind kind = ip_addr_kind(in, host);

		res = kind == IP_ADDR_ILLEGAL ? XK_REACH_ILLEGAL : kind == IP_ADDR_OURS ? XK_REACH_OURS :
		      ip_route_find(in, host, &hop, &local) ? XK_REACH_YES : XK_REACH_NO;
		ip_route_fini(in);
	}
	xk_free(in);
	return res;
}

/* ---- rules between parameters ---------------------------------------------------------- */

static const char *dotted(uint32_t a, char buf[16])
{
	snprintf(buf, 16, "%u.%u.%u.%u", a >> 24, a >> 16 & 255, a >> 8 & 255, a & 255);
	return buf;
}

static int check_addr(const struct xk_cidr *c, char *why, size_t n)
{
	char b[16];

	if (c->addr >> 24 == 0 || c->addr >> 24 == 127 || c->addr >> 28 >= 0xe) {
		snprintf(why, n, "%s cannot be a host's address", dotted(c->addr, b));
		return XK_E_INVAL;
	}
	if (c->len == 0 || is_broadcast(c, c->addr) || is_network(c, c->addr)) {
		snprintf(why, n, "%s/%u leaves no host part: it names a network or its broadcast",
			 dotted(c->addr, b), c->len);
		return XK_E_INVAL;
	}
	return XK_OK;
}

static bool reachable(const struct ip_conf *c, uint32_t gateway)
{
	if (on_link(&c->addr, gateway))
		return true;
	for (unsigned i = 0; i < c->addrs.n; i++)
		if (on_link(&c->addrs.v[i].cidr, gateway))
			return true;
	return false;
}

int ip_route_check(const struct ip_conf *c, char *why, size_t n)
{
	int err = check_addr(&c->addr, why, n);
	char b[16];

	for (unsigned i = 0; err == XK_OK && i < c->addrs.n; i++)
		err = check_addr(&c->addrs.v[i].cidr, why, n);
	for (unsigned i = 0; err == XK_OK && i < c->routes.n; i++) {
		uint32_t gw = c->routes.v[i].val.ip;

		if (reachable(c, gw))
			continue;
		snprintf(why, n, "gateway %s is not on a link of this host: give an address in its network",
			 dotted(gw, b));
		err = XK_E_INVAL;
	}
	return err;
}

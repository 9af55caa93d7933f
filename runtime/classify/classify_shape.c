/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * classify_shape.c - recognises the internet's headers in a pattern.
 *
 * The parser of classify_native.c knows their layout by heart.  Whether a pattern means
 * exactly that is decided here, by making the standard cells from declarations of their own
 * and comparing field by field: a protocol that reads its header in another way gets the walk.
 * Invariant: classify_shape says yes only where parser and pattern agree on every frame.
 */
#include "runtime/base/xk_errs.h"
#include "runtime/classify/classify_native.h"

#define IP_NUMBER   0x0800u
#define ICMP_NUMBER 1u
#define TCP_NUMBER  6u
#define UDP_NUMBER  17u

static const struct xk_demux_field eth_fields[] = { { .role = XK_DX_SELECT, .width = 2, .off = 12 }, { .role = XK_DX_END } };
static const struct xk_demux_field fddi_fields[] = {
	{ .role = XK_DX_GUARD, .width = 1, .off = 0, .mask = 0x70, .value = 0x50 },
	{ .role = XK_DX_GUARD, .width = 4, .off = 13, .value = 0xaaaa0300 },
	{ .role = XK_DX_GUARD, .width = 2, .off = 17, .value = 0 },
	{ .role = XK_DX_SELECT, .width = 2, .off = 19 },
	{ .role = XK_DX_END }
};
static const struct xk_demux_field ip_fields[] = {
	{ .role = XK_DX_GUARD, .width = 1, .off = 0, .mask = 0xf0, .value = 0x40 },
	{ .role = XK_DX_REMOTE, .width = 4, .off = 12 },
	{ .role = XK_DX_LOCAL, .width = 4, .off = 16 },
	{ .role = XK_DX_POSTPONE, .width = 2, .off = 6, .mask = 0x3fff },
	{ .role = XK_DX_IDENT, .width = 2, .off = 4 },
	{ .role = XK_DX_IDENT, .width = 1, .off = 9 },
	{ .role = XK_DX_HLEN, .width = 1, .off = 0, .mask = 0x0f, .value = 4 },
	{ .role = XK_DX_SELECT, .width = 1, .off = 9 },
	{ .role = XK_DX_END }
};
static const struct xk_demux_field port_fields[] = {
	{ .role = XK_DX_REMOTE, .width = 2, .off = 0 }, { .role = XK_DX_LOCAL, .width = 2, .off = 2 },
	{ .role = XK_DX_END }
};
static const struct xk_demux_field echo_fields[] = {
	{ .role = XK_DX_GUARD, .width = 1, .off = 0, .mask = 0xf7, .value = 0 }, { .role = XK_DX_LOCAL, .width = 2, .off = 4 },
	{ .role = XK_DX_END }
};
static const struct xk_demux eth = { .need = 14, .field = eth_fields }, fddi = { .need = 21, .field = fddi_fields },
			     ip = { .need = 20, .field = ip_fields }, ports = { .need = 8, .field = port_fields },
			     echo = { .need = 8, .field = echo_fields };

/* ---- comparing cells --------------------------------------------------------------- */

static bool same_field(const struct xk_pat_field *a, const struct xk_pat_field *b)
{
	return a->off == b->off && a->width == b->width && (a->little == b->little || a->width == 1) &&
	       a->mask == b->mask && a->value == b->value;
}

static bool same_maybe(bool has_a, const struct xk_pat_field *a, bool has_b, const struct xk_pat_field *b)
{
	return has_a == has_b && (!has_a || same_field(a, b));
}

static bool same_keys(const struct xk_pat_key *a, unsigned na, const struct xk_pat_key *b, unsigned nb)
{
	if (na != nb)
		return false;
	for (unsigned i = 0; i < na; i++)
		if (a[i].off != b[i].off || a[i].width != b[i].width || a[i].at != b[i].at || a[i].mask != b[i].mask)
			return false;
	return true;
}

/* Do two cells ask the same of a header?  Guards in the same order: it takes no more. */
static bool same_cell(const struct xk_cell *a, const struct xk_cell *b)
{
	if (a->need != b->need || a->nguard != b->nguard || a->keyed != b->keyed || a->host != b->host ||
	    a->ident_sel != b->ident_sel || a->flow != b->flow)
		return false;
	for (unsigned i = 0; i < a->nguard; i++)
		if (!same_field(&a->guard[i], &b->guard[i]))
			return false;
	return same_keys(a->key, a->nkey, b->key, b->nkey) && same_keys(a->ident, a->nident, b->ident, b->nident) &&
	       same_maybe(a->has_postpone, &a->postpone, b->has_postpone, &b->postpone) &&
	       same_maybe(a->has_hlen, &a->hlen, b->has_hlen, &b->hlen) &&
	       same_maybe(a->has_select, &a->select, b->has_select, &b->select);
}

/* A cell that leaves every frame as undecided as it came. */
static bool says_nothing(const struct xk_cell *c)
{
	return xk_cell_leaf(c) && !c->keyed && !c->has_postpone;
}

/* ---- the shape ------------------------------------------------------------------------ */

/* The standard's cells for a link: link, IPv4 and all three above. */
enum { STD_IP_AT = 1 };

static int add_std(struct xk_pattern *p, unsigned parent, uint32_t number, const struct xk_demux *d)
{
	char why[128];

	return xk_pattern_add(p, parent, number, "", "", d, why, sizeof why);
}

static bool make_std(struct xk_pattern *p, const struct xk_demux *link)
{
	int at = link != NULL ? add_std(p, XK_PAT_ABOVE, 0, link) : (int)XK_PAT_ABOVE, icmp, tcp, udp;

	at = at < 0 ? at : add_std(p, (unsigned)at, IP_NUMBER, &ip);
	if (at < 0)
		return false;
	icmp = add_std(p, (unsigned)at, ICMP_NUMBER, &echo);
	tcp = add_std(p, (unsigned)at, TCP_NUMBER, &ports);
	udp = add_std(p, (unsigned)at, UDP_NUMBER, &ports);
	return icmp > 0 && tcp > 0 && udp > 0;
}

/* What is above IPv4, each of it as the standard has it. */
static bool transports(const struct xk_pattern *p, const struct xk_cell *c, const struct xk_pattern *std,
		       const struct xk_cell *sc, struct native *nat)
{
	nat->udp = nat->tcp = NATIVE_ABSENT;
	nat->icmp = false;
	for (unsigned i = 0; i < c->nkid; i++) {
		const struct xk_cell *k = &p->cell[c->kid[i]], *s = NULL;

		for (unsigned j = 0; j < sc->nkid; j++)
			if (std->cell[sc->kid[j]].number == k->number)
				s = &std->cell[sc->kid[j]];
		if (s == NULL || !same_cell(k, s))
			return false;
		if (k->number == UDP_NUMBER)
			nat->udp = htobe32(UDP_NUMBER);
		else if (k->number == TCP_NUMBER)
			nat->tcp = htobe32(TCP_NUMBER);
		else
			nat->icmp = true;
	}
	return true;
}

/* IPv4 over this link, beside it only what says nothing. */
static const struct xk_cell *ip_over(const struct xk_pattern *p, const struct xk_cell *link)
{
	const struct xk_cell *found = NULL;

	for (unsigned i = 0; i < link->nkid; i++) {
		const struct xk_cell *k = &p->cell[link->kid[i]];

		if (k->number == IP_NUMBER)
			found = k;
		else if (!says_nothing(k))
			return NULL;
	}
	return found;
}

static bool is_shape(const struct xk_pattern *p, const struct xk_pattern *std, bool has_link, struct native *nat)
{
	const struct xk_cell *root = &p->cell[XK_PAT_ROOT], *sip = &std->cell[has_link ? STD_IP_AT : XK_PAT_ROOT];
	const struct xk_cell *c = root;

	if (has_link) {
		if (!same_cell(root, &std->cell[XK_PAT_ROOT]))
			return false;
		c = ip_over(p, root);
	}
	return c != NULL && same_cell(c, sip) && transports(p, c, std, sip, nat);
}

bool classify_shape(const struct xk_pattern *p, struct native *nat)
{
	static const struct xk_demux *const link[] = { [XK_LINK_ETH] = &eth, [XK_LINK_FDDI] = &fddi, [XK_LINK_RAWIP] = NULL };
	struct xk_pattern *std;
	bool yes = false;

	for (unsigned l = XK_LINK_ETH; !yes && p->ncell != 0 && l <= XK_LINK_RAWIP; l++) {
		std = xk_alloc(sizeof(*std));
		if (std == NULL)
			return false;
		yes = make_std(std, link[l]) && is_shape(p, std, link[l] != NULL, nat);
		nat->link = (enum xk_link)l;
		xk_free(std);
	}
	return yes;
}

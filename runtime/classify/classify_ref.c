/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * classify_ref.c - makes classifiers, and reads a flow key the obvious way.
 *
 * xk_classify_key walks the headers byte by byte as their standards draw them;
 * every back end must agree with it.  Invariant: no byte at or behind `len` is
 * read.
 */
#include "runtime/base/xk_bytes.h"
#include "runtime/classify/classify_priv.h"

#define IP_HDR_MIN 20u
#define L4_MIN     8u

static const struct xk_classifier_ops *const back_ends[] = { &classify_native };

int xk_classifier_new(struct xk_classifier **c, const char *kind, enum xk_link link,
		      struct xk_flowtab *tab)
{
	const struct xk_classifier_ops *ops = NULL;

	*c = NULL;
	if (kind == NULL || strcmp(kind, "auto") == 0)
		ops = back_ends[0];
	for (unsigned i = 0; ops == NULL && i < XK_ARRAY_LEN(back_ends); i++)
		if (strcmp(kind, back_ends[i]->name) == 0)
			ops = back_ends[i];
	if (ops == NULL)
		return XK_E_NOTSUP;
	*c = xk_alloc(sizeof(**c));
	if (*c == NULL)
		return XK_E_NOMEM;
	**c = (struct xk_classifier){ .ops = ops, .tab = tab, .link = link };
	return XK_OK;
}

static bool may_run(const struct xk_msg *m)
{
	return m->len >= XK_FRAME_MIN && (m->flags & (XK_MSG_SLOW | XK_MSG_LINK_BCAST)) == 0;
}

/* Does b go on the run that a began? */
static bool run_goes_on(const struct xk_msg *a, const struct xk_msg *b)
{
	return a->u.v.flow != 0 && b->u.name == a->u.name && may_run(a) && may_run(b);
}

unsigned xk_classify_runs(struct xk_classifier *c, struct xk_msg *const *m, unsigned n, uint8_t *len)
{
	unsigned nruns = 0;

	if (XK_LIKELY(c->ops->runs != NULL))
		return c->ops->runs(c, m, n, len);
	c->ops->classify(c, m, n);
	for (unsigned i = 0, k; i < n; i = k) {
		for (k = i + 1; k < n && run_goes_on(m[i], m[k]);)
			k++;
		len[nruns++] = (uint8_t)(k - i);
	}
	return nruns;
}

/* Length of a link header that announces IPv4, -1 when it does not. */
static int link_header(enum xk_link link, const uint8_t *f, uint32_t len)
{
	static const uint8_t snap[] = { 0xaa, 0xaa, 0x03, 0, 0, 0, 0x08, 0x00 };

	switch (link) {
	case XK_LINK_ETH:       /* RFC 894: destination, source, type */
		return len >= 14 && xk_be16(f + 12) == 0x0800 ? 14 : -1;
	case XK_LINK_FDDI:      /* RFC 1390: an LLC frame with long addresses */
		if (len < 21 || (f[0] & 0x70) != 0x50 || memcmp(f + 13, snap, sizeof(snap)) != 0)
			return -1;
		return 21;
	case XK_LINK_RAWIP:
		return 0;
	}
	return -1;
}

bool xk_classify_key(enum xk_link link, const uint8_t *frame, uint32_t len, struct xk_flowkey *k)
{
	int l2 = link_header(link, frame, len);
	const uint8_t *ip = frame + l2, *l4;
	uint32_t rest, ihl;

	if (l2 < 0)
		return false;
	rest = len - (uint32_t)l2;
	if (rest < IP_HDR_MIN || ip[0] >> 4 != 4)
		return false;
	ihl = (ip[0] & 15u) * 4;
	if (ihl < IP_HDR_MIN || rest < ihl + L4_MIN)
		return false;
	if ((xk_be16(ip + 6) & 0x3fff) != 0)    /* more fragments, or an offset */
		return false;
	l4 = ip + ihl;
	*k = (struct xk_flowkey){ .proto = ip[9] };
	k->raddr = xk_raw32(ip + 12);
	k->laddr = xk_raw32(ip + 16);
	switch (k->proto) {
	case 17:
	case 6:
		k->rport = xk_raw16(l4);
		k->lport = xk_raw16(l4 + 2);
		return true;
	case 1:
		return l4[0] == 8 || l4[0] == 0;
	}
	return false;
}

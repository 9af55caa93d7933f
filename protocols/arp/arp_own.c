/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arp_own.c - the addresses that a node answers for.
 *
 * Added under the node's mutex, read by any VP without it; none is taken away.
 * Invariant: own[0 .. nown) are filled, each address once.
 */
#include "protocols/arp/arp_priv.h"
#include "runtime/sync/xk_sync.h"

bool arp_is_host_address(uint32_t a)
{
	return a >> 24 != 0 && a >> 24 != 127 && a < 0xe0000000u;
}

static struct arp_own *own_find(struct arp_table *t, uint32_t addr)
{
	unsigned n = xk_load_acquire(&t->nown);   /* pairs with arp_own_add */

	for (unsigned i = 0; i < n; i++)
		if (t->own[i].addr == addr)
			return &t->own[i];
	return NULL;
}

struct arp_own *arp_own_find(struct xk_node *n, uint32_t addr)
{
	return own_find(arp_table(n), addr);
}

int arp_own_add(struct xk_node *n, const struct arp_addr *a)
{
	struct arp_table *t = arp_table(n);
	struct arp_own *o;
	bool due;
	int err = XK_OK;

	if (!arp_is_host_address(a->addr) || a->len > 32)
		return XK_E_INVAL;
	xk_mutex_lock(&t->lock);
	o = own_find(t, a->addr);
	if (o != NULL) {
		xk_store_relaxed(&o->len, a->len);
	} else if (t->nown == ARP_ADDRS_MAX) {
		err = XK_E_NOSPC;
	} else {
		o = &t->own[t->nown];
		*o = (struct arp_own){ .addr = a->addr, .len = a->len };
		arp_claim_begin(t->node->conf, o);
		due = o->due != XK_NS_NEVER;             /* the first replica's, from the next line on */
		xk_store_release(&t->nown, t->nown + 1);
		if (due)
			arp_tell_claim_locked(t);
	}
	xk_mutex_unlock(&t->lock);
	return err;
}

bool arp_is_broadcast(struct xk_node *n, uint32_t host)
{
	struct arp_table *t = arp_table(n);
	unsigned nown = xk_load_acquire(&t->nown);

	for (unsigned i = 0; i < nown; i++) {
		uint8_t len = xk_load_relaxed(&t->own[i].len);

		/* A network of one or two hosts has no broadcast (RFC 3021). */
		if (len > 0 && len < 31 && host == (t->own[i].addr | UINT32_MAX >> len))
			return true;
	}
	return host == UINT32_MAX;
}

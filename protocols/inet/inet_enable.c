/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inet_enable.c - enables by a number and an address of ours.
 */
#include "protocols/inet/inet_enable.h"

#include "runtime/upi/xk_part.h"

static void key_of(struct xk_key *k, uint32_t number, bool any, uint32_t local)
{
	k->w[0] = number;
	k->w[1] = any ? 0 : (uint64_t)1 << 32 | local;
}

struct xk_enable *inet_enable_find(struct xk_node *n, uint32_t number, uint32_t local)
{
	struct xk_enable *e;
	struct xk_key k;

	key_of(&k, number, false, local);
	e = xk_enable_find(n, &k);
	if (e != NULL)
		return e;
	key_of(&k, number, true, 0);
	return xk_enable_find(n, &k);
}

int inet_enable_key(struct xk_parts *ps, uint32_t number, struct xk_key *k)
{
	uint32_t local = 0;
	int any = 1;

	if (ps != NULL && ps->n > 0 && ps->p[0].depth != 0)
		any = xk_part_pop_host(&ps->p[0], &local);
	if (any < 0)
		return any;
	key_of(k, number, any == 1, local);
	return XK_OK;
}

static int port_key(struct xk_parts *ps, struct xk_key *k)
{
	uint16_t port = 0;

	if (ps == NULL || ps->n == 0 || xk_part_pop_port(&ps->p[0], &port) != XK_OK || port == 0)
		return XK_E_INVAL;
	return inet_enable_key(ps, port, k);
}

int inet_open_enable(struct xk_node *n, struct xk_node *rcv, struct xk_node *type, struct xk_parts *ps)
{
	struct xk_key k;
	int err = port_key(ps, &k);

	return err != XK_OK ? err : xk_enable_bind(n, &k, rcv, type);
}

int inet_open_disable(struct xk_node *n, struct xk_node *rcv, struct xk_node *type, struct xk_parts *ps)
{
	struct xk_key k;
	int err = port_key(ps, &k);

	return err != XK_OK ? err : xk_enable_unbind(n, &k, rcv, type);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_port.c - what a listening port has of its own: how long it waits for first bytes, the
 * largest segment that it announces, the receive buffer of its connections.
 *
 * Invariant: an entry is one word, so a SYN meets the old value or the new one.
 */
#include "protocols/tcp/sess/tcp_listen.h"
#include "runtime/upi/xk_enable.h"
#include "runtime/upi/xk_inline.h"

static uint32_t port_value(const struct tcp_node *n, const uint64_t *table, uint16_t port)
{
	if (XK_LIKELY(xk_load_relaxed(&n->ports_set) == 0))
		return 0;
	for (unsigned i = 0; i < TCP_DEFERS; i++) {
		uint64_t v = xk_load_relaxed(&table[i]);

		if (v >> 32 == port && port != 0)
			return (uint32_t)v;
	}
	return 0;
}

/* Whole words, one writer at a time: a SYN meets the old or the new one. */
static int port_value_set(struct xk_rep *r, uint64_t *table, uint16_t port, uint32_t value)
{
	unsigned at = TCP_DEFERS;

	xk_structure_lock(r->node);
	for (unsigned i = 0; i < TCP_DEFERS; i++) {
		uint64_t v = xk_load_relaxed(&table[i]);

		if (v >> 32 == port || (v == 0 && at == TCP_DEFERS))
			at = i;
		if (v >> 32 == port)
			break;
	}
	if (value != 0)
		xk_store_relaxed(&((struct tcp_node *)r->node->state)->ports_set, 1);
	if (at != TCP_DEFERS && (value != 0 || table[at] != 0))
		xk_store_relaxed(&table[at], value != 0 ? (uint64_t)port << 32 | value : 0);
	xk_structure_unlock(r->node);
	return at == TCP_DEFERS && value != 0 ? XK_E_NOSPC : 0;
}

uint32_t tcp_defer_of(const struct xk_rep *r, uint16_t port)
{
	const struct tcp_node *n = r->node->state;

	return port_value(n, n->defer, port);
}

int tcp_defer_set(struct xk_rep *r, const void *buf, unsigned len)
{
	struct tcp_defer d;

	if (xk_take(&d, sizeof d, buf, len) != XK_OK)
		return XK_E_INVAL;
	return port_value_set(r, ((struct tcp_node *)r->node->state)->defer, d.port, d.ms);
}

uint16_t tcp_listen_mss(const struct tcp_arrival *a)
{
	const struct tcp_node *n = a->r->node->state;
	uint32_t own = port_value(n, n->port_mss, tcp_ports_destination((uint32_t)a->k->w[1]));
	uint32_t path = tcp_path_mss(a->r, a->lls);

	return (uint16_t)(own != 0 && own < path ? own : path);
}

int tcp_listen_mss_set(struct xk_rep *r, const void *buf, unsigned len)
{
	struct tcp_listen_mss v;

	if (xk_take(&v, sizeof v, buf, len) != XK_OK)
		return XK_E_INVAL;
	if (v.mss != 0 && (v.mss < tcp_tune(r)->min_mss || v.mss > UINT16_MAX))
		return XK_E_INVAL;
	return port_value_set(r, ((struct tcp_node *)r->node->state)->port_mss, v.port, v.mss);
}

uint32_t tcp_listen_rcvbuf(const struct tcp_arrival *a)
{
	const struct tcp_node *n = a->r->node->state;
	uint32_t own = port_value(n, n->port_rcvbuf, tcp_ports_destination((uint32_t)a->k->w[1]));

	return own != 0 ? own : n->tune.rcv_buf;
}

int tcp_listen_rcvbuf_set(struct xk_rep *r, const void *buf, unsigned len)
{
	struct tcp_listen_rcvbuf v;

	if (xk_take(&v, sizeof v, buf, len) != XK_OK || !tcp_is_buffer(v.bytes))
		return XK_E_INVAL;
	return port_value_set(r, ((struct tcp_node *)r->node->state)->port_rcvbuf, v.port, v.bytes);
}

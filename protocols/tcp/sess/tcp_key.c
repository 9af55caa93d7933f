/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_key.c - what a connection's key says or hides: flow and header sums, and the keyed
 * hashes that make sequence numbers (RFC 6528), timestamps and ports unguessable.
 *
 * Invariant: without the node's secret none of these numbers tells anything of another.
 */
#include "protocols/tcp/sess/tcp_sess.h"
#include "runtime/base/xk_siphash.h"
#include "runtime/upi/xk_inline.h"

/* ---- keyed hashes --------------------------------------------------------------- */

uint64_t tcp_siphash(uint64_t k0, uint64_t k1, uint64_t a, uint64_t b, uint64_t c)
{
	const uint64_t key[2] = { k0, k1 };
	uint64_t v[4];

	xk_sip_begin(v, key);
	xk_sip_word(v, a);
	xk_sip_word(v, b);
	xk_sip_word(v, c);
	return xk_sip_end(v, 24, 0);
}

uint64_t tcp_hash(const struct tcp_node *n, uint64_t pair, uint32_t ports, enum tcp_hash_use use)
{
	uint64_t v[4];

	xk_sip_begin(v, n->secret);
	xk_sip_word(v, pair);
	return xk_sip_end(v, 13, (uint64_t)use << 32 | ports);
}

/* ---- of a key ---------------------------------------------------------------------- */

/* A clock of 4 us per tuple: a new incarnation begins above the old one's numbers. */
struct tcp_hidden tcp_hidden(const struct xk_rep *r, const struct xk_key *k)
{
	uint64_t h = tcp_hash(r->node->state, k->w[0], (uint32_t)k->w[1], TCP_HASH_NUMBERS);

	return (struct tcp_hidden){ .isn = (uint32_t)h + (uint32_t)(xk_vp_time(r->vp) / (4 * XK_US)),
				    .ts_off = (uint32_t)(h >> 32) };
}

void tcp_flowkey(struct xk_flowkey *f, const struct xk_key *k)
{
	uint32_t ports = (uint32_t)k->w[1];

	*f = (struct xk_flowkey){ .proto = TCP_PROTO };
	memcpy(&f->raddr, &k->w[0], 8);
	memcpy(&f->rport, &ports, 4);
}

/* What stands before the control block and comes of the key. */
void tcp_live_header(const struct tcp_sess *ts, struct tcp_live *l)
{
	uint32_t sum = ip_pseudo_sum(ts->s.map.key.w[0], TCP_PROTO);

	l->ports = tcp_ports(tcp_lport(ts), tcp_rport(ts));
	l->sum = xk_csum_add(sum, l->ports);
	l->psum = xk_csum_fold(sum);
}

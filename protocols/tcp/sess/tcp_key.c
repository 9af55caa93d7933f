/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_key.c - what a connection's key says or hides: flow and header sums, and the keyed
 * hashes that make sequence numbers (RFC 6528), timestamps and ports unguessable.
 *
 * Invariant: without the node's secret none of these numbers tells anything of another.
 */
#include "protocols/tcp/sess/tcp_sess.h"
#include "runtime/upi/xk_inline.h"

/* ---- a keyed hash (SipHash-2-4) --------------------------------------------------- */

static inline uint64_t rotl(uint64_t x, unsigned n)
{
	return x << n | x >> (64 - n);
}

static inline void sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = rotl(v[1], 13) ^ v[0];
	v[3] = rotl(v[3], 16) ^ v[2];
	v[0] = rotl(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = rotl(v[1], 17) ^ v[2];
	v[3] = rotl(v[3], 21) ^ v[0];
	v[2] = rotl(v[2], 32);
}

static inline void sip_word(uint64_t v[4], uint64_t m)
{
	v[3] ^= m;
	sip_round(v);
	sip_round(v);
	v[0] ^= m;
}

uint64_t tcp_siphash(uint64_t k0, uint64_t k1, uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t v[4] = {
		k0 ^ 0x736f6d6570736575u, k1 ^ 0x646f72616e646f6du,
		k0 ^ 0x6c7967656e657261u, k1 ^ 0x7465646279746573u,
	};

	sip_word(v, a);
	sip_word(v, b);
	sip_word(v, c);
	sip_word(v, (uint64_t)24 << 56);
	v[2] ^= 0xff;
	for (unsigned i = 0; i < 4; i++)
		sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

uint64_t tcp_hash(const struct tcp_node *n, uint64_t a, uint64_t b, uint64_t c)
{
	return tcp_siphash(n->secret[0], n->secret[1], a, b, c);
}

/* ---- of a key ---------------------------------------------------------------------- */

static uint64_t hash_key(const struct xk_rep *r, const struct xk_key *k, uint64_t use)
{
	return tcp_hash(r->node->state, k->w[0], k->w[1], use);
}

/* A clock of 4 us per tuple: a new incarnation begins above the old one's numbers. */
uint32_t tcp_isn(const struct xk_rep *r, const struct xk_key *k)
{
	return (uint32_t)hash_key(r, k, TCP_HASH_ISN) + (uint32_t)(xk_vp_time(r->vp) / (4 * XK_US));
}

uint32_t tcp_ts_offset(const struct xk_rep *r, const struct xk_key *k)
{
	return (uint32_t)hash_key(r, k, TCP_HASH_TS);
}

void tcp_flowkey(struct xk_flowkey *f, const struct xk_key *k)
{
	uint32_t ports = (uint32_t)k->w[1];

	*f = (struct xk_flowkey){ .proto = TCP_PROTO };
	memcpy(&f->raddr, &k->w[0], 8);
	memcpy(&f->rport, &ports, 4);
}

/* What stands before the control block and comes of the key. */
bool tcp_live_header(const struct tcp_sess *ts, struct tcp_live *l)
{
	const struct xk_key *k = &ts->s.map.key;
	uint32_t sum;

	if (xk_sess_control(ts->s.down, XK_CTL_HEADER_SUM, &sum, sizeof sum) != (int)sizeof sum)
		return false;
	l->ports = tcp_ports(tcp_lport(ts), tcp_rport(ts));
	l->sum = xk_csum_add(sum, l->ports);
	l->psum = xk_csum_fold(ip_pseudo_sum(k->w[0], TCP_PROTO));
	return true;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mut_frame.c - a message from what it says to its bytes.
 *
 * Headers are written here byte by byte with a checksum by the definition, so that
 * nothing is tested against itself.  Sealing believes the lengths that the frame
 * claims as far as the frame reaches, as a receiver would that is taken in by them.
 * Invariant: a frame never outgrows its array, whatever its headers claim.
 */
#include "tests/mutate/mut.h"
#include "runtime/upi/xk_inline.h"

#include <string.h>

#define ETH_LEN  14u
#define FDDI_LEN 21u

bool mut_is_fddi;

static const uint8_t our_mac[6] = { 2, 0, 0, 0, 0, 1 }, peer_mac[6] = { 2, 0, 0, 0, 0, 2 };

uint16_t mut_sum(const uint8_t *p, uint32_t n, uint32_t seed)
{
	uint64_t sum = seed;

	for (uint32_t i = 0; i < n; i++)
		sum += (uint64_t)p[i] << (i % 2 ? 0 : 8);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

/* ---- headers -------------------------------------------------------------------------- */

static uint32_t put_link(uint8_t *p, uint16_t type, bool fddi)
{
	static const uint8_t snap[6] = { 0xaa, 0xaa, 3, 0, 0, 0 };
	uint32_t at = 0;

	if (fddi)
		p[at++] = 0x50;
	memcpy(p + at, our_mac, 6);
	memcpy(p + at + 6, peer_mac, 6);
	at += 12;
	if (fddi) {
		memcpy(p + at, snap, 6);
		at += 6;
	}
	xk_put_be16(p + at, type);
	return at + 2;
}

static uint32_t put_ip(uint8_t *p, uint8_t proto, uint32_t src, uint32_t dst, const uint8_t *opt, uint32_t nopt)
{
	memset(p, 0, 20);
	p[0] = (uint8_t)(0x45 + nopt / 4);
	xk_put_be16(p + 4, 0x1234);
	p[8] = 64;
	p[9] = proto;
	xk_put_be32(p + 12, src);
	xk_put_be32(p + 16, dst);
	memcpy(p + 20, opt, nopt);
	return 20 + nopt;
}

static uint32_t put_tcp(uint8_t *p, const struct mut_spec *s)
{
	uint32_t hlen = 20 + s->nopt;

	memset(p, 0, 20);
	xk_put_be16(p, s->sport);
	xk_put_be16(p + 2, s->dport);
	xk_put_be32(p + 4, s->seq);
	xk_put_be32(p + 8, s->ack);
	xk_put_be16(p + 12, (uint16_t)(hlen / 4 << 12 | s->flags));
	xk_put_be16(p + 14, s->wnd);
	xk_put_be16(p + 18, s->urp);
	memcpy(p + 20, s->opt, s->nopt);
	return hlen + s->len;
}

static uint32_t put_udp(uint8_t *p, const struct mut_spec *s)
{
	xk_put_be16(p, s->sport);
	xk_put_be16(p + 2, s->dport);
	xk_put_be16(p + 4, (uint16_t)(8 + s->len));
	xk_put_be16(p + 6, 0);
	mut_fill(p + 8, s->len, s->seq);
	return 8 + s->len;
}

/* An error quotes a segment of ours, as much of it as is wanted. */
static uint32_t put_icmp(uint8_t *p, const struct mut_spec *s)
{
	uint8_t q[48] = { 0 };
	uint32_t n = s->kind == MUT_ICMP_ERROR ? s->quote : s->len;

	memset(p, 0, 8);
	p[0] = s->type;
	p[1] = s->code;
	xk_put_be32(p + 4, s->rest);
	if (s->kind != MUT_ICMP_ERROR) {
		mut_fill(p + 8, n, s->seq);
		return 8 + n;
	}
	put_ip(q, 6, MUT_US, MUT_PEER, q, 0);
	xk_put_be16(q + 2, 1500);
	xk_put_be16(q + 10, mut_sum(q, 20, 0));
	xk_put_be16(q + 20, s->dport);
	xk_put_be16(q + 22, s->sport);
	xk_put_be32(q + 24, s->seq);
	memcpy(p + 8, q, n < sizeof q ? n : sizeof q);
	return 8 + n;
}

static uint32_t put_arp(uint8_t *p, const struct mut_spec *s)
{
	xk_put_be16(p, 1);
	xk_put_be16(p + 2, 0x0800);
	p[4] = 6;
	p[5] = 4;
	xk_put_be16(p + 6, s->type);
	memcpy(p + 8, peer_mac, 6);
	xk_put_be32(p + 14, MUT_PEER);
	memcpy(p + 18, our_mac, 6);
	xk_put_be32(p + 24, MUT_US);
	return 28;
}

void mut_build(struct mut_frame *f, const struct mut_spec *s, bool fddi)
{
	uint8_t proto = s->kind == MUT_TCP ? 6 : s->kind == MUT_UDP ? 17 : 1;

	memset(f, 0, sizeof *f);
	f->kind = s->kind;
	f->l3 = f->l4 = put_link(f->b, s->kind == MUT_ARP ? 0x0806 : 0x0800, fddi);
	if (s->kind == MUT_ARP) {
		f->end = f->n = f->l3 + put_arp(f->b + f->l3, s);
		return;
	}
	f->l4 += put_ip(f->b + f->l3, proto, MUT_PEER, MUT_US, s->ipopt, s->nipopt);
	f->end = f->l4 + (s->kind == MUT_TCP ? put_tcp(f->b + f->l4, s) : s->kind == MUT_UDP ? put_udp(f->b + f->l4, s)
			  : put_icmp(f->b + f->l4, s));
	f->n = f->end;
	xk_put_be16(f->b + f->l3 + 2, (uint16_t)(f->end - f->l3));
	mut_finish(f, s, true);
}

/* ---- sums ---------------------------------------------------------------------------------- */

/* What the headers claim, cut to what there is. */
struct shape { uint32_t hlen, tot; uint8_t proto; };

static struct shape shape(const struct mut_frame *f)
{
	const uint8_t *ip = f->b + f->l3;
	struct shape s = { (uint32_t)(ip[0] & 15) * 4, xk_be16(ip + 2), ip[9] };

	if (s.tot > f->end - f->l3)
		s.tot = f->end - f->l3;
	if (s.hlen < 20 || s.hlen > s.tot)
		s.hlen = s.tot < 20 ? s.tot : 20;
	return s;
}

static uint32_t pseudo(const uint8_t *ip, uint8_t proto, uint32_t len)
{
	uint32_t sum = proto + len;

	for (unsigned i = 12; i < 20; i += 2)
		sum += xk_be16(ip + i);
	return sum;
}

/* Where the transport's sum lies, or 0: it has none, or has no room for it. */
static uint32_t sum_at(const struct shape *s, uint32_t *seed, const uint8_t *ip)
{
	uint32_t at = s->proto == 6 ? 16 : s->proto == 17 ? 6 : s->proto == 1 ? 2 : 0;

	*seed = s->proto == 1 ? 0 : pseudo(ip, s->proto, s->tot - s->hlen);
	return at != 0 && s->tot >= s->hlen + at + 2 ? at : 0;
}

/* The bytes of text as their numbers have them. */
static void refill(struct mut_frame *f)
{
	uint8_t *ip = f->b + f->l3, *t;
	struct shape s = shape(f);
	uint32_t hlen;

	t = ip + s.hlen;
	if (s.proto != 6 || s.tot - s.hlen < 20)
		return;
	hlen = (uint32_t)(t[12] >> 4) * 4;
	if (hlen >= 20 && hlen <= s.tot - s.hlen)
		mut_fill(t + hlen, s.tot - s.hlen - hlen, xk_be32(t + 4) + !!(t[13] & TCP_SYN));
}

static void seal_l4(struct mut_frame *f)
{
	uint8_t *ip = f->b + f->l3;
	struct shape s = shape(f);
	uint32_t seed, at = sum_at(&s, &seed, ip), n = s.tot - s.hlen;
	uint16_t sum;

	if (at == 0 || f->raw_l4)
		return;
	/* UDP's own length is what its sum covers. */
	if (s.proto == 17 && xk_be16(ip + s.hlen + 4) >= 8 && xk_be16(ip + s.hlen + 4) <= n) {
		n = xk_be16(ip + s.hlen + 4);
		seed = pseudo(ip, 17, n);
	}
	xk_put_be16(ip + s.hlen + at, 0);
	sum = mut_sum(ip + s.hlen, n, seed);
	xk_put_be16(ip + s.hlen + at, sum == 0 && s.proto == 17 ? 0xffff : sum);
}

void mut_finish(struct mut_frame *f, const struct mut_spec *s, bool seal)
{
	uint8_t *ip = f->b + f->l3;

	if (seal && f->kind != MUT_ARP) {
		refill(f);
		seal_l4(f);
		if (!f->raw_ip) {
			struct shape sh = shape(f);

			xk_put_be16(ip + 10, 0);
			xk_put_be16(ip + 10, mut_sum(ip, sh.hlen, 0));
		}
	}
	f->n = f->end > s->cut ? f->end - s->cut : 0;
	memset(f->b + f->n, 0xa5, s->pad);
	f->n += s->pad;
}

bool mut_sums_right(const struct mut_frame *f)
{
	const uint8_t *ip = f->b + f->l3;
	struct shape s = shape(f);
	uint32_t seed, at;

	if (f->kind == MUT_ARP)
		return true;
	if (s.tot < 20 || mut_sum(ip, s.hlen, 0) != 0)
		return false;
	at = sum_at(&s, &seed, ip);
	if (at == 0 || (s.proto == 17 && xk_be16(ip + s.hlen + 6) == 0))
		return true;
	return mut_sum(ip + s.hlen, s.tot - s.hlen, seed) == 0;
}

/* ---- lies --------------------------------------------------------------------------------------- */

/* Row by row: what no receiver may believe, seen from the frame alone. */
bool mut_lies(const struct mut_frame *f)
{
	const uint8_t *ip = f->b + f->l3, *t;
	uint32_t have = f->n > f->l3 ? f->n - f->l3 : 0, hlen, tot, n;

	if (f->kind == MUT_ARP || have < 20)
		return f->kind != MUT_ARP;
	hlen = (uint32_t)(ip[0] & 15) * 4;
	tot = xk_be16(ip + 2);
	if (ip[0] >> 4 != 4 || hlen < 20 || hlen > have || tot < hlen || tot > have || ip[8] == 0 || mut_sum(ip, hlen, 0) != 0)
		return true;
	t = ip + hlen;
	n = tot - hlen;
	if (ip[9] == 6)
		return n < 20 || t[12] >> 4 < 5 || (uint32_t)(t[12] >> 4) * 4 > n;
	if (ip[9] == 17)
		return n < 8 || xk_be16(t + 4) < 8 || xk_be16(t + 4) > n;
	return ip[9] == 1 && n < 8;
}

/* ---- the peer speaks ------------------------------------------------------------------------ */

uint32_t mut_ts_option(uint8_t *p, uint32_t tsval, uint32_t tsecr)
{
	xk_put_be32(p, 0x0101080a);
	xk_put_be32(p + 4, tsval);
	xk_put_be32(p + 8, tsecr);
	return 12;
}

/* Segment size, and all else that is spoken here when c says so. */
uint32_t mut_syn_options(uint8_t *p, const struct mut_conn *c)
{
	static const uint8_t mss[4] = { 2, 4, 5, 0xb4 }, scale[4] = { 1, 3, 3, 7 }, sack[4] = { 1, 1, 4, 2 };

	memcpy(p, mss, 4);
	if (!c->ts)
		return 4;
	memcpy(p + 4, scale, 4);
	memcpy(p + 8, sack, 4);
	return 12 + mut_ts_option(p + 12, c->tsval, c->tsecr);
}

void mut_give(const struct mut_spec *s)
{
	static struct mut_frame f;

	mut_build(&f, s, mut_is_fddi);
	mut_in(f.b, f.n);
}

void mut_segment(const struct mut_conn *c, uint32_t seq, uint32_t ack, uint16_t flags, uint32_t len)
{
	struct mut_spec s = { .kind = MUT_TCP, .sport = c->sport, .dport = c->dport, .seq = seq, .ack = ack,
			      .flags = flags, .wnd = 65535, .len = len };

	if (flags & TCP_SYN)
		s.nopt = mut_syn_options(s.opt, c);
	else if (c->ts)
		s.nopt = mut_ts_option(s.opt, c->tsval, c->tsecr);
	mut_give(&s);
}

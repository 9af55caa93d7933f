/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pkt_seg.c - segments as bytes: IPv4, TCP, options, checksums, both ways.
 *
 * Written independently of the protocols under test: were their idea of a header
 * used here, a mistake in it would cancel out.
 * Invariant: pkt_seg_load accepts nothing whose lengths or checksums are wrong.
 */
#include <string.h>

#include "tools/pkt/pkt_priv.h"

static void put16(uint8_t *p, uint32_t v) { p[0] = (uint8_t)(v >> 8); p[1] = (uint8_t)v; }
static void put32(uint8_t *p, uint32_t v) { put16(p, v >> 16); put16(p + 2, v & 0xffff); }
static uint32_t get16(const uint8_t *p) { return (uint32_t)p[0] << 8 | p[1]; }
static uint32_t get32(const uint8_t *p) { return get16(p) << 16 | get16(p + 2); }

/* Sum of 16-bit words, big end first; fold with sum_end. */
static uint64_t sum(const uint8_t *p, size_t n, uint64_t s)
{
	for (size_t i = 0; i + 1 < n; i += 2)
		s += get16(p + i);
	if (n & 1)
		s += (uint32_t)p[n - 1] << 8;
	return s;
}

static uint16_t sum_end(uint64_t s)
{
	while (s >> 16)
		s = (s & 0xffff) + (s >> 16);
	return (uint16_t)~s;
}

static uint16_t tcp_sum(uint32_t src, uint32_t dst, const uint8_t *p, size_t n)
{
	return sum_end(sum(p, n, (uint64_t)(src >> 16) + (src & 0xffff) + (dst >> 16) + (dst & 0xffff) + 6 + n));
}

/* ---- options -------------------------------------------------------------------------- */

static size_t option_store(const struct pkt_opt *o, uint8_t *p)
{
	switch (o->kind) {
	case PKT_O_EOL: p[0] = 0; return 1;
	case PKT_O_NOP: p[0] = 1; return 1;
	case PKT_O_MSS: p[0] = 2; p[1] = 4; put16(p + 2, o->a); return 4;
	case PKT_O_WSCALE: p[0] = 3; p[1] = 3; p[2] = (uint8_t)o->a; return 3;
	case PKT_O_SACKOK: p[0] = 4; p[1] = 2; return 2;
	case PKT_O_SACK:
		p[0] = 5;
		p[1] = (uint8_t)(2 + 8 * o->n);
		for (unsigned i = 0; i < o->n; i++) {
			put32(p + 2 + 8 * i, o->sack[i].l);
			put32(p + 6 + 8 * i, o->sack[i].r);
		}
		return p[1];
	case PKT_O_TS: p[0] = 8; p[1] = 10; put32(p + 2, o->a); put32(p + 6, o->b); return 10;
	case PKT_O_FO:
		p[0] = 34;
		p[1] = (uint8_t)(2 + o->n);
		memcpy(p + 2, o->byte, o->n);
		return p[1];
	default:
		memcpy(p, o->byte, o->n);
		return o->n;
	}
}

/* Length, or -1: too long or odd. */
static int options_store(const struct pkt_seg *s, uint8_t *p)
{
	uint8_t buf[PKT_OPTS_MAX * 44];
	size_t n = 0;

	for (unsigned i = 0; i < s->nopts; i++) {
		n += option_store(&s->opt[i], buf + n);
		if (n > 40)
			return -1;
	}
	if (n % 4 != 0)
		return -1;
	memcpy(p, buf, n);
	return (int)n;
}

/* One option at p of n bytes; its length, 0: nonsense. */
static size_t option_load(const uint8_t *p, size_t n, struct pkt_opt *o)
{
	size_t len = p[0] < 2 ? 1 : n >= 2 ? p[1] : 0;

	memset(o, 0, sizeof *o);
	if (len == 0 || len > n || (p[0] >= 2 && len < 2))
		return 0;
	o->kind = PKT_O_RAW;
	o->n = (uint8_t)len;
	memcpy(o->byte, p, len);
	if (p[0] < 2) {
		o->kind = p[0] == 0 ? PKT_O_EOL : PKT_O_NOP;
	} else if (p[0] == 2 && len == 4) {
		o->kind = PKT_O_MSS;
		o->a = get16(p + 2);
	} else if (p[0] == 3 && len == 3) {
		o->kind = PKT_O_WSCALE;
		o->a = p[2];
	} else if (p[0] == 4 && len == 2) {
		o->kind = PKT_O_SACKOK;
	} else if (p[0] == 5 && len % 8 == 2 && len <= 34) {
		o->kind = PKT_O_SACK;
		o->n = (uint8_t)(len / 8);
		for (unsigned i = 0; i < o->n; i++) {
			o->sack[i].l = get32(p + 2 + 8 * i);
			o->sack[i].r = get32(p + 6 + 8 * i);
		}
	} else if (p[0] == 8 && len == 10) {
		o->kind = PKT_O_TS;
		o->a = get32(p + 2);
		o->b = get32(p + 6);
	} else if (p[0] == 34) {
		o->kind = PKT_O_FO;
		o->n = (uint8_t)(len - 2);
		memcpy(o->byte, p + 2, o->n);
	}
	return len;
}

/* ---- IPv4 ------------------------------------------------------------------------------- */

static void ip_store(uint8_t *p, const struct pkt_seg *s, size_t total, uint8_t protocol)
{
	memset(p, 0, 20);
	p[0] = 0x45;
	p[1] = s->tos >= 0 ? (uint8_t)s->tos : 0;
	if (s->ecn >= 0)
		p[1] = (uint8_t)((p[1] & ~3u) | (unsigned)s->ecn);
	put16(p + 2, (uint32_t)total);
	put16(p + 6, 0x4000);
	p[8] = s->ttl >= 0 ? (uint8_t)s->ttl : 64;
	p[9] = protocol;
	put32(p + 12, s->src);
	put32(p + 16, s->dst);
	put16(p + 10, sum_end(sum(p, 20, 0)));
}

static const char *ip_load(const uint8_t *p, size_t n, struct pkt_seg *s)
{
	if (n < 20 || p[0] != 0x45)
		return "not an IPv4 datagram without options";
	if (get16(p + 2) != n)
		return "the total length is not the datagram's";
	if (sum_end(sum(p, 20, 0)) != 0)
		return "the header's checksum is wrong";
	if ((get16(p + 6) & 0x3fff) != 0)
		return "it is a fragment";
	s->tos = p[1];
	s->ecn = p[1] & 3;
	s->ttl = p[8];
	s->src = get32(p + 12);
	s->dst = get32(p + 16);
	return NULL;
}

/* ---- segments ----------------------------------------------------------------------------- */

size_t pkt_seg_store(const struct pkt_seg *s, uint32_t offset, uint8_t *buf, size_t room)
{
	uint8_t *p = buf + 20;
	int nopts;
	size_t n;

	if (room < 20 + 60 + s->len || (nopts = options_store(s, p + 20)) < 0)
		return 0;
	n = 20 + (size_t)nopts;
	put16(p, s->sport);
	put16(p + 2, s->dport);
	put32(p + 4, s->seq);
	put32(p + 8, s->ack);
	put16(p + 12, (uint32_t)(n / 4) << 12 | s->flags);
	put16(p + 14, s->win);
	put16(p + 16, 0);
	put16(p + 18, s->urp);
	for (uint32_t i = 0; i < s->len; i++)
		p[n + i] = pkt_byte(offset + i, PKT_SALT_IN);
	n += s->len;
	put16(p + 16, tcp_sum(s->src, s->dst, p, n));
	ip_store(buf, s, 20 + n, 6);
	return 20 + n;
}

/* Quotes our datagram as a router would: header, ports, sequence number, 8 more. */
size_t pkt_icmp_store(const struct pkt_seg *s, uint32_t peer, uint8_t *buf, size_t room)
{
	struct pkt_seg ours = *s;
	uint8_t *p = buf + 20;
	size_t n = 8 + 20 + 16;

	if (room < 20 + n)
		return 0;
	memset(buf, 0, 20 + n);
	ours.src = s->dst;
	ours.dst = peer;
	p[0] = s->icmp_type;
	p[1] = s->icmp_code;
	put16(p + 6, s->icmp_mtu);
	ip_store(p + 8, &ours, 40 + s->len, 6);
	put16(p + 28, s->dport);
	put16(p + 30, s->sport);
	put32(p + 32, s->seq);
	put32(p + 36, s->ack);
	put16(p + 40, 0x5000 | PKT_ACK);
	put16(p + 2, sum_end(sum(p, n, 0)));
	ip_store(buf, s, 20 + n, 1);
	return 20 + n;
}

static const char *options_load(const uint8_t *p, size_t n, struct pkt_seg *s)
{
	for (size_t at = 0, len; at < n; at += len) {
		if (s->nopts == PKT_OPTS_MAX)
			return "too many options";
		len = option_load(p + at, n - at, &s->opt[s->nopts]);
		if (len == 0)
			return "its options are no options";
		s->nopts++;
	}
	return NULL;
}

const char *pkt_seg_load(const uint8_t *p, size_t n, struct pkt_seg *s)
{
	const char *why;
	size_t h;

	memset(s, 0, sizeof *s);
	why = ip_load(p, n, s);
	if (why != NULL)
		return why;
	if (p[9] != 6) {
		s->what = PKT_ICMP;
		s->icmp_type = n >= 28 ? p[20] : 0;
		s->icmp_code = n >= 28 ? p[21] : 0;
		return p[9] == 1 ? NULL : "it is neither TCP nor ICMP";
	}
	p += 20;
	n -= 20;
	h = n >= 20 ? (size_t)(p[12] >> 4) * 4 : 0;
	if (h < 20 || h > n)
		return "the TCP header's length is wrong";
	if (tcp_sum(s->src, s->dst, p, n) != 0)
		return "the TCP checksum is wrong";
	s->sport = (uint16_t)get16(p);
	s->dport = (uint16_t)get16(p + 2);
	s->seq = get32(p + 4);
	s->ack = get32(p + 8);
	s->flags = get16(p + 12) & 0x1ff;
	s->win = (uint16_t)get16(p + 14);
	s->urp = (uint16_t)get16(p + 18);
	s->have_ack = s->have_win = true;
	s->have_urp = (s->flags & PKT_URG) != 0;
	s->len = (uint32_t)(n - h);
	s->payload = p + h;
	return options_load(p + 20, h - 20, s);
}

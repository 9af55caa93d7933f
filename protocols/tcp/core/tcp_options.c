/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_options.c - the options of a segment (RFC 9293 3.1, 3.2; 7323; 2018; 5482).
 *
 * Parsing takes at most 40 steps whatever the bytes say: each moves forward by
 * at least one.  An option of a known kind and a wrong length is passed over by
 * its length; a length that cannot be (0, 1, past the end) ends the parse, and
 * what was read before it stands.  The layout that nearly every segment has,
 * two NOPs and a timestamp, is recognised by one compare, the one of nearly every
 * SYN by three.
 * Invariant: what is built here is a multiple of 4 bytes, at most 40, and
 * parses to what it was built from.
 */
#include "protocols/tcp/core/tcp_core.h"

enum { KIND_EOL, KIND_NOP, KIND_MSS, KIND_WSCALE, KIND_SACKOK, KIND_SACK, KIND_TS = 8, KIND_UTO = 28 };

#define OPTS_MAX   40u
#define NOP_NOP_TS 0x0101080au
#define MSS_4      0x02040000u
#define SACKOK_TS  0x0402080au
#define NOP_WSCALE 0x01030300u
#define WSCALE_MAX 14u           /* RFC 7323 2.3 */

/* ---- parsing --------------------------------------------------------------------- */

static void parse_ts(struct tcp_opts *o, const uint8_t *v)
{
	o->have |= TCP_O_TS;
	o->tsval = xk_be32(v);
	o->tsecr = xk_be32(v + 4);
}

static void parse_sack(struct tcp_opts *o, const uint8_t *v, uint32_t n)
{
	if (n == 0 || n % 8 != 0 || n > TCP_SACK_MAX * 8)
		return;
	o->have |= TCP_O_SACK;
	o->nsack = (uint8_t)(n / 8);
	for (unsigned i = 0; i < o->nsack; i++, v += 8) {
		o->sack[i].l = xk_be32(v);
		o->sack[i].r = xk_be32(v + 4);
	}
}

/* One option whose length fits: n bytes of value at v. */
static void parse_one(struct tcp_opts *o, uint8_t kind, const uint8_t *v, uint32_t n)
{
	if (kind == KIND_MSS && n == 2) {
		o->have |= TCP_O_MSS;
		o->mss = xk_be16(v);
	} else if (kind == KIND_WSCALE && n == 1) {
		o->have |= TCP_O_WSCALE;
		o->wscale = *v < WSCALE_MAX ? *v : WSCALE_MAX;
	} else if (kind == KIND_SACKOK && n == 0) {
		o->have |= TCP_O_SACKOK;
	} else if (kind == KIND_SACK) {
		parse_sack(o, v, n);
	} else if (kind == KIND_TS && n == 8) {
		parse_ts(o, v);
	} else if (kind == KIND_UTO && n == 2) {
		o->have |= TCP_O_UTO;
		o->uto = xk_be16(v);
	}
}

/* Segment size, SACK permitted, timestamp, window scale: what syn_linux makes of all four. */
static inline bool is_usual_syn(const uint8_t *p, uint32_t len)
{
	return len == 20 && (xk_be32(p) & 0xffff0000) == MSS_4 && xk_be32(p + 4) == SACKOK_TS &&
	       (xk_be32(p + 16) & 0xffffff00) == NOP_WSCALE;
}

static void parse_usual_syn(struct tcp_opts *o, const uint8_t *p)
{
	o->have = TCP_O_MSS | TCP_O_SACKOK | TCP_O_WSCALE;
	o->mss = xk_be16(p + 2);
	o->wscale = p[19] < WSCALE_MAX ? p[19] : WSCALE_MAX;
	parse_ts(o, p + 8);
}

bool tcp_opts_parse(struct tcp_opts *o, const uint8_t *p, uint32_t len)
{
	uint32_t i = 0, n;

	o->have = o->nsack = 0;
	if (XK_LIKELY(len == 12 && xk_be32(p) == NOP_NOP_TS)) {
		parse_ts(o, p + 4);
		return true;
	}
	if (is_usual_syn(p, len)) {
		parse_usual_syn(o, p);
		return true;
	}
	while (i < len && p[i] != KIND_EOL) {
		if (p[i] == KIND_NOP) {
			i++;
			continue;
		}
		if (len - i < 2)
			return false;
		n = p[i + 1];
		if (n < 2 || n > len - i)
			return false;
		parse_one(o, p[i], p + i + 2, n - 2);
		i += n;
	}
	return true;
}

/* ---- building: each returns what lies behind it -------------------------------------- */

static uint8_t *put(uint8_t *p, uint8_t kind, uint8_t len)
{
	*p++ = kind;
	*p++ = len;
	return p;
}

static uint8_t *put_mss(uint8_t *p, uint16_t mss)
{
	p = put(p, KIND_MSS, 4);
	xk_put_be16(p, mss);
	return p + 2;
}

static uint8_t *put_ts(uint8_t *p, const struct tcp_opts *o)
{
	p = put(p, KIND_TS, 10);
	xk_put_be32(p, o->tsval);
	xk_put_be32(p + 4, o->tsecr);
	return p + 8;
}

static uint8_t *put_nops(uint8_t *p, unsigned n)
{
	memset(p, KIND_NOP, n);
	return p + n;
}

static uint8_t *put_wscale(uint8_t *p, uint8_t shift)
{
	p = put(p, KIND_WSCALE, 3);
	*p = shift;
	return p + 1;
}

/* Word by word: what is shorter than its words has its NOPs in front, and SACK
 * permitted stands in for those of the timestamps. */
static uint8_t *syn_linux(uint8_t *p, const struct tcp_opts *o)
{
	if (o->have & TCP_O_MSS)
		p = put_mss(p, o->mss);
	if (o->have & TCP_O_TS) {
		p = o->have & TCP_O_SACKOK ? put(p, KIND_SACKOK, 2) : put_nops(p, 2);
		p = put_ts(p, o);
	} else if (o->have & TCP_O_SACKOK) {
		p = put(put_nops(p, 2), KIND_SACKOK, 2);
	}
	if (o->have & TCP_O_WSCALE)
		p = put_wscale(put_nops(p, 1), o->wscale);
	return p;
}

/* Each option aligned by NOPs for its own values, the end padded with EOLs. */
static uint8_t *syn_bsd(uint8_t *p, const struct tcp_opts *o)
{
	const uint8_t *begin = p;

	if (o->have & TCP_O_MSS)
		p = put_mss(p, o->mss);
	if (o->have & TCP_O_WSCALE)
		p = put_wscale(put_nops(p, 1), o->wscale);
	if (o->have & TCP_O_SACKOK)
		p = put(p, KIND_SACKOK, 2);
	if (o->have & TCP_O_TS)
		p = put_ts(put_nops(p, (p - begin) % 4 == 2 ? 0 : 2), o);
	return p;
}

uint32_t tcp_opts_syn(uint8_t *p, const struct tcp_opts *o, enum tcp_synopts order)
{
	uint8_t *e = order == TCP_SYNOPTS_BSD ? syn_bsd(p, o) : syn_linux(p, o);

	if (o->have & TCP_O_UTO) {
		e = put(e, KIND_UTO, 4);
		xk_put_be16(e, o->uto);
		e += 2;
	}
	while ((e - p) % 4 != 0)
		*e++ = KIND_EOL;
	return (uint32_t)(e - p);
}

uint32_t tcp_opts_store(uint8_t *p, const struct tcp_opts *o)
{
	uint8_t *e = p;
	uint32_t room, n;

	if (o->have & TCP_O_TS) {
		xk_put_be32(e, NOP_NOP_TS);
		xk_put_be32(e + 4, o->tsval);
		xk_put_be32(e + 8, o->tsecr);
		e += 12;
	}
	if (!(o->have & TCP_O_SACK) || o->nsack == 0)
		return (uint32_t)(e - p);
	room = (OPTS_MAX - (uint32_t)(e - p) - 4) / 8;
	n = o->nsack < room ? o->nsack : room;
	e = put(put_nops(e, 2), KIND_SACK, (uint8_t)(2 + 8 * n));
	for (uint32_t i = 0; i < n; i++, e += 8) {
		xk_put_be32(e, o->sack[i].l);
		xk_put_be32(e + 4, o->sack[i].r);
	}
	return (uint32_t)(e - p);
}

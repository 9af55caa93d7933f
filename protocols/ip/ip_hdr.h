/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ip_hdr.h - the IPv4 header (RFC 791): the only code of this protocol that
 * knows byte order and alignment.
 *
 * Two ways in: ip_hdr_quick accepts the header that nearly every datagram has
 * and answers in a dozen instructions; ip_hdr_load reads any header into
 * fields for the careful path.  What ip_hdr_store writes, both can read.
 */
#ifndef IP_HDR_H
#define IP_HDR_H

#include "runtime/base/xk_bytes.h"
#include "runtime/base/xk_csum.h"
#include "runtime/base/xk_wide.h"
#include "runtime/map/xk_map.h"

#define IP_HDR_LEN      20u
#define IP_HDR_MAX      60u
#define IP_MAX_DATAGRAM 65535u
#define IP_FLAG_DF      0x4000u
#define IP_FLAG_MF      0x2000u
#define IP_OFFSET_MASK  0x1fffu

/* Fields named as in RFC 791, host order. */
struct ip_hdr {
	uint8_t  version, hlen;     /* hlen in bytes: IHL * 4 */
	uint8_t  tos, ttl, protocol;
	uint16_t total_length, identification;
	uint16_t fragment;          /* flags and offset as on the wire */
	uint32_t source, destination;
};

/* The constant part of a session's headers, ready to be stored. */
struct ip_template {
	uint64_t w0, w1;
	uint32_t w2;
	uint32_t sum;               /* partial sum of the above, folded to 16 bits */
};

void ip_hdr_load(const uint8_t *p, struct ip_hdr *h);
/* Writes 20 bytes, checksum included; hlen and version are not looked at. */
void ip_hdr_store(uint8_t *p, const struct ip_hdr *h);
/* Makes total_length and an absent fragment field true of a datagram put
 * together again; options stay. */
void ip_hdr_whole(uint8_t *p, uint32_t hlen, uint32_t total_length);
bool ip_hdr_sum_ok(const uint8_t *p, uint32_t hlen);
void ip_template_make(struct ip_template *t, const struct ip_hdr *h);

/* What options do to a datagram. */
enum ip_options { IP_OPT_OK, IP_OPT_BAD, IP_OPT_ROUTE };
/* Walks the options; *pointer is the offset of the faulty byte. */
enum ip_options ip_hdr_options(const uint8_t *p, uint32_t hlen, uint32_t *pointer);

/* The active key of received headers and of sessions: source (the peer) and
 * destination as the bytes lie, then the protocol number. */
static inline void ip_hdr_key(const uint8_t *p, struct xk_key *k)
{
	k->w[0] = xk_raw64(p + 12);
	k->w[1] = p[9];
}

/* True when the 64-bit ones'-complement sum s folds to 0xffff. */
static inline bool ip_sum64_ok(uint64_t s)
{
	uint32_t t;

	s += s << 32 | s >> 32;
	t = (uint32_t)(s >> 32);
	t += t << 16 | t >> 16;
	return t >= 0xffff0000u;
}

/*
 * Version 4, no options, not a fragment, TTL left, the length within `have`
 * bytes and the checksum right: true, with the key and the datagram's length.
 * False says nothing: the careful path will.  Three wide loads cover it all.
 */
static inline bool ip_hdr_quick(const uint8_t *p, uint32_t have, struct xk_key *k, uint32_t *length)
{
	uint64_t w0 = xk_raw64(p), w1 = xk_raw64(p + 8), v = be64toh(w0), s;
	uint32_t w2 = xk_raw32(p + 16), len = (uint32_t)(v >> 32) & 0xffff;

	if ((v & 0xff00000000003fffull) != 0x4500000000000000ull)
		return false;
	if (len - IP_HDR_LEN > have - IP_HDR_LEN || p[8] == 0)
		return false;
	s = w0 + w1;
	s += s < w1;
	s += w2;
	s += s < w2;
	if (!ip_sum64_ok(s))
		return false;
	ip_hdr_key(p, k);
	*length = len;
	return true;
}

/* Masks for the bytes at a header: all of one without options; and all that
 * must agree with a good one for the checksum to be the only question left: not
 * service, identification, or the checksum itself. */
static const uint8_t ip_hdr_whole_mask[XK_WIDE] = {
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
static const uint8_t ip_hdr_same_mask[XK_WIDE] = {
	0xff, 0, 0xff, 0xff, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 0,
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };

/*
 * Is the checksum of a header right that agrees under the mask with one that
 * ip_hdr_quick took?  pair is the sum of its two addresses, 33 bits.  The sum
 * cannot wrap: the first eight bytes begin with 0x45 and end with a zero.
 */
static inline bool ip_hdr_same_sum_ok(const uint8_t *p, uint64_t pair)
{
	return xk_csum_valid64(pair + xk_raw64(p) + xk_raw32(p + 8));
}

/* The template of datagrams that are marked ECT(0), RFC 3168 5: service and sum differ. */
static inline struct ip_template ip_template_ect(const struct ip_template *t)
{
	struct ip_template e = *t;
	uint8_t *p = (uint8_t *)&e.w0;
	uint16_t was = xk_raw16(p);

	p[1] |= 2;
	e.sum = xk_csum_fold(t->sum + (uint16_t)~was + xk_raw16(p));
	return e;
}

/*
 * Stores the template with a length and no identification (an atomic datagram,
 * RFC 6864): three words put together in registers.  The template's length,
 * identification and checksum are zero.
 */
static inline void ip_template_put_atomic(uint8_t *p, const struct ip_template *t, uint32_t total_length)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	uint64_t len = htobe16((uint16_t)total_length);
	uint32_t sum = t->sum + (uint32_t)len;   /* both have 16 bits */

	xk_put_raw64(p, t->w0 | len << 16);
	xk_put_raw64(p + 8, t->w1 | (uint64_t)(uint16_t)~xk_csum_fold(sum) << 16);
#else
	uint64_t len = (uint16_t)total_length;

	xk_put_raw64(p, t->w0 | len << 32);
	xk_put_raw64(p + 8, t->w1 | (uint64_t)(uint16_t)~xk_csum_fold(t->sum + (uint32_t)len) << 32);
#endif
	xk_put_raw32(p + 16, t->w2);
}

/* Stores the template with a length and an identification. */
static inline void ip_template_put(uint8_t *p, const struct ip_template *t, uint32_t total_length,
				   uint16_t identification)
{
	uint32_t len = htobe16((uint16_t)total_length), id = htobe16(identification);
	uint64_t sum = (uint64_t)t->sum + len + id;
	uint32_t fold = xk_csum_add((uint32_t)sum, (uint32_t)(sum >> 32));

	xk_put_raw64(p, t->w0);
	xk_put_raw64(p + 8, t->w1);
	xk_put_raw32(p + 16, t->w2);
	xk_put_raw16(p + 2, (uint16_t)len);
	xk_put_raw16(p + 4, (uint16_t)id);
	xk_put_raw16(p + 10, (uint16_t)~xk_csum_fold(fold));
}

#endif

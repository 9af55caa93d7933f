/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * udp_hdr.h - the UDP header (RFC 768): the only code of this protocol that
 * knows byte order and alignment.
 *
 * Source and destination port lie side by side, so one load of both is half of
 * a session's key and one store writes both.
 */
#ifndef UDP_HDR_H
#define UDP_HDR_H

#include "protocols/ip/ip.h"
#include "runtime/base/xk_bytes.h"
#include "runtime/base/xk_csum.h"
#include "runtime/classify/xk_classify.h"

#define UDP_HDR_LEN 8u
#define UDP_PROTO   17u

/* Both ports as the bytes lie: the sender's, then the receiver's. */
static inline uint32_t udp_hdr_ports(const uint8_t *p) { return xk_raw32(p); }
static inline uint32_t udp_ports(uint16_t source, uint16_t destination)
{
	return htobe32((uint32_t)source << 16 | destination);
}
static inline uint16_t udp_ports_source(uint32_t ports) { return (uint16_t)(be32toh(ports) >> 16); }
static inline uint16_t udp_ports_destination(uint32_t ports) { return (uint16_t)be32toh(ports); }

static inline uint32_t udp_hdr_length(const uint8_t *p) { return xk_be16(p + 4); }
/* Is what lies at p, len bytes, one datagram, no more and no less? */
static inline bool udp_hdr_whole(const uint8_t *p, uint32_t len)
{
	return len >= UDP_HDR_LEN && udp_hdr_length(p) == len;
}
static inline bool udp_hdr_has_checksum(const uint8_t *p) { return xk_raw16(p + 6) != 0; }

/* The header at p as one word, and whether another has the same ports and
 * length and a checksum too. */
static inline uint64_t udp_hdr_word(const uint8_t *p) { return xk_raw64(p); }
static inline bool udp_hdr_like(const uint8_t *p, uint64_t word)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return (xk_raw64(p) ^ word) << 16 == 0 && udp_hdr_has_checksum(p);
#else
	return (xk_raw64(p) ^ word) >> 16 == 0 && udp_hdr_has_checksum(p);
#endif
}

/* The word of a header without a checksum, of ports and a length as the bytes lie. */
static inline uint64_t udp_hdr_word_plain(uint32_t ports, uint32_t length)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return ports | (uint64_t)length << 32;
#else
	return (uint64_t)ports << 32 | (uint64_t)length << 16;
#endif
}
/* Has the header at p these ports and this length, as the bytes lie, and a checksum? */
static inline bool udp_hdr_is(const uint8_t *p, uint32_t ports, uint32_t length)
{
	return udp_hdr_like(p, udp_hdr_word_plain(ports, length));
}

/* A session's key: the addresses and the ports of a datagram of the peer's. */
static inline void udp_key(struct xk_key *k, uint64_t pair, uint32_t ports)
{
	k->w[0] = pair;
	k->w[1] = ports;
}
static inline void udp_flowkey(struct xk_flowkey *f, const struct xk_key *k)
{
	uint32_t ports = (uint32_t)k->w[1];

	*f = (struct xk_flowkey){ .proto = UDP_PROTO };
	memcpy(&f->raddr, &k->w[0], 8);
	memcpy(&f->rport, &ports, 4);
}

/* Partial sum of pseudo-header and length, to be continued over the datagram. */
static inline uint32_t udp_pseudo(uint64_t pair, uint32_t length)
{
	return xk_csum_add(ip_pseudo_sum(pair, UDP_PROTO), htobe16((uint16_t)length));
}

/* Writes the header; sum is the sum of pseudo-header without length, ports and
 * payload, of a few partial sums.  A sum of 0 is sent as its other form (RFC 768). */
static inline void udp_hdr_store(uint8_t *p, uint32_t ports, uint32_t length, uint64_t sum)
{
	uint32_t len = htobe16((uint16_t)length);
	uint16_t c;

	sum += len + len;
	c = (uint16_t)~xk_csum_fold(xk_csum_add((uint32_t)sum, (uint32_t)(sum >> 32)));

	xk_put_raw32(p, ports);
	xk_put_raw16(p + 4, (uint16_t)len);
	xk_put_raw16(p + 6, c != 0 ? c : 0xffff);
}

static inline void udp_hdr_store_plain(uint8_t *p, uint32_t ports, uint32_t length)
{
	xk_put_raw32(p, ports);
	xk_put_be16(p + 4, (uint16_t)length);
	xk_put_raw16(p + 6, 0);
}

#endif
